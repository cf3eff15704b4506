"""Functions with custom derivatives: their calls, and what gives them a rule; `adc.external`."""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import replace
from typing import Any

from adc.frontend.calls import outside
from adc.frontend.calls.rules import Custom, Maker
from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    Binding,
    Bound,
    Itself,
    Num,
    Ruled,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.transforms import derivatives
from adc.frontend.transforms.outline import Outline
from adc.frontend.values import arguments, elementwise, structures
from adc.ir.errors import ArgumentError, TypeMismatchError
from adc.library.external import Attached

# What `defvjp` and `defjvp` take, by what made the function.
_DEFINED = {"custom_vjp": ("defvjp", ("forward", "reverse")), "custom_jvp": ("defjvp", ("rule",))}


def has_rule(value: Any) -> bool:
    """Whether an object is a function with a custom derivative."""
    return hasattr(type(value), "__adc_rule__")


def call(
    lo: Lowerer, fn: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of an object that has a custom derivative."""
    try:
        kind, functions, fixed = fn.__adc_rule__
    except ArgumentError as error:
        raise ArgumentError(error.message, lo.span(node), error.hint) from None
    exact = kind == "exact"
    primal = Static(fn.py_func)
    if exact and fn.made is not None and not lo.shared.on_device:
        primal = Static(fn.made)  # the library does the rest
    custom = Custom(
        fn.__name__, kind, primal, tuple(Static(rule) for rule in functions), fixed, id(fn),
        fn.routine if exact else "", exact or isinstance(fn, Attached),
        always=exact and fn.always,
    )  # fmt: skip
    return _call(lo, custom, args, kwargs, node)


@dispatch.called(Ruled)
def _call_ruled(
    lo: Lowerer, target: Ruled, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a function that has a custom derivative, made in code."""
    if not target.parts:  # `@adc.custom_vjp(nondiff_argnums=0)`
        return replace(target, fn=TupleOf(tuple(args)))
    name = derivatives.name_of(target)
    if not target.rules:
        define, takes = _DEFINED[target.kind]
        raise ArgumentError(
            f"{name}() is decorated with `{target.kind}` but has no rule", lo.span(node),
            f"define it with `{define}({', '.join(takes)})` of the function, in the same block",
        )  # fmt: skip
    custom = Custom(
        name, target.kind[-3:], target.primal, target.rules, target.level.chosen,
        (target.key, target.level), target=target,
    )  # fmt: skip
    return _call(lo, custom, args, kwargs, node)


@dispatch.called(Itself)
def _call_itself(
    lo: Lowerer, target: Itself, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call, within a rule, of the function that has the rule."""
    if target.key not in lo.itself:
        raise lo.unsupported(
            f"a call of {target.name} within its own rule here", node, "define it at module level"
        )
    return _call_ruled(lo, lo.itself[target.key], args, kwargs, node)


def define(
    lo: Lowerer, callee: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``f.defvjp(forward, reverse)`` or ``f.defjvp(rule)``, which give `f` its rule."""
    target = callee.owner
    assert isinstance(target, Ruled)
    name = derivatives.name_of(target)
    _, takes = _DEFINED[target.kind]
    rules = arguments.by_name(lo, f"{name}.{callee.name}", takes, args, kwargs, node)
    if rules.keys() != set(takes):
        raise TypeMismatchError(
            f"{name}.{callee.name}() takes {' and '.join(f'`{each}`' for each in takes)}",
            lo.span(node),
        )
    if target.rules:
        raise ArgumentError(f"{name}() has a rule already", lo.span(node), "define it once")
    at = node.func.value if isinstance(node.func, ast.Attribute) else None
    known = isinstance(at, ast.Name) and lo.frame.env.get(at.id) is target
    if not known or lo.branches != target.depth:
        raise lo.unsupported(
            f"a rule of {name}() that is defined elsewhere than {name}() itself", node,
            "define it right behind the function, by its name, in the same block",
        )  # fmt: skip
    assert isinstance(at, ast.Name)
    own = tuple(rules[each] for each in takes)
    lo.frame.env[at.id] = replace(target, fn=TupleOf((target.primal, *own)))
    return own[0] if target.kind == "custom_jvp" else NONE


def _call(
    lo: Lowerer, custom: Custom, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    names = derivatives.parameters(lo, custom.primal, node)
    args = [*args, *(kwargs.pop(name) for name in names[len(args) :] if name in kwargs)]
    if kwargs:
        raise lo.unsupported(
            f"a keyword argument of {custom.name}(), which has a custom derivative,", node,
            "pass it by position",
        )  # fmt: skip
    fixed = tuple(number % len(names) for number in custom.fixed)
    given = [elementwise.materialised(lo, arg, node) for arg in args]
    free = [k for k in range(len(given)) if k not in fixed]
    sources: dict[ArrayObject, ArrayObject] = {}
    for k in free:
        given[k] = structures.detached(lo, given[k], node, sources, parts=True)
    chosen = [given[k] for k in free]
    inputs = (custom.primal, *custom.rules, *given)
    outline = Outline(lo, inputs, chosen, node, sources, may_change=False, apart=True)
    return Maker(lo, outline, custom, given, free, fixed, node).call()


def external_of(value: Any) -> Any:
    """Return the `adc.external` function that an object is, or that of a method; or None."""
    found: Any = value.__func__ if type(value) is types.MethodType else value
    return found.__adc_external__ if hasattr(type(found), "__adc_external__") else None


def call_external(
    lo: Lowerer, fn: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of an `adc.external` function.

    ``y = solve(x)`` is lowered as ``y = attached(outside(x), x)``: to derivatives, what comes from
    outside is a constant, and `adc.library.external.Attached` has the rules.
    """
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
    return call(lo, fn.attached[number], [found, *args], {}, node)


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


__all__ = ["call", "call_external", "define", "external_of", "has_rule"]
