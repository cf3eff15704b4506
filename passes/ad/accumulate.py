"""Merge the clearing of a cotangent's element with the next addition to it.

The adjoint of ``a[i] = …`` reads the cotangent of the element and clears it. Often the statement
read the old element, too, so that its adjoint adds to the element immediately.

Before::

    %c = load %a.ct[%i]
    %a.ct.1 = store %a.ct[%i] 0.0:f64
    %a.ct.2 = accumulate %a.ct.1[%j] %d
    %a.ct.3 = accumulate %a.ct.2[%i] %c

After (``%i`` and ``%j`` differ)::

    %c = load %a.ct[%i]
    %a.ct.2 = accumulate %a.ct[%j] %d

An ``accumulate`` of another value becomes a ``store`` of it. The only bits that change are signs of
zeros, identically under every plan, because the pass runs before `remat`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.activity import is_zero
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
)
from adc.ir.walk import all_use_counts, map_blocks, map_operands, rebuilt, substitute, with_stmts


def accumulate(fn: Function) -> Function:
    """Return `fn` with the clearing of elements merged with additions to them."""
    uses = all_use_counts(fn)

    def make(recalled: Mapping[Value, Operand] | None) -> _Accumulate:
        return _Accumulate(uses, mirrors=recalled is not None)

    return rebuilt(fn, make)


class _Accumulate:
    def __init__(self, uses: dict[Value, int], mirrors: bool) -> None:
        self.uses = uses
        # Whether the reversed loops belong to another function.
        self.mirrors = mirrors
        self.loops: dict[str, For] = {}
        self.env: dict[Value, Operand] = {}
        self.facts = Facts()

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        work: list[Stmt | None] = list(stmts)
        loads: dict[tuple[Value, tuple[Operand, ...]], Value] = {}
        for k, stmt in enumerate(work):
            if stmt is None:
                continue
            if isinstance(stmt, Apply):
                self.facts.define(stmt)
            elif isinstance(stmt, Recall):
                # Recalled indices of one iteration differ as the forward ones do.
                self.facts.mirror(stmt, self.loops)
            elif isinstance(stmt, Load):
                loads[stmt.array, stmt.index] = stmt.result
            elif isinstance(stmt, Store) and not stmt.accumulate and is_zero(stmt.value):
                self.merge(work, k, stmt, loads)
        kept: list[Stmt] = []
        for stmt in work:
            if stmt is not None:
                if isinstance(stmt, For):
                    self.loops[stmt.label] = stmt
                elif isinstance(stmt, Reverse) and not self.mirrors:
                    # Recalls in it refer to the mirrored iteration.
                    self.facts.mirror(stmt, self.loops)
                stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
                kept.append(map_blocks(stmt, self.block))
        return tuple(kept)

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block.stmts)
        return with_stmts(block, stmts, [substitute(v, self.env) for v in block.yields])

    def merge(
        self,
        work: list[Stmt | None],
        at: int,
        clear: Store,
        loads: Mapping[tuple[Value, tuple[Operand, ...]], Value],
    ) -> None:
        """Follow the chain of versions from `clear` to an addition to the same element."""
        version = clear.result
        for k in range(at + 1, len(work)):
            stmt = work[k]
            if isinstance(stmt, Apply):
                self.facts.define(stmt)
            if not isinstance(stmt, Store) or stmt.array != version:
                continue
            if self.uses.get(version, 0) != 1 or not stmt.accumulate:
                return
            if stmt.index == clear.index:
                self.env[clear.result] = clear.array
                work[at] = None
                if loads.get((clear.array, clear.index)) == stmt.value:
                    # The cleared value is restored.
                    self.env[stmt.result] = stmt.array
                    work[k] = None
                else:
                    work[k] = replace(stmt, accumulate=False)
                return
            if not self.differ(stmt.index, clear.index):
                return
            version = stmt.result

    def differ(self, a: Sequence[Operand], b: Sequence[Operand]) -> bool:
        """Whether two indices differ by a constant that is not zero."""
        for x, y in zip(a, b, strict=True):
            distance = self.facts.form(x) - self.facts.form(y)
            if not distance.terms and distance.const:
                return True
        return False
