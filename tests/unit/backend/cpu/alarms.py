"""Signals in the middle of a call."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")


def interrupted(
    seconds: float,
    call: Callable[..., Any],
    *args: Any,
    error: type[BaseException] = KeyboardInterrupt,
) -> Any:
    """Call a function, and have a signal raise an error in it after some seconds.

    Returns
    -------
    object
        What the function returns, or the error if it came through.

    Notes
    -----
    The timer starts in here: on a busy machine it may ring before anything else is done. A ring
    that comes late raises nothing: a KeyboardInterrupt that leaves a test ends all tests.
    """
    calling = True

    def ring(*_: object) -> None:
        if calling:
            raise error

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        found = call(*args)
        calling = False
    except error as stopped:
        found = stopped
    finally:
        calling = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return found
