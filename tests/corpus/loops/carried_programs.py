"""Kernels whose iterations hand values to the next ones: scratch arrays, parts, columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import P33, weighted
from tests.corpus.program import X6, Program, recorder, uniform

CARRIED_PROGRAMS: list[Program] = []
program = recorder(CARRIED_PROGRAMS, "kernel")

G55 = uniform(21, 5, 5)

# --- what an iteration hands to the next one ------------------------------------------------------


@program(X6, 0.3)
def recurrence_of_two_elements(x: Any, w: Any) -> Any:
    for k in range(2, x.shape[0]):
        x[k] = x[k] + w * x[k - 1] - 0.2 * x[k - 2]
    return weighted(x)


@program(X6, 0.3)
def recurrence_downwards(x: Any, w: Any) -> Any:
    for k in range(x.shape[0] - 2, -1, -1):
        x[k] = np.sin(x[k + 1]) * w + x[k]
    return weighted(x)


@program(X6, 0.3)
def recurrence_in_steps_of_two(x: Any, w: Any) -> Any:
    for k in range(2, x.shape[0], 2):
        x[k] = w * x[k - 2] + x[k - 1] * x[k]
    return weighted(x)


@program(X6.astype(np.float32), np.float32(0.3))
def recurrence_in_single_precision(x: Any, w: Any) -> Any:
    for k in range(1, x.shape[0]):
        x[k] = w * x[k - 1] + x[k] * x[k]
    return weighted(x)


@program(X6, 0.3)
def recurrence_in_a_branch(x: Any, w: Any) -> Any:
    y = np.zeros(x.shape[0])
    for k in range(1, x.shape[0]):
        y[k] = y[k - 1] * w + x[k]
        if k % 2 == 0:
            y[k] = y[k] * y[k - 1]
        x[k] = 2.0 * x[k] * y[k]
    return weighted(x) + weighted(y)


@program(X6, 0.3)
def recurrence_from_both_ends(x: Any, w: Any) -> Any:
    n = x.shape[0]
    for k in range(1, n):
        x[k] += w * x[k - 1]
        x[n - k] *= 0.5
    return weighted(x)


@program(X6, 0.3)
def recurrence_that_writes_twice(x: Any, w: Any) -> Any:
    for k in range(1, x.shape[0]):
        x[k] = x[k - 1] * w
        x[k - 1] = x[k] + 1.0
        x[k] += x[k - 1] * x[k]
    return weighted(x)


@program(G55, 0.3)
def recurrence_in_triangles(x: Any, w: Any) -> Any:
    for i in range(x.shape[0]):
        for j in range(1, i):
            x[i, j] += w * x[i, j - 1] * x[i - 1, j]
    return weighted(x)


@program(G55, 0.3)
def recurrence_through_a_view(x: Any, w: Any) -> Any:
    for i in range(x.shape[0]):
        row = x[i]
        rest = row[1:]
        for j in range(rest.shape[0]):
            rest[j] = w * row[j] * rest[j]
    return weighted(x)


@program(X6, 0.3, 3)
def recurrence_of_swapped_arrays(x: Any, w: Any, steps: Any) -> Any:
    a, b = x.copy(), np.cos(x)
    for _ in range(steps):
        for k in range(1, x.shape[0]):
            a[k] = a[k - 1] * w + b[k] * b[k - 1]
        a, b = b, a
    return weighted(a) + weighted(b) * 0.5


@program(G55)
def contributions_to_neighbours(x: Any) -> Any:
    y = np.zeros(x.shape)
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            part = x[i, j] * x[i, j]
            y[i, j - 1] += part
            y[i, j] -= 2.0 * part
            y[i, j + 1] += part * x[i, j]
            y[i - 1, j] += part
            y[i + 1, j] *= part
    return weighted(y)


@program(X6, uniform(24, 24), 3)
def gates_in_parts_of_one_array(x: Any, w: Any, steps: Any) -> Any:
    n = x.shape[0]
    state = np.zeros(n)
    for _ in range(steps):
        keep = np.tanh(x * w[:n] + w[n : 2 * n])
        let = x * w[2 * n : 3 * n] + w[3 * n :]
        state = state * keep + let
        x = np.sin(state) * x
    return weighted(x)


# --- steps on parts of arrays ---------------------------------------------------------------------


@program(uniform(25, 3, 2, 4), uniform(26, 3, 2, 4))
def levels_of_columns(x: Any, w: Any) -> Any:
    y = np.zeros(x.shape)
    last = np.ones(x.shape[:2])
    y[:, :, 0] = np.sin(x[:, :, 0])
    for k in range(1, x.shape[2]):
        y[:, :, k] = x[:, :, k] * y[:, :, k - 1] + w[:, :, k - 1]
    for k in range(x.shape[2] - 2, -1, -1):
        last[:] = last * x[:, :, k] + y[:, :, k + 1]
        y[:, :, k] = last * w[:, :, k]
    return weighted(y) + weighted(last)


@program(uniform(27, 4, 3), 3)
def steps_of_rows(x: Any, steps: Any) -> Any:
    for t in range(steps):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] + 0.1 * np.sin(x[i, j] * (t + 1))
    return weighted(x)


@program(uniform(28, 4, 3), uniform(29, 4), 3)
def steps_of_rows_that_read_others(x: Any, w: Any, steps: Any) -> Any:
    y = x.copy()
    for t in range(steps):
        for i in range(x.shape[0]):
            for j in range(1, x.shape[1]):
                y[i, j] = y[i, j] * w[t] + x[t, j] * y[i, j - 1]
    return weighted(y)


@program(uniform(30, 4, 3), 3)
def steps_that_read_the_row_above(x: Any, steps: Any) -> Any:
    for _ in range(steps):
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] + 0.1 * x[i - 1, j] * x[i, j]
    return weighted(x)


@program(uniform(31, 4, 3), 0)
def steps_that_are_none(x: Any, steps: Any) -> Any:
    for t in range(steps):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] *= x[i, j] * (t + 1)
    return weighted(x)


@program(uniform(32, 2, 3, 4))
def levels_with_a_sum(x: Any) -> Any:
    total = 0.0
    for k in range(1, x.shape[2]):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j, k] += x[i, j, k - 1] * total
                total += x[i, j, k] * 0.1
    return weighted(x) + total


# --- columns, one after the other -----------------------------------------------------------------


@program(uniform(33, 4, 3), uniform(34, 4))
def products_of_columns(a: Any, x: Any) -> Any:
    y = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        s = 0.5
        for i in range(a.shape[0]):
            s += a[i, j] * x[i]
        y[j] = s * s
    return weighted(y)


@program(uniform(35, 3, 4), uniform(36, 4, 2))
def product_of_matrices(a: Any, b: Any) -> Any:
    c = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return weighted(c)


@program(uniform(37, 4, 3))
def columns_made_orthogonal(a: Any) -> Any:
    m, n = a.shape
    q, r = np.zeros((m, n)), np.zeros((n, n))
    for k in range(n):
        dot = 0.0
        for i in range(m):
            dot += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(dot)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            dot = 0.0
            for i in range(m):
                dot += q[i, k] * a[i, j]
            r[k, j] = dot
            for i in range(m):
                a[i, j] -= q[i, k] * dot
    return weighted(q) + weighted(r)


@program(P33, 2.0)
def columns_of_several_sums(a: Any, w: Any) -> Any:
    out = np.zeros((3, a.shape[1]))
    for j in range(a.shape[1]):
        half = a[0, j] * w
        largest, total, count = half, half, 1
        for i in range(a.shape[0]):
            largest = max(largest, a[i, j])
            total += a[i, j] * half
            count += 1
        out[0, j] = largest
        mean = total / count
        for i in range(a.shape[0]):
            out[1, j] += (a[i, j] - mean) * (a[i, j] - mean)
        out[2, j] = mean * half
    return weighted(out)


@program(P33)
def columns_that_read_each_other(a: Any) -> Any:
    for j in range(1, a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * a[i, j - 1]
        a[0, j] = s
    return weighted(a)


@program(P33)
def columns_of_none(a: Any) -> Any:
    y = np.ones(a.shape[1])
    for j in range(1, a.shape[1] - 2):
        s = 1.0
        for i in range(2, a.shape[0] - 2):
            s *= a[i, j]
        y[j] = s
    return weighted(y) * np.sum(a)


# --- states that reverse code needs as iterations begin with them, and as they leave them ---------


@program(P33, X6.reshape(2, 3), G55[:3, :3])
def states_of_a_recurrent_network(w: Any, x: Any, u: Any) -> Any:
    h = np.zeros(3)
    s = 0.0
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + u @ x[t])
        s += h[0]
    return s + weighted(h)


@program(X6.astype(np.float32), np.float32(0.3))
def states_in_single_precision(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = np.exp(-w * x)
    return weighted(x)


@program(X6[:3], X6[3:], P33)
def two_states_in_turns(x: Any, y: Any, w: Any) -> Any:
    for _ in range(3):
        x, y = np.tanh(w @ y), np.exp(-0.1 * x * y)
    return weighted(x * y)


@program(P33, X6[:3])
def states_of_unit_length(a: Any, v: Any) -> Any:
    n = 0
    while n < 4 and v[0] < 9.0:
        w = a @ v
        v = w / np.sqrt(np.sum(w * w))
        n += 1
    return weighted(v)


@program(P33, 0.2)
def states_stored_by_columns(a: Any, h: Any) -> Any:
    for _ in range(3):
        b = np.empty_like(a)
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                b[i, j] = np.tanh(a[i, j] * a[j, i])
        a = b
        h = np.exp(-h * a[0, 1])
    return weighted(a) + h * h


@program(G55[:2], G55[:3, :5] * 0.3, np.ones(3))
def states_of_layers_in_epochs(x: Any, w: Any, scale: Any) -> Any:
    for _ in range(2):
        for k in range(3):
            if scale[k] > 0.0:
                x = np.tanh(x * w[k] + scale[k] * x[::-1])
            else:
                x = np.sin(x)
        x = x * 1.1
    return weighted(x)
