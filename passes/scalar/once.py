"""Replace a loop of which at most one iteration has an effect by that iteration.

Before::

    %a.1 = for L %i in 0 to %n carrying (%a = %a.0) {
      %hit = eq %i %k
      %a.2 = if %hit {
        %b = store %a[%i] %x
        yield %b
      } else {
        yield %a
      }
      yield %a.2
    }

After::

    %t = inside %k %n
    %a.1 = if %t {
      %b = store %a.0[%k] %x
      yield %b
    } else {
      yield %a.0
    }

The other iterations must not push to or pop from the tape, nor check anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.core import Apply, Block, For, Function, If, Literal, Load, Operand, Stmt, Value
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import BOOL, INT
from adc.ir.walk import Names, loop_values, map_functions, map_stmts, substitute_block


def once(fn: Function) -> Function:
    """Return `fn`, which has no Recalls, with iterations in place of loops."""
    return map_functions(fn, _once)


def _once(fn: Function) -> Function:
    names = Names.of(fn)

    def stmts(found: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in found:
            stmt = map_stmts(stmt, stmts)
            hit = _hit(stmt) if isinstance(stmt, For) else None
            if isinstance(stmt, For) and hit is not None:
                done += _iteration(stmt, hit, names)
            else:
                done.append(stmt)
        return tuple(done)

    return replace(fn, body=stmts(fn.body))


def _hit(loop: For) -> Apply | None:
    """Return the comparison that holds only in the iteration that has an effect."""
    if not loop.body.params or not all(
        isinstance(stmt, Apply | Load | If) for stmt in loop.body.stmts
    ):
        return None
    inside = loop_values(loop)
    for stmt in loop.body.stmts:
        if isinstance(stmt, Apply) and stmt.op is arith.eq and loop.index in stmt.args:
            others = [arg for arg in stmt.args if arg != loop.index]
            if len(others) == 1 and others[0] not in inside and others[0].type == INT:
                if _is_idle(loop, stmt.result):
                    return stmt
    return None


def _is_idle(loop: For, hit: Value) -> bool:
    """Whether an iteration yields its carried values unchanged where a comparison fails."""
    body = loop.body
    same: dict[Operand, Operand] = {}

    def now(operand: Operand) -> Operand:
        return same.get(operand, operand)

    for stmt in body.stmts:
        match stmt:
            case Apply(op=op, args=(cond, _, other)) if op is arith.select and cond == hit:
                same[stmt.result] = now(other)
            case If(results=results, cond=cond, orelse=orelse) if cond == hit:
                if orelse.stmts:
                    return False
                same.update(zip(results, map(now, orelse.yields), strict=True))
            case If():
                return False
    return tuple(map(now, body.yields)) == body.params


def _iteration(loop: For, hit: Apply, names: Names) -> list[Stmt]:
    """Return the one iteration of a loop, if there is one."""
    (which,) = (arg for arg in hit.args if arg != loop.index)
    there = Value(names.fresh("t"), BOOL)
    test = Apply((there,), OPS["inside"], (which, loop.trips), (), loop.loc)
    rest = tuple(stmt for stmt in loop.body.stmts if stmt is not hit)
    env: dict[Value, Operand] = {
        loop.index: which,
        hit.result: Literal(True, BOOL),
        **dict(zip(loop.body.params, loop.init, strict=True)),
    }
    then = substitute_block(Block((), rest, loop.body.yields), env)
    return [test, If(loop.results, there, then, Block((), (), loop.init), loop.loc)]


__all__ = ["once"]
