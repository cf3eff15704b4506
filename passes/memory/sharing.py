"""Decide which arrays may share memory, and where a copy must separate two of them.

`storage` lets all versions of an array live in one buffer. That is wrong if the buffer is written
while an older version, or another value in the same buffer, is still to be read. Such a conflict is
resolved by cutting one of the *edges* that made the values share: a store, the initial value or a
yield of a loop, a yield of an arm, an argument, a result. The edge that runs least often is cut,
and a copy is inserted there. This is repeated until no conflict is left, so the result is correct
whatever the choice of edges.

Whether two values may share is decided pair by pair, back along the definitions, until both are one
value (they share) or have different definitions (they do not). Pairs, rather than classes of
values, keep ``a, b = b, a`` in a loop free of copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from adc.ir.analysis.sizes.affine import Same
from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    Gemm,
    If,
    Operand,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    blocks,
    operands,
)
from adc.ir.errors import IRError, Span
from adc.ir.types import Array


@dataclass(frozen=True, slots=True)
class Edge:
    """A value flowing into a definition: `slot` of the statement with this id, by the `kind`."""

    kind: str  # "store" | "init" | "yield" | "then" | "else" | "argument" | "result"
    stmt: int
    slot: int = 0


@dataclass(frozen=True, slots=True)
class EdgeInfo:
    """The value that flows along an edge, its source location and its loop depth."""

    value: Value
    loc: Span | None
    depth: int
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What a call does to the buffers of its arguments, by positions.

    `returns` says which parameters each result may share with, `pairs` which results may share.
    """

    writes: frozenset[int]
    returns: tuple[frozenset[int], ...]
    pairs: frozenset[tuple[int, int]]

    def join(self, other: Summary) -> Summary:
        return Summary(
            self.writes | other.writes,
            tuple(a | b for a, b in zip(self.returns, other.returns, strict=True)),
            self.pairs | other.pairs,
        )


@dataclass(frozen=True, slots=True)
class _Definition:
    """The sources of a value: by name, an edge and the value that flows along it.

    Values of one `group` are defined together: at any time, all come from sources of one name.
    """

    order: int
    group: tuple[int, str]
    sources: dict[str, tuple[Edge, Value]] = field(default_factory=dict)
    slot: int = 0


@dataclass(frozen=True, slots=True)
class _Event:
    """A write in place: the array written, the arrays live afterwards, and the edge to cut."""

    written: Value
    live: frozenset[Value]
    edge: Edge


_Pair = tuple[Value, Value]


def _is_array(operand: Operand) -> bool:
    return isinstance(operand.type, Array)


def _arrays(found: Sequence[Operand]) -> Iterator[Value]:
    return (v for v in found if isinstance(v, Value) and isinstance(v.type, Array))


def contents(stmt: Stmt) -> set[Value]:
    """Return the arrays whose elements `stmt` itself may read; a size is none of them."""
    if isinstance(stmt, Apply) and stmt.op.asks_shape:
        return set()
    if isinstance(stmt, For | While | Reverse):
        return set()  # the body reads carried values where it needs them
    return set(_arrays(operands(stmt)))


class Sharing:
    """The edges of one function to cut; `reasons` says why."""

    def __init__(self, fn: Function, summaries: dict[str, Summary], *, main: bool) -> None:
        self._fn = fn
        self._main = main
        self._summaries = summaries
        self._places: dict[Edge, EdgeInfo] = {}
        self._definitions: dict[Value, _Definition] = {}
        self._calls: dict[int, Call] = {}
        self._events: list[_Event] = []
        self._outer_reads: dict[int, frozenset[Value]] = {}
        self._disjoint: set[_Pair] = set()
        self.cuts: set[Edge] = set()
        self.reasons: dict[Edge, str] = {}
        for param in _arrays(fn.params):
            self._define(param, 0, "parameter")
        self._scan(fn.body, 0, False)
        self._family = self._families()
        for slot, result in enumerate(fn.results):
            if isinstance(result, Value) and _is_array(result):
                self._places[Edge("result", id(fn), slot)] = EdgeInfo(result, None, 0)
        self._reads(fn.body)
        last = set(_arrays(fn.results))
        if main:
            last.update(_arrays(fn.params))  # the caller reads them afterwards
        self._liveness(fn.body, frozenset(last))
        self._solve()

    # -- definitions -----------------------------------------------------------------------

    def _define(self, value: Value, stmt: int, role: str, slot: int = 0) -> None:
        self._definitions[value] = _Definition(len(self._definitions), (stmt, role), slot=slot)

    def _add_source(
        self, value: Value, name: str, edge: Edge, source: Operand, place: EdgeInfo
    ) -> None:
        assert isinstance(source, Value)
        self._definitions[value].sources[name] = (edge, source)
        self._places[edge] = place

    def _scan(self, stmts: Sequence[Stmt], depth: int, arm: bool) -> None:
        for stmt in stmts:
            me = id(stmt)
            match stmt:
                case Store(array=array) | Gemm(array=array):
                    place = EdgeInfo(array, stmt.loc, depth, arm)
                    for result in stmt.results:
                        self._define(result, me, "store")
                        self._add_source(result, "store", Edge("store", me), array, place)
                case If(results=results, then=then, orelse=orelse):
                    self._scan(then.stmts, depth, True)
                    self._scan(orelse.stmts, depth, True)
                    for k, result in enumerate(results):
                        if not _is_array(result):
                            continue
                        self._define(result, me, "results", k)
                        for kind, block in (("then", then), ("else", orelse)):
                            source = block.yields[k]
                            assert isinstance(source, Value)
                            place = EdgeInfo(source, stmt.loc, depth, True)
                            self._add_source(result, kind, Edge(kind, me, k), source, place)
                case For() | While():
                    self._scan_loop(stmt, depth, arm)
                case Call(results=results, args=args):
                    self._calls[me] = stmt
                    for i, arg in enumerate(args):
                        if isinstance(arg, Value) and _is_array(arg):
                            self._places[Edge("argument", me, i)] = EdgeInfo(
                                arg, stmt.loc, depth, arm
                            )
                    for k, result in enumerate(results):
                        if _is_array(result):
                            self._define(result, me, "results", k)
                            for i in self._summaries[stmt.callee].returns[k]:
                                edge = Edge("argument", me, i)
                                self._add_source(result, f"{i}", edge, args[i], self._places[edge])
                case Reverse() | Write():
                    raise IRError("storage takes value form, after remat", stmt.loc)
                case _:
                    for result in _arrays(stmt.results):
                        self._define(result, me, "fresh")

    def _scan_loop(self, stmt: For | While, depth: int, arm: bool) -> None:
        me, first = id(stmt), int(isinstance(stmt, While))
        slots = [k for k, param in enumerate(stmt.body.params) if _is_array(param)]
        for k in slots:
            self._define(stmt.body.params[k], me, "params", k)
        self._scan(stmt.body.stmts, depth + 1, False)
        for k in slots:
            param, init, back = stmt.body.params[k], stmt.init[k], stmt.body.yields[k + first]
            assert isinstance(init, Value)
            assert isinstance(back, Value)
            entry, again = Edge("init", me, k), Edge("yield", me, k)
            into, around = EdgeInfo(init, stmt.loc, depth, arm), EdgeInfo(back, stmt.loc, depth + 1)
            self._define(stmt.results[k], me, "results", k)
            for value in (param, stmt.results[k]):
                self._add_source(value, "yield", again, back, around)
            self._add_source(param, "init", entry, init, into)
            if isinstance(stmt, For):  # which may run zero iterations
                self._add_source(stmt.results[k], "init", entry, init, into)

    def _families(self) -> dict[Value, int]:
        """Return a number for every value; values of different numbers never share.

        It is the same along all edges, cut or not, and for the results of a call.
        """
        same: Same[Value] = Same()
        calls: dict[int, Value] = {}
        for value, definition in self._definitions.items():
            for _, source in definition.sources.values():
                same.join(source, value)
            call = definition.group[0]
            if call in self._calls:
                same.join(calls.setdefault(call, value), value)
        numbers: dict[Value, int] = {}
        return {v: numbers.setdefault(same.find(v), len(numbers)) for v in self._definitions}

    # -- liveness --------------------------------------------------------------------------

    def _reads(self, stmts: Sequence[Stmt]) -> tuple[set[Value], set[Value]]:
        """Return the arrays that `stmts` read and define; remember them for loops."""
        reads: set[Value] = set()
        made: set[Value] = set()
        for stmt in stmts:
            reads |= contents(stmt)
            if isinstance(stmt, For | While):
                reads.update(_arrays(stmt.init))
            for block in blocks(stmt):
                inner, defined = self._reads(block.stmts)
                inner.update(_arrays(block.yields))
                defined.update(_arrays(block.params))
                outside = inner - defined
                if not isinstance(stmt, If):
                    self._outer_reads[id(stmt)] = frozenset(outside)
                reads |= outside
                made |= defined
            made.update(_arrays(stmt.results))
        return reads, made

    def _liveness(self, stmts: Sequence[Stmt], live: frozenset[Value]) -> frozenset[Value]:
        """Return the arrays live before `stmts`, given those live afterwards; collect writes."""
        for stmt in reversed(stmts):
            if not live.isdisjoint(stmt.results):
                live = live - set(stmt.results)
            match stmt:
                case Store(array=array):
                    self._events.append(_Event(array, live, Edge("store", id(stmt))))
                case Gemm(array=array, a=a, b=b):
                    # Operands are read while the result is written.
                    self._events.append(_Event(array, live | {a, b}, Edge("store", id(stmt))))
                case Call(callee=callee, args=args):
                    for i in self._summaries[callee].writes:
                        written = args[i]
                        assert isinstance(written, Value)
                        others = set(_arrays(args[:i] + args[i + 1 :]))
                        edge = Edge("argument", id(stmt), i)
                        self._events.append(_Event(written, live | others, edge))
                case If(then=then, orelse=orelse):
                    live = frozenset().union(
                        *(
                            self._liveness(arm.stmts, live | set(_arrays(arm.yields)))
                            for arm in (then, orelse)
                        )
                    )
                case For(init=init, body=body) | While(init=init, body=body):
                    # The next iteration reads the values from outside again.
                    again = live | self._outer_reads[id(stmt)]
                    inside = self._liveness(body.stmts, again | set(_arrays(body.yields)))
                    live = again | (inside - set(body.params)) | set(_arrays(init))
            read = contents(stmt)
            if not read <= live:
                live = live | read
        return live

    # -- do they share? --------------------------------------------------------------------

    def _steps(self, pair: _Pair) -> Iterator[tuple[_Pair, tuple[Edge, ...]]]:
        """Yield the pairs one definition back that make `pair` share, and the edges in between."""
        a, b = sorted(pair, key=lambda value: self._definitions[value].order)
        early, late = self._definitions[a], self._definitions[b]
        if early.group != late.group or early.group[1] in ("parameter", "fresh"):
            for edge, source in late.sources.values():
                if edge not in self.cuts:
                    yield (a, source), (edge,)
            return
        call = self._calls.get(early.group[0])
        for name, (edge, source) in early.sources.items():
            for other, (edge2, source2) in late.sources.items():
                if edge in self.cuts or edge2 in self.cuts or (call is None and name != other):
                    continue
                yield (source, source2), (edge, edge2)

    def path(self, a: Value, b: Value) -> list[Edge] | None:
        """Return the edges that make `a` and `b` share a buffer, None if they do not."""
        if self._family[a] != self._family[b]:
            return None
        start = (a, b)
        before: dict[_Pair, tuple[_Pair, tuple[Edge, ...]]] = {}
        seen = {start}
        todo = [start]
        for pair in todo:
            if pair[0] == pair[1] or self._joined(pair):
                found: list[Edge] = []
                while pair != start:
                    pair, edges = before[pair]
                    found[:0] = edges
                return found
            if pair in self._disjoint:
                continue
            for back, edges in self._steps(pair):
                if back not in seen:
                    seen.add(back)
                    before[back] = (pair, edges)
                    todo.append(back)
        self._disjoint |= seen  # cutting more edges never makes them share
        return None

    def _joined(self, pair: _Pair) -> bool:
        """Whether `pair` are two results of one call that the callee may put in one buffer."""
        a, b = (self._definitions[value] for value in pair)
        call = self._calls.get(a.group[0])
        if call is None or a.group != b.group:
            return False
        return tuple(sorted((a.slot, b.slot))) in self._summaries[call.callee].pairs

    # -- conflicts -------------------------------------------------------------------------

    def _conflict(self, event: _Event) -> tuple[list[Edge], Value] | None:
        if event.written in event.live:  # the cheap test first: only a copy here helps
            return [], event.written
        family = self._family[event.written]
        near = [value for value in event.live if self._family[value] == family]
        for value in sorted(near, key=lambda v: self._definitions[v].order):
            edges = self.path(event.written, value)
            if edges is not None:
                return edges, value
        return None

    def _cost(self, edge: Edge) -> tuple[int, bool]:
        place = self._places[edge]
        return place.depth, not place.conditional

    def _solve(self) -> None:
        for event in reversed(self._events):
            while event.edge not in self.cuts and (found := self._conflict(event)) is not None:
                edges, value = found
                best = min([*edges, event.edge], key=self._cost)
                self.cuts.add(best)
                self.reasons[best] = (
                    f"%{value.name} is owned by the caller"
                    if self._main and value in self._fn.params
                    else f"%{value.name} is read later"
                )
        if self._main:
            self._free_results()

    def _free_results(self) -> None:
        """Give every result of the main function a buffer of its own."""
        given: list[Value] = []
        for slot, result in enumerate(self._fn.results):
            if not isinstance(result, Value) or not _is_array(result):
                continue
            edge = Edge("result", id(self._fn), slot)
            if any(self.path(result, param) is not None for param in _arrays(self._fn.params)):
                self.cuts.add(edge)
                self.reasons[edge] = f"%{result.name} is owned by the caller"
            elif any(self.path(result, other) is not None for other in given):
                self.cuts.add(edge)
                self.reasons[edge] = f"%{result.name} is returned twice"
            else:
                given.append(result)

    def place(self, edge: Edge) -> EdgeInfo:
        return self._places[edge]

    def summary(self) -> Summary:
        """Return the effect of a call of the function, as far as its own callees are known."""
        if self._main:
            return no_summary(self._fn)
        params = [(i, p) for i, p in enumerate(self._fn.params) if _is_array(p)]
        results = [
            (k, r) for k, r in enumerate(self._fn.results) if isinstance(r, Value) and _is_array(r)
        ]
        written = [event.written for event in self._events if event.edge not in self.cuts]
        writes = {i for i, p in params if any(self.path(p, v) is not None for v in written)}
        returns: list[frozenset[int]] = [frozenset()] * len(self._fn.results)
        for k, r in results:
            returns[k] = frozenset(i for i, p in params if self.path(r, p) is not None)
        pairs = {
            (k, m) for k, r in results for m, s in results if k < m and self.path(r, s) is not None
        }
        return Summary(frozenset(writes), tuple(returns), frozenset(pairs))


def no_summary(fn: Function) -> Summary:
    """Return the summary of a function that writes no argument and returns none."""
    return Summary(frozenset(), (frozenset(),) * len(fn.results), frozenset())


def share(fn: Function) -> dict[str, Sharing]:
    """Return the cuts of `fn` and of its callees, by name."""
    functions = (*fn.callees, fn)
    summaries = {each.name: no_summary(each) for each in functions}
    while True:
        found = {
            each.name: Sharing(each, summaries, main=each.name == fn.name) for each in functions
        }
        joined = {name: summaries[name].join(each.summary()) for name, each in found.items()}
        if joined == summaries:
            return found
        summaries = joined
