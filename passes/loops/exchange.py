"""Reorder loops for locality and vectors, and run the passes that this needs before and after.

`interchange` and `distribute` need fused loops, and leave loops to fuse. All of this happens before
reverse code exists, which names loops of the forward code. The passes are listed in the table of
`adc.passes.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable

from adc.ir.core import Function, is_invertible
from adc.ir.walk import defined

_Pass = Callable[[Function], Function]


def exchange(fn: Function, *, merge: _Pass, move: _Pass, tidy: _Pass) -> Function:
    """Return `fn` with loops exchanged where that is legal and pays, else unchanged.

    Loops are merged, then moved; if any was, the result is tidied up. Loops that users marked as
    invertible stay as they are: that they can be inverted is the user's responsibility.
    """
    if any(is_invertible(value) for each in (fn, *fn.callees) for value in defined(each)):
        return fn
    merged = merge(fn)
    moved = move(merged)
    return fn if moved == merged else tidy(moved)


__all__ = ["exchange"]
