"""Checks of derivatives against finite differences, for tests of programs that use adc.

`differences` estimates their errors; `ranks` makes several processes compare together. `selftest`
is what ``adc selftest`` runs: `rows` of the op table and random `programs`, among others.

>>> import math
>>> check_grads(lambda x, y: math.sin(x) * y, (0.5, 2.0), order=2)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc import api
from adc.frontend.inputs import trees, unflatten
from adc.ir.errors import ArgumentError, GlobalStateError
from adc.testing import differences
from adc.testing.ranks import Ranks

Leaves = list[np.ndarray[Any, Any]]
Vector = differences.Vector


def check_grads(
    fn: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: str | Sequence[str] = ("fwd", "rev"),
    *,
    step: float | None = None,
    rtol: float | None = None,
    seed: int = 0,
    comm: Any = None,
) -> None:
    """Compare derivatives of `fn` with finite differences, along random directions and axes.

    The differences call `fn` itself, uncompiled, with copies of the arguments, so a random
    generator, and `np.random`, draw the same numbers in each call. Each derivative is compared with
    an extrapolated difference [1]_, within the uncertainty of the difference, and with a complex
    step if `fn` accepts one (`adc.testing.differences`). Steps scale with each number; a zero is
    moved by up to 1/4 of the largest number in its array, or of 1.

    Parameters
    ----------
    fn : callable
        A function that `adc.grad`, `adc.jvp` and `adc.vjp` accept; for `order` 2 it returns a
        float.
    args : sequence
        The arguments. A random direction moves all floats in them, in proportion to their sizes.
        Then each float is moved alone; of more than eight, a sample.
    order : {1, 2}
        The highest order that is checked. Second derivatives are Hessian-vector products, compared
        with differences of gradients.
    modes : {"fwd", "rev"} or sequence of these
        Forward mode (`jvp`), reverse mode (`vjp`), or both.
    step : float
        The largest step of the differences; by default a quarter of each number.
    rtol : float
        Tolerance relative to each derivative; by default 1e-6, in single precision 1e-3.
    seed : int
        The seed of the random directions.
    comm : mpi4py.MPI.Comm
        For a function that communicates: all ranks of this communicator call `check_grads`. What is
        compared are sums over ranks: the derivatives along random directions, of which each rank
        has its part, and along some in which one rank alone moves.

    Raises
    ------
    AssertionError
        If a derivative differs; the message has the mode, the direction and the difference. Also if
        no derivative can be decided; the message has the reason. Single derivatives that cannot be
        decided (at a kink, at a jump, or because of noise) are skipped.
    AdcError
        If `fn` cannot be differentiated.

    References
    ----------
    .. [1] C. J. F. Ridders. Accurate computation of F'(x) and F'(x) F''(x). Advances in
       Engineering Software 4, 1982.

    Examples
    --------
    >>> check_grads(lambda x: {"square": x * x}, (3.0,), modes="fwd")
    """
    names = (modes,) if isinstance(modes, str) else tuple(modes)
    if order not in (1, 2) or not set(names) <= {"fwd", "rev"}:
        raise ArgumentError(f"order={order!r}, modes={modes!r}", None, "1 or 2; 'fwd' and 'rev'")
    args = tuple(args)
    if comm is not None:
        _on_ranks(fn, args, order, names, step, rtol, seed, Ranks(comm))
        return
    single = any(leaf.dtype in _SINGLE for leaf in _leaves(args))
    rng = np.random.default_rng(seed)
    state = np.random.get_state(legacy=False)

    def again() -> None:
        """Let `np.random` draw the same numbers again."""
        np.random.set_state(state)

    value = fn(*copy.deepcopy(args))
    kinds = [leaf.dtype.kind for leaf in _leaves(value)]
    single |= any(leaf.dtype in _SINGLE for leaf in _leaves(value))
    if any(leaf.dtype == np.float16 for leaf in (*_leaves(args), *_leaves(value))):
        raise ArgumentError(
            "differences of float16 numbers are too coarse to check derivatives with", None,
            "pass float32 or float64 arguments, and return one of these",
        )  # fmt: skip
    weights = _random(value, rng)
    again()
    pull = _pulled(fn, args, weights) if "rev" in names else None
    if pull is not None and len(_leaves(pull)) != len(_leaves(args)):
        raise ArgumentError(
            "`adc.vjp`, and so the check of reverse mode, has no cotangents for objects", None,
            "pass lists, dicts or named tuples, or check forward mode with modes='fwd'",
        )  # fmt: skip
    checks = _Checks(
        rtol or (1e-3 if single else 1e-6), float(np.finfo("f4" if single else "f8").eps)
    )
    directions = list(_directions(args, rng, step))
    for name, direction, size in directions:
        what: list[tuple[str, Vector]] = []
        again()
        if "fwd" in names:
            _, found = api.jvp(fn, copy.deepcopy(args), direction)
            if [part.shape for part in _leaves(found)] != [part.shape for part in _leaves(value)]:
                raise AssertionError(
                    "forward mode: derivatives do not have the shapes of the results"
                )
            what.append(("forward mode", _flat(found, kinds)))
        if pull is not None:
            what.append(("reverse mode", np.array([_dot(_leaves(pull), _leaves(direction))])))

        def line(t: Any, direction: Any = direction) -> Any:
            again()
            results = _flat(fn(*_moved(args, direction, t)), kinds)
            total = (results @ _flat(_conjugate(weights), kinds))[None]
            parts = {"fwd": results, "rev": total}
            return np.concatenate([part for mode, part in parts.items() if mode in names])

        checks.add(name, what, line, step, size)
    checks.report()
    if order == 2:
        moving = tuple([k for k, arg in enumerate(args) if _leaves(arg)])
        gradient = api.grad(fn, moving)
        kinds = [leaf.dtype.kind for leaf in _leaves(args)]
        for name, direction, size in directions:
            again()
            products = _flat(api.hvp(fn, copy.deepcopy(args), direction), kinds)

            def slopes(t: Any, direction: Any = direction) -> Any:
                again()
                return _flat(gradient(*_moved(args, direction, t)), kinds)

            checks.add(name, [("second order", products)], slopes, step, size)
        checks.report()
    again()


def _pulled(fn: Callable[..., Any], args: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    """Return the cotangents of arguments."""
    try:
        return api.vjp(fn, *copy.deepcopy(args))[1](weights)
    except GlobalStateError:
        # `adc.grad` does what the function changes outside, as assigning a global variable.
        if not isinstance(weights, float):
            raise
    moving = tuple([k for k, arg in enumerate(args) if _leaves(arg)])
    found = iter(api.grad(fn, moving)(*copy.deepcopy(args)))
    made = [next(found) if k in moving else None for k in range(len(args))]
    return tuple([_map(lambda leaf: leaf * weights, each) for each in made])


def _on_ranks(
    fn: Callable[..., Any], args: tuple[Any, ...], order: int, names: Sequence[str],
    step: float | None, rtol: float | None, seed: int, ranks: Ranks,
) -> None:  # fmt: skip
    """Do the same for a function that communicates."""
    rng = np.random.default_rng([seed, ranks.rank])
    value = fn(*copy.deepcopy(args))
    value = np.nan if value is None else value  # that of `comm.reduce` on most ranks
    kinds = [leaf.dtype.kind for leaf in _leaves(value)]
    single = ranks.any(leaf.dtype in _SINGLE for leaf in (*_leaves(args), *_leaves(value)))
    weights = _random(value, rng)
    if np.ndim(value) == 0 and ranks.rank:
        weights = _map(lambda leaf: leaf * 0.0, weights)  # a loss is one number, that of rank 0
    flat = _flat(_conjugate(weights), kinds)
    checks = _Checks(
        rtol or (1e-3 if single else 1e-6), float(np.finfo("f4" if single else "f8").eps)
    )
    pull = api.vjp(fn, *copy.deepcopy(args))[1](weights) if "rev" in names else None
    moving = tuple([k for k, arg in enumerate(args) if _leaves(arg)])
    for name, mine in ranks.directions():
        _, direction, _ = next(_directions(args, rng, step))
        if not mine:
            direction = _map(lambda leaf: leaf * 0.0, direction)
        what: list[tuple[str, Vector]] = []
        if "fwd" in names:
            _, dot = api.jvp(fn, copy.deepcopy(args), direction)
            what.append(("forward mode", ranks.weighted(flat, _flat(dot, kinds)[: len(flat)])))
        if pull is not None:
            part = np.ones(1), np.array([_dot(_leaves(pull), _leaves(direction))])
            what.append(("reverse mode", ranks.weighted(*part)))

        def line(t: Any, direction: Any = direction, count: int = len(what)) -> Any:
            there = fn(*_moved(args, direction, t))
            found = ranks.weighted(flat, flat if there is None else _flat(there, kinds))
            return np.concatenate([found] * count)

        checks.add(name, what, ranks.real(line), step, 1.0)
        if order == 2:
            product = api.hvp(fn, copy.deepcopy(args), direction)
            own = [leaf.dtype.kind for leaf in _leaves(args)]
            some = rng.standard_normal(len(_flat(product, own)))

            def slopes(t: Any, direction: Any = direction, some: Any = some, own: Any = own) -> Any:
                slope = api.grad(fn, moving)(*_moved(args, direction, t))
                return ranks.weighted(some, _flat(slope, own))

            along = [("second order", ranks.weighted(some, _flat(product, own)))]
            checks.add(name, along, ranks.real(slopes), step, 1.0)
    checks.report()


_SINGLE = (np.float32, np.complex64)
# How many floats are moved alone.
_ALONE = 8


class _Checks:
    """The derivatives of one kind that were compared, and those that could not be decided."""

    def __init__(self, rtol: float, epsilon: float) -> None:
        self.rtol, self.epsilon = rtol, epsilon
        self._decided: dict[str, int] = {}
        self._reasons: dict[str, str] = {}

    def add(
        self,
        along: str,
        what: list[tuple[str, Vector]],
        line: Any,
        step: float | None,
        size: float,
    ) -> None:
        """Compare derivatives of `line`, in units of `size`; raise where one differs."""
        found = np.concatenate([part for _, part in what])
        modes = [(mode, k) for mode, part in what for k in range(len(part))]
        if not len(found):
            return
        compared = differences.compare(
            line, found, start=1.0 if step else 0.25, tolerance=self.rtol, epsilon=self.epsilon
        )
        for (mode, k), each in zip(modes, compared, strict=True):
            self._decided.setdefault(mode, 0)
            if each.outcome is differences.Outcome.UNDECIDED:
                self._reasons.setdefault(mode, f"{each.reason}, along {along}")
                continue
            self._decided[mode] += 1
            if each.outcome is differences.Outcome.DIFFERS:
                own, other, error = (x / size for x in (each.found, each.expected, each.error))
                raise AssertionError(
                    f"{mode}: result {k} has the derivative {own:.10g} along {along}, by "
                    f"differences {other:.10g} within {error:.1g}"
                )

    def report(self) -> None:
        """Raise if no derivative of some kind could be decided."""
        for mode, count in self._decided.items():
            if not count:
                raise AssertionError(
                    f"{mode}: finite differences cannot decide any derivative here: "
                    f"{self._reasons[mode]}; check it at other arguments"
                )


def _directions(
    args: tuple[Any, ...], rng: np.random.Generator, step: float | None
) -> Iterator[tuple[str, Any, float]]:
    """Yield directions and their sizes; they have None for arguments without floats."""

    def like(found: Iterator[Any]) -> Any:
        return tuple(
            [
                _map(lambda leaf: _as(leaf, next(found)), arg) if _leaves(arg) else None
                for arg in args
            ]
        )

    leaves = _leaves(args)
    sizes = [np.abs(leaf) if leaf.dtype.kind == "c" else leaf for leaf in leaves]
    scales = [np.full(leaf.shape, step) if step else differences.scales(leaf) for leaf in sizes]
    # Eighths, so that moved numbers are not rounded.
    eighths = [_eighths(leaf, rng) for leaf in leaves]
    moved = [size * part / 8.0 for size, part in zip(scales, eighths, strict=True)]
    yield "a random direction", like(iter(moved)), 1.0
    places = [(k, index) for k, leaf in enumerate(leaves) for index in np.ndindex(leaf.shape)]
    if len(places) > _ALONE:
        places = [places[k] for k in sorted(rng.choice(len(places), _ALONE, replace=False))]
    for k, index in places if sum(leaf.size for leaf in leaves) > 1 else []:
        units = {"": 1.0} if leaves[k].dtype.kind == "f" else {"real ": 1.0, "imaginary ": 1j}
        for part, unit in units.items():
            alone = [np.zeros(leaf.shape, leaf.dtype) for leaf in leaves]
            alone[k][index] = scales[k][index] * unit
            where = f"{part}element {list(index)} of " if index else part
            yield f"{where}float argument {k}", like(iter(alone)), float(scales[k][index])


def _eighths(leaf: np.ndarray[Any, Any], rng: np.random.Generator) -> Any:
    """Return random numbers of eighths, complex ones for complex numbers."""
    found = rng.integers(3, 9, leaf.shape) * rng.choice([-1, 1], leaf.shape)
    return found if leaf.dtype.kind == "f" else found + 1j * found[::-1] if leaf.ndim else (
        found + 3j
    )  # fmt: skip


def _map(fn: Callable[[Any], Any], value: Any) -> Any:
    """Return `value` with `fn` applied to its floats and arrays of floats."""
    if isinstance(value, complex | np.complexfloating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "c"
    ):
        return fn(value)  # by a complex step
    ty = trees.type_of(value)
    if ty is not None:
        return fn(value) if ty.kind == "f" else value
    parts = trees.parts_of(value)
    if parts is None:
        return value
    keys, items = parts
    made = [_map(fn, item) for item in items]
    return tuple(made) if type(value) is tuple else unflatten.build(type(value), keys, made)


def _leaves(value: Any) -> Leaves:
    found: Leaves = []
    _map(lambda leaf: found.append(np.asarray(leaf)), value)
    return found


def _flat(value: Any, kinds: Sequence[str]) -> Any:
    """Return all floats in `value` as one vector, of float64; by a complex step, complex numbers.

    What is of the kind "c" has complex numbers by itself, of which this has both parts.
    """
    leaves = [
        leaf.ravel() if kind != "c" else np.concatenate([leaf.real.ravel(), leaf.imag.ravel()])
        for leaf, kind in zip(_leaves(value), kinds, strict=True)
    ]
    kind = np.result_type(np.float64, *leaves)
    return np.concatenate([np.zeros(0, kind), *leaves])


def _as(leaf: Any, numbers: Any) -> Any:
    """Return numbers in the dtype of a float or array, complex ones as they are."""
    kind = np.asarray(leaf).dtype
    found = np.asarray(numbers)
    found = found if found.dtype.kind == "c" and kind.kind != "c" else found.astype(kind)
    if type(leaf) in (float, complex):
        return found.item()
    return found if np.ndim(leaf) else found[()]


def _random(value: Any, rng: np.random.Generator) -> Any:
    """Return something like `value` with random numbers in place of its floats."""

    def drawn(leaf: Any) -> Any:
        found = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            found = found + 1j * rng.standard_normal(np.shape(leaf))
        return _as(leaf, found)

    return _map(drawn, value)


def _conjugate(value: Any) -> Any:
    """Return `value` with conjugates of its numbers: so cotangents are paired with results."""
    return _map(lambda leaf: _as(leaf, np.conj(leaf)), value)


def _moved(args: tuple[Any, ...], direction: Any, t: Any) -> Any:
    parts: Iterator[Any] = iter(_leaves(direction))

    def moved(leaf: Any) -> Any:
        found = np.asarray(leaf)
        if found.dtype.kind == "c" and isinstance(t, complex):
            raise TypeError("no complex step of a complex number")
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        return _as(leaf, found.astype(wide) + t * next(parts).astype(wide))

    return _map(moved, copy.deepcopy(args))


def _dot(a: Leaves, b: Leaves) -> float:
    pairs = zip(a, b, strict=True)
    return float(sum(np.sum(x.astype(np.complex128) * y).real for x, y in pairs))


__all__ = ["check_grads"]
