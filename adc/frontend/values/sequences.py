"""The elements of iterables whose length is a compile-time constant."""

from __future__ import annotations

import ast
import enum
import itertools
from collections.abc import Callable, Iterator, Sequence

from adc.frontend.core import classes, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    Range,
    Reversed,
    SetRef,
    Static,
    TupleOf,
    Zip,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import ConstantNeededError, PickedError
from adc.frontend.values import elementwise, keyed, views
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import UnsupportedError

Reader = Callable[[int], Binding | None]


def as_tuple(lo: Lowerer, binding: Binding) -> Binding:
    """Return a tuple of the elements of a list, dict view or named tuple; else it unchanged."""
    if isinstance(binding, DictView):
        items = static_items(lo, binding)
        return binding if items is None else TupleOf(tuple(items))
    if isinstance(binding, ListRef) and not isinstance(lo.held(binding), Growing):
        return TupleOf(lo.contents(binding))
    if isinstance(binding, NamedTuple) and issubclass(binding.cls, tuple):
        return TupleOf(binding.record.items)
    return binding


def length(lo: Lowerer, binding: Binding) -> int:
    match binding:
        case ListRef():
            return len(lo.contents(binding))
        case NamedTuple(record=record):
            return len(record.keys)
    raise AssertionError(binding)


def static_items(lo: Lowerer, iterable: Binding) -> list[Binding] | None:
    """Return the elements of an iterable of constant length, or None."""
    match iterable:
        case TupleOf(items=items):
            return list(items)
        case ListRef():
            return None if isinstance(lo.held(iterable), Growing) else list(lo.contents(iterable))
        case SetRef() if (members := keyed.members_of(lo, iterable)) is not None:
            return static_items(lo, members)  # by identity, Python's order is any
        case SetRef():
            known = keyed.frozen(lo, iterable)
            if known is None or not _ascends(known.value):
                return None
            lo.note_order(iterable.slot)
            return static_items(lo, known)
        case DictRef() if not keyed.is_static(lo, iterable):
            return None
        case DictRef():
            return [static(key) for key in lo.record(iterable).keys]
        case DictView(ref=ref) if not keyed.is_static(lo, ref):
            return None
        case DictView(ref=ref, name=name):
            record = lo.record(ref)
            if name == "keys":
                return [static(key) for key in record.keys]
            if name == "values":
                return list(record.items)
            pairs = zip(record.keys, record.items, strict=True)
            return [TupleOf((static(key), value)) for key, value in pairs]
        case NamedTuple(cls=cls, record=record) if issubclass(cls, tuple):
            if classes.find(lo, iterable, "__iter__") is not None:
                raise UnsupportedError(
                    f"`__iter__` of {kind_of(iterable)} is not supported", lo.builder.loc
                )
            return list(record.items)
        case Static(value=value) if isinstance(value, str):
            return [Static(letter) for letter in value]
        case Static(value=frozenset() as value) if _ascends(value):
            return [static(item) for item in sorted(value)]
        case Static(value=value) if isinstance(value, type) and issubclass(value, enum.Enum):
            return [Static(member) for member in value]
        case Static(value=value) if classes.is_opaque(value):
            raise classes.refused(lo, value)
        case Enumerate(inner=inner, start=Num(operand=Literal(value=start))):
            found = static_items(lo, inner)
            if found is None:
                return None
            return [TupleOf((Num(integer(int(start) + k)), x)) for k, x in enumerate(found)]
        case Reversed(inner=inner):
            found = static_items(lo, inner)
            return None if found is None else found[::-1]
        case Zip(inners=inners):
            parts = [static_items(lo, inner) for inner in inners]
            if all(part is not None for part in parts):
                rows = zip(*(part or [] for part in parts), strict=False)
                return [TupleOf(row) for row in rows]
    return None


def _ascends(elements: frozenset[object]) -> bool:
    """Whether Python goes through a set in ascending order, however the set was made.

    So it does where the table of a set has a place for each number of its own. At its smallest, a
    table of `size` has room for less than 3/5 of that.
    """
    known = [each for each in elements if isinstance(each, int) and not isinstance(each, bool)]
    if len(known) < len(elements):
        return False
    size = 8
    while (size - 1) * 3 <= 5 * len(elements):
        size *= 2
    return all(0 <= each < size for each in known)


def next_item(lo: Lowerer, iterable: Binding, k: int, count: int, node: ast.AST) -> Binding | None:
    """Return the k-th element of an iterable, or None after the last.

    Lists and dicts are read when a loop comes to the element; `count` is how many elements there
    were when it began.
    """
    items = static_items(lo, iterable)
    if items is None or (len(items) != count and _keeps_length(iterable)):
        raise lo.unsupported(
            "a container whose length changes while a loop iterates over it",
            node,
            "loop over a copy, such as `list(...)`",
        )
    if k > numbers.MAX_TUPLE:
        raise lo.unsupported("a loop over a list that the loop extends without end", node)
    return items[k] if k < len(items) else None


def _keeps_length(iterable: Binding) -> bool:
    """Whether Python, too, cannot loop over it while its length changes."""
    match iterable:
        case DictRef() | DictView() | Reversed():
            return True
        case Enumerate(inner=inner):
            return _keeps_length(inner)
        case Zip(inners=inners):
            return any(map(_keeps_length, inners))
    return False


# A loop or a comprehension over at most this many constants has a copy of its body for each, if it
# would be refused otherwise.
MAX_UNROLLED = 32
# The most copies of it, where nothing else helps.
MAX_COPIES = 256
# A comprehension over at most this many constants is taken apart while lowering.
UNROLLED = 16


def static_range(iterable: Binding) -> list[Binding] | None:
    """Return the numbers of a range of constants, for where a loop would not do.

    Or those of one that is reversed, numbered, or zipped with others.
    """
    match iterable:
        case Range(start=start, stop=stop, step=step):
            ends = [end.operand for end in (start, stop, step)]
            known = [int(end.value) for end in ends if isinstance(end, Literal)]
            if len(known) == len(ends):
                values = range(*known)
                if len(values) <= numbers.MAX_TUPLE:
                    return [Num(integer(k)) for k in values]
        case Reversed(inner=inner):
            found = static_range(inner)
            return None if found is None else found[::-1]
        case Enumerate(inner=inner, start=Num(operand=Literal(value=first))):
            found = static_range(inner)
            if found is not None:
                return [TupleOf((Num(integer(int(first) + k)), x)) for k, x in enumerate(found)]
        case Zip(inners=inners) if inners:
            parts = [part for part in map(static_range, inners) if part is not None]
            if len(parts) == len(inners):
                return [TupleOf(row) for row in zip(*parts, strict=False)]
    return None


def numbers_of(lo: Lowerer, iterable: Binding) -> tuple[Num, ...]:
    """Return the numbers that decide how many elements a range, an array or a zip of them has."""
    match iterable:
        case Range(start=start, stop=stop, step=step):
            return start, stop, step
        case ArrayRef() | Lazy():
            return tuple(map(Num, views.dims_of(lo, iterable)[:1]))
        case Enumerate(inner=inner) | Reversed(inner=inner):
            return numbers_of(lo, inner)
        case Zip(inners=inners):
            return tuple(number for inner in inners for number in numbers_of(lo, inner))
    return ()


def require_constants(lo: Lowerer, iterable: Binding, what: str, node: ast.AST) -> None:
    """Raise an error that makes integers and sizes of arguments constants, if that helps."""
    for number in numbers_of(lo, iterable):
        if isinstance(number.operand, Value):
            error = lo.constant_needed(number, what, node)
            if isinstance(error, ConstantNeededError):
                raise error


def static_sequence(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...]:
    """Return the elements of a binding of constant length, or raise."""
    items = known_elements(lo, binding, node)
    if items is None:
        if classes.is_instance(binding):
            raise lo.unsupported(f"the elements of {kind_of(binding)} (`__iter__`)", node)
        require_constants(lo, binding, "a length", node)
        classes.require_iterable(lo, binding, node)
        # Where a loop makes the list longer, it is known in a copy of the body for each iteration.
        raise PickedError(
            f"unpacking {kind_of(binding)} of a length known only at run time is not supported",
            lo.span(node),
            "name its elements first, `a, b, c = ...`, or pass it as it is",
        )
    return items


def known_elements(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...] | None:
    """Return the elements of a binding, or None if their number is known only at run time."""
    read = reader(lo, binding, node)
    return None if read is None else tuple(_elements(read))


def one_by_one(lo: Lowerer, binding: Binding, node: ast.AST) -> Iterator[Binding]:
    """Yield the elements of a binding of constant length, each read when it is asked for.

    What is done with one of them may change those that follow.
    """
    read = reader(lo, binding, node)
    return iter(static_sequence(lo, binding, node)) if read is None else _elements(read)


def _elements(read: Reader) -> Iterator[Binding]:
    for k in itertools.count():
        item = read(k)
        if item is None:
            return
        yield item


def reader(lo: Lowerer, binding: Binding, node: ast.AST) -> Reader | None:
    """Return what reads the k-th element of a binding, or gives None after the last.

    None if the number of elements is known only at run time.
    """
    items = static_items(lo, binding)
    if items is not None:
        count = len(items)
        return lambda k: next_item(lo, binding, k, count, node)
    found = static_range(binding)
    if found is not None:
        return lambda k: found[k] if k < len(found) else None
    match binding:
        case ArrayRef() | Lazy():
            return _of_array(lo, binding, node)
        case Reversed(inner=ArrayRef() | Lazy() as inner):
            return _of_array(lo, inner, node, backwards=True)
        case Enumerate(inner=inner, start=start):
            return _with_numbers(lo, reader(lo, inner, node), start.operand)
        case Zip(inners=inners) if inners:
            return _together([reader(lo, inner, node) for inner in inners])
    return None


def _of_array(
    lo: Lowerer, array: ArrayRef | Lazy, node: ast.AST, backwards: bool = False
) -> Reader | None:
    size = next(iter(views.dims_of(lo, array)), None)
    if not isinstance(size, Literal):
        return None
    count = int(size.value)

    def read(k: int) -> Binding | None:
        at = integer(count - 1 - k if backwards else k)
        return elementwise.load(lo, array, [at], node) if k < count else None

    return read


def _with_numbers(lo: Lowerer, read: Reader | None, start: Operand) -> Reader | None:
    if read is None:
        return None

    def numbered(k: int) -> Binding | None:
        item = read(k)
        return None if item is None else TupleOf((Num(numbers.plus(lo, start, integer(k))), item))

    return numbered


def _together(readers: Sequence[Reader | None]) -> Reader | None:
    """Return what reads the k-th elements of all, as `zip` does: in turn, up to the first end."""
    known = [read for read in readers if read is not None]
    if len(known) < len(readers):
        return None

    def together(k: int) -> Binding | None:
        row: list[Binding] = []
        for read in known:
            item = read(k)
            if item is None:
                return None
            row.append(item)
        return TupleOf(tuple(row))

    return together
