"""A measure of memory in the reference interpreter, and formulas evaluated for what it has seen.

`Meter` runs buffer form and counts what compiled code takes from its workspace and its tapes, by
the rules of `adc.backend`: arrays in multiples of 64 bytes, given back when an iteration or a call
ends. `Recorded` are the numbers that the names of a formula had in that run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir.core import Apply, Block, Function, If, Operand, Pop, Push, Stmt, Value
from adc.ir.escape import escaping
from adc.ir.interp import Frame, Interpreter
from adc.ir.types import Array
from adc.ir.walk import use_counts
from adc.passes import formulas
from adc.passes.formulas import Known, Sum
from adc.passes.peak import Peak

ALIGN = 64


class Meter(Interpreter):
    """Runs a function in its last form.

    `peak` is what `Memory.peak` would be, `taken` how often memory was taken from the workspace.
    """

    def __init__(self, fn: Function) -> None:
        super().__init__(fn)
        functions = self.functions.values()
        self.own = {each.name: escaping(each) for each in functions}
        self.counts = {each.name: use_counts(each) for each in functions}
        self.stack: list[str] = []
        self.top = self.inner = self.most = self.taken = 0
        self.tapes: dict[str, int] = {}
        self.tape_peaks: dict[str, int] = {}
        self.root = Frame()

    def run(self, args: Sequence[Any]) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return self.call(self.main, args, self.root, None)

    @property
    def peak(self) -> int:
        return self.most + sum(self.tape_peaks.values())

    def call(
        self, fn: Function, args: Sequence[Any], frame: Frame, mirror: Frame | None
    ) -> tuple[Any, ...]:
        self.stack.append(fn.name)
        top = self.top
        found = super().call(fn, args, frame, mirror)
        self.top = top
        self.stack.pop()
        return found

    def block(
        self, block: Block, args: Sequence[Any], env: dict[Value, Any], frame: Frame, mirror: Frame
    ) -> tuple[Any, ...]:
        top = self.top
        found = super().block(block, args, env, frame, mirror)
        self.inner, self.top = self.top, top
        return found

    def stmt(self, stmt: Stmt, env: dict[Value, Any], frame: Frame, mirror: Frame) -> Sequence[Any]:
        found = super().stmt(stmt, env, frame, mirror)
        if isinstance(stmt, If):
            self.top = self.inner  # an arm gives nothing back
        name = self.stack[-1]
        match stmt:
            case Push(values=values):
                for value in values:
                    self.move(value, self.read(value, env), 1)
            case Pop(results=results):
                for value, array in zip(results, found, strict=True):
                    if isinstance(value.type, Array) and value not in self.own[name]:
                        self.take(array)
                for value, array in zip(results, found, strict=True):
                    self.move(value, array, -1)
            case Apply(results=(result, *_), op=op, args=args) if isinstance(result.type, Array):
                shares = op.name == "over" or (
                    op.name in ("empty", "full") and any(isinstance(a.type, Array) for a in args)
                )
                used = self.counts[name].get(result) and result not in self.own[name]
                if used and not shares:
                    self.take(found[0])
        return found

    def take(self, array: Any) -> None:
        self.taken += 1
        self.top += -(-array.nbytes // ALIGN) * ALIGN
        self.most = max(self.most, self.top)

    def move(self, value: Operand, given: Any, sign: int) -> None:
        for dtype, size in (
            (value.type.dtype, np.size(given) * value.type.numpy.itemsize),
            ("i64", 8 * np.ndim(given)),
        ):
            self.tapes[dtype] = self.tapes.get(dtype, 0) + sign * size
            self.tape_peaks[dtype] = max(self.tape_peaks.get(dtype, 0), self.tapes[dtype])


class Recorded(Known):
    """What the names in a formula stood for in a run that a `Meter` has seen."""

    def __init__(self, peak: Peak, frames: Mapping[str, Frame]) -> None:
        self.peak = peak
        self.frames = frames  # by function

    @staticmethod
    def of(peak: Peak, meter: Meter) -> Recorded:
        return Recorded(peak, {"": meter.root})

    def find(self, name: str) -> tuple[Frame, str]:
        function, _, own = name.rpartition(": ")
        return self.frames[function], own

    def name(self, name: str) -> int | None:
        frame, own = self.find(name)
        array, dot, axis = own.rpartition(".dim")
        at: Frame | None = frame
        while at is not None:
            for value, found in at.values.items():
                if value.name == own and np.ndim(found) == 0:
                    return int(found)
            at = at.outer
        at = frame
        while at is not None and dot and axis.isdigit():
            for value, found in at.values.items():
                if value.name == array:
                    return int(found.shape[int(axis)])
            at = at.outer
        if own.endswith(".n"):
            return len(frame.loop(own[:-2]))
        return 0  # of an array that was not made

    def inside(self, function: str, frame: Frame) -> Recorded:
        return Recorded(self.peak, {**self.frames, function: frame})

    def iterations(self, loop: formulas.Function) -> tuple[Iterable[Known], int]:
        frame, label = self.find(loop.label)
        function = loop.label.rpartition(": ")[0]
        return [self.inside(function, each) for each in frame.loop(label)], 1

    def callee(self, call: formulas.Function) -> tuple[Sum, Known]:
        frame, label = self.find(call.label)
        (inner,) = frame.loop(label)
        size = call.args[0] if call.args else dict(self.peak.functions)[f"{call.name} {call.of}"]
        return size, self.inside(call.name, inner)
