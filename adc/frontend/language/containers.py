"""Lists, dicts and tuples, and their methods and operators; deques.

Their structure (length, keys, attributes) is known at compile time; their elements are ordinary
bindings. Lists, dicts and objects are mutable and may have several names, so a name is bound to a
*slot* of the lowering state, and the slot holds the current contents (`Lowerer.held`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.control import evaluation
from adc.frontend.control.control import branch
from adc.frontend.core import dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    DefaultRef,
    DequeRef,
    DictRef,
    DictView,
    Growing,
    ListRef,
    Num,
    RecordOf,
    Static,
    TupleOf,
    kind_of,
    static,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import ConstantNeededError, PickedError
from adc.frontend.language import dynamic_lists, unrolling
from adc.frontend.values import arguments, comparisons, elementwise, operators, sequences
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.text import raising
from adc.ir.types import BOOL, INT


def item_of_dict(lo: Lowerer, owner: DictRef, key: Any, node: ast.AST) -> Binding:
    """Return the value of a key, or what a `defaultdict` has for one that it does not have."""
    found = lo.record(owner).get(key)
    if found is not None:
        return found
    if not isinstance(owner, DefaultRef) or owner.factory == NONE:
        require_key(lo, Literal(False, BOOL), key)
    assert isinstance(owner, DefaultRef)
    call = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), node)
    made = dispatch.apply(lo, owner.factory, [], {}, call)
    made = elementwise.materialised(lo, made, node)
    if owner.keeps:
        lo.hold(owner, lo.record(owner).with_item(key, made))
    return made


def require_key(lo: Lowerer, known: Operand, key: Any) -> None:
    """Check that a dict has a key: a constant, or a number known only at run time."""
    operands: tuple[Operand, ...] = ()
    if isinstance(key, int | float):
        key = lo.num(key)
    if isinstance(key, Num):
        argument, operands = raising.Argument("{}", number=True), (key.operand,)
    else:
        text = key if isinstance(key, str) else repr(key)
        argument = raising.Argument(numbers.escaped(text))
    numbers.check(lo, known, "KeyError", raising.message_of([argument]), *operands)


def value_of(
    lo: Lowerer, owner: DictRef, key: Binding, default: Binding | None, node: ast.AST, at: ast.AST
) -> Binding | None:
    """Return the value of a key, which stands `at`; None where it is to be a constant.

    Of a key that is known only at run time if all keys and values are numbers.
    """
    record = lo.record(owner)
    values = (*record.items, *(() if default is None else (default,)))
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
            numbers.compare_numbers(lo, "eq", key.operand, lo.num(each).operand, at)
            for each in record.keys
        ]
        if default is None:
            known = functools.reduce(functools.partial(numbers.apply, lo, "or"), here)
            require_key(lo, known, key)
        return _selected(lo, list(values), here, node)


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
    raise PickedError(
        "a key known only at run time is not supported", lo.span(node),
        "use an array indexed by the number",
    )  # fmt: skip


def position(lo: Lowerer, items: Sequence[Binding], key: Binding, node: ast.AST) -> int:
    k = arguments.constant_int(lo, key, node, "an index of a list that is changed")
    if not -len(items) <= k < len(items):
        numbers.check(lo, Literal(False, BOOL), "IndexError", "list assignment index out of range")
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
            result: Operand = integer(len(items))
            for k in reversed(range(len(items))):
                equal = comparisons.same_or_equal(lo, items[k], value, node)
                if isinstance(equal, Literal):
                    result = integer(k) if equal.value else result
                else:
                    result = numbers.select(lo, equal, integer(k), result)
            found = numbers.apply(lo, "lt", result, integer(len(items)))
            numbers.check(lo, found, "ValueError", "the value is not in the list")
            return Num(result)
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
            outcome = items.pop(position(lo, items, at, node))
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
    record = lo.record(owner)
    match name, args:
        case "keys", []:
            return TupleOf(tuple(static(key) for key in record.keys))
        case "values" | "items", []:
            return DictView(owner, name)
        case "get" | "pop" | "setdefault", [key, *default] if len(default) <= 1:
            if name == "get" and default:
                value = value_of(lo, owner, key, default[0], node, node)
                if value is not None:
                    return value
            wanted = key_of(lo, key, node)
            found = record.get(wanted)
            if isinstance(owner, DefaultRef) and not owner.keeps and name == "setdefault":
                raise lo.unsupported(f"`.{name}` of {kind_of(owner)}", node)
            if name == "pop" and found is not None:
                lo.hold(owner, record.without(wanted))
            if found is None and name == "setdefault":
                found = default[0] if default else NONE
                lo.hold(owner, record.with_item(wanted, found))
            if found is None and name == "pop" and not default:
                require_key(lo, Literal(False, BOOL), wanted)
            return found if found is not None else default[0] if default else NONE
        case "update", [] | [DictRef()] if not isinstance(owner, DefaultRef) or owner.keeps:
            for other in args:
                assert isinstance(other, DictRef)
                record = record.updated(lo.record(other))
            for name_, given in kwargs.items():
                record = record.with_item(name_, given)
            lo.hold(owner, record)
            return NONE
        case "copy", []:
            return lo.new_ref(lambda slot: replace(owner, slot=slot), record)
        case "clear", []:
            lo.hold(owner, RecordOf((), ()))
            return NONE
    raise lo.unsupported(f"`.{name}` of a dict with these arguments", node)


def static_slice(lo: Lowerer, node: ast.expr) -> slice:
    assert isinstance(node, ast.Slice)
    ends: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            ends.append(None)
            continue
        binding = evaluation.lower_expr(lo, part)
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
        kind = "list" if isinstance(owner, ListRef) else "tuple"
        numbers.check(lo, Literal(False, BOOL), "IndexError", f"{kind} index out of range")


def _choose(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], index: Operand, node: ast.Subscript
) -> Binding:
    """A tuple of numbers indexed at run time: a chain of selects."""
    if not items:
        _fail_perhaps(lo, owner)
    if not items or not all(isinstance(item, Num) for item in items):
        raise PickedError(
            f"indexing {kind_of(owner)} of arrays by a number known only at run time is not "
            "supported", lo.span(node), "loop over the list itself, or make one array of it",
            unrolling.stackable_in(lo, owner),
        )  # fmt: skip
    with lo.at(node):
        wrapped = lo.builder.apply("wrap", lo.convert(index, INT), integer(len(items)), hint="i")
        inside = lo.builder.apply("inside", wrapped, integer(len(items)))
        kind = "list" if isinstance(owner, ListRef) else "tuple"
        lo.builder.check(inside, "IndexError", f"{kind} index out of range")
        here = [lo.builder.apply("eq", wrapped, integer(k)) for k in range(len(items) - 1)]
        return _selected(lo, items, here, node)


def _selected(
    lo: Lowerer, items: Sequence[Binding], here: Sequence[Operand], node: ast.AST
) -> Binding:
    """Return the number for which `here` holds, the last one if it holds for none before."""
    result = items[-1]
    for item, taken in reversed(list(zip(items[:-1], here, strict=False))):
        assert isinstance(item, Num)
        assert isinstance(result, Num)
        a, b = item.operand, result.operand
        if a.type != b.type:
            a, b, _ = numbers.promoted(lo, a, b, node)
        result = Num(numbers.select(lo, taken, a, b))
    return result
