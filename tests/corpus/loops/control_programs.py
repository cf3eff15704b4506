# ruff: noqa: B007, B905
# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""Conditions and loops of numbers, and of elements of arrays.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder, uniform

CONTROL_PROGRAMS: list[Program] = []
program = recorder(CONTROL_PROGRAMS)


# --- conditions -----------------------------------------------------------------------------------


@program(0.7, smooth=False)
def if_else_on_data(x: Any) -> Any:
    if x > 0.2:
        y = math.sin(x)
    else:
        y = x * x
    return y * x


@program(0.7, smooth=False)
def if_without_else(x: Any) -> Any:
    y = x
    if x > 0.2:
        y = y * y
    return y


@program(-0.4, smooth=False)
def elif_chain(x: Any) -> Any:
    if x > 1.0:
        return x
    elif x > 0.0:
        y = x * x
    elif x > -1.0:
        y = x * x * x
    elif x > -2.0:
        y = math.exp(x)
    else:
        y = 0.0
    return y + x


@program(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), smooth=False)
def many_branches_in_a_loop(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v < -2.0:
            s += v
        elif v < -1.0:
            s += v * v
        elif v < 0.0:
            s -= v * v * v
        elif v < 1.0:
            s += math.sin(v)
        elif v < 2.0:
            s *= math.cos(v)
        else:
            s = s * 0.5 + v
    return s


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def nested_ifs(x: Any, y: Any) -> Any:
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            if x + y > 0.1:
                z = x * x * y
            else:
                z = y
    else:
        z = x
    return z * z


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def conditional_expressions(x: Any, y: Any) -> Any:
    a = x * x if x > 0.2 else y
    b = y if y > 0.0 else (x * y if x > 0.5 else 1.0)
    return a * b + (x if a > b else y)


@program(0.7, smooth=False)
def chained_comparison(x: Any) -> Any:
    if 0.0 < x < 1.0:
        return x * x
    if 1.0 <= x <= 2.0 < 3.0:
        return x
    return -x


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def boolean_operators(x: Any, y: Any) -> Any:
    s = 0.0
    if x > 0.0 and y > 0.0:
        s += x
    if x > 0.0 or y > 0.0:
        s += x * y
    if not (x < y) and not y > 0.0:
        s += y * y * y
    return s


@program(0.0, 0.7, argnums=(1,), smooth=False)
def short_circuit_protects_a_division(z: Any, x: Any) -> Any:
    if z != 0.0 and x / z > 1.0:
        return x
    return x * x if z == 0.0 or x / z > 2.0 else 0.0


@program(0.7, 0.0, argnums=(0,), smooth=False)
def and_or_return_operands(x: Any, z: Any) -> Any:
    a = z or x
    b = x and x * x
    return a * b


@program(np.array([0.7, -1.3, 0.45]), 1, smooth=False)
def condition_on_integer_and_index(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i == k:
            s += x[i] * x[i]
        elif i != 0:
            s += x[i]
        else:
            s -= x[i] * x[k]
    return s


@program(0.7, True, False)
def bool_arguments(x: Any, square: Any, negate: Any) -> Any:
    y = x * x if square else x
    if negate:
        y = -y
    return y


@program(0.7, smooth=False)
def name_defined_in_both_branches_with_other_dtypes(x: Any) -> Any:
    if x > 0.2:
        n = 2
    else:
        n = 1.5  # type: ignore[assignment]  # the point of it
    return x * n


@program(0.5)
def branch_leaves_variable_untouched(x: Any) -> Any:
    y = x * 2.0
    if x > 10.0:
        y = 0.0
    z = y
    return z * y


# --- for loops ------------------------------------------------------------------------------------


@program(0.7, 0)
def for_loop_of_zero_trips(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        s = s * s * 100.0
    return s


@program(0.7, 1)
def for_loop_of_one_trip(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        s = math.sin(s) + i
    return s


@program(0.7, 7)
def for_loop_recurrence(x: Any, n: Any) -> Any:
    s = 1.0
    for i in range(n):
        s = math.sin(s) * x + i * 0.1
    return s


@program(X6)
def for_loop_sum_of_squares(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@program(X6, smooth=False)
def for_loop_fills_array_with_branch(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        if y[i - 1] > 0:
            y[i] = np.sin(y[i - 1]) * x[i]
        else:
            y[i] = y[i - 1] + x[i]
    s = 0.0
    for i in range(n):
        s += y[i]
    return s


@program(X6)
def range_with_start_and_step(x: Any) -> Any:
    s = 0.0
    for i in range(1, 6, 2):
        s += x[i] * i
    for i in range(0, 5, 3):
        s *= x[i]
    return s


@program(X6)
def range_with_negative_step(x: Any) -> Any:
    s = 0.0
    for i in range(5, -1, -1):
        s = s * 0.5 + x[i]
    for i in range(4, 0, -2):
        s = s * x[i]
    return s


@program(X6, 5, -7, -3)
def range_with_step_known_at_run_time(x: Any, start: Any, stop: Any, step: Any) -> Any:
    s = 1.0
    for i in range(start, stop, step):
        s = s * x[i] + i
    return s


@program(0.7)
def empty_ranges_in_every_form(x: Any) -> Any:
    s = x
    for i in range(5, 2):
        s = s * 10.0
    for i in range(2, 5, -1):
        s = s * 10.0
    for i in range(-3):
        s = s * 10.0
    return s * x


@program(0.7)
def loop_variable_after_the_loop(x: Any) -> Any:
    s = x
    for i in range(3, 9, 2):
        s = s + x
    return s * i


@program(0.7)
def loop_variable_assigned_in_the_body(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        i = i * 2 + 1
        s += x * i
    return s


@program(0.7, 3)
def range_bound_changed_in_the_body(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        n = n + 5
        s = s * x + n
    return s


@program(X6)
def for_over_array(x: Any) -> Any:
    s = 0.0
    for v in x:
        s = s * 0.5 + v * v
    return s


@program(X6, tags="mutates")
def for_over_array_sees_later_writes(x: Any) -> Any:
    s = 0.0
    i = 0
    for v in x:
        s += v * v
        if i < 5:
            x[i + 1] = x[i + 1] + v * 0.5
        i += 1
    return s


@program(X6)
def for_over_enumerate(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        s += v * v * i
    for i, v in enumerate(x, 2):
        s += v / i
    return s


@program(X3, np.array([1.1, 0.2, -0.7]), argnums=(0, 1))
def for_over_zip(x: Any, y: Any) -> Any:
    s = 0.0
    for a, b in zip(x, y):
        s += a * b * b
    return s


@program(X6, X3, argnums=(0, 1))
def for_over_zip_of_different_lengths(x: Any, y: Any) -> Any:
    s = 0.0
    for a, i, b in zip(x, range(10), y):
        s += a * b * (i + 1)
    return s


@program(X3, np.array([1.1, 0.2, -0.7]), argnums=(0, 1), tags="tuple")
def for_over_enumerate_of_zip(x: Any, y: Any) -> Any:
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s += a * b**i
    return s


@program(X6)
def for_over_reversed(x: Any) -> Any:
    s = 0.0
    for v in reversed(x):
        s = s * 0.3 + v * v
    for i in reversed(range(1, 6, 2)):
        s = s * x[i]
    return s


@program(0.7, tags="tuple")
def for_over_tuple(x: Any) -> Any:
    s = 1.0
    for c in (1.0, 2.5, x, x * x):
        s = s * c + x
    return s


@program(0.7, 1.2, argnums=(0, 1), tags="tuple")
def for_over_tuple_of_tuples(x: Any, y: Any) -> Any:
    s = 0.0
    for a, (b, c) in ((x, (y, 1.0)), (y, (x, 2.0)), (1.0, (x * y, 3.0))):
        s += a * b * c
    return s


@program(uniform(1, 3, 4))
def for_over_rows_by_index(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        p = 1.0
        for j in range(a.shape[1]):
            p *= a[i, j] + 2.0
        s += p
    return s


@program(X6)
def triangular_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i):
            s += x[i] * x[j] * x[j]
        for j in range(i + 1, 6):
            s -= x[i] / (2.0 + x[j] * x[j])
    return s


@program(uniform(2, 2, 2))
def five_nested_loops(a: Any) -> Any:
    s = 0.1
    for i in range(2):
        for j in range(2):
            for k in range(2):
                for m in range(2):
                    for n in range(2):
                        s = s * 0.9 + a[i, j] * a[k, m] * a[n, i]
    return s


@program(X3, tags="exit")
def loop_else_without_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v > 100.0:
            break
        s += v * v
    else:
        s = s * s
    return s


@program(X6, tags="exit", smooth=False)
def loop_else_skipped_by_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v > 2.0:
            s += 1.0
            break
        s += v * v
    else:
        s = s * s
    return s


@program(0.6, tags="exit", smooth=False)
def break_on_data(x: Any) -> Any:
    s = x
    for _ in range(10):
        s = s * s + 0.5
        if s > 5.0:
            break
    return s * x


@program(X6, tags="exit", smooth=False)
def continue_on_data(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v < 0.0:
            continue
        s += v * v
    return s


@program(X6, tags="exit", smooth=False)
def break_and_continue_in_nested_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        if x[i] < -1.0:
            continue
        for j in range(6):
            if j == i:
                continue
            if x[j] > 2.0:
                break
            s += x[i] * x[j] * x[j]
        if s > 30.0:
            break
        s = s * 1.1
    return s


@program(X6, tags="exit", smooth=False)
def early_return_from_nested_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i, 6):
            s += x[i] * x[j] * x[i]
            if s > 3.0:
                return s * x[j]
    return s


@program(0.7, tags="exit", smooth=False)
def early_return_before_a_loop(x: Any) -> Any:
    if x > 0.5:
        return x * x * x
    s = 0.0
    for _ in range(3):
        s += x
    return s


@program(X6, tags="exit", smooth=False)
def break_skips_the_rest_of_the_body(x: Any) -> Any:
    last = 0.0
    for i in range(6):
        last = x[i] * (i + 1)
        if i == 3:
            break
        last = last * last
    return last * x[5]


@program(X6, tags="exit", smooth=False)
def nested_loop_else_break_outer(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i):
            if x[i] * x[j] > 1.5:
                break
            s += x[i] * x[j]
        else:
            s += x[i]
            continue
        s = s * x[i]
        break
    return s


@program(0.7)
def loop_carries_int_that_becomes_float(x: Any) -> Any:
    s = 0
    for i in range(3):
        s = s + x * i
    return s * x


@program(X3)
def two_loops_share_a_variable(x: Any) -> Any:
    t = 1.0
    for i in range(3):
        t = t * x[i]
    s = 0.0
    for i in range(3):
        s += t * x[i]
        t = t + s
    return s * t


@program(X6)
def loop_then_use_then_loop(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v
    mean = total / len(x)
    var = 0.0
    for v in x:
        var += (v - mean) ** 2
    return math.sqrt(var / (len(x) - 1))


# --- while loops ----------------------------------------------------------------------------------


@program(0.7, 1.2, argnums=(0, 1), tags="while", smooth=False)
def while_on_data(x: Any, y: Any) -> Any:
    s = x
    while s < 5.0:
        s = s * s + 1.0
    return s * y


@program(7.0, tags="while", smooth=False)
def while_of_zero_trips(x: Any) -> Any:
    s = x
    while s < 5.0:
        s = s * s
    return s * x


@program(2.5, tags="while", smooth=False)
def while_of_one_trip(x: Any) -> Any:
    while x < 5.0:
        x = x * x
    return x * 3.0


@program(X6, tags="while")
def while_with_counter(x: Any) -> Any:
    i = 0
    s = 0.0
    while i < len(x):
        s += x[i] * x[i]
        i += 2
    return s


@program(0.7, tags="while exit", smooth=False)
def while_true_with_break(x: Any) -> Any:
    s = x
    n = 0
    while True:
        s = s * 1.5 + x
        n += 1
        if s > 10.0:
            break
    return s / n


@program(0.7, tags="while exit", smooth=False)
def while_true_with_return(x: Any) -> Any:
    s = x
    while True:
        if s > 10.0:
            return s * x
        s = s * 1.7 + 0.1


@program(X6, tags="while exit", smooth=False)
def while_with_continue_and_else(x: Any) -> Any:
    i = 0
    s = 0.0
    while i < 6:
        i += 1
        if x[i - 1] < 0.0:
            continue
        s += x[i - 1] * i
    else:
        s = s * x[0]
    return s


@program(X6, tags="while exit", smooth=False)
def while_with_break_skips_else(x: Any) -> Any:
    i = 0
    s = 1.0
    while i < 6:
        if x[i] > 2.0:
            break
        s = s * x[i]
        i += 1
    else:
        s = 0.0
    return s * s


@program(0.7, tags="while", smooth=False)
def nested_whiles(x: Any) -> Any:
    s = x
    n = 0
    while n < 4:
        t = s
        while t > 0.3:
            t = t * 0.6 - 0.01
        s = s + t * t
        n += 1
    return s * x


@program(X3, tags="for exit", smooth=False)
def continue_before_a_first_assignment(x: Any) -> Any:
    s = x[0]
    for _ in range(5):
        if s > 2.0:
            continue
        last = s * s
        pair = [last, s]
        s = s + 0.4
    for word in ("a", "bb", "ccc"):
        if len(word) * s > 5.0:
            continue
        then = len(word) * s * x[1]
    return last * pair[1] + then * s


@program(X3, tags="while exit", smooth=False)
def while_inside_for_with_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        t = v * v
        k = 0
        while t < 4.0:
            t = t * 1.5 + 0.3
            k += 1
            if k > 3:
                break
        s += t * v
    return s


@program(0.7, tags="while", smooth=False)
def while_condition_with_two_parts(x: Any) -> Any:
    s = x
    n = 0
    while n < 20 and not s > 3.0:
        s = s * 1.3
        n += 1
    return s


@program(0.3, 0.5, argnums=(0, 1), tags="while", smooth=False)
def mandelbrot_like_escape(cr: Any, ci: Any) -> Any:
    zr = 0.0
    zi = 0.0
    n = 0
    while zr * zr + zi * zi < 4.0 and n < 30:
        zr, zi = zr * zr - zi * zi + cr + 0.2, 2.0 * zr * zi + ci
        n += 1
    return zr * zr + zi * zi + n
