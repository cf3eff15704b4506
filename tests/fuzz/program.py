"""A random program: its source, its arguments, and the function that it is."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from adc.testing import programs


@dataclass(frozen=True)
class Generated:
    """A random program with a sample; `make_args` gives arguments that may be modified.

    Attributes
    ----------
    source : str
        A module: imports, helpers and ``program``. `inspect.getsource` works on all of them.
    fn : callable
        ``program``.
    args : tuple
        The sample. Do not modify.
    argnums : tuple of int
        The arguments of floats, all of which can be differentiated.
    seed : int
    kind : str
        What the program is made of: a choice of ``--kind``.
    refused : str
        The code of the error with which adc must refuse the program, or "".
    """

    source: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...]
    seed: int
    kind: str = "scalars"
    refused: str = ""

    def make_args(self) -> tuple[Any, ...]:
        return copy.deepcopy(self.args)

    @property
    def is_tenth(self) -> bool:
        """Whether directions are checked in a quick run: that costs as much as the rest."""
        return self.seed % 10 == 0

    def choice(self, among: Iterable[str]) -> str:
        """Return one of them, which depends on the seed."""
        names = list(among)
        return names[(self.seed // 10 if self.is_tenth else self.seed) % len(names)]

    def with_source(self, source: str) -> Generated:
        """Return the same sample for another text of the program."""
        return replace(self, source=source, fn=load(source, self.seed))


class Unreliable(Exception):
    """The oracle's two methods do not agree on a program, or the program is ill conditioned."""


def load(source: str, seed: int = 0) -> Callable[..., Any]:
    """Execute `source` as a module of which `inspect` knows the text; return its ``program``."""
    return programs.load(source, f"fuzz-{seed}", __name__)


def forget(generated: Generated) -> None:
    """Drop the program's text from `linecache`, which would otherwise keep it for ever."""
    programs.forget(generated.fn)


class _InPython(ast.NodeTransformer):
    """Has CPython compute what a program means.

    Derivatives are computed by generated code that CPython runs: that takes no compilation. A view
    that is assigned to a part of an array is copied: NumPy may read what it has just written.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="adc"), attr=name) if name in _DERIVATIVES:
                node.keywords.append(ast.keyword("target", ast.Constant("python")))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Assign(targets=[ast.Subscript(value=base)], value=ast.Subscript() as view):
                node.value = ast.Call(ast.Name("_apart", ast.Load()), [base, view], [])
        return node


_APART = """
def _apart(base, view):
    return view.copy() if hasattr(base, "strides") and hasattr(view, "strides") else view
"""
_DERIVATIVES = ("grad", "value_and_grad", "jvp", "vjp", "hvp")


def in_python(generated: Generated) -> Callable[..., Any]:
    """Return the function of a program that Python runs to find out what it computes."""
    tree = ast.fix_missing_locations(_InPython().visit(ast.parse(generated.source)))
    text = ast.unparse(tree) + "\n"
    if text == ast.unparse(ast.parse(generated.source)) + "\n":
        return generated.fn
    return load(text + _APART, generated.seed)
