"""What a name may be bound to.

Scalars are SSA operands. Arrays are objects: the state maps each object to the value that is its
current version, so every name and tuple that holds the object sees a store. Everything else is
known at compile time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from adc.frontend.source import Source
from adc.ir.core import Operand
from adc.ir.errors import Span
from adc.ir.types import Array


@dataclass(frozen=True, slots=True)
class Num:
    """A scalar."""

    operand: Operand


@dataclass(eq=False, slots=True)
class ArrayObject:
    """One array of the user's program, whatever names it has; `dims` are its sizes if known."""

    type: Array
    name: str
    span: Span | None = None
    # Objects that may be this one: it depends on the path taken.
    alias: set[ArrayObject] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """A name for an array."""

    object: ArrayObject


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known at compile time: None, a string, a module, a class, a function."""

    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class Closure:
    """A function defined inside the lowered code, with the scope it was defined in."""

    node: ast.FunctionDef | ast.Lambda
    source: Source
    scope: Any
    defaults: dict[str, Binding]

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(frozen=True, slots=True)
class Range:
    start: Num
    stop: Num
    step: Num


@dataclass(frozen=True, slots=True)
class Enumerate:
    inner: Binding
    start: Num


@dataclass(frozen=True, slots=True)
class Zip:
    inners: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Reversed:
    inner: Binding


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of an array, not yet called."""

    owner: Binding
    name: str


@dataclass(frozen=True, slots=True)
class Unbound:
    """A variable that is not bound on every path to here; `why` says which is missing."""

    why: str = ""
    span: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Late:
    """A variable that a loop binds: it is bound if the loop ran (`flag`), checked where read."""

    inner: Binding
    flag: Operand


@dataclass(frozen=True, slots=True)
class Unstable:
    """A variable whose kind depends on the path: an error where it is used, and only there."""

    why: str
    span: Span | None = None


Binding = (
    Num
    | ArrayRef
    | TupleOf
    | Static
    | Closure
    | Range
    | Enumerate
    | Zip
    | Reversed
    | Bound
    | Unbound
    | Late
    | Unstable
)
NONE = Static(None)


def kind_of(binding: Binding) -> str:
    """Return what a user would call it."""
    match binding:
        case Num(operand=operand):
            return f"a number ({operand.type})"
        case ArrayRef(object=obj):
            return f"an array ({obj.type})"
        case TupleOf(items=items):
            return f"a tuple of {len(items)}"
        case Static(value=None):
            return "None"
        case Static(value=value):
            return f"{type(value).__name__} {getattr(value, '__name__', value)!r}"
        case Closure():
            return f"function {binding.name!r}"
        case Bound(name=name):
            return f"method {name!r}"
        case Unbound():
            return "unbound"
        case Unstable():
            return "of a kind that depends on the path"
    return f"a {type(binding).__name__.lower()}"


def leaves(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the scalars and arrays in `binding`, left to right."""
    match binding:
        case Num() | ArrayRef():
            yield binding
        case TupleOf(items=items) | Zip(inners=items):
            for item in items:
                yield from leaves(item)
        case Range(start=start, stop=stop, step=step):
            yield from (start, stop, step)
        case Enumerate(inner=inner, start=start):
            yield from leaves(inner)
            yield start
        case Reversed(inner=inner):
            yield from leaves(inner)


def rebuild(binding: Binding, new: Iterator[Num | ArrayRef]) -> Binding:
    """Return `binding` with its leaves taken from `new`, left to right."""
    match binding:
        case Num() | ArrayRef():
            return next(new)
        case TupleOf(items=items):
            return TupleOf(tuple(rebuild(item, new) for item in items))
        case Zip(inners=items):
            return Zip(tuple(rebuild(item, new) for item in items))
        case Range():
            numbers = [next(new) for _ in range(3)]
            assert all(isinstance(n, Num) for n in numbers)
            return Range(*numbers)  # type: ignore[arg-type]
        case Enumerate(inner=inner):
            again = rebuild(inner, new)
            start = next(new)
            assert isinstance(start, Num)
            return Enumerate(again, start)
        case Reversed(inner=inner):
            return Reversed(rebuild(inner, new))
    return binding


def shape_of(binding: Binding) -> object:
    """Return a hashable description of everything but the leaves: equal shapes can be joined."""
    match binding:
        case Num():
            return "num"
        case ArrayRef(object=obj):
            return ("array", obj.type)
        case TupleOf(items=items):
            return ("tuple", *(shape_of(item) for item in items))
        case Zip(inners=items):
            return ("zip", *(shape_of(item) for item in items))
        case Range():
            return "range"
        case Enumerate(inner=inner):
            return ("enumerate", shape_of(inner))
        case Reversed(inner=inner):
            return ("reversed", shape_of(inner))
        case Static(value=value):
            return ("static", type(value), _key(value))
        case Closure():
            return ("closure", id(binding.node))
        case Bound(owner=owner, name=name):
            return ("method", shape_of(owner), name)
        case Unbound() | Unstable():
            return type(binding).__name__
        case Late():
            return ("late", id(binding))
    raise AssertionError(binding)


def _key(value: Any) -> object:
    return value if isinstance(value, str | int | float | bool | type(None)) else id(value)
