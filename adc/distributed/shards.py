"""Shards of data: what users have, as things that workers turn into arrays.

A sharded argument is a list with an element for each shard, or a collection of Dask's: an array in
chunks of rows, a bag, a dataframe. A shard that a file holds is read where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import optree

from adc.ir.errors import ArgumentError

Loader = Callable[[Any], Any]


@dataclass(frozen=True)
class Mapped:
    """An array in a file, for processes that have the same files."""

    file: str
    offset: int
    dtype: str
    shape: tuple[int, ...]

    def open(self) -> np.ndarray:
        """Return the array, of which only what is read is loaded."""
        found = np.memmap(self.file, self.dtype, "r", self.offset, self.shape)
        return found.view(np.ndarray)


def shards_of(argument: Any, position: int) -> list[Any]:
    """Return what stands for each shard of an argument.

    Raises
    ------
    ArgumentError
        If it has no shards, or a Dask array is also split along other axes than the first.
    """
    if hasattr(argument, "__dask_graph__") and hasattr(argument, "to_delayed"):
        parts = argument.to_delayed()
        if isinstance(parts, np.ndarray):
            if any(count > 1 for count in parts.shape[1:]):
                raise ArgumentError(
                    f"argument {position} is a Dask array in chunks along {parts.ndim} axes", None,
                    "rechunk it by rows: `x.rechunk({1: -1})`",
                )  # fmt: skip
            parts = parts.ravel()
        return list(parts)
    if isinstance(argument, list | tuple):
        return [_portable(each) for each in argument]
    raise ArgumentError(
        f"argument {position} is of type {type(argument).__name__}, not a list of shards", None,
        "pass a list with an element for each shard, or a Dask array, bag or dataframe; arguments "
        "that all shards have in common are named by `shared=`",
    )  # fmt: skip


def _portable(shard: Any) -> Any:
    """Return a shard with arrays in files replaced by where they are."""
    return optree.tree_map(_mapped, shard, none_is_leaf=True)


def _mapped(leaf: Any) -> Any:
    if not isinstance(leaf, np.memmap) or not leaf.flags.c_contiguous or leaf.filename is None:
        return leaf
    if leaf.mode == "c":
        return np.array(leaf)  # what was changed is not in the file
    whole: Any = leaf
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    start = leaf.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return Mapped(os.path.abspath(leaf.filename), whole.offset + start, leaf.dtype.str, leaf.shape)


def opened(shard: Any, loader: Loader | None) -> Any:
    """Return the arrays of a shard, on a worker."""
    if hasattr(shard, "__dask_graph__"):
        shard = shard.compute(scheduler="synchronous")
    if loader is not None:
        shard = loader(shard)
    return optree.tree_map(_opened, shard, none_is_leaf=True)


def _opened(leaf: Any) -> Any:
    if isinstance(leaf, Mapped):
        return leaf.open()
    return leaf.to_numpy() if hasattr(leaf, "to_numpy") else leaf


def structure(shard: Sequence[Any]) -> str:
    """Return the structure of a shard's arguments: what may differ are sizes."""
    parts: Any = tuple(shard)
    leaves: list[Any]
    leaves, tree = optree.tree_flatten(parts, none_is_leaf=True)
    kinds = [
        f"{leaf.dtype}[{leaf.ndim}]" if isinstance(leaf, np.ndarray) else type(leaf).__name__
        for leaf in leaves
    ]
    return f"{tree} of {', '.join(kinds)}"


__all__ = ["Mapped", "opened", "shards_of", "structure"]
