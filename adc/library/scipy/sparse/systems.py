"""Linear systems of `scipy.sparse.linalg`, by SuperLU's factors of SciPy's (`host`).

For ``M x = b`` the derivative is ``M dx = db - dM x``. In reverse, ``M.T w`` is the cotangent of
`x`: `w` is that of `b`, and ``-w[i] * x[j]`` that of each entry of `M` (M. B. Giles, Collected
matrix derivative results for forward and reverse mode algorithmic differentiation, 2008). Factors
are made once: those of a matrix serve its transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.rules import exact
from adc.library.scipy.sparse import host, patterns
from adc.library.scipy.sparse.base import Sparse


def _pairs(indices: Any, indptr: Any, down: Any, across: Any) -> Any:
    """Return the sums of ``down[i] * across[j]`` for the entries of compressed columns."""
    out = np.zeros(len(indices), np.result_type(down, across))
    for j in range(len(indptr) - 1):
        for k in range(indptr[j], indptr[j + 1]):
            if down.ndim == 1:
                out[k] = down[indices[k]] * across[j]
            else:
                total = out.dtype.type(0)
                for q in range(down.shape[1]):
                    total += down[indices[k], q] * across[j, q]
                out[k] = total
    return out


def _product(data: Any, indices: Any, indptr: Any, x: Any, trans: Any) -> Any:
    """Return the product of compressed columns, or of their transpose, and `x`."""
    n = len(indptr) - 1
    if x.ndim == 1:
        if trans:
            return patterns.gathered(data, indices, indptr, x)
        return patterns.scattered(data, indices, indptr, x, n)
    if trans:
        return patterns.gathered_rows(data, indices, indptr, x)
    return patterns.scattered_rows(data, indices, indptr, x, n)


@exact()
def solution(
    handle: Any, data: Any, indices: Any, indptr: Any, options: Any, b: Any, trans: Any
) -> Any:
    """Return the solution for a matrix of compressed columns, or its transpose."""
    return host.solved(handle, data, indices, indptr, options, b, trans)


def _record(
    handle: Any, data: Any, indices: Any, indptr: Any, options: Any, b: Any, trans: Any
) -> Any:
    x = solution(handle, data, indices, indptr, options, b, trans)
    return x, (handle, data, indices, indptr, options, x, trans)


def _reverse(kept: Any, ct: Any) -> Any:
    handle, data, indices, indptr, options, x, trans = kept
    w = solution(handle, data, indices, indptr, options, ct, 1 - trans)
    down, across = (x, w) if trans else (w, x)
    return None, -_pairs(indices, indptr, down, across), None, None, None, w, None


def _tangent(primals: Any, tangents: Any) -> Any:
    handle, data, indices, indptr, options, b, trans = primals
    x = solution(handle, data, indices, indptr, options, b, trans)
    moved = tangents[5] - _product(tangents[1], indices, indptr, x, trans)
    return x, solution(handle, data, indices, indptr, options, moved, trans)


solution.define(_record, _reverse, _tangent)


@exact()
def held(handle: Any, data: Any) -> Any:
    """Return `data`. Reverse code, which comes here last, releases the factors."""
    return data


def _held_record(handle: Any, data: Any) -> Any:
    return held(handle, data), handle


def _held_reverse(handle: Any, ct: Any) -> Any:
    host.released(handle)
    return None, ct


def _held_tangent(primals: Any, tangents: Any) -> Any:
    return held(primals[0], primals[1]), tangents[1]


held.define(_held_record, _held_reverse, _held_tangent)


@exact(fixed=(0,))
def by_object(solve: Any, b: Any, trans: Any) -> Any:
    """Return the solution by factors that were made outside."""
    return solve(b, trans)


def _by_object_record(solve: Any, b: Any, trans: Any) -> Any:
    return by_object(solve, b, trans), trans


def _by_object_reverse(solve: Any, trans: Any, ct: Any) -> Any:
    return by_object(solve, ct, 1 - trans), None


def _by_object_tangent(solve: Any, primals: Any, tangents: Any) -> Any:
    b, trans = primals
    return by_object(solve, b, trans), by_object(solve, tangents[0], trans)


by_object.define(_by_object_record, _by_object_reverse, _by_object_tangent)


def solved_outside(solve: Any, complex_factors: Any, rhs: Any, trans: Any) -> Any:
    """Solve with an object of SciPy's class `SuperLU` that the program has made before."""
    b = np.asarray(rhs)
    if complex_factors or np.iscomplexobj(b):
        raise Unsupported("`SuperLU.solve` with complex numbers", "call `spsolve` with the matrix")
    return by_object(solve, b, _direction(trans))


def _direction(trans: Any) -> Any:
    if trans == "N":
        return 0
    if trans == "T" or trans == "H":
        return 1
    raise ValueError("trans must be N, T, or H")


class SuperLU:
    """`scipy.sparse.linalg.SuperLU`."""

    def __init__(self, a: Any, options: Any) -> None:
        _require_square(a)
        found = a.tocsc()
        self.shape = a.shape
        self._options = options
        self._is_complex = np.iscomplexobj(found.data)
        data = _inexact(found.data)
        self._indices, self._indptr = found.indices, found.indptr
        if self._is_complex:
            data, self._indices, self._indptr = doubled(data, found.indices, found.indptr)
        self._handle = host.factored(stop_gradient(data), self._indices, self._indptr, options)
        self._data = held(self._handle, data)

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        """`scipy.sparse.linalg.SuperLU.solve`."""
        b = np.asarray(rhs)
        if b.ndim == 0 or b.ndim > 2 or b.shape[0] != self.shape[0]:
            raise ValueError("rhs is of incompatible size")
        if not self._is_complex:
            if np.iscomplexobj(b):
                raise Unsupported(
                    "a complex right-hand side for a real matrix",
                    "solve for the real and the imaginary part",
                )
            return self._of(b.astype(self._data.dtype), _direction(trans))
        if trans == "T":
            return np.conjugate(self._whole(np.conjugate(b), 1))
        return self._whole(b, _direction(trans))

    def _whole(self, b: Any, trans: Any) -> Any:
        n = self.shape[0]
        x = self._of(np.concatenate((b.real, b.imag)).astype(self._data.dtype), trans)
        return x[:n] + 1j * x[n:]

    def _of(self, b: Any, trans: Any) -> Any:
        return solution(
            self._handle, self._data, self._indices, self._indptr, self._options, b, trans
        )


def doubled(data: Any, indices: Any, indptr: Any) -> Any:
    """Return the real form of complex columns: the matrix [[re, -im], [im, re]].

    Its transpose is the real form of the adjoint.
    """
    n, count = len(indptr) - 1, len(data)
    out = np.empty(4 * count, data.real.dtype)
    rows = np.empty(4 * count, indices.dtype)
    starts = np.empty(2 * n + 1, indptr.dtype)
    for j in range(n):
        first, last = indptr[j], indptr[j + 1]
        starts[j] = 2 * first
        starts[n + j] = 2 * count + 2 * first
        for k in range(first, last):
            p, q = first + k, last + k
            rows[p], rows[q] = indices[k], n + indices[k]
            rows[2 * count + p], rows[2 * count + q] = indices[k], n + indices[k]
            out[p], out[q] = data[k].real, data[k].imag
            out[2 * count + p], out[2 * count + q] = -data[k].imag, data[k].real
    starts[2 * n] = 4 * count
    return out, rows, starts


def _inexact(data: Any) -> Any:
    return data if data.dtype.kind in "fc" else data.astype(np.float64)


def _require_square(a: Any) -> None:
    if a.shape[0] != a.shape[1]:
        raise ValueError("can only factor square matrices")


def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None,
    panel_size: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.sparse.linalg.splu`."""
    given = {
        "permc_spec": permc_spec,
        "diag_pivot_thresh": diag_pivot_thresh,
        "relax": relax,
        "panel_size": panel_size,
        "options": options,
    }
    return SuperLU(A, given)


def factorized(A: Any) -> Any:
    """`scipy.sparse.linalg.factorized`."""
    found = SuperLU(A, None)
    return lambda b: found.solve(b)


def spsolve(A: Any, b: Any, permc_spec: Any, one: Any) -> Any:
    """`scipy.sparse.linalg.spsolve`; `one`: the right-hand side is known to be one column."""
    if isinstance(b, Sparse):
        raise Unsupported(
            "`scipy.sparse.linalg.spsolve` with a sparse right-hand side", "use `b.toarray()`"
        )
    rhs = np.asarray(b)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {A.shape})")
    if A.shape[0] != rhs.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {rhs.shape[0]})")
    options = {"permc_spec": permc_spec}
    dtype = np.result_type(_inexact(A.data), rhs)
    given = A if A.format == "csr" else A.tocsc()
    whole = rhs.astype(dtype)
    if one:
        whole = np.ravel(whole)
    elif whole.ndim == 2 and whole.shape[1] == 1:
        raise Unsupported(
            "`scipy.sparse.linalg.spsolve` with a matrix that turns out to be one column",
            "pass it as a vector: `b[:, 0]`",
        )
    trans = 1 if given.format == "csr" else 0
    data, indices, indptr = given.data.astype(dtype), given.indices, given.indptr
    if dtype.kind == "c":
        # What is transposed is the real form of the conjugate.
        flat = np.conjugate(data) if trans else data
        data, indices, indptr = doubled(flat, indices, indptr)
        whole = np.concatenate((whole.real, whole.imag))
    handle = host.factored(stop_gradient(data), indices, indptr, options)
    kept, side = held(handle, data), held(handle, whole)
    x = solution(handle, kept, indices, indptr, options, side, trans)
    if dtype.kind == "c":
        n = A.shape[0]
        return x[:n] + 1j * x[n:]
    return x


__all__ = ["SuperLU", "factorized", "solved_outside", "splu", "spsolve"]
