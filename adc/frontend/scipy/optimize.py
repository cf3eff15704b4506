"""Roots of functions of one number, of `scipy.optimize`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from adc.frontend.core.bindings import Binding
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library, linear
from adc.frontend.values.arguments import Handler
from adc.library.scipy import optimize


def _root(fn: Callable[..., Any]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        return linear.run(lo, fn, args, kwargs, node)

    return handler


library.enter_named(
    {f"scipy.optimize.{name}": _root(getattr(optimize, name)) for name in optimize.__all__}
)
