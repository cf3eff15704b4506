"""Turn `while` loops that count into `for` loops, whose trip counts are known before them.

Before::

    %k.3, %x.8 = while W0 carrying (%k = 0, %x.1 = %x) {
      %t = lt %k %n
      %x.7, %k.2 = if %t {
        …
        %t.4 = add %k 1
        yield %x.6 %t.4
      } else {
        yield %x.1 %k
      }
      again %t %k.2 %x.7
    }

After::

    %n.1 = trips 0 %n 1
    %k.3, %x.8 = for L0 %i in 0 to %n.1 carrying (%k = 0, %x.1 = %x) {
      …
      %t.4 = add %k 1
      yield %t.4 %x.6
    }

Then they are fused, vectorized and checkpointed as others are, their tapes have known sizes, and
lists that they append to have room (`reserve`). Loops that are left in another way, whose limit
changes, or that count in another type than integers are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir import ops
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Literal,
    Operand,
    Stmt,
    Value,
    While,
    operands,
    walk,
)
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.types import BOOL, INT
from adc.ir.walk import (
    Names,
    loop_values,
    map_functions,
    map_stmts,
    substitute_block,
    use_counts,
)

# The comparison that holds when the operands are the other way round.
_TURNED = {arith.lt: arith.gt, arith.le: arith.ge, arith.gt: arith.lt, arith.ge: arith.le}
# What is added to a limit so that it is the end of a range.
_END = {arith.lt: 0, arith.le: 1, arith.gt: 0, arith.ge: -1}


def counted(fn: Function) -> Function:
    """Return `fn` with `for` loops in place of `while` loops that count up or down to a limit."""

    def done(each: Function) -> Function:
        if not any(isinstance(stmt, While) for stmt in walk(each.body)):
            return each
        return replace(each, body=_stmts(each.body, Names.of(each), use_counts(each)))

    return map_functions(fn, done)


def _stmts(stmts: Sequence[Stmt], names: Names, uses: Mapping[Value, int]) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in stmts:
        stmt = map_stmts(stmt, lambda inner: _stmts(inner, names, uses))
        found += (isinstance(stmt, While) and _loop(stmt, names, uses)) or (stmt,)
    return tuple(found)


def _loop(loop: While, names: Names, uses: Mapping[Value, int]) -> list[Stmt] | None:
    """Return statements with a `for` loop that does the same, if a loop only counts."""
    *head, branch = loop.body.stmts or (None,)
    again, *carried = loop.body.yields
    if not isinstance(branch, If) or branch.cond != again or branch.orelse.stmts:
        return None
    # Where no iteration is left, everything stays as it is, but for what nothing reads.
    after: list[Operand] = []
    left = dict(zip(branch.results, branch.orelse.yields, strict=True))
    new = dict(zip(branch.results, branch.then.yields, strict=True))
    for param, value, result in zip(loop.body.params, carried, loop.results, strict=True):
        if not isinstance(value, Value) or (left.get(value, value) != param and uses.get(result)):
            return None
        after.append(new.get(value, value))
    before, tests = _split(head, loop_values(loop))
    if len(tests) != 1 or tests[0].results != (again,):
        return None
    steps = {
        param: step
        for param, value in zip(loop.body.params, after, strict=True)
        if (step := _step(param, value, branch.then.stmts))
    }
    counts = _range(tests[0], steps, loop_values(loop) - _results(before))
    if counts is None:
        return None
    counter, limit, more = counts
    start, step = loop.init[loop.body.params.index(counter)], steps[counter]
    if more:
        end = Value(names.fresh("n"), INT)
        before.append(Apply((end,), arith.add, (limit, integer(more)), (), loop.loc))
        limit = end
    trips = Value(names.fresh("n"), INT)
    before.append(Apply((trips,), ops.integer.trips, (start, limit, integer(step)), (), loop.loc))
    body = Block(loop.body.params, branch.then.stmts, tuple(after))
    if isinstance(again, Value):
        body = substitute_block(body, {again: Literal(True, BOOL)})
    index = Value(names.fresh("i"), INT)
    made = For(loop.results, names.fresh("L0"), index, trips, loop.init, body, loc=loop.loc)
    return [*before, made]


def _results(stmts: Sequence[Stmt]) -> set[Value]:
    return {value for stmt in stmts for value in stmt.results}


def _split(head: Sequence[Stmt], inside: set[Value]) -> tuple[list[Stmt], list[Apply]]:
    """Return statements in front of the branch that are the same each time, and the others.

    They are run before the first iteration in any case.
    """
    before: list[Stmt] = []
    tests: list[Apply] = []
    for stmt in head:
        if not isinstance(stmt, Apply | Check):
            return [], []
        if inside.difference(_results(before)).isdisjoint(operands(stmt)):
            before.append(stmt)
        elif isinstance(stmt, Apply):
            tests.append(stmt)
        else:
            return [], []
    return before, tests


def _step(param: Value, after: Operand, stmts: Sequence[Stmt]) -> int:
    """Return what each iteration adds to an integer; 0 if that is not known."""
    stmt = next((each for each in stmts if after in each.results), None)
    if param.type != INT or not isinstance(stmt, Apply) or len(stmt.args) != 2:
        return 0
    a, b = stmt.args
    if stmt.op is arith.add and isinstance(a, Literal):
        a, b = b, a
    if a != param or not isinstance(b, Literal) or stmt.op not in (arith.add, arith.sub):
        return 0
    return int(b.value) if stmt.op is arith.add else -int(b.value)


def _range(
    test: Apply, steps: Mapping[Value, int], inside: set[Value]
) -> tuple[Value, Operand, int] | None:
    """Return the integer that is counted, its limit, and what the end of a range is beyond it."""
    op: OpDef = test.op
    if op not in _TURNED:
        return None
    a, b = test.args
    if a not in steps:
        a, b, op = b, a, _TURNED[op]
    if not isinstance(a, Value) or a not in steps or b in inside or b.type != INT:
        return None
    up = op in (arith.lt, arith.le)
    return (a, b, _END[op]) if (steps[a] > 0) == up else None


__all__ = ["counted"]
