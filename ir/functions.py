"""Whole functions: what they may call, and functions made from others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import UnionType

from adc.ir.builder import Builder, zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    If,
    Operand,
    Print,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    derivative_type,
    operands,
    walk,
)
from adc.ir.errors import Span, UnsupportedError
from adc.ir.text.outside import is_external
from adc.ir.types import HALF, INT, Array, Scalar
from adc.ir.walk import Names, defined, finds, map_functions, map_stmts, substitute_stmt


def users_name(name: str) -> str:
    """Return the user's name of a function that has a rule, or that belongs to one."""
    return re.sub(r"_(custom|record|tangent|reverse|external)\d*$", "", name)


def called(fn: Function) -> Iterator[str]:
    """Yield the names of the functions that `fn` itself may call."""
    for stmt in walk(fn.body):
        if isinstance(stmt, Call):
            yield stmt.callee
    if fn.rule is not None:
        yield from fn.rule.functions
    if fn.mirror:
        yield fn.mirror


def reachable(table: Mapping[str, Function], start: str) -> set[str]:
    """Return the functions reachable by calls, `start` included only if it is recursive."""
    found: set[str] = set()
    todo = [start]
    while todo:
        for name in called(table[todo.pop()]):
            if name in table and name not in found:
                found.add(name)
                todo.append(name)
    return found


def callees_first(table: Mapping[str, Function]) -> list[str]:
    """Return the names of functions with forward code, callees before their callers."""
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in order or name in path or name not in table or table[name].mirror:
            return
        for callee in called(table[name]):
            visit(callee, (*path, name))
        order.append(name)

    for name in table:
        visit(name, ())
    return order


def is_of_schedule(fn: Function) -> bool:
    """Whether a function computes a schedule of checkpointed loops (`adc.ir.schedule`)."""
    return fn.name.startswith("adc.")


def recomputes_iterations(fn: Function) -> bool:
    """Whether a function has checkpointed loops, whose schedule recomputes iterations."""
    return any(
        isinstance(stmt, Apply) and stmt.op.routine == "adc.sweeps" for stmt in walk(fn.body)
    )


def primal_names(fn: Function) -> dict[str, str]:
    """Map the parameters that are tangents to their primals, of the same types and shapes."""
    names = {param.name for param in fn.params}
    found: dict[str, str] = {}
    for param in fn.params:
        base = param.name
        while base.endswith(".dot") and base.removesuffix(".dot") in names:
            base = base.removesuffix(".dot")
        if base != param.name:
            found[param.name] = base
    return found


def reached(fn: Function) -> Function:
    """Return `fn` without the callees and derivatives that no call can reach."""
    table = {each.name: each for each in fn.callees}
    found: set[str] = set()
    todo = [fn]
    while todo:
        names = set(called(todo.pop())) - found
        found |= names
        todo += [table[name] for name in names if name in table]
    return replace(
        fn,
        callees=tuple(each for each in fn.callees if each.name in found),
        derived=tuple(each for each in fn.derived if each.name in found),
    )


def has_half(fn: Function) -> bool:
    """Whether there are numbers of 16 bits in a function, or in one that it calls."""
    return any(value.type.dtype == HALF for value in defined(fn)) or any(
        map(has_half, (*fn.callees, *(each.of for each in fn.derived)))
    )


def without_prints(fn: Function) -> Function:
    """Return a function without prints: its values were printed elsewhere."""
    return _without(fn, Print)


def replayed(fn: Function) -> Function:
    """Return a function for arguments that `fn` has had: without prints and checks."""
    return _without(fn, Print | Check)


def _without(fn: Function, kinds: type | UnionType) -> Function:
    # An empty loop that reverse code mirrors says how often this runs.
    mirrored = {
        s.loop for each in (fn, *fn.callees) for s in walk(each.body) if isinstance(s, Reverse)
    }

    def rest(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, kinds):
                continue
            if isinstance(stmt, If | For | While | Reverse):
                stmt = map_stmts(stmt, rest)
                if isinstance(stmt, If | For) and not stmt.results:
                    kept_for_reverse = isinstance(stmt, For) and stmt.label in mirrored
                    if not kept_for_reverse and not any(block.stmts for block in blocks(stmt)):
                        continue  # nothing but what was left out
            kept.append(stmt)
        return tuple(kept)

    def quiet(each: Function) -> Function:
        if is_external(each):
            refuse_again(each)
        body = rest(each.body)
        found = _unread(each, body) if finds(each.body) else {}
        return replace(each, body=tuple(substitute_stmt(stmt, found) for stmt in body))

    return map_functions(fn, quiet)


def refuse_again(fn: Function) -> None:
    """Raise if a function outside may not be called again."""
    for stmt in fn.body:
        if isinstance(stmt, Print):
            name = users_name(fn.name)
            raise UnsupportedError(
                f"a second call of {name}(), which adc calls as it is, in a derivative that runs "
                "this code again is not supported",
                stmt.loc,
                f"if it may be called again, say so: `adc.external({name}, pure=True)`",
            )


def _unread(fn: Function, body: Sequence[Stmt]) -> dict[Value, Operand]:
    """Return zeros for what removed statements find, such as the time: nothing depends on it.

    Raises
    ------
    UnsupportedError
        If something does: a second run finds something else.
    """
    env: dict[Value, Operand] = {}
    locs: dict[Operand, Span | None] = {}
    for stmt in walk(fn.body):
        if isinstance(stmt, Print) and stmt.result is not None:
            env[stmt.result] = zero(stmt.result.type)
            locs[stmt.result] = stmt.loc

    def refuse(operands_: Iterable[Operand]) -> None:
        for operand in operands_:
            if operand in locs:
                raise UnsupportedError(
                    "a result that depends on the time, or on what is logged, is not supported in "
                    "a derivative that runs this code again", locs[operand],
                    "measure the time around the call",
                )  # fmt: skip

    for stmt in walk(tuple(body)):
        if isinstance(stmt, Apply):
            used = next((arg for arg in stmt.args if arg in locs), None)
            if used is not None:
                locs |= dict.fromkeys(stmt.results, locs[used])
            continue
        refuse(operands(stmt))
        for block in blocks(stmt):
            refuse(block.yields)
    refuse(fn.results)
    return env


def contracted(fn: Function, which: Sequence[int]) -> Function:
    """Return the function of the parameters of `fn`, and of weights, that weights its results.

    Its one result is the sum of all elements of the results `which`, each times its weight.
    """
    builder = Builder(Names.of(fn))
    total: Operand = zero(Scalar("f64"))
    weights: list[Value] = []
    for k in which:
        result = fn.results[k]
        weights.append(builder.value("weight", derivative_type(result.type)))
        if isinstance(result, Value) and isinstance(result.type, Array):
            total = _dot(builder, result, weights[-1], total, ())
        else:
            total = _plus(builder, total, result, weights[-1])
    return replace(
        fn,
        name=f"{fn.name}_weighted",
        params=(*fn.params, *weights),
        body=(*fn.body, *builder.stmts),
        results=(total,),
    )


def _plus(builder: Builder, total: Operand, a: Operand, b: Operand) -> Value:
    if a.type.dtype != b.type.dtype:  # of 16 bits: weights have 32
        a = builder.apply("cast", a, params=(b.type.dtype,))
    product: Operand = builder.apply("mul", a, b)
    if product.type.dtype != "f64":
        product = builder.apply("cast", product, params=("f64",))
    return builder.apply("add", total, product, hint="total")


def _dot(builder: Builder, a: Value, b: Value, total: Operand, index: tuple[Value, ...]) -> Operand:
    axis = len(index)
    assert isinstance(a.type, Array)
    if axis == a.type.rank:
        return _plus(builder, total, builder.load(a, index), builder.load(b, index))
    size = builder.apply("dim", a, params=(axis,), hint="n")
    i, carried = builder.value("i", INT), builder.value("total", Scalar("f64"))
    with builder.block() as stmts:
        found = _dot(builder, a, b, carried, (*index, i))
    result = builder.value("total", Scalar("f64"))
    label = builder.names.fresh("L")
    body = Block((carried,), tuple(stmts), (found,))
    builder.emit(For((result,), label, i, size, (total,), body))
    return result


__all__ = [
    "called", "contracted", "has_half", "reachable", "reached", "refuse_again", "users_name",
    "without_prints",
]  # fmt: skip
