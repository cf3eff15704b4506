"""Checks of derivatives against differences, for tests of programs that use adc.

>>> import math
>>> check_grads(lambda x, y: math.sin(x) * y, (0.5, 2.0), order=2)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc import api
from adc.frontend import trees
from adc.ir.errors import ArgumentError

Leaves = list[np.ndarray[Any, Any]]


def check_grads(
    fn: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: str | Sequence[str] = ("fwd", "rev"),
    *,
    step: float | None = None,
    rtol: float | None = None,
    seed: int = 0,
) -> None:
    """Compare derivatives of `fn` with central differences along random directions.

    The differences call `fn` itself, uncompiled. Every call takes copies of the arguments: a random
    generator among them draws the same numbers each time.

    Parameters
    ----------
    fn : callable
        A function that `adc.grad`, `adc.jvp` and `adc.vjp` take. For `order` 2 it returns a float.
    args : sequence
        The arguments. All floats in them are moved at once.
    order : {1, 2}
        The highest derivatives that are checked; those of second order are Hessian-vector
        products against differences of gradients.
    modes : {"fwd", "rev"} or sequence of these
        Forward mode (`jvp`), reverse mode (`vjp`), or both.
    step : float
        Of the differences; by default 1e-5, in single precision 5e-3.
    rtol : float
        Tolerance relative to the size of what is compared; by default 1e-6 and 2e-2.
    seed : int
        Of the random directions.

    Raises
    ------
    AssertionError
        If a derivative differs; it says in which mode, and by how much.
    AdcError
        If `fn` cannot be differentiated.

    Examples
    --------
    >>> check_grads(lambda x: {"square": x * x}, (3.0,), modes="fwd")
    """
    names = (modes,) if isinstance(modes, str) else tuple(modes)
    if order not in (1, 2) or not set(names) <= {"fwd", "rev"}:
        raise ArgumentError(f"order={order!r}, modes={modes!r}", None, "1 or 2; 'fwd' and 'rev'")
    single = any(leaf.dtype == np.float32 for leaf in _leaves(tuple(args)))
    step = step or (5e-3 if single else 1e-5)
    rtol = rtol or (2e-2 if single else 1e-6)
    rng = np.random.default_rng(seed)
    # Arguments without floats are held fixed.
    direction = tuple([_random(arg, rng) if _leaves(arg) else None for arg in args])
    differences = _differences(fn, args, direction, step)
    if "fwd" in names:
        _, found = api.jvp(fn, copy.deepcopy(tuple(args)), direction)
        _compare("forward mode", _leaves(found), differences, rtol)
    if "rev" in names:
        value, pull = api.vjp(fn, *copy.deepcopy(tuple(args)))
        weights = _random(value, rng)
        moved = _dot(_leaves(pull(weights)), _leaves(direction))
        _compare("reverse mode", [moved], [_dot(_leaves(weights), differences)], rtol)
    if order == 2:
        moving = tuple([k for k, part in enumerate(direction) if part is not None])
        gradient = api.grad(fn, moving)
        wanted = _differences(gradient, args, direction, step)
        products = api.hvp(fn, copy.deepcopy(tuple(args)), direction)
        _compare("second order", _leaves(products), wanted, rtol)


def _map(fn: Callable[[Any], Any], value: Any) -> Any:
    """Return `value` with `fn` applied to its floats and arrays of floats."""
    ty = trees.type_of(value)
    if ty is not None:
        return fn(value) if ty.kind == "f" else value
    parts = trees.parts_of(value)
    if parts is None:
        return value
    keys, items = parts
    made = [_map(fn, item) for item in items]
    return tuple(made) if type(value) is tuple else trees.build(type(value), keys, made)


def _leaves(value: Any) -> Leaves:
    found: Leaves = []
    _map(lambda leaf: found.append(np.asarray(leaf)), value)
    return found


def _random(value: Any, rng: np.random.Generator) -> Any:
    """Return something like `value` with random numbers in place of its floats."""

    def draw(leaf: Any) -> Any:
        found = rng.standard_normal(np.shape(leaf)).astype(np.asarray(leaf).dtype)
        return found if np.ndim(leaf) else found[()]

    return _map(draw, value)


def _moved(args: Sequence[Any], direction: Any, step: float) -> Any:
    parts: Iterator[Any] = iter(_leaves(direction))
    return _map(lambda leaf: leaf + step * next(parts), copy.deepcopy(tuple(args)))


def _differences(
    fn: Callable[..., Any], args: Sequence[Any], direction: Any, step: float
) -> Leaves:
    ahead = _leaves(fn(*_moved(args, direction, step)))
    behind = _leaves(fn(*_moved(args, direction, -step)))
    return [
        (a.astype(np.float64) - b.astype(np.float64)) / (2.0 * step)
        for a, b in zip(ahead, behind, strict=True)
    ]


def _dot(a: Leaves, b: Leaves) -> np.ndarray[Any, Any]:
    pairs = zip(a, b, strict=True)
    return np.asarray(sum(np.sum(x.astype(np.float64) * y.astype(np.float64)) for x, y in pairs))


def _compare(what: str, found: Leaves, wanted: Leaves, rtol: float) -> None:
    if [leaf.shape for leaf in found] != [leaf.shape for leaf in wanted]:
        raise AssertionError(f"{what}: the derivatives have not the shapes of the results")
    size = max([1e-3, *(float(np.max(np.abs(leaf), initial=0.0)) for leaf in wanted)])
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        error = np.max(np.abs(a - b), initial=0.0)
        if not error <= rtol * size:
            raise AssertionError(
                f"{what}: result {k} has the derivative {a} along a direction, by differences "
                f"{b}; they differ by {error:.2g}"
            )


__all__ = ["check_grads"]
