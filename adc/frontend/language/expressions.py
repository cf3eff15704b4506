"""Expressions: one function for each kind of node."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

from adc.frontend.control import chains, evaluation
from adc.frontend.control.control import branch
from adc.frontend.core import dispatch, numbers, refusals
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    ListRef,
    Num,
    RecordOf,
    Static,
    TupleOf,
    kind_of,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import read_name, usable
from adc.frontend.core.state import PickedError
from adc.frontend.core.structure import leaves
from adc.frontend.language import assignment, containers, dynamic_lists
from adc.frontend.syntax import scope
from adc.frontend.values import comparisons, elementwise, operators, sequences, special, views
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.types import B1, INT


@handles(ast.Constant)
def _constant(lo: Lowerer, node: ast.Constant) -> Binding:
    if isinstance(node.value, complex):
        raise lo.unsupported(
            "a complex number", node, "compute with real and imaginary parts, as two floats"
        )
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
            inner = evaluation.lower_expr(lo, element.value)
            items.extend(sequences.static_sequence(lo, inner, element))
        else:
            items.append(evaluation.lower_expr(lo, element))
            refusals.require_lasting(lo, element, items[-1])
    return tuple(items)


@handles(ast.Tuple)
def _tuple(lo: Lowerer, node: ast.Tuple) -> Binding:
    return TupleOf(_items(lo, node.elts))


@handles(ast.List)
def _list(lo: Lowerer, node: ast.List) -> Binding:
    return lo.new_ref(ListRef, TupleOf(_items(lo, node.elts)))


@handles(ast.Dict)
def _dict(lo: Lowerer, node: ast.Dict) -> Binding:
    record = RecordOf((), ())
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = evaluation.lower_expr(lo, value)
            if not isinstance(other, DictRef):
                raise TypeMismatchError(f"`**` of {kind_of(other)}", lo.span(value))
            more = lo.record(other)
            for name, inner in zip(more.keys, more.items, strict=True):
                record = record.with_item(name, inner)
            continue
        name = containers.key_of(lo, evaluation.lower_expr(lo, key), key)
        record = record.with_item(name, evaluation.lower_expr(lo, value))
        refusals.require_lasting(lo, value, record.get(name))
    return lo.new_ref(DictRef, record)


@handles(ast.NamedExpr)
def _named(lo: Lowerer, node: ast.NamedExpr) -> Binding:
    refusals.require_lasting(lo, node.value)
    value = evaluation.lower_expr(lo, node.value)
    assignment.assign(lo, node.target, value)
    return value


@handles(ast.JoinedStr)
def _joined(lo: Lowerer, node: ast.JoinedStr) -> Binding:
    what = "an f-string of run-time values outside `print`, `raise` and `assert`"
    return string(lo, *message(lo, node), what, node)


def string(lo: Lowerer, text: str, operands: Sequence[Operand], what: str, node: ast.AST) -> Static:
    """Return the string that numbers are formatted to; they must be constants of the program."""
    constants = [each.value for each in operands if isinstance(each, Literal)]
    if len(constants) < len(operands) or any(each.type.dtype == "f32" for each in operands):
        hint = "strings are keys: they must be known when the program is compiled"
        raise PickedError(f"{what} is not supported", lo.span(node), hint)
    return Static(text.format(*constants))


# -- comprehensions --------------------------------------------------------------------------------


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
    if first.is_async:
        raise lo.unsupported("an asynchronous comprehension", first.iter)
    iterable = evaluation.lower_expr(lo, first.iter)
    for element in sequences.static_sequence(lo, iterable, first.iter):
        assignment.assign(lo, first.target, element)
        keep = True
        for test in first.ifs:
            cond = evaluation.condition(lo, test)
            if not isinstance(cond, Literal):
                raise _AtRunTime(
                    "a comprehension with a condition known only at run time is not supported",
                    lo.span(test), "write a loop",
                )  # fmt: skip
            keep = keep and bool(cond.value)
        if keep:
            _comprehension(lo, rest, visit)


def scoped(lo: Lowerer, generators: Sequence[ast.comprehension], visit: Callable[[], None]) -> None:
    """Run a comprehension in a scope of its own: its targets are not seen outside."""
    names = scope.assigned_in([g.target for g in generators])
    outer = {name: lo.frame.env.pop(name) for name in names if name in lo.frame.env}
    partial = {name for name in names if name in lo.frame.partial}
    own = frozenset(names) - lo.frame.locals
    lo.frame.locals |= own
    try:
        _comprehension(lo, generators, visit)
    finally:
        lo.frame.locals -= own
        for name in names:
            lo.frame.env.pop(name, None)
        lo.frame.env.update(outer)
        lo.frame.partial |= partial


def comprehension_items(
    lo: Lowerer, node: ast.ListComp | ast.GeneratorExp
) -> tuple[Binding, ...] | None:
    """Return the elements of a comprehension, or None if their number is known at run time."""
    if not is_static(lo, node.generators):
        return None
    items: list[Binding] = []
    names, mark = lo.save_names(), len(lo.builder.stmts)
    before = lo.snapshot()
    try:
        scoped(lo, node.generators, lambda: items.append(evaluation.lower_expr(lo, node.elt)))
    except _AtRunTime:
        lo.restore(before)
        lo.reset_names(names)
        del lo.builder.stmts[mark:]
        return None
    return tuple(items)


def is_static(lo: Lowerer, generators: Sequence[ast.comprehension]) -> bool:
    """Whether the first iterable of a comprehension has a length known at compile time."""
    names, mark = lo.save_names(), len(lo.builder.stmts)
    before = lo.snapshot()
    iterable = evaluation.lower_expr(lo, generators[0].iter)
    found = sequences.static_items(lo, iterable) is not None or (
        sequences.static_range(iterable) is not None
        and len(sequences.static_range(iterable) or ()) <= UNROLLED
    )
    if isinstance(iterable, ArrayRef):
        dims = views.dims_of(lo, iterable)
        found = bool(dims) and isinstance(dims[0], Literal)
    lo.restore(before)
    lo.reset_names(names)
    del lo.builder.stmts[mark:]
    return found


# A comprehension over at most this many constants is taken apart while lowering.
UNROLLED = 16


@handles(ast.ListComp)
def _list_comprehension(lo: Lowerer, node: ast.ListComp) -> Binding:
    items = comprehension_items(lo, node)
    if items is not None:
        return lo.new_ref(ListRef, TupleOf(items))
    return dynamic_lists.comprehension(lo, node)


@handles(ast.DictComp)
def _dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Binding:
    record = RecordOf((), ())

    def visit() -> None:
        nonlocal record
        key = containers.key_of(lo, evaluation.lower_expr(lo, node.key), node.key)
        record = record.with_item(key, evaluation.lower_expr(lo, node.value))

    scoped(lo, node.generators, visit)
    return lo.new_ref(DictRef, record)


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
    value = dispatch.evaluate(lo, spine[-1].left)
    for part in reversed(spine):
        with lo.at(part):
            value = operators.binary(
                lo, type(part.op), value, dispatch.evaluate(lo, part.right), part
            )
    return value


@handles(ast.UnaryOp)
def _unary(lo: Lowerer, node: ast.UnaryOp) -> Binding:
    if isinstance(node.op, ast.Not):
        return Num(evaluation.condition(lo, node))
    value = dispatch.evaluate(lo, node.operand)
    found = special.unary(lo, node, value)
    if found is not None:
        return found
    return elementwise.lift(lo, [value], lambda items: _signed(lo, node, items[0]), node)


def _signed(lo: Lowerer, node: ast.UnaryOp, value: Binding) -> Binding:
    operand = elementwise.number(lo, value, node, "this operator")
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
        if ty.kind == "f":
            raise TypeMismatchError("`~` on a float", lo.span(node))
        return Num(numbers.apply(lo, "invert", operand))
    return Num(numbers.negated(lo, operand, node))


@handles(ast.Compare)
def _compare(lo: Lowerer, node: ast.Compare) -> Binding:
    if len(node.ops) == 1:
        left, right = dispatch.evaluate(lo, node.left), dispatch.evaluate(lo, node.comparators[0])
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
    first = evaluation.lower_expr(lo, values[0])
    return _deciding(lo, node, first, values[1:], conjunction)


def _deciding(
    lo: Lowerer, node: ast.BoolOp, first: Binding, rest: Sequence[ast.expr], conjunction: bool
) -> Binding:
    if not rest:
        return first
    truth = operators.truth(lo, first, node)
    is_bool = isinstance(first, Num) and first.operand.type.kind == "b"
    if is_bool and all(isinstance(value, ast.Compare) for value in rest):
        parts: list[Callable[[], Operand]] = [lambda: truth]
        parts += [functools.partial(evaluation.condition, lo, value) for value in rest]
        return Num(evaluation.chained(lo, parts, conjunction))

    def go_on() -> None:
        second = evaluation.lower_expr(lo, rest[0])
        lo.frame.env[evaluation.VALUE] = _deciding(lo, node, second, rest[1:], conjunction)

    def decided() -> None:
        lo.frame.env[evaluation.VALUE] = first

    return choose(lo, truth, *((go_on, decided) if conjunction else (decided, go_on)), node)


def choose(
    lo: Lowerer,
    cond: Operand,
    then: Callable[[], None],
    orelse: Callable[[], None],
    node: ast.AST,
) -> Binding:
    """Lower two expressions, of which `cond` selects one."""
    return _picked(lo, lambda: branch(lo, cond, then, orelse, late=True), node)


def _picked(lo: Lowerer, branches: Callable[[], None], node: ast.AST) -> Binding:
    """Return the value that the arms of branches yield."""
    outer = lo.frame.env.pop(evaluation.VALUE, None)
    branches()
    result = usable(lo, lo.frame.env.pop(evaluation.VALUE), "this expression", node)
    if outer is not None:
        lo.frame.env[evaluation.VALUE] = outer
    return result


@handles(ast.IfExp)
def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding:
    tests, values = chains.choices(node)

    def arm(value: ast.expr) -> None:
        lo.frame.env[evaluation.VALUE] = evaluation.lower_expr(lo, value)

    if chains.is_long(tests):
        conditions = [functools.partial(evaluation.condition, lo, test) for test in tests]
        arms = [functools.partial(arm, value) for value in values]
        return _picked(lo, lambda: chains.pick(lo, conditions, arms), node)
    cond = evaluation.condition(lo, node.test)
    return choose(lo, cond, lambda: arm(node.body), lambda: arm(node.orelse), node)


def message(lo: Lowerer, node: ast.expr) -> tuple[str, tuple[Operand, ...]]:
    """Lower the text of a `raise`, `assert` or `print`: a format string and its operands."""
    if isinstance(node, ast.JoinedStr):
        text = ""
        operands: list[Operand] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            more, values = message(lo, part.value)
            spec = ""
            if isinstance(part.format_spec, ast.JoinedStr):
                if not all(isinstance(v, ast.Constant) for v in part.format_spec.values):
                    raise lo.unsupported("a computed format", part)
                literals = [v for v in part.format_spec.values if isinstance(v, ast.Constant)]
                spec = ":" + "".join(str(v.value) for v in literals)
            conversion = {-1: "", 114: "!r", 115: "!s", 97: "!a"}[part.conversion]
            if len(values) == 1 and more == "{}":
                more = f"{{{conversion}{spec}}}"
            text += more
            operands += values
        return text, tuple(operands)
    return text_of(lo, evaluation.lower_expr(lo, node), node)


def text_of(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[str, tuple[Operand, ...]]:
    """Return the format string and operands that format a binding as `str` does."""
    match binding:
        case Num(operand=operand):
            return "{}", (operand,)
        case Static(value=value) if isinstance(value, str | type(None)):
            return str(value).replace("{", "{{").replace("}", "}}"), ()
        case TupleOf(items=items) if all(isinstance(leaf, Num) for leaf in leaves(binding)):
            parts = [text_of(lo, item, node) for item in items]
            inside = ", ".join(text.replace("{}", "{!r}") for text, _ in parts)
            comma = "," if len(items) == 1 else ""
            return f"({inside}{comma})", tuple(v for _, values in parts for v in values)
    raise lo.unsupported(f"formatting {kind_of(binding)}", node, "format its elements")
