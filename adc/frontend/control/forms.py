"""Forms: a common form for the two bindings of a name that join.

Two views join if they differ only in numbers, two arrays if they have the same dtype and rank, two
functions of the same code if the variables do that they read (`core.structure`). Other bindings are
adapted on each path: a whole array becomes a view of all its elements, a view of another kind is
copied, a 0-d array without another name becomes its number, and a number that is a 0-d array
elsewhere becomes an array that cannot be written. If Python would share memory where a copy is
made, a write to one of the two forbids reads of the other (`bindings.shares`). None joins with
anything: the result has a flag (`bindings.Maybe`). So does, where it is read later, a variable that
only one path assigns (`core.names`). Branches and loops are treated alike: the two paths of a loop
are the entry and the edge to the next iteration.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from adc.frontend.core import bindings, numbers, outside, strings
from adc.frontend.core.bindings import (
    NONE,
    UNSET,
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    DictView,
    Given,
    Growing,
    Itself,
    Knot,
    Late,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    Window,
    Words,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Frame
from adc.frontend.core.structure import (
    children,
    leaves,
    only_element,
    rebuild,
    refs,
    same_view,
    shape_of,
    side_by_side,
    with_children,
)
from adc.frontend.values import elementwise, keyed, optional, views
from adc.frontend.values.growing import list_buffers
from adc.ir.builder import zero
from adc.ir.core import Literal, Operand
from adc.ir.types import BOOL, INT, Array, Scalar

Change = Callable[[Binding, Binding], Binding]


class _Step(enum.Enum):
    """A step that converts a number or array towards the form of another."""

    READ = enum.auto()
    WINDOW = enum.auto()
    COPY = enum.auto()
    ELEMENT = enum.auto()
    BOX = enum.auto()


def paired(like: Binding, binding: Binding, change: Change) -> Binding:
    """Return `binding` with ``change(x, y)`` for each y in it that stands where `like` has x."""

    def inside(p: tuple[Binding, ...], q: tuple[Binding, ...]) -> tuple[Binding, ...]:
        return tuple(paired(x, y, change) for x, y in zip(p, q, strict=True))

    match like, binding:
        case (Num() | ArrayRef(), Num() | ArrayRef()) | (Static(), Static()):
            return change(like, binding)
        case Words(items=p), Words(items=q) if strings.are_alike(like, binding):
            return replace(binding, items=inside(p, q))
        case Maybe(inner=p), Maybe(inner=q):
            return replace(binding, inner=paired(p, q, change))
        case OneOf(items=p), OneOf(items=q) if len(p) == len(q):
            return replace(binding, items=inside(p, q))
        case RecordOf(), RecordOf() if like.keys != binding.keys:
            found = map(like.get, binding.keys)
            return with_children(
                binding,
                lambda part: part if (x := next(found)) is None else paired(x, part, change),
            )
        case _ if side_by_side(like, binding) is not None:
            there = children(like)
            return with_children(binding, lambda part: paired(next(there), part, change))
    return binding


def conformed(lo: Lowerer, like: Binding, binding: Binding, name: str) -> Binding:
    """Return the binding of `name`, in the form of `like` as far as possible."""

    def change(x: Binding, y: Binding) -> Binding:
        if _is_found_elsewhere(x, y):
            outside.pin(lo, x)
            outside.pin(lo, y)
            assert isinstance(y, Static)
            return Static(y.value)
        step = _needed(lo, x, y, name)
        if step is not None:
            assert isinstance(y, Num | ArrayRef)
            y = _taken(lo, step, y)
        if isinstance(y, ArrayRef) and _is_unsure(x, y):
            return replace(y, readonly=None)
        return y

    return paired(like, binding, change)


# -- what may be None, or unbound ------------------------------------------------------------------


def is_absent(binding: Binding) -> bool:
    """Whether something is None, or not assigned yet."""
    return any(_is(binding, absent) for absent in (NONE, UNSET))


def _is(binding: Binding, absent: Static) -> bool:
    return isinstance(binding, Static) and binding.value is absent.value


def is_optional(binding: Binding) -> bool:
    """Whether something is absent, or may be."""
    return isinstance(binding, Maybe) or is_absent(binding)


def absent_of(*found: Binding) -> Static:
    """Return what the first difference is in: whether they are unbound, or else None."""
    kinds = [x.absent if isinstance(x, Maybe) else x for x in found]
    return UNSET if any(_is(kind, UNSET) for kind in kinds) else NONE


def parts_of_optional(binding: Binding, absent: Static = NONE) -> tuple[Binding | None, Operand]:
    """Return what something is if it is not absent, and whether it is not."""
    if isinstance(binding, Maybe) and binding.absent == absent:
        return binding.inner, binding.some
    missing = _is(binding, absent)
    return None if missing else binding, Literal(not missing, BOOL)


def may_be_optional(binding: Binding) -> bool:
    """Whether a value may be one path's, where another has None."""
    return not isinstance(
        binding, Unbound | Unstable | Late | Given | Growing | DictView | Knot | Itself
    )


def optional_form(
    lo: Lowerer, start: Binding, end: Binding, varies: bool = False, keys: bool = True
) -> Binding | None:
    """Return a form for what is one or the other, if they differ in what may be absent.

    If it `varies`, the two may also be of different kinds, or different constants. Without `keys`,
    two dicts with different keys have none.
    """
    absent = absent_of(start, end)
    match start, end:
        case Maybe(inner=inner), _ if start.absent == absent:
            other, _ = parts_of_optional(end, absent)
            found = None if other is None else optional_form(lo, inner, other, varies)
            if found is None or not _may_be_inside(found):
                return None
            return replace(start, inner=found)
        case _ if (
            is_optional(start) != is_optional(end)
            or isinstance(end, Maybe)
            or (is_absent(start) and absent_of(start) != absent_of(end))
        ):
            (x, _), (y, _) = (parts_of_optional(each, absent) for each in (start, end))
            other = y if x is None else x
            if other is None or not may_be_optional(other):
                return None
            if not isinstance(other, Ref) and not _may_be_inside(other):
                return None
            return Maybe(other, Literal(True, BOOL), absent)
        case (TupleOf(items=p), TupleOf(items=q)) if len(p) == len(q):
            forms = _optional_forms(lo, p, q, varies)
            return None if forms is None else TupleOf(forms)
        case RecordOf(), RecordOf() if keys or start.keys == end.keys:
            names = keyed.merged(start, end)
            if names is None:
                return None
            p, q = (tuple(each.get(key) or UNSET for key in names) for each in (start, end))
            forms = _optional_forms(lo, p, q, varies)
            return None if forms is None else RecordOf(names, forms)
        case NamedTuple(cls=cls, record=p), NamedTuple(cls=other, record=q) if cls is other:
            record = optional_form(lo, p, q, varies)
            return NamedTuple(cls, record) if isinstance(record, RecordOf) else None
        case _ if varies or isinstance(start, OneOf):
            return _one_of_form(lo, start, end)
    return None


def _may_be_inside(binding: Binding) -> bool:
    """Whether nothing in a value has a slot, but for objects that it is one of."""
    items = binding.items if isinstance(binding, OneOf) else (binding,)
    return all(
        (isinstance(binding, OneOf) and isinstance(item, ObjectRef))
        or not any(True for _ in refs(item))
        for item in items
    )


def _optional_forms(
    lo: Lowerer, p: tuple[Binding, ...], q: tuple[Binding, ...], varies: bool
) -> tuple[Binding, ...] | None:
    found = [optional_form(lo, x, y, varies) for x, y in zip(p, q, strict=True)]
    if not any(found):
        return None
    return tuple(x if form is None else form for form, x in zip(found, p, strict=True))


def made_optional(lo: Lowerer, like: Binding, binding: Binding, *, known: bool) -> Binding:
    """Return a binding in the form of `like` as to what may be absent.

    What is absent has a value that is not read: that of `like` if it is `known` here.
    """

    inside = partial(made_optional, lo, known=known)

    match like, binding:
        case Maybe(inner=inner, absent=absent), _:
            found, some = parts_of_optional(binding, absent)
            if found is None:
                found = inner if known else unread(lo, inner)
            return Maybe(inside(inner, found), some, absent)
        case RecordOf(keys=keys), RecordOf() if set(binding.keys) <= set(keys):
            parts = [binding.get(key) or UNSET for key in keys]
            return RecordOf(keys, tuple(map(inside, like.items, parts)))
        case _ if side_by_side(like, binding) is not None:
            there = children(like)
            return with_children(binding, lambda part: inside(next(there), part))
        case OneOf(), _:
            return _made_one_of(lo, like, binding, known=known)
    return binding


# -- what is one of several ------------------------------------------------------------------------

# How many values a variable may be one of: each is a copy of what uses it.
MOST = 24


def items_of(binding: Binding) -> tuple[tuple[Binding, ...], Operand]:
    """Return what something may be, and the number of what it is."""
    if isinstance(binding, OneOf):
        return binding.items, binding.which
    return (binding,), Literal(0, INT)


def may_vary(binding: Binding, *, inside: bool = False) -> bool:
    """Whether something may be one of several values: it has a slot, or nothing in it has one.

    It is no None, which another mechanism is for, but may have it `inside`. There, it is not one
    of several itself: ``y = (y, x)`` in a loop would have no end.
    """
    match binding:
        case Num() | ArrayRef():
            return True
        case OneOf() | ListRef() | DictRef() | ObjectRef():
            return not inside
        case Static():
            return not is_absent(binding) or (inside and _is(binding, NONE))
        case Bound(owner=ObjectRef(), after=None):
            return not inside
        case TupleOf(items=items) | RecordOf(items=items) | Words(items=items):
            return all(may_vary(item, inside=True) for item in items)
        case NamedTuple(record=record):
            return not bindings.is_stateful(binding) and may_vary(record)
        case Maybe(inner=inner):
            return inside and binding.absent == NONE and may_vary(inner, inside=True)
    return False


def waits(lo: Lowerer, binding: Binding) -> bool:
    """Whether something is a list or dict, which are one of several in the last attempt only."""
    items = binding.items if isinstance(binding, OneOf) else (binding,)
    return not lo.shared.picks and any(isinstance(item, ListRef | DictRef) for item in items)


def alike(lo: Lowerer, x: Binding, y: Binding) -> bool:
    """Whether two values are of one kind, so that they join as they are, or conformed."""
    match x, y:
        case Num(operand=p), Num(operand=q):
            return bindings.one_type(p.type, q.type)
        case ArrayRef(), ArrayRef():
            return x.element.dtype == y.element.dtype and x.part == y.part and (
                _rank(x) == _rank(y)
            )  # fmt: skip
        case Words(), Words():
            return strings.are_alike(x, y)
        case Maybe(inner=p), Maybe(inner=q):
            return alike(lo, p, q)
        case Static(), Static():
            return shape_of(x) == shape_of(y) or _is_found_elsewhere(x, y)
        case ListRef(slot=p) | DictRef(slot=p) | ObjectRef(slot=p), (
            ListRef(slot=q) | DictRef(slot=q) | ObjectRef(slot=q)
        ):
            return type(x) is type(y) and (p == q or lo.are_in_one_pool(p, q))
        case Bound(), Bound():
            return shape_of(x) == shape_of(y)
    parts = side_by_side(x, y)
    return parts is not None and all(alike(lo, p, q) for p, q in parts)


def _rank(ref: ArrayRef) -> int:
    return len(ref.view[0].dims) if ref.view else ref.object.type.rank


def places_in(lo: Lowerer, items: Sequence[Binding], others: Sequence[Binding]) -> list[int | None]:
    """Return which of `items` each of `others` may be, if any is of its kind."""
    return [
        next((k for k, item in enumerate(items) if alike(lo, item, other)), None)
        for other in others
    ]


def _one_of_form(lo: Lowerer, start: Binding, end: Binding) -> Binding | None:
    """Return a form for what is one or the other, if they are of different kinds."""
    if not (may_vary(start) and may_vary(end)):
        return None
    (items, _), (others, _) = items_of(start), items_of(end)
    more = [
        other for other, k in zip(others, places_in(lo, items, others), strict=True) if k is None
    ]  # fmt: skip
    if not more or len(items) + len(more) > MOST:
        return None
    return OneOf((*items, *more), Literal(0, INT))


def _made_one_of(lo: Lowerer, like: OneOf, binding: Binding, *, known: bool) -> Binding:
    """Return a binding as one of what `like` may be; what it is not is not read."""
    if not may_vary(binding):
        return binding
    items, which = items_of(binding)
    places = places_in(lo, like.items, items)
    if None in places or len(set(places)) < len(places):
        return binding  # it is not in the form of `like` yet
    made = [
        items[places.index(k)] if k in places else (item if known else unread(lo, item))
        for k, item in enumerate(like.items)
    ]
    return OneOf(tuple(made), optional.renumbered(lo, which, [k for k in places if k is not None]))


def unread(lo: Lowerer, like: Binding) -> Binding:
    """Return numbers and arrays like those in a binding, for a path on which they are not read.

    An array that is there on this path is that array: another one might be an alias of it.
    """
    made: list[Num | ArrayRef] = []
    for leaf in leaves(like):
        if isinstance(leaf, Num):
            made.append(Num(zero(numbers.scalar_type(leaf.operand))))
            continue
        if leaf.object in lo.versions:
            made.append(leaf)
            continue
        ty = Array(leaf.object.type.dtype, leaf.object.type.rank)
        version = lo.builder.apply("undef", params=(str(ty),), hint=leaf.object.name)
        # Sizes that are constants stay so where it meets arrays that are read.
        dims = tuple(
            size
            if isinstance(size, Literal)
            else lo.sizes.counts(
                lo.builder.apply("dim", version, params=(axis,), hint=f"{leaf.object.name}.dim")
            )
            for axis, size in enumerate(lo.dims[leaf.object])
        )
        made.append(lo.new_array(version, dims, leaf.object.name))
    return rebuild(like, iter(made))


def conforms(lo: Lowerer, like: Binding, binding: Binding, name: str) -> bool:
    """Whether `conformed` would leave a binding as it is."""
    found: list[bool] = []

    def note(x: Binding, y: Binding) -> Binding:
        changed = _needed(lo, x, y, name) is not None
        found.append(changed or _is_unsure(x, y) or _is_found_elsewhere(x, y))
        return y

    paired(like, binding, note)
    return not any(found)


def _is_found_elsewhere(x: Binding, y: Binding) -> bool:
    """Whether both are one object, such as a function, with two places."""
    if not (isinstance(x, Static) and isinstance(y, Static)):
        return False
    return x.value is y.value and x.place != y.place and y.place is not None


def _is_unsure(x: Binding, y: Binding) -> bool:
    """Whether the path decides if an array is writable, and `y` does not record that."""
    if not (isinstance(x, ArrayRef) and isinstance(y, ArrayRef)):
        return False
    return x.readonly != y.readonly and y.readonly is not None


def _needed(lo: Lowerer, x: Binding, y: Binding, name: str) -> _Step | None:
    """Return the steps that convert `y` to the form of `x`."""
    if isinstance(x, ArrayRef) and isinstance(y, Num) and not views.dims_of(lo, x):
        boxed = is_shared(lo, x.object, name) and y.operand.type.dtype == x.object.type.dtype
        return _Step.BOX if boxed else None
    if not isinstance(y, ArrayRef):
        return None
    if isinstance(x, Num):
        alone = not views.dims_of(lo, y) and not is_shared(lo, y.object, name)
        return _Step.READ if alone else None
    assert isinstance(x, ArrayRef)
    if y.view and y.object.kept and x.object is not y.object:
        return _Step.ELEMENT  # joined, a view would keep the whole buffer for one element
    if not same_view(x, y):
        if _is_window_of_all(lo, x, y):
            return _Step.WINDOW
        # A copy of one element is such a view again.
        made = bool(y.view) and same_view(y, only_element(y))
        if y.view and not made and not _is_window_of_all(lo, y, x):
            return _Step.COPY
    return None


def _is_window_of_all(lo: Lowerer, view: ArrayRef, ref: ArrayRef) -> bool:
    """Whether `view` shows a whole array unchanged, like `ref`."""
    if ref.view or len(view.view) != 1 or not isinstance(view.view[0], Window):
        return False
    return same_view(view, views.as_window(lo, ref))


def _taken(lo: Lowerer, step: _Step, found: Num | ArrayRef) -> Num | ArrayRef:
    if isinstance(found, Num):
        strong = Scalar(numbers.scalar_type(found.operand).dtype)
        made = elementwise.boxed(lo, lo.exact(found.operand, strong), strong.dtype)
        return replace(made, readonly=None)  # a number is rebound where an array is changed
    if step is _Step.READ:
        return Num(elementwise.lazy(lo, found, None).element([]))
    if step is _Step.WINDOW:
        return views.as_window(lo, found)
    if step is _Step.ELEMENT:
        return list_buffers.element_copy(lo, found)
    made = elementwise.copy(lo, found, None)
    shares(made.object, found.object)
    return replace(made, readonly=found.readonly)


def is_shared(lo: Lowerer, obj: ArrayObject, name: str) -> bool:
    """Whether anything but a name of the current function may be an array, or hold it."""
    if obj.alias:
        return True
    frame: Frame | None = lo.frame
    skipped = name
    while frame is not None:
        for other, binding in frame.env.items():
            if other != skipped and any(
                isinstance(leaf, ArrayRef) and leaf.object is obj for leaf in leaves(binding)
            ):
                return True
        frame, skipped = frame.caller, ""
    return False


def joinable(a: Binding, b: Binding) -> bool:
    """Whether two bindings join as they are."""
    if isinstance(a, Num) and isinstance(b, Num):
        return bindings.one_type(a.operand.type, b.operand.type)
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        return same_view(a, b) and (a.object.type.dtype, a.object.type.rank) == (
            b.object.type.dtype,
            b.object.type.rank,
        )
    if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.items) == len(b.items):
        return all(joinable(x, y) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Words) and isinstance(b, Words):
        return strings.are_alike(a, b) and joinable(TupleOf(a.items), TupleOf(b.items))
    if isinstance(a, RecordOf) and isinstance(b, RecordOf) and a.keys == b.keys:
        return all(joinable(x, y) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Maybe) and isinstance(b, Maybe):
        return joinable(a.inner, b.inner)
    if isinstance(a, NamedTuple) and isinstance(b, NamedTuple) and a.cls is b.cls:
        return joinable(a.record, b.record)
    if isinstance(a, Growing) and isinstance(b, Growing):
        return a.element == b.element
    return shape_of(a) == shape_of(b) and type(a) is type(b)


def difference(a: Binding, b: Binding) -> tuple[str, str, str]:
    """Say how the contents of two lists, dicts or objects differ: a verb, and what they are.

    Of those with the same keys it is what one of the keys has.
    """
    if isinstance(a, RecordOf) and isinstance(b, RecordOf) and a.keys == b.keys:
        for key, x, y in zip(a.keys, a.items, b.items, strict=True):
            if not joinable(x, y) and kind_of(x) != kind_of(y):
                return f"has as {key!r}", kind_of(x), kind_of(y)
    if isinstance(a, RecordOf) and isinstance(b, RecordOf) and set(a.keys) == set(b.keys):
        if a.keys != b.keys:
            first, second = (", ".join(map(repr, held.keys)) for held in (a, b))
            return "has keys in the order", first, second
        for key, x, y in zip(a.keys, a.items, b.items, strict=True):
            if isinstance(x, Static) and isinstance(y, Static) and x.value is not y.value:
                return f"has as {key!r}", repr(x.value), repr(y.value)
    first, second = (
        kind_of(held).replace("tuple", "list") if isinstance(held, TupleOf) else kind_of(held)
        for held in (a, b)
    )
    return "is", first, second
