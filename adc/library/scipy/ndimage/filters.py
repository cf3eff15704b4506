"""`scipy.ndimage`: correlations and convolutions.

An array is extended at its ends as the boundary mode says. Each element of a kernel then takes one
pass over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported

_BAD_ORIGIN = (
    "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
)


# --- what all of them share -----------------------------------------------------------------------


def _type_of(output: Any, x: Any, of_complex: Any) -> Any:
    """Return the type of a result."""
    if output is None:
        kind = np.result_type(x, np.complex64) if of_complex else x.dtype
    elif isinstance(output, np.ndarray):
        kind = output.dtype
    else:
        kind = np.dtype(output)
    if kind.kind not in "fc":
        raise Unsupported(
            "a filter of `scipy.ndimage` whose result has integers, which SciPy truncates,",
            "convert the array with `.astype(float)`, or pass `output=float`",
        )
    if of_complex and kind.kind != "c":
        raise RuntimeError("output must have complex dtype")
    return kind


def _put(found: Any, output: Any) -> Any:
    """Return a result, in the array that was given for it."""
    if isinstance(output, np.ndarray):
        if output.shape != found.shape:
            raise RuntimeError("output shape not correct")
        output[...] = found
        return output
    return found


def _each(value: Any, count: Any) -> Any:
    """Return a value for each axis."""
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0:
        if len(value) != count:
            raise RuntimeError("sequence argument must have length equal to input rank")
        return [value[k] for k in range(count)]
    return [value for _ in range(count)]


def _modes(mode: Any, count: Any) -> Any:
    if isinstance(mode, str):
        return [mode for _ in range(count)]
    if len(mode) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return [mode[k] for k in range(count)]


def _axes(axes: Any, rank: Any) -> Any:
    if axes is None:
        return tuple(range(rank))
    if isinstance(axes, (list, tuple)):
        found = tuple([k % rank for k in axes])
        if len(set(found)) != len(found):
            raise ValueError("axes must be unique")
        return found
    return (axes % rank,)


def _source(k: Any, n: Any, mode: Any) -> Any:
    """Return which of `n` elements is at the index `k` of an extended axis."""
    if mode == "nearest":
        return min(max(k, 0), n - 1)
    if mode in ("wrap", "grid-wrap"):
        return k % n
    if mode in ("reflect", "grid-mirror"):
        at = k % (2 * n)
        return at if at < n else 2 * n - 1 - at
    at = k % max(2 * n - 2, 1)
    return at if at < n else 2 * n - 2 - at


def _at(rank: Any, axis: Any, index: Any) -> Any:
    return tuple([index if k == axis else slice(None) for k in range(rank)])


def _extended(x: Any, axis: Any, before: Any, behind: Any, mode: Any, cval: Any) -> Any:
    """Return an array with so many more elements before and behind those along an axis."""
    n, rank = x.shape[axis], x.ndim
    shape = (*x.shape[:axis], before + n + behind, *x.shape[axis + 1 :])
    if mode in ("constant", "grid-constant"):
        found = np.full(shape, cval, x.dtype)
    elif mode in ("nearest", "wrap", "grid-wrap", "reflect", "grid-mirror", "mirror"):
        found = np.empty(shape, x.dtype)
        for k in range(before):
            found[_at(rank, axis, k)] = x[_at(rank, axis, _source(k - before, n, mode))]
        for k in range(behind):
            found[_at(rank, axis, before + n + k)] = x[_at(rank, axis, _source(n + k, n, mode))]
    else:
        raise RuntimeError("boundary mode not supported")
    found[_at(rank, axis, slice(before, before + n))] = x
    return found


def _double(x: Any) -> Any:
    """Return an array in double precision."""
    return x.astype(np.complex128) if np.iscomplexobj(x) else x.astype(np.float64)


def _correlated(x: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """Return a correlation along one axis, in double precision."""
    m, n, rank = len(weights), x.shape[axis], x.ndim
    if m < 1:
        raise RuntimeError("no filter weights given")
    if origin < -(m // 2) or origin > (m - 1) // 2:
        raise ValueError(_BAD_ORIGIN)
    before = m // 2 + origin
    wide = _extended(_double(x), axis, before, m - 1 - before, mode, cval)
    found = np.zeros(x.shape, np.result_type(wide, weights))
    if rank == 1:
        for j in range(m):
            found += weights[j] * wide[j : j + n]
        return found
    # What one row needs stays in the cache.
    for row in range(x.shape[0]):
        for j in range(m):
            if axis == 0:
                found[row] += weights[j] * wide[row + j]
            else:
                found[row] += weights[j] * wide[row][_at(rank - 1, axis - 1, slice(j, j + n))]
    return found


# --- along one axis -------------------------------------------------------------------------------


def correlate1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """`scipy.ndimage.correlate1d`."""
    x, w = np.asarray(input), np.asarray(weights)
    kind = _type_of(output, x, np.iscomplexobj(x) or np.iscomplexobj(w))
    if w.ndim != 1:
        raise RuntimeError("no filter weights given")
    w = np.conj(w) if np.iscomplexobj(w) else w.astype(np.float64)
    return _put(_correlated(x, w, axis % x.ndim, mode, cval, origin).astype(kind), output)


def convolve1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """`scipy.ndimage.convolve1d`."""
    w = np.flip(np.asarray(weights))
    if np.iscomplexobj(w):
        w = np.conj(w)
    shift = -origin if len(w) % 2 == 1 else -origin - 1
    return correlate1d(input, w, axis, output, mode, cval, shift)


def _gaussian(sigma: Any, order: Any, radius: Any) -> Any:
    """Return samples of a derivative of a Gaussian, from the right."""
    if order < 0:
        raise ValueError("order must be non-negative")
    if radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    at = np.arange(-radius, radius + 1) * 1.0
    phi = np.exp(-0.5 / (sigma * sigma) * at**2)
    phi = phi / np.sum(phi)
    if order == 0:
        return phi
    # The derivative is a polynomial times the Gaussian: these are its coefficients.
    q = np.zeros(order + 1)
    q[0] = 1.0
    for _ in range(order):
        of_last = q.copy()
        for k in range(order + 1):
            up = (k + 1) * of_last[k + 1] if k < order else 0.0
            down = of_last[k - 1] / (sigma * sigma) if k > 0 else 0.0
            q[k] = up - down
    factor = np.zeros(len(at))
    for k in range(order, -1, -1):
        factor = factor * at + q[k]
    return np.flip(factor * phi)


def gaussian_filter1d(
    input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.gaussian_filter1d`."""
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    return correlate1d(input, _gaussian(sigma, order, reach), axis, output, mode, cval)


def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """`scipy.ndimage.uniform_filter1d`."""
    x = np.asarray(input)
    kind = _type_of(output, x, np.iscomplexobj(x))
    if size < 1:
        raise RuntimeError("incorrect filter size")
    if size // 2 + origin < 0 or size // 2 + origin >= size:
        raise ValueError("invalid origin")
    found = _correlated(x, np.ones(size), axis % x.ndim, mode, cval, origin) / size
    return _put(found.astype(kind), output)


# --- along several axes ---------------------------------------------------------------------------


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.gaussian_filter`."""
    x = np.asarray(input)
    found = x.astype(_type_of(output, x, np.iscomplexobj(x)))
    along = _axes(axes, x.ndim)
    count = len(along)
    for axis, s, n, r, m in zip(
        along, _each(sigma, count), _each(order, count), _each(radius, count),
        _modes(mode, count), strict=True,
    ):  # fmt: skip
        if s > 1e-15:
            found = gaussian_filter1d(found, s, axis, n, None, m, cval, truncate, radius=r)
    return _put(found, output)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.uniform_filter`."""
    x = np.asarray(input)
    found = x.astype(_type_of(output, x, np.iscomplexobj(x)))
    along = _axes(axes, x.ndim)
    count = len(along)
    for axis, s, o, m in zip(
        along, _each(size, count), _each(origin, count), _modes(mode, count), strict=True
    ):
        if s > 1:
            found = uniform_filter1d(found, s, axis, None, m, cval, o)
    return _put(found, output)


def _gradient(input: Any, axis: Any, output: Any, mode: Any, cval: Any, across: Any) -> Any:
    """Return differences along one axis, added up with weights along the others."""
    x = np.asarray(input)
    modes = _modes(mode, x.ndim)
    found = x.astype(_type_of(output, x, np.iscomplexobj(x)))
    found = correlate1d(found, (-1.0, 0.0, 1.0), axis, None, modes[axis % x.ndim], cval)
    for k in range(x.ndim):
        if k != axis % x.ndim:
            found = correlate1d(found, across, k, None, modes[k], cval)
    return _put(found, output)


def sobel(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """`scipy.ndimage.sobel`."""
    return _gradient(input, axis, output, mode, cval, (1.0, 2.0, 1.0))


def prewitt(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """`scipy.ndimage.prewitt`."""
    return _gradient(input, axis, output, mode, cval, (1.0, 1.0, 1.0))


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    """`scipy.ndimage.laplace`."""
    x = np.asarray(input)
    kind = _type_of(output, x, np.iscomplexobj(x))
    along = _axes(axes, x.ndim)
    found = np.zeros(x.shape, kind)
    for axis, m in zip(along, _modes(mode, len(along)), strict=True):
        found += correlate1d(x.astype(kind), (1.0, -2.0, 1.0), axis, None, m, cval)
    return _put(found, output)


def _derivatives(
    input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, truncate: Any,
    radius: Any, order: Any,
) -> Any:  # fmt: skip
    """Return sums of derivatives of a smoothed array: second ones, or squares of first ones."""
    x = np.asarray(input)
    kind = _type_of(output, x, np.iscomplexobj(x))
    along = _axes(axes, x.ndim)
    found = np.zeros(x.shape, kind)
    for axis in along:
        orders = [order if each == axis else 0 for each in along]
        part = gaussian_filter(
            x.astype(kind), sigma, orders, None, mode, cval, truncate, radius=radius, axes=along
        )
        found += part if order == 2 else part * part
    return found


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *,
    axes: Any = None, truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.gaussian_laplace`."""
    found = _derivatives(input, sigma, output, mode, cval, axes, truncate, radius, 2)
    return _put(found, output)


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *,
    axes: Any = None, truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.gaussian_gradient_magnitude`."""
    found = _derivatives(input, sigma, output, mode, cval, axes, truncate, radius, 1)
    return _put(np.sqrt(found), output)


def _with_kernel(
    input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
    turned: Any,
) -> Any:  # fmt: skip
    x, w = np.asarray(input), np.asarray(weights)
    kind = _type_of(output, x, np.iscomplexobj(x) or np.iscomplexobj(w))
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    if not np.iscomplexobj(w):
        w = w.astype(np.float64)
    elif not turned:
        w = np.conj(w)
    along = _axes(axes, x.ndim)
    if w.ndim != len(along):
        raise RuntimeError(f"weights.ndim ({w.ndim}) must match len(axes) ({len(along)})")
    if list(along) != sorted(along):
        raise Unsupported(
            "a kernel of `scipy.ndimage` with `axes` that are not in order",
            "order them, and transpose the kernel",
        )
    origins = _each(origin, w.ndim)
    wide = _double(x)
    for k, axis in enumerate(along):
        m = w.shape[k]
        o = origins[k]
        if turned:
            o = -o if m % 2 == 1 else -o - 1
        if o < -(m // 2) or o > (m - 1) // 2:
            raise ValueError(_BAD_ORIGIN)
        before = m // 2 + o
        wide = _extended(wide, axis, before, m - 1 - before, mode, cval)
    if turned:
        w = np.flip(w)
    found = np.zeros(x.shape, np.result_type(wide, w))
    kernel = w.reshape(_sizes(w.shape, along, x.ndim))
    for row in range(x.shape[0]):
        for index in np.ndindex(*kernel.shape):
            place = tuple([
                slice(j, j + n) for j, n in zip(index[1:], x.shape[1:], strict=True)
            ])  # fmt: skip
            found[row] += kernel[index] * wide[row + index[0]][place]
    return _put(found.astype(kind), output)


def _sizes(shape: Any, along: Any, rank: Any) -> Any:
    """Return the sizes of a kernel along all axes, of which it has some."""
    found = [1 for _ in range(rank)]
    for axis, size in zip(along, shape, strict=True):
        found[axis] = size
    return tuple(found)


def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.correlate`."""
    return _with_kernel(input, weights, output, mode, cval, origin, axes, False)


def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.convolve`."""
    return _with_kernel(input, weights, output, mode, cval, origin, axes, True)


__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "laplace", "prewitt", "sobel",
    "uniform_filter", "uniform_filter1d",
]  # fmt: skip
