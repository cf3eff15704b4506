"""The schedules of checkpointed loops in compiled code: `ir.schedule`, lowered like a user's code.

They are operations of the IR until storage is done, and callees from there on.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from adc.frontend.lower import lower
from adc.ir import schedule
from adc.ir.builder import integer
from adc.ir.core import Apply, Block, Call, Function, Operand, Stmt, walk
from adc.ir.types import Array, Scalar
from adc.ir.walk import map_blocks, substitute_stmt
from adc.passes import pipeline, storage

_NAMES = {"split": "adc.split_rec", "sweeps": "adc.sweeps", "rest": "adc.rest"}


@functools.cache
def _lowered() -> tuple[Function, ...]:
    """Return `sweeps` and `rest`, and what both call, `split` among it."""
    own: dict[str, Function] = {}
    for code in (schedule.sweeps, schedule.rest):
        # NumPy's integers: what overflows is handled by the functions themselves.
        count = code.__code__.co_argcount
        types = dict.fromkeys(code.__code__.co_varnames[:count], Scalar("i64"))
        fn = lower(code, types, inline=False).fn
        fn = pipeline.run(fn, (*pipeline.PRIMAL, *pipeline.CLEANUP))
        fn = pipeline.run(fn, (("storage", storage.storage), *pipeline.BUFFERS))
        for each in _ours(fn):
            assert own.setdefault(each.name, each) == each
    return tuple(own.values())


@functools.cache
def library() -> tuple[Function, ...]:
    """Return `placed`, and what it calls, in value form."""
    number, numbers = Scalar("i64"), Array("i64", 1)
    types = {"t": number, "count": number, "steps": numbers, "queue": numbers}
    fn = _closed(lower(schedule.placed, types, inline=False).fn)
    fn = pipeline.run(fn, pipeline.PRIMAL)
    return _ours(fn)


def _closed(fn: Function) -> Function:
    """Return a function with the constants that it reads in place of parameters."""
    env = {
        param: integer(getattr(schedule, name))
        for param in fn.params
        if (name := param.name.partition(".")[0]).isupper()
    }
    params = tuple(param for param in fn.params if param not in env)
    body = tuple(substitute_stmt(stmt, env) for stmt in fn.body)
    return replace(fn, params=params, body=body)


def _ours(fn: Function) -> tuple[Function, ...]:
    """Return a function and its callees under names that no user's function has."""

    def block(found: Block) -> Block:
        return Block(found.params, stmts(found.stmts), found.yields)

    def stmts(found: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(stmt, found))

    def stmt(found: Stmt) -> Stmt:
        # Where it stands in adc's own files is nobody's concern.
        found = replace(found, loc=None)
        if isinstance(found, Call):
            found = replace(found, callee=f"adc.{found.callee}")
        return map_blocks(found, block)

    return tuple(
        replace(each, name=f"adc.{each.name}", body=stmts(each.body), callees=())
        for each in (*fn.callees, fn)
    )


def with_schedules(fn: Function) -> Function:
    """Return a function whose schedules are functions that it calls."""

    def is_schedule(stmt: Stmt) -> bool:
        return isinstance(stmt, Apply) and stmt.op.name in _NAMES

    if not any(is_schedule(s) for each in (*fn.callees, fn) for s in walk(each.body)):
        return fn

    def block(found: Block) -> Block:
        return Block(found.params, tuple(map(stmt, found.stmts)), found.yields)

    own = {each.name: each for each in _lowered()}

    def stmt(found: Stmt) -> Stmt:
        if isinstance(found, Apply) and found.op.name in _NAMES:
            callee = own[_NAMES[found.op.name]]
            args = _arguments(callee, found.args)
            label = f"{found.result.name}.call"
            return Call(found.results, label, callee.name, args, loc=found.loc)
        return map_blocks(found, block)

    callees = [replace(each, body=tuple(map(stmt, each.body))) for each in fn.callees]
    return replace(fn, body=tuple(map(stmt, fn.body)), callees=(*own.values(), *callees))


def _arguments(callee: Function, args: Sequence[Operand]) -> tuple[Operand, ...]:
    """Return the arguments of a call: also how deep it is, and the constants that it reads."""
    rest = iter(args)
    found: list[Operand] = []
    for param in callee.params:
        name = param.name.partition(".")[0]
        if name == "depth":
            found.append(integer(0))
        elif name.isupper():
            found.append(integer(getattr(schedule, name)))
        else:
            found.append(next(rest))
    return tuple(found)


__all__ = ["with_schedules"]
