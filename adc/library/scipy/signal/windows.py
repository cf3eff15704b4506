"""`scipy.signal.windows`: the formulas are SciPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.library import Unsupported


def _sized(M: Any, sym: Any, of: Any) -> Any:
    """Return a window of `M` points: `of` takes how many it computes, and the last may be left."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    if M <= 1:
        return np.ones(M)
    return of(M) if sym else of(M + 1)[:-1]


def general_cosine(M: Any, a: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.general_cosine`."""

    def of(n: Any) -> Any:
        at = np.linspace(-np.pi, np.pi, n)
        w = np.zeros(n)
        for k in range(len(a)):
            w += a[k] * np.cos(k * at)
        return w

    return _sized(M, sym, of)


def general_hamming(M: Any, alpha: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.general_hamming`."""
    return general_cosine(M, (alpha, 1.0 - alpha), sym)


def hann(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.hann`."""
    return general_hamming(M, 0.5, sym)


def hamming(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.hamming`."""
    return general_hamming(M, 0.54, sym)


def blackman(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.blackman`."""
    return general_cosine(M, (0.42, 0.50, 0.08), sym)


def nuttall(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.nuttall`."""
    return general_cosine(M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym)


def blackmanharris(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.blackmanharris`."""
    return general_cosine(M, (0.35875, 0.48829, 0.14128, 0.01168), sym)


def flattop(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.flattop`."""
    a = (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368)
    return general_cosine(M, a, sym)


def boxcar(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.boxcar`."""
    return _sized(M, sym, lambda n: np.ones(n))


def triang(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.triang`."""

    def of(n: Any) -> Any:
        k = np.arange(n)
        rank = np.minimum(k + 1, n - k)
        return np.where(n % 2 == 0, (2 * rank - 1.0) / n, 2.0 * rank / (n + 1.0))

    return _sized(M, sym, of)


def parzen(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.parzen`."""

    def of(n: Any) -> Any:
        k = np.abs(np.arange(n) - (n - 1) / 2.0)
        u = k / (n / 2.0)
        return np.where(k <= (n - 1) / 4.0, 1 - 6 * u**2.0 + 6 * u**3.0, 2 * (1 - u) ** 3.0)

    return _sized(M, sym, of)


def bohman(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.bohman`."""

    def of(n: Any) -> Any:
        u = np.abs(np.linspace(-1, 1, n))
        w = (1 - u) * np.cos(np.pi * u) + 1.0 / np.pi * np.sin(np.pi * u)
        w[0] = 0.0
        w[n - 1] = 0.0
        return w

    return _sized(M, sym, of)


def bartlett(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.bartlett`."""

    def of(n: Any) -> Any:
        u = 2.0 * np.arange(n) / (n - 1)
        return np.where(np.arange(n) <= (n - 1) / 2.0, u, 2.0 - u)

    return _sized(M, sym, of)


def barthann(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.barthann`."""

    def of(n: Any) -> Any:
        u = np.abs(np.arange(n) / (n - 1.0) - 0.5)
        return 0.62 - 0.48 * u + 0.38 * np.cos(2 * np.pi * u)

    return _sized(M, sym, of)


def cosine(M: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.cosine`."""
    return _sized(M, sym, lambda n: np.sin(np.pi / n * (np.arange(n) + 0.5)))


def lanczos(M: Any, *, sym: Any = True) -> Any:
    """`scipy.signal.windows.lanczos`."""

    def of(n: Any) -> Any:
        k = np.arange(n)
        # The right half, mirrored.
        return np.sinc(2.0 * np.maximum(k, n - 1 - k) / (n - 1) - 1.0)

    return _sized(M, sym, of)


def tukey(M: Any, alpha: Any = 0.5, sym: Any = True) -> Any:
    """`scipy.signal.windows.tukey`."""
    if alpha <= 0:
        return _sized(M, True, lambda n: np.ones(n))
    if alpha >= 1.0:
        return hann(M, sym)

    def of(n: Any) -> Any:
        w = np.ones(n)
        width = math.floor(alpha * (n - 1) / 2.0)
        for k in range(width + 1):
            w[k] = 0.5 * (1 + np.cos(np.pi * (-1 + 2.0 * k / alpha / (n - 1))))
        for k in range(n - width - 1, n):
            at = np.pi * (-2.0 / alpha + 1 + 2.0 * k / alpha / (n - 1))
            w[k] = 0.5 * (1 + np.cos(at))
        return w

    return _sized(M, sym, of)


def kaiser(M: Any, beta: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.kaiser`."""

    def of(n: Any) -> Any:
        half = (n - 1) / 2.0
        u = np.sqrt(1 - ((np.arange(n) - half) / half) ** 2.0)
        return np.i0(beta * u) / np.i0(np.float64(beta))

    return _sized(M, sym, of)


def gaussian(M: Any, std: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.gaussian`."""

    def of(n: Any) -> Any:
        k = np.arange(n) - (n - 1.0) / 2.0
        return np.exp(-(k**2) / (2 * std * std))

    return _sized(M, sym, of)


def general_gaussian(M: Any, p: Any, sig: Any, sym: Any = True) -> Any:
    """`scipy.signal.windows.general_gaussian`."""

    def of(n: Any) -> Any:
        k = np.arange(n) - (n - 1.0) / 2.0
        return np.exp(-0.5 * np.abs(k / sig) ** (2 * p))

    return _sized(M, sym, of)


def exponential(M: Any, center: Any = None, tau: Any = 1.0, sym: Any = True) -> Any:
    """`scipy.signal.windows.exponential`."""
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")

    def of(n: Any) -> Any:
        middle = (n - 1) / 2 if center is None else center
        return np.exp(-np.abs(np.arange(n) - middle) / tau)

    return _sized(M, sym, of)


# By name: the function, and whether it takes further arguments.
_BY_NAME: dict[str, tuple[Any, str]] = {
    name: (fn, takes)
    for fn, takes, names in (
        (barthann, "no", "barthann brthan bth"),
        (bartlett, "no", "bartlett bart brt"),
        (blackman, "no", "blackman black blk"),
        (blackmanharris, "no", "blackmanharris blackharr bkh"),
        (bohman, "no", "bohman bman bmn"),
        (boxcar, "no", "boxcar box ones rect rectangular"),
        (cosine, "no", "cosine halfcosine"),
        (exponential, "some", "exponential poisson"),
        (flattop, "no", "flattop flat flt"),
        (gaussian, "yes", "gaussian gauss gss"),
        (general_cosine, "yes", "general_cosine"),
        (general_gaussian, "yes", "general_gaussian general_gauss ggs"),
        (general_hamming, "yes", "general_hamming"),
        (hamming, "no", "hamming hamm ham"),
        (hann, "no", "hann han"),
        (kaiser, "yes", "kaiser ksr"),
        (lanczos, "no", "lanczos sinc"),
        (nuttall, "no", "nuttall nutl nut"),
        (parzen, "no", "parzen parz par"),
        (triang, "no", "triangle triang tri"),
        (tukey, "some", "tukey tuk"),
    )
    for name in names.split()
}
_BY_NAME |= {
    name.replace("_", " "): found for name, found in list(_BY_NAME.items()) if "general" in name
}


def get_window(window: Any, Nx: Any, fftbins: Any = True) -> Any:
    """`scipy.signal.get_window`."""
    if Nx <= 0:
        raise ValueError("Parameter Nx is not a positive integer")
    if not isinstance(window, (str, tuple)):
        return kaiser(Nx, window, not fftbins)
    name = window if isinstance(window, str) else window[0]
    sym = not fftbins
    if name.endswith("_symmetric"):
        sym, name = True, name.removesuffix("_symmetric")
    elif name.endswith("_periodic"):
        sym, name = False, name.removesuffix("_periodic")
    if name in ("dpss", "chebwin", "cheb", "taylor", "taylorwin", "kaiser_bessel_derived", "kbd"):
        raise Unsupported(
            "this window of `scipy.signal`",
            "compute it outside the differentiated function, and pass the array",
        )
    if name not in _BY_NAME:
        raise ValueError(f"Invalid window name '{name}'!")
    fn, takes = _BY_NAME[name]
    args = () if isinstance(window, str) else window[1:]
    if takes == "no" and len(args) > 0:
        raise ValueError(f"'{name}' does not allow parameters!")
    if takes == "yes" and len(args) == 0:
        raise ValueError(f"'{name}' must have parameters!")
    return fn(Nx, *args, sym=sym)


__all__ = [
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine",
    "exponential", "flattop", "gaussian", "general_cosine", "general_gaussian", "general_hamming",
    "get_window", "hamming", "hann", "kaiser", "lanczos", "nuttall", "parzen", "triang", "tukey",
]  # fmt: skip
