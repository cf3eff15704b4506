"""What is known of the values of a function that runs on symbols: numbers, shapes and conditions.

Integers and sizes are formulas. What is not known is a name (`peak.formula`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from adc.ir.analysis.sizes import formulas, symbols
from adc.ir.analysis.sizes.formulas import ONE, ZERO, Sum, dims, either
from adc.ir.core import Apply, If, Literal, Operand, Value
from adc.ir.ops import arith
from adc.ir.types import Array
from adc.passes.memory.peak.counts import growth
from adc.passes.memory.peak.needs import Frame, Rounds, Sizes, added, named, upto


@dataclass(kw_only=True)
class Values:
    """Of one function; names begin with `prefix`, and `literals` are names of numbers in the code.

    `conditions` has what is positive if a condition holds, `assumed` which of them hold: in the arm
    of a branch.
    """

    prefix: str
    literals: Mapping[int, str]
    numbers: dict[Value, Sum] = field(default_factory=dict)
    shapes: dict[Value, tuple[Sum, ...]] = field(default_factory=dict)
    conditions: dict[Value, Sum] = field(default_factory=dict)
    assumed: dict[Sum, bool] = field(default_factory=dict)

    def name(self, text: str) -> Sum:
        return Sum.atom(self.prefix + text)

    def number(self, operand: Operand) -> Sum:
        if isinstance(operand, Literal):
            number = int(operand.value)
            name = self.literals.get(number)
            return Sum.number(number) if name is None else Sum.atom(name)
        known = self.numbers.get(operand)
        return self.name(operand.name) if known is None else self._here(known)

    def _here(self, number: Sum) -> Sum:
        """Return what a number is in this arm, where it is what another branch has returned."""
        atoms, count = number.terms[0] if len(number.terms) == 1 else ((), 0)
        if count == 1 and len(atoms) == 1 and isinstance(atoms[0], formulas.Function):
            choice = atoms[0]
            if choice.kind == "if" and choice.args[0] in self.assumed:
                return self._here(choice.args[1 if self.assumed[choice.args[0]] else 2])
        return number

    def shape(self, array: Operand) -> tuple[Sum, ...]:
        assert isinstance(array, Value)
        known = self.shapes.get(array)
        return self._own_shape(array) if known is None else known

    def _own_shape(self, array: Value) -> tuple[Sum, ...]:
        return tuple(map(Sum.atom, dims(self.prefix + array.name, array.type)))

    def bytes(self, value: Operand) -> Sum:
        """Return the bytes of a number or an array."""
        return symbols.bytes_of(value, self.shape)

    def condition(self, operand: Operand) -> Sum:
        if isinstance(operand, Value) and operand in self.conditions:
            return self.conditions[operand]
        return self.number(operand)

    # -- what is handed over -------------------------------------------------------------------

    def sizes(self, values: Sequence[Operand]) -> Sizes:
        """Return what values take on the tapes: arrays with their shapes."""
        found: list[Sizes] = []
        for value in values:
            if isinstance(value.type, Array):
                found.append({"i64": Sum.number(8 * value.type.rank)})
            found.append({value.type.dtype: self.bytes(value)})
        return added(found)

    def frame(self, values: Sequence[Operand]) -> Frame:
        """Return what is known of values."""
        found: list[Sum | tuple[Sum, ...] | None] = []
        for value in values:
            if isinstance(value.type, Array):
                found.append(self.shape(value))
            else:
                found.append(self.number(value) if value.type.kind in "iu" else None)
        return tuple(found)

    def receive(self, values: Sequence[Value], frame: Frame) -> None:
        """Note what is known of values, if the frame is one of such values."""
        for value, known in zip(values, frame if len(frame) == len(values) else (), strict=False):
            if isinstance(value.type, Array) and isinstance(known, tuple):
                if len(known) == value.type.rank:
                    own = dims(self.prefix + value.name, value.type)
                    self.shapes[value] = tuple(map(named, known, own))
            elif value.type.kind in "iu" and isinstance(known, Sum):
                self.numbers[value] = named(known, self.prefix + value.name)

    # -- statements ----------------------------------------------------------------------------

    def agree(
        self, array: Value, one: Operand, other: Operand, most: Callable[[Sum], Sum | None]
    ) -> None:
        """Give an array the sizes that two others share, and sizes of its own for the rest.

        These are at most the larger one, where `most` tells what each of both is at most.
        """
        found = list[Sum]()
        trio = zip(self.shape(one), self.shape(other), self._own_shape(array), strict=True)
        for a, b, own in trio:
            limits = [most(a), most(b)] if a != b else []
            known = [limit for limit in limits if limit is not None]
            if len(known) == 2:
                found.append(upto(known[0].max(known[1]), str(own)))
            else:
                found.append(own if limits else a)
        self.shapes[array] = tuple(found)

    def count(
        self, param: Value, init: Operand, after: Operand, rounds: Rounds, *, grows: bool
    ) -> bool:
        """Note what a carried number is at most, if a loop counts it; return whether that is new.

        Nothing is known of a number that `grows` each time it is asked for.
        """
        name, start, known = self.prefix + param.name, self.number(init), self.number(param)
        found = growth(self.number(after), known, name, rounds.bound) if start.is_size() else None
        limit = Sum.atom(name) if found is None else upto(found.limit(start, rounds.trips), name)
        if limit == known:
            return False
        self.numbers[param] = Sum.atom(name) if grows else limit
        return self.numbers[param] != known

    def choose(self, cond: Sum, stmt: If) -> None:
        """Note what a branch on a condition returns."""
        for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields, strict=True):
            if isinstance(result.type, Array):
                trio = zip(self.shape(a), self.shape(b), self._own_shape(result), strict=True)
                sizes = ((either(cond, one, other), own) for one, other, own in trio)
                self.shapes[result] = tuple(s if s.is_short() else own for s, own in sizes)
            elif result.type.kind in "iu":
                self._choose(result, cond, a, b)

    def _choose(self, result: Value, cond: Sum, a: Operand, b: Operand) -> None:
        found = either(cond, self.number(a), self.number(b))
        if found.is_short():
            self.numbers[result] = found

    def apply(self, stmt: Apply) -> None:
        """Note what an operation returns: a shape, a number or a condition."""
        op, result, args = stmt.op, stmt.results[0], stmt.args
        if isinstance(result.type, Array):
            self.shapes[result] = symbols.shape(stmt, self.number, self.shape)
        elif op.converts and args[0].type.kind == "b" and result.type.kind in "iu":
            self.numbers[result] = either(self.condition(args[0]), ONE, ZERO)
        elif op is arith.select and result.type.kind in "iu":
            self._choose(result, self.condition(args[0]), *args[1:])
        elif result.type.kind in "iu":
            found = symbols.integer(stmt, self.number, self.shape)
            if found is not None:
                self.numbers[result] = found
        else:
            holds = symbols.condition(stmt, self.number)
            if holds is not None:
                self.conditions[result] = holds
