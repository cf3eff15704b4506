"""A program under check: what Python makes of it, and its stages in adc, made when asked for."""

from __future__ import annotations

import contextlib
import copy
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.errors import AssumptionError
from adc.ir.interp import Interpreter, ProgramError
from adc.passes import pipeline, stages
from tests.fuzz.campaign import kinds
from tests.fuzz.program import Generated, Unreliable, in_python
from tests.oracle import chain as chains
from tests.oracle import oracle

Direction = tuple[Any, ...]
Point = tuple[Any, ...]
# The passes that derivatives need before them.
_NEEDED = pipeline.PRIMAL[: 1 + [row.name for row in pipeline.PRIMAL].index("expand")]
POLICIES = ("auto", "auto", "store", "recompute", "random")


@dataclass(frozen=True)
class Outcome:
    """What a call returns or raises, and what it prints."""

    value: Any
    shown: str = ""

    @property
    def error(self) -> Exception | None:
        return self.value if isinstance(self.value, Exception) else None

    def differs(self, want: Outcome, tolerance: float) -> str:
        """Return in what it is not the other one, or ""."""
        if self.error is not None or want.error is not None:
            same = type(self.value) is type(want.value)
            # The address of an object is another one in each run.
            same = same and (
                " object at 0x" in str(want.value) or str(self.value) == str(want.value)
            )
            found = "" if same else f"{self.value!r} instead of {want.value!r}"
        else:
            bound = tolerance * (1.0 + abs(want.value))
            same = self.value == want.value or abs(self.value - want.value) <= bound
            same = same or (np.isnan(self.value) and np.isnan(want.value))
            found = "" if same else f"{self.value} instead of {want.value}"
        if not found and self.shown != want.shown:
            return f"it prints {self.shown!r} instead of {want.shown!r}"
        return found


class Subject:
    """A program, its stages, and the random choices that its checks make."""

    def __init__(self, generated: Generated, choices: str = "") -> None:
        self.generated = generated
        self.rng = random.Random(f"checks {generated.seed} {choices}")
        self.numbers = np.random.default_rng(self.rng.randrange(2**32))
        self.single = kinds.in_single(generated)
        self._in_python = in_python(generated)

    # -- Python ------------------------------------------------------------------------------------

    def python(self, args: Point) -> Outcome:
        """Return what Python makes of the program."""
        shown = io.StringIO()
        with oracle._quietly(), contextlib.redirect_stdout(shown):
            try:
                value: Any = float(self._in_python(*copy.deepcopy(args)))
            except Exception as error:
                value = error
        return Outcome(value, shown.getvalue())

    def moved(self, args: Point, direction: Direction, step: float) -> Point:
        """Return arguments moved along a direction."""
        found = list(copy.deepcopy(args))
        for n, d in zip(self.generated.argnums, direction, strict=True):
            arg = args[n]
            new = arg + step * d
            found[n] = new.astype(arg.dtype) if isinstance(arg, np.ndarray) else type(arg)(new)
        return tuple(found)

    def direction(self) -> Direction:
        """Return a random direction of the arguments that are differentiated."""
        made = []
        for n in self.generated.argnums:
            d = np.asarray(self.numbers.standard_normal(np.shape(self.generated.args[n])))
            for argument, element in kinds.fixed(self.generated):
                if argument == n:
                    d[element] = 0.0
            made.append(d if d.ndim else float(d))
        return tuple(made)

    def point(self) -> Point:
        """Return arguments: mostly the sample, at times others at which the program runs."""
        args = self.generated.args
        if self.rng.random() < 0.7:
            return args
        other = self.moved(args, self.direction(), 0.1)
        value = self.python(other)
        return other if value.error is None and kinds.finite(value.value) else args

    def value(self, args: Point) -> float:
        """Return the value of the program, at which derivatives can be compared.

        Raises
        ------
        Unreliable
            If there is none.
        """
        found = self.python(args)
        if found.error is not None or not kinds.finite(found.value):
            raise Unreliable(f"value {found.value!r}")
        return float(found.value)

    # -- adc ---------------------------------------------------------------------------------------

    @cached_property
    def chain(self) -> chains.Chain:
        generated = self.generated
        return chains.Chain.of(generated.fn, generated.make_args(), generated.argnums)

    @cached_property
    def needed(self) -> Function:
        """The program after only the passes that derivatives need."""
        return stages.run(self.chain.lowered.fn, _NEEDED)

    @cached_property
    def policy(self) -> str:
        found = self.rng.choice(POLICIES)
        return f"random:{self.generated.seed}" if found == "random" else found

    def inputs(self, args: Point) -> list[Any]:
        """Return what the functions of all stages are given."""
        given = [leaf for arg in args for leaf in chains.flat(arg)]
        return chains.fresh([*given, *self.chain.inputs[len(given) :]])

    def outcome(self, fn: Function, args: Point) -> Outcome:
        """Return what a stage computes, raises and prints."""
        machine = Interpreter(fn, pipeline.derived)
        found: Any
        try:
            with np.errstate(all="ignore"):
                results = machine.run(self.inputs(args))
            found = chains.rebuild(self.chain.lowered.result, iter(results))
        except ProgramError as error:
            found = error.error
            if isinstance(found, AssumptionError):
                raise Unreliable("other code is compiled for these arguments") from error
        shown = "".join(f"{line}\n" for line in machine.printed)
        return Outcome(found, shown)

    def run(self, fn: Function, args: Point, more: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the results of a stage.

        Raises
        ------
        Unreliable
            If an axis of the arguments broadcasts: other code is compiled then.
        """
        with np.errstate(all="ignore"):
            try:
                return chains.run(fn, [*self.inputs(args), *more])
            except ProgramError as error:
                if isinstance(error.error, AssumptionError):
                    raise Unreliable("other code is compiled for these arguments") from error
                raise

    def gradient(self, fn: Function, args: Point) -> tuple[Any, ...]:
        """Return the gradient by a stage of the derivative."""
        return self.chain.gradient(self.run(fn, args))

    def flat_direction(self, direction: Direction) -> list[Any]:
        """Return a direction as forward mode takes it."""
        return [
            np.asarray(d).astype(np.asarray(self.chain.inputs[k]).dtype)[()]
            for k, d in zip(self.chain.positions, direction, strict=True)
        ]


def along(gradient: Sequence[Any], direction: Direction) -> tuple[float, float]:
    """Return the slope of a gradient along a direction, and the size of its terms."""
    parts = [np.asarray(g, dtype=np.float64) * d for g, d in zip(gradient, direction, strict=True)]
    return float(sum(p.sum() for p in parts)), float(sum(np.abs(p).sum() for p in parts))


__all__ = ["Direction", "Outcome", "Point", "Subject", "along"]
