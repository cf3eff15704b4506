"""`scipy.integrate.solve_ivp`."""

from __future__ import annotations

import ast
import types
from typing import Any

from adc.frontend.control import program
from adc.frontend.core.bindings import NONE, Binding, Closure, Num, Static, TupleOf, static
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library
from adc.frontend.values import arguments, elementwise
from adc.ir.core import Literal
from adc.library.scipy.odes import ivp

_FORM = (
    "fun t_span y0 method? t_eval? dense_output? events? vectorized? args? * "
    "first_step? max_step? rtol? atol? jac?"
)


def _solve_ivp(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, _FORM, args, kwargs, node)
    method = given.get("method")
    if isinstance(method, Static) and isinstance(method.value, type):
        given["method"] = static(method.value.__name__)
    events = given.get("events", NONE)
    if not arguments.is_none(events):
        several = arguments.sequence(lo, events)
        each = [events] if several is None else list(several)
        given["events"] = TupleOf(tuple(each))
        given["terminal"] = TupleOf(tuple(lo.num(_terminal(lo, event, node)) for event in each))
        signs = (_attribute(event, "direction") for event in each)
        given["directions"] = TupleOf(tuple(lo.num(float(sign or 0)) for sign in signs))
    _, given = elementwise.all_materialised(lo, [], given, node)
    assert isinstance(ivp.solve_ivp, types.FunctionType)
    return program.call_function(lo, ivp.solve_ivp, [], given, node)


def _attribute(event: Binding, name: str) -> Any:
    """Return an attribute of an event function, or None."""
    if isinstance(event, Closure):
        found = event.attributes.get(name, NONE)
        literal = isinstance(found, Num) and isinstance(found.operand, Literal)
        return found.operand.value if literal else found.value  # type: ignore[union-attr]  # constants
    return getattr(event.value, name, None) if isinstance(event, Static) else None


def _terminal(lo: Lowerer, event: Binding, node: ast.Call) -> int:
    """Return how often an event occurs until it ends the integration, or 0 if it does not."""
    value = _attribute(event, "terminal")
    if value is None or value == 0:
        return 0
    if int(value) != value or value < 0:
        raise lo.unsupported(
            f"the attribute `terminal` of an event, {value!r}", node,
            "set it to a boolean or a positive integer",
        )  # fmt: skip
    return int(value)


library.enter_named({"scipy.integrate.solve_ivp": _solve_ivp})
