"""Which arrays are allocated on the stack, and which calls are removed."""

from __future__ import annotations

import pytest

from adc.backend.common.emit import emit
from adc.ir.analysis.memory.escape import SMALL, stacked
from adc.ir.core import Call, walk
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory.in_place import in_place
from adc.passes.memory.reuse import reuse
from adc.passes.scalar.calls import RECURSIVE, calls

HEAD = "fn f(%x: f64[:], %c: bool, %n: int) -> f64"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("%a = empty[f64] 3\n write %a[0] 1.0:f64\n %t = load %a[0]\n return %t", {"a"}),
        ("%a = full[f64] 0.0:f64 4 4\n %t = load %a[0, 0]\n return %t", {"a"}),
        ("%a = empty[f64] %n\n %t = load %a[0]\n return %t", set()),
        (f"%a = empty[f64] {SMALL // 8 + 1}\n %t = load %a[0]\n return %t", set()),
        # A branch and a loop yield an array: it is not known which one is meant.
        (
            "%a = empty[f64] 3\n %b = empty[f64] 3\n"
            "%d = if %c {\n yield %a\n } else {\n yield %b\n }\n %t = load %d[0]\n return %t",
            set(),
        ),
        (
            "%a = empty[f64] 3\n %b = empty[f64] 3\n %o = empty[f64] 3\n"
            "%p, %q = for L %i in 0 to %n carrying (%v = %a, %w = %b) {\n yield %w %v\n }\n"
            "%t = load %p[0]\n write %o[0] %t\n return %t",
            {"o"},
        ),
        # One takes the memory of another one.
        (
            "%a = empty[f64] 3\n %s = load %a[0]\n %b = empty[f64] 3 %a\n"
            "%t = load %b[0]\n return %t",
            set(),
        ),
    ],
)
def test_stacked(body: str, names: set[str]) -> None:
    fn = verify(parse(f"{HEAD} {{\n {body}\n}}"))
    assert {value.name for value in stacked(fn)} == names


def test_those_returned_are_not() -> None:
    fn = verify(parse("fn f() -> f64[:] {\n %a = full[f64] 1.0:f64 3\n return %a\n}"))
    assert not stacked(fn)


def test_those_of_functions_that_call_themselves_are_not() -> None:
    text = """
fn g(%n: int) -> f64 {
  %a = full[f64] 1.0:f64 3
  %m = sub %n 1
  %more = gt %n 0
  %r = if %more {
    %s = call C0 g(%m)
    yield %s
  } else {
    yield 0.0:f64
  }
  %t = load %a[0]
  %u = add %r %t
  return %u
}

fn f(%n: int) -> f64 {
  %b = full[f64] 1.0:f64 3
  %t = call C0 g(%n)
  %v = load %b[1]
  %w = add %t %v
  return %w
}"""
    fn = verify(parse(text))
    assert stacked(fn, (*fn.callees, fn))
    assert not stacked(fn.callees[0], (*fn.callees, fn))
    source = emit(fn).source
    assert source.count("stacked(np.float64") == 1
    assert source.count("empty(state") == 1


def test_memory_is_not_shared() -> None:
    """The compiler sees better what becomes of an element if an array has a place of its own."""
    fn = verify(
        parse(
            "fn f(%x: f64) -> f64 {\n %a = full[f64] 1.0:f64 3\n %t = load %a[0]\n"
            " %b = full[f64] 2.0:f64 3\n %u = load %b[0]\n %v = add %t %u\n return %v\n}"
        )
    )
    assert reuse(fn) == fn


def test_a_part_gets_what_outlives_it() -> None:
    """A long function is written in parts: what one makes and the next reads is made outside."""
    lines = [f" %t{k} = load %x[{k}]\n write %a[{k % 3}] %t{k}" for k in range(200)]
    first = "\n".join(lines[:100])
    second = "\n".join(lines[100:])
    fn = verify(
        parse(
            "fn f(%x: f64[:]) -> f64 {\n %a = full[f64] 0.0:f64 3\n"
            f"{first}\n %b = full[f64] 1.0:f64 3\n{second}\n"
            " %u = load %a[0]\n %v = load %b[1]\n %w = add %u %v\n return %w\n}"
        )
    )
    source = emit(fn).source
    parts, whole = source[: source.index("\ndef f(")], source[source.index("\ndef f(") :]
    assert "_part" in parts
    assert "stacked" not in parts.split("OPTIONS")[-1]
    assert whole.count("stacked(np.float64") == 2


# --- calls ----------------------------------------------------------------------------------------

COUNTS = """
fn down(%n: int, %x: f64[:]) -> f64, f64[:] {
  write %x[0] 1.0:f64
  %more = gt %n 0
  %r, %y = if %more {
    %m = sub %n 1
    %s, %z = call C0 down(%m, %x)
    yield %s %z
  } else {
    yield 0.0:f64 %x
  }
  write %y[1] %r
  return %r %y
}

fn f(%n: int, %x: f64[:]) -> f64 {
  %a = copy %x
  %t, %b = call C0 down(%n, %a)
  %u = load %b[1]
  %v = add %t %u
  return %v
}"""


def test_a_recursion_that_writes_what_it_was_passed() -> None:
    fn = in_place(verify(parse(COUNTS)))
    verify(fn)
    (down,) = fn.callees
    assert [result.type.dtype for result in down.results] == ["f64"]
    assert "load %a[1]" in str(fn)
    assert "write %x[1]" in str(down)


def test_what_a_callee_makes_is_returned() -> None:
    text = COUNTS.replace("yield 0.0:f64 %x", "%c = copy %x\n    yield 0.0:f64 %c")
    fn = verify(parse(text))
    assert in_place(fn) == fn


def test_swapped_arguments_are_no_single_parameter() -> None:
    text = """
fn g(%n: int, %a: f64[:], %b: f64[:]) -> f64[:] {
  %more = gt %n 0
  %r = if %more {
    %m = sub %n 1
    %s = call C0 g(%m, %b, %a)
    yield %s
  } else {
    yield %a
  }
  return %r
}

fn f(%n: int, %x: f64[:], %y: f64[:]) -> f64 {
  %a = copy %x
  %b = copy %y
  %r = call C0 g(%n, %a, %b)
  %t = load %r[0]
  return %t
}"""
    fn = verify(parse(text))
    assert in_place(fn) == fn


def test_levels_of_a_recursion() -> None:
    text = """
fn g(%n: int) -> int {
  %more = gt %n 1
  %r = if %more {
    %m = sub %n 1
    %k = sub %n 2
    %s = call C0 g(%m)
    %t = call C1 g(%k)
    %u = add %s %t
    yield %u
  } else {
    yield 1
  }
  return %r
}

fn f(%n: int) -> int {
  %r = call C0 g(%n)
  return %r
}"""
    fn = calls(verify(parse(text)))
    verify(fn)
    (g,) = fn.callees
    made = [stmt for stmt in walk(g.body) if isinstance(stmt, Call)]
    assert len(made) == 8
    assert sum(1 for _ in walk(g.body)) <= RECURSIVE
    assert sum(isinstance(stmt, Call) for stmt in walk(fn.body)) == 1


def test_a_function_called_once_is_no_call() -> None:
    text = (
        "fn g(%x: f64) -> f64 {\n  %y = sin %x\n  return %y\n}\n\n"
        "fn f(%x: f64) -> f64 {\n  %y = call C0 g(%x)\n  %z = add %y %x\n  return %z\n}"
    )
    fn = calls(verify(parse(text)))
    assert not fn.callees
    assert "call" not in str(verify(fn))
