"""``--line``: the statements that come from one line of the user's file, as code that reads.

The loops and branches around them are kept, and so are what these yield and what functions return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adc.backend.common import printer, syntax
from adc.backend.common.emit import Emitted
from adc.ir.core import Function, Stmt, blocks, walk
from adc.ir.errors import Span
from adc.ir.text.printer import print_function
from adc.ir.walk import map_stmts

# What stands behind the lines of source that are for the wanted place.
_MARK = "*"


@dataclass(frozen=True)
class Line:
    """A line of the user's file."""

    file: str
    number: int

    def holds(self, span: Span | None) -> bool:
        """Whether a place is in this line, or in what the line calls."""
        if span is None:
            return False
        return any(
            Path(each.file) == Path(self.file)
            and each.line <= self.number <= max(each.end_line, each.line)
            for each in span.chain()
        )

    def owns(self, stmt: Stmt) -> bool:
        """Whether a statement comes from this line; a loop or branch only from its first line."""
        if blocks(stmt) and stmt.loc is not None:
            return self.holds(_first_lines(stmt.loc))
        return self.holds(stmt.loc)

    def mark(self, span: Span) -> str:
        return _MARK if self.holds(_first_lines(span)) else ""

    def title(self) -> str:
        """Return number and text of the line."""
        return f"line {self.number}: {Span(self.file, self.number).text().strip()}"


def _first_lines(span: Span) -> Span:
    """Return the same range without the bodies of statements, which are lines of their own."""
    text = span.text().strip()
    if not text.startswith(("for ", "while ", "if ", "elif ", "with ", "match ", "try")):
        return span
    return replace(span, end_line=0)


# -- IR --------------------------------------------------------------------------------------------


def of_ir(fn: Function, line: Line) -> str:
    """Return the text of the statements of a function, and its callees, that come from a line.

    "" if there are none.
    """
    functions = [*(each.of for each in fn.derived), *fn.callees, fn]
    texts: list[str] = []
    for each in functions:
        body = _kept(each.body, line)
        if body:
            texts.append(print_function(replace(each, body=body, callees=(), derived=())))
    return "\n".join(texts)


def _kept(stmts: Sequence[Stmt], line: Line) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in stmts:
        inner = map_stmts(stmt, lambda stmts: _kept(stmts, line))
        if line.owns(stmt) or any(block.stmts for block in blocks(inner)):
            found.append(inner)
    return tuple(found)


def lines_of(fn: Function, file: str) -> list[int]:
    """Return the lines of a file from which there are statements."""
    functions = [*(each.of for each in fn.derived), *fn.callees, fn]
    spans = [stmt.loc for each in functions for stmt in walk(each.body) if stmt.loc is not None]
    return sorted({s.line for at in spans for s in at.chain() if Path(s.file) == Path(file)})


# -- source ----------------------------------------------------------------------------------------


def of_source(emitted: Callable[[Callable[[Span], str]], Emitted], line: Line) -> str:
    """Return the lines of emitted source that come from a line; `emitted` makes it with marks."""
    texts: list[str] = []
    end = f"{Path(line.file)}:{line.number}"
    for fn in emitted(line.mark).code:
        body = list(_marked(fn.body, end))
        if body:
            texts.append("\n".join(printer.function(replace(fn, body=body))[1:]) + "\n")
    return "\n\n".join(texts)


def _marked(body: Sequence[syntax.Stmt], end: str) -> Iterator[syntax.Stmt]:
    for stmt in body:
        here = stmt.remark == _MARK
        plain = replace(stmt, remark="" if here else stmt.remark)
        match plain:
            case syntax.If(_, then, orelse):
                arms = [list(_marked(arm, end)) for arm in (then, orelse)]
                if here or any(arms):
                    yield replace(plain, then=arms[0] or [syntax.Pass()], orelse=arms[1])
            case syntax.For(body=inner) | syntax.Forever(inner):
                kept = list(_marked(inner, end))
                if here or kept:
                    yield replace(plain, body=kept or [syntax.Pass()])
            case _:
                if here or (stmt.remark.endswith(end) and not isinstance(stmt, syntax.Comment)):
                    yield plain


__all__ = ["Line", "lines_of", "of_ir", "of_source"]
