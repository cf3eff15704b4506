"""Loops: variables that an iteration may change are loop-carried, and types join to a fixed point.

A loop is lowered by attempts. Each attempt records its findings (a wider type, a name bound to
another array, a suspected alias) in a memo, and the next attempt starts from it. The memo outlives
the attempts of enclosing loops, so nesting does not multiply the number of attempts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from adc.frontend.control import forms
from adc.frontend.control.carried import close
from adc.frontend.control.control import (
    FALLS,
    RESULT,
    is_of_exit,
    line_of,
    set_exit,
    unread,
)
from adc.frontend.control.findings import (
    Carried,
    LoopMemo,
    Retry,
    array_of,
)
from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Growing,
    Late,
    Maybe,
    Num,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    related,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Dead, State
from adc.frontend.core.structure import (
    holders,
    is_cell,
    is_slot,
    leaves,
    places_of,
    rebuild,
    refs,
    shape_of,
    with_place,
)
from adc.frontend.syntax import scope
from adc.frontend.values.growing import list_buffers
from adc.ir.builder import integer
from adc.ir.core import Block, For, Literal, Operand, Stmt, Value, While
from adc.ir.errors import TypeUnstableError
from adc.ir.types import BOOL, INT, Array, Scalar, join
from adc.ir.walk import substitute_block

# An array that a name denotes after the loop, and what it was when an iteration began (None if no
# name had it) and when it ended.
_Made = tuple[ArrayObject, tuple[ArrayObject | None, ArrayObject | None]]


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
        key,
        LoopMemo(
            unrolls=unrolls,
            breaks=breaks,
            avoids_none=unrolls or (peels and trips is not None),
            avoids_numbers=peels and trips is None,
        ),
    )
    assert isinstance(memo, LoopMemo)
    before = lo.point()
    emitted = lo.builder.emitted
    for attempt in range(40):
        if attempt:
            # What is lowered again does not make the program longer.
            lo.builder.emitted = emitted
            lo.undo(before)
        lo.inlines += 1
        try:
            entry, slots = _entered(lo, memo, node)
            always = {*names, *slots} if definite else {*sure, RESULT}
            _attempt(lo, entry, memo, [*names, *slots], body, trips, definite, always)
            return
        except Retry:
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
    for slot in sorted({slot for slot, _ in memo.opened} & env.keys()):
        _open(lo, memo, slot)
    for name, why in memo.unstable.items():
        env[name] = Unstable(why)
    for name, like in sorted(memo.forms.items()):
        if name in env:
            absent = forms.is_absent(env[name])
            if absent and isinstance(like, Maybe) and isinstance(like.inner, Ref):
                made = _unread(lo, memo, like.inner.slot, memo.contents[name])
                inner = replace(like.inner, slot=made[like.inner.slot])
                env[name] = Maybe(inner, Literal(False, BOOL), like.absent)
                slots.update(made.values())
            _convert(lo, memo, name, like)
    for name in sorted(memo.relisted):
        held = env.get(name)
        old = held.inner if isinstance(held, Maybe) else held
        if isinstance(old, Ref) and old.slot not in env:
            # It was made in a loop before, and what it held then is not known here.
            env[name] = Unbound("an earlier loop may not have run")
        elif isinstance(old, Ref):
            own = _own(lo, memo, name, old)
            env[name] = replace(held, inner=own) if isinstance(held, Maybe) else own
            slots.add(own.slot)
    for slot, key in memo.replaced:
        held = places_of(env.get(slot, NONE)).get(key)
        old = held.inner if isinstance(held, Maybe) else held
        if isinstance(old, Ref) and old.slot in env:
            own = _own(lo, memo, slot, old)
            item = replace(held, inner=own) if isinstance(held, Maybe) else own
            env[slot] = with_place(env[slot], key, item)
            slots |= {own.slot, *filter(is_slot, [slot])}
    for slot, element in memo.growing.items():
        held = env.get(slot)
        if isinstance(held, TupleOf | RecordOf | Growing):
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


def _open(lo: Lowerer, memo: LoopMemo, slot: str) -> None:
    """Bind the attributes from outside that iterations change."""
    for key in sorted((key for each, key in memo.opened if each == slot), key=str):
        record = lo.frame.env[slot]
        assert isinstance(record, RecordOf)
        item = outside.opened(lo, record.items[record.keys.index(key)])
        lo.frame.env[slot] = record.with_item(key, item)


def _unread(
    lo: Lowerer, memo: LoopMemo, slot: str, contents: Mapping[str, Binding]
) -> dict[str, str]:
    """Make a list, dict or object like one that iterations make, which nothing reads before.

    `contents` are what that holds and what is in it, by the slots of an earlier attempt. Returns
    the new slots of these.
    """
    made: dict[str, str] = {}

    def like(ref: Ref) -> Ref:
        return replace(ref, slot=make(ref.slot)) if ref.slot in contents else ref

    def make(slot: str) -> str:
        if slot not in made:
            made[slot] = lo.new_slot("unread", slot)
            held = contents[slot]
            held = forms.unread(lo, rebuild(held, iter(list(leaves(held))), like))
            lo.frame.env[made[slot]] = _all_stable(lo, memo, made[slot], held, ())
        return made[slot]

    make(slot)
    return made


def _own(lo: Lowerer, memo: LoopMemo, name: str, old: Ref) -> Ref:
    """Return a list, dict or object for what a name or a container is bound to before the loop.

    An iteration puts there what the new one holds that it binds the name to.
    """
    known = _is_known(lo, name, old.slot)
    slot = lo.new_slot("own", name, old.slot)
    held = lo.frame.env[slot] = lo.contents_of(old)
    lo.note_pool(slot, held)
    _open(lo, memo, slot)
    if slot in memo.forms:
        _convert(lo, memo, slot, memo.forms[slot])
    lo.lend(slot, old)
    if known:
        # Until an iteration binds the name again, a change of either is one of both.
        lo.suspect(slot, (old.slot,))
    return replace(old, slot=slot)


def _is_known(lo: Lowerer, name: str, slot: str) -> bool:
    """Whether a list, dict or object may have other names, in functions that call this one too."""
    own = [each for each in refs(lo.frame.env[name]) if each.slot == slot]
    if slot in lo.initial or set(holders(lo.frame.env, slot)) - {name} or len(own) > 1:
        return True
    frame = lo.frame.caller
    while frame is not None:
        if holders(frame.env, slot):
            return True
        frame = frame.caller
    return False


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
        if isinstance(leaf, ArrayRef) and leaf.object not in known and leaf.object not in lo.origin
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
    suspects = {obj: set(obj.alias) for obj in before.versions}
    bound = [
        n for n in names if not isinstance(before.env.get(n, Unbound()), Unbound | Unstable | Late)
    ]
    carried, fresh = _begun(lo, before, memo, names, bound)
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
            close(lo, before, memo, carried, by_key, fresh, bound)
            if any(obj.alias & before.versions.keys() - known for obj, known in suspects.items()):
                raise Retry  # what an iteration does last, the next one knows first
            ends = _late_bindings(lo, before, names, bound, sure)
            late = _late_values(lo, before, ends)
        else:
            ends, late = {}, []
    carried += late
    if dead and definite:
        # Nothing after the loop can be reached; its body still must run.
        late = []
    _emit(lo, label, index, trips, carried, stmts, again)
    if dead and definite:
        raise Dead
    _after(lo, before, memo, ends, carried, by_key, fresh, bound, names, sure, trips)


def _begun(
    lo: Lowerer, before: State, memo: LoopMemo, names: Sequence[str], bound: Sequence[str]
) -> tuple[list[Carried], dict[tuple[str, int], ArrayRef]]:
    """Bind names to what they are when an iteration begins.

    Returns what the loop carries, and the arrays that are objects of their own in the body: those
    that a name or place has in it.
    """
    carried: list[Carried] = []
    fresh: dict[tuple[str, int], ArrayRef] = {}

    def opened(name: str, key: tuple[str, int], leaf: Num | ArrayRef) -> Num | ArrayRef:
        if isinstance(leaf, Num):
            ty = leaf.operand.type
            assert isinstance(ty, Scalar)
            wide = memo.types.get(key, ty)
            assert isinstance(wide, Scalar)
            ty = join(ty, wide)
            item = Carried(lo.exact(leaf.operand, ty), lo.builder.value(_hint(name), ty), key)
            carried.append(item)
            return Num(item.param)
        if key not in memo.fresh:
            return leaf
        obj = leaf.object
        array = memo.types.get(key, obj.type)
        assert isinstance(array, Array)
        carried.append(Carried(before.versions[obj], lo.builder.value(_hint(name), array), key))
        called = obj.name if is_slot(name) else name
        kept = obj.kept | memo.kept.get(key, frozenset())
        fresh[key] = ArrayRef(ArrayObject(array, called, lo.builder.loc, kept=kept))
        return fresh[key]

    with lo.builder.block() as opening:
        for name in bound:
            start = before.env[name]
            memo.see(name, start)
            found = [opened(name, (name, k), leaf) for k, leaf in enumerate(leaves(start))]
            lo.frame.env[name] = rebuild(start, iter(found))
        for name in names:
            if name not in bound:
                start = before.env.get(name, Unbound())
                lo.frame.env[name] = Unbound() if isinstance(start, Late) else start
    lo.builder.stmts.extend(opening)
    for obj, version in list(lo.versions.items()):
        item = Carried(version, lo.builder.value(obj.name, obj.type), obj)
        carried.append(item)
        lo.versions[obj] = item.param
    return carried, fresh


def _hint(name: str) -> str:
    if is_slot(name) and not is_cell(name):
        return "h"
    return name[1:] if name.startswith("$") else name


def _open_fresh(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    fresh: dict[tuple[str, int], ArrayRef],
    by_key: dict[tuple[str, int] | ArrayObject, Carried],
) -> None:
    """Give the objects that rebound names denote in the body their versions, sizes, suspects."""
    entries = _entries(before, fresh)
    # What names outside of the loop denote still, by object.
    held = {
        leaf.object
        for name, binding in before.env.items()
        for k, leaf in enumerate(leaves(binding))
        if isinstance(leaf, ArrayRef) and (name, k) not in fresh
    }
    for key, ref in fresh.items():
        obj = ref.object
        lo.versions[obj] = by_key[key].param
        entry = entries[key]
        if entry in before.stale:
            lo.stale[obj] = before.stale[entry]
        lo.dims[obj] = tuple(
            lo.sizes.counts(
                lo.builder.apply("dim", by_key[key].param, params=(axis,), hint=f"{obj.name}.dim")
            )
            if (*key, axis) in memo.sizes
            else size
            for axis, size in enumerate(lo.dims[entry])
        )
        # On the first iteration it is the object that the name had on entry, if anybody else
        # still holds that one.
        if entry in held or entry in lo.origin or _held_outside(lo, entry):
            suspect(obj, entry)
        for other in entry.alias:
            if other in before.versions:
                suspect(obj, other)
    keys = list(fresh)
    for i, a in enumerate(keys):
        for b in keys[i + 1 :]:
            if related(entries[a], entries[b]):
                suspect(fresh[a].object, fresh[b].object)
    for pair in memo.alias:
        ends = [
            fresh[end].object if isinstance(end, tuple) else end
            for end in pair
            if not isinstance(end, tuple) or end in fresh
        ]
        if len(ends) == 2:
            suspect(*ends)


def _entries(before: State, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], ArrayObject]:
    """Return the arrays of names and places before the loop."""
    known = {name: list(leaves(before.env[name])) for name in {name for name, _ in keys}}
    found: dict[tuple[str, int], ArrayObject] = {}
    for name, k in keys:
        leaf = known[name][k]
        assert isinstance(leaf, ArrayRef)
        found[name, k] = leaf.object
    return found


def _held_outside(lo: Lowerer, obj: ArrayObject) -> bool:
    """Whether a frame other than the current one has a name for `obj`."""
    frame = lo.frame.caller
    while frame is not None:
        for binding in frame.env.values():
            if any(isinstance(leaf, ArrayRef) and leaf.object is obj for leaf in leaves(binding)):
                return True
        frame = frame.caller
    return False


def _late_bindings(
    lo: Lowerer,
    before: State,
    names: Sequence[str],
    bound: Sequence[str],
    sure: Collection[str],
) -> dict[str, Binding]:
    """Names first bound in the body are results of a loop that surely runs, and so is `return`.

    So are the contents of the lists, dicts and objects that they hold.
    """
    late: dict[str, Binding] = {}
    for name in names:
        end = lo.frame.env.get(name, Unbound())
        if name in bound or isinstance(end, Unbound | Unstable | Late):
            continue
        if name in lo.frame.partial and not is_of_exit(name):
            continue
        if name not in sure and isinstance(before.env.get(name), Unstable):
            continue  # if no iteration runs, it is still what it was
        if name in sure or all(isinstance(leaf, Num) for leaf in leaves(end)):
            late[name] = end
            for slot, held in _contents(lo, before, name).items():
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


def _late_values(lo: Lowerer, before: State, ends: dict[str, Binding]) -> list[Carried]:
    values: list[Carried] = []
    for name, now in ends.items():
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


def _emit(
    lo: Lowerer,
    label: str,
    index: Value | None,
    trips: Operand | None,
    carried: list[Carried],
    stmts: list[Stmt],
    again: Operand | None,
) -> None:
    """Build the loop, without the carried values that no iteration changes."""
    kept: list[Carried] = []
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
    ends: dict[str, Binding],
    carried: list[Carried],
    by_key: dict[tuple[str, int] | ArrayObject, Carried],
    fresh: dict[tuple[str, int], ArrayRef],
    bound: Sequence[str],
    names: Sequence[str],
    sure: Collection[str],
    trips: Operand | None,
) -> None:
    """Make the loop's results the state.

    `ends` has what names first bound in the body are bound to at its end.
    """
    end_env, stale = lo.frame.env, dict(lo.stale)
    made: list[_Made] = []
    late = {item.key: item for item in carried}
    lo.restore(before)
    known = {*before.versions, *before.env}
    lo.stale.update({each: text for each, text in stale.items() if each in known})
    for item in carried:
        if isinstance(item.key, ArrayObject):
            version = _out(item)
            assert isinstance(version, Value)
            lo.versions[item.key] = version
    for name in bound:
        lo.frame.env[name] = _bound_after(lo, before, memo, end_env, by_key, fresh, made, name)
    ran: Operand | None = None
    # Arrays that the body made, by what they are after the loop: names of one stay names of one.
    lasting: dict[ArrayObject, ArrayRef] = {}
    slots = [name for name in ends if is_slot(name) and name not in names]
    for name in (*names, *slots):
        if name in bound:
            continue
        if name in ends:
            now = ends[name]
            lo.frame.env[name] = _late_after(lo, now, end_env, late, lasting, made, name)
            if name not in sure and name not in slots:
                if ran is None and trips is not None:
                    ran = lo.builder.apply("gt", trips, integer(0), hint="ran")
                lo.frame.env[name] = _if_it_ran(lo, before.env.get(name), now, ran, name)
        elif is_of_exit(name) and isinstance(end := end_env.get(name, Unbound()), Unstable):
            lo.frame.env[name] = end  # of one of several kinds: it is refused where it is read
        elif not isinstance(before.env.get(name), Unstable):
            lo.frame.env[name] = _may_not_run(lo)
    _relate(lo, before, made, stale)


def _out(item: Carried) -> Operand:
    """Return a carried value after the loop."""
    return item.init if item.result is None else item.result


def _may_not_run(lo: Lowerer) -> Unbound:
    return Unbound(f"the loop at line {line_of(lo)} may run no iteration that assigns it")


def _bound_after(
    lo: Lowerer,
    before: State,
    memo: LoopMemo,
    end_env: dict[str, Binding],
    by_key: dict[tuple[str, int] | ArrayObject, Carried],
    fresh: dict[tuple[str, int], ArrayRef],
    made: list[_Made],
    name: str,
) -> Binding:
    """Return what a name that was bound before the loop is bound to after it."""
    end = end_env.get(name, Unbound())
    if name in memo.dropped:
        return Unstable(f"is of a kind that depends on how the loop at line {line_of(lo)} ends")
    if isinstance(end, Unbound):
        return end if end.why else Unbound("a loop may delete it")
    start = before.env[name]
    found: list[Num | ArrayRef] = []
    for k, leaf in enumerate(leaves(start)):
        item = by_key.get((name, k))
        if item is None:
            found.append(leaf)
        elif isinstance(leaf, Num):
            found.append(Num(_out(item)))
        else:
            inner = fresh[name, k].object
            result = _result_array(lo, name, item, inner, leaf)
            made.append((result.object, (inner, array_of(end_env, (name, k)))))
            if leaf.object in before.stale:
                lo.stale[result.object] = before.stale[leaf.object]
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
            called = owners[0] if owners else _hint(name)
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
