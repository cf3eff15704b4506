"""`scipy.integrate`: integrals of samples, and of functions."""

from __future__ import annotations

import ast
import types

from adc.frontend.control import program
from adc.frontend.core.bindings import NONE, Binding, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.frontend.values import arguments, elementwise
from adc.ir.core import Literal
from adc.library.scipy.integrate import quadrature, samples

library.enter_named(
    {
        f"scipy.integrate.{name}": composed.in_python(getattr(samples, name), ("axis", "order"))
        for name in samples.__all__
    }
)

_REFUSED = {
    "full_output": "leave it out",
    "weight": "multiply the function by the weight",
    "wvar": "multiply the function by the weight",
    "wopts": "leave it out",
    "complex_func": "integrate the real and the imaginary part",
}


def _quad(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    form = (
        "func a b args? full_output? epsabs? epsrel? limit? points? weight? wvar? wopts? maxp1? "
        "limlst? complex_func?"
    )
    given = arguments.match(lo, form, args, kwargs, node)
    for name, hint in _REFUSED.items():
        value = given.pop(name, NONE)
        off = isinstance(value, Num) and not arguments.flag(lo, value, node, f"`{name}`")
        if not off and not arguments.is_none(value):
            raise lo.unsupported(f"`scipy.integrate.quad` with `{name}`", node, hint)
    for name in ("maxp1", "limlst"):  # of integrals with weights
        given.pop(name, None)
    if lo.shared.on_device:
        raise lo.unsupported(
            "`scipy.integrate.quad` on a GPU", node, "compute it with `target='cpu'`"
        )
    _, given = elementwise.all_materialised(lo, [], given, node)
    for name in "ab":
        given[name] = Num(elementwise.number(lo, given[name], node))
    # A limit that is a constant of the program does not move: the function is not called there.
    given["ends"] = TupleOf(tuple(lo.num(_moves(given[name])) for name in "ab"))
    defaults: dict[str, Binding] = {
        "args": TupleOf(()), "epsabs": lo.num(1.49e-8), "epsrel": lo.num(1.49e-8),
        "limit": lo.num(50), "points": NONE,
    }  # fmt: skip
    fn = quadrature.quad
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, [], defaults | given, node)


def _moves(limit: Binding) -> bool:
    assert isinstance(limit, Num)
    return limit.operand.type.kind == "f" and not isinstance(limit.operand, Literal)


library.enter_named({"scipy.integrate.quad": _quad})
