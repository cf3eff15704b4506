"""Integers, and marked floats, whose values reverse code restores by inverse operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.array_programs import weighted
from tests.programs import Program, _uniform, recorder

INVERT_PROGRAMS: list[Program] = []
program = recorder(INVERT_PROGRAMS, "invert")

X9 = _uniform(71, 9)
WIDTHS = np.array([1, 2, 1, 3, 1])


@program(X9, WIDTHS, 5)
def invert_widths(x: Any, width: Any, n: Any) -> Any:
    at, s = 0, 0.3
    for i in range(n):
        s += math.sin(s) * x[at] * x[at]
        at += width[i]
    return s


@program(X9, WIDTHS, 5)
def invert_before_and_after(x: Any, width: Any, n: Any) -> Any:
    """Several versions of one iteration are read."""
    at, s = 0, 0.3
    for i in range(n):
        s = s * x[at] + x[at] * x[at]
        at += width[i]
        s = s * x[at - 1] * x[at - 1]
        at = width[i] - at
        s += math.sin(s * x[at])
        at = -at
        at += width[i]
    return s


@program(X9, 6)
def invert_under_branches(x: Any, n: Any) -> Any:
    at, s = 4, 0.3
    for i in range(n):
        if i % 3 == 0:
            at -= i
        elif x[i] > 0.5:
            at += 1
            s += x[at] * s * s
        s = s * x[at] + math.sin(s) * x[at]
        if s > 0.7:
            at += 1
            if x[at] * s > 0.2:
                at -= 2
                s *= x[at]
    return s


@program(X9, np.array([5, 3, 6, 1, 7]))
def invert_bits(x: Any, masks: Any) -> Any:
    k, s = 0, 0.3
    for m in masks:
        k ^= m
        s = math.sin(s) * x[k] + x[k] * x[k]
        k = ~k
        k = ~k ^ m
        k ^= 1
        s *= x[k]
    return s


@program(X9, 4)
def invert_in_rows(x: Any, n: Any) -> Any:
    """A number is set in an outer loop, or goes on from there."""
    s, far = 0.3, 0
    for i in range(n):
        at = i
        for j in range(n):
            at += (i * j) % 3
            far += 1 + j % 2
            s = math.sin(s) * x[at & 7] + x[far & 7] * x[at & 7]
        far -= i
        s *= x[far & 7] * x[at & 7]
    return s


@program(X9, WIDTHS)
def invert_until(x: Any, width: Any) -> Any:
    at, k, s = 0, 0, 0.3
    while at < 8:
        s = math.sin(s) * x[at] + x[at] * x[at]
        at += width[k]
        k += 1
        if s > 5.0:
            break
    return s


@program(0.3)
def invert_collatz(x: Any) -> Any:
    """Neither division nor the product is undone: both are kept."""
    k, s = 6, 0.1
    while k != 1:
        s = math.sin(s) * x * k + k
        if k % 2 == 0:
            k //= 2
        else:
            k = 3 * k + 1
    return s


@program(X9, 6)
def invert_each_other(x: Any, n: Any) -> Any:
    """Undone in the opposite order, one with the other's value."""
    a, b, s = 1, 2, 0.3
    for i in range(n):
        a += b & 5
        b ^= a
        a -= (b & 3) + i
        s = math.sin(s) * x[a & 7] + x[b & 7] * x[a & 7]
    return s


@program(X9, 6)
def invert_through_each_other(x: Any, n: Any) -> Any:
    """What is added to each number depends on the other one as it was: one of them is kept."""
    a, b, s = 1, 2, 0.3
    for i in range(n):
        t = a
        a += b & 5
        b += t & 3
        s = math.sin(s) * x[a & 7] + x[b & 7] * x[(a + i) & 7]
    return s


@program(X9, 9)
def invert_narrow(x: Any, n: Any) -> Any:
    a, b, s = np.int8(-100), np.uint8(90), 0.3
    step = np.int8(20)
    for i in range(n):
        a = a + step
        b = b - np.uint8(i)
        s = math.sin(s) * x[int(a) & 7] + x[int(b) & 7] * s
    return s


@program(X9, WIDTHS, 3)
def invert_where_elements_are_stored(x: Any, width: Any, n: Any) -> Any:
    """Reverse code restores an array, and the numbers that say where it was changed."""
    u, at = x.copy(), 1
    for _ in range(n):
        for i in range(len(width)):
            u[at] = u[at] * u[at - 1] + 0.3 * u[i]
            at += width[i]
            if at > 7:
                at -= 7
            u[at] *= u[at] * u[i + 1]
    return weighted(u)


@program(X9, 7)
def invert_with_exits(x: Any, n: Any) -> Any:
    at, s = 0, 0.3
    for i in range(n):
        at += i
        if x[at & 7] > 0.8:
            continue
        at += 2
        s = math.sin(s) * x[at & 7] + s * s
        if s > 4.0:
            return s * x[at & 7]
    return s * at


@program(X9, 3)
def invert_in_arms(x: Any, n: Any) -> Any:
    """A loop that runs on one side only."""
    at, s = 0, 0.3
    for i in range(n):
        if i != 1:
            at = 0
            for j in range(n):
                at += j * i
                s = math.sin(s) * x[at & 7] + s * x[at & 7]
        else:
            s *= x[at & 7]
    return s


@program(X9, 3)
def invert_around_a_loop(x: Any, n: Any) -> Any:
    """A number is read in front of and behind the inner loop that changes it."""
    at, s = 0, 0.3
    for i in range(n):
        s = math.sin(s) * x[at & 7]
        for j in range(n):
            at += (i + j) % 4
            s += s * x[at & 7]
        at -= 1
        s = math.sin(s) + x[at & 7] * s
    return s


@program(X9, WIDTHS, 3)
def invert_counts(x: Any, where: Any, n: Any) -> Any:
    """An array of integers is changed in place; one that is not touched by the loop says how."""
    counts, s = np.zeros(5, dtype=np.int64), 0.3
    for i in range(n):
        for k in where:
            counts[k] += where[i]
            s = math.sin(s) * x[counts[k] & 7] + s * x[counts[i] & 7]
    return s


@program(X9, WIDTHS, 3)
def invert_bits_of_elements(x: Any, where: Any, n: Any) -> Any:
    a, s = where.copy(), 0.3
    for i in range(n):
        for k in range(len(where)):
            if x[k] > 0.4:
                a[k] ^= i + k
                s *= x[a[k] & 7] * s
            a[k] = k - a[k] - i
            s = math.sin(s) * x[a[k] & 7] + s * x[a[i] & 7]
    return s


@program(X9, 3)
def invert_elements_by_others(x: Any, n: Any) -> Any:
    """What is added is an element of the same array, as it was, or as it is by then."""
    a, s = np.arange(8), 0.3
    for i in range(n):
        for k in range(1, 7):
            a[k] += a[k - 1] & i
            s = math.sin(s) * x[a[k] & 7] + s * x[a[k - 1] & 7]
            a[k] -= a[k + 1] - k
            s *= x[a[k] & 7]
    return s


@program(X9, 3)
def invert_a_small_generator(x: Any, n: Any) -> Any:
    """Numbers and elements in turn, of a state that mixes itself."""
    state, k, s = np.array([7, 3, 11, 5], dtype=np.uint32), 1, 0.3
    for _ in range(n):
        for j in range(4):
            state[j] ^= state[j - 1] >> 1
            k += int(state[j] & 3)
            state[j] += state[(j + 1) % 4]
            s = math.sin(s) * x[state[j] & 7] + s * x[k & 7]
    return s


@program(X9, 3)
def invert_until_on_one_side(x: Any, n: Any) -> Any:
    """How often the loop runs is told by a result of the branch around it."""
    s = 0.3
    if n > 2:
        k = 0
        while True:
            k += 1
            s = math.sin(s) * x[k] * k
            if k > n:
                break
            if s > 5.0:
                return x[k]
    return s
