"""Calls of `adc.external` functions, with their derivative rules.

``y = solve(x)`` is lowered as ``y = attached(outside(x), x)``: to derivatives, what comes from
outside is a constant, and `adc.library.external.Attached` has the rules.
"""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from adc.frontend.calls import custom, outside
from adc.frontend.core.bindings import Binding, Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.values import elementwise
from adc.ir.errors import TypeMismatchError
from adc.library.external import Attached


def of(value: Any) -> Any:
    """Return the `adc.external` function that an object is, or that of a method; or None."""
    found: Any = value.__func__ if type(value) is types.MethodType else value
    return found.__adc_external__ if hasattr(type(found), "__adc_external__") else None


def call(
    lo: Lowerer, fn: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of such a function."""
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if fn.vjp is None and fn.jvp is None:
        return outside.called(lo, fn.__name__, fn.fn, fn.result, args, kwargs, node, pure=fn.pure)
    args = _by_position(lo, fn, args, kwargs, node)
    found = outside.called(
        lo, fn.__name__, fn.fn, fn.result, args, {}, node, pure=fn.pure, rule="stopped"
    )
    number = isinstance(found, Num) and found.operand.type.kind == "f"
    if number not in fn.attached:
        fn.attached[number] = Attached(fn.__name__, fn.vjp, fn.jvp, number)
    return custom.call(lo, fn.attached[number], [found, *args], {}, node)


def _by_position(
    lo: Lowerer, fn: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> list[Binding]:
    """Return the arguments of a function with a rule, which takes them by position."""
    if not kwargs:
        return args
    try:
        bound = inspect.signature(fn.fn).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise TypeMismatchError(f"{fn.__name__}(): {error}", lo.span(node)) from None
    if bound.kwargs:
        raise lo.unsupported(
            f"an argument of {fn.__name__}() by name alone, where it has a derivative rule,", node,
            "let the function take it by position",
        )  # fmt: skip
    return list(bound.args)


__all__ = ["call", "of"]
