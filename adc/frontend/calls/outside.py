"""Calls of functions that are called as they are.

A call becomes that of an IR function (`adc.ir.text.outside`), which takes the numbers and arrays
among the arguments, and the sizes of what is returned. What is returned is found by lowering a
function of the arguments that returns something like it.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Static,
    TupleOf,
    is_stateful,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.outside import opened, pin
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.inputs.instances import is_lazy
from adc.frontend.inputs.keys import key_of
from adc.frontend.inputs.places import Guard
from adc.frontend.values import elementwise, structures, views
from adc.ir.builder import Builder, integer
from adc.ir.core import Call, CustomRule, Function, Literal, Operand, Print, Value, found_by
from adc.ir.text.outside import (
    PREFIX,
    TO,
    Constant,
    Held,
    Leaf,
    Outside,
    Part,
    Result,
    Results,
)
from adc.ir.types import BOOL, COMPLEX, FLOAT, HALF, INT, NAMES, Array, Scalar
from adc.ir.walk import Names

_PYTHON = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
_TELL = (
    "give its type, an array like it, or a function of the arguments that returns one: "
    "`adc.external({name}, result=float)`, `result=np.zeros_like`"
)


@dataclass(frozen=True)
class Made:
    """The function that stands for a call, among those of rules (`core.state.Shared.rules`)."""

    functions: tuple[Function, ...]


def called(
    lo: Lowerer, name: str, fn: Any, result: Any, args: Sequence[Binding],
    kwargs: dict[str, Binding], node: ast.Call, *, pure: bool = False, rule: str = "refused",
) -> Binding:  # fmt: skip
    """Lower a call of a Python function that is not looked into."""
    like = _like(lo, name, result, args, kwargs, node)
    maker = _Call(lo, name if name.isidentifier() else "lambda", node)
    given = tuple(map(maker.part, args))
    named = {key: maker.part(each) for key, each in kwargs.items()}
    results = maker.results(like, name)
    # Functions with rules have other keys.
    number = sum(isinstance(key, tuple) and key[0] == PREFIX for key in lo.shared.rules)

    def outside(params: Sequence[Value]) -> Outside:
        types = tuple(param.type for param in params)
        return Outside(number, name, fn, types, given, named, results, lo.builder.loc)

    return maker.run(number, outside, results, rule, pure)


def _like(
    lo: Lowerer, name: str, result: Any, args: Sequence[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Return something like the result of a function."""
    if callable(result) and not (isinstance(result, type) or typing.get_origin(result)):
        return opened(lo, dispatch.apply(lo, Static(result), list(args), dict(kwargs), node))
    found = _example(lo, result)
    if found is None:
        what = "" if result is None else f" from `result={result!r}`"
        raise lo.unsupported(
            f"a call of {name}(), whose result is not known{what},", node, _TELL.format(name=name)
        )
    return found


def _example(lo: Lowerer, result: Any) -> Binding | None:
    """Return the binding of something like an example, or of a type; None if it is neither."""
    if result is type(None):
        return NONE
    if typing.get_origin(result) is tuple or type(result) is tuple:
        items = result if type(result) is tuple else typing.get_args(result)
        found = [_example(lo, item) for item in items]
        return None if None in found else TupleOf(tuple(each for each in found if each))
    if type(result) in _PYTHON:
        result = type(result)
    if isinstance(result, type) and result in _PYTHON:
        return Num(Literal(result(0), _PYTHON[result]))
    if isinstance(result, np.ndarray) and result.dtype in NAMES:
        ty = Scalar(NAMES[result.dtype])
        if not result.shape:
            return Num(Literal(ty.numpy.type(0).item(), ty))
        return Lazy(tuple(map(integer, result.shape)), ty, lambda index: Literal(0, ty))
    try:
        dtype = np.dtype(result if isinstance(result, type | np.dtype) else result.dtype)
    except (AttributeError, TypeError):
        return None
    if dtype not in NAMES or result is object:
        return None
    ty = Scalar(NAMES[dtype])
    return Num(Literal(ty.numpy.type(0).item(), ty))


@dataclass
class _Out:
    """A number or array that is returned: its type, and its sizes."""

    type: Scalar
    dims: tuple[Operand, ...]


class _Call:
    """One call: what is passed, and what comes back."""

    def __init__(self, lo: Lowerer, name: str, node: ast.Call) -> None:
        self.lo, self.name, self.node = lo, name, node
        self.operands: list[Operand] = []
        self.outs: list[_Out] = []

    # -- arguments -----------------------------------------------------------------------------

    def part(self, binding: Binding) -> Part:
        """Return how an argument is made of what is passed."""
        lo, node = self.lo, self.node
        binding = opened(lo, binding)
        match binding:
            case Num(operand=Literal(value=value, type=ty)):
                number = value if ty.weak else ty.numpy.type(value)  # type: ignore[union-attr]
                return Constant(number)
            case Num(operand=operand):
                ty = operand.type
                if ty.kind == "c":
                    return self._leaf(ty, *structures.in_parts(lo, binding, node).record.items)
                if ty.dtype == HALF:
                    return self._leaf(ty, Num(lo.convert(operand, Scalar("f32"))))
                return self._leaf(ty, binding)
            case ArrayRef() if not views.dims_of(lo, binding):
                return self.part(elementwise.value_of(lo, binding, node))
            case ArrayRef():
                return self._array(binding)
            case TupleOf(items=items):
                return Held(tuple, (), tuple(map(self.part, items)))
            case ListRef() if not isinstance(lo.held(binding), Growing):
                return Held(list, (), tuple(map(self.part, lo.contents(binding))))
            case DictRef():
                record = lo.record(binding)
                return Held(dict, record.keys, tuple(map(self.part, record.items)))
            case NamedTuple(cls=cls, record=record) if not is_stateful(binding):
                return Held(cls, record.keys, tuple(map(self.part, record.items)))
            case Static(value=value):
                pin(lo, binding)
                return Constant(value)
            case ObjectRef():
                found = self._object(binding)
                if found is not None:
                    return found
        raise lo.unsupported(
            f"{kind_of(binding)} as an argument of {self.name}(), which adc calls as it is,", node,
            "pass its numbers and arrays, or make a method of it external: "
            "`adc.external(model.solve, ...)`",
        )  # fmt: skip

    def _object(self, ref: ObjectRef) -> Part | None:
        """Return an object from outside that the code has not changed: it must always be that."""
        lo = self.lo
        places = lo.places.get(ref.slot, frozenset())
        if len(places) != 1 or lo.held(ref) is not lo.initial.get(ref.slot):
            return None
        (place,) = places
        if place not in lo.shared.values:
            return None
        value = lo.shared.values[place]
        lo.shared.guards[place] = Guard(place, value, key_of(value), is_lazy(value), same=True)
        return Constant(value)

    def _leaf(self, ty: Scalar | Array, *leaves: Binding) -> Leaf:
        first = len(self.operands)
        for leaf in leaves:
            assert isinstance(leaf, Num | ArrayRef)
            self.operands.append(leaf_operand(self.lo, leaf, self.node))
        return Leaf(first, ty)

    def _array(self, ref: ArrayRef) -> Leaf:
        lo, node = self.lo, self.node
        ty = Array(ref.element.dtype, views.rank_of(lo, ref))
        if ty.kind == "c":
            whole = elementwise.copy(lo, ref, node) if ref.view or ref.part else ref
            return self._leaf(ty, *structures.in_parts(lo, whole, node).record.items)
        if ty.dtype == HALF:
            wide = Scalar("f32")
            found = elementwise.lift(
                lo, [ref], lambda items: Num(lo.convert(_operand(items[0]), wide)), node
            )
            return self._leaf(ty, elementwise.base_of(lo, _arraylike(found), node))
        if ref.view or ref.part:
            ref = elementwise.copy(lo, ref, node)
        return self._leaf(ty, ref)

    # -- results -------------------------------------------------------------------------------

    def results(self, like: Binding, name: str) -> Results:
        """Return what is returned, which is like a binding."""
        lo = self.lo
        match opened(lo, like):
            case Static(value=None):
                return None
            case Num(operand=operand):
                ty = operand.type
                assert isinstance(ty, Scalar)
                self.outs.append(_Out(ty, ()))
                return Result(ty)
            case (ArrayRef() | Lazy()) as found:
                element, dims = elementwise.element_type(found), views.dims_of(lo, found)
                element = Scalar(element.dtype)
                self.outs.append(_Out(element, dims))
                return Result(Array(element.dtype, len(dims)) if dims else element)
            case TupleOf(items=items):
                return tuple(self.results(item, name) for item in items)
        raise lo.unsupported(
            f"`result` of {name}() that is {kind_of(like)}", self.node,
            "a function that adc calls as it is returns numbers, arrays and tuples of them",
        )  # fmt: skip

    # -- the call ------------------------------------------------------------------------------

    def run(
        self, number: int, outside: Callable[[Sequence[Value]], Outside], results: Results,
        rule: str, pure: bool,
    ) -> Binding:  # fmt: skip
        """Emit the call, and return its result."""
        lo, node = self.lo, self.node
        params = [Value(f"a{k}", operand.type) for k, operand in enumerate(self.operands)]
        build = Builder(Names())
        for param in params:
            build.names.reserve(param.name)
        build.loc = lo.builder.loc
        made: list[Value] = []
        for out in self.outs:
            sizes = [self._size(dim, params) for dim in out.dims] or [integer(1)]
            part = out.type.part
            dtype = "f32" if part.dtype == HALF else part.dtype
            for _ in range(2 if out.type.kind == "c" else 1):
                made.append(build.apply("empty", *sizes, params=(dtype,), hint="y"))
        if not pure:
            ty = found_by(TO)
            assert ty is not None
            build.emit(Print("", (), build.loc, TO, build.value("t", ty)))
        function = Function(
            f"{self.name}_external{number or ''}", tuple(params), tuple(build.stmts),
            tuple(made), rule=CustomRule(rule, (), exact=True), routine=f"{PREFIX}{number}",
            external=outside(params),
        )  # fmt: skip
        lo.shared.rules[PREFIX, number] = Made((function,))
        with lo.at(node):
            values = [lo.builder.value("r", value.type) for value in made]
            label = lo.builder.names.fresh("C0")
            lo.builder.emit(
                Call(tuple(values), label, function.name, tuple(self.operands), loc=lo.builder.loc)
            )
            return self._arranged(results, iter(values), iter(self.outs))

    def _size(self, dim: Operand, params: list[Value]) -> Operand:
        """Return a size in the function."""
        if isinstance(dim, Literal):
            return dim
        if dim not in self.operands:
            self.operands.append(dim)
            params.append(Value(f"n{len(params)}", dim.type))
        return params[self.operands.index(dim)]

    def _arranged(self, results: Results, values: Any, outs: Any) -> Binding:
        if results is None:
            return NONE
        if isinstance(results, tuple):
            return TupleOf(tuple(self._arranged(each, values, outs) for each in results))
        out = next(outs)
        parts = [self._taken(next(values), out) for _ in range(2 if out.type.kind == "c" else 1)]
        if len(parts) == 2:
            return structures.whole(self.lo, *parts)
        (part,) = parts
        if isinstance(part, ArrayRef):
            return structures.like_array(self.lo, part, Array(out.type.dtype, len(out.dims)))
        return part

    def _taken(self, value: Value, out: _Out) -> Num | ArrayRef:
        lo = self.lo
        if out.dims:
            return lo.new_array(value, out.dims, "r")
        part = out.type.part
        number = lo.builder.load(value, [integer(0)])
        return Num(lo.exact(lo.convert(number, part), part))


def _operand(item: Binding) -> Operand:
    assert isinstance(item, Num)
    return item.operand


def _arraylike(found: Binding) -> ArrayRef | Lazy:
    assert isinstance(found, ArrayRef | Lazy)
    return found


__all__ = ["called"]
