"""Affine reasoning about integers: what is known of indices, sizes and counters.

An integer value is a `Form`: a sum of multiples of other values plus a constant. Facts are forms
that are not negative. `Facts.proves(form)` asks whether ``form < 0`` contradicts them: it may fail
to prove what is true of integers but not of fractions, it never proves what is false.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from adc.ir import ops
from adc.ir.core import (
    Apply,
    Check,
    For,
    Literal,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import DTYPES, INT, Array, Type
from adc.ir.walk import Names

# How many facts a proof may look at, and how many steps it may take.
MAX_FACTS = 48
MAX_PIVOTS = 200
# What may not fit its type.
WRAPPING = (arith.add, arith.sub, arith.neg, arith.mul, arith.absolute)


@dataclass(frozen=True)
class Form:
    """``const + sum(coefficient * value)``."""

    terms: tuple[tuple[Value, int], ...]
    const: int

    @staticmethod
    def of(terms: Mapping[Value, int], const: int) -> Form:
        kept = sorted(((v, c) for v, c in terms.items() if c), key=lambda item: item[0].name)
        return Form(tuple(kept), const)

    def __add__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(self.terms, self.const + other)
        terms = dict(self.terms)
        for value, coefficient in other.terms:
            terms[value] = terms.get(value, 0) + coefficient
        return Form.of(terms, self.const + other.const)

    def __mul__(self, factor: int) -> Form:
        if factor == 0:
            return constant(0)
        if factor == 1:
            return self
        return Form(tuple((v, c * factor) for v, c in self.terms), self.const * factor)

    def __sub__(self, other: Form) -> Form:
        return self + other * -1

    def coefficient(self, value: Value) -> int:
        for each, factor in self.terms:
            if each is value or each == value:
                return factor
        return 0

    def without(self, value: Value) -> Form:
        return Form(tuple(term for term in self.terms if term[0] != value), self.const)


def constant(value: int) -> Form:
    return Form((), value)


class Facts:
    """The forms of integer values, and the facts that hold at one point of a program."""

    def __init__(self) -> None:
        self.forms: dict[Value, Form] = {}
        self.defs: dict[Value, Apply] = {}
        # The lesser of some numbers, and the greater: one of them, with the sign of the case.
        self._choices: dict[Value, tuple[int, tuple[Operand, ...]]] = {}
        self._bounds: dict[Value, list[Form]] = {}
        self._log: list[Form] = []

    # -- forms -----------------------------------------------------------------------------

    def form(self, operand: Operand) -> Form:
        """Return the form of an integer operand."""
        if isinstance(operand, Literal):
            return constant(int(operand.value))
        return self.forms.get(operand, Form(((operand, 1),), 0))

    def learn(self, stmts: Sequence[Stmt]) -> None:
        """Learn what statements, and those in their blocks, say about integers."""
        for stmt in walk(tuple(stmts)):
            self.define(stmt)

    def mirror(self, stmt: Stmt, loops: Mapping[str, For | While]) -> None:
        """Learn that integers which reverse code recalls, and counters, are the forward ones."""
        if isinstance(stmt, Recall) and stmt.result.type.kind in "iu":
            self.forms[stmt.result] = self.form(stmt.value)
        elif isinstance(stmt, Reverse):
            loop = loops.get(stmt.loop)
            if isinstance(loop, For):
                self.forms[stmt.index] = self.form(loop.index)

    def define(self, stmt: Stmt) -> None:
        """Learn what an `Apply` says about its integer result."""
        if not isinstance(stmt, Apply) or len(stmt.results) != 1:
            return
        result = stmt.result
        self.defs[result] = stmt
        if isinstance(result.type, Array) or result.type.kind not in "iu":
            return
        args = stmt.args
        match stmt.op:
            case arith.add:
                self._let(result, self.form(args[0]) + self.form(args[1]))
            case arith.sub:
                self._let(result, self.form(args[0]) - self.form(args[1]))
            case arith.neg:
                self._let(result, self.form(args[0]) * -1)
            case arith.mul:
                a, b = self.form(args[0]), self.form(args[1])
                if not a.terms:
                    self._let(result, b * a.const)
                elif not b.terms:
                    self._let(result, a * b.const)
            case arith.cast:
                if keeps_value(args[0].type, INT):
                    self._let(result, self.form(args[0]))
            case ops.array.dim:
                self.assume(self.form(result))
            case arith.minimum:
                self._choices[result] = (1, args)
                for arg in args:
                    self.assume(self.form(arg) - self.form(result))
            case arith.maximum:
                self._choices[result] = (-1, args)
                for arg in args:
                    self.assume(self.form(result) - self.form(arg))
            case arith.mod:
                m = self.form(args[1])
                if self.proves(m + -1):
                    self.assume(self.form(result))
                    self.assume(m - self.form(result) + -1)
            case arith.floordiv:
                d, a, q = self.form(args[1]), self.form(args[0]), self.form(result)
                if not d.terms and d.const > 0:
                    self.assume(a - q * d.const)
                    self.assume(q * d.const + (d.const - 1) - a)
                    if self.proves(q):  # which takes that it is whole, so say it
                        self.assume(q)
            case arith.absolute:
                a = self.form(args[0])
                if result.type.kind == "u" or self._fits(a * -1, result.type.dtype):
                    self.assume(self.form(result))
            case ops.integer.trips:
                self.assume(self.form(result))
            case arith.select:
                a, b, r = self.form(args[1]), self.form(args[2]), self.form(result)
                if self.proves(a - b):
                    self.assume(a - r)
                    self.assume(r - b)
                elif self.proves(b - a):
                    self.assume(b - r)
                    self.assume(r - a)

    def _let(self, result: Value, form: Form) -> None:
        """Note the form of a value, unless it may be too large for its type and wrap around."""
        if self._fits(form, result.type.dtype):
            self.forms[result] = form

    def _fits(self, form: Form, dtype: str) -> bool:
        """Whether numbers of a type follow to be large enough; 64 bits are taken to be."""
        if dtype == INT.dtype:
            return True
        numbers = np.iinfo(DTYPES[dtype].name)
        return self.proves(form + -int(numbers.min)) and self.proves(form * -1 + int(numbers.max))

    # -- facts -----------------------------------------------------------------------------

    def assume(self, form: Form) -> None:
        """Record that ``form >= 0``."""
        factor = math.gcd(*(c for _, c in form.terms))
        if factor > 1:  # whole numbers leave out what is between the multiples
            form = Form(tuple((v, c // factor) for v, c in form.terms), form.const // factor)
        # One that is already known is so for longer, and a proof would try each copy.
        if not form.terms or form in self._bounds.get(form.terms[0][0], ()):
            return
        self._log.append(form)
        for value, _ in form.terms:
            self._bounds.setdefault(value, []).append(form)

    def mark(self) -> int:
        return len(self._log)

    def release(self, mark: int) -> None:
        """Forget the facts recorded since `mark`: control has left the block they hold in."""
        while len(self._log) > mark:
            form = self._log.pop()
            for value, _ in form.terms:
                self._bounds[value].pop()

    def enter_loop(self, loop: For) -> None:
        """Assume the bounds of a loop's counter."""
        index, trips = self.form(loop.index), self.form(loop.trips)
        self.assume(index)
        self.assume(trips - index + -1)
        source = self.defs.get(loop.trips) if isinstance(loop.trips, Value) else None
        if source is not None and source.op is ops.integer.trips:
            start, stop, step = (self.form(arg) for arg in source.args)
            if not step.terms and step.const:
                # start + step * index lies before stop.
                room = stop - start - index * step.const
                self.assume((room if step.const > 0 else room * -1) + -1)

    def assume_condition(self, cond: Operand, holds: bool) -> None:
        """Assume that a truth value is true (or false)."""
        stmt = self.defs.get(cond) if isinstance(cond, Value) else None
        if stmt is None:
            return
        op, args = stmt.op, stmt.args
        if op is ops.integer.logical_not:
            self.assume_condition(args[0], not holds)
        elif op is (ops.integer.logical_and if holds else ops.integer.logical_or):
            for arg in args:
                self.assume_condition(arg, holds)
        elif op is ops.integer.inside and holds:
            self.assume(self.form(args[0]))
            self.assume(self.form(args[1]) - self.form(args[0]) + -1)
        elif not args or args[0].type.kind not in "iu":
            return
        elif op.orders is not None:
            less, equal = op.orders if holds else (not op.orders[0], not op.orders[1])
            a, b = (self.form(arg) for arg in (args if less else args[::-1]))
            self.assume(b - a + (0 if equal else -1))
        elif op is (arith.eq if holds else arith.ne):
            a, b = self.form(args[0]), self.form(args[1])
            self.assume(b - a)
            self.assume(a - b)

    def assume_check(self, check: Check) -> None:
        """What follows a check that passed may rely on it."""
        self.assume_condition(check.cond, True)

    # -- proofs ----------------------------------------------------------------------------

    def proves(self, goal: Form, cases: int = 3) -> bool:
        """Whether ``goal >= 0`` follows from the facts, and from so many distinctions of cases."""
        if not goal.terms:
            return goal.const >= 0
        if all(self._bounded(value, coefficient) for value, coefficient in goal.terms):
            if not _possible([goal * -1 + -1, *self._near(goal)]):
                return True
        for value, factor in goal.terms:
            sign, args = self._choices.get(value, (0, ()))
            if cases and sign * factor > 0:  # the least of some is one of them: whichever it is
                rest = goal.without(value)
                return all(self.proves(rest + self.form(arg) * factor, cases - 1) for arg in args)
        return False

    def _bounded(self, value: Value, sign: int) -> bool:
        """Whether a fact keeps ``sign * value`` from being as small as one likes."""
        return any(fact.coefficient(value) * sign > 0 for fact in self._bounds.get(value, ()))

    def _near(self, goal: Form) -> list[Form]:
        """Return the facts that may have a say in a goal, `MAX_FACTS` at most."""
        found: dict[Form, None] = {}
        values = [value for value, _ in goal.terms]
        seen = set(values)
        for value in values:  # which grow
            for fact in reversed(self._bounds.get(value, ())):
                if fact in found:
                    continue
                if len(found) == MAX_FACTS:
                    return list(found)
                found[fact] = None
                for other, _ in fact.terms:
                    if other not in seen:
                        seen.add(other)
                        values.append(other)
        return list(found)

    def inside(self, index: Operand, size: Operand) -> bool:
        """Whether ``0 <= index < size`` follows."""
        at = self.form(index)
        return self.proves(at) and self.proves(self.form(size) - at + -1)

    def exists(self, index: Sequence[Operand], sizes: Sequence[Operand] | None) -> bool:
        """Whether an element of an array follows to be there; not if its sizes are not known."""
        return sizes is not None and all(map(self.inside, index, sizes))

    def proves_different(self, a: Form, b: Form) -> bool:
        """Whether ``a != b`` follows."""
        return self.proves(a - b + -1) or self.proves(b - a + -1)


def _possible(forms: Sequence[Form]) -> bool:
    """Whether some rational numbers make all of `forms` not negative.

    The simplex method without an objective, as solvers of formulas use it (Dutertre and de Moura,
    "A fast linear-arithmetic solver for DPLL(T)", 2006), in integers: what a row stands for is not
    negative, by whatever factor, so that no denominators are kept.
    """
    # Each row is a slack that is not negative, as a sum of others that are zero for now. Slacks
    # are numbered; values, which have no bounds of their own, are columns until they are solved
    # for, and are in no row from then on.
    rows: dict[int, dict[Value | int, int]] = {k: dict(form.terms) for k, form in enumerate(forms)}
    consts = {k: form.const for k, form in enumerate(forms)}
    for _ in range(MAX_PIVOTS):
        # The first that will do, both times: that is why it ends (Bland's rule).
        low = next((k for k in sorted(rows) if consts[k] < 0), None)
        if low is None:
            return True
        row, const = rows.pop(low), consts.pop(low)
        column = min(
            (key for key, factor in row.items() if not isinstance(key, int) or factor > 0),
            key=lambda key: (isinstance(key, int), key if isinstance(key, int) else 0),
            default=None,
        )
        if column is None:
            return False
        pivot = row.pop(column)
        # column * pivot = low - const - row
        sign, size = (1, pivot) if pivot > 0 else (-1, -pivot)
        for other, terms in rows.items():
            factor = terms.pop(column, 0) * sign
            if factor:
                _eliminate(terms, factor, row, low, size)
                consts[other] = consts[other] * size - const * factor
        if isinstance(column, int):
            rows[column] = {key: -each for key, each in row.items()} | {low: 1}
            consts[column] = -const
    return True  # for all that is known


def _eliminate(
    terms: dict[Value | int, int], factor: int, row: Mapping[Value | int, int], low: int, size: int
) -> None:
    """Let ``terms`` be ``terms * size + factor * (low - row)``."""
    if size != 1:
        for key in terms:
            terms[key] *= size
    terms[low] = factor
    for key, each in row.items():
        total = terms.get(key, 0) - factor * each
        if total:
            terms[key] = total
        else:
            del terms[key]


def computed(form: Form, names: Names, into: list[Stmt]) -> Operand:
    """Return an integer that is a form, computed by statements."""
    found: Operand = Literal(form.const, INT)

    def apply(name: str, *args: Operand, params: tuple[str, ...] = ()) -> Value:
        made = Value(names.fresh("n"), INT)
        into.append(Apply((made,), OPS[name], args, params))
        return made

    for value, factor in form.terms:
        term = value if value.type == INT else apply("cast", value, params=(str(INT),))
        if factor != 1:
            term = apply("mul", term, Literal(factor, INT))
        found = term if found == Literal(0, INT) else apply("add", term, found)
    return found


# --- equal integers -------------------------------------------------------------------------------

_Key = TypeVar("_Key", bound=Hashable)


class Same(Generic[_Key]):
    """Which of some keys are one: integers, as operands or forms, sizes of arrays, or arrays.

    Examples
    --------
    >>> same = Same[str]()
    >>> same.join("n", "m")
    >>> same.join("m", "k")
    >>> same.find("k")
    'n'
    """

    def __init__(self) -> None:
        self._for: dict[_Key, _Key] = {}

    def find(self, key: _Key) -> _Key:
        """Return the key that stands for all that are the same."""
        root = key
        while (known := self._for.get(root)) is not None:
            root = known
        while key != root:  # path compression
            self._for[key], key = root, self._for[key]
        return root

    def join(self, first: _Key, other: _Key) -> None:
        """Let what stands for `first` stand for `other`, too."""
        first, other = self.find(first), self.find(other)
        if first != other:
            self._for[other] = first


def equated(check: Check, defs: Mapping[Value, Stmt]) -> tuple[Operand, Operand] | None:
    """Return two integers that are the same where control gets past a check.

    That does not hold in front of it, and nowhere if control need not come by it.
    """
    equal = defs.get(check.cond) if isinstance(check.cond, Value) else None
    if not isinstance(equal, Apply) or equal.op is not arith.eq:
        return None
    a, b = equal.args
    return (a, b) if a.type.kind in "iu" and b.type.kind in "iu" else None


def is_whole(ty: Type) -> bool:
    """Whether sums of a type are those of whole numbers: those of fewer bits wrap around.

    Differences without a sign do so below zero.
    """
    return ty.dtype == INT.dtype


def keeps_value(source: Type, target: Type) -> bool:
    """Whether a conversion changes no integer of a type."""
    integers = source.kind in "iu" and target.kind in "iu"
    return integers and np.can_cast(DTYPES[source.dtype], DTYPES[target.dtype], "safe")
