"""Integer, bit and truth-value operations, and the arithmetic of indices. None has a derivative."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.ir import schedule
from adc.ir.errors import IRError
from adc.ir.opdef import OpDef, Static
from adc.ir.types import BOOL, INT, Type

INTEGER = "integers have no derivative"

bitand = OpDef("bitand", 2, np.bitwise_and, "({0} & {1})", (operator.and_, np.bitwise_and),
               why=INTEGER, kinds="biu")  # fmt: skip
bitor = OpDef("bitor", 2, np.bitwise_or, "({0} | {1})", (operator.or_, np.bitwise_or),
              why=INTEGER, kinds="biu")  # fmt: skip
bitxor = OpDef("bitxor", 2, np.bitwise_xor, "({0} ^ {1})", (operator.xor, np.bitwise_xor),
               why=INTEGER, kinds="biu",
               inverse=("bitxor", "bitxor"))  # fmt: skip
invert = OpDef("invert", 1, np.invert, "invert({0})", (operator.invert, np.invert),
               why=INTEGER, kinds="biu",
               inverse=("invert",))  # fmt: skip
lshift = OpDef("lshift", 2, np.left_shift, "lshift({0}, {1})", (operator.lshift, np.left_shift),
               why=INTEGER, kinds="iu", domain=((-9.0, 9.0), (0.0, 9.0)))  # fmt: skip
rshift = OpDef("rshift", 2, np.right_shift, "rshift({0}, {1})", (operator.rshift, np.right_shift),
               why=INTEGER, kinds="iu", domain=((-9.0, 9.0), (0.0, 9.0)))  # fmt: skip
ipow = OpDef("ipow", 2, np.power, "ipow({0}, {1})", (), why=INTEGER, kinds="iu", cost=20,
             domain=((-9.0, 9.0), (0.0, 5.0)))  # fmt: skip
gcd = OpDef("gcd", 2, np.gcd, "gcd({0}, {1})", (np.gcd,), why=INTEGER, kinds="iu", cost=50)
lcm = OpDef("lcm", 2, np.lcm, "lcm({0}, {1})", (np.lcm,), why=INTEGER, kinds="iu", cost=50)


def _truth(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if any(ty.kind != "b" for ty in types):
        raise IRError(f"not truth values: {' '.join(map(str, types))}")
    return (BOOL,)


logical_and = OpDef("and", 2, np.logical_and, "({0} and {1})", (), _truth, why=INTEGER, kinds="b")
logical_or = OpDef("or", 2, np.logical_or, "({0} or {1})", (), _truth, why=INTEGER, kinds="b")
logical_not = OpDef("not", 1, np.logical_not, "(not {0})", (), _truth, why=INTEGER, kinds="b")


def _index(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if any(ty.kind not in "iu" for ty in types):
        raise IRError(f"not integers: {' '.join(map(str, types))}")
    return (INT,)


def _inside_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    _index(types, params)
    return (BOOL,)


def _trips(start: Any, stop: Any, step: Any) -> Any:
    return np.int64(len(range(int(start), int(stop), int(step))) if step else 0)


wrap = OpDef(
    "wrap", 2, lambda i, n: np.int64(i + n if i < 0 else i), "wrap({0}, {1})", (), _index,
    why=INTEGER, kinds="i", domain=((-3.0, 9.0), (3.0, 9.0)), doc="Python's negative indices.",
)  # fmt: skip
inside = OpDef(
    "inside", 2, lambda i, n: np.bool_(0 <= i < n), "(0 <= {0} < {1})", (), _inside_types,
    why=INTEGER, kinds="i", domain=((-3.0, 9.0), (0.0, 9.0)),
    doc="0 <= i < n, where n is a size: it is not negative.",
)  # fmt: skip
room = OpDef(
    "room", 1, lambda n: np.int64(max(2 * n, 16)), "maximum(2 * {0}, 16)", (), _index,
    why=INTEGER, kinds="i", domain=((0.0, 99.0),),
    doc="The capacity that a list of n elements gets where it is full.",
)  # fmt: skip
trips = OpDef(
    "trips", 3, _trips, "trips({0}, {1}, {2})", (), _index, why=INTEGER, kinds="i",
    domain=((-9.0, 9.0), (-9.0, 9.0), (1.0, 3.0)), doc="The length of range(start, stop, step).",
)  # fmt: skip


def _scheduled(function: Callable[..., int]) -> Callable[..., Any]:
    return lambda *args: np.int64(function(*map(int, args)))


# Callees of compiled code: a back end emits calls of the Python functions of `ir.schedule`.
split = OpDef(
    "split", 5, _scheduled(schedule.split), "split", (), _index, why=INTEGER, kinds="", cost=100,
    routine="adc.split0_fn",
    doc="How many iterations to run ahead from a snapshot: `ir.schedule.split`.",
)  # fmt: skip
sweeps = OpDef(
    "sweeps", 5, _scheduled(schedule.sweeps), "sweeps", (), _index, why=INTEGER, kinds="",
    cost=1000,
    routine="adc.sweeps",
    doc="How many snapshots a run takes: `ir.schedule.sweeps`.",
)  # fmt: skip
rest = OpDef(
    "rest", 5, _scheduled(schedule.rest), "rest", (), _index, why=INTEGER, kinds="", cost=1000,
    routine="adc.rest",
    doc="How many iterations are left for the leaf: `ir.schedule.rest`.",
)  # fmt: skip
# What comes before a part of a checkpointed loop; a name for the first operand in compiled code.
offset = OpDef(
    "offset", 2, lambda start, n: np.int64(start), "offset", (), _index, why=INTEGER, kinds="",
    doc="How many of the n iterations of a loop come before those of a part of it: `start`.",
)  # fmt: skip
