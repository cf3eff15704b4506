"""Functions outside (`adc.external`) of the library, and rules of such functions.

What `attached` returns is its first argument, a result of a function outside. As a function of the
others it has the derivative of that function: `vjp` and `jvp` are the user's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Rule = Callable[..., Any]


class External:
    """A function of the library that compiled code calls, as one of `adc.external`."""

    vjp = jvp = None
    pure = False

    def __init__(self, fn: Callable[..., Any], result: Any, name: str = "") -> None:
        self.__name__ = name or fn.__name__
        self.fn = fn
        self.result = result
        self.attached: dict[bool, Any] = {}

    @property
    def __adc_external__(self) -> External:
        """The function, for the front end."""
        return self

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args)


class Attached:
    """A function that returns its first argument, with the rules of a function of the others."""

    def __init__(self, name: str, vjp: Rule | None, jvp: Rule | None, number: bool) -> None:
        self.__name__ = name
        self.py_func = _first
        self._rule = _rules(self, vjp, jvp, number)

    @property
    def __adc_rule__(self) -> tuple[str, tuple[Rule, ...], tuple[int, ...]]:
        """The kind of the rules, and their functions, as of `adc.custom_vjp`."""
        return *self._rule, ()


def _first(y: Any, *args: Any) -> Any:
    return y


def _rules(attached: Any, vjp: Any, jvp: Any, number: bool) -> tuple[str, tuple[Rule, ...]]:
    """Return the kind of the rules that there are, and the rules.

    The tangent of one `number` follows from its cotangents.
    """

    def record(y: Any, *args: Any) -> Any:
        z = attached(y, *args)
        return z, (z, args)

    def reverse(kept: Any, ct: Any) -> Any:
        z, args = kept
        found = vjp(ct, z, *args)
        return (None, *found) if isinstance(found, tuple) else (None, found)

    def tangent(primals: Any, tangents: Any) -> Any:
        z = attached(*primals)
        return z, jvp(tangents[1:], z, *primals[1:])

    def by_cotangents(primals: Any, tangents: Any) -> Any:
        z = attached(*primals)
        found = vjp(1.0, z, *primals[1:])
        cts = found if isinstance(found, tuple) else (found,)
        return z, _along(cts, tangents[1:])

    if vjp is None:
        return "jvp", (tangent,)
    if jvp is not None:
        return "both", (record, reverse, tangent)
    if number:
        return "both", (record, reverse, by_cotangents)
    return "vjp", (record, reverse)


def _along(cts: Any, dots: Any) -> Any:
    total = 0.0
    for ct, dot in zip(cts, dots):  # noqa: B905  # the front end has counted them
        if ct is None or dot is None:
            continue
        if isinstance(ct, (tuple, list)):  # as the front end reads it
            total = total + _along(ct, dot)
        else:
            total = total + np.sum(np.asarray(ct) * dot)
    return total


__all__ = ["Attached", "External"]
