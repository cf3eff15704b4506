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

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.memory.lifetimes import Sizes
from adc.ir.core import (
    Apply,
    Block,
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
from adc.ir.walk import map_blocks


def elide_copies(fn: Function, checked: bool = False) -> Function:
    """Return `fn`, which is in buffer form, without copies of matrices that products read.

    `checked`: also where a matrix is known to be as large as its copy only because the program
    checks it; the code compares the sizes once more, and copies it if they differ.
    """
    callees = tuple(_Rows(each, checked).run() for each in fn.callees)
    return replace(_Rows(fn, checked).run(), callees=callees)


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
        self.sizes: Sizes | None = None

    def run(self) -> Function:
        if not any(isinstance(stmt, Gemm) for stmt in walk(self.fn.body)):
            return self.fn
        return replace(self.fn, body=self.stmts(self.fn.body))

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            row = self.row(stmt, done) if isinstance(stmt, For) else None
            if row is None:
                done.append(map_blocks(stmt, self.block))
                continue
            done = [each for each in done if each.results != row.results]
            done.append(row)
        return tuple(done)

    def block(self, block: Block) -> Block:
        return Block(block.params, self.stmts(block.stmts), block.yields)

    def row(self, nest: For, before: Sequence[Stmt]) -> Apply | None:
        """Return a view of the matrix that a nest copies, if only products read the copy."""
        match nest:
            case For(
                results=(),
                index=i,
                trips=n,
                body=Block(
                    stmts=(
                        For(
                            results=(),
                            index=j,
                            trips=m,
                            body=Block(
                                stmts=(
                                    Load(result=t, array=stack, index=(*lead, a, b)),
                                    Write(array=copy, index=(c, d), value=value, accumulate=False),
                                )
                            ),
                        ),
                    )
                ),
            ) if (a, b, c, d, value) == (i, j, i, j, t) and lead:
                pass
            case _:
                return None
        made = next((s for s in before if copy in s.results), None)
        if not isinstance(made, Apply) or not made.op.reserves or made.args != (n, m):
            return None
        if i in lead or j in lead or not self.stays(stack) or not self.is_factor(copy):
            return None
        if self.sizes is None:
            self.sizes = Sizes(self.fn)
        if self.sizes.alike(self.sizes.shape(stack)[len(lead) :], self.sizes.shape(copy)):
            return Apply((copy,), OPS["row"], (stack, *lead), (), nest.loc)
        if self.checked:
            return Apply((copy,), OPS["part"], (stack, *lead, n, m), (len(lead),), nest.loc)
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


__all__ = ["elide_copies"]
