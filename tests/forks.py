"""Children of a fork that end, whatever happens in them."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

import pytest

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
# A child that hangs, as on a lock that a thread held, is ended after so many seconds.
PATIENCE = 120


def fork(call: Callable[[], bool]) -> int:
    """Return the number of a child that only calls a function; wait for it with `status`.

    The child never returns, so it does not go on with the other tests, nor answers for them.
    """
    child = os.fork()
    if not child:
        _only(call)
    return child


def _only(call: Callable[[], bool]) -> NoReturn:
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        code = 0 if call() else 1
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def status(child: int) -> int:
    """Wait for a child, and return 0 if what it called returned true."""
    return os.waitpid(child, 0)[1]
