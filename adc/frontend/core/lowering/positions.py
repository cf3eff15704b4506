"""The function that is lowered now, the position in its source, and errors that say where."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from adc.frontend.core.bindings import Binding, Num
from adc.frontend.core.state import ConstantNeededError, Frame, PickedError, Shared
from adc.ir.builder import Builder
from adc.ir.core import Operand, Value
from adc.ir.errors import Span, UnsupportedError
from adc.ir.walk import Names


class _At:
    """Gives statements a position, within `with`; made for every node, so it is no generator."""

    __slots__ = ("before", "here", "lo", "loc")

    def __init__(self, lo: Positions, node: ast.AST) -> None:
        self.lo = lo
        self.here = lo.frame.source.span(node)
        self.loc = lo._shown(node, self.here)

    def __enter__(self) -> None:
        lo = self.lo
        self.before = lo.builder.loc, lo.here
        lo.builder.loc, lo.here = self.loc, self.here

    def __exit__(self, *error: object) -> None:
        lo = self.lo
        lo.builder.loc, lo.here = self.before


class Positions:
    """Where statements are built, and which position they have."""

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = shared or Shared()
        self.builder = Builder(Names())
        self.frame: Frame = None  # type: ignore[assignment]  # set by `entered`
        # The position of what is lowered now, in a library's code as well.
        self.here: Span | None = None

    @contextmanager
    def entered(self, frame: Frame) -> Iterator[Frame]:
        outer, self.frame = self.frame, frame
        loc = self.builder.loc
        try:
            yield frame
        finally:
            self.frame = outer
            self.builder.loc = loc

    def span(self, node: ast.AST) -> Span:
        """Return the position that a user is shown: of a library's code, where it was called."""
        return self._shown(node, self.frame.source.span(node))

    def _shown(self, node: ast.AST, here: Span) -> Span:
        of_generator: Span = getattr(node, "adc_site", here)  # the call, of a library's
        found = self.frame.site or of_generator
        if self.frame.called is None or self.frame.site is not None:
            return found
        return replace(found, caller=self.frame.called)

    def at(self, node: ast.AST) -> _At:
        """Give statements that are built inside the `with` the position of `node`."""
        return _At(self, node)

    def unsupported(self, what: str, node: ast.AST, hint: str = "") -> UnsupportedError:
        return UnsupportedError(f"{what} is not supported", self.span(node), hint)

    def constant_needed(
        self, binding: Binding | None, what: str, node: ast.AST
    ) -> UnsupportedError:
        """Return the error for a number that must be a compile-time constant."""
        text = f"{what} known only at run time is not supported"
        error = PickedError(text, self.span(node), "write it as a constant")
        operand = binding.operand if isinstance(binding, Num) else None
        place = self.shared.numbers.get(operand) if isinstance(operand, Value) else None
        if place is None:
            return error
        return ConstantNeededError(error.message, error.span, error.hint, place)

    def derived(self, result: Value, args: Sequence[Operand]) -> Value:
        """Note that a number is a constant as soon as those that it is computed from are."""
        places = [self.shared.numbers.get(arg) for arg in args if isinstance(arg, Value)]
        if places and places[0] is not None and all(place is not None for place in places):
            self.shared.numbers.setdefault(result, places[0])
        return result
