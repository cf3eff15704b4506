"""Turn loops down one column after the other into loops along rows.

Where the iterations of a loop are independent, but each contains a sequential or strided loop, all
iterations may do the same step of the inner loop at once, as vectors.
Before::

    %b.3 = for J %j in 0 to %n carrying (%b = %b.0) {
      %s = for I %i in 0 to %m carrying (%s.1 = 0.0:f64) {
        %t = load %a[%i, %j]
        %s.2 = add %s.1 %t
        yield %s.2
      }
      %b.1 = store %b[%j] %s
      yield %b.1
    }

After, in short: numbers that the inner loop carries become arrays of one element a column. ::

    for j in range(n): sums[j] = 0.0
    for i in range(m):
        for j in range(n):
            sums[j] = sums[j] + a[i, j]
    for j in range(n): b[j] = sums[j]

Each number is added to in the same order: no bit changes. This is loop distribution, scalar
expansion and interchange: Allen and Kennedy, "Automatic translation of Fortran programs to vector
form", TOPLAS 1987.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, accesses
from adc.ir.analysis.dependence.dependence_test import DependenceTest
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Literal,
    Load,
    Operand,
    Stmt,
    Store,
    Value,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import (
    Names,
    loop_values,
    map_functions,
    map_stmts,
    stmt_reads,
    substitute,
    substitute_stmt,
    with_results,
)

# Loops of fewer iterations are not transformed.
_FEW = 8

Env = dict[Value, Operand]


def distribute(fn: Function) -> Function:
    """Return `fn` with sequential inner loops moved outside of independent iterations."""
    return map_functions(fn, lambda each: _Distribute(each).run())


class _Distribute:
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
            if isinstance(stmt, For) and self.is_right(stmt):
                done += _Columns(self, stmt).split()
            else:
                done.append(map_stmts(stmt, self.stmts))
        return done

    def is_right(self, loop: For) -> bool:
        """Whether the iterations of a loop are independent, and splitting it pays."""
        if loop.down or not loop.init or loop.trips.type != INT or _is_short(loop):
            return False
        if not all(isinstance(s, Apply | Load | Store | For) for s in walk(loop.body.stmts)):
            return False
        for stmt in walk(loop.body.stmts):
            if isinstance(stmt, Apply):
                if any(isinstance(v.type, Array) for v in (*stmt.results, *stmt.args)):
                    return False
        versions = {v for param in loop.body.params for v in _versions(loop, param)}
        made = {v for s in loop.body.stmts for v in s.results if isinstance(v.type, Array)}
        if not made <= versions:
            return False
        for k, param in enumerate(loop.body.params):
            found: list[Access] = []
            if not isinstance(param.type, Array) or loop.body.yields[k] == param:
                return False
            if not accesses(loop.body, param, k, found):
                return False
            stores = [stmt for stmt in found if isinstance(stmt, Store)]
            if not DependenceTest(self.facts, loop).differ((s, o) for s in stores for o in found):
                return False
        return any(isinstance(s, For) and self.pays(s, loop) for s in loop.body.stmts)

    def pays(self, inner: For, loop: For) -> bool:
        """Whether the iterations of a loop vectorise better than those of the loop in it."""
        if inner.down or inner.trips in loop_values(loop) or _is_short(inner):
            return False
        if any(isinstance(s, For) for s in inner.body.stmts):
            return False
        along = down = 0
        for stmt in inner.body.stmts:
            if isinstance(stmt, Load | Store):
                steps = self.facts.form(stmt.index[-1]) if stmt.index else None
                if steps is not None:
                    along += abs(steps.coefficient(loop.index)) == 1
                    down += abs(steps.coefficient(inner.index)) == 1
        # Numbers carried in the program's order form a dependence chain.
        chain = any(not isinstance(p.type, Array) for p in inner.body.params) and not any(
            isinstance(s, Apply) and s.op.reorders for s in inner.body.stmts
        )
        return along > down or (chain and along == down > 0)


class _Columns:
    """Splits one loop."""

    def __init__(self, of: _Distribute, loop: For) -> None:
        self.of, self.loop, self.names = of, loop, of.names
        self.done: list[Stmt] = []
        # By parameter of the loop: its current version in the body, and its outer name.
        self.now = {param: param for param in loop.body.params}
        self.outer: dict[Value, Value] = {}
        for param, start in zip(loop.body.params, loop.init, strict=True):
            assert isinstance(start, Value)
            self.outer[param] = start
        # Arrays that hold values of all iterations: their outer names.
        self.kept: dict[Value, Value] = {}
        self.defs = {v: s for s in loop.body.stmts for v in s.results}

    def split(self) -> list[Stmt]:
        body, waiting = self.loop.body, list[Stmt]()
        trips = self.loop.trips
        if not isinstance(trips, Literal):
            most = Value(self.names.fresh("n"), INT)
            self.done.append(Apply((most,), OPS["maximum"], (trips, integer(0)), (), self.loop.loc))
            self.size: Operand = most
        else:
            self.size = trips
        for stmt in body.stmts:
            if isinstance(stmt, For) and self.of.pays(stmt, self.loop):
                starts = [x for x in stmt.init if not isinstance(x.type, Array)]
                sums = [p for p in stmt.body.params if not isinstance(p.type, Array)]
                self.straight(waiting, dict(zip(sums, starts, strict=True)))
                waiting = []
                self.exchanged(stmt)
            else:
                waiting.append(stmt)
        self.straight(waiting, {})
        names = {
            self.outer[param]: result
            for param, result in zip(body.params, self.loop.results, strict=True)
        }
        env: Env = dict(names)
        found = []
        for stmt in self.done:
            stmt = substitute_stmt(stmt, env)
            found.append(with_results(stmt, tuple(names.get(v, v) for v in stmt.results)))
        return found

    def straight(self, stmts: Sequence[Stmt], more: dict[Value, Operand]) -> None:
        """Run statements for all iterations, and keep values that are needed later, and `more`."""
        made = {v for s in stmts for v in s.results}
        later = set[Value]()
        for stmt in reversed(self.loop.body.stmts):
            if not stmts or stmt is stmts[-1]:
                break
            later |= stmt_reads(stmt)
        kept: dict[Value, Operand] = {
            value: value
            for stmt in stmts
            for value in stmt.results
            if value in later and not isinstance(value.type, Array) and not self.is_cheap(value)
        }
        kept.update(more)
        changed = {
            param: next((v for v in reversed(_versions(self.loop, param)) if v in made), None)
            for param in self.now
        }
        changed = {param: version for param, version in changed.items() if version is not None}
        if not changed and not kept:
            return
        index = Value(self.names.fresh(self.loop.index.name), INT)
        params = {param: self.names.value(param) for param in changed}
        env: Env = {self.loop.index: index}
        env.update((self.now[p], params.get(p, self.outer[p])) for p in self.now)
        before: list[Stmt] = []
        self.fetch(stmts, kept.values(), index, env, before)
        body = [substitute_stmt(stmt, env) for stmt in stmts]
        starts = [self.outer[param] for param in changed]
        yields = [substitute(version, env) for version in changed.values() if version]
        arrays: list[tuple[Value, Value]] = []
        for value, source in kept.items():
            empty = Value(self.names.fresh(value.name), Array(value.type.dtype, 1))
            self.done.append(Apply((empty,), OPS["empty"], (self.size,), (value.type.dtype,)))
            param, stored = self.names.value(empty), self.names.value(empty)
            body.append(Store(stored, param, (index,), substitute(source, env)))
            starts.append(empty)
            yields.append(stored)
            arrays.append((value, param))
        ends = [self.names.value(v) for v in starts]
        all_params = (*params.values(), *(param for _, param in arrays))
        self.done.append(
            replace(
                self.loop,
                label=self.names.fresh(self.loop.label),
                index=index,
                results=tuple(ends),
                init=tuple(starts),
                body=Block(all_params, (*before, *body), tuple(yields)),
            )
        )
        for param, end in zip(changed, ends, strict=False):
            self.outer[param] = end
        for (value, _), end in zip(arrays, ends[len(changed) :], strict=True):
            self.kept[value] = end
        self.now.update((param, version) for param, version in changed.items() if version)

    def exchanged(self, inner: For) -> None:
        """Run one step of a loop for all iterations."""
        index = Value(self.names.fresh(self.loop.index.name), INT)
        rows, columns = [], []  # parameters of the outer loop and the inner one
        starts: list[Operand] = []
        env: Env = {self.loop.index: index}
        carried = {self.now[p]: p for p in self.now}
        env.update((version, self.outer[p]) for version, p in carried.items())
        before: list[Stmt] = []
        after: list[Stmt] = []
        yields: list[Operand] = []
        for param, start, end in zip(inner.body.params, inner.init, inner.body.yields, strict=True):
            if isinstance(param.type, Array):
                assert isinstance(start, Value)
                starts.append(self.outer[carried[start]])
                column = self.names.value(param)
                env[param] = column
                yields.append(end)
            else:
                starts.append(self.kept[param])
                column = self.names.value(self.kept[param])
                env[param] = self.loaded(param, column, index, before)
                stored = self.names.value(column)
                after.append(Store(stored, column, (index,), end))
                yields.append(stored)
            columns.append(column)
            rows.append(self.names.value(column))
        self.fetch(inner.body.stmts, (), index, env, before)
        stmts = [substitute_stmt(stmt, env) for stmt in (*inner.body.stmts, *after)]
        ends = tuple(self.names.value(row) for row in rows)
        steps = replace(
            self.loop,
            label=self.names.fresh(self.loop.label),
            index=index,
            results=ends,
            init=tuple(rows),
            body=Block(
                tuple(columns),
                (*before, *stmts),
                tuple(substitute(each, env) for each in yields),
            ),
        )
        results = tuple(self.names.value(end) for end in ends)
        self.done.append(
            replace(
                inner, results=results, init=tuple(starts), body=Block(tuple(rows), (steps,), ends)
            )
        )
        for old, start, result in zip(inner.results, inner.init, results, strict=True):
            if isinstance(old.type, Array):
                assert isinstance(start, Value)
                param = carried[start]
                self.outer[param], self.now[param] = result, old
            else:
                self.kept[old] = result

    def is_cheap(self, value: Value) -> bool:
        """Whether an integer is recomputed rather than kept."""
        stmt = self.defs.get(value)
        if value == self.loop.index or stmt is None:
            return True
        return (
            isinstance(stmt, Apply)
            and value.type.kind in "iu"
            and stmt.op.cost <= 1
            and all(isinstance(arg, Literal) or self.is_cheap(arg) for arg in stmt.args)
        )

    def fetch(
        self,
        stmts: Sequence[Stmt],
        more: Iterable[Operand],
        index: Value,
        env: Env,
        into: list[Stmt],
    ) -> None:
        """Load or recompute the earlier values that statements need."""
        own = {v for s in stmts for v in s.results}
        reads = set[Value]().union(*map(stmt_reads, stmts))
        reads |= {v for v in more if isinstance(v, Value)}
        for value in sorted(reads - own, key=lambda value: value.name):
            self.fetched(value, index, env, into)

    def fetched(self, value: Value, index: Value, env: Env, into: list[Stmt]) -> None:
        if value in env or value not in self.defs:
            return
        stmt = self.defs[value]
        if value in self.kept:
            env[value] = self.loaded(value, self.kept[value], index, into)
        elif isinstance(stmt, Apply):
            for arg in stmt.args:
                if isinstance(arg, Value):
                    self.fetched(arg, index, env, into)
            new = self.names.value(value)
            into.append(with_results(substitute_stmt(stmt, env), (new,)))
            env[value] = new

    def loaded(self, value: Value, array: Value, index: Value, into: list[Stmt]) -> Value:
        """Load a value, where Python numbers have become NumPy scalars."""
        new = self.names.value(value)
        stored = Scalar(value.type.dtype)
        if value.type == stored:
            into.append(Load(new, array, (index,), self.loop.loc))
            return new
        number = Value(self.names.fresh("t"), stored)
        into.append(Load(number, array, (index,), self.loop.loc))
        into.append(Apply((new,), OPS["cast"], (number,), (str(value.type),), self.loop.loc))
        return new


def _versions(loop: For, param: Value) -> list[Value]:
    """Return the versions of an array that the body of a loop creates, in order."""
    found = [param]
    for stmt in loop.body.stmts:
        if isinstance(stmt, Store) and stmt.array == found[-1]:
            found.append(stmt.result)
        elif isinstance(stmt, For) and found[-1] in stmt.init:
            found.append(stmt.results[stmt.init.index(found[-1])])
    return found[1:]


def _is_short(loop: For) -> bool:
    return isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW


__all__ = ["distribute"]
