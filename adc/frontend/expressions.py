"""One function per expression node."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Sequence

import numpy as np

from adc.frontend import arrays, calls, numbers
from adc.frontend.bindings import (
    ArrayRef,
    Binding,
    Num,
    Static,
    TupleOf,
    kind_of,
    leaves,
)
from adc.frontend.control import branch, merge, run_arm
from adc.frontend.lower import Lowerer, static
from adc.ir.core import Apply, Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import B1, BOOL, INT

_VALUE = "$value"


def lower_expr(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression and return what it denotes."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        what, hint = _REFUSED.get(type(node), (f"this expression ({type(node).__name__})", ""))
        raise lo.unsupported(what, node, hint)
    with lo.at(node):
        return handler(lo, node)


_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Await: ("`await`", "use a plain function"),
    ast.Yield: ("`yield`", "return the values instead"),
    ast.YieldFrom: ("`yield from`", "return the values instead"),
    ast.Dict: ("a dict", "use a tuple or separate names"),
    ast.Set: ("a set", "use a tuple"),
    ast.List: ("a list", "use a tuple or an array"),
    ast.ListComp: ("a list comprehension", "fill an array in a loop"),
    ast.SetComp: ("a set comprehension", "fill an array in a loop"),
    ast.DictComp: ("a dict comprehension", "fill an array in a loop"),
    ast.GeneratorExp: ("a generator expression", "write a loop"),
    ast.NamedExpr: ("`:=`", "assign before the expression"),
    ast.Starred: ("starred unpacking", "name every element"),
    ast.JoinedStr: ("an f-string outside `print`, `raise` and `assert`", ""),
    ast.Slice: ("a slice", "write a loop over the elements"),
}


def condition(lo: Lowerer, node: ast.expr) -> Operand:
    """Lower an expression that is used as a condition."""
    if isinstance(node, ast.BoolOp):
        with lo.at(node):
            return _truth_chain(lo, node.values, isinstance(node.op, ast.And))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        with lo.at(node):
            return numbers.apply(lo, "not", condition(lo, node.operand))
    binding = lower_expr(lo, node)
    with lo.at(node):
        return numbers.truth(lo, binding, node)


def _truth_chain(lo: Lowerer, nodes: Sequence[ast.expr], conjunction: bool) -> Operand:
    parts = [functools.partial(condition, lo, node) for node in nodes]
    return _chain(lo, parts, conjunction)


def _chain(lo: Lowerer, parts: Sequence[Callable[[], Operand]], conjunction: bool) -> Operand:
    """Evaluate truth values left to right until one decides."""
    first = parts[0]()
    if len(parts) == 1:
        return first
    if isinstance(first, Literal):
        return _chain(lo, parts[1:], conjunction) if first.value == conjunction else first
    before = lo.snapshot()
    kept: list[Operand] = []

    def rest() -> None:
        kept.append(_chain(lo, parts[1:], conjunction))
        lo.frame.env[_VALUE] = Num(kept[-1])

    arm = run_arm(lo, rest)
    if not arm.dead and all(isinstance(stmt, Apply) for stmt in arm.stmts):
        # Nothing in the rest can fail or change anything: evaluate it always.
        lo.frame.env.pop(_VALUE)
        lo.builder.stmts.extend(arm.stmts)
        return numbers.apply(lo, "and" if conjunction else "or", first, kept[0])
    lo.restore(before)

    def decided() -> None:
        lo.frame.env[_VALUE] = Num(Literal(not conjunction, BOOL))

    # The rest is not lowered again: doing so at every link would take exponential time.
    other = run_arm(lo, decided)
    merge(lo, first, before, *((arm, other) if conjunction else (other, arm)))
    result = lo.frame.env.pop(_VALUE)
    assert isinstance(result, Num)
    return result.operand


def _constant(lo: Lowerer, node: ast.Constant) -> Binding:
    if isinstance(node.value, complex):
        raise lo.unsupported("a complex number", node)
    if isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
        raise lo.unsupported(f"the integer {node.value}", node, "adc's integers have 64 bits")
    return static(node.value)


def _name(lo: Lowerer, node: ast.Name) -> Binding:
    return lo.read_name(node.id, node)


def _tuple(lo: Lowerer, node: ast.Tuple) -> Binding:
    items: list[Binding] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner = lower_expr(lo, element.value)
            if not isinstance(inner, TupleOf):
                raise lo.unsupported(f"unpacking {kind_of(inner)}", element)
            items.extend(inner.items)
        else:
            items.append(lower_expr(lo, element))
    return TupleOf(tuple(items))


def _binary(lo: Lowerer, node: ast.BinOp) -> Binding:
    left = lower_expr(lo, node.left)
    right = lower_expr(lo, node.right)
    return numbers.binary(lo, type(node.op), left, right, node)


def _unary(lo: Lowerer, node: ast.UnaryOp) -> Binding:
    if isinstance(node.op, ast.Not):
        return Num(condition(lo, node))
    operand = numbers.number(lo, lower_expr(lo, node.operand), node, "this operator")
    ty = numbers.scalar_type(operand)
    if ty.kind == "b":
        if isinstance(node.op, ast.Invert) and not ty.weak:
            return Num(lo.exact(numbers.apply(lo, "not", operand), B1))
        if not ty.weak:
            raise TypeMismatchError(
                "NumPy has no sign of a truth value", lo.span(node), "convert with int()"
            )
        operand = lo.convert(operand, INT)
    if isinstance(node.op, ast.UAdd):
        return Num(operand)
    if isinstance(node.op, ast.Invert):
        if ty.kind == "f":
            raise TypeMismatchError("`~` on a float", lo.span(node))
        return Num(numbers.apply(lo, "invert", operand))
    return Num(numbers.negated(lo, operand, node))


def _compare(lo: Lowerer, node: ast.Compare) -> Binding:
    left = lower_expr(lo, node.left)
    if len(node.ops) == 1:
        right = lower_expr(lo, node.comparators[0])
        return Num(numbers.compare(lo, node.ops[0], left, right, node))
    # `a < b < c` evaluates b once, and c only if a < b.
    ends: list[Binding] = [left]

    def link(k: int) -> Operand:
        del ends[k + 1 :]
        ends.append(lower_expr(lo, node.comparators[k]))
        return numbers.compare(lo, node.ops[k], ends[k], ends[k + 1], node)

    parts = [lambda k=k: link(k) for k in range(len(node.ops))]
    return Num(_chain(lo, parts, True))


def _bool_op(lo: Lowerer, node: ast.BoolOp) -> Binding:
    """Lower ``a and b`` as a value: the operand that decided."""
    conjunction = isinstance(node.op, ast.And)
    first = lower_expr(lo, node.values[0])
    return _deciding(lo, node, first, node.values[1:], conjunction)


def _deciding(
    lo: Lowerer, node: ast.BoolOp, first: Binding, rest: Sequence[ast.expr], conjunction: bool
) -> Binding:
    if not rest:
        return first
    truth = numbers.truth(lo, first, node)
    is_bool = isinstance(first, Num) and first.operand.type.kind == "b"
    if is_bool and all(isinstance(value, ast.Compare) for value in rest):
        parts: list[Callable[[], Operand]] = [lambda: truth]
        parts += [functools.partial(condition, lo, value) for value in rest]
        return Num(_chain(lo, parts, conjunction))

    def go_on() -> None:
        second = lower_expr(lo, rest[0])
        lo.frame.env[_VALUE] = _deciding(lo, node, second, rest[1:], conjunction)

    def decided() -> None:
        lo.frame.env[_VALUE] = first

    return choose(lo, truth, *((go_on, decided) if conjunction else (decided, go_on)), node)


def choose(
    lo: Lowerer,
    cond: Operand,
    then: Callable[[], None],
    orelse: Callable[[], None],
    node: ast.AST,
) -> Binding:
    """Lower two ways to compute a value, of which `cond` picks one."""
    outer = lo.frame.env.pop(_VALUE, None)
    branch(lo, cond, then, orelse)
    result = lo.usable(lo.frame.env.pop(_VALUE), "this expression", node)
    if outer is not None:
        lo.frame.env[_VALUE] = outer
    return result


def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding:
    cond = condition(lo, node.test)

    def then() -> None:
        lo.frame.env[_VALUE] = lower_expr(lo, node.body)

    def orelse() -> None:
        lo.frame.env[_VALUE] = lower_expr(lo, node.orelse)

    return choose(lo, cond, then, orelse, node)


def _attribute(lo: Lowerer, node: ast.Attribute) -> Binding:
    path = dotted(node)
    if path is not None and _is_free(lo, path[0]):
        return lo.free(_holder(lo), path, node)
    owner = lower_expr(lo, node.value)
    if isinstance(owner, ArrayRef):
        return arrays.attribute(lo, owner, node.attr, node)
    if isinstance(owner, Static):
        try:
            return static(getattr(owner.value, node.attr))
        except AttributeError:
            pass
    raise TypeMismatchError(f"{kind_of(owner)} has no attribute {node.attr!r}", lo.span(node))


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """Return the names of ``a.b.c``, or None if the expression is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def _is_free(lo: Lowerer, name: str) -> bool:
    """Whether `name` is a global or closure variable that denotes a module or class."""
    frame = lo.frame
    while True:
        if name in frame.env or name in frame.locals:
            return False
        if frame.outer is None:
            break
        frame = frame.outer
    return not isinstance(
        lo.read_name(name, ast.Name(name, ast.Load(), lineno=1, col_offset=0)), ArrayRef
    )


def _holder(lo: Lowerer) -> types.FunctionType:
    """Return the function object whose free variables are meant."""
    frame = lo.frame
    while frame.outer is not None:
        frame = frame.outer
    return frame.holder


def unpack(lo: Lowerer, value: Binding, node: ast.AST, count: int) -> list[Binding]:
    """Return the `count` elements of something that is unpacked."""
    if isinstance(value, TupleOf):
        if len(value.items) != count:
            raise TypeMismatchError(f"{len(value.items)} values for {count} names", lo.span(node))
        return list(value.items)
    if isinstance(value, ArrayRef) and value.object.type.rank == 1:
        obj = value.object
        size = lo.dims[obj][0]
        enough = numbers.apply(lo, "ge", size, Literal(count, INT))
        text = f"not enough values to unpack (expected {count}, got {{}})"
        numbers.check(lo, enough, "ValueError", text, size)
        few = numbers.apply(lo, "le", size, Literal(count, INT))
        numbers.check(lo, few, "ValueError", numbers.too_many(count))
        return [arrays.load(lo, obj, [Literal(k, INT)], node) for k in range(count)]
    raise TypeMismatchError(f"cannot unpack {kind_of(value)}", lo.span(node))


def message(lo: Lowerer, node: ast.expr) -> tuple[str, tuple[Operand, ...]]:
    """Lower the text of a `raise`, `assert` or `print`: a format string and its operands."""
    if isinstance(node, ast.JoinedStr):
        text = ""
        operands: list[Operand] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            more, values = message(lo, part.value)
            spec = ""
            if isinstance(part.format_spec, ast.JoinedStr):
                if not all(isinstance(v, ast.Constant) for v in part.format_spec.values):
                    raise lo.unsupported("a computed format", part)
                literals = [v for v in part.format_spec.values if isinstance(v, ast.Constant)]
                spec = ":" + "".join(str(v.value) for v in literals)
            conversion = {-1: "", 114: "!r", 115: "!s", 97: "!a"}[part.conversion]
            if len(values) == 1 and more == "{}":
                more = f"{{{conversion}{spec}}}"
            text += more
            operands += values
        return text, tuple(operands)
    return text_of(lo, lower_expr(lo, node), node)


def text_of(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[str, tuple[Operand, ...]]:
    """Return the format string and operands that show a binding as `str` does."""
    match binding:
        case Num(operand=operand):
            return "{}", (operand,)
        case Static(value=value) if isinstance(value, str | type(None)):
            return str(value).replace("{", "{{").replace("}", "}}"), ()
        case TupleOf(items=items) if all(isinstance(leaf, Num) for leaf in leaves(binding)):
            parts = [text_of(lo, item, node) for item in items]
            inside = ", ".join(text.replace("{}", "{!r}") for text, _ in parts)
            comma = "," if len(items) == 1 else ""
            return f"({inside}{comma})", tuple(v for _, values in parts for v in values)
    raise lo.unsupported(f"showing {kind_of(binding)}", node, "show its elements")


_EXPRESSIONS: dict[type[ast.AST], Callable[..., Binding]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_expression,
    ast.Attribute: _attribute,
    ast.Subscript: lambda lo, node: arrays.subscript(lo, node),
    ast.Call: lambda lo, node: calls.call(lo, node),
    ast.Lambda: lambda lo, node: calls.closure(lo, node),
}

__all__ = ["condition", "lower_expr", "message", "np", "unpack"]
