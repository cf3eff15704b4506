"""Dependence test: whether accesses of different iterations of a loop are to different elements."""

from __future__ import annotations

from collections.abc import Iterable

from adc.ir.analysis.dependence.accesses import Access
from adc.ir.analysis.sizes.affine import Facts, Form
from adc.ir.core import For, Value, Write, walk
from adc.ir.types import INT
from adc.ir.walk import loop_values

# The most pairs for which a proof is tried.
_MOST_PROOFS = 60

Subscript = tuple[Form, ...]


class DependenceTest:
    """Proofs about one loop: indices are affine in its counter, inner counters and other values."""

    def __init__(self, facts: Facts, loop: For) -> None:
        self.facts, self.loop = facts, loop
        self.inside = loop_values(loop)
        inner = [s for s in walk(loop.body.stmts) if isinstance(s, For)]
        self.trips = {s.index: facts.form(s.trips) for s in (loop, *inner)}
        self.proofs = 0
        self.known: dict[tuple[Subscript, Subscript], bool] = {}

    def differ(self, pairs: Iterable[tuple[Access | Write, Access | Write]]) -> bool:
        """Whether the accesses of each pair never touch one element in different iterations."""
        return all(self.pair(self.subscript(a), self.subscript(b)) for a, b in pairs)

    def subscript(self, stmt: Access | Write) -> Subscript:
        return tuple(self.facts.form(operand) for operand in stmt.index)

    def pair(self, a: Subscript, b: Subscript) -> bool:
        if (a, b) not in self.known:
            own = {v for form in (*a, *b) for v, _ in form.terms} & self.inside
            self.known[a, b] = own <= self.trips.keys() and (
                any(self.plainly(x, y) for x, y in zip(a, b, strict=True))
                or any(self.proven(x, y) for x, y in zip(a, b, strict=True))
            )
        return self.known[a, b]

    def plainly(self, a: Form, b: Form) -> bool:
        """Whether two indices differ in different iterations by their constants alone."""
        index = self.loop.index
        if any(v in self.inside and v != index for form in (a, b) for v, _ in form.terms):
            return False
        step = a.coefficient(index)
        distance = a - b
        if distance.terms:
            return False
        if not step:
            return distance.const != 0
        return distance.const == 0 or distance.const % step != 0

    def proven(self, a: Form, b: Form) -> bool:
        """Whether two indices differ for all pairs of different iterations."""
        if self.proofs == _MOST_PROOFS:
            return False
        self.proofs += 1
        facts = self.facts
        others = {index: Value(f"{index.name}'", INT) for index in self.trips}

        def renamed(form: Form) -> Form:
            terms = {others.get(value, value): factor for value, factor in form.terms}
            return Form.of(terms, form.const)

        mark = facts.mark()
        for index, trips in self.trips.items():
            own = {v for v, _ in trips.terms} & self.inside
            for counter, bound in ((index, trips), (others[index], renamed(trips))):
                form = Form(((counter, 1),), 0)
                facts.assume(form)
                if own <= self.trips.keys():
                    facts.assume(bound - form + -1)
        found = facts.proves_different(a, renamed(b))
        facts.release(mark)
        return found


__all__ = ["DependenceTest"]
