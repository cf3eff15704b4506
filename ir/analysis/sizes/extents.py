"""Sizes, integers and trips as numbers: `Symbols`, evaluated for known arguments, or guesses.

Plans without sizes are made for `GUESS` iterations and elements per axis. A loop whose length
depends on the one around it counts with its length in the middle of that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir import ops
from adc.ir.analysis.sizes import formulas
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.core import Apply, For, Function, Literal, Operand, Reverse, Value, While
from adc.ir.ops import arith
from adc.ir.types import Array

GUESS = 256.0
Known = Mapping[str, "int | Sequence[int]"]
_SCHEDULED = (ops.integer.sweeps, ops.integer.split, ops.integer.rest)


class Extents:
    """Of the values of one function.

    `known` are integers, and shapes of arrays, by the name of the parameter; of a `while` loop
    ``W`` the iterations ``W.n``. Sizes and iterations that do not follow are `guess`: NaN for none.
    """

    def __init__(self, fn: Function, known: Known | None = None, guess: float = GUESS) -> None:
        self.symbols = Symbols(fn)
        self.guess = guess
        self._names = _Names(self, formulas.names_of(known or {}))
        self._shapes: dict[Value, tuple[float, ...]] = {}

    def known(self, pairs: Iterable[tuple[Value, Operand]]) -> Known:
        """Return what is known of operands, by the names of other values."""
        found: dict[str, int | Sequence[int]] = {}
        for value, operand in pairs:
            if isinstance(value.type, Array):
                assert isinstance(operand, Value)
                found[value.name] = tuple(map(int, self.shape(operand)))
            elif value.type.kind in "iu" and (number := self.number(operand)) is not None:
                found[value.name] = int(number)
        return found

    def trips(self, loop: For | While) -> float:
        """Return how often the body of a loop runs each time that the loop is entered."""
        return self.trips_of(loop.label)

    def trips_of(self, label: str) -> float:
        found = self.symbols.trips(label).value(self._names)
        least = isinstance(self.symbols.loops.get(label), While)
        return self.guess if found is None else float(max(found, least))

    def elements(self, array: Value) -> float:
        return math.prod(self.shape(array))

    def bytes(self, value: Value) -> float:
        size = float(value.type.numpy.itemsize)
        return size * self.elements(value) if isinstance(value.type, Array) else size

    def shape(self, array: Value) -> tuple[float, ...]:
        if array not in self._shapes:
            sizes = [size.value(self._names) for size in self.symbols.shape(array)]
            self._shapes[array] = tuple(
                self.guess if size is None else float(max(size, 0)) for size in sizes
            )
        return self._shapes[array]

    def number(self, operand: Operand) -> float | None:
        """Return a number; None if nothing is known of it."""
        if isinstance(operand, Literal):
            return float(operand.value)
        return self.symbols.number(operand).value(self._names)

    # -- what no argument tells ------------------------------------------------------------

    def of_name(self, name: str) -> float | None:
        """Return what a name in a formula stands for."""
        value = self.symbols.named.get(name)
        if value is None or isinstance(value.type, Array):  # iterations of a `while`, or a size
            return None if math.isnan(self.guess) else self.guess
        match self.symbols.stmts.get(value):
            case For(label=label) | Reverse(loop=label):
                trips = self.trips_of(label)
                return None if math.isnan(trips) else (trips - 1.0) / 2.0
            case Apply(op=op, args=(left, *_)) if op in _SCHEDULED:
                return self._steps(left)
            case Apply() as stmt:
                return self._applied(stmt)
        return None

    def _steps(self, left: Operand) -> float | None:
        """Return how many iterations a checkpointed loop may run at once: all that there are.

        What iterations keep is then decided as for the whole loop, whatever room it has.
        """
        stmt = self.symbols.stmts.get(left) if isinstance(left, Value) else None
        if isinstance(stmt, Apply) and stmt.op is arith.sub:  # without those that are done
            left = stmt.args[0]
        return self.number(left)

    def _applied(self, stmt: Apply) -> float | None:
        """Return what an operation makes of known numbers, where that is no formula."""
        if stmt.op.draw or any(isinstance(arg.type, Array) for arg in stmt.args):
            return None
        if not math.isnan(self.guess) and any(arg.type.kind == "b" for arg in stmt.args):
            return None  # guesses decide nothing
        known = [(arg.type, self.number(arg)) for arg in stmt.args]
        if len(stmt.results) > 1 or any(number is None for _, number in known):
            return None
        # An integer may be the middle of a range, and then is none.
        args = [ty.numpy.type(x) if ty.kind == "f" else x for ty, x in known]
        try:
            with np.errstate(all="ignore"):
                found = float(stmt.op.evaluate(*stmt.params, *args))
        except (ArithmeticError, TypeError, ValueError):  # bits, of what is no integer
            return None
        return found if math.isfinite(found) else None


class _Names(formulas.Known):
    """What names in formulas stand for; of those that are not given, what is known or guessed."""

    def __init__(self, extents: Extents, given: Mapping[str, int]) -> None:
        super().__init__(given)
        self._extents = extents
        self._found: dict[str, Any] = dict(given)
        self._functions: dict[tuple[formulas.Function, bool], Any] = {}

    def name(self, name: str) -> Any:
        if name not in self._found:
            self._found[name] = None  # for cycles
            self._found[name] = self._extents.of_name(name)
        return self._found[name]

    def number(self, made: formulas.Function, upper: bool) -> Any:
        # A formula is longer than the code: it has a function once for every way to it.
        if (made, upper) not in self._functions:
            self._functions[made, upper] = super().number(made, upper)
        return self._functions[made, upper]


__all__ = ["GUESS", "Extents", "Known"]
