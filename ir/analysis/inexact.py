"""What may not be computed from values that are found again up to rounding (`undo`).

An index, a comparison or a step may come out as another one if what it is computed from is off by
a rounding error, and what follows is then wrong altogether, or reads outside of an array. Such
values are kept from the forward code. What reverse code itself decides is moved there before
(`predicates`); where that cannot be, inverse operations are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adc.ir.analysis.activity import carried_yields
from adc.ir.core import Apply, Call, For, If, Load, Operand, Recall, Stmt, Value, While, walk
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
    before = -1
    while before < len(rounded):  # loops hand on what is rounded
        before = len(rounded)
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
                case For(init=init, body=body) | While(init=init, body=body):
                    pairs = zip(body.params, init, carried_yields(stmt), strict=True)
                    rounded.update(p for p, *made in pairs if not rounded.isdisjoint(made))
                    rounded.update(
                        r for r, p in zip(stmt.results, body.params, strict=True) if p in rounded
                    )
                case If(results=results, then=then, orelse=orelse):
                    arms = zip(results, then.yields, orelse.yields, strict=True)
                    rounded.update(r for r, *made in arms if not rounded.isdisjoint(made))
    return None


__all__ = ["decides", "decision", "handed_on", "jumps"]
