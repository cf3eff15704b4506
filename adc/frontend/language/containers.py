"""Lists, tuples and deques: their methods and operators, and their elements.

Their length is known at compile time (`dynamic_lists` has those whose length is not); their
elements are ordinary bindings. Lists, dicts and objects are mutable and may have several names, so
a name is bound to a *slot* of the lowering state, and the slot holds the current contents
(`Lowerer.held`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.frontend.control import evaluation, forms
from adc.frontend.control.branches import branch
from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    DequeRef,
    DictRef,
    Growing,
    ListRef,
    Num,
    ObjectRef,
    OneOf,
    Pooled,
    Ref,
    Static,
    TupleOf,
)
from adc.frontend.core.dispatch import SplitError, operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import ConstantNeededError, PickedError
from adc.frontend.core.structure import shape_of
from adc.frontend.language import dynamic_lists, unrolling
from adc.frontend.values import (
    arguments,
    comparisons,
    elementwise,
    operators,
    optional,
    sequences,
)
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, INT
from adc.library.standard import lists

_OF_ARRAYS = ("add", "sub", "mul", "truediv", "pow")
_BY_NUMBER = "loop over the list itself, or make one array of it"


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
            if right.operand.type.kind not in "iub":
                raise TypeMismatchError(
                    f"repeating a list by {kind_of(right)}", lo.span(node),
                    "use an integer, or `np.array(...)` of the list for products",
                )  # fmt: skip
            if isinstance(lo.held(left), Growing):
                fn = Static(lists.repeated)
                return dispatch.apply(lo, fn, [left, right], {}, classes.call_at(node))
            if not isinstance(right.operand, Literal) and right.operand.type.kind in "iu":
                match lo.held(left):
                    case TupleOf(items=(Num() | Static(value=None) as element,)):
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


def position(
    lo: Lowerer, items: Sequence[Binding], key: Binding, text: str, node: ast.AST
) -> Operand:  # fmt: skip
    """Return which of the elements of a list is changed; `text` is Python's error if none is."""
    if items and lo.shared.picks and is_varying(key):
        return place(lo, items, key, text, node)
    k = arguments.constant_int(lo, key, node, "an index of a list that is changed")
    if not -len(items) <= k < len(items):
        numbers.check(lo, Literal(False, BOOL), "IndexError", text)
    return integer(k % len(items))


def is_varying(key: Binding) -> bool:
    """Whether an index is an integer known only at run time."""
    if not isinstance(key, Num) or isinstance(key.operand, Literal):
        return False
    return key.operand.type.kind in "iu"


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of a list, tuple or deque."""
    owner = bound.owner
    if isinstance(owner, DequeRef):
        return _deque_method(lo, owner, bound.name, args, kwargs, node)
    if isinstance(owner, ListRef) and bound.name == "sort" and not args:
        lo.hold(owner, lo.held(dispatch.apply(lo, Static(sorted), [owner], kwargs, node)))  # type: ignore[arg-type]  # a list
        return NONE
    if isinstance(owner, ListRef) and bound.name == "append" and len(args) == 1 and not kwargs:
        with outside.appending(lo, owner):
            dynamic_lists.append(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and bound.name == "extend" and len(args) == 1 and not kwargs:
        with outside.appending(lo, owner):
            dynamic_lists.extend(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and isinstance(held := lo.held(owner), Growing) and not kwargs:
        return dynamic_lists.method(lo, owner, held, bound.name, args, node)
    assert isinstance(owner, ListRef | TupleOf)
    return _sequence_method(lo, owner, bound.name, args, kwargs, node)


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
        dynamic_lists.insert_first(lo, ref, value, node)
    else:
        assert isinstance(held, TupleOf)
        list_buffers.note(lo, ref, value)
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


def without(lo: Lowerer, items: Sequence[Binding], at: Operand, node: ast.AST) -> list[Binding]:
    """Return the elements but for the one at an index."""
    if isinstance(at, Literal):
        return [item for k, item in enumerate(items) if k != at.value]
    found: list[Binding] = []
    for k in range(len(items) - 1):
        later = numbers.apply(lo, "gt", at, integer(k))
        found.append(evaluation.one_of_two(lo, later, items[k], items[k + 1], node))
    return found


def _with_inserted(
    lo: Lowerer, items: list[Binding], key: Binding, value: Binding, node: ast.AST
) -> list[Binding]:
    """Return the elements with another one before that at an index."""
    if not (lo.shared.picks and is_varying(key)):
        k = arguments.constant_int(lo, key, node, "a position")
        return [*items[:k], value, *items[k:]]
    assert isinstance(key, Num)
    with lo.at(node):
        index, size = lo.convert(key.operand, INT), integer(len(items))
        negative = numbers.apply(lo, "lt", index, integer(0))
        at = numbers.select(lo, negative, numbers.plus(lo, index, size), index)
    found: list[Binding] = []
    for k in range(len(items) + 1):
        item = value
        if k > 0:
            before = numbers.apply(lo, "lt", at, integer(k))
            item = evaluation.one_of_two(lo, before, items[k - 1], item, node)
        if k < len(items):
            later = numbers.apply(lo, "gt", at, integer(k))
            item = evaluation.one_of_two(lo, later, items[k], item, node)
        found.append(item)
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
            value = elementwise.materialised(lo, value, node)
            list_buffers.note(lo, owner, value)
            items = _with_inserted(lo, items, at, value, node)
        case "pop", [] | [_]:
            at = given[0] if given else Num(integer(-1))
            if not items:
                numbers.check(lo, Literal(False, BOOL), "IndexError", "pop from empty list")
            k = position(lo, items, at, "pop index out of range", node)
            outcome = element_of(lo, owner, tuple(items), Num(k), node)
            items = without(lo, items, k, node)
        case "remove", [value]:
            k = _place_of(lo, items, value, "list.remove(x): x not in list", node)
            items = without(lo, items, k, node)
        case "reverse", []:
            items.reverse()
        case "clear", []:
            items.clear()
        case _:
            raise lo.unsupported(f"`.{name}` of a list with these arguments", node)
    lo.hold(owner, TupleOf(tuple(items)))
    return outcome


def static_slice(lo: Lowerer, node: ast.expr) -> slice:
    assert isinstance(node, ast.Slice)
    ends: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            ends.append(None)
            continue
        binding = outside.number_in(lo, evaluation.lower_filled(lo, part))
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
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], key: Binding, node: ast.AST
) -> Binding:
    """Return an element of a tuple or list."""
    unrolling.take(lo, owner)
    key = outside.number_in(lo, key)
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
        return _choose(lo, owner, items, key, node)
    kind = "list" if isinstance(owner, ListRef) else "tuple"
    raise TypeMismatchError(f"indexing a {kind} with {kind_of(key)}", lo.span(node))


def _fail_perhaps(lo: Lowerer, owner: Binding) -> None:
    """Emit Python's error for an index out of range on a path that need not be taken.

    The list may also be longer than the first attempt at a loop knows (``if k > 0: a[-2]``).
    """
    if lo.caught or lo.branches:
        numbers.check(lo, Literal(False, BOOL), "IndexError", dynamic_lists.out_of_range(owner))


def _choose(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], key: Num, node: ast.AST
) -> Binding:
    """A tuple of numbers, or of tuples of these, indexed at run time: chains of selects."""
    if not items:
        _fail_perhaps(lo, owner)
    text = dynamic_lists.out_of_range(owner)
    if isinstance(owner, ListRef) and (held := dynamic_lists.as_buffers(lo, owner, node)):
        return dynamic_lists.item(lo, owner, held, key, node)
    if any(isinstance(lo.frame.env.get(ref.slot), Pooled) for ref in items if isinstance(ref, Ref)):
        element = list_buffers.common(lo, [TupleOf(items)])
        if element is not None:
            at = place(lo, items, key, text, node)
            return lo.element(list_buffers.converted(lo, items, element, node), at, node)
    rows = rows_of(lo, items)
    what = "indexing a list of lists by a number"
    if rows is not None and not unrolling.stackable_in(lo, owner) and lo.shared.admits_table(
        lo.span(node), what, _BY_NUMBER
    ):  # fmt: skip
        at = place(lo, items, key, text, node)
        return row_at(lo, items, rows, at, node)
    if not items or not _are_alike(items):
        return _picked(lo, owner, items, key, node)
    at = place(lo, items, key, text, node)
    with lo.at(node):
        here = [lo.builder.apply("eq", at, integer(k)) for k in range(len(items) - 1)]
        return selected(lo, items, here, node)


def _picked(
    lo: Lowerer, owner: Binding, items: tuple[Binding, ...], key: Num, node: ast.AST
) -> Binding:
    """Return one of several elements of any kind."""
    what = f"indexing {kind_of(owner)} of {_plural(items)} by a number"
    stackable = unrolling.stackable_in(lo, owner)
    whole = f"{what} known only at run time is not supported"
    many = not 0 < len(items) <= forms.MOST or any(map(forms.is_optional, items))
    if stackable or many or not lo.shared.picks or not lo.shared.admits_table(
        lo.span(node), what, _BY_NUMBER
    ):  # fmt: skip
        lo.want_pool(*(item for item in items if isinstance(item, Ref)))
        raise PickedError(whole, lo.span(node), _BY_NUMBER, stackable)
    rows, numbered = zip(*map(forms.items_of, items), strict=True)
    kinds, places = _kinds(rows)
    at = place(lo, items, key, dynamic_lists.out_of_range(owner), node)
    found: Binding
    if any(isinstance(item, OneOf) for item in items):
        which = [
            Num(optional.renumbered(lo, number, row))
            for number, row in zip(numbered, places, strict=True)
        ]
        here = [lo.builder.apply("eq", at, integer(k)) for k in range(len(items) - 1)]
        found = selected(lo, which, here, node)
    else:
        found = Num(optional.renumbered(lo, at, [k for (k,) in places]))
    if len(kinds) == 1:
        return kinds[0]
    assert isinstance(found, Num)
    one = OneOf(tuple(kinds), found.operand)
    if all(isinstance(item, Static) for item in kinds) or node is lo.undivided:
        return one
    raise SplitError(one, node)


def place(lo: Lowerer, items: Sequence[Binding], key: Binding, text: str, node: ast.AST) -> Operand:
    """Return where an element is, by an index known only at run time."""
    assert isinstance(key, Num)
    with lo.at(node):
        index = lo.convert(key.operand, INT)
        at = lo.builder.apply("wrap", index, integer(len(items)), hint="i")
        inside = lo.builder.apply("inside", at, integer(len(items)))
        lo.builder.check(inside, "IndexError", text)
    return at


def _kinds(items: Sequence[Sequence[Binding]]) -> tuple[list[Binding], list[list[int]]]:
    """Return what elements may be, each once, and the numbers of what each may be among these.

    Constants and objects that are there twice are one.
    """
    kinds: dict[object, Binding] = {}
    places: list[list[int]] = []
    for row in items:
        keys = [shape_of(item) if isinstance(item, Static | Ref) else object() for item in row]
        kinds |= {key: item for key, item in zip(keys, row, strict=True) if key not in kinds}
        places.append([list(kinds).index(key) for key in keys])
    return list(kinds.values()), places


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


def selected(
    lo: Lowerer, items: Sequence[Binding], here: Sequence[Operand], node: ast.AST
) -> Binding:
    """Return the one for which `here` holds, the last one if it holds for none before."""
    result = items[-1]
    if isinstance(result, TupleOf):
        rows = [item.items for item in items if isinstance(item, TupleOf)]
        columns = zip(*rows, strict=True)
        return TupleOf(tuple(selected(lo, column, here, node) for column in columns))
    for item, taken in reversed(list(zip(items[:-1], here, strict=False))):
        assert isinstance(item, Num)
        assert isinstance(result, Num)
        a, b = item.operand, result.operand
        if a.type != b.type:
            a, b, _ = numbers.promoted(lo, a, b, node)
        result = Num(numbers.select(lo, taken, a, b))
    return result


def rows_of(lo: Lowerer, items: Sequence[Binding]) -> Growing | None:
    """Return the elements of lists, one list after the other, if they are alike; else None.

    They are not there yet: this says what they are.
    """
    held = [lo.held(row) if type(row) is ListRef else NONE for row in items]
    if not held or not all(isinstance(each, TupleOf) for each in held):
        return None
    element = list_buffers.common(lo, held)
    if element is None or list_elements.has_arrays(element):
        return None
    return Growing((), Num(integer(0)), element)


def row_at(
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
        selected(lo, [Num(integer(end)) for end in each], here, node)
        for each in ([0, *ends[:-1]], ends)
    )
    assert isinstance(start, Num)
    assert isinstance(stop, Num)
    part = dynamic_lists.part_of(lo, whole, start.operand, stop.operand, node)
    made = lo.new_ref(ListRef, part)
    lo.anew.add(made.slot)
    lo.suspect(made.slot, [ref.slot for ref in refs])
    return made
