"""`scipy.signal`: linear filters, as loops over time.

They are SciPy's loops: the transposed direct form II [1]_, in the same order of operations.

References
----------
.. [1] A. V. Oppenheim, R. W. Schafer. Discrete-Time Signal Processing. Prentice Hall, 1989.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def _coefficients(b: Any, a: Any) -> Any:
    """Return a numerator and a denominator as vectors."""
    num, den = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    if num.ndim != 1 or len(num) == 0:
        raise ValueError("Parameter b is not a non-empty 1d array")
    if den.ndim != 1 or len(den) == 0:
        raise ValueError("Parameter a is not a non-empty 1d array")
    if den[0] == 0:
        raise ValueError("filter coefficient a[0] == 0 not supported yet")
    return num, den


def _require_floats(kind: Any) -> None:
    if kind.kind not in "fc" or kind == np.float16:
        raise Unsupported(
            "a linear filter of `scipy.signal` of integers or float16",
            "convert the signal with `.astype(float)`",
        )


def _filtered(b: Any, a: Any, x: Any, state: Any) -> Any:
    """Filter rows, from their states on; return the rows, and the states behind their ends."""
    order, n = state.shape[1], x.shape[1]
    y = np.empty(x.shape, x.dtype)
    z = state.copy()
    for row in range(x.shape[0]):
        for k in range(n):
            if order == 0:
                y[row, k] = b[0] * x[row, k]
            else:
                y[row, k] = z[row, 0] + b[0] * x[row, k]
                for j in range(order - 1):
                    z[row, j] = z[row, j + 1] + x[row, k] * b[j + 1] - y[row, k] * a[j + 1]
                z[row, order - 1] = x[row, k] * b[order] - y[row, k] * a[order]
    return y, z


def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """`scipy.signal.lfilter`."""
    num, den = _coefficients(b, a)
    signal = np.asarray(x)
    if signal.ndim == 0:
        raise ValueError("x must be at least 1-D")
    order = max(len(num), len(den)) - 1
    kind = np.result_type(num, den, signal)
    if zi is not None:
        kind = np.result_type(kind, np.asarray(zi))
    _require_floats(kind)
    lines = np.moveaxis(signal.astype(kind), axis, -1)
    full_b, full_a = np.zeros(order + 1, kind), np.zeros(order + 1, kind)
    full_b[: len(num)] = num.astype(kind) / den[0]
    full_a[: len(den)] = den.astype(kind) / den[0]
    shape = lines.shape
    count = 1
    for size in shape[:-1]:
        count *= size
    state = np.zeros((*shape[:-1], order), kind)
    if zi is not None:
        given = np.asarray(zi)
        if given.ndim != signal.ndim:
            raise ValueError("Dimensions of parameters x and zi must match")
        given = np.moveaxis(given, axis, -1)
        if given.shape[-1] != order:
            raise ValueError("Unexpected shape for parameter zi")
        state[...] = given
    y, z = _filtered(
        full_b, full_a, lines.reshape((count, shape[-1])), state.reshape((count, order))
    )
    y = np.moveaxis(y.reshape(shape), -1, axis)
    if zi is None:
        return y
    return y, np.moveaxis(z.reshape((*shape[:-1], order)), -1, axis)


def lfilter_zi(b: Any, a: Any) -> Any:
    """`scipy.signal.lfilter_zi`."""
    num, den = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    if num.ndim != 1:
        raise ValueError("Numerator b must be 1-D.")
    if den.ndim != 1:
        raise ValueError("Denominator a must be 1-D.")
    first = 0
    while first < len(den) - 1 and den[first] == 0.0:
        first += 1
    den = den[first:]
    n = max(len(num), len(den))
    kind = np.result_type(num / den[0], den)
    b_n, a_n = np.zeros(n, kind), np.zeros(n, kind)
    b_n[: len(num)] = num / den[0]
    a_n[: len(den)] = den / den[0]
    # The identity less the transposed companion matrix.
    matrix = np.eye(n - 1, dtype=kind)
    for k in range(n - 1):
        matrix[k, 0] += a_n[k + 1]
        if k < n - 2:
            matrix[k, k + 1] -= 1.0
    return np.linalg.solve(matrix, b_n[1:] - a_n[1:] * b_n[0])


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """`scipy.signal.lfiltic`."""
    num, den = _coefficients(b, a)
    after = np.atleast_1d(np.asarray(y))
    before = np.zeros(1) if x is None else np.atleast_1d(np.asarray(x))
    n, m = len(den) - 1, len(num) - 1
    kind = np.result_type(num, den, after)
    kind = kind if x is None else np.result_type(kind, before)
    kind = kind if kind.kind in "fc" else np.result_type(kind, np.float64)
    zi = np.zeros(max(n, m), kind)
    for k in range(m):
        for j in range(min(m - k, len(before))):
            zi[k] += num[k + 1 + j] * before[j]
    for k in range(n):
        for j in range(min(n - k, len(after))):
            zi[k] -= den[k + 1 + j] * after[j]
    return zi / den[0]


def _sections(sos: Any) -> Any:
    found = np.atleast_2d(np.asarray(sos))
    if found.ndim != 2:
        raise ValueError("sos array must be 2D")
    if found.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if np.any(found[:, 3] != 1):
        raise ValueError("sos[:, 3] should be all ones")
    return found


def _by_sections(sos: Any, x: Any, state: Any) -> Any:
    """Filter rows by one section after the other; return the rows, and the states at their ends."""
    y = x.copy()
    z = state.copy()
    for s in range(sos.shape[0]):
        b0, b1, b2, a1, a2 = sos[s, 0], sos[s, 1], sos[s, 2], sos[s, 4], sos[s, 5]
        for row in range(x.shape[0]):
            z0, z1 = z[row, s, 0], z[row, s, 1]
            for k in range(x.shape[1]):
                u = y[row, k]
                v = b0 * u + z0
                z0 = b1 * u - a1 * v + z1
                z1 = b2 * u - a2 * v
                y[row, k] = v
            z[row, s, 0] = z0
            z[row, s, 1] = z1
    return y, z


def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """`scipy.signal.sosfilt`."""
    signal = np.asarray(x)
    if signal.ndim == 0:
        raise ValueError("x must be at least 1-D")
    rows = _sections(sos)
    kind = np.result_type(rows, signal)
    if zi is not None:
        kind = np.result_type(kind, np.asarray(zi))
    _require_floats(kind)
    at = axis % signal.ndim
    lines = np.moveaxis(signal.astype(kind), at, -1)
    shape = lines.shape
    count = 1
    for size in shape[:-1]:
        count *= size
    n = rows.shape[0]
    state = np.zeros((*shape[:-1], n, 2), kind)
    if zi is not None:
        given = np.asarray(zi)
        if given.ndim != signal.ndim + 1:
            raise ValueError("Invalid zi shape.")
        given = np.moveaxis(given, (0, at + 1), (-2, -1))
        if given.shape != state.shape:
            raise ValueError("Invalid zi shape.")
        state[...] = given
    y, z = _by_sections(
        rows.astype(kind), lines.reshape((count, shape[-1])), state.reshape((count, n, 2))
    )
    y = np.moveaxis(y.reshape(shape), -1, at)
    if zi is None:
        return y
    return y, np.moveaxis(z.reshape((*shape[:-1], n, 2)), (-2, -1), (0, at + 1))


def sosfilt_zi(sos: Any) -> Any:
    """`scipy.signal.sosfilt_zi`."""
    rows = np.asarray(sos)
    if rows.ndim != 2 or rows.shape[1] != 6:
        raise ValueError("sos must be shape (n_sections, 6)")
    rows = rows if rows.dtype.kind in "fc" else rows.astype(np.float64)
    zi = np.empty((rows.shape[0], 2), rows.dtype)
    scale = rows.dtype.type(1.0)
    for s in range(rows.shape[0]):
        b, a = rows[s, :3], rows[s, 3:]
        zi[s] = scale * lfilter_zi(b, a)
        scale *= np.sum(b) / np.sum(a)
    return zi


def _extended(x: Any, padtype: Any, edge: Any) -> Any:
    """Return lines with `edge` more elements at each end."""
    n = x.shape[-1]
    if padtype is None:
        return x
    if n <= edge:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {edge}."
        )
    if padtype == "constant":
        left = np.zeros((*x.shape[:-1], edge), x.dtype) + x[..., :1]
        right = np.zeros((*x.shape[:-1], edge), x.dtype) + x[..., n - 1 :]
    else:
        left = np.flip(x[..., 1 : edge + 1], axis=-1)
        right = np.flip(x[..., n - 1 - edge : n - 1], axis=-1)
        if padtype == "odd":
            left, right = 2 * x[..., :1] - left, 2 * x[..., n - 1 :] - right
        elif padtype != "even":
            raise ValueError(
                "Unknown value given to padtype. padtype must be 'even', 'odd', 'constant', or "
                "None."
            )
    return np.concatenate((left, x, right), axis=-1)


def filtfilt(
    b: Any, a: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None,
    method: Any = "pad", irlen: Any = None,
) -> Any:  # fmt: skip
    """`scipy.signal.filtfilt`."""
    if method == "gust":
        raise Unsupported("`scipy.signal.filtfilt` with `method='gust'`", "leave it out")
    if method != "pad":
        raise ValueError("method must be 'pad' or 'gust'.")
    num, den = _coefficients(b, a)
    lines = np.moveaxis(np.asarray(x), axis, -1)
    edge = 3 * max(len(num), len(den)) if padlen is None else padlen
    if padtype is None:
        edge = 0
    ext = _extended(lines, padtype, edge)
    zi = lfilter_zi(num, den).reshape((1,) * (lines.ndim - 1) + (-1,))
    y, _ = lfilter(num, den, ext, zi=zi * ext[..., :1])
    back = np.flip(y, axis=-1)
    y, _ = lfilter(num, den, back, zi=zi * back[..., :1])
    y = np.flip(y, axis=-1)
    return np.moveaxis(y[..., edge : edge + lines.shape[-1]], -1, axis)


def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """`scipy.signal.sosfiltfilt`."""
    rows = _sections(sos)
    lines = np.moveaxis(np.asarray(x), axis, -1)
    taps = 2 * rows.shape[0] + 1 - min(np.sum(rows[:, 2] == 0), np.sum(rows[:, 5] == 0))
    edge = 3 * taps if padlen is None else padlen
    if padtype is None:
        edge = 0
    ext = _extended(lines, padtype, edge)
    zi = sosfilt_zi(rows).reshape((rows.shape[0], *((1,) * (lines.ndim - 1)), 2))
    y, _ = sosfilt(rows, ext, zi=zi * ext[..., :1])
    back = np.flip(y, axis=-1)
    y, _ = sosfilt(rows, back, zi=zi * back[..., :1])
    y = np.flip(y, axis=-1)
    return np.moveaxis(y[..., edge : edge + lines.shape[-1]], -1, axis)


__all__ = [
    "filtfilt", "lfilter", "lfilter_zi", "lfiltic", "sosfilt", "sosfilt_zi", "sosfiltfilt",
]  # fmt: skip
