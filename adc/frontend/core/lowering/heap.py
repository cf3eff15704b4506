"""Arrays and their versions; lists, dicts and objects, and what they hold now."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from adc.frontend.core.bindings import (
    BY_LIST,
    ArrayObject,
    ArrayRef,
    Binding,
    DefaultRef,
    DictRef,
    Growing,
    Late,
    ListRef,
    ObjectRef,
    RecordOf,
    Ref,
    SetRef,
    TupleOf,
    Unbound,
    Unstable,
    is_unset,
    may_be_unset,
)
from adc.frontend.core.lowering.lasting import Lasting
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.sizes import Sizes
from adc.frontend.core.state import CONTENTS, PickedError, Shared, StaleError, VariesError
from adc.frontend.inputs.places import Place
from adc.ir.core import Operand, Value
from adc.ir.errors import AliasError, TypeUnstableError, UnsupportedError
from adc.ir.types import Array
from adc.library.standard import iteration

RefType = TypeVar("RefType", ListRef, SetRef, DictRef, ObjectRef)
# What may last beyond a call if the program changes it.
_LASTING = (ListRef, DictRef, DefaultRef, SetRef, ObjectRef)


class Heap(Lasting):
    """What the program can change: its arrays, lists, dicts and objects."""

    def __init__(self, shared: Shared | None = None) -> None:
        super().__init__(shared)
        self.sizes = Sizes(self.shared)
        self.versions: dict[ArrayObject, Value] = {}
        # What may have been changed under another name, arrays and slots, and how.
        self.stale: dict[ArrayObject | str, str] = {}
        # Lists, dicts and objects that may be one: it depends on the path taken.
        self.kin: dict[str, frozenset[str]] = {}
        self.dims: dict[ArrayObject, tuple[Operand, ...]] = {}
        # Arrays that are parameters: their first version is available everywhere.
        self.origin: dict[ArrayObject, Value] = {}
        # Of 0-d arrays: the parameters in them; the numbers in versions, where known.
        self.boxes: dict[Value, Value] = {}
        self.boxed: dict[Value, Operand] = {}
        # Lists, dicts and objects in elements of a list that are made whenever one is read.
        self.anew: set[str] = set()
        # The numbers in the names of slots, by where lists, dicts and objects are made.
        self.slot_sites: dict[object, int] = {}
        # Where they are made; and of those that stand for others, for which.
        self.made_at: dict[str, object] = {}
        self.instead_of: dict[str, tuple[Ref, ...]] = {}
        # Of those in pools, in which.
        self.pool_of: dict[str, str] = {}
        # Lists, dicts and objects at the end of the function.
        self.heap: dict[str, Binding] = {}
        # How often something was bound: to a variable, or in a list, dict or object.
        self.bindings = 0
        # What was appended to lists, or None if it is not of one kind (`list_elements.element_of`).
        self.appended: dict[str, Binding | None] = {}
        # Sets from which elements were removed, and those whose order matters.
        self.shrunk: set[str] = set()
        self.ordered: set[str] = set()
        # In an update of elements in place: the version to read instead of an older one.
        self.redirected: dict[Value, Value] = {}
        # How the arrays are used that are an attribute of objects in a pool (`note_use`); the
        # innermost branch or loop that this is in, as an object that tells it from others.
        self.uses: dict[object, set[str]] = {}
        self.path = object()
        # Lists, dicts and objects that the loops around change.
        self.changing: frozenset[str] = frozenset()

    # -- arrays ----------------------------------------------------------------------------

    def new_array(
        self,
        version: Value,
        dims: tuple[Operand, ...],
        name: str,
        alias: Sequence[ArrayObject] = (),
    ) -> ArrayRef:
        """Make an object whose current version is `version`."""
        assert isinstance(version.type, Array)
        obj = ArrayObject(version.type, name, self.builder.loc, path=self.path)
        for other in alias:
            if other is not obj:
                obj.alias.add(other)
                other.alias.add(obj)
        self.versions[obj] = version
        self.dims[obj] = dims
        return ArrayRef(obj)

    def version(self, obj: ArrayObject, node: ast.AST | None) -> Value:
        """Return the current version of an array that is read here."""
        if obj in self.stale:
            raise AliasError(
                self.stale[obj],
                self.span(node) if node is not None else self.builder.loc,
                "append a copy, with `.copy()`" if obj.kept
                else "draw on each path" if obj.words
                else "make one of them a copy with `.copy()`",
            )  # fmt: skip
        if obj not in self.versions:
            self.versions[obj] = self.origin[obj]
        return self.versions[obj]

    def update(self, obj: ArrayObject, version: Value) -> None:
        """Make `version` the current one: the program mutated the array."""
        for keeper in obj.kept - BY_LIST:
            self.note_use(keeper, "written")
        if obj.kept & BY_LIST:
            raise AliasError(
                "an array in a list whose length is known only at run time would be changed",
                self.builder.loc,
                "append a copy, and store a new array in its place",
            )
        found = [each for each in (obj, *obj.alias) if each in self.outside]
        if found:
            place = min((self.outside[each] for each in found), key=str)
            error = self.changes_outside("an array", place)
            if self.kept_outside is None or found != [obj] or obj not in self.homes:
                raise error
            self.require_one_name(place, error)
        self.versions[obj] = version
        line = f" (line {self.builder.loc.line})" if self.builder.loc else ""
        for other in obj.alias:
            self.stale[other] = (
                f"{obj.users_name!r} may be in this list and was changed{line}"
                if other.kept
                else f"whether a draw is from {other.users_name!r} depends on the path"
                if other.words
                else f"{other.users_name!r} and {obj.users_name!r} may or may not be the same "
                f"array here, and {obj.users_name!r} was changed"
            )

    def note_use(self, keeper: object, use: str) -> None:
        """Note how arrays are used that are an attribute of objects in a pool.

        They are "written", or one of them may be "shared": it has other names. Where both happen,
        in any order, not all of these would see the change.
        """
        uses = self.uses.setdefault(keeper, set())
        uses.add(use)
        if len(uses) > 1:
            raise AliasError(
                f"arrays are changed in place that are `{keeper}` of objects of which the run "
                "decides how many there are, and one may be that of several", self.builder.loc,
                "give each object an array of its own, with `.copy()`",
            )  # fmt: skip

    # -- lists, dicts, objects -------------------------------------------------------------

    def contents(self, ref: ListRef) -> tuple[Binding, ...]:
        """Return the elements that a list has now."""
        held = self.held(ref)
        if not isinstance(held, TupleOf):
            raise PickedError(
                "this use of a list whose length is known only at run time is not supported",
                self.builder.loc, "make an array of it with `np.array`",
            )  # fmt: skip
        return held.items

    def record(self, ref: DictRef | ObjectRef) -> RecordOf:
        """Return what a dict or object holds now, which does not depend on the path."""
        held = self.entries(ref)
        if any(map(may_be_unset, held.items)):
            what = "attributes" if isinstance(ref, ObjectRef) else "keys"
            raise UnsupportedError(
                f"this use of {kind_of(ref)} with {what} that only some paths set is not supported",
                self.builder.loc, f"set its {what} on every path, or ask for one of them",
            )  # fmt: skip
        return held

    def entries(self, ref: DictRef | ObjectRef) -> RecordOf:
        """Return what a dict or object holds now; some paths may not have set all of it."""
        held = self.held(ref)
        if isinstance(held, Growing):
            what = "members" if isinstance(ref, SetRef) else "keys"
            raise UnsupportedError(
                f"this use of {kind_of(ref)} with {what} known only at run time is not supported",
                self.builder.loc,
                "use an array, or keys known when the program is compiled",
            )  # fmt: skip
        if isinstance(held, TupleOf):
            raise UnsupportedError(
                "this use of a set of objects is not supported", self.builder.loc,
                "add and remove its members one by one, or keep a list of them",
            )  # fmt: skip
        assert isinstance(held, RecordOf)
        if any(map(is_unset, held.items)):  # what the path that is lowered now has not set
            return held.only([not is_unset(item) for item in held.items])
        return held

    def held(self, ref: Ref) -> Binding:
        if ref.slot in self.logs and ref.slot != self.logging:
            (place,) = self.places[ref.slot]
            raise self.changes_outside("a list", place, "is appended to, and read as well")
        if ref.slot in self.stale:
            raise StaleError(self.stale[ref.slot], self.builder.loc, "make one of them a copy")
        found = self.frame.env.get(ref.slot, self.initial.get(ref.slot, Unbound()))
        if isinstance(found, Unstable):
            if isinstance(ref, ObjectRef) and issubclass(ref.cls, iteration.Stored):
                raise VariesError(
                    "a generator of which the run decides what it goes over next is not supported",
                    self.builder.loc, "draw from it in one loop, or store a list: `list(…)`",
                    CONTENTS,
                )  # fmt: skip
            raise VariesError(
                f"{kind_of(ref)} {found.why}", self.builder.loc,
                "give it the same length, or keys in one order, on every path", CONTENTS,
            )  # fmt: skip
        if isinstance(found, Unbound | Late):
            raise TypeUnstableError(
                f"{kind_of(ref)} was made on a path that may not have been taken",
                self.builder.loc, "make it before the loop or branch",
            )  # fmt: skip
        return found

    def new_ref(self, make: Callable[[str], RefType], held: Binding) -> RefType:
        """Make a list, dict or object."""
        ref = make(self.new_slot())
        self.frame.env[ref.slot] = held
        self.bindings += 1
        return ref

    def new_slot(self, *of: object) -> str:
        """Return the slot of a new list, dict or object.

        All attempts to lower the code name it alike, by where it is made, and `of` what there:
        what one attempt notes of a slot must not be about another one in the next.
        """
        path = self.frame.path if self.frame else ()
        site = (path, self.builder.loc, of)
        number = self.slot_sites.setdefault(site, len(self.slot_sites))
        slot = self.builder.names.fresh(f"$h{number}")
        self.made_at[slot] = (self.builder.loc, self.here)
        # Names of failed attempts are used again.
        self.appended.pop(slot, None)
        self.instead_of.pop(slot, None)
        self.pool_of.pop(slot, None)
        self.shrunk.discard(slot)
        self.ordered.discard(slot)
        self.anew.discard(slot)
        self.places.pop(slot, None)
        self.lent.discard(slot)
        self.stale.pop(slot, None)
        for other in self.kin.pop(slot, ()):
            self.kin[other] -= {slot}
        return slot

    def suspect(self, slot: str, others: Iterable[str]) -> None:
        """Note that a list, dict or object may be one of others."""
        for other in set(others) - {slot}:
            self.kin[slot] = self.kin.get(slot, frozenset()) | {other}
            self.kin[other] = self.kin.get(other, frozenset()) | {slot}

    def note_order(self, slot: str) -> None:
        """Note that the order of a set matters. It depends on what was taken out of it before.

        Which comes first, the loop that minds or the removal, is not known where both are in a
        loop.
        """
        if slot in self.shrunk:
            raise UnsupportedError(
                "the order of a set from which elements were removed is not known",
                self.builder.loc, "use `sorted(...)` of it",
            )  # fmt: skip
        self.ordered.add(slot)

    def note_removal(self, slot: str) -> None:
        """Note that elements may be taken out of a set."""
        if slot in self.ordered:
            raise UnsupportedError(
                "removing elements of a set of which the order matters is not supported",
                self.builder.loc, "use `sorted(...)` of it where the order matters",
            )  # fmt: skip
        self.shrunk.add(slot)

    def borrow(self, make: Callable[[str], RefType], held: Binding, place: Place) -> RefType:
        """Bind a list, dict or object from outside."""
        ref = make(self.new_slot(place))
        self.initial[ref.slot] = held
        self.places[ref.slot] = frozenset([place])
        return ref

    def lend(self, slot: str, *refs: Ref) -> None:
        """Note that `slot` may stand for what others have names for outside."""
        self.instead_of[slot] = refs
        found = [self.places[ref.slot] for ref in refs if ref.slot in self.places]
        if found:
            self.places[slot] = frozenset().union(*found)
        for special in (self.lent, self.anew):
            if any(ref.slot in special for ref in refs):
                special.add(slot)
        for ref in refs:
            self.suspect(slot, self.kin.get(ref.slot, ()))

    def hold(self, ref: Ref, held: Binding) -> None:
        """Change a list, dict or object."""
        places = self.places.get(ref.slot, frozenset())
        lasting = {place for place in places if self.is_outside(place)}
        for place in lasting:
            known, kind = self.kept_outside, type(ref)
            own = ref.slot in self.initial and kind in _LASTING
            error = self.changes_outside(kind_of(ref), place)
            if known is None or not own:
                raise error
            self.require_one_name(place, error)
            known[ref.slot] = ref
        if ref.slot in self.lent:
            raise UnsupportedError(
                f"changing {kind_of(ref)} that was passed to a recursive function is not "
                "supported", self.builder.loc,
                "return the new value; `functools.lru_cache` keeps results of earlier calls"
                if type(ref) is DictRef else "return the new value",
            )  # fmt: skip
        if ref.slot in self.anew:
            raise UnsupportedError(
                f"changing {kind_of(ref)} in a list whose length is known only at run time is not "
                "supported", self.builder.loc, "store a new element in its place",
            )  # fmt: skip
        self.changed |= places - lasting
        for other in self.kin.get(ref.slot, ()):
            line = f" (line {self.builder.loc.line})" if self.builder.loc else ""
            self.stale[other] = (
                f"whether this {kind_of(ref)[2:]} was changed{line} depends on the path"
            )
        self.frame.env[ref.slot] = held
        self.bindings += 1
