"""Statements that Python does not have: a block with a label, and a jump to its end.

A generator that a loop consumes becomes such a block: the body of the loop takes the place of each
`yield`, and ``break`` leaves the block (`language.generators`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


class Labelled(ast.stmt):
    """Statements that a `Leave` in them may leave."""

    _fields = ("body",)
    body: list[ast.stmt]

    def __init__(self, body: Sequence[ast.stmt], like: ast.AST) -> None:
        super().__init__()
        self.body = list(body)
        ast.copy_location(self, like)


class Leave(ast.stmt):
    """A jump to the end of the block `label`; `breaks`: the program says `break`."""

    _fields = ()
    label: Labelled

    def __init__(self, label: Labelled, like: ast.AST, *, breaks: bool = False) -> None:
        super().__init__()
        self.label = label
        self.breaks = breaks
        ast.copy_location(self, like)
