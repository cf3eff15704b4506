"""`try`, `except`, `else`, `finally`, and `raise`.

A check in the body of a `try` that a handler may catch is a conditional jump to the handlers
(`control.escapes`), which are branches. ``finally`` is lowered once, behind the body: the exit that
is pending there is kept, and pending again after it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import NoReturn

import numpy as np

from adc.frontend.control import blocks, escapes, evaluation
from adc.frontend.control.branches import branch
from adc.frontend.control.escapes import RAISED, Failed
from adc.frontend.control.exits import (
    EXIT,
    FALLS,
    RAISE,
    TORN,
    exit_of,
    exits_of,
    is_exit,
    set_exit,
    unbind_partial,
    without_exit,
)
from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    RecordOf,
    Static,
    TupleOf,
    Unstable,
    Words,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import unbound
from adc.frontend.core.state import Dead, Handling, Region
from adc.frontend.language.texts import formatting, templates, written
from adc.frontend.syntax import scope
from adc.frontend.syntax.source import source_of
from adc.frontend.values import sequences
from adc.frontend.values.growing import wordings
from adc.ir.builder import integer
from adc.ir.core import Check, Literal, Operand, Print, Value, walk
from adc.ir.errors import ExceptionHandlingError, LimitError, TypeMismatchError, exception_named
from adc.ir.text import raising
from adc.ir.types import BOOL, FLOAT, INT
from adc.library import Unsupported

NOTHING = Words("", (), ())


@handles(ast.Try)
def lower_try(lo: Lowerer, stmt: ast.Try) -> None:
    if stmt.finalbody:
        finally_(
            lo,
            stmt,
            functools.partial(_with_handlers, lo, stmt),
            functools.partial(blocks.lower_stmts, lo, stmt.finalbody),
            stmt.finalbody,
        )
    else:
        _with_handlers(lo, stmt)


def _with_handlers(lo: Lowerer, stmt: ast.Try) -> None:
    if not stmt.handlers:
        blocks.lower_stmts(lo, stmt.body)
        return
    found = [_classes(lo, handler) for handler in stmt.handlers]
    every: tuple[type[BaseException], ...] | None = ()
    for caught in found:
        every = None if caught is None or every is None else (*every, *caught)
    keeps = any(handler.name or _raises_again(handler) for handler in stmt.handlers)
    region = Region(every, keeps)
    catching(lo, region, lambda: blocks.lower_stmts(lo, stmt.body))

    def handle(failed: Failed) -> None:
        _dispatch(lo, stmt.handlers, found, failed, sorted(region.codes))

    def orelse() -> None:
        if stmt.orelse:
            blocks.if_falls(lo, stmt.orelse[0], lambda: blocks.lower_stmts(lo, stmt.orelse))

    # What `else` raises is not for these handlers.
    handled(lo, region, handle, orelse)


def _classes(lo: Lowerer, handler: ast.ExceptHandler) -> tuple[type[BaseException], ...] | None:
    """Return what a handler catches; None for everything."""
    if handler.type is None:
        return None
    found = evaluation.lower_expr(lo, handler.type)
    items = found.items if isinstance(found, TupleOf) else (found,)
    classes: list[type[BaseException]] = []
    for item in items:
        value = item.value if isinstance(item, Static) else None
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            raise TypeMismatchError(
                "catching classes that do not inherit from BaseException is not allowed",
                lo.span(handler.type),
            )
        classes.append(value)
    return tuple(classes)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(inner, ast.Raise) and inner.exc is None for inner in scope.inside([handler])
    )  # fmt: skip


def catching(lo: Lowerer, region: Region, body: Callable[[], None]) -> None:
    """Lower the body of a `try`; the exit `RAISE` is pending where an exception is caught."""
    frame = lo.frame
    if not isinstance(frame.env.get(RAISED), TupleOf):
        frame.env[RAISED] = escapes.raised()
    region.before = frozenset(frame.env)
    outer, frame.catching = frame.catching, (*frame.catching, region)
    lo.inlines += 1
    around, lo.caught = lo.caught, (*lo.caught, region)
    mark = len(lo.builder.stmts)
    dead = False
    try:
        body()
    except Dead:
        dead = True
    finally:
        frame.catching = outer
        lo.inlines -= 1
        lo.caught = around
    escapes.refuse_left(lo, region, lo.builder.stmts[mark:])
    if dead:
        raise Dead


def _failed(lo: Lowerer) -> Failed:
    found = lo.frame.env[RAISED]
    assert isinstance(found, TupleOf)
    return tuple(item.operand for item in found.items if isinstance(item, Num))


def handled(
    lo: Lowerer,
    region: Region,
    handle: Callable[[Failed], None],
    otherwise: Callable[[], None] = lambda: None,
) -> None:
    """Lower what runs where an exception is pending that a `try` caught, and where none is."""
    pending = exit_of(lo)
    outer = any(region.codes for region in lo.frame.catching)

    def go_on() -> None:
        if not outer:  # nothing else catches what may be pending
            without_exit(lo, RAISE)
            if is_exit(exit_of(lo), FALLS):
                lo.frame.partial.clear()
        otherwise()

    if RAISE not in exits_of(lo, pending) or not region.codes:
        go_on()
        return
    failed = _failed(lo)
    code = failed[0]
    here: Operand = Literal(True, BOOL)
    if exits_of(lo, pending) != {RAISE}:
        here = numbers.apply(lo, "eq", pending, integer(RAISE))
    if outer:  # it may be for one of those around this one
        here = numbers.apply(lo, "and", here, is_one_of(lo, code, sorted(region.codes)))

    def run() -> None:
        set_exit(lo, FALLS)
        unbind_partial(lo, "an exception may be raised before it is assigned", region.before)
        handle(failed)

    branch(lo, here, run, go_on, else_exited=FALLS not in exits_of(lo, pending))


def is_one_of(lo: Lowerer, code: Operand, codes: Sequence[int]) -> Operand:
    found: Operand = Literal(False, BOOL)
    for each in codes:
        found = numbers.apply(
            lo, "or", found, numbers.apply(lo, "eq", code, integer(each))
        )  # fmt: skip
    return found


def _dispatch(
    lo: Lowerer,
    handlers: Sequence[ast.ExceptHandler],
    found: Sequence[tuple[type[BaseException], ...] | None],
    failed: Failed,
    codes: Sequence[int],
) -> None:
    """Lower the first handler that catches the exception, as a chain of branches."""
    if not codes:
        return
    handler, classes = handlers[0], found[0]
    taken = [each for each in codes if escapes.catches(Region(classes), escapes.site_of(lo, each))]
    left = [each for each in codes if each not in taken]
    rest = functools.partial(_dispatch, lo, handlers[1:], found[1:], failed, left)
    if not taken:
        rest()
        return
    cond: Operand = Literal(True, BOOL) if not left else is_one_of(lo, failed[0], taken)
    with lo.at(handler):
        branch(lo, cond, lambda: _handle(lo, handler, failed, frozenset(taken)), rest)


def _handle(lo: Lowerer, handler: ast.ExceptHandler, failed: Failed, codes: frozenset[int]) -> None:
    frame = lo.frame
    bound = None
    if handler.name is not None:
        bound = frame.env[handler.name] = exception_of(lo, failed, codes, handler)
        frame.partial.discard(handler.name)
    outer, frame.handling = frame.handling, (*frame.handling, Handling(failed, codes, bound))
    try:
        blocks.lower_stmts(lo, handler.body)
    finally:
        frame.handling = outer
    if handler.name is not None and handler.name in frame.env:
        frame.env[handler.name] = unbound(lo, handler.name, "a handler deletes it at its end")


def exception_of(
    lo: Lowerer, failed: Failed, codes: frozenset[int], node: ast.AST
) -> Binding:  # fmt: skip
    """Return the exception that is handled, or the several that it may be."""
    found: dict[type[Exception], list[tuple[int, list[Binding]]]] = {}
    made: list[tuple[Binding, list[int]]] = []
    for code in sorted(codes):
        site = escapes.site_of(lo, code)
        cls = exception_named(site.error)
        if not escapes.is_kept(site):
            most = f"{escapes.SLOTS} integers or {escapes.SLOTS} floats"
            return Unstable(f"has a message with more than {most}, or others")
        args = _arguments(site.message, escapes.numbers_of(lo, site, failed))
        if args is None:
            return Unstable("has an argument that is neither a number nor a text")
        if raising.has_own(cls):
            own = _constructed(lo, cls, args, node)
            if own is None:
                what = "whose methods do more than to set its attributes"
                return Unstable(f"is an exception of `{cls.__name__}`, {what}")
            made.append((own, [code]))
        else:
            found.setdefault(cls, []).append((code, [value for _, value in args]))
    for cls, several in found.items():
        own_codes = [code for code, _ in several]
        texts = [_text(values) for _, values in several]
        said = [text for text in texts if text is not None]
        if len(said) == len(several) > 1:  # they differ in what they say
            which = _place(lo, failed[0], [[code] for code in own_codes])
            made.append((_exception(cls, [wordings.one_of(which, said)]), own_codes))
        else:
            made += [(_exception(cls, values), [code]) for code, values in several]
    if len(made) == 1:
        return made[0][0]
    return OneOf(tuple(each for each, _ in made), _place(lo, failed[0], [own for _, own in made]))


# What the methods of exceptions may call.
_PURE = frozenset(("super", "str", "repr", "float", "int", "abs", "min", "max", "round", "len"))


def _constructed(
    lo: Lowerer, cls: type[Exception], args: Sequence[tuple[str | None, Binding]], node: ast.AST
) -> Binding | None:
    """Return an exception of a class with an `__init__` of its own, or methods; None if it fails.

    It is made where it is handled and not where it was raised. So that must not make a difference.
    """
    mark = len(lo.builder.stmts)
    for each in cls.__mro__:
        own = vars(each) if each.__module__ != "builtins" else {}
        if {"__new__", "__getattr__", "__getattribute__", "__setattr__", "args"} & own.keys():
            return None
        init = own.get("__init__")
        if init is not None and not (isinstance(init, types.FunctionType) and _is_pure(init)):
            return None
    positional = [value for name, value in args if name is None]
    record = RecordOf(("args",), (TupleOf(tuple(positional)),))
    ref = lo.new_ref(lambda slot: ObjectRef(slot, cls), record)
    init = classes.in_class(cls, "__init__")
    if classes.is_method(init):
        fn = classes.find_method(lo, cls, "__init__")
        named = {name: value for name, value in args if name is not None}
        dispatch.apply(lo, Static(fn), [ref, *positional], named, classes.call_at(node))
    if any(isinstance(stmt, Check | Print) for stmt in walk(tuple(lo.builder.stmts[mark:]))):
        return None
    return ref


def _is_pure(fn: types.FunctionType) -> bool:
    """Whether a function reads its arguments only, and changes nothing but the first of them."""
    node = source_of(fn).node
    spec = node.args
    known = {arg.arg for arg in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]} | _PURE
    first = spec.args[0].arg if spec.args else ""
    for each in ast.walk(node):
        match each:
            case ast.Name(ctx=ast.Store(), id=name):
                known.add(name)
            case ast.Attribute(ctx=ast.Store(), value=ast.Name(id=name)) if name == first:
                pass
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                return False
            case ast.Global() | ast.Nonlocal() | ast.Delete():
                return False
            case (
                ast.Call(func=ast.Name())
                | ast.Call(
                    func=ast.Attribute(attr="__init__", value=ast.Call(func=ast.Name(id="super")))
                )
            ):
                pass
            case ast.Call():
                return False
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    annotations = {
        inner.id
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if arg.annotation is not None
        for inner in ast.walk(arg.annotation) if isinstance(inner, ast.Name)
    }  # fmt: skip
    return isinstance(node, ast.FunctionDef) and names - annotations <= known


def _place(lo: Lowerer, code: Operand, groups: Sequence[Sequence[int]]) -> Operand:
    """Return which of some groups of checks the one with this number is in."""
    found: Operand = integer(0)
    for k, own in enumerate(groups[1:], 1):
        found = numbers.select(lo, is_one_of(lo, code, own), integer(k), found)
    return found


def _exception(cls: type[Exception], args: Sequence[Binding]) -> Binding:
    return NamedTuple(cls, RecordOf(("args",), (TupleOf(tuple(args)),)))


def _text(args: Sequence[Binding]) -> Words | None:
    """Return the one text that an exception is made of, if it is."""
    match args:
        case [Static(value=str() as text)]:
            return wordings.known(text)
        case [Words() as text]:
            return text
    return None


def _arguments(
    message: str, values: Sequence[Operand]
) -> list[tuple[str | None, Binding]] | None:  # fmt: skip
    """Return the arguments of an exception that has this message; None if they are not known."""
    left = iter(values)
    found: list[tuple[str | None, Binding]] = []
    for each in raising.arguments(message):
        if each.template is None:
            found.append((each.name, Static(None)))
            continue
        count = sum(field == "" for _, field, _, _ in Formatter().parse(each.template))
        own = tuple([Num(next(left)) for _ in range(count)])
        if each.number and each.template == "{}":
            value: Binding = own[0]
        elif each.number and not own and each.template[:1] not in "[{":
            value = static(ast.literal_eval(each.template.format()))
        elif each.number is not False:
            return None
        else:
            value = templates.string(Words(each.template, own, ("",) * count))
        found.append((each.name, value))
    return found


# -- raise -----------------------------------------------------------------------------------------


@handles(ast.Raise)
def _raise(lo: Lowerer, stmt: ast.Raise) -> None:
    node = stmt.exc
    if node is None and lo.frame.handling:
        reraise(lo, stmt, lo.frame.handling[-1])
    if isinstance(node, ast.Name) and (found := lo.frame.env.get(node.id)) is not None:
        for handling in reversed(lo.frame.handling):
            if found is handling.bound:
                reraise(lo, stmt, handling)
    call = node if isinstance(node, ast.Call) else None
    given, keywords = (call.args, call.keywords) if call else ([], [])
    node = call.func if call else node
    found = None if node is None else evaluation.lower_expr(lo, node)
    cls = found.value if isinstance(found, Static) else None
    if cls is Unsupported:
        _refuse(lo, stmt, given)
    parts = _of_caught(lo, found, stmt) if call is None else None
    if parts is not None and isinstance(found, NamedTuple):
        fail(lo, Literal(False, BOOL), raising.name_of(found.cls) or "", parts, stmt)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        raise lo.unsupported(
            "this `raise`", stmt, "raise what `except` caught, a class, or a call of one"
        )
    name = raising.name_of(cls)
    if name is None:
        raise lo.unsupported(
            f"raising `{cls.__name__}`, a class that is not an attribute of its module,", stmt,
            "define it at module level",
        )  # fmt: skip
    parts = made_of(lo, cls, given, keywords, stmt)
    fail(lo, Literal(False, BOOL), name, parts, stmt)


def _of_caught(lo: Lowerer, found: Binding | None, stmt: ast.Raise) -> list[Part] | None:
    """Return the arguments of an exception that was caught before, if this is one."""
    match found:
        case NamedTuple(cls=cls, record=RecordOf(items=(TupleOf(items=args),))) if issubclass(
            cls, Exception
        ):
            parts = [_part(lo, None, each, stmt) for each in args]
            known = [part for part in parts if part is not None]
            return known if len(known) == len(parts) else None
    return None


@dataclass(frozen=True)
class Part:
    """An argument of an exception: None, a text, or (`plain`) the number or array itself.

    If `plain` is None, the text is that of something else, such as a tuple.
    """

    name: str | None
    text: Words | None
    plain: bool | None = False

    @property
    def has_arrays(self) -> bool:
        return self.text is not None and templates.operands(self.text) is None

    def argument(self, template: str) -> raising.Argument:
        """Return this argument, with a template for it."""
        return raising.Argument(None if self.text is None else template, self.plain, self.name)


def fail(
    lo: Lowerer, cond: Operand, error: str, parts: Sequence[Part], node: ast.stmt
) -> None:  # fmt: skip
    """Raise an exception that is made of these arguments, unless a condition holds.

    One that has arrays is raised in any case.
    """
    if any(part.has_arrays for part in parts):
        _fail_with_arrays(lo, error, parts, node)
    else:
        texts = [part.text or NOTHING for part in parts]
        args = [part.argument(text.template) for part, text in zip(parts, texts, strict=True)]
        operands = [each for text in texts for each in templates.operands(text) or ()]
        lo.builder.check(cond, error, raising.message_of(args), *operands)
    if isinstance(cond, Literal):
        raise Dead


def _fail_with_arrays(lo: Lowerer, error: str, parts: Sequence[Part], node: ast.stmt) -> None:
    """Let Python make and raise an exception; a check behind it ends the code."""
    end = Check(Literal(False, BOOL), error, "")
    region = next((each for each in reversed(lo.caught) if escapes.catches(each, end)), None)
    if region is not None and region.keeps:
        raise lo.unsupported(
            "an array or one of several texts in an exception that is caught and kept", node,
            "write some of its elements, or leave out what keeps it: `as`, `raise`, `finally`",
        )  # fmt: skip
    if region is None:  # somebody will see it
        args: list[raising.Argument] = []
        operands: list[Operand] = []
        passed = 0
        for part in parts:
            text = part.text or NOTHING
            template, own = templates.filled(lo, text, node, passed)
            args.append(part.argument(template))
            operands += own
            passed += sum(map(bool, text.forms))
        to = json.dumps(["raise", error])
        lo.builder.emit(Print(raising.message_of(args), tuple(operands), lo.builder.loc, to))
    lo.builder.check(end.cond, error, "")


def made_of(
    lo: Lowerer, cls: type[Exception], given: Sequence[ast.expr], keywords: Sequence[ast.keyword],
    stmt: ast.stmt,
) -> list[Part]:  # fmt: skip
    """Lower the arguments of an exception."""
    nodes = [(None, node) for node in given] + [(each.arg, each.value) for each in keywords]
    parts: list[Part] = []
    for name, node in nodes:
        starred = isinstance(node, ast.Starred) or any(each.arg is None for each in keywords)
        value = None if starred else formatting.value(lo, node)
        part = None if value is None else _part(lo, name, value, node)
        if part is not None:
            parts.append(part)
            continue
        match value:
            case ArrayRef() | Lazy():
                parts.append(Part(name, written.text_of(lo, value, node), True))
            case ListRef() | TupleOf() | DictRef() if (
                len(nodes) > 1 or raising.has_own(cls)
            ) and _is_literal(lo, value):
                parts.append(Part(name, written.text_of(lo, value, node), True))
            case _:
                # Alone it is what the exception says: a tuple, for instance.
                if value is None or len(nodes) > 1 or raising.has_own(cls):
                    what = "starred arguments" if value is None else kind_of(value)
                    raise lo.unsupported(
                        f"an exception with {what}", node,
                        "pass texts and numbers, such as some of its elements",
                    )  # fmt: skip
                if issubclass(cls, KeyError):
                    # It shows the `repr` of its argument, which is not known.
                    raise lo.unsupported(
                        f"`{cls.__name__}` with {kind_of(value)}", node, "use an f-string"
                    )
                parts.append(Part(name, written.text_of(lo, value, node), None))
    try:
        if raising.is_built(cls):
            inspect.signature(cls).bind(*given, **{each.arg or "": each for each in keywords})
        elif keywords:
            raise TypeError(f"{cls.__name__}() takes no keyword arguments")
    except TypeError as error:
        raise TypeMismatchError(f"{cls.__name__}(): {error}", lo.span(stmt)) from None
    return parts


def _part(lo: Lowerer, name: str | None, value: Binding, node: ast.AST) -> Part | None:
    """Return the argument that None, a number or a text is; of others, None."""
    match value:
        case Static(value=None):
            return Part(name, None)
        case Num(operand=operand):
            return Part(name, Words("{}", (Num(operand),), ("",)), True)
        case Words() | Static(value=str()):
            return Part(name, written.text_of(lo, value, node))
    return None


def _is_literal(lo: Lowerer, value: Binding) -> bool:
    """Whether Python has a literal for a value; it has none for nan, nor for NumPy's numbers."""
    match value:
        case Num(operand=Literal(value=known, type=ty)):
            return ty in (INT, FLOAT, BOOL) and bool(np.isfinite(known))
        case Num(operand=operand):
            return operand.type in (INT, BOOL)
        case Static(value=known):
            return known is None or isinstance(known, str)
        case DictRef() if isinstance(record := lo.held(value), RecordOf):
            return all(_is_literal(lo, item) for item in record.items)
        case ListRef() | TupleOf():
            items = sequences.static_items(lo, value)
            return items is not None and all(_is_literal(lo, item) for item in items)
    return False


def _refuse(lo: Lowerer, stmt: ast.Raise, args: Sequence[ast.expr]) -> NoReturn:
    """Lower what the library raises where it does not support what it is given.

    The program's call is refused where no branch or loop since then decides whether it gets here.
    """
    made = [formatting.message(lo, arg) for arg in args]
    what, hint = (text.template for text in made)
    numbers_ = [templates.operands(text) or () for text in made]
    operands = [operand for each in numbers_ for operand in each]
    called_at = lo.generating[-1][1] if lo.entered_at is None else lo.entered_at
    known = [operand.value for operand in operands if isinstance(operand, Literal)]
    if lo.branches == called_at and len(known) == len(operands):
        split = len(numbers_[0])
        raise lo.unsupported(what.format(*known[:split]), stmt, hint.format(*known[split:]))
    text = f"adc: {what} is not supported: {hint}"
    lo.builder.check(Literal(False, BOOL), LimitError.__name__, text, *operands)
    raise Dead


def reraise(lo: Lowerer, node: ast.AST, handling: Handling) -> None:
    """Raise what is handled again."""
    codes = sorted(handling.codes)
    for k, code in enumerate(codes):
        site = escapes.site_of(lo, code)
        if not escapes.is_kept(site):
            raise ExceptionHandlingError(
                f"raising this `{site.error}` again is not supported: its message has too many "
                "numbers",
                site.loc,
                "raise another exception instead",
            )
        other: Operand = Literal(False, BOOL)
        if k < len(codes) - 1:
            other = numbers.apply(lo, "ne", handling.failed[0], integer(code))
        args = escapes.numbers_of(lo, site, handling.failed)
        lo.builder.check(other, site.error, site.message, *args)
    raise Dead


# -- finally ---------------------------------------------------------------------------------------


def finally_(
    lo: Lowerer,
    stmt: ast.stmt,
    body: Callable[[], None],
    final: Callable[[], None],
    stmts: Sequence[ast.stmt] = (),
) -> None:
    """Lower `final` after `body`, whatever its exit.

    An exception that nothing catches leaves the differentiated function, and what `final` computes
    is lost. If others can see that it ran, because it prints or changes an argument, or if an outer
    `try` may catch the exception, then exceptions are caught here and raised again.
    """
    if scope.has_return(stmts) or scope.has_break(stmts) or scope.has_continue(stmts):
        raise ExceptionHandlingError(
            "leaving `finally` by `return`, `break` or `continue` is not supported",
            lo.span(stmt),
            "leave after it: that would discard exceptions",
        )
    key = (lo.frame.path, id(stmt), "finally")
    before = lo.point()
    if not lo.caught and key not in lo.memo:
        try:
            body()
            if _is_unseen(lo, final):
                return
        except Dead:
            pass  # what always raises runs `final` as well
        lo.memo[key] = True
        lo.undo(before)
    region = Region(None, keeps=True)
    catching(lo, region, body)
    kept_exit(lo, final)
    frame = lo.frame

    def again(failed: Failed) -> None:
        handling = Handling(failed, frozenset(region.codes))
        what = functools.partial(reraise, lo, stmt, handling)
        if frame.catching:
            escapes.run(lo, what)
        else:
            what()

    handled(lo, region, again)


def _is_unseen(lo: Lowerer, final: Callable[[], None]) -> bool:
    """Lower `final`; return whether nobody sees it where an exception leaves the function."""
    origins = {obj: lo.versions.get(obj, origin) for obj, origin in lo.origin.items()}
    changed = set(lo.changed)
    mark = len(lo.builder.stmts)
    kept_exit(lo, final)
    if any(isinstance(stmt, Check | Print) for stmt in walk(tuple(lo.builder.stmts[mark:]))):
        return False
    return lo.changed == changed and all(
        lo.versions.get(obj, origin) is origins.get(obj, origin)
        for obj, origin in lo.origin.items()
    )


def kept_exit(lo: Lowerer, final: Callable[[], None]) -> None:
    """Lower `final` where any exit may be pending, which is pending again after it."""
    pending, raised = exit_of(lo), lo.frame.env.get(RAISED)
    partial = set(lo.frame.partial)
    set_exit(lo, FALLS)
    final()
    if not isinstance(exit_of(lo), Literal):
        ends = lo.builder.apply("eq", exit_of(lo), integer(FALLS))
        rest = lo.builder.apply("select", ends, pending, exit_of(lo), hint="exit")
        assert isinstance(rest, Value)
        lo.exit_values[rest] = exits_of(lo, pending) | exits_of(lo, exit_of(lo)) - {FALLS}
        lo.frame.env[EXIT] = Num(rest)
        now = lo.frame.env.get(RAISED)
        if isinstance(raised, TupleOf) and isinstance(now, TupleOf) and raised != now:
            pairs = zip(raised.items, now.items, strict=True)
            lo.frame.env[RAISED] = TupleOf(
                tuple(
                    [
                        Num(numbers.select(lo, ends, old.operand, new.operand))
                        for old, new in pairs
                        if isinstance(old, Num) and isinstance(new, Num)
                    ]
                )
            )
    elif exits_of(lo, exit_of(lo)) == {FALLS}:
        lo.frame.env[EXIT] = Num(pending)
        if raised is not None:
            lo.frame.env[RAISED] = raised
    lo.frame.partial |= {n for n in partial if n in lo.frame.env or n.startswith(TORN)}


__all__ = [
    "Part", "catching", "exception_of", "fail", "finally_", "handled", "kept_exit", "lower_try",
    "made_of", "reraise",
]  # fmt: skip
