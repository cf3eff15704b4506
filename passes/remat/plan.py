"""The plan, as data: what a gradient does about each forward value that reverse code needs."""

from __future__ import annotations

import io
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import Any

from adc.ir.errors import Span
from adc.passes.memory.peak.formula import Peak

# Decisions.
KEPT = "kept"  # pushed on the tape, or held in a variable
RECOMPUTED = "recomputed"  # computed again in the reverse code
RELOADED = "reloaded"  # read again from an array that still has it
COPIED = "copied"  # an array, because two versions of it are needed at once
HELD = "held"  # an array that nothing overwrites: it stays until reverse code has read it
ATOMIC = "atomic"  # threads of a GPU add to elements that others add to, in any order
CHECKPOINTED = "checkpointed"  # of a loop: a few states of it are kept, iterations run again


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
        ``"kept"``, ``"recomputed"``, ``"reloaded"``, ``"held"``, ``"copied"``,
        ``"checkpointed"`` or ``"atomic"``.
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


@dataclass(frozen=True)
class LoopPlan:
    """A checkpointed loop, for the sizes that the plan was made for.

    Attributes
    ----------
    entry : PlanEntry
        Where the loop stands, and what is done about it.
    iterations, again : int or None
        How often it runs, and how many iterations run again besides; None where only a run can
        tell.
    snapshots : int
        The most states that are kept at once.
    leaf : int or None
        The most iterations that reverse code has all that it needs of.
    bytes : int
        The most that the states and what these iterations keep take at once.
    """

    entry: PlanEntry
    iterations: int | None
    again: int | None
    snapshots: int
    leaf: int | None
    bytes: int


@dataclass(frozen=True)
class Part:
    """What memory is used for: ``"arguments"``, ``"gradients"``, ``"held"`` or ``"temporaries"``.

    The first two are the caller's and no part of the peak. Nor is ``"disk"``, which there is where
    tapes are in files, or ``"host"``, where those of a device are there: what would else be held.
    `size` is the formula, None for what is left of the peak; `bytes` the number, None if it is not
    known.
    """

    name: str
    size: Peak | None
    bytes: int | None = None


@dataclass(frozen=True)
class Alternative:
    """What another budget would give.

    Attributes
    ----------
    budget : int
        Bytes.
    peak : int or None
        What a call would hold, or the least that one can where that is more than the budget; None
        where only a run can tell.
    extra, bound : float or None
        As those of a plan; None where no plan fits.
    """

    budget: int
    peak: int | None
    extra: float | None
    bound: float | None = None


# The longest expression and the longest formula of memory that are shown.
_LONGEST = 32
_WIDEST = 200
_COLOURS = {
    KEPT: "red", COPIED: "red", HELD: "red", RECOMPUTED: "yellow", CHECKPOINTED: "yellow",
    ATOMIC: "yellow", RELOADED: "green",
}  # fmt: skip


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
    seconds : float or None
        Predicted for the whole call; None where that is not known.
    loops : tuple of LoopPlan
        Checkpointed loops.
    parts : tuple of Part
        What the memory is used for.
    alternatives : tuple of Alternative
        What half and twice the budget would give, where that was asked for.
    atomics : tuple of PlanEntry
        Where threads of a GPU add to the same elements, so that last bits may differ.
    device : bool
        Whether it is the memory of a GPU; there is no formula then.
    """

    policy: str
    entries: tuple[PlanEntry, ...]
    copies: tuple[PlanEntry, ...] = field(default=())
    peak: Peak | None = None
    peak_bytes: int | None = None
    budget: int | None = None
    extra: float = 0.0
    bound: float = 0.0
    seconds: float | None = None
    loops: tuple[LoopPlan, ...] = ()
    parts: tuple[Part, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    atomics: tuple[PlanEntry, ...] = ()
    device: bool = False

    @property
    def held(self) -> Peak | None:
        """The bytes that are kept from forward to reverse code outside of checkpointed loops."""
        return next((part.size for part in self.parts if part.name == "held"), None)

    @property
    def held_bytes(self) -> int | None:
        """The bytes that are kept from forward to reverse code."""
        return next((part.bytes for part in self.parts if part.name == "held"), None)

    def at(self, arguments: Sequence[object], peak: int | None, host: int | None = None) -> Plan:
        """Return the plan with numbers for the arguments of a kernel, and this peak.

        `host` is what waits on the host.
        """
        numbers: dict[str, int | None] = {
            part.name: part.size.at(arguments) for part in self.parts if part.size is not None
        }
        numbers["host"] = host
        if numbers.get("held") is not None:
            # What is held in checkpoints, and no more than there is: arrays may share memory.
            held = (numbers["held"] or 0) + sum(loop.bytes for loop in self.loops)
            numbers["held"] = held if peak is None else min(held, peak)
        held_bytes = numbers.get("held")
        if peak is not None and held_bytes is not None:
            numbers["temporaries"] = peak - held_bytes
        parts = tuple(replace(part, bytes=numbers.get(part.name)) for part in self.parts)
        return replace(self, peak_bytes=peak, parts=parts)

    def measured(self, peak: int | None, disk: int | None) -> Plan:
        """Return the plan with what a call has used of memory, and of the disk or the host."""
        parts = tuple(
            replace(part, bytes=disk) if part.name in ("disk", "host") else part
            for part in self.parts
        )
        return replace(self, peak_bytes=peak, parts=parts)

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
                f"budget: {self.budget} bytes; {seconds_text(self.extra)}{share} more than the "
                f"fastest plan, at least {seconds_text(self.bound)} for any"
            )
        for other in self.alternatives:
            if other.extra is None:
                text = f"does not fit: at least {other.peak}"
            else:
                text = f"{seconds_text(other.extra)} more, peak {other.peak} bytes"
            lines.append(f"with {other.budget} bytes: {text}")
        return lines

    def lines(self) -> list[str]:
        """Return all that is said below the table."""
        found = [*self.time_text(), *self.memory_text(), self.peak_text()]
        return [line for line in found if line]

    def peak_text(self) -> str:
        """Return the line about memory, "" if nothing is known of it."""
        if self.device:
            return "" if self.peak_bytes is None else f"peak on the GPU: {self.peak_bytes} bytes"
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

    def shown(self) -> tuple[PlanEntry, ...]:
        """Return what the table shows: checkpointed loops first."""
        return (*(loop.entry for loop in self.loops), *self.entries, *self.copies, *self.atomics)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the entries and copies as text, column by column."""
        rows: list[tuple[str, ...]] = []
        for entry in self.shown():
            where = [str(entry.line or "-")] + [entry.function or "-"] * self._functions
            text = entry.expression
            if len(text) > _LONGEST:
                text = text[: _LONGEST - 1] + "…"
            rows.append((*where, entry.value, text, entry.decision, entry.bytes, entry.reason))
        return rows

    @property
    def _functions(self) -> bool:
        found = {(each.file, each.function) for each in self.shown()}
        return len(found - {("", "")}) > 1

    def __str__(self) -> str:
        return self._coloured() if _wants_colour() else self._plain()

    def __repr__(self) -> str:
        counts = Counter(entry.decision for entry in self.shown())
        words = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        return f"<adc plan ({self.policy}): {words or 'nothing is needed'}>"

    def _plain(self) -> str:
        rows = [self.columns(), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"plan ({self.policy})"]
        for row in rows:
            lines.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)))
        lines += self.lines()
        return "\n".join(line.rstrip() for line in lines)

    def _coloured(self) -> str:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"plan ({self.policy})", title_justify="left", box=None, pad_edge=False)
        for column in self.columns():
            # Only reasons are broken where a line is too short.
            table.add_column(column, no_wrap=column != "why")
        for entry, row in zip(self.shown(), self.rows(), strict=True):
            table.add_row(*map(Text, row), style=_COLOURS.get(entry.decision))
        console = Console(file=io.StringIO(), force_terminal=True, highlight=False)
        with console.capture() as captured:
            console.print(table)
            for line in self.lines():
                console.print(Text(line))
        return captured.get().rstrip("\n")

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

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def from_json(text: str) -> Plan:
        """Return the plan that `to_json` wrote."""
        data = json.loads(text)

        def peak(found: Any) -> Peak | None:
            return None if found is None else Peak.from_data(found)

        return Plan(
            data["policy"],
            tuple(PlanEntry(**entry) for entry in data["entries"]),
            tuple(PlanEntry(**entry) for entry in data["copies"]),
            peak(data["peak"]),
            data["peak_bytes"],
            data["budget"],
            data["extra"],
            data["bound"],
            data["seconds"],
            tuple(
                LoopPlan(**{**loop, "entry": PlanEntry(**loop["entry"])}) for loop in data["loops"]
            ),
            tuple(Part(part["name"], peak(part["size"]), part["bytes"]) for part in data["parts"]),
            tuple(Alternative(**other) for other in data["alternatives"]),
            tuple(PlanEntry(**entry) for entry in data["atomics"]),
            data["device"],
        )


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


def _wants_colour() -> bool:
    """Whether what is printed now is seen by a person in a terminal that shows colours."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
