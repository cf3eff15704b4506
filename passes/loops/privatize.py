"""Privatize scratch arrays: allocate them in the iteration that overwrites them.

A scratch array allocated in front of a loop is loop-carried, although no value flows from one
iteration to the next in it. The false dependence would make the loop, and its reverse code,
sequential.

Before (``%m`` is the size of ``%a``, ``%a.4`` is dead)::

    %s, %a.4 = for L %i in 0 to %n carrying (%acc = 0.0:f64, %a.1 = %a) {
      %a.3 = for M %k in 0 to %m carrying (%a.2 = %a.1) {
        %t = …
        %b = store %a.2[%k] %t
        yield %b
      }
      …
      yield %acc.1 %a.3
    }

After::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %a.1 = empty[f64] %m
      %a.3 = for M …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import Apply, Block, For, Function, Operand, Stmt, Value, While, walk
from adc.ir.opdef import OPS
from adc.ir.types import Array
from adc.ir.walk import Names, carried_yields, map_functions, map_stmts, use_counts
from adc.passes.loops.overwrite import Overwriting


def privatize(fn: Function) -> Function:
    """Return `fn` with scratch arrays allocated inside the loops that use them."""

    def done(each: Function) -> Function:
        while True:  # a private array of a loop may turn out to be private to an inner one
            before, each = each, _Privatizer(each).run()
            if each is before:
                return each

    return map_functions(fn, done)


class _Privatizer:
    def __init__(self, fn: Function) -> None:
        self.names = Names.of(fn)
        self.shapes = Shapes(fn, self.names)
        self.fn = fn
        self.outer = {*fn.params, *(v for s in fn.body for v in s.results)}
        self.uses = use_counts(fn)
        self.overwriting = Overwriting(self.uses, mirrors=False)
        for stmt in walk(fn.body):
            self.overwriting.learn(stmt)
        # Scratch arrays: the loop and the position among its carried values, with their sizes.
        self.found: dict[int, dict[int, tuple[Operand, ...]]] = {}

    def run(self) -> Function:
        for stmt in walk(self.fn.body):
            if isinstance(stmt, For | While):
                self.find(stmt)
        if not self.found:
            return self.fn
        body = self.rebuilt(self.fn.body)
        # The sizes are those of arrays outside the loops; size queries come first.
        dims = [s for s in self.shapes.body() if s not in self.fn.body]
        return replace(self.fn, body=(*dims, *body))

    def find(self, loop: For | While) -> None:
        ends = carried_yields(loop)
        for k, (param, init) in enumerate(zip(loop.body.params, loop.init, strict=True)):
            if not isinstance(param.type, Array) or not isinstance(init, Value):
                continue
            if self.uses.get(loop.results[k], 0) or ends[k] == param:
                continue
            sizes = self.sizes(init)
            if sizes is not None and self.is_overwritten(loop, param, sizes):
                self.found.setdefault(id(loop), {})[k] = sizes

    def is_overwritten(self, loop: For | While, param: Value, sizes: tuple[Operand, ...]) -> bool:
        """Whether no incoming element of `param` is ever read by an iteration."""
        if self.uses.get(param, 0) != 1:
            return False
        for stmt in loop.body.stmts:
            if isinstance(stmt, For) and param in stmt.init:
                at = stmt.init.index(param)
                inner = stmt.body.params[at]
                if self.overwriting.covers(stmt, inner, sizes):
                    return True
                # A loop without iterations yields its input unchanged: only to the next iteration.
                unread = self.uses.get(stmt.results[at], 0) == 1 and (
                    stmt.results[at] in loop.body.yields
                )
                return unread and self.is_overwritten(stmt, inner, sizes)
        return False

    def sizes(self, array: Value) -> tuple[Operand, ...] | None:
        """Return the sizes of an array if they are known in front of all loops."""
        sizes = self.shapes.known(array)
        if sizes is None:
            return None
        return sizes if all(not isinstance(n, Value) or n in self.outer for n in sizes) else None

    def rebuilt(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(self.stmt(stmt) for stmt in stmts)

    def stmt(self, stmt: Stmt) -> Stmt:
        scratch = self.found.get(id(stmt), {})
        if isinstance(stmt, For | While) and scratch:
            first = int(isinstance(stmt, While))
            made = [self.empty(stmt.body.params[k], sizes) for k, sizes in scratch.items()]
            stay = [k for k in range(len(stmt.init)) if k not in scratch]
            body = stmt.body
            yields = (*body.yields[:first], *(body.yields[k + first] for k in stay))
            block = Block(
                tuple(body.params[k] for k in stay), (*made, *self.rebuilt(body.stmts)), yields
            )
            results = tuple(stmt.results[k] for k in stay)
            init = tuple(stmt.init[k] for k in stay)
            return replace(stmt, results=results, init=init, body=block)
        return map_stmts(stmt, self.rebuilt)

    def empty(self, array: Value, sizes: tuple[Operand, ...]) -> Stmt:
        return Apply((array,), OPS["empty"], sizes, (array.type.dtype,))
