"""Python's standard library: `functools`, `operator`, `copy`.

What makes a function (`functools.partial`, `operator.itemgetter`) becomes an inner function. The
generators of `itertools` are in `adc.library.standard.iteration`.
"""

from __future__ import annotations

import ast
import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import blocks, suspended
from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Closure,
    DefaultRef,
    DequeRef,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Pooled,
    Range,
    RecordOf,
    Ref,
    SetRef,
    Static,
    TupleOf,
    counter,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import read_name
from adc.frontend.core.state import Frame
from adc.frontend.core.structure import refs
from adc.frontend.inputs import bases, instances, trees
from adc.frontend.inputs.places import Item, Place
from adc.frontend.language import containers, dicts, dynamic_lists
from adc.frontend.numpy import library
from adc.frontend.syntax.source import Source
from adc.frontend.values import (
    comparisons,
    contents,
    elementwise,
    keyed,
    objects,
    operators,
    sequences,
    structures,
)
from adc.frontend.values.arguments import Handler, arity
from adc.frontend.values.growing import list_buffers, list_elements, pools
from adc.ir.core import Literal
from adc.ir.errors import TypeMismatchError
from adc.library.standard import heaps, iteration, mathematics, tables

CACHED = type(functools.lru_cache(lambda: None))


def function(lo: Lowerer, node: ast.AST, text: str, env: Mapping[str, Binding]) -> Closure:
    """Return a lambda of the program's, written as text, that finds the names of `env`."""
    key = ("lambda", id(node), text)
    if key not in lo.memo:
        made = ast.parse(text, mode="eval").body
        for inner in ast.walk(made):
            ast.copy_location(inner, node)
        lo.memo[key] = (node, made)
    made = lo.memo[key][1]
    source = lo.frame.source
    frame = Frame(source, dict(env), lo.frame.holder, path=lo.frame.path)
    return Closure(made, Source(made, source.file, "<lambda>"), frame, {})


# -- functools -------------------------------------------------------------------------------------


def _partial(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if not args:
        raise TypeMismatchError("partial() needs a function", lo.span(node))
    given = [elementwise.materialised(lo, arg, node) for arg in args]
    named = {name: elementwise.materialised(lo, value, node) for name, value in kwargs.items()}
    env = {f"_a{k}": arg for k, arg in enumerate(given)}
    env |= {f"_k_{name}": value for name, value in named.items()}
    first = "".join(f"_a{k}, " for k in range(1, len(given)))
    pairs = "".join(f"{name!r}: _k_{name}, " for name in named)
    last = f"**{{{pairs}**kwargs}}" if named else "**kwargs"
    return function(lo, node, f"lambda *args, **kwargs: _a0({first}*args, {last})", env)


def _method(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `types.MethodType`: a function whose first argument is given."""
    arity(lo, args, kwargs, node, 2)
    return _partial(lo, args, {}, node)


def of_object(
    lo: Lowerer, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of an object that the standard library made, or return None."""
    if isinstance(value, functools.partial):
        place = Place(value)  # type: ignore[arg-type]  # any object can be a root
        fn = outside.reach(lo, place.to("func"), value.func)
        first = [
            outside.reach(lo, place.to("args", Item(k)), arg) for k, arg in enumerate(value.args)
        ]
        named = {
            name: outside.reach(lo, place.to("keywords", Item(name)), arg)
            for name, arg in value.keywords.items()
        }
        return dispatch.apply(lo, fn, [*first, *args], {**named, **kwargs}, node)
    if isinstance(value, CACHED):
        return dispatch.apply(lo, Static(value.__wrapped__), args, kwargs, node)
    if isinstance(value, operator.itemgetter | operator.attrgetter | operator.methodcaller):
        reduced: Any = value.__reduce__()
        cls, *made = reduced
        if cls is functools.partial:  # of a `methodcaller` with keywords
            return None
        keys = [static(key) for key in made[0]]
        return dispatch.apply(lo, HANDLERS[cls](lo, keys, {}, node), args, kwargs, node)
    return None


def _cache(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `functools.cache` and `functools.lru_cache`: the function itself."""
    if (args and not isinstance(args[0], Num | Static)) or (
        args and isinstance(args[0], Static) and callable(args[0].value)
    ):
        return args[0]
    if args and isinstance(args[0], Num) and args[0].operand.type.kind not in "iub":
        text = "Expected first argument to be an integer, a callable, or None"
        raise TypeMismatchError(text, lo.span(node))
    return function(lo, node, "lambda f: f", {})


def _wraps(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower ``functools.wraps(wrapped)``: attributes that are constants are copied."""
    arity(lo, args, {}, node, 1, 3)
    wrapped, held = args[0], dict[str, Binding]()
    if isinstance(wrapped, Closure):
        held = wrapped.attributes
    elif isinstance(wrapped, Static) and isinstance(wrapped.value, types.FunctionType):
        for name, value in vars(wrapped.value).items():
            if name != "__wrapped__" and trees.is_constant((value,)):
                held[name] = outside.attribute(lo, wrapped, name)
    env: dict[str, Binding] = {"_set": Static(setattr)}
    done = ""
    for name, value in held.items():
        if objects.is_constant(value):
            env[f"_{len(env)}"] = value
            done += f"_set(f, {name!r}, _{len(env) - 1}), "
    return function(lo, node, f"lambda f: ({done}f,)[-1]", env)


def _reduce(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower ``functools.reduce(f, items, start)``: a loop."""
    arity(lo, args, kwargs, node, 2, 3)
    given = [elementwise.materialised(lo, arg, node) for arg in args]
    if sequences.static_items(lo, given[1]) is not None:
        # A list may be changed by the calls.
        items_ = sequences.one_by_one(lo, given[1], node)
        start = given[2] if len(given) == 3 else next(items_, None)
        if start is None:
            raise TypeMismatchError(
                "reduce() of empty iterable with no initial value", lo.span(node)
            )
        step = classes.call_at(node)
        return functools.reduce(
            lambda total, item: dispatch.apply(lo, given[0], [total, item], {}, step), items_, start
        )
    over = "_items" if len(given) == 3 else "_items[1:]"
    names = [f"${name}{node.lineno}_{node.col_offset}" for name in ("f", "items", "total", "item")]
    key = ("reduce", id(node))
    if key not in lo.memo:
        text = f"for _item in {over}:\n    _total = _f(_total, _item)"
        (made,) = ast.parse(text).body
        for inner in ast.walk(made):
            if isinstance(inner, ast.Name):
                inner.id = names[["_f", "_items", "_total", "_item"].index(inner.id)]
            ast.copy_location(inner, node)
        first = ast.parse("_items[0]", mode="eval").body
        for inner in ast.walk(first):
            if isinstance(inner, ast.Name):
                inner.id = names[1]
            ast.copy_location(inner, node)
        lo.memo[key] = (node, made, first)
    _, loop, first = lo.memo[key]
    fn, items, total, _ = names
    env = lo.frame.env
    env[fn], env[items] = given[0], given[1]
    env[total] = given[2] if len(given) == 3 else dispatch.evaluate(lo, first)
    blocks.lower_stmts(lo, [loop])
    found = read_name(lo, total, node)
    for name in names:
        env.pop(name, None)
        lo.frame.partial.discard(name)
    return found


# -- operator --------------------------------------------------------------------------------------


def _binary(kind: type[ast.operator]) -> Handler:
    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arity(lo, args, kwargs, node, 2)
        return operators.binary(lo, kind, args[0], args[1], node)

    return handler


def _comparison(kind: type[ast.cmpop]) -> Handler:
    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arity(lo, args, kwargs, node, 2)
        return comparisons.comparison(lo, kind(), args[0], args[1], node)

    return handler


def _written(text: str, count: int) -> Handler:
    """Return the handler of a function that is a lambda in Python."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arity(lo, args, kwargs, node, count)
        given = [elementwise.materialised(lo, arg, node) for arg in args]
        return dispatch.apply(lo, function(lo, node, text, {}), given, {}, node)

    return handler


def _itemgetter(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arity(lo, args, kwargs, node, 1, 99)
    env = {f"_k{k}": key for k, key in enumerate(args)}
    items = ", ".join(f"x[{name}]" for name in env)
    return function(lo, node, f"lambda x: {items if len(args) == 1 else f'({items})'}", env)


def _names_of(lo: Lowerer, args: Sequence[Binding], node: ast.Call) -> list[str]:
    found = [arg.value if isinstance(arg, Static) else None for arg in args]
    names = [name for name in found if isinstance(name, str)]
    if len(names) < len(args) or not all(
        part.isidentifier() for n in names for part in n.split(".")
    ):
        raise TypeMismatchError("attribute name must be a string", lo.span(node))
    return names


def _attrgetter(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arity(lo, args, kwargs, node, 1, 99)
    items = ", ".join(f"x.{name}" for name in _names_of(lo, args, node))
    return function(lo, node, f"lambda x: {items if len(args) == 1 else f'({items})'}", {})


def _methodcaller(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if not args:
        raise TypeMismatchError("methodcaller() is missing the name of a method", lo.span(node))
    (name,) = _names_of(lo, args[:1], node)
    env = {f"_a{k}": arg for k, arg in enumerate(args[1:])}
    env |= {f"_k_{key}": value for key, value in kwargs.items()}
    given = [*(f"_a{k}" for k in range(len(args) - 1)), *(f"{key}=_k_{key}" for key in kwargs)]
    return function(lo, node, f"lambda x: x.{name}({', '.join(given)})", env)


# -- copy ------------------------------------------------------------------------------------------


def _copy(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arity(lo, args, kwargs, node, 1)
    match elementwise.materialised(lo, args[0], node):
        case ArrayRef() as array:
            return elementwise.copy(lo, array, node)
        case ListRef() as found if isinstance(held := lo.held(found), Growing):
            return dynamic_lists.copied(lo, held, node)
        case (ListRef() | DictRef() | ObjectRef()) as found:
            if (own := classes.find(lo, found, "__copy__")) is not None:
                return dispatch.apply(lo, Static(own), [found], {}, classes.call_at(node))
            structures.require_own(lo, found, node, "__copy__")
            made = structures.new_ref(lo, found, lo.held(found))
            if isinstance(made, ObjectRef) and bases.has_contents(made.cls):
                own = dicts.copied(lo, contents.contents_of(lo, made), node)
                lo.hold(made, lo.record(made).with_item(bases.CONTENTS, own))
            pools.enter(lo, made, node)
            return made
        case Static(value=types.ModuleType()) as found:
            raise TypeMismatchError("cannot pickle 'module' object", lo.span(node))
        case (Num() | TupleOf() | Static() | Closure()) as found:
            return found
        case NamedTuple(cls=cls) as found if not instances.is_stateful_class(cls):
            return found
        case found:
            raise lo.unsupported(f"`copy` of {kind_of(found)}", node)


def deepcopy(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arity(lo, args, kwargs, node, 1)

    def leaf(item: Num | ArrayRef | Lazy) -> Binding:
        return elementwise.copy(lo, item, node) if isinstance(item, ArrayRef) else item

    given = elementwise.materialised(lo, args[0], node)
    if isinstance(given, Ref) and isinstance(lo.contents_of(given), Pooled):
        record = lo.held(given)
        if not any(True for _ in refs(record)):
            structures.require_own(lo, given, node, "__deepcopy__")
            held = structures.deep_copy(lo, record, node, "deepcopy", leaf)
            made = structures.new_ref(lo, given, held)
            pools.enter(lo, made, node)
            return made
    return structures.deep_copy(
        lo, given, node, "deepcopy", leaf, lambda held: dynamic_lists.copied(lo, held, node)
    )


# -- math ------------------------------------------------------------------------------------------


def _mathematics(known: Any, written: Any) -> Handler:
    """Return the handler of a function that is written in Python, or known for constants."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        operands = [arg.operand if isinstance(arg, Num) else None for arg in args]
        if args and not kwargs and all(isinstance(x, Literal) for x in operands):
            try:
                return static(known(*(x.value for x in operands if isinstance(x, Literal))))
            except (ValueError, TypeError):
                pass  # the code raises it
        for operand in operands:
            if operand is not None and operand.type.kind == "f":
                text = "'float' object cannot be interpreted as an integer"
                raise TypeMismatchError(text, lo.span(node))
        given = [elementwise.materialised(lo, arg, node) for arg in args]
        return dispatch.apply(lo, Static(written), given, kwargs, node)

    return handler


# -- warnings --------------------------------------------------------------------------------------


def _filter(lo: Lowerer, args: Any, kwargs: Any, node: ast.Call) -> Binding:
    """Lower what decides which warnings are shown until `warnings.catch_warnings` ends."""
    if not lo.quiet:
        raise lo.unsupported(
            f"`{ast.unparse(node.func)}` outside `warnings.catch_warnings`", node,
            "call it outside the differentiated function: compiled code shows no warnings",
        )  # fmt: skip
    return NONE


def _set_errors(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.seterr`, which returns what was set before: compiled code does not warn."""
    for value in (*args, *kwargs.values()):
        if not isinstance(value, Static) or value.value not in (None, "ignore", "warn"):
            raise lo.unsupported(
                f"`{ast.unparse(node.func)}` with {kind_of(value)}", node,
                "compiled code neither raises nor records warnings: test the values instead",
            )  # fmt: skip
    before = np.geterr()
    return lo.new_ref(DictRef, RecordOf(tuple(before), tuple(map(Static, before.values()))))


def _bisect(fn: Any) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = [elementwise.materialised(lo, arg, node) for arg in args]
        return dispatch.apply(lo, Static(fn), given, kwargs, node)

    return handler


def _defaultdict(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    factory = args[0] if args else NONE
    record = RecordOf((), ())
    for other in args[1:]:
        if not isinstance(other, DictRef) or len(args) > 2:
            raise lo.unsupported("`defaultdict` with these arguments", node, "assign the items")
        record = lo.record(other)
    for name, value in kwargs.items():
        record = record.with_item(name, elementwise.materialised(lo, value, node))
    return lo.new_ref(lambda slot: DefaultRef(slot, factory), record)


def _counter(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``Counter(iterable)``, and of what `update` takes."""
    arity(lo, args, {}, node, 0, 1)
    made = lo.new_ref(counter, RecordOf((), ()))
    is_dict = bool(args) and isinstance(args[0], DictRef) and not isinstance(args[0], SetRef)
    if kwargs or is_dict:
        dicts.method(lo, made, "update", args, kwargs, node)
        return made
    source = keyed.listed(lo, args[0], node) if args else TupleOf(())
    items = sequences.known_elements(lo, source, node)
    if items is None or not all(map(_is_certain, items)):
        dispatch.apply(lo, static(tables.count), [made, source], {}, node)
        return made
    counts: dict[Any, int] = {}
    for item in items:
        key = dicts.key_of(lo, item, node)
        counts[key] = counts.get(key, 0) + 1
    lo.hold(made, RecordOf(tuple(counts), tuple(static(count) for count in counts.values())))
    return made


def _is_certain(key: Binding) -> bool:
    """Whether a key is known when the program is compiled, and is the same on every path."""
    return keyed.is_known(key) and not isinstance(key, Maybe | OneOf)


def _heap(fn: Any) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = [elementwise.materialised(lo, arg, node) for arg in args]
        heap = given[0] if given else NONE
        if not isinstance(heap, ListRef) or isinstance(heap, DequeRef) or kwargs:
            raise TypeMismatchError(
                "the functions of `heapq` take no keyword arguments" if kwargs
                else f"heap argument must be a list, not {kind_of(heap)}", lo.span(node),
            )  # fmt: skip
        # Which elements move is known only at run time: its elements are of one kind.
        held = lo.held(heap)
        added = list_elements.element_of(lo, given[1]) if len(given) > 1 else None
        if len(given) > 1 and added is None:
            raise lo.unsupported(
                f"{kind_of(given[1])} in a heap", node, "push numbers, or tuples of numbers"
            )
        if isinstance(held, TupleOf) and (held.items or added is not None):
            element = list_buffers.common(lo, [held], added)
            if element is None:
                raise lo.unsupported(
                    "a heap of elements of several kinds",
                    node,
                    "push numbers, or tuples of numbers",
                )
            list_buffers.note_appended(lo, heap.slot, element)
            lo.hold(heap, list_buffers.grown(lo, held, element, node))
        return dispatch.apply(lo, Static(fn), given, kwargs, node)

    return handler


_GENERIC: Any = functools.singledispatch(lambda value: value)


def of_class(
    lo: Lowerer, fn: types.FunctionType, args: Sequence[Binding], node: ast.Call
) -> Binding | None:
    """Return the function that one of `functools.singledispatch` calls; None for other functions.

    It is chosen by the class of the first argument.
    """
    if fn.__code__ is not _GENERIC.__code__:
        return None
    if not args:
        raise TypeMismatchError(
            f"{fn.__name__} requires at least 1 positional argument", lo.span(node)
        )
    dispatch.require_one(args[:1], node)
    cls = classes.class_of(args[0])
    if cls is None:
        raise lo.unsupported(f"`{ast.unparse(node.func)}` of {kind_of(args[0])}", node)
    generic: Any = fn
    found = generic.dispatch(cls)
    base = next(each for each, known in generic.registry.items() if known is found)
    return Static(found, Place(fn, ("registry", Item(base))))


def _count(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `itertools.count` where no loop consumes it."""
    return objects.construct(lo, iteration.Count, args, kwargs, node)


def _cycle(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `itertools.cycle` where no loop consumes it."""
    arity(lo, args, kwargs, node, 1, 1)
    pool = elementwise.materialised(lo, args[0], node)
    # Python reads the elements once, when they are asked for first.
    own = isinstance(pool, ListRef) and isinstance(node.args[0], ast.List | ast.ListComp)
    if not (own or isinstance(pool, TupleOf | Range | Static)):
        raise lo.unsupported(
            f"`itertools.cycle` of {kind_of(pool)} here", node, "make it a tuple: `tuple(...)`"
        )
    return objects.construct(lo, iteration.Cycle, [pool], {}, node)


def _of_library(fn: Any) -> Handler:
    """Return the handler of a function that the library has in Python."""
    return lambda lo, args, kwargs, node: dispatch.apply(lo, static(fn), args, kwargs, node)


HANDLERS: dict[Any, Handler] = {
    heapq.heappush: _heap(heaps.heappush), heapq.heappop: _heap(heaps.heappop),
    heapq.heapify: _heap(heaps.heapify), heapq.heapreplace: _heap(heaps.heapreplace),
    heapq.heappushpop: _heap(heaps.heappushpop),
    itertools.count: _count, itertools.cycle: _cycle,
    iteration.stepped: suspended.step, iteration.stopped: suspended.stop,
    heapq.nlargest: _of_library(heaps.nlargest), heapq.nsmallest: _of_library(heaps.nsmallest),
    collections.deque: containers.deque, collections.defaultdict: _defaultdict,
    collections.Counter: _counter,
    bisect.bisect_left: _bisect(iteration.bisect_left),
    bisect.bisect_right: _bisect(iteration.bisect_right),
    bisect.insort_left: _bisect(iteration.insort_left),
    bisect.insort_right: _bisect(iteration.insort_right),
    np.seterr: _set_errors, warnings.simplefilter: _filter, warnings.filterwarnings: _filter,
    types.MethodType: _method,
    functools.partial: _partial, functools.reduce: _reduce, functools.cache: _cache,
    functools.lru_cache: _cache, functools.wraps: _wraps,
    operator.itemgetter: _itemgetter, operator.attrgetter: _attrgetter,
    operator.methodcaller: _methodcaller, copy.copy: _copy, copy.deepcopy: deepcopy,
    operator.neg: _written("lambda a: -a", 1), operator.pos: _written("lambda a: +a", 1),
    operator.not_: _written("lambda a: not a", 1), operator.truth: _written("lambda a: bool(a)", 1),
    operator.getitem: _written("lambda a, b: a[b]", 2),
    operator.invert: _written("lambda a: ~a", 1), operator.abs: _written("lambda a: abs(a)", 1),
    operator.contains: _written("lambda a, b: b in a", 2),
    operator.index: _written("lambda a: (range(a), int(a))[1]", 1),  # of integers only
}  # fmt: skip
HANDLERS |= {
    getattr(operator, name): _binary(kind)
    for name, kind in (
        ("add", ast.Add), ("sub", ast.Sub), ("mul", ast.Mult), ("truediv", ast.Div),
        ("floordiv", ast.FloorDiv), ("mod", ast.Mod), ("pow", ast.Pow), ("matmul", ast.MatMult),
        ("and_", ast.BitAnd), ("or_", ast.BitOr), ("xor", ast.BitXor), ("lshift", ast.LShift),
        ("rshift", ast.RShift),
    )
}  # fmt: skip
HANDLERS |= {
    getattr(operator, name): _comparison(kind)
    for name, kind in (
        ("lt", ast.Lt), ("le", ast.LtE), ("gt", ast.Gt), ("ge", ast.GtE), ("eq", ast.Eq),
        ("ne", ast.NotEq), ("is_", ast.Is), ("is_not", ast.IsNot),
    )
}  # fmt: skip
HANDLERS |= {
    getattr(math, name): _mathematics(getattr(math, name), getattr(mathematics, name))
    for name in ("prod", "dist", "comb", "perm", "factorial", "isqrt")
}
library.enter(HANDLERS)
