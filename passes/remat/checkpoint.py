"""Checkpoint loops: store a few states of a loop, and recompute its iterations from them.

The reverse code of a loop needs values of every iteration; stored for all of them at once they may
exceed the memory. Here the loop is run in *sweeps*: each stores the carried values it begins with
(a snapshot) and advances by some iterations that store nothing, as many as `split` says
(`ir.schedule`); the last iterations, the *leaf*, store what reverse code needs, as usual.
Before::

    %u.9 = for L %i in 0 to %n carrying (%u = %u.0) { … }
    …
    %u.ct.9 = reverse L %i.r carrying (%u.ct = %u.ct.0) { … recall %t … }

After::

    %count = sweeps %n ROOM %state %tape MOST
    %a.9, %u.8 = for L.sweep %j in 0 to %count carrying (%a = 0, %u.1 = %u.0) {
      …
      %steps = split %left %room %state %tape MOST
      %u.2 = for L.ahead %q in 0 to %steps carrying (%u.3 = %u.1) { … }
      %a.1 = add %a %steps
      yield %a.1 %u.2
    }
    %left.1 = rest %n ROOM %state %tape MOST
    %start = offset %a.9 %n
    %u.9 = for L %q.1 in 0 to %left.1 carrying (%u = %u.8) { %i = add %start %q.1 … }
    …
    %start.r = offset %a.9 %n
    %u.ct.8 = reverse L %q.r carrying (%u.ct = %u.ct.0) { %i.r = add %start.r %q.r … recall %t … }
    %u.ct.9 = reverse L.sweep %j.r carrying (%u.ct.1 = %u.ct.8) {
      %u.r = recall %u.1
      …
      %u.ct.2 = call C0 f.L(%steps.r, %a.r, %n, %room.r, …, %u.r, %u.ct.1)
      yield %u.ct.2
    }

The function ``f.L`` reverses that many iterations from a snapshot. It has the same structure, with
the memory that is left, and calls itself: treeverse (A. Griewank, "Achieving logarithmic growth of
temporal and spatial complexity in reverse automatic differentiation", Optimization Methods and
Software 1, 1992). All this is ordinary forward and reverse code: what a snapshot and a leaf store
is decided by `remat` like everything else, and inner loops may be checkpointed in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.sums import summed
from adc.ir.types import INT, Array
from adc.ir.walk import Names, clone, map_stmts, recalling
from adc.passes.loops.state import needed, outside
from adc.passes.remat.record import Recording, recordable


@dataclass(frozen=True)
class Schedule:
    """How many bytes a checkpointed loop may hold, and how.

    Attributes
    ----------
    room : int
        Bytes for snapshots and for the values that a leaf stores.
    tape : int
        Bytes that one iteration of a leaf stores.
    most : int
        The most iterations of a leaf; 0 for no limit.
    state : int
        Bytes of a snapshot; 0 for the size of the carried values, determined at run time.
    slots, unit : int
        Of a `while` loop: how many states are stored while it runs (`online`), and after how many
        iterations one may be.
    """

    room: int
    tape: int
    most: int = 0
    state: int = 0
    slots: int = 0
    unit: int = 1


Loops = Mapping[tuple[str, str], Schedule]


def can_checkpoint(fn: Function, owner: str, loop: For) -> bool:
    """Whether a loop can be run in parts.

    Splitting changes sums in lanes, and a loop that is reversed in two places would have to be
    checkpointed twice. What an iteration finds outside must be recorded (`record`): it may be
    another thing when the iteration is computed again.
    """
    reverses = reverses_of(fn, owner, loop.label)
    if len(reverses) != 1 or loop.down or summed(loop) or summed(reverses[0]):
        return False
    return recordable(fn, owner, loop) is not None


def reverses_of(fn: Function, owner: str, label: str) -> list[Reverse]:
    return [
        stmt
        for each in (*fn.callees, fn)
        if owner == (each.mirror or each.name)
        for stmt in walk(each.body)
        if isinstance(stmt, Reverse) and stmt.loop == label
    ]


@dataclass(frozen=True)
class Site:
    """A loop and its reverse code, in the function that holds them.

    Its iterations are those after the `first` ones of the `whole` loop, if it is known how many
    that has. `given` are the forward values from outside that its iterations need, `around` the
    values that the reverse code reads.
    """

    loop: For
    reverse: Reverse
    first: Operand
    whole: Operand | None
    room: Operand
    given: tuple[Value, ...]
    around: tuple[Value, ...]


class Checkpointing:
    """Rewrites one loop.

    `tells_trips`: whether it is known, when the loop begins, how many iterations it has.
    """

    tells_trips = True

    def __init__(self, fn: Function, owner: str, label: str, schedule: Schedule) -> None:
        self.fn = fn
        self.owner = owner
        self.label = label
        self.schedule = schedule
        self.names = Names.of(fn)
        for callee in fn.callees:
            self.names.add(Names.of(callee))

    def run(self) -> Function:
        functions = (*self.fn.callees, self.fn)
        (home,) = (each for each in functions if each.name == self.owner)
        (loop,) = (s for s in walk(home.body) if isinstance(s, For) and s.label == self.label)
        (reverse,) = reverses_of(self.fn, self.owner, self.label)
        self.name_callee()
        results = recordable(self.fn, self.owner, loop)
        assert results is not None
        recording = Recording(self.fn, self.names, loop, results)
        recompute, inner = self.recompute_function(recording.repeated(loop), reverse)
        # The carried values that the iterations need, by position: a snapshot stores those.
        self.state = [loop.body.params.index(param) for param in self.needed.body.params]
        before, recorded = recording.recorded(self.outside[0])
        builder = Builder(self.names)
        builder.loc = loop.loc
        trips = recorded.trips
        if trips.type != INT:
            trips = builder.apply("cast", trips, params=("int",), hint="trips")
        recorded = replace(recorded, trips=trips)
        room = integer(self.schedule.room)
        outer = Site(recorded, reverse, integer(0), trips, room, *self.outside)
        forward = [*before, *builder.stmts, *self.forward(outer)]
        done = self.replaced(functions, ((loop, forward), (reverse, self.backward(outer))))
        self.state = list(range(len(inner.loop.body.params)))
        return replace(done[-1], callees=(*done[:-1], *self.split((recompute,), inner)))

    def name_callee(self) -> None:
        """Name the function that recomputes iterations after the loop."""
        self.callee = f"{self.owner}.{self.label}"
        while self.callee in {each.name for each in (*self.fn.callees, self.fn)}:
            self.callee += ".1"

    def value(self, hint: str) -> Value:
        return Value(self.names.fresh(hint), INT)

    # -- the function that recomputes iterations -----------------------------------------------

    def recompute_function(self, loop: For, reverse: Reverse) -> tuple[Function, Site]:
        """Return a function of the loop, reduced to what `reverse` needs, and of `reverse`."""
        forward, reverse = needed(loop, reverse)
        assert isinstance(forward, For)
        self.needed = forward
        self.outside = outside(forward, reverse)
        env: dict[Value, Operand] = {}
        # Sizes that the function needs are computed from these arrays.
        sizes = self.sizes(self.outside[0], {v for values in self.outside for v in values})
        given, around = ([v for v in each if v not in sizes] for each in self.outside)
        self.outside = tuple(given), tuple(around)
        own: list[list[Value]] = []
        for values in self.outside:
            own.append([self.names.value(value) for value in values])
            env.update(zip(values, own[-1], strict=True))
        dims = clone(sizes.values(), env, self.names)
        state = [self.names.value(param) for param in forward.body.params]
        cts = [self.names.value(param) for param in reverse.body.params]
        steps, first, room = map(self.value, ("steps", "first", "room"))
        whole = self.value("trips") if self.tells_trips else None
        known = () if whole is None else (whole,)
        stmts = clone(
            [
                replace(forward, trips=steps, init=tuple(state)),
                recalling(replace(reverse, init=tuple(cts)), env),
            ],
            env,
            self.names,
        )
        params = (steps, first, *known, room, *state, *own[0], *own[1], *cts)
        mine, back = stmts
        assert isinstance(mine, For)
        assert isinstance(back, Reverse)
        site = Site(mine, back, first, whole, room, tuple(own[0]), tuple(own[1]))
        return Function(self.callee, params, (*dims, mine, back), back.results), site

    def sizes(self, given: Sequence[Value], wanted: set[Value]) -> dict[Value, Stmt]:
        """Return the statements that compute values as sizes of arrays that are parameters."""
        stmts = [s for each in (*self.fn.callees, self.fn) for s in walk(each.body)]
        dims = {
            s.result: s
            for s in stmts
            if isinstance(s, Apply) and s.op.asks_shape and s.args[0] in given
        }
        # Reverse code recalls them.
        recalled = {s.result: s.value for s in stmts if isinstance(s, Recall) and s.value in dims}
        found: dict[Value, Stmt] = {}
        for value in sorted(wanted, key=lambda each: each.name):
            size = dims.get(recalled.get(value, value))
            if size is not None:
                found[value] = replace(size, results=(value,))
        return found

    # -- sweeps and leaf -----------------------------------------------------------------------

    def split(self, functions: Sequence[Function], site: Site) -> list[Function]:
        """Return the functions with the loop and its reverse code in sweeps."""
        forward = self.forward(site)
        return self.replaced(functions, ((site.loop, forward), (site.reverse, self.backward(site))))

    def replaced(
        self, functions: Sequence[Function], pairs: Sequence[tuple[Stmt, Sequence[Stmt]]]
    ) -> list[Function]:
        """Return functions with some statements replaced."""

        def stmts(found: Sequence[Stmt]) -> tuple[Stmt, ...]:
            done: list[Stmt] = []
            for stmt in found:
                new = next((new for old, new in pairs if old is stmt), None)
                done += (map_stmts(stmt, stmts),) if new is None else new
            return tuple(done)

        return [replace(each, body=stmts(each.body)) for each in functions]

    def forward(self, site: Site) -> list[Stmt]:
        loop = site.loop
        builder = Builder(self.names)
        builder.loc = loop.loc
        trips = loop.trips
        state = self.bytes(builder, loop)
        tape, most = integer(self.schedule.tape), integer(self.schedule.most)
        count = builder.apply("sweeps", trips, site.room, state, tape, most, hint="sweeps")
        carried = [self.names.value(param) for param in loop.body.params]
        self.sweep = self.names.fresh(f"{loop.label}.sweep")
        self.index, self.done = self.value("j"), self.value("done")
        with builder.block() as stmts:
            left = builder.apply("sub", trips, self.done, hint="left")
            held = builder.apply("mul", self.index, state, hint="held")
            self.free = builder.apply("sub", site.room, held, hint="room")
            self.taken = builder.apply("split", left, self.free, state, tape, most, hint="steps")
            (ahead,) = clone(
                [replace(loop, trips=self.taken, init=tuple(carried))], {}, self.names, ".ahead"
            )
            assert isinstance(ahead, For)
            self.shifted(builder, ahead, site, self.done)
            after = builder.apply("add", self.done, self.taken, hint="done")
        body = Block((self.done, *carried), tuple(stmts), (after, *ahead.results))
        self.ended = self.value("done")
        results = tuple(self.names.value(result) for result in loop.results)
        init = (integer(0), *loop.init)
        builder.emit(
            For((self.ended, *results), self.sweep, self.index, count, init, body, False, loop.loc)
        )
        left = builder.apply("rest", trips, site.room, state, tape, most, hint="left")
        leaf = replace(loop, trips=left, init=results)
        self.shifted(builder, leaf, site, self.ended)
        self.snapshot = [carried[k] for k in self.state]
        return builder.stmts

    def bytes(self, builder: Builder, loop: For) -> Operand:
        """Return the bytes of a snapshot."""
        if self.schedule.state:
            return integer(self.schedule.state)
        total: Operand = integer(0)
        fixed = 0
        for k in self.state:
            start = loop.init[k]
            size = start.type.numpy.itemsize
            if not isinstance(start.type, Array):
                fixed += size
                continue
            fixed += 8 * start.type.rank
            product: Operand = integer(size)
            for axis in range(start.type.rank):
                dim = builder.apply("dim", start, params=(axis,), hint=f"{start}.dim{axis}"[1:])
                product = builder.apply("mul", product, dim, hint="size")
            total = builder.apply("add", total, product, hint="state")
        return builder.apply("add", total, integer(max(fixed, 1)), hint="state")

    def shifted(self, builder: Builder, loop: For, site: Site, done: Operand) -> None:
        """Emit a loop whose iterations come after those before the site and `done` others."""
        start = self.start(builder, site, done, site.whole)
        count = self.value(loop.index.name)
        stmts = (self.place(builder, start, count, loop.index), *loop.body.stmts)
        builder.emit(replace(loop, index=count, body=replace(loop.body, stmts=stmts)))

    def start(self, builder: Builder, site: Site, done: Operand, whole: Operand | None) -> Operand:
        """Return how many iterations of the whole loop come first."""
        start = builder.apply("add", site.first, done, hint="start")
        return start if whole is None else builder.apply("offset", start, whole, hint="start")

    def place(self, builder: Builder, start: Operand, count: Value, index: Value) -> Stmt:
        """Return the statement that computes `index`, that of the whole loop."""
        return Apply((index,), OPS["add"], (start, count), (), builder.loc)

    def backward(self, site: Site) -> list[Stmt]:
        """Return the reverse code of the leaf, and that of the sweeps, after `forward`."""
        reverse = site.reverse
        builder = Builder(self.names)
        builder.loc = reverse.loc
        between = tuple(self.names.value(result) for result in reverse.results)
        whole = site.whole
        if isinstance(whole, Value):
            whole = builder.recall(whole)
        start = self.start(builder, site, builder.recall(self.ended), whole)
        count = self.value(reverse.index.name)
        stmts = [self.place(builder, start, count, reverse.index), *reverse.body.stmts]
        body = replace(reverse.body, stmts=tuple(stmts))
        builder.emit(replace(reverse, results=between, index=count, body=body))
        cts = tuple(self.names.value(param) for param in reverse.body.params)
        after = tuple(self.names.value(param) for param in reverse.body.params)
        with builder.block() as stmts:
            steps, room = builder.recall(self.taken), builder.recall(self.free)
            first = builder.apply("add", site.first, builder.recall(self.done), hint="first")
            recalled = [builder.recall(value) for value in (*self.snapshot, *site.given)]
            known = () if whole is None else (whole,)
            args = (steps, first, *known, room, *recalled, *site.around, *cts)
            label = self.names.fresh(f"{site.loop.label}.again")
            builder.emit(Call(after, label, self.callee, args, "", reverse.loc))
        body = Block(cts, tuple(stmts), after)
        index = self.value(self.index.name)
        builder.emit(Reverse(reverse.results, self.sweep, index, between, body, reverse.loc))
        return builder.stmts
