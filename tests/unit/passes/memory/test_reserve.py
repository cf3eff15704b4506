"""Lists get room for all elements before a loop where each iteration appends as many, or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir import ops
from adc.ir.core import Apply, If, walk
from adc.ir.errors import LimitError
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory import reserve as module
from adc.passes.memory.reserve import reserve
from adc.passes.scalar.cse import cse
from adc.passes.scalar.simplify import simplify
from tests.corpus.language.containers.list_programs import (
    pairs_of_two_arms_in_a_list,
    windows_in_a_list,
)
from tests.oracle import chain as chains

X = np.array([0.3, -0.8, 1.1, 0.6])
Program = Callable[..., Any]


def lowered(fn: Program, *args: Any) -> Any:
    return cse(simplify(chains.Chain.of(fn, args, (0,)).lowered.fn))


def branches(fn: Any) -> int:
    """Return how many branches give a list more room."""
    return sum(isinstance(stmt, Apply) and stmt.op is ops.integer.room for stmt in walk(fn.body))


# -- all of them have room -------------------------------------------------------------------------


def numbers(x: Any) -> Any:
    found = [2.0]
    for i in range(len(x)):
        found.append(x[i] * found[i])
    return found[-1] * len(found)


def states(x: Any) -> Any:
    h = x * 0.5
    kept = []
    for i in range(len(x)):
        h = np.tanh(h * x + i)
        kept.append(h)
    return np.sum(np.array(kept)[1:] * np.array(kept)[:-1])


def _noted(log: Any, v: Any) -> None:
    log.append(v)
    log.append(v * v)


def helper(x: Any) -> Any:
    log: list[Any] = []
    for v in x:
        _noted(log, v)
    return log[0] * log[-1] + len(log)


def comprehension_in_a_loop(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        row = [v * x[i] for v in x]
        s += row[i] * len(row)
    return s


def negative_range(x: Any, n: Any = -3) -> Any:
    found = [x[0]]
    for i in range(n):
        found.append(x[i])
    for v in x:
        found.append(v * v)
    return sum(found) + len(found)


def triangle(x: Any) -> Any:
    found: list[Any] = []
    for i in range(len(x)):
        found.append(x[i])
        for _ in range(len(x)):
            found.append(x[i] * len(found))
    return sum(found)


def from_a_first_one(x: Any) -> Any:
    """The list has an array before the loop."""
    found = [x * 0.5]
    for i in range(len(x)):
        found.append(np.tanh(found[-1] * x + i))
    return np.sum(np.array(found)[1:] * np.array(found)[:-1])


def from_a_first_pair(x: Any) -> Any:
    found = [(0.5, np.outer(x, x))]
    for i in range(len(x)):
        t, a = found[-1]
        found.append((t + x[i], np.sin(a * t)))
    return sum(t * np.sum(a) for t, a in found)


def by_index(x: Any) -> Any:
    found = [x]
    for i in range(1, len(x)):
        found.append(found[i - 1] + 0.1 * np.cos(found[i - 1]))
    return np.sum(found[-1]) + len(found)


def from_the_first_one_twice(x: Any) -> Any:
    """What is stored before the loop is read there, too."""
    found = [x, x * x]
    total = np.sum(found[1])
    for i in range(len(x)):
        found.append(found[1] * found[i])
    return total + np.sum(found[1]) + np.sum(found[-1])


# -- unchanged -------------------------------------------------------------------------------------


def some(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return sum(found)


def continued(x: Any) -> Any:
    found = []
    for v in x:
        if v < 0:
            continue
        found.append(v)
    return sum(found)


def left_early(x: Any) -> Any:
    found = []
    for v in x:
        found.append(v * v)
        if v > 1.0:
            break
    return sum(found)


def stack(x: Any) -> Any:
    found = [x[0]]
    s = 0.0
    for v in x:
        found.append(v)
        found.append(v * v)
        if v > 0:
            s += found.pop() * found.pop()
    return s + len(found)


def emptied(x: Any) -> Any:
    found: list[Any] = []
    s = 0.0
    for v in x:
        found.append(v)
        s += sum(found)
        if v > 0.5:
            found.clear()
    return s


def copied_in_an_arm(x: Any) -> Any:
    found = [v * v for v in x]
    for v in x:
        if v > 0:
            found = found[:]
        found.append(v)
    return sum(found)


def until(x: Any) -> Any:
    found = [x[0]]
    while len(found) < 30:
        found.append(found[-1] * x[1])
    return sum(found)


def in_a_while(x: Any) -> Any:
    found: list[Any] = []
    k = 0
    while k < 9:
        for v in x:
            found.append(v * k)
        k += 1
    return sum(found)


def as_many_as_before(x: Any) -> Any:
    found = [x[0]]
    for i in range(min(len(x), 4)):
        for u in found[:]:
            found.append(u * x[i])
    return sum(found)


ALL = [numbers, states, windows_in_a_list, pairs_of_two_arms_in_a_list, helper,
       comprehension_in_a_loop, negative_range, triangle, from_a_first_one, from_a_first_pair,
       by_index, from_the_first_one_twice]  # fmt: skip
NOT = [some, continued, left_early, stack, emptied, copied_in_an_arm, until, in_a_while,
       as_many_as_before]  # fmt: skip
ARGS = (X, np.tile(X, 9), X[:1], X[1:2])


def same(fn: Program, made: Any) -> None:
    for x in ARGS:
        try:
            want = fn(x)
        except (IndexError, ValueError):
            continue
        (got,) = run(made, [x.copy()])
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("fn", ALL)
def test_room_for_all(fn: Program) -> None:
    before = lowered(fn, X)
    after = verify(reserve(before))
    assert branches(before) > 0 == branches(after)
    same(fn, after)


@pytest.mark.parametrize("fn", NOT)
def test_lists_of_unknown_lengths(fn: Program) -> None:
    before = lowered(fn, X)
    after = verify(reserve(before))
    # What is copied is a list of its own.
    assert branches(after) > 0
    same(fn, after)


def test_no_list() -> None:
    fn = lowered(lambda x: np.sum(x * x), X)
    assert reserve(fn) is fn


def test_the_first_array_tells_the_size() -> None:
    def program(x: Any) -> Any:
        found = []
        size = 1
        for i in range(len(x)):
            size = max(size, 2)
            found.append(x[:size] * i)
        return np.sum(np.array(found))

    after = verify(reserve(lowered(program, X)))
    assert branches(after) == 0
    assert "if " in str(after), "the first iteration allocates"
    same(program, after)


def test_arms_that_compute_the_size_in_two_ways() -> None:
    """Before the loop, nobody knows which of them is the first; in it, they are equal."""

    def program(x: Any) -> Any:
        found = []
        for i in range(min(len(x), 3)):
            if i == 0:
                found.append(np.full(2, x[i]))
            else:
                found.append(np.full(2 + (i - 1) * (i - 2), x[i]))
        return np.sum(found[0] * found[-1])

    before = lowered(program, X)
    after = verify(reserve(before))
    assert branches(after) == 0
    assert len(ifs(after)) == len(ifs(before)), "the first iteration allocates"
    same(program, after)


def ifs(fn: Any) -> list[If]:
    return [stmt for stmt in walk(fn.body) if isinstance(stmt, If)]


def test_rows_of_two_sizes_are_an_error() -> None:
    def program(x: Any) -> Any:
        found = []
        for i in range(len(x)):
            found.append(x[i:])
        return np.sum(np.array(found))

    with pytest.raises(LimitError, match="must have one shape"):
        adc.grad(program)(X)


def test_a_list_that_was_emptied_has_new_rows() -> None:
    def program(x: Any) -> Any:
        found = [x, x * x]
        found.pop()
        found.pop()
        for i in range(len(x)):
            found.append(x[1:] * i)
        return np.sum(np.array(found))

    want = 6.0 * np.array([0.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(adc.grad(program)(X), want)


def test_example() -> None:
    doc = module.__doc__ or ""
    fn = parse(
        """
        fn f(%x: f64[:], %n: int) -> f64[:] {
          %list = empty[f64] 16
          %h.1, %list.5 = for L %k in 0 to %n carrying (%h = 0, %list.1 = %list) {
            %k.1 = cast[f64] %k
            %t = sin %k.1
            %list.dim = dim[0] %list.1
            %full = ge %h %list.dim
            %list.3 = if %full {
              %m = room %h
              %list.2 = empty[f64] %m
              yield %list.2
            } else {
              yield %list.1
            }
            %list.4 = store %list.3[%h] %t
            %h.2 = add %h 1
            yield %h.2 %list.4
          }
          return %list.5
        }
        """
    )
    made = str(reserve(fn))
    for line in doc.partition("After::")[2].partition("All arrays")[0].strip().splitlines():
        if "list.6" in line and "empty" in line:
            assert "= empty[f64] %n.1" in made  # not negative: `maximum %n 0`
        elif "for L" not in line:
            assert line.strip() in made
