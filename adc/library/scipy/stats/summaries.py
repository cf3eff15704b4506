"""Summary statistics of `scipy.stats`: means, moments, entropy, correlation, quantiles.

The formulas are SciPy's. An axis along which all values are equal has no spread: what is divided by
it is NaN, as in SciPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # which loads its parts when they are used

from adc.library import Unsupported, stop_gradient


def _omitted(nan_policy: Any) -> None:
    if nan_policy != "propagate":
        raise Unsupported(
            "`scipy.stats` with another `nan_policy` than 'propagate'",
            "leave elements out with a mask, such as `a[np.isfinite(a)]`",
        )


def _floats(a: Any) -> Any:
    found = np.asarray(a)
    return found if found.dtype.kind in "fc" else found.astype(np.float64)


def _average(a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    return np.average(a, axis=axis, weights=weights, keepdims=keepdims)


# --- means ----------------------------------------------------------------------------------------


def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, *,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.gmean`."""
    _omitted(nan_policy)
    a = _floats(a) if dtype is None else np.asarray(a).astype(dtype)
    return np.exp(_average(np.log(a), axis, weights, keepdims))


def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.hmean`."""
    _omitted(nan_policy)
    a = _floats(a) if dtype is None else np.asarray(a).astype(dtype)
    return 1.0 / _average(1.0 / a, axis, weights, keepdims)


def pmean(
    a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.pmean`."""
    _omitted(nan_policy)
    a = _floats(a) if dtype is None else np.asarray(a).astype(dtype)
    if p == 0:
        return np.exp(_average(np.log(a), axis, weights, keepdims))
    return np.float_power(_average(np.float_power(a, p), axis, weights, keepdims), 1.0 / p)


# --- moments --------------------------------------------------------------------------------------


def _spread(a: Any, mean: Any, axis: Any) -> Any:
    """Return the mean square of the distances to the mean; NaN where that is rounding."""
    found = np.mean((a - mean) ** 2, axis=axis, keepdims=True)
    tiny = stop_gradient(found) <= (np.finfo(a.dtype).resolution * stop_gradient(mean)) ** 2
    return np.where(tiny, np.nan, found)


def _without(found: Any, axis: Any, keepdims: Any) -> Any:
    return found if keepdims else np.squeeze(found, axis=axis)


def _axis(a: Any, axis: Any) -> tuple[Any, Any]:
    """Return an array and an axis of it: that of all elements if `axis` is None."""
    return (np.ravel(a), 0) if axis is None else (a, axis)


def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.moment`, of one order."""
    _omitted(nan_policy)
    a, axis = _axis(_floats(a), axis)
    if center is None:
        center = np.mean(a, axis=axis, keepdims=True)
        if order == 1:
            return 0.0 * np.mean(a, axis=axis, keepdims=keepdims)
    return np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


def skew(
    a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.skew`."""
    _omitted(nan_policy)
    a, axis = _axis(_floats(a), axis)
    n, mean = a.shape[axis], np.mean(a, axis=axis, keepdims=True)
    found = np.mean((a - mean) ** 3, axis=axis, keepdims=True) / _spread(a, mean, axis) ** 1.5
    if not bias and n > 2:
        found = ((n - 1.0) * n) ** 0.5 / (n - 2.0) * found
    return _without(found, axis, keepdims)


def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.kurtosis`."""
    _omitted(nan_policy)
    a, axis = _axis(_floats(a), axis)
    n, mean = a.shape[axis], np.mean(a, axis=axis, keepdims=True)
    found = np.mean((a - mean) ** 4, axis=axis, keepdims=True) / _spread(a, mean, axis) ** 2.0
    if not bias and n > 3:
        found = ((n**2 - 1.0) * found - 3.0 * (n - 1.0) ** 2) / (n - 2.0) / (n - 3.0) + 3.0
    return _without(found - 3.0 if fisher else found, axis, keepdims)


def sem(
    a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    """`scipy.stats.sem`."""
    _omitted(nan_policy)
    a, axis = _axis(_floats(a), axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / a.shape[axis] ** 0.5


def variation(
    a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False
) -> Any:
    """`scipy.stats.variation`."""
    _omitted(nan_policy)
    a, axis = _axis(_floats(a), axis)
    spread = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / np.mean(a, axis=axis, keepdims=keepdims)


def zmap(
    scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate"
) -> Any:
    """`scipy.stats.zmap`."""
    _omitted(nan_policy)
    compare = _floats(compare)
    mean = np.mean(compare, axis=axis, keepdims=True)
    spread = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
    first = np.min(stop_gradient(compare), axis=axis, keepdims=True)
    last = np.max(stop_gradient(compare), axis=axis, keepdims=True)
    return (_floats(scores) - mean) / np.where(first == last, np.nan, spread)


def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """`scipy.stats.zscore`."""
    return zmap(a, a, axis, ddof, nan_policy)


# --- entropy --------------------------------------------------------------------------------------


def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.entropy`: of one distribution, or of one relative to another."""
    _omitted(nan_policy)
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    pk = _floats(pk)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        terms = scipy.special.entr(pk)
    else:
        qk = _floats(qk)
        terms = scipy.special.rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True))
    found = np.sum(terms, axis=axis, keepdims=keepdims)
    return found if base is None else found / np.log(base)


# --- two variables --------------------------------------------------------------------------------


class PearsonRResult(NamedTuple):
    """What `scipy.stats.pearsonr` returns."""

    statistic: Any
    pvalue: Any


class LinregressResult(NamedTuple):
    """What `scipy.stats.linregress` returns."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def _vectors(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = _floats(x), _floats(y)
    if x.ndim != 1 or y.ndim != 1:
        raise Unsupported("`scipy.stats` of arrays with several axes here", "loop over the rows")
    if len(x) != len(y):
        raise ValueError("x and y must have the same length along `axis`.")
    return x, y


def pearsonr(x: Any, y: Any) -> Any:
    """`scipy.stats.pearsonr` of two vectors, against the hypothesis that they are unrelated."""
    x, y = _vectors(x, y)
    n = len(x)
    if n < 2:
        raise ValueError("`x` and `y` must have length at least 2.")
    dx, dy = x - np.mean(x), y - np.mean(y)
    r = np.sum(dx / np.sqrt(np.sum(dx * dx)) * (dy / np.sqrt(np.sum(dy * dy))))
    r = min(max(r, -1.0), 1.0)
    if n == 2:
        return PearsonRResult(r, 1.0)
    half = n / 2 - 1
    return PearsonRResult(r, 2.0 * scipy.special.betainc(half, half, 0.5 * (1.0 - abs(r))))


def linregress(x: Any, y: Any) -> Any:
    """`scipy.stats.linregress` of two vectors."""
    x, y = _vectors(x, y)
    n = len(x)
    if n < 3:
        raise Unsupported("`scipy.stats.linregress` of fewer than three points", "use a formula")
    dx, dy = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(dx * dx), np.mean(dx * dy), np.mean(dy * dy)
    r = min(max(xy / np.sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else 0.0
    slope = xy / xx
    free = n - 2
    t2 = free * r * r / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20))
    pvalue = scipy.special.betainc(0.5 * free, 0.5, free / (free + t2))
    stderr = np.sqrt((1.0 - r * r) * yy / xx / free)
    return LinregressResult(slope, np.mean(y) - slope * np.mean(x), r, pvalue, stderr)


# --- quantiles ------------------------------------------------------------------------------------


def mquantiles(
    a: Any, prob: Any = (0.25, 0.5, 0.75), alphap: Any = 0.4, betap: Any = 0.4, axis: Any = None,
    limit: Any = (),
) -> Any:  # fmt: skip
    """`scipy.stats.mstats.mquantiles`, where its result is no masked array."""
    name = "`scipy.stats.mstats.mquantiles`"
    if axis is not None:
        raise Unsupported(f"{name} with `axis`, which returns a masked array,", "call it in a loop")
    if len(limit) > 0:
        raise Unsupported(f"{name} with `limit`", "select elements: `a[(low < a) & (a < high)]`")
    data, p = np.asarray(a), np.atleast_1d(np.asarray(prob))
    if data.ndim > 2:
        raise TypeError("Array should be 2D at most !")
    if p.ndim > 1:
        raise Unsupported(f"{name} of a matrix of probabilities", "pass a vector")
    x = np.sort(np.ravel(data))
    n = len(x)
    if n < 2:
        raise Unsupported(f"{name} of one number, which returns a masked array,", "use the number")
    at = n * p + (alphap + p * (1.0 - alphap - betap))
    k = np.floor(np.clip(at, 1, n - 1)).astype(int)
    gamma = np.clip(at - k, 0, 1)
    return (1.0 - gamma) * x[k - 1] + gamma * x[k]


__all__ = [
    "entropy", "gmean", "hmean", "kurtosis", "linregress", "moment", "pearsonr", "pmean", "sem",
    "skew", "variation", "zmap", "zscore",
]  # fmt: skip
