"""The display of a plan: plain text, a coloured table in a terminal, HTML in a notebook."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape

from adc.inspect.table import filled, layout, width
from adc.passes.remat.plan import (
    ATOMIC,
    CHECKPOINTED,
    COPIED,
    HELD,
    KEPT,
    RECOMPUTED,
    RELOADED,
    Plan,
)

# The longest expression and the longest formula of memory that are shown.
_LONGEST = 60
_WIDEST = 200
_COLOURS = {
    KEPT: "red", COPIED: "red", HELD: "red", RECOMPUTED: "yellow", CHECKPOINTED: "yellow",
    ATOMIC: "yellow", RELOADED: "green",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class PlanReport(Plan):
    """A plan that can be shown: what `plan()` returns.

    Printed, it is a table as wide as the terminal, or of 80 columns: coloured in a terminal, plain
    text elsewhere and where ``NO_COLOR`` is set. Notebooks show it in HTML.
    """

    @staticmethod
    def of(plan: Plan) -> PlanReport:
        """Return the same plan, to be shown."""
        return PlanReport(**{each.name: getattr(plan, each.name) for each in fields(plan)})

    def memory_text(self) -> list[str]:
        """Return the lines about what the memory is used for."""
        lines: list[str] = []
        for part in self.parts:
            formula = "" if part.size is None else str(part.size)
            if self.loops and part.name == "held":
                formula = "checkpoints" if formula == "0" else f"{formula} + checkpoints"
            if part.bytes is None and (not formula or part.size is None):
                continue
            if len(formula) > _WIDEST:
                formula = formula[: _WIDEST - 1] + "…"
            same = part.bytes is None or formula == str(part.bytes)
            number = "" if same else f" = {part.bytes}" if formula else str(part.bytes)
            inside = part.name in ("held", "temporaries")
            where = "" if inside else " (not in the peak)"
            lines.append(f"{part.name}: {formula}{number} bytes{where}")
        return lines

    def time_text(self) -> list[str]:
        """Return the lines about time and other budgets."""
        lines: list[str] = []
        if self.seconds is not None:
            lines.append(f"predicted: {seconds_text(self.seconds)} in compiled code")
        if self.budget is not None:
            share = ""
            if self.seconds is not None and self.seconds > self.extra:
                share = f" (+{100 * self.extra / (self.seconds - self.extra):.3g} %)"
            lines.append(
                f"budget: {self.budget} bytes; {seconds_text(self.extra)}{share} slower than the "
                f"fastest plan (lower bound {seconds_text(self.bound)})"
            )
        for other in self.alternatives:
            if other.extra is None:
                text = f"does not fit: at least {other.peak} bytes"
            else:
                text = f"{seconds_text(other.extra)} slower, peak {other.peak} bytes"
            lines.append(f"with {other.budget} bytes: {text}")
        return lines

    def lines(self) -> list[str]:
        """Return all lines below the table."""
        found = [*self.time_text(), *self.memory_text(), self.peak_text()]
        return [line for line in found if line]

    def peak_text(self) -> str:
        """Return the line about the peak, or "" if it is unknown."""
        if self.device:
            return "" if self.peak_bytes is None else f"peak on the GPU: {self.peak_bytes} bytes"
        if self.peak is None:
            return ""
        formula, number = str(self.peak), str(self.peak_bytes)
        known = "" if self.peak_bytes is None or number == formula else f" = {number}"
        if len(formula) > _WIDEST and known:
            # The number says more, that of a schedule of checkpoints for instance.
            return f"peak: {'at most ' if self.peak.bound else ''}{number} bytes"
        if len(formula) > _WIDEST:
            formula = formula[: _WIDEST - 1] + "…"
        legend = self.peak.legend() if self.peak_bytes is None and "…" not in formula else ""
        return f"peak: {formula}{known} bytes{f' ({legend})' if legend else ''}"

    def columns(self) -> tuple[str, ...]:
        """Return the titles of the table; functions are named where there is more than one."""
        where = ("line", "function") if self._functions else ("line",)
        return (*where, "value", "decision", "bytes", "why")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the entries and copies as text, column by column."""
        rows: list[tuple[str, ...]] = []
        for entry in self.shown():
            where = [str(entry.line or "-")] + [entry.function or "-"] * self._functions
            text = entry.label
            if len(text) > _LONGEST:
                text = text[: _LONGEST - 1] + "…"
            rows.append((*where, text, entry.decision, entry.bytes, entry.reason))
        return rows

    @property
    def _functions(self) -> bool:
        found = {(each.file, each.function) for each in self.shown()}
        return len(found - {("", "")}) > 1

    def __str__(self) -> str:
        return self._coloured() if wants_colour() else self._plain()

    def _plain(self) -> str:
        return "\n".join(line for line, _ in self._shown_lines())

    def _coloured(self) -> str:
        from rich.console import Console
        from rich.text import Text

        console = Console(file=io.StringIO(), force_terminal=True, highlight=False, width=width())
        with console.capture() as captured:
            for line, colour in self._shown_lines():
                console.print(Text(line, style=colour))
        return captured.get().rstrip("\n")

    def _shown_lines(self) -> Iterator[tuple[str, str]]:
        """Yield the lines with their colours."""
        yield f"plan ({self.policy})", "italic"
        colours = ["bold", *(_COLOURS.get(entry.decision, "") for entry in self.shown())]
        titles = self.columns()
        flexible = [titles.index(name) for name in ("value", "bytes", "why")]
        for row, line in layout([titles, *self.rows()], width(), flexible):
            yield line, colours[row]
        for line in self.lines():
            for part in filled(line, width()).splitlines():
                yield part, ""

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{column}</th>" for column in self.columns())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        caption = f"<caption>plan ({escape(self.policy)})</caption>"
        below = "".join(f"<p>{escape(line)}</p>" for line in self.lines())
        return f"<table>{caption}<tr>{head}</tr>{body}</table>{below}"


def seconds_text(seconds: float) -> str:
    """Return seconds in a unit that leaves a number above 1.

    Examples
    --------
    >>> seconds_text(0.0025), seconds_text(3e-7), seconds_text(0.0)
    ('2.5 ms', '300 ns', '0 ns')
    """
    for unit in ("s", "ms", "µs"):
        if seconds >= 1.0:
            return f"{seconds:.3g} {unit}"
        seconds *= 1e3
    return f"{seconds:.3g} ns"


def wants_colour() -> bool:
    """Whether what is printed now is seen by a person in a terminal that shows colours."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
