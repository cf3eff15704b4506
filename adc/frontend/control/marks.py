"""The user's marks on values: `adc.save`, `recompute`, `invertible`, `checkpoint`.

They are marks of values, by name, not statements. Passes treat code with and without them alike, so
no bit of a result or gradient depends on them, except for `invertible` floats, which are recovered
up to rounding. Only plans (`passes.remat`) and `passes.predicates` read them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.frontend.core import closures, dispatch
from adc.frontend.core.bindings import Binding, Lazy, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import leaves
from adc.frontend.values import elementwise
from adc.ir.core import Apply, For, If, Mark, Operand, Stmt, Store, Value, While, walk
from adc.ir.types import Array
from adc.ir.walk import marked


def said(lo: Lowerer, kind: str, value: Binding, node: ast.Call) -> Binding:
    """Lower ``adc.save(value)``, ``adc.recompute(value)``, ``adc.invertible(value)``: the value."""
    value = elementwise.materialised(lo, value, node)
    if kind == "invertible" and isinstance(value, Num):
        # A variable of its own, that no other one shares its first value with.
        ty = str(value.operand.type)
        value = replace(value, operand=lo.builder.apply("cast", value.operand, params=(ty,)))
    mark = Mark(kind, lo.span(node), lo.builder.mark)
    found = [value, *closures.reachable(lo, [value]).values()]
    for leaf in (leaf for each in found for leaf in leaves(each)):
        operand = leaf.operand if isinstance(leaf, Num) else lo.version(leaf.object, node)
        if isinstance(operand, Value):
            lo.builder.marks[operand.name] = mark
    return value


def checkpointed(
    lo: Lowerer, fn: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a checkpointed function: a call, the values inside of which are marked."""
    mark = Mark("checkpoint", lo.span(node), lo.builder.mark)
    arrays, slots = list(lo.versions), list(closures.heap_of(lo.frame))
    with lo.builder.marking(mark):
        result = dispatch.apply(lo, fn, args, kwargs, node)
    # What it returns, and what it changed.
    heap = closures.heap_of(lo.frame)
    found = [result, *closures.reachable(lo, [result]).values()]
    found += [heap[slot] for slot in slots if slot in heap]
    for leaf in (leaf for each in found for leaf in leaves(each)):
        if isinstance(leaf, Num):
            _is_result(lo, leaf.operand, mark)
        else:
            arrays.append(leaf.object)
    for obj in arrays:
        if obj in lo.versions:
            _is_result(lo, lo.versions[obj], mark)
    return _expressions(lo, result, mark)


def _is_result(lo: Lowerer, operand: Operand, mark: Mark) -> None:
    """Mark a result as a value of the caller."""
    if isinstance(operand, Value) and lo.builder.marks.get(operand.name) is mark:
        lo.builder.marks[operand.name] = mark.around or Mark("result", mark.loc)


def _expressions(lo: Lowerer, result: Binding, mark: Mark) -> Binding:
    """Return a result whose lazy expressions are computed inside of the call."""
    if isinstance(result, TupleOf):
        return TupleOf(tuple(_expressions(lo, item, mark) for item in result.items))
    if not isinstance(result, Lazy):
        return result
    inner = result.element

    def element(index: Sequence[Operand]) -> Operand:
        with lo.builder.marking(mark):
            found = inner(index)
        _is_result(lo, found, mark)
        return found

    return replace(result, element=element)


def with_marks(body: tuple[Stmt, ...], marks: Mapping[str, Mark]) -> tuple[Stmt, ...]:
    """Return the statements of a function with the marks of their values."""
    if not marks:
        return body
    makers = {result: stmt for stmt in walk(body) for result in stmt.results}
    names = {value.name: value for value in makers}
    found = dict(marks)
    invertible = {name: mark for name, mark in marks.items() if mark.kind == "invertible"}
    for name, mark in invertible.items():
        del found[name]
        if mark.around is not None:
            found[name] = mark.around
    for param, mark in _carried(body, invertible).items():
        found[param.name] = replace(mark, around=found.get(param.name))
    for name, mark in marks.items():
        if name in names and mark.kind in ("save", "recompute"):
            for value in _same(names[name], makers):
                found[value.name] = mark
    return marked(body, lambda value: found.get(value.name))


def _carried(body: tuple[Stmt, ...], marks: Mapping[str, Mark]) -> dict[Value, Mark]:
    """Return the parameters of loops that are marked variables, in any of their versions."""
    if not marks:
        return {}
    parent: dict[str, str] = {}

    def head(name: str) -> str:
        while name in parent:
            name = parent[name]
        return name

    def join(*versions: Operand) -> None:
        first, *rest = (head(v.name) for v in versions if isinstance(v, Value))
        parent.update((name, first) for name in rest if name != first)

    loops = [stmt for stmt in walk(body) if isinstance(stmt, For | While)]
    for stmt in walk(body):
        match stmt:
            case (
                For(results=results, init=init, body=inner)
                | While(results=results, init=init, body=inner)
            ):
                following = inner.yields[len(inner.yields) - len(results) :]
                for slot in zip(inner.params, init, following, results, strict=True):
                    join(*slot)
            case If(results=results, then=then, orelse=orelse):
                for versions in zip(results, then.yields, orelse.yields, strict=True):
                    join(*versions)
            case Store():
                join(stmt.result, stmt.array)
            # Not the one that makes a marked number a variable of its own.
            case Apply(op=op) if op.name == "cast" and stmt.result.name not in marks:
                join(stmt.result, *stmt.args)
    heads = {head(name): mark for name, mark in marks.items()}
    params = [param for stmt in loops for param in stmt.body.params]
    return {param: heads[head(param.name)] for param in params if head(param.name) in heads}


def _same(value: Value, makers: Mapping[Value, Stmt]) -> list[Value]:
    """Return the values that a value copies without arithmetic: casts, elements."""
    found, waiting = dict[Value, None](), [value]
    while waiting:
        each = waiting.pop()
        if each in found or each not in makers:
            continue
        found[each] = None
        more: list[Operand] = []
        match makers[each]:
            case Apply(op=op, args=args) if op.name == "cast":
                more += args
            case Store(array=array, value=stored, accumulate=False):
                more += (array, stored)
            case For(results=results, body=body) if isinstance(each.type, Array):
                more.append(body.yields[results.index(each)])
            case If(results=results, then=then, orelse=orelse):
                k = results.index(each)
                more += (then.yields[k], orelse.yields[k])
        waiting += [operand for operand in more if isinstance(operand, Value)]
    return list(found)


__all__ = ["checkpointed", "said", "with_marks"]
