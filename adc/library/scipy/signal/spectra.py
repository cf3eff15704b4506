"""`scipy.signal`: spectra, and what else Fourier transforms compute.

Spectra are means over segments of the signal [1]_.

References
----------
.. [1] P. D. Welch. The use of the fast Fourier transform for the estimation of power spectra.
   IEEE Transactions on Audio and Electroacoustics 15, 1967.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, fft
from adc.library.scipy.signal import windows


def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    """`scipy.signal.hilbert`."""
    signal = np.asarray(x)
    if np.iscomplexobj(signal):
        raise ValueError("x must be real.")
    lines = np.moveaxis(signal, axis, -1)
    n = lines.shape[-1] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    found = fft.fft(lines, n)
    # Frequencies that are negative vanish, and those that are positive count twice.
    found[..., 1 : (n + 1) // 2] *= 2.0
    found[..., n // 2 + 1 :] = 0.0
    return np.moveaxis(fft.ifft(found), -1, axis)


def _level(x: Any) -> Any:
    return x - np.mean(x, axis=-1, keepdims=True)


def _straightened(x: Any, n: Any) -> Any:
    """Return `n` numbers on each line without their straight line of least squares."""
    at = np.arange(n) - (n - 1) / 2.0
    at = at.astype(x.dtype)
    scale = np.sum(at * at)
    flat = _level(x)
    if scale > 0:
        flat = flat - np.sum(at * x, axis=-1, keepdims=True) / scale * at
    return flat


def detrend(
    data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False
) -> Any:
    """`scipy.signal.detrend`."""
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if overwrite_data:
        raise Unsupported(
            "`scipy.signal.detrend` with `overwrite_data`", "assign to it: `data[:] = ...`"
        )
    given = np.asarray(data)
    if type in ("constant", "c"):
        return given - np.mean(given, axis, keepdims=True)
    x = given if given.dtype.kind in "fc" else given.astype(np.float64)
    lines = np.moveaxis(x, axis, -1)
    n = lines.shape[-1]
    if np.ndim(bp) == 0 and bp == 0:
        return np.moveaxis(_straightened(lines, n), -1, axis)
    edges = np.unique(np.concatenate((np.array([0, n]), np.atleast_1d(np.asarray(bp)))))
    if np.any(edges > n):
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    found = np.empty(lines.shape, lines.dtype)
    for k in range(len(edges) - 1):
        first, last = int(edges[k]), int(edges[k + 1])
        found[..., first:last] = _straightened(lines[..., first:last], last - first)
    return np.moveaxis(found, -1, axis)


def _segments(x: Any, size: Any, step: Any, detrended: Any) -> Any:
    """Return the segments of lines, without trends."""
    count = x.shape[-1] - size + 1
    parts = np.lib.stride_tricks.sliding_window_view(x, size, axis=-1)[..., 0:count:step, :]
    if isinstance(detrended, str):
        return detrend(parts, type=detrended)
    return detrended(parts) if detrended else parts


def _given(x: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, of: Any) -> Any:
    """Return a window, how many points a segment has, two share, and are transformed."""
    n = x.shape[-1]
    if isinstance(window, (str, tuple)):
        size = 256 if nperseg is None else int(nperseg)
        if size < 1:
            raise ValueError("nperseg must be a positive integer")
        size = min(size, n)
        win = windows.get_window(window, size)
    else:
        win = np.asarray(window)
        if win.ndim != 1:
            raise ValueError("window must be 1-D")
        size = len(win)
        if nperseg is not None and nperseg != size:
            raise ValueError("value specified for nperseg is different from length of window")
        if size > n:
            raise ValueError("window is longer than input signal")
    count = size if nfft is None else int(nfft)
    if count < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    shared = size // of if noverlap is None else int(noverlap)
    if shared >= size:
        raise ValueError(f"noverlap={shared} must be less than nperseg={size}!")
    return win, size, shared, count


def _frequencies(nfft: Any, fs: Any, onesided: Any) -> Any:
    return fft.rfftfreq(nfft, 1 / fs) if onesided else fft.fftfreq(nfft, 1 / fs)


def _transformed(
    x: Any, win: Any, size: Any, step: Any, nfft: Any, detrended: Any, onesided: Any
) -> Any:
    parts = win * _segments(x, size, step, detrended)
    return fft.rfft(parts, nfft) if onesided else fft.fft(parts, nfft)


def _power(win: Any, fs: Any, scaling: Any) -> Any:
    """Return what squares of a transform are multiplied by."""
    if scaling == "density":
        return 1.0 / (fs * np.sum(win * win))
    if scaling != "spectrum":
        raise ValueError("Unknown scaling: it must be 'density' or 'spectrum'")
    return 1.0 / np.sum(win) ** 2


def _doubled(found: Any, nfft: Any) -> Any:
    """Return half of a spectrum with the other half added."""
    twice = np.full(nfft // 2 + 1, 2.0)
    twice[0] = 1.0
    if nfft % 2 == 0:
        twice[nfft // 2] = 1.0
    return found * twice


def _squared(z: Any) -> Any:
    return z.real * z.real + z.imag * z.imag


def _averaged(parts: Any, average: Any) -> Any:
    """Return the mean or the median of the segments, which lie along the last axis but one."""
    if average == "mean":
        return np.mean(parts, axis=-2)
    if average != "median":
        raise ValueError("Parameter average must be 'median' or 'mean'!")
    bias = 1.0
    for k in range(1, (parts.shape[-2] - 1) // 2 + 1):
        bias += 1.0 / (2 * k + 1) - 1.0 / (2 * k)
    if np.iscomplexobj(parts):
        return (np.median(parts.real, axis=-2) + np.median(parts.imag, axis=-2) * 1j) / bias
    return np.median(parts, axis=-2) / bias


def _lines(x: Any, axis: Any) -> Any:
    found = np.asarray(x)
    if found.size == 0:
        raise ValueError("the signal is empty")
    return np.moveaxis(found if found.dtype.kind in "fc" else found.astype(np.float64), axis, -1)


def _type_of(x: Any, kind: Any) -> Any:
    """Return the type of a spectrum of signals: of single precision only if they are."""
    return np.zeros(1, np.result_type(x, np.complex64)).real.dtype if kind == "real" else (
        np.result_type(x, np.complex64)
    )  # fmt: skip


def welch(
    x: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1, average: Any = "mean",
) -> Any:  # fmt: skip
    """`scipy.signal.welch`."""
    lines = _lines(x, axis)
    onesided = return_onesided and not np.iscomplexobj(lines)
    win, size, shared, count = _given(lines, window, nperseg, noverlap, nfft, 2)
    found = _squared(_transformed(lines, win, size, size - shared, count, detrend, onesided))
    found = found * _power(win, fs, scaling)
    if onesided:
        found = _doubled(found, count)
    found = _averaged(found, average).astype(_type_of(lines, "real"))
    return _frequencies(count, fs, onesided), np.moveaxis(found, -1, axis)


def periodogram(
    x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
) -> Any:  # fmt: skip
    """`scipy.signal.periodogram`."""
    lines = _lines(x, axis)
    n = lines.shape[-1]
    size = n if nfft is None else min(n, nfft)
    win = "boxcar" if window is None else window
    freqs, found = welch(
        lines[..., :size], fs, win, size, 0, nfft, detrend, return_onesided, scaling
    )
    return freqs, np.moveaxis(found, -1, axis)


def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1, average: Any = "mean",
) -> Any:  # fmt: skip
    """`scipy.signal.csd`."""
    first, second = _lines(x, axis), _lines(y, axis)
    if first.shape[-1] != second.shape[-1]:
        raise Unsupported(
            "`scipy.signal.csd` of signals of different lengths",
            "append zeros to the shorter one",
        )
    onesided = return_onesided and not np.iscomplexobj(first)
    if onesided and np.iscomplexobj(second):
        raise ValueError("Complex-valued `y` not allowed for a one-sided spectrum")
    win, size, shared, count = _given(first, window, nperseg, noverlap, nfft, 2)
    step = size - shared
    found = np.conj(_transformed(first, win, size, step, count, detrend, onesided))
    found = found * _transformed(second, win, size, step, count, detrend, onesided)
    found = found * _power(win, fs, scaling)
    if onesided:
        found = _doubled(found, count)
    kind = np.result_type(_type_of(first, "complex"), second)
    found = _averaged(found, average).astype(kind)
    return _frequencies(count, fs, onesided), np.moveaxis(found, -1, axis)


def coherence(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann_periodic", nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant", axis: Any = -1,
) -> Any:  # fmt: skip
    """`scipy.signal.coherence`."""
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    freqs, of_x = welch(x, *options)
    _, of_y = welch(y, *options)
    _, of_both = csd(x, y, *options)
    return freqs, _squared(of_both) / of_x / of_y


def spectrogram(
    x: Any, fs: Any = 1.0, window: Any = ("tukey_periodic", 0.25), nperseg: Any = None,
    noverlap: Any = None, nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1, mode: Any = "psd",
) -> Any:  # fmt: skip
    """`scipy.signal.spectrogram`."""
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(
            "unknown value for mode, must be one of "
            "['psd', 'complex', 'magnitude', 'angle', 'phase']"
        )
    lines = _lines(x, axis)
    n = lines.shape[-1]
    onesided = return_onesided and not np.iscomplexobj(lines)
    win, size, shared, count = _given(lines, window, nperseg, noverlap, nfft, 8)
    step = size - shared
    z = _transformed(lines, win, size, step, count, detrend, onesided)
    power = _power(win, fs, scaling)
    if mode == "psd":
        found = _squared(z) * power
        if onesided:
            found = _doubled(found, count)
        found = found.astype(_type_of(lines, "real"))
    else:
        z = (z * np.sqrt(power)).astype(_type_of(lines, "complex"))
        if mode == "complex":
            found = z
        elif mode == "magnitude":
            found = np.abs(z)
        else:
            found = np.angle(z)
            if mode == "phase":
                found = np.unwrap(found, axis=-1)
    times = (size / 2 + step * np.arange((n - size) // step + 1)) / float(fs)
    # Segments come last, and frequencies take the place of the time.
    found = np.moveaxis(np.moveaxis(found, -2, -1), -2, axis if axis >= 0 else axis - 1)
    return _frequencies(count, fs, onesided), times, found


def resample(
    x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time"
) -> Any:
    """`scipy.signal.resample`."""
    if domain not in ("time", "freq"):
        raise ValueError("Parameter domain not in ('time', 'freq')!")
    lines = np.moveaxis(np.asarray(x), axis, -1)
    n = lines.shape[-1]
    scale = n / num
    m = min(num, n)
    weights = _weights(window, n)
    if domain == "time" and not np.iscomplexobj(lines):
        spectrum = fft.rfft(lines)
        if window is not None:
            half = n // 2 + 1
            folded = weights[:half].copy()
            folded[1:] = (folded[1:] + np.flip(weights[n - half + 1 :])) / 2
            spectrum = spectrum * folded
        spectrum = spectrum[..., : m // 2 + 1] * 1.0
        if m % 2 == 0 and num != n:
            spectrum[..., m // 2] *= 2.0 if num < n else 0.5
        found = fft.irfft(spectrum / scale, num)
    else:
        spectrum = fft.fft(lines) if domain == "time" else lines
        if window is not None:
            spectrum = spectrum * weights
        kept = np.zeros((*lines.shape[:-1], num), spectrum.dtype)
        kept[..., : m // 2 + 1] = spectrum[..., : m // 2 + 1]
        behind = m - m // 2 - 1
        kept[..., num - behind :] = spectrum[..., n - behind :]
        if m % 2 == 0:
            if num < n:
                kept[..., m // 2] += spectrum[..., n - m // 2]
            elif n < num:
                kept[..., m // 2] /= 2
                kept[..., num - m // 2] = kept[..., m // 2]
        found = fft.ifft(kept / scale)
    found = np.moveaxis(found, -1, axis)
    if t is None:
        return found
    return found, t[0] + (t[1] - t[0]) * scale * np.arange(num)


def _weights(window: Any, n: Any) -> Any:
    """Return the factors of the frequencies of `n` samples."""
    if window is None:
        return np.ones(1)
    if isinstance(window, (str, tuple, int, float)):
        return fft.fftshift(windows.get_window(window, n))
    weights = window if isinstance(window, np.ndarray) else window(fft.fftfreq(n))
    if weights.ndim != 1 or len(weights) != n:
        raise ValueError("window length is not equal to number of frequency bins!")
    return weights


__all__ = [
    "coherence", "csd", "detrend", "hilbert", "periodogram", "resample", "spectrogram", "welch",
]  # fmt: skip
