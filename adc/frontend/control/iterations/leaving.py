"""What names are bound to after a loop: what it carried, what iterations bound first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adc.frontend.control.exits import is_of_exit
from adc.frontend.control.iterations.findings import Attempt, Carried, array_of, hint_of
from adc.frontend.control.joins import line_of
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Late,
    Num,
    Unbound,
    Unstable,
    related,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import State
from adc.frontend.core.structure import holders, is_slot, leaves, rebuild, refs, shape_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value

# An array that a name denotes after the loop, and what it was when an iteration began (None if no
# name had it) and when it ended.
_Made = tuple[ArrayObject, tuple[ArrayObject | None, ArrayObject | None]]


def late_bindings(lo: Lowerer, it: Attempt, sure: Collection[str]) -> dict[str, Binding]:
    """Names first bound in the body are results of a loop that surely runs, and so is `return`.

    So are the contents of the lists, dicts and objects that they hold.
    """
    late: dict[str, Binding] = {}
    for name in it.names:
        end = lo.frame.env.get(name, Unbound())
        if name in it.bound or isinstance(end, Unbound | Unstable | Late):
            continue
        if name in lo.frame.partial and not is_of_exit(name):
            continue
        if name not in sure and isinstance(it.before.env.get(name), Unstable):
            continue  # if no iteration runs, it is still what it was
        if name in sure or all(isinstance(leaf, Num) for leaf in leaves(end)):
            late[name] = end
            for slot, held in _contents(lo, it.before, name).items():
                if name in sure or all(isinstance(leaf, Num) for leaf in leaves(held)):
                    late[slot] = held
    return late


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


def late_values(lo: Lowerer, before: State, ends: dict[str, Binding]) -> list[Carried]:
    values: list[Carried] = []
    for name, now in ends.items():
        for k, leaf in enumerate(leaves(now)):
            operand = leaf.operand if isinstance(leaf, Num) else lo.versions[leaf.object]
            if isinstance(leaf, ArrayRef) and (
                leaf.object in lo.origin or leaf.object in before.versions
            ):
                continue
            param = lo.builder.value(hint_of(name), operand.type)
            init: Operand = param
            old = before.env.get(name)
            if isinstance(old, Late) and same_numbers(old.inner, now):
                # An earlier loop may have bound it, and this one may run no iteration.
                init = _operand(list(leaves(old.inner))[k])
            values.append(Carried(init, param, (f"late {name}", k), operand))
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


def bind_after(
    lo: Lowerer, it: Attempt, ends: dict[str, Binding], sure: Collection[str], trips: Operand | None
) -> None:
    """Make the loop's results the state.

    `ends` has what names first bound in the body are bound to at its end.
    """
    end_env, stale = lo.frame.env, dict(lo.stale)
    made: list[_Made] = []
    late = {item.key: item for item in it.carried}
    lo.restore(it.before)
    known = {*it.before.versions, *it.before.env}
    lo.stale.update({each: text for each, text in stale.items() if each in known})
    for item in it.carried:
        if isinstance(item.key, ArrayObject):
            version = _out(item)
            assert isinstance(version, Value)
            lo.versions[item.key] = version
    for name in it.bound:
        lo.frame.env[name] = _bound_after(lo, it, end_env, made, name)
    ran: Operand | None = None
    # Arrays that the body made, by what they are after the loop: names of one stay names of one.
    lasting: dict[ArrayObject, ArrayRef] = {}
    slots = [name for name in ends if is_slot(name) and name not in it.names]
    for name in (*it.names, *slots):
        if name in it.bound:
            continue
        if name in ends:
            now = ends[name]
            lo.frame.env[name] = _late_after(lo, now, end_env, late, lasting, made, name)
            if name not in sure and name not in slots:
                if ran is None and trips is not None:
                    ran = lo.builder.apply("gt", trips, integer(0), hint="ran")
                lo.frame.env[name] = _if_it_ran(lo, it.before.env.get(name), now, ran, name)
        elif is_of_exit(name) and isinstance(end := end_env.get(name, Unbound()), Unstable):
            lo.frame.env[name] = end  # of one of several kinds: it is refused where it is read
        elif not isinstance(it.before.env.get(name), Unstable):
            lo.frame.env[name] = _may_not_run(lo)
    _relate(lo, it.before, made, stale)


def _out(item: Carried) -> Operand:
    """Return a carried value after the loop."""
    return item.init if item.result is None else item.result


def _may_not_run(lo: Lowerer) -> Unbound:
    return Unbound(f"the loop at line {line_of(lo)} may run no iteration that assigns it")


def _bound_after(
    lo: Lowerer, it: Attempt, end_env: dict[str, Binding], made: list[_Made], name: str
) -> Binding:
    """Return what a name that was bound before the loop is bound to after it."""
    end = end_env.get(name, Unbound())
    if name in it.memo.dropped:
        return Unstable(f"is of a kind that depends on how the loop at line {line_of(lo)} ends")
    if isinstance(end, Unbound):
        return end if end.why else Unbound("a loop may delete it")
    start = it.before.env[name]
    found: list[Num | ArrayRef] = []
    for k, leaf in enumerate(leaves(start)):
        item = it.by_key.get((name, k))
        if item is None:
            found.append(leaf)
        elif isinstance(leaf, Num):
            found.append(Num(_out(item)))
        else:
            inner = it.fresh[name, k].object
            result = _result_array(lo, name, item, inner, leaf)
            made.append((result.object, (inner, array_of(end_env, (name, k)))))
            if leaf.object in it.before.stale:
                lo.stale[result.object] = it.before.stale[leaf.object]
            found.append(result)
    return rebuild(start, iter(found))


def _late_after(
    lo: Lowerer,
    now: Binding,
    end_env: dict[str, Binding],
    late: Mapping[tuple[str, int] | ArrayObject, Carried],
    lasting: dict[ArrayObject, ArrayRef],
    made: list[_Made],
    name: str,
) -> Binding:
    """Return what a name that the body binds first is bound to, if an iteration has run.

    `now` is what it is bound to at the end of the body; `lasting` are the arrays found so far.
    """
    parts: list[Num | ArrayRef] = []
    for k, leaf in enumerate(leaves(now)):
        item = late.get((f"late {name}", k))
        if item is None:
            parts.append(leaf)
        elif isinstance(leaf, Num):
            parts.append(Num(_out(item)))
        elif leaf.object in lasting:
            parts.append(lasting[leaf.object])
        else:
            value = _out(item)
            assert isinstance(value, Value)
            dims = tuple(
                lo.sizes.counts(
                    lo.builder.apply("dim", value, params=(axis,), hint=f"{value.name}.dim")
                )
                for axis in range(value.type.rank)
            )
            owners = [n for n in holders(end_env, name) if n[0] != "$"]
            called = owners[0] if owners else hint_of(name)
            lasting[leaf.object] = lo.new_array(value, dims, called)
            made.append((lasting[leaf.object].object, (None, leaf.object)))
            parts.append(lasting[leaf.object])
    return rebuild(now, iter(parts))


def _if_it_ran(
    lo: Lowerer, old: Binding | None, now: Binding, ran: Operand | None, name: str
) -> Binding:
    """Return what a name is bound to that is only bound if an iteration has `ran`."""
    if ran is None:
        return _may_not_run(lo)
    if not isinstance(old, Late):
        return Late(lo.frame.env[name], ran, "")
    if not same_numbers(old.inner, now):
        return Unbound("two loops assign it, and possibly neither has run")
    flag = lo.builder.apply("or", old.flag, ran, hint="ran")
    return Late(lo.frame.env[name], flag, old.lost)


def _relate(
    lo: Lowerer, before: State, made: list[_Made], stale: dict[ArrayObject | str, str]
) -> None:
    """Note which of the arrays that names denote after the loop may be one."""
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
    lo: Lowerer, name: str, item: Carried, obj: ArrayObject, entry: ArrayRef
) -> ArrayRef:
    """Return the object that a rebound name denotes after the loop."""
    version = item.init if item.result is None else item.result
    assert isinstance(version, Value)
    name = entry.object.name if is_slot(name) else name
    # No iteration changes a size that the array had before the loop.
    dims = tuple(
        size
        if isinstance(size, Literal) or size in lo.dims[entry.object]
        else lo.sizes.counts(lo.builder.apply("dim", version, params=(axis,), hint=f"{name}.dim"))
        for axis, size in enumerate(lo.dims[obj])
    )
    return lo.new_array(version, dims, name)
