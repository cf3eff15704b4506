"""Check that the tape is balanced: every `pop` takes the matching frame.

Independent of `remat`: it looks only at the result. The trace of a function is the order in which
it pushes and pops, with its loops and branches; popping must reverse pushing, last frame first,
type by type, loop against loop of equal trip count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    inner: tuple[_TraceItem, ...]
    trips: Operand | None  # None for a `while`


@dataclass(frozen=True)
class _Branch:
    then: tuple[_TraceItem, ...]
    orelse: tuple[_TraceItem, ...]


@dataclass(frozen=True)
class _Called:
    """A call of the forward code of a function, or of its reverse function."""

    name: str


_TraceItem = _Frame | _Loop | _Branch | _Called


def check_tape(fn: Function, mirrors: Mapping[str, str]) -> None:
    """Raise IRError unless every pop of `fn` mirrors a push.

    `mirrors` are the reverse functions, each with the function whose calls it reverses.
    """
    for each in (*fn.callees, fn):
        for stmt in walk(each.body):
            if isinstance(stmt, Recall | Reverse):
                raise IRError(f"{each.name}: a recall was left: {stmt}")
    pushes: dict[str, tuple[_TraceItem, ...]] = {}
    pops: dict[str, tuple[_TraceItem, ...]] = {}
    for each in (*fn.callees, fn):
        pops[each.name], pushes[each.name] = _run(each.name, each.body, mirrors)
    names = {each.name for each in fn.callees}
    for name in sorted(names):
        if name.endswith(".fwd"):
            reverse = [other for other in names if mirrors.get(other) == name.removesuffix(".fwd")]
            if len(reverse) != 1:
                raise IRError(f"{name} has {len(reverse)} reverse functions")
            _match(name, pushes[name], pops[reverse[0]])
    _match(fn.name, pushes[fn.name], pops[fn.name])


def _run(
    name: str, stmts: Sequence[Stmt], mirrors: Mapping[str, str]
) -> tuple[tuple[_TraceItem, ...], tuple[_TraceItem, ...]]:
    """Return the frames that statements pop but did not push, in order, and those they leave."""
    taken: list[_TraceItem] = []
    stack: list[_TraceItem] = []

    def pop(item: _TraceItem) -> None:
        if stack:
            _match(name, (stack.pop(),), (item,))
        else:
            taken.append(item)

    for stmt in stmts:
        match stmt:
            case Push(values=values):
                stack.append(_Frame(tuple(str(v.type.dtype) for v in values)))
            case Pop(results=results):
                pop(_Frame(tuple(str(v.type.dtype) for v in results)))
            case For(body=body) | While(body=body):
                pops, pushes = _run(name, body.stmts, mirrors)
                if pops and pushes:
                    raise IRError(f"{name}: {stmt.label} pops and pushes")
                # `remat` appends the counter of a `while` to its carried values.
                trips = stmt.trips if isinstance(stmt, For) else (stmt.results or (None,))[-1]
                if pops:
                    pop(_Loop(pops, trips))
                if pushes:
                    stack.append(_Loop(pushes, trips))
            case If(then=then, orelse=orelse):
                arms = [_run(name, arm.stmts, mirrors) for arm in (then, orelse)]
                if any(pops for pops, _ in arms):
                    pop(_Branch(arms[0][0], arms[1][0]))
                if any(pushes for _, pushes in arms):
                    stack.append(_Branch(arms[0][1], arms[1][1]))
            case Call(callee=callee):
                if callee.endswith(".fwd"):
                    stack.append(_Called(callee.removesuffix(".fwd")))
                elif callee in mirrors:
                    pop(_Called(mirrors[callee]))
    return tuple(taken), tuple(stack)


def _match(name: str, pushed: Sequence[_TraceItem], popped: Sequence[_TraceItem]) -> None:
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
                if a != b:
                    raise IRError(f"{name}: {a.name} is undone by the reverse of {b.name}")
            case _:
                raise IRError(f"{name}: {a} is popped as {b}")


def _popped(operand: Operand | None) -> bool:
    """Whether a trip count of reverse code was popped, recomputed, or restored by inversion.

    `availability` proves that it is the right one.
    """
    return isinstance(operand, Value) and any(
        part in operand.name for part in (".r", ".kept", ".back")
    )
