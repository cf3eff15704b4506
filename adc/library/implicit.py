"""The derivative rules of solutions of equations, by the implicit function theorem.

Where ``F(y, x) = 0``, ``dF/dy dy + dF/dx dx = 0`` (M. Blondel et al., Efficient and modular
implicit differentiation, NeurIPS 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.transforms import transform

Rule = Callable[..., Any]


@transform
def jvp(fn: Any, primals: Any, tangents: Any) -> Any:
    """Stands for `adc.jvp` in the rules."""
    raise NotImplementedError


@transform
def vjp(fn: Any, *args: Any) -> Any:
    """Stands for `adc.vjp` in the rules."""
    raise NotImplementedError


@transform
def jacfwd(fn: Any) -> Any:
    """Stands for `adc.jacfwd` in the rules."""
    raise NotImplementedError


@transform
def grad(fn: Any, argnums: Any = 0) -> Any:
    """Stands for `adc.grad` in the rules."""
    raise NotImplementedError


def rules(residual: Rule) -> tuple[Rule, Rule]:
    """Return the rules for both modes of a function that returns a root of `residual`."""

    def cotangents(ct: Any, y: Any, *args: Any) -> Any:
        weights = _solved(_matrix(residual, y, args).T, ct)
        return vjp(lambda *given: residual(y, *given), *args)[1](-weights)

    def tangent(dots: Any, y: Any, *args: Any) -> Any:
        _, moved = jvp(lambda *given: residual(y, *given), args, dots)
        return _solved(_matrix(residual, y, args), -moved)

    return cotangents, tangent


def _matrix(residual: Rule, y: Any, args: Any) -> Any:
    """Return the Jacobian of the residual by `y`, a matrix."""
    if isinstance(y, (tuple, list, dict)):  # as the front end reads it
        raise Unsupported(
            "a derivative of a solver that returns several arrays", "let it return one array"
        )
    return np.reshape(jacfwd(residual)(y, *args), (np.size(y), np.size(y)))


def _solved(a: Any, b: Any) -> Any:
    return np.reshape(np.linalg.solve(a, np.reshape(b, -1)), np.shape(b))


__all__ = ["rules"]
