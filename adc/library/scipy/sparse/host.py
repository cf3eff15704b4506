"""Factors of SuperLU's, which stay outside compiled code.

Code knows factors by a number. Reverse code releases them after their last use. The oldest are
also forgotten when all take too much memory, and made again where they are used after all.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from adc.library.scipy.sessions import solver

# An entry of a factor takes a number and an index.
_ENTRY = 12
# In bytes. The latest factors are kept in any case.
_MOST = 1 << 29

_factors: dict[int, tuple[Any, int]] = {}
_handles = itertools.count(1)


def _made(data: Any, indices: Any, indptr: Any, options: Any) -> Any:
    from scipy.sparse.linalg import splu

    return splu(_columns(data, indices, indptr), **(options or {}))


def _keep(handle: int, found: Any) -> None:
    # There is no lock: a signal handler may come here in the middle of it, or a fork.
    _factors[handle] = found, _ENTRY * int(found.nnz)
    held = list(_factors.items())
    total = sum(size for _, (_, size) in held)
    for oldest, (_, size) in held[:-1]:
        if total <= _MOST:
            break
        _factors.pop(oldest, None)
        total -= size


def _factored(data: Any, indices: Any, indptr: Any, options: Any) -> int:
    handle = next(_handles)
    _keep(handle, _made(data, indices, indptr, options))
    return handle


def _solved(
    handle: int, data: Any, indices: Any, indptr: Any, options: Any, b: Any, trans: int
) -> Any:
    held = _factors.get(handle)
    if held is None:
        found = _made(data, indices, indptr, options)
        _keep(handle, found)
    else:
        found = held[0]
    return found.solve(np.array(b, data.dtype, order="F"), "NT"[trans])


def _released(handle: int) -> None:
    _factors.pop(handle, None)


def _like_solution(
    handle: Any, data: Any, indices: Any, indptr: Any, options: Any, b: Any, trans: Any
) -> Any:
    return np.empty_like(b)


def like_right_side(b: Any, trans: Any) -> Any:
    return np.zeros_like(b)


def count() -> int:
    """Return how many factors there are."""
    return len(_factors)


factored = solver(_factored, int)
solved = solver(_solved, _like_solution)
released = solver(_released, type(None))


def _pairs(data: Any, indices: Any, indptr: Any, options: Any, v0: Any) -> Any:
    from scipy.sparse.linalg import eigsh

    found, vectors = eigsh(_columns(data, indices, indptr), v0=v0, **options)
    return found, np.ascontiguousarray(vectors)


def _like_pairs(data: Any, indices: Any, indptr: Any, options: Any, v0: Any) -> Any:
    k = options["k"]
    return np.empty(k, data.dtype), np.empty((len(indptr) - 1, k), data.dtype)


def _columns(data: Any, indices: Any, indptr: Any) -> Any:
    from scipy.sparse import csc_array

    n = len(indptr) - 1
    return csc_array((data, indices, indptr), shape=(n, n), copy=True)  # it gets sorted


def _bordered_factors(data: Any, indices: Any, indptr: Any, w: float, v: Any) -> Any:
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    a = _columns(data, indices, indptr)
    side = np.array(v)[:, None]
    whole = block_array([[a - w * eye_array(len(v)), -side], [-side.T, None]], format="csc")
    return splu(whole)


def _bordered(data: Any, indices: Any, indptr: Any, w: float, v: Any) -> tuple[int, bool]:
    try:
        found = _bordered_factors(data, indices, indptr, w, v)
    except RuntimeError:  # exactly singular
        return -1, False
    handle = next(_handles)
    _keep(handle, found)
    n = len(v) + 1
    some = found.solve(np.cos(np.arange(n, dtype=np.float64)).astype(data.dtype))
    most = np.sqrt(1.0 / np.finfo(data.dtype).eps) / max(float(np.max(np.abs(data))), 1e-300)
    return handle, bool(np.max(np.abs(some[:-1])) < most)


def _bordered_solved(
    handle: int, data: Any, indices: Any, indptr: Any, w: float, v: Any, b: Any
) -> Any:
    held = _factors.get(handle)
    if handle < 0:
        return np.zeros_like(b)
    found = held[0] if held else _bordered_factors(data, indices, indptr, w, v)
    return found.solve(np.array(b))


def _like_bordered(
    handle: Any, data: Any, indices: Any, indptr: Any, w: Any, v: Any, b: Any
) -> Any:
    return np.empty_like(b)


pairs = solver(_pairs, _like_pairs)
bordered = solver(_bordered, tuple[int, bool])
bordered_solved = solver(_bordered_solved, _like_bordered)

__all__ = [
    "bordered", "bordered_solved", "count", "factored", "like_right_side", "pairs", "released",
    "solved",
]  # fmt: skip
