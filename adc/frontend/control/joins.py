"""Joins: what a name is bound to after an `if`, from what it is bound to on its two paths."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from adc.frontend.control import forms
from adc.frontend.control.exits import (
    BREAK,
    EXIT,
    FALLS,
    NATURAL,
    RAISE,
    RESULT,
    RETURN,
    TORN,
    VALUE,
    exits_of,
    is_of_exit,
)
from adc.frontend.core import bindings, outside
from adc.frontend.core.bindings import (
    UNSET,
    ArrayObject,
    ArrayRef,
    Binding,
    DictRef,
    Growing,
    Late,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Pooled,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    related,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import CONTENTS, Dead, State
from adc.frontend.core.structure import is_cell, is_slot, leaves, pieces, rebuild, refs
from adc.frontend.values import keyed, optional
from adc.frontend.values.growing import list_buffers
from adc.ir.builder import zero
from adc.ir.core import Literal, Operand, Stmt, Value
from adc.ir.errors import TypeUnstableError
from adc.ir.types import BOOL, INT, Array, Scalar, join


@dataclass
class Arm:
    """One path of a branch after lowering: its statements and the state at its end."""

    stmts: list[Stmt]
    state: State
    dead: bool
    exited: bool

    def lookup(self, name: str) -> Binding:
        return self.state.env.get(name, Unbound())


def varies(lo: Lowerer, name: str) -> bool:
    """Whether a name may be bound to one of several values of different kinds (`OneOf`)."""
    if name == VALUE or is_of_exit(name):
        return True
    which = CONTENTS if is_slot(name) else (lo.frame.function, name)
    return which in lo.shared.varied


def is_contents(name: str) -> bool:
    """Whether a name of the state has what a list, dict or object holds."""
    return is_slot(name) and not is_cell(name)


@dataclass
class Merge:
    """Collects the results of an If: pairs of operands, one for each arm."""

    lo: Lowerer
    cond: Operand
    arms: tuple[Arm, Arm]
    before: State
    pairs: list[tuple[Operand | None, Operand | None]] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    objects: dict[tuple[ArrayObject | None, ArrayObject | None], ArrayRef] = field(
        default_factory=dict
    )
    # Lists, dicts and objects made by the join, by the slots that they have on the two paths, and
    # what they hold. None: no kind of contents is common to both.
    references: dict[tuple[str, str], Ref | None] = field(default_factory=dict)
    slots: dict[str, Binding] = field(default_factory=dict)
    # Names that one path binds and that may be read where that path was surely taken, which is
    # checked when the program runs; True: all.
    late: bool | Collection[str] = False
    # Whether what joins now may be of different kinds.
    varies: bool = False

    def result(self, a: Operand | None, b: Operand | None, hint: str) -> Value:
        """Return the result of the If that is `a` or `b`; None is a value that is not read."""
        ty = (a or b).type  # type: ignore[union-attr]  # not both None
        if a is not None and b is not None and isinstance(ty, Scalar):
            assert isinstance(b.type, Scalar)
            ty = join(ty, b.type)
            a, b = self.convert(0, a, ty), self.convert(1, b, ty)
        elif isinstance(ty, Array) and a is not None and b is not None and a.type != b.type:
            ty = Array(ty.dtype, ty.rank, "A")
        value = self.lo.builder.value(hint, ty)
        if a is not None and b is not None and ty == INT:
            self.lo.sizes.bits[value] = max(self.lo.sizes.bits_of(a), self.lo.sizes.bits_of(b))
        self.pairs.append((a, b))
        self.results.append(value)
        return value

    def convert(self, arm: int, operand: Operand, ty: Scalar) -> Operand:
        with self.lo.builder.block() as stmts:
            operand = self.lo.exact(operand, ty)
        self.arms[arm].stmts.extend(stmts)
        return operand

    def leaf(self, name: str, a: Num | ArrayRef | None, b: Num | ArrayRef | None) -> Num | ArrayRef:
        if isinstance(a, Num) or isinstance(b, Num):
            x = a.operand if isinstance(a, Num) else None
            y = b.operand if isinstance(b, Num) else None
            if x == y and x is not None:
                return a  # type: ignore[return-value]
            return Num(self.result(x, y, name))
        p = a.object if a is not None else None
        q = b.object if b is not None else None
        if p is q and p in self.before.versions:
            assert p is not None
            return ArrayRef(p)
        return self.array(name, p, q)

    def array(self, name: str, p: ArrayObject | None, q: ArrayObject | None) -> ArrayRef:
        """Return the object that is `p` on one path and `q` on the other."""
        if (p, q) not in self.objects:
            first, second = (arm.state.versions for arm in self.arms)
            value = self.result(
                None if p is None else first[p], None if q is None else second[q], name
            )
            alias = {obj for obj in (p, q) if obj is not None and obj in self.before.versions}
            for (r, s), other in self.objects.items():
                if related(p, r) or related(q, s):
                    alias.add(other.object)
            # Objects that these may be stay suspects.
            for obj in (p, q):
                if obj is not None:
                    alias |= {o for o in obj.alias if o in self.before.versions}
            dims = tuple(self.dim(p, q, axis, value) for axis in range(value.type.rank))
            joined = self.lo.new_array(value, dims, name, sorted_objects(alias))
            for obj, arm in zip((p, q), self.arms, strict=True):
                if obj is not None and obj in arm.state.stale:
                    self.lo.stale[joined.object] = arm.state.stale[obj]
                joined.object.kept |= obj.kept if obj is not None else frozenset()
            self.objects[p, q] = joined
        return self.objects[p, q]

    def dim(self, p: ArrayObject | None, q: ArrayObject | None, axis: int, value: Value) -> Operand:
        sizes = {self.lo.dims[obj][axis] for obj in (p, q) if obj is not None}
        if len(sizes) == 1:
            (size,) = sizes
            if isinstance(size, Literal) or not self.inside(size):
                return size
        return LateSize(axis, value)  # type: ignore[return-value]  # replaced after the If

    def inside(self, value: Value) -> bool:
        """Whether `value` is defined within one of the arms."""
        return any(value in _defined(arm.stmts) for arm in self.arms)

    def binding(self, name: str) -> Binding:
        first, second = self.arms
        a, b = first.lookup(name), second.lookup(name)
        lo = self.lo
        hint = name if name[0] != "$" else name[1:]
        if first.dead and second.dead:
            return a
        if first.dead or second.dead:
            live = b if first.dead else a
            return self.one_sided(hint, live, 1 if first.dead else 0)
        partial = name in first.state.partial or name in second.state.partial
        late = self.late if isinstance(self.late, bool) else name in self.late
        if late and isinstance(a, Late) != isinstance(b, Late) and Unbound() in (a, b):
            return self.sometimes(hint, a if isinstance(a, Late) else b, isinstance(b, Late))
        if a is not b and (isinstance(a, Late) or isinstance(b, Late)):
            a = Unbound("an earlier loop may not have run") if isinstance(a, Late) else a
            b = Unbound("an earlier loop may not have run") if isinstance(b, Late) else b
        if isinstance(a, Unbound) or isinstance(b, Unbound):
            return self.unbound_on_one(name, hint, a, b, late)
        if partial:
            lo.frame.partial.add(name)
        if a is b and self.is_old(a):
            return a
        if not is_of_exit(name) and not is_slot(name):
            # What is None only on a path that the function is left on is read nowhere.
            for arm, here, other, side in ((first, a, b, 1), (second, b, a, 0)):
                unlike = forms.is_absent(here) != forms.is_absent(other)
                if arm.exited and unlike and self.leaves_function(arm):
                    return self.without(name, hint, other, arm, side)
        exits = self.exits(name) if is_slot(name) else frozenset()
        # Nobody reads what it is on a path that was left.
        left = not is_of_exit(name) and not exits - {BREAK}
        # After `break` it is read: of two paths with exits, one that leaves the function is not.
        sides = sorted(
            ((first, a, b, 1), (second, b, a, 0)),
            key=lambda each: not (each[0].exited and self.leaves_function(each[0])),
        )
        if isinstance(a, Unstable) or isinstance(b, Unstable):
            for arm, here, other, side in sides:
                if arm.exited and left and isinstance(here, Unstable):
                    return self.without(name, hint, other, arm, side)
            return a if isinstance(a, Unstable) else b
        a, b = self.opened(*self.conformed(name, a, b))
        self.varies = varies(lo, name)
        if is_slot(name) and (exits or not (first.exited or second.exited)):
            a, b = (a, b) if is_cell(name) else self.listed(a, b)
            for side, held in enumerate((a, b)):
                if isinstance(held, Growing):
                    self.keep_contents(held, side)
        joined = self.joined(hint, a, b)
        if joined is not None and not (isinstance(joined, OneOf) and is_contents(name)):
            return joined
        for arm, _, other, side in sides:
            if arm.exited and left:
                return self.without(name, hint, other, arm, side)
        what = forms.difference(a, b) if is_slot(name) else ("is", kind_of(a), kind_of(b))
        return Unstable(
            "{} {} on one path and {} on another".format(*what) + f" (line {line_of(lo)})"
        )

    def unbound_on_one(self, name: str, hint: str, a: Binding, b: Binding, late: bool) -> Binding:
        """Bind a name that at least one arm does not."""
        first, second = self.arms
        missing, other, side = (first, b, 1) if isinstance(a, Unbound) else (second, a, 0)
        if isinstance(other, Unbound):
            return other if other.why else a
        if is_of_exit(name):
            self.keep_contents(other, side)
            return self.one_sided(hint, other, side)
        if missing.exited:
            return self.without(name, hint, other, missing, side)
        if late:
            return self.sometimes(hint, other, side)
        return Unbound(f"it is not assigned on every path (line {line_of(self.lo)})")

    def is_old(self, binding: Binding) -> bool:
        """Whether all arrays in what a name is bound to were there before the arms."""
        return all(
            leaf.object in self.before.versions
            for leaf in pieces(binding)
            if isinstance(leaf, ArrayRef)
        )

    def without(self, name: str, hint: str, binding: Binding, gone: Arm, side: int) -> Binding:
        """Bind a name to what arm `side` has, where the other one ends with an exit."""
        self.lo.frame.partial.add(name)
        if not self.leaves_function(gone):
            self.lo.frame.partial.add(TORN + name)
        return self.one_sided(hint, binding, side)

    def leaves_function(self, arm: Arm) -> bool:
        """Whether every exit that an arm ends with leaves the function, and no `try` around it."""
        if self.lo.caught:
            return False
        pending = arm.lookup(EXIT)
        assert isinstance(pending, Num)
        return exits_of(self.lo, pending.operand) <= {RETURN, RAISE}

    def exits(self, slot: str) -> frozenset[int]:
        """Return the exits after which the contents of a list, dict or object may be read.

        After `break` only what comes after the loop reads it, after `return` only who has the
        result, or a name for it outside.
        """
        found: set[int] = set()
        for arm in self.arms:
            if not arm.exited:
                continue
            pending = arm.lookup(EXIT)
            assert isinstance(pending, Num)
            codes = exits_of(self.lo, pending.operand) - {FALLS, NATURAL}
            if RETURN in codes and not self.returned(arm, slot):
                codes -= {RETURN}
            found |= codes
        return frozenset(found)

    def returned(self, arm: Arm, slot: str) -> bool:
        """Whether code outside the function may read a list, dict or object."""
        caller = self.lo.frame.caller
        if (caller is not None and slot in caller.env) or self.lo.outlasts(slot):
            return True
        todo, seen = [arm.lookup(RESULT)], set[str]()
        while todo:
            for ref in refs(todo.pop()):
                if ref.slot not in seen:
                    seen.add(ref.slot)
                    todo.append(arm.lookup(ref.slot))
        return slot in seen

    def conformed(self, name: str, a: Binding, b: Binding) -> tuple[Binding, Binding]:
        """Bring what the arms bind to one form, each in its arm."""
        found: list[Binding] = []
        for side, (like, binding) in enumerate(((b, a), (a, b))):
            with self.within(side):
                found.append(forms.conformed(self.lo, like, binding, name))
        return found[0], found[1]

    def listed(self, a: Binding, b: Binding) -> tuple[Binding, Binding]:
        """Give two lists of different lengths the form of a length known at run time.

        And two dicts or sets that of keys known at run time, if they have no other common form.
        """
        lists = (a, b)
        if not all(isinstance(x, TupleOf | Growing | RecordOf) for x in lists):
            return a, b
        if forms.joinable(a, b):
            return a, b
        if isinstance(a, RecordOf) and isinstance(b, RecordOf) and keyed.merged(a, b) is not None:
            return a, b
        element = list_buffers.common(self.lo, lists)
        if element is None:
            return a, b
        found: list[Binding] = []
        try:
            for side, x in enumerate(lists):
                with self.within(side):
                    found.append(list_buffers.grown(self.lo, x, element, None))
        except TypeUnstableError:  # one has arrays of several shapes
            return a, b
        return found[0], found[1]

    @contextmanager
    def within(self, side: int) -> Iterator[None]:
        """Add what is lowered here to the end of an arm."""
        lo, state = self.lo, self.arms[side].state
        outer = lo.versions, lo.sizes.known, lo.frame.env
        lo.versions, lo.sizes.known, lo.frame.env = state.versions, dict(state.known), state.env
        try:
            with lo.builder.block() as stmts:
                yield
        except Dead:
            raise TypeUnstableError(
                "what two paths leave has no common form", lo.builder.loc,
                "use the same kind of value on every path",
            ) from None  # fmt: skip
        finally:
            lo.versions, lo.sizes.known, lo.frame.env = outer
        self.arms[side].stmts.extend(stmts)

    def joined(self, hint: str, a: Binding, b: Binding) -> Binding | None:
        """Return what is `a` on one path and `b` on the other; None if nothing is."""
        if forms.is_optional(a) or forms.is_optional(b):
            return self.optional(hint, a, b)
        if isinstance(a, Ref) and isinstance(b, Ref):
            stays = self.stays(a, b)
            merges = bindings.one_class(a, b) and not stays
            one = self.reference(hint, a, b) if merges else None
            return one or (self.one_of(hint, a, b) if stays or self.varies else None)
        if isinstance(a, OneOf) or isinstance(b, OneOf):
            return self.one_of(hint, a, b)
        match a, b:
            case (TupleOf(items=p), TupleOf(items=q)) if len(p) == len(q):
                found = self.all_joined(hint, p, q)
                return None if found is None else TupleOf(found)
            case RecordOf(), RecordOf():
                # A key that only one path has set may be absent.
                found_keys = keyed.merged(a, b)
                if found_keys is None:
                    return None
                p, q = (tuple(each.get(key) or UNSET for key in found_keys) for each in (a, b))
                found = self.all_joined(hint, p, q)
                return None if found is None else RecordOf(found_keys, found)
            case NamedTuple(cls=cls, record=p), NamedTuple(cls=other, record=q) if cls is other:
                record = self.joined(hint, p, q)
                return NamedTuple(cls, record) if isinstance(record, RecordOf) else None
        if not forms.joinable(a, b):
            if isinstance(a, Pooled) and isinstance(b, Pooled) and a.is_list and b.is_list:
                self.lo.want_one_pool(a.pool, b.pool)
            return self.one_of(hint, a, b) if self.varies else None
        pairs = zip(leaves(a), leaves(b), strict=True)
        return rebuild(a, iter([self.leaf(hint, x, y) for x, y in pairs]))

    def optional(self, hint: str, a: Binding, b: Binding) -> Binding | None:
        """Return what may be absent: `a` on one path and `b` on the other."""
        absent = forms.absent_of(a, b)
        (x, p), (y, q) = (forms.parts_of_optional(each, absent) for each in (a, b))
        if x is None and y is None:
            return a
        if x is None or y is None:
            only = x or y
            if only is None or not forms.may_be_optional(only):
                return None
            side = 0 if y is None else 1
            self.keep_contents(only, side)
            inner: Binding | None = self.one_sided(hint, only, side)
        else:
            inner = self.joined(hint, *self.conformed("", x, y))
        if inner is None:
            return None
        return Maybe(inner, self.flag(f"{hint}.some", p, q), absent)

    def one_of(self, hint: str, a: Binding, b: Binding) -> Binding | None:
        """Return what is one of several: `a` on one path and `b` on the other."""
        if not (forms.may_vary(a) and forms.may_vary(b)):
            return None
        if forms.waits(self.lo, a) or forms.waits(self.lo, b):
            return None
        first, second = 0, 1
        if isinstance(b, OneOf) and not isinstance(a, OneOf):
            a, b, first, second = b, a, 1, 0  # its items keep their numbers
        (items, p), (others, q) = forms.items_of(a), forms.items_of(b)
        places = forms.places_in(self.lo, items, others)
        count, numbers_ = len(items), list[int]()
        for k in places:
            numbers_.append(count if k is None else k)
            count += k is None
        if len(set(numbers_)) < len(numbers_) or count > forms.MOST:
            return None
        found: list[Binding | None] = []
        for k in range(count):
            x = items[k] if k < len(items) else None
            y = others[numbers_.index(k)] if k in numbers_ else None
            if x is None or y is None:
                only = y if x is None else x
                assert only is not None
                self.keep_contents(only, second if x is None else first)
                found.append(self.one_sided(hint, only, second if x is None else first))
            else:
                pair = (x, y) if first == 0 else (y, x)
                found.append(self.joined(hint, *self.conformed("", *pair)))
        if None in found:
            return None
        with self.within(second):
            q = optional.renumbered(self.lo, q, numbers_)
        p, q = (p, q) if first == 0 else (q, p)
        which = self.leaf(f"{hint}.which", Num(p), Num(q))
        assert isinstance(which, Num)
        return OneOf(tuple(filter(None, found)), which.operand)

    def flag(self, hint: str, p: Operand, q: Operand) -> Operand:
        """Return the flag that is `p` on one path and `q` on the other."""
        match p, q:
            case Literal(value=True), Literal(value=False):
                return self.cond
            case Literal(value=False), Literal(value=True):
                return optional.negated(self.lo, self.cond)
        found = self.leaf(hint, Num(p), Num(q))
        assert isinstance(found, Num)
        return found.operand

    def keep_contents(self, binding: Binding, side: int) -> None:
        """Keep what the lists, dicts and objects hold that only arm `side` made."""
        for ref in refs(binding):
            if ref.slot not in self.before.env and ref.slot not in self.slots:
                held = self.arms[side].lookup(ref.slot)
                if not isinstance(held, Unbound):  # else the other arm made it
                    self.slots[ref.slot] = self.one_sided("item", held, side)
                    self.keep_contents(held, side)

    def all_joined(
        self, hint: str, p: Sequence[Binding], q: Sequence[Binding]
    ) -> tuple[Binding, ...] | None:
        found = [self.joined(hint, x, y) for x, y in zip(p, q, strict=True)]
        return None if None in found else tuple(filter(None, found))

    def reference(self, hint: str, a: Ref, b: Ref) -> Binding | None:
        """Return the list, dict or object that is `a` on one path and `b` on the other.

        It gets a slot of its own. A write to one of the three forbids reads of the others.
        """
        if a.slot == b.slot:
            return a
        key = a.slot, b.slot
        if key not in self.references:
            made = self.references[key] = replace(a, slot=self.lo.new_slot(*key))
            x, y = (arm.lookup(ref.slot) for arm, ref in zip(self.arms, (a, b), strict=True))
            if isinstance(x, Pooled) != isinstance(y, Pooled):
                self.lo.want_pool(a, b)
            x, y = self.opened(*self.conformed("", x, y))
            if isinstance(a, ListRef | DictRef):
                x, y = self.listed(x, y)
            held = self.joined(hint, x, y)
            if held is None or isinstance(held, OneOf):
                self.references[key] = None
            else:
                self.slots[made.slot] = held
                self.lo.note_pool(made.slot, held)
                self.lo.lend(made.slot, a, b)
                self.lo.suspect(made.slot, key)
                for old, arm in zip(key, self.arms, strict=True):
                    if old in arm.state.stale:
                        self.lo.stale[made.slot] = arm.state.stale[old]
                list_buffers.inherit_appended(self.lo, made.slot, *key)
                for (p, q), other in self.references.items():
                    if other is not None and (p == a.slot or q == b.slot):
                        self.lo.suspect(made.slot, [other.slot])
        return self.references[key]

    def stays(self, a: Ref, b: Ref) -> bool:
        """Whether what is one of two objects stays so, and changes are seen by all names."""
        known = {a.slot, b.slot} <= self.before.env.keys()
        if self.lo.are_in_one_pool(a.slot, b.slot):
            return False  # it is another name of either, as any number of them are
        parted = self.lo.shared.picks and (isinstance(a, ObjectRef) or self.lo.shared.parted)
        return known and a.slot != b.slot and parted

    def opened(self, a: Binding, b: Binding) -> tuple[Binding, Binding]:
        """Bind the captured attributes that differ on the other path."""
        if not (isinstance(a, RecordOf) and isinstance(b, RecordOf) and a.keys == b.keys):
            return a, b
        lo = self.lo
        for key, x, y in zip(a.keys, a.items, b.items, strict=True):
            if x != y:
                a, b = (
                    a.with_item(key, outside.opened(lo, x)),
                    b.with_item(key, outside.opened(lo, y)),
                )
        for state in (self.before, *(arm.state for arm in self.arms)):
            lo.complete(state.env, state.versions)
        return a, b

    def sometimes(self, hint: str, binding: Binding, side: int) -> Binding:
        """Bind a name that only arm `side` provides, with a flag."""
        inner, there, lost = binding, Literal(True, BOOL), ""
        if isinstance(binding, Late):
            inner, there, lost = binding.inner, binding.flag, binding.lost  # type: ignore[assignment]
        flags = (there, Literal(False, BOOL))
        flag = self.result(flags[side], flags[1 - side], f"{hint}.bound")
        return Late(self.one_sided(hint, inner, side), flag, lost)

    def one_sided(self, hint: str, binding: Binding, side: int) -> Binding:
        """Bind what only arm `side` provides; the other arm yields a value that is not read."""
        if isinstance(binding, Unbound | Unstable):
            return binding
        if isinstance(binding, Late):
            flag = self.one_sided(f"{hint}.bound", Num(binding.flag), side)
            assert isinstance(flag, Num)
            return Late(self.one_sided(hint, binding.inner, side), flag.operand, binding.lost)
        found: list[Num | ArrayRef] = []
        for leaf in leaves(binding):
            if isinstance(leaf, Num):
                if isinstance(leaf.operand, Literal) or not self.inside(leaf.operand):
                    found.append(leaf)
                    continue
            elif leaf.object in self.before.versions:
                found.append(leaf)
                continue
            found.append(self.leaf(hint, leaf, None) if side == 0 else self.leaf(hint, None, leaf))
        return rebuild(binding, iter(found))


class LateSize:
    """A size that must be read from a joined array once the If is built."""

    def __init__(self, axis: int, value: Value) -> None:
        self.axis = axis
        self.value = value


def unread(lo: Lowerer, like: Value) -> Operand:
    """Return some value of a type, for a path on which it is not read."""
    if isinstance(like.type, Scalar):
        return zero(like.type)
    return lo.builder.apply("undef", params=(str(like.type),), hint=like.name)


def line_of(lo: Lowerer) -> int:
    return lo.builder.loc.line if lo.builder.loc else 0


def _defined(stmts: Sequence[Stmt]) -> set[Value]:
    found: set[Value] = set()
    for stmt in stmts:
        found.update(stmt.results)
    return found


def sorted_objects(objects: set[ArrayObject]) -> list[ArrayObject]:
    return sorted(objects, key=lambda obj: (obj.name, id(obj)))
