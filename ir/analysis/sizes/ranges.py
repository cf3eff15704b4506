"""What floats of a program may be: between which bounds, NaN or infinite, masked.

A forward analysis to a fixed point over all functions of a program, reverse code included. In ::

    %d = sub %a %b              any number
    %e = mul %d %d              from 0 on
    %f = add %e 1e-9            from 1e-9 on
    %g = truediv 1.0 %f         from 0 on, finite
    %h = log %e                 any number, may be infinite

It is about what operations do, not about rounding: a sum or product of finite numbers is taken to
be finite, as is a quotient by what is not 0. Only rows that say so (`OpDef.total`) give finite
results for all finite operands; those of the others may be infinite or NaN. What the caller gives
and what lies in memory is taken to be finite, with a mark (`Range.given`) for whom it matters.

Where a branch compares a number with a constant, its arms know the outcome; so does the code after
a check, and so do the arms of reverse code about the values that they recall::

    if (ne %e 0.0) {
      %g = truediv 1.0 %e       from 0 on, finite
    }
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from adc.ir import ops
from adc.ir.analysis.activity import functions
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.walk import carried_yields

INF = math.inf
TINY = math.ulp(0.0)
# Sweeps before bounds that still move are given up, down to what the sign says.
_PATIENCE = 2
# How deep calls within calls are followed at once.
_DEPTH = 30


Bounds = tuple[float, float]
# A value of a function.
Name = tuple[str, Value]


class Range(NamedTuple):
    """What is known of a float, or of the elements of an array.

    Attributes
    ----------
    low, high : float
        Bounds, inclusive; a NaN lies outside of them.
    inf, nan : bool
        Whether it may be infinite, or NaN, though what the caller gives is finite.
    given : bool
        Whether it may be either if what the caller gives is.
    masked : bool
        Whether it may be 0 because a choice, or an element that nothing was added to, made it so.
        A product of numbers that happens to be 0 is not.
    """

    low: float = -INF
    high: float = INF
    inf: bool = False
    nan: bool = False
    given: bool = False
    masked: bool = False

    def meet(self, bounds: Bounds) -> Range:
        """Return what is known if it lies between bounds, too."""
        low, high = max(self.low, bounds[0]), min(self.high, bounds[1])
        return self if low > high else self._replace(low=low, high=high)

    @property
    def nonzero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0

    @property
    def finite(self) -> bool:
        return not (self.inf or self.nan)

    @property
    def ends(self) -> tuple[bool, bool]:
        """Whether it may be minus and plus infinity."""
        return self.inf and self.low == -INF, self.inf and self.high == INF

    def join(self, other: Range) -> Range:
        return Range(
            min(self.low, other.low),
            max(self.high, other.high),
            self.inf or other.inf,
            self.nan or other.nan,
            self.given or other.given,
            self.masked or other.masked,
        )


ANY = Range(inf=True, nan=True, given=True, masked=True)
GIVEN = Range(given=True)


def _of_literal(value: bool | int | float) -> Range:
    number = float(value)
    if math.isnan(number):
        return Range(nan=True)
    return Range(number, number, inf=math.isinf(number), masked=number == 0.0)


class Ranges:
    """The ranges of all values of a program, by function and value."""

    def __init__(self, fn: Function) -> None:
        self._functions = functions(fn)
        self._opaque = {each.name for each in fn.derived}
        self._opaque |= {each.name for each in fn.callees if each.rule is not None}
        self._known: dict[str, dict[Value, Range]] = {name: {} for name in self._functions}
        # How many changes there were when a value changed last, and when an operation was seen.
        self._changes = 0
        self._moved: dict[str, dict[Value, int]] = {name: {} for name in self._functions}
        self._seen: dict[tuple[str, int], int] = {}
        # The same of any value of a function, and of the visit that was last in it. The sweep of
        # that visit; functions that are being visited.
        self._latest = dict.fromkeys(self._functions, 0)
        self._visited: dict[str, int] = {}
        self._swept: dict[str, int] = {}
        self._open: list[str] = []
        self._sources = {name: self._read(name) for name in self._functions}
        # Comparisons and what combines them, the values that are recalled, and what tests have
        # found at the present statement.
        self._tests: dict[Name, Apply] = {}
        self._originals: dict[Name, Name] = {}
        self._facts: dict[Name, Bounds] = {}
        # The operands of products that test for zero, where they stand.
        self._factors: dict[Name, tuple[Range, ...]] = {}
        self._enter("")
        self._changed = True
        self._sweep = 0
        for param in fn.params:
            self._set(param, GIVEN)
        while self._changed:
            self._changed = False
            self._sweep += 1
            for name in self._functions:
                if not self._is_final(name):
                    self._visit(name)

    def _read(self, name: str) -> set[str]:
        """Return the functions whose values the statements of a function read."""
        fn = self._functions[name]
        called = {stmt.callee for stmt in walk(fn.body) if isinstance(stmt, Call)}
        return {name, fn.mirror or name, *called} & self._functions.keys()

    def _is_final(self, name: str) -> bool:
        """Whether no sweep through a function can change anything, as the last one did not."""
        if name not in self._visited:
            return False
        return max(self._latest[each] for each in self._sources[name]) <= self._visited[name]

    def _visit(self, name: str) -> None:
        self._visited[name], self._swept[name] = self._changes, self._sweep
        self._enter(name)
        self._open.append(name)
        self._stmts(self._functions[name].body)
        self._open.pop()

    def _visit_within(self, name: str) -> None:
        """Visit a function at a call of it, once in a sweep."""
        if self._swept.get(name) == self._sweep or name in self._open or len(self._open) > _DEPTH:
            return
        if not self._is_final(name):
            here, facts = self._name, self._facts
            self._visit(name)
            self._enter(here)
            self._facts = facts

    def _enter(self, name: str) -> None:
        self._name = name
        self._facts = {}
        self._here = self._known[name]
        mirrored = self._functions[name].mirror
        self._mirrored = mirrored if mirrored in self._known else name
        self._recalled = self._known[self._mirrored]

    def of(self, where: str, operand: Operand) -> Range:
        """Return the range of an operand of the function `where` ("" for the entry)."""
        if isinstance(operand, Literal):
            return _of_literal(operand.value)
        return self._known[where].get(operand, ANY)

    def factors(self, where: str, stmt: Apply) -> tuple[Range, ...]:
        """Return the ranges of the operands of a product that tests for zero, where it stands."""
        found = self._factors.get((where, stmt.result))
        return found or tuple(self.of(where, arg) for arg in stmt.args)

    # -- the fixed point -------------------------------------------------------------------

    def _get(self, operand: Operand) -> Range | None:
        """Return what is known so far; None of what nothing has reached yet."""
        if isinstance(operand, Literal):
            return _of_literal(operand.value)
        found = self._here.get(operand)
        return found and self._refined((self._name, operand), found)

    def _refined(self, name: Name, found: Range) -> Range:
        """Return what is known at the present statement, of a value or what it recalls."""
        for each in (name, self._originals.get(name, name)):
            if each in self._facts:
                return found.meet(self._facts[each])
        return found

    def _set(self, value: Value, found: Range | None) -> None:
        self._put(self._name, value, found)

    def _put(self, name: str, value: Value, found: Range | None) -> None:
        if found is None or value.type.kind != "f":
            return
        table = self._known[name]
        old = table.get(value)
        if old is None:
            self._change(name, value, found)
            return
        new = old.join(found)
        if new == old:
            return
        if self._sweep > _PATIENCE:
            new = new._replace(
                low=new.low if new.low == old.low else (0.0 if new.low >= 0.0 else -INF),
                high=new.high if new.high == old.high else (0.0 if new.high <= 0.0 else INF),
            )
        self._change(name, value, new)

    def _change(self, name: str, value: Value, found: Range) -> None:
        self._known[name][value] = found
        self._changed = True
        self._changes += 1
        self._moved[name][value] = self._latest[name] = self._changes

    def _is_settled(self, stmt: Apply | Call) -> bool:
        """Whether no operand has changed since an operation was seen: it gives the same again."""
        key = self._name, id(stmt)  # a function that calls itself is there twice
        seen = self._seen.get(key)
        self._seen[key] = self._changes
        if seen is None:
            return False
        if isinstance(stmt, Call) and self._latest.get(stmt.callee, 0) > seen:
            return False
        moved = self._moved[self._name]
        return all(moved.get(arg, 0) <= seen for arg in stmt.args if isinstance(arg, Value))

    def _link(self, sources: Sequence[Operand], targets: Sequence[Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self._set(target, self._get(source))

    def _block(self, block: Block) -> None:
        facts = self._facts
        self._stmts(block.stmts)
        self._facts = facts

    def _stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self._stmt(stmt)

    def _arm(self, stmt: If, arm: Block, holds: bool) -> None:
        facts = self._facts
        self._assume(stmt.cond, holds)
        self._stmts(arm.stmts)
        self._link(arm.yields, stmt.results)
        self._facts = facts

    def _assume(self, cond: Operand, holds: bool) -> None:
        """Add what is known where a condition holds, or does not."""
        if isinstance(cond, Value):
            name = self._name, cond
            self._assume_test(*self._originals.get(name, name), holds)

    def _assume_test(self, where: str, cond: Value, holds: bool) -> None:
        test = self._tests.get((where, cond))
        if test is None:
            return
        if test.op in _OPPOSITE:
            self._compare(where, test, holds)
        elif test.op is ops.integer.logical_not:
            self._assume_all(where, test.args, not holds)
        elif holds is (test.op is ops.integer.logical_and):
            self._assume_all(where, test.args, holds)

    def _assume_all(self, where: str, conds: Sequence[Operand], holds: bool) -> None:
        for cond in conds:
            if isinstance(cond, Value):
                self._assume_test(where, cond, holds)

    def _compare(self, where: str, test: Apply, holds: bool) -> None:
        op = test.op if holds else _OPPOSITE[test.op]
        value, number = test.args
        if isinstance(value, Literal):
            op, value, number = _SWAPPED.get(op, op), number, value
        if isinstance(value, Literal) or not isinstance(number, Literal):
            return
        name = where, value
        old = self._facts.get(name, (-INF, INF))
        known = self._known[where].get(value, ANY).meet(old)
        low, high = _bounds(op, float(number.value), known)
        self._facts = {**self._facts, name: (max(old[0], low), min(old[1], high))}

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply():
                if stmt.op in _OPPOSITE or stmt.op in _COMBINED:
                    self._tests[self._name, stmt.result] = stmt
                if not self._is_settled(stmt):
                    self._apply(stmt)
            case Load(result=result, array=array):
                found = self._get(array)
                self._set(result, None if found is None else _loaded(found))
            case Store(result=result, array=array, value=value):
                old, new = self._get(array), self._get(value)
                self._set(result, old)
                if new is not None and stmt.accumulate:
                    new = None if old is None else _add(old, new)._replace(masked=old.masked)
                elif isinstance(value, Literal):
                    new = _start(new)
                self._set(result, new)
            case Gemm(result=result, array=array, a=a, b=b):
                assert result is not None
                left, right = self._get(a), self._get(b)
                if left is not None and right is not None:
                    product = _times(left, right)._replace(low=-INF, high=INF)
                    old = self._get(array) if stmt.accumulate else None
                    self._set(result, product if old is None else _add(old, product))
            case If(then=then, orelse=orelse):
                self._arm(stmt, then, True)
                self._arm(stmt, orelse, False)
            case (
                For(init=init, body=body)
                | While(init=init, body=body)
                | Reverse(init=init, body=body)
            ):
                for param, first in zip(body.params, init, strict=True):
                    found = self._get(first)
                    self._set(param, _start(found) if isinstance(first, Literal) else found)
                self._block(body)
                self._link(carried_yields(stmt), body.params)
                self._link(body.params, stmt.results)
            case Call(results=results, callee=callee, args=args):
                if not self._is_settled(stmt):
                    self._call(results, callee, args)
            case Recall(result=result, value=value):
                name = self._mirrored, value
                self._originals[self._name, result] = name
                found = self._recalled.get(value)
                self._set(result, found and self._refined(name, found))
            case Check(cond=cond):
                self._assume(cond, True)
            case Print(results=results):
                for result in results:
                    self._set(result, ANY)
            case Push() | Pop() | Write():
                raise IRError("ranges are found in value form")
            case _:
                assert_never(stmt)

    def _call(self, results: Sequence[Value], callee: str, args: Sequence[Operand]) -> None:
        if callee in self._opaque:
            for result in results:
                self._set(result, ANY)
            return
        called = self._functions[callee]
        there = self._known[callee]
        for param, arg in zip(called.params, args, strict=True):
            self._put(callee, param, self._get(arg))
        self._visit_within(callee)
        for result, inner in zip(results, called.results, strict=True):
            found = _of_literal(inner.value) if isinstance(inner, Literal) else there.get(inner)
            self._set(result, found)

    def _apply(self, stmt: Apply) -> None:
        if stmt.result.type.kind != "f":
            return
        op = stmt.op
        if op.reserves:
            return
        if op.fills:
            self._set(stmt.result, _start(self._get(stmt.args[0])))
            return
        ranges = [_integer(arg) or self._get(arg) for arg in stmt.args]
        operands = [each for each in ranges if each is not None]
        if len(operands) < len(ranges):
            return
        if op.plain:
            self._factors[self._name, stmt.result] = tuple(operands)
        rule = _RULES.get(op)
        if rule is None:
            self._set(stmt.result, _of_row(stmt, operands))
        else:
            self._set(stmt.result, rule(stmt, operands))


def _bounds(op: OpDef, number: float, known: Range) -> Bounds:
    """Return between what a number lies if its comparison with another one is true."""
    if op is arith.lt:
        return -INF, math.nextafter(number, -INF)
    if op is arith.le:
        return -INF, number
    if op is arith.gt:
        return math.nextafter(number, INF), INF
    if op is arith.ge:
        return number, INF
    if op is arith.ne and number == 0.0:
        return (TINY if known.low >= 0.0 else -INF), (-TINY if known.high <= 0.0 else INF)
    return -INF, INF


def _integer(arg: Operand) -> Range | None:
    """Return the range of an operand that is no float; None of a float."""
    if arg.type.kind == "f":
        return None
    if isinstance(arg, Literal):
        return _of_literal(arg.value)
    return Range()


def _of_row(stmt: Apply, operands: Sequence[Range]) -> Range:
    low, high = stmt.op.image
    wild = not stmt.op.total
    inf = (wild or any(each.inf for each in operands)) and not -INF < low < high < INF
    nan = wild or not all(each.finite for each in operands)
    return Range(low, high, inf, nan, any(each.given for each in operands))


def _start(found: Range | None) -> Range | None:
    """What a constant is that a sum starts from, or an element that is cleared: no mask."""
    return None if found is None else found._replace(masked=False)


def _loaded(found: Range) -> Range:
    """What lies in memory is taken to be like what the caller gives."""
    return found._replace(inf=False, nan=False, given=found.given or not found.finite)


def _add(a: Range, b: Range) -> Range:
    low, high = a.low + b.low, a.high + b.high
    opposite = (a.ends[0] and b.ends[1]) or (a.ends[1] and b.ends[0])
    return Range(
        -INF if math.isnan(low) else low,
        INF if math.isnan(high) else high,
        a.inf or b.inf,
        a.nan or b.nan or opposite,
        a.given or b.given,
        a.masked and b.masked,
    )


def _neg(a: Range) -> Range:
    return a._replace(low=-a.high, high=-a.low)


def _times(a: Range, b: Range) -> Range:
    ends = [x * y for x in a[:2] for y in b[:2]]
    ends = [0.0 if math.isnan(end) else end for end in ends]
    lost = (a.inf and not b.nonzero) or (b.inf and not a.nonzero)
    return Range(min(ends), max(ends), a.inf or b.inf, a.nan or b.nan or lost, a.given or b.given)


def _mul(stmt: Apply, operands: Sequence[Range]) -> Range:
    a, b = operands
    if stmt.args[0] == stmt.args[1]:
        return _square(stmt, operands[:1])
    # Of two factors that are no constants, neither is a cotangent (`adc.ir.opdef`).
    of = [x for x, arg in zip((b, a), stmt.args, strict=True) if isinstance(arg, Literal)]
    return _times(a, b)._replace(masked=any(each.masked for each in of))


def _quotient(stmt: Apply, operands: Sequence[Range]) -> Range:
    a, b = operands
    masked = a.masked and (stmt.op is arith.xdivy or isinstance(stmt.args[-1], Literal))
    if not b.nonzero:
        nan = a.nan or b.nan or not a.nonzero or (a.inf and b.inf)
        return Range(inf=True, nan=nan, given=a.given or b.given, masked=masked)
    low, high = sorted((1.0 / b.low, 1.0 / b.high))
    found = _times(a, Range(low, high, given=b.given))
    nan = a.nan or b.nan or (a.inf and b.inf)
    return found._replace(inf=a.inf, nan=nan, masked=masked)


def _shielded(stmt: Apply, operands: Sequence[Range]) -> Range:
    a, b = operands
    nan = a.nan or b.nan or (a.inf and not b.nonzero)
    return _times(a, b).join(_of_literal(0.0))._replace(nan=nan, masked=a.masked)


def _power(stmt: Apply, operands: Sequence[Range]) -> Range:
    a, _ = operands
    found = _of_row(stmt, operands)
    return found._replace(low=0.0) if a.low >= 0.0 else found


def _root(stmt: Apply, operands: Sequence[Range]) -> Range:
    (a,) = operands
    low, high = (math.sqrt(end) if end > 0.0 else 0.0 for end in a[:2])
    return Range(low, high, a.ends[1], a.nan or a.low < 0.0, a.given)


def _exponential(stmt: Apply, operands: Sequence[Range]) -> Range:
    (a,) = operands
    low, high = (math.exp(end) if end < 709.0 else INF for end in a[:2])
    return Range(low, high, high == INF, a.nan, a.given)


def _logarithm(stmt: Apply, operands: Sequence[Range]) -> Range:
    (a,) = operands
    low, high = (math.log(end) if end > 0.0 else -INF for end in a[:2])
    return Range(low, high, a.ends[1] or a.low <= 0.0, a.nan or a.low < 0.0, a.given)


def _saturating(fn: Callable[[float], float]) -> Callable[..., Range]:
    """Return the rule of a function that grows to a finite limit."""

    def rule(stmt: Apply, operands: Sequence[Range]) -> Range:
        (a,) = operands
        return Range(fn(a.low), fn(a.high), False, a.nan, a.given)

    return rule


def _absolute(stmt: Apply, operands: Sequence[Range]) -> Range:
    (a,) = operands
    low = 0.0 if a.low <= 0.0 <= a.high else min(abs(a.low), abs(a.high))
    return a._replace(low=low, high=max(-a.low, a.high), masked=False)


def _square(stmt: Apply, operands: Sequence[Range]) -> Range:
    found = _absolute(stmt, operands)
    # Not `**`, which raises an exception where a product is infinite.
    return found._replace(low=found.low * found.low, high=found.high * found.high)


def _extreme(pick: Callable[[float, float], float]) -> Callable[..., Range]:
    def rule(stmt: Apply, operands: Sequence[Range]) -> Range:
        a, b = operands
        return a.join(b)._replace(low=pick(a.low, b.low), high=pick(a.high, b.high), masked=False)

    return rule


# Comparisons: those that are true where they are false, or where the operands change places.
_OPPOSITE: dict[OpDef, OpDef] = {
    arith.lt: arith.ge, arith.ge: arith.lt, arith.gt: arith.le, arith.le: arith.gt,
    arith.eq: arith.ne, arith.ne: arith.eq,
}  # fmt: skip
_SWAPPED: dict[OpDef, OpDef] = {
    arith.lt: arith.gt, arith.gt: arith.lt, arith.le: arith.ge, arith.ge: arith.le,
}  # fmt: skip
_COMBINED = (ops.integer.logical_not, ops.integer.logical_and, ops.integer.logical_or)

_RULES: dict[OpDef, Callable[[Apply, Sequence[Range]], Range]] = {
    arith.add: lambda stmt, args: _add(*args),
    arith.sum_: lambda stmt, args: _add(*args),
    arith.sub: lambda stmt, args: _add(args[0], _neg(args[1])),
    arith.neg: lambda stmt, args: _neg(args[0]),
    arith.mul: _mul,
    arith.truediv: _quotient,
    arith.xdivy: _quotient,
    arith.xmuly: _shielded,
    arith.mulzeros: _shielded,
    arith.reciprocal: lambda stmt, args: _quotient(stmt, (_of_literal(1.0), *args)),
    ops.math.pow_: _power,
    ops.math.sqrt: _root,
    ops.math.exp: _exponential,
    ops.math.log: _logarithm,
    ops.math.tanh: _saturating(math.tanh),
    ops.math.atan: _saturating(math.atan),
    ops.special.erf: _saturating(math.erf),
    arith.absolute: _absolute,
    arith.fabs: _absolute,
    arith.square: _square,
    arith.minimum: _extreme(min),
    arith.maximum: _extreme(max),
    arith.select: lambda stmt, args: args[1].join(args[2]),
    arith.cast: lambda stmt, args: args[0],
    ops.array.copy: lambda stmt, args: args[0],
    arith.stop: lambda stmt, args: args[0],
}


__all__ = ["Range", "Ranges"]
