"""Inner functions as data, with their captured variables, for code that is lowered elsewhere.

A function that is lowered separately, because it is recursive or differentiated, takes the numbers
and arrays in its arguments as parameters, including those that inner functions among them capture.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from adc.frontend.core.bindings import Binding, Closure, Itself, Knot, Late, Ref, Ruled, Unbound
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Frame
from adc.frontend.core.structure import children, is_slot, refs, with_children
from adc.frontend.syntax import scope


def locals_of(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    args = node.args
    names = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    names |= {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}
    if isinstance(node, ast.FunctionDef):
        names |= set(scope.assigned_in(node.body))
    return frozenset(names)


def closed(lo: Lowerer, binding: Binding, node: ast.AST, within: tuple[Closure, ...]) -> Binding:
    """Return `binding` with the inner functions in it holding the variables that they read.

    They are read where the function is called. While a recursive call runs, its caller waits and
    cannot rebind them, so what they are bound to at the call is what they stay.
    """
    match binding:
        case Closure():
            if any(is_same(binding, each) for each in within):
                return Knot(binding.node)
            if scope.nonlocals(binding.node):
                raise lo.unsupported(
                    "a function with `nonlocal` here", node, "return the new value instead"
                )
            inside = (*within, binding)
            env: dict[str, Binding] = {}
            for name in free_names(binding.node):
                found = _in_scope(lo, binding.scope, name)
                if isinstance(found, Late):
                    found = Unbound("an earlier loop may not have run")
                if found is not None:
                    env[name] = closed(lo, found, node, inside)
            defaults = {
                name: closed(lo, default, node, inside)
                for name, default in binding.defaults.items()
            }
            done = replace(_done(binding.scope, env), locals=binding.scope.locals & env.keys())
            return replace(binding, scope=done, defaults=defaults)
        case Knot() if all(each.node is not binding.node for each in within):
            return closed(lo, running(lo, binding), node, within)
        case Ruled(parts=parts) if any(
            is_same(part, each) for part in parts if isinstance(part, Closure) for each in within
        ):
            return Itself(kind_of(binding.primal), binding.key)
    return with_children(binding, lambda part: closed(lo, part, node, within))


def running(lo: Lowerer, knot: Knot) -> Closure:
    """Return the inner function that a function in it calls, which is running now."""
    frame = lo.frame
    while frame.closure is None or frame.closure.node is not knot.node:
        assert frame.caller is not None
        frame = frame.caller
    return frame.closure


def is_same(a: Closure, b: Closure) -> bool:
    """Whether two inner functions are one: of one call of the function that they are in.

    A loop in it may define one again, with other defaults.
    """
    return a.node is b.node and a.scope is b.scope and a.defaults == b.defaults


def _done(frame: Frame, env: dict[str, Binding]) -> Frame:
    """Return a frame that is done, for what an inner function reads of it."""
    original = frame.original or frame
    return Frame(frame.source, env, frame.holder, path=frame.path, closed=True, original=original)


def settled(binding: Binding, frame: Frame, within: tuple[Closure, ...] = ()) -> Binding:
    """Return `binding` with the inner functions of a function that is done holding its variables.

    Those that read variables that others write stay as they are.
    """
    match binding:
        case Closure(scope=found) if _is_of(found, frame) and not frame.cells:
            if any(is_same(binding, each) for each in within):
                return Knot(binding.node)
            if any(each.node is binding.node for each in within):
                return binding
            names = free_names(binding.node)
            inside = (*within, binding)
            own = {name: part for each in _within(found, frame) for name, part in each.env.items()}
            env = {name: own[name] for name in names if name in own}
            env |= {
                name: settled(frame.env[name], frame, inside)
                for name in names if name in frame.env and name not in own
            }  # fmt: skip
            defaults = {
                name: settled(part, frame, inside) for name, part in binding.defaults.items()
            }
            parts = (*env.values(), *defaults.values())
            if any(_is_in(frame, part) for part in parts) or not frame.partial.isdisjoint(names):
                return binding
            done = replace(_done(frame, env), outer=frame.outer, locals=frame.locals)
            return replace(binding, scope=done, defaults=defaults)
        case Closure():
            return binding
    return with_children(binding, lambda part: settled(part, frame, within))


def _is_of(found: Frame, frame: Frame) -> bool:
    """Whether a frame is another one, or in it, and has variables that stay as they are."""
    while found is not frame and found.closed and found.outer is not None:
        found = found.outer
    return found is frame


def _within(found: Frame, frame: Frame) -> list[Frame]:
    """Return the frames of `found` and around it that are in another one, outermost first."""
    frames: list[Frame] = []
    while found is not frame:
        assert found.outer is not None
        frames.insert(0, found)
        found = found.outer
    return frames


def comprehended(
    lo: Lowerer, found: Sequence[Binding], names: Iterable[str], node: ast.AST
) -> list[Binding]:
    """Return what a comprehension found; the inner functions that it made keep its variables.

    It is done: they have the values that they had in the end.
    """
    frame = lo.frame
    own = {name: frame.env[name] for name in names if name in frame.env}
    made = [ref for ref in references(lo, found).values() if _reads(lo.held(ref), frame, own)]
    if not made and not any(_reads(each, frame, own) for each in found):
        return list(found)
    if isinstance(node, ast.GeneratorExp):
        raise lo.unsupported(
            "a generator of functions that read its variable", node,
            "make a list of them, or give them its value: `lambda x, k=k: ...`",
        )  # fmt: skip
    around = replace(_done(frame, own), outer=frame, locals=frozenset(own), original=None)
    for ref in made:
        lo.hold(ref, _keeping(lo.held(ref), frame, around))
    return [_keeping(each, frame, around) for each in found]


def _reads(binding: Binding, frame: Frame, names: Collection[str]) -> bool:
    """Whether inner functions in a binding read some variables of a frame."""
    if not isinstance(binding, Closure):
        return any(_reads(part, frame, names) for part in children(binding))
    reads = _is_of(binding.scope, frame) and not set(names).isdisjoint(free_names(binding.node))
    return reads or any(_reads(part, frame, names) for part in binding.defaults.values())


def _keeping(binding: Binding, frame: Frame, around: Frame) -> Binding:
    """Return `binding` with the inner functions of a frame in another one, which is in that."""

    def kept(binding: Binding) -> Binding:
        match binding:
            case Closure(scope=found) if _reads(binding, frame, around.env):
                inner = around
                for each in _within(found, frame):
                    env = {name: kept(part) for name, part in each.env.items()}
                    inner = replace(each, env=env, outer=inner)
                defaults = {name: kept(part) for name, part in binding.defaults.items()}
                return replace(binding, scope=inner, defaults=defaults)
            case Closure():
                return binding
        return with_children(binding, kept)

    return kept(binding)


def _is_in(frame: Frame, binding: Binding) -> bool:
    """Whether an inner function in a binding reads the variables of a frame."""
    if isinstance(binding, Closure):
        return _is_of(binding.scope, frame)
    return any(_is_in(frame, part) for part in children(binding))


def references(lo: Lowerer, bindings: Iterable[Binding]) -> dict[str, Ref]:
    """Return the lists, dicts and objects that are reached from bindings, by slot."""
    found: dict[str, Ref] = {}
    todo = [ref for binding in bindings for ref in refs(binding)]
    while todo:
        ref = todo.pop()
        if ref.slot not in found:
            found[ref.slot] = ref
            todo += refs(lo.contents_of(ref))
    return found


def reachable(lo: Lowerer, bindings: Iterable[Binding]) -> dict[str, Binding]:
    """Return what the lists, dicts and objects hold that are reached from bindings, by slot."""
    return {slot: lo.contents_of(ref) for slot, ref in references(lo, bindings).items()}


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


def heap_of(frame: Frame | None) -> dict[str, Binding]:
    """Return the slots of lists, dicts and objects: the state that all functions share."""
    if frame is None:
        return {}
    return {name: held for name, held in frame.env.items() if is_slot(name)}
