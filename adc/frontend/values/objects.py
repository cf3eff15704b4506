"""Instances of classes: construction, and the meaning of ``o.name`` by Python's rules.

A name is looked up in the class first, along its method resolution order: a data descriptor (a
property, a slot) takes precedence over the instance's attributes, which take precedence over
everything else.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    Given,
    Lazy,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    RecordOf,
    Static,
    Super,
    TupleOf,
    VarsRef,
    static,
)
from adc.frontend.core.classes import Instance
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Dead, LastingError
from adc.frontend.core.structure import leaves, refs
from adc.frontend.inputs import bases, instances, trees
from adc.frontend.inputs.places import Item, Member, Place, Step
from adc.frontend.values import contents, elementwise, keyed, views
from adc.frontend.values.growing import pools
from adc.ir.core import Literal, Operand
from adc.ir.errors import GlobalStateError, TypeMismatchError
from adc.ir.foreign import is_plain, is_stand_in
from adc.ir.types import BOOL
from adc.library.standard import iteration
from adc.library.standard.bases import put


def _apply(lo: Lowerer, fn: Any, args: list[Binding], node: ast.AST) -> Binding:
    return dispatch.apply(lo, Static(fn), args, {}, classes.call_at(node))


# -- attributes ------------------------------------------------------------------------------------


_NEVER = Literal(False, BOOL)


def _entry(lo: Lowerer, owner: Instance, name: str) -> tuple[Binding | None, Operand]:
    """Return an attribute, and whether it is there."""
    record = owner.record if isinstance(owner, NamedTuple) else lo.entries(owner)
    if record.get(bases.SHARED) is not None and name not in _HIDDEN:
        record = lo.entries(contents.contents_of(lo, owner))
    return keyed.entry(record, name)


_HIDDEN = (bases.CONTENTS, bases.SHARED)


def _written(cls: type) -> str:
    """Return what errors call a class."""
    return "types.SimpleNamespace" if cls is types.SimpleNamespace else cls.__name__


def has_own(lo: Lowerer, owner: Binding, name: str) -> Operand | None:
    """Return whether an object has an attribute that only some paths set; None for any other."""
    if not isinstance(owner, ObjectRef):
        return None
    there = _entry(lo, owner, name)[1]
    if isinstance(there, Literal) or classes.in_class(owner.cls, name) is not classes.MISSING:
        return None
    return there


def shadows(lo: Lowerer, owner: Binding, name: str) -> Operand | None:
    """Return whether an object has an attribute that hides one of its class; None if that is known.

    Only some paths have set it then.
    """
    if not isinstance(owner, ObjectRef):
        return None
    there = _entry(lo, owner, name)[1]
    value = classes.in_class(owner.cls, name)
    if isinstance(there, Literal) or value is classes.MISSING or _is_data(value):
        return None
    return there


def own_from_now_on(lo: Lowerer, owner: ObjectRef, name: str) -> Binding:
    """Return an attribute that is there, which was set on some paths, on the path of now."""
    held = _entry(lo, owner, name)[0]
    assert held is not None
    lo.hold(owner, lo.entries(owner).without(name).with_item(name, held))
    return outside.opened(lo, held)


def of_its_class(lo: Lowerer, owner: ObjectRef, name: str, node: ast.AST) -> Binding:
    """Return what an object reads of its class, on a path where it has no such attribute."""
    lo.hold(owner, lo.entries(owner).without(name))
    found = attribute(lo, owner, name, node)
    assert found is not None
    return found


def _has(value: Any, method: str) -> bool:
    """Whether a class attribute is a descriptor with this method."""
    return hasattr(type(value), method)


def _is_data(value: Any) -> bool:
    return _has(value, "__set__") or _has(value, "__delete__")


def attribute(lo: Lowerer, owner: Instance, name: str, node: ast.AST) -> Binding | None:
    """Lower ``owner.name``; return None if there is no such attribute."""
    value = classes.in_class(owner.cls, name)
    first = _is_data(value) and _has(value, "__get__") and not isinstance(value, classes.HELD)
    first = first and value is not BaseException.args  # they are held as well
    if name == "__dict__" and isinstance(owner, ObjectRef):
        return owner if _entry(lo, owner, bases.SHARED)[0] is not None else as_dict(lo, owner, node)
    held, there = (None, _NEVER) if first else _entry(lo, owner, name)
    if held is not None:
        if not isinstance(there, Literal):
            if value is not classes.MISSING:
                raise lo.unsupported(
                    f"`{name}` of {kind_of(owner)}, which only some paths set and which its class "
                    "has as well,", node, "set it on every path",
                )  # fmt: skip
            error, text = _not_set(owner.cls, name)
            with lo.at(node):
                numbers.check(lo, there, error, text)
        return outside.opened(lo, held)
    if value is not classes.MISSING:
        return None if isinstance(value, classes.HELD) else _of_class(lo, owner, name, value, node)
    if _is_stored_iterator(owner) and (lo.arms or lo.caught):
        # A loop may set it later: it is lowered again then.
        error, text = _not_set(owner.cls, name)
        with lo.at(node):
            numbers.check(lo, Literal(False, BOOL), error, text)
        raise Dead
    if isinstance(classes.in_class(owner.cls, "__getattr__"), types.FunctionType):
        fn = classes.find_method(lo, owner.cls, "__getattr__")
        return _apply(lo, fn, [owner, Static(name)], node)
    return None


def may_make_up(lo: Lowerer, owner: Binding, name: str) -> bool:
    """Whether only the method `__getattr__` can say whether an object has an attribute."""
    if not classes.is_instance(owner):
        return False
    assert isinstance(owner, ObjectRef | NamedTuple)
    known = classes.in_class(owner.cls, name) is not classes.MISSING
    made_up = isinstance(classes.in_class(owner.cls, "__getattr__"), types.FunctionType)
    return made_up and not known and _entry(lo, owner, name)[0] is None


def _is_stored_iterator(owner: Binding) -> bool:
    """Whether an object is an iterator of the library, whose attributes are in no order."""
    return isinstance(owner, ObjectRef) and issubclass(owner.cls, iteration.Stored)


def _not_set(cls: type, name: str) -> tuple[str, str]:
    """Return the exception for an attribute that is not set, and its message."""
    if issubclass(cls, iteration.Stored):  # a variable of the generator
        text = f"cannot access local variable {name!r} where it is not associated with a value"
        return "UnboundLocalError", text
    return "AttributeError", f"{_written(cls)!r} object has no attribute {name!r}"


def of_super(lo: Lowerer, found: Super, name: str, node: ast.AST) -> Binding:
    """Lower ``super().name``."""
    owner, after = found.owner, found.after
    if isinstance(owner, Instance):
        value = classes.inherited(owner.cls, name, after)[1]
        if value is not classes.MISSING and not isinstance(value, classes.HELD):
            return _of_class(lo, owner, name, value, node, after)
    elif isinstance(owner, Static) and isinstance(owner.value, type):
        base, value = classes.inherited(owner.value, name, after)
        if isinstance(value, staticmethod | classmethod | types.FunctionType):
            outside.guard(lo, Place(base, (Member(name),)), value)
            return Static(value.__get__(None, owner.value))
        if value is not classes.MISSING and not _has(value, "__get__"):
            return outside.reach(lo, Place(base, (Member(name),)), value)
    raise TypeMismatchError(f"'super' object has no attribute {name!r}", lo.span(node))


_SET: Any = type.__setattr__
# What Python calls for ``owner.name``, ``owner.name = value`` and ``del owner.name``.
_READ_AND_SET = (object.__getattribute__, object.__setattr__, object.__delattr__)


def _of_class(
    lo: Lowerer, owner: Instance, name: str, value: Any, node: ast.AST, after: type | None = None
) -> Binding:
    """Return an attribute of a class as it is read through an instance, or through `super`."""
    cls = owner.cls
    place = Place(cls if after is None else classes.inherited(cls, name, after)[0], (Member(name),))
    builtin = value is object.__init__ or classes.is_of_exceptions(value)
    builtin = (builtin and after is not None) or any(value is each for each in _READ_AND_SET)
    if classes.is_method(value) or builtin:
        return Bound(owner, name, after)
    if name == "__class__":
        if is_stand_in(cls):
            raise lo.unsupported(f"`__class__` of {kind_of(owner)}", node, "use `isinstance`")
        return Static(cls)
    if isinstance(value, property | functools.cached_property | staticmethod | classmethod):
        outside.guard(lo, place, value)
    if isinstance(value, functools.partialmethod) and isinstance(value.func, types.FunctionType):
        outside.guard(lo, place, value)
        given = [Static(value.func), owner, *map(static, value.args)]
        named = {name: static(arg) for name, arg in value.keywords.items()}
        return dispatch.apply(lo, Static(functools.partial), given, named, classes.call_at(node))
    if isinstance(value, property):
        if value.fget is None:
            raise TypeMismatchError(
                f"property {name!r} of {cls.__name__!r} object has no getter", lo.span(node)
            )
        return _apply(lo, value.fget, [owner], node)
    if isinstance(value, functools.cached_property):
        return _cached(lo, owner, name, value, node)
    if isinstance(value, staticmethod | classmethod):
        return static(
            value.__get__(None, cls)
        )  # a number if it is one: ``pi = staticmethod(np.pi)``
    if _has(value, "__get__"):
        return _described(lo, owner, name, value, "__get__", [owner, Static(cls)], node)
    found = outside.member(lo, place.root, name) if isinstance(place.root, type) else None
    return outside.reach(lo, place, value) if found is None else found


def _cached(
    lo: Lowerer, owner: Instance, name: str, value: functools.cached_property[Any], node: ast.AST
) -> Binding:
    """Compute a property once, and store it in the instance as Python does."""
    found = _apply(lo, value.func, [owner], node)
    if isinstance(owner, ObjectRef):
        try:
            lo.hold(owner, lo.record(owner).with_item(name, found))
        except LastingError:
            raise
        except GlobalStateError as error:
            raise GlobalStateError(
                error.message, error.span, f"read `.{name}` once before the call"
            ) from None
    elif any(isinstance(leaf, ArrayRef) for leaf in leaves(owner)) or any(
        True for each in (owner, found) for _ in refs(each)
    ):
        raise lo.unsupported(
            f"`functools.cached_property` of {kind_of(owner)} that holds what can change", node,
            "make it a property",
        )  # fmt: skip
    return found


def _described(
    lo: Lowerer, owner: Instance, name: str, value: Any, method: str, args: list[Binding],
    node: ast.AST,
) -> Binding:  # fmt: skip
    """Call a method of a descriptor that a class has as an attribute."""
    kind = type(value)
    fn = classes.in_class(kind, method)
    if not (is_plain(kind) and classes.is_written(kind) and classes.is_method(fn)):
        raise lo.unsupported(
            f"`{name}` of {kind_of(owner)}, a descriptor of class `{kind.__name__}`,", node,
            "make it a method or a property",
        )  # fmt: skip
    descriptor = outside.reach(lo, Place(owner.cls, (Member(name),)), value)
    return _apply(lo, classes.find_method(lo, kind, method), [descriptor, *args], node)


def set_attribute(lo: Lowerer, owner: Binding, name: str, value: Binding, node: ast.AST) -> None:
    """Lower ``owner.name = value``."""
    if isinstance(owner, ObjectRef):
        hook = classes.in_class(owner.cls, "__setattr__")
        if isinstance(hook, types.FunctionType) and not classes.is_generated(owner.cls, hook):
            fn = classes.find_method(lo, owner.cls, "__setattr__")
            _apply(lo, fn, [owner, Static(name), value], node)
            return
        if instances.is_frozen(owner.cls):
            raise TypeMismatchError(f"{kind_of(owner)} cannot be changed", lo.span(node))
    set_own(lo, owner, name, value, node)


def set_own(lo: Lowerer, owner: Binding, name: str, value: Binding, node: ast.AST) -> None:
    """Lower ``object.__setattr__(owner, name, value)``, and what ``owner.name = value`` is."""
    if isinstance(owner, Static) and instances.is_unchanging(owner.value):
        plain = classes.is_record_class(owner.value) and type(owner.value).__setattr__ is _SET
        if plain and outside.assign_member(lo, owner.value, name, value):
            return
        raise GlobalStateError(
            f"`{name}` of {kind_of(owner)}, outside the function, would be changed", lo.span(node),
            "keep it in an object that is an argument, and return it",
        )  # fmt: skip
    if isinstance(owner, ArrayRef) and name in ("real", "imag"):
        if owner.element.kind != "c" and name == "imag":
            raise TypeMismatchError(
                "a real array has no imaginary part to set", lo.span(node),
                "make it complex, with `.astype(complex)`",
            )  # fmt: skip
        target = owner if owner.element.kind != "c" else views.part(lo, owner, name)
        elementwise.assign_to(lo, target, value, node)
        return
    kept = is_constant(value) or isinstance(value, Closure)
    if isinstance(owner, Closure) and lo.path is owner.path and kept:
        lo.attributes_set.append((owner, name, owner.attributes.get(name)))
        owner.attributes[name] = value
        return
    if not isinstance(owner, Instance):
        if isinstance(owner, Num | ArrayRef | Lazy) and classes.has_attribute(owner, name) is False:
            what = f"{kind_of(owner)} has no attribute {name!r}"
            text = f"'{classes.name_of(owner)}' object has no attribute '{name}'"
            numbers.refuse(lo, what, node, "AttributeError", text)
        shape = isinstance(owner, ArrayRef) and name == "shape"
        hint = "write `a = a.reshape(...)`" if shape else "use a local name"
        raise lo.unsupported(f"assignment to an attribute of {kind_of(owner)}", node, hint)
    cls, meant = owner.cls, classes.in_class(owner.cls, name)
    if isinstance(owner, NamedTuple):
        raise TypeMismatchError(f"{kind_of(owner)} cannot be changed", lo.span(node))
    if isinstance(meant, property):
        outside.guard(lo, Place(cls, (Member(name),)), meant)
        if meant.fset is None:
            raise TypeMismatchError(
                f"property {name!r} of {cls.__name__!r} object has no setter", lo.span(node),
                "set the attribute that it reads",
            )  # fmt: skip
        _apply(lo, meant.fset, [owner, value], node)
    elif name == "__dict__" and value == owner and bases.has_contents(cls):
        if lo.record(owner).keys != (bases.CONTENTS,):
            raise lo.unsupported(
                f"`__dict__` of {kind_of(owner)} that has attributes", node, "set it first"
            )
        lo.hold(owner, lo.entries(owner).with_item(bases.SHARED, Static(True)))
    elif _is_data(meant) and not isinstance(meant, classes.HELD):
        _described(lo, owner, name, meant, "__set__", [owner, value], node)
    elif not isinstance(meant, classes.HELD) and not cls.__dictoffset__:
        raise TypeMismatchError(
            f"{cls.__name__!r} object has no attribute {name!r}", lo.span(node),
            "add it to `__slots__`",
        )  # fmt: skip
    elif _entry(lo, owner, bases.SHARED)[0] is not None:
        call = classes.call_at(node)
        dispatch.apply(
            lo, Static(put), [contents.contents_of(lo, owner), Static(name), value], {}, call
        )
    else:
        if pools.set_item(lo, owner, name, value, node):
            return
        there = _entry(lo, owner, name)[1]
        last = lo.entries(owner).keys[-1:] == (name,) or _is_stored_iterator(owner)
        if not isinstance(there, Literal) and not last:
            _note_order(lo, owner, "unknown", node)
        # Iterators of the library keep their order, with what is not set yet.
        record = lo.held(owner) if _is_stored_iterator(owner) else lo.entries(owner)
        assert isinstance(record, RecordOf)
        lo.hold(owner, record.with_item(name, value))


def _note_order(lo: Lowerer, owner: ObjectRef, what: str, node: ast.AST) -> None:
    """Note that the order of attributes of a class is "unknown", or "read"; refuse both.

    An attribute that only some paths have set is in another place where it was not set before.
    """
    kind = kind_of(owner)
    noted = lo.shared.orders.setdefault(owner.cls, set())
    noted.add(what)
    if len(noted) > 1 or (what == "unknown" and owner.cls is types.SimpleNamespace):
        raise lo.unsupported(
            f"the order of the attributes of {kind}, which the path decides,", node,
            "set all of them in `__init__`",
        )  # fmt: skip


def is_constant(value: Binding) -> bool:
    """Whether a value is a constant of the program: a number, a text, None."""
    literal = isinstance(value, Num) and isinstance(value.operand, Literal)
    return literal or (isinstance(value, Static) and trees.is_constant((value.value,)))


def constant_of(value: Binding) -> Any:
    """Return the value of a constant of the program."""
    if isinstance(value, Num):
        assert isinstance(value.operand, Literal)
        return value.operand.value
    assert isinstance(value, Static)
    return value.value


def delete_attribute(lo: Lowerer, owner: Binding, name: str, node: ast.AST) -> None:
    """Lower ``del owner.name``."""
    if not isinstance(owner, ObjectRef) or instances.is_frozen(owner.cls):
        raise lo.unsupported(f"`del` of an attribute of {kind_of(owner)}", node)
    cls = owner.cls
    if isinstance(classes.in_class(cls, "__delattr__"), types.FunctionType):
        fn = classes.find_method(lo, cls, "__delattr__")
        _apply(lo, fn, [owner, Static(name)], node)
        return
    delete_own(lo, owner, name, node)


def delete_own(lo: Lowerer, owner: Binding, name: str, node: ast.AST) -> None:
    """Lower ``object.__delattr__(owner, name)``."""
    assert isinstance(owner, ObjectRef)
    cls, meant = owner.cls, classes.in_class(owner.cls, name)
    if isinstance(meant, property):
        outside.guard(lo, Place(cls, (Member(name),)), meant)
        if meant.fdel is None:
            raise TypeMismatchError(
                f"property {name!r} of {cls.__name__!r} object has no deleter", lo.span(node)
            )
        _apply(lo, meant.fdel, [owner], node)
    elif _is_data(meant) and not isinstance(meant, classes.HELD):
        _described(lo, owner, name, meant, "__delete__", [owner], node)
    elif _entry(lo, owner, bases.SHARED)[0] is not None:
        raise lo.unsupported(f"`del` of an attribute of {kind_of(owner)}", node, "delete its item")
    elif (found := _entry(lo, owner, name))[0] is None:
        raise TypeMismatchError(f"{cls.__name__!r} object has no attribute {name!r}", lo.span(node))
    else:
        text = f"{_written(cls)!r} object has no attribute {name!r}"
        numbers.check(lo, found[1], "AttributeError", text)
        lo.hold(owner, lo.entries(owner).without(name))


def of_static(lo: Lowerer, known: Static, name: str, node: ast.AST) -> Binding | None:
    """Lower an attribute of an object that is known as such: of a module, a class, a function."""
    owner = known.value
    if isinstance(owner, type):
        value = classes.in_class(owner, name)
        if (
            classes.is_record_class(owner)
            and _is_data(classes.in_class(type(owner), name))
            and name[:2] != "__"
        ):
            raise lo.unsupported(f"`{name}` of the metaclass of `{owner.__name__}`", node)
        if (found := outside.member(lo, owner, name)) is not None:
            return found
        if (
            classes.is_record_class(owner)
            and value is not classes.MISSING
            and not _has(value, "__get__")
        ):
            return outside.reach(lo, Place(owner, (Member(name),)), value)
        if (
            classes.is_record_class(owner)
            and is_plain(type(value))
            and value is not classes.MISSING
        ):
            raise lo.unsupported(f"`{owner.__name__}.{name}`, a descriptor,", node)
    elif classes.is_opaque(owner):
        value = classes.in_class(type(owner), name)
        held = (
            vars(owner).get(name, classes.MISSING)
            if hasattr(owner, "__dict__")
            else classes.MISSING
        )
        if isinstance(value, property) and value.fget is not None:
            return _apply(lo, value.fget, [Static(owner)], node)
        constant = held is not classes.MISSING and trees.is_constant((held,))
        if not constant and not isinstance(value, types.FunctionType | staticmethod | classmethod):
            raise classes.refused(lo, owner, node)
    try:
        return outside.attribute(lo, known, name)
    except AttributeError:
        return None


# -- construction ----------------------------------------------------------------------------------


def construct(
    lo: Lowerer, cls: type, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a class: a named tuple, a dataclass, or a plain class."""
    if classes.in_class(cls, "__del__") is not classes.MISSING:
        raise lo.unsupported(f"`{cls.__name__}`, which has `__del__`,", node)
    if issubclass(cls, tuple):
        return _named_tuple(lo, cls, args, kwargs, node)
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False):
        raise TypeMismatchError(
            f"Can't instantiate abstract class {cls.__name__}", lo.span(node),
            "make an object of a class that has all of its methods",
        )  # fmt: skip
    init = classes.in_class(cls, "__init__")
    if cls is types.SimpleNamespace:
        return _namespace(lo, args, kwargs, node)
    base, new = classes.inherited(cls, "__new__", None)
    if isinstance(new, staticmethod) and not is_stand_in(cls):
        outside.guard(lo, Place(base, (Member("__new__"),)), new)
        return _made_by_method(lo, cls, new.__func__, args, kwargs, node)
    if init is object.__init__:
        if args or kwargs:
            raise TypeMismatchError(f"{cls.__name__}() takes no arguments", lo.span(node))
    elif classes.is_generated(cls, init):
        return _dataclass(lo, cls, args, kwargs, node)
    elif not classes.is_method(init):
        raise lo.unsupported(f"the constructor of `{cls.__name__}`", node, "make it a function")
    ref = contents.blank(lo, cls)
    _initialise(lo, ref, args, kwargs, node)
    pools.enter(lo, ref, node)
    return ref


def _initialise(
    lo: Lowerer, ref: ObjectRef, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> None:
    """Call `__init__`, if a program has written it."""
    init = classes.in_class(ref.cls, "__init__")
    if not classes.is_method(init):
        return
    outside.guard(lo, Place(ref.cls, (Member("__init__"),)), init)
    result = dispatch.apply(lo, Static(init), [ref, *args], kwargs, node)
    if result != NONE:
        raise TypeMismatchError(
            f"__init__() should return None, not {kind_of(result)}", lo.span(node)
        )


def _made_by_method(
    lo: Lowerer, cls: type, new: Any, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Make an object by the `__new__` of its class, which may return any other one."""
    if classes.is_generated(cls, classes.in_class(cls, "__init__")):
        raise lo.unsupported(f"`{cls.__name__}`, a dataclass with `__new__`,", node)
    making = lo.memo.setdefault(contents.MAKING, [])
    making.append(cls)
    try:
        made = dispatch.apply(lo, Static(new), [Static(cls), *args], kwargs, node)
    finally:
        making.pop()
    if isinstance(made, Maybe | OneOf):  # on some paths, `__init__` would be called
        raise lo.unsupported(
            f"`__new__` of `{cls.__name__}`, which returns one of several values,", node,
            "decide in a function, before the class is called",
        )  # fmt: skip
    if isinstance(made, ObjectRef) and issubclass(made.cls, cls):
        _initialise(lo, made, args, kwargs, node)
        pools.enter(lo, made, node)
    return made


def _namespace(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``SimpleNamespace(**attributes)``."""
    if args:
        raise lo.unsupported(
            "`types.SimpleNamespace` of a dict", node, "pass its items: `SimpleNamespace(**items)`"
        )
    record = RecordOf(tuple(kwargs), tuple(kwargs.values()))
    ref = lo.new_ref(lambda slot: ObjectRef(slot, types.SimpleNamespace), record)
    pools.enter(lo, ref, node)
    return ref


def as_dict(lo: Lowerer, owner: Binding, node: ast.AST) -> Binding:
    """Lower ``vars(owner)``: the dict that holds the attributes, so that changes are seen."""
    if not (isinstance(owner, ObjectRef) and owner.cls.__dictoffset__) or is_stand_in(owner.cls):
        raise lo.unsupported(f"`vars` of {kind_of(owner)}", node, "name the attributes")
    if bases.has_contents(owner.cls):
        raise lo.unsupported(f"`vars` of {kind_of(owner)}", node, "name the attributes")
    if any(vars(base).get("__slots__") for base in owner.cls.__mro__):
        raise lo.unsupported(
            f"`vars` of {kind_of(owner)} with `__slots__`", node, "name the attributes"
        )
    _note_order(lo, owner, "read", node)
    record = lo.entries(owner)
    if any(isinstance(item, Given) for item in record.items):
        items = tuple(outside.opened(lo, item) for item in record.items)
        lo.frame.env[owner.slot] = RecordOf(record.keys, items)
    return VarsRef(owner.slot)


def _named_tuple(
    lo: Lowerer, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if classes.in_class(cls, "__init__") is not object.__init__:
        raise lo.unsupported(f"`{cls.__name__}`, a named tuple with `__init__`,", node)
    base, new = classes.inherited(cls, "__new__", None)
    if new is not vars(_made(cls))["__new__"]:
        outside.guard(lo, Place(base, (Member("__new__"),)), new)
        return dispatch.apply(lo, Static(new.__func__), [Static(cls), *args], kwargs, node)
    return _of_fields(lo, cls, args, kwargs, node)


def _made(cls: type) -> type:
    """Return the class that `namedtuple` has made, of one that may inherit from it."""
    return next(base for base in cls.__mro__ if "_fields" in vars(base))


def new_tuple(
    lo: Lowerer, fn: object, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower ``super().__new__(cls, ...)`` of a named tuple; return None for other functions."""
    cls = args[0].value if args and isinstance(args[0], Static) else None
    if not (isinstance(cls, type) and instances.is_named_tuple(cls)):
        return None
    if vars(_made(cls))["__new__"].__func__ is not fn:
        return None
    return _of_fields(lo, cls, args[1:], kwargs, node)


def _of_fields(
    lo: Lowerer, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = _given(lo, cls, cls._fields, cls._fields, args, kwargs, node)
    for name in cls._fields:
        if name not in given and name in cls._field_defaults:
            path = ("_field_defaults", Item(name))
            given[name] = _default(lo, cls, path, cls._field_defaults[name])
        _require(lo, cls, given, name, node)
    return NamedTuple(cls, RecordOf(tuple(cls._fields), tuple(given[n] for n in cls._fields)))


def initialised(
    lo: Lowerer, owner: Instance, after: type, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding | None:  # fmt: skip
    """Lower ``super().__init__(...)`` where no program has written that `__init__`; else None."""
    base, init = classes.inherited(owner.cls, "__init__", after)
    if classes.is_of_exceptions(init):
        if kwargs:
            raise TypeMismatchError(f"{base.__name__}() takes no keyword arguments", lo.span(node))
        assert isinstance(owner, ObjectRef)
        lo.hold(owner, lo.record(owner).with_item("args", TupleOf(tuple(args))))
        return NONE
    if init is object.__init__:
        if args or kwargs:
            raise TypeMismatchError(
                "object.__init__() takes exactly one argument (the instance to initialize)",
                lo.span(node),
            )
        return NONE
    if not classes.is_generated(base, init):
        return None
    _dataclass(lo, base, args, kwargs, node, owner)
    return NONE


def _dataclass(
    lo: Lowerer, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call,
    made: Instance | None = None,
) -> Binding:  # fmt: skip
    """Lower the constructor that `dataclass` generates for the class or a base.

    `made` is the instance, if there is one.
    """
    base = next(base for base in cls.__mro__ if "__init__" in vars(base))
    init, base_given = vars(base)["__init__"], made
    outside.guard(lo, Place(cls, (Member("__init__"),)), init)
    params = list(inspect.signature(init).parameters.values())[1:]
    names = [param.name for param in params]
    positional = [param.name for param in params if param.kind is not param.KEYWORD_ONLY]
    given = _given(lo, cls, positional, names, args, kwargs, node)
    held: dict[str, Binding] = {}
    own = {f.name for f in dataclasses.fields(base)}
    for f in base.__dataclass_fields__.values():
        path = ("__dataclass_fields__", Item(f.name))
        if f.name in given:
            value = given[f.name]
        elif f.default_factory is not dataclasses.MISSING and (f.name in names or f.name in own):
            place = Place(base, (*path, "default_factory"))
            outside.guard(lo, place, f.default_factory)
            value = _apply(lo, f.default_factory, [], node)
        elif f.name in names and f.default is not dataclasses.MISSING:
            value = _default(lo, base, (*path, "default"), f.default)
        else:
            if f.name in names:
                _require(lo, cls, given, f.name, node)
            continue  # a variable of the class, or for `__post_init__` to set
        given[f.name] = value
        if f.name in own:
            held[f.name] = value
    record = RecordOf(tuple(held), tuple(held.values()))
    post = classes.in_class(cls if made is None else made.cls, "__post_init__")
    finished = None
    if made is None and instances.is_frozen(cls):
        made = NamedTuple(cls, record)
        if "__setattr__" in getattr(getattr(post, "__code__", None), "co_names", ()):
            made = finished = lo.new_ref(lambda slot: ObjectRef(slot, cls), record)
    else:
        made = made or lo.new_ref(lambda slot: ObjectRef(slot, cls), RecordOf((), ()))
        for name, value in held.items():
            set_attribute(lo, made, name, value, node)
    if "__post_init__" in init.__code__.co_names:
        extra = [given[name] for name in names if name not in own]
        if not classes.is_method(post):
            raise lo.unsupported(f"`__post_init__` of `{cls.__name__}`", node)
        _apply(lo, classes.find_method(lo, made.cls, "__post_init__"), [made, *extra], node)
    if finished is not None:
        return NamedTuple(cls, lo.record(finished))
    if base_given is None:
        pools.enter(lo, made, node)
    return made


def _default(lo: Lowerer, cls: type, path: tuple[Step, ...], value: Any) -> Binding:
    """Return a default value: a constant of the program, or a captured value."""
    return (
        static(value) if trees.is_constant((value,)) else outside.reach(lo, Place(cls, path), value)
    )


def _given(
    lo: Lowerer, cls: type, positional: Sequence[str], names: Sequence[str], args: list[Binding],
    kwargs: dict[str, Binding], node: ast.Call,
) -> dict[str, Binding]:  # fmt: skip
    """Return the arguments of a constructor, by the names of its parameters."""
    if len(args) > len(positional):
        raise TypeMismatchError(
            f"{cls.__name__}() takes {len(positional)} arguments but {len(args)} were given",
            lo.span(node),
        )
    found = dict(zip(positional, args, strict=False))
    for name, value in kwargs.items():
        if name not in names or name in found:
            raise TypeMismatchError(
                f"{cls.__name__}() got an unexpected or repeated argument {name!r}", lo.span(node)
            )
        found[name] = value
    return found


def _require(
    lo: Lowerer, cls: type, given: dict[str, Binding], name: str, node: ast.AST
) -> None:  # fmt: skip
    if name not in given:
        raise TypeMismatchError(f"{cls.__name__}() is missing the argument {name!r}", lo.span(node))
