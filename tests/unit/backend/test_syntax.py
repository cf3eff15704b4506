"""The tree of emitted code: how it is printed, what is read off it, and what it is compiled to."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from adc.backend import cpu
from adc.backend.common import printer, reader, syntax
from adc.backend.common.emit import Emitted, emit
from adc.backend.common.expressions import apply, is_atomic, literal, product, times, total
from adc.backend.common.syntax import (
    Assign,
    Attribute,
    Binary,
    Break,
    Call,
    Chain,
    Comment,
    Constant,
    Delete,
    Do,
    Dtype,
    Element,
    Expr,
    For,
    Forever,
    Function,
    Global,
    If,
    Increase,
    Inside,
    Name,
    Pass,
    Return,
    Size,
    Stmt,
    Store,
    Tuple,
    Unary,
    Unpack,
)
from adc.compiler.driver import transform
from adc.ir.analysis.target import Target
from adc.ir.opdef import OPS
from adc.ir.text.parser import parse
from adc.ir.types import DTYPES, F64, INT, Scalar
from tests.corpus.program import Program
from tests.oracle.chain import Chain as Whole
from tests.unit.backend.test_python import EVERY

A, B, C = Name("a"), Name("b"), Name("c")


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Binary("*", Binary("+", A, B), C), "(a + b) * c"),
        (Binary("+", A, Binary("*", B, C)), "a + (b * c)"),
        (Binary("-", A, Binary("-", B, C)), "a - (b - c)"),
        (Binary("-", Binary("-", A, B), C), "(a - b) - c"),
        (Binary("<", Binary("&", A, B), C), "(a & b) < c"),
        (Unary("-", A), "-a"),
        (Unary("-", Unary("-", A)), "-(-a)"),
        (Unary("-", Binary("+", A, B)), "-(a + b)"),
        (Unary("not", Binary("<", A, B)), "not (a < b)"),
        (Unary("not", Call("f", (A,))), "not f(a)"),
        (Binary("*", Unary("-", A), B), "(-a) * b"),
        (Inside(A, Size(B, 1)), "0 <= a < b.shape[1]"),
        (Binary("&", Inside(A, B), C), "(0 <= a < b) & c"),
        (Constant(-1.5), "-1.5"),
        (Binary("*", Constant(-1.5), A), "(-1.5) * a"),
        (Binary("*", A, Constant(-0.0)), "a * (-0.0)"),
        (Unary("-", Constant(-2)), "-(-2)"),
        (Call("f", (Constant(-2), Binary("+", A, B))), "f(-2, a + b)"),
        (Call("f", (Call("g", (Call("h", ()),)),)), "f(g(h()))"),
        (Binary("*", Call("f", (A,)), Element(B, (C,))), "f(a) * b[c]"),
        (Element(A, (Binary("+", B, C), Constant(-1))), "a[b + c, -1]"),
        (Attribute(A, "T"), "a.T"),
        (Tuple(()), "()"),
        (Tuple((A,)), "(a,)"),
        (Tuple((A, Binary("+", B, C))), "(a, b + c)"),
        (Tuple((A, B), loose=True), "(a, b, )"),
        (total(A, product(Constant(2), B), C), "a + 2 * b + c"),
        (product(A, total(B, C)), "a * (b + c)"),
        (product(A, total(Constant(3), product(B, total(C, A)))), "a * (3 + b * (c + a))"),
        (Binary("-", total(A, B), C), "(a + b) - c"),
        (times(1, A), "a"),
        (times(4, A), "4 * a"),
        (Dtype("float32"), "np.float32"),
    ],
)  # fmt: skip
def test_text(expr: Expr, text: str) -> None:
    assert printer.text(expr) == text
    assert ast.dump(ast.parse(text, mode="eval").body) == ast.dump(as_python(expr))


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (2, "i64", "2"), (-2, "i64", "(-2)"), (-(2**63), "i64", "(-9223372036854775808)"),
        (2**64 - 1, "u64", "uint64(18446744073709551615)"), (-3, "i8", "int8(-3)"),
        (0.1, "f64", "0.1"), (-0.0, "f64", "(-0.0)"), (-0.5, "f32", "float32(-0.5)"),
        (float("inf"), "f64", "inf"), (float("-inf"), "f64", "(-inf)"),
        (float("-inf"), "f32", "float32(-inf)"), (float("nan"), "f64", "nan"),
        (1, "b1", "True"),
    ],
)  # fmt: skip
def test_literals(value: Any, dtype: str, text: str) -> None:
    found = literal(value, Scalar(dtype))
    assert printer.operand(found) == text
    assert is_atomic(found) == ("(" not in text)


def test_rows() -> None:
    """What rows of the op table say is what their spelling says, in parentheses or not."""
    seen = 0
    for op in OPS.values():
        spelled = "{" in op.code and "axis" not in op.code and " if " not in op.code
        if not spelled or " and " in op.code or " or " in op.code:
            continue
        seen += 1
        names = reader.operands(op)
        plain = op.code.format(*names, order="order")
        tree = reader.spelling(op)
        assert printer.operand(tree) == plain or printer.text(tree) == plain
    assert seen > 80


def test_operands_in_calls_and_in_operators() -> None:
    both = Binary("+", A, B)
    mul, exp, add = OPS["mul"], OPS["exp"], OPS["add"]
    assert printer.text(apply(mul, (), [both, both], F64, F64)) == "(a + b) * (a + b)"
    assert printer.text(apply(exp, (), [both], F64, F64)) == "exp(a + b)"
    narrow = Scalar("i16")
    assert printer.text(apply(add, (), [both, C], narrow, narrow)) == "int16((a + b) + c)"
    single = Scalar("f32")
    text = printer.text(apply(OPS["expit"], (), [both], single, single))
    assert text == "float32(expit(float64(a + b)))"


def test_statements() -> None:
    body: list[Stmt] = [
        Comment("3: what the user wrote"),
        Unpack(("a",), Call("f", (B,))),
        Unpack(("a", "b"), Tuple((B, A))),
        Store(Element(A, (B,)), Constant(1.0), remark="model.py:7"),
        Increase(Name("c"), "-", Constant(2)),
        If(A, [Delete(("a", "b"))], [Pass()], remark="model.py:8"),
        For("i", (Constant(0), B), True, [Forever([Break()])]),
        Do(Call("poll", ())),
        Return(Tuple((A,))),
    ]
    assert list(printer.block(body)) == [
        "# 3: what the user wrote",
        "a, = f(b)",
        "a, b = b, a",
        "a[b] = 1.0  # model.py:7",
        "c -= 2",
        "if a:  # model.py:8",
        "    del a, b",
        "else:  # model.py:8",
        "    pass",
        "for i in vectorizable(0, b):",
        "    while True:",
        "        break",
        "poll()",
        "return (a,)",
    ]


# --- the text means what the tree does ------------------------------------------------------------

_OPERATORS: dict[str, Any] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "&": ast.BitAnd, "|": ast.BitOr,
    "^": ast.BitXor, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq,
    "!=": ast.NotEq,
}  # fmt: skip


def as_python(expr: Expr, *, stored: bool = False) -> ast.expr:
    """Return what Python makes of the text of an expression."""
    ctx: Any = ast.Store() if stored else ast.Load()
    match expr:
        case Name(name) | Global(name):
            return ast.Name(name, ctx)
        case Constant(value) if repr(value).startswith("-"):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        case Constant(value):
            return ast.Constant(value)
        case Dtype(name):
            return ast.Attribute(ast.Name("np", ast.Load()), name, ctx)
        case Size(array, axis):
            shape = ast.Attribute(as_python(array), "shape", ast.Load())
            return ast.Subscript(shape, ast.Constant(axis), ctx)
        case Attribute(array, name):
            return ast.Attribute(as_python(array), name, ctx)
        case Element(array, index):
            found = [as_python(each) for each in index]
            inner = found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
            return ast.Subscript(as_python(array), inner, ctx)
        case Unary(op, operand):
            return ast.UnaryOp(ast.Not() if op == "not" else ast.USub(), as_python(operand))
        case Binary(op, left, right) if issubclass(_OPERATORS[op], ast.cmpop):
            return ast.Compare(as_python(left), [_OPERATORS[op]()], [as_python(right)])
        case Binary(op, left, right):
            return ast.BinOp(as_python(left), _OPERATORS[op](), as_python(right))
        case Chain(op, items):
            whole = as_python(items[0])
            for each in items[1:]:
                whole = ast.BinOp(whole, _OPERATORS[op](), as_python(each))
            return whole
        case Inside(index, size):
            others = [as_python(index), as_python(size)]
            return ast.Compare(ast.Constant(0), [ast.LtE(), ast.Lt()], others)
        case Call(name, args):
            given = [as_python(each) for each in args]
            return ast.Call(ast.Name(name, ast.Load()), given, [])
        case Tuple(items):
            return ast.Tuple([as_python(each) for each in items], ctx)


def block_as_python(body: Sequence[Stmt]) -> list[ast.stmt]:
    """Return what Python makes of the lines of statements."""
    return [stmt_as_python(stmt) for stmt in body if not isinstance(stmt, Comment)]


def stmt_as_python(stmt: Stmt) -> ast.stmt:
    match stmt:
        case Assign(target, value):
            return ast.Assign([ast.Name(target, ast.Store())], as_python(value))
        case Unpack(names, value):
            into = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            return ast.Assign([into], as_python(value))
        case Store(place, value):
            return ast.Assign([as_python(place, stored=True)], as_python(value))
        case Increase(place, op, value):
            increased: Any = as_python(place, stored=True)
            return ast.AugAssign(increased, _OPERATORS[op](), as_python(value))
        case Do(call):
            return ast.Expr(as_python(call))
        case If(test, then, orelse):
            return ast.If(as_python(test), block_as_python(then), block_as_python(orelse))
        case For(index, limits, vectorizable, body):
            way = Call("vectorizable" if vectorizable else "range", limits)
            counter = ast.Name(index, ast.Store())
            return ast.For(counter, as_python(way), block_as_python(body), [])
        case Forever(body):
            return ast.While(ast.Constant(True), block_as_python(body), [])
        case Return(value):
            return ast.Return(as_python(value))
        case Delete(names):
            return ast.Delete([ast.Name(name, ast.Del()) for name in names])
        case Break():
            return ast.Break()
    assert isinstance(stmt, Pass)
    return ast.Pass()


def sources(program: Program) -> list[Emitted]:
    """Return the value and a derivative of a program, for threads or for one."""
    chain = Whole.of(program.fn, program.make_args(), program.argnums)
    target = Target(parallel=program.number(2) == 0)
    found = [emit(transform(chain.lowered, (), target=target).fn)]
    if chain.positions:
        steps = (("gradient" if program.number(3) else "adjoint", chain.positions),)
        policy = ("auto", "store", "random:1")[program.number(3)]
        found.append(emit(transform(chain.lowered, steps, policy, target=target).fn))
    return found


@pytest.mark.sampled(200)
@pytest.mark.parametrize("program", EVERY, ids=str)
def test_corpus(program: Program) -> None:
    """Python reads from the text what the tree says, and finds the same names in it."""
    for emitted in sources(program):
        tree = ast.parse(emitted.source)
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert [fn.name for fn in emitted.code] == [node.name for node in functions]
        mentioned: set[str] = set()
        for fn, node in zip(emitted.code, functions, strict=True):
            decorators = ast.Module(list(map(ast.Expr, node.decorator_list)), [])
            assert fn.is_part == ("PART" in {n.id for n in names_in(decorators)})
            assert fn.params == tuple(arg.arg for arg in node.args.args)
            body = ast.Module(node.body[1:], [])
            if not fn.lines:
                assert ast.dump(body) == ast.dump(ast.Module(block_as_python(fn.body), []))
            names = names_in(body)
            stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
            read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
            reads, assigned = syntax.variables(fn.body)
            own = {*fn.params, *stored}
            assert assigned == stored
            assert reads == read & own
            assert {*fn.variables} >= {n for n in own if not n.startswith(("nothing", "_"))}
            mentioned |= read - own
        imported = {a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
        assert imported - {"njit", "Compiler"} <= mentioned
        called = {fn.name for fn in emitted.code}
        assert mentioned - imported - called <= {
            *globals_of(tree),
            "range",
            "min",
            "max",
            "np",
            "vectorizable",
        }


def names_in(tree: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def globals_of(tree: ast.Module) -> set[str]:
    targets = [t for n in tree.body if isinstance(n, ast.Assign) for t in n.targets]
    return {t.id for t in targets if isinstance(t, ast.Name)}


# --- facts ----------------------------------------------------------------------------------------

SQUARE = """
fn NAME(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %s = for L0 %k in 0 to %n carrying (%t = 0.0:f64) {
    %v = load %x[%k]
    %w = mul %v %v
    %u = add %t %w
    yield %u
  }
  return %s
}
"""


@pytest.mark.parametrize("name", ["plain", "tanh", "gemm", "parallel_for", "total", "select"])
def test_no_name_of_the_user_is_a_fact(name: str) -> None:
    """A program may be called as what emitted code calls: nothing follows from that."""
    emitted = emit(parse(SQUARE.replace("NAME", name)))
    assert not emitted.multiplies
    assert not emitted.shares
    assert emitted.functions == ()
    plain = emit(parse(SQUARE.replace("NAME", "plain")))
    imports = [line for line in plain.source.splitlines() if line.startswith(("from", "    "))]
    found = [line for line in emitted.source.splitlines() if line.startswith(("from", "    "))]
    assert [line for line in found if f"{name}:" not in line] == [
        line for line in imports if "plain:" not in line
    ]


@pytest.mark.full
def test_facts_of_products_and_of_shared_loops() -> None:
    by_name = {program.name: program for program in EVERY}
    names = ("matmul_in_place", "covariances", "horner", "for_over_zip_of_different_lengths")
    seen: set[tuple[str, bool]] = set()
    for program in (by_name[name] for name in names):
        chain = Whole.of(program.fn, program.make_args(), program.argnums)
        steps = (("adjoint", chain.positions),)
        for target in (Target(), Target(parallel=True)):
            emitted = emit(transform(chain.lowered, steps, target=target).fn)
            called = {name for fn in emitted.code for name in syntax.used(fn.body)}
            assert emitted.shares == ("parallel_for" in called)
            assert emitted.multiplies == bool({"gemm", "gemm_add"} & called)
            seen |= {("shares", emitted.shares), ("multiplies", emitted.multiplies)}
    assert len(seen) == 4


# --- machine code ---------------------------------------------------------------------------------


def built(emitted: Emitted) -> Any:
    return cpu.Kernel(emitted, cpu.build(emitted))


def test_what_is_compiled_is_the_tree() -> None:
    """Of the text, only the names that it imports count."""
    import numpy as np

    emitted = emit(parse(SQUARE.replace("NAME", "square")))
    (fn,) = emitted.code
    changed = dataclasses.replace(fn, body=[Return(Tuple((Constant(3.0),)))])
    found = built(dataclasses.replace(emitted, code=(changed,)))(np.ones(4))
    assert found == (3.0,)


def test_code_without_a_tree_is_not_compiled() -> None:
    emitted = dataclasses.replace(emit(parse(SQUARE.replace("NAME", "square"))), code=())
    with pytest.raises(NotImplementedError, match="from the tree"):
        built(emitted)


def test_a_value_of_another_type_than_declared() -> None:
    emitted = emit(parse(SQUARE.replace("NAME", "square")))
    (fn,) = emitted.code
    names = [name for name, ty in fn.variables.items() if ty == F64]
    wrong = dataclasses.replace(fn, variables={**fn.variables, **dict.fromkeys(names, INT)})
    with pytest.raises(TypeError, match="is declared int64"):
        built(dataclasses.replace(emitted, code=(wrong,)))


def test_types_of_algorithms() -> None:
    """The variables of what rows say in Python are numbers of one of two types."""
    found = {op.name: reader.algorithm(op) for op in OPS.values() if op.algorithm is not None}
    assert {"sinc", "i0", "expit"} <= set(found)
    for fn in found.values():
        assert isinstance(fn, Function)
        reads, assigned = syntax.variables(fn.body)
        assert reads | assigned <= set(fn.variables)
    assert {n: found["i0"].variables[n] for n in ("order", "x", "k", "term", "half")} == {
        "order": INT, "x": F64, "k": INT, "term": F64, "half": F64,
    }  # fmt: skip
    assert DTYPES[F64.dtype].itemsize == 8
