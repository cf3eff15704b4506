"""Builtin functions that ask for kinds and attributes: `isinstance`, `getattr`, `super`, ..."""

from __future__ import annotations

import abc
import ast
import functools
import importlib
import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np

from adc.frontend.control import evaluation
from adc.frontend.core import classes, dispatch, names, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    Closure,
    ListRef,
    Num,
    ObjectRef,
    Static,
    Super,
    Transformed,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.inputs import instances
from adc.frontend.inputs.places import Has, Place
from adc.frontend.language import attributes, statements
from adc.frontend.numpy import library
from adc.frontend.values import arguments, contents, elementwise, objects
from adc.frontend.values.arguments import Handler
from adc.ir.errors import TypeMismatchError
from adc.ir.foreign import is_stand_in
from adc.library.standard import bases


def _isinstance(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    cls = classes.class_of(args[0])
    if cls is None:
        raise lo.unsupported(f"`isinstance` of {kind_of(args[0])}", node)
    return _is_subclass(lo, cls, args[1], "isinstance", node)


def _issubclass(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    cls = args[0].value if isinstance(args[0], Static) else None
    if not isinstance(cls, type):
        text = "issubclass() arg 1 must be a class"
        numbers.refuse(lo, f"`issubclass` of {kind_of(args[0])}", node, "TypeError", text)
    outside.pin(lo, args[0])
    return _is_subclass(lo, instances.class_of(cls), args[1], "issubclass", node)


def _is_subclass(lo: Lowerer, cls: type, of: Binding, what: str, node: ast.Call) -> Binding:
    """Lower the question whether a class is one of some, or inherits from one."""
    given = [_plain(item.value) if isinstance(item, Static) else None for item in _flat(of)]
    asked = [instances.class_of(c) if isinstance(c, type) else c for c in given]
    if not all(isinstance(c, type) for c in asked):
        with_ = ast.unparse(node.args[-1])
        raise lo.unsupported(f"`{what}` with `{with_}`", node, "use a class, or several")
    check = "__instancecheck__" if what == "isinstance" else "__subclasscheck__"
    usual = [getattr(each, check) for each in (type, abc.ABCMeta)]
    for c in asked:
        if cls is np.ndarray and c is not np.ndarray and isinstance(c, type):
            if issubclass(c, np.ndarray):  # which arrays from outside may be
                raise lo.unsupported(f"`{what}` of an array with `{c.__name__}`", node)
        if getattr(type(c), check) not in usual:
            raise lo.unsupported(f"`{check}` of `{type(c).__name__}`", node)
    return lo.num(any(issubclass(cls, c) for c in asked if isinstance(c, type)))


def _plain(cls: Any) -> Any:
    """Return the class that one of `typing` stands for, such as `typing.Sequence`."""
    origin = typing.get_origin(cls)
    return origin if origin is not None and not typing.get_args(cls) else cls


# What is asked of None as well as of anything else.
_OF_KINDS = (isinstance, callable, type, getattr, hasattr, bool)


def asks_kind(callee: Binding) -> bool:
    """Whether a function says something of what may be None, without needing its value."""
    return isinstance(callee, Static) and any(callee.value is each for each in _OF_KINDS)


def _callable(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    if isinstance(args[0], Static):
        return lo.num(callable(args[0].value))
    if isinstance(args[0], Closure | Bound | Transformed):
        return lo.num(True)
    cls = classes.class_of(args[0])
    if cls is None:
        raise lo.unsupported(f"`callable` of {kind_of(args[0])}", node)
    return lo.num(any("__call__" in each.__dict__ for each in cls.__mro__))


_UNIONS = (types.UnionType, typing.Union)


def _flat(binding: Binding) -> Iterator[Binding]:
    if isinstance(binding, TupleOf):
        for item in binding.items:
            yield from _flat(item)
    elif isinstance(binding, Static) and typing.get_origin(binding.value) in _UNIONS:
        yield from map(Static, binding.value.__args__)
    else:
        yield binding


def _name_of(lo: Lowerer, binding: Binding, node: ast.Call) -> ast.Attribute:
    """Return the attribute that a constant string names."""
    if not (isinstance(binding, Static) and isinstance(binding.value, str)):
        raise lo.unsupported(f"an attribute named by {kind_of(binding)}", node, "use a constant")
    return ast.copy_location(ast.Attribute(node, binding.value, ast.Load()), node)


def _getattr(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2, 3)
    name = _name_of(lo, args[1], node)
    if len(args) == 2:
        return attributes.attribute_of(lo, args[0], name)
    if objects.may_make_up(lo, args[0], name.attr):
        return dispatch.apply(lo, Static(bases.get), args, {}, node)
    there = objects.has_own(lo, args[0], name.attr)
    if there is not None:
        read = functools.partial(attributes.attribute_of, lo, args[0], name)
        return evaluation.either(lo, there, read, lambda: args[2], node)
    found = _attribute_or_none(lo, args[0], name, node)
    return args[2] if found is None else found


def get_own(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `object.__getattribute__`, which is how attributes of objects are read."""
    arguments.arity(lo, args, kwargs, node, 2)
    owner, name = args[0], _name_of(lo, args[1], node).attr
    if objects.may_make_up(lo, owner, name):
        raise lo.unsupported(
            f"asking whether {kind_of(owner)}, which has `__getattr__`, has an attribute", node,
            "read the attribute in a `try` with `except AttributeError`",
        )  # fmt: skip
    return _getattr(lo, args, kwargs, node)


def _hasattr(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    name, owner = _name_of(lo, args[1], node), args[0]
    if objects.may_make_up(lo, owner, name.attr):
        return dispatch.apply(lo, Static(bases.has), args, {}, node)
    there = objects.has_own(lo, owner, name.attr)
    if there is not None:
        return Num(there)
    if classes.is_instance(owner):
        return lo.num(attributes.of_container(lo, owner, name.attr, name) is not None)
    return lo.num(_is_there(lo, owner, name.attr, node))


# What is known when a program is compiled, but for assignments to its attributes: guards see these.
_NAMESPACES = (types.ModuleType, type, types.FunctionType)


def _is_there(lo: Lowerer, owner: Binding, name: str, node: ast.Call) -> bool:
    if isinstance(owner, Static) and isinstance(owner.value, _NAMESPACES):
        found = hasattr(owner.value, name)
        outside.guard(lo, (owner.place or Place(owner.value)).to(Has(name)), found)
        return found
    if isinstance(owner, Super):
        held = owner.owner
        cls = held.value if isinstance(held, Static) else classes.instance_class(held)
        assert isinstance(cls, type)
        return classes.inherited(cls, name, owner.after)[1] is not classes.MISSING
    there = classes.has_attribute(owner, name)
    if there is None:
        raise lo.unsupported(f"asking whether {kind_of(owner)} has an attribute", node)
    return there


def _attribute_or_none(
    lo: Lowerer, owner: Binding, name: ast.Attribute, node: ast.Call
) -> Binding | None:
    if classes.is_instance(owner):
        return attributes.of_container(lo, owner, name.attr, name)
    there = _is_there(lo, owner, name.attr, node)
    return attributes.attribute_of(lo, owner, name) if there else None


def _vars(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    return objects.as_dict(lo, args[0], node)


def _dir(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `dir` of an object: the names of its attributes and of its classes'."""
    arguments.arity(lo, args, kwargs, node, 1)
    cls = classes.instance_class(args[0])
    if not isinstance(args[0], ObjectRef) or cls is None or is_stand_in(cls):
        raise lo.unsupported(f"`dir` of {kind_of(args[0])}", node, "write the names")
    if classes.find(lo, args[0], "__dir__") not in (None, object.__dir__):
        raise lo.unsupported(f"`__dir__` of {kind_of(args[0])}", node, "write the names")
    found = sorted({*dir(cls), *lo.record(args[0]).keys})
    return lo.new_ref(ListRef, TupleOf(tuple(map(Static, found))))


def _signature(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `inspect.signature` of a function, class or method that is known."""
    arguments.arity(lo, args, kwargs, node, 1)
    value, bound = None, False
    match args[0]:
        case Closure(node=inner, defaults=defaults) if not (defaults or _is_annotated(inner)):
            return Static(_of_node(inner))
        case Static(value=value):
            outside.pin(lo, args[0])
        case Bound(owner=ObjectRef(cls=cls), name=name, after=None):
            value = getattr(cls, name, None)
            bound = isinstance(inspect.getattr_static(cls, name, None), types.FunctionType)
    if not isinstance(value, type | types.FunctionType | types.MethodType):
        raise lo.unsupported(f"`signature` of {kind_of(args[0])}", node, "write the names")
    found = inspect.signature(value)
    rest = list(found.parameters.values())[1 if bound else 0 :]
    return Static(found.replace(parameters=rest))


def _is_annotated(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a signature has types, which the program may ask for."""
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        return True
    return any(isinstance(each, ast.arg) and each.annotation for each in ast.walk(node.args))


def _of_node(node: ast.FunctionDef | ast.Lambda) -> inspect.Signature:
    """Return the signature of an inner function without types and default values."""
    spec, kinds = node.args, inspect.Parameter
    found: list[tuple[ast.arg, Any]] = [(arg, kinds.POSITIONAL_ONLY) for arg in spec.posonlyargs]
    found += [(arg, kinds.POSITIONAL_OR_KEYWORD) for arg in spec.args]
    found += [(spec.vararg, kinds.VAR_POSITIONAL)] if spec.vararg else []
    found += [(arg, kinds.KEYWORD_ONLY) for arg in spec.kwonlyargs]
    found += [(spec.kwarg, kinds.VAR_KEYWORD)] if spec.kwarg else []
    return inspect.Signature([inspect.Parameter(arg.arg, kind) for arg, kind in found])


def _setattr(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 3)
    value = elementwise.materialised(lo, args[2], node)
    objects.set_attribute(lo, args[0], _name_of(lo, args[1], node).attr, value, node)
    return NONE


def set_own(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `object.__setattr__`, which does not ask the class."""
    arguments.arity(lo, args, kwargs, node, 3)
    value = elementwise.materialised(lo, args[2], node)
    objects.set_own(lo, args[0], _name_of(lo, args[1], node).attr, value, node)
    return NONE


def delete_own(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `object.__delattr__`, which does not ask the class."""
    arguments.arity(lo, args, kwargs, node, 2)
    if not isinstance(args[0], ObjectRef):
        raise lo.unsupported(f"`__delattr__` of {kind_of(args[0])}", node)
    objects.delete_own(lo, args[0], _name_of(lo, args[1], node).attr, node)
    return NONE


def _type(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    cls = classes.class_of(args[0])
    if cls is None:
        raise lo.unsupported(f"`type` of {kind_of(args[0])}", node)
    if is_stand_in(cls):
        raise lo.unsupported(f"`type` of {kind_of(args[0])}", node, "use `isinstance`")
    return Static(cls)


def _super(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if len(args) == 1 or len(args) > 2 or kwargs:
        raise lo.unsupported("this call of `super`", node, "write `super()`")
    if args:
        after, owner = args
    else:
        frame, fn = lo.frame, lo.frame.holder.fn
        params = frame.source.node.args
        own = [arg.arg for arg in (*params.posonlyargs, *params.args)]
        if "__class__" not in fn.__code__.co_freevars or not own:
            raise lo.unsupported("`super()` outside a method", node, "pass the class and `self`")
        after = outside.free(lo, frame.holder, ("__class__",), node)
        owner = names.read_name(lo, own[0], node)
    cls = owner.value if isinstance(owner, Static) else classes.instance_class(owner)
    if not (isinstance(after, Static) and isinstance(after.value, type) and isinstance(cls, type)):
        raise lo.unsupported("this call of `super`", node, "write `super()`")
    if not issubclass(cls, after.value):
        raise TypeMismatchError(
            "super(type, obj): obj must be an instance or subtype of type", lo.span(node)
        )
    return Super(owner, after.value)


def _import_module(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    given = dict(zip(("name", "package"), args, strict=False)) | kwargs
    texts = {key: each.value for key, each in given.items() if isinstance(each, Static)}
    name, package = texts.get("name"), texts.get("package")
    known = len(texts) == len(args) + len(kwargs) and texts.keys() <= {"name", "package"}
    if not (known and isinstance(name, str) and name and isinstance(package, str | None)):
        raise lo.unsupported("this call of `importlib.import_module`", node, "import the module")
    return Static(statements.import_module(lo, name, package))


HANDLERS: dict[Any, Handler] = {
    isinstance: _isinstance, issubclass: _issubclass, callable: _callable, type: _type,
    getattr: _getattr, hasattr: _hasattr, setattr: _setattr, vars: _vars, super: _super,
    object.__new__: contents.new_object, object.__setattr__: set_own,
    object.__getattribute__: get_own, object.__delattr__: delete_own, dir: _dir,
    inspect.signature: _signature,
    importlib.import_module: _import_module,
}  # fmt: skip
library.enter(HANDLERS)
