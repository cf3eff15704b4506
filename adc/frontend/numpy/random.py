"""Random draws: the methods of `np.random.Generator`.

A generator is bound to an array of six words, its state (`adc.library.random`), as an object with
one attribute. A draw is ordinary code that reads the words and stores new ones. So it is not a side
effect: the order of draws is the order of versions of an array, and no pass can drop, repeat or
reorder draws without changing values. Aliases, branches, loops, calls and exits work as for any
array that a program modifies, and reverse code that recomputes a part of the program starts from
the state at that point.

The state of a generator that is an argument or captured is a hidden argument, and the state after
all draws is a hidden result; these are the last results (`Lowered.drawn`). The caller of the code
stores it in the generator (`compiler.compiled`). If the program raises, there is no result, and the
generator does not change.

There were two alternatives: an operation with a side effect, which every pass would have to handle;
and calls of NumPy's own generators at run time, which could not be compiled in loops and could not
be repeated. The price of this design is that every bit generator must be implemented here. Only
PCG64 is, which `np.random.default_rng` returns; others are refused.

Numbers of other distributions are computed from standard ones by ordinary arithmetic, in NumPy's
order: ``loc + scale * z``. This makes them differentiable. Discrete decisions (``random() < p``,
`choice` with probabilities) have derivative zero.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import bindings, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Lazy,
    NamedTuple,
    Num,
    Static,
    TupleOf,
    kind_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.inputs import flatten
from adc.frontend.numpy import selection
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, Handler, is_none
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OPS
from adc.ir.ops.ziggurat import DTYPE_OF
from adc.ir.types import F64, INT, Scalar
from adc.library import random

U64 = Scalar("u64")
METHODS: dict[str, Handler] = {}
_method = arguments.entering(METHODS)
# What is built of standard draws: in order, those of double and of single precision.
STANDARD = {
    "random": (random.random64, random.random32),
    "standard_normal": (random.normal64, random.normal32),
    "standard_exponential": (random.exponential64, random.exponential32),
}
# The place of the words that draws change, of 64 bits and of 32.
_CHANGED = {4: (0, 1), 6: (0, 1, 4, 5)}
_INTEGERS = ("i64", "u64", "i32", "u32")


def attribute(lo: Lowerer, owner: NamedTuple, name: str, node: ast.AST) -> Binding:
    """Lower an attribute of a generator: a method."""
    if name not in METHODS:
        raise lo.unsupported(
            f"`.{name}` of a random generator", node, f"adc has {', '.join(sorted(METHODS))}"
        )
    return Bound(owner, name)


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method."""
    assert isinstance(bound.owner, NamedTuple)
    return METHODS[bound.name](lo, [bound.owner, *args], kwargs, node)


# -- draws -----------------------------------------------------------------------------------------


def drawn(
    lo: Lowerer,
    generator: Binding,
    fn: Callable[..., Any],
    node: ast.Call,
    count: int,
    dims: Sequence[Operand] | None = None,
    made: Callable[[Operand], Operand] = lambda operand: operand,
    element: Scalar = F64,
    more: Sequence[Binding] = (),
    each: Sequence[Lazy] = (),
) -> Binding:
    """Draw a number, or an array of the shape `dims`.

    Parameters
    ----------
    fn : callable
        A function of `adc.library.random`. It takes the first `count` words of the state, and
        `more`; and of each array in `each` the element in the place of the draw.
    made : callable
        Makes an element, of the type `element`, of what `fn` returns.
    """
    assert isinstance(generator, NamedTuple)
    (words,) = generator.record.items
    assert isinstance(words, ArrayRef)
    if words.view or words.object.kept:
        raise lo.unsupported(
            "drawing from a random generator in a list whose length is known only at run time",
            node, "create the generator where it is used, from a seed",
        )  # fmt: skip
    version = lo.version(words.object, node)
    state = [lo.builder.load(version, [integer(k)], hint="word") for k in range(count)]
    changed = _CHANGED[count]

    def draw(now: Sequence[Operand], index: Sequence[Operand] = ()) -> list[Operand]:
        given: list[Operand] = list(state)
        for place, operand in zip(changed, now, strict=True):
            given[place] = operand
        parameters = [Num(part.element(index)) for part in each]
        found = call(lo, fn, [*map(Num, given), *parameters, *more], node)
        assert isinstance(found, TupleOf)
        value, *after = (elementwise.number(lo, item, node) for item in found.items)
        return [made(value), *after]

    with lo.at(node):
        before = [state[k] for k in changed]
        if not dims:
            value, *after = draw(before)
            result: Binding = Num(value)
        else:

            def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
                value, *after = draw(carried[1:], index)
                return [lo.builder.store(carried[0], index, value, hint="drawn"), *after]

            empty = arrays.created(lo, element.dtype, list(dims), None, "drawn")
            hints = ["drawn", *("word" for _ in changed)]
            filled, *after = elementwise.nest(lo, dims, [empty, *before], hints, body)
            assert isinstance(filled, Value)
            result = lo.new_array(filled, tuple(dims), "drawn")
        for place, operand in zip(changed, after, strict=True):
            version = lo.builder.store(version, [integer(place)], operand)
        lo.update(words.object, version)
    return result


def standard(
    lo: Lowerer, generator: Binding, name: str, dims: Sequence[Operand] | None, node: ast.Call,
    dtype: str = "f64",
) -> Binding:  # fmt: skip
    """Draw from a standard distribution: a float of Python's where no shape is asked for."""
    double, single = STANDARD[name]
    if dtype == "f64":
        found = drawn(lo, generator, double, node, 4, dims)
    else:
        found = drawn(lo, generator, single, node, 6, dims, element=Scalar("f32"))
    return Num(numbers.weak(lo, elementwise.number(lo, found, node))) if dims is None else found


def size(lo: Lowerer, given: Given, node: ast.Call) -> list[Operand] | None:
    """Return the shape that is asked for, or None."""
    size = given.get("size")
    if is_none(size):
        return None
    assert size is not None
    with lo.at(node):
        return arrays.shape_argument(lo, size, node)


def no_out(lo: Lowerer, given: Given, node: ast.Call) -> None:
    if not is_none(given.get("out")):
        raise lo.unsupported("the argument 'out' of a draw", node, "assign the result")


def _simple(lo: Lowerer, given: Given, node: ast.Call, name: str) -> Binding:
    no_out(lo, given, node)
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node) or "f64"
    if dtype not in ("f64", "f32"):
        raise TypeMismatchError(f"no random numbers of dtype {dtype}", lo.span(node))
    return standard(lo, given["generator"], name, size(lo, given, node), node, dtype)


@_method("generator size? dtype? out?")
def _random(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _simple(lo, given, node, "random")


@_method("generator size? dtype? out?", "standard_normal")
def _standard_normal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _simple(lo, given, node, "standard_normal")


@_method("generator size? dtype? method? out?", "standard_exponential")
def _standard_exponential(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if arguments.text(lo, given.get("method"), "zig", node, "the method") != "zig":
        raise lo.unsupported("a method other than 'zig'", node, "leave it out")
    return _simple(lo, given, node, "standard_exponential")


# -- with parameters -------------------------------------------------------------------------------


def parameter(lo: Lowerer, given: Given, name: str, default: float, node: ast.Call) -> Binding:
    found = arrays.as_operand(lo, given.get(name, lo.num(default)), node)
    found = elementwise.value_of(lo, found, node)
    if not isinstance(found, Num | ArrayRef | Lazy):
        raise TypeMismatchError(f"{name!r} is {kind_of(found)}, not a number", lo.span(node))
    return found


def combined(
    lo: Lowerer, compute: Callable[..., Operand], args: Sequence[Binding], node: ast.Call
) -> Binding:
    """Apply arithmetic in double precision to numbers and arrays."""

    def elements(items: list[Binding]) -> Binding:
        operands = [elementwise.number(lo, item, node, "a draw") for item in items]
        return Num(compute(*(lo.exact(lo.convert(each, F64), F64) for each in operands)))

    return elementwise.lift(lo, args, elements, node)


def call(lo: Lowerer, fn: Callable[..., Any], args: Sequence[Binding], node: ast.Call) -> Binding:
    """Lower a call of a function of the library."""
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, args, {}, node)


def checked(lo: Lowerer, check: Callable[..., None], value: Binding, node: ast.Call) -> None:
    """Call a check of the library, unless it passes for a constant."""
    if isinstance(value, Num) and isinstance(value.operand, Literal):
        try:
            check(np.float64(value.operand.value))
        except (ValueError, OverflowError):
            pass
        else:
            return
    call(lo, check, [value], node)


def fitted(
    lo: Lowerer, given: Given, node: ast.Call, parts: Sequence[Binding]
) -> tuple[list[Operand] | None, list[Binding]]:
    """Return the shape of what is drawn, None for a number, and parameters broadcast to it."""
    dims = size(lo, given, node)
    parts = list(parts)
    shapes = [
        views.dims_of(lo, part) for part in parts if isinstance(part, ArrayRef | Lazy)
    ]  # fmt: skip
    if dims is None and shapes:
        dims = list(elementwise.common_dims(lo, shapes, node))
    if dims is not None:
        for k, part in enumerate(parts):
            if isinstance(part, ArrayRef | Lazy):
                own = views.dims_of(lo, part)
                if len(own) > len(dims):
                    raise TypeMismatchError(
                        f"parameters of rank {len(own)} for draws of rank {len(dims)}",
                        lo.span(node), "ask for a `size` that they are broadcast to",
                    )  # fmt: skip
                parts[k] = elementwise.fitted(lo, elementwise.lazy(lo, part, node), dims, node)
    return dims, parts


def transformed(
    lo: Lowerer, given: Given, node: ast.Call, name: str, parts: Sequence[Binding],
    compute: Callable[..., Operand],
) -> Binding:  # fmt: skip
    """Return a function of parameters and draws of a standard distribution."""
    dims, parts = fitted(lo, given, node, parts)
    drawn = standard(lo, given["generator"], name, dims, node)
    found = combined(lo, compute, [*parts, drawn], node)
    if dims is None:
        return Num(numbers.weak(lo, elementwise.number(lo, found, node)))
    return found


def located(
    lo: Lowerer, given: Given, node: ast.Call, name: str, offset: Binding | None, scale: Binding
) -> Binding:
    """Return ``offset + scale * z`` for draws of a standard distribution."""

    def compute(*operands: Operand) -> Operand:
        *before, scale, z = operands
        found = numbers.apply(lo, "mul", scale, z)
        return numbers.apply(lo, "add", before[0], found) if before else found

    parts = [part for part in (offset, scale) if part is not None]
    return transformed(lo, given, node, name, parts, compute)


@_method("generator loc? scale? size?")
def _normal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    loc = parameter(lo, given, "loc", 0.0, node)
    scale = parameter(lo, given, "scale", 1.0, node)
    checked(lo, random.require_not_negative, as_floats(lo, scale, node), node)
    return located(lo, given, node, "standard_normal", loc, scale)


@_method("generator scale? size?")
def _exponential(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    scale = parameter(lo, given, "scale", 1.0, node)
    checked(lo, random.require_not_negative, as_floats(lo, scale, node), node)
    return located(lo, given, node, "standard_exponential", None, scale)


@_method("generator low? high? size?")
def _uniform(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    low = parameter(lo, given, "low", 0.0, node)
    high = parameter(lo, given, "high", 1.0, node)
    width = combined(lo, lambda a, b: numbers.apply(lo, "sub", b, a), [low, high], node)
    width = elementwise.materialised(lo, width, node)
    checked(lo, random.require_range, width, node)
    return located(lo, given, node, "random", low, width)


def as_floats(lo: Lowerer, value: Binding, node: ast.Call) -> Binding:
    """Return numbers of double precision."""
    return elementwise.materialised(lo, combined(lo, lambda x: x, [value], node), node)


# -- integers --------------------------------------------------------------------------------------


@_method("generator low high? size? dtype? endpoint?")
def _integers(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node) or "i64"
    if dtype not in _INTEGERS:
        raise lo.unsupported(
            f"random integers of dtype {Scalar(dtype).numpy}", node,
            f"use one of {', '.join(str(Scalar(name).numpy) for name in _INTEGERS)}",
        )  # fmt: skip
    dims = size(lo, given, node)
    alone = is_none(given.get("high"))
    ends = [lo.num(0), given["low"]] if alone else [given["low"], given["high"]]
    for k, end in enumerate(ends):
        ends[k] = end = elementwise.value_of(lo, arrays.as_operand(lo, end, node), node)
        if isinstance(end, ArrayRef | Lazy):
            raise lo.unsupported(
                "an array of bounds of random integers", node,
                "draw one by one in a loop: the numbers are the same",
            )  # fmt: skip
    with lo.at(node):
        low, high = (arguments.integer(lo, end, node) for end in ends)
        closed = arguments.flag(lo, given.get("endpoint"), node, "`endpoint`")
        _check_range(lo, low, high, Scalar(dtype), dims, closed, alone)
        ends_ = [lo.convert(end, INT) for end in (low, high)]
        least, most = (_word(lo, end) for end in ends_)
        if not closed:
            most = numbers.apply(lo, "sub", most, Literal(1, U64))
        span = numbers.apply(lo, "sub", most, least)
    element = Scalar(dtype)
    found = _below(lo, given["generator"], span, dims, node, element, least)
    asked = given.get("dtype")
    if dims is None and isinstance(asked, Static) and asked.value is int:
        return Num(numbers.weak(lo, elementwise.number(lo, found, node)))
    return found


def _word(lo: Lowerer, operand: Operand) -> Operand:
    """Return an integer's bits as a word."""
    if isinstance(operand, Literal):
        return Literal(int(operand.value) % 2**64, U64)
    return lo.convert(operand, U64)


def _check_range(
    lo: Lowerer, low: Operand, high: Operand, ty: Scalar, dims: Sequence[Operand] | None,
    closed: bool, alone: bool,
) -> None:  # fmt: skip
    """Raise NumPy's errors of bounds, unless nothing is drawn."""
    nothing: Operand | None = None
    if dims is not None:
        nothing = numbers.apply(lo, "eq", views.size_of(lo, list(dims)), integer(0))

    def check(ok: Operand, message: str) -> None:
        ok = ok if nothing is None else numbers.apply(lo, "or", ok, nothing)
        numbers.check(lo, ok, "ValueError", message)

    info: Any = np.iinfo(str(ty.numpy))
    least, most = int(info.min), int(info.max) + (not closed)
    if least > -(2**63):
        text = f"low is out of bounds for {ty.numpy}"
        check(numbers.apply(lo, "ge", low, integer(least)), text)
    if most < 2**63:
        text = f"high is out of bounds for {ty.numpy}"
        check(numbers.apply(lo, "le", high, integer(most)), text)
    sign = (">" if closed else ">=") if not alone else ("<" if closed else "<=")
    message = f"high {sign} 0" if alone else f"low {sign} high"
    check(numbers.apply(lo, "le" if closed else "lt", low, high), message)


def _below(
    lo: Lowerer, generator: Binding, span: Operand, dims: Sequence[Operand] | None,
    node: ast.Call, element: Scalar, least: Operand,
) -> Binding:  # fmt: skip
    """Draw integers from `least` to `span` more, both words."""

    def made(word: Operand) -> Operand:
        return lo.exact(lo.convert(numbers.apply(lo, "add", least, word), element), element)

    return drawn(lo, generator, random.bounded, node, 6, dims, made, element, [Num(span)])


# -- choices ---------------------------------------------------------------------------------------


def _range(lo: Lowerer, count: Operand, node: ast.Call) -> ArrayRef:
    """Return the integers below `count` in an array."""
    element = Scalar("i64")
    source = Lazy((count,), element, lambda index: lo.exact(lo.convert(index[0], element), element))
    return elementwise.stored_new(lo, source, "i64", node, "index")


def _shuffled(lo: Lowerer, generator: Binding, index: ArrayRef, node: ast.Call) -> None:
    drawn(lo, generator, random.shuffle, node, 6, more=[index, lo.num(1), lo.num(True)])


def _taken(
    lo: Lowerer, x: Binding, index: Binding, axis: Binding, node: ast.Call
) -> Binding:  # fmt: skip
    found = selection.HANDLERS["take"](lo, [x, index], {"axis": axis}, node)
    return elementwise.materialised(lo, found, node)


def _population(
    lo: Lowerer, x: Binding, axis: Binding, node: ast.Call
) -> tuple[Binding | None, Operand]:
    """Return an array to take from, or None for the integers below a number; and their number."""
    x = elementwise.value_of(lo, arrays.as_operand(lo, x, node), node)
    if isinstance(x, ArrayRef | Lazy):
        x = elementwise.base_of(lo, x, node)
        dims = views.dims_of(lo, x)
        return x, dims[arguments.axis(lo, axis, len(dims), node)]
    return None, arguments.integer(lo, x, node)


@_method("generator x axis?")
def _permutation(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    axis = given.get("axis", lo.num(0))
    with lo.at(node):
        x, count = _population(lo, given["x"], axis, node)
        if x is None:
            count = numbers.select(lo, numbers.apply(lo, "gt", count, integer(0)), count,
                                   integer(0))  # fmt: skip
        index = _range(lo, count, node)
        _shuffled(lo, given["generator"], index, node)
        return index if x is None else _taken(lo, x, index, axis, node)


@_method("generator x axis?")
def _shuffle(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["x"]
    if not isinstance(x, ArrayRef):
        raise lo.unsupported(
            f"shuffling {kind_of(x)}", node, "shuffle an array, or use `permutation`"
        )
    axis = given.get("axis", lo.num(0))
    with lo.at(node):
        _, count = _population(lo, x, axis, node)
        index = _range(lo, count, node)
        _shuffled(lo, given["generator"], index, node)
        elementwise.assign_to(lo, x, _taken(lo, x, index, axis, node), node)
    return Static(None)


@_method("generator a size? replace? p? axis? shuffle?")
def _choice(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    axis = given.get("axis", lo.num(0))
    generator = given["generator"]
    replaced = arguments.flag(lo, given.get("replace", lo.num(True)), node, "`replace`")
    with lo.at(node):
        x, count = _population(lo, given["a"], axis, node)
        dims = size(lo, given, node)
        total = views.size_of(lo, dims) if dims else integer(1)
        what = "a must be a positive integer" if x is None else "a cannot be empty"
        some = numbers.apply(lo, "gt", count, integer(0))
        none = numbers.apply(lo, "eq", total, integer(0))
        message = f"{what} unless no samples are taken"
        numbers.check(lo, numbers.apply(lo, "or", some, none), "ValueError", message)
        if not is_none(given.get("p")):
            index = _weighted(lo, given, count, total, replaced, node)
        elif replaced:
            span = numbers.apply(lo, "sub", _word(lo, count), Literal(1, U64))
            shape = None if dims is None else [total]
            index = _below(lo, generator, span, shape, node, Scalar("i64"), Literal(0, U64))
        else:
            text = "Cannot take a larger sample than population when replace is False"
            numbers.check(lo, numbers.apply(lo, "le", total, count), "ValueError", text)
            shuffled = arguments.flag(lo, given.get("shuffle", lo.num(True)), node, "`shuffle`")
            empty = arrays.created(lo, "i64", [total], None, "index")
            index = lo.new_array(empty, (total,), "index")
            more: tuple[Binding, ...] = (index, Num(count), lo.num(shuffled))
            drawn(lo, generator, random.sample, node, 6, more=more)
        if dims is None or not dims:
            if isinstance(index, ArrayRef):
                index = Num(elementwise.lazy(lo, index, node).element([integer(0)]))
            if x is None and dims is None:
                return Num(numbers.weak(lo, elementwise.number(lo, index, node)))
        elif len(dims) > 1:
            assert isinstance(index, ArrayRef)
            index = elementwise.copy(lo, views.reshaped(lo, index, dims), node)
        return index if x is None else _taken(lo, x, index, axis, node)


def _weighted(
    lo: Lowerer, given: Given, count: Operand, total: Operand, replaced: bool, node: ast.Call
) -> Binding:
    """Return positions that are drawn with given probabilities."""
    if not replaced:
        raise lo.unsupported(
            "drawing with probabilities but without replacement", node,
            "draw outside the function, and pass the indices",
        )  # fmt: skip
    p = elementwise.value_of(lo, arrays.as_array(lo, given["p"], node), node)
    if not isinstance(p, ArrayRef | Lazy) or len(views.dims_of(lo, p)) != 1:
        raise TypeMismatchError("p must be 1-dimensional", lo.span(node))
    single = elementwise.element_type(p).dtype == "f32"
    size = views.dims_of(lo, p)[0]
    text = "a and p must have same size"
    numbers.check(lo, numbers.apply(lo, "eq", size, count), "ValueError", text)
    tolerance = lo.num(float(np.sqrt(np.finfo(np.float32 if single else np.float64).eps)))
    table = call(lo, random.cumulative, [as_floats(lo, p, node), tolerance], node)
    uniform = standard(lo, given["generator"], "random", [total], node)
    return call(lo, random.positions, [table, uniform], node)


# -- generators ------------------------------------------------------------------------------------


def of_module(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of something of `np.random`; return None for anything else."""
    owner = type(getattr(callee, "__self__", None))
    if owner.__module__ == "numpy.random.mtrand":
        raise lo.unsupported(
            f"`np.random.{callee.__name__}`, which changes a global state", node,
            "use a generator: pass the result of `np.random.default_rng` as an argument",
        )  # fmt: skip
    if not (getattr(callee, "__module__", None) or "").startswith("numpy.random"):
        return None
    if callee is np.random.default_rng:
        return _default_rng(lo, args, kwargs, node)
    raise lo.unsupported(
        f"`np.random.{getattr(callee, '__name__', callee)}`", node,
        "pass the result of `np.random.default_rng` as an argument",
    )  # fmt: skip


def _default_rng(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.random.default_rng(seed)``."""
    given = arguments.match(lo, "seed?", args, kwargs, node)
    seed = given.get("seed")
    if seed is not None and bindings.is_generator(seed):
        return seed
    if is_none(seed):
        raise lo.unsupported(
            "a random generator without a seed", node,
            "give it one, or pass a generator as an argument",
        )  # fmt: skip
    assert seed is not None
    operand = elementwise.number(lo, seed, node, "a seed")
    if operand.type.kind not in "iu":
        raise TypeMismatchError(f"a seed must be an integer, not {kind_of(seed)}", lo.span(node))
    with lo.at(node):
        ok = numbers.apply(lo, "ge", operand, numbers.zero_of(numbers.scalar_type(operand)))
        numbers.check(lo, ok, "ValueError", "expected non-negative integer")
        if not isinstance(operand, Literal):
            made = call(lo, random.seeded, [Num(_word(lo, operand))], node)
            assert isinstance(made, ArrayRef)
            return bindings.generator_of(made)
        found = flatten.words(np.random.default_rng(int(operand.value))).tolist()
        words = lo.builder.apply("full", Literal(0, U64), integer(len(found)), params=("u64",))
        for k, word in enumerate(found):
            words = lo.builder.store(words, [integer(k)], Literal(word, U64))
        return bindings.generator_of(lo.new_array(words, (integer(len(found)),), "rng"))


def _row(name: str) -> Handler:
    """Lower a function of `adc.library.random` that stands for a row."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        operands = [elementwise.number(lo, arg, node) for arg in args]
        return Num(lo.builder.apply(name, *operands))

    return handler


ROWS: dict[Any, Handler] = {
    getattr(random, name): _row(name)
    for name in ("pcg64_high", "pcg64_word", "libm_exp", "libm_expm1", "libm_log", "libm_log1p",
                 "libm_pow", "by_rejection", *DTYPE_OF)
}  # fmt: skip
assert {fn.__name__ for fn in ROWS} <= set(OPS)
