"""Expressions with functions of SciPy, as the tables of `tests.oracle` have those of NumPy.

The names in them say what is passed: ``x y`` numbers or arrays, ``v w`` vectors of three, ``m`` a
matrix of 2 by 3, ``s`` a square one, ``p`` a positive definite one, ``n n2`` numbers, ``k`` a small
integer, ``u`` a vector of eight.
"""

from __future__ import annotations

import scipy.special

_LINALG = {
    "expm logm sqrtm cosm sinm coshm sinhm": ["{}(0.3 * p).real", "{}(p * 0.2)"],
    "inv det pinv svdvals": ["{}(p)", "{}(s + 4.0 * np.eye(3))"],
    "pinv svdvals": ["{}(m)"],
    "solve": ["{}(p, v)", "{}(p, m.T)", "{}(p, v, assume_a='pos')", "{}(p, w, assume_a='sym')",
              "{}(s + 4.0 * np.eye(3), v, transposed=True)"],
    "cholesky": ["{}(p)", "{}(p, lower=True)"],
    "cho_factor lu_factor": ["{}(p)[0]"],
    "cho_solve": ["{}(sl.cho_factor(p), v)", "{}(sl.cho_factor(p, True), m.T)"],
    "lu_solve": ["{}(sl.lu_factor(p), v)", "{}(sl.lu_factor(p), v, trans=1)"],
    "lu": ["{}(p)[1]", "{}(p)[2]"],
    "qr": ["{}(m.T, mode='economic')[1]", "np.abs({}(p)[0])"],
    "polar": ["{}(p)[0]", "{}(m)[1]"],
    "eigh": ["{}(p)[0]", "np.abs({}(p)[1])", "{}(s + s.T, p)[0]"],
    "eigvalsh": ["{}(p)", "{}(s + s.T)"],
    "eigvals": ["np.abs({}(p))"],
    "lstsq": ["{}(m.T, v)[0]"],
    "norm": ["{}(m)", "{}(v, 1)", "{}(v)", "{}(s, 2)"],
    "solve_triangular": ["{}(p, v)", "{}(p, v, lower=True)", "{}(p, m.T, trans=1)"],
    "solve_toeplitz": ["{}(v + np.array([5.0, 0.0, 0.0]), w)"],
    "solve_sylvester": ["{}(p, p, s)"],
    "solve_continuous_lyapunov solve_lyapunov": ["{}(p, s)"],
    "solve_discrete_lyapunov": ["{}(0.1 * s, p)"],
    "solve_banded": ["{}((1, 1), np.array([v, w + 5.0, v]), w)"],
    "solveh_banded": ["{}(np.array([v * 0.1, w * w + 2.0]), v)"],
    "block_diag": ["{}(s, m)", "{}(p, p)"],
    "toeplitz hankel circulant": ["{}(v)"],
    "toeplitz": ["{}(v, w)"],
    "companion": ["{}(v)"],
    "kron": ["np.sum({}(m, s), axis=0)"],
    "khatri_rao": ["{}(m, s)"],
    "expm_frechet": ["{}(0.3 * p, s)[1]"],
}  # fmt: skip
_FFT = {
    "fft ifft rfft hfft": ["np.abs({}(u))", "{}(u).real", "np.imag({}(v))", "np.abs({}(m))"],
    "fft ifft rfft": ["np.abs({}(m, axis=0))", "{}(u, n=5).imag", "{}(u, norm='ortho').real"],
    "irfft": ["{}(u + 1j * u[::-1])", "{}(u, 6)"],
    "fft2 ifft2 rfft2 fftn ifftn rfftn": ["np.abs({}(m))", "{}(s).real"],
    "fftshift ifftshift": ["{}(u)", "{}(m)"],
    "dct idct dst idst": ["{}(u)", "{}(u, type=3)", "{}(m, axis=0)"],
    "dctn idctn dstn idstn": ["{}(m)"],
    "fftfreq rfftfreq": ["{}(8) * n"],
}  # fmt: skip
_SIGNAL = {
    "convolve correlate fftconvolve oaconvolve": ["{}(u, v)", "{}(u, w, mode='same')",
                                                  "{}(u, v, mode='valid')"],
    "convolve2d correlate2d": ["{}(s, m)", "{}(s, s, mode='same')"],
    "lfilter": ["{}(v, [1.0, 0.3], u)", "{}([n, 0.5], [1.0, 0.2 * n2], u)"],
    "filtfilt": ["{}([0.5, 0.2], [1.0, 0.3], u, padlen=2)"],
    "sosfilt": ["{}([[0.5, 0.2, 0.1, 1.0, 0.3, 0.1]], u)"],
    "detrend": ["{}(u)", "{}(u, type='constant')"],
    "savgol_filter": ["{}(u, 5, 2)", "{}(m, 3, 1, 1, 0.5 + n * n, mode='wrap')"],
    "hilbert": ["np.abs({}(u))"],
    "resample": ["{}(u, 6)", "{}(u, 12)"],
    "periodogram": ["{}(u)[1]"],
    "welch": ["{}(u, nperseg=4)[1]"],
}  # fmt: skip
_NDIMAGE = {
    "convolve correlate": ["{}(s, s)", "{}(m, s[:2], mode='wrap')", "{}(u, v, mode='nearest')"],
    "convolve1d correlate1d": ["{}(u, v)", "{}(m, v, axis=0, mode='mirror')"],
    "gaussian_filter": ["{}(s, 0.7)", "{}(u, 1.1, mode='constant')"],
    "gaussian_filter1d": ["{}(u, 0.8)", "{}(m, 0.9, axis=0)"],
    "uniform_filter": ["{}(s, 3)", "{}(u, 3, mode='wrap')"],
    "uniform_filter1d": ["{}(u, 3)"],
    "laplace sobel prewitt": ["{}(s)", "{}(u)"],
    "gaussian_laplace gaussian_gradient_magnitude": ["{}(s + n, 0.8)"],
    "map_coordinates": ["{}(s, [[0.3, 1.2], [0.4, 1.6]], order=1)",
                        "{}(u, [v * 0.5 + 3.0], order=3)"],
    "shift": ["{}(u, 0.7)", "{}(s, (0.3, 0.6), order=1)"],
    "zoom": ["{}(u, 1.5, order=1)"],
    "spline_filter": ["{}(s)"],
    "spline_filter1d": ["{}(u)"],
}  # fmt: skip
_GRID = "np.arange(8.0)"
_INTERPOLATE = {
    "CubicSpline PchipInterpolator Akima1DInterpolator": [
        f"{{}}({_GRID}, u)(x % 7)", f"{{}}({_GRID}, u)(2.0 + 0.3 * n)",
    ],
    "make_interp_spline": [f"{{}}({_GRID}, u)(x % 7)"],
    "CubicHermiteSpline": ["{}([0.0, 1.0, 2.0], v, w)(x % 2)"],
    "interp1d": [f"{{}}({_GRID}, u)(x % 7)", f"{{}}({_GRID}, u, kind='cubic')(3.0 + 0.2 * n)"],
    "RegularGridInterpolator": [
        "{}(([0.0, 1.0], [0.0, 1.0, 2.0]), m)([[0.3, 0.2 + 0.1 * n], [0.6, 1.7]])",
    ],
    "interpn": ["{}(([0.0, 1.0], [0.0, 1.0, 2.0]), m, [[0.3, 0.2 + 0.1 * n]])"],
    "splrep": [f"{{}}({_GRID}, u)[1]", f"{{}}({_GRID}, u, k=2)[1][:8]"],
    "splev": ["{}(x, ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], v, 2))",
              "{}(0.3 * n, ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], v, 2), 1)"],
    "splint": ["{}(0.1 * n, 0.8, ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], v, 2))"],
    "InterpolatedUnivariateSpline": [f"{{}}({_GRID}, u)(x % 7)"],
    "RectBivariateSpline": [
        "{}([0.0, 1.0], [0.0, 1.0, 2.0], m, kx=1, ky=1)(0.3 + 0.1 * n, [0.4, 1.7])",
    ],
    "BSpline": ["{}([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], v, 2)(0.3 + 0.1 * n)"],
}  # fmt: skip
_INTEGRATE = {
    "trapezoid simpson": ["{}(u)", "{}(m, axis=0)", "{}(u, dx=0.3)"],
    "cumulative_trapezoid": ["{}(u)", "{}(u, initial=0)"],
    "cumulative_simpson": ["{}(u)"],
    "quad": ["{}(lambda t: np.sin(n * t) * t, 0.0, 1.0 + 0.1 * n2)[0]"],
    "romb": ["{}(np.append(u, n))"],
    "odeint": ["{}(lambda y, t: -0.3 * y * n, v, [0.0, 0.3, 0.5])[-1]"],
}  # fmt: skip
_OPTIMIZE = {
    "brentq bisect": ["{}(lambda t: t ** 3 + t - abs(n) - 0.3, 0.0, 9.0, xtol=1e-12)"],
    "newton": ["{}(lambda t: t ** 3 + t - n, 0.5, tol=1e-13)"],
    "fixed_point": ["{}(lambda t: 0.3 * np.cos(t * n), 0.2, xtol=1e-13)"],
    "root": ["{}(lambda t: t ** 3 + t - v, 0.5 * np.ones(3), tol=1e-13).x"],
}  # fmt: skip
_DISTANCE = {
    "euclidean sqeuclidean cityblock chebyshev correlation cosine braycurtis canberra": [
        "{}(v, w)"
    ],
    "minkowski": ["{}(v, w, 3)"],
    "cdist": ["{}(m, s)", "{}(m, s, 'sqeuclidean')", "{}(s, m, 'cityblock')"],
    "pdist": ["{}(s)", "{}(s, 'cosine')"],
    "squareform": ["{}(v)"],
    "mahalanobis": ["{}(v, w, p)"],
}  # fmt: skip
_STATS = {
    "norm laplace logistic cauchy gumbel_r": [
        "{}.pdf(x)", "{}.logpdf(x)", "{}.cdf(x, n)", "{}.logpdf(v, n, 1.3)", "{}.sf(x)",
        "{}.ppf(0.3 + 0.1 * np.tanh(x))",
    ],
    "t chi2 gamma": ["{}.logpdf(np.abs(x) + 0.3, 3.5)", "{}.cdf(np.abs(x) + 0.3, 2.5)"],
    "beta f": ["{}.logpdf(0.5 + 0.3 * np.tanh(x), 2.2, 3.1)"],
    "expon halfnorm": ["{}.logpdf(np.abs(x) + 0.1)", "{}.cdf(np.abs(x))"],
    "lognorm pareto weibull_min": ["{}.logpdf(np.abs(x) + 1.1, 1.7)"],
    "poisson": ["{}.logpmf(2, np.abs(x) + 0.3)"],
    "binom": ["{}.logpmf(2, 5, 0.5 + 0.3 * np.tanh(x))"],
    "multivariate_normal": ["{}.logpdf(v, w, p)"],
}  # fmt: skip
_SPECIAL = {
    "logsumexp softmax log_softmax": ["{}(v)", "{}(m)", "{}(m, axis=1)"],
    "logsumexp": ["{}(v, b=np.abs(w) + 0.1)"],
    "polygamma": ["{}(1, np.abs(x) + 0.5)"],
    "multigammaln": ["{}(np.abs(x) + 2.0, 2)"],
    "comb perm": ["{}(5, 2) * n"],
    "jvp ivp yvp kvp": ["{}(1.5, np.abs(x) + 0.5)"],
    "spherical_jn spherical_in spherical_kn": ["{}(2, np.abs(x) + 0.5)"],
    "factorial": ["{}(4) * n"],
}  # fmt: skip
_SPARSE = {
    "csr_array csc_array coo_array csr_matrix": [
        "{}(m) @ v", "{}(s).T @ v", "{}(s).toarray()", "({}(s) @ {}(s)).toarray()", "{}(m).sum()",
        "({}(m) * n).toarray()",
    ],
    "csc_array": ["sparse.linalg.spsolve({}(p), v)", "sparse.linalg.splu({}(p)).solve(v)"],
    "diags_array": ["{}(v) @ w"],
    "eye_array": ["({}(3) * n) @ v"],
    "kron": ["{}(sparse.csr_array(s), sparse.csr_array(m)).toarray()"],
    "hstack vstack": ["{}([sparse.csr_array(s), sparse.csr_array(s)]).toarray()"],
    "block_diag": ["{}([sparse.csr_array(s), sparse.csr_array(m)]).toarray()"],
    "tril triu": ["{}(sparse.csr_array(s)).toarray()"],
    "linalg.cg": ["{}(p, v, rtol=1e-13)[0]"],
    "linalg.spsolve": ["{}(sparse.csc_array(p), v)"],
}  # fmt: skip
_CMATH = {
    "sin cos tan sinh cosh tanh exp sqrt log log10 asin acos atan asinh acosh atanh": [
        "abs({}(0.3 * n + 0.2j))", "{}(complex(n, 0.3 * n2)).imag",
    ],
    "phase": ["{}(n + 0.4j)"],
    "polar": ["{}(n + 0.4j)"],
    "rect": ["{}(n, n2).real"],
}  # fmt: skip
_OPERATOR = {
    "add sub mul truediv": ["{}(x, y)", "{}(v, w)", "{}(n, n2)"],
    "floordiv mod": ["{}(x, 0.7)"],
    "pow": ["{}(x, 2)", "{}(np.abs(x) + 0.3, 1.5)"],
    "neg pos abs": ["{}(x)"],
    "lt le gt ge eq ne": ["{}(n, n2)", "{}(v, w)"],
    "getitem": ["{}(v, 1)", "{}(m, (0, slice(1, 3)))"],
    "matmul": ["{}(m, v)"],
    "itemgetter": ["{}(1)(v)", "{}(0)((v, w))"],
    "attrgetter": ["{}('T')(m)"],
    "methodcaller": ["{}('sum', axis=0)(m)"],
}  # fmt: skip
_ITERTOOLS = {
    "chain": ["[e * 0.5 for e in {}((n, n2), (n,))]", "sum([e * e for e in {}(v, w)])"],
    "pairwise": ["sum([e * f for e, f in {}((n, n2, n))])"],
    "combinations permutations": ["sum([e * f for e, f in {}((n, n2, 0.3), 2)])"],
    "product": ["sum([e * f for e, f in {}((n, n2), (n2, 0.4))])"],
    "accumulate": ["sum([e * e for e in {}([n, n2, 0.4])])"],
    "islice": ["sum([e * n for e in {}((n, n2, 0.3), 2)])"],
    "repeat": ["sum([e * 0.3 for e in {}(n, 3)])"],
    "starmap": ["sum([e for e in {}(lambda e, f: e * f, [(n, n2), (n2, 0.3)])])"],
    "zip_longest": ["sum([e * f for e, f in {}((n, n2, n), (n2,), fillvalue=0.7)])"],
    "compress": ["sum([e * e for e in {}((n, n2, n), (True, False, True))])"],
    "takewhile dropwhile filterfalse": ["sum([e for e in {}(lambda e: e < 2, (0, 1, 3))]) * n"],
}  # fmt: skip
_FUNCTOOLS = {
    "reduce": ["{}(lambda e, f: e * f + 0.1, [n, n2, 0.3])", "{}(lambda e, f: e + 0.5 * f, v)"],
    "partial": ["{}(lambda e, f: np.sin(e) * f, n)(x)", "{}(np.clip, a_min=-0.3, a_max=0.8)(v)"],
}
_WINDOWS = {
    "bartlett blackman blackmanharris bohman boxcar cosine flattop hamming hann lanczos nuttall "
    "parzen triang tukey barthann exponential": ["{}(5) * n", "{}(8) * u"],
    "gaussian": ["{}(8, 1.3) * u"],
    "kaiser": ["{}(8, 2.1) * u"],
}
# NumPy has no cosine and sine transforms.
_NUMPY_FFT = {names: forms for names, forms in _FFT.items() if "dct" not in names}
_MODULES = {
    "sl": _LINALG, "fft": _FFT, "signal": _SIGNAL, "ndimage": _NDIMAGE, "distance": _DISTANCE,
    "interpolate": _INTERPOLATE, "integrate": _INTEGRATE, "optimize": _OPTIMIZE, "stats": _STATS,
    "special": _SPECIAL, "sparse": _SPARSE, "cmath": _CMATH, "operator": _OPERATOR,
    "itertools": _ITERTOOLS, "functools": _FUNCTOOLS, "signal.windows": _WINDOWS,
    "np.fft": _NUMPY_FFT,
}  # fmt: skip

IMPORTS = """\
import cmath
import functools
import itertools
import math
import operator

import numpy as np
import scipy.linalg as sl
from scipy import (
    fft, integrate, interpolate, ndimage, optimize, signal, sparse, special, stats
)
from scipy.spatial import distance
import scipy.sparse.linalg
"""


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for module, rows in _MODULES.items():
        for names, forms in rows.items():
            for name in names.split():
                full = f"{module}.{name}"
                found.setdefault(full, []).extend(form.replace("{}", full) for form in forms)
    return found


def ufuncs(names: list[str]) -> dict[str, list[str]]:
    """Return calls of those functions of `scipy.special` that are ufuncs."""
    found: dict[str, list[str]] = {}
    for name in names:
        fn = getattr(scipy.special, name, None)
        count = getattr(fn, "nin", 0)
        if not count:
            continue
        own, positive = "x y n n2".split()[:count], "np.abs({}) + 0.6"
        forms = [own, [f"0.5 + 0.4 * np.tanh({a})" for a in own], [positive.format(a) for a in own]]
        if count > 1:
            forms += [["k", *own[1:]], [*(positive.format(a) for a in own[:-1]),
                                        f"0.5 + 0.4 * np.tanh({own[-1]})"]]  # fmt: skip
        suffix = "[0]" if getattr(fn, "nout", 1) > 1 else ""
        found[f"special.{name}"] = [f"special.{name}({', '.join(form)}){suffix}" for form in forms]
    return found


TABLE = _table()

__all__ = ["IMPORTS", "TABLE", "ufuncs"]
