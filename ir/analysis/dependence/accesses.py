"""The accesses of a loop to the arrays it carries, and whether iterations touch own elements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.analysis.sizes.affine import Facts, Form
from adc.ir.core import (
    Block,
    Call,
    For,
    Gemm,
    If,
    Load,
    Operand,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    blocks,
    operands,
    remembered,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import block_reads, stmt_reads

Access = Load | Store


def accesses(
    block: Block, array: Operand, k: int, found: list[Access], added: list[Gemm] | None = None
) -> bool:
    """Collect all accesses to an array that a block carries as yield `k`, its versions included.

    Products that are added to it are collected in `added`, if there is such a list. Return False
    if one of the versions is used in any other way.
    """
    readers = _readers(block)
    now: Operand = array
    while True:
        following: Operand | None = None  # the next version
        for stmt in readers.get(now, ()):
            if following is not None:
                return False  # one that has been overwritten is read
            if isinstance(stmt, Load) and stmt.array == now:
                found.append(stmt)
            elif isinstance(stmt, Store) and stmt.array == now and stmt.value != now:
                found.append(stmt)
                following = stmt.result
            elif (
                added is not None
                and isinstance(stmt, Gemm)
                and stmt.accumulate
                and (stmt.array == now and now not in (stmt.a, stmt.b))
            ):
                added.append(stmt)
                following = stmt.result
            elif isinstance(stmt, For | Reverse) and now in stmt.init:
                at = stmt.init.index(now)
                if stmt.init.count(now) > 1 or now in block_reads(stmt.body):
                    return False
                if not accesses(stmt.body, stmt.body.params[at], at, found, added):
                    return False
                following = stmt.results[at]
            elif isinstance(now, Value) and not only_loads((stmt,), now, found):
                return False
        if following is None:
            return block.yields[k] == now and block.yields.count(now) == 1
        if now in block.yields:
            return False
        now = following


@remembered
def _readers(block: Block) -> dict[Operand, list[Stmt]]:
    """Return the statements that read each value, in order."""
    found: dict[Operand, list[Stmt]] = {}
    for stmt in block.stmts:
        for value in stmt_reads(stmt):
            found.setdefault(value, []).append(stmt)
    return found


def only_loads(stmts: Sequence[Stmt], array: Value, found: list[Access]) -> bool:
    """Collect the loads of an array among statements; False if it has other uses."""
    reads = 0
    for stmt in walk(tuple(stmts)):
        reads += operands(stmt).count(array)
        reads += sum(block.yields.count(array) for block in blocks(stmt))
        if isinstance(stmt, Load) and stmt.array == array:
            found.append(stmt)
            reads -= 1
    return reads == 0


@remembered
def _overwritten(block: Block) -> set[Operand]:
    return overwritten(block.stmts)


def overwritten(stmts: Sequence[Stmt]) -> set[Operand]:
    """Return the array versions that statements overwrite, or pass on to what may overwrite them.

    An arm of a branch passes on what it yields: memory that the branch may take over.
    """
    found: set[Operand] = set()
    for stmt in stmts:
        found.update(*map(_overwritten, blocks(stmt)))
        if isinstance(stmt, If):
            for block in blocks(stmt):
                found.update(each for each in block.yields if isinstance(each.type, Array))
        if isinstance(stmt, Store | Gemm):
            found.add(stmt.array)
        elif isinstance(stmt, For | While | Reverse):
            found.update(operand for operand in stmt.init if isinstance(operand.type, Array))
        elif isinstance(stmt, Call):
            found.update(operand for operand in stmt.args if isinstance(operand.type, Array))
    return found


@dataclass(frozen=True)
class Visit:
    """A load or store of a version of one array, and the counters of the enclosing loops."""

    stmt: Access
    index: tuple[Form, ...]
    path: tuple[Value, ...]

    def is_of(self, other: Visit) -> bool:
        """Whether it touches the same element as `other` in the iteration they are both in."""
        return self.index == other.index and self.path[: len(other.path)] == other.path


def visits(
    loop: For | Reverse,
    param: Value,
    uses: Mapping[Value, int],
    facts: Facts,
    path: tuple[Value, ...] = (),
) -> list[Visit]:
    """Return all accesses to a carried array, in order; none if there may be others.

    Others are further uses in `uses`, such as Recalls and statements of other functions.
    """
    counter = facts.form(loop.index).terms[0][0]
    path = (*path, counter)
    version, reads = param, 0
    found: list[Visit] = []
    for stmt in loop.body.stmts:
        if isinstance(stmt, Load | Store) and stmt.array == version:
            reads += 1
            index = tuple(facts.form(operand) for operand in stmt.index)
            found.append(Visit(stmt, index, path))
            following = stmt.result if isinstance(stmt, Store) else version
        elif isinstance(stmt, For | Reverse) and version in stmt.init:
            reads += 1
            at = stmt.init.index(version)
            nested = visits(stmt, stmt.body.params[at], uses, facts, path)
            if not nested:
                return []
            found += nested
            following = stmt.results[at]
        else:
            continue
        if following != version:
            if reads != uses.get(version, 0):
                return []
            version, reads = following, 0
    yields = loop.body.yields
    last = yields[loop.body.params.index(param)] == version
    return found if last and reads + 1 == uses.get(version, 0) else []


def own_axis(
    found: Sequence[Access | Write], index: Value, facts: Facts
) -> tuple[int, Form] | None:
    """Return an axis along which every iteration touches its own index, and the index."""
    return next(iter(_own_axes(found, index, facts).items()), None)


def own_range(found: Sequence[Access | Write], loop: For, facts: Facts) -> int | None:
    """Return an axis along which every iteration of a loop over blocks touches its own block.

    All accesses index it by ``size * index + k + const``, where `k` counts an inner loop of at most
    `size` iterations.
    """
    inner = {s.index: facts.form(s.trips) for s in walk(loop.body.stmts) if isinstance(s, For)}
    for axis in range(len(found[0].index) if found else 0):
        forms = {facts.form(stmt.index[axis]) for stmt in found}
        if len(forms) != 1:
            continue
        form = forms.pop()
        size = form.coefficient(loop.index)
        match form.without(loop.index).terms:
            case ((k, 1),) if size > 0 and k in inner and facts.proves(inner[k] * -1 + size):
                return axis
    return None


def same_axis(
    found: Sequence[Access | Write], index: Value, inside: Collection[Value], facts: Facts
) -> int | None:
    """Return an axis along which every iteration of a loop has its own index, or None.

    All accesses have the same index there, in which only the counter is from `inside`.
    """
    for axis in range(len(found[0].index) if found else 0):
        forms = {facts.form(stmt.index[axis]) for stmt in found}
        if len(forms) == 1 and (form := forms.pop()).coefficient(index):
            if not any(value in inside for value, _ in form.without(index).terms):
                return axis
    return None


def common_axis(
    first: Sequence[Access], i: Value, second: Sequence[Access], j: Value, facts: Facts
) -> int | None:
    """Return an axis that two loops index by their counters, with the same offset."""
    if not first or not second:
        return 0 if not first and not second else None
    mine, theirs = _own_axes(first, i, facts), _own_axes(second, j, facts)
    return next((k for k in mine if k in theirs and mine[k].const == theirs[k].const), None)


def _own_axes(found: Sequence[Access | Write], index: Value, facts: Facts) -> dict[int, Form]:
    """Return the axes that all accesses index by a counter plus the same number."""
    axes: dict[int, Form] = {}
    for axis in range(len(found[0].index) if found else 0):
        forms = {facts.form(stmt.index[axis]) for stmt in found}
        if len(forms) == 1 and (form := forms.pop()).terms == ((index, 1),):
            axes[axis] = form
    return axes
