"""Products of matrices: `gemm` overwrites an array by one, `gemm_add` adds one to it.

Large ones are made by the BLAS that SciPy brings, through the helper that Numba calls it with. A
call of it takes longer than a small product does: below `SMALL` multiplications there are loops.
What is done depends only on the sizes and on which operands are transposed, so that a product has
the same bits however often it is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import (
    cgutils,
    intrinsic,
    signature,
    types,
)
from adc.backend.runtime import State

NAMES = frozenset({"gemm", "gemm_add"})

# Products of fewer multiplications are loops (measured: where both take as long).
SMALL = 64
# BLAS takes sizes of 32 bits.
_MOST = 2**31 - 1

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_I8P = _I8.as_pointer()


def library() -> str:
    """Return which BLAS makes products, and which processors the code was written for."""
    import scipy.linalg.cython_blas  # noqa: F401  # brings the BLAS that Numba calls
    from threadpoolctl import threadpool_info

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

    def function(self, module: ir.Module, name: str, write: Callable[..., None]) -> ir.Function:
        """Return ``void name(c, a, b, m, n, k)``: `c` is m by n, `a` m by k, `b` k by n."""
        name += "_add" * self.add
        name = f"{name}_{self.letter}{''.join('f' if each else 'c' for each in self.columns)}"
        found = module.globals.get(name)
        if found is not None:
            return found
        args = [*[self.item.as_pointer()] * 3, *[_I64] * 3]
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), args), name)
        function.linkage = "linkonce_odr"
        for arg in function.args[:3]:
            arg.add_attribute("noalias")
        b = ir.IRBuilder(function.append_basic_block())
        write(self, b, *function.args)
        b.ret_void()
        return function


def _loops(kind: _Kind, b: ir.IRBuilder, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any) -> None:
    """Add the terms of every element in order."""

    def element(array: Any, i: Any, j: Any, sizes: tuple[Any, Any], columns: bool = False) -> Any:
        offset = b.add(b.mul(j, sizes[0]), i) if columns else b.add(b.mul(i, sizes[1]), j)
        return b.gep(array, [offset], inbounds=True)

    total = cgutils.alloca_once(b, kind.item)
    with cgutils.for_range(b, m, intp=_I64) as rows, cgutils.for_range(b, n, intp=_I64) as columns:
        place = element(c, rows.index, columns.index, (m, n))
        b.store(b.load(place) if kind.add else ir.Constant(kind.item, 0.0), total)
        with cgutils.for_range(b, k, intp=_I64) as terms:
            left = element(x, rows.index, terms.index, (m, k), kind.columns[0])
            right = element(y, terms.index, columns.index, (k, n), kind.columns[1])
            term = b.fmul(b.load(left), b.load(right))
            b.store(b.fadd(b.load(total), term), total)
        b.store(b.load(total), place)


def _blas(kind: _Kind, b: ir.IRBuilder, c: Any, x: Any, y: Any, m: Any, n: Any, k: Any) -> None:
    """Call BLAS, to which an array by rows is the transpose of one by columns.

    It makes the transpose of `c`: the product of the transposes of `b` and `a`.
    """
    from numba.np.linalg import check_blas_return

    b.function.attributes.add("noinline")
    kinds = [_I8, _I8, _I8, _I64, _I64, _I64, _I8P, _I8P, _I64, _I8P, _I64, _I8P, _I8P, _I64]
    made = ir.FunctionType(_I32, kinds)
    function = cgutils.get_or_insert_function(b.module, made, "numba_xxgemm")
    factors = [cgutils.alloca_once(b, kind.item) for _ in range(2)]
    for place, value in zip(factors, (1.0, float(kind.add)), strict=True):
        b.store(ir.Constant(kind.item, value), place)
    alpha, beta, out, left, right = (b.bitcast(each, _I8P) for each in (*factors, c, x, y))
    letter, *transposed = (
        ir.Constant(_I8, ord(text))
        for text in (kind.letter, *("t" if each else "n" for each in kind.columns))
    )
    sizes = m if kind.columns[0] else k, k if kind.columns[1] else n
    head = [letter, transposed[1], transposed[0], n, m, k]
    status = b.call(function, [*head, alpha, right, sizes[1], left, sizes[0], beta, out, n])
    check_blas_return(kind.context, b, status)  # type: ignore[no-untyped-call]  # Numba's


def _intrinsic(add: bool) -> Any:
    def product(typingctx: Any, state: Any, c: Any, a: Any, b: Any) -> Any:
        assert c.layout == "C"
        assert a.layout in "CF"
        assert b.layout in "CF"

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            out, left, right = (
                context.make_array(ty)(context, builder, arg)
                for ty, arg in zip(sig.args[1:], args[1:], strict=True)
            )
            m, n = cgutils.unpack_tuple(builder, out.shape, 2)
            k = cgutils.unpack_tuple(builder, left.shape, 2)[1]
            columns = a.layout == "F", b.layout == "F"
            kind = _Kind(context.get_data_type(c.dtype), columns, add, context)
            given = [out.data, left.data, right.data, m, n, k]
            count = builder.mul(builder.mul(m, n), k)
            large = builder.icmp_signed(">=", count, ir.Constant(_I64, SMALL))
            for size in (m, n, k):
                fits = builder.icmp_signed("<=", size, ir.Constant(_I64, _MOST))
                large = builder.and_(large, fits)
            with builder.if_else(large) as (calls, writes):
                with calls:
                    builder.call(kind.function(builder.module, "adc_gemm", _blas), given)
                with writes:
                    builder.call(kind.function(builder.module, "adc_small_gemm", _loops), given)
            # A unit of work is about a nanosecond (`runtime.poll`).
            work = builder.ashr(count, ir.Constant(_I64, 3))
            memory = context.make_array(state)(context, builder, args[0])
            ticks = builder.gep(memory.data, [ir.Constant(_I64, State.TICKS)])
            builder.store(builder.sub(builder.load(ticks), work), ticks)
            return context.get_dummy_value()

        return signature(types.void, state, c, a, b), codegen

    return intrinsic(product)


gemm = _intrinsic(add=False)
gemm_add = _intrinsic(add=True)
