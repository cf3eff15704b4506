"""Summary statistics of `scipy.stats` in differentiated functions: values and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adc
from adc.ir.errors import UnsupportedError
from tests.unit.library.scipy.cases import check

RNG = np.random.default_rng(0)
A, B = RNG.gamma(2.0, 1.0, size=(2, 7, 3))
W = RNG.uniform(size=(7, 3))


def entropies(a: Any, b: Any) -> Any:
    own = np.sum(stats.entropy(a)) + stats.entropy(a[:, 0], b[:, 1])
    return own + np.sum(stats.entropy(a, b, base=2, axis=1) * W[:, 0])


def means(a: Any, b: Any) -> Any:
    return (
        np.sum(stats.gmean(a) * W[0]) + np.sum(stats.gmean(a, axis=1, weights=W) * W[:, 0])
        + stats.gmean(a, axis=None) + np.sum(stats.hmean(b) * W[1])
        + np.sum(stats.hmean(b, axis=1, weights=W)) + np.sum(stats.pmean(a, 2.5) * W[2])
        + np.sum(stats.pmean(b, -1, axis=1, keepdims=True) * W) + stats.pmean(a[0], 0)
    )  # fmt: skip


def moments(a: Any, b: Any) -> Any:
    return (
        np.sum(stats.moment(a, 3) * W[0]) + stats.moment(a[:, 0], 2) + stats.moment(b, 4, axis=None)
        + np.sum(stats.moment(a, 1)) + stats.moment(a[0], 2, center=0.5)
        + np.sum(stats.skew(a) * W[0]) + np.sum(stats.skew(a, axis=1, bias=False) * W[:, 0])
        + stats.skew(b, axis=None) + np.sum(stats.kurtosis(a) * W[1])
        + np.sum(stats.kurtosis(b, bias=False, keepdims=True) * W)
        + stats.kurtosis(b, axis=None, fisher=False)
    )  # fmt: skip


def spreads(a: Any, b: Any) -> Any:
    return (
        np.sum(stats.sem(a) * W[0]) + stats.sem(b, axis=None, ddof=0)
        + np.sum(stats.variation(a, axis=1, ddof=1) * W[:, 0]) + np.sum(stats.zscore(a) * b)
        + np.sum(stats.zscore(b, axis=1, ddof=1) * W) + np.sum(stats.zmap(a, b) * W)
        + np.sum(stats.zscore(a, axis=None) * W)
    )  # fmt: skip


def related(a: Any, b: Any) -> Any:
    line = stats.linregress(a[:, 1], b[:, 2])
    slope, intercept, rvalue, pvalue, stderr = line
    found = stats.pearsonr(a[:, 0], b[:, 0])
    return (
        found[0] + found.statistic * stats.pearsonr(a[:, 1], b[:, 1]).pvalue + line.slope * slope
        + intercept * 0.3 + rvalue * pvalue + stderr
    )  # fmt: skip


def quantiles(a: Any, b: Any) -> Any:
    p = 0.3 + 0.01 * b[0]
    return (
        np.sum(stats.mstats.mquantiles(a) * W[0]) + stats.mstats.mquantiles(b[1], 0.37)[0]
        + np.sum(stats.mstats.mquantiles(a[:, 0], p, 0, betap=1) * W[1])
        + np.sum(stats.mstats.mquantiles(a, [0.0, 1.0], 0.5, 0.5))
    )  # fmt: skip


def values(fn: Callable[[], Any]) -> Any:
    """Return what a function of captured arrays returns when adc computes it."""
    return adc.jvp(lambda s: tuple(s * each for each in fn()), (1.0,), (0.0,), target="python")[0]


LONG = [pytest.param(fn, marks=pytest.mark.full) for fn in (means, moments, spreads, quantiles)]


@pytest.mark.parametrize("fn", [entropies, related, *LONG])
def test_values_and_derivatives(fn: Callable[..., Any]) -> None:
    check(fn, (A, B))


def test_a_column_without_spread_is_nan_as_in_scipy() -> None:
    flat = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 7.0]])

    def columns() -> Any:
        return stats.zscore(flat), stats.skew(flat), stats.kurtosis(flat)

    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        want = columns()
    for one, other in zip(values(columns), want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_other_dtypes(dtype: str) -> None:
    a = (A * 5 + 1).astype(dtype)

    def found() -> Any:
        return stats.gmean(a), stats.skew(a), stats.zscore(a), stats.entropy(a), stats.sem(a)

    for one, other in zip(values(found), found(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4 if dtype == "f4" else 1e-13, atol=1e-6)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def test_refused() -> None:
    with pytest.raises(UnsupportedError, match="masked array"):
        adc.grad(lambda a: np.sum(stats.mstats.mquantiles(a, axis=0)))(A)
    with pytest.raises(UnsupportedError, match="`limit`"):
        adc.grad(lambda a: np.sum(stats.mstats.mquantiles(a, limit=(0, 1))))(A)
    with pytest.raises(UnsupportedError, match="nan_policy"):
        adc.grad(lambda a: stats.entropy(a, nan_policy="omit"))(A[0])
    with pytest.raises(UnsupportedError, match="several axes"):
        adc.grad(lambda a: stats.pearsonr(a, a)[0][0])(A)
    with pytest.raises(ValueError, match="positive number"):
        adc.grad(lambda a: stats.entropy(a, base=-1.0))(A[0])
    with pytest.raises(ValueError, match="same length"):
        adc.grad(lambda a: stats.linregress(a, a[1:]).slope)(A[0])
