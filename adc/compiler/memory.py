"""Amounts of memory, as users write and read them."""

from __future__ import annotations

import re

from adc.ir.errors import ArgumentError
from adc.ir.errors import bytes_text as text

_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")


def parse(amount: object) -> int | None:
    """Return the bytes of an amount of memory; None for None.

    Parameters
    ----------
    amount : int, str or None
        Bytes, or a number and a unit: B, kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of
        1024.

    Raises
    ------
    ArgumentError
        If `amount` is not an amount of memory.

    Examples
    --------
    >>> parse("64 MB"), parse("1.5 KiB"), parse(4096), parse(None)
    (64000000, 1536, 4096, None)
    """
    if amount is None:
        return None
    found: int | None = None
    if isinstance(amount, int) and not isinstance(amount, bool):
        found = amount
    elif isinstance(amount, str) and (match := _AMOUNT.fullmatch(amount)):
        unit = _UNITS.get(match[2].lower())
        found = None if unit is None else int(float(match[1]) * unit)
    if found is None or found < 0:
        raise ArgumentError(
            f"memory={amount!r} is not an amount of memory",
            None,
            'use a number of bytes, or a text such as "64 MB"',
        )
    return found


__all__ = ["parse", "text"]
