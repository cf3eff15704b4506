"""The transforms that the CPU has (`adc.library.fourier`), as calls of `ducc`.

They are written for a *machine*, like `routines`. What is transformed are lines along one axis of
an array in C order. Where they are complex, blocks of lines are copied to workspace, with real and
imaginary parts in turn, and back: a block fits in the cache of a processor. Copies of large arrays
take as long as transforms do. So lines along two axes stay in workspace in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import cgutils
from adc.backend.runtime import ducc
from adc.backend.runtime.machine import I64, BaseMachine, Memory, Size, intrinsic_of, value_of

_I8P = ir.IntType(8).as_pointer()

Machine = Any


@dataclass(frozen=True)
class Span:
    """Where a block of lines lies in an array: so many rows, `stride` apart, of so many columns."""

    offset: Any
    rows: Any
    columns: Any
    stride: Any


@dataclass(frozen=True)
class Box:
    """Three axes of numbers in memory, from a number on."""

    memory: Any
    offset: Any
    shape: tuple[Any, Any, Any]
    steps: tuple[Any, Any, Any]
    is_complex: bool


# --- routines -------------------------------------------------------------------------------------


def _blocks(
    m: Machine, outer: Any, inner: Any, block: Any, each: Callable[[Any, Any, Any, Any], None]
) -> None:
    """Call `each` with the first one and the count of outer and of inner indices of each block."""
    many = m.most(m.over(block, m.most(inner, 1)), 1)
    few = m.most(m.least(inner, block), 1)

    def slab(k: Any) -> None:
        first = k * many
        count = m.least(many, outer - first)

        def columns(i: Any) -> None:
            left = i * few
            each(first, count, left, m.least(few, inner - left))

        m.loop(m.over(inner + few - 1, few), columns)

    m.loop(m.over(outer + many - 1, many), slab)


def _span(m: Machine, first: Any, count: Any, n: Any, left: Any, width: Any, inner: Any) -> Span:
    together = m.equal(width, inner)
    rows, columns = m.pick(together, 1, count * n), m.pick(together, count * n * inner, width)
    return Span(first * n * inner + left, rows, columns, inner)


def _within(
    m: Machine, x: Any, first: Any, count: Any, n: Any, left: Any, width: Any, inner: Any,
    *, is_complex: bool = False,
) -> Box:  # fmt: skip
    """Return a block of an array."""
    steps = (n * inner, inner, m.number(1))
    return Box(x, first * n * inner + left, (count, n, width), steps, is_complex)


def _alone(m: Machine, work: Any, count: Any, n: Any, width: Any) -> Box:
    """Return a block in workspace, of complex numbers."""
    return Box(work, m.number(0), (count, n, width), (n * width, width, m.number(1)), True)


def _fft(
    m: Machine, re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, forward: Any,
    factor: Any, x: Any, y: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, inner, block = map(m.number, (outer, n, inner, block))
    m.took(outer * inner * n * 32)

    def each(first: Any, count: Any, left: Any, width: Any) -> None:
        span = _span(m, first, count, n, left, width, inner)
        m.interleave(work, re, im, span)
        box = _alone(m, work, count, n, width)
        m.transform(ducc.C2C, box, box, factor, forward=forward)
        m.separate(x, y, work, span)

    _blocks(m, outer, inner, block, each)


def _rfft(
    m: Machine, x: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any,
    re: Any, im: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, inner, block = map(m.number, (outer, n, inner, block))
    half = m.over(n, 2) + 1
    m.took(outer * inner * n * 16)

    def each(first: Any, count: Any, left: Any, width: Any) -> None:
        box = _within(m, x, first, count, n, left, width, inner)
        lines = _alone(m, work, count, half, width)
        m.transform(ducc.R2C, box, lines, factor, forward=True)
        m.weigh(lines, n, weight)
        m.separate(re, im, work, _span(m, first, count, half, left, width, inner))

    _blocks(m, outer, inner, block, each)


def _irfft(
    m: Machine, re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any,
    factor: Any, x: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, inner, block = map(m.number, (outer, n, inner, block))
    half = m.over(n, 2) + 1
    m.took(outer * inner * n * 16)

    def each(first: Any, count: Any, left: Any, width: Any) -> None:
        m.interleave(work, re, im, _span(m, first, count, half, left, width, inner))
        lines = _alone(m, work, count, half, width)
        m.weigh(lines, n, weight)
        box = _within(m, x, first, count, n, left, width, inner)
        m.transform(ducc.C2R, lines, box, factor, forward=False)

    _blocks(m, outer, inner, block, each)


@dataclass(frozen=True)
class Lines:
    """Lines of `n` numbers along an axis, for `outer` indices before and `inner` behind it."""

    outer: Any
    n: Any
    inner: Any

    def each(self, m: Machine, block: Callable[[Any, Any, Any, Any], None]) -> None:
        """Call `block` with the parts of the indices that make a block."""
        _blocks(m, self.outer, self.inner, m.number(8) + m.over(32768, m.most(self.n, 1)), block)


def _fft2(
    m: Machine, re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any,
    forward: Any, factor: Any, x: Any, y: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, middle, k, inner = map(m.number, (outer, n, middle, k, inner))
    near, far = Lines(outer * n * middle, k, inner), Lines(outer, n, middle * k * inner)
    m.took(outer * n * middle * k * inner * 64)
    block = m.at(work, outer * n * middle * k * inner * 2)

    def before(first: Any, count: Any, left: Any, width: Any) -> None:
        m.interleave(block, re, im, _span(m, first, count, k, left, width, inner))
        target = _within(m, work, first, count, k, left, width, inner, is_complex=True)
        lines = _alone(m, block, count, k, width)
        m.transform(ducc.C2C, lines, target, factor, forward=forward)

    near.each(m, before)
    _last(m, far, work, block, forward, x, y)


def _last(m: Machine, far: Lines, work: Any, block: Any, forward: Any, x: Any, y: Any) -> None:
    """Transform complex numbers in workspace along the first axis, into two arrays."""

    def each(first: Any, count: Any, left: Any, width: Any) -> None:
        source = _within(m, work, first, count, far.n, left, width, far.inner, is_complex=True)
        lines = _alone(m, block, count, far.n, width)
        m.transform(ducc.C2C, source, lines, m.one(), forward=forward)
        m.separate(x, y, block, _span(m, first, count, far.n, left, width, far.inner))

    far.each(m, each)


def _rfft2(
    m: Machine, x: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any,
    weight: Any, factor: Any, re: Any, im: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, middle, k, inner = map(m.number, (outer, n, middle, k, inner))
    half = m.over(k, 2) + 1
    near, far = Lines(outer * n * middle, k, inner), Lines(outer, n, middle * half * inner)
    m.took(outer * n * middle * k * inner * 32)
    block = m.at(work, outer * n * middle * half * inner * 2)

    def before(first: Any, count: Any, left: Any, width: Any) -> None:
        target = _within(m, work, first, count, half, left, width, inner, is_complex=True)
        box = _within(m, x, first, count, k, left, width, inner)
        m.transform(ducc.R2C, box, target, factor, forward=True)
        m.weigh(target, k, weight)

    near.each(m, before)
    _last(m, far, work, block, True, re, im)


def _irfft2(
    m: Machine, re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any,
    weight: Any, factor: Any, x: Any, work: Any,
) -> None:  # fmt: skip
    outer, n, middle, k, inner = map(m.number, (outer, n, middle, k, inner))
    half = m.over(k, 2) + 1
    near, far = Lines(outer * n * middle, k, inner), Lines(outer, n, middle * half * inner)
    m.took(outer * n * middle * k * inner * 32)
    block = m.at(work, outer * n * middle * half * inner * 2)

    def before(first: Any, count: Any, left: Any, width: Any) -> None:
        m.interleave(block, re, im, _span(m, first, count, n, left, width, far.inner))
        target = _within(m, work, first, count, n, left, width, far.inner, is_complex=True)
        m.transform(ducc.C2C, _alone(m, block, count, n, width), target, factor, forward=False)

    far.each(m, before)

    def after(first: Any, count: Any, left: Any, width: Any) -> None:
        source = _within(m, work, first, count, half, left, width, inner, is_complex=True)
        m.weigh(source, k, weight)
        box = _within(m, x, first, count, k, left, width, inner)
        m.transform(ducc.C2R, source, box, m.one(), forward=False)

    near.each(m, after)


def _dct(
    m: Machine, x: Any, outer: Any, n: Any, inner: Any, kind: Any, factor: Any, y: Any
) -> None:
    outer, n, inner, kind = map(m.number, (outer, n, inner, kind))
    m.took(outer * inner * n * 32)
    source, target = (
        _within(m, each, m.number(0), outer, n, m.number(0), inner, inner) for each in (x, y)
    )
    sine = m.equal(m.over(kind, 5), 1)
    m.transform(
        m.pick(sine, ducc.DST, ducc.DCT), source, target, factor, forward=True,
        type=m.pick(sine, kind - 4, kind),
    )  # fmt: skip


#: What each routine does on a machine.
ROUTINES: dict[str, Callable[..., Any]] = {
    "fft": _fft,
    "rfft": _rfft,
    "irfft": _irfft,
    "fft2": _fft2,
    "rfft2": _rfft2,
    "irfft2": _irfft2,
    "dct": _dct,
}


# --- the machine that writes LLVM's instructions --------------------------------------------------


class _Spectral(BaseMachine):
    def number(self, value: Any) -> Size:
        return Size(self._b, value_of(value) if isinstance(value, int | Size) else value)

    def least(self, a: Any, b: Any) -> Size:
        smaller = self._b.icmp_signed("<", value_of(a), value_of(b))
        return Size(self._b, self._b.select(smaller, value_of(a), value_of(b)))

    def over(self, a: Any, b: Any) -> Size:
        return Size(self._b, self._b.sdiv(value_of(a), value_of(b)))

    def pick(self, condition: Any, yes: Any, no: Any) -> Size:
        return Size(self._b, self._b.select(self._bit(condition), value_of(yes), value_of(no)))

    def loop(self, count: Any, body: Callable[[Size], None]) -> None:
        with cgutils.for_range(self._b, value_of(count), intp=I64) as loop:
            body(Size(self._b, loop.index))

    def _real(self, value: Any) -> Any:
        """Return a number as one of the elements' type."""
        if value.type == self._item:
            return value
        if self._item == ir.DoubleType():
            return self._b.fpext(value, self._item)
        return self._b.fptrunc(value, self._item)

    def _pairs(self, span: Span, each: Callable[[Any, Any, Any], None]) -> None:
        """Call `each` with the places of an element: of an array, and of both parts in workspace"""
        b = self._b
        with cgutils.for_range(b, value_of(span.rows), intp=I64) as down:
            near = b.mul(down.index, value_of(span.columns))
            far = b.add(value_of(span.offset), b.mul(down.index, value_of(span.stride)))
            with cgutils.for_range(b, value_of(span.columns), intp=I64) as across:
                at = b.shl(b.add(near, across.index), ir.Constant(I64, 1))
                each(b.add(far, across.index), at, b.add(at, ir.Constant(I64, 1)))

    def interleave(self, work: Memory, re: Memory, im: Memory, span: Span) -> None:
        b = self._b

        def each(at: Any, first: Any, second: Any) -> None:
            values = [b.load(b.gep(x.data, [at])) for x in (re, im)]
            for value, place in zip(values, (first, second), strict=True):
                b.store(value, b.gep(work.data, [place]))

        self._pairs(span, each)

    def separate(self, re: Memory, im: Memory, work: Memory, span: Span) -> None:
        b = self._b

        def each(at: Any, first: Any, second: Any) -> None:
            values = [b.load(b.gep(work.data, [place])) for place in (first, second)]
            for value, x in zip(values, (re, im), strict=True):
                b.store(value, b.gep(x.data, [at]))

        self._pairs(span, each)

    def weigh(self, lines: Box, n: Any, weight: Any) -> None:
        """Multiply halves of spectra by a weight, but for what occurs once in the whole."""
        b, factor = self._b, self._real(weight)
        one = ir.Constant(self._item, 1.0)
        count, _, width = lines.shape
        inside = self.over(self.number(n) + 1, 2) - 1  # from the second element on
        with b.if_then(b.fcmp_unordered("!=", factor, one)):

            def line(i: Size) -> None:
                def row(k: Size) -> None:
                    first = i * lines.steps[0] + (k + 1) * lines.steps[1] + lines.offset

                    def element(j: Size) -> None:
                        place = b.gep(lines.memory.data, [value_of(first * 2 + j)])
                        b.store(b.fmul(b.load(place), factor), place)

                    self.loop(width * 2, element)

                self.loop(inside, row)

            self.loop(count, line)

    def one(self) -> Any:
        return ir.Constant(ir.DoubleType(), 1.0)

    def transform(
        self, kind: Any, source: Box, target: Box, factor: Any, *, forward: Any, type: Any = 1
    ) -> None:
        b = self._b
        sign = ducc.FORWARD if isinstance(forward, bool) and forward else 0
        flags = ir.Constant(I64, sign | ducc.LENGTHS)
        if not isinstance(forward, bool):
            flags = b.or_(flags, b.zext(self._bit(forward), I64))
        fields = {
            "kind": kind, "flags": Size(b, flags), "in_dtype": self._dtype(source),
            "out_dtype": self._dtype(target), "norm": ducc.EXPLICIT, "type": type, "ortho": 1,
            "workers": 1, "workers_given": 1,
        }  # fmt: skip
        double = ir.DoubleType()
        wide = factor if factor.type == double else b.fpext(factor, double)
        options = [wide if name == "factor" else value_of(fields[name]) for name in ducc.OPTIONS]
        axis = self._structure([ir.Constant(I64, 1)])
        null = ir.Constant(_I8P, None)
        zero, eight = ir.Constant(I64, 0), ir.Constant(I64, 8)
        args = [
            self._structure(options),
            self._array(source),
            self._array(target),
            ir.Constant(I64, 3),
            self._structure([ir.Constant(I64, -1), null, zero, zero]),
            self._structure([ir.Constant(I64, 1), axis, eight, ir.Constant(I64, ducc.INT64)]),
        ]
        kind_of = ir.FunctionType(I64, [each.type for each in args])
        status = b.call(cgutils.get_or_insert_function(b.module, kind_of, ducc.SYMBOL), args)
        with b.if_then(b.icmp_signed("!=", status, zero), likely=False):
            self._spoil(target)

    def _spoil(self, box: Box) -> None:
        """Fill a result with NaN: memory ran out before it was computed."""
        rows, inner, columns = map(self.number, box.shape)
        width = 2 if box.is_complex else 1

        def element(k: Size) -> None:
            j, i = self.over(k, columns), self.over(k, columns * inner)
            row, column = j - i * inner, k - j * columns
            place = i * box.steps[0] + row * box.steps[1] + column * box.steps[2] + box.offset
            for part in range(width):
                at = self._b.gep(box.memory.data, [value_of(place * width + part)])
                self._b.store(ir.Constant(self._item, float("nan")), at)

        self.loop(rows * inner * columns, element)

    def _dtype(self, box: Box) -> int:
        letter = "d" if self._item == ir.DoubleType() else "f"
        return ducc.DTYPES[letter.upper() if box.is_complex else letter]

    def _array(self, box: Box) -> Any:
        b = self._b
        size = (8 if self._item == ir.DoubleType() else 4) * (2 if box.is_complex else 1)
        count = value_of(box.shape[0] * box.shape[1] * box.shape[2])
        offset = box.offset * (2 if box.is_complex else 1)
        data = b.bitcast(b.gep(box.memory.data, [value_of(offset)]), _I8P)
        null = ir.Constant(_I8P, None)
        steps = [b.mul(value_of(step), ir.Constant(I64, size)) for step in box.steps]
        shape = [value_of(each) for each in box.shape]
        return self._structure([null, null, count, ir.Constant(I64, size), data, *shape, *steps])

    def _structure(self, values: list[Any]) -> Any:
        """Return the address of a structure of these numbers."""
        b = self._b
        place = cgutils.alloca_once(b, ir.LiteralStructType([each.type for each in values]))
        for k, value in enumerate(values):
            b.store(value, cgutils.gep_inbounds(b, place, 0, k))
        return b.bitcast(place, _I8P)


globals().update({name: intrinsic_of(row, _Spectral) for name, row in ROUTINES.items()})

__all__ = ["ROUTINES", "Box", "Lines", "Span"]
