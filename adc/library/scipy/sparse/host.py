"""Factors of SuperLU's, which stay outside compiled code.

Code knows factors by a number. Reverse code releases them after their last use. The oldest are
also forgotten when all take too much memory, and made again where they are used after all.
"""

from __future__ import annotations

import collections
import itertools
import threading
from typing import Any

import numpy as np

from adc.library.scipy.sessions import External

# An entry of a factor takes a number and an index.
_ENTRY = 12
# In bytes. The latest factors are kept in any case.
_MOST = 1 << 29

_factors: collections.OrderedDict[int, tuple[Any, int]] = collections.OrderedDict()
_handles = itertools.count(1)
_LOCK = threading.Lock()


def _made(data: Any, indices: Any, indptr: Any, options: Any) -> Any:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n = len(indptr) - 1
    matrix = csc_array((data, indices, indptr), shape=(n, n), copy=True)  # `splu` sorts it
    return splu(matrix, **(options or {}))


def _keep(handle: int, found: Any) -> None:
    with _LOCK:
        _factors[handle] = found, _ENTRY * int(found.nnz)
        total = sum(each for _, each in _factors.values())
        while total > _MOST and len(_factors) > 1:
            total -= _factors.popitem(last=False)[1][1]


def _factored(data: Any, indices: Any, indptr: Any, options: Any) -> int:
    handle = next(_handles)
    _keep(handle, _made(data, indices, indptr, options))
    return handle


def _solved(
    handle: int, data: Any, indices: Any, indptr: Any, options: Any, b: Any, trans: int
) -> Any:
    with _LOCK:
        held = _factors.get(handle)
    if held is None:
        found = _made(data, indices, indptr, options)
        _keep(handle, found)
    else:
        found = held[0]
    return found.solve(np.array(b, data.dtype, order="F"), "NT"[trans])


def _released(handle: int) -> None:
    with _LOCK:
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


factored = External(_factored, int)
solved = External(_solved, _like_solution)
released = External(_released, type(None))

__all__ = ["count", "factored", "like_right_side", "released", "solved"]
