"""Products of matrices: `gemm` overwrites an array by one, `gemm_add` adds one to it.

Large ones are made by the BLAS that SciPy brings (`lapack`). A call of it takes longer than a small
product does: of few multiplications there are loops, which stand where they are needed if all sizes
are numbers.
What is done depends only on the sizes and on which operands are transposed, so that a product has
the same bits however often it is computed.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import cgutils
from adc.backend.runtime.state import State

NAMES = frozenset({"gemm", "gemm_add"})

# Products of so many multiplications, those of 4 x 4 matrices, are loops, and so are those of fewer
# than `FEW` numbers with long rows, which are vectors (measured: where both take as long).
SMALL = 64
FEW = 64
LONG = 16
# Rows are made in pieces of so many columns, by so many terms at once.
_PIECE = 512
_TERMS = 4
# BLAS takes sizes of 32 bits.
_MOST = 2**31 - 1

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def library() -> str:
    """Return which BLAS makes products, and which processors the code was written for."""
    from threadpoolctl import threadpool_info

    import adc.backend.runtime.lapack  # noqa: F401  # brings it

    kinds = [each for each in threadpool_info() if each["user_api"] == "blas"]
    own = [each for each in kinds if "scipy" in os.path.dirname(each["filepath"])]
    for each in own or kinds:
        core = each.get("architecture", "any processor")
        return f"{each['internal_api']} {each['version']}, code for {core}"
    return "unknown"


@dataclass(frozen=True)
class _Kind:
    """What is known of a product: its dtype, which operands lie by columns, whether it is added."""

    item: ir.Type
    columns: tuple[bool, bool]
    add: bool
    context: Any  # Numba's

    @property
    def letter(self) -> str:
        return "d" if self.item == ir.DoubleType() else "s"

    def call(self, b: ir.IRBuilder, args: list[Any], name: str, write: Callable[..., None]) -> Any:
        """Write a call of a function that makes a product, and return the function.

        It is ``void name(c, a, b, m, n, k)``, or has the state in front: `c` is m by n, `a` m by k,
        `b` k by n.
        """
        function = self.function(b.module, [arg.type for arg in args], name, write)
        b.call(function, args)
        return function

    def function(
        self, module: ir.Module, kinds: list[ir.Type], name: str, write: Callable[..., None]
    ) -> ir.Function:
        name += "_add" * self.add
        name = f"{name}_{self.letter}{''.join('f' if each else 'c' for each in self.columns)}"
        found = module.globals.get(name)
        if found is not None:
            return found
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
        function.linkage = "linkonce_odr"
        for arg in function.args[:-3]:
            arg.add_attribute("noalias")
        b = ir.IRBuilder(function.append_basic_block())
        write(self, b, *function.args)
        b.ret_void()
        return function


def _element(
    b: ir.IRBuilder, array: Any, i: Any, j: Any, sizes: tuple[Any, Any], columns: bool = False
) -> Any:
    offset = b.add(b.mul(j, sizes[0]), i) if columns else b.add(b.mul(i, sizes[1]), j)
    return b.gep(array, [offset], inbounds=True)


def _rows(kind: _Kind, b: ir.IRBuilder, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any) -> None:
    """Add rows of `y` to rows of `c`, some at once; the first ones to zeros that are not stored."""

    def number(value: int) -> Any:
        return ir.Constant(_I64, value)

    zero = ir.Constant(kind.item, 0.0)

    def add(row: Any, first: Any, stop: Any, start: Any, count: int, clear: bool = False) -> None:
        """Add `count` terms from `start` on to a piece of a row, or to zeros."""
        terms = [b.add(start, number(each)) for each in range(count)]
        factors = [b.load(_element(b, x, row, term, (m, k), kind.columns[0])) for term in terms]
        with cgutils.for_range_slice(b, first, stop, number(1), intp=_I64) as (column, _):
            place = _element(b, c, row, column, (m, n))
            total = zero if clear else b.load(place)
            for term, factor in zip(terms, factors, strict=True):
                other = b.load(_element(b, y, term, column, (k, n), kind.columns[1]))
                total = b.fadd(total, b.fmul(factor, other))
            b.store(total, place)

    rest = b.srem(k, number(_TERMS))
    most = b.sub(k, rest)
    some = b.icmp_signed(">=", k, number(_TERMS))
    begin = number(0) if kind.add else b.select(some, number(_TERMS), number(0))
    with cgutils.for_range_slice(b, number(0), n, number(_PIECE), intp=_I64) as (first, _):
        last = b.add(first, number(_PIECE))
        stop = b.select(b.icmp_signed("<", last, n), last, n)
        with cgutils.for_range(b, m, intp=_I64) as rows:
            if not kind.add:
                with b.if_else(some) as (many, few):
                    with many:
                        add(rows.index, first, stop, number(0), _TERMS, clear=True)
                    with few:
                        add(rows.index, first, stop, number(0), 0, clear=True)
            with cgutils.for_range_slice(b, begin, most, number(_TERMS), intp=_I64) as (at, _):
                add(rows.index, first, stop, at, _TERMS)
            with cgutils.for_range_slice(b, most, k, number(1), intp=_I64) as (at, _):
                add(rows.index, first, stop, at, 1)


def _sums(kind: _Kind, b: ir.IRBuilder, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any) -> None:
    """Make one element after the other, from the same terms in the same order as `_rows`."""
    total = cgutils.alloca_once(b, kind.item)
    with cgutils.for_range(b, m, intp=_I64) as rows, cgutils.for_range(b, n, intp=_I64) as columns:
        place = _element(b, c, rows.index, columns.index, (m, n))
        b.store(b.load(place) if kind.add else ir.Constant(kind.item, 0.0), total)
        with cgutils.for_range(b, k, intp=_I64) as terms:
            left = _element(b, x, rows.index, terms.index, (m, k), kind.columns[0])
            right = _element(b, y, terms.index, columns.index, (k, n), kind.columns[1])
            term = b.fmul(b.load(left), b.load(right))
            b.store(b.fadd(b.load(total), term), total)
        b.store(b.load(total), place)


def _blas(kind: _Kind, b: ir.IRBuilder, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any) -> None:
    """Call BLAS, to which an array by rows is the transpose of one by columns.

    It makes the transpose of `c`: the product of the transposes of `b` and `a`.
    """
    from adc.backend.runtime.lapack import symbol  # loads SciPy, which products alone need

    b.function.attributes.add("noinline")

    def at(value: Any) -> Any:
        place = cgutils.alloca_once(b, value.type)
        b.store(value, place)
        return place

    left, right = (at(ir.Constant(_I8, ord("t" if each else "n"))) for each in kind.columns)
    alpha, beta = (at(ir.Constant(kind.item, value)) for value in (1.0, float(kind.add)))
    rows, columns, terms = (at(b.trunc(each, _I32)) for each in (m, n, k))
    of_left = rows if kind.columns[0] else terms
    of_right = terms if kind.columns[1] else columns
    given = [right, left, columns, rows, terms, alpha, y, of_right, x, of_left, beta, c, columns]
    made = ir.FunctionType(ir.VoidType(), [each.type for each in given])
    function = cgutils.get_or_insert_function(b.module, made, symbol(f"{kind.letter}gemm"))
    b.call(function, given)


def write_known(
    context: Any, b: ir.IRBuilder, item: ir.Type, arrays: list[Any], sizes: list[Any], *,
    columns: tuple[bool, bool], add: bool,
) -> bool:  # fmt: skip
    """Write a product of few multiplications where it stands, if all sizes are numbers.

    `arrays` are the addresses of the product and of the operands, `sizes` those of `function`.
    """
    numbers = [each.constant for each in sizes if isinstance(each, ir.Constant)]
    if len(numbers) < len(sizes) or math.prod(numbers) > SMALL:
        return False
    kind = _Kind(item, columns, add, context)
    kind.call(b, [*arrays, *sizes], "adc_known_gemm", _rows).attributes.add("alwaysinline")
    return True


def _choose(
    kind: _Kind, b: ir.IRBuilder, state: Any, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any
) -> None:
    """Make a product as its sizes have it, and count its work (`runtime.poll`)."""
    b.function.attributes.add("noinline")
    count = b.mul(b.mul(m, n), k)
    product = functools.partial(kind.call, b, [c, x, y, m, n, k])

    def compare(how: str, value: Any, other: int) -> Any:
        return b.icmp_signed(how, value, ir.Constant(_I64, other))

    with b.if_else(compare("<=", count, SMALL)) as (small, others):
        with small:
            product("adc_small_gemm", _sums)
        with others:
            thin = compare("<", b.mul(m, k), FEW)
            loops = b.and_(thin, compare(">=", n, LONG))
            if kind.columns[1]:  # what stands side by side in `b` are terms
                loops = ir.Constant(ir.IntType(1), 0)
            for size in (m, n, k):
                loops = b.or_(loops, compare(">", size, _MOST))
            with b.if_else(loops) as (written, large):
                with written:
                    product("adc_thin_gemm", _sums if kind.columns[1] else _rows)
                with large:
                    product("adc_gemm", _blas)
    # A unit of work is about a nanosecond.
    work = b.ashr(count, ir.Constant(_I64, 3))
    ticks = b.gep(state, [ir.Constant(_I64, State.TICKS)])
    b.store(b.sub(b.load(ticks), work), ticks)


def write(
    context: Any, b: ir.IRBuilder, item: ir.Type, state: Any, arrays: list[Any], sizes: list[Any],
    *, columns: tuple[bool, bool], add: bool,
) -> None:  # fmt: skip
    """Write a product; `arrays` and `sizes` are as for `write_known`."""
    kind = _Kind(item, columns, add, context)
    kind.call(b, [state, *arrays, *sizes], "adc_product", _choose)


# For readers and imports: `expressions` knows these names, nothing runs their bodies.


def gemm(state: Any, c: Any, a: Any, b: Any) -> None:
    """Overwrite `c` by the product of `a` and `b`."""
    raise NotImplementedError


def gemm_add(state: Any, c: Any, a: Any, b: Any) -> None:
    """Add the product of `a` and `b` to `c`."""
    raise NotImplementedError
