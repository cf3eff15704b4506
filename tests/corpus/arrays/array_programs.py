"""Programs on arrays: indexing, views and aliases, NumPy's functions and methods, types.

Samples are small and away from kinks and ties. Results are weighted, so that elements which change
places are noticed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder, uniform

ARRAY_PROGRAMS: list[Program] = []
# Defects planted in passes on arrays and nests that only these notice (some of other files).
SHARP = (
    "steps_that_shorten", "steps_in_steps", "steps_on_neighbours", "index_tuple_variable",
    "stencil_that_drives_a_recurrence", "recurrence_from_both_ends",
    "steps_that_read_the_row_above", "gates_in_parts_of_one_array", "columns_that_read_each_other",
)  # fmt: skip
program = recorder(ARRAY_PROGRAMS)

M23 = X6.reshape(2, 3)
M33 = uniform(1, 3, 3)
M34 = uniform(2, 3, 4)
C234 = uniform(3, 2, 3, 4)
P33 = uniform(4, 3, 3, low=0.5, high=2.0)
I4 = np.array([2, 0, -1, 2])
MASK6 = np.array([True, False, True, True, False, True])


def weighted(y: Any) -> Any:
    """Return a number to which every element contributes in its own way."""
    w = np.cos(np.arange(y.size) + 1.0).reshape(y.shape)
    return np.sum(w * np.sin(y))


# --- indexing: slices -----------------------------------------------------------------------------


@program(X6)
def slice_all_signs(x: Any) -> Any:
    return (
        weighted(x[1:4] * x[-3:])
        + weighted(x[::-1])
        + weighted(x[4:0:-2])
        + weighted(x[-2::-3])
        + weighted(x[:100])
        + weighted(x[-100:2])
        + weighted(x[::2] * x[1::2])
    )


@program(X6, 1, 5, 2)
def slice_with_runtime_ends(x: Any, a: Any, b: Any, s: Any) -> Any:
    return weighted(x[a:b]) + weighted(x[a:b:s]) + weighted(x[b:a:-1]) + weighted(x[-b:-a])


@program(X6, 4, 2)
def slice_empty(x: Any, a: Any, b: Any) -> Any:
    y = x[a:b]
    return np.sum(y) + y.size + np.sum(x[3:3]) + x[0]


@program(C234)
def slice_ellipsis_and_newaxis(x: Any) -> Any:
    return (
        weighted(x[..., 1])
        + weighted(x[0, ...])
        + weighted(x[:, None, 1:] * x[..., np.newaxis, ::2][..., 0][:, None, 1:, None])
        + weighted(x[1, ..., -1])
        + weighted(x[...])
    )


@program(M34)
def slice_matrix(x: Any) -> Any:
    return weighted(x[1:, ::2] @ x[:2, 1:3]) + weighted(x[::-1, ::-1]) + weighted(x[:, -1])


@program(M34)
def slice_rows(x: Any) -> Any:
    return weighted(x[0] * x[-1]) + weighted(x[1:][0]) + x[1][2] * x[-2, -2]


@program(X6)
def slice_store(x: Any) -> Any:
    y = np.zeros(6)
    y[1:4] = x[0:3] * x[1:4]
    y[2:5] += x[2:5]
    y[::3] *= x[:2]
    y[-1:] = 2.0
    y[:2] -= 0.5
    return weighted(y)


@program(X6)
def slice_store_negative_step(x: Any) -> Any:
    y = x.copy()
    y[::-1] = x * x
    y[4:0:-2] += x[:2]
    return weighted(y)


@program(X6)
def slice_overlap_multiply(x: Any) -> Any:
    a = x * 1.0
    a[1:] = a[:-1] * a[1:]
    return weighted(a)


@program(X6)
def slice_overlap_both_ways(x: Any) -> Any:
    a = x * 1.0
    a[1:] = a[:-1]
    a[:-1] += a[1:]
    a[1:] *= a[:-1]
    a[::-1] = a * 1.5
    a[:] = a[::-1]
    return weighted(a)


@program(X6)
def slice_overlap_augmented_reverse(x: Any) -> Any:
    a = x * x
    a += a[::-1]
    a[:3] -= a[3:]
    a[2:5] *= a[1:4]
    return weighted(a)


@program(M33)
def slice_overlap_matrix(x: Any) -> Any:
    a = x.copy()
    a[1:, :] = a[:-1, :] * a[1:, :]
    a[:, :] += a.T
    a[:, 0] = a[0, :]
    return weighted(a)


@program(M34, X3)
def slice_broadcast_store(x: Any, v: Any) -> Any:
    a = x * 2.0
    a[:, 1:] = v[:, None]
    a[0] = v[0]
    a[1, :] += x[2]
    a[2:, :2] *= np.array([[2.0, 3.0]])
    a[..., -1] = v * v
    return weighted(a)


@program(C234)
def slice_store_cube(x: Any) -> Any:
    a = np.zeros((2, 3, 4))
    a[:, 1:, ::2] = x[:, :2, 1::2]
    a[1] += x[0]
    a[..., 0] -= x[..., -1]
    a[:, None, 0, 1] *= x[:, :1, 2]
    return weighted(a)


@program(X6)
def store_leading_ones_dropped(x: Any) -> Any:
    a = np.zeros(6)
    a[:] = x[None, None, :]
    a[1:3] += x.reshape(1, 6)[0, 2:4]
    return weighted(a)


@program(X6, 2)
def element_reads_and_writes(x: Any, k: Any) -> Any:
    a = x * 1.0
    a[k] = a[-k] * a[k]
    a[-1] += a[0]
    a[k + 1] **= 2
    a[k - 2] /= 3.0
    return weighted(a)


@program(M33, 1)
def element_of_matrix(x: Any, k: Any) -> Any:
    a = x.copy()
    a[k, -k] = a[0, 0] * a[k, k]
    a[k][0] += a[-1, k]
    a[(2, 2)] -= x[k - 1, k + 1]
    return weighted(a)


@program(X3)
def zero_dimensional_arrays(x: Any) -> Any:
    s = np.array(x[0])
    t = s[()] * x[1] + s[...] * 2.0
    u = np.sum(x)[()] * np.asarray(t)
    return float(u) * s.item() + np.sum(s) + s.sum() * s.ndim + weighted(x * s)


@program(np.array([0.7, -0.4, 0.2]), 1, argnums=(0,))
def truth_of_the_only_element(x: Any, k: Any) -> Any:
    y = x.reshape(-1, 1) * 2.0
    while x[:k] > 0.1:
        x = x * 0.5
    if y[k : k + 1] and not y[1:2] * 0.0:
        x = np.sin(x)
    return weighted(x) if bool(x[-1:]) else x[0] * y[1, 0]


@program(np.array(0.7), np.array([1.0, 2.0]), argnums=(0, 1))
def zero_dimensional_argument(s: Any, x: Any) -> Any:
    return weighted(s * x) + s * s + x[0] * s[()]


# --- indexing: integer arrays and masks -----------------------------------------------------------


@program(X6, I4)
def fancy_read(x: Any, i: Any) -> Any:
    return weighted(x[i]) + weighted(x[[0, -1, 3]]) + weighted(x[np.array([[0, 1], [5, 5]])])


@program(M34)
def fancy_pair_broadcast(x: Any) -> Any:
    rows = np.array([[0], [2], [-1]])
    cols = np.array([1, 3])
    return weighted(x[rows, cols]) + weighted(x[[0, 1, 2], [3, -1, 0]]) + weighted(x[[1, 2], 0])


@program(C234)
def fancy_mixed_with_slices(x: Any) -> Any:
    i = np.array([2, 0, 2])
    return (
        weighted(x[:, i])
        + weighted(x[1, i, 1:])
        + weighted(x[:, i, i])
        + weighted(x[0, :, i])
        + weighted(x[i[1:] // 2, :, i[1:]])
        + weighted(x[..., i])
        + weighted(x[:, i, None, 1:3])
    )


@program(C234)
def fancy_with_newaxis_and_ellipsis(x: Any) -> Any:
    i = np.array([[1, 0], [0, 1]])
    return weighted(x[i]) + weighted(x[None, i, ..., 0]) + weighted(x[i, ..., [0, 3]])


@program(X6, I4)
def fancy_store(x: Any, i: Any) -> Any:
    a = x * 1.0
    a[[0, 4]] = x[[1, 2]] * x[[2, 1]]
    a[np.array([1, 3])] *= 2.0
    a[i[:2]] -= x[i[1:3]]
    return weighted(a)


@program(X6)
def fancy_store_duplicates_last_wins(x: Any) -> Any:
    a = np.zeros(4)
    a[[0, 1, 0, 3, 3, 0]] = x * x
    return weighted(a)


@program(X6)
def fancy_augmented_duplicates_count_once(x: Any) -> Any:
    i = np.array([0, 2, 0, 1, 2, 0])
    a = np.ones(3)
    a[i] += x
    b = np.ones(3)
    np.add.at(b, i, x)
    return weighted(a) + 2.0 * weighted(b)


@program(X6)
def ufunc_at(x: Any) -> Any:
    i = np.array([0, 2, 0, 1, 2, 0])
    a = x[:3] * 1.0
    np.add.at(a, i, x * x)
    np.multiply.at(a, [0, 1, 1], x[:3])
    np.subtract.at(a, i[:2], 0.5)
    np.negative.at(a, [0, 2])
    np.maximum.at(a, [1, 1], x[3:5])
    return weighted(a)


@program(M34)
def ufunc_at_matrix(x: Any) -> Any:
    a = np.zeros((3, 4))
    np.add.at(a, ([0, 1, 0, 0], [1, 2, 1, -1]), x[0])
    np.add.at(a, [0, 0], x[1:])
    every: Any = slice(None)
    np.add.at(a, (every, [0, 0, 1]), x[:, :3] * x[:, 1:])
    return weighted(a)


@program(M34)
def fancy_store_matrix(x: Any) -> Any:
    a = np.zeros((3, 4))
    a[[0, 2]] = x[[1, 0]] * 2.0
    a[:, [1, 3]] += x[:, [0, 0]]
    a[[0, 1], [0, 1]] = x[2, :2]
    a[1, [2, 0]] *= x[0, :2]
    a[np.array([[0], [1]]), np.array([2, 3])] -= x[:2, :2]
    return weighted(a)


@program(C234)
def fancy_store_cube(x: Any) -> Any:
    a = x * 1.0
    i = np.array([2, 0])
    a[:, i] = x[:, :2] * x[:, 1:]
    a[0, :, i] += x[1, :, :2].T
    a[1, i, 1:3] *= 3.0
    return weighted(a)


@program(X6)
def fancy_self_permutation(x: Any) -> Any:
    a = x * 1.0
    a[[0, 1, 2]] = a[[2, 0, 1]]
    a[[3, 4]] = a[[4, 3]] * a[[0, 1]]
    return weighted(a)


@program(X6, MASK6)
def mask_read(x: Any, m: Any) -> Any:
    return weighted(x[m]) + weighted(x[x > 0.5] ** 2) + np.sum(x[~m]) + x[m].size


@program(X6, MASK6)
def mask_store(x: Any, m: Any) -> Any:
    a = x * 1.0
    a[m] = x[:4]
    a[a < 0.0] *= -2.0
    a[~m] = 0.5
    a[(x > 0.0) & (x < 1.0)] += x[0]
    return weighted(a)


@program(M34)
def mask_of_matrix(x: Any) -> Any:
    a = x * 1.0
    m = a > 0.1
    a[m] = a[m] * a[m]
    a[~m] -= 1.0
    return weighted(a) + weighted(x[m])


@program(M34)
def mask_of_rows_and_columns(x: Any) -> Any:
    rows = np.array([True, False, True])
    cols = np.array([False, True, True, False])
    a = x * 1.0
    a[rows] *= 2.0
    a[:, cols] += x[:, :2]
    a[rows, 1:] = x[1:, :3]
    a[0, cols] = x[1, cols]
    return weighted(a) + weighted(x[rows, cols]) + weighted(x[rows][:, cols])


@program(C234)
def mask_over_two_axes(x: Any) -> Any:
    m = x[..., 0] > 0.0
    a = x * 1.0
    a[m] = a[m] * 2.0
    a[m, 1] = 3.0
    return weighted(a) + weighted(x[m][:, 1:])


@program(X6)
def mask_nothing_selected(x: Any) -> Any:
    a = x * 1.0
    a[x > 100.0] = 7.0
    return weighted(a) + np.sum(x[x > 100.0])


@program(M34)
def index_by_nonzero(x: Any) -> Any:
    i, j = np.nonzero(x > 0.0)
    a = np.zeros((3, 4))
    a[i, j] = x[i, j] ** 2
    (k,) = np.where(x[0] < 0.0)
    return weighted(a) + np.sum(x[0][k]) + weighted(x[1, k])


@program(X6)
def index_by_argsort_free_permutation(x: Any) -> Any:
    p = np.array([3, 1, 5, 0, 2, 4])
    inverse = np.zeros(6, dtype=np.int64)
    inverse[p] = np.arange(6)
    y = x[p] * np.arange(6)
    return weighted(y[inverse])


@program(X6)
def index_computed_in_loop(x: Any) -> Any:
    y = np.zeros(3)
    for i in range(6):
        y[i % 3] += x[i] * x[i]
        y[(i * i) % 3] *= x[i]
    return weighted(y)


@program(M33)
def index_tuple_variable(x: Any) -> Any:
    where = (1, slice(None))
    a = x * 1.0
    a[where] = a[where] * x[0]
    s = slice(0, 2)
    a[s, s] += 1.0
    return weighted(a[s]) + weighted(a)


@program(M34)
def index_ix(x: Any) -> Any:
    return weighted(x[np.ix_([0, 2], [1, 3])])


@program(M34, np.array([1, 0, 2]))
def gather_one_per_row(x: Any, labels: Any) -> Any:
    picked = x[np.arange(3), labels]
    return weighted(picked) - np.sum(picked * picked)


@program(M34, np.array([1, 0, 2]))
def scatter_one_per_row(x: Any, labels: Any) -> Any:
    a = np.exp(x)
    a[np.arange(x.shape[0]), labels] -= 1.0
    return weighted(a)


# --- views and aliases ----------------------------------------------------------------------------


@program(X6)
def view_of_view(x: Any) -> Any:
    a = x * 1.0
    b = a[1:]
    c = b[::2]
    c[1] = c[0] * c[2]
    b[0] += 5.0
    c *= 2.0
    return weighted(a) + weighted(b) + weighted(c)


@program(M34)
def view_transposed(x: Any) -> Any:
    a = x * 1.0
    t = a.T
    t[0] = t[1] * t[2]
    t[:, 1] += 1.0
    a[2, 2] = 4.0 * t[3, 0]
    return weighted(a) + weighted(t)


@program(M34)
def view_transpose_of_slice(x: Any) -> Any:
    a = x * 1.0
    b = a[1:, ::2].T[::-1]
    b[0, 1] = b[1, 0] ** 2
    b *= a[:2, :2]
    return weighted(a) + weighted(b)


@program(X6)
def view_reshaped(x: Any) -> Any:
    a = x * 1.0
    m = a.reshape(2, 3)
    m[1] *= m[0]
    m.reshape(3, 2)[:, 1] = 0.3
    np.reshape(a, (3, -1))[0] += x[:2]
    return weighted(a) + weighted(m)


@program(M34)
def view_ravelled(x: Any) -> Any:
    a = x * 1.0
    r = a.ravel()
    r[3:7] = r[0:4] * 2.0
    f = a.flatten()
    f[:] = 0.0
    return weighted(a) + weighted(r) + np.sum(f)


@program(M34)
def copy_when_reshape_copies(x: Any) -> Any:
    a = x * 1.0
    r = a.T.reshape(12)
    flat = a.T.ravel()
    return weighted(r) + weighted(flat * flat) + weighted(a[:, 1:].reshape(-1))


@program(M23)
def first_axis_first(x: Any) -> Any:
    a = x.copy()
    r = a.reshape(3, -1, order="F")
    flat = np.ravel(a, order="F")
    back = np.reshape(flat, (2, 3), order="F")
    return weighted(r) + weighted(flat * a.flatten("F")) + weighted(back * a)


@program(M34)
def copy_of_transpose_is_not_an_alias(x: Any) -> Any:
    a = x * 1.0
    r = a.T.copy().reshape(12)
    r[2:5] *= 3.0
    return weighted(a) + weighted(r)


@program(M33)
def view_diagonal_is_read(x: Any) -> Any:
    a = x * 1.0
    d = np.diagonal(a)
    before = weighted(d)
    a[1, 1] = 3.0 * x[0, 0]
    return before * weighted(d) + weighted(np.diagonal(a, 1)) + weighted(a.diagonal(-1))


@program(C234)
def view_diagonal_of_axes(x: Any) -> Any:
    return weighted(np.diagonal(x, 1, 1, 2)) + weighted(np.diagonal(x, axis1=0, axis2=2))


@program(C234)
def view_moved_axes(x: Any) -> Any:
    a = x * 1.0
    b = np.moveaxis(a, 0, -1)
    c = np.swapaxes(b, 0, 1)
    c[1, 2] = c[0, 0] * 2.0
    d = a.transpose(2, 0, 1)
    d[0] *= d[1]
    e = a.swapaxes(0, 2)
    e[1, 1, 1] = 0.25
    return weighted(a) + weighted(b) + weighted(d[..., 0])


@program(M34)
def view_squeezed_and_expanded(x: Any) -> Any:
    a = x * 1.0
    b = np.expand_dims(a, 1)
    b[:, 0, 2] *= 3.0
    c = b[:1].squeeze()
    c[0] = 7.0 * a[1, 1]
    d = np.squeeze(b, axis=1)
    d[2] += d[1]
    return weighted(a) + weighted(np.squeeze(a[None]))


@program(M34)
def rows_are_views(A: Any) -> Any:
    B = A * 1.0
    for r in B:
        r *= 2.0
        r[0] = r[1] * r[2]
    return weighted(B)


@program(M34)
def rows_with_enumerate_and_zip(A: Any) -> Any:
    B = A * 1.0
    for i, r in enumerate(B):
        r[i] += 1.0
    for r, q in zip(B, A, strict=True):
        r -= q * q
    for c in B.T:
        c[0] *= 3.0
    return weighted(B)


@program(C234)
def rows_nested(x: Any) -> Any:
    y = x * 1.0
    for plane in y:
        for row in plane:
            row[1:] += row[:-1]
    return weighted(y)


def _double_in_place(v: Any) -> None:
    v *= 2.0
    v[0] += v[-1]


def _scale_rows(m: Any, s: Any) -> Any:
    for i in range(m.shape[0]):
        m[i] *= s[i]
    return m


@program(M33)
def helper_mutates_view(x: Any) -> Any:
    a = x * 1.0
    _double_in_place(a[1])
    _double_in_place(a[:, 2])
    _double_in_place(a.ravel()[::2])
    b = _scale_rows(a[::-1], x[0])
    b[0, 0] = 5.0
    return weighted(a) + weighted(b)


@program(X6)
def views_in_tuple(x: Any) -> Any:
    a = x * 1.0
    parts = (a[:2], a[2:4], a[1:3])
    parts[0][1] = 4.0 * x[5]
    for p in parts:
        p *= p
    u, _, w = parts
    w[0] = u[0]
    return weighted(a)


@program(X6)
def views_in_list(x: Any) -> Any:
    a = x * 1.0
    views = [a[i : i + 2] for i in range(3)]
    views.append(a[::-1])
    views[3][0] = 2.0 * x[0]
    for v in views:
        v += 0.5
    views[1] *= views[0]
    return weighted(a) + weighted(views[-1])


@program(X6)
def views_in_dict(x: Any) -> Any:
    a = x * 1.0
    d = {"low": a[:3], "high": a[3:], "all": a}
    d["low"] *= d["high"]
    d["all"][2] = d["low"][0]
    for name, v in d.items():
        v[0] += len(name)
    return weighted(d["all"]) + weighted(d["low"])


@program(X6)
def alias_by_name(x: Any) -> Any:
    y = x
    y *= 2.0
    y[0] = x[1] * x[2]
    z = y
    z = z * 2.0
    z[0] = 0.0
    return weighted(x) + weighted(z)


@program(X6)
def alias_both_sides(x: Any) -> Any:
    a = x * 1.0
    b = a
    c = a[:]
    b[1:] = c[:-1] + a[1:]
    c += b
    return weighted(a)


@program(X6, X6 * X6, argnums=(0, 1))
def argument_slices_swapped(a: Any, b: Any) -> Any:
    t = a[:3].copy()
    a[:3] = b[3:]
    b[3:] = t
    return weighted(a) * weighted(b)


@program(X6, 3)
def alias_chosen_at_run_time(x: Any, k: Any) -> Any:
    a = x * 1.0
    b = a[:3] if k > 2 else a[3:]
    b *= x[0]
    b[0] = 2.0 * x[1]
    return weighted(a)


@program(M33)
def swap_rows(x: Any) -> Any:
    a = x * 1.0
    a[[0, 2]] = a[[2, 0]]
    t = a[0].copy()
    a[0] = a[1]
    a[1] = t * t
    a[0, 0], a[1, 1] = a[1, 1], a[0, 0] * 2.0
    return weighted(a)


def _determinant(a: Any, cols: Any, row: Any, n: Any) -> Any:
    """By minors: `cols` is a list of the columns left, as a chain of links that ends at n."""
    if row == n:
        return 1.0
    total = 0.0
    sign = 1.0
    before = n + 1
    k = cols[before]
    while k != n:
        cols[before] = cols[k]
        total += sign * a[row, k] * _determinant(a, cols, row + 1, n)
        cols[before] = k
        sign = -sign
        before = k
        k = cols[k]
    return total


@program(M33, tags="recursive")
def determinant_by_minors(a: Any) -> Any:
    n = a.shape[0]
    cols = np.arange(1, n + 3)
    cols[n + 1] = 0
    return _determinant(a, cols, 0, n)


def _nested_sine(v: Any, n: Any) -> Any:
    return math.sin(v) if n <= 0 else math.sin(_nested_sine(v, n - 1)) * v


@program(X6, tags="recursive")
def recursion_in_one_arm_of_a_loop(x: Any) -> Any:
    s = 0.3
    for k in range(len(x)):  # the arm without a call leaves the tapes as they were
        s = math.sin(s) * x[k]
        if x[k] > 0.0:
            s = _nested_sine(s, 2)
        s = math.cos(s) * x[k]
    return s


@program(X6, 0.7, argnums=(1,))
def sums_in_arms(x: Any, w: Any) -> Any:
    s = 0.0
    for k in range(len(x)):  # the cotangent of `w` is added to in arms, that of `s` is read
        if x[k] > 0.5:
            s += math.sin(w * x[k])
        elif x[k] < -0.5:
            s += math.cos(w * x[k])
        s *= 0.9
    return s


def _smooth(v: Any, low: Any, high: Any) -> None:
    if high - low < 2:
        return
    middle = (low + high) // 2
    _smooth(v, low, middle)
    _smooth(v, middle, high)
    v[middle] = v[middle] * v[low] + 0.1
    v[low:high] *= 0.9


@program(X6, tags="recursive")
def recursion_mutates_shared_array(x: Any) -> Any:
    a = x * 1.0
    _smooth(a, 0, 6)
    return weighted(a)


def _prefix(v: Any) -> None:
    if v.shape[0] > 1:
        v[1:] += 0.5 * v[0]
        _prefix(v[1:])


@program(X6, tags="recursive")
def recursion_on_views(x: Any) -> Any:
    a = x * x
    _prefix(a)
    return weighted(a)


# --- loop-carried arrays that iterations allocate -------------------------------------------------


@program(X6, 3)
def steps_on_every_element(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x + 0.1 * np.sin(x)
    return weighted(x)


@program(X6, 3)
def steps_on_neighbours(x: Any, n: Any) -> Any:
    for _ in range(n):
        new = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            new[i] = 0.5 * x[i] + np.sin(x[i - 1])
        x = new
    return weighted(x)


@program(X6, 3)
def steps_from_what_is_read_again(x: Any, n: Any) -> Any:
    first = np.tanh(x)
    y = first
    for _ in range(n):
        y = y + 0.1 * np.sin(y)
    z = y
    for _ in range(n):
        z = z * np.cos(z)
    return weighted(y * first) + weighted(z)


@program(X6, 2)
def steps_from_what_is_read_meanwhile(x: Any, n: Any) -> Any:
    first = np.tanh(x)
    y = first
    for _ in range(n):
        y = y + 0.1 * np.sin(y) * np.sum(first)
    return weighted(y)


@program(X6, 2)
def steps_that_shorten(x: Any, n: Any) -> Any:
    y = np.sin(x)
    for _ in range(n):
        y = y[:-1] * 1.5
    return weighted(y)


@program(X6, 2, 3)
def steps_in_steps(x: Any, n: Any, m: Any) -> Any:
    y = x
    for _ in range(n):
        for _ in range(m):
            y = y + 0.1 * np.sin(y)
        y = y * x[0]
    return weighted(y)


@program(X6, 0.4)
def steps_until_small(x: Any, low: Any) -> Any:
    while np.max(x) > low:
        old = x
        x = x * 0.8
        if x[0] < 0.1:
            x = old + x
            break
    return weighted(x)


@program(X6, 3)
def steps_of_a_copy(x: Any, n: Any) -> Any:
    for _ in range(n):
        y = x.copy()
        y[1:] += 0.3 * np.sin(x[:-1])
        x = y
    return weighted(x)


@program(X6, 3)
def steps_between_two_arrays(x: Any, n: Any) -> Any:
    a, b = x * 1.0, np.cos(x)
    for _ in range(n):
        for i in range(1, 6):
            b[i] = 0.5 * b[i] + np.sin(a[i - 1]) * a[i]
        a, b = b, a
    return weighted(a) + weighted(b * b)


@program(X6)
def sinc_without_a_sum(x: Any) -> Any:
    y = np.sinc(x)
    return y[0] * y[1]
