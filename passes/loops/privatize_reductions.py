"""Give groups of iterations private accumulators, so that threads can share the loop.

In reverse code, every iteration of a loop may add to the same elements: to the cotangent of a value
that all of them read. Here each group of iterations gets a private array, and these are summed
after the loop. Before::

    %b.ct.3 = reverse L %i.r carrying (%b.ct = %b.ct.0) {
      …
      %b.ct.1 = accumulate %b.ct[%j.r] %v
      yield %b.ct.1
    }

After, in short (there are at most `_GROUPS` groups, of a size that depends on ``n`` alone)::

    part = zeros((groups, len(b)))
    for i in reversed(range(n)):
        part[i // size, j] += v
    for g in range(groups):
        for j in range(len(b)):
            b.ct[j] += part[g, j]

A sum that continues through an inner loop is closed in every iteration, and the outer loop sums the
results of the inner ones::

    %s.3 = for M %j in 0 to %m carrying (%s.1 = %s)        carrying (%s.1 = -0.0:f64)
      …                                                    …
                                                           %s.4 = sum %s %s.3

Additions to an iteration's own and neighbouring elements are left as they are: `gather` handles
them. The order of additions depends on sizes alone, and is fixed here, before `remat`: it is the
same for every plan and any number of threads. `parallel` divides the loops into their groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, accesses, own_axis
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Print,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.sums import summed
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import Names, map_stmts, stmt_reads, substitute_stmt, with_stmts

# The most groups of iterations, each of which has private arrays, and the least iterations of one.
_GROUPS = 8
_LEAST = 8


def privatize_reductions(fn: Function) -> Function:
    """Return `fn`, which is in value form, with partial sums for parts of loops."""
    return _ReductionPrivatizer(fn).run()


class _ReductionPrivatizer:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.names = Names.of(fn)
        for callee in fn.callees:
            self.names.add(Names.of(callee))
        self.shapes = Shapes(fn, self.names)
        self.facts = Facts()
        self.loops = {s.label: s for s in walk(fn.body) if isinstance(s, For | While)}
        for stmt in walk(fn.body):
            self.facts.mirror(stmt, self.loops)
            self.facts.define(stmt)

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body, top=True)))

    def stmts(self, stmts: Sequence[Stmt], *, top: bool) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            shared = self.shared(stmt) if isinstance(stmt, For | Reverse) else None
            if shared is None:
                done.append(map_stmts(stmt, lambda stmts: self.stmts(stmts, top=False)))
                continue
            assert isinstance(stmt, For | Reverse)
            loop = self.with_closed_sums(stmt)
            sizes = {k: self.shapes.known(loop.init[k]) for k in shared}  # type: ignore[arg-type]
            if not shared or not top or None in sizes.values():
                done.append(loop)
            else:
                done += self.grouped(loop, {k: dims for k, dims in sizes.items() if dims})
        return done

    def shared(self, loop: For | Reverse) -> list[int] | None:
        """Return the arrays that iterations only add to, by position; None if more is carried."""
        if isinstance(loop, Reverse) and not isinstance(self.loops[loop.loop], For):
            return None
        inside = list(walk(loop.body.stmts))
        if any(isinstance(stmt, Call | Gemm | Print) for stmt in inside):
            return None
        if not any(isinstance(stmt, For | Reverse | While) for stmt in inside):
            return None
        index = self.facts.form(loop.index).terms[0][0]
        chains = summed(loop)
        found: list[int] = []
        for k, param in enumerate(loop.body.params):
            if not isinstance(param.type, Array):
                if k not in chains:
                    return None
                continue
            touched: list[Access] = []
            if not accesses(loop.body, param, k, touched):
                return None
            if not touched or own_axis(touched, index, self.facts) is not None:
                continue
            if not all(isinstance(stmt, Store) and stmt.accumulate for stmt in touched):
                return None
            # A stencil: a private array for each group would be as large as all that the loop
            # adds.
            forms = [self.facts.form(operand) for stmt in touched for operand in stmt.index]
            if any(index == value for form in forms for value, _ in form.terms):
                return None
            found.append(k)
        return found

    # -- sums ------------------------------------------------------------------------------

    def with_closed_sums(self, loop: For | Reverse) -> For | Reverse:
        """Return a loop whose inner loops close the sums that they add to."""
        body = loop.body
        for chain in summed(loop).values():
            if chain.nested:
                param = next(p for p in body.params if p in chain.members)
                body = self.close_sums(body, param)
        return replace(loop, body=body)

    def close_sums(self, block: Block, value: Value) -> Block:
        """Return a block whose inner loops restart a sum, unless it goes through a branch."""
        stmts: list[Stmt] = []
        env: dict[Value, Operand] = {}
        now: Operand = value
        for stmt in block.stmts:
            stmt = substitute_stmt(stmt, env)
            match stmt:
                case Apply(op=op, args=(first, _)) if op.reorders and first == now:
                    now = stmt.result
                case If() if now in stmt_reads(stmt):
                    return block
                case For(init=init) | Reverse(init=init) if now in init:
                    at = init.index(now)
                    result, total = stmt.results[at], self.names.value(stmt.results[at])
                    nothing = Literal(-0.0, now.type)
                    given = tuple(nothing if j == at else each for j, each in enumerate(init))
                    stmts.append(replace(stmt, init=given))
                    stmts.append(Apply((total,), OPS["sum"], (now, result), (), stmt.loc))
                    env[result] = now = total
                    continue
            stmts.append(stmt)
        ends = [env.get(y, y) if isinstance(y, Value) else y for y in block.yields]
        return with_stmts(block, stmts, ends)

    # -- arrays ----------------------------------------------------------------------------

    def grouped(self, loop: For | Reverse, sizes: dict[int, tuple[Operand, ...]]) -> list[Stmt]:
        """Return a loop whose groups of iterations add to private arrays."""
        done: list[Stmt] = []

        def apply(name: str, *args: Operand, like: str = "n") -> Value:
            made = Value(self.names.fresh(like), INT)
            done.append(Apply((made,), OPS[name], args, (), loop.loc))
            return made

        forward = loop if isinstance(loop, For) else self.loops[loop.loop]
        assert isinstance(forward, For)
        trips = forward.trips
        if isinstance(trips, Value) and isinstance(loop, Reverse):
            again = self.names.value(trips)
            done.append(Recall(again, trips, loop.loc))
            trips = again
        if trips.type != INT:
            number = Value(self.names.fresh("n"), INT)
            done.append(Apply((number,), OPS["cast"], (trips,), (str(INT),), loop.loc))
            trips = number
        most = apply("floordiv", trips, integer(_LEAST))
        most = apply("minimum", most, integer(_GROUPS))
        groups = apply("maximum", most, integer(1))
        size = apply("add", trips, groups)
        size = apply("sub", size, integer(1))
        size = apply("floordiv", size, groups)
        size = apply("maximum", size, integer(1), like="size")

        group = Value(self.names.fresh("group"), INT)
        init, results = list(loop.init), list(loop.results)
        body = loop.body
        after: list[Stmt] = []
        for k, dims in sizes.items():
            param, result, array = body.params[k], loop.results[k], loop.init[k]
            assert isinstance(array, Value)
            assert isinstance(array.type, Array)
            ty = Array(array.type.dtype, array.type.rank + 1)
            part = Value(self.names.fresh(f"{param.name}.part"), ty)
            nothing = Literal(0.0, Scalar(ty.dtype))
            dimensions = (groups, *dims)
            done.append(Apply((part,), OPS["full"], (nothing, *dimensions), (ty.dtype,), loop.loc))
            body = self.to_part(body, param, group, ty)
            init[k] = part
            results[k] = Value(self.names.fresh(part.name), ty)
            after.append(self.added(array, results[k], dimensions, result, loop))
        own = Apply((group,), OPS["floordiv"], (loop.index, size), (), loop.loc)
        body = with_stmts(body, (own, *body.stmts), body.yields)
        done.append(replace(loop, results=tuple(results), init=tuple(init), body=body))
        return [*done, *after]

    def to_part(self, block: Block, array: Value, group: Value, ty: Array) -> Block:
        """Return a block that adds to an array with a group axis in place of a carried one."""
        env: dict[Value, Operand] = {}

        def renamed(value: Value) -> Value:
            env[value] = new = Value(self.names.fresh(value.name), ty)
            return new

        params = tuple(renamed(each) if each == array else each for each in block.params)
        now = array
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            match stmt:
                case Store(array=target) if target == now:
                    now = stmt.result
                    new = substitute_stmt(stmt, env)
                    assert isinstance(new, Store)
                    new = replace(new, result=renamed(now), index=(group, *stmt.index))
                    stmts.append(new)
                case For(init=init) | Reverse(init=init) if now in init:
                    at = init.index(now)
                    inner = self.to_part(stmt.body, stmt.body.params[at], group, ty)
                    now = stmt.results[at]
                    new = substitute_stmt(stmt, env)
                    assert isinstance(new, For | Reverse)
                    results = tuple(renamed(each) if each == now else each for each in stmt.results)
                    stmts.append(replace(new, body=inner, results=results))
                case _:
                    stmts.append(stmt)
        yields = [env.get(y, y) if isinstance(y, Value) else y for y in block.yields]
        return Block(params, tuple(stmts), tuple(yields))

    def added(
        self,
        array: Value,
        part: Value,
        dims: Sequence[Operand],
        result: Value,
        loop: For | Reverse,
    ) -> Stmt:
        """Return a nest that adds up the arrays of all groups, one after the other."""

        def nest(axis: int, index: tuple[Value, ...], version: Value) -> tuple[list[Stmt], Value]:
            new = result if axis == 0 else self.names.value(array)
            if axis == len(dims):
                term = Value(self.names.fresh("t"), Scalar(part.type.dtype))
                load = Load(term, part, index, loop.loc)
                return [load, Store(new, version, index[1:], term, True, loop.loc)], new
            counter = Value(self.names.fresh("i"), INT)
            inner = self.names.value(array)
            stmts, last = nest(axis + 1, (*index, counter), inner)
            label = self.names.fresh("parts")
            block = Block((inner,), tuple(stmts), (last,))
            made = For((new,), label, counter, dims[axis], (version,), block, loc=loop.loc)
            return [made], new

        (made,), _ = nest(0, (), array)
        return made


__all__ = ["privatize_reductions"]
