"""Give a cotangent only to the last iteration that replaced a conditionally updated number.

Where a loop selects, as for the minimum of some numbers, reverse code recalls each iteration's
condition, and the last replacement gets the cotangent: for earlier ones it is zero. Before::

    %m = for L %i in 0 to %n carrying (%m.1 = inf:f64) {
      …
      %c = lt %d %m.1
      %m.2 = select %c %d %m.1
      yield %m.2
    }
    … = reverse L %i.r carrying (%m.ct = %ct) {
      %c.r = recall %c
      %d.ct = select %c.r %m.ct 0.0:f64
      %m.ct.1 = select %c.r 0.0:f64 %m.ct
      …
      yield %m.ct.1
    }

After, the loop also carries the index of that iteration, and no condition is stored::

    %m, %last = for L %i in 0 to %n carrying (%m.1 = inf:f64, %last.1 = -1) {
      …
      %last.2 = select %c %i %last.1
      yield %m.2 %last.2
    }
    %last.r = recall %last
    … = reverse L %i.r carrying (%m.ct = %ct) {
      %hit = eq %i.r %last.r
      %d.ct = select %hit %m.ct 0.0:f64
      …

No bit changes. `once` keeps only that iteration where the others then have no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.activity import is_zero
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import BOOL, INT
from adc.ir.walk import Names, map_functions, map_stmts, stmt_reads


def chosen(fn: Function) -> Function:
    """Return `fn` with the index of the last replacement in place of each iteration's condition."""

    def done(each: Function) -> Function:
        if each.mirror or not any(isinstance(stmt, Reverse) for stmt in walk(each.body)):
            return each
        return _Chooser(each).run()

    return map_functions(fn, done)


@dataclass(frozen=True)
class _Choice:
    """A condition of forward code, and whether a number is replaced where it holds."""

    cond: Value
    holds: bool


@dataclass
class _Chooser:
    fn: Function
    names: Names = field(init=False)
    loops: dict[str, For] = field(init=False)
    # By the label of a loop: the carried index of its last iteration that replaced a number.
    added: dict[str, dict[_Choice, Value]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = Names.of(self.fn)
        self.loops = {s.label: s for s in walk(self.fn.body) if isinstance(s, For) and not s.down}

    def run(self) -> Function:
        body = self.reverse(self.fn.body)
        return replace(self.fn, body=self.forward(body) if self.added else body)

    # -- reverse code ----------------------------------------------------------------------

    def reverse(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_stmts(stmt, self.reverse)
            if isinstance(stmt, Reverse) and stmt.loop in self.loops:
                stmt = self.rewritten(stmt, done)
            done.append(stmt)
        return tuple(done)

    def rewritten(self, loop: Reverse, before: list[Stmt]) -> Reverse:
        """Return a loop whose conditions are comparisons of the iteration's index."""
        forward = self.loops[loop.loop]
        own = {value for stmt in forward.body.stmts for value in stmt.results}
        recalls = {s.result: s.value for s in loop.body.stmts if isinstance(s, Recall)}
        found: dict[Value, _Choice] = {}
        for k in range(len(loop.init)):
            cond, choice = self.choice(loop.body, k, recalls)
            if cond is not None and choice is not None and choice.cond in own:
                found[loop.body.params[k]] = choice
        if not found:
            return loop
        hits: dict[_Choice, Value] = {}
        tests: list[Stmt] = []
        for choice in dict.fromkeys(found.values()):
            last = self.last(loop.loop, choice)
            recalled, hit = self.names.value(last), Value(self.names.fresh("hit"), BOOL)
            before.append(Recall(recalled, last, loc=loop.loc))
            tests.append(Apply((hit,), OPS["eq"], (loop.index, recalled), (), loop.loc))
            hits[choice] = hit
        body = [self.replaced(stmt, found, hits) for stmt in loop.body.stmts]
        return replace(loop, body=replace(loop.body, stmts=(*tests, *body)))

    def replaced(self, stmt: Stmt, found: dict[Value, _Choice], hits: dict[_Choice, Value]) -> Stmt:
        if not (isinstance(stmt, Apply) and stmt.op is arith.select):
            return stmt
        for cotangent, choice in found.items():
            if cotangent in stmt.args:
                zero = next(arg for arg in stmt.args[1:] if arg != cotangent)
                # Where a number was replaced, its replacement gets the cotangent.
                taken = (stmt.args[1] == cotangent) == choice.holds
                arms = (cotangent, zero) if taken else (zero, cotangent)
                return replace(stmt, args=(hits[choice], *arms))
        return stmt

    def choice(
        self, body: Block, k: int, recalls: dict[Value, Value]
    ) -> tuple[Operand | None, _Choice | None]:
        """Return the condition on which a carried cotangent becomes zero, and else stays."""
        cotangent, following = body.params[k], body.yields[k]
        if body.yields.count(cotangent):
            return None, None
        cond: Operand | None = None
        holds = False
        for stmt in body.stmts:
            if cotangent not in stmt_reads(stmt):
                continue
            if not (isinstance(stmt, Apply) and stmt.op is arith.select):
                return None, None
            test, a, b = stmt.args
            if not ((a == cotangent and is_zero(b)) or (b == cotangent and is_zero(a))):
                return None, None
            if cond not in (None, test):
                return None, None
            cond = test
            if stmt.result == following:
                holds = is_zero(a)
                following = cotangent  # found
        if following != cotangent or not isinstance(cond, Value) or cond not in recalls:
            return None, None
        return cond, _Choice(recalls[cond], holds)

    # -- forward code ----------------------------------------------------------------------

    def last(self, label: str, choice: _Choice) -> Value:
        """Return the index of the last iteration of a loop that replaced a number."""
        known = self.added.setdefault(label, {})
        if choice not in known:
            known[choice] = Value(self.names.fresh("last"), INT)
        return known[choice]

    def forward(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_stmts(stmt, self.forward)
            if isinstance(stmt, For) and stmt.label in self.added:
                for choice, last in self.added[stmt.label].items():
                    stmt = self.counting(stmt, choice, last)
            done.append(stmt)
        return tuple(done)

    def counting(self, loop: For, choice: _Choice, last: Value) -> For:
        before, after = self.names.value(last), self.names.value(last)
        arms = (loop.index, before) if choice.holds else (before, loop.index)
        stmt = Apply((after,), OPS["select"], (choice.cond, *arms), (), loop.loc)
        body = loop.body
        body = Block((*body.params, before), (*body.stmts, stmt), (*body.yields, after))
        init = (*loop.init, integer(-1))
        return replace(loop, results=(*loop.results, last), init=init, body=body)


__all__ = ["chosen"]
