"""Special functions: what they compute is not among the instructions of any machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.ir.opdef import CFunction, OpDef
from adc.ir.ops.math import WIDE, exp


def _elementwise(fn: Callable[..., float]) -> Callable[..., Any]:
    """Return `fn` of Python floats as a function of NumPy scalars that keeps their dtype."""

    def evaluate(*args: Any) -> Any:
        dtype = np.result_type(*args)
        try:
            return dtype.type(fn(*(float(arg) for arg in args)))
        except OverflowError:
            return dtype.type(np.inf)
        except ValueError:
            return dtype.type(np.nan)

    return evaluate


erf = OpDef(
    "erf", 1, _elementwise(math.erf), "erf({0})", (math.erf,),
    vjp=lambda ct, y, x: (ct * (2.0 / math.sqrt(math.pi) * exp(-(x * x))),),
    kinds="f", cost=20, domain=WIDE,
    total=True, image=(-1.0, 1.0),
    nanoseconds=1.4, libm=CFunction("erf"), raises="", doc="Error function.",
)  # fmt: skip
erfc = OpDef(
    "erfc", 1, _elementwise(math.erfc), "erfc({0})", (math.erfc,),
    vjp=lambda ct, y, x: (-ct * (2.0 / math.sqrt(math.pi) * exp(-(x * x))),),
    kinds="f", cost=20, domain=WIDE,
    total=True, image=(0.0, 2.0),
    nanoseconds=1.8, libm=CFunction("erfc"), raises="", doc="1 - erf(x) without cancellation.",
)  # fmt: skip
gamma = OpDef(
    "gamma", 1, _elementwise(math.gamma), "gamma({0})", (), refuse=True,
    why="needs the digamma function", kinds="f", cost=50, domain=((0.2, 5.0),),
    # glibc's tgammaf and lgammaf err by more than 5 units in the last place.
    nanoseconds=29, libm=CFunction("tgamma", vectorized=False, single=False), raises="pole",
    doc="Gamma function.",
)  # fmt: skip
lgamma = OpDef(
    "lgamma", 1, _elementwise(math.lgamma), "lgamma({0})", (), refuse=True,
    why="needs the digamma function", kinds="f", cost=50, domain=((0.2, 5.0),),
    nanoseconds=8.6, libm=CFunction("lgamma", vectorized=False, single=False), raises="poles",
    doc="Logarithm of the absolute value of gamma(x).",
)  # fmt: skip
