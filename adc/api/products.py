"""Products with Jacobians and Hessians, from either side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from adc.api.making import code_for, split
from adc.functions import name_of
from adc.ir.errors import ArgumentError, NonScalarError
from adc.library.transforms import Level, transform
from adc.options import Options, PlanOptions, takes
from adc.tracebacks import shortened

if TYPE_CHECKING:
    from adc.api.sweeps import Pullback, Pushforward
    from adc.compiler.dispatch import Code


def _along(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> Any:
    """Return results and their derivatives along tangents; None is a zero tangent."""
    moved = _moved(primals, tangents)
    code = code_for(fn, levels, options, moved)
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
    >>> adc.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    >>> adc.jvp(lambda x: (x * x, [x]), (2.0,), (1.0,))
    ((4.0, [2.0]), (4.0, [1.0]))
    >>> adc.jvp(adc.grad(lambda x: x * x * x), (2.0,), (1.0,))
    (12.0, 12.0)
    """
    function, levels, how = split(fn, Options.of("jvp", PlanOptions, options))
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
    >>> adc.hvp(lambda x: x * x * x, (2.0,), (1.0,))
    12.0
    >>> adc.hvp(lambda x, n: x**n)(2.0, 1.0, 3)
    12.0
    """
    function, levels, how = split(fn, Options.of("hvp", PlanOptions, options))
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
    code = code_for(fn, levels, options, (0,))

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
        returns a tuple with a cotangent for each of `primals`, or None for one without floats.
        Every call runs the forward code again.

    Examples
    --------
    >>> value, pull = adc.vjp(lambda x, y: (x * y, x + y), 2.0, 3.0)
    >>> value
    (6.0, 5.0)
    >>> pull((1.0, 0.0))
    (3.0, 2.0)
    """
    pull = pullback(fn, primals, Options.of("vjp", PlanOptions, options), has_aux)
    if has_aux:
        value, aux = pull.value
        return value, pull, aux
    return pull.value, pull


def pullback(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    options: Options,
    has_aux: bool = False,
    moved: tuple[int, ...] | None = None,
) -> Pullback:
    """Return what pulls cotangents back, to some of the arguments or all, with the value."""
    from adc.api.sweeps import Pullback

    function, levels, how = split(fn, options)
    gradient = bool(levels) and levels[-1].kind == "grad" and not levels[-1].has_aux
    nested = bool(levels) and not gradient
    primal = code_for(function, levels, how, None, None, nested, entire=True)
    values = primal.match(tuple(primals), {})
    if gradient and not primal.commutes(values):
        gradient = False
        primal = code_for(function, levels, how, None, None, True, entire=True)
        values = primal.match(tuple(primals), {})

    def make(moved: tuple[int, ...]) -> Code:
        if not gradient:
            return code_for(function, levels, how, None, moved)
        # Second derivatives are symmetric: the cotangent of a gradient is a direction.
        inner, along = (*levels[:-1], Level("grad", moved)), levels[-1].chosen
        return code_for(function, inner, how, along, None)

    return Pullback(primal, make, values, len(primals), has_aux, moved)


@transform
@takes(PlanOptions)
@shortened
def linearize(
    fn: Callable[..., Any], *primals: Any, **options: Unpack[PlanOptions]
) -> tuple[Any, Pushforward]:
    """Return the value of `fn`, and a function that pushes tangents forward, in forward mode.

    Parameters
    ----------
    fn : callable
        A Python function that returns floats, arrays, or tuples, lists and dicts of them; or a
        derivative, such as a result of `grad`.
    *primals
        The arguments. Later changes to them have no effect, and `push` uses the same random
        numbers as the call of `fn`.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `grad`.

    Returns
    -------
    value : object
        The result of `fn`.
    push : callable
        Takes a tangent for each argument, or None to hold it fixed; returns the tangent of the
        value. Every call runs the code of `fn` again.

    Examples
    --------
    >>> value, push = adc.linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> value, push(1.0, 0.0), push(None, 1.0)
    (6.0, 3.0, 2.0)
    """
    from adc.api.sweeps import Pushforward

    function, levels, how = split(fn, Options.of("linearize", PlanOptions, options))
    primal = code_for(function, levels, how, None)

    def make(moved: tuple[int, ...]) -> Code:
        return code_for(function, levels, how, moved)

    push = Pushforward(primal, make, primals)
    return push.value, push


__all__ = ["hvp", "jvp", "linearize", "pullback", "vjp"]
