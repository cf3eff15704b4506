"""Reductions that leave out NaN: those of the other elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, functions, sorting


def _may_be_nan(a: Any) -> Any:
    return a.dtype.kind == "f" or a.dtype.kind == "c"


def _real(a: Any) -> Any:
    """Return an array of real numbers."""
    x = np.asarray(a)
    if x.dtype.kind == "c":
        raise Unsupported(
            "this function of complex numbers",
            "apply it to the real parts, or to the absolute values",
        )
    return x


def _filled(a: Any, value: Any) -> Any:
    """Return an array with a number in place of NaN."""
    if not _may_be_nan(a):
        return a
    return np.where(np.isnan(a), a.dtype.type(value), a)


def _marked(a: Any) -> Any:
    """Return an array whose derivatives by NaN are zero, whatever it was computed from."""
    x = np.asarray(a)
    if not _may_be_nan(x):
        return x
    return np.where(np.isnan(x), x.dtype.type(np.nan), x)


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`np.nansum`."""
    x = _filled(np.asarray(a), 0.0)
    return np.sum(x, axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanprod`."""
    x = _filled(np.asarray(a), 1.0)
    return np.prod(x, axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumsum`."""
    return np.cumsum(_filled(np.asarray(a), 0.0), axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumprod`."""
    return np.cumprod(_filled(np.asarray(a), 1.0), axis, dtype, out)


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanmax`: NaN where all elements are."""
    x = _real(a)
    found = np.max(_filled(x, -np.inf), axis, None, keepdims, initial, where)
    if x.dtype.kind == "f" and initial is None:
        found = np.where(np.all(np.isnan(x), axis, None, keepdims), x.dtype.type(np.nan), found)
    return _given_out(found, out)


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanmin`: NaN where all elements are."""
    x = _real(a)
    found = np.min(_filled(x, np.inf), axis, None, keepdims, initial, where)
    if x.dtype.kind == "f" and initial is None:
        found = np.where(np.all(np.isnan(x), axis, None, keepdims), x.dtype.type(np.nan), found)
    return _given_out(found, out)


def _given_out(found: Any, out: Any) -> Any:
    if out is None:
        return found
    np.copyto(out, found)  # which refuses some dtypes
    return out


def _counted(a: Any) -> Any:
    return ~np.isnan(a) if _may_be_nan(a) else np.ones(a.shape, np.int64)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanmean`."""
    x = np.asarray(a)
    if not _may_be_nan(x):
        return np.mean(x, axis, dtype, out, keepdims, where=where)
    count = np.sum(_counted(x), axis, np.int64, None, keepdims, where=where)
    total = np.sum(_filled(x, 0.0), axis, dtype, out, keepdims, where=where)
    return _given_out(np.true_divide(total, count).astype(total.dtype), out)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, *, where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanvar`: NaN where fewer elements are left than `ddof` and one."""
    x = _marked(a)
    if not _may_be_nan(x):
        return np.var(x, axis, dtype, out, ddof, keepdims, where=where)
    center = nanmean(x, axis, dtype, None, True, where=where)
    deviation = _filled(x, 0.0) - center
    left = np.where(np.isnan(x), deviation.dtype.type(0), deviation)
    if x.dtype.kind == "c":
        squares = np.square(left.real) + np.square(left.imag)
    else:
        squares = np.square(left)
    count = np.sum(_counted(x), axis, np.int64, None, keepdims, where=where)
    total = np.sum(squares, axis, dtype, out, keepdims, where=where)
    free = count - ddof
    found = np.true_divide(total, free).astype(total.dtype)
    return _given_out(np.where(free > 0, found, total.dtype.type(np.nan)), out)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, *, where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanstd`."""
    found = nanvar(a, axis, dtype, out, ddof, keepdims, where=where)
    return _given_out(np.sqrt(found), out)


def _place_of_most(a: Any, fill: float, axis: Any, keepdims: Any, most: bool) -> Any:
    x = _filled(a, fill)
    if a.dtype.kind == "f" and np.any(np.all(np.isnan(a), axis)):
        raise ValueError("All-NaN slice encountered")
    if most:
        return np.argmax(x, axis, None, keepdims=keepdims)
    return np.argmin(x, axis, None, keepdims=keepdims)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanargmax`."""
    return _given_out(_place_of_most(_real(a), -np.inf, axis, keepdims, True), out)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanargmin`."""
    return _given_out(_place_of_most(_real(a), np.inf, axis, keepdims, False), out)


def _by_rows(a: Any, axis: Any) -> Any:
    """Return what is reduced, as rows."""
    if axis is None:
        return a.reshape(1, -1)
    return sorting._rows(np.moveaxis(a, axis, -1))


def _from_rows(found: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Return numbers, one of each row, in their places."""
    if axis is None:
        return found.reshape((1,) * a.ndim) if keepdims else found[0]
    moved = np.moveaxis(a, axis, -1)
    shaped = found.reshape(moved.shape[:-1])
    return np.expand_dims(shaped, axis) if keepdims else shaped


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    """`np.nanmedian` of all elements or along one axis."""
    x = _marked(_real(a))
    if x.dtype.kind != "f":
        return _given_out(np.median(x, axis, keepdims=keepdims), out)
    rows = _by_rows(x, axis)
    found = np.empty(rows.shape[0], x.dtype)
    for k in range(rows.shape[0]):
        left = rows[k][~np.isnan(rows[k])]
        n = len(left)
        if n == 0:
            found[k] = np.nan
        else:
            at = sorting.order(left)
            if n % 2:
                found[k] = left[at[n // 2]]
            else:
                found[k] = (left[at[n // 2 - 1]] + left[at[n // 2]]) / 2
    return _given_out(_from_rows(found, x, axis, keepdims), out)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
    method: str = "linear", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`np.nanquantile`, by the methods of `functions.quantile`."""
    functions.real_samples(a)
    points = functions.points_in(q, 1)
    return _given_out(_nanquantiles(np.asarray(a), points, axis, method, keepdims), out)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
    method: str = "linear", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`np.nanpercentile`, by the methods of `functions.quantile`."""
    functions.real_samples(a)
    points = functions.points_in(q, 100) / 100
    return _given_out(_nanquantiles(_marked(a), points, axis, method, keepdims), out)


def _nanquantiles(x: Any, q: Any, axis: Any, method: str, keepdims: Any) -> Any:
    functions.require_method(method)
    return functions.at_points(lambda p: _nanquantile(x, p, axis, method, keepdims), q)


def _nanquantile(x: Any, q: Any, axis: Any, method: str, keepdims: Any) -> Any:
    rows = _by_rows(x, axis)
    chosen = method in functions.CHOOSING
    found = np.empty(rows.shape[0], rows.dtype if chosen else np.result_type(rows, q))
    for k in range(rows.shape[0]):
        left = rows[k][~np.isnan(rows[k])] if x.dtype.kind == "f" else rows[k]
        found[k] = functions._quantile(left, q, None, False, method) if len(left) > 0 else np.nan
    return _from_rows(found, x, axis, keepdims)


__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian",
    "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
]  # fmt: skip
