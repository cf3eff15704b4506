"""Find discontinuous uses of values that inverse operations restore inexactly (`undo`).

An index, a comparison or a step may change completely if its operand is off by a rounding error,
and then the result is wrong, or a load is out of bounds. Such values are stored by forward code.
Conditions of reverse code are moved to forward code first (`predicates`); where that is impossible,
inverse operations are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adc.ir.core import Apply, Call, For, If, Load, Operand, Recall, Stmt, Value, While, walk
from adc.ir.types import Array
from adc.ir.walk import carried_yields


def is_discontinuous(stmt: Stmt) -> bool:
    """Whether a rounding error of an operand may cause a larger change of the result."""
    return any(
        isinstance(each, While | Call) or (isinstance(each, Apply) and jumps(each))
        for each in walk((stmt,))
    )


def jumps(stmt: Apply) -> bool:
    """Whether an operation depends discontinuously on floats."""
    reads = any(arg.type.kind == "f" for arg in stmt.args if isinstance(arg, Value))
    # The size of an array of floats is exact.
    sizes = any(isinstance(arg.type, Array) for arg in stmt.args)
    return reads and not sizes and (stmt.op.jumps or any(r.type.kind != "f" for r in stmt.results))


def passed_to_calls(stmts: Sequence[Stmt]) -> Iterator[Value]:
    """Yield the forward values that reverse code passes to functions, which may branch on them."""
    recalled: dict[Operand, Value] = {}
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, Recall):
            recalled[stmt.result] = stmt.value
        elif isinstance(stmt, Call):
            yield from (recalled[arg] for arg in stmt.args if arg in recalled)


def discontinuous_use(stmts: Sequence[Stmt], is_inexact: Callable[[Value], bool]) -> Stmt | None:
    """Return a statement of reverse code that depends discontinuously on inexact values, if any."""
    inexact: set[Operand] = set()
    before = -1
    while before < len(inexact):  # loops carry inexact values
        before = len(inexact)
        for stmt in walk(tuple(stmts)):
            match stmt:
                case Recall(result=result, value=value) if is_inexact(value):
                    inexact.add(result)
                case Apply(args=args) if not inexact.isdisjoint(args):
                    if jumps(stmt):
                        return stmt
                    inexact.update(stmt.results)
                case Load(result=result, array=array) if array in inexact:
                    inexact.add(result)
                case For(init=init, body=body) | While(init=init, body=body):
                    pairs = zip(body.params, init, carried_yields(stmt), strict=True)
                    inexact.update(p for p, *made in pairs if not inexact.isdisjoint(made))
                    inexact.update(
                        r for r, p in zip(stmt.results, body.params, strict=True) if p in inexact
                    )
                case If(results=results, then=then, orelse=orelse):
                    arms = zip(results, then.yields, orelse.yields, strict=True)
                    inexact.update(r for r, *made in arms if not inexact.isdisjoint(made))
    return None


__all__ = ["discontinuous_use", "is_discontinuous", "jumps", "passed_to_calls"]
