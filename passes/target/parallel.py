"""Mark the outermost loops whose iterations may run in parallel.

Iterations are independent if each of them writes its own part of every array that it changes, along
one axis, reads no other part of it, and otherwise works on arrays that it allocates itself. Before
(`%c` was allocated before the loop and has no alias)::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %t = …
      write %c[%i, 0] %t
      %acc.1 = sum %acc %t
      yield %acc.1
    }

After: the terms of sums are stored and added up later, in lanes as before (`adc.ir.sums`), so that
no bit depends on the number of threads::

    %acc.terms = empty[f64] %n
    parallel for L %i in 0 to %n {
      %t = …
      write %c[%i, 0] %t
      write %acc.terms[%i] %t
    }
    %s = for L.sum %i.1 in 0 to %n carrying (%acc = 0.0:f64) {
      %t.1 = load %acc.terms[%i.1]
      %acc.1 = sum %acc %t.1
      yield %acc.1
    }

This is buffer form, after `storage`: arrays with different names do not alias, except for arrays
that loops carry and branches choose, which are not transformed here. A loop that is too short to
be worth it runs sequentially; its cost is estimated when it starts (`parallel_for`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from adc.ir.analysis.memory.iterations import IterationAnalysis
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Literal,
    Operand,
    Stmt,
    Value,
    While,
    Write,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import INT
from adc.ir.walk import map_functions, map_stmts, substitute_stmt

# An iteration of an inner loop that costs less than this is not given to a thread, unless it is one
# of a nest.
_HEAVY = 60.0


def parallel(fn: Function, private: bool = True) -> Function:
    """Return `fn`, which is in buffer form, with its parallel loops marked.

    Parameters
    ----------
    fn : Function
    private : bool
        Whether parallel iterations may allocate arrays, private to each thread, and call functions,
        which may, too.
    """
    return map_functions(fn, lambda each: _Parallel(each, private, fn.callees).run())


class _Parallel(IterationAnalysis):
    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body, 0)))

    def stmts(self, stmts: Sequence[Stmt], depth: int) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and self.pays(stmt, depth) and self.independent(stmt):
                done += self.marked(stmt, self.size)
                continue
            deeper = depth + isinstance(stmt, For | While)
            done.append(map_stmts(stmt, partial(self.stmts, depth=deeper)))
        return done

    def pays(self, loop: For, depth: int) -> bool:
        """Whether a loop may take so long that threads are worth it."""
        if isinstance(loop.trips, Literal) and int(loop.trips.value) < 2:
            return False
        inside = list(walk(loop.body.stmts))
        if not loop.body.params and not any(isinstance(s, Write) for s in inside):
            return False  # it does nothing but raise
        inner = [s for s in inside if isinstance(s, For | While | Call)]
        if inner:
            return not all(
                isinstance(s, For) and isinstance(s.trips, Literal) and int(s.trips.value) < 4
                for s in inner
            )
        cost = sum(s.op.cost if isinstance(s, Apply) else 1.0 for s in walk(loop.body.stmts))
        # Storing the terms takes time even if a loop turns out to be too short for threads.
        return not depth or (cost >= _HEAVY and not loop.body.params)

    def marked(self, loop: For, size: Operand | None) -> list[Stmt]:
        before: list[Stmt] = []
        after: list[Stmt] = []
        split = self.split(loop, loop.index)
        if split.terms:
            count = self.integer(loop.trips, before)
            if isinstance(count, Value):  # a trip count may be negative
                most = Value(self.names.fresh("n"), INT)
                before.append(Apply((most,), OPS["maximum"], (count, integer(0)), (), loop.loc))
                count = most
            for terms in split.terms:
                dtype = terms.type.dtype
                before.append(Apply((terms,), OPS["empty"], (count,), (dtype,), loop.loc))
        if split.after:
            label = self.names.fresh(f"{loop.label}.sum")
            after.append(replace(loop, label=label, index=split.index, body=split.rest))
        alone = replace(loop, results=(), init=(), body=Block((), tuple(split.body), ()))
        done = [replace(alone, parallel=True)] if size is None else self.in_groups(alone, size)
        return [*before, *done, *after]

    def in_groups(self, loop: For, size: Operand) -> list[Stmt]:
        """Return a parallel loop over groups of the iterations of a loop."""
        done: list[Stmt] = []

        def apply(name: str, a: Operand, b: Operand, into: list[Stmt] = done) -> Value:
            made = Value(self.names.fresh("n"), INT)
            into.append(Apply((made,), OPS[name], (a, b), (), loop.loc))
            return made

        count = self.integer(loop.trips, done)
        last = apply("add", count, apply("sub", size, integer(1)))
        groups = apply("floordiv", last, size)
        group = Value(self.names.fresh("group"), INT)
        index = Value(self.names.fresh(loop.index.name), INT)
        stmts: list[Stmt] = []
        start = apply("mul", group, size, stmts)
        trips = apply("minimum", size, apply("sub", count, start, stmts), stmts)
        number = Apply((loop.index,), OPS["add"], (start, index), (), loop.loc)
        env: dict[Value, Operand] = {}
        rest: list[Stmt] = []
        for stmt in loop.body.stmts:
            match stmt:
                case Apply(op=op, args=args) if op is arith.floordiv and args == (
                    loop.index,
                    size,
                ):
                    env[stmt.result] = group
                case _:
                    rest.append(substitute_stmt(stmt, env))
        label = self.names.fresh(f"{loop.label}.groups")
        body = Block((), (number, *rest), ())
        stmts.append(replace(loop, index=index, trips=trips, body=body))
        whole = Block((), tuple(stmts), ())
        return [*done, For((), label, group, groups, (), whole, loc=loop.loc, parallel=True)]


__all__ = ["parallel"]
