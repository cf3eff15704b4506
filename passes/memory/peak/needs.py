"""What stretches of code need of the workspace, of the tapes, and for arrays that own their memory.

A `Need` adds up what statements take. Two arms of a branch make one of two needs, the iterations of
a loop one of what an iteration needs, as formulas. Tapes are stacks: what is popped is what was
pushed last (`Item`), or lay there before, which is known of a function from the start
(`Directions`). What the iterations of a checkpointed loop put there follows from its schedule
(`Machine`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.sizes import formulas, loops
from adc.ir.analysis.sizes.formulas import ZERO, Atom, Sum, either, unknowable
from adc.ir.core import Call, Function, Pop, Push, Stmt, blocks, walk
from adc.ir.types import Array

# Bytes, by tape.
Sizes = dict[str, Sum]
# What is known of values that are handed over: numbers of integers and shapes of arrays.
Frame = tuple[Sum | tuple[Sum, ...] | None, ...]


def added(found: Iterable[Sizes]) -> Sizes:
    """Return what sizes add up to."""
    sizes: Sizes = {}
    for each in found:
        for dtype, size in each.items():
            sizes[dtype] = sizes.get(dtype, ZERO) + size
    return sizes


def unbounded(size: Sum) -> Sum | None:
    """Return what a size is at most, if nothing is known of it."""
    return None


# A formula that is longer has a name instead, which is known only at run time.
_LONGEST = 5_000


def where(
    frame: Frame, known: Callable[[Sum], bool], most: Callable[[Sum], Sum | None] = unbounded
) -> Frame:
    """Return what is left of a frame where only some formulas are known.

    Of a size that is not known, or a number that counts something, the `most` may be (`named`).
    """

    def told(size: Sum, counts: bool) -> Sum | None:
        found = _told(size, known)
        if found is not None or not counts:
            return found
        match size.terms:
            case ((((formulas.Function(kind="sweeps" | "rest") as of),), 1),):
                # The schedule stays one of as many iterations as there are at most.
                trips, *others = of.args
                limit = most(trips)
                if limit is not None and all(known(each) for each in others):
                    return Sum.function(of.kind, upto(limit), *others)
        limit = most(size)
        return None if limit is None else upto(limit)

    found: list[Sum | tuple[Sum, ...] | None] = []
    for each in frame:
        if isinstance(each, tuple):
            sizes = [size for one in each if (size := told(one, True)) is not None]
            found.append(tuple(sizes) if len(sizes) == len(each) else None)
        else:
            found.append(None if each is None else told(each, each.is_size()))
    return tuple(found)


def upto(limit: Sum, name: str = "") -> Sum:
    """Return a size that is at most so much."""
    return Sum.atom(formulas.Function("upto", (limit,), name=name))


def named(size: Sum, name: str) -> Sum:
    """Return a size from a frame; one of which only the most is known has this name."""
    match size.terms:
        case ((((formulas.Function(kind="upto", name="")),), 1),):
            return renamed(size, name)
    return size


def renamed(size: Sum, name: str) -> Sum:
    """Return a size of which only the most is known with another name."""
    match size.terms:
        case ((((formulas.Function(kind="upto") as most),), 1),):
            return Sum.atom(replace(most, name=name))
    return size


def _told(size: Sum, known: Callable[[Sum], bool]) -> Sum | None:
    """Return a formula in what is known; None if there is none.

    Of a choice on an unknown condition both arms are told: the condition gets a name that is never
    known (`formulas.unknowable`).
    """
    if known(size):
        return size
    found = ZERO
    for atoms, count in size.terms:
        term = Sum.number(count)
        for atom in atoms:
            part: Sum | None = Sum.atom(atom)
            if not known(Sum.atom(atom)):
                part = _told_choice(atom, known)
            if part is None:
                return None
            term = term * part
        found = found + term
    return found


def _told_choice(atom: Atom, known: Callable[[Sum], bool]) -> Sum | None:
    if isinstance(atom, str) or atom.kind != "if":
        return None
    cond = atom.args[0]
    arms = [_told(arm, known) for arm in atom.args[1:]]
    if arms[0] is None or arms[1] is None:
        return None
    return either(cond if known(cond) else unknowable(cond), arms[0], arms[1])


@dataclass
class Item:
    """What one statement has pushed.

    A `frame` is what is known of the values that a `Push` pushes, `parts` are the items of the
    blocks of other statements.
    """

    sizes: Sizes
    frame: Frame = ()
    parts: tuple[tuple[Item, ...], ...] = ()

    @property
    def key(self) -> object:
        """All of it, to compare it with others."""
        parts = tuple(tuple(item.key for item in part) for part in self.parts)
        return tuple(self.sizes.items()), self.frame, parts

    def where(
        self, known: Callable[[Sum], bool], most: Callable[[Sum], Sum | None] = unbounded
    ) -> Item:
        """Return what is left of this where only some formulas are known."""
        parts = tuple(tuple(item.where(known, most) for item in part) for part in self.parts)
        return Item(self.sizes, where(self.frame, known, most), parts)


@dataclass(frozen=True)
class Rounds:
    """The iterations of a loop, as many as `trips`; `inside` are the names that may vary.

    `parts` has counters of parts of checkpointed loops: the name of how many iterations come before
    those of the part, and how many the whole loop has.
    """

    label: str
    index: str
    trips: Sum
    inside: frozenset[str]
    parts: Mapping[str, tuple[str, Sum]]

    def most(self, size: Sum) -> Sum:
        """Return the most that an iteration has."""
        if size.length > _LONGEST:
            # Loops that run iterations of others again, many levels deep, have longer ones at each.
            digest = hashlib.sha256(size.key.encode()).hexdigest()
            return Sum.atom(f"{self.label}.most.{digest[:16]}")
        part, whole = self.parts.get(self.index), self.whole(size)
        if part is None or whole is None:
            return loops.most(self.label, self.index, self.trips, size, self.inside)
        return loops.most(self.label, *part, whole, self.inside)

    def total(self, size: Sum) -> Sum:
        """Return what all iterations add up to."""
        if self.whole(size) is not None:
            return self.trips.count() * self.most(size)
        return loops.total(self.label, self.index, self.trips, size, self.inside)

    def whole(self, size: Sum) -> Sum | None:
        """Return a size of an iteration in the counter of the whole loop that this is a part of.

        None if this is no part, or the size has nothing to do with that counter, which is what
        comes before the part and the counter of the part. It gets the name of the former.
        """
        name, _ = self.parts.get(self.index, ("", ZERO))
        if name not in size.names:
            return None
        found = loops.substituted(size, name, Sum.atom(name) - Sum.atom(self.index))
        return None if self.index in found.names else found

    def bound(self, size: Sum) -> Sum | None:
        """Return the most of a size; None if it depends on more than the counter."""
        found = loops.at_most(size, self.inside - {self.index})
        if found is None or self.inside.isdisjoint(found.free):
            return found  # it may be the most of all iterations already
        return self.most(found)

    def fixed(self, size: Sum) -> bool:
        """Whether a formula is the same in all iterations, but for the counter."""
        return self.inside.isdisjoint(size.names)


@dataclass
class Machine:
    """The schedule of a checkpointed loop, and what it puts on the tapes.

    `frame` is what a snapshot takes, `step` what an iteration of the leaf keeps, and `extra` what
    it and its reverse code need beyond that.
    """

    args: tuple[Sum, ...]
    frame: Sizes = field(default_factory=dict)
    step: Sizes = field(default_factory=dict)
    extra: Sizes = field(default_factory=dict)
    # What a snapshot of the first run takes, where those of later ones may take more.
    first: Sizes | None = None

    def join(self, later: Machine) -> None:
        """Let it be for runs that keep as much as this one, or as a later one of other code."""
        self.first = self.frame if self.first is None else self.first
        self.frame, self.step = self.larger(later, "frame"), self.larger(later, "step")
        self.needs(later.extra)

    def larger(self, other: Machine, name: str) -> Sizes:
        mine, theirs = getattr(self, name), getattr(other, name)
        return {d: mine.get(d, ZERO).max(theirs.get(d, ZERO)) for d in {**mine, **theirs}}

    def most(self) -> Sizes:
        """Return the most that there is on the tapes, beyond the snapshots of the first run."""
        sweeps = Sum.function("sweeps", *self.args)
        whole = self.tapes("tape", self.args)
        first = self.frame if self.first is None else self.first
        return {dtype: size - sweeps * first.get(dtype, ZERO) for dtype, size in whole.items()}

    def fullest(self) -> Sizes:
        """Return the most that there is on the tapes, however many iterations there are."""
        return self.tapes("fullest", self.args[1:])

    def tapes(self, kind: str, args: Sequence[Sum]) -> Sizes:
        found: Sizes = {}
        for dtype in {**self.frame, **self.step, **self.extra}:
            frame, step = self.frame.get(dtype, ZERO), self.step.get(dtype, ZERO)
            whole = Sum.function(kind, *args, frame, step)
            found[dtype] = whole + self.extra.get(dtype, ZERO)
        return found

    def needs(self, extra: Sizes) -> None:
        for dtype, size in extra.items():
            self.extra[dtype] = self.extra.get(dtype, ZERO).max(size)

    def pushes(self, trips: Sum, grown: Sizes) -> None:
        """Note what an iteration of a loop leaves on the tapes: a sweep, or the leaf."""
        if self.sweeps(trips):
            self.frame = grown
        else:
            self.step = grown

    def pops(self, trips: Sum, peaks: Sizes) -> Sizes:
        """Return the most that reverse code has on the tapes, of what one of its loops has."""
        if self.sweeps(trips):
            return self.most()
        self.needs(peaks)
        return peaks

    @staticmethod
    def sweeps(trips: Sum) -> bool:
        return "sweeps" in trips.kinds


@dataclass
class Need:
    """What a stretch of code needs beyond what there was when it began.

    `top` and `tapes` are in use at its end, `work`, `most` and `own` are the most in use.
    """

    top: Sum = ZERO
    work: Sum = ZERO
    tapes: Sizes = field(default_factory=dict)
    most: Sizes = field(default_factory=dict)
    own: Sum = ZERO
    # What was pushed and not yet popped, and how much was popped that lay there before.
    stack: list[Item] = field(default_factory=list)
    taken: list[Sizes] = field(default_factory=list)
    # What lay there before, as far as it is known.
    supply: list[Item] = field(default_factory=list)
    # What `work` is known to be at least: to compare long sums takes long.
    reached: Sum | None = None

    def reach(self, work: Sum) -> None:
        if work.terms:
            self.work = self.work.max(self.top + work)
        elif self.top is not self.reached:
            self.work, self.reached = self.work.max(self.top), self.top

    @property
    def newest(self) -> Item:
        """What would be popped next."""
        return next(reversed(self.stack or self.supply), Item({}))

    def pushed(self) -> Sizes:
        return added(item.sizes for item in self.stack)

    def add(self, popped: Sizes | None, pushed: Item | None, most: Sizes) -> None:
        """Add what pops something off the tapes, leaves something there, or neither.

        What is popped is what was pushed last, or `popped` if that lay there before.
        """
        for dtype, size in most.items():
            now = self.tapes.get(dtype, ZERO)
            self.most[dtype] = self.most.get(dtype, ZERO).max(now + size)
        if popped is not None:
            if self.stack:
                popped = self.stack.pop().sizes
            else:
                self.taken.append(popped)
                del self.supply[-1:]
            self._move(popped, -1)
        if pushed is not None:
            self.stack.append(pushed)
            self._move(pushed.sizes, 1)

    def _move(self, sizes: Sizes, sign: int) -> None:
        for dtype, size in sizes.items():
            self.tapes[dtype] = self.tapes.get(dtype, ZERO) + size * Sum.number(sign)

    def add_branch(self, cond: Sum, one: Need, other: Need, moves: tuple[bool, bool]) -> None:
        """Add what one of two arms needs; `moves` is whether any of them pops and pushes."""
        self.reach(either(cond, one.work, other.work))
        self.top = self.top + either(cond, one.top, other.top)
        self.own = self.own.max(either(cond, one.own, other.own))

        def both(a: Sizes, b: Sizes) -> Sizes:
            return {d: either(cond, a.get(d, ZERO), b.get(d, ZERO)) for d in {**a, **b}}

        pops, pushes = moves
        parts = () if pops else (tuple(one.stack), tuple(other.stack))
        pushed = Item(both(one.pushed(), other.pushed()), (), parts)
        self.add(
            both(added(one.taken), added(other.taken)) if one.taken or other.taken else None,
            pushed if pushes else None,
            both(one.most, other.most),
        )

    def add_loop(self, need: Need, rounds: Rounds, machine: Machine | None) -> bool:
        """Add what the iterations of a loop need, each of them `need`, but for arrays of their own.

        Return whether they may need less than that on the tapes.
        """
        most = rounds.most
        self.reach(most(need.work))
        popped = {d: rounds.total(size) for d, size in added(need.taken).items()}
        taken = popped if need.taken else None
        if not need.stack:  # the first iteration is the one that needs most, or all do alike
            peaks = {d: most(size) for d, size in need.most.items()}
            if machine is not None and need.taken:
                peaks = machine.pops(rounds.trips, peaks)
            self.add(taken, None, peaks)
            return False
        # The last one is.
        grown = need.pushed()
        extra = {d: size - grown.get(d, ZERO) for d, size in need.most.items()}
        if machine is not None:
            machine.pushes(rounds.trips, {d: most(size) for d, size in grown.items()})
            machine.needs({d: most(size) for d, size in extra.items()})
        sizes = {d: rounds.total(size) for d, size in grown.items()}
        peaks = {d: sizes.get(d, ZERO) + most(size) for d, size in extra.items()}
        kept = tuple(item.where(rounds.fixed, rounds.bound) for item in need.stack)
        self.add(taken, Item(sizes, (), () if need.taken else (kept,)), peaks)
        return any(
            bool(need.taken) or (extra[dtype] != ZERO and not rounds.fixed(size))
            for dtype, size in need.most.items()
        )


_Direction = tuple[bool, bool, frozenset[str]]


def _visit(
    name: str, functions: Mapping[str, Function], order: dict[str, None], entered: set[str]
) -> None:
    """Add a function to `order`, after those that it calls."""
    if name in order or name in entered:
        return
    entered.add(name)
    for stmt in walk(functions[name].body):
        if isinstance(stmt, Call) and stmt.callee in functions:
            _visit(stmt.callee, functions, order, entered)
    order[name] = None


class Directions:
    """Whether functions, under their names, pop and push, and the tapes that they use."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._found: dict[str, _Direction] = dict.fromkeys(functions, (False, False, frozenset()))
        # Callees first: what one that pops and pushes does is known when its callers are read.
        order: dict[str, None] = {}
        for name in functions:
            _visit(name, functions, order, set())
        before: object = None
        while before != self._found:
            before = dict(self._found)
            for name in order:
                fn = functions[name]
                pops, pushes, used = self._found[name]
                moves = self.moves(fn.body)
                self._found[name] = (pops or moves[0], pushes or moves[1], used | self._tapes(fn))

    def __getitem__(self, name: str) -> _Direction:
        return self._found[name]

    def _tapes(self, fn: Function) -> set[str]:
        used: set[str] = set()
        for stmt in walk(fn.body):
            if isinstance(stmt, Call):
                used |= self._found[stmt.callee][2]
            values = stmt.values if isinstance(stmt, Push) else ()
            for value in stmt.results if isinstance(stmt, Pop) else values:
                used.add(value.type.dtype)
                if isinstance(value.type, Array):
                    used.add("i64")
        return used

    def moves(self, stmts: Sequence[Stmt]) -> tuple[bool, bool]:
        """Return whether statements pop what lay there before, and whether they leave frames."""
        taken, stack = False, 0
        for stmt in stmts:
            pops, pushes = isinstance(stmt, Pop), isinstance(stmt, Push)
            if isinstance(stmt, Call):
                pops, pushes, _ = self._found[stmt.callee]
            for block in blocks(stmt):
                inner_pops, inner_pushes = self.moves(block.stmts)
                pops, pushes = pops or inner_pops, pushes or inner_pushes
            if pops and stack:
                stack -= 1
            elif pops:
                taken = True
            stack += pushes
        return taken, stack > 0
