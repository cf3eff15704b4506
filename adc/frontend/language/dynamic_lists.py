"""Lists whose length is known only at run time: buffers that double when they are full.

Python's list holds references; a buffer holds copies of the elements. The two are equivalent as
long as no array in the list is modified. The possible writers are known: the buffer is a suspect of
every array that was appended (`ArrayObject.alias`), so the list cannot be read after a write to one
of these, and only the list writes to a buffer (`ArrayObject.kept`). An element that is read from
the list is a view of the buffer, and does not change: if rows that a view may show are written, the
list continues with another object, and the old object keeps its version.

Comprehensions and generator arguments over such lists become loops.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.control import blocks, evaluation
from adc.frontend.control.branches import branch
from adc.frontend.core import classes, closures, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Cell,
    DequeRef,
    DictRef,
    Growing,
    Handle,
    ListRef,
    NamedTuple,
    Num,
    Range,
    RecordOf,
    Ref,
    SetRef,
    Static,
    TupleOf,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import usable
from adc.frontend.core.structure import cells_of
from adc.frontend.numpy import indexing
from adc.frontend.syntax import scope
from adc.frontend.values import elementwise, sequences, views
from adc.frontend.values.growing import list_buffers, list_elements, pooled_lists
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import AdcError, TypeMismatchError
from adc.ir.types import BOOL
from adc.library.standard import lists, pooled

# -- elements --------------------------------------------------------------------------------------


def out_of_range(owner: Binding, *, assigned: bool = False) -> str:
    """Return Python's words for an index out of range, at which something is read or assigned."""
    kinds = {DequeRef: "deque", Range: "range object"}
    kind = kinds.get(type(owner), "list" if isinstance(owner, ListRef) else "tuple")
    return f"{kind} assignment index out of range" if assigned and kind == "list" else (
        f"{kind} index out of range"
    )  # fmt: skip


def as_buffers(lo: Lowerer, ref: ListRef, node: ast.AST) -> Growing | None:
    """Make buffers of a list of arrays that is indexed by a number known only at run time.

    Only where the program is long otherwise, or refused: the arrays must have one shape. What an
    earlier attempt at a loop has appended is known.
    """
    held = lo.held(ref)
    if isinstance(held, Growing):
        return held if lo.shared.rolls else None
    assert isinstance(held, TupleOf)
    element = lo.appended.get(ref.slot)
    if element is not None and not list_elements.has_arrays(element):
        element = None
    is_long = lo.shared.rolls or len(held.items) > sequences.MAX_COPIES
    if lo.places.get(ref.slot) or not (element or is_long or lo.shared.picks):
        return None
    element = element or _with_placeholders(lo, held.items)
    if element is None:
        return None
    if lo.shared.picks and any(None in (cell.sizes or ()) for cell in cells_of(element)):
        return None  # one of several arrays, which may have several shapes
    whole = list_buffers.common(lo, [held], element)
    if whole is None or list_buffers.differ(lo, held.items, whole):
        return None
    list_buffers.note_appended(lo, ref.slot, element)
    made = list_buffers.grown(lo, held, element, node)
    if not isinstance(made, Growing):
        return None
    lo.hold(ref, made)
    return made


def _with_placeholders(lo: Lowerer, items: Sequence[Binding]) -> Binding | None:
    """Return the structure of elements of which some are arrays, or may become some; or None.

    Before they are arrays, they are None or one number.
    """
    constants = [x for x in items if isinstance(x, Num) and isinstance(x.operand, Literal)]
    element: Binding | None = None
    if len({x.operand for x in constants}) == 1 and not lo.shared.general:
        element = _placeholder(constants[0], list_elements.element_of(lo, constants[0]))
        items = [x for x in items if not isinstance(x, Num)]
    whole = list_buffers.common(lo, [TupleOf(tuple(items))], element)
    is_new = all(isinstance(x, Static) and x.value is None for x in items)
    return whole if is_new or (whole is not None and list_elements.has_arrays(whole)) else None


def loops_again(lo: Lowerer, stmts: Sequence[ast.stmt], loop: Callable[[], None]) -> bool:
    """Lower a loop again where it appends arrays to lists; return whether that does.

    It may read one by the number of the iteration before it appends anything: what it appends is
    taken to be like what is in the list. Arrays of several shapes, and those that are changed,
    need a copy of the loop's body for each iteration.
    """
    if lo.shared.general:
        return False
    before, slots = lo.point(), []
    for node in (each for stmt in stmts for each in ast.walk(stmt)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
                ref = lo.frame.env.get(name)
                held = lo.frame.env.get(ref.slot) if isinstance(ref, ListRef) else None
                if not isinstance(ref, ListRef) or not isinstance(held, TupleOf):
                    continue
                element = list_buffers.common(lo, [held])
                if element is None or not list_elements.has_arrays(element):
                    continue
                if ref.slot not in lo.appended:
                    late = list_elements.with_late(element, True)
                    list_buffers.note_appended(lo, ref.slot, late)
                    slots.append(ref.slot)
    if not slots:
        return False
    try:
        loop()
        return True
    except AdcError:
        lo.undo(before)
        for slot in slots:
            lo.appended.pop(slot, None)
        return False


def item(lo: Lowerer, owner: Binding, held: Growing, key: Binding, node: ast.AST) -> Binding:
    """Lower ``list[key]``."""
    return element(lo, owner, held, place(lo, held, key, out_of_range(owner), node), node)


def element(lo: Lowerer, owner: Binding, held: Growing, at: Operand, node: ast.AST) -> Binding:
    """Return an element of a list, or the value of a key, at an index that is in range.

    Where a loop changes the list, an array in it is copied: reverse code needs it later, and would
    else keep the whole list as it is in each iteration.
    """
    if not (isinstance(owner, Ref) and owner.slot in lo.changing):
        return lo.element(held, at, node)
    parts: list[Num | ArrayRef] = []
    for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
        part = lo.part_at(buffer, cell, at, node)
        parts.append(list_buffers.element_copy(lo, part) if isinstance(part, ArrayRef) else part)
    return lo.element_of_parts(held.element, parts)


def place(lo: Lowerer, held: Growing, key: Binding, text: str, node: ast.AST) -> Operand:
    """Return where an element is; `text` is Python's error if it is not there."""
    operand = elementwise.number(lo, key, node, "an index of a list")
    if operand.type.kind not in "iu":
        raise TypeMismatchError(f"list indices must be integers, not {kind_of(key)}", lo.span(node))
    size = held.length.operand
    operand = numbers.to_int(lo, operand)
    wrapped = lo.builder.apply("wrap", operand, size, hint="i")
    inside = numbers.apply(lo, "inside", wrapped, size)
    numbers.check(lo, inside, "IndexError", text)
    return wrapped


def copied(lo: Lowerer, held: Growing, node: ast.AST) -> ListRef:
    """Return a new list with the same elements."""
    buffers: list[ArrayRef] = []
    for buffer in held.buffers:
        made = list_buffers.recopied(lo, buffer, node)
        lo.versions[made.object] = lo.builder.apply("copy", lo.versions[made.object], hint="list")
        buffers.append(made)
    return lo.new_ref(ListRef, Growing(tuple(buffers), held.length, held.element))


def transposed(lo: Lowerer, held: Growing, node: ast.AST) -> TupleOf | None:
    """Lower ``zip(*rows)`` of tuples, or of lists in a pool that are as long as each other.

    Return a list for each of their positions, if there are any; None for other elements.
    """
    match held.element:
        case Handle(like=ListRef(), keys=keys) if keys:
            rows: list[Binding] = [lo.new_ref(ListRef, held)]
            made = dispatch.apply(lo, Static(pooled.tuples), rows, {}, classes.call_at(node))
            assert isinstance(made, ListRef)
            tuples = lo.held(made)
            return transposed(lo, tuples, node) if isinstance(tuples, Growing) else None
        case TupleOf(items=items) | NamedTuple(record=RecordOf(items=items)) if items:
            pass
        case _:
            return None
    some = numbers.apply(lo, "gt", held.length.operand, integer(0))
    text = (
        "adc: `zip(*...)` of an empty list whose length is known only at run time is not supported"
    )
    numbers.check(lo, some, list_buffers.limit(lo, some), text)
    whole = lo.held(copied(lo, held, node))
    assert isinstance(whole, Growing)
    left = list(whole.buffers)
    columns: list[ListRef] = []
    for item in items:
        count = len(list(cells_of(item)))
        own, left = tuple(left[:count]), left[count:]
        columns.append(lo.new_ref(ListRef, Growing(own, whole.length, item)))
    return TupleOf(tuple(columns))


def sliced(lo: Lowerer, ref: ListRef, part: ast.Slice, node: ast.AST) -> ListRef:
    """Lower ``list[a:b:c]``: a new list."""
    items = indexing.items_of(lo, part)
    held = lo.held(ref)
    assert isinstance(held, Growing)
    return lo.new_ref(ListRef, _cut(lo, held, items, node))


def part_of(
    lo: Lowerer, held: Growing, start: Operand | None, stop: Operand | None, node: ast.AST
) -> Growing:
    """Return the contents of a new list of the elements from `start` to before `stop`."""
    part = indexing.Slice(start, stop, None, node)
    return _cut(lo, held, [indexing.Item(part, node)], node)


def _cut(lo: Lowerer, held: Growing, items: Sequence[indexing.Item], node: ast.AST) -> Growing:
    buffers: list[ArrayRef] = []
    size: Operand = integer(0)
    for k, buffer in enumerate(held.buffers):
        with lo.at(node):
            found = indexing.read(lo, list_buffers.view(lo, held, k), items, node)
            assert isinstance(found, ArrayRef)
            size = views.dims_of(lo, found)[0]
            made = elementwise.copy(lo, found, node)
        made.object.kept = buffer.object.kept
        shares(made.object, buffer.object)
        buffers.append(made)
    return Growing(tuple(buffers), Num(size), held.element)


# -- changes ---------------------------------------------------------------------------------------


def set_item(lo: Lowerer, ref: ListRef, key: Binding, value: Binding, node: ast.AST) -> None:
    """Lower ``list[key] = value``."""
    if pooled_lists.set_item(lo, ref, key, value, node):
        return
    held = list_buffers.accepting(lo, ref, value, node)
    at = place(lo, held, key, out_of_range(ref, assigned=True), node)
    columns = list_buffers.columns(lo, held, value)
    lo.hold(ref, list_buffers.replaced(lo, held, at, columns, node))


def append(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> None:
    """Lower ``list.append(value)``."""
    value = elementwise.materialised(lo, value, node)
    if pooled_lists.append(lo, ref, value, node):
        return
    if isinstance(held := lo.held(ref), TupleOf):
        list_buffers.note(lo, ref, value)
        lo.hold(ref, TupleOf((*held.items, value)))
        return
    held = list_buffers.accepting(lo, ref, value, node)
    with lo.at(node):
        count = held.length.operand
        columns = list_buffers.columns(lo, held, value)
        full: Operand = Literal(True, BOOL)
        if columns:
            capacity = lo.size_of(held.buffers[0], 0, node)
            full = lo.builder.apply("ge", count, capacity, hint="full")
        for fits in _fits(lo, columns, count, node):
            if not isinstance(fits, Literal):
                full = numbers.apply(lo, "or", full, numbers.apply(lo, "not", fits))

        def grow() -> None:
            # A constant where the list is new: passes take the sizes of its buffers for equal.
            known = isinstance(count, Literal)
            room = numbers.apply(lo, "room", count) if known else (
                lo.builder.apply("room", count, hint="n")
            )  # fmt: skip
            size = lo.sizes.counts(room)
            for buffer, cell, part in columns:
                now = lo.row_dims(buffer, cell, node) if cell.late else None
                dims = list_buffers.part_dims(lo, part) if part is not None else now
                _enlarge(lo, buffer.object, cell, count, size, dims or (), now)

        if columns:
            branch(lo, full, grow, lambda: None)
        for buffer, cell, part in columns:
            list_buffers.put(lo, buffer, cell, count, part, node)
        after = lo.sizes.counts(lo.builder.apply("add", count, integer(1), hint="n"))
        lo.hold(ref, replace(held, length=Num(after)))


def _fits(
    lo: Lowerer, columns: Sequence[list_buffers.Column], count: Operand, node: ast.AST
) -> Iterator[Operand]:
    """Check the arrays of a new element; yield whether they have the sizes of those in the list."""
    for buffer, cell, part in columns:
        if cell.sizes is None or part is None:
            continue
        dims, own = lo.row_dims(buffer, cell, node), list_buffers.part_dims(lo, part)
        empty = numbers.apply(lo, "eq", count, integer(0))
        list_buffers.require_room(lo, cell, own)
        if cell.late and None in cell.sizes:
            empty = list_buffers.has_none_yet(lo, cell, dims)
        yield list_buffers.check_sizes(lo, dims, own, empty, late=cell.late)


_LIST, _ITEMS, _ITEM, _ELEMENT = "$list", "$items", "$item", "$element"


def extend(lo: Lowerer, ref: ListRef, more: Binding, node: ast.AST) -> None:
    """Lower ``list.extend(more)``: append the elements one by one."""
    items = sequences.static_items(lo, more)
    if items is None and isinstance(more, Range):
        items = sequences.static_range(more)
    if items is not None:
        for value in items:
            append(lo, ref, value, node)
        return

    def make() -> list[ast.stmt]:
        add = ast.Call(
            func=ast.Attribute(value=name_node(_LIST), attr="append", ctx=ast.Load()),
            args=[name_node(_ITEM)], keywords=[],
        )  # fmt: skip
        target = name_node(_ITEM, ast.Store())
        return [ast.For(target=target, iter=name_node(_ITEMS), body=[ast.Expr(add)], orelse=[])]

    if isinstance(more, ListRef) and (
        more.slot == ref.slot or lo.are_in_one_pool(more.slot, ref.slot)
    ):
        held = lo.held(more)  # it may be the list itself, which becomes twice as long
        more = copied(lo, held, node) if isinstance(held, Growing) else lo.new_ref(ListRef, held)
    names = (_LIST, _ITEMS, _ITEM)
    outer = {name: lo.frame.env.pop(name) for name in names if name in lo.frame.env}
    lo.frame.env |= {_LIST: ref, _ITEMS: elementwise.materialised(lo, more, node)}
    blocks.lower_stmts(lo, _synthetic(lo, node, make))
    for name in names:
        lo.frame.env.pop(name, None)
    lo.frame.env |= outer


def set_slice(
    lo: Lowerer, ref: ListRef, part: ast.Slice, value: Binding, node: ast.AST
) -> None:  # fmt: skip
    """Lower ``list[start:stop] = value``, and ``del list[start:stop]`` for an empty value."""
    if part.step is not None:
        raise lo.unsupported(
            "changing a list of a length known only at run time at a slice with a step", node,
            "change the elements in a loop",
        )  # fmt: skip
    if isinstance(value, Num) or (isinstance(value, Static) and not isinstance(value.value, str)):
        raise TypeMismatchError("can only assign an iterable", lo.span(node))
    ends = [NONE if end is None else evaluation.lower_expr(lo, end)
            for end in (part.lower, part.upper)]  # fmt: skip
    args = [ref, *ends, elementwise.materialised(lo, value, node)]
    dispatch.apply(lo, Static(lists.set_slice), args, {}, classes.call_at(node))


def added(lo: Lowerer, left: ListRef, right: ListRef, node: ast.AST) -> ListRef:
    """Lower ``list + list`` where the length of one is known only at run time."""
    held = lo.held(left)
    if isinstance(held, Growing):
        made = copied(lo, held, node)
    else:
        made = lo.new_ref(ListRef, held)
        whole = list_buffers.common(lo, [held, lo.held(right)])
        if whole is not None:
            lo.hold(made, list_buffers.grown(lo, held, whole, node))
    extend(lo, made, right, node)
    return made


# Methods that compare each element.
_SEARCHES = ("remove", "count", "index")


def method(
    lo: Lowerer, ref: ListRef, held: Growing, name: str, args: Sequence[Binding], node: ast.AST
) -> Binding:
    """Lower a call of a method of a list."""
    if name == "copy" and not args:
        return copied(lo, held, node)
    if name == "pop" and not args:
        return pop(lo, ref, held, node)
    if name == "pop" and len(args) == 1:
        last = isinstance(args[0], Num) and args[0].operand == integer(-1)
        return pop(lo, ref, held, node) if last else remove_at(lo, ref, held, args[0], node, "pop")
    if name == "insert" and len(args) == 2 and args[0] == Num(integer(0)):
        insert_first(lo, ref, args[1], node)
        return NONE
    if (name in _SEARCHES and len(args) == 1) or (name == "insert" and len(args) == 2):
        fn = getattr(lists, name)
        return dispatch.apply(lo, Static(fn), [ref, *args], {}, classes.call_at(node))
    if name == "clear" and not args:
        buffers = tuple(list_buffers.recopied(lo, buffer, node) for buffer in held.buffers)
        lo.hold(ref, Growing(buffers, Num(integer(0)), held.element))
        return NONE
    if name == "reverse" and not args:
        back = ast.Slice(step=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(1)))
        (part,) = _synthetic(lo, node, lambda: [back])
        lo.hold(ref, _cut(lo, held, indexing.items_of(lo, part), node))
        return NONE
    raise lo.unsupported(
        f"`.{name}` of a list whose length is known only at run time, with these arguments,", node,
        "make an array of it with `np.array`",
    )  # fmt: skip


def _enlarge(
    lo: Lowerer, obj: ArrayObject, cell: Cell, count: Operand, size: Operand,
    dims: tuple[Operand, ...], now: tuple[Operand, ...] | None,
) -> None:  # fmt: skip
    """Replace the version of a buffer by a larger one with the same elements.

    Its arrays have the sizes `dims`; the old ones have the sizes `now`, if these may be others.
    """
    old = lo.versions[obj]
    empty = list_buffers.made_buffer(lo, cell, (size, *dims))

    def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
        return [lo.builder.store(carried[0], index, lo.builder.load(old, index), hint="list")]

    sizes = dims if now is None else now
    (version,) = elementwise.nest(lo, [count, *sizes], [empty], ["list"], body)
    assert isinstance(version, Value)
    lo.versions[obj] = version


def remove_at(
    lo: Lowerer, ref: ListRef, held: Growing, key: Binding, node: ast.AST, what: str
) -> Binding:
    """Lower ``list.pop(key)`` and ``del list[key]``; return the element."""
    operand = numbers.to_int(lo, elementwise.number(lo, key, node, "an index of a list"))
    size = held.length.operand
    with lo.at(node):
        if what == "pop":
            some = numbers.apply(lo, "gt", size, integer(0))
            numbers.check(lo, some, "IndexError", "pop from empty list")
        at = lo.builder.apply("wrap", operand, size, hint="i")
        inside = numbers.apply(lo, "inside", at, size)
        text = "pop index out of range" if what == "pop" else out_of_range(ref, assigned=True)
        numbers.check(lo, inside, "IndexError", text)
        parts: list[Binding] = []
        for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
            part = lo.part_at(buffer, cell, at, node)
            if isinstance(part, ArrayRef):
                part = list_buffers.element_copy(lo, part)
            parts.append(part)
        after = part_of(lo, held, numbers.plus(lo, at, integer(1)), None, node)
        if isinstance(operand, Literal) and operand.value == 0:
            lo.hold(ref, after)
        else:
            first = lo.new_ref(ListRef, part_of(lo, held, None, at, node))
            lo.hold(ref, lo.held(added(lo, first, lo.new_ref(ListRef, after), node)))
    return lo.element_of_parts(held.element, parts)


def insert_first(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> None:
    """Lower ``list.insert(0, value)``: all others move on, in new buffers."""
    value = elementwise.materialised(lo, value, node)
    held = list_buffers.accepting(lo, ref, value, node)
    with lo.at(node):
        count = held.length.operand
        columns = list_buffers.columns(lo, held, value)
        list(_fits(lo, columns, count, node))
        after = lo.sizes.counts(lo.builder.apply("add", count, integer(1), hint="n"))
        buffers = [
            list_buffers.moved_on(lo, buffer, cell, part, count, after, node)
            for buffer, cell, part in columns
        ]
    lo.hold(ref, Growing(tuple(buffers), Num(after), held.element))


def taken_apart(
    lo: Lowerer, value: Binding, before: int, after: int, node: ast.AST
) -> list[Binding] | None:
    """Return the first and the last elements of an array or list, and a list of those between.

    None: the value has no length.
    """
    held = lo.held(value) if isinstance(value, ListRef) else None
    size: Operand
    if isinstance(value, ArrayRef) and views.dims_of(lo, value):
        size = views.dims_of(lo, value)[0]
    elif isinstance(held, Growing):
        size = held.length.operand
    else:
        return None

    def element(k: Operand) -> Binding:
        if isinstance(held, Growing):
            return lo.element(held, k, node)
        assert isinstance(value, ArrayRef)
        return elementwise.load(lo, value, [k], node)

    enough = numbers.apply(lo, "ge", size, integer(before + after))
    text = f"not enough values to unpack (expected at least {before + after}, got {{}})"
    numbers.check(lo, enough, "ValueError", text, size)
    first = [element(integer(k)) for k in range(before)]
    last = [element(numbers.plus(lo, size, integer(-k))) for k in range(after, 0, -1)]
    stop = numbers.plus(lo, size, integer(-after))
    rest: Binding
    if isinstance(held, Growing):
        rest = lo.new_ref(ListRef, part_of(lo, held, integer(before), stop, node))
    else:
        part = indexing.Item(indexing.Slice(integer(before), stop, None, node), node)
        assert isinstance(value, ArrayRef)
        rest = listed(lo, indexing.window(lo, value, [part], node), node)
    return [*first, rest, *last]


def pop(lo: Lowerer, ref: ListRef, held: Growing, node: ast.AST) -> Binding:
    """Lower ``list.pop()``."""
    with lo.at(node):
        count = held.length.operand
        some = numbers.apply(lo, "gt", count, integer(0))
        numbers.check(lo, some, "IndexError", "pop from empty list")
        last = lo.sizes.counts(lo.builder.apply("sub", count, integer(1), hint="n"))
        parts: list[Binding] = []
        buffers: list[ArrayRef] = []
        for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
            part = lo.part_at(buffer, cell, last, node)
            if isinstance(part, ArrayRef):
                # A copy: else the whole buffer would be kept for the sake of it.
                part, buffer = (
                    list_buffers.element_copy(lo, part),
                    list_buffers.recopied(lo, buffer, node),
                )
            parts.append(part)
            buffers.append(buffer)
        lo.hold(ref, Growing(tuple(buffers), Num(last), held.element))
    return lo.element_of_parts(held.element, parts)


# -- comprehensions --------------------------------------------------------------------------------
RESULT = "$made"


def _synthetic(lo: Lowerer, node: ast.AST, make: Any, way: type[Binding] | None = None) -> Any:
    """Return the synthetic statements of a node, cached by node and form."""
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
    """Return the loops of a comprehension."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        body = [ast.For(target=generator.target, iter=generator.iter, body=body, orelse=[])]
    return body


def name_node(name: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(id=name, ctx=ctx or ast.Load())


def run(
    lo: Lowerer,
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
    start: Binding,
    body: list[ast.stmt],
) -> Binding:
    stmts = _synthetic(lo, node, lambda: _loop(node.generators, body), type(start))
    names = scope.assigned_in([g.target for g in node.generators])
    outer = {name: lo.frame.env.pop(name) for name in [*names, RESULT] if name in lo.frame.env}
    own = frozenset(names) - lo.frame.locals
    lo.frame.locals |= own
    lo.frame.env[RESULT] = start
    cells = lo.frame.cells
    lo.frame.cells = {name: slot for name, slot in cells.items() if name not in names}
    try:
        blocks.lower_stmts(lo, stmts)
    finally:
        lo.frame.cells = cells
    result = usable(lo, lo.frame.env.pop(RESULT), "this comprehension", node)
    (result,) = closures.comprehended(lo, [result], names, node)
    lo.frame.locals -= own
    for name in names:
        lo.frame.env.pop(name, None)
    lo.frame.env.update(outer)
    return result


def set_comprehension(lo: Lowerer, node: ast.SetComp) -> Binding:
    """Lower a set comprehension over a length known only at run time."""
    call = ast.Call(
        func=ast.Attribute(value=name_node(RESULT), attr="add", ctx=ast.Load()),
        args=[node.elt], keywords=[],
    )  # fmt: skip
    return run(lo, node, lo.new_ref(SetRef, RecordOf((), ())), [ast.Expr(value=call)])


def dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Binding:
    """Lower a dict comprehension over a length known only at run time."""
    target = ast.Subscript(name_node(RESULT), node.key, ast.Store())
    body = ast.Assign(targets=[target], value=node.value)
    return run(lo, node, lo.new_ref(DictRef, RecordOf((), ())), [body])


def comprehension(lo: Lowerer, node: ast.ListComp | ast.GeneratorExp) -> Binding:
    """Lower a comprehension over a length known only at run time."""
    call = ast.Call(
        func=ast.Attribute(value=name_node(RESULT), attr="append", ctx=ast.Load()),
        args=[node.elt], keywords=[],
    )  # fmt: skip
    start = lo.new_ref(ListRef, TupleOf(()))
    # Appending makes it a growing list; an empty one has no type yet.
    made = run(lo, node, start, [ast.Expr(value=call)])
    if isinstance(node.elt, ast.Constant) and isinstance(made, ListRef):
        _note_blank(lo, made, evaluation.lower_expr(lo, node.elt))
    return made


def listed(lo: Lowerer, iterable: Binding, node: ast.AST) -> Binding:
    """Return a new list of the elements of an iterable whose length is known only at run time."""

    def make() -> list[ast.expr]:
        part = ast.comprehension(name_node(_ITEM, ast.Store()), name_node(_ITEMS), [], 0)
        return [ast.ListComp(name_node(_ITEM), [part])]

    (made,) = _synthetic(lo, node, make, ListRef)
    return _with_names(lo, made, {_ITEMS: iterable})


def repeated(lo: Lowerer, element: Binding, count: Operand, node: ast.AST) -> Binding:
    """Lower ``[element] * count`` for a count that is known only at run time."""

    def make() -> list[ast.expr]:
        part = ast.comprehension(name_node(_ITEM, ast.Store()), name_node(_ITEMS), [], 0)
        return [ast.ListComp(name_node(_ELEMENT), [part])]

    (made,) = _synthetic(lo, node, make, Range)
    times = Range(Num(integer(0)), Num(numbers.to_int(lo, count)), Num(integer(1)))
    found = _with_names(lo, made, {_ITEMS: times, _ELEMENT: element})
    if isinstance(found, ListRef):
        _note_blank(lo, found, element)
    return found


def _note_blank(lo: Lowerer, ref: ListRef, item: Binding) -> None:
    """Note that a new list has one constant number, which may stand for what comes later."""
    held = lo.held(ref)
    if lo.shared.general:
        return  # it would have to read the numbers
    if isinstance(held, Growing) and (element := _placeholder(item, held.element)) is not None:
        lo.hold(ref, replace(held, element=element))
        lo.appended[ref.slot] = element


def _placeholder(item: Binding, element: Binding | None) -> Binding | None:
    """Return the structure of elements that are all one constant, in place of others; or None."""
    if isinstance(item, Num) and isinstance(item.operand, Literal) and isinstance(element, Cell):
        return replace(element, blank=True)
    return element if isinstance(item, Static) and item.value is None else None


def _with_names(lo: Lowerer, made: Any, names: dict[str, Binding]) -> Binding:
    """Lower a comprehension that reads names which only it has."""
    outer = {name: lo.frame.env.pop(name) for name in names if name in lo.frame.env}
    lo.frame.env.update(names)
    found = comprehension(lo, made)
    for name in names:
        lo.frame.env.pop(name)
    lo.frame.env.update(outer)
    return found
