"""Lower the schedules of checkpointed loops to calls of the functions that compute them.

Until here they are operations of the IR, which `peak` knows; this is the last stage. ::

    %steps = split %left %room 80 40 0      %steps = call C0 adc.split_rec(0, %left, …)
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.builder import integer
from adc.ir.core import Apply, Block, Call, Function, Operand, Stmt, walk
from adc.ir.functions import reached
from adc.ir.library import schedules as functions
from adc.ir.walk import map_blocks


def schedules(fn: Function) -> Function:
    """Return `fn`, in its final form, with schedules as functions that it calls."""

    def is_schedule(stmt: Stmt) -> bool:
        return isinstance(stmt, Apply) and bool(stmt.op.routine)

    if not any(is_schedule(s) for each in (*fn.callees, fn) for s in walk(each.body)):
        return fn

    def block(found: Block) -> Block:
        return Block(found.params, tuple(map(stmt, found.stmts)), found.yields)

    def stmt(found: Stmt) -> Stmt:
        if isinstance(found, Apply) and found.op.routine:
            callee = functions()[found.op.routine]
            # Recursive functions keep their depth.
            depth: tuple[Operand, ...] = (integer(0),) * (len(callee.params) - len(found.args))
            label = f"{found.result.name}.call"
            return Call(found.results, label, callee.name, (*depth, *found.args), loc=found.loc)
        return map_blocks(found, block)

    known = {each.name for each in fn.callees}
    own = [each for each in functions().values() if each.name not in known]
    callees = [replace(each, body=tuple(map(stmt, each.body))) for each in fn.callees]
    return reached(replace(fn, body=tuple(map(stmt, fn.body)), callees=(*own, *callees)))


__all__ = ["schedules"]
