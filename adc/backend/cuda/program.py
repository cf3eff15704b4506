"""Compiled code as a callable: arguments go to the device, results come back."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adc.backend.cpu import DEFAULT_FOLDER, converter, deliverer, raiser, write_source
from adc.backend.cuda.api import cuda, require
from adc.backend.cuda.device import Device, Failed
from adc.backend.cuda.emit import Emitted, emit
from adc.ir.core import Function
from adc.ir.errors import Span, exception_named
from adc.ir.types import Array


class Program:
    """A function on the device: call it with NumPy scalars and arrays, get a tuple of results."""

    # Bytes that were used: nobody counts them yet.
    peak: int | None = None
    disk: int | None = None
    nbytes = 0

    def __init__(
        self, emitted: Emitted, run: Callable[..., Any], path: Path, again: Callable[..., Any]
    ) -> None:
        self.emitted = emitted
        self._again = again
        self.path = path
        self._run = run
        self._in = [converter(ty) for ty in emitted.params]
        self._out = [deliverer(ty) for ty in emitted.results]

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        require()
        given = [convert(arg) for convert, arg in zip(self._in, args, strict=True)]
        device = Device(self._note)
        sent = [
            _sent(arg) if isinstance(ty, Array) else arg
            for arg, ty in zip(given, self.emitted.params, strict=True)
        ]
        try:
            with np.errstate(all="ignore"):
                found = self._run(device, *sent)
            device.check()
        except Failed as failed:
            self._again(*args)  # raises what the program does, in its order
            self._fail(failed)
        back = [
            value.copy_to_host() if isinstance(ty, Array) else device.get(value)
            for value, ty in zip(found, self.emitted.results, strict=True)
        ]
        return tuple(deliver(value) for deliver, value in zip(self._out, back, strict=True))

    def _note(self, number: int, *told: Any) -> None:
        site = self.emitted.sites[number - 1]
        print(site.message.format(*told) if told else site.message)

    def release_memory(self) -> None:
        """Give back what is held between calls: nothing is."""

    def _fail(self, failed: Failed) -> None:
        site = self.emitted.sites[failed.site - 1]
        text = site.message
        if failed.told:
            text = text.format(*failed.told)
        kind: Any = exception_named(site.error)
        raiser(site.loc or Span("<adc>", 1))(kind(*([text] if text else [])))


def _sent(array: np.ndarray[Any, Any]) -> Any:
    if not array.size:
        return cuda.to_device(np.zeros(1, array.dtype))[:0].reshape(array.shape)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)  # one transfer
    return cuda.to_device(array)


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


def build(fn: Function, again: Callable[..., Any]) -> Program:
    """Return a program for `fn`, which is in buffer form with launches (`passes.kernels`).

    `again` runs the same on the host: where a check fails on the device, that says which.
    """
    emitted = emit(fn)
    module, path = load(emitted)
    return Program(emitted, getattr(module, emitted.name), path, again)
