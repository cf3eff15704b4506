"""What routines do (`adc.backend.runtime.routines`), in CPython: the same calls of LAPACK."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.backend.runtime import lapack, routines
from adc.backend.runtime.machine import INFO, SMALL, letter
from adc.ir.analysis.routines import ROUTINES

Array = np.ndarray[Any, Any]


class BaseMachine:
    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._letter = "d" if dtype == np.float64 else "s"

    def most(self, a: Any, b: Any) -> int:
        return max(int(a), int(b))

    def equal(self, a: Any, b: Any) -> bool:
        return bool(a == b)

    def choose(self, condition: Any, yes: str, no: str) -> str:
        return yes if condition else no

    def failed(self, info: int) -> int:
        return int(info != 0)

    def either(self, condition: Any, yes: Callable[[], int], no: Callable[[], int]) -> int:
        return yes() if condition else no()

    def branch(self, condition: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
        (yes if condition else no)()

    def took(self, operations: Any) -> None:
        """Count nothing: the interpreter looks for signals itself."""

    def at(self, memory: Array, offset: int) -> Array:
        return memory.reshape(-1)[offset:]

    def integers(self, count: int) -> Array:
        return np.empty(count, np.int32)

    def copy(self, out: Array, source: Array, rows: int, columns: int, keep: str = "") -> None:
        self._move(out, _matrix(source, rows, columns, columns), keep)

    def transpose(
        self, out: Array, source: Array, rows: int, columns: int,
        stride: int | None = None, keep: str = "",
    ) -> None:  # fmt: skip
        found = _matrix(source, columns, rows, rows if stride is None else stride)
        self._move(out, found.T, keep)

    def _move(self, out: Array, source: Array, keep: str) -> None:
        kept = source
        if keep:
            kept = np.tril(source) if keep == "lower" else np.triu(source)
        out.reshape(-1)[: kept.size].reshape(kept.shape)[...] = kept

    def join_transposed(self, out: Array, re: Array, im: Array, rows: int, columns: int) -> None:
        found = out.reshape(-1)[: 2 * rows * columns].reshape(rows, columns, 2)
        found[..., 0], found[..., 1] = re.T, im.T

    def separate_transposed(
        self, re: Array, im: Array, source: Array, rows: int, columns: int,
        stride: int | None = None, keep: str = "",
    ) -> None:  # fmt: skip
        step = rows if stride is None else stride
        found = source.reshape(-1)[: 2 * columns * step].reshape(columns, step, 2)[:, :rows]
        for out, part in zip((re, im), (found[..., 0].T, found[..., 1].T), strict=True):
            self._move(out, part, keep)

    def transpose_in_place(self, square: Array, n: int) -> None:
        square[...] = square.T.copy()

    def count_from_zero(self, pivots: Array, n: int) -> None:
        pivots[...] = pivots.view(np.int32)[:n].astype(np.int64) - 1

    def swap_rows(self, x: Array, n: int, columns: int, pivots: Array, *, backwards: bool) -> None:
        for row in reversed(range(n)) if backwards else range(n):
            x[[row, pivots[row]]] = x[[pivots[row], row]]

    def is_small(self, n: int) -> bool:
        return n <= SMALL

    def lu(self, lu: Array, n: int, pivots: Array) -> int:
        a, info = lu.T, 0  # by columns
        for j in range(n):
            best = j
            for i in range(j + 1, n):
                if abs(a[i, j]) > abs(a[best, j]):
                    best = i
            pivots[j] = best
            a[[j, best]] = a[[best, j]]
            if a[j, j] == 0:
                info = 1
                continue
            a[j + 1 :, j] /= a[j, j]
            a[j + 1 :, j + 1 :] -= a[j + 1 :, j, None] * a[None, j, j + 1 :]
        return info

    def lower_factor(self, factor: Array, n: int) -> int:
        info = 0
        for j in range(n):
            if not factor[j, j] > 0:
                info = 1
            factor[j, j] = np.sqrt(factor[j, j])
            factor[j + 1 :, j] /= factor[j, j]
            left = factor[j + 1 :, j]
            factor[j + 1 :, j + 1 :] -= np.tril(left[:, None] * left[None, :])
        return info

    def substitute(
        self, t: Array, x: Array, n: int, columns: int, *,
        lower: bool, turned: bool, unit: bool, by_columns: bool,
    ) -> None:  # fmt: skip
        t = t if turned == by_columns else t.T
        forward = lower != turned
        for i in range(n) if forward else reversed(range(n)):
            if not unit:
                x[i] /= t[i, i]
            rest = slice(i + 1, n) if forward else slice(0, i)
            x[rest] -= t[rest, i, None] * x[None, i]

    def call(self, name: str, *args: Any, of_complex: bool = False) -> int | None:
        info = ctypes.c_int(0) if any(arg is INFO for arg in args) else None
        given: list[Any] = []
        numbers = []  # which must outlive the call
        for arg in args:
            if isinstance(arg, np.ndarray):
                given.append(ctypes.c_void_p(arg.ctypes.data))
            elif arg is INFO:
                given.append(ctypes.byref(info))  # type: ignore[arg-type]  # it is there then
            elif isinstance(arg, str):
                given.append(ctypes.byref(ctypes.c_char(arg.encode())))
            elif isinstance(arg, float):
                numbers.append(np.array([arg], self._dtype))
                given.append(ctypes.c_void_p(numbers[-1].ctypes.data))
            else:
                given.append(ctypes.byref(ctypes.c_int(int(arg))))
        _function(letter(self._letter, of_complex) + name, len(given))(*given)
        return None if info is None else info.value


def _function(name: str, count: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(lapack.ADDRESSES[name])


def _matrix(source: Array, rows: int, columns: int, stride: int) -> Array:
    if source.ndim == 2:
        return source
    flat = source.reshape(-1)
    step = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (stride * step, step))


def _routine(row: Callable[..., Any]) -> Callable[..., Any]:
    def run(state: Any, *given: Any) -> Any:
        return row(BaseMachine(given[0].dtype), *given)

    return run


def _elsewhere(name: str, home: str) -> Callable[..., Any]:
    """Return a routine of another library, which is loaded when it is needed."""

    def run(*given: Any) -> Any:
        return importlib.import_module(f"adc.backend.python.{home}").NAMES[name](*given)

    return run


NAMES: dict[str, Any] = {
    name: _routine(routines.ROUTINES[name])
    if row.home == "routines"
    else _elsewhere(name, row.home)
    for name, row in ROUTINES.items()
}

__all__ = ["NAMES"]
