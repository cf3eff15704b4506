"""Colorings of sparse matrices: which columns one direction can compute at once.

Columns of one color have no row in common, so that one product with the matrix has the entries of
all of them (Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices", 1974). Of a
symmetric matrix an entry may be read in its own place or in the mirrored one, which takes fewer
colors: a star coloring (Coleman and Moré, 1984), found greedily (Gebremedhin, Manne and Pothen,
"What color is your Jacobian?", 2005, algorithm 4.1).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
# Pairs of entries in one row above which columns are not compared: about ten seconds.
_MOST_PAIRS = 5e9
# Bytes for the colors that are next to each vertex.
_MOST_MARKS = 50_000_000
# How often columns are colored again.
ROUNDS = 8


def _greedy(of_columns: Ints, rows: Ints, of_rows: Ints, columns: Ints, order: Ints) -> Ints:
    """Give each column the first color that no column with a common row has."""
    colors = np.full(len(order), -1)
    taken = np.full(len(order) + 1, -1)
    for v in order:
        for at in range(of_columns[v], of_columns[v + 1]):
            row = rows[at]
            for other in range(of_rows[row], of_rows[row + 1]):
                color = colors[columns[other]]
                if color >= 0:
                    taken[color] = v
        color = 0
        while taken[color] == v:
            color += 1
        colors[v] = color
    return colors


def _greedy_star(starts: Ints, neighbours: Ints, order: Ints, most: int) -> Ints:
    """Give each vertex the first color that leaves no path of four vertices with two colors.

    From color `most` on, each color has one vertex.
    """
    colors = np.full(len(order), -1)
    taken = np.full(most + 1, -1)
    # The colors next to each vertex: it may have very many neighbours.
    around = np.zeros((len(order), most), dtype=np.int8)
    used = 0
    for v in order:
        for at in range(starts[v], starts[v + 1]):
            w = neighbours[at]
            if w == v:
                continue
            if 0 <= colors[w] < most:
                taken[colors[w]] = v
            below = used if colors[w] < 0 else min(used, colors[w])
            for color in range(min(below, most)):
                if around[w, color] > 0:
                    taken[color] = v
        color = 0
        while color < most and taken[color] == v:
            color += 1
        if color == most:
            color = max(used, most)
        colors[v] = color
        used = max(used, color + 1)
        if color < most:
            for at in range(starts[v], starts[v + 1]):
                around[neighbours[at], color] = 1
    return colors


@functools.cache
def _compiled(fn: Callable[..., Any]) -> Callable[..., Any]:
    from adc.api.calls import jit

    return jit(fn, progress=False)


def _fewest(run: Callable[[Ints], Ints], degrees: Ints, rounds: int) -> Ints:
    """Return the coloring with the fewest colors, of several orders.

    Those of the columns, of their degrees, and then of the colors before, the last one first:
    columns of one color stand together, so that there are never more ("iterated greedy", Culberson
    1992).
    """
    natural = np.arange(len(degrees))
    orders = natural, np.argsort(-degrees, kind="stable")
    best = min(map(run, orders), key=_count)
    colors = best
    for round in range(rounds):
        sizes = np.bincount(colors)
        key = -colors if round % 2 else -sizes[colors] * len(sizes) - colors
        colors = run(np.argsort(key, kind="stable"))
        if _count(colors) < _count(best):
            best = colors
    return best


def _count(colors: Ints) -> int:
    return int(colors.max(initial=-1)) + 1


def columns(pattern: Any, rounds: int = ROUNDS) -> Ints:
    """Return a color for each column of a sparse matrix.

    Parameters
    ----------
    pattern : scipy.sparse.csr_array, shape (m, n)
    rounds : int
        How often they are colored again, to need fewer.

    Returns
    -------
    array of int, shape (n,)
    """
    by_rows, by_columns = pattern.tocsr(), pattern.tocsc()
    count = pattern.shape[1]
    widths = np.diff(by_rows.indptr).astype(np.int64)
    natural = np.arange(count)
    if int(widths.max(initial=0)) == count or float(widths @ widths) > _MOST_PAIRS:
        return natural
    structure = [
        part.astype(np.int64)
        for part in (by_columns.indptr, by_columns.indices, by_rows.indptr, by_rows.indices)
    ]
    run = _compiled(_greedy)
    return _fewest(lambda order: run(*structure, order), np.diff(by_columns.indptr), rounds)


def star(pattern: Any, rounds: int = ROUNDS) -> Ints:
    """Return a color for each column, and row, of a symmetric sparse matrix.

    Parameters
    ----------
    pattern : scipy.sparse.csr_array, shape (n, n)
    rounds : int
        As for `columns`.

    Returns
    -------
    array of int, shape (n,)
    """
    found = pattern.tocsr()
    starts, neighbours = found.indptr.astype(np.int64), found.indices.astype(np.int64)
    degrees = np.diff(starts)
    most = int(np.clip(_MOST_MARKS // max(len(degrees), 1), 16, len(degrees) + 1))
    run = _compiled(_greedy_star)
    return _fewest(lambda order: run(starts, neighbours, order, most), degrees, rounds)


__all__ = ["columns", "star"]
