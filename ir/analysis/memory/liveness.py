"""Which arrays statements of buffer form mention, and nests that write over what they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from adc.ir.core import Apply, For, Load, Operand, Stmt, Value, Write, blocks, operands

Arrays = frozenset[Value]
_NONE: Arrays = frozenset()


class Mentions:
    """The mentions of arrays; `origins` are the arrays that values may be (`escape.flow`)."""

    def __init__(self, origins: Mapping[Value, Arrays]) -> None:
        self._origins = origins
        self._found: dict[int, Arrays] = {}

    def of(self, found: Iterable[Operand]) -> Arrays:
        """Return the arrays that values may be."""
        return _NONE.union(*(self._origins.get(v, _NONE) for v in found if isinstance(v, Value)))

    def by(self, stmt: Stmt) -> Arrays:
        """Return the arrays that a statement mentions, except to ask for a size."""
        known = self._found.get(id(stmt))
        if known is None:
            known = _NONE if _is_size(stmt) else self.of(operands(stmt))
            for block in blocks(stmt):
                known |= self.of(block.yields).union(*map(self.by, block.stmts))
            self._found[id(stmt)] = known
        return known


def in_step(mentions: Mentions, nest: For, old: Value, new: Value) -> bool:
    """Whether every iteration reads elements of `old`, if at all, before it writes `new` there.

    There: at one index, which is a different one in every iteration.
    """
    found = list(_accesses(mentions, nest, (nest.index,), old, new))
    if not found or any(access is None for access in found):
        return False
    accesses = [access for access in found if access is not None]
    index, path = accesses[0].index, accesses[0].path
    if any((access.index, access.path) != (index, path) for access in accesses):
        return False
    moving = [operand for operand in index if isinstance(operand, Value)]
    if len(moving) != len(path) or set(moving) != set(path):
        return False
    stmts = [access.stmt for access in accesses]
    first = next(k for k, stmt in enumerate(stmts) if stmt.array == new)
    start = stmts[first]
    return (
        isinstance(start, Write)
        and not start.accumulate
        and all(isinstance(stmt, Load) for stmt in stmts[:first])
        and all(stmt.array == new for stmt in stmts[first:])
    )


@dataclass(frozen=True, slots=True)
class _Access:
    """A load or write, its index, and the counters of the loops it is in."""

    stmt: Load | Write
    index: tuple[Operand, ...]
    path: tuple[Value, ...]


def _accesses(
    mentions: Mentions, loop: For, path: tuple[Value, ...], old: Value, new: Value
) -> Iterator[_Access | None]:
    """Yield the accesses of a nest to elements of two arrays, in order; None for other uses."""
    both = {old, new}
    if both & mentions.of((*loop.init, *loop.body.yields)):
        yield None
    for stmt in loop.body.stmts:
        if not both & mentions.by(stmt):
            continue
        if isinstance(stmt, For):
            yield from _accesses(mentions, stmt, (*path, stmt.index), old, new)
        elif isinstance(stmt, Load | Write) and stmt.array in both:
            yield _Access(stmt, stmt.index, path)
        else:
            yield None


def _is_size(stmt: Stmt) -> bool:
    return isinstance(stmt, Apply) and stmt.op.asks_shape
