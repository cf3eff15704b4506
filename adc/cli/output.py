"""Output of commands: coloured tables and text in a terminal, plain ones in a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from adc.inspect import table

_ROW = re.compile(r"\| (.*) \| (.*) \|")


def console(file: TextIO | None = None) -> Console:
    """Return a console for a file: with colours in a terminal, unless NO_COLOR is set.

    By default to standard output.
    """
    return Console(file=file or sys.stdout, highlight=False, soft_wrap=False)


def show(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    styles: Sequence[str] = (),
    *,
    flexible: Collection[int] = (-1,),
    copied: bool = False,
) -> None:
    """Print a table that is as wide as the terminal, or 80 columns where there is none.

    Parameters
    ----------
    styles : sequence of str
        Those of the rows.
    flexible : collection of int
        The columns whose cells are broken where the table would be wider; by default the last.
    copied : bool
        Whether cells are paths and the like, which are not broken but in a terminal.
    """
    out = console()
    body = list(rows)
    terminal = out.is_terminal
    most = sys.maxsize if copied and not terminal else table.width()
    broken = [k % len(columns) for k in flexible]
    for row, line in table.layout([columns, *body], most, broken):
        if terminal:
            style = "bold" if row == 0 else (styles or [""] * len(body))[row - 1]
            out.print(Text(line), style=style or None, overflow="ignore", crop=False)
        else:
            print(line)


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


def fitted(text: str, most: int) -> str:
    """Return Markdown as text of a width: rows of tables become items of lists.

    >>> print(fitted("| name | state |\\n|---|---|\\n| `a` | not yet supported |\\n", 16), end="")
    - `a`: not yet
      supported
    """
    found: list[str] = []
    lines = text.splitlines()
    for k, line in enumerate(lines):
        head = k + 1 < len(lines) and lines[k + 1].startswith("|---")
        row = _ROW.fullmatch(line)
        if head or line.startswith("|---"):
            continue
        if row is not None:
            line = f"- {row[1]}: {row[2]}"
        found.append(line if line.startswith("#") else table.filled(line, most, line[:2] == "- "))
    return "".join(f"{line}\n" for line in found)


def show_markdown(text: str) -> None:
    """Print Markdown: formatted in a terminal, unchanged in a pipe."""
    out = console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        sys.stdout.write(text)
