"""Reserve room for all elements that a loop appends to a list, before the loop.

The buffer of a list that grows has room for twice the elements it has when it is full (the row
`room`). Where each iteration appends the same number of elements, all of them are counted before
the loop: nothing is copied then, and the memory is known.

Before::

    %list = empty[f64] 16
    %h.1, %list.5 = for L %k in 0 to %n carrying (%h = 0, %list.1 = %list) {
      %t = sin %k.1
      %list.dim = dim[0] %list.1
      %full = ge %h %list.dim
      %list.3 = if %full {
        %m = room %h
        %list.2 = empty[f64] %m
        …                               # copies the elements
        yield %list.2
      } else {
        yield %list.1
      }
      %list.4 = store %list.3[%h] %t
      %h.2 = add %h 1
      yield %h.2 %list.4
    }

After::

    %list.6 = empty[f64] %n
    %h.1, %list.5 = for L %k in 0 to %n carrying (%h = 0, %list.1 = %list.6) {
      %t = sin %k.1
      %list.4 = store %list.1[%h] %t
      %h.2 = add %h 1
      yield %h.2 %list.4
    }

All arrays in a list have the sizes of the first one, which is checked. Where these are not known
before the loop, the first array that is appended allocates the room for all. Lists that some
iterations append to and others do not, those that shrink, and loops that are left early are
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from adc.ir import ops
from adc.ir.analysis.sizes.formulas import ONE, ZERO, Sum
from adc.ir.builder import integer
from adc.ir.core import Apply, Block, For, Function, If, Literal, Operand, Stmt, Store, Value, walk
from adc.ir.opdef import OpDef, Static
from adc.ir.ops import arith
from adc.ir.types import INT, Array
from adc.ir.walk import (
    Names,
    acts,
    clone,
    filtered,
    loop_values,
    map_blocks,
    map_stmts,
    substitute,
    substitute_block,
    with_stmts,
)

# What may be computed before a loop although an iteration computes it: integers, without errors.
_EARLIER = frozenset((
    arith.add, arith.sub, arith.mul, arith.neg, arith.maximum, arith.minimum,
    ops.integer.trips, ops.integer.wrap,
))  # fmt: skip
# What makes the array of a list: with zeros where elements may be read before they are set.
_MAKE = (ops.array.empty, ops.array.full)


def reserve(fn: Function) -> Function:
    """Return `fn` with lists that have room before the loops that append to them."""
    callees = tuple(map(_reserve, fn.callees))
    made = _reserve(fn)
    return fn if made is fn and callees == fn.callees else replace(made, callees=callees)


def _reserve(fn: Function) -> Function:
    if not any(_is_room(stmt) for stmt in walk(fn.body)):
        return fn
    return replace(fn, body=_Reserver(Names.of(fn)).stmts(fn.body))


def _is_room(stmt: Stmt) -> bool:
    return isinstance(stmt, Apply) and stmt.op is ops.integer.room


@dataclass(frozen=True)
class _Site:
    """A branch that gives a list more room, and the number of its elements there."""

    branch: If
    room: Value
    count: Operand


@dataclass
class _Counts:
    """How much larger than before the loop, or than in its parameter, a number of elements is.

    `needs` are numbers that it reaches. `trips` are those of loops, by their names in formulas.
    """

    of: dict[Value, Sum] = field(default_factory=dict)
    needs: list[Sum] = field(default_factory=list)
    sites: list[_Site] = field(default_factory=list)
    trips: dict[str, Operand] = field(default_factory=dict)

    def inside(self, of: Mapping[Value, Sum]) -> _Counts:
        return _Counts(dict(of), [], self.sites, self.trips)

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            match stmt:
                case Apply(op=op, args=(a, b)) if op is arith.add:
                    count, more = (b, a) if isinstance(a, Literal) else (a, b)
                    if count in self.of and isinstance(more, Literal) and more.value >= 0:
                        assert isinstance(count, Value)
                        self.of[stmt.result] = self.of[count] + Sum.number(int(more.value))
                case For():
                    self.loop(stmt)
                case If():
                    self.branch(stmt)

    def loop(self, loop: For) -> None:
        for init, param, after, result in zip(
            loop.init, loop.body.params, loop.body.yields, loop.results, strict=True
        ):
            if init not in self.of:
                continue
            assert isinstance(init, Value)
            body = self.inside({param: ZERO})
            body.block(loop.body)
            each = body.reached(after)
            if each is not None:
                self.of[result] = self.of[init] + each * self.times(loop)
                self.needs.append(self.of[result])

    def reached(self, after: Operand) -> Sum | None:
        """Return by how much an iteration is larger, if it was never larger before its end."""
        each = self.of.get(after) if isinstance(after, Value) else None
        if each is None or not all(_covers(each, need) for need in self.needs):
            return None
        return each

    def times(self, loop: For) -> Sum:
        if isinstance(loop.trips, Literal):
            return Sum.number(max(int(loop.trips.value), 0))
        self.trips[loop.trips.name] = loop.trips
        return Sum.atom(loop.trips.name)

    def branch(self, stmt: If) -> None:
        room = next(filter(_is_room, stmt.then.stmts), None)
        if isinstance(room, Apply) and room.args[0] in self.of:
            count = room.args[0]
            assert isinstance(count, Value)
            self.sites.append(_Site(stmt, room.result, count))
            self.needs.append(self.of[count] + ONE)
            return
        arms = self.inside(self.of), self.inside(self.of)
        for arm, block in zip(arms, (stmt.then, stmt.orelse), strict=True):
            arm.block(block)
            self.needs += arm.needs
        for result, *yields in zip(stmt.results, stmt.then.yields, stmt.orelse.yields, strict=True):
            a, b = (
                arm.of.get(after) if isinstance(after, Value) else None
                for arm, after in zip(arms, yields, strict=True)
            )
            if a is not None and a == b:
                self.of[result] = a


def _covers(size: Sum, other: Sum) -> bool:
    """Whether it is as much as another: trips of loops count as 0 where they are negative."""
    return all(count >= 0 for _, count in (size - other).terms)


@dataclass(frozen=True)
class _Buffer:
    """The array of a list before a loop: an allocation, and what stores the elements in it."""

    made: Apply
    stores: tuple[Store | For, ...]

    def stays(self, count: Operand) -> bool:
        """Whether nothing is stored behind the first `count` rows.

        A buffer is copied with all its rows; an element that may not be there is stored behind.
        """
        places = (stmt.index[0] for stmt in walk(self.stores) if isinstance(stmt, Store))
        return all(
            isinstance(at, Literal) and isinstance(count, Literal) and at.value < count.value
            for at in places
        )

    @property
    def has_rows(self) -> bool:
        """Whether the sizes of its rows are those of elements: before the first they are 0."""
        return self.made.sizes[0] != integer(0)


class _Reserver:
    def __init__(self, names: Names) -> None:
        self.names = names

    def stmts(self, found: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in found:
            if isinstance(stmt, For):
                for k in range(len(stmt.init)):
                    stmt = self.loop(stmt, k, done)
            done.append(map_stmts(stmt, self.stmts))
        return tuple(done)

    def loop(self, loop: For, k: int, done: list[Stmt]) -> For:
        """Return a loop with room for what it appends, if its k-th value counts elements.

        What has to precede it is added to `done`, which precedes it.
        """
        if loop.init[k].type != INT:
            return loop
        counts = _Counts({loop.body.params[k]: ZERO})
        counts.block(loop.body)
        each = counts.reached(loop.body.yields[k])
        if each is None or not counts.sites:
            return loop
        lists = _Lists(loop, counts.sites).found()
        buffers = {j: _buffer(loop.init[j], done) for j in lists.values()}
        if not lists or None in buffers.values():
            return loop
        before = _Before(self.names, loop)
        added = before.total(each * counts.times(loop), counts.trips)
        if added is None:
            return loop
        room = before.apply(arith.add, loop.init[k], added)
        done += before.stmts
        before.stmts.clear()
        init = list(loop.init)
        for j, buffer in buffers.items():
            assert buffer is not None
            rows = before.rows(j, buffer, loop.init[k], counts.sites, lists)
            if rows is None:
                # The first array that is appended tells the sizes.
                return replace(loop, body=_with_room(loop.body, counts.sites, room))
            least = room
            if not buffer.stays(loop.init[k]):
                least = before.apply(arith.maximum, room, buffer.made.sizes[0])
            init[j] = before.array(buffer, (least, *rows))
        done += before.stmts
        return replace(loop, init=tuple(init), body=_without_branches(loop.body, counts.sites))


def _buffer(array: Operand, before: Sequence[Stmt]) -> _Buffer | None:
    """Return what the array of a list is made of by statements in front of a loop."""
    stores: list[Store | For] = []
    for stmt in reversed(before):
        if array not in stmt.results:
            continue
        match stmt:
            case Store(array=array):
                stores.append(stmt)
            case For(results=(_,), init=(array,)) if not acts(stmt):  # it copies an element
                stores.append(stmt)
            case Apply(op=op) if op in _MAKE:
                return _Buffer(stmt, tuple(reversed(stores)))
            case _:
                return None
    return None


class _Lists:
    """Which carried arrays of a loop are the buffers that branches give more room.

    A buffer stays one where elements are stored in it; the loop, and those in it, carry it.
    """

    def __init__(self, loop: For, sites: Sequence[_Site]) -> None:
        self.loop = loop
        self.sites = {id(site.branch): site for site in sites}
        self.positions: dict[Value, int] = {}

    def found(self) -> dict[Value, int]:
        """Return the positions of buffers by the results of the branches; none if others are."""
        params = {p: j for j, p in enumerate(self.loop.body.params) if isinstance(p.type, Array)}
        if not self.stays(self.loop.body, params, self.loop.body.yields):
            return {}
        found: dict[Value, int] = {}
        for site in self.sites.values():
            for result in site.branch.results:
                if result not in self.positions:
                    return {}
                found[result] = self.positions[result]
        return found

    def stays(self, body: Block, params: dict[Value, int], yields: Sequence[Operand]) -> bool:
        """Find which parameters an iteration hands on as the same buffer; return whether any."""
        every = body.params
        while params:
            self.positions |= params
            self.block(body)
            left = {p: j for p, j in params.items() if self.position(yields[every.index(p)]) == j}
            if left == params:
                return True
            for value in (*params, *(v for stmt in walk(body.stmts) for v in stmt.results)):
                self.positions.pop(value, None)
            params = left
        return False

    def position(self, operand: Operand) -> int | None:
        return self.positions.get(operand) if isinstance(operand, Value) else None

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            pairs: list[tuple[Value, Operand, Operand]] = []
            match stmt:
                case Store(result=result, array=array):
                    pairs = [(result, array, array)]
                case For(results=results, init=init, body=body):
                    known = zip(body.params, map(self.position, init), strict=True)
                    self.stays(body, {p: j for p, j in known if j is not None}, body.yields)
                    pairs = [
                        (result, start, param)
                        for result, start, param in zip(results, init, body.params, strict=True)
                    ]
                case If(results=results, then=then, orelse=orelse) if id(stmt) in self.sites:
                    pairs = [(r, a, a) for r, a in zip(results, orelse.yields, strict=True)]
                case If(results=results, then=then, orelse=orelse):
                    self.block(then)
                    self.block(orelse)
                    pairs = list(zip(results, then.yields, orelse.yields, strict=True))
            for result, a, b in pairs:
                position = self.position(a)
                if position is not None and position == self.position(b):
                    self.positions[result] = position


class _Before:
    """Statements in front of a loop."""

    def __init__(self, names: Names, loop: For) -> None:
        self.names = names
        self.loop = loop
        self.inside = loop_values(loop)
        self.stmts: list[Stmt] = []
        self.made = {stmt.result: stmt for stmt in walk(loop.body.stmts) if isinstance(stmt, Apply)}
        self.counters = {stmt.index for stmt in walk((loop,)) if isinstance(stmt, For)}

    def apply(self, op: OpDef, a: Operand, b: Operand) -> Operand:
        """Return a sum, a product or the larger of two integers."""
        neutral = {arith.add: 0, arith.mul: 1}.get(op)
        if isinstance(a, Literal) and isinstance(b, Literal):
            return integer(int(op.evaluate(int(a.value), int(b.value))))
        if integer(neutral or 0) in (a, b) and neutral is not None:
            return b if a == integer(neutral) else a
        return self.emit(op, (a, b))

    def emit(self, op: OpDef, args: tuple[Operand, ...], params: Sequence[Static] = ()) -> Value:
        result = Value(self.names.fresh("n"), INT)
        self.stmts.append(Apply((result,), op, args, tuple(params), self.loop.loc))
        return result

    def earlier(self, operand: Operand, first: bool = False) -> Operand | None:
        """Return an integer that iterations compute, computed in front of the loop if possible.

        That of all iterations; or of the first one of this loop and of those in it.
        """
        if isinstance(operand, Literal) or operand not in self.inside:
            return operand
        if first and operand in self.counters:
            return integer(0)
        stmt = self.made.get(operand)
        if stmt is None or operand.type != INT:
            return None
        if stmt.op.asks_shape and stmt.args[0] not in self.inside:
            return self.emit(stmt.op, stmt.args, stmt.params)
        args = [self.earlier(arg, first) for arg in stmt.args] if stmt.op in _EARLIER else [None]
        known = [arg for arg in args if arg is not None]
        return self.emit(stmt.op, tuple(known)) if len(known) == len(args) else None

    def total(self, size: Sum, trips: Mapping[str, Operand]) -> Operand | None:
        """Return a sum of products of trips, negative ones of which count as 0."""
        found: dict[str, Operand] = {}
        for name in sorted(size.names):
            often = self.earlier(trips[name])
            if often is None:
                return None
            found[name] = self.apply(arith.maximum, often, integer(0))
        total: Operand = integer(0)
        for atoms, count in size.terms:
            term: Operand = integer(count)
            for atom in atoms:
                term = self.apply(arith.mul, term, found[str(atom)])
            total = self.apply(arith.add, total, term)
        return total

    def rows(
        self, j: int, buffer: _Buffer, count: Operand, sites: Sequence[_Site],
        lists: Mapping[Value, int],
    ) -> tuple[Operand, ...] | None:  # fmt: skip
        """Return the sizes of the arrays in a list, () of numbers; None if not known here.

        They are those of the first array that is appended. The trips of the loops around it are
        known here: if it is appended at all, it is in the first iteration of each.
        """
        own = buffer.made.sizes[1:]
        if not own:
            return ()
        if buffer.has_rows:
            # What is appended has the sizes of what is in the list, if that is not empty.
            return own if isinstance(count, Literal) and count.value > 0 else None
        found = {
            _allocated(site.branch.then, yielded)
            for site in sites
            for result, yielded in zip(site.branch.results, site.branch.then.yields, strict=True)
            if lists[result] == j
        }
        sizes = found.pop()
        if found or sizes is None:
            return None
        rows = [self.earlier(size, first=True) for size in sizes]
        return None if None in rows else tuple(row for row in rows if row is not None)

    def array(self, buffer: _Buffer, sizes: tuple[Operand, ...]) -> Value:
        """Return a copy of a buffer with other sizes."""
        ty = buffer.made.result.type
        array = Value(self.names.fresh(buffer.made.result.name), ty)
        fill = buffer.made.args[: buffer.made.op.sizes]
        self.stmts.append(replace(buffer.made, results=(array,), args=(*fill, *sizes)))
        env: dict[Value, Operand] = {buffer.made.result: array}
        self.stmts += clone(buffer.stores, env, self.names)
        last = env[buffer.stores[-1].results[0]] if buffer.stores else array
        assert isinstance(last, Value)
        return last


def _allocated(block: Block, array: Operand) -> tuple[Operand, ...] | None:
    """Return the sizes of the rows of the array that a block makes and copies elements to."""
    for stmt in reversed(block.stmts):
        if array not in stmt.results:
            continue
        match stmt:
            case For(results=results, init=init):
                array = init[results.index(array)]
            case Apply(op=op) if op in _MAKE:
                return stmt.sizes[1:]
            case _:
                return None
    return None


def _with_room(body: Block, sites: Sequence[_Site], room: Operand) -> Block:
    """Return a body that gives lists all the room when they get any."""
    env = dict.fromkeys((site.room for site in sites), room)
    left = filtered(body.stmts, lambda s: not (_is_room(s) and env.keys() & {*s.results}))
    return substitute_block(replace(body, stmts=left), env)


def _without_branches(body: Block, sites: Sequence[_Site]) -> Block:
    """Return a body where lists have the room."""
    branches = {id(site.branch) for site in sites}
    env: dict[Value, Operand] = {}

    def left(block: Block) -> Block:
        kept: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, If) and id(stmt) in branches:
                same = (substitute(array, env) for array in stmt.orelse.yields)
                env.update(zip(stmt.results, same, strict=True))
            else:
                kept.append(map_blocks(stmt, left))
        return with_stmts(block, kept, block.yields)

    return substitute_block(left(body), env)


__all__ = ["reserve"]
