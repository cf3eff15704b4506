"""The lowering state, saved and restored where paths part and meet; the paths; the names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from adc.frontend.core.bindings import (
    ArrayObject,
    Binding,
    Closure,
    Ruled,
)
from adc.frontend.core.lowering.rows import Rows
from adc.frontend.core.state import (
    Frame,
    Opening,
    Region,
    Shared,
    State,
)
from adc.ir.core import Operand, Value

# The state of the names that are taken, and how many values each table of notes has.
NamesState = tuple[tuple[int, int], tuple[int, ...], dict[object, int]]
# What is known: of a condition whether it holds; of the number of an item whether it is that.
Facts = frozenset[tuple[Operand | tuple[Operand, int], bool]]


class Point(NamedTuple):
    """Where the lowering was: the state, the names that were taken, how many statements."""

    state: State
    names: NamesState
    length: int


class Lowerer(Rows):
    """Lowers one Python function, and everything it inlines, to one IR function."""

    def __init__(self, shared: Shared | None = None) -> None:
        super().__init__(shared)
        # The function whose texts are passed on to Python now: they may be any of several texts.
        self.telling: Frame | None = None
        # An element picked at run time that is lowered as one of several values for once.
        self.undivided: ast.AST | None = None
        # Whether arms of conditional expressions are lowered for each case by themselves.
        self.arms_apart = False
        # The call in a `try` of which the function's body is lowered as a part of that `try`.
        self.opening: Opening | None = None
        self.memo: dict[object, Any] = {}
        # In a function of a rule that is made in code: the function with the rule (`Itself`).
        self.itself: dict[object, Ruled] = {}
        self.stack: list[object] = []
        # The level of recursion, in a function that is called and not inlined.
        self.depth: Operand | None = None
        # How many loops and outlines this is in: functions are inlined there, unless recursive.
        self.inlines = 0
        # How many branches and loops this is in; and how many where the program called the
        # library's function that is lowered now (None in the program itself).
        self.branches = 0
        self.entered_at: int | None = None
        # How many arms of branches this is in, instead of which another one may be taken.
        self.arms = 0
        # How many inner functions were made; their attributes that were set, and what they were.
        self.closures = 0
        self.attributes_set: list[tuple[Closure, str, Binding | None]] = []
        # The generators whose statements are lowered now, with the same number; how many
        # `warnings.catch_warnings`.
        self.generating: list[tuple[ast.AST, int]] = []
        self.quiet = 0
        # In how many `with np.printoptions(...)`.
        self.printing = 0
        # The bodies of `try` that this is in, in all frames.
        self.caught: tuple[Region, ...] = ()
        # How many copies of a statement are lowered now (`control.choices`).
        self.copies = 1
        # What follows about `Maybe.some` from a condition that holds, and that does not: which
        # operands are true, or not (`values.optional`).
        self.facts: dict[Value, tuple[Facts, Facts]] = {}
        # Which exits a pending one may be (`control.exits_of`).
        self.exit_values: dict[Value, frozenset[int]] = {}
        # Parameters that are asked with `is` whether they are one array, in the main function.
        self.compared: set[frozenset[Value]] | None = None
        # Whether what is lowered runs for each element of an array, of which there may be none.
        self.for_each = False

    # -- state -----------------------------------------------------------------------------

    def snapshot(self) -> State:
        self.complete(self.frame.env, self.versions)
        return State(
            dict(self.frame.env),
            set(self.frame.partial),
            dict(self.versions),
            dict(self.stale),
            dict(self.sizes.known),
            (self.closures, len(self.attributes_set)),
        )

    def point(self) -> Point:
        """Return where the lowering is, for `undo`."""
        return Point(self.snapshot(), self.save_names(), len(self.builder.stmts))

    def undo(self, point: Point) -> None:
        """Forget what was lowered since then."""
        self.restore(point.state)
        self.reset_names(point.names)
        del self.builder.stmts[point.length :]

    def complete(self, env: dict[str, Binding], versions: dict[ArrayObject, Value]) -> None:
        """Add captured values to a state that were found after it was saved."""
        for obj, value in self.origin.items():
            versions.setdefault(obj, value)
        for slot, held in self.initial.items():
            env.setdefault(slot, held)

    def restore(self, state: State) -> None:
        self.frame.env = dict(state.env)
        self.frame.partial = set(state.partial)
        self.versions = dict(state.versions)
        self.stale = dict(state.stale)
        self.sizes.known = dict(state.known)
        closures, count = state.attributes
        while len(self.attributes_set) > count:
            closure, name, before = self.attributes_set.pop()
            if closure.number > closures:
                continue  # it was made since, on a path that may be one of two
            if before is None:
                del closure.attributes[name]
            else:
                closure.attributes[name] = before

    # -- paths -----------------------------------------------------------------------------

    @contextmanager
    def perhaps(self, unsure: bool = True) -> Iterator[None]:
        """Lower what is inside the `with` as a path that need not be taken."""
        path = self.path
        self.branches += unsure
        self.path = object() if unsure else path
        try:
            yield
        finally:
            self.branches -= unsure
            self.path = path

    @contextmanager
    def arm(self, unsure: bool) -> Iterator[None]:
        """Lower what is inside the `with` as one path of several."""
        self.arms += unsure
        try:
            with self.perhaps(unsure):
                yield
        finally:
            self.arms -= unsure

    @contextmanager
    def copy(self, *which: object) -> Iterator[None]:
        """Lower a copy of code inside the `with`, whose loops are others than those of the rest."""
        frame, path = self.frame, self.frame.path
        frame.path = (*path, which)
        try:
            yield
        finally:
            frame.path = path

    @contextmanager
    def within(self, library: bool) -> Iterator[None]:
        """Lower what is inside the `with` as the library's, or as the program's."""
        outer = self.entered_at
        self.entered_at = None if not library else self.branches if outer is None else outer
        try:
            yield
        finally:
            self.entered_at = outer

    # -- names -----------------------------------------------------------------------------

    @contextmanager
    def tells(self) -> Iterator[None]:
        """Lower what the current function prints."""
        outer, self.telling = self.telling, self.frame
        try:
            yield
        finally:
            self.telling = outer

    def save_names(self) -> NamesState:
        """Return the state for `reset_names`."""
        return self.builder.names.save(), tuple(map(len, self._noted())), dict(self.frame.inlined)

    def _noted(self) -> tuple[dict[Value, Any], ...]:
        """Return what is known of values."""
        return self.sizes.bits, self.boxed, self.exit_values, self.facts

    def reset_names(self, state: NamesState) -> None:
        """Release the names of a failed attempt, except those of captured variables."""
        names, sizes, inlined = state
        self.frame.inlined = dict(inlined)
        self.builder.names.load(names)
        for noted, size in zip(self._noted(), sizes, strict=True):
            for value in list(islice(reversed(noted), len(noted) - size)):
                if value.name not in self.builder.names:
                    del noted[value]
        for capture, _ in self.captured.values():
            for param in capture.params:
                self.builder.names.reserve(param.name)
        for slot in self.initial:
            self.builder.names.reserve(slot)
        for stmt in self.prologue:
            self.builder.names.reserve(stmt.results[0].name)
