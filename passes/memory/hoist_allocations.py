"""Hoist allocations out of inner loops.

    for L %i in 0 to %n {                 for L %i in 0 to %n {
      for M %j in 0 to %m {                 %a = empty[f64] %d
        %a = empty[f64] %d                  for M %j in 0 to %m {
        …                                     …
      }                                     }
    }                                     }

Taking memory from the workspace is cheap, but not compared to a loop over a few elements. The
allocation must be possible even if the loop does not run, so its sizes must be sizes of arrays, or
the minimum of two of these. Outermost loops are left alone, as the arrays would live until the
function ends. So are parallel loops: each thread has private arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.memory.escape import escaping
from adc.ir.core import Apply, Block, For, Function, If, Literal, Stmt, Value, While, walk
from adc.ir.ops import arith


class _Hoister:
    def __init__(self, fn: Function) -> None:
        self._escaping = escaping(fn)
        self._sizes: set[Value] = set()
        for stmt in walk(fn.body):
            if isinstance(stmt, Apply) and (
                stmt.op.asks_shape or (stmt.op is arith.minimum and set(stmt.args) <= self._sizes)
            ):
                self._sizes.add(stmt.result)

    def stmts(self, stmts: Sequence[Stmt], depth: int) -> list[Stmt]:
        """Return the statements of a block at loop depth `depth`."""
        out: list[Stmt] = []
        for stmt in stmts:
            match stmt:
                case If(then=then, orelse=orelse):
                    then, orelse = self.block(then, depth), self.block(orelse, depth)
                    out.append(replace(stmt, then=then, orelse=orelse))
                case For(body=body) | While(body=body):
                    body = self.block(body, depth + 1)
                    if depth and not (isinstance(stmt, For) and stmt.parallel):
                        hoisted, body = self._hoist(body)
                        out += hoisted
                    out.append(replace(stmt, body=body))
                case _:
                    out.append(stmt)
        return out

    def block(self, block: Block, depth: int) -> Block:
        return Block(block.params, tuple(self.stmts(block.stmts, depth)), block.yields)

    def _hoist(self, body: Block) -> tuple[list[Stmt], Block]:
        """Return the allocations of a loop's body that can move in front of it, and the rest."""
        inside = {value for stmt in body.stmts for value in stmt.results}
        hoisted = [
            stmt
            for stmt in body.stmts
            if isinstance(stmt, Apply)
            and stmt.op.reserves
            and stmt.result not in self._escaping
            and all(
                isinstance(size, Literal) or (size in self._sizes and size not in inside)
                for size in stmt.args
            )
        ]
        rest = tuple(stmt for stmt in body.stmts if stmt not in hoisted)
        return list(hoisted), Block(body.params, rest, body.yields)


def hoist_allocations(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with arrays allocated outside of inner loops."""
    callees = tuple(hoist_allocations(each) for each in fn.callees)
    return replace(fn, body=tuple(_Hoister(fn).stmts(fn.body, 0)), callees=callees)
