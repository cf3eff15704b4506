"""What a worker does: the derivative of one shard's loss."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import optree

import adc
from adc.api.derivative import pure
from adc.distributed.shards import Loader, opened, structure
from adc.distributed.transport import Packed, unpack
from adc.distributed.tree import add, scaled, zeros
from adc.ir.errors import ArgumentError

ROWS = "rows"


@dataclass(frozen=True)
class Task:
    """A derivative to take of each shard: the same for all of them.

    Attributes
    ----------
    fn : Packed
        The loss of a shard.
    kind : str
        ``"value_and_grad"``, ``"hvp"`` or ``"jvp"``.
    argnums : tuple of int
        What is differentiated.
    single : bool
        Whether `argnums` is one number for the user.
    shared : tuple of int
        The positions of arguments that all shards have in common.
    has_aux : bool
        Whether the loss returns something besides, of each shard.
    options : tuple of (str, object)
        Options of `adc.grad`.
    loader : Packed or None
        Makes a shard of what stands for it.
    """

    fn: Packed
    kind: str
    argnums: tuple[int, ...]
    single: bool
    shared: tuple[int, ...]
    has_aux: bool
    options: tuple[tuple[str, Any], ...]
    loader: Packed | None


@dataclass(frozen=True)
class Partial:
    """The part of a result that is of some shards.

    Attributes
    ----------
    total : object
        Sums of values and derivatives, each times its weight.
    weight : float
        The sum of weights.
    structure : str
        Of the first shard's arguments, and `shard` its number.
    aux : tuple
        What the loss returned besides, of each shard.
    """

    total: Any
    weight: float
    structure: str
    shard: int
    aux: tuple[Any, ...] = ()


@functools.lru_cache(maxsize=64)
def _derivative(task: Task) -> Callable[..., Any]:
    fn = unpack(task.fn)
    argnums: Any = task.argnums[0] if task.single else task.argnums
    options: dict[str, Any] = dict(task.options)
    if task.kind == "value_and_grad":
        # Nobody would see what it changes in a process of its own.
        return pure(adc.value_and_grad(fn, argnums, has_aux=task.has_aux, **options))
    if task.kind == "hvp":
        product: Callable[..., Any] = adc.hvp(fn, **options)
        return product

    def along(x: Any, tangent: Any, *args: Any) -> Any:
        return adc.jvp(fn, (x, *args), (tangent, *[None] * len(args)), **options)

    return along


def run(
    task: Task, shared: Sequence[Any], shards: Sequence[Any], number: int, weight: float | str
) -> Partial:
    """Return what one shard contributes."""
    loader: Loader | None = None if task.loader is None else unpack(task.loader)
    try:
        parts = [opened(shard, loader) for shard in shards]
    except Exception as error:
        error.add_note(f"in shard {number} of {task.fn.name}(), as it was read")
        raise
    empty = False
    if weight == ROWS:
        weight = float(_rows(parts, number))
        empty = weight == 0.0
    assert not isinstance(weight, str)
    given, own = iter(shared), iter(parts)
    # What a product is taken with stands in front of the arguments.
    along = () if task.kind == "value_and_grad" else (next(given),)
    count = len(shared) - len(along) + len(parts)
    args = [next(given) if k in task.shared else next(own) for k in range(count)]
    aux: tuple[Any, ...] = ()
    try:
        found = _derivative(task)(*args[:1], *along, *args[1:])
    except Exception as error:
        error.add_note(f"in shard {number} of {task.fn.name}()")
        raise
    if task.has_aux:
        (value, more), slope = found
        found, aux = (value, slope), (more,)
    # The mean of no rows is NaN, and counts nothing.
    total = zeros(found) if empty else scaled(found, weight)
    return Partial(total, weight, structure(parts), number, aux)


def _rows(parts: Sequence[Any], number: int) -> int:
    try:
        return len(parts[0])
    except TypeError:
        raise ArgumentError(
            f'weights="{ROWS}", and shard {number} has no rows: it is a {type(parts[0]).__name__}',
            None, "give the weight of each shard: `weights=[...]`",
        ) from None  # fmt: skip


def joined(first: Partial, second: Partial) -> Partial:
    """Return the sum of two partial results, of which the first has the earlier shards.

    Raises
    ------
    ArgumentError
        If their shards, or their results, have different structures.
    """
    if first.structure != second.structure:
        raise ArgumentError(
            f"shards of different structures: {first.structure} (shard {first.shard}) and "
            f"{second.structure} (shard {second.shard})",
            None, "shards may differ in sizes, not in dtypes, axes and nesting",
        )  # fmt: skip
    shapes: list[Any] = [optree.tree_map(np.shape, each.total) for each in (first, second)]
    if shapes[0] != shapes[1]:  # NumPy would broadcast a shard with one row
        raise ArgumentError(
            f"results of different shapes: {shapes[0]} (shard {first.shard}) and {shapes[1]} "
            f"(shard {second.shard})",
            None, "what is added has the same shape for all shards: sum over rows",
        )  # fmt: skip
    total = add(first.total, second.total)
    return Partial(
        total, first.weight + second.weight, first.structure, first.shard, first.aux + second.aux
    )


__all__ = ["ROWS", "Partial", "Task", "joined", "run"]
