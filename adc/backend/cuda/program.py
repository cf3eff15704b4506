"""Compiled code as a callable: arguments go to the device, results come back."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adc.backend.cpu import DEFAULT_FOLDER, converter, deliverer, raiser, write_source
from adc.backend.cuda import arrays
from adc.backend.cuda.api import require, wait
from adc.backend.cuda.device import Device, Failed
from adc.backend.cuda.emit import Emitted, emit
from adc.backend.cuda.memory import POOL, NoRoom
from adc.frontend.foreign import described, is_foreign, shape_of
from adc.ir.core import Function
from adc.ir.errors import DeviceMemoryError, Span, exception_named
from adc.ir.types import Array, Type
from adc.memory import text as memory_text

if TYPE_CHECKING:
    from adc.driver import Step
    from adc.passes.plan import Plan


# For `sources_of`: a result that is not left on the device.
HOST = -1


class Program:
    """A function on the device: call it with numbers and arrays, get a tuple of results.

    Arrays on the device are used where they are, and are never written. Where there are some among
    the arguments, arrays that are returned stay on the device: a derivative is of the library that
    what it belongs to is from, and on the host if that is; others are of the first one's library.
    Then nobody waits for the end of a call, unless arrays on the host are among the arguments or
    the results, kernels check something, or an argument is of a library that has no streams.
    """

    # Nothing is on the disk.
    disk: int | None = None

    def __init__(
        self,
        emitted: Emitted,
        run: Callable[..., Any],
        path: Path,
        again: Callable[..., Any],
        sources: Sequence[int | None] = (),
        plan: Plan | None = None,
    ) -> None:
        self.emitted = emitted
        self._plan = plan
        self._local = threading.local()
        self._again = again
        self.path = path
        self._run = run
        self._in = [converter(ty) for ty in emitted.params]
        self._out = [deliverer(ty) for ty in emitted.results]
        # Without checks, nobody has to wait for whether one fails.
        self._checks = "failed[0] = " in emitted.source
        self._sources = sources or (None,) * len(emitted.results)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        require()
        there = [
            isinstance(ty, Array) and is_foreign(arg)
            for arg, ty in zip(args, self.emitted.params, strict=True)
        ]
        queue = arrays.Queue([arg for arg, on_device in zip(args, there, strict=True) if on_device])
        device = None
        try:
            device = Device(self._note, queue.stream, self._checks)
            return self._call(args, there, queue, device)
        except NoRoom as error:
            asked, held = error.asked, error.held
        finally:
            queue.end()
            if device is not None:
                device.close()
                self._local.peak = device.memory.peak
        # Not within `except`: this error must not hold what the other one does.
        raise self._no_room(asked, held, args)

    def _call(
        self, args: Sequence[Any], there: Sequence[bool], queue: arrays.Queue, device: Device
    ) -> tuple[Any, ...]:
        given = [
            arrays.view(arg, queue) if on_device else convert(arg)
            for arg, on_device, convert in zip(args, there, self._in, strict=True)
        ]
        sent = []
        for arg, on_device, ty in zip(given, there, self.emitted.params, strict=True):
            if isinstance(ty, Array) and not on_device:
                queue.waits = True  # the caller may change it then
                arg = device.send(arg)
            sent.append(arg)
        try:
            with np.errstate(all="ignore"):
                found = self._run(device, *sent)
            device.check()
        except Failed as failed:
            back = [
                device.to_host(array) if on_device else arg
                for arg, on_device, array in zip(args, there, sent, strict=True)
            ]
            wait(queue.stream)
            self._again(*back)  # raises what the program does, in its order
            self._fail(failed)
        first = next((arg for arg, on_device in zip(args, there, strict=True) if on_device), None)
        results = []
        for value, deliver, ty, k in zip(
            found, self._out, self.emitted.results, self._sources, strict=True
        ):
            if not isinstance(ty, Array):
                results.append(deliver(device.get(value, checked=True)))
                continue
            source = None if k == HOST else first if k is None else args[k] if there[k] else None
            if source is None:
                queue.waits = True
                results.append(device.to_host(value))
            else:
                results.append(arrays.like(source, value))
        return tuple(results)

    def _note(self, number: int, *told: Any) -> None:
        site = self.emitted.sites[number - 1]
        print(site.message.format(*told) if told else site.message)

    @property
    def peak(self) -> int | None:
        """The most bytes that the last call of this thread held on the device.

        They are those of copies of arguments, of what is computed, and of returned arrays.
        """
        return getattr(self._local, "peak", None)

    @property
    def nbytes(self) -> int:
        """Bytes on the device that all programs hold between calls."""
        return POOL.nbytes

    def release_memory(self) -> None:
        """Give back what this holds between calls: nothing, all programs share what they hold."""

    def _no_room(self, asked: int, held: int, args: Sequence[Any]) -> DeviceMemoryError:
        peak = self._plan.peak if self._plan is not None else None
        least = peak.at(list(map(shape_of, args))) if peak is not None else None
        planned = "" if least is None else f"; its plan takes up to {memory_text(least)}"
        return DeviceMemoryError(
            f"the GPU has no room for an array of {memory_text(asked)}: the call holds "
            f"{memory_text(held)} there{planned}",
            None,
            'remat="recompute" keeps less, smaller arguments need less',
        )

    def _fail(self, failed: Failed) -> None:
        site = self.emitted.sites[failed.site - 1]
        text = site.message
        if failed.told:
            text = text.format(*failed.told)
        kind: Any = exception_named(site.error)
        raiser(site.loc or Span("<adc>", 1))(kind(*([text] if text else [])))


def load(emitted: Emitted) -> tuple[Any, Path]:
    """Return the module of emitted source, and the file that it is kept in."""
    path = write_source(emitted, DEFAULT_FOLDER)
    spec = importlib.util.spec_from_file_location(f"adc_cuda_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module, path


def build(
    fn: Function,
    again: Callable[..., Any],
    sources: Sequence[int | None] = (),
    plan: Plan | None = None,
) -> Program:
    """Return a program for `fn`, which is in buffer form with launches (`passes.kernels`).

    `again` runs the same on the host: where a check fails on the device, that says which. `sources`
    are as `sources_of` returns them; what `plan` says of memory stands in errors.
    """
    emitted = emit(fn)
    module, path = load(emitted)
    return Program(emitted, getattr(module, emitted.name), path, again, sources, plan)


def sources_of(
    results: Sequence[Type], steps: Sequence[Step], on_host: Sequence[bool] = ()
) -> tuple[int | None, ...]:
    """Return for each result of derivative code the argument that it is a derivative to, or None.

    `results` are those of the function itself, `steps` what was made of it. Results that are
    always wanted on the host have `HOST` instead.
    """
    kinds = [ty.kind for ty in results]
    found: list[int | None] = [None] * len(kinds)
    for k, wanted in enumerate(on_host):
        if wanted:
            found[k] = HOST
    for mode, positions in steps:
        if mode == "tangent":
            # Every float has one.
            more = [k for k, kind in zip(found, kinds, strict=True) if kind == "f"]
        else:
            more = list(positions)
        found += more
        kinds += ["f"] * len(more)
    return tuple(found)


def copied(value: Any) -> Any:
    """Return a copy of an array on the device, of the same library."""
    if not described(value).shape:
        return arrays.to_host(value)
    queue = arrays.Queue([value])
    device = Device(lambda number, told: None, queue.stream, False)
    try:
        return arrays.like(value, device.copy(arrays.view(value, queue)))
    finally:
        queue.end()
        device.close()
