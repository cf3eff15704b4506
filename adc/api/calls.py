"""Functions without a new derivative: compiled, of batches, checked, checkpointed."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Unpack, overload

from adc.api.derivative import Batched, Checkpoint, Derivative, Jitted
from adc.api.making import kept, split
from adc.functions import plain
from adc.ir.errors import ArgumentError
from adc.library import batches
from adc.library.transforms import transform
from adc.options import Options, RunOptions, takes
from adc.tracebacks import shortened


@overload
def jit(
    fn: Callable[..., Any],
    **options: Unpack[RunOptions],
) -> Derivative: ...


@overload
def jit(
    fn: None = None,
    **options: Unpack[RunOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(RunOptions)
def jit(
    fn: Callable[..., Any] | None = None,
    **options: Unpack[RunOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a compiled version of `fn`, without a derivative.

    It has the same numerics as derivatives of `fn`. It does not change its arguments, except that
    random generators advance. What `fn` changes outside of it is changed, as in Python: objects,
    lists, dicts and arrays that it captures or that it is a method of, and variables around it.

    Parameters
    ----------
    fn : callable
        A Python function that returns numbers, arrays, or tuples, lists and dicts of them; or a
        derivative.
    parallel : bool or int
        As for `grad`.
    cache : bool
        Whether compiled code is kept on disk.
    progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn`, and returns its results.

    Examples
    --------
    >>> adc.jit(lambda x, n: {"power": x**n, "n": n})(3.0, 2)
    {'power': 9.0, 'n': 2}
    """

    asked = Options.of("jit", RunOptions, options)

    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels, how = split(fn, asked)
        kind = Derivative if levels else Jitted
        return kind(function, levels, how)

    return make if fn is None else make(fn)


@overload
def vmap(
    fn: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    **options: Unpack[RunOptions],
) -> Derivative: ...


@overload
def vmap(
    fn: None = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    **options: Unpack[RunOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(RunOptions)
def vmap(
    fn: Callable[..., Any] | None = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    **options: Unpack[RunOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that applies `fn` to every element along an axis of its arguments.

    It is a loop of compiled code: elements may take different branches, and run loops of different
    lengths. Derivatives apply to it, and it applies to derivatives; it may be called, and made, in
    differentiated code.

    Parameters
    ----------
    fn : callable
        A Python function of one element, or a derivative.
    in_axes : int, None, or a sequence of them
        For each argument, the axis of its arrays over which elements are taken; None for an
        argument that is the same for all elements. A number is for all arguments. For an argument
        that is a tuple, a list or a dict, there may be a structure of axes. Arguments that are
        passed by name have axis 0.
    out_axes : int, None, or a structure of them
        Where results have the axis of the elements. None is for a result that is the same for all
        elements: one that is not raises.
    parallel : bool or int
        As for `grad`.
    cache : bool
        Whether compiled code is kept on disk.
    progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn` with one more axis; returns its results with one more axis.

    Raises
    ------
    ArgumentError
        If an argument does not have an axis.
    ValueError
        If axes differ in size, or have the size 0; if the results of two elements have different
        shapes.

    Examples
    --------
    >>> import numpy as np
    >>> def distance(a, b):
    ...     return np.sqrt(np.sum((a - b) ** 2))
    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> adc.vmap(distance, (0, None))(points, points[0])
    array([ 0.,  5., 10.])
    >>> adc.vmap(adc.grad(distance), (0, None))(points[1:], points[0])
    array([[0.6, 0.8],
           [0.6, 0.8]])
    """
    asked = Options.of("vmap", RunOptions, options)
    axes: list[Any] = []
    for name, given in (("in_axes", in_axes), ("out_axes", out_axes)):
        try:
            axes.append(batches.encoded(given))
        except TypeError:
            raise ArgumentError(
                f"{name}={given!r} is not a number, None, or a tuple, list or dict of them"
            ) from None

    def make(fn: Callable[..., Any]) -> Derivative:
        if not callable(fn):
            raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
        return Batched(fn if isinstance(fn, Derivative) else plain(fn), (axes[0], axes[1]), asked)

    return make if fn is None else make(fn)


def check_nans(fn: Callable[..., Any], *, digits: float | None = None) -> Callable[..., Any]:
    """Return `fn`, so that it raises where its first NaN arises, if its result has one.

    If there is no NaN but an infinity, that counts. Calls whose results are finite cost what they
    cost otherwise; else all statements run once more, one by one and slowly.

    With `digits`, it also raises where digits are lost, as by cancellation, if a number in the
    result has fewer correct digits than that. The arguments and constants count as exact. All
    statements then run six times, slowly; the estimate is a random one, always the same.

    Parameters
    ----------
    fn : callable
        A Python function, or a derivative of any kind: what `grad`, `jacfwd` or `vmap` return, a
        pullback, or a function such as `adc.jvp` itself, which then takes what `jvp` takes.
    digits : float, optional
        How many decimal digits of each number in the result have to be correct, at most 15.

    Returns
    -------
    callable
        Takes the arguments of `fn`, and returns its results.

    Raises
    ------
    NotFiniteError
        An `AdcError` and a `FloatingPointError`: with the line, the operands, and the iterations of
        the loops around it.
    DigitsError
        An `AdcError` and an `ArithmeticError`: the same for the line that loses most digits of the
        result.
    ArgumentError
        If `digits` is not a number of digits, or a Jacobian is sparse.

    Examples
    --------
    >>> import numpy as np
    >>> def distance(x):
    ...     return np.sqrt(np.sum((x - 1.0) ** 2)) + np.log(x[0])
    >>> adc.check_nans(adc.grad(distance))(np.array([1.0, 2.0]))
    array([1., 1.])
    >>> adc.check_nans(distance)(np.array([-1.0, 2.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    adc.ir.errors.NotFiniteError: [ADC035] a NaN arises in this line: log(-1) is nan
      ...
    >>> adc.check_nans(lambda x: (1.0 - np.cos(x)) / x**2, digits=3)(1e-8)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    adc.ir.errors.DigitsError: [ADC036] cancellation in this line: 1 - 1 is 0, which leaves ...
      ...

    References
    ----------
    Parker, "Monte Carlo arithmetic", UCLA CSD-970002, 1997; the line: Sanchez-Stern, Panchekha,
    Lerner and Tatlock, "Finding root causes of floating point error", PLDI 2018.
    """
    if digits is not None:
        _check_digits(fn, digits)
    made = fn if _is_compiled(fn) else jit(fn)

    @shortened
    def call(*args: Any, **kwargs: Any) -> Any:
        if digits is None:
            from adc.compiler.watch import nonfinite

            return nonfinite.check(made, args, kwargs)
        from adc.compiler.watch import digits as correct

        return correct.check(made, args, kwargs, digits)

    return call


def _check_digits(fn: Callable[..., Any], digits: float) -> None:
    if isinstance(digits, bool) or not isinstance(digits, int | float) or not 0 < digits <= 15:
        raise ArgumentError(f"digits={digits!r} is not a number from 1 to 15")
    if isinstance(fn, Derivative) and fn._is_sparse:
        raise ArgumentError("`digits` of a sparse Jacobian", None, "check it without `sparsity`")


def _is_compiled(fn: Callable[..., Any]) -> bool:
    """Whether compiled code runs where something is called: adc's own functions, what they make."""
    if isinstance(fn, functools.partial):
        return _is_compiled(fn.func)
    if isinstance(fn, types.FunctionType):  # `jvp`, and what `hvp` returns
        return fn.__module__ in ("adc.api.products", "adc.scipy")
    # Pullbacks and the like are of a module that is imported where there are some.
    return isinstance(fn, Derivative) or type(fn).__module__ == "adc.api.sweeps"


@transform
def checkpoint(fn: Callable[..., Any]) -> Checkpoint:
    """Return `fn`, so that reverse code stores only the arguments of each call.

    Reverse code recomputes the values of a call from its arguments, which are stored or recomputed
    like other values. Loops with loop-carried values and recursive functions are recomputed as a
    whole. Results and gradients are bit-identical to those without `checkpoint`.

    Parameters
    ----------
    fn : callable
        A Python function; a method, if this is used as a decorator.

    Returns
    -------
    callable
        A function with the same results as `fn`.

    Examples
    --------
    >>> import numpy as np
    >>> @adc.checkpoint
    ... def layer(h, w):
    ...     return np.tanh(w * h)
    >>> def loss(h, w):
    ...     for _ in range(3):
    ...         h = layer(h, w)
    ...     return np.sum(h)
    >>> dloss = adc.grad(loss)
    >>> _ = dloss(np.ones(2), 0.5)
    >>> [entry.expression for entry in dloss.plan().entries if entry.reason == "adc.checkpoint"]
    ['w * h', 'np.tanh(w * h)']
    """
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return Checkpoint(fn)


def release_memory() -> None:
    """Release the memory that compiled code keeps between calls, in all threads.

    Every derivative keeps its workspace and its tapes for the next call, and reuses the memory of
    large arrays that it returned once they are dropped; on a GPU, the memory of all arrays that
    were not returned. Running calls and arrays in use are not affected; the next calls allocate new
    memory. Compiled code that derivatives of one function share is dropped, except by the
    derivatives that have used it. Its machine code stays in memory: LLVM never gives it back, about
    half a megabyte for each function that was compiled or loaded.

    Examples
    --------
    >>> adc.release_memory()
    """
    from adc.compiler import dispatch

    kept.cache_clear()
    dispatch.release_memory()


__all__ = ["check_nans", "checkpoint", "jit", "release_memory", "vmap"]
