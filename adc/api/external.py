"""Functions that adc calls as they are.

>>> import adc
>>> import numpy as np
>>> from scipy.special import jv
>>> bessel = adc.external(
...     lambda x: jv(0, x), result=float,
...     vjp=lambda ct, y, x: (-ct * bessel1(x),),
... )
>>> bessel1 = adc.external(lambda x: jv(1, x), result=float)
>>> round(adc.grad(lambda x: bessel(x) ** 2)(1.0), 6)
-0.673451
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from adc.api.custom import Wrapping
from adc.ir.errors import ArgumentError
from adc.ir.text.outside import annotated
from adc.library.implicit import rules
from adc.library.transforms import transform

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[..., Any]


class External(Wrapping[P, R]):
    """A function that adc never looks into. Made by `external`.

    A call from ordinary code calls the function itself.

    Attributes
    ----------
    fn : callable
        The function.
    vjp, jvp : callable or None
        Its derivative rules.
    result : object
        What it returns, as `external` takes it; None if nothing says it.
    pure : bool
        Whether it may be called again.
    """

    def __init__(
        self, fn: Callable[P, R], vjp: Rule | None, jvp: Rule | None, result: Any, pure: bool
    ) -> None:
        super().__init__(fn)
        self.fn = fn
        self.vjp, self.jvp = vjp, jvp
        self.result = annotated(fn) if result is None else result
        self.pure = pure
        # What has its rules (`adc.library.external`), by whether the result is a number.
        self.attached: dict[bool, Any] = {}

    def __repr__(self) -> str:
        return f"<adc external({self.__qualname__})>"

    @property
    def __adc_external__(self) -> External[P, R]:
        """The function, for the front end."""
        return self


@overload
def external(
    fn: Callable[P, R], *, vjp: Rule | None = None, jvp: Rule | None = None, result: Any = None,
    pure: bool = False,
) -> External[P, R]: ...  # fmt: skip
@overload
def external(
    fn: None = None, *, vjp: Rule | None = None, jvp: Rule | None = None, result: Any = None,
    pure: bool = False,
) -> Callable[[Callable[P, R]], External[P, R]]: ...  # fmt: skip
@transform
def external(
    fn: Callable[..., Any] | None = None,
    *,
    vjp: Rule | None = None,
    jvp: Rule | None = None,
    result: Any = None,
    pure: bool = False,
) -> Any:
    """Return `fn` as a function that compiled code calls as it is, with derivative rules.

    For what adc cannot read: functions of other libraries, of compiled extensions, of objects that
    hold files or connections. `fn` runs in the interpreter, at every call, in the order of the
    program; reverse code does not run it again. It takes NumPy arrays and numbers, strings, None,
    and tuples, lists and dicts of these. An exception that it raises is the caller's, with the
    line of the call in its traceback.

    Parameters
    ----------
    fn : callable
        Any Python callable. As a decorator with options: ``@adc.external(result=float)``.
    vjp : callable, optional
        The rule for reverse mode: ``vjp(ct, y, *args)`` takes the cotangent of the result, the
        result and the arguments; it returns a tuple with a cotangent for each argument, None for
        one that `fn` does not depend on. For one argument, the cotangent alone will do.
    jvp : callable, optional
        The rule for forward mode: ``jvp(dots, y, *args)`` takes a tuple of the tangents of the
        arguments (None for those that are no floats), the result and the arguments; it returns the
        tangent of the result, which must be linear in `dots`.
    result : object, optional
        What `fn` returns: a type (`float`, `int`, `bool`, `complex`, `np.float32`, …) for a number;
        an array, for one of its dtype and shape; a tuple of these; or a function of the arguments
        that adc can read, and that returns something like the result, as `np.zeros_like` or
        ``lambda x, n: np.empty((n, len(x)))``. By default what the annotation of `fn` says
        (``-> float``).
    pure : bool, default False
        Whether `fn` returns the same for the same arguments and does nothing else. It then may be
        called again, where a budget needs the memory or a derivative runs code again.

    Returns
    -------
    callable
        A function with the same results as `fn`.

    Raises
    ------
    AdcError
        When it is compiled, if nothing says what `fn` returns, or if a derivative needs a rule
        that is missing; when it is called, if `fn` returns something else than was said.

    See Also
    --------
    adc.custom_vjp : Derivatives of functions that adc reads.
    adc.stop_gradient : Ends derivatives; an `external` function without rules needs it around
        arguments that depend on what is differentiated.

    Notes
    -----
    With `vjp` alone, forward mode and `hvp` need a result that is a number: its tangent is the
    cotangent for 1, times the tangents of the arguments. With `jvp` alone, reverse mode transposes
    the rule. Rules are read and differentiated like other code; what they cannot do in adc's
    Python they do in `external` functions of their own.

    Arrays are passed as copies that are read-only: compiled code goes on with its own memory, and
    a function that writes to its argument gets NumPy's ``ValueError``. Loops with such calls run
    in one thread; on a GPU the call is made by the host.

    Examples
    --------
    >>> import adc, numpy as np
    >>> def solve(x):
    ...     return float(np.max(np.roots([1.0, 0.0, -x]).real))
    >>> root = adc.external(solve, result=float, vjp=lambda ct, y, x: ct / (2.0 * y))
    >>> round(adc.grad(lambda x: 3.0 * root(x))(4.0), 12)
    0.75
    >>> @adc.external(result=np.zeros_like, jvp=lambda dots, y, x: y * dots[0])
    ... def exponential(x):
    ...     return np.exp(x)
    >>> adc.grad(lambda x: np.sum(exponential(x)))(np.array([0.0, 1.0])).round(3)
    array([1.   , 2.718])
    """
    if fn is None:
        return functools.partial(external, vjp=vjp, jvp=jvp, result=result, pure=pure)
    for name, each in (("fn", fn), ("vjp", vjp), ("jvp", jvp)):
        if each is not None and not callable(each):
            raise ArgumentError(f"{name} is {each!r}, which is no function", None,
                                "pass the function itself")  # fmt: skip
    if isinstance(fn, External):
        raise ArgumentError(f"{fn!r} is external already", None, "make it so once")
    if inspect.iscoroutinefunction(fn):
        raise ArgumentError(f"{fn!r} is a coroutine function", None, "pass a function that runs it")
    return External(fn, vjp, jvp, result, pure)


@transform
def implicit(
    solver: Callable[P, R], residual: Callable[..., Any], *, result: Any = None, pure: bool = False
) -> External[P, R]:
    """Return a solver of equations, called as it is, with the derivatives of the solution.

    Where ``residual(y, *args)`` is zero at ``y = solver(*args)``, the implicit function theorem
    gives the derivative of `y` by the arguments [1]_: it does not depend on how the solver works.
    The solver runs in the interpreter, as any `external` function; `residual` is read and
    differentiated.

    Parameters
    ----------
    solver : callable
        Takes arguments, and returns a number or an array.
    residual : callable
        Takes a solution and these arguments; returns zeros of the shape of the solution.
    result : object, optional
        What the solver returns, as for `external`.
    pure : bool, default False
        Whether the solver may be called again, as for `external`.

    Returns
    -------
    callable
        A function with the same results as `solver`, and derivatives of any order: forward over
        reverse, as those of all functions with rules.

    Raises
    ------
    AdcError
        As `external`.
    LinAlgError
        When a derivative is called, if the Jacobian of the residual by the solution is singular.

    See Also
    --------
    external : Functions with rules of their own.

    Notes
    -----
    The Jacobian is a dense matrix: for `n` unknowns, a derivative takes `n` directions of the
    residual and one solution of a linear system. The derivative is as accurate as the solution.

    References
    ----------
    .. [1] M. Blondel, Q. Berthet, M. Cuturi, R. Frostig, S. Hoyer, F. Llinares-López, F. Pedregosa,
       J.-P. Vert. Efficient and modular implicit differentiation. NeurIPS 2022.

    Examples
    --------
    >>> import adc, numpy as np
    >>> from scipy import optimize
    >>> def residual(y, a):
    ...     return y**3 + y - a
    >>> def solve(a) -> float:
    ...     return optimize.brentq(residual, -9.0, 9.0, args=(a,))
    >>> root = adc.implicit(solve, residual)
    >>> round(adc.grad(lambda a: root(a) ** 2)(2.0), 12)
    0.5
    """
    if not callable(residual):
        raise ArgumentError(
            f"residual is {residual!r}, which is no function", None, "pass the function itself"
        )
    vjp, jvp = rules(residual)
    made: External[P, R] = external(solver, vjp=vjp, jvp=jvp, result=result, pure=pure)
    return made


__all__ = ["External", "external", "implicit"]
