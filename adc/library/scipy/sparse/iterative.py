"""Iterative solvers of `scipy.sparse.linalg`, with derivatives by the implicit function theorem.

SciPy's own solver runs (`adc.library.scipy.sessions`) and asks for products. For ``A x = b`` the
derivative is ``A dx = db - dA x``, and in reverse the system with ``A.T``: the same solver finds
these, with the same tolerances. So derivatives are as accurate as the solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.implicit import grad, jvp
from adc.library.rules import exact
from adc.library.scipy import sessions
from adc.library.scipy.captures import captured, moves, with_captured
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.base import Sparse


class LinearOperator:
    """`scipy.sparse.linalg.LinearOperator`."""

    def __init__(
        self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None,
        rmatmat: Any = None,
    ) -> None:  # fmt: skip
        self.shape = (shape[0], shape[1])
        self._product = matvec
        self._reflected = rmatvec

    def matvec(self, x: Any) -> Any:
        """`scipy.sparse.linalg.LinearOperator.matvec`."""
        return self._product(x)

    def rmatvec(self, x: Any) -> Any:
        """`scipy.sparse.linalg.LinearOperator.rmatvec`."""
        if self._reflected is None:
            raise Unsupported("the transpose of a `LinearOperator` without it", "pass `rmatvec`")
        return self._reflected(x)

    def dot(self, x: Any) -> Any:
        """`scipy.sparse.linalg.LinearOperator.dot`."""
        return self @ x

    def __call__(self, x: Any) -> Any:
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        if np.ndim(x) != 1:
            raise Unsupported("a product of an operator and a matrix", "loop over the columns")
        if len(x) != self.shape[1]:
            raise ValueError("dimension mismatch")
        return self._product(x)


def aslinearoperator(A: Any) -> Any:
    """`scipy.sparse.linalg.aslinearoperator`."""
    found = _products(A)
    return LinearOperator(A.shape, lambda v: found(v, 0), lambda v: found(v, 1))


def _products(A: Any) -> Any:
    """Return a function that multiplies by an operator or, if `turned`, by its transpose."""
    if isinstance(A, LinearOperator):
        return _products_of_operator(A._product, A._reflected)
    if isinstance(A, Sparse):
        data, indices, indptr = A._compressed(False)
        return _products_of_rows(data, indices, indptr, A.shape[1])
    matrix = np.asarray(A)
    return lambda v, turned: v @ matrix if turned else matrix @ v


# Solvers call functions that have captured arrays and functions, not objects.
def _products_of_operator(product: Any, reflected: Any) -> Any:
    def applied(v: Any, turned: Any) -> Any:
        if not turned:
            return product(v)
        if reflected is None:
            raise Unsupported(
                "the derivative of a system with an operator without `rmatvec`",
                "give `LinearOperator` the product with the transpose: `rmatvec=...`",
            )
        return reflected(v)

    return applied


def _products_of_rows(data: Any, indices: Any, indptr: Any, n: Any) -> Any:
    def applied(v: Any, turned: Any) -> Any:
        if not turned:
            return patterns.gathered(data, indices, indptr, v)
        return patterns.scattered(data, indices, indptr, v, n)

    return applied


@exact(fixed=(0,))
def solution(fn: Any, x: Any, info: Any, params: Any, b: Any, settings: Any, turned: Any) -> Any:
    """Return `x`, where ``fn(x, turned) = b``; `params` are what `fn` has captured."""
    return x


def _require_converged(info: Any) -> None:
    if info != 0:
        raise RuntimeError(
            "the iterative solver has not converged: its result has no derivative (see `info`)"
        )


def _record(fn: Any, x: Any, info: Any, params: Any, b: Any, settings: Any, turned: Any) -> Any:
    _require_converged(info)
    z = solution(fn, x, info, params, b, settings, turned)
    return z, (z, params, settings, turned)


def _reverse(fn: Any, kept: Any, ct: Any) -> Any:
    z, params, settings, turned = kept
    symmetric = settings[0] in ("cg", "minres")
    other = turned if symmetric else 1 - turned
    w = _solved(with_captured(fn, params), ct, None, settings, other)[0]
    if not moves(params):
        return None, None, None, w, None, None
    slope = grad(lambda p: -np.sum(w * with_captured(fn, p)(z, turned)))(params)
    return None, None, slope, w, None, None


def _tangent(fn: Any, primals: Any, tangents: Any) -> Any:
    x, info, params, b, settings, turned = primals
    _require_converged(info)
    z = solution(fn, x, info, params, b, settings, turned)
    moved = tangents[3]
    if moves(params):
        slope = jvp(lambda p: with_captured(fn, p)(z, turned), (params,), (tangents[2],))[1]
        moved = moved - slope
    return z, _solved(with_captured(fn, params), moved, None, settings, turned)[0]


solution.define(_record, _reverse, _tangent)


def _solved(fn: Any, b: Any, x0: Any, settings: Any, turned: Any) -> Any:
    """Return the solution of ``fn(x, turned) = b``, and SciPy's word for whether it is one."""
    side = stop_gradient(b)
    handle = sessions.start("krylov", side, stop_gradient(x0), stop_gradient(settings), turned)
    kind, x = sessions.asked(handle, side)
    while kind != sessions.DONE:
        kind, x = sessions.told(handle, side, stop_gradient(fn(x, turned)))
    _, info, _, _ = sessions.ended(handle)
    constant = with_captured(fn, stop_gradient(captured(fn)))
    return solution(constant, x, info, captured(fn), b, settings, turned), info


def _none(b: Any) -> Any:
    """Return 0, which is known only at run time: one function serves both ways."""
    return 1 if len(b) < 0 else 0


def _system(A: Any, b: Any, x0: Any, settings: Any) -> Any:
    side = np.asarray(b)
    if side.ndim == 2:
        raise Unsupported("a right-hand side with two axes", "pass a vector: `b[:, 0]`")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    if A.shape[0] != len(side):
        raise ValueError(f"shapes of A {A.shape} and b {side.shape} are incompatible")
    if side.dtype.kind == "c" or (side.dtype.kind == "f" and side.dtype.itemsize != 8):
        raise Unsupported(
            "an iterative solver of SciPy's with numbers that are not float64",
            "convert the matrix and the right-hand side: `b.astype(float)`",
        )
    if isinstance(A, Sparse) and (A.dtype.kind == "c" or A.dtype.itemsize != 8):
        raise Unsupported(
            "an iterative solver of SciPy's with numbers that are not float64",
            "convert the matrix and the right-hand side: `A.astype(float)`",
        )
    return _solved(_products(A), side * 1.0, x0, settings, _none(side))


def _preconditioner(M: Any) -> Any:
    if M is None:
        return None
    if isinstance(M, LinearOperator):
        raise Unsupported(
            "a preconditioner that is an operator of the differentiated function",
            "make it outside the function, or pass a sparse array",
        )
    if isinstance(M, Sparse):
        found = M.tocsr()
        return found.data, found.indices, found.indptr
    return M


def cg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None,
    M: Any = None,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.cg`."""
    return _system(A, b, x0, ("cg", rtol, atol, maxiter, None, _preconditioner(M)))


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None,
    M: Any = None,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.bicgstab`."""
    return _system(A, b, x0, ("bicgstab", rtol, atol, maxiter, None, _preconditioner(M)))


def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, restart: Any = None,
    maxiter: Any = None, M: Any = None,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.gmres`."""
    return _system(A, b, x0, ("gmres", rtol, atol, maxiter, restart, _preconditioner(M)))


def minres(A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, maxiter: Any = None) -> Any:
    """`scipy.sparse.linalg.minres`."""
    return _system(A, b, x0, ("minres", rtol, None, maxiter, None, None))


__all__ = ["LinearOperator", "aslinearoperator", "bicgstab", "cg", "gmres", "minres"]
