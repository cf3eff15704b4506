"""Patterns of sparse Jacobians, and the directions that suffice to compute their entries.

A pattern is found by marks of what depends on what (`passes.ad.dependence`). A mark may be of a
block of columns: blocks are split again and again, and only those with a mark go on, many in one
direction (`coloring`). Then one direction for each color has all entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp

from adc.api import coloring
from adc.api.sweeps import Columns, Seeds, pushed
from adc.compiler.compiled import DIRECTIONS
from adc.compiler.dispatch import Code
from adc.frontend.inputs.places import Arguments
from adc.library.transforms import Level

Matrix = Any  # SciPy's sparse arrays have no types
Leaf = np.ndarray[Any, Any]
# Blocks of columns that the search starts with: the directions that one run computes.
_AT_ONCE = DIRECTIONS[-1]
# A row with marks in so many blocks is dense, if there are no more than so many of these rows.
_HEAVY, _HUBS = 64, 256


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


def flat(parts: Sequence[Leaf]) -> Leaf:
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


def _split(edges: Leaf, used: int) -> tuple[Leaf, Leaf]:
    """Return smaller blocks, as many as one run has room for, and the numbers of their parts.

    `used` is how many directions the blocks took.
    """
    sizes = np.diff(edges)
    parts = np.minimum(max(2, _AT_ONCE // max(used, 1)), sizes)
    inner = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    size, count = np.repeat(sizes, parts), np.repeat(parts, parts)
    starts = np.repeat(edges[:-1], parts) + inner * size // count
    return np.append(starts, edges[-1]), parts


def detect(code: Code, level: Level, values: Arguments, dense: str = "") -> Matrix:
    """Return the pattern of a Jacobian, for the branches that a call takes.

    Parameters
    ----------
    code : Code
        What computes marks.
    dense : {"", "mirror", "fill"}
        What is done with the few rows that have entries in very many columns, and would take a
        direction for each: they are searched, taken from their columns in a symmetric matrix, or
        taken to be full.

    Returns
    -------
    csr_array of bool, shape (m, n)
    """
    edges = np.zeros(1, np.int64)

    def first(size: int) -> Seeds:
        nonlocal edges
        edges = np.linspace(0, size, min(_AT_ONCE, size) + 1).astype(np.int64)
        return _blocks(edges, np.arange(len(edges) - 1))

    found = flat(pushed(code, level, values, first).parts) != 0
    rows, blocks = np.nonzero(found)
    height, total = len(found), int(edges[-1])
    used = len(edges) - 1
    hubs = np.zeros(height, bool)
    while len(edges) - 1 < total:
        if dense:
            heavy = np.bincount(rows, minlength=height) >= _HEAVY
            if np.count_nonzero(heavy | hubs) <= _HUBS:
                hubs |= heavy
                light = ~hubs[rows]
                rows, blocks = rows[light], blocks[light]
        edges, parts = _split(edges, used)
        # Every part of a block with a mark is looked at.
        among = parts[blocks]
        offsets = np.arange(among.sum()) - np.repeat(np.cumsum(among) - among, among)
        rows = np.repeat(rows, among)
        blocks = np.repeat((np.cumsum(parts) - parts)[blocks], among) + offsets
        colors = coloring.columns(_marked(rows, blocks, (height, len(edges) - 1)), 0)
        used = int(colors.max(initial=-1)) + 1
        seeds = _blocks(edges, colors)
        found = flat(pushed(code, level, values, _always(seeds)).parts) != 0
        marked = found[rows, colors[blocks]]
        rows, blocks = rows[marked], blocks[marked]
    pattern = _marked(rows, blocks, (height, total))
    full = np.flatnonzero(hubs)
    if dense == "fill":
        others = np.arange(total)
    else:
        others = full
        pattern = pattern + _marked(blocks, rows, pattern.shape) if len(full) else pattern
    more = _marked(np.repeat(full, len(others)), np.tile(others, len(full)), pattern.shape)
    return sp.csr_array(pattern + more) if len(full) else pattern


def _marked(rows: Leaf, columns: Leaf, shape: tuple[int, int]) -> Matrix:
    return sp.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=shape)


__all__ = ["Matrix", "Plan", "detect", "flat", "planned"]
