"""A line on standard error during long compilations, if it is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

# Seconds until the line appears, and between its changes.
DELAY = 2.0
STEP = 1.0


@contextmanager
def progress(name: str, wanted: bool = True) -> Iterator[None]:
    """Show how long `name` has been compiling, in a line that is cleared afterwards.

    Nothing is shown if standard error is not a terminal, or if ``ADC_PROGRESS`` is 0.
    """
    file = sys.stderr
    if not wanted or os.environ.get("ADC_PROGRESS") == "0" or file is None or not file.isatty():
        yield
        return
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(name, file, done), daemon=True)
    with suppress(RuntimeError):  # no threads can be started when the interpreter ends
        watch.start()
    try:
        yield
    finally:
        done.set()
        if watch.ident is not None:
            watch.join()


def _watch(name: str, file: TextIO, done: threading.Event) -> None:
    start, width, wait = time.monotonic(), 0, DELAY
    with suppress(OSError, ValueError):  # the terminal is gone
        while not done.wait(wait):
            # A longer line would break, and what is broken cannot be rewritten.
            columns = shutil.get_terminal_size().columns - 1
            line = f"adc: compiling {name} … {time.monotonic() - start:.0f} s"[:columns]
            file.write(f"\r{line}")
            file.flush()
            width, wait = len(line), STEP
        if width:
            file.write(f"\r{' ' * width}\r")
            file.flush()


__all__ = ["progress"]
