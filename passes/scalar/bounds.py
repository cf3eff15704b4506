"""Remove checks that cannot fail, and index wrap-arounds that cannot happen.

Before::

    %s = for L0 %k in 0 to %n carrying (%acc = 0.0) {
      %i = wrap %k %n
      %t = inside %i %n
      check %t IndexError "…" %k %n
      %v = load %x[%i]
      …

After (``%n`` is a size)::

    %s = for L0 %k in 0 to %n carrying (%acc = 0.0) {
      %v = load %x[%k]
      …

Where a check says that two sizes are equal, the code after it has one of them: loops over either
are fused, and the checks that compare others with it are equal.

Floats that are never negative are known too, as ``x * x + 1``: their square roots cannot fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir import ops
from adc.ir.analysis.sizes.affine import Facts, Form, equated, is_whole, keeps_value
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
    Stmt,
    Value,
    While,
)
from adc.ir.ops import arith
from adc.ir.types import BOOL, Scalar, Type
from adc.ir.walk import carried_yields, map_blocks, map_operands, rebuilt, substitute


def bounds(fn: Function) -> Function:
    """Return `fn` without the checks and wrap-arounds that are proven unnecessary."""
    return rebuilt(fn, _Bounds)


class _Bounds:
    def __init__(self, recalled: Mapping[Value, Operand] | None) -> None:
        self.facts = Facts()
        self.env: dict[Value, Operand] = {}
        self.depth = 0  # of blocks
        self.trips: set[Operand] = set()  # of the enclosing and preceding loops
        self.nonnegative: set[Value] = set()  # floats that are NaN or not negative

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            new = self.stmt(stmt)
            if new is not None:
                kept.append(new)
        return tuple(kept)

    def block(self, block: Block) -> Block:
        mark = self.facts.mark()
        self.depth += 1
        stmts = self.stmts(block.stmts)
        self.depth -= 1
        self.facts.release(mark)
        return Block(
            block.params, stmts, tuple(substitute(operand, self.env) for operand in block.yields)
        )

    def stmt(self, stmt: Stmt) -> Stmt | None:
        facts = self.facts
        assert not isinstance(stmt, Recall), "runs before reverse code exists, and after `remat`"
        match stmt:
            case Apply():
                return self.apply(stmt)
            case Check(cond=cond):
                if isinstance(cond, Literal) and cond.value:
                    return None
                facts.assume_check(stmt)
                self.unify(stmt)
                return stmt
            case If(cond=cond, then=then, orelse=orelse):
                arms = []
                for block, holds in ((then, True), (orelse, False)):
                    mark = facts.mark()
                    facts.assume_condition(cond, holds)
                    arms.append(self.block(block))
                    facts.release(mark)
                return replace(stmt, then=arms[0], orelse=arms[1])
            case For(trips=trips, body=body):
                self.trips.add(trips)
                mark = facts.mark()
                facts.enter_loop(stmt)
                self.assume_monotone(stmt)
                new = replace(stmt, body=self.block(body))
                facts.release(mark)
                return new
            case While(body=body):
                mark = facts.mark()
                self.assume_monotone(stmt)
                new_while = replace(stmt, body=self.block(body))
                facts.release(mark)
                return new_while
        return map_blocks(stmt, self.block)

    def apply(self, stmt: Apply) -> Stmt | None:
        facts = self.facts
        match stmt:
            case Apply(op=op, args=args) if op is ops.integer.wrap:
                index, size = facts.form(args[0]), facts.form(args[1])
                if facts.proves(index) and keeps_value(args[0].type, stmt.result.type):
                    chosen = self.converted(args[0], stmt.result.type)
                    if chosen is not None:
                        self.env[stmt.result] = chosen
                        return None
                    stmt = replace(stmt, op=arith.cast, args=args[:1], params=("int",))
                    facts.define(stmt)
                    return stmt
                if facts.proves(index * -1 + -1):
                    facts.forms[stmt.result] = index + size
                return stmt
            case Apply(op=op, args=args) if op is ops.integer.inside:
                if facts.inside(*args):
                    self.env[stmt.result] = Literal(True, BOOL)
                    return None
                facts.define(stmt)
                return stmt
            case Apply(op=op, args=(a, b)) if (
                op in (arith.maximum, arith.minimum) and stmt.result.type.kind in "iu"
            ):
                more = facts.form(a) - facts.form(b)
                if op is arith.minimum:
                    more = more * -1
                for chosen, goal in ((a, more), (b, more * -1)):
                    if chosen.type == stmt.result.type and facts.proves(goal):
                        self.env[stmt.result] = chosen
                        return None
                facts.define(stmt)
                return stmt
            case Apply(op=op, args=(a, b)) if op is arith.lt and self.is_nonnegative(a):
                if isinstance(b, Literal) and b.value <= 0.0:
                    self.env[stmt.result] = Literal(False, stmt.result.type)
                return stmt
            case Apply(op=op, args=(Literal(value=bool(value)),)) if op is ops.integer.logical_not:
                self.env[stmt.result] = Literal(not value, stmt.result.type)
                return stmt
            case Apply(op=op, args=args) if op.orders is not None:
                facts.define(stmt)
                if args[0].type.kind in "iu" and self.holds(op.orders, args):
                    self.env[stmt.result] = Literal(True, stmt.result.type)
                return stmt
        facts.define(stmt)
        if stmt.result.type.kind == "f" and self.never_negative(stmt):
            self.nonnegative.add(stmt.result)
        return stmt

    def converted(self, operand: Operand, ty: Type) -> Operand | None:
        """Return an operand of a type that is an integer, if there is one.

        An index out of an array, such as `np.arange`, is no Python integer, as a position is.
        """
        if isinstance(operand, Literal):
            return Literal(operand.value, ty)
        while operand.type != ty:
            made = self.facts.defs.get(operand)
            if made is None or made.op is not arith.cast:
                return None
            (source,) = made.args
            if not isinstance(source, Value) or not keeps_value(source.type, operand.type):
                return None
            operand = source
        return operand

    def is_nonnegative(self, operand: Operand) -> bool:
        """Whether a float is NaN or not negative; it may be -0.0."""
        if isinstance(operand, Literal):
            return operand.type.kind == "f" and operand.value >= 0.0
        return operand in self.nonnegative

    def never_negative(self, stmt: Apply) -> bool:
        """Whether the result of an operation on numbers is NaN or not negative."""
        args = stmt.args
        match stmt.op:
            case row if row.image[0] >= 0.0:
                return True
            case arith.mul if args[0] == args[1]:
                return True
            case arith.add | arith.mul | arith.minimum:
                return all(map(self.is_nonnegative, args))
            case arith.maximum:
                return any(map(self.is_nonnegative, args))
            case arith.cast:
                return self.is_nonnegative(args[0])
            case arith.select:
                return all(map(self.is_nonnegative, args[1:]))
        return False

    def unify(self, check: Check) -> None:
        """After a check that two integers are equal, replace the second by the first.

        Only at the top level of the function, so that a replacement holds everywhere below it.
        """
        equal = equated(check, self.facts.defs)
        if self.depth or equal is None:
            return
        a, b = (substitute(operand, self.env) for operand in equal)
        if b in self.trips and a not in self.trips:
            a, b = b, a  # later loops then have the same trip count as earlier ones
        if isinstance(b, Value) and a != b and a.type == b.type:
            self.env[b] = a

    def holds(self, orders: tuple[bool, bool], args: tuple[Operand, ...]) -> bool:
        a, b = self.facts.form(args[0]), self.facts.form(args[1])
        less, equal = orders
        return self.facts.proves((b - a if less else a - b) + (0 if equal else -1))

    def assume_monotone(self, loop: For | While) -> None:
        """A carried counter that never falls stays above its start, and the other way round."""
        scout = _Steps(loop.body)
        parts = zip(loop.body.params, loop.init, carried_yields(loop), strict=True)
        for param, init, following in parts:
            if not isinstance(param.type, Scalar) or not is_whole(param.type):
                continue
            steps = scout.steps(following, param)
            if steps is None:
                continue
            start, now = self.facts.form(init), Form(((param, 1),), 0)
            if min(steps) >= 0:
                self.facts.assume(now - start)
            if max(steps) <= 0:
                self.facts.assume(start - now)


_ANY = (0, 2**40)  # steps of unknown size, of which only the sign counts


class _Steps:
    """By how much one iteration may change a carried counter."""

    def __init__(self, body: Block) -> None:
        self.defs: dict[Value, Apply | If | For] = {}
        self.collect(body)

    def collect(self, block: Block) -> None:
        for stmt in block.stmts:
            if isinstance(stmt, Apply | If | For):
                for result in stmt.results:
                    self.defs[result] = stmt
            if isinstance(stmt, If):
                self.collect(stmt.then)
                self.collect(stmt.orelse)
            elif isinstance(stmt, For):
                self.collect(stmt.body)

    def steps(self, operand: Operand, param: Value) -> set[int] | None:
        """Return the set of differences ``operand - param``, or None if it is unknown."""
        if operand == param:
            return {0}
        if not isinstance(operand, Value):
            return None
        match self.defs.get(operand):
            case Apply(op=op, args=(a, b)) if op in (arith.add, arith.sub):
                sign = 1 if op is arith.add else -1
                if isinstance(b, Literal):
                    found = self.steps(a, param)
                    return None if found is None else {s + sign * int(b.value) for s in found}
                if isinstance(a, Literal) and sign == 1:
                    found = self.steps(b, param)
                    return None if found is None else {s + int(a.value) for s in found}
                if self.is_count(b):
                    found = self.steps(a, param)
                    return None if found is None else {s + sign * t for s in found for t in _ANY}
            case If(results=results, then=then, orelse=orelse):
                k = results.index(operand)
                first = self.steps(then.yields[k], param)
                second = self.steps(orelse.yields[k], param)
                return None if first is None or second is None else first | second
            case For(results=results, init=init, body=body):
                k = results.index(operand)
                before = self.steps(init[k], param)
                inner = self.steps(body.yields[k], body.params[k])
                if before is None or inner is None:
                    return None
                # Any number of inner steps: only the signs are known.
                wide = {0} | {s * 2**40 for s in inner}
                return {b + w for b in before for w in wide}
        return None

    def is_count(self, operand: Operand) -> bool:
        """Whether an integer is plainly not negative."""
        if isinstance(operand, Literal):
            return bool(operand.value >= 0)
        match self.defs.get(operand):
            case Apply(op=op, args=args) if op is arith.maximum:
                return any(self.is_count(arg) for arg in args)
            case Apply(op=op, args=args) if op in (arith.add, arith.mul):
                return all(self.is_count(arg) for arg in args)
            case Apply(op=op):
                return op.asks_shape
        return False
