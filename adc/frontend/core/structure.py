"""Bindings as trees: the numbers and arrays in them, their structure, and others in their place.

What joins at control flow are these leaves, where the structure is the same. The leaves of an inner
function are those of the variables that it reads; its code is structure.
"""

from __future__ import annotations

import operator
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
    Handle,
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
    Pooled,
    Pullback,
    Pushforward,
    Range,
    RecordOf,
    Ref,
    Reshape,
    Reversed,
    Ruled,
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
from adc.ir.builder import integer
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


# Where bindings hold others, in order. Numbers may be operands there.
HELD: dict[type, tuple[str, ...]] = {
    TupleOf: ("items",),
    RecordOf: ("items",),
    Words: ("items",),
    NamedTuple: ("record",),
    Maybe: ("inner", "some"),
    OneOf: ("items", "which"),
    Growing: ("buffers", "length", "element"),
    Nested: ("contents",),
    Perhaps: ("inner", "some"),
    Among: ("items", "which"),
    Handle: ("row",),
    Pooled: ("row",),
    DictView: ("ref",),
    Range: ("start", "stop", "step"),
    Enumerate: ("inner", "start"),
    Zip: ("inners",),
    Reversed: ("inner",),
    Bound: ("owner",),
    Super: ("owner",),
    Transformed: ("fn",),
    Ruled: ("fn",),
    Pullback: ("args",),
    Pushforward: ("args",),
    Directional: ("args",),
}


def children(binding: Binding) -> Iterator[Binding]:
    """Yield what a binding holds, left to right: of a named tuple the items."""
    if isinstance(binding, Closure):
        yield from (part for _, part in parts_of(binding))
    for name in HELD.get(type(binding), ()):
        held = getattr(binding, name)
        if isinstance(held, tuple):
            yield from held
        elif name == "record":
            yield from held.items
        else:
            yield Num(held) if isinstance(held, Operand) else held


B = TypeVar("B", bound=Binding)


def with_children(binding: B, change: Callable[[Binding], Binding]) -> B:
    """Return a binding with what `change` returns in place of each of its children.

    It is the same one if all of them are.
    """

    def changed(name: str, held: Any) -> Any:
        if isinstance(held, tuple):
            items = tuple([change(item) for item in held])
            return held if all(map(operator.is_, items, held)) else items
        if isinstance(held, Operand):
            number = change(Num(held))
            assert isinstance(number, Num)
            return number.operand
        return with_children(held, change) if name == "record" else change(held)

    if isinstance(binding, Closure):
        return _with_parts(binding, change)  # type: ignore[return-value]
    old = {name: getattr(binding, name) for name in HELD.get(type(binding), ())}
    new = {name: changed(name, held) for name, held in old.items()}
    is_same = all(map(operator.is_, new.values(), old.values()))
    return binding if is_same else replace(binding, **new)


def side_by_side(a: Binding, b: Binding) -> list[tuple[Binding, Binding]] | None:
    """Return what two tuples or records of one kind hold at the same places; None for others."""
    match a, b:
        case TupleOf(), TupleOf() if len(a.items) == len(b.items):
            return list(zip(a.items, b.items, strict=True))
        case RecordOf(), RecordOf() if a.keys == b.keys:
            return list(zip(a.items, b.items, strict=True))
        case NamedTuple(), NamedTuple() if a.cls is b.cls:
            return side_by_side(a.record, b.record)
    return None


def pieces(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the scalars, arrays and views in `binding`, left to right."""
    left = [binding]
    while left:
        part = left.pop()
        if isinstance(part, Num | ArrayRef):
            yield part
        else:
            left += reversed(list(children(part)))


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


def _with_parts(closure: Closure, change: Callable[[Binding], Binding]) -> Closure:
    old = list(children(closure))
    new = [change(part) for part in old]
    if all(map(operator.is_, new, old)):
        return closure
    frames, scope, parts = list(_closed(closure)), closure.scope, iter(new)
    envs = [dict(zip(each.env, parts, strict=False)) for each in frames]
    if frames:
        scope = frames[-1].outer
    for frame, env in zip(reversed(frames), reversed(envs), strict=True):
        scope = replace(frame, env=env, outer=scope)
    return replace(closure, scope=scope, defaults=dict(zip(closure.defaults, parts, strict=True)))


def only_element(ref: ArrayRef) -> ArrayRef:
    """Return the one element of a vector as a 0-d array."""
    return ArrayRef(ref.object, (Window((), (Axis(integer(0), ()),)),))


def cells_of(element: Binding) -> Iterator[Cell]:
    """Yield the cells in the element of a `Growing`, left to right."""
    if isinstance(element, Cell):
        yield element
    for part in children(element):
        yield from cells_of(part)


def has_handles(element: Binding) -> bool:
    """Whether objects in a pool are in the elements of a `Growing`."""
    return isinstance(element, Handle) or any(map(has_handles, children(element)))


def with_cells(
    element: Binding,
    parts: Iterator[Binding],
    make: Callable[[Handle | type, TupleOf | RecordOf | Pooled], Binding] | None = None,
) -> Binding:
    """Return the element of a `Growing` with its cells replaced, left to right.

    `make` makes the lists, dicts and objects in it: those of a class, and those in a pool.
    """

    def replaced(item: Binding) -> Binding:
        return with_cells(item, parts, make)

    match element:
        case Cell():
            return next(parts)
        case Nested(cls=cls, contents=contents):
            inside = with_children(contents, replaced)
            return Nested(cls, inside) if make is None else make(cls, inside)
        case Handle(like=like, keys=keys):
            part = next(parts)
            if isinstance(part, Cell):
                return replace(element, row=part)
            assert isinstance(part, Num)
            held = Pooled(like.slot, keys, part, isinstance(like, ListRef))
            return held if make is None else make(element, held)
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
            items = tuple(replaced(item) if isinstance(item, Handle) else item for item in items)
            part = next(parts)
            if isinstance(part, Cell):
                return Among(items, part)
            if not isinstance(part, Num):
                return part
            return OneOf(items, part.operand) if len(items) > 1 else items[0]
    return with_children(element, replaced)


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
        case ListRef() | DictRef() | ObjectRef():
            return other(binding)
    return with_children(binding, rebuilt)


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
        case Handle(like=like, keys=keys):
            return ("handle", shape_of(like), keys)
        case Pooled(pool=pool, keys=keys):
            return ("pooled", pool, keys)
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
    """Yield the lists, dicts and objects that a binding holds, not those in others of them."""
    if isinstance(binding, Ref):
        yield binding
    for part in children(binding):
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
    """Return what a list, dict or object holds, or may be, by key or position."""
    match held:
        case Maybe(inner=OneOf(items=items)) | OneOf(items=items):
            return dict(enumerate(items))
        case RecordOf(keys=keys, items=items):
            return dict(zip(keys, items, strict=True))
        case TupleOf(items=items):
            return dict(enumerate(items))
    return {}


def with_place(held: Binding, key: Any, item: Binding) -> Binding:
    """Return what `places_of` is about, with another item at a key or position."""
    if isinstance(held, RecordOf):
        return held.with_item(key, item)
    if isinstance(held, Maybe):
        return replace(held, inner=with_place(held.inner, key, item))
    assert isinstance(held, TupleOf | OneOf)
    return replace(held, items=(*held.items[:key], item, *held.items[key + 1 :]))


def holders(env: dict[str, Binding], slot: str) -> list[str]:
    """Return the names through which a list, dict or object is reached."""
    return [name for name, binding in env.items() if any(r.slot == slot for r in refs(binding))]


def same_view(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two views differ in numbers only."""
    shapes = [[_stage_shape(stage) for stage in ref.view] for ref in (a, b)]
    return shapes[0] == shapes[1] and a.part == b.part
