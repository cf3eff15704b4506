"""The plan, as data: what a gradient does about each forward value that reverse code needs."""

from __future__ import annotations

import io
import json
import os
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from html import escape

from adc.ir.errors import Span
from adc.passes.peak import Peak

# Decisions.
KEPT = "kept"  # pushed on the tape, or held in a variable
RECOMPUTED = "recomputed"  # computed again in the reverse code
RELOADED = "reloaded"  # read again from an array that still has it
COPIED = "copied"  # an array, because two versions of it are needed at once


@dataclass(frozen=True)
class PlanEntry:
    """One decision.

    Attributes
    ----------
    value : str
        The value's name in the IR.
    file, line : str, int
        Where the user's program computes it.
    decision : str
        ``"kept"``, ``"recomputed"``, ``"reloaded"`` or ``"copied"``.
    bytes : str
        Bytes held from the forward to the reverse code, as a formula in sizes and trip counts.
    reason : str
        Why.
    function : str
        The function that computes it: the differentiated one, or one that it calls.
    expression : str
        What computes it, as it stands in the source; "" where it takes more than one line.
    """

    value: str
    file: str
    line: int
    decision: str
    bytes: str
    reason: str
    function: str = ""
    expression: str = ""

    @staticmethod
    def at(span: Span | None, value: str, decision: str, size: str, reason: str) -> PlanEntry:
        """Return the entry of a value that is computed at `span`."""
        if span is None:
            return PlanEntry(value, "", 0, decision, size, reason)
        where = (span.function, span.excerpt())
        return PlanEntry(value, span.file, span.line, decision, size, reason, *where)


# The longest expression and the longest formula of memory that are shown.
_LONGEST = 32
_WIDEST = 200
_COLOURS = {KEPT: "red", COPIED: "red", RECOMPUTED: "yellow", RELOADED: "green"}


@dataclass(frozen=True, repr=False)
class Plan:
    """Every decision of one gradient, in program order, and the copies that storage added.

    Printed, it is a table: coloured in a terminal, plain text elsewhere and where ``NO_COLOR`` is
    set.

    Attributes
    ----------
    policy : str
        How it was decided.
    entries, copies : tuple of PlanEntry
        The decisions.
    peak : Peak or None
        The most memory that a call uses beyond its arguments and results, as a formula.
    peak_bytes : int or None
        The same in bytes, for the arguments that the plan was asked for, or as it was in the last
        call; None if only a call can tell.
    budget : int or None
        The most bytes that a call may hold.
    extra, bound : float
        Predicted seconds that the plan takes beyond the fastest one, and the least that any plan
        within the budget takes.
    """

    policy: str
    entries: tuple[PlanEntry, ...]
    copies: tuple[PlanEntry, ...] = field(default=())
    peak: Peak | None = None
    peak_bytes: int | None = None
    budget: int | None = None
    extra: float = 0.0
    bound: float = 0.0

    def peak_text(self) -> str:
        """Return the line about memory, "" if nothing is known of it."""
        if self.peak is None:
            return ""
        formula, number = str(self.peak), str(self.peak_bytes)
        known = "" if self.peak_bytes is None or number == formula else f" = {number}"
        if len(formula) > _WIDEST:
            formula = formula[: _WIDEST - 1] + "…"
        legend = self.peak.legend() if self.peak_bytes is None and "…" not in formula else ""
        return f"peak: {formula}{known} bytes{f' ({legend})' if legend else ''}"

    def columns(self) -> tuple[str, ...]:
        """Return the titles of the table; functions are named where there is more than one."""
        where = ("line", "function") if self._functions else ("line",)
        return (*where, "value", "expression", "decision", "bytes", "why")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the entries and copies as text, column by column."""
        rows: list[tuple[str, ...]] = []
        for entry in (*self.entries, *self.copies):
            where = [str(entry.line or "-")] + [entry.function or "-"] * self._functions
            text = entry.expression
            if len(text) > _LONGEST:
                text = text[: _LONGEST - 1] + "…"
            rows.append((*where, entry.value, text, entry.decision, entry.bytes, entry.reason))
        return rows

    @property
    def _functions(self) -> bool:
        found = {(each.file, each.function) for each in (*self.entries, *self.copies)}
        return len(found - {("", "")}) > 1

    def __str__(self) -> str:
        return self._coloured() if _wants_colour() else self._plain()

    def __repr__(self) -> str:
        counts = Counter(entry.decision for entry in (*self.entries, *self.copies))
        words = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        return f"<adc plan ({self.policy}): {words or 'nothing is needed'}>"

    def _plain(self) -> str:
        rows = [self.columns(), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"plan ({self.policy})"]
        for row in rows:
            lines.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)))
        lines += filter(None, [self.peak_text()])
        return "\n".join(line.rstrip() for line in lines)

    def _coloured(self) -> str:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"plan ({self.policy})", title_justify="left", box=None, pad_edge=False)
        for column in self.columns():
            # Only reasons are broken where a line is too short.
            table.add_column(column, no_wrap=column != "why")
        entries = (*self.entries, *self.copies)
        for entry, row in zip(entries, self.rows(), strict=True):
            table.add_row(*map(Text, row), style=_COLOURS.get(entry.decision))
        console = Console(file=io.StringIO(), force_terminal=True, highlight=False)
        with console.capture() as captured:
            console.print(table)
            if self.peak is not None:
                console.print(Text(self.peak_text()))
        return captured.get().rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{column}</th>" for column in self.columns())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        caption = f"<caption>plan ({escape(self.policy)})</caption>"
        peak = f"<p>{escape(self.peak_text())}</p>" if self.peak is not None else ""
        return f"<table>{caption}<tr>{head}</tr>{body}</table>{peak}"

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def from_json(text: str) -> Plan:
        """Return the plan that `to_json` wrote."""
        data = json.loads(text)
        return Plan(
            data["policy"],
            tuple(PlanEntry(**entry) for entry in data["entries"]),
            tuple(PlanEntry(**entry) for entry in data["copies"]),
            None if data["peak"] is None else Peak.from_data(data["peak"]),
            data["peak_bytes"],
            data["budget"],
            data["extra"],
            data["bound"],
        )


def _wants_colour() -> bool:
    """Whether what is printed now is seen by a person in a terminal that shows colours."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
