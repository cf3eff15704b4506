"""Interchange loops so that all steps on a part of an array run together.

A loop over levels, times or columns that updates row after row returns to a row when it has long
left the cache. Before::

    %a.3 = for K %k in 0 to %steps carrying (%a = %a.0) {
      %a.2 = for I %i in 0 to %n carrying (%a.1 = %a) {
        … for J %j in 0 to %m, with loads and stores of %a[%i, …] …
      }
      yield %a.2
    }

After::

    %a.3 = for I %i in 0 to %n carrying (%a = %a.0) {
      %a.2 = for K %k in 0 to %steps carrying (%a.1 = %a) {
        … the same …
      }
      yield %a.2
    }

Every row stays in the cache while all steps run on it, adjacent loops over the rows are fused with
it (`fuse`), and threads can share the rows (`parallel`). The pass applies where all accesses to the
arrays that the loops change are to the row of the iteration, where a loop is left in a row, for
vectors, and where rows have a smaller stride than the outer loop's accesses. No bit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, accesses, same_axis
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    If,
    Load,
    Stmt,
    Store,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import (
    Names,
    block_reads,
    loop_values,
    map_functions,
    map_stmts,
)

# An access with a large stride takes as long as a dependence chain of some operations.
_MANY = 2
# The only statements that the loops may contain.
_PURE = (Apply, Load, Store, If, For)


def interchange(fn: Function) -> Function:
    """Return `fn` with loops over parts of arrays outside of loops over steps."""
    return map_functions(fn, lambda each: _Interchange(each).run())


class _Interchange:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.names = Names.of(fn)
        self.facts = Facts()
        self.facts.learn(fn.body)

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_stmts(stmt, self.stmts)
            found = self.exchanged(stmt) if isinstance(stmt, For) else None
            done.append(found or stmt)
        return done

    def exchanged(self, outer: For) -> For | None:
        """Return the two loops interchanged; None if that is not legal, or no better.

        The inner loop is the only one; all else depends on the counter alone.
        """
        loops = [stmt for stmt in outer.body.stmts if isinstance(stmt, For)]
        others = [stmt for stmt in outer.body.stmts if not isinstance(stmt, For)]
        if len(loops) != 1 or outer.down or not outer.init:
            return None
        (inner,) = loops
        if inner.down or inner.trips in loop_values(outer):
            return None
        if not all(isinstance(stmt, _PURE) for stmt in walk((outer,))):
            return None
        for stmt in others:
            values = (*stmt.results, *(stmt.args if isinstance(stmt, Apply) else ()))
            if not isinstance(stmt, Apply) or any(isinstance(v.type, Array) for v in values):
                return None
        # For each value carried by the inner loop, its position in the outer one.
        params, yields = outer.body.params, outer.body.yields
        if set(inner.init) != set(params) or len(inner.init) != len(params):
            return None
        order = [params.index(start) for start in inner.init]
        if inner.results != tuple(yields[k] for k in order):
            return None
        if not block_reads(inner.body).isdisjoint(outer.body.params):
            return None
        inside = loop_values(outer)
        for k, param in enumerate(inner.body.params):
            found: list[Access] = []
            if not isinstance(param.type, Array) or not accesses(inner.body, param, k, found):
                return None
            if not found or same_axis(found, inner.index, inside, self.facts) is None:
                return None
        return self.exchange(outer, inner, others, order) if self.pays(outer, inner) else None

    def pays(self, outer: For, inner: For) -> bool:
        """Whether most accesses have a smaller stride in the iterations of the outer loop.

        If the inner loop is innermost, its iterations were independent, and perhaps vectorized, and
        become sequential: that takes a large stride to pay.
        """
        votes = near = 0
        for stmt in walk(inner.body.stmts):
            if isinstance(stmt, Load | Store):
                axes = {
                    index: [
                        k
                        for k, at in enumerate(stmt.index)
                        if self.facts.form(at).coefficient(index)
                    ]
                    for index in (outer.index, inner.index)
                }
                own, theirs = axes[inner.index], axes[outer.index]
                if own:
                    votes += -1 if theirs and theirs[0] < own[0] else 1
                last = len(stmt.index) - 1
                near += (last in theirs) - (last in own)
        if any(isinstance(stmt, For) for stmt in inner.body.stmts):
            return votes > 0
        return near >= _MANY

    def exchange(self, outer: For, inner: For, others: Sequence[Stmt], order: Sequence[int]) -> For:
        params = tuple(self.names.value(param) for param in inner.body.params)
        ends = tuple(self.names.value(result) for result in inner.results)
        steps = replace(
            outer,
            results=ends,
            init=params,
            body=Block(inner.body.params, (*others, *inner.body.stmts), inner.body.yields),
        )
        return replace(
            inner,
            results=tuple(outer.results[k] for k in order),
            init=tuple(outer.init[k] for k in order),
            body=Block(params, (self.exchanged(steps) or steps,), ends),
        )


__all__ = ["interchange"]
