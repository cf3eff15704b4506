"""Find arrays of buffer form with disjoint lifetimes, which may share memory.

An array made in a function lives from there to its last mention under any name; one that a loop
reads and does not make lives until the loop ends. Arrays that outlive the iteration or the call
that makes them, those of callers, those popped and those on the stack are left alone. Arrays whose
sizes have the same product, for all arguments, share::

    %a = empty[f64] %n                    %a = empty[f64] %n
    for L %i in 0 to %n { … }             for L %i in 0 to %n { … }
    %b = empty[f64] %n                    %b = empty[f64] %n
    for M %i.1 in 0 to %n { … %a[%i.1] }  for M %i.1 in 0 to %n { … %a[%i.1] }
    %c = full[f64] 0.0:f64 %n             %c = full[f64] 0.0:f64 %n %a

A new array may also be written *over* one that dies in the nest of loops that writes it, if every
iteration reads and writes the same element of both and no other, reading first. Here ``%b`` is such
an array if ``%a[%i.1]`` is all that is read of ``%a``.

In plans for known sizes, arrays of one block whose sizes differ, or may differ, share a slot that
is large enough for each of them, if all sizes are available where the first one is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from adc.ir.analysis.memory.escape import flow, stacked
from adc.ir.analysis.memory.liveness import Arrays, Mentions, in_step
from adc.ir.analysis.sizes.affine import Same, equated
from adc.ir.analysis.sizes.extents import Extents, Known
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Literal,
    Operand,
    Stmt,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import Array
from adc.ir.walk import Names, inner_values, use_counts

# A size: a number, an integer of the program, or an axis of an array.
Size = int | Value | tuple[Value, int]
# Arrays do not share memory if one is this many times as large as the other.
_WASTE = 16.0


class Sizes:
    """Equality of sizes of arrays: by their definitions, or because the program checks it."""

    def __init__(self, fn: Function) -> None:
        self._shapes: dict[Value, tuple[Size, ...]] = {}
        self._same: Same[Size] = Same()
        self._defs: dict[Value, Stmt] = {}
        # The keys of shapes, until sizes are found to be equal.
        self._products: dict[tuple[Size, ...], tuple[int, tuple[str, ...]]] = {}
        for stmt in walk(fn.body):
            if isinstance(stmt, Apply):
                self.learn(stmt)

    def learn(self, stmt: Apply) -> None:
        args = stmt.args
        self._defs[stmt.results[0]] = stmt
        if stmt.op.asks_shape:
            assert isinstance(args[0], Value)
            axis = stmt.params[0]
            assert isinstance(axis, int)
            self._same.join(self.axis(args[0], axis), stmt.result)
            self._products.clear()
        elif stmt.op.sizes is not None:
            self._shapes[stmt.result] = tuple(map(_size, args[stmt.op.sizes :]))
        else:
            # A copy, or an elementwise operation: its arrays have the same sizes.
            for arg in args:
                if isinstance(arg, Value) and arg.type.rank == stmt.result.type.rank > 0:
                    self._shapes[stmt.result] = self.shape(arg)
                    break

    def axis(self, array: Value, axis: int) -> Size:
        return self.shape(array)[axis]

    def shape(self, array: Value) -> tuple[Size, ...]:
        """Return the sizes of the axes of an array."""
        assert isinstance(array.type, Array)
        named = tuple((array, axis) for axis in range(array.type.rank))
        return self._shapes.get(array, named)

    def of(self, operand: Operand, axis: int | None = None) -> Size:
        """Return the size that stands for all that equal a number, or one of an array's axes."""
        if axis is None:
            return self._same.find(_size(operand))
        assert isinstance(operand, Value)
        return self._same.find(self.axis(operand, axis))

    def check(self, stmt: Check) -> None:
        """Equate two sizes from here on if the program only continues if they are equal."""
        equal = equated(stmt, self._defs)
        if equal is not None:
            self.join(*map(_size, equal))

    def join(self, a: Size, b: Size) -> None:
        """Equate two sizes."""
        a, b = self._same.find(a), self._same.find(b)
        if isinstance(a, int):
            a, b = b, a
        if not isinstance(a, int):
            self._same.join(b, a)
            self._products.clear()

    def product(self, shape: tuple[Size, ...]) -> tuple[int, tuple[str, ...]]:
        """Return a key that is equal for shapes with the same number of elements."""
        if shape not in self._products:
            self._products[shape] = self._product(shape)
        return self._products[shape]

    def _product(self, shape: tuple[Size, ...]) -> tuple[int, tuple[str, ...]]:
        number, names = 1, []
        for size in map(self._same.find, shape):
            if isinstance(size, int):
                number *= size
            else:
                names.append(str(size) if isinstance(size, Value) else f"{size[0]}.{size[1]}")
        return number, tuple(sorted(names))

    def alike(self, a: Sequence[Size], b: Sequence[Size]) -> bool:
        """Whether two shapes are equal."""
        return list(map(self._same.find, a)) == list(map(self._same.find, b))


def _size(operand: Operand) -> Size:
    return int(operand.value) if isinstance(operand, Literal) else operand


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Which arrays of one function take the memory of others.

    Attributes
    ----------
    after : dict
        By array, one that is dead when it is allocated.
    over : dict
        By array, one that it is written over.
    slots : dict
        By the first array of a slot, the statement that allocates the slot.
    """

    after: dict[Value, Value]
    over: dict[Value, Value]
    slots: dict[Value, Stmt]


@dataclass(slots=True)
class _Slot:
    """Memory that several arrays use in turn; `last` is the newest of them."""

    shape: tuple[Size, ...]
    last: Value
    order: int
    # Its block, and the allocations of its arrays: one for every size.
    block: int
    made: list[Apply]
    shapes: list[tuple[Size, ...]]
    arrays: set[Value] = field(default_factory=set)


class _Finder:
    def __init__(self, fn: Function, known: Known | None, functions: Iterable[Function]) -> None:
        self._origins, escaping = flow(fn)
        self._alone = escaping | stacked(fn, functions)
        self._escaping = escaping
        self._names = Names.of(fn)
        self._extents = None if known is None else Extents(fn, known)
        # The positions of definitions; parameters are available from the start.
        self._places: dict[Value, int] = {}
        for k, each in enumerate(walk(fn.body)):
            self._places.update(dict.fromkeys((*inner_values(each), *each.results), k))
        self._counts = use_counts(fn)
        self._mentions = Mentions(self._origins)
        # By statement, the arrays that are alive after it.
        self._alive: dict[int, Arrays] = {}
        self._sizes = Sizes(fn)
        self._order = 0
        self.after: dict[Value, Value] = {}
        self.over: dict[Value, Value] = {}
        self._made: list[_Slot] = []
        self._backward(fn.body, self._mentions.of(fn.results))
        self._share(fn.body, [], top=True)

    # -- lifetimes -------------------------------------------------------------------------

    def _backward(self, stmts: Sequence[Stmt], alive: Arrays) -> Arrays:
        for stmt in reversed(stmts):
            self._alive[id(stmt)] = alive
            match stmt:
                case If(then=then, orelse=orelse):
                    alive = self._arm(then, alive) | self._arm(orelse, alive)
                case For(body=body) | While(body=body):
                    # An array that an iteration makes and does not yield is dead in the next one.
                    made = {v for s in walk(body.stmts) for v in s.results} - self._escaping
                    alive |= self._mentions.by(stmt) - made
                    self._backward(body.stmts, alive | self._mentions.of(body.yields))
                case _:
                    alive = (alive - set(stmt.results)) | self._mentions.by(stmt)
        return alive

    def _arm(self, block: Block, alive: Arrays) -> Arrays:
        return self._backward(block.stmts, alive | self._mentions.of(block.yields))

    # -- sharing ---------------------------------------------------------------------------

    def _share(self, stmts: Sequence[Stmt], slots: list[_Slot], *, top: bool = False) -> None:
        """Assign memory to the arrays of a block: `slots` are those of the blocks around it."""
        slots = list(slots)
        for k, stmt in enumerate(stmts):
            if top and isinstance(stmt, Check):
                self._sizes.check(stmt)
            for block in blocks(stmt):
                before = [(slot.last, slot.shape) for slot in slots]
                # Parallel iterations have private arrays.
                alone = isinstance(stmt, For) and stmt.parallel
                self._share(block.stmts, [] if alone else slots)
                for slot, (last, shape) in zip(slots, before, strict=True):
                    slot.last, slot.shape = last, shape  # arrays of the block have no name here
            if not (isinstance(stmt, Apply) and stmt.op.allocates):
                continue
            array = stmt.result
            if array in self._alone or not self._counts.get(array):
                continue
            shape = self._sizes.shape(array)
            place = self._place(stmt, stmts[k + 1 :], shape, slots)
            place = place or self._larger(stmt, [s for s in slots if s.block == id(stmts)])
            if place is None:
                place = _Slot(shape, array, 0, id(stmts), [stmt], [shape])
                slots.append(place)
                self._made.append(place)
            self._order += 1
            place.last, place.shape, place.order = array, shape, self._order
            place.arrays.add(array)

    def _place(
        self, stmt: Apply, rest: Sequence[Stmt], shape: tuple[Size, ...], slots: Sequence[_Slot]
    ) -> _Slot | None:
        """Return a slot for a new array, recording whose memory it takes; the newest is warmest."""
        if stmt.op.copies:
            return None
        array, alive = stmt.result, self._alive[id(stmt)]
        size = self._sizes.product(shape)
        fitting = [
            slot
            for slot in sorted(slots, key=lambda slot: -slot.order)
            if slot.last.type.dtype == array.type.dtype
            and size in map(self._sizes.product, slot.shapes)
        ]
        nest = next((s for s in rest if array in self._mentions.by(s)), None)
        if stmt.op.reserves and isinstance(nest, For):
            for slot in fitting:
                old = slot.last
                if slot.arrays & alive != {old} or old in self._alive[id(nest)]:
                    continue
                alike = self._sizes.alike(slot.shape, shape)
                if alike and in_step(self._mentions, nest, old, array):
                    self.over[array] = old
                    return slot
        for slot in fitting:
            if not slot.arrays & alive:
                self.after[array] = slot.last
                return slot
        return None

    def _larger(self, stmt: Apply, slots: Sequence[_Slot]) -> _Slot | None:
        """Return a slot for a new array of other sizes: the one that wastes least."""
        if self._extents is None or stmt.op.copies:
            return None
        array, alive = stmt.result, self._alive[id(stmt)]
        size = max(self._extents.elements(array), 1.0)
        best: _Slot | None = None
        least = _WASTE
        for slot in slots:
            first = slot.made[0]
            start = self._places[first.result]
            available = all(
                self._places.get(dim, -1) < start for dim in stmt.sizes if isinstance(dim, Value)
            )
            if (
                slot.arrays & alive
                or slot.last.type.dtype != array.type.dtype
                or first.op.copies
                or not available
            ):
                continue
            room = max(1.0, *(self._extents.elements(each.result) for each in slot.made))
            waste = max(room, size) / min(room, size)
            if waste < least:
                best, least = slot, waste
        if best is not None:
            best.made.append(stmt)
            best.shapes.append(self._sizes.shape(array))
            self.after[array] = best.last
        return best

    def slots(self) -> dict[Value, Stmt]:
        """Return the allocations of slots for arrays of several sizes, and use them for these."""
        found: dict[Value, Stmt] = {}
        for slot in self._made:
            if len(slot.made) == 1:
                continue
            shapes = [each.sizes for each in slot.made]
            rank = max(map(len, shapes))
            dims = [dim for s in shapes for dim in (*s, *[integer(1)] * (rank - len(s)))]
            first = slot.made[0]
            memory = Value(
                self._names.fresh(f"{first.result.name}.slot"), Array(first.result.type.dtype, 1)
            )
            params = (first.result.type.dtype, rank)
            found[first.result] = Apply((memory,), OPS["slot"], tuple(dims), params, first.loc)
            self.after[first.result] = memory
            for array in slot.arrays:
                if array in self.after:
                    self.after[array] = memory
        return found


def lifetimes(
    fn: Function, known: Known | None = None, functions: Iterable[Function] = ()
) -> Lifetimes:
    """Return which arrays of `fn` itself, which is in buffer form, take the memory of others.

    `known` are sizes of arguments, as `Extents` have them; `fn` may call `functions`.
    """
    found = _Finder(fn, known, functions)
    slots = found.slots()
    return Lifetimes(found.after, found.over, slots)
