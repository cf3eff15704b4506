"""Arrays that every iteration of an inner loop makes anew are made once, before the loop.

    for L %i in 0 to %n {                 for L %i in 0 to %n {
      for M %j in 0 to %m {                 %a = empty[f64] %d
        %a = empty[f64] %d                  for M %j in 0 to %m {
        …                                     …
      }                                     }
    }                                     }

Taking memory from the workspace is cheap, but not beside a loop over a few elements. Only sizes of
arrays (or the lesser of two) are taken for sizes of arrays that can be had although the loop might
not run. A loop that lies in no other is left alone, as its arrays would live until the function
ends. So is a parallel one: each thread has arrays of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.memory.escape import escaping
from adc.ir.core import Apply, Block, For, Function, If, Literal, Stmt, Value, While, walk
from adc.ir.ops import arith


class _Lifter:
    def __init__(self, fn: Function) -> None:
        self._escaping = escaping(fn)
        self._sizes: set[Value] = set()
        for stmt in walk(fn.body):
            if isinstance(stmt, Apply) and (
                stmt.op.asks_shape or (stmt.op is arith.minimum and set(stmt.args) <= self._sizes)
            ):
                self._sizes.add(stmt.result)

    def stmts(self, stmts: Sequence[Stmt], depth: int) -> list[Stmt]:
        """Return the statements of a block inside so many loops."""
        out: list[Stmt] = []
        for stmt in stmts:
            match stmt:
                case If(then=then, orelse=orelse):
                    then, orelse = self.block(then, depth), self.block(orelse, depth)
                    out.append(replace(stmt, then=then, orelse=orelse))
                case For(body=body) | While(body=body):
                    body = self.block(body, depth + 1)
                    if depth and not (isinstance(stmt, For) and stmt.parallel):
                        lifted, body = self._lift(body)
                        out += lifted
                    out.append(replace(stmt, body=body))
                case _:
                    out.append(stmt)
        return out

    def block(self, block: Block, depth: int) -> Block:
        return Block(block.params, tuple(self.stmts(block.stmts, depth)), block.yields)

    def _lift(self, body: Block) -> tuple[list[Stmt], Block]:
        """Return the arrays of a loop's body that can be made before the loop, and the rest."""
        inside = {value for stmt in body.stmts for value in stmt.results}
        lifted = [
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
        rest = tuple(stmt for stmt in body.stmts if stmt not in lifted)
        return list(lifted), Block(body.params, rest, body.yields)


def hoist_allocations(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with arrays made outside of inner loops."""
    callees = tuple(hoist_allocations(each) for each in fn.callees)
    return replace(fn, body=tuple(_Lifter(fn).stmts(fn.body, 0)), callees=callees)
