"""Library functions with derivative rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[..., Any]


class Exact(Generic[P, R]):
    """A function with rules for both modes, which say what its statements do.

    A back end may have a `routine` that computes what it does. That one fills the arrays that
    `made` returns for the same arguments; a number among them is whether it has failed.
    """

    __name__: str

    def __init__(
        self, fn: Callable[P, R], routine: str, made: Callable[..., Any] | None,
        fixed: tuple[int, ...] = (), always: bool = False,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, fn)
        self.py_func = fn
        self.routine = routine
        self.made = made
        self.fixed = fixed
        self.always = always
        self._rules: tuple[Rule, ...] = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.py_func(*args, **kwargs)

    def define(self, forward: Rule, reverse: Rule, tangent: Rule) -> None:
        """Define the rules, as `adc.custom_vjp` and `adc.custom_jvp` take them.

        A rule returns results of the function itself, not copies of what it was given: they have
        derivatives too.
        """
        self._rules = (forward, reverse, tangent)

    @property
    def __adc_rule__(self) -> tuple[str, tuple[Rule, ...], tuple[int, ...]]:
        """The kind of rule, its functions, and the arguments that are not differentiated."""
        return "exact", self._rules, self.fixed


def exact(
    routine: str = "", made: Callable[..., Any] | None = None, fixed: tuple[int, ...] = (),
    always: bool = False,
) -> Callable[[Callable[P, R]], Exact[P, R]]:  # fmt: skip
    """Decorate a function that has rules for both modes; `fixed` arguments have no derivatives.

    With `always` its calls are differentiated whatever depends on them.
    """
    return lambda fn: Exact(fn, routine, made, fixed, always)


__all__ = ["Exact", "exact"]
