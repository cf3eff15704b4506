"""What tests of SciPy's functions do: values are SciPy's, derivatives are those of differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adc


def along(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a direction for arguments."""
    rng = np.random.default_rng(7)
    return tuple(
        [
            rng.standard_normal(a.shape)
            + (1j * rng.standard_normal(a.shape) if np.iscomplexobj(a) else 0.0)
            for a in args
        ]
    )


def difference(fn: Callable[..., Any], args: tuple[Any, ...], way: tuple[Any, ...]) -> Any:
    """Return the derivative along a direction, to fourth order."""
    h = 1e-4
    ends = [fn(*[a + k * h * d for a, d in zip(args, way, strict=True)]) for k in (1, -1, 2, -2)]
    if isinstance(ends[0], tuple):
        ends = [np.concatenate([np.ravel(x) for x in each]) for each in ends]
    return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)


def check(fn: Callable[..., Any], args: tuple[Any, ...], second: bool = True) -> None:
    """Check the value, both modes and, in the direction of `along`, the second derivative."""
    numbers, way = tuple(range(len(args))), along(args)
    value, grads = adc.value_and_grad(fn, numbers, target="python")(*args)
    np.testing.assert_allclose(value, fn(*args), rtol=1e-10, atol=1e-12)
    want = difference(fn, args, way)
    found = sum(np.sum(g * d).real for g, d in zip(grads, way, strict=True))
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7)
    _, slope = adc.jvp(fn, args, way, target="python")
    np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-7)
    if second:
        curved = difference(adc.grad(fn, numbers, target="python"), args, way)
        product = adc.hvp(fn, args, way, target="python")
        parts = product if isinstance(product, tuple) else (product,)
        flat = np.concatenate([np.ravel(each) for each in parts])
        limit = 1e-6 * max(1.0, np.abs(curved).max())
        np.testing.assert_allclose(flat, np.ravel(curved), rtol=1e-5, atol=limit)
