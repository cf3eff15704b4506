"""Simplify bit-exactly: constants, neutral elements, known branches, empty branches.

Before::

    %t = mul 1.0:f64 %x
    %b = not false
    %r = if %b {
      %u = sin %t
      yield %u
    } else {
      yield 0.0:f64
    }

After::

    %u = sin %x

A branch of which one arm only raises becomes a check and the other arm. No bit of a float may
change: ``x + 0.0`` stays (it turns -0.0 into 0.0).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from adc.ir import ops
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Literal,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    walk,
)
from adc.ir.opdef import OPS, OpDef, numpy_value
from adc.ir.ops import arith
from adc.ir.types import BOOL, Array, Scalar
from adc.ir.walk import map_blocks, map_operands, rebuilt, substitute, with_stmts

# Folding evaluates with NumPy; only exact operations are folded, so that compiled code agrees.
_FOLDED = frozenset(
    (
        arith.add, arith.sub, arith.mul, arith.neg, arith.lt, arith.le, arith.gt, arith.ge,
        arith.eq, arith.ne, ops.integer.logical_and, ops.integer.logical_or,
        ops.integer.logical_not, ops.integer.bitand, ops.integer.bitor, ops.integer.bitxor,
        arith.select, arith.cast, ops.integer.wrap, ops.integer.inside, ops.integer.trips,
        arith.minimum, arith.maximum, arith.absolute, arith.floordiv, arith.mod, arith.isnan,
        arith.isinf, arith.isfinite,
    )
)  # fmt: skip


def simplify(fn: Function) -> Function:
    """Return `fn` with constants folded and neutral operations removed."""
    # A loop that reverse code mirrors stays, even one that never runs.
    mirrored = frozenset(
        stmt.loop
        for each in (*fn.callees, fn)
        for stmt in walk(each.body)
        if isinstance(stmt, Reverse)
    )
    plain = not any(
        isinstance(s, Recall | Reverse) for each in (*fn.callees, fn) for s in walk(each.body)
    )
    return rebuilt(fn, functools.partial(_Simplify, mirrored, plain))


class _Simplify:
    def __init__(
        self, mirrored: frozenset[str], plain: bool, recalled: Mapping[Value, Operand] | None
    ) -> None:
        self.mirrored = mirrored
        # Whether there is no reverse code, which mirrors the branches of forward code.
        self.plain = plain
        self.env: dict[Value, Operand] = {}
        # The replacements of the values that reverse code recalls.
        self.recalled = self.env if recalled is None else recalled
        self.defs: dict[Value, Apply] = {}

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            kept.extend(self.stmt(stmt))
        return tuple(kept)

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block.stmts)
        yields = tuple(substitute(operand, self.env) for operand in block.yields)
        return with_stmts(block, stmts, yields)

    def stmt(self, stmt: Stmt) -> Sequence[Stmt]:
        match stmt:
            case Recall(result=result, value=value):
                target = substitute(value, self.recalled)
                if isinstance(target, Literal):
                    self.env[result] = target
                    return ()
                return (replace(stmt, value=target),)
            case Apply():
                operand = self.apply(stmt)
                if operand is not None and operand.type == stmt.result.type:
                    self.env[stmt.result] = operand
                    return ()
                self.defs[stmt.result] = stmt
                return (stmt,)
            case If(cond=Literal(value=value), then=then, orelse=orelse):
                block = self.block(then if value else orelse)
                self.env.update(zip(stmt.results, block.yields, strict=True))
                return block.stmts
            case If():
                return self.if_(stmt)
            case For(label=label, trips=Literal(value=trips)) if (
                trips <= 0 and label not in self.mirrored
            ):
                self.env.update(zip(stmt.results, stmt.init, strict=True))
                return ()
            case Check(cond=Literal(value=value)) if value:
                return ()
        return (map_blocks(stmt, self.block),)

    def if_(self, stmt: If) -> Sequence[Stmt]:
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        checked = self.checked(stmt, then, orelse) if self.plain else None
        if checked is not None:
            return checked
        made: list[Stmt] = []
        kept: list[int] = []
        empty = not then.stmts and not orelse.stmts
        for k, result in enumerate(stmt.results):
            a, b = then.yields[k], orelse.yields[k]
            if a == b and a.type == result.type:
                self.env[result] = a
            elif empty and not isinstance(result.type, Array):
                choice = Apply((result,), OPS["select"], (stmt.cond, a, b), loc=stmt.loc)
                if OPS["select"].types([stmt.cond.type, a.type, b.type], ()) == (result.type,):
                    made.extend(self.stmt(choice))
                else:
                    kept.append(k)
            else:
                kept.append(k)
        if not kept and empty:
            return made
        blocks = [
            Block((), block.stmts, tuple(block.yields[k] for k in kept)) for block in (then, orelse)
        ]
        results = tuple(stmt.results[k] for k in kept)
        return (*made, replace(stmt, results=results, then=blocks[0], orelse=blocks[1]))

    def checked(self, stmt: If, then: Block, orelse: Block) -> Sequence[Stmt] | None:
        """Return a check, and the statements of the other arm, if one arm raises.

        What that arm does before it, such as to pass on what the message says, stays in a branch.
        """
        nothing = Block((), (), ())
        if (found := _raised(orelse)) is not None:
            done, failing = found
            arms, block, cond = (nothing, Block((), done, ())), then, stmt.cond
            before: tuple[Stmt, ...] = ()
        elif (found := _raised(then)) is not None:
            done, failing = found
            arms, block = (Block((), done, ()), nothing), orelse
            inner = self.definition(stmt.cond, ops.integer.logical_not)
            before = ()
            if inner is not None:
                cond = inner.args[0]
            else:
                # The result's name is not used any more: the other arm's operand replaces it.
                (ty,) = OPS["not"].types([stmt.cond.type], ())
                free = [value for value in stmt.results if value.type != ty]
                if not free:
                    return None
                cond = Value(free[0].name, ty)
                before = (Apply((cond,), OPS["not"], (stmt.cond,), loc=stmt.loc),)
        else:
            return None
        if any(a.type != b.type for a, b in zip(block.yields, stmt.results, strict=True)):
            return None
        self.env.update(zip(stmt.results, block.yields, strict=True))
        if done:
            before = (*before, replace(stmt, results=(), then=arms[0], orelse=arms[1]))
        return (*before, replace(failing, cond=cond), *block.stmts)

    def apply(self, stmt: Apply) -> Operand | None:
        """Return an operand that equals the result, or None."""
        args, op = stmt.args, stmt.op
        ty = stmt.result.type
        if op in _FOLDED and args and all(isinstance(arg, Literal) for arg in args):
            values = [numpy_value(a.value, a.type) for a in args if isinstance(a, Literal)]
            if op in (arith.floordiv, arith.mod) and not values[1]:
                return None
            with np.errstate(all="ignore"):
                value = stmt.op.evaluate(*stmt.params, *values)
            return Literal(numpy_value(value, ty).item(), ty) if isinstance(ty, Scalar) else None
        rule = _RULES.get(op)
        return rule(self, args) if rule is not None else None

    def is_at_least(self, operand: Operand, least: float) -> bool:
        stmt = self.defs.get(operand) if isinstance(operand, Value) else None
        if stmt is None or not (stmt.op.asks_shape or stmt.op is arith.maximum):
            return False
        bounds = (
            [0] if stmt.op.asks_shape else [a.value for a in stmt.args if isinstance(a, Literal)]
        )
        return any(least <= bound for bound in bounds)

    def definition(self, operand: Operand, op: OpDef) -> Apply | None:
        stmt = self.defs.get(operand) if isinstance(operand, Value) else None
        return stmt if stmt is not None and stmt.op is op else None


def _raised(block: Block) -> tuple[tuple[Stmt, ...], Check] | None:
    """Return the check of an arm that always fails, and the statements before it.

    None if there is none, or if it quotes what the arm computes.
    """
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, Check) and isinstance(stmt.cond, Literal) and not stmt.cond.value:
            done = block.stmts[:k]
            own = {result for each in done for result in each.results}
            return (done, stmt) if own.isdisjoint(stmt.args) else None
    return None


def _is(operand: Operand, value: float) -> bool:
    return isinstance(operand, Literal) and operand.value == value


def _mul(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    a, b = args
    return a if _is(b, 1) else b if _is(a, 1) else None


def _truediv(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    return args[0] if _is(args[1], 1) else None


def _add(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    a, b = args
    for one, other in ((a, b), (b, a)):
        # The neutral element of float addition is -0.0.
        if _is(other, 0) and (a.type.kind in "iu" or _is_negative(other)):
            return one
    return None


def _is_negative(zero: Operand) -> bool:
    return isinstance(zero, Literal) and math.copysign(1.0, zero.value) < 0.0


def _sub(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    a, b = args
    if a.type.kind not in "iu":
        return None
    if _is(b, 0):
        return a
    inner = s.definition(a, arith.add)
    if inner is not None and isinstance(b, Literal):
        # (k + 1) - 1 is k, in wrapping arithmetic, too.
        if _same(inner.args[1], b):
            return inner.args[0]
        if _same(inner.args[0], b):
            return inner.args[1]
    return None


def _same(a: Operand, b: Operand) -> bool:
    return isinstance(a, Literal) and isinstance(b, Literal) and a.value == b.value


def _neg(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    inner = s.definition(args[0], arith.neg)
    return inner.args[0] if inner is not None else None


def _not(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    inner = s.definition(args[0], ops.integer.logical_not)
    return inner.args[0] if inner is not None else None


def _and(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    a, b = args
    if isinstance(a, Literal):
        return b if a.value else a
    if isinstance(b, Literal):
        return a if b.value else b
    return a if a == b else None


def _or(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    a, b = args
    if isinstance(a, Literal):
        return a if a.value else b
    if isinstance(b, Literal):
        return b if b.value else a
    return a if a == b else None


def _select(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    cond, a, b = args
    if isinstance(cond, Literal):
        return a if cond.value else b
    if a == b:
        return a
    if isinstance(a, Literal) and isinstance(b, Literal) and a.type.kind == "b":
        return cond if a.value and not b.value else None
    return None


def _eq(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    """``select(c, 1, 0) == 0`` is ``not c`` or ``c``, depending on the constants."""
    if args[0] == args[1] and args[0].type.kind in "iu":
        return Literal(True, BOOL)
    chosen = s.definition(args[0], arith.select)
    if chosen is None or not isinstance(args[1], Literal):
        return None
    cond, a, b = chosen.args
    if isinstance(a, Literal) and isinstance(b, Literal):
        first, second = a.value == args[1].value, b.value == args[1].value
        if first == second:
            return Literal(first, cond.type)
        if first:
            return cond
    return None


def _maximum(s: _Simplify, args: tuple[Operand, ...]) -> Operand | None:
    """The larger of a size and 0 is the size."""
    for a, b in (args, args[::-1]):
        if isinstance(b, Literal) and b.type.kind == "i" and s.is_at_least(a, b.value):
            return a
    return None


_RULES: dict[OpDef, Callable[[_Simplify, tuple[Operand, ...]], Operand | None]] = {
    arith.mul: _mul,
    arith.xmuly: lambda s, args: args[1] if _is(args[0], 1) else None,
    arith.truediv: _truediv,
    arith.add: _add,
    arith.sub: _sub,
    arith.neg: _neg,
    ops.integer.logical_not: _not,
    ops.integer.logical_and: _and,
    ops.integer.logical_or: _or,
    arith.select: _select,
    arith.eq: _eq,
    arith.maximum: _maximum,
    arith.cast: lambda s, args: args[0],  # kept unless the types are equal
}
