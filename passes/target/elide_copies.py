"""Remove copies of matrices out of a stack that only matrix products read.

A product takes whole matrices, so ``h @ W[k]`` first copies one out of the stack `W`. If the stack
is an argument that is not changed, by no function that is called either, the product reads the
matrix from the stack::

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

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from adc.ir.analysis.memory.lifetimes import Size, Sizes
from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    Load,
    Operand,
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
    multiply = {
        each.name
        for each in (*fn.callees, fn)
        if any(isinstance(stmt, Gemm) for stmt in walk(each.body))
    }
    if not multiply:
        return fn
    reads = _read_only(fn)
    claims = _claims(fn) if checked else {}

    def done(each: Function) -> Function:
        return _Rows(each, reads[each.name], claims).run() if each.name in multiply else each

    return map_functions(fn, done)


def _read_only(fn: Function) -> dict[str, set[Value]]:
    """Return the parameters of each function that nothing changes, nor what it passes them to."""
    table = {each.name: each for each in (*fn.callees, fn)}
    uses = {name: _uses(each) for name, each in table.items()}
    found = {name: set(each.params) for name, each in table.items()}

    def reads(stmt: Stmt, array: Value) -> bool:
        if isinstance(stmt, Call):
            params = table[stmt.callee].params
            pairs = zip(params, stmt.args, strict=True)
            return all(param in found[stmt.callee] for param, arg in pairs if arg == array)
        if isinstance(stmt, Apply):
            return stmt.op.asks_shape or stmt.op.aliases == "part"
        return isinstance(stmt, Load)

    changed = True
    while changed:
        changed = False
        for name, params in found.items():
            kept = {
                each for each in params if all(reads(s, each) for s in uses[name].get(each, ()))
            }
            changed |= kept != params
            found[name] = kept
    return found


def _uses(fn: Function) -> dict[Operand, list[Stmt]]:
    """Return the statements that use each array of a function."""
    found: dict[Operand, list[Stmt]] = {}
    for stmt in walk(fn.body):
        yields = (value for block in blocks(stmt) for value in block.yields)
        for value in (*operands(stmt), *yields):
            if isinstance(value.type, Array):
                found.setdefault(value, []).append(stmt)
    return found


def _claims(fn: Function) -> dict[str, Sizes]:
    """Return the sizes that are equal in each function, because it or its callers check it."""
    found: dict[str, Sizes] = {}
    table = {each.name: each for each in (*fn.callees, fn)}
    calls = {name: list(_calls(each)) for name, each in table.items()}
    sites: dict[str, list[tuple[Sizes, Call]]] = {name: [] for name in table}
    left = Counter(call.callee for name in table for call in calls[name] if call.callee != name)
    waiting = list(reversed(table))
    while waiting:
        # Functions that call each other in a circle know of their own checks alone.
        name = next((each for each in waiting if not left[each]), waiting[0])
        waiting.remove(name)
        found[name] = sizes = Sizes(table[name])
        again = [call for call in calls[name] if call.callee == name]
        if not left[name]:
            for first, *others in _equal(table[name].params, sites[name], again):
                for other in others:
                    sizes.join(first, other)
        for stmt in walk(table[name].body):
            if isinstance(stmt, Check):
                sizes.check(stmt)
        for call in calls[name]:
            if call.callee != name:
                sites[call.callee].append((sizes, call))
                left[call.callee] -= 1
    return found


def _calls(fn: Function) -> Iterator[Call]:
    return (stmt for stmt in walk(fn.body) if isinstance(stmt, Call))


def _equal(
    params: Sequence[Value], sites: Sequence[tuple[Sizes, Call]], again: Sequence[Call]
) -> Iterable[list[Size]]:
    """Return the sizes among parameters that are equal in all calls of a function by others.

    In its calls of itself, `again`, they are passed on as they are.
    """
    groups: dict[tuple[Size, ...], list[Size]] = {}

    def note(size: Size, given: Iterable[Size]) -> None:
        key = tuple(given)
        numbers = [each for each in key[:1] if isinstance(each, int) and len(set(key)) == 1]
        groups.setdefault(key, [*numbers]).append(size)

    for k, param in enumerate(params):
        if not sites or any(call.args[k] != param for call in again):
            continue
        if isinstance(param.type, Array):
            for axis in range(param.type.rank):
                note((param, axis), [sizes.of(call.args[k], axis) for sizes, call in sites])
        elif param.type.kind == "i":
            note(param, [sizes.of(call.args[k]) for sizes, call in sites])
    return groups.values()


class _Rows:
    def __init__(self, fn: Function, reads: Set[Value], claims: Mapping[str, Sizes]) -> None:
        self.fn = fn
        self.reads = reads
        self.uses = _uses(fn)
        # By definitions; with what checks in front of a statement say; with what any check says.
        self.defined, self.sizes, self.claimed = Sizes(fn), Sizes(fn), claims.get(fn.name)

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
        if not self.stays(stack) or not self.is_factor(copy):
            return None
        # A check may be about sizes of the copy: where those are read, it says nothing of others.
        asked = any(copy in operands(each) for stmt in before[at + 1 :] for each in walk((stmt,)))
        # The view stands where the copy was made then: what it needs has to be there.
        if asked and any(value in lead for stmt in before[at:] for value in stmt.results):
            return None

        def are_alike(sizes: Sizes) -> bool:
            return sizes.alike(sizes.shape(stack)[len(lead) :], sizes.shape(copy))

        if are_alike(self.defined if asked else self.sizes):
            return Apply((copy,), OPS["row"], (stack, *lead), (), write.loc)
        if self.claimed is not None and are_alike(self.claimed):
            args = (stack, *lead, nest.trips, row.trips)
            return Apply((copy,), OPS["part"], args, (len(lead),), write.loc)
        return None

    def stays(self, stack: Value) -> bool:
        """Whether an array is a contiguous argument that is only read."""
        assert isinstance(stack.type, Array)
        return stack in self.reads and stack.type.layout == "C"

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
    """Put a view where the memory of the copy was taken: sizes of it may be read from there on.

    Where the index comes later, it is put there: none of the sizes are read before.
    """
    at = next(k for k, stmt in enumerate(done) if stmt.results == view.results)
    given = [k for k, stmt in enumerate(done) if not set(stmt.results).isdisjoint(view.args)]
    del done[at]
    done.insert(max((at, *given)), view)


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
