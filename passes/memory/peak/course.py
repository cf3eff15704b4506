"""What the analysis of the peak says is alive in the course of a call: after each statement.

The peak is one number for a whole call. This is where it comes from: the same run on symbols, with
a note of what there is after statements, in iterations of loops, arms of branches and callees. What
is noted is relative to the code around it. `Course.at` adds it up for one point of a call. Of the
call it is told only the way to that point: which calls that is in, and which iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adc.ir.analysis.routines import library_form
from adc.ir.analysis.sizes.formulas import ZERO, Remembered, Sum
from adc.ir.core import Call, For, Function, If, Stmt, While
from adc.passes.memory.peak import _Env, _known, _Run, _schedule
from adc.passes.memory.peak.needs import Frame, Item, Need, Sizes

# Which of the noted iterations of the loops around.
Rounds = tuple[int, ...]
# A function: the identities of the calls on the way to it, with the rounds that they are in.
Way = tuple[tuple[int, Rounds], ...]


class Inside(NamedTuple):
    """A statement that a point is inside of.

    That is a branch; a loop, in some iteration of so many; or a call with some integers, which are
    told by the names of the parameters.
    """

    stmt: If | Call | For | While
    iteration: int = 0
    trips: int = 0
    integers: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Held:
    """The bytes at one point of a call.

    Attributes
    ----------
    alive : int
        What is held in the workspace, on the tapes, and in arrays that own their memory.
    work, tapes, own : int, dict, int
        The most that there has been of each, as far as it is known, since the statements began
        that the point is inside of. After a loop, a branch or a call, that counts all of it.
    """

    alive: int
    work: int
    tapes: Mapping[str, int]
    own: int


@dataclass(frozen=True)
class _Mark:
    """What there is, and the most that there was since the block around it began."""

    top: Sum
    tapes: Sizes
    own: Sum
    work: Sum
    most: Sizes
    most_own: Sum


@dataclass
class _Notes:
    """What was noted of one function that is called on one way."""

    after: dict[tuple[int, int, Rounds], _Mark] = field(default_factory=dict)
    # By statement that has others inside: what there is before it.
    before: dict[tuple[int, Rounds], _Mark] = field(default_factory=dict)
    # By loop: the arrays that an iteration finds, and what it has left in the end.
    first: dict[tuple[int, Rounds], Sum] = field(default_factory=dict)
    last: dict[tuple[int, Rounds], _Mark] = field(default_factory=dict)


class _Noting(_Run):
    """A run that notes what there is."""

    def __init__(self, fn: Function, wanted: Collection[tuple[int, int]]) -> None:
        super().__init__(fn, 1, {})
        self.wanted = wanted
        self.way: Way = ()
        self.around: Rounds = ()
        self.here = _Notes()
        self.notes: dict[Way, _Notes] = {(): self.here}

    def mark(self, need: Need, env: _Env) -> _Mark:
        own = env.owners.bytes()
        return _Mark(need.top, dict(need.tapes), own, need.work, dict(need.most), need.own)

    def after(self, stmts: Sequence[Stmt], k: int, env: _Env) -> None:
        if (id(stmts), k) in self.wanted:
            self.here.after[id(stmts), k, self.around] = self.mark(self.need, env)

    def before(self, stmt: Stmt, env: _Env) -> None:
        self.here.before[id(stmt), self.around] = self.mark(self.need, env)

    def branch(self, stmt: If, env: _Env) -> None:
        self.before(stmt, env)
        super().branch(stmt, env)

    def loop(self, stmt: For | While, env: _Env) -> None:
        self.before(stmt, env)
        super().loop(stmt, env)

    def iteration(self, stmt: For | While, env: _Env, supply: Sequence[Item], number: int) -> Need:
        self.around = (*self.around, number)
        self.here.first[id(stmt), self.around] = env.owners.bytes()
        need = super().iteration(stmt, env, supply, number)
        self.here.last[id(stmt), self.around] = self.mark(need, env)
        self.around = self.around[:-1]
        return need

    def function(self, fn: Function, known: Frame = ()) -> _Env:
        schedule = _schedule(fn) if fn.name in self._again else None
        if schedule is not None:
            # It calls itself with other numbers of iterations, and other room.
            own = schedule.args
            known = tuple(None if p in own else k for p, k in zip(fn.params, known, strict=True))
        return super().function(fn, known)

    def callee(self, fn: Function, known: Frame, supply: Sequence[Item]) -> tuple[Need, _Env]:
        with self.part(supply) as need:  # each call has notes of its own
            return need, self.function(fn, known)

    def call(self, stmt: Call, env: _Env) -> None:
        self.before(stmt, env)
        outer = self.way, self.around, self.here
        self.way, self.around = (*self.way, (id(stmt), self.around)), ()
        self.here = self.notes.setdefault(self.way, _Notes())
        super().call(stmt, env)
        self.way, self.around, self.here = outer


class Course:
    """What a call of a function in its last form holds.

    Parameters
    ----------
    fn : Function
        The function, as `peak` takes it.
    sizes : mapping
        The sizes and integers of its arguments, by parameter.
    wanted : collection of (block, place)
        The statements after which it can be told: the identity of the statements of their block,
        and the place there.
    counts : mapping
        Numbers for names that no argument tells, such as ``{"W0.n": 10}``.
    """

    def __init__(
        self, fn: Function, sizes: Mapping[str, int | Sequence[int]],
        wanted: Collection[tuple[int, int]], counts: Mapping[str, int],
    ) -> None:  # fmt: skip
        fn = self._fn = library_form(fn)  # identities are those of its statements
        run = _Noting(fn, wanted)
        env = run.function(fn, tuple(_known(sizes.get(param.name)) for param in fn.params))
        self._notes, self._counts = run.notes, counts
        state = env.owners.states[0]
        tokens = dict.fromkeys(env.owners.held(state, result) for result in fn.results)
        own = sum((env.owners.sizes.get(token, ZERO) for token in tokens), start=ZERO)
        # What the caller gets in the end, of the arrays that own their memory.
        self.results = own.value(Remembered(counts)) or 0
        self._sums: dict[object, list[int]] = {}

    def at(
        self, way: Sequence[Inside], place: tuple[int, int], folded: tuple[int, int] | None = None
    ) -> Held | None:
        """Return what is held after a statement; None where only the run knows that.

        Parameters
        ----------
        way : sequence of Inside
            What the statement is inside of, outermost first.
        place : (block, place)
            The statement. If iterations are `folded`, that is (first, last), the point is after
            the last of them, and the loop is the last element of `way`.
        """
        try:
            return self._at(way, place, folded)
        except _UnknownError:
            return None

    def _at(
        self, way: Sequence[Inside], place: tuple[int, int], folded: tuple[int, int] | None
    ) -> Held:
        point = _Point(dict(self._counts))
        name, path, around = self._fn.name, Way(), Rounds()
        # A function that calls itself is noted once: where it is called first.
        paths = {name: path}
        loop = way[-1] if folded is not None else None
        for inside in way:
            notes = self._notes.get(path, _Notes())
            stmt = inside.stmt
            point.add(notes.before.get((id(stmt), around)), own=isinstance(stmt, Call))
            if isinstance(stmt, Call):
                name = stmt.callee
                point.names.update((f"{name}: {each}", k) for each, k in inside.integers)
                path = paths.setdefault(name, (*path, (id(stmt), around)))
                around = ()
            elif inside is loop and folded is not None:
                for number in dict.fromkeys(folded):
                    self._iterated(notes, inside, number, around, name, point.copy(), point)
                inner = self._iterated(notes, inside, folded[1] + 1, around, name, point, None)
                point.own += point.value(notes.first.get((id(stmt), inner)))
                return point.held()
            elif not isinstance(stmt, If):
                around = self._iterated(notes, inside, inside.iteration, around, name, point, None)
        point.add(self._notes.get(path, _Notes()).after.get((*place, around)), own=True)
        return point.held()

    def _iterated(
        self, notes: _Notes, loop: Inside, number: int, around: Rounds, name: str, point: _Point,
        most: _Point | None,
    ) -> Rounds:  # fmt: skip
        """Add what the iterations of a loop before one have left; return the rounds of that one.

        Note in `most` what it has at most.
        """
        stmt = loop.stmt
        assert isinstance(stmt, For | While)
        rounds: list[_Mark] = []
        while (key := (id(stmt), (*around, len(rounds)))) in notes.last:
            rounds.append(notes.last[key])
        if not rounds:
            raise _UnknownError
        prefix = "" if name == self._fn.name else f"{name}: "
        index = f"{prefix}{stmt.index.name}" if isinstance(stmt, For) else ""
        down = isinstance(stmt, For) and stmt.down

        def counter(k: int) -> int:
            return loop.trips - 1 - k if down else k

        for k in range(min(number, len(rounds) - 1)):
            point.names[index] = counter(k)
            point.leave(rounds[k].tapes)
        rest = number - (len(rounds) - 1)
        if rest > 0:
            for dtype, size in rounds[-1].tapes.items():
                if index not in size.names:
                    point.tapes[dtype] = point.tapes.get(dtype, 0) + rest * point.value(size)
                    continue
                # What differs from iteration to iteration is added up once.
                others = tuple(sorted((n, v) for n, v in point.names.items() if n != index))
                sums = self._sums.setdefault((size, down and loop.trips, others), [0])
                while len(sums) <= rest:
                    point.names[index] = counter(len(rounds) - 2 + len(sums))
                    sums.append(sums[-1] + point.value(size))
                point.tapes[dtype] = point.tapes.get(dtype, 0) + sums[rest]
        point.names[index] = counter(number)
        this = min(number, len(rounds) - 1)
        if most is not None:
            point.note(rounds[this])
            most.join(point)
        return (*around, this)


class _UnknownError(Exception):
    """Only the run knows."""


@dataclass
class _Point:
    """What there is at a point, as numbers; and the most of it that is known."""

    names: dict[str, int]
    top: int = 0
    own: int = 0
    tapes: dict[str, int] = field(default_factory=dict)
    work: int = 0
    most: dict[str, int] = field(default_factory=dict)
    most_own: int = 0

    def value(self, size: Sum | None) -> int:
        found = None if size is None else size.value(Remembered(self.names))
        if found is None:
            raise _UnknownError
        return found

    def add(self, mark: _Mark | None, *, own: bool) -> None:
        """Add what there is at a mark, in the block that this is the beginning of."""
        if mark is None:
            raise _UnknownError
        self.note(mark)
        self.top += self.value(mark.top)
        self.leave(mark.tapes)
        if own:
            self.own += self.value(mark.own)

    def note(self, mark: _Mark) -> None:
        """Note the most up to a mark, as far as it is known."""
        known = Remembered(self.names)
        work, own = mark.work.value(known), mark.most_own.value(known)
        self.work = max(self.work, self.top + (work or 0))
        self.most_own = max(self.most_own, self.own + (own or 0))
        for dtype, size in mark.most.items():
            now = self.tapes.get(dtype, 0) + (size.value(known) or 0)
            self.most[dtype] = max(self.most.get(dtype, 0), now)

    def leave(self, tapes: Sizes) -> None:
        for dtype, size in tapes.items():
            self.tapes[dtype] = self.tapes.get(dtype, 0) + self.value(size)

    def copy(self) -> _Point:
        return _Point(
            dict(self.names), self.top, self.own, dict(self.tapes), self.work, dict(self.most),
            self.most_own,
        )  # fmt: skip

    def join(self, other: _Point) -> None:
        self.work, self.most_own = max(self.work, other.work), max(self.most_own, other.most_own)
        for dtype, size in other.most.items():
            self.most[dtype] = max(self.most.get(dtype, 0), size)

    def held(self) -> Held:
        alive = self.top + self.own + sum(self.tapes.values())
        return Held(alive, self.work, self.most, self.most_own)


__all__ = ["Course", "Held", "Inside"]
