"""The routines that the CPU has (`adc.ir.analysis.routines`), as calls of LAPACK.

Each is written once, for a *machine*: `adc.backend.runtime.machine` writes LLVM's instructions,
`adc.backend.python.machine` executes in CPython, so both have the same bits. A routine is given its
operands, the arrays that it fills, and workspace; it returns whether it has failed, if it can fail.
To add one: a row in `adc.ir.analysis.routines`, and a function here.

A matrix in C order is to LAPACK the transpose of one by columns. Inputs are transposed where they
are copied, so that pivots, signs and errors are those of NumPy, which calls the same functions.
Results of solves need no transposition: what is solved is the transposed system, from the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adc.backend.runtime.machine import INFO, intrinsic_of

Machine = Any


def _lu_factor(m: Machine, a: Any, lu: Any, pivots: Any) -> Any:
    """The factors lie by columns: opaque to all but `lu_solve`, except for the diagonal."""
    n = a.shape[0]
    m.took(n * n * n)
    m.transpose(lu, a, n, n)

    def large() -> Any:
        info = m.call("getrf", n, n, lu, m.most(n, 1), pivots, INFO)
        m.count_from_zero(pivots, n)
        return info

    return m.failed(m.either(m.is_small(n), lambda: m.lu(lu, n, pivots), large))


def _lu_rows(m: Machine, a: Any, lu: Any, pivots: Any) -> Any:
    """The same factors, by rows."""
    info = _lu_factor(m, a, lu, pivots)
    m.transpose_in_place(lu, a.shape[0])
    return info


def _lu_solve(m: Machine, a: Any, lu: Any, pivots: Any, b: Any, transposed: Any, x: Any) -> None:
    n, columns = b.shape
    m.took(n * n * columns)
    m.copy(x, b, n, columns)

    def small() -> None:
        def triangle(kind: str, diagonal: str, turned: str) -> None:
            m.substitute(lu, x, n, columns, lower=kind == "L", turned=turned == "T",
                         unit=diagonal == "U", by_columns=True)  # fmt: skip

        solve(triangle)

    def vector() -> None:
        def triangle(kind: str, diagonal: str, turned: str) -> None:
            m.call("trsv", kind, turned, diagonal, n, lu, m.most(n, 1), x, 1)

        solve(triangle)

    def matrix() -> None:
        def triangle(kind: str, diagonal: str, turned: str) -> None:
            other = "T" if turned == "N" else "N"
            m.call("trsm", "R", kind, other, diagonal, columns, n, 1.0, lu, m.most(n, 1), x,
                   m.most(columns, 1))  # fmt: skip

        solve(triangle)

    def solve(triangle: Callable[[str, str, str], None]) -> None:
        def plain() -> None:
            m.swap_rows(x, n, columns, pivots, backwards=False)
            triangle("L", "U", "N")
            triangle("U", "N", "N")

        def turned() -> None:
            triangle("U", "N", "T")
            triangle("L", "U", "T")
            m.swap_rows(x, n, columns, pivots, backwards=True)

        m.branch(transposed, turned, plain)

    def large() -> None:
        m.branch(m.equal(columns, 1), vector, matrix)

    m.branch(m.is_small(n), small, large)


def _cholesky(m: Machine, a: Any, factor: Any) -> Any:
    n = a.shape[0]
    m.took(n * n * n)
    m.copy(factor, a, n, n, keep="lower")
    return m.failed(
        m.either(
            m.is_small(n),
            lambda: m.lower_factor(factor, n),
            lambda: m.call("potrf", "U", n, factor, m.most(n, 1), INFO),
        )
    )


def _solve_lower(m: Machine, low: Any, b: Any, transposed: Any, x: Any) -> None:
    n, columns = b.shape
    m.took(n * n * columns)
    m.copy(x, b, n, columns)

    def small() -> None:
        def triangle(turned: bool) -> None:
            m.substitute(low, x, n, columns, lower=True, turned=turned, unit=False,
                         by_columns=False)  # fmt: skip

        m.branch(transposed, lambda: triangle(True), lambda: triangle(False))

    def vector() -> None:
        turned = m.choose(transposed, "N", "T")
        m.call("trsv", "U", turned, "N", n, low, m.most(n, 1), x, 1)

    def matrix() -> None:
        turned = m.choose(transposed, "T", "N")
        m.call("trsm", "R", "U", turned, "N", columns, n, 1.0, low, m.most(n, 1), x,
               m.most(columns, 1))  # fmt: skip

    def large() -> None:
        m.branch(m.equal(columns, 1), vector, matrix)

    m.branch(m.is_small(n), small, large)


def _eigh(m: Machine, a: Any, upper: Any, values: Any, vectors: Any, work: Any, ints: Any) -> Any:
    n = a.shape[0]
    m.took(n * n * n * 8)
    m.transpose(vectors, a, n, n)
    info = m.call("syevd", "V", m.choose(upper, "U", "L"), n, vectors, m.most(n, 1), values,
                  work, work.size, ints, ints.size, INFO)  # fmt: skip
    m.transpose_in_place(vectors, n)
    return m.failed(info)


def _eigvalsh(m: Machine, a: Any, upper: Any, values: Any, work: Any) -> Any:
    n = a.shape[0]
    m.took(n * n * n)
    m.transpose(work, a, n, n)
    rest = m.at(work, n * n)
    one = m.integers(1)
    return m.failed(
        m.call("syevd", "N", m.choose(upper, "U", "L"), n, work, m.most(n, 1), values,
               rest, work.size - n * n, one, 1, INFO)
    )  # fmt: skip


def _eigh_robust(
    m: Machine, a: Any, upper: Any, first: Any, last: Any, values: Any, vectors: Any, work: Any,
    ints: Any,
) -> Any:  # fmt: skip
    """Values are counted from one, as LAPACK does."""
    n = a.shape[0]
    m.took(n * n * n * 8)
    m.transpose(work, a, n, n)
    rest, others = m.at(work, n * n), m.at(ints, n * 2)
    stride = m.most(n, 1)
    info = m.call("syevr", "V", "I", m.choose(upper, "U", "L"), n, work, stride, 0.0, 1.0, first,
                  last, 0.0, m.integers(1), values, vectors, stride, ints, rest,
                  work.size - n * n, others, ints.size - n * 2, INFO)  # fmt: skip
    m.transpose_in_place(vectors, n)
    return m.failed(info)


def _qr(m: Machine, a: Any, q: Any, r: Any, work: Any) -> None:
    rows, n = a.shape
    m.took(rows * n * n * 2)
    m.transpose(work, a, n, rows)
    scales = m.at(work, rows * n)
    rest = m.at(work, rows * n + n)
    size = n * 32
    stride = m.most(rows, 1)
    m.call("geqrf", rows, n, work, stride, scales, rest, m.most(size, 1), INFO)
    m.transpose(r, work, n, n, stride=rows, keep="upper")
    m.call("orgqr", rows, n, n, work, stride, scales, rest, m.most(size, 1), INFO)
    m.transpose(q, work, rows, n)


def _svd(m: Machine, a: Any, u: Any, s: Any, vt: Any, work: Any, ints: Any) -> Any:
    rows, columns = a.shape
    count = s.shape[0]
    m.took(rows * columns * count * 16)
    m.transpose(work, a, columns, rows)
    size = rows * columns
    rest = m.at(work, size)
    info = m.call(
        "gesdd", "S", rows, columns, work, m.most(rows, 1), s, u, m.most(rows, 1), vt,
        m.most(count, 1), rest, work.size - size, ints, INFO,
    )  # fmt: skip

    def tall() -> None:
        m.copy(work, u, rows, count)
        m.transpose(u, work, rows, count)
        m.transpose_in_place(vt, count)

    def wide() -> None:
        m.copy(work, vt, count, columns)
        m.transpose(vt, work, count, columns)
        m.transpose_in_place(u, count)

    m.branch(m.equal(count, columns), tall, wide)
    return m.failed(info)


def _full_svd(m: Machine, a: Any, u: Any, s: Any, vt: Any, work: Any, ints: Any) -> Any:
    rows, columns = a.shape
    m.took(rows * columns * m.most(rows, columns) * 16)
    m.transpose(work, a, columns, rows)
    size = rows * columns
    rest = m.at(work, size)
    info = m.call(
        "gesdd", "A", rows, columns, work, m.most(rows, 1), s, u, m.most(rows, 1), vt,
        m.most(columns, 1), rest, work.size - size, ints, INFO,
    )  # fmt: skip
    m.transpose_in_place(u, rows)
    m.transpose_in_place(vt, columns)
    return m.failed(info)


def _svdvals(m: Machine, a: Any, s: Any, work: Any, ints: Any) -> Any:
    rows, columns = a.shape
    m.took(rows * columns * s.shape[0] * 2)
    m.transpose(work, a, columns, rows)
    size = rows * columns
    rest = m.at(work, size)
    return m.failed(
        m.call("gesdd", "N", rows, columns, work, m.most(rows, 1), s, rest, 1, rest, 1,
               rest, work.size - size, ints, INFO)
    )  # fmt: skip


def _hermitian(
    m: Machine, re: Any, im: Any, upper: Any, values: Any, x: Any, y: Any, work: Any, ints: Any
) -> Any:
    n = re.shape[0]
    m.took(n * n * n * 32)
    m.join_transposed(work, re, im, n, n)
    size = n * n * 2
    rest = m.at(work, size)
    count = n * n + n * 2
    reals = m.at(work, size + count * 2)
    info = m.call(
        "heevd", "V", m.choose(upper, "U", "L"), n, work, m.most(n, 1), values, rest,
        m.most(count, 1), reals, work.size - size - count * 2, ints, ints.size, INFO,
        of_complex=True,
    )  # fmt: skip
    m.separate_transposed(x, y, work, n, n)
    return m.failed(info)


def _hermitian_robust(
    m: Machine, re: Any, im: Any, upper: Any, first: Any, last: Any, values: Any, x: Any, y: Any,
    work: Any, ints: Any,
) -> Any:  # fmt: skip
    n = re.shape[0]
    m.took(n * n * n * 32)
    m.join_transposed(work, re, im, n, n)
    size, count, stride = n * n * 2, m.most(n * 66, 1), m.most(n, 1)
    vectors, rest = m.at(work, size), m.at(work, size * 2)
    used = size * 2 + count * 2
    reals, others = m.at(work, used), m.at(ints, n * 2)
    info = m.call("heevr", "V", "I", m.choose(upper, "U", "L"), n, work, stride, 0.0, 1.0, first,
                  last, 0.0, m.integers(1), values, vectors, stride, ints, rest, count, reals,
                  work.size - used, others, ints.size - n * 2, INFO, of_complex=True)  # fmt: skip
    m.separate_transposed(x, y, vectors, n, n)
    return m.failed(info)


def _schur(m: Machine, re: Any, im: Any, tx: Any, ty: Any, ux: Any, uy: Any, work: Any) -> Any:
    n = re.shape[0]
    m.took(n * n * n * 100)
    m.join_transposed(work, re, im, n, n)
    size = n * n * 2
    vectors, values = m.at(work, size), m.at(work, size * 2)
    rest, reals = m.at(work, size * 2 + n * 2), m.at(work, size * 2 + n * 70)
    stride = m.most(n, 1)
    # Nothing is ordered: what would select values, and flags for it, is not looked at.
    info = m.call("gees", "V", "N", values, n, work, stride, m.integers(1), values, vectors, stride,
                  rest, m.most(n * 34, 1), reals, m.integers(1), INFO, of_complex=True)  # fmt: skip
    m.separate_transposed(tx, ty, work, n, n)
    m.separate_transposed(ux, uy, vectors, n, n)
    return m.failed(info)


def _eig(m: Machine, re: Any, im: Any, wx: Any, wy: Any, x: Any, y: Any, work: Any) -> Any:
    n = re.shape[0]
    m.took(n * n * n * 100)
    m.join_transposed(work, re, im, n, n)
    size = n * n * 2
    vectors, values = m.at(work, size), m.at(work, size * 2)
    rest, reals = m.at(work, size * 2 + n * 2), m.at(work, size * 2 + n * 70)
    stride = m.most(n, 1)
    info = m.call("geev", "N", "V", n, work, stride, values, rest, 1, vectors, stride, rest,
                  m.most(n * 34, 1), reals, INFO, of_complex=True)  # fmt: skip
    m.separate_transposed(wx, wy, values, 1, n)
    m.separate_transposed(x, y, vectors, n, n)
    return m.failed(info)


def _real_eig(m: Machine, a: Any, wx: Any, wy: Any, packed: Any, work: Any) -> Any:
    """Two columns of `packed` have both parts of the vectors of two conjugate values."""
    n = a.shape[0]
    m.took(n * n * n * 25)
    m.transpose(work, a, n, n)
    vectors, rest, stride = m.at(work, n * n), m.at(work, n * n * 2), m.most(n, 1)
    info = m.call("geev", "N", "V", n, work, stride, wx, wy, rest, 1, vectors, stride, rest,
                  m.most(n * 130, 1), INFO)  # fmt: skip
    m.transpose(packed, vectors, n, n)
    return m.failed(info)


def _complex_qr(
    m: Machine, re: Any, im: Any, qx: Any, qy: Any, rx: Any, ry: Any, work: Any
) -> None:
    rows, n = re.shape
    m.took(rows * n * n * 8)
    m.join_transposed(work, re, im, n, rows)
    size = rows * n * 2
    scales, rest = m.at(work, size), m.at(work, size + n * 2)
    most, stride = m.most(n * 32, 1), m.most(rows, 1)
    m.call("geqrf", rows, n, work, stride, scales, rest, most, INFO, of_complex=True)
    m.separate_transposed(rx, ry, work, n, n, stride=rows, keep="upper")
    m.call("ungqr", rows, n, n, work, stride, scales, rest, most, INFO, of_complex=True)
    m.separate_transposed(qx, qy, work, rows, n)


def _complex_svd(
    m: Machine, re: Any, im: Any, ux: Any, uy: Any, s: Any, vx: Any, vy: Any, work: Any, ints: Any
) -> Any:
    rows, columns = re.shape
    count = s.shape[0]
    m.took(rows * columns * count * 64)
    m.join_transposed(work, re, im, columns, rows)
    size = rows * columns * 2
    left, right = m.at(work, size), m.at(work, size + rows * count * 2)
    used = size + (rows + columns) * count * 2
    most = m.most(count * count + count * 3 + (rows + columns) * 65, 1)
    rest, reals = m.at(work, used), m.at(work, used + most * 2)
    info = m.call(
        "gesdd", "S", rows, columns, work, m.most(rows, 1), s, left, m.most(rows, 1), right,
        m.most(count, 1), rest, most, reals, ints, INFO, of_complex=True,
    )  # fmt: skip
    m.separate_transposed(ux, uy, left, rows, count)
    m.separate_transposed(vx, vy, right, count, columns)
    return m.failed(info)


#: What each routine does on a machine.
ROUTINES: dict[str, Callable[..., Any]] = {
    "lu_factor": _lu_factor,
    "lu_rows": _lu_rows,
    "lu_solve": _lu_solve,
    "cholesky": _cholesky,
    "solve_lower": _solve_lower,
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "eigh_robust": _eigh_robust,
    "qr": _qr,
    "svd": _svd,
    "full_svd": _full_svd,
    "svdvals": _svdvals,
    "hermitian": _hermitian,
    "hermitian_robust": _hermitian_robust,
    "eig": _eig,
    "real_eig": _real_eig,
    "schur": _schur,
    "complex_qr": _complex_qr,
    "complex_svd": _complex_svd,
}


globals().update({name: intrinsic_of(row) for name, row in ROUTINES.items()})

__all__ = ["ROUTINES"]
