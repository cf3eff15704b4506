"""Sparse Jacobians and Hessians: the pattern, the directions that suffice, the matrices.

The pattern is found by marks of what depends on what (`passes.ad.dependence`). A mark may be of
a block of columns: blocks are halved again and again, and only those with a mark go on, many in
one direction (`coloring`). Then one direction for each color computes all entries, and a random
one more tells whether an entry is missing, as when a branch is taken that was not taken before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse as sp

from adc.api import coloring
from adc.api.sweeps import Columns, Seeds, Swept, by_rows, pulled, pushed
from adc.compiler.dispatch import Code
from adc.frontend.inputs.places import Arguments
from adc.frontend.values import results
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.library.transforms import Level

if TYPE_CHECKING:
    from adc.api.derivative import SparseJacobian

Matrix = Any  # SciPy's sparse arrays have no types
Leaf = np.ndarray[Any, Any]
# Blocks of columns that the search starts with, and directions that one run computes.
_AT_ONCE = 16
_MANY = 1 << 60


@dataclass(frozen=True)
class Plan:
    """How a sparse matrix is computed.

    Attributes
    ----------
    pattern : csr_array of bool, shape (m, n)
        Where it may have entries.
    seeds : Seeds
        The directions, one for each color of the columns, or of the rows in reverse mode.
    places : array of int
        Where in the products with the directions each entry is, by rows of the products.
    vector : array or None
        A random direction, which is the last one.
    """

    pattern: Matrix
    seeds: Seeds
    places: Leaf
    vector: Leaf | None

    @property
    def directions(self) -> int:
        return self.seeds.count - (self.vector is not None)


def planned(pattern: Matrix, *, symmetric: bool, reverse: bool, probe: bool) -> Plan:
    """Return how a matrix of a pattern is computed."""
    pattern = sp.csr_array(pattern, dtype=bool)
    if symmetric:
        pattern = sp.csr_array(pattern + pattern.T)
    pattern.sum_duplicates()
    lines, moved = pattern.nonzero()
    if reverse:
        lines, moved = moved, lines
    if symmetric:
        colors = coloring.star(pattern)
        # Where another entry of the row has the color, the mirrored entry is alone.
        keys = lines * len(colors) + colors[moved]
        _, which, sharing = np.unique(keys, return_inverse=True, return_counts=True)
        shared = sharing[which] > 1
        lines, moved = np.where(shared, moved, lines), np.where(shared, lines, moved)
    else:
        colors = coloring.columns(sp.csr_array(pattern.T) if reverse else pattern)
    size, count = len(colors), int(colors.max(initial=-1)) + 1
    seeds = _grouped(np.arange(size), colors, count)
    vector = None
    if probe:
        vector = np.random.default_rng(0).standard_normal(size)
        seeds = seeds.joined(vector)
    return Plan(pattern, seeds, lines * seeds.count + colors[moved], vector)


# -- the pattern -----------------------------------------------------------------------------------


def _grouped(members: Leaf, groups: Leaf, count: int) -> Columns:
    """Return a direction for each of the groups that elements are in, of ones."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count + 1))
    return Columns(starts, members[order], np.ones(len(members)))


def _flat(parts: Sequence[Leaf]) -> Leaf:
    """Return derivatives as one matrix: the last axis of each part has the directions."""
    sizes = [math.prod(part.shape[:-1]) for part in parts]
    return np.concatenate(
        [part.reshape(size, part.shape[-1]) for part, size in zip(parts, sizes, strict=True)]
    )


def _always(seeds: Seeds) -> Callable[[int], Seeds]:
    return lambda total: seeds


def _blocks(edges: Leaf, colors: Leaf) -> Seeds:
    """Return a direction for each color of some blocks of elements."""
    groups = np.repeat(colors, np.diff(edges))
    return _grouped(np.arange(len(groups)), groups, int(colors.max(initial=-1)) + 1)


def detect(code: Code, level: Level, values: Arguments) -> Matrix:
    """Return the pattern of a Jacobian, for the branches that a call takes.

    Parameters
    ----------
    code : Code
        What computes marks.

    Returns
    -------
    csr_array of bool, shape (m, n)
    """
    edges = np.zeros(1, np.int64)

    def first(size: int) -> Seeds:
        nonlocal edges
        edges = np.linspace(0, size, min(_AT_ONCE, size) + 1).astype(np.int64)
        return _blocks(edges, np.arange(len(edges) - 1))

    found = _flat(pushed(code, level, values, first).parts) != 0
    rows, blocks = np.nonzero(found)
    total = int(edges[-1])
    shape = (len(found), total)
    used = len(edges) - 1
    while len(edges) - 1 < total:
        sizes = np.diff(edges)
        # As many parts as one run has room for.
        parts = np.minimum(max(2, _AT_ONCE // max(used, 1)), sizes)
        firsts = np.cumsum(parts) - parts
        inner = np.arange(parts.sum()) - np.repeat(firsts, parts)
        size, count = np.repeat(sizes, parts), np.repeat(parts, parts)
        starts = np.repeat(edges[:-1], parts) + inner * size // count
        edges = np.append(starts, total)
        # Every part of a block with a mark is looked at.
        among = parts[blocks]
        offsets = np.arange(among.sum()) - np.repeat(np.cumsum(among) - among, among)
        rows = np.repeat(rows, among)
        blocks = np.repeat(firsts[blocks], among) + offsets
        looked = sp.csr_array(
            (np.ones(len(rows), bool), (rows, blocks)), shape=(shape[0], len(edges) - 1)
        )
        colors = coloring.columns(looked, 0)
        used = int(colors.max(initial=-1)) + 1
        seeds = _blocks(edges, colors)
        found = _flat(pushed(code, level, values, _always(seeds)).parts) != 0
        marked = found[rows, colors[blocks]]
        rows, blocks = rows[marked], blocks[marked]
    return sp.csr_array((np.ones(len(rows), bool), (rows, blocks)), shape=shape)


# -- the matrix ------------------------------------------------------------------------------------


class _Other(Exception):
    """The function has another number of inputs, or results, than the pattern."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.total = total


def _products(swept: Swept, reverse: bool) -> Leaf:
    """Return the products with the directions, a row for each input or float result."""
    if reverse:
        last = [np.moveaxis(part, 0, -1) for part in swept.parts]
        return np.ascontiguousarray(_flat(last))
    return _flat(swept.parts)


def _agrees(matrix: Matrix, products: Leaf, plan: Plan, reverse: bool) -> bool:
    """Whether the product with the random direction is that of the matrix, up to rounding."""
    if plan.vector is None:
        return True
    found = products[:, -1]
    sided = matrix.T if reverse else matrix
    tolerance = np.sqrt(np.finfo(found.dtype).eps)
    with np.errstate(all="ignore"):
        expected = sided @ plan.vector
        scale = abs(sided) @ np.abs(plan.vector)
        close = np.abs(found - expected) <= tolerance * scale
    # Where an entry is not finite, nor are the two products.
    return bool(np.all(close | ~np.isfinite(scale)))


def _blocked(matrix: Matrix, swept: Swept, heights: Sequence[int]) -> list[list[Matrix]]:
    """Return the block of each float result and input."""
    widths = [column.size for column in swept.columns]
    if len(heights) == len(widths) == 1:
        return [[matrix]]
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    return [
        [
            matrix[tops[j] : tops[j + 1], lefts[k] : lefts[k + 1]]
            for k in range(len(widths))
        ]
        for j in range(len(heights))
    ]  # fmt: skip


def _shapes(values: Arguments, code: Code) -> object:
    """Return what a pattern is kept for: the shapes of the arguments."""
    signature = code.find(values)[0].signature
    return tuple([foreign.sizes_of(leaf) for leaf in signature.leaves(values)])


class Sparse:
    """What a sparse Jacobian knows of its function: patterns, and plans for them."""

    def __init__(self, owner: SparseJacobian) -> None:
        self._of = owner
        self._plans: dict[object, Plan] = {}
        self._codes: dict[int, Code] = {}
        self._marks: Code | None = None
        self._primal: Code | None = None

    def _code(self, count: int) -> Code:
        """Return code for so many directions."""
        wide = next((most for most in (4, 8) if count <= most), _MANY)
        if wide not in self._codes:
            self._codes[wide] = self._of.made(wide=wide)
        return self._codes[wide]

    @property
    def latest(self) -> Code:
        """The code that computed the last matrix."""
        return next(reversed(self._codes.values()), None) or self._code(_AT_ONCE)

    def match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        return self._mark.match(args, kwargs)

    @property
    def _mark(self) -> Code:
        if self._marks is None:
            self._marks = self._of.made(wide=_MANY, pattern=True)
        return self._marks

    @property
    def _primary(self) -> Code:
        if self._primal is None:
            self._primal = self._of.made(0)
        return self._primal

    def _check(self, values: Arguments) -> None:
        """Raise for what has no sparse matrices."""
        compiled = self._mark.find(values)[0]
        level, fn = self._of.level, self._mark.fn
        chosen = list(compiled.signature.imaginary(level.argnums))
        heap = compiled.lowered.heap
        if any(chosen) or results.pairs(compiled.lowered.result, heap):
            raise ArgumentError(
                f"a sparse Jacobian of {name_of(fn)}(), which has complex arguments or results",
                span_of(fn), "leave out `sparsity`, or pass real and imaginary parts",
            )  # fmt: skip
        if level.kind == "hessian" and not compiled.levels:
            raise ArgumentError(
                f"a sparse Hessian of {name_of(fn)}(), which does not return one number",
                span_of(fn), "return one number, or leave out `sparsity`",
            )  # fmt: skip
        for leaf in compiled.signature.leaves(values):
            if foreign.is_foreign(leaf):
                raise ArgumentError(
                    f"a sparse Jacobian of {name_of(fn)}(), with an array on a GPU",
                    span_of(fn), "pass NumPy arrays: SciPy's sparse arrays are on the host",
                )  # fmt: skip

    def plan(self, values: Arguments) -> Plan:
        """Return how the matrix at these arguments is computed."""
        key = _shapes(values, self._mark)
        if key not in self._plans:
            self._check(values)
            given = self._of.sparsity
            found = self.detected(values) if isinstance(given, str) else given
            self._plans[key] = self._planned(found)
        return self._plans[key]

    def detected(self, values: Arguments) -> Matrix:
        level = replace(self._of.level, kind="jacfwd")
        return detect(self._mark, level, values)

    def _planned(self, pattern: Matrix) -> Plan:
        of = self._of
        return planned(pattern, symmetric=of.symmetric, reverse=of.reverse, probe=of.probe)

    def jacobian(self, values: Arguments) -> Any:
        """Return the Jacobian, with SciPy's sparse arrays."""
        plan = self.plan(values)
        matrix, products, swept = self._matrix(values, plan)
        if not _agrees(matrix, products, plan, self._of.reverse):
            # It takes other branches than those that the pattern is of.
            found = self.detected(values)
            missing = sp.csr_array(found > plan.pattern)
            if missing.nnz and not isinstance(self._of.sparsity, str):
                raise self._lacks(missing)
            if missing.nnz:
                plan = self._planned(plan.pattern + found)
                self._plans[_shapes(values, self._mark)] = plan
                matrix, _, swept = self._matrix(values, plan)
        return self._arranged(matrix, swept)

    def _matrix(self, values: Arguments, plan: Plan) -> tuple[Matrix, Leaf, Swept]:
        """Return the matrix, the products that it is read from, and what computed them."""
        of = self._of
        code = self._code(plan.seeds.count)
        size = plan.pattern.shape[0 if of.reverse else 1]

        def seeds(total: int) -> Seeds:
            if total != size:
                raise _Other(total)
            return plan.seeds

        try:
            if of.reverse:
                swept = pulled(self._primary, code, of.level, values, seeds)
            else:
                swept = pushed(code, of.level, values, seeds)
        except _Other as error:
            raise self._other(plan, 0 if of.reverse else 1, error.total) from None
        products = _products(swept, of.reverse)
        axis = 1 if of.reverse else 0
        if len(products) != plan.pattern.shape[axis]:
            raise self._other(plan, axis, len(products))
        pattern = plan.pattern
        matrix = sp.csr_array(
            (products.ravel()[plan.places], pattern.indices, pattern.indptr), shape=pattern.shape
        )
        return matrix, products, swept

    def _other(self, plan: Plan, axis: int, total: int) -> ArgumentError:
        fn = self._mark.fn
        what = ("results", "inputs")[axis]
        return ArgumentError(
            f"the sparsity pattern has shape {plan.pattern.shape}, but {name_of(fn)}() has {total} "
            f"{what}",
            span_of(fn),
            "a pattern has a row for each number that is returned, and a column for each number in "
            "the arguments that are differentiated",
        )

    def _lacks(self, missing: Matrix) -> ArgumentError:
        rows, columns = missing.nonzero()
        fn = self._mark.fn
        return ArgumentError(
            f"the sparsity pattern of {name_of(fn)}() lacks {missing.nnz} entries, the first in "
            f"row {rows[0]}, column {columns[0]}",
            span_of(fn),
            'add them, or give sparsity="detect"',
        )

    def _arranged(self, matrix: Matrix, swept: Swept) -> Any:
        if self._of.reverse:
            heights = [row.size for row in swept.rows]
        else:
            heights = [part[..., 0].size for part in swept.parts]
        return by_rows(swept, self._of.level, _blocked(matrix, swept, heights))


__all__ = ["Plan", "Sparse", "detect", "planned"]
