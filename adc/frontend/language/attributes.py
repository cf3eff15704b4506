"""Attributes: ``owner.name``; names in modules are resolved at compile time."""

from __future__ import annotations

import ast
import functools
import inspect

from adc.frontend.control import evaluation
from adc.frontend.core import bindings, classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DefaultRef,
    DequeRef,
    DictRef,
    FlatRef,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Ruled,
    SetRef,
    Static,
    Super,
    TupleOf,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Frame, Holder
from adc.frontend.inputs import instances, trees
from adc.frontend.inputs.places import Step, Variable, follow
from adc.frontend.numpy import complexes, library, shaping
from adc.frontend.numpy.random import generators
from adc.frontend.values import constants, elementwise, objects, views
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.errors import AdcError, TypeMismatchError
from adc.ir.foreign import is_stand_in
from adc.ir.types import Array

LIST_METHODS = (
    "append", "extend", "insert", "pop", "remove", "index", "count", "reverse", "copy", "clear",
    "sort",
)  # fmt: skip
DEQUE_METHODS = (
    "append", "appendleft", "extend", "extendleft", "pop", "popleft", "rotate", "index", "count",
    "reverse", "copy", "clear",
)  # fmt: skip


SET_METHODS = frozenset(
    ("add", "clear", "copy", "difference", "difference_update", "discard", "intersection",
     "intersection_update", "isdisjoint", "issubset", "issuperset", "pop", "remove",
     "symmetric_difference", "symmetric_difference_update", "union", "update")
)  # fmt: skip
DICT_METHODS = ("keys", "values", "items", "get", "pop", "update", "copy", "setdefault", "clear")
COUNTER_METHODS = ("most_common", "subtract", "total")


def of_container(lo: Lowerer, owner: Binding, name: str, node: ast.expr) -> Binding | None:
    """Lower an attribute of a container or an instance; None if it has none of that name."""
    match owner:
        case DequeRef(maxlen=maxlen) if name == "maxlen":
            return static(maxlen)
        case DequeRef() if name not in DEQUE_METHODS:
            raise lo.unsupported(f"`.{name}` of a deque", node)
        case ListRef() if name in (*LIST_METHODS, *DEQUE_METHODS):
            return Bound(owner, name)
        case TupleOf() if name in ("index", "count"):
            return Bound(owner, name)
        case SetRef() if name in SET_METHODS:
            return Bound(owner, name)
        case DefaultRef(keeps=False) if name in COUNTER_METHODS:
            return Bound(owner, name)
        case DictRef() if name in DICT_METHODS and not isinstance(owner, SetRef):
            return Bound(owner, name)
        case NamedTuple() if bindings.is_generator(owner):
            return generators.attribute(lo, owner, name, node)
        case NamedTuple() if bindings.is_seed(owner):
            return generators.of_seed(lo, owner, name, node)
        case NamedTuple(record=record) if bindings.is_communicator(owner):
            if name in ("rank", "size"):
                return record.items[record.keys.index(name)]
            return Bound(owner, name)
        case ObjectRef() if (there := objects.shadows(lo, owner, name)) is not None:
            own = functools.partial(objects.own_from_now_on, lo, owner, name)
            of_class = functools.partial(objects.of_its_class, lo, owner, name, node)
            return evaluation.either(lo, there, own, of_class, node)
        case NamedTuple() | ObjectRef():
            return objects.attribute(lo, owner, name, node)
    return None


def _of_array(lo: Lowerer, owner: Arraylike, name: str, node: ast.AST) -> Binding:
    """Lower an attribute of an array."""
    dims = dims_of(lo, owner)
    if name == "shape":
        return TupleOf(tuple(Num(size) for size in dims))
    if name == "ndim":
        return Num(integer(len(dims)))
    if name == "size":
        return Num(views.size_of(lo, dims))
    if name == "dtype":
        return Static(elementwise.element_type(owner).numpy)
    if name == "T":
        return views.permuted(lo, owner, range(len(dims))[::-1])
    if name == "mT":
        return shaping.transposed_matrices(lo, owner, node)
    if name in ("real", "imag"):
        return elementwise.part(lo, owner, name, node)
    if name in ("itemsize", "nbytes"):
        bytes_ = integer(elementwise.element_type(owner).numpy.itemsize)
        return Num(
            bytes_ if name == "itemsize" else views.times(lo, bytes_, views.size_of(lo, dims))
        )
    if name == "flat":
        found = views.reshaped(lo, owner, [views.size_of(lo, dims)])
        if isinstance(found, Lazy):
            return found
        return FlatRef(found.object, found.view, found.readonly, found.part)
    if name in library.METHODS:
        return Bound(owner, name)
    raise _missing(lo, owner, name, node)


@handles(ast.Attribute)
def _attribute(lo: Lowerer, node: ast.Attribute) -> Binding:
    path = dotted(node)
    if path is not None and _is_free(lo, path):
        return outside.free(lo, _holder(lo), path, node)
    if node.attr == "real" and isinstance(node.value, ast.Call):
        found = real_part(lo, node.value)
        if found is not None:
            return found
    return attribute_of(lo, dispatch.owner_of(lo, node), node)


def real_part(lo: Lowerer, node: ast.Call) -> Binding | None:
    """Lower the real part of a call whose imaginary part is not needed; None if that saves nothing.

    An inverse Fourier transform is one.
    """
    path = dotted(node.func)
    named = {each.arg: each for each in node.keywords if each.arg is not None}
    unpacked = any(isinstance(arg, ast.Starred) for arg in node.args)
    unpacked = unpacked or len(named) < len(node.keywords)
    if path is None or unpacked or not _is_free(lo, path):
        return None
    callee = dispatch.evaluate(lo, node.func)
    handler = library.real_part(callee.value) if isinstance(callee, Static) else None
    if handler is None:
        return None
    args = [dispatch.evaluate(lo, arg) for arg in node.args]
    kwargs = {name: dispatch.evaluate(lo, each.value) for name, each in named.items()}
    with lo.at(node):
        return handler(lo, args, kwargs, node)


def attribute_of(lo: Lowerer, owner: Binding, node: ast.Attribute) -> Binding:
    """Lower an attribute of something that is lowered already."""
    if isinstance(owner, Num) and not isinstance(owner.operand.type, Array):
        return _number_attribute(lo, owner, node)
    if isinstance(owner, ArrayRef | Lazy):
        return _of_array(lo, owner, node.attr, node)
    if isinstance(owner, Closure) and node.attr in owner.attributes:
        return owner.attributes[node.attr]
    if isinstance(owner, Ruled) and node.attr == f"def{owner.kind[-3:]}":
        return Bound(owner, node.attr)
    if isinstance(owner, Super):
        return objects.of_super(lo, owner, node.attr, node)
    held = of_container(lo, owner, node.attr, node)
    if held is not None:
        return held
    if isinstance(owner, Static) and instances.is_table(owner.value):
        if node.attr == "values":
            return outside.values(lo, owner, node)
        is_call = node.attr == "to_numpy"
        return Bound(owner, node.attr) if is_call else outside.column(lo, owner, node.attr, node)
    if isinstance(owner, Static) and constants.is_of_nones(owner):
        found = constants.attribute_of_nones(owner, node.attr)
        if found is not None:
            return found
    if isinstance(owner, Static):
        described = _of_signature(lo, owner.value, node.attr)
        if described is not None:
            return described
        found = objects.of_static(lo, owner, node.attr, node)
        if found is not None:
            return found
    if isinstance(owner, ObjectRef) and is_stand_in(owner.cls):
        raise lo.unsupported(
            f"`{node.attr}` of {kind_of(owner)}", node, "compute it from the attributes that it has"
        )
    if isinstance(owner, Static) and type(owner.value) is frozenset and hasattr(set, node.attr):
        if node.attr in _OF_SETS:
            return Static(getattr(owner.value, node.attr))
        raise lo.unsupported(f"`{node.attr}` of a set", node, "use a dict, or a list")
    raise _missing(lo, owner, node.attr, node)


def _of_signature(lo: Lowerer, value: object, name: str) -> Binding | None:
    """Return an attribute of what `inspect.signature` returns, or of a parameter in it."""
    if isinstance(value, inspect.Signature) and name == "parameters":
        found = value.parameters
        return lo.new_ref(DictRef, RecordOf(tuple(found), tuple(map(Static, found.values()))))
    if isinstance(value, inspect.Parameter) and name in ("name", "kind", "default"):
        held = getattr(value, name)
        known = isinstance(held, type) or trees.is_constant((held,))
        return static(held) if known else None
    return None


def _missing(lo: Lowerer, owner: Binding, name: str, node: ast.AST) -> AdcError:
    """Return the error of an attribute that a value lacks; in a `try` the program raises it."""
    text = f"{kind_of(owner)} has no attribute {name!r}"
    there = classes.has_attribute(owner, name)
    if there:
        what = "an array" if isinstance(owner, ArrayRef | Lazy) else kind_of(owner)
        return lo.unsupported(f"`.{name}` of {what}", node, advice.of_attribute(name))
    if there is False or classes.is_instance(owner):
        own = f"'{classes.name_of(owner)}' object has no attribute '{name}'"
        numbers.refuse(lo, text, node, "AttributeError", own)
    return TypeMismatchError(text, lo.span(node))


# Methods of sets that change none.
_OF_SETS = frozenset(
    ("copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset",
     "symmetric_difference", "union")
)  # fmt: skip


def _number_attribute(lo: Lowerer, owner: Num, node: ast.Attribute) -> Binding:
    """Lower an attribute of a number; NumPy's have those of 0-d arrays."""
    ty = numbers.scalar_type(owner.operand)
    if node.attr in ("real", "imag"):
        return Num(complexes.part(lo, owner.operand, node.attr), owner.array)
    if node.attr in (*library.OF_NUMBERS, "bit_length") and classes.has_attribute(owner, node.attr):
        return Bound(owner, node.attr)
    if not ty.weak:
        as_array = Lazy((), ty, lambda index: owner.operand)
        if hasattr(ty.numpy.type, node.attr):
            found = _of_array(lo, as_array, node.attr, node)
            return Bound(owner, found.name) if isinstance(found, Bound) else found
    raise _missing(lo, owner, node.attr, node)


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """Return the names of ``a.b.c``, or None if the expression is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def _is_free(lo: Lowerer, path: tuple[str, ...]) -> bool:
    """Whether a path leads from a global or closure variable through modules, classes and such."""
    frame: Frame | None = lo.frame
    while frame is not None:
        if path[0] in frame.env or path[0] in frame.locals:
            return False
        frame = frame.outer
    holder = _holder(lo)
    try:
        steps: list[Step] = [Variable(path[0]), *path[1:]]
        owners = [follow(holder.fn, steps[:k]) for k in range(1, len(path))]
    except (LookupError, AttributeError):
        return True  # it is reported where it is read
    for owner, name in zip(owners, path[1:], strict=True):
        if isinstance(owner, type) and outside.member(lo, owner, name) is not None:
            return False
    return not any(trees.has_structure(owner) or instances.is_table(owner) for owner in owners)


def _holder(lo: Lowerer) -> Holder:
    """Return the function object whose free variables are meant."""
    frame = lo.frame
    while frame.outer is not None:
        frame = frame.outer
    return frame.holder
