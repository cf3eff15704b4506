"""Drop derivative rules once all derivatives are taken, and the functions that only they call.

    fn f(%x) {                               fn f(%x) {
      %t = call C0 square(%x)                  %t = call C0 square(%x)
      return %t                                return %t
    }                                        }
    fn square(%x) rule vjp(record, …) {…}    fn square(%x) {…}
    fn record(%x) {…}

From here on these are functions like others.
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.core import Function
from adc.ir.functions import reached


def settle(fn: Function) -> Function:
    """Return `fn` without rules, unless there are derivatives that are yet to be taken."""
    if fn.derived or not any(each.rule for each in fn.callees):
        return fn
    return reached(replace(fn, callees=tuple(replace(each, rule=None) for each in fn.callees)))
