"""SciPy's distributions as objects: with fixed parameters, captured, passed; what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adc
from adc.ir.errors import NotDifferentiableError, TypeMismatchError, UnsupportedError
from adc.testing import check_grads

X = np.linspace(0.1, 2.0, 5)
CENTRES = np.arange(5.0)
prior = stats.norm(CENTRES, scale=2.0)
rates = stats.gamma(2.0, scale=3.0)
joint = stats.multivariate_normal(CENTRES, np.diag(CENTRES + 1.0))
heavy = stats.multivariate_t(CENTRES, np.diag(CENTRES + 1.0), df=5)
parts = stats.dirichlet([1.0, 2.0, 3.0])
spread = stats.wishart(4, np.eye(2))
priors = [stats.norm(0.0, 1.0), stats.gamma(2.0)]


def posterior(x: Any) -> Any:
    local = stats.norm(x[0], scale=x[1] + 1.0)
    found = np.sum(prior.logpdf(x)) + np.sum(rates.logpdf(x)) + rates.mean() * x[0]
    found += np.sum(local.logpdf(X)) + local.mean() * local.std() + local.entropy()
    same = prior
    for each in priors:
        found += np.sum(each.logpdf(x)) * same.logpdf(0.5)[0]
    chosen = stats.norm(x[0], x[1]) if x[0] > 0.0 else stats.norm(x[1], x[0])
    return found + chosen.logpdf(0.3)


def multivariate(x: Any) -> Any:
    found = joint.logpdf(x) + heavy.logpdf(x) + parts.logpdf(x[:3] / np.sum(x[:3]))
    return found + spread.logpdf(np.outer(x[:2], x[:2]) + np.eye(2))


@pytest.mark.full
def test_distributions_with_fixed_parameters() -> None:
    df = adc.value_and_grad(posterior, target="python")
    assert df(X)[0] == pytest.approx(posterior(X), rel=1e-13)
    assert adc.jit(multivariate, target="python")(X) == pytest.approx(multivariate(X), rel=1e-13)


def made(s: Any) -> Any:
    return stats.norm(scale=s), stats.gamma(2.0), s


def test_distributions_as_results() -> None:
    normal, gamma, s = adc.jit(made, target="python")(2.0)
    assert normal.logpdf(0.3) == stats.norm.logpdf(0.3, scale=s)
    assert gamma.cdf(0.3) == stats.gamma.cdf(0.3, 2.0)


def captured(x: Any) -> Any:
    return np.sum(prior.logpdf(x))


def test_parameters_of_captured_distributions_are_read_at_every_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = adc.jit(captured, target="python")
    assert f(X) == pytest.approx(captured(X), rel=1e-13)
    CENTRES[0] = 9.0
    assert f(X) == pytest.approx(captured(X), rel=1e-13)
    CENTRES[0] = 0.0
    for other in (stats.norm(0.0, 1.0), stats.norm(0.0, 3.0), stats.expon(scale=2.0)):
        monkeypatch.setitem(globals(), "prior", other)
        assert f(X) == pytest.approx(captured(X), rel=1e-13)
    prior.kwds["scale"] = 4.0
    assert f(X) == pytest.approx(captured(X), rel=1e-13)


def passed(x: Any, d: Any) -> Any:
    return np.sum(d.logpdf(x))


def test_distributions_as_arguments() -> None:
    f = adc.jit(passed, target="python")
    for d in (stats.norm, stats.expon, stats.norm(0.0, 2.0)):
        assert f(X, d) == pytest.approx(passed(X, d), rel=1e-13)
    with pytest.raises(UnsupportedError, match="arrays as parameters") as caught:
        f(X, stats.norm(CENTRES, 1.0))
    assert "global name" in str(caught.value)


def lenient(x: Any) -> Any:
    cov = np.diag(x**2) + 0.1
    found = stats.multivariate_normal.logpdf(x, cov=cov, allow_singular=True)
    found += stats.multivariate_t.pdf(x, 2.0 * x, cov, 3.0, True)
    return found + stats.multivariate_normal.pdf(x, x - 1.0, x**2, True)


@pytest.mark.full
def test_singular_covariances_are_allowed_where_there_are_none() -> None:
    assert adc.jit(lenient, target="python")(X) == pytest.approx(lenient(X), rel=1e-13)
    check_grads(lenient, (X,))
    singular = adc.jit(
        lambda x: stats.multivariate_normal.logpdf(x, x, np.outer(x, x), True), target="python"
    )
    with pytest.raises(ValueError, match="a singular covariance"):
        singular(X)


# A program, the error, what the message says, and the hint.
REFUSED: list[tuple[Callable[[Any], Any], Any, str, str]] = [
    (lambda x: np.sum(stats.norm.rvs(x)), UnsupportedError, "`scipy.stats.norm.rvs`", "Generator"),
    (lambda x: stats.norm(x[0], 1.0).rvs(), UnsupportedError, "`scipy.stats.norm.rvs`", "Genera"),
    (lambda x: stats.norm.fit(x)[0], UnsupportedError, "`scipy.stats.norm.fit`", "sum of `logpdf`"),
    (lambda x: np.sum(stats.zipf.pmf(x, 2.0)), UnsupportedError, "`scipy.stats.zipf.pmf`", "lists"),
    (lambda x: stats.norm(x[0]).interval(0.9)[0], UnsupportedError, "norm.interval`", "`ppf`"),
    (lambda x: stats.vonmises.ppf(0.3, x[0]), UnsupportedError, "`scipy.stats.vonmises.ppf`", ""),
    (lambda x: stats.skewnorm.entropy(x[0]), UnsupportedError, "skewnorm.entropy`", ""),
    (lambda x: np.sum(stats.rankdata(x)), UnsupportedError, "`scipy.stats.rankdata`", "lists"),
    (
        lambda x: stats.multivariate_normal.cdf(x, x), UnsupportedError,
        "`scipy.stats.multivariate_normal.cdf`", "integrate",
    ),
    (
        lambda x: stats.multivariate_normal.logpdf(x, cov=x), UnsupportedError,
        "a vector of variances", "np.zeros",
    ),
    (lambda x: stats.wishart.logpdf(x, 7.0, np.eye(5)), UnsupportedError, "a vector", "np.diag"),
    (lambda x: np.sum(stats.gamma.cdf(x, x[0])), NotDifferentiableError, "shape `a`", ""),
    (lambda x: np.sum(stats.binom.pmf(2, x[0], 0.3)), NotDifferentiableError, "a count", ""),
    (lambda x: np.sum(stats.gamma.logpdf(x)), TypeMismatchError, "missing the argument 'a'", ""),
    (lambda x: np.sum(stats.norm.logpdf(x, "a")), TypeMismatchError, "`scipy.stats.norm.logp", ""),
    (lambda x: np.sum(stats.norm.pdf(x * 1j)), TypeMismatchError, "complex numbers", ""),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "kind", "message", "hint"), REFUSED)
def test_refused(fn: Callable[[Any], Any], kind: Any, message: str, hint: str) -> None:
    with pytest.raises(kind) as caught:
        adc.grad(fn, cache=False)(X)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def wrong_size(x: Any) -> Any:
    return stats.multivariate_normal.logpdf(x, x[:2])


def indefinite(x: Any) -> Any:
    return stats.multivariate_normal.logpdf(x[:2], x[:2], np.array([[1.0, 2.0], [2.0, 1.0]]))


def off_simplex(x: Any) -> Any:
    return stats.dirichlet.logpdf(x, x)


@pytest.mark.parametrize(
    ("fn", "message"),
    [(wrong_size, "the last axis"), (indefinite, "ositive definite"), (off_simplex, "smaller or")],
)
def test_what_scipy_raises_is_raised(fn: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fn(X)
    with pytest.raises(ValueError, match=message):
        adc.jit(fn, target="python")(X)
