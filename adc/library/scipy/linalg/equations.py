"""Sylvester's and Lyapunov's equations, by the triangles of Schur.

With ``a = u @ t @ u*`` and ``b = v @ s @ v*`` the equation ``a @ x + x @ b = q`` becomes one with
triangles, which is solved element by element (R. H. Bartels, G. W. Stewart, Solution of the matrix
equation AX + XB = C, Comm. ACM 15, 1972). Reverse code solves the transposed equation with the same
triangles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.functions import kron
from adc.library.linear import linalg
from adc.library.linear.complexes import halves, joined, real_form
from adc.library.linear.routines import flag
from adc.library.rules import exact
from adc.library.scipy.linalg.checks import adjoint, alike, validated


def _schur_arrays(re: Any, im: Any) -> Any:
    n = re.shape[0]
    t, u = np.empty((n, n), re.dtype), np.empty((n, n), re.dtype)
    return t, np.empty((n, n), re.dtype), u, np.empty((n, n), re.dtype), flag()


@exact("schur", _schur_arrays)
def schur_parts(re: Any, im: Any) -> Any:
    """Return both parts of a triangle and of a unitary matrix, and 1 if it failed, else 0.

    Threads of a GPU have no such routine: in Python it fails.
    """
    x = np.zeros(re.shape, re.dtype)
    return x, x.copy(), x.copy(), x.copy(), 1


def _schur_record(re: Any, im: Any) -> Any:
    return schur_parts(re, im), None


def _schur_reverse(kept: Any, cts: Any) -> Any:
    return None, None


def _schur_tangent(primals: Any, tangents: Any) -> Any:
    found = schur_parts(primals[0], primals[1])
    x = np.zeros_like(found[0])
    return found, (x, x.copy(), x.copy(), x.copy(), None)


# What is computed with it has derivatives of its own.
schur_parts.define(_schur_record, _schur_reverse, _schur_tangent)


def triangles(a: Any) -> Any:
    """Return the parts of the triangle and of the vectors of a matrix, without derivatives."""
    re = stop_gradient(a.real)
    im = stop_gradient(a.imag) if np.iscomplexobj(a) else np.zeros(a.shape, a.dtype)
    tx, ty, ux, uy, failed = schur_parts(re.copy(), im.copy())
    if failed != 0:
        raise np.linalg.LinAlgError("Schur form not found. Possibly ill-conditioned.")
    return tx, ty, ux, uy


def _by_triangles(t: Any, s: Any, f: Any) -> Any:
    """Solve ``t @ y + y @ s = f`` with two upper triangles, by columns, which are kept as rows."""
    m, n = f.shape
    columns = t.T.copy()
    y = f.T.copy()
    for j in range(n):
        for k in range(j):
            y[j] -= s[k, j] * y[k]
        for r in range(m):
            i = m - 1 - r
            x = y[j, i] / (t[i, i] + s[j, j])
            y[j, i] = x
            y[j, :i] -= x * columns[i, :i]
    return y.T


def _reversed(a: Any) -> Any:
    return a[::-1, ::-1]


@exact()
def sylvester(
    a: Any, b: Any, tx: Any, ty: Any, ux: Any, uy: Any, sx: Any, sy: Any, vx: Any, vy: Any,
    q: Any, transposed: Any,
) -> Any:  # fmt: skip
    """Solve ``a @ x + x @ b = q``, or with both transposed, for real matrices."""
    u, v = joined(ux, uy), joined(vx, vy)
    t, s, f = joined(tx, ty), joined(sx, sy), u.conj().T @ q @ v
    if transposed:  # the adjoints of triangles are triangles, read from the other end
        y = _reversed(
            _by_triangles(_reversed(t.conj().T), _reversed(s.conj().T), _reversed(f))
        ).copy()
    else:
        y = _by_triangles(t, s, f).copy()
    return (u @ y @ v.conj().T).real.copy()


def _record(
    a: Any, b: Any, tx: Any, ty: Any, ux: Any, uy: Any, sx: Any, sy: Any, vx: Any, vy: Any,
    q: Any, transposed: Any,
) -> Any:  # fmt: skip
    x = sylvester(a, b, tx, ty, ux, uy, sx, sy, vx, vy, q, transposed)
    return x, (a, b, tx, ty, ux, uy, sx, sy, vx, vy, x, transposed)


def _reverse(kept: Any, ct: Any) -> Any:
    a, b, tx, ty, ux, uy, sx, sy, vx, vy, x, transposed = kept
    w = sylvester(a, b, tx, ty, ux, uy, sx, sy, vx, vy, ct, not transposed)
    if transposed:
        da, db = -(x @ w.T), -(w.T @ x)
    else:
        da, db = -(w @ x.T), -(x.T @ w)
    return da, db, None, None, None, None, None, None, None, None, w, None


def _tangent(primals: Any, tangents: Any) -> Any:
    a, b, tx, ty, ux, uy, sx, sy, vx, vy, q, transposed = primals
    x = sylvester(a, b, tx, ty, ux, uy, sx, sy, vx, vy, q, transposed)
    da, db, dq = tangents[0], tangents[1], tangents[10]
    moved = dq - (da.T @ x + x @ db.T if transposed else da @ x + x @ db)
    return x, sylvester(a, b, tx, ty, ux, uy, sx, sy, vx, vy, moved, transposed)


sylvester.define(_record, _reverse, _tangent)


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """`scipy.linalg.solve_sylvester`."""
    a, b, q = validated(a, False), validated(b, False), validated(q, False)
    if a.shape[0] != q.shape[0] or b.shape[0] != q.shape[1]:
        raise ValueError("the shapes of the matrices are incompatible")
    a, b = alike(a, b)
    a, q = alike(a, q)
    b, q = alike(b, q)
    if np.iscomplexobj(q):
        found = _sylvester(real_form(a), real_form(b), real_form(q))
        return halves(found[:, : q.shape[1]])
    return _sylvester(a, b, q)


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    tx, ty, ux, uy = triangles(a)
    sx, sy, vx, vy = triangles(b)
    return sylvester(a, b, tx, ty, ux, uy, sx, sy, vx, vy, q, False)


def _lyapunov(a: Any, q: Any) -> Any:
    tx, ty, ux, uy = triangles(a)
    # The triangle of the transpose: the same one, read from its other end.
    sx, sy, vx, vy = tx.T[::-1, ::-1], ty.T[::-1, ::-1], ux[:, ::-1], -uy[:, ::-1]
    return sylvester(a, a.T, tx, ty, ux, uy, sx.copy(), sy.copy(), vx.copy(), vy.copy(), q, False)


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """`scipy.linalg.solve_continuous_lyapunov`."""
    a, q = validated(a), validated(q)
    if a.shape[0] != a.shape[1]:
        raise ValueError("Matrix a should be square.")
    if q.shape[0] != q.shape[1]:
        raise ValueError("Matrix q should be square.")
    if a.shape[0] != q.shape[0]:
        raise ValueError("Matrix a and q should have the same shape.")
    a, q = alike(a, q)
    if np.iscomplexobj(a):
        return halves(_lyapunov(real_form(a), real_form(q))[:, : q.shape[1]])
    return _lyapunov(a, q)


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """`scipy.linalg.solve_discrete_lyapunov`."""
    a, q = validated(a, False), validated(q, False)
    if a.shape[0] != a.shape[1] or a.shape[0] != q.shape[0] or a.shape[1] != q.shape[1]:
        raise ValueError("the shapes of the matrices are incompatible")
    a, q = alike(a, q)
    if method is None:
        if a.shape[0] >= 10:
            x = _bilinear(a, q)
        else:
            x = _direct(a, q)
        return x
    return _direct(a, q) if method == "direct" else _bilinear(a, q)


def _direct(a: Any, q: Any) -> Any:
    n = a.shape[0]
    form = np.eye(n * n, dtype=a.dtype) - kron(a, np.conj(a) if np.iscomplexobj(a) else a)
    return linalg.solve(form, q.reshape(n * n)).reshape((n, n))


def _bilinear(a: Any, q: Any) -> Any:
    unit = np.eye(a.shape[0], dtype=a.dtype)
    inverse = linalg.inv(adjoint(a) + unit)
    b = (adjoint(a) - unit) @ inverse
    c = 2 * (linalg.inv(a + unit) @ q @ inverse)
    return solve_continuous_lyapunov(adjoint(b), -c)
