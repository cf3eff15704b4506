"""Lists whose length is known only at run time: numbers in a buffer that doubles when it is full.

Comprehensions and generator arguments over such lengths become the loops that they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adc.frontend import arrays, elementwise, expressions, numbers, scope, statements, views
from adc.frontend.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Growing,
    ListRef,
    Num,
    TupleOf,
    Window,
    kind_of,
)
from adc.frontend.control import branch
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import FLOAT, INT, Array, Scalar, join

_FIRST = 16
_GROWN = "$grown"


def converted(lo: Lowerer, items: Sequence[Binding], ty: Scalar, node: ast.AST | None) -> Growing:
    """Return a growing list of numbers that starts with `items`."""
    dims = (integer(max(_FIRST, 2 * len(items))),)
    version = lo.builder.apply("empty", *dims, params=(ty.dtype,), hint="list")
    for k, item in enumerate(items):
        assert isinstance(item, Num)
        value = lo.exact(lo.convert(item.operand, ty), Scalar(ty.dtype))
        version = lo.builder.store(version, [integer(k)], value, hint="list")
    return Growing(lo.new_array(version, dims, "list"), Num(integer(len(items))), ty)


def read(lo: Lowerer, held: Growing, index: Operand, node: ast.AST) -> Num:
    """Read an element at an index that is in range."""
    found = arrays.load(lo, held.buffer, [index], node)
    assert isinstance(found, Num)
    return Num(lo.exact(found.operand, held.type))


def item(lo: Lowerer, held: Growing, key: Binding, node: ast.AST) -> Binding:
    return read(lo, held, place(lo, held, key, node), node)


def place(lo: Lowerer, held: Growing, key: Binding, node: ast.AST) -> Operand:
    operand = numbers.number(lo, key, node, "an index of a list")
    if operand.type.kind not in "iu":
        raise TypeMismatchError(f"list indices must be integers, not {kind_of(key)}", lo.span(node))
    size = held.length.operand
    operand = numbers.to_int(lo, operand)
    wrapped = lo.builder.apply("wrap", operand, size, hint="i")
    inside = numbers.apply(lo, "inside", wrapped, size)
    numbers.check(lo, inside, "IndexError", "list index out of range")
    return wrapped


def set_item(lo: Lowerer, held: Growing, key: Binding, value: Binding, node: ast.AST) -> None:
    at = place(lo, held, key, node)
    _store(lo, held, at, value, node)


def _store(lo: Lowerer, held: Growing, at: Operand, value: Binding, node: ast.AST) -> None:
    operand = numbers.number(lo, value, node, "an element of a list of numbers")
    operand = lo.exact(lo.convert(operand, held.type), Scalar(held.type.dtype))
    obj = held.buffer.object
    lo.update(obj, lo.builder.store(lo.version(obj, node), [at], operand, hint="list"))


def view(lo: Lowerer, held: Growing) -> ArrayRef:
    """Return the filled part of the buffer."""
    dims = (lo.counts(held.length.operand),)
    found = views.through(lo, held.buffer, Window(dims, (Axis(integer(0), ((0, integer(1)),)),)))
    assert isinstance(found, ArrayRef)
    return found


def append(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> None:
    """Lower ``list.append(value)``."""
    held = lo.held(ref)
    if isinstance(value, Num):
        ty = value.operand.type
        assert isinstance(ty, Scalar)
        lo.appended[ref.slot] = join(lo.appended.get(ref.slot, ty), ty)
    if isinstance(held, TupleOf):
        lo.hold(ref, TupleOf((*held.items, value)))
        return
    assert isinstance(held, Growing)
    if not isinstance(value, Num):
        raise lo.unsupported(
            f"appending {kind_of(value)} in a loop", node, "fill an array made before the loop"
        )
    with lo.at(node):
        count = held.length.operand
        full = lo.builder.apply("ge", count, views.dims_of(lo, held.buffer)[0], hint="full")

        def grow() -> None:
            size = lo.counts(
                lo.builder.apply("mul", views.dims_of(lo, held.buffer)[0], integer(2), hint="n")
            )
            obj = held.buffer.object
            empty = lo.builder.apply("empty", size, params=(obj.type.dtype,), hint="list")
            bigger = lo.new_array(empty, (size,), "list")
            part = views.through(
                lo, bigger, Window((count,), (Axis(integer(0), ((0, integer(1)),)),))
            )
            assert isinstance(part, ArrayRef)
            elementwise.assign_to(lo, part, view(lo, held), node)
            lo.frame.env[_GROWN] = bigger

        def keep() -> None:
            lo.frame.env[_GROWN] = held.buffer

        branch(lo, full, grow, keep)
        buffer = lo.frame.env.pop(_GROWN)
        assert isinstance(buffer, ArrayRef)
        grown = Growing(buffer, held.length, held.type)
        # Nobody but the list has a name for the old buffer.
        old = held.buffer.object
        buffer.object.alias.discard(old)
        old.alias.discard(buffer.object)
        _store(lo, grown, count, value, node)
        after = lo.counts(lo.builder.apply("add", count, integer(1), hint="n"))
        lo.hold(ref, Growing(buffer, Num(after), held.type))


def pop(lo: Lowerer, ref: ListRef, held: Growing, node: ast.AST) -> Binding:
    """Lower ``list.pop()``."""
    with lo.at(node):
        count = held.length.operand
        some = numbers.apply(lo, "gt", count, integer(0))
        numbers.check(lo, some, "IndexError", "pop from empty list")
        last = lo.counts(lo.builder.apply("sub", count, integer(1), hint="n"))
        found = read(lo, held, last, node)
        lo.hold(ref, Growing(held.buffer, Num(last), held.type))
    return found


# -- comprehensions --------------------------------------------------------------------------------

_RESULT = "$made"


def _synthetic(lo: Lowerer, node: ast.AST, make: Any) -> Any:
    """Return statements made for a node, the same ones every time it is lowered."""
    key = ("statements", id(node))
    if key not in lo.memo:
        made = make()
        for stmt in made:
            for inner in ast.walk(stmt):
                if not hasattr(inner, "lineno"):
                    ast.copy_location(inner, node)
        lo.memo[key] = made
    return lo.memo[key]


def _loop(generators: Sequence[ast.comprehension], body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the loops that a comprehension stands for."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        body = [ast.For(target=generator.target, iter=generator.iter, body=body, orelse=[])]
    return body


def _name(ctx: ast.expr_context) -> ast.Name:
    return ast.Name(id=_RESULT, ctx=ctx)


def _run(
    lo: Lowerer, node: ast.ListComp | ast.GeneratorExp, start: Binding, body: list[ast.stmt]
) -> Binding:
    stmts = _synthetic(lo, node, lambda: _loop(node.generators, body))
    names = scope.assigned_in([g.target for g in node.generators])
    outer = {name: lo.frame.env.pop(name) for name in [*names, _RESULT] if name in lo.frame.env}
    own = frozenset(names) - lo.frame.locals
    lo.frame.locals |= own
    lo.frame.env[_RESULT] = start
    statements.lower_stmts(lo, stmts)
    result = lo.usable(lo.frame.env.pop(_RESULT), "this comprehension", node)
    lo.frame.locals -= own
    for name in names:
        lo.frame.env.pop(name, None)
    lo.frame.env.update(outer)
    return result


def comprehension(lo: Lowerer, node: ast.ListComp | ast.GeneratorExp) -> Binding:
    """Lower a comprehension over a length known only at run time: a list of numbers."""
    call = ast.Call(
        func=ast.Attribute(value=_name(ast.Load()), attr="append", ctx=ast.Load()),
        args=[node.elt], keywords=[],
    )  # fmt: skip
    start = lo.new_ref(ListRef, TupleOf(()))
    # Appending makes it a growing list; an empty one has no type yet.
    return _run(lo, node, start, [ast.Expr(value=call)])


def reduced(lo: Lowerer, name: str, node: ast.GeneratorExp, args: list[Binding]) -> Binding:
    """Lower ``sum``, ``any`` or ``all`` of a generator."""
    if name == "sum":
        add = ast.BinOp(left=_name(ast.Load()), op=ast.Add(), right=node.elt)
        start = args[0] if args else Num(integer(0))
        body: list[ast.stmt] = [ast.Assign(targets=[_name(ast.Store())], value=add)]
        return _run(lo, node, start, body)
    found = name == "any"
    test: ast.expr = node.elt if found else ast.UnaryOp(op=ast.Not(), operand=node.elt)
    body = [
        ast.If(
            test=test,
            body=[ast.Assign(targets=[_name(ast.Store())], value=ast.Constant(value=found))],
            orelse=[],
        )
    ]
    return _run(lo, node, lo.num(not found), body)


__all__ = ["FLOAT", "INT", "Array", "append", "comprehension", "converted", "expressions"]
