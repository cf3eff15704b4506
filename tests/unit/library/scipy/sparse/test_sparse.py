"""`scipy.sparse` in differentiated code: values, and derivatives, which have patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from scipy.sparse import diags

import adc
from adc.ir.errors import AdcError, LimitError

RNG = np.random.default_rng(5)


def _random(m: int, n: int, seed: int) -> Any:
    return sp.csr_array(sp.random_array((m, n), density=0.4, rng=seed))


A = (_random(6, 6, 1) + 4.0 * sp.eye_array(6)).tocsr()
WIDE = _random(4, 6, 2)
M = sp.csr_matrix(A)
COO = sp.coo_array((RNG.standard_normal(6), ([0, 1, 0, 3, 5, 1], [1, 1, 1, 2, 4, 1])))
# Indices that do not increase, equal entries, a zero, an empty row; indices of 64 bits.
ODD = sp.csr_array(
    (RNG.standard_normal(7), np.array([3, 0, 3, 1, 5, 2, 2]), np.array([0, 3, 3, 5, 7])),
    shape=(4, 6),
)
ODD.data[3] = 0.0
B = RNG.standard_normal(6)
C = RNG.standard_normal(4)
W = RNG.standard_normal((6, 6))
X = RNG.standard_normal((6, 3))
SYM = (_random(9, 9, 3) + _random(9, 9, 3).T + sp.diags_array(np.arange(9.0))).tocsr()
LINKS = sp.csr_array(WIDE.T @ WIDE > 0.1)
LU = sl.splu(A.tocsc())
FACTORED = sl.factorized(A.tocsc())
ILU = sl.LinearOperator((6, 6), sl.spilu(A.tocsc()).solve)
TIGHT: Any = {"rtol": 1e-13}

Row = tuple[Callable[..., Any], tuple[Any, ...]]


def _of_entries(v: Any) -> Any:
    made = sp.csc_matrix((v, (np.array([0, 1, 0, 3, 5, 1]), np.array([1, 1, 1, 2, 4, 1]))), (6, 7))
    # A column of a table of floats may say where entries are.
    table = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 4.0], [3.0, 2.0], [5.0, 4.0], [1.0, 1.0]])
    other = sp.csr_matrix((v * v, (table[:, 0], table[:, 1])), (6, 7))
    return made @ np.ones(7) + np.conj(other) @ np.arange(7.0)


def _solves(a: Any, b: Any) -> Any:
    lu = sl.splu(a)
    return lu.solve(b) + lu.solve(b * b, "T")


def _powers(a: Any, b: Any) -> Any:
    solve = sl.factorized(a)
    for _ in range(3):
        b = solve(b)
    return b


def _by_operator(d: Any, b: Any) -> Any:
    operator = sl.LinearOperator(
        (6, 6), matvec=lambda v: A @ v + d * v, rmatvec=lambda v: A.T @ v + d * v
    )
    return sl.bicgstab(operator, b, **TIGHT)[0]


def _by_symmetric_operator(d: Any, b: Any) -> Any:
    x, info = sl.cg(sl.LinearOperator((6, 6), lambda v: v + d**2 * v), b, **TIGHT)
    return x + info


def _changed(a: Any) -> Any:
    """Change entries of what is a copy, and of what is not."""
    first, second, third = a.tocoo(copy=True), a.T, a.copy()
    fourth = sp.csr_array((a.data, a.indices, a.indptr), shape=a.shape, copy=True)
    a = a * 2.0
    first.data[:] = first.data**2
    a.tocsc().tocoo().data[:] = 0.0
    third.data *= 3.0
    fourth.data[0] = 0.0
    same = a.tocsr()
    same.data[1] = 5.0
    return a @ B + first @ B + second @ B + third @ B + fourth @ B


def _halved(a: Any) -> Any:
    return (a + a.T) * 0.5


def _eigenpairs(a: Any) -> Any:
    w, v = sl.eigsh(_halved(a), k=2, which="SA", v0=np.ones(9))
    return np.append(w, (np.arange(9.0) @ v) ** 2)


ROWS: list[Row] = [
    (lambda a, x: a @ x, (A, B)),
    (_changed, (A,)),
    (lambda x: LINKS.sum(1) * x + LINKS.sum(axis=0) + LINKS @ x + LINKS.sum(), (B,)),
    (lambda a, x: a @ x, (WIDE, B)),
    (lambda a, x: a.dot(x) + x[:4], (ODD, B)),
    (lambda a, x: a @ x, (ODD.tocsc(), B)),
    (lambda a, x: a @ x, (COO, B[:5])),
    (lambda a, x: a @ x, (A.todia(), B)),
    (lambda a, x: a @ x, (A, X)),
    (lambda a, x: a @ x, (A.tocsc(), X)),
    (lambda a, x: a.tocoo() @ x, (A, X)),
    (lambda a, x: x @ a + a.T @ x, (ODD, C)),
    (lambda a, x: x.T @ a, (A, X)),
    (lambda x: A @ x + x @ A + A.T @ x, (B,)),
    (lambda x: M * x + x * M + (M @ M.T) @ x, (B,)),
    (lambda d: sp.csr_array((d, ODD.indices, ODD.indptr), shape=(4, 6)) @ B, (ODD.data,)),
    (lambda v: sp.coo_array((v, (COO.row, COO.col))).tocsr() @ B[:5], (COO.data,)),
    (_of_entries, (B,)),
    (lambda v: diags([v[:-1], v, v[1:]], [-1, 0, 1]) @ B, (B,)),
    (lambda v: diags([-1.0, 2.0], [-1, 2], shape=(5, 6), format="csr") @ v, (B,)),
    (lambda v: (A + sp.diags_array(v)) @ v, (B,)),
    (lambda v: (sp.eye(6) + 0.1 * M) @ v + sp.identity(6).dot(v), (B,)),
    (lambda a: sp.kron(a, a).tocsr() @ np.ones(36), (A,)),
    (lambda a: sp.kronsum(a, A) @ np.ones(36), (A,)),
    (lambda v: sp.spdiags(np.vstack((-v, v, 2.0 * v)), np.array([-1, 0, 2]), 6, 5).toarray(), (B,)),
    (lambda v: sp.spdiags([v, v * v], (0, 1), format="csr") @ v, (B,)),
    (lambda v: sp.spdiags(v, 1, (6, 6)) @ v, (B,)),
    (lambda a: sp.vstack([a, ODD]) @ B, (A,)),
    (lambda a: sp.hstack([a, a.T]) @ np.concatenate((B, B)), (A,)),
    (lambda a: sp.block_diag((a, a.T)) @ np.concatenate((B, C)), (ODD,)),
    (lambda a: sp.tril(a) @ B + sp.triu(a, 1) @ B, (A,)),
    (lambda a: (a + a).toarray() + a.toarray() - (2.0 * a).toarray() / 3.0, (ODD,)),
    (lambda a: (a - a.T).toarray() + (a @ a).toarray() + (a.T @ a).toarray(), (A,)),
    (lambda a: (a.T @ a).toarray(), (ODD,)),
    (lambda a: a.multiply(a).toarray() + a.multiply(A[:4]).toarray(), (ODD,)),
    (lambda a: a.multiply(W) @ B + a.multiply(B) @ B + (a / 3.0) @ B + (a * B) @ B, (A,)),
    (lambda a: (a + W).sum(0) + (W - a) @ B, (A,)),
    (lambda a: a.power(2).toarray() + (a**3).toarray() + abs(a).toarray() - (-a).toarray(), (A,)),
    (lambda a: a.tanh().toarray() + a.sin().toarray() + a.expm1().toarray(), (A,)),
    (lambda a: np.append(a.sum(axis=0), a.sum(1)) + a.mean() + a.trace(), (ODD,)),
    (lambda a: np.append(a.diagonal(), a.diagonal(2)), (ODD,)),
    (lambda a: np.append(a.diagonal(-1), a.diagonal(9)), (ODD,)),
    (lambda a: a[1:3].toarray() + a[[0, -1]].toarray(), (ODD,)),
    (lambda a: a[:, 1:4].toarray() + a[::2][:2].toarray()[:, :3].sum(), (ODD,)),
    (lambda a: np.array([a[0, 3], a[-1, 2], a[1, 1]]), (ODD,)),
    (lambda a: sl.norm(a) + sl.norm(a, 1) + sl.norm(a, np.inf) + sl.norm(a, axis=1), (A,)),
    (lambda a: sp.csr_matrix(a.tocsc()).dot(B) + sp.coo_matrix(a) @ B, (A,)),
    (lambda a: a @ (1.0 + 2.0j * B), (A,)),
    (lambda a: a @ B * (1.0 if sp.issparse(a) and isinstance(a, sp.csr_array) else 0.0), (A,)),
    (lambda a, b: sl.spsolve(a, b), (A, B)),
    (lambda a, b: sl.spsolve(a, b), (A.tocsc(), X)),
    (lambda a: sl.spsolve(a, B[:, None]), (A,)),
    (lambda b: sl.spsolve(A, b), (B,)),
    (lambda a: sl.spsolve(a * (1.0 + 0.5j), B), (A,)),
    (lambda a: sl.splu(a * (1.0 + 0.5j)).solve(B * 1j, "T"), (A.tocsc(),)),
    (_solves, (A.tocsc(), B)),
    (_powers, (A.tocsc(), B)),
    (lambda b: LU.solve(b) + LU.solve(b * b, trans="T") + FACTORED(b), (B,)),
    (lambda a, b: sl.cg(_halved(a), b, **TIGHT)[0], (A, B)),
    (lambda a, b: sl.gmres(a, b, **TIGHT)[0], (A, B)),
    (lambda a, b: sl.gmres(a.toarray(), b, **TIGHT)[0], (A, B)),
    (lambda a, b: sl.bicgstab(a, b, M=ILU, **TIGHT)[0], (A, B)),
    (lambda a: sl.gmres(a, B, M=sp.diags_array(1.0 / A.diagonal()), restart=5, **TIGHT)[0], (A,)),
    (lambda a: sl.minres(_halved(a), B, rtol=1e-13)[0], (A,)),
    (_by_operator, (B * 0.3, B)),
    (_by_symmetric_operator, (B * 0.3, B)),
    (lambda a: sl.aslinearoperator(a) @ B, (A,)),
    (_eigenpairs, (SYM,)),
    (lambda a: sl.eigsh(_halved(a), 3, return_eigenvectors=False, v0=np.ones(9)), (SYM,)),
]  # fmt: skip
SPARSE_RESULTS: list[Row] = [
    (lambda a: a.T, (ODD,)),
    (lambda a: a * 2.0, (M,)),
    (lambda a: a.tocsc() @ a.T, (ODD,)),
    (lambda a: (a.tocoo(), a.todia() if False else a.tocsr()), (ODD.tocsc(),)),
    (lambda a: sp.diags_array(a.data, offsets=1), (A,)),
    (lambda a: sp.vstack([a, a]), (A,)),
]


def _flat(found: Any) -> Any:
    if isinstance(found, tuple):
        return np.concatenate([_flat(each) for each in found])
    return np.ravel(found.toarray() if sp.issparse(found) else found)


def _numbers(value: Any) -> Any:
    return np.ravel(value.data if sp.issparse(value) else value)


def _moved(value: Any, direction: Any, size: float) -> Any:
    if not sp.issparse(value):
        return value + size * direction
    found = value.copy()
    found.data = value.data + size * direction
    return found


def _direction(value: Any) -> Any:
    return np.random.default_rng(8).standard_normal(_of(value).shape)


def _of(value: Any) -> Any:
    return value.data if sp.issparse(value) else value


def _along(value: Any, direction: Any) -> Any:
    """Return a direction as an argument."""
    if not sp.issparse(value):
        return direction
    return _moved(_moved(value, value.data, -1.0), direction, 1.0)


def _loss(fn: Callable[..., Any], count: int) -> Callable[..., Any]:
    weights = np.random.default_rng(9).standard_normal(count)

    def loss(*args: Any) -> Any:
        found = np.ravel(fn(*args))
        return np.sum(weights * (found.real**2 + np.sin(found.imag + found.real)))

    return loss


@pytest.mark.full
@pytest.mark.parametrize("row", ROWS)
def test_values(row: Row) -> None:
    fn, args = row
    want, found = fn(*args), adc.jit(fn)(*args)
    assert np.shape(found) == np.shape(want)
    assert np.asarray(found).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("row", ROWS)
def test_derivatives(row: Row) -> None:
    fn, args = row
    loss = _loss(fn, np.size(fn(*args)))
    directions = [_direction(each) for each in args]
    argnums = tuple(range(len(args)))
    gradient = adc.grad(loss, argnums)
    found = gradient(*args)
    for each, value in zip(found, args, strict=True):
        assert type(each) is type(value)
        assert each.shape == value.shape
        assert _of(each).shape == _of(value).shape

    def at(size: float) -> Any:
        moved = [_moved(*pair, size) for pair in zip(args, directions, strict=True)]
        return loss(*moved), np.concatenate(list(map(_numbers, gradient(*moved))))

    (after, later), (before, earlier) = at(1e-5), at(-1e-5)
    slope = sum(_numbers(g) @ np.ravel(d) for g, d in zip(found, directions, strict=True))
    np.testing.assert_allclose(slope, (after - before) / 2e-5, rtol=1e-6, atol=1e-7)
    tangents = tuple(_along(*pair) for pair in zip(args, directions, strict=True))
    np.testing.assert_allclose(adc.jvp(loss, args, tangents)[1], slope, rtol=1e-9, atol=1e-9)
    second = adc.jvp(gradient, args, tangents)[1]
    np.testing.assert_allclose(
        np.concatenate(list(map(_numbers, second))), (later - earlier) / 2e-5, rtol=1e-5, atol=1e-5
    )


@pytest.mark.full
@pytest.mark.parametrize("row", SPARSE_RESULTS)
def test_sparse_results(row: Row) -> None:
    fn, (a,) = row
    want, found = fn(a), adc.jit(fn)(a)
    pairs = zip(want, found, strict=True) if isinstance(want, tuple) else [(want, found)]
    for x, y in pairs:
        assert type(x) is type(y)
        assert x.shape == y.shape
        assert x.data.shape == y.data.shape
    np.testing.assert_allclose(_flat(found), _flat(want), rtol=1e-13)
    value, slope = adc.jvp(fn, (a,), (_along(a, _direction(a)),))
    np.testing.assert_allclose(_flat(value), _flat(want), rtol=1e-13)
    moved = [_flat(fn(_moved(a, _direction(a), size))) for size in (1e-5, -1e-5)]
    np.testing.assert_allclose(_flat(slope), (moved[0] - moved[1]) / 2e-5, rtol=1e-6, atol=1e-8)


@pytest.mark.full
def test_iterative_solutions() -> None:
    def solved(a: Any, b: Any) -> Any:
        return sl.cg(a, b, **TIGHT)[0] @ np.arange(6.0)

    symmetric = (A + A.T) @ (A + A.T) + 4.0 * sp.eye_array(6, format="csr")
    value, slope = adc.value_and_grad(solved, 1)(symmetric, B)
    assert value == pytest.approx(solved(symmetric, B), rel=1e-10)
    np.testing.assert_allclose(slope, sl.spsolve(symmetric, np.arange(6.0)), rtol=1e-9)


@pytest.mark.full
def test_gradients_have_the_pattern_of_the_argument() -> None:
    for a in (ODD, COO, ODD.tocsc(), sp.csr_matrix(ODD)):
        found = adc.grad(lambda a: np.sum((a @ np.ones(a.shape[1])) ** 2))(a)
        assert type(found) is type(a)
        rows, ones = a.tocoo(), a @ np.ones(a.shape[1])
        np.testing.assert_allclose(found.data, 2.0 * ones[rows.coords[0]], rtol=1e-13)
        for name in ("indices", "indptr", "row", "col"):
            if hasattr(a, name):
                assert np.array_equal(getattr(found, name), getattr(a, name))
                assert getattr(found, name) is not getattr(a, name)


@pytest.mark.full
def test_patterns_that_change_between_calls() -> None:
    gradient = adc.grad(lambda a, x: np.sum((a @ x) ** 3))
    for a in (A, WIDE, ODD, sp.csr_array((0, 6)), sp.csr_array((3, 6))):
        found = gradient(a, B)
        rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
        np.testing.assert_allclose(found.data, 3.0 * (a @ B)[rows] ** 2 * B[a.indices], rtol=1e-12)


@pytest.mark.full
def test_sparse_arrays_in_containers() -> None:
    given = {"a": A, "rest": [WIDE, B], "more": (2.0, COO)}

    def loss(p: Any, *args: Any, extra: Any) -> Any:
        total = np.sum(p["a"] @ p["rest"][1]) + np.sum(p["rest"][0] @ B) + p["more"][1].sum()
        return total + np.sum(args[0] @ B) * 2.0 + np.sum(extra.T @ B)

    found = adc.grad(loss)(given, A, extra=A)
    assert type(found["rest"][0]) is sp.csr_array
    assert type(found["more"][1]) is sp.coo_array
    np.testing.assert_array_equal(found["rest"][0].data, B[WIDE.indices])
    (other,) = adc.grad(loss, (1,))(given, A, extra=A)
    np.testing.assert_array_equal(other.data, 2.0 * B[A.indices])


@pytest.mark.full
def test_lists_of_sparse_arrays() -> None:
    def loss(layers: Any, x: Any) -> Any:
        for a in layers:
            x = np.tanh(a @ x)
        return np.sum(x)

    found = adc.grad(loss)([A, A * 2.0, A * 0.5], B)
    assert [type(each) for each in found] == [sp.csr_array] * 3


@pytest.mark.full
def test_single_precision_and_complex_entries() -> None:
    small = A.astype(np.float32)
    found = adc.grad(lambda a: np.sum(sl.spsolve(a, B.astype(np.float32)) ** 2))(small)
    wanted = adc.grad(lambda a: np.sum(sl.spsolve(a, B) ** 2))(A)
    assert found.data.dtype == np.float32
    np.testing.assert_allclose(found.data, wanted.data, rtol=1e-3, atol=1e-6)
    z = A * (1.0 + 2.0j)
    value = adc.grad(lambda a: np.sum(np.abs(a @ B) ** 2))(z)
    rows = np.repeat(np.arange(6), np.diff(z.indptr))
    np.testing.assert_allclose(value.data, 2.0 * np.conj((z @ B)[rows]) * B[z.indices], rtol=1e-12)


@pytest.mark.full
def test_loops_within_a_budget() -> None:
    def loss(a: Any, x: Any) -> Any:
        for _ in range(50):
            x = x + 0.01 * np.tanh(a @ x)
        return np.sum(x**2)

    frugal = adc.grad(loss, memory="2 kB")(A, B)
    assert np.array_equal(frugal.data, adc.grad(loss)(A, B).data)


@pytest.mark.full
def test_factors_in_loops_within_a_budget() -> None:
    def loss(d: Any, x: Any) -> Any:
        for k in range(12):
            a = sp.csr_array((A.data * (1.0 + 0.1 * k * d), A.indices, A.indptr), shape=(6, 6))
            x = sl.spsolve(a, x) + B
        return np.sum(x**2)

    d = np.abs(A.data)
    found = adc.grad(loss)(d, B)
    assert np.array_equal(adc.grad(loss, memory="6 kB")(d, B), found)
    moved = (loss(d + 1e-3, B) - loss(d - 1e-3, B)) / 2e-3
    np.testing.assert_allclose(np.sum(found), moved, rtol=1e-4)


@pytest.mark.full
def test_factors_are_made_again_if_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    from adc.library.scipy.sparse import host

    def loss(a: Any, b: Any) -> Any:
        first, second = sl.splu(a), sl.splu(a * 2.0)
        return np.sum(first.solve(b) ** 2) + np.sum(second.solve(first.solve(b)) ** 3)

    wanted = adc.grad(loss)(A.tocsc(), B)
    monkeypatch.setattr(host, "_MOST", 1)
    found = adc.grad(loss)(A.tocsc(), B)
    assert np.array_equal(found.data, wanted.data)
    assert host.count() <= 1


def test_reverse_code_releases_factors() -> None:
    from adc.library.scipy.sparse import host

    gradient = adc.grad(lambda a, b: np.sum(sl.spsolve(a, b) ** 2), (0, 1))
    gradient(A, B)
    before = host.count()
    for _ in range(5):
        gradient(A, B)
    assert host.count() == before


@pytest.mark.full
def test_captured_factors_that_are_replaced() -> None:
    lu = sl.splu(A.tocsc())

    def loss(b: Any) -> Any:
        return np.sum(lu.solve(b) ** 2)

    gradient = adc.grad(loss)
    gradient(B)
    lu = sl.splu((2.0 * A).tocsc())
    np.testing.assert_allclose(gradient(B), 2.0 * lu.solve(lu.solve(B), "T"), rtol=1e-12)


@pytest.mark.full
def test_vjp_of_sparse_results() -> None:
    value, pull = adc.vjp(lambda a: a * 2.0, A)
    assert type(value) is sp.csr_array
    (found,) = pull(A)
    np.testing.assert_array_equal(found.data, 2.0 * A.data)
    with pytest.raises(AdcError, match="pattern"):
        pull(_other())


def _other() -> Any:
    """Return an array with as many entries as `A`, elsewhere."""
    found = A.copy()
    found.indices = (found.indices + 1) % 6
    return found


def test_tangents_have_the_pattern() -> None:
    with pytest.raises(AdcError, match="another pattern"):
        adc.jvp(lambda a: a.sum(), (A,), (_other(),))


@pytest.mark.full
def test_jacobians() -> None:
    np.testing.assert_allclose(adc.jacrev(lambda x: A @ x)(B), A.toarray(), rtol=1e-13)
    np.testing.assert_allclose(adc.jacfwd(lambda x: A.T @ x)(B), A.T.toarray(), rtol=1e-13)
    with pytest.raises(AdcError, match="Jacobian with respect to a csr_array"):
        adc.jacrev(lambda a: a @ B)(A)


@pytest.mark.full
def test_derivatives_within_code() -> None:
    def outer(a: Any) -> Any:
        return np.sum(adc.grad(lambda b: np.sum((b @ B) ** 2))(a).data ** 2)

    found = adc.grad(outer)(A)
    moved = [outer(_moved(A, _direction(A), size)) for size in (1e-6, -1e-6)]
    np.testing.assert_allclose(found.data @ _direction(A), (moved[0] - moved[1]) / 2e-6, rtol=1e-6)


@pytest.mark.full
def test_attributes() -> None:
    def counts(a: Any) -> Any:
        m, n = a.shape
        return a.nnz + 10 * a.ndim + 100 * m + 1000 * n + a.size + (a.dtype == np.float64)

    for a in (ODD, COO, ODD.tocsc(), A.todia()):
        assert adc.jit(counts)(a) == counts(a)


def _scaled(a: Any) -> Any:
    a *= 2.0
    return a


def _assigned(a: Any) -> Any:
    a[0, 0] = 2.0
    return a


# A program, its argument, and what the message and the hint say.
REFUSED: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda a: np.sum(sp.csr_array(a) @ B), W, "pattern depends on the values"),
    (lambda a: a.max(), A, "`max` of a csr_array"),
    (lambda a: a.setdiag(1.0), A, "`setdiag` of a csr_array"),
    (lambda a: _scaled(a).sum(), A, "in place"),
    (lambda a: _assigned(a).sum(), A, "assignment to elements"),
    (lambda a: (a**0).sum(), A, "the zero power"),
    (lambda a: np.sum(a[1]), A, "a row of a sparse array"),
    (lambda a: np.sum(a[:, 1]), A, "a column of a sparse array"),
    (lambda a: np.sum(a.sum(0)), M, "an `np.matrix`"),
    (lambda a: np.sum((a + 1.0).data), A, "plus a number"),
    (lambda a: np.sum(sl.svds(a, k=1)[1]), A, "sparse.linalg.svds"),
    (lambda a: np.sum(sl.cg(a, B, callback=print)[0]), A, "'callback'"),
    (lambda a: np.sum(sl.spsolve(a, A.tocsc()).data), A, "sparse right-hand side"),
    (lambda a: np.sum(sl.eigsh(a, 2, M=A)[0]), A, "with `M`"),
    (lambda a: np.sum(sl.spsolve(a, X[:, :1])), A, "turns out to be one column"),
    (lambda a: np.sum(a.asformat("lil").data), A, "this `format`"),
    (lambda a: np.sum(a @ np.ones(5)), A, "dimension mismatch"),
    (lambda a: np.sum(sl.spsolve(a, B)), WIDE, "matrix must be square"),
    (lambda a: np.sum(sl.spsolve(a * 0.0, B)), A, "exactly singular"),
    (lambda a: np.sum(sl.cg(a, B, maxiter=1, rtol=1e-14)[0]), A, "not converged"),
    (lambda a: np.sum(sl.eigsh(a, 2, v0=np.ones(6))[0]), 2.0 * sp.eye_array(6).tocsr(), "simple"),
    (lambda a: np.sum(sl.gmres(sl.LinearOperator((6, 6), lambda v: a @ v), B)[0]), A, "rmatvec"),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("fn", "a", "what"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refused(fn: Callable[..., Any], a: Any, what: str) -> None:
    with pytest.raises((AdcError, ValueError, RuntimeError, NotImplementedError, LimitError)) as e:
        adc.grad(fn)(a)
    assert what in str(e.value)


@pytest.mark.full
def test_a_value_that_has_no_derivative() -> None:
    found, info = adc.jit(lambda a: sl.cg(a, B, maxiter=1, rtol=1e-14))(A)
    wanted, info_ = sl.cg(A, B, maxiter=1, rtol=1e-14)
    assert info == info_ > 0
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
