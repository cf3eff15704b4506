"""Sorting and linear algebra: calls of `adc.library`, plain Python that adc lowers like any."""

from __future__ import annotations

import ast
from collections.abc import Callable

from adc.frontend.bindings import NONE, ArrayRef, Binding, Lazy
from adc.frontend.lower import Lowerer

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]
HANDLERS: dict[str, Handler] = {}


def sort_in_place(
    lo: Lowerer,
    owner: ArrayRef | Lazy,
    args: list[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:
    return NONE
