"""Slopes of a program along a direction, by differences of what Python computes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from tests.fuzz.campaign.subject import Direction, Point, Subject
from tests.fuzz.families.fuzz_arrays import in_double
from tests.fuzz.program import Generated, Unreliable, forget
from tests.oracle import oracle

# Directions that are tried once one says something is wrong.
_MORE = 3
# Relative error of single precision.
_SINGLE = 1e-3
# SciPy computes integrals of special functions to some seven digits, so differences of them are
# not the slopes of the integral. Derivatives of these solvers are those of the exact solution, to
# the tolerance (`adc explain numerics`).
_ROUGH = re.compile(r"\bspecial\.it|\bodeint\b|\bLSODA\b|\bRadau\b")
# Estimated errors by which slopes may differ.
_ERRORS = 20.0


class Differences:
    """The program in double precision, along directions from a point.

    Raises
    ------
    Unreliable
        If it computes something else in double precision, such as ``x.dtype == np.float32``.
    """

    def __init__(self, subject: Subject, at: Point) -> None:
        self._subject = subject
        generated = subject.generated
        self._double = in_double(generated)
        self.own = self._double is not generated
        self._at = tuple(
            arg.astype(want.dtype) if hasattr(want, "shape") and hasattr(arg, "astype") else arg
            for arg, want in zip(at, self._double.args, strict=True)
        )

        if self.own:
            near = Subject(self._double).value(self._at)
            if not abs(near - subject.value(at)) <= _SINGLE * (1.0 + abs(near)):
                self.close()
                raise Unreliable("in double precision it computes something else")

    def close(self) -> None:
        if self.own:
            forget(self._double)

    def _function(self, direction: Direction) -> Callable[[float], float]:
        program: Generated = self._double
        double = Subject(program) if self.own else self._subject

        def value(step: float) -> float:
            found = double.python(double.moved(self._at, direction, step))
            return math.nan if found.error is not None else float(found.value)

        return value

    def slope(self, direction: Direction) -> tuple[float, float]:
        """Return the slope along a direction, and its estimated error."""
        return oracle._ridders(self._function(direction), 0.0)

    def curvature(self, direction: Direction) -> tuple[float, float]:
        """Return the second derivative along a direction, and its estimated error."""
        value = self._function(direction)
        middle = value(0.0)
        best, error = math.nan, math.inf
        above: list[float] = []
        h = 0.04
        for _ in range(7):
            row = [(value(h) - 2.0 * middle + value(-h)) / (h * h)]
            weight = 1.0
            for previous in above:
                weight *= 4.0
                row.append(row[-1] + (row[-1] - previous) / (weight - 1.0))
                guess = max(abs(row[-1] - row[-2]), abs(row[-1] - previous))
                if guess < error:
                    best, error = row[-1], guess
            above = row
            h /= 2.0
        return best, error


def compared(
    subject: Subject,
    at: Point,
    found: Callable[[Direction], tuple[float, float]],
    *,
    second: bool = False,
) -> list[str]:
    """Compare slopes along a random direction, or second derivatives, with differences.

    A wrong derivative is wrong along every direction, and a kink between two points is not: so one
    more that agrees is enough.

    Raises
    ------
    Unreliable
        If the differences do not converge.
    """
    differences = Differences(subject, at)
    wrong: list[str] = []
    loose = 2e-3 if subject.single else (1e-4 if second else 1e-8)
    if _ROUGH.search(subject.generated.source):
        loose = max(loose, 1e-5)
    try:
        for _ in range(1 + _MORE):
            direction = subject.direction()
            want, error = (differences.curvature if second else differences.slope)(direction)
            got, size = found(direction)
            size += abs(want) + 1e-3
            # What grows amplifies rounding as well.
            if not error <= (1e-4 if second else 1e-5) * size or size > 1e4:
                if not wrong:
                    raise Unreliable("differences do not converge")
                continue
            if abs(got - want) <= loose * size + _ERRORS * error:
                return []
            wrong.append(f"slope {got} instead of {want} (error {error:.1g})")
    finally:
        differences.close()
    return wrong[:1] if len(wrong) > 1 else []


__all__ = ["Differences", "compared"]
