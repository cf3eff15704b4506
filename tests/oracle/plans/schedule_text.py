"""What `adc/ir/schedule.ir` is made of: `adc.ir.schedule`, lowered like a user's code."""

from __future__ import annotations

from dataclasses import replace

from adc.frontend.entry import lower
from adc.ir import schedule
from adc.ir.builder import integer
from adc.ir.core import Block, Call, Function, Stmt
from adc.ir.types import Array, Scalar
from adc.ir.walk import map_blocks, substitute_stmt
from adc.passes import pipeline
from adc.passes.stages import run

# NumPy's integers: what overflows is handled by the functions themselves.
_NUMBER, _NUMBERS = Scalar("i64"), Array("i64", 1)


def text() -> str:
    """Return `sweeps`, whose callees are all other functions that compiled code may call."""
    found: dict[str, Function] = {}
    for code in (schedule.sweeps, schedule.rest, schedule.placed):
        names = code.__code__.co_varnames[: code.__code__.co_argcount]
        types = {name: _NUMBERS if name in ("steps", "queue") else _NUMBER for name in names}
        fn = run(_closed(lower(code, types, inline=False).fn), pipeline.PRIMAL)
        for each in (*fn.callees, fn):
            own = _ours(each)
            assert found.setdefault(own.name, own) == own
    main = found.pop("adc.sweeps")
    return str(replace(main, callees=tuple(found.values())))


def _closed(fn: Function) -> Function:
    """Return functions with the constants that they read in place of parameters."""
    every = (*fn.callees, fn)
    constants = {each.name: _constant(each) for each in every}

    def block(found: Block) -> Block:
        return Block(found.params, tuple(map(stmt, found.stmts)), found.yields)

    def stmt(found: Stmt) -> Stmt:
        if isinstance(found, Call):
            drop = constants[found.callee]
            args = tuple(arg for k, arg in enumerate(found.args) if k not in drop)
            return replace(found, args=args)
        return map_blocks(found, block)

    def closed(each: Function) -> Function:
        drop = constants[each.name]
        env = {
            param: integer(getattr(schedule, param.name.partition(".")[0]))
            for k, param in enumerate(each.params)
            if k in drop
        }
        params = tuple(param for k, param in enumerate(each.params) if k not in drop)
        body = tuple(substitute_stmt(stmt(s), env) for s in each.body)
        return replace(each, params=params, body=body)

    return replace(closed(fn), callees=tuple(map(closed, fn.callees)))


def _constant(fn: Function) -> set[int]:
    """Return the positions of the parameters that are constants."""
    return {k for k, p in enumerate(fn.params) if p.name.partition(".")[0].isupper()}


def _ours(fn: Function) -> Function:
    """Return a function under a name that no user's function has, without places in the source."""

    def block(found: Block) -> Block:
        return Block(found.params, tuple(map(stmt, found.stmts)), found.yields)

    def stmt(found: Stmt) -> Stmt:
        found = replace(found, loc=None)
        if isinstance(found, Call):
            found = replace(found, callee=f"adc.{found.callee}")
        return map_blocks(found, block)

    return replace(fn, name=f"adc.{fn.name}", body=tuple(map(stmt, fn.body)), callees=())
