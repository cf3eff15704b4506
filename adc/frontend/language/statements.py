"""Statements: one function for each kind of node."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
from collections.abc import Callable, Sequence

from adc.frontend.control import blocks, chains, evaluation
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import BREAK, CONTINUE, RESULT, RETURN, set_exit
from adc.frontend.core import classes, closures, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Closure,
    DictRef,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    Range,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import refusals
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import is_bound, read_name, unbound
from adc.frontend.core.state import Dead
from adc.frontend.core.structure import is_slot
from adc.frontend.inputs import bases
from adc.frontend.language import (
    assignment,
    attributes,
    dicts,
    exceptions,
    iterators,
    stored,
    subscripts,
)
from adc.frontend.language.texts import formatting
from adc.frontend.syntax import scope
from adc.frontend.values import comparisons, contents, elementwise, objects, optional, sequences
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import GlobalStateError, TypeMismatchError
from adc.ir.types import BOOL


@handles(ast.Expr)
def _expr(lo: Lowerer, stmt: ast.Expr) -> None:
    if isinstance(stmt.value, ast.Constant):
        return  # a docstring
    evaluation.lower_optional(lo, stmt.value)


@handles(ast.Assign)
def _assign(lo: Lowerer, stmt: ast.Assign) -> None:
    if not isinstance(stmt.targets[0], ast.Tuple | ast.List):
        iterator = None if _is_slice(stmt.targets[0]) else stored.iterator(lo, stmt.value)
        if iterator is not None:
            for target in stmt.targets:
                assignment.assign(lo, target, iterator)
            return
        refusals.require_lasting(lo, stmt.value)
        if not _is_slice(stmt.targets[0]):
            iterators.require_undrawn(lo, stmt.value)
    if len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Subscript):
        # What is stored into an array needs no array of its own.
        assignment.assign(lo, stmt.targets[0], dispatch.optional(lo, stmt.value))
        return
    value = named(lo, stmt)
    for target in stmt.targets:
        assignment.assign(lo, target, value)


def _is_slice(target: ast.expr) -> bool:
    """Whether elements are assigned, of which the value may be an iterator."""
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)


def named(lo: Lowerer, stmt: ast.Assign) -> Binding:
    """Return the value of an assignment, called by the user's name in dumps."""
    if len(stmt.targets) != 1 or not isinstance(stmt.targets[0], ast.Name):
        return evaluation.lower_optional(lo, stmt.value)
    name = stmt.targets[0].id
    if formatting.is_format(lo, stmt.value):
        return formatting.words(lo, stmt.value)
    before = lo.bindings, lo.builder.stmts, len(lo.builder.stmts)
    value = dispatch.optional(lo, stmt.value)
    made = elementwise.materialised(lo, value, stmt.value, name)
    # What was computed since something was last bound is bound nowhere.
    stmts = lo.builder.stmts
    free = before[0] == lo.bindings and stmts is before[1] and len(stmts) > before[2]
    return renamed(lo, value, name, free=free) if made is value else made


@handles(ast.AnnAssign)
def _ann_assign(lo: Lowerer, stmt: ast.AnnAssign) -> None:
    if stmt.value is not None:
        iterators.require_lasting(lo, stmt.value)
        assignment.assign(lo, stmt.target, evaluation.lower_optional(lo, stmt.value))


def renamed(lo: Lowerer, value: Binding, name: str, *, free: bool) -> Binding:
    """Call the value just computed by the user's name, so that dumps read like the source.

    Of one that is `free` it is known that no variable holds it: they need not be looked at.
    """
    if isinstance(value, Num) and isinstance(value.operand, Value) and lo.builder.stmts:
        last = lo.builder.stmts[-1]
        old = value.operand
        fresh = last.results == (old,) and old.name.rstrip("0123456789.") == "t"
        if fresh and (free or not is_bound(lo, old)):
            mark = lo.builder.marks.pop(old.name, None)
            new = lo.builder.value(name, old.type)
            if mark is not None:
                lo.builder.marks[new.name] = mark
            lo.builder.stmts[-1] = numbers.with_result(last, new)
            return Num(new, value.array)
    return value


@handles(ast.AugAssign)
def _aug_assign(lo: Lowerer, stmt: ast.AugAssign) -> None:
    target = stmt.target
    if isinstance(target, ast.Subscript):
        assignment.augment_element(lo, stmt, target)
        return
    if isinstance(target, ast.Attribute):
        owner = evaluation.lower_owner(lo, target)
        held = attributes.of_container(lo, owner, target.attr, target)
        if isinstance(owner, Closure):
            held = owner.attributes.get(target.attr)
        if isinstance(owner, Static) and isinstance(owner.value, type):
            held = objects.of_static(lo, owner, target.attr, target)
        elif isinstance(owner, Static):
            objects.set_attribute(lo, owner, target.attr, NONE, target)  # which refuses
        if held is None:
            raise TypeMismatchError(
                f"{kind_of(owner)} has no attribute {target.attr!r}", lo.span(target)
            )
        new = assignment.augmented(lo, held, stmt)
        objects.set_attribute(lo, owner, target.attr, new, target)
        return
    assert isinstance(target, ast.Name)
    old = read_name(lo, target.id, target)
    old = dispatch.required(lo, old, target) if isinstance(old, Maybe) else old
    dispatch.require_one([old], target)
    assignment.assign(lo, target, assignment.augmented(lo, old, stmt))


@handles(ast.Delete)
def _delete(lo: Lowerer, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        match target:
            case ast.Name(id=name):
                read_name(lo, name, target)
                slot = lo.frame.cells.get(name, name)
                lo.frame.env[slot] = unbound(lo, name, f"it was deleted at line {stmt.lineno}")
            case ast.Subscript():
                owner = evaluation.lower_expr(lo, target.value)
                subscripts.delete_item(lo, owner, target)
            case ast.Attribute():
                owner = evaluation.lower_owner(lo, target)
                objects.delete_attribute(lo, owner, target.attr, target)
            case _:
                raise lo.unsupported("`del` of this", target)


# -- match -----------------------------------------------------------------------------------------

# Python's own mark of classes that a pattern of a sequence matches (Py_TPFLAGS_SEQUENCE): of
# strings and iterators not, of NumPy's arrays not, of subclasses of `collections.abc.Sequence`.
# The next one, of those that a pattern of a dict matches (Py_TPFLAGS_MAPPING), and that of classes
# whose pattern has one inside for the whole value, such as ``float(x)`` (_Py_TPFLAGS_MATCH_SELF).
_SEQUENCE, _MAPPING, _WHOLE = 1 << 5, 1 << 6, 1 << 22


@handles(ast.Match)
def _match(lo: Lowerer, stmt: ast.Match) -> None:
    iterators.require_undrawn(lo, stmt.subject)
    subject = evaluation.lower_optional(lo, stmt.subject)
    iterators.require_lasting(lo, stmt.subject, subject)
    tests: list[Callable[[], Operand]] = []
    arms: list[Callable[[], None]] = []
    for case in stmt.cases:
        captured: dict[str, Binding] = {}
        tests.append(functools.partial(_case_holds, lo, case, subject, captured))
        arms.append(functools.partial(_taken, lo, case, captured))
    chains.pick(lo, tests, [*arms, lambda: None])


def _case_holds(
    lo: Lowerer, case: ast.match_case, subject: Binding, captured: dict[str, Binding]
) -> Operand:
    """Return whether a case matches, and the bindings of its names."""
    before = dict(lo.frame.env)
    cond = _matches(lo, case.pattern, subject)
    if case.guard is not None and not (isinstance(cond, Literal) and not cond.value):
        guard = functools.partial(evaluation.condition, lo, case.guard)
        cond = evaluation.all_of(lo, [lambda: cond, guard])
    # What a guard changes stays changed, also where it does not hold.
    held = {k: v for k, v in lo.frame.env.items() if is_slot(k)}
    changed = {k: v for k, v in lo.frame.env.items() if before.get(k) is not v}
    captured |= {k: v for k, v in changed.items() if k not in held}
    lo.frame.env = before | held
    return cond


def _taken(lo: Lowerer, case: ast.match_case, captured: dict[str, Binding]) -> None:
    lo.frame.env.update(captured)
    blocks.lower_stmts(lo, case.body)


def _matches(lo: Lowerer, pattern: ast.pattern, subject: Binding) -> Operand:
    """Return whether a value matches a pattern, and bind the names in it."""
    takes_apart = isinstance(pattern, ast.MatchSequence | ast.MatchClass | ast.MatchMapping)
    if takes_apart:
        dispatch.require_one([subject], pattern)
    if takes_apart and isinstance(subject, Maybe):
        raise lo.unsupported(
            f"this pattern for {kind_of(subject)}", pattern, "ask whether it is None first"
        )
    match pattern:
        case ast.MatchValue(value=value):
            wanted = evaluation.lower_expr(lo, value)
            return comparisons.compare(lo, ast.Eq(), subject, wanted, pattern)
        case ast.MatchSingleton(value=value):
            return comparisons.compare(lo, ast.Is(), subject, static(value), pattern)
        case ast.MatchAs(pattern=inner, name=name):
            cond: Operand = Literal(True, BOOL) if inner is None else _matches(lo, inner, subject)
            if name is not None:
                lo.frame.env[name] = subject
                lo.frame.partial.discard(name)
            return cond
        case ast.MatchOr(patterns=patterns):
            found = [_matches(lo, each, subject) for each in patterns]
            return functools.reduce(lambda a, b: numbers.apply(lo, "or", a, b), found)
        case ast.MatchSequence():
            return _matches_sequence(lo, pattern, subject)
        case ast.MatchClass():
            return _matches_class(lo, pattern, subject)
        case ast.MatchMapping():
            return _matches_dict(lo, pattern, subject)
    raise AssertionError(pattern)


def _elements(lo: Lowerer, subject: Binding, pattern: ast.pattern) -> Sequence[Binding] | None:
    """Return the elements of what a pattern of a sequence may match; None of everything else."""
    match subject:
        case Range():
            items = sequences.static_range(subject)
        case TupleOf() | ListRef():
            items = sequences.static_items(lo, subject)
        case NamedTuple(cls=cls) | ObjectRef(cls=cls) if cls.__flags__ & _SEQUENCE:
            items = sequences.static_items(lo, subject)
        case Static(value=value) if type(value).__flags__ & _SEQUENCE:
            items = sequences.static_items(lo, subject)
        case _:
            return None
    if items is None:
        raise lo.unsupported(
            f"this pattern for {kind_of(subject)} whose elements are known only at run time",
            pattern, "ask for its length with `if len(…) == …`",
        )  # fmt: skip
    return items


def _matches_sequence(lo: Lowerer, pattern: ast.MatchSequence, subject: Binding) -> Operand:
    patterns = pattern.patterns
    items = _elements(lo, subject, pattern)
    if items is None:
        return Literal(False, BOOL)
    stars = [k for k, each in enumerate(patterns) if isinstance(each, ast.MatchStar)]
    if len(items) < len(patterns) - len(stars) or (not stars and len(items) != len(patterns)):
        return Literal(False, BOOL)
    result: Operand = Literal(True, BOOL)
    if stars:
        at, after = stars[0], len(patterns) - stars[0] - 1
        star = patterns[at]
        assert isinstance(star, ast.MatchStar)
        end = len(items) - after
        if star.name is not None:
            lo.frame.env[star.name] = lo.new_ref(ListRef, TupleOf(tuple(items[at:end])))
        patterns = [*patterns[:at], *patterns[at + 1 :]]
        items = [*items[:at], *items[end:]]
    for each, item in zip(patterns, items, strict=True):
        result = numbers.apply(lo, "and", result, _matches(lo, each, item))
    return result


def _matches_class(lo: Lowerer, pattern: ast.MatchClass, subject: Binding) -> Operand:
    found = evaluation.lower_expr(lo, pattern.cls)
    cls = found.value if isinstance(found, Static) else None
    if not isinstance(cls, type):
        raise TypeMismatchError("called match pattern must be a class", lo.span(pattern.cls))
    call = ast.copy_location(ast.Call(pattern.cls, [], []), pattern)
    holds = dispatch.apply(lo, Static(isinstance), [subject, found], {}, call)
    assert isinstance(holds, Num)
    if holds.operand == Literal(False, BOOL):
        return holds.operand
    names = getattr(cls, "__match_args__", None)
    whole = names is None and bool(cls.__flags__ & _WHOLE)
    given, most = len(pattern.patterns), 1 if whole else len(names or ())
    if given > most:
        raise TypeMismatchError(
            f"{cls.__name__}() accepts {most} positional sub-pattern{'s' * (most != 1)} "
            f"({given} given)", lo.span(pattern),
        )  # fmt: skip
    inner = list(zip(names or (), pattern.patterns, strict=False))
    inner += zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    tests = [_matches(lo, each, subject) for each in (pattern.patterns if whole else ())]
    for name, each in inner:
        part = _part(lo, subject, name, each)
        if part is None:
            return Literal(False, BOOL)
        tests.append(_matches(lo, each, part))
    return _all(lo, tests)


def _part(lo: Lowerer, subject: Binding, name: str, pattern: ast.pattern) -> Binding | None:
    """Return an attribute of what matches a class; None if it has no such attribute."""
    if objects.has_own(lo, subject, name) is not None:
        raise lo.unsupported(
            f"a pattern with the attribute `{name}`, which only some paths set,", pattern,
            "set it on every path",
        )  # fmt: skip
    if isinstance(subject, classes.Instance):
        return objects.attribute(lo, subject, name, pattern)
    node = ast.copy_location(ast.Attribute(ast.Name("_", ast.Load()), name, ast.Load()), pattern)
    return attributes.attribute_of(lo, subject, node)


def _matches_dict(lo: Lowerer, pattern: ast.MatchMapping, subject: Binding) -> Operand:
    if classes.in_class(classes.instance_class(subject) or object, "get") is bases.method("get"):
        subject = contents.as_plain_dict(lo, subject, pattern)
    if not isinstance(subject, DictRef) or isinstance(subject, SetRef):
        cls = type(subject.value) if isinstance(subject, Static) else classes.class_of(subject)
        if not isinstance(subject, SetRef) and (cls is None or cls.__flags__ & _MAPPING):
            raise lo.unsupported(f"this pattern for {kind_of(subject)}", pattern)
        return Literal(False, BOOL)
    tests: list[Operand] = []
    rest = lo.held(subject)
    for node, each in zip(pattern.keys, pattern.patterns, strict=True):
        key = evaluation.lower_filled(lo, node)
        there, read = dicts.looked_up(lo, subject, key, node)
        if isinstance(there, Literal) and not there.value:
            return there
        if not isinstance(rest, RecordOf):
            raise lo.unsupported(
                "this pattern for a dict with keys known only at run time", pattern,
                "ask for a key with `if key in …`",
            )  # fmt: skip
        rest = rest.without(dicts.key_of(lo, key, node))
        tests += [there, _matches(lo, each, read())]
    if pattern.rest is not None:
        lo.frame.env[pattern.rest] = lo.new_ref(DictRef, rest)
    return _all(lo, tests)


def _all(lo: Lowerer, tests: Sequence[Operand]) -> Operand:
    true: Operand = Literal(True, BOOL)
    return functools.reduce(lambda a, b: numbers.apply(lo, "and", a, b), tests, true)


@handles(ast.Return)
def _return(lo: Lowerer, stmt: ast.Return) -> None:
    iterator = None if stmt.value is None else stored.iterator(lo, stmt.value)
    if stmt.value is not None and iterator is None:
        iterators.require_lasting(lo, stmt.value)
    value: Binding = NONE
    if stmt.value is None:
        pass
    elif iterator is not None:
        value = iterator
    elif lo.frame.source.name in ("__str__", "__repr__"):  # only formatting calls these
        value = formatting.value(lo, stmt.value)
    else:
        value = evaluation.lower_optional(lo, stmt.value)
    lo.frame.env[RESULT] = value
    set_exit(lo, RETURN)


@handles(ast.Assert)
def _assert(lo: Lowerer, stmt: ast.Assert) -> None:
    cond = evaluation.condition(lo, stmt.test)
    if isinstance(cond, Literal) and cond.value:
        return
    before = lo.point()
    given = [stmt.msg] if stmt.msg else []
    parts = exceptions.made_of(lo, AssertionError, given, (), stmt)
    env = lo.frame.env
    still = len(lo.builder.stmts) == before.length and all(
        env[name] is old for name, old in before.state.env.items()
    )
    if still and not any(part.has_arrays for part in parts):
        exceptions.fail(lo, cond, "AssertionError", parts, stmt)
        optional.narrow(lo, cond, True)
        return
    # What the message computes, and does, belongs to the path that fails.
    lo.undo(before)

    def fails() -> None:
        again = exceptions.made_of(lo, AssertionError, given, (), stmt)
        exceptions.fail(lo, Literal(False, BOOL), "AssertionError", again, stmt)

    branch(lo, cond, lambda: None, fails)


@handles(ast.Import)
def _import(lo: Lowerer, stmt: ast.Import) -> None:
    for alias in stmt.names:
        module = _imported(lo, alias.name, 0)
        name = alias.asname
        if name is None:
            name = alias.name.partition(".")[0]
            module = sys.modules[name]
        assignment.assign(lo, ast.Name(name, ast.Store()), Static(module))


@handles(ast.ImportFrom)
def _import_from(lo: Lowerer, stmt: ast.ImportFrom) -> None:
    module = _imported(lo, stmt.module or "", stmt.level)
    for alias in stmt.names:
        try:
            found = outside.attribute(lo, Static(module), alias.name)
        except AttributeError:
            found = Static(_imported(lo, f"{module.__name__}.{alias.name}", 0, alias.name))
        assignment.assign(lo, ast.Name(alias.asname or alias.name, ast.Store()), found)


def _imported(lo: Lowerer, name: str, level: int, asked: str = "") -> types.ModuleType:
    """Import a module, as the statement would when it runs."""
    package = lo.frame.holder.fn.__globals__.get("__package__") if level else None
    return import_module(lo, "." * level + name, package, asked)


def import_module(lo: Lowerer, name: str, package: str | None, asked: str = "") -> types.ModuleType:
    """Import a module, or have the run say that there is none."""
    try:
        return importlib.import_module(name, package)
    except ImportError as error:
        text, kind = str(error), type(error).__name__
        if asked:
            text, kind = f"cannot import name {asked!r}", "ImportError"
        lo.builder.check(Literal(False, BOOL), kind, numbers.escaped(text))
        raise Dead from None


@handles(ast.Nonlocal)
def _nonlocal(lo: Lowerer, stmt: ast.Nonlocal) -> None:
    for name in stmt.names:
        if name in lo.frame.cells or name not in closures.locals_of(lo.frame.source.node):
            continue
        if not outside.assign_variable(lo, name, stmt):
            raise GlobalStateError(
                f"assigning to {name!r}, a variable of a function outside the differentiated one, "
                "is not supported",
                lo.span(stmt),
                "return the value instead",
            )


@handles(ast.Global)
def _global(lo: Lowerer, stmt: ast.Global) -> None:
    """Names that are declared so and assigned nowhere mean what they mean without it."""
    body = getattr(lo.frame.source.node, "body", [])
    written = set(stmt.names) & set(scope.assigned_in(body if isinstance(body, list) else [body]))
    for name in sorted(written):
        if not outside.assign_variable(lo, name, stmt):
            raise GlobalStateError(
                f"assigning to the global variable {name!r} is not supported",
                lo.span(stmt),
                "return the value instead",
            )


@handles(ast.Pass)
def _pass(lo: Lowerer, stmt: ast.stmt) -> None:
    return


@handles(ast.Break)
def _break(lo: Lowerer, stmt: ast.stmt) -> None:
    if lo.frame.breaking is not None:
        lo.frame.breaking.keep()
    set_exit(lo, BREAK)


@handles(ast.Continue)
def _continue(lo: Lowerer, stmt: ast.stmt) -> None:
    set_exit(lo, CONTINUE)
