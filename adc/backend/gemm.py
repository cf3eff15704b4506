"""Products of matrices: `gemm` overwrites an array by one, `gemm_add` adds one to it.

Large ones are made by the BLAS that SciPy brings, through the helper that Numba calls it with. A
call of it takes longer than a small product does: below `SMALL` multiplications there are loops.
What is done depends on nothing but the sizes, so that a product has the same bits wherever, and as
often as, it is computed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from adc.backend.numba_api import cgutils, intrinsic, make_array, signature, types
from adc.backend.runtime import State

NAMES = frozenset({"gemm", "gemm_add"})

# Products of fewer multiplications are loops (measured: where both take as long).
SMALL = 64
# BLAS takes sizes of 32 bits.
_MOST = 2**31 - 1

_I1 = ir.IntType(1)
_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_I8P = _I8.as_pointer()


def _product(module: ir.Module, item: ir.Type) -> ir.Function:
    """Return ``void adc_gemm_T(c, a, b, m, n, k, a_by_columns, b_by_columns, add)``.

    `c` is m by n in C layout, `a` is m by k and `b` is k by n, each by rows or by columns.
    """
    kind = "d" if item == ir.DoubleType() else "s"
    name = f"adc_gemm_{kind}"
    found = module.globals.get(name)
    if found is not None:
        return found
    pointer = item.as_pointer()
    args = [pointer, pointer, pointer, _I64, _I64, _I64, _I1, _I1, _I1]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), args), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    for arg in function.args[:3]:
        arg.add_attribute("noalias")
    b = ir.IRBuilder(function.append_basic_block())
    c, x, y, m, n, k, x_columns, y_columns, add = function.args
    work = b.mul(b.mul(m, n), k)
    large = b.icmp_signed(">=", work, ir.Constant(_I64, SMALL))
    for size in (m, n, k):
        large = b.and_(large, b.icmp_signed("<=", size, ir.Constant(_I64, _MOST)))
    with b.if_then(large):
        _call_blas(b, kind, item, function.args)
        b.ret_void()
    one = ir.Constant(_I64, 1)
    row, column = b.select(x_columns, one, k), b.select(x_columns, m, one)
    zero = ir.Constant(item, 0.0)

    def factor(i: Any, j: Any) -> Any:
        return b.load(b.gep(x, [b.add(b.mul(i, row), b.mul(j, column))], inbounds=True))

    with b.if_else(y_columns) as (by_columns, by_rows):
        with by_columns, cgutils.for_range(b, m, intp=_I64) as rows:
            start = b.mul(rows.index, n)
            with cgutils.for_range(b, n, intp=_I64) as columns:
                place = b.gep(c, [b.add(start, columns.index)], inbounds=True)
                first = b.mul(columns.index, k)
                total = cgutils.alloca_once(b, item)
                with b.if_else(add) as (adds, sets):
                    with adds:
                        b.store(b.load(place), total)
                    with sets:
                        b.store(zero, total)
                with cgutils.for_range(b, k, intp=_I64) as terms:
                    other = b.gep(y, [b.add(first, terms.index)], inbounds=True)
                    term = b.fmul(factor(rows.index, terms.index), b.load(other))
                    b.store(b.fadd(b.load(total), term), total)
                b.store(b.load(total), place)
        with by_rows, cgutils.for_range(b, m, intp=_I64) as rows:
            start = b.gep(c, [b.mul(rows.index, n)], inbounds=True)
            with b.if_then(b.not_(add)), cgutils.for_range(b, n, intp=_I64) as columns:
                b.store(zero, b.gep(start, [columns.index], inbounds=True))
            with cgutils.for_range(b, k, intp=_I64) as terms:
                one_factor = factor(rows.index, terms.index)
                others = b.gep(y, [b.mul(terms.index, n)], inbounds=True)
                with cgutils.for_range(b, n, intp=_I64) as columns:
                    place = b.gep(start, [columns.index], inbounds=True)
                    other = b.load(b.gep(others, [columns.index], inbounds=True))
                    b.store(b.fadd(b.load(place), b.fmul(one_factor, other)), place)
    b.ret_void()
    return function


def _call_blas(b: ir.IRBuilder, kind: str, item: ir.Type, args: Any) -> None:
    """Call BLAS, to which an array by rows is the transpose of one by columns.

    It makes the transpose of `c`: the product of the transposes of `b` and `a`.
    """
    c, x, y, m, n, k, x_columns, y_columns, add = args
    kinds = [_I8, _I8, _I8, _I64, _I64, _I64, _I8P, _I8P, _I64, _I8P, _I64, _I8P, _I8P, _I64]
    made = ir.FunctionType(_I32, kinds)
    function = cgutils.get_or_insert_function(b.module, made, "numba_xxgemm")
    alpha, beta = (cgutils.alloca_once(b, item) for _ in range(2))
    b.store(ir.Constant(item, 1.0), alpha)
    b.store(b.select(add, ir.Constant(item, 1.0), ir.Constant(item, 0.0)), beta)
    transposed, plain = (ir.Constant(_I8, ord(text)) for text in "tn")
    b.call(
        function,
        [
            ir.Constant(_I8, ord(kind)),
            b.select(y_columns, transposed, plain),
            b.select(x_columns, transposed, plain),
            n,
            m,
            k,
            b.bitcast(alpha, _I8P),
            b.bitcast(y, _I8P),
            b.select(y_columns, k, n),
            b.bitcast(x, _I8P),
            b.select(x_columns, m, k),
            b.bitcast(beta, _I8P),
            b.bitcast(c, _I8P),
            n,
        ],
    )


def _intrinsic(add: bool) -> Any:
    def product(typingctx: Any, state: Any, c: Any, a: Any, b: Any) -> Any:
        assert c.layout == "C"
        assert a.layout in "CF"
        assert b.layout in "CF"

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            out, left, right = (
                make_array(ty)(context, builder, arg)
                for ty, arg in zip(sig.args[1:], args[1:], strict=True)
            )
            m, n = cgutils.unpack_tuple(builder, out.shape, 2)
            k = cgutils.unpack_tuple(builder, left.shape, 2)[1]
            flags = [
                ir.Constant(_I1, int(flag)) for flag in (a.layout == "F", b.layout == "F", add)
            ]
            item = context.get_data_type(c.dtype)
            function = _product(builder.module, item)
            builder.call(function, [out.data, left.data, right.data, m, n, k, *flags])
            # A unit of work is about a nanosecond (`runtime.poll`).
            work = builder.ashr(builder.mul(builder.mul(m, n), k), ir.Constant(_I64, 3))
            memory = make_array(state)(context, builder, args[0])
            ticks = builder.gep(memory.data, [ir.Constant(_I64, State.TICKS)])
            builder.store(builder.sub(builder.load(ticks), work), ticks)
            return context.get_dummy_value()

        return signature(types.void, state, c, a, b), codegen

    return intrinsic(product)


gemm = _intrinsic(add=False)
gemm_add = _intrinsic(add=True)
