"""How commands print: tables for people in a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

# Columns in a pipe, where nothing is to be broken at the edge of a screen.
_WIDE = 400


def console() -> Console:
    """Return what writes to standard output: with colours in a terminal, unless NO_COLOR is set."""
    made = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made.width = _WIDE
    return made


def show(columns: Sequence[str], rows: Iterable[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """Print a table; `styles` are those of the rows."""
    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column)
    for k, row in enumerate(rows):
        # Text in brackets is no markup here: `x[0]`.
        table.add_row(
            *[cell.replace("[", r"\[") for cell in row], style=(styles or [""] * (k + 1))[k]
        )
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def show_markdown(text: str) -> None:
    """Print Markdown: set for a terminal, as it is in a pipe."""
    out = console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        sys.stdout.write(text)
