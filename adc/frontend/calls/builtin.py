"""Python's builtin functions."""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.calls import drawing, sets, sorting
from adc.frontend.control import evaluation, program
from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    Among,
    ArrayRef,
    Binding,
    Cell,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    Handle,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    OrderedRef,
    Range,
    RecordOf,
    Reversed,
    SetRef,
    Static,
    TupleOf,
    Zip,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.language import (
    assignment,
    dicts,
    dynamic_lists,
    expressions,
    generators,
    iterators,
)
from adc.frontend.loops import over
from adc.frontend.numpy import complexes, library, linear, maths, reductions
from adc.frontend.values import (
    arguments,
    comparisons,
    constants,
    contents,
    elementwise,
    keyed,
    operators,
    sequences,
    special,
    views,
)
from adc.frontend.values.arguments import Handler
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError, TypeUnstableError
from adc.ir.types import B1, BOOL, F16, HALF, INT, Scalar, promote
from adc.library import functions as library_functions
from adc.library.standard import iteration, mathematics
from adc.library.standard import tables as library_tables

_INTEGER = maths.to_integer("trunc")


def _to_float(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 0, 1)
    if not args:
        return lo.num(0.0)
    if isinstance(args[0], Static) and isinstance(args[0].value, str):
        try:
            return lo.num(float(args[0].value))
        except ValueError as error:
            return constants.failing(lo, error)
    text = "float() argument must be a string or a real number"
    _require_number(lo, args[0], text, node)
    return Num(numbers.weak(lo, elementwise.as_float(lo, args[0], node)))


def _to_int(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if args and not kwargs and isinstance(args[0], Static):
        if isinstance(args[0].value, str):
            base = [arguments.constant_int(lo, arg, node, "a base") for arg in args[1:2]]
            try:
                return static(int(args[0].value, *base))
            except ValueError as error:
                return constants.failing(lo, error)
    if len(args) == 1:
        text = "int() argument must be a string, a bytes-like object or a real number"
        _require_number(lo, args[0], text, node)
    return _INTEGER(lo, args, kwargs, node)


def _require_number(lo: Lowerer, arg: Binding, text: str, node: ast.Call) -> None:
    """Refuse conversions of what is no number; in a `try` the program raises `TypeError`."""
    if isinstance(arg, ArrayRef | Lazy) and views.dims_of(lo, arg):
        own = "only 0-dimensional arrays can be converted to Python scalars"
    elif isinstance(arg, TupleOf | ListRef | DictRef) or arg == NONE:
        own = f"{text}, not '{classes.name_of(arg)}'"
    else:
        return
    message = f"`{ast.unparse(node.func)}` needs a number, not {kind_of(arg)}"
    numbers.refuse(lo, message, node, "TypeError", own, "use the elements")


def _to_bool(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 0, 1)
    return Num(numbers.weak(lo, operators.truth(lo, args[0], node))) if args else lo.num(False)


def _abs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    if isinstance(args[0], ListRef | TupleOf):
        text = f"bad operand type for abs(): '{classes.name_of(args[0])}'"
        message = f"`abs` of {kind_of(args[0])}"
        numbers.refuse(lo, message, node, "TypeError", text, "use `np.abs`")
    own = "bad operand type for abs(): 'NoneType'"
    x = elementwise.number(lo, args[0], node, "`abs`", own)
    if x.type.kind == "b":
        x = lo.convert(x, INT) if numbers.scalar_type(x).weak else x
        if x.type.kind == "b":
            return Num(x)
    if isinstance(x, Literal) and x.type == INT:
        return Num(x if x.value >= 0 else numbers.negated(lo, x, node))
    if x.type.kind == "c":
        return Num(complexes.modulus(lo, x))
    return Num(x) if x.type.kind == "u" else Num(numbers.apply(lo, "abs", x))


# Elements of lists of any length that `min` and `max` compare as Python does.
_COMPARED = (TupleOf, NamedTuple, Handle, Among)


def _extreme(op: type[ast.cmpop]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if set(kwargs) - {"key", "default"} or ("default" in kwargs and len(args) != 1):
            raise lo.unsupported("`min` or `max` with these keywords", node)
        items = args
        if kwargs:
            return _keyed(lo, op, args, kwargs, node)
        if len(args) == 1:
            name = "min" if op is ast.Lt else "max"
            if isinstance(list_buffers.kept_in(lo, args[0]), _COMPARED):
                by = library_functions.least if op is ast.Lt else library_functions.most
                return dispatch.apply(lo, static(by), args, {}, node)
            array = _as_elements(lo, args[0], node)
            if array is not None:
                _require_vector(lo, array, name, node)
                found = _most_of(lo, op, array, node)
                return (
                    Num(numbers.weak(lo, elementwise.number(lo, found, node)))
                    if _holds_weak(lo, args[0])
                    else found
                )
            items = list(sequences.static_sequence(lo, args[0], node))
        if len(items) > 1:
            items = list(dispatch.each_required(lo, items, node))
        if not items:
            raise TypeMismatchError("`min` or `max` of nothing", lo.span(node))
        best = items[0]
        for item in items[1:]:
            # Python keeps the first of equals, and compares as `item < best`.
            better = comparisons.compare(lo, op(), item, best, node)
            if not (isinstance(item, Num) and isinstance(best, Num)):
                best = _either(lo, better, item, best, node)
                continue
            a, b = elementwise.number(lo, item, node), elementwise.number(lo, best, node)
            if a.type != b.type:
                a, b, _ = numbers.promoted(lo, a, b, node)
            if isinstance(better, Literal):
                best = Num(a if better.value else b)
            else:
                best = Num(numbers.select(lo, better, a, b))
        return best

    return handler


def _keyed(
    lo: Lowerer, op: type[ast.cmpop], args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower `min` or `max` with a key or a default value."""
    key = kwargs.get("key", NONE)
    given = [elementwise.materialised(lo, arg, node) for arg in args]
    read = sequences.reader(lo, given[0], node) if len(given) == 1 else None
    if len(given) == 1 and read is None:
        by = library_functions.least_by if op is ast.Lt else library_functions.most_by

        def of_all() -> Binding:
            if key == NONE:
                return _extreme(op)(lo, given, {}, node)
            return dispatch.apply(lo, static(by), [given[0], key], {}, node)

        if "default" not in kwargs:
            return of_all()
        some = numbers.apply(lo, "gt", _iterations(lo, given[0], node), integer(0))
        return evaluation.either(lo, some, of_all, lambda: kwargs["default"], node)
    items = iter(given) if read is None else sequences.one_by_one(lo, given[0], node)
    best = next(items, None)
    if best is None:
        if "default" not in kwargs:
            raise TypeMismatchError("`min` or `max` of nothing", lo.span(node))
        return kwargs["default"]
    if key == NONE:
        rest = [*items]
        return _extreme(op)(lo, [best, *rest], {}, node) if rest else best
    step = classes.call_at(node)
    least = dispatch.apply(lo, key, [best], {}, step)
    for item in items:  # which the key may change
        value = dispatch.apply(lo, key, [item], {}, step)
        better = comparisons.compare(lo, op(), value, least, node)
        chosen = _either(lo, better, TupleOf((item, value)), TupleOf((best, least)), node)
        assert isinstance(chosen, TupleOf)
        best, least = chosen.items
    return best


def _either(lo: Lowerer, first: Operand, item: Binding, best: Binding, node: ast.Call) -> Binding:
    """Return `item` if `first` holds, else `best`."""
    try:
        return evaluation.one_of_two(lo, first, item, best, node)
    except TypeUnstableError:
        raise lo.unsupported(
            f"`min` or `max` of {kind_of(item)} and {kind_of(best)}, by what is known only at run "
            "time,", node, "choose among what you need of them, such as numbers",
        ) from None  # fmt: skip


def _require_vector(lo: Lowerer, array: ArrayRef | Lazy, name: str, node: ast.AST) -> None:
    """Refuse an array whose elements are arrays, which Python compares as a whole."""
    if len(views.dims_of(lo, array)) > 1:
        raise TypeMismatchError(
            "The truth value of an array with more than one element is ambiguous",
            lo.span(node), f"use `np.{name}`",
        )  # fmt: skip


def _most_of(lo: Lowerer, op: type[ast.cmpop], array: ArrayRef | Lazy, node: ast.Call) -> Binding:
    """Return Python's `min` or `max` of an array."""
    if elementwise.element_type(array).kind == "f":
        first = library_functions.first_least if op is ast.Lt else library_functions.first_most
        return linear.run(lo, first, [array], {}, node)
    return reductions.HANDLERS["min" if op is ast.Lt else "max"](lo, [array], {}, node)


def _len(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    asked = special.length(lo, args[0], node)
    if asked is not None:
        return Num(asked)
    match args[0]:
        case ArrayRef() | Lazy():
            return Num(views.length(lo, args[0], node))
        case ListRef() if isinstance(lo.held(args[0]), Growing):
            held = lo.held(args[0])
            assert isinstance(held, Growing)
            return held.length
        case DictRef() | DictView():
            ref = args[0].ref if isinstance(args[0], DictView) else args[0]
            return Num(keyed.length(lo, ref))
        case Static(value=value) if type(value) in (str, frozenset):
            return Num(integer(len(value)))
        case Range(start=start, stop=stop, step=step):
            ends = [end.operand for end in (start, stop, step)]
            if all(isinstance(end, Literal) for end in ends):
                known = [int(end.value) for end in ends if isinstance(end, Literal)]
                return Num(integer(len(range(*known))))
            row = lo.builder.apply("trips", start.operand, stop.operand, step.operand)
            return Num(lo.sizes.counts(row))
    items = sequences.static_items(lo, args[0])
    if items is not None:
        return Num(integer(len(items)))
    message = f"len() of {kind_of(args[0])}"
    if classes.has_attribute(args[0], "__len__") is False:
        text = f"object of type '{classes.name_of(args[0])}' has no len()"
        numbers.refuse(lo, message, node, "TypeError", text)
    raise TypeMismatchError(message, lo.span(node))


def _range(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1, 3)
    numbers_: list[Num] = []
    for arg in args:
        operand = elementwise.number(lo, arg, node)
        if operand.type.kind == "f" or operand.type == B1:
            raise TypeMismatchError(f"range() needs integers, not {kind_of(arg)}", lo.span(node))
        numbers_.append(Num(numbers.weak(lo, numbers.to_int(lo, operand))))
    if len(numbers_) == 1:
        return Range(Num(integer(0)), numbers_[0], Num(integer(1)))
    step = numbers_[2] if len(numbers_) == 3 else Num(integer(1))
    nonzero = numbers.apply(lo, "ne", step.operand, integer(0))
    numbers.check(lo, nonzero, "ValueError", "range() arg 3 must not be zero")
    return Range(numbers_[0], numbers_[1], step)


def _enumerate(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else lo.num(0))
    if not 1 <= len(args) <= 2 or not isinstance(start, Num) or set(kwargs) - {"start"}:
        raise lo.unsupported("this call of `enumerate`", node)
    (inner,) = _iterated(lo, args[:1], node)
    return Enumerate(inner, Num(lo.convert(start.operand, INT)))


def _iterated(lo: Lowerer, args: list[Binding], node: ast.Call) -> tuple[Binding, ...]:
    """Return what `zip` or `enumerate` draws from: of objects, lists of what they yield.

    A loop must not change what they read meanwhile (`iterators.Watch`).
    """
    parts = [elementwise.materialised(lo, arg, node) for arg in args]
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return tuple(parts)
    for k, arg in enumerate(node.args[: len(args)]):
        if isinstance(arg, generators.HELD) and generators.yields_again(lo, parts[k]):
            parts[k] = generators.elements(lo, parts[k], arg)
    return tuple(parts)


def _zip(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    if set(kwargs) - {"strict"}:
        raise lo.unsupported("`zip` with keywords", node)
    parts = _iterated(lo, args, node)
    if arguments.flag(lo, kwargs.get("strict"), node, "`strict`") and parts:
        first, *others = [_iterations(lo, part, node) for part in parts]
        for k, size in enumerate(others, 2):
            _require_as_long(lo, first, size, k, node)
    return Zip(parts)


def _require_as_long(lo: Lowerer, first: Operand, size: Operand, k: int, node: ast.AST) -> None:
    """Check that the k-th argument of `zip` is as long as those before it."""
    if lo.sizes.same_size(first, size):
        return
    before = "argument 1" if k == 2 else f"arguments 1-{k - 1}"
    with lo.at(node):
        for row, word in (("le", "longer"), ("ge", "shorter")):
            text = f"zip() argument {k} is {word} than {before}"
            numbers.check(lo, numbers.apply(lo, row, size, first), "ValueError", text)
    lo.sizes.unify_sizes(first, size)


def _iterations(lo: Lowerer, iterable: Binding, node: ast.Call) -> Operand:
    items = sequences.static_items(lo, iterable)
    return integer(len(items)) if items is not None else over.iteration(lo, iterable, node)[0]


def _slice(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs or not 1 <= len(args) <= 3:
        raise TypeMismatchError("`slice` takes one to three arguments", lo.span(node))
    ends = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE][:3]
    return NamedTuple(slice, RecordOf(("start", "stop", "step"), tuple(ends)))


def _reversed(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    return Reversed(elementwise.materialised(lo, args[0], node))


def _of_text(fn: Callable[[Any], Any]) -> Handler:
    """Lower `ord` or `chr`, of a constant."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        if fn is chr:
            given: Any = arguments.constant_int(lo, args[0], node, "a number of a letter")
        else:
            if not isinstance(args[0], Static):
                raise lo.unsupported(f"`ord` of {kind_of(args[0])}", node)
            given = args[0].value
        try:
            return static(fn(given))
        except (TypeError, ValueError) as error:
            raise TypeMismatchError(str(error), lo.span(node)) from None

    return handler


def _divmod(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    a, b = (elementwise.number(lo, arg, node, "`divmod`") for arg in args)
    if "c" in (a.type.kind, b.type.kind):
        raise TypeMismatchError("`divmod` is not defined for complex numbers", lo.span(node))
    quotient, remainder = numbers.divmod_(lo, a, b, node)
    return TupleOf((Num(quotient), Num(remainder)))


def _pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    return operators.binary(lo, ast.Pow, args[0], args[1], node)


def _round(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "number ndigits?", args, kwargs, node)
    if classes.class_of(given["number"]) is np.ndarray:
        text = "type numpy.ndarray doesn't define __round__ method"
        message = f"`round` of {kind_of(given['number'])}"
        numbers.refuse(lo, message, node, "TypeError", text, "use `np.round`")
    digits = given.get("ndigits", NONE)
    if digits == NONE:
        return maths.to_integer("rint")(lo, [given["number"]], {}, node)
    x = elementwise.number(lo, given["number"], node)
    if not numbers.scalar_type(x).weak:  # NumPy's numbers round as its arrays do
        found = library.call(lo, np.round, [Num(x), digits], {}, node)
        assert found is not None
        return found
    places = arguments.integer(lo, digits, node)
    if x.type.kind == "f":
        fn: Any = mathematics.round_float
    else:
        x, fn = numbers.weak(lo, numbers.to_int(lo, x)), mathematics.round_int
    return program.call_function(lo, fn, [Num(x), Num(places)], {}, node)


def _sum(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, {k: v for k, v in kwargs.items() if k != "start"}, node, 1, 2)
    return total(lo, args[0], args[1] if len(args) > 1 else kwargs.get("start", lo.num(0)), node)


def total(lo: Lowerer, items: Binding, result: Binding, node: ast.AST) -> Binding:
    """Lower ``sum(items, result)``."""
    array = _as_elements(lo, items, node, of_arrays=True)
    if array is not None:
        # Python adds one element after the other to `result`: in the type that these two have.
        source = elementwise.lazy(lo, array, node)
        weak = _holds_weak(lo, items)
        ty = None
        if not weak and isinstance(result, Num):
            ty = Scalar(promote(numbers.scalar_type(result.operand), source.type).dtype)
        elif not weak and isinstance(result, ArrayRef | Lazy):
            ty = Scalar(promote(elementwise.element_type(result), source.type).dtype)
        if source.type.dtype == HALF and (ty is None or ty.dtype == HALF):
            return _half_total(lo, source, result, node)
        found = reductions.total(lo, source, [0], False, node, ty=ty)
        if weak and isinstance(found, Num):
            found = Num(numbers.weak(lo, found.operand))
        return operators.binary(lo, ast.Add, result, found, node)
    if isinstance(result, Static) and isinstance(result.value, str):
        raise TypeMismatchError("sum() can't sum strings", lo.span(node), "use `''.join(...)`")
    for item in dispatch.each_required(lo, sequences.static_sequence(lo, items, node), node):
        result = operators.binary(lo, ast.Add, result, item, node)
    return result


def _half_total(lo: Lowerer, source: Lazy, result: Binding, node: ast.AST) -> Binding:
    """Add numbers of 16 bits one after the other: each sum is rounded, far from that of all."""
    if not isinstance(result, Num) or not _stays_half(result):
        raise lo.unsupported(
            "`sum` of float16 that starts from something else", node, "use `np.sum`, and add it"
        )
    start = lo.exact(numbers.fit(lo, result.operand, F16, node), F16)
    return reductions.fold(
        lo, reductions.converted(lo, source, F16, node), [0], False, start,
        lambda s, x: lo.builder.apply("add", s, x, hint="s"), node, F16,
    )  # fmt: skip


def _stays_half(start: Num) -> bool:
    """Whether the sum of a number and one of 16 bits has 16 bits."""
    return promote(numbers.scalar_type(start.operand), F16) == F16


def _holds_weak(lo: Lowerer, binding: Binding) -> bool:
    """Whether an iterable is a list of Python's numbers, not NumPy's."""
    element = list_buffers.kept_in(lo, binding)
    return isinstance(element, Cell) and element.sizes is None and element.type.weak


def _as_elements(
    lo: Lowerer, binding: Binding, node: ast.AST, of_arrays: bool = False
) -> ArrayRef | Lazy | None:
    """Return the array that holds the elements of an iterable, if one does."""
    if isinstance(binding, ArrayRef | Lazy) and views.dims_of(lo, binding):
        return binding
    if isinstance(binding, ListRef):
        held = lo.held(binding)
        if not isinstance(held, Growing):
            return None
        if list_elements.has_arrays(held.element) and not of_arrays:
            raise TypeMismatchError(
                "The truth value of an array with more than one element is ambiguous",
                lo.span(node), "use functions of NumPy on `np.array(...)` of the list",
            )  # fmt: skip
        return list_buffers.array_of(lo, held, node)
    return None


def _tuple(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    return TupleOf(_elements(lo, args[0], node)) if args else TupleOf(())


def _elements(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...]:
    return sequences.static_sequence(lo, elementwise.materialised(lo, binding, node), node)


def _list(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 0, 1)
    if args and isinstance(args[0], ListRef):
        held = lo.held(args[0])
        if isinstance(held, Growing):
            return dynamic_lists.copied(lo, held, node)
    source = elementwise.materialised(lo, args[0], node) if args else TupleOf(())
    if sequences.known_elements(lo, source, node) is None:
        return dynamic_lists.listed(lo, source, node)
    return lo.new_ref(ListRef, TupleOf(_elements(lo, source, node)))


def _dict(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    return filled(lo, lo.new_ref(DictRef, RecordOf((), ())), args, kwargs, node)


def _ordered(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    return filled(lo, lo.new_ref(OrderedRef, RecordOf((), ())), args, kwargs, node)


def filled(
    lo: Lowerer, made: DictRef, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Put into a new dict what its class is called with."""
    arguments.arity(lo, args, {}, node, 0, 1)
    args = [contents.as_plain_dict(lo, arg, node) for arg in args]
    if args and isinstance(args[0], DictRef):
        dicts.update(lo, made, args[0], node)
    elif args:
        for pair in sequences.static_sequence(lo, args[0], node):
            key, value = assignment.unpack(lo, pair, node, 2)
            dicts.put(lo, made, key, value, node)
    for name, value in kwargs.items():
        dicts.put(lo, made, Static(name), elementwise.materialised(lo, value, node), node)
    return made


def _from_keys(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call,
    make: type[DictRef] = DictRef,
) -> Binding:  # fmt: skip
    """Lower ``dict.fromkeys(keys, value)``."""
    if kwargs:
        raise TypeMismatchError("dict.fromkeys() takes no keyword arguments", lo.span(node))
    arguments.arity(lo, args, kwargs, node, 1, 2)
    value = args[1] if len(args) > 1 else NONE
    source = elementwise.materialised(lo, args[0], node)
    made = lo.new_ref(make, RecordOf((), ()))
    keys = sequences.known_elements(lo, source, node)
    if keys is None:
        return dispatch.apply(lo, static(library_tables.from_keys), [made, source, value], {}, node)
    for key in keys:
        dicts.put(lo, made, key, value, node)
    return made


def _text(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `str` and the like where `formatting` does not see a text: ``str()``."""
    if args or kwargs or node.args:
        raise lo.unsupported("this way of formatting", node, "use an f-string")
    return Static("")


def of_generator(lo: Lowerer, callee: Binding, node: ast.Call) -> Binding | None:
    """Lower ``sum``, ``any`` and ``all`` of a generator over a length known only at run time.

    And ``next`` of an iterator that is made in the call.
    """
    if callee == Static(next):
        return iterators.first(lo, node)
    if not isinstance(callee, Static) or callee.value not in (sum, any, all) or node.keywords:
        return None
    generator = node.args[0] if node.args else None
    if generator is not None and generators.called(lo, generator) is not None:
        return None
    before = lo.point()
    if isinstance(generator, ast.Call) and iterators.is_drawn(lo, generator):
        generator = iterators.generator(lo, generator)
    if not isinstance(generator, ast.GeneratorExp):
        return None
    if expressions.is_static(lo, generator.generators) and callee.value is sum:
        # What `map` is given is evaluated again.
        lo.undo(before)
        return None
    rest = [evaluation.lower_expr(lo, arg) for arg in node.args[1:]]
    return _reduced(lo, callee.value.__name__, generator, rest)


def _truths_of(name: str) -> Handler:
    """Python's `any` and `all` of a constant number of elements, or of an array."""

    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        array = _as_elements(lo, args[0], node)
        if array is not None:
            _require_vector(lo, array, name, node)
            found = reductions.HANDLERS[name](lo, [array], {}, node)
            return Num(numbers.weak(lo, elementwise.number(lo, found, node)))
        result: Operand = Literal(name == "all", BOOL)
        for item in sequences.static_sequence(lo, args[0], node):
            row = "and" if name == "all" else "or"
            result = numbers.apply(
                lo, row, result, numbers.weak(lo, evaluation.truth(lo, item, node))
            )
        return Num(result)

    return handler


def _listing(handler: Handler, *, ordered: bool) -> Handler:
    """Return a handler that is given a list where it would be given a dict that depends on the run.

    Or a set, if the order of its elements does not matter.
    """

    def listing(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if args and not (ordered and isinstance(args[0], SetRef)):
            listed = keyed.listed if ordered else keyed.elements
            args = [listed(lo, args[0], node), *args[1:]]
        return handler(lo, args, kwargs, node)

    return listing


HANDLERS: dict[Any, Handler] = {
    dict.fromkeys: _listing(_from_keys, ordered=True), collections.OrderedDict.fromkeys: _listing(
        functools.partial(_from_keys, make=OrderedRef), ordered=True),
    abs: _abs, min: _listing(_extreme(ast.Lt), ordered=False),
    max: _listing(_extreme(ast.Gt), ordered=False), len: _len, range: _range,
    slice: _slice, enumerate: _enumerate, zip: _zip, reversed: _reversed, divmod: _divmod,
    ord: _of_text(ord), chr: _of_text(chr),
    pow: _pow, str: _text, repr: _text, format: _text, sum: _listing(_sum, ordered=False),
    tuple: _listing(_tuple, ordered=True),
    int: _to_int, round: _round, float: _to_float, bool: _to_bool,
    list: _listing(_list, ordered=True), dict: _dict, collections.OrderedDict: _ordered,
    set: sets.made, frozenset: sets.frozen,
    any: _listing(_truths_of("any"), ordered=False),
    all: _listing(_truths_of("all"), ordered=False),
    sorted: _listing(sorting.sort, ordered=False), iter: drawing.iterator, next: drawing.step,
    iteration.beginning: drawing.beginning,
    map: iterators.refused,
    filter: iterators.refused,
}  # fmt: skip


def _reduced(lo: Lowerer, name: str, node: ast.GeneratorExp, args: list[Binding]) -> Binding:
    """Lower ``sum``, ``any`` or ``all`` of a generator."""
    if name == "sum":
        before = lo.point()
        bound = lo.frame.locals
        add = ast.BinOp(
            left=dynamic_lists.name_node(dynamic_lists.RESULT), op=ast.Add(), right=node.elt
        )
        start = args[0] if args else Num(integer(0))
        body: list[ast.stmt] = [
            ast.Assign(
                targets=[dynamic_lists.name_node(dynamic_lists.RESULT, ast.Store())], value=add
            )
        ]
        try:
            return dynamic_lists.run(lo, node, start, body)
        except TypeUnstableError:
            # The sum of arrays begins with a number.
            lo.undo(before)
            lo.frame.locals = bound
        return total(lo, dynamic_lists.comprehension(lo, node), start, node)
    found, target = name == "any", dynamic_lists.name_node(dynamic_lists.RESULT, ast.Store())
    test: ast.expr = node.elt if found else ast.UnaryOp(op=ast.Not(), operand=node.elt)
    body = [
        ast.If(
            test=test,
            body=[ast.Assign(targets=[target], value=ast.Constant(value=found))],
            orelse=[],
        )
    ]
    return dynamic_lists.run(lo, node, lo.num(not found), body)


library.enter(HANDLERS)
