"""`adc.library`: NumPy's values, and derivatives of first and second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.inputs.trees import type_of
from adc.ir.interp import run
from tests.oracle import differences
from tests.oracle.chain import Chain, check_stages, check_tangent, fresh

RNG = np.random.default_rng(3)
N = 3
M = RNG.standard_normal((N, N)) + 2.0 * np.eye(N)
TALL = RNG.standard_normal((4, N))
S = M @ M.T + np.diag([1.0, 2.0, 4.0])
W = RNG.standard_normal((N, N))
V = RNG.standard_normal(N)


def solve_vector(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.solve(a, w[0]) ** 2)


def solve_matrix(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.solve(a, w) * w)


def inverse(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.inv(a) * w)


def determinant(a: Any, w: Any) -> Any:
    return np.linalg.det(a) * w[0, 0]


def log_determinant(a: Any, w: Any) -> Any:
    sign, value = np.linalg.slogdet(a)
    return sign * value + np.linalg.slogdet(w).logabsdet


def cholesky(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.cholesky(a @ a.T + np.eye(len(a))) * w)


def eigenvalues(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.eigvalsh(a + a.T) * w[0])


def eigenvectors(a: Any, w: Any) -> Any:
    values, vectors = np.linalg.eigh(a + a.T)
    return np.sum(vectors**2 * w) + values[0] * values[1]


def upper_eigenvalues(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.eigh(a + a.T, "U")[0] * w[1])


def householder(a: Any, w: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q * w) + np.sum(r * w)


def triangle_alone(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.qr(a, "r") * w)


def norms(a: Any, w: Any) -> Any:
    total = np.linalg.norm(a) * np.linalg.norm(w, axis=1).sum()
    total += np.linalg.norm(a, 1) + np.linalg.norm(a, np.inf) + np.linalg.norm(w, "fro")
    total += np.linalg.norm(a[0], 1) + np.linalg.norm(a[1], np.inf) + np.linalg.norm(a[0], 3)
    return total + np.linalg.norm(a, axis=0, keepdims=True).sum() + np.linalg.norm(w[2], -np.inf)


def sorting(a: Any, w: Any) -> Any:
    flat = np.sort(a, axis=None)
    at = np.argsort(w[0])
    return np.sum(np.sort(a, axis=0) * w) + flat[1] * a[0, at[0]] + np.sum(np.sort(w)[:, 0] ** 2)


def sorting_in_place(a: Any, w: Any) -> Any:
    b = a * 1.0
    b.sort()
    c = w[0] * 2.0
    c.sort()
    return np.sum(b * w) + c[0] * c[1]


def medians(a: Any, w: Any) -> Any:
    rows = np.median(a, axis=0, keepdims=True)
    return np.median(a) * np.median(w[:2]) + np.sum(np.median(a, axis=1)) + np.sum(rows)


FUNCTIONS = (
    solve_vector, solve_matrix, inverse, determinant, log_determinant, cholesky, eigenvalues,
    eigenvectors, upper_eigenvalues, householder, triangle_alone, norms, sorting,
    sorting_in_place, medians,
)  # fmt: skip


LINEAR_ALGEBRA = FUNCTIONS[:11]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("fn", "on_device"),
    [*((fn, False) for fn in FUNCTIONS), *((fn, True) for fn in LINEAR_ALGEBRA)],
    ids=lambda each: each if isinstance(each, bool) else str(each.__name__),
)
def test_first_order(fn: Callable[..., Any], on_device: bool) -> None:
    """In both ways: as code for the CPU, and for a GPU."""
    chain = Chain.of(fn, (M, W), (0, 1), on_device=on_device)
    (value,) = run(chain.lowered.fn, fresh(chain.inputs))
    np.testing.assert_allclose(value, fn(M.copy(), W.copy()), rtol=1e-12)
    want = tuple(differences.gradient(fn, (M, W), k) for k in (0, 1))
    found = check_stages(chain, want, tolerances={"rtol": 1e-8}, policies=("auto", "recompute"))
    assert not found + check_tangent(chain, np.random.default_rng(1))


@pytest.mark.full
@pytest.mark.parametrize(
    "fn", [solve_vector, log_determinant, eigenvectors, householder], ids=lambda fn: fn.__name__
)
def test_second_order(fn: Callable[..., Any]) -> None:
    product = adc.hvp(fn, (M, W), (W, M))[0]
    gradient = adc.grad(fn)
    want = differences.along(gradient, (M, W), (W, M))
    np.testing.assert_allclose(product, want, rtol=1e-7, atol=1e-7 * np.abs(want).max())


@pytest.mark.full
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_signs_of_qr_are_those_of_lapack(mode: str) -> None:
    def program(a: Any, w: Any) -> Any:
        q, r = np.linalg.qr(a, "complete")
        return np.sum(q[:, :2]) + np.sum(r * w)

    def reduced(a: Any, w: Any) -> Any:
        q, r = np.linalg.qr(a)
        return np.sum(q) + np.sum(r * w[:3])

    fn = program if mode == "complete" else reduced
    wide = RNG.standard_normal((4, N))
    value, _ = adc.value_and_grad(fn)(TALL, wide)
    np.testing.assert_allclose(value, fn(TALL, wide), rtol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args", "message"),
    [
        (solve_vector, (np.zeros((2, 2)), np.ones((2, 2))), "Singular matrix"),
        (inverse, (np.ones((2, 2)), np.ones((2, 2))), "Singular matrix"),
        (solve_vector, (np.ones((2, 3)), np.ones((2, 2))), "must be square"),
    ],
)
def test_errors_are_numpys(fn: Callable[..., Any], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(np.linalg.LinAlgError, match=message):
        fn(*args)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        adc.grad(fn)(*args)


@pytest.mark.full
@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("which", [0, 1])
def test_systems_in_both_precisions_are_in_double(which: int, target: str) -> None:
    """The result was in single precision if the matrix was."""

    def program(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b)

    args = [M, V]
    args[which] = args[which].astype(np.float32)
    value, pull = adc.vjp(program, *args, target=target)
    assert value.dtype == np.float64
    np.testing.assert_allclose(value, np.linalg.solve(*args), rtol=1e-12)
    exact = [arg.astype(np.float64) for arg in args]
    np.testing.assert_allclose(pull(V)[1], np.linalg.solve(exact[0].T, V), rtol=1e-6)


@pytest.mark.full
def test_sort_puts_nan_last_and_keeps_equals_in_order() -> None:
    def program(x: Any, w: Any) -> Any:
        return np.sum(np.where(np.isnan(np.sort(x)), 0.0, np.sort(x)) * w)

    x = np.array([2.0, np.nan, 1.0, 2.0, -1.0])
    w = np.arange(5.0)
    value, gradient = adc.value_and_grad(program)(x, w)
    assert value == program(x, w)
    np.testing.assert_array_equal(gradient, [2.0, 0.0, 1.0, 3.0, 0.0])


@pytest.mark.full
def test_types() -> None:
    assert str(type_of(M)) == "f64[:, :]"
    single = adc.grad(solve_vector)(M.astype(np.float32), W.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, adc.grad(solve_vector)(M, W), rtol=1e-3, atol=1e-4)
