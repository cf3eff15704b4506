"""Skip reverse loops that would only add zeros.

Where a branch selects a number, reverse code selects the operand that gets its cotangent; that of
the other one is zero, and its reverse code has no effect. Before::

    %c.r = recall %c
    %x.ct = select %c.r %y.ct 0.0:f64
    %a.ct.3 = reverse L %i carrying (%a.ct.1 = %a.ct) {
      %w.r = recall %w
      %t.ct = mul %x.ct %w.r
      %a.ct.2 = accumulate %a.ct.1[%i] %t.ct
      yield %a.ct.2
    }

After, the body is::

      %a.ct.4 = if %c.r {
        …
        yield %a.ct.2
      } else {
        yield %a.ct.1
      }

and `unswitch` moves the branch out of the loop once it is known what iterations store. A zero
cotangent contributes nothing, whatever its factor. Only innermost loops without branches are
skipped: others must pop what they pushed on the tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.activity import is_zero
from adc.ir.core import (
    Apply,
    Block,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    operands,
    walk,
)
from adc.ir.ops import arith
from adc.ir.walk import Names, map_functions, map_stmts

# A condition without which a value is zero, and whether it must be true or false.
Guard = tuple[Value, bool]
_NONE: frozenset[Guard] = frozenset()


def skip(fn: Function) -> Function:
    """Return `fn` with reverse loops that do nothing where all cotangents are zero."""
    return map_functions(fn, _skipped)


def _skipped(fn: Function) -> Function:
    if not any(isinstance(stmt, Reverse) for stmt in walk(fn.body)):
        return fn
    return replace(fn, body=_Skipper(Names.of(fn)).stmts(fn.body))


@dataclass
class _Skipper:
    names: Names
    # Recalled values, and values computed from these alone: no cotangents.
    primal: set[Value] = field(default_factory=set)
    guards: dict[Value, frozenset[Guard]] = field(default_factory=dict)

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            match stmt:
                case Recall(result=result):
                    self.primal.add(result)
                case Apply(results=(result,)):
                    self.apply(stmt, result)
                case Reverse(index=index):
                    self.primal.add(index)
                    guard = self.guard(stmt)
                    if guard is not None:
                        stmt = self.guarded(stmt, *guard)
            done.append(map_stmts(stmt, self.stmts))
        return tuple(done)

    def apply(self, stmt: Apply, result: Value) -> None:
        if stmt.args and all(isinstance(a, Literal) or a in self.primal for a in stmt.args):
            self.primal.add(result)
            return
        found = _NONE
        match stmt.op, stmt.args:
            case arith.select, (cond, a, b) if isinstance(cond, Value) and cond in self.primal:
                if is_zero(b):
                    found = self.of(a) | {(cond, True)}
                elif is_zero(a):
                    found = self.of(b) | {(cond, False)}
                else:
                    found = self.of(a) & self.of(b)
            case ((arith.mul | arith.xmuly | arith.mulzeros), (a, b)):
                found = self.of(a) | self.of(b)
            case arith.truediv | arith.xdivy, (a, _):
                found = self.of(a)
            case arith.neg | arith.cast, (a,):
                found = self.of(a)
            case arith.add | arith.sub, (a, b):
                found = self.of(a) & self.of(b)
        if found:
            self.guards[result] = found

    def of(self, operand: Operand) -> frozenset[Guard]:
        return self.guards.get(operand, _NONE) if isinstance(operand, Value) else _NONE

    def guard(self, loop: Reverse) -> Guard | None:
        """Return a condition without which a loop has no effect."""
        read = {v: None for stmt in walk(loop.body.stmts) for v in operands(stmt)}
        candidates = dict.fromkeys(
            guard
            for value in read
            for guard in sorted(self.of(value), key=lambda g: (g[0].name, g[1]))
        )
        for guard in candidates:
            zeros = {value for value in read if guard in self.of(value)}
            if _Idle(zeros).loop(loop):
                return guard
        return None

    def guarded(self, loop: Reverse, cond: Value, holds: bool) -> Reverse:
        body = loop.body
        results = tuple(replace(p, name=self.names.fresh(p.name)) for p in body.params)
        arms = Block((), body.stmts, body.yields), Block((), (), body.params)
        then, orelse = arms if holds else arms[::-1]
        branch = If(results, cond, then, orelse, loc=loop.loc)
        return replace(loop, body=Block(body.params, (branch,), results))


class _Idle:
    """Whether reverse code yields its carried values unchanged where some values are zero."""

    def __init__(self, zeros: set[Operand]) -> None:
        self.zeros = zeros
        # Values known to be equal.
        self.same: dict[Operand, Operand] = {}

    def loop(self, loop: Reverse) -> bool:
        self.same.update(zip(loop.body.params, loop.body.params, strict=True))
        return self.stmts(loop.body.stmts) and all(
            self.equal(out) == param
            for out, param in zip(loop.body.yields, loop.body.params, strict=True)
        )

    def equal(self, operand: Operand) -> Operand | None:
        return self.same.get(operand)

    def zero(self, operand: Operand) -> bool:
        return operand in self.zeros or is_zero(operand)

    def stmts(self, stmts: Sequence[Stmt]) -> bool:
        """Record what the results of statements are; False for statements with other effects."""
        for stmt in stmts:
            match stmt:
                case Apply(results=(result,)):
                    self.apply(stmt, result)
                case Store(result=result, array=array, value=value, accumulate=True):
                    if self.zero(value) and array in self.same:
                        self.same[result] = self.same[array]
                case Recall() | Load() | Store() | Apply():
                    pass
                case _:
                    return False
        return True

    def join(self, result: Value, a: Operand, b: Operand) -> None:
        if self.zero(a) and self.zero(b):
            self.zeros.add(result)
        elif a in self.same and self.same[a] == self.same.get(b):
            self.same[result] = self.same[a]

    def apply(self, stmt: Apply, result: Value) -> None:
        match stmt.op, stmt.args:
            case ((arith.mul | arith.xmuly | arith.mulzeros), (a, b)):
                if self.zero(a) or self.zero(b):
                    self.zeros.add(result)
            case ((arith.neg | arith.cast | arith.truediv | arith.xdivy), (a, *_)):
                if self.zero(a):
                    self.zeros.add(result)
            case arith.select, (_, a, b):
                self.join(result, a, b)
            case arith.add, (a, b):
                self.added(result, a, b)
                self.added(result, b, a)
            case arith.sub, (a, b):
                self.added(result, a, b)

    def added(self, result: Value, a: Operand, b: Operand) -> None:
        """Record the sum of an operand and one that may be zero."""
        if self.zero(b):
            if self.zero(a):
                self.zeros.add(result)
            elif a in self.same:
                self.same[result] = self.same[a]


__all__ = ["skip"]
