"""Sparse Jacobians and Hessians: equal to the dense ones, from few directions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import adc
from adc.api import coloring
from adc.ir.errors import AdcError, ArgumentError

X = np.random.default_rng(0).uniform(0.5, 1.5, 12)
W = np.random.default_rng(1).uniform(0.5, 1.5, 12)
JACOBIANS = (adc.jacfwd, adc.jacrev)

pytestmark = pytest.mark.sampled(4)


def stencil(x: Any, w: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = w[i] * x[i - 1] ** 2 - 2.0 * x[i] * x[i] + np.sin(x[i + 1])
    if x[0] > 2.0:
        y[0] = x[5] * x[2]
    return y


def energy(x: Any) -> Any:
    total = x[0] ** 4
    for i in range(1, len(x)):
        total += x[0] * x[i] ** 2 + np.sin(x[i])
    return total


def chain_energy(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@pytest.mark.full
@pytest.mark.parametrize("make", JACOBIANS)
def test_a_stencil(make: Callable[..., Any]) -> None:
    found = make(stencil, sparsity="detect")
    result = found(X, W)
    assert isinstance(result, sparse.csr_array)
    np.testing.assert_array_equal(result.toarray(), make(stencil)(X, W))
    assert found.pattern(X, W).nnz == result.nnz == 3 * (len(X) - 2)
    assert found.directions(X, W) == 3


@pytest.mark.parametrize("make", JACOBIANS)
def test_a_branch_that_was_not_taken_before(make: Callable[..., Any]) -> None:
    found, dense = make(stencil, sparsity="detect"), make(stencil)
    other = np.concatenate([[3.0], X[1:]])
    for point in (X, other, X):
        np.testing.assert_array_equal(found(point, W).toarray(), dense(point, W))
    assert found.pattern(X, W).nnz == 3 * (len(X) - 2) + 2  # those of both branches


@pytest.mark.full
@pytest.mark.parametrize("make", JACOBIANS)
@pytest.mark.parametrize(("scale", "entry"), [(1e10, 1.0), (1.0, 1e-12), (np.inf, 1.0)])
def test_a_missing_entry_beside_large_ones(
    make: Callable[..., Any], scale: float, entry: float
) -> None:
    """The product with a random direction hardly changes."""

    def f(x: Any) -> Any:
        y = x * scale if scale < np.inf else np.sqrt(x)
        if x[0] > 2.0:
            y[1] += entry * x[7]
        return y

    found = make(f, sparsity="detect")
    point = X.copy()
    point[1] = 0.0
    found(point)
    point[0] = 3.0
    np.testing.assert_array_equal(found(point).toarray(), make(f)(point))


@pytest.mark.full
def test_rounding_is_no_missing_entry() -> None:
    """Terms cancel along a direction; the pattern is looked for once more, and not again."""

    def f(x: Any) -> Any:
        return 1e9 * x + x[::-1] - 1e9 * np.sin(x) / np.sin(x) * x

    found = adc.jacfwd(f, sparsity="detect")
    for _ in range(3):
        np.testing.assert_array_equal(found(X).toarray(), adc.jacfwd(f)(X))
    assert found._rounding  # else nothing cancels
    calls: list[Any] = []
    found._detected = calls.append
    found(X)
    assert not calls


def test_without_the_test_entries_are_missed() -> None:
    found = adc.jacfwd(stencil, sparsity="detect", probe=False)
    found(X, W)
    other = np.concatenate([[3.0], X[1:]])
    assert found(other, W).nnz == 3 * (len(X) - 2)


@pytest.mark.full
@pytest.mark.parametrize("make", JACOBIANS)
def test_a_function_that_is_replaced(make: Callable[..., Any]) -> None:
    """As by `%autoreload`: the pattern is that of the code as it is now."""

    def f(x: Any) -> Any:
        return x * x[::-1]

    found = make(f, sparsity="detect")
    assert found(X).nnz == 2 * len(X)
    f.__code__ = (lambda x: np.sin(x)).__code__
    np.testing.assert_allclose(found(X).toarray(), np.diag(np.cos(X)), rtol=1e-15)
    assert found(X).nnz == len(X)


@pytest.mark.full
@pytest.mark.parametrize("make", JACOBIANS)
def test_other_sizes(make: Callable[..., Any]) -> None:
    found = make(stencil, sparsity="detect")
    for n in (12, 3, 40, 12, 1):
        x, w = np.linspace(0.0, 1.0, n), np.ones(n)
        np.testing.assert_array_equal(found(x, w).toarray(), make(stencil)(x, w))


@pytest.mark.full
@pytest.mark.parametrize("make", JACOBIANS)
def test_structures(make: Callable[..., Any]) -> None:
    """A matrix for each result and argument, whatever their shapes."""

    def f(p: Any, t: Any) -> Any:
        a, b = p["a"], p["b"]
        return {"s": np.sum(a), "m": a[:, None] * b[None, :2] * t}, b[1:] ** 2

    p = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0, 5.0])}
    found = make(f, argnums=(0, 1), sparsity="detect")(p, 2.0)
    dense = make(f, argnums=(0, 1))(p, 2.0)
    assert found[0]["m"][0]["b"].shape == (4, 3)
    assert found[0]["s"][1].shape == (1, 1)
    a, structure = adc.tree_map(lambda each: each.toarray().ravel(), found), dense
    flat = adc.tree_map(np.ravel, structure)
    adc.tree_map(np.testing.assert_array_equal, a, flat)


@pytest.mark.full
def test_values_and_aux() -> None:
    def f(x: Any) -> Any:
        return x**2, {"sum": np.sum(x)}

    for make in JACOBIANS:
        found, aux = make(f, has_aux=True, sparsity="detect")(X)
        np.testing.assert_array_equal(found.toarray(), np.diag(2.0 * X))
        assert aux == {"sum": np.sum(X)}


@pytest.mark.parametrize("make", JACOBIANS)
def test_a_given_pattern(make: Callable[..., Any]) -> None:
    n = len(X)
    band = np.triu(np.tril(np.ones((n, n)), 1), -1)
    dense = make(stencil)(X, W)
    for pattern in (band, sparse.csc_array(band), sparse.coo_matrix(band), band.astype(int)):
        found = make(stencil, sparsity=pattern)
        np.testing.assert_array_equal(found(X, W).toarray(), dense)
        assert found.directions(X, W) == 3
        assert not found._marks.compiled()  # it is not detected
    with pytest.raises(ArgumentError, match="lacks 2 entries, the first in row 0, column 2"):
        found(np.concatenate([[3.0], X[1:]]), W)
    with pytest.raises(ArgumentError, match=r"shape \(12, 12\), but .* has 9 (inputs|results)"):
        found(X[:9], W[:9])


@pytest.mark.parametrize("sparsity", ["dtect", 3.0, np.ones(3), [[1, 2], [3]], object()])
def test_no_pattern(sparsity: Any) -> None:
    with pytest.raises(ArgumentError, match="neither"):
        adc.jacfwd(stencil, sparsity=sparsity)


@pytest.mark.full
def test_an_arrow_takes_two_directions() -> None:
    for hub_last in (False, True):

        def f(x: Any, hub_last: Any = hub_last) -> Any:
            return energy(x[::-1] if hub_last else x)

        found = adc.hessian(f, sparsity="detect")
        np.testing.assert_allclose(found(X).toarray(), adc.hessian(f)(X), rtol=1e-15)
        assert found.directions(X) == 2


@pytest.mark.full
@pytest.mark.parametrize(
    "make",
    [
        lambda fn, **given: adc.hessian(fn, **given),
        lambda fn, **given: adc.jacfwd(adc.grad(fn), **given),
        lambda fn, **given: adc.jacrev(adc.grad(fn), **given),
    ],
)
@pytest.mark.parametrize("fn", [energy, chain_energy])
def test_hessians(fn: Callable[..., Any], make: Callable[..., Any]) -> None:
    found = make(fn, sparsity="detect")
    np.testing.assert_allclose(found(X).toarray(), make(fn)(X), rtol=1e-14, atol=1e-14)
    assert found.directions(X) == {energy: 2, chain_energy: 3}[fn]


@pytest.mark.full
def test_a_hessian_by_several_arguments() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x**2 * y) + np.sum(y[1:] * y[:-1])

    found = adc.hessian(f, argnums=(0, 1), sparsity="detect")(X, W)
    dense = adc.hessian(f, argnums=(0, 1))(X, W)
    for row, wanted in zip(found, dense, strict=True):
        for each, want in zip(row, wanted, strict=True):
            np.testing.assert_allclose(each.toarray(), want, rtol=1e-15)


@pytest.mark.full
def test_dense_rows() -> None:
    """Those of a Hessian are its dense columns, and by rows they may be taken to be full."""

    def f(x: Any) -> Any:
        y = x**2
        y[3] = np.sum(x)
        y[150] = np.sum(x[:200] ** 3)
        return y

    def g(x: Any) -> Any:
        return np.sum(x**3) + x[7] * np.sum(np.sin(x)) + x[290] * x[7] ** 2 * np.sum(x[:200])

    x = np.random.default_rng(0).uniform(0.5, 1.5, 300)
    found = adc.jacrev(f, sparsity="detect")
    np.testing.assert_array_equal(found(x).toarray(), adc.jacrev(f)(x))
    assert found.directions(x) <= 3
    found = adc.hessian(g, sparsity="detect")
    np.testing.assert_allclose(found(x).toarray(), adc.hessian(g)(x), rtol=1e-13, atol=1e-13)
    assert found.directions(x) <= 5
    found = adc.jacfwd(f, sparsity="detect")
    np.testing.assert_array_equal(found(x).toarray(), adc.jacfwd(f)(x))
    assert found.pattern(x).nnz == 298 + 300 + 200


@pytest.mark.full
def test_float32_and_numbers() -> None:
    x = X.astype(np.float32)
    found = adc.jacfwd(stencil, sparsity="detect")(x, W)
    assert found.dtype == np.float64  # of the array that the function makes
    found = adc.jacfwd(lambda x: x * x, sparsity="detect")(x)
    assert found.dtype == np.float32
    assert adc.jacfwd(lambda x: x * x, sparsity="detect")(3.0).toarray() == [[6.0]]
    found = adc.jacfwd(lambda x: x[x > 1.0], sparsity="detect")(X)
    assert found.shape == (np.sum(X > 1.0), len(X))


def test_nothing() -> None:
    found = adc.jacfwd(lambda x: np.ones(3), sparsity="detect")(X)
    assert found.shape == (3, len(X))
    assert found.nnz == 0
    assert adc.jacfwd(lambda x: x * x, sparsity="detect")(np.zeros(0)).shape == (0, 0)


def test_numbers_that_are_not_finite() -> None:
    x = np.array([0.0, 1.0, 4.0])
    found = adc.jacfwd(lambda x: np.sqrt(x), sparsity="detect")(x)
    np.testing.assert_array_equal(found.toarray(), np.diag([np.inf, 0.5, 0.25]))


@pytest.mark.full
def test_options() -> None:
    for options in ({"memory": "1 MB"}, {"target": "python"}, {"parallel": True}):
        found = adc.hessian(energy, sparsity="detect", **options)
        np.testing.assert_allclose(found(X).toarray(), adc.hessian(energy)(X), rtol=1e-14)


@pytest.mark.full
def test_methods_and_partials() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = W

        def residuals(self, x: Any) -> Any:
            return stencil(x, self.w)

    wanted = adc.jacfwd(stencil)(X, W)
    found = adc.jacfwd(Model().residuals, sparsity="detect")
    np.testing.assert_array_equal(found(X).toarray(), wanted)
    found = adc.jacfwd(stencil, argnames="x", sparsity="detect")
    np.testing.assert_array_equal(found(w=W, x=X).toarray(), wanted)


def test_it_is_pickled() -> None:
    found = pickle.loads(pickle.dumps(adc.jacfwd(stencil, sparsity="detect")))
    np.testing.assert_array_equal(found(X, W).toarray(), adc.jacfwd(stencil)(X, W))
    assert repr(found) == "<adc jacfwd(stencil)>"


def test_source_of_the_last_call() -> None:
    found = adc.jacfwd(stencil, sparsity="detect")
    found(X, W)
    assert "(4)" in found.source()  # three directions, and that of the test


SPARSE: Any = adc.jacfwd(stencil, sparsity="detect")
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "complex arguments": (
        lambda: adc.jacfwd(lambda z: z * z, sparsity="detect")(X + 1j), "complex arguments"
    ),
    "complex results": (
        lambda: adc.jacfwd(lambda x: x * 1j, sparsity="detect")(X), "complex arguments or results"
    ),
    "holomorphic": (
        lambda: adc.jacfwd(lambda z: z, holomorphic=True, sparsity="detect"), "`sparsity` is for"
    ),
    "a Hessian of arrays": (
        lambda: adc.hessian(lambda x: x * x, sparsity="detect")(X), "does not return one number"
    ),
    "a Jacobian of a Jacobian": (
        lambda: adc.jacfwd(adc.jacfwd(lambda x: x * x), sparsity="detect"), "`sparsity` is for"
    ),
    "of a sparse one": (
        lambda: adc.jacfwd(adc.jacfwd(lambda x: x * x, sparsity="detect")), "take the dense one"
    ),
    "in differentiated code": (
        lambda: adc.grad(lambda x: np.sum(adc.jacfwd(stencil, sparsity="detect")(x, W)))(X),
        "with `sparsity` inside a function"
    ),
    "called in differentiated code": (
        lambda: adc.grad(lambda x: np.sum(SPARSE(x, W)))(X), "take the dense one"
    ),
    "in a batch": (lambda: adc.vmap(SPARSE)(X[None], W[None]), "take the dense one"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(AdcError, match=message) as caught:
        call()
    assert "adc/" not in str(caught.value)


# --- colorings ------------------------------------------------------------------------------------


def matrices() -> list[Any]:
    rng = np.random.default_rng(0)
    found = [
        sparse.random_array((n, m), density=d, rng=rng) != 0
        for n, m, d in ((9, 9, 0.2), (30, 20, 0.1), (5, 40, 0.3), (1, 4, 1.0), (4, 4, 0.0))
    ]
    return [sparse.csr_array(each) for each in found]  # fmt: skip


@pytest.mark.parametrize("pattern", matrices(), ids=lambda pattern: str(pattern.shape))
def test_columns_of_one_color_have_no_common_row(pattern: Any) -> None:
    colors = coloring.columns(pattern)
    dense = pattern.toarray()
    for color in range(colors.max() + 1):
        assert dense[:, colors == color].sum(axis=1).max() <= 1


@pytest.mark.parametrize("seed", range(8))
def test_a_star_coloring_gives_every_entry(seed: int) -> None:
    """Neighbours differ, and no path of four vertices has two colors alone."""
    rng = np.random.default_rng(seed)
    some = sparse.random_array((14, 14), density=0.15, rng=rng).toarray() != 0
    adjacent = (some | some.T) & ~np.eye(14, dtype=bool)
    colors = coloring.star(sparse.csr_array(adjacent | np.eye(14, dtype=bool)))
    edges = list(zip(*np.nonzero(adjacent), strict=True))
    assert all(colors[a] != colors[b] for a, b in edges)
    for b, c in edges:
        for a in np.nonzero(adjacent[b])[0]:
            for d in np.nonzero(adjacent[c])[0]:
                if len({a, b, c, d}) == 4:
                    assert len({colors[k] for k in (a, b, c, d)}) > 2


def test_colorings_in_python_are_the_compiled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = matrices()[0]
    compiled = coloring.columns(pattern), coloring.star(pattern + pattern.T)
    monkeypatch.setattr(coloring, "_compiled", lambda fn: fn)
    np.testing.assert_array_equal(coloring.columns(pattern), compiled[0])
    np.testing.assert_array_equal(coloring.star(pattern + pattern.T), compiled[1])


@pytest.mark.full
def test_a_grid_of_two_species() -> None:
    """Ten thousand unknowns: a row has six entries, and few more directions are needed."""

    def step(u: Any, v: Any) -> Any:
        def laplacian(a: Any) -> Any:
            return (np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1)
                    - 4.0 * a)  # fmt: skip

        reaction = u * v * v
        return 0.16 * laplacian(u) - reaction + 0.06 * (1.0 - u), 0.08 * laplacian(v) + reaction

    u, v = np.random.default_rng(0).random((2, 70, 70))
    found = adc.jacfwd(step, argnums=(0, 1), sparsity="detect")
    (a, b), (c, d) = found(u, v)
    assert found.directions(u, v) <= 12
    assert (a.nnz, b.nnz, c.nnz, d.nnz) == (5 * 4900, 4900, 4900, 5 * 4900)
    direction = np.random.default_rng(1).random((2, 70, 70))
    _, slopes = adc.jvp(step, (u, v), tuple(direction))
    for row, slope in zip(((a, b), (c, d)), slopes, strict=True):
        product = sum(block @ each.ravel() for block, each in zip(row, direction, strict=True))
        np.testing.assert_allclose(product, slope.ravel(), rtol=1e-12)


@pytest.mark.full
def test_a_rule_may_give_second_derivatives_that_are_not_symmetric() -> None:
    scaled = adc.custom_jvp(lambda x, w: x * w)
    scaled.defjvp(lambda p, t: (p[0] * p[1], t[0] * p[1]))  # as if w were a constant

    def loss(x: Any) -> Any:
        return np.sum(scaled(x[1:], x[0]) * x[1:] ** 2)

    x = np.linspace(0.5, 1.5, 9)
    wanted = adc.hessian(loss)(x)
    assert not np.allclose(wanted, wanted.T)
    found = adc.hessian(loss, sparsity="detect")(x)
    np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-13, atol=1e-15)
    given = adc.hessian(loss, sparsity=(wanted != 0) | (wanted.T != 0))(x)
    np.testing.assert_allclose(given.toarray(), wanted, rtol=1e-13, atol=1e-15)
