"""Mark innermost loops with independent iterations, so that LLVM vectorises them.

LLVM then vectorises such a loop without a run-time test for overlapping arrays, which would take
longer than a loop of a few iterations, and without giving up if there are many pairs to test::

    for L %i in 0 to %n {                 vectorizable for L %i in 0 to %n {
      %t = load %a[%k, %i]                  …
      write %b[%k.1, %i] %t
      …

For each store and every other access to memory that may alias, it is proven that their indices
differ in different iterations (`affine`). This is buffer form, after `reuse`, which settles which
arrays share memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.dependence_test import DependenceTest
from adc.ir.analysis.memory.aliases import Aliases
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    For,
    Function,
    If,
    Load,
    Pop,
    Push,
    Stmt,
    Value,
    Write,
    operands,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import loop_values, map_functions, map_stmts

# The most pairs of accesses of a loop that are compared.
_MOST_PAIRS = 4000


def vectorizable(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with loops of independent iterations marked."""
    return map_functions(fn, lambda each: _Marker(each).run())


class _Marker:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.facts = Facts()
        self.aliases = Aliases(fn)
        self.facts.learn(fn.body)

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_stmts(stmt, self.stmts)
            if isinstance(stmt, For) and self.is_vectorizable(stmt):
                stmt = replace(stmt, vectorizable=True)
            done.append(stmt)
        return done

    def is_vectorizable(self, loop: For) -> bool:
        """Whether a loop is an innermost one, and no iteration touches what another one changes."""
        found: dict[Value, list[Load | Write]] = {}
        for stmt in walk(loop.body.stmts):
            match stmt:
                case Load(array=array) | Write(array=array):
                    found.setdefault(array, []).append(stmt)
                case Apply(op=op):
                    if any(isinstance(v.type, Array) for v in (*stmt.results, *stmt.args)):
                        if not op.asks_shape:
                            return False
                case If() | Push() | Pop():
                    if any(isinstance(v.type, Array) for v in (*stmt.results, *operands(stmt))):
                        return False
                case _:
                    return False
        if not all(self.is_near(s, loop) for at in found.values() for s in at):
            return False
        written = {a: [s for s in at if isinstance(s, Write)] for a, at in found.items()}
        pairs = [
            (store, other)
            for array, stores in written.items()
            for another, others in found.items()
            if stores and self.aliases.may_be_one(array, another)
            for store in stores
            for other in others
        ]
        if len(pairs) > _MOST_PAIRS or any(
            s.array != o.array and (self.aliases.is_part(s.array) or self.aliases.is_part(o.array))
            for s, o in pairs
        ):
            return False
        return DependenceTest(self.facts, loop).differ(pairs)

    def is_near(self, stmt: Load | Write, loop: For) -> bool:
        """Whether consecutive iterations access neighbouring elements, or the same one.

        Otherwise vectors need gathers, which take longer than scalar code. Rows of arrays whose
        last index is a constant, as in ``x[i, 2]``, are assumed to be short.
        """
        place = [self.facts.form(operand) for operand in stmt.index]
        inner = {v for form in place for v, _ in form.terms} & loop_values(loop)
        if place and not place[-1].terms:
            del place[-1]
        steps = [form.coefficient(loop.index) for form in place]
        return (
            inner <= {loop.index} and not any(steps[:-1]) and all(abs(s) <= 1 for s in steps[-1:])
        )


__all__ = ["vectorizable"]
