"""Orthogonal polynomials, of a degree that is an integer or not.

SciPy has a loop for integers, which are recurrences, and one for other degrees, which are
hypergeometric functions; so there are two rows. The derivative of a polynomial is one of a lower
degree (`DLMF <https://dlmf.nist.gov/18.9>`_), which holds at the ends of the interval as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adc.ir.opdef import OPS, OpDef
from adc.ir.ops.arith import ne, select
from adc.ir.ops.scipy.gamma import binom
from adc.ir.ops.ufuncs import ORDER, ufunc

_SHAPE = "its parameter: the derivative has no closed form; use finite differences for it"


def _polynomial(name: str, shapes: int, slope: Callable[..., Any], *, real: bool = True) -> None:
    """Enter rows for a polynomial.

    `slope` is its derivative as a function of rows, in a family of one kind of degrees, and of the
    operands.
    """

    def rule(family: _Family) -> Callable[..., Any]:
        # Of a constant, the polynomial of the degree before may be undefined.
        return lambda y, n, *args: select(ne(n, 0.0), slope(family, n, *args), 0.0)

    for suffix, degree in (("_int", "l"), ("", "d"))[: 1 + real]:
        ufunc(
            name, ORDER, *[_SHAPE] * shapes, rule(_Family(suffix)),
            loop=f"{degree}{'d' * (shapes + 1)}->d", suffix=suffix, cost=150,
        )  # fmt: skip


class _Family:
    """The rows for one kind of degrees, as attributes."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def __getattr__(self, name: str) -> OpDef:
        return OPS[f"scipy_eval_{name}{self._suffix}"]


_polynomial(
    "eval_jacobi", 2,
    lambda p, n, a, b, x: 0.5 * (n + a + b + 1.0) * p.jacobi(n - 1.0, a + 1.0, b + 1.0, x),
)  # fmt: skip
_polynomial(
    "eval_sh_jacobi", 2,
    lambda r, n, p, q, x: (
        (n + p) * r.jacobi(n - 1.0, p - q + 1.0, q, 2.0 * x - 1.0) / binom(2.0 * n + p - 1.0, n)
    ),
)  # fmt: skip
_polynomial("eval_gegenbauer", 1, lambda p, n, a, x: 2.0 * a * p.gegenbauer(n - 1.0, a + 1.0, x))
_polynomial("eval_legendre", 0, lambda p, n, x: 0.5 * (n + 1.0) * p.jacobi(n - 1.0, 1.0, 1.0, x))
_polynomial(
    "eval_sh_legendre", 0, lambda p, n, x: (n + 1.0) * p.jacobi(n - 1.0, 1.0, 1.0, 2.0 * x - 1.0)
)
_polynomial("eval_chebyt", 0, lambda p, n, x: n * p.chebyu(n - 1.0, x))
_polynomial("eval_chebyu", 0, lambda p, n, x: 2.0 * p.gegenbauer(n - 1.0, 2.0, x))
_polynomial("eval_chebyc", 0, lambda p, n, x: n * p.chebys(n - 1.0, x))
_polynomial("eval_chebys", 0, lambda p, n, x: p.gegenbauer(n - 1.0, 2.0, 0.5 * x))
_polynomial("eval_sh_chebyt", 0, lambda p, n, x: 2.0 * n * p.sh_chebyu(n - 1.0, x))
_polynomial("eval_sh_chebyu", 0, lambda p, n, x: 4.0 * p.gegenbauer(n - 1.0, 2.0, 2.0 * x - 1.0))
_polynomial("eval_genlaguerre", 1, lambda p, n, a, x: -p.genlaguerre(n - 1.0, a + 1.0, x))
_polynomial("eval_laguerre", 0, lambda p, n, x: -p.genlaguerre(n - 1.0, 1.0, x))
_polynomial("eval_hermite", 0, lambda p, n, x: 2.0 * n * p.hermite(n - 1.0, x), real=False)
_polynomial("eval_hermitenorm", 0, lambda p, n, x: n * p.hermitenorm(n - 1.0, x), real=False)
