"""Hoist the index checks of a loop: test them once in front of it.

An affine index is in bounds in all iterations if it is in the first and in the last.

Before::

    for L %i in 0 to %n {
      %k = add %at %i
      %t = inside %k %m
      check %t IndexError "…" %k %m
      %v = load %x[%k]
      …
    }

After::

    … %ok: inside for %i = 0 and for %i = %n - 1 …
    if %ok {
    } else {
      for L.1 %i.1 in 0 to %n {
        %k.1 = add %at %i.1
        %t.1 = inside %k.1 %m
        check %t.1 IndexError "…" %k.1 %m
      }
    }
    for L %i in 0 to %n {
      %k = add %at %i
      %v = load %x[%k]
      …
    }

In the loop, sizes that the checks proved equal get one name: `fuse` then sees which inner loops
have equal trip counts.

The loop of checks raises what the program raises, at the same line with the same numbers. The pass
applies where every check of an iteration is of such an index, or invariant; and then to the
enclosing loop, where the `if` above counts as a check. Other checks stay in the loop, and are
copied to the loop of checks along with the loads that they depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from adc.ir import ops
from adc.ir.analysis.sizes.affine import Facts, Form, computed, equated
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Print,
    Stmt,
    Value,
    While,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array
from adc.ir.walk import (
    Names,
    block_reads,
    clone,
    loop_values,
    map_functions,
    map_stmts,
    stmt_reads,
    substitute_block,
)


def hoist_checks(fn: Function) -> Function:
    """Return `fn` with index checks in front of loops rather than in them."""

    def done(each: Function) -> Function:
        return replace(each, body=tuple(_CheckHoister(each).stmts(each.body)))

    return map_functions(fn, done)


class _CheckHoister:
    def __init__(self, fn: Function) -> None:
        self.names = Names.of(fn)
        self.fn = fn
        self.facts = Facts()
        self.facts.learn(fn.body)

    @cached_property
    def shapes(self) -> Shapes:
        return Shapes(self.fn, self.names)

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_stmts(stmt, self.stmts)
            if isinstance(stmt, For) and not stmt.down:
                done += self.loop(stmt)
            else:
                done.append(stmt)
        return done

    def loop(self, loop: For) -> list[Stmt]:
        checks = [s for s in loop.body.stmts if isinstance(s, Check | If) and _only_checks(s)]
        others_act = any(
            isinstance(s, Check | Print | Call | While)
            for stmt in loop.body.stmts
            if stmt not in checks
            for s in walk((stmt,))
        )
        if not checks or others_act:
            return [loop]
        own = loop_values(loop)
        defs = {s.results[0]: s for s in loop.body.stmts if isinstance(s, Apply | Load)}
        known = [check for check in checks if self.decided(check.cond, loop, own, defs)]
        if not known:
            return [loop]
        conditions = dict.fromkeys(check.cond for check in known)
        wanted: dict[Value, None] = {}
        if not all(self.collect(each, own, defs, loop.index, wanted) for each in conditions):
            return [loop]
        computed = set(wanted)  # all operands of the conditions
        reads = sorted(set().union(*map(stmt_reads, checks)), key=lambda value: value.name)
        if not all(self.collect(each, own, defs, loop.index, wanted) for each in reads):
            return [loop]
        slice_ = [s for s in loop.body.stmts if s in checks or (s.results[:1] and (
            s.results[0] in wanted
        ))]  # fmt: skip
        needed = [s for s in slice_ if s.results[:1] and s.results[0] in computed]
        found: list[Stmt] = []
        ok = self.at(Literal(0, INT), loop, conditions, needed, found)
        if isinstance(loop.trips, Literal):
            last: Operand = Literal(int(loop.trips.value) - 1, INT)
        else:
            last = Value(self.names.fresh("last"), INT)
            found.append(Apply((last,), OPS["sub"], (loop.trips, Literal(1, INT))))
        ok += self.at(last, loop, conditions, needed, found)
        ok = list(dict.fromkeys(ok))
        all_ = ok[0]
        for each in ok[1:]:
            (ty,) = OPS["and"].types([all_.type, each.type], ())
            both = Value(self.names.fresh("ok"), ty)
            found.append(Apply((both,), OPS["and"], (all_, each)))
            all_ = both
        again = clone([replace(loop, results=(), init=(), body=Block((), tuple(slice_), ()))],
                      {}, self.names)  # fmt: skip
        found.append(If((), all_, Block((), (), ()), Block((), tuple(again), ()), loop.loc))
        self.facts.learn(found)
        kept = tuple(s for s in loop.body.stmts if s not in known)
        body = self.unified(loop, replace(loop.body, stmts=kept), known, own, found)
        return [*found, replace(loop, body=body)]

    def unified(
        self,
        loop: For,
        body: Block,
        checks: Sequence[Check | If],
        own: set[Value],
        before: list[Stmt],
    ) -> Block:
        """Return the body of a loop with sizes that checks found equal computed in one way.

        They are expressed by the sizes of arrays that the loop starts with, which it visibly does
        not change, and by the trip counts of its first inner loops: other loops are then seen to
        be as long, and slices of arrays cut at ``n`` and ``2*n`` to be disjoint.
        """
        form = self.facts.form
        arrays = [start for start in loop.init if isinstance(start, Value)]
        sizes = [dim for array in arrays for dim in self.shapes.known(array) or ()]
        first = [s.trips for s in walk(body.stmts) if isinstance(s, For)]
        order = [each for each in first if each in sizes] + sizes + first
        solved: dict[Value, Form] = {}

        def reduced(form: Form) -> Form:
            for value, factor in form.terms:
                if value in solved:
                    form = form.without(value) + solved[value] * factor
            return form

        for check in checks:
            equal = equated(check, self.facts.defs) if isinstance(check, Check) else None
            if equal is None:
                continue
            zero = reduced(form(equal[0]) - form(equal[1]))
            free = [value for value, factor in zero.terms if abs(factor) == 1]
            if free:
                gone = max(free, key=lambda v: order.index(v) if v in order else len(order))
                solved[gone] = zero.without(gone) * -zero.coefficient(gone)
                solved = {value: reduced(found) for value, found in solved.items()}
        env: dict[Value, Operand] = {}
        reads = block_reads(body) - own if solved else ()
        for value in sorted(reads, key=lambda value: value.name):
            if value.type == INT and (new := reduced(form(value))) != form(value):
                env[value] = computed(new, self.names, before)
        return substitute_block(body, env)

    def decided(
        self, cond: Operand, loop: For, own: set[Value], defs: dict[Value, Apply | Load]
    ) -> bool:
        """Whether a condition holds in all iterations if it holds in the first and the last."""
        if cond not in own:
            return True
        stmt = defs.get(cond) if isinstance(cond, Value) else None
        if isinstance(stmt, Apply) and stmt.op is ops.integer.logical_and:
            return all(self.decided(arg, loop, own, defs) for arg in stmt.args)
        if not isinstance(stmt, Apply) or stmt.op is not ops.integer.inside or stmt.args[1] in own:
            return False
        index, size = stmt.args
        wrapped = defs.get(index) if isinstance(index, Value) else None
        if (
            isinstance(wrapped, Apply)
            and wrapped.op is ops.integer.wrap
            and wrapped.args[1] == size
        ):
            index = wrapped.args[0]  # in bounds if between -size and size
        form = self.facts.form(index)
        return all(value == loop.index or value not in own for value, _ in form.terms)

    def collect(
        self,
        operand: Operand,
        own: set[Value],
        defs: dict[Value, Apply | Load],
        index: Value,
        wanted: dict[Value, None],
    ) -> bool:
        """Collect the computation of an operand from the counter; False if it needs more."""
        if operand not in own or operand == index or operand in wanted:
            return True
        stmt = defs.get(operand) if isinstance(operand, Value) else None
        if stmt is None or len(stmt.results) != 1 or isinstance(stmt.result.type, Array):
            return False
        if isinstance(stmt, Load) and stmt.array in own:
            return False  # the loop may change it
        if not all(self.collect(arg, own, defs, index, wanted) for arg in operands(stmt)):
            return False
        wanted[stmt.result] = None
        return True

    def at(
        self,
        iteration: Operand,
        loop: For,
        conditions: dict[Operand, None],
        slice_: Sequence[Stmt],
        found: list[Stmt],
    ) -> list[Operand]:
        """Compute the conditions as they are in one iteration."""
        env: dict[Value, Operand] = {loop.index: iteration}
        found += clone([s for s in slice_ if isinstance(s, Apply)], env, self.names)
        return [env.get(c, c) if isinstance(c, Value) else c for c in conditions]


def _only_checks(stmt: Check | If) -> bool:
    """Whether a statement does nothing but raise: it guards another loop."""
    if isinstance(stmt, Check):
        return True
    return not (stmt.results or stmt.then.stmts) and all(
        isinstance(s, Check | Apply | Load | For | If)
        and not any(isinstance(v.type, Array) for v in s.results)
        for s in walk(stmt.orelse.stmts)
    )
