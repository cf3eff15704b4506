"""What a loop is over: how many elements that has, and what gives the k-th."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adc.frontend.core import classes, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    ListRef,
    Num,
    Range,
    Reversed,
    SetRef,
    TupleOf,
    Zip,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.sizes import INDEX_BITS
from adc.frontend.core.structure import refs
from adc.frontend.language import generators
from adc.frontend.values import (
    elementwise,
    keyed,
    operators,
    sequences,
    views,
)
from adc.frontend.values.growing import pooled_lists
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import (
    TypeMismatchError,
)
from adc.ir.types import BOOL

Element = Callable[[Operand], Binding]


def most(lo: Lowerer, iterable: Binding) -> int | None:
    """Return how many elements an iterable has at most, if its kind of elements says so.

    ``zip(array, [a, b])`` has two or fewer, each of a kind of its own.
    """
    items = sequences.static_items(lo, iterable)
    if items is not None:
        return len(items)
    match iterable:
        case Enumerate(inner=inner):
            return most(lo, inner)
        case Zip(inners=inners):
            counts = [most(lo, inner) for inner in inners]
            return min((count for count in counts if count is not None), default=None)
    return None


def constant_length(iterable: Binding, trips: Operand) -> int | None:
    """Return how many elements arrays have, and what is made of them, if that is a constant."""
    match iterable:
        case ArrayRef():
            return int(trips.value) if isinstance(trips, Literal) else None
        case Enumerate(inner=inner) | Reversed(inner=inner):
            return constant_length(inner, trips)
        case Zip(inners=inners):
            known = all(
                constant_length(inner, trips) is not None or isinstance(inner, Range | TupleOf)
                for inner in inners
            )
            return int(trips.value) if known and isinstance(trips, Literal) else None
    return None


def counts(lo: Lowerer, iterable: Binding) -> dict[int, int]:
    """Return how many elements the parts of an iterable have before a loop, by identity."""
    items = sequences.static_items(lo, iterable)
    if items is not None:
        return {id(iterable): len(items)}
    parts = iterable.inners if isinstance(iterable, Zip) else ()
    parts = (iterable.inner,) if isinstance(iterable, Enumerate) else parts
    return {key: count for part in parts for key, count in counts(lo, part).items()}


def item(
    lo: Lowerer, iterable: Binding, k: int, counts: dict[int, int], node: ast.expr
) -> tuple[Operand, Callable[[], Binding]] | None:
    """Return whether an iterable has a k-th element, and what gives it; None after the last."""
    if id(iterable) in counts:
        constant = sequences.next_item(lo, iterable, k, counts[id(iterable)], node)
        return None if constant is None else (Literal(True, BOOL), lambda: constant)
    if most(lo, iterable) is None:
        trips, element = iteration(lo, iterable, node)
        inside = numbers.apply(lo, "lt", integer(k), trips)
        if isinstance(inside, Literal) and not inside.value:
            return None
        return inside, lambda: element(integer(k))
    if isinstance(iterable, Enumerate):
        found = item(lo, iterable.inner, k, counts, node)
        if found is None:
            return None
        number = Num(numbers.plus(lo, iterable.start.operand, integer(k)))
        return found[0], lambda: TupleOf((number, found[1]()))
    assert isinstance(iterable, Zip)
    both: Operand = Literal(True, BOOL)
    items: list[Callable[[], Binding]] = []
    for inner in iterable.inners:
        found = item(lo, inner, k, counts, node)
        if found is None:
            return None
        both = numbers.apply(lo, "and", both, found[0])
        items.append(found[1])
    return both, lambda: TupleOf(tuple([item() for item in items]))


def iteration(lo: Lowerer, iterable: Binding, node: ast.expr) -> tuple[Operand, Element]:
    """Return the trip count of an iterable and how to get its k-th element."""
    match iterable:
        case Range(start=start, stop=stop, step=step):
            return _range_iteration(lo, start.operand, stop.operand, step.operand)
        case ArrayRef():
            dims = views.dims_of(lo, iterable)
            if not dims:
                text = "iteration over a 0-d array"
                numbers.refuse(lo, text, node, "TypeError", text)
            return dims[0], lambda k: elementwise.load(lo, iterable, [k], node)
        case ListRef() if (place := pooled_lists.place_of(lo, iterable)) is not None:
            count = pooled_lists.row(lo, place)[1]
            return count, lambda k: pooled_lists.item(lo, place, k, count, node)
        case ListRef() if isinstance(held := lo.held(iterable), Growing):
            return held.length.operand, lambda k: lo.element(_grown(lo, iterable), k, node)
        case (DictRef() as ref) | DictView(ref=ref) if _is_table(lo, ref):
            return keyed.length(lo, ref), _of_table(lo, iterable, ref, node)
        case Enumerate(inner=inner, start=start):
            trips, element = iteration(lo, inner, node)
            first = start.operand

            def numbered(k: Operand) -> Binding:
                return TupleOf((Num(numbers.plus(lo, first, k)), element(k)))

            return trips, numbered
        case Zip(inners=inners) if inners:
            parts = [iteration(lo, inner, node) for inner in inners]
            trips = parts[0][0]
            for other, _ in parts[1:]:
                if isinstance(other, Literal) and isinstance(trips, Literal):
                    trips = integer(min(int(other.value), int(trips.value)))
                elif other != trips:
                    trips = lo.sizes.counts(lo.builder.apply("minimum", trips, other, hint="n"))
            return trips, lambda k: TupleOf(tuple(element(k) for _, element in parts))
        case Reversed(inner=inner):
            if classes.is_instance(inner):
                hint = "loop over that of the list or array that it holds"
                raise lo.unsupported(f"`reversed` of {kind_of(inner)}", node, hint)
            trips, element = iteration(lo, inner, node)
            last = numbers.plus(lo, trips, integer(-1))

            def backwards(k: Operand) -> Binding:
                return element(numbers.minus(lo, last, k))

            return trips, backwards
    if generators.of_object(lo, iterable) is not None:
        raise lo.unsupported(
            f"looping over {kind_of(iterable)} here", node, "give the object a name before"
        )
    if classes.is_instance(iterable):
        raise TypeMismatchError(
            f"cannot loop over {kind_of(iterable)}", lo.span(node),
            "give its class an `__iter__`, or loop over the list or array that it holds",
        )  # fmt: skip
    classes.require_iterable(lo, iterable, node)
    raise TypeMismatchError(
        f"cannot loop over {kind_of(iterable)}",
        lo.span(node),
        "loop over `sorted(...)` of it: the order of a set is not part of the program"
        if isinstance(iterable, SetRef) or operators.is_set(iterable)
        else "loop over a range, an array, a tuple, enumerate, zip or reversed",
    )


def _is_table(lo: Lowerer, ref: DictRef) -> bool:
    """Whether a dict has keys known only at run time; those of a set are in no certain order."""
    return not isinstance(ref, SetRef) and isinstance(lo.held(ref), Growing)


def _of_table(lo: Lowerer, iterable: Binding, ref: DictRef, node: ast.expr) -> Element:
    """Return how to get the k-th key, value or item of a table, as it is when a loop gets there."""
    which = iterable.name if isinstance(iterable, DictView) else "keys"
    trips = keyed.length(lo, ref)

    def element(k: Operand) -> Binding:
        held = lo.held(ref)
        assert isinstance(held, Growing)
        if held.length.operand != trips:
            raise lo.unsupported(
                "a dict whose length changes while a loop iterates over it", node,
                "loop over a copy, such as `list(...)`",
            )  # fmt: skip
        if which == "items":
            return lo.element(held, k, node)
        return lo.element(keyed.column(held, 0 if which == "keys" else 1), k, node)

    return element


def _grown(lo: Lowerer, ref: ListRef) -> Growing:
    held = lo.held(ref)
    assert isinstance(held, Growing)
    return held


def lengths(lo: Lowerer, iterable: Binding) -> list[Operand]:
    """Return the lengths of the lists that a loop is over, as they are now."""
    lists = [ref for ref in refs(iterable) if isinstance(ref, ListRef)]
    places = [pooled_lists.place_of(lo, ref) for ref in lists]
    found = [None if place else lo.held(ref) for ref, place in zip(lists, places, strict=True)]
    return [
        *(held.length.operand for held in found if isinstance(held, Growing)),
        *(pooled_lists.row(lo, place)[1] for place in places if place is not None),
    ]


def require_lengths(
    lo: Lowerer, iterable: Binding, before: Sequence[Operand], node: ast.AST
) -> None:
    """Refuse a loop of which an iteration changes the length of what it is over."""
    now = lengths(lo, iterable)
    in_pools = sum(
        pooled_lists.place_of(lo, ref) is not None
        for ref in refs(iterable)
        if isinstance(ref, ListRef)
    )
    known = len(now) - in_pools
    if len(before) != len(now) or now[:known] != list(before[:known]):
        raise lo.unsupported(
            "a list whose length changes while a loop iterates over it", node,
            "loop over a copy of it",
        )  # fmt: skip
    for first, last in zip(before[known:], now[known:], strict=True):
        pooled_lists.require_length(lo, first, last)


def _range_iteration(
    lo: Lowerer, start: Operand, stop: Operand, step: Operand
) -> tuple[Operand, Element]:
    trips: Operand
    if isinstance(step, Literal) and step.value == 1:
        zero_based = isinstance(start, Literal) and start.value == 0
        trips = stop if zero_based else numbers.minus(lo, stop, start)
        return trips, lambda k: Num(k if zero_based else numbers.plus(lo, start, k))
    ends = [end.value for end in (start, stop, step) if isinstance(end, Literal)]
    if len(ends) == 3:
        trips = integer(len(range(*(int(end) for end in ends))))
    else:
        trips = lo.sizes.counts(lo.builder.apply("trips", start, stop, step, hint="n"))
    bounded = max(lo.sizes.bits_of(start), lo.sizes.bits_of(stop)) <= INDEX_BITS

    def at(k: Operand) -> Binding:
        scaled = lo.builder.apply("mul", k, step)
        at_k = numbers.plus(lo, start, scaled)
        return Num(lo.sizes.counts(at_k) if bounded else at_k)

    return trips, at


def hold(lo: Lowerer, iterable: Binding) -> str:
    """Record that a loop holds its iterable, also if the name of the iterable is rebound."""
    held = f"$over{sum(name.startswith('$over') for name in lo.frame.env)}"
    lo.frame.env[held] = iterable
    return held
