"""Functions of the program: inlined where they are called, or IR functions if recursive.

A function that calls itself while it is inlined becomes an IR function. It is lowered repeatedly
until the types of its results, its writes and its captures no longer change.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from adc.frontend.control import blocks, control, evaluation, marks
from adc.frontend.control.control import EXIT, FALLS, RESULT, RETURN
from adc.frontend.core import closures, refusals, scope, trees
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    Given,
    ListRef,
    Num,
    ObjectRef,
    RecordOf,
    Static,
    Transformed,
    TupleOf,
    Unbound,
    Unstable,
    is_slot,
    kind_of,
    leaves,
    rebuild,
    refs,
    shape_of,
)
from adc.frontend.core.lower import MAX_CALL_DEPTH, Dead, Frame, Holder, Lowerer
from adc.frontend.core.places import Default, Place, defaults_of
from adc.frontend.core.refusals import GENERATOR, refusal
from adc.frontend.core.source import Source
from adc.ir.builder import integer
from adc.ir.core import Call, Function, Literal, Operand, Value
from adc.ir.errors import AliasError, RecursionDepthError, TypeMismatchError, UnsupportedError
from adc.ir.types import INT, Array, Scalar, join

# Compiled recursion has no interpreter to stop it before the stack ends.
MAX_RECURSION = 3000


# A recursive function is lowered once for each combination of argument types and functions.
MAX_CALLEES = 24


class _Recursive(Exception):
    """A function calls itself while it is inlined: it must become an IR function."""

    def __init__(self, key: object) -> None:
        self.key = key


def _key(fn: types.FunctionType, bound: dict[str, Binding]) -> object:
    """Return the key of a call of a function while it is inlined: the functions passed.

    ``apply(lambda u: apply(f, u), x)`` is no recursion: the two calls apply different functions.
    """
    fixed = tuple(
        (name, shape_of(binding))
        for name, binding in bound.items()
        if isinstance(binding, Closure | Static | Transformed)
    )
    return (fn, fixed)


class _Bottom(Dead):
    """A recursive call whose result is not known yet; this path contributes nothing."""


def require_lasting(lo: Lowerer, args: Iterable[Binding], node: ast.Call) -> None:
    """Refuse to pass iterators that can be consumed only once to a function of the program."""
    for value in args:
        refusals.require_lasting(lo, node, value)
    for arg in (*node.args, *(keyword.value for keyword in node.keywords)):
        refusals.require_lasting(lo, arg)


def bind_arguments(
    lo: Lowerer,
    name: str,
    spec: ast.arguments,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    defaults: dict[str, Binding],
    node: ast.AST,
) -> dict[str, Binding]:
    """Match arguments to parameters as Python does."""
    positional = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    by_name = {arg.arg for arg in (*spec.args, *spec.kwonlyargs)}
    bound: dict[str, Binding] = dict(zip(positional, args, strict=False))
    if len(args) > len(positional):
        if spec.vararg is None:
            raise TypeMismatchError(
                f"{name}() takes {len(positional)} arguments but {len(args)} were given",
                lo.span(node),
            )
        bound[spec.vararg.arg] = TupleOf(tuple(args[len(positional) :]))
    elif spec.vararg is not None:
        bound[spec.vararg.arg] = TupleOf(())
    extra = RecordOf((), ())
    for key, value in kwargs.items():
        if key not in by_name and spec.kwarg is not None:
            extra = extra.with_item(key, value)
            continue
        if key not in by_name:
            raise TypeMismatchError(
                f"{name}() got an unexpected keyword argument {key!r}", lo.span(node)
            )
        if key in bound:
            raise TypeMismatchError(
                f"{name}() got multiple values for argument {key!r}", lo.span(node)
            )
        bound[key] = value
    for key in [*positional, *(arg.arg for arg in spec.kwonlyargs)]:
        if key not in bound:
            if key not in defaults:
                raise TypeMismatchError(f"{name}() is missing the argument {key!r}", lo.span(node))
            bound[key] = lo.opened(defaults[key])
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = lo.new_ref(DictRef, extra)
    return bound


def function_defaults(holder: Holder) -> dict[str, Binding]:
    """Return the default values of a function object: numbers are part of the program."""
    return {
        name: Given(holder.place.to(Default(name)), value, trees.is_constant((value,)))
        for name, value in defaults_of(holder.fn).items()
    }


def run(
    lo: Lowerer,
    node: ast.FunctionDef | ast.Lambda,
    source: Source,
    bound: dict[str, Binding],
    holder: Holder,
    outer: Frame | None,
) -> Binding:
    """Lower the body of a function in a new frame; return its result."""
    path = lo.frame.path if lo.frame is not None else ()
    site = lo.here
    frame = Frame(
        source,
        {**lo.initial, **closures.heap_of(lo.frame), **bound, EXIT: Num(integer(FALLS))},
        holder,
        outer,
        lo.frame,
        path=(*path, (id(node), site.line if site else 0, site.column if site else 0)),
        locals=closures.locals_of(node),
        site=lo.builder.loc if (holder.fn.__module__ or "").startswith("adc.library") else None,
    )
    caller = lo.frame
    if caller is not None and not caller.shared:
        frame.called = lo.builder.loc
    result = _body(lo, frame, node, source)
    # Lists, dicts and objects that the function changed or made.
    (lo.heap if caller is None else caller.env).update(closures.heap_of(frame))
    return result


def _body(lo: Lowerer, frame: Frame, node: ast.FunctionDef | ast.Lambda, source: Source) -> Binding:
    with lo.entered(frame):
        if isinstance(node, ast.Lambda):
            refusals.require_lasting(lo, node.body)
            return evaluation.lower_expr(lo, node.body)
        blocks.lower_stmts(lo, node.body)
        result = frame.env.get(RESULT, NONE)
        pending = control.exit_of(lo)
        if isinstance(pending, Literal):
            return result if pending.value == RETURN else NONE
        if isinstance(result, Static) and result.value is None:
            return NONE
        if isinstance(result, Unbound | Unstable):
            return result
        return Unstable(
            f"of {source.name}() is {kind_of(result)} on one path and None on another",
            source.span(node),
        )


def run_main(lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding]) -> Binding:
    """Lower the main function, for `lower`."""
    lo.shared.sources[id(holder.fn.__code__)] = source
    missing = {k: lo.opened(v) for k, v in function_defaults(holder).items() if k not in bound}
    args = {**missing, **bound}
    mark = len(lo.builder.stmts)
    state = (dict(lo.versions), dict(lo.stale))
    key = _key(holder.fn, args)
    lo.stack.append(key)
    try:
        return run(lo, source.node, source, args, holder, None)
    except _Recursive as signal:
        if signal.key != key:
            raise
    finally:
        lo.stack.pop()
    # The main function calls itself: it becomes a function that main calls once.
    del lo.builder.stmts[mark:]
    lo.versions, lo.stale = state
    lo.shared.recursive.add(key)
    lo.frame = Frame(source, {**lo.initial, EXIT: Num(integer(FALLS))}, holder)
    lo.builder.loc = source.span(source.node)
    result = call_recursive(lo, holder, source, args, source.node)
    lo.heap = closures.heap_of(lo.frame)
    return result


def call_function(
    lo: Lowerer,
    fn: types.FunctionType,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
    place: Place | None = None,
) -> Binding:
    """Lower a call of a function object: inline it, or call it if it is recursive."""
    holder = lo.holder_of(fn, place)
    source = lo.source_of(holder)
    if isinstance(source.node, ast.FunctionDef) and _is_generator(source.node):
        raise refusal(lo, node, GENERATOR)
    lo.shared.sources[id(fn.__code__)] = source
    spec = source.node.args
    if not (fn.__module__ or "").startswith("adc.library"):
        require_lasting(lo, (*args, *kwargs.values()), node)
    bound = bind_arguments(lo, fn.__name__, spec, args, kwargs, function_defaults(holder), node)
    key = _key(fn, bound)
    if key in lo.shared.recursive:
        return call_recursive(lo, holder, source, bound, node)
    if key in lo.stack:
        raise _Recursive(key)
    passed = [*bound.values()]
    if lo.builder.emitted > lo.shared.inlined and not any(True for b in passed for _ in refs(b)):
        lo.shared.recursive.add(key)  # it may call itself
        return call_recursive(lo, holder, source, bound, node)
    if len(lo.stack) >= MAX_CALL_DEPTH:
        raise RecursionDepthError(
            f"calls are nested more than {MAX_CALL_DEPTH} deep", lo.span(node), "write a loop"
        )
    before, mark = lo.snapshot(), len(lo.builder.stmts)
    frame = lo.frame
    lo.stack.append(key)
    try:
        return run(lo, source.node, source, bound, holder, None)
    except _Recursive as signal:
        if signal.key != key:
            raise
    finally:
        lo.stack.pop()
    del lo.builder.stmts[mark:]
    lo.frame = frame
    lo.restore(before)
    lo.shared.recursive.add(key)
    return call_recursive(lo, holder, source, bound, node)


def _is_generator(node: ast.FunctionDef) -> bool:
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in scope.inside(node.body))


@dataclass(eq=False)
class Callee:
    """A recursive function, for one signature: found by iterating until nothing changes."""

    name: str
    result: Binding | None = None
    types: tuple[Scalar | Array, ...] = ()
    # For each result leaf: the position of the array parameter that it is, or -1.
    origins: tuple[int, ...] = ()
    modified: frozenset[int] = frozenset()
    captures: tuple[Place, ...] = ()
    function: Function | None = None

    def facts(self) -> tuple[object, ...]:
        return (self.types, self.origins, self.modified, len(self.captures),
                None if self.result is None else shape_of(self.result))  # fmt: skip


def call_recursive(
    lo: Lowerer,
    holder: Holder,
    source: Source,
    bound: dict[str, Binding],
    node: ast.AST,
) -> Binding:
    """Lower a call of a recursive function to a `Call`."""
    fn = holder.fn
    bound = {name: closures.closed(lo, binding, node, ()) for name, binding in bound.items()}
    bound = {**bound, **dict(sorted(closures.reachable(lo, bound.values()).items()))}
    found = [leaf for binding in bound.values() for leaf in closures.leaves_of(binding)]
    unique: list[Num | ArrayRef] = []
    slots: list[int] = []
    for leaf in found:
        if isinstance(leaf, ArrayRef):
            same = [
                k
                for k, other in enumerate(unique)
                if isinstance(other, ArrayRef) and other.object is leaf.object
            ]
            if same:
                slots.append(same[0])
                continue
            for other in unique:
                if isinstance(other, ArrayRef) and other.object in leaf.object.alias:
                    raise AliasError(
                        f"{leaf.object.users_name!r} and {other.object.users_name!r} may or may "
                        "not be the same array here",
                        lo.span(node),
                        "make one of them a copy with `.copy()`",
                    )
        slots.append(len(unique))
        unique.append(leaf)
    types_ = tuple(
        leaf.operand.type
        if isinstance(leaf, Num)
        else replace(leaf.object.type, ones=())  # of the array on one path, perhaps
        for leaf in unique
    )
    key = (
        fn, tuple(slots), types_,
        tuple((name, closures.shape(binding)) for name, binding in bound.items()),
    )  # fmt: skip
    callee = lo.shared.callees.get(key)
    if callee is None:
        count = sum(1 for other in lo.shared.callees.values())
        callee = Callee(f"{fn.__name__}{count or ''}_rec")
        lo.shared.callees[key] = callee
        _find(lo, callee, holder, source, bound, types_, slots, node)
    if callee.result is None:
        raise _Bottom
    return _emit_call(lo, callee, unique, node)


def _check_data(result: Binding, source: Source) -> None:
    """Raise unless the result of a recursive function can be passed back by value."""
    match result:
        case TupleOf(items=items):
            for item in items:
                _check_data(item, source)
        case Closure() | Bound() | ListRef() | DictRef() | ObjectRef():
            raise UnsupportedError(
                f"returning {kind_of(result)} from a recursive function is not supported",
                source.span(source.node),
                "return numbers and arrays",
            )


def _emit_call(
    lo: Lowerer, callee: Callee, unique: Sequence[Num | ArrayRef], node: ast.AST
) -> Binding:
    passed: list[Num | ArrayRef] = list(unique)
    for place in callee.captures:
        lo.reach(place, lo.shared.values[place])
        passed += lo.captured[place][1]
    level: Operand = (
        integer(0)
        if lo.depth is None
        else lo.builder.apply("add", lo.depth, integer(1), hint="depth")
    )
    args: list[Operand] = [level]
    for leaf in passed:
        args.append(leaf.operand if isinstance(leaf, Num) else lo.version(leaf.object, node))
    assert callee.result is not None
    results = [lo.builder.value("r", ty) for ty in callee.types]
    changed: list[tuple[ArrayObject, Value]] = []
    for position in sorted(callee.modified):
        leaf = passed[position]
        assert isinstance(leaf, ArrayRef)
        changed.append((leaf.object, lo.builder.value(leaf.object.name, leaf.object.type)))
    outputs = [r for r, origin in zip(results, callee.origins, strict=True) if origin < 0]
    label = lo.builder.names.fresh("C0")
    lo.builder.emit(
        Call((*outputs, *(v for _, v in changed)), label, callee.name, tuple(args),
             loc=lo.builder.loc)
    )  # fmt: skip
    for obj, version in changed:
        lo.update(obj, version)
    made: list[Num | ArrayRef] = []
    for value, origin in zip(results, callee.origins, strict=True):
        if origin >= 0:
            made.append(passed[origin])
        elif isinstance(value.type, Array):
            dims = tuple(
                lo.builder.apply("dim", value, params=(axis,), hint="dim")
                for axis in range(value.type.rank)
            )
            made.append(lo.new_array(value, dims, "r"))
        else:
            made.append(Num(value))
    return rebuild(callee.result, iter(made))


def _find(
    lo: Lowerer,
    callee: Callee,
    holder: Holder,
    source: Source,
    bound: dict[str, Binding],
    types_: tuple[Scalar | Array, ...],
    slots: Sequence[int],
    node: ast.AST,
) -> None:
    """Lower the body repeatedly until result types, writes and captures are stable."""
    fn = holder.fn
    if len(lo.shared.callees) > MAX_CALLEES:
        raise RecursionDepthError(
            f"{fn.__name__}() calls itself with a new function or new types at every level",
            lo.span(node),
            "pass the same function and the same types in every call",
        )  # fmt: skip
    known = set(lo.shared.callees)
    for _ in range(12):
        facts = callee.facts()
        # Callees found on the way depend on what was believed of this one.
        for key in [key for key in lo.shared.callees if key not in known]:
            del lo.shared.callees[key]
        try:
            function = _lower_callee(lo, callee, holder, source, bound, types_, slots)
        except Dead:
            raise UnsupportedError(
                f"{fn.__name__}() calls itself on every path", source.span(source.node),
                "add a path that returns without a recursive call",
            ) from None  # fmt: skip
        if callee.facts() == facts:
            callee.function = function
            return
    raise UnsupportedError(
        f"the types in the recursive function {fn.__name__}() do not converge",
        source.span(source.node),
    )


def _lower_callee(
    lo: Lowerer,
    callee: Callee,
    holder: Holder,
    source: Source,
    bound: dict[str, Binding],
    types_: tuple[Scalar | Array, ...],
    slots: Sequence[int],
) -> Function:
    fn = holder.fn
    sub = Lowerer(lo.shared)
    sub.stack = [_key(fn, bound)]
    depth = sub.builder.value("depth", INT)
    sub.depth = depth
    found = [
        (name, leaf) for name, binding in bound.items() for leaf in closures.leaves_of(binding)
    ]
    params: list[Value] = []
    made: list[Num | ArrayRef] = []
    for position, ty in enumerate(types_):
        hint, given = found[slots.index(position)]
        param = Value(sub.builder.names.fresh(hint), ty)
        params.append(param)
        made.append(sub.array_param(param, hint) if isinstance(ty, Array) else Num(param))
        if isinstance(leaf := made[-1], ArrayRef) and isinstance(given, ArrayRef):
            leaf.object.words = given.object.words
    fresh: Iterator[Num | ArrayRef] = iter([made[slot] for slot in slots])
    env = {name: closures.rebuilt(binding, fresh) for name, binding in bound.items()}
    sub.lent = {name for name in bound if is_slot(name)}
    for slot in sub.lent:
        sub.builder.names.reserve(slot)
    sub.builder.loc = source.span(source.node)
    within = sub.builder.apply("lt", depth, integer(MAX_RECURSION))
    sub.builder.check(within, "RecursionError", "maximum recursion depth exceeded")
    result = run(sub, source.node, source, env, holder, None)
    if isinstance(result, Unstable | Unbound):
        raise TypeMismatchError(f"the result {result.why}", source.span(source.node))
    _check_data(result, source)
    callee.captures = tuple(sub.captured)
    arrays_in = [*made, *(leaf for _, found in sub.captured.values() for leaf in found)]
    position_of = {leaf.object: k for k, leaf in enumerate(arrays_in) if isinstance(leaf, ArrayRef)}
    outputs: list[Operand] = []
    origins: list[int] = []
    found_types: list[Scalar | Array] = []
    for k, leaf in enumerate(leaves(result)):
        if isinstance(leaf, Num):
            ty = leaf.operand.type
            assert isinstance(ty, Scalar)
            if callee.result is not None and k < len(callee.types):
                old = callee.types[k]
                assert isinstance(old, Scalar)
                ty = join(old, ty)
            outputs.append(sub.convert(leaf.operand, ty))
            origins.append(-1)
            found_types.append(ty)
            continue
        obj = leaf.object
        if obj in position_of:
            origins.append(position_of[obj])
        elif obj.alias & set(position_of):
            raise AliasError(
                f"{fn.__name__}() may or may not return one of its arguments",
                source.span(source.node),
                "return a copy with `.copy()`",
            )
        else:
            origins.append(-1)
            outputs.append(sub.version(obj, None))
        found_types.append(obj.type)
    for obj in position_of:
        if obj in sub.stale:
            sub.version(obj, None)  # raises: it may have been changed under another name
    modified = frozenset(
        k
        for obj, k in position_of.items()
        if sub.versions.get(obj, sub.origin[obj]) is not sub.origin[obj]
    )
    callee.modified |= modified
    for k in sorted(callee.modified):
        leaf = arrays_in[k]
        assert isinstance(leaf, ArrayRef)
        outputs.append(sub.versions.get(leaf.object, sub.origin[leaf.object]))
    callee.result, callee.types, callee.origins = result, tuple(found_types), tuple(origins)
    captured_params = [p for capture, _ in sub.captured.values() for p in capture.params]
    return Function(
        callee.name,
        (depth, *params, *captured_params),
        marks.with_marks((*sub.prologue, *sub.builder.stmts), sub.builder.marks),
        tuple(outputs),
    )
