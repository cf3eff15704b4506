"""Reading a name: its binding here, or outside, or the user's error."""

from __future__ import annotations

import ast

from adc.frontend.core import closures, outside
from adc.frontend.core.bindings import Binding, Knot, Late, Num, Unbound, Unstable, Words
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Frame, PickedError
from adc.frontend.core.structure import leaves
from adc.ir.core import Value
from adc.ir.errors import LimitError, TypeUnstableError, UnboundError


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
    return outside.free(lo, frame.holder, (name,), node)


def usable(
    lo: Lowerer, binding: Binding, name: str, node: ast.AST, frame: Frame | None = None
) -> Binding:
    """Return a binding found in `frame` that is read here, or raise."""
    partial = (frame or lo.frame).partial
    if isinstance(binding, Late) and name not in partial:
        with lo.at(node):
            if binding.lost:
                error = LimitError.__name__
                text = f"adc: the value of {name!r} after {binding.lost}"
            else:
                error = "UnboundLocalError"
                text = (
                    f"cannot access local variable '{name}' where it is not associated with a value"
                )
            lo.builder.check(binding.flag, error, text)
        return binding.inner
    if isinstance(binding, Unbound) or name in partial:
        why = binding.why if isinstance(binding, Unbound) else ""
        raise UnboundError(
            f"{name!r} may be unbound here{': ' + why if why else ''}",
            lo.span(node),
            f"give {name!r} a value on every path before this line",
        )
    if isinstance(binding, Words):
        raise PickedError(
            f"using {name!r}, a string of values known only at run time, outside `print`, `raise` "
            "and `assert` is not supported",
            lo.span(node),
            "strings are keys: they must be known when the program is compiled",
        )
    if isinstance(binding, Unstable):
        raise TypeUnstableError(
            f"{name!r} {binding.why}",
            lo.span(node),
            "use the same kind of value on every path, or two variables",
        )
    return binding


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
