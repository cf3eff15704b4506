"""Functions outside for which there is machine code: it is called first, and may leave them all."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.text.outside import Leaf, Outside
from adc.library.external import External

Code: Any = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64)
)


class Scaled:
    """``x`` times ``k``, by what stands for machine code, or else by Python."""

    __name__ = "scaled"

    def __init__(self, answer: int) -> None:
        self.code = Code(self._code)
        self.answer = answer
        self.calls: list[str] = []

    def __call__(self, k: int, x: Any) -> Any:
        self.calls.append("Python")
        return k * x

    def _code(self, told: Any, words: Any) -> int:
        # A number; the size, address and strides of an array; a size that the result has; the size
        # of what is filled, and where.
        k, size, source, stride, length, made, into = words[:7]
        assert (told[1], stride, length, made) == (17, 8, size, size)
        self.calls.append("code")
        if self.answer == 1:
            kind = ctypes.c_double * size
            given, out = kind.from_address(source), kind.from_address(into)
            out[:] = [k * each for each in given]
        return self.answer

    def __adc_native__(self, call: Outside) -> Any:
        assert isinstance(call.args[0], Leaf)
        address = ctypes.cast(self.code, ctypes.c_void_p).value
        return np.array([address, 17]) if self.answer else None


@pytest.mark.parametrize(
    ("answer", "calls"), [(1, ["code"]), (2, ["code", "Python"]), (0, ["Python"])]
)
def test_machine_code_is_called_first(answer: int, calls: list[str]) -> None:
    fn = Scaled(answer)
    scaled = External(fn, lambda k, x: np.empty(len(x)))

    def loss(x: Any, weights: Any, k: int) -> Any:
        return np.sum(x * scaled(k, weights))

    weights = np.array([1.0, 2.0, -0.5])
    assert np.array_equal(adc.grad(loss)(np.ones(3), weights, 4), 4.0 * weights)
    assert fn.calls == calls
