"""What names are bound to before a loop, in the form that its iterations give them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace

from adc.frontend.control import forms
from adc.frontend.control.iterations.findings import LoopMemo
from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Growing,
    Maybe,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    suspect,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import State
from adc.frontend.core.structure import (
    holders,
    is_slot,
    leaves,
    places_of,
    rebuild,
    refs,
    with_place,
)
from adc.frontend.values.growing import list_buffers
from adc.ir.core import Literal
from adc.ir.types import BOOL


def entered(lo: Lowerer, memo: LoopMemo, node: ast.AST) -> tuple[State, list[str]]:
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
