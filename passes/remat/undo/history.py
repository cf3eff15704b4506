"""Describe how a loop changes its carried values, as steps that can be inverted (`undo`).

An array is changed by stores of elements, a number by updates such as ``%at.1 = add %at %width``;
both by branches and loops of such steps. Anything else is `Stuck`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.core import Apply, For, If, Literal, Operand, Stmt, Store, Value, While, walk
from adc.ir.ops import arith
from adc.ir.types import Array
from adc.ir.walk import carried_yields, stmt_reads


class Stuck(Exception):
    """A carried value is changed by something else, or is not reversed as a whole."""

    def __init__(self, stmt: Stmt | None = None) -> None:
        super().__init__()
        self.stmt = stmt


@dataclass(frozen=True)
class Update:
    """A number that is computed from its version `before` by an invertible operation."""

    stmt: Apply
    before: Value

    @property
    def inverse(self) -> tuple[str, tuple[Operand | None, ...]]:
        found = inverse(self.stmt, self.before, rounding=True)
        assert found is not None
        return found


@dataclass(frozen=True)
class Branch:
    """Steps under a branch; `before` is the version in front of it."""

    stmt: If
    result: Value
    arms: tuple[list[Step], list[Step]]
    before: Value


@dataclass(frozen=True)
class Nest:
    """A loop that carries a value in a slot, and the steps of its body, the last first."""

    loop: For | While
    slot: int
    steps: list[Step]


Step = Store | Update | Branch | Nest


def stores(steps: Sequence[Step]) -> list[Store]:
    """Return the stores in steps, nested ones included."""
    found: list[Store] = []
    for step in steps:
        match step:
            case Store():
                found.append(step)
            case Branch(arms=arms):
                found += [store for arm in arms for store in stores(arm)]
            case Nest(steps=inner):
                found += stores(inner)
    return found


def result_of(step: Step) -> Value:
    """Return the version that a step makes."""
    match step:
        case Store(result=result) | Branch(result=result):
            return result
        case Update(stmt=stmt):
            return stmt.result
        case Nest(loop=loop, slot=slot):
            return loop.results[slot]


class History:
    """The histories of the values that the loops of a function carry.

    `rounding`: also of floats, which are restored inexactly.
    """

    def __init__(self, defs: Mapping[Value, Stmt], *, rounding: bool = False) -> None:
        self.defs = defs
        self.rounding = rounding
        self._versions: dict[tuple[Value, Value], bool] = {}

    def nest(self, loop: For | While, slot: int) -> Nest:
        """Return the steps by which a loop changes the value that it carries in a slot.

        Raises
        ------
        Stuck
            If they cannot be inverted.
        """
        goal = loop.body.params[slot]
        steps, first = self.steps(carried_yields(loop)[slot], loop.body.stmts, goal)
        if first != goal:
            raise Stuck(loop)
        return Nest(loop, slot, steps)

    def steps(
        self, value: Operand, stmts: Sequence[Stmt], goal: Value
    ) -> tuple[list[Step], Operand]:
        """Return the steps that made a version in a block, the last first, and their start."""
        made = {result: stmt for stmt in stmts for result in stmt.results}
        found: list[Step] = []
        while isinstance(value, Value) and value in made:
            match stmt := made[value]:
                case Store(array=value):
                    found.append(stmt)
                case Apply() if not isinstance(value.type, Array):
                    found.append(step := self.update(stmt, goal))
                    value = step.before
                case If(results=results, then=then, orelse=orelse):
                    k = results.index(value)
                    (one, a), (other, b) = (
                        self.steps(arm.yields[k], arm.stmts, goal) for arm in (then, orelse)
                    )
                    nests = any(isinstance(step, Nest) for step in (*one, *other))
                    if a != b or nests or not isinstance(a, Value):
                        raise Stuck(stmt)
                    if one or other:
                        found.append(Branch(stmt, value, (one, other), a))
                    value = a
                case For(results=results) | While(results=results):
                    nest = self.nest(stmt, results.index(value))
                    if nest.steps:
                        found.append(nest)
                    value = stmt.init[nest.slot]
                case _:
                    raise Stuck(stmt)
        return found, value

    def update(self, stmt: Apply, goal: Value) -> Update:
        for arg in stmt.args:
            if isinstance(arg, Value) and self.inverse(stmt, arg) and self.is_version(arg, goal):
                return Update(stmt, arg)
        raise Stuck(stmt)

    def inverse(self, stmt: Apply, before: Value) -> tuple[str, tuple[Operand | None, ...]] | None:
        return inverse(stmt, before, rounding=self.rounding)

    def updates(self, value: Operand, goal: Value) -> list[Update] | None:
        """Return the updates that make a value of another one, the last first, if any do."""
        found: list[Update] = []
        while value != goal:
            stmt = self.defs.get(value) if isinstance(value, Value) else None
            if not isinstance(stmt, Apply) or not self.is_version(value, goal):
                return None
            found.append(self.update(stmt, goal))
            value = found[-1].before
        return found

    def is_version(self, value: Operand, goal: Value) -> bool:
        """Whether a value, in any block, is a version of a loop-carried one."""
        if not isinstance(value, Value) or value == goal:
            return value == goal
        key = value, goal
        if key not in self._versions:
            self._versions[key] = False
            self._versions[key] = self._is_version(value, goal)
        return self._versions[key]

    def _is_version(self, value: Value, goal: Value) -> bool:
        match stmt := self.defs.get(value):
            case Apply(args=args):
                return any(
                    isinstance(arg, Value)
                    and self.inverse(stmt, arg) is not None
                    and self.is_version(arg, goal)
                    for arg in args
                )
            case If(results=results, then=then, orelse=orelse):
                k = results.index(value)
                return all(self.is_version(arm.yields[k], goal) for arm in (then, orelse))
            case For(results=results, init=init) | While(results=results, init=init):
                return self.is_version(init[results.index(value)], goal)
        return False

    def depends(self, value: Value, goal: Value) -> bool:
        """Whether computing a value needs another one, which a loop around it carries."""
        return reaches(value, self.defs, lambda each, _: each == goal)


def reaches(
    value: Value,
    defs: Mapping[Value, Stmt],
    found: Callable[[Value, Stmt | None], bool | Sequence[Operand]],
) -> bool:
    """Whether computing a value needs one for which `found` is true.

    `found` may also return the operands to which the search is limited.
    """
    waiting, seen = [value], {value}
    while waiting:
        each = waiting.pop()
        stmt = defs.get(each)
        hit = found(each, stmt)
        if hit is True:
            return True
        if hit is not False:
            more = {operand for operand in hit if isinstance(operand, Value)}
        elif stmt is None:
            continue
        else:
            more = stmt_reads(stmt)
            # The operands of a branch or loop are needed to recompute it.
            more.update(result for s in walk((stmt,)) if s is not stmt for result in s.results)
        waiting += more - seen
        seen |= more
    return False


def inverse(
    stmt: Apply, before: Value, *, rounding: bool = False
) -> tuple[str, tuple[Operand | None, ...]] | None:
    """Return the operation that gives an operand of an update, and its operands.

    None among them stands for the result of the update. With `rounding`, floats are restored
    inexactly; division inverts only a factor that is a literal.
    """
    op, args = stmt.op, stmt.args
    kind = stmt.result.type.kind
    if not op.inverse or kind not in ("iuf" if rounding else "iu"):
        return None
    # Integers wrap around in both directions.
    if args.count(before) > 1 or any(arg.type.dtype != stmt.result.type.dtype for arg in args):
        return None
    at = args.index(before)
    others = tuple(arg for k, arg in enumerate(args) if k != at)
    if op in (arith.mul, arith.truediv):
        if kind != "f" or not all(isinstance(arg, Literal) and arg.value for arg in others):
            return None
        if not all(isinstance(arg, Literal) and math.isfinite(arg.value) for arg in others):
            return None
    back = op.inverse[at]
    if op is arith.sub and at == 1:
        return "sub", (args[0], None)
    return None if back is None else (back, (None, *others))


__all__ = [
    "Branch", "History", "Nest", "Step", "Stuck", "Update", "inverse", "reaches", "result_of",
    "stores",
]  # fmt: skip
