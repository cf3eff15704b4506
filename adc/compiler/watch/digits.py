"""Where digits are lost: `adc.check_nans` with `digits`.

How many digits of a result are correct is estimated by Monte Carlo arithmetic (Parker, "Monte Carlo
arithmetic", UCLA CSD-970002, 1997; Vignes's CESTAC before it): the call is repeated a few times in
the interpreter of the IR, and each result that was rounded is moved at random by about the unit in
the last place, in the same way wherever the operation and its operands are the same. What differs
between these runs is not known. Results that are exact stay as they are: subtracting two numbers of
the input loses nothing (Sterbenz), however close they are. In contrast to bounds that are added up,
errors that cancel each other do so here, as those of Newton's method, which corrects itself.

All runs take the branches of the first one, and have its integers. Where a result lacks digits, the
statements that lose the most are tried: with its results put right in every run, the one to blame
gives the digits back. Other statements may lose digits that the result does not need
(Sanchez-Stern, Panchekha, Lerner and Tatlock, "Finding root causes of floating point error", PLDI
2018).
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from adc.compiler.compiled import Compiled
from adc.compiler.watch.nonfinite import (
    Run,
    adapted,
    copied,
    explain,
    is_arithmetic,
    iterations,
    kind_in,
    leaves_of,
    stages_of,
    watched,
    words_of,
)
from adc.functions import name_of, span_of
from adc.ir import interp
from adc.ir.core import Apply, Call, For, Function, Gemm, Reverse, Stmt, Store, Write, walk
from adc.ir.errors import ArgumentError, DigitsError
from adc.ir.sums import Lanes
from adc.passes import pipeline

# Runs with other rounding, and what they are started with.
_SEEDS = (1, 2, 3, 4)
# Results are moved by as many units of relative rounding, at random. Discrete as they are, two
# moves of one unit would often be the same, and cancel.
_LEAST, _MOST = 1.0, 4.0
# What differences are divided by: a rounding error is at most half a unit.
_SCALE = 4.0
# Statements that are tried.
_TRIED = 8
# A statement that loses less is not to blame by itself.
_LEAST_LOSS = 0.5
_STEPS = frozenset(
    ["ceil", "floor", "floordiv", "heaviside", "rint", "scipy_round", "sign", "trunc"]
)
_SUMS = frozenset(["add", "sub", "sum"])
# Functions with exact results at some integers, and their sizes there.
_WHOLE = frozenset(["cbrt", "exp2", "gamma", "hypot", "log10", "log2", "pow", "scipy_gamma"])
_MOST_WHOLE = 2.0**53
_WORD = 2**64 - 1


@dataclass
class _Loss:
    """What a statement loses: at most in one go, and by cancellation in all.

    Attributes
    ----------
    copies : frozenset of int
        The identities of the statements that do the same operation of the program.
    once : float
        The digits that the worst operand had more than the result, where that is most.
    cancelled : float
        The digits that all its additions cancel.
    """

    stmt: Stmt
    copies: frozenset[int]
    once: float = -1.0
    cancelled: float = 0.0
    before: float = 0.0
    after: float = 0.0
    words: str = ""
    loops: interp.Loops = ()


class _Kept(NamedTuple):
    """An array in the first run, and how far it was from that in the others."""

    value: Any
    error: Any


@dataclass
class _Trace:
    """What the first run computed, in order, and how far the others were from that."""

    numbers: array[float] = field(default_factory=lambda: array("d"))
    errors: array[float] = field(default_factory=lambda: array("d"))
    arrays: list[_Kept] = field(default_factory=list)
    decisions: list[Any] = field(default_factory=list)


class _Runner(interp.Observer):
    """Runs the statements of one run of compiled code, again and again."""

    def __init__(self, fn: Function, args: Sequence[Any]) -> None:
        self.fn, self.args = fn, args
        self.machine = interp.Interpreter(fn, pipeline.derived, self)
        self.trace = _Trace()
        self.losses: dict[int, _Loss] = {}
        self.seed: int | None = None  # not in the first run
        self.last = False
        self.mended: frozenset[int] = frozenset()
        self.filled = False  # whether the call that is told of next is one of a library
        self.number = self.array = self.decision = 0

    def run(
        self, seed: int | None, mended: frozenset[int] = frozenset(),
        *, last: bool = False,
    ) -> Sequence[Any]:  # fmt: skip
        """Run it with other rounding; `last` of all, statements are told what they lose."""
        self.seed, self.mended, self.last = seed, mended, last
        self.number = self.array = self.decision = 0
        for each in (self.machine, *self.machine.made.values()):
            each.steps = 0
            each.tape.clear()
            each.printed.clear()
        return self.machine.run(adapted(self.fn, self.args))

    # -- what the interpreter tells ----------------------------------------------------------

    def given(self, operands: Sequence[Any]) -> Sequence[Any]:
        # A library is stable, as a rule: its result is that of operands which are a bit off.
        self.filled = True
        return [self._moved(each, "") if _is_array(each) else each for each in operands]

    def found(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], loops: interp.Loops
    ) -> Sequence[Any] | None:
        match stmt:
            case Apply(op=op):
                if any(map(_is_any_array, results)):
                    return None  # allocated, or copied
                if isinstance(results[0], Lanes):
                    self._into_lane(operands)
                    return None
                if op.name in _STEPS or not all(map(_is_float, results)):
                    return self._decided(results) if any(map(_is_float, operands)) else None
                name = op.name
            case Call():
                if not self.filled:
                    return None  # its statements are seen
                self.filled = False
                some = list(filter(_is_array, results))
                others = iter(
                    self._kept(stmt, list(filter(_is_array, operands)), some, some, loops)
                )
                return [next(others) if _is_array(x) else x for x in results]
            case Gemm():
                return self._product(stmt, operands, results, loops)
            case For() | Reverse():
                return self._sum(stmt, operands, results, loops)
            case _:
                name = "add"
                if not _is_float(results[0]):
                    return None
        exact = _is_not_rounded(stmt, name, operands, results)
        moved = [x if exact else self._moved(x, name, operands) for x in results]
        if any(map(_is_array, operands)):
            (total,) = results
            return self._summed(stmt, np.zeros_like(total), operands[0], total, loops)
        return self._kept(stmt, [x for x in operands if _is_float(x)], results, moved, loops)

    def _decided(self, results: Sequence[Any]) -> Sequence[Any]:
        """Return the integers and truth values of the first run."""
        if self.seed is None:
            self.trace.decisions.append(results)
            return results
        self.decision += 1
        found: Sequence[Any] = self.trace.decisions[self.decision - 1]
        return found

    def _into_lane(self, operands: Sequence[Any]) -> None:
        """Move a partial sum."""
        lanes, value = operands
        total = lanes.values[lanes.lane]
        if self.seed is not None and not _is_exact_sum((lanes.before, value), total):
            lanes.values[lanes.lane] = self._moved(total, "sum", (lanes.before, value))

    def _sum(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], loops: interp.Loops
    ) -> Sequence[Any] | None:
        start, lanes = operands
        return self._summed(stmt, start, lanes, results[0], loops)

    def _summed(
        self, stmt: Stmt, start: Any, terms: Any, total: Any, loops: interp.Loops
    ) -> Sequence[Any]:
        """Return a sum of an array: terms may cancel each other."""
        given = [start, *np.asarray(terms).ravel()]
        moved = total
        if not _is_exact_sum(given, total):
            moved = self._moved(total, "sum", given, sum(map(abs, given)))
        return self._kept(stmt, given, [total], [moved], loops)

    def _product(
        self, stmt: Gemm, operands: Sequence[Any], results: Sequence[Any], loops: interp.Loops
    ) -> Sequence[Any] | None:
        """Return a product of matrices: the error of each element is one of the terms."""
        (old, a, b), (found,) = operands, results
        first, second = (
            x.T if flip else x for x, flip in zip((a, b), stmt.transposed, strict=True)
        )
        size = np.abs(first) @ np.abs(second)
        if stmt.accumulate:
            size = size + np.abs(old)
        moved = found
        whole = all(np.all(x == np.rint(x)) for x in (first, second, found))
        if not (whole and np.all(size < _MOST_WHOLE)):
            moved = self._moved(found, "gemm", (), size)
        return self._kept(stmt, [a, b], [found], [moved], loops)

    # -- rounding ----------------------------------------------------------------------------

    def _moved(self, value: Any, name: str, operands: Sequence[Any] = (), size: Any = None) -> Any:
        """Return a number, or an array, with another rounding error; relative to `size`."""
        if self.seed is None:
            return value
        dtype = np.asarray(value).dtype
        if dtype.kind != "f":
            return value
        unit = float(np.finfo(dtype).eps)
        reach = np.abs(value) if size is None else size
        if _is_array(value):
            rounding = np.random.default_rng((self.seed, zlib.crc32(value.tobytes())))
            signs = rounding.integers(2, size=value.shape) * 2.0 - 1.0
            near = value + unit * reach * signs * rounding.uniform(_LEAST, _MOST, value.shape)
            return np.where(np.isfinite(value), near, value).astype(dtype)
        number = float(value)
        if not math.isfinite(number):
            return value
        by = _by(hash((self.seed, _code(name), *operands)))
        return dtype.type(number + by * unit * float(reach))

    # -- what is compared --------------------------------------------------------------------

    def _kept(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], moved: Sequence[Any],
        loops: interp.Loops,
    ) -> Sequence[Any]:  # fmt: skip
        """Compare operands and results with those of the first run, and return the results."""
        if len(operands) > 2 and not any(map(_is_array, operands)):
            operands = [np.array(operands)]  # of a sum
        if self.mended:
            self._skip(operands)
            own = [self._own(x) for x in results]
            return own if id(stmt) in self.mended else moved
        found = [self._compared(x) for x in (*operands, *moved)]
        if self.last:
            caps = [_cap(x) for x in (*operands, *moved)]
            self._lost(stmt, found, caps, len(operands), loops)
        return moved

    def _compared(self, value: Any) -> tuple[Any, Any]:
        """Compare with the first run, and return what that had, and how far others were off."""
        trace = self.trace
        if _is_array(value):
            if self.seed is None:
                trace.arrays.append(_Kept(np.copy(value), np.zeros(np.shape(value))))
            kept = trace.arrays[self.array]
            self.array += 1
            with np.errstate(all="ignore"):
                off = np.abs(np.asarray(value, np.float64) - kept.value)
            np.copyto(kept.error, np.maximum(kept.error, np.where(np.isnan(off), np.inf, off)))
            return kept
        number, at = float(value), self.number
        self.number += 1
        if self.seed is None:
            trace.numbers.append(number)
            trace.errors.append(0.0)
        own = trace.numbers[at]
        if number != own:
            by = abs(number - own)
            trace.errors[at] = math.inf if by != by else max(by, trace.errors[at])
        return own, trace.errors[at]

    def _skip(self, operands: Sequence[Any]) -> None:
        for each in operands:
            if _is_array(each):
                self.array += 1
            else:
                self.number += 1

    def _own(self, value: Any) -> Any:
        """Return what the first run had in place of a result."""
        if _is_array(value):
            self.array += 1
            return self.trace.arrays[self.array - 1].value.copy()
        self.number += 1
        return np.asarray(value).dtype.type(self.trace.numbers[self.number - 1])

    def _lost(
        self, stmt: Stmt, found: Sequence[tuple[Any, Any]], caps: Sequence[float], count: int,
        loops: interp.Loops,
    ) -> None:  # fmt: skip
        """Note what a statement loses: `found` are its operands, so many, and its results."""
        loss = self.losses.setdefault(id(stmt), _Loss(stmt, frozenset([id(stmt)])))
        given = zip(found[:count], caps[:count], strict=True)
        made = zip(found[count:], caps[count:], strict=True)
        # The largest element of an array tells what a library, or a sum, may make of it.
        before = min(
            [_digits(_largest(x), _largest(error), cap) for (x, error), cap in given],
            default=max(caps),
        )
        after = min([digits_of(x, error, cap) for (x, error), cap in made], default=before)
        operands, results = ([x for x, _ in some] for some in (found[:count], found[count:]))
        loss.cancelled += _cancelled(stmt, operands, results)
        if before - after > loss.once:
            loss.once, loss.before, loss.after = before - after, before, after
            loss.words, loss.loops = words_of(stmt, operands, results, 17), tuple(loops)


def _largest(value: Any) -> float:
    return float(np.max(np.abs(value), initial=0.0))


@lru_cache
def _code(name: str) -> int:
    return zlib.crc32(name.encode())  # the same in every process, unlike a hash


def _by(key: int) -> float:
    """Return how far a result is moved, and in which direction."""
    key &= _WORD  # Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    key = (key ^ key >> 27) * 0x94D049BB133111EB & _WORD
    key ^= key >> 31
    size = _LEAST + (_MOST - _LEAST) * (key >> 1) / (_WORD >> 1)
    return size if key & 1 else -size


def _cancelled(stmt: Stmt, operands: Sequence[Any], results: Sequence[Any]) -> float:
    """Return the digits that an addition cancels."""
    sums = isinstance(stmt, For | Reverse | Store | Write)
    if not (sums or (isinstance(stmt, Apply) and stmt.op.name in _SUMS)):
        return 0.0
    largest, found = max(map(_largest, operands), default=0.0), abs(float(results[0]))
    if found == 0.0 or not 0.0 < largest < math.inf:
        return _cap(1.0) if largest > 0.0 else 0.0
    return max(0.0, math.log10(largest / found))


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _is_any_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


# -- exact results ---------------------------------------------------------------------------------


def _is_not_rounded(stmt: Stmt, name: str, operands: Sequence[Any], results: Sequence[Any]) -> bool:
    """Whether results were not rounded, or are not finite."""
    if any(map(_is_array, operands)):
        return False
    if isinstance(stmt, Apply) and (stmt.op.exact or stmt.op.random or len(results) > 1):
        return stmt.op.exact or stmt.op.random
    given, found = [float(x) for x in operands], float(results[0])
    if not (math.isfinite(found) and all(map(math.isfinite, given))):
        return True
    return _is_exact(name, given, found)


def _is_exact(name: str, given: Sequence[float], found: float) -> bool:
    match name:
        case "add" | "sum":
            return _is_exact_sum(given, found)
        case "sub":
            return _is_exact_sum((given[0], -given[1]), found)
        case "mul" | "xmuly" | "mulzeros" | "square":
            return _equal((given[0], given[-1]), (found,))
        case "truediv" | "xdivy":
            return given[1] == 0.0 or _equal((found, given[1]), (given[0],))
        case "reciprocal":
            return _equal((found, given[0]), ())
        case "sqrt":
            return _equal((found, found), (given[0],))
        case "cast" | "half" | "stop" | "real" | "imag" | "conj" | "copysign" | "nextafter":
            return found == given[0]
    whole = all(x == math.floor(x) for x in (*given, found))
    if name in _WHOLE and whole and abs(found) < _MOST_WHOLE:
        return True
    # Elementary functions of other numbers are not rational.
    return len(given) == 1 and (found == 0.0 or (given[0] == 0.0 and 2.0 * found % 1.0 == 0.0))


def _is_exact_sum(terms: Sequence[Any], total: Any) -> bool:
    try:
        return math.fsum(map(float, terms)) == float(total) and _no_rest(terms, total)
    except (OverflowError, ValueError):
        return True  # not finite


def _no_rest(terms: Sequence[Any], total: Any) -> bool:
    return math.fsum((*map(float, terms), -float(total))) == 0.0


def _equal(factors: Sequence[float], others: Sequence[float]) -> bool:
    """Whether two products are the same number."""
    found = [1, 1]
    for values, (top, bottom) in ((factors, (0, 1)), (others, (1, 0))):
        for each in values:
            ratio = each.as_integer_ratio()
            found[top] *= ratio[0]
            found[bottom] *= ratio[1]
    return found[0] == found[1]


# -- digits ----------------------------------------------------------------------------------------


def _cap(value: Any) -> float:
    """Return the digits of a correctly rounded number."""
    return -math.log10(float(np.finfo(np.asarray(value).dtype).eps))


def _digits(value: float, error: float, cap: float) -> float:
    error /= _SCALE
    if error == 0.0 or not math.isfinite(value):
        return cap
    if value == 0.0 or not error < abs(value):
        return 0.0
    return min(cap, math.log10(abs(value)) - math.log10(error))


def digits_of(value: Any, error: Any, cap: float) -> float:
    """Return the correct digits of the worst element of an array."""
    pairs = zip(np.ravel(value).tolist(), np.ravel(error).tolist(), strict=True)
    return min((_digits(x, off, cap) for x, off in pairs), default=cap)


# -- calls -----------------------------------------------------------------------------------------


class _Recorded:
    """Keeps all runs of a call, to repeat them."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def run(
        self, compiled: Compiled, args: Sequence[Any], call: Callable[..., Sequence[Any]]
    ) -> Sequence[Any]:
        if compiled.lowered.communicators:
            raise ArgumentError(
                "the digits of code whose ranks communicate",
                span_of(compiled.signature.fn),
                "look at one rank's part: digits are counted by running it again and again",
            )
        if compiled.options.target == "cuda":
            raise ArgumentError(
                '`check_nans` with `digits` and target="cuda"',
                span_of(compiled.signature.fn),
                "check the same function on the host",
            )
        kept = copied(args)
        found = call(args)
        if is_arithmetic(compiled):
            self.runs.append(Run(compiled, kept, found))
        return found


class _Repeated:
    """Repeats runs with other rounding, in place of the compiled code."""

    def __init__(self, steps: Sequence[tuple[Run, Callable[[], Sequence[Any]]]]) -> None:
        self._steps = iter(steps)

    def run(
        self, compiled: Compiled, args: Sequence[Any], call: Callable[..., Sequence[Any]]
    ) -> Sequence[Any]:
        if not is_arithmetic(compiled):
            return call(args)
        step = next(self._steps, None)
        if step is not None and step[0].compiled is compiled:
            before, found = step[0].results, step[1]()
            if len(before) == len(found):
                return [_like(x, old) for x, old in zip(found, before, strict=True)]
        fn = compiled.signature.fn
        raise ArgumentError(
            f"the runs of {name_of(fn)}() cannot be repeated", span_of(fn), "check parts of it"
        )


def _like(found: Any, old: Any) -> Any:
    """Return a result of the interpreter as compiled code returns it."""
    return np.array(found, old.dtype) if isinstance(old, np.ndarray) else type(old)(found)


class _Call:
    """A call that is repeated."""

    def __init__(self, call: Callable[[], Any], runs: Sequence[Run]) -> None:
        self._call = call
        self._runs = runs
        self._runners = [_Runner(_stage_of(each), each.args) for each in runs]
        self._first = self._again(None)

    def _again(
        self, seed: int | None, mended: frozenset[int] = frozenset(), *, last: bool = False
    ) -> list[Any]:
        """Return the floats in the result, of runs with other rounding."""
        steps = [
            (run, partial(runner.run, seed, mended, last=last))
            for run, runner in zip(self._runs, self._runners, strict=True)
        ]
        with watched(_Repeated(steps)):
            found = [np.array(leaf) for leaf in leaves_of(self._call())]
        return [leaf for leaf in found if leaf.dtype.kind in "fc"]

    def correct(self, mended: frozenset[int] = frozenset()) -> float:
        """Return the correct digits of the worst number in the result."""
        errors = [np.zeros(leaf.shape) for leaf in self._first]
        for seed in _SEEDS:
            last = not mended and seed == _SEEDS[-1]
            others = self._again(seed, mended, last=last)
            for error, leaf, other in zip(errors, self._first, others, strict=True):
                with np.errstate(all="ignore"):
                    off = np.where(leaf == other, 0.0, np.abs(other - leaf))
                np.copyto(error, np.maximum(error, np.where(np.isnan(off), np.inf, off)))
        pairs = zip(self._first, errors, strict=True)
        found = [digits_of(np.abs(leaf), error, _cap(leaf)) for leaf, error in pairs]
        return min(found, default=math.inf)

    def losses(self) -> list[_Loss]:
        """Return what each operation of the program loses, in all runs and all copies of it."""
        found: dict[object, _Loss] = {}
        for runner in self._runners:
            for loss in runner.losses.values():
                name = loss.stmt.op.name if isinstance(loss.stmt, Apply) else type(loss.stmt)
                key = (name, loss.stmt.loc or loss.stmt.results)
                other = found.get(key)
                if other is not None:
                    worst = max(loss, other, key=lambda each: each.once)
                    loss = replace(
                        worst,
                        copies=loss.copies | other.copies,
                        cancelled=loss.cancelled + other.cancelled,
                    )
                found[key] = loss
        return list(found.values())

    def to_blame(self, digits: float, left: float) -> _Loss | None:
        """Return the statement without whose loss the result would be right, or else the best."""
        losses = self.losses()
        once = sorted(losses, key=lambda loss: -loss.once)
        often = sorted(losses, key=lambda loss: -loss.cancelled)
        tried = [loss for loss in once if loss.once >= _LEAST_LOSS][:_TRIED]
        tried += [x for x in often[:_TRIED] if x.cancelled >= _LEAST_LOSS and x not in tried]
        best, most = None, left + _LEAST_LOSS
        for loss in tried:
            found = self.correct(loss.copies)
            if found >= digits:
                return loss
            if found > most:
                best, most = loss, found
        return best

    def error(self, digits: float, left: float) -> DigitsError:
        """Return the error for a result with so many correct digits."""
        compiled = self._runs[0].compiled
        fn, loss = compiled.signature.fn, self.to_blame(digits, left)
        result = f"about {left:.0f} digits of the result are correct"
        if loss is None:
            return DigitsError(
                f"{result}, and no line of {name_of(fn)}() alone loses the others", span_of(fn),
                "rounding errors add up, or several lines lose the same digits",
            )  # fmt: skip
        ours: set[object] = set()
        for run in self._runs:
            itself = stages_of(run.compiled)[0]
            for each in (itself, *itself.callees):
                ours.update((stmt.results, stmt.loc) for stmt in walk(each.body))
        known = (loss.stmt.results, loss.stmt.loc) in ours
        what = "cancellation in" if loss.cancelled >= _LEAST_LOSS else "digits are lost in"
        told = [
            f"{what} {'' if known else 'the derivative of '}this line: {loss.words}, which "
            f"leaves {loss.after:.0f} of {loss.before:.0f} correct digits",
            *iterations(loss.loops),
        ]
        if loss.loops and loss.cancelled > loss.once + 2.0:
            told.append("and more of them in others")
        return DigitsError(", ".join(told), loss.stmt.loc, result)


def _stage_of(run: Run) -> Function:
    """Return the stage whose results are those of compiled code."""
    itself, derived, wide = stages_of(run.compiled)
    return wide or derived or itself


def check(
    call: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], digits: float
) -> Any:
    """Return what a call returns; raise if a number in it has fewer correct digits."""
    recorded = _Recorded()
    with watched(recorded):
        found = call(*args, **kwargs)
    if kind := kind_in(found):
        explain(kind, recorded.runs, call)
    if any(run.compiled.lowered.changes for run in recorded.runs):
        raise ArgumentError(
            "digits of a function that changes what lies outside of it", None,
            "pass what it changes as an argument: the call is repeated",
        )  # fmt: skip
    if recorded.runs:
        repeated = _Call(partial(call, *args, **kwargs), recorded.runs)
        left = repeated.correct()
        if left < digits:
            raise repeated.error(digits, left)
    return found


__all__ = ["check"]
