"""`scipy.integrate.solve_ivp` and `odeint`."""

from __future__ import annotations

import ast
import types
from typing import Any

from adc.frontend.control import program
from adc.frontend.core import classes, dispatch
from adc.frontend.core import outside as guards
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    Closure,
    NamedTuple,
    Num,
    ObjectRef,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.inputs.places import Has, Place
from adc.frontend.language import attributes
from adc.frontend.numpy import library
from adc.frontend.scipy import host
from adc.frontend.values import arguments, elementwise, objects
from adc.frontend.values.arguments import Given
from adc.ir.types import FLOAT
from adc.library.scipy.odes import ivp, outside

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
        given["method"] = method = static(method.value.__name__)
    if isinstance(method, Static) and method.value in ("Radau", "LSODA"):
        return _outside(lo, given, method.value, node)
    events = given.get("events", NONE)
    if not arguments.is_none(events):
        several = arguments.sequence(lo, events)
        each = [events] if several is None else list(several)
        given["events"] = TupleOf(tuple(each))
        given["terminal"] = TupleOf(tuple(lo.num(_terminal(lo, event, node)) for event in each))
        given["directions"] = TupleOf(tuple(_direction(lo, event, node) for event in each))
    _, given = elementwise.all_materialised(lo, [], given, node)
    assert isinstance(ivp.solve_ivp, types.FunctionType)
    return program.call_function(lo, ivp.solve_ivp, [], given, node)


def _outside(lo: Lowerer, given: Given, method: str, node: ast.Call) -> Binding:
    """Lower `solve_ivp` by an integrator of SciPy's, which runs as it is."""
    arguments.refuse(
        lo, given, ("dense_output", "events"), f"`solve_ivp` by {method!r}", node,
        hint="use 'BDF', or 'RK45' or 'DOP853' where the equations are not stiff",
    )  # fmt: skip
    host.require(lo, "scipy.integrate.solve_ivp", node)
    given["settings"] = host.settings(lo, given, ("first_step", "max_step"))
    if arguments.flag(lo, given.pop("vectorized", lo.num(False)), node, "`vectorized`"):
        given["fun"] = dispatch.apply(lo, Static(outside.of_columns), [given["fun"]], {}, node)
    given |= _jacobian(lo, given.pop("jac", NONE), outside.nothing, node)
    given.setdefault("rtol", lo.num(1e-3))
    given.setdefault("atol", lo.num(1e-6))
    return host.run(lo, outside.solve_ivp, given, node)


_PASSED = ("mxstep", "h0", "hmax", "hmin", "tcrit", "mxordn", "mxords")


def _odeint(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = (
        "func y0 t args? Dfun? col_deriv? full_output? ml? mu? rtol? atol? tcrit? h0? hmax? hmin? "
        "ixpr? mxstep? mxhnil? mxordn? mxords? printmessg? tfirst?"
    )
    given = arguments.match(lo, form, args, kwargs, node)
    arguments.refuse(
        lo, given, ("col_deriv", "full_output", "ml", "mu", "ixpr", "mxhnil", "printmessg"),
        "`scipy.integrate.odeint`", node,
    )  # fmt: skip
    host.require(lo, "scipy.integrate.odeint", node)
    given["settings"] = host.settings(lo, given, _PASSED)
    first = arguments.flag(lo, given.pop("tfirst", lo.num(False)), node, "`tfirst`")
    fun, jac = given.pop("func"), given.pop("Dfun", NONE)
    if not first:
        fun = dispatch.apply(lo, Static(outside.turned), [fun], {}, node)
        if not arguments.is_none(jac):
            jac = dispatch.apply(lo, Static(outside.turned), [jac], {}, node)
    given["fun"] = fun
    given |= _jacobian(lo, jac, outside.nothing, node)
    given.setdefault("args", TupleOf(()))
    for name in ("rtol", "atol"):
        if arguments.is_none(given.get(name, NONE)):
            given[name] = lo.num(1.49012e-8)
    return host.run(lo, outside.odeint, given, node)


def _jacobian(lo: Lowerer, jac: Binding, nothing: Any, node: ast.Call) -> Given:
    if arguments.is_none(jac):
        return {"has_jac": lo.num(False), "jac": Static(nothing)}
    if not isinstance(jac, Static | Closure | Bound | ObjectRef | NamedTuple):
        raise lo.unsupported(
            "a Jacobian that is a matrix, for LSODA or Radau,", node, "pass a function"
        )
    return {"has_jac": lo.num(True), "jac": jac}


def _attribute(lo: Lowerer, event: Binding, name: str, node: ast.Call) -> Binding:
    """Return an attribute of an event function, None if it has none of that name."""
    found: Binding | None = None
    if isinstance(event, Bound) and isinstance(event.owner, NamedTuple | ObjectRef):
        event = Static(classes.find_method(lo, event.owner.cls, event.name, event.after))
    if isinstance(event, Closure):
        found = event.attributes.get(name)
    elif isinstance(event, NamedTuple | ObjectRef):
        found = attributes.of_container(lo, event, name, node)
    elif isinstance(event, Static):
        place, there = event.place or Place(event.value), hasattr(event.value, name)
        guards.guard(lo, place.to(Has(name)), there)
        if there:
            value = getattr(event.value, name)
            guards.guard(lo, place.to(name), value)
            found = static(value)
    return NONE if found is None else found


def _terminal(lo: Lowerer, event: Binding, node: ast.Call) -> int:
    """Return how often an event occurs until it ends the integration, or 0 if it does not."""
    found = _attribute(lo, event, "terminal", node)
    if not objects.is_constant(found):
        raise lo.constant_needed(found, "the attribute `terminal` of an event", node)
    value = objects.constant_of(found)
    if value is None or value == 0:
        return 0
    if int(value) != value or value < 0:
        raise lo.unsupported(
            f"the attribute `terminal` of an event, {value!r}", node,
            "set it to a boolean or a positive integer",
        )  # fmt: skip
    return int(value)


def _direction(lo: Lowerer, event: Binding, node: ast.Call) -> Num:
    """Return the sign of the slope that an event must have, or 0 for both."""
    found = _attribute(lo, event, "direction", node)
    if arguments.is_none(found):
        return lo.num(0.0)
    return Num(lo.convert(elementwise.number(lo, found, node), FLOAT))


library.enter_named({"scipy.integrate.solve_ivp": _solve_ivp, "scipy.integrate.odeint": _odeint})
