"""Fourier, cosine and sine transforms inside functions of real arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

from tests.corpus.program import Program, recorder, uniform

FOURIER_PROGRAMS: list[Program] = []
program = recorder(FOURIER_PROGRAMS, "fourier")

X = uniform(401, 12)
ODD = uniform(402, 9)
M = uniform(403, 4, 6)
STACK = uniform(404, 2, 3, 5)


@program(X)
def power_spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(12.0))


@program(ODD)
def spectral_filter(x: Any) -> Any:
    z = np.fft.rfft(x)
    smooth = np.fft.irfft(z / (1.0 + np.fft.rfftfreq(9) ** 2), n=9)
    return np.sum(smooth**3) + np.sum(np.angle(z[1:]))


@program(X, ODD, argnums=(0, 1))
def convolution_by_transforms(x: Any, y: Any) -> Any:
    n = scipy.fft.next_fast_len(len(x) + len(y) - 1)
    z = np.fft.ifft(np.fft.fft(x, n) * np.fft.fft(y, n))
    return np.sum(z.real**2) + np.sum(z.imag)


@program(M)
def filter_of_an_image(x: Any) -> Any:
    z = np.fft.fftshift(np.fft.fft2(x))
    z = z * np.exp(-0.1 * np.arange(4.0)[:, None] - 0.2j * np.arange(6.0))
    return np.sum(np.fft.ifft2(np.fft.ifftshift(z)).real ** 2 * x)


@program(STACK)
def transforms_along_some_axes(x: Any) -> Any:
    z = np.fft.rfftn(x, s=(4, 4), axes=(0, 2), norm="ortho")
    y = np.fft.irfftn(z * z, axes=(1, 2), norm="forward")
    w = np.fft.hfft(z, axis=1) + np.fft.ihfft(x[0], n=4, axis=0, norm="ortho").real.sum()
    return np.sum(y**2) + np.sum(np.sin(w))


@program(M)
def cosine_transforms(x: Any) -> Any:
    y = scipy.fft.dct(x, 2) + scipy.fft.idct(x, 1, axis=0) + scipy.fft.dct(x, 4, norm="forward")
    y = y * scipy.fft.dst(x, 3, axis=0, norm="ortho") + scipy.fft.idst(x, 1)
    return np.sum(scipy.fft.idctn(np.tanh(y), norm="ortho") * scipy.fft.dstn(x, 2, axes=(0,)))


@program(M)
def transforms_in_a_loop(x: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        z = scipy.fft.fft(u, axis=0)
        u = u + 0.1 * scipy.fft.ifft(z * np.abs(z), axis=0, workers=2).real
    return np.sum(u * u)
