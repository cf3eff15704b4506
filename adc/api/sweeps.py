"""Jacobians, several directions at a time, and the function that pulls cotangents back.

One run of compiled code computes several columns of a Jacobian (forward mode) or rows (reverse
mode): the last axis of tangents, cotangents and their results is the direction
(`passes.ad.directions`). If that is not possible, a run computes one column or row. All runs draw
the same random numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.compiler import transfers
from adc.compiler.compiled import Compiled, restore
from adc.compiler.dispatch import Code
from adc.compiler.results import first_of_pair
from adc.frontend.core.bindings import Binding
from adc.frontend.inputs import complexes, flatten
from adc.frontend.inputs.places import Arguments
from adc.frontend.transforms import results
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.core import Operand, derivative_type
from adc.ir.errors import ArgumentError
from adc.ir.types import Array, Scalar
from adc.library.transforms import Level
from adc.tracebacks import shortened

Leaf = np.ndarray[Any, Any]
Found = tuple[Compiled, list[Any]]
# Bytes of directions that are kept for the next call.
_MOST_KEPT = 2**25


# -- the numbers and arrays of a call --------------------------------------------------------------


def _floats(operands: Sequence[Operand]) -> list[int]:
    return [k for k, operand in enumerate(operands) if operand.type.kind == "f"]


def _differentiable(operands: Sequence[Operand]) -> list[Operand]:
    return [operands[k] for k in _floats(operands)]


def _of_last(compiled: Compiled) -> tuple[int, ...]:
    """Return the arguments of the outermost gradient."""
    argnums = compiled.levels[-1].argnums
    return (argnums,) if isinstance(argnums, int) else argnums


def _inputs(compiled: Compiled, argnums: Sequence[int], values: tuple[Any, ...]) -> list[Any]:
    """Return the floats with respect to which the function is differentiated."""
    leaves = compiled.signature.leaves(values)
    return [leaves[k] for k in compiled.signature.positions(argnums)]


def _found(leaf: Any) -> Leaf:
    """Return a result on the host."""
    return transfers.to_host(leaf) if foreign.is_foreign(leaf) else np.asarray(leaf)


class Units:
    """Directions along each of so many elements."""

    def __init__(self, count: int) -> None:
        self.count = count

    def whole(self, size: int, width: int, dtype: np.dtype[Any]) -> Leaf:
        """Return a matrix of zeros, whose columns get some of the directions at a time."""
        return np.zeros((size, width), dtype)

    def put(self, whole: Leaf, start: int, stop: int, *, clear: bool = False) -> None:
        """Write some directions to the columns of a matrix of zeros, or clear them."""
        width = whole.shape[1]
        some = slice(start * width, None, width + 1)
        whole.reshape(-1)[some][: stop - start] = 0.0 if clear else 1.0


class Columns:
    """Directions that are the columns of a sparse matrix, with a row for each element.

    Parameters
    ----------
    starts : array of int, shape (directions + 1,)
        Where the entries of each direction start, and the last one's end.
    elements, values : array
        The entries.
    """

    def __init__(self, starts: Leaf, elements: Leaf, values: Leaf) -> None:
        self.count = len(starts) - 1
        self._starts, self._elements, self._values = starts, elements, values
        # All directions, where they are taken at once and are not large.
        self._kept: Leaf | None = None

    def whole(self, size: int, width: int, dtype: np.dtype[Any]) -> Leaf:
        if self.count > width or size * width * dtype.itemsize > _MOST_KEPT:
            return np.zeros((size, width), dtype)
        kept = self._kept
        if kept is None or kept.shape != (size, width) or kept.dtype != dtype:
            kept = np.zeros((size, width), dtype)
            self.put(kept, 0, self.count)
            self._kept = kept
        return kept

    def put(self, whole: Leaf, start: int, stop: int, *, clear: bool = False) -> None:
        if whole is self._kept:
            return
        some = slice(*self._starts[[start, stop]])
        which = np.repeat(np.arange(stop - start), np.diff(self._starts[start : stop + 1]))
        whole[self._elements[some], which] = 0.0 if clear else self._values[some]

    def joined(self, vector: Leaf) -> Columns:
        """Return these directions and one more, which is not sparse."""
        size = len(vector)
        return Columns(
            np.append(self._starts, self._starts[-1] + size),
            np.append(self._elements, np.arange(size)),
            np.append(self._values, vector),
        )


Seeds = Units | Columns


def _runs(
    like: Sequence[Leaf], width: int | None, seeds: Seeds, others: Sequence[Leaf] = ()
) -> Iterator[tuple[slice, list[Any]]]:
    """Yield some directions at a time, as arrays like the leaves.

    Their last axis goes through `width` directions, with zeros at the end; without it, None, there
    is one direction at a time. Zeros like `others` follow.
    """
    last = () if width is None else (width,)
    dtypes = {leaf.dtype for leaf in like}
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.float64)
    whole = seeds.whole(_total(like), width or 1, dtype)
    rest = [np.zeros(leaf.shape + last, leaf.dtype) for leaf in others]
    shaped: list[Leaf] = []
    first = 0
    for leaf in like:
        shaped.append(whole[first : first + leaf.size].reshape(leaf.shape + last))
        first += leaf.size

    def units() -> list[Any]:
        given = shaped
        if dtypes:  # several
            given = [each.astype(leaf.dtype) for each, leaf in zip(shaped, like, strict=True)]
        return [_argument(each) for each in (*given, *rest)]

    if not seeds.count:  # the shapes of the results count
        yield slice(0, 0), units()
    for start in range(0, seeds.count, width or 1):
        stop = min(start + (width or 1), seeds.count)
        seeds.put(whole, start, stop)
        yield slice(start, stop), units()
        if stop < seeds.count:
            seeds.put(whole, start, stop, clear=True)


def _total(leaves: Sequence[Leaf]) -> int:
    return sum([leaf.size for leaf in leaves])


def _as(found: Leaf, dtype: Any) -> Leaf:
    """Return derivatives in a dtype; too large ones are infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return found.astype(dtype, copy=False)


def _along(found: Leaf, rank: int) -> Leaf:
    """Return an array with a last axis of directions, adding the axis if it has none."""
    return found if found.ndim > rank else found[..., np.newaxis]


def _width(compiled: Compiled, like: Sequence[Any]) -> int | None:
    """Return the number of directions of code, or None if it has no axis of directions.

    `like` has the primal values of its last parameters.
    """
    name, counts = compiled.steps[-1]
    if name != "directions" or not like:
        return None
    rank = compiled.entry.kernel.emitted.params[-1].rank
    return counts[0] if rank > np.ndim(like[-1]) else None


def _argument(leaf: Leaf) -> Any:
    return leaf[()] if leaf.ndim == 0 else leaf


def _parted(whole: Leaf, axis: int, like: Sequence[Leaf]) -> list[Leaf]:
    """Split an axis that runs through the elements of leaves into one part per leaf."""
    if len(like) == 1:
        return [whole.reshape(whole.shape[:axis] + like[0].shape + whole.shape[axis + 1 :])]
    parts: list[Leaf] = []
    first = 0
    for leaf in like:
        index = (*(slice(None),) * axis, slice(first, first + leaf.size))
        shape = whole.shape[:axis] + leaf.shape + whole.shape[axis + 1 :]
        parts.append(np.ascontiguousarray(whole[index]).reshape(shape))
        first += leaf.size
    return parts


# -- what a user gets ------------------------------------------------------------------------------


def _like_arguments(
    compiled: Compiled, argnums: int | tuple[int, ...]
) -> Callable[[Sequence[Any]], Any]:
    return compiled.signature.arranged(argnums, converted=False)


def primary(compiled: Compiled, has_aux: bool) -> tuple[Binding, Sequence[Operand]]:
    """Return the result that is differentiated, and the numbers and arrays in it.

    With `has_aux` that is the first of a pair.
    """
    lowered = compiled.lowered
    if not has_aux:
        return lowered.result, lowered.fn.results
    first = first_of_pair(compiled.signature.fn, lowered)
    count = len(list(results.leaves_of(first, lowered.heap)))
    return first, lowered.fn.results[:count]


def _auxiliary(compiled: Compiled, flat: Sequence[Any]) -> Any:
    return compiled.arranged(flat)[1]


def _like_results(
    compiled: Compiled, rows: Sequence[Sequence[Leaf]], has_aux: bool,
    arrange: Callable[[Sequence[Leaf]], Any],
) -> Any:  # fmt: skip
    """Arrange the derivatives of each float result, which `arrange` arranges, like the results."""
    result, operands = primary(compiled, has_aux)
    heap = compiled.lowered.heap
    rows, blocks = list(rows), [None] * len(rows)
    order = {k: j for j, k in enumerate(_floats(operands))}
    joined = [order[k] for k in results.pairs(result, heap)]
    for k in joined:
        # Of a complex result, the next row is that of its imaginary part.
        rows[k] = [re + 1j * im for re, im in zip(rows[k], rows[k + 1], strict=True)]
    for k, row in enumerate(rows):
        if k - 1 not in joined:
            blocks[k] = arrange(row)
    found = iter(blocks)
    flat = [next(found) if operand.type.kind == "f" else None for operand in operands]
    return results.rebuilt(result, heap, iter(flat))


def _like_input(block: Leaf, leaf: Any) -> Any:
    """Return a Jacobian where the argument is; that of one number by one number as a number."""
    if foreign.is_foreign(leaf):
        return transfers.sent(block, leaf)
    if block.ndim:
        return block
    return block.item() if block.dtype in (np.float64, np.complex128) else block[()]


def _check_complex(compiled: Compiled, level: Level) -> None:
    """Raise unless the arguments are complex where that was said."""
    if level.holomorphic:
        compiled.signature.check_complex(level.argnums)


def _of_gradient(rows: Sequence[Sequence[Leaf]], imaginary: Sequence[bool]) -> list[Any]:
    """Return the derivatives of gradients; one row and None for those of two parts of a number."""
    found: list[Any] = []
    for k, row in enumerate(rows):
        if imaginary[k]:
            found.append(None)
        elif k + 1 < len(rows) and imaginary[k + 1]:
            found.append(list(map(complexes.conjugate, row, rows[k + 1])))
        else:
            found.append(row)
    return found


# -- Jacobians -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Swept:
    """The derivatives of a function along directions, or of what directions weigh.

    Attributes
    ----------
    compiled : Compiled
        The code that has the structure of the results.
    moved : Compiled
        The code that has the structure of what it is differentiated by.
    inputs : list
        The numbers and arrays with respect to which it is differentiated.
    parts : list of array
        In forward mode, derivatives of each float result, with a last axis for directions. In
        reverse mode those by each input, with a first axis for directions.
    rows : list of array
        The float results, in reverse mode.
    flat : sequence
        All that the last run returned.
    """

    compiled: Compiled
    moved: Compiled
    inputs: list[Any]
    parts: list[Leaf]
    rows: list[Leaf]
    flat: Sequence[Any]

    @property
    def value(self) -> Any:
        """What the function returned."""
        return self.compiled.arranged(self.flat)

    @property
    def columns(self) -> list[Leaf]:
        return list(map(foreign.shape_of, self.inputs))


def pushed(
    code: Code, level: Level, values: Arguments, seeds: Callable[[int], Seeds] = Units
) -> Swept:
    """Return derivatives along directions: `seeds` makes them for the number of the inputs."""
    has_aux, chosen = level.has_aux, level.chosen
    compiled, run = code.find_along(values, lambda found: len(found.signature.positions(chosen)))
    _check_complex(compiled, level)
    inputs = _inputs(compiled, chosen, values)
    columns = list(map(foreign.shape_of, inputs))
    along = seeds(_total(columns))
    wholes: list[Leaf] = []
    flat: Sequence[Any] = ()
    states = compiled.states(values)
    for some, unit in _runs(columns, _width(compiled, columns), along):
        restore(states, values)
        flat = run(unit)
        rows = _moved(compiled, flat, values, has_aux)
        wholes = wholes or [np.empty((*row.shape[:-1], along.count), row.dtype) for row in rows]
        for row, whole in zip(rows, wholes, strict=True):
            whole[..., some] = row[..., : some.stop - some.start]
    return Swept(compiled, compiled, inputs, wholes, [], flat)


def forward(code: Code, level: Level, values: Arguments) -> tuple[Swept, Any]:
    """Return the Jacobian of a function, or of a gradient, some columns at a time."""
    swept = pushed(code, level, values)
    columns = swept.columns
    blocks = [_parted(whole, whole.ndim - 1, columns) for whole in swept.parts]
    return swept, by_rows(swept, level, blocks)


def by_rows(swept: Swept, level: Level, blocks: Sequence[Sequence[Any]]) -> Any:
    """Arrange derivatives of each float result by each input."""
    compiled = swept.compiled
    inner = _like_arguments(swept.moved, level.argnums)

    def arrange(row: Sequence[Any]) -> Any:
        return inner(list(map(_like_input, row, swept.inputs)))

    if compiled.levels:
        argnums = compiled.levels[-1].argnums
        rows_ = _of_gradient(blocks, compiled.signature.imaginary(argnums))
        pieces = [None if row is None else arrange(row) for row in rows_]
        return compiled.signature.arranged(argnums, converted=False)(pieces)
    found = _like_results(compiled, blocks, level.has_aux, arrange)
    return (found, _auxiliary(compiled, swept.flat)) if level.has_aux else found


def _moved(
    compiled: Compiled, flat: Sequence[Any], values: tuple[Any, ...], has_aux: bool
) -> list[Leaf]:
    """Return derivatives along directions, the last axis: of gradients, or of a result's floats."""
    if compiled.levels:
        # Value, gradients, and the derivatives of both.
        inputs = _inputs(compiled, _of_last(compiled), values)
        ranks = [np.ndim(each) for each in inputs]
        dtypes = [foreign.shape_of(each).dtype for each in inputs]
        first = len(flat) - len(ranks)
    else:
        floats = [each.type for each in _differentiable(primary(compiled, has_aux)[1])]
        ranks, dtypes = [ty.rank for ty in floats], [ty.numpy for ty in floats]
        first = len(compiled.lowered.fn.results)
    found = map(_found, flat[first : first + len(ranks)])
    return [
        _along(_as(each, dtype), rank)
        for each, rank, dtype in zip(found, ranks, dtypes, strict=True)
    ]


def pulled(
    primal: Code,
    code: Code,
    level: Level,
    values: Arguments,
    seeds: Callable[[int], Seeds] = Units,
) -> Swept:
    """Return derivatives of what directions weigh; `seeds` makes them for so many results."""
    has_aux = level.has_aux
    primal.refresh()  # the arguments were matched to the other code
    evaluated, evaluate = primal.find_along(values, lambda found: 0)
    _check_complex(evaluated, level)
    own = evaluated.lowered.fn.results
    compiled, run = code.find_along(values, lambda found: len(_floats(own)))
    inputs = _inputs(compiled, level.chosen, values)
    columns = list(map(foreign.shape_of, inputs))
    states = evaluated.states(values)
    flat = evaluate(())
    every = [foreign.shape_of(flat[k]) for k in _floats(own)]
    rows = every[: len(_floats(primary(evaluated, has_aux)[1]))]
    along = seeds(_total(rows))
    # Those of 16 bits are rounded once, to the dtype of the results.
    wholes = [
        np.empty((along.count, *column.shape), np.promote_types(column.dtype, np.float32))
        for column in columns
    ]
    for some, unit in _runs(rows, _width(compiled, every), along, every[len(rows) :]):
        restore(states, values)
        found = map(_found, run(unit)[len(own) :])
        for whole, cotangent in zip(wholes, found, strict=True):
            part = _along(cotangent, whole.ndim - 1)
            part = part.transpose(part.ndim - 1, *range(part.ndim - 1))
            whole[some] = part[: some.stop - some.start]
    return Swept(evaluated, compiled, inputs, wholes, rows, flat)


def reverse(primal: Code, code: Code, level: Level, values: Arguments) -> tuple[Swept, Any]:
    """Return the Jacobian of a function, some rows at a time."""
    swept = pulled(primal, code, level, values)
    parts = [_parted(whole, 0, swept.rows) for whole in swept.parts]
    blocks = [
        [_as(part, row.dtype) for part in by_column]
        for row, by_column in zip(swept.rows, zip(*parts, strict=True), strict=True)
    ]
    return swept, by_rows(swept, level, blocks)


# -- linear maps -----------------------------------------------------------------------------------


class _Linear:
    """A linear map at some arguments: these, and random generators, are those at its creation.

    Captured variables are read at every call.
    """

    def __init__(self, primal: Code, values: Arguments) -> None:
        self._primal, hidden = primal.find(values)
        self._states = self._primal.states(values)
        self._flat = self._primal.flat(values, hidden)
        self.value = self._primal.present(self._flat, values)
        self._of = values.fn.__code__
        copied = copy.deepcopy(tuple(values), _copies(self._primal, values))
        self._values = Arguments.of(values.fn, copied)

    def _run(self, code: Code, apply: Callable[[Compiled, list[Any]], Any], again: str) -> Any:
        """Return what is made of code, with the random numbers of the first call."""
        fn = self._values.fn
        if fn.__code__ is not self._of:
            raise ArgumentError(
                f"{name_of(fn)}() has changed since its value was computed",
                span_of(fn), f"call `adc.{again}` again",
            )  # fmt: skip
        compiled, hidden = code.find(self._values)
        present = compiled.states(self._values)
        restore(self._states, self._values)
        try:
            return apply(compiled, hidden)
        finally:
            restore(present, self._values)


class Pushforward(_Linear):
    """Maps tangents of a function's arguments to the tangent of its value."""

    def __init__(
        self, primal: Code, make: Callable[[tuple[int, ...]], Code], primals: tuple[Any, ...]
    ) -> None:
        super().__init__(primal, primal.match(primals, {}))
        self._make, self._given = make, len(primals)
        self._codes: dict[tuple[int, ...], Code] = {}

    @shortened
    def __call__(self, *tangents: Any) -> Any:
        """Return the tangent of the value; a tangent that is None holds its argument fixed."""
        if len(tangents) != self._given:
            raise ArgumentError(
                f"{len(tangents)} tangents, but {self._given} arguments", None,
                "give one for each, or None",
            )  # fmt: skip
        moved = tuple([k for k, tangent in enumerate(tangents) if tangent is not None])
        if not moved:
            raise ArgumentError("no tangent is given", None, "give one for at least one argument")
        code = self._codes.get(moved) or self._codes.setdefault(moved, self._make(moved))

        def apply(compiled: Compiled, hidden: list[Any]) -> Any:
            given = [tangents[k] for k in moved]
            along = compiled.signature.directions(moved, given, self._values)
            return compiled.run(self._values, hidden, along)[1]

        return self._run(code, apply, "linearize")


class Pullback(_Linear):
    """Maps a cotangent of a function's value to cotangents of its arguments."""

    def __init__(
        self,
        primal: Code,
        make: Callable[[tuple[int, ...]], Code],
        values: Arguments,
        given: int,
        has_aux: bool = False,
        moved: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(primal, values)
        self._has_aux = has_aux
        primary(self._primal, has_aux)
        # Arguments that the caller has left to their defaults get no cotangents.
        self._count = min(given, self._primal.signature.count())
        if moved is None:
            moved = tuple(k for k in self._primal.signature.movable() if k < self._count)
        self._moved = moved
        self._code = make(moved)

    @shortened
    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return a cotangent for each argument given, or None for one without floats."""

        def apply(compiled: Compiled, hidden: list[Any]) -> Any:
            return self._pulled(compiled, hidden, cotangent)

        found = self._run(self._code, apply, "vjp")
        by_number = dict(zip(self._moved, found, strict=True))
        return tuple([by_number.get(k) for k in range(self._count)])

    def _pulled(self, compiled: Compiled, hidden: list[Any], cotangent: Any) -> tuple[Any, ...]:
        along = self._code.way.along
        if along is None:
            found = compiled.run(self._values, hidden, self._cotangents(compiled, cotangent))
        else:
            # Second derivatives are symmetric: the cotangent of a gradient is a direction.
            parts = (cotangent,) if len(along) == 1 else cotangent
            moved = compiled.signature.directions(along, parts, self._values)
            _, found = compiled.run(self._values, hidden, moved)
        return tuple(found)

    def _cotangents(self, compiled: Compiled, cotangent: Any) -> list[Any]:
        lowered = compiled.lowered
        result, operands = primary(compiled, self._has_aux)
        leaves = results.flat_like(result, lowered.heap, cotangent)
        found = [
            _cotangent(operand.type, leaf, like)
            for operand, leaf, like in zip(operands, leaves, self._flat, strict=False)
            if _is_moved(operand.type, leaf, like)
        ]
        rest = [self._flat[k] for k in _floats(lowered.fn.results)[len(found) :]]
        return [*found, *(_argument(np.zeros_like(foreign.shape_of(each))) for each in rest)]


def _is_moved(ty: Scalar | Array, leaf: Any, like: Any) -> bool:
    """Whether a leaf is a cotangent, not one of an array of integers; what is kept is checked."""
    if isinstance(leaf, flatten.Same):
        leaf.check(like, "the cotangent")
    return ty.kind == "f"


def _copies(compiled: Compiled, values: tuple[Any, ...]) -> dict[int, Any]:
    """Return copies of the arrays on a GPU among the arguments, by identity; communicators stay."""
    signature = compiled.signature
    pairs = list(zip(values, signature.types, strict=True))
    for capture in compiled.lowered.captures:
        if isinstance(capture.place.root, int):
            pairs.append((capture.place.read(values), capture.tree))
    found = [each for value, tree in pairs for each in flatten.held(value, tree)]
    copies = {id(each): transfers.copied(each) for each in found if foreign.is_foreign(each)}
    communicators = [place.read(values) for place in compiled.lowered.communicators]
    return copies | {id(each): each for each in communicators}


def _cotangent(ty: Scalar | Array, leaf: Any, like: Any) -> Any:
    size, wanted = foreign.sizes_of(leaf), foreign.sizes_of(like)
    if size != wanted:
        raise ArgumentError(f"the cotangent has shape {size}, but the value has shape {wanted}")
    ty = derivative_type(ty)
    if foreign.is_foreign(leaf):
        return foreign.direction(leaf, ty.numpy, "the cotangent")
    found = np.asarray(leaf)
    if found.dtype.kind not in "biuf":
        raise ArgumentError(
            f"the cotangent is a {type(leaf).__name__} whose elements are not real numbers"
        )
    if isinstance(ty, Array):
        return np.array(found, ty.numpy, order="C")
    return ty.numpy.type(found)


__all__ = [
    "Columns",
    "Pullback",
    "Pushforward",
    "Seeds",
    "Swept",
    "by_rows",
    "forward",
    "primary",
    "pulled",
    "pushed",
    "reverse",
]
