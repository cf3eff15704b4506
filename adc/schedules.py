"""The schedules of checkpointed loops in compiled code: `ir.schedule`, lowered like a user's code.

They are operations of the IR until storage is done, and callees from there on.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from adc.frontend.lower import lower
from adc.ir import schedule
from adc.ir.core import Apply, Block, Call, Function, Stmt, walk
from adc.ir.types import INT
from adc.ir.walk import map_blocks
from adc.passes import pipeline, storage

_NAMES = ("split", "sweeps")


@functools.cache
def _lowered(name: str) -> Function:
    code = getattr(schedule, name)
    count = code.__code__.co_argcount
    fn = lower(code, dict.fromkeys(code.__code__.co_varnames[:count], INT)).fn
    fn = pipeline.run(fn, (*pipeline.PRIMAL, *pipeline.CLEANUP))
    return pipeline.run(fn, (("storage", storage.storage), *pipeline.BUFFERS))


def with_schedules(fn: Function) -> Function:
    """Return a function whose schedules are functions that it calls."""
    used = {
        stmt.op.name
        for each in (*fn.callees, fn)
        for stmt in walk(each.body)
        if isinstance(stmt, Apply) and stmt.op.name in _NAMES
    }
    if not used:
        return fn

    def stmts(found: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(stmt, found))

    def stmt(found: Stmt) -> Stmt:
        if isinstance(found, Apply) and found.op.name in used:
            label = f"{found.result.name}.call"
            return Call(found.results, label, found.op.name, found.args, loc=found.loc)
        return map_blocks(found, lambda b: Block(b.params, stmts(b.stmts), b.yields))

    callees = tuple(replace(each, body=stmts(each.body)) for each in fn.callees)
    own = tuple(replace(_lowered(name), name=name) for name in sorted(used))
    return replace(fn, body=stmts(fn.body), callees=(*own, *callees))
