"""Remove copies of matrices out of a stack that only matrix products read.

A product takes whole matrices, so ``h @ W[k]`` first copies one out of the stack `W`. If the stack
is an argument that is not changed, the product reads the matrix from the stack::

    %a = empty[f64] %n %m
    for L %i in 0 to %n {
      for M %j in 0 to %m {                 %a = row %W %k
        %t = load %W[%k, %i, %j]
        write %a[%i, %j] %t
      }
    }
    gemm[nn] %c %h %a                       gemm[nn] %c %h %a
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from adc.ir.analysis.memory.lifetimes import Sizes
from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    Load,
    Stmt,
    Value,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import Array
from adc.ir.walk import inner_values, map_functions, map_stmts, stmt_reads


def elide_copies(fn: Function, checked: bool = False) -> Function:
    """Return `fn`, which is in buffer form, without copies of matrices that products read.

    `checked`: also where a matrix is known to be as large as its copy only because the program
    checks it elsewhere; the code compares the sizes once more, and copies it if they differ.
    """
    return map_functions(fn, lambda each: _done(each, checked))


def _done(fn: Function, checked: bool) -> Function:
    multiplies = any(isinstance(stmt, Gemm) for stmt in walk(fn.body))
    return _Rows(fn, checked).run() if multiplies else fn


class _Rows:
    def __init__(self, fn: Function, checked: bool) -> None:
        self.fn = fn
        self.checked = checked
        self.uses: dict[Value, list[Stmt]] = {}
        for stmt in walk(fn.body):
            for operand in operands(stmt):
                if isinstance(operand, Value) and isinstance(operand.type, Array):
                    self.uses.setdefault(operand, []).append(stmt)
        for stmt in walk(fn.body):
            for block in blocks(stmt):
                for operand in block.yields:
                    self.uses.setdefault(operand, []).append(stmt)  # type: ignore[arg-type]
        # By definitions; with what checks in front of a statement say; with what any check says.
        self.defined, self.sizes, self.claimed = Sizes(fn), Sizes(fn), Sizes(fn)
        for stmt in walk(fn.body):
            if checked and isinstance(stmt, Check):
                self.claimed.check(stmt)

    def run(self) -> Function:
        return replace(self.fn, body=self.stmts(self.fn.body, always=True))

    def stmts(self, stmts: Sequence[Stmt], always: bool = False) -> tuple[Stmt, ...]:
        """Return statements without copies; `always`: they run in every call."""
        done: list[Stmt] = []
        for stmt in stmts:
            if always and isinstance(stmt, Check):
                self.sizes.check(stmt)
            if not isinstance(stmt, For):
                done.append(map_stmts(stmt, self.stmts))
                continue
            views = self.views(stmt, done)
            for view in views.values():
                place(view, done)
            left = without(stmt, views) if views else stmt
            if left is not None:
                done.append(map_stmts(left, self.stmts))
        return tuple(done)

    def views(self, nest: For, before: Sequence[Stmt]) -> dict[int, Apply]:
        """Return views instead of the copies that a nest makes for products, by its writes."""
        inside = list(walk((nest,)))
        if any(isinstance(stmt, Gemm | Call) for stmt in inside):
            return {}
        own = {value for stmt in inside for value in (*stmt.results, *inner_values(stmt))}
        found: dict[int, Apply] = {}
        for row in nest.body.stmts:
            if not isinstance(row, For):
                continue
            loads = {stmt.result: stmt for stmt in row.body.stmts if isinstance(stmt, Load)}
            for stmt in row.body.stmts:
                match stmt:
                    case Write(value=Value() as value, accumulate=False) if value in loads:
                        view = self.view(nest, row, loads[value], stmt, before)
                        if view is not None and own.isdisjoint(view.args):
                            found[id(stmt)] = view
        return found

    def view(
        self, nest: For, row: For, load: Load, write: Write, before: Sequence[Stmt]
    ) -> Apply | None:
        """Return a view of the matrix that a write copies, if only products read the copy."""
        place, stack, copy = (nest.index, row.index), load.array, write.array
        lead, last = load.index[:-2], load.index[-2:]
        if not lead or last != place or write.index != place:
            return None
        at = next((k for k, stmt in enumerate(before) if copy in stmt.results), 0)
        made = before[at] if before else None
        if not isinstance(made, Apply) or not made.op.reserves or copy not in made.results:
            return None
        if made.args != (nest.trips, row.trips):
            return None
        # The view stands where the copy was made: what it needs is there.
        if any(value in lead for stmt in before[at:] for value in stmt.results):
            return None
        if not self.stays(stack) or not self.is_factor(copy):
            return None
        # A check may be about sizes of the copy: where those are read, it says nothing of others.
        asked = any(copy in operands(each) for stmt in before[at + 1 :] for each in walk((stmt,)))

        def are_alike(sizes: Sizes) -> bool:
            return sizes.alike(sizes.shape(stack)[len(lead) :], sizes.shape(copy))

        if are_alike(self.defined if asked else self.sizes):
            return Apply((copy,), OPS["row"], (stack, *lead), (), write.loc)
        if self.checked and are_alike(self.claimed):
            args = (stack, *lead, nest.trips, row.trips)
            return Apply((copy,), OPS["part"], args, (len(lead),), write.loc)
        return None

    def stays(self, stack: Value) -> bool:
        """Whether an array is a contiguous argument that is only read."""
        assert isinstance(stack.type, Array)
        if stack not in self.fn.params or stack.type.layout != "C":
            return False
        return all(
            isinstance(stmt, Load)
            or (isinstance(stmt, Apply) and (stmt.op.asks_shape or stmt.op.aliases == "part"))
            for stmt in self.uses[stack]
        )

    def is_factor(self, copy: Value) -> bool:
        """Whether an array is read by products alone, and written in one nest."""
        if copy in self.fn.results:
            return False
        writes = 0
        for stmt in self.uses[copy]:
            if isinstance(stmt, Write):
                writes += 1
            elif isinstance(stmt, Gemm):
                if stmt.array == copy:
                    return False
            elif not (isinstance(stmt, Apply) and stmt.op.asks_shape):
                return False
        return writes == 1


def place(view: Apply, done: list[Stmt]) -> None:
    """Put a view where the memory of the copy was taken: sizes of it may be read from there on."""
    at = next(k for k, stmt in enumerate(done) if stmt.results == view.results)
    done[at] = view


def without(nest: For, writes: Container[int]) -> For | None:
    """Return a nest without some writes in its inner loops, or None if it does nothing else."""
    rows: list[Stmt] = []
    for row in nest.body.stmts:
        if isinstance(row, For):
            kept = [stmt for stmt in row.body.stmts if id(stmt) not in writes]
            read = set(row.body.yields).union(*map(stmt_reads, kept))
            kept = [s for s in kept if not isinstance(s, Load) or s.result in read]
            if not kept and not row.results:
                continue
            row = replace(row, body=replace(row.body, stmts=tuple(kept)))
        rows.append(row)
    if not rows and not nest.results:
        return None
    return replace(nest, body=replace(nest.body, stmts=tuple(rows)))


__all__ = ["elide_copies"]
