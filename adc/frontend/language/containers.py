"""Lists, dicts and tuples, and their methods and operators; deques.

Their structure (length, keys, attributes) is known at compile time; their elements are ordinary
bindings. Lists, dicts and objects are mutable and may have several names, so a name is bound to a
*slot* of the lowering state, and the slot holds the current contents (`Lowerer.held`).
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.control import evaluation, forms
from adc.frontend.control.control import branch
from adc.frontend.core import classes, dispatch, names, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    DefaultRef,
    DequeRef,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    LeftOut,
    ListRef,
    Num,
    ObjectRef,
    OneOf,
    RecordOf,
    Ref,
    SetRef,
    Static,
    TupleOf,
    VarsRef,
    Zip,
    kind_of,
    static,
)
from adc.frontend.core.dispatch import SplitError, operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import ConstantNeededError, Frame, PickedError
from adc.frontend.core.structure import holders, leaves, shape_of
from adc.frontend.inputs import instances
from adc.frontend.language import dynamic_lists, unrolling
from adc.frontend.values import (
    arguments,
    comparisons,
    elementwise,
    keyed,
    list_buffers,
    operators,
    optional,
    sequences,
)
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.text import raising
from adc.ir.types import BOOL, INT
from adc.library.standard import tables


def item_of_dict(lo: Lowerer, owner: DictRef, key: Binding, node: ast.Subscript) -> Binding:
    """Return the value of a key, or what a `defaultdict` has for one that it does not have."""
    value = value_of(lo, owner, key, None, node, node.slice)
    if value is not None:
        return value
    there, read = looked_up(lo, owner, key, node.slice)

    def missing() -> Binding:
        if not isinstance(owner, DefaultRef) or owner.factory == NONE:
            require_key(lo, Literal(False, BOOL), key)
        assert isinstance(owner, DefaultRef)
        call = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), node)
        made = dispatch.apply(lo, owner.factory, [], {}, call)
        made = elementwise.materialised(lo, made, node)
        if owner.keeps:
            put(lo, owner, key, made, node.slice)
        return made

    if isinstance(owner, DefaultRef) and owner.factory != NONE:
        return evaluation.either(lo, there, read, missing, node)
    with lo.at(node):
        require_key(lo, there, key)
    found = read()
    return names.usable(lo, found, ast.unparse(node), node) if isinstance(found, LeftOut) else found


def looked_up(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST
) -> tuple[Operand, Callable[[], Binding]]:
    """Return whether a dict has a key, and what gives its value there."""
    held = lo.held(owner)
    if isinstance(held, RecordOf):
        held = tabled(lo, owner, key, node, None) or held
    if isinstance(held, Growing):
        with lo.at(node):
            at = keyed.position(lo, held, key, node)
            there = numbers.apply(lo, "ge", at, integer(0))

        def read() -> Binding:
            now = lo.held(owner)
            assert isinstance(now, Growing)
            return list_buffers.read(lo, keyed.column(now, 1), at, node)

        return there, read
    record = lo.entries(owner)
    rows = None if keyed.is_known(key) else _rows(lo, record.items)
    may_be = rows is not None and keyed.is_key(key) and not isinstance(owner, DefaultRef)
    if may_be and lo.shared.admits_table(lo.span(node), "a key", _NO_TABLE):
        assert rows is not None
        return _row_of_dict(lo, record, rows, key, node)
    if not record.keys and keyed.is_key(key):
        found, there = None, Literal(False, BOOL)
    else:
        found, there = keyed.entry(record, key_of(lo, key, node))

    def value() -> Binding:
        assert found is not None
        return found

    return there, value


def _rows(lo: Lowerer, items: Sequence[Binding]) -> Growing | None:
    """Return the elements of lists, one list after the other, if they are alike; else None.

    They are not there yet: this says what they are.
    """
    held = [lo.held(row) if type(row) is ListRef else NONE for row in items]
    if not held or not all(isinstance(each, TupleOf) for each in held):
        return None
    element = list_buffers.common(lo, held)
    if element is None or list_buffers.has_arrays(element):
        return None
    return Growing((), Num(integer(0)), element)


def _row(
    lo: Lowerer, items: Sequence[Binding], rows: Growing, at: Operand, node: ast.AST
) -> Binding:
    """Return one of several lists, by a position known only at run time.

    It has copies of the elements: it cannot be changed, and not be read after one of the others is.
    """
    refs = [row for row in items if isinstance(row, ListRef)]
    elements = [item for ref in refs for item in lo.contents(ref)]
    whole = list_buffers.converted(lo, elements, rows.element, node)
    ends = list(itertools.accumulate(len(lo.contents(ref)) for ref in refs))
    here = [numbers.apply(lo, "eq", at, integer(k)) for k in range(len(refs) - 1)]
    start, stop = (
        _selected(lo, [Num(integer(end)) for end in each], here, node)
        for each in ([0, *ends[:-1]], ends)
    )
    assert isinstance(start, Num)
    assert isinstance(stop, Num)
    part = dynamic_lists.part_of(lo, whole, start.operand, stop.operand, node)
    made = lo.new_ref(ListRef, part)
    lo.anew.add(made.slot)
    lo.suspect(made.slot, [ref.slot for ref in refs])
    return made


def _row_of_dict(
    lo: Lowerer, record: RecordOf, rows: Growing, key: Binding, node: ast.AST
) -> tuple[Operand, Callable[[], Binding]]:
    """Return whether a dict of lists has a key known only at run time, and what gives the list."""
    here = [comparisons.same_or_equal(lo, key, static(each), node) for each in record.keys]
    there = functools.reduce(functools.partial(numbers.apply, lo, "or"), here)
    at = _selected(lo, [Num(integer(k)) for k in range(len(here))], here, node)
    assert isinstance(at, Num)
    return there, lambda: _row(lo, record.items, rows, at.operand, node)


def tabled(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST, value: Binding | None
) -> Growing | None:
    """Return the contents of a dict as a table, if a key is known only at run time; else None.

    `value` is what belongs to the key from now on; None where it is only looked up.
    """
    if keyed.is_known(key):
        return None
    if not keyed.is_key(key):
        if isinstance(owner, SetRef):
            raise lo.unsupported(
                f"a set that holds {kind_of(key)}", node,
                "members known only at run time are integers, or tuples of integers; use a list",
            )  # fmt: skip
        return None
    what = "a member of a set" if isinstance(owner, SetRef) else "a key"
    for number in leaves(key):
        error = lo.constant_needed(number, what, node)
        if isinstance(error, ConstantNeededError):
            raise error
    span = lo.span(node)
    record = lo.entries(owner)
    element = None if value is None else list_buffers.element_of(lo, keyed.pair(owner, key, value))
    if value is not None and element is None:
        raise PickedError(
            f"{what} known only at run time is not supported for a dict that holds "
            f"{kind_of(value)}", span, "store numbers, arrays, or tuples of them",
        )  # fmt: skip
    whole = list_buffers.common(lo, [record], element)
    if record.keys and (whole is None or (value is None and owner.slot in lo.places)):
        return None
    if not lo.shared.admits_table(span, what, _NO_TABLE) or whole is None:
        return None  # or nothing is there yet
    made = list_buffers.grown(lo, record, whole, node)
    assert isinstance(made, Growing)
    list_buffers.note_appended(lo, owner.slot, made.element)
    lo.hold(owner, made)
    return made


_BY_NUMBER = "loop over the list itself, or make one array of it"
_NO_TABLE = "use an array indexed by the number"


def put(lo: Lowerer, owner: DictRef, key: Binding, value: Binding, node: ast.AST) -> None:
    """Lower ``owner[key] = value``, and ``owner.add(key)`` of a set."""
    held = lo.held(owner)
    if isinstance(held, RecordOf):
        held = tabled(lo, owner, key, node, value) or held
    if isinstance(held, Growing):
        _put_in_table(lo, owner, key, value, node)
        return
    name, record = key_of(lo, key, node), lo.entries(owner)
    if isinstance(owner, SetRef):
        known = dict(zip(record.keys, keyed.flags(record), strict=True))
        if known.get(name) != Literal(True, BOOL):
            lo.hold(owner, keyed.members({**known, name: Literal(True, BOOL)}))
        return
    there = keyed.entry(record, name)[1]
    if isinstance(there, Literal) or record.keys[-1] == name:
        lo.hold(owner, record.with_item(name, value))
        return
    # Where it is not there yet, it comes after the others from now on.
    branch(
        lo, there,
        lambda: lo.hold(owner, lo.entries(owner).with_item(name, value)),
        lambda: lo.hold(owner, lo.entries(owner).without(name).with_item(name, value)),
    )  # fmt: skip


def _put_in_table(lo: Lowerer, owner: DictRef, key: Binding, value: Binding, node: ast.AST) -> None:
    rows, pair = ListRef(owner.slot), keyed.pair(owner, key, value)
    if list_buffers.element_of(lo, pair) is None:
        raise lo.unsupported(
            f"{kind_of(value)} in a dict with keys known only at run time", node,
            "store numbers, arrays, or tuples of them",
        )  # fmt: skip
    held = lo.held(owner)
    assert isinstance(held, Growing)
    with lo.at(node):
        at = keyed.position(lo, held, key, node)
        lo.hold(owner, dynamic_lists.accepting(lo, rows, pair, node))
        there = numbers.apply(lo, "ge", at, integer(0))

        def replace_value() -> None:
            if not isinstance(owner, SetRef):
                dynamic_lists.set_item(lo, rows, Num(at), pair, node)

        def add() -> None:
            if is_looped_over(lo, owner):
                text = (
                    "adc: a key is added to a dict while a loop iterates over it; loop over a copy"
                )
                numbers.check(lo, Literal(False, BOOL), LimitError.__name__, text)
            dynamic_lists.append(lo, rows, pair, node)

        branch(lo, there, replace_value, add)


def remove(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST, default: Binding | None = None
) -> Binding:
    """Lower ``del owner[key]``, and what is like it; return what belonged to the key.

    Without a `default`, the key must be there.
    """
    _require_not_looped_over(lo, owner, node)
    there, read = looked_up(lo, owner, key, node)
    held = lo.held(owner)

    def taken() -> Binding:
        found = NONE if isinstance(owner, SetRef) else read()
        if isinstance(held, Growing):
            now = lo.held(owner)
            assert isinstance(now, Growing)
            at = keyed.position(lo, now, key, node)
            # The element is a copy: its row is another one's from now on.
            found = dynamic_lists.remove_at(lo, ListRef(owner.slot), now, Num(at), node, "del")
            assert isinstance(found, TupleOf)
            found = found.items[1]
        else:
            lo.hold(owner, lo.entries(owner).without(key_of(lo, key, node)))
        return found

    if isinstance(owner, SetRef):
        lo.note_removal(owner.slot)
    if default is None:
        with lo.at(node):
            require_key(lo, there, key)
        return taken()
    return evaluation.either(lo, there, taken, lambda: default, node)


def as_tables(lo: Lowerer, iterable: Binding, node: ast.AST) -> Binding:
    """Return an iterable with dicts as tables, where the path decides which keys there are."""
    match iterable:
        case Enumerate(inner=inner):
            return replace(iterable, inner=as_tables(lo, inner, node))
        case Zip(inners=inners):
            return Zip(tuple(as_tables(lo, inner, node) for inner in inners))
        case (DictRef() as ref) | DictView(ref=ref) if not isinstance(ref, SetRef):
            held = lo.held(ref)
            if isinstance(held, RecordOf) and not keyed.is_static(lo, ref):
                record = lo.entries(ref)
                whole = list_buffers.common(lo, [record])
                if whole is None:
                    return keyed.listed(lo, iterable, node)  # if it may be one
                made = list_buffers.grown(lo, record, whole, node)
                list_buffers.note_appended(lo, ref.slot, whole)
                lo.hold(ref, made)
    return iterable


def is_looped_over(lo: Lowerer, ref: DictRef) -> bool:
    """Whether a loop iterates over a dict or a set now, here or in a function that calls this."""
    frame: Frame | None = lo.frame
    while frame is not None:
        if any(name.startswith("$over") for name in holders(frame.env, ref.slot)):
            return True
        frame = frame.caller
    return False


def _require_not_looped_over(lo: Lowerer, ref: DictRef, node: ast.AST) -> None:
    """Refuse to take keys out of a dict that a loop is over: Python would mostly raise."""
    if is_looped_over(lo, ref):
        raise lo.unsupported(
            f"removing an element of {kind_of(ref)} while a loop iterates over it", node,
            "loop over a copy, such as `list(...)`",
        )  # fmt: skip


def require_key(lo: Lowerer, known: Operand, key: Binding) -> None:
    """Check that a dict has a key: a constant, or a number known only at run time."""
    operands: tuple[Operand, ...] = ()
    match key:
        case Num(operand=operand):
            argument, operands = raising.Argument("{}", number=True), (operand,)
        case TupleOf() if not keyed.is_known(key):
            operands = tuple(number.operand for number in leaves(key) if isinstance(number, Num))
            argument = raising.Argument(_template(key), number=True)
        case _:
            constant = key_of(lo, key, lo.frame.source.node)
            text = constant if isinstance(constant, str) else repr(constant)
            plain = isinstance(constant, tuple) and instances.is_literal(constant)
            argument = raising.Argument(numbers.escaped(text), number=plain)
    numbers.check(lo, known, "KeyError", raising.message_of([argument]), *operands)


def _template(key: Binding) -> str:
    """Return the text of a tuple of numbers."""
    if not isinstance(key, TupleOf):
        return "{}"
    return f"({', '.join(map(_template, key.items))}{',' * (len(key.items) == 1)})"


def value_of(
    lo: Lowerer, owner: DictRef, key: Binding, default: Binding | None, node: ast.AST, at: ast.AST
) -> Binding | None:
    """Return the value of a key, which stands `at`; None where it is to be a constant.

    Of a key that is known only at run time if all keys and values are numbers.
    """
    held = lo.held(owner)
    if not isinstance(held, RecordOf):
        return None
    record = lo.entries(owner)
    found = [keyed.present(item)[0] for item in record.items]
    values = [value for value in (*found, default) if value is not None]
    if not isinstance(key, Num) or isinstance(key.operand, Literal) or key.operand.type.kind == "c":
        return None
    if isinstance(owner, DefaultRef) or not all(isinstance(value, Num) for value in values):
        return None
    if not record.keys or not all(isinstance(each, int | float) for each in record.keys):
        return None
    if isinstance(lo.constant_needed(key, "a key", at), ConstantNeededError):
        return None
    with lo.at(node):
        here = [
            numbers.apply(
                lo,
                "and",
                there,
                numbers.compare_numbers(lo, "eq", key.operand, lo.num(each).operand, at),
            )
            for each, there in zip(record.keys, keyed.flags(record), strict=True)
        ]
        if default is None:
            known = functools.reduce(functools.partial(numbers.apply, lo, "or"), here)
            require_key(lo, known, key)
        return _selected(lo, values, here, node)


@operates(ListRef, DequeRef)
def combined(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower ``list + list`` and ``list * n``."""
    if isinstance(left, DequeRef) or isinstance(right, DequeRef):
        raise lo.unsupported("this operator on a deque", node, "make a list of it: `list(...)`")
    name = numbers.ROWS[kind]
    if name == "add" and isinstance(left, ListRef) and isinstance(right, ListRef):
        if any(isinstance(lo.held(x), Growing) for x in (left, right)):
            return dynamic_lists.added(lo, left, right, node)
        return lo.new_ref(ListRef, TupleOf(lo.contents(left) + lo.contents(right)))
    if name == "mul":
        if isinstance(right, ListRef):
            left, right = right, left
        if isinstance(left, ListRef) and isinstance(right, Num):
            if not isinstance(right.operand, Literal) and right.operand.type.kind in "iu":
                match lo.held(left):
                    case TupleOf(items=(Num() as element,)):
                        return dynamic_lists.repeated(lo, element, right.operand, node)
                error = lo.constant_needed(right, "the length of a list", node)
                if not isinstance(error, ConstantNeededError):
                    error.hint = "start with a number, `[0.0] * n`, or make an array: `np.zeros(n)`"
                raise error
            count = arguments.constant_int(lo, right, node, "the length of a list")
            if len(lo.contents(left)) * count > numbers.MAX_TUPLE:
                raise lo.unsupported(
                    f"a list of more than {numbers.MAX_TUPLE}", node, "use an array"
                )
            return lo.new_ref(ListRef, TupleOf(lo.contents(left) * count))
    raise TypeMismatchError(f"this operator on {kind_of(left)} and {kind_of(right)}", lo.span(node))


def key_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    """Return a key of a dict: a constant of the program."""
    dispatch.require_one([binding], node)
    match binding:
        case Num(operand=Literal(value=value)):
            return value
        case Static(value=value):
            outside.pin(lo, binding)
            try:
                hash(value)
            except TypeError:
                raise TypeMismatchError(
                    f"{kind_of(binding)} cannot be a key", lo.span(node)
                ) from None
            return value
        case TupleOf(items=items):
            return tuple(key_of(lo, item, node) for item in items)
        case Num():
            error = lo.constant_needed(binding, "a key", node)
            if isinstance(error, ConstantNeededError):
                raise error
        case ObjectRef():
            raise lo.unsupported(
                f"{kind_of(binding)} as a key, or in a set,", node,
                "use a list of objects, or give them numbers and use these",
            )  # fmt: skip
    raise PickedError("a key known only at run time is not supported", lo.span(node), _NO_TABLE)


def position(
    lo: Lowerer, items: Sequence[Binding], key: Binding, text: str, node: ast.AST
) -> int:  # fmt: skip
    """Return which of the elements of a list is changed; `text` is Python's error if none is."""
    k = arguments.constant_int(lo, key, node, "an index of a list that is changed")
    if not -len(items) <= k < len(items):
        numbers.check(lo, Literal(False, BOOL), "IndexError", text)
    return k % len(items)


# -- methods ---------------------------------------------------------------------------------------


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of a list, tuple or dict."""
    owner = bound.owner
    if isinstance(owner, DequeRef):
        return _deque_method(lo, owner, bound.name, args, kwargs, node)
    if isinstance(owner, ListRef) and bound.name == "sort" and not args:
        lo.hold(owner, lo.held(dispatch.apply(lo, Static(sorted), [owner], kwargs, node)))  # type: ignore[arg-type]  # a list
        return NONE
    if isinstance(owner, ListRef) and bound.name == "append" and len(args) == 1 and not kwargs:
        dynamic_lists.append(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and bound.name == "extend" and len(args) == 1 and not kwargs:
        dynamic_lists.extend(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and isinstance(held := lo.held(owner), Growing) and not kwargs:
        return dynamic_lists.method(lo, owner, held, bound.name, args, node)
    if isinstance(owner, ListRef | TupleOf):
        return _sequence_method(lo, owner, bound.name, args, kwargs, node)
    assert isinstance(owner, DictRef)
    return _dict_method(lo, owner, bound.name, args, kwargs, node)


def _deque_method(
    lo: Lowerer, owner: DequeRef, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a method of a deque by those of a list."""
    match name, args:
        case "append" | "appendleft", [value]:
            _add_to_deque(lo, owner, value, name == "append", node)
            return NONE
        case "extend" | "extendleft", [more]:
            items = sequences.known_elements(lo, more, node)
            if items is None:
                raise lo.unsupported(
                    f"`.{name}` of a deque by {kind_of(more)} of a length known only at run time",
                    node, "append the elements in a loop",
                )  # fmt: skip
            for item in items:
                _add_to_deque(lo, owner, item, name == "extend", node)
            return NONE
        case "popleft", []:
            held = lo.held(owner)
            if isinstance(held, TupleOf) and not held.items:
                numbers.check(lo, Literal(False, BOOL), "IndexError", "pop from an empty deque")
            name, args = "pop", [Num(integer(0))]
        case "pop", [_]:
            raise TypeMismatchError("deque.pop() takes no arguments", lo.span(node))
        case "copy", []:
            made = dispatch.apply(lo, Bound(ListRef(owner.slot), "copy"), [], {}, node)
            assert isinstance(made, ListRef)
            return replace(owner, slot=made.slot)
        case "rotate", [] | [_]:
            items = sequences.known_elements(lo, owner, node)
            by = arguments.constant_int(lo, args[0], node, "a rotation") if args else 1
            if items is None:
                raise lo.unsupported("`.rotate` of a deque of any length", node)
            k = -by % len(items) if items else 0
            lo.hold(owner, TupleOf((*items[k:], *items[:k])))
            return NONE
    return method(lo, Bound(ListRef(owner.slot), name), args, kwargs, node)


def deque(
    lo: Lowerer, args: Sequence[Binding], kwargs: Mapping[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``deque(iterable, maxlen)``."""
    given = arguments.match(lo, "iterable? maxlen?", list(args), dict(kwargs), node)
    size = given.get("maxlen")
    maxlen = None
    if size is not None and not arguments.is_none(size):
        maxlen = arguments.constant_int(lo, size, node, "the length of a deque")
    source = given.get("iterable")
    items: Sequence[Binding] | None = ()
    if source is not None:
        source = elementwise.materialised(lo, source, node)
        items = sequences.known_elements(lo, source, node)
    if items is not None:
        held: Binding = TupleOf(_kept(items, maxlen, True))
    elif maxlen is None and source is not None:
        listed = dynamic_lists.listed(lo, source, node)
        assert isinstance(listed, ListRef)
        held = lo.held(listed)
    else:
        raise lo.unsupported(
            f"a deque of `maxlen` of {kind_of(source) if source else 'nothing'} of a length known "
            "only at run time", node, "append the elements in a loop",
        )  # fmt: skip
    return lo.new_ref(lambda slot: DequeRef(slot, maxlen), held)


def _kept(items: Sequence[Binding], maxlen: int | None, at_end: bool) -> tuple[Binding, ...]:
    """Return the elements that a deque keeps where one was added, at the end or at the start."""
    if maxlen is None or len(items) <= maxlen:
        return tuple(items)
    return tuple(items[len(items) - maxlen :] if at_end else items[:maxlen])


def _add_to_deque(lo: Lowerer, ref: DequeRef, value: Binding, at_end: bool, node: ast.AST) -> None:
    """Lower ``deque.append(value)`` and ``deque.appendleft(value)``."""
    value = elementwise.materialised(lo, value, node)
    held = lo.held(ref)
    if at_end:
        dynamic_lists.append(lo, ref, value, node)
    elif isinstance(held, Growing):
        dynamic_lists.insert_first(lo, ref, held, value, node)
    else:
        assert isinstance(held, TupleOf)
        dynamic_lists.note(lo, ref, value)
        lo.hold(ref, TupleOf((value, *held.items)))
    held = lo.held(ref)
    if isinstance(held, TupleOf):
        lo.hold(ref, TupleOf(_kept(held.items, ref.maxlen, at_end)))
    elif ref.maxlen is not None:
        assert isinstance(held, Growing)
        full = numbers.apply(lo, "gt", held.length.operand, integer(ref.maxlen))

        def drop() -> None:
            now = lo.held(ref)
            assert isinstance(now, Growing)
            key = Num(integer(0 if at_end else -1))
            dynamic_lists.remove_at(lo, ref, now, key, node, "pop")

        branch(lo, full, drop, lambda: None)


def _place_of(
    lo: Lowerer, items: Sequence[Binding], value: Binding, problem: str, node: ast.AST
) -> Operand:
    """Return the index of the first element that is equal to a value, or raise `ValueError`."""
    result: Operand = integer(len(items))
    for k in reversed(range(len(items))):
        equal = comparisons.same_or_equal(lo, items[k], value, node)
        if isinstance(equal, Literal):
            result = integer(k) if equal.value else result
        else:
            result = numbers.select(lo, equal, integer(k), result)
    found = numbers.apply(lo, "lt", result, integer(len(items)))
    numbers.check(lo, found, "ValueError", problem)
    return result


def _without(lo: Lowerer, items: Sequence[Binding], place: Operand, node: ast.AST) -> list[Binding]:
    """Return the elements but for the one at an index."""
    if isinstance(place, Literal):
        return [item for k, item in enumerate(items) if k != place.value]
    found: list[Binding] = []
    for k in range(len(items) - 1):
        before, after = items[k], items[k + 1]
        later = numbers.apply(lo, "gt", place, integer(k))
        found.append(
            evaluation.either(lo, later, lambda b=before: b, lambda a=after: a, node)  # type: ignore[misc]
        )
    return found


def _sequence_method(
    lo: Lowerer, owner: ListRef | TupleOf, name: str, args: list[Binding],
    kwargs: dict[str, Binding], node: ast.Call,
) -> Binding:  # fmt: skip
    items = list(owner.items if isinstance(owner, TupleOf) else lo.contents(owner))
    given = [*args]
    if kwargs:
        raise lo.unsupported(f"`.{name}` with keywords", node)
    match name, given:
        case "index", [value]:
            return Num(_place_of(lo, items, value, "the value is not in the list", node))
        case "count", [value]:
            total: Binding = Num(integer(0))
            for element in items:
                equal = comparisons.same_or_equal(lo, element, value, node)
                total = operators.binary(lo, ast.Add, total, Num(equal), node)
            return total
        case "copy", []:
            return lo.new_ref(ListRef, TupleOf(tuple(items)))
    if isinstance(owner, TupleOf):
        raise lo.unsupported(f"`.{name}` of a tuple", node)
    outcome: Binding = NONE
    match name, given:
        case "append", [value]:
            items.append(value)
        case "insert", [at, value]:
            items.insert(arguments.constant_int(lo, at, node, "a position"), value)
        case "pop", [] | [_]:
            at = given[0] if given else Num(integer(-1))
            if not items:
                numbers.check(lo, Literal(False, BOOL), "IndexError", "pop from empty list")
            outcome = items.pop(position(lo, items, at, "pop index out of range", node))
        case "remove", [value]:
            place = _place_of(lo, items, value, "list.remove(x): x not in list", node)
            items = _without(lo, items, place, node)
        case "reverse", []:
            items.reverse()
        case "clear", []:
            items.clear()
        case _:
            raise lo.unsupported(f"`.{name}` of a list with these arguments", node)
    lo.hold(owner, TupleOf(tuple(items)))
    return outcome


def _dict_method(
    lo: Lowerer, owner: DictRef, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    match name, args:
        case "keys" | "values" | "items", []:
            return DictView(owner, name)
        case "get" | "pop" | "setdefault", [key, *default] if len(default) <= 1:
            if name == "get" and default:
                value = value_of(lo, owner, key, default[0], node, node)
                if value is not None:
                    return value
            if isinstance(owner, DefaultRef) and not owner.keeps and name == "setdefault":
                raise lo.unsupported(f"`.{name}` of {kind_of(owner)}", node)
            if name == "pop":
                return remove(lo, owner, key, node, default[0] if default else None)
            other = default[0] if default else NONE

            def added() -> Binding:
                if name == "setdefault":
                    put(lo, owner, key, other, node)
                return other

            there, read = looked_up(lo, owner, key, node)
            return evaluation.either(lo, there, read, added, node)
        case "update", [] | [DictRef()] if not isinstance(owner, DefaultRef) or owner.keeps:
            for other in args:
                update(lo, owner, other, node)
            for name_, given in kwargs.items():
                put(lo, owner, Static(name_), given, node)
            return NONE
        case "copy", []:
            return copied(lo, owner, node)
        case "clear", []:
            cleared(lo, owner, node)
            return NONE
    raise lo.unsupported(f"`.{name}` of {kind_of(owner)} with these arguments", node)


def cleared(lo: Lowerer, owner: DictRef, node: ast.AST) -> None:
    """Lower ``owner.clear()`` of a dict or a set."""
    _require_not_looped_over(lo, owner, node)
    held = lo.held(owner)
    if isinstance(held, Growing):
        dynamic_lists.method(lo, ListRef(owner.slot), held, "clear", [], node)
    else:
        lo.hold(owner, RecordOf((), ()))


def copied(lo: Lowerer, owner: DictRef, node: ast.AST) -> DictRef:
    """Return a new dict or set with the same items."""
    held = lo.held(owner)
    if isinstance(held, Growing):
        held = lo.held(dynamic_lists.copied(lo, held, node))
    like = DictRef(owner.slot) if isinstance(owner, VarsRef) else owner
    made = lo.new_ref(lambda slot: replace(like, slot=slot), held)
    list_buffers.inherit_appended(lo, made.slot, owner.slot)
    return made


def update(lo: Lowerer, owner: DictRef, other: Binding, node: ast.AST) -> None:
    """Lower ``owner.update(other)`` of dicts."""
    if isinstance(other, SetRef):
        raise TypeMismatchError("cannot convert a set to the items of a dict", lo.span(node))
    assert isinstance(other, DictRef)
    if isinstance(lo.held(other), Growing):
        call = classes.call_at(node)
        dispatch.apply(lo, Static(tables.update), [owner, other], {}, call)
        return
    more = lo.entries(other)
    for key, item in zip(more.keys, more.items, strict=True):
        value, there = keyed.present(item)
        assert value is not None  # or it would be no item
        add = functools.partial(put, lo, owner, static(key), value, node)
        branch(lo, there, add, lambda: None)


def static_slice(lo: Lowerer, node: ast.expr) -> slice:
    assert isinstance(node, ast.Slice)
    ends: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            ends.append(None)
            continue
        binding = evaluation.lower_filled(lo, part)
        if arguments.is_none(binding):
            ends.append(None)
            continue
        if not (isinstance(binding, Num) and isinstance(binding.operand, Literal)):
            # A tuple that an iterator of the library yields has a slice that nobody wrote.
            unwritten = hasattr(part, "adc_site")
            what = (
                "the length of a tuple" if unwritten else "a slice of a tuple or string with ends"
            )
            raise lo.constant_needed(binding, what, part)
        ends.append(int(binding.operand.value))
    return slice(*ends)


def element_of(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], key: Binding, node: ast.Subscript
) -> Binding:
    """Return an element of a tuple or list."""
    unrolling.take(lo, owner)
    if isinstance(key, Num) and key.operand.type.kind in "iub":
        if isinstance(key.operand, Literal):
            try:
                return items[int(key.operand.value)]
            except IndexError:
                _fail_perhaps(lo, owner)
                raise TypeMismatchError(
                    f"index {key.operand.value} is out of range for a tuple of {len(items)}",
                    lo.span(node),
                ) from None
        return _choose(lo, owner, items, key.operand, node)
    raise TypeMismatchError(f"indexing a tuple with {kind_of(key)}", lo.span(node))


def _fail_perhaps(lo: Lowerer, owner: Binding) -> None:
    """Emit Python's error for an index out of range on a path that need not be taken.

    The list may also be longer than the first attempt at a loop knows (``if k > 0: a[-2]``).
    """
    if lo.caught or lo.branches:
        numbers.check(lo, Literal(False, BOOL), "IndexError", dynamic_lists.out_of_range(owner))


def _choose(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], index: Operand, node: ast.Subscript
) -> Binding:
    """A tuple of numbers, or of tuples of these, indexed at run time: chains of selects."""
    if not items:
        _fail_perhaps(lo, owner)
    rows = _rows(lo, items)
    what = "indexing a list of lists by a number"
    if rows is not None and not unrolling.stackable_in(lo, owner) and lo.shared.admits_table(
        lo.span(node), what, _BY_NUMBER
    ):  # fmt: skip
        at = _place(lo, owner, items, index, node)
        return _row(lo, items, rows, at, node)
    if not items or not _are_alike(items):
        return _picked(lo, owner, items, index, node)
    at = _place(lo, owner, items, index, node)
    with lo.at(node):
        here = [lo.builder.apply("eq", at, integer(k)) for k in range(len(items) - 1)]
        return _selected(lo, items, here, node)


def _picked(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], index: Operand, node: ast.Subscript
) -> Binding:
    """Return one of several elements of any kind."""
    what = f"indexing {kind_of(owner)} of {_plural(items)} by a number"
    stackable = unrolling.stackable_in(lo, owner)
    whole = f"{what} known only at run time is not supported"
    many = not 0 < len(items) <= forms.MOST or any(map(forms.is_optional, items))
    if stackable or many or not lo.shared.picks or not lo.shared.admits_table(
        lo.span(node), what, _BY_NUMBER
    ):  # fmt: skip
        raise PickedError(whole, lo.span(node), _BY_NUMBER, stackable)
    kinds, places = _kinds(items)
    if len(kinds) == 1:
        return kinds[0]
    at = optional.renumbered(lo, _place(lo, owner, items, index, node), places)
    found = OneOf(tuple(kinds), at)
    if all(isinstance(item, Static) for item in kinds) or node is lo.undivided:
        return found
    raise SplitError(found, node)


def _place(
    lo: Lowerer, owner: Binding, items: Sequence[Binding], index: Operand, node: ast.AST
) -> Operand:
    """Return where an element is, by an index known only at run time."""
    with lo.at(node):
        at = lo.builder.apply("wrap", lo.convert(index, INT), integer(len(items)), hint="i")
        inside = lo.builder.apply("inside", at, integer(len(items)))
        lo.builder.check(inside, "IndexError", dynamic_lists.out_of_range(owner))
    return at


def _kinds(items: Sequence[Binding]) -> tuple[list[Binding], list[int]]:
    """Return elements without the constants and objects that are there twice, and their places."""
    keys = [shape_of(item) if isinstance(item, Static | Ref) else k for k, item in enumerate(items)]
    kinds = dict(zip(keys, items, strict=True))
    numbered = {key: k for k, key in enumerate(kinds)}
    return list(kinds.values()), [numbered[key] for key in keys]


def _plural(items: Sequence[Binding]) -> str:
    """Return what a list holds that are not all numbers."""
    for kind, word in ((TupleOf, "tuples"), (ObjectRef, "objects"), (DictRef, "dicts")):
        if items and all(isinstance(item, kind) for item in items):
            return word
    constant = all(isinstance(item, Static) and isinstance(item.value, str) for item in items)
    return "texts" if items and constant else "arrays"


def _are_alike(items: Sequence[Binding]) -> bool:
    """Whether elements are all numbers, or all tuples of as many elements that are."""
    if all(isinstance(item, Num) for item in items):
        return True
    tuples = [item.items for item in items if isinstance(item, TupleOf)]
    if len(tuples) < len(items) or len({len(each) for each in tuples}) > 1:
        return False
    return all(map(_are_alike, zip(*tuples, strict=True)))


def _selected(
    lo: Lowerer, items: Sequence[Binding], here: Sequence[Operand], node: ast.AST
) -> Binding:
    """Return the one for which `here` holds, the last one if it holds for none before."""
    result = items[-1]
    if isinstance(result, TupleOf):
        rows = [item.items for item in items if isinstance(item, TupleOf)]
        columns = zip(*rows, strict=True)
        return TupleOf(tuple(_selected(lo, column, here, node) for column in columns))
    for item, taken in reversed(list(zip(items[:-1], here, strict=False))):
        assert isinstance(item, Num)
        assert isinstance(result, Num)
        a, b = item.operand, result.operand
        if a.type != b.type:
            a, b, _ = numbers.promoted(lo, a, b, node)
        result = Num(numbers.select(lo, taken, a, b))
    return result
