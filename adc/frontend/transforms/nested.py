"""Derivatives inside lowered code: `grad`, `jvp` and the other transformations, and their calls.

The differentiated function is lowered separately, with all captured variables as parameters. The
called derivative is declared (`Derived`); its statements are generated after the whole program was
differentiated. As outside of code, a derivative uses the arguments at the time of the call, changes
nothing, and advances random generators.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.control import marks
from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Growing,
    ListRef,
    Num,
    Pullback,
    Pushforward,
    Ref,
    Ruled,
    Static,
    Transformed,
    TupleOf,
    related,
    suspect,
)
from adc.frontend.core.dispatch import called
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.core.state import REVERSE
from adc.frontend.core.structure import refs
from adc.frontend.transforms import batches, derivatives, jacobians, results
from adc.frontend.transforms.outline import hint_of
from adc.frontend.values import arguments, elementwise, structures, views
from adc.ir.core import Derived, Literal, Operand, Value
from adc.ir.errors import (
    ArgumentError,
    IntegerArgumentError,
    NonScalarError,
    TypeMismatchError,
)
from adc.ir.functions import contracted, replayed, without_prints
from adc.ir.types import Array, Scalar
from adc.library.transforms import KEYWORDS, Level

_LEVELS = ("grad", "value_and_grad", "jacfwd", "jacrev", "value_and_jac", "hessian")
_MODES = {"forward": "jacfwd", "reverse": "jacrev"}
_RULED = ("custom_vjp", "custom_jvp")
_IGNORED = ("remat", "cache", "progress")


def names() -> tuple[str, ...]:
    """Return the functions of adc that code may call."""
    return (
        *_LEVELS,
        "jvp",
        "vjp",
        "linearize",
        "hvp",
        *derivatives.SAME,
        *_RULED,
        "vmap",
        "stop_gradient",
        "save",
        "recompute",
        "invertible",
    )


# -- making derivatives ----------------------------------------------------------------------------


def transform(
    lo: Lowerer, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of `grad` or another transformation."""
    kwargs = {key: value for key, value in kwargs.items() if key not in _IGNORED}
    if name == "vmap":
        return batches.lowered(lo, args, kwargs, node)
    if name in derivatives.SAME:
        bound = arguments.by_name(lo, f"adc.{name}", ("fn",), args, kwargs, node)
        fn = bound.pop("fn", NONE)
        if bound.keys() - (batches.IGNORED if name == "jit" else ()):
            raise TypeMismatchError(f"adc.{name}() does not take these arguments", lo.span(node))
        return Transformed(fn, Level(name))
    if name in _RULED:
        names = ("fn", "nondiff_argnums")
        bound = arguments.by_name(lo, f"adc.{name}", names, args, kwargs, node)
        fixed = _static(lo, bound.get("nondiff_argnums", TupleOf(())), node)
        if not set(bound) <= {"fn", "nondiff_argnums"}:
            raise TypeMismatchError(f"adc.{name}() does not take these arguments", lo.span(node))
        parts = (bound["fn"],) if "fn" in bound else ()
        return Ruled(TupleOf(parts), Level(name, fixed), lo.branches)
    if name in _LEVELS:
        bound = arguments.by_name(lo, f"adc.{name}", ("fn", "argnums"), args, kwargs, node)
        fn = bound.pop("fn", NONE)
        return Transformed(fn, _level(lo, name, fn, bound, node))
    handler = {"jvp": _jvp, "hvp": _hvp, "vjp": _vjp, "linearize": _linearize}.get(name)
    if handler is None:
        raise lo.unsupported(f"`adc.{name}` inside a function", node, "use it at module level")
    args = [elementwise.materialised(lo, arg, node) for arg in args]
    has_aux = bool(_static(lo, kwargs.pop("has_aux", NONE), node))
    return handler(lo, args, kwargs, has_aux, node)


def _level(lo: Lowerer, name: str, fn: Binding, kwargs: dict[str, Binding], node: ast.AST) -> Level:
    """Return the description of a derivative."""
    if "sparsity" in kwargs:
        raise lo.unsupported(
            f"`adc.{name}` with `sparsity` inside a function",
            node,
            "take the dense Jacobian there, or call the sparse one at module level",
        )
    known = {"argnums", "argnames"} | ({"has_aux"} if name != "hessian" else set())
    known |= {"mode"} if name == "value_and_jac" else {"holomorphic"}
    if not set(kwargs) <= known:
        raise TypeMismatchError(f"adc.{name}() does not take these arguments", lo.span(node))
    argnums = _static(lo, kwargs.get("argnums", NONE), node)
    argnames = _static(lo, kwargs.get("argnames", NONE), node)
    if argnames is not None:
        if argnums is not None:
            raise ArgumentError("argnums and argnames are both given", lo.span(node))
        if fn == NONE:
            raise lo.unsupported(
                "`argnames` in a decorator within a function", node, "use `argnums`"
            )
        positional = derivatives.parameters(lo, fn, node)
        named = dict(zip(positional, itertools.count(), strict=False))
        by_name = derivatives.parameters(lo, fn, node, by_name=True)
        named |= dict(zip(by_name, itertools.count(KEYWORDS), strict=False))
        wanted = (argnames,) if isinstance(argnames, str) else argnames
        for each in wanted:
            if each not in named:
                raise ArgumentError(f"there is no parameter {each!r}", lo.span(node))
        found = tuple(named[each] for each in wanted)
        argnums = found[0] if isinstance(argnames, str) else found
    numbers_ = argnums if isinstance(argnums, tuple) else (0 if argnums is None else argnums,)
    if not all(type(number) is int for number in numbers_):
        raise ArgumentError(
            f"argnums={argnums!r} is neither an integer nor a sequence of integers", lo.span(node)
        )
    has_aux = bool(_static(lo, kwargs.get("has_aux", NONE), node))
    holomorphic = bool(_static(lo, kwargs.get("holomorphic", NONE), node))
    mode = _static(lo, kwargs.get("mode", Static("forward")), node)
    if mode not in _MODES:
        raise ArgumentError(f'mode={mode!r} is neither "forward" nor "reverse"', lo.span(node))
    value = name == "value_and_jac"
    name = _MODES[mode] if value else name
    return Level(name, 0 if argnums is None else argnums, has_aux, holomorphic, value=value)


def _static(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    match binding:
        case Static(value=value):
            return value
        case Num(operand=Literal(value=value)):
            return value
        case TupleOf(items=items):
            return tuple(_static(lo, item, node) for item in items)
        case ListRef():
            return tuple(_static(lo, item, node) for item in lo.contents(binding))
    raise lo.unsupported("an option that is not a constant", node, "write it as a constant")


@called(Transformed)
def _call(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a derivative."""
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if target.fn == NONE:  # `adc.grad(argnums=1)(f)`
        if len(args) != 1 or kwargs:
            raise TypeMismatchError("a decorator takes one function", lo.span(node))
        return replace(target, fn=args[0])
    if target.kind == "checkpoint":
        return marks.checkpointed(lo, target.fn, args, kwargs, node)
    if target.kind == "jit":
        return _call_compiled(lo, target, args, kwargs, node)
    if target.kind in ("grad", "value_and_grad"):
        return _gradient(lo, target, args, kwargs, node)
    return jacobians.call(lo, target, args, kwargs, node)


def _call_compiled(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a compiled function: it changes no argument, and returns none.

    A list, dict or object that is passed twice is one there, and an array that is may be one.
    """
    lent = set(lo.lent)
    own: dict[str, Binding] = {}

    def isolated(binding: Binding, sources: dict[ArrayObject, ArrayObject]) -> Binding:
        if isinstance(binding, Ref) and binding.slot in own:
            return own[binding.slot]
        made = copied(elementwise.materialised(lo, binding, node), sources)
        if isinstance(binding, Ref):
            own[binding.slot] = made
        return made

    def copied(binding: Binding, sources: dict[ArrayObject, ArrayObject]) -> Binding:
        grown = [ref for ref in refs(binding) if isinstance(lo.held(ref), Growing)]
        if grown:  # read, but not changed
            lo.lent |= {ref.slot for ref in grown}
            return binding
        return structures.detached(lo, binding, node, sources)

    try:
        passed: dict[ArrayObject, ArrayObject] = {}
        given = [isolated(arg, passed) for arg in args]
        named = {name: isolated(arg, passed) for name, arg in kwargs.items()}
        for (a, of), (b, source) in itertools.combinations(passed.items(), 2):
            if related(of, source):
                suspect(a, b)
        result = dispatch.apply(lo, target.fn, given, named, node)
        return copied(elementwise.materialised(lo, result, node), {})
    finally:
        lo.lent = lent


# -- calls -----------------------------------------------------------------------------------------


def _value(lo: Lowerer, outlined: derivatives.Outlined, node: ast.AST) -> Binding:
    """Call the function itself."""
    return derivatives.value_and_leaves(lo, outlined, node)[0]


def _check_scalar(lo: Lowerer, outlined: derivatives.Outlined, level: Level, node: ast.AST) -> None:
    result = derivatives.first_of_pair(lo, outlined, node) if level.has_aux else outlined.result
    if level.holomorphic:
        derivatives.check_complex(lo, outlined, node)
        if not structures.is_complex_number(result):
            raise NonScalarError(
                f"{outlined.words} returns {kind_of(result)}; with `holomorphic` it must be a "
                "complex number",
                lo.span(node), "leave out `holomorphic`, or return a complex number",
            )  # fmt: skip
        return
    if not (isinstance(result, Num) and result.operand.type.kind == "f"):
        hint = "return a number, for instance a sum"
        if outlined.words.startswith("`"):  # of a derivative, whose result cannot be modified
            hint = "differentiate a function that reduces it to a number, for instance by a sum"
        raise NonScalarError(
            f"{outlined.words} returns {kind_of(result)}; only one float can be differentiated",
            lo.span(node), hint,
        )  # fmt: skip


def _gradient(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    level = target.level
    outlined = derivatives.outline_call(lo, target.fn, args, kwargs, level.chosen, node, REVERSE)
    derivatives.check_floats(lo, outlined, node)
    _check_scalar(lo, outlined, level, node)
    value: Binding | None = None
    of = outlined.fn
    if level.with_value or level.has_aux:
        derivatives.may_repeat(lo, of)
        value = _value(lo, outlined, node)
        of = without_prints(of)
    scalar = replace(of, results=of.results[:1])
    derived = derivatives.declared(lo, "reverse", scalar, outlined.moved)
    hints = [f"d{of.params[k].name.split('.')[0]}" for k in outlined.moved]
    found = iter(derivatives.emit(lo, derived, outlined.args, hints, node))
    parts = tuple(structures.gradients(lo, each, found) for each in outlined.chosen)
    gradient = parts[0] if isinstance(level.argnums, int) else TupleOf(parts)
    if value is None:
        return gradient
    if not level.has_aux:
        return TupleOf((value, gradient))
    if level.with_value:
        return TupleOf((value, gradient))
    assert isinstance(value, TupleOf)
    return TupleOf((gradient, value.items[1]))


def _sequence(lo: Lowerer, binding: Binding, what: str, node: ast.AST) -> tuple[Binding, ...]:
    if isinstance(binding, TupleOf):
        return binding.items
    if isinstance(binding, ListRef):
        return lo.contents(binding)
    raise TypeMismatchError(
        f"{what} must be a tuple, not {kind_of(binding)}",
        lo.span(node),
        "pass a tuple with one entry for each argument",
    )


def _with_tangents(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> tuple[derivatives.Outlined, list[Operand], tuple[int, ...]]:
    """Return a function, the tangents of its arguments, and the positions that have some."""
    names = ("fn", "primals", "tangents")
    bound = arguments.by_name(lo, ast.unparse(node.func), names, args, kwargs, node)
    if set(bound) != {"fn", "primals", "tangents"}:
        raise TypeMismatchError("pass a function, primals and tangents", lo.span(node))
    primals = _sequence(lo, bound["primals"], "primals", node)
    tangents = _sequence(lo, bound["tangents"], "tangents", node)
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{len(primals)} primals but {len(tangents)} tangents", lo.span(node),
            "give one for each",
        )  # fmt: skip
    chosen = tuple(k for k, tangent in enumerate(tangents) if tangent != NONE)
    if not chosen:
        raise ArgumentError(
            "no tangent is given", lo.span(node), "give one for at least one argument"
        )
    outlined = derivatives.outline_call(lo, bound["fn"], list(primals), {}, chosen, node)
    derivatives.check_floats(lo, outlined, node)
    directions = [
        operand
        for each, k in zip(outlined.chosen, chosen, strict=True)
        for leaf, tangent in structures.belonging(
            lo, each, lo.held, tangents[k], "the tangent", node
        )
        for operand in [structures.fitted_to(lo, leaf, tangent, "the tangent", node)]
    ]
    return outlined, directions, chosen


def _jvp(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], has_aux: bool, node: ast.Call
) -> Binding:
    outlined, directions, _ = _with_tangents(lo, args, kwargs, node)
    if has_aux:
        derivatives.first_of_pair(lo, outlined, node)
    derivatives.check_any_float(lo, outlined, node)
    derived = derivatives.declared(lo, "forward", outlined.fn, outlined.moved)
    found, dot = _pushed(
        lo, derived, (*outlined.args, *directions), outlined.result, outlined.heap, node
    )
    values = [derivatives.leaf_of(lo, each) for each in found[: len(outlined.fn.results)]]
    value = structures.returned(lo, outlined.result, outlined.heap, iter(values))
    if not has_aux:
        return TupleOf((value, dot))
    assert isinstance(value, TupleOf)
    assert isinstance(dot, TupleOf)
    return TupleOf((value.items[0], dot.items[0], value.items[1]))


def _pushed(
    lo: Lowerer, derived: Derived, args: Sequence[Operand], result: Binding,
    heap: dict[str, Binding], node: ast.AST,
) -> tuple[list[Value], Binding]:  # fmt: skip
    """Call a derivative in forward mode; return its results, and the tangent of `result`."""
    own = derived.of.results
    hints = ["r"] * len(own) + ["dr"] * sum(r.type.kind == "f" for r in own)
    found = derivatives.emit(lo, derived, args, hints, node)
    dots = iter(found[len(own) :])
    # What is no float does not move.
    moving = [
        _dot(lo, next(dots), operand)
        if operand.type.kind == "f"
        else derivatives.leaf_of(lo, derivatives.zeros_like(lo, own_value))
        for operand, own_value in zip(own, found, strict=False)
    ]
    return found, structures.returned(lo, result, heap, iter(moving))


def _dot(lo: Lowerer, dot: Value, like: Operand) -> Num | ArrayRef:
    found = derivatives.leaf_of(lo, dot)
    if isinstance(found, Num):
        return Num(structures.like_number(lo, dot, like))
    assert isinstance(like.type, Array)
    return structures.like_array(lo, found, like.type)


def _hvp(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], has_aux: bool, node: ast.Call
) -> Binding:
    if has_aux:
        raise TypeMismatchError("adc.hvp() does not take these arguments", lo.span(node))
    outlined, directions, chosen = _with_tangents(lo, args, kwargs, node)
    _check_scalar(lo, outlined, Level("hvp"), node)
    derived = derivatives.declared(lo, "reverse", outlined.fn, outlined.moved, (outlined.moved,))
    hints = ["hv"] * len(outlined.moved)
    found = iter(derivatives.emit(lo, derived, (*outlined.args, *directions), hints, node))
    parts = dict(
        zip(
            chosen, [structures.gradients(lo, each, found) for each in outlined.chosen], strict=True
        )
    )
    count = len(_sequence(lo, args[1] if len(args) > 1 else kwargs["primals"], "primals", node))
    return parts[0] if count == 1 else TupleOf(tuple(parts.get(k, NONE) for k in range(count)))


def _vjp(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], has_aux: bool, node: ast.Call
) -> Binding:
    if kwargs or not args:
        raise TypeMismatchError("adc.vjp() does not take these arguments", lo.span(node))
    fn, *primals = args
    chosen = tuple(k for k, arg in enumerate(primals) if structures.has_floats(lo, arg))
    outlined = derivatives.outline_call(lo, fn, primals, {}, chosen, node, REVERSE)
    derivatives.check_any_float(lo, outlined, node)
    derivatives.may_repeat(lo, outlined.fn)
    value, leaves = derivatives.value_and_leaves(lo, outlined, node)
    result = derivatives.first_of_pair(lo, outlined, node) if has_aux else outlined.result
    count = len(list(results.leaves_of(result, outlined.heap)))
    floats = [k for k in outlined.floats() if k < count]
    # The function itself has been called, right above.
    weighted = contracted(replayed(outlined.fn), floats)
    like = _like(outlined, chosen, len(primals))
    sizes = TupleOf(
        tuple(
            TupleOf(tuple(Num(size) for size in views.dims_of(lo, leaf)))
            if isinstance(leaf := leaves[k], ArrayRef)
            else TupleOf(())
            for k in floats
        )
    )
    held = TupleOf((derivatives.as_now(lo, outlined), sizes))
    pull = Pullback(weighted, held, like, outlined.moved, result, outlined.heap)
    if not has_aux:
        return TupleOf((value, pull))
    assert isinstance(value, TupleOf)
    return TupleOf((value.items[0], pull, value.items[1]))


def _like(outlined: derivatives.Outlined, chosen: Sequence[int], count: int) -> TupleOf:
    """Return the arguments that are differentiated, and None for the others."""
    return TupleOf(
        tuple(outlined.chosen[chosen.index(k)] if k in chosen else NONE for k in range(count))
    )


def _linearize(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], has_aux: bool, node: ast.Call
) -> Binding:
    if has_aux or kwargs or not args:
        raise TypeMismatchError("adc.linearize() does not take these arguments", lo.span(node))
    fn, *primals = args
    chosen = tuple(k for k, arg in enumerate(primals) if structures.has_floats(lo, arg))
    outlined = derivatives.outline_call(lo, fn, primals, {}, chosen, node)
    derivatives.check_any_float(lo, outlined, node)
    derivatives.may_repeat(lo, outlined.fn)
    value, _ = derivatives.value_and_leaves(lo, outlined, node)
    # The function itself has been called, right above.
    push = Pushforward(
        replayed(outlined.fn), derivatives.as_now(lo, outlined),
        _like(outlined, chosen, len(primals)), outlined.moved, outlined.result, outlined.heap,
    )  # fmt: skip
    return TupleOf((value, push))


@called(Pushforward)
def _push(
    lo: Lowerer, push: Pushforward, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of what `linearize` returned."""
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    count = len(push.like.items)
    if kwargs or len(args) != count:
        raise ArgumentError(
            f"{len(args)} tangents, but {count} arguments", lo.span(node),
            "give one for each, or None",
        )  # fmt: skip
    operands = [
        leaf_operand(lo, leaf, node) for leaf in push.args.items if isinstance(leaf, Num | ArrayRef)
    ]
    directions: list[Operand] = []
    moved: list[int] = []
    positions = iter(push.moved)
    for like, tangent in zip(push.like.items, args, strict=True):
        if tangent != NONE and like == NONE:
            raise IntegerArgumentError(
                "a tangent of an argument without floats", lo.span(node), "pass None"
            )
        places = [next(positions) for _ in structures.floats(like, lo.held)]
        if tangent == NONE:
            continue
        parts = structures.belonging(lo, like, lo.held, tangent, "the tangent", node)
        for place, (_, part) in zip(places, parts, strict=True):
            ty, own = push.of.params[place].type, push.args.items[place]
            assert isinstance(ty, Scalar | Array)
            dims = views.dims_of(lo, own) if isinstance(own, ArrayRef) else []
            directions.append(structures.fitted(lo, ty, dims, part, "the tangent", node))
            moved.append(place)
    if not moved:
        raise ArgumentError(
            "no tangent is given", lo.span(node), "give one for at least one argument"
        )
    derived = derivatives.declared(lo, "forward", push.of, tuple(moved))
    return _pushed(lo, derived, (*operands, *directions), push.result, push.heap, node)[1]


@called(Pullback)
def _pull(
    lo: Lowerer, pullback: Pullback, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of what `vjp` returned."""
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if len(args) != 1 or kwargs:
        raise TypeMismatchError("a pullback takes one cotangent", lo.span(node))
    own, sizes = pullback.args.items
    assert isinstance(own, TupleOf)
    assert isinstance(sizes, TupleOf)
    operands = [
        leaf_operand(lo, leaf, node) for leaf in own.items if isinstance(leaf, Num | ArrayRef)
    ]
    count = len(operands)
    cotangent = elementwise.materialised(lo, args[0], node)
    parts = structures.belonging(
        lo,
        pullback.result,
        lambda ref: pullback.heap[ref.slot],
        cotangent,
        "the cotangent",
        node,
        conjugate=True,
    )
    for k, (_, given) in enumerate(parts):
        ty, dims = pullback.of.params[count + k].type, sizes.items[k]
        assert isinstance(ty, Scalar | Array)
        assert isinstance(dims, TupleOf)
        known = [size.operand for size in dims.items if isinstance(size, Num)]
        operands.append(structures.fitted(lo, ty, known, given, "the cotangent", node))
    derived = derivatives.declared(lo, "reverse", pullback.of, pullback.moved)
    hints = [f"d{hint_of(pullback.of.params[k])}" for k in pullback.moved]
    found = iter(derivatives.emit(lo, derived, operands, hints, node))
    return TupleOf(tuple(structures.gradients(lo, each, found) for each in pullback.like.items))


__all__ = ["transform"]
