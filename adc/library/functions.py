"""NumPy functions that are a few lines in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def _inexact(a: Any) -> Any:
    """Return floats and complex numbers as they are, anything else as float64."""
    return a if a.dtype.kind == "f" or np.iscomplexobj(a) else a.astype(np.float64)


def average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """`np.average`."""
    if weights is None:
        plain = np.mean(a, axis=axis, keepdims=keepdims)
        if np.size(plain) == 0:
            raise ZeroDivisionError("division by zero")
        return plain
    same = a.ndim == weights.ndim
    for k in range(min(a.ndim, weights.ndim)):
        if a.shape[k] != weights.shape[k]:
            same = False
    w = weights
    if not same:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1:
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
        if weights.shape[0] != a.shape[axis]:
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
    if a.ndim != weights.ndim:
        w = _along(weights, a.ndim, axis)
    product = _inexact(a) * w
    scale = np.sum(w, axis=axis, dtype=product.dtype, keepdims=keepdims)
    if np.any(scale == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return np.sum(product, axis=axis, keepdims=keepdims) / scale


def _along(v: Any, rank: int, axis: Any) -> Any:
    """Return a vector as an array of so many axes, all but one of size 1."""
    if axis is None or v.ndim != 1:
        return v
    at = axis % rank
    return np.expand_dims(v, tuple([k for k in range(rank) if k != at]))


def first_most(v: Any) -> Any:
    """Python's `max` of an array: a NaN counts only where it comes first."""
    found = np.max(v)
    if np.isnan(found):
        found = v[0]
        for x in v:
            if x > found:
                found = x
    return found


def first_least(v: Any) -> Any:
    """Python's `min` of an array: a NaN counts only where it comes first."""
    found = np.min(v)
    if np.isnan(found):
        found = v[0]
        for x in v:
            if x < found:
                found = x
    return found


def least_by(items: Any, key: Any) -> Any:
    """Python's `min` with a key."""
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    least = key(best)
    for k in range(1, len(items)):
        value = key(items[k])
        if value < least:
            best = items[k]
            least = value
    return best


def most_by(items: Any, key: Any) -> Any:
    """Python's `max` with a key."""
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    most = key(best)
    for k in range(1, len(items)):
        value = key(items[k])
        if value > most:
            best = items[k]
            most = value
    return best


def least(items: Any) -> Any:
    """Python's `min` of tuples and objects."""
    return least_by(items, _itself)


def most(items: Any) -> Any:
    """Python's `max` of tuples and objects."""
    return most_by(items, _itself)


def _itself(item: Any) -> Any:
    return item


def sorted_by(items: Any, key: Any, backwards: Any) -> Any:
    """Python's `sorted` with a key."""
    listed = [item for item in items]  # `items` may be anything to loop over
    return in_order(listed, [key(item) for item in listed], backwards)


def in_order(items: Any, keys: Any, backwards: Any) -> Any:
    """Python's `sorted` of what has these keys: the order of equals is kept."""
    if len(keys) > 1 and isinstance(keys[0], np.ndarray) and keys[0].size != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. "
            "Use a.any() or a.all()"
        )
    keys = np.array(keys)
    if keys.ndim > 2:
        raise Unsupported(
            "`sorted` by keys known only at run time that are neither numbers nor tuples of them",
            "use `np.lexsort` of arrays of the keys",
        )
    require_order(keys)
    if keys.ndim == 2:  # tuples
        if keys.dtype.kind == "f" and np.any(np.abs(keys) >= 2.0**53):
            raise Unsupported("`sorted` of tuples with numbers as large", "use `np.lexsort`")
        columns = [keys[:, k] for k in range(keys.shape[1])]
    else:
        columns = [keys]
    if backwards:
        order = len(keys) - 1 - np.lexsort([column[::-1] for column in columns[::-1]])[::-1]
    else:
        order = np.lexsort(columns[::-1])
    return [items[k] for k in order]


def by_comparison(items: Any, keys: Any, backwards: Any) -> Any:
    """Python's `sorted` of what has these objects as keys, by their `<`."""
    order = []
    for k in range(len(keys)):
        at = k
        order.append(k)
        while at > 0 and _is_before(keys[k], keys[order[at - 1]], backwards):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    for k in range(len(order)):
        for j in range(k):
            if _is_before(keys[order[k]], keys[order[j]], backwards):
                raise Unsupported("`sorted` by a `<` that is no order", "sort by numbers")
    return [items[k] for k in order]


def _is_before(one: Any, other: Any, backwards: Any) -> Any:
    return other < one if backwards else one < other


def require_order(keys: Any) -> None:
    """Refuse NaN: where Python's `sorted` leaves it depends on which elements that compares."""
    if np.issubdtype(keys.dtype, np.floating) and np.any(np.isnan(keys)):
        raise Unsupported("`sorted` of NaN", "use `np.sort` or `np.argsort`, which put it last")


def listed_rows(a: Any) -> Any:
    """`ndarray.tolist` of a matrix, or of more axes."""
    return [row.tolist() for row in a]


def listed_floats(a: Any) -> Any:
    """`ndarray.tolist` of a vector."""
    return [float(v) for v in a]


def listed_integers(a: Any) -> Any:
    """`ndarray.tolist` of a vector."""
    return [int(v) for v in a]


def listed_flags(a: Any) -> Any:
    """`ndarray.tolist` of a vector."""
    return [bool(v) for v in a]


def listed_complex(a: Any) -> Any:
    """`ndarray.tolist` of a vector."""
    return [complex(v) for v in a]


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`np.append`."""
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis=axis)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """`np.cross` of vectors of three."""
    x = np.moveaxis(a, axisa if axis is None else axis, -1)
    y = np.moveaxis(b, axisb if axis is None else axis, -1)
    if x.shape[-1] == 2 or y.shape[-1] == 2:
        raise Unsupported("`np.cross` of vectors of two", "write `a[0] * b[1] - a[1] * b[0]`")
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    found = np.stack(
        (
            x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1],
            x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2],
            x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0],
        ),
        axis=-1,
    )
    if found.ndim == 1:
        return found
    return np.moveaxis(found, -1, axisc if axis is None else axis)


def kron(a: Any, b: Any) -> Any:
    """`np.kron`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(np.asarray(a), np.asarray(b))
    if a.ndim == 1 and b.ndim == 1:
        return np.outer(a, b).reshape(-1)
    x = a[None, :] if a.ndim == 1 else a
    y = b[None, :] if b.ndim == 1 else b
    if x.ndim == 2 and y.ndim == 2:
        product = x[:, None, :, None] * y[None, :, None, :]
        return product.reshape(x.shape[0] * y.shape[0], x.shape[1] * y.shape[1])
    rank = max(x.ndim, y.ndim)
    x = x.reshape((1,) * (rank - x.ndim) + x.shape)
    y = y.reshape((1,) * (rank - y.ndim) + y.shape)
    rows = x.reshape(tuple([1 if k % 2 else x.shape[k // 2] for k in range(2 * rank)]))
    columns = y.reshape(tuple([y.shape[k // 2] if k % 2 else 1 for k in range(2 * rank)]))
    return (rows * columns).reshape(tuple([x.shape[k] * y.shape[k] for k in range(rank)]))


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient`: an array for one axis, a tuple of them for several."""
    if isinstance(axis, tuple):
        axes = axis
    elif axis is None:
        axes = tuple([k for k in range(f.ndim)])
    else:
        axes = (axis,)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    # Differences of unsigned integers, and of small ones, would wrap around.
    x = f if f.dtype == np.bool_ else _inexact(f)
    if len(varargs) == 0:
        found = tuple([_gradient(x, 1.0, k, edge_order) for k in axes])
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        found = tuple([_gradient(x, varargs[0], k, edge_order) for k in axes])
    elif len(varargs) == len(axes):
        found = tuple([_gradient(x, varargs[k], axes[k], edge_order) for k in range(len(axes))])
    else:
        raise TypeError("invalid number of arguments")
    return found[0] if len(axes) == 1 else found


def _gradient(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """Return the derivative along one axis: `spacing` is a number, or has coordinates."""
    x = np.moveaxis(f, axis, 0)
    n = x.shape[0]
    if np.ndim(spacing) == 0:
        if n < edge_order + 1:
            raise ValueError(_TOO_SMALL)
        return np.moveaxis(_evenly(x, spacing, edge_order), 0, axis)
    at = np.asarray(spacing)
    if at.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(at) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    h = np.diff(at if at.dtype == np.bool_ else _inexact(at))
    even = np.all(h == h[0])
    if n < edge_order + 1:
        raise ValueError(_TOO_SMALL)
    if even:
        return np.moveaxis(_evenly(x, h[0], edge_order), 0, axis)
    return np.moveaxis(_unevenly(x, h, edge_order), 0, axis)


_TOO_SMALL = (
    "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
    "elements are required."
)


def _evenly(x: Any, h: Any, edge_order: int) -> Any:
    out = np.empty(x.shape, x.dtype)
    out[1:-1] = (x[2:] - x[:-2]) / (2.0 * h)
    if edge_order == 1:
        out[0] = (x[1] - x[0]) / h
        out[-1] = (x[-1] - x[-2]) / h
    else:
        out[0] = -1.5 / h * x[0] + 2.0 / h * x[1] + -0.5 / h * x[2]
        out[-1] = 0.5 / h * x[-3] + -2.0 / h * x[-2] + 1.5 / h * x[-1]
    return out


def _unevenly(x: Any, h: Any, edge_order: int) -> Any:
    out = np.empty(x.shape, x.dtype)
    left, right = h[:-1], h[1:]
    a = _along(-right / (left * (left + right)), x.ndim, 0)
    b = _along((right - left) / (left * right), x.ndim, 0)
    c = _along(left / (right * (left + right)), x.ndim, 0)
    out[1:-1] = a * x[:-2] + b * x[1:-1] + c * x[2:]
    if edge_order == 1:
        out[0] = (x[1] - x[0]) / h[0]
        out[-1] = (x[-1] - x[-2]) / h[-1]
    else:
        p, q = h[0], h[1]
        out[0] = (
            -(2.0 * p + q) / (p * (p + q)) * x[0]
            + (p + q) / (p * q) * x[1]
            + -p / (q * (p + q)) * x[2]
        )
        p, q = h[-2], h[-1]
        out[-1] = (
            q / (p * (p + q)) * x[-3]
            + -(q + p) / (p * q) * x[-2]
            + (2.0 * q + p) / (q * (p + q)) * x[-1]
        )
    return out


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`np.trapezoid`."""
    z = np.moveaxis(y, axis, -1)
    if x is None:
        return np.sum(dx * (z[..., 1:] + z[..., :-1]) / 2.0, axis=-1)
    at = x if x.ndim == 1 else np.moveaxis(x, axis, -1)
    return np.sum(np.diff(at) * (z[..., 1:] + z[..., :-1]) / 2.0, axis=-1)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """`np.interp`."""
    if period is not None:
        return _periodic(x, xp, fp, period)
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if np.iscomplexobj(fp):
        low = (None, None) if left is None else (np.real(left), np.imag(left))
        high = (None, None) if right is None else (np.real(right), np.imag(right))
        re = interp(x, xp, fp.real, low[0], high[0])
        return re + 1j * interp(x, xp, fp.imag, low[1], high[1])
    if np.ndim(x) == 0:
        return _interpolated(x, xp, fp, left, right)
    flat = x.reshape(-1)
    out = np.empty(len(flat), np.float64)
    for i in range(len(flat)):
        out[i] = _interpolated(flat[i], xp, fp, left, right)
    return out.reshape(x.shape)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """Interpolate a function that repeats itself."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    length = np.float64(abs(period))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    places = xp % length
    order = np.argsort(places, kind="stable")
    at, values = places[order], fp[order]
    at = np.concatenate((at[-1:] - length, at, at[:1] + length))
    values = np.concatenate((values[-1:], values, values[:1]))
    return interp(x % length, at, values)


def _interpolated(at: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    x = np.float64(at)
    n = len(xp)
    k = np.searchsorted(xp, x, "right")
    if np.isnan(x):
        found = np.float64(fp[0]) if n == 1 else x
    elif k == 0:
        found = np.float64(fp[0] if left is None else left)
    elif x > xp[n - 1]:
        found = np.float64(fp[n - 1] if right is None else right)
    elif x == xp[k - 1]:
        found = np.float64(fp[k - 1])  # not an infinite slope times zero
    else:
        low, high = np.float64(fp[k - 1]), np.float64(fp[k])
        a, b = np.float64(xp[k - 1]), np.float64(xp[k])
        slope = (high - low) / (b - a)
        found = slope * (x - a) + low
        if np.isnan(found):  # an end may be infinite
            found = slope * (x - b) + high
            if np.isnan(found) and low == high:
                found = low
    return found


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`np.isclose`."""
    b = b * 1.0  # differences of integers would wrap around
    near = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)
    if equal_nan:
        return near | (np.isnan(a) & np.isnan(b))
    return near


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`np.allclose`."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


BAD_MODE = "Use one of 'valid', 'same', or 'full' for convolve/correlate mode"


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(BAD_MODE)
    if len(a) < len(v):
        return convolve(v, a, mode)
    n, m = len(a), len(v)
    if m == 0:
        raise ValueError("v cannot be empty")
    full = np.zeros(n + m - 1, (a[:1] * v[:1]).dtype)
    for j in range(m):
        full[j : j + n] += a * v[j]
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n]
    return full[m - 1 : n]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`: an array of values is repeated."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    count = a.shape[0]
    if a.ndim == 2:
        columns = a.shape[1]
        # With `wrap`, of a tall matrix: every so many elements, whatever the row.
        count = (a.size + columns) // (columns + 1) if wrap else min(count, columns)
    else:
        for axis in range(1, a.ndim):
            if a.shape[axis] != count:
                raise ValueError("All dimensions of input must be of equal length")
    repeated = isinstance(val, np.ndarray)
    values = np.ravel(val) if repeated else val
    for k in range(count):
        value = values[k % values.size] if repeated else values
        if a.ndim == 2 and wrap:
            a[k * (columns + 1) // columns, k * (columns + 1) % columns] = value
        else:
            a[(k,) * a.ndim] = value


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """`np.vander`: the powers of numbers, by products."""
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = len(x) if N is None else N
    dtype = np.promote_types(x.dtype, int)
    found = np.empty((len(x), count), dtype)
    base = x.astype(dtype)
    power = np.ones(len(x), dtype)
    for k in range(count):
        found[:, k if increasing else count - 1 - k] = power
        power = power * base
    return found


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None
) -> Any:
    """`np.logspace`."""
    found = np.power(base, np.linspace(start, stop, num, endpoint))
    return found if dtype is None else found.astype(dtype)


def array_equal(a: Any, b: Any) -> Any:
    """`np.array_equal`."""
    if a.ndim != b.ndim:
        return False
    same = True
    for k in range(a.ndim):
        if a.shape[k] != b.shape[k]:
            same = False
    if same:
        same = bool(np.all(a.reshape(-1) == b.reshape(-1)))
    return same


def quantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """`np.quantile`, by the methods that interpolate and those that choose a sample."""
    real_samples(a)
    return _quantile(a, points_in(q, 1), axis, keepdims, method)


def percentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """`np.percentile`, as `quantile`."""
    real_samples(a)
    return _quantile(a, points_in(q, 100) / 100, axis, keepdims, method)


def points_in(q: Any, most: int) -> Any:
    """Return a number, or an array of numbers, up to `most`: quantiles that are asked for."""
    points = q if np.ndim(q) == 0 else np.asarray(q)
    if not np.all((points >= 0) & (points <= most)):
        if most == 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        raise ValueError("Percentiles must be in the range [0, 100]")
    return points


def real_samples(a: Any) -> None:
    """Raise unless samples, whose quantiles are asked for, are real numbers."""
    if np.iscomplexobj(a):
        raise TypeError("a must be an array of real numbers")


# Where a quantile lies between samples (R. J. Hyndman, Y. Fan, Sample quantiles in statistical
# packages, Am. Stat. 50, 1996): at ``n q + a + q (1 - a - b) - 1``.
_INTERPOLATED = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0), "normal_unbiased": (3.0 / 8.0, 3.0 / 8.0),
}  # fmt: skip
# Methods whose quantile is a sample, of the samples' dtype.
CHOOSING = ("lower", "higher", "nearest")


def require_method(method: str) -> None:
    """Refuse a method of quantiles that there is not."""
    if method not in ("linear", "midpoint", *_INTERPOLATED, *CHOOSING):
        raise Unsupported("a quantile by this method", "leave out `method`, or choose 'hazen'")


def _quantile(a: Any, q: Any, axis: Any, keepdims: bool, method: str = "linear") -> Any:
    require_method(method)
    s = np.sort(a, axis=axis)
    rows = s if axis is None else np.moveaxis(s, axis, 0)
    if rows.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    found = at_points(lambda p: _between_samples(a, rows, p, method), q)
    if not keepdims:
        return found
    if axis is None:
        return np.reshape(found, (*np.shape(q), *(1,) * a.ndim))
    return np.expand_dims(found, axis + np.ndim(q) if axis >= 0 else axis)


def at_points(fn: Any, q: Any) -> Any:
    """Return a function at a point, or at each of several, whose axes come first."""
    if np.ndim(q) == 0:
        return fn(q)
    flat = q.reshape(-1)
    first = np.asarray(fn(flat[0] if flat.size > 0 else flat.dtype.type(0)))
    found = np.empty((flat.size, *first.shape), first.dtype)
    for k in range(flat.size):
        found[k] = fn(flat[k])
    return found.reshape((*q.shape, *first.shape))


def _between_samples(a: Any, rows: Any, q: Any, method: str) -> Any:
    n = rows.shape[0]
    place = (n - 1) * q
    if method in _INTERPOLATED:
        alpha, beta = _INTERPOLATED[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
    last = rows[n - 1]
    if method in CHOOSING:
        rounded = np.rint(place)
        if method != "nearest":
            rounded = np.floor(place) if method == "lower" else np.ceil(place)
        found = rows[int(rounded)]
        return np.where(np.isnan(last), last, found) if a.dtype.kind == "f" else found
    low = min(max(int(np.floor(place)), 0), n - 1)
    high = min(low + 1, n - 1)
    t = place - low
    if place < 0:
        t = 0 * t
    if method == "midpoint":
        t = 0 * t + (0.5 if t > 0 else 0.0)
    # From the nearer end, as NumPy does: elsewhere it matters to the last bit.
    difference = rows[high] - rows[low]
    if t >= 0.5 or low == n - 1:
        found = rows[high] - difference * (1 - t)
    else:
        found = rows[low] + difference * t
    if a.dtype.kind == "f":
        found = np.where(np.isnan(last), last, found)
    return found


def matrix_power(a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`."""
    if n < 0:
        return _power(np.linalg.inv(a), -n)
    if n == 1:
        return a  # NumPy: the very array
    return _power(a, n)


def _power(a: Any, n: int) -> Any:
    result = np.eye(a.shape[0], dtype=a.dtype)
    for _k in range(n):
        result = result @ a
    return result
