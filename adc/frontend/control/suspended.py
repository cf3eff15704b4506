"""Generators: what they are, and as objects, where no loop consumes them where they are called.

``Adam(net.parameters())`` passes a generator: a function of the program, with its arguments. Its
statements run in the loop that consumes it (`language.generators`), wherever that is. A second loop
over it finds nothing.

Where a loop may have left it before its end, and for `next` and `send`, the program is lowered
again: the object then has the variables of the function, and a step runs to the next `yield`
(`syntax.steps`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.frontend.control import inlining
from adc.frontend.core import closures, numbers
from adc.frontend.core.bindings import (
    NONE,
    UNSET,
    Binding,
    Closure,
    Maybe,
    Num,
    ObjectRef,
    RecordOf,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Frame, Holder, SteppedError
from adc.frontend.syntax import scope, steps
from adc.frontend.syntax.source import Source
from adc.frontend.values import elementwise
from adc.ir.builder import integer
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


@dataclass(frozen=True, eq=False)
class _Steps:
    """The function of a step of a generator, its variables, and the iterators of its loops."""

    of: Closure
    own: Sequence[str]
    loops: dict[str, steps.Kind]
    forwards: bool  # whether it yields from another one


# How far a generator is, as long as one loop consumes it.
_FRESH, _BEGUN, _DONE = range(3)


def is_generator(node: ast.AST) -> bool:
    """Whether a function contains `yield`."""
    body = node.body if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in scope.inside(body))


def is_stepped(lo: Lowerer, found: Generator) -> bool:
    """Whether several places draw from a generator."""
    return found.source.span(found.node) in lo.shared.stepped


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
    if is_stepped(lo, found):
        found_steps = _steps(lo, code)
        held: dict[str, Binding] = dict.fromkeys(
            (_STEP, steps.AT, steps.VALUE, *found_steps.own), UNSET
        )
        held |= {_STEP: found_steps.of, steps.AT: lo.num(0)}
        held |= dict(zip(code.names, values, strict=True))
        held |= {name: _iterator(lo, kind) for name, kind in found_steps.loops.items()}
        record = RecordOf(tuple(held), tuple(held.values()))
        return lo.new_ref(lambda slot: ObjectRef(slot, iteration.Steps), record)
    items = (Static(code), TupleOf(values), lo.num(_FRESH))
    record = RecordOf(("code", "arguments", "state"), items)
    return lo.new_ref(lambda slot: ObjectRef(slot, iteration.Generator), record)


def expression(lo: Lowerer, node: ast.GeneratorExp, over: Binding) -> ObjectRef:
    """Return the object that a generator expression is, which goes over something first."""
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
    call = ast.copy_location(ast.Call(node, [], []), node)
    # Nothing else draws from an iterator that is made here.
    return _begun_later(lo, found, [over], {}, call)


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
        raise _one_of_several(lo)
    found: _Code = code.value
    return replace(found.of, held=binding)


def _one_of_several(lo: Lowerer) -> GeneratorError:
    return GeneratorError(
        "one of several generators is not supported", lo.builder.loc,
        "loop over each of them, or store a list: `list(…)`",
    )  # fmt: skip


def begun(lo: Lowerer, found: Generator, node: ast.AST) -> dict[str, Binding] | None:
    """Begin with a generator that is an object: return its arguments, or None if it has ended."""
    assert found.held is not None
    record = lo.record(found.held)
    code, arguments, state = record.items
    if state == lo.num(_DONE):
        return None
    if state != lo.num(_FRESH):
        raise _needs_steps(lo, found, node)
    assert isinstance(code, Static)
    assert isinstance(arguments, TupleOf)
    lo.hold(found.held, record.with_item("state", lo.num(_BEGUN)))
    return dict(zip(code.value.names, arguments.items, strict=True))


def _needs_steps(lo: Lowerer, found: Generator, node: ast.AST) -> SteppedError:
    return SteppedError(
        GeneratorError(
            f"{found.name}(), a generator from which another loop may have drawn, is not supported",
            lo.span(node), "call it again, or store a list: `list(…)`",
        ),
        found.source.span(found.node),
    )  # fmt: skip


# -- steps -----------------------------------------------------------------------------------------


def _steps(lo: Lowerer, code: _Code) -> _Steps:
    """Return the function of a step of a generator."""
    key = ("steps", id(code))
    if key not in lo.memo:
        found, node = code.of, code.of.node

        def refuse(what: str, where: ast.AST, hint: str) -> GeneratorError:
            return GeneratorError(f"{what} is not supported", found.source.span(where), hint)

        own = closures.locals_of(node) - scope.nonlocals(node)
        inner = list(scope.inside(node.body))
        own -= {name for each in inner if isinstance(each, ast.Global) for name in each.names}
        made, names, loops = steps.step_of(node, own, refuse)
        around = found.scope or Frame(found.source, {}, found.holder, closed=True)
        defaults: dict[str, Binding] = {steps.BEGIN: Static(iteration.beginning)}
        lo.closures += 1
        step = Closure(made, found.source, around, defaults, path=lo.path, number=lo.closures)
        forwards = any(isinstance(each, ast.YieldFrom) for each in inner)
        lo.memo[key] = code, _Steps(step, names, loops, forwards)
        lo.memo["stepped", id(made)] = lo.memo[key][1]
    found_steps: _Steps = lo.memo[key][1]
    return found_steps


def _iterator(lo: Lowerer, kind: steps.Kind) -> ObjectRef:
    """Return an iterator that goes over something when a loop begins.

    All paths have it then, whichever of them the loop is on.
    """
    parts = tuple(_iterator(lo, each) for each in kind[1:])
    held: dict[str, Binding]
    cls: type[iteration.Stored]
    match kind[:1]:
        case ("zip",):
            cls, held = iteration.Zipped, {"parts": TupleOf(parts)}
        case ("enumerate",):
            cls, held = iteration.Numbered, {"part": parts[0], "number": lo.num(0)}
        case _:
            cls = iteration.Items
            held = {"items": UNSET, "place": lo.num(0), "ended": lo.num(False)}
    record = RecordOf(tuple(held), tuple(held.values()))
    return lo.new_ref(lambda slot: ObjectRef(slot, cls), record)


def step(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower a step of a generator: `next` and `send`."""
    generator, sent = args
    if (held := of(lo, generator)) is not None:
        raise _needs_steps(lo, held, node)
    assert isinstance(generator, ObjectRef)
    entries = lo.entries(generator)
    function = entries.get(_STEP)
    if not isinstance(function, Closure):
        raise _one_of_several(lo)
    if sent != NONE:
        at = entries.get(steps.AT)
        forwards = lo.memo["stepped", id(function.node)].forwards
        if forwards or not isinstance(at, Num) or isinstance(sent, Maybe):
            what = "`send` to a generator that yields from another one" if forwards else (
                "sending what may be None"
            )  # fmt: skip
            raise GeneratorError(f"{what} is not supported", lo.span(node), "use an attribute")
        begun_ = numbers.apply(lo, "ne", at.operand, integer(0))
        text = "can't send non-None value to a just-started generator"
        numbers.check(lo, begun_, "TypeError", text)
    # A generator of a tree draws from others of the same function, as deep as the tree is.
    if sum(each is function.node for each in lo.stack) >= _MOST_NESTED:
        raise GeneratorError(
            "a recursive generator is not supported", lo.span(node), "keep a list of what is to do"
        )
    bound = {**function.defaults, steps.SELF: generator, steps.SENT: sent}
    holder = function.scope.holder
    lo.stack.append(function.node)
    try:
        return inlining.run(
            lo, function.node, function.source, bound, holder, function.scope, function
        )
    finally:
        lo.stack.pop()


def stop(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `close` of a generator."""
    (generator,) = args
    assert isinstance(generator, ObjectRef)
    record = lo.held(generator)
    assert isinstance(record, RecordOf)
    name, end = ("state", _DONE) if of(lo, generator) is not None else (steps.AT, steps.DONE)
    lo.hold(generator, record.with_item(name, lo.num(end)))
    return NONE


_STEP = "$step"
# Generators of one function that draw from each other; more of them are a recursion.
_MOST_NESTED = 12


def require_none(lo: Lowerer, binding: Binding, node: ast.AST) -> None:
    """Refuse a generator among the arguments of a function that takes none."""
    if isinstance(binding, ObjectRef) and issubclass(binding.cls, iteration.Generator):
        raise GeneratorError(
            "a generator as an argument of this function is not supported", lo.span(node),
            "make a list of it: `list(…)`",
        )  # fmt: skip


def ends(name: str, at: ast.AST) -> ast.stmt:
    """Return the statement that the generator of this name has ended."""
    target = ast.Attribute(ast.Name(name, ast.Load()), "state", ast.Store())
    stmt = ast.Assign([target], ast.Constant(_DONE))
    for each in ast.walk(stmt):
        ast.copy_location(each, at)
    return stmt
