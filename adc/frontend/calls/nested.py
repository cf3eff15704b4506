"""Derivatives within code that is lowered: `grad`, `jvp` and their relatives, and their calls.

The function that is differentiated is lowered for itself, with everything that it reads from
around it as parameters. What is called is declared (`Derived`); its statements are made when the
whole has been differentiated. Arguments are as they are when the derivative is taken: as outside,
it changes nothing, and advances random generators.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adc.frontend.calls.outline import Outline, Part, hint_of
from adc.frontend.control import inlining, marks
from adc.frontend.core import classes, closures, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Pullback,
    Static,
    Transformed,
    TupleOf,
    kind_of,
)
from adc.frontend.core.dispatch import called
from adc.frontend.core.lower import Lowerer, leaf_operand
from adc.frontend.core.places import Place
from adc.frontend.values import elementwise, results, structures, views
from adc.ir.core import Call, Derived, Function, Literal, Operand, Value
from adc.ir.errors import (
    ArgumentError,
    IntegerArgumentError,
    NonScalarError,
    TypeMismatchError,
)
from adc.ir.functions import contracted, without_prints
from adc.ir.types import Array, Scalar
from adc.library import jacobians
from adc.library.transforms import Level, transform_name

_LEVELS = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian")
_SAME = ("jit", "checkpoint")  # of a function: does what the function does
_IGNORED = ("remat", "cache", "progress")


def names() -> tuple[str, ...]:
    """Return the functions of adc that code may call."""
    return (
        *_LEVELS,
        "jvp",
        "vjp",
        "hvp",
        *_SAME,
        "stop_gradient",
        "save",
        "recompute",
        "invertible",
    )


# -- making derivatives ----------------------------------------------------------------------------


def transform(
    lo: Lowerer, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of `grad` or one of its relatives."""
    kwargs = {key: value for key, value in kwargs.items() if key not in _IGNORED}
    if name in _SAME:
        return Transformed(args[0] if args else NONE, name, Level(()))
    if name in _LEVELS:
        fn, *rest = args or [kwargs.pop("fn", NONE)]
        level = _level(lo, name, fn, rest, kwargs, node)
        return Transformed(fn, name, level)
    handler = {"jvp": _jvp, "hvp": _hvp, "vjp": _vjp}.get(name)
    if handler is None:
        raise lo.unsupported(f"`adc.{name}` here", node, "use it at module level")
    args = [elementwise.materialised(lo, arg, node) for arg in args]
    has_aux = bool(_static(lo, kwargs.pop("has_aux", NONE), node))
    return handler(lo, args, kwargs, has_aux, node)


def _level(
    lo: Lowerer, name: str, fn: Binding, rest: list[Binding], kwargs: dict[str, Binding],
    node: ast.AST,
) -> Level:  # fmt: skip
    """Return what a derivative was asked for."""
    known = {"argnums", "argnames", "has_aux"}
    if len(rest) > 1 or not set(kwargs) <= known:
        raise TypeMismatchError(f"adc.{name}() does not take these arguments", lo.span(node))
    argnums = _static(lo, rest[0] if rest else kwargs.get("argnums", NONE), node)
    argnames = _static(lo, kwargs.get("argnames", NONE), node)
    if argnames is not None:
        if fn == NONE:
            raise lo.unsupported("`argnames` without the function", node, "give `argnums`")
        named = parameters(lo, fn, node)
        wanted = (argnames,) if isinstance(argnames, str) else argnames
        for each in wanted:
            if each not in named:
                raise ArgumentError(f"there is no parameter {each!r}", lo.span(node))
        found = tuple(named.index(each) for each in wanted)
        argnums = found[0] if isinstance(argnames, str) else found
    numbers_ = argnums if isinstance(argnums, tuple) else (0 if argnums is None else argnums,)
    if not all(type(number) is int for number in numbers_):
        raise ArgumentError(
            f"argnums={argnums!r} is neither an integer nor a sequence of integers", lo.span(node)
        )
    has_aux = bool(_static(lo, kwargs.get("has_aux", NONE), node))
    return Level(0 if argnums is None else argnums, name == "value_and_grad", has_aux)


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
    raise lo.unsupported("an option that is computed", node, "write it as a constant")


def of_object(value: Any) -> Binding | None:
    """Return the binding of a derivative that was made outside, None for any other object."""
    applied = getattr(value, "__adc_applied__", None)
    if applied is None:
        return None
    binding: Binding = Static(value.__wrapped__)
    if not applied:
        return Transformed(binding, "jit", Level(()))
    for kind, level in applied:
        binding = Transformed(binding, kind, level)
    return binding


@called(Transformed)
def _call(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a derivative."""
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if target.fn == NONE:  # `adc.grad(argnums=1)(f)`
        (fn,) = args
        return replace(target, fn=fn)
    if target.kind == "checkpoint":
        return marks.checkpointed(lo, target.fn, args, kwargs, node)
    if target.kind == "jit":
        return _apart(lo, target, args, kwargs, node)
    if target.kind in ("grad", "value_and_grad"):
        return _gradient(lo, target, args, kwargs, node)
    return _jacobian(lo, target, args, kwargs, node)


def _apart(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a compiled function: it changes no argument, and returns none."""

    lent = set(lo.lent)

    def apart(binding: Binding) -> Binding:
        binding = elementwise.materialised(lo, binding, node)
        grown = [ref for ref in closures.refs_of(binding) if isinstance(lo.held(ref), Growing)]
        if grown:  # read, but not changed
            lo.lent |= {ref.slot for ref in grown}
            return binding
        return structures.detached(lo, binding, node, {})

    try:
        given = [apart(arg) for arg in args]
        named = {name: apart(arg) for name, arg in kwargs.items()}
        return apart(dispatch.apply(lo, target.fn, given, named, node))
    finally:
        lo.lent = lent


@dataclass(frozen=True)
class _Outlined:
    """A function of numbers and arrays, and what it is called with.

    `chosen` are the arguments that are differentiated, `moved` the positions of their floats.
    """

    fn: Function
    args: tuple[Operand, ...]
    chosen: tuple[Binding, ...]
    moved: tuple[int, ...]
    result: Binding
    heap: dict[str, Binding]

    def floats(self) -> list[int]:
        """Return which results are floats."""
        return [k for k, result in enumerate(self.fn.results) if result.type.kind == "f"]


def _outline(
    lo: Lowerer, callee: Binding, args: Sequence[Binding], kwargs: dict[str, Binding],
    numbers_: Sequence[int], node: ast.Call,
) -> _Outlined:  # fmt: skip
    """Lower a call of `callee` to a function; the arguments `numbers_` are differentiated."""
    given = [elementwise.materialised(lo, arg, node) for arg in (*args, *kwargs.values())]
    sources: dict[ArrayObject, ArrayObject] = {}
    places = argument_places(lo, callee, len(args), tuple(kwargs), numbers_, node)
    for place in places:
        given[place] = structures.detached(lo, given[place], node, sources)
    chosen = tuple(given[place] for place in places)
    outline = Outline(lo, (callee, *given), chosen, node, sources, may_draw=True)
    sub, inside, params = outline.enter()
    function, *rest = inside.items
    named = dict(zip(kwargs, rest[len(args) :], strict=True))
    result = dispatch.apply(sub, function, rest[: len(args)], named, node)
    part = outline.leave(sub, name_of(callee), params, result)
    outside = outline.outside([part])
    operands = [*outline.operands, *(operand for found in outside.values() for operand in found)]
    moved = tuple(
        outline.position(leaf) for each in chosen for leaf in structures.floats(each, lo.held)
    )
    fn = outline.function(part, outside)
    _advance(lo, outline, part, outside, operands, node)
    return _Outlined(fn, tuple(operands), chosen, moved, part.result, part.heap)


def _advance(
    lo: Lowerer, outline: Outline, part: Part, outside: Mapping[Place, tuple[Operand, ...]],
    operands: Sequence[Operand], node: ast.Call,
) -> None:  # fmt: skip
    """Advance the random generators that a function draws from, as one call of it does.

    Its derivatives start from the states before: they draw the same numbers.
    """
    if not part.drawn:
        return
    after = replace(part, operands=tuple(part.drawn.values()))
    derived = _declared(lo, "primal", without_prints(outline.function(after, outside)), ())
    found = _emit(lo, derived, operands, ["words"] * len(part.drawn), node)
    by_place = {place: obj for obj, place in lo.generators.items()}
    for where, words in zip(part.drawn, found, strict=True):
        lo.update(by_place[where] if isinstance(where, Place) else where, words)


def name_of(callee: Binding) -> str:
    match callee:
        case Closure(node=ast.FunctionDef(name=name)):
            return name
        case Transformed(fn=fn, kind=kind):
            return f"{kind}_{name_of(fn)}"
        case Bound(name=name):
            return name
        case Static(value=value) if str(getattr(value, "__name__", "")).isidentifier():
            return str(value.__name__)
    return "lambda"


def parameters(lo: Lowerer, callee: Binding, node: ast.AST) -> list[str]:
    """Return the names of the positional parameters of a function, without `self`."""
    spec: ast.arguments | None = None
    skip = 0
    match callee:
        case Closure(node=inner):
            spec = inner.args
        case Transformed(fn=fn):
            return parameters(lo, fn, node)
        case Bound(owner=ObjectRef(cls=cls) | NamedTuple(cls=cls), name=name):
            return parameters(lo, Static(classes.find_method(lo, cls, name)), node)[1:]
        case ObjectRef(cls=cls) | NamedTuple(cls=cls):
            return parameters(lo, Static(classes.find_method(lo, cls, "__call__")), node)[1:]
        case Static(value=value, place=place):
            inner_ = of_object(value)
            if inner_ is not None:
                return parameters(lo, inner_, node)
            fn_ = getattr(value, "py_func", value)
            if isinstance(fn_, types.MethodType):
                fn_, skip = fn_.__func__, 1
            if isinstance(fn_, types.FunctionType):
                spec = lo.source_of(lo.holder_of(fn_, place)).node.args
    if spec is None:
        raise lo.unsupported(f"a derivative of {kind_of(callee)}", node, "wrap it in a function")
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
        if known is None:
            known = parameters(lo, callee, node)
        count = max(len(known), positional)
        if not -count <= number < count:
            raise ArgumentError(f"argnums={number}, but there are {count} arguments", lo.span(node))
        number %= count
        if number < positional:
            found.append(number)
        elif known[number] in names:
            found.append(positional + list(names).index(known[number]))
        else:
            raise ArgumentError(
                f"{known[number]!r} is differentiated, and the call does not give it",
                lo.span(node), "pass it",
            )  # fmt: skip
    return found


# -- calls -----------------------------------------------------------------------------------------


def _declared(
    lo: Lowerer, mode: str, of: Function, wrt: tuple[int, ...],
    along: tuple[tuple[int, ...], ...] = (),
) -> Derived:  # fmt: skip
    """Return a derivative of a function, the same one where it is asked for again."""
    known = lo.shared.derived
    for each in known.values():
        if (each.mode, each.wrt, each.along) == (mode, wrt, along) and each.of == of:
            return each
    made = Derived(f"{of.name}_{mode}{len(known)}", mode, of, wrt, along)
    known[made.name] = made
    return made


def _emit(
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


def _value(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> Binding:
    """Call the function itself."""
    return _value_and_leaves(lo, outlined, node)[0]


def _value_and_leaves(
    lo: Lowerer, outlined: _Outlined, node: ast.AST
) -> tuple[Binding, list[Num | ArrayRef]]:
    """Call the function itself; return the numbers and arrays in the result, too."""
    derived = _declared(lo, "primal", outlined.fn, ())
    hints = ["r"] * len(outlined.fn.results)
    found = _emit(lo, derived, outlined.args, hints, node)
    leaves = [_leaf(lo, value) for value in found]
    return structures.returned(lo, outlined.result, outlined.heap, iter(leaves)), leaves


def _chosen(level: Level) -> tuple[int, ...]:
    return (level.argnums,) if isinstance(level.argnums, int) else level.argnums


def _check_floats(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> None:
    for each in outlined.chosen:
        if not list(structures.floats(each, lo.held)):
            raise IntegerArgumentError(
                f"{kind_of(each)} is differentiated with respect to; only floats can be",
                lo.span(node), "pass a float, or choose other arguments with `argnums`",
            )  # fmt: skip


def _first(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> Binding:
    """Return what is differentiated of a result with auxiliary results."""
    result = outlined.result
    if not (isinstance(result, TupleOf) and len(result.items) == 2):
        raise NonScalarError(
            f"{outlined.fn.name}() returns {kind_of(result)}; `has_aux` needs a pair",
            lo.span(node), "return (value, auxiliary results)",
        )  # fmt: skip
    return result.items[0]


def _check_scalar(lo: Lowerer, outlined: _Outlined, has_aux: bool, node: ast.AST) -> None:
    result = _first(lo, outlined, node) if has_aux else outlined.result
    if not (isinstance(result, Num) and result.operand.type.kind == "f"):
        raise NonScalarError(
            f"{outlined.fn.name}() returns {kind_of(result)}; only one float can be differentiated",
            lo.span(node), "return a scalar, for instance a sum",
        )  # fmt: skip


def _gradient(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    level = target.level
    outlined = _outline(lo, target.fn, args, kwargs, _chosen(level), node)
    _check_floats(lo, outlined, node)
    _check_scalar(lo, outlined, level.has_aux, node)
    value: Binding | None = None
    of = outlined.fn
    if level.with_value or level.has_aux:
        value = _value(lo, outlined, node)
        of = without_prints(of)
    scalar = replace(of, results=of.results[:1])
    derived = _declared(lo, "reverse", scalar, outlined.moved)
    hints = [f"d{of.params[k].name.split('.')[0]}" for k in outlined.moved]
    found = iter(_emit(lo, derived, outlined.args, hints, node))
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
        f"{what} is {kind_of(binding)}", lo.span(node), "pass a tuple with one for each argument"
    )


def _moving(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> tuple[_Outlined, list[Operand], tuple[int, ...]]:
    """Return a function, the tangents of its arguments, and which of these have some."""
    bound = {**dict(zip(("fn", "primals", "tangents"), args, strict=False)), **kwargs}
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
            "there is no tangent", lo.span(node), "give one for at least one argument"
        )
    outlined = _outline(lo, bound["fn"], list(primals), {}, chosen, node)
    _check_floats(lo, outlined, node)
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
    outlined, directions, _ = _moving(lo, args, kwargs, node)
    if has_aux:
        _first(lo, outlined, node)
    _check_any_float(lo, outlined, node)
    derived = _declared(lo, "forward", outlined.fn, outlined.moved)
    own = outlined.fn.results
    hints = ["r"] * len(own) + ["dr"] * sum(r.type.kind == "f" for r in own)
    found = _emit(lo, derived, (*outlined.args, *directions), hints, node)
    dots = iter(found[len(own) :])
    # What is no float does not move.
    moving = [
        _dot(lo, next(dots), operand) if operand.type.kind == "f" else _zeros_like(lo, own_value)
        for operand, own_value in zip(own, found, strict=False)
    ]
    value, dot = (
        structures.returned(
            lo, outlined.result, outlined.heap, iter([_leaf(lo, each) for each in leaves])
        )
        for leaves in (found[: len(own)], moving)
    )
    if not has_aux:
        return TupleOf((value, dot))
    assert isinstance(value, TupleOf)
    assert isinstance(dot, TupleOf)
    return TupleOf((value.items[0], dot.items[0], value.items[1]))


def _dot(lo: Lowerer, dot: Value, like: Operand) -> Operand:
    return dot if isinstance(dot.type, Array) else structures.like_number(lo, dot, like)


def _leaf(lo: Lowerer, operand: Operand) -> Num | ArrayRef:
    if isinstance(operand, Value) and isinstance(operand.type, Array):
        return structures.new_array(lo, operand, "r")
    return Num(operand)


def _zeros_like(lo: Lowerer, value: Value) -> Operand:
    ty = value.type
    if isinstance(ty, Scalar):
        return numbers.zero_of(ty)
    sizes = [lo.builder.apply("dim", value, params=(k,), hint="n") for k in range(ty.rank)]
    zero = numbers.zero_of(ty.element)
    return lo.builder.apply("full", zero, *sizes, params=(ty.dtype,), hint="v")


def _check_any_float(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> None:
    if not outlined.floats():
        raise NonScalarError(
            f"{outlined.fn.name}() returns {kind_of(outlined.result)}; there is no float in it",
            lo.span(node), "return floats, or arrays of floats",
        )  # fmt: skip


def _hvp(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], has_aux: bool, node: ast.Call
) -> Binding:
    if has_aux:
        raise TypeMismatchError("adc.hvp() does not take these arguments", lo.span(node))
    outlined, directions, chosen = _moving(lo, args, kwargs, node)
    _check_scalar(lo, outlined, False, node)
    derived = _declared(lo, "reverse", outlined.fn, outlined.moved, (outlined.moved,))
    hints = ["hv"] * len(outlined.moved)
    found = iter(_emit(lo, derived, (*outlined.args, *directions), hints, node))
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
    fn, *primals = args
    chosen = tuple(k for k, arg in enumerate(primals) if list(structures.floats(arg, lo.held)))
    outlined = _outline(lo, fn, primals, kwargs, chosen, node)
    _check_any_float(lo, outlined, node)
    value, leaves = _value_and_leaves(lo, outlined, node)
    result = _first(lo, outlined, node) if has_aux else outlined.result
    count = len(list(results.leaves_of(result, outlined.heap)))
    floats = [k for k in outlined.floats() if k < count]
    weighted = contracted(without_prints(outlined.fn), floats)
    arguments: list[Binding] = []
    for operand in outlined.args:
        # As they are now, whatever becomes of the arrays.
        if isinstance(operand, Value) and isinstance(operand.type, Array):
            arguments.append(structures.new_array(lo, operand, hint_of(operand)))
        else:
            arguments.append(Num(operand))
    like = TupleOf(
        tuple(
            outlined.chosen[chosen.index(k)] if k in chosen else NONE for k in range(len(primals))
        )
    )
    sizes = TupleOf(
        tuple(
            TupleOf(tuple(Num(size) for size in views.dims_of(lo, leaf)))
            if isinstance(leaf := leaves[k], ArrayRef)
            else TupleOf(())
            for k in floats
        )
    )
    held = TupleOf((TupleOf(tuple(arguments)), sizes))
    pull = Pullback(weighted, held, like, outlined.moved, result, outlined.heap)
    if not has_aux:
        return TupleOf((value, pull))
    assert isinstance(value, TupleOf)
    return TupleOf((value.items[0], pull, value.items[1]))


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
        lo, pullback.result, lambda ref: pullback.heap[ref.slot], cotangent, "the cotangent", node
    )
    for k, (_, given) in enumerate(parts):
        ty, dims = pullback.of.params[count + k].type, sizes.items[k]
        assert isinstance(ty, Scalar | Array)
        assert isinstance(dims, TupleOf)
        known = [size.operand for size in dims.items if isinstance(size, Num)]
        operands.append(structures.fitted(lo, ty, known, given, "the cotangent", node))
    derived = _declared(lo, "reverse", pullback.of, pullback.moved)
    hints = [f"d{hint_of(pullback.of.params[k])}" for k in pullback.moved]
    found = iter(_emit(lo, derived, operands, hints, node))
    return TupleOf(tuple(structures.gradients(lo, each, found) for each in pullback.like.items))


def _jacobian(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of `jacfwd`, `jacrev` or `hessian` of a function of one array or number."""
    kind, level = target.kind, target.level
    if not isinstance(level.argnums, int) or level.has_aux or kwargs or level.argnums < 0:
        raise lo.unsupported(
            f"`adc.{kind}` with these options within a function", node,
            "differentiate with respect to one argument, given by position",
        )  # fmt: skip
    chosen = level.argnums
    fn = TupleOf((target.fn, TupleOf(tuple(args[:chosen])), TupleOf(tuple(args[chosen + 1 :]))))
    x = elementwise.materialised(lo, args[chosen], node)
    if isinstance(x, Num):
        code = {"hessian": jacobians.second}.get(kind, jacobians.slope)
    elif isinstance(x, ArrayRef):
        code = {
            "hessian": jacobians.hessian, "jacfwd": jacobians.columns, "jacrev": jacobians.rows
        }[kind]  # fmt: skip
    else:
        raise lo.unsupported(
            f"`adc.{kind}` with respect to {kind_of(x)} within a function", node,
            "differentiate with respect to an array",
        )  # fmt: skip
    assert isinstance(code, types.FunctionType)
    before = {**lo.origin, **lo.versions}
    found = inlining.call_function(lo, code, [*fn.items, x], {}, node)
    now = {**lo.origin, **lo.versions}
    if isinstance(x, ArrayRef) and any(
        obj.words and now[obj] is not before.get(obj, lo.origin.get(obj, now[obj])) for obj in now
    ):
        raise lo.unsupported(
            f"`adc.{kind}` of a function that draws random numbers, within a function", node,
            "draw them before, and pass them to it",
        )  # fmt: skip
    return found


__all__ = ["of_object", "transform", "transform_name"]
