"""Numba's entry point (`numba_extensions`), which Numba loads at its first use."""

from __future__ import annotations

from typing import Any


def init() -> None:
    """Make derivatives callable from a user's own ``@njit`` code."""
    from adc.api.derivative import Derivative
    from adc.backend.cpu.callable import Known, marks_like_types, register, structure_of

    def known_of(derivative: Any, args: tuple[Any, ...]) -> Known:
        made = derivative._at_once()
        compiled = made.compiled_for(*args)
        kernel = compiled.entry.kernel
        marks = marks_like_types(kernel.emitted.results)
        result = compiled.present(marks, args)
        structure = structure_of(result, marks)
        if made is not derivative or structure is None or not compiled.plain:
            return Known(result)
        return Known(result, kernel, structure)

    register(Derivative, known_of)


__all__ = ["init"]
