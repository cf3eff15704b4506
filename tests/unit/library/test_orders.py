"""Derivatives of derivatives of linear algebra and transforms: each rule is differentiated again.

Powers of the results make the cotangents depend on the matrix. A rule that returned its results as
constants would pass every test of a linear function of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft

import adc

L = np.linalg
RNG = np.random.default_rng(5)
A = RNG.normal(size=(3, 4))
T = RNG.normal(size=(3, 4))
W = RNG.normal(size=(4, 3))
C = RNG.normal(size=(3, 3))


def singular_vectors(x: Any) -> Any:
    u, _, vt = L.svd(x, full_matrices=False)
    return np.sum(u**2 * C) + np.sum(vt**2 * W.T)


def triangles(x: Any) -> Any:
    q, r = L.qr(x.T)
    return np.sum(q**2 * W) + np.sum(r**2 * C)


def transforms(x: Any) -> Any:
    found = np.sum(np.abs(np.fft.fft(x)) ** 4) + np.sum(np.abs(np.fft.rfft(x)) ** 4)
    return found + np.sum(np.fft.irfft(x * (1 + 2j)) ** 4)


def complex_factors(x: Any) -> Any:
    z = x[:, :3] + 1j * x[:, 1:]
    positive = z @ np.conj(z.T) + np.eye(3)
    return np.sum(np.abs(L.cholesky(positive)) ** 4 * C) + L.norm(z) ** 4


def complex_determinants(x: Any) -> Any:
    z = x[:, :3] + 1j * x[:, 1:]
    sign, log = L.slogdet(z)
    return np.abs(L.det(z)) ** 2 + np.real(sign * log) ** 2


def complex_inverses(x: Any) -> Any:
    return np.sum(np.abs(L.inv(x[:, :3] + 1j * x[:, 1:])) ** 2)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "pinv": lambda x: np.sum(W * L.pinv(x) ** 2),
    "pinv_tall": lambda x: np.sum(W * L.pinv(x.T).T ** 2),
    "svd": singular_vectors,
    "svdvals": lambda x: np.sum(L.svdvals(x) ** 3 * C[0]),
    "eigh_vectors": lambda x: np.sum(L.eigh(x @ x.T)[1] ** 2 * C),
    "eigh_values": lambda x: np.sum(L.eigh(x @ x.T)[0] ** 2 * C[1]),
    "eigvalsh": lambda x: np.sum(L.eigvalsh(x @ x.T) ** 2 * C[1]),
    "eigvalsh_upper": lambda x: np.sum(L.eigvalsh(x[:, :3] + x[:, :3].T, "U") ** 2 * C[1]),
    "nuclear_norm": lambda x: L.norm(x, "nuc") ** 2,
    "cond": lambda x: L.cond(x) ** 2,
    "lstsq": lambda x: np.sum(L.lstsq(x.T, W, rcond=None)[0] ** 2 * C),
    "qr": triangles,
    "cholesky": lambda x: np.sum(L.cholesky(x @ x.T) ** 2 * C),
    "solve": lambda x: np.sum(L.solve(x @ x.T, C) ** 2 * C),
    "inv": lambda x: np.sum(L.inv(x @ x.T) ** 2 * C),
    "det": lambda x: L.det(x @ x.T) ** 2,
    "det_of_rank_2_less": lambda x: L.det((x - A)[:, :3] * C + np.diag([1.0, 0.0, 0.0])),
    "slogdet": lambda x: L.slogdet(x @ x.T)[1] ** 2,
    "fft": transforms,
    "dct": lambda x: np.sum(scipy.fft.dct(x) ** 4) + np.sum(scipy.fft.dst(x) ** 4 * T),
    "complex_factors": complex_factors,
    "complex_determinants": complex_determinants,
    "complex_inverses": complex_inverses,
}


@pytest.mark.full
@pytest.mark.parametrize("fn", FUNCTIONS.values(), ids=FUNCTIONS)
def test_orders(fn: Callable[[Any], Any]) -> None:
    gradient = adc.grad(fn, target="python")
    h = 1e-5
    near, far = ((gradient(A + k * h * T) - gradient(A - k * h * T)) / (2 * h) for k in (1, 2))
    want = (8 * near - far) / 6
    allowed = 1e-5 * np.abs(want).max()
    np.testing.assert_allclose(adc.hvp(fn, (A,), (T,), target="python"), want, atol=allowed)
    _, pull = adc.vjp(gradient, A, target="python")
    np.testing.assert_allclose(pull(T)[0], want, atol=allowed)

    def slope(x: Any) -> Any:
        return adc.jvp(fn, (x,), (T,))[1]

    def curvature(x: Any) -> Any:
        return np.sum(adc.hvp(fn, (x,), (T,)) * T)

    _, second = adc.jvp(slope, (A,), (T,), target="python")
    np.testing.assert_allclose(second, np.sum(want * T), rtol=1e-6, atol=allowed)
    third = adc.grad(curvature, target="python")(A)
    ahead, behind = (adc.hvp(fn, (A + k * h * T,), (T,), target="python") for k in (1, -1))
    want = np.sum((ahead - behind) * T) / (2 * h)
    np.testing.assert_allclose(np.sum(third * T), want, rtol=1e-5, atol=1e-5)
