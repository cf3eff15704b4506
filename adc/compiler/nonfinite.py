"""Where numbers that are not finite arise: `adc.check_nans`.

The statements of the derivative run one by one in the interpreter of the IR, each with the user's
line. The function itself runs first, so that what is found then arises in its derivative.
"""

from __future__ import annotations

import copy
import linecache
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from adc.compiler.compiled import Compiled
from adc.functions import name_of, span_of
from adc.ir import interp
from adc.ir.core import Apply, Function, Stmt
from adc.ir.errors import NotFiniteError
from adc.passes import pipeline

# How operations are written; others are calls.
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "xmuly": "*", "xdivy": "/",
}  # fmt: skip
# What derivatives are taken by: the stage after them has all their statements.
_DERIVED = ("adjoint", "pullback", "tangent")


class _Found(Exception):
    """The first NaN; there is no need to run on."""


@dataclass
class _Event:
    """A number that is not finite, though its operands are."""

    stmt: Stmt
    what: str
    words: str
    loops: tuple[tuple[Stmt, int], ...]


class _Watch:
    """Looks at what statements compute."""

    def __init__(self) -> None:
        self.infinite: _Event | None = None
        self.nan: _Event | None = None

    def __call__(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any],
        loops: Sequence[tuple[Stmt, int]],
    ) -> None:  # fmt: skip
        if isinstance(stmt, Apply) and not any(map(_is_float, operands)):
            return  # what makes an array has nothing in it yet
        kinds = set(map(_kind, results))
        if kinds <= {""}:
            return
        before = set(map(_kind, operands))
        if "a NaN" in kinds and "a NaN" not in before:
            self.nan = _Event(stmt, "a NaN", _words(stmt, operands, results), tuple(loops))
            raise _Found
        if "an infinity" in kinds and before <= {""} and self.infinite is None:
            words = _words(stmt, operands, results)
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


def _words(stmt: Stmt, operands: Sequence[Any], results: Sequence[Any]) -> str:
    shown = [_shown(value) for value in operands]
    found = ", ".join(map(_shown, results))
    if isinstance(stmt, Apply) and stmt.op.name in _SIGNS and len(shown) == 2:
        return f"{shown[0]} {_SIGNS[stmt.op.name]} {shown[1]} is {found}"
    name = stmt.op.name if isinstance(stmt, Apply) else getattr(stmt, "callee", "a product")
    return f"{name}({', '.join(shown)}) is {found}"


def _shown(value: Any) -> str:
    if np.ndim(value):
        return f"array{list(np.shape(value))}"
    return f"{value:.6g}" if isinstance(value, float | complex | np.inexact) else str(value)


def kind_in(result: Any) -> str:
    """Return what is not finite in a result, or nothing."""
    return next(filter(None, map(_kind, _leaves(result))), "")


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in a result."""
    if isinstance(value, dict):
        value = tuple(value.values())
    elif hasattr(value, "__dict__"):
        value = tuple(vars(value).values())
    if isinstance(value, tuple | list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, float | complex | np.generic | np.ndarray):
        yield value


def report(compiled: Compiled, args: Sequence[Any], kind: str) -> NoReturn:
    """Raise for the first number that is not finite, of a call whose result has one.

    `args` are the numbers and arrays that the code was called with, as they were before.
    """
    fn = compiled.signature.fn
    for param, arg in zip(compiled.lowered.fn.params, args, strict=False):
        if what := _kind(arg):
            raise NotFiniteError(
                f"{what} is in the argument {param.name.split('.')[0]!r} of {name_of(fn)}()",
                span_of(fn),
            )
    stages = compiled.compilation.trace.stages
    itself = next(stage for name, stage in stages if name == "simplify")
    derived = next((stage for name, stage in reversed(stages) if name in _DERIVED), None)
    for stage, where in ((itself, ""), (derived, "the derivative of ")):
        if stage is None:
            continue
        watch = _run(stage, [*args, *compiled.ones])
        event = watch.nan or watch.infinite
        if event is not None:
            raise _error(event, watch.infinite, where)
    raise NotFiniteError(
        f"{kind} is in the result of {name_of(fn)}(); none arises if each operation is rounded",
        span_of(fn),
    )


def _run(fn: Function, args: Sequence[Any]) -> _Watch:
    """Run statements one by one, up to the first NaN."""
    watch = _Watch()
    if len(fn.params) > len(args):  # there are two for each complex number
        pairs = [(x.real, x.imag) if np.iscomplexobj(x) else (x,) for x in args]
        args = [part for pair in pairs for part in pair]
    machine = interp.Interpreter(fn, pipeline.derived, watch)
    with suppress(_Found, interp.ProgramError):
        machine.run(copy.deepcopy(list(args)))
    return watch


def _error(event: _Event, infinite: _Event | None, where: str) -> NotFiniteError:
    loc = event.stmt.loc
    told = [f"{event.what} arises in {where}this line: {event.words}"]
    index: list[int] = []
    for loop, k in event.loops:
        span = loop.loc
        line = "" if span is None else linecache.getline(span.file, span.line).strip()
        if span is not None and line.startswith(("for ", "while ")):
            told.append(f"in iteration {k} of the loop in line {span.line}")
        else:
            index.append(k)  # of an operation on arrays
    if index:
        told.append(f"at index {', '.join(map(str, index))}")
    hint = ""
    if infinite is not None and infinite is not event and infinite.stmt.loc is not None:
        hint = f"an infinity arises before, in line {infinite.stmt.loc.line}: {infinite.words}"
    return NotFiniteError(", ".join(told), loc, hint)


__all__ = ["kind_in", "report"]
