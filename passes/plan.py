"""The plan, as data: what a gradient does about each forward value that reverse code needs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from html import escape
from typing import ClassVar

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
    """

    value: str
    file: str
    line: int
    decision: str
    bytes: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Every decision of one gradient, in program order, and the copies that storage added."""

    policy: str
    entries: tuple[PlanEntry, ...]
    copies: tuple[PlanEntry, ...] = field(default=())

    COLUMNS: ClassVar[tuple[str, ...]] = ("line", "value", "decision", "bytes", "why")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the entries and copies as text, column by column."""
        return [
            (str(entry.line or "-"), entry.value, entry.decision, entry.bytes, entry.reason)
            for entry in (*self.entries, *self.copies)
        ]

    def __str__(self) -> str:
        rows = [self.COLUMNS, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = [f"plan ({self.policy})"]
        for row in rows:
            lines.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)))
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{column}</th>" for column in self.COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        caption = f"<caption>plan ({escape(self.policy)})</caption>"
        return f"<table>{caption}<tr>{head}</tr>{body}</table>"

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
        )
