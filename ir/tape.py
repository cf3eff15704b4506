"""Match pops with pushes, by running code on a stack of statements.

The frames on the tape when a block ends, or missing when it begins, are grouped by the loops and
branches around them. A loop that leaves frames in every iteration is one entry, and so is the loop
that pops them, last one first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.core import For, If, Operand, Pop, Push, Stmt, Value, While, blocks
from adc.ir.types import Type


@dataclass(frozen=True)
class TapeEntry:
    """A statement that pushes or pops; of a loop or a branch, with its blocks' entries in order."""

    stmt: Stmt
    parts: tuple[tuple[TapeEntry, ...], ...] = ()

    def frames(self) -> Iterator[Push | Pop]:
        """Yield every push or pop in it."""
        if isinstance(self.stmt, Push | Pop):
            yield self.stmt
        for part in self.parts:
            for each in part:
                yield from each.frames()


Meet = Callable[[TapeEntry, TapeEntry], None]


def matched(stmts: Sequence[Stmt], meet: Meet) -> tuple[list[TapeEntry], list[TapeEntry]]:
    """Return what statements pop that they have not pushed, and what they leave.

    `meet` is called with every entry and the one that pops it.
    """
    taken: list[TapeEntry] = []
    stack: list[TapeEntry] = []

    def pop(item: TapeEntry) -> None:
        if stack:
            meet(stack.pop(), item)
        else:
            taken.append(item)

    for stmt in stmts:
        match stmt:
            case Push():
                stack.append(TapeEntry(stmt))
            case Pop():
                pop(TapeEntry(stmt))
            case For() | While() | If():
                inner = [matched(block.stmts, meet) for block in blocks(stmt)]
                if any(part for part, _ in inner):
                    pop(TapeEntry(stmt, tuple(tuple(part) for part, _ in inner)))
                if any(part for _, part in inner):
                    stack.append(TapeEntry(stmt, tuple(tuple(part) for _, part in inner)))
    return taken, stack


def inside(pushed: TapeEntry, popped: TapeEntry) -> list[tuple[TapeEntry, TapeEntry]]:
    """Return matching pushes and pops in two loops or branches that mirror each other."""
    found: list[tuple[TapeEntry, TapeEntry]] = []
    if type(pushed.stmt) is type(popped.stmt):
        for some, others in zip(pushed.parts, popped.parts, strict=True):
            if len(some) == len(others):
                found += zip(reversed(some), others, strict=True)
    return found


def is_mirror(pushed: TapeEntry, popped: TapeEntry) -> bool:
    """Whether one pops what the other pushes, frame for frame, however often loops run."""
    a, b = pushed.stmt, popped.stmt
    match a, b:
        case Push(values=values), Pop(results=results):
            return [_kind(v.type) for v in values] == [_kind(v.type) for v in results]
        case For(), For():
            if a.down == b.down:
                return False
        case (While(), For()) | (If(), If()):
            pass
        case _:
            return False
    return all(
        len(some) == len(others)
        and all(is_mirror(*each) for each in zip(reversed(some), others, strict=True))
        for some, others in zip(pushed.parts, popped.parts, strict=True)
    )


def frames(pushed: TapeEntry, popped: TapeEntry) -> dict[Value, Operand]:
    """Map each popped value to the pushed one, of two entries that mirror each other."""
    if not is_mirror(pushed, popped):
        return {}
    if isinstance(pushed.stmt, Push) and isinstance(popped.stmt, Pop):
        return dict(zip(popped.stmt.results, pushed.stmt.values, strict=True))
    found: dict[Value, Operand] = {}
    for some, others in zip(pushed.parts, popped.parts, strict=True):
        for each in zip(reversed(some), others, strict=True):
            found.update(frames(*each))
    return found


def is_balanced(stmts: Sequence[Stmt]) -> bool:
    """Whether statements pop just what they push, however often loops run; calls are left out."""
    pairs: list[tuple[TapeEntry, TapeEntry]] = []
    taken, left = matched(stmts, lambda pushed, popped: pairs.append((pushed, popped)))
    if taken or left or not all(is_mirror(*pair) for pair in pairs):
        return False
    known: dict[Operand, Operand] = {}
    for pair in pairs:
        for popped, value in frames(*pair).items():
            known[popped] = value
    return all(_as_often(*pair, known) for pair in pairs)


def _as_often(pushed: TapeEntry, popped: TapeEntry, known: Mapping[Operand, Operand]) -> bool:
    """Whether loops that mirror each other run as often; `known` has what popped values are."""
    match pushed.stmt, popped.stmt:
        case For(trips=trips), For(trips=others):
            if known.get(others, others) != trips:
                return False
        case While(results=counts), For(trips=others):
            if known.get(others, others) not in counts:
                return False
    return all(
        _as_often(*each, known)
        for some, others in zip(pushed.parts, popped.parts, strict=True)
        for each in zip(reversed(some), others, strict=True)
    )


def uses(stmts: Sequence[Stmt]) -> tuple[bool, bool]:
    """Return whether statements take frames that they did not push, and whether they leave any."""
    taken, left = matched(stmts, lambda *_: None)
    return bool(taken), bool(left)


def _kind(ty: Type) -> tuple[str, int]:
    return ty.dtype, ty.rank
