"""Tracebacks of errors without adc's own frames.

Of a call that fails a user sees their own lines, the line of adc that they called, and the lines of
their program that compiled code was at. ``ADC_TRACEBACK=full`` in the environment shows all. So
does an error that adc did not expect: it is a defect of adc's.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

from adc.ir.errors import AdcError, IRError

P = ParamSpec("P")
R = TypeVar("R")

_OWN = str(Path(__file__).parent) + os.sep
# Packages that adc calls: others may have the user's functions.
_CALLED = frozenset(
    "jax jaxlib llvmlite numba numba_cuda numpy optree rocket_fft scipy threadpoolctl torch".split()
)


def shorten(error: BaseException, depth: int = 0) -> None:
    """Take adc's frames out of a traceback, but for the one of this depth below the first one."""
    if os.environ.get("ADC_TRACEBACK") == "full" or isinstance(error, IRError):
        return
    entries = list(_entries(error.__traceback__))[depth:]
    kept, inside = entries[:1], True
    for entry in entries[1:]:
        file = entry.tb_frame.f_code.co_filename
        if file.startswith((_OWN, "<adc external")):
            inside = True
        elif not (inside and _is_called(file)):
            inside = False
            kept.append(entry)
    expected = isinstance(error, AdcError | KeyboardInterrupt | MemoryError)
    if inside and not expected:
        return
    found: types.TracebackType | None = None
    for entry in reversed(kept):
        found = types.TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = found
    if isinstance(error, AdcError):
        error.__suppress_context__ = True


def _is_called(file: str) -> bool:
    """Whether a file is of what adc calls."""
    import sysconfig  # it takes longer than all else here

    for name in ("purelib", "platlib"):
        folder = sysconfig.get_path(name) + os.sep
        if file.startswith(folder):
            return file[len(folder) :].split(os.sep)[0] in _CALLED
    standard = [sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")]
    return file.startswith((*standard, "<frozen "))


def _entries(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def shortened(fn: Callable[P, R]) -> Callable[P, R]:
    """Let a function raise errors with short tracebacks."""

    @functools.wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except BaseException as error:
            shorten(error, 1)  # the function's own frame says more than this one
            raise

    return call


__all__ = ["shorten", "shortened"]
