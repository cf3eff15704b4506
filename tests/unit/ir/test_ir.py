"""The IR: its text, its verifier, its interpreter, and the helpers that passes share."""

from __future__ import annotations

import itertools
import math
import operator
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.ir.builder import Builder, integer, zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import CODES, AdcError, IRError, Span
from adc.ir.interp import MAX_STEPS, Interpreter, ProgramError, run
from adc.ir.opdef import OPS, numpy_value
from adc.ir.rules import vjp_rule
from adc.ir.text.parser import parse
from adc.ir.text.printer import literal_text, print_stmt
from adc.ir.types import (
    B1,
    BOOL,
    DTYPES,
    F32,
    F64,
    FLOAT,
    I64,
    INT,
    NAMES,
    Array,
    Scalar,
    join,
    parse_type,
    promote,
)
from adc.ir.verifier import problems, verify
from adc.ir.walk import (
    Names,
    block_reads,
    clone,
    defined,
    map_operands,
    stmts_reads,
    substitute,
    substitute_stmt,
    use_counts,
)
from tests.corpus.ir_cases import CASES, Case
from tests.fuzz.ir_random import random_case

BAD = Path(__file__).parents[2] / "golden" / "verifier"

# --- text -----------------------------------------------------------------------------------------

# Every form, with everything that may be left out both there and not there.
FORMS = """
fn nothing() -> none {
  return
}

fn double(%x: f64, %a: f64[:]) -> f64, f64[:] {
  %y = mul 2.0:f64 %x
  return %y %a
}

fn double.rev(%ct: f64) -> f64 mirrors double {
  %x.r = recall %x
  %y.r = mul %x.r %ct
  return %y.r
}

fn everything(%x: f64[:], %m: f32[:, :]A, %n: int, %c: bool, %k: u8) -> f64, f64[:], bool, i64 {
  %d = dim[0] %x
  %w = cast[i64] %n
  %z = full[f64] 0.0:f64 %d
  %u = undef[f64[:, :]]
  %u.1 = gemm[nn] %u %u %u
  %u.2 = gemm[tn, add] %u.1 %u %u.1
  %one = load %x[0]
  %two = load %m[%n, 1]
  %x.1 = store %x[%n] %one
  %x.2 = accumulate %x.1[1] -0.5:f64
  if %c {
    print "yes"
  }
  if true {
  } else {
    print "{} {}" %one %n
  }
  %p, %q = if %c {
    yield %one 1
  } else {
    %e = exp %one
    yield %e 2
  }
  for L %i in 0 to %n {
    check %c ValueError ""
    check %c IndexError "index {} of \\"{}\\"\\n" %i %n
  }
  %r, %s = for M %j down from 3 carrying (%v = %p, %t = %x.2) {
    for N %g in 0 to %j {
    }
    yield %v %t
  }
  while V {
    again false
  }
  %f = while W carrying (%h = 1.0) {
    %b = lt %h 9.0
    again %b %h
  }
  call A nothing()
  %y, %a = call B double(%one, %x)
  reverse L %ii {
  }
  %ct = reverse M %jj carrying (%o = 1.0:f64) {
    %v.r = recall %v
    reverse N %gg {
    }
    yield %v.r
  }
  %dct = call B.rev double.rev(%ct) mirrors B
  push %one %c 1 true:b1
  %f1: f64, %f2: bool, %f3: int, %f4: b1 = pop
  return %r %s %c %w
}
"""

BUFFERS = """
fn f(%x: f64[:, :], %n: int) -> f64[:, :] {
  write %x[0, %n] 1.0:f64
  increase %x[%n, 0] -2.5:f64
  %y = copy %x
  gemm[nt] %y %x %x
  gemm[tt, add] %y %x %x
  return %x
}
"""


def test_every_form_prints_and_parses() -> None:
    fn = verify(parse(FORMS))
    assert str(fn) == FORMS.lstrip("\n")
    assert parse(str(fn)) == fn
    assert str(verify(parse(BUFFERS))) == BUFFERS.lstrip("\n")
    buffers: set[type[Stmt]] = {type(s) for s in walk(parse(BUFFERS).body)}
    forms = {type(stmt) for each in (*fn.callees, fn) for stmt in walk(each.body)} | buffers
    assert forms == set(Stmt.__args__)


def test_layout_and_comments_are_free() -> None:
    assert (
        parse("fn  f ( %x :f64 )->f64{ # first\n\n\n  %y=sin   %x # sine\n\n return %y\n}\n\n\n")
        == parse("fn f(%x: f64) -> f64 {\n  %y = sin %x\n  return %y\n}")
    )  # fmt: skip


LITERALS: list[tuple[bool | int | float, Scalar, str]] = [
    (True, BOOL, "true"), (False, BOOL, "false"), (True, B1, "true:b1"),
    (0, INT, "0"), (-7, INT, "-7"), (2**63 - 1, INT, "9223372036854775807"), (3, I64, "3:i64"),
    (200, Scalar("u8"), "200:u8"), (-1, Scalar("i8"), "-1:i8"),
    (0.0, FLOAT, "0.0"), (-0.0, FLOAT, "-0.0"), (0.0, F64, "0.0:f64"), (-0.0, F32, "-0.0:f32"),
    (math.nan, FLOAT, "nan"), (math.nan, F64, "nan:f64"), (math.inf, FLOAT, "inf"),
    (-math.inf, F32, "-inf:f32"), (1e300, FLOAT, "1e+300"), (5e-324, F64, "5e-324:f64"),
    (1e22, FLOAT, "1e+22"), (0.1, FLOAT, "0.1"), (1e16, F64, "1e+16:f64"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "ty", "text"), LITERALS)
def test_literals(value: float, ty: Scalar, text: str) -> None:
    literal = Literal(value, ty)
    assert literal_text(literal) == text
    fn = Function("f", (), (), (literal,))
    assert str(fn) == f"fn f() -> {ty} {{\n  return {text}\n}}\n"
    assert parse(str(verify(fn))) == fn
    (found,) = run(fn, ())
    expected = numpy_value(value, ty)
    assert found.dtype == expected.dtype == DTYPES[ty.dtype]
    assert found.tobytes() == expected.tobytes()


def test_literals_compare_by_bits() -> None:
    nan, zero_ = Literal(math.nan, F64), Literal(0.0, F64)
    assert nan == Literal(math.nan, F64)
    assert hash(nan) == hash(Literal(math.nan, F64))
    assert zero_ != Literal(-0.0, F64)
    assert zero_ != Literal(0.0, F32)
    assert zero_ != Literal(0, F64)
    assert Literal(True, BOOL) != Literal(1, INT)
    assert zero_ != Value("x", F64)
    assert len({nan, Literal(math.nan, F64), zero_, Literal(-0.0, F64)}) == 3


@pytest.mark.parametrize(
    "name", ["x", "x.1", "x.ct.12", "a.b.c", "$exit", "_", "inf", "nan", "true", "fn", "yield", "é"]
)
def test_names(name: str) -> None:
    fn = Function(
        "f",
        (Value(name, F64),),
        (Apply((Value(f"{name}.r", F64),), OPS["sin"], (Value(name, F64),)),),
        (Value(f"{name}.r", F64),),
    )
    assert parse(str(fn)) == fn


@pytest.mark.parametrize("case", [*CASES, *map(random_case, range(10))], ids=str)
def test_programs_round_trip(case: Case) -> None:
    fn = case.function()
    assert parse(str(fn)) == fn
    assert str(parse(str(fn))) == str(fn)


def test_places_are_no_part_of_equality() -> None:
    fn = parse("fn f(%x: f64) -> f64 {\n  %y = sin %x\n  return %y\n}")
    (stmt,) = fn.body
    assert isinstance(stmt, Apply)
    placed = Apply(stmt.results, stmt.op, stmt.args, loc=Span("a.py", 3))
    assert placed == stmt
    assert hash(placed) == hash(stmt)
    assert "loc" not in repr(placed)


def test_functions_pickle() -> None:
    # Rows are pickled by name, so that the copy means the row of the reading process.
    fn = parse(FORMS)
    assert pickle.loads(pickle.dumps(fn)) == fn


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "no function", 1),
        ("\n\n# nothing\n", "no function", 4),
        ("fn f() -> none {\n", "expected a word", 2),
        ("fn f() -> none {\n  return\n", "expected '}'", 3),
        ("fn f(%x f64) -> none {\n  return\n}", "expected ':'", 1),
        ("\n\nfn f() -> none {\n  for L %i in 1 to 3 {\n  }\n  return\n}", "expected '0'", 4),
        ("fn f() -> none {\n  print yes\n  return\n}", "expected a string", 2),
        ("fn f() -> none {\n  %x = \n  return\n}", "expected a word", 2),
        ("def f():\n  return 1", "expected 'fn'", 1),
    ],
)
def test_parse_errors_name_the_line(text: str, message: str, line: int) -> None:
    with pytest.raises(IRError, match=re.escape(message)) as caught:
        parse(text)
    assert caught.value.span == Span("<ir>", line)


# --- verifier -------------------------------------------------------------------------------------


def expected_errors(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        _, found, message = line.partition("# error: ")
        if found:
            yield number, message


def found_errors(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message of what the parser or the verifier finds."""
    try:
        fn = parse(text)
    except IRError as error:
        yield (error.span.line if error.span else 0), error.message
        return
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    for problem in problems(fn):
        message, _, where = problem.partition("\n    in: ")
        assert lines.count(where) == 1, where
        yield lines.index(where) + 1, message.partition(": ")[2]


@pytest.mark.parametrize("path", sorted(BAD.glob("*.ir")), ids=lambda path: path.stem)
def test_malformed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected, found = list(expected_errors(text)), list(found_errors(text))
    assert expected
    assert [line for line, _ in found] == [line for line, _ in expected], found
    for (_, message), (_, part) in zip(found, expected, strict=True):
        assert part in message


def test_every_rule_has_a_malformed_case() -> None:
    # The messages of the verifier, up to the first thing that it fills in.
    source = (Path(__file__).parents[3] / "ir" / "verifier.py").read_text(encoding="utf-8")
    messages = re.findall(r'self\.error\(\s*\w+,\s*f?"([^"]*)"', source)
    texts = [error for path in BAD.glob("*.ir") for _, error in expected_errors(path.read_text())]
    # What the text form cannot say, because it leaves types and arities to inference.
    unreachable = {
        "{value} is defined twice",
        "{op.name} takes {op.arity} operands",
        "{result} is {result.type}",
        "{result} is {result.type}, {array} is {array.type}",
        "{result} is {result.type}, {value} is {value.type}",
        "no function named {name}",
        "the results of {name} are {', '.join(map(str, types))}",
    }
    assert len(messages) > 20
    for message in set(messages) - unreachable:
        pattern = re.sub(r"\\\{.*?\\\}", ".*", re.escape(message))
        assert any(re.fullmatch(pattern, text) for text in texts), message


X, Y = Value("x", F64), Value("y", F64)
A = Value("a", Array("f64", 1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((Apply((X,), OPS["sin"], (X,)),), "%x is defined twice"),
        ((Apply((Y,), OPS["mul"], (X,)),), "mul takes 2 operands"),
        ((Apply((Y,), OPS["lt"], (X, X)),), "results: %y is f64, wanted b1"),
        ((Apply((Y,), OPS["mul"], (X, Literal(1, INT))),), "operands of different types"),
        ((Load(Value("y", F32), A, (integer(0),)),), "%y is f32"),
        ((Load(Y, X, (integer(0),)),), "%x is not an array"),
        ((Store(Value("b", Array("f64", 2)), A, (integer(0),), X),), "%b is f64[:, :], %a is"),
        ((Recall(Value("y", F32), X),), "%y is f32, %x is f64"),
        ((Call((Y,), "C", "g", (X,)),), "no function named g"),
        ((Apply((Value("y", F32),), OPS["sin"], (Value("x", F32),)),), "%x is not available here"),
    ],
)
def test_malformed_beyond_text(body: tuple[Stmt, ...], message: str) -> None:
    fn = Function("f", (X, A), body, (X,))
    with pytest.raises(IRError, match=re.escape(message)) as caught:
        verify(fn)
    # The whole function is shown.
    assert str(fn) in str(caught.value)


def test_all_problems_are_reported() -> None:
    fn = parse("fn f(%x: f64) -> f64 {\n  %y = mul %x 1:f64\n  push\n  return %y\n}")
    assert [text.split("\n")[0] for text in problems(fn)] == [
        "f: 1:f64 is not a constant of type f64",
        "f: an empty frame",
    ]


def test_weak_marks_may_differ_where_paths_join() -> None:
    verify(parse("fn f(%c: bool, %x: f64) -> f64 {\n  %y = if %c {\n    yield %x\n"
                 "  } else {\n    yield 1.0\n  }\n  return %y\n}"))  # fmt: skip


def test_mirrors_and_recursion_are_well_formed() -> None:
    for case in CASES:
        assert problems(case.function()) == []


# --- interpreter ----------------------------------------------------------------------------------


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


# --- names, walking, cloning ----------------------------------------------------------------------


def test_fresh_names() -> None:
    names = Names(["x", "x.2"])
    assert [names.fresh("x") for _ in range(3)] == ["x.1", "x.3", "x.4"]
    assert names.fresh("x.1") == "x.5"
    assert names.fresh("y.7") == "y.7"
    assert names.fresh("y.7") == "y.1"
    assert names.fresh("x.ct") == "x.ct"
    assert names.fresh("x.ct") == "x.ct.1"
    assert names.fresh(".1") == ".1"
    names.reserve("z")
    assert names.fresh("z") == "z.1"
    assert names.value(Value("z", F32)) == Value("z.2", F32)
    assert names.value(Value("z", F32), "w") == Value("w", F32)


def test_names_of_a_function_include_labels() -> None:
    names = Names.of(parse(FORMS))
    assert names.fresh("L") == "L.1"
    assert names.fresh("ii") == "ii.1"
    assert names.fresh("f3") == "f3.1"
    assert names.fresh("everything") == "everything"


def test_names_can_be_given_back_and_shared() -> None:
    names, other = Names(["a"]), Names(["b"])
    state = names.save()
    assert names.fresh("a") == "a.1"
    names.load(state)
    assert names.fresh("a") == "a.1"
    names.add(other)
    assert names.fresh("b") == "b.1"


def test_defined_and_uses() -> None:
    fn = parse("""
fn f(%x: f64, %n: int) -> f64 {
  %s = for L %i in 0 to %n carrying (%a = %x) {
    %t = mul %a %x
    yield %t
  }
  %r = recall %x
  return %s
}""")
    assert [value.name for value in defined(fn)] == ["x", "n", "s", "i", "a", "t", "r"]
    counts = {value.name: count for value, count in use_counts(fn).items()}
    assert counts == {"n": 1, "x": 3, "a": 1, "t": 1, "s": 1}
    (loop, _) = fn.body
    assert isinstance(loop, For)
    assert {value.name for value in block_reads(loop.body)} == {"x"}
    assert {value.name for value in stmts_reads(fn.body, fn.results)} == {"x", "n"}
    assert {value.name for value in stmts_reads(fn.body[1:], fn.results)} == {"s"}


def test_operands_and_blocks_of_every_form() -> None:
    fn = parse(FORMS)
    seen: list[Operand] = []

    def note(operand: Operand) -> Operand:
        seen.append(operand)
        return operand

    for each in (*fn.callees, fn, parse(BUFFERS)):
        for stmt in walk(each.body):
            # What is mapped is what is reported, and mapping by the identity changes nothing.
            seen.clear()
            assert map_operands(stmt, note) == stmt
            assert tuple(seen) == operands(stmt)
            assert len(blocks(stmt)) == print_stmt(stmt).splitlines()[0].count("{") * (
                2 if isinstance(stmt, If) else 1
            ) or not blocks(stmt)


def test_substitution() -> None:
    fn = parse(
        """
fn f(%x: f64, %y: f64, %z: f64, %c: bool) -> f64 {
  %s = if %c {
    %t = mul %x %y
    %r = recall %x
    yield %x
  } else {
    yield %t
  }
  return %s
}""".replace("yield %t", "yield %y")
    )
    x, y, z, c = fn.params
    assert substitute(x, {x: y, y: z}) == z
    assert substitute(Literal(1, INT), {x: y}) == Literal(1, INT)
    (stmt,) = fn.body
    assert substitute_stmt(stmt, {}) is stmt
    (found,) = (substitute_stmt(stmt, {x: z, c: Literal(True, BOOL)}),)
    assert print_stmt(found) == (
        "%s = if true {\n  %t = mul %z %y\n  %r = recall %z\n  yield %z\n} else {\n  yield %y\n}"
    )
    # A constant cannot be recalled: the Recall stays.
    constant = substitute_stmt(stmt, {x: Literal(2.0, F64)})
    assert "recall %x" in print_stmt(constant)
    assert "mul 2.0:f64 %y" in print_stmt(constant)


CLONED = """
fn g(%x: f64) -> f64 {
  %u = sin %x
  return %u
}

fn g.rev(%ct: f64) -> f64 mirrors g {
  %x.r = recall %x
  %v = mul %x.r %ct
  return %v
}

fn f(%x: f64, %n: int) -> f64, f64 {
  %s, %e = for L %i in 0 to %n carrying (%a = %x, %b = 0.0:f64) {
    %t = mul %a %x
    %c = lt %t 1.0:f64
    %m = if %c {
      %k = call C g(%t)
      yield %k
    } else {
      yield %t
    }
    yield %m %b
  }
  %w = while W carrying (%h = %s) {
    %j = mul %h 0.5:f64
    %o = gt %j 0.1:f64
    again %o %j
  }
  %r = reverse L %ii carrying (%p = 1.0:f64) {
    %c.r = recall %c
    %t.r = recall %t
    %q = if %c.r {
      %z = call C.rev g.rev(%p) mirrors C
      yield %z
    } else {
      %y = mul %p %t.r
      yield %y
    }
    yield %q
  }
  return %w %r
}
"""


def test_cloning() -> None:
    fn = parse(CLONED)
    names = Names.of(fn)
    env: dict[Value, Operand] = {}
    copies = clone(fn.body, env, names, ".r")
    results = tuple(env[v] for v in fn.results if isinstance(v, Value))
    # The clone alone is the function under other names: its reverse code mirrors its own loops.
    alone = fn.with_body(tuple(copies), results)
    assert {value.name for value in defined(alone)} & {value.name for value in defined(fn)} == {
        "x",
        "n",
    }
    verify(alone)
    assert run(alone, (1.2, 3)) == run(fn, (1.2, 3))
    # Both together are well-formed too.
    both = fn.with_body((*fn.body, *copies), (*fn.results, *results))
    assert run(verify(both), (0.7, 4)) == run(fn, (0.7, 4)) * 2


def test_cloning_with_an_environment() -> None:
    fn = parse("fn f(%x: f64, %y: f64) -> f64 {\n  %t = mul %x %y\n  %u = sin %t\n  return %u\n}")
    x, y = fn.params
    env: dict[Value, Operand] = {x: Literal(2.0, F64)}
    copies = clone(fn.body, env, Names.of(fn))
    assert [print_stmt(stmt) for stmt in copies] == ["%t.1 = mul 2.0:f64 %y", "%u.1 = sin %t.1"]
    assert env[Value("u", F64)] == Value("u.1", F64)
    assert y not in env


def test_reverse_code_alone_keeps_its_loop() -> None:
    fn = parse(CLONED)
    env: dict[Value, Operand] = {}
    (copy,) = clone(fn.body[2:], env, Names.of(fn))
    assert isinstance(copy, Reverse)
    assert copy.loop == "L"
    text = print_stmt(copy)
    assert "= recall %c\n" in text
    assert "mirrors C\n" in text


# --- builder --------------------------------------------------------------------------------------


def test_builder() -> None:
    names = Names(["x", "a"])
    x, a = Value("x", F64), Value("a", Array("f64", 1))
    builder = Builder(names)
    builder.loc = Span("a.py", 1)
    t = builder.apply("mul", x, Literal(2.0, F64), hint="x")
    v = builder.load(a, [integer(0)])
    b = builder.store(a, [integer(1)], v)
    b2 = builder.store(b, [integer(1)], zero(F64), accumulate=True, hint="b")
    c = builder.apply(OPS["lt"], t, v, hint="c")
    builder.check(c, "ValueError", "no {}", t)
    with builder.block() as then:
        u = builder.apply("sin", t)
    (s,) = builder.if_(c, Block((), tuple(then), (u,)), Block((), (), (t,)), ["s"])
    r = builder.recall(t)
    rule = vjp_rule(OPS["sin"], (F64,))
    (d,) = builder.inline(rule, [s, None, r], ["x.ct"])
    assert isinstance(d, Value)
    fn = Function("f", (x, a), tuple(builder.stmts), (d, b2))
    assert str(verify(fn)) == (
        "fn f(%x: f64, %a: f64[:]) -> f64, f64[:] {\n"
        "  %x.1 = mul %x 2.0:f64\n"
        "  %t = load %a[0]\n"
        "  %a.1 = store %a[1] %t\n"
        "  %b = accumulate %a.1[1] 0.0:f64\n"
        "  %c = lt %x.1 %t\n"
        '  check %c ValueError "no {}" %x.1\n'
        "  %s = if %c {\n    %t.1 = sin %x.1\n    yield %t.1\n  } else {\n    yield %x.1\n  }\n"
        "  %x.1.r = recall %x.1\n"
        "  %d = cos %x.1.r\n"
        "  %x.ct = xmuly %s %d\n"
        "  return %x.ct %b\n}\n"
    )
    assert all(stmt.loc == Span("a.py", 1) for stmt in walk(fn.body))


@pytest.mark.parametrize(
    ("ty", "text"), [(BOOL, "false"), (INT, "0"), (F32, "0.0:f32"), (Scalar("u8"), "0:u8")]
)
def test_zeros(ty: Scalar, text: str) -> None:
    assert literal_text(zero(ty)) == text
    verify(Function("f", (), (), (zero(ty),)))


# --- types ----------------------------------------------------------------------------------------

PYTHON: dict[Scalar, Callable[[], Any]] = {BOOL: lambda: True, INT: lambda: 1, FLOAT: lambda: 0.5}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES, DTYPES)))
def test_promotion_of_dtypes(a: str, b: str) -> None:
    expected = np.result_type(DTYPES[a], DTYPES[b])
    assert promote(Scalar(a), Scalar(b)) == Scalar(NAMES[expected])
    # The result of an addition (of bitwise "or", for truth values alone).
    value = operator.or_ if a == b == "b1" else operator.add
    assert value(DTYPES[a].type(1), DTYPES[b].type(1)).dtype == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weak", PYTHON, ids=str)
def test_promotion_of_python_numbers(weak: Scalar, dtype: str) -> None:
    strong = Scalar(dtype)
    found = promote(weak, strong)
    assert found == promote(strong, weak)
    assert not found.weak
    value = DTYPES[dtype].type(1)
    both_bools = weak == BOOL and dtype == "b1"
    combine: Callable[[Any, Any], Any] = operator.or_ if both_bools else operator.add
    assert combine(value, PYTHON[weak]()).dtype == found.numpy
    assert combine(PYTHON[weak](), value).dtype == found.numpy
    assert combine(np.full(1, value), PYTHON[weak]()).dtype == found.numpy


@pytest.mark.parametrize(("a", "b"), list(itertools.product(PYTHON, PYTHON)), ids=str)
def test_promotion_among_python_numbers(a: Scalar, b: Scalar) -> None:
    found = promote(a, b)
    assert found.weak
    value = PYTHON[a]() | PYTHON[b]() if a == b == BOOL else PYTHON[a]() + PYTHON[b]()
    assert {bool: BOOL, int: INT, float: FLOAT}[type(value)] == found


def test_join() -> None:
    assert join(INT, INT) == INT
    assert join(INT, FLOAT) == FLOAT
    assert join(F32, FLOAT) == F32
    assert join(F64, FLOAT) == F64


@pytest.mark.parametrize(
    "text", ["bool", "int", "float", *DTYPES, "f64[:]", "f32[:, :]", "b1[:, :, :]A", "i8[]"]
)
def test_types_as_text(text: str) -> None:
    assert str(parse_type(text)) == text
    assert str(parse_type(f" {text} ")) == text


@pytest.mark.parametrize(
    "text", ["", "f16", "complex", "f64[", "f64[:", "f64[:]X", "int[:]", "f64[1]"]
)
def test_text_that_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match="not a type"):
        parse_type(text)


def test_kinds_of_types() -> None:
    for name, dtype in DTYPES.items():
        for ty in (Scalar(name), Array(name, 2)):
            assert ty.numpy == dtype
            assert ty.kind == dtype.kind
        assert Array(name, 1).element == Scalar(name)
    assert FLOAT.weak


# --- errors ---------------------------------------------------------------------------------------


def test_codes_of_errors_are_distinct() -> None:
    def classes(cls: type[AdcError]) -> Iterator[type[AdcError]]:
        yield cls
        for sub in cls.__subclasses__():
            yield from classes(sub)

    # A class without a code of its own is a kind of its parent that only the front end tells apart.
    found = [cls for cls in classes(AdcError) if "code" in vars(cls)]
    assert len({cls.code for cls in found}) == len(found)
    assert {cls.code: cls for cls in found} == CODES
    assert all(re.fullmatch(r"ADC\d{3}", code) for code in CODES)


def test_errors_show_the_place(tmp_path: Path) -> None:
    path = tmp_path / "user.py"
    path.write_text("def f(x):\n    été = x + wrong(x)\n    return été\n", encoding="utf-8")
    line = path.read_text(encoding="utf-8").splitlines()[1]
    # Columns count bytes of UTF-8, as those of `ast` do.
    start, end = (len(line[: line.index(part)].encode()) for part in ("wrong", "(x)"))
    error = AdcError("no such thing", Span(str(path), 2, start, 2, end, "f"), "do it otherwise")
    assert str(error) == (
        "[ADC000] no such thing\n"
        f'  File "{path}", line 2 in "f"\n'
        "    été = x + wrong(x)\n"
        "              ^^^^^\n"
        "  Hint: do it otherwise"
    )
    assert pickle.loads(pickle.dumps(error)).message == error.message
    assert str(AdcError("short")) == "[ADC000] short"
    assert Span("gone.py", 3).caret() == ""
