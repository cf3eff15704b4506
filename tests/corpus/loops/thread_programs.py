"""Loops of which an iteration does a lot, and needs nothing of the others: one thread each.

Tags
----
``outline_kernels``
    On a device with many threads the loop and its reverse loop become launches as a whole.
``measured``
    The memory of a thread is known only at run time: it is measured first.
``both``
    With few iterations inner loops become launches instead: there is code for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

THREAD_PROGRAMS: list[Program] = []
program = recorder(THREAD_PROGRAMS, "thread")

X5 = uniform(81, 5)
P5 = uniform(82, 5, low=0.5, high=1.6)
X43 = uniform(83, 4, 3)
P42 = uniform(84, 4, 2, low=0.5, high=1.5)
W33 = uniform(85, 3, 3)
W3 = uniform(86, 3)
RATES = np.array([1.0, 0.5, 0.3, 0.8])
COUNTS = np.array([3, 0, 5, 1])


# --- numbers --------------------------------------------------------------------------------------


@program(P5, uniform(87, 5, low=0.5, high=2.0), argnums=(0, 1), tags="whole measured while")
def thread_ode_with_adaptive_steps(y0: Any, k: Any) -> Any:
    total = 0.0
    for i in range(y0.shape[0]):
        t, h, y = 0.0, 0.1, y0[i]
        while t < 1.0:
            k1 = -k[i] * y * y
            k2 = -k[i] * (y + h * k1) ** 2
            if abs(k2 - k1) * h < 0.01:
                y = y + 0.5 * h * (k1 + k2)
                t = t + h
                h = h * 1.2
            else:
                h = h * 0.5
        total += y * y
    return total


@program(P5, tags="whole measured while")
def thread_newton_iterations(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        x = 1.0
        while abs(x * x - a[i]) > 1e-9:
            x = 0.5 * (x + a[i] / x)
        s += x * np.sin(x)
    return s


@program(X5, tags="whole measured")
def thread_triangle(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        product = 1.0
        for j in range(i):
            product = product * np.sin(a[j] + product)
        s += product * a[i]
    return s


@program(P5, 3, tags="whole measured while")
def thread_whiles_in_whiles(x: Any, most: Any) -> Any:
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y = x[i]
        rounds = 0
        while rounds < most:
            z = y
            while z > 0.3:
                z = z * 0.6 * np.cos(0.1 * y)
            y = y + z * y
            rounds += 1
        out[i] = y
    return weighted(out)


@program(X5, COUNTS, tags="whole measured exit")
def thread_break_continue(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n.shape[0]):
        y = x[i]
        for j in range(n[i]):
            if j == 1:
                continue
            y = np.sin(y + x[j])
            if y > 0.6:
                break
        s += y * y
    return s


def _root(a: Any, steps: Any) -> Any:
    x = 1.0
    for _ in range(steps):
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-6:
            return y
        x = y
    return -x


@program(P5, 4, tags="whole measured exit")
def thread_return_from_an_inner_loop(a: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += _root(a[i], steps) * a[i]
    return s


@program(X5, 4, tags="whole")
def thread_ints_and_bools_on_the_tape(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        y, k, turned = x[i], i, False
        for _ in range(steps):
            if turned or y * k < 0.5:
                y = np.sin(y) * (k + 1)
                k = (3 * k + 1) % 7
            else:
                y = y * np.cos(y)
            turned = not turned and y > 0.2
        s += y
    return s


@program(X5.astype(np.float32), 3, tags="whole float32")
def thread_single_precision(x: Any, steps: Any) -> Any:
    s = np.float32(0.0)
    for i in range(x.shape[0]):
        y = x[i]
        for _ in range(steps):
            y = y - np.float32(0.1) * y * np.exp(y)
        s += y * y
    return s


@program(P5, 3)
def thread_products_and_extremes(x: Any, steps: Any) -> Any:
    """A launch for the value alone: the gradient needs the products so far."""
    product, most, least, total = 1.0, -1.0, 9.0, 0.0
    for i in range(x.shape[0]):
        y = x[i]
        for _ in range(steps):
            y = y + 0.3 * np.sin(y * x[i])
        product *= y
        most = np.maximum(most, y * x[i])
        least = np.minimum(least, y - x[i])
        total -= y
    return product + most * least + total


@program(P5, 0, tags="whole measured while")
def thread_loop_of_no_iterations(x: Any, n: Any) -> Any:
    s = x[0] * x[0]
    for i in range(n):
        y = x[i]
        while y > 0.1:
            y = y * y * 0.5
        s += y
    return s


@program(P5, 1, tags="whole measured while")
def thread_loop_of_one_iteration(x: Any, n: Any) -> Any:
    s = x[0] * x[0]
    for i in range(n):
        y = x[i]
        while y > 0.1:
            y = y * y * 0.5
        s += y
    return s


@program(uniform(88, 6), uniform(89, 4, low=0.3, high=0.9), argnums=(0, 1), tags="whole")
def thread_walks_with_given_steps(draws: Any, p: Any) -> Any:
    """A Monte Carlo estimate, with numbers that were drawn before."""
    total = 0.0
    for path in range(draws.shape[0] - 2):
        s, alive = 1.0, 1.0
        for step in range(3):
            s = s * np.exp(p[0] * draws[path + step] - 0.5 * p[0] * p[0])
            if s < p[1]:
                alive = alive * p[2]
        total += alive * np.maximum(s - p[3], 0.0)
    return total


# --- arrays ---------------------------------------------------------------------------------------


@program(P42, RATES, argnums=(0, 1), tags="whole")
def thread_state_of_two(y0: Any, p: Any) -> Any:
    out = np.zeros((y0.shape[0], 2))
    for i in range(y0.shape[0]):
        y = np.zeros(2)
        y[0], y[1] = y0[i, 0], y0[i, 1]
        for _ in range(4):
            dx = p[0] * y[0] - p[1] * y[0] * y[1]
            dy = p[2] * y[0] * y[1] - p[3] * y[1]
            y[0] += 0.05 * dx
            y[1] += 0.05 * dy
        out[i, 0], out[i, 1] = y[0], y[1]
    return np.sum(out * out)


@program(P42, RATES, argnums=(0, 1), tags="whole measured both while")
def thread_system_with_adaptive_steps(y0: Any, p: Any) -> Any:
    total = 0.0
    for i in range(y0.shape[0]):
        y = y0[i].copy()
        t, h = 0.0, 0.2
        while t < 1.0:
            k1 = np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])
            z = y + h * k1
            k2 = np.array([p[0] * z[0] - p[1] * z[0] * z[1], p[2] * z[0] * z[1] - p[3] * z[1]])
            e = h * np.max(np.abs(k2 - k1))
            if e < 0.1:
                y = y + 0.5 * h * (k1 + k2)
                t += h
            h = h * min(2.0, max(0.3, 0.9 * np.sqrt(0.1 / (e + 1e-12))))
        total += np.sum(y * y)
    return total


@program(X43, W3, 3, argnums=(0, 1), tags="whole both")
def thread_arrays_made_in_iterations(x: Any, k: Any, steps: Any) -> Any:
    e = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for _ in range(steps):
            y = y[::-1] - 0.1 * k * y * np.sum(y * y)
        e += np.sum(y * y)
    return e


@program(X43, W3, argnums=(0, 1), tags="whole measured both while")
def thread_arrays_made_in_a_while(x: Any, k: Any) -> Any:
    e = 0.0
    for i in range(x.shape[0]):
        y = x[i] * 2.0
        while np.sum(y * y) > 0.4:
            y = 0.8 * y + 0.05 * k * np.sin(y)
        e += y[0] * y[-1] + y[1]
    return e


@program(X43, 3, tags="whole both")
def thread_arrays_swapped(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        a, b = x[i].copy(), np.cos(x[i])
        for _ in range(steps):
            for j in range(1, 3):
                b[j] = 0.5 * a[j - 1] * b[j] + np.sin(a[j])
            a, b = b, a
        s += weighted(a) - weighted(b)
    return s


@program(X43, 3, tags="whole both")
def thread_new_arrays_swapped(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        a, b = x[i].copy(), np.cos(x[i])
        for _ in range(steps):
            a, b = b * 0.9 + a, a * np.sin(b)
        s += weighted(a) - weighted(b)
    return s


@program(X43, W3, 3, argnums=(0, 1))
def thread_new_array_or_another_one(x: Any, w: Any, steps: Any) -> Any:
    """No launch: its cotangents are added as whole arrays."""
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for k in range(steps):
            if y[0] + 0.2 * k > 0.3:
                z = y * w
            else:
                z = y
            y = np.sin(z) + y[::-1]
        s += weighted(y)
    return s


@program(X43, 3, tags="whole both")
def thread_old_and_new_arrays_swapped(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        a, b, c = x[i].copy(), np.cos(x[i]), 0.5 * x[i]
        for _ in range(steps):
            a, b, c = b, c, a * np.sin(b) + c
        s += weighted(a) - weighted(b) + c[0]
    return s


@program(X43, 2, 4, tags="whole both measured")
def thread_sizes_that_are_one_of_two(x: Any, m: Any, n: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        steps = m if i == 1 else n
        y = np.zeros(steps)
        y[0] = x[i, 0]
        for j in range(1, steps):
            y[j] = np.sin(y[j - 1]) * y[j - 1] + x[i, 1]
        s += np.sum(y * y[0])
    return s


@program(X43, W3, 3, argnums=(0, 1), tags="whole both")
def thread_array_chosen_by_a_branch(x: Any, w: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for k in range(steps):
            if y[0] + 0.2 * k > 0.3:
                y = y * w
            else:
                y = np.sin(y) + 0.5
            y[k % 3] = y[0] * y[1]
        s += weighted(y)
    return s


@program(X43, W33, argnums=(0, 1), tags="whole")
def thread_arrays_of_two_axes(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        a = np.zeros((3, 3))
        for j in range(3):
            for k in range(3):
                a[j, k] = x[i, j] * w[j, k]
        for j in range(1, 3):
            for k in range(1, 3):
                a[j, k] += 0.5 * a[j - 1, k] * a[j, k - 1]
        s += np.sum(a * a[0])
    return s


@program(X43, 3, tags="whole both")
def thread_whole_arrays_on_the_tape(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for t in range(steps):
            for j in range(y.shape[0]):
                y[j] = np.sin(y[j] * y[(j + t) % 3]) + 0.1
        s += weighted(y)
    return s


@program(X5, COUNTS, tags="whole measured both")
def thread_sizes_of_arrays_from_data(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n.shape[0]):
        y = np.zeros(n[i] + 1)
        y[0] = x[i]
        for j in range(1, n[i] + 1):
            y[j] = np.sin(y[j - 1]) + x[j - 1] * y[0]
        s += np.sum(y * y)
    return s


@program(uniform(90, 4, 6), tags="whole both")
def thread_views_of_rows(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        row = x[i]
        back = row[::-2].copy()
        for j in range(1, back.shape[0]):
            back[j] = back[j] * np.sin(back[j - 1]) + row[-j]
        s += np.sum(back * row[1::2])
    return s


# --- what iterations share ------------------------------------------------------------------------


@program(X43, W33, W3, argnums=(0, 1, 2), tags="whole both")
def thread_recurrent_network(x: Any, w: Any, b: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        h = np.zeros(w.shape[0])
        for _ in range(3):
            g = np.zeros(w.shape[0])
            for j in range(w.shape[0]):
                a = b[j]
                for k in range(w.shape[1]):
                    a += w[j, k] * h[k]
                g[j] = np.tanh(a + x[i, j])
            for j in range(w.shape[0]):
                h[j] = g[j]
        total += h[0] * h[1] + h[2]
    return total


@program(X43, W33, W3, argnums=(0, 1, 2), tags="whole both")
def thread_minibatch(x: Any, w: Any, v: Any) -> Any:
    loss = 0.0
    for i in range(x.shape[0]):
        h = np.tanh(w @ x[i])
        h = np.tanh(w @ h + h)
        loss += (np.sum(h * v) - 0.5) ** 2
    return loss / x.shape[0]


@program(X5, np.array([2, 0, 2, 1, 2]), 3, tags="whole")
def thread_histogram(x: Any, places: Any, steps: Any) -> Any:
    """Elements that iterations meet at are added to in place."""
    found = np.zeros(4)
    for i in range(x.shape[0]):
        y = x[i]
        for _ in range(steps):
            y = y * np.cos(y) + 0.1
        found[places[i]] += y
        found[places[i] + 1] += y * y
    return weighted(found)


@program(uniform(94, 4, 3), np.array([[2, 0, 2], [1, 1, 1], [2, 0, 0], [3, 2, 1]]), tags="whole")
def thread_gather_where_data_say(table: Any, words: Any) -> Any:
    """Examples share rows of a table: their contributions are added to the same elements."""
    s = 0.0
    for i in range(words.shape[0]):
        h = np.zeros(3)
        for t in range(3):
            for j in range(3):
                h[j] = np.tanh(0.7 * h[j - 1] + table[words[i, t], j])
        s += h[0] * h[1] + h[2]
    return s


@program(uniform(91, 4, 2), P5[:4], argnums=(0, 1), tags="whole both")
def thread_bodies(pos: Any, m: Any) -> Any:
    e = 0.0
    for i in range(pos.shape[0]):
        a = np.zeros(2)
        for j in range(pos.shape[0]):
            d = pos[j] - pos[i]
            r = d[0] * d[0] + d[1] * d[1] + 0.01
            a += m[j] * d / (r * np.sqrt(r))
        e += np.sum(np.sin(a * a))
    return e


@program(X43, W3, 3, argnums=(0, 1), tags="whole both")
def thread_rows_of_results(x: Any, w: Any, steps: Any) -> Any:
    out = np.empty((x.shape[0], steps, 3))
    for i in range(x.shape[0]):
        y = x[i].copy()
        for t in range(steps):
            y = np.sin(y) + 0.2 * w
            out[i, t] = y
    return weighted(out)


@program(X5, W3, 3, argnums=(0, 1), tags="whole")
def thread_loop_in_a_loop_over_time(x: Any, w: Any, steps: Any) -> Any:
    state = x.copy()
    for t in range(steps):
        mean = np.mean(state)
        for i in range(state.shape[0]):
            y = state[i]
            for k in range(3):
                y = y + 0.2 * np.sin(w[k] * y + mean)
            state[i] = y * (1.0 + 0.1 * t)
    return weighted(state)


@program(uniform(92, 3, 7), 2, tags="whole both")
def thread_few_iterations_around_many(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for _ in range(steps):
            for j in range(y.shape[0]):
                y[j] = np.sin(y[j]) * y[j]
        s += y[0] * y[1]
    return s


@program(uniform(93, 7, 3), 2, tags="whole both")
def thread_many_iterations_around_few(x: Any, steps: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i].copy()
        for _ in range(steps):
            for j in range(y.shape[0]):
                y[j] = np.sin(y[j]) * y[j]
        s += y[0] * y[1]
    return s


@program(X5, P5, 3, argnums=(0, 1), tags="whole measured while")
def thread_two_loops_one_after_the_other(x: Any, p: Any, steps: Any) -> Any:
    """Frames of the second loop are taken before those of the first."""
    y = np.empty(x.shape[0])
    z = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        a = x[i]
        for _ in range(steps):
            a = a * np.cos(a) + 0.1
        y[i] = a
    for i in range(x.shape[0]):
        b = p[i]
        while b > 0.3:
            b = b * np.exp(-0.3 * b - 0.1) * np.cos(y[0])
        z[i] = b * y[i]
    for i in range(x.shape[0]):
        z[i] = np.sin(z[i]) * z[i]
    return np.sum(z) * y[1]


@program(X5, 3)
def thread_iterations_that_need_each_other(x: Any, steps: Any) -> Any:
    """No launch: an iteration reads what the one before it wrote."""
    y = x.copy()
    for i in range(1, y.shape[0]):
        z = y[i - 1]
        for _ in range(steps):
            z = np.sin(z * y[i]) + x[i]
        y[i] = z
    return weighted(y)


@program(X43, 2)
def thread_rows_that_overlap(x: Any, steps: Any) -> Any:
    """No launch: neighbours write to the same elements."""
    out = np.zeros(x.shape[0] + 2)
    for i in range(x.shape[0]):
        y = x[i].copy()
        for _ in range(steps):
            y = y * np.cos(y)
        out[i : i + 3] = out[i : i + 3] * 0.5 + y
    return weighted(out)


@program(X5, P5, argnums=(0, 1))
def thread_two_recurrences(x: Any, p: Any) -> Any:
    """No launch: what the first one leaves becomes an array, and not what the second one does."""
    for _ in range(1, x.shape[0]):
        for k in range(1, x.shape[0]):
            x[k] = np.sin(x[k] * x[k - 1]) + 0.1 * x[k] * x[k]
    for i in range(1, x.shape[0]):
        for k in range(1, i):
            p[k] = np.sin(p[k] * p[k - 1]) + 0.1 * p[k] * p[k] + x[-1]
    return np.sum(p) * x[1]


@program(X43, P5[:4], W3, argnums=(0, 1, 2))
def thread_read_before_it_is_overwritten(x: Any, w: Any, v: Any) -> Any:
    """What becomes two loops must not read later what was read before."""
    y = np.empty(x.shape)
    for i in range(x.shape[0]):
        first = x[i, 0]
        x[i, 0] = w[i]
        for j in range(x.shape[1]):
            y[i, j] = first * v[j]
    return y[0, 0] * y[1, 2] + x[2, 0] * x[1, 1] + np.sin(y[3, 1])


@program(X43, tags="whole measured both while")
def thread_swapped_arrays_that_decide(x: Any) -> Any:
    """The kernel that measures has memory to copy swapped arrays to first, too."""
    s = 0.0
    for i in range(x.shape[0]):
        a, b = x[i].copy(), np.cos(x[i])
        while a[0] > 0.3:
            a, b = b, 0.5 * a
        s += a[0] * b[1]
    return s


# --- errors in threads: not part of the corpus ----------------------------------------------------


def index_in_a_while(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        k, y = i, x[i]
        while y < 1.0:
            y += w[k]
            k += 1
        total += y * y
    return total


def division_in_a_loop(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = x[i]
        for j in range(3):
            y = np.sin(y) * (1 + 6 // (i + j - n))
        total += y
    return total


def assertion_in_a_loop(x: Any, most: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = x[i]
        while y > 0.1:
            y = y * y
            assert y < most, "too large"
        total += y
    return total


def row_of_an_array_in_a_thread(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = np.zeros(n[i])
        y[0] = x[i]
        for j in range(1, 3):
            y[j] = np.sin(y[j - 1])
        total += y[2] * y[1]
    return total
