"""Find loops that only reduce the elements of arrays: sums, products, extrema."""

from __future__ import annotations

import math
from collections.abc import Mapping

from adc.ir.core import Apply, For, Function, Literal, Load, Operand, Value, walk
from adc.ir.opdef import OPS
from adc.ir.types import Type
from adc.ir.walk import use_counts


def neutral(op: str, ty: Type) -> Literal:
    """Return the neutral element of a reduction."""
    found = OPS[op].neutral
    assert found is not None
    return Literal(found if ty.kind == "f" or math.isinf(found) else int(found), ty)


def combinations(fn: Function) -> dict[Value, str]:
    """Return arrays that are written in one place and then reduced, and the one operation."""
    sizes, counts = lengths(fn), use_counts(fn)
    found: dict[Value, list[str]] = {}
    for stmt in walk(fn.body):
        if isinstance(stmt, For) and is_combination(stmt, sizes):
            terms: dict[Operand, Value] = {}
            for each in stmt.body.stmts:
                match each:
                    case Load(result=result, array=array):
                        terms[result] = array
                    case Apply(args=(value,), results=(result,)):
                        terms[result] = terms[value]
                    case Apply(op=op, args=(_, value)) if counts.get(terms[value]) == 2:
                        found.setdefault(terms[value], []).append(op.name)
    return {array: names[0] for array, names in found.items() if len(names) == 1}


def lengths(fn: Function) -> dict[Value, Operand]:
    """Return the number of elements of each array of rank 1 that a function allocates."""
    return {
        stmt.result: stmt.args[0]
        for stmt in walk(fn.body)
        if isinstance(stmt, Apply) and stmt.op.reserves and stmt.result.type.rank == 1
    }


def is_combination(loop: For, lengths: Mapping[Value, Operand]) -> bool:
    """Whether a loop only reduces all elements of arrays, each into a number."""
    params = list(loop.body.params)
    if not params or loop.down:
        return False
    terms: dict[Operand, Value] = {}
    done: list[Operand] = []
    for stmt in loop.body.stmts:
        match stmt:
            case Load(result=result, array=array, index=(index,)) if index == loop.index:
                if lengths.get(array) != loop.trips:
                    return False
                terms[result] = array
            case Apply(op=op, args=(value,), results=(result,)) if op.converts:
                if value not in terms or result.type.dtype != value.type.dtype:
                    return False
                terms[result] = terms[value]
            case Apply(op=op, args=(param, value), results=(result,)) if op.neutral is not None:
                if len(done) == len(params) or param != params[len(done)] or value not in terms:
                    return False
                done.append(result)
            case _:
                return False
    return list(loop.body.yields) == done
