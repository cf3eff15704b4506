"""Names, and statements that are walked, cloned and built."""

from __future__ import annotations

import pytest

from adc.ir.builder import Builder, integer, zero
from adc.ir.core import (
    Block,
    For,
    Function,
    If,
    Literal,
    Operand,
    Reverse,
    Value,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import Span
from adc.ir.interp import run
from adc.ir.opdef import OPS
from adc.ir.rules import vjp_rule
from adc.ir.text.parser import parse
from adc.ir.text.printer import literal_text, print_stmt
from adc.ir.types import (
    BOOL,
    F32,
    F64,
    INT,
    Array,
    Scalar,
)
from adc.ir.verifier import verify
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
from tests.unit.ir.test_text import BUFFERS, FORMS

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
