"""`scipy.spatial.distance` in differentiated functions: values, derivatives, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.spatial.distance as sd

import adc
from adc.ir.errors import TypeMismatchError, UnsupportedError
from tests.unit.library.scipy.cases import check

RNG = np.random.default_rng(1)
X, Y = RNG.standard_normal((6, 3)), RNG.standard_normal((4, 3))
K, PAIRS = RNG.standard_normal((6, 4)), RNG.standard_normal(15)
W = np.array([0.5, 1.5, 0.7])
VI = np.linalg.inv(np.cov(X.T))
U, V = X[0].copy(), X[1].copy()

METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "canberra",
    "braycurtis", "seuclidean", "mahalanobis",
)  # fmt: skip


def of_rows(name: str) -> Callable[..., Any]:
    def program(x: Any, y: Any) -> Any:
        return np.sum(K * sd.cdist(x, y, name)) + np.sum(PAIRS * sd.pdist(x, name))

    return program


def weighted(name: str) -> Callable[..., Any]:
    fn = getattr(sd, name)

    def program(x: Any, y: Any, u: Any, v: Any) -> Any:
        return np.sum(K * sd.cdist(x, y, name, w=W)) + fn(u, v) + 2.0 * fn(u, v, W)

    return program


def settings(x: Any, y: Any, u: Any, v: Any) -> Any:
    return (
        np.sum(K * sd.cdist(x, y, "minkowski", p=3))
        + np.sum(PAIRS * sd.pdist(x, "minkowski", p=1.5, w=W))
        + np.sum(K * sd.cdist(x, y, "seuclidean", V=W))
        + np.sum(K * sd.cdist(x, y, "mahalanobis", VI=VI))
        + sd.minkowski(u, v) + sd.minkowski(u, v, 2.5) + sd.minkowski(u, v, np.inf)
        + sd.minkowski(u, v, 3, W) + sd.seuclidean(u, v, W) + sd.mahalanobis(u, v, VI)
        + sd.correlation(u, v, centered=False)
    )  # fmt: skip


def of_the_program(x: Any, y: Any) -> Any:
    def metric(u: Any, v: Any) -> Any:
        return np.sum(np.abs(u - v) ** 3)

    return np.sum(K * sd.cdist(x, y, metric)) + np.sum(PAIRS * sd.pdist(x, sd.euclidean))


def squares(x: Any) -> Any:
    d = sd.squareform(sd.pdist(x))
    return np.sum(d**3) + np.sum(PAIRS * sd.squareform(d)) + np.sum(sd.squareform(d, "tovector"))


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{name: (of_rows(name), (X, Y)) for name in METRICS},
    **{f"weighted {name}": (weighted(name), (X, Y, U, V)) for name in METRICS[:-2]},
    "settings": (settings, (X, Y, U, V)),
    "functions": (of_the_program, (X, Y)),
    "squares": (squares, (X,)),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    check(*CASES[name])


def test_a_point_has_no_distance_from_itself() -> None:
    def kernel(x: Any) -> Any:
        return np.sum(np.exp(-sd.cdist(x, x)) * np.outer(X[:, 0], X[:, 1]))

    check(kernel, (X,), second=False)
    assert adc.grad(lambda u: sd.euclidean(u, U), target="python")(U).tolist() == [0.0, 0.0, 0.0]


def test_results_have_double_precision() -> None:
    def program(x: Any, y: Any) -> Any:
        return sd.cdist(x, y), sd.pdist(x, "cosine")

    x, y = X.astype(np.float32), (10.0 * Y).astype(np.int64)
    for found, want in zip(adc.jit(program, target="python")(x, y), program(x, y), strict=True):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-12)


@pytest.mark.parametrize(
    ("fn", "kind", "what", "hint"),
    [
        (lambda x: np.sum(sd.cdist(x, x, "hamming")), UnsupportedError, "'hamming'", "a function"),
        (lambda x: np.sum(sd.cdist(x, x, out=x)), UnsupportedError, "with `out`", "assign"),
        (lambda x: np.sum(sd.cdist(x, x, V=U)), UnsupportedError, "'V'", "leave out `V`"),
        (lambda x: np.sum(sd.cdist(x, x, sd.euclidean, w=W)), UnsupportedError, "for a", "lambda"),
        (lambda x: np.sum(sd.cdist(x, x[0])), TypeMismatchError, "`XB`", "one point in each row"),
        (lambda x: sd.euclidean(x[0], x), TypeMismatchError, "`v` of", "pass a vector"),
        (lambda x: sd.squareform(x, "tomatrix")[0, 0], TypeMismatchError, "`X`", "a vector of"),
        (lambda x: sd.jensenshannon(x[0], x[1]), UnsupportedError, "jensen", "adc supported"),
    ],
)
def test_refused(fn: Callable[[Any], Any], kind: type[Exception], what: str, hint: str) -> None:
    with pytest.raises(kind) as caught:
        adc.jit(fn, cache=False)(X)
    error: Any = caught.value
    assert what in error.message
    assert hint in error.hint
    assert error.span is not None
    assert error.span.file == __file__


@pytest.mark.full
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.sum(sd.cdist(x, x[:, :2])),
        lambda x: np.sum(sd.cdist(x, x, w=-W)),
        lambda x: np.sum(sd.squareform(x[:3])),
        lambda x: np.sum(sd.squareform(x[0, :2])),
    ],
)
def test_errors_are_those_of_scipy(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r".") as want:
        fn(X)
    with pytest.raises(ValueError, match=r".") as found:
        adc.grad(fn, target="python")(X)
    assert str(found.value) == str(want.value)
