"""What a call in CPython holds, and the functions on it that emitted code calls.

An array is NumPy's own and lives as long as a variable has it. The state only counts bytes, as that
of compiled code does: that is how much memory a plan takes. What nobody has written yet is NaN.
"""

from __future__ import annotations

import math
import mmap
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg.blas

from adc.backend.common.writer import Site
from adc.backend.runtime import gemm, offload
from adc.backend.runtime.memory import bits_of
from adc.backend.runtime.state import State
from adc.ir.sums import LANES, combine
from adc.ir.types import ELEMENTS

_ALIGN = 64
_PLACES = {State.tape(name): dtype for name, dtype in ELEMENTS.items()}

Array = np.ndarray[Any, Any]
Shape = Sequence[Any]


class Memory:
    """The state of one call, as emitted code reads and writes it, and what lies behind it.

    Parameters
    ----------
    sites : sequence of Site
        The checks and prints of the code.
    in_files : bool
        Whether tapes are in files.
    say : callable
        Takes the site of a print and the words that it is about.
    external : callable
        Calls a function outside: takes its number, what it is given, and the arrays to fill.
    """

    def __init__(
        self, sites: Sequence[Site], in_files: bool, say: Callable[[Site, list[int]], Any],
        external: Callable[[int, Sequence[Any], Sequence[Any]], None],
    ) -> None:  # fmt: skip
        self.external = external
        most = max([len(site.types) for site in sites], default=0)
        self.words = np.zeros(State.OPERANDS + most, np.int64)
        self._sites, self._in_files, self._say = sites, in_files, say
        self._tapes: dict[int, Array] = {}
        self._noted: list[int] = []

    def __getitem__(self, place: Any) -> Any:
        return self.words[place]

    def __setitem__(self, place: Any, word: Any) -> None:
        self.words[place] = word

    def note_caller(self, site: int) -> None:
        """Note that a call led to the check that failed."""
        count = self.words[State.DEPTH]
        self.words[State.CALLERS + min(count, State.MOST_CALLERS - 1)] = site
        self.words[State.DEPTH] += 1

    # -- arrays and tapes ------------------------------------------------------------------

    def take(self, size: int) -> None:
        """Count so many bytes of workspace."""
        self.words[State.TOP] += (size + _ALIGN - 1) & -_ALIGN

    def release(self, mark: Any) -> None:
        """Count back to what was in use before."""
        self.words[State.PEAK] = max(self.words[State.PEAK], self.words[State.TOP])
        self.words[State.TOP] = mark

    def tape(self, place: int, dtype: Any) -> Array:
        return self._tapes.setdefault(place, np.zeros(0, dtype))

    def enlarge(self, place: int, count: int, dtype: Any) -> Array:
        """Return a tape with room for so many elements."""
        old = self.tape(place, dtype)
        self._tapes[place] = new = (_on_disk if self._in_files else made)(dtype, (count,))
        new[: old.size] = old
        return new

    def used(self) -> tuple[int, int]:
        """Return the most bytes that were in use, of memory and of files."""
        words = self.words
        taped = sum(
            dtype.itemsize * int(max(words[place + 2], words[place + 3]))
            for place, dtype in _PLACES.items()
        )
        held = int(max(words[State.TOP], words[State.PEAK]))
        return (held, taped) if self._in_files else (held + taped, 0)

    # -- prints ----------------------------------------------------------------------------

    def note(self, word: Any) -> None:
        """Take one more word of a print, and print when there are all of them."""
        self._noted.append(int(word))
        site = self._sites[self._noted[0] - 1]
        if len(self._noted) > len(site.types):
            _, *words = self._noted
            self._noted.clear()
            found = self._say(site, words)
            if found is not None:
                self.words[State.WANTED] = bits_of(found)


def made(dtype: Any, shape: Shape) -> Array:
    """Return an array that nobody has written to yet."""
    try:
        found: Array = np.empty([int(size) for size in shape], dtype)
        if found.dtype.kind == "f":
            found.fill(np.nan)
    except (MemoryError, ValueError):  # too large, or a negative size
        raise MemoryError("the program needs more memory than there is") from None
    return found


def _on_disk(dtype: Any, shape: Shape) -> Array:
    """Return an array in a file without a name, which is gone when nobody has the array."""
    (count,) = shape
    size = max(int(count) * np.dtype(dtype).itemsize, 1)
    with (
        offload.reported(size) as where,
        tempfile.TemporaryFile(buffering=0, prefix="adc-", dir=where) as file,
    ):
        offload.allocate(file, 0, size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype, int(count))


# --- what emitted code calls ----------------------------------------------------------------------


def _bytes(dtype: Any, shape: Shape) -> int:
    return math.prod([np.dtype(dtype).itemsize, *map(int, shape)])


def _empty(state: Memory, dtype: Any, shape: Shape) -> Array:
    found = made(dtype, shape)
    state.take(found.nbytes)
    return found


def _slot(state: Memory, dtype: Any, *shapes: Shape) -> Array:
    most = max(shapes, key=lambda shape: _bytes(dtype, shape))
    return _empty(state, dtype, [math.prod(map(int, most))])


def _reuse(array: Array, dtype: Any, shape: Shape) -> Array:
    count = _bytes(dtype, shape)
    found: Array = array.reshape(-1).view(np.uint8)[:count].view(dtype)
    return found.reshape([int(size) for size in shape])


def _grow(state: Memory, place: int, need: int, dtype: Any) -> Array:
    held = state.tape(place, dtype).size
    return state.enlarge(place, max(int(need), held + held // 2, 512), dtype)


def _external(state: Memory, number: Any, given: Sequence[Any], made: Sequence[Any]) -> bool:
    state.external(int(number), given, made)
    return False


def _parallel_for(state: Memory, part: Any, trips: Any, work: Any, *given: Any) -> None:
    part(state, np.int64(0), trips, *given)


def _total(lanes: Array, used: Any, down: bool = False) -> Any:
    return combine(lanes, int(used), down)


def _bits(value: Any) -> int:
    if isinstance(value, np.floating):
        return int.from_bytes(value.tobytes(), sys.byteorder, signed=value.itemsize == 8)
    return int(np.asarray(value).astype(np.int64)[()])


def _copy_into(target: Array, source: Array) -> None:
    target[...] = source


def _fill(target: Array, value: Any) -> None:
    target[...] = value


def _product(add: bool) -> Callable[[Memory, Array, Array, Array], None]:
    def product(state: Memory, c: Array, a: Array, b: Array) -> None:
        """Multiply by the means that compiled code chooses: see `runtime.gemm`."""
        (m, n), k = c.shape, a.shape[1]
        by_terms = m * k < gemm.FEW and n >= gemm.LONG and _lies_by_rows(b)
        if m * n * k > gemm.SMALL and not by_terms:
            _blas(c, a, b, add)
            return
        if not add:
            c[...] = 0.0
        for term in range(k):
            c += a[:, term, None] * b[None, term, :]

    return product


def _lies_by_rows(array: Array) -> bool:
    """Whether a matrix is none that was transposed, which flags do not say of rows and columns."""
    return array.strides == (array.shape[1] * array.itemsize, array.itemsize)


def _blas(c: Array, a: Array, b: Array, add: bool) -> None:
    """Make the transpose of a product, which lies by columns as BLAS has it."""
    function = getattr(scipy.linalg.blas, "sgemm" if c.dtype == np.float32 else "dgemm")
    # To BLAS an array by rows is the transpose of one by columns.
    turned = [not _lies_by_rows(each) for each in (b, a)]
    left, right = (x if flip else x.T for x, flip in zip((b, a), turned, strict=True))
    found = function(
        1.0, left, right, float(add), c.T, trans_a=turned[0], trans_b=turned[1], overwrite_c=True
    )
    if not np.may_share_memory(found, c):
        c[...] = found.T


#: Every name of `runtime` and of its products that emitted code calls.
def _part_of(state: Memory, stack: Any, index: Any, sizes: Any) -> Any:
    found = stack[index]
    return found if found.shape == sizes else found[tuple(map(slice, sizes))].copy()


NAMES: dict[str, Any] = {
    "at_line": lambda state, place, mark: None,  # profiles are of machine code
    "bits": _bits,
    "call_done": lambda state, place: None,
    "call_from": lambda state, place, mark: None,
    "copy_into": _copy_into,
    "empty": _empty,
    "fill": _fill,
    "fit": lambda state, place, need, dtype: state.enlarge(place, int(need), dtype),
    "fresh": made,
    "gemm": _product(add=False),
    "gemm_add": _product(add=True),
    "grow": _grow,
    "external": _external,
    "heard": lambda state: state.words[State.WANTED : State.WANTED + 1].view(np.float64)[0],
    "heard_integer": lambda state: state.words[State.WANTED],
    "lanes": lambda dtype, used: np.full(LANES, -0.0, dtype),
    "note": Memory.note,
    "note_caller": Memory.note_caller,
    "enter": lambda state: False,  # nor does a recursion end its stack
    "poll": lambda state, work: False,  # the interpreter looks for signals itself
    "release": Memory.release,
    "returned": lambda state, place, dtype, shape: made(dtype, shape),
    "reuse": _reuse,
    "part_of": _part_of,
    "row_at": lambda stack, *index: stack[index],
    "parallel_for": _parallel_for,
    "say": lambda state: False,  # done when the last word was noted
    "slot": _slot,
    "stacked": made,
    "tape": Memory.tape,
    "total": _total,
    "total_down": lambda lanes, used: _total(lanes, used, down=True),
    "view": lambda address, dtype, shape: np.empty(shape, dtype),
}

__all__ = ["NAMES", "Memory", "made"]
