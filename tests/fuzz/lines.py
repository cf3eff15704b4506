"""Writers of random programs, line by line: a subclass says what the statements are."""

from __future__ import annotations

import random
from collections.abc import Callable

ARRAYS = "abc"


class Writer:
    """The lines of a program, and how many names it has made."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0


class Nested(Writer):
    """Statements that are told how deep they stand, how many levels are left, and where."""

    # Of a depth, the levels that are left, and what else a subclass hands down.
    statement: Callable[..., None]

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def block(self, depth: int, left: int, *where: bool) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(depth, left, *where)


class Lines(Writer):
    """Statements about three arrays; a subclass says what its conditions and arrays are, too."""

    depth = 1

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


__all__ = ["ARRAYS", "Lines", "Nested"]
