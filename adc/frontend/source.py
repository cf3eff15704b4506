"""The syntax tree of a function object, with positions in the user's file."""

from __future__ import annotations

import ast
import linecache
import types
from dataclasses import dataclass
from functools import lru_cache

from adc.frontend.mangling import class_around, mangle
from adc.ir.errors import SourceError, Span

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Source:
    """A function's node, the file it comes from, and its text."""

    node: FunctionNode
    file: str
    name: str
    text: str

    def span(self, node: ast.AST) -> Span:
        return Span(
            self.file,
            getattr(node, "lineno", 1),
            getattr(node, "col_offset", 0),
            getattr(node, "end_lineno", 0) or 0,
            getattr(node, "end_col_offset", 0) or 0,
            self.name,
        )


@lru_cache(maxsize=64)
def _parse(file: str, text: str) -> tuple[ast.Module, tuple[FunctionNode | ast.AST, ...]]:
    tree = ast.parse(text, file)
    nodes = tuple(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef)
    )
    return tree, nodes


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    line: int = decorators[0].lineno if decorators else node.lineno  # type: ignore[attr-defined]
    return line


def _is_body(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether `code` was compiled from this lambda, judged by the columns of its instructions."""
    columns = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) > (node.lineno, 0)
    ]
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno or body.lineno, body.end_col_offset or 0)
    return bool(columns) and all(start <= at <= end for at in columns if at[1] > 0)


def source_of(fn: types.FunctionType) -> Source:
    """Return the source of a Python function.

    Raises
    ------
    SourceError
        If there is none (built in at run time, typed into a bare prompt), or it cannot be told
        apart from its neighbours.
    """
    code = fn.__code__
    file = code.co_filename
    linecache.checkcache(file)
    # Python 3.13 keeps the program of `python -c` under the name that all of `exec` has, too.
    text = "".join(linecache.getlines(file, fn.__globals__)) if file != "<string>" else ""
    where = Span(file, code.co_firstlineno, function=fn.__name__)
    if not text:
        raise SourceError(
            f"the source of {fn.__name__!r} cannot be found",
            where,
            "adc reads the source of the functions that it differentiates: define them in a file "
            "or a notebook cell",
        )
    try:
        tree, nodes = _parse(file, text)
    except SyntaxError as error:
        raise SourceError(f"the source of {fn.__name__!r} does not parse: {error}", where) from None
    found = [
        node
        for node in nodes
        if _first_line(node) == code.co_firstlineno
        and getattr(node, "name", "<lambda>") == code.co_name
    ]
    if len(found) > 1:
        found = [n for n in found if isinstance(n, ast.Lambda) and _is_body(n, code)] or found
    if len(found) > 1:
        found = [
            n for n in found if isinstance(n, ast.Lambda) and len(n.args.args) == code.co_argcount
        ] or found
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef | ast.Lambda):
        if found and isinstance(found[0], ast.AsyncFunctionDef):
            raise SourceError(f"{fn.__name__!r} is a coroutine", where, "use a plain function")
        raise SourceError(
            f"the source of {fn.__name__!r} cannot be told apart at line {code.co_firstlineno}",
            where,
            "the file may have changed since it was imported; put each lambda on its own line",
        )
    node = found[0]
    mangle(node, class_around(tree, node))
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return Source(node, file, fn.__name__, "\n".join(lines))
