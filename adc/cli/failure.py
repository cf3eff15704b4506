"""Errors of the user's program: distinguished from bugs of adc, and shown without adc's frames."""

from __future__ import annotations

import os
import sysconfig
import traceback
from pathlib import Path

_OWN = f"{Path(__file__).parents[1]}{os.sep}"
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def program_error(error: Exception) -> str | None:
    """Return the message of an error that the program raised, None if adc itself did.

    It is the program's if no call of adc lies between the program and where it was raised.
    Compiled code adds a frame for the user's line.

    >>> program_error(ZeroDivisionError("of no program")) is None
    True
    """
    frames = traceback.extract_tb(error.__traceback__)
    message = "".join(traceback.format_exception_only(error)).rstrip()
    if isinstance(error, SyntaxError) and error.filename not in {f.filename for f in frames}:
        return message
    for frame in reversed(frames):
        if frame.filename.startswith(_OWN):
            return None
        if not frame.filename.startswith((*_LIBRARIES, "<")):
            return f"{message}\n{''.join(traceback.format_list([frame])).rstrip()}"
    return None


__all__ = ["program_error"]
