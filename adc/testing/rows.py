"""The rows of the op table, compiled in loops over arrays, against what they mean.

In a loop LLVM makes vectors as wide as the processor has them, and a remainder of single numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.errors import AdcError
from adc.ir.interp import run
from adc.ir.opdef import OPS, OpDef
from adc.ir.text.parser import parse
from adc.ir.types import DTYPES, Scalar

#: Rows that are not functions of numbers alone.
NOT_SCALAR = frozenset(
    ("dim", "empty", "full", "copy", "over", "part", "row", "slot", "total", "undef", "cast",
     "select")
)  # fmt: skip
#: Rows whose results are as exact as their operands.
CANCELLING = ("mod", "fmod", "lgamma", "logaddexp")
#: How many numbers each row is given: some vectors, and a remainder.
COUNT = 23
#: Rows in one function: the time to compile it grows faster than their number.
_TOGETHER = 16


def inexact() -> frozenset[str]:
    """Return rows that are computed by other means than NumPy's, within some units."""
    from adc.backend.common import vector_math

    ours = {op.name for op in OPS.values() if op.algorithm is not None}
    return frozenset({"logaddexp", "logaddexp2", *vector_math.FUNCTIONS, *ours})


def ulps(a: Any, b: Any) -> float:
    """Return how many units in the last place two numbers are apart."""
    if a == b or (np.isnan(a) and np.isnan(b)):
        return 0.0
    return float(abs(float(a) - float(b)) / float(np.spacing(max(abs(a), abs(b)))))


def same(op: OpDef, got: Any, want: Any, size: float = 0.0) -> bool:
    """Whether a result of compiled code is one that a row may have, where NumPy has `want`.

    `size` is that of the operands, where results near zero are differences of theirs.
    """
    if op.name in inexact():
        near = op.name in CANCELLING and abs(got - want) <= 4 * np.finfo(want.dtype).eps * size
        return near or ulps(got, want) <= 4 or bool(np.isinf(got) and np.isinf(want))
    if isinstance(want, np.floating) and np.isnan(want):
        return bool(np.isnan(got))
    if (
        op.name in ("fmin", "fmax", "minimum", "maximum") and want == 0.0
    ):  # NumPy's choice of 0.0 and -0.0 varies
        return bool(got == 0.0)
    return np.asarray(got).tobytes() == np.asarray(want).tobytes()


def rows(dtype: str, scipy: bool = True) -> list[OpDef]:
    """Return the rows that take numbers of a dtype, and nothing else.

    Those that SciPy computes do so in double precision, a number at a time.
    """
    scipy &= dtype == "f64"
    found = []
    for op in OPS.values():
        if dtype[0] not in op.kinds or op.name in NOT_SCALAR or op.arity < 1:
            continue
        if op.ufunc is not None and not scipy:
            continue
        try:
            (result,) = op.types([Scalar(dtype)] * op.arity, ())
        except (AdcError, ValueError, IndexError):
            continue  # it takes an integer, too, or has several results
        if isinstance(result, Scalar):
            found.append(op)
    return found


def batches(dtype: str, scipy: bool = True) -> Iterator[list[OpDef]]:
    """Yield rows that one function computes: those of one number of operands."""
    found = sorted(rows(dtype, scipy), key=lambda op: op.arity)
    while found:
        alike = [op for op in found[:_TOGETHER] if op.arity == found[0].arity]
        yield alike
        del found[: len(alike)]


def samples(
    op: OpDef, dtype: str, rng: np.random.Generator, special: bool = False
) -> list[np.ndarray[Any, Any]]:
    """Return operands in the domain of a row, or `special` numbers, each beside another one."""
    if special:
        numbers = _special(dtype)
        return [np.roll(numbers, 3 * k * k + k) for k in range(op.arity)]
    made = []
    for k in range(op.arity):
        low, high = op.domain[min(k, len(op.domain) - 1)]
        made.append(rng.uniform(low, high, COUNT).astype(DTYPES[dtype]))
    return made


def _special(dtype: str) -> np.ndarray[Any, Any]:
    """Return NaN, infinities, zeros, denormal numbers, the largest ones, and what overflows."""
    of_dtype: Any = DTYPES[dtype]
    about = np.finfo(of_dtype)
    least, tiny, most = (float(x) for x in (about.smallest_subnormal, about.tiny, about.max))
    found = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, least, -least, 7.0 * least]
    found += [0.5 * tiny, -0.25 * tiny, most, -most, 1e-30, 1e30, -1e30, 0.5, -2.5, 3.5]
    found += [700.0, -745.0, 88.0]
    assert len(found) == COUNT
    return np.array(found, of_dtype)


# Where Python raises an error, no value is fixed.
_POLES = ("gamma", "lgamma")


def function(ops: Sequence[OpDef], dtype: str, total: bool = False) -> Function:
    """Return a function of the operands of all of these rows, with an array for each.

    With `total` it returns the sum of all numbers.
    """
    kinds = [op.types([Scalar(dtype)] * op.arity, ())[0].dtype for op in ops]
    lines = ["  %n = dim[0] %a0_0"]
    last = f"0.0:{dtype}"
    for k, (op, kind) in enumerate(zip(ops, kinds, strict=True)):
        start, step = (last, "add %c{k} %y{k}") if total else ("%h{k}", "store %c{k}[%i{k}] %y{k}")
        start, step, last = start.format(k=k), step.format(k=k), f"%r{k}"
        if not total:
            lines.append(f"  %h{k} = empty[{kind}] %n")
        lines.append(f"  {last} = for L{k} %i{k} in 0 to %n carrying (%c{k} = {start}) {{")
        lines += [f"    %x{k}_{j} = load %a{k}_{j}[%i{k}]" for j in range(op.arity)]
        lines.append(f"    %y{k} = {op.name} {' '.join(f'%x{k}_{j}' for j in range(op.arity))}")
        lines += [f"    %u{k} = {step}", f"    yield %u{k}", "  }"]
    found = [last] if total else [f"%r{k}" for k in range(len(ops))]
    types = [dtype] if total else [f"{kind}[:]" for kind in kinds]
    params = [f"%a{k}_{j}: {dtype}[:]" for k, op in enumerate(ops) for j in range(op.arity)]
    head = f"fn rows({', '.join(params)}) -> {', '.join(types)} {{"
    return parse("\n".join([head, *lines, f"  return {' '.join(found)}", "}\n"]))


def wrong_values(
    ops: Sequence[OpDef], dtype: str, rng: np.random.Generator, special: bool = False
) -> list[str]:
    """Return what compiled code computes otherwise than NumPy and SciPy."""
    from adc.backend import cpu
    from adc.passes.memory.storage import storage

    args = [samples(op, dtype, rng, special) for op in ops]
    kernel = cpu.compile(storage(function(ops, dtype)))
    wrong = []
    with np.errstate(all="ignore"):
        found = kernel(*[each for one in args for each in one])
        for op, operands, results in zip(ops, args, found, strict=True):
            for numbers, got in zip(zip(*operands, strict=True), results, strict=True):
                if special and op.name in _POLES:
                    continue
                want = op.evaluate(*numbers)
                size = max(1.0, *(abs(float(x)) for x in numbers))
                if not same(op, got, np.asarray(want).astype(got.dtype)[()], size):
                    wrong.append(f"{op.name}{numbers} is {want!r}, compiled {got!r}")
                    break
    return wrong


def wrong_slopes(
    ops: Sequence[OpDef], dtype: str, rng: np.random.Generator, special: bool = False
) -> list[str]:
    """Return derivatives that compiled code computes otherwise than the interpreter.

    Rows that have none by some operand are left out.
    """
    from adc.backend import cpu
    from adc.passes.ad.adjoint import adjoint
    from adc.passes.memory.storage import storage
    from adc.passes.remat.remat import remat

    smooth = [op for op in ops if op.vjp is not None and not any(op.refused)]
    smooth = [op for op in smooth if not (special and op.name in _POLES)]
    if not smooth:
        return []
    wrong = []
    args = [samples(op, dtype, rng, special) for op in smooth]
    flat = [each for one in args for each in one]
    names = [op.name for op in smooth for _ in range(op.arity)]
    made = function(smooth, dtype, total=True)
    reverse = remat(adjoint(made, tuple(range(len(flat)))), "store")
    with np.errstate(all="ignore"):
        want = run(reverse, tuple(each.copy() for each in flat))[1:]
        found = cpu.compile(storage(reverse))(*flat)[1:]
    bound = 1e-10 if dtype == "f64" else 1e-3
    for name, x, a, b in zip(names, flat, found, want, strict=True):
        near = np.isclose(a, b, rtol=bound, atol=bound, equal_nan=True) | (a == b)
        if not near.all():
            k = int(np.argmin(near))
            what = f"the derivative of {name} at {x[k]!r}"
            wrong.append(f"{what} is {b[k]!r}, compiled {a[k]!r}")
    return wrong


def lanes() -> str:
    """Return what vectors the processor has, in words."""
    from adc.backend import cpu

    return cpu.about()["vector library"]


__all__ = [
    "CANCELLING", "NOT_SCALAR", "batches", "function", "inexact", "lanes", "rows", "same",
    "samples", "ulps", "wrong_slopes", "wrong_values",
]  # fmt: skip
