"""Special methods: what Python calls by itself when an operator or a builtin meets an instance.

Methods are found in the class, never in the instance, and are lowered like any other call. A
function here returns None where no instance, or no method of the user's, has a say.
"""

from __future__ import annotations

import ast
import dataclasses
import math
from typing import Any

from adc.frontend import calls, elementwise, expressions, numbers, objects, operators
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Static,
    TupleOf,
    Unstable,
    kind_of,
)
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, F64, FLOAT, INT

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
# The method that the left side has, and the one of the right side for the same question.
_COMPARISONS = {
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


# -- finding and calling methods -------------------------------------------------------------------


def find(lo: Lowerer, binding: Binding, name: str) -> Any:
    """Return a special method that an instance has from a program, or None.

    What Python and `dataclass` make (`object.__eq__`, the methods of tuples) does not count.
    """
    if not objects.is_instance(binding):
        return None
    assert isinstance(binding, objects.Instance)
    cls = binding.cls
    value = objects.in_class(cls, name)
    if value is objects.MISSING or objects.is_generated(cls, value) or _is_builtin(cls, name):
        return None
    if not objects.is_method(value):
        raise TypeMismatchError(
            f"`{name}` of {kind_of(binding)} is {'None' if value is None else 'no function'}",
            lo.builder.loc, "make it a method",
        )  # fmt: skip
    return objects.find_method(lo, cls, name)


def _is_builtin(cls: type, name: str) -> bool:
    """Whether a method is inherited from a builtin class, as `object.__eq__` is."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return owner.__module__ == "builtins"


def method(
    lo: Lowerer, binding: Binding, name: str, args: list[Binding], node: ast.AST
) -> Binding | None:
    """Call a special method of an instance; None if it has none."""
    fn = find(lo, binding, name)
    if fn is None:
        return None
    result = calls.apply(lo, Static(fn), [binding, *args], {}, objects.call_at(node))
    if isinstance(result, Unstable):
        return lo.usable(result, f"the result of {name}", node)
    return result


def _tried(
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
    if not (objects.is_instance(left) or objects.is_instance(right)):
        return None
    name = _BINARY[kind]
    forward, reflected = f"__{name}__", f"__r{name}__"
    mine, theirs = find(lo, left, forward), find(lo, right, reflected)
    if mine is None and theirs is None:
        return None
    with lo.at(node):
        found = None
        first, second = _class(left), _class(right)
        prior = theirs is not None and first is not second and _inherits(second, first)
        prior = prior and theirs is not (objects.in_class(first, reflected) if first else None)
        if prior:
            found = _tried(lo, right, reflected, left, node)
        if found is None and mine is not None:
            found = _tried(lo, left, forward, _whole(lo, right, node), node)
        if found is None and theirs is not None and not prior and first is not second:
            found = _tried(lo, right, reflected, _met(lo, left, right, kind, node), node)
        if found is None:
            raise TypeMismatchError(
                f"unsupported operand type(s): {kind_of(left)} and {kind_of(right)}", lo.span(node)
            )
        return found


def in_place(lo: Lowerer, old: Binding, stmt: ast.AugAssign, value: Binding) -> Binding | None:
    """Lower ``old op= value`` by the methods of instances."""
    found = _tried(lo, old, f"__i{_BINARY[type(stmt.op)]}__", _whole(lo, value, stmt), stmt)
    return binary(lo, type(stmt.op), old, value, stmt) if found is None else found


def _class(binding: Binding) -> type | None:
    return binding.cls if isinstance(binding, objects.Instance) else None


def _inherits(cls: type | None, base: type | None) -> bool:
    return cls is not None and base is not None and issubclass(cls, base)


def _whole(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    return elementwise.materialised(lo, binding, node)


def _met(
    lo: Lowerer, left: Binding, right: Binding, kind: type[ast.AST], node: ast.AST
) -> Binding:  # fmt: skip
    """Return what a method of `right` is given for `left`, which is no instance.

    NumPy leaves the operation to an object that says so. It makes Python's numbers of its own for
    any other, and applies the operation to every element of an array.
    """
    strong = isinstance(left, Num) and not numbers.scalar_type(left.operand).weak
    if not (strong or isinstance(left, ArrayRef | Lazy)):
        return left

    def has(*names: str) -> bool:
        return all(objects.in_class(cls, name) is not objects.MISSING for name in names)

    assert isinstance(right, objects.Instance)
    cls = right.cls
    hook = objects.in_class(cls, "__array_ufunc__")
    priority = objects.in_class(cls, "__array_priority__")
    if hook not in (None, objects.MISSING):
        raise lo.unsupported(f"`__array_ufunc__` of {kind_of(right)}", node, "set it to None")
    if hook is None:
        return _whole(lo, left, node)
    if isinstance(priority, int | float) and priority > (-1000000.0 if strong else 0.0):
        return _whole(lo, left, node)
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
    """Lower ``-value`` and its relatives by a method of an instance."""
    return (
        method(lo, value, _UNARY[type(node.op)], [], node) if objects.is_instance(value) else None
    )


# -- comparisons -----------------------------------------------------------------------------------


def comparison(
    lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST
) -> Binding | None:
    """Lower one comparison by the methods of instances."""
    kind = type(op)
    if isinstance(op, ast.In | ast.NotIn):
        found = method(lo, right, "__contains__", [left], node)
        if found is None:
            return None
        inside = numbers.weak(lo, operators.truth(lo, found, node))
        return Num(numbers.apply(lo, "not", inside) if isinstance(op, ast.NotIn) else inside)
    if kind not in _COMPARISONS or not (objects.is_instance(left) or objects.is_instance(right)):
        return None
    name, reflected = _COMPARISONS[kind]
    if not (_has_own(lo, left, name) or _has_own(lo, right, reflected)):
        return None
    with lo.at(node):
        first, second = _class(left), _class(right)
        attempts = [(left, name, right), (right, reflected, left)]
        if first is not second and _inherits(second, first):
            attempts.reverse()
        for owner, asked, other in attempts:
            if objects.is_instance(owner):
                given = other if owner is left else _met(lo, other, owner, kind, node)
                found = _rich(lo, owner, asked, _whole(lo, given, node), node)
                if found is not None:
                    return found
    if kind not in (ast.Eq, ast.NotEq):
        raise TypeMismatchError(
            f"comparison of {kind_of(left)} with {kind_of(right)}", lo.span(node)
        )
    same = is_same(lo, left, right, node)
    return Num(Literal(same == (kind is ast.Eq), BOOL))


def _has_own(lo: Lowerer, binding: Binding, name: str) -> bool:
    """Whether an instance does not leave a comparison to a tuple that it is."""
    if not objects.is_instance(binding):
        return False
    assert isinstance(binding, objects.Instance)
    return not issubclass(binding.cls, tuple) or find(lo, binding, name) is not None


def _rich(lo: Lowerer, owner: Binding, name: str, other: Binding, node: ast.AST) -> Binding | None:
    """Ask one side; None if it does not say."""
    assert isinstance(owner, objects.Instance)
    cls, value = owner.cls, objects.in_class(owner.cls, name)
    if objects.is_generated(cls, value):
        if name != "__eq__":
            raise lo.unsupported(f"the order of objects of class `{cls.__name__}`", node)
        return _equal_fields(lo, owner, other, node) if _class(other) is cls else None
    if find(lo, owner, name) is not None:
        return _tried(lo, owner, name, other, node)
    if name == "__ne__" and not issubclass(cls, tuple):
        equal = _rich(lo, owner, "__eq__", other, node)
        return None if equal is None else Num(
            numbers.apply(lo, "not", numbers.weak(lo, operators.truth(lo, equal, node)))
        )  # fmt: skip
    if issubclass(cls, tuple) and isinstance(other, TupleOf | NamedTuple):
        # A tuple compares as one, whatever else its class does.
        mine = TupleOf(owner.record.items) if isinstance(owner, NamedTuple) else owner
        theirs = TupleOf(other.record.items) if isinstance(other, NamedTuple) else other
        op = next(op for op, (asked, _) in _COMPARISONS.items() if asked == name)
        return Num(operators.compare(lo, op(), mine, theirs, node))
    return None


def _equal_fields(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Do what the `__eq__` that `dataclass` makes does for two objects of one class."""
    cls: Any = _class(left)
    names = [f.name for f in dataclasses.fields(cls) if f.compare]

    def fields(side: Binding) -> TupleOf:
        return TupleOf(tuple(_read(lo, side, name, node) for name in names))

    return Num(operators.compare(lo, ast.Eq(), fields(left), fields(right), node))


def _read(lo: Lowerer, owner: Binding, name: str, node: ast.AST) -> Binding:
    assert isinstance(owner, objects.Instance)
    found = objects.attribute(lo, owner, name, node)
    if found is None:
        raise TypeMismatchError(f"{kind_of(owner)} has no attribute {name!r}", lo.span(node))
    return found


def is_same(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool:
    """Whether two bindings denote one list, dict or object."""
    mutable = ListRef | DictRef | ObjectRef
    if isinstance(left, mutable) and isinstance(right, mutable):
        if left.slot == right.slot:
            return True
        if left.slot in lo.places and right.slot in lo.places:
            raise lo.unsupported(
                "`is`, or `==` that compares identity, of two objects from outside", node,
                "compare what they hold",
            )  # fmt: skip
        return False
    if isinstance(left, NamedTuple) or isinstance(right, NamedTuple):
        if _class(left) is _class(right):
            raise lo.unsupported(f"`is` on {kind_of(left)}", node, "compare what they hold")
        return False
    return False


# -- builtins --------------------------------------------------------------------------------------


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand | None:
    """Return the truth of an instance, by `__bool__`, else by `__len__`."""
    if not objects.is_instance(binding):
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
    """Return what `__len__` of an instance says."""
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
    """Lower a call of a builtin function with an instance."""
    if kwargs or not args or not any(map(objects.is_instance, args)):
        return None
    if callee is divmod and len(args) == 2:
        found = _tried(lo, args[0], "__divmod__", args[1], node)
        return found or _tried(lo, args[1], "__rdivmod__", args[0], node)
    try:
        names, wanted = _BUILTINS[callee]
    except (KeyError, TypeError):
        return None
    name = next((name for name in names if find(lo, args[0], name) is not None), None)
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
    operand = numbers.as_float(lo, found, node) if wanted is float else found.operand
    return Num(numbers.weak(lo, operand))


# -- elements --------------------------------------------------------------------------------------


def _slice(lo: Lowerer, node: ast.Slice) -> Binding:
    parts = [NONE if x is None else expressions.lower_expr(lo, x)
             for x in (node.lower, node.upper, node.step)]  # fmt: skip
    return NamedTuple(slice, RecordOf(("start", "stop", "step"), tuple(parts)))


def _key(lo: Lowerer, node: ast.expr) -> Binding:
    """Return what stands between brackets, for a method."""
    if isinstance(node, ast.Slice):
        return _slice(lo, node)
    if isinstance(node, ast.Tuple) and any(isinstance(x, ast.Slice) for x in node.elts):
        return TupleOf(tuple(_key(lo, x) for x in node.elts))
    return expressions.lower_expr(lo, node)


def item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding | None:
    """Lower ``owner[key]`` by `__getitem__`."""
    if find(lo, owner, "__getitem__") is None:
        return None
    return method(lo, owner, "__getitem__", [_key(lo, node.slice)], node)


def set_item(lo: Lowerer, owner: Binding, node: ast.Subscript, value: Binding) -> bool:
    """Lower ``owner[key] = value`` by `__setitem__`; return whether there is one."""
    if find(lo, owner, "__setitem__") is None:
        return False
    method(lo, owner, "__setitem__", [_key(lo, node.slice), value], node)
    return True


def augment_item(lo: Lowerer, owner: Binding, stmt: ast.AugAssign, node: ast.Subscript) -> bool:
    """Lower ``owner[key] op= value`` by both methods; return whether there are such."""
    if find(lo, owner, "__getitem__") is None or find(lo, owner, "__setitem__") is None:
        return False
    key = _key(lo, node.slice)
    old = method(lo, owner, "__getitem__", [key], node)
    assert old is not None
    new = expressions.augmented(lo, old, stmt)
    method(lo, owner, "__setitem__", [key, new], node)
    return True


def delete_item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> bool:
    """Lower ``del owner[key]`` by `__delitem__`; return whether there is one."""
    if find(lo, owner, "__delitem__") is None:
        return False
    method(lo, owner, "__delitem__", [_key(lo, node.slice)], node)
    return True


# -- the list for users ----------------------------------------------------------------------------

_OWN_CLASS = "objects of such a class are refused where they are made or used"


def table() -> list[tuple[str, str]]:
    """Return what the data model of Python's language reference has, and what becomes of it."""

    def names(*found: str) -> str:
        return ", ".join(f"`{name}`" for name in found)

    arithmetic = [f"__{name}__" for name in _BINARY.values()]
    asked = [name for tried, _ in _BUILTINS.values() for name in tried]
    return [
        (names("__init__", "__post_init__", "__call__"), "run"),
        (names("__bool__", "__len__"), "run, in tests and by `bool()` and `len()`"),
        (names(*(name for name, _ in _COMPARISONS.values())), "run; those that `dataclass` makes: "
         "`==` and `!=` only"),
        (names(*arithmetic, "__divmod__"), "run, and so do the reflected ones (`__radd__`) and "
         "those in place (`__iadd__`), in Python's order, `NotImplemented` included"),
        (names(*_UNARY.values(), *dict.fromkeys(name for name in asked if name != "__index__")),
         "run"),
        ("`__index__`", "run by `int()` and `float()`; as an index refused"),
        (names("__getitem__", "__setitem__", "__delitem__", "__contains__"), "run"),
        ("properties, " + names("__get__", "__set__", "__delete__") + " of descriptors in Python",
         "run, in the order that attributes are looked up in"),
        ("`functools.cached_property`", "runs once for an object, which must not lie outside"),
        ("`staticmethod`, `classmethod`, `__class__`, `__slots__`, private names (`self.__x`)",
         "as in Python"),
        (names("__set_name__", "__init_subclass__") + ", metaclasses, decorators of classes",
         "have done their work when the class was made"),
        ("fields of dataclasses: defaults and factories, `InitVar`, `ClassVar`, `kw_only`, `init`, "
         "`compare`, `frozen`, `slots`", "as in Python"),
        ("`__array_ufunc__ = None`, `__array_priority__`", "followed by operators"),
        ("`__array_ufunc__`, `__array__`, `__array_interface__`", "refused"),
        (names("__new__", "__getattr__", "__getattribute__", "__setattr__") + ", metaclasses with "
         "`__call__`, subclasses of builtin classes and of arrays (`__missing__`)", _OWN_CLASS),
        ("`__del__`, named tuples with `__new__` or `__init__`, abstract classes",
         "objects of such a class are not made"),
        (names("__iter__", "__next__", "__reversed__", "__length_hint__"), "refused: an instance "
         "is no iterable"),
        (names("__enter__", "__exit__"), "refused, with `with`"),
        ("`__match_args__`", "refused, with patterns of classes"),
        (names("__instancecheck__", "__subclasscheck__"), "refused, but for those of `abc`"),
        (names("__delattr__", "__class_getitem__", "__dict__", "__dir__", "__hash__", "__repr__",
               "__str__", "__format__", "__bytes__", "__complex__", "__buffer__"),
         "refused where used"),
        (names("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__"),
         "refused, with `async`"),
    ]  # fmt: skip
