"""`lil` and `dok` arrays of `scipy.sparse`, to whose elements code assigns: as in SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl

import adc
from adc.ir.errors import AdcError

KINDS = [sp.lil_array, sp.lil_matrix, sp.dok_array, sp.dok_matrix]
X = np.array([1.0, 2.0, 3.0, 4.0])
ROWS, COLUMNS = np.array([0, 2]), np.array([0, 3])
LINKS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 2]])


def _started(make: Any) -> Any:
    a = make((3, 4))
    a[1, 2] = 3
    a[-1, 0] = 2.5
    a[1, 0] = 1.0
    a[1, 1] = 0
    return a


def _patterns(a: Any) -> Any:
    """Return what a program can see of the entries: their order is that of SciPy."""
    rows, columns, places = a.tocsr(), a.tocsc(), a.tocoo()
    return (
        a.nnz, rows.indices, rows.indptr, rows.data, columns.indices, columns.indptr, columns.data,
        places.row, places.col, places.data,
    )  # fmt: skip


def _removed(make: Any, x: Any) -> Any:
    a = _started(make)
    a[1, 2] = 0
    before = a.nnz
    a[1, 2] = x[0]
    a[0, :] = 0
    a[:, 1] = 0.0
    a[2, 2] = False
    return before, _patterns(a)


def _zeros(make: Any, x: Any) -> Any:
    a = make((2, 3))
    a[0, 2] = x[0] - 1.0
    a[0, 1] = x[1]
    before = a.nnz, a.toarray()
    a[0, 2] = x[2]
    a[0, 0] = 3
    return before, _patterns(a)


def _lines(make: Any, x: Any) -> Any:
    a = _started(make)
    a[0] = x
    a[1, :] = x
    a[:, 1] = x[:3]
    a[:, [2]] = x[:3, None]
    a[2] = 7
    a[np.array([True, False, True])] = x
    a[:, np.array([True, False, False, True])] = 1.0
    return _patterns(a)


def _pairs(make: Any, x: Any) -> Any:
    a = _started(make)
    a[[0, 1], [0, 1]] = x[:2]
    a[[0, 0], [2, 2]] = x[:2]
    a[ROWS, COLUMNS] = 5
    a[[0, -1], [-1, -2]] = x[2:]
    return _patterns(a)


def _blocks(make: Any, x: Any) -> Any:
    a = _started(make)
    a[np.ix_(ROWS, COLUMNS)] = x.reshape(2, 2)
    a[np.ix_(ROWS, COLUMNS)] += x.reshape(2, 2)
    a[np.ix_(ROWS, COLUMNS)] -= x[:2]
    a[np.ix_([0, 0], [1, 1])] += x.reshape(2, 2)
    a[0:2, 1:3] = x.reshape(2, 2)
    a[1:, ::2] += x.reshape(2, 2)
    a[1, :] += x
    return _patterns(a)


def _parts(make: Any, x: Any) -> Any:
    a = _started(make)
    a[0, 1] = x[0]
    chosen = a[np.ix_(ROWS, COLUMNS)], a[[0, 1]], a[1:, :2]
    return a[0, 1], a[0, 0], a[-1, -4], [(b.toarray(), b.nnz) for b in chosen]


def _of_sparse(make: Any, x: Any) -> Any:
    a = _started(make)
    a[0:2, 0:2] = sp.csr_array((x[:2], ([0, 1], [0, 1])), shape=(2, 2))
    a[2] = sp.csr_array((x[:2], ([0, 0], [0, 1])), shape=(1, 4))
    return _patterns(a)


def _diagonals(make: Any, x: Any) -> Any:
    a = _started(make)
    a.setdiag(x[:3])
    a.setdiag(4.0, k=1)
    a.setdiag(x, -1)
    return _patterns(a), a.diagonal(), a.trace()


def _arithmetic(make: Any, x: Any) -> Any:
    a = _started(make)
    a[0, 0] = x[1]
    found = [
        a * 2.0,
        a / 2.0,
        a.tocsr() + a,
        -a,
        a.T,
        a - a.multiply(2),
        a @ a.T,
        abs(a),
        a.multiply(a),
    ]
    dense = [(b.toarray(), b.format) for b in found]
    return dense, a @ x, a.sum(), a.dot(x), a.power(2).toarray(), a.astype(complex).format


def _in_place(make: Any, x: Any) -> Any:
    a = _started(make)
    a *= 2
    a /= x[1]
    b = a.copy()
    b[0, 0] = 1
    a *= x[3]
    a[1, 0] *= x[1]
    a[1, 0] **= 2
    return _patterns(a), _patterns(b)


def _converted(make: Any, x: Any) -> Any:
    a = _started(make)
    first, second = a.tocsr().tolil(), a.tocsr().todok()
    first[0, 0] = x[0]
    second[0, 0] = x[1]
    second[0, 3] = 1
    found = [first, second, second.tolil(), first.todok(), second.T, first.T, a.asformat("lil")]
    found += [make(a, copy=True), make(a.tocsr(), dtype=np.float32)]
    return [_patterns(b) for b in found], _patterns(sp.csr_matrix(a))


def _types(make: Any, x: Any) -> Any:
    a, b = make((2, 2), dtype=int), make((2, 2), dtype=np.float32)
    c, d = make((2, 2), dtype=complex), make((2, 2), dtype=bool)
    a[0, 0] = 2.7
    a[0, 1] = True
    b[0, 0] = x[0]
    c[0, 0] = x[0] * 1j
    c[1, 1] += 2
    d[0, 0] = 1
    return _patterns(a), _patterns(b), _patterns(c), _patterns(d), a[0, 0], b[1, 1], c[0, 0]


def _empty(make: Any, x: Any) -> Any:
    a = make((2, 3))
    return _patterns(a), a.toarray(), a @ x[:3], a.shape, a.ndim, a.sum(), a.dtype == np.float64


def _loops(make: Any, x: Any) -> Any:
    for r in range(2):
        a = make((3, 3))
        for i in range(3):
            if x[i] > 1.5:
                a[i, i] = x[i]
            a[i, (i + r) % 3] += x[i]
    return _patterns(a)


def _result(make: Any, x: Any) -> Any:
    a = _started(make)
    a[0, 0] = x[0]
    return a, isinstance(a, make), sp.issparse(a), isinstance(a, sp.csr_array), a is None


PROGRAMS = [
    _removed, _zeros, _lines, _pairs, _blocks, _parts, _of_sparse, _diagonals, _arithmetic,
    _in_place, _converted, _types, _empty, _loops, _result,
]  # fmt: skip


def _require_equal(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        for pair in zip(found, wanted, strict=True):
            _require_equal(*pair)
    elif sp.issparse(wanted):
        assert type(found) is type(wanted)
        _require_equal(_patterns(found), _patterns(wanted))
    else:
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.full
@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_entries_are_those_of_scipy(program: Any, make: Any) -> None:
    _require_equal(adc.jit(lambda x: program(make, x))(X), program(make, X))


def _stiffness(make: Any, x: Any, links: Any) -> Any:
    n = len(x)
    a = make((n, n))
    for e in range(len(links)):
        ends = links[e]
        a[np.ix_(ends, ends)] += x[ends[0]] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    a[0, :] = 0
    a[:, 0] = 0
    a[0, 0] = 1
    return a


def _elements(make: Any, x: Any, links: Any) -> Any:
    return sl.spsolve(_stiffness(make, x, links).tocsc(), x)


def _by_element(make: Any, x: Any, links: Any) -> Any:
    n = len(x)
    a = make((n, n))
    for i, j in links:
        a[i, i] += x[i]
        a[j, j] += x[j] ** 2
        a[i, j] -= x[i] * x[j]
        a[j, i] = a[i, j]
    return sl.spsolve(a.tocsr() + sp.identity(n, format="csr"), np.ones(n))


def _differences(make: Any, x: Any, links: Any) -> Any:
    n = len(x)
    a = make((n, n))
    for i in range(n):
        a[i, i] = 2.0 * x[i]
        if i > 0:
            a[i, i - 1] = -x[i]
        if i < n - 1:
            a[i, i + 1] = -x[i + 1]
    a = a / 0.5**2
    a[0, :] = x
    a *= x[1]
    return a @ x + a.toarray().sum(0) + a.diagonal() + a.T @ x


SOLVED = [_elements, _by_element, _differences]


@pytest.mark.full
@pytest.mark.parametrize("make", [sp.lil_matrix, sp.dok_array])
@pytest.mark.parametrize("program", SOLVED)
def test_derivatives(program: Callable[..., Any], make: Any) -> None:
    weights = np.cos(np.arange(5.0))
    start, way = np.linspace(1.0, 2.0, 5), np.sin(1.0 + np.arange(5.0))

    def loss(x: Any) -> Any:
        return np.sum(weights * program(make, x, LINKS))

    found, gradient = adc.value_and_grad(loss)(start)
    assert found == pytest.approx(loss(start), rel=1e-12)
    slope = (loss(start + 1e-6 * way) - loss(start - 1e-6 * way)) / 2e-6
    assert gradient @ way == pytest.approx(slope, rel=1e-7)
    assert adc.jvp(loss, (start,), (way,))[1] == pytest.approx(gradient @ way, rel=1e-11)


@pytest.mark.full
@pytest.mark.parametrize("make", [sp.lil_array, sp.dok_matrix])
def test_zeros_have_derivatives(make: Any) -> None:
    """An entry that happens to be zero has a derivative, though SciPy has no entry there."""

    def loss(x: Any) -> Any:
        a = make((2, 2))
        a[0, 0] = 1
        a[1, 1] = 1.0
        a[0, 1] = x[0]
        a[1, 0] += x[1]
        return np.sum(sl.spsolve(a.tocsr(), np.array([2.0, 3.0]))) + a.nnz

    value, slope = adc.value_and_grad(loss)(np.zeros(2))
    assert value == 7.0
    np.testing.assert_allclose(slope, [-3.0, -2.0])


@pytest.mark.full
def test_a_large_array_takes_the_memory_of_its_entries() -> None:
    def loss(x: Any, n: Any) -> Any:
        a = sp.lil_matrix((n, n))
        for i in range(n):
            a[i, i] = x
            a[i, (i + 1) % n] += x * x
        return a.tocsr().sum()

    assert adc.grad(loss)(3.0, 100_000) == pytest.approx(7e5)


# The index, the value, and whether it is added.
WRONG: list[tuple[Any, Any, bool]] = [
    ((3, 0), 1.0, False),
    ((0, -5), 1.0, True),
    (([0, 5], [0, 1]), 1.0, False),
    ((0, [0, 7]), 1.0, False),
    ((9, [0, 1]), 1.0, False),
    ((0, 0), X, False),
    (([0, 1, 2], [0, 1]), 1.0, False),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("make", [sp.lil_matrix, sp.dok_array])
@pytest.mark.parametrize(("key", "value", "adds"), WRONG)
def test_errors_are_those_of_scipy(key: Any, value: Any, adds: bool, make: Any) -> None:
    def fn(v: Any) -> Any:
        a = make((3, 4))
        if adds:
            a[key] += v
        else:
            a[key] = v
        return a.sum()

    with pytest.raises((IndexError, ValueError)) as wanted:
        fn(value)
    with pytest.raises(wanted.type) as found:
        adc.jit(fn)(value)
    if wanted.type is IndexError:
        assert str(wanted.value) in str(found.value)


@pytest.mark.parametrize("make", [sp.lil_array, sp.dok_matrix])
def test_errors_of_slices(make: Any) -> None:
    def row(x: Any) -> Any:
        a = make((3, 4))
        a[0, :] = x[:2]
        return a.sum()

    def rows(x: Any) -> Any:
        a = make((3, 4))
        a[[0, 2], :] = np.ones((3, 4)) * x
        return a.sum()

    def block(x: Any) -> Any:
        a = make((3, 4))
        a[0:2, 0:2] += x[:3]
        return a.sum()

    for fn in (row, rows, block):
        with pytest.raises(ValueError, match="broadcast"):
            fn(X)
        with pytest.raises(ValueError, match="broadcast"):
            adc.jit(fn)(X)


def _made(change: Callable[[Any], Any], make: Any = sp.lil_array) -> Callable[[Any], Any]:
    def fn(x: Any) -> Any:
        a = make((4, 4))
        a[0, 0] = x[0]
        return np.sum(change(a)) + a.sum()

    return fn


def _with_complex(a: Any) -> Any:
    a[0, 0] = 1j
    return 0.0


def _with_number(a: Any) -> Any:
    a[0:2, :] += 1.0
    return 0.0


def _with_mask(a: Any) -> Any:
    a[np.eye(4) > 0] = 1.0
    return 0.0


REFUSED = [
    (_made(lambda a: a.data[0][0]), "`data` of a lil array", "`A.tocsr().data`"),
    (_made(lambda a: a[0].sum()), "that have one axis", "`A[[i]]`"),
    (_made(lambda a: sp.lil_array(a).sum()), "that shares the entries", "`A.copy()`"),
    (_made(lambda a: sp.lil_array(np.eye(2)).sum()), "of a dense one", "make an empty one"),
    (_made(_with_complex), "a complex value in a lil array", "`dtype`"),
    (_made(_with_number, sp.dok_matrix), "plus a number", "`x * np.ones(shape)`"),
    (_made(lambda a: (a + a).sum(), sp.dok_array), "a sum of a dok array", "`A.tocsr()`"),
    (_made(_with_mask), "by booleans", "in a loop"),
    (_made(lambda a: a == a), "a comparison of sparse arrays", "`A.toarray()`"),
    (_made(lambda a: np.dot(a, np.ones(4))), "`np.dot` of a lil_array", "`A @ x`"),
]


@pytest.mark.parametrize(("fn", "what", "hint"), REFUSED, ids=[what for _, what, _ in REFUSED])
def test_refused(fn: Any, what: str, hint: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(fn)(X)
    assert what in caught.value.message
    assert hint in caught.value.hint
