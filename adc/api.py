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

import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from adc.derivative import Checkpoint, Derivative, Jacobian, Jitted
from adc.functions import chosen, span_of
from adc.ir.errors import ArgumentError, NonScalarError
from adc.library import invertible, recompute, save, stop_gradient
from adc.library.transforms import Level, transform
from adc.options import Options, PlanOptions, RunOptions, takes

if TYPE_CHECKING:
    from adc.dispatch import Code
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
) -> Level:
    """Return a derivative with respect to arguments, which are chosen in one of two ways."""
    if argnames is None:
        return Level(kind, _argnums(0 if argnums is None else argnums), has_aux)
    if argnums is not None:
        raise ArgumentError("argnums and argnames are both given", None, "give one of them")
    names = argnames if isinstance(argnames, str) else tuple(argnames)
    return Level(kind, chosen(fn, names), has_aux, names)


def _split(
    fn: Callable[..., Any], options: Options
) -> tuple[Callable[..., Any], tuple[Level, ...], Options]:
    """Return the function that is differentiated, what was taken of it, and how to go on."""
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
    return fn, (), options


def _bound(method: types.MethodType, level: Level) -> Level:
    """Return a level of a function for a method of it: `self` is not counted any more."""
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
    options: Options,
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels, how = _split(fn, options)
        level = _chosen(kind, function, argnums, argnames, has_aux)
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
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
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
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes the gradient of `fn` in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float (or ``(float, aux)`` with `has_aux`).
    argnums : int or sequence of int, default 0
        The positional arguments to differentiate with respect to; negative numbers count from
        the last one, parameters with defaults included.
    argnames : str or sequence of str
        The same by name.
    has_aux : bool
        Whether `fn` returns a pair of which only the first part is differentiated.
    remat : {"auto", "store", "recompute"}
        What the reverse code does about the forward values that it needs.
    memory : int or str
        The most memory that a call may hold beyond its arguments and results: bytes, or as in
        ``"64 MB"``. The plan is then the fastest one found that stays below that for the sizes of
        the arguments, by recomputing values and checkpointing loops; it may be made anew for other
        sizes. The gradient is the same to the last bit. With ``target="cuda"`` it is the memory of
        the GPU; a call that turns out to hold more is an error then.
    offload : {None, "disk", "host"}
        Where values of iterations and calls wait for reverse code: in memory, or, with ``"disk"``,
        in files; with ``target="cuda"`` and ``"host"``, in pinned memory of the host. `memory` is
        then about the rest. The system writes to the disk what does not fit into its memory;
        nothing is left of the files when a call ends, however it does. They lie in the folder
        ``ADC_OFFLOAD_DIR``, or ``TMPDIR``, or ``/var/tmp``: on a disk, that is. ``/dev/shm`` is
        memory, and so is ``/tmp`` on many systems.
    parallel : bool or int
        Whether threads share loops whose iterations are independent of each other, and are long
        enough: as many as Numba has (``NUMBA_NUM_THREADS``), or so many. Where matrices are
        multiplied, BLAS has the threads. Results are the same to the last bit for any number of
        threads, those of BLAS aside; sums may differ in the last bits from those without
        `parallel`. Each thread takes memory of its own for what iterations make, which plans do
        not count; with `memory`, iterations that make arrays run alone.
    cache : bool
        Whether compiled code is kept on disk.
    progress : bool
        Whether a compilation that takes longer than two seconds says so in the terminal, by a line
        on standard error that is gone when it ends. ``ADC_PROGRESS=0`` turns off all of them.
    target : {"cpu", "cuda", "python"}
        Where the code runs. With ``"cuda"`` loops whose iterations are independent of each other
        are launched on an NVIDIA GPU, with the extra ``cuda12`` or ``cuda13``; NumPy arrays go
        there and results come back once. Arrays that are there (of Numba, CuPy, PyTorch, JAX) are
        used where they are, and their gradients are of the same library. Numbers are those of the
        CPU up to rounding. Under ``NUMBA_ENABLE_CUDASIM=1`` Numba's simulator takes the place of a
        GPU, slowly. With ``"python"`` CPython runs the source that `source` shows, a line at a time
        under ``pdb``, slowly, and to the last bit as on the CPU: ``adc explain internals``.
    deterministic : bool
        Whether sums have the same last bits each time. They do anyway, but for where iterations of
        a loop on a GPU add to elements that others add to as well: such loops run in one thread
        then, which takes long. Plans show these places as ``"atomic"``.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns gradients of the type, dtype and shape of the
        arguments: one for an int `argnums`, else a tuple. With `has_aux`, ``(gradient, aux)``.
        A random generator among the arguments advances as in a call of `fn`; nothing else changes.

    Raises
    ------
    AdcError
        When called: if `fn` is not in the supported subset of Python, an argument cannot be
        differentiated, no plan stays within `memory`, or the disk is full. Errors of the program
        itself are those that Python would raise.

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
        Options.of("grad", PlanOptions, options),
    )


@overload
def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def value_and_grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
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
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes ``(value, gradient)`` of `fn`.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, remat, memory, offload, parallel, cache, progress, \
    target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns its value and what `grad` would return. With
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
        Options.of("value_and_grad", PlanOptions, options),
    )


def _code(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None = None,
    nested: bool = False,
) -> Code:
    # What a closure, a default or a method holds may be large, and is not kept for a next time.
    held = isinstance(fn, types.MethodType) or getattr(fn, "__closure__", None) or (
        getattr(fn, "__defaults__", None)
    )  # fmt: skip
    return (_made if held else _kept)(fn, levels, options, along, pull, nested)


def _made(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
    nested: bool,
) -> Code:
    from adc.dispatch import Code

    return Code(fn, levels, options, along, pull, nested)


_kept = functools.lru_cache(maxsize=256)(_made)


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
        raise ArgumentError("no tangent is given", None, "give one for at least one argument")
    return moved


@transform
@takes(PlanOptions)
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
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or what
        `grad` or one of its relatives made.
    primals, tangents : sequences
        The arguments, and a direction for each: of its shape, or None to hold it fixed.
    has_aux : bool
        Whether `fn` returns a pair of which only the first part is differentiated.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    value, tangent : object
        What `fn` returns, and its derivative: of the same structure. With `has_aux`,
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
def hvp(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    **options: Unpack[PlanOptions],
) -> Any:
    """Return the product of the Hessian of `fn` with a direction: forward over reverse.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float.
    primals, tangents : sequences
        The arguments, and a direction for each: of its shape, or None to hold it fixed.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

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
    function, levels, how = _split(fn, Options.of("hvp", PlanOptions, options))
    levels = (*levels, Level("grad", moved))
    _, found = _along(function, levels, how, primals, tangents)
    products = dict(zip(moved, found, strict=True))
    if len(primals) == 1:
        return products[0]
    return tuple([products.get(k) for k in range(len(primals))])


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
    """Return a function that computes what `fn` does, compiled, without any derivative.

    It has the numerics that derivatives of `fn` have, and does not change its arguments, random
    generators aside: these it advances.

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
        Takes the arguments of `fn`, and returns what it does.

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


@transform
def checkpoint(fn: Callable[..., Any]) -> Checkpoint:
    """Return `fn`, of whose calls reverse code keeps nothing but the arguments.

    What a call computes is computed again from its arguments where reverse code needs it; these are
    kept, or computed again, like anything else. Loops that hand on values from iteration to
    iteration, and functions that call themselves, run again as a whole. Results and gradients are
    the same as without, to the last bit.

    Parameters
    ----------
    fn : callable
        A Python function; a method, if this is used as a decorator.

    Returns
    -------
    callable
        It does what `fn` does.

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
def vjp(
    fn: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> tuple[Any, ...]:
    """Return the value of `fn`, and a function that pulls a cotangent back, in reverse mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or what
        `grad` or one of its relatives made.
    *primals
        The arguments. Later changes to them do not matter, and `pull` draws the random numbers
        again that the call of `fn` drew.
    has_aux : bool
        Whether `fn` returns a pair of which only the first part is differentiated; it is the last
        of three results then.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    value : object
        What `fn` returns.
    pull : callable
        Takes a cotangent like the value (what belongs to integers is ignored); returns a tuple
        with a cotangent for each argument, None for one without floats. Every call runs the
        forward code again.

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
    primal = _code(function, levels, how, None, None, bool(levels) and not gradient)

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
) -> Any:
    def make(fn: Callable[..., Any]) -> Jacobian:
        function, levels, how = _split(fn, options)
        level = _chosen(kind, function, argnums, argnames, has_aux)
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
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in reverse mode, by rows.

    Better than `jacfwd` where there are more arguments than results. Some rows are computed at
    once, unless there is a budget (`memory`), or on a GPU.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or what
        `grad` or one of its relatives made.
    argnums, argnames
        As for `grad`.
    has_aux : bool
        Whether `fn` returns a pair of which only the first part is differentiated.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Its result is like that of `fn`, with something like the arguments in place of every
        number and array: the derivatives, of shape ``result.shape + argument.shape``. With
        `has_aux`, ``(jacobian, aux)``.

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
    )


@transform
@takes(PlanOptions)
def jacfwd(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the Jacobian of `fn` in forward mode, by columns.

    Better than `jacrev` where there are more results than arguments. Some columns are computed at
    once, unless there is a budget (`memory`), or on a GPU.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, remat, memory, offload, parallel, cache, progress, \
    target, deterministic
        As for `jacrev`.

    Returns
    -------
    callable
        Its result is that of what `jacrev` makes.

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
    )


@transform
@takes(PlanOptions)
def hessian(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    **options: Unpack[PlanOptions],
) -> Any:
    """Return a function that computes the matrix of second derivatives, forward over reverse.

    Use `hvp` where products with the Hessian are enough.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float, or whatever `jacrev` takes.
    argnums, argnames, remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        For an argument of shape `s` its result has shape ``s + s``; for several it is a tuple of
        tuples. Where `fn` returns arrays, their shapes come first: it is ``jacfwd(jacrev(fn))``.

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
    return _jacobian("hessian", fn, argnums, argnames, Options.of("hessian", PlanOptions, options))


def release_memory() -> None:
    """Give back the memory that compiled code keeps between calls, in all threads.

    Every derivative keeps its workspace and its tapes for the next call, and the memory of large
    arrays that it returned is used again when they are dropped; on a GPU, the memory of all arrays
    that were not returned. Calls that are running now are not disturbed, arrays that are in use
    neither; the next calls take new memory. Compiled code that derivatives of one function share is
    forgotten, but by those derivatives that have used it.

    Examples
    --------
    >>> release_memory()
    """
    from adc import dispatch

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
