"""Loops in an order that memory and vectors like better, with what has to happen before and after.

`interchange` and `distribute` look at loops that have been merged, and leave loops to merge. All of
this is done before there is reverse code, which names loops of the forward code.
"""

from __future__ import annotations

from adc.ir.core import Function, is_invertible
from adc.ir.walk import defined
from adc.passes.loops.contract import contract
from adc.passes.loops.distribute import distribute
from adc.passes.loops.fuse import fuse
from adc.passes.loops.interchange import interchange
from adc.passes.scalar.cse import cse
from adc.passes.scalar.dce import dce


def exchange(fn: Function) -> Function:
    """Return `fn` with loops exchanged where that is right and pays, else as it is.

    Loops that users want to be taken back stay as they are: that they can be is the user's care.
    """
    if any(is_invertible(value) for each in (fn, *fn.callees) for value in defined(each)):
        return fn
    merged = dce(contract(fuse(fn)))
    done = distribute(interchange(merged))
    return fn if done == merged else dce(cse(contract(fuse(done))))


__all__ = ["exchange"]
