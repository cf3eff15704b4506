"""Signals in the middle of a call."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


def alarmed(seconds: float, call: Callable[..., Any], *args: Any) -> Any:
    """Call a function, and have the handler of SIGALRM run after some seconds.

    The timer starts in here: on a busy machine it may ring before anything else is done.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return call(*args)
