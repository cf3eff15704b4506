"""Calls of functions of the program: inlined, or calls of IR functions.

A function that calls itself while it is inlined becomes an IR function. So does a large one that
the program calls again and again with the same signature: compile time then does not depend on the
number of calls. Small ones are inlined, which lets their loops fuse with those of the caller.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from adc.frontend.control import callees, escapes, inlining
from adc.frontend.control.exits import EXIT, FALLS
from adc.frontend.control.signatures import Passed, passed_by
from adc.frontend.core import closures, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Closure,
    Num,
    ObjectRef,
    Static,
    Transformed,
    Unbound,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Frame, Holder, StackError, VariesError
from adc.frontend.core.structure import pieces, refs, shape_of
from adc.frontend.inputs.places import Place
from adc.frontend.syntax import scope
from adc.frontend.syntax.source import Source
from adc.ir.builder import integer
from adc.ir.core import Literal
from adc.ir.errors import AdcError, RecursionDepthError, Span, UnsupportedError
from adc.library.standard import iteration

# The fewest statements of a function that calls share, and the fewest that sharing it must save:
# less code compiles in no time, and fuses with that around it. Where functions of any kind repeat
# so many statements together, all that can be are shared.
LEAST = 50
SAVED = 300
TOTAL = 1500
# How deep calls are inlined before adc gives up; recursive functions become calls much earlier.
_MAX_CALL_DEPTH = 60
# How often lowering begins again: signatures that differ each time would not end it.
MOST_AGAIN = 20
# How many calls of a recursive function are inlined to see whether its result is a constant.
_MAX_ASKED = 100
# For how many kinds of arguments a function is lowered where too much has been inlined.
MOST_SIGNATURES = 8


class ShareError(Exception):
    """A function has been inlined too often: lower the program again, and share it."""


class _Recursive(Exception):
    """A function calls itself while it is inlined: it must become an IR function."""

    def __init__(self, key: object) -> None:
        self.key = key


def _key(fn: types.FunctionType, bound: dict[str, Binding]) -> tuple[object, ...]:
    """Return the key of a call of a function while it is inlined: the functions passed.

    ``apply(lambda u: apply(f, u), x)`` is no recursion: the two calls apply different functions.
    Nor is a step of a generator that draws from another one.
    """
    fixed = tuple(
        (name, binding if isinstance(binding, ObjectRef) else shape_of(binding))
        for name, binding in bound.items()
        if isinstance(binding, Closure | Static | Transformed)
        or (isinstance(binding, ObjectRef) and issubclass(binding.cls, iteration.Stored))
    )
    return (fn, fixed)


def _structural_key(
    lo: Lowerer, fn: types.FunctionType, bound: dict[str, Binding], scope: Frame | None
) -> tuple[object, ...]:
    """Return the key of a call where ``walk(child)`` in ``walk(node)`` is no recursion.

    It has all that is passed, and all constants in it: a parser that has moved on is another one.
    """
    cells: dict[str, Binding] = {}
    while scope is not None:
        cells |= {slot: lo.frame.env.get(slot, Unbound()) for slot in scope.cells.values()}
        scope = scope.outer
    held = closures.reachable(lo, [*bound.values(), *cells.values()])
    found = {**bound, **cells, **held}
    return (fn, tuple((name, shape_of(each), _literals(each)) for name, each in found.items()))


def _literals(binding: Binding) -> tuple[object, ...]:
    """Return the constants among the numbers of a binding, in order."""
    return tuple(
        (k, leaf.operand)
        for k, leaf in enumerate(pieces(binding))
        if isinstance(leaf, Num) and isinstance(leaf.operand, Literal)
    )


def run_main(lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding]) -> Binding:
    """Lower the main function, for `lower`."""
    lo.shared.sources[id(holder.fn.__code__)] = source
    missing = {
        k: outside.opened(lo, v)
        for k, v in inlining.function_defaults(holder).items()
        if k not in bound
    }
    args = {**missing, **bound}
    mark = len(lo.builder.stmts)
    state = (dict(lo.versions), dict(lo.stale))
    key = _key(holder.fn, args)
    lo.stack.append(key)
    # Errors of the library's code are shown at the user's function.
    users = getattr(holder.fn, "__adc_for__", None)
    if users is not None:
        code = users.__code__
        lo.builder.loc = Span(code.co_filename, code.co_firstlineno, function=users.__name__)
    try:
        return inlining.run(lo, source.node, source, args, holder, None)
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
    result = callees.call_recursive(lo, holder, source, args, source.node, key)
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
    """Lower a call of a function object: inline it, or call it."""
    holder = outside.holder_of(lo, fn, place)
    source = outside.source_of(lo, holder)
    lo.shared.sources[id(fn.__code__)] = source
    spec = source.node.args
    if not holder.in_library:
        inlining.require_lasting(lo, (*args, *kwargs.values()), node)
    if holder.in_library and lo.entered_at is None:
        _require_taken(lo, spec, args, kwargs, node)
    defaults = inlining.function_defaults(holder)
    bound = inlining.bind_arguments(lo, fn.__name__, spec, args, kwargs, defaults, node)
    key = _key(fn, bound)
    if fn in lo.shared.structural:
        key = _structural_key(lo, fn, bound, None)
        _count(lo, node)
    again = _Call(holder, source, bound, node, key, fn)
    if key in lo.shared.recursive:
        return _call_recursive(lo, again)
    if key in lo.stack:
        raise _Recursive(key)
    passed = [*bound.values()]
    # The library's functions call themselves only through the program's.
    large = lo.builder.emitted > lo.shared.inlined and not holder.in_library
    if large and not any(True for b in passed for _ in refs(b)):
        with _unless_recursive(lo, key):
            result = _called(lo, holder, source, bound, node)
            if result is not None:
                return result
        lo.shared.recursive.add(key)  # it may call itself
        return callees.call_recursive(lo, holder, source, bound, node, key)
    if len(lo.stack) >= _MAX_CALL_DEPTH:
        raise RecursionDepthError(
            f"calls are nested more than {_MAX_CALL_DEPTH} deep", lo.span(node), "write a loop"
        )

    with _unless_recursive(lo, key):
        if holder.in_library or lo.inlines or lo.builder.mark is not None:
            return inlining.run(lo, source.node, source, bound, holder, None)
        return _shared_or_inlined(lo, holder, source, bound, node)
    return _call_recursive(lo, again)


@dataclass
class _Call:
    """A call of a recursive function: `which`, with its key, and the one that it has inlined."""

    holder: Holder
    source: Source
    bound: dict[str, Binding]
    node: ast.Call
    key: object
    which: object
    closure: Closure | None = None

    @property
    def scope(self) -> Frame | None:
        return None if self.closure is None else self.closure.scope

    def structural_key(self, lo: Lowerer) -> object:
        """Return the key that it has where all of its calls are inlined."""
        if self.closure is None:
            return _structural_key(lo, self.holder.fn, self.bound, None)
        where = self.closure.scope.original or self.closure.scope
        key = _structural_key(lo, self.holder.fn, self.bound, self.closure.scope)
        return (self.closure.node, where, key)


def _call_recursive(lo: Lowerer, call: _Call) -> Binding:
    """Call a recursive function; or, for what such a function cannot do, inline all of its calls.

    One that changes the nodes of a tree is inlined, if the tree has an end; so is one that may
    raise what a `try` around it catches, and one that says of a container whether something is in
    it: `if is_symbolic(x)` decides what else there is in the program.
    """
    before = lo.point()
    mark = len(lo.builder.stmts)
    may_unfold = call.which not in lo.shared.structural and lo.depth is None
    if may_unfold and _has_constants(call.source.node):
        found = _unfolded(lo, call, _MAX_ASKED)
        if isinstance(found, Num) and isinstance(found.operand, Literal):
            return found
        lo.undo(before)
    try:
        result = callees.call_recursive(
            lo, call.holder, call.source, call.bound, call.node, call.key, call.closure
        )
        for region in lo.caught:
            escapes.refuse_calls(lo, region, lo.builder.stmts[mark:])
        return result
    except UnsupportedError:
        if not may_unfold:
            raise
        lo.undo(before)
        found = _unfolded(lo, call)
        if found is None:
            raise
        return found


def _has_constants(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether all that a function returns is a constant in its source."""
    if isinstance(node, ast.Lambda):
        return False
    own = [each for each in scope.inside(node.body) if isinstance(each, ast.Return)]
    return bool(own) and all(isinstance(each.value, ast.Constant) for each in own)


def _unfolded(lo: Lowerer, call: _Call, most: int | None = None) -> Binding | None:
    """Inline all calls of a recursive function, or so many at most; None if that is impossible."""
    structural, closure = lo.shared.structural, call.closure
    left = lo.shared.unfolded
    if most is not None:
        lo.shared.unfolded = min(left, most)
    structural.add(call.which)
    key = call.structural_key(lo)
    lo.stack.append(key)
    inner = call.source.node if closure is None else closure.node
    done = False
    try:
        result = inlining.run(lo, inner, call.source, call.bound, call.holder, call.scope, closure)
        done = True
        return result
    except _Recursive as signal:
        if signal.key != key:
            raise  # another function, which has called this one
    except (AdcError, RecursionError) as error:
        if isinstance(error, VariesError) and error.variable not in lo.shared.varied:
            raise  # the program is lowered again, where the variable may be of several kinds
    finally:
        lo.stack.pop()
        if most is not None:
            lo.shared.unfolded = left
        if most is not None or not done:
            structural.discard(call.which)
    return None


def _count(lo: Lowerer, node: ast.Call) -> None:
    """Count a call that is inlined as all calls of a recursive function are."""
    lo.shared.unfolded -= 1
    if lo.shared.unfolded < 0:
        raise RecursionDepthError(
            f"`{ast.unparse(node)}`, which calls itself so often, is not supported", lo.span(node),
            "write a loop",
        )  # fmt: skip


@contextmanager
def _unless_recursive(lo: Lowerer, key: object) -> Iterator[None]:
    """Inline a function in the block; if it calls itself, undo the block, note it, and go on.

    A context manager, as frames of Python are what bounds the depth of calls: it adds none.
    """
    before, mark = lo.snapshot(), len(lo.builder.stmts)
    frame = lo.frame
    lo.stack.append(key)
    try:
        yield
        return
    except _Recursive as signal:
        if signal.key != key:
            raise
    finally:
        lo.stack.pop()
    del lo.builder.stmts[mark:]
    lo.frame = frame
    lo.restore(before)
    lo.shared.recursive.add(key)


def call_closure(
    lo: Lowerer, callee: Closure, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of an inner function: inline it, or call it if it calls itself."""
    inlining.require_lasting(lo, (*args, *kwargs.values()), node)
    outer: Frame = callee.scope
    source = callee.source
    bound = inlining.bind_arguments(
        lo, callee.name, callee.node.args, args, kwargs, callee.defaults, node
    )
    where, fn = outer.original or outer, outer.holder.fn
    key: object = (callee.node, where, _key(fn, bound))
    again = _Call(outer.holder, source, bound, node, key, callee.node, callee)
    if callee.node in lo.shared.structural:
        again.key = key = again.structural_key(lo)
        _count(lo, node)
    if key in lo.shared.recursive:
        return _call_recursive(lo, again)
    if key in lo.stack:
        raise _Recursive(key)
    if len(lo.stack) >= _MAX_CALL_DEPTH:
        raise RecursionDepthError("calls are nested too deeply", lo.span(node), "write a loop")

    with _unless_recursive(lo, key):
        return inlining.run(lo, callee.node, source, bound, outer.holder, outer, callee)
    return _call_recursive(lo, again)


def _require_taken(
    lo: Lowerer, spec: ast.arguments, args: Sequence[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> None:  # fmt: skip
    """Refuse arguments that a function of the library does not take: NumPy's may."""
    what = ast.unparse(node.func)
    names = {arg.arg for arg in (*spec.args, *spec.kwonlyargs)}
    for name in kwargs:
        if spec.kwarg is None and name not in names:
            raise lo.unsupported(f"the argument {name!r} of `{what}`", node)
    if spec.vararg is None and len(args) > len(spec.posonlyargs) + len(spec.args):
        raise lo.unsupported(f"`{what}` with these arguments", node)


def _shared_or_inlined(
    lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding], node: ast.Call
) -> Binding:
    """Call a function if calls of its signature are shared; else inline it, and count."""
    sharing = lo.shared.sharing
    passed = _shareable(lo, bound, node)
    signature = (holder.fn, passed.key()) if passed is not None else None
    if passed is None or signature in sharing.inlined:
        return inlining.run(lo, source.node, source, bound, holder, None)
    if signature in sharing.shared:
        before, mark = lo.snapshot(), len(lo.builder.stmts)
        try:
            return callees.call_shared(lo, holder, source, passed, node)
        except AdcError:
            # It must be part of its caller, as what changes a list that it was given. If it is
            # wrong, it is so there.
            sharing.inlined.add(signature)
            lo.restore(before)
            del lo.builder.stmts[mark:]
    emitted = lo.builder.emitted
    result = inlining.run(lo, source.node, source, bound, holder, None)
    size = lo.builder.emitted - emitted
    if signature not in sharing.inlined and size >= LEAST:
        repeated = sharing.seen.get(signature, -size) + size
        sharing.seen[signature] = repeated
        # What is about to be too much is shared as well: lowering begins again once for many.
        if repeated >= SAVED:
            _begin_again(lo, 4 * SAVED // 5)
        elif sum(sharing.seen.values()) >= TOTAL:
            _begin_again(lo, LEAST)
    return result


def _called(
    lo: Lowerer, holder: Holder, source: Source, bound: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Call a function that is not inlined, as too much is, and may know sizes; None if it cannot.

    The sizes of what it returns are known, which those of a recursive function are not.
    """
    if lo.depth is not None or lo.builder.mark is not None:
        return None
    if sum(which is holder.fn for which, *_ in lo.shared.callees) >= MOST_SIGNATURES:
        return None
    before, mark = lo.snapshot(), len(lo.builder.stmts)
    try:
        passed = passed_by(lo, bound, node, constants=True)
        return callees.call_shared(lo, holder, source, passed, node)
    except AdcError:
        lo.restore(before)
        del lo.builder.stmts[mark:]
        return None


def _begin_again(lo: Lowerer, least: int) -> None:
    """Have all functions shared of which so many statements were repeated."""
    lists = lo.shared.taken_first()
    if lists:
        raise StackError(lists)  # one copy of a loop's body repeats nothing
    sharing = lo.shared.sharing
    if sharing.again >= MOST_AGAIN:
        return
    sharing.again += 1
    sharing.shared |= {signature for signature, count in sharing.seen.items() if count >= least}
    raise ShareError


def _shareable(lo: Lowerer, bound: dict[str, Binding], node: ast.AST) -> Passed | None:
    """Return what a call passes, or None if calls cannot share the function."""
    try:
        passed = passed_by(lo, bound, node, constants=True)
    except AdcError:
        return None
    for leaf, sizes in zip(passed.leaves, passed.sizes, strict=True):
        if not isinstance(leaf, ArrayRef):
            continue
        # A small array becomes scalars where it is inlined.
        small = [size for _, size in sizes if size is not None]
        if leaf.object.kept or len(small) == leaf.object.type.rank:
            return None
    return passed


__all__ = ["ShareError", "call_function", "run_main"]
