"""What `remat` knows and decides about the forward values of one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.core import (
    Call,
    For,
    Function,
    If,
    Mark,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.types import INT
from adc.ir.walk import Names
from adc.passes.remat.checkpoint import Schedule


@dataclass(frozen=True)
class Orders:
    """The decisions that a plan for a budget prescribes; all others are made as without one.

    Attributes
    ----------
    loops : tuple of (function, label, Schedule)
        Loops to checkpoint, inner ones first.
    worth : tuple of (function, label, float)
        The value in seconds of a byte that the iterations of a loop do not hold.
    kept : tuple of (function, value, bool)
        Whether to keep a value or to recompute it, if possible.
    calls : tuple of (function, label)
        Calls that are recomputed as a whole.
    apart : bool
        Whether what iterations begin with and what they leave is recalled apart, where reverse code
        needs both (`shared_states`): without a copy of a state, but with up to two of all.
    free : bool
        Whether passes run that may make arrays live longer, as without a budget. They also save
        arrays, so that only the code that they made tells whether it needs less.
    """

    loops: tuple[tuple[str, str, Schedule], ...] = ()
    worth: tuple[tuple[str, str, float], ...] = ()
    kept: tuple[tuple[str, str, bool], ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    apart: bool = False
    free: bool = False


NO_ORDERS = Orders()


@dataclass(frozen=True)
class Restored:
    """What reverse code restores of overwritten arrays and numbers (`undo`).

    Attributes
    ----------
    sources : mapping of (load's result, array) to value
        The array of reverse code that a load can be repeated from, at the start of the block that
        mirrors its own.
    values : mapping of value to value
        The value of reverse code that equals a forward one, in the block that mirrors its own: a
        number from the start on; one that inner loops restore, after these; arrays that the user
        marked.
    early : mapping of (load's result, array) to index
        Those loads that read the array before their iteration is undone, by position.
    first : mapping of value to value
        Results of the statements that restore before anything else in their iteration, and the
        results of the statements that they undo.
    logged : frozenset of Value
        Values that the undo log needs, and that are kept for it.
    begun : tuple of Value
        The forward arrays that undoing begins with.
    ends : mapping of array to value
        The array of reverse code that equals a version once the loop that it entered is undone.
    in_turn : frozenset of str
        Loops in which values are recomputed where they are needed, not at the start.
    short : frozenset of str
        Loops whose iterations hold nothing that can be recomputed, at the user's request.
    inexact : frozenset of Value
        The forward values, and the arrays of reverse code, that are restored inexactly.
    """

    sources: Mapping[tuple[Value, Value], Value] = field(default_factory=dict)
    values: Mapping[Value, Value] = field(default_factory=dict)
    early: Mapping[tuple[Value, Value], tuple[Operand, ...]] = field(default_factory=dict)
    first: Mapping[Value, Value] = field(default_factory=dict)
    logged: frozenset[Value] = frozenset()
    begun: tuple[Value, ...] = ()
    ends: Mapping[Value, Value] = field(default_factory=dict)
    in_turn: frozenset[str] = frozenset()
    short: frozenset[str] = frozenset()
    inexact: frozenset[Value] = frozenset()


NOTHING_RESTORED = Restored()


@dataclass
class Site:
    """Where a forward value is defined: its innermost loop ("" outside), and under how many ifs."""

    region: str
    arms: int
    stmt: Stmt | None
    order: int
    is_index: bool = False
    is_param: bool = False


@dataclass
class Decision:
    kind: str
    reason: str
    source: Value | None = None


@dataclass
class Decisions:
    """The decisions about the forward values of one function."""

    fn: Function
    # Whether reverse code follows in the same function, so that its outermost values are in scope.
    whole: bool
    forwarding: Forwarding
    # Loop-carried parameters: arrays that the iteration is about to change.
    carried: frozenset[Value] = frozenset()
    restored: Restored = NOTHING_RESTORED
    # Parameters that the reverse function has as well (`reverse_arguments`).
    given: frozenset[Value] = frozenset()
    sites: dict[Value, Site] = field(default_factory=dict)
    parents: dict[str, tuple[str, int]] = field(default_factory=dict)
    loops: dict[str, For | While] = field(default_factory=dict)
    counters: dict[str, Value] = field(default_factory=dict)
    made: dict[Value, Decision] = field(default_factory=dict)
    # The user's marks of values.
    marks: dict[Value, Mark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for param in self.fn.params:
            self.sites[param] = Site("", 0, None, len(self.sites), is_param=True)
        self._scan(self.fn.body, "", 0)
        for value in self.sites:
            mark = value.mark
            if mark is not None and mark.kind == "invertible":
                mark = mark.around
            if mark is not None and mark.kind != "result":
                self.marks[value] = mark

    def _scan(self, stmts: Sequence[Stmt], region: str, arms: int) -> None:
        for stmt in stmts:
            match stmt:
                case If(then=then, orelse=orelse):
                    self._scan(then.stmts, region, arms + 1)
                    self._scan(orelse.stmts, region, arms + 1)
                case For(label=label, body=body) | While(label=label, body=body):
                    assert isinstance(stmt, For | While)
                    self.loops[label] = stmt
                    self.parents[label] = (region, arms)
                    if isinstance(stmt, For):
                        self.sites[stmt.index] = Site(
                            label, 0, None, len(self.sites), is_index=not stmt.down
                        )
                    for param in body.params:
                        self.sites[param] = Site(label, 0, None, len(self.sites), is_param=True)
                    self._scan(body.stmts, label, 0)
                case Recall() | Reverse():
                    continue
            for result in stmt.results:
                self.sites[result] = Site(region, arms, stmt, len(self.sites))

    def count(self, label: str, names: Names) -> Value:
        """Return the value that holds the actual trip count of a `while`."""
        if label not in self.counters:
            value = Value(names.fresh(f"{label}.n"), INT)
            region, arms = self.parents[label]
            self.counters[label] = value
            self.sites[value] = Site(region, arms, None, len(self.sites))
        return self.counters[label]

    def trips(self, label: str, names: Names) -> Operand:
        loop = self.loops[label]
        return loop.trips if isinstance(loop, For) else self.count(label, names)

    def is_within(self, value: Value, label: str) -> bool:
        """Whether a value is defined in a loop."""
        region = self.sites[value].region
        while region and region != label:
            region = self.parents[region][0]
        return region == label

    def in_scope(self, value: Value) -> bool:
        """Whether reverse code can simply name the value."""
        site = self.sites[value]
        return self.whole and site.region == "" and site.arms == 0


def reverses(fn: Function) -> bool:
    """Whether a function has reverse code of its own."""
    return not fn.mirror and any(
        isinstance(s, Recall | Reverse) or (isinstance(s, Call) and s.mirror) for s in walk(fn.body)
    )


def needed_values(stmts: Sequence[Stmt], decisions: Decisions, names: Names) -> list[Value]:
    """Return the values that reverse code recalls, in program order; trip counts included."""
    needed: list[Value] = []
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, Recall):
            needed.append(stmt.value)
        elif isinstance(stmt, Reverse):
            trips = decisions.trips(stmt.loop, names)
            if isinstance(trips, Value):
                needed.append(trips)
    return needed


def mark_of(stmt: Stmt) -> Mark | None:
    """Return the checkpointed call in which a loop or call runs."""
    values = stmt.results
    if isinstance(stmt, For):
        values = (stmt.index,)
    elif isinstance(stmt, While):
        values = stmt.body.params
    for value in values:
        mark = value.mark
        if mark is not None and mark.kind in ("save", "recompute", "invertible"):
            mark = mark.around
        if mark is not None:
            return mark
    return None
