"""What routines do, as LLVM's instructions: calls of LAPACK, and copies between their arrays.

Matrices that are filled, and memory at an address, lie in C order. `adc.backend.python.machine`
does the same in CPython.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import cgutils, intrinsic, signature, types
from adc.backend.runtime import lapack
from adc.backend.runtime.state import State

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
I64 = ir.IntType(64)
_BIT = ir.IntType(1)

#: Stands for the argument by which LAPACK says what went wrong.
INFO = object()
# Matrices with no more rows are factorized by loops (measured).
SMALL = 12
# Rows that are transposed at once: so many cache lines are written to in turn.
_ROWS = 16


@dataclass(frozen=True)
class Size:
    """A number that is known when the code runs."""

    builder: Any
    value: Any

    def __add__(self, other: Any) -> Size:
        return Size(self.builder, self.builder.add(self.value, value_of(other)))

    def __sub__(self, other: Any) -> Size:
        return Size(self.builder, self.builder.sub(self.value, value_of(other)))

    def __mul__(self, other: Any) -> Size:
        return Size(self.builder, self.builder.mul(self.value, value_of(other)))


def value_of(number: Any) -> Any:
    if isinstance(number, ir.Value):  # an argument
        return number
    return number.value if isinstance(number, Size) else ir.Constant(I64, int(number))


@dataclass(frozen=True)
class Memory:
    """Numbers from an address on."""

    data: Any


@dataclass(frozen=True)
class _Given(Memory):
    """An array: its sizes, and the address of an element."""

    shape: tuple[Size, ...]
    place: Callable[..., Any]

    @property
    def size(self) -> Size:
        (size,) = self.shape
        return size


@dataclass(frozen=True)
class _Char:
    value: Any


class BaseMachine:
    def __init__(self, context: Any, builder: Any, state: Any, item: Any) -> None:
        self._context, self._b, self._state, self._item = context, builder, state, item
        self._letter = "d" if item == ir.DoubleType() else "s"

    # -- numbers ---------------------------------------------------------------------------

    def most(self, a: Any, b: Any) -> Size:
        left, right = value_of(a), value_of(b)
        larger = self._b.icmp_signed(">", left, right)
        return Size(self._b, self._b.select(larger, left, right))

    def equal(self, a: Any, b: Any) -> Any:
        return self._b.icmp_signed("==", value_of(a), value_of(b))

    def choose(self, condition: Any, yes: str, no: str) -> _Char:
        options = (ir.Constant(_I8, ord(each)) for each in (yes, no))
        return _Char(self._b.select(self._bit(condition), *options))

    def _bit(self, condition: Any) -> Any:
        if condition.type == _BIT:
            return condition
        return self._b.icmp_unsigned("!=", condition, ir.Constant(condition.type, 0))

    def failed(self, info: Any) -> Any:
        return self._b.zext(self._b.icmp_signed("!=", info.value, ir.Constant(I64, 0)), I64)

    def either(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """Return one of two numbers, and do only what leads to it."""
        place = cgutils.alloca_once(self._b, I64)
        self.branch(
            condition,
            lambda: self._b.store(yes().value, place),
            lambda: self._b.store(no().value, place),
        )
        return Size(self._b, self._b.load(place))

    def branch(self, condition: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
        with self._b.if_else(self._bit(condition)) as (then, otherwise):
            with then:
                yes()
            with otherwise:
                no()

    def took(self, operations: Size) -> None:
        """Count work: a unit is about a nanosecond (`runtime.poll`)."""
        b = self._b
        ticks = b.gep(self._state, [ir.Constant(I64, State.TICKS)])
        work = b.ashr(operations.value, ir.Constant(I64, 3))
        b.store(b.sub(b.load(ticks), work), ticks)

    # -- memory ----------------------------------------------------------------------------

    def at(self, memory: Memory, offset: Any) -> Memory:
        return Memory(self._b.gep(memory.data, [value_of(offset)]))

    def integers(self, count: int) -> Memory:
        return Memory(cgutils.alloca_once(self._b, _I32, count))

    def copy(self, out: Memory, source: Any, rows: Any, columns: Any, keep: str = "") -> None:
        place, b = self._places(source, columns), self._b
        with cgutils.for_range(b, value_of(rows), intp=I64) as down:
            with cgutils.for_range(b, value_of(columns), intp=I64) as across:
                self._put(out, place, down.index, across.index, value_of(columns), keep)

    def transpose(
        self, out: Memory, source: Any, rows: Any, columns: Any,
        stride: Any = None, keep: str = "",
    ) -> None:  # fmt: skip
        """Fill a matrix of so many rows and columns with the transpose of another one.

        Its own rows are `stride` apart, if it is memory.
        """
        place = self._places(source, rows if stride is None else stride)
        self._move(out, lambda i, j: place(j, i), rows, columns, keep)

    def _move(
        self, out: Memory, place: Callable[..., Any], rows: Any, columns: Any, keep: str
    ) -> None:
        b = self._b
        height, width = value_of(rows), value_of(columns)
        step = ir.Constant(I64, _ROWS)
        with cgutils.for_range_slice(
            b, ir.Constant(I64, 0), height, step, intp=I64
        ) as (first, _), cgutils.for_range(b, width, intp=I64) as across:  # fmt: skip
            j = across.index
            stop = b.add(first, step)
            stop = b.select(b.icmp_signed("<", stop, height), stop, height)
            with cgutils.for_range_slice(b, first, stop, ir.Constant(I64, 1), intp=I64) as (i, _):
                self._put(out, place, i, j, width, keep)

    def _put(
        self, out: Memory, place: Callable[..., Any], i: Any, j: Any, width: Any, keep: str
    ) -> None:
        b = self._b
        value = b.load(place(i, j))
        if keep:
            kept = b.icmp_signed("<=" if keep == "lower" else ">=", j, i)
            value = b.select(kept, value, ir.Constant(self._item, 0.0))
        b.store(value, b.gep(out.data, [b.add(b.mul(i, width), j)]))

    def join_transposed(self, out: Memory, re: _Given, im: _Given, rows: Any, columns: Any) -> None:
        """Fill memory with so many rows of complex numbers: the transpose of what has these parts.

        A complex number is its real and its imaginary part in turn.
        """
        b, width = self._b, value_of(columns)
        with self._range(ir.Constant(I64, 0), value_of(rows)) as (i, _):
            with self._range(ir.Constant(I64, 0), width) as (j, _):
                for source, place in zip((re, im), self._parts(out, i, j, width), strict=True):
                    b.store(b.load(source.place(j, i)), place)

    def separate_transposed(
        self, re: Memory, im: Memory, source: Memory, rows: Any, columns: Any,
        stride: Any = None, keep: str = "",
    ) -> None:  # fmt: skip
        """Fill two matrices with the parts of the transpose of what memory has.

        Its own rows are `stride` apart.
        """
        width, step = value_of(columns), value_of(rows if stride is None else stride)
        for part, out in enumerate((re, im)):
            with self._range(ir.Constant(I64, 0), value_of(rows)) as (i, _):
                with self._range(ir.Constant(I64, 0), width) as (j, _):
                    place = self._parts(source, j, i, step)[part]
                    self._put(out, lambda *_, place=place: place, i, j, width, keep)

    def _parts(self, memory: Memory, i: Any, j: Any, width: Any) -> list[Any]:
        """Return the places of both parts of a complex number in memory."""
        b = self._b
        at = b.shl(b.add(b.mul(i, width), j), ir.Constant(I64, 1))
        return [b.gep(memory.data, [each]) for each in (at, self._after(at))]

    def transpose_in_place(self, square: Memory, n: Size) -> None:
        b, size = self._b, n.value
        with cgutils.for_range(b, size, intp=I64) as rows:
            i = rows.index
            with cgutils.for_range(b, i, intp=I64) as columns:
                j = columns.index
                places = [
                    b.gep(square.data, [b.add(b.mul(x, size), y)]) for x, y in ((i, j), (j, i))
                ]
                values = [b.load(each) for each in places]
                for value, place in zip(values, places[::-1], strict=True):
                    b.store(value, place)

    def count_from_zero(self, pivots: Any, n: Size) -> None:
        """Turn integers of 32 bits that count from one into longer ones that count from zero."""
        b = self._b
        short = b.bitcast(pivots.data, _I32.as_pointer())
        with cgutils.for_range(b, n.value, intp=I64) as loop:
            at = b.sub(b.sub(n.value, loop.index), ir.Constant(I64, 1))
            value = b.sext(b.load(b.gep(short, [at])), I64)
            b.store(b.sub(value, ir.Constant(I64, 1)), b.gep(pivots.data, [at]))

    def swap_rows(
        self, x: Memory, n: Size, columns: Size, pivots: Memory, *, backwards: bool
    ) -> None:
        b, width = self._b, columns.value
        with cgutils.for_range(b, n.value, intp=I64) as loop:
            row = loop.index
            if backwards:
                row = b.sub(b.sub(n.value, row), ir.Constant(I64, 1))
            other = b.load(b.gep(pivots.data, [row]))
            with b.if_then(b.icmp_signed("!=", row, other)):
                with cgutils.for_range(b, width, intp=I64) as across:
                    places = [
                        b.gep(x.data, [b.add(b.mul(each, width), across.index)])
                        for each in (row, other)
                    ]
                    values = [b.load(each) for each in places]
                    for value, place in zip(values, places[::-1], strict=True):
                        b.store(value, place)

    def _places(self, source: Any, stride: Any) -> Callable[..., Any]:
        """Return what addresses the element in a row and a column, of an array or of memory."""
        if isinstance(source, _Given) and len(source.shape) == 2:
            return source.place
        b, step = self._b, value_of(stride)
        return lambda i, j: b.gep(source.data, [b.add(b.mul(i, step), j)])

    # -- small matrices, for which calls of LAPACK take too long -----------------------------

    def is_small(self, n: Size) -> Any:
        return self._b.icmp_signed("<=", n.value, ir.Constant(I64, SMALL))

    def _range(self, start: Any, stop: Any) -> Any:
        return cgutils.for_range_slice(self._b, start, stop, ir.Constant(I64, 1), intp=I64)

    def _after(self, i: Any) -> Any:
        return self._b.add(i, ir.Constant(I64, 1))

    def _element(self, matrix: Memory, n: Any, i: Any, j: Any, by_columns: bool) -> Any:
        row, column = (j, i) if by_columns else (i, j)
        return self._b.gep(matrix.data, [self._b.add(self._b.mul(row, n), column)])

    def lu(self, lu: Memory, n: Size, pivots: Memory) -> Size:
        """Factorize a matrix by columns; return 1 if it is singular, else 0."""
        b, size, zero = self._b, n.value, ir.Constant(I64, 0)
        absolute = b.module.declare_intrinsic("llvm.fabs", [self._item])
        info, best = (cgutils.alloca_once(b, I64) for _ in range(2))
        top = cgutils.alloca_once(b, self._item)
        b.store(zero, info)

        def at(i: Any, j: Any) -> Any:
            return self._element(lu, size, i, j, True)

        with self._range(zero, size) as (j, _):
            b.store(j, best)
            b.store(b.call(absolute, [b.load(at(j, j))]), top)
            with self._range(self._after(j), size) as (i, _):
                value = b.call(absolute, [b.load(at(i, j))])
                with b.if_then(b.fcmp_ordered(">", value, b.load(top))):
                    b.store(value, top)
                    b.store(i, best)
            chosen = b.load(best)
            b.store(chosen, b.gep(pivots.data, [j]))
            with b.if_then(b.icmp_signed("!=", chosen, j)), self._range(zero, size) as (k, _):
                places = at(j, k), at(chosen, k)
                values = [b.load(place) for place in places]
                for value, place in zip(values, places[::-1], strict=True):
                    b.store(value, place)
            pivot = b.load(at(j, j))
            nothing = b.fcmp_ordered("==", pivot, ir.Constant(self._item, 0.0))
            with b.if_else(nothing) as (singular, regular):
                with singular:
                    b.store(ir.Constant(I64, 1), info)
                with regular:
                    with self._range(self._after(j), size) as (i, _):
                        b.store(b.fdiv(b.load(at(i, j)), pivot), at(i, j))
                    with self._range(self._after(j), size) as (k, _):
                        factor = b.load(at(j, k))
                        with self._range(self._after(j), size) as (i, _):
                            term = b.fmul(b.load(at(i, j)), factor)
                            b.store(b.fsub(b.load(at(i, k)), term), at(i, k))
        return Size(b, b.load(info))

    def lower_factor(self, factor: Memory, n: Size) -> Size:
        """Turn a lower triangle into its Cholesky factor; return 1 if there is none, else 0."""
        b, size, zero = self._b, n.value, ir.Constant(I64, 0)
        root = b.module.declare_intrinsic("llvm.sqrt", [self._item])
        info = cgutils.alloca_once(b, I64)
        b.store(zero, info)

        def at(i: Any, j: Any) -> Any:
            return self._element(factor, size, i, j, False)

        with self._range(zero, size) as (j, _):
            pivot = b.load(at(j, j))
            positive = b.fcmp_ordered(">", pivot, ir.Constant(self._item, 0.0))
            with b.if_then(b.not_(positive)):
                b.store(ir.Constant(I64, 1), info)
            pivot = b.call(root, [pivot])
            b.store(pivot, at(j, j))
            with self._range(self._after(j), size) as (i, _):
                b.store(b.fdiv(b.load(at(i, j)), pivot), at(i, j))
            with self._range(self._after(j), size) as (i, _):
                scale = b.load(at(i, j))
                with self._range(self._after(j), self._after(i)) as (k, _):
                    term = b.fmul(scale, b.load(at(k, j)))
                    b.store(b.fsub(b.load(at(i, k)), term), at(i, k))
        return Size(b, b.load(info))

    def substitute(
        self, t: Memory, x: Memory, n: Size, columns: Size, *,
        lower: bool, turned: bool, unit: bool, by_columns: bool,
    ) -> None:  # fmt: skip
        """Solve for `x` with a triangle, or its transpose."""
        b, size, width = self._b, n.value, columns.value
        zero, forward = ir.Constant(I64, 0), lower != turned

        def at(i: Any, j: Any) -> Any:
            return self._element(t, size, *((j, i) if turned else (i, j)), by_columns)

        def place(i: Any, j: Any) -> Any:
            return b.gep(x.data, [b.add(b.mul(i, width), j)])

        with self._range(zero, size) as (step, _):
            i = step if forward else b.sub(b.sub(size, step), ir.Constant(I64, 1))
            if not unit:
                pivot = b.load(at(i, i))
                with self._range(zero, width) as (j, _):
                    b.store(b.fdiv(b.load(place(i, j)), pivot), place(i, j))
            rest = (self._after(i), size) if forward else (zero, i)
            with self._range(*rest) as (k, _):
                factor = b.load(at(k, i))
                with self._range(zero, width) as (j, _):
                    term = b.fmul(factor, b.load(place(i, j)))
                    b.store(b.fsub(b.load(place(k, j)), term), place(k, j))

    # -- LAPACK ----------------------------------------------------------------------------

    def call(self, name: str, *args: Any, of_complex: bool = False) -> Any:
        """Call a function of LAPACK or BLAS; return what it says in `INFO`, if that is passed."""
        b, given, info = self._b, [], None
        for arg in args:
            if isinstance(arg, Memory):
                place = arg.data
            elif arg is INFO:
                place = info = self._slot(ir.Constant(_I32, 0))
            elif isinstance(arg, str):
                place = self._slot(ir.Constant(_I8, ord(arg)))
            elif isinstance(arg, _Char):
                place = self._slot(arg.value)
            elif isinstance(arg, float):
                place = self._slot(ir.Constant(self._item, arg))
            else:
                place = self._slot(b.trunc(value_of(arg), _I32))
            given.append(b.bitcast(place, _I8.as_pointer()))
        kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
        symbol = lapack.symbol(letter(self._letter, of_complex) + name)
        b.call(cgutils.get_or_insert_function(b.module, kind, symbol), given)
        return None if info is None else Size(b, b.sext(b.load(info), I64))

    def _slot(self, value: Any) -> Any:
        place = cgutils.alloca_once(self._b, value.type)
        self._b.store(value, place)
        return place


def letter(real: str, of_complex: bool) -> str:
    """Return how the names of LAPACK's functions begin, of complex numbers for those of reals."""
    return {"s": "c", "d": "z"}[real] if of_complex else real


def intrinsic_of(row: Callable[..., Any], kind: type[BaseMachine] = BaseMachine) -> Any:
    """Return a routine as an intrinsic of the state and its operands."""

    def routine(typingctx: Any, state: Any, *kinds: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            memory = context.make_array(state)(context, builder, args[0])
            item = context.get_data_type(kinds[0].dtype)
            machine = kind(context, builder, memory.data, item)
            given = [
                _given(context, builder, ty, arg) if isinstance(ty, types.Array) else arg
                for ty, arg in zip(kinds, args[1:], strict=True)
            ]
            found = row(machine, *given)
            return context.get_dummy_value() if found is None else found

        flag = row.__annotations__["return"] != "None"
        return signature(types.int64 if flag else types.void, state, *kinds), codegen

    return intrinsic(routine)


def _given(context: Any, builder: Any, ty: Any, arg: Any) -> _Given:
    array = context.make_array(ty)(context, builder, arg)
    shape = cgutils.unpack_tuple(builder, array.shape, ty.ndim)
    strides = cgutils.unpack_tuple(builder, array.strides, ty.ndim)

    def place(i: Any, j: Any) -> Any:
        return cgutils.get_item_pointer2(
            context, builder, array.data, shape, strides, ty.layout, (i, j)
        )

    return _Given(array.data, tuple(Size(builder, each) for each in shape), place)


__all__ = ["INFO", "SMALL", "intrinsic_of", "letter"]
