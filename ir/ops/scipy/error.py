"""Error functions and the normal distribution.

Differences of large numbers are avoided: far out, the derivatives of `erfcx` and `dawsn` are those
of their asymptotic series (`DLMF <https://dlmf.nist.gov/7.12>`_), and what `log_ndtr` needs is a
quotient of `erfcx`.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import absolute, gt, select
from adc.ir.ops.math import exp
from adc.ir.ops.scipy import kernels
from adc.ir.ops.ufuncs import ufunc

ROOT_PI = math.sqrt(math.pi)
SLOPE = 2.0 / ROOT_PI
ROOT_HALF = math.sqrt(0.5)
# Of the normal distribution, at its centre.
PEAK = 1.0 / math.sqrt(2.0 * math.pi)
# From here on series are exact.
_FAR = 20.0


def _series(sign: float, x: Any) -> Any:
    """Return the sum of ``sign ** k * (2 k + 1)!! / (2 x x) ** k``."""
    t = (0.5 * sign) / (x * x)
    found: Any = 1.0
    for k in range(9, 0, -1):
        found = 1.0 + (2.0 * k + 1.0) * t * found
    return found


def density(x: Any) -> Any:
    """Return the density of the normal distribution."""
    return PEAK * exp(-0.5 * (x * x))


def _hazard(x: Any) -> Any:
    """Return the derivative of the logarithm of the normal distribution's function."""
    above = gt(x, 0.0)
    below = math.sqrt(2.0 / math.pi) / erfcx(-ROOT_HALF * select(above, 0.0, x))
    return select(above, density(x) / ndtr(x), below)


erf: OpDef = ufunc(
    "erf", lambda y, x: SLOPE * exp(-(x * x)), cost=25, device="erf", total=True, image=(-1.0, 1.0)
)
erfc: OpDef = ufunc(
    "erfc", lambda y, x: -SLOPE * exp(-(x * x)), cost=25, device="erfc", total=True,
    image=(0.0, 2.0),
)  # fmt: skip
erfcx: OpDef = ufunc(
    "erfcx",
    lambda y, x: select(
        gt(x, _FAR), (-1.0 / ROOT_PI) / (x * x) * _series(-1.0, x), 2.0 * (x * y) - SLOPE
    ),
    cost=25, device="erfcx",
)  # fmt: skip
erfi: OpDef = ufunc("erfi", lambda y, x: SLOPE * exp(x * x), cost=30)
dawsn: OpDef = ufunc(
    "dawsn",
    lambda y, x: select(
        gt(absolute(x), _FAR), -0.5 / (x * x) * _series(1.0, x), 1.0 - 2.0 * (x * y)
    ),
    cost=30,
)
erfinv: OpDef = ufunc("erfinv", lambda y, x: (0.5 * ROOT_PI) * exp(y * y), cost=50, device="erfinv")
erfcinv: OpDef = ufunc(
    "erfcinv", lambda y, x: (-0.5 * ROOT_PI) * exp(y * y), cost=50, device="erfcinv"
)
ndtr: OpDef = ufunc(
    "ndtr", lambda y, x: density(x), cost=25, device="normcdf", total=True, image=(0.0, 1.0)
)
log_ndtr: OpDef = ufunc("log_ndtr", lambda y, x: _hazard(x), device=kernels.log_ndtr, cost=40)
ndtri: OpDef = ufunc("ndtri", lambda y, p: 1.0 / density(y), cost=50, device="normcdfinv")
ndtri_exp: OpDef = ufunc("ndtri_exp", lambda y, p: 1.0 / _hazard(y), cost=80)

__all__ = ["PEAK", "density", "erf", "erfcx", "ndtr", "ndtri"]
