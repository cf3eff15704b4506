"""Tables of text that are as wide as the terminal: cells are broken where they do not fit."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterator, Sequence

_GAP = 2
# Cells are not broken to less than this.
_LEAST = 8


def width() -> int:
    """Return the columns of the terminal, or of COLUMNS; 80 where output is not a terminal."""
    return shutil.get_terminal_size().columns


def layout(
    rows: Sequence[Sequence[str]], most: int, flexible: Collection[int]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table, each with the number of its row.

    Parameters
    ----------
    most : int
        The width of the table.
    flexible : collection of int
        The columns whose cells may be broken, where the table would be wider.

    Examples
    --------
    >>> for row, line in layout([("name", "about"), ("x", "a long text")], 12, [1]):
    ...     print(row, line)
    0 name  about
    1 x     a long
    1       text
    """
    count = max(map(len, rows), default=0)
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(map(_longest, column)) for column in zip(*full, strict=True)]
    room = most - _GAP * (count - 1) - sum(w for k, w in enumerate(widths) if k not in flexible)
    # The narrowest columns first: what they leave is shared by the others.
    left = sorted(flexible, key=lambda k: widths[k])
    for done, k in enumerate(left):
        widths[k] = max(min(widths[k], room // (len(left) - done)), min(widths[k], _LEAST))
        room -= widths[k]
    for number, row in enumerate(full):
        cells = [_broken(cell, w) for cell, w in zip(row, widths, strict=True)]
        for k in range(max(map(len, cells), default=0)):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            padded = [part.ljust(w) for part, w in zip(parts, widths, strict=True)]
            yield number, (" " * _GAP).join(padded).rstrip()


def filled(text: str, most: int, indented: bool = True) -> str:
    """Return a line, broken where it is too long; by default what follows is indented.

    >>> print(filled("peak: 8*n + 16*m bytes", 14))
    peak: 8*n +
      16*m bytes
    """
    indent = "  " if indented else ""
    return textwrap.fill(text, most, subsequent_indent=indent, break_on_hyphens=False)


def _longest(cell: str) -> int:
    return max(map(len, cell.split("\n")))


def _broken(cell: str, most: int) -> list[str]:
    lines: list[str] = []
    for line in cell.split("\n"):
        if len(line) <= most:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, most, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
        )
    return lines


__all__ = ["filled", "layout", "width"]
