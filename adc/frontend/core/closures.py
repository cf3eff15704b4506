"""Inner functions as data, with their captured variables, for code that is lowered elsewhere.

A function that is lowered separately, because it is recursive or differentiated, takes the numbers
and arrays in its arguments as parameters, including those that inner functions among them capture.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    Late,
    ListRef,
    Num,
    ObjectRef,
    Ref,
    Transformed,
    TupleOf,
    Unbound,
    kind_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Frame
from adc.frontend.core.structure import is_slot, leaves, pieces, rebuild, refs, shape_of
from adc.frontend.syntax import scope


def locals_of(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    args = node.args
    names = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    names |= {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}
    if isinstance(node, ast.FunctionDef):
        names |= set(scope.assigned_in(node.body))
    return frozenset(names)


def closed(lo: Lowerer, binding: Binding, node: ast.AST, within: tuple[object, ...]) -> Binding:
    """Return `binding` with the inner functions in it holding the variables that they read.

    They are read where the function is called. While a recursive call runs, its caller waits and
    cannot rebind them, so what they are bound to at the call is what they stay.
    """
    match binding:
        case TupleOf(items=items):
            return TupleOf(tuple(closed(lo, item, node, within) for item in items))
        case Closure():
            if binding.node in within:
                raise lo.unsupported(
                    "recursion of an inner function", node, "define it at module level"
                )
            if scope.nonlocals(binding.node):
                raise lo.unsupported(
                    "a function with `nonlocal` here", node, "return the new value instead"
                )
            inside = (*within, binding.node)
            env: dict[str, Binding] = {}
            for name in free_names(binding.node):
                found = _in_scope(lo, binding.scope, name)
                if isinstance(found, Late):
                    found = Unbound("an earlier loop may not have run")
                if found is not None:
                    env[name] = closed(lo, found, node, inside)
            scope_: Frame = binding.scope
            frame = Frame(scope_.source, env, scope_.holder, path=scope_.path)
            defaults = {
                name: closed(lo, default, node, inside)
                for name, default in binding.defaults.items()
            }
            return Closure(binding.node, binding.source, frame, defaults)
        case Transformed(fn=fn):
            return replace(binding, fn=closed(lo, fn, node, within))
        case Bound(owner=ListRef() | DictRef() | ObjectRef()):
            return binding
        case Bound():
            raise lo.unsupported(
                f"passing {kind_of(binding)} to a recursive function", node, "pass the array"
            )
    return binding


def reachable(lo: Lowerer, bindings: Iterable[Binding]) -> dict[str, Binding]:
    """Return what the lists, dicts and objects hold that are reached from bindings, by slot."""
    found: dict[str, Binding] = {}
    todo = [ref for binding in bindings for ref in refs_of(binding)]
    while todo:
        ref = todo.pop()
        if ref.slot not in found:
            found[ref.slot] = lo.held(ref)
            todo += refs(found[ref.slot])
    return found


def refs_of(binding: Binding) -> Iterator[Ref]:
    match binding:
        case TupleOf(items=items):
            for item in items:
                yield from refs_of(item)
        case Closure():
            for _, part in _parts(binding):
                yield from refs_of(part)
        case Transformed(fn=inner) | Bound(owner=inner):
            yield from refs_of(inner)
        case _:
            yield from refs(binding)


def free_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    own = locals_of(node)
    body = node.body if isinstance(node.body, list) else [node.body]
    names = {inner.id for stmt in body for inner in ast.walk(stmt) if isinstance(inner, ast.Name)}
    return sorted(names - own)


def _in_scope(lo: Lowerer, frame: Frame | None, name: str) -> Binding | None:
    """Return the binding of `name` in a function or an enclosing one; None for a global."""
    while frame is not None:
        if name in frame.cells:
            slot = frame.cells[name]
            return Unbound() if slot in lo.frame.partial else lo.frame.env.get(slot, Unbound())
        if name in frame.partial:
            return Unbound()
        if name in frame.env or name in frame.locals:
            return frame.env.get(name, Unbound())
        frame = frame.outer
    return None


def _parts(closure: Closure) -> list[tuple[str, Binding]]:
    """Return what a closed inner function holds."""
    return [*closure.scope.env.items(), *closure.defaults.items()]


def leaves_of(binding: Binding) -> Iterator[Num | ArrayRef]:
    for piece in pieces_of(binding):
        yield from leaves(piece)


def pieces_of(binding: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the numbers, arrays and views in a binding, and in what inner functions hold."""
    match binding:
        case TupleOf(items=items):
            for item in items:
                yield from pieces_of(item)
        case Closure():
            for _, part in _parts(binding):
                yield from pieces_of(part)
        case Transformed(fn=fn):
            yield from pieces_of(fn)
        case _:
            yield from pieces(binding)


def rebuilt(binding: Binding, new: Iterator[Num | ArrayRef]) -> Binding:
    match binding:
        case TupleOf(items=items):
            return TupleOf(tuple(rebuilt(item, new) for item in items))
        case Closure():
            old: Frame = binding.scope
            env = {name: rebuilt(part, new) for name, part in old.env.items()}
            frame = Frame(old.source, env, old.holder, path=old.path)
            defaults = {name: rebuilt(part, new) for name, part in binding.defaults.items()}
            return Closure(binding.node, binding.source, frame, defaults)
        case Transformed(fn=fn):
            return replace(binding, fn=rebuilt(fn, new))
    return rebuild(binding, new)


def shape(binding: Binding) -> object:
    match binding:
        case TupleOf(items=items):
            return ("tuple", *(shape(item) for item in items))
        case Closure():
            parts = tuple((name, shape(part)) for name, part in _parts(binding))
            return ("closure", id(binding.node), parts)
        case Transformed(fn=fn, level=level):
            return (level, shape(fn))
    return shape_of(binding)


def heap_of(frame: Frame | None) -> dict[str, Binding]:
    """Return the slots of lists, dicts and objects: the state that all functions share."""
    if frame is None:
        return {}
    return {name: held for name, held in frame.env.items() if is_slot(name)}
