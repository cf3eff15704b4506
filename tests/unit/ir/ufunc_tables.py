"""Where the rows that SciPy computes are sampled, and what mpmath has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mp

# Row -> points in its domain.
POINTS: dict[str, list[tuple[float, ...]]] = {}
# Row -> the function of mpmath.
MEANING: dict[str, Callable[..., Any]] = {}
# Row -> the relative error that its derivative may have, where it is not the usual one.
TOLERANCE: dict[str, float] = {}


def enter(
    name: str, *points: float | tuple[float, ...], of: Callable[..., Any] | None = None,
    error: float | None = None,
) -> None:  # fmt: skip
    row = f"scipy_{name}"
    assert row not in POINTS
    POINTS[row] = [each if isinstance(each, tuple) else (float(each),) for each in points]
    if of is not None:
        MEANING[row] = of
    if error is not None:
        TOLERANCE[row] = error


_POSITIVE = (0.02, 0.4, 1.3, 6.5, 80.0)
_REAL = (-5.5, -0.7, 0.3, 2.2, 9.0)
_CHANCE = (1e-3, 0.03, 0.45, 0.8, 0.99)
_PAIRS = ((0.3, 0.6), (1.7, 2.4), (6.0, 0.8), (12.5, 14.0))


def _ndtri(p: Any) -> Any:
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


# --- gamma ----------------------------------------------------------------------------------------
enter("sinpi", *_REAL, of=lambda x: mpmath.sin(mp.pi * x))
enter("cospi", *_REAL, of=lambda x: mpmath.cos(mp.pi * x))
enter("zeta", (1.5, 0.4), (3.0, 2.5), (7.0, 40.0), of=lambda s, q: mpmath.zeta(s, q))
enter("riemann_zeta", 1.5, 4.0)
enter("zetac", 1.5, 4.0)
enter("psi", *_POSITIVE, -1.3, of=mpmath.digamma)
enter("gammaln", *_POSITIVE, -1.3, of=lambda x: mpmath.log(abs(mpmath.gamma(x))))
enter("gamma", *_POSITIVE, -1.3, of=mpmath.gamma)
enter("loggamma", *_POSITIVE, of=mpmath.loggamma)
enter("gammasgn", 0.4, -1.3)
enter("rgamma", *_POSITIVE, -1.3, -3.0, 0.0, of=mpmath.rgamma)
enter("poch", *_PAIRS, of=mpmath.rf)
enter("binom", (5.5, 2.2), (9.0, 3.0), (40.0, 17.5), of=mpmath.binomial)
enter("factorial", 0.4, 1.5, 6.0, of=mpmath.factorial)
enter("beta", *_PAIRS, of=mpmath.beta)
enter("betaln", *_PAIRS, of=lambda a, b: mpmath.log(mpmath.beta(a, b)))
enter("igam_fac", *_PAIRS, of=lambda a, x: x**a * mpmath.exp(-x) / mpmath.gamma(a))
enter("gammainc", *_PAIRS, of=lambda a, x: mpmath.gammainc(a, 0, x, regularized=True))
enter("gammaincc", *_PAIRS, of=lambda a, x: mpmath.gammainc(a, x, regularized=True))
enter("gammaincinv", (0.6, 0.3), (2.5, 0.8), (20.0, 0.05))
enter("gammainccinv", (0.6, 0.3), (2.5, 0.8), (20.0, 0.05))
_BETA = ((0.6, 1.4, 0.3), (2.5, 3.5, 0.7), (20.0, 14.0, 0.55))
enter(
    "beta_pdf", *[(x, a, b) for a, b, x in _BETA],
    of=lambda x, a, b: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b),
)  # fmt: skip
enter("betainc", *_BETA, of=lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True))
enter("betaincc", *_BETA, of=lambda a, b, x: mpmath.betainc(a, b, x, 1, regularized=True))
enter("betaincinv", *_BETA)
enter("betainccinv", *_BETA)

# --- error ----------------------------------------------------------------------------------------
enter("erf", *_REAL, of=mpmath.erf)
enter("erfc", *_REAL, of=mpmath.erfc)
enter("erfcx", *_REAL, 19.9, 20.1, 300.0, of=lambda x: mpmath.exp(x * x) * mpmath.erfc(x))
enter("erfi", *_REAL, of=mpmath.erfi)
enter(
    "dawsn", *_REAL, 19.9, 20.1, -300.0,
    of=lambda x: mpmath.sqrt(mp.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
)  # fmt: skip
enter("erfinv", -0.9, 0.0, 0.3, 0.99, of=mpmath.erfinv)
enter("erfcinv", 0.01, 0.3, 1.0, 1.9, of=lambda x: mpmath.erfinv(1 - x))
enter("ndtr", *_REAL, of=mpmath.ncdf)
enter("log_ndtr", *_REAL, -40.0, 6.0, of=lambda x: mpmath.log(mpmath.ncdf(x)))
enter("ndtri", *_CHANCE, of=_ndtri)
enter("ndtri_exp", -30.0, -2.0, -0.4, -1e-3, of=lambda y: _ndtri(mpmath.exp(y)))

# --- elementary -----------------------------------------------------------------------------------
enter("logit", *_CHANCE, of=lambda x: mpmath.log(x / (1 - x)))
enter("log_expit", *_REAL, -300.0, 30.0, of=lambda x: -mpmath.log1p(mpmath.exp(-x)))
enter("xlogy", *_PAIRS, of=lambda x, y: x * mpmath.log(y))
enter("xlog1py", *_PAIRS, of=lambda x, y: x * mpmath.log1p(y))
enter("entr", *_POSITIVE, of=lambda x: -x * mpmath.log(x))
enter("rel_entr", *_PAIRS, of=lambda x, y: x * mpmath.log(x / y))
enter("kl_div", *_PAIRS, (1.0, 1.0001), of=lambda x, y: x * mpmath.log(x / y) - x + y)
enter("huber", (1.0, 0.4), (1.0, -2.5), (0.3, 0.7))
enter(
    "pseudo_huber", (1.0, 0.4), (1.0, -2.5), (0.3, 700.0), (50.0, 0.1),
    of=lambda d, r: d * d * (mpmath.sqrt(1 + (r / d) ** 2) - 1),
)  # fmt: skip
enter("exprel", *_REAL, -1e-3, 0.99, 1.01, of=lambda x: mpmath.expm1(x) / x)
_POWERS = ((0.4, 1.5), (3.0, -0.7), (2.0, 1e-3), (5.0, 0.7))
enter("boxcox", *_POWERS, of=lambda x, p: (x**p - 1) / p)
enter("boxcox1p", *_POWERS, of=lambda x, p: ((1 + x) ** p - 1) / p)
enter("inv_boxcox", *_POWERS[:1], *_POWERS[2:], of=lambda x, p: (1 + p * x) ** (1 / p))
enter("inv_boxcox1p", *_POWERS[:1], *_POWERS[2:], of=lambda x, p: (1 + p * x) ** (1 / p) - 1)
enter("powm1", *_POWERS, of=lambda x, y: x**y - 1)
enter("cbrt", *_POSITIVE, of=mpmath.cbrt)
enter("exp2", *_REAL, of=lambda x: 2**x)
enter("exp10", *_REAL, of=lambda x: 10**x)
enter("expm1", *_REAL, of=mpmath.expm1)
enter("log1p", *_POSITIVE, of=mpmath.log1p)
enter("cosm1", *_REAL, of=lambda x: mpmath.cos(x) - 1)
enter("sindg", *_REAL, of=lambda x: mpmath.sin(mp.pi * x / 180))
enter("cosdg", *_REAL, of=lambda x: mpmath.cos(mp.pi * x / 180))
enter("tandg", *_REAL, of=lambda x: mpmath.tan(mp.pi * x / 180))
enter("cotdg", *_REAL, of=lambda x: mpmath.cot(mp.pi * x / 180))
enter("round", 0.3, 2.2)
enter("radian", (30.0, 5.0, 7.0), of=lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180)

__all__ = ["MEANING", "POINTS", "TOLERANCE"]
