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

# --- bessel ---------------------------------------------------------------------------------------
for _n in (0, 1):
    enter(f"j{_n}", *_REAL, 0.0, 0.49, 0.51, of=lambda x, n=_n: mpmath.besselj(n, x))
    enter(f"y{_n}", *_POSITIVE, of=lambda x, n=_n: mpmath.bessely(n, x))
    enter(f"i{_n}", *_REAL, 0.0, 0.49, 0.51, of=lambda x, n=_n: mpmath.besseli(n, x))
    enter(f"k{_n}", *_POSITIVE, of=lambda x, n=_n: mpmath.besselk(n, x))
    enter(
        f"i{_n}e", *_REAL, -0.49, 0.51, 49.0, 51.0, 1e7, -60.0,
        of=lambda x, n=_n: mpmath.besseli(n, x) * mpmath.exp(-abs(x)),
    )  # fmt: skip
    enter(f"k{_n}e", *_POSITIVE, 49.0, 1e7, of=lambda x, n=_n: mpmath.besselk(n, x) * mpmath.exp(x))
_ORDERS = ((0.0, 1.3), (1.0, 4.0), (2.5, 0.7), (7.3, 30.0))
_WHOLE = ((0.0, 1.3), (1.0, 4.0), (5.0, 7.5))
enter("jv", *_ORDERS, of=mpmath.besselj)
enter("jve", *_ORDERS, of=mpmath.besselj)
enter("yv", *_ORDERS, of=mpmath.bessely)
enter("yve", *_ORDERS, of=mpmath.bessely)
enter("yn", *_WHOLE, of=mpmath.bessely)
enter("iv", *_ORDERS, of=mpmath.besseli)
enter("kv", *_ORDERS, of=mpmath.besselk)
enter("kn", *_WHOLE, of=mpmath.besselk)
_FAR = ((0.5, 70.0), (2.0, 240.0), (3.0, 1e6))
enter("ive", *_ORDERS, *_FAR, of=lambda v, x: mpmath.besseli(v, x) * mpmath.exp(-abs(x)))
enter("kve", *_ORDERS, *_FAR, of=lambda v, x: mpmath.besselk(v, x) * mpmath.exp(x))
enter(
    "iv_ratio", (1.0, 0.7), (2.5, 6.0),
    of=lambda v, x: mpmath.besseli(v, x) / mpmath.besseli(v - 1, x),
)  # fmt: skip


def _spherical(f: Callable[..., Any], factor: Any = None) -> Callable[..., Any]:
    c = factor or mpmath.sqrt(mp.pi / 2)
    return lambda n, x: c * f(n + mp.mpf(1) / 2, x) / mpmath.sqrt(x)


for _name, _f in (
    ("jn", mpmath.besselj), ("yn", mpmath.bessely), ("in", mpmath.besseli), ("kn", mpmath.besselk),
):  # fmt: skip
    _value = _spherical(_f)
    enter(f"spherical_{_name}", *_WHOLE, of=_value)
    enter(
        f"spherical_{_name}_d", *_WHOLE,
        of=lambda n, x, f=_value: mpmath.diff(lambda t: f(n, t), x), error=1e-8,
    )  # fmt: skip
for _k, _f in enumerate((mpmath.airyai, mpmath.airyai, mpmath.airybi, mpmath.airybi)):
    _order = _k % 2
    enter(f"airy_{_k}", *_REAL, of=lambda x, f=_f, k=_order: f(x, derivative=k))
    enter(
        f"airye_{_k}", 0.3, 2.2, 29.0, 31.0, 1e4,
        of=lambda x, f=_f, k=_order, s=(1 if _k < 2 else -1): (
            f(x, derivative=k) * mpmath.exp(s * 2 * x * mpmath.sqrt(x) / 3)
        ),
    )  # fmt: skip
enter("struve", *_ORDERS[:3], of=mpmath.struveh)
enter("modstruve", *_ORDERS[:3], of=mpmath.struvel)
for _name in ("ber", "bei", "ker", "kei"):
    _f = getattr(mpmath, _name)
    enter(_name, *_POSITIVE[:4], of=lambda x, f=_f: f(0, x), error=1e-7)
    enter(
        f"{_name}p", *_POSITIVE[:4],
        of=lambda x, f=_f: mpmath.diff(lambda t: f(0, t), x), error=1e-7,
    )  # fmt: skip
for _name in ("itj0y0", "iti0k0", "it2j0y0", "it2i0k0"):
    for _k in (0, 1):
        enter(f"{_name}_{_k}", 0.4, 1.3, 6.5, error=1e-5)
for _k in range(4):
    enter(f"itairy_{_k}", 0.4, 1.3, error=1e-5)
enter("itstruve0", 0.4, 1.3, 6.5, error=1e-5)
enter("itmodstruve0", 0.4, 1.3, 6.5, error=1e-5)
enter("it2struve0", 0.4, 1.3, 6.5, error=1e-5)
enter("wright_bessel", (0.7, 1.5, 0.4), (2.0, 0.6, 3.0))
enter("log_wright_bessel", (0.7, 1.5, 0.4), (2.0, 0.6, 3.0))

# --- integrals ------------------------------------------------------------------------------------
enter("exp1", *_POSITIVE, of=mpmath.e1)
enter("expi", *_POSITIVE, -2.0, of=mpmath.ei)
enter("expn", (0.0, 0.7), (1.0, 2.0), (4.0, 0.3), of=mpmath.expint)
enter("sici_0", *_REAL, of=mpmath.si)
enter("sici_1", *_POSITIVE, of=mpmath.ci)
enter("shichi_0", *_REAL, of=mpmath.shi)
enter("shichi_1", *_POSITIVE, of=mpmath.chi)
enter("fresnel_0", *_REAL, of=mpmath.fresnels)
enter("fresnel_1", *_REAL, of=mpmath.fresnelc)
enter("spence", 0.02, 0.4, 0.95, 1.0, 1.2, 7.0, of=lambda z: mpmath.polylog(2, 1 - z).real)
enter("owens_t", (0.4, 1.3), (-1.2, 0.3), (2.0, -0.7))
enter("wrightomega", -2.0, 0.3, 5.0, of=lambda x: mpmath.lambertw(mpmath.exp(x)).real)
enter("tklmbda", (0.3, 0.4), (-0.5, 1.3))
enter("kolmogp", 0.8)
enter("kolmogorov", 0.6, 1.1, error=1e-6)
enter("kolmogi", 0.3, 0.8, error=1e-6)
enter("smirnovp", (5.0, 0.3))
enter("smirnov", (5.0, 0.3), (12.0, 0.15), error=1e-6)
enter("smirnovi", (5.0, 0.3), (12.0, 0.15), error=1e-6)

# --- elliptic -------------------------------------------------------------------------------------
enter("hyp0f1", (0.7, 1.3), (2.5, -0.4), of=mpmath.hyp0f1)
enter("hyp1f1", (0.7, 1.3, 0.4), (2.5, 3.1, -4.0), of=mpmath.hyp1f1)
enter("hyp2f1", (0.7, 1.3, 2.2, 0.4), (2.5, 0.4, 1.1, -3.0), of=mpmath.hyp2f1)
enter("hyperu", (0.7, 1.3, 0.4), (2.5, 0.6, 4.0), of=mpmath.hyperu, error=1e-7)
enter("elliprc", (0.4, 1.3), (3.0, 0.2), of=mpmath.elliprc)
_THREE = ((0.4, 1.3, 2.6), (3.0, 0.2, 0.9))
enter("elliprd", *_THREE, of=mpmath.elliprd)
enter("elliprf", *_THREE, of=mpmath.elliprf)
enter("elliprg", *_THREE, of=mpmath.elliprg)
enter("ellipk", -3.0, -0.09, 0.0, 1e-9, 0.099, 0.101, 0.97, of=mpmath.ellipk)
enter("ellipe", -3.0, -0.09, 0.0, 1e-9, 0.099, 0.101, 0.97, of=mpmath.ellipe)
enter("ellipkm1", 0.02, 0.6, of=lambda p: mpmath.ellipk(1 - p))
_ANGLES = ((0.4, 0.3), (1.2, -2.0), (-2.5, 0.6), (8.0, 0.45))
enter("ellipkinc", *_ANGLES, of=mpmath.ellipf)
enter("ellipeinc", *_ANGLES, of=mpmath.ellipe)
enter("agm", (1.3, 0.4), (20.0, 21.0), of=mpmath.agm)
for _k, _name in enumerate(("sn", "cn", "dn")):
    enter(
        f"ellipj_{_k}", (0.4, 0.3), (1.2, 0.9), (5.0, 0.45),
        of=lambda u, m, name=_name: mpmath.ellipfun(name, u, m=m),
    )  # fmt: skip
enter("ellipj_3", (0.4, 0.3), (1.2, 0.9), (5.0, 0.45))

# --- distributions --------------------------------------------------------------------------------
for _name in ("bdtr", "bdtrc", "bdtri"):
    enter(_name, (2.0, 7.0, 0.3), (0.0, 3.0, 0.6))
for _name in ("nbdtr", "nbdtrc", "nbdtri"):
    enter(_name, (2.0, 4.0, 0.3), (5.0, 3.0, 0.6))
for _name in ("pdtr", "pdtrc"):
    enter(_name, (2.0, 1.7), (6.0, 9.0))
enter("pdtri", (2.0, 0.3), (6.0, 0.8))
for _name in ("chdtr", "chdtrc"):
    enter(_name, (2.5, 1.7), (9.0, 6.0))
enter("chdtri", (2.5, 0.3), (9.0, 0.8))
for _name in ("fdtr", "fdtrc"):
    enter(_name, (2.5, 4.0, 1.7), (9.0, 3.0, 0.6))
enter("fdtri", (2.5, 4.0, 0.7), (9.0, 3.0, 0.4))
for _name in ("gdtr", "gdtrc"):
    enter(_name, (2.5, 1.4, 0.7), (0.6, 3.0, 4.0))
enter("gdtrix", (2.5, 1.4, 0.7), (0.6, 3.0, 0.4), error=1e-6)
enter("gdtria", (0.7, 1.4, 2.5), (0.4, 3.0, 0.6), error=1e-6)
enter("stdtr", (2.5, 0.7), (30.0, -1.4), (1e12, 1.0), (float("inf"), 0.3))
enter("stdtrit", (2.5, 0.7), (30.0, 0.2), error=1e-6)
enter("nrdtrimn", (0.3, 1.5, 2.0), (0.8, 0.6, -1.0))
enter("nrdtrisd", (0.5, 0.3, -2.0), (-1.0, 0.8, 3.0))
enter("ncx2_pdf", (1.3, 2.5, 0.7), (6.0, 4.0, 3.0), (2.0, 1.0, 0.4))
enter("chndtr", (1.3, 2.5, 0.7), (6.0, 4.0, 3.0), error=1e-6)
enter("chndtrix", (0.3, 2.5, 0.7), (0.8, 4.0, 3.0), error=1e-5)
enter("chndtrinc", (1.3, 2.5, 0.3), (6.0, 4.0, 0.6), error=1e-5)

# --- what scipy.stats calls -----------------------------------------------------------------------
enter("beta_ppf", (0.3, 1.7, 2.4), (0.8, 0.6, 3.0), error=1e-6)
enter("pdtrik", (0.3, 2.4), (0.8, 9.0))
enter("skewnorm_cdf", (0.4, 0.0, 1.0, 2.0), (-1.3, 0.0, 1.0, -0.6), error=1e-6)
for _name in ("skewnorm_ppf", "skewnorm_isf"):
    enter(_name, (0.4, 0.0, 1.0, 2.0), (0.8, 0.0, 1.0, -0.6), error=1e-5)
for _name in ("invgauss_ppf", "invgauss_isf"):
    enter(_name, (0.4, 0.7, 1.0), (0.8, 3.0, 1.0), error=1e-5)
enter("scaled_exp1", (0.3,), (2.5,), (20.0,))
for _name in ("binom_pmf", "binom_cdf", "binom_sf"):
    enter(_name, (0.0, 7.0, 0.4), (3.0, 7.0, 0.2), (7.0, 7.0, 0.9), error=1e-6)
for _name in ("nbinom_pmf", "nbinom_cdf", "nbinom_sf"):
    enter(_name, (0.0, 2.5, 0.4), (3.0, 7.0, 0.8), error=1e-6)
for _name in ("binom_ppf", "binom_isf"):
    enter(_name, (0.3, 7.0, 0.4), (0.8, 12.0, 0.9))
for _name in ("nbinom_ppf", "nbinom_isf"):
    enter(_name, (0.3, 2.5, 0.4), (0.8, 7.0, 0.9))

# --- polynomials ----------------------------------------------------------------------------------
for _suffix in ("_int", ""):
    _degrees = (0.0, 1.0, 5.0) if _suffix else (0.0, 1.0, 2.6, 5.0)
    for _name, _shapes, _x in (
        ("jacobi", (0.4, 1.3), 0.3), ("sh_jacobi", (2.4, 1.3), 0.3), ("gegenbauer", (1.7,), 0.3),
        ("legendre", (), 0.3), ("sh_legendre", (), 0.3), ("chebyt", (), 0.3), ("chebyu", (), 0.3),
        ("chebyc", (), 0.6), ("chebys", (), 0.6), ("sh_chebyt", (), 0.3), ("sh_chebyu", (), 0.3),
        ("genlaguerre", (0.7,), 1.4), ("laguerre", (), 1.4),
    ):  # fmt: skip
        enter(f"eval_{_name}{_suffix}", *[(_n, *_shapes, _x) for _n in _degrees])
for _name in ("hermite", "hermitenorm"):
    enter(f"eval_{_name}_int", *[(_n, 0.7) for _n in (0.0, 1.0, 5.0)])

# --- complexes ------------------------------------------------------------------------------------
_PLANE = ((0.4, 0.7), (-1.2, 0.5), (0.3, -2.1))
for _part in ("re", "im"):
    for _name in ("erf", "erfc", "erfi", "gamma", "loggamma", "rgamma", "ndtr", "log1p", "expm1",
                  "wrightomega", "exp1", "expi", "psi", "log_ndtr"):  # fmt: skip
        enter(f"{_name}_{_part}", *_PLANE)
    for _name in ("erfcx", "dawsn", "wofz"):
        enter(f"{_name}_{_part}", *_PLANE, (15.0, 14.0), (-15.0, 14.0), (20.0, -4.0))
    enter(f"spence_{_part}", *_PLANE, (1.03, 0.02))
    enter(f"xlogy_{_part}", (0.4, 0.7, 1.3, -0.2), (-0.4, 0.2, 0.3, 1.2))
    enter(f"xlog1py_{_part}", (0.4, 0.7, 1.3, -0.2), (-0.4, 0.2, 0.3, 1.2))
    enter(f"lambertw_{_part}", (0.4, 0.7, 0.0, 1e-8), (-1.2, 0.5, -1.0, 1e-8))
    for _name, _count in (("sici", 2), ("shichi", 2), ("fresnel", 2), ("airy", 4)):
        for _k in range(_count):
            enter(f"{_name}_{_k}_{_part}", *_PLANE)
    for _name in ("jv", "yv", "iv", "kv", "hankel1", "hankel2", "hankel1e", "hankel2e"):
        enter(f"{_name}_{_part}", (0.0, 0.4, 0.7), (1.5, 1.2, -0.5))
    enter(f"hyp0f1_{_part}", (1.5, 0.4, 0.7), (0.7, -1.2, 0.5))
    enter(f"hyp1f1_{_part}", (0.7, 1.5, 0.4, 0.7), (2.2, 0.7, -1.2, 0.5))
    enter(f"hyp2f1_{_part}", (0.7, 1.5, 2.2, 0.3, 0.4), (2.2, 0.7, 1.4, -0.5, 0.2))
enter(
    "voigt_profile", (0.4, 1.3, 0.7), (-2.0, 0.6, 0.2), (0.3, 0.02, 0.9),
    of=lambda x, s, g: (
        (lambda z: (mpmath.exp(-z * z) * mpmath.erfc(-1j * z)).real)(
            (x + 1j * g) / (s * mpmath.sqrt(2))
        )
        / (s * mpmath.sqrt(2 * mp.pi))
    ),
    error=1e-8,
)  # fmt: skip

__all__ = ["MEANING", "POINTS", "TOLERANCE"]
