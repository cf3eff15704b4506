"""The parameters of a function, and the types of the arguments of a call."""

from __future__ import annotations

import copy
import inspect
import itertools
import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adc.frontend.core.messages import advice
from adc.frontend.inputs import flatten, trees, unflatten
from adc.frontend.inputs import stacks as stacking
from adc.frontend.inputs.places import Place, Step
from adc.frontend.inputs.trees import describe
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.core import derivative_type
from adc.ir.errors import ArgumentError, IntegerArgumentError
from adc.ir.types import Array, Scalar
from adc.library.transforms import KEYWORDS

# --- the function and its parameters --------------------------------------------------------------


class Parameters:
    """The parameters of functions with one code object, and how arguments are matched to them.

    Attributes
    ----------
    names : tuple of str
        The parameters, in order.
    positional : int
        How many of them can be given by position, ``*args`` not counted.
    keywords : int
        How many are given by name alone, ``**kwargs`` not counted.
    variable : str or None
        The name of ``*args``.
    """

    def __init__(self, code: types.CodeType) -> None:
        names = iter(code.co_varnames)
        plain = list(itertools.islice(names, code.co_argcount))
        keywords = list(itertools.islice(names, code.co_kwonlyargcount))
        rest = [next(names)] if code.co_flags & inspect.CO_VARARGS else []
        others = [next(names)] if code.co_flags & inspect.CO_VARKEYWORDS else []
        self.positional, self.keywords = len(plain), len(keywords)
        self.variable = rest[0] if rest else None
        self.names = (*plain, *rest, *keywords, *others)
        only = code.co_posonlyargcount
        head = [*plain[:only], "/", *plain[only:]] if only else plain
        star = [f"*{rest[0]}"] if rest else ["*"] if keywords else []
        text = ", ".join([*head, *star, *keywords, *(f"**{name}" for name in others)])
        namespace: dict[str, Any] = {}
        exec(f"def stub({text}): return ({''.join(f'{n}, ' for n in self.names)})", namespace)
        self._stub: types.CodeType = namespace["stub"].__code__

    def matching(self, fn: types.FunctionType) -> Callable[..., tuple[Any, ...]]:
        """Return a function that does nothing but take arguments like `fn`, for each parameter one.

        It is ten times as fast as `inspect.Signature.bind`, and errors have Python's own words.
        """
        stub = types.FunctionType(self._stub, {}, fn.__name__, fn.__defaults__)
        stub.__qualname__, stub.__kwdefaults__ = fn.__qualname__, fn.__kwdefaults__
        return stub


# --- the types of a call --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Argument:
    """An argument: its type, the position of its first leaf, and where it is among the values."""

    name: str
    type: Any
    start: int
    at: tuple[int, ...]


class Signature:
    """The types of the arguments of a call.

    Attributes
    ----------
    names : tuple of str
        The parameters, in order.
    types : tuple
        For each the type tree of its argument.
    """

    def __init__(
        self,
        fn: types.FunctionType,
        parameters: Parameters,
        values: tuple[Any, ...],
        whole: Sequence[bool],
        skip: int,
        stacks: Collection[Place] = (),
    ) -> None:
        self.fn = fn
        self.names = parameters.names
        self.types = tuple(
            _tree(value, name, fn, differentiated, _paths(stacks, k))
            for k, (name, value, differentiated) in enumerate(
                zip(self.names, values, whole, strict=True)
            )
        )
        # Whether the arguments are what code takes, as they are.
        self._plain = all(
            (isinstance(ty, Array) and not _is_of_subclass(value))
            or (isinstance(ty, Scalar) and isinstance(value, float | int | np.generic))
            for ty, value in zip(self.types, values, strict=True)
        )
        self._arguments = self._positional(parameters)[skip:]
        self._keywords = self._by_name(parameters)
        # What was asked for, which each call asks again.
        self._known: dict[object, Any] = {}

    def emptied(self) -> Signature:
        """Return this signature without the objects of the call that it was made for."""
        made = copy.copy(self)
        made.fn = trees.emptied_function(self.fn)
        made.types = tuple([trees.emptied(ty) for ty in self.types])
        for name in ("_arguments", "_keywords"):
            mine = getattr(self, name)
            setattr(made, name, [replace(each, type=trees.emptied(each.type)) for each in mine])
        made._known = {}
        return made

    def _positional(self, parameters: Parameters) -> list[_Argument]:
        """Return what `argnums` counts: with the elements of ``*args``, each an argument."""
        found: list[_Argument] = []
        start = 0
        for k, (name, ty) in enumerate(zip(self.names, self.types, strict=True)):
            if name == parameters.variable:
                for j, item in enumerate(ty):
                    found.append(_Argument(f"{name}[{j}]", item, start, (k, j)))
                    start += len(trees.leaf_types(item))
            elif k < parameters.positional:
                found.append(_Argument(name, ty, start, (k,)))
                start += len(trees.leaf_types(ty))
        return found

    def _by_name(self, parameters: Parameters) -> list[_Argument]:
        """Return the arguments of parameters that are given by name alone."""
        first = parameters.positional + (parameters.variable is not None)
        found: list[_Argument] = []
        start = 0
        for k, (name, ty) in enumerate(zip(self.names, self.types, strict=True)):
            if first <= k < first + parameters.keywords:
                found.append(_Argument(name, ty, start, (k,)))
            start += len(trees.leaf_types(ty))
        return found

    def __str__(self) -> str:
        pairs = zip(self.names, self.types, strict=True)
        return f"{name_of(self.fn)}({', '.join(f'{n}: {describe(ty)}' for n, ty in pairs)})"

    def arguments(self) -> dict[str, Any]:
        return dict(zip(self.names, self.types, strict=True))

    def leaves(self, values: tuple[Any, ...], *, boxed: bool = False) -> Sequence[Any]:
        """Return the numbers and arrays in the arguments (`flatten.leaves`)."""
        if self._plain:
            return values
        return [
            leaf
            for value, ty in zip(values, self.types, strict=True)
            for leaf in flatten.leaves(value, ty, boxed=boxed)
        ]

    def _chosen(self, argnums: int | Sequence[int]) -> list[_Argument]:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        count = len(self._arguments)
        for number in numbers:
            if KEYWORDS <= number < KEYWORDS + len(self._keywords):
                continue
            if not -count <= number < count:
                raise ArgumentError(
                    f"argnums={number}, but {name_of(self.fn)}() was called with {count} "
                    f"positional argument{'' if count == 1 else 's'}",
                    span_of(self.fn),
                )
        return [
            self._keywords[number - KEYWORDS] if number >= KEYWORDS else self._arguments[number]
            for number in numbers
        ]

    def positions(self, argnums: int | Sequence[int]) -> tuple[int, ...]:
        """Return the positions of the floats in the differentiated arguments."""
        key = ("positions", argnums if isinstance(argnums, int) else tuple(argnums))
        if key not in self._known:
            self._known[key] = self._positions(argnums)
        known: tuple[int, ...] = self._known[key]
        return known

    def _positions(self, argnums: int | Sequence[int]) -> tuple[int, ...]:
        found: list[int] = []
        for argument in self._chosen(argnums):
            leaves = trees.leaf_types(argument.type)
            floats = [k for k, ty in enumerate(leaves) if ty.kind == "f"]
            if not floats:
                what = _words(argument.type)
                raise IntegerArgumentError(
                    f"argument {argument.name!r} of {name_of(self.fn)}() is {what}; only "
                    "floating-point arguments can be differentiated",
                    span_of(self.fn),
                    _way_out(argument.type),
                )
            found += [argument.start + k for k in floats]
        return tuple(found)

    def check_complex(self, argnums: int | Sequence[int]) -> None:
        """Raise unless all floats in the differentiated arguments are complex."""
        for argument in self._chosen(argnums):
            if not trees.is_complex(argument.type):
                raise ArgumentError(
                    f"argument {argument.name!r} of {name_of(self.fn)}() is "
                    f"{_words(argument.type)}; with `holomorphic` it must be complex",
                    span_of(self.fn), "leave out `holomorphic`, or pass complex numbers",
                )  # fmt: skip

    def imaginary(self, argnums: int | Sequence[int]) -> list[bool]:
        """Return which floats in the differentiated arguments are imaginary parts."""
        return [
            each
            for argument in self._chosen(argnums)
            for ty, each in zip(
                trees.leaf_types(argument.type), trees.imaginary(argument.type), strict=True
            )
            if ty.kind == "f"
        ]

    def scalar(self, argnums: int | Sequence[int]) -> Scalar | None:
        """Return the type of the one number that is differentiated with respect to, or None."""
        if not isinstance(argnums, int):
            return None
        (argument,) = self._chosen(argnums)
        return argument.type if isinstance(argument.type, Scalar) else None

    def arranged(self, argnums: int | Sequence[int], converted: bool = True) -> Callable[..., Any]:
        """Return what arranges flat gradients like the arguments they belong to, given both.

        `converted`: and makes numbers where these have numbers.
        """
        key = (argnums if isinstance(argnums, int) else tuple(argnums), converted)
        if key not in self._known:
            at = itertools.count()
            chosen = [(argument.type, argument.at) for argument in self._chosen(argnums)]
            one = isinstance(argnums, int)
            self._known[key] = unflatten.arranged(chosen, at, one, converted)
        arrange: Callable[..., Any] = self._known[key]
        return arrange

    def count(self) -> int:
        """Return the number of arguments that `argnums` counts."""
        return len(self._arguments)

    def movable(self) -> tuple[int, ...]:
        """Return the arguments that hold floats."""
        return tuple(
            [
                k
                for k, argument in enumerate(self._arguments)
                if any(ty.kind == "f" for ty in trees.leaf_types(argument.type))
            ]
        )

    def directions(
        self, argnums: Sequence[int], tangents: Sequence[Any], values: tuple[Any, ...]
    ) -> list[Any]:
        """Return the tangents as flat arguments, checked against the arguments."""
        primals = self.leaves(values)
        found: list[Any] = []
        for argument, tangent in zip(self._chosen(argnums), tangents, strict=True):
            leaves = flatten.tangents(argument.type, tangent, argument.name)
            for k, (ty, leaf) in enumerate(leaves, argument.start):
                if isinstance(leaf, flatten.Same):
                    leaf.check(primals[k], f"the tangent of {argument.name!r}")
                elif ty.kind == "f":
                    found.append(_direction(ty, leaf, primals[k], argument.name))
        return found


def _is_of_subclass(value: Any) -> bool:
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray


def _direction(ty: Scalar | Array, tangent: Any, primal: Any, name: str) -> Any:
    size, wanted = foreign.sizes_of(tangent), foreign.sizes_of(primal)
    if size != wanted:
        raise ArgumentError(
            f"the tangent of {name!r} has shape {size}, but the argument has shape {wanted}"
        )
    ty = derivative_type(ty)
    if foreign.is_foreign(tangent):
        return foreign.direction(tangent, ty.numpy, f"the tangent of {name!r}")
    direction = np.asarray(tangent)
    if direction.dtype.kind not in "biuf":
        raise ArgumentError(
            f"the tangent of {name!r} is a {_kind(tangent)} whose elements are not real numbers"
        )
    if isinstance(ty, Array):
        # Other strides than the argument's would be another type.
        return np.array(direction, ty.numpy, order="C")
    return ty.numpy.type(direction)


def _way_out(ty: Any) -> str:
    """Return a hint for an argument of a type without floats."""
    plain = isinstance(ty, Scalar | Array | trees.Generator | tuple | trees.Node | trees.Numbers)
    if plain or ty is None or isinstance(ty, int | str | bytes | type) or callable(ty):
        return "pass a float, or choose other arguments with `argnums`"
    return advice.of_object(ty)


def _kind(value: Any) -> str:
    return type(value).__name__


def _words(ty: Any) -> str:
    if isinstance(ty, Array):
        return f"an array of {ty.numpy}"
    if isinstance(ty, trees.Generator):
        return "a random generator"
    if not isinstance(ty, Scalar):
        return "a bool" if isinstance(ty, bool) else describe(ty)
    if ty.weak:
        return {"b": "a bool", "i": "an int", "f": "a float"}[ty.kind]
    return f"a {ty.numpy}"


def _paths(stacks: Collection[Place], k: int) -> list[tuple[Step, ...]]:
    """Return the paths to the lists in an argument that are passed as stacks."""
    return [place.path for place in stacks if place.root == k]


def key_of(values: Sequence[Any], whole: Sequence[bool], stacks: Collection[Place]) -> object:
    """Return the key of arguments: those with equal keys run the same code."""
    return tuple(
        stacking.key_of(value, entire, _paths(stacks, k))
        for k, (value, entire) in enumerate(zip(values, whole, strict=True))
    )


_SPARSE = "convert it to one with two axes in a format that is supported: `A.tocsr()`"


def _tree(
    value: Any, name: str, fn: Callable[..., Any], whole: bool, stacks: Sequence[tuple[Step, ...]]
) -> Any:
    """Return the type tree of an argument; raise if nothing can be done with it."""
    where = f"argument {name!r} of {name_of(fn)}()"
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ArgumentError(f"{where} does not fit in 64 bits", span_of(fn))
    known = foreign.stand_in(type(value))
    if foreign.is_sparse(value) and (known is None or not known.attributes or value.ndim != 2):
        axes = "" if value.ndim == 2 else f" with {value.ndim} axes"
        raise ArgumentError(f"{where} is a {_kind(value)}{axes}", span_of(fn), _SPARSE)
    if advice.is_table(value):
        library = type(value).__module__.split(".")[0]
        raise ArgumentError(
            f"{where} is a {_kind(value)} of {library}", span_of(fn), advice.of_object(value)
        )
    try:
        tree = stacking.tree_of(value, whole, stacks)
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error.message}", span_of(fn), error.hint) from None
    if tree is not value:
        return tree
    if isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(
            f"{where} is a {_kind(value)} of dtype {value.dtype} and rank {value.ndim}",
            span_of(fn),
            advice.of_object(value),
        )
    if isinstance(value, complex):
        raise ArgumentError(f"{where} is complex", span_of(fn), "pass real numbers")
    if isinstance(value, list | dict | set | tuple | bytearray) and value != ():
        raise ArgumentError(
            f"{where} is a {_kind(value)}", span_of(fn), "pass an array, a number, a list or a dict"
        )
    return value
