"""Where numbers that are not finite arise: `adc.check_nans`.

The statements of the derivative run one by one in the interpreter of the IR, each with the user's
line. The function itself runs first, so that what is found then arises in its derivative.
"""

from __future__ import annotations

import copy
import linecache
import math
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from adc.compiler import transfers
from adc.compiler.compiled import WATCH, Compiled, Watch
from adc.functions import name_of, span_of
from adc.ir import foreign, interp
from adc.ir.core import Apply, For, Function, Reverse, Stmt, Store, Write, walk
from adc.ir.errors import NotFiniteError
from adc.passes import pipeline

# How operations are written; others are calls.
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "xmuly": "*", "xdivy": "/",
}  # fmt: skip
# What derivatives are taken by: the stage after them has all their statements.
_DERIVED = ("adjoint", "pullback", "tangent")
# Runs of one call that are looked at.
_MOST_RUNS = 8


class _Found(Exception):
    """The first NaN; there is no need to run on."""


@dataclass
class _Event:
    """A number that is not finite, though its operands are."""

    stmt: Stmt
    what: str
    words: str
    loops: tuple[tuple[Stmt, int], ...]


class _First(interp.Observer):
    """Looks at what statements compute."""

    def __init__(self) -> None:
        self.infinite: _Event | None = None
        self.nan: _Event | None = None

    def found(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], loops: interp.Loops
    ) -> None:
        if isinstance(stmt, Apply) and not any(map(_is_float, operands)):
            return  # what makes an array has nothing in it yet
        kinds = set(map(_kind, results))
        if kinds <= {""}:
            return
        before = set(map(_kind, operands))
        if "a NaN" in kinds and "a NaN" not in before:
            self.nan = _Event(stmt, "a NaN", words_of(stmt, operands, results), tuple(loops))
            raise _Found
        if "an infinity" in kinds and before <= {""} and self.infinite is None:
            words = words_of(stmt, operands, results)
            self.infinite = _Event(stmt, "an infinity", words, tuple(loops))


def _is_float(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


def _kind(value: Any) -> str:
    """Return what is not finite in a number or an array, or nothing."""
    if isinstance(value, float):
        return "a NaN" if value != value else "an infinity" if math.isinf(value) else ""
    found = np.asarray(value)
    if found.dtype.kind not in "fc" or np.all(np.isfinite(found)):
        return ""
    return "a NaN" if np.any(np.isnan(found)) else "an infinity"


def words_of(stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], digits: int = 6) -> str:
    """Return what a statement computed, as users write it."""
    shown = [_shown(value, digits) for value in operands]
    found = ", ".join(_shown(value, digits) for value in results)
    sign = "+" if isinstance(stmt, Store | Write) else ""
    if isinstance(stmt, Apply) and len(shown) == 2:
        sign = _SIGNS.get(stmt.op.name, "")
    if sign:
        return f"{shown[0]} {sign} {shown[1]} is {found}"
    if isinstance(stmt, For | Reverse):
        return f"a sum is {found}"
    name = stmt.op.name if isinstance(stmt, Apply) else getattr(stmt, "callee", "a product")
    return f"{name}({', '.join(shown)}) is {found}"


def _shown(value: Any, digits: int) -> str:
    if np.ndim(value):
        return f"array{list(np.shape(value))}"
    return f"{value:.{digits}g}" if isinstance(value, float | complex | np.inexact) else str(value)


def kind_in(result: Any) -> str:
    """Return what is not finite in a result, or nothing."""
    return next(filter(None, map(_kind, leaves_of(result))), "")


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in a result."""
    if isinstance(value, dict):
        value = tuple(value.values())
    elif hasattr(value, "__dict__") and not callable(value):
        value = tuple(vars(value).values())
    if isinstance(value, tuple | list):
        for each in value:
            yield from leaves_of(each)
    elif isinstance(value, float | complex | np.generic | np.ndarray):
        yield value


# -- the runs of a call ----------------------------------------------------------------------------


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let `watch` see the runs of compiled code."""
    token = WATCH.set(watch)
    try:
        yield
    finally:
        WATCH.reset(token)


class Run(NamedTuple):
    """A run of compiled code: copies of what it was called with, and what it returned."""

    compiled: Compiled
    args: list[Any]
    results: Sequence[Any]


class _NotFinite:
    """Keeps the runs whose results are not finite, with copies of what they were called with."""

    def __init__(self) -> None:
        self.kept: list[Run] = []

    def run(
        self, compiled: Compiled, args: Sequence[Any], call: Callable[..., Sequence[Any]]
    ) -> Sequence[Any]:
        changes = bool(compiled.lowered.written or compiled.lowered.drawn)
        before = copied(args) if changes else args
        found = call(args)
        if len(self.kept) < _MOST_RUNS and is_arithmetic(compiled) and kind_in(list(found)):
            self.kept.append(Run(compiled, list(before) if changes else copied(args), found))
        return found


def is_arithmetic(compiled: Compiled) -> bool:
    """Whether code computes numbers, not the pattern of a Jacobian."""
    return all(name != "dependence" for name, _ in compiled.steps)


def copied(args: Sequence[Any]) -> list[Any]:
    """Return copies, on the host, of what code is called with."""
    host = [transfers.to_host(each) if foreign.is_foreign(each) else each for each in args]
    return copy.deepcopy(host)


def check(call: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what a call returns; raise for the first number that is not finite, if one is."""
    runs = _NotFinite()
    with watched(runs):
        found = call(*args, **kwargs)
    if kind := kind_in(found):
        explain(kind, runs.kept, call)
    return found


def explain(kind: str, runs: Sequence[Run], call: Callable[..., Any]) -> NoReturn:
    """Raise for the first number that is not finite in some runs of a call."""
    for each in runs:
        _look(each.compiled, each.args)
    fn = runs[0].compiled.signature.fn if runs else call
    raise NotFiniteError(
        f"{kind} is in the result of {name_of(fn)}(); none arises if each operation is rounded",
        span_of(fn),
    )


def stages_of(compiled: Compiled) -> tuple[Function, Function | None, Function | None]:
    """Return the function, its derivative, and that along several directions, statements each."""
    stages = compiled.compilation.trace.stages
    itself = next(stage for name, stage in stages if name == "simplify")
    derived = next((stage for name, stage in reversed(stages) if name in _DERIVED), None)
    wide = next((stage for name, stage in reversed(stages) if name == "directions"), None)
    return itself, derived, wide


def _look(compiled: Compiled, args: Sequence[Any]) -> None:
    """Raise for the first number that is not finite in a run of compiled code."""
    fn = compiled.signature.fn
    own = len(compiled.lowered.fn.params)
    for param, arg in zip(compiled.lowered.fn.params, args, strict=False):
        if what := _kind(arg):
            raise NotFiniteError(
                f"{what} is in the argument {param.name.split('.')[0]!r} of {name_of(fn)}()",
                span_of(fn),
            )
    directions = args[own + len(compiled.ones) :]
    for each in directions:
        if what := _kind(each):
            raise NotFiniteError(
                f"{what} is in a tangent or a cotangent of {name_of(fn)}()", span_of(fn)
            )
    itself, derived, _ = stages_of(compiled)
    # Derivatives that it calls are programs of their own.
    ours = {id(stmt) for each in (itself, *itself.callees) for stmt in walk(each.body)}
    _raise(_run(itself, args[:own]), ours)
    if derived is None:
        return
    for some in _one_by_one(derived, directions):
        _raise(_run(derived, [*args[: len(args) - len(directions)], *some]))


def _one_by_one(fn: Function, directions: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield single directions where code takes several at once: along their last axis."""
    if not directions:
        yield ()
        return
    params = fn.params[-len(directions) :]
    ranks = [param.type.rank for param in params]
    if all(np.ndim(x) == rank for x, rank in zip(directions, ranks, strict=True)):
        yield directions
        return
    for k in range(np.shape(directions[0])[-1]):
        some = [np.ascontiguousarray(each[..., k])[()] for each in directions]
        if any(map(np.any, some)):  # the others fill up the last run
            yield some


def adapted(fn: Function, args: Sequence[Any]) -> list[Any]:
    """Return arguments for a function that has two parameters for each complex number."""
    if len(fn.params) > len(args):
        pairs = [(x.real, x.imag) if np.iscomplexobj(x) else (x,) for x in args]
        args = [part for pair in pairs for part in pair]
    return copy.deepcopy(list(args))


def _run(fn: Function, args: Sequence[Any]) -> _First:
    """Run statements one by one, up to the first NaN."""
    watch = _First()
    machine = interp.Interpreter(fn, pipeline.derived, watch)
    with suppress(_Found, interp.ProgramError):
        machine.run(adapted(fn, args))
    return watch


# -- what users read -------------------------------------------------------------------------------


def _raise(watch: _First, ours: Container[int] = ()) -> None:
    """Raise for what was found, if anything was: `ours` are the function's own statements."""
    event = watch.nan or watch.infinite
    if event is not None:
        where = "" if id(event.stmt) in ours else "the derivative of "
        raise _error(event, watch.infinite, where)


def _error(event: _Event, infinite: _Event | None, where: str) -> NotFiniteError:
    told = [f"{event.what} arises in {where}this line: {event.words}", *iterations(event.loops)]
    hint = ""
    if infinite is not None and infinite is not event and infinite.stmt.loc is not None:
        hint = f"an infinity arises before, in line {infinite.stmt.loc.line}: {infinite.words}"
    return NotFiniteError(", ".join(told), event.stmt.loc, hint)


def iterations(loops: interp.Loops) -> list[str]:
    """Return in which iterations of the loops of the program, and where in arrays, that is."""
    told: list[str] = []
    index: list[int] = []
    for loop, k in loops:
        span = loop.loc
        line = "" if span is None else linecache.getline(span.file, span.line).strip()
        if span is not None and line.startswith(("for ", "while ")):
            told.append(f"in iteration {k} of the loop in line {span.line}")
        elif span is not None and not span.end_line:
            told.append(f"in element {k + 1}")  # of a batch, which begins with one before the loop
        else:
            index.append(k)  # of an operation on arrays
    if index:
        told.append(f"at index {', '.join(map(str, index))}")
    return told


__all__ = [
    "Run",
    "adapted",
    "check",
    "copied",
    "explain",
    "is_arithmetic",
    "iterations",
    "kind_in",
    "leaves_of",
    "stages_of",
    "watched",
    "words_of",
]
