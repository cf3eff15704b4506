"""The array of integers that a call of compiled code reads and writes: its places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.ir.types import ELEMENTS


class State:
    """The places in a state array."""

    STATUS = 0  # 0: all is well; a site that failed, from 1; or one of the five below
    INTERRUPTED = -1
    ELSEWHERE = -2  # in a thread that shared a loop: see its state
    NO_MEMORY = -3
    STOPPED = -4  # as another thread failed
    NO_STACK = -5
    TICKS = 1  # units of work until the next look at the clock
    CLOCK = 2  # when signals were last looked for, in milliseconds
    ERROR = 3  # type, value and traceback of an exception that Python code raised meanwhile
    BASE = 6  # of the workspace: address, bytes, bytes in use, most bytes in use until a release
    SIZE = 7
    TOP = 8
    PEAK = 9
    SPILLED = 10  # the newest array that did not fit, see `_spill_helper`
    RESULTS = 11  # of a table: address and bytes of the memory for each array that is returned
    MISSED = 12  # 1: the memory of a large result was of another size
    GROW = 13  # of the function that makes tapes in files larger; 0: tapes are in memory
    WANTED = 14  # what it is asked for: the place of a tape, and elements; what an effect found
    SAY = 16  # of the function that carries out the effects in the log; 0: nothing does
    EXTERNAL = 17  # of a table: the addresses of what calls functions outside
    TAPES = 18  # of each tape: address, capacity in elements, elements in use, most in use
    LOG = TAPES + 4 * len(ELEMENTS)  # a tape as well: what `print` statements have to say
    WORKERS = LOG + 4  # of a table: the addresses of the states of the threads that share loops
    THREADS = WORKERS + 1  # how many there are; less than two: none
    CHUNK = WORKERS + 2  # of a thread: which part of a loop it runs, or failed in
    SHARED = WORKERS + 3  # of a thread: the address of the first part of the loop that failed
    DEPTH = WORKERS + 4  # how many calls led to the check that failed, as far as they were noted
    CALLERS = DEPTH + 1  # these calls, the innermost first: their sites
    MOST_CALLS = 30  # of a profile: as many calls around what runs are noted
    MOST_CALLERS = 32  # those in between are left out, where there are more
    STACK = CALLERS + MOST_CALLERS  # the lowest address that a recursion may reach; 0: any
    OPERANDS = STACK + 1  # of the check that failed, as bits

    @staticmethod
    def callers(words: Sequence[int]) -> list[int]:
        """Return the sites of the calls that led to the check that failed, the innermost first."""
        count = min(words[State.DEPTH], State.MOST_CALLERS)
        return [int(each) for each in words[State.CALLERS : State.CALLERS + count]]

    @staticmethod
    def tape(dtype: str) -> int:
        return State.TAPES + 4 * list(ELEMENTS).index(dtype)


# Arrays of this many bytes are returned in memory that was prepared for them: new pages are dear.
LARGE = 1 << 16


def word_value(word: int, dtype: str) -> Any:
    """Return the NumPy scalar that `bits` made a word of."""
    return word_values(np.array([word], np.int64), dtype)[0]


def word_values(raw: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Return the numbers that `bits` made words of."""
    numpy = ELEMENTS[dtype]
    if numpy.itemsize == 8:
        return raw.view(numpy)
    return raw.astype(np.uint32).view(numpy) if numpy.kind == "f" else raw.astype(numpy)


__all__ = ["LARGE", "State", "word_value", "word_values"]
