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
from typing import Any

import numpy as np

from adc.ir.errors import DiskError
from adc.memory import text as memory_text

# ``void (*)(int64 place, int64 bytes, int64 elements)``: what compiled code calls to grow a tape.
_Grow = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
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


class Files:
    """The files of the tapes of a call, by their place in the state.

    Parameters
    ----------
    state : array of int64
        Where address and capacity of a tape are written.

    Attributes
    ----------
    error : BaseException or None
        Why a tape did not grow: an exception cannot leave a function that compiled code calls.
    """

    def __init__(self, state: np.ndarray[Any, Any]) -> None:
        self._words = memoryview(state)  # type: ignore[arg-type]  # stub is wrong
        self._files: dict[int, Any] = {}
        self._maps: dict[int, mmap.mmap] = {}
        self.error: BaseException | None = None

    def callback(self) -> Any:
        """Return the function that compiled code calls; it must live as long as it is called."""

        def grow(place: int, size: int, elements: int) -> None:
            try:
                self.enlarge(place, size, elements)
            except BaseException as error:  # KeyboardInterrupt, too
                self.error = error

        return _Grow(grow)

    def enlarge(self, place: int, size: int, elements: int) -> None:
        """Make the tape at `place` of `size` bytes: so many elements.

        Raises
        ------
        DiskError
            If there is no room for it. The tape is then as it was.
        """
        where = folder()
        try:
            file = self._files.get(place)
            if file is None:
                file = tempfile.TemporaryFile(buffering=0, prefix="adc-", dir=where)
                self._files[place] = file
            old = self._maps.get(place)
            start = 0 if old is None else len(old)
            end = max(-(-size // _PAGE) * _PAGE, start + _PAGE)
            _allocate(file, start, end)
            new = mmap.mmap(file.fileno(), end)
        except (OSError, OverflowError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DiskError(
                f"no file for a tape of {memory_text(size)} in {where}: {reason}",
                None,
                "set ADC_OFFLOAD_DIR to a folder with more room",
            ) from None
        # The old mapping ends when this returns: until then the state leads to one that is there.
        self._maps[place] = new
        self._words[place] = ctypes.addressof(ctypes.c_char.from_buffer(new))
        self._words[place + 1] = elements

    def close(self) -> None:
        """Give everything back."""
        self.error = None
        for place in self._files:
            self._words[place] = self._words[place + 1] = 0
        for each in self._maps.values():
            each.close()
        self._maps.clear()
        for file in self._files.values():
            # A process that was forked meanwhile has the file, too.
            file.truncate(0)
            file.close()
        self._files.clear()


def _allocate(file: Any, start: int, end: int) -> None:
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


__all__ = ["Files", "folder"]
