"""What calls of functions of the program pass: calls with equal keys can share an IR function."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.frontend.core import closures
from adc.frontend.core.bindings import ArrayObject, ArrayRef, Binding, Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import is_slot, leaves, pieces, shape_of, view_operands
from adc.ir.core import Literal, Operand, Value
from adc.ir.types import Array, Scalar

# A number or array in the arguments of a call: the position of what is passed, a constant, or the
# size of an array that is passed, by position and axis.
Slot = int | Literal | tuple[int, int]


@dataclass(frozen=True)
class Passed:
    """What a call passes: the numbers and arrays in its arguments, each once.

    Attributes
    ----------
    bound : dict
        The bindings of the parameters, and of the lists, dicts and objects that they reach.
    leaves : tuple
        What becomes a parameter of the IR function.
    slots : tuple of Slot
        For each number and array in `bound`, what it is in the function.
    sizes : tuple
        Of each leaf that is an array: its sizes where they are known (a number), or known not to be
        1 (None); empty where nothing is taken over.
    suspects : frozenset
        The positions of pairs of arrays that may be one.
    """

    bound: dict[str, Binding]
    leaves: tuple[Num | ArrayRef, ...]
    slots: tuple[Slot, ...]
    types: tuple[Scalar | Array, ...]
    sizes: tuple[tuple[tuple[int, int | None], ...], ...]
    suspects: frozenset[tuple[int, int]] = frozenset()

    def key(self) -> object:
        """Return what the function depends on: calls with equal keys can share it."""
        order = {name: k for k, name in enumerate(filter(is_slot, self.bound))}
        shapes = tuple(
            (order.get(name, name), _by_order(shape_of(binding), order))
            for name, binding in self.bound.items()
        )
        words = tuple(isinstance(leaf, ArrayRef) and leaf.object.words for leaf in self.leaves)
        zero_d = tuple(
            isinstance(piece, Num) and piece.array
            for binding in self.bound.values()
            for piece in pieces(binding)
        )
        return (self.slots, self.types, self.sizes, self.suspects, words, zero_d, shapes)


def _by_order(shape: object, order: dict[str, int]) -> object:
    """Return a shape with lists, dicts and objects by their order: their names are a call's own."""
    if isinstance(shape, tuple):
        return tuple(_by_order(part, order) for part in shape)
    return order.get(shape, shape) if isinstance(shape, str) else shape


def passed_by(
    lo: Lowerer, bound: dict[str, Binding], node: ast.AST, *, constants: bool = False,
    literals: bool = False,
) -> Passed:  # fmt: skip
    """Return what a call passes; with `constants`, known numbers and sizes are the function's.

    With `literals`, only integers are.
    """
    bound = {name: closures.closed(lo, binding, node, ()) for name, binding in bound.items()}
    while True:
        # Inner functions in objects and lists hold what they read as well.
        found = closures.reachable(lo, bound.values()).items()
        more = {n: closures.closed(lo, held, node, ()) for n, held in found if n not in bound}
        if not more:
            break
        bound |= more
    given, slots = _slots(lo, bound, constants, literals)
    types = tuple(
        leaf.operand.type
        if isinstance(leaf, Num)
        else leaf.object.type
        if constants
        else replace(leaf.object.type, ones=())  # of the array on one path, perhaps
        for leaf in given
    )
    sizes = tuple(
        _known_sizes(lo, leaf.object) if constants and isinstance(leaf, ArrayRef) else ()
        for leaf in given
    )
    arrays = [(k, leaf.object) for k, leaf in enumerate(given) if isinstance(leaf, ArrayRef)]
    suspects = frozenset((i, k) for i, a in arrays for k, b in arrays if i < k and a in b.alias)
    return Passed(bound, tuple(given), tuple(slots), types, sizes, suspects)


def _slots(
    lo: Lowerer, bound: dict[str, Binding], constants: bool, literals: bool
) -> tuple[list[Num | ArrayRef], list[Slot]]:
    """Return what becomes a parameter of the IR function, and what each number and array is."""
    given: list[Num | ArrayRef] = []
    slots: list[Slot] = []
    known: dict[Operand, Slot] = {}
    for piece in (piece for binding in bound.values() for piece in pieces(binding)):
        # Where a view starts is not part of the function: those of equal parts differ in it.
        starts = [start for _, start in view_operands(piece)] if isinstance(piece, ArrayRef) else []
        for leaf, start in zip(leaves(piece), [False, *starts], strict=True):
            if isinstance(leaf, ArrayRef):
                slots.append(_array_slot(lo, leaf, given, known if constants else None))
            elif (
                isinstance(leaf.operand, Literal)
                and not start
                and (constants or (literals and is_integer(leaf)))
            ):
                slots.append(leaf.operand)
            elif constants and leaf.operand in known:
                slots.append(known[leaf.operand])
            else:
                slots.append(len(given))
                if constants and isinstance(leaf.operand, Value):
                    known[leaf.operand] = len(given)
                given.append(leaf)
    return given, slots


def _array_slot(
    lo: Lowerer, leaf: ArrayRef, given: list[Num | ArrayRef], known: dict[Operand, Slot] | None
) -> int:
    for k, other in enumerate(given):
        if isinstance(other, ArrayRef) and other.object is leaf.object:
            return k
    given.append(leaf)
    if known is not None:
        for axis, size in enumerate(lo.dims[leaf.object]):
            if isinstance(size, Value):
                known.setdefault(size, (len(given) - 1, axis))
    return len(given) - 1


def _known_sizes(lo: Lowerer, obj: ArrayObject) -> tuple[tuple[int, int | None], ...]:
    found: list[tuple[int, int | None]] = []
    for axis, size in enumerate(lo.dims[obj]):
        known = lo.sizes.canonical(size)
        if isinstance(known, Literal):
            found.append((axis, int(known.value)))
        elif lo.sizes.is_plural(size):
            found.append((axis, None))
    return tuple(found)


def leaf_of(lo: Lowerer, passed: Sequence[Num | ArrayRef], slot: Slot) -> Num | ArrayRef:
    """Return what a slot is, where these are what is passed."""
    match slot:
        case Literal():
            return Num(slot)
        case int():
            return passed[slot]
        case (position, axis):
            array = passed[position]
            assert isinstance(array, ArrayRef)
            return Num(lo.dims[array.object][axis])


def is_integer(piece: Binding) -> bool:
    if not (isinstance(piece, Num) and isinstance(piece.operand, Literal)):
        return False
    return piece.operand.type.kind in "ib"
