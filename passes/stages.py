"""Stages of a pipeline, with their conditions and reasons, and how they run.

A `Stage` is a row of a table of `pipeline`. The further arguments of its pass come from the
`Context`; `run` applies the rows in order and verifies the result, and a `Trace` records what each
row did.
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
from adc.passes.unchanged import with_unchanged

Pass = Callable[..., Function]
Given = Mapping[str, Any]
# A transformation of value form with respect to parameter positions: reverse mode (of the first
# result, with or without its value, or with cotangents of all results as parameters) or forward
# mode.
Step = tuple[str, tuple[int, ...]]
# The steps without reverse code.
FORWARD = ("tangent", "dependence")


@dataclass
class Remarks:
    """What stages report besides the function that they return.

    Attributes
    ----------
    entries : list of PlanEntry
        The decisions of `remat`.
    held : Peak or None
        The bytes kept from forward to reverse code outside of checkpointed loops.
    copies : list of PlanEntry
        The copies that `storage` had to insert.
    """

    entries: list[PlanEntry] = field(default_factory=list)
    held: Peak | None = None
    copies: list[PlanEntry] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """The settings that stages are built from.

    Attributes
    ----------
    target : Target
        The machine that code is made for.
    policy : str
        The policy of `remat`.
    costs : Costs
        The cost model of the machine.
    known : mapping
        Sizes of arguments, by parameter, where code is made for a budget; else empty.
    orders : Orders
        The decisions that a plan for the budget prescribes.
    checked : bool
        Whether the work of `remat` is proven: not where a plan is only tried.
    steps : tuple of Step
        The transformations of the function, first to last.
    done : int
        How many of them are done: the next one is current.
    own : int
        How many parameters the function had before the last of them.
    directions : int
        The number of directions that code handles at once, 0 for one without an axis.
    plain : bool
        Whether no derivative is taken of the code.
    called : bool
        Whether this is a derivative that code itself calls.
    remarks : Remarks
        What stages report besides the function.
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
    plain: bool = False
    called: bool = False
    remarks: Remarks = field(default_factory=Remarks, compare=False)

    @property
    def mode(self) -> str:
        """The name of the current transformation, "" if there is none."""
        return self.steps[self.done][0] if self.done < len(self.steps) else ""

    @property
    def wrt(self) -> tuple[int, ...]:
        """The parameter positions that the current transformation differentiates."""
        return self.steps[self.done][1]

    @property
    def is_last(self) -> bool:
        """Whether no transformation follows the current one."""
        return self.done >= len(self.steps) - 1

    def reverses(self, fn: Function) -> bool:
        """Whether a function has reverse code, or calls some."""
        return bool(fn.derived) or any(name not in FORWARD for name, _ in self.steps)


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
        The transformation of the function.
    why : str
        The reason for its place.
    when : When
        The condition on which it runs.
    given : callable
        Returns the further arguments of `apply`, by parameter, for a context.
    parts : tuple of (parameter, tuple of Stage)
        Rows that `apply` runs itself, as functions that are passed to it.
    of : callable, str or None
        The pass that `apply` runs, where `apply` does more than that; or a description.
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
        """What the pass does: the first line of its module docstring."""
        if isinstance(self.of, str):
            return self.of
        text = sys.modules[(self.of or self.apply).__module__].__doc__
        assert text
        return text.splitlines()[0]


@dataclass(frozen=True)
class Ran:
    """The record of one row that ran or was skipped.

    Attributes
    ----------
    stage : Stage
        The row.
    fn : Function
        Its result.
    seconds : float or None
        Its run time; None if it did not run.
    depth : int
        0 for a row of the table, 1 for one of its parts, and so on.
    """

    stage: Stage
    fn: Function
    seconds: float | None
    depth: int = 0


@dataclass
class Trace:
    """The record of `run`: every row, with its result and its run time."""

    rows: list[Ran] = field(default_factory=list)

    def copy(self) -> Trace:
        """Return a copy that may be continued independently."""
        return Trace(list(self.rows))

    @property
    def _passes(self) -> list[Ran]:
        return [row for row in self.rows if not row.depth and row.seconds is not None]

    @property
    def stages(self) -> list[tuple[str, Function]]:
        """The result of every pass that ran."""
        return [(row.stage.name, row.fn) for row in self._passes]

    @property
    def seconds(self) -> list[tuple[str, float]]:
        """The run time of every pass that ran."""
        return [(row.stage.name, row.seconds or 0.0) for row in self._passes]

    def after(self, name: str) -> Function:
        """Return the result of the last run of the named pass; KeyError if it did not run."""
        for stage, fn in reversed(self.stages):
            if stage == name:
                return fn
        raise KeyError(name)


# Whether the result of every pass is verified, not only that of the last one of a run. Tests set
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
    # By pass, the function that it has left as it is.
    settled: dict[Pass, Function] = field(default_factory=dict)

    def all(self, fn: Function, stages: Sequence[Stage], last: bool) -> Function:
        rows = [] if self.trace is None else self.trace.rows
        verified: Function | None = None
        ran = 0  # the position of the last row that ran
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
            # Its parts have rows of their own, which follow it.
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
        given = {**stage.given(self.context), **parts}
        if not given and self.settled.get(stage.apply) is fn:
            return fn
        try:
            made = with_unchanged(stage.apply(fn, **given), fn)
        except AdcError:
            raise
        except Exception as error:
            raise IRError(f"pass {stage.name!r} failed on {fn.name}: {error!r}") from error
        for name, rows in stage.parts:
            for row in () if name in ran else rows:
                self.inner.skip(fn, row)
        if made is fn and not given:
            self.settled[stage.apply] = fn
        return made

    @property
    def inner(self) -> _Run:
        return replace(self, depth=self.depth + 1)


def _verify(fn: Function, stage: Stage, verified: Function | None) -> Function:
    # Half of all passes change nothing, and comparing is much faster than verifying.
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
