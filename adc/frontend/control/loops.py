"""Loops: variables that an iteration may change are loop-carried, and types join to a fixed point.

A loop is lowered by attempts. Each attempt records its findings (a wider type, a name bound to
another array, a suspected alias) in a memo, and the next attempt starts from it. The memo outlives
the attempts of enclosing loops, so nesting does not multiply the number of attempts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adc.frontend.control import forms
from adc.frontend.control.control import (
    FALLS,
    RESULT,
    contents_of,
    is_of_exit,
    joinable,
    line_of,
    rank_of,
    set_exit,
    unread,
)
from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Given,
    Growing,
    Late,
    Maybe,
    NamedTuple,
    Num,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    kind_of,
    one_class,
    one_type,
    related,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import require_bound
from adc.frontend.core.state import Dead, State
from adc.frontend.core.structure import (
    CELL,
    holders,
    is_cell,
    is_slot,
    leaves,
    rebuild,
    refs,
    shape_of,
)
from adc.frontend.syntax import scope
from adc.frontend.values import list_buffers
from adc.ir.builder import integer
from adc.ir.core import Block, For, Literal, Operand, Stmt, Value, While
from adc.ir.errors import TypeUnstableError
from adc.ir.types import BOOL, INT, Array, Scalar, join
from adc.ir.verifier import alike
from adc.ir.walk import substitute_block


@dataclass
class LoopMemo:
    """The findings of earlier attempts at a loop, from which later attempts start."""

    types: dict[tuple[str, int], Scalar | Array] = field(default_factory=dict)
    fresh: set[tuple[str, int]] = field(default_factory=set)
    sizes: set[tuple[str, int]] = field(default_factory=set)
    alias: set[frozenset[tuple[str, int] | ArrayObject]] = field(default_factory=set)
    stale: dict[tuple[str, int] | ArrayObject | str, str] = field(default_factory=dict)
    late: dict[str, Binding] = field(default_factory=dict)
    # Names that have another kind where the loop is left early: they cannot be read after it.
    dropped: set[str] = field(default_factory=set)
    # Names of which the kind depends on the iteration, and why: they cannot be read before an
    # iteration has bound them.
    unstable: dict[str, str] = field(default_factory=dict)
    # Names that an iteration leaves in another form, and in which; what those hold that are lists
    # or None; those it binds to new lists.
    forms: dict[str, Binding] = field(default_factory=dict)
    contents: dict[str, Binding] = field(default_factory=dict)
    relisted: set[str] = field(default_factory=set)
    # Lists, dicts and objects that iterations change; lists that they append to, and what.
    slots: set[str] = field(default_factory=set)
    growing: dict[str, Binding] = field(default_factory=dict)
    # The arrays made for these before the loop: attempts must agree on what `alias` is about.
    made: dict[tuple[str, int], ArrayObject] = field(default_factory=dict)
    # Rebound names that may denote elements of a list (`ArrayObject.kept`).
    kept: set[tuple[str, int]] = field(default_factory=set)
    # Whether a copy of the body for each iteration is another way to lower it; whether it may be
    # left by `break`.
    unrolls: bool = False
    breaks: bool = False
    # Whether there is a way to lower it in which what is None at first needs no flag.
    avoids_none: bool = False
    # Attributes from outside that they change.
    opened: set[tuple[str, Any]] = field(default_factory=set)

    # By name: whether it is a list of any length, and which of its parts are arrays.
    parts: dict[str, tuple[bool, ...]] = field(default_factory=dict)

    def see(self, name: str, start: Binding) -> None:
        """Forget what is known of the parts of a name if it has others in this attempt.

        An attempt at a loop around this one may have made a list of any length of it.
        """
        parts = (
            isinstance(start, Growing),
            *(isinstance(leaf, ArrayRef) for leaf in leaves(start)),
        )
        if self.parts.setdefault(name, parts) == parts:
            return
        self.parts[name] = parts
        for key in [key for key in self.types if key[0] == name]:
            del self.types[key]
        self.fresh -= {key for key in self.fresh if key[0] == name}
        self.sizes -= {key for key in self.sizes if key[0] == name}


class RestructuredError(TypeUnstableError):
    """Iterations change the structure of a container."""


class FirstError(RestructuredError):
    """What is None or a number before the loop is something else, or an array, afterwards."""


def becomes_array(start: Binding, end: Binding) -> bool:
    """Whether something in `start` is a number, and an array in `end`.

    So is ``total = 0.0`` after ``total = total + row``.
    """
    return any(
        isinstance(old, Num) and isinstance(new, ArrayRef) for old, new in _pairs(start, end)
    )


def _is_filled(start: Binding, end: Binding) -> bool:
    """Whether something in `start` is absent and something else in `end`, or becomes an array."""
    filled = any(forms.is_absent(old) and new != old for old, new in _pairs(start, end))
    return filled or becomes_array(start, end)


def _pairs(start: Binding, end: Binding) -> Iterator[tuple[Binding, Binding]]:
    """Yield what two bindings hold at the same places."""
    match start, end:
        case _, Unbound() | Unstable() | Maybe():
            return
        case RecordOf(keys=keys), RecordOf() if keys == end.keys:
            parts = zip(start.items, end.items, strict=True)
        case TupleOf(items=items), TupleOf() if len(items) == len(end.items):
            parts = zip(items, end.items, strict=True)
        case NamedTuple(cls=cls, record=record), NamedTuple() if cls is end.cls:
            parts = zip((record,), (end.record,), strict=True)
        case _:
            yield start, end
            return
    for old, new in parts:
        yield from _pairs(old, new)


class _Retry(Exception):
    """The loop's assumptions were too narrow; its memo has wider ones."""


@dataclass
class _Carried:
    """One loop-carried value: its initial value, its parameter, and its next value."""

    init: Operand
    param: Value
    key: tuple[str, int] | ArrayObject
    next: Operand | None = None
    result: Value | None = None


Body = Callable[[], Operand]  # lowers one iteration; returns whether to run again


def lower_loop(
    lo: Lowerer,
    node: ast.AST,
    names: Sequence[str],
    body: Callable[[Value | None], Operand | None],
    *,
    trips: Operand | None,
    definite: bool,
    unrolls: bool = False,
    peels: bool = False,
    sure: Collection[str] = (),
) -> None:
    """Lower a loop.

    Parameters
    ----------
    names : sequence of str
        Names that the body may bind.
    body : callable
        Lowers one iteration, given the counter (None for a `while`); returns whether to run again
        (None for a `for`).
    trips : Operand or None
        The number of iterations of a `for`.
    definite : bool
        Whether at least one iteration runs, so that names bound in it are bound after it.
    unrolls : bool
        Whether the caller can do without a loop, if this raises a `RestructuredError`.
    peels : bool
        Whether it can lower the first iteration apart, if this raises a `FirstError`.
    sure : collection of str
        Names that are bound after it even if no iteration runs: by the test of a `while`.
    """
    breaks = isinstance(node, ast.For | ast.While) and scope.has_break(node.body)
    key = (lo.frame.path, id(node))
    memo = lo.memo.setdefault(
        key, LoopMemo(unrolls=unrolls, breaks=breaks, avoids_none=unrolls or peels)
    )
    assert isinstance(memo, LoopMemo)
    before = lo.snapshot()
    names_before, mark = lo.save_names(), len(lo.builder.stmts)
    emitted = lo.builder.emitted
    for attempt in range(40):
        if attempt:
            # What is lowered again does not make the program longer.
            lo.builder.emitted = emitted
            lo.restore(before)
            lo.reset_names(names_before)
            del lo.builder.stmts[mark:]
        lo.inlines += 1
        try:
            entry, slots = _entered(lo, memo, node)
            always = {*names, *slots} if definite else {*sure, RESULT}
            _attempt(lo, entry, memo, [*names, *slots], body, trips, definite, always)
            return
        except _Retry:
            if attempt == 39:
                raise TypeUnstableError(
                    "the types of this loop's variables do not converge", lo.span(node)
                ) from None
        finally:
            lo.inlines -= 1


def _entered(lo: Lowerer, memo: LoopMemo, node: ast.AST) -> tuple[State, list[str]]:
    """Convert names and lists to the form that iterations give them; return the changes."""
    env = lo.frame.env
    for slot, start in lo.initial.items():
        env.setdefault(slot, start)
    slots = {slot for slot in memo.slots if slot in env}
    for name, why in memo.unstable.items():
        env[name] = Unstable(why)
    for name, like in sorted(memo.forms.items()):
        if name in env:
            absent = forms.is_absent(env[name])
            if absent and isinstance(like, Maybe) and isinstance(like.inner, Ref):
                slot = lo.new_slot()
                env[slot] = _all_stable(lo, memo, slot, forms.unread(lo, memo.contents[name]), ())
                env[name] = Maybe(replace(like.inner, slot=slot), Literal(False, BOOL), like.absent)
                slots.add(slot)
            _convert(lo, memo, name, like)
    for name in sorted(memo.relisted):
        held = env.get(name)
        old = held.inner if isinstance(held, Maybe) else held
        if isinstance(old, Ref) and old.slot not in env:
            # It was made in a loop before, and what it held then is not known here.
            env[name] = Unbound("an earlier loop may not have run")
        elif isinstance(old, Ref):
            others = [repr(n) for n in sorted(holders(env, old.slot)) if n != name]
            if others or old.slot in lo.elsewhere:
                raise TypeUnstableError(
                    f"{name!r} is bound to a new {kind_of(old)[2:]} in each iteration, and the "
                    f"one before the loop is also {', '.join(others) or 'outside the function'}",
                    lo.builder.loc, "make one of them a copy",
                )  # fmt: skip
            slot = lo.new_slot()
            env[slot] = lo.held(old)
            if slot in memo.forms:
                _convert(lo, memo, slot, memo.forms[slot])
            own = replace(old, slot=slot)
            env[name] = replace(held, inner=own) if isinstance(held, Maybe) else own
            lo.lend(slot, old)
            slots.add(slot)
    for slot, key in memo.opened:
        record = env[slot]
        assert isinstance(record, RecordOf)
        env[slot] = record.with_item(key, outside.opened(lo, record.items[record.keys.index(key)]))
    for slot, element in memo.growing.items():
        held = env.get(slot)
        if isinstance(held, TupleOf | Growing):
            whole = list_buffers.grown(lo, held, element, node)
            env[slot] = whole
            if isinstance(whole, Growing):
                kept = held.buffers if isinstance(held, Growing) else ()
                buffers = tuple(
                    buffer if buffer in kept else _stable(lo, memo, (slot, k), buffer)
                    for k, buffer in enumerate(whole.buffers)
                )
                env[slot] = replace(whole, buffers=buffers)
    return lo.snapshot(), sorted(slots)


def _convert(lo: Lowerer, memo: LoopMemo, name: str, like: Binding) -> None:
    """Give what a name is bound to the form that iterations give it."""
    known = set(lo.versions)
    optional = forms.made_optional(lo, like, lo.frame.env[name], known=False)
    found = forms.conformed(lo, like, optional, name)
    lo.frame.env[name] = _all_stable(lo, memo, name, found, known)


def _all_stable(
    lo: Lowerer, memo: LoopMemo, name: str, found: Binding, known: Collection[ArrayObject]
) -> Binding:
    """Return a binding with the arrays made for it before the loop as `_stable` has them."""
    again = (
        _stable(lo, memo, (name, k), leaf)
        if isinstance(leaf, ArrayRef) and leaf.object not in known
        else leaf
        for k, leaf in enumerate(leaves(found))
    )
    return rebuild(found, again)


def _stable(lo: Lowerer, memo: LoopMemo, key: tuple[str, int], ref: ArrayRef) -> ArrayRef:
    """Return an array made before the loop as the object that an earlier attempt made for it."""
    obj = memo.made.setdefault(key, ref.object)
    if obj in lo.versions or obj.type != ref.object.type:
        return ref
    lo.versions[obj], lo.dims[obj] = lo.versions.pop(ref.object), lo.dims[ref.object]
    for other in ref.object.alias:
        suspect(obj, other)
    return replace(ref, object=obj)


def _attempt(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    names: Sequence[str],
    body: Callable[[Value | None], Operand | None],
    trips: Operand | None,
    definite: bool,
    sure: Collection[str],
) -> None:
    loc = lo.builder.loc
    suspects = {obj: set(obj.alias) for obj in before.versions}
    carried: list[_Carried] = []
    fresh: dict[tuple[str, int], ArrayRef] = {}
    bound = [
        n for n in names if not isinstance(before.env.get(n, Unbound()), Unbound | Unstable | Late)
    ]
    with lo.builder.block() as opening:
        for name in bound:
            memo.see(name, before.env[name])
            found: list[Num | ArrayRef] = []
            for k, leaf in enumerate(leaves(before.env[name])):
                key = (name, k)
                if isinstance(leaf, Num):
                    ty = leaf.operand.type
                    assert isinstance(ty, Scalar)
                    wide = memo.types.get(key, ty)
                    assert isinstance(wide, Scalar)
                    ty = join(ty, wide)
                    item = _Carried(
                        lo.exact(leaf.operand, ty), lo.builder.value(_hint(name), ty), key
                    )
                    carried.append(item)
                    found.append(Num(item.param))
                elif key in memo.fresh:
                    obj = leaf.object
                    array = memo.types.get(key, obj.type)
                    assert isinstance(array, Array)
                    item = _Carried(before.versions[obj], lo.builder.value(_hint(name), array), key)
                    carried.append(item)
                    # Slots are counted from "$h" on; named after one, values would count as well,
                    # and what the memos of inner loops say of a slot would be of another one.
                    called = obj.name if is_slot(name) else name
                    kept = obj.kept or key in memo.kept
                    found.append(ArrayRef(ArrayObject(array, called, loc, kept=kept)))
                    fresh[key] = found[-1]  # type: ignore[assignment]
                else:
                    found.append(leaf)
            lo.frame.env[name] = rebuild(before.env[name], iter(found))
        for name in names:
            if name not in bound:
                start = before.env.get(name, Unbound())
                lo.frame.env[name] = Unbound() if isinstance(start, Late) else start
    lo.builder.stmts.extend(opening)
    for obj, version in list(lo.versions.items()):
        item = _Carried(version, lo.builder.value(obj.name, obj.type), obj)
        carried.append(item)
        lo.versions[obj] = item.param
    by_key = {item.key: item for item in carried}
    index = lo.builder.value("k", INT) if trips is not None else None
    if index is not None:
        lo.sizes.counts(index)
    label = lo.builder.names.fresh("L0" if trips is not None else "W0")
    with lo.builder.block() as stmts, lo.perhaps():
        _open_fresh(lo, before, memo, fresh, by_key)
        for end, message in memo.stale.items():
            if not isinstance(end, tuple) or end in fresh:
                lo.stale.setdefault(fresh[end].object if isinstance(end, tuple) else end, message)
        set_exit(lo, FALLS)
        dead = False
        again: Operand | None
        try:
            again = body(index)
        except Dead:
            dead, again = True, None if trips is not None else Literal(False, BOOL)
            lo.restore(before)
            for item in carried:
                item.next = item.param
        if not dead:
            _close(lo, before, memo, carried, by_key, fresh, bound)
            if any(obj.alias & before.versions.keys() - known for obj, known in suspects.items()):
                raise _Retry  # what an iteration does last, the next one knows first
            _find_late(lo, before, memo, names, bound, sure)
            late = _late_values(lo, before, memo)
        else:
            late = []
    carried += late
    if dead and definite:
        # Nothing after the loop can be reached; its body still must run.
        late = []
    _emit(lo, label, index, trips, carried, stmts, again)
    if dead and definite:
        raise Dead
    _after(lo, before, memo, carried, by_key, fresh, bound, names, sure, trips)


def _first_changed(start: RecordOf, end: RecordOf) -> tuple[Any, Binding, Binding] | None:
    """Return the first key of which the values are of different kinds, and the values."""
    if start.keys != end.keys:
        return None
    pairs = zip(start.keys, start.items, end.items, strict=True)
    return next((each for each in pairs if not joinable(each[1], each[2])), None)


def _keys(held: Binding) -> tuple[Any, ...]:
    return held.keys if isinstance(held, RecordOf) else ()


def _hint(name: str) -> str:
    return name[1:] if name.startswith("$") else name


def _open_fresh(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    fresh: dict[tuple[str, int], ArrayRef],
    by_key: dict[tuple[str, int] | ArrayObject, _Carried],
) -> None:
    """Give the objects that rebound names denote in the body their versions, sizes, suspects."""
    for key, ref in fresh.items():
        obj = ref.object
        lo.versions[obj] = by_key[key].param
        entry = _entry(before, key)
        if entry in before.stale:
            lo.stale[obj] = before.stale[entry]
        if key in memo.sizes:
            lo.dims[obj] = tuple(
                lo.sizes.counts(
                    lo.builder.apply(
                        "dim", by_key[key].param, params=(axis,), hint=f"{obj.name}.dim"
                    )
                )
                for axis in range(obj.type.rank)
            )
        else:
            lo.dims[obj] = lo.dims[entry]
        # On the first iteration it is the object that the name had on entry, if anybody else
        # still holds that one.
        others = [
            name
            for name, binding in before.env.items()
            for k, leaf in enumerate(leaves(binding))
            if isinstance(leaf, ArrayRef) and leaf.object is entry and (name, k) not in fresh
        ]
        if others or entry in lo.origin or _held_outside(lo, entry):
            suspect(obj, entry)
        for other in entry.alias:
            if other in before.versions:
                suspect(obj, other)
    keys = list(fresh)
    for i, a in enumerate(keys):
        for b in keys[i + 1 :]:
            if related(_entry(before, a), _entry(before, b)):
                suspect(fresh[a].object, fresh[b].object)
    for pair in memo.alias:
        ends = [
            fresh[end].object if isinstance(end, tuple) else end
            for end in pair
            if not isinstance(end, tuple) or end in fresh
        ]
        if len(ends) == 2:
            suspect(*ends)


def _entry(before: State, key: tuple[str, int]) -> ArrayObject:
    found = _end(before.env, key)
    assert found is not None
    return found


def _end(env: dict[str, Binding], key: tuple[str, int]) -> ArrayObject | None:
    """Return the array of a name's k-th leaf; None if the name is not bound any more."""
    found = list(leaves(env[key[0]]))
    if not found:
        return None
    leaf = found[key[1]]
    assert isinstance(leaf, ArrayRef)
    return leaf.object


def _held_outside(lo: Lowerer, obj: ArrayObject) -> bool:
    """Whether a frame other than the current one has a name for `obj`."""
    frame = lo.frame.caller
    while frame is not None:
        for binding in frame.env.values():
            if any(isinstance(leaf, ArrayRef) and leaf.object is obj for leaf in leaves(binding)):
                return True
        frame = frame.caller
    return False


def _close(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    carried: list[_Carried],
    by_key: dict[tuple[str, int] | ArrayObject, _Carried],
    fresh: dict[tuple[str, int], ArrayRef],
    bound: Sequence[str],
) -> None:
    """Find every carried value's next value, or widen the memo and retry."""
    retry = _find_changed(lo, before, memo, bound)
    for name in bound:
        start, end = before.env[name], lo.frame.env.get(name, Unbound())
        if isinstance(end, Unbound) and not (is_slot(name) or is_of_exit(name)):
            # The next iteration may not read it, unless that is checked.
            require_bound(lo, name)
            memo.unstable[name] = f"is not bound after an iteration: {end.why}"
            retry = True
            continue
        if (
            is_slot(name)
            and name in lo.frame.partial
            and _found_list(lo, before, memo, name, start, end)
        ):
            # A path with an exit left the list as it was.
            retry = True
            continue
        memo.dropped.discard(name)
        if name in lo.frame.partial:
            # Where an exit is pending it is something else. This is what the next iteration sees.
            memo.dropped.add(name)
        if not isinstance(end, Unbound | Unstable):
            form = forms.optional_form(start, end)
            if form is not None and not (memo.avoids_none and _is_filled(start, end)):
                memo.forms[name] = form
                if isinstance(form, Maybe) and isinstance(form.inner, Ref):
                    memo.contents[name] = lo.held(form.inner)
                retry = True
                continue
            end = lo.frame.env[name] = forms.made_optional(lo, start, end, known=True)
        if _found_list(lo, before, memo, name, start, end):
            retry = True
            continue
        end = lo.frame.env.get(name, end) if isinstance(end, Ref | Maybe) else end
        if not isinstance(end, Unbound | Unstable):
            if not forms.conforms(lo, end, start, name):
                memo.forms[name] = end
                retry = True
                continue
            end = forms.conformed(lo, start, end, name)
            lo.frame.env[name] = end
        opened = _opened(start, end)
        if opened:
            memo.opened |= {(name, key) for key in opened}
            retry = True
            continue
        if not (isinstance(end, Unbound | Unstable) or joinable(start, end)):
            if is_slot(name) and not is_cell(name):
                owners = [repr(n) for n in holders(before.env, name) if n[0] != "$"]
                keys = (start, end) if isinstance(start, RecordOf) else ()
                owner = owners[0] if owners else "a container"
                if isinstance(start, RecordOf) and isinstance(end, RecordOf):
                    changed = _first_changed(start, end)
                    if changed is not None:
                        key, old, then = changed
                        raise (FirstError if _is_filled(start, end) else RestructuredError)(
                            f"{key!r} of {owner} is {kind_of(old)} before the loop and "
                            f"{kind_of(then)} after an iteration",
                            lo.builder.loc,
                            "use the same kind of value from the start",
                        )
                if isinstance(start, TupleOf) and isinstance(end, TupleOf):
                    more = [each for each in end.items if not isinstance(each, Num | ArrayRef)]
                    if len(end.items) > len(start.items) and more:
                        raise RestructuredError(
                            f"{owners[0] if owners else 'a list'} grows in a loop by "
                            f"{kind_of(more[-1])}",
                            lo.builder.loc,
                            "a list that grows in a loop holds numbers, arrays of one rank and "
                            "dtype, or tuples of these: make `np.array([...])` of a list of "
                            "numbers",
                        )
                raise (FirstError if _is_filled(start, end) else RestructuredError)(
                    f"{owner} holds {contents_of(start)} before "
                    f"the loop and {contents_of(end)} after an iteration",
                    lo.builder.loc,
                    "create all of its elements before the loop" if len(set(map(_keys, keys))) > 1
                    else "a list that grows in a loop holds numbers, arrays of one rank and "
                    "dtype, or tuples of these",
                )  # fmt: skip
            loop = f"the loop at line {line_of(lo)}"
            why = f"is {kind_of(start)} before {loop} and {kind_of(end)} after an iteration"
            filled = _is_filled(start, end)
            first = memo.avoids_none and filled
            if (
                first
                or (filled and not becomes_array(start, end))
                or (is_cell(name) or is_of_exit(name))
            ):
                raise (FirstError if first else TypeUnstableError)(
                    f"{name.removeprefix(CELL)!r} {why}",
                    lo.builder.loc,
                    "use the same kind of value on every path, or two variables",
                )
            memo.unstable[name] = why
            retry = True
            continue
        if isinstance(end, Unstable):
            # Said here: an empty list, a string or a function has no leaves to look at below.
            if not is_slot(name):
                memo.unstable[name] = end.why
                retry = True
                continue
            owners = [repr(n) for n in holders(before.env, name) if n[0] != "$"]
            raise RestructuredError(
                f"{owners[0] if owners else 'a container'} {end.why}",
                lo.builder.loc,
                "fill an array made before the loop, or loop over a constant range",
            )
        ends = [] if isinstance(end, Unbound) else list(leaves(end))
        for k, leaf in enumerate(leaves(start)):
            key = (name, k)
            if not ends:
                if key in by_key:
                    by_key[key].next = by_key[key].param
                continue
            last = ends[k]
            if isinstance(leaf, Num):
                assert isinstance(last, Num)
                item = by_key[key]
                ty, new = item.param.type, last.operand.type
                assert isinstance(ty, Scalar)
                assert isinstance(new, Scalar)
                if not one_type(ty, new):
                    loop = f"the loop at line {line_of(lo)}"
                    why = f"is a {ty} before {loop} and a {new} after an iteration"
                    if is_slot(name) or is_of_exit(name):
                        raise TypeUnstableError(
                            f"{name.removeprefix(CELL)!r} {why}",
                            lo.builder.loc,
                            "convert one of them, for instance with `int()`",
                        )
                    memo.unstable[name] = why
                    retry = True
                    break
                wide = join(ty, new)
                if wide != ty:
                    memo.types[key] = wide
                    retry = True
                else:
                    item.next = lo.exact(last.operand, ty)
            else:
                assert isinstance(last, ArrayRef)
                if key in fresh:
                    item, version = by_key[key], lo.versions[last.object]
                    if not alike(version.type, item.param.type):
                        # A view from another iteration may lie anyhow.
                        assert isinstance(item.param.type, Array)
                        memo.types[key] = replace(item.param.type, layout="A")
                        retry = True
                    else:
                        item.next = version
                elif last.object is not leaf.object:
                    memo.fresh.add(key)
                    retry = True
    if retry:
        raise _Retry
    _check_rotation(lo, before, memo, fresh)
    for item in carried:
        if isinstance(item.key, ArrayObject):
            item.next = lo.versions[item.key]
    for obj in list(lo.origin):
        if obj not in by_key and lo.versions.get(obj, lo.origin[obj]) is not lo.origin[obj]:
            raise _Retry
    for each, message in lo.stale.items():
        known = before.env if isinstance(each, str) else before.versions
        if each in known and each not in before.stale and each not in memo.stale:
            memo.stale[each] = message
            raise _Retry
    for key in fresh:
        last_array = _end(lo.frame.env, key)
        if last_array in lo.stale and key not in memo.stale:
            memo.stale[key] = lo.stale[last_array]
            raise _Retry


def _opened(start: Binding, end: Binding) -> list[Any]:
    """Return the captured attributes of an object that an iteration replaces."""
    if not (isinstance(start, RecordOf) and isinstance(end, RecordOf) and start.keys == end.keys):
        return []
    pairs = zip(start.keys, start.items, end.items, strict=True)
    return [key for key, old, new in pairs if isinstance(old, Given) and old != new]


def _find_changed(lo: Lowerer, before: State, memo: LoopMemo, bound: Sequence[str]) -> bool:
    """Note lists, dicts and objects that the body changed and the loop does not carry yet."""
    found = {
        slot
        for slot, held in {**lo.initial, **before.env}.items()
        if is_slot(slot)
        and slot not in bound
        and (lo.frame.env.get(slot, held) != held or (memo.breaks and slot in lo.frame.partial))
    }
    if not found <= memo.slots:
        memo.slots |= found
        return True
    return False


def _found_list(
    lo: Lowerer, before: State, memo: LoopMemo, name: str, start: Binding, end: Binding
) -> bool:
    """Record the changes of a list, dict or object; return whether the loop is lowered again."""
    bound = end
    if isinstance(start, Maybe) and isinstance(end, Maybe):
        start, end = start.inner, end.inner
    if isinstance(start, Ref) and isinstance(end, Ref) and one_class(start, end):
        if start.slot == end.slot:
            return False
        if name not in memo.relisted:
            memo.relisted.add(name)
            return True
        # The new one's contents are what the name's own list holds from now on.
        others = set(holders(lo.frame.env, end.slot)) - {name}
        # A name that every iteration binds again may be another name of it until then.
        again = {each for each in others - before.env.keys() if lo.frame.env.get(each) == bound}
        others -= again
        # Those that may be another name of it, and last.
        kin = lo.kin.get(end.slot, frozenset())
        for slot in kin - {start.slot} - lo.kin.get(start.slot, frozenset()):
            for env in (before.env, lo.frame.env):
                others |= (set(holders(env, slot)) & before.env.keys()) - {name}
        if any(other in lo.frame.env for other in others):
            raise TypeUnstableError(
                f"{name!r} and {', '.join(map(repr, sorted(others)))} are the same "
                f"{kind_of(start)[2:]} after an iteration",
                lo.builder.loc, "make one of them a copy",
            )  # fmt: skip
        lo.frame.env[start.slot] = lo.frame.env[end.slot]
        lo.stale.pop(start.slot, None)
        if end.slot in lo.stale:
            lo.stale[start.slot] = lo.stale[end.slot]
        list_buffers.inherit_appended(lo, start.slot, end.slot)
        lo.suspect(start.slot, kin)
        for each in (name, *again):
            lo.frame.env[each] = replace(bound, inner=start) if isinstance(bound, Maybe) else start
        return False
    element = lo.appended.get(name)
    shrinks = _is_shorter(start, end) and not memo.unrolls
    if not is_slot(name) or not isinstance(start, TupleOf | Growing):
        return False
    if element is None and not (shrinks and name not in lo.appended):
        return False
    whole = list_buffers.common(lo, [start], element)
    if whole is None:
        return False
    if isinstance(start, TupleOf):
        longer = isinstance(end, TupleOf) and len(end.items) != len(start.items)
        if not (longer or isinstance(end, Unstable | Growing)):
            return False
        if longer and memo.unrolls and list_buffers.has_arrays(whole):
            return False  # a copy of the body for each iteration keeps the arrays themselves
    elif whole == start.element:
        return False
    memo.growing[name] = whole
    return True


def _is_shorter(start: Binding, end: Binding) -> bool:
    """Whether an iteration takes elements out of a list, perhaps."""
    if not isinstance(start, TupleOf):
        return False
    return isinstance(end, Growing) or (
        isinstance(end, TupleOf) and len(end.items) < len(start.items)
    )


def _check_rotation(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    fresh: dict[tuple[str, int], ArrayRef],
) -> None:
    """Find out which rebound names may denote one array in the next iteration."""
    every = {key: _end(lo.frame.env, key) for key in fresh}
    ends = {key: obj for key, obj in every.items() if obj is not None}
    found: set[frozenset[tuple[str, int] | ArrayObject]] = set()
    keys = list(ends)
    for i, a in enumerate(keys):
        for b in keys[i + 1 :]:
            if related(ends[a], ends[b]):
                found.add(frozenset([a, b]))
        if ends[a] in before.versions:
            found.add(frozenset([a, ends[a]]))
        for other in ends[a].alias:
            if other in before.versions:
                found.add(frozenset([a, other]))
        if ends[a].kept and not fresh[a].object.kept:
            memo.kept.add(a)
            raise _Retry
        if lo.dims[ends[a]] != lo.dims[fresh[a].object] and a not in memo.sizes:
            others = {lo.dims[fresh[b].object] for b in keys}
            if lo.dims[ends[a]] not in others or len(others) > 1:
                memo.sizes.add(a)
                raise _Retry
    new = {pair for pair in found if len(pair) == 2} - memo.alias
    if new:
        memo.alias |= new
        raise _Retry


def _find_late(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    names: Sequence[str],
    bound: Sequence[str],
    sure: Collection[str],
) -> None:
    """Names first bound in the body are results of a loop that surely runs, and so is `return`.

    So are the contents of the lists, dicts and objects that they hold.
    """
    for name in names:
        end = lo.frame.env.get(name, Unbound())
        if name in bound or isinstance(end, Unbound | Unstable | Late):
            continue
        if name in lo.frame.partial and not is_of_exit(name):
            continue
        if name not in sure and isinstance(before.env.get(name), Unstable):
            continue  # if no iteration runs, it is still what it was
        if name in sure or all(isinstance(leaf, Num) for leaf in leaves(end)):
            memo.late[name] = end
            for slot, held in _contents(lo, before, name).items():
                if name in sure or all(isinstance(leaf, Num) for leaf in leaves(held)):
                    memo.late[slot] = held


def _contents(lo: Lowerer, before: State, name: str) -> dict[str, Binding]:
    """Return the slots of lists, dicts and objects of a name that the body made; what they hold.

    Those that may be one of several are left out, but for results: nothing else is read then.
    """
    found: dict[str, Binding] = {}
    left = list(refs(lo.frame.env[name]))
    partial, kin = (set(), {}) if is_of_exit(name) else (lo.frame.partial, lo.kin)
    while left:
        slot = left.pop().slot
        held = lo.frame.env.get(slot, Unbound())
        known = slot in found or slot in before.env or slot in lo.initial
        if known or slot in lo.stale or kin.get(slot) or slot in partial:
            continue
        if not isinstance(held, Unbound | Unstable | Late):
            found[slot] = held
            left += refs(held)
    return found


def _late_values(lo: Lowerer, before: State, memo: LoopMemo) -> list[_Carried]:
    values: list[_Carried] = []
    for name in memo.late:
        now = lo.frame.env.get(name, Unbound())
        if isinstance(now, Unbound | Unstable | Late):
            continue
        for k, leaf in enumerate(leaves(now)):
            operand = leaf.operand if isinstance(leaf, Num) else lo.versions[leaf.object]
            if isinstance(leaf, ArrayRef) and (
                leaf.object in lo.origin or leaf.object in before.versions
            ):
                continue
            param = lo.builder.value(_hint(name), operand.type)
            init: Operand = param
            old = before.env.get(name)
            if isinstance(old, Late) and same_numbers(old.inner, now):
                # An earlier loop may have bound it, and this one may run no iteration.
                init = _operand(list(leaves(old.inner))[k])
            values.append(_Carried(init, param, (f"late {name}", k), operand))
    return values


def _operand(leaf: Num | ArrayRef) -> Operand:
    assert isinstance(leaf, Num)
    return leaf.operand


def same_numbers(a: Binding, b: Binding) -> bool:
    """Whether two bindings consist of numbers of the same types."""
    if shape_of(a) != shape_of(b):
        return False
    return all(
        isinstance(x, Num) and isinstance(y, Num) and x.operand.type == y.operand.type
        for x, y in zip(leaves(a), leaves(b), strict=True)
    )


def _emit(
    lo: Lowerer,
    label: str,
    index: Value | None,
    trips: Operand | None,
    carried: list[_Carried],
    stmts: list[Stmt],
    again: Operand | None,
) -> None:
    """Build the loop, without the carried values that no iteration changes."""
    kept: list[_Carried] = []
    env: dict[Value, Operand] = {}
    for item in carried:
        if item.next == item.param:
            env[item.param] = item.init
            item.result = None
        else:
            kept.append(item)
            if item.init == item.param:
                item.init = unread(lo, item.param)
            item.result = lo.builder.value(item.param.name, item.param.type)
    nexts = tuple(item.next for item in kept if item.next is not None)
    block = Block(
        tuple(item.param for item in kept),
        tuple(stmts),
        nexts if again is None else (again, *nexts),
    )
    block = substitute_block(block, env)
    results = tuple(item.result for item in kept if item.result is not None)
    init = tuple(item.init for item in kept)
    if trips is not None:
        assert index is not None
        lo.builder.emit(For(results, label, index, trips, init, block, loc=lo.builder.loc))
    else:
        lo.builder.emit(While(results, label, init, block, lo.builder.loc))


def _after(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    carried: list[_Carried],
    by_key: dict[tuple[str, int] | ArrayObject, _Carried],
    fresh: dict[tuple[str, int], ArrayRef],
    bound: Sequence[str],
    names: Sequence[str],
    sure: Collection[str],
    trips: Operand | None,
) -> None:
    """Make the loop's results the state."""
    ran: Operand | None = None
    end_env, stale = lo.frame.env, dict(lo.stale)
    # The arrays that names denote after the loop, and what each was when an iteration began (None
    # if no name had it) and when it ended.
    made: list[tuple[ArrayObject, tuple[ArrayObject | None, ArrayObject | None]]] = []
    late = {item.key: item for item in carried}
    lo.restore(before)
    known = {*before.versions, *before.env}
    lo.stale.update({each: text for each, text in stale.items() if each in known})

    def out(item: _Carried) -> Operand:
        return item.init if item.result is None else item.result

    for item in carried:
        if isinstance(item.key, ArrayObject):
            version = out(item)
            assert isinstance(version, Value)
            lo.versions[item.key] = version
    for name in bound:
        start = before.env[name]
        end = end_env.get(name, Unbound())
        if name in memo.dropped:
            lo.frame.env[name] = Unstable(
                f"is of a kind that depends on how the loop at line {line_of(lo)} ends"
            )
            continue
        if isinstance(end, Unbound):
            lo.frame.env[name] = end if end.why else Unbound("a loop may delete it")
            continue
        found: list[Num | ArrayRef] = []
        for k, leaf in enumerate(leaves(start)):
            item = by_key.get((name, k))  # type: ignore[assignment]
            if item is None:
                found.append(leaf)
            elif isinstance(leaf, Num):
                found.append(Num(out(item)))
            else:
                inner = fresh[name, k].object
                result = _result_array(lo, name, item, inner, leaf)
                last = _end(end_env, (name, k))
                made.append((result.object, (inner, last)))
                if leaf.object in before.stale:
                    lo.stale[result.object] = before.stale[leaf.object]
                found.append(result)
        lo.frame.env[name] = rebuild(start, iter(found))
    # Arrays that the body made, by what they are after the loop: names of one stay names of one.
    lasting: dict[ArrayObject, ArrayRef] = {}
    slots = [name for name in memo.late if is_slot(name) and name not in names]
    for name in (*names, *slots):
        if name in bound:
            continue
        if name in memo.late and not isinstance(
            end_env.get(name, Unbound()), Unbound | Unstable | Late
        ):
            now = end_env[name]
            parts: list[Num | ArrayRef] = []
            for k, leaf in enumerate(leaves(now)):
                item = late.get((f"late {name}", k))  # type: ignore[assignment]
                if item is None:
                    parts.append(leaf)
                elif isinstance(leaf, Num):
                    parts.append(Num(out(item)))
                elif leaf.object in lasting:
                    parts.append(lasting[leaf.object])
                else:
                    value = out(item)
                    assert isinstance(value, Value)
                    dims = tuple(
                        lo.sizes.counts(
                            lo.builder.apply("dim", value, params=(axis,), hint=f"{value.name}.dim")
                        )
                        for axis in range(rank_of(value))
                    )
                    owners = [n for n in holders(end_env, name) if n[0] != "$"]
                    called = owners[0] if owners else _hint(name)
                    lasting[leaf.object] = lo.new_array(value, dims, called)
                    made.append((lasting[leaf.object].object, (None, leaf.object)))
                    parts.append(lasting[leaf.object])
            lo.frame.env[name] = rebuild(now, iter(parts))
            if name not in sure and name not in slots:
                if ran is None:
                    if trips is None:
                        lo.frame.env[name] = Unbound(
                            f"the loop at line {line_of(lo)} may run no iteration that assigns it"
                        )
                        continue
                    ran = lo.builder.apply("gt", trips, integer(0), hint="ran")
                old = before.env.get(name)
                flag: Operand = ran
                lost = old.lost if isinstance(old, Late) else ""
                if isinstance(old, Late):
                    if not same_numbers(old.inner, now):
                        lo.frame.env[name] = Unbound(
                            "two loops assign it, and possibly neither has run"
                        )
                        continue
                    flag = lo.builder.apply("or", old.flag, ran, hint="ran")
                lo.frame.env[name] = Late(lo.frame.env[name], flag, lost)
        elif is_of_exit(name) and isinstance(end := end_env.get(name, Unbound()), Unstable):
            lo.frame.env[name] = end  # of one of several kinds: it is refused where it is read
        elif not isinstance(before.env.get(name), Unstable):
            lo.frame.env[name] = Unbound(
                f"the loop at line {line_of(lo)} may run no iteration that assigns it"
            )
    for k, (obj, inside) in enumerate(made):
        for part in filter(None, inside):
            if part in before.versions:
                suspect(obj, part)
            for other in part.alias:
                if other in before.versions:
                    suspect(obj, other)
            obj.kept |= part.kept
        # What an iteration began with is gone after it; without iterations nothing was written.
        last = inside[1]
        if last is not None and last in stale:
            lo.stale[obj] = stale[last]
        for other, parts_of_other in made[:k]:
            if any(map(related, inside, parts_of_other)):
                suspect(obj, other)


def _result_array(
    lo: Lowerer, name: str, item: _Carried, obj: ArrayObject, entry: ArrayRef
) -> ArrayRef:
    """Return the object that a rebound name denotes after the loop."""
    version = item.init if item.result is None else item.result
    assert isinstance(version, Value)
    name = entry.object.name if is_slot(name) else name
    known = all(isinstance(size, Literal) or size in lo.dims[entry.object] for size in lo.dims[obj])
    dims = (
        lo.dims[obj]
        if known
        else tuple(
            lo.sizes.counts(lo.builder.apply("dim", version, params=(axis,), hint=f"{name}.dim"))
            for axis in range(obj.type.rank)
        )
    )
    return lo.new_array(version, dims, name)
