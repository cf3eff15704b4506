"""A limit of the time that checks take."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


class Slow(BaseException):
    """A check takes longer than the limit."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `Slow` after some seconds of a core."""

    def stop(signum: int, frame: Any) -> None:
        raise Slow

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, previous)
