"""Buffer form computes what value form does, writes only to its own arrays, and copies little."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from adc.ir.core import Apply, Function, Store, Value, Write, walk
from adc.ir.interp import Interpreter, run
from adc.ir.text.parser import parse
from adc.ir.types import Array
from adc.ir.verifier import verify
from adc.passes.ad.adjoint import adjoint
from adc.passes.memory.reuse import reuse
from adc.passes.memory.storage import plan, storage
from adc.passes.remat.remat import remat
from tests.corpus.ir_cases import CASES, Case
from tests.fuzz.ir_random import random_case

POLICIES = ("store", "recompute", "auto")


def same_results(fn: Function, args: tuple[Any, ...]) -> Function:
    """Check that `fn` and its buffer form agree, and that results and arguments do not alias."""
    stored = verify(storage(fn))
    assert not any(isinstance(stmt, Store) for stmt in walk(stored.body))
    given = copy.deepcopy(args)
    want = run(fn, copy.deepcopy(args))
    got = run(verify(reuse(stored)), given)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(args, given, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="an argument was written")
    arrays = [a for a in (*given, *got) if isinstance(a, np.ndarray)]
    for k, result in enumerate(arrays):
        if k >= len(arrays) - sum(isinstance(a, np.ndarray) for a in got):
            assert not any(np.shares_memory(result, other) for other in arrays[:k])
    return stored


def reversed_case(case: Case, policy: str) -> tuple[Function, tuple[Any, ...]]:
    fn = remat(adjoint(case.function(), case.wrt), policy)
    return fn, case.args


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cases(case: Case) -> None:
    same_results(case.function(), case.args)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_of_cases(case: Case, policy: str) -> None:
    same_results(*reversed_case(case, policy))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    case = random_case(seed)
    same_results(case.function(), case.args)
    for policy in ("store", f"random:{seed}"):
        same_results(*reversed_case(case, policy))


# --- what is copied -------------------------------------------------------------------------------


def copies(text: str) -> list[str]:
    return [found.value for found in plan(verify(parse(text))).copies]


LOOP = """
fn f({params}) -> f64[:]{more} {{
  %n = dim[0] {source}
  %y = for L %i in 0 to %n carrying (%a = {source}) {{
    %v = load %a[%i]
    %t = mul %v %v
    %a.1 = store %a[%i] %t
    yield %a.1
  }}
  {tail}
}}"""


def test_the_callers_array_is_copied_once() -> None:
    text = LOOP.format(params="%x: f64[:]", more="", source="%x", tail="return %y")
    assert copies(text) == ["x"]
    stored = storage(parse(text))
    assert isinstance(stored.body[1], Apply)  # before the loop, not in it
    assert stored.body[1].op.name == "copy"
    same_results(parse(text), (np.arange(4.0),))


def test_an_own_array_is_written_in_place() -> None:
    text = """
fn f(%m: int) -> f64[:] {
  %x = full[f64] 2.0:f64 %m
  %y = for L %i in 0 to %m carrying (%a = %x) {
    %a.1 = store %a[%i] 1.0:f64
    %a.2 = accumulate %a.1[%i] 1.0:f64
    yield %a.2
  }
  return %y
}"""
    assert copies(text) == []
    stored = same_results(parse(text), (5,))
    loop = stored.body[1]
    assert loop.results == ()  # nothing is carried
    assert stored.results[0] == Value("x", Array("f64", 1))


def test_an_older_version_read_later_is_kept() -> None:
    text = """
fn f(%m: int) -> f64 {
  %x = full[f64] 2.0:f64 %m
  %y = store %x[0] 3.0:f64
  %z = store %y[1] 4.0:f64
  %u = load %x[0]
  %v = load %z[0]
  %w = mul %u %v
  return %w
}"""
    assert copies(text) == ["x"]
    same_results(parse(text), (3,))


def test_an_older_version_read_before_is_not_kept() -> None:
    text = """
fn f(%m: int) -> f64 {
  %x = full[f64] 2.0:f64 %m
  %u = load %x[0]
  %n = dim[0] %x
  %y = store %x[0] 3.0:f64
  %k = dim[0] %x
  %v = load %y[0]
  %w = mul %u %v
  %c = eq %n %k
  check %c ValueError "sizes do not change"
  return %w
}"""
    assert copies(text) == []
    same_results(parse(text), (3,))


SWAP = """
fn f(%m: int, %times: int) -> f64[:], f64[:] {
  %x = full[f64] 2.0:f64 %m
  %o = full[f64] 0.5:f64 %m
  %p, %q = for L %k in 0 to %times carrying (%a = %x, %b = %o) {
    %b.3 = for M %i in 0 to %m carrying (%b.1 = %b) {
      %v = load %a[%i]
      %w = load %b.1[0]
      %s = add %v %w
      %b.2 = store %b.1[%i] %s
      yield %b.2
    }
    yield %b.3 %a
  }
  return %p %q
}"""


@pytest.mark.parametrize("times", [0, 1, 2, 5])
def test_swapped_arrays_are_not_copied(times: int) -> None:
    assert copies(SWAP) == []
    same_results(parse(SWAP), (4, times))


def test_two_carried_names_of_one_array_are_kept_apart() -> None:
    text = SWAP.replace("%b = %o", "%b = %x")
    assert len(copies(text)) == 1
    for times in (0, 1, 2, 3):
        same_results(parse(text), (4, times))


def test_a_result_is_returned_once() -> None:
    text = """
fn f(%m: int, %z: f64[:]) -> f64[:], f64[:], f64[:] {
  %x = full[f64] 2.0:f64 %m
  return %x %x %z
}"""
    assert copies(text) == ["x", "z"]
    same_results(parse(text), (4, np.ones(3)))


def test_an_arm_that_writes_copies_in_that_arm() -> None:
    text = """
fn f(%m: int, %c: bool) -> f64 {
  %x = full[f64] 2.0:f64 %m
  %y = if %c {
    %a = store %x[0] 3.0:f64
    yield %a
  } else {
    yield %x
  }
  %u = load %x[0]
  %v = load %y[0]
  %w = mul %u %v
  return %w
}"""
    assert copies(text) == ["x"]
    for cond in (True, False):
        same_results(parse(text), (4, cond))


def test_a_callee_writes_the_array_it_is_passed() -> None:
    text = """
fn put(%a: f64[:], %v: f64) -> f64[:] {
  %b = store %a[0] %v
  return %b
}
fn f(%m: int) -> f64 {
  %x = full[f64] 2.0:f64 %m
  %y = call C put(%x, 3.0:f64)
  %z = call D put(%y, 4.0:f64)
  %u = load %z[0]
  %v = load TOKEN[0]
  %w = mul %u %v
  return %w
}"""
    last, first = text.replace("TOKEN", "%z"), text.replace("TOKEN", "%x")
    assert copies(last) == []
    assert copies(first) == ["x"]
    same_results(parse(last), (3,))
    same_results(parse(first), (3,))


def test_one_array_for_two_parameters_of_a_callee_that_writes() -> None:
    text = """
fn put(%a: f64[:], %b: f64[:]) -> f64[:], f64 {
  %a.1 = store %a[0] 7.0:f64
  %v = load %b[0]
  return %a.1 %v
}
fn f(%m: int) -> f64, f64 {
  %x = full[f64] 2.0:f64 %m
  %y, %v = call C put(%x, %x)
  %u = load %y[0]
  return %u %v
}"""
    assert copies(text) == ["x"]
    same_results(parse(text), (3,))


def test_stores_cost_the_same_in_large_arrays() -> None:
    """No copy is made in a loop of stores: elements touched do not grow with the size squared."""
    text = LOOP.format(params="%x: f64[:]", more="", source="%x", tail="return %y")
    fn = storage(parse(text))
    made = [stmt for stmt in walk(fn.body) if isinstance(stmt, Apply) and stmt.op.name == "copy"]
    assert len(made) == 1
    interpreter = Interpreter(fn)
    interpreter.run((np.ones(1000),))
    assert interpreter.steps < 5000
    assert any(isinstance(stmt, Write) for stmt in walk(fn.body))


def test_the_report_says_why() -> None:
    text = LOOP.format(params="%x: f64[:]", more="", source="%x", tail="return %y")
    (found,) = plan(parse(text)).copies
    assert (found.function, found.value) == ("f", "x")
    assert found.reason == "%x is owned by the caller"
