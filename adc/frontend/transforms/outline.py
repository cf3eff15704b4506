"""Code that is lowered as a separate function of the numbers and arrays that it reads.

An inlined call is lowered in place. A function that is differentiated by itself, or has a custom
derivative, becomes an IR function: each captured variable is a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adc.frontend.control import marks
from adc.frontend.control.exits import EXIT, FALLS
from adc.frontend.core import closures, dispatch, outside, parameters
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Maybe,
    Num,
    OneOf,
    TupleOf,
    Unbound,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.core.state import Frame, VariesError
from adc.frontend.core.structure import leaves, rebuild, shape_of
from adc.frontend.inputs.places import Place
from adc.frontend.transforms import results
from adc.frontend.values import elementwise
from adc.ir.builder import integer
from adc.ir.core import Function, Literal, Operand, Stmt, Value
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.functions import users_name
from adc.ir.types import Type
from adc.ir.walk import Names


@dataclass(frozen=True)
class Part:
    """A lowered function, without the parameters for its captured values.

    Attributes
    ----------
    drawn : dict
        The states in which it leaves random generators: by the array that the state is around the
        function, or by the place where it found the generator.
    """

    name: str
    params: tuple[Value, ...]
    captured: dict[Place, tuple[Value, ...]]
    body: tuple[Stmt, ...]
    operands: tuple[Operand, ...]
    result: Binding
    heap: dict[str, Binding]
    drawn: dict[ArrayObject | Place, Operand]


class Outline:
    """The inputs of functions that are lowered separately: all leaves of `inputs`.

    Several functions may be made with the same parameters. What is `chosen` among the inputs is the
    function's own (`structures.detached`): a parameter, also where it is a constant.

    With `may_change` a function may change it: no other code sees that. With `may_draw` functions
    may draw random numbers: the caller makes that seen. A function that stands `apart` may call
    those that are being lowered now: it is no part of them.

    Attributes
    ----------
    operands : list
        What they are called with.
    """

    def __init__(
        self,
        lo: Lowerer,
        inputs: Sequence[Binding],
        chosen: Sequence[Binding],
        node: ast.AST,
        sources: Mapping[ArrayObject, ArrayObject],
        *,
        may_change: bool = True,
        may_draw: bool = False,
        apart: bool = False,
    ) -> None:
        self.lo = lo
        self.node = node
        self._sources = sources
        closed = closures.closed(lo, TupleOf(tuple(inputs)), node, ())
        assert isinstance(closed, TupleOf)
        self.inputs = closed
        self.slots = closures.reachable(lo, [self.inputs])
        bindings = (self.inputs, *self.slots.values())
        self._leaves = [leaf for each in bindings for leaf in leaves(each)]
        held = closures.reachable(lo, chosen)
        variable = {leaf_key(leaf) for each in (*chosen, *held.values()) for leaf in leaves(each)}
        self._own = set(held) if may_change else set()
        self._may_change = may_change
        self._may_draw = may_draw
        self._stack = [] if apart else list(lo.stack)
        # The parameters that a function made here may return, itself or a view.
        self.returned: set[int] = set()
        self._chosen = variable
        self.operands: list[Operand] = []
        self._at: dict[int, int] = {}
        for leaf in self._leaves:
            key = leaf_key(leaf)
            constant = isinstance(leaf, Num) and isinstance(leaf.operand, Literal)
            if key not in self._at and not (constant and key not in variable):
                self._at[key] = len(self.operands)
                self.operands.append(leaf_operand(lo, leaf, node))

    def position(self, leaf: Num | ArrayRef) -> int:
        """Return which parameter a number or array is."""
        return self._at[leaf_key(leaf)]

    def source(self, position: int) -> ArrayObject:
        """Return the array that a parameter was given, or of which it was given a copy."""
        obj = self.array(position)
        return self._sources.get(obj, obj)

    def array(self, position: int) -> ArrayObject:
        """Return the array that a parameter was given, which may be a copy of a view."""
        key = next(key for key, at in self._at.items() if at == position)
        objects = (leaf.object for leaf in self._leaves if isinstance(leaf, ArrayRef))
        return next(obj for obj in objects if id(obj) == key)

    def enter(self) -> tuple[Lowerer, TupleOf, tuple[Value, ...]]:
        """Return a lowerer for one more function, its inputs there, and its parameters."""
        lo = self.lo
        sub = Lowerer(lo.shared)
        sub.stack = list(self._stack)
        sub.inlines = 1
        sub.branches, sub.arms, sub.entered_at = lo.branches, lo.arms, lo.entered_at
        sub.here, sub.builder.loc = lo.here, lo.builder.loc
        params: list[Value] = []
        made: dict[int, Num | ArrayRef] = {}
        self._arrays: dict[ArrayObject, int] = {}
        for leaf in self._leaves:
            key = leaf_key(leaf)
            if key in made:
                continue
            if key not in self._at:
                made[key] = leaf
                continue
            operand = self.operands[self._at[key]]
            hint = leaf.object.name if isinstance(leaf, ArrayRef) else hint_of(operand)
            params.append(Value(sub.builder.names.fresh(hint), operand.type))
            if isinstance(leaf, ArrayRef):
                made[key] = found = parameters.array_param(sub, params[-1], hint)
                found.object.words = leaf.object.words
                self._arrays[found.object] = key
            else:
                made[key] = Num(params[-1])
        fresh = iter([made[leaf_key(leaf)] for leaf in self._leaves])
        inputs = rebuild(self.inputs, fresh)
        assert isinstance(inputs, TupleOf)
        held = {slot: rebuild(binding, fresh) for slot, binding in self.slots.items()}
        sub.lent = set(self.slots) - self._own
        sub.kin = dict(lo.kin)
        for slot in self.slots:
            sub.builder.names.reserve(slot)
        sub.frame = Frame(
            lo.frame.source,
            {**held, EXIT: Num(integer(FALLS))},
            lo.frame.holder,
            path=(*lo.frame.path, ("outline", id(self.node))),
            site=lo.frame.site,
            shared=True,
        )
        return sub, inputs, tuple(params)

    def leave(self, sub: Lowerer, name: str, params: tuple[Value, ...], result: Binding) -> Part:
        """Return the function that was lowered."""
        result = elementwise.materialised(sub, result, self.node)
        if isinstance(result, Unstable | Unbound):
            raise TypeMismatchError(f"the result {result.why}", self.lo.span(self.node))
        result = without_none(sub, result, users_name(name), self.node)
        for each in (result, *closures.reachable(sub, [result]).values()):
            for leaf in leaves(each):
                if isinstance(leaf, ArrayRef):
                    found = {leaf.object, *leaf.object.alias} & set(self._arrays)
                    self.returned |= {self._at[self._arrays[obj]] for obj in found}
        heap: dict[str, Binding] = {}
        result = results.finished(sub, result, heap)
        operands = tuple(leaf_operand(sub, leaf) for leaf in results.leaves_of(result, heap))
        return self.part(sub, name, params, operands, result, heap)

    def raising(self, sub: Lowerer, name: str, params: tuple[Value, ...]) -> Part:
        """Return a function of which every path that was lowered raises."""
        return self.part(sub, name, params, (), TupleOf(()), {})

    def part(
        self, sub: Lowerer, name: str, params: tuple[Value, ...], operands: tuple[Operand, ...],
        result: Binding, heap: dict[str, Binding],
    ) -> Part:  # fmt: skip
        """Return a function with the results `operands`."""
        self._check_unchanged(sub, name)
        captured = {place: capture.params for place, (capture, _) in sub.captured.items()}
        body = marks.with_marks((*sub.prologue, *sub.builder.stmts), sub.builder.marks)
        if self._communicates(sub):
            raise UnsupportedError(
                f"a derivative of {users_name(name)}(), which communicates, inside of code is not "
                "supported",
                self.lo.span(self.node), "let Python call the derivative: `adc.grad(f)(x)`",
            )  # fmt: skip
        drawn = self._drawn(sub)
        if drawn and not self._may_draw:
            raise UnsupportedError(
                f"random draws in {users_name(name)}(), which is differentiated here, are not "
                "supported",
                self.lo.span(self.node), "draw the numbers outside of it, and pass them",
            )  # fmt: skip
        return Part(name, params, captured, body, operands, result, heap, drawn)

    def _communicates(self, sub: Lowerer) -> bool:
        """Whether the function communicates through a communicator from outside of it."""
        passed = [obj for obj in self._arrays if obj.words and obj.type.kind == "f"]
        return any(
            obj in sub.stale or sub.versions.get(obj, sub.origin[obj]) is not sub.origin[obj]
            for obj in (*sub.communicators, *passed)
        )

    def _drawn(self, sub: Lowerer) -> dict[ArrayObject | Place, Operand]:
        around = {
            id(leaf.object): leaf.object for leaf in self._leaves if isinstance(leaf, ArrayRef)
        }
        known: dict[ArrayObject, ArrayObject | Place] = dict(sub.generators)
        known |= {obj: around[key] for obj, key in self._arrays.items() if obj.words}
        return {
            where: sub.version(obj, self.node)
            for obj, where in known.items()
            if obj in sub.stale or sub.versions.get(obj, sub.origin[obj]) is not sub.origin[obj]
        }

    def _check_unchanged(self, sub: Lowerer, name: str) -> None:
        """Raise if the function changes a shared array: derivatives have no side effects."""
        for obj, key in self._arrays.items():
            changed = sub.versions.get(obj, sub.origin[obj]) is not sub.origin[obj]
            if obj.words or not (changed or obj in sub.stale):
                continue
            if not self._may_change or key not in self._chosen or self._is_shared(key):
                raise UnsupportedError(
                    f"a derivative of {users_name(name)}(), which changes {obj.name!r}, is not "
                    "supported",
                    self.lo.span(self.node), "let it change a copy",
                )  # fmt: skip

    def _is_shared(self, key: int) -> bool:
        """Whether an argument has another reference, through which a change would be visible."""
        objects = {leaf.object for leaf in self._leaves if isinstance(leaf, ArrayRef)}
        (own,) = (obj for obj in objects if id(obj) == key)
        source = self._sources.get(own, own)
        others = {self._sources.get(obj, obj) for obj in objects - {own}}
        return source in others or bool(source.alias & others)

    def reached(self, place: Place) -> tuple[Operand, ...]:
        """Return the captured value at a place, in its current version."""
        outside.reach(self.lo, place, self.lo.shared.values[place])
        leaves = self.lo.captured[place][1]
        return tuple(leaf_operand(self.lo, leaf, self.node) for leaf in leaves)

    def outside(self, parts: Sequence[Part]) -> dict[Place, tuple[Operand, ...]]:
        """Return the captured values of the functions, in their current versions."""
        places = dict.fromkeys(place for part in parts for place in part.captured)
        return {place: self.reached(place) for place in places}

    def key(self) -> object:
        """Return the key of the functions: types, structure and constants."""
        # Lists, dicts and objects by their order: elsewhere others have the same place.
        order = {slot: k for k, slot in enumerate(self.slots)}

        def plain(shape: object) -> object:
            if isinstance(shape, tuple):
                return tuple(plain(part) for part in shape)
            return order.get(shape, shape) if isinstance(shape, str) else shape

        shapes = [plain(shape_of(each)) for each in (self.inputs, *self.slots.values())]
        which = [self._at.get(leaf_key(leaf), leaf) for leaf in self._leaves]
        return (tuple(shapes), tuple(which), tuple(operand.type for operand in self.operands))

    def function(
        self,
        part: Part,
        outside: Mapping[Place, tuple[Operand, ...]],
        taken: Sequence[Type] = (),
        *,
        gives: bool = False,
        more: Sequence[Value] = (),
        results_: Sequence[Operand] = (),
    ) -> Function:
        """Return a function that takes its inputs, what was found outside, `taken` and `more`.

        What it has no use for is for a fellow; with `gives` it returns what it takes for that.
        """
        alone = Function(part.name, (*part.params, *more), part.body, ())
        names = Names.of(alone)
        found: list[Value] = []
        for place, operands in outside.items():
            own = part.captured.get(place)
            found += own or [Value(names.fresh("unused"), o.type) for o in operands]
        passed = [Value(names.fresh("taken"), ty) for ty in taken]
        given = passed if gives else []
        return Function(
            part.name,
            (*part.params, *found, *passed, *more),
            part.body,
            (*part.operands, *given, *results_),
        )


def without_none(lo: Lowerer, result: Binding, name: str, node: ast.AST) -> Binding:
    """Return the result of a function that is differentiated, which is not None: it is checked."""
    if isinstance(result, OneOf):
        first, *others = map(kind_of, result.items)
        kinds = f"{first} on one path and {' or '.join(others)} on another"
        hint = "return the same kind of value on every path"
        # Where a variable is what has two kinds, that is what is said.
        raise VariesError(f"the result is {kinds}", lo.span(node), hint, (None, "return"))
    if not isinstance(result, Maybe):
        return result
    if isinstance(result.some, Literal):
        return result.inner if result.some.value else NONE
    return dispatch.required(lo, result, node, f"{name}() returned None, which has no derivative")


def leaf_key(leaf: Num | ArrayRef) -> int:
    """Return what tells a number or an array from others."""
    return id(leaf.object) if isinstance(leaf, ArrayRef) else id(leaf)


def hint_of(operand: Operand) -> str:
    """Return the name of a value, without its number."""
    return operand.name.split(".")[0] if isinstance(operand, Value) else "c"


__all__ = ["Outline", "Part", "hint_of", "without_none"]
