"""Strings, dates, fractions and other values that Python computes with while code is compiled.

``(date - START).days / 365.0`` is a constant where both dates are: captured, arguments, or made of
constants. Their values are guarded, or part of the key of the arguments. A fraction beside a float
that is known only at run time is the float that Python makes of it.

An array of None, ``np.array([[None] * n]).T``, stands for what is not there yet. It is a constant,
which nobody writes to.
"""

from __future__ import annotations

import ast
import operator
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.core import dispatch, numbers, outside
from adc.frontend.core.bindings import (
    Binding,
    DictRef,
    ListRef,
    NamedTuple,
    Num,
    RecordOf,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import PickedError
from adc.frontend.inputs.instances import is_value, is_value_class
from adc.frontend.values import arguments, sequences
from adc.ir.core import Literal
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, NAMES

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
# Builtins of values, or of sequences of them.
_BUILTINS = (abs, bool, divmod, float, int, max, min, repr, round, sorted, str, sum)
# Functions of texts that return such values.
OF_TEXTS = (
    ast.literal_eval, re.compile, re.escape, re.findall, re.fullmatch, re.match, re.search,
    re.split, re.sub,
)  # fmt: skip
# What is asked of an array of None, and what makes another one of it.
_OF_NONES = (
    len, np.atleast_1d, np.atleast_2d, np.copy, np.ndim, np.ravel, np.reshape, np.shape, np.size,
    np.squeeze, np.transpose,
)  # fmt: skip
_ATTRIBUTES_OF_NONES = ("T", "ndim", "shape", "size")
_METHODS_OF_NONES = ("copy", "flatten", "ravel", "reshape", "squeeze", "transpose")
# What depends on when it is called.
_CLOCKS = ("fromtimestamp", "now", "today", "utcfromtimestamp", "utcnow")


def is_constant(binding: Binding) -> bool:
    """Whether a binding is a value of such a class."""
    return isinstance(binding, Static) and is_value(binding.value)


def of_nones(lo: Lowerer, source: Binding) -> Static | None:
    """Return the array that NumPy makes of nested sequences of None; None of anything else."""
    shape = _shape_of_nones(lo, source)
    return _nones(np.full(shape, None)) if shape else None


def is_of_nones(binding: Binding) -> bool:
    """Whether a binding is an array of None that the program has made."""
    held = binding.value if isinstance(binding, Static) else None
    if not isinstance(held, np.ndarray) or held.flags.writeable:
        return False
    return all(each is None for each in held.flat)


def attribute_of_nones(owner: Static, name: str) -> Binding | None:
    """Return an attribute of an array of None, if code may use it."""
    if name in _ATTRIBUTES_OF_NONES or name in _METHODS_OF_NONES:
        return static(getattr(owner.value, name))
    return None


def _nones(made: np.ndarray) -> Static:
    made.flags.writeable = False
    return Static(made)


def _shape_of_nones(lo: Lowerer, source: Binding) -> tuple[int, ...] | None:
    if arguments.is_none(source):
        return ()
    inner = [_shape_of_nones(lo, item) for item in arguments.sequence(lo, source) or ()]
    if not inner or inner[0] is None or inner.count(inner[0]) < len(inner):
        return None
    return (len(inner), *inner[0])


class _Unknown(Exception):
    """An operand is known only at run time."""

    def __init__(self, binding: Binding) -> None:
        super().__init__()
        self.binding = binding


def _known(lo: Lowerer, binding: Binding) -> Any:
    """Return the value of an operand, or raise."""
    items = arguments.sequence(lo, binding)
    if items is not None:
        found = [_known(lo, item) for item in items]
        return tuple(found) if isinstance(binding, TupleOf) else found
    match binding:
        case Num(operand=Literal(value=value)):
            ty = numbers.scalar_type(binding.operand)
            return value if ty.weak else ty.numpy.type(value)
        case NamedTuple(cls=cls, record=record) if cls is slice:
            return slice(*[_known(lo, item) for item in record.items])
        case Static(value=value) if is_of_nones(binding):
            return value
        case Static(value=value) if is_value(value) or is_value_class(value):
            outside.pin(lo, binding)
            return value
        case Static(value=bool() | int() | float() | str() | re.RegexFlag() | None as value):
            return value
        case Static(value=type() as value) if value in (float, int) or value in NAMES:
            return value
    raise _Unknown(binding)


def _evaluated(
    lo: Lowerer, what: str, fn: Callable[..., Any], args: list[Binding],
    kwargs: dict[str, Binding], node: ast.AST,
) -> Binding:  # fmt: skip
    try:
        given = [_known(lo, arg) for arg in args]
        named = {key: _known(lo, arg) for key, arg in kwargs.items()}
    except _Unknown as error:
        fraction = any(isinstance(arg, Static) and hasattr(arg.value, "numerator") for arg in args)
        hint = "compute it outside, and pass it"
        if isinstance(error.binding, Num):
            hint = "write it as a constant, or pass dates as numbers"
            needed = lo.constant_needed(error.binding, f"a number in {what}", node)
        else:
            needed = lo.unsupported(f"{what} of {kind_of(error.binding)}", node)
        needed.hint = "use `float(...)` of the fraction" if fraction else hint
        raise needed from None
    try:
        found = fn(*given, **named)
    except Exception as error:  # whatever the program would raise
        if type(error).__module__ != "builtins":  # such as `re.error`, which code cannot raise
            text = f"{type(error).__name__}: {error}"
            raise TypeMismatchError(
                text, lo.span(node), "compute it outside, and pass it"
            ) from None
        numbers.refuse(lo, str(error), node, type(error).__name__, str(error))
    return _binding(lo, found)


def folding(fn: Callable[[Any], Any], handler: arguments.Handler) -> arguments.Handler:
    """Return a handler of a function of NumPy whose value for constants in a list is one, too.

    It may decide how long a list is: ``tasks.pop(np.argmax(depths))``.
    """

    def folded(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        items = arguments.sequence(lo, args[0]) if len(args) == 1 and not kwargs else None
        if items and all(isinstance(x, Num) and isinstance(x.operand, Literal) for x in items):
            return static(fn(np.array([_known(lo, item) for item in items])))
        return handler(lo, args, kwargs, node)

    return folded


def _binding(lo: Lowerer, value: Any) -> Binding:
    if isinstance(value, np.ndarray):
        return _nones(value)
    if isinstance(value, list):
        return lo.new_ref(ListRef, TupleOf(tuple(_binding(lo, item) for item in value)))
    if type(value) is tuple:
        return TupleOf(tuple(_binding(lo, item) for item in value))
    if type(value) is dict:
        items = tuple(_binding(lo, item) for item in value.values())
        return lo.new_ref(DictRef, RecordOf(tuple(value), items))
    return static(value)


def _as_float(lo: Lowerer, side: Binding, other: Binding, exponent: bool) -> Binding | None:
    """Return the float that Python makes of a fraction beside a float of its own."""
    if not (isinstance(side, Static) and type(side.value).__name__ == "Fraction"):
        return None
    if not isinstance(other, Num) or isinstance(other.operand, Literal):
        return None
    ty = numbers.scalar_type(other.operand)
    if ty.kind != "f" or other.array or ty.dtype != "f64":
        return None
    outside.pin(lo, side)
    if exponent and side.value.denominator == 1:
        return static(int(side.value))
    return static(float(side.value))


def operands(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding
) -> tuple[Binding, Binding] | None:
    """Return what Python computes with in place of a fraction and a float; None if there is none.

    Comparisons are exact, so they stay with the fraction.
    """
    power = kind is ast.Pow
    first = _as_float(lo, left, right, False)
    if first is not None:
        return first, right
    second = _as_float(lo, right, left, power)
    return None if second is None else (left, second)


def binary(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding | None:
    """Lower ``left op right``, which may be a comparison, of such values; None of others."""
    if not (is_constant(left) or is_constant(right)) or kind not in _BINARY:
        return None
    return _evaluated(lo, "this operator", _BINARY[kind], [left, right], {}, node)


def unary(lo: Lowerer, kind: type[ast.AST], operand: Binding, node: ast.AST) -> Binding | None:
    """Lower ``op operand`` likewise."""
    if not is_constant(operand) or kind not in _UNARY:
        return None
    return _evaluated(lo, "this operator", _UNARY[kind], [operand], {}, node)


def _has_one(lo: Lowerer, given: Binding) -> bool:
    items = arguments.sequence(lo, given)
    return any(_has_one(lo, item) for item in items) if items else is_constant(given)


def item(lo: Lowerer, owner: Static, key: Binding, node: ast.AST) -> Binding:
    """Lower ``owner[key]`` of such a value: a group of a match, None of an array of it."""
    return _evaluated(lo, "this index", operator.getitem, [owner, key], {}, node)


def call(
    lo: Lowerer, callee: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of such a class, of a method of one, or of a builtin; None of anything else."""
    value = callee.value
    owner = getattr(value, "__self__", None)
    if any(value is each for each in _BUILTINS):
        if not any(_has_one(lo, arg) for arg in args):
            return None
    elif any(value is each for each in OF_TEXTS):
        pass
    elif args and any(value is each for each in _OF_NONES):
        if not is_of_nones(args[0]):
            return None
    elif isinstance(owner, np.ndarray) and is_of_nones(Static(owner)):
        pass
    elif isinstance(owner, types.MappingProxyType) and value.__name__ in ("get", "copy"):
        pass
    elif is_value_class(owner) or is_value_class(value):
        if getattr(value, "__name__", "") in _CLOCKS:
            name = ast.unparse(node.func)
            raise lo.unsupported(f"`{name}`", node, "pass the time as an argument")
    elif not is_value(owner):
        return None
    elif isinstance(owner, re.Pattern) and value.__name__ in ("finditer", "scanner"):
        raise lo.unsupported(f"`{ast.unparse(node.func)}`", node, "use `findall`")
    return _evaluated(lo, f"`{ast.unparse(node.func)}`", value, args, kwargs, node)


# What methods of strings and sets return that arguments and results may be made of.
_KINDS = (str, bool, int, type(None), frozenset)


class _NotConstant(Exception):
    """Something is known only at run time, or is no part of a string's arguments."""


def method(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of a string or a set, or return None if it is none."""
    if not isinstance(callee, types.BuiltinMethodType):
        return None
    kind = next((each for each in (str, frozenset) if isinstance(callee.__self__, each)), None)
    if kind is None:
        return None
    if callee.__name__ == "encode":
        raise lo.unsupported("`str.encode`", node, "make bytes outside the function")
    for arg in (*args, *kwargs.values()):
        dispatch.require_one(sequences.static_items(lo, arg) or (), node)
    try:
        given = [_constant(lo, arg) for arg in args]
        named = {name: _constant(lo, arg) for name, arg in kwargs.items()}
    except _NotConstant:
        name, kinds = ("str", "strings") if kind is str else ("set", "sets")
        what = f"`{name}.{callee.__name__}` with these arguments is not supported"
        hint = f"{kinds} must be known when the program is compiled"
        raise PickedError(what, lo.span(node), hint) from None
    try:
        found = callee(*given, **named)
    except (ValueError, TypeError, IndexError, KeyError) as error:
        return failing(lo, error)
    if isinstance(found, list):
        return lo.new_ref(ListRef, TupleOf(tuple(map(static, found))))
    return static(found)


def failing(lo: Lowerer, error: Exception) -> Binding:
    """Raise what Python raises when the program gets here."""
    numbers.check(lo, Literal(False, BOOL), type(error).__name__, numbers.escaped(str(error)))
    return Static(None)


def _constant(lo: Lowerer, binding: Binding) -> Any:
    """Return an argument as Python's object."""
    match binding:
        case Static(value=value) if type(value) in _KINDS:
            return value
        case Num(operand=Literal(value=value, type=ty)) if ty.kind in "ib":
            return bool(value) if ty.kind == "b" else int(value)
    items = None if isinstance(binding, Num) else sequences.static_items(lo, binding)
    if items is None:
        items = sequences.static_range(binding)
    if items is None:
        raise _NotConstant
    found = [_constant(lo, item) for item in items]
    return tuple(found) if isinstance(binding, TupleOf) else found


__all__ = [
    "OF_TEXTS",
    "binary",
    "call",
    "failing",
    "folding",
    "is_constant",
    "item",
    "method",
    "operands",
    "unary",
]
