"""Derivatives within code that is lowered: `grad`, `jvp` and their relatives, and their calls.

The function that is differentiated is lowered for itself, with everything that it reads from
around it as parameters. What is called is declared (`Derived`); its statements are made when the
whole has been differentiated. Arguments are as they are when the derivative is taken: as outside,
it changes nothing.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adc.frontend import arrays, calls, closures, containers, elementwise, numbers, results, views
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Pullback,
    RecordOf,
    Ref,
    Static,
    Transformed,
    TupleOf,
    Unbound,
    Unstable,
    kind_of,
)
from adc.frontend.control import EXIT, FALLS
from adc.frontend.lower import Frame, Lowerer, leaf_operand
from adc.frontend.source import source_of
from adc.ir.builder import integer
from adc.ir.core import Call, Derived, Function, Literal, Operand, Value, derivative_type
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
_IGNORED = ("remat", "cache")


# -- making derivatives ----------------------------------------------------------------------------


def transform(
    lo: Lowerer, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of `grad` or one of its relatives."""
    kwargs = {key: value for key, value in kwargs.items() if key not in _IGNORED}
    if name in _SAME:
        return args[0] if args else Transformed(NONE, name, Level(()))
    if name in _LEVELS:
        fn, *rest = args or [kwargs.pop("fn", NONE)]
        level = _level(lo, name, fn, rest, kwargs, node)
        return Transformed(fn, name, level)
    handler = {"jvp": _jvp, "hvp": _hvp, "vjp": _vjp}.get(name)
    if handler is None:
        raise lo.unsupported(f"`adc.{name}` here", node, "use it outside")
    return handler(lo, args, kwargs, node)


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
        named = _parameters(lo, fn, node)
        wanted = (argnames,) if isinstance(argnames, str) else argnames
        for each in wanted:
            if each not in named:
                raise ArgumentError(f"there is no parameter {each!r}", lo.span(node))
        found = tuple(named.index(each) for each in wanted)
        argnums = found[0] if isinstance(argnames, str) else found
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
    for kind, level in applied:
        binding = Transformed(binding, kind, level)
    return binding


def call(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a derivative."""
    if target.fn == NONE:  # `adc.grad(argnums=1)(f)`
        (fn,) = args
        return fn if target.kind in _SAME else replace(target, fn=fn)
    if target.kind in ("grad", "value_and_grad"):
        return _gradient(lo, target, args, kwargs, node)
    return _jacobian(lo, target, args, kwargs, node)


# -- the function, lowered for itself --------------------------------------------------------------


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


def _outline(
    lo: Lowerer, callee: Binding, args: Sequence[Binding], kwargs: dict[str, Binding],
    numbers_: Sequence[int], node: ast.Call,
) -> _Outlined:  # fmt: skip
    """Lower a call of `callee` to a function; the arguments `numbers_` are differentiated."""
    args = [elementwise.materialised(lo, arg, node) for arg in args]
    names = tuple(kwargs)
    given = [*args, *(elementwise.materialised(lo, kwargs[name], node) for name in names)]
    places = _places(lo, callee, args, kwargs, numbers_, node)
    for place in places:
        if place >= len(given):  # a default
            raise ArgumentError(
                "a parameter that the call does not mention is differentiated", lo.span(node),
                "pass it",
            )  # fmt: skip
        given[place] = _detached(lo, given[place], node)
    chosen = tuple(given[place] for place in places)
    inputs = closures.closed(lo, TupleOf((callee, *given)), node, ())
    slots = closures.reachable(lo, [inputs])
    bindings = (inputs, *slots.values())
    leaves = [leaf for binding in bindings for leaf in closures.leaves_of(binding)]
    sub = Lowerer(lo.shared)
    sub.stack = list(lo.stack)
    sub.here, sub.builder.loc = lo.here, lo.builder.loc
    params: list[Value] = []
    operands: list[Operand] = []
    made: dict[int, Num | ArrayRef] = {}  # by the identity of what it stands for
    at: dict[int, int] = {}
    floats = [leaf for each in chosen for leaf in _leaves(lo, each, node)]
    fixed = {id(leaf) for leaf in floats}
    for leaf in leaves:
        key = id(leaf.object) if isinstance(leaf, ArrayRef) else id(leaf)
        if key in made:
            continue
        if isinstance(leaf, Num) and isinstance(leaf.operand, Literal) and id(leaf) not in fixed:
            made[key] = leaf  # a constant stays one
            continue
        operand = leaf_operand(lo, leaf, node)
        hint = leaf.object.name if isinstance(leaf, ArrayRef) else _hint(operand)
        param = Value(sub.builder.names.fresh(hint), operand.type)
        at[key] = len(params)
        params.append(param)
        operands.append(operand)
        made[key] = sub.array_param(param, hint) if isinstance(leaf, ArrayRef) else Num(param)
    fresh = iter(
        [made[id(leaf.object) if isinstance(leaf, ArrayRef) else id(leaf)] for leaf in leaves]
    )
    inside = closures.rebuilt(inputs, fresh)
    assert isinstance(inside, TupleOf)
    held = {slot: closures.rebuilt(binding, fresh) for slot, binding in slots.items()}
    # Those of the arguments are its own.
    sub.lent = set(slots) - set(closures.reachable(lo, chosen))
    for slot in slots:
        sub.builder.names.reserve(slot)
    sub.frame = Frame(
        lo.frame.source,
        {**held, EXIT: Num(integer(FALLS))},
        lo.frame.holder,
        path=(*lo.frame.path, ("derivative", id(node))),
        site=lo.frame.site,
    )
    function, *rest = inside.items
    positional, named = rest[: len(args)], rest[len(args) :]
    result = calls.apply(sub, function, positional, dict(zip(names, named, strict=True)), node)
    result = elementwise.materialised(sub, result, node)
    if isinstance(result, Unstable | Unbound):
        raise TypeMismatchError(f"the result {result.why}", lo.span(node))
    heap: dict[str, Binding] = {}
    result = results.finished(sub, result, heap)
    found = tuple(leaf_operand(sub, leaf) for leaf in results.leaves_of(result, heap))
    for outside, (capture, _) in sub.captured.items():
        lo.reach(outside, lo.shared.values[outside])
        params += capture.params
        operands += [leaf_operand(lo, leaf, node) for leaf in lo.captured[outside][1]]
    body = tuple(sub.prologue) + tuple(sub.builder.stmts)
    fn = Function(_name(callee), tuple(params), body, found)
    moved = tuple(at[id(x.object) if isinstance(x, ArrayRef) else id(x)] for x in floats)
    return _Outlined(fn, tuple(operands), chosen, moved, result, heap)


def _hint(operand: Operand) -> str:
    return operand.name.split(".")[0] if isinstance(operand, Value) else "c"


def _name(callee: Binding) -> str:
    match callee:
        case Closure(node=ast.FunctionDef(name=name)):
            return name
        case Transformed(fn=fn, kind=kind):
            return f"{kind}_{_name(fn)}"
        case Bound(name=name):
            return name
        case Static(value=value) if str(getattr(value, "__name__", "")).isidentifier():
            return str(value.__name__)
    return "lambda"


def _parameters(lo: Lowerer, callee: Binding, node: ast.AST) -> list[str]:
    """Return the names of the positional parameters of a function, without `self`."""
    spec: ast.arguments | None = None
    skip = 0
    match callee:
        case Closure(node=inner):
            spec = inner.args
        case Transformed(fn=fn):
            return _parameters(lo, fn, node)
        case Bound(owner=ObjectRef(cls=cls) | NamedTuple(cls=cls), name=name):
            spec, skip = source_of(containers.find_method(lo, cls, name)).node.args, 1
        case ObjectRef(cls=cls) | NamedTuple(cls=cls):
            spec, skip = source_of(containers.find_method(lo, cls, "__call__")).node.args, 1
        case Static(value=value):
            inner_ = of_object(value)
            if inner_ is not None:
                return _parameters(lo, inner_, node)
            fn_ = getattr(value, "py_func", value)
            if isinstance(fn_, types.MethodType):
                fn_, skip = fn_.__func__, 1
            if isinstance(fn_, types.FunctionType):
                spec = source_of(fn_).node.args
    if spec is None:
        raise lo.unsupported(f"a derivative of {kind_of(callee)}", node, "wrap it in a function")
    return [arg.arg for arg in (*spec.posonlyargs, *spec.args)][skip:]


def _places(
    lo: Lowerer, callee: Binding, args: Sequence[Binding], kwargs: dict[str, Binding],
    chosen: Sequence[int], node: ast.AST,
) -> list[int]:  # fmt: skip
    """Return where the chosen arguments are in a call: among the positional ones, then by name."""
    names = list(kwargs)
    found = []
    parameters: list[str] | None = None
    for number in chosen:
        if 0 <= number < len(args):
            found.append(number)
            continue
        if parameters is None:
            parameters = _parameters(lo, callee, node)
        count = max(len(parameters), len(args))
        if not -count <= number < count:
            raise ArgumentError(f"argnums={number}, but there are {count} arguments", lo.span(node))
        number %= count
        if number < len(args):
            found.append(number)
        elif parameters[number] in names:
            found.append(len(args) + names.index(parameters[number]))
        else:
            found.append(len(args) + len(names))
    return found


def _detached(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return an argument as it is now, shared with nothing: what is differentiated with respect to.

    In value form, a version of an array stays what it is.
    """
    match binding:
        case Num(operand=operand):
            return Num(operand)
        case ArrayRef(view=()):
            obj = binding.object
            return lo.new_array(lo.version(obj, node), lo.dims[obj], obj.name)
        case ArrayRef():
            return arrays.copy(lo, binding, node)
        case TupleOf(items=items):
            return TupleOf(tuple(_detached(lo, item, node) for item in items))
        case RecordOf(keys=keys, items=items):
            return RecordOf(keys, tuple(_detached(lo, lo.opened(item), node) for item in items))
        case NamedTuple(cls=cls, record=record):
            inner = _detached(lo, record, node)
            assert isinstance(inner, RecordOf)
            return NamedTuple(cls, inner)
        case ListRef() | DictRef() | ObjectRef():
            held = lo.held(binding)
            if isinstance(held, Growing):
                raise lo.unsupported(
                    "a derivative with respect to a list whose length is known only at run time",
                    node, "make an array of it with `np.array`",
                )  # fmt: skip
            return _new_ref(lo, binding, _detached(lo, held, node))
    return binding


def _new_ref(lo: Lowerer, like: Ref, held: Binding) -> Ref:
    """Make a list, dict or object of the kind of another one."""
    match like:
        case ListRef():
            return lo.new_ref(ListRef, held)
        case DictRef():
            return lo.new_ref(DictRef, held)
        case ObjectRef(cls=cls):
            return lo.new_ref(lambda slot: ObjectRef(slot, cls), held)


def _leaves(lo: Lowerer, binding: Binding, node: ast.AST) -> Iterator[Num | ArrayRef]:
    """Yield the floats in an argument that is differentiated."""
    match binding:
        case Num(operand=operand):
            if operand.type.kind == "f":
                yield binding
        case ArrayRef(object=obj):
            if obj.type.kind == "f":
                yield binding
        case TupleOf(items=items) | RecordOf(items=items):
            for item in items:
                yield from _leaves(lo, item, node)
        case NamedTuple(record=record):
            yield from _leaves(lo, record, node)
        case ListRef() | DictRef() | ObjectRef():
            yield from _leaves(lo, lo.held(binding), node)


def _arranged(lo: Lowerer, like: Binding, found: Iterator[Value]) -> Binding:
    """Arrange derivatives, one for each float, like the argument."""
    match like:
        case Num(operand=operand) if operand.type.kind == "f":
            return Num(lo.convert(next(found), numbers.scalar_type(operand)))
        case ArrayRef(object=obj) if obj.type.kind == "f":
            return lo.new_array(next(found), lo.dims[obj], obj.name)
        case TupleOf(items=items):
            return TupleOf(tuple(_arranged(lo, item, found) for item in items))
        case RecordOf(keys=keys, items=items):
            return RecordOf(keys, tuple(_arranged(lo, item, found) for item in items))
        case NamedTuple(cls=cls, record=record):
            inner = _arranged(lo, record, found)
            assert isinstance(inner, RecordOf)
            return NamedTuple(cls, inner)
        case ListRef() | DictRef() | ObjectRef():
            return _new_ref(lo, like, _arranged(lo, lo.held(like), found))
    return NONE


def _results(lo: Lowerer, outlined: _Outlined, values: Iterator[Value]) -> Binding:
    """Return the binding of what a function returned."""
    made: dict[str, Binding] = {}

    def visit(binding: Binding) -> Binding:
        match binding:
            case Num():
                return Num(next(values))
            case ArrayRef(object=obj):
                return _new_array(lo, next(values), obj.name)
            case TupleOf(items=items):
                return TupleOf(tuple(visit(item) for item in items))
            case RecordOf(keys=keys, items=items):
                return RecordOf(keys, tuple(visit(item) for item in items))
            case NamedTuple(cls=cls, record=record):
                inner = visit(record)
                assert isinstance(inner, RecordOf)
                return NamedTuple(cls, inner)
            case Growing(buffer=buffer, type=ty):
                array = _new_array(lo, next(values), buffer.object.name)
                return Growing(array, Num(lo.dims[array.object][0]), ty)
            case ListRef() | DictRef() | ObjectRef():
                if binding.slot not in made:
                    held = visit(outlined.heap[binding.slot])
                    made[binding.slot] = _new_ref(lo, binding, held)
                return made[binding.slot]
        return binding

    return visit(outlined.result)


def _new_array(lo: Lowerer, value: Value, name: str) -> ArrayRef:
    assert isinstance(value.type, Array)
    dims = tuple(
        lo.builder.apply("dim", value, params=(axis,), hint="dim")
        for axis in range(value.type.rank)
    )
    return lo.new_array(value, dims, name)


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
    derived = _declared(lo, "primal", outlined.fn, ())
    hints = ["r"] * len(outlined.fn.results)
    return _results(lo, outlined, iter(_emit(lo, derived, outlined.args, hints, node)))


def _chosen(level: Level) -> tuple[int, ...]:
    return (level.argnums,) if isinstance(level.argnums, int) else level.argnums


def _check_floats(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> None:
    for each in outlined.chosen:
        if not list(_leaves(lo, each, node)):
            raise IntegerArgumentError(
                f"{kind_of(each)} is differentiated with respect to; only floats can be",
                lo.span(node), "pass a float, or choose other arguments with `argnums`",
            )  # fmt: skip


def _check_scalar(lo: Lowerer, outlined: _Outlined, has_aux: bool, node: ast.AST) -> None:
    result = outlined.result
    if has_aux:
        if not (isinstance(result, TupleOf) and len(result.items) == 2):
            raise NonScalarError(
                f"{outlined.fn.name}() returns {kind_of(result)}; `has_aux` needs a pair",
                lo.span(node), "return (value, auxiliary results)",
            )  # fmt: skip
        result = result.items[0]
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
    parts = tuple(_arranged(lo, each, found) for each in outlined.chosen)
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
        for operand in _like(lo, each, tangents[k], "the tangent", node)
    ]
    return outlined, directions, chosen


def _like(
    lo: Lowerer, primal: Binding, tangent: Binding, what: str, node: ast.AST
) -> Iterator[Operand]:
    """Yield what belongs to each float of `primal` in something of the same structure."""
    match primal:
        case Num(operand=operand):
            if operand.type.kind == "f":
                given = numbers.number(lo, elementwise.value_of(lo, tangent, node), node, what)
                ty = derivative_type(operand.type)
                assert isinstance(ty, Scalar)
                yield lo.exact(lo.convert(given, ty), ty)
            return
        case ArrayRef(object=obj):
            if obj.type.kind == "f":
                yield _array_like(lo, lo.dims[obj], obj.type.dtype, tangent, what, node)
            return
    parts, others = _parts(lo, primal), _parts(lo, tangent)
    if parts is None:
        return
    if others is None or len(others) != len(parts):
        raise TypeMismatchError(
            f"{what} is {kind_of(tangent)} where the argument is {kind_of(primal)}", lo.span(node)
        )
    for part, other in zip(parts, others, strict=True):
        yield from _like(lo, part, other, what, node)


def _parts(lo: Lowerer, binding: Binding) -> tuple[Binding, ...] | None:
    match binding:
        case TupleOf(items=items) | RecordOf(items=items):
            return items
        case NamedTuple(record=record):
            return record.items
        case ListRef() | DictRef() | ObjectRef():
            return _parts(lo, lo.held(binding))
    return None


def _array_like(
    lo: Lowerer, dims: Sequence[Operand], dtype: str, given: Binding, what: str, node: ast.AST
) -> Operand:
    source = elementwise.lazy(lo, arrays.as_array(lo, given, node), node)
    own = views.dims_of(lo, source)
    message = f"{what} has shape ({', '.join(['{}'] * len(own))}) where ({{}}) is needed"
    if len(own) != len(dims):
        raise TypeMismatchError(
            f"{what} has rank {len(own)}, the argument {len(dims)}", lo.span(node)
        )
    message = f"{what} has not the shape of what it belongs to"
    for a, b in zip(own, dims, strict=True):
        elementwise.require_same(lo, a, b, message, [], node)
    made = elementwise.stored_new(lo, source, dtype, node, "v")
    return lo.version(made.object, node)


def _jvp(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    outlined, directions, _ = _moving(lo, args, kwargs, node)
    _check_any_float(lo, outlined, node)
    derived = _declared(lo, "forward", outlined.fn, outlined.moved)
    own = outlined.fn.results
    hints = ["r"] * len(own) + ["dr"] * sum(r.type.kind == "f" for r in own)
    found = _emit(lo, derived, (*outlined.args, *directions), hints, node)
    dots = iter(found[len(own) :])
    # What is no float does not move.
    moving = [
        next(dots) if operand.type.kind == "f" else _zero_like(lo, value)
        for operand, value in zip(own, found, strict=False)
    ]
    value = _results(lo, outlined, iter(found))
    return TupleOf((value, _results(lo, outlined, iter(moving))))


def _zero_like(lo: Lowerer, value: Value) -> Value:
    ty = value.type
    if isinstance(ty, Array):
        sizes = [lo.builder.apply("dim", value, params=(k,), hint="n") for k in range(ty.rank)]
        return lo.builder.apply("full", numbers.zero_of(ty.element), *sizes, params=(ty.dtype,))
    return lo.builder.apply("cast", numbers.zero_of(ty), params=(str(ty),))


def _check_any_float(lo: Lowerer, outlined: _Outlined, node: ast.AST) -> None:
    if not any(r.type.kind == "f" for r in outlined.fn.results):
        raise NonScalarError(
            f"{outlined.fn.name}() returns {kind_of(outlined.result)}; there is no float in it",
            lo.span(node), "return floats, or arrays of floats",
        )  # fmt: skip


def _hvp(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    outlined, directions, chosen = _moving(lo, args, kwargs, node)
    _check_scalar(lo, outlined, False, node)
    derived = _declared(lo, "reverse", outlined.fn, outlined.moved, (outlined.moved,))
    hints = ["hv"] * len(outlined.moved)
    found = iter(_emit(lo, derived, (*outlined.args, *directions), hints, node))
    parts = dict(zip(chosen, [_arranged(lo, each, found) for each in outlined.chosen], strict=True))
    count = len(_sequence(lo, args[1] if len(args) > 1 else kwargs["primals"], "primals", node))
    return parts[0] if count == 1 else TupleOf(tuple(parts.get(k, NONE) for k in range(count)))


def _vjp(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    fn, *primals = args
    chosen = tuple(k for k, arg in enumerate(primals) if list(_leaves(lo, arg, node)))
    outlined = _outline(lo, fn, primals, kwargs, chosen, node)
    _check_any_float(lo, outlined, node)
    value = _value(lo, outlined, node)
    floats = [k for k, r in enumerate(outlined.fn.results) if r.type.kind == "f"]
    weighted = contracted(without_prints(outlined.fn), floats)
    arguments: list[Binding] = []
    for operand in outlined.args:
        # As they are now, whatever becomes of the arrays.
        if isinstance(operand, Value) and isinstance(operand.type, Array):
            arguments.append(_new_array(lo, operand, _hint(operand)))
        else:
            arguments.append(Num(operand))
    like = TupleOf(
        tuple(
            outlined.chosen[chosen.index(k)] if k in chosen else NONE for k in range(len(primals))
        )
    )
    pull = Pullback(
        weighted, TupleOf(tuple(arguments)), like, outlined.moved, outlined.result, outlined.heap
    )
    return TupleOf((value, pull))


def pull(
    lo: Lowerer, pullback: Pullback, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of what `vjp` returned."""
    if len(args) != 1 or kwargs:
        raise TypeMismatchError("a pullback takes one cotangent", lo.span(node))
    own = [
        leaf_operand(lo, leaf, node)
        for leaf in pullback.args.items
        if isinstance(leaf, Num | ArrayRef)
    ]
    weights = pullback.of.params[len(own) :]
    given = list(_cotangents(lo, pullback, args[0], node))
    if len(given) != len(weights):
        raise TypeMismatchError(
            f"the cotangent is {kind_of(args[0])} where the value is {kind_of(pullback.result)}",
            lo.span(node),
        )
    cts = [_weight(lo, weight, leaf, node) for weight, leaf in zip(weights, given, strict=True)]
    derived = _declared(lo, "reverse", pullback.of, pullback.moved)
    hints = [f"d{_hint(pullback.of.params[k])}" for k in pullback.moved]
    found = iter(_emit(lo, derived, (*own, *cts), hints, node))
    return TupleOf(tuple(_arranged(lo, each, found) for each in pullback.like.items))


def _cotangents(
    lo: Lowerer, pullback: Pullback, given: Binding, node: ast.AST
) -> Iterator[Binding]:
    """Yield what belongs to each float of a result."""

    def visit(like: Binding, given: Binding) -> Iterator[Binding]:
        match like:
            case Num(operand=operand):
                if operand.type.kind == "f":
                    yield given
                return
            case ArrayRef(object=obj):
                if obj.type.kind == "f":
                    yield given
                return
            case Growing(type=ty):
                if ty.kind == "f":
                    yield given
                return
            case ListRef() | DictRef() | ObjectRef():
                held = pullback.heap[like.slot]
                if isinstance(held, Growing):
                    yield from visit(held, given)
                    return
                like = held
        parts = like.record.items if isinstance(like, NamedTuple) else getattr(like, "items", None)
        others = _parts(lo, given)
        if parts is None:
            return
        if others is None or len(others) != len(parts):
            raise TypeMismatchError(
                f"the cotangent is {kind_of(given)} where the value is {kind_of(pullback.result)}",
                lo.span(node),
            )
        for part, other in zip(parts, others, strict=True):
            yield from visit(part, other)

    return visit(pullback.result, elementwise.materialised(lo, given, node))


def _weight(lo: Lowerer, weight: Value, given: Binding, node: ast.AST) -> Operand:
    ty = weight.type
    if isinstance(ty, Scalar):
        operand = numbers.number(lo, elementwise.value_of(lo, given, node), node, "the cotangent")
        return lo.exact(lo.convert(operand, ty), ty)
    source = elementwise.lazy(lo, arrays.as_array(lo, given, node), node)
    if len(source.dims) != ty.rank:
        raise TypeMismatchError(
            f"the cotangent has rank {len(source.dims)}, the value {ty.rank}", lo.span(node)
        )
    made = elementwise.stored_new(lo, source, ty.dtype, node, "ct")
    return lo.version(made.object, node)


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
    return calls.call_function(lo, code, [*fn.items, x], {}, node)


__all__ = ["call", "of_object", "pull", "transform", "transform_name"]
