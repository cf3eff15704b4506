"""Draws: the state of a generator, and what is computed of draws from it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import bindings, numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, NamedTuple, Num, ObjectRef
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import arguments, arrays, elementwise, objects, views
from adc.frontend.values.arguments import Given, Handler, is_none
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import F64, Scalar
from adc.library import distributions, random, twister

U64 = Scalar("u64")
SEEDLESS = "give it one, or pass a generator as an argument"
# The methods of `np.random.Generator`, and of `np.random.RandomState`.
METHODS: dict[str, Handler] = {}
LEGACY: dict[str, Handler] = {}
method = arguments.entering(METHODS)
legacy = arguments.entering(LEGACY)


def both(spec: str, *names: str) -> Callable[[Any], Any]:
    """Return a decorator that enters a handler as a method of both classes."""
    return lambda handler: method(spec, *names)(legacy(spec, *names)(handler))


# What is built of standard draws, and those in single precision.
STANDARD: dict[str, Callable[..., Any]] = {
    "random": random.random64,
    "standard_normal": random.normal,
    "standard_exponential": random.exponential,
    "laplace": distributions.laplace64,
    "logistic": distributions.logistic64,
    "gumbel": distributions.gumbel64,
    "cauchy": distributions.cauchy64,
    "rayleigh": distributions.rayleigh64,
}
SINGLE: dict[str, Callable[..., Any]] = {
    "random": random.random32,
    "standard_normal": random.normal32,
    "standard_exponential": random.exponential32,
}


# -- draws -----------------------------------------------------------------------------------------


class _Words:
    """The state of a `Generator`, six words: draws change two of them, or four.

    Parameters
    ----------
    lo : Lowerer
    words : ArrayRef
    halves : bool
        Whether draws take words of 32 bits.
    node : ast.Call
    """

    # The attributes of a source, in the order of the words.
    NAMES = ("high", "low", "step_high", "step_low", "full", "half")

    def __init__(self, lo: Lowerer, words: ArrayRef, halves: bool, node: ast.Call) -> None:
        self.lo, self.words, self.node = lo, words, node
        self.version = lo.version(words.object, node)
        self.state: list[Operand] = [
            lo.builder.load(self.version, [integer(k)], hint="word")
            for k in range(6 if halves else 4)
        ]
        self.state += [Literal(0, U64)] * (6 - len(self.state))
        self.changed = (0, 1, 4, 5) if halves else (0, 1)

    @property
    def before(self) -> list[Operand]:
        """What draws change."""
        return [self.state[k] for k in self.changed]

    def opened(self, now: Sequence[Operand]) -> Binding:
        """Return the source of words whose state this is."""
        state = list(self.state)
        for place, operand in zip(self.changed, now, strict=True):
            state[place] = operand
        return objects.construct(self.lo, random.Pcg64, [*map(Num, state)], {}, self.node)

    def after(self, source: Binding) -> list[Operand]:
        """Return the state of a source, as far as draws change it."""
        assert isinstance(source, ObjectRef)
        found = (objects.attribute(self.lo, source, self.NAMES[k], self.node) for k in self.changed)
        return [elementwise.number(self.lo, word, self.node) for word in found if word is not None]

    def close(self, now: Sequence[Operand]) -> None:
        """Store the state after all draws."""
        for place, operand in zip(self.changed, now, strict=True):
            self.version = self.lo.builder.store(self.version, [integer(place)], operand)
        self.lo.update(self.words.object, self.version)


class _Array:
    """The state of a `RandomState`: draws change the array."""

    def __init__(self, lo: Lowerer, words: ArrayRef, node: ast.Call) -> None:
        self.lo, self.words, self.node = lo, words, node
        self.before: list[Operand] = [lo.version(words.object, node)]
        self.now = words

    def opened(self, now: Sequence[Operand]) -> Binding:
        """Return the source of words whose state this is."""
        (version,) = now
        assert isinstance(version, Value)
        self.now = self.lo.new_array(version, self.lo.dims[self.words.object], "words")
        return objects.construct(self.lo, twister.Twister, [self.now], {}, self.node)

    def after(self, source: Binding) -> list[Operand]:
        """Return the state of the source that was opened."""
        return [self.lo.version(self.now.object, self.node)]

    def close(self, now: Sequence[Operand]) -> None:
        """Store the state after all draws."""
        (version,) = now
        assert isinstance(version, Value)
        self.lo.update(self.words.object, version)


def state_of(lo: Lowerer, generator: Binding, node: ast.Call) -> ArrayRef:
    """Return the words of a generator, which a draw changes."""
    assert isinstance(generator, NamedTuple)
    (words,) = generator.record.items
    if not isinstance(words, ArrayRef):
        numbers.leave(lo, "drawing from a random generator without a seed", node, SEEDLESS)
    if words.view or words.object.kept:
        raise lo.unsupported(
            "drawing from a random generator in a list whose length is known only at run time",
            node, "create the generator where it is used, from a seed",
        )  # fmt: skip
    return words


def drawn(
    lo: Lowerer,
    generator: Binding,
    fn: Callable[..., Any],
    node: ast.Call,
    dims: Sequence[Operand] | None = None,
    made: Callable[[Operand], Operand] = lambda operand: operand,
    element: Scalar = F64,
    more: Sequence[Binding] = (),
    each: Sequence[Lazy] = (),
    halves: bool = False,
) -> Binding:
    """Draw a number, or an array of the shape `dims`.

    Parameters
    ----------
    fn : callable
        A function of `adc.library.random`. It takes a source of words and `more`; and of each
        array in `each` the element in the place of the draw.
    halves : bool
        Whether `fn` takes words of 32 bits.
    made : callable
        Makes an element, of the type `element`, of what `fn` returns.
    """
    words = state_of(lo, generator, node)
    older = bindings.is_legacy(generator)
    state = _Array(lo, words, node) if older else _Words(lo, words, halves, node)

    def draw(now: Sequence[Operand], index: Sequence[Operand] = ()) -> list[Operand]:
        source = state.opened(now)
        parameters = [Num(part.element(index)) for part in each]
        found = call(lo, fn, [source, *parameters, *more], node)
        return [made(elementwise.number(lo, found, node)), *state.after(source)]

    with lo.at(node):
        if not dims:
            value, *after = draw(state.before)
            result: Binding = Num(value)
        else:

            def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
                value, *after = draw(carried[1:], index)
                return [lo.builder.store(carried[0], index, value, hint="drawn"), *after]

            empty = arrays.created(lo, element.dtype, list(dims), None, "drawn")
            hints = ["drawn", *("word" for _ in state.before)]
            filled, *after = elementwise.nest(lo, dims, [empty, *state.before], hints, body)
            assert isinstance(filled, Value)
            result = lo.new_array(filled, tuple(dims), "drawn")
        state.close(after)
    return result


def standard(
    lo: Lowerer, generator: Binding, name: str, dims: Sequence[Operand] | None, node: ast.Call,
    dtype: str = "f64",
) -> Binding:  # fmt: skip
    """Draw from a standard distribution: a float of Python's where no shape is asked for."""
    if dtype == "f64":
        found = drawn(lo, generator, STANDARD[name], node, dims)
    else:
        found = drawn(lo, generator, SINGLE[name], node, dims, element=Scalar(dtype), halves=True)
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


def as_floats(lo: Lowerer, value: Binding, node: ast.Call) -> Binding:
    """Return numbers of double precision."""
    return elementwise.materialised(lo, combined(lo, lambda x: x, [value], node), node)


def word(lo: Lowerer, operand: Operand) -> Operand:
    """Return an integer's bits as a word."""
    if isinstance(operand, Literal):
        return Literal(int(operand.value) % 2**64, U64)
    return lo.convert(operand, U64)
