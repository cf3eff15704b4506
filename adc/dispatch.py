"""From a call to compiled code: argument types, hidden arguments, guards, results."""

from __future__ import annotations

import inspect
import itertools
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from adc import cache
from adc.driver import Compilation, Step, transform
from adc.frontend import trees
from adc.frontend.bindings import Binding, Num, TupleOf, kind_of
from adc.frontend.lower import Lowered, lower
from adc.frontend.results import rebuilt
from adc.frontend.trees import describe, key_of
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    IntegerArgumentError,
    NonScalarError,
    OverlapError,
    Span,
    UnsupportedError,
)
from adc.ir.types import Array, Scalar
from adc.passes.plan import Plan

# More signatures than this at once come from objects that are made anew for every call.
_MOST_ENTRIES = 256
# The most code for arguments with one key: for objects with attributes of other kinds.
_MOST_VARIANTS = 8
# Times that code is made for one call: while it is, another thread may change what it reads.
_MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Options:
    """How a derivative is made; the same for every signature of it."""

    remat: str = "auto"
    cache: bool = True


@dataclass(frozen=True)
class Level:
    """One application of `grad` or `value_and_grad`."""

    argnums: int | tuple[int, ...]
    with_value: bool = False
    has_aux: bool = False


# --- the function and its parameters --------------------------------------------------------------


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", repr(fn))


def _span(fn: Callable[..., Any]) -> Span | None:
    code = getattr(fn, "__code__", None)
    if code is None:
        return None
    return Span(code.co_filename, code.co_firstlineno, function=_name(fn))


def _function(fn: Callable[..., Any]) -> types.FunctionType:
    """Return the Python function behind a callable: a method's, or one that Numba wraps."""
    for inner in (fn, getattr(fn, "__func__", None), getattr(fn, "py_func", None)):
        if isinstance(inner, types.FunctionType):
            return inner
    raise UnsupportedError(
        f"{_name(fn)!r} is not a Python function",
        None,
        "adc reads Python source; builtins and callable objects have none: wrap it in a function",
    )


class Parameters:
    """The parameters of a function, and how the arguments of a call are matched to them.

    Attributes
    ----------
    names : tuple of str
        The parameters, in order.
    positional : int
        How many of them can be given by position, ``*args`` not counted.
    variable : str or None
        The name of ``*args``.
    match : callable
        Takes the arguments of a call; returns one for each parameter.
    """

    def __init__(self, fn: types.FunctionType) -> None:
        code = fn.__code__
        names = iter(code.co_varnames)
        plain = list(itertools.islice(names, code.co_argcount))
        keywords = list(itertools.islice(names, code.co_kwonlyargcount))
        rest = [next(names)] if code.co_flags & inspect.CO_VARARGS else []
        others = [next(names)] if code.co_flags & inspect.CO_VARKEYWORDS else []
        self.positional = len(plain)
        self.variable = rest[0] if rest else None
        self.names = (*plain, *rest, *keywords, *others)
        self.match = self._stub(fn, plain, rest, keywords, others)

    def _stub(
        self,
        fn: types.FunctionType,
        plain: list[str],
        rest: list[str],
        keywords: list[str],
        others: list[str],
    ) -> Callable[..., tuple[Any, ...]]:
        """Return a function that does nothing but take arguments like `fn`.

        It is ten times as fast as `inspect.Signature.bind`, and errors have Python's own words.
        """
        only = fn.__code__.co_posonlyargcount
        head = [*plain[:only], "/", *plain[only:]] if only else plain
        star = [f"*{rest[0]}"] if rest else ["*"] if keywords else []
        text = ", ".join([*head, *star, *keywords, *(f"**{name}" for name in others)])
        namespace: dict[str, Any] = {}
        exec(f"def stub({text}): return ({''.join(f'{n}, ' for n in self.names)})", namespace)
        stub: Any = namespace["stub"]
        stub.__name__, stub.__qualname__ = fn.__name__, fn.__qualname__
        stub.__defaults__, stub.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return stub  # type: ignore[no-any-return]  # made by `exec`


# --- the types of a call --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Argument:
    """A positional argument: its type, and the position of its first leaf."""

    name: str
    type: Any
    start: int


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
    ) -> None:
        self.fn = fn
        self.names = parameters.names
        self.types = tuple(
            _tree(value, name, fn, differentiated)
            for name, value, differentiated in zip(self.names, values, whole, strict=True)
        )
        # Whether the arguments are what code takes, as they are.
        self._plain = all(
            isinstance(ty, Array) or (isinstance(ty, Scalar) and not isinstance(value, np.ndarray))
            for ty, value in zip(self.types, values, strict=True)
        )
        self._arguments = self._positional(parameters)[skip:]

    def _positional(self, parameters: Parameters) -> list[_Argument]:
        """Return what `argnums` counts: with the elements of ``*args``, each an argument."""
        found: list[_Argument] = []
        start = 0
        for k, (name, ty) in enumerate(zip(self.names, self.types, strict=True)):
            if name == parameters.variable:
                for j, item in enumerate(ty):
                    found.append(_Argument(f"{name}[{j}]", item, start))
                    start += len(trees.leaf_types(item))
            elif k < parameters.positional:
                found.append(_Argument(name, ty, start))
                start += len(trees.leaf_types(ty))
        return found

    def __str__(self) -> str:
        pairs = zip(self.names, self.types, strict=True)
        return f"{_name(self.fn)}({', '.join(f'{n}: {describe(ty)}' for n, ty in pairs)})"

    def arguments(self) -> dict[str, Any]:
        return dict(zip(self.names, self.types, strict=True))

    def leaves(self, values: tuple[Any, ...]) -> Sequence[Any]:
        """Return the numbers and arrays in the arguments."""
        if self._plain:
            return values
        return [
            leaf
            for value, ty in zip(values, self.types, strict=True)
            for leaf in trees.leaves(value, ty)
        ]

    def _chosen(self, argnums: int | Sequence[int]) -> list[_Argument]:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        count = len(self._arguments)
        for number in numbers:
            if not -count <= number < count:
                raise ArgumentError(
                    f"argnums={number}, but {_name(self.fn)}() was called with {count} "
                    f"positional argument{'' if count == 1 else 's'}",
                    _span(self.fn),
                )
        return [self._arguments[number] for number in numbers]

    def positions(self, argnums: int | Sequence[int]) -> tuple[int, ...]:
        """Return the positions of the floats in the differentiated arguments."""
        found: list[int] = []
        for argument in self._chosen(argnums):
            leaves = trees.leaf_types(argument.type)
            floats = [k for k, ty in enumerate(leaves) if ty.kind == "f"]
            if not floats:
                what = _words(argument.type)
                raise IntegerArgumentError(
                    f"argument {argument.name!r} of {_name(self.fn)}() is {what}; only "
                    "floating-point arguments can be differentiated",
                    _span(self.fn),
                    "pass a float, or choose other arguments with `argnums`",
                )
            found += [argument.start + k for k in floats]
        return tuple(found)

    def scalar(self, argnums: int | Sequence[int]) -> Scalar | None:
        """Return the type of the one number that is differentiated with respect to, or None."""
        if not isinstance(argnums, int):
            return None
        (argument,) = self._chosen(argnums)
        return argument.type if isinstance(argument.type, Scalar) else None

    def arranged(self, argnums: int | Sequence[int]) -> Callable[[Sequence[Any]], Any]:
        """Return what arranges flat gradients like the arguments they belong to."""
        at = itertools.count()
        found = tuple(trees.arranged(arg.type, at) for arg in self._chosen(argnums))
        return found[0] if isinstance(argnums, int) else trees.together(found)

    def directions(
        self, argnums: Sequence[int], tangents: Sequence[Any], values: tuple[Any, ...]
    ) -> list[Any]:
        """Return the tangents as flat arguments, checked against the arguments."""
        primals = self.leaves(values)
        found: list[Any] = []
        for argument, tangent in zip(self._chosen(argnums), tangents, strict=True):
            leaves = trees.tangents(argument.type, tangent, argument.name)
            for k, (ty, leaf) in enumerate(leaves, argument.start):
                if ty.kind == "f":
                    found.append(_direction(ty, leaf, primals[k], argument.name))
        return found


def _direction(ty: Scalar | Array, tangent: Any, primal: Any, name: str) -> Any:
    if np.shape(tangent) != np.shape(primal):
        raise ArgumentError(
            f"the tangent of {name!r} has shape {np.shape(tangent)}, the argument "
            f"{np.shape(primal)}"
        )
    direction = np.asarray(tangent)
    if direction.dtype.kind not in "biuf":
        raise ArgumentError(f"the tangent of {name!r} is a {_kind(tangent)} of no real numbers")
    if isinstance(ty, Array):
        # Other strides than the argument's would be another type.
        return np.array(direction, ty.numpy, order="C")
    return ty.numpy.type(direction)


def _kind(value: Any) -> str:
    return type(value).__name__


def _words(ty: Any) -> str:
    if isinstance(ty, Array):
        return f"an array of {ty.numpy}"
    if not isinstance(ty, Scalar):
        return "a bool" if isinstance(ty, bool) else describe(ty)
    if ty.weak:
        return {"b": "a bool", "i": "an int", "f": "a float"}[ty.kind]
    return f"a {ty.numpy}"


def _tree(value: Any, name: str, fn: Callable[..., Any], whole: bool) -> Any:
    """Return the type tree of an argument; raise if nothing can be done with it."""
    where = f"argument {name!r} of {_name(fn)}()"
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ArgumentError(f"{where} does not fit 64 bits", _span(fn))
    try:
        tree = trees.tree_of(value, whole)
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error.message}", _span(fn), error.hint) from None
    if tree is not value:
        return tree
    if isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(
            f"{where} is a {_kind(value)} of dtype {value.dtype} and rank {value.ndim}",
            _span(fn),
            "pass arrays of bool, integers, float32 or float64",
        )
    if isinstance(value, complex):
        raise ArgumentError(f"{where} is complex", _span(fn), "pass real numbers")
    if isinstance(value, list | dict | set | tuple | bytearray) and value != ():
        raise ArgumentError(
            f"{where} is a {_kind(value)}", _span(fn), "pass an array, a number, a list or a dict"
        )
    return value


# --- compiled code --------------------------------------------------------------------------------


@dataclass
class Compiled:
    """Code for one signature, and what its results mean.

    Attributes
    ----------
    present : callable
        Makes what the user gets of the results of the kernel.
    ones : tuple
        Directions of inner derivatives: along their scalar argument.
    """

    lowered: Lowered
    steps: tuple[Step, ...]
    signature: Signature
    options: Options
    entry: cache.Entry
    present: Callable[[Sequence[Any]], Any]
    ones: tuple[Any, ...]

    @property
    def plan(self) -> Plan | None:
        return self.entry.plan

    @property
    def source(self) -> str:
        return self.entry.source

    @property
    def from_disk(self) -> bool:
        return self.entry.from_disk

    @cached_property
    def compilation(self) -> Compilation:
        """Every stage; made again where the code came from disk."""
        made = self.entry.compilation
        return made or transform(self.lowered, self.steps, self.options.remat)

    @cached_property
    def varies(self) -> bool:
        """Whether arguments with the same key may need other code: other attributes, that is."""
        lowered = self.lowered
        places = [each.place for each in lowered.captures] + [each.place for each in lowered.guards]
        return any(isinstance(place.root, int) for place in places)

    def hidden(self, values: tuple[Any, ...]) -> list[Any] | None:
        """Return what is read outside, or None if something built into the code has changed."""
        for guard in self.lowered.guards:
            if not guard.holds(values):
                return None
        found: list[Any] = []
        for capture in self.lowered.captures:
            leaves = capture.leaves(values)
            if leaves is None:
                return None
            found += leaves
        return found

    def run(
        self, values: tuple[Any, ...], hidden: list[Any], directions: Sequence[Any] = ()
    ) -> Any:
        """Run the code on the arguments of a call."""
        args = [*self.signature.leaves(values), *hidden]
        if self.lowered.written:
            self._check_overlap(args)
        if self.lowered.changed:
            self._check_shared(values)
        return self.present(self.entry.kernel(*args, *self.ones, *directions))

    def _check_overlap(self, args: Sequence[Any]) -> None:
        arrays = [(k, a) for k, a in enumerate(args) if isinstance(a, np.ndarray)]
        for k, a in arrays:
            for j, b in arrays:
                if k in self.lowered.written and j != k and _overlap(a, b):
                    names = [self.lowered.fn.params[i].name for i in (k, j)]
                    raise OverlapError(
                        f"arguments {names[0]!r} and {names[1]!r} of {_name(self.signature.fn)}() "
                        f"overlap in memory, and {names[0]!r} is written",
                        _span(self.signature.fn),
                        "pass a copy of one of them",
                    )

    def _check_shared(self, values: tuple[Any, ...]) -> None:
        """Raise if a list, dict or object that the function changes is reached in two ways."""
        lowered = self.lowered
        found = [
            one
            for value, ty in zip(values, self.signature.types, strict=True)
            for one in trees.changeable(value, ty)
        ]
        for capture in lowered.captures:
            found += trees.changeable(capture.place.read(values), capture.tree)
        found += [id(guard.place.read(values)) for guard in lowered.guards if guard.value is None]
        for place in lowered.changed:
            value = place.read(values)
            if found.count(id(value)) > 1:
                assert isinstance(place.root, int)
                raise OverlapError(
                    f"argument {self.signature.names[place.root]!r} of "
                    f"{_name(self.signature.fn)}() holds a {_kind(value)} that is changed, and is "
                    "also found elsewhere",
                    _span(self.signature.fn),
                    "pass a copy",
                )


def _overlap(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    try:
        # The exact answer may take time exponential in the rank.
        return np.shares_memory(a, b, max_work=100_000)  # type: ignore[arg-type]  # stub is wrong
    except np.exceptions.TooHardError:
        return True


def _steps(
    fn: Callable[..., Any],
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
) -> tuple[Step, ...]:
    """Return the transformations: one adjoint, then a tangent for every inner derivative.

    Derivatives commute: the gradient with respect to w of the derivative with respect to a
    scalar x is the derivative along x of the gradient with respect to w.
    """
    steps: list[Step] = []
    if levels:
        *inner, last = levels
        steps.append(("adjoint", signature.positions(last.argnums)))
        for level in inner:
            positions = signature.positions(level.argnums)
            if signature.scalar(level.argnums) is None or level.with_value or level.has_aux:
                raise NonScalarError(
                    f"a gradient of {_name(fn)}() that is differentiated again is not one number",
                    _span(fn),
                    "differentiate a gradient with respect to a scalar argument, or use `adc.hvp` "
                    "for Hessian-vector products",
                )
            steps.append(("tangent", positions))
        if last.has_aux and (inner or along is not None):
            raise NonScalarError(
                f"a gradient of {_name(fn)}() has no auxiliary results", _span(fn), "drop `has_aux`"
            )
    if along is not None:
        steps.append(("tangent", signature.positions(along)))
    return tuple(steps)


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


def _presenter(
    lowered: Lowered,
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
) -> Callable[[Sequence[Any]], Any]:
    """Return what makes the user's results of the kernel's.

    The adjoint appends the gradients to the function's own results. Each tangent then appends the
    tangents of all float results, those of value and gradients first-to-last at the very end.
    """
    own = lowered.fn.results
    floats = sum(operand.type.kind == "f" for operand in own)
    count = len(signature.positions(levels[-1].argnums)) if levels else 0
    order = max(len(levels) - 1, 0)
    size, block = len(own) + count, floats + count
    appended = block
    for _ in range(order):
        size, appended = size + appended, 2 * appended
    # Where the derivative of the asked order begins: its value, and after it its gradients.
    first = size - block if order else 0
    ty = signature.scalar(levels[-2].argnums) if order else own[0].type
    assert isinstance(ty, Scalar)
    number = trees.number(ty)

    def arranged(first: int, end: int) -> Callable[[Sequence[Any]], Any]:
        if not levels:
            return lambda results: number(results[first])
        last = levels[-1]
        gradients = slice(end - count, end)
        arrange = signature.arranged(last.argnums)
        if not last.with_value:
            return lambda results: arrange(results[gradients])
        return lambda results: (number(results[first]), arrange(results[gradients]))

    value = arranged(first, size)
    if along is not None:
        slope = arranged(size + appended - block, size + appended)
        return lambda results: (value(results), slope(results))
    if not levels or not levels[-1].has_aux:
        return value
    gradient = _presenter(
        lowered, signature, (replace(levels[-1], with_value=False, has_aux=False),), None
    )

    def with_aux(results: Sequence[Any]) -> Any:
        pair = rebuilt(lowered.result, lowered.heap, iter(results))
        found = gradient(results)
        return (pair, found) if levels[-1].with_value else (found, pair[1])

    return with_aux


class Code:
    """The code of one derivative of a function, compiled for every signature that is met.

    Attributes
    ----------
    fn : function
        The function that is differentiated.
    levels : tuple of Level
        The gradients taken of it, first to last.
    along : tuple of int or None
        Arguments of a directional derivative of that.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        levels: tuple[Level, ...],
        options: Options,
        along: tuple[int, ...] | None = None,
    ) -> None:
        self.fn = _function(fn)
        self.levels = levels
        self.options = options
        self.along = along
        # What a bound method adds to the arguments; `argnums` does not count it.
        self._bound = (fn.__self__,) if isinstance(fn, types.MethodType) else ()
        self._parameters = Parameters(self.fn)
        self._skip = len(self._bound)
        self._moved = {*(along or ())}
        for level in levels:
            chosen = level.argnums
            self._moved |= {chosen} if isinstance(chosen, int) else set(chosen)
        self._whole: tuple[bool, ...] | None = None
        # For every key, the newest first: objects of one class may need code of their own.
        self.entries: dict[object, list[Compiled]] = {}
        self.last: Compiled | None = None
        self.hits = 0

    def match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return an argument for each parameter, as a call would; raise TypeError as it would."""
        return self._parameters.match(*self._bound, *args, **kwargs)

    def whole(self, values: tuple[Any, ...]) -> tuple[bool, ...]:
        """Return for each parameter whether it is differentiated, as far as `argnums` is valid."""
        if self._whole is not None:
            return self._whole
        names, variable = self._parameters.names, self._parameters.variable
        own = self._parameters.positional - self._skip
        rest = len(values[names.index(variable)]) if variable is not None else 0
        found = set()
        for number in self._moved:
            number += own + rest if number < 0 else 0
            found.add(number + self._skip if number < own else self._parameters.positional)
        whole = tuple([k in found for k in range(len(names))])
        if variable is None:
            self._whole = whole
        return whole

    def find(self, values: tuple[Any, ...]) -> tuple[Compiled, list[Any]]:
        """Return code that is up to date for these arguments, and its hidden arguments."""
        whole = self._whole or self.whole(values)
        key = tuple(map(key_of, values, whole))
        found = self._valid(key, values)
        if found is not None:
            self.hits += 1
            self.last = found[0]
            return found
        with cache.LOCK:
            found = self._valid(key, values)  # another thread may have made it meanwhile
            for _ in range(_MOST_ATTEMPTS):
                if found is not None:
                    break
                made = self._compile(values, whole)
                others = [old for old in self.entries.pop(key, []) if old.varies and made.varies]
                while sum(map(len, self.entries.values())) + len(others) >= _MOST_ENTRIES:
                    if others:
                        others.pop()
                    else:
                        del self.entries[next(iter(self.entries))]
                self.entries[key] = [made, *others[: _MOST_VARIANTS - 1]]
                found = self._valid(key, values)
            if found is None:
                raise self._changing(made, values)
            self.last = found[0]
            return found

    def compilation(self, values: tuple[Any, ...]) -> Compilation:
        """Return every stage for these arguments; no machine code is made."""
        whole = self.whole(values)
        signature = Signature(self.fn, self._parameters, values, whole, self._skip)
        steps = _steps(self.fn, signature, self.levels, self.along)
        lowered = lower(self.fn, signature.arguments())
        _check_result(self.fn, lowered, any(level.has_aux for level in self.levels))
        return transform(lowered, steps, self.options.remat)

    def _changing(self, made: Compiled, values: tuple[Any, ...]) -> AdcError:
        places = [guard.place for guard in made.lowered.guards if not guard.holds(values)]
        places += [c.place for c in made.lowered.captures if c.leaves(values) is None]
        what = ", ".join([f"`{place}`" for place in places])
        return UnsupportedError(
            f"{_name(self.fn)}() reads {what}, which is another object each time it is read",
            _span(self.fn),
            "read it once, outside, and pass it as an argument",
        )

    def _valid(self, key: object, values: tuple[Any, ...]) -> tuple[Compiled, list[Any]] | None:
        for compiled in self.entries.get(key, ()):
            hidden = compiled.hidden(values)
            if hidden is not None:
                return compiled, hidden
        return None

    def compiled(self) -> list[Compiled]:
        """Return the code of all signatures."""
        return [compiled for entry in list(self.entries.values()) for compiled in reversed(entry)]

    def _compile(self, values: tuple[Any, ...], whole: Sequence[bool]) -> Compiled:
        signature = Signature(self.fn, self._parameters, values, whole, self._skip)
        steps = _steps(self.fn, signature, self.levels, self.along)
        lowered = lower(self.fn, signature.arguments())
        _check_result(self.fn, lowered, any(level.has_aux for level in self.levels))
        entry = cache.load_or_build(lowered, steps, self.options.remat, self.options.cache)
        _kernels.add(entry.kernel)
        present = _presenter(lowered, signature, self.levels, self.along)
        ones = (1.0,) * max(len(self.levels) - 1, 0)
        return Compiled(lowered, steps, signature, self.options, entry, present, ones)


_kernels: weakref.WeakSet[Any] = weakref.WeakSet()


def release_memory() -> None:
    """Give back the memory that compiled code keeps between calls, in all threads.

    Every derivative keeps its workspace for the next call. Calls that are running now are not
    disturbed; the next ones take new memory.
    """
    with cache.LOCK:
        kernels = list(_kernels)
    for kernel in kernels:
        kernel.release_memory()


__all__ = ["AdcError", "Code", "Compiled", "Level", "Options", "Signature", "release_memory"]
