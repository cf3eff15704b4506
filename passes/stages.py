"""What a pipeline is made of: stages with their conditions and reasons, and how they run.

A `Stage` is a row of a table of `pipeline`. What its pass takes besides the function is made of the
one `Context` there is; `run` applies the rows in order and verifies the result, and a `Trace` has
what came of each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.analysis.sizes.extents import Known
from adc.ir.analysis.target import CPU, Target
from adc.ir.core import Function
from adc.ir.errors import AdcError, IRError
from adc.ir.verifier import problems
from adc.passes.memory.peak.formula import Peak
from adc.passes.remat.facts import NO_ORDERS, Orders
from adc.passes.remat.plan import PlanEntry

Pass = Callable[..., Function]
Given = Mapping[str, Any]
# A transformation of value form with respect to parameter positions: reverse mode (of the first
# result, with or without its value, or with cotangents of all results as parameters) or forward
# mode.
Step = tuple[str, tuple[int, ...]]


@dataclass
class Remarks:
    """What stages tell besides the function that they return.

    Attributes
    ----------
    entries : list of PlanEntry
        What `remat` decided.
    held : Peak or None
        The bytes that are kept from forward to reverse code outside of checkpointed loops.
    copies : list of PlanEntry
        What `storage` had to copy.
    """

    entries: list[PlanEntry] = field(default_factory=list)
    held: Peak | None = None
    copies: list[PlanEntry] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """All that stages are built from.

    Attributes
    ----------
    target : Target
        What code is made for.
    policy : str
        How `remat` decides.
    costs : Costs
        What things cost on the machine.
    known : mapping
        Sizes of arguments, by parameter, where code is made for a budget; else nothing.
    orders : Orders
        What a plan for the budget prescribes.
    checked : bool
        Whether what `remat` does is proven: not where a plan is only tried.
    steps : tuple of Step
        The transformations of the function, first to last.
    done : int
        How many of them are done: the next is at hand.
    own : int
        How many parameters the function had before the last of them.
    directions : int
        For how many directions at once code is made, 0 for one.
    called : bool
        Whether this is a derivative that code itself calls.
    remarks : Remarks
        What stages tell besides the function.
    """

    target: Target = CPU
    policy: str = "auto"
    costs: Costs = SHIPPED
    known: Known = field(default_factory=dict)
    orders: Orders = NO_ORDERS
    checked: bool = True
    steps: tuple[Step, ...] = ()
    done: int = 0
    own: int = 0
    directions: int = 0
    called: bool = False
    remarks: Remarks = field(default_factory=Remarks, compare=False)

    @property
    def mode(self) -> str:
        """The name of the transformation at hand, "" if there is none."""
        return self.steps[self.done][0] if self.done < len(self.steps) else ""

    @property
    def wrt(self) -> tuple[int, ...]:
        """What the transformation at hand is with respect to."""
        return self.steps[self.done][1]

    @property
    def is_last(self) -> bool:
        """Whether no transformation follows the one at hand."""
        return self.done >= len(self.steps) - 1

    def reverses(self, fn: Function) -> bool:
        """Whether a function has reverse code, or calls some."""
        return bool(fn.derived) or any(name != "tangent" for name, _ in self.steps)


@dataclass(frozen=True)
class When:
    """A condition on which a stage runs, in words and as a test."""

    text: str
    holds: Callable[[Context, Function], bool]


ALWAYS = When("", lambda context, fn: True)


def _nothing(context: Context) -> Given:
    return {}


@dataclass(frozen=True)
class Stage:
    """A row of the table.

    Attributes
    ----------
    name : str
        Its name; a pass may run more than once.
    apply : callable
        Makes a function of a function.
    why : str
        Why it stands where it does.
    when : When
        Where it runs.
    given : callable
        Returns what `apply` takes besides the function, by parameter, for a context.
    parts : tuple of (parameter, tuple of Stage)
        Rows that `apply` runs itself, as functions that are passed to it.
    of : callable, str or None
        The pass that `apply` runs, where it does more than that; or what it does, in words.
    """

    name: str
    apply: Pass
    why: str = ""
    when: When = ALWAYS
    given: Callable[[Context], Given] = _nothing
    parts: tuple[tuple[str, tuple[Stage, ...]], ...] = ()
    of: Callable[..., object] | str | None = None

    @property
    def about(self) -> str:
        """What the pass does: the first line of the docstring of its module."""
        if isinstance(self.of, str):
            return self.of
        text = sys.modules[(self.of or self.apply).__module__].__doc__
        assert text
        return text.splitlines()[0]


@dataclass(frozen=True)
class Ran:
    """What came of a row.

    Attributes
    ----------
    stage : Stage
        The row.
    fn : Function
        What it left.
    seconds : float or None
        What it took; None if it did not run.
    depth : int
        0 for a row of the table, 1 for one of its parts, and so on.
    """

    stage: Stage
    fn: Function
    seconds: float | None
    depth: int = 0


@dataclass
class Trace:
    """What `run` saw: every row, with the function that it left and the seconds it took."""

    rows: list[Ran] = field(default_factory=list)

    def copy(self) -> Trace:
        """Return a trace that may go on in another way."""
        return Trace(list(self.rows))

    @property
    def _passes(self) -> list[Ran]:
        return [row for row in self.rows if not row.depth and row.seconds is not None]

    @property
    def stages(self) -> list[tuple[str, Function]]:
        """What every pass that ran left."""
        return [(row.stage.name, row.fn) for row in self._passes]

    @property
    def seconds(self) -> list[tuple[str, float]]:
        """What every pass that ran took."""
        return [(row.stage.name, row.seconds or 0.0) for row in self._passes]

    def after(self, name: str) -> Function:
        """Return the function as the last run of the named pass left it; KeyError if none did."""
        for stage, fn in reversed(self.stages):
            if stage == name:
                return fn
        raise KeyError(name)


# Whether the result of every pass is verified, rather than that of the last one in a row. Tests set
# it: verifying 30 times takes a third of the time of the passes.
VERIFY_EACH = False


def run(
    fn: Function,
    stages: Sequence[Stage],
    trace: Trace | None = None,
    context: Context | None = None,
    *,
    verify: bool = True,
) -> Function:
    """Run stages in order, where their conditions hold, and verify the result if it is to be used.

    Raises
    ------
    IRError
        Naming the pass that broke the IR, or that failed.
    """
    context = context or Context()
    try:
        return _Run(context, trace, VERIFY_EACH).all(fn, stages, last=verify)
    except IRError:
        if not VERIFY_EACH:
            _Run(context, None, True).all(fn, stages, last=True)  # raises where the defect arose
        raise


@dataclass
class _Run:
    context: Context
    trace: Trace | None
    each: bool
    depth: int = 0

    def all(self, fn: Function, stages: Sequence[Stage], last: bool) -> Function:
        rows = [] if self.trace is None else self.trace.rows
        verified: Function | None = None
        ran = 0  # where the last row stands that ran
        unverified: Stage | None = None
        for stage in stages:
            if not stage.when.holds(self.context, fn):
                self.skip(fn, stage)
                continue
            ran, start = len(rows), time.perf_counter()
            fn = self.one(fn, stage)
            if self.each:
                verified = _verify(fn, stage, verified)
            else:
                unverified = stage
            # Its parts have rows of their own, which come behind.
            rows.insert(ran, Ran(stage, fn, time.perf_counter() - start, self.depth))
        if last and unverified is not None:
            start = time.perf_counter()
            _verify(fn, unverified, None)
            spent = (rows[ran].seconds or 0.0) + time.perf_counter() - start
            rows[ran] = replace(rows[ran], seconds=spent)
        return fn

    def skip(self, fn: Function, stage: Stage) -> None:
        """Note that a row did not run, nor did its parts."""
        if self.trace is not None:
            self.trace.rows.append(Ran(stage, fn, None, self.depth))
            for _, rows in stage.parts:
                for row in rows:
                    self.inner.skip(fn, row)

    def one(self, fn: Function, stage: Stage) -> Function:
        ran: set[str] = set()

        def part(name: str, rows: Sequence[Stage]) -> Callable[[Function], Function]:
            def apply(found: Function) -> Function:
                ran.add(name)
                return self.inner.all(found, rows, last=False)

            return apply

        parts = {name: part(name, rows) for name, rows in stage.parts}
        try:
            made = stage.apply(fn, **stage.given(self.context), **parts)
        except AdcError:
            raise
        except Exception as error:
            raise IRError(f"pass {stage.name!r} failed on {fn.name}: {error!r}") from error
        for name, rows in stage.parts:
            for row in () if name in ran else rows:
                self.inner.skip(fn, row)
        return made

    @property
    def inner(self) -> _Run:
        return replace(self, depth=self.depth + 1)


def _verify(fn: Function, stage: Stage, verified: Function | None) -> Function:
    # Half of all passes find nothing to do, and comparing is much faster than verifying.
    found = [] if fn == verified else problems(fn)
    if found:
        text = "\n  ".join(found)
        raise IRError(f"pass {stage.name!r} broke {fn.name}:\n  {text}\n{fn}")
    return fn


__all__ = [
    "ALWAYS",
    "Context",
    "Given",
    "Pass",
    "Ran",
    "Remarks",
    "Stage",
    "Step",
    "Trace",
    "When",
    "run",
]
