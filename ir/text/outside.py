"""Calls of Python functions that are not part of the program: what they are given, and return.

A function of the IR with the routine ``external`` and a number stands for one such call. It makes
the arrays of its results, and the Python function fills them (`Outside`)::

    fn quad(%a: float, %b: float) -> f64[:] routine external0 rule refused() {
      %y = empty[f64] 1
      %t = print to "[\"external\"]" ""      as it may find another result later; not if it is pure
      return %y
    }

A number that is returned is an array of one element. Complex numbers are passed as their parts, and
numbers of 16 bits as those of 32.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.errors import Span, TypeMismatchError
from adc.ir.types import HALF, NAMES, Array, Scalar, Type

PREFIX = "external"
#: What `Print.to` says in such a function.
TO = '["external"]'


# --- the arguments --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """An object that is known when the program is compiled."""

    value: Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number or an array: the parameter `k`, and the next one if it is complex."""

    k: int
    type: Type


@dataclass(frozen=True, slots=True)
class Held:
    """A tuple, list, dict or named tuple."""

    cls: type
    keys: tuple[Any, ...]
    items: tuple[Part, ...]


Part = Constant | Leaf | Held
Maker = Callable[[Sequence[Any]], Any]


def _maker(part: Part) -> Maker:
    """Return what makes an argument of the numbers and arrays that are passed."""
    match part:
        case Constant(value):
            return lambda leaves: value
        case Leaf(k, ty) if ty.kind == "c":
            return lambda leaves: _whole(leaves[k], leaves[k + 1], ty)
        case Leaf(k, ty) if ty.dtype == HALF:
            return lambda leaves: _half(leaves[k])
        case Leaf(k):
            return lambda leaves: leaves[k]
        case Held(cls, keys, items):
            makers = [_maker(item) for item in items]
            if cls is tuple:
                return lambda leaves: tuple([make(leaves) for make in makers])
            if cls is list:
                return lambda leaves: [make(leaves) for make in makers]
            if issubclass(cls, dict):
                return lambda leaves: cls(zip(keys, [make(leaves) for make in makers], strict=True))
            return lambda leaves: cls(*[make(leaves) for make in makers])
    raise AssertionError(part)


def _half(value: Any) -> Any:
    found = np.float16(value)
    return read_only(found) if isinstance(found, np.ndarray) else found


def _whole(re: Any, im: Any, ty: Type) -> Any:
    if isinstance(ty, Scalar):
        found = complex(re, im)
        return found if ty.weak else ty.numpy.type(found)
    made = np.empty(re.shape, ty.numpy)
    made.real, made.imag = re, im
    return read_only(made)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array that cannot be written to."""
    array.setflags(write=False)
    return array


# --- the results ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """A number or an array that is returned, of this type."""

    type: Type


Results = Result | tuple["Results", ...] | None


def results_in(results: Results) -> Iterator[Result]:
    """Yield the numbers and arrays in a result."""
    if isinstance(results, tuple):
        for each in results:
            yield from results_in(each)
    elif results is not None:
        yield results


def _wanted(results: Results) -> str:
    """Return what a function should return, for errors."""
    if results is None:
        return "None"
    if isinstance(results, tuple):
        return f"a tuple of {len(results)}"
    ty = results.type
    if isinstance(ty, Array):
        return f"an array of {ty.numpy} with {_axes(ty.rank)}"
    return f"a number ({ty})"


def _axes(rank: int) -> str:
    return f"{rank} axis" if rank == 1 else f"{rank} axes"


def _kind(found: Any) -> str:
    """Return what a function has returned, for errors."""
    if found is None:
        return "None"
    if isinstance(found, np.ndarray):
        return f"an array of {found.dtype} with {_axes(found.ndim)}"
    if isinstance(found, np.generic | int | float | complex):
        return f"a number ({type(found).__name__})"
    if isinstance(found, tuple | list):
        return f"a {type(found).__name__} of {len(found)}"
    return f"a {type(found).__name__}"


_PYTHON = {bool: "b", int: "i", float: "f", complex: "c"}


# --- the call -------------------------------------------------------------------------------------


@dataclass(eq=False)
class Outside:
    """A call of a Python function that is not part of the program.

    Attributes
    ----------
    number : int
        Which one of the program's it is.
    fn : callable
        The Python function.
    params : tuple of Type
        Of the numbers and arrays that the function in the IR takes; those of the arguments first.
    args, kwargs : Part
        How they make up the arguments.
    results : Results
        What is returned.
    span : Span or None
        Where it is called.
    """

    number: int
    name: str
    fn: Callable[..., Any]
    params: tuple[Type, ...]
    args: tuple[Part, ...]
    kwargs: dict[str, Part]
    results: Results
    span: Span | None
    invoke: Maker = field(init=False, repr=False)
    _outs: tuple[Result, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.invoke = self._invoker()
        self._outs = tuple(results_in(self.results))

    def _invoker(self) -> Maker:
        """Return what calls the function, with numbers and arrays."""
        fn, count = self.fn, len(self.args)
        plain = [
            isinstance(part, Leaf) and part.k == k and part.type.dtype != HALF
            and part.type.kind != "c"
            for k, part in enumerate(self.args)
        ]  # fmt: skip
        if all(plain) and not self.kwargs:
            if count == len(self.params):
                return lambda leaves: fn(*leaves)
            if count == 1:
                return lambda leaves: fn(leaves[0])
            return lambda leaves: fn(*leaves[:count])
        makers = [_maker(part) for part in self.args]
        named = {name: _maker(part) for name, part in self.kwargs.items()}

        def invoke(leaves: Sequence[Any]) -> Any:
            kwargs = {name: make(leaves) for name, make in named.items()}
            return fn(*[make(leaves) for make in makers], **kwargs)

        return invoke

    @property
    def made(self) -> list[Type]:
        """The types of what it fills: an array, or a number; two for what is complex."""
        found: list[Type] = []
        for each in self._outs:
            part = each.type.part
            kind = Scalar("f32") if part.dtype == HALF else part
            if isinstance(part, Array) and part.dtype == HALF:
                kind = Array("f32", part.rank)
            found += [kind] * (2 if each.type.kind == "c" else 1)
        return found

    def checked(self, found: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        """Return the numbers and arrays in what the function has returned, as the program does.

        Parameters
        ----------
        found : object
            What was returned.
        shapes : sequence of tuple
            Of what is filled; those of numbers do not matter.

        Raises
        ------
        TypeMismatchError
            If it is something else than was said.
        """
        flat: list[Any] = []
        self._flatten(self.results, found, flat)
        done: list[Any] = []
        for out, value in zip(self._outs, flat, strict=True):
            done += self._checked(out.type, value, shapes[len(done)])
        return done

    def _flatten(self, results: Results, found: Any, flat: list[Any]) -> None:
        if isinstance(results, Result):
            flat.append(found)
            return
        if results is None:
            if found is not None:
                raise self._mismatch(results, found)
            return
        if not isinstance(found, tuple | list) or len(found) != len(results):
            raise self._mismatch(results, found)
        for each, item in zip(results, found, strict=True):
            self._flatten(each, item, flat)

    def _checked(self, ty: Type, found: Any, shape: tuple[int, ...]) -> list[Any]:
        rank = ty.rank
        dtype = ty.numpy
        if type(found) is np.ndarray and found.dtype is dtype and found.shape == shape:
            if ty.kind != "c" and rank:
                return [found]  # (as most are)
        elif type(found) is float and not rank and ty.dtype == "f64":
            return [found]
        value = np.asarray(found)
        if value.ndim != rank or not _fits(found, value.dtype, ty):
            raise self._mismatch(Result(ty), found)
        if rank and value.shape != shape:
            raise TypeMismatchError(
                f"{self.name}() returned an array of shape {value.shape}, and its `result` says "
                f"{shape}", self.span, "return an array of that shape, or correct `result`",
            )  # fmt: skip
        value = value.astype(dtype, copy=False)
        if ty.kind == "c":
            return [value.real, value.imag]
        return [value]

    def _mismatch(self, wanted: Results, found: Any) -> TypeMismatchError:
        return TypeMismatchError(
            f"{self.name}() returned {_kind(found)}, and its `result` says {_wanted(wanted)}",
            self.span, "return what `result` says, or correct it",
        )  # fmt: skip

    def fill(self, args: Sequence[Any], made: Sequence[np.ndarray[Any, Any]]) -> None:
        """Call the function with copies of arrays that cannot be written to; fill arrays."""
        leaves = [
            self._leaf(value, ty) for value, ty in zip(args, self.params, strict=True)
        ]  # fmt: skip
        found = self.checked(self.invoke(leaves), [array.shape for array in made])
        for array, value in zip(made, found, strict=True):
            array[...] = value

    @staticmethod
    def _leaf(value: Any, ty: Type) -> Any:
        if isinstance(ty, Array):
            return read_only(np.array(value, order="C"))
        number = ty.numpy.type(value)
        return number.item() if ty.weak else number


def _fits(found: Any, dtype: np.dtype[Any], ty: Type) -> bool:
    """Whether a value of a dtype becomes one of a type without loss."""
    weak = _PYTHON.get(type(found))
    if weak is not None:  # Python's numbers are of any precision
        return "bifc".index(weak) <= "bifc".index(ty.kind.replace("u", "i")) and not (
            dtype.kind == "O"
        )
    return np.can_cast(dtype, ty.numpy, "safe")


def annotated(fn: Callable[..., Any]) -> Any:
    """Return the annotation of what a function returns, if it says the type; None if not."""
    try:
        found = typing.get_type_hints(fn).get("return")
    except Exception:  # a name that is not defined, or an object without annotations
        return None
    return found if _is_type(found) else None


def _is_type(found: Any) -> bool:
    if typing.get_origin(found) is tuple:
        items = typing.get_args(found)
        return bool(items) and all(map(_is_type, items))
    if found is type(None):
        return True
    if not isinstance(found, type):
        return False
    return found in (bool, int, float, complex) or (
        issubclass(found, np.generic) and np.dtype(found) in NAMES
    )


def is_external(fn: Function) -> bool:
    """Whether a function stands for a call of a Python function outside."""
    return fn.routine.startswith(PREFIX)


def outside_of(fn: Function) -> Outside:
    """Return the call that a function stands for."""
    assert isinstance(fn.external, Outside)
    return fn.external


def calls_outside(fn: Function) -> dict[int, Outside]:
    """Return the calls of functions outside in a program, by their numbers."""
    found = {each.number: each for f in fn.callees if (each := f.external) is not None}
    for derived in fn.derived:
        found |= calls_outside(derived.of)
    return found


__all__ = [
    "PREFIX", "TO", "Constant", "Held", "Leaf", "Outside", "Part", "Result", "Results",
    "annotated", "calls_outside", "is_external", "outside_of", "read_only", "results_in",
]  # fmt: skip
