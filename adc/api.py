"""The public API: objects that differentiate a function when they are called.

>>> import adc
>>> @adc.grad
... def slope(x):
...     return x * x * x
>>> slope(2.0)
12.0
>>> adc.grad(slope)(3.0)
18.0
"""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from adc.dispatch import Code, Compiled, Level, Options, release_memory
from adc.ir.errors import ArgumentError
from adc.passes.plan import Plan

if TYPE_CHECKING:
    from adc.inspect.graph import Graph

POLICIES = ("auto", "store", "recompute")


class Derivative:
    """A function that returns a derivative of another one. Made by `grad` and its relatives.

    Attributes
    ----------
    __wrapped__ : callable
        The function that is differentiated.
    """

    __wrapped__: Callable[..., Any]
    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[..., Any], levels: tuple[Level, ...], options: Options):
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._levels = levels
        self._options = options
        self._code = Code(fn, levels, options)

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the given arguments (and the value, if asked for)."""
        values = self._code.match(args, kwargs)
        compiled, hidden = self._code.find(values)
        return compiled.run(values, hidden)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Differentiate a method: `self` is the first argument."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        fn = self.__wrapped__
        found: Any = sys.modules.get(fn.__module__)
        for name in fn.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            # Made by a decorator: the name of the function leads here.
            return fn.__qualname__
        return (Derivative, (fn, self._levels, self._options))

    # -- inspection ------------------------------------------------------------------------

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        if args or kwargs:
            return self._code.find(self._code.match(args, kwargs))[0]
        if self._code.last is None:
            raise ArgumentError(
                "nothing has been compiled yet", None, "pass sample arguments, or call it first"
            )
        return self._code.last

    def ir(self, *args: Any, after: str = "storage", **kwargs: Any) -> str:
        """Return the IR after a pass, for the given (or the last) arguments.

        Parameters
        ----------
        after : str
            ``"frontend"``, or the name of a pass: ``"simplify"``, ``"cse"``, ``"bounds"``,
            ``"dce"``, ``"adjoint"``, ``"tangent"``, ``"remat"``, ``"storage"``.
        """
        trace = self._compiled(args, kwargs).compilation.trace
        try:
            return str(trace.after(after))
        except KeyError:
            stages = ", ".join(dict.fromkeys(name for name, _ in trace.stages))
            raise ArgumentError(f"no stage named {after!r}", None, f"use one of {stages}") from None

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the Python source that was generated and compiled."""
        return self._compiled(args, kwargs).source

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """Return what the reverse code keeps and recomputes, value by value."""
        plan = self._compiled(args, kwargs).plan
        assert plan is not None
        return plan

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return a picture of forward and reverse code, and of what the plan does between them.

        A notebook shows it; `save` writes it to a file. It needs the extra `graph`.
        """
        from adc.inspect.graph import graph_of

        compilation = self._compiled(args, kwargs).compilation
        return graph_of(compilation.trace, compilation.plan)

    def signatures(self) -> list[str]:
        """Return the argument types that have been compiled."""
        return [str(entry.signature) for entry in self._code.compiled()]

    def cache_info(self) -> dict[str, int]:
        """Return how many calls found compiled code, and how it came to be."""
        entries = self._code.compiled()
        return {
            "hits": self._code.hits,
            "compiled": sum(not entry.from_disk for entry in entries),
            "loaded": sum(entry.from_disk for entry in entries),
        }

    def _repr_html_(self) -> str:
        from adc.inspect.notebook import derivative_html

        last = self._code.last
        return derivative_html(repr(self), self.signatures(), last.plan if last else None)

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        levels = reversed(self._levels)  # the last is the outermost
        words = "".join("value_and_grad(" if lv.with_value else "grad(" for lv in levels)
        return f"<adc {words}{name}{')' * len(self._levels)}>"


def _options(remat: str, cache: bool) -> Options:
    # "random:SEED" is for tests: any plan must give the same numbers.
    if remat not in POLICIES and not (isinstance(remat, str) and remat.startswith("random:")):
        raise ArgumentError(
            f"remat={remat!r} is not a policy", None, f"use one of {', '.join(POLICIES)}"
        )
    return Options(remat, cache)


def _argnums(argnums: int | Sequence[int]) -> int | tuple[int, ...]:
    try:
        if isinstance(argnums, Sequence) and not isinstance(argnums, str):
            return tuple([operator.index(number) for number in argnums])
        return operator.index(argnums)
    except TypeError:
        raise ArgumentError(
            f"argnums={argnums!r} is neither an integer nor a sequence of integers"
        ) from None


def _split(fn: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[Level, ...]]:
    """Return the function that is differentiated, and what was taken of it already."""
    if isinstance(fn, Derivative):
        return fn.__wrapped__, fn._levels
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, Derivative):
        derivative = fn.__func__
        return types.MethodType(derivative.__wrapped__, fn.__self__), derivative._levels
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return fn, ()


def _make(
    fn: Callable[..., Any] | None, level: Level, options: Options
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels = _split(fn)
        return Derivative(function, (*levels, level), options)

    return make if fn is None else make(fn)


@overload
def grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Derivative: ...


@overload
def grad(
    fn: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Callable[[Callable[..., Any]], Derivative]: ...


def grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes the gradient of `fn` in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float (or ``(float, aux)`` with `has_aux`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to; negative numbers count from
        the last one, parameters with defaults included.
    has_aux : bool
        Whether `fn` returns a pair of which only the first part is differentiated.
    remat : {"auto", "store", "recompute"}
        What the reverse code does about the forward values that it needs.
    cache : bool
        Whether compiled code is kept on disk.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns gradients of the type, dtype and shape of the
        arguments: one for an int `argnums`, else a tuple. With `has_aux`, ``(gradient, aux)``.

    Raises
    ------
    AdcError
        When called: if `fn` is not in the supported subset of Python, or an argument cannot be
        differentiated. Errors of the program itself are those that Python would raise.

    Examples
    --------
    >>> import numpy as np
    >>> def energy(x):
    ...     s = 0.0
    ...     for i in range(len(x) - 1):
    ...         s += (x[i + 1] - x[i]) ** 2
    ...     return s
    >>> grad(energy)(np.array([0.0, 1.0, 3.0]))
    array([-2., -2.,  4.])
    """
    level = Level(_argnums(argnums), False, has_aux)
    return _make(fn, level, _options(remat, cache))


@overload
def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Derivative: ...


@overload
def value_and_grad(
    fn: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Callable[[Callable[..., Any]], Derivative]: ...


def value_and_grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes ``(value, gradient)`` of `fn`; see `grad`.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    level = Level(_argnums(argnums), True, has_aux)
    return _make(fn, level, _options(remat, cache))


@functools.lru_cache(maxsize=256)
def _code(
    fn: Callable[..., Any], levels: tuple[Level, ...], options: Options, along: tuple[int, ...]
) -> Code:
    return Code(fn, levels, options, along)


def _along(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> Any:
    """Return results and their derivatives along tangents; None among these is no direction."""
    moved = _moved(primals, tangents)
    code = _code(fn, levels, options, moved)
    values = code.match(tuple(primals), {})
    compiled, hidden = code.find(values)
    directions = compiled.signature.directions(moved, [tangents[k] for k in moved], values)
    return compiled.run(values, hidden, directions)


def _moved(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[int, ...]:
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise ArgumentError(
                f"{what} is a {type(given).__name__}",
                None,
                "pass a tuple with one for each argument",
            )
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{len(primals)} primals but {len(tangents)} tangents", None, "give one for each"
        )
    moved = tuple([k for k, tangent in enumerate(tangents) if tangent is not None])
    if not moved:
        raise ArgumentError("there is no tangent", None, "give one for at least one argument")
    return moved


def jvp(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    remat: str = "auto",
    cache: bool = True,
) -> tuple[Any, Any]:
    """Return the value of `fn` and its derivative along `tangents`, in forward mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float, or the gradient of one.
    primals, tangents : sequences
        The arguments, and a direction for each: of its shape, or None to hold it fixed.

    Examples
    --------
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    >>> jvp(grad(lambda x: x * x * x), (2.0,), (1.0,))
    (12.0, 12.0)
    """
    function, levels = _split(fn)
    value, slope = _along(function, levels, _options(remat, cache), primals, tangents)
    return value, slope


def hvp(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    remat: str = "auto",
    cache: bool = True,
) -> Any:
    """Return the product of the Hessian of `fn` with a direction: forward over reverse.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float.
    primals, tangents : sequences
        The arguments, and a direction for each: of its shape, or None to hold it fixed.

    Returns
    -------
    object or tuple
        One array or number like the argument; for several arguments a tuple of them, with None
        for those that are held fixed.

    Examples
    --------
    >>> hvp(lambda x: x * x * x, (2.0,), (1.0,))
    12.0
    """
    moved = _moved(primals, tangents)
    function, levels = _split(fn)
    levels = (*levels, Level(moved))
    _, found = _along(function, levels, _options(remat, cache), primals, tangents)
    products = dict(zip(moved, found, strict=True))
    if len(primals) == 1:
        return products[0]
    return tuple([products.get(k) for k in range(len(primals))])


__all__ = ["Derivative", "Options", "grad", "hvp", "jvp", "release_memory", "value_and_grad"]
