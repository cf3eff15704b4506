"""Inline calls and matrix products in loops: a thread can execute neither.

    for L %i in 0 to %n {                 for L %i in 0 to %n {
      %x = call C0 solved(%a)               … the statements of `solved`, with %a …
      gemm %c = %x * %b                     for L0 %j in 0 to %c.dim0 {
    }                                         for L1 %k in 0 to %c.dim1 { … }
                                            }
                                          }

`outline_kernels` turns such loops into launches; the others stay as they were. This is buffer form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.builder import Builder
from adc.ir.core import (
    Block,
    Call,
    For,
    Function,
    Gemm,
    Literal,
    Operand,
    Stmt,
    Value,
    Write,
    blocks,
    walk,
)
from adc.ir.functions import called
from adc.ir.types import INT, Array
from adc.ir.walk import Names, clone, map_blocks, map_operands

# The most statements that inlining may add to a function.
_MOST = 5000


class Inlined:
    """A function with the calls and products in its loops inlined.

    Calls of recursive functions stay, and all calls if they would add too much code.

    Attributes
    ----------
    fn : Function
        The function: code outside of loops is unchanged.
    loops : dict
        The replacement of every loop, by its `id`.
    """

    def __init__(self, fn: Function) -> None:
        self._table = _inlinable(fn)
        if _added(fn.body, self._table, False) > _MOST:
            self._table = {}
        self.names = Names.of(fn)
        for each in fn.callees:
            self.names.add(Names.of(each))
        self.loops: dict[int, For] = {}
        self._changed: set[int] = set()
        self.fn = replace(fn, body=tuple(self._stmts(fn.body, {}, False)))

    def changed(self, loop: For) -> bool:
        """Whether anything was inlined in a loop of `fn`."""
        return id(loop) in self._changed

    def alone(self, loop: For) -> For:
        """Return a loop of the original with its calls and products inlined, others unchanged."""
        if not self.changed(self.loops[id(loop)]):
            return loop
        known, self.loops = self.loops, {}
        (made,) = self._stmts([loop], {}, False)
        self.loops = known
        assert isinstance(made, For)
        return made

    def _stmts(self, stmts: Sequence[Stmt], env: dict[Value, Operand], within: bool) -> list[Stmt]:
        """Return statements; `env` has the replacements of results of calls."""

        def read(operand: Operand) -> Operand:
            return env.get(operand, operand) if isinstance(operand, Value) else operand

        def block(old: Block, inside: bool) -> Block:
            inner = self._stmts(old.stmts, env, inside)
            return Block(old.params, tuple(inner), tuple(map(read, old.yields)))

        done: list[Stmt] = []
        for stmt in stmts:
            new = map_operands(stmt, read)
            if within and self._is_inlined(new):
                done += self._product(new) if isinstance(new, Gemm) else self._inlined(new, env)
            elif isinstance(stmt, For):
                new = map_blocks(new, lambda old: block(old, True))
                assert isinstance(new, For)
                self.loops[id(stmt)] = new
                if any(map(self._is_inlined, walk(stmt.body.stmts))):
                    self._changed.add(id(new))
                done.append(new)
            else:
                done.append(map_blocks(new, lambda old: block(old, within)))
        return done

    def _is_inlined(self, stmt: Stmt) -> bool:
        return isinstance(stmt, Gemm) or (isinstance(stmt, Call) and stmt.callee in self._table)

    def _inlined(self, call: Stmt, env: dict[Value, Operand]) -> list[Stmt]:
        assert isinstance(call, Call)
        callee = self._table[call.callee]
        own: dict[Value, Operand] = dict(zip(callee.params, call.args, strict=True))
        copied = clone(callee.body, own, self.names)
        done = self._stmts(copied, env, True)
        for result, operand in zip(call.results, callee.results, strict=True):
            if isinstance(operand, Value):
                operand = own.get(operand, operand)
            env[result] = env.get(operand, operand) if isinstance(operand, Value) else operand
        return done

    def _product(self, gemm: Gemm) -> list[Stmt]:
        """Return loops that multiply two matrices."""
        c, a, b = gemm.array, gemm.a, gemm.b
        assert isinstance(c.type, Array)
        build = Builder(self.names)
        build.loc = gemm.loc
        rows, columns = (build.apply("dim", c, params=(axis,), hint="n") for axis in (0, 1))
        inner = build.apply("dim", a, params=(int(not gemm.transposed[0]),), hint="n")
        i, j, k = (build.value(hint, INT) for hint in "ijk")
        total = build.value("s", c.type.element)
        with build.block() as terms:
            left = build.load(a, (k, i) if gemm.transposed[0] else (i, k))
            right = build.load(b, (j, k) if gemm.transposed[1] else (k, j))
            more = build.apply("add", total, build.apply("mul", left, right))
        with build.block() as elements:
            start: Operand = Literal(0.0, c.type.element)
            if gemm.accumulate:
                start = build.load(c, (i, j))
            found = build.value("s", c.type.element)
            body = Block((total,), tuple(terms), (more,))
            build.emit(
                For((found,), self.names.fresh("L0"), k, inner, (start,), body, loc=gemm.loc)
            )
            build.emit(Write(c, (i, j), found, loc=gemm.loc))
        with build.block() as lines:
            body = Block((), tuple(elements), ())
            build.emit(For((), self.names.fresh("L0"), j, columns, (), body, loc=gemm.loc))
        body = Block((), tuple(lines), ())
        build.emit(For((), self.names.fresh("L0"), i, rows, (), body, loc=gemm.loc))
        return build.stmts


def _inlinable(fn: Function) -> dict[str, Function]:
    """Return the callees that do not call themselves, directly or indirectly."""
    table = {each.name: each for each in fn.callees}
    reached = {name: {n for n in called(each) if n in table} for name, each in table.items()}
    for via in table:
        for name in table:
            if via in reached[name]:
                reached[name] |= reached[via]
    return {name: each for name, each in table.items() if name not in reached[name]}


def _added(stmts: Sequence[Stmt], table: Mapping[str, Function], within: bool) -> int:
    """Count the statements of calls that lie in loops, and of what these call."""
    count = 0
    for stmt in stmts:
        if within and isinstance(stmt, Call) and stmt.callee in table:
            body = table[stmt.callee].body
            count += sum(1 for _ in walk(body)) + _added(body, table, True)
        for block in blocks(stmt):
            count += _added(block.stmts, table, within or isinstance(stmt, For))
        if count > _MOST:
            break
    return count
