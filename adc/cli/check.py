"""``adc check``: compare the gradient with finite differences of the function."""

from __future__ import annotations

import argparse
import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.api.derivative import Derivative, applied, differentiated
from adc.cli import output, target
from adc.frontend.inputs import complexes, flatten, trees, unflatten
from adc.ir.errors import ArgumentError
from adc.ir.types import Array, Scalar
from adc.library.transforms import KEYWORDS
from adc.testing import differences
from adc.testing.differences import Outcome

Vector = np.ndarray[Any, np.dtype[np.float64]]

_DIRECTIONS = 4
# The most numbers that are checked one by one; of more, a sample.
_MOST_COORDINATES = 16
# The longest name of a number that is shown whole.
_LONGEST = 20


@dataclass(frozen=True)
class Row:
    """One direction: the derivative along it, by adc and by finite differences."""

    name: str
    found: float
    expected: float
    error: float
    outcome: Outcome
    reason: str = ""

    def cells(self) -> tuple[str, ...]:
        known = np.isfinite(self.expected)
        said = self.outcome.value + (f": {self.reason}" if self.reason else "")
        return (
            self.name if len(self.name) <= _LONGEST else f"…{self.name[1 - _LONGEST :]}",
            f"{self.found:.10g}",
            f"{self.expected:.10g}" if known else "",
            f"{self.error:.0e}" if known else "",
            f"{abs(self.found - self.expected):.1e}" if known else "",
            said,
        )


_COLOURS = {Outcome.AGREES: "", Outcome.DIFFERS: "red", Outcome.UNDECIDED: "yellow"}


def check(args: argparse.Namespace) -> int:
    wanted = target.find(args)
    rows, results = compare(wanted.derivative, wanted.args, args.tolerance, args.step, args.seed)
    output.show(
        ("direction", "adc", "differences", "uncertain", "error", ""),
        [row.cells() for row in rows],
        [_COLOURS[row.outcome] for row in rows],
        flexible=(0, -1),
    )
    if not rows:
        print("nothing to compare: the arguments contain no number")
        return 0
    if results != 1:
        print(f"for a random linear combination of {results} results:")
    counts = {outcome: sum(row.outcome is outcome for row in rows) for outcome in Outcome}
    wrong, undecided = counts[Outcome.DIFFERS], counts[Outcome.UNDECIDED]
    if wrong:
        print(f"{wrong} of {len(rows)} derivatives differ")
    elif undecided:
        print(
            f"{undecided} of {len(rows)} derivatives cannot be decided by finite differences here,"
        )
        print(f"{counts[Outcome.AGREES]} agree: try other arguments")
    else:
        print(f"all {len(rows)} derivatives agree")
    return 1 if wrong else 3 if undecided else 0


def compare(
    derivative: Derivative,
    args: Sequence[Any],
    tolerance: float | None = None,
    step: float | None = None,
    seed: int = 0,
) -> tuple[list[Row], int]:
    """Compare a derivative with differences (`adc.testing.differences`).

    Of several results a random combination is compared. Their number is returned, too.

    Parameters
    ----------
    derivative : Derivative
        What `grad`, `value_and_grad`, `jacrev`, `jacfwd` or `hessian` made.
    args : sequence
        Where; they are not changed.
    tolerance : float, optional
        The relative error allowed.
    step : float, optional
        The largest of the differences; by default a quarter of each number.
    seed : int
        Of the random directions.
    """
    state = np.random.get_state(legacy=False)
    found = derivative(*copy.deepcopy(tuple(args)))  # it complains of arguments that are wrong
    function, argnums = _function(derivative)
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    args, names, given = _with_defaults(derivative.__wrapped__, args)
    numbers = tuple([
        given + number - KEYWORDS if number >= KEYWORDS else number % given for number in numbers
    ])  # fmt: skip
    slots = [slot for number in numbers for slot in _slots(args[number], number, names[number])]
    start = _flat(slots)

    def results(point: Vector) -> Any:
        np.random.set_state(state)  # functions of `np.random` draw the same numbers again
        moved = list(copy.deepcopy(tuple(args)))
        parts = iter(np.split(point, np.cumsum([each.size for each in slots])[:-1]))
        for number in numbers:
            flat = iter([next(parts) for each in slots if each.number == number])
            moved[number] = _filled(moved[number], flat)
        return function(*moved[:given], **dict(zip(names[given:], moved[given:], strict=True)))

    value = _slots(results(start), 0, "")
    of_complex = any(trees.has_complex(trees.tree_of(args[number], True)) for number in numbers)
    if of_complex and trees.has_complex(trees.tree_of(results(start), True)):
        raise ArgumentError(
            "the Jacobian of complex results by complex arguments cannot be checked", None,
            "check the gradients of its real and imaginary part",
        )  # fmt: skip
    rng = np.random.default_rng(seed)
    size = _flat(value).size
    if not size:
        raise ArgumentError(
            "the result has no floats at these arguments: there is nothing to compare", None,
            "check the derivative at other arguments",
        )  # fmt: skip
    weights = np.ones(1) if size == 1 else rng.standard_normal(size)
    # A gradient has ∂f/∂x - i ∂f/∂y where the argument has x + iy.
    sign = -1.0 if of_complex else 1.0
    derivatives = _flat(_slots(_derivatives(derivative, found), 0, "", sign))
    gradient = weights @ _matrix(derivatives, [each.size for each in value], slots)
    single = any(slot.single for slot in (*slots, *value))
    tolerance = (1e-3 if single else 1e-6) if tolerance is None else tolerance
    epsilon = float(np.finfo(np.float32 if single else np.float64).eps)
    rows: list[Row] = []
    for name, direction, unit in _directions(slots, rng, step):

        def line(t: Any, direction: Vector = direction) -> Any:
            moved = results(start + t * direction)
            flat = _complex(moved) if isinstance(t, complex) else _flat(_slots(moved, 0, ""))
            return np.atleast_1d(weights @ flat)

        (row,) = differences.compare(
            line, np.array([gradient @ direction]), start=1.0 if step else 0.25,
            tolerance=tolerance, epsilon=epsilon,
        )  # fmt: skip
        rows.append(
            Row(
                name, row.found / unit, row.expected / unit, row.error / unit, row.outcome,
                row.reason,
            )
        )  # fmt: skip
    return rows, size


def _complex(value: Any) -> np.ndarray[Any, Any]:
    """Return the numbers in a result that are complex, by a complex step, or floats, in order."""
    if isinstance(value, dict | list | tuple):
        items = value.values() if isinstance(value, dict) else value
        return np.concatenate([np.zeros(0), *(_complex(item) for item in items)])
    found = np.asarray(value)
    return found.ravel() if found.dtype.kind in "fc" else np.zeros(0)


def _function(derivative: Derivative) -> tuple[Callable[..., Any], int | tuple[int, ...]]:
    """Return the function that was differentiated last, and the positions of its arguments."""
    *before, last = derivative._applied
    function = applied(
        derivative.__wrapped__, (*before, *differentiated(last)), derivative._options
    )
    if last.has_aux:
        return (lambda *args, **keywords: function(*args, **keywords)[0]), last.argnums
    return function, last.argnums


def _derivatives(derivative: Derivative, found: Any) -> Any:
    """Return the derivatives among what a call returned."""
    level = derivative._applied[-1]
    if level.with_value:
        return found[1]
    return found[0] if level.has_aux else found


def _matrix(derivatives: Vector, results: Sequence[int], slots: Sequence[_Slot]) -> Vector:
    """Return the Jacobian: its blocks, result by result and argument by argument, are given."""
    rows: list[Vector] = []
    for count in results:
        sizes = [count * slot.size for slot in slots]
        blocks = np.split(derivatives[: sum(sizes)], np.cumsum(sizes)[:-1])
        rows.append(np.hstack([block.reshape(count, -1) for block in blocks]))
        derivatives = derivatives[sum(sizes) :]
    return np.vstack(rows)


def _with_defaults(
    fn: Callable[..., Any], args: Sequence[Any]
) -> tuple[tuple[Any, ...], list[str], int]:
    """Return all arguments, their names, and how many of them are given by position.

    First those that `argnums` counts, then those that are given by name alone.
    """
    bound = inspect.signature(fn).bind(*args)
    bound.apply_defaults()
    names: list[str] = []
    for name, param in bound.signature.parameters.items():
        if param.kind is param.VAR_POSITIONAL:
            names += [f"{name}[{k}]" for k in range(len(bound.arguments[name]))]
        elif param.kind is not param.VAR_KEYWORD:
            names.append(name)
    by_name = [bound.kwargs[name] for name in names[len(bound.args) :]]
    return (*bound.args, *by_name), names, len(bound.args)


def _directions(
    slots: Sequence[_Slot], rng: np.random.Generator, step: float | None
) -> Iterator[tuple[str, Vector, float]]:
    """Yield directions with their names, and their lengths as displayed."""
    names = [name for slot in slots for name in slot.names()]
    count = len(names)
    scales = np.full(count, step) if step else _flat_scales(slots)
    for k in range(_DIRECTIONS if count > 1 else 0):
        # Eighths, so that moved numbers are not rounded.
        yield (
            f"random {k + 1}",
            scales * rng.integers(3, 9, count) * rng.choice((-1, 1), count) / 8,
            1.0,
        )
    alone: Sequence[int] = range(count)
    if count > _MOST_COORDINATES:
        alone = sorted(rng.choice(count, _MOST_COORDINATES // 2, replace=False))
    for k in alone:
        direction = np.zeros(count)
        direction[k] = scales[k]
        yield names[k], direction, float(scales[k])


def _flat_scales(slots: Sequence[_Slot]) -> Vector:
    return np.concatenate([np.zeros(0), *(differences.scales(s.value).ravel() for s in slots)])


# -- the numbers in an argument --------------------------------------------------------------------


@dataclass(frozen=True)
class _Slot:
    """A float or an array of floats in an argument."""

    number: int
    name: str
    value: Vector
    single: bool

    @property
    def size(self) -> int:
        return self.value.size

    def names(self) -> list[str]:
        if not self.value.ndim:
            return [self.name]
        return [f"{self.name}{list(index)}" for index in np.ndindex(self.value.shape)]


def _flat(slots: Sequence[_Slot]) -> Vector:
    return np.concatenate([np.zeros(0), *(slot.value.ravel() for slot in slots)])


def _slots(value: Any, number: int, name: str, sign: float = 1.0) -> list[_Slot]:
    """Return the floats in an object; imaginary parts have a `sign`."""
    tree = trees.tree_of(value, whole=True)
    leaves = list(zip(trees.leaf_types(tree), flatten.leaves(value, tree), strict=True))
    signs = [sign if imaginary else 1.0 for imaginary in trees.imaginary(tree)]
    floats = [
        (ty, factor * np.asarray(leaf))
        for (ty, leaf), factor in zip(leaves, signs, strict=True)
        if ty.kind == "f"
    ]
    return [
        _Slot(
            number,
            name if len(floats) == 1 else f"{name}.{k}",
            np.asarray(leaf, np.float64),
            ty.dtype == "f32",
        )
        for k, (ty, leaf) in enumerate(floats)
    ]


def _filled(value: Any, flat: Iterator[Vector]) -> Any:
    """Return an argument with its floats replaced by those of `flat`, in order."""
    tree = trees.tree_of(value, whole=True)
    return _build(tree, iter(flatten.leaves(value, tree)), flat)


def _build(tree: Any, old: Iterator[Any], flat: Iterator[Vector]) -> Any:
    if isinstance(tree, trees.Complex):
        return complexes.joined(*(_build(part, old, flat) for part in tree.parts))
    if isinstance(tree, Scalar | Array | trees.Numbers):
        leaf = next(old)
        ty = tree.array if isinstance(tree, trees.Numbers) else tree
        if ty.kind == "f":
            numbers = next(flat)
            if isinstance(ty, Scalar):
                leaf = numbers[0] if numbers.dtype.kind == "c" else unflatten.number(ty)(numbers[0])
            elif numbers.dtype.kind == "c":
                leaf = numbers.reshape(leaf.shape)
            else:
                leaf[...] = numbers.reshape(leaf.shape)
        return leaf.tolist() if isinstance(tree, trees.Numbers) else leaf
    if not trees.is_container(tree):
        return tree
    items = tuple([_build(item, old, flat) for item in trees.contents(tree)])
    return items if isinstance(tree, tuple) else unflatten.build(tree.cls, tree.keys, items)
