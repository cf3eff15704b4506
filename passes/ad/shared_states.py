"""Recall the state of a loop once, where reverse code needs what an iteration began with and left.

What an iteration leaves is what the next one began with. Reverse iterations run from the last one
back: each hands the state that it recalls on to the one that runs next.

Before::

    %y.1.ct, … = reverse L %k.r carrying (%y.ct = %y.2.ct, …) {
      %t.r = recall %t                    # tanh, which the iteration left as %y.1
      %y.r = recall %y                    # what it began with
      …
      yield %x.ct …
    }

After::

    %y.2.r = recall %y.2                  # what the last one left
    %y.1.ct, …, %left.1 = reverse L %k.r carrying (%y.ct = %y.2.ct, …, %left = %y.2.r) {
      %y.r = recall %y
      …                                   # %left in place of %t.r
      yield %x.ct … %y.r
    }

Of the state of a recurrent network, one array is kept for each step in place of two, and no product
is computed again for what the activation gave. An array that an iteration leaves is followed where
one nest of loops stores all of its elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Gemm,
    Literal,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names, carried_yields, map_stmts, substitute_block

_Forward = For | While

# What costs more is kept rather than computed again.
_CHEAP = 1


def shared_states(fn: Function) -> Function:
    """Return `fn` with states of loops that reverse iterations hand on."""
    functions = {each.name: each for each in (*fn.callees, fn)}
    names = Names.of(fn)
    for each in fn.callees:
        names.add(Names.of(each))

    def one(each: Function) -> Function:
        if not any(isinstance(stmt, Reverse) for stmt in walk(each.body)):
            return each
        forward = each.body + (functions[each.mirror].body if each.mirror else ())
        sharing = _Sharing({s.label: s for s in walk(forward) if isinstance(s, _Forward)}, names)
        body = tuple(sharing.stmts(each.body))
        return replace(each, body=body) if sharing.done else each

    made, callees = one(fn), tuple(map(one, fn.callees))
    return fn if made is fn and callees == fn.callees else replace(made, callees=callees)


@dataclass
class _State:
    """A state that a loop carries: what an iteration begins with, and what it leaves.

    Attributes
    ----------
    begun, left, last : Value
        In the loop, and behind it.
    reads : set of Value
        What it begins with, elements of it, and what is easily computed from these alone.
    elements : dict of Value to tuple of Value
        What becomes an element of what it leaves, or is loaded from there: by which counters.
    """

    begun: Value
    left: Value
    last: Value
    reads: set[Value]
    elements: dict[Value, tuple[Value, ...]] = field(default_factory=dict)


def _states(loop: _Forward) -> Iterator[_State]:
    own = {v for stmt in loop.body.stmts for v in stmt.results}
    for begun, left, last in zip(loop.body.params, carried_yields(loop), loop.results, strict=True):
        if (
            left not in own
            or not (begun.type == left.type == last.type)
            or begun.type.kind in "biu"
        ):
            continue
        assert isinstance(left, Value)
        if _first(loop.body, left) == begun:
            continue  # `undo` restores the elements that are overwritten, in what was left
        state = _State(begun, left, last, {begun})
        counters = {s.index for s in walk(loop.body.stmts) if isinstance(s, For)}
        for stmt in walk(loop.body.stmts):
            match stmt:
                case Load(array=array) if array == begun:
                    state.reads.add(stmt.result)
                case Load(array=array, index=at) if array == left and counters.issuperset(at):
                    state.elements[stmt.result] = _values(at)
                case Apply(op=op, args=args) if op.cost <= _CHEAP:
                    if all(each in state.reads or isinstance(each, Literal) for each in args):
                        state.reads |= {*stmt.results}
        if isinstance(begun.type, Array):
            state.elements |= _stored(loop.body, left)
        yield state


def _first(body: Block, array: Operand) -> Operand:
    """Return the array whose elements are changed to make another one of it."""
    made = {value: stmt for stmt in body.stmts for value in stmt.results}
    while isinstance(array, Value):
        match made.get(array):
            case For(results=results, init=init):
                array = init[results.index(array)]
            case Store(array=before) | Gemm(array=before):
                array = before
            case _:
                break
    return array


def _stored(body: Block, array: Value) -> dict[Value, tuple[Value, ...]]:
    """Return the value that a nest of loops stores in the elements of an array, and its index."""
    counters: list[Value] = []
    start: Operand | None = None
    while True:
        made = next((stmt for stmt in body.stmts if array in stmt.results), None)
        match made:
            case For(results=results, body=inner):
                k = results.index(array)
                after = inner.yields[k]
                if (counters and made.init[k] != start) or not isinstance(after, Value):
                    return {}
                counters.append(made.index)
                body, array, start = inner, after, inner.params[k]
            case Store(array=before, index=at, value=Value() as value, accumulate=False):
                each_once = len(at) == len(counters) == len({*at}) and {*at} == {*counters}
                as_it_is = value.type.dtype == array.type.dtype
                return {value: _values(at)} if before == start and each_once and as_it_is else {}
            case _:
                return {}


def _values(index: tuple[Operand, ...]) -> tuple[Value, ...]:
    return tuple(each for each in index if isinstance(each, Value))


class _Sharing:
    def __init__(self, loops: Mapping[str, _Forward], names: Names) -> None:
        self.loops = loops
        self.names = names
        self.done = False

    def stmts(self, stmts: Sequence[Stmt]) -> Iterator[Stmt]:
        for stmt in stmts:
            made = map_stmts(stmt, self.stmts)
            loop = self.loops.get(made.loop) if isinstance(made, Reverse) else None
            if isinstance(made, Reverse) and loop is not None and not _is_once(loop):
                for state in _states(loop):
                    shared = _Handing(state, self.names).of(made)
                    if shared is not None:
                        last = shared.init[-1]
                        assert isinstance(last, Value)
                        yield Recall(last, state.last, made.loc)
                        made, self.done = shared, True
            yield made


def _is_once(loop: _Forward) -> bool:
    trips = loop.trips if isinstance(loop, For) else None
    return isinstance(trips, Literal) and int(trips.value) <= 1


class _Handing:
    """What becomes of a reverse loop whose iterations hand a state on."""

    def __init__(self, state: _State, names: Names) -> None:
        self.state = state
        self.names = names
        self.env: dict[Value, Operand] = {}
        self.given = self.value(state.left, "left")
        self.used = False

    def value(self, like: Value, what: str = "r") -> Value:
        return Value(self.names.fresh(f"{like.name}.{what}"), like.type)

    def of(self, stmt: Reverse) -> Reverse | None:
        """Return the loop; None if it does not need both what iterations begin with and leave."""
        state = self.state
        recalled = {s.value for s in walk(stmt.body.stmts) if isinstance(s, Recall)}
        if recalled.isdisjoint(state.reads):
            return None
        stmts = tuple(self.stmts(stmt.body.stmts))
        if not self.used:
            return None
        begun = self.value(state.begun)
        stmts = (*stmts, Recall(begun, state.begun, stmt.loc))
        body = Block((*stmt.body.params, self.given), stmts, (*stmt.body.yields, begun))
        return replace(
            stmt,
            results=(*stmt.results, self.value(state.left, "left")),
            init=(*stmt.init, self.value(state.last)),
            body=substitute_block(body, self.env),
        )

    def stmts(self, stmts: Sequence[Stmt]) -> Iterator[Stmt]:
        for stmt in stmts:
            if isinstance(stmt, Recall) and stmt.value == self.state.left:
                self.used = True
                self.env[stmt.result] = self.given
            elif isinstance(stmt, Recall) and stmt.value in self.state.elements:
                self.used = True
                index: list[Operand] = []
                for at in self.state.elements[stmt.value]:
                    index.append(again := self.value(at))
                    yield Recall(again, at, stmt.loc)
                yield Load(stmt.result, self.given, tuple(index), stmt.loc)
            else:
                yield map_stmts(stmt, self.stmts)


__all__ = ["shared_states"]
