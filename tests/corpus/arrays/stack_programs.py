"""Small arrays on the stack, functions whose calls go away, reverse loops that are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

STACK_PROGRAMS: list[Program] = []
program = recorder(STACK_PROGRAMS, "stack")

V3 = np.array([0.3, -0.7, 1.1])
M43 = uniform(51, 4, 3)
S44 = uniform(52, 4, 4)
C344 = uniform(53, 3, 4, 4)


# --- arrays ---------------------------------------------------------------------------------------


def _turned(axis: Any, point: Any) -> Any:
    result = np.empty(3)
    angle = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    if angle > 0.1:
        unit = axis / angle
        for i in range(3):
            result[i] = point[i] * np.cos(angle) + unit[i] * np.sin(angle)
    else:
        for i in range(3):
            result[i] = point[i] + axis[i]
    return result


@program(M43, V3, argnums=(0, 1))
def small_filled_in_both_arms(points: Any, axis: Any) -> Any:
    total = 0.0
    for i in range(points.shape[0]):
        total += weighted(_turned(axis * (0.02 + 0.3 * i), points[i]))
    return total


def _either(x: Any) -> Any:
    if x[0] > 0.0:
        return np.array([x[0], x[1] * x[2]])
    return np.array([np.sin(x[1]), x[0]])


@program(M43)
def small_made_in_either_arm(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = _either(x[i])
        y[1] *= 2.0
        total += y[0] * y[1] + y[1]
    return total


@program(V3, 5)
def small_that_change_places(x: Any, steps: Any) -> Any:
    a = np.array([1.0, 2.0])
    b = np.array([0.5, -0.5])
    for k in range(steps):
        b[0] += a[1] * x[k % 3]
        a, b = b, a
    return a[0] * b[1] + np.sin(b[0])


@program(V3, 4)
def small_from_the_iteration_before(x: Any, steps: Any) -> Any:
    last = np.zeros(3)
    total = 0.0
    for _ in range(steps):
        now = np.empty(3)
        for i in range(3):
            now[i] = x[i] + np.sin(last[2 - i])
        total += last[0] * now[1]
        last = now
    return total + np.sum(last)


@program(V3, 0)
def small_in_a_loop_that_never_runs(x: Any, steps: Any) -> Any:
    a = np.array([0.5, 1.5, 2.5])
    for _ in range(steps):
        a = a * x
    return np.sum(a * a) + x[0]


@program(V3)
def small_written_through_views(x: Any) -> Any:
    a = np.zeros((2, 3))
    row = a[1]
    row[:] = x * x
    column = a[:, 2]
    column[0] = np.exp(x[1])
    a[0, :2] = row[1:]
    return weighted(a)


@program(V3.astype(np.float32), tags="float32")
def small_in_single_precision(x: Any) -> Any:
    a = np.empty((3, 3), np.float32)
    for i in range(3):
        for j in range(3):
            a[i, j] = x[i] * x[j]
    return np.sum(a @ a)


@program(C344, S44, argnums=(0, 1))
def small_products(stack: Any, start: Any) -> Any:
    found = np.eye(4)
    for k in range(stack.shape[0]):
        turn = np.eye(4)
        turn[:3, :3] = stack[k, :3, :3] @ stack[k, :3, :3].T
        found = found @ turn @ stack[k]
    return weighted(found @ start)


@program(C344)
def small_and_returned(stack: Any) -> Any:
    parts = []
    for k in range(3):
        part = np.empty((2, 2))
        for i in range(2):
            for j in range(2):
                part[i, j] = np.sin(stack[k, i, j])
        parts.append(part)
    return weighted(parts[0] @ parts[1] + parts[2])


@program(V3, tags="recursive")
def small_in_a_recursion(x: Any) -> Any:
    return _nested(x, 4)


def _nested(x: Any, depth: Any) -> Any:
    pair = np.array([x[depth % 3], x[(depth + 1) % 3]])
    if depth == 0:
        return pair[0] * pair[1]
    inner = _nested(x, depth - 1)
    return np.sin(pair[0]) * inner + pair[1]


# --- calls ----------------------------------------------------------------------------------------


@program(S44, tags="recursive")
def determinant_by_recursion(a: Any) -> Any:
    n = a.shape[0]
    following = np.arange(1, n + 2)
    following[n] = 0
    return _minor(a, n, n - 1, following)


def _minor(a: Any, size: Any, row: Any, following: Any) -> Any:
    n = a.shape[0]
    if size == 1:
        return a[row, following[n]]
    total = 0.0
    sign = 1.0
    before = n
    column = following[n]
    for _ in range(size):
        following[before] = following[column]
        total += sign * a[row, column] * _minor(a, size - 1, row - 1, following)
        following[before] = column
        before = column
        column = following[column]
        sign = -sign
    return total


@program(V3, 6, tags="recursive")
def tree_of_sums(x: Any, n: Any) -> Any:
    return _tree(x, n)


def _tree(x: Any, n: Any) -> Any:
    if n <= 1:
        return np.sin(x[n]) + n
    return _tree(x, n - 1) * x[n % 3] + _tree(x, n - 2)


@program(V3, 5, tags="recursive")
def recursion_that_fills(x: Any, n: Any) -> Any:
    found = np.zeros(n + 1)
    _fill(found, x, n)
    return weighted(found)


def _fill(found: Any, x: Any, n: Any) -> Any:
    found[n] += x[n % 3]
    if n > 0:
        _fill(found, x, n - 1)
        found[n] *= found[n - 1]


@program(V3, 5, tags="recursive")
def recursion_between_two(x: Any, n: Any) -> Any:
    found = np.zeros(2)
    _even(found, x, n)
    return found[0] * found[1]


def _even(found: Any, x: Any, n: Any) -> Any:
    found[0] += np.sin(x[n % 3])
    if n > 0:
        _odd(found, x, n - 1)


def _odd(found: Any, x: Any, n: Any) -> Any:
    found[1] += x[n % 3] * found[0]
    if n > 0:
        _even(found, x, n - 1)


@program(V3, 4, tags="recursive")
def recursion_that_swaps(x: Any, n: Any) -> Any:
    a = x * 1.0
    b = np.ones(3)
    _swap(a, b, n)
    return weighted(a) * np.sum(b)


def _swap(a: Any, b: Any, n: Any) -> Any:
    a[n % 3] += np.sin(b[(n + 1) % 3])
    if n > 0:
        _swap(b, a, n - 1)


# --- reverse loops with cotangents that are zero --------------------------------------------------


@program(M43, S44[:, :3], argnums=(0, 1), smooth=False)
def closest_of_some(points: Any, centres: Any) -> Any:
    cost = 0.0
    for i in range(points.shape[0]):
        closest = np.inf
        for j in range(centres.shape[0]):
            distance = 0.0
            for k in range(points.shape[1]):
                distance += (points[i, k] - centres[j, k]) ** 2
            if distance < closest:
                closest = distance
        cost += np.sqrt(closest)
    return cost


@program(M43, S44[:, :3], argnums=(0, 1), smooth=False)
def farthest_that_is_near(points: Any, centres: Any) -> Any:
    """The other arm, and a value that is used beside the choice, too."""
    cost = 0.0
    for i in range(points.shape[0]):
        far = 0.0
        for j in range(centres.shape[0]):
            distance = 0.0
            for k in range(points.shape[1]):
                distance += np.sin(points[i, k]) * centres[j, k]
            far = far if distance > 0.5 or distance < far else distance
            if i == 2:
                cost += 0.1 * distance
        cost += far * far
    return cost


@program(M43, V3, argnums=(0, 1), smooth=False)
def chosen_sum_that_overwrites(x: Any, w: Any) -> Any:
    """What the loop writes is cleared in reverse, whoever was chosen."""
    y = x.copy()
    best = -10.0
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(x.shape[1]):
            total += y[i, k] * w[k]
            y[(i + 1) % x.shape[0], k] = w[k] * y[i, k]
        if total > best:
            best = total
    return best + weighted(y)


@program(M43, V3, argnums=(0, 1), smooth=False)
def chosen_of_nested_choices(x: Any, w: Any) -> Any:
    best = 0.0
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(x.shape[1]):
            part = 0.0
            for m in range(x.shape[1]):
                part += x[i, m] * w[(k + m) % 3]
            if part > 0.0:
                total += part
        if total > best:
            best = total * 1.0
    return best * best


@program(M43, 0, smooth=False)
def chosen_of_nothing(x: Any, n: Any) -> Any:
    best = 1.0
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(n):
            total += x[i, k]
        if total > best:
            best = total
    return best * x[0, 0]


@program(M43.astype(np.float32), tags="float32", smooth=False)
def closest_in_single_precision(x: Any) -> Any:
    best = np.float32(100.0)
    for i in range(1, x.shape[0]):
        total = np.float32(0.0)
        for k in range(x.shape[1]):
            total += (x[i, k] - x[0, k]) ** 2
        if total < best:
            best = total
    return best
