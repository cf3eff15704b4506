"""The functions on scalars that emitted code calls, in Python: for most, what the op table says.

Elementary functions are those of `vector_math`, which ends in the same machine code whoever calls
it. Where NumPy leaves a choice, it is made as compiled code makes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.backend.common import prelude, vector_math
from adc.ir.opdef import OPS
from adc.ir.types import DTYPES


def _elementary(name: str) -> Callable[..., Any]:
    function: Any = vector_math.FUNCTIONS[name]

    def call(*args: Any) -> Any:
        found = function(*args)
        return found if isinstance(found, np.float32) else np.float64(found)

    return call


def _caster(dtype: str) -> Callable[[Any], Any]:
    evaluate = OPS["cast"].evaluate
    return lambda value: evaluate(dtype, value)


def _extreme(smaller: bool, nan_wins: bool) -> Callable[[Any, Any], Any]:
    """Return `minimum` and its like: -0.0 is less than 0.0 for those in which NaN wins."""

    def extreme(x: Any, y: Any) -> Any:
        if nan_wins and (x != x or y != y):
            return x + y
        if nan_wins and x == y:
            return x if np.signbit(x) == smaller else y
        best = x if (x < y if smaller else y < x) else y
        return x if not nan_wins and y != y else best

    return extreme


def _logaddexp(exp: str, scale: float) -> Callable[[Any, Any], Any]:
    """Return the logarithm of the sum of powers; see `prelude`, which writes it for machines."""
    power, log1p = _elementary(exp), _elementary("log1p")

    def logaddexp(x: Any, y: Any) -> Any:
        number = type(x)
        if x == y:  # of two equal infinities the distance is not a number
            return x + number(1.0 if scale != 1.0 else math.log(2.0))
        distance = x - y
        if distance != distance:
            return distance
        above = distance > 0.0
        more = log1p(power(-distance if above else distance))
        return (x if above else y) + (more if scale == 1.0 else number(scale) * more)

    return logaddexp


def _trips(start: Any, stop: Any, step: Any) -> Any:
    """Return the length of a range, which may be more than Python's `len` can say."""
    count = -((int(start) - int(stop)) // int(step)) if step else 0
    return np.uint64(max(count, 0)).astype(np.int64)


def unsigned(index: Any) -> Any:
    """Return an index that is not negative as it is.

    Raises
    ------
    IndexError
        If it is negative: code is wrong then, and Python would count from the end.
    """
    if index < 0:
        raise IndexError(f"a negative index: {index}")
    return index


def counted(*limits: Any) -> Any:
    """Yield what `range` does, as NumPy's integers."""
    return map(np.int64, range(*limits))


def _rows() -> dict[str, Any]:
    """Return the functions of the op table by the name under which emitted code calls them."""
    found: dict[str, Any] = {}
    for op in OPS.values():
        if op.function in prelude.NAMES or op.ufunc is not None:
            found.setdefault(op.function, op.evaluate)
    return found


#: Every name of `prelude`, `vector_math` and `runtime.special`, and what loops go through.
NAMES: dict[str, Any] = {
    **_rows(),
    **{name: _elementary(name) for name in vector_math.FUNCTIONS},
    **{prelude.CASTS[dtype]: _caster(dtype) for dtype in DTYPES},
    "ipow": lambda x, n: np.power(x, max(n, type(n)(0))),  # NumPy raises for negative exponents
    "minimum": _extreme(True, True),
    "maximum": _extreme(False, True),
    "fmin": _extreme(True, False),
    "fmax": _extreme(False, False),
    "logaddexp": _logaddexp("exp", 1.0),
    "logaddexp2": _logaddexp("exp2", 1.442695040888963407359924681001892137),
    "widened": np.float32,
    "narrowed": np.float16,
    "select": lambda cond, a, b: a if cond else b,
    "trips": _trips,
    "unsigned": unsigned,
    "inf": np.float64(math.inf),
    "nan": np.float64(math.nan),
    "range": counted,
    "vectorizable": counted,
}

__all__ = ["NAMES", "counted", "unsigned"]
