"""Loops in an order that memory and vectors like better, with what has to happen before and after.

`interchange` and `distribute` look at loops that have been merged, and leave loops to merge. All of
this is done before there is reverse code, which names loops of the forward code. Which passes these
are is in the table of `adc.passes.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable

from adc.ir.core import Function, is_invertible
from adc.ir.walk import defined

_Pass = Callable[[Function], Function]


def exchange(fn: Function, *, merge: _Pass, move: _Pass, tidy: _Pass) -> Function:
    """Return `fn` with loops exchanged where that is right and pays, else as it is.

    Loops are merged, then moved; if any was, what that leaves is made tidy. Loops that users want
    to be taken back stay as they are: that they can be is the user's care.
    """
    if any(is_invertible(value) for each in (fn, *fn.callees) for value in defined(each)):
        return fn
    merged = merge(fn)
    moved = move(merged)
    return fn if moved == merged else tidy(moved)


__all__ = ["exchange"]
