"""While loops that count are for loops (`passes.loops.counted`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import For, While, walk
from adc.ir.interp import ProgramError, run
from adc.ir.verifier import verify
from adc.passes.loops.counted import counted
from adc.passes.scalar.cse import cse
from adc.passes.scalar.simplify import simplify
from tests.oracle import chain as chains

Program = Callable[..., Any]
X = np.array([0.3, -0.8, 1.1, 0.6, 0.2])


def up(x: Any, n: Any) -> Any:
    k = 0
    while k < n:
        x = np.sin(x) + k
        k += 1
    return np.sum(x) * k


def in_steps(x: Any, n: Any) -> Any:
    s, k = 0.0, -3
    while n > k:
        s = s * 0.5 + x[k % 5]
        k = k + 3
    return s + k


def and_the_limit(x: Any, n: Any) -> Any:
    s, k = 0.0, 2
    while k <= n:
        s, k = s + x[0] * k, 2 + k
    return s - k


def down(x: Any, n: Any) -> Any:
    s = 0.0
    while n > 0:
        n -= 1
        s = s + x[n % 5] * s + n
    return s + n


def down_to_the_limit(x: Any, n: Any) -> Any:
    s = 1.0
    while 1 <= n:
        s = s * x[n % 5]
        n -= 4
    return s + n


def limit_that_is_computed(x: Any, n: Any) -> Any:
    s, k = 0.0, 1
    while k < len(x) - 1 + n // 3:
        s = s + x[k % 5] * x[k % 5 - 1]
        k += 1
    return s


def within_another(x: Any, n: Any) -> Any:
    s, i = 0.0, 0
    while i < n:
        j = i
        while j < 5:
            s = s + x[j] * i
            j += 2
        i += 1
    return s + i


def branches(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n:
        if x[k % 5] > 0:
            s = s + x[k % 5]
        else:
            s = s * 0.5
        k += 1
    return s


def error_in_it(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n:
        s = s + x[k]
        k += 1
    return s


def nothing_in_it(x: Any, n: Any) -> Any:
    k = 0
    while k < n:
        k += 1
    return x[0] * k


# -- unchanged -------------------------------------------------------------------------------------


def left_early(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n:
        s = s + x[k % 5]
        if s > 1.0:
            break
        k += 1
    return s + k


def another_condition(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n and s < 1.0:
        s = s + x[k % 5]
        k += 1
    return s + k


def limit_that_changes(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n:
        s = s + x[k % 5]
        k += 2
        n += 1
    return s + k


def sometimes(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k < n:
        s = s + 0.25
        if s > x[k % 5]:
            k += 1
    return s + k


def until_equal(x: Any, n: Any) -> Any:
    s, k = 0.0, 0
    while k != n:
        s = s + x[k % 5]
        k += 1 if n > 0 else -1
    return s + k


def floats(x: Any, n: Any) -> Any:
    s, t = 0.0, 0.0
    while t < n:
        s = s + x[1] * t
        t += 0.5
    return s + t


COUNTED = [up, in_steps, and_the_limit, down, down_to_the_limit, limit_that_is_computed,
           within_another, branches, nothing_in_it, error_in_it]  # fmt: skip
NOT = [left_early, another_condition, limit_that_changes, sometimes, until_equal, floats]


def lowered(fn: Program) -> Any:
    return cse(simplify(chains.Chain.of(fn, (X, 4), (0,)).lowered.fn))


def loops(fn: Any, kind: type) -> int:
    return sum(isinstance(stmt, kind) for stmt in walk(fn.body))


def same(fn: Program, made: Any) -> None:
    for n in (-3, 0, 1, 2, 3, 4, 7, 12):
        try:
            want = fn(X, n)
        except IndexError as error:
            with pytest.raises(ProgramError, match=str(error).split(" 5", maxsplit=1)[0]):
                run(made, [X.copy(), n])
            continue
        (got,) = run(made, [X.copy(), n])
        assert got == want


@pytest.mark.parametrize("fn", COUNTED)
def test_loops_that_count(fn: Program) -> None:
    before = lowered(fn)
    after = verify(counted(before))
    assert loops(before, While) > 0 == loops(after, While)
    assert loops(after, For) == loops(before, For) + loops(before, While)
    same(fn, after)


@pytest.mark.parametrize("fn", NOT)
def test_others(fn: Program) -> None:
    before = lowered(fn)
    assert counted(before) == before
    same(fn, before)


@pytest.mark.parametrize("fn", COUNTED[:-1])
def test_gradients(fn: Program) -> None:
    way = np.array([0.5, -1.0, 0.25, 2.0, -0.75])
    for n in (0, 4, 5):
        gradient = adc.grad(fn, target="python")(X, n)
        slope = (fn(X + 1e-6 * way, n) - fn(X - 1e-6 * way, n)) / 2e-6
        np.testing.assert_allclose(np.sum(gradient * way), slope, rtol=1e-7, atol=1e-8)


def test_lists_have_room() -> None:
    """The memory of a loop that appends is known: a budget is no error."""

    def program(x: Any, n: Any) -> Any:
        states, k = [x], 0
        while k < n:
            states.append(np.sin(states[-1]))
            k += 1
        return np.sum(np.array(states) ** 2)

    within = adc.grad(program, memory="10 kB", target="python")
    np.testing.assert_array_equal(within(X, 9), adc.grad(program, target="python")(X, 9))
