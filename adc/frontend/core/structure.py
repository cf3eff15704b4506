"""Bindings as trees: the numbers and arrays in them, their structure, and others in their place.

What joins at control flow are these leaves, where the structure is the same. The leaves of an inner
function are those of the variables that it reads; its code is structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Axis,
    Binding,
    Bound,
    Cell,
    Closure,
    DefaultRef,
    DequeRef,
    DictRef,
    DictView,
    Directional,
    Enumerate,
    Given,
    Growing,
    Itself,
    Knot,
    Late,
    ListRef,
    Maybe,
    NamedTuple,
    Nested,
    Num,
    ObjectRef,
    OneOf,
    Perhaps,
    Pullback,
    Range,
    RecordOf,
    Ref,
    Reshape,
    Reversed,
    Stage,
    Static,
    Super,
    Transformed,
    TupleOf,
    Unbound,
    Unstable,
    Window,
    Words,
    Zip,
)
from adc.ir.core import Operand


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


Items = TypeVar("Items", bound=TupleOf | RecordOf | Words | NamedTuple)


def with_items(binding: Items, change: Callable[[Binding], Binding]) -> Items:
    """Return a structure with what `change` returns in place of each of its items."""
    if isinstance(binding, NamedTuple):
        return replace(binding, record=with_items(binding.record, change))
    return replace(binding, items=tuple([change(item) for item in binding.items]))


def pieces(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the scalars, arrays and views in `binding`, left to right."""
    match binding:
        case Num() | ArrayRef():
            yield binding
        case TupleOf(items=items) | Zip(inners=items) | RecordOf(items=items) | Words(items=items):
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
        case Maybe(inner=inner, some=some):
            yield from pieces(inner)
            yield Num(some)
        case OneOf(items=items, which=which):
            for item in items:
                yield from pieces(item)
            yield Num(which)
        case Pullback(args=args) | Directional(args=args):
            yield from pieces(args)
        case Bound(owner=inner) | Super(owner=inner) | Transformed(fn=inner):
            yield from pieces(inner)
        case Closure():
            for _, part in parts_of(binding):
                yield from pieces(part)


def parts_of(closure: Closure) -> Iterator[tuple[str, Binding]]:
    """Yield what an inner function holds: variables of functions that are done, and defaults.

    Other variables are read in the functions around it, where it is called.
    """
    for frame in _closed(closure):
        yield from frame.env.items()
    yield from closure.defaults.items()


def _closed(closure: Closure) -> Iterator[Any]:
    frame = closure.scope
    while frame is not None and frame.closed:
        yield frame
        frame = frame.outer


def cells_of(element: Binding) -> Iterator[Cell]:
    """Yield the cells in the element of a `Growing`, left to right."""
    match element:
        case Cell():
            yield element
        case TupleOf(items=items) | RecordOf(items=items) | Words(items=items):
            for item in items:
                yield from cells_of(item)
        case NamedTuple(record=contents) | Nested(contents=contents):
            yield from cells_of(contents)
        case Among(which=which):
            yield which
        case Perhaps(inner=inner, some=some):
            yield from cells_of(inner)
            yield some


def with_cells(
    element: Binding,
    parts: Iterator[Binding],
    make: Callable[[type, TupleOf | RecordOf], Binding] = Nested,
) -> Binding:
    """Return the element of a `Growing` with its cells replaced, left to right.

    `make` makes the lists, dicts and objects in it.
    """

    def replaced(item: Binding) -> Binding:
        return with_cells(item, parts, make)

    match element:
        case Cell():
            return next(parts)
        case TupleOf() | Words() | NamedTuple():
            return with_items(element, replaced)
        case Nested(cls=cls, contents=contents):
            return make(cls, with_items(contents, replaced))
        case Perhaps(inner=inner):
            found, part = with_cells(inner, parts, make), next(parts)
            return (
                Maybe(found, part.operand)
                if isinstance(part, Num)
                else replace(
                    element, inner=found, some=part if isinstance(part, Cell) else element.some
                )
            )
        case Among(items=items):
            part = next(parts)
            if isinstance(part, Cell):
                return Among(items, part)
            if not isinstance(part, Num):
                return part
            return OneOf(items, part.operand) if len(items) > 1 else items[0]
    return element


def _same(ref: Ref) -> Ref:
    return ref


def rebuild(
    binding: Binding, new: Iterator[Num | ArrayRef], other: Callable[[Ref], Ref] = _same
) -> Binding:
    """Return `binding` with its leaves taken from `new`, left to right.

    `other` returns the list, dict or object that is to be in the place of one.
    """

    def rebuilt(part: Binding) -> Binding:
        return rebuild(part, new, other)

    match binding:
        case Num(array=array):
            leaf = next(new)
            return Num(leaf.operand, array) if isinstance(leaf, Num) and array else leaf
        case ArrayRef(view=view):
            base = next(new)
            assert isinstance(base, ArrayRef)
            stages = tuple(_rebuilt_stage(stage, new) for stage in view)
            return replace(binding, object=base.object, view=stages)
        case TupleOf() | RecordOf() | Words() | NamedTuple():
            return with_items(binding, rebuilt)
        case Growing(buffers=buffers, element=element):
            new_buffers, length = [next(new) for _ in buffers], next(new)
            assert isinstance(length, Num)
            again = _with_refs(element, other)
            return Growing(tuple(new_buffers), length, again)  # type: ignore[arg-type]  # arrays
        case Zip(inners=items):
            return Zip(tuple(rebuilt(item) for item in items))
        case Range():
            numbers = [next(new) for _ in range(3)]
            assert all(isinstance(n, Num) for n in numbers)
            return Range(*numbers)  # type: ignore[arg-type]
        case Enumerate(inner=inner):
            inner_rebuilt = rebuilt(inner)
            start = next(new)
            assert isinstance(start, Num)
            return Enumerate(inner_rebuilt, start)
        case Reversed(inner=inner):
            return Reversed(rebuilt(inner))
        case Maybe(inner=inner):
            inner, some = rebuilt(inner), next(new)
            assert isinstance(some, Num)
            return replace(binding, inner=inner, some=some.operand)
        case OneOf(items=items):
            items, which = tuple([rebuilt(item) for item in items]), next(new)
            assert isinstance(which, Num)
            return OneOf(items, which.operand)
        case Pullback(args=args) | Directional(args=args):
            again = rebuilt(args)
            assert isinstance(again, TupleOf)
            return replace(binding, args=again)
        case Bound(owner=inner) | Super(owner=inner):
            return replace(binding, owner=rebuilt(inner))
        case Transformed(fn=inner):
            return replace(binding, fn=rebuilt(inner))
        case Closure(scope=scope):
            frames = list(_closed(binding))
            envs = [{name: rebuilt(part) for name, part in each.env.items()} for each in frames]
            defaults = {name: rebuilt(part) for name, part in binding.defaults.items()}
            if frames:
                scope = frames[-1].outer
            for frame, env in zip(reversed(frames), reversed(envs), strict=True):
                scope = replace(frame, env=env, outer=scope)
            return replace(binding, scope=scope, defaults=defaults)
        case ListRef() | DictRef() | ObjectRef():
            return other(binding)
        case DictView(ref=ref):
            found = other(ref)
            assert isinstance(found, DictRef)
            return replace(binding, ref=found)
    return binding


def _with_refs(element: Binding, other: Callable[[Ref], Ref]) -> Binding:
    """Return the element of a `Growing` with others in the place of the objects in it."""
    match element:
        case Among(items=items):
            return replace(element, items=tuple(_with_refs(item, other) for item in items))
        case Perhaps(inner=inner):
            return replace(element, inner=_with_refs(inner, other))
        case ListRef() | DictRef() | ObjectRef():
            return other(element)
        case Bound(owner=owner):
            return replace(element, owner=_with_refs(owner, other))
        case TupleOf() | NamedTuple():
            return with_items(element, lambda item: _with_refs(item, other))
    return element


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
        case ArrayRef(object=obj, view=view, readonly=readonly, part=part):
            return ("array", obj.type, readonly, part, *(_stage_shape(stage) for stage in view))
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
        case Words(template=template, items=items, forms=forms):
            return ("words", template, forms, *(shape_of(item) for item in items))
        case Given(place=place):
            return ("given", place)
        case ObjectRef(slot=slot, cls=cls):
            return ("object", slot, cls)
        case DequeRef(slot=slot, maxlen=maxlen):
            return ("deque", slot, maxlen)
        case DefaultRef(slot=slot, factory=factory, keeps=keeps):
            return ("default", slot, shape_of(factory), keeps)
        case ListRef(slot=slot) | DictRef(slot=slot):
            return (type(binding).__name__, slot)
        case DictView(ref=ref, name=name):
            return (name, shape_of(ref))
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
        case Closure(scope=scope):
            for frame in _closed(binding):
                scope = frame.outer
            parts = tuple((name, shape_of(part)) for name, part in parts_of(binding))
            constants = tuple(
                (
                    name,
                    shape_of(part),
                    *(leaf.operand for leaf in pieces(part) if isinstance(leaf, Num)),
                )
                for name, part in binding.attributes.items()
            )
            return ("closure", id(binding.node), id(scope), parts, constants)
        case Bound(owner=owner, name=name, after=after):
            return ("method", shape_of(owner), name, id(after))
        case Super(owner=owner, after=after):
            return ("super", shape_of(owner), id(after))
        case Transformed(fn=fn, level=level):
            return (level, shape_of(fn))
        case Itself(key=key):
            return ("itself", key)
        case Knot(node=node):
            return ("knot", id(node))
        case Pullback(of=of, args=args) | Directional(of=of, args=args):
            return ("pullback", of, shape_of(args))
        case Unbound() | Unstable():
            return type(binding).__name__
        case Late():
            return ("late", id(binding))
        case Maybe(inner=inner, absent=absent):
            return ("maybe", shape_of(inner), shape_of(absent))
        case Perhaps(inner=inner):
            return ("perhaps", shape_of(inner))
        case OneOf(items=items) | Among(items=items):
            return ("one of", *(shape_of(item) for item in items))
    raise AssertionError(binding)


def _key(value: Any) -> object:
    if type(value) is frozenset:
        return frozenset((type(item), item) for item in value)
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
        case OneOf(items=items) | Among(items=items):
            for item in items:
                yield from refs(item)
        case NamedTuple(record=record):
            yield from refs(record)
        case Growing(element=element):
            yield from refs(element)
        case Enumerate(inner=inner) | Reversed(inner=inner) | Maybe(inner=inner):
            yield from refs(inner)
        case Perhaps(inner=inner):
            yield from refs(inner)
        case Bound(owner=inner) | Super(owner=inner) | Transformed(fn=inner):
            yield from refs(inner)
        case Closure():
            for _, part in parts_of(binding):
                yield from refs(part)


# What the slots of variables are called that inner functions write.
CELL = "$hcell."


def is_slot(name: str) -> bool:
    """Whether a name of the state is the slot of a list, dict or object."""
    return name.startswith("$h")


def is_cell(name: str) -> bool:
    """Whether a slot holds a variable that inner functions write (`Frame.cells`)."""
    return name.startswith(CELL)


def places_of(held: Binding) -> dict[Any, Binding]:
    """Return what a list, dict or object holds, by key or position."""
    match held:
        case RecordOf(keys=keys, items=items):
            return dict(zip(keys, items, strict=True))
        case TupleOf(items=items):
            return dict(enumerate(items))
    return {}


def with_place(held: Binding, key: Any, item: Binding) -> Binding:
    """Return what a list, dict or object holds with another item at a key or position."""
    if isinstance(held, RecordOf):
        return held.with_item(key, item)
    assert isinstance(held, TupleOf)
    return TupleOf((*held.items[:key], item, *held.items[key + 1 :]))


def holders(env: dict[str, Binding], slot: str) -> list[str]:
    """Return the names through which a list, dict or object is reached."""
    return [name for name, binding in env.items() if any(r.slot == slot for r in refs(binding))]


def same_view(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two views differ in numbers only."""
    shapes = [[_stage_shape(stage) for stage in ref.view] for ref in (a, b)]
    return shapes[0] == shapes[1] and a.part == b.part
