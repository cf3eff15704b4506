"""Functions with custom derivatives.

>>> import adc
>>> import numpy as np
>>> @adc.custom_jvp
... def softplus(x):
...     return np.log1p(np.exp(-abs(x))) + max(x, 0.0)
>>> @softplus.defjvp
... def softplus_jvp(primals, tangents):
...     (x,), (dx,) = primals, tangents
...     return softplus(x), dx / (1.0 + np.exp(-x))
>>> adc.grad(softplus)(0.0)
0.5
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from adc.ir.errors import ArgumentError
from adc.library.transforms import transform

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class Wrapping(Generic[P, R]):
    """A function that has derivatives of its own, and that ordinary code calls as it is."""

    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[P, R]) -> None:
        functools.update_wrapper(self, fn)
        if not hasattr(self, "__name__"):  # an object, or `functools.partial`
            self.__name__ = getattr(getattr(fn, "func", None), "__name__", type(fn).__name__)
            self.__qualname__ = self.__name__
        self.py_func = fn

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.py_func(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function bound to an object."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # as functions do


class Custom(Wrapping[P, R]):
    """A function with a custom derivative. Made by `custom_vjp` and `custom_jvp`.

    A call from ordinary code calls the function itself.
    """

    def __init__(self, fn: Callable[P, R], fixed: tuple[int, ...]) -> None:
        super().__init__(fn)
        self._fixed = fixed
        self._rules: tuple[Callable[..., Any], ...] = ()

    def __repr__(self) -> str:
        kind = type(self).__name__.lower().replace("custom", "custom_")
        return f"<adc {kind}({self.__qualname__})>"

    def _define(self, *rules: Callable[..., Any]) -> None:
        if self._rules:
            raise ArgumentError(f"{self.__name__}() has a rule already", None, "define it once")
        for rule in rules:
            if not callable(rule):
                raise ArgumentError(f"{rule!r} is not a function", None, "pass a function")
        self._rules = rules

    @property
    def __adc_rule__(self) -> tuple[str, tuple[Callable[..., Any], ...], tuple[int, ...]]:
        """The kind of rule, its functions, and the positions of `nondiff_argnums`."""
        if not self._rules:
            made, name = ("custom_vjp", "defvjp(forward, reverse)")
            if isinstance(self, CustomJVP):
                made, name = ("custom_jvp", "defjvp(rule)")
            raise ArgumentError(
                f"{self.__name__}() is decorated with `{made}` but has no rule", None,
                f"define it with `{self.__name__}.{name}`",
            )  # fmt: skip
        return type(self).__name__[-3:].lower(), self._rules, self._fixed


class CustomVJP(Custom[P, R]):
    """A function with a rule for reverse mode."""

    def defvjp(self, forward: Callable[..., Any], reverse: Callable[..., Any]) -> None:
        """Define the rule.

        Parameters
        ----------
        forward : callable
            Takes the arguments; returns ``(value, residuals)``: the result of the function, and
            any values that `reverse` needs.
        reverse : callable
            Takes the arguments in `nondiff_argnums`, then the residuals and a cotangent with the
            structure of the value; returns a tuple with a cotangent for each of the other
            arguments, or None for one that the function does not depend on.
        """
        self._define(forward, reverse)


class CustomJVP(Custom[P, R]):
    """A function with a rule for forward mode, which serves reverse mode as well."""

    def defjvp(self, rule: Rule) -> Rule:
        """Define the rule, and return it, so that this can be used as a decorator.

        Parameters
        ----------
        rule : callable
            Takes the arguments in `nondiff_argnums`, then a tuple of the other arguments and a
            tuple of their tangents (None if the argument is not a float); returns the value and its
            tangent. The tangent must be linear in the tangents, because reverse mode transposes it.
            Reverse mode refuses rules that it cannot prove linear (a product of two tangents, a
            branch on a tangent, a solver that iterates on them). Do not store primals and tangents
            in the same array. Second derivatives differentiate value and tangent as they are
            written: a rule whose value is a call of the function itself is followed again.
        """
        self._define(rule)
        return rule


def _fixed(nondiff_argnums: int | Sequence[int]) -> tuple[int, ...]:
    return (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)


@transform
def custom_vjp(fn: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> CustomVJP[P, R]:
    """Return `fn` with a custom derivative in reverse mode, which `defvjp` defines.

    For functions whose derivative is known better than by following the code: solvers,
    approximations, clipped gradients. `adc check` finds a rule that is wrong.

    Forward mode transposes the reverse rule, which has to be linear in the cotangent; if it is not,
    forward mode is an error. Derivatives of a gradient differentiate `forward` and `reverse` as
    they are written. Inside differentiated code, a rule is defined in the same block as its
    function.

    Parameters
    ----------
    fn : callable
        A Python function; in reverse mode, `forward` is called in its place.
    nondiff_argnums : int or sequence of int
        Positions of arguments that are not differentiated, such as functions; the rule receives
        them unchanged.

    Returns
    -------
    callable
        A function with the same results as `fn`; `defvjp(forward, reverse)` defines its derivative.

    Raises
    ------
    AdcError
        If `fn` is not a function; when it is used, if it has no rule, or if a rule returns a value
        with another structure or shape than that of `fn`.

    Examples
    --------
    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, ct: (max(min(ct, 1.0), -1.0),))
    >>> import adc
    >>> adc.grad(lambda x: 5.0 * clipped(x))(2.0)
    1.0
    """
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return CustomVJP(fn, _fixed(nondiff_argnums))


@transform
def custom_jvp(fn: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> CustomJVP[P, R]:
    """Return `fn` with a custom derivative for both modes, which `defjvp` defines.

    Parameters
    ----------
    fn : callable
        A Python function.
    nondiff_argnums : int or sequence of int
        Positions of arguments that are not differentiated, such as functions; the rule receives
        them unchanged.

    Returns
    -------
    callable
        A function with the same results as `fn`; `defjvp(rule)` defines its derivative.

    Raises
    ------
    AdcError
        If `fn` is not a function; when it is used, if it has no rule, or if a rule returns a value
        with another structure or shape than that of `fn`.

    Examples
    --------
    >>> import numpy as np
    >>> @custom_jvp
    ... def sinc(x):
    ...     return np.sin(x) / x if x != 0.0 else 1.0
    >>> @sinc.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     slope = (np.cos(x) - np.sin(x) / x) / x if x != 0.0 else 0.0
    ...     return sinc(x), slope * dx
    >>> import adc
    >>> adc.grad(sinc)(0.0)
    0.0
    """
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return CustomJVP(fn, _fixed(nondiff_argnums))


__all__ = ["Custom", "CustomJVP", "CustomVJP", "custom_jvp", "custom_vjp"]
