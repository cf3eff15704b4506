"""What transforms do (`adc.backend.runtime.fourier`), in CPython: the same calls of DUCC."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.backend.python.machine import BaseMachine
from adc.backend.runtime import ducc, fourier
from adc.backend.runtime.fourier import Box, Span

Array = np.ndarray[Any, Any]
_LONG = ctypes.c_int64
_ADDRESS = ctypes.c_void_p


class _Spectral(BaseMachine):
    def number(self, value: Any) -> int:
        return int(value)

    def least(self, a: int, b: int) -> int:
        return min(a, b)

    def over(self, a: int, b: int) -> int:
        return a // b

    def pick(self, condition: bool, yes: int, no: int) -> int:
        return yes if condition else no

    def loop(self, count: int, body: Callable[[int], None]) -> None:
        for k in range(count):
            body(k)

    def interleave(self, work: Array, re: Array, im: Array, span: Span) -> None:
        pairs = _pairs(work, span)
        pairs[..., 0], pairs[..., 1] = _spanned(re, span), _spanned(im, span)

    def separate(self, re: Array, im: Array, work: Array, span: Span) -> None:
        pairs = _pairs(work, span)
        _spanned(re, span)[...] = pairs[..., 0]
        _spanned(im, span)[...] = pairs[..., 1]

    def weigh(self, lines: Box, n: int, weight: Any) -> None:
        steps = [2 * each * lines.memory.itemsize for each in lines.steps]
        start = lines.memory.reshape(-1)[2 * lines.offset :]
        count, half, width = lines.shape
        parts = np.lib.stride_tricks.as_strided(
            start, (count, half, 2 * width), (*steps[:2], start.itemsize)
        )
        parts[:, 1 : (n + 1) // 2] *= lines.memory.dtype.type(weight)

    def one(self) -> float:
        return 1.0

    def transform(
        self, kind: int, source: Box, target: Box, factor: Any, *, forward: Any, type: int = 1
    ) -> None:
        fields = {
            "kind": kind, "flags": (ducc.FORWARD if forward else 0) | ducc.LENGTHS,
            "in_dtype": self._code(source), "out_dtype": self._code(target),
            "norm": ducc.EXPLICIT, "factor": float(factor), "type": type, "ortho": 1,
            "workers": 1, "workers_given": 1,
        }  # fmt: skip
        options = _structure(*[fields[name] for name in ducc.OPTIONS])
        axis = _structure(1)
        nothing = _structure(-1, None, 0, 0)
        axes = _structure(1, ctypes.addressof(axis), 8, ducc.INT64)
        arrays = [self._array(box) for box in (source, target)]
        status = ducc.execute(
            *map(ctypes.byref, (options, *arrays)), _LONG(3), *map(ctypes.byref, (nothing, axes))
        )
        if status != 0:
            raise MemoryError("adc: a Fourier transform")

    def _code(self, box: Box) -> int:
        letter = np.dtype(self._dtype).char
        return ducc.DTYPES[letter.upper() if box.is_complex else letter]

    def _array(self, box: Box) -> Any:
        item = np.dtype(self._dtype).itemsize
        size = 2 * item if box.is_complex else item
        data = box.memory.ctypes.data + box.offset * size
        count = box.shape[0] * box.shape[1] * box.shape[2]
        steps = [step * size for step in box.steps]
        return _structure(None, None, count, size, _ADDRESS(data), *box.shape, *steps)


def _structure(*values: Any) -> Any:
    """Return a structure of numbers and addresses, all of 64 bits."""
    kinds = [
        ctypes.c_double if isinstance(each, float)
        else _LONG if isinstance(each, int) else _ADDRESS
        for each in values
    ]  # fmt: skip
    fields = [(f"_{k}", kind) for k, kind in enumerate(kinds)]
    made: Any = type("Numbers", (ctypes.Structure,), {"_fields_": fields})
    return made(*values)


def _spanned(x: Array, span: Span) -> Array:
    flat = x.reshape(-1)[span.offset :]
    steps = (span.stride * flat.itemsize, flat.itemsize)
    return np.lib.stride_tricks.as_strided(flat, (span.rows, span.columns), steps)


def _pairs(work: Array, span: Span) -> Array:
    return work[: span.rows * span.columns * 2].reshape(span.rows, span.columns, 2)


def _routine(row: Callable[..., Any]) -> Callable[..., Any]:
    def run(state: Any, *given: Any) -> Any:
        return row(_Spectral(given[0].dtype), *given)

    return run


NAMES: dict[str, Any] = {name: _routine(row) for name, row in fourier.ROUTINES.items()}

__all__ = ["NAMES"]
