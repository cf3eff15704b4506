"""Which arrays may outlive the iteration or the call that makes them."""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    If,
    Operand,
    Pop,
    Stmt,
    Value,
    While,
    blocks,
)
from adc.ir.types import Array


class _Escape:
    def __init__(self) -> None:
        # The arrays made in the function that a value may be.
        self.origins: dict[Value, frozenset[Value]] = {}
        self.changed = True
        self.escaping: set[Value] = set()

    def _of(self, operand: Operand) -> frozenset[Value]:
        return self.origins.get(operand, frozenset()) if isinstance(operand, Value) else frozenset()

    def _add(self, value: Value, *sources: Operand) -> None:
        before = self.origins.get(value, frozenset())
        after = before.union(*(self._of(source) for source in sources))
        if after != before:
            self.origins[value] = after
            self.changed = True

    def stmts(self, stmts: Sequence[Stmt]) -> set[Value]:
        """Return the arrays made in `stmts`."""
        made: set[Value] = set()
        for stmt in stmts:
            for block in blocks(stmt):
                inner = self.stmts(block.stmts)
                if isinstance(stmt, For | While):
                    for operand in block.yields:
                        self.escaping |= self._of(operand) & inner
                made |= inner
            match stmt:
                case Apply(results=results) | Pop(results=results):
                    for value in results:
                        if isinstance(value.type, Array):
                            self.origins[value] = frozenset((value,))
                            made.add(value)
                case If(results=results, then=then, orelse=orelse):
                    for k, value in enumerate(results):
                        self._add(value, then.yields[k], orelse.yields[k])
                case (
                    For(results=results, init=init, body=body)
                    | While(results=results, init=init, body=body)
                ):
                    first = int(isinstance(stmt, While))
                    for k, value in enumerate(results):
                        for target in (value, body.params[k]):
                            self._add(target, init[k], body.yields[k + first])
                case Call(results=results, args=args):
                    for value in results:
                        self._add(value, *args)
        return made


def flow(fn: Function) -> tuple[dict[Value, frozenset[Value]], frozenset[Value]]:
    """Return which of the arrays made in `fn` each value may be, and which arrays escape.

    Those that escape may be carried to another iteration or returned.
    """
    found = _Escape()
    while found.changed:
        found.changed = False
        found.stmts(fn.body)
    for result in fn.results:
        if isinstance(result, Value):
            found.escaping |= found.origins.get(result, frozenset())
    return found.origins, frozenset(found.escaping)


def escaping(fn: Function) -> frozenset[Value]:
    """Return the arrays made in `fn` that may be carried to another iteration or returned."""
    return flow(fn)[1]
