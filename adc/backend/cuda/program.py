"""Compiled code as a callable: arguments go to the device, results come back."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from adc.backend.cpu import (
    converter,
    deliverer,
    module_of,
    perform,
    raise_at,
    raise_outside,
)
from adc.backend.cuda import arrays
from adc.backend.cuda.api import require, wait
from adc.backend.cuda.device import Device, Failed
from adc.backend.cuda.dry_run import DryRuns, Held
from adc.backend.cuda.emit import Emitted, emit
from adc.backend.cuda.libraries import NoLibrary
from adc.backend.cuda.memory import POOL, NoRoom, OverLimit
from adc.ir.core import Function
from adc.ir.errors import (
    DeviceError,
    DeviceMemoryError,
    MemoryBudgetError,
    exception_named,
    installing,
)
from adc.ir.errors import bytes_text as memory_text
from adc.ir.foreign import described, is_foreign
from adc.ir.foreign import sizes_of as shape_of
from adc.ir.text import raising
from adc.ir.text.effects import Effects
from adc.ir.types import Array, Type

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

    def __init__(
        self,
        emitted: Emitted,
        run: Callable[..., Any],
        again: Callable[..., Any],
        sources: Sequence[int | None] = (),
        budget: int | None = None,
        offload: bool = False,
        bases: Sequence[int] = (),
    ) -> None:
        self.emitted = emitted
        self._budget = budget
        self._offload = offload
        self._bases = bases
        self._local = threading.local()
        self._again = again
        self._run = run
        self._in = [converter(ty) for ty in emitted.params]
        self._out = [deliverer(ty) for ty in emitted.results]
        self._sources = sources or (None,) * len(emitted.results)

    def __call__(self, *args: Any, reserved: object = None) -> tuple[Any, ...]:
        require()
        limit = None
        if self._budget is not None:
            limit = self._budget + self._returned(args)
        there = [
            isinstance(ty, Array) and is_foreign(arg)
            for arg, ty in zip(args, self.emitted.params, strict=True)
        ]
        queue = arrays.Queue([arg for arg, on_device in zip(args, there, strict=True) if on_device])
        # Memory of the host is used again when nobody reads it any more.
        queue.waits |= self._offload
        device = None
        try:
            # Without checks, nobody has to wait for whether one fails.
            checks = self.emitted.checks
            note = functools.partial(self._note, Effects(perform))
            device = Device(note, queue.stream, checks, limit, self._offload, self._external)
            return self._call(args, there, queue, device)
        except (NoRoom, OverLimit) as error:
            asked, held, limited = error.asked, error.held, isinstance(error, OverLimit)
        except RecursionError:
            # Functions that call themselves are Python's on the host.
            raise RecursionError("maximum recursion depth exceeded") from None
        except NoLibrary as missing:
            why = f" ({missing.why})" if missing.why else ""
            raise DeviceError(
                f'linear algebra with target="cuda" needs CuPy{why}',
                self.emitted.sites[missing.site - 1].loc,
                installing("cupy13", "'adc-autodiff[cupy12]' with CUDA 12"),
            ) from None
        finally:
            queue.end()
            if device is not None:
                device.close()
                returned = device.returned
                if not returned and self._budget is not None:
                    returned = self._returned(args)  # the call has failed, or returns nothing
                self._local.peak = max(device.memory.peak - returned, 0)
                self._local.host = device.host
        # Not within `except`: this error must not hold what the other one does.
        if limited:
            held = max(held - self._returned(args), 0)
        raise self._over(asked, held) if limited else self._no_room(asked, held, args)

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
                if self._budget is not None:
                    arg = np.ascontiguousarray(arg)  # so that no copy is made there
                arg = device.send(arg, own=False)
            sent.append(arg)
        try:
            with np.errstate(all="ignore"):
                found = self._run(device, *sent)
            device.check()
            device.note_returned(
                [v for v in found if all(v is not arg for arg in sent) and hasattr(v, "shape")]
            )
        except Failed as failed:
            back = [
                device.to_host(array) if on_device else arg
                for arg, on_device, array in zip(args, there, sent, strict=True)
            ]
            wait(queue.stream)
            if not self.emitted.calls:  # what these do is not done again
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

    def _external(self, number: int, given: Sequence[Any], made: Sequence[Any]) -> None:
        call = self.emitted.calls[number]
        try:
            call.fill(given, made)
        except BaseException as error:
            raise_outside(call, error)

    def _note(self, teller: Effects, number: int, *told: Any) -> None:
        site = self.emitted.sites[number - 1]
        teller.tell(site.to, site.message, told, site.loc)

    @property
    def peak(self) -> int | None:
        """The most bytes that the last call of this thread held on the device.

        Copies of arguments do not count, nor do the bytes of returned arrays.
        """
        return getattr(self._local, "peak", None)

    @property
    def disk(self) -> int | None:
        """The most bytes that the last call of this thread had waiting on the host, if any do."""
        return getattr(self._local, "host", None) if self._offload else None

    @cached_property
    def dry_runs(self) -> DryRuns:
        return DryRuns(self.emitted, self._budget is not None, self._offload)

    def _held(self, args: Sequence[Any]) -> Held:
        return self.dry_runs.held(sizes_of(args, self.emitted.params))

    def _returned(self, args: Sequence[Any]) -> int:
        """Return the bytes of returned arrays: of gradients, where the rest is not known."""
        held = self._held(args)
        if held.peak is not None:
            return held.results
        return sum(
            math.prod(shape_of(args[k])) * ty.numpy.itemsize
            for k, ty in zip(self._sources, self.emitted.results, strict=True)
            if isinstance(ty, Array) and k is not None and k != HOST
        )

    def fits(self, args: Sequence[Any]) -> bool:
        """Whether a call stays within the budget: with these arguments, and tangents like them."""
        every = [*args, *(args[k] if k < len(args) else None for k in self._bases[len(args) :])]
        sizes = sizes_of(every, self.emitted.params)
        return self._budget is None or (self.dry_runs.held(sizes).peak or 0) <= self._budget

    @property
    def nbytes(self) -> int:
        """Bytes on the device that all programs hold between calls."""
        return POOL.nbytes

    def release_memory(self) -> None:
        """Give back what this holds between calls: nothing, all programs share what they hold."""

    def _no_room(self, asked: int, held: int, args: Sequence[Any]) -> DeviceMemoryError:
        most = self._held(args).peak
        planned = ""
        if most is not None:
            planned = f"; its plan takes up to {memory_text(most)} beyond arguments and results"
        return DeviceMemoryError(
            f"the GPU has no room for an array of {memory_text(asked)}: the call holds "
            f"{memory_text(held)} there{planned}",
            None,
            "memory= makes a plan that fits, smaller arguments need less",
        )

    def _over(self, asked: int, held: int) -> MemoryBudgetError:
        assert self._budget is not None
        return MemoryBudgetError(
            f"a call cannot go on with memory of {memory_text(self._budget)}: it holds "
            f"{memory_text(held)}, and needs {memory_text(asked)} more",
            None,
            "how much it needs, only the run could tell: try more, or leave out `memory`",
        )

    def _fail(self, failed: Failed) -> None:
        site = self.emitted.sites[failed.site - 1]
        if failed.told is not None:
            raise_at(site.loc, raising.made(site.error, site.message, failed.told))
        kind: Any = exception_named(site.error)  # what it says of numbers is not known
        raise_at(site.loc, kind(raising.text_of(site.message) or ""))


def build(
    fn: Function,
    again: Callable[..., Any],
    sources: Sequence[int | None] = (),
    budget: int | None = None,
    offload: bool = False,
    bases: Sequence[int] = (),
) -> Program:
    """Return a program for `fn`, which is in buffer form with launches (`passes.kernels`).

    `again` runs the same on the host: where a check fails on the device, that says which. `sources`
    are as `sources_of` returns them. A call holds at most `budget` bytes; with `offload`, what is
    on the tape waits on the host. `bases` are the parameters whose sizes each of them has: tangents
    are like what they are the tangents of.
    """
    emitted = emit(fn)
    run = getattr(module_of(emitted), emitted.name)
    return Program(emitted, run, again, sources, budget, offload, bases)


def sources_of(
    results: Sequence[Type],
    steps: Sequence[tuple[str, tuple[int, ...]]],
    on_host: Sequence[bool] = (),
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


def sizes_of(args: Sequence[Any], params: Sequence[Type]) -> tuple[Any, ...]:
    """Return the sizes of arguments, as dry_runs take them."""
    found: list[Any] = []
    for arg, ty in zip(args, params, strict=True):
        if isinstance(ty, Array):
            found.append(None if arg is None else tuple(map(int, shape_of(arg))))
        else:
            found.append(int(arg) if ty.kind in "iu" else None)
    return tuple(found)
