"""Numbers that a loop counts: how many elements a mask selects, how long a list is.

They are at most what they begin with and what each iteration adds. (`growth`) ::

    for L %i in 0 to %n carrying (%k.1 = 0) {       # %k is at most n, and so is %k.1
      %k.2 = if %chosen { yield %k.1 + 1 } else { yield %k.1 }
      yield %k.2
    }

A loop that a counter ends has at most one iteration more than the counter counts: the last one
finds that it has ended. (`limit`) ::

    while W carrying (%i.1 = 0) {                   # at most n + 1
      %more = lt %i.1 %n
      %i.2, %again = if %more { …, yield %i.1 + 1, %found } else { yield %i.1, false }
      again %again %i.2
    }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.analysis.sizes.formulas import ONE, ZERO, Function, Sum
from adc.ir.core import Apply, If, Literal, Operand, Stmt, Value, While, walk
from adc.ir.ops import arith, integer
from adc.ir.types import BOOL
from adc.ir.walk import inner_values


@dataclass(frozen=True)
class Growth:
    """What an iteration makes of a number: at most `each` more, or at most `anew`."""

    each: Sum
    anew: Sum

    def limit(self, init: Sum, trips: Sum) -> Sum:
        """Return what the number is at most in so many iterations."""
        return init.max(self.anew) + trips.count() * self.each


def growth(after: Sum, before: Sum, name: str, most: Callable[[Sum], Sum | None]) -> Growth | None:
    """Return what an iteration makes of a number; None if it may become negative, or anything.

    Parameters
    ----------
    after, before : Sum
        The number after an iteration, and before it, which has a `name` and is not negative.
    name : str
    most : callable
        Returns what a formula is at most in any iteration, or None.
    """
    rest = after - before
    for whole, each in ((after, False), (rest, True)):
        if name not in whole.names:
            limit = most(whole) if whole.is_size() else None
            if limit is None:
                return None
            return Growth(limit, ZERO) if each else Growth(ZERO, limit)
    match after.terms:
        case ((((Function(kind="if" | "max" as kind) as made),), 1),):
            arms = [growth(arm, before, name, most) for arm in made.args[kind == "if" :]]
            found = [arm for arm in arms if arm is not None]
            if len(found) == len(arms):
                first, *others = found
                return Growth(
                    first.each.max(*(other.each for other in others)),
                    first.anew.max(*(other.anew for other in others)),
                )
    return None


def limit(loop: While, number: Callable[[Operand], Sum]) -> Sum | None:
    """Return what the iterations of a loop are at most; None if no counter ends it.

    `number` returns the formula of an integer from outside the loop.
    """
    body = loop.body
    again, *carried = body.yields
    inside = {value for stmt in walk((loop,)) for value in (*stmt.results, *inner_values(stmt))}

    def ends(test: Operand) -> bool:
        """Whether the loop ends where a test fails."""
        known: dict[Operand, Operand] = {test: Literal(False, BOOL)}
        _follow(body.stmts, known)
        found = known.get(again, again)
        return isinstance(found, Literal) and not found.value

    for stmt in body.stmts:
        match stmt:
            case Apply(op=arith.lt | arith.le as op, args=(Value() as counter, most)):
                pass
            case Apply(op=arith.gt | arith.ge as op, args=(most, Value() as counter)):
                pass
            case _:
                continue
        if counter not in body.params or most in inside or counter.type.kind != "i":
            continue
        k = body.params.index(counter)
        if ends(stmt.result) and _rises(carried[k], counter, body.stmts, ends):
            last = number(most) - number(loop.init[k])
            return (last + ONE if op in (arith.le, arith.ge) else last).count() + ONE
    return None


def counter_of(loop: While) -> Value | None:
    """Return the result of a loop that counts all its iterations."""
    for param, init, after, result in zip(
        loop.body.params, loop.init, loop.body.yields[1:], loop.results, strict=True
    ):
        made = next((s for s in loop.body.stmts if after in s.results), None)
        if init == Literal(0, param.type) and isinstance(made, Apply) and made.op is arith.add:
            if made.args == (param, Literal(1, param.type)):
                return result
    return None


def _rises(
    after: Operand, before: Value, stmts: Sequence[Stmt], ends: Callable[[Operand], bool]
) -> bool:
    """Whether a number is more after some statements than before, unless the loop `ends`."""
    made = next((stmt for stmt in stmts if after in stmt.results), None)
    match made:
        case Apply(op=arith.add, args=(first, second)):
            step = second if first == before else first if second == before else before
            return isinstance(step, Literal) and step.value > 0
        case If():
            at = made.results.index(after)
            arms = [made.then] if ends(made.cond) else [made.then, made.orelse]
            return all(_rises(arm.yields[at], before, arm.stmts, ends) for arm in arms)
    return False


def _follow(stmts: Sequence[Stmt], known: dict[Operand, Operand]) -> None:
    """Note what follows from known truth values and numbers."""
    for stmt in stmts:
        if isinstance(stmt, If):
            cond = known.get(stmt.cond, stmt.cond)
            if isinstance(cond, Literal):
                arm = stmt.then if cond.value else stmt.orelse
                _follow(arm.stmts, known)
                for result, found in zip(stmt.results, arm.yields, strict=True):
                    known[result] = known.get(found, found)
        elif isinstance(stmt, Apply) and stmt.result not in known:
            value = _value(stmt, known)
            if value is not None:
                known[stmt.result] = Literal(value, stmt.result.type)


def _value(stmt: Apply, known: Mapping[Operand, Operand]) -> bool | None:
    """Return a truth value, if what is known says it."""
    args = [known.get(arg, arg) for arg in stmt.args]
    values = [arg.value if isinstance(arg, Literal) else None for arg in args]
    if stmt.op is integer.logical_and:
        return False if False in values else True if None not in values else None
    if stmt.op is integer.logical_or:
        return True if True in values else False if None not in values else None
    if stmt.op is arith.eq and None not in values:
        return bool(values[0] == values[1])
    return None


__all__ = ["Growth", "counter_of", "growth", "limit"]
