"""Keep the statements that a pass has rebuilt without a change.

Most passes rebuild every block and change few. With the old blocks stays what is cached of them
(`remembered`), and a function that is the same object needs no second look.
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.core import Block, For, Function, If, Operand, Reverse, Stmt, Value, While
from adc.ir.walk import are_same

_Nested = If | For | While | Reverse


def with_unchanged(new: Function, old: Function) -> Function:
    """Return `new` with the statements of `old` in place of equal ones, `old` if all are equal.

    Marks and locations count: statements are equal if everything in them is the same object.
    """
    if new is old:
        return old
    body = _stmts(new.body, old.body)
    callees = new.callees
    if len(callees) == len(old.callees):
        callees = tuple(map(with_unchanged, callees, old.callees))
    if (
        body is old.body
        and are_same(callees, old.callees)
        and are_same(new.params, old.params)
        and are_same(new.results, old.results)
        and (new.name, new.mirror, new.routine) == (old.name, old.mirror, old.routine)
        and new.rule is old.rule
        and are_same(new.derived, old.derived)
    ):
        return old
    if body is new.body and are_same(callees, new.callees):
        return new
    return replace(new, body=body, callees=callees)


def _stmts(new: tuple[Stmt, ...], old: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    if are_same(new, old):
        return old
    known = {_key(stmt): stmt for stmt in old if isinstance(stmt, _Nested)}
    done = new
    if known:
        done = tuple(
            _stmt(stmt, known.get(_key(stmt))) if isinstance(stmt, _Nested) else stmt
            for stmt in new
        )
    return old if are_same(done, old) else new if are_same(done, new) else done


def _key(stmt: _Nested) -> tuple[type, str | Value | Operand]:
    """What distinguishes a statement from others of its block, if only what is in it changes."""
    if isinstance(stmt, For | While):
        return type(stmt), stmt.label
    return type(stmt), stmt.loop if isinstance(stmt, Reverse) else (*stmt.results, stmt.cond)[0]


def _stmt(new: _Nested, old: _Nested | None) -> _Nested:
    if old is None or new is old:
        return new
    if isinstance(new, If):
        assert isinstance(old, If)
        then, orelse = _block(new.then, old.then), _block(new.orelse, old.orelse)
        if (
            then is old.then
            and orelse is old.orelse
            and new.cond is old.cond
            and are_same(new.results, old.results)
            and new.loc is old.loc
        ):
            return old
        if then is new.then and orelse is new.orelse:
            return new
        return replace(new, then=then, orelse=orelse)
    assert not isinstance(old, If)
    body = _block(new.body, old.body)
    if (
        body is old.body
        and are_same(new.results, old.results)
        and are_same(new.init, old.init)
        and new.loc is old.loc
        and _control(new) == _control(old)
    ):
        return old
    return new if body is new.body else replace(new, body=body)


def _control(loop: For | While | Reverse) -> tuple[object, ...]:
    """What decides the iterations of a loop; of values, the objects."""
    match loop:
        case For():
            kind = loop.down, loop.parallel, loop.vectorizable
            return (loop.label, id(loop.index), id(loop.trips), kind)
        case While():
            return (loop.label,)
        case Reverse():
            return (loop.loop, id(loop.index))


def _block(new: Block, old: Block) -> Block:
    if new is old:
        return old
    stmts = _stmts(new.stmts, old.stmts)
    if stmts is old.stmts and are_same(new.params, old.params) and are_same(new.yields, old.yields):
        return old
    return new if stmts is new.stmts else Block(new.params, stmts, new.yields)


__all__ = ["with_unchanged"]
