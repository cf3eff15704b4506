"""Find a product of a matrix with a vector of each iteration that can be made for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from adc.ir.analysis.sizes.affine import Same, equated
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import (
    Apply,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Stmt,
    Store,
    Value,
    walk,
)
from adc.ir.ops import arith
from adc.ir.types import Array
from adc.ir.walk import Names, bound, stmt_reads, stmts_reads, use_counts
from adc.passes.loops.products.sums import Sum, sums

# What vectors may be made by.
_PURE = (Apply, Load, Store, For, If, Gemm)


@dataclass(frozen=True)
class Product:
    """A product in the body of a loop."""

    at: int  # the position of its nest
    sum: Sum
    matrix: tuple[Stmt, ...]  # what makes an element of the matrix
    element: Value
    vector: tuple[Stmt, ...]  # what makes an element of the vector
    entry: Value
    # Statements of the body, by position: what the vector and the checks depend on, the checks that
    # must hold for that, and what the matrix is made of, which is the same in every iteration.
    before: frozenset[int]
    guards: frozenset[int]
    fixed: frozenset[int]
    # The matrix if it lies in memory, and whether rows and columns are swapped there.
    whole: tuple[Value, bool] | None


class Finder:
    """Finds products in the loops of a function."""

    def __init__(self, fn: Function, names: Names) -> None:
        self.shapes = Shapes(fn, names)
        self.uses = use_counts(fn)
        self.defs = {value: stmt for stmt in walk(fn.body) for value in stmt.results}
        # Sizes that checks in front of a statement have found equal.
        self.equal = Same[Operand]()

    def passed(self, check: Check) -> None:
        """Learn from a check of the function itself that what follows is behind."""
        if (pair := equated(check, self.defs)) is not None:
            self.equal.join(*pair)

    def find(self, loop: For) -> Product | None:
        """Return the first product that can be made for all iterations at once."""
        inside = frozenset(bound((loop,)))
        guards: list[int] = []
        for at, stmt in enumerate(loop.body.stmts):
            if isinstance(stmt, Check):
                guards.append(at)
            elif any(isinstance(each, Check) for each in walk((stmt,))):
                return None  # elements that follow may exist only if control gets past it
            elif isinstance(stmt, For):
                for each in sums(stmt, self.uses, self.defs):
                    found = self.product(loop, at, each, frozenset(guards), inside)
                    if found is not None:
                        return found
        return None

    def product(
        self, loop: For, at: int, of: Sum, guards: frozenset[int], inside: frozenset[Value]
    ) -> Product | None:
        if of.rows in inside or of.terms in inside:
            return None
        own = {value: each for each in of.made for value in each.results}
        match own.get(of.term):
            case Apply(op=arith.mul, args=(Value() as a, Value() as b)):
                pass
            case _:
                return None
        sides = {x: _made_of(x, of.made) for x in (a, b)}
        reads = {x: stmts_reads(made) - own.keys() for x, made in sides.items()}
        if (of.row in reads[a]) == (of.row in reads[b]):
            return None
        element, entry = (a, b) if of.row in reads[a] else (b, a)
        nest = bound((of.stmt,))
        needed = (inside & reads[entry]) - {of.index}
        if not needed or not needed.isdisjoint(nest):
            return None
        if any(each.type != of.term.type for each in (element, entry, of.total)):
            return None
        for k in guards:
            check = loop.body.stmts[k]
            assert isinstance(check, Check)
            needed |= inside & {check.cond}
        before = _makers(loop, at, needed)
        parts = (inside & reads[element]) - {of.row, of.index}
        fixed = _makers(loop, at, parts, fixed=True) if parts.isdisjoint(nest) else None
        if before is None or fixed is None:
            return None
        whole = self.whole(of, sides[element])
        if guards and not whole:
            return None  # elements of the matrix may exist only if control gets past a check
        found = Product(
            at, of, sides[element], element, sides[entry], entry, before, guards, fixed, whole
        )
        return found if self.can_keep(loop, found, inside) else None

    def whole(self, of: Sum, made: tuple[Stmt, ...]) -> tuple[Value, bool] | None:
        """Return a matrix that lies in memory, and whether rows and columns are swapped."""
        match made:
            case (Load(array=array, index=index),) if (
                isinstance(array.type, Array)
                and (array.type.rank, array.type.layout) == (2, "C")
                and index in ((of.row, of.index), (of.index, of.row))
            ):
                swapped = index[0] == of.index
                sizes = (of.terms, of.rows) if swapped else (of.rows, of.terms)
                known = self.shapes.known(array)
                if known is not None and self.are_equal(known, sizes):
                    return array, swapped
        return None

    def are_equal(self, some: Sequence[Operand], others: Sequence[Operand]) -> bool:
        return all(
            self.equal.find(a) == self.equal.find(b) for a, b in zip(some, others, strict=True)
        )

    def can_keep(self, loop: For, found: Product, inside: frozenset[Value]) -> bool:
        """Whether what the rest of an iteration reads has sizes that are known before the loop."""
        for value in kept(loop, found, rest(loop, found, found.entry)):
            if isinstance(value.type, Array):
                dims = self.shapes.known(value)
                if dims is None or not inside.isdisjoint(dims):
                    return False
        return True


def _depends(values: Set[Value], loop: For, fixed: bool) -> bool:
    """Whether values depend on what a loop carries, or on the iteration where that counts."""
    return not values.isdisjoint(loop.body.params) or (fixed and loop.index in values)


def _made_of(value: Value, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Return the statements that a value depends on, in order."""
    wanted, found = {value}, list[Stmt]()
    for stmt in reversed(stmts):
        if not wanted.isdisjoint(stmt.results):
            wanted |= stmt_reads(stmt)
            found.append(stmt)
    return tuple(reversed(found))


def _makers(
    loop: For, at: int, needed: Iterable[Value], *, fixed: bool = False
) -> frozenset[int] | None:
    """Return the statements of the body that values depend on.

    None if they depend on what the loop carries (or, if they are to be fixed, on anything that
    changes with the iteration), or do more than compute.
    """
    wanted, found = set(needed), set[int]()
    for k in range(at - 1, -1, -1):
        stmt = loop.body.stmts[k]
        if wanted.isdisjoint(stmt.results):
            continue
        if not all(isinstance(each, _PURE) for each in walk((stmt,))):
            return None
        wanted |= stmt_reads(stmt)
        found.add(k)
    return None if _depends(wanted, loop, fixed) else frozenset(found)


def _is_repeated(stmt: Stmt) -> bool:
    """Whether a statement is carried out again rather than its result kept."""
    return isinstance(stmt, Apply) and stmt.result.type.kind in "iub" and stmt.op.cost <= 1


def rest(loop: For, found: Product, products: Value) -> list[Stmt]:
    """Return what is left of an iteration, which reads its sums from a row of `products`."""
    return [
        found.sum.reading(products, loop.index) if k == found.at else stmt
        for k, stmt in enumerate(loop.body.stmts)
        if k not in found.before or _is_repeated(stmt)
    ]


def kept(loop: For, found: Product, left: Sequence[Stmt]) -> list[Value]:
    """Return the values behind a vector that the rest of the iteration reads, too."""
    read = stmts_reads(left, loop.body.yields)
    return [
        value
        for k in sorted(found.before)
        if not _is_repeated(loop.body.stmts[k])
        for value in loop.body.stmts[k].results
        if value in read
    ]


__all__ = ["Finder", "Product", "kept", "rest"]
