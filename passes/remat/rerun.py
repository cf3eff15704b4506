"""Recompute loops and calls in checkpointed calls as a whole where single values cannot be.

`adc.checkpoint` says of all values inside of a call that they are recomputed. Most of them are, one
by one (`remat.choose`). A loop with loop-carried values has to be recomputed from its start, and
then stores what its reverse code needs; so does a recursive function.
Before::

    %u.9 = for L %i in 0 to %n carrying (%u = %u.0) { … }
    …
    %u.ct.9 = reverse L %i.r carrying (%u.ct = %u.ct.0) { … recall %t … }

After::

    %u.9 = for L %i in 0 to %n carrying (%u = %u.0) { … }
    …
    %n.r = recall %n
    %u.r = recall %u.0
    %u.ct.9 = call C0 f.L.again(%n.r, %u.r, %u.ct.0)

where ``f.L.again`` is a function of the loop and of its reverse code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.builder import Builder
from adc.ir.core import (
    Call,
    For,
    Function,
    Mark,
    Operand,
    Print,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.functions import without_prints
from adc.ir.walk import (
    Names,
    clone,
    defined,
    finds,
    map_functions,
    map_stmts,
    marked,
    recalling,
)
from adc.passes.loops.state import needed, outside
from adc.passes.remat.choose import Chooser
from adc.passes.remat.facts import Decisions, mark_of, needed_values, reverses
from adc.passes.remat.plan import KEPT

# What can be recomputed.
Recomputed = For | While | Call
# The suffix of the names of functions that recompute it.
_SUFFIX = ".again"


def rerun(fn: Function, costs: Costs = SHIPPED, *, offload: bool = False) -> Function:
    """Return `fn` with loops and calls recomputed in the reverse code of checkpointed calls."""
    if not any(value.mark is not None for each in (fn, *fn.callees) for value in defined(each)):
        return fn
    fn = _without_printing(_without_marks_where_found(fn))
    done: set[str] = set()
    while True:
        found = [
            (owner, stmt) for owner, stmt in _found(fn, costs, offload) if stmt.label not in done
        ]
        if not found:
            return fn
        for owner, stmt in found:
            done.add(stmt.label)
            fn = Rerun(fn, owner, stmt).run()


def recomputed(fn: Function) -> Iterator[tuple[str, Recomputed]]:
    """Yield the loops and calls that are recomputed, as reverse code has them.

    With the name of the loop or call: that of its function, and its label there.
    """
    for each in fn.callees:
        name = each.name.rstrip(".1")
        if name.endswith(_SUFFIX):
            stmt = next(stmt for stmt in each.body if isinstance(stmt, For | While | Call))
            yield name.removesuffix(_SUFFIX), stmt


def _found(fn: Function, costs: Costs, offload: bool) -> list[tuple[str, Recomputed]]:
    """Return the outermost loops, and the calls, that must be recomputed, by function."""
    found: dict[tuple[str, str], Recomputed] = {}
    reverse_of = {each.mirror: each for each in fn.callees if each.mirror}
    names = Names.of(fn)
    for each in (*fn.callees, fn):
        whole = each is fn or reverses(each)
        reverse = each if whole else reverse_of.get(each.name)
        if each.mirror or reverse is None:
            continue
        decisions = Decisions(each, whole, Forwarding(each))
        if not decisions.marks and not any(isinstance(s, Call) for s in walk(each.body)):
            continue
        mirrored = {s.mirror for s in walk(reverse.body) if isinstance(s, Call)}
        for stmt in walk(each.body):
            if isinstance(stmt, Call) and stmt.label in mirrored:
                if any(value.mark is not None for value in stmt.results):
                    found[each.name, stmt.label] = stmt
        chooser = Chooser(decisions, "auto", names, costs, offload=offload)
        chooser.run(needed_values(reverse.body, decisions, names))
        counted = {value: label for label, value in decisions.counters.items()}
        # Reverse code that directly follows its loop (`fuse_reverse`) finds all values there.
        near = {s.loop for s in _in_forward_loops(each.body)}
        for value, decision in decisions.made.items():
            region = counted.get(value) or decisions.sites[value].region
            if decision.kind != KEPT or chooser.legal(value):
                continue
            if value in counted or value in decisions.marks:
                label = _outermost(decisions, region)
                if label and label not in near:
                    found[each.name, label] = decisions.loops[label]
    return [(owner, stmt) for (owner, _), stmt in found.items()]


def _in_forward_loops(stmts: Sequence[Stmt], inside: bool = False) -> Iterable[Reverse]:
    for stmt in stmts:
        if isinstance(stmt, Reverse):
            if inside:
                yield stmt
            continue
        for block in blocks(stmt):
            yield from _in_forward_loops(block.stmts, inside or isinstance(stmt, For | While))


def _outermost(decisions: Decisions, region: str) -> str:
    """Return the outermost loop around a region that runs inside of a checkpointed call."""
    found = ""
    while region and mark_of(decisions.loops[region]) is not None:
        found, region = region, decisions.parents[region][0]
    return found


def _without_marks_where_found(fn: Function) -> Function:
    """Return `fn` without the marks in functions that find something outside, such as the time."""

    def plain(each: Function) -> Function:
        return replace(each, body=marked(each.body, lambda v: None)) if finds(each.body) else each

    return map_functions(fn, plain)


def _without_printing(fn: Function) -> Function:
    """Return `fn` without the marks of calls that print: these run once."""
    printing: set[str] = set()
    before = -1
    while before != (before := len(printing)):
        for each in fn.callees:
            for stmt in walk(each.body):
                if isinstance(stmt, Print) or (
                    isinstance(stmt, Call) and stmt.callee in printing and not stmt.mirror
                ):
                    printing.add(each.name)
    if not printing:
        return fn

    def quiet(each: Function) -> Function:
        gone = {
            value
            for stmt in walk(each.body)
            if any(isinstance(s, Call) and s.callee in printing for s in walk((stmt,)))
            for value in _marked_by(stmt)
        }
        return replace(each, body=marked(each.body, lambda v: None if v in gone else v.mark))

    return map_functions(fn, quiet)


def _marked_by(stmt: Stmt) -> tuple[Value, ...]:
    if isinstance(stmt, For):
        return (stmt.index, *stmt.results)
    return (*stmt.body.params, *stmt.results) if isinstance(stmt, While) else stmt.results


@dataclass
class Rerun:
    """Rewrites the reverse code of one loop or call of the function `owner`."""

    fn: Function
    owner: str
    stmt: Recomputed
    made: list[Function] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = Names.of(self.fn)
        for callee in self.fn.callees:
            self.names.add(Names.of(callee))
        self.region = mark_of(self.stmt)

    def run(self) -> Function:
        done = [
            replace(each, body=self.stmts(each.body))
            if (each.mirror or each.name) == self.owner
            else each
            for each in (*self.fn.callees, self.fn)
        ]
        return replace(done[-1], callees=(*done[:-1], *self.made))

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            match stmt, self.stmt:
                case Reverse(loop=loop), For(label=label) | While(label=label) if loop == label:
                    done += self.recomputed(stmt)
                case Call(mirror=mirror), Call(label=label) if mirror == label:
                    done += self.call_recomputed(stmt)
                case _:
                    done.append(map_stmts(stmt, self.stmts))
        return tuple(done)

    def recomputed(self, reverse: Reverse) -> list[Stmt]:
        """Return a call of a function of the loop and of `reverse`."""
        assert isinstance(self.stmt, For | While)
        forward, backward = needed(self.stmt, reverse)
        given, around = outside(forward, backward)
        trips = (forward.trips,) if isinstance(forward, For) else ()
        return self.moved(
            (forward, backward),
            _values((*forward.init, *trips, *given)),
            _values((*backward.init, *around)),
            reverse,
        )

    def call_recomputed(self, reverse: Call) -> list[Stmt]:
        """Return a call of a function that repeats the call, and then reverses it."""
        assert isinstance(self.stmt, Call)
        return self.moved(
            (self.stmt, reverse), _values(self.stmt.args), _values(reverse.args), reverse
        )

    def moved(
        self,
        stmts: tuple[Stmt, Stmt],
        forward: Sequence[Value],
        backward: Sequence[Value],
        reverse: Stmt,
    ) -> list[Stmt]:
        """Return reverse code with statements moved to a function of their own."""
        env: dict[Value, Operand] = {}
        params: list[Value] = []
        for value in (*forward, *backward):
            params.append(replace(self.names.value(value), mark=None))
            env[value] = params[-1]
        copies = clone([stmts[0], recalling(stmts[1], env)], env, self.names)
        body = marked(copies, self.stripped)
        name = f"{self.owner}.{self.stmt.label}{_SUFFIX}"
        while name in {each.name for each in (*self.fn.callees, *self.made, self.fn)}:
            name += ".1"
        self.made.append(without_prints(Function(name, tuple(params), body, body[1].results)))
        builder = Builder(self.names)
        builder.loc = reverse.loc
        recalled = [builder.recall(value) for value in forward]
        label = self.names.fresh(f"{self.stmt.label}.again")
        args = (*recalled, *backward)
        builder.emit(Call(reverse.results, label, name, args, "", reverse.loc))
        return builder.stmts

    def stripped(self, value: Value) -> Mark | None:
        """Return the mark of a value, unless its checkpointed call is recomputed."""
        mark = value.mark
        return None if mark == self.region else mark


def _values(found: Iterable[Operand]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(value for value in found if isinstance(value, Value)))


__all__ = ["Rerun", "recomputed", "rerun"]
