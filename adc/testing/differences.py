"""Finite differences with error estimates, to check derivatives.

A function on a line, ``line(t)`` with a vector as result, is evaluated at halving steps. Central
differences are extrapolated to a step of zero in a table [1]_. The entry that differs least from
its neighbours is used; this difference, plus the effect of rounding at this step, is its error
estimate [2]_. Steps start large and end small, because the scale on which a function changes is not
known. The first step that decides is enough.

If the function accepts complex numbers, the imaginary part of ``line(i * t)`` for a tiny `t` is the
derivative without cancellation [3]_. This needs an analytic function, which `abs` is not. So a
complex step counts only if a difference confirms it.

A comparison has one of three outcomes. It is undecided if one-sided differences disagree (a kink),
if they grow as steps shrink (a jump), if the function is not a number, or if noise hides the
derivative. A derivative that changes the function by less than about a thousand roundings, when a
number is moved by its own size, agrees if the difference does: nothing smaller is visible.

References
----------
.. [1] C. J. F. Ridders. Accurate computation of F'(x) and F'(x) F''(x). Advances in Engineering
   Software 4, 1982.
.. [2] W. H. Press et al. Numerical Recipes, 3rd edition, section 5.7 (`dfridr`). 2007.
.. [3] W. Squire, G. Trapp. Using complex variables to estimate derivatives of real functions. SIAM
   Review 40, 1998.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]
Line = Callable[[Any], "np.ndarray[Any, Any]"]

# Columns of the table: each removes one more even power of the step from the error.
_COLUMNS = 6
_ROWS = 60
# Rounding: the error of a central difference in units of the function's rounding over the step.
_ROUNDING = 4.0
# An error is estimated from few numbers: this many of it are allowed.
_SAFETY = 4.0
# A derivative that changes the function by less than so many of its roundings is ignored.
_MARGIN = 1024.0
# The imaginary step, which nothing is subtracted from.
_TINY = 2.0**-100
_KINK = "a kink"
_UNCLEAR = "hidden by noise, or a jump"


class Outcome(Enum):
    """The outcome of a comparison with differences."""

    AGREES = "ok"
    DIFFERS = "MISMATCH"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """A derivative, the expected one, its uncertainty, and the outcome."""

    found: float
    expected: float
    error: float
    outcome: Outcome
    reason: str = ""


@dataclass
class _Row:
    """For each result: the best estimate of a step, its error, and its outcome."""

    value: Vector
    error: Vector
    # How much the derivatives from the right and from the left differ.
    jump: Vector
    rounding: Vector


class _Table:
    """The differences of one function on one line."""

    def __init__(self, line: Line, centre: Vector, epsilon: float) -> None:
        self.line, self.centre, self.epsilon = line, centre, epsilon
        self.rows: list[_Row] = []
        # Results that were never seen to change, and those that were seen to differ in a row.
        self.constant = np.ones(len(centre), bool)
        self.failure = ""
        # The function's size, here, or at the first step where it is zero here.
        self.largest = np.abs(centre)
        self.noise = _noise(line, centre)
        self._differed = np.zeros(len(centre), bool)
        self._columns: list[Vector] = []

    def add(self, step: float) -> bool:
        """Add the row of a step; return whether the function has a value on both sides."""
        try:
            ahead, behind = _value(self.line, step), _value(self.line, -step)
        except Exception as error:  # it may raise anything next to where it is defined
            self.failure = f"the function raises {type(error).__name__} nearby"
            self._columns = []
            return False
        if not (ahead.shape == behind.shape == self.centre.shape):
            self.failure = "the function returns other shapes nearby"
            self._columns = []
            return False
        with np.errstate(all="ignore"):
            self._extrapolate(step, ahead, behind)
        return bool(np.any(np.isfinite(ahead) & np.isfinite(behind)))

    def _extrapolate(self, step: float, ahead: Vector, behind: Vector) -> None:
        self.constant &= (ahead == behind) & (ahead == self.centre)
        largest = np.maximum(np.maximum(np.abs(ahead), np.abs(behind)), np.abs(self.centre))
        if not self.rows:
            usable = np.isfinite(largest) & (self.centre == 0.0)
            self.largest = np.where(usable, largest, self.largest)
        rounding = _ROUNDING * (self.epsilon * largest + self.noise) / step
        columns = [(ahead - behind) / (2.0 * step)]
        value, error = columns[0], np.full(len(columns[0]), np.inf)
        for j, before in enumerate(self._columns[: _COLUMNS - 1], 1):
            columns.append(columns[-1] + (columns[-1] - before) / (4.0**j - 1.0))
            if j < 2:
                continue  # three steps at least
            spread = np.maximum(np.abs(columns[-1] - columns[-2]), np.abs(columns[-1] - before))
            better = spread + rounding < error
            value = np.where(better, columns[-1], value)
            error = np.where(better, spread + rounding, error)
        # Where the function no longer changes, steps are too small for how it rounds.
        differs = ahead != behind
        error[self._differed & ~differs] = np.inf
        self._differed |= differs
        jump = (ahead - 2.0 * self.centre + behind) / step
        self.rows.append(_Row(value, error, jump, rounding))
        self._columns = columns

    def kinked(self, k: int, at: int, allowed: float) -> bool:
        """Whether derivatives from both sides of result `k` do not meet as steps shrink."""
        older, old, new = (abs(float(self.rows[at - j].jump[k])) for j in (2, 1, 0))
        noise = 2.0 * float(self.rows[at].rounding[k])
        return new > max(allowed, 4.0 * noise) and new > 0.75 * old and old > 0.75 * older


def compare(
    line: Line,
    found: Vector,
    *,
    start: float = 0.25,
    tolerance: float,
    epsilon: float,
) -> list[Comparison]:
    """Compare derivatives of a function on a line at zero with differences.

    Parameters
    ----------
    line : callable
        Takes a step, real or complex, and returns a vector. What it raises at a step other than
        zero makes that step useless, nothing more. What it prints is not shown.
    found : array
        The derivatives of all results, to be checked.
    start : float
        The largest step, best a power of two.
    tolerance : float
        The relative error allowed.
    epsilon : float
        The relative rounding error of the function.

    Examples
    --------
    >>> line = lambda t: np.array([np.sin(0.5 + t), abs(t)])
    >>> checked = compare(line, np.array([0.8775825618903728, 1.0]), tolerance=1e-6,
    ...                   epsilon=2.0**-52)
    >>> [each.outcome.value for each in checked], checked[1].reason
    (['ok', 'undecided'], 'a kink')
    """
    centre = _value(line, 0.0)
    exact = _complex_step(line, centre)
    found = np.asarray(found, np.float64)
    judge = _Judge(_Table(line, centre, epsilon), found, exact, tolerance)
    judge.run(start)
    return judge.verdicts


class _Judge:
    """Decides, row by row, which derivatives agree."""

    def __init__(
        self, table: _Table, found: Vector, exact: Vector | None, tolerance: float
    ) -> None:
        self._table, self._found, self._exact, self._tolerance = table, found, exact, tolerance
        self._waiting = list(range(len(found)))
        self.verdicts = [
            Comparison(float(x), np.nan, np.inf, Outcome.UNDECIDED, _UNCLEAR) for x in found
        ]

    def run(self, start: float) -> None:
        """Halve the step until everything is found to be right, or smaller ones cannot help."""
        for number in range(_ROWS):
            useful = self._table.add(start * 2.0**-number)
            if useful and self._settled():
                return
        for k in self._waiting:
            self.verdicts[k] = self._verdict(k)

    def _settled(self) -> bool:
        """Whether nothing is left that further rows could decide."""
        rounding = self._table.rows[-1].rounding
        hopeless = True
        waiting = []
        for k in self._waiting:
            verdict = self.verdicts[k] = self._verdict(k)
            if verdict.outcome is not Outcome.AGREES:
                # What differs may do so at large steps only.
                waiting.append(k)
                size = max(
                    [abs(x) for x in (verdict.found, verdict.expected) if np.isfinite(x)],
                    default=0.0,
                )
                known = np.isfinite(verdict.error)
                hopeless &= bool(known) and not self._precise(float(rounding[k]), size, k)
        self._waiting = waiting
        return hopeless

    def _best(self, k: int) -> int | None:
        """Return the row that counts, the most precise one of the longest run of precise ones.

        Rows of steps that are too large for how the function changes may agree with each other,
        as may some of noise. If none is precise, it is the one with the smallest error.
        """
        rows = self._table.rows
        values = [float(row.value[k]) for row in rows]
        errors = [float(row.error[k]) for row in rows]
        finite = [number for number, error in enumerate(errors) if np.isfinite(error)]
        longest: list[int] = []
        run: list[int] = []
        for number in finite:
            size = abs(values[number])
            if not self._precise(errors[number], size, k):
                run = []
                continue
            if run:
                allowed = 10.0 * self._tolerance * size
                doubt = _SAFETY * (errors[number] + errors[run[-1]])
                if abs(values[number] - values[run[-1]]) > allowed + doubt:
                    run = []
            run = [*run, number]
            if len(run) >= len(longest):
                longest = run
        return min(longest or finite, key=lambda number: errors[number], default=None)

    def _precise(self, error: float, size: float, k: int) -> bool:
        # Below the rounding of the function, nothing matters.
        least = _MARGIN * self._table.epsilon * float(self._table.largest[k])
        return _SAFETY * error <= max(10.0 * self._tolerance * size, least)

    def _verdict(self, k: int) -> Comparison:
        table, tolerance, found = self._table, self._tolerance, float(self._found[k])
        if not np.isfinite(table.centre[k]):
            return self._undecided(k, "the function is not finite here")
        if table.constant[k] and len(table.rows) > 2 and found == 0.0:
            return Comparison(found, 0.0, 0.0, Outcome.AGREES)
        at = self._best(k)
        if at is None:
            failure = table.failure or "the function is not finite nearby"
            return self._undecided(k, failure)
        value, error = float(table.rows[at].value[k]), float(table.rows[at].error[k])
        size = max(abs(found), abs(value)) if np.isfinite(found) else abs(value)
        if table.kinked(k, at, 10.0 * tolerance * size):
            return Comparison(found, value, error, Outcome.UNDECIDED, _KINK)
        exact = self._confirmed(k, value, error, size)
        if exact is not None:
            right = abs(exact - found) <= tolerance * max(abs(exact), abs(found))
            outcome = Outcome.AGREES if right else Outcome.DIFFERS
            return Comparison(found, exact, 2.0**-40 * abs(exact), outcome)
        precise = self._precise(error, size, k)
        gap = abs(found - value) - tolerance * size
        outcome = Outcome.UNDECIDED
        if gap <= _SAFETY * error:
            outcome = Outcome.AGREES if precise else outcome
        elif not gap <= (1.0 if precise else 10.0) * _SAFETY * error:
            # Where noise decides, its size is known roughly only.
            outcome = Outcome.DIFFERS if self._excluded(k, at, precise) else outcome
        reason = _UNCLEAR if outcome is Outcome.UNDECIDED else ""
        return Comparison(found, value, error, outcome, reason)

    def _undecided(self, k: int, reason: str) -> Comparison:
        return Comparison(float(self._found[k]), np.nan, np.inf, Outcome.UNDECIDED, reason)

    def _confirmed(self, k: int, value: float, error: float, size: float) -> float | None:
        """Return the derivative by a complex step where a difference, or what is checked, agrees.

        A function that is not analytic may have any; a difference must know two digits of it.
        """
        if self._exact is None or not np.isfinite(self._exact[k]):
            return None
        exact, found, doubt = float(self._exact[k]), float(self._found[k]), _SAFETY * error
        if not abs(exact - value) <= doubt + self._tolerance * size:
            return None
        near = abs(exact - found) <= self._tolerance * max(abs(exact), abs(found))
        return exact if near or doubt <= 1e-2 * abs(exact) else None

    def _excluded(self, k: int, at: int, precise: bool) -> bool:
        """Whether `found` is wrong: another row says so, too, and no smaller step denies it."""
        found, value = float(self._found[k]), float(self._table.rows[at].value[k])
        error = float(self._table.rows[at].error[k])
        if not np.isfinite(found):
            return precise or _SAFETY * error <= 0.1 * abs(value)
        allowed = self._tolerance * max(abs(found), abs(value))
        confirmed = False
        for number, row in enumerate(self._table.rows):
            other, doubt = float(row.value[k]), _SAFETY * float(row.error[k])
            if number == at or not np.isfinite(doubt):
                continue
            denied = abs(other - found) > allowed + doubt
            alike = abs(other - value) <= _SAFETY * error + doubt
            if number > at and not (denied or alike) and doubt <= 0.1 * abs(found):
                return False
            confirmed |= denied and alike
        return confirmed


def _complex_step(line: Line, centre: Vector) -> Vector | None:
    """Return the derivatives by a complex step, None if the function does not take one."""
    try:
        found = np.asarray(_quiet(line, _TINY * 1j))
        if found.dtype.kind != "c" or found.shape != centre.shape:
            return None
        with np.errstate(all="ignore"):
            same = np.abs(found.real - centre) <= 2.0**-40 * np.abs(centre)
            return np.where(same, found.imag / _TINY, np.nan)
    except Exception:  # it may not take complex numbers, in any way
        return None


def _noise(line: Line, centre: Vector) -> Vector:
    """Return by how much the results differ from call to call."""
    repeated = [_value(line, 0.0)]
    if np.array_equal(centre, repeated[0], equal_nan=True):
        return np.zeros(len(centre))
    return np.asarray(np.ptp([centre, *repeated, *(_value(line, 0.0) for _ in range(6))], axis=0))


def _value(line: Line, step: float) -> Vector:
    return np.asarray(_quiet(line, step), np.float64)


def _quiet(line: Line, step: complex) -> np.ndarray[Any, Any]:
    """Evaluate without output and warnings, but for complex numbers made real: that is an error."""
    with _silence():
        return line(step)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


def scales(values: np.ndarray[Any, Any]) -> Vector:
    """Return by how much the elements of an array are moved: a power of two for each.

    It is of the element's own size, for one that is zero of that of the largest one, at most 1.
    Steps that are powers of two are added to most numbers without rounding.

    >>> scales(np.array([3.0, -0.1, 0.0])), scales(np.array([0.0]))
    (array([2.    , 0.0625, 1.    ]), array([1.]))
    """
    sizes = np.abs(np.asarray(values, np.float64))
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    largest = min(float(np.max(sizes, initial=0.0)) or 1.0, 1.0)
    return np.asarray(np.exp2(np.floor(np.log2(np.where(sizes > 0.0, sizes, largest)))))


__all__ = ["Comparison", "Outcome", "compare", "scales"]
