"""The public API: functions that return derivatives, which compile at their first call.

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

import copy
import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from adc.derivative import Batched, Checkpoint, Derivative, Jacobian, Jitted
from adc.functions import chosen, name_of, plain, span_of
from adc.ir.errors import ArgumentError, NonScalarError
from adc.library import batches, invertible, recompute, save, stop_gradient
from adc.library.transforms import Level, transform
from adc.options import Options, PlanOptions, RunOptions, takes
from adc.tracebacks import shortened

if TYPE_CHECKING:
    from adc.compiler.dispatch import Code
    from adc.jacobian import Pullback


def _argnums(argnums: int | Sequence[int]) -> int | tuple[int, ...]:
    try:
        if isinstance(argnums, Sequence) and not isinstance(argnums, str):
            return tuple([operator.index(number) for number in argnums])
        return operator.index(argnums)
    except TypeError:
        raise ArgumentError(
            f"argnums={argnums!r} is neither an integer nor a sequence of integers"
        ) from None


def _chosen(
    kind: str,
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Level:
    """Return a derivative with respect to the arguments that `argnums` or `argnames` select."""
    if argnames is None:
        return Level(kind, _argnums(0 if argnums is None else argnums), has_aux, holomorphic)
    if argnums is not None:
        raise ArgumentError("argnums and argnames are both given", None, "give one of them")
    names = argnames if isinstance(argnames, str) else tuple(argnames)
    return Level(kind, chosen(fn, names), has_aux, holomorphic, names)


def _split(
    fn: Callable[..., Any], options: Options
) -> tuple[Callable[..., Any], tuple[Level, ...], Options]:
    """Return the innermost function, the levels applied to it, and how to apply more."""
    if isinstance(fn, Derivative):
        return fn.__wrapped__, fn.__adc_applied__, options.over(fn._options)
    if isinstance(fn, Checkpoint) and isinstance(fn.py_func, Derivative):
        function, levels, how = _split(fn.py_func, options)
        return function, (*levels, *fn.__adc_applied__), how
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, Derivative):
        derivative = fn.__func__
        method = types.MethodType(derivative.__wrapped__, fn.__self__)
        levels = tuple([_bound(method, level) for level in derivative._applied])
        return method, levels, options.over(derivative._options)
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return plain(fn), (), options


def _bound(method: types.MethodType, level: Level) -> Level:
    """Return a level for a bound method: positions no longer count `self`."""
    if level.names is not None:
        return dataclasses.replace(level, argnums=chosen(method, level.names))
    if 0 in level.chosen:
        raise ArgumentError(
            f"{method.__name__}() is differentiated with respect to the object that it is bound to",
            span_of(method), "take it from the class, and pass the object as the first argument",
        )  # fmt: skip
    shifted = tuple([number - 1 if number > 0 else number for number in level.chosen])
    whole = isinstance(level.argnums, int)
    return dataclasses.replace(level, argnums=shifted[0] if whole else shifted)


def _make(
    kind: str,
    fn: Callable[..., Any] | None,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    has_aux: bool,
    holomorphic: bool,
    options: Options,
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels, how = _split(fn, options)
        level = _chosen(kind, function, argnums, argnames, has_aux, holomorphic)
        return Derivative(function, (*levels, level), how)

    if argnames is None:
        _argnums(0 if argnums is None else argnums)  # errors where they are made
    return make if fn is None else make(fn)


@overload
def grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(PlanOptions)
def grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes the gradient of `fn` in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float (or ``(float, aux)`` with `has_aux`).
    argnums : int or sequence of int, default 0
        Positions of the arguments to differentiate with respect to. Negative numbers count from
        the last argument, parameters with defaults included.
    argnames : str or sequence of str
        Names of the arguments to differentiate with respect to, instead of `argnums`; they may be
        parameters that are given by name alone.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated.
    holomorphic : bool
        Whether `fn` is a holomorphic function of complex arguments: its result is complex, and the
        gradient is its complex derivative. Of a real result the gradient with respect to
        ``z = x + iy`` is ``∂f/∂x - i ∂f/∂y`` (``adc explain complex``).
    remat : {"auto", "store", "recompute"}
        Whether reverse code stores or recomputes the forward values that it needs. ``"auto"``
        chooses the faster way for each value.
    memory : int or str
        Limit of the memory that a call may hold beyond its arguments and results, in bytes or as in
        ``"64 MB"``. The plan is then the fastest one found within this budget for the sizes of the
        arguments; it recomputes values and checkpoints loops. Other sizes may need another plan.
        The gradient is bit-identical. With ``target="cuda"`` the limit is for the GPU's memory, and
        a call that would exceed it raises an error.
    offload : {None, "disk", "host"}
        Where the tapes of loops and calls are: in memory, or with ``"disk"`` in files, or with
        ``"host"`` and ``target="cuda"`` in pinned memory of the host. `memory` then limits the
        rest. The operating system writes to the disk what does not fit into its cache. The files
        disappear when a call ends, also after an error. Their folder is ``ADC_OFFLOAD_DIR``, or
        else ``TMPDIR`` or ``/var/tmp``. It must be on a disk: ``/dev/shm`` is memory, and so is
        ``/tmp`` on many systems.
    parallel : bool or int
        Whether threads share loops that are long enough and have independent iterations; an int is
        the number of threads, True uses all of Numba's (``NUMBA_NUM_THREADS``). In functions that
        multiply matrices, only BLAS uses threads. Results are bit-identical for any number of
        threads, except for those of BLAS; the last bits of sums may differ from those without
        `parallel`. Each thread allocates private memory for the arrays of an iteration, which plans
        do not count; with `memory`, loops whose iterations allocate arrays are not parallel.
    cache : bool
        Whether compiled code is cached on disk.
    progress : bool
        Whether a compilation of more than two seconds is reported by a line on standard error,
        which disappears when it ends. ``ADC_PROGRESS=0`` turns off all of these lines.
    target : {"cpu", "cuda", "python"}
        Where the code runs. With ``"cuda"``, loops with independent iterations are kernels on an
        NVIDIA GPU (with the extra ``cuda12`` or ``cuda13``). NumPy arrays are copied to the GPU,
        and results back, once. Arrays on the GPU (of Numba, CuPy, PyTorch, JAX) are used in place,
        and their gradients have the same library's type. Results agree with the CPU's up to
        rounding. ``NUMBA_ENABLE_CUDASIM=1`` runs Numba's simulator instead of a GPU, slowly. With
        ``"python"``, CPython runs the generated source, slowly; ``pdb`` can step through it, and
        results are bit-identical to the CPU's (``adc explain internals``).
    deterministic : bool
        Whether the last bits of sums are the same in every call. Without it they are, too, except
        on a GPU where several iterations add to the same element. With it such loops run in one
        thread, which is slow. Plans show these places as ``"atomic"``.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns gradients with the type, dtype and shape of the
        arguments: one for an int `argnums`, else a tuple. With `has_aux`, ``(gradient, aux)``.
        A random generator among the arguments advances as in a call of `fn`; nothing else changes.

    Raises
    ------
    AdcError
        When called: if `fn` uses unsupported Python, an argument cannot be differentiated, no plan
        fits into `memory`, or the disk is full. Errors of the program itself are raised as in
        Python.

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
    >>> def decay(x, steps):
    ...     for _ in range(steps):
    ...         x = np.sin(x)
    ...     return np.sum(x)
    >>> gradient = grad(decay, offload="disk")
    >>> gradient(np.zeros(3), 100)
    array([1., 1., 1.])
    >>> print(gradient.plan().memory_text()[-1])
    disk: 8*steps*x.dim0 + 8*steps = 3200 bytes (not in the peak)
    """
    return _make(
        "grad",
        fn,
        argnums,
        argnames,
        has_aux,
        holomorphic,
        Options.of("grad", PlanOptions, options),
    )


@overload
def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def value_and_grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(PlanOptions)
def value_and_grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes ``(value, gradient)`` of `fn`.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, holomorphic, remat, memory, offload, parallel, cache, \
    progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns its value and its gradient, as `grad` returns it. With
        `has_aux`, ``((value, aux), gradient)``.

    Examples
    --------
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _make(
        "value_and_grad",
        fn,
        argnums,
        argnames,
        has_aux,
        holomorphic,
        Options.of("value_and_grad", PlanOptions, options),
    )


def _code(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None = None,
    nested: bool = False,
    entire: bool = False,
) -> Code:
    # What a closure, a default or a method holds may be large, and is not kept for a next time.
    held = isinstance(fn, types.MethodType) or getattr(fn, "__closure__", None) or (
        getattr(fn, "__defaults__", None)
    )  # fmt: skip
    return (_made if held else _kept)(fn, levels, options, along, pull, nested, entire)


def _made(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
    nested: bool,
    entire: bool,
) -> Code:
    from adc.compiler.dispatch import Code

    return Code(fn, levels, options, along, pull, nested, entire=entire)


_kept = functools.lru_cache(maxsize=256)(_made)


def _along(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> Any:
    """Return results and their derivatives along tangents; None is a zero tangent."""
    moved = _moved(primals, tangents)
    code = _code(fn, levels, options, moved)
    values = code.match(tuple(primals), {})
    compiled, hidden = code.find(values)
    directions = compiled.signature.directions(moved, [tangents[k] for k in moved], values)
    return compiled.run(values, hidden, directions)


def _moved(primals: Any, tangents: Any) -> tuple[int, ...]:
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
        raise ArgumentError("no tangent is given", None, "give one for at least one argument")
    return moved


@transform
@takes(PlanOptions)
@shortened
def jvp(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> tuple[Any, ...]:
    """Return the value of `fn` and its derivative along `tangents`, in forward mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or a
        derivative, such as a result of `grad`.
    primals, tangents : sequences
        The arguments, and a tangent for each: of the same shape, or None to hold it fixed.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    value, tangent : object
        The result of `fn`, and its derivative, which has the same structure. With `has_aux`,
        ``(value, tangent, aux)``.

    Examples
    --------
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    >>> jvp(lambda x: (x * x, [x]), (2.0,), (1.0,))
    ((4.0, [2.0]), (4.0, [1.0]))
    >>> jvp(grad(lambda x: x * x * x), (2.0,), (1.0,))
    (12.0, 12.0)
    """
    function, levels, how = _split(fn, Options.of("jvp", PlanOptions, options))
    value, slope = _along(function, levels, how, primals, tangents)
    if not has_aux:
        return value, slope
    if not (isinstance(value, tuple) and len(value) == 2):
        raise NonScalarError(
            f"{function!r} does not return a pair, which `has_aux` needs", None,
            "return (value, auxiliary results)",
        )  # fmt: skip
    return value[0], slope[0], value[1]


@transform
@takes(PlanOptions)
@shortened
def hvp(
    fn: Callable[..., Any],
    primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return the product of the Hessian of `fn` with a direction: forward over reverse.

    Without arguments, return a function of the first argument of `fn`, a direction, and the other
    arguments, which are held fixed: what `hessp=` of `scipy.optimize.minimize` takes.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float.
    primals, tangents : sequences, optional
        The arguments, and a tangent for each: of the same shape, or None to hold it fixed.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    object, tuple or callable
        An array or number like the argument; for several arguments a tuple, with None for those
        that are held fixed. Or the function.

    Examples
    --------
    >>> hvp(lambda x: x * x * x, (2.0,), (1.0,))
    12.0
    >>> hvp(lambda x, n: x**n)(2.0, 1.0, 3)
    12.0
    """
    function, levels, how = _split(fn, Options.of("hvp", PlanOptions, options))
    if primals is None and tangents is None:
        return _products(function, (*levels, Level("grad", (0,))), how)
    moved = _moved(primals, tangents)
    given, along = primals or (), tangents or ()
    levels = (*levels, Level("grad", moved))
    _, found = _along(function, levels, how, given, along)
    products = dict(zip(moved, found, strict=True))
    if len(given) == 1:
        return products[0]
    return tuple([products.get(k) for k in range(len(given))])


def _products(
    fn: Callable[..., Any], levels: tuple[Level, ...], options: Options
) -> Callable[..., Any]:
    """Return a function of products of the Hessian by the first argument."""
    code = _code(fn, levels, options, (0,))

    @shortened
    def product(x: Any, direction: Any, /, *args: Any, **kwargs: Any) -> Any:
        values = code.match((x, *args), kwargs)
        compiled, hidden = code.find(values)
        moved = compiled.signature.directions((0,), [direction], values)
        _, (found,) = compiled.run(values, hidden, moved)
        return found

    product.__name__ = product.__qualname__ = f"hvp({name_of(fn)})"
    return product


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
    random generators advance.

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
    >>> jit(lambda x, n: {"power": x**n, "n": n})(3.0, 2)
    {'power': 9.0, 'n': 2}
    """

    asked = Options.of("jit", RunOptions, options)

    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels, how = _split(fn, asked)
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
    >>> vmap(distance, (0, None))(points, points[0])
    array([ 0.,  5., 10.])
    >>> vmap(grad(distance), (0, None))(points[1:], points[0])
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


def check_nans(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fn`, so that it raises where its first NaN arises, if its result has one.

    If there is no NaN but an infinity, that counts. Calls whose results are finite cost what they
    cost otherwise; else all statements run once more, one by one and slowly.

    Parameters
    ----------
    fn : callable
        A Python function, or a derivative, such as a result of `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn`, and returns its results.

    Raises
    ------
    NotFiniteError
        An `AdcError` and a `FloatingPointError`: with the line, the operands, and the iterations of
        the loops around it.

    Examples
    --------
    >>> import numpy as np
    >>> def distance(x):
    ...     return np.sqrt(np.sum((x - 1.0) ** 2)) + np.log(x[0])
    >>> check_nans(grad(distance))(np.array([1.0, 2.0]))
    array([1., 1.])
    >>> check_nans(distance)(np.array([-1.0, 2.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    adc.ir.errors.NotFiniteError: [ADC035] a NaN arises in this line: log(-1) is nan
      ...
    """
    made = fn if isinstance(fn, Derivative) else jit(fn)
    if isinstance(made, Jacobian):
        raise ArgumentError(
            "`check_nans` of a Jacobian", None, "check the function, its gradient, or its `jvp`"
        )

    @shortened
    def call(*args: Any, **kwargs: Any) -> Any:
        from adc.compiler import nonfinite

        code = made._code
        values = code.match(args, kwargs)
        compiled, _ = code.find(values)
        before = copy.deepcopy(compiled.arguments(values))
        found = made(*args, **kwargs)
        kind = nonfinite.kind_in(found)
        if kind:
            nonfinite.report(compiled, before, kind)
        return found

    return call


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
    >>> @checkpoint
    ... def layer(h, w):
    ...     return np.tanh(w * h)
    >>> def loss(h, w):
    ...     for _ in range(3):
    ...         h = layer(h, w)
    ...     return np.sum(h)
    >>> dloss = grad(loss)
    >>> _ = dloss(np.ones(2), 0.5)
    >>> [entry.expression for entry in dloss.plan().entries if entry.reason == "adc.checkpoint"]
    ['w * h', 'np.tanh(w * h)']
    """
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return Checkpoint(fn)


@overload
def vjp(
    fn: Callable[..., Any],
    *primals: Any,
    has_aux: Literal[False] = False,
    **options: Unpack[PlanOptions],
) -> tuple[Any, Pullback]: ...


@overload
def vjp(
    fn: Callable[..., Any],
    *primals: Any,
    has_aux: Literal[True],
    **options: Unpack[PlanOptions],
) -> tuple[Any, Pullback, Any]: ...


@transform
@takes(PlanOptions)
@shortened
def vjp(
    fn: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> tuple[Any, ...]:
    """Return the value of `fn`, and a function that pulls cotangents back, in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or a
        derivative, such as a result of `grad`.
    *primals
        The arguments. Later changes to them have no effect, and `pull` uses the same random
        numbers as the call of `fn`.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated. The second
        element is then the third result.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    value : object
        The result of `fn`.
    pull : callable
        Takes a cotangent with the structure of the value (cotangents of integers are ignored);
        returns a tuple with a cotangent for each argument, or None for an argument without floats.
        Every call runs the forward code again.

    Examples
    --------
    >>> value, pull = vjp(lambda x, y: (x * y, x + y), 2.0, 3.0)
    >>> value
    (6.0, 5.0)
    >>> pull((1.0, 0.0))
    (3.0, 2.0)
    """
    from adc.jacobian import Pullback

    function, levels, how = _split(fn, Options.of("vjp", PlanOptions, options))
    gradient = bool(levels) and levels[-1].kind == "grad" and not levels[-1].has_aux
    nested = bool(levels) and not gradient
    primal = _code(function, levels, how, None, None, nested, entire=True)

    def make(moved: tuple[int, ...]) -> Code:
        if not gradient:
            return _code(function, levels, how, None, moved)
        # Second derivatives are symmetric: the cotangent of a gradient is a direction.
        inner, along = (*levels[:-1], Level("grad", moved)), levels[-1].chosen
        return _code(function, inner, how, along, None)

    pull = Pullback(primal, make, primal.match(primals, {}), has_aux)
    if has_aux:
        value, aux = pull.value
        return value, pull, aux
    return pull.value, pull


def _jacobian(
    kind: str,
    fn: Callable[..., Any] | None,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    options: Options,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Any:
    def make(fn: Callable[..., Any]) -> Jacobian:
        function, levels, how = _split(fn, options)
        level = _chosen(kind, function, argnums, argnames, has_aux, holomorphic)
        return Jacobian(function, levels, how, level)

    return make if fn is None else make(fn)


@transform
@takes(PlanOptions)
def jacrev(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in reverse mode, by rows.

    Use it instead of `jacfwd` if there are more inputs than outputs. Up to 16 rows are computed in
    one run of compiled code, but one with a budget (`memory`) or on a GPU.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or a
        derivative, such as a result of `grad`.
    argnums, argnames
        As for `grad`.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated.
    holomorphic : bool
        Whether complex results are holomorphic functions of complex arguments. That is checked.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Its result has the structure of the result of `fn`, where each number or array is replaced
        by the structure of the arguments, whose leaves are the derivatives, of shape
        ``result.shape + argument.shape``. With `has_aux`, ``(jacobian, aux)``.

    Examples
    --------
    >>> import numpy as np
    >>> jacrev(lambda x: x * x[::-1])(np.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 1.]])
    """
    return _jacobian(
        "jacrev",
        fn,
        argnums,
        argnames,
        Options.of("jacrev", PlanOptions, options),
        has_aux,
        holomorphic,
    )


@transform
@takes(PlanOptions)
def jacfwd(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in forward mode, by columns.

    Use it instead of `jacrev` if there are more outputs than inputs. Up to 16 columns are computed
    in one run of compiled code, but one with a budget (`memory`) or on a GPU.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, holomorphic, remat, memory, offload, parallel, cache, \
    progress, target, deterministic
        As for `jacrev`.

    Returns
    -------
    callable
        Its result is the same as with `jacrev`.

    Examples
    --------
    >>> jacfwd(lambda x, y: (x * y, x + y), argnums=(0, 1))(2.0, 3.0)
    ((3.0, 2.0), (1.0, 1.0))
    """
    return _jacobian(
        "jacfwd",
        fn,
        argnums,
        argnames,
        Options.of("jacfwd", PlanOptions, options),
        has_aux,
        holomorphic,
    )


@transform
@takes(PlanOptions)
def hessian(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the matrix of second derivatives, forward over reverse.

    Use `hvp` if products with the Hessian suffice.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float, or any function that `jacrev` accepts.
    argnums, argnames
        As for `grad`.
    holomorphic : bool
        Whether `fn` is a holomorphic function of complex arguments, whose complex second
        derivatives are meant. That is checked.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        For an argument of shape `s` its result has shape ``s + s``; for several arguments it is a
        tuple of tuples. If `fn` returns arrays, their shapes come first, as in
        ``jacfwd(jacrev(fn))``.

    Examples
    --------
    >>> import numpy as np
    >>> hessian(lambda x: x[0] * x[1] ** 2)(np.array([3.0, 5.0]))
    array([[ 0., 10.],
           [10.,  6.]])
    >>> hessian(lambda x: x**3)(np.array([2.0]))
    array([[[12.]]])
    >>> jacrev(hessian(lambda x: np.sum(x**3)))(np.array([2.0]))
    array([[[6.]]])
    """
    return _jacobian(
        "hessian",
        fn,
        argnums,
        argnames,
        Options.of("hessian", PlanOptions, options),
        holomorphic=holomorphic,
    )


def release_memory() -> None:
    """Release the memory that compiled code keeps between calls, in all threads.

    Every derivative keeps its workspace and its tapes for the next call, and reuses the memory of
    large arrays that it returned once they are dropped; on a GPU, the memory of all arrays that
    were not returned. Running calls and arrays in use are not affected; the next calls allocate new
    memory. Compiled code that derivatives of one function share is dropped, except by the
    derivatives that have used it.

    Examples
    --------
    >>> release_memory()
    """
    from adc.compiler import dispatch

    _kept.cache_clear()
    dispatch.release_memory()


__all__ = [
    "Options",
    "checkpoint",
    "grad",
    "hessian",
    "hvp",
    "invertible",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "recompute",
    "release_memory",
    "save",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
