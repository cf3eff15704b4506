"""`scipy.stats`: values are SciPy's, inside and outside of the support; derivatives, twice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adc
from adc.testing import check_grads

INF, NAN = np.inf, np.nan
X = np.array(
    [
        -INF, -50.0, -3.0, -1.2, -1.0, 0.0, 1e-8, 0.3, 0.5, 1.0, 1.3, 2.0, 3.7, 7.0, 30.0, 200.0,
        INF, NAN,
    ]
)  # fmt: skip
K = np.array([-INF, -3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 2.5, 30.0, 200.0, INF, NAN])
Q = np.array([-0.1, 0.0, 1e-12, 0.001, 0.1, 0.5, 0.77, 0.999, 1.0, 1.1, NAN])

# A distribution and its shapes: ordinary ones, those at an edge, and wrong ones.
CONTINUOUS: list[tuple[Any, tuple[tuple[float, ...], ...]]] = [
    (stats.norm, ((),)), (stats.t, ((4.5,), (INF,), (-1.0,))), (stats.cauchy, ((),)),
    (stats.laplace, ((),)), (stats.logistic, ((),)), (stats.expon, ((),)),
    (stats.gamma, ((2.5,), (1.0,), (0.5,), (300.0,), (NAN,))),
    (stats.invgamma, ((2.2,), (0.9,), (250.0,))),
    (stats.beta, ((2.0, 3.5), (1.0, 1.0), (0.5, 0.7), (6e6, 7e6), (2.0, 3e6), (-1.0, 2.0))),
    (stats.chi2, ((3,), (300.0,))), (stats.f, ((3.0, 7.0), (2.0, 1.5))),
    (stats.lognorm, ((0.7,),)), (stats.uniform, ((),)), (stats.weibull_min, ((1.7,), (0.6,))),
    (stats.gumbel_r, ((),)), (stats.pareto, ((2.5,), (0.8,))), (stats.halfnorm, ((),)),
    (stats.truncnorm, ((-1.0, 2.0), (3.0, 5.0), (-INF, -2.0), (1.0, INF), (2.0, 1.0))),
    (stats.vonmises, ((1.5,), (0.0,), (60.0,), (-1.0,))),
    (stats.skewnorm, ((2.0,), (0.0,), (-3.0,), (INF,))), (stats.halfcauchy, ((),)),
    (stats.invgauss, ((0.7,), (3.0,), (0.01,), (-1.0,))), (stats.fatiguelife, ((0.7,), (3.0,))),
    (stats.recipinvgauss, ((0.7,), (3.0,), (0.02,), (0.0,))),
]  # fmt: skip
DISCRETE: list[tuple[Any, tuple[tuple[float, ...], ...]]] = [
    (stats.bernoulli, ((0.3,), (0.0,), (1.2,))),
    (stats.binom, ((7, 0.4), (7, 1.0), (0, 0.3), (7.5, 0.4), (7, NAN))),
    (stats.nbinom, ((3.3, 0.4), (-1.0, 0.4), (3.0, 1.5))),
    (stats.poisson, ((2.7,), (0.0,), (-1.0,))), (stats.geom, ((0.3,), (1.0,), (0.0,))),
]  # fmt: skip
# Relative errors, where they are not rounding: of quantiles far out, and where SciPy integrates
# with less accuracy, or sums until terms are small.
ERRORS = {
    ("truncnorm", "isf"): 1e-9, ("skewnorm", "cdf"): 1e-7, ("skewnorm", "logcdf"): 1e-8,
    ("skewnorm", "sf"): 1e-7, ("skewnorm", "logsf"): 1e-7, ("poisson", "entropy"): 1e-9,
    ("nbinom", "entropy"): 1e-9, ("geom", "logcdf"): 1e-11,
    ("recipinvgauss", "isf"): 1e-5, ("recipinvgauss", "ppf"): 1e-9,
    ("recipinvgauss", "median"): 1e-11, ("recipinvgauss", "mean"): 1e-7,
    ("recipinvgauss", "var"): 1e-6, ("recipinvgauss", "std"): 1e-6,
}  # fmt: skip
DENSITY = ("pdf", "logpdf", "pmf", "logpmf")
OF_X = ("cdf", "logcdf", "sf", "logsf")
OF_Q = ("ppf", "isf")
OF_NOTHING = ("median", "mean", "var", "std", "entropy")
# What adc refuses, or SciPy cannot compute for arrays.
LEFT_OUT: dict[str, tuple[str, ...]] = {"vonmises": ("ppf", "isf", "median", "var", "std")}
LEFT_OUT |= {name: ("entropy",) for name in ("skewnorm", "recipinvgauss", "fatiguelife")}


def density(d: Any, x: Any, *args: Any) -> Any:
    return d.pdf(x, *args), d.logpdf(x, *args)


def mass(d: Any, k: Any, *args: Any) -> Any:
    return d.pmf(k, *args), d.logpmf(k, *args)


def of_x(d: Any, x: Any, *args: Any) -> Any:
    return d.cdf(x, *args), d.logcdf(x, *args), d.sf(x, *args), d.logsf(x, *args)


def of_q(d: Any, q: Any, *args: Any) -> Any:
    return d.ppf(q, *args), d.isf(q, *args)


def of_nothing(d: Any, *args: Any) -> Any:
    return d.median(*args), d.mean(*args), d.var(*args), d.std(*args), d.entropy(*args)


def of_angle(d: Any, *args: Any) -> Any:
    return d.mean(*args), d.entropy(*args)


def of_moments(d: Any, *args: Any) -> Any:
    return d.median(*args), d.mean(*args), d.var(*args), d.std(*args)


def _check(fn: Any, names: tuple[str, ...], d: Any, first: tuple[Any, ...], args: Any) -> None:
    found = adc.jit(fn, target="python")(d, *first, *args)
    for name, each in zip(names, found, strict=True):
        try:
            want = getattr(d, name)(*first, *args)
        except IndexError:  # SciPy's own, where nothing is inside of the support
            continue
        assert np.shape(each) == np.shape(want)
        assert np.result_type(each) == np.float64
        # SciPy integrates for the mean of an angle; a logarithm may cancel.
        scale = 1e-15 if name == "mean" or name in DENSITY else 0.0
        np.testing.assert_allclose(
            each, want, rtol=ERRORS.get((d.name, name), 3e-13), atol=scale,
            err_msg=f"{d.name}.{name}{args}",
        )  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("d", "shapes"), CONTINUOUS + DISCRETE, ids=lambda d: getattr(d, "name", "")
)
def test_values(d: Any, shapes: tuple[tuple[float, ...], ...]) -> None:
    is_count = any(d is each for each, _ in DISCRETE)
    left_out = LEFT_OUT.get(d.name, ())
    last = of_moments if "entropy" in left_out else of_nothing
    last = of_angle if d.name == "vonmises" else last
    names = tuple(name for name in OF_NOTHING if name not in left_out)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for shape in shapes:
            ends = ((), (2,)) if is_count else ((), (0.3, 1.7), (0.3, -1.0))
            for args in [(*shape, *end) for end in ends]:
                own = DENSITY[2:] if is_count else DENSITY[:2]
                x = K if is_count else X
                _check(mass if is_count else density, own, d, (x,), args)
                _check(of_x, OF_X, d, (x,), args)
                if "ppf" not in left_out:
                    _check(of_q, OF_Q, d, (Q,), args)
                _check(last, names, d, (), args)


def singles(x: Any, a: Any, b: Any) -> Any:
    return (
        stats.norm.logpdf(x, a, b), stats.norm.cdf(x, a), stats.gamma.logpdf(x, a),
        stats.t.logpdf(x, a, b, 2.0), stats.gamma.entropy(a), stats.poisson.logpmf(x, a),
        stats.poisson.ppf(b, a), stats.norm.std(a, b),
    )  # fmt: skip


@pytest.mark.full
def test_single_precision_and_integers() -> None:
    """Results are of double precision, as in SciPy."""
    f32 = np.float32
    x = np.arange(-1, 4)
    for args in (
        (x.astype(f32), f32(1.3), f32(0.7)), (x.astype(f32), np.full(5, 1.3, f32), 0.7),
        (x, 2, 1), (x.astype(np.uint8), 2, 0.5), ([1, 2], 3, 1), (1, 2, 0.5), (f32(1), 2, 0.5),
    ):  # fmt: skip
        for found, want in zip(adc.jit(singles)(*args), singles(*args), strict=True):
            assert np.result_type(found) == np.result_type(want)
            assert np.shape(found) == np.shape(want)
            np.testing.assert_allclose(found, want, rtol=1e-6)


# --- derivatives ----------------------------------------------------------------------------------
COUNTS = np.array([0, 1, 3, 7])
INNER = np.array([0.06, 0.35, 0.6, 0.93])


def likelihood(x: Any, mu: Any, s: Any, df: Any) -> Any:
    """Sums of logarithms of densities, with all parameters."""
    found = np.sum(stats.norm.logpdf(x, mu, s)) + np.sum(stats.t.logpdf(x, df, mu, s))
    found += np.sum(stats.poisson.logpmf(COUNTS, s * x)) + stats.halfnorm.logpdf(s, scale=mu)
    return found + np.sum(stats.norm(mu, scale=s).logcdf(x)) + stats.gamma.logpdf(s, df, scale=mu)


def scaled(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = np.sum(stats.cauchy.logpdf(x, mu, s) + stats.laplace.logpdf(x, mu, s))
    found += np.sum(stats.logistic.logpdf(x, mu, s) + stats.gumbel_r.logpdf(x, mu, s))
    found += np.sum(stats.expon.logpdf(x, -mu, s) + stats.halfnorm.logpdf(x, -mu, s))
    found += np.sum(stats.uniform.logpdf(x, -mu, 3.0 * s) + stats.skewnorm.logpdf(x, df, mu, s))
    return found + np.sum(stats.pareto.logpdf(x + 2.0, df, 0.0, mu))


def shaped(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = np.sum(stats.beta.logpdf(x, df, s) + stats.beta.pdf(x, df, s))
    found += np.sum(stats.chi2.logpdf(x, df, 0.0, s) + stats.f.logpdf(x, df, s))
    found += np.sum(stats.invgamma.logpdf(x, df) + stats.lognorm.logpdf(x, s, 0.0, mu))
    found += np.sum(stats.weibull_min.logpdf(x, df, 0.0, s) + stats.vonmises.logpdf(x, df, mu))
    return found + np.sum(stats.truncnorm.logpdf(x, -s, df, mu, s))


def cumulated(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = np.sum(stats.vonmises.cdf(x, df, mu) + stats.skewnorm.logcdf(x, df, mu, s))
    found += np.sum(stats.truncnorm.logsf(x, -s, df, mu, s) + stats.truncnorm.ppf(x, -s, df))
    found += np.sum(stats.gamma.sf(x, 2.0, 0.0, s) + stats.t.ppf(x, 4.0, mu, s))
    found += np.sum(stats.gamma.ppf(x, 2.5, mu, s) + stats.skewnorm.isf(x, df))
    return found + np.sum(stats.cauchy.isf(x, mu, s) + stats.beta.ppf(x, 2.0, 3.0, mu, s))


def counted(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = np.sum(stats.binom.logpmf(COUNTS, 7, x) + stats.binom.pmf(COUNTS, 7, x))
    found += np.sum(stats.nbinom.logpmf(COUNTS, df, x) + stats.nbinom.pmf(COUNTS, df, x))
    found += np.sum(stats.bernoulli.logpmf(1, x) + stats.geom.logsf(3, x))
    found += np.sum(stats.poisson.cdf(COUNTS, s) + stats.binom.sf(COUNTS, 8, x))
    return found + np.sum(stats.nbinom.logcdf(COUNTS, 2.5, x)) + stats.poisson.pmf(2, mu)


def lasting(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = np.sum(stats.invgauss.logpdf(x, mu, 0.0, s) + stats.invgauss.pdf(x, mu, -s))
    found += np.sum(stats.invgauss.logcdf(x, mu, 0.0, s) + stats.invgauss.sf(x, df))
    found += np.sum(stats.invgauss.ppf(x, mu, 0.1, s) + stats.invgauss.isf(x, df))
    found += np.sum(stats.recipinvgauss.logpdf(x, mu) + stats.recipinvgauss.cdf(x, mu, 0.0, s))
    found += np.sum(stats.recipinvgauss.ppf(x, mu) + stats.recipinvgauss.logsf(x, df))
    found += np.sum(stats.fatiguelife.logpdf(x, s) + stats.fatiguelife.logcdf(x, mu, -mu, s))
    found += np.sum(stats.fatiguelife.isf(x, s) + stats.halfcauchy.logpdf(x, -mu, s))
    found += np.sum(stats.halfcauchy.cdf(x, 0.0, s) + stats.halfcauchy.isf(x, mu, s))
    return found + stats.invgauss.entropy(mu, 0.0, s) + stats.fatiguelife.var(s)


def known(x: Any, mu: Any, s: Any, df: Any) -> Any:
    found = stats.t.entropy(df, mu, s) + stats.gamma.entropy(df) + stats.beta.entropy(df, s)
    found += stats.poisson.entropy(df) + stats.nbinom.entropy(df, 0.4) + stats.binom.entropy(5, mu)
    found += stats.weibull_min.var(df, mu, s) + stats.truncnorm.var(-s, df) + stats.f.mean(2.0, df)
    return found + np.sum(stats.invgamma.var(x + df) + stats.lognorm.mean(x))


ARGS = (INNER, 0.4, 1.3, 2.6)


@pytest.mark.full
@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.full)])
def test_derivatives_of_a_likelihood(order: int) -> None:
    check_grads(likelihood, ARGS, order, "rev" if order == 2 else ("fwd", "rev"))


@pytest.mark.full
@pytest.mark.parametrize("fn", [scaled, shaped, cumulated, counted, lasting, known])
def test_derivatives(fn: Any) -> None:
    check_grads(fn, ARGS)
    check_grads(fn, ARGS, order=2, modes="rev")


def edges(x: Any, a: Any) -> Any:
    found = np.sum(stats.expon.logpdf(x, scale=a)) + np.sum(stats.gamma.pdf(x, 1.0, scale=a))
    found += np.sum(np.maximum(stats.lognorm.logpdf(x, a), -50.0))
    return found + np.sum(stats.uniform.pdf(x, 0.0, 2.0 * a)) + np.sum(stats.beta.cdf(x, 2.0, 2.0))


@pytest.mark.full
def test_what_is_outside_of_the_support_counts_for_nothing() -> None:
    """Zero times infinity is no NaN: neither beyond the support nor in a branch not taken."""
    dx, da = adc.grad(edges, argnums=(0, 1))(np.array([-1.0, 0.0, 0.5, 1.2, INF]), 0.9)
    assert dx[0] == 0.0
    assert np.all(np.isfinite(dx))
    assert np.isfinite(da) or da == INF


def fused(y: Any, mu: Any, s: Any) -> Any:
    return np.sum(stats.norm.logpdf(y, mu, s)) + np.sum(stats.poisson.logpmf(COUNTS, mu))


def test_densities_of_arrays_are_one_loop() -> None:
    df = adc.value_and_grad(fused, argnums=(1, 2))
    df(INNER, INNER + 1.0, 0.7)
    source = df.source().partition("def fused_adjoint")[2]
    assert source.count("in vectorizable(") == 1
    assert "empty(" not in source


# --- vectors and matrices -------------------------------------------------------------------------
M = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
V = np.array([0.1, -0.4, 0.7])
MANY = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def normals(x: Any, m: Any, c: Any) -> Any:
    d = stats.multivariate_normal
    return (
        d.logpdf(x, m, c), d(m, cov=c).pdf(x), d.entropy(m, c), d.logpdf(x, m, 0.7),
        d.logpdf(x, cov=c), d.logpdf(x, m, m * m + 1.0), d.pdf(x[0], m[0], 2.0), d.logpdf(x),
    )  # fmt: skip


def students(x: Any, m: Any, c: Any) -> Any:
    d = stats.multivariate_t
    return d.logpdf(x, m, c, 3.5), d(m, c, df=3.5).pdf(x), d.entropy(m, c, df=3.5)


def simplex(x: Any, m: Any, c: Any) -> Any:
    d = stats.dirichlet
    p, a = np.exp(m) / np.sum(np.exp(m)), np.diag(c)
    return (
        d.logpdf(p, a), d(a).pdf(p[:-1]), d.entropy(a), d.mean(a), d.var(a),
        stats.multinomial.logpmf(np.array([1, 0, 3]), 4, p),
        stats.multinomial(5, p).pmf(np.array([[1, 0, 4], [1, 1, 1], [2, 3, 0]])),
        d.logpdf(np.stack((p, p[::-1]), axis=1), a),
    )  # fmt: skip


def matrices(x: Any, m: Any, c: Any) -> Any:
    d = stats.wishart
    w = c @ c + np.outer(m, m)
    both = np.stack((w, c), axis=2)
    return (
        d.logpdf(w, 4.5, c), d(4, c).pdf(w), d.entropy(4.5, c), d.mean(4.5, c), d.var(4.5, c),
        d.logpdf(both, 4.5, c), d.logpdf(c[0, 0], 1.5, c[1, 1]),
    )  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("x", [V, MANY], ids=["one", "many"])
@pytest.mark.parametrize("fn", [normals, students, simplex, matrices])
def test_vectors_and_matrices(fn: Any, x: Any) -> None:
    if x is MANY and fn in (simplex, matrices):
        return
    if x is MANY and fn is normals:
        fn = many_normals
    for each, want in zip(adc.jit(fn, target="python")(x, V, M), fn(x, V, M), strict=True):
        assert np.shape(each) == np.shape(want)
        np.testing.assert_allclose(each, want, rtol=1e-12)


def many_normals(x: Any, m: Any, c: Any) -> Any:
    d = stats.multivariate_normal
    return d.logpdf(x, m, c), d(m, cov=c).pdf(x), d.logpdf(x, m, 0.7), d.logpdf(x, cov=c)


def added(x: Any, m: Any, c: Any) -> Any:
    found = np.sum(stats.multivariate_normal.logpdf(x, m, c)) + stats.dirichlet.entropy(m * m)
    found += np.sum(stats.multivariate_t.logpdf(x, m, c, m[0] ** 2 + 2.0))
    p = np.exp(m) / np.sum(np.exp(m))
    found += stats.dirichlet.logpdf(p, np.diag(c)) + stats.wishart.logpdf(c @ c.T, 4.5 + m[0], c)
    return found + stats.multinomial.logpmf(np.array([1, 0, 3]), 4, p)


def symmetric(x: Any, m: Any, root: Any) -> Any:
    return added(x, m, root @ root.T + np.eye(3))


@pytest.mark.full
def test_derivatives_of_vectors_and_matrices() -> None:
    check_grads(symmetric, (MANY, V, M))
    check_grads(symmetric, (MANY, V, M), order=2, modes="rev")


def split(p: Any) -> Any:
    return stats.multinomial.logpmf(np.array([1, 2, 3]), 6, p)


@pytest.mark.full
def test_the_last_probability_of_a_multinomial_follows_from_the_others() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slope = adc.grad(split)(np.array([0.2, 0.3, 0.5]))
        np.testing.assert_allclose(slope, [1 / 0.2 - 3 / 0.5, 2 / 0.3 - 3 / 0.5, 0.0], rtol=1e-12)
