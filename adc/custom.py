"""Functions with derivatives of their own.

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


class Custom(Generic[P, R]):
    """A function with a derivative of its own. Made by `custom_vjp` and `custom_jvp`.

    Called from ordinary code it is the function.
    """

    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[P, R], fixed: tuple[int, ...]) -> None:
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self._fixed = fixed
        self._rules: tuple[Callable[..., Any], ...] = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.py_func(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function bound to an object."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # as functions do

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
        """The kind of rule, its functions, and the arguments that are not differentiated."""
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
            Takes the arguments; returns ``(value, residuals)``: what the function returns, and
            anything that `reverse` needs.
        reverse : callable
            Takes first the arguments in `nondiff_argnums`, then `kept` and a cotangent like the
            value; returns a tuple with a cotangent for each of the other arguments, None for one
            that the function does not depend on.
        """
        self._define(forward, reverse)


class CustomJVP(Custom[P, R]):
    """A function with a rule for forward mode, which serves reverse mode as well."""

    def defjvp(self, rule: Rule) -> Rule:
        """Define the rule, and return it: it may stand as a decorator.

        Parameters
        ----------
        rule : callable
            Takes first the arguments in `nondiff_argnums`, then tuples of the other arguments and
            of their tangents (None for what is no float); returns the value and its tangent,
            which must be linear in the tangents: reverse mode transposes it, and refuses what it
            cannot see to be (a product of two tangents, a decision on one, a solver that iterates
            on them). Keep primals and tangents in arrays of their own.
        """
        self._define(rule)
        return rule


def _fixed(nondiff_argnums: int | Sequence[int]) -> tuple[int, ...]:
    return (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)


@transform
def custom_vjp(fn: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> CustomVJP[P, R]:
    """Return `fn` with a derivative of its own in reverse mode, given with `defvjp`.

    For functions whose derivative is known better than by following the code: solvers,
    approximations, clipped gradients. Forward mode through it is an error; the derivative of the
    rule itself is taken where second derivatives are asked for, forward over reverse (`hvp`).
    `adc check` finds a rule that is wrong.

    Parameters
    ----------
    fn : callable
        A Python function; in reverse mode, `forward` is called in its place.
    nondiff_argnums : int or sequence of int
        Arguments that are not differentiated, such as functions; the rule gets them as they are.

    Returns
    -------
    callable
        Does what `fn` does; `defvjp(forward, reverse)` defines its derivative.

    Raises
    ------
    AdcError
        If `fn` is no function; where it is used, if it has no rule, or a rule returns something
        that does not fit.

    Examples
    --------
    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda kept, ct: (max(min(ct, 1.0), -1.0),))
    >>> import adc
    >>> adc.grad(lambda x: 5.0 * clipped(x))(2.0)
    1.0
    """
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return CustomVJP(fn, _fixed(nondiff_argnums))


@transform
def custom_jvp(fn: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> CustomJVP[P, R]:
    """Return `fn` with a derivative of its own, given with `defjvp`, for both modes.

    Parameters
    ----------
    fn : callable
        A Python function.
    nondiff_argnums : int or sequence of int
        Arguments that are not differentiated, such as functions; the rule gets them as they are.

    Returns
    -------
    callable
        Does what `fn` does; `defjvp(rule)` defines its derivative.

    Raises
    ------
    AdcError
        If `fn` is no function; where it is used, if it has no rule, or a rule returns something
        that does not fit.

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
