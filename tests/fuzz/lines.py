"""A writer of random programs about three arrays, line by line."""

from __future__ import annotations

import random

ARRAYS = "abc"


class Lines:
    """The lines of a program; a subclass says what its conditions, arrays and statements are."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, hint: str) -> str:
        """Return a name that the program does not have yet."""
        self.count += 1
        return f"{hint}{self.count}"

    def block(self, count: int) -> None:
        """Write so many statements, indented."""
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1

    def array(self) -> str:
        return self.rng.choice(ARRAYS)

    def condition(self) -> str:
        raise NotImplementedError

    def whole(self) -> str:
        """Return an expression for an array."""
        raise NotImplementedError

    def statement(self) -> None:
        raise NotImplementedError

    # -- statements ------------------------------------------------------------------------

    def _whole(self) -> None:
        self.emit(f"{self.array()} = {self.whole()}")

    def _branch(self) -> None:
        self.emit(f"if {self.condition()}:")
        self.block(self.rng.choice([1, 2]))
        if self.rng.random() < 0.6:
            self.emit("else:")
            self.block(self.rng.choice([1, 2]))


__all__ = ["ARRAYS", "Lines"]
