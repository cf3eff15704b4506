"""Checkpoint loops of unknown trip count online, while they run.

While the loop runs, states are stored in a fixed number of slots: `place` (`ir.schedule`) decides
before every iteration, or every few, whether the state is stored, and in which slot. When reverse
code reaches the loop, the states delimit segments of known length, each of which is reversed like a
counted loop (`checkpoint`)::

    %r.9 = while L carrying (%r = %r.0) { … }
    …
    %r.ct.9 = reverse L %i carrying (%r.ct = %r.ct.0) { … recall %t … }

becomes ::

    %n, %count, %steps, %queue, %kept, %r.9 = while L.run
        carrying (%t = 0, %count.1 = 0, %steps.1 = …, %queue.1 = …, %kept.1 = …, %r = %r.0) {
      %slot, %steps.2, %queue.2 = call C0 placed(%t, %count.1, %steps.1, %queue.1)
      %kept.2 = if … { store %kept.1[%slot] %r } …
      …
    }
    …
    %r.ct.9 = for L.segments %m in 0 to %count carrying (%r.ct = %r.ct.0) {
      …
      %r.1 = load %kept[%slot.1]
      %r.ct.1 = call C1 f.L(%length, %first, %room, %r.1, %r.ct)
      yield %r.ct.1
    }
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Block,
    Call,
    For,
    Function,
    Literal,
    Operand,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.functions import reached
from adc.ir.library import schedules
from adc.ir.sums import summed
from adc.ir.types import Array, Scalar
from adc.ir.walk import Names, loop_values
from adc.passes.remat.checkpoint import Checkpointing, Loops, Site, reverses_of
from adc.passes.remat.record import Recording, copied, loaded, recordable

PLACED = "adc.placed"
_NOTHING = Literal(0, Scalar("i64"))


def can_checkpoint_online(fn: Function, owner: str, loop: While) -> bool:
    """Whether the states of a loop can be stored in slots: arrays must keep their sizes."""
    reverses = reverses_of(fn, owner, loop.label)
    if len(reverses) != 1 or summed(reverses[0]):
        return False
    if recordable(fn, owner, loop) != {}:
        return False  # how many iterations there will be is not known
    home = next(each for each in (*fn.callees, fn) if each.name == owner)
    shapes = Shapes(home, Names.of(home))
    inner = loop_values(loop)
    for param in loop.body.params:
        if isinstance(param.type, Array):
            sizes = shapes.known(param)
            if sizes is None or any(size in inner for size in sizes):
                return False
    return True


class Online(Checkpointing):
    """Stores states of one loop in slots."""

    tells_trips = False
    online: While

    def run(self) -> Function:
        functions = (*self.fn.callees, self.fn)
        (home,) = (each for each in functions if each.name == self.owner)
        (self.online,) = (
            s for s in walk(home.body) if isinstance(s, While) and s.label == self.label
        )
        (reverse,) = reverses_of(self.fn, self.owner, self.label)
        loop = self.counted(self.online)
        self.name_callee()
        # What is printed was printed when the loop ran.
        recording = Recording(self.fn, self.names, self.online, {})
        recompute, inner = self.recompute_function(recording.repeated(loop), reverse)
        self.state = [loop.body.params.index(param) for param in self.needed.body.params]
        outer = Site(loop, reverse, integer(0), None, integer(self.schedule.room), *self.outside)
        forward, backward = self.running(), self.segments(outer)
        done = self.replaced(functions, ((self.online, forward), (reverse, backward)))
        self.state = list(range(len(inner.loop.body.params)))
        known = {each.name for each in functions}
        library = tuple(each for each in schedules().values() if each.name not in known)
        callees = (*library, *done[:-1], *self.split((recompute,), inner))
        return reached(replace(done[-1], callees=callees))

    def counted(self, loop: While) -> For:
        """Return the loop as one of known trip count."""
        body = replace(loop.body, yields=loop.body.yields[1:])
        index = self.value("index")
        return For(loop.results, loop.label, index, integer(0), loop.init, body, False, loop.loc)

    # -- while the loop runs -------------------------------------------------------------------

    def running(self) -> list[Stmt]:
        loop, slots = self.online, integer(self.schedule.slots)
        builder = Builder(self.names)
        builder.loc = loop.loc
        zero = integer(0)
        books = [
            builder.apply("full", _NOTHING, slots, params=("i64",), hint=name)
            for name in ("steps", "queue")
        ]
        places = [self.slots(builder, loop.init[k], slots) for k in self.state]
        own = [self.names.value(each) for each in (*books, *places)]
        t, count = self.value("t"), self.value("count")
        states = [loop.body.params[k] for k in self.state]
        with builder.block() as stmts:
            kept = self.keep(builder, t, count, own, states)
            following = builder.apply("add", t, integer(1), hint="t")
        body = Block(
            (t, count, *own, *loop.body.params),
            (*stmts, *loop.body.stmts),
            (loop.body.yields[0], following, *kept, *loop.body.yields[1:]),
        )
        self.trips, self.count = self.value(f"{loop.label}.n"), self.value("count")
        self.kept = [self.names.value(each) for each in own]
        label = self.names.fresh(f"{loop.label}.run")
        init = (zero, zero, *books, *places, *loop.init)
        results = (self.trips, self.count, *self.kept, *loop.results)
        builder.emit(While(results, label, init, body, loop.loc))
        return builder.stmts

    def slots(self, builder: Builder, start: Operand, slots: Operand) -> Value:
        """Return an array for so many values like `start`."""
        dims: list[Operand] = [slots]
        if isinstance(start.type, Array):
            axes = range(start.type.rank)
            dims += [builder.apply("dim", start, params=(axis,), hint="size") for axis in axes]
        return builder.apply("empty", *dims, params=(start.type.dtype,), hint="kept")

    def keep(
        self, builder: Builder, t: Value, count: Value, own: list[Value], states: list[Value]
    ) -> list[Operand]:
        """Store the state if it is time to; return the count, the bookkeeping and the slots."""
        unit = integer(self.schedule.unit)
        number = builder.apply("floordiv", t, unit, hint="number")
        due = builder.apply("eq", builder.apply("mul", number, unit), t, hint="due")
        with builder.block() as then:
            place = schedules()[PLACED]
            results = tuple(
                Value(self.names.fresh(result.name), result.type)  # type: ignore[union-attr]
                for result in place.results
            )
            args = (number, count, own[0], own[1])
            builder.emit(Call(results, self.names.fresh("C"), PLACED, args, "", builder.loc))
            slot, *books = results
            more = builder.apply("add", slot, integer(1), hint="count")
            now = builder.apply("maximum", count, more, hint="count")
            stored = builder.apply("ge", slot, integer(0), hint="stored")
            with builder.block() as inner:
                copies = [
                    copied(builder, state, place, (), (slot,), f"{self.label}.copy")
                    for state, place in zip(states, own[2:], strict=True)
                ]
            blocks = (Block((), tuple(inner), tuple(copies)), Block((), (), tuple(own[2:])))
            places = builder.if_(stored, *blocks, [each.name for each in own[2:]])
        yields = ((now, *books, *places), (count, *own))
        hints = ["count", *(each.name for each in own)]
        found = builder.if_(due, Block((), tuple(then), yields[0]), Block((), (), yields[1]), hints)
        return list(found)

    # -- the reverse code ----------------------------------------------------------------------

    def segments(self, site: Site) -> list[Stmt]:
        reverse = site.reverse
        builder = Builder(self.names)
        builder.loc = reverse.loc
        trips, count, steps, queue, *places = [
            builder.recall(value) for value in (self.trips, self.count, *self.kept)
        ]
        given = [builder.recall(value) for value in site.given]
        unit = integer(self.schedule.unit)
        cts = tuple(self.names.value(param) for param in reverse.body.params)
        after = tuple(self.names.value(param) for param in reverse.body.params)
        m = self.value("m")

        def slot_of(k: Operand) -> Value:
            # The first slot is that of the first state.
            later = builder.apply("lt", integer(0), k, hint="later")
            with builder.block() as then:
                slot = builder.load(queue, (k,))
            blocks = Block((), tuple(then), (slot,)), Block((), (), (_NOTHING,))
            return builder.if_(later, *blocks, ["slot"])[0]

        with builder.block() as stmts:
            last = builder.apply("sub", count, integer(1), hint="last")
            k = builder.apply("sub", last, m, hint="k")
            slot = slot_of(k)
            first = builder.apply("mul", builder.load(steps, (slot,)), unit, hint="first")
            more = builder.apply("lt", k, last, hint="more")
            with builder.block() as then:
                nearest = slot_of(builder.apply("add", k, integer(1)))
                end = builder.apply("mul", builder.load(steps, (nearest,)), unit)
            arms = Block((), tuple(then), (end,)), Block((), (), (trips,))
            (stop,) = builder.if_(more, *arms, ["stop"])
            length = builder.apply("sub", stop, first, hint="steps")
            room: Operand = site.room
            if self.schedule.state == 1:  # slots, of which earlier ones are in use
                room = builder.apply("sub", room, k, hint="room")
            state = [loaded(builder, place, slot, f"{self.label}.copy") for place in places]
            args = (length, first, room, *state, *given, *site.around, *cts)
            label = self.names.fresh(f"{self.label}.again")
            builder.emit(Call(after, label, self.callee, args, "", reverse.loc))
        body = Block(cts, tuple(stmts), after)
        label = self.names.fresh(f"{self.label}.segments")
        builder.emit(For(reverse.results, label, m, count, reverse.init, body, False, reverse.loc))
        return builder.stmts


def checkpoint(fn: Function, loops: Loops) -> Function:
    """Return `fn`, with Recalls, with some of its loops checkpointed.

    `loops` are named by function and label; inner ones come first. They `can_checkpoint`, or
    `can_checkpoint_online`.
    """
    for (owner, label), schedule in loops.items():
        rewriting = Online if schedule.slots else Checkpointing
        fn = rewriting(fn, owner, label, schedule).run()
    return fn
