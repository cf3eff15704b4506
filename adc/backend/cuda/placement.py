"""Where code runs: on the host, as a launch, or in one thread of the device.

Numbers that elements of arrays decide are on the device, and stay there: what computes with them is
done by one thread, as many statements in a row as there are. The host waits for the device only for
what decides how often a loop runs, which branch is taken, how large an array is, or is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adc.ir.analysis.dependence.combinations import is_combination, lengths
from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.types import Array

HOST, LAUNCH, COMBINE, THREAD = "host", "launch", "combine", "thread"


class Placement:
    """Where every statement of a function runs, and which numbers are on the device.

    Some are there from the start: `given`.
    """

    def __init__(self, fn: Function, given: Iterable[Value] = ()) -> None:
        self.on_device = set(given)
        self.kinds: dict[int, str] = {}
        self.lengths = lengths(fn)
        before = -1
        while before != len(self.on_device):  # what loops hand on may get there later
            before = len(self.on_device)
            self._stmts(fn.body)

    def kind(self, stmt: Stmt) -> str:
        return self.kinds.get(id(stmt), HOST)

    def is_on_device(self, operand: Operand) -> bool:
        return operand in self.on_device

    def _stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self._stmt(stmt)

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case For(parallel=True):
                self.kinds[id(stmt)] = LAUNCH
            case For() if is_combination(stmt, self.lengths):
                self.kinds[id(stmt)] = COMBINE
                self.on_device.update(stmt.results)
            case Load() | Write():
                self._in_thread(stmt)
            case Apply(op=op, args=args, results=(result,)):
                if isinstance(result.type, Array) or op.asks_shape:
                    return
                if op.reduces:
                    self.on_device.add(result)
                elif any(map(self.is_on_device, args)):
                    self._in_thread(stmt)
            case Check(cond=cond, args=args):
                if any(map(self.is_on_device, (cond, *args))):
                    self._in_thread(stmt)
            case Pop(results=results) | Call(results=results):
                # What is pushed or passed is taken there, or fetched (`emit`).
                self.on_device.update(v for v in results if v.type.kind == "f" and _is_number(v))
            case For() | While() | If():
                if _is_alone(stmt, self.lengths) and self._touches(stmt):
                    self._in_thread(stmt)
                    return
                first = int(isinstance(stmt, While))
                if not isinstance(stmt, If):
                    for k, param in enumerate(stmt.body.params):
                        sources = (stmt.init[k], stmt.body.yields[k + first], stmt.results[k])
                        self._alike([param, *sources])
                for block in blocks(stmt):
                    self._stmts(block.stmts)
                if isinstance(stmt, If):
                    for k, result in enumerate(stmt.results):
                        if any(self.is_on_device(block.yields[k]) for block in blocks(stmt)):
                            self.on_device.update(v for v in (result,) if _is_number(v))
                else:
                    for k, param in enumerate(stmt.body.params):
                        sources = (stmt.init[k], stmt.body.yields[k + first], stmt.results[k])
                        self._alike([param, *sources])

    def _alike(self, values: Iterable[Operand]) -> None:
        """Have the numbers that a loop hands on all in one place."""
        found = list(values)
        if any(map(self.is_on_device, found)):
            param, result = found[0], found[-1]
            self.on_device.update(
                v for v in (param, result) if isinstance(v, Value) and _is_number(v)
            )

    def _in_thread(self, stmt: Stmt) -> None:
        self.kinds[id(stmt)] = THREAD
        self.on_device.update(stmt.results)

    def _touches(self, stmt: Stmt) -> bool:
        """Whether a statement has to do with what is on the device."""
        for each in walk((stmt,)):
            if isinstance(each, Load | Write) or any(map(self.is_on_device, operands(each))):
                return True
        return False


def _is_number(value: Value) -> bool:
    return not isinstance(value.type, Array)


def _is_alone(stmt: Stmt, lengths: Mapping[Value, Operand]) -> bool:
    """Whether one thread can run a statement: it makes no arrays, launches and tapes nothing."""
    for each in walk((stmt,)):
        if isinstance(each, Call | Print | Gemm | Push | Pop):
            return False
        if isinstance(each, For) and (each.parallel or is_combination(each, lengths)):
            return False
        if isinstance(each, Load | Write) or (isinstance(each, Apply) and each.op.asks_shape):
            continue
        inner = [v for block in blocks(each) for v in block.params]
        if any(isinstance(v.type, Array) for v in (*operands(each), *each.results, *inner)):
            return False
    return True
