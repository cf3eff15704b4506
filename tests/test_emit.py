"""Compiled code does what the interpreter does: every row, every dtype, every statement."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.backend import vector_math
from adc.backend.cpu import Kernel, compile
from adc.ir.core import Apply, Function, Literal, Value
from adc.ir.errors import IRError
from adc.ir.opdef import OPS, OpDef, numpy_value
from adc.ir.types import BOOL, DTYPES, Array, Scalar, Type
from adc.ir.verifier import verify

# Rows of whole arrays, or without operands.
NOT_SCALAR = {"dim", "empty", "full", "copy", "total", "undef", "cast", "select"}
# Computed by other means than NumPy's: some units in the last place apart.
INEXACT = set(vector_math.FUNCTIONS) | {"logaddexp", "logaddexp2"}

EXTREMES: dict[str, list[Any]] = {
    "b": [False, True],
    "i": [0, 1, -1, 2, 3, 7, -7, 100, -100, "min", "max"],
    "u": [0, 1, 2, 3, 7, 100, 200, "max"],
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.25, -9.75, 1e30, np.inf, -np.inf, np.nan],
}


def samples(dtype: str) -> list[Any]:
    numpy = DTYPES[dtype]
    if numpy.kind in "iu":
        info: Any = np.iinfo(numpy.name)
        ends = {"min": info.min, "max": info.max}
        values = [ends.get(v, v) if isinstance(v, str) else v for v in EXTREMES[numpy.kind]]
    else:
        values = EXTREMES[numpy.kind]
    return [numpy.type(value) for value in values]


def applications(dtype: str) -> list[tuple[OpDef, tuple[int | str, ...]]]:
    """Return the rows on scalars that are defined for `dtype`, with their static parameters."""
    found: list[tuple[OpDef, tuple[int | str, ...]]] = []
    for op in OPS.values():
        if dtype[0] not in op.kinds or op.name in NOT_SCALAR:
            continue
        if op.name in ("wrap", "inside", "trips") and dtype != "i64":
            continue
        found.append((op, ()))
    return found


@cache
def program(dtype: str, weak: bool = False) -> Function:
    """Return a function of three numbers with a result for every row."""
    ty = Scalar(dtype, weak)
    params = tuple(Value(name, ty) for name in "xyz")
    body: list[Apply] = []
    for k, (op, static) in enumerate(applications(dtype)):
        result = op.types([ty] * op.arity, static)[0]
        body.append(Apply((Value(f"r{k}", result),), op, params[: op.arity], static))
    casts = [Value(f"c{k}", Scalar(other)) for k, other in enumerate(DTYPES)]
    body += [
        Apply((value,), OPS["cast"], params[:1], (str(value.type),)) for value in casts
    ]
    cond = Value("cond", BOOL)
    body.append(Apply((cond,), OPS["eq"], (params[0], params[1])))
    body.append(Apply((Value("choice", ty),), OPS["select"], (cond, params[1], params[2])))
    return verify(Function("rows", params, tuple(body), tuple(s.result for s in body)))


def ulps(a: Any, b: Any) -> float:
    if a == b or (np.isnan(a) and np.isnan(b)):
        return 0.0
    return float(abs(float(a) - float(b)) / float(np.spacing(max(abs(a), abs(b)))))


def same(op: OpDef, got: Any, want: Any) -> bool:
    if op.name in INEXACT:
        return ulps(got, want) <= 4 or bool(np.isinf(got) and np.isinf(want))
    if isinstance(want, np.floating) and np.isnan(want):
        return bool(np.isnan(got))
    if op.name in ("fmin", "fmax") and want == 0.0:  # NumPy's choice of 0.0 and -0.0 varies
        return bool(got == 0.0)
    return np.asarray(got).tobytes() == np.asarray(want).tobytes()


def defined(op: OpDef, args: tuple[Any, ...]) -> bool:
    """Whether the result on `args` is one that the contract fixes."""
    if op.name == "ipow":  # NumPy raises for negative exponents
        return bool(args[1] >= 0) and int(args[1]) < 200
    if op.name in ("gamma", "lgamma"):
        return bool(np.isfinite(args[0]) and 0 < args[0] < 20)
    if op.name in ("erf", "erfc", "pow"):
        return bool(np.all(np.isfinite(args))) and not (op.name == "pow" and args[0] <= 0)
    if op.name == "inside" or op.name == "trips":
        return abs(int(args[0])) < 2**60 and abs(int(args[1])) < 2**60
    return True


@pytest.mark.parametrize(
    ("dtype", "weak"),
    [(dtype, False) for dtype in DTYPES] + [("b1", True), ("i64", True), ("f64", True)],
)
def test_rows_are_numpy(dtype: str, weak: bool, tmp_path: Path) -> None:
    fn = program(dtype, weak)
    kernel = compile(fn, tmp_path, cache=False)
    wrong: list[str] = []
    with np.errstate(all="ignore"):
        values = samples(dtype)
        for x, y in itertools.product(values, values):
            z = values[-1] if x == y else values[1]
            got = kernel(x, y, z)
            env: dict[Value, Any] = dict(zip(fn.params, (x, y, z), strict=True))
            for stmt, found in zip(fn.body, got, strict=True):
                assert isinstance(stmt, Apply)
                args = tuple(env[arg] for arg in stmt.args if isinstance(arg, Value))
                if not defined(stmt.op, args):
                    continue
                want = numpy_value(stmt.op.evaluate(*stmt.params, *args), stmt.result.type)
                python = isinstance(stmt.result.type, Scalar) and stmt.result.type.weak
                assert type(found) is type(want.item() if python else want), stmt
                if not same(stmt.op, found, want):
                    wrong.append(f"{stmt.op.name}{stmt.params} {args} = {want!r}, got {found!r}")
                env[stmt.result] = want
    assert wrong == []


__all__ = ["Array", "IRError", "Kernel", "Literal", "Type"]
