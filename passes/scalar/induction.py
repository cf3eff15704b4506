"""Replace induction variables by expressions of the loop counter.

Before::

    %at.3 = for L %i in 0 to %n carrying (%at.1 = %at) {
      %v = load %x[%at.1]
      %at.2 = add %at.1 1
      yield %at.2
    }

After::

    for L %i in 0 to %n {
      %at.1 = add %at %i
      %v = load %x[%at.1]
    }
    %t = maximum %n 0
    %at.3 = add %at %t

So they are not loop-carried, reverse code need not store them, and index checks can be proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.core import Apply, Block, For, Function, Literal, Operand, Stmt, Value
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import INT
from adc.ir.walk import Names, loop_values, map_functions, map_stmts


def induction(fn: Function) -> Function:
    """Return `fn` without carried integers that the counters of their loops determine."""

    def done(each: Function) -> Function:
        return replace(each, body=tuple(_stmts(each.body, Names.of(each))))

    return map_functions(fn, done)


def _stmts(stmts: Sequence[Stmt], names: Names) -> list[Stmt]:
    done: list[Stmt] = []
    for stmt in stmts:
        after: list[Stmt] = []
        if isinstance(stmt, For) and not stmt.down:
            stmt, after = _loop(stmt, names)
        done.append(map_stmts(stmt, lambda stmts: _stmts(stmts, names)))
        done += after
    return done


def _loop(loop: For, names: Names) -> tuple[For, list[Stmt]]:
    inside = loop_values(loop)
    steps = {s.result: s for s in loop.body.stmts if isinstance(s, Apply) and len(s.results) == 1}
    before: list[Stmt] = []
    after: list[Stmt] = []
    gone: set[int] = set()
    for k, param in enumerate(loop.body.params):
        step = _step(loop, k, steps, inside)
        if step is None or loop.init[k].type != INT or loop.results[k].type != INT:
            continue
        gone.add(k)
        before += _grown(param, loop.init[k], loop.index, step, names)
        trips: Operand = loop.trips
        if isinstance(trips, Literal):
            trips = Literal(max(int(trips.value), 0), INT)
        else:
            clipped = Value(names.fresh("t"), INT)
            after.append(Apply((clipped,), OPS["maximum"], (trips, Literal(0, INT))))
            trips = clipped
        after += _grown(loop.results[k], loop.init[k], trips, step, names)
    if not gone:
        return loop, []
    stay = [k for k in range(len(loop.init)) if k not in gone]
    body = loop.body
    block = Block(
        tuple(body.params[k] for k in stay),
        (*before, *body.stmts),
        tuple(body.yields[k] for k in stay),
    )
    results = tuple(loop.results[k] for k in stay)
    init = tuple(loop.init[k] for k in stay)
    return replace(loop, results=results, init=init, body=block), after


def _step(loop: For, k: int, steps: dict[Value, Apply], inside: set[Value]) -> Operand | None:
    """Return the step of a carried integer if it is the same in every iteration."""
    param, following = loop.body.params[k], loop.body.yields[k]
    if param.type != INT or loop.trips.type != INT or not isinstance(following, Value):
        return None
    stmt = steps.get(following)
    match stmt:
        case Apply(op=op, args=(a, b)) if op is arith.add and (a == param) != (b == param):
            step = b if a == param else a
            return step if step not in inside and step.type == INT else None
        case Apply(op=op, args=(a, Literal(value=value))) if op is arith.sub and a == param:
            return Literal(-int(value), INT)
    return None


def _grown(
    result: Value, start: Operand, times: Operand, step: Operand, names: Names
) -> list[Stmt]:
    """Return statements that compute ``result = start + times * step``."""
    found: list[Stmt] = []
    if not (isinstance(step, Literal) and step.value == 1):
        product = Value(names.fresh("t"), INT)
        found.append(Apply((product,), OPS["mul"], (times, step)))
        times = product
    found.append(Apply((result,), OPS["add"], (start, times)))
    return found
