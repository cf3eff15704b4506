"""Names that a loop binds only where it is left by `break`.

After ``while True: … ; if c: y = x; break``, `y` is bound, though no iteration that goes on binds
it. At each `break`, the names that are read after the loop are kept under other names, which join
like the result of `return`. What the iterations that go on have for them is not known after the
loop: if they bind them, and no `break` leaves the loop, reading them is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adc.frontend.control.exits import BREAK, BROKEN
from adc.frontend.core.bindings import Binding, Late, Unbound, Unstable
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import is_name_bound
from adc.frontend.syntax import scope
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.types import BOOL

# What `next` of a generator is read from, by no name of the program.
NEXT = "$next"
_NO_BREAK = (
    "a loop that no `break` left is not supported: give {} a value before the loop, or in its "
    "`else`"
)


class Kept:
    """The names of a loop that are kept at `break`; used as a context around its body."""

    def __init__(self, lo: Lowerer, stmt: ast.For | ast.While, names: Sequence[str]) -> None:
        self.lo = lo
        self.prefix = f"{BROKEN}{stmt.lineno}_{stmt.col_offset}."
        self.names: list[str] = []
        self.late: dict[str, Late] = {}
        self.others = scope.bound_by_others(stmt)
        if scope.has_break(stmt.body):
            read = read_outside(lo.frame.source.node, stmt)
            self.names = [
                name for name in names
                if (name in read or name.startswith(NEXT)) and not is_name_bound(lo, name)
            ]  # fmt: skip

    @property
    def extra(self) -> list[str]:
        return [self.prefix + name for name in self.names]

    def __enter__(self) -> Kept:
        self.frame = self.lo.frame
        self.outer, self.frame.breaking = self.frame.breaking, self
        for name in self.extra:
            self.frame.env.pop(name, None)
        return self

    def __exit__(self, *_: object) -> None:
        self.frame.breaking = self.outer

    def keep(self) -> None:
        """Keep what the names are bound to at a `break`."""
        env = self.lo.frame.env
        for name in self.names:
            found = env.get(name, Unbound())
            if name in self.lo.frame.partial or isinstance(found, Unbound | Late | Unstable):
                found = Unstable("is not assigned before every `break`")
            env[self.prefix + name] = found

    def bind(self, reason: Operand, endless: bool) -> None:
        """Bind the names after the loop, which was left by `reason`."""
        env = self.lo.frame.env
        for name in self.names:
            kept = env.pop(self.prefix + name, Unbound())
            self.lo.frame.partial.discard(self.prefix + name)
            if is_name_bound(self.lo, name) and name not in self.lo.frame.partial:
                continue
            if isinstance(env.get(name), Late) or isinstance(kept, Unbound | Unstable | Late):
                continue
            env[name] = found = self._bound(name, kept, reason, endless)
            if isinstance(found, Late):
                self.late[name] = found
            self.lo.frame.partial.discard(name)

    def settle(self) -> None:
        """Bind the names where the loop was left by `break`; its `else` joins there."""
        env = self.lo.frame.env
        for name, found in self.late.items():
            if env.get(name) is found:
                env[name] = found.inner

    def _bound(self, name: str, kept: Binding, reason: Operand, endless: bool) -> Binding:
        if endless:
            return kept
        flag: Operand
        if isinstance(reason, Literal):
            flag = Literal(reason.value == BREAK, BOOL)
        else:
            flag = self.lo.builder.apply("eq", reason, integer(BREAK), hint="left")
        if isinstance(flag, Literal):
            return kept if flag.value else Unbound("the loop is never left by `break`")
        return Late(kept, flag, _NO_BREAK.format(repr(name)) if name in self.others else "")


def read_outside(function: ast.AST, loop: ast.AST) -> frozenset[str]:
    """Return the names that a function reads outside of a loop, as far as its text shows."""
    inside = {id(node) for node in ast.walk(loop)}
    return frozenset(
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside
    )
