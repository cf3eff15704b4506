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
import functools
import io
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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


def _descriptor(folder: str, flags: int) -> int:
    (found,) = map(os.open, [folder], [flags | os.O_TMPFILE], [0o600])
    return found


_unnamed = functools.partial(io.FileIO, opener=_descriptor)


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
        self._maps: dict[int, list[mmap.mmap]] = {}

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
            if place not in self._files:
                self._open(place, where)
            file = self._files[place]
            maps = self._maps.setdefault(place, [])
            start = len(maps[-1]) if maps else 0
            end = max(-(-size // _PAGE) * _PAGE, start + _PAGE)
            allocate(file, start, end)
            for new in map(mmap.mmap, [file.fileno()], [end]):  # see `_open`
                maps.append(new)
        self._words[place] = ctypes.addressof(ctypes.c_char.from_buffer(maps[-1]))
        self._words[place + 1] = elements
        while len(maps) > 1:  # only now: until then the state leads to one that is there
            maps[0].close()
            del maps[0]

    def _open(self, place: int, where: str) -> None:
        """Open a file that has no name.

        A signal handler may raise an exception after every call of a function: what nobody holds by
        then stays open. So the loops hold what they get from `map` without a call in between.
        """
        if hasattr(os, "O_TMPFILE"):
            try:
                for file in map(_unnamed, [where], ["r+"]):
                    self._files[place] = file
                return
            except OSError:  # some file systems have none; other errors come again
                pass
        self._files[place] = tempfile.TemporaryFile(buffering=0, prefix="adc-", dir=where)

    def close(self) -> None:
        """Give everything back."""
        try:
            while self._files:
                place, file = next(iter(self._files.items()))
                self._words[place] = self._words[place + 1] = 0
                for each in self._maps.get(place, ()):
                    each.close()
                if not file.closed:
                    with file:
                        file.truncate(0)  # a process that was forked meanwhile has it, too
                # Forgotten last: a signal handler may raise an exception at any place above.
                self._maps.pop(place, None)
                self._files.pop(place, None)
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
