"""Rows of large results, written past the cache.

A store to memory that is not in the cache waits until its line has been read. Processors look
ahead where one long loop writes, but not where loops in loops write rows here and there: such
as the gradients of every example of a batch. There, loops write to the stack, and a row goes to
memory in whole lines, by stores that pass by the cache and read nothing::

    for i in vectorizable(n):        row = stack if large and aligned else out[j, k]
        out[j, k, i] = c * x[i]      for i in vectorizable(n):
                                         row[i] = c * x[i]
                                     if row is stack: ...    # to `out[j, k]`

LLVM has such stores, but its vectoriser makes none unless it knows that they are aligned. Whether
they are made is decided while the code runs: there is one loop for both. Gradients of every example
of a small network take half the time; loops over all elements of a matrix take as long as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from llvmlite import ir

from adc.backend.common import syntax
from adc.backend.common.syntax import Assign, Call, Element, Expr, For, Name, Store
from adc.backend.cpu.inference import Types
from adc.backend.cpu.values import Array, Value
from adc.backend.runtime import writing

# Bytes of the least array that is written so: more than one can count on in the cache.
LEAST = 8 << 20
# The most elements of such a row: it has to stay in the nearest cache.
_MOST = 1024
_LINE = 64  # bytes of a line of the cache
_HOME = "fresh"  # of results
_APART = frozenset(("argument", "workspace", "tape"))  # homes that share no memory with it
_I1, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_NUMBERS = (ir.DoubleType(), ir.FloatType(), _I64, _I32)
_VECTOR, _VECTOR_BYTES = ir.VectorType(ir.DoubleType(), 4), 32


class Place(Protocol):
    """The function that a loop is in, while it becomes LLVM's language."""

    builder: Any
    function: Any
    types: Types
    values: dict[str, Value]

    def expr(self, expr: Expr) -> Value:
        """Write an expression."""

    def read(self, name: str) -> Value:
        """Write a reading of a variable."""

    def place(self, array: Array, index: Sequence[Expr]) -> tuple[Any, Any, str]:
        """Write the address of an element; return it with its type and home."""

    def slot(self, ty: Any, zero: bool = False) -> Any:
        """Return a place for a value, in the first block."""


@dataclass(frozen=True)
class _Row:
    """What a loop writes: to `data`, which is the stack if the row `passes` the cache."""

    type: Any
    memory: Any  # where it belongs
    data: Any
    size: Any  # in bytes
    passes: Any
    loop: For
    start: Any  # the counter of the loop at its beginning


class Rows:
    """The rows of results that the innermost loop of a function writes, by their stores."""

    def __init__(self, function: Place) -> None:
        self._function = function
        self._open: dict[int, _Row] = {}
        self._rooms: list[Any] = []  # on the stack; loops use them in turns
        # Whether rows have passed by the cache since memory was last in order.
        self._passed: Any = None

    def enter(self, loop: For, start: Any, stop: Any) -> None:
        """Write where a loop with independent iterations writes its rows."""
        for k, store in enumerate(_stores(self._function, loop)):
            self._open[id(store)] = self._row(k, loop, store, start, stop)

    def _is_large(self, array: Array) -> Any:
        b = self._function.builder
        size: Any = ir.Constant(_I64, writing.itemsize(array.type.dtype))
        for extent in array.shape:
            size = b.mul(size, extent)
        return b.icmp_signed(">=", size, ir.Constant(_I64, LEAST))

    def _row(self, k: int, loop: For, store: Store, start: Any, stop: Any) -> _Row:
        function, b = self._function, self._function.builder
        array: Array = function.expr(store.target.array)
        *outer, _ = store.target.index
        ty, begin, _ = function.place(array, [*outer, syntax.Constant(0)])
        memory = b.gep(begin, [start], inbounds=True)
        count = b.sub(stop, start)
        size = b.mul(count, ir.Constant(_I64, writing.itemsize(ty.dtype)))
        beside = b.and_(b.or_(b.ptrtoint(memory, _I64), size), ir.Constant(_I64, _LINE - 1))
        passes = b.and_(self._is_large(array), b.icmp_signed("==", beside, ir.Constant(_I64, 0)))
        passes = b.and_(passes, b.icmp_signed(">", count, ir.Constant(_I64, 0)))
        passes = b.and_(passes, b.icmp_signed("<=", count, ir.Constant(_I64, _MOST)))
        while len(self._rooms) <= k:
            self._rooms.append(function.slot(ir.ArrayType(_I64, _MOST)))
            self._rooms[-1].align = _LINE
        room = b.bitcast(self._rooms[k], memory.type)
        return _Row(ty, memory, b.select(passes, room, memory), size, passes, loop, start)

    def place(self, store: Store) -> tuple[Any, Any, str] | None:
        """Write the address that a store to a row writes to; None for other stores.

        It has the home of results: nothing else in the loop touches the row on the stack.
        """
        row = self._open.get(id(store))
        if row is None:
            return None
        b = self._function.builder
        counter = b.sub(self._function.read(row.loop.index).value, row.start)
        return row.type, b.gep(row.data, [counter], inbounds=True), _HOME

    def leave(self) -> None:
        """Write rows from the stack to where they belong, after the loop that wrote them."""
        function, b = self._function, self._function.builder
        for row in self._open.values():
            if self._passed is None:
                self._passed = function.slot(_I1, zero=True)
            with b.if_then(row.passes, likely=False):
                b.store(ir.Constant(_I1, 1), self._passed)
                self._copy(row)
        self._open = {}

    def _copy(self, row: _Row) -> None:
        """Write a row from the stack past the cache."""
        b = self._function.builder
        before, copy = b.block, self._function.function.append_basic_block("past_cache")
        b.branch(copy)
        b.position_at_end(copy)
        offset = b.phi(_I64)
        offset.add_incoming(ir.Constant(_I64, 0), before)
        hint = b.module.add_metadata([ir.Constant(_I32, 1)])
        for k in range(0, _LINE, _VECTOR_BYTES):
            at = b.add(offset, ir.Constant(_I64, k))
            source, target = (
                b.inttoptr(b.add(b.ptrtoint(each, _I64), at), _VECTOR.as_pointer())
                for each in (row.data, row.memory)
            )
            vector = b.load(source, align=_VECTOR_BYTES)
            b.store(vector, target, align=_VECTOR_BYTES).set_metadata("nontemporal", hint)
        following = b.add(offset, ir.Constant(_I64, _LINE))
        offset.add_incoming(following, copy)
        after = self._function.function.append_basic_block()
        b.cbranch(b.icmp_signed("<", following, row.size), copy, after)
        b.position_at_end(after)

    def settle(self) -> None:
        """Write that other threads see what has passed by the cache, after the outermost loop."""
        if self._passed is not None:
            b = self._function.builder
            with b.if_then(b.load(self._passed), likely=False):
                b.fence("seq_cst")
                b.store(ir.Constant(_I1, 0), self._passed)


def _stores(function: Place, loop: For) -> list[Store]:
    """Return the stores of a loop to rows of results, if it touches no others of their home."""
    changing = {loop.index} | {name for s in syntax.walk(loop.body) for name in syntax.targets(s)}
    counter = Call("unsigned", (Name(loop.index),))
    counters: list[Expr] = [Name(loop.index), counter]
    for stmt in loop.body:
        if isinstance(stmt, Assign) and stmt.value == counter:
            counters.append(Name(stmt.target))
    found: dict[str, Store] = {}
    touched: set[str] = set()
    for stmt in syntax.walk(loop.body):
        if isinstance(stmt, For):
            return []
        given = syntax.expressions(stmt)
        match stmt:
            case Store(Element(Name(array), (*outer, last))) if (
                outer
                and last in counters
                and array not in found
                and any(stmt is each for each in loop.body)  # in every iteration
                and _has_rows(function.values.get(array))
                and not any(syntax.reads(each) & changing or syntax.loads(each) for each in outer)
            ):
                found[array] = stmt
                given = given[1:]
        touched.update(*map(syntax.reads, given))
    for name in filter(function.types.holds_array, touched):
        if getattr(function.values.get(name), "home", "") not in _APART:
            return []
    return [*found.values()]


def _has_rows(value: Value) -> bool:
    """Whether a value is a result with elements that a vector can hold."""
    return (
        isinstance(value, Array)
        and value.home == _HOME
        and value.type.layout == "C"
        and value.type.aligned
        and value.data.type.pointee in _NUMBERS
    )


__all__ = ["LEAST", "Rows"]
