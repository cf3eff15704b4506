"""Structures in `adc.vmap`: elements of arguments, and room for results (`library.batches`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adc.frontend.core import dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import library
from adc.frontend.values import arguments, elementwise, objects, structures, views
from adc.ir.core import Literal, Operand
from adc.ir.errors import ArgumentError, TypeMismatchError
from adc.ir.types import Scalar
from adc.library import batches

# Options that decide nothing inside code.
IGNORED = ("cache", "progress", "target", "deterministic", "parallel")


def lowered(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``adc.vmap(fn, in_axes, out_axes)``."""
    named = {key: value for key, value in kwargs.items() if key not in IGNORED}
    names = ("fn", "in_axes", "out_axes")
    given = arguments.by_name(lo, "adc.vmap", names, args, named, node)
    if not given.keys() <= set(names) or "fn" not in given:
        raise TypeMismatchError("adc.vmap() does not take these arguments", lo.span(node))
    axes: list[Binding] = []
    for name in names[1:]:
        value = _constant(lo, given.get(name, static(0)), node)
        try:
            axes.append(static(batches.encoded(value)))
        except TypeError:
            raise ArgumentError(
                f"{name} of adc.vmap() is not a number, None, or a tuple, list or dict of them",
                lo.span(node),
            ) from None
    return _run(lo, batches.over, [given["fn"], *axes], node)


def _constant(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    """Return axes that are constants."""
    match binding:
        case TupleOf(items=items):
            return tuple(_constant(lo, item, node) for item in items)
        case ListRef():
            return [_constant(lo, item, node) for item in lo.contents(binding)]
        case DictRef():
            record = lo.record(binding)
            values = (_constant(lo, item, node) for item in record.items)
            return dict(zip(record.keys, values, strict=True))
        case Num(operand=Literal(value=value)) | Static(value=value):
            return value
    raise lo.unsupported("an axis that is not a constant", node, "write it as a constant")


class _Axes:
    """The axes of a part of a structure: one for all of it, or those of its parts."""

    def __init__(self, of: Any, words: str) -> None:
        self.of, self.words = of, words

    def parts(self, lo: Lowerer, binding: Binding, keys: Sequence[Any], node: ast.AST) -> list[Any]:
        """Return the axes of the parts of a structure, which have these keys."""
        if not isinstance(self.of, tuple):
            return [self] * len(keys)
        kind, *found = self.of
        named = kind == "dict"
        known = dict(found) if named else dict(enumerate(found))
        right = isinstance(binding, DictRef) if named else isinstance(binding, TupleOf | ListRef)
        if not right or set(known) != set(keys):
            raise ArgumentError(
                f"{self.words} has axes of a {kind} of {len(known)} for {kind_of(binding)}",
                lo.span(node), "give the axes in the structure of what they are for",
            )  # fmt: skip
        return [_Axes(known[key], self.words) for key in keys]

    def own(self, lo: Lowerer, rank: int, what: str, node: ast.AST) -> int | None:
        """Return the axis of an array of this rank, or None."""
        if isinstance(self.of, tuple):
            raise ArgumentError(
                f"{self.words} has a {self.of[0]} of axes for {what}", lo.span(node),
                "give a number, or None",
            )  # fmt: skip
        if self.of is None:
            return None
        if not -rank <= self.of < rank:
            raise ArgumentError(
                f"{self.words} has the axis {self.of} for {what}", lo.span(node),
                "give an axis that it has, or None for what is the same for all elements",
            )  # fmt: skip
        return int(self.of) % rank


Leaf = Callable[[Num | ArrayRef, _Axes], Binding]


def _each(lo: Lowerer, given: Binding, axes: _Axes, node: ast.AST, leaf: Leaf) -> Binding:
    """Return a structure with what `leaf` returns for its numbers and arrays."""
    binding = elementwise.materialised(lo, outside.opened(lo, given), node)
    if axes.of is None:
        return binding
    match binding:
        case Num() | ArrayRef():
            return leaf(binding, axes)
        case TupleOf(items=items):
            inner = axes.parts(lo, binding, range(len(items)), node)
            return TupleOf(_all(lo, items, inner, node, leaf))
        case NamedTuple(cls=cls, record=record):
            inner = axes.parts(lo, binding, record.keys, node)
            return NamedTuple(cls, RecordOf(record.keys, _all(lo, record.items, inner, node, leaf)))
        case ListRef() | DictRef() | ObjectRef():
            held = lo.held(binding)
            if isinstance(held, Growing):
                raise lo.unsupported(
                    "`vmap` of a list whose length is not known", node, "make an array of it"
                )
            assert isinstance(held, TupleOf | RecordOf)
            keys = held.keys if isinstance(held, RecordOf) else range(len(held.items))
            found = _all(lo, held.items, axes.parts(lo, binding, keys, node), node, leaf)
            new = RecordOf(held.keys, found) if isinstance(held, RecordOf) else TupleOf(found)
            return structures.new_ref(lo, binding, new)
        case Static():
            return binding
    raise lo.unsupported(
        f"`vmap` of {kind_of(binding)}", node, "pass arrays, or structures of them"
    )


def _all(
    lo: Lowerer, items: Sequence[Binding], axes: Sequence[_Axes], node: ast.AST, leaf: Leaf
) -> tuple[Binding, ...]:
    return tuple([_each(lo, item, own, node, leaf) for item, own in zip(items, axes, strict=True)])


def _arguments(
    lo: Lowerer, given: Sequence[Binding], node: ast.AST
) -> Iterator[tuple[Binding, _Axes]]:
    """Yield the arguments by position, with their axes, and the dict of the others."""
    axes, args, kwargs = given
    of = _decoded(axes)
    assert isinstance(args, TupleOf)
    if isinstance(of, tuple):
        kind, *each = of
        if kind == "dict" or len(each) != len(args.items):
            raise ArgumentError(
                f"`in_axes` of vmap has {len(each)} parts for {len(args.items)} arguments",
                lo.span(node), "give one for each argument, or one number for all",
            )  # fmt: skip
    else:
        each = [of] * len(args.items)
    for arg, own in zip(args.items, each, strict=True):
        yield arg, _Axes(own, "`in_axes` of vmap")
    yield kwargs, _Axes(0, "`in_axes` of vmap")


def _decoded(axes: Binding) -> Any:
    """Return axes as they are in `_Axes`: one axis as it is."""
    if isinstance(axes, TupleOf):
        found = tuple(_decoded(item) for item in axes.items)
        return found[1] if found[0] == "axis" else found
    return None if axes == NONE else objects.constant_of(axes)


def _rank(leaf: Num | ArrayRef, lo: Lowerer) -> int:
    return 0 if isinstance(leaf, Num) else views.rank_of(lo, leaf)


def _count(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    sizes: list[Operand] = []

    def size(leaf: Num | ArrayRef, axes: _Axes) -> Binding:
        axis = axes.own(lo, _rank(leaf, lo), kind_of(leaf), node)
        if axis is not None:
            assert isinstance(leaf, ArrayRef)
            sizes.append(views.dims_of(lo, leaf)[axis])
        return leaf

    for arg, axes in _arguments(lo, args, node):
        _each(lo, arg, axes, node, size)
    if not sizes:
        raise ArgumentError(
            "vmap has no array with an axis", lo.span(node),
            "pass an array whose axis in `in_axes` is not None",
        )  # fmt: skip
    first = sizes[0]
    for other in sizes[1:]:
        if not lo.sizes.same_size(first, other):
            same = lo.builder.apply("eq", first, other)
            message = "vmap over axes of different sizes, {} and {}"
            lo.builder.check(same, "ValueError", message, first, other)
    return Num(first)


def _element(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    *given, k = args

    def part(leaf: Num | ArrayRef, axes: _Axes) -> Binding:
        axis = axes.own(lo, _rank(leaf, lo), kind_of(leaf), node)
        return leaf if axis is None else _run(lo, batches.part, [leaf, static(axis), k], node)

    found = [_each(lo, arg, axes, node, part) for arg, axes in _arguments(lo, given, node)]
    return TupleOf((TupleOf(tuple(found[:-1])), found[-1]))


def _started(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    outs, first, count = args

    def rows(leaf: Num | ArrayRef, axes: _Axes) -> Binding:
        axes.own(lo, _rank(leaf, lo) + 1, f"a result, {kind_of(leaf)}", node)
        return _run(lo, batches.rows, [leaf, count], node)

    return _each(lo, first, _Axes(_decoded(outs), "`out_axes` of vmap"), node, rows)


def _put(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    outs, results, k, found = args
    _write(lo, _Axes(_decoded(outs), ""), results, k, found, node)
    return NONE


def _write(
    lo: Lowerer, axes: _Axes, results: Binding, k: Binding, given: Binding, node: ast.Call
) -> None:
    """Write the result of an element to its place in a structure of results."""
    found = elementwise.materialised(lo, given, node)
    match results, found:
        case (Num() | ArrayRef(), Num() | ArrayRef()) if axes.of is None:
            _run(lo, batches.same, [results, found], node)
            return
        case (Num() | ArrayRef(), Num() | ArrayRef()):
            _require_type(lo, results, found, node)
            _run(lo, batches.put_row, [results, k, found], node)
            return
        case (Static(), Static()) if results == found:
            return
    before, after = _parts(lo, results), _parts(lo, found)
    if before is None or after is None or before[0] != after[0]:
        raise TypeMismatchError(
            f"the results of two elements in vmap are {kind_of(results)} and {kind_of(found)}",
            lo.span(node), "return the same structure for all",
        )  # fmt: skip
    keys = before[0][-1]
    inner = axes.parts(lo, results, keys, node)
    for own, old, new in zip(inner, before[1], after[1], strict=True):
        _write(lo, own, old, k, new, node)


def _require_type(
    lo: Lowerer, results: Num | ArrayRef, found: Num | ArrayRef, node: ast.AST
) -> None:
    """Refuse a result whose type is not that of the first element's."""
    own, other = map(_scalar_type, (results, found))
    if own.numpy != other.numpy:
        raise TypeMismatchError(
            f"the results of two elements in vmap have the types {own.numpy} and {other.numpy}",
            lo.span(node), "return numbers of one type",
        )  # fmt: skip


def _scalar_type(binding: Num | ArrayRef) -> Scalar:
    if isinstance(binding, ArrayRef):
        return binding.object.type.element
    return numbers.scalar_type(binding.operand)


def _parts(lo: Lowerer, binding: Binding) -> tuple[Any, Sequence[Binding]] | None:
    """Return what kind of structure it is, with its keys, and its parts."""
    match binding:
        case TupleOf(items=items):
            return ("tuple", range(len(items))), items
        case NamedTuple(cls=cls, record=record):
            return (cls, record.keys), record.items
        case ListRef() | DictRef() | ObjectRef():
            held = lo.held(binding)
            if isinstance(held, RecordOf):
                return (type(binding), getattr(binding, "cls", None), held.keys), held.items
            if isinstance(held, TupleOf):
                return (type(binding), range(len(held.items))), held.items
    return None


def _finished(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    outs, results = args

    def moved(leaf: Num | ArrayRef, axes: _Axes) -> Binding:
        axis = axes.own(lo, _rank(leaf, lo), kind_of(leaf), node)
        assert isinstance(leaf, ArrayRef)
        if not axis:
            return leaf
        order = list(range(1, _rank(leaf, lo)))
        order.insert(axis, 0)
        found = views.permuted(lo, leaf, order)
        return elementwise.materialised(lo, found, node)

    return _each(lo, results, _Axes(_decoded(outs), "`out_axes` of vmap"), node, moved)


def _run(lo: Lowerer, fn: Any, args: list[Binding], node: ast.Call) -> Binding:
    return dispatch.apply(lo, Static(fn), args, {}, node)


library.enter(
    {
        batches.count_of: _count,
        batches.element: _element,
        batches.started: _started,
        batches.put: _put,
        batches.finished: _finished,
    }
)

__all__ = ["IGNORED", "lowered"]
