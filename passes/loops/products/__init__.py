"""Make one product of matrices of the products of a matrix with a vector of each iteration.

`W @ x` in a loop over examples, as `vmap` has it, reads the matrix again for each of them. Where
the vectors do not depend on what the loop carries, those of a block of iterations are computed
first, and BLAS multiplies all of them at once. Before::

    %o.3 = for L %i in 0 to %n carrying (%o.1 = %o) {
      %a = empty[f64] %r
      %a.3 = for J %j in 0 to %r carrying (%a.1 = %a) {
        %s.2 = for K %k in 0 to %m carrying (%s = 0.0:f64) {
          %w = load %W[%j, %k]
          %x = load %X[%i, %k]
          %t = mul %w %x
          %s.1 = sum %s %t
          yield %s.1
        }
        %a.2 = store %a.1[%j] %s.2
        yield %a.2
      }
      … load %a.3[%p] …
    }

After, in short::

    for block in range(0, n, 64):
        count = min(64, n - block)
        rows = empty(count, m); found = empty(count, r)
        for q in range(count):
            for k in range(m): rows[q, k] = X[block + q, k]
        gemm found = rows @ W.T
        for q in range(count):
            … found[q, p] …

What the vectors are made of is computed in the first loop over the block, as far as the checks hold
that come before; of that, what the rest of an iteration reads is kept for each iteration. The
blocks depend on nothing but the number of iterations, and all of this happens before `remat`: the
bits are the same for every plan and any number of threads. Only products whose order of sums the
source does not define (`adc.ir.sums`) change, to rounding.

`sums` recognises the loops of a product, `find` tells whether it can be made for all iterations,
`split` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Literal,
    Load,
    Recall,
    Reverse,
    Stmt,
    walk,
)
from adc.ir.ops import arith
from adc.ir.types import INT
from adc.ir.walk import Names, map_functions, map_stmts
from adc.passes.loops.products.find import Finder
from adc.passes.loops.products.split import Split

# So many iterations are multiplied at once.
_BLOCK = 32
# Loops of fewer iterations are left alone.
_FEW = 8


def products(fn: Function, blocks: bool = True) -> Function:
    """Return `fn`, which is in value form, with products of vectors in loops as those of blocks.

    Parameters
    ----------
    fn : Function
    blocks : bool
        Whether products are made. If not, only the order of sums that arrays hold is settled.
    """
    return map_functions(fn, lambda each: _made(each, blocks))


def _made(fn: Function, blocks: bool) -> Function:
    if any(isinstance(s, Reverse | Recall) for s in walk(fn.body)) or fn.mirror:
        return fn  # reverse code names loops of the forward code
    if blocks and any(_is_loop(stmt, deep=3) for stmt in walk(fn.body)):
        fn = replace(fn, body=tuple(_Products(fn).stmts(fn.body)))
    return _in_order(fn)


def _in_order(fn: Function) -> Function:
    """Return `fn` with sums that arrays hold between iterations added in the order of the loops.

    A later pass may keep such a sum in a number that loops carry: that must not become lanes.
    """
    loaded = {stmt.result for stmt in walk(fn.body) if isinstance(stmt, Load)}

    def one(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Apply) and stmt.op.reorders and stmt.args[0] in loaded:
            return replace(stmt, op=arith.add)
        return map_stmts(stmt, lambda stmts: [one(s) for s in stmts])

    return replace(fn, body=tuple(map(one, fn.body)))


def _is_loop(stmt: Stmt, deep: int) -> bool:
    """Whether a statement is a loop around so many directly in each other, itself included."""
    return isinstance(stmt, For) and (
        deep == 1 or any(_is_loop(each, deep - 1) for each in stmt.body.stmts)
    )


class _Products:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.names = Names.of(fn)
        self.finder = Finder(fn, self.names)

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for old in stmts:
            if isinstance(old, Check) and stmts is self.fn.body:
                self.finder.passed(old)
            stmt = map_stmts(old, self.stmts)
            found = self.in_blocks(stmt) if isinstance(stmt, For) else None
            done += [stmt] if found is None else found
        return done

    def in_blocks(self, loop: For) -> list[Stmt] | None:
        """Return what replaces a loop, or None if it has no product."""
        if loop.down or (isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW):
            return None
        if self.finder.find(loop) is None:
            return None
        build = Builder(self.names)
        build.loc = loop.loc
        if isinstance(loop.trips, Literal) and int(loop.trips.value) <= _BLOCK:
            self.split(loop, build)
            return build.stmts
        size = integer(_BLOCK)
        more = build.apply(arith.add, loop.trips, integer(_BLOCK - 1), hint="n")
        count = build.apply(arith.floordiv, more, size, hint="n")
        block = build.value("block", INT)
        params = tuple(self.names.value(param) for param in loop.body.params)
        results = tuple(self.names.value(param) for param in loop.body.params)
        with build.block() as stmts:
            start = build.apply(arith.mul, block, size, hint="i")
            left = build.apply(arith.sub, loop.trips, start, hint="n")
            trips = build.apply(arith.minimum, size, left, hint="n")
            place = build.value("q", INT)
            index = Apply((loop.index,), arith.add, (start, place), (), loop.loc)
            part = replace(
                loop, index=place, trips=trips, init=params, results=results,
                body=replace(loop.body, stmts=(index, *loop.body.stmts)),
            )  # fmt: skip
            self.split(part, build)
        blocks = replace(
            loop, label=self.names.fresh(loop.label), index=block, trips=count,
            body=Block(params, tuple(stmts), results),
        )  # fmt: skip
        return [*build.stmts, blocks]

    def split(self, loop: For, build: Builder) -> None:
        """Emit a loop of one block with its products in front of it."""
        while (found := self.finder.find(loop)) is not None:
            loop = Split(self.finder, loop, found, build).run()
        build.emit(loop)


__all__ = ["products"]
