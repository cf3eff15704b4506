"""Integers, and marked floats, whose values reverse code restores by inverse operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adc
from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

INVERT_PROGRAMS: list[Program] = []
program = recorder(INVERT_PROGRAMS, "invert")
# Floats: their gradients differ from others by rounding.
MARKED_PROGRAMS: list[Program] = []
marked = recorder(MARKED_PROGRAMS, "marked")
# In which such numbers decide, at points where no derivative is a limit.
DECIDING_PROGRAMS: list[Program] = []
deciding = recorder(DECIDING_PROGRAMS, "marked")

X9 = uniform(71, 9)
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


@program(X9, WIDTHS, 3)
def invert_elements_stored_twice(x: Any, where: Any, n: Any) -> Any:
    """What is stored is in another array first; some elements are stored as they are."""
    a, b, s = where.copy(), where * 0, 0.3
    for _ in range(n):
        for k in range(len(where)):
            t = a[k] + k
            b[k] = t
            a[k] = t
            s = math.sin(s) * x[a[k] & 7] + s * x[b[k - 1] & 7]
        for k in range(len(where)):
            a[k] = a[k]
            s *= x[a[k] & 7]
    return s


@program(X9, 3)
def invert_elements_as_they_are(x: Any, n: Any) -> Any:
    if n < 2:
        x[:5] *= 0.7
    x[0:5] = np.where(x[:5] > 0.2, x[:5], x[:5])
    return weighted(x)


# --- floats, on request ---------------------------------------------------------------------------

Q6, P6 = uniform(72, 6), uniform(73, 6)
WEIGHTS = 0.4 * (uniform(74, 4, 3, 3) - 0.5)
STEPS = 7


@marked(0.3, 0.2, STEPS, argnums=(0, 1))
def marked_numbers(q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q), adc.invertible(p)
    for _ in range(n):
        p -= 0.01 * math.sin(q)
        q += 0.01 * p
    return q * q + p


@marked(0.3, STEPS)
def marked_where_they_end(x: Any, n: Any) -> Any:
    """The loop-carried value is marked."""
    p = 0.0
    for _ in range(n):
        p = adc.invertible(p - 0.01 * math.sin(x))
        x = adc.invertible(x + 0.01 * p)
    return x * p


@marked(Q6, P6, STEPS, argnums=(0, 1))
def marked_leapfrog(q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q.copy()), adc.invertible(p.copy())
    for _ in range(n):
        p -= 0.005 * np.sin(q)
        q += 0.01 * p
        p -= 0.005 * np.sin(q)
    return np.sum(q * p)


@marked(Q6, P6, STEPS, argnums=(0, 1))
def marked_elements(q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q.copy()), adc.invertible(p.copy())
    for _ in range(n):
        for i in range(len(q)):
            p[i] -= 0.01 * np.sin(q[i]) * q[i]
        for i in range(len(q)):
            q[i] += 0.01 * p[i] * p[i - 1]
    return weighted(q) + weighted(p)


@marked(Q6, P6, STEPS, argnums=(0, 1))
def marked_with_friction(q: Any, p: Any, n: Any) -> Any:
    """Numbers of the program are factors and divisors."""
    q, p = adc.invertible(q.copy()), adc.invertible(p.copy())
    for _ in range(n):
        p *= 0.99
        p -= 0.01 * np.sin(q)
        q += 0.01 * p
        q /= 1.01
        p *= -1.0
    return weighted(q) + weighted(p)


@marked(Q6, WEIGHTS, argnums=(0, 1))
def marked_layers(x: Any, ws: Any) -> Any:
    """A reversible residual network."""
    x1, x2 = adc.invertible(x[:3].copy()), adc.invertible(x[3:].copy())
    for k in range(len(ws)):
        x1 += np.tanh(ws[k] @ x2)
        x2 += np.tanh(ws[k] @ x1)
    return np.sum(x1 * x2)


def coupled(x1: Any, x2: Any, w: Any) -> None:
    h = np.maximum(w @ x2, 0.1)
    x1 += w.T @ h
    x2 += np.tanh(w @ x1)


@marked(Q6, WEIGHTS, argnums=(0, 1))
def marked_layers_in_a_function(x: Any, ws: Any) -> Any:
    state = {"a": x[:3].copy(), "b": x[3:].copy()}
    adc.invertible(state)
    for w in ws:
        coupled(state["a"], state["b"], w)
    return np.sum(state["a"] * state["b"])


@marked(np.stack([Q6, P6]), WEIGHTS, argnums=(0, 1))
def marked_for_every_sample(xs: Any, ws: Any) -> Any:
    total = 0.0
    for b in range(len(xs)):
        x1, x2 = adc.invertible(xs[b, :3].copy()), adc.invertible(xs[b, 3:].copy())
        for w in ws:
            coupled(x1, x2, w)
        total += np.sum(x1 * x2) * (1.0 + total * total)
    return total


@marked(Q6, STEPS)
def marked_three(x: Any, n: Any) -> Any:
    a, b, c = adc.invertible(x * 0.1), adc.invertible(x * 0.2), adc.invertible(x * 0.3)
    for _ in range(n):
        a += np.sin(b) * c
        b -= np.sin(c) * a
        c += a * b * 0.01
    return np.sum(a * b * c)


@marked(0.3, 0.2, STEPS, argnums=(0, 1))
def marked_while(q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q), adc.invertible(p)
    k = 0
    while k < n and q > -9.0:
        p -= 0.05 * math.sin(q)
        q += 0.05 * p
        k += 1
    return q * p


@marked(0.3, 0.2, STEPS, argnums=(0, 1))
def marked_under_branches(q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q), adc.invertible(p)
    for k in range(n):
        if k % 2 == 0:
            p -= 0.1 * math.sin(q)
        if k % 3 == 0:
            q += 0.1 * p * p
        else:
            q -= 0.2 * p
    return q * p


# Decisions that depend on values recovered up to rounding: they are stored.


@deciding(uniform(75, 60), 0.0, 20, argnums=(0, 1))
def marked_index(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        s += math.sin(q) * x[int(q * 10.0)]
        q += 0.1
    return s


@deciding(uniform(76, 9), 0.8999999999999998, 3, argnums=(0, 1))
def marked_index_at_the_end(x: Any, q: Any, n: Any) -> Any:
    """Found again, the first index is one more than the last that there is."""
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        s += math.sin(q) * x[int(q * 10.0)]
        q -= 0.3
    return s


@deciding(uniform(77, 30), 2.0, 0.1, 20, argnums=(0, 1, 2))
def marked_force_from_a_table(x: Any, q: Any, p: Any, n: Any) -> Any:
    q, p = adc.invertible(q), adc.invertible(p)
    for _ in range(n):
        p -= 0.1 * x[int(q * 4.0)]
        q += 0.1 * p
    return q * q + p


@deciding(1.5, 0.0, 9, argnums=(0, 1))
def marked_branch(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        if q >= 0.5:
            s += x * x * q
        if q * 10.0 == int(q * 10.0):
            s -= math.sin(x * q)
        q += 0.1
    return s


@deciding(1.5, 0.0, 9, argnums=(0, 1))
def marked_steps(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        s += math.sin(x * q) * math.floor(q * 10.0) + x * x * ((q * 10.0) % 1.0)
        s += np.sign(q - 0.3) * math.sin(x * q) + math.atan2(0.0 * q, q - 0.5) * x
        q += 0.1
    return s


@deciding(1.5, 0.1, 9, argnums=(0, 1))
def marked_divisor_of_a_remainder(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        s += (1.3 % (q + 0.15)) * x
        q += 0.1
    return s


@deciding(np.full(3, 0.5), np.full(3, -0.4), 12, argnums=(0, 1))
def marked_kinks(x: Any, q: Any, n: Any) -> Any:
    """Which are hit to the last bit, first by zero and then by a half."""
    q, s = adc.invertible(q.copy()), 0.0
    for _ in range(n):
        s += np.sum(np.abs(q) * x) + np.sum(np.maximum(q, x)) + np.sum(np.where(q > 0.3, q * x, x))
        q += 0.1
    return s


@adc.checkpoint
def _deciding(x: Any, q: Any) -> Any:
    if q * 10.0 >= 3.0:
        return math.sin(x * q)
    return x * x * q


@deciding(1.5, 0.0, 9, argnums=(0, 1))
def marked_around_a_checkpoint(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        s += _deciding(x, q)
        q += 0.1
    return s


@deciding(1.5, 0.0, 9, argnums=(0, 1))
def marked_number_of_iterations(x: Any, q: Any, n: Any) -> Any:
    q, s = adc.invertible(q), 0.0
    for _ in range(n):
        for j in range(int(q * 10.0)):
            s += math.sin(x * q + j)
        q += 0.1
    return s


@deciding(0.3, 80, argnums=(0,))
def marked_beside_one_with_the_same_start(a: Any, n: Any) -> Any:
    """The other one converges: inverting it would lose its digits."""
    x, y, s = adc.invertible(a), a, 0.0
    for _ in range(n):
        x += 0.1
        y *= 0.5
        y += 0.3
        s += math.sin(y) * math.cos(x)
    return s
