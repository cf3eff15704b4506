"""What operations, memory, loops and tapes cost on a machine, and what a function then costs.

`Costs` are the few numbers that plans need, in seconds. They are shipped for a usual x86-64 server
core; ``adc calibrate`` measures those of the machine. Whatever prices takes them as a parameter.

`estimate` counts, for every loop nest of a function in value form or buffer form, ::

    for O %i in 0 to %n {
      for L %j in 0 to %m {
        %v = load %x[%i, %j]
        %e = exp %v
        write %y[%i, %j] %e
      }
    }

its operations (``25*m*n``, an addition is 1), bytes (``16*m*n``) and entries of loops (``1 + n``)
for the sizes that are known (`sizes.extents`), and predicts seconds by a roofline.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property

from adc.ir.analysis.sizes.extents import Extents, Known
from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
)
from adc.ir.errors import Span
from adc.ir.opdef import OPS
from adc.ir.types import Array, Type

# What older versions wrote among the costs: what users choose (`target`).
_CHOICES = ("offload", "parallel", "cuda", "deterministic")


@dataclass(frozen=True)
class Costs:
    """What things cost on one machine, in seconds on one core.

    Attributes
    ----------
    operation : float
        An addition in a vectorised loop: the unit of `OpDef.cost`.
    load, store : float
        A byte of consecutive elements that are in cache.
    load_memory, store_memory : float
        A byte of consecutive elements that are not.
    scatter, scatter_memory : float
        An element whose place does not follow the one before, read or read and written: of an
        array that is in cache, and of one that is not.
    loop : float
        Entering a loop, which is what an iteration of the loop around it takes.
    tape : float
        An element stored on the tape and loaded again, in cache.
    product : float
        A multiply-add of a BLAS product.
    call : float
        A call of a function of the IR.
    disk : float
        A byte that is written to a disk and read again.
    cache : int
        Bytes that stay in cache.
    rows : tuple of (str, float)
        Operations on float64 that are not a multiple of an addition, by name.

    Examples
    --------
    >>> costs = Costs.default()
    >>> Costs.from_json(costs.to_json()) == costs
    True
    >>> costs.additions(costs.operation)
    1.0
    """

    operation: float
    load: float
    store: float
    load_memory: float
    store_memory: float
    scatter: float
    scatter_memory: float
    loop: float
    tape: float
    product: float
    call: float
    disk: float
    cache: int
    rows: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        names = [each.name for each in fields(self) if each.name != "rows"]
        numbers = [getattr(self, name) for name in names]
        for number in (*numbers, *(seconds for _, seconds in self.rows)):
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise ValueError(f"{number!r} is not a number")
            if not (math.isfinite(number) and number > 0.0):
                raise ValueError(f"{number!r} is not a cost")
        if list(self.rows) != sorted(dict(self.rows).items()):
            raise ValueError("the rows are not sorted by name")

    @staticmethod
    def default() -> Costs:
        """Return the costs that are shipped."""
        return SHIPPED

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "rows": dict(self.rows)}, indent=1)

    @staticmethod
    def from_json(text: str) -> Costs:
        """Return the costs that `to_json` wrote; raise ValueError if they are none."""
        data = json.loads(text)
        try:
            rows = {str(name): seconds for name, seconds in data.pop("rows").items()}
            data = {name: number for name, number in data.items() if name not in _CHOICES}
            return Costs(**data, rows=tuple(sorted(rows.items())))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"these are no costs: {error}") from None

    @cached_property
    def hash(self) -> str:
        """A short digest: other costs have another, in any process."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:12]

    @cached_property
    def _rows(self) -> dict[str, float]:
        return dict(self.rows)

    def seconds(self, stmt: Apply) -> float:
        """Return what an operation on numbers takes in a vectorised loop."""
        known = self._rows.get(stmt.op.name) if _is_float(stmt) else None
        return stmt.op.cost * self.operation if known is None else known

    def additions(self, seconds: float) -> float:
        """Return seconds in units of an addition, rounded to two digits."""
        return float(f"{seconds / self.operation:.2g}")


def _is_float(stmt: Apply) -> bool:
    return any(arg.type.kind == "f" for arg in stmt.args)


# Measured by `adc calibrate` on a core of an x86-64 server with AVX-512, and rounded.
SHIPPED = Costs(
    operation=0.035e-9,
    load=0.008e-9,
    store=0.016e-9,
    load_memory=0.06e-9,
    store_memory=0.05e-9,
    scatter=0.4e-9,
    scatter_memory=5.0e-9,
    loop=0.9e-9,
    tape=0.18e-9,
    product=0.03e-9,
    call=0.55e-9,
    disk=2e-9,
    cache=2**20,
    rows=tuple(
        (name, float(f"{op.nanoseconds}e-9"))
        for name, op in sorted(OPS.items())
        if op.nanoseconds is not None
    ),
)


# -- the estimate ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nest:
    """What one loop nest does; or, where `label` is empty, the code between the nests.

    Attributes
    ----------
    label : str
        Of its outermost loop.
    loc : Span or None
        Where it stands in the user's source.
    operations : float
        Operations on numbers, an addition is 1. NaN where a size is not known, as in all of these.
    bytes : float
        Bytes of consecutive elements that are read or written.
    scattered : float
        Elements that are read or written out of order.
    taped : float
        Elements that are pushed or popped.
    entered : float
        Times that loops are entered.
    products : float
        Multiply-adds by BLAS.
    calls : float
        Calls of other functions, whose own work is not counted.
    seconds : float or None
        Predicted; None where a size is not known, or what a call takes.
    """

    label: str
    loc: Span | None
    operations: float
    bytes: float
    scattered: float
    taped: float
    entered: float
    products: float
    calls: float
    seconds: float | None


@dataclass(frozen=True)
class Estimate:
    """What a function does, nest by nest in the order of the program."""

    nests: tuple[Nest, ...]

    @property
    def seconds(self) -> float | None:
        """The predicted time of one call; None if that of a nest is not known."""
        total = 0.0
        for nest in self.nests:
            if nest.seconds is None:
                return None
            total += nest.seconds
        return total


def estimate(
    fn: Function, sizes: Known | None = None, costs: Costs = SHIPPED, *, offload: bool = False
) -> Estimate:
    """Return what the loop nests of `fn` do, and how long that takes.

    It is a model of throughput: elements of a loop are taken to be independent, an arm of a branch
    to be taken half of the time, a loop whose length depends on the one around it to have its
    length in the middle of that.

    Parameters
    ----------
    fn : Function
        In value form or buffer form.
    sizes : mapping
        Integers, and shapes of arrays, by the name of the parameter; of a `while` loop ``W`` the
        iterations ``W.n``.
    costs : Costs
        Of the machine.
    offload : bool
        Whether tapes are on the disk.
    """
    return _Counter(fn, sizes or {}, costs, offload).run()


@dataclass(frozen=True)
class _Loop:
    label: str
    trips: float


@dataclass(frozen=True)
class _Access:
    """One array, as one statement reads or writes it, from outermost to innermost loop."""

    array: str
    writes: bool
    itemsize: int
    elements: float  # of the array; infinite if that is not known
    loops: tuple[_Loop, ...]
    moved_by: frozenset[str]

    def footprint(self, loops: Sequence[_Loop]) -> float:
        """Return the bytes of the elements that `loops`, the innermost ones, reach."""
        reached = math.prod([one.trips for one in loops if one.label in self.moved_by])
        return self.itemsize * min(reached, self.elements)


@dataclass(frozen=True)
class _Place:
    """How often the code at hand runs (NaN if that is not known), and in which loops it lies."""

    times: float
    loops: tuple[_Loop, ...] = ()

    def within(self, loop: _Loop) -> _Place:
        return _Place(self.times * loop.trips, (*self.loops, loop))

    def often(self, number: float) -> _Place:
        return _Place(self.times * number, self.loops)


@dataclass
class _Counts:
    """What is counted of one nest."""

    operations: float = 0.0
    loaded: float = 0.0
    stored: float = 0.0
    scattered: float = 0.0
    distant: float = 0.0  # those of `scattered` that are not in cache
    taped: float = 0.0
    disk: float = 0.0  # bytes to or from tapes
    entered: float = 0.0
    products: float = 0.0
    calls: float = 0.0
    accesses: list[_Access] = field(default_factory=list)


# Moves an index in ways that no loop counter tells: it was read from an array.
_DATA = "*"


class _Counter:
    def __init__(self, fn: Function, sizes: Known, costs: Costs, offload: bool) -> None:
        self.fn = fn
        self.costs = costs
        self.offload = offload
        self.extents = Extents(fn, sizes, guess=math.nan)
        # Which loops move a number from iteration to iteration.
        self.moved: dict[str, frozenset[str]] = {}
        # All versions of an array in value form are one array.
        self.roots: dict[str, str] = {}

    def run(self) -> Estimate:
        between = _Counts()
        nests: list[Nest] = []
        once = _Place(1.0)
        for stmt in self.fn.body:
            if isinstance(stmt, For | While | Reverse):
                counts = _Counts()
                self.count(stmt, once, counts)
                label = stmt.loop if isinstance(stmt, Reverse) else stmt.label
                nests.append(self.nest(label, stmt.loc, counts))
            else:
                self.count(stmt, once, between)
        rest = self.nest("", None, between)
        if rest.seconds != 0.0:
            nests.append(rest)
        return Estimate(tuple(nests))

    def nest(self, label: str, loc: Span | None, counts: _Counts) -> Nest:
        seconds = self.predict(counts)
        return Nest(
            label,
            loc,
            counts.operations,
            counts.loaded + counts.stored,
            counts.scattered,
            counts.taped,
            counts.entered,
            counts.products,
            counts.calls,
            None if math.isnan(seconds) else seconds,
        )

    # -- seconds ---------------------------------------------------------------------------

    def predict(self, counts: _Counts) -> float:
        """Return the seconds of a nest: operations hide behind memory, or the other way round."""
        costs = self.costs
        if counts.calls != 0.0:
            return math.nan
        cached = costs.load * counts.loaded + costs.store * counts.stored
        cached += costs.scatter * (counts.scattered - counts.distant)
        cached += costs.scatter_memory * counts.distant
        cached += costs.tape / 2 * counts.taped
        parts = (
            costs.operation * counts.operations,
            cached,
            self.from_memory(counts.accesses),
        )
        # `max` does not tell a NaN.
        longest = math.nan if any(map(math.isnan, parts)) else max(parts)
        disk = costs.disk / 2 * counts.disk if self.offload else 0.0
        entered = costs.loop * counts.entered
        return longest + disk + entered + costs.product * counts.products

    def from_memory(self, accesses: Sequence[_Access]) -> float:
        """Return the seconds of what does not stay in cache.

        An element is still there when an iteration of a loop comes back to it if all that one
        iteration reaches fits.
        """
        # Neighbours, as x[i - 1] and x[i + 1], come in one stream.
        distinct = {(a.array, a.writes, a.moved_by, a.loops): a for a in accesses}
        if self.reached(accesses, 0, ()) <= self.costs.cache:
            return 0.0
        total = 0.0
        for access in distinct.values():
            bytes_ = float(access.itemsize)
            for depth in reversed(range(len(access.loops))):
                loop = access.loops[depth]
                inside = self.reached(accesses, depth + 1, access.loops[: depth + 1])
                if loop.label in access.moved_by or inside > self.costs.cache:
                    bytes_ *= loop.trips
            rate = self.costs.store_memory if access.writes else self.costs.load_memory
            total += bytes_ * rate
        return total

    def reached(self, accesses: Sequence[_Access], depth: int, around: tuple[_Loop, ...]) -> float:
        """Return the bytes that one iteration of the loops `around` reaches, array by array."""
        largest: dict[str, float] = {}
        for access in accesses:
            if access.loops[:depth] == around:
                size = access.footprint(access.loops[depth:])
                largest[access.array] = max(size, largest.get(access.array, 0.0), key=_nan_last)
        return sum(largest.values())

    # -- counting --------------------------------------------------------------------------

    def count(self, stmt: Stmt, at: _Place, to: _Counts) -> None:
        match stmt:
            case Apply():
                self.apply(stmt, at, to)
            case Load(result=result, array=array, index=index):
                self.access(array, index, at, to, reads=True, writes=False)
                self.moved[result.name] = frozenset({_DATA})
            case Store(array=array, index=index) | Write(array=array, index=index):
                self.access(array, index, at, to, reads=stmt.accumulate, writes=True)
                if stmt.accumulate:
                    to.operations += at.times
                for version in stmt.results:
                    self.same(version, array)
            case Gemm():
                self.gemm(stmt, at, to)
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    self.block(arm.stmts, at.often(0.5), to)
                for k, result in enumerate(results):
                    yields = (then.yields[k], orelse.yields[k])
                    self.moved[result.name] = self.movers(yields)
                    if isinstance(yields[0], Value):
                        self.same(result, yields[0])
            case For() | While() | Reverse():
                self.loop(stmt, at, to)
            case Call():
                to.calls += at.times
            case Push(values=values):
                for value in values:
                    self.tape(value, at, to)
            case Pop(results=results):
                for result in results:
                    self.tape(result, at, to)
                    self.moved[result.name] = frozenset({_DATA})
            case Recall(result=result, value=value):
                # It is as it was: `remat` has yet to decide what that takes.
                self.moved[result.name] = self.movers((value,))
                self.same(result, value)
            case Check() | Print():
                pass

    def block(self, stmts: Sequence[Stmt], at: _Place, to: _Counts) -> None:
        for stmt in stmts:
            self.count(stmt, at, to)

    def apply(self, stmt: Apply, at: _Place, to: _Counts) -> None:
        arrays = [arg for arg in stmt.args if isinstance(arg, Value) and _is_array(arg.type)]
        result = stmt.result
        if stmt.op.asks_shape:
            return
        if isinstance(result.type, Array):
            self.made(stmt, at, to)
            return
        if arrays:  # a sum of all elements
            everywhere = self.whole(arrays[0], at)
            to.loaded += arrays[0].type.numpy.itemsize * everywhere.times
            to.operations += everywhere.times
            return
        to.operations += self.costs.additions(self.costs.seconds(stmt)) * at.times
        moved = self.movers(stmt.args)
        for each in stmt.results:
            self.moved[each.name] = moved

    def made(self, stmt: Apply, at: _Place, to: _Counts) -> None:
        """Count the making of an array."""
        result, op = stmt.result, stmt.op
        if op.aliases == "whole" and isinstance(stmt.args[0], Value):
            self.same(result, stmt.args[0])
        if op.copies or op.fills:
            moved = result.type.numpy.itemsize * self.whole(result, at).times
            to.loaded += moved if op.copies else 0.0
            to.stored += moved

    def access(
        self,
        array: Value,
        index: Sequence[Operand],
        at: _Place,
        to: _Counts,
        *,
        reads: bool,
        writes: bool,
    ) -> None:
        ty = array.type
        assert isinstance(ty, Array)
        order = tuple(index) if ty.layout != "F" else tuple(index)[::-1]
        moved = self.movers(order)
        innermost = at.loops[-1].label if at.loops else ""
        itemsize = ty.numpy.itemsize
        root = self.root(array)
        size = self.extents.elements(array)
        elements = math.inf if math.isnan(size) else size  # one that is not known limits nothing
        access = _Access(root, writes, itemsize, elements, at.loops, moved)
        if _DATA in moved or innermost in self.movers(order[:-1]):
            to.scattered += at.times
            everywhere = elements if math.isfinite(elements) else 0.0
            reached = itemsize * everywhere if _DATA in moved else access.footprint(at.loops)
            if reached > self.costs.cache:
                to.distant += at.times
            return
        if reads:
            to.loaded += itemsize * at.times
            to.accesses.append(replace(access, writes=False))
        if writes:
            to.stored += itemsize * at.times
            to.accesses.append(replace(access, writes=True))

    def gemm(self, stmt: Gemm, at: _Place, to: _Counts) -> None:
        inner = self.extents.shape(stmt.a)[0 if stmt.transposed[0] else 1]
        to.products += at.times * self.extents.elements(stmt.array) * inner
        for version in stmt.results:
            self.same(version, stmt.array)

    def loop(self, stmt: For | While | Reverse, at: _Place, to: _Counts) -> None:
        label = stmt.loop if isinstance(stmt, Reverse) else stmt.label
        number = self.extents.trips_of(label)
        to.entered += at.times
        own = frozenset({label})
        if isinstance(stmt, For | Reverse):
            self.moved[stmt.index.name] = own
        for param, start in zip(stmt.body.params, stmt.init, strict=True):
            self.moved[param.name] = own
            if isinstance(start, Value):
                self.same(param, start)
        for result, start in zip(stmt.results, stmt.init, strict=True):
            if isinstance(start, Value):
                self.same(result, start)
        self.block(stmt.body.stmts, at.within(_Loop(label, number)), to)

    # -- names and numbers -----------------------------------------------------------------

    def tape(self, value: Operand, at: _Place, to: _Counts) -> None:
        everywhere = self.whole(value, at)
        to.taped += everywhere.times
        to.disk += value.type.numpy.itemsize * everywhere.times

    def whole(self, value: Operand, at: _Place) -> _Place:
        """Return the place where every element of an array is met once; a number is one."""
        if not isinstance(value, Value) or not _is_array(value.type):
            return at
        return at.often(self.extents.elements(value))

    def same(self, version: Value, array: Value) -> None:
        if _is_array(version.type):
            self.roots[version.name] = self.root(array)

    def root(self, array: Value) -> str:
        return self.roots.get(array.name, array.name)

    def movers(self, values: Sequence[Operand]) -> frozenset[str]:
        found = [self.moved.get(v.name, frozenset()) for v in values if isinstance(v, Value)]
        return frozenset().union(*found)


def _is_array(ty: Type) -> bool:
    return isinstance(ty, Array)


def _nan_last(number: float) -> tuple[bool, float]:
    """Order numbers such that `max` keeps a NaN."""
    return math.isnan(number), number
