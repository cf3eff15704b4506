"""What a function has captured, for the derivatives of solvers (`adc.library.scipy.captures`)."""

from __future__ import annotations

import ast

from adc.frontend.core import closures
from adc.frontend.core.bindings import ArrayRef, Binding, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import leaves, rebuild
from adc.frontend.numpy import library
from adc.frontend.transforms.outline import leaf_key
from adc.frontend.values import structures
from adc.ir.core import Literal
from adc.ir.types import Type
from adc.library.scipy import captures


def _captured(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    return TupleOf(tuple(_floats(lo, closures.closed(lo, args[0], node, ()), node)))


def _floats(lo: Lowerer, fn: Binding, node: ast.Call) -> list[Num | ArrayRef]:
    """Return the floats that a function has captured, also in lists, dicts and objects."""
    parts = (fn, *closures.reachable(lo, [fn]).values())
    found = [leaf for part in parts for leaf in leaves(part)]
    if any(_type(leaf).kind == "c" for leaf in found):
        raise lo.unsupported(
            "a function that reads complex numbers, and that a solver calls,", node,
            "pass the real and the imaginary part",
        )  # fmt: skip
    return list({leaf_key(leaf): leaf for leaf in found if _is_float(leaf)}.values())


def _with_captured(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    fn = closures.closed(lo, args[0], node, ())
    values = args[1]
    assert isinstance(values, TupleOf)
    new: dict[int, Num | ArrayRef] = {}
    for leaf, value in zip(_floats(lo, fn, node), values.items, strict=True):
        assert isinstance(value, Num | ArrayRef)
        new[leaf_key(leaf)] = value
    held = {slot: (ref, lo.held(ref)) for slot, ref in closures.references(lo, [fn]).items()}
    copies = {slot: structures.new_ref(lo, ref, part) for slot, (ref, part) in held.items()}

    def replaced(binding: Binding) -> Binding:
        given = iter([new.get(leaf_key(leaf), leaf) for leaf in leaves(binding)])
        return rebuild(binding, given, lambda ref: copies[ref.slot])

    for slot, (_, part) in held.items():
        lo.hold(copies[slot], replaced(part))
    return replaced(fn)


def _type(leaf: Num | ArrayRef) -> Type:
    return leaf.object.type if isinstance(leaf, ArrayRef) else leaf.operand.type


def _is_float(leaf: Num | ArrayRef) -> bool:
    literal = isinstance(leaf, Num) and isinstance(leaf.operand, Literal)
    return _type(leaf).kind == "f" and not literal


def _moves(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    return lo.num(structures.has_floats(lo, args[0]))


def _floats_in(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    return TupleOf(tuple(structures.floats(args[0], lo.held)))


library.enter(
    {
        captures.captured: _captured,
        captures.floats_in: _floats_in,
        captures.moves: _moves,
        captures.with_captured: _with_captured,
    }
)
