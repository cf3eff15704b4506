"""Generators: what they are, and as objects, where no loop consumes them where they are called.

``Adam(net.parameters())`` passes a generator: a function of the program, with its arguments. Its
statements run in the loop that consumes it (`language.generators`), wherever that is. A second loop
over it finds nothing. Where a loop has left it before its end, it would go on there: that is
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.frontend.control import evaluation, inlining
from adc.frontend.core.bindings import Binding, ObjectRef, RecordOf, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Frame, Holder
from adc.frontend.syntax import scope
from adc.frontend.syntax.source import Source
from adc.frontend.values import elementwise
from adc.ir.errors import GeneratorError
from adc.library.standard import iteration


@dataclass(frozen=True)
class Generator:
    """A call of a generator.

    Attributes
    ----------
    node, source, name, holder, scope, defaults
        Its function.
    first : tuple of Binding
        The arguments that come before those of the call.
    held : ObjectRef, optional
        The object that it is, if it was called before; it has the arguments.
    """

    node: ast.FunctionDef
    source: Source
    name: str
    holder: Holder
    scope: Frame | None
    defaults: dict[str, Binding]
    first: tuple[Binding, ...] = ()
    held: ObjectRef | None = None


@dataclass(frozen=True, eq=False)
class _Code:
    """The function of a generator, and the names of its parameters."""

    of: Generator
    names: tuple[str, ...]


# How far a generator is.
_FRESH, _BEGUN, _DONE = map(Static, ("fresh", "begun", "done"))


def is_generator(node: ast.AST) -> bool:
    """Whether a function contains `yield`."""
    body = node.body if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in scope.inside(body))


def made(
    lo: Lowerer, found: Generator, args: Sequence[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> ObjectRef:  # fmt: skip
    """Return the object that a call of a generator is."""
    inlining.require_lasting(lo, (*args, *kwargs.values()), node)
    return _begun_later(lo, found, args, kwargs, node)


def _begun_later(
    lo: Lowerer, found: Generator, args: Sequence[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> ObjectRef:  # fmt: skip
    spec, given = found.node.args, [*found.first, *args]
    bound = inlining.bind_arguments(lo, found.name, spec, given, kwargs, found.defaults, node)
    key = ("suspended", id(found.node), id(found.scope), id(found.holder.fn))
    if key not in lo.memo:
        lo.memo[key] = _Code(replace(found, first=()), tuple(sorted(bound)))
    code = lo.memo[key]
    values = tuple(elementwise.materialised(lo, bound[name], node) for name in code.names)
    record = RecordOf(("code", "arguments", "state"), (Static(code), TupleOf(values), _FRESH))
    return lo.new_ref(lambda slot: ObjectRef(slot, iteration.Generator), record)


def expression(lo: Lowerer, node: ast.GeneratorExp) -> ObjectRef:
    """Return the object that a generator expression is: what it goes over is evaluated now."""
    inside = ast.walk(node)
    if any(isinstance(each, ast.NamedExpr | ast.Await | ast.Yield) for each in inside) or any(
        part.is_async for part in node.generators
    ):
        raise GeneratorError(
            "storing this generator is not supported", lo.span(node), "store a list: `[… for …]`"
        )
    key = ("expression", id(node))
    if key not in lo.memo:
        lo.memo[key] = node, _function(node)
    fn = lo.memo[key][1]
    source = Source(fn, lo.frame.source.file, fn.name)
    found = Generator(fn, source, fn.name, lo.frame.holder, lo.frame, {})
    first = node.generators[0].iter
    call = ast.copy_location(ast.Call(node, [], []), node)
    # Nothing else draws from an iterator that is made here.
    return _begun_later(lo, found, [evaluation.lower_expr(lo, first)], {}, call)


def _function(node: ast.GeneratorExp) -> ast.FunctionDef:
    """Return ``def f(first): for x in first: yield e`` for ``(e for x in …)``."""
    body: ast.stmt = ast.Expr(ast.Yield(node.elt))
    for k, part in reversed([*enumerate(node.generators)]):
        for test in reversed(part.ifs):
            body = ast.If(test, [body], [])
        over = part.iter if k else ast.Name(_FIRST, ast.Load())
        body = ast.For(part.target, over, [body], [])
    spec = ast.arguments([], [ast.arg(_FIRST)], None, [], [], None, [])
    fn = ast.FunctionDef("generator", spec, [body], [])
    for each in ast.walk(fn):
        if not hasattr(each, "lineno"):
            ast.copy_location(each, node)
    return fn


_FIRST = "$first"


def of(lo: Lowerer, binding: Binding) -> Generator | None:
    """Return the generator that an object is; None for anything else."""
    if not (isinstance(binding, ObjectRef) and binding.cls is iteration.Generator):
        return None
    code = lo.record(binding).get("code")
    if not isinstance(code, Static):
        raise GeneratorError(
            "one of several generators is not supported", lo.builder.loc,
            "loop over each of them, or store a list: `list(…)`",
        )  # fmt: skip
    found: _Code = code.value
    return replace(found.of, held=binding)


def begun(lo: Lowerer, found: Generator, node: ast.AST) -> dict[str, Binding] | None:
    """Begin with a generator that is an object: return its arguments, or None if it has ended."""
    assert found.held is not None
    record = lo.record(found.held)
    code, arguments, state = record.items
    if state == _DONE:
        return None
    if state != _FRESH:
        raise GeneratorError(
            f"{found.name}(), a generator from which another loop may have drawn, is not supported",
            lo.span(node), "call it again, or store a list: `list(…)`",
        )  # fmt: skip
    assert isinstance(code, Static)
    assert isinstance(arguments, TupleOf)
    lo.hold(found.held, record.with_item("state", _BEGUN))
    return dict(zip(code.value.names, arguments.items, strict=True))


def require_none(lo: Lowerer, binding: Binding, node: ast.AST) -> None:
    """Refuse a generator among the arguments of a function that takes none."""
    if of(lo, binding) is not None:
        raise GeneratorError(
            "a generator as an argument of this function is not supported", lo.span(node),
            "make a list of it: `list(…)`",
        )  # fmt: skip


def ends(name: str, at: ast.AST) -> ast.stmt:
    """Return the statement that the generator of this name has ended."""
    target = ast.Attribute(ast.Name(name, ast.Load()), "state", ast.Store())
    stmt = ast.Assign([target], ast.Constant(_DONE.value))
    for each in ast.walk(stmt):
        ast.copy_location(each, at)
    return stmt
