"""Functions that tests replace, and what replaces their code."""

from __future__ import annotations

import linecache
import sys
from types import ModuleType
from typing import Any

import numpy as np

X = np.array([1.0, 2.0, 3.0])


def square(x: Any) -> Any:
    return x * x


def cube(x: Any) -> Any:
    return x * x * x


def over_a_closure(helper: Any) -> Any:
    def inner(x: Any) -> Any:
        return 2.0 * helper(x)

    return inner


def swap(old: Any, new: Any) -> None:
    """Do what IPython's `%autoreload` does to functions of a module that has changed."""
    for name in ("__code__", "__defaults__", "__doc__", "__dict__"):
        setattr(old, name, getattr(new, name))


def kept(text: str, name: str = "<identity>") -> ModuleType:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made = ModuleType("kept")
    sys.modules["kept"] = made  # `dataclass` asks for it
    exec(compile(text, name, "exec", dont_inherit=True), vars(made))
    return made
