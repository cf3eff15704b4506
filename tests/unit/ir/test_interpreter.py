"""The reference interpreter: both forms, with NumPy's meaning."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from adc.ir.errors import IRError
from adc.ir.interp import MAX_STEPS, Interpreter, ProgramError, run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify


def evaluate(body: str, *args: Any, params: str = "", returns: str = "f64") -> tuple[Any, ...]:
    lines = "\n".join(f"  {line}" for line in body.strip().splitlines())
    return run(verify(parse(f"fn f({params}) -> {returns} {{\n{lines}\n}}")), args)


def test_scalars_have_the_dtype_of_their_type() -> None:
    results = evaluate(
        "%y = mul %x 2:u8\n%w = cast[float] %y\nreturn %y %w %k",
        200, 3, params="%x: u8, %k: i16", returns="u8, float, i16",
    )  # fmt: skip
    assert [result.item() for result in results] == [144, 144.0, 3]
    assert [result.dtype.name for result in results] == ["uint8", "float64", "int16"]


def test_versions_of_arrays_are_kept() -> None:
    x = np.array([1.0, 2.0, 3.0])
    first, second, third = evaluate(
        "%b = store %a[0] 5.0:f64\n%c = accumulate %b[1] 0.5:f64\nreturn %a %b %c",
        x, params="%a: f64[:]", returns="f64[:], f64[:], f64[:]",
    )  # fmt: skip
    assert first.tolist() == [1.0, 2.0, 3.0]
    assert second.tolist() == [5.0, 2.0, 3.0]
    assert third.tolist() == [5.0, 2.5, 3.0]
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_writes_are_in_place() -> None:
    x = np.array([1.0, 2.0])
    (found,) = evaluate(
        "write %a[0] 5.0:f64\nincrease %a[1] 0.5:f64\nreturn %a",
        x, params="%a: f64[:]", returns="f64[:]",
    )  # fmt: skip
    assert found is x
    assert x.tolist() == [5.0, 2.5]


def test_accumulation_keeps_the_dtype() -> None:
    x = np.array([2.0**24], np.float32)
    (found,) = evaluate(
        "%b = accumulate %a[0] 1.0:f32\nreturn %b", x, params="%a: f32[:]", returns="f32[:]"
    )
    assert found.dtype == np.float32
    assert found[0] == 2.0**24


@pytest.mark.parametrize(("cond", "expected"), [(True, 3.0), (False, 5.0)])
def test_branches(cond: bool, expected: float) -> None:
    body = "%y = if %c {\n  yield 3.0:f64\n} else {\n  yield 5.0:f64\n}\nreturn %y"
    assert evaluate(body, cond, params="%c: bool") == (expected,)


@pytest.mark.parametrize(("order", "expected"), [("in 0 to", 123), ("down from", 321)])
def test_counted_loops(order: str, expected: int) -> None:
    body = f"""
%s = for L %i {order} %n carrying (%a = 0) {{
  %b = mul %a 10
  %j = add %i 1
  %c = add %b %j
  yield %c
}}
return %s"""
    assert evaluate(body, 3, params="%n: int", returns="int") == (expected,)
    assert evaluate(body, 0, params="%n: int", returns="int") == (0,)
    assert evaluate(body, -2, params="%n: int", returns="int") == (0,)


def test_a_while_runs_at_least_once() -> None:
    body = """
%s = while W carrying (%a = %n) {
  %b = add %a 3
  %c = lt %b 10
  again %c %b
}
return %s"""
    assert evaluate(body, 0, params="%n: int", returns="int") == (12,)
    assert evaluate(body, 50, params="%n: int", returns="int") == (53,)


def test_carried_values_change_together() -> None:
    body = """
%s, %t = for L %i in 0 to 3 carrying (%a = 1.0:f64, %b = 2.0:f64) {
  yield %b %a
}
return %s %t"""
    assert evaluate(body, returns="f64, f64") == (2.0, 1.0)


def test_calls_and_recursion() -> None:
    fn = parse("""
fn fact(%n: int) -> int {
  %c = le %n 1
  %r = if %c {
    yield 1
  } else {
    %m = sub %n 1
    %p = call C fact(%m)
    %q = mul %n %p
    yield %q
  }
  return %r
}

fn f(%n: int) -> int {
  %r = call D fact(%n)
  return %r
}""")
    assert run(verify(fn), (5,)) == (120,)


def test_checks_raise_the_programs_error() -> None:
    body = 'check %c IndexError "index {} of {}" %n 4\nreturn %n'
    assert evaluate(body, True, 3, params="%c: bool, %n: int", returns="int") == (3,)
    with pytest.raises(ProgramError, match="index 3 of 4") as caught:
        evaluate(body, False, 3, params="%c: bool, %n: int", returns="int")
    assert isinstance(caught.value.error, IndexError)
    assert caught.value.check.message == "index {} of {}"
    with pytest.raises(ProgramError) as caught:
        evaluate('check false AssertionError ""\nreturn 1', returns="int")
    assert caught.value.error.args == ()
    # Without operands too, the message is a template.
    with pytest.raises(ProgramError, match=re.escape("a {}")):
        evaluate('check false ValueError "a {{}}"\nreturn 1', returns="int")


def test_prints_are_recorded() -> None:
    interpreter = Interpreter(parse('fn f(%x: f64) -> f64 {\n  print "x is {}" %x\n'
                                    '  print "{{}}"\n  return %x\n}'))  # fmt: skip
    assert interpreter.run((0.5,)) == (0.5,)
    assert interpreter.printed == ["x is 0.5", "{}"]


def test_recalls_find_the_mirrored_iteration() -> None:
    body = """
for L %i in 0 to 3 {
  for M %j in 0 to %i {
    %k = mul %i 10
    %p = add %k %j
  }
}
%s = reverse L %ii carrying (%a = 0) {
  %i.r = recall %i
  %t = reverse M %jj carrying (%b = %a) {
    %p.r = recall %p
    %c = mul %b 100
    %d = add %c %p.r
    yield %d
  }
  %same = eq %i.r %ii
  check %same AssertionError "index"
  yield %t
}
return %s"""
    assert evaluate(body, returns="int") == (212010,)


def test_recalls_of_a_while() -> None:
    body = """
%y = while W carrying (%a = 1) {
  %b = mul %a 2
  %c = lt %b 10
  again %c %b
}
%s = reverse W %k carrying (%z = 0) {
  %a.r = recall %a
  %z.1 = mul %z 10
  %z.2 = add %z.1 %a.r
  yield %z.2
}
return %s"""
    assert evaluate(body, returns="int") == (8421,)


def test_recalls_of_a_call() -> None:
    fn = parse("""
fn g(%x: f64) -> f64 {
  %t = mul %x %x
  return %t
}

fn g.rev(%ct: f64) -> f64 mirrors g {
  %t.r = recall %t
  %u = mul %t.r %ct
  return %u
}

fn f(%x: f64) -> f64 {
  %y = call C g(%x)
  %z = call D g(%y)
  %w = call C.rev g.rev(1.0:f64) mirrors C
  %v = call D.rev g.rev(%w) mirrors D
  return %v
}""")
    assert run(verify(fn), (3.0,)) == (9.0 * 81.0,)


def test_recall_of_what_was_not_computed() -> None:
    body = """
%y = if %c {
  %t = sin %x
  yield %t
} else {
  yield %x
}
%r = recall %t
return %r"""
    assert evaluate(body, True, 0.0, params="%c: bool, %x: f64") == (0.0,)
    with pytest.raises(IRError, match="did not compute"):
        evaluate(body, False, 0.0, params="%c: bool, %x: f64")


def test_tape_is_last_in_first_out() -> None:
    body = """
for L %i in 0 to 3 {
  push %i %x
}
%s = for R %k down from 3 carrying (%a = 0) {
  %j: int, %y: f64 = pop
  %b = mul %a 10
  %c = add %b %j
  yield %c
}
return %s"""
    assert evaluate(body, 0.5, params="%x: f64", returns="int") == (210,)


def test_frames_keep_the_contents_of_arrays() -> None:
    body = "push %a\nwrite %a[0] 9.0:f64\n%b: f64[:] = pop\nreturn %a %b"
    new, old = evaluate(body, np.array([1.0]), params="%a: f64[:]", returns="f64[:], f64[:]")
    assert (new[0], old[0]) == (9.0, 1.0)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("push %x\nreturn %x", "1 frames are left on the tape"),
        ("%y: f64 = pop\nreturn %y", "empty tape"),
        ("push %x %x\n%y: f64 = pop\nreturn %y", "popped"),
        ("push 1\n%y: f64 = pop\nreturn %y", "popped"),
        ("%a = full[f64] %x 2\n%y = load %a[2]\nreturn %y", "index (2,) outside (2,)"),
        ("%a = full[f64] %x 2\n%y = load %a[-1]\nreturn %y", "index (-1,) outside (2,)"),
        ("%a = full[f64] %x 2\n%b = store %a[2] %x\nreturn %x", "index (2,) outside (2,)"),
    ],
)
def test_broken_promises_are_found(body: str, message: str) -> None:
    with pytest.raises(IRError, match=re.escape(message)):
        evaluate(body, 0.5, params="%x: f64")


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(IRError, match="f takes 1 arguments, not 2"):
        evaluate("return %x", 1.0, 2.0, params="%x: f64")


def test_runaway_loops_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_STEPS > 1000
    monkeypatch.setattr("adc.ir.interp.MAX_STEPS", 1000)
    with pytest.raises(IRError, match="too long"):
        evaluate("while W {\n  %t = add 1 2\n  again true\n}\nreturn 1", returns="int")


def test_no_warnings_of_numpy() -> None:
    assert evaluate("%y = truediv 1.0:f64 %x\nreturn %y", 0.0, params="%x: f64") == (math.inf,)
