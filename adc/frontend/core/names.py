"""Reading a name: its binding here, or outside, or the user's error."""

from __future__ import annotations

import ast
import builtins

from adc.frontend.core import closures, outside
from adc.frontend.core.bindings import (
    UNSET,
    Binding,
    Knot,
    Late,
    LeftOut,
    Maybe,
    Num,
    Static,
    Unbound,
    Unstable,
    Words,
    is_unset,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import (
    CONTENTS,
    Dead,
    Frame,
    TextError,
    UnassignedError,
    VariesError,
)
from adc.frontend.core.structure import is_slot, leaves
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import LimitError, UnboundError
from adc.ir.types import BOOL


def read_name(lo: Lowerer, name: str, node: ast.AST) -> Binding:
    """Return the binding of `name`, or raise the user's error."""
    frame: Frame | None = lo.frame
    while frame is not None:
        if name in frame.cells:
            slot = frame.cells[name]
            found = lo.frame.env.get(slot, Unbound())
            return usable(lo, Unbound() if slot in lo.frame.partial else found, name, node, frame)
        if name in frame.env or name in frame.locals:
            found = frame.env.get(name, Unbound())
            if isinstance(found, Knot):
                return closures.running(lo, found)
            return usable(lo, found, name, node, frame)
        if frame.outer is None:
            break
        frame = frame.outer
    assert frame is not None
    own = outside.variable(lo, frame.holder, name)
    if own is not None:
        found = lo.frame.env.get(own, lo.initial[own])
        return usable(lo, Unbound() if own in lo.frame.partial else found, name, node, frame)
    return outside.free(lo, frame.holder, (name,), node)


def is_builtin(lo: Lowerer, name: str, binding: Binding) -> bool:
    """Whether a name of another function has Python's own meaning, there and here."""
    if not isinstance(binding, Static) or vars(builtins).get(name, lo) is not binding.value:
        return False
    frame = lo.frame
    while name not in frame.cells and name not in frame.env and name not in frame.locals:
        if frame.outer is None:
            own = outside.free(lo, frame.holder, (name,), frame.source.node)
            return isinstance(own, Static) and own.value is binding.value
        frame = frame.outer
    return False


def usable(
    lo: Lowerer, binding: Binding, name: str, node: ast.AST, frame: Frame | None = None
) -> Binding:
    """Return a binding found in `frame` that is read here, or raise."""
    frame = frame or lo.frame
    partial = frame.partial
    if isinstance(binding, Late) and name not in partial:
        with lo.at(node):
            if not binding.lost:
                return _checked(lo, binding.inner, binding.flag, name, frame)
            if _is_checkable(name, frame) and (frame.function, name) not in lo.shared.unset:
                raise _unassigned(lo, name, node, frame, "")
            text = f"adc: the value of {name!r} after {binding.lost}"
            lo.builder.check(binding.flag, LimitError.__name__, text)
        return binding.inner
    if isinstance(binding, Unbound) or name in partial or _is_surely_unset(lo, binding):
        why = "nothing before assigns it" if is_unset(binding) else ""
        why = binding.why if isinstance(binding, Unbound) else why
        raise _unassigned(lo, name, node, frame, why)
    if is_unset(binding):
        with lo.at(node):
            _checked(lo, binding, Literal(False, BOOL), name, frame)
        raise Dead  # on the path that is lowered now
    if isinstance(binding, Maybe) and is_unset(binding.absent):
        with lo.at(node):
            _checked(lo, binding.inner, binding.some, name, frame)
        if frame is lo.frame and lo.builder.watch is None:
            frame.env[name] = binding.inner  # from here on it is known
        return binding.inner
    if isinstance(binding, Words) and not lo.shared.texts:
        raise TextError(
            f"using {name!r}, a string of values known only at run time, outside `print`, `raise` "
            "and `assert` is not supported",
            lo.span(node),
            "strings are keys: they must be known when the program is compiled",
        )
    if isinstance(binding, LeftOut):
        raise lo.unsupported(f"{name!r}, which {binding.why},", node, "use the other results")
    if isinstance(binding, Unstable):
        raise VariesError(
            f"{name!r} {binding.why}",
            lo.span(node),
            "use the same kind of value on every path, or two variables",
            CONTENTS if name in frame.cells else (frame.function, name),
        )
    return binding


def _checked(lo: Lowerer, inner: Binding, flag: Operand, name: str, frame: Frame) -> Binding:
    """Return what a variable is bound to where a flag holds, which the program checks."""
    if frame is lo.frame:
        error, kind, where = "UnboundLocalError", "local", ""
    else:
        error, kind, where = "NameError", "free", " in enclosing scope"
    lo.builder.check(
        flag,
        error,
        f"cannot access {kind} variable '{name.rpartition('.')[2]}' where it is not associated "
        f"with a value{where}",
    )
    return inner


def _is_surely_unset(lo: Lowerer, binding: Binding) -> bool:
    """Whether the program cannot but read a variable that is not assigned: it is refused."""
    return is_unset(binding) and not (lo.branches or lo.caught)


def require_bound(lo: Lowerer, name: str) -> None:
    """Lower the program again, with checks, if a variable is not bound that can be checked."""
    if _is_checkable(name, lo.frame) and (lo.frame.function, name) not in lo.shared.unset:
        raise _unassigned(lo, name, lo.frame.source.node, lo.frame, "")


def unbound(lo: Lowerer, name: str, why: str) -> Binding:
    """Return what a variable of the current function is bound to from here on: nothing."""
    checked = (lo.frame.function, name) in lo.shared.unset
    return UNSET if checked and name not in lo.frame.cells else Unbound(why)


def _is_checkable(name: str, frame: Frame) -> bool:
    """Whether a variable can be one that is checked where it is read."""
    own = name in frame.locals or _is_of_generator(name)
    return own and name not in frame.cells and not frame.holder.in_library


def _unassigned(lo: Lowerer, name: str, node: ast.AST, frame: Frame, why: str) -> UnboundError:
    own = name.rpartition(".")[2]
    message = f"{own!r} may be unbound here{': ' + why if why else ''}"
    hint = f"give {own!r} a value on every path before this line"
    if not _is_checkable(name, frame):
        return UnboundError(message, lo.span(node), hint)
    others = [(frame.function, other) for other in _read_later(frame, node)]
    return UnassignedError(message, lo.span(node), hint, (frame.function, name), why, others)


def _read_later(frame: Frame, node: ast.AST) -> list[str]:
    """Return other variables that a path has not assigned, and that the function reads below."""
    line = getattr(node, "lineno", 0)
    read = {
        each.id
        for each in ast.walk(frame.source.node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.lineno >= line
    }
    return [
        name
        for name, binding in frame.env.items()
        if name in read
        and isinstance(binding, Unbound)
        and binding.why
        and _is_checkable(name, frame)
    ]


def _is_of_generator(name: str) -> bool:
    """Whether a name is that of a variable of a generator, in the function that consumes it."""
    return name.startswith("$") and "." in name and not is_slot(name)


def is_name_bound(lo: Lowerer, name: str) -> bool:
    binding = lo.frame.env.get(name, Unbound())
    return not isinstance(binding, Unbound | Unstable | Late)


def is_bound(lo: Lowerer, value: Value) -> bool:
    """Whether any variable holds `value`."""
    frames: list[Frame | None] = [lo.frame]
    while frames:
        frame = frames.pop()
        if frame is not None:
            for binding in frame.env.values():
                if isinstance(binding, Num):
                    if binding.operand is value:
                        return True
                elif any(isinstance(x, Num) and x.operand is value for x in leaves(binding)):
                    return True
            frames += [
                frame.caller,
                *([frame.outer] if frame.outer is not frame.caller else []),
            ]
    return False
