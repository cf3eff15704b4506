"""Calls of functions of `adc.library` by which SciPy's own code runs, on the host."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

from adc.frontend.control import program
from adc.frontend.core.bindings import NONE, Binding, DictRef, RecordOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.values import elementwise
from adc.frontend.values.arguments import Given


def require(lo: Lowerer, name: str, node: ast.Call) -> None:
    """Refuse a function of SciPy's in code for a GPU."""
    if lo.shared.on_device:
        raise lo.unsupported(f"`{name}` on a GPU", node, "compute it with `target='cpu'`")


def settings(lo: Lowerer, given: Given, names: tuple[str, ...]) -> Binding:
    """Take arguments out, and return those that are given as a dict, which SciPy is passed."""
    found = {name: given.pop(name) for name in names if name in given}
    return lo.new_ref(DictRef, RecordOf(tuple(found), tuple(found.values())))


def run(lo: Lowerer, fn: Callable[..., Any], given: Given, node: ast.Call) -> Binding:
    """Lower a call with None for what is not given."""
    assert isinstance(fn, types.FunctionType)
    whole = {name: given.get(name, NONE) for name in inspect.signature(fn).parameters}
    _, whole = elementwise.all_materialised(lo, [], whole, node)
    return program.call_function(lo, fn, [], whole, node)
