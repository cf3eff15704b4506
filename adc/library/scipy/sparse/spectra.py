"""Eigenvalues of sparse symmetric matrices by SciPy's ARPACK, and norms.

An eigenvalue and its vector are a root of ``A v - w v`` and ``(1 - v.v) / 2``, whose Jacobian is
not singular if the eigenvalue is simple. At what ARPACK returns, two steps of Newton's method with
the Jacobian there, held constant, have the derivatives of the root up to the second order: each
step gains one (A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 15).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.rules import exact
from adc.library.scipy.sparse import host, patterns
from adc.library.scipy.sparse.base import Sparse


@exact()
def _step(handle: Any, data: Any, indices: Any, indptr: Any, w: Any, v: Any, residual: Any) -> Any:
    """Return what a symmetric matrix, whose factors are outside, maps to the residual."""
    return host.bordered_solved(handle, data, indices, indptr, w, v, residual)


def _step_record(
    handle: Any, data: Any, indices: Any, indptr: Any, w: Any, v: Any, residual: Any
) -> Any:
    found = _step(handle, data, indices, indptr, w, v, residual)
    return found, (handle, data, indices, indptr, w, v)


def _step_reverse(kept: Any, ct: Any) -> Any:
    handle, data, indices, indptr, w, v = kept
    found = _step(handle, data, indices, indptr, w, v, ct)
    return None, None, None, None, None, None, found


def _step_tangent(primals: Any, tangents: Any) -> Any:
    handle, data, indices, indptr, w, v, residual = primals
    found = _step(handle, data, indices, indptr, w, v, residual)
    return found, _step(handle, data, indices, indptr, w, v, tangents[6])


_step.define(_step_record, _step_reverse, _step_tangent)


@exact()
def _simple(x: Any, ok: Any) -> Any:
    """Return `x`, which has derivatives if the eigenvalue is simple."""
    return x


def _require_simple(ok: Any) -> None:
    if not ok:
        raise RuntimeError(
            "an eigenvalue is not simple: neither it nor its vector has a derivative"
        )


def _simple_record(x: Any, ok: Any) -> Any:
    _require_simple(ok)
    return _simple(x, ok), None


def _simple_reverse(kept: Any, ct: Any) -> Any:
    return ct, None


def _simple_tangent(primals: Any, tangents: Any) -> Any:
    _require_simple(primals[1])
    return _simple(primals[0], primals[1]), tangents[0]


_simple.define(_simple_record, _simple_reverse, _simple_tangent)


def eigsh(
    A: Any, k: Any = 6, M: Any = None, sigma: Any = None, which: Any = "LM", v0: Any = None,
    ncv: Any = None, maxiter: Any = None, tol: Any = 0, return_eigenvectors: Any = True,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.eigsh`."""
    if not isinstance(A, Sparse):
        raise Unsupported(
            "`scipy.sparse.linalg.eigsh` of what is no sparse array", "use `scipy.linalg.eigh`"
        )
    if M is not None:
        raise Unsupported(
            "`scipy.sparse.linalg.eigsh` with `M`", "use `scipy.linalg.eigh(A.toarray(), M)`"
        )
    n = A.shape[0]
    if n != A.shape[1]:
        raise ValueError(f"expected square matrix (shape={A.shape})")
    if A.dtype.kind != "f":
        raise Unsupported(
            "`scipy.sparse.linalg.eigsh` of a matrix that is not of real floats",
            "convert it, or use `scipy.linalg.eigh(A.toarray())`",
        )
    data, indices, indptr = A._compressed(True)
    options = {
        "k": k, "sigma": sigma, "which": which, "ncv": ncv, "maxiter": maxiter, "tol": tol,
    }  # fmt: skip
    still = stop_gradient(data)
    w0, x0 = host.pairs(still, indices, indptr, options, stop_gradient(v0))
    values, vectors = np.empty_like(w0), np.empty_like(x0)
    for q in range(k):
        w, v = w0[q], x0[:, q].copy()
        handle, ok = host.bordered(still, indices, indptr, w, v)
        root = _simple(_root(data, still, indices, indptr, w, v, handle), ok)
        values[q] = root[n]
        vectors[:, q] = root[:n]
    if return_eigenvectors:
        return values, vectors
    return np.sort(values)


def _root(data: Any, still: Any, indices: Any, indptr: Any, w: Any, v: Any, handle: Any) -> Any:
    """Return a vector and its eigenvalue: the numbers given, with their derivatives."""
    n = len(v)
    x = np.append(v, w)
    for _ in range(2):
        residual = np.empty(n + 1, data.dtype)
        residual[:n] = patterns.scattered(data, indices, indptr, x[:n], n) - x[n] * x[:n]
        residual[n] = 0.5 * (1.0 - np.sum(x[:n] * x[:n]))
        moved = _step(handle, still, indices, indptr, w, v, residual)
        x = x - (moved - stop_gradient(moved))
    return x


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """`scipy.sparse.linalg.norm`."""
    if not isinstance(x, Sparse):
        raise TypeError("input is not sparse. use numpy.linalg.norm")
    data, indices, indptr = x.tocoo(False)._compressed(False)
    sizes = np.abs(data)
    m, n = x.shape
    if axis is None:
        if ord is None or ord == "fro" or ord == "f":
            return np.sqrt(np.sum(sizes * sizes))
        if ord == 1:
            return np.max(patterns.scattered(sizes, indices, indptr, np.ones(m, sizes.dtype), n))
        if ord == np.inf:
            return np.max(patterns.gathered(sizes, indices, indptr, np.ones(n, sizes.dtype)))
        raise Unsupported("`scipy.sparse.linalg.norm` with this `ord`", "use None, 1 or `np.inf`")
    if not (ord is None or ord == 2) or not isinstance(axis, int):
        raise Unsupported(
            "`scipy.sparse.linalg.norm` with this `ord` or `axis`", "compute `A.multiply(A).sum()`"
        )
    squares = sizes * sizes
    if axis % 2 == 0:
        return np.sqrt(patterns.scattered(squares, indices, indptr, np.ones(m, sizes.dtype), n))
    return np.sqrt(patterns.gathered(squares, indices, indptr, np.ones(n, sizes.dtype)))


__all__ = ["eigsh", "norm"]
