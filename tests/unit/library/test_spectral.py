"""Linear algebra by LAPACK on the CPU: NumPy's values, derivatives, repeated values, stacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.analysis.routines import ROUTINES
from adc.ir.analysis.sizes.formulas import Known
from adc.library.linear import spectral
from adc.testing import check_grads
from tests.oracle import differences

RNG = np.random.default_rng(5)
TALL = RNG.standard_normal((5, 3))
SYMMETRIC = TALL @ TALL.T + np.diag(np.arange(5.0))
STACK = RNG.standard_normal((2, 4, 3, 3))
W = RNG.standard_normal((5, 5))


def svd(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(u * W[: a.shape[0], : u.shape[1]]) + np.sum(s**3) + np.sum(np.sin(vt))


def svd_of_a_wide_matrix(a: Any) -> Any:
    return svd(a.T)


def eigh(a: Any) -> Any:
    values, x = np.linalg.eigh(a)
    return np.sum(x * W) + np.sum(np.sin(values))


def norms(a: Any) -> Any:
    total = np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) * np.linalg.norm(a, -2)
    total += np.linalg.matrix_norm(a, ord=-1) + np.linalg.vector_norm(a, ord=3)
    return total + np.linalg.cond(a)


def least_squares(a: Any) -> Any:
    x, rest, _, s = np.linalg.lstsq(a, W[:, :2])
    return np.sum(np.sin(x)) + np.sum(rest) + np.sum(s)


def pseudo_inverses(a: Any) -> Any:
    return np.sum(np.linalg.pinv(a) * W[:3]) + np.sum(np.linalg.pinv(a.T) * W[:, :3])


def tensors(a: Any) -> Any:
    square = a @ a.T + np.eye(5)
    found = np.linalg.multi_dot([a.T, square, a, W[0, :3]])
    return np.sum(found) + np.sum(np.linalg.tensorinv(square.reshape((5, 1, 5)), 1) ** 2)


SMOOTH = (
    svd, svd_of_a_wide_matrix, norms, least_squares, pseudo_inverses,
    pytest.param(tensors, marks=pytest.mark.full),
)  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("fn", SMOOTH, ids=lambda fn: str(fn.__name__))
def test_derivatives(fn: Callable[..., Any]) -> None:
    way = W[:, :3]
    value, gradient = adc.value_and_grad(fn, target="python")(TALL)
    np.testing.assert_allclose(value, fn(TALL), rtol=1e-12)
    _, dot = adc.jvp(fn, (TALL,), (way,), target="python")
    np.testing.assert_allclose(dot, np.sum(gradient * way), rtol=1e-9)
    np.testing.assert_allclose(dot, differences.along(fn, (TALL,), (way,)), rtol=1e-7)


@pytest.mark.full
@pytest.mark.parametrize("fn", SMOOTH, ids=lambda fn: str(fn.__name__))
def test_compiled(fn: Callable[..., Any]) -> None:
    np.testing.assert_allclose(adc.jit(fn)(TALL), fn(TALL), rtol=1e-12)
    check_grads(fn, (TALL,))


@pytest.mark.full
@pytest.mark.parametrize(("fn", "a"), [(svd, TALL), (eigh, SYMMETRIC)])
def test_second_order(fn: Callable[..., Any], a: Any) -> None:
    along = RNG.standard_normal(a.shape)
    gradient = adc.grad(fn)
    want = differences.along(gradient, (a,), (along,))
    found = adc.hvp(fn, (a,), (along,))
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6 * np.abs(want).max())


@pytest.mark.full
def test_a_wrong_rule_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(kept: Any, cts: Any) -> Any:
        _, _, x = kept
        return -(x * cts[0]) @ x.T, None, None

    right = spectral.eigenvalues._rules
    monkeypatch.setattr(spectral.eigenvalues, "_rules", (right[0], wrong, right[2]))
    with pytest.raises(AssertionError):
        check_grads(eigh, (SYMMETRIC,))


# --- repeated values ------------------------------------------------------------------------------

LOW = TALL[:, :2] @ TALL[:, :2].T  # eigenvalue 0 three times


def principal(a: Any) -> Any:
    w, x = np.linalg.eigh(a)
    return np.sum(x[:, 3:] * W[:, 3:]) + w[4]


def all_vectors(a: Any) -> Any:
    return np.sum(np.linalg.eigh(a)[1] * W)


def logarithm(a: Any) -> Any:
    w, x = np.linalg.eigh(a)
    return np.sum((x * np.log(w)) @ x.T)


def squares(a: Any) -> Any:
    return np.sum(np.linalg.eigh(a)[0] ** 2)


@pytest.mark.full
def test_vectors_of_other_values_have_derivatives() -> None:
    found = adc.grad(principal)(LOW)
    h, at = 1e-6, np.zeros((5, 5))
    at[3, 1] = h
    want = (principal(LOW + at) - principal(LOW - at)) / (2 * h)
    np.testing.assert_allclose(found[3, 1], want, rtol=1e-5)


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("fn", "a"),
    [(all_vectors, LOW), pytest.param(logarithm, np.eye(3), marks=pytest.mark.sampled(1))],
)
def test_vectors_of_repeated_values_have_none(fn: Callable[..., Any], a: Any) -> None:
    """The logarithm of the unit matrix has one that does not follow: NaN, no number."""
    assert np.isnan(adc.grad(fn, target="python")(a)).any()


@pytest.mark.full
def test_values_have_derivatives() -> None:
    np.testing.assert_allclose(adc.grad(squares)(np.eye(3)), 2 * np.eye(3), atol=1e-14)
    nuclear = adc.grad(lambda a: np.linalg.norm(a, "nuc"))(np.eye(3))
    np.testing.assert_allclose(nuclear, np.eye(3), atol=1e-14)


@pytest.mark.full
def test_rank() -> None:
    def inverted(a: Any) -> Any:
        return np.sum(np.linalg.pinv(a, rcond=1e-10))

    found = adc.value_and_grad(inverted, target="python")(LOW)
    np.testing.assert_allclose(found[0], inverted(LOW), rtol=1e-9)
    assert np.isnan(found[1]).all()


# --- stacks, errors, memory -----------------------------------------------------------------------


def stacked(a: Any, b: Any) -> Any:
    s = a @ np.swapaxes(a, -1, -2) + np.eye(3)
    sign, logdet = np.linalg.slogdet(s)
    q, r = np.linalg.qr(a)
    return (
        np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), sign, logdet,
        np.linalg.cholesky(s), np.linalg.eigh(s)[0], np.linalg.eigvalsh(s), q, r,
        np.linalg.svd(a)[1], np.linalg.svdvals(a), np.linalg.pinv(a), np.linalg.matrix_rank(a),
        np.linalg.cond(a), np.linalg.norm(a, "nuc", axis=(1, 3)),
    )  # fmt: skip


@pytest.mark.full
def test_stacks() -> None:
    b = RNG.standard_normal((4, 3, 2))
    for one, other in zip(adc.jit(stacked)(STACK, b), stacked(STACK, b), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.full
def test_gradients_of_stacks() -> None:
    def total(a: Any, b: Any) -> Any:
        return np.sum(np.sin(np.linalg.solve(a, b))) + np.sum(np.linalg.slogdet(a)[1])

    check_grads(total, (STACK, RNG.standard_normal((3, 1))))


def _everything(a: Any) -> Any:
    return np.linalg.svd(a)


def _projected(a: Any) -> Any:
    u, s, vt = np.linalg.svd(a)
    rest = u[:, 3:]
    return (
        np.sum((rest @ rest.T * W) ** 2) + np.sum(u[:, :3] * W[:, :3]) + np.sum(np.sin(s) * vt[0])
    )


def _null(a: Any) -> Any:
    v = np.linalg.svd(a)[2][-1]
    return np.sum(v**3 * W[0, :4]) + v[1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (40, 7), (2, 3, 4), (0, 3), (4, 0)])
def test_square_matrices_of_vectors(shape: tuple[int, ...]) -> None:
    a = RNG.standard_normal(shape)
    for target in ("python", "cpu"):
        found = adc.jit(_everything, target=target)(a)
        for got, want in zip(found, np.linalg.svd(a), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12, strict=True)
    if a.size:
        u, _, vt, _ = spectral.full_singular.py_func(a if a.ndim == 2 else a[0])
        np.testing.assert_allclose(u @ u.T, np.eye(len(u)), atol=1e-12)
        np.testing.assert_allclose(vt @ vt.T, np.eye(len(vt)), atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize(("fn", "shape"), [(_projected, (5, 3)), (_null, (3, 4)), (_null, (6, 4))])
def test_derivatives_of_vectors_beside_the_range(fn: Any, shape: tuple[int, ...]) -> None:
    a, along = RNG.standard_normal(shape), RNG.standard_normal(shape)
    want = differences.along(fn, (a,), (along,))
    gradient = adc.grad(fn, target="python")
    assert np.sum(gradient(a) * along) == pytest.approx(want, rel=1e-8)
    if fn is _null:
        found = adc.hvp(fn, (a,), (along,), target="python")
        curved = differences.along(gradient, (a,), (along,))
        np.testing.assert_allclose(found, curved, rtol=1e-6, atol=1e-7)
        _, moved = adc.jvp(fn, (a,), (along,), target="python")
        assert moved == pytest.approx(want, rel=1e-8)


@pytest.mark.full
def test_what_is_not_unique_has_no_derivative() -> None:
    a = RNG.standard_normal((5, 3))
    assert np.isnan(adc.grad(_chosen, target="python")(a)).all()


def _chosen(a: Any) -> Any:
    return np.sum(np.linalg.svd(a)[0][:, 3:] ** 3)


@pytest.mark.full
def test_what_is_not_unique_has_no_tangent() -> None:
    a = RNG.standard_normal((5, 3))
    assert np.isnan(adc.jvp(_chosen, (a,), (a,), target="python")[1])
    flat = np.outer(np.ones(3), np.ones(4))  # of rank 1
    assert np.isnan(adc.grad(_null, target="python")(flat)).all()


@pytest.mark.full
def test_complex_matrices_that_are_not_square() -> None:
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        adc.grad(lambda a: np.sum(np.abs(np.linalg.svd(a + 0j)[0])), target="python")(TALL)


def test_what_does_not_converge() -> None:
    nothing = np.full((3, 3), np.nan)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        adc.grad(lambda a: np.sum(np.linalg.svdvals(a)))(nothing)


@pytest.mark.full
@pytest.mark.parametrize(("fn", "a"), [
    (svd, TALL), (eigh, SYMMETRIC), pytest.param(least_squares, TALL, marks=pytest.mark.full),
])  # fmt: skip
def test_memory_and_bits(fn: Callable[..., Any], a: Any) -> None:
    """Workspace counts; CPython and code within a budget have the same bits."""
    derivative = adc.grad(fn)
    found = derivative(a)
    plan = derivative.plan(a)
    assert plan.peak is not None
    kernel = derivative.compiled_for(a).entry.kernel
    sizes = {name: a.shape[axis] for name, _, axis in plan.peak.names if axis >= 0}
    size = plan.peak.size.value(Known(sizes))
    assert size is not None
    assert plan.peak_bytes is not None
    assert abs(kernel.peak - size) <= 64 * 40  # arrays are aligned
    np.testing.assert_array_equal(adc.grad(fn, target="python")(a), found)
    np.testing.assert_array_equal(adc.grad(fn, memory=2 * plan.peak_bytes)(a), found)


def test_every_routine_is_there() -> None:
    from adc.backend.python.machine import NAMES
    from adc.backend.runtime import routines

    of_lapack = {name for name, routine in ROUTINES.items() if routine.home != "fourier"}
    assert of_lapack == set(routines.ROUTINES)
    assert set(ROUTINES) == set(NAMES)
