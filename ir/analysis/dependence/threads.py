"""What a thread needs that runs one iteration of a parallel loop: arrays and a tape of its own.

A thread allocates no memory while it runs: all that it needs is allocated before the loop begins.
How much that is follows from the program where sizes are known outside of the loop, or are the same
in all threads. A size that is known only at run time is measured first: the part of the loop that
decides it runs once, and every thread notes the most that it would need.

Arrays are pointers. An array that an iteration of an inner loop makes and hands on would be
overwritten by the next iteration. So what such a loop carries is copied to memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from adc.ir import ops
from adc.ir.analysis.sizes.affine import keeps_value
from adc.ir.core import (
    Apply,
    Check,
    For,
    Function,
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
    operands,
    walk,
)
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.tape import TapeEntry, frames, inside, is_mirror, matched
from adc.ir.types import INT, Array
from adc.ir.walk import carried_yields, loop_values


def stands_for_array(op: OpDef) -> bool:
    """Whether an operation makes an array of its own, or stands for one that is there."""
    return op.allocates or bool(op.aliases) or op.undefined


@dataclass(frozen=True)
class Size:
    """The size of an axis of an array that was made outside."""

    array: Value
    axis: int


# Numbers that are known before a loop begins, of which the greatest bounds one that is found in it;
# None stands for what is known only at run time.
Bounds = tuple[Operand | Size, ...] | None


Text = Callable[[Sequence[Operand | Size]], str]  # of the greatest of some numbers


@dataclass(frozen=True)
class Space:
    """Memory for an array: the value that needs it, and what bounds its sizes."""

    value: Value
    dims: tuple[Bounds, ...]

    @property
    def is_known(self) -> bool:
        return None not in self.dims


@dataclass
class Part:
    """The part of a loop that decides what a run has to tell."""

    stmts: set[int] = field(default_factory=set)
    values: set[Value] = field(default_factory=set)


class Mirror:
    """What is known of the frames that a loop takes off, from the loop that leaves them."""

    def __init__(
        self, threads: Threads, pushed: TapeEntry, popped: TapeEntry, visible: Collection[Value]
    ) -> None:
        self.threads = threads
        self.pushed = frames(pushed, popped)
        self.visible = visible

    def known(self, value: Value) -> Bounds:
        return self._seen(self.threads.known(self.pushed[value]))

    def dims(self, value: Value) -> list[Bounds]:
        return [self._seen(each) for each in self.threads.dims(self.pushed[value])]

    def _seen(self, bounds: Bounds) -> Bounds:
        """Return numbers if they can be had where the other loop stands."""
        if bounds is None:
            return None
        values = [each.array if isinstance(each, Size) else each for each in bounds]
        return bounds if all(isinstance(v, Literal) or v in self.visible for v in values) else None


class Unknown(Exception):
    """What is needed cannot be told before the loop runs."""


class Threads:
    """What the threads of one loop need.

    Attributes
    ----------
    takes, leaves : bool
        Whether iterations pop what others pushed, or leave frames for others.
    spaces : dict
        The memory that arrays need, by the value that is made or carried.
    unknown : list of Space
        Those whose size is known only at run time.
    own : set of int
        The pushes and pops, by `id`, of frames that an iteration takes off itself.
    """

    def __init__(self, loop: For, mirror: Mirror | None = None) -> None:
        self.loop = loop
        self.mirror = mirror
        self.inside = loop_values(loop)
        self._made: dict[Operand, Stmt] = {}
        self._sources: dict[Value, list[Operand]] = {}
        self._around: dict[int, tuple[Stmt, ...]] = {}
        self._busy: set[Operand] = set()
        self._note(loop.body.stmts, ())
        self._read_tape()
        self.spaces: dict[Value, Space] = {}
        # Of values that loops copy, what they are copied to first where others may still be there.
        self.temporary: dict[Value, Value] = {}
        for stmt in walk(loop.body.stmts):
            for value in self._needing(stmt):
                self.spaces[value] = Space(value, tuple(self.dims(value)))
                if value in self.temporary:
                    other = self.temporary[value]
                    self.spaces[other] = Space(other, self.spaces[value].dims)
        self.unknown = [space for space in self.spaces.values() if not space.is_known]

    def _note(self, stmts: Sequence[Stmt], around: tuple[Stmt, ...]) -> None:
        for stmt in stmts:
            self._around[id(stmt)] = around
            self._made.update(dict.fromkeys(stmt.results, stmt))
            match stmt:
                case If(results=results, then=then, orelse=orelse):
                    for k, value in enumerate(results):
                        self._sources[value] = [then.yields[k], orelse.yields[k]]
                case For() | While():
                    ends = carried_yields(stmt)
                    for k, param in enumerate(stmt.body.params):
                        handed = [stmt.init[k], ends[k]]
                        self._sources[param] = self._sources[stmt.results[k]] = handed
                        self._made[param] = stmt
                    if isinstance(stmt, For):
                        self._made[stmt.index] = stmt
                case Apply(op=op, args=args, results=(value,)) if op.aliases:
                    # Other arrays in memory that was another one's have memory of their own here.
                    self._sources[value] = [args[0]]
            for block in blocks(stmt):
                self._note(block.stmts, (*around, stmt))

    def _read_tape(self) -> None:
        # What was pushed, by what pops it, in iterations that do both.
        self._pushed: dict[Value, Operand] = {}

        def meet(pushed: TapeEntry, popped: TapeEntry) -> None:
            self._pushed.update(frames(pushed, popped))

        taken, left = matched(self.loop.body.stmts, meet)
        found = {id(stmt) for item in (*taken, *left) for stmt in item.frames()}
        self.takes, self.leaves = bool(taken), bool(left)
        every = [s for s in walk(self.loop.body.stmts) if isinstance(s, Push | Pop)]
        self.own = {id(stmt) for stmt in every if id(stmt) not in found}
        self.handed = sorted({d for s in every if id(s) not in self.own for d in dtypes(s)})
        self.owned = sorted({d for s in every if id(s) in self.own for d in dtypes(s)})

    # -- arrays ----------------------------------------------------------------------------

    def roots(self, operand: Operand) -> list[Operand]:
        """Return what a value may be: what is made, and what was there before the loop."""
        found: dict[Operand, None] = {}
        seen: set[Operand] = set()
        waiting = [operand]
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            sources = self._sources.get(each) if isinstance(each, Value) else None
            if sources is None or each not in self.inside:
                found[each] = None
            else:
                waiting += reversed(sources)
        return list(found)

    def _needing(self, stmt: Stmt) -> Iterator[Value]:
        match stmt:
            case Apply(results=(value,)) if isinstance(value.type, Array):
                unused = stmt.op.undefined or stmt.op is ops.array.slot
                if value not in self._sources and not unused:
                    yield value
            case Pop(results=results):
                for value in results:
                    if isinstance(value.type, Array) and not self.lies_on_tape(stmt, value):
                        yield value
            case For() | While():
                copied = self.copied(stmt)
                if self.is_mixed(stmt):
                    for param in sorted(copied, key=lambda v: v.name):
                        self.temporary[param] = Value(f"{param.name}.copy", param.type)
                yield from (param for param in stmt.body.params if param in copied)

    def lies_on_tape(self, stmt: Pop, value: Value) -> bool:
        """Whether an array that is popped stays where it is."""
        return isinstance(value.type, Array) and value.type.rank == 1 and id(stmt) not in self.own

    def copied(self, loop: For | While) -> set[Value]:
        """Return the arrays that a loop carries and its iterations make: they are copied."""
        made = {v for s in walk(loop.body.stmts) for v in s.results}
        return {
            param
            for param, end in zip(loop.body.params, carried_yields(loop), strict=True)
            if isinstance(param.type, Array) and any(root in made for root in self.roots(end))
        }

    def is_mixed(self, loop: For | While) -> bool:
        """Whether arrays that a loop copies may be handed on in other places than before."""
        own = self.copied(loop)
        return any(
            param in own and self._reaches(end, own - {param})
            for param, end in zip(loop.body.params, carried_yields(loop), strict=True)
        )

    def same(self, value: Value) -> Operand | None:
        """Return the array that another one stands for, or is written over."""
        return next(iter(self._sources.get(value, ())), None)

    def varies(self, value: Value, axis: int) -> bool:
        """Whether arrays that a value may be differ in a size."""
        sizes = {self._size(root, axis) for root in self.roots(value)}
        return len(sizes) > 1 or None in sizes

    def _size(self, root: Operand, axis: int) -> Operand | Size | None:
        """Return a size exactly, if that is a number in the program or of an array outside."""
        if root not in self.inside:
            return Size(root, axis) if isinstance(root, Value) else None
        match self._made.get(root):
            case Apply(op=op, args=args) if op.sizes is not None:
                size = args[axis + op.sizes]
                return size if isinstance(size, Literal) else None
        return None

    def _reaches(self, operand: Operand, wanted: set[Value]) -> bool:
        seen: set[Operand] = set()
        waiting = [operand]
        while waiting:
            each = waiting.pop()
            if each in wanted:
                return True
            if each not in seen and isinstance(each, Value):
                seen.add(each)
                waiting += self._sources.get(each, [])
        return False

    # -- sizes -----------------------------------------------------------------------------

    def dims(self, array: Operand) -> list[Bounds]:
        """Return what bounds the sizes of an array, as far as that is known before the loop."""
        assert isinstance(array, Value)
        assert isinstance(array.type, Array)
        if array in self._busy:
            return [()] * array.type.rank  # of several arrays, the others say
        self._busy.add(array)
        try:
            every = [self._dims_of(root) for root in self.roots(array)]
            # Where it may be a row of another array, its axes are the last ones.
            found = [dims[len(dims) - array.type.rank :] for dims in every]
        finally:
            self._busy.discard(array)
        return [_any(each) for each in zip(*found, strict=True)]

    def _dims_of(self, root: Operand) -> list[Bounds]:
        assert isinstance(root, Value)
        assert isinstance(root.type, Array)
        rank = root.type.rank
        if root not in self.inside:
            return [(Size(root, axis),) for axis in range(rank)]
        match self._made.get(root):
            case Apply(op=op) as made if op.sizes is not None:
                return [self.known(size) for size in made.sizes]
            case Apply(op=op, args=args) if op.copies:
                return self.dims(args[0])
            case Apply(op=op) if op.undefined:
                return [()] * rank  # nobody looks at it
            case Pop():
                if root in self._pushed:
                    return self.dims(self._pushed[root])
                if self.mirror is not None:
                    return self.mirror.dims(root)
        return [None] * rank

    def known(self, operand: Operand) -> Bounds:
        """Return what bounds a number, if that is known before the loop."""
        if isinstance(operand, Literal) or operand not in self.inside:
            return (operand,)
        if operand in self._busy:
            return ()
        self._busy.add(operand)
        try:
            return _any([self._known(root) for root in self.roots(operand)])
        finally:
            self._busy.discard(operand)

    def _known(self, operand: Operand) -> Bounds:
        if isinstance(operand, Literal) or operand not in self.inside:
            return (operand,)
        match self._made.get(operand):
            case Apply(op=op, args=(array,), params=(axis,)) if op.asks_shape:
                return self.dims(array)[int(axis)]
            case Apply(op=op, args=(a, b)) if op is arith.maximum:
                return _any([self.known(a), self.known(b)])
            case Pop():
                if operand in self._pushed:
                    return self.known(self._pushed[operand])
                if self.mirror is not None:
                    return self.mirror.known(operand)
            case Apply(op=op, args=(a, b)) if op is arith.minimum:
                return self.known(a) or self.known(b)
            case Apply(op=op, args=(arg,)) if op.converts and keeps_value(arg.type, operand.type):
                return self.known(arg)
        return None

    # -- the tape --------------------------------------------------------------------------

    def words(self, dtype: str, own: bool, text: Text, stmts: Sequence[Stmt]) -> str | None:
        """Return how many values of a dtype statements push at most, if that is known."""
        parts: list[str] = []
        for stmt in stmts:
            if isinstance(stmt, Push) and (id(stmt) in self.own) == own:
                for value in stmt.values:
                    if not isinstance(value.type, Array):
                        parts += ["1"] if value.type.dtype == dtype else []
                        continue
                    if value.type.dtype == dtype:
                        dims = self.dims(value)
                        if None in dims:
                            return None
                        parts.append(" * ".join(text(d) for d in dims if d is not None) or "1")
                    parts += [str(value.type.rank)] if dtype == "i64" else []
            inner = [self.words(dtype, own, text, block.stmts) for block in blocks(stmt)]
            if None in inner:
                return None
            some = [each for each in inner if each is not None and each != "0"]
            if not some:
                continue
            if isinstance(stmt, If):
                parts.append(some[0] if len(some) == 1 else f"max({', '.join(some)})")
            elif isinstance(stmt, For):
                trips = self.known(stmt.trips)
                if not matched(stmt.body.stmts, lambda *_: None)[1]:
                    parts.append(some[0])  # every iteration takes off what it has pushed
                elif trips is None:
                    return None
                else:
                    parts.append(f"{text(trips)} * ({some[0]})")
            else:
                return None
        ones = parts.count("1")
        rest = [part for part in parts if part != "1"]
        return " + ".join([*([str(ones)] if ones or not rest else []), *rest])

    # -- what a run has to tell ------------------------------------------------------------

    @property
    def has_memory(self) -> bool:
        """Whether threads have memory of their own that a kernel is passed, or a tape."""
        return bool(self.spaces) or self.takes or bool(self.tapes())

    def tapes(self) -> list[tuple[str, bool]]:
        """Return the tapes that are pushed to: their dtypes, and whether they are the thread's."""
        left = [(dtype, False) for dtype in self.handed] if self.leaves else []
        return left + [(dtype, True) for dtype in self.owned]

    def measured(self, text: Text) -> tuple[list[str | None], Part]:
        """Return how long tapes are as far as it is known, and what decides all that is not.

        Raises
        ------
        Unknown
            If that needs what the loop itself changes.
        """
        words = [self.words(*tape, text, self.loop.body.stmts) for tape in self.tapes()]
        if None not in words and not self.unknown:
            return words, Part()
        return words, _Cut(self, None in words).run()


def _any(found: Sequence[Bounds]) -> Bounds:
    """Return what bounds a number that may be any of some."""
    least = 0
    rest: dict[Operand | Size, None] = {}
    for bounds in found:
        if bounds is None:
            return None
        for each in bounds:
            if isinstance(each, Literal):
                least = max(least, int(each.value))
            else:
                rest[each] = None
    return (*rest, *([Literal(least, INT)] if least or not rest else []))


def dtypes(stmt: Push | Pop) -> set[str]:
    """Return the dtypes of the tapes that a frame lies on; sizes of arrays are integers."""
    values = stmt.values if isinstance(stmt, Push) else stmt.results
    found = {v.type.dtype for v in values}
    return found | {"i64"} if any(isinstance(v.type, Array) for v in values) else found


def mirrored(fn: Function) -> dict[int, tuple[TapeEntry, TapeEntry, Collection[Value]]]:
    """Return for every loop that mirrors another one both, and what is defined before both."""
    places: dict[int, tuple[Value, ...]] = {}

    def note(stmts: Sequence[Stmt], before: tuple[Value, ...]) -> None:
        for stmt in stmts:
            places[id(stmt)] = before
            for block in blocks(stmt):
                index = (stmt.index,) if isinstance(stmt, For) else ()
                note(block.stmts, (*before, *index, *block.params))
            before = (*before, *stmt.results)

    found: dict[int, tuple[TapeEntry, TapeEntry, Collection[Value]]] = {}

    def meet(pushed: TapeEntry, popped: TapeEntry) -> None:
        a, b = pushed.stmt, popped.stmt
        if isinstance(a, For) and isinstance(b, For) and is_mirror(pushed, popped):
            both = set(places[id(a)]) & set(places[id(b)])
            found[id(b)] = pushed, popped, both
        for one, other in inside(pushed, popped):
            meet(one, other)

    note(fn.body, fn.params)
    matched(fn.body, meet)
    return found


def all_threads(fn: Function) -> dict[int, Threads]:
    """Return what the threads of all parallel loops of a function need, by `id` of the loop."""
    pairs = mirrored(fn)
    found: dict[int, Threads] = {}
    for stmt in walk(fn.body):
        if isinstance(stmt, For) and stmt.parallel:
            mirror = None
            if id(stmt) in pairs:
                pushed, popped, visible = pairs[id(stmt)]
                other = found.get(id(pushed.stmt))
                mirror = Mirror(other, pushed, popped, visible) if other else None
            found[id(stmt)] = Threads(stmt, mirror)
    return found


class _Cut:
    """Finds the statements that decide sizes."""

    def __init__(self, threads: Threads, tape: bool) -> None:
        self.threads = threads
        self.tape = tape
        self.found = Part()
        self._elements: set[Operand] = set()
        self._waiting: list[Value] = []
        self.unknown = {space.value for space in threads.unknown}
        self.stmts = list(walk(threads.loop.body.stmts))
        self.writes = [s for s in self.stmts if isinstance(s, Write)]
        self.changed = {root for s in self.writes for root in threads.roots(s.array)}

    def run(self) -> Part:
        self._seed()
        while self._waiting:
            self._need(self._waiting.pop())
        return self.found

    def _seed(self) -> None:
        for stmt in self.stmts:
            match stmt:
                case Push(values=values):
                    if self.tape or id(stmt) in self.threads.own:
                        self.add(stmt)
                        for value in values:
                            if isinstance(value.type, Array):
                                self.need(value)
                case Pop() if id(stmt) not in self.threads.own:
                    self.add(stmt)
                case Check(cond=cond):
                    self.add(stmt)
                    self.need(cond)
                case For() | While():
                    if not self.unknown.isdisjoint(stmt.body.params):
                        raise Unknown
            for value in stmt.results:
                if value in self.unknown:
                    self.add(stmt)
                    for operand in operands(stmt):
                        if not isinstance(operand.type, Array):
                            self.need(operand)

    def add(self, stmt: Stmt) -> None:
        if id(stmt) in self.found.stmts:
            return
        self.found.stmts.add(id(stmt))
        for each in self.threads._around[id(stmt)]:
            self.found.stmts.add(id(each))
            match each:
                case If(cond=cond):
                    self.need(cond)
                case For(trips=trips):
                    self.need(trips)
                case While(body=body):
                    self.need(body.yields[0])

    def need(self, operand: Operand) -> None:
        if not isinstance(operand, Value) or operand in self.found.values:
            return
        if operand not in self.threads.inside or operand == self.threads.loop.index:
            return
        if operand in self.unknown:
            raise Unknown
        self.found.values.add(operand)
        self._waiting.append(operand)

    def _need(self, operand: Value) -> None:
        """Need what a value is computed from."""
        threads = self.threads
        stmt = threads._made.get(operand)
        if stmt is None:
            raise Unknown
        self.add(stmt)
        match stmt:
            case Apply(op=op, args=args):
                for arg in args:
                    self.need(arg)
                if op.copies:
                    self.elements(args[0])
            case Load(array=array, index=index):
                for each in (array, *index):
                    self.need(each)
                self.elements(array)
            case If(cond=cond, results=results):
                self.need(cond)
                for block in blocks(stmt):
                    self.need(block.yields[results.index(operand)])
            case For() | While():
                if isinstance(stmt, For):
                    self.need(stmt.trips)
                    if operand == stmt.index:
                        return
                else:
                    self.need(stmt.body.yields[0])
                values = stmt.body.params if operand in stmt.body.params else stmt.results
                k = values.index(operand)
                self.need(stmt.body.params[k])
                self.need(stmt.init[k])
                self.need(stmt.body.yields[k + isinstance(stmt, While)])
                if stmt.body.params[k] in threads.copied(stmt):
                    self.elements(stmt.init[k])
            case Pop():
                if id(stmt) in threads.own:
                    raise Unknown
            case _:
                raise Unknown

    def elements(self, array: Operand) -> None:
        """What is in an array is needed."""
        for root in self.threads.roots(array):
            if root in self._elements:
                continue
            self._elements.add(root)
            if root not in self.threads.inside:
                if root in self.changed:
                    raise Unknown
                continue
            if root in self.unknown:
                raise Unknown
            for write in self.writes:
                if root in self.threads.roots(write.array):
                    self.add(write)
                    for operand in (write.array, *write.index, write.value):
                        self.need(operand)
            assert isinstance(root, Value)
            self.need(root)


def is_measured(threads: Threads) -> bool:
    """Whether it can be told before a loop runs what memory its threads need."""
    try:
        threads.measured(lambda _: "")
    except Unknown:
        return False
    return True
