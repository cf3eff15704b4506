"""`scipy.signal`: values, derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal as ss

import adc
from adc.ir.errors import AdcError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(5)
X = RNG.standard_normal(30)
Z = X + 1j * RNG.standard_normal(30)
K = RNG.standard_normal(5)
LONG = RNG.standard_normal(20)
M = RNG.standard_normal((7, 6))
KERNEL = RNG.standard_normal((3, 4))
STACK = RNG.standard_normal((2, 20, 3))
B, A = ss.butter(4, 0.2)
SOS = ss.butter(5, 0.2, output="sos")
FREE = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])

SMOOTH: list[calls.Row] = [
    (lambda x, k: ss.convolve(x, k), (X, K)),
    (lambda x, k: ss.convolve(x, k, "same"), (X, LONG)),
    (lambda x, k: ss.convolve(k, x, "valid"), (X, LONG)),
    (lambda x, k: ss.convolve(x, k, "same", "direct"), (M, KERNEL)),
    (lambda x, k: ss.fftconvolve(x, k, axes=1), (M, KERNEL[:1])),
    (lambda x, k: ss.oaconvolve(x, k, mode="valid"), (M, KERNEL)),
    (lambda x, k: ss.correlate(x, k, "same"), (M, KERNEL)),
    (lambda x, k: ss.correlate(x, k), (Z, 1j * LONG)),
    (lambda x, k: ss.convolve2d(x, k, "same"), (M, KERNEL)),
    (lambda x, k: ss.correlate2d(x, k, "valid"), (M, KERNEL)),
    (lambda b, a, x: ss.lfilter(b, a, x), (B, 2.0 * A, X)),
    (lambda b, x, z: ss.lfilter(b, A, x, axis=1, zi=z), (B, STACK, STACK[:, :4, :1])),
    (lambda x: ss.lfilter([1.0, 0.5], 2, x), (Z,)),
    (lambda b, a: ss.lfilter_zi(b, 2.0 * a), (B, A)),
    (lambda b, y, x: ss.lfiltic(b, A, y, x), (B, X[:4], X[4:7])),
    (lambda b, a, x: ss.filtfilt(b, a, x), (B, A, X)),
    (lambda x: ss.filtfilt(B, A, x, axis=1, padtype="even", padlen=5), (STACK,)),
    (lambda s, x: ss.sosfilt(SOS + s * FREE, x, axis=1), (0.01, STACK)),
    (lambda x, z: ss.sosfilt(SOS, x, axis=1, zi=z), (STACK, RNG.standard_normal((3, 2, 2, 3)))),
    (lambda s: ss.sosfilt_zi(SOS + s * FREE), (0.01,)),
    (lambda x: ss.sosfiltfilt(SOS, x), (X,)),
    (lambda x: ss.savgol_filter(x, 7, 3), (X,)),
    (lambda x: ss.savgol_filter(x, 6, 2, mode="nearest"), (X,)),
    (lambda x, d: ss.savgol_filter(x, 5, 2, 1, d, 1), (STACK, 0.3)),
    (lambda x, c: ss.savgol_filter(x, 5, 3, deriv=2, axis=0, mode="constant", cval=c), (M, 0.4)),
    (lambda d: ss.savgol_coeffs(7, 3, 1, d), (0.3,)),
    (lambda x: ss.hilbert(x), (X,)),
    (lambda x: ss.hilbert(x, N=18, axis=1), (STACK,)),
    (lambda x: ss.detrend(x, axis=1, bp=[5, 9]), (STACK,)),
    (lambda x: ss.detrend(x, type="constant"), (X,)),
    (lambda x, fs: ss.welch(x, fs, nperseg=8, axis=1), (STACK, 3.0)),
    (lambda x: ss.welch(x, 2.0, "hamming", 7, 2, 11, "linear", scaling="spectrum"), (X,)),
    (lambda x: ss.welch(x, window=np.hanning(9)[1:], detrend=False, average="median"), (X,)),
    (lambda x: ss.periodogram(x, 3.0, nfft=13), (X,)),
    (lambda x, y: ss.csd(x, y, nperseg=8), (X, X[::-1] ** 2)),
    (lambda x, y: ss.coherence(x, y, nperseg=8), (X, X[::-1] ** 2)),
    (lambda x: ss.spectrogram(x, 2.0, nperseg=8, axis=1), (STACK,)),
    (lambda x: ss.spectrogram(x, nperseg=8, mode="complex"), (X,)),
    (lambda x: ss.resample(x, 12), (X,)),
    (lambda x, t: ss.resample(x, 31, t, axis=1), (STACK, np.arange(20.0))),
    (lambda x: ss.resample(x, 12, window=("gaussian", 3.0)), (Z,)),
    (lambda x: ss.get_window(("kaiser", x), 12), (2.5,)),
    (lambda x: ss.windows.gaussian(11, std=x), (2.5,)),
    (lambda x: ss.windows.general_gaussian(11, x, 2.0, False), (1.5,)),
    (lambda x: ss.windows.tukey(12, x)[1:-1], (0.43,)),
]
OTHERS: list[calls.Row] = [
    (lambda x, k: ss.convolve(x, k, method="fft"), (np.arange(9), np.arange(4))),
    (lambda x, k: ss.convolve(x, k), (np.arange(30), np.arange(20))),
    (lambda x, k: ss.convolve(x, k), (X.astype(np.float32), K.astype(np.float32))),
    (lambda x, k: ss.correlate(k, x, "valid", method="direct"), (M, KERNEL)),
    (lambda n, m: ss.correlation_lags(n, m, "same"), (7, 4)),
    (lambda n, m: ss.correlation_lags(n, m, "same"), (6, 7)),
    (lambda n, m: ss.correlation_lags(n, m, "valid"), (4, 7)),
    (lambda x: ss.lfilter([1.0, 0.5], [1.0, 0.2], x, axis=0), (STACK.astype(np.float32),)),
    (lambda x: ss.filtfilt(B, A, x, axis=1, padtype="constant"), (STACK,)),
    (lambda x: ss.filtfilt(B, A, x, padtype=None), (X,)),
    (lambda x: ss.savgol_filter(x, 5, 3, 3, 0.5), (X.astype(np.float32),)),
    (lambda x: ss.savgol_filter(x, 9, 4, mode="mirror"), (np.arange(6) ** 2,)),
    (lambda x: ss.savgol_filter(x, 30, 2, mode="wrap"), (X,)),
    (lambda x: ss.savgol_filter(x, 30, 2, 3), (X,)),
    (lambda x, w, p: ss.savgol_filter(x, w, p, axis=-2), (STACK, 8, 3)),
    (lambda w, p, at: ss.savgol_coeffs(w, p, 1, 2, at, "dot"), (8, 3, 2.25)),
    (lambda w, p: ss.savgol_coeffs(w, p, 2, use="dot"), (8, 1)),
    (lambda x: ss.hilbert(x, axis=1), (STACK[:, :7].astype(np.float32),)),
    (lambda x: ss.detrend(x, axis=1, bp=5), (STACK.astype(np.float32),)),
    (lambda x: ss.welch(x, 3.0, nperseg=8, return_onesided=False), (Z,)),
    (lambda x: ss.welch(x, nperseg=8, axis=0), (STACK[0].astype(np.float32),)),
    (lambda x: ss.periodogram(x, 3.0, nfft=33, window="hann"), (X,)),
    (lambda x, y: ss.csd(x, y, nperseg=8, average="median"), (Z, X)),
    (lambda x: ss.spectrogram(x, nperseg=8, mode="magnitude"), (X,)),
    (lambda x: ss.spectrogram(x, nperseg=8, mode="phase", detrend=False), (X,)),
    (lambda x: ss.spectrogram(x, nperseg=8, axis=-2), (STACK.astype(np.float32),)),
    (lambda x: ss.resample(x, 40, window="hamming"), (X,)),
    (lambda x: ss.resample(x, 7, window=np.exp), (X[1:],)),
    (lambda x: ss.resample(x, 30, domain="freq"), (Z,)),
]
_WINDOWS = (
    "hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "boxcar", "triang",
    "parzen", "bohman", "bartlett", "barthann", "cosine", "lanczos", "tukey", "exponential",
    "hann_symmetric", ("tukey", 0.3), ("tukey", 0.0), ("tukey", 1.5), ("kaiser", 3.0), 4.5,
    ("gaussian", 2.5), ("general gaussian", 1.5, 2.0), ("general_hamming", 0.7),
    ("general_cosine", (0.3, 0.5, 0.2)), ("exponential", None, 3.0),
)  # fmt: skip


test_values, test_derivatives, test_second_derivatives = calls.compared(SMOOTH, OTHERS)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("window", _WINDOWS, ids=str)
def test_windows_by_name(window: Any) -> None:
    def periodic(n: Any) -> Any:
        return ss.get_window(window, n)

    def symmetric(n: Any) -> Any:
        return ss.get_window(window, n, False)

    for n in (8, 7, 1):
        calls.check_values(periodic, (n,))
    calls.check_values(symmetric, (9,))


def _mode(x: Any) -> Any:
    return ss.convolve(x, x, "whole")


def _method(x: Any) -> Any:
    return ss.convolve(x, x, method="slow")


def _valid(x: Any) -> Any:
    return ss.convolve(x[:6].reshape(2, 3), x[:6].reshape(3, 2), "valid")


def _padded(x: Any) -> Any:
    return ss.filtfilt(B, A, x[:5])


def _unknown(x: Any) -> Any:
    return ss.get_window("none", 5) * x[0]


def _overlapping(x: Any) -> Any:
    return ss.welch(x, nperseg=8, noverlap=9)[1]


def _sections(x: Any) -> Any:
    return ss.sosfilt(x.reshape(5, 6), x)


def _degree(x: Any) -> Any:
    return ss.savgol_filter(x, 5, 5)


def _window(x: Any) -> Any:
    return ss.savgol_filter(x, 31, 2)


def _ends(x: Any) -> Any:
    return ss.savgol_filter(x, 5, 2, mode="reflect")


def _order(x: Any) -> Any:
    return ss.savgol_filter(x, 5, 2, -1)


def _position(x: Any) -> Any:
    return ss.savgol_coeffs(5, 2, pos=abs(x[0]) + 5.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "fn",
    [
        _mode, _method, _valid, _padded, _unknown, _overlapping, _sections, _degree, _window, _ends,
        _order, _position,
    ],
)  # fmt: skip
def test_errors_are_those_of_scipy(fn: calls.Call) -> None:
    with pytest.raises(ValueError, match=r"\w") as expected:
        fn(X)
    with pytest.raises((ValueError, AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(X)
    assert str(expected.value)[:12].lower() in str(found.value).lower()
