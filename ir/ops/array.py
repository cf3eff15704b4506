"""Rows on whole arrays: creation, shape, copies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.ir.core import Literal, derivative_type
from adc.ir.errors import IRError
from adc.ir.opdef import OPS, OpDef, Static
from adc.ir.rules import Traced
from adc.ir.types import INT, Array, Scalar, Type, parse_type


def _dim_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if not isinstance(types[0], Array):
        raise IRError(f"dim of {types[0]}")
    return (INT,)


def _created(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    memory = types[-1:] if types and isinstance(types[-1], Array) else ()
    for ty in memory:
        if isinstance(ty, Array) and (ty.dtype, ty.layout) != (params[0], "C"):
            raise IRError(f"an array of {params[0]} in the memory of {ty}")
    return (Array(str(params[0]), len(types) - len(memory)),)


def _filled(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    return _created(types[1:], params)


def _copied(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if not isinstance(types[0], Array):
        raise IRError(f"copy of {types[0]}")
    return (Array(types[0].dtype, types[0].rank),)


def _element(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if not isinstance(types[0], Array):
        raise IRError(f"total of {types[0]}")
    return (types[0].element,)


def _full(dtype: str, value: Any, *dims: Any) -> Any:
    if dims and isinstance(dims[-1], np.ndarray):
        # The memory of a dead array: an erroneous read of it sees this.
        *dims, memory = dims  # type: ignore[assignment]  # a list
        memory.fill(value)
        shape = [int(dim) for dim in dims]
        return memory.reshape(-1)[: math.prod(shape)].reshape(shape)
    return np.full([int(dim) for dim in dims], value, Scalar(dtype).numpy)


def _over(a: Any) -> Any:
    return a


def _same_array(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if not (isinstance(types[0], Array) and types[0].layout == "C"):
        raise IRError(f"{types[0]} cannot be written over")
    return (types[0],)


def _unset(dtype: str, *dims: Any) -> Any:
    """Return a value that shows in a result if it is read before it is stored."""
    ty = Scalar(dtype).numpy
    value: Any = np.nan if ty.kind in "fc" else True
    if ty.kind in "iu":
        value = np.iinfo(str(ty)).max
    return _full(dtype, value, *dims)


def _slot(dtype: str, rank: int, *dims: Any) -> Any:
    sizes = (math.prod(map(int, dims[k : k + rank])) for k in range(0, len(dims), rank))
    return np.empty(max(sizes), Scalar(dtype).numpy)


def _slot_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    dtype, rank = params
    if not types or len(types) % int(rank):
        raise IRError(f"{len(types)} sizes of arrays of {rank} axes")
    return (Array(str(dtype), 1),)


def _undef(text: str) -> Any:
    ty = parse_type(text)
    return np.zeros([0] * ty.rank, ty.numpy) if isinstance(ty, Array) else ty.numpy.type(0)


dim = OpDef(
    "dim", 1, lambda axis, a: np.int64(a.shape[axis]), "{0}.shape[{axis}]", (), _dim_types,
    why="a size", kinds="biuf", doc="The size of an axis.",
    asks_shape=True,
)  # fmt: skip
empty = OpDef(
    "empty", -1, _unset, "empty", (), _created,
    why="no float operand", kinds="i", sizes=0,
    doc="Elements are undefined until stored. "
    "The memory is that of the last operand if that is an array.",
)  # fmt: skip
slot = OpDef(
    "slot", -1, _slot, "slot", (), _slot_types, why="buffer form only", kinds="i",
    doc="Memory for any one of several arrays, given all their sizes.",
)  # fmt: skip


def _full_vjp(ct: Traced, y: Traced, value: Traced, *rest: Any) -> tuple[Traced | None, ...]:
    dims = rest[:-1]
    contribution = total(ct) if value.operand.type.kind == "f" else None
    return (contribution, *(None for _ in dims))


full = OpDef(
    "full", -1, _full, "full", (), _filled, vjp=_full_vjp, kinds="f", sizes=1,
    doc="Every element alike. The memory is that of the last operand if that is an array.",
)  # fmt: skip
over = OpDef(
    "over", 1, _over, "over", (), _same_array, why="buffer form only", kinds="biuf",
    aliases="whole",
    doc="The array itself, for another one to be written over it element by element.",
)  # fmt: skip
copy = OpDef(
    "copy", 1, lambda a: np.array(a, order="C"), "copy", (), _copied,
    vjp=lambda ct, y, a: (ct,), kinds="f",
    copies=True,
)  # fmt: skip


def _total_vjp(ct: Traced, y: Traced, a: Traced) -> tuple[Traced]:
    ty = a.operand.type
    assert isinstance(ty, Array)
    dims = [ct.trace.apply(dim, [a.operand], (axis,)) for axis in range(ty.rank)]
    dtype = derivative_type(ty).dtype
    return (Traced(ct.trace.apply(full, [ct.operand, *dims], (dtype,)), ct.trace),)


total = OpDef(
    "total", 1, lambda a: a.dtype.type(sum(a.ravel().tolist())), "total", (), _element,
    vjp=_total_vjp, kinds="f", doc="The sum of all elements, first to last.",
    reduces=True,
)  # fmt: skip


def _undef_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    return (parse_type(str(params[0])),)


def _row_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    stack, rank = types[0], len(types) - 1
    if not (isinstance(stack, Array) and stack.layout == "C" and 0 < rank < stack.rank):
        raise IRError(f"{stack} has no rows of {rank} indices")
    return (Array(stack.dtype, stack.rank - rank),)


row = OpDef(
    "row", -1, lambda a, *index: a[tuple(map(int, index))], "row", (), _row_types,
    why="buffer form only", kinds="biuf", doc="An array in an array, where it lies.",
    aliases="part",
)  # fmt: skip


def _part(count: Static, a: Any, *numbers: Any) -> Any:
    index, sizes = numbers[: int(count)], numbers[int(count) :]
    return a[tuple(map(int, index))][tuple(slice(0, int(size)) for size in sizes)]


def _part_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    found = _row_types(types[: int(params[0]) + 1], ())
    assert isinstance(found[0], Array)
    if len(types) != 1 + int(params[0]) + found[0].rank:
        raise IRError(f"a part of {types[0]} of rank {found[0].rank} is given other sizes")
    return found


part = OpDef(
    "part", -1, _part, "part", (), _part_types,
    why="buffer form only", kinds="biuf", aliases="part",
    doc="An array in an array, given its sizes: where it lies if it has these, else a copy.",
)  # fmt: skip
undef = OpDef(
    "undef", 0, _undef, "undef", (), _undef_types, why="no operand", kinds="", undefined=True,
    doc="Any value: a variable on a path that never reads it.",
)  # fmt: skip

__all__ = [
    "OPS", "Literal", "Scalar", "copy", "dim", "empty", "full", "over", "part", "row", "slot",
    "total", "undef",
]  # fmt: skip
