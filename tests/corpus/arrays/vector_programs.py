"""Programs with vectors of two, three or four numbers, and with slices of known ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adc
from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, X6, Program, recorder

VECTOR_PROGRAMS: list[Program] = []
program = recorder(VECTOR_PROGRAMS)


# --- vectors that are numbers ---------------------------------------------------------------------


@program(X3, X6[:3], argnums=(0, 1))
def filled_in_both_branches(x: Any, y: Any) -> Any:
    result = np.empty(3)
    square = x[0] ** 2 + x[1] ** 2 + x[2] ** 2
    if square > 0.0:
        axis = x / math.sqrt(square)
        crossed = np.array(
            [
                axis[1] * y[2] - axis[2] * y[1],
                axis[2] * y[0] - axis[0] * y[2],
                axis[0] * y[1] - axis[1] * y[0],
            ]
        )
        for i in range(3):
            result[i] = y[i] + crossed[i] * square
    else:
        for i in range(3):
            result[i] = y[i] * x[i]
    return np.sum(result * result) + np.sum(np.sin(result))


@program(X6)
def carried_by_a_loop(x: Any) -> Any:
    state = np.zeros(3)
    state[1] = 1.0
    for i in range(len(x)):
        before = state.copy()
        state[0] += x[i] * before[1]
        state[1] -= 0.5 * x[i] * before[0]
        if state[0] > 0.2:
            state[2] = state[0] * state[1]
    return state[0] * state[1] + state[2]


@program(X6)
def written_where_only_a_run_tells(x: Any) -> Any:
    bins = np.zeros(3)
    for i in range(len(x)):
        bins[i % 3] += x[i] * x[i]
    return bins[0] * bins[1] - bins[2] ** 2


@program(X3)
def two_names_of_a_vector(x: Any) -> Any:
    a = np.array([x[0], x[1], x[2]])
    b = a
    c = a[1:]
    d = a.copy()
    b[0] = x[1] * x[2]
    c[0] = x[0] * 3.0
    d[2] = 7.0 * x[0]
    return a[0] * a[1] + a[2] * d[0] + d[2] * d[1] + b[1] * c[1]


@program(M33, X3, argnums=(0, 1))
def small_matrices(m: Any, x: Any) -> Any:
    turn = np.zeros((2, 2))
    turn[0, 0] = turn[1, 1] = np.cos(x[0])
    turn[0, 1] = np.sin(x[0])
    turn[1, 0] = -turn[0, 1]
    made = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(2):
                made[i, j] += turn[i, k] * m[k, j]
    return np.sum(made * made * x[1]) + made[0, 1] * x[2]


@program(X6)
def left_early(x: Any) -> Any:
    found = np.zeros(4)
    for i in range(4):
        if x[i] > 0.9:
            break
        found[i] = x[i] * x[i + 1]
    return np.sum(found * found) + found[0]


@program(X6, 0)
def a_loop_without_iterations(x: Any, n: Any) -> Any:
    a = np.ones(2)
    for i in range(n):
        a[0] = x[i]
        a[1] += a[0]
    return a[0] * x[0] + a[1] * x[1] * x[2]


@program(X6.astype(np.float32), tags="float32")
def in_single_precision(x: Any) -> Any:
    a = np.empty(2, np.float32)
    a[0] = 0.1
    a[1] = x[1] * 0.3
    b = np.zeros(2)
    b[0] = a[0] + x[0]
    b[1] = a[1] * a[0]
    return np.sum(a * x[:2]) + b[0] * b[1]


@program(X3)
def of_integers_and_flags(x: Any) -> Any:
    counts = np.zeros(2, np.int64)
    over = np.zeros(2, np.bool_)
    for i in range(3):
        counts[0] += i
        counts[1] = counts[0] * 2.7
        over[i % 2] = x[i] > 0.3
    s = x[0] * counts[1]
    if over[1]:
        s += x[1] * counts[0]
    return s * x[2]


@program(X6)
def sums_of_few(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        pair = np.array([x[i], x[i] * x[0], -x[i]])
        total += np.sum(pair * pair) + np.mean(np.sin(pair)) + np.dot(pair, pair) * np.max(pair)
    return total


# --- slices of known ends -------------------------------------------------------------------------


@program(X6)
def ends_that_are_there(x: Any) -> Any:
    a, b, c = x[:3], x[3:6], x[-3:]
    return a[0] * b[1] * c[2] + np.sum(a * b - c) + x[-3:-1][0] * x[5:6][0]


@program(X6[:4])
def ends_that_are_cut(x: Any) -> Any:
    a, b, c, d = x[:6], x[2:7], x[-9:], x[5:7]
    return np.sum(a * c) + np.sum(b * b) + np.sum(d) + len(a) * x[0] + len(d)


@program(X6, 6)
def ends_that_are_cut_in_the_middle(x: Any, n: Any) -> Any:
    y = x.copy()
    total = 0.0
    for i in range(n):
        y[i] = y[i] * x[0]
        part = y[i:]
        total += np.sum(part[:3] * part[:3]) * x[i]
        if i > 2:
            part[-2:] *= 1.5
    return total + np.sum(y)


@program(X6[:2])
def ends_that_nobody_asks_for(x: Any) -> Any:
    if len(x) > 4:
        return np.sum(x[:5] * x[1:6])
    return x[0] * np.sin(x[1])


@program(X6[:2])
def elements_written_through_a_cut(x: Any) -> Any:
    y = x * 2.0
    y[1:4] = x[0]
    y[:3] += 1.0
    return np.sum(y * x)


# --- derivatives within ---------------------------------------------------------------------------


def seen(camera: Any, point: Any) -> Any:
    length = math.sqrt(camera[0] ** 2 + camera[1] ** 2)
    s, c = math.sin(length), math.cos(length)
    turned = np.empty(2)
    if length > 0.3:
        turned[0] = c * point[0] - s * point[1]
        turned[1] = s * point[0] + c * point[1]
    else:
        turned[:] = point
    return turned / (1.0 + camera[2] ** 2) + camera[:2]


@program(M33, X6[:2], argnums=())
def rows_of_a_jacobian(cameras: Any, point: Any) -> Any:
    found = np.empty((3, 2, 5))
    for i in range(3):
        _, pull = adc.vjp(seen, cameras[i], point)
        for k in range(2):
            unit = np.zeros(2)
            unit[k] = 1.0
            by_camera, by_point = pull(unit)
            found[i, k, :3] = by_camera
            found[i, k, 3:] = by_point
    return found


@program(X6)
def sines_beside_cosines(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        c = np.cos(x[i])
        if x[i] > 0.1:
            s = np.sin(x[i])
            total += c * s + np.exp(s) * np.exp(-s)
        else:
            total -= c * x[i]
        total += np.exp(x[i])
    return total * np.cos(total)
