"""Special methods: those that Python calls implicitly for operators and builtins of instances.

Methods are looked up in the class, never in the instance, and are lowered like other calls. A
function here returns None if no operand is an instance with such a method.
"""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, ObjectRef, Static, Unstable
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import usable
from adc.frontend.values import elementwise
from adc.ir.builder import integer
from adc.ir.core import Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, F64, FLOAT, INT

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
# The method that the left side has, and the one of the right side for the same question.
COMPARISONS = {
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"), ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
# Builtins that ask an instance: the methods that they try, and the class that these must return.
_BUILTINS: dict[Any, tuple[tuple[str, ...], type | None]] = {
    abs: (("__abs__",), None), round: (("__round__",), None), float: (("__float__", "__index__"),
    float), int: (("__int__", "__index__", "__trunc__"), int), math.floor: (("__floor__",), None),
    math.ceil: (("__ceil__",), None), math.trunc: (("__trunc__",), None),
}  # fmt: skip
_NOT_IMPLEMENTED = Static(NotImplemented)
# Methods with which NumPy takes an object for an array, or asks it what a function does.
_AS_ARRAY = ("__array__", "__array_interface__", "__array_struct__", "__cuda_array_interface__")


# -- calling methods -------------------------------------------------------------------------------


def method(
    lo: Lowerer, binding: Binding, name: str, args: list[Binding], node: ast.AST
) -> Binding | None:
    """Call a special method of an instance; None if it has none."""
    fn = classes.find(lo, binding, name)
    if fn is None:
        return None
    result = dispatch.apply(lo, Static(fn), [binding, *args], {}, classes.call_at(node))
    if isinstance(result, Unstable):
        return usable(lo, result, f"the result of {name}", node)
    return result


def tried(
    lo: Lowerer, binding: Binding, name: str, other: Binding, node: ast.AST
) -> Binding | None:  # fmt: skip
    """Call a method that may decline: None if it does, or if there is none."""
    result = method(lo, binding, name, [other], node)
    return None if result == _NOT_IMPLEMENTED else result


# -- operators -------------------------------------------------------------------------------------


def binary(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding | None:
    """Lower ``left op right`` by the methods of instances."""
    if not (classes.is_instance(left) or classes.is_instance(right)):
        return None
    name = _BINARY[kind]
    forward, reflected = f"__{name}__", f"__r{name}__"
    mine, theirs = classes.find(lo, left, forward), classes.find(lo, right, reflected)
    if mine is None and theirs is None:
        return None
    with lo.at(node):
        found = None
        first, second = classes.instance_class(left), classes.instance_class(right)
        prior = theirs is not None and first is not second and classes.inherits(second, first)
        prior = prior and theirs is not (classes.in_class(first, reflected) if first else None)
        if prior:
            found = tried(lo, right, reflected, left, node)
        if found is None and mine is not None:
            found = tried(lo, left, forward, elementwise.materialised(lo, right, node), node)
        if found is None and theirs is not None and not prior and first is not second:
            found = tried(lo, right, reflected, met(lo, left, right, kind, node), node)
        if found is None:
            raise TypeMismatchError(
                f"unsupported operand type(s): {kind_of(left)} and {kind_of(right)}", lo.span(node)
            )
        return found


def in_place(lo: Lowerer, old: Binding, stmt: ast.AugAssign, value: Binding) -> Binding | None:
    """Lower ``old op= value`` by the methods of instances."""
    found = tried(
        lo, old, f"__i{_BINARY[type(stmt.op)]}__", elementwise.materialised(lo, value, stmt), stmt
    )
    return binary(lo, type(stmt.op), old, value, stmt) if found is None else found


def met(
    lo: Lowerer, left: Binding, right: Binding, kind: type[ast.AST], node: ast.AST
) -> Binding:  # fmt: skip
    """Return the argument `left` of a method of `right`, if `left` is not an instance.

    NumPy leaves the operation to an object that says so. It makes Python's numbers of its own for
    any other, and applies the operation to every element of an array.
    """
    strong = isinstance(left, Num) and not numbers.scalar_type(left.operand).weak
    if not (strong or isinstance(left, ArrayRef | Lazy)):
        return left

    def has(*names: str) -> bool:
        return all(classes.in_class(cls, name) is not classes.MISSING for name in names)

    assert isinstance(right, classes.Instance)
    cls = right.cls
    hook = classes.in_class(cls, "__array_ufunc__")
    priority = classes.in_class(cls, "__array_priority__")
    if hook not in (None, classes.MISSING):
        raise lo.unsupported(f"`__array_ufunc__` of {kind_of(right)}", node, "set it to None")
    if hook is None:
        return elementwise.materialised(lo, left, node)
    if isinstance(priority, int | float) and priority > (-1000000.0 if strong else 0.0):
        return elementwise.materialised(lo, left, node)
    if has("__len__", "__getitem__") or any(map(has, _AS_ARRAY)):
        raise lo.unsupported(
            f"{kind_of(left)} and {kind_of(right)}, of which NumPy makes an array,", node,
            f"put `__array_ufunc__ = None` into `{cls.__name__}`",
        )  # fmt: skip
    if not strong:
        raise lo.unsupported(
            f"an array of objects, of {kind_of(left)} and {kind_of(right)},", node,
            f"put `__array_ufunc__ = None` into `{cls.__name__}`, or the array on the right",
        )  # fmt: skip
    assert isinstance(left, Num)
    return left if kind is ast.MatMult else Num(numbers.weak(lo, left.operand))


def unary(lo: Lowerer, node: ast.UnaryOp, value: Binding) -> Binding | None:
    """Lower ``-value`` and other unary operators by a method of an instance."""
    return (
        method(lo, value, _UNARY[type(node.op)], [], node) if classes.is_instance(value) else None
    )


# -- builtins --------------------------------------------------------------------------------------


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand | None:
    """Return the truth of an instance, by `__bool__`, else by `__len__`."""
    if not classes.is_instance(binding):
        return None
    with lo.at(node):
        found = method(lo, binding, "__bool__", [], node)
        if found is not None:
            if isinstance(found, Num) and found.operand.type == BOOL:
                return found.operand
            raise TypeMismatchError(
                f"__bool__ should return bool, returned {kind_of(found)}", lo.span(node),
                "convert it with `bool()`",
            )  # fmt: skip
        size = length(lo, binding, node)
        return None if size is None else numbers.truth_of(lo, size)


def length(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand | None:
    """Return the result of `__len__` of an instance."""
    found = method(lo, binding, "__len__", [], node)
    if found is None:
        return None
    if not isinstance(found, Num) or not (
        found.operand.type == BOOL or numbers.scalar_type(found.operand).kind in "iu"
    ):
        raise TypeMismatchError(
            f"{kind_of(found)} cannot be interpreted as an integer", lo.span(node),
            "return an integer from `__len__`",
        )  # fmt: skip
    size = numbers.weak(lo, numbers.to_int(lo, found.operand))
    valid = numbers.apply(lo, "ge", size, integer(0))
    numbers.check(lo, valid, "ValueError", "__len__() should return >= 0")
    return size


def builtin(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a builtin function, or of one of NumPy's, with an instance."""
    if kwargs or not args or not any(map(classes.is_instance, args)):
        return None
    if isinstance(callee, np.ufunc):
        return _by_its_method(lo, callee, args, node)
    if callee is divmod and len(args) == 2:
        found = tried(lo, args[0], "__divmod__", args[1], node)
        return found or tried(lo, args[1], "__rdivmod__", args[0], node)
    try:
        names, wanted = _BUILTINS[callee]
    except (KeyError, TypeError):
        return None
    name = next((name for name in names if classes.find(lo, args[0], name) is not None), None)
    if name is None:
        return None
    found = method(lo, args[0], name, args[1:], node)
    assert found is not None
    if wanted is None:
        return found
    needed = int if name == "__index__" else wanted
    types = (INT,) if needed is int else (FLOAT, F64)
    if not isinstance(found, Num) or found.operand.type not in types:
        raise TypeMismatchError(
            f"{name} returned {kind_of(found)}, not a {needed.__name__}", lo.span(node)
        )
    operand = elementwise.as_float(lo, found, node) if wanted is float else found.operand
    return Num(numbers.weak(lo, operand))


def _by_its_method(
    lo: Lowerer, ufunc: np.ufunc, args: list[Binding], node: ast.Call
) -> Binding | None:
    """Lower ``np.sin(a)`` of an object that is no sequence, which NumPy has as ``a.sin()``."""
    owner = args[0]
    if len(args) > 1 or "O->O" not in ufunc.types or not isinstance(owner, ObjectRef):
        return None
    if any(classes.find(lo, owner, name) is not None for name in _OF_ARRAYS):
        return None
    name = "__abs__" if ufunc is np.absolute else ufunc.__name__
    return method(lo, owner, name, [], node)


# What makes an array of an object, and what NumPy calls instead.
_OF_ARRAYS = ("__len__", "__array__", "__array_ufunc__")


# -- the list for users ----------------------------------------------------------------------------
_OWN_CLASS = "objects of such a class are refused where they are made or used"


def table() -> list[tuple[str, str]]:
    """Return the special methods of Python's data model, and how each is supported."""

    def names(*found: str) -> str:
        return ", ".join(f"`{name}`" for name in found)

    arithmetic = [f"__{name}__" for name in _BINARY.values()]
    asked = [name for tried, _ in _BUILTINS.values() for name in tried]
    return [
        (names("__init__", "__post_init__", "__call__"), "called"),
        (names("__bool__", "__len__"), "called, in conditions and by `bool()` and `len()`"),
        (names(*(name for name, _ in COMPARISONS.values())), "called, also those that "
         "`dataclass` generates"),
        (names(*arithmetic, "__divmod__"), "called, as are the reflected (`__radd__`) and "
         "in-place ones (`__iadd__`), in Python's order, including `NotImplemented`"),
        (names(*_UNARY.values(), *dict.fromkeys(name for name in asked if name != "__index__")),
         "called"),
        ("`__index__`", "called by `int()` and `float()`; refused as an index"),
        (names("__getitem__", "__setitem__", "__delitem__", "__contains__"), "called"),
        ("properties, " + names("__get__", "__set__", "__delete__") + " of descriptors in Python",
         "called, in the order of attribute lookup"),
        ("`functools.cached_property`", "called once for each object, which must not be a captured "
         "one"),
        ("`super()`, `super(C, self)`", "attributes of the classes that follow in Python's order; "
         "`super().__init__` of dataclasses too"),
        ("`staticmethod`, `classmethod`, `__class__`, `__slots__`, private names (`self.__x`)",
         "as in Python"),
        (names("__set_name__", "__init_subclass__") + ", metaclasses, decorators of classes",
         "supported: they ran when the class was created"),
        ("fields of dataclasses: defaults and factories, `InitVar`, `ClassVar`, `kw_only`, `init`, "
         "`compare`, `frozen`, `slots`", "as in Python"),
        ("`__array_ufunc__ = None`, `__array_priority__`", "respected by operators"),
        ("`__array_ufunc__`, `__array__`, `__array_interface__`", "refused"),
        ("subclasses of `dict`, " + names("__missing__"),
         "as in Python: items that are attributes, `self.__dict__ = self`"),
        (names("__delattr__"), "called by `del`"),
        (names("__setattr__"), "called by assignments, `setattr` and constructors of dataclasses"),
        (names("__getattr__"), "called for attributes that an object does not have"),
        (names("__getattribute__") + ", metaclasses with "
         "`__call__`, subclasses of other builtin classes and of arrays", _OWN_CLASS),
        (names("__new__") + ", `object.__new__(cls)`", "called, but for dataclasses"),
        ("`__del__`, named tuples with `__init__`, abstract classes",
         "refused: no objects of such a class are created"),
        (names("__iter__") + ", which yields, or returns `iter(...)` or the object", "called by "
         "loops, and by functions that take all of an iterable"),
        (names("__next__"), "called by loops over an object whose `__iter__` returns it"),
        (names("__reversed__", "__length_hint__"), "refused"),
        (names("__enter__", "__exit__"), "called by `with`"),
        ("`__match_args__`", "as in Python, in the patterns of `match`"),
        (names("__instancecheck__", "__subclasscheck__"), "refused, except for those of `abc`"),
        (names("__class_getitem__", "__dict__", "__dir__", "__hash__", "__repr__",
               "__str__", "__format__", "__bytes__", "__complex__", "__buffer__"),
         "refused when used"),
        (names("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__"),
         "refused, as is `async`"),
    ]  # fmt: skip
