"""The display of a profile: time and bytes of every line of the user's source, as a table."""

from __future__ import annotations

import io
import json
import linecache
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath

from adc.inspect.plan import seconds_text, wants_colour
from adc.inspect.table import filled, width

_BAR = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"
# Source is not cut to less than this.
_LEAST = 12
# Of what takes less of the time, and has no bytes, there is no row.
_LITTLE = 0.0005


@dataclass(frozen=True)
class Time:
    """Seconds of a line in a call, of forward and of reverse code.

    Reverse code includes what it recomputes.
    """

    forward: float = 0.0
    reverse: float = 0.0

    def plus(self, seconds: float, reverse: bool) -> Time:
        """Return the time with some more."""
        if reverse:
            return replace(self, reverse=self.reverse + seconds)
        return replace(self, forward=self.forward + seconds)

    @property
    def total(self) -> float:
        """The sum of both."""
        return self.forward + self.reverse


@dataclass(frozen=True)
class Bytes:
    """Bytes of a line; None are some that are known only at run time.

    Attributes
    ----------
    kept : int or None
        Held from the forward to the reverse code.
    made : int or None
        Of the arrays that are made in workspace, each counted once.
    recomputed : int
        How many values reverse code recomputes.
    """

    kept: int | None = 0
    made: int | None = 0
    recomputed: int = 0

    def keeping(self, size: int | None) -> Bytes:
        """Return the bytes with more that are kept."""
        return replace(self, kept=_sum(self.kept, size))

    def making(self, size: int | None) -> Bytes:
        """Return the bytes with another array."""
        return replace(self, made=_sum(self.made, size))


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


@dataclass(frozen=True)
class Line:
    """A line of the user's source.

    Attributes
    ----------
    file, line, function : str, int, str
        Where it is.
    time : Time
        Seconds of a call that are spent in the line itself.
    with_calls : float
        Seconds with those in the functions that it calls.
    bytes : Bytes
        Its memory.
    """

    file: str
    line: int
    function: str
    time: Time
    with_calls: float
    bytes: Bytes


@dataclass(frozen=True, repr=False)
class Profile:
    """Where the calls of a derivative spend their time: what `profile()` returns.

    Printed, it is a table of the lines in the order of the source, as wide as the terminal, or of
    80 columns: with colours in a terminal, plain text elsewhere and where ``NO_COLOR`` is set.

    Attributes
    ----------
    name, file : str
        The function, and its file.
    lines : tuple of Line
        The lines that take time or memory, in the order of the source.
    seconds : float
        Of a call of the code with marks. The times of the lines and `outside` add up to it.
    plain : float
        Of a call of the code without marks, which is what the derivative runs.
    overhead : float
        How much more of the processor a call takes with marks: 0.02 is 2 percent. It is the median
        of calls that followed each other.
    calls, samples : int
        How many calls of the code with marks were made, and how often they were looked at.
    outside : float
        Seconds of a call outside of compiled code: the memory of results, and the call itself.
    threads : int
        How many threads share loops. Times are those of the thread that calls.
    peak : int or None
        The bytes of workspace and tapes that a call held.
    coarse : bool
        Whether the lines of every innermost loop share its time as they share its operations, since
        marks inside would have made it slow. (Those of loops in vectors always do.)
    """

    name: str
    file: str
    lines: tuple[Line, ...]
    seconds: float
    plain: float
    overhead: float
    calls: int
    samples: int
    outside: float
    threads: int
    peak: int | None
    coarse: bool

    @property
    def forward(self) -> float:
        """Seconds of a call in forward code."""
        return sum(line.time.forward for line in self.lines)

    @property
    def reverse(self) -> float:
        """Seconds of a call in reverse code."""
        return sum(line.time.reverse for line in self.lines)

    def share(self, line: Line) -> float:
        """Return the share of a line in the time of a call."""
        return line.time.total / self.seconds

    def to_json(self) -> str:
        """Return all numbers as JSON, with times in seconds."""
        return json.dumps(asdict(self), indent=1)

    def __repr__(self) -> str:
        return f"<adc profile of {self.name}: {seconds_text(self.seconds)} a call>"

    def __str__(self) -> str:
        if not wants_colour():
            return "\n".join(line for line, _ in self._shown(width()))
        from rich.console import Console
        from rich.text import Text

        console = Console(file=io.StringIO(), force_terminal=True, highlight=False, width=width())
        with console.capture() as captured:
            for line, colour in self._shown(width()):
                console.print(Text(line, style=colour), overflow="ignore", crop=False)
        return captured.get().rstrip("\n")

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Line, tuple[str, ...]]]]:
        """Return the titles of the table but for bars and source, and the cells of every line.

        A column that has nothing is left out.
        """
        shown = [line for line in self.lines if self._matters(line)]
        cells = [
            (
                str(line.line),
                _seconds(line.time.forward),
                _seconds(line.time.reverse),
                _seconds(line.with_calls if _calls(line) else 0.0),
                f"{100 * self.share(line):.0f} %",
                _bytes(line.bytes.kept),
                _bytes(line.bytes.made),
            )
            for line in shown
        ]
        titles = ("line", "forward", "reverse", "with calls", "share", "kept", "made")
        used = [
            k for k in range(len(titles)) if any(row[k] for row in cells) or titles[k] == "line"
        ]
        return tuple(titles[k] for k in used), [
            (line, tuple(row[k] for k in used)) for line, row in zip(shown, cells, strict=True)
        ]

    def _matters(self, line: Line) -> bool:
        if line.with_calls > _LITTLE * self.seconds:
            return True
        return line.bytes.kept != 0 or line.bytes.made != 0

    def notes(self) -> list[str]:
        """Return what is said below the table."""
        parts = {
            "forward": self.forward, "reverse": self.reverse, "to make the call": self.outside
        }  # fmt: skip
        listed = ", ".join(f"{seconds_text(each)} {name}" for name, each in parts.items() if each)
        found = [
            f"total: {seconds_text(self.seconds)} a call ({listed})",
            f"measured: {self.calls} calls, {self.samples} samples"
            f"{f', so that shares are within {100 * self.error:.1f} %' if self.samples else ''}",
            f"overhead: {100 * self.overhead:+.1f} % (without marks, a call takes "
            f"{seconds_text(self.plain)})",
        ]
        if not self.samples:
            found.append(
                "no line has a time: samples are taken by a second thread, which needs a free "
                "processor; measure for longer (`seconds=`, `--seconds`), or with larger arguments"
            )
        if self.peak is not None:
            found.append(f"memory: {self.peak} bytes of workspace and tapes at the peak")
        if again := sum(line.bytes.recomputed for line in self.lines):
            found.append(f"recomputed: {again} values, in the time of reverse code")
        if self.coarse:
            found.append(
                "the lines of an innermost loop share its time as they share its operations"
            )
        if self.threads > 1:
            found.append(
                f"{self.threads} threads share loops; times are those of the thread that calls"
            )
        if any(None in (each.bytes.kept, each.bytes.made) for each in self.lines):
            found.append("?: known only at run time; `adc plan` has the formula")
        return found

    @property
    def error(self) -> float:
        """Twice the standard error of the share of a line that takes half of the time."""
        return 1.0 / math.sqrt(max(self.samples, 1))

    def _shown(self, most: int) -> Iterator[tuple[str, str]]:
        """Yield the lines of text with their colours."""
        titles, rows = self.rows()
        cells = [titles, *(row for _, row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        at = titles.index("share") + 1 if "share" in titles else len(titles)
        taken = sum(widths) + 2 * len(widths) + _BAR + 2
        room = max(most - taken, _LEAST)
        largest = max((self.share(line) for line, _ in rows), default=0.0)

        def text(row: tuple[str, ...], bar: str, source: str) -> str:
            parts = [cell.rjust(w) for cell, w in zip(row, widths, strict=True)]
            parts.insert(at, bar.ljust(_BAR))
            return "  ".join([*parts, source]).rstrip()

        yield f"profile of {self.name}", "italic"
        yield text(titles, "", "source"), "bold"
        functions = {(line.file, line.function) for line, _ in rows}
        before = None
        for line, row in rows:
            where = (line.file, line.function)
            if where != before and len(functions) > 1:
                yield f"{line.function or '-'} in {PurePath(line.file).name}", "italic"
            before = where
            share = self.share(line)
            source = linecache.getline(line.file, line.line).strip()
            if len(source) > room:
                source = source[: room - 1] + "…"
            colour = "red" if share > 0.3 else "yellow" if share > 0.1 else ""
            yield text(row, bar(share / largest if largest else 0.0), source), colour
        for note in self.notes():
            for part in filled(note, most).splitlines():
                yield part, ""


def _calls(line: Line) -> bool:
    """Whether a line spends time in functions that it calls."""
    return line.with_calls > 1.001 * line.time.total + 1e-12


def bar(share: float) -> str:
    """Return a bar of at most 8 characters.

    Examples
    --------
    >>> bar(1.0), bar(0.5), bar(0.05)
    ('████████', '████', '▍')
    """
    eighths = round(share * 8 * _BAR)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _seconds(seconds: float) -> str:
    return seconds_text(seconds) if seconds >= 5e-10 else ""


def _bytes(size: int | None) -> str:
    """Return a number of bytes in a unit that leaves a number above 1.

    >>> _bytes(800), _bytes(1_250_000), _bytes(0), _bytes(None)
    ('800 B', '1.25 MB', '', '?')
    """
    if size is None:
        return "?"
    found = float(size)
    for unit in ("B", "kB", "MB"):
        if found < 1000.0:
            return f"{found:.3g} {unit}" if size else ""
        found /= 1000.0
    return f"{found:.3g} GB"


__all__ = ["Bytes", "Line", "Profile", "Time", "bar"]
