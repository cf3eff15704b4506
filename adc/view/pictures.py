"""Numbers and arrays as small pictures, and what is not shown of arguments.

A picture of an array has at most 16 by 16 cells, each the mean of a block of elements in one of 16
shades, and a histogram of 16 bins. Numbers that are only read from an argument are not shown, nor
are arguments of fewer than `FEW` elements, unless values are asked for. A number that was computed
may be one of an argument, too: a maximum is, and so is the derivative of a product. `Told` knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

CELLS = 16
SHADES = 16
# An argument of fewer elements would be told by its picture.
FEW = 32
# So many elements are written out if values are asked for.
WRITTEN = 64
# What is shown of a number that is only read from an argument.
HIDDEN = {"hidden": True}
# Integers below are in every program: indices, sizes, factors.
COMMON = 1000
_DIGITS = "0123456789abcdef"


class Told:
    """The numbers of arguments, whatever their sign.

    Examples
    --------
    >>> told = Told([np.array([0.25, -7.5]), 3.0, True])
    >>> [told.has(x) for x in (7.5, -0.25, 3.0, 0.5, float("nan"))]
    [True, True, False, False, False]
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        found = [np.zeros(0)]
        for each in map(np.asarray, arguments):
            if each.dtype.kind in "iufc":
                flat = each.ravel()
                parts = (flat.real, flat.imag) if each.dtype.kind == "c" else (flat,)
                found += [np.abs(part.astype(np.float64)) for part in parts]
        self.numbers = np.unique(np.concatenate(found))

    def has(self, number: float) -> bool:
        """Whether it is a number of an argument, and not a common one."""
        size = abs(float(number))
        if size < COMMON and size.is_integer():
            return False
        k = int(np.searchsorted(self.numbers, size))
        return k < len(self.numbers) and bool(self.numbers[k] == size)


def picture(
    value: Any, *, values: bool = False, argument: bool = False, told: Told | None = None
) -> dict[str, Any]:
    """Return what is shown of a number or an array.

    Parameters
    ----------
    values : bool
        Whether elements of arguments may be shown.
    argument : bool
        Whether it is, or was read from, an argument.
    told : Told, optional
        Numbers that are not shown either, unless `values` are.

    Examples
    --------
    >>> picture(0.1 + 0.2), picture(1.5, argument=True)
    ({'number': '0.3'}, {'hidden': True})
    >>> found = picture(np.arange(64.0).reshape(8, 8))
    >>> found["shape"], found["rows"], found["least"], found["cells"][:8]
    ([8, 8], 8, '0', '00001111')
    """
    secret = told.has if told is not None and not values else _nothing
    if np.ndim(value) == 0:
        parts = (value.real, value.imag) if np.iscomplexobj(value) else (value,)
        return _number(value, hidden=(argument and not values) or any(map(secret, parts)))
    array = np.asarray(value)
    found: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.size == 0 or array.dtype.kind not in "bifu":
        return found
    if argument and not values and array.size < FEW:
        return {**found, "hidden": True}
    # A large one is looked at in places: a mean of all of it, after each step, takes too long.
    looked = _sample(array)
    numbers = looked.astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        found["lost"] = int(array.size if not finite.any() else (~finite).sum())
    if not finite.any():
        return found
    least, most = float(numbers[finite].min()), float(numbers[finite].max())
    if not argument or values:
        mean = float(numbers[finite].mean())
        if not (secret(least) or secret(most) or secret(mean)):
            found |= {"least": f"{least:.4g}", "most": f"{most:.4g}", "mean": f"{mean:.4g}"}
    if values and array.size <= WRITTEN:
        found["values"] = [f"{x:.6g}" for x in array.astype(np.float64).ravel()]
    cells = _blocks(np.where(finite, numbers, least))
    found |= {"rows": cells.shape[0], "columns": cells.shape[1], "cells": _shades(cells)}
    if array.size >= CELLS and (array.ndim == 1 or array.size > CELLS * CELLS):
        counts, _ = np.histogram(
            numbers[finite], CELLS, (least, most if most > least else least + 1)
        )
        found["histogram"] = _shades(counts, zero=True)
    return found


def _nothing(_: float) -> bool:
    return False


def _number(value: Any, hidden: bool) -> dict[str, Any]:
    if hidden:
        return dict(HIDDEN)
    if isinstance(value, bool | np.bool_):
        return {"number": str(bool(value))}
    if isinstance(value, int | np.integer):
        return {"number": str(int(value))}
    return {"number": f"{complex(value):.6g}" if np.iscomplexobj(value) else f"{float(value):.6g}"}


def _sample(array: Any) -> Any:
    """Return at most some thousand elements, evenly spaced along each axis."""
    flat = array if array.ndim <= 2 else array.reshape(array.shape[0], -1)
    most = 64 if flat.ndim == 2 else 4096
    return flat[tuple(slice(None, None, max(1, n // most)) for n in flat.shape)]


def _blocks(numbers: Any) -> Any:
    """Return the means of at most 16 by 16 blocks."""
    table = numbers[None, :] if numbers.ndim == 1 else numbers
    for axis in (0, 1):
        count = table.shape[axis]
        if count > CELLS:
            edges = np.linspace(0, count, CELLS + 1).astype(int)
            sums = np.add.reduceat(table, edges[:-1], axis)
            sizes = np.diff(edges)
            table = sums / (sizes[:, None] if axis == 0 else sizes)
    return table


def _shades(cells: Any, zero: bool = False) -> str:
    low, high = (0.0 if zero else float(cells.min())), float(cells.max())
    scale = high - low
    if not scale > 0 or not np.isfinite(scale):
        return "8" * int(cells.size)
    found = np.minimum((cells - low) / scale * SHADES, SHADES - 1).astype(int)
    return "".join(_DIGITS[k] for k in found.ravel())


__all__ = ["CELLS", "FEW", "HIDDEN", "Told", "picture"]
