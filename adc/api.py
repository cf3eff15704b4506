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
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adc import dispatch
from adc.dispatch import Compiled, Signature
from adc.driver import Step
from adc.ir.errors import ArgumentError, NonScalarError
from adc.passes.plan import Plan

POLICIES = ("auto", "store", "recompute")


@dataclass(frozen=True)
class Options:
    """How a derivative is made; the same for every signature of it."""

    remat: str = "auto"
    cache: bool = True


@dataclass(frozen=True)
class _Level:
    """One application of `grad` or `value_and_grad`."""

    argnums: int | tuple[int, ...]
    with_value: bool
    has_aux: bool


class Derivative:
    """A function that returns a derivative of another one. Made by `grad` and its relatives.

    Attributes
    ----------
    __wrapped__ : callable
        The function that is differentiated.
    """

    __wrapped__: Callable[..., Any]

    def __init__(self, fn: Callable[..., Any], levels: tuple[_Level, ...], options: Options):
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._levels = levels
        self._options = options
        self._entries: dict[object, Compiled] = {}
        self._lock = threading.RLock()
        self._hits = 0
        self._signature = inspect.signature(fn)

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the given arguments (and the value, if asked for)."""
        call = dispatch.bind(self.__wrapped__, self._signature, args, kwargs)
        compiled = self._compiled(call)
        # Inner derivatives are along their scalar argument: direction 1.
        directions = [1.0] * (len(self._levels) - 1)
        return self._assemble(compiled, call, compiled.run(call, directions))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Differentiate a method: `self` is the first argument."""
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.__wrapped__, self._levels, self._options))

    def _compiled(self, call: Signature) -> Compiled:
        entry = self._entries.get(call.key)
        if entry is not None and entry.is_current(call):
            self._hits += 1
            return entry
        with self._lock:
            entry = self._entries.get(call.key)
            if entry is None or not entry.is_current(call):
                entry = dispatch.compile_call(
                    self.__wrapped__,
                    call,
                    self._steps(call),
                    self._options,
                    any(level.has_aux for level in self._levels),
                )
                self._entries[call.key] = entry
        return entry

    def _steps(self, call: Signature) -> tuple[Step, ...]:
        """Return the transformations: one adjoint, then a tangent for every inner derivative.

        Derivatives commute: the gradient with respect to w of the derivative with respect to a
        scalar x is the derivative along x of the gradient with respect to w.
        """
        *inner, last = self._levels
        steps: list[Step] = [("adjoint", call.positions(last.argnums))]
        for level in inner:
            positions = call.positions(level.argnums)
            scalar = isinstance(level.argnums, int) and call.is_scalar(level.argnums)
            if not scalar or level.with_value or level.has_aux:
                raise NonScalarError(
                    "the function to differentiate does not return one number",
                    None,
                    "differentiate a gradient again with respect to a scalar argument, or use "
                    "`adc.hvp` for Hessian-vector products",
                )
            steps.append(("tangent", positions))
        return tuple(steps)

    def _assemble(self, compiled: Compiled, call: Signature, results: tuple[Any, ...]) -> Any:
        """Pick value, auxiliary results and gradients out of everything that was computed."""
        order = len(self._levels) - 1
        last = self._levels[-1]
        value, aux, flat = compiled.split(results, order)
        gradient = call.gradient(last.argnums, flat)
        if last.has_aux:
            return ((value, aux), gradient) if last.with_value else (gradient, aux)
        return (value, gradient) if last.with_value else gradient

    # -- inspection ------------------------------------------------------------------------

    def _for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        if not args and not kwargs:
            if not self._entries:
                raise ArgumentError(
                    "nothing has been compiled yet", None, "pass sample arguments, or call it first"
                )
            return next(reversed(self._entries.values()))
        return self._compiled(dispatch.bind(self.__wrapped__, self._signature, args, kwargs))

    def ir(self, *args: Any, after: str = "storage", **kwargs: Any) -> str:
        """Return the IR after a pass, for the given (or the last) arguments.

        Parameters
        ----------
        after : str
            ``"frontend"``, or the name of a pass: ``"simplify"``, ``"cse"``, ``"bounds"``,
            ``"dce"``, ``"adjoint"``, ``"tangent"``, ``"remat"``, ``"storage"``.
        """
        trace = self._for(args, kwargs).compilation().trace
        try:
            return str(trace.after(after))
        except KeyError:
            stages = ", ".join(dict.fromkeys(name for name, _ in trace.stages))
            raise ArgumentError(f"no stage named {after!r}", None, f"use one of {stages}") from None

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the Python source that was generated and compiled."""
        return self._for(args, kwargs).source

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """Return what the reverse code keeps and recomputes, value by value."""
        plan = self._for(args, kwargs).plan
        assert plan is not None
        return plan

    def signatures(self) -> list[str]:
        """Return the argument types that have been compiled."""
        return [entry.description for entry in self._entries.values()]

    def cache_info(self) -> dict[str, int]:
        """Return how many calls found compiled code, and how it came to be."""
        entries = list(self._entries.values())
        return {
            "hits": self._hits,
            "compiled": sum(not entry.from_disk for entry in entries),
            "loaded": sum(entry.from_disk for entry in entries),
        }

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        words = "".join("value_and_grad(" if lv.with_value else "grad(" for lv in self._levels)
        return f"<adc {words}{name}{')' * len(self._levels)}>"


def _rebuild(fn: Callable[..., Any], levels: tuple[_Level, ...], options: Options) -> Derivative:
    return Derivative(fn, levels, options)


def _options(remat: str, cache: bool) -> Options:
    if remat not in POLICIES and not (isinstance(remat, str) and remat.startswith("random:")):
        raise ArgumentError(
            f"remat={remat!r} is not a policy", None, f"use one of {', '.join(POLICIES)}"
        )
    return Options(remat, cache)


def _make(
    fn: Callable[..., Any] | None,
    argnums: int | Sequence[int],
    with_value: bool,
    has_aux: bool,
    options: Options,
) -> Any:
    nums = argnums if isinstance(argnums, int) else tuple(argnums)
    if fn is None:
        return lambda fn: _make(fn, nums, with_value, has_aux, options)
    level = _Level(nums, with_value, has_aux)
    if isinstance(fn, Derivative):
        return Derivative(fn.__wrapped__, (*fn._levels, level), options)
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return Derivative(fn, (level,), options)


def grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Any:
    """Return a function that computes the gradient of `fn` in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float (or ``(float, aux)`` with `has_aux`).
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
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
    return _make(fn, argnums, False, has_aux, _options(remat, cache))


def value_and_grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    remat: str = "auto",
    cache: bool = True,
) -> Any:
    """Return a function that computes ``(value, gradient)`` of `fn`; see `grad`.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _make(fn, argnums, True, has_aux, _options(remat, cache))


@dataclass(frozen=True)
class _Along:
    """Results of a function and their derivative along a direction."""

    fn: Callable[..., Any]
    argnums: tuple[int, ...]
    reverse: bool
    options: Options
    entries: dict[object, Compiled] = field(default_factory=dict, compare=False)

    def __call__(
        self, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        signature = inspect.signature(self.fn)
        call = dispatch.bind(self.fn, signature, tuple(primals), {})
        positions = call.positions(self.argnums)
        directions = call.directions(self.argnums, tangents)
        steps: tuple[Step, ...] = (("tangent", positions),)
        if self.reverse:
            steps = (("adjoint", positions), *steps)
        entry = self.entries.get(call.key)
        if entry is None or not entry.is_current(call):
            entry = dispatch.compile_call(self.fn, call, steps, self.options)
            self.entries[call.key] = entry
        results = entry.run(call, directions)
        return entry.along(results, call, self.argnums, self.reverse)


@functools.lru_cache(maxsize=256)
def _along(
    fn: Callable[..., Any], argnums: tuple[int, ...], reverse: bool, options: Options
) -> _Along:
    return _Along(fn, argnums, reverse, options)


def jvp(
    fn: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, cache: bool = True
) -> tuple[Any, Any]:
    """Return the value of `fn` and its derivative along `tangents`, in forward mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float.
    primals, tangents : sequences
        The arguments, and a direction for each (of its shape).

    Examples
    --------
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    _same_length(primals, tangents)
    value, (slope,) = _along(fn, tuple(range(len(primals))), False, Options(cache=cache))(
        primals, tangents
    )
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
        The arguments, and a direction for each (of its shape).

    Returns
    -------
    object or tuple
        One array or number like the argument; a tuple of them for several arguments.

    Examples
    --------
    >>> hvp(lambda x: x * x * x, (2.0,), (1.0,))
    12.0
    """
    _same_length(primals, tangents)
    _, products = _along(fn, tuple(range(len(primals))), True, _options(remat, cache))(
        primals, tangents
    )
    return products[0] if len(primals) == 1 else products


def _same_length(primals: Sequence[Any], tangents: Sequence[Any]) -> None:
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{len(primals)} primals but {len(tangents)} tangents", None, "give one for each"
        )


__all__ = ["Derivative", "Options", "grad", "hvp", "jvp", "value_and_grad"]
