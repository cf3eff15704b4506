"""Check that the tape is balanced: every `pop` takes the frame that it is meant for.

Independent of `remat`: it looks only at the result. The trace of a function is the order in which
it pushes and pops, with loops and branches as they stand; popping must undo pushing, last frame
first, type by type, loop against loop of as many trips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adc.ir.core import (
    Call,
    For,
    Function,
    If,
    Operand,
    Pop,
    Push,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.errors import IRError


@dataclass(frozen=True)
class _Frame:
    types: tuple[str, ...]


@dataclass(frozen=True)
class _Loop:
    """A loop of `trips` iterations, each with the trace `inner`; trips are None if popped."""

    inner: tuple[_Item, ...]
    trips: Operand | None  # None for a `while`


@dataclass(frozen=True)
class _Branch:
    then: tuple[_Item, ...]
    orelse: tuple[_Item, ...]


@dataclass(frozen=True)
class _Called:
    name: str


_Item = _Frame | _Loop | _Branch | _Called


def check_tape(fn: Function) -> None:
    """Raise IRError unless every pop of `fn` mirrors a push."""
    for each in (*fn.callees, fn):
        for stmt in walk(each.body):
            if isinstance(stmt, Recall | Reverse):
                raise IRError(f"{each.name}: a recall was left: {stmt}")
    pushes: dict[str, tuple[_Item, ...]] = {}
    pops: dict[str, tuple[_Item, ...]] = {}
    for each in (*fn.callees, fn):
        pushes[each.name] = _trace(each.body, True)
        pops[each.name] = _trace(each.body, False)
    names = {each.name for each in fn.callees}
    for name in sorted(names):
        if name.endswith(".fwd"):
            reverse = [other for other in names if _undoes(other, name)]
            if len(reverse) != 1:
                raise IRError(f"{name} has {len(reverse)} reverse functions")
            _match(name, pushes[name], pops[reverse[0]])
    _match(fn.name, pushes[fn.name], pops[fn.name])


def _undoes(reverse: str, forward: str) -> bool:
    base = forward.removesuffix(".fwd")
    root, _, tail = base.partition(".")
    return reverse == f"{base}.rev" or reverse == (f"{root}.rev.{tail}" if tail else "")


def _trace(stmts: Sequence[Stmt], forward: bool) -> tuple[_Item, ...]:
    items: list[_Item] = []
    for stmt in stmts:
        match stmt:
            case Push(values=values) if forward:
                items.append(_Frame(tuple(str(v.type.dtype) for v in values)))
            case Pop(results=results) if not forward:
                items.append(_Frame(tuple(str(v.type.dtype) for v in results)))
            case For(label=label, body=body, trips=trips):
                inner, others = (_trace(body.stmts, way) for way in (forward, not forward))
                if inner and others:
                    # An iteration that holds its own reverse code leaves nothing behind.
                    _match(label, *((inner, others) if forward else (others, inner)))
                elif inner:
                    items.append(_Loop(inner, trips))
            case While(body=body, results=results):
                inner = _trace(body.stmts, forward)
                if inner:
                    # `remat` appends the counter to what the loop carries.
                    items.append(_Loop(inner, results[-1] if results else None))
            case If(then=then, orelse=orelse):
                a, b = _trace(then.stmts, forward), _trace(orelse.stmts, forward)
                if a or b:
                    items.append(_Branch(a, b))
            case Call(callee=callee):
                if forward and callee.endswith(".fwd"):
                    items.append(_Called(callee))
                elif not forward and ".rev" in callee:
                    items.append(_Called(callee))
    return tuple(items)


def _match(name: str, pushed: Sequence[_Item], popped: Sequence[_Item]) -> None:
    if len(pushed) != len(popped):
        raise IRError(f"{name}: {len(pushed)} pushes and {len(popped)} pops: {pushed} {popped}")
    for a, b in zip(pushed, reversed(popped), strict=True):
        match a, b:
            case _Frame(), _Frame():
                if a.types != b.types:
                    raise IRError(f"{name}: a frame of {a.types} is popped as {b.types}")
            case _Loop(), _Loop():
                if a.trips != b.trips and not _popped(b.trips):
                    raise IRError(f"{name}: {a.trips} iterations push, {b.trips} pop")
                _match(name, a.inner, b.inner)
            case _Branch(), _Branch():
                _match(name, a.then, b.then)
                _match(name, a.orelse, b.orelse)
            case _Called(), _Called():
                if not _undoes(b.name, a.name):
                    raise IRError(f"{name}: {a.name} is undone by {b.name}")
            case _:
                raise IRError(f"{name}: {a} is popped as {b}")


def _popped(operand: Operand | None) -> bool:
    """Whether a trip count in reverse code comes off the tape or was computed again."""
    return isinstance(operand, Value) and (".r" in operand.name or ".kept" in operand.name)
