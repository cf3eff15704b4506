"""Stencils: loops whose reverse code adds to neighbouring elements, which `gather` turns around.

Sizes are such that rows lack nothing, lack some of the iterations that add to them, or all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

STENCIL_PROGRAMS: list[Program] = []
program = recorder(STENCIL_PROGRAMS, "stencil")

X9 = uniform(41, 9)
W9 = uniform(42, 9)
G67 = uniform(43, 6, 7)
W67 = uniform(44, 6, 7)
C445 = uniform(45, 4, 5, 4)
F67 = G67.astype(np.float32)


# --- one axis -------------------------------------------------------------------------------------


@program(X9)
def stencil_in_place(x: Any) -> Any:
    a = x.copy()
    a[1:-1] = a[:-2] + a[2:]
    return weighted(a)


@program(X9)
def stencil_of_all_sizes(x: Any) -> Any:
    total = 0.0
    for n in range(len(x) + 1):
        a = x[:n] * 1.0
        a[1:-1] = a[:-2] + 3.0 * a[2:] - a[1:-1]
        total += weighted(a)
    return total


@program(X9, 0)
def stencil_of_one_size(x: Any, n: Any) -> Any:
    a = x[:n].copy()
    a[1:-1] = a[:-2] + 3.0 * a[2:] - a[1:-1]
    return weighted(a) + x[0]


@program(X9, 2)
def stencil_of_two(x: Any, n: Any) -> Any:
    a = x[:n].copy()
    a[1:-1] = a[:-2] + 3.0 * a[2:] - a[1:-1]
    a[1:] = a[1:] - a[:-1]
    return weighted(a)


@program(X9, 1)
def stencil_of_one(x: Any, n: Any) -> Any:
    a = x[:n].copy()
    a[1:] = a[1:] - a[:-1]
    return weighted(a)


@program(X9, 3)
def stencil_nonlinear_in_place(x: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) - u[1:-1] * (u[2:] - u[:-2])
    return weighted(u)


@program(X9, 3)
def stencil_nonlinear_swapped(x: Any, steps: Any) -> Any:
    u = x.copy()
    v = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = np.tanh(u[i - 1] + u[i] + 0.5 * u[i + 1])
        u, v = v, u
    return weighted(u) + weighted(v)


@program(X9, 0)
def stencil_no_steps(x: Any, steps: Any) -> Any:
    u = x.copy()
    v = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = np.tanh(u[i - 1] + u[i] + u[i + 1])
        u, v = v, u
    return weighted(u)


@program(X9, W9, 3, argnums=(0, 1))
def stencil_active_weights(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    v = x.copy()
    for _ in range(steps):
        v[1:-1] = w[1:-1] * (u[:-2] + u[1:-1] + u[2:]) + w[2:] * u[2:]
        u, v = v, u
    return weighted(u)


@program(X9, W9)
def stencil_given_weights(x: Any, w: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(2, len(x) - 1):
        y[i] = w[i] * (x[i - 2] + x[i + 1] - x[i]) + w[i - 1] * x[i - 1]
    return weighted(y)


@program(X9, W9[:3], argnums=(0, 1))
def stencil_unrolled_kernel(x: Any, w: Any) -> Any:
    y = np.zeros(len(x) - 2)
    for i in range(len(y)):
        y[i] = w[0] * x[i] + w[1] * x[i + 1] + w[2] * x[i + 2]
    return weighted(y)


@program(X9, 0.3, argnums=(0, 1))
def stencil_active_factor(x: Any, c: Any) -> Any:
    y = x.copy()
    for _ in range(2):
        y[1:-1] += c * (y[2:] - y[1:-1] + y[:-2])
    return weighted(y)


@program(X9)
def stencil_steps_of_two(x: Any) -> Any:
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[2 * i] * 2.0 + x[2 * i + 1] - x[2 * i + 2] * x[2 * i]
    z = x.copy()
    z[2:-2:2] = z[:-4:2] + z[4::2]
    return weighted(y) + weighted(z)


@program(X9)
def stencil_downwards(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x) - 2, 0, -1):
        y[i] = x[i - 1] - 2.0 * x[i] + x[i + 1]
    z = x[::-1].copy()
    z[1:-1] = z[2:] * 0.5 - z[:-2]
    return weighted(y) + weighted(z)


@program(X9, 2, 3)
def stencil_runtime_offset(x: Any, low: Any, k: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(low, len(x) - k - 1):
        y[i] = x[i + k] + x[i + k + 1] * 2.0 + x[i - low]
    return weighted(y)


@program(X9)
def stencil_same_place_twice(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.sin(x[i]) + x[i - 1] + x[i - 1] * 0.25 + x[i]
    return weighted(y)


@program(X9)
def stencil_far_apart(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x) - 7):
        y[i] = x[i] + x[i + 7]
    return weighted(y)


@program(X9)
def stencil_adding_constants(x: Any) -> Any:
    total = 0.0
    for i in range(1, len(x) - 1):
        total += x[i - 1] + x[i + 1] * 2.0 - x[i]
    return total * total


@program(X9)
def stencil_that_reads_what_it_writes(x: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = 0.5 * (y[i - 1] + y[i + 1])
    return weighted(y)


@program(X9)
def stencil_read_within(x: Any) -> Any:
    y = x.copy()
    z = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        z[i] = y[i - 1] + y[i + 1]
        y[i] = np.sin(z[i])
    return weighted(y) + weighted(z)


@program(X9)
def stencil_under_a_branch(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        if x[i] > 0.0:
            y[i] = x[i - 1] * x[i + 1]
        else:
            y[i] = x[i - 1] - x[i + 1]
    return weighted(y)


@program(X9)
def stencil_of_a_limiter(x: Any) -> Any:
    flux = np.where(x[1:] - x[:-1] > 0.1, 0.0, x[1:] - 0.5 * x[:-1])
    y = x.copy()
    y[1:-1] -= flux[1:] - flux[:-1]
    return weighted(y)


@program(X9)
def stencil_periodic(x: Any) -> Any:
    for _ in range(2):
        x = x + 0.1 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1))
    return weighted(x)


@program(X9)
def stencil_periodic_loop(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        y[i] = x[i - 1] + x[(i + 1) % n] - x[i] ** 2
    return weighted(y)


@program(X9)
def stencil_and_a_sum(x: Any) -> Any:
    y = np.zeros_like(x)
    total = 0.0
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + x[i + 1]
        total += x[i] * y[i]
    return weighted(y) * total


def _smoothed(x: Any, c: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = c * (x[i - 1] + x[i + 1]) - x[i]
    return y


@program(X9, 0.3, argnums=(0, 1))
def stencil_in_a_function(x: Any, c: Any) -> Any:
    return weighted(_smoothed(_smoothed(x, c), c * c)) + weighted(_smoothed(x[:2], c))


def _smoothed_times(x: Any, steps: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + 0.5 * x[i + 1] - x[i]
    return np.sin(y) if steps == 0 else _smoothed_times(y, steps - 1)


@program(X9, 2, tags="recursive")
def stencil_recursive(x: Any, steps: Any) -> Any:
    return weighted(_smoothed_times(x, steps))


# --- two axes -------------------------------------------------------------------------------------


@program(G67, 3)
def stencil_five_points(x: Any, steps: Any) -> Any:
    a = x.copy()
    b = x.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a, b = b, a
    return weighted(a)


@program(G67)
def stencil_five_points_of_all_sizes(x: Any) -> Any:
    total = 0.0
    for n in range(7):
        for m in range(8):
            a = x[:n, :m] * 1.0
            b = a.copy()
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    b[i, j] = 4.0 * a[i, j] - a[i - 1, j] + a[i + 1, j] - a[i, j - 1] + a[i, j + 1]
            total += weighted(b)
    return total


@program(G67, W67, argnums=(0, 1))
def stencil_nine_points(x: Any, w: Any) -> Any:
    n, m = x.shape
    y = np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            y[i, j] = w[i, j] * (
                x[i - 1, j - 1] + x[i - 1, j] - x[i - 1, j + 1] + 2.0 * x[i, j - 1] + x[i, j]
                + x[i, j + 1] + x[i + 1, j - 1] - 3.0 * x[i + 1, j] + x[i + 1, j + 1]
            )  # fmt: skip
    return weighted(y)


@program(G67)
def stencil_diagonal(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:, :-2] = x[:-1, 2:] - x[1:, :-2] * 0.5
    return weighted(y)


@program(G67)
def stencil_along_one_of_two(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2]
    z = np.zeros_like(x)
    z[:, 1:-1] = x[:, 2:] - 2.0 * x[:, 1:-1] + x[:, :-2]
    return weighted(y) + weighted(z)


@program(G67)
def stencil_loops_exchanged(x: Any) -> Any:
    n, m = x.shape
    y = np.zeros((n, m))
    for j in range(1, m - 1):
        for i in range(n - 2):
            y[i, j] = x[i, j] + x[i + 2, j - 1] + x[i + 1, j + 1]
    return weighted(y)


@program(G67)
def stencil_transposed(x: Any) -> Any:
    n, m = x.shape
    y = np.zeros((m, n))
    for j in range(m - 1):
        for i in range(1, n):
            y[j, i] = x[i, j] - x[i - 1, j + 1]
    return weighted(y)


@program(G67)
def stencil_triangle(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, 6):
        for j in range(1, i):
            y[i, j] = x[i, j - 1] + x[i, j + 1] + x[i - 1, j]
    return weighted(y)


@program(G67)
def stencil_rows_of_a_matrix(x: Any) -> Any:
    y = np.zeros_like(x)
    for j in range(1, x.shape[1] - 1):
        y[0, j] = x[0, j - 1] + x[0, j + 1] + x[3, j] + x[3, j - 1]
    return weighted(y)


@program(G67, G67 * 0.5, argnums=(0, 1))
def stencil_of_two_fields(u: Any, v: Any) -> Any:
    u, v = u.copy(), v.copy()
    for _ in range(2):
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] - 0.1 * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[:-2, 1:-1])
        u[1:-1, 1:-1] += 0.2 * (vn[1:-1, 2:] - vn[1:-1, :-2]) * un[1:-1, 2:]
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] + 0.3 * (un[2:, 1:-1] - un[:-2, 1:-1])
    return weighted(u) + weighted(v)


@program(G67)
def stencil_boundary_conditions(x: Any) -> Any:
    p = x.copy()
    for _ in range(2):
        q = p.copy()
        p[1:-1, 1:-1] = 0.25 * (q[1:-1, 2:] + q[1:-1, :-2] + q[2:, 1:-1] + q[:-2, 1:-1])
        p[0, :] = p[1, :]
        p[:, -1] = p[:, -2] * 0.5
        p[-1, 1:] = 1.0
    return weighted(p)


@program(F67, tags="float32")
def stencil_single_precision(x: Any) -> Any:
    y = x.copy()
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] - x[1:-1, :-2] * np.float32(0.5)
    return weighted(y)


@program(G67)
def stencil_periodic_matrix(x: Any) -> Any:
    y = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) - 3.0 * x
    return weighted(y)


# --- three axes -----------------------------------------------------------------------------------


@program(C445)
def stencil_seven_points(x: Any) -> Any:
    y = x.copy()
    y[1:-1, 1:-1, 1:-1] = (
        x[:-2, 1:-1, 1:-1]
        + x[2:, 1:-1, 1:-1]
        - 2.0 * (x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1])
        + 3.0 * (x[1:-1, 1:-1, :-2] - x[1:-1, 1:-1, 2:])
        - x[1:-1, 1:-1, 1:-1]
    )
    return weighted(y)


@program(C445)
def stencil_middle_axis(x: Any) -> Any:
    y = x.copy()
    y[:, 1:-1] = x[:, :-2] + x[:, 2:]
    z = x.copy()
    z[1:] = x[1:] - x[:-1]
    return weighted(y) + weighted(z)


@program(C445, C445[1:-1, 1:-1] * 0.5, argnums=(0, 1))
def stencil_horizontal_diffusion(x: Any, c: Any) -> Any:
    lap = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    flux = lap[1:] - lap[:-1]
    flux = np.where(flux * (x[2:-1, 1:-1] - x[1:-2, 1:-1]) > 0.0, 0.0, flux)
    y = np.zeros_like(c)
    y[:-1] = x[1:-2, 1:-1] - c[:-1] * flux
    return weighted(y)


# --- what is added is changed within the loop -----------------------------------------------------


@program(X9, tags="changed")
def stencil_that_drives_a_recurrence(x: Any) -> Any:
    y = np.zeros(len(x) + 1)
    for i in range(len(x) - 1):
        y[i + 1] = 0.5 * y[i] + x[i] + 2.0 * x[i + 1]
    return weighted(y)


@program(G67, tags="changed")
def stencil_that_drives_rows(x: Any) -> Any:
    n, m = x.shape
    y = np.zeros(m)
    z = np.zeros((n, m))
    for i in range(n - 1):
        for j in range(1, m - 1):
            y[j] = 0.5 * y[j] + x[i, j - 1] + 2.0 * x[i + 1, j + 1]
            z[i, j] = z[i, j - 1] * x[i, j] + x[i, j] + x[i, j - 1]
    return weighted(y) + weighted(z)


@program(X9, tags="changed")
def stencil_read_back(x: Any) -> Any:
    y = x.copy()
    z = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] - x[i + 1]
        z[i] = y[i - 1] * 0.3 + x[i]
    return weighted(y) + weighted(z)


@program(G67, tags="changed")
def stencil_rows_in_turn(x: Any) -> Any:
    a = x.copy()
    n, m = a.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            a[i, j] = np.sin(a[i, j]) * a[i, j - 1]
        a[i, 1:-1] += a[i - 1, :-2] + a[i + 1, 2:] + a[i - 1, 1:-1]
        b = a[i, 2:] - a[i, :-2]
        a[i, 1:-1] = b
    return weighted(a)


@program(G67, tags="changed")
def stencil_twice_a_row(x: Any) -> Any:
    n, m = x.shape
    y = np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            y[i, j] = x[i - 1, j] + x[i, j + 1] - x[i + 1, j]
        for j in range(1, m - 1):
            y[i, j] *= x[i - 1, j - 1] + x[i, j + 1]
    return weighted(y)


@program(uniform(46, 4), uniform(47, 1, 5), 0, argnums=(0, 1), tags="changed")
def stencil_written_before_a_merged_loop(a: Any, x: Any, n: Any) -> Any:
    # The first loop must not run behind the write to what it reads.
    a -= np.tanh(x[n, n : 4 + n])
    x[:, 1:] = np.tanh(x[:, :-1] * x[:, :4]) + 0.5 * x[:, 1:]
    t = a.copy()
    return np.sum(a * a) + np.sum(x * x) + np.sum(t * t)
