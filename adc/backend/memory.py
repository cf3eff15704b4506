"""The memory of one thread's calls of a kernel: its state, workspace, tapes and print log."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any

import numpy as np

from adc.backend.runtime import State
from adc.ir.types import DTYPES

_realloc: Any = ctypes.pythonapi.PyMem_RawRealloc
_realloc.restype, _realloc.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
_free: Any = ctypes.pythonapi.PyMem_RawFree
_free.restype, _free.argtypes = None, [ctypes.c_void_p]

_PLACES = [State.tape(dtype) for dtype in DTYPES] + [State.LOG]
_ALIGN = 64


def _free_spilled(state: np.ndarray[Any, Any]) -> None:
    """Free the arrays that did not fit into the workspace."""
    address = int(state[State.SPILLED])
    state[State.SPILLED] = 0
    while address:
        before = ctypes.c_int64.from_address(address).value
        _free(address)
        address = before


def _release(state: np.ndarray[Any, Any]) -> None:
    """Free everything that `state` points to."""
    _free_spilled(state)
    for place in _PLACES:
        if state[place]:
            _free(int(state[place]))
    state[:] = 0


class Memory:
    """Memory that calls of one kernel in one thread use in turn."""

    def __init__(self, operands: int) -> None:
        self.state = np.zeros(State.OPERANDS + operands, np.int64)
        # Held during a call, so that no other thread frees what compiled code uses.
        self.lock = threading.Lock()
        self._workspace = np.zeros(0, np.uint8)
        # Compiled code moves the tapes, so their addresses are in the state alone.
        self._finalizer = weakref.finalize(self, _release, self.state)
        self._finalizer.atexit = False

    def begin(self) -> None:
        """Prepare the state for a call."""
        state = self.state
        state[State.STATUS] = 0
        state[State.TOP] = 0
        need = int(state[State.NEED])
        if need > state[State.SIZE]:
            self._workspace = np.empty(need + _ALIGN, np.uint8)
            start = self._workspace.ctypes.data
            state[State.BASE] = start + -start % _ALIGN
            state[State.SIZE] = need
        state[State.NEED] = 0
        state[State.TAPES + 2 : State.OPERANDS : 3] = 0

    def end(self) -> None:
        """Free what the call has left behind."""
        if self.state[State.SPILLED]:
            _free_spilled(self.state)

    def log(self) -> np.ndarray[Any, Any]:
        """Return the words of the print log."""
        address, _, used = (int(word) for word in self.state[State.LOG : State.LOG + 3])
        if not used:
            return np.zeros(0, np.int64)
        return np.ctypeslib.as_array((ctypes.c_int64 * used).from_address(address)).copy()

    @property
    def nbytes(self) -> int:
        """Bytes held between calls."""
        sizes = [dtype.itemsize for dtype in DTYPES.values()] + [8]
        tapes = sum(int(self.state[p + 1]) * size for p, size in zip(_PLACES, sizes, strict=True))
        return self._workspace.nbytes + tapes

    def release(self) -> None:
        self._workspace = np.zeros(0, np.uint8)
        _release(self.state)
