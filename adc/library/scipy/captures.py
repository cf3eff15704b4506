"""What a function has captured, as values that a derivative is taken by.

The front end knows these functions by their names (`adc.frontend.scipy.captures`).
"""

from __future__ import annotations

from typing import Any

from adc.library import stop_gradient


def captured(fn: Any) -> Any:
    """Return a tuple of the floats, numbers and arrays, that a function has captured."""
    raise NotImplementedError


def with_captured(fn: Any, values: Any) -> Any:
    """Return a function that has captured these values instead."""
    raise NotImplementedError


def still(fn: Any) -> Any:
    """Return a function whose captured variables are constants."""
    return with_captured(fn, stop_gradient(captured(fn)))


def moves(values: Any) -> Any:
    """Return whether there are floats in a structure, as a constant of the program."""
    raise NotImplementedError


def floats_in(values: Any) -> Any:
    """Return a tuple of the floats, numbers and arrays, in a structure."""
    raise NotImplementedError


__all__ = ["captured", "floats_in", "moves", "still", "with_captured"]
