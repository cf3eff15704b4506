"""The kinds of bindings of a name.

Scalars are SSA operands. Arrays are objects: the state maps each object to the value that is its
current version, so every name and tuple that holds the object sees a store. Everything else is
known at compile time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adc.frontend.core import trees
from adc.frontend.core.places import Place
from adc.frontend.core.source import Source
from adc.ir.builder import integer
from adc.ir.core import Derived, Function, Operand, Value
from adc.ir.errors import Span
from adc.ir.types import Array, Scalar, Type
from adc.library.transforms import Level


@dataclass(frozen=True, slots=True)
class Num:
    """A scalar; `array`: in NumPy it is a 0-d array."""

    operand: Operand
    array: bool = False


@dataclass(eq=False, slots=True)
class ArrayObject:
    """One array of the user's program, whatever names it has; `dims` are its sizes if known."""

    type: Array
    name: str
    span: Span | None = None
    # Objects that may be this one: it depends on the path taken.
    alias: set[ArrayObject] = field(default_factory=set)
    # It keeps the elements of a list (`dynamic_lists`): only the list writes to it.
    kept: bool = False
    # It is the state of a random generator (`random`).
    words: bool = False
    # The first variable that it was bound to, if any.
    variable: str = ""

    @property
    def users_name(self) -> str:
        return self.variable or self.name


def related(a: ArrayObject | None, b: ArrayObject | None) -> bool:
    """Whether two arrays are or may be one."""
    return a is not None and b is not None and (a is b or a in b.alias)


def suspect(a: ArrayObject, b: ArrayObject) -> None:
    """Note that two arrays may be one."""
    if a is not b:
        a.alias.add(b)
        b.alias.add(a)


def shares(made: ArrayObject, source: ArrayObject) -> None:
    """Note that an array may be the memory of `source`, or of what that may be."""
    for other in (source, *source.alias):
        suspect(made, other)


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a window points on one axis behind it: ``offset + sum(stride * index[k])``."""

    offset: Operand
    terms: tuple[tuple[int, Operand], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A view by offsets and strides; `axes` are those of the space behind it."""

    dims: tuple[Operand, ...]
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """A view of the same elements, in C order, under other sizes; `inner` are those behind it."""

    dims: tuple[Operand, ...]
    inner: tuple[Operand, ...]


Stage = Window | Reshape


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """A name for an array, or for a view of it (`views`).

    Writing through one that is `readonly` raises; None: whether it is depends on the path.
    """

    object: ArrayObject
    view: tuple[Stage, ...] = ()
    readonly: bool | None = False


@dataclass(frozen=True, eq=False, slots=True)
class Lazy:
    """An array expression whose elements are not computed yet; no name is bound to one.

    `reads` are the arrays it reads, through which view, in which version: what it denotes is fixed
    when it is made. `cost` estimates the operations of one element, `depth` is that of expressions
    in it. `readonly` is what an array of its elements would be.
    """

    dims: tuple[Operand, ...]
    type: Scalar
    element: Callable[[Sequence[Operand]], Operand]
    reads: tuple[tuple[ArrayObject, tuple[Stage, ...], Value], ...] = ()
    cost: float = 0
    depth: int = 0
    readonly: bool | None = False


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class RecordOf:
    """Named bindings: the contents of a dict, an object or a named tuple."""

    keys: tuple[Any, ...]
    items: tuple[Binding, ...]

    def get(self, key: Any) -> Binding | None:
        return self.items[self.keys.index(key)] if key in self.keys else None

    def with_item(self, key: Any, item: Binding) -> RecordOf:
        if key not in self.keys:
            return RecordOf((*self.keys, key), (*self.items, item))
        k = self.keys.index(key)
        return RecordOf(self.keys, (*self.items[:k], item, *self.items[k + 1 :]))

    def without(self, key: Any) -> RecordOf:
        k = self.keys.index(key)
        return RecordOf(self.keys[:k] + self.keys[k + 1 :], self.items[:k] + self.items[k + 1 :])


@dataclass(frozen=True, slots=True)
class ListRef:
    """A Python list. Like arrays, lists are objects: `slot` of the state holds the elements."""

    slot: str


@dataclass(frozen=True, slots=True)
class DictRef:
    """A dict with keys known at compile time; `slot` of the state holds the items."""

    slot: str


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An instance of a class of the user's; `slot` of the state holds its attributes."""

    slot: str
    cls: type


@dataclass(frozen=True, slots=True)
class DictView:
    """The `values` or `items` of a dict, with its current contents."""

    ref: DictRef
    name: str


Ref = ListRef | DictRef | ObjectRef


@dataclass(frozen=True, slots=True)
class Given:
    """An attribute that an object had when the function was called, or a default value.

    It is bound when it is read; as a constant of the program if it is said to be one.
    """

    place: Place
    value: Any = field(compare=False)
    constant: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A number or array in the elements of a `Growing`: its type and, of an array, the sizes.

    A size is None if it is known only at run time; all elements have the same.
    """

    type: Scalar
    sizes: tuple[int | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Growing:
    """The contents of a list whose length is known only at run time.

    All elements are like `element`, which has a `Cell` for each number and array. A buffer for each
    cell has those of all elements, along its first axis.
    """

    buffers: tuple[ArrayRef, ...]
    length: Num
    element: Binding


@dataclass(frozen=True, slots=True)
class Nested:
    """A list, dict or object in the elements of a `Growing`: reading an element makes a new one."""

    cls: type
    contents: TupleOf | RecordOf


@dataclass(frozen=True, slots=True)
class NamedTuple:
    """A named tuple, or a frozen dataclass: immutable."""

    cls: type
    record: RecordOf


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known at compile time: None, a string, a module, a class, a function.

    A function that other calls of the code may find another one instead of has a `place`.
    """

    value: Any
    place: Place | None = None


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
class Transformed:
    """A derivative of a function, not yet called."""

    fn: Binding
    level: Level

    @property
    def kind(self) -> str:
        """The name of the transformation that made it."""
        return self.level.kind


@dataclass(frozen=True, slots=True)
class Pullback:
    """The pullback that `vjp` returns: `of` weights the results of the function.

    `args` are its arguments at that time, `moved` the positions of their floats, argument by
    argument, `result` and `heap` the structure of its results.
    """

    of: Function
    args: TupleOf
    like: TupleOf
    moved: tuple[int, ...]
    result: Binding
    heap: dict[str, Binding] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Directional:
    """A derivative of a function of numbers and arrays at `args`, which takes directions alone.

    It returns the results of `of` from the first that counts on.
    """

    of: Derived
    args: TupleOf
    first: int


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
    | Lazy
    | TupleOf
    | RecordOf
    | ListRef
    | DictRef
    | DictView
    | ObjectRef
    | NamedTuple
    | Cell
    | Growing
    | Nested
    | Given
    | Static
    | Closure
    | Range
    | Enumerate
    | Zip
    | Reversed
    | Bound
    | Transformed
    | Pullback
    | Directional
    | Unbound
    | Late
    | Unstable
)
NONE = Static(None)


def kind_of(binding: Binding) -> str:
    """Return a description of a binding for errors."""
    match binding:
        case Num(operand=operand):
            return f"a number ({operand.type})"
        case ArrayRef(object=obj, view=()):
            return f"an array ({obj.type})"
        case ArrayRef(object=obj, view=(stage, *_)) if not stage.dims:
            return f"a 0-d array ({obj.type.element})"
        case ArrayRef(object=obj, view=(stage, *_)):
            return f"a view of rank {len(stage.dims)} of an array ({obj.type})"
        case Lazy(type=ty, dims=dims):
            return f"an array ({ty}, rank {len(dims)})"
        case TupleOf(items=items):
            return f"a tuple of {len(items)}"
        case Cell(type=ty, sizes=tuple(sizes)):
            return f"arrays ({ty}, rank {len(sizes)})"
        case Cell(type=ty):
            return f"numbers ({ty})"
        case Growing(element=Cell() as cell):
            return f"one of {kind_of(cell)}"
        case Growing(element=element):
            return f"one of {kind_of(element).removeprefix('a ').replace('tuple', 'tuples')}"
        case Nested(cls=cls):
            return f"a {cls.__name__}"
        case RecordOf(keys=keys):
            return f"one with {', '.join(map(repr, keys)) or 'nothing'}"
        case ListRef():
            return "a list"
        case DictRef():
            return "a dict"
        case DictView(name=name):
            return f"the {name} of a dict"
        case ObjectRef(cls=cls) | NamedTuple(cls=cls):
            return f"a {cls.__name__}"
        case Static(value=None):
            return "None"
        case Static(value=value):
            if isinstance(value, str | bytes | int | float | complex):
                return f"{type(value).__name__} {value!r}"
            known = getattr(value, "__name__", None)
            return f"{type(value).__name__} {known!r}" if known else f"a {type(value).__name__}"
        case Closure():
            return f"function {binding.name!r}"
        case Bound(name=name):
            return f"method {name!r}"
        case Transformed(fn=fn, kind=kind):
            return f"`{kind}` of {kind_of(fn)}"
        case Pullback() | Directional():
            return "a pullback"
        case Unbound():
            return "unbound"
        case Unstable():
            return "of a kind that depends on the path"
        case RecordOf(keys=keys):
            return f"{', '.join(map(str, keys)) or 'nothing'}"
    return f"a {type(binding).__name__.lower()}"


def leaves(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the scalars and arrays in `binding`, left to right; views by their parts."""
    for piece in pieces(binding):
        if isinstance(piece, Num) or not piece.view:
            yield piece
            continue
        yield ArrayRef(piece.object)
        yield from (Num(operand) for operand, _ in view_operands(piece))


def view_operands(ref: ArrayRef) -> Iterator[tuple[Operand, bool]]:
    """Yield the numbers that say what a view sees, and whether each is where it starts."""
    for stage in ref.view:
        yield from ((size, False) for size in stage.dims)
        if isinstance(stage, Reshape):
            yield from ((size, False) for size in stage.inner)
            continue
        for axis in stage.axes:
            yield axis.offset, True
            yield from ((stride, False) for _, stride in axis.terms)


def pieces(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the scalars, arrays and views in `binding`, left to right."""
    match binding:
        case Num() | ArrayRef():
            yield binding
        case TupleOf(items=items) | Zip(inners=items) | RecordOf(items=items):
            for item in items:
                yield from pieces(item)
        case NamedTuple(record=record):
            yield from pieces(record)
        case Growing(buffers=buffers, length=length):
            yield from buffers
            yield length
        case Range(start=start, stop=stop, step=step):
            yield from (start, stop, step)
        case Enumerate(inner=inner, start=start):
            yield from pieces(inner)
            yield start
        case Reversed(inner=inner):
            yield from pieces(inner)
        case Pullback(args=args) | Directional(args=args):
            yield from pieces(args)


def cells_of(element: Binding) -> Iterator[Cell]:
    """Yield the cells in the element of a `Growing`, left to right."""
    match element:
        case Cell():
            yield element
        case TupleOf(items=items) | RecordOf(items=items):
            for item in items:
                yield from cells_of(item)
        case NamedTuple(record=contents) | Nested(contents=contents):
            yield from cells_of(contents)


def with_cells(
    element: Binding,
    parts: Iterator[Binding],
    make: Callable[[type, TupleOf | RecordOf], Binding] = Nested,
) -> Binding:
    """Return the element of a `Growing` with its cells replaced, left to right.

    `make` makes the lists, dicts and objects in it.
    """

    def replaced(items: Sequence[Binding]) -> tuple[Binding, ...]:
        return tuple(with_cells(item, parts, make) for item in items)

    match element:
        case Cell():
            return next(parts)
        case TupleOf(items=items):
            return TupleOf(replaced(items))
        case NamedTuple(cls=cls, record=RecordOf(keys=keys, items=items)):
            return NamedTuple(cls, RecordOf(keys, replaced(items)))
        case Nested(cls=cls, contents=RecordOf(keys=keys, items=items)):
            return make(cls, RecordOf(keys, replaced(items)))
        case Nested(cls=cls, contents=TupleOf(items=items)):
            return make(cls, TupleOf(replaced(items)))
    return element


def rebuild(binding: Binding, new: Iterator[Num | ArrayRef]) -> Binding:
    """Return `binding` with its leaves taken from `new`, left to right."""
    match binding:
        case Num(array=array):
            leaf = next(new)
            return Num(leaf.operand, array) if isinstance(leaf, Num) and array else leaf
            return next(new)
        case ArrayRef(view=view, readonly=readonly):
            base = next(new)
            assert isinstance(base, ArrayRef)
            stages = tuple(_rebuilt_stage(stage, new) for stage in view)
            return ArrayRef(base.object, stages, readonly)
        case TupleOf(items=items):
            return TupleOf(tuple(rebuild(item, new) for item in items))
        case RecordOf(keys=keys, items=items):
            return RecordOf(keys, tuple(rebuild(item, new) for item in items))
        case NamedTuple(cls=cls, record=record):
            again = rebuild(record, new)
            assert isinstance(again, RecordOf)
            return NamedTuple(cls, again)
        case Growing(buffers=buffers, element=element):
            new_buffers, length = [next(new) for _ in buffers], next(new)
            assert isinstance(length, Num)
            return Growing(tuple(new_buffers), length, element)  # type: ignore[arg-type]  # arrays
        case Zip(inners=items):
            return Zip(tuple(rebuild(item, new) for item in items))
        case Range():
            numbers = [next(new) for _ in range(3)]
            assert all(isinstance(n, Num) for n in numbers)
            return Range(*numbers)  # type: ignore[arg-type]
        case Enumerate(inner=inner):
            inner_rebuilt = rebuild(inner, new)
            start = next(new)
            assert isinstance(start, Num)
            return Enumerate(inner_rebuilt, start)
        case Reversed(inner=inner):
            return Reversed(rebuild(inner, new))
        case Pullback(args=args) | Directional(args=args):
            again = rebuild(args, new)
            assert isinstance(again, TupleOf)
            return replace(binding, args=again)
    return binding


def _rebuilt_stage(stage: Stage, new: Iterator[Num | ArrayRef]) -> Stage:
    def operand() -> Operand:
        leaf = next(new)
        assert isinstance(leaf, Num)
        return leaf.operand

    dims = tuple(operand() for _ in stage.dims)
    if isinstance(stage, Reshape):
        return Reshape(dims, tuple(operand() for _ in stage.inner))
    axes: list[Axis] = []
    for axis in stage.axes:
        offset = operand()
        axes.append(Axis(offset, tuple((k, operand()) for k, _ in axis.terms)))
    return Window(dims, tuple(axes))


def _stage_shape(stage: Stage) -> object:
    """Return the part of a stage that must agree for two stages to join."""
    if isinstance(stage, Reshape):
        return ("reshape", len(stage.dims), len(stage.inner))
    return ("window", len(stage.dims), tuple(tuple(k for k, _ in a.terms) for a in stage.axes))


def shape_of(binding: Binding) -> object:
    """Return a hashable description of everything but the leaves: equal shapes can be joined."""
    match binding:
        case Num():
            return "num"
        case ArrayRef(object=obj, view=view, readonly=readonly):
            return ("array", obj.type, readonly, *(_stage_shape(stage) for stage in view))
        case TupleOf(items=items):
            return ("tuple", *(shape_of(item) for item in items))
        case RecordOf(keys=keys, items=items):
            return ("record", keys, *(shape_of(item) for item in items))
        case NamedTuple(cls=cls, record=record):
            return (cls, shape_of(record))
        case Cell(type=ty, sizes=sizes):
            return ("cell", ty, sizes)
        case Growing(element=element):
            return ("growing", shape_of(element))
        case Nested(cls=cls, contents=contents):
            return (cls, shape_of(contents))
        case Given(place=place):
            return ("given", place)
        case ListRef(slot=slot) | DictRef(slot=slot) | ObjectRef(slot=slot):
            return (type(binding).__name__, slot)
        case DictView(ref=ref, name=name):
            return (name, ref.slot)
        case Zip(inners=items):
            return ("zip", *(shape_of(item) for item in items))
        case Range():
            return "range"
        case Enumerate(inner=inner):
            return ("enumerate", shape_of(inner))
        case Reversed(inner=inner):
            return ("reversed", shape_of(inner))
        case Static(value=value, place=place):
            return ("static", type(value), _key(value), place)
        case Closure():
            return ("closure", id(binding.node))
        case Bound(owner=owner, name=name):
            return ("method", shape_of(owner), name)
        case Transformed(fn=fn, level=level):
            return (level, shape_of(fn))
        case Pullback(of=of, args=args) | Directional(of=of, args=args):
            return ("pullback", of, shape_of(args))
        case Unbound() | Unstable():
            return type(binding).__name__
        case Late():
            return ("late", id(binding))
    raise AssertionError(binding)


def _key(value: Any) -> object:
    return value if isinstance(value, str | int | float | bool | type(None)) else id(value)


def refs(binding: Binding) -> Iterator[Ref]:
    """Yield the lists, dicts and objects that a binding holds directly or in tuples."""
    match binding:
        case ListRef() | DictRef() | ObjectRef():
            yield binding
        case DictView(ref=ref):
            yield ref
        case TupleOf(items=items) | RecordOf(items=items) | Zip(inners=items):
            for item in items:
                yield from refs(item)
        case NamedTuple(record=record):
            yield from refs(record)
        case Enumerate(inner=inner) | Reversed(inner=inner):
            yield from refs(inner)


def is_slot(name: str) -> bool:
    """Whether a name of the state is the slot of a list, dict or object."""
    return name.startswith("$h")


def holders(env: dict[str, Binding], slot: str) -> list[str]:
    """Return the names through which a list, dict or object is reached."""
    return [name for name, binding in env.items() if any(r.slot == slot for r in refs(binding))]


def same_view(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two views differ in numbers only."""
    return [_stage_shape(s) for s in a.view] == [_stage_shape(s) for s in b.view]


def is_generator(binding: Binding) -> bool:
    return isinstance(binding, NamedTuple) and trees.is_generator_class(binding.cls)


def generator_of(words: ArrayRef) -> NamedTuple:
    """Return the generator whose state is an array."""
    words.object.words = True
    return NamedTuple(np.random.Generator, RecordOf(("words",), (words,)))


def one_type(a: Type, b: Type) -> bool:
    """Whether a variable may be a number of either type.

    Numbers of two kinds join by promotion. That would change what later arithmetic gives where
    NumPy wraps around or treats booleans in its own way: such variables are refused.
    """
    if a == b or not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        return True
    if "b" in (a.kind, b.kind):
        truth, other = (a, b) if a.kind == "b" else (b, a)
        return truth.weak or other.kind == "b"
    return a.weak or b.weak or "f" in (a.kind, b.kind)


def element_of(ref: ArrayRef) -> ArrayRef:
    """Return the one element of a vector as a 0-d array."""
    return ArrayRef(ref.object, (Window((), (Axis(integer(0), ()),)),))
