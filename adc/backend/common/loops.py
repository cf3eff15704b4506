"""Loops: what they carry, sums in lanes, and looks for signals.

A loop that adds to lanes becomes one over blocks, with a lane for each iteration of a block; where
it is cheap, another one for few iterations stands before it::

    for i_block in range(0, n, LANES):
        for i in range(i_block, min(i_block + LANES, n)):
            s_lanes[unsigned(i - i_block)] += x[unsigned(i)]
    s = s + total(s_lanes, min(n, LANES))

Compiled code must notice Ctrl-C. It counts down what it does and then looks for signals (`poll`):
in every iteration that holds neither a loop nor a call that does, before a short inner loop,
and after every strip of a long one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from adc.backend.common import syntax
from adc.backend.common.expressions import (
    dtype_of,
    is_atomic,
    literal,
    product,
    state,
    total,
)
from adc.backend.common.syntax import (
    STATE,
    Binary,
    Break,
    Call,
    Constant,
    Expr,
    Forever,
    Global,
    Name,
    Pass,
    Return,
    Tuple,
    Unary,
    Unpack,
)
from adc.backend.common.tape_io import Traffic
from adc.backend.common.writer import FAILED, SOME, Shared
from adc.ir import core, ops
from adc.ir.analysis.memory.escape import dead_after_yield
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    walk,
)
from adc.ir.ops import arith
from adc.ir.sums import LANES, SHORT, summed
from adc.ir.types import BOOL, U64, Array, Type
from adc.ir.walk import inner_values

# Iterations of a loop at the top between two looks for signals.
STRIP = 1 << 16
# An iteration whose operations cost more than this (an addition is 1) is not cheap.
LONG = 60.0
# Statements that may take long; a product counts down by itself what it takes (`gemm`).
_BUSY = (For, While, core.Call, Gemm)
# Iterations of loops in another one, or in each other, that are over soon.
_FEW = 64
# A loop that costs no more is written twice where it adds to lanes: for few iterations, and many.
LEAN = 30.0
# Rows that make sizes of sizes.
_SIZES = frozenset(
    (
        arith.add, arith.sub, arith.maximum, arith.floordiv, ops.integer.wrap,
        ops.integer.trips, arith.absolute, arith.neg,
    )
)  # fmt: skip


_LANES, _STRIP = Global("LANES"), Global("STRIP")


def minus_one(count: Expr) -> Expr:
    match count:
        case Constant(int(number)) if number >= 0:
            return Constant(number - 1)
    return Binary("-", count, Constant(1))


def _positions(loop: For) -> int:
    """Return how often the counter of a loop stands as an index in its body."""
    return sum(
        stmt.index.count(loop.index)
        for stmt in walk(loop.body.stmts)
        if isinstance(stmt, Load | Write)
    )


def _iterations(stmts: Sequence[Stmt], origins: Mapping[Operand, Stmt]) -> float:
    """Return how often the innermost loops run if that is known, and nothing else may take long."""
    found = 1.0
    for stmt in stmts:
        if isinstance(stmt, For) and (most := _most(stmt.trips, origins)) is not None:
            found = max(found, most * _iterations(stmt.body.stmts, origins))
        elif isinstance(stmt, _BUSY):
            return math.inf
        for block in blocks(stmt) if isinstance(stmt, If) else ():
            found = max(found, _iterations(block.stmts, origins))
    return found


def _most(trips: Operand, origins: Mapping[Operand, Stmt]) -> float | None:
    """Return a number of iterations, or a bound of it, if it is known."""
    match origins.get(trips):
        case Apply(op=op, args=(_, Literal(value=by))) if op is arith.mod and by > 0:
            return float(by)
    return float(trips.value) if isinstance(trips, Literal) else None


def _cost(stmt: For) -> float:
    """Estimate the operations of one iteration; an addition is 1."""
    return sum(s.op.cost if isinstance(s, Apply) else 1.0 for s in walk(stmt.body.stmts))


@dataclass
class _Loop:
    """A loop that is being written.

    `names` are the variables of what it carries, and `count` is how many iterations it has. It is
    `busy` if there are calls or products in it, or loops of more than a few iterations, `within`
    each of its own; if not, it `looks` for signals unless it is over soon.
    """

    stmt: For
    names: list[str]
    index: str
    busy: bool
    looks: bool
    count: Expr
    vectorizable: bool
    within: int = 1

    @property
    def fixed(self) -> int | None:
        """The number of iterations where it is a constant."""
        match self.count:
            case Constant(int(count)) if count >= 0:
                return count
        return None

    @property
    def work(self) -> Expr:
        """How many of the innermost iterations it has."""
        return self.count if self.within == 1 else product(Constant(self.within), self.count)

    def range(self, *limits: Expr) -> syntax.For:
        """Return a loop through the numbers of some of its iterations."""
        return syntax.For(self.index, limits, self.vectorizable)


class Loops(Traffic):
    """Writes loops; what is in them is written by `stmts`."""

    def __init__(self, fn: Function, shared: Shared, *, main: bool) -> None:
        super().__init__(fn, shared, main=main)
        self._sums = {id(s): summed(s) for s in walk(fn.body) if isinstance(s, For)}
        self._depth = 0
        # The cost of the loops since the last look for signals.
        self._unlooked = 0.0
        self._bounded: dict[Operand, bool] = {}
        self._origins = shared.origins[fn.name]

    @abstractmethod
    def stmts(self, stmts: Sequence[Stmt], later: Sequence[Operand] | None = None) -> None:
        """Write the statements of a block.

        Where it is known what is read later, variables let go of arrays that nobody needs.
        """

    def release(self, values: Sequence[Value]) -> None:
        """Let variables no longer hold their arrays."""
        # What a loop hands on has a variable even if nobody reads it.
        used = [v for v in values if self._counts.get(v) or v in self._names]
        names = [self.name(value) for value in used]
        if names:
            self.flush()
            self.delete(list(dict.fromkeys(names)))

    def target(self, value: Value) -> str:
        """Return the variable of a value; partial sums have none."""
        return "" if value in self._lanes else self.name(value)

    def move(self, targets: Sequence[str], sources: Sequence[Operand]) -> None:
        """Assign all `sources` to `targets` at once."""
        pairs = zip(targets, sources, strict=True)
        found = [(target, self.expr(source)) for target, source in pairs if target]
        todo = [(target, source) for target, source in found if source != Name(target)]
        while todo:
            for k, (target, source) in enumerate(todo):
                if not any(target in syntax.reads(each) for _, each in todo[:k] + todo[k + 1 :]):
                    self.set(target, source)
                    del todo[k]
                    break
            else:  # a cycle, as in a, b = b, a
                targets, sources = zip(*todo, strict=True)
                self.add(Unpack(targets, Tuple(sources)))
                return

    def carry(self, stmt: For | While) -> list[str]:
        """Bind the carried values; parameters and results share one variable each."""
        names: list[str] = []
        for param, result in zip(stmt.body.params, stmt.results, strict=True):
            if param in self._lanes:
                names.append("")
                continue
            name = self.name(param)
            self._names[result] = name
            names.append(name)
        self.move(names, stmt.init)
        entered, self._entered = self._entered, ()
        self.release(entered)
        return names

    def for_(self, stmt: For) -> None:
        if stmt.parallel:
            self.parallel_for(stmt)
            return
        trips = self.int64(stmt.trips)
        for operand in stmt.init:
            if isinstance(operand, Value) and operand in self._pending:
                self.flush(loads=True)
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        if syntax.reads(trips) & {self._names.get(value) for value in self._entered}:
            # The size of an array that no variable holds once the loop has its arrays.
            self.flush()
            count = self.helper("trips")
            self.set(count, trips)
            trips = Name(count)
        names = self.carry(stmt)
        self.flush()
        short = self.is_short(stmt)
        inner = any(isinstance(s, _BUSY) for s in walk(stmt.body.stmts))
        within = _iterations(stmt.body.stmts, self._origins)
        busy = inner and not short and (within > _FEW or self.is_long(stmt))
        looks = not busy and not short
        vectorizable = self.is_vectorizable(stmt)
        loop = _Loop(stmt, names, self.name(stmt.index), busy, looks, trips, vectorizable)
        loop.within = 1 if busy else int(within)
        keeps, adds = id(stmt) in self._shared.tapes.blocks, self.adds(stmt)
        if keeps and not self.never_negative(stmt.trips):
            loop.count = Name(self.helper("trips"))
            self.set(loop.count.id, Call("max", (trips, Constant(0))))  # the size of the block
        elif not is_atomic(trips) and (keeps or stmt.down or adds or loop.looks):
            loop.count = Name(self.helper("trips"))
            self.set(loop.count.id, trips)
        bases, rows, lane = self._bases, self._rows, self._lane
        if keeps:
            self.reserve(stmt, loop.count)
        if adds and not inner and self._depth and self.is_alone(stmt) and _cost(stmt) <= LEAN:
            self.short_or_long(loop)
        else:
            self.open_and_close(loop)
        self._bases, self._rows, self._lane = bases, rows, lane

    def short_or_long(self, loop: _Loop) -> None:
        """Write a loop that adds to lanes as one for few iterations, one for many, or both."""
        if loop.fixed is None:
            with self.branch(Binary("<=", loop.count, Global("SHORT"))) as few:
                self.in_short(loop)
            with self.inside(few.orelse):
                if self.may_stand_apart(loop):
                    self.stand_apart(loop)
                else:
                    self.open_and_close(loop)
        elif loop.fixed <= SHORT:
            self.in_short(loop)
        else:
            self.open_and_close(loop)

    def may_stand_apart(self, loop: _Loop) -> bool:
        """Whether a loop may be a function: it hands on no arrays and moves no tops of tapes.

        Deep in a nest, what many short loops take counts for more than a call for a long one.
        """
        stmt = loop.stmt
        moves = any(isinstance(s, Push | Pop) for s in walk(stmt.body.stmts))
        if self._depth < 2 or (moves and id(stmt) not in self._shared.tapes.blocks):
            return False
        return not any(isinstance(result.type, Array) for result in stmt.results)

    def stand_apart(self, loop: _Loop) -> None:
        """Write a loop as a function, and the call of it.

        In one function, the loop for many iterations takes the registers from the one for few.
        """
        carried = [name for name in loop.names if name]
        types = tuple(v.type for v, name in zip(loop.stmt.results, loop.names, strict=True) if name)
        with self.elsewhere(types) as body:
            self.open_and_close(loop)
        reads, assigned = syntax.variables(body)
        params = ["state", *sorted((reads - assigned - {"state"}) | set(carried))]
        name = self.function(f"{self._shared.names[self._fn.name]}_{loop.index}_long")
        stops = any(isinstance(each, Return) for each in syntax.walk(body))
        body.append(Return(Tuple(tuple(map(Name, carried)))))
        doc = f"A loop of many iterations -> {', '.join(map(str, types)) or 'none'}"
        own = syntax.Function(name, tuple(params), doc, types, self.variables, body, is_part=True)
        self.functions.append(own)
        call = Call(name, tuple(map(Name, params)))
        self.add(Unpack(tuple(carried), call) if carried else syntax.Do(call))
        if stops:
            self.stop_if(FAILED)

    @contextmanager
    def elsewhere(self, results: tuple[Type, ...]) -> Iterator[list[syntax.Stmt]]:
        """Write the body of another function, with these results."""
        body: list[syntax.Stmt] = []
        blocks, own = self._blocks, self._results
        self._blocks, self._results = [body], results
        yield body
        self._blocks, self._results = blocks, own

    def parallel_for(self, stmt: For) -> None:
        """Write a parallel loop as a function of the part that a thread runs, and its calls."""
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        trips = self.number(stmt.trips)
        work = self.work(stmt)
        self.flush()
        # Each thread has tapes of its own: what iterations put there they take off again.
        taped = self._own if any(self.moves(stmt)) else []
        index = self.name(stmt.index)
        first, last = self.helper(f"{index}_first"), self.helper(f"{index}_last")
        busy = any(isinstance(s, _BUSY) for s in walk(stmt.body.stmts))
        loop = _Loop(stmt, [], index, busy, False, trips, self.is_vectorizable(stmt))
        positions, unlooked = dict(self._positions), self._unlooked
        with self.elsewhere(()) as lines:
            for dtype in taped:
                self.open_tape(dtype)
            with self.inside():
                if busy or not self.is_long(stmt):
                    self.enter(loop.range(Name(first), Name(last)))
                else:
                    start = self.helper(f"{index}_strip")
                    self.enter(syntax.For(start, (Name(first), Name(last), _STRIP)))
                    self.poll(_STRIP)
                    stop = Call("min", (Binary("+", Name(start), _STRIP), Name(last)))
                    self.enter(loop.range(Name(start), stop))
                self.counter(loop)
                self.body(stmt, [], poll=busy and not self.has_inner_loop(stmt.body))
            self.close_tapes(taped)
        self._positions, self._unlooked = positions, unlooked
        reads, assigned = syntax.variables(lines)
        given = sorted(reads - assigned - {"state", first, last})
        name = self.function(f"{self._shared.names[self._fn.name]}_{index}_part")
        doc = "Some iterations of a loop that threads share -> none"
        params = ("state", first, last, *given)
        lines.append(Return(Tuple(())))
        own = syntax.Function(name, params, doc, (), self.variables, lines, is_part=True)
        self.functions.append(own)
        self.close_tapes(taped)
        self._shared.shares = True
        self.do("parallel_for", STATE, Global(name), trips, work, *map(Name, given))
        self.stop_if(FAILED)
        for dtype in taped:
            self.open_tape(dtype)
        if not busy and not self.is_short(stmt) and self.is_due(stmt):
            self.poll(trips)

    def number(self, trips: Operand) -> Expr:
        """Return a number of iterations that can stand twice."""
        found = self.atom(trips)
        return found if trips.type.dtype == "i64" else Call("int64", (found,))

    def work(self, loop: For) -> Expr:
        """Return an expression for what a loop takes, in additions."""
        inside = {v for s in walk((loop,)) for v in (*s.results, *inner_values(s))}

        def cost(stmts: Sequence[Stmt]) -> Expr:
            own = 1.0
            terms: list[Expr] = []
            for stmt in stmts:
                match stmt:
                    case Apply(op=op):
                        own += op.cost
                    case If(then=then, orelse=orelse):
                        own += sum(
                            s.op.cost if isinstance(s, Apply) else 1.0
                            for s in walk((*then.stmts, *orelse.stmts))
                        )
                    case For(trips=trips, body=body):
                        origin = self._origins.get(trips) if trips in inside else None
                        if isinstance(origin, Apply) and origin.op is arith.minimum:
                            # Parts of a loop: all but the last are as large.
                            trips = next((x for x in origin.args if x not in inside), trips)
                        often = Constant(SOME) if trips in inside else self.number(trips)
                        terms.append(product(often, cost(body.stmts)))
                    case While(body=body):
                        terms.append(product(Constant(SOME), cost(body.stmts)))
                    case core.Call(callee=name):
                        own += self._shared.work(name)
                    case _:
                        own += 1.0
            return total(Constant(int(own)), *terms)

        return product(self.number(loop.trips), cost(loop.body.stmts))

    def open_and_close(self, loop: _Loop) -> None:
        """Write a loop with the lanes of the sums that end with it."""
        stmt = loop.stmt
        sums = self.open_lanes(loop)
        with self.inside():
            if self.adds(stmt) and not (loop.fixed is not None and loop.fixed <= LANES):
                self.in_blocks(loop)
            else:
                if self.adds(stmt):
                    self._lane = Name(loop.index)
                self.in_order(loop)
            self.counter(loop)
            self.body(stmt, loop.names, poll=loop.busy and not self.has_inner_loop(stmt.body))
        self.close_lanes(stmt, sums)

    def in_order(self, loop: _Loop) -> None:
        """Enter a loop, with looks for signals before it or on the way where they are due."""
        if loop.looks and self.is_long(loop.stmt):
            self.strip(loop)
            self._unlooked = 0.0
            return
        if loop.looks and self.is_due(loop.stmt):
            self.poll(loop.work)
        self.enter_whole(loop)

    def enter_whole(self, loop: _Loop) -> None:
        if self.goes_down(loop):
            self.enter(loop.range(minus_one(loop.count), Constant(-1), Constant(-1)))
        else:
            self.enter(loop.range(loop.count))

    def goes_down(self, loop: _Loop) -> bool:
        """Whether the counter of a loop goes down.

        Independent iterations that carry nothing but their lanes may run in any order: upwards,
        vectors need not be reversed. But a tape is read as a stream from its top down, rows of
        iterations included.
        """
        stmt = loop.stmt
        ordered = not loop.vectorizable or any(loop.names) or not self.is_alone(stmt)
        return stmt.down and (ordered or any(isinstance(s, Pop) for s in walk(stmt.body.stmts)))

    def is_vectorizable(self, stmt: For) -> bool:
        """Whether the iterations of a loop are independent, tapes included.

        On tapes, each has rows of its own in a block, and each adds to a lane of its own.
        """
        taped = any(isinstance(s, Push | Pop) for s in walk(stmt.body.stmts))
        keeps = id(stmt) in self._shared.tapes.blocks
        return stmt.vectorizable and (keeps or not taped)

    def counter(self, loop: _Loop) -> None:
        if _positions(loop.stmt) > 1:
            # Numba compiles one conversion faster than many.
            self._positions[loop.stmt.index] = position = self.helper(f"{loop.index}_u", U64)
            self.set(position, Call("unsigned", (Name(loop.index),)))

    def is_alone(self, stmt: For) -> bool:
        """Whether a loop hands on no lanes of a loop around it."""
        return not any(param in self._lanes for param in stmt.body.params)

    def adds(self, loop: For) -> bool:
        """Whether an iteration of a loop itself, not of one in it, adds to lanes."""
        lanes = set(self._lanes)  # of loops around it
        for chain in self._sums[id(loop)].values():
            lanes |= chain.members

        def direct(stmts: Sequence[Stmt]) -> bool:
            return any(
                (isinstance(s, Apply) and s.op.reorders and s.args[0] in lanes)
                or (isinstance(s, If) and any(direct(b.stmts) for b in blocks(s)))
                for s in stmts
            )

        return direct(loop.body.stmts)

    def open_lanes(self, loop: _Loop) -> list[tuple[int, str, str, Expr]]:
        """Make the lanes of the sums that end with a loop; return place, name, lanes and size."""
        found: list[tuple[int, str, str, Expr]] = []
        stmt, names = loop.stmt, loop.names
        for k, chain in self._sums[id(stmt)].items():
            param = stmt.body.params[k]
            if param in self._lanes:
                continue
            buffer = self.helper(f"{names[k]}_lanes", Array(param.type.dtype, 1))
            self._lanes.update(dict.fromkeys(chain.members, buffer))
            used: Expr = _LANES
            if not chain.nested:
                used = Call("min", (loop.count, _LANES))
                if loop.fixed is not None:
                    used = Constant(min(loop.fixed, LANES))
            self.set(buffer, Call("lanes", (dtype_of(param.type), used)))
            found.append((k, names[k], buffer, used))
            names[k] = ""
        return found

    def close_lanes(self, stmt: For, sums: Sequence[tuple[int, str, str, Expr]]) -> None:
        for k, name, buffer, used in sums:
            added = Call("total_down" if stmt.down else "total", (Name(buffer), used))
            self.set(name, Binary("+", Name(name), added))
            for member in self._sums[id(stmt)][k].members:
                del self._lanes[member]

    def in_short(self, loop: _Loop) -> None:
        """Write a loop of few iterations, which adds one term after the other."""
        stmt, names = loop.stmt, loop.names
        starts: dict[str, str] = {}
        for k in self._sums[id(stmt)]:
            if names[k]:
                ty = stmt.body.params[k].type
                starts[names[k]] = self.helper(f"{names[k]}_start", ty)
                self.set(starts[names[k]], Name(names[k]))
                self.set(names[k], literal(-0.0, ty))
        with self.inside():
            self.enter_whole(loop)
            self.counter(loop)
            self.body(stmt, names, poll=False)
        for name, start in starts.items():
            self.set(name, Binary("+", Name(start), Name(name)))

    def in_blocks(self, loop: _Loop) -> None:
        """Enter a loop over blocks of iterations, one for each lane, and one over a block."""
        stmt, index, count = loop.stmt, loop.index, loop.count
        long = loop.looks and self.is_long(stmt)
        if loop.looks and not long and self.is_due(stmt):
            self.poll(count)
        start = self.helper(f"{index}_block")
        self._lane = Binary("-", Name(index), Name(start))
        back = Unary("-", _LANES)
        stop = Call("min", (Binary("+", Name(start), _LANES), count))
        if stmt.down:
            last = Binary("&", minus_one(count), back)
            self.enter(syntax.For(start, (last, Constant(-1), back)))
        else:
            self.enter(syntax.For(start, (Constant(0), count, _LANES)))
        if long:
            self.poll(_LANES)
            self._unlooked = 0.0
        if self.goes_down(loop):
            self.enter(loop.range(minus_one(stop), minus_one(Name(start)), Constant(-1)))
        else:
            self.enter(loop.range(Name(start), stop))

    def never_negative(self, trips: Operand) -> bool:
        if isinstance(trips, Literal):
            return bool(trips.value >= 0)
        origin = self._origins.get(trips)
        is_size = isinstance(origin, Apply) and (
            origin.op.asks_shape or origin.op is ops.integer.trips
        )
        return trips.type.kind == "u" or is_size

    def settle_before_loop(self, stmt: For | While) -> None:
        """Write what waits, except the initial values of the loop."""
        keep = {operand: self._pending[operand] for operand in stmt.init
                if isinstance(operand, Value) and operand in self._pending}  # fmt: skip
        for operand in keep:
            del self._pending[operand]
        self.flush()
        self._pending.update(keep)

    def strip(self, loop: _Loop) -> None:
        """Enter a loop over strips, with a look for signals in between, and one over a strip."""
        stmt, index, count = loop.stmt, loop.index, loop.count
        start = self.helper(f"{index}_strip")
        if stmt.down:
            self.enter(syntax.For(start, (minus_one(count), Constant(-1), Unary("-", _STRIP))))
        else:
            self.enter(syntax.For(start, (Constant(0), count, _STRIP)))
        self.poll(Call("min", (count, _STRIP)))
        if stmt.down:
            stop = Call("max", (Binary("-", Name(start), _STRIP), Constant(-1)))
            self.enter(loop.range(Name(start), stop, Constant(-1)))
        else:
            stop = Call("min", (Binary("+", Name(start), _STRIP), count))
            self.enter(loop.range(Name(start), stop))

    def has_inner_loop(self, block: Block) -> bool:
        """Whether every iteration enters a loop, or a function, that looks for signals itself."""
        return any(
            stmt.callee in self._shared.recursive
            if isinstance(stmt, core.Call)
            else isinstance(stmt, For | While) and not self.is_short(stmt, inside=True)
            for stmt in block.stmts
        )

    def is_short(self, stmt: For | While, *, inside: bool = False) -> bool:
        """Whether a loop is over so soon that neither it nor a loop in it need look for signals."""
        most = _FEW if inside or self._depth else STRIP
        return _iterations((stmt,), self._origins) <= most

    def is_due(self, stmt: For) -> bool:
        """Whether a short loop looks for signals on entry: outside loops, once in a while."""
        if self._depth:
            return True
        self._unlooked += _cost(stmt)
        if self._unlooked <= LONG:
            return False
        self._unlooked = 0.0
        return True

    def is_long(self, stmt: For) -> bool:
        """Whether an innermost loop may run so long that it must look for signals while it runs.

        As many cheap iterations as an array has elements take less than 0.2 s; and strips cost
        time to compile, and a loop of a few iterations dearly.
        """
        if _cost(stmt) > LONG:
            return True
        return not self.is_bounded(stmt.trips) and not self.goes_through_an_array(stmt)

    def goes_through_an_array(self, stmt: For) -> bool:
        """Whether each iteration touches another element of an array than those before."""

        def moves(index: Operand) -> bool:
            if index == stmt.index:
                return True
            match self._origins.get(index):
                case Apply(op=op, args=args) if op in (
                    arith.add,
                    arith.sub,
                    ops.integer.wrap,
                ):
                    rest = [arg for arg in args if not moves(arg)]
                    return len(rest) == 1 and rest[0] not in inside
            return False

        inside = {v for s in walk(stmt.body.stmts) for v in (*s.results, *inner_values(s))}
        return any(
            any(map(moves, each.index))
            for each in stmt.body.stmts
            if isinstance(each, Load | Write)
        )

    def is_bounded(self, count: Operand) -> bool:
        """Whether a number of iterations is at most about the number of elements of an array."""
        if isinstance(count, Literal):
            return abs(int(count.value)) <= STRIP
        if count not in self._bounded:
            self._bounded[count] = False  # values carried by loops
            origin = self._origins.get(count)
            match origin:
                case For(trips=trips):
                    self._bounded[count] = self.is_bounded(trips)
                case Apply(op=op) if op.asks_shape:
                    self._bounded[count] = True
                case Apply(op=op, args=args) if op is arith.minimum:
                    self._bounded[count] = any(self.is_bounded(arg) for arg in args)
                case Apply(op=op, args=args) if op in _SIZES:
                    self._bounded[count] = all(self.is_bounded(arg) for arg in args)
        return self._bounded[count]

    def body(self, stmt: For | While, names: list[str], *, poll: bool) -> None:
        last = self._last
        self._depth += 1
        if poll:
            self.poll(Constant(1))
        mark = self.mark_top() if self.makes_arrays(stmt.body.stmts) else ""
        start = len(self.here)
        yields = stmt.body.yields
        self.stmts(stmt.body.stmts, yields)
        again: Expr = Constant(True)
        if isinstance(stmt, While):
            again = self.expr(yields[0])
            if syntax.loads(again) or syntax.reads(again) & set(names):
                name = self.helper("again", BOOL)
                self.set(name, again)
                again = Name(name)
            yields = yields[1:]
        self.move(names, yields)
        self._pending.clear()
        self.release(dead_after_yield(stmt.body.stmts, yields, self._held))
        if mark:
            self.do("release", STATE, Name(mark))
        if again != Constant(True):
            with self.branch(Unary("not", again)):
                self.add(Break())
        elif len(self.here) == start:
            self.add(Pass())
        self._depth -= 1
        self._last = last

    def mark_top(self) -> str:
        """Write down the end of the workspace in use, and return the variable that has it."""
        mark = self.helper("mark")
        self.set(mark, state("TOP"))
        return mark

    def makes_arrays(self, stmts: Sequence[Stmt]) -> bool:
        """Whether `stmts` take memory of the workspace, inner loops aside, which give it back."""
        for stmt in stmts:
            if isinstance(stmt, Apply | Pop) and any(
                isinstance(v.type, Array) and v not in self._escaping and v not in self._stacked
                for v in stmt.results
            ):
                return True
            if isinstance(stmt, core.Call) and stmt.callee in self._shared.making:
                return True
            if isinstance(stmt, If) and any(self.makes_arrays(b.stmts) for b in blocks(stmt)):
                return True
        return False

    def while_(self, stmt: While) -> None:
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        names = self.carry(stmt)
        self.flush()
        with self.inside():
            self.enter(Forever())
            self.body(stmt, names, poll=not self.has_inner_loop(stmt.body))
