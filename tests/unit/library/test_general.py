"""`np.linalg.eig` and `eigvals`: NumPy's values, derivatives, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adc
from tests.oracle import differences

RNG = np.random.default_rng(3)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


A = drawn(3, 3)
STACK = drawn(2, 2, 2)
U, W = drawn(3, 3), drawn(3)


def values(a: Any) -> Any:
    return np.sum(np.real(W * np.linalg.eigvals(a) ** 2))


def vectors(a: Any) -> Any:
    """Depends on lengths and phases."""
    w, v = np.linalg.eig(a)
    return np.sum(np.real(U * v)) + np.sum(np.abs(v[:, 0] * w[0]) ** 2)


def stacks(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.real(w[1] * v[0])) + np.sum(np.abs(np.linalg.eigvals(a)) ** 2)


def of_real_matrices(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(a.astype(complex))) ** 3)


def largest(a: Any) -> Any:
    """Of real matrices: both kinds of results."""
    w, v = np.linalg.eig(a)
    order = np.argsort(w.real)
    w, v = w[order], v[:, order]
    return np.sum(np.real(U[:2, :2] * v[:2, :2])) + np.abs(w[0]) ** 2 + np.sum(w[-1].real * w.real)


def scipys(a: Any) -> Any:
    w, v = scipy.linalg.eig(a)
    return np.sum(np.real(v @ np.diag(np.exp(w)) @ np.linalg.inv(v))) + np.sum(np.abs(v) ** 4)


def real_stacks(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(a)) ** 3) + np.sum(np.abs(np.linalg.eig(a)[1]) ** 4)


APART = np.array([[2.0, 1.0, 0.3], [0.5, 3.0, 0.2], [0.1, 0.4, 1.0]])  # real values
TURNING = np.array([[0.3, 1.0, 0.0], [-2.0, 0.1, 0.4], [0.2, -0.3, 1.5]])  # two of three are not
REAL = [APART, TURNING, np.stack([APART, TURNING]), np.stack([APART, APART.T])]

CASES = [
    (values, A), (vectors, A), (of_real_matrices, A.real),
    (largest, APART), (largest, TURNING),
    *(pytest.param(scipys, a, marks=pytest.mark.full) for a in REAL[:2]),
    *(pytest.param(real_stacks, a, marks=pytest.mark.full) for a in REAL[2:]),
    pytest.param(stacks, STACK, marks=pytest.mark.full),
]  # fmt: skip


def direction(a: Any) -> Any:
    return drawn(*a.shape) if np.iscomplexobj(a) else RNG.standard_normal(a.shape)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("fn", "a"), CASES)
def test_derivatives(fn: Callable[..., Any], a: Any) -> None:
    value, gradient = adc.value_and_grad(fn, target="python")(a)
    np.testing.assert_allclose(value, fn(a), rtol=1e-12)
    along = direction(a)
    want = differences.along(fn, (a,), (along,), 1e-5)
    assert np.sum(gradient * along).real == pytest.approx(want, rel=1e-7, abs=1e-7)
    _, slope = adc.jvp(fn, (a,), (along,), target="python")
    assert slope == pytest.approx(want, rel=1e-7, abs=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(("fn", "a"), CASES)
def test_second_derivatives(fn: Callable[..., Any], a: Any) -> None:
    along = direction(a)
    curved = differences.along(adc.grad(fn, target="python"), (a,), (along,), 1e-5)
    found = adc.hvp(fn, (a,), (along,), target="python")
    np.testing.assert_allclose(found, curved, rtol=1e-6, atol=1e-6 * np.abs(curved).max())


@pytest.mark.full
def test_compiled_like_numpy() -> None:
    def program(a: Any) -> Any:
        return np.linalg.eig(a)

    real = (
        *REAL,
        drawn(20, 20).real,
        np.zeros((0, 0)),
        TURNING.astype(np.float32),
        np.eye(2, dtype=int),
    )
    cases = (drawn(20, 20), drawn(4, 4).astype(np.complex64), drawn(1, 1), drawn(0, 0))
    for a in (*cases, *real, APART.T, np.stack([APART] * 4)[::2]):
        found, want = adc.jit(program)(a), program(a)
        limit = 1e-10 if a.dtype.itemsize >= 8 and a.dtype != np.complex64 else 1e-3
        assert type(found) is type(want)
        for x, y in zip(found, want, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=limit, atol=limit)


def test_scipys_like_scipy() -> None:
    def program(a: Any) -> Any:
        return scipy.linalg.eig(a), scipy.linalg.eigvals(a), scipy.linalg.eig(a, right=False)

    for a in (APART, TURNING):
        (w, v), *others = adc.jit(program, target="python")(a)
        want = program(a)
        for x, y in zip((w, v, *others), (*want[0], *want[1:]), strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-10)


@pytest.mark.full
def test_matrices_that_lack_vectors_have_no_derivative() -> None:
    block = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 5.0]]) + 0j

    def one(a: Any) -> Any:
        return np.linalg.eigvals(a)[0].real

    def other(a: Any) -> Any:
        return np.linalg.eigvals(a)[2].real

    assert np.isnan(adc.grad(one, target="python")(block)).any()
    assert np.isnan(adc.jvp(one, (block,), (A,), target="python")[1])
    want = np.zeros((3, 3))
    want[2, 2] = 1.0
    np.testing.assert_allclose(adc.grad(other, target="python")(block).real, want, atol=1e-12)


@pytest.mark.full
def test_vectors_of_a_repeated_value_have_no_derivative() -> None:
    a = np.diag([2.0, 2.0, 5.0]) + 0j

    def program(a: Any) -> Any:
        return np.abs(np.linalg.eig(a)[1][1, 0]) ** 2 + np.real(np.linalg.eig(a)[1][0, 1])

    assert np.isnan(adc.grad(program, target="python")(a)).any()


@pytest.mark.full
def test_errors() -> None:
    def program(a: Any) -> Any:
        return np.sum(np.abs(np.linalg.eig(a)[0]))

    for wrong in (np.full((2, 2), np.nan + 0j), np.zeros((2, 3)) + 0j, np.full((2, 2), np.inf)):
        with pytest.raises(np.linalg.LinAlgError) as found:
            adc.grad(program, target="python")(wrong)
        with pytest.raises(np.linalg.LinAlgError) as want:
            program(wrong)
        assert str(found.value) == str(want.value)
