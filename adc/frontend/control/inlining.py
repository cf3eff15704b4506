"""Functions of the program that are inlined: lowered where they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from adc.frontend.control import blocks, choices, escapes, evaluation, forms
from adc.frontend.control.exits import EXIT, FALLS, RAISE, RESULT, RETURN, exit_of, exits_of
from adc.frontend.core import closures, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    UNSET,
    Binding,
    Closure,
    DictRef,
    Given,
    Maybe,
    Num,
    RecordOf,
    Static,
    TupleOf,
    Unbound,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import refusals
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Frame, Holder
from adc.frontend.core.structure import CELL
from adc.frontend.inputs import trees
from adc.frontend.inputs.places import Default, defaults_of
from adc.frontend.syntax import scope
from adc.frontend.syntax.source import Source
from adc.ir.builder import integer


def require_lasting(lo: Lowerer, args: Iterable[Binding], node: ast.Call) -> None:
    """Refuse to pass iterators that can be consumed only once to a function of the program."""
    for value in args:
        refusals.require_lasting(lo, node, value)
    for arg in (*node.args, *(keyword.value for keyword in node.keywords)):
        if not isinstance(arg, ast.GeneratorExp):  # an object (`suspended`)
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
            taken = f"takes {len(positional)} arguments but {len(args)} were given"
            numbers.refuse(lo, f"{name}() {taken}", node, "TypeError")
        bound[spec.vararg.arg] = TupleOf(tuple(args[len(positional) :]))
    elif spec.vararg is not None:
        bound[spec.vararg.arg] = TupleOf(())
    extra = RecordOf((), ())
    for key, value in kwargs.items():
        if key not in by_name and spec.kwarg is not None:
            extra = extra.with_item(key, value)
            continue
        if key not in by_name:
            what = f"{name}() got an unexpected keyword argument {key!r}"
            numbers.refuse(lo, what, node, "TypeError")
        if key in bound:
            what = f"{name}() got multiple values for argument {key!r}"
            numbers.refuse(lo, what, node, "TypeError")
        bound[key] = value
    for key in [*positional, *(arg.arg for arg in spec.kwonlyargs)]:
        if key not in bound:
            if key not in defaults:
                what = f"{name}() is missing the argument {key!r}"
                numbers.refuse(lo, what, node, "TypeError")
            bound[key] = outside.opened(lo, defaults[key])
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
    closure: Closure | None = None,
) -> Binding:
    """Lower the body of a function in a new frame; return its result."""
    caller, site = lo.frame, lo.here
    path: tuple[object, ...] = ()
    if caller is not None:
        at = (id(node), site.line if site else 0, site.column if site else 0)
        count = caller.inlined[at] = caller.inlined.get(at, 0) + 1
        path = (*caller.path, (*at, count))
    frame = Frame(
        source,
        {**lo.initial, **closures.heap_of(lo.frame), **bound, EXIT: Num(integer(FALLS))},
        holder,
        outer,
        caller,
        path=path,
        locals=closures.locals_of(node),
        closure=closure,
        site=lo.builder.loc if holder.in_library else None,
    )
    for function, name in sorted(lo.shared.unset, key=str):
        if function == frame.function and name in frame.locals:
            frame.env.setdefault(name, UNSET)
    _make_cells(lo, frame, node, outer)
    opening = lo.opening if isinstance(node, ast.FunctionDef) else None
    opened = opening is not None and opening.takes(caller)
    if opened and caller is not None:
        frame.catching, frame.env[escapes.RAISED] = caller.catching, escapes.raised()
    if caller is not None and not caller.shared:
        frame.called = lo.builder.loc
    with lo.within(holder.in_library):
        result = closures.settled(_body(lo, frame, node, source), frame)
    # Lists, dicts and objects that the function changed or made.
    (lo.heap if caller is None else caller.env).update(closures.heap_of(frame))
    if opened and caller is not None:
        escapes.pass_on(lo, frame, caller)
    lo.bindings += 1
    return result


def _make_cells(
    lo: Lowerer, frame: Frame, node: ast.FunctionDef | ast.Lambda, outer: Frame | None
) -> None:
    """Find the slots of the variables that inner functions write."""
    foreign = scope.nonlocals(node)
    for name in foreign:
        around = outer
        while around is not None and name not in around.cells:
            around = around.outer
        if around is not None:
            frame.cells[name] = around.cells[name]
    for name in sorted((scope.written_inside(node) & frame.locals) - foreign):
        slot = lo.builder.names.fresh(CELL + name)
        frame.cells[name] = slot
        frame.env[slot] = frame.env.pop(name, Unbound())


def _body(lo: Lowerer, frame: Frame, node: ast.FunctionDef | ast.Lambda, source: Source) -> Binding:
    with lo.entered(frame):
        if isinstance(node, ast.Lambda):
            refusals.require_lasting(lo, node.body)
            return choices.value(lo, node.body, evaluation.lower_optional)
        blocks.lower_stmts(lo, node.body)
        result = frame.env.get(RESULT, NONE)
        pending = exit_of(lo)
        codes = exits_of(lo, pending) - {RAISE}
        if len(codes) <= 1:
            return result if codes == {RETURN} else NONE
        if isinstance(result, Static) and result.value is None:
            return NONE
        if isinstance(result, Unbound | Unstable):
            return result
        inner, some = forms.parts_of_optional(result)
        if inner is not None and forms.may_be_optional(inner):
            returns = lo.builder.apply("eq", pending, integer(RETURN), hint="some")
            return Maybe(inner, numbers.apply(lo, "and", returns, some))
        return Unstable(
            f"of {source.name}() is {kind_of(result)} on one path and None on another",
            source.span(node),
        )
