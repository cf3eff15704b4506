"""A measure of memory in the reference interpreter, and formulas evaluated for what it has seen.

`Meter` runs buffer form and counts what compiled code takes from its workspace and its tapes, by
the rules of `adc.backend`: arrays in multiples of 64 bytes, given back when an iteration or a call
ends. `Recorded` are the numbers that the names of a formula had in that run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir.analysis.memory.escape import escaping, stacked
from adc.ir.analysis.routines import library_form
from adc.ir.analysis.sizes import formulas
from adc.ir.analysis.sizes.formulas import Known, Sum
from adc.ir.core import Apply, Block, Function, If, Pop, Push, Stmt, Value
from adc.ir.interp import Body, Env, Frame, Interpreter, Step, _Routine
from adc.ir.types import Array, Type
from adc.ir.walk import defined, use_counts
from adc.passes.memory.peak.formula import Peak

ALIGN = 64


class Meter(Interpreter):
    """Runs a function in its last form.

    `peak` is what `Memory.peak` would be, `taken` how often memory was taken from the workspace.
    """

    def __init__(self, fn: Function, align: int = ALIGN) -> None:
        super().__init__(library_form(fn))
        self.align = align
        self.top = self.inner = self.most = self.taken = 0
        self.tapes: dict[str, int] = {}
        self.tape_peaks: dict[str, int] = {}
        self.root = Frame()
        # Everything that a formula may ask for is kept in frames.
        self.mirrored = True
        self.recalled = {
            value
            for each in self.functions.values()
            for value in defined(each)
            if isinstance(value.type, Array) or value.type.kind in "iub"
        }

    def run(self, args: Sequence[Any]) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return self.routine(self.main.name).call(args, self.root, self.root)

    def routine(self, name: str) -> _Routine:
        if name not in self.routines:
            self.routines[name] = _Metered(self.functions[name], self)
        return self.routines[name]

    @property
    def peak(self) -> int:
        return self.most + sum(self.tape_peaks.values())

    def take(self, array: Any) -> None:
        self.taken += 1
        self.top += -(-array.nbytes // self.align) * self.align
        self.most = max(self.most, self.top)

    def move(self, ty: Type, given: Any, sign: int) -> None:
        for dtype, size in (
            (ty.dtype, np.size(given) * ty.numpy.itemsize),
            ("i64", 8 * np.ndim(given)),
        ):
            self.tapes[dtype] = self.tapes.get(dtype, 0) + sign * size
            self.tape_peaks[dtype] = max(self.tape_peaks.get(dtype, 0), self.tapes[dtype])


class _Metered(_Routine):
    """One function whose steps count memory."""

    machine: Meter

    def __init__(self, fn: Function, machine: Meter) -> None:
        self.own = escaping(fn) | stacked(fn, machine.functions.values())
        self.counts = use_counts(fn)
        super().__init__(fn, machine)

    def block(self, block: Block) -> Body:
        body, machine = super().block(block), self.machine

        def run(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            top = machine.top
            found = body(args, env, frame, mirror)
            machine.inner, machine.top = machine.top, top
            return found

        return run

    def step(self, stmt: Stmt) -> Step:
        step, machine = super().step(stmt), self.machine
        made = [(self.slot(value), value.type) for value in self.made(stmt)]
        pushed = stmt.values if isinstance(stmt, Push) else ()
        pushes = [(self.slot(value), value.type) for value in pushed]
        pops = [(self.slot(v), v.type) for v in stmt.results] if isinstance(stmt, Pop) else []
        arms = isinstance(stmt, If)
        # A part of an array is a copy only if it has other sizes.
        whole = None
        if isinstance(stmt, Apply) and stmt.op.name == "part":
            whole = self.slot(stmt.args[0])

        def run(env: Env, frame: Frame, mirror: Frame) -> None:
            step(env, frame, mirror)
            if arms:
                machine.top = machine.inner  # an arm gives nothing back
            for slot, _ in made:
                if whole is None or not np.may_share_memory(env[slot], env[whole]):
                    machine.take(env[slot])
            for slot, ty in pushes:
                machine.move(ty, env[slot], 1)
            for slot, ty in pops:
                machine.move(ty, env[slot], -1)

        return run if made or pushes or pops or arms else step

    def made(self, stmt: Stmt) -> list[Value]:
        """Return the arrays that a statement takes from the workspace."""
        if isinstance(stmt, Apply):
            memory = any(isinstance(arg.type, Array) for arg in stmt.args)
            shares = stmt.op.name in ("over", "row") or (
                stmt.op.name in ("empty", "full") and memory
            )
            # Workspace of a routine is used by no statement.
            used = self.counts.get(stmt.result) or stmt.op.name == "slot"
            if shares or not used:
                return []
        elif not isinstance(stmt, Pop):
            return []
        return [v for v in stmt.results if isinstance(v.type, Array) and v not in self.own]


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
        if formulas.is_bound(Sum.atom(name)):
            return None
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
