"""What lies outside of a function: its globals and closure variables, and guards on them."""

from __future__ import annotations

import ast
import collections
import logging
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    Given,
    Late,
    ListRef,
    Num,
    RecordOf,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.parameters import arrays_of, bind_value, dict_of, param_of
from adc.frontend.core.state import Holder, LastingError
from adc.frontend.core.structure import CELL
from adc.frontend.inputs import trees
from adc.frontend.inputs.instances import (
    is_distribution,
    is_generator_class,
    is_legacy_class,
    is_table,
    number_of,
)
from adc.frontend.inputs.keys import key_of
from adc.frontend.inputs.places import (
    Around,
    Capture,
    Guard,
    Item,
    Keys,
    Member,
    Place,
    Step,
    Values,
    Variable,
    follow,
    variable_of,
)
from adc.frontend.inputs.trees import Instance
from adc.frontend.syntax import source
from adc.frontend.syntax.source import Source
from adc.ir.errors import ArgumentError, TypeMismatchError, UnboundError, UnsupportedError

# The generator that the functions of `np.random` draw from.
_GLOBAL = Place(np, ("random", "mtrand", "_rand"))


def holder_of(lo: Lowerer, fn: types.FunctionType, place: Place | None = None) -> Holder:
    """Return where a function is found that is lowered now: guarded, like its code.

    Found in two ways, it must always be one function.
    """
    own = Holder(fn, place or Place(fn))
    known = lo.shared.holders.setdefault(fn, own)
    if known.place != own.place:
        first, second = known.place, own.place
        if first.varies and second.varies:
            lo.shared.guards.setdefault(second, Guard(second, first))
        else:
            varying = first if first.varies else second
            lo.shared.guards[varying] = Guard(varying, fn)
    return known


def source_of(lo: Lowerer, holder: Holder) -> Source:
    """Return the source of a function, whose code is guarded."""
    guard(lo, holder.place.to("__code__"), holder.fn.__code__)
    return source.source_of(holder.fn)


def guard(lo: Lowerer, place: Place, value: Any) -> None:
    """Guard the current value at a place, on which the code depends."""
    if (getattr(place.root, "__module__", None) or "").startswith("adc.library"):
        return  # it cannot be modified
    lo.shared.guards.setdefault(place, Guard.of(place, value))


def pin(lo: Lowerer, binding: Binding) -> None:
    """Record that code depends on the identity of this function."""
    if isinstance(binding, Static) and binding.place is not None:
        lo.shared.guards[binding.place] = Guard(binding.place, binding.value)


def number_in(lo: Lowerer, binding: Binding) -> Binding:
    """Return a member of an `IntEnum` and the like as the number that it is; else the same."""
    if not isinstance(binding, Static):
        return binding
    number = number_of(binding.value)
    if number is None:
        return binding
    pin(lo, binding)
    return static(number)


def free(lo: Lowerer, holder: Holder, path: tuple[str, ...], node: ast.AST) -> Binding:
    """Return the binding of a global or closure variable (or an attribute of one)."""
    steps: tuple[Step, ...] = (Variable(path[0]), *path[1:])
    place = _place_of(lo, holder, path[0]).to(*path[1:])
    if place in lo.reached:
        return lo.reached[place]
    try:
        value = follow(holder.fn, steps)
    except KeyError:
        raise UnboundError(
            f"name {path[0]!r} is not defined",
            lo.span(node),
            "check the spelling, or define it before the call",
        ) from None
    except AttributeError as error:
        raise TypeMismatchError(str(error), lo.span(node), "check the spelling") from None
    closed_over = len(path) == 1 and path[0] in holder.fn.__code__.co_freevars
    if closed_over and holder.place.varies and type(value) is types.FunctionType:
        # It is recreated with the function around it: any with this code will do.
        guard(lo, place.to("__code__"), value.__code__)
        return Static(value, place)
    owner = variable_of(holder.fn, path[0]) if len(path) > 1 else None
    # Nobody changes the library's numbers. What its closures hold is the program's.
    own = holder.in_library and len(path) == 1 and not closed_over and np.isscalar(value)
    return reach(lo, place, value, own or _has_constants(owner))


def variable(lo: Lowerer, holder: Holder, name: str) -> str | None:
    """Return the slot of a variable outside if the program assigns it."""
    return lo.variables.get(_place_of(lo, holder, name)) if lo.variables else None


def _place_of(lo: Lowerer, holder: Holder, name: str) -> Place:
    """Return the place of a variable outside.

    It is one for all functions that share the variable, which is guarded, where it is changed.
    """
    own = holder.place.to(Variable(name))
    if not lo.shared.changes:
        return own
    closed_over = name in holder.fn.__code__.co_freevars
    step: Step = Around(name) if closed_over else "__globals__"
    key = (id(follow(holder.fn, (step,))), name)
    first = lo.shared.named.setdefault(key, own)
    if first != own:
        same = Place(first.root, (*first.path[:-1], step))
        guarded = holder.place.to(step)
        lo.shared.guards.setdefault(guarded, Guard(guarded, same))
    return first


def assign_variable(lo: Lowerer, name: str, node: ast.AST) -> bool:
    """Let a variable outside be one that the program assigns; return whether that is possible."""
    holder = lo.frame.holder
    if lo.kept_outside is None or holder.in_library:
        return False
    place = _place_of(lo, holder, name)
    lo.require_one_name(place, lo.changes_outside("a variable", place))
    if place not in lo.variables:
        slot = lo.builder.names.fresh(CELL + name)
        try:
            lo.initial[slot] = free(lo, holder, (name,), node)
        except UnboundError:
            lo.initial[slot] = Unbound("nothing before assigns it")
        lo.variables[place] = slot
        lo.assigned[slot] = place
    slot = lo.frame.cells[name] = lo.variables[place]
    lo.frame.env.setdefault(slot, lo.initial[slot])
    return True


def assign_member(lo: Lowerer, cls: type, name: str, value: Binding) -> bool:
    """Lower ``cls.name = value`` of a class; return whether that is possible."""
    plain = isinstance(vars(cls).get(name), bool | int | float | str | None) and name in vars(cls)
    if lo.kept_outside is None or not plain or "<locals>" in cls.__qualname__:
        return False
    if (cls, name) not in lo.shared.members:
        raise LastingError(lo.changes_outside("a class", Place(cls, (name,))), member=(cls, name))
    slot = _slot_of_member(lo, cls, name)
    lo.frame.env[slot] = value
    return True


def member(lo: Lowerer, cls: type, name: str) -> Binding | None:
    """Return an attribute of a class that the program assigns; None of any other."""
    for base in cls.__mro__ if lo.shared.members else ():
        if (base, name) in lo.shared.members:
            slot = _slot_of_member(lo, base, name)
            found = lo.frame.env.get(slot, lo.initial[slot])
            if slot in lo.frame.partial or isinstance(found, Unbound | Unstable | Late):
                raise UnsupportedError(
                    f"`{base.__name__}.{name}`, which only some paths set to a value of this "
                    "kind, is not supported", lo.builder.loc, "use values of one kind",
                )  # fmt: skip
            return found
        if name in vars(base):
            break
    return None


def _slot_of_member(lo: Lowerer, cls: type, name: str) -> str:
    """Return the slot of an attribute of a class that the program assigns."""
    place = Place(cls, (name,))
    if place not in lo.variables:
        slot = lo.builder.names.fresh(CELL + name)
        lo.initial[slot] = reach(lo, Place(cls, (Member(name),)), vars(cls)[name])
        lo.variables[place] = slot
        lo.assigned[slot] = place
        lo.frame.env.setdefault(slot, lo.initial[slot])
    return lo.variables[place]


def attribute(lo: Lowerer, owner: Static, name: str) -> Binding:
    """Return the binding of an attribute of an object; raise AttributeError if it has none."""
    if isinstance(owner.value, type) and (found := member(lo, owner.value, name)) is not None:
        return found
    value = getattr(owner.value, name)
    if isinstance(owner.value, logging.Logger) and not (name == "name" or callable(value)):
        raise UnsupportedError(
            f"the attribute `{name}` of a logger is not supported", lo.builder.loc,
            "use its methods, such as `isEnabledFor`",
        )  # fmt: skip
    if is_distribution(owner.value) and owner.place is not None:
        return Static(value, owner.place.to(name))
    if not isinstance(owner.value, types.FunctionType | types.ModuleType | type):
        return static(value)
    place = (owner.place or Place(owner.value)).to(name)
    return reach(lo, place, value, _has_constants(owner.value))


def reach(lo: Lowerer, place: Place, value: Any, constant: bool = False) -> Binding:
    """Return the binding of a captured value: read at every call, or a guarded constant."""
    if place in lo.reached:
        return lo.reached[place]
    if _is_draw(value):
        name = value.__func__.__name__
        guard(lo, place.to("__name__"), name)
        return Bound(reach(lo, place.to("__self__"), value.__self__), name)
    if place != _GLOBAL and _is_global_generator(value):
        lo.shared.guards[place] = Guard(place, _GLOBAL)
        return global_generator(lo)
    if lo.shared.lasting and lo.lasting is None:
        lo.shared.apart.add(place)
    logs = lo.shared.logs
    if place in logs or (_may_hold_logs(value) and any(map(place.holds, logs))):
        return _log(lo, place, value)
    if constant or trees.is_constant(value):
        guard(lo, place, value)
        # What these hold is read at every call.
        held = is_table(value) or is_distribution(value)
        return Static(value, place) if held else static(value)
    lo.shared.values[place] = value
    try:
        tree = trees.tree_of(value)
    except ArgumentError as error:
        raise ArgumentError(
            f"`{place}`: {error.message}", error.span or lo.builder.loc, error.hint
        ) from None
    if isinstance(tree, Instance):
        guard(lo, place, value)
    made: list[Num | ArrayRef] = []
    before = set(lo.initial)
    hint = place.name
    binding = bind_value(lo, hint, tree, place, made)
    lo.elsewhere |= set(lo.initial) - before
    lo.reached[place] = binding
    if lo.is_outside(place):
        lo.outside |= arrays_of(made, place)
    if not isinstance(tree, Instance):
        params = tuple(param_of(lo, leaf) for leaf in made)
        lo.captured[place] = (
            Capture(place, trees.emptied(tree), key_of(value), params), tuple(made),
        )  # fmt: skip
    return binding


def global_generator(lo: Lowerer) -> Binding:
    """Return the generator that the functions of `np.random` draw from."""
    return reach(lo, _GLOBAL, _GLOBAL.read())


def _is_global_generator(value: Any) -> bool:
    return is_legacy_class(type(value)) and value is np.random.mtrand._rand


def _is_draw(value: Any) -> bool:
    """Whether a value is a method of a random generator."""
    return type(value) is types.MethodType and is_generator_class(type(value.__self__))


def _log(lo: Lowerer, place: Place, value: Any) -> ListRef | DictRef:
    """Return a list outside to which something is appended, or a dict that holds such lists.

    Nothing is known of what is in the list.
    """
    if lo.lasting is None:
        raise lo.changes_outside("a list", place)
    guard(lo, place.to("__class__"), type(value))
    ref: ListRef | DictRef
    if isinstance(value, dict):
        guard(lo, place.to(Keys()), tuple(value))
        if type(value) is collections.defaultdict:
            guard(lo, place.to("default_factory"), value.default_factory)
        items = [reach(lo, place.to(Item(key)), item) for key, item in value.items()]
        made = dict_of(trees.class_in_tree(value))
        ref = lo.borrow(made, RecordOf(tuple(value), tuple(items)), place)
    else:
        ref = lo.borrow(ListRef, TupleOf(()), place)
        lo.logs.add(ref.slot)
    lo.opened.add(place)
    lo.elsewhere.add(ref.slot)
    lo.reached[place] = ref
    return ref


def _may_hold_logs(value: Any) -> bool:
    """Whether an object outside is a dict that may hold lists of which nothing is known."""
    cls = trees.class_in_tree(value)
    return cls is dict or cls in trees.DEFAULTS.values()


def _may_be_log(lo: Lowerer, place: Place) -> bool:
    """Whether a list can be one of which nothing is known: it has a name, or dicts hold it."""
    if lo.kept_outside is None:
        return False
    path = list(place.path)
    while (around := Place(place.root, tuple(path))) not in lo.reached:
        if not path or not isinstance(path.pop(), Item):
            return False
    value = lo.shared.values[around]
    for step in place.path[len(path) :]:
        if not _may_hold_logs(value) or not trees.is_constant(tuple(value)):
            return False
        value = follow(value, (step,))
    return type(value) is list


@contextmanager
def appending(lo: Lowerer, ref: ListRef) -> Iterator[None]:
    """Append to a list within the block. Of one outside, nothing else may be asked.

    Raises
    ------
    LastingError
        If it was not known before that something is appended to it.
    """
    places = lo.places.get(ref.slot, frozenset())
    for place in places:
        if lo.is_outside(place) and place not in lo.shared.logs:
            error = lo.changes_outside("a list", place)
            raise LastingError(error, place) if _may_be_log(lo, place) else error
    before, lo.logging = lo.logging, ref.slot
    try:
        yield
    finally:
        lo.logging = before


def column(lo: Lowerer, table: Static, step: Step, node: ast.AST) -> Static:
    """Return what a captured table has under a key, or as an attribute; it is a table as well."""
    try:
        found = follow(table.value, (step,))
    except (LookupError, AttributeError, TypeError) as error:
        raise TypeMismatchError(
            f"{type(error).__name__}: {error}", lo.span(node), "check the spelling"
        ) from None
    if table.place is None or not is_table(found):
        raise UnsupportedError(
            f"this part of {kind_of(table)} is not supported", lo.span(node),
            "use `.values` or `.to_numpy()` of a column",
        )  # fmt: skip
    return Static(found, table.place.to(step))


def values(lo: Lowerer, table: Static, node: ast.AST) -> Binding:
    """Return the array that NumPy makes of a captured table, read at every call."""
    assert table.place is not None
    return reach(lo, table.place.to(Values()), np.asarray(table.value))


def opened(lo: Lowerer, binding: Binding) -> Binding:
    """Bind an attribute that an object has from outside."""
    if not isinstance(binding, Given):
        return binding
    return reach(lo, binding.place, binding.value, binding.constant)


def _has_constants(owner: Any) -> bool:
    """Whether the numbers of a module are constants of the program, such as `np.pi`."""
    return isinstance(owner, types.ModuleType) and owner.__name__ in ("math", "numpy", "cmath")
