"""Functions that are differentiated inside code: lowered separately, and called by a derivative.

Every captured variable of the function becomes a parameter (`Outlined`). The called derivative is
declared (`Derived`); its statements are generated after the whole program was differentiated.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    NamedTuple,
    Num,
    ObjectRef,
    Ruled,
    Static,
    Transformed,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import BOTH, Dead
from adc.frontend.inputs.places import Place
from adc.frontend.transforms.outline import Outline, Part, hint_of
from adc.frontend.values import elementwise, structures
from adc.ir.core import Call, Derived, Function, Operand, Value
from adc.ir.errors import ArgumentError, IntegerArgumentError, NonScalarError
from adc.ir.functions import called, refuse_again, without_prints
from adc.ir.text.outside import is_external
from adc.ir.types import Array
from adc.library.transforms import KEYWORDS, Level

# Of a function: what does what the function does.
SAME = ("jit", "checkpoint")


def of_object(value: Any) -> Binding | None:
    """Return the binding of a captured derivative, or None for any other object."""
    applied = getattr(value, "__adc_applied__", None)
    if applied is None:
        return None
    return transformed(Static(value.__wrapped__), applied or (Level("jit"),))


def transformed(binding: Binding, levels: Sequence[Level]) -> Binding:
    """Return the function to which derivatives are applied, first to last."""
    for level in levels:
        binding = Transformed(binding, level)
    return binding


@dataclass(frozen=True)
class Outlined:
    """A function of numbers and arrays, and its operands.

    `words` say what function it is, `chosen` are the arguments that are differentiated, `moved` the
    positions of their floats.
    """

    words: str
    fn: Function
    args: tuple[Operand, ...]
    chosen: tuple[Binding, ...]
    moved: tuple[int, ...]
    result: Binding
    heap: dict[str, Binding]

    def floats(self) -> list[int]:
        """Return which results are floats."""
        return [k for k, result in enumerate(self.fn.results) if result.type.kind == "f"]


def outline_call(
    lo: Lowerer, callee: Binding, args: Sequence[Binding], kwargs: dict[str, Binding],
    numbers_: Sequence[int], node: ast.Call, modes: frozenset[str] = BOTH,
) -> Outlined:  # fmt: skip
    """Lower a call of `callee` to a function; the arguments `numbers_` are differentiated.

    `modes` says how, if the code of the call is not differentiated as well.
    """
    given = [elementwise.materialised(lo, arg, node) for arg in (*args, *kwargs.values())]
    sources: dict[ArrayObject, ArrayObject] = {}
    places = argument_places(lo, callee, len(args), tuple(kwargs), numbers_, node)
    for place in places:
        given[place] = structures.detached(lo, given[place], node, sources, parts=True)
    chosen = tuple(given[place] for place in places)
    outline = Outline(lo, (callee, *given), chosen, node, sources, may_draw=True)
    sub, inside, params = outline.enter()
    function, *rest = inside.items
    rest = structures.inputs_with_wholes(sub, rest)
    named = dict(zip(kwargs, rest[len(args) :], strict=True))
    with lo.shared.within(BOTH if lo.shared.modes else modes):
        try:
            result = dispatch.apply(sub, function, rest[: len(args)], named, node)
        except Dead:
            emit_raising(lo, outline, outline.raising(sub, name_of(callee), params), node)
            raise
        part = outline.leave(sub, name_of(callee), params, result)
    outside = outline.outside([part])
    operands = [*outline.operands, *(operand for found in outside.values() for operand in found)]
    moved = tuple(
        outline.position(leaf) for each in chosen for leaf in structures.floats(each, lo.held)
    )
    fn = outline.function(part, outside)
    _advance(lo, outline, part, outside, operands, node)
    words = words_of(callee)
    return Outlined(words, fn, tuple(operands), chosen, moved, part.result, part.heap)


def may_repeat(lo: Lowerer, fn: Function) -> None:
    """Raise if code that is run more than once calls a function outside that may not be."""
    functions = [each for made in lo.shared.rules.values() for each in made.functions]
    functions += [each.function for each in lo.shared.callees.values() if each.function]
    table = {each.name: each for each in functions}
    seen: set[str] = set()
    todo = [fn]
    while todo:
        for name in called(todo.pop()):
            if name in table and name not in seen:
                seen.add(name)
                todo.append(table[name])
                if is_external(table[name]):
                    refuse_again(table[name])


def _advance(
    lo: Lowerer, outline: Outline, part: Part, outside: Mapping[Place, tuple[Operand, ...]],
    operands: Sequence[Operand], node: ast.Call,
) -> None:  # fmt: skip
    """Advance the random generators that a function draws from, as one call of it does.

    Its derivatives start from the states before: they draw the same numbers.
    """
    if not part.drawn:
        return
    may_repeat(lo, outline.function(part, outside))
    after = replace(part, operands=tuple(part.drawn.values()))
    derived = declared(lo, "primal", without_prints(outline.function(after, outside)), ())
    found = emit(lo, derived, operands, ["words"] * len(part.drawn), node)
    by_place = {place: obj for obj, place in lo.generators.items()}
    for where, words in zip(part.drawn, found, strict=True):
        lo.update(by_place[where] if isinstance(where, Place) else where, words)


def as_now(lo: Lowerer, outlined: Outlined) -> TupleOf:
    """Return the current values of a function's arguments, unaffected by later writes."""
    return TupleOf(tuple(leaf_of(lo, operand, hint_of(operand)) for operand in outlined.args))


def leaf_of(lo: Lowerer, operand: Operand, name: str = "r") -> Num | ArrayRef:
    """Return a number, or a new array."""
    if isinstance(operand, Value) and isinstance(operand.type, Array):
        return structures.new_array(lo, operand, name)
    return Num(operand)


def zeros_like(lo: Lowerer, value: Operand) -> Operand:
    ty = value.type
    if not isinstance(ty, Array):
        return numbers.zero_of(ty)
    sizes = [lo.builder.apply("dim", value, params=(k,), hint="n") for k in range(ty.rank)]
    zero = numbers.zero_of(ty.element)
    return lo.builder.apply("full", zero, *sizes, params=(ty.dtype,), hint="v")


# -- names -----------------------------------------------------------------------------------------


def name_of(callee: Binding) -> str:
    match callee:
        case Closure(node=ast.FunctionDef(name=name)):
            return name
        case Ruled(primal=fn):
            return name_of(fn)
        case Transformed(fn=fn, kind=kind):
            return f"{kind}_{name_of(fn)}"
        case Bound(name=name):
            return name
        case Static(value=value) if str(getattr(value, "__name__", "")).isidentifier():
            return str(value.__name__)
    return "lambda"


def words_of(callee: Binding) -> str:
    """Return the name of a function in errors."""
    if isinstance(callee, Static) and (made := of_object(callee.value)) is not None:
        return words_of(made)
    if isinstance(callee, Ruled):
        return words_of(callee.primal)
    if isinstance(callee, Transformed) and callee.kind not in SAME:
        return f"`{callee.kind}` of {words_of(callee.fn)}"
    return f"{name_of(callee)}()"


def parameters(
    lo: Lowerer, callee: Binding, node: ast.AST, by_name: bool = False
) -> list[str]:  # fmt: skip
    """Return the names of the positional parameters of a function, without `self`.

    With `by_name`, of the parameters that are given by name alone.
    """
    spec: ast.arguments | None = None
    skip = 0
    match callee:
        case Closure(node=inner):
            spec = inner.args
        case Ruled(primal=fn) | Transformed(fn=fn):
            return parameters(lo, fn, node, by_name)
        case Bound(owner=ObjectRef(cls=cls) | NamedTuple(cls=cls), name=name, after=after):
            method = Static(classes.find_method(lo, cls, name, after))
            return parameters(lo, method, node, by_name)[0 if by_name else 1 :]
        case ObjectRef(cls=cls) | NamedTuple(cls=cls):
            method = Static(classes.find_method(lo, cls, "__call__"))
            return parameters(lo, method, node, by_name)[0 if by_name else 1 :]
        case Static(value=value, place=place):
            inner_ = of_object(value)
            if inner_ is not None:
                return parameters(lo, inner_, node, by_name)
            fn_ = getattr(value, "py_func", value)
            if isinstance(fn_, types.MethodType):
                fn_, skip = fn_.__func__, 1
            if isinstance(fn_, types.FunctionType):
                spec = outside.source_of(lo, outside.holder_of(lo, fn_, place)).node.args
    if spec is None:
        raise lo.unsupported(f"a derivative of {kind_of(callee)}", node, "wrap it in a function")
    if by_name:
        return [arg.arg for arg in spec.kwonlyargs]
    return [arg.arg for arg in (*spec.posonlyargs, *spec.args)][skip:]


def argument_places(
    lo: Lowerer, callee: Binding, positional: int, names: Sequence[str], chosen: Sequence[int],
    node: ast.AST,
) -> list[int]:  # fmt: skip
    """Return where the chosen arguments are in a call: among the positional ones, then by name."""
    found = []
    known: list[str] | None = None
    for number in chosen:
        if 0 <= number < positional:
            found.append(number)
            continue
        if number >= KEYWORDS:
            name = parameters(lo, callee, node, by_name=True)[number - KEYWORDS]
            if name not in names:
                raise ArgumentError(
                    f"{name!r} is differentiated, but the call does not pass it",
                    lo.span(node), "pass it",
                )  # fmt: skip
            found.append(positional + list(names).index(name))
            continue
        if known is None:
            known = parameters(lo, callee, node)
        count = max(len(known), positional)
        if not -count <= number < count:
            raise ArgumentError(
                f"argnums={number} is out of range: the number of arguments is {count}",
                lo.span(node),
            )
        number %= count
        if number < positional:
            found.append(number)
        elif known[number] in names:
            found.append(positional + list(names).index(known[number]))
        else:
            raise ArgumentError(
                f"{known[number]!r} is differentiated, but the call does not pass it",
                lo.span(node), "pass it",
            )  # fmt: skip
    return found


# -- calls -----------------------------------------------------------------------------------------


def declared(
    lo: Lowerer, mode: str, of: Function, wrt: tuple[int, ...],
    along: tuple[tuple[int, ...], ...] = (),
) -> Derived:  # fmt: skip
    """Return a derivative of a function; repeated requests return the same one."""
    known = lo.shared.derived
    for each in known.values():
        if (each.mode, each.wrt, each.along) == (mode, wrt, along) and each.of == of:
            return each
    made = Derived(f"{of.name}_{mode}{lo.shared.number(known)}", mode, of, wrt, along)
    known[made.name] = made
    return made


def emit(
    lo: Lowerer, derived: Derived, args: Sequence[Operand], hints: Sequence[str], node: ast.AST
) -> list[Value]:
    with lo.at(node):
        values = [
            lo.builder.value(hint, ty)
            for hint, ty in zip(hints, derived.result_types(), strict=True)
        ]
        label = lo.builder.names.fresh("C0")
        lo.builder.emit(Call(tuple(values), label, derived.name, tuple(args), loc=lo.builder.loc))
    return values


def emit_raising(lo: Lowerer, outline: Outline, part: Part, node: ast.AST) -> None:
    """Call a function every path of which raises, for the exception."""
    outside = outline.outside([part])
    operands = [*outline.operands, *(operand for found in outside.values() for operand in found)]
    emit(lo, declared(lo, "primal", outline.function(part, outside), ()), operands, [], node)


def value_and_leaves(
    lo: Lowerer, outlined: Outlined, node: ast.AST
) -> tuple[Binding, list[Num | ArrayRef]]:
    """Call the function itself; return the numbers and arrays in the result, too."""
    derived = declared(lo, "primal", outlined.fn, ())
    hints = ["r"] * len(outlined.fn.results)
    found = emit(lo, derived, outlined.args, hints, node)
    leaves = [leaf_of(lo, value) for value in found]
    return structures.returned(lo, outlined.result, outlined.heap, iter(leaves)), leaves


# -- checks ----------------------------------------------------------------------------------------


def check_floats(lo: Lowerer, outlined: Outlined, node: ast.AST) -> None:
    for each in outlined.chosen:
        if not list(structures.floats(each, lo.held)):
            raise IntegerArgumentError(
                f"a derivative with respect to {kind_of(each)}; only floats can be differentiated",
                lo.span(node), "pass a float, or choose other arguments with `argnums`",
            )  # fmt: skip


def check_complex(lo: Lowerer, outlined: Outlined, node: ast.AST) -> None:
    """Raise unless all floats in the differentiated arguments are complex."""
    for each in outlined.chosen:
        if any(len(parts) == 1 for parts in structures.numbers_in(each, lo.held)):
            raise ArgumentError(
                f"a derivative with respect to {kind_of(each)}; with `holomorphic` it must be "
                "complex",
                lo.span(node), "leave out `holomorphic`, or pass complex numbers",
            )  # fmt: skip


def check_any_float(lo: Lowerer, outlined: Outlined, node: ast.AST) -> None:
    if not outlined.floats():
        raise NonScalarError(
            f"{outlined.words} returns {kind_of(outlined.result)}; there is no float in it",
            lo.span(node), "return floats, or arrays of floats",
        )  # fmt: skip


def first_of_pair(lo: Lowerer, outlined: Outlined, node: ast.AST) -> Binding:
    """Return the differentiated element of a pair with auxiliary results."""
    result = outlined.result
    if not (isinstance(result, TupleOf) and len(result.items) == 2):
        raise NonScalarError(
            f"{outlined.words} returns {kind_of(result)}; `has_aux` needs a pair",
            lo.span(node), "return (value, auxiliary results)",
        )  # fmt: skip
    return result.items[0]


__all__ = [
    "SAME",
    "Outlined",
    "argument_places",
    "as_now",
    "check_any_float",
    "check_complex",
    "check_floats",
    "declared",
    "emit",
    "first_of_pair",
    "leaf_of",
    "name_of",
    "of_object",
    "outline_call",
    "parameters",
    "transformed",
    "value_and_leaves",
    "words_of",
    "zeros_like",
]
