"""Numba's entry point (`numba_extensions`), which Numba loads at its first use."""

from __future__ import annotations

from typing import Any


def init() -> None:
    """Make derivatives callable from a user's own ``@njit`` code."""
    from adc.api.derivative import Derivative
    from adc.backend.cpu.callable import register, zeros_like_types

    def result_of(derivative: Any, args: tuple[Any, ...]) -> Any:
        compiled = derivative._at_once().compiled_for(*args)
        types = [result.type for result in compiled.compilation.fn.results]
        return compiled.present(zeros_like_types(types), args)

    register(Derivative, result_of)


__all__ = ["init"]
