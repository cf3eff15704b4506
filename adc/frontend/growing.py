"""Lists whose length is known only at run time: buffers that double when they are full.

Python's list holds references; a buffer holds copies of the elements. That comes to the same as
long as nobody changes an array in the list. Who may is known: the buffer is a suspect of every
array that was appended (`ArrayObject.alias`), so that the list cannot be read after a write to one,
and nothing but the list writes to a buffer (`ArrayObject.kept`). What is read from the list is a
view of the buffer. It stays what it was: the list goes on with another object where rows that a
view may show are written, and the old one keeps its version.

Comprehensions and generator arguments over such lengths become the loops that they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from adc.frontend import (
    arrays,
    builtin,
    containers,
    elementwise,
    indexing,
    numbers,
    scope,
    statements,
    views,
)
from adc.frontend.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Axis,
    Binding,
    Cell,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    Range,
    RecordOf,
    Static,
    TupleOf,
    Window,
    cells_of,
    kind_of,
    shares,
    with_cells,
)
from adc.frontend.control import branch, one_type
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError, TypeUnstableError
from adc.ir.types import BOOL, Scalar, join

_FIRST = 16


# -- what elements are like ------------------------------------------------------------------------


def element_of(lo: Lowerer, value: Binding) -> Binding | None:
    """Return what elements like `value` are like; None if a list that grows has no such."""
    match value:
        case Num(operand=operand) if isinstance(operand.type, Scalar):
            return Cell(operand.type)
        case ArrayRef():
            dims = views.dims_of(lo, value)
            ty = Scalar(value.object.type.dtype)
            sizes = tuple(int(d.value) if isinstance(d, Literal) else None for d in dims)
            return Cell(ty, sizes if dims else None)
        case TupleOf(items=items):
            found = [element_of(lo, item) for item in items]
            known = [item for item in found if item is not None]
            return TupleOf(tuple(known)) if len(known) == len(items) else None
        case NamedTuple(cls=cls, record=RecordOf(keys=keys, items=items)):
            inner = element_of(lo, TupleOf(items))
            assert inner is None or isinstance(inner, TupleOf)
            return None if inner is None else NamedTuple(cls, RecordOf(keys, inner.items))
        case Static():
            return value
    return None


def joined(a: Binding | None, b: Binding | None) -> Binding | None:
    """Return what elements of two kinds are like in one list, or None."""
    match a, b:
        case Cell(sizes=None), Cell(sizes=None):
            ty = join(a.type, b.type)
            return Cell(ty) if one_type(a.type, ty) and one_type(b.type, ty) else None
        case Cell(sizes=tuple(p)), Cell(sizes=tuple(q)) if a.type == b.type and len(p) == len(q):
            sizes = tuple(x if x == y else None for x, y in zip(p, q, strict=True))
            return Cell(a.type, sizes)
        case TupleOf(items=p), TupleOf(items=q) if len(p) == len(q):
            found = [joined(x, y) for x, y in zip(p, q, strict=True)]
            known = [item for item in found if item is not None]
            return TupleOf(tuple(known)) if len(known) == len(p) else None
        case NamedTuple(cls=cls, record=first), NamedTuple(record=second) if cls is b.cls:
            inner = joined(TupleOf(first.items), TupleOf(second.items))
            assert inner is None or isinstance(inner, TupleOf)
            return None if inner is None else NamedTuple(cls, RecordOf(first.keys, inner.items))
        case Static(value=x, place=p), Static(value=y, place=q) if p == q and (
            x is y or (type(x) is type(y) and x == y)
        ):
            return a
    return None


def common(lo: Lowerer, lists: Sequence[Binding], element: Binding | None = None) -> Binding | None:
    """Return what the elements of lists (and more, like `element`) are like in one list."""
    found = [] if element is None else [element]
    for held in lists:
        if isinstance(held, Growing):
            found.append(held.element)
            continue
        assert isinstance(held, TupleOf)
        for item in held.items:
            one = element_of(lo, item)
            if one is None:
                return None
            found.append(one)
    whole: Binding | None = found[0] if found else None
    for one in found[1:]:
        whole = joined(whole, one)
    return whole


def has_arrays(element: Binding) -> bool:
    return any(cell.sizes is not None for cell in cells_of(element))


def _parts(lo: Lowerer, element: Binding, value: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the numbers and arrays of a value that is like `element`."""
    match element, value:
        case Cell(), Num() | ArrayRef():
            yield value
        case TupleOf(items=items), TupleOf(items=values):
            for item, inner in zip(items, values, strict=True):
                yield from _parts(lo, item, inner)
        case NamedTuple(record=record), NamedTuple(record=held):
            for item, inner in zip(record.items, held.items, strict=True):
                yield from _parts(lo, item, inner)


# -- buffers ---------------------------------------------------------------------------------------


def _at(lo: Lowerer, node: ast.AST | None) -> AbstractContextManager[None]:
    return lo.at(node) if node is not None else nullcontext()


def _buffer(lo: Lowerer, version: Value, dims: Sequence[Operand], cell: Cell) -> ArrayRef:
    made = lo.new_array(version, tuple(dims), "list")
    made.object.kept = cell.sizes is not None
    return made


def _again(lo: Lowerer, buffer: ArrayRef, node: ast.AST | None) -> ArrayRef:
    """Return a buffer with the same elements, for a list that may overwrite them.

    What was read from the old one, and whoever still reads it, keeps its version.
    """
    old = buffer.object
    made = lo.new_array(lo.version(old, node), lo.dims[old], old.name)
    made.object.kept = old.kept
    shares(made.object, old)
    return made


def _size(lo: Lowerer, buffer: ArrayRef, axis: int, node: ast.AST | None) -> Operand:
    """Return a size of a buffer as it is now: buffers are replaced by larger ones."""
    version = lo.version(buffer.object, node)
    key = ("buffer", version, axis)
    if key not in lo.known:
        lo.known[key] = lo.counts(lo.builder.apply("dim", version, params=(axis,), hint="list.dim"))
    return lo.known[key]


def _row_dims(
    lo: Lowerer, buffer: ArrayRef, cell: Cell, node: ast.AST | None
) -> tuple[Operand, ...]:
    """Return the sizes of an array in a buffer."""
    return tuple(
        integer(size) if size is not None else _size(lo, buffer, 1 + k, node)
        for k, size in enumerate(cell.sizes or ())
    )


def _put(
    lo: Lowerer, buffer: ArrayRef, cell: Cell, at: Operand, part: Num | ArrayRef,
    node: ast.AST | None,
) -> None:  # fmt: skip
    """Store a number or array as an element that nobody but the list can see."""
    obj = buffer.object
    version = lo.version(obj, node)
    if isinstance(part, Num):
        operand = lo.exact(lo.convert(part.operand, cell.type), Scalar(cell.type.dtype))
        lo.versions[obj] = lo.builder.store(version, [at], operand, hint="list")
        return
    source = elementwise.lazy(lo, part, node)
    if any(read is version for _, _, read in source.reads):
        copied = elementwise.stored_new(lo, source, source.type.dtype, node)
        source = elementwise.lazy(lo, copied, node)

    def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
        item = lo.exact(lo.convert(source.element(index), cell.type), Scalar(cell.type.dtype))
        return [lo.builder.store(carried[0], [at, *index], item, hint="list")]

    (found,) = elementwise.nest(lo, source.dims, [version], ["list"], body)
    assert isinstance(found, Value)
    lo.versions[obj] = found
    obj.kept = True
    shares(obj, part.object)


def grown(lo: Lowerer, held: Binding, element: Binding, node: ast.AST | None) -> Binding:
    """Return what a list holds in the form of a growing one, of elements like `element`.

    Unchanged if it has others by now: what is known of a list may be from an earlier attempt.
    """
    whole = common(lo, [held], element)
    if whole is None:
        return held
    if isinstance(held, Growing):
        return widened(lo, held, whole, node)
    assert isinstance(held, TupleOf)
    return converted(lo, held.items, whole, node)


def converted(
    lo: Lowerer, items: Sequence[Binding], element: Binding, node: ast.AST | None
) -> Growing:
    """Return a growing list that starts with `items`."""
    rows = [list(_parts(lo, element, item)) for item in items]
    # The first array that is appended tells the sizes: until then there is no room.
    capacity = max(_FIRST, 2 * len(items)) if items or not has_arrays(element) else 0
    buffers: list[ArrayRef] = []
    with _at(lo, node):
        for j, cell in enumerate(cells_of(element)):
            dims: list[Operand] = [integer(size or 0) for size in cell.sizes or ()]
            for row in rows[:1]:
                dims = list(_dims(lo, row[j]))
            for row in rows[1:]:
                _check_sizes(lo, dims, _dims(lo, row[j]))
            dims = [integer(capacity), *dims]
            version = lo.builder.apply("empty", *dims, params=(cell.type.dtype,), hint="list")
            buffers.append(_buffer(lo, version, dims, cell))
            for k, row in enumerate(rows):
                _put(lo, buffers[-1], cell, integer(k), row[j], node)
    return Growing(tuple(buffers), Num(integer(len(items))), element)


def _dims(lo: Lowerer, part: Num | ArrayRef) -> tuple[Operand, ...]:
    return views.dims_of(lo, part) if isinstance(part, ArrayRef) else ()


def _check_sizes(
    lo: Lowerer, dims: Sequence[Operand], own: Sequence[Operand], empty: Operand | None = None
) -> Operand:
    """Check that an array has the sizes of those in the list; return whether it has.

    `empty` says that there are none: then it may have any.
    """
    result: Operand = Literal(True, BOOL)
    for a, b in zip(dims, own, strict=True):
        if not lo.same_size(a, b):
            result = numbers.apply(lo, "and", result, numbers.apply(lo, "eq", a, b))
    ok = result if empty is None else numbers.apply(lo, "or", result, empty)
    shapes = ["({})".format(", ".join(["{}"] * len(dims)))] * 2
    numbers.check(
        lo, ok, "ValueError",
        "adc: the arrays in a list whose length is known only at run time have one shape; here {} "
        "meets {}".format(*shapes),
        *dims, *own,
    )  # fmt: skip
    return result


def widened(lo: Lowerer, held: Growing, element: Binding, node: ast.AST | None) -> Growing:
    """Return a list with room for elements like `element`, which those in it are as well."""
    buffers: list[ArrayRef] = []
    for buffer, old, new in zip(
        held.buffers, cells_of(held.element), cells_of(element), strict=True
    ):
        if old.type.dtype == new.type.dtype:
            buffers.append(buffer)
            continue
        source, ty = elementwise.lazy(lo, buffer, node), Scalar(new.type.dtype)
        dims = (_size(lo, buffer, 0, node),)

        def convert(at: Sequence[Operand], source: Any = source, ty: Scalar = ty) -> Operand:
            return lo.convert(source.element(at), ty)

        found = replace(source, dims=dims, type=ty, element=convert)
        buffers.append(elementwise.stored_new(lo, found, ty.dtype, node, "list"))
    return Growing(tuple(buffers), held.length, element)


# -- elements --------------------------------------------------------------------------------------


def read(lo: Lowerer, held: Growing, index: Operand, node: ast.AST) -> Binding:
    """Read an element at an index that is in range."""
    return with_cells(
        held.element,
        (
            _cell(lo, buffer, cell, index, node)
            for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True)
        ),
    )


def _cell(lo: Lowerer, buffer: ArrayRef, cell: Cell, index: Operand, node: ast.AST) -> Binding:
    if cell.sizes is None:
        found = elementwise.lazy(lo, buffer, node).element([index])
        return Num(lo.exact(found, cell.type))
    dims = _row_dims(lo, buffer, cell, node)
    rest = (Axis(integer(0), ((k, integer(1)),)) for k in range(len(dims)))
    return ArrayRef(buffer.object, (Window(dims, (Axis(index, ()), *rest)),))


def item(lo: Lowerer, held: Growing, key: Binding, node: ast.AST) -> Binding:
    return read(lo, held, place(lo, held, key, node), node)


def place(lo: Lowerer, held: Growing, key: Binding, node: ast.AST) -> Operand:
    operand = numbers.number(lo, key, node, "an index of a list")
    if operand.type.kind not in "iu":
        raise TypeMismatchError(f"list indices must be integers, not {kind_of(key)}", lo.span(node))
    size = held.length.operand
    operand = numbers.to_int(lo, operand)
    wrapped = lo.builder.apply("wrap", operand, size, hint="i")
    inside = numbers.apply(lo, "inside", wrapped, size)
    numbers.check(lo, inside, "IndexError", "list index out of range")
    return wrapped


def view(lo: Lowerer, held: Growing, k: int = 0) -> ArrayRef:
    """Return the filled part of a buffer."""
    cell = list(cells_of(held.element))[k]
    dims = (lo.counts(held.length.operand), *_row_dims(lo, held.buffers[k], cell, None))
    return ArrayRef(held.buffers[k].object, (Window(dims, tuple(views.whole(dims))),))


def array_of(
    lo: Lowerer, held: Growing, node: ast.AST,
    empty: str = "adc: this list of arrays is empty, and what shape they have is not known",
) -> ArrayRef:  # fmt: skip
    """Return the numbers or arrays in a list as a view of one array.

    An array of no arrays has a rank that nobody knows: that is an error, with this text.
    """
    if not isinstance(held.element, Cell):
        raise lo.unsupported(
            f"an array of a list that is {kind_of(held)}", node, "make a list of each of them"
        )
    if held.element.sizes is not None:
        with lo.at(node):
            some = numbers.apply(lo, "gt", held.length.operand, integer(0))
            numbers.check(lo, some, "ValueError", empty)
    return view(lo, held)


def copied(lo: Lowerer, held: Growing, node: ast.AST) -> ListRef:
    """Return a new list with the same elements."""
    buffers: list[ArrayRef] = []
    for buffer in held.buffers:
        made = _again(lo, buffer, node)
        lo.versions[made.object] = lo.builder.apply("copy", lo.versions[made.object], hint="list")
        buffers.append(made)
    return lo.new_ref(ListRef, Growing(tuple(buffers), held.length, held.element))


def element_copy(lo: Lowerer, element: ArrayRef) -> ArrayRef:
    """Return a copy that stands for an array in a list."""
    made = arrays.copy(lo, element, None)
    shares(made.object, element.object)
    made.object.kept = True
    return made


def sliced(lo: Lowerer, held: Growing, part: ast.Slice, node: ast.AST) -> ListRef:
    """Lower ``list[a:b:c]``: a new list."""
    items = indexing.items_of(lo, part)
    buffers: list[ArrayRef] = []
    size: Operand = integer(0)
    for k, buffer in enumerate(held.buffers):
        with lo.at(node):
            found = indexing.read(lo, view(lo, held, k), items, node)
            assert isinstance(found, ArrayRef)
            size = views.dims_of(lo, found)[0]
            made = arrays.copy(lo, found, node)
        made.object.kept = buffer.object.kept
        shares(made.object, buffer.object)
        buffers.append(made)
    return lo.new_ref(ListRef, Growing(tuple(buffers), Num(size), held.element))


# -- changes ---------------------------------------------------------------------------------------


def set_item(lo: Lowerer, ref: ListRef, key: Binding, value: Binding, node: ast.AST) -> None:
    """Lower ``list[key] = value``."""
    held = _accepting(lo, ref, value, node)
    at = place(lo, held, key, node)
    buffers: list[ArrayRef] = []
    for buffer, cell, part in _columns(lo, held, value):
        if cell.sizes is not None:
            dims = _row_dims(lo, buffer, cell, node)
            with lo.at(node):
                _check_sizes(lo, dims, _dims(lo, part))
            buffer = _again(lo, buffer, node)
        _put(lo, buffer, cell, at, part, node)
        buffers.append(buffer)
    lo.hold(ref, Growing(tuple(buffers), held.length, held.element))


def _columns(
    lo: Lowerer, held: Growing, value: Binding
) -> list[tuple[ArrayRef, Cell, Num | ArrayRef]]:
    """Return every buffer, what it holds, and what comes into it of a new element."""
    parts = _parts(lo, held.element, value)
    return list(zip(held.buffers, cells_of(held.element), parts, strict=True))


def _accepting(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> Growing:
    """Return what a list holds, of a form that has room for `value`."""
    held = lo.held(ref)
    assert isinstance(held, Growing)
    element = _noted(lo, ref, value)
    if element is None:
        raise lo.unsupported(
            f"{kind_of(value)} in a list whose length is known only at run time",
            node,
            "append numbers, arrays, or tuples of them",
        )
    whole = joined(held.element, element)
    if whole is None:
        raise TypeUnstableError(
            f"{kind_of(value)} in a list that is {kind_of(held)}", lo.span(node),
            "a list whose length is known only at run time has elements of one kind",
        )  # fmt: skip
    held = widened(lo, held, whole, node)
    # An argument's own array is not written to.
    buffers = tuple(
        _again(lo, buffer, node) if buffer.object in lo.origin else buffer
        for buffer in held.buffers
    )
    return replace(held, buffers=buffers)


def _noted(lo: Lowerer, ref: ListRef, value: Binding) -> Binding | None:
    """Note what comes into a list, for the loops around."""
    element = element_of(lo, value)
    if ref.slot in lo.appended:
        lo.appended[ref.slot] = joined(lo.appended[ref.slot], element)
    else:
        lo.appended[ref.slot] = element
    return element


def append(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> None:
    """Lower ``list.append(value)``."""
    value = elementwise.materialised(lo, value, node)
    if isinstance(held := lo.held(ref), TupleOf):
        _noted(lo, ref, value)
        lo.hold(ref, TupleOf((*held.items, value)))
        return
    held = _accepting(lo, ref, value, node)
    with lo.at(node):
        count = held.length.operand
        columns = _columns(lo, held, value)
        full: Operand = Literal(True, BOOL)
        if columns:
            capacity = _size(lo, held.buffers[0], 0, node)
            full = lo.builder.apply("ge", count, capacity, hint="full")
        for buffer, cell, part in columns:
            if cell.sizes is not None:
                dims = tuple(_size(lo, buffer, 1 + k, node) for k in range(len(cell.sizes)))
                empty = numbers.apply(lo, "eq", count, integer(0))
                fits = _check_sizes(lo, dims, _dims(lo, part), empty)
                full = numbers.apply(lo, "or", full, numbers.apply(lo, "not", fits))

        def grow() -> None:
            double = lo.builder.apply("mul", capacity, integer(2), hint="n")
            size = lo.counts(lo.builder.apply("maximum", double, integer(_FIRST), hint="n"))
            for buffer, _, part in columns:
                _enlarge(lo, buffer.object, count, size, _dims(lo, part))

        if columns:
            branch(lo, full, grow, lambda: None)
        for buffer, cell, part in columns:
            _put(lo, buffer, cell, count, part, node)
        after = lo.counts(lo.builder.apply("add", count, integer(1), hint="n"))
        lo.hold(ref, replace(held, length=Num(after)))


_LIST, _ITEMS, _ITEM = "$list", "$items", "$item"


def extend(lo: Lowerer, ref: ListRef, more: Binding, node: ast.AST) -> None:
    """Lower ``list.extend(more)``: append what is in it, one by one."""
    items = containers.static_items(lo, more)
    if items is None and isinstance(more, Range):
        items = containers.static_range(more)
    if items is not None:
        for value in items:
            append(lo, ref, value, node)
        return

    def make() -> list[ast.stmt]:
        add = ast.Call(
            func=ast.Attribute(value=_name(_LIST), attr="append", ctx=ast.Load()),
            args=[_name(_ITEM)], keywords=[],
        )  # fmt: skip
        target = _name(_ITEM, ast.Store())
        return [ast.For(target=target, iter=_name(_ITEMS), body=[ast.Expr(add)], orelse=[])]

    names = (_LIST, _ITEMS, _ITEM)
    outer = {name: lo.frame.env.pop(name) for name in names if name in lo.frame.env}
    lo.frame.env |= {_LIST: ref, _ITEMS: elementwise.materialised(lo, more, node)}
    statements.lower_stmts(lo, _synthetic(lo, node, make))
    for name in names:
        lo.frame.env.pop(name, None)
    lo.frame.env |= outer


def added(lo: Lowerer, left: ListRef, right: ListRef, node: ast.AST) -> ListRef:
    """Lower ``list + list`` where the length of one is known only at run time."""
    held = lo.held(left)
    if isinstance(held, Growing):
        made = copied(lo, held, node)
    else:
        made = lo.new_ref(ListRef, held)
        whole = common(lo, [held, lo.held(right)])
        if whole is not None:
            lo.hold(made, grown(lo, held, whole, node))
    extend(lo, made, right, node)
    return made


def method(
    lo: Lowerer, ref: ListRef, held: Growing, name: str, args: Sequence[Binding], node: ast.AST
) -> Binding:
    """Lower a call of a method of a list."""
    if name == "copy" and not args:
        return copied(lo, held, node)
    if name == "pop" and not args:
        return pop(lo, ref, held, node)
    if name == "clear" and not args:
        buffers = tuple(_again(lo, buffer, node) for buffer in held.buffers)
        lo.hold(ref, Growing(buffers, Num(integer(0)), held.element))
        return NONE
    if name == "reverse" and not args:
        back = ast.Slice(step=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(1)))
        (part,) = _synthetic(lo, node, lambda: [back])
        found = lo.held(sliced(lo, held, part, node))
        lo.hold(ref, found)
        return NONE
    raise lo.unsupported(
        f"`.{name}` of a list whose length is known only at run time, with these arguments,", node,
        "make an array of it with `np.array`",
    )  # fmt: skip


def _enlarge(
    lo: Lowerer, obj: ArrayObject, count: Operand, size: Operand, dims: tuple[Operand, ...]
) -> None:
    """Replace the version of a buffer by a larger one with the same elements."""
    old = lo.versions[obj]
    empty = lo.builder.apply("empty", size, *dims, params=(obj.type.dtype,), hint="list")

    def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
        return [lo.builder.store(carried[0], index, lo.builder.load(old, index), hint="list")]

    (version,) = elementwise.nest(lo, [count, *dims], [empty], ["list"], body)
    assert isinstance(version, Value)
    lo.versions[obj] = version


def pop(lo: Lowerer, ref: ListRef, held: Growing, node: ast.AST) -> Binding:
    """Lower ``list.pop()``."""
    with lo.at(node):
        count = held.length.operand
        some = numbers.apply(lo, "gt", count, integer(0))
        numbers.check(lo, some, "IndexError", "pop from empty list")
        last = lo.counts(lo.builder.apply("sub", count, integer(1), hint="n"))
        parts: list[Binding] = []
        buffers: list[ArrayRef] = []
        for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
            part = _cell(lo, buffer, cell, last, node)
            if isinstance(part, ArrayRef):
                # A copy: else the whole buffer would be kept for the sake of it.
                part, buffer = element_copy(lo, part), _again(lo, buffer, node)
            parts.append(part)
            buffers.append(buffer)
        lo.hold(ref, Growing(tuple(buffers), Num(last), held.element))
    return with_cells(held.element, iter(parts))


# -- comprehensions --------------------------------------------------------------------------------

_RESULT = "$made"


def _synthetic(lo: Lowerer, node: ast.AST, make: Any, way: type[Binding] | None = None) -> Any:
    """Return statements made for a node, the same ones every time it is lowered in one way."""
    key = ("statements", id(node), way)
    if key not in lo.memo:
        made = make()
        for stmt in made:
            for inner in ast.walk(stmt):
                if not hasattr(inner, "lineno"):
                    ast.copy_location(inner, node)
        lo.memo[key] = made
    return lo.memo[key]


def _loop(generators: Sequence[ast.comprehension], body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the loops that a comprehension stands for."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        body = [ast.For(target=generator.target, iter=generator.iter, body=body, orelse=[])]
    return body


def _name(name: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(id=name, ctx=ctx or ast.Load())


def _run(
    lo: Lowerer, node: ast.ListComp | ast.GeneratorExp, start: Binding, body: list[ast.stmt]
) -> Binding:
    stmts = _synthetic(lo, node, lambda: _loop(node.generators, body), type(start))
    names = scope.assigned_in([g.target for g in node.generators])
    outer = {name: lo.frame.env.pop(name) for name in [*names, _RESULT] if name in lo.frame.env}
    own = frozenset(names) - lo.frame.locals
    lo.frame.locals |= own
    lo.frame.env[_RESULT] = start
    statements.lower_stmts(lo, stmts)
    result = lo.usable(lo.frame.env.pop(_RESULT), "this comprehension", node)
    lo.frame.locals -= own
    for name in names:
        lo.frame.env.pop(name, None)
    lo.frame.env.update(outer)
    return result


def comprehension(lo: Lowerer, node: ast.ListComp | ast.GeneratorExp) -> Binding:
    """Lower a comprehension over a length known only at run time."""
    call = ast.Call(
        func=ast.Attribute(value=_name(_RESULT), attr="append", ctx=ast.Load()),
        args=[node.elt], keywords=[],
    )  # fmt: skip
    start = lo.new_ref(ListRef, TupleOf(()))
    # Appending makes it a growing list; an empty one has no type yet.
    return _run(lo, node, start, [ast.Expr(value=call)])


def listed(lo: Lowerer, iterable: Binding, node: ast.AST) -> Binding:
    """Return a new list of what is iterated over, of a length known only at run time."""

    def make() -> list[ast.expr]:
        part = ast.comprehension(_name(_ITEM, ast.Store()), _name(_ITEMS), [], 0)
        return [ast.ListComp(_name(_ITEM), [part])]

    (made,) = _synthetic(lo, node, make, ListRef)
    outer = lo.frame.env.pop(_ITEMS, None)
    lo.frame.env[_ITEMS] = iterable
    found = comprehension(lo, made)
    lo.frame.env.pop(_ITEMS)
    if outer is not None:
        lo.frame.env[_ITEMS] = outer
    return found


def reduced(lo: Lowerer, name: str, node: ast.GeneratorExp, args: list[Binding]) -> Binding:
    """Lower ``sum``, ``any`` or ``all`` of a generator."""
    if name == "sum":
        before, saved, mark = lo.snapshot(), lo.builder.names.save(), len(lo.builder.stmts)
        bound = lo.frame.locals
        add = ast.BinOp(left=_name(_RESULT), op=ast.Add(), right=node.elt)
        start = args[0] if args else Num(integer(0))
        body: list[ast.stmt] = [ast.Assign(targets=[_name(_RESULT, ast.Store())], value=add)]
        try:
            return _run(lo, node, start, body)
        except TypeUnstableError:
            # The sum of arrays begins with a number.
            lo.restore(before)
            lo.frame.locals = bound
            lo.reset_names(saved)
            del lo.builder.stmts[mark:]
        return builtin.total(lo, comprehension(lo, node), start, node)
    found, target = name == "any", _name(_RESULT, ast.Store())
    test: ast.expr = node.elt if found else ast.UnaryOp(op=ast.Not(), operand=node.elt)
    body = [
        ast.If(
            test=test,
            body=[ast.Assign(targets=[target], value=ast.Constant(value=found))],
            orelse=[],
        )
    ]
    return _run(lo, node, lo.num(not found), body)
