"""What an iteration leaves: the next value of everything that the loop carries.

Where it leaves something of another type, kind or form than it found, the memo of the loop has
that from now on, and the loop is lowered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from adc.frontend.control import forms
from adc.frontend.control.exits import is_of_exit
from adc.frontend.control.iterations.findings import (
    Attempt,
    FirstError,
    LoopMemo,
    PathsError,
    RestructuredError,
    Retry,
    array_of,
    becomes_array,
    is_filled,
    may_become_array,
)
from adc.frontend.control.joins import is_contents, line_of, varies
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    DictRef,
    Given,
    Growing,
    Maybe,
    Num,
    ObjectRef,
    OneOf,
    Pooled,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    one_class,
    one_type,
    related,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import require_bound
from adc.frontend.core.state import CONTENTS, PickedError, SameError, State, VariesError
from adc.frontend.core.strings import texts_of
from adc.frontend.core.structure import (
    CELL,
    holders,
    is_cell,
    is_slot,
    leaves,
    places_of,
    rebuild,
    refs,
    with_place,
)
from adc.frontend.values import constants, optional
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.core import Literal
from adc.ir.errors import TypeUnstableError
from adc.ir.types import INT, Array, Scalar, join
from adc.ir.verifier import alike

# Where a loop of constant length makes one of more texts than these, it is unrolled: the text of
# each iteration is known then, and each may be longer than the one before.
MOST_TEXTS = 4


def close(lo: Lowerer, it: Attempt) -> None:
    """Find every carried value's next value, or widen the memo and retry."""
    retry = _find_changed(lo, it)
    for name in _outer_first(it):
        retry |= _close_name(lo, it, name)
    if retry:
        raise Retry
    _check_rotation(lo, it)
    for item in it.carried:
        if isinstance(item.key, ArrayObject):
            item.next = lo.versions[item.key]
    for obj in list(lo.origin):
        if obj not in it.by_key and lo.versions.get(obj, lo.origin[obj]) is not lo.origin[obj]:
            raise Retry
    for each, message in lo.stale.items():
        known = it.before.env if isinstance(each, str) else it.before.versions
        if each in known and each not in it.before.stale and each not in it.memo.stale:
            it.memo.stale[each] = message
            raise Retry
    for key in it.fresh:
        last_array = array_of(lo.frame.env, key)
        if last_array in lo.stale and key not in it.memo.stale:
            it.memo.stale[key] = lo.stale[last_array]
            raise Retry


def _close_name(lo: Lowerer, it: Attempt, name: str) -> bool:
    """Find the next values of what a name or slot is bound to; True if the memo was widened."""
    start, end = it.before.env[name], lo.frame.env.get(name, Unbound())
    if isinstance(end, Unbound) and not (is_slot(name) or is_of_exit(name)):
        # The next iteration may not read it, unless that is checked.
        require_bound(lo, name)
        it.memo.unstable[name] = f"is not bound after an iteration: {end.why}"
        return True
    if is_slot(name) and name in lo.frame.partial:
        # A path with an exit left the list as it was.
        if _found_list(lo, it, name, start, end):
            return True
        end = lo.frame.env.get(name, end)
    it.memo.dropped.discard(name)
    if name in lo.frame.partial:
        # Where an exit is pending it is something else. This is what the next iteration sees.
        it.memo.dropped.add(name)
    if not isinstance(end, Unbound | Unstable):
        if _found_form(lo, it, name, start, end):
            return True
        end = lo.frame.env[name] = forms.made_optional(lo, start, end, known=True)
    if _found_list(lo, it, name, start, end):
        return True
    end = lo.frame.env.get(name, end)
    if not isinstance(end, Unbound | Unstable):
        if not forms.conforms(lo, end, start, name):
            it.memo.forms[name] = end
            return True
        end = forms.conformed(lo, start, end, name)
        lo.frame.env[name] = end
    opened = _opened(start, end)
    if opened:
        it.memo.opened |= {(name, key) for key in opened}
        return True
    if not (isinstance(end, Unbound | Unstable) or forms.joinable(start, end)):
        if is_contents(name):
            _refuse_contents(lo, it.before, name, start, end)
        _note_kinds(lo, it.memo, name, start, end)
        return True
    if isinstance(end, Unstable):
        # Said here: an empty list, a string or a function has no leaves to look at below.
        if is_slot(name):
            raise PathsError(
                f"{_owner_of(it.before, name)} {end.why}",
                lo.builder.loc,
                "fill an array made before the loop, or loop over a constant range",
            )
        it.memo.unstable[name] = end.why
        return True
    return _next_leaves(lo, it, name, start, end)


def _found_form(lo: Lowerer, it: Attempt, name: str, start: Binding, end: Binding) -> bool:
    """Note the form of what may be absent, or one of several; return whether that is new."""
    form = forms.optional_form(lo, start, end, varies(lo, name), keys=not it.memo.unrolls)
    if isinstance(form, OneOf) and (is_contents(name) or forms.waits(lo, form)):
        form = None
    if isinstance(form, OneOf) and it.memo.unrolls:
        texts = texts_of(form) or ()
        if len(texts) > MOST_TEXTS:  # each iteration makes another one
            raise RestructuredError(
                f"{name!r} is another text after each iteration", lo.builder.loc, ""
            )
    form = _of_several(lo, it.before, form)
    if form is not None and _has_made_inside(it.before, form):
        form = None
    if it.memo.avoids_numbers and may_become_array(start, end):
        raise FirstError(f"{name!r} becomes an array", lo.builder.loc, "")
    picked = isinstance(form, Maybe) and isinstance(form.inner, OneOf)
    if form is None or (it.memo.avoids_none and is_filled(start, end) and not picked):
        return False
    it.memo.forms[name] = form
    if isinstance(form, Maybe) and isinstance(form.inner, Ref):
        it.memo.contents[name] = _made_by_iteration(lo, it.before, form.inner)
    return True


def _owner_of(before: State, slot: str, kind: str = "a container") -> str:
    """Return what errors call a list, dict or object: the first variable that holds it."""
    return next((repr(n) for n in holders(before.env, slot) if n[0] != "$"), kind)


def _refuse_contents(
    lo: Lowerer, before: State, name: str, start: Binding, end: Binding
) -> NoReturn:
    """Refuse what a list, dict or object holds before the loop and after an iteration."""
    keys = (start, end) if isinstance(start, RecordOf) else ()
    owner = _owner_of(before, name)
    if isinstance(start, RecordOf) and isinstance(end, RecordOf):
        changed = _first_changed(start, end)
        if changed is not None:
            key, old, then = changed
            raise (FirstError if is_filled(start, end) else RestructuredError)(
                f"{key!r} of {owner} is {kind_of(old)} before the loop and "
                f"{kind_of(then)} after an iteration",
                lo.builder.loc,
                "use the same kind of value from the start",
            )
    if isinstance(start, TupleOf) and isinstance(end, TupleOf):
        more = [each for each in end.items if not isinstance(each, Num | ArrayRef)]
        if len(end.items) > len(start.items) and more:
            raise RestructuredError(
                f"{_owner_of(before, name, 'a list')} grows in a loop by {kind_of(more[-1])}",
                lo.builder.loc, _GROWS_BY[isinstance(more[-1], ObjectRef | DictRef)],
            )  # fmt: skip
    _, held, later = forms.difference(start, end)
    raise (FirstError if is_filled(start, end) else RestructuredError)(
        f"{owner} holds {held} before the loop and {later} after an iteration",
        lo.builder.loc,
        "create all of its elements before the loop" if len(set(map(_keys, keys))) > 1
        else "a list that grows in a loop holds numbers, arrays of one rank and "
        "dtype, or tuples of these",
    )  # fmt: skip


# What to do about a list that grows by something, by whether that has attributes or keys.
_GROWS_BY = (
    "a list that grows in a loop holds numbers, arrays of one rank and dtype, or tuples of these: "
    "make `np.array([...])` of a list of numbers",
    "where the run decides how long the list is, it holds numbers, arrays of one shape, or tuples "
    "of these: keep a list for each attribute, or append tuples of them",
)


def _note_kinds(lo: Lowerer, memo: LoopMemo, name: str, start: Binding, end: Binding) -> None:
    """Note that a name is of two kinds, before the loop and after an iteration, or refuse it."""
    loop = f"the loop at line {line_of(lo)}"
    why = f"is {kind_of(start)} before {loop} and {kind_of(end)} after an iteration"
    filled = is_filled(start, end)
    first = memo.avoids_none and filled
    if first or (filled and not becomes_array(start, end)) or (is_cell(name) or is_of_exit(name)):
        raise (FirstError if first else VariesError)(
            f"{name.removeprefix(CELL)!r} {why}",
            lo.builder.loc,
            "use the same kind of value on every path, or two variables",
            CONTENTS if is_slot(name) else (lo.frame.function, name),
        )
    if constants.is_constant(start) and constants.is_constant(end):
        raise PickedError(
            f"{name!r} is {kind_of(end)} that iterations of {loop} change: this is not supported",
            lo.builder.loc,
            "loop over a constant range, or over dates that were computed outside",
        )
    memo.unstable[name] = why


def _next_leaves(lo: Lowerer, it: Attempt, name: str, start: Binding, end: Binding) -> bool:
    """Find the next values of numbers and arrays; True if the memo was widened."""
    retry = False
    ends = [] if isinstance(end, Unbound) else list(leaves(end))
    for k, leaf in enumerate(leaves(start)):
        key = (name, k)
        if not ends:
            if key in it.by_key:
                it.by_key[key].next = it.by_key[key].param
            continue
        last = ends[k]
        if isinstance(leaf, Num):
            assert isinstance(last, Num)
            item = it.by_key[key]
            ty, new = item.param.type, last.operand.type
            assert isinstance(ty, Scalar)
            assert isinstance(new, Scalar)
            if not one_type(ty, new):
                loop = f"the loop at line {line_of(lo)}"
                why = f"is a {ty} before {loop} and a {new} after an iteration"
                if is_slot(name) or is_of_exit(name):
                    raise VariesError(
                        f"{name.removeprefix(CELL)!r} {why}",
                        lo.builder.loc,
                        "convert one of them, for instance with `int()`",
                    )
                it.memo.unstable[name] = why
                return True
            wide = join(ty, new)
            if wide != ty:
                it.memo.types[key] = wide
                retry = True
            else:
                item.next = lo.exact(last.operand, ty)
        else:
            assert isinstance(last, ArrayRef)
            if key in it.fresh:
                item, version = it.by_key[key], lo.versions[last.object]
                if not alike(version.type, item.param.type):
                    # A view from another iteration may lie anyhow.
                    assert isinstance(item.param.type, Array)
                    it.memo.types[key] = replace(item.param.type, layout="A")
                    retry = True
                else:
                    item.next = version
            elif last.object is not leaf.object:
                it.memo.fresh.add(key)
                retry = True
    return retry


def _made_by_iteration(lo: Lowerer, before: State, ref: Ref) -> dict[str, Binding]:
    """Return what a list, dict or object holds, and those in it that were not there before."""
    found = {ref.slot: lo.contents_of(ref)}
    left = list(refs(found[ref.slot]))
    while left:
        inner = left.pop()
        if inner.slot not in found and inner.slot not in before.env and inner.slot in lo.frame.env:
            found[inner.slot] = lo.contents_of(inner)
            left += refs(found[inner.slot])
    return found


def _outer_first(it: Attempt) -> Sequence[str]:
    """Return names and slots such that those of containers precede those of what they hold.

    What a container holds is found where it is new (`_move`), before it is looked at itself. So is
    what a variable holds that inner functions write: it is among the slots, too.
    """
    if not (it.memo.replaced or any(is_cell(name) for name in it.memo.relisted)):
        return it.bound
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name not in seen:
            seen.add(name)
            for ref in refs(it.before.env.get(name, NONE)):
                visit(ref.slot)
            order.append(name)

    for name in reversed(it.bound):
        visit(name)
    return [name for name in reversed(order) if name in set(it.bound)]


def _first_changed(start: RecordOf, end: RecordOf) -> tuple[Any, Binding, Binding] | None:
    """Return the first key of which the values are of different kinds, and the values."""
    if start.keys != end.keys:
        return None
    pairs = zip(start.keys, start.items, end.items, strict=True)
    return next((each for each in pairs if not forms.joinable(each[1], each[2])), None)


def _keys(held: Binding) -> tuple[Any, ...]:
    return held.keys if isinstance(held, RecordOf) else ()


def _opened(start: Binding, end: Binding) -> list[Any]:
    """Return the captured attributes of an object that an iteration replaces."""
    if not (isinstance(start, RecordOf) and isinstance(end, RecordOf) and start.keys == end.keys):
        return []
    pairs = zip(start.keys, start.items, end.items, strict=True)
    return [key for key, old, new in pairs if isinstance(old, Given) and old != new]


def _find_changed(lo: Lowerer, it: Attempt) -> bool:
    """Note lists, dicts and objects that the body changed and the loop does not carry yet."""
    found = {
        slot
        for slot, held in {**lo.initial, **it.before.env}.items()
        if is_slot(slot)
        and slot not in it.bound
        and (lo.frame.env.get(slot, held) != held or (it.memo.breaks and slot in lo.frame.partial))
    }
    if not found <= it.memo.slots:
        it.memo.slots |= found
        return True
    return False


def _found_list(lo: Lowerer, it: Attempt, name: str, start: Binding, end: Binding) -> bool:
    """Record the changes of a list, dict or object; return whether the loop is lowered again."""
    bound = end
    if isinstance(start, Maybe) and isinstance(end, Maybe):
        start, end = start.inner, end.inner
    if isinstance(start, Ref) and isinstance(end, Ref) and one_class(start, end):
        if start.slot == end.slot:
            return False
        if name not in it.memo.relisted:
            it.memo.relisted.add(name)
            return True
        _move(lo, it.before, name, start, end)
        lo.frame.env[name] = replace(bound, inner=start) if isinstance(bound, Maybe) else start
        return False
    if _found_replaced(lo, it, name, start, end):
        return True
    if isinstance(start, Growing) and isinstance(end, TupleOf) and is_slot(name):
        whole = list_buffers.common(lo, [start, end])
        if whole == start.element:
            lo.frame.env[name] = list_buffers.grown(lo, end, whole, None)
            return False
    element = lo.appended.get(name)
    resized = _is_resized(start, end) and not it.memo.unrolls
    if not is_slot(name) or not isinstance(start, TupleOf | RecordOf | Growing):
        return False
    if element is None and not (resized and name not in lo.appended):
        return False
    ends = [end] if isinstance(end, TupleOf | Growing) and element is None else []
    whole = list_buffers.common(lo, [start, *ends], element)
    if whole is None or any(ref.slot not in it.before.env for ref in refs(whole)):
        return False
    if isinstance(start, RecordOf):
        if not isinstance(end, Unstable | Growing):
            return False
    elif isinstance(start, TupleOf):
        longer = isinstance(end, TupleOf) and len(end.items) != len(start.items)
        if not (longer or isinstance(end, Unstable | Growing)):
            return False
        if longer and it.memo.unrolls and list_elements.has_arrays(whole):
            return False  # a copy of the body for each iteration keeps the arrays themselves
    elif whole == start.element:
        return False
    it.memo.growing[name] = whole
    return True


def _of_several(lo: Lowerer, before: State, form: Binding | None) -> Binding | None:
    """Return a form for what may be None or an object: another iteration may find another one."""
    if not (lo.shared.picks and isinstance(form, Maybe) and isinstance(form.inner, ObjectRef)):
        return form
    known = form.inner.slot in before.env
    return replace(form, inner=OneOf((form.inner,), Literal(0, INT))) if known else form


def _has_made_inside(before: State, form: Binding) -> bool:
    """Whether something is one of several objects of which an iteration makes some.

    Those of the next iteration are others.
    """
    known = before.env.keys()
    return any(ref.slot not in known for found in optional.choices_in(form) for ref in refs(found))


def _found_replaced(lo: Lowerer, it: Attempt, name: str, start: Binding, end: Binding) -> bool:
    """The same for lists, dicts and objects that lists, dicts and objects hold.

    And for those in pools of which a name is one.
    """
    places = places_of(start)
    several = isinstance(start, OneOf) and isinstance(end, OneOf)
    if not (is_slot(name) or several) or not places or places.keys() != places_of(end).keys():
        return False
    if isinstance(lo.frame.env[name], Maybe) and not several:
        return False  # a variable that inner functions write: a tuple, or None
    found = False
    for key, old in places.items():
        record = lo.frame.env[name]
        bound = new = places_of(record)[key]
        if isinstance(old, Maybe) and isinstance(new, Maybe):
            old, new = old.inner, new.inner
        if not (isinstance(old, Ref) and isinstance(new, Ref) and one_class(old, new)):
            continue
        if old.slot == new.slot or (several and not lo.are_in_one_pool(old.slot, new.slot)):
            continue
        if (name, key) not in it.memo.replaced:
            it.memo.replaced[name, key] = None
            found = True
            continue
        if sum(each.slot == new.slot for each in refs(record)) > 1:
            raise TypeUnstableError(
                f"a container holds the same {kind_of(new)[2:]} at several places after an "
                "iteration", lo.builder.loc, "make one of them a copy",
            )  # fmt: skip
        _move(lo, it.before, name, old, new)
        own = replace(bound, inner=old) if isinstance(bound, Maybe) else old
        lo.frame.env[name] = with_place(lo.frame.env[name], key, own)
    return found


def _move(lo: Lowerer, before: State, name: str, start: Ref, end: Ref) -> None:
    """Put the contents of the new one where those of the one before the iteration are."""
    env = lo.frame.env
    if not {start.slot, end.slot} <= env.keys():
        # What held it was not there before the first iteration, or is not on this path.
        lo.want_pool(start, end)
        raise TypeUnstableError(
            f"{kind_of(end)} in a container that a loop first makes",
            lo.builder.loc, "make the container before the loop",
        )  # fmt: skip
    if isinstance(env[start.slot], Pooled) != isinstance(env[end.slot], Pooled):
        lo.want_pool(start, end)
    if isinstance(new := env[end.slot], Pooled):
        if isinstance(old := env[start.slot], Pooled) and old.is_list and new.is_list:
            lo.want_one_pool(old.pool, new.pool)
        env[start.slot] = env[end.slot]  # another name of it, as any number of them are
        return
    others = set(holders(env, end.slot)) - {name}
    # What every iteration binds again may be another name of it until then.
    again = others - before.env.keys()
    others -= again
    # Those that may be another name of it, and last.
    kin, known = lo.kin.get(end.slot, frozenset()), lo.kin.get(start.slot, frozenset())
    for slot in kin - {start.slot} - known:
        others |= set(holders(before.env, slot)) - {name}
        others |= {
            each
            for each in set(holders(env, slot)) & before.env.keys() - {name}
            if not _held_before(before.env[each], env[each], slot) <= known
        }
    others &= env.keys()
    for each in sorted(others):
        match before.env.get(each), env[each]:
            case TupleOf() as old, TupleOf() as new if len(old.items) < len(new.items):
                _refuse_contents(lo, before, each, old, new)
    if others:
        lo.want_pool(start, end)
        names = sorted(
            {repr(each.removeprefix(CELL)) for each in (name, *others) if not is_contents(each)}
        )
        held = ["a container" if names else "two containers"] * (len(names) <= len(others))
        raise SameError(
            f"{' and '.join(names + held)} {'have' if held else 'are'} the same "
            f"{kind_of(start)[2:]} after an iteration",
            lo.builder.loc, "make one of them a copy",
        )  # fmt: skip
    _keep_former(lo, start.slot)
    env[start.slot] = _with_slot(env[end.slot], end.slot, start.slot)  # it may hold itself
    lo.stale.pop(start.slot, None)
    if end.slot in lo.stale:
        lo.stale[start.slot] = lo.stale[end.slot]
    list_buffers.inherit_appended(lo, start.slot, end.slot)
    lo.suspect(start.slot, kin)
    for each in again:
        env[each] = _with_slot(env[each], end.slot, start.slot)
    if end.slot not in before.env:
        del env[end.slot]


def _held_before(before: Binding, now: Binding, slot: str) -> set[str]:
    """Return what an iteration finds where a binding holds a list, dict or object at its end."""
    old, new = list(refs(before)), list(refs(now))
    if len(old) != len(new):
        return {slot}
    return {one.slot for one, other in zip(old, new, strict=True) if other.slot == slot}


def _keep_former(lo: Lowerer, slot: str) -> None:
    """Give what still holds the one that a name was bound to before the iteration one of its own.

    That is ``p`` in ``p = q; q = q.next()``: the slot is that of the new one from now on.
    """
    env = lo.frame.env
    held = holders(env, slot)
    if not held:
        return
    own = lo.new_slot("former", slot)
    env[own] = env[slot]
    if slot in lo.stale:
        lo.stale[own] = lo.stale[slot]
    list_buffers.inherit_appended(lo, own, slot)
    lo.suspect(own, lo.kin.get(slot, ()))
    for each in held:
        env[each] = _with_slot(env[each], slot, own)


def _with_slot(held: Binding, slot: str, other: str) -> Binding:
    """Return a binding with another list, dict or object in the place of one."""

    def moved(ref: Ref) -> Ref:
        return replace(ref, slot=other) if ref.slot == slot else ref

    return rebuild(held, iter(list(leaves(held))), moved)


def _is_resized(start: Binding, end: Binding) -> bool:
    """Whether an iteration makes a list longer or shorter, perhaps."""
    if not isinstance(start, TupleOf):
        return False
    return isinstance(end, Growing) or (
        isinstance(end, TupleOf) and len(end.items) != len(start.items)
    )


def _check_rotation(lo: Lowerer, it: Attempt) -> None:
    """Find out which rebound names may denote one array in the next iteration."""
    every = {key: array_of(lo.frame.env, key) for key in it.fresh}
    ends = {key: obj for key, obj in every.items() if obj is not None}
    found: set[frozenset[tuple[str, int] | ArrayObject]] = set()
    keys = list(ends)
    kept, sizes = dict(it.memo.kept), len(it.memo.sizes)
    for i, a in enumerate(keys):
        for b in keys[i + 1 :]:
            if related(ends[a], ends[b]):
                found.add(frozenset([a, b]))
        if ends[a] in it.before.versions:
            found.add(frozenset([a, ends[a]]))
        for other in ends[a].alias:
            if other in it.before.versions:
                found.add(frozenset([a, other]))
        if not ends[a].kept <= it.fresh[a].object.kept:
            it.memo.kept[a] = ends[a].kept | it.fresh[a].object.kept
        dims = zip(lo.dims[ends[a]], lo.dims[it.fresh[a].object], strict=True)
        it.memo.sizes |= {(*a, axis) for axis, (last, first) in enumerate(dims) if last != first}
    new = {pair for pair in found if len(pair) == 2} - it.memo.alias
    it.memo.alias |= new
    if new or it.memo.kept != kept or len(it.memo.sizes) > sizes:
        raise Retry
