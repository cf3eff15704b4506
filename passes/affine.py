"""Affine reasoning about integers: what is known of indices, sizes and counters.

An integer value is a `Form`: a sum of multiples of other values plus a constant. Facts are forms
that are not negative. `Facts.proves(form)` tries to derive ``form >= 0`` by substituting bounds
for variables (Fourier-Motzkin elimination, depth-limited): it may fail to prove what is true,
it never proves what is false.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from adc.ir.core import Apply, Check, For, Literal, Operand, Stmt, Value
from adc.ir.types import DTYPES, Array

# How many substitutions a proof may chain, and how many bounds it may try in all.
MAX_DEPTH = 9
MAX_STEPS = 400


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


def _combined(a: Form, m: int, b: Form, n: int) -> Form:
    """Return ``a*m + b*n``, at once: proofs are made of this."""
    terms = {value: factor * m for value, factor in a.terms}
    for value, factor in b.terms:
        terms[value] = terms.get(value, 0) + factor * n
    return Form.of(terms, a.const * m + b.const * n)


ONE = Form((), 1)


def constant(value: int) -> Form:
    return Form((), value)


class Facts:
    """The forms of integer values, and the facts that hold at one point of a program."""

    def __init__(self) -> None:
        self.forms: dict[Value, Form] = {}
        self.defs: dict[Value, Apply] = {}
        self._bounds: dict[Value, list[Form]] = {}
        self._log: list[Form] = []

    # -- forms -----------------------------------------------------------------------------

    def form(self, operand: Operand) -> Form:
        """Return the form of an integer operand."""
        if isinstance(operand, Literal):
            return constant(int(operand.value))
        return self.forms.get(operand, Form(((operand, 1),), 0))

    def define(self, stmt: Stmt) -> None:
        """Learn what an `Apply` says about its integer result."""
        if not isinstance(stmt, Apply) or len(stmt.results) != 1:
            return
        result = stmt.result
        self.defs[result] = stmt
        if isinstance(result.type, Array) or result.type.kind not in "iu":
            return
        args = stmt.args
        match stmt.op.name:
            case "add":
                self.forms[result] = self.form(args[0]) + self.form(args[1])
            case "sub":
                self.forms[result] = self.form(args[0]) - self.form(args[1])
            case "neg":
                self.forms[result] = self.form(args[0]) * -1
            case "mul":
                a, b = self.form(args[0]), self.form(args[1])
                if not a.terms:
                    self.forms[result] = b * a.const
                elif not b.terms:
                    self.forms[result] = a * b.const
            case "cast":
                if _keeps_value(args[0]):
                    self.forms[result] = self.form(args[0])
            case "dim":
                self.assume(self.form(result))
            case "minimum":
                for arg in args:
                    self.assume(self.form(arg) - self.form(result))
            case "maximum":
                for arg in args:
                    self.assume(self.form(result) - self.form(arg))
            case "mod":
                m = self.form(args[1])
                if self.proves(m + -1):
                    self.assume(self.form(result))
                    self.assume(m - self.form(result) + -1)
            case "floordiv":
                d, a, q = self.form(args[1]), self.form(args[0]), self.form(result)
                if not d.terms and d.const > 0:
                    self.assume(a - q * d.const)
                    self.assume(q * d.const + (d.const - 1) - a)
            case "abs":
                self.assume(self.form(result))
            case "trips":
                self.assume(self.form(result))
            case "select":
                a, b, r = self.form(args[1]), self.form(args[2]), self.form(result)
                if self.proves(a - b):
                    self.assume(a - r)
                    self.assume(r - b)
                elif self.proves(b - a):
                    self.assume(b - r)
                    self.assume(r - a)

    # -- facts -----------------------------------------------------------------------------

    def assume(self, form: Form) -> None:
        """Record that ``form >= 0``."""
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
        if source is not None and source.op.name == "trips":
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
        name, args = stmt.op.name, stmt.args
        if name == "not":
            self.assume_condition(args[0], not holds)
        elif name == ("and" if holds else "or"):
            for arg in args:
                self.assume_condition(arg, holds)
        elif name == "inside" and holds:
            self.assume(self.form(args[0]))
            self.assume(self.form(args[1]) - self.form(args[0]) + -1)
        elif name in ("lt", "le", "gt", "ge", "eq", "ne") and args[0].type.kind in "iu":
            a, b = self.form(args[0]), self.form(args[1])
            if not holds:
                name = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}[
                    name
                ]
            if name in ("lt", "le", "eq"):
                self.assume(b - a + (-1 if name == "lt" else 0))
            if name in ("gt", "ge", "eq"):
                self.assume(a - b + (-1 if name == "gt" else 0))

    def assume_check(self, check: Check) -> None:
        """What follows a check that passed may rely on it."""
        self.assume_condition(check.cond, True)

    # -- proofs ----------------------------------------------------------------------------

    def proves(self, goal: Form) -> bool:
        """Whether ``goal >= 0`` follows from the facts."""
        return self._prove(goal, MAX_DEPTH, [MAX_STEPS], {})

    def _prove(self, goal: Form, depth: int, steps: list[int], failed: dict[Form, int]) -> bool:
        if not goal.terms:
            return goal.const >= 0
        if failed.get(goal, 0) >= depth:  # tried in vain, with as many facts to go
            return False
        steps[0] -= 1
        if steps[0] < 0:
            return False
        for value, coefficient in goal.terms:
            for fact in reversed(self._bounds.get(value, ())):
                factor = fact.coefficient(value)
                # A fact bounds `value` from the side that the goal needs if the signs agree.
                if factor * coefficient <= 0:
                    continue
                # goal * |factor| - fact * |coefficient| has lost `value`.
                rest = _combined(goal, abs(factor), fact, -abs(coefficient))
                if self._prove(rest, depth - 1, steps, failed):
                    return True
        failed[goal] = depth
        return False

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


# --- equal integers -------------------------------------------------------------------------------

_Key = TypeVar("_Key", bound=Hashable)


class Same(Generic[_Key]):
    """Which of some keys are known to be one number: operands, sizes of arrays, forms.

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
        while key in self._for:
            key = self._for[key]
        return key

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
    if not isinstance(equal, Apply) or equal.op.name != "eq":
        return None
    a, b = equal.args
    return (a, b) if a.type.kind in "iu" and b.type.kind in "iu" else None


def _keeps_value(operand: Operand) -> bool:
    """Whether every value of the operand's type is a 64-bit signed integer."""
    return operand.type.kind == "i" or (
        operand.type.kind == "u" and DTYPES[operand.type.dtype].itemsize < 8
    )
