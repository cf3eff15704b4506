"""Expressions: one function for each kind of node."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress

from adc.frontend.control import chains, choices, evaluation
from adc.frontend.control.exits import VALUE
from adc.frontend.control.iterations.findings import RestructuredError
from adc.frontend.core import classes, closures, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    ListRef,
    Maybe,
    Num,
    RecordOf,
    SetRef,
    TupleOf,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import refusals
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import read_name
from adc.frontend.core.state import PickedError, TextError
from adc.frontend.language import assignment, dicts, dynamic_lists, iterators
from adc.frontend.language import generators as functions
from adc.frontend.language.texts import formatting
from adc.frontend.language.texts import values as texts
from adc.frontend.syntax import scope
from adc.frontend.values import (
    comparisons,
    constants,
    contents,
    elementwise,
    operators,
    sequences,
    special,
    views,
)
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.types import B1, INT


@handles(ast.Constant)
def _constant(lo: Lowerer, node: ast.Constant) -> Binding:
    if isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
        raise lo.unsupported(
            f"the integer {node.value}", node, "use a float, or an integer that fits in 64 bits"
        )
    return static(node.value)


@handles(ast.Name)
def _name(lo: Lowerer, node: ast.Name) -> Binding:
    return read_name(lo, node.id, node)


def _items(lo: Lowerer, elts: Sequence[ast.expr]) -> tuple[Binding, ...]:
    items: list[Binding] = []
    for element in elts:
        if isinstance(element, ast.Starred):
            items.extend(sequences.static_sequence(lo, functions.starred(lo, element), element))
        else:
            iterators.require_undrawn(lo, element)
            items.append(evaluation.lower_optional(lo, element))
            refusals.require_lasting(lo, element, items[-1])
    return tuple(items)


@handles(ast.Tuple)
def _tuple(lo: Lowerer, node: ast.Tuple) -> Binding:
    return TupleOf(_items(lo, node.elts))


@handles(ast.List)
def _list(lo: Lowerer, node: ast.List) -> Binding:
    made = lo.new_ref(ListRef, TupleOf(()))
    for starred, elements in itertools.groupby(
        node.elts, lambda each: isinstance(each, ast.Starred)
    ):
        if not starred:
            _extend(lo, made, _items(lo, [*elements]), node)
            continue
        for element in elements:
            assert isinstance(element, ast.Starred)
            value = functions.starred(lo, element)
            try:
                _extend(lo, made, sequences.static_sequence(lo, value, element), node)
            except PickedError:
                if classes.is_instance(value):
                    raise
                made = dynamic_lists.added(lo, made, _as_list(lo, value, element), node)
    return made


def _extend(lo: Lowerer, made: ListRef, items: Sequence[Binding], node: ast.AST) -> None:
    held = lo.held(made)
    if isinstance(held, TupleOf):
        lo.hold(made, TupleOf((*held.items, *items)))
    else:
        dynamic_lists.extend(lo, made, TupleOf(tuple(items)), node)


def _as_list(lo: Lowerer, value: Binding, node: ast.AST) -> ListRef:
    found = dispatch.apply(lo, static(list), [value], {}, classes.call_at(node))
    assert isinstance(found, ListRef)
    return found


def set_of(lo: Lowerer, items: Sequence[Binding], node: ast.AST) -> SetRef:
    """Return a new set."""
    made = lo.new_ref(SetRef, RecordOf((), ()))
    for item in items:
        dicts.put(lo, made, item, NONE, node)
    return made


@handles(ast.Set)
def _set(lo: Lowerer, node: ast.Set) -> Binding:
    made = set_of(lo, (), node)
    for element in node.elts:
        if isinstance(element, ast.Starred):
            others = evaluation.lower_expr(lo, element.value)
            call = classes.call_at(element)
            dispatch.apply(lo, Bound(made, "update"), [others], {}, call)
        else:
            (item,) = _items(lo, [element])
            dicts.put(lo, made, item, NONE, node)
    return made


@handles(ast.Dict)
def _dict(lo: Lowerer, node: ast.Dict) -> Binding:
    made = lo.new_ref(DictRef, RecordOf((), ()))
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = contents.as_plain_dict(lo, evaluation.lower_expr(lo, value), value)
            if not isinstance(other, DictRef) or isinstance(other, SetRef):
                raise TypeMismatchError(f"`**` of {kind_of(other)}", lo.span(value))
            dicts.update(lo, made, other, node)
            continue
        name = evaluation.lower_expr(lo, key)
        iterators.require_undrawn(lo, value)
        found = evaluation.lower_optional(lo, value)
        refusals.require_lasting(lo, value, found)
        dicts.put(lo, made, name, found, key)
    return made


@handles(ast.NamedExpr)
def _named(lo: Lowerer, node: ast.NamedExpr) -> Binding:
    refusals.require_lasting(lo, node.value)
    iterators.require_undrawn(lo, node.value)
    value = evaluation.lower_optional(lo, node.value)
    assignment.assign(lo, node.target, value)
    return value


@handles(ast.JoinedStr)
def _joined(lo: Lowerer, node: ast.JoinedStr) -> Binding:
    return formatting.formatted(lo, node)


# -- comprehensions --------------------------------------------------------------------------------


_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _AtRunTime(UnsupportedError):
    """The elements of a comprehension are known only at run time."""


def _comprehension(
    lo: Lowerer, generators: Sequence[ast.comprehension], visit: Callable[[], None]
) -> None:
    """Run `visit` for every combination of elements; all of them are known at compile time."""
    if not generators:
        visit()
        return
    first, rest = generators[0], generators[1:]
    if (nested := iterators.nested(lo, first)) is not None:
        _comprehension(lo, [*nested, *rest], visit)
        for name in scope.assigned_in([each.target for each in nested[:-1]]):
            lo.frame.env.pop(name, None)
        return
    watch = iterators.Watch(lo, first.iter)
    iterable: Binding | None = functions.combined(lo, first.iter, sequences.MAX_UNROLLED)
    if iterable is None and functions.called(lo, first.iter) is not None:
        raise _AtRunTime(
            "a comprehension over this generator is not supported here", lo.span(first.iter),
            "write a loop",
        )  # fmt: skip
    iterable = iterable or evaluation.lower_expr(lo, first.iter)
    iterators.require_fresh(lo, first.iter, iterable)
    if functions.of_object(lo, iterable) is not None:
        raise _AtRunTime(
            f"a comprehension over {kind_of(iterable)} is not supported here",
            lo.span(first.iter), "write a loop",
        )  # fmt: skip
    try:
        elements = sequences.one_by_one(lo, iterable, first.iter)
    except PickedError as error:
        raise _AtRunTime(error.message, error.span, error.hint) from error
    for element in elements:
        assignment.assign(lo, first.target, element)
        keep = True
        for test in first.ifs:
            cond = _condition(lo, test)
            if not isinstance(cond, Literal):
                raise _AtRunTime(
                    "a comprehension with a condition known only at run time is not supported",
                    lo.span(test), "write a loop",
                )  # fmt: skip
            keep = keep and bool(cond.value)
        if keep:
            _comprehension(lo, rest, visit)
    watch.end()


def scoped(lo: Lowerer, node: _Comprehension, visit: Callable[[], Binding]) -> list[Binding]:
    """Run a comprehension in a scope of its own, and return what it visits.

    Its targets are not seen outside, but by the functions that it makes.
    """
    found: list[Binding] = []
    names = scope.assigned_in([g.target for g in node.generators])
    outer = {name: lo.frame.env.pop(name) for name in names if name in lo.frame.env}
    partial = {name for name in names if name in lo.frame.partial}
    own = frozenset(names) - lo.frame.locals
    lo.frame.locals |= own
    cells, lo.frame.cells = lo.frame.cells, _without(lo.frame.cells, names)

    def visited() -> None:
        with lo.copy("item", id(node), len(found)):
            found.append(visit())

    try:
        _comprehension(lo, node.generators, visited)
        return closures.comprehended(lo, found, names, node)
    finally:
        lo.frame.cells = cells
        lo.frame.locals -= own
        for name in names:
            lo.frame.env.pop(name, None)
        lo.frame.env.update(outer)
        lo.frame.partial |= partial


def _without(cells: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the cells of a function in a comprehension, whose targets are its own."""
    return {name: slot for name, slot in cells.items() if name not in names} if cells else cells


def comprehension_items(
    lo: Lowerer, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, most: int = sequences.UNROLLED
) -> tuple[Binding, ...] | None:
    """Return the elements of a comprehension, or None if their number is known at run time.

    Of a range, there are at `most` so many.
    """
    if not is_static(lo, node.generators, most):
        return None
    before = lo.point()
    try:
        return tuple(scoped(lo, node, lambda: _kept(lo, node, node.elt)))
    except _AtRunTime:
        lo.undo(before)
        return None


@handles(formatting.Texts)
def _texts(lo: Lowerer, node: formatting.Texts) -> Binding:
    made = node.of
    with suppress(_AtRunTime):
        if is_static(lo, made.generators, numbers.MAX_TUPLE):
            return TupleOf(tuple(scoped(lo, made, lambda: formatting.string_of(lo, made.elt))))
    what = "joining or printing texts whose number is known only at run time is not supported"
    raise TextError(what, lo.span(node), "print them in a loop")


def _kept(lo: Lowerer, node: _Comprehension, element: ast.expr) -> Binding:
    """Return an element of a comprehension; what a generator yields is not stored."""
    found = choices.value(lo, element, evaluation.lower_optional)
    if not isinstance(node, ast.GeneratorExp):
        iterators.require_lasting(lo, element, found)
    return found


def is_static(
    lo: Lowerer, generators: Sequence[ast.comprehension], most: int = sequences.UNROLLED
) -> bool:
    """Whether the first iterable of a comprehension has a length known at compile time."""
    before = lo.point()
    if functions.called(lo, generators[0].iter) is not None:
        known = functions.combined(lo, generators[0].iter, most)
        lo.undo(before)
        return known is not None
    iterable = evaluation.lower_expr(lo, generators[0].iter)
    if functions.of_object(lo, iterable) is not None:
        found = False
    elif isinstance(iterable, ArrayRef):
        dims = views.dims_of(lo, iterable)
        found = bool(dims) and isinstance(dims[0], Literal)
    else:
        found = sequences.static_items(lo, iterable) is not None or (
            sequences.static_range(iterable) is not None
            and len(sequences.static_range(iterable) or ()) <= most
        )
    lo.undo(before)
    return found


@handles(ast.ListComp)
def _list_comprehension(lo: Lowerer, node: ast.ListComp) -> Binding:
    items = comprehension_items(lo, node)
    if items is not None:
        return lo.new_ref(ListRef, TupleOf(items))
    before = lo.point()
    try:
        return dynamic_lists.comprehension(lo, node)
    except RestructuredError:
        # A list of objects or lists: each element is lowered by itself.
        lo.undo(before)
        items = comprehension_items(lo, node, sequences.MAX_UNROLLED)
        if items is None:
            iterable = evaluation.lower_expr(lo, node.generators[0].iter)
            sequences.require_constants(lo, iterable, "the length of this list", node)
            raise
        return lo.new_ref(ListRef, TupleOf(items))


@handles(ast.SetComp)
def _set_comprehension(lo: Lowerer, node: ast.SetComp) -> Binding:
    items = comprehension_items(lo, node)
    if items is None:
        return dynamic_lists.set_comprehension(lo, node)
    return set_of(lo, items, node)


@handles(ast.DictComp)
def _dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Binding:
    keys: list[Binding] = []

    def visit() -> Binding:
        keys.append(evaluation.lower_expr(lo, node.key))
        return _kept(lo, node, node.value)

    before = lo.point()
    if not is_static(lo, node.generators, sequences.MAX_UNROLLED):
        return dynamic_lists.dict_comprehension(lo, node)
    try:
        items = scoped(lo, node, visit)
    except _AtRunTime:
        lo.undo(before)
        return dynamic_lists.dict_comprehension(lo, node)
    made = lo.new_ref(DictRef, RecordOf((), ()))
    for key, item in zip(keys, items, strict=True):
        dicts.put(lo, made, key, item, node.key)
    return made


@handles(ast.GeneratorExp)
def _generator(lo: Lowerer, node: ast.GeneratorExp) -> Binding:
    items = comprehension_items(lo, node)
    if items is not None:
        return TupleOf(items)
    return dynamic_lists.comprehension(lo, node)


@handles(ast.BinOp)
def _binary(lo: Lowerer, node: ast.BinOp) -> Binding:
    spine = [node]  # of a sum, its partial sums: no recursion, for it may have many terms
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    if formatting.is_format(lo, spine[-1]):
        value: Binding = formatting.formatted(lo, spine.pop())
    else:
        value = dispatch.evaluate(lo, spine[-1].left)
    for part in reversed(spine):
        with lo.at(part):
            right = dispatch.evaluate(lo, part.right)
            found = texts.percent(lo, value, right, part) if type(part.op) is ast.Mod else None
            value = found or operators.binary(lo, type(part.op), value, right, part)
    return value


@handles(ast.UnaryOp)
def _unary(lo: Lowerer, node: ast.UnaryOp) -> Binding:
    if isinstance(node.op, ast.Not):
        return Num(evaluation.condition(lo, node))
    value = dispatch.evaluate(lo, node.operand)
    found = constants.unary(lo, type(node.op), value, node)
    if found is None:
        found = special.unary(lo, node, value)
    if found is not None:
        return found
    return elementwise.lift(lo, [value], lambda items: _signed(lo, node, items[0]), node)


_SIGNS: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}


def _signed(lo: Lowerer, node: ast.UnaryOp, value: Binding) -> Binding:
    own = f"bad operand type for unary {_SIGNS[type(node.op)]}: 'NoneType'"
    operand = elementwise.number(lo, value, node, "this operator", own)
    ty = numbers.scalar_type(operand)
    if ty.kind == "b":
        if isinstance(node.op, ast.Invert) and not ty.weak:
            return Num(lo.exact(numbers.apply(lo, "not", operand), B1))
        if not ty.weak:
            raise TypeMismatchError(
                "NumPy does not define the sign of a boolean", lo.span(node), "convert with int()"
            )
        operand = lo.convert(operand, INT)
    if isinstance(node.op, ast.UAdd):
        return Num(operand)
    if isinstance(node.op, ast.Invert):
        if ty.kind in "fc":
            raise TypeMismatchError("`~` on a float", lo.span(node))
        return Num(numbers.apply(lo, "invert", operand))
    return Num(numbers.negated(lo, operand, node))


@handles(ast.Compare)
def _compare(lo: Lowerer, node: ast.Compare) -> Binding:
    if len(node.ops) == 1:
        equality = isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq)
        may_be_none = equality or isinstance(node.ops[0], ast.In | ast.NotIn)
        left = (dispatch.optional if may_be_none else dispatch.evaluate)(lo, node.left)
        right = (dispatch.optional if equality else dispatch.evaluate)(lo, node.comparators[0])
        return comparisons.comparison(lo, node.ops[0], left, right, node)
    left = evaluation.lower_expr(lo, node.left)
    # `a < b < c` evaluates b once, and c only if a < b.
    ends: list[Binding] = [left]

    def link(k: int) -> Operand:
        del ends[k + 1 :]
        ends.append(evaluation.lower_expr(lo, node.comparators[k]))
        return comparisons.compare(lo, node.ops[k], ends[k], ends[k + 1], node)

    parts = [lambda k=k: link(k) for k in range(len(node.ops))]
    return Num(evaluation.chained(lo, parts, True))


@handles(ast.BoolOp)
def _bool_op(lo: Lowerer, node: ast.BoolOp) -> Binding:
    """Lower ``a and b`` as a value: the operand that decided."""
    conjunction = isinstance(node.op, ast.And)
    values = chains.operands(lo, node)
    first = evaluation.lower_optional(lo, values[0])
    return _deciding(lo, node, first, values[1:], conjunction)


def _deciding(
    lo: Lowerer, node: ast.BoolOp, first: Binding, rest: Sequence[ast.expr], conjunction: bool
) -> Binding:
    if not rest:
        return first
    truth = evaluation.truth(lo, first, node)
    is_bool = isinstance(first, Num) and first.operand.type.kind == "b"
    if is_bool and all(isinstance(value, ast.Compare) for value in rest):
        parts: list[Callable[[], Operand]] = [lambda: truth]
        parts += [functools.partial(evaluation.condition, lo, value) for value in rest]
        return Num(evaluation.chained(lo, parts, conjunction))

    def go_on() -> None:
        second = evaluation.lower_optional(lo, rest[0])
        lo.frame.env[VALUE] = _deciding(lo, node, second, rest[1:], conjunction)

    def decided() -> None:
        # What is true is not None.
        chosen = first.inner if isinstance(first, Maybe) and not conjunction else first
        lo.frame.env[VALUE] = chosen

    return evaluation.choose(
        lo, truth, *((go_on, decided) if conjunction else (decided, go_on)), node
    )


def _condition(lo: Lowerer, node: ast.expr) -> Operand:
    """Lower a condition in an expression: picked elements are lowered for each case where it is."""
    apart = lo.shared.picks or lo.arms_apart
    return (choices.condition if apart else evaluation.condition)(lo, node)


@handles(ast.IfExp)
def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding:
    tests, values = chains.choices(node)

    def arm(value: ast.expr) -> None:
        lower = evaluation.lower_optional
        apart = lo.shared.picks or lo.arms_apart
        found = choices.value(lo, value, lower) if apart else lower(lo, value)
        lo.frame.env[VALUE] = found

    if chains.is_long(tests):
        conditions = [functools.partial(_condition, lo, test) for test in tests]
        arms = [functools.partial(arm, value) for value in values]
        return evaluation.picked(lo, lambda: chains.pick(lo, conditions, arms), node)
    cond = _condition(lo, node.test)
    return evaluation.choose(lo, cond, lambda: arm(node.body), lambda: arm(node.orelse), node)
