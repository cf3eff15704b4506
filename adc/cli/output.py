"""Output of commands: tables in a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

# Columns in a pipe, where nothing is to be broken at the edge of a screen.
_WIDE = 400


def console(file: TextIO | None = None) -> Console:
    """Return a console for a file: with colours in a terminal, unless NO_COLOR is set.

    By default to standard output.
    """
    made = Console(file=file or sys.stdout, highlight=False, soft_wrap=False)
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


@contextmanager
def progress(file: TextIO | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar in a terminal: yield a function of text, steps done and all steps."""
    out = console(file)
    if not out.is_terminal:
        yield lambda text, done, total: None
        return
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(),
        console=out, transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("")
        yield lambda text, done, total: bar.update(
            task, description=f"{text:<32}", completed=done, total=total
        )


def page(title: str, body: str) -> str:
    """Return an HTML page.

    >>> page("a < b", "<p>text</p>").splitlines()[2]
    '<title>a &lt; b</title>'
    """
    return (
        f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        "<style>body { font-family: sans-serif } td, th { padding: 0 1em 0 0; text-align: left }"
        f"</style>\n{body}\n"
    )


def show_markdown(text: str) -> None:
    """Print Markdown: formatted in a terminal, unchanged in a pipe."""
    out = console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        sys.stdout.write(text)
