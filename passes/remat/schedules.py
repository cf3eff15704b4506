"""Lower the schedules of checkpointed loops to calls of the functions that compute them.

Until here they are operations of the IR, which `peak` knows; this is the last stage. ::

    %steps = split %left %room 80 40 0      %steps = call C0 adc.split0_fn(%left, …)
    %start = offset %done %n
    %i = add %start %q                      %i = add %done %q
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.core import Apply, Block, Call, Function, Operand, Stmt, Value, walk
from adc.ir.functions import reached
from adc.ir.library import schedules as functions
from adc.ir.ops import integer as integer_ops
from adc.ir.walk import map_blocks, map_operands, substitute


def schedules(fn: Function) -> Function:
    """Return `fn`, in its final form, with schedules as functions that it calls."""
    if not any(
        isinstance(s, Apply) and s.op.routine for each in (*fn.callees, fn) for s in walk(each.body)
    ):
        return fn
    known = {each.name for each in fn.callees}
    own = [each for each in functions().values() if each.name not in known]
    callees = tuple(map(_lowered, fn.callees))
    return reached(replace(_lowered(fn), callees=(*own, *callees)))


def _lowered(fn: Function) -> Function:
    """Return one function with calls; another one may have the same names for other values."""
    names: dict[Value, Operand] = {}
    for each in walk(fn.body):
        if isinstance(each, Apply) and each.op is integer_ops.offset:
            names[each.result] = substitute(each.args[0], names)

    def block(found: Block) -> Block:
        stmts = [stmt(each) for each in found.stmts if names.keys().isdisjoint(each.results)]
        yields = tuple(substitute(each, names) for each in found.yields)
        return Block(found.params, tuple(stmts), yields)

    def stmt(found: Stmt) -> Stmt:
        found = map_operands(found, lambda operand: substitute(operand, names))
        if isinstance(found, Apply) and found.op.routine:
            callee = functions()[found.op.routine]
            label = f"{found.result.name}.call"
            return Call(found.results, label, callee.name, found.args, loc=found.loc)
        return map_blocks(found, block)

    done = block(Block((), fn.body, fn.results))
    return replace(fn, body=done.stmts, results=done.yields)


__all__ = ["schedules"]
