"""From a call to compiled code: argument types, hidden arguments, guards, results."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc import cache
from adc.driver import Compilation, Step, transform
from adc.frontend.bindings import ArrayRef, Binding, Num, Static, TupleOf, kind_of
from adc.frontend.lower import Lowered, lower, type_of
from adc.ir.core import Function
from adc.ir.errors import (
    ArgumentError,
    IntegerArgumentError,
    NonScalarError,
    OverlapError,
    Span,
)
from adc.ir.opdef import numpy_value
from adc.ir.types import Array, Scalar
from adc.passes.plan import Plan


@dataclass(frozen=True)
class Signature:
    """The arguments of one call, and what of them decides which code runs.

    Attributes
    ----------
    names : tuple of str
        The parameters, in order.
    values : tuple
        Their arguments.
    types : tuple
        For each argument a type, a tuple of types, or the static object itself.
    key : hashable
        Equal for calls that may run the same code.
    """

    fn: Callable[..., Any]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    types: tuple[Any, ...]
    key: object
    leaves: tuple[Any, ...]

    def arguments(self) -> dict[str, Any]:
        return dict(zip(self.names, self.types, strict=True))

    def _start(self, number: int) -> int:
        return sum(_count(ty) for ty in self.types[:number])

    def _checked(self, argnums: int | Sequence[int]) -> tuple[int, ...]:
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for number in numbers:
            if not 0 <= number < len(self.names):
                raise ArgumentError(
                    f"argnums={number}, but {_name(self.fn)}() was called with "
                    f"{len(self.names)} arguments",
                    _span(self.fn),
                )
        return numbers

    def positions(self, argnums: int | Sequence[int]) -> tuple[int, ...]:
        """Return the positions of the leaves of the differentiated arguments."""
        found: list[int] = []
        for number in self._checked(argnums):
            start = self._start(number)
            for k, ty in enumerate(_leaf_types(self.types[number])):
                if ty.kind != "f":
                    raise IntegerArgumentError(
                        f"argument {self.names[number]!r} of {_name(self.fn)}() is {_words(ty)}; "
                        "only floating-point arguments can be differentiated",
                        _span(self.fn),
                        "pass a float, or choose other arguments with `argnums`",
                    )
                found.append(start + k)
            if not _count(self.types[number]):
                raise IntegerArgumentError(
                    f"argument {self.names[number]!r} of {_name(self.fn)}() is "
                    f"{type(self.values[number]).__name__}, which cannot be differentiated",
                    _span(self.fn),
                    "choose other arguments with `argnums`",
                )
        return tuple(found)

    def is_scalar(self, number: int) -> bool:
        return isinstance(self.types[self._checked(number)[0]], Scalar)

    def gradient(self, argnums: int | tuple[int, ...], flat: Sequence[Any]) -> Any:
        """Arrange flat gradients like the arguments they belong to."""
        stream = iter(flat)
        found = tuple(_like(self.types[n], stream) for n in self._checked(argnums))
        return found[0] if isinstance(argnums, int) else found

    def directions(self, argnums: Sequence[int], tangents: Sequence[Any]) -> list[Any]:
        """Return the tangents as flat arguments, checked against the primals' shapes."""
        found: list[Any] = []
        for number, tangent in zip(argnums, tangents, strict=True):
            primal, name = self.values[number], self.names[number]
            pairs = _leaf_pairs(self.types[number], primal, tangent, name)
            for ty, leaf, direction in pairs:
                if isinstance(ty, Array):
                    array = np.asarray(direction, ty.numpy)
                    if array.shape != leaf.shape:
                        raise ArgumentError(
                            f"the tangent of {name!r} has shape {array.shape}, the argument "
                            f"{leaf.shape}"
                        )
                    found.append(np.ascontiguousarray(array) if ty.layout == "C" else array)
                else:
                    found.append(numpy_value(direction, ty))
        return found


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", repr(fn))


def _span(fn: Callable[..., Any]) -> Span | None:
    code = getattr(fn, "__code__", None)
    if code is None:
        return None
    return Span(code.co_filename, code.co_firstlineno, function=_name(fn))


def _words(ty: Scalar | Array) -> str:
    if isinstance(ty, Array):
        return f"an array of {ty.numpy}"
    if ty.weak:
        return {"b": "a bool", "i": "an int", "f": "a float"}[ty.kind]
    return f"a {ty.numpy}"


def _count(ty: Any) -> int:
    return sum(1 for _ in _leaf_types(ty))


def _leaf_types(ty: Any) -> Iterator[Scalar | Array]:
    if isinstance(ty, Scalar | Array):
        yield ty
    elif isinstance(ty, tuple):
        for item in ty:
            yield from _leaf_types(item)


def _leaf_pairs(
    ty: Any, primal: Any, tangent: Any, name: str
) -> Iterator[tuple[Scalar | Array, Any, Any]]:
    if isinstance(ty, tuple):
        if not isinstance(tangent, tuple) or len(tangent) != len(ty):
            raise ArgumentError(f"the tangent of {name!r} must be a tuple of {len(ty)}")
        for item in zip(ty, primal, tangent, strict=True):
            yield from _leaf_pairs(*item, name)
    elif isinstance(ty, Scalar | Array):
        yield ty, primal, tangent


def _like(ty: Any, stream: Iterator[Any]) -> Any:
    """Take a gradient like an argument of type `ty` from the stream."""
    if isinstance(ty, tuple):
        return tuple(_like(item, stream) for item in ty)
    if isinstance(ty, Scalar):
        return present(next(stream), ty)
    return next(stream) if isinstance(ty, Array) else None


def present(value: Any, ty: Scalar) -> Any:
    """Return a scalar result as Python (weak) or NumPy would have it."""
    if ty.weak:
        return numpy_value(value, ty).item()
    return numpy_value(value, ty)


def _type(value: Any, name: str, fn: Callable[..., Any]) -> Any:
    ty = type_of(value)
    if ty is not None:
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
            raise ArgumentError(f"argument {name!r} does not fit 64 bits", _span(fn))
        return ty
    if type(value) is tuple:
        return tuple(_type(item, name, fn) for item in value)
    if isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(
            f"argument {name!r} of {_name(fn)}() is a {type(value).__name__} of dtype "
            f"{value.dtype} and rank {value.ndim}",
            _span(fn),
            "pass arrays of bool, integers, float32 or float64, of rank 1 or more",
        )
    if isinstance(value, complex):
        raise ArgumentError(
            f"argument {name!r} of {_name(fn)}() is complex", _span(fn), "pass real numbers"
        )
    if isinstance(value, list | dict | set):
        raise ArgumentError(
            f"argument {name!r} of {_name(fn)}() is a {type(value).__name__}",
            _span(fn),
            "pass an array, a number or a tuple",
        )
    return value


def _key(ty: Any) -> object:
    if isinstance(ty, Scalar | Array):
        return ty
    if isinstance(ty, tuple):
        return tuple(_key(item) for item in ty)
    if isinstance(ty, str | type(None)):
        return ("static", ty)
    return ("object", id(ty))


def _flat(value: Any, ty: Any) -> Iterator[Any]:
    if isinstance(ty, Scalar | Array):
        yield value
    elif isinstance(ty, tuple):
        for item, inner in zip(value, ty, strict=True):
            yield from _flat(item, inner)


def bind(
    fn: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Signature:
    """Match arguments to parameters, as a call of `fn` would, and find their types."""
    if kwargs or len(args) != len(signature.parameters):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        names, values = tuple(bound.arguments), tuple(bound.arguments.values())
    else:
        bound = signature.bind(*args)
        names, values = tuple(bound.arguments), tuple(bound.arguments.values())
    kinds = tuple(_type(value, name, fn) for name, value in zip(names, values, strict=True))
    leaves = tuple(
        leaf for value, ty in zip(values, kinds, strict=True) for leaf in _flat(value, ty)
    )
    return Signature(fn, names, values, kinds, tuple(_key(ty) for ty in kinds), leaves)


@dataclass
class Compiled:
    """Code for one signature, and what its results mean."""

    lowered: Lowered
    steps: tuple[Step, ...]
    policy: str
    kernel: Any
    plan: Plan | None
    source: str
    from_disk: bool
    description: str
    _compilation: Compilation | None = None

    def is_current(self, call: Signature) -> bool:
        """Whether everything that was built into the code still holds."""
        return all(guard.holds() for guard in self.lowered.guards) and all(
            type_of(value) == capture.param.type
            for capture, value in zip(self.lowered.captures, self._hidden(), strict=True)
        )

    def _hidden(self) -> list[Any]:
        return [capture.read() for capture in self.lowered.captures]

    def run(self, call: Signature, extra: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Run the code on the arguments of a call."""
        args = [*call.leaves, *self._hidden()]
        self._check_overlap(args)
        return tuple(self.kernel(*args, *extra))

    def _check_overlap(self, args: Sequence[Any]) -> None:
        written = self.lowered.written
        if not written:
            return
        arrays = [(k, a) for k, a in enumerate(args) if isinstance(a, np.ndarray)]
        for k, a in arrays:
            if k in written:
                for j, b in arrays:
                    if j != k and not (j in written and j < k) and np.shares_memory(a, b):
                        names = [self.lowered.fn.params[i].name for i in (k, j)]
                        raise OverlapError(
                            f"arguments {names[0]!r} and {names[1]!r} overlap in memory, and "
                            f"{names[0]!r} is written",
                            None,
                            "pass a copy of one of them",
                        )

    # -- results ---------------------------------------------------------------------------

    def split(self, results: Sequence[Any], order: int) -> tuple[Any, Any, list[Any]]:
        """Return value, auxiliary results and flat gradients of a derivative of that order.

        Every tangent appends the tangents of all float results, so the highest derivative comes
        last: first that of the value, last those of the gradients.
        """
        own = self.lowered.fn.results
        gradients = len(self.steps[0][1])
        if order:
            floats = sum(operand.type.kind == "f" for operand in own) + gradients
            results = results[len(results) - floats :]
        assert isinstance(own[0].type, Scalar)
        value = present(results[0], own[0].type)
        aux = None
        if order == 0 and isinstance(self.lowered.result, TupleOf):
            rebuilt = _rebuild(self.lowered.result, iter(results[: len(own)]), self.lowered.fn)
            aux = rebuilt[1]
        return value, aux, list(results[len(results) - gradients :])

    def along(
        self, results: Sequence[Any], call: Signature, argnums: Sequence[int], reverse: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return value and derivatives along a direction: of the value, or of its gradients."""
        ty = self.lowered.fn.results[0].type
        assert isinstance(ty, Scalar)
        value = present(results[0], ty)
        if not reverse:
            return value, (present(results[len(self.lowered.fn.results)], ty),)
        count = len(self.steps[0][1])
        products = call.gradient(tuple(argnums), list(results)[len(results) - count :])
        return value, products

    def compilation(self) -> Compilation:
        """Return every stage; made again where the code came from disk."""
        if self._compilation is None:
            self._compilation = transform(self.lowered, self.steps, self.policy)
        return self._compilation


def _rebuild(binding: Binding, stream: Iterator[Any], fn: Function) -> Any:
    match binding:
        case Num() | ArrayRef():
            return next(stream)
        case TupleOf(items=items):
            return tuple(_rebuild(item, stream, fn) for item in items)
        case Static(value=value):
            return value
    return None


def compile_call(
    fn: Callable[..., Any],
    call: Signature,
    steps: tuple[Step, ...],
    options: Any,
    has_aux: bool = False,
) -> Compiled:
    """Compile `fn` for the types of a call."""
    lowered = lower(fn, call.arguments())
    _check_result(fn, lowered, has_aux)
    steps = tuple(steps)
    entry = cache.load_or_build(lowered, steps, options.remat, options.cache)
    names = ", ".join(
        f"{name}: {_describe(ty)}" for name, ty in zip(call.names, call.types, strict=True)
    )
    return Compiled(
        lowered,
        steps,
        options.remat,
        entry.kernel,
        entry.plan,
        entry.source,
        entry.from_disk,
        f"{_name(fn)}({names})",
        entry.compilation,
    )


def _describe(ty: Any) -> str:
    if isinstance(ty, tuple):
        return f"({', '.join(_describe(item) for item in ty)})"
    return str(ty) if isinstance(ty, Scalar | Array) else repr(ty)


def _check_result(fn: Callable[..., Any], lowered: Lowered, has_aux: bool) -> None:
    """Raise unless the (first) result is one float."""
    result: Binding = lowered.result
    if has_aux:
        if not (isinstance(result, TupleOf) and len(result.items) == 2):
            raise NonScalarError(
                f"{_name(fn)}() returns {kind_of(result)}; `has_aux` needs a pair",
                _span(fn),
                "return (value, auxiliary results)",
            )
        result = result.items[0]
    if not (isinstance(result, Num) and result.operand.type.kind == "f"):
        raise NonScalarError(
            f"{_name(fn)}() returns {kind_of(result)}; only one float can be differentiated",
            _span(fn),
            "return a scalar, for instance a sum",
        )


__all__ = ["Compiled", "Signature", "bind", "compile_call", "present", "types"]
