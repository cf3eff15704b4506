"""Compiled code does what the interpreter does: every row, every dtype, every statement."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.backend.common.emit import emit
from adc.backend.common.tapes import Tapes
from adc.backend.cpu import Kernel, compile
from adc.backend.python import interpret
from adc.ir.core import Apply, Function, Literal, Value
from adc.ir.errors import Span
from adc.ir.interp import run
from adc.ir.opdef import OPS, OpDef, numpy_value
from adc.ir.text.parser import parse
from adc.ir.types import BOOL, DTYPES, Scalar
from adc.ir.verifier import verify
from adc.passes.ad.adjoint import adjoint
from adc.passes.memory.storage import storage
from adc.passes.remat.remat import remat
from adc.testing.rows import NOT_SCALAR, same
from tests.corpus.ir_cases import CASES, Case
from tests.oracle.chain import bits

# Rows of whole arrays, or without operands.
EXTREMES: dict[str, list[Any]] = {
    "b": [False, True],
    "i": [0, 1, -1, 2, 3, 7, -7, 100, -100, "min", "max"],
    "u": [0, 1, 2, 3, 7, 100, 200, "max"],
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.25, -9.75, 1e30, np.inf, -np.inf, np.nan],
}


def samples(dtype: str) -> list[Any]:
    numpy = DTYPES[dtype]
    if numpy.kind in "iu":
        info: Any = np.iinfo(numpy.name)
        ends = {"min": info.min, "max": info.max}
        values = [ends.get(v, v) if isinstance(v, str) else v for v in EXTREMES[numpy.kind]]
    else:
        values = EXTREMES[numpy.kind]
    return [numpy.type(value) for value in values]


def applications(dtype: str) -> list[tuple[OpDef, tuple[int | str, ...]]]:
    """Return the rows on scalars that are defined for `dtype`, with their static parameters."""
    found: list[tuple[OpDef, tuple[int | str, ...]]] = []
    for op in OPS.values():
        if dtype[0] not in op.kinds or op.name in NOT_SCALAR or op.ufunc is not None:
            continue
        if op.name in ("wrap", "inside", "trips", "room") and dtype != "i64":
            continue
        if op.name == "bits_of_float" and dtype != "f64":
            continue
        if op.kinds == "u" and (dtype != "u64" or op.arity > 3):  # words of random draws
            continue
        found.append((op, ()))
    return found


@cache
def program(dtype: str, weak: bool = False) -> Function:
    """Return a function of three numbers with a result for every row."""
    ty = Scalar(dtype, weak)
    params = tuple(Value(name, ty) for name in "xyz")
    body: list[Apply] = []
    for k, (op, static) in enumerate(applications(dtype)):
        result = op.types([ty] * op.arity, static)[0]
        body.append(Apply((Value(f"r{k}", result),), op, params[: op.arity], static))
    casts = [Value(f"c{k}", Scalar(other)) for k, other in enumerate(DTYPES)]
    body += [Apply((value,), OPS["cast"], params[:1], (str(value.type),)) for value in casts]
    cond = Value("cond", BOOL)
    body.append(Apply((cond,), OPS["eq"], (params[0], params[1])))
    body.append(Apply((Value("choice", ty),), OPS["select"], (cond, params[1], params[2])))
    return verify(Function("rows", params, tuple(body), tuple(s.result for s in body)))


def defined(op: OpDef, args: tuple[Any, ...]) -> bool:
    """Whether the result on `args` is one that the contract fixes."""
    if op.name == "ipow":  # NumPy raises for negative exponents
        return bool(args[1] >= 0) and int(args[1]) < 200
    if op.name in ("gamma", "lgamma"):
        return bool(np.isfinite(args[0]) and 0 < args[0] < 20)
    if op.name in ("erf", "erfc", "pow"):
        return bool(np.all(np.isfinite(args))) and not (op.name == "pow" and args[0] <= 0)
    if op.name == "inside":
        return bool(args[1] >= 0)  # a size
    if op.name == "trips":
        return abs(int(args[0])) < 2**60 and abs(int(args[1])) < 2**60
    return True


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("dtype", "weak"),
    [(dtype, False) for dtype in DTYPES] + [("b1", True), ("i64", True), ("f64", True)],
)
def test_rows_are_numpy(dtype: str, weak: bool) -> None:
    fn = program(dtype, weak)
    kernel, slowly = compile(fn), interpret(fn)
    wrong: list[str] = []
    with np.errstate(all="ignore"):
        values = samples(dtype)
        for x, y in itertools.product(values, values):
            z = values[-1] if x == y else values[1]
            got, others = kernel(x, y, z), slowly(x, y, z)
            env: dict[Value, Any] = dict(zip(fn.params, (x, y, z), strict=True))
            for stmt, found, other in zip(fn.body, got, others, strict=True):
                assert isinstance(stmt, Apply)
                args = tuple(env[arg] for arg in stmt.args if isinstance(arg, Value))
                if not defined(stmt.op, args):
                    continue
                if not (found != found and other != other) and bits([found]) != bits([other]):
                    wrong.append(f"{stmt.op.name} {args} = {found!r}, in Python {other!r}")
                want = numpy_value(stmt.op.evaluate(*stmt.params, *args), stmt.result.type)
                python = isinstance(stmt.result.type, Scalar) and stmt.result.type.weak
                assert type(found) is type(want.item() if python else want), stmt
                if not same(stmt.op, found, want):
                    wrong.append(f"{stmt.op.name}{stmt.params} {args} = {want!r}, got {found!r}")
                env[stmt.result] = want
    assert wrong == []


# --- programs -------------------------------------------------------------------------------------


def compiled(text: str, *args: Any, blocks: int | None = None) -> Kernel:
    """Compile a program and check it against the interpreter, twice, on copies of `args`.

    CPython does the same.
    """
    fn = verify(parse(text))
    stored = verify(storage(fn))
    kernel = compile(stored)
    want = run(fn, copy.deepcopy(args))
    if blocks is not None:
        assert len(Tapes(stored).blocks) == blocks
    for each in (kernel, kernel, interpret(stored)):
        given = copy.deepcopy(args)
        for a, b in zip(want, each(*given), strict=True):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
        for a, b in zip(args, given, strict=True):
            np.testing.assert_array_equal(a, b, err_msg="an argument was written")
    return kernel


# One value of each dtype that overflows the small ones when squared.
VALUES = {"b": "true:b1", "f": "2.5:{}", "i": "100:{}", "u": "200:{}"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_and_tapes_of_every_dtype(dtype: str) -> None:
    value = VALUES[dtype[0]].format(dtype)
    times = "bitor" if dtype == "b1" else "mul"
    grow = "store" if dtype == "b1" else "accumulate"
    text = f"""
fn f(%x: {dtype}[:]) -> {dtype}[:], {dtype}, {dtype}[:, :], {dtype}[:] {{
  %n = dim[0] %x
  %e = empty[{dtype}] %n
  %w.9, %o = for L %i in 0 to %n carrying (%w = {value}, %y = %e) {{
    %v = load %x[%i]
    %t = {times} %v %w
    %y.1 = store %y[%i] %t
    %y.2 = {grow} %y.1[%i] %w
    push %t %w
    yield %t %y.2
  }}
  %f = full[{dtype}] {value} 3 2
  %g = for R %k down from %n carrying (%h = {value}) {{
    %t.1: {dtype}, %w.1: {dtype} = pop
    %h.1 = {times} %h %t.1
    yield %h.1
  }}
  %c = {times} %x %o
  return %o %g %f %c
}}"""
    compiled(text, np.array([1, 0, 3, 120], dtype=DTYPES[dtype]), blocks=2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_of_every_dtype(dtype: str) -> None:
    ty = Scalar(dtype)
    if dtype == "b1":
        values: list[Any] = [True, False]
    elif dtype[0] == "f":
        values = [0.0, -0.0, 0.1, -2.5, 1e-40, 3e38, np.inf, -np.inf, np.nan]
    else:
        info: Any = np.iinfo(DTYPES[dtype].name)
        values = [0, 1, info.min, info.max]
    fn = Function("f", (), (), tuple(Literal(value, ty) for value in values))
    for got, value in zip(compile(fn)(), values, strict=True):
        assert got.tobytes() == numpy_value(value, ty).tobytes()


FRAMES = """
fn f(%x: f64[:], %m: i32[:]) -> f64, i64 {
  %n = dim[0] %x
  for L %i in 0 to %n {
    %v = load %x[%i]
    %k = load %m[%i]
    %c = gt %v 2.5:f64
    push %v %k %c
    for M %j in 0 to %i {
      %w = load %x[%j]
      %d = cast[f32] %w
      push %d
      push %w %j
    }
    if %c {
      push %i
    } else {
      push %v
    }
  }
  %s, %t = for R %i2 down from %n carrying (%a = 0.0:f64, %b = 0:i64) {
    %i2f = load %x[%i2]
    %cc = gt %i2f 2.5:f64
    %a.1, %b.1 = if %cc {
      %p: int = pop
      %q = add %p %b
      yield %a %q
    } else {
      %p2: f64 = pop
      %q2 = add %p2 %a
      yield %q2 %b
    }
    %a.4 = for Q %j2 down from %i2 carrying (%a.2 = %a.1) {
      %w2: f64, %jj: int = pop
      %d2: f32 = pop
      %d3 = cast[f64] %d2
      %e = mul %d3 %w2
      %jf = cast[f64] %jj
      %e2 = add %e %jf
      %a.3 = sub %e2 %a.2
      yield %a.3
    }
    %v2: f64, %k2: i32, %c2: bool = pop
    %k3 = cast[f64] %k2
    %z = mul %v2 %k3
    %z2 = cast[f64] %c2
    %z3 = add %z %z2
    %z4 = add %z3 %a.4
    yield %z4 %b.1
  }
  return %s %t
}"""


@pytest.mark.full
def test_frames_in_triangular_loops_and_arms() -> None:
    compiled(FRAMES, np.arange(1.0, 40.0), np.arange(39, dtype=np.int32), blocks=2)


def test_a_loop_that_pops_what_a_while_pushed_has_no_block() -> None:
    text = """
fn f(%x: f64) -> f64 {
  %y, %n = while L carrying (%a = %x, %k = 0) {
    push %a
    %b = mul %a 0.5:f64
    %k.1 = add %k 1
    %c = gt %b 0.01:f64
    again %c %b %k.1
  }
  %r = for R %i down from %n carrying (%s = 0.0:f64) {
    %p: f64 = pop
    %s.1 = mul %s 1.5:f64
    %s.2 = add %s.1 %p
    yield %s.2
  }
  return %r
}"""
    compiled(text, 3.0, blocks=0)


@pytest.mark.parametrize("trips", [0, -3, 1, 7])
def test_a_block_of_no_iterations(trips: int) -> None:
    text = """
fn f(%n: int) -> f64 {
  push 3.5:f64
  for L %i in 0 to %n {
    %v = cast[f64] %i
    push %v %v
  }
  %s = for R %k down from %n carrying (%a = 1.0:f64) {
    %v.1: f64, %v.2: f64 = pop
    %a.1 = add %a %v.1
    yield %a.1
  }
  %x: f64 = pop
  %y = mul %s %x
  return %y
}"""
    compiled(text, trips, blocks=2)


def test_trips_of_steps_known_only_at_run_time() -> None:
    text = """
fn f(%start: int, %stop: int, %step: int) -> int {
  %n = trips %start %stop %step
  return %n
}"""
    kernel = compiled(text, 0, 3, 2)
    for start, stop, step in itertools.product((-3, 0, 1), range(-8, 8), (-3, -2, -1, 1, 2, 3)):
        assert kernel(start, stop, step) == (len(range(start, stop, step)),)
    assert kernel(1, 3, 0) == (0,)


def test_whole_arrays_on_the_tape() -> None:
    text = """
fn f(%x: f64[:], %q: i64[:, :]) -> f64, i64 {
  %n = dim[0] %x
  for L %i in 0 to %n {
    %y = copy %x
    %v = load %x[%i]
    %y.1 = store %y[0] %v
    push %y.1 %i %q
  }
  %s, %t = for R %k down from %n carrying (%a = 0.0:f64, %b = 0:i64) {
    %z: f64[:], %j: int, %o: i64[:, :] = pop
    %u = load %z[0]
    %w = load %z[%j]
    %h = load %o[1, 0]
    %b.1 = add %b %h
    %uw = mul %u %w
    %a.1 = sub %uw %a
    yield %a.1 %b.1
  }
  return %s %t
}"""
    compiled(text, np.arange(5.0), np.arange(6).reshape(2, 3), blocks=0)


def test_tapes_in_recursive_calls() -> None:
    text = """
fn fill(%n: int, %x: f64) -> f64 {
  %c = gt %n 0
  %r = if %c {
    for L %i in 0 to %n {
      %v = cast[f64] %i
      %w = mul %v %x
      push %w
    }
    %m = sub %n 1
    %y = call A fill(%m, %x)
    push %y
    yield %y
  } else {
    yield %x
  }
  return %r
}
fn empty_again(%n: int) -> f64 {
  %c = gt %n 0
  %r = if %c {
    %y: f64 = pop
    %m = sub %n 1
    %z = call A empty_again(%m)
    %s = for L %i down from %n carrying (%a = %z) {
      %v: f64 = pop
      %b = mul %a 0.5:f64
      %a.1 = add %b %v
      yield %a.1
    }
    %t = add %s %y
    yield %t
  } else {
    yield 0.0:f64
  }
  return %r
}
fn f(%n: int, %x: f64) -> f64, f64 {
  %a = call A fill(%n, %x)
  %b = call B empty_again(%n)
  return %a %b
}"""
    compiled(text, 9, 1.25, blocks=2)


def test_swaps_of_carried_values() -> None:
    text = """
fn f(%x: f64, %n: int) -> f64, f64, f64, int {
  %p, %q, %r, %s = for L %i in 0 to %n carrying (%a = %x, %b = 2.0:f64, %c = 3.0:f64, %d = 1) {
    %t = add %a %b
    %e = mul %d 2
    yield %b %c %t %e
  }
  return %p %q %r %s
}"""
    for n in (0, 1, 2, 7):
        compiled(text, 1.5, n)


@pytest.mark.full
def test_layouts() -> None:
    text = """
fn f(%x: f64[:, :]A, %c: bool) -> f64[:, :], f64 {
  %y = if %c {
    %x.1 = store %x[0, 1] 2.0:f64
    yield %x.1
  } else {
    yield %x
  }
  %v = load %y[0, 1]
  %z = copy %x
  return %z %v
}"""
    x = np.arange(24.0).reshape(4, 6)
    for given in (x, x[::2, ::3], x.T, x[::-1, ::-1]):
        compiled(text, given, True)
        compiled(text, given, False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cases(case: Case) -> None:
    fn = case.function()
    kernel = compile(storage(fn))
    for got, want in zip(kernel(*case.args), run(fn, case.args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


@pytest.mark.full
@pytest.mark.parametrize("policy", ["store", "recompute", "auto"])
@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_gradients_of_cases(case: Case, policy: str) -> None:
    fn = remat(adjoint(case.function(), case.wrt), policy)
    kernel = compile(storage(fn))
    want = run(fn, copy.deepcopy(case.args))
    for _ in range(2):
        for a, b in zip(kernel(*case.args), want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


# --- what the source looks like -------------------------------------------------------------------


def test_source_lines_are_comments(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text("def f(x, w):\n    y = x * w\n    return np.sin(y) + y\n")
    fn = parse("fn f(%x: f64, %w: f64) -> f64 {\n  %y = mul %x %w\n  %t = sin %y\n"
               "  %r = add %t %y\n  return %r\n}")  # fmt: skip
    lines = (2, 3, 3)
    body = tuple(
        dataclasses.replace(stmt, loc=Span(str(file), line))
        for stmt, line in zip(fn.body, lines, strict=True)
    )
    source = emit(dataclasses.replace(fn, body=body)).source
    assert source.endswith("    # 2: y = x * w\n    y = x * w\n    return (sin(y) + y,)\n")


def test_names_are_identifiers() -> None:
    text = """
fn f(%in: f64, %in.1: f64, %state: f64, %sin: f64, %α: f64, %range: f64, %F64: f64) -> f64 {
  %a = add %in %in.1
  %b = mul %a %state
  %c = add %b %sin
  %d = mul %c %α
  %e = sin %range
  %e.1 = add %e %d
  %e.2 = add %e.1 %F64
  return %e.2
}"""
    compiled(text.replace("%α", "%a$b"), *np.arange(7.0))


@pytest.mark.parametrize(
    ("trips", "looks"),
    [("add %n 0", True), ("add %m 1", False), ("minimum %n %m", False), ("mul %n %m", True)],
)
def test_loops_as_long_as_arrays_do_not_look_for_signals(trips: str, looks: bool) -> None:
    text = f"""
fn f(%x: f64[:], %n: int, %t: f64) -> f64 {{
  %m = dim[0] %x
  %k = {trips}
  %s = for L %i in 0 to %k carrying (%a = %t) {{
    %b = mul %a 0.5:f64
    yield %b
  }}
  return %s
}}"""
    assert ("STRIP):" in emit(verify(parse(text))).source) is looks


@pytest.mark.full
def test_loops_are_vectorised() -> None:
    """The loops that matter use packed instructions: indices cost no test for negative ones."""
    text = """
fn f(%x: f64[:, :], %y: f64[:, :], %w: f64) -> f64[:, :] {
  %n = dim[0] %x
  %m = dim[1] %x
  %m.2 = sub %m 2
  %r = for L %i in 0 to %n carrying (%a = %y) {
    %b = for M %j in 0 to %m.2 carrying (%a.1 = %a) {
      %k = add %j 1
      %k.1 = add %k 1
      %u = load %x[%i, %j]
      %v = load %x[%i, %k.1]
      %s = add %u %v
      %t = mul %s %w
      push %s %t
      %a.2 = accumulate %a.1[%i, %k] %t
      yield %a.2
    }
    yield %b
  }
  %z = for Q %i.1 down from %n carrying (%c = %r) {
    %d = for R %j.1 down from %m.2 carrying (%c.1 = %c) {
      %s.1: f64, %t.1: f64 = pop
      %e = mul %s.1 %t.1
      %c.2 = accumulate %c.1[%i.1, %j.1] %e
      yield %c.2
    }
    yield %d
  }
  return %z
}"""
    x = np.random.default_rng(0).uniform(size=(7, 50))
    kernel = compiled(text, x, x[::-1].copy(), 0.5, blocks=2)
    assembly = "".join(kernel.code.inspect_asm().values())
    if "ymm" in assembly or "xmm" in assembly:  # only the instructions of x86 are known here
        assert len(re.findall(r"\bv?mulpd\b", assembly)) >= 2
