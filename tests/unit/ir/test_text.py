"""The text form: what is printed is read back."""

from __future__ import annotations

import math
import pickle
import re

import pytest

from adc.ir.core import (
    Apply,
    Function,
    Literal,
    Stmt,
    Value,
    walk,
)
from adc.ir.errors import IRError, Span
from adc.ir.interp import run
from adc.ir.opdef import OPS, numpy_value
from adc.ir.text.parser import parse
from adc.ir.text.printer import literal_text
from adc.ir.types import (
    B1,
    BOOL,
    DTYPES,
    F32,
    F64,
    FLOAT,
    I64,
    INT,
    Scalar,
)
from adc.ir.verifier import verify
from tests.corpus.ir_cases import CASES, Case
from tests.fuzz.ir_random import random_case

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
    check %c "solvers:Own.Error" "\\u001f[[null, \\"a {}\\", false]]" %n
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

DERIVED = """
derived square.grad reverse (0) along (0) (0) {
  fn square(%x: f64, %n: int) -> f64 {
    %y = mul %x %x
    return %y
  }
}

derived square.jvp forward (0) {
  fn square(%x: f64, %n: int) -> f64 {
    return %x
  }
}

fn f(%x: f64) -> f64 {
  %y = call A square.grad(%x, 2, 1.0:f64, %x)
  %z, %d = call B square.jvp(%y, 3, 1.0:f64)
  return %d
}
"""


def test_every_form_prints_and_parses() -> None:
    fn = verify(parse(FORMS))
    assert str(fn) == FORMS.lstrip("\n")
    assert parse(str(fn)) == fn
    for text in (BUFFERS, DERIVED):
        assert str(verify(parse(text))) == text.lstrip("\n")
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
        ("derived g reverse (0) {\n  fn f() -> none {\n  return\n}\n", "derived g has no end", 5),
    ],
)
def test_parse_errors_name_the_line(text: str, message: str, line: int) -> None:
    with pytest.raises(IRError, match=re.escape(message)) as caught:
        parse(text)
    assert caught.value.span == Span("<ir>", line)
