"""The plan, as data: the decision about each forward value that reverse code needs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from adc.ir.core import Stmt
from adc.ir.errors import Span
from adc.ir.text.user import TEMPORARY, expression, variable
from adc.passes.memory.peak.formula import Peak

# Decisions.
KEPT = "kept"  # pushed on the tape, or held in a variable
RECOMPUTED = "recomputed"  # in the reverse code
RELOADED = "reloaded"  # from an array that still has it
COPIED = "copied"  # an array, because two versions of it are needed at once
HELD = "held"  # an array that is not overwritten: it stays until reverse code has read it
ATOMIC = "atomic"  # GPU threads add to the same elements, in any order
CHECKPOINTED = "checkpointed"  # of a loop: a few states are stored, iterations are recomputed


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
        Its source expression; of a loop its first line; "" if the source is gone.
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
    def at(
        span: Span | None,
        value: str,
        decision: str,
        size: str,
        reason: str,
        stmt: Stmt | None = None,
    ) -> PlanEntry:
        """Return the entry of a value that is computed at `span`, by `stmt`."""
        if span is None:
            return PlanEntry(value, "", 0, decision, size, reason)
        if decision == CHECKPOINTED:
            text = span.text().strip()
        else:
            text = span.excerpt() if stmt is None else expression(stmt)
        if not text and variable(value) == TEMPORARY:
            text = span.text().strip()  # the variable of a loop, as `range` counts it
        where = (span.function, text)
        return PlanEntry(value, span.file, span.line, decision, size, reason, *where)

    @property
    def label(self) -> str:
        """What is shown for the value: its expression, else the variable that holds it.

        Examples
        --------
        >>> PlanEntry("i.1", "", 0, KEPT, "8", "").label
        'i'
        """
        return self.expression or variable(self.value)


@dataclass(frozen=True)
class LoopPlan:
    """A checkpointed loop, for the sizes that the plan was made for.

    Attributes
    ----------
    entry : PlanEntry
        The loop's location and the decision about it.
    iterations, again : int or None
        Its trip count, and how many iterations are recomputed; None if known only at run time.
    snapshots : int
        The most states that are stored at once.
    leaf : int or None
        The most iterations for which all values that reverse code needs are stored at once.
    bytes : int
        The most bytes that the states and these iterations take at once.
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

    The first two are owned by the caller and are no part of the peak. Neither is ``"disk"``, for
    tapes in files, or ``"host"``, for tapes of a GPU in host memory, which replace ``"held"``.
    `size` is the formula, None for the rest of the peak; `bytes` the number, None if unknown.
    """

    name: str
    size: Peak | None
    bytes: int | None = None


@dataclass(frozen=True)
class Alternative:
    """The plan that another budget would give.

    Attributes
    ----------
    budget : int
        Bytes.
    peak : int or None
        The peak of a call, or the least possible if that exceeds the budget; None if known only at
        run time.
    extra, bound : float or None
        As those of a plan; None where no plan fits.
    """

    budget: int
    peak: int | None
    extra: float | None
    bound: float | None = None


@dataclass(frozen=True, repr=False)
class Plan:
    """Every decision of one gradient, in program order, and the copies that storage added.

    `adc.inspect.plan` shows it.

    Attributes
    ----------
    policy : str
        The policy of `remat`.
    entries, copies : tuple of PlanEntry
        The decisions.
    peak : Peak or None
        The most memory that a call uses beyond its arguments and results, as a formula.
    peak_bytes : int or None
        The same in bytes, for the arguments that the plan was asked for, or as measured in the
        last call; None if known only at run time.
    budget : int or None
        The most bytes that a call may hold.
    extra, bound : float
        Predicted seconds that the plan takes beyond the fastest one, and a lower bound for all
        plans within the budget.
    seconds : float or None
        Predicted for the whole call; None if unknown.
    loops : tuple of LoopPlan
        Checkpointed loops.
    parts : tuple of Part
        What the memory is used for.
    alternatives : tuple of Alternative
        The plans for half and twice the budget, if requested.
    atomics : tuple of PlanEntry
        Where GPU threads add to the same elements, so that last bits may vary.
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

        `host` are the bytes held in host memory.
        """
        numbers: dict[str, int | None] = {
            part.name: part.size.at(arguments) for part in self.parts if part.size is not None
        }
        numbers["host"] = host
        if numbers.get("held") is not None:
            # Checkpoints count as held, up to the whole peak: arrays may share memory.
            held = (numbers["held"] or 0) + sum(loop.bytes for loop in self.loops)
            numbers["held"] = held if peak is None else min(held, peak)
        held_bytes = numbers.get("held")
        if peak is not None and held_bytes is not None:
            numbers["temporaries"] = peak - held_bytes
        parts = tuple(replace(part, bytes=numbers.get(part.name)) for part in self.parts)
        return replace(self, peak_bytes=peak, parts=parts)

    def measured(self, peak: int | None, disk: int | None) -> Plan:
        """Return the plan with the measured use of memory, and of the disk or the host."""
        parts = tuple(
            replace(part, bytes=disk) if part.name in ("disk", "host") else part
            for part in self.parts
        )
        return replace(self, peak_bytes=peak, parts=parts)

    def shown(self) -> tuple[PlanEntry, ...]:
        """Return the rows of the table: checkpointed loops first."""
        return (*(loop.entry for loop in self.loops), *self.entries, *self.copies, *self.atomics)

    def __repr__(self) -> str:
        counts = Counter(entry.decision for entry in self.shown())
        words = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        return f"<adc plan ({self.policy}): {words or 'nothing is needed'}>"

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the plan that `to_json` wrote."""
        data = json.loads(text)

        def peak(found: Any) -> Peak | None:
            return None if found is None else Peak.from_data(found)

        return cls(
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
