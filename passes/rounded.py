"""What may not be computed from values that are found again up to rounding (`undo`).

An index, a comparison or a step may come out as another one if what it is computed from is off by
a rounding error, and what follows is then wrong altogether, or reads outside of an array. Such
values are kept from the forward code. What reverse code itself decides is moved there before
(`predicates`); where that cannot be, inverse operations are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adc.ir.core import Apply, Call, Load, Operand, Recall, Stmt, Value, While, walk
from adc.ir.types import Array


def decides(stmt: Stmt) -> bool:
    """Whether a rounding error in what it reads may change what it gives by more than that."""
    return any(
        isinstance(each, While | Call) or (isinstance(each, Apply) and jumps(each))
        for each in walk((stmt,))
    )


def jumps(stmt: Apply) -> bool:
    """Whether an operation decides by numbers with a fraction."""
    reads = any(arg.type.kind == "f" for arg in stmt.args if isinstance(arg, Value))
    # The size of an array of floats is no decision.
    sizes = any(isinstance(arg.type, Array) for arg in stmt.args)
    return reads and not sizes and (stmt.op.jumps or any(r.type.kind != "f" for r in stmt.results))


def handed_on(stmts: Sequence[Stmt]) -> Iterator[Value]:
    """Yield the forward values that reverse code passes to functions, which may decide by them."""
    recalled: dict[Operand, Value] = {}
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, Recall):
            recalled[stmt.result] = stmt.value
        elif isinstance(stmt, Call):
            yield from (recalled[arg] for arg in stmt.args if arg in recalled)


def decision(stmts: Sequence[Stmt], is_rounded: Callable[[Value], bool]) -> Stmt | None:
    """Return a statement of reverse code that decides by what is rounded, if there is one."""
    rounded: set[Operand] = set()
    for stmt in walk(tuple(stmts)):
        match stmt:
            case Recall(result=result, value=value) if is_rounded(value):
                rounded.add(result)
            case Apply(args=args) if not rounded.isdisjoint(args):
                if jumps(stmt):
                    return stmt
                rounded.update(stmt.results)
            case Load(result=result, array=array) if array in rounded:
                rounded.add(result)
    return None


__all__ = ["decides", "decision", "handed_on", "jumps"]
