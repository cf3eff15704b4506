"""Programs of views and aliases: who writes to what, as NumPy has it, and what forms names take."""

from __future__ import annotations

from typing import Any

import numpy as np

import adc
from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, X6, Program, recorder, uniform

VIEW_PROGRAMS: list[Program] = []
program = recorder(VIEW_PROGRAMS)
_REFUSED: list[Program] = []
_refused = recorder(_REFUSED)

M34 = uniform(3, 3, 4)
M83 = uniform(4, 8, 3)
T333 = uniform(5, 3, 3, 3)


# --- functions that give views --------------------------------------------------------------------


@program(M33, 0.5)
def diagonal_through_flat(x: Any, ridge: float) -> Any:
    k = x @ x.T
    k.flat[:: k.shape[0] + 1] += ridge
    every = k[:: k.shape[0] - 1, 1 :: k.shape[0] - 1]
    return np.sum(every**2) + np.linalg.slogdet(k)[1] + np.sum(k.ravel()[:: 1 - len(k)] * ridge)


@program(M33)
def einsum_that_is_a_diagonal(w: Any) -> Any:
    b = w * 2.0
    d = np.einsum("ii->i", b)
    d[:] = d * d + 3.0
    return np.sum(b * b) + np.sum(d)


@program(M33)
def einsum_that_is_a_transpose(w: Any) -> Any:
    b = w * 2.0
    t = np.einsum("ij->ji", b)
    t[0] = np.sin(t[1])
    b[2, 2] *= 3.0
    same = np.einsum("ij", b)
    same *= 1.5
    return np.sum(b * b) + np.sum(t[2])


@program(T333)
def einsum_views_of_three_axes(a: Any) -> Any:
    b = a * 1.0
    d = np.einsum("iij->ji", b)
    d[1:] *= 2.0
    np.einsum("...ij->...ji", b)[0] += 1.0
    np.einsum("iii->i", b)[...] = 5.0 * a[0, 1]
    return np.sum(b * b) + np.sum(np.einsum("iji->j", b))


@program(X6)
def copies_only_where_numpy_makes_them(x: Any) -> Any:
    a = x * 1.0
    b, c = np.asarray(a, copy=True), np.array(a, copy=None)
    d, e = np.asarray(a), np.array(a, copy=False)
    b[0], c[1], d[2], e[3] = 2.0, 3.0, 4.0 * x[0], 5.0 * x[1]
    np.nan_to_num(a, copy=False)[4] = 6.0 * x[2]
    np.nan_to_num(a)[5] = 7.0
    return np.sum(a * a) + np.sum(b) + np.sum(c)


@program(M33)
def first_power_is_the_matrix_itself(w: Any) -> Any:
    b = w * 1.0
    np.linalg.matrix_power(b, 1)[0] *= 2.0
    np.linalg.matrix_power(b, 2)[1] *= 2.0
    return np.sum(b * b)


@program(M33, X3, argnums=(0, 1))
def diagonals_are_read(w: Any, x: Any) -> Any:
    d = np.diagonal(w)
    kept = np.diag(w, 1).copy()
    kept[0] = 2.0 * x[0]
    wide = np.broadcast_to(x, (2, 3)) * 1.0
    wide[1] *= d
    return np.sum(d * x) + np.sum(kept) + np.sum(wide**2)


@program(T333, M34, argnums=(0, 1))
def matrices_in_the_last_axes(a: Any, w: Any) -> Any:
    b = a * 1.0
    b.mT[0] = a[1]
    np.matrix_transpose(b)[2] *= 2.0
    s = np.sum(np.linalg.trace(b) * np.linalg.diagonal(b, offset=1)[:, 0])
    first, _, last = np.unstack(np.reshape(b, (9, 3)), axis=1)
    last *= first
    np.dsplit(b, 3)[1][...] += 0.5
    return s + np.sum(b * b) + np.sum(np.atleast_3d(w[0]) ** 2)


@program(T333, X3, argnums=(0, 1))
def windows_that_slide(a: Any, x: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(a, (2, 2), axis=(0, 2))
    s = np.sum(np.sin(windows).sum(axis=(-1, -2)) ** 2)
    means = np.lib.stride_tricks.sliding_window_view(x, 2).mean(axis=-1)
    grid, other = np.meshgrid(x, a[0, 0], sparse=True)
    return s + np.sum(means**2) + np.sum(grid * other + grid)


@program(M33)
def take_of_one_row(x: Any) -> Any:
    y = x * 2.0
    row, column = np.take(y, 1, axis=0), y.take(0, axis=1)
    row[0] = np.sin(x[2, 2])
    y[:, 0] *= 3.0
    return np.sum(y * y) + np.sum(row * column)


@program(X3)
def array_functions_by_other_names(x: Any) -> Any:
    y = x * 2.0
    of = np.asarray
    as_array = np.array
    seen, own = of(y), of(y, dtype=float).copy()
    seen[0] = np.sin(x[1])
    copied = as_array(y)
    copied[1] = x[0] * x[2]
    return np.sum(y * y) + np.sum(own * copied)


# --- diagonals that are filled --------------------------------------------------------------------


@program(T333, X3, argnums=(0, 1))
def diagonal_of_three_axes_filled(a: Any, x: Any) -> Any:
    b = a * 1.0
    np.fill_diagonal(b, 2.0 * x[0])
    c = a * 1.0
    np.fill_diagonal(c, x[:2])
    return np.sum(b * b) + np.sum(c * c * a)


@program(M83, X3, argnums=(0, 1))
def diagonals_of_a_tall_matrix_filled(a: Any, x: Any) -> Any:
    b, c, d = a * 1.0, a * 1.0, a[::-1, ::-1] * 1.0
    np.fill_diagonal(b, x, wrap=True)
    np.fill_diagonal(c, x[:2])
    np.fill_diagonal(d.T, [1.0, 2.0], wrap=True)
    return np.sum(b * b * a) + np.sum(c * c * a) + np.sum(d * d * a)


@program(M34, argnums=(0,))
def diagonal_filled_through_a_view(a: Any) -> Any:
    b = a * 1.0
    np.fill_diagonal(b[:, ::-1], np.array([[2.0], [3.0]]))
    return np.sum(b * b * a)


# --- 0-d arrays -----------------------------------------------------------------------------------


@program(X3)
def array_without_axes_written(x: Any) -> Any:
    a = np.zeros(())
    b = a
    a[...] = x[0] * x[0]
    a += x[1]
    before = a[()]
    a[()] = a * x[2]
    return b * before


def _tripled(a: Any) -> None:
    a[...] = 3.0 * a


def _raised(a: Any, by: Any) -> None:
    a += by


@program(X3)
def array_without_axes_written_in_helpers(x: Any) -> Any:
    a, b = np.array(x[0]), np.full((), x[1])
    _tripled(a)
    _raised(b, x[2])
    _tripled(b.reshape(1, 1))
    return a * b


@program(X3)
def array_without_axes_written_through_views(x: Any) -> Any:
    a = np.ones(())
    a.reshape(1)[0] = x[0]
    np.atleast_1d(a)[0] *= x[1]
    a[None][0] += 1.0
    np.ravel(a)[0] *= 2.0
    a.T[...] = a * x[2]
    c = a.copy()
    c.fill(7.0)
    return a * c


@program(X3)
def conjugates_of_real_numbers_are_the_array_itself(x: Any) -> Any:
    y = x * 2.0
    part = y[:2].reshape(2, 1).conjugate()
    part *= 0.7
    y.conj()[1:] += x[0]
    other = np.conj(y)
    other *= 5.0
    return np.sum(y * x)


@program(X3)
def array_without_axes_as_out(x: Any) -> Any:
    a = np.empty(())
    np.sum(x * x, out=a)
    b = np.zeros_like(a)
    np.multiply(a, x[0], out=b)
    np.copyto(a, b * 2.0)
    a.fill(x[1] * a)
    return a * b


@program(X3)
def array_without_axes_in_loops(x: Any) -> Any:
    total = np.zeros(())
    seen = [total, total]
    for v in x:
        total += v * v
        if v > 0.0:
            total[...] = total * 2.0
    return seen[1] * total


@program(X3)
def number_or_array_without_axes(x: Any) -> Any:
    a = np.array(1.0)
    b = np.zeros(())
    for v in x:
        a = a * v
        if v > 0.5:
            b = v * v
    a += 1.0
    return a * b


@program(X3)
def one_element_is_a_view(x: Any) -> Any:
    y = x * 1.0
    a = y[1, ...]
    y[1] = 2.0 * x[0]
    b = a * 1.0
    a += x[2]
    np.squeeze(y[2:3])[...] = a
    return np.sum(y * y) * b


@program(np.array(1.5))
def argument_without_axes_written(x: Any) -> Any:
    y = x
    z = x * 1.0
    x *= x
    _tripled(np.asarray(x))
    return y * z


@program(X3)
def arrays_without_axes_in_derivatives(x: Any) -> Any:
    a = np.array(x[0])

    def inner(v: Any) -> Any:
        b = np.zeros(())
        b += v * a
        return b * b

    value, slope = adc.value_and_grad(inner)(np.array(x[1]))
    return value * slope + adc.jvp(inner, (a,), (x[2],))[1]


@program(X3)
def arrays_without_axes_with_two_names(x: Any) -> Any:
    a = np.array(x[0])
    b = a
    c = a if x[0] > 0.0 else -a
    for v in x:
        b = b * v
    return a * b + c


@program(X3, 3)
def arrays_without_axes_appended(x: Any, n: Any) -> Any:
    found = []
    for i in range(n):
        found.append(np.array(x[i] * x[i]))
    return found[0] * found[-1] + sum(found)


# --- names that are arrays on one path and views on another ---------------------------------------


@program(X3, M33, argnums=(0, 1))
def state_before_a_loop_and_row_in_it(x: Any, w: Any) -> Any:
    hidden = np.zeros((4, 3))
    signal = x * 2.0
    for i in range(4):
        hidden[i] = np.tanh(w @ signal)
        signal = hidden[i]
    return np.sum(signal * x) + np.sum(hidden**2)


@program(X3, M33, argnums=(0, 1))
def row_before_a_loop_and_array_in_it(x: Any, w: Any) -> Any:
    signal = w[0]
    for _ in range(3):
        signal = np.tanh(signal * x)
    return np.sum(signal)


@program(X3, M33, argnums=(0, 1))
def row_before_a_loop_and_column_in_it(x: Any, w: Any) -> Any:
    a = w[0]
    b = x[:2]
    for i in range(3):
        x = x * a + 0.1
        a = w[:, i] if i != 1 else w[i] * 2.0
        b = w[i, 1:]
    return np.sum(x) + np.sum(b * a[:2])


@program(X3, M33, argnums=(0, 1))
def rows_in_containers_in_a_loop(x: Any, w: Any) -> Any:
    pair = (x * 1.0, 0.0)
    items = [x * 2.0, 1.0]
    table = {"s": x * 3.0}
    for i in range(3):
        pair = (w[i], pair[1] + np.sum(pair[0]))
        items[1] = items[1] + np.sum(items[0]) * items[1]
        items[0] = w[:, i]
        x = x + table["s"]
        table["s"] = w[i, ::-1]
    return pair[1] * np.sum(pair[0]) + items[1] * np.sum(items[0]) + np.sum(table["s"] * x)


@program(X3, M33, argnums=(0, 1))
def views_of_an_array_made_in_the_loop(x: Any, w: Any) -> Any:
    a = x * 1.0
    for i in range(3):
        t = w * x[i]
        x = x + a
        a = t[i]
        t[i, 0] = 7.0 * x[1]
    return np.sum(a * x)


@program(X3, M33, argnums=(0, 1))
def row_written_after_it_was_taken(x: Any, w: Any) -> Any:
    h = w * 1.0
    a = x * 1.0
    for i in range(3):
        x = x + a
        a = h[i]
        a[0] = 7.0 * x[1]
        h[i, 1] *= 2.0
    return np.sum(a * x) + np.sum(h * h)


@program(X3, M33, argnums=(0, 1))
def rows_in_nested_loops_with_exits(x: Any, w: Any) -> Any:
    a = x * 1.0
    i = 0
    while i < 4:
        i += 1
        for j in range(3):
            if x[j] > 3.0:
                break
            if j == 1:
                continue
            x = x * 0.9 + a * a
            a = w[j]
        a = a * 2.0
    return np.sum(a * x)


@program(X3, M33, argnums=(0, 1))
def arrays_and_rows_that_rotate(x: Any, w: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for i in range(3):
        a, b = w[i], a * b
    for row in w:
        b, a = a, row
    return np.sum(a * b)


@program(X3, M33, argnums=(0, 1))
def loop_without_iterations_keeps_the_array(x: Any, w: Any) -> Any:
    a = x * 1.0
    for i in range(len(x) - 3):
        a = w[i]
    a[0] = 2.0 * x[1]
    return np.sum(a * x) + 0.0 * np.sum(x)


@program(X3, M33, argnums=(0, 1))
def read_only_on_one_path(x: Any, w: Any) -> Any:
    a = x * 1.0
    for i in range(3):
        a = a * np.diag(w) if i < 2 else np.diag(w)
    b = np.diag(w) if x[0] > 0.0 else x * 1.0
    return np.sum(a * x) + np.sum(b * b)


# --- refused --------------------------------------------------------------------------------------


@_refused(X3, M33)
def row_seen_to_change_after_a_loop(x: Any, w: Any) -> Any:
    h = w * 1.0
    a = x * 1.0
    for i in range(3):
        a = h[i]
    h[2, 0] = 7.0
    return np.sum(a * x)


@_refused(X3, M33)
def row_written_in_the_next_iteration(x: Any, w: Any) -> Any:
    h = w * 1.0
    a = x * 1.0
    for i in range(3):
        a[0] = 7.0
        a = h[i]
    return np.sum(h * h)


@_refused(X3, M33)
def written_where_it_may_be_read_only(x: Any, w: Any) -> Any:
    a = np.diag(w) if x[0] < 0.0 else x * 1.0
    a[0] = 2.0
    return np.sum(a)


@_refused(X3)
def number_or_array_without_axes_with_two_names(x: Any) -> Any:
    a = np.array(1.0)
    b = a
    if x[0] < 0.0:
        a = x[0] * x[1]
    a += 1.0
    return a * b


@_refused(X3, 3)
def array_without_axes_changed_after_it_was_appended(x: Any, n: Any) -> Any:
    found = []
    a = np.array(0.0)
    for i in range(n):
        a += x[i]
        found.append(a)
    return found[0] * found[-1]


REFUSED: list[tuple[Program, str]] = [
    (p, text)
    for p, text in zip(
        _REFUSED,
        (
            *["may or may not be the same array here"] * 2,
            *["whether 'a' may be written to depends on the path"] * 2,
            "may be in this list and was changed",
        ),
        strict=True,
    )
]
