"""Sizes of arrays: which are equal, which are 1, and how many bits an integer needs."""

from __future__ import annotations

from collections.abc import Callable

from adc.frontend.core.state import Shared
from adc.ir.core import Literal, Operand, Value

# No array has more elements and no loop runs more often than this many bits can count.
INDEX_BITS = 40


class Sizes:
    """What is known about sizes, and about the integers computed from them."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        # Sizes that are not 1: what has size 1 among arguments is part of their types.
        self.plural: set[Operand] = set()
        # Sizes computed so far, by how; and which sizes were checked to be equal.
        self.known: dict[object, Operand] = {}
        # How many bits a Python integer needs at most, where that is known (`bits_of`).
        self.bits: dict[Value, int] = {}

    def counts(self, operand: Operand) -> Operand:
        """Note that `operand` counts elements or iterations: sums of such never overflow."""
        if isinstance(operand, Value):
            self.bits[operand] = min(INDEX_BITS, self.bits.get(operand, INDEX_BITS))
        return operand

    def exists(self, size: Operand) -> None:
        """Note that there is room for an array of this size, on the paths that come by here."""
        self.known["size", size] = size

    def is_size(self, operand: Operand) -> bool:
        """Whether a number is known to be the size of an array: it is not negative."""
        return ("size", operand) in self.known

    def bits_of(self, operand: Operand) -> int:
        """Return how many bits a Python integer surely fits in, without its sign."""
        if isinstance(operand, Literal):
            return int(operand.value).bit_length()
        if self.is_size(operand):
            return min(INDEX_BITS, self.bits.get(operand, INDEX_BITS))
        return self.bits.get(operand, 1 if operand.type.kind == "b" else 63)

    def canonical(self, size: Operand) -> Operand:
        while ("same", size) in self.known:
            size = self.known["same", size]
        return size

    def same_size(self, a: Operand, b: Operand) -> bool:
        """Whether two sizes are known to be equal."""
        return self.canonical(a) == self.canonical(b)

    def unify_sizes(self, a: Operand, b: Operand) -> None:
        """Note that two sizes were checked to be equal."""
        a, b = self.canonical(a), self.canonical(b)
        if isinstance(a, Literal):
            a, b = b, a
        if a != b:
            self.known["same", a] = b

    def at_most_one(self, size: Operand) -> None:
        """Note that a size is 0 or 1: ``x[:1]`` is broadcast where 0 could not be."""
        if isinstance(size, Value):
            self.known["single", size] = size

    def is_single(self, size: Operand, among: Operand) -> bool:
        """Whether an axis of this size, 0 or 1, meets one of another size: it must be 1.

        Two that are both 0 or 1 are compared like any.
        """
        if (
            self.shared.general
            or ("single", size) not in self.known
            or ("single", among) in self.known
        ):
            return False
        return not self.same_size(size, among)

    def may_be_empty(self, size: Operand) -> bool:
        """Whether a size is known to be 0 or 1, but not which."""
        return ("single", size) in self.known

    def is_one(self, size: Operand) -> bool:
        """Whether a size is surely 1, here."""
        size = self.canonical(size)
        return isinstance(size, Literal) and size.value == 1

    def is_plural(self, size: Operand) -> bool:
        """Whether a size is surely not 1."""
        known = self.canonical(size)
        if isinstance(known, Literal):
            return bool(known.value != 1)
        return size in self.plural or known in self.plural

    def known_size(self, op: str, a: Operand, b: Operand, make: Callable[[], Operand]) -> Operand:
        """Return a size computed from two others, made only once."""
        key = (op, self.canonical(a), self.canonical(b))
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]
