"""Tapes in files: what reverse code needs is then bounded by a disk, not by memory.

A tape is one file, mapped into memory and shared: the system writes its pages to disk where memory
is short, and growing it is mapping it anew, without a copy. A file has no name from the start, so
that nothing is left of it whatever ends the process. Its blocks are allocated before they are
mapped: a full disk is an error of this module, not a signal at some later store. Files live for one
call: that gives the disk back, pages that are dead are not written to it, and no process that is
forked between two calls shares a tape.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from adc.backend.runtime.state import State
from adc.ir.errors import DiskError
from adc.ir.types import ELEMENTS

_ITEMSIZES = {State.tape(name): dtype.itemsize for name, dtype in ELEMENTS.items()}
_PAGE = mmap.PAGESIZE
_ZEROS = 1 << 20  # bytes written at once where blocks can be allocated in no other way


def folder() -> str:
    """Return where files go: ``ADC_OFFLOAD_DIR``, ``TMPDIR``, or a folder of temporary files.

    ``/var/tmp`` comes before others: ``/tmp`` is memory on many systems.
    """
    chosen = os.environ.get("ADC_OFFLOAD_DIR") or os.environ.get("TMPDIR")
    if chosen:
        return chosen
    if sys.platform != "win32" and os.access("/var/tmp", os.W_OK | os.X_OK):
        return "/var/tmp"
    return tempfile.gettempdir()


@contextmanager
def reported(size: int) -> Iterator[str]:
    """Yield the folder for a file of so many bytes; that it cannot be made is a `DiskError`."""
    where = folder()
    try:
        yield where
    except (OSError, OverflowError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DiskError(
            f"no file for a tape of {size:,} bytes in {where}: {reason}",
            None,
            "set ADC_OFFLOAD_DIR to a folder with more room",
        ) from None


class Files:
    """The files of the tapes of a call, by their place in the state.

    Parameters
    ----------
    state : array of int64
        Where address and capacity of a tape are written.
    """

    def __init__(self, state: np.ndarray[Any, Any]) -> None:
        self._words = memoryview(state)  # type: ignore[arg-type]  # stub is wrong
        self._files: dict[int, Any] = {}
        self._maps: dict[int, mmap.mmap] = {}

    def grow(self) -> None:
        """Make the tape larger that compiled code asks for: see `State.WANTED`."""
        self.enlarge(*self._words[State.WANTED : State.WANTED + 2])

    def enlarge(self, place: int, elements: int) -> None:
        """Make room for so many elements on the tape at `place`.

        Raises
        ------
        DiskError
            If there is no room for it. The tape is then as it was.
        """
        size = elements * _ITEMSIZES[place]
        with reported(size) as where:
            file = self._files.get(place)
            if file is None:
                file = tempfile.TemporaryFile(buffering=0, prefix="adc-", dir=where)
                self._files[place] = file
            old = self._maps.get(place)
            start = 0 if old is None else len(old)
            end = max(-(-size // _PAGE) * _PAGE, start + _PAGE)
            allocate(file, start, end)
            new = mmap.mmap(file.fileno(), end)
        # The old mapping ends when this returns: until then the state leads to one that is there.
        self._maps[place] = new
        self._words[place] = ctypes.addressof(ctypes.c_char.from_buffer(new))
        self._words[place + 1] = elements

    def close(self) -> None:
        """Give everything back."""
        try:
            while self._files:
                place, file = self._files.popitem()
                self._words[place] = self._words[place + 1] = 0
                with file:
                    with self._maps.pop(place, nullcontext()):
                        pass
                    file.truncate(0)  # a process that was forked meanwhile has it, too
        except BaseException:  # of a signal handler
            self.close()
            raise


def allocate(file: Any, start: int, end: int) -> None:
    """Give a file blocks on the disk."""
    try:
        os.posix_fallocate(file.fileno(), start, end - start)
        return
    except AttributeError:  # macOS, Windows
        pass
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
    file.seek(start)
    while start < end:
        start += file.write(bytes(min(end - start, _ZEROS)))


__all__ = ["Files", "allocate", "folder", "reported"]
