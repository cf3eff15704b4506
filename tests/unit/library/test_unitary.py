"""Factors of complex matrices by LAPACK: NumPy's values and phases, and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.analysis.routines import ROUTINES
from adc.library.linear import unitary
from tests.oracle import differences

RNG = np.random.default_rng(8)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


SQUARE = drawn(3, 3)
TALL = drawn(4, 2)
STACK = drawn(2, 2, 2)
RIGHT = drawn(4)
U, V = drawn(4, 4), drawn(4, 4)
S = RNG.standard_normal(4)


def _sum(weights: Any, x: Any) -> Any:
    """Depends on the phases of vectors."""
    return np.sum(np.real(weights[: x.shape[-2], : x.shape[-1]] * x))


def eigh(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return _sum(U, v) + np.sum(np.sin(w) * S[:3])


def eigh_upper(a: Any) -> Any:
    return _sum(U, np.linalg.eigh(a, "U").eigenvectors) + np.sum(np.linalg.eigvalsh(a, "U") ** 2)


def svd(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return _sum(U, u) + np.sum(s**3) + _sum(V, vt)


def svd_wide(a: Any) -> Any:
    return svd(a.T)


def qr(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return _sum(U, q) + _sum(V, r)


def qr_wide(a: Any) -> Any:
    return qr(a.T) + _sum(V, np.linalg.qr(a, "complete").Q)


def norms(a: Any) -> Any:
    found = np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) * np.linalg.norm(a, -2)
    return found + np.linalg.cond(a) + np.sum(np.linalg.svdvals(a) ** 3)


def inverses(a: Any) -> Any:
    found = _sum(U, np.linalg.pinv(a)) + _sum(V, np.linalg.pinv(a.T))
    x, rest, _, s = np.linalg.lstsq(a, RIGHT)
    return found + np.sum(np.real(x**2)) + np.sum(rest) + np.sum(s)


def stacks(a: Any) -> Any:
    v = np.linalg.eigh(a)[1]
    u, s, _ = np.linalg.svd(a)
    found = _sum(U, v[0]) + _sum(V, u[1]) + np.sum(s) + _sum(V, np.linalg.qr(a)[0][1])
    return found + np.sum(np.linalg.eigvalsh(a)) + _sum(U, np.linalg.pinv(a)[0])


CASES = [
    (eigh, SQUARE), (eigh_upper, SQUARE), (svd, SQUARE),
    pytest.param(svd, TALL, marks=pytest.mark.sampled(1)), (svd_wide, TALL),
    pytest.param(qr, TALL, marks=pytest.mark.sampled(1)),
    (qr_wide, TALL), (norms, TALL), (inverses, TALL),
    pytest.param(stacks, STACK, marks=pytest.mark.full),
]  # fmt: skip


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", getattr(value, "shape", value)))


@pytest.mark.full
@pytest.mark.parametrize(("fn", "a"), CASES, ids=_name)
def test_derivatives(fn: Callable[..., Any], a: Any) -> None:
    """Also by the phases, which are those of NumPy."""
    value, gradient = adc.value_and_grad(fn, target="python")(a)
    np.testing.assert_allclose(value, fn(a), rtol=1e-12)
    along = drawn(*a.shape)
    want = differences.along(fn, (a,), (along,), 1e-5)
    # The gradient is that of the convention: its product with a direction is the slope.
    assert np.sum(gradient * along).real == pytest.approx(want, rel=1e-7, abs=1e-7)
    _, slope = adc.jvp(fn, (a,), (along,), target="python")
    assert slope == pytest.approx(want, rel=1e-7, abs=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(("fn", "a"), CASES, ids=_name)
def test_second_derivatives(fn: Callable[..., Any], a: Any) -> None:
    along = drawn(*a.shape)
    curved = differences.along(adc.grad(fn, target="python"), (a,), (along,), 1e-5)
    found = adc.hvp(fn, (a,), (along,), target="python")
    np.testing.assert_allclose(found, curved, rtol=1e-6, atol=1e-6 * np.abs(curved).max())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("upper", ["L", "U"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_compiled_like_numpy(dtype: Any, upper: Any) -> None:
    def program(a: Any, b: Any) -> Any:
        return np.linalg.eigh(a, upper), np.linalg.svd(b, full_matrices=False), np.linalg.qr(b)

    args = drawn(20, 20).astype(dtype), drawn(30, 7).astype(dtype)
    found, want = adc.jit(program)(*args), program(*args)
    single = dtype == np.complex64
    tolerance = 2e-4 if single else 1e-11
    for one, other in zip(found, want, strict=True):
        for x, y in zip(one, other, strict=True):
            assert x.dtype == y.dtype
            if single:  # rounding decides about the signs
                x, y = np.abs(x), np.abs(y)
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.full
@pytest.mark.parametrize("n", [0, 1])
def test_small(n: int) -> None:
    def program(a: Any) -> Any:
        return np.linalg.eigh(a), np.linalg.svd(a), np.linalg.qr(a)

    a = np.full((n, n), 2.0 + 0j)
    for one, other in zip(adc.jit(program)(a), program(a), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_python_like_lapack() -> None:
    """What threads of a GPU run: the same up to rounding, phases but for signs."""
    a = SQUARE + SQUARE.conj().T
    for upper in (False, True):
        w, x, y, failed = unitary.hermitian(a.real, a.imag, upper)
        want = np.linalg.eigh(a, "U" if upper else "L")
        np.testing.assert_allclose(w, want[0], rtol=1e-12)
        assert failed == 0
        signs = np.sign(np.sum((x - 1j * y) * want[1], axis=0).real)
        np.testing.assert_allclose((x + 1j * y) * signs, want[1], atol=1e-12)
    for b in (TALL, TALL.T, SQUARE):
        ux, uy, s, vx, vy, failed = unitary.complex_singular(b.real, b.imag)
        u, sizes, vt = np.linalg.svd(b, full_matrices=False)
        np.testing.assert_allclose(s, sizes, rtol=1e-12)
        assert failed == 0
        signs = np.sign(np.sum((ux - 1j * uy) * u, axis=0).real)
        np.testing.assert_allclose((ux + 1j * uy) * signs, u, atol=1e-12)
        np.testing.assert_allclose((vx + 1j * vy) * signs[:, None], vt, atol=1e-12)
    qx, qy, rx, ry = unitary.complex_orthonormal(TALL.real, TALL.imag)
    q, r = np.linalg.qr(TALL)
    np.testing.assert_allclose(qx + 1j * qy, q, atol=1e-12)
    np.testing.assert_allclose(rx + 1j * ry, r, atol=1e-12)


REPEATED = np.diag([1.0, 1.0, 3.0]) + 0j


@pytest.mark.full
def test_vectors_of_a_repeated_value_have_no_derivative() -> None:
    def first(a: Any) -> Any:
        return np.real(np.linalg.eigh(a)[1][0, 1])

    def last(a: Any) -> Any:
        return np.abs(np.linalg.eigh(a)[1][2, 2]) ** 2 + np.sum(np.linalg.eigvalsh(a))

    assert np.isnan(adc.grad(first, target="python")(REPEATED)).any()
    np.testing.assert_allclose(adc.grad(last, target="python")(REPEATED), np.eye(3), atol=1e-12)


@pytest.mark.full
def test_vectors_of_a_singular_value_of_zero() -> None:
    """Their phases do not depend on each other, so only what has no phase has a derivative."""

    def phase(a: Any) -> Any:
        return np.real(np.linalg.svd(a)[0][0, 2])

    def size(a: Any) -> Any:
        return np.abs(np.sum(np.linalg.svd(a)[0][:, 2] * U[0, :3])) ** 2

    a, along = TALL[:3] @ drawn(2, 3), drawn(3, 3)
    assert np.isnan(adc.grad(phase, target="python")(a)).any()
    found = adc.grad(size, target="python")(a)
    want = differences.along(size, (a,), (along,), 1e-5)
    assert np.sum(found * along).real == pytest.approx(want, rel=1e-6)


@pytest.mark.full
def test_functions_without_a_phase_at_a_diagonal_matrix() -> None:
    """No component tells the phase there."""

    def program(a: Any) -> Any:
        v = np.linalg.eigh(a)[1]
        return np.abs(np.sum(v[:, 2] * np.conj(V[:3, 0]))) ** 2

    a = np.diag([1.0, 2.0, 4.0]) + 0j
    along = SQUARE
    h = 1e-6
    want = (program(a + h * along) - program(a - h * along)) / (2 * h)
    gradient = adc.grad(program, target="python")(a)
    assert np.sum(gradient * along).real == pytest.approx(want, rel=1e-6)


@pytest.mark.full
def test_memory_and_plans() -> None:
    """Bits do not depend on the plan, and workspace counts."""

    def program(a: Any, n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            w, v = np.linalg.eigh(a)
            a = a * 0.9 + 0.1 * (v * w) @ np.conj(v.T) + np.outer(v[:, 0], np.conj(v[:, 0]))
            total = total + np.sum(np.abs(np.linalg.svd(a)[0][0]) ** 4)
        return total

    a = SQUARE + SQUARE.conj().T
    want = adc.grad(program, remat="store")(a, 4)
    for remat in ("recompute", "auto"):
        np.testing.assert_array_equal(adc.grad(program, remat=remat)(a, 4), want)
    tight = adc.grad(program, memory=16_000)
    np.testing.assert_array_equal(tight(a, 4), want)
    assert (tight.plan(a, 4).peak_bytes or 0) <= 16_000


def test_every_routine_of_complex_matrices_is_of_pairs() -> None:
    for name in ("hermitian", "complex_qr", "complex_svd"):
        assert ROUTINES[name].count >= 2
