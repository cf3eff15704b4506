"""One function per expression node."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

import numpy as np

from adc.frontend import (
    arrays,
    calls,
    chains,
    containers,
    elementwise,
    growing,
    iterators,
    numbers,
    objects,
    operators,
    scope,
    special,
    statements,
    trees,
    views,
)
from adc.frontend.bindings import (
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    Lazy,
    ListRef,
    Num,
    Range,
    RecordOf,
    Static,
    TupleOf,
    kind_of,
    leaves,
)
from adc.frontend.control import branch, merge, run_arm
from adc.frontend.lower import Frame, Holder, Lowerer, static
from adc.frontend.places import Step, Variable, follow
from adc.frontend.refusals import refusal
from adc.ir.core import Apply, Literal, Operand
from adc.ir.errors import AliasError, TypeMismatchError, UnsupportedError
from adc.ir.types import B1, BOOL, INT, Array, Scalar

_VALUE = "$value"


def lower_expr(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression and return what it denotes."""
    binding = evaluate(lo, node)
    if isinstance(binding, Lazy):
        with lo.at(node):
            return elementwise.materialised(lo, binding, node)
    return binding


def evaluate(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression; an array expression is left for its consumer to compute."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        raise refusal(lo, node)
    with lo.at(node):
        return handler(lo, node)


def condition(lo: Lowerer, node: ast.expr) -> Operand:
    """Lower an expression that is used as a condition."""
    if isinstance(node, ast.BoolOp):
        with lo.at(node):
            return _truth_chain(lo, chains.operands(lo, node), isinstance(node.op, ast.And))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        with lo.at(node):
            return numbers.apply(lo, "not", condition(lo, node.operand))
    binding = lower_expr(lo, node)
    with lo.at(node):
        return operators.truth(lo, binding, node)


def _truth_chain(lo: Lowerer, nodes: Sequence[ast.expr], conjunction: bool) -> Operand:
    parts = [functools.partial(condition, lo, node) for node in nodes]
    return _chain(lo, parts, conjunction)


def all_of(lo: Lowerer, parts: Sequence[Callable[[], Operand]]) -> Operand:
    """Evaluate truth values left to right until one is false."""
    return _chain(lo, parts, True)


def _chain(lo: Lowerer, parts: Sequence[Callable[[], Operand]], conjunction: bool) -> Operand:
    """Evaluate truth values left to right until one decides."""
    first = parts[0]()
    if len(parts) == 1:
        return first
    if isinstance(first, Literal):
        return _chain(lo, parts[1:], conjunction) if first.value == conjunction else first
    before = lo.snapshot()
    kept: list[Operand] = []

    def rest() -> None:
        kept.append(_chain(lo, parts[1:], conjunction))
        lo.frame.env[_VALUE] = Num(kept[-1])

    arm = run_arm(lo, rest)
    if not arm.dead and all(isinstance(stmt, Apply) for stmt in arm.stmts):
        # Nothing in the rest can fail or change anything: evaluate it always.
        lo.frame.env.pop(_VALUE)
        lo.builder.stmts.extend(arm.stmts)
        return numbers.apply(lo, "and" if conjunction else "or", first, kept[0])
    lo.restore(before)

    def decided() -> None:
        lo.frame.env[_VALUE] = Num(Literal(not conjunction, BOOL))

    # The rest is not lowered again: doing so at every link would take exponential time.
    other = run_arm(lo, decided)
    merge(lo, first, before, *((arm, other) if conjunction else (other, arm)), late=True)
    result = lo.frame.env.pop(_VALUE)
    assert isinstance(result, Num)
    return result.operand


def _constant(lo: Lowerer, node: ast.Constant) -> Binding:
    if isinstance(node.value, complex):
        raise lo.unsupported(
            "a complex number", node, "compute with real and imaginary parts, as two floats"
        )
    if isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
        raise lo.unsupported(f"the integer {node.value}", node, "adc's integers have 64 bits")
    return static(node.value)


def _name(lo: Lowerer, node: ast.Name) -> Binding:
    return lo.read_name(node.id, node)


def _items(lo: Lowerer, elts: Sequence[ast.expr]) -> tuple[Binding, ...]:
    items: list[Binding] = []
    for element in elts:
        if isinstance(element, ast.Starred):
            inner = lower_expr(lo, element.value)
            items.extend(static_sequence(lo, inner, element))
        else:
            items.append(lower_expr(lo, element))
            iterators.require_lasting(lo, element, items[-1])
    return tuple(items)


def _tuple(lo: Lowerer, node: ast.Tuple) -> Binding:
    return TupleOf(_items(lo, node.elts))


def _list(lo: Lowerer, node: ast.List) -> Binding:
    return lo.new_ref(ListRef, TupleOf(_items(lo, node.elts)))


def _dict(lo: Lowerer, node: ast.Dict) -> Binding:
    record = RecordOf((), ())
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = lower_expr(lo, value)
            if not isinstance(other, DictRef):
                raise TypeMismatchError(f"`**` of {kind_of(other)}", lo.span(value))
            more = lo.record(other)
            for name, inner in zip(more.keys, more.items, strict=True):
                record = record.with_item(name, inner)
            continue
        name = containers.key_of(lo, lower_expr(lo, key), key)
        record = record.with_item(name, lower_expr(lo, value))
        iterators.require_lasting(lo, value, record.get(name))
    return lo.new_ref(DictRef, record)


def _named(lo: Lowerer, node: ast.NamedExpr) -> Binding:
    iterators.require_lasting(lo, node.value)
    value = lower_expr(lo, node.value)
    statements.assign(lo, node.target, value)
    return value


def _joined(lo: Lowerer, node: ast.JoinedStr) -> Binding:
    text, operands = message(lo, node)
    if operands:
        raise lo.unsupported(
            "an f-string of run-time values outside `print`, `raise` and `assert`", node
        )
    return Static(text.format())


def static_sequence(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...]:
    """Return the elements of something whose length is part of the program, or raise."""
    items = known_elements(lo, binding, node)
    if items is None:
        if objects.is_instance(binding):
            raise lo.unsupported(f"the elements of {kind_of(binding)} (`__iter__`)", node)
        raise lo.unsupported(
            f"unpacking {kind_of(binding)} of a length known only at run time", node
        )
    return items


def known_elements(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[Binding, ...] | None:
    """Return the elements of something, or None if only a run tells how many there are."""
    items = containers.static_items(lo, binding)
    if items is None:
        items = containers.static_range(binding)
    if items is None and isinstance(binding, ArrayRef | Lazy):
        size = views.dims_of(lo, binding)[0] if views.dims_of(lo, binding) else None
        if isinstance(size, Literal):
            count = range(int(size.value))
            items = [arrays.load(lo, binding, [Literal(k, INT)], node) for k in count]
    return None if items is None else tuple(items)


def static_slice(lo: Lowerer, node: ast.Slice) -> slice:
    return arrays._static_slice(lo, node)


def item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    return containers.item(lo, owner, node)


def set_item(lo: Lowerer, owner: Binding, node: ast.Subscript, value: Binding) -> None:
    containers.set_item(lo, owner, node, value)


def augment_item(lo: Lowerer, owner: Binding, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    containers.augment_item(lo, owner, stmt, node)


def augmented(lo: Lowerer, old: Binding, stmt: ast.AugAssign) -> Binding:
    """Return what ``old op= value`` leaves: arrays and lists are changed in place."""
    if isinstance(old, ArrayRef):
        arrays.in_place(lo, old, stmt, evaluate(lo, stmt.value))
        return old
    value = lower_expr(lo, stmt.value)
    if objects.is_instance(old):
        found = special.in_place(lo, old, stmt, value)
        if found is not None:
            return found
    if isinstance(old, ListRef) and isinstance(stmt.op, ast.Add):
        growing.extend(lo, old, value, stmt.value)
        return old
    new = operators.binary(lo, type(stmt.op), old, value, stmt)
    if isinstance(old, Num) and old.array and isinstance(new, Num):
        return _changed(lo, old, new, stmt)
    return elementwise.materialised(lo, new, stmt)


def _changed(lo: Lowerer, old: Num, new: Num, stmt: ast.AugAssign) -> Num:
    """Return an array without axes that was changed in place: it keeps its dtype.

    Two names of one would both see that, which is refused: here it is a number.
    """
    if sum(binding == old for binding in lo.frame.env.values()) > 1:
        raise AliasError(
            "an array without axes that has two names is changed", lo.span(stmt),
            "write `x = x + ...` instead of `x += ...`",
        )  # fmt: skip
    kept = Scalar(numbers.scalar_type(old.operand).dtype)
    ty = numbers.scalar_type(new.operand)
    if not np.can_cast(ty.numpy, kept.numpy, "same_kind"):
        raise TypeMismatchError(
            f"cannot store a result of {ty.numpy} in an array of {kept.numpy}", lo.span(stmt),
            "convert it with `.astype`",
        )  # fmt: skip
    return Num(lo.exact(numbers.stored(lo, new.operand, kept, stmt), kept), array=True)


def as_index_array(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return an array for a list, tuple or range used as an index."""
    if isinstance(binding, ListRef | TupleOf | Range):
        return arrays.as_array(lo, binding, node)
    if isinstance(binding, Num) and binding.operand.type.kind == "b":
        raise lo.unsupported("a truth value as an index", node, "use an array of them")
    return binding


def as_operand(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    return arrays.as_operand(lo, binding, node)


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


# -- comprehensions --------------------------------------------------------------------------------


class _AtRunTime(UnsupportedError):
    """Which elements a comprehension has is known only at run time."""


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
    iterable = lower_expr(lo, first.iter)
    for element in static_sequence(lo, iterable, first.iter):
        statements.assign(lo, first.target, element)
        keep = True
        for test in first.ifs:
            cond = condition(lo, test)
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
    names, mark = lo.builder.names.save(), len(lo.builder.stmts)
    before = lo.snapshot()
    try:
        scoped(lo, node.generators, lambda: items.append(lower_expr(lo, node.elt)))
    except _AtRunTime:
        lo.restore(before)
        lo.reset_names(names)
        del lo.builder.stmts[mark:]
        return None
    return tuple(items)


def is_static(lo: Lowerer, generators: Sequence[ast.comprehension]) -> bool:
    """Whether the first iterable of a comprehension has a length known at compile time."""
    names, mark = lo.builder.names.save(), len(lo.builder.stmts)
    before = lo.snapshot()
    iterable = lower_expr(lo, generators[0].iter)
    found = containers.static_items(lo, iterable) is not None or (
        containers.static_range(iterable) is not None
        and len(containers.static_range(iterable) or ()) <= UNROLLED
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


def _list_comprehension(lo: Lowerer, node: ast.ListComp) -> Binding:
    items = comprehension_items(lo, node)
    if items is not None:
        return lo.new_ref(ListRef, TupleOf(items))
    return growing.comprehension(lo, node)


def _dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Binding:
    record = RecordOf((), ())

    def visit() -> None:
        nonlocal record
        key = containers.key_of(lo, lower_expr(lo, node.key), node.key)
        record = record.with_item(key, lower_expr(lo, node.value))

    scoped(lo, node.generators, visit)
    return lo.new_ref(DictRef, record)


def _generator(lo: Lowerer, node: ast.GeneratorExp) -> Binding:
    items = comprehension_items(lo, node)
    if items is not None:
        return TupleOf(items)
    return growing.comprehension(lo, node)


def _binary(lo: Lowerer, node: ast.BinOp) -> Binding:
    spine = [node]  # of a sum, its partial sums: no recursion, for it may have many terms
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = evaluate(lo, spine[-1].left)
    for part in reversed(spine):
        with lo.at(part):
            value = operators.binary(lo, type(part.op), value, evaluate(lo, part.right), part)
    return value


def _unary(lo: Lowerer, node: ast.UnaryOp) -> Binding:
    if isinstance(node.op, ast.Not):
        return Num(condition(lo, node))
    value = evaluate(lo, node.operand)
    found = special.unary(lo, node, value)
    if found is not None:
        return found
    return elementwise.lift(lo, [value], lambda items: _signed(lo, node, items[0]), node)


def _signed(lo: Lowerer, node: ast.UnaryOp, value: Binding) -> Binding:
    operand = numbers.number(lo, value, node, "this operator")
    ty = numbers.scalar_type(operand)
    if ty.kind == "b":
        if isinstance(node.op, ast.Invert) and not ty.weak:
            return Num(lo.exact(numbers.apply(lo, "not", operand), B1))
        if not ty.weak:
            raise TypeMismatchError(
                "NumPy has no sign of a truth value", lo.span(node), "convert with int()"
            )
        operand = lo.convert(operand, INT)
    if isinstance(node.op, ast.UAdd):
        return Num(operand)
    if isinstance(node.op, ast.Invert):
        if ty.kind == "f":
            raise TypeMismatchError("`~` on a float", lo.span(node))
        return Num(numbers.apply(lo, "invert", operand))
    return Num(numbers.negated(lo, operand, node))


def _compare(lo: Lowerer, node: ast.Compare) -> Binding:
    if len(node.ops) == 1:
        left, right = evaluate(lo, node.left), evaluate(lo, node.comparators[0])
        return operators.comparison(lo, node.ops[0], left, right, node)
    left = lower_expr(lo, node.left)
    # `a < b < c` evaluates b once, and c only if a < b.
    ends: list[Binding] = [left]

    def link(k: int) -> Operand:
        del ends[k + 1 :]
        ends.append(lower_expr(lo, node.comparators[k]))
        return operators.compare(lo, node.ops[k], ends[k], ends[k + 1], node)

    parts = [lambda k=k: link(k) for k in range(len(node.ops))]
    return Num(_chain(lo, parts, True))


def _bool_op(lo: Lowerer, node: ast.BoolOp) -> Binding:
    """Lower ``a and b`` as a value: the operand that decided."""
    conjunction = isinstance(node.op, ast.And)
    values = chains.operands(lo, node)
    first = lower_expr(lo, values[0])
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
        parts += [functools.partial(condition, lo, value) for value in rest]
        return Num(_chain(lo, parts, conjunction))

    def go_on() -> None:
        second = lower_expr(lo, rest[0])
        lo.frame.env[_VALUE] = _deciding(lo, node, second, rest[1:], conjunction)

    def decided() -> None:
        lo.frame.env[_VALUE] = first

    return choose(lo, truth, *((go_on, decided) if conjunction else (decided, go_on)), node)


def choose(
    lo: Lowerer,
    cond: Operand,
    then: Callable[[], None],
    orelse: Callable[[], None],
    node: ast.AST,
) -> Binding:
    """Lower two ways to compute a value, of which `cond` picks one."""
    return _picked(lo, lambda: branch(lo, cond, then, orelse, late=True), node)


def _picked(lo: Lowerer, branches: Callable[[], None], node: ast.AST) -> Binding:
    """Return the value that every arm of some branches leaves."""
    outer = lo.frame.env.pop(_VALUE, None)
    branches()
    result = lo.usable(lo.frame.env.pop(_VALUE), "this expression", node)
    if outer is not None:
        lo.frame.env[_VALUE] = outer
    return result


def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding:
    tests, values = chains.choices(node)

    def arm(value: ast.expr) -> None:
        lo.frame.env[_VALUE] = lower_expr(lo, value)

    if chains.is_long(tests):
        conditions = [functools.partial(condition, lo, test) for test in tests]
        arms = [functools.partial(arm, value) for value in values]
        return _picked(lo, lambda: chains.pick(lo, conditions, arms), node)
    cond = condition(lo, node.test)
    return choose(lo, cond, lambda: arm(node.body), lambda: arm(node.orelse), node)


def _attribute(lo: Lowerer, node: ast.Attribute) -> Binding:
    path = dotted(node)
    if path is not None and _is_free(lo, path):
        return lo.free(_holder(lo), path, node)
    return attribute_of(lo, evaluate(lo, node.value), node)


def attribute_of(lo: Lowerer, owner: Binding, node: ast.Attribute) -> Binding:
    """Lower an attribute of something that is lowered already."""
    if isinstance(owner, Num) and not isinstance(owner.operand.type, Array):
        return _number_attribute(lo, owner, node)
    if isinstance(owner, ArrayRef | Lazy):
        return arrays.attribute(lo, owner, node.attr, node)
    held = containers.attribute(lo, owner, node.attr, node)
    if held is not None:
        return held
    if isinstance(owner, Static):
        found = objects.of_static(lo, owner, node.attr, node)
        if found is not None:
            return found
    raise TypeMismatchError(f"{kind_of(owner)} has no attribute {node.attr!r}", lo.span(node))


def _number_attribute(lo: Lowerer, owner: Num, node: ast.Attribute) -> Binding:
    """Lower an attribute of a number; NumPy's have those of arrays without axes."""
    ty = numbers.scalar_type(owner.operand)
    if node.attr == "real":
        return owner
    if not ty.weak:
        as_array = Lazy((), ty, lambda index: owner.operand)
        found = arrays.attribute(lo, as_array, node.attr, node)
        return Bound(owner, found.name) if isinstance(found, Bound) else found
    raise TypeMismatchError(f"{kind_of(owner)} has no attribute {node.attr!r}", lo.span(node))


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """Return the names of ``a.b.c``, or None if the expression is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def _is_free(lo: Lowerer, path: tuple[str, ...]) -> bool:
    """Whether a path leads from a global or closure variable through modules, classes and such."""
    frame: Frame | None = lo.frame
    while frame is not None:
        if path[0] in frame.env or path[0] in frame.locals:
            return False
        frame = frame.outer
    holder = _holder(lo)
    try:
        steps: list[Step] = [Variable(path[0]), *path[1:]]
        owners = [follow(holder.fn, steps[:k]) for k in range(1, len(path))]
    except (LookupError, AttributeError):
        return True  # it is reported where it is read
    return not any(trees.has_structure(owner) for owner in owners)


def _holder(lo: Lowerer) -> Holder:
    """Return the function object whose free variables are meant."""
    frame = lo.frame
    while frame.outer is not None:
        frame = frame.outer
    return frame.holder


def unpack(lo: Lowerer, value: Binding, node: ast.AST, count: int) -> list[Binding]:
    """Return the `count` elements of something that is unpacked."""
    items = containers.static_items(lo, value)
    if items is not None:
        if len(items) != count:
            raise TypeMismatchError(f"{len(items)} values for {count} names", lo.span(node))
        return items
    if isinstance(value, ArrayRef) and views.dims_of(lo, value):
        size = views.dims_of(lo, value)[0]
        enough = numbers.apply(lo, "ge", size, Literal(count, INT))
        text = f"not enough values to unpack (expected {count}, got {{}})"
        numbers.check(lo, enough, "ValueError", text, size)
        few = numbers.apply(lo, "le", size, Literal(count, INT))
        numbers.check(lo, few, "ValueError", numbers.too_many(count))
        return [arrays.load(lo, value, [Literal(k, INT)], node) for k in range(count)]
    raise TypeMismatchError(f"cannot unpack {kind_of(value)}", lo.span(node))


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
    return text_of(lo, lower_expr(lo, node), node)


def text_of(lo: Lowerer, binding: Binding, node: ast.AST) -> tuple[str, tuple[Operand, ...]]:
    """Return the format string and operands that show a binding as `str` does."""
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
    raise lo.unsupported(f"showing {kind_of(binding)}", node, "show its elements")


_EXPRESSIONS: dict[type[ast.AST], Callable[..., Binding]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.ListComp: _list_comprehension,
    ast.GeneratorExp: _generator,
    ast.DictComp: _dict_comprehension,
    ast.NamedExpr: _named,
    ast.JoinedStr: _joined,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_expression,
    ast.Attribute: _attribute,
    ast.Subscript: lambda lo, node: arrays.subscript(lo, node),
    ast.Call: lambda lo, node: calls.call(lo, node),
    ast.Lambda: lambda lo, node: calls.closure(lo, node),
}


def table() -> tuple[type[ast.AST], ...]:
    """Return the expressions that are lowered."""
    return tuple(_EXPRESSIONS)


__all__ = ["condition", "lower_expr", "message", "np", "unpack"]
