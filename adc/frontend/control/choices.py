"""What is one of several values: what uses it is lowered once for each, as the arms of a branch.

After ``mode = "a" if c else "b"``, `mode` is one of two texts, and a number says which. What
``table[mode]`` means depends on it, so the statement, or the condition, becomes a branch with a
copy for each text, in which `mode` is that text. Comparisons need no branch
(`values.comparisons`), nor does what only passes a value on. Programs without such values are
lowered without looking for them (`Shared.choosing`).
"""

from __future__ import annotations

import ast
import copy
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from adc.frontend.control import chains, evaluation, forms
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import VALUE
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import NONE, Binding, Num, OneOf
from adc.frontend.core.dispatch import SplitError
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import usable
from adc.frontend.core.state import ChoiceError, Dead, Frame
from adc.frontend.syntax import scope
from adc.frontend.values import optional
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import AdcError, LimitError, TypeMismatchError, UnsupportedError
from adc.ir.types import BOOL

# How many copies of a statement there may be.
MOST_COPIES = 64
# What names of parts of statements begin with.
_ONE = "$one"
# Expressions of which some parts are evaluated on some paths only, or several times.
_SOMETIMES = (
    ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def execute(lo: Lowerer, stmt: ast.stmt) -> None:
    """Lower a statement, once for each value of what it uses that is one of several."""
    if not lo.shared.choosing:
        dispatch.execute(lo, stmt)
        return

    def lower(part: ast.AST) -> Binding:
        assert isinstance(part, ast.stmt)
        dispatch.execute(lo, part)
        return NONE

    try:
        _split(lo, stmt, lower, valued=False)
    except SplitError as error:
        error.span = error.span or lo.span(error.node)
        raise


def condition(lo: Lowerer, node: ast.expr) -> Operand:
    """Lower a condition likewise."""
    if not lo.shared.choosing:
        return evaluation.condition(lo, node)

    def lower(part: ast.AST) -> Binding:
        assert isinstance(part, ast.expr)
        return Num(evaluation.condition(lo, part))

    before = lo.point()
    try:
        found = _split(lo, node, lower, truth=True)
    except ChoiceError:
        if not isinstance(node, ast.BoolOp):
            raise
        # What only some paths evaluate is lowered for each case there.
        lo.undo(before)
        with lo.at(node):
            parts = [functools.partial(condition, lo, each) for each in chains.operands(lo, node)]
            return evaluation.chained(lo, parts, isinstance(node.op, ast.And))
    assert isinstance(found, Num)
    return found.operand


def value(lo: Lowerer, node: ast.expr, lower: Callable[[Lowerer, ast.expr], Binding]) -> Binding:
    """Lower an expression likewise, by `lower`."""
    if not lo.shared.choosing:
        return lower(lo, node)

    def part_lowered(part: ast.AST) -> Binding:
        assert isinstance(part, ast.expr)
        return lower(lo, part)

    return _split(lo, node, part_lowered)


def cases(lo: Lowerer, found: OneOf, node: ast.AST, lower: Callable[[Binding], None]) -> None:
    """Lower what uses one of several values as statements do, once for each, by `lower`."""
    _count(lo, found, node)

    def go_on(k: int) -> None:
        if k == len(found.items) - 1:
            lower(found.items[k])
            return
        with lo.at(node):
            cond = optional.is_item(lo, found, k, others=range(k))
        branch(lo, cond, lambda: lower(found.items[k]), lambda: go_on(k + 1))

    go_on(0)


def _count(lo: Lowerer, found: OneOf, node: ast.AST) -> None:
    """Count the cases of a statement; refuse more than the program may have."""
    if lo.shared.picks:
        lo.shared.cases -= len(found.items)
        if lo.shared.cases < 0:
            raise ChoiceError(
                "so many statements that use one of several values are not supported",
                lo.span(node), "use arrays",
            )  # fmt: skip


def _split(
    lo: Lowerer, node: ast.AST, lower: Callable[[ast.AST], Binding], *, valued: bool = True,
    truth: bool = False,
) -> Binding:  # fmt: skip
    before = lo.point()
    try:
        return lower(node)
    except SplitError as error:
        found, at = error.found, error.node
    lo.undo(before)
    which = found.which
    assert isinstance(which, Value)
    if not any(_holds(held, which) for frame in _frames(lo) for held in frame.env.values()):
        return _split_named(lo, node, at, lower, valued=valued, truth=truth)
    try:
        return _for_each(lo, node, found, at, lower, valued=valued, truth=truth)
    except _ArmError:
        lo.undo(before)
    lo.arms_apart = True
    try:
        return _split(lo, node, lower, valued=valued, truth=truth)
    finally:
        lo.arms_apart = False


def _split_named(
    lo: Lowerer, node: ast.AST, at: ast.AST, lower: Callable[[ast.AST], Binding],
    *, valued: bool, truth: bool, operands: bool = False,
) -> Binding:  # fmt: skip
    """Lower a statement or expression in which what is one of several values has no name.

    It is that part of it, or one of the `operands` of that.
    """
    before = lo.point()
    parts, inside = _named(lo, node, at, operands=operands)
    for name, part in parts:
        outer_part, lo.undivided = lo.undivided, part
        try:
            lo.frame.env[name] = evaluation.lower_optional(lo, part)
        except SplitError as error:
            if error.node is not at or part is not at:
                raise
            lo.undo(before)
            return _split_named(lo, node, at, lower, valued=valued, truth=truth, operands=True)
        finally:
            lo.undivided = outer_part
    last = lo.frame.env[parts[-1][0]]
    try:
        if isinstance(last, OneOf) and not all(map(forms.may_vary, last.items)):
            return _for_each(lo, inside, last, at, lower, valued=valued, truth=truth)
        return _split(lo, inside, lower, valued=valued, truth=truth)
    finally:
        for name, _ in parts:
            lo.frame.env.pop(name, None)


def _for_each(
    lo: Lowerer, node: ast.AST, found: OneOf, at: ast.AST, lower: Callable[[ast.AST], Binding],
    *, valued: bool, truth: bool,
) -> Binding:  # fmt: skip
    """Lower a statement or expression for each value of what is found to be one of several."""
    which = found.which
    assert isinstance(which, Value)
    if truth and (decided := _decided(lo, node, found, lower)) is not None:
        return Num(decided)
    outer = lo.frame.env.pop(VALUE, None) if valued else None

    # No variable is one of several objects: the names of parts that are end with each arm.
    passing = [name for name, held in lo.frame.env.items() if _is_passing(held, which)]

    _count(lo, found, at)

    refused: list[AdcError] = []
    outer_copies = lo.copies
    lo.copies *= len(found.items)
    if lo.copies > MOST_COPIES:
        lo.copies = outer_copies
        raise ChoiceError(
            f"more than {MOST_COPIES} cases of one statement, in which names are one of several "
            "values, are not supported",
            lo.span(at), "make it several statements",
        )  # fmt: skip

    def arm(k: int) -> None:
        stmts, mark = lo.builder.stmts, len(lo.builder.stmts)
        try:
            with lo.copy("one of", id(node), k), _known_outside(lo, which, k):
                result = _split(lo, node, lower, valued=valued)
        except (TypeMismatchError, UnsupportedError) as error:
            if type(error) not in (TypeMismatchError, UnsupportedError):
                raise
            # The others may be what the program has: it is refused where it is this.
            refused.append(error)
            if len(refused) == len(found.items):
                raise
            if not (lo.arms_apart or lo.shared.picks) and _has_arms(node, at):
                raise _ArmError from None
            assert lo.builder.stmts is stmts
            del stmts[mark:]
            with lo.at(at):
                text = f"adc: {error.message}, where `{ast.unparse(at)}` is"
                what = kind_of(found.items[k])
                check = numbers.escaped(f"{text} {what}")
                numbers.check(lo, Literal(False, BOOL), LimitError.__name__, check)
            raise Dead from None
        if valued:
            lo.frame.env[VALUE] = result
        for name in passing:
            lo.frame.env.pop(name, None)

    def go_on(k: int) -> None:
        if k == len(found.items) - 1:
            arm(k)
            return
        with lo.at(at):
            cond = optional.is_item(lo, found, k, others=range(k))
        branch(lo, cond, functools.partial(arm, k), lambda: go_on(k + 1))

    try:
        go_on(0)
    finally:
        lo.copies = outer_copies
    if not valued:
        return NONE
    result = usable(lo, lo.frame.env.pop(VALUE), "this expression", at)
    if outer is not None:
        lo.frame.env[VALUE] = outer
    return result


class _ArmError(Exception):
    """A case is refused, perhaps in an arm of a conditional expression that is not evaluated."""


def _has_arms(node: ast.AST, at: ast.AST) -> bool:
    """Whether a part of a statement or expression is in a conditional expression there."""
    choices = (each for each in ast.walk(node) if isinstance(each, ast.IfExp))
    return any(part is at for each in choices for part in ast.walk(each))


def _is_passing(binding: Binding, which: Value) -> bool:
    """Whether a binding is an element of a list that is picked by this number."""
    if not (isinstance(binding, OneOf) and binding.which is which):
        return False
    return not all(forms.may_vary(item) for item in binding.items)


def _decided(
    lo: Lowerer, node: ast.AST, found: OneOf, lower: Callable[[ast.AST], Binding]
) -> Operand | None:
    """Return a condition that only the choice decides, such as `np.iscomplexobj(w)`; else None.

    Paths that it decides know which of the values it is.
    """
    assert isinstance(found.which, Value)
    before = lo.point()
    holds: list[Operand] = []
    for k in range(len(found.items)):
        said = frozenset([((found.which, k), True)])
        lo.frame.env.update(
            {name: optional.chosen(held, said) for name, held in lo.frame.env.items()}
        )
        try:
            with lo.copy("one of", id(node), k), _known_outside(lo, found.which, k):
                held = lower(node)
            pure = len(lo.builder.stmts) == before.length
        except (AdcError, SplitError, Dead):
            pure = False
        lo.undo(before)
        if not pure or not (isinstance(held, Num) and isinstance(held.operand, Literal)):
            return None
        holds.append(held.operand)
    return optional.by_item(lo, found, holds)


def _frames(lo: Lowerer) -> Iterator[Frame]:
    """Yield the frames whose names are seen here."""
    frame: Frame | None = lo.frame
    while frame is not None:
        yield frame
        frame = frame.outer


def _holds(binding: Binding, which: Value) -> bool:
    """Whether a binding has something that is one of several values by this number."""
    return any(each.which is which for each in optional.choices_in(binding))


@contextmanager
def _known_outside(lo: Lowerer, which: Value, k: int) -> Iterator[None]:
    """Bind what the functions around this one have to what it is, inside the `with`."""
    kept = [(frame, frame.env) for frame in list(_frames(lo))[1:] if frame is not lo.frame]
    said = frozenset([((which, k), True)])
    for frame, env in kept:
        frame.env = {name: optional.chosen(held, said) for name, held in env.items()}
    try:
        yield
    finally:
        for frame, env in kept:
            frame.env = env


# -- values without a name -------------------------------------------------------------------------


def _named(
    lo: Lowerer, node: ast.AST, inner: ast.AST, operands: bool
) -> tuple[list[tuple[str, ast.expr]], ast.AST]:
    """Return names for an expression in `node` and what is evaluated before; `node` with them.

    Or for the operands of that expression, instead of it.
    """
    before = _evaluated_before(node, inner)
    if before is not None and operands:
        own = _parts(inner)
        before = [*before[:-1], *own] if _are_evaluated(own) else None
    if (
        not before
        or all(isinstance(each, ast.Name | ast.Constant) for each in before)
        or (
            isinstance(node, ast.AugAssign)
            and any(each is inner for each in ast.walk(node.value))
            and not _keeps_target(lo, node, before)
        )
    ):
        text = ast.unparse(inner)
        whole = "what" if _ONE in text else f"`{text}`, which"
        comma = "" if _ONE in text else ","
        raise ChoiceError(
            f"this use of {whole} is one of several values{comma} is not supported",
            lo.span(inner), "assign it to a variable before",
        )  # fmt: skip
    key = ("named", id(node), id(inner), operands)
    if key not in lo.memo:
        parts = [(_name_of(part), part) for part in before if not isinstance(part, ast.Constant)]
        reads = {
            id(part): ast.copy_location(ast.Name(name, ast.Load()), part) for name, part in parts
        }
        lo.memo[key] = node, inner, parts, copy.deepcopy(node, reads)
    found: tuple[list[tuple[str, ast.expr]], ast.AST] = lo.memo[key][2:]
    return found


def in_parts(lo: Lowerer, stmt: ast.stmt) -> tuple[dict[str, ast.Assign], ast.stmt] | None:
    """Return what names for parts of a statement are assigned, the last one its first call, and it.

    None: it has no call that is evaluated always, or not all parts have values of their own.
    """
    key = ("in parts", id(stmt))
    if key not in lo.memo:
        lo.memo[key] = stmt, _in_parts(lo, stmt)
    found: tuple[dict[str, ast.Assign], ast.stmt] | None = lo.memo[key][1]
    return found


def _in_parts(lo: Lowerer, stmt: ast.stmt) -> tuple[dict[str, ast.Assign], ast.stmt] | None:
    call = _first_call(stmt)
    if call is None:
        return None
    try:
        parts, rest = _named(lo, stmt, call, operands=False)
    except ChoiceError:
        return None
    if parts[-1][1] is not call:
        return None
    func = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    operands = [func, *call.args, *(keyword.value for keyword in call.keywords)]
    own = [(_name_of(each), each) for each in operands if not _is_read_only(each)]
    if _are_evaluated([each for _, each in own]):
        named = {id(part): ast.copy_location(ast.Name(n, ast.Load()), part) for n, part in own}
        name, last = parts[-1]
        parts = [*parts[:-1], *own, (name, copy.deepcopy(last, named))]
    assigned: dict[str, ast.Assign] = {}
    for name, part in parts:
        made = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], part), part)
        assigned[name] = ast.fix_missing_locations(made)
    assert isinstance(rest, ast.stmt)
    return assigned, rest


def _name_of(part: ast.expr) -> str:
    """Return the name of a part of a statement."""
    return f"{_ONE}{part.lineno}_{part.col_offset}_{part.end_col_offset}"


def _is_read_only(node: ast.expr) -> bool:
    """Whether an expression is a constant, a variable or an attribute: no call, and no check."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def _first_call(node: ast.AST) -> ast.Call | None:
    """Return the call that is evaluated first, of those that are evaluated always."""
    if isinstance(node, _SOMETIMES):
        return None
    inside = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        inside.sort(key=lambda each: each is not node.value)  # which is evaluated before targets
    for inner in inside:
        found = _first_call(inner)
        if found is not None:
            return found
    return node if isinstance(node, ast.Call) else None


def _evaluated_before(node: ast.AST, inner: ast.AST) -> list[ast.expr] | None:
    """Return the parts of a statement or expression that are evaluated before `inner`, and it.

    None: it is not evaluated always, or its value is in no expression of its own.
    """
    if isinstance(inner, ast.Name):
        return None
    if node is inner and isinstance(inner, ast.expr):
        return [inner]
    if isinstance(node, ast.AugAssign) and any(each is inner for each in ast.walk(node.value)):
        target = [] if isinstance(node.target, ast.Name) else _parts(node.target)
        rest = [node.value] if node.value is inner else _evaluated_before(node.value, inner)
        if rest is None:
            return None
        return [*target, *rest]
    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Name | ast.Constant):
        targets = [each for target in node.targets for each in ast.walk(target)]
        if any(each is inner for each in targets):
            return [node.value]  # which is evaluated before targets
    parts = _parts(node)
    for k, part in enumerate(parts):
        if part is inner:
            found: list[ast.expr] | None = [*parts[:k], part]
        elif any(each is inner for each in ast.walk(part)):
            rest = _evaluated_before(part, inner)
            found = None if rest is None else [*parts[:k], *rest]
        else:
            continue
        return found if found is not None and _are_evaluated(found) else None
    return None


def _are_evaluated(parts: Sequence[ast.expr]) -> bool:
    """Whether parts have values of their own, where they are evaluated."""
    return not any(isinstance(each, ast.GeneratorExp | ast.Starred) for each in parts)


def _parts(node: ast.AST) -> list[ast.expr]:
    """Return the expressions of which a statement or expression consists, as they are evaluated."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript() | ast.Attribute() as target],
            value=ast.Name() | ast.Constant(),
        ):
            return _parts(target)
        case ast.Assign(value=value) | ast.Return(value=ast.expr() as value):
            return [value]
        case ast.AnnAssign(value=ast.expr() as value) | ast.Expr(value=value):
            return [value]
        case ast.AugAssign(target=ast.Subscript() | ast.Attribute() as target):
            return _parts(target)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.Call(
            func=ast.Attribute() | ast.Name() | ast.Subscript() as func,
            args=args,
            keywords=keywords,
        ):
            return [func, *args, *(keyword.value for keyword in keywords)]
        case ast.Subscript(value=owner, slice=index) if not isinstance(index, ast.Slice):
            return [owner, index]
        case ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
            return [inner]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return elts
        case ast.For(iter=iterable):
            return [iterable]
        # Wherever the elements are computed.
        case ast.ListComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
            return [first.iter]
        case ast.SetComp(generators=[first, *_]) | ast.DictComp(generators=[first, *_]):
            return [first.iter]
        case ast.FormattedValue(value=inner, format_spec=spec) if spec is None or all(
            isinstance(each, ast.Constant) for each in ast.iter_child_nodes(spec)
        ):
            return [inner]
        case ast.JoinedStr(values=values):
            return [part for each in values for part in _parts(each)]
        case ast.Raise(exc=ast.expr() as inner, cause=None) | ast.Assert(test=inner):
            return [inner]
    return []


def _keeps_target(lo: Lowerer, node: ast.AugAssign, parts: Sequence[ast.expr]) -> bool:
    """Whether parts of ``target += value`` leave the target alone, which is read before them."""
    inside = [each for part in parts for each in ast.walk(part)]
    if any(isinstance(each, ast.NamedExpr) for each in inside):
        return False
    calls = [each.func for each in inside if isinstance(each, ast.Call)]
    if isinstance(node.target, ast.Name):
        # Objects change in place: only another value of the variable would matter.
        own = lo.frame.source.node
        shared = {*scope.written_inside(own), *scope.nonlocals(own), *lo.frame.cells}
        return not calls or node.target.id not in shared
    return all(_is_of_module(lo, fn) for fn in calls)


def _is_of_module(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression is a function of a module, such as `np.linalg.eigvals`."""
    if not isinstance(node, ast.Attribute):
        return False
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name) or node.id in lo.frame.locals:
        return False
    return isinstance(lo.frame.holder.fn.__globals__.get(node.id), types.ModuleType)
