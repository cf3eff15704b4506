"""The rows of buffers: elements of lists of any length, and what objects in pools hold.

A pool holds the attributes of all objects of a class whose number the run decides. It is a list of
tuples like that of any length, and what lies in the slot of such an object is the number of its row
(`bindings.Pooled`). So names of one object may be any number, and all see what one changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Cell,
    DictRef,
    Growing,
    Handle,
    Late,
    ListRef,
    Maybe,
    Num,
    ObjectRef,
    Perhaps,
    Pooled,
    RecordOf,
    Ref,
    TupleOf,
    Unbound,
    Unstable,
    Window,
)
from adc.frontend.core.lowering.heap import Heap
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import Dead, OnePool, Shared
from adc.frontend.core.structure import cells_of, pieces, with_cells
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import AssumptionError, LimitError, UnsupportedError
from adc.ir.types import BOOL, INT
from adc.library.standard import iteration


class InPools(Protocol):
    """Reads and stores what lists in pools hold."""

    def read(self, lo: Any, place: Pooled) -> Binding: ...
    def store(self, lo: Any, ref: ListRef, place: Pooled, held: Binding) -> None: ...


_LISTS: list[InPools] = []


def register(lists: InPools) -> None:
    """Register what reads and stores the lists in pools: it is done by code of the library."""
    _LISTS.append(lists)


class Rows(Heap):
    """Reads elements of lists of any length, and objects in pools."""

    def __init__(self, shared: Shared | None = None) -> None:
        super().__init__(shared)
        # What the objects in pools hold, by the slot of the pool.
        self.pool_keys: dict[str, tuple[Any, ...]] = {}

    # -- elements --------------------------------------------------------------------------

    def size_of(self, buffer: ArrayRef, axis: int, node: ast.AST | None) -> Operand:
        """Return a size of a buffer as it is now: buffers are replaced by larger ones."""
        version = self.version(buffer.object, node)
        if self.origin.get(buffer.object) is version:
            return self.dims[buffer.object][axis]
        key = ("buffer", version, axis)
        if key not in self.sizes.known:
            self.sizes.known[key] = self.sizes.counts(
                self.builder.apply("dim", version, params=(axis,), hint="list.dim")
            )
        return self.sizes.known[key]

    def row_dims(self, buffer: ArrayRef, cell: Cell, node: ast.AST | None) -> tuple[Operand, ...]:
        """Return the sizes of an array in a buffer."""
        return tuple(
            integer(size) if size is not None else self.size_of(buffer, 1 + k, node)
            for k, size in enumerate(cell.sizes or ())
        )

    def element(self, held: Growing, index: Operand, node: ast.AST | None) -> Binding:
        """Read an element at an index that is in range."""
        cells = zip(held.buffers, cells_of(held.element), strict=True)
        parts = (self.part_at(buffer, cell, index, node) for buffer, cell in cells)
        return self.element_of_parts(held.element, parts)

    def part_at(
        self, buffer: ArrayRef, cell: Cell, index: Operand, node: ast.AST | None
    ) -> Num | ArrayRef:
        """Read what a buffer has of an element."""
        if cell.sizes is None:
            version = self.version(buffer.object, node)
            found = self.builder.load(self.redirected.get(version, version), [index])
            return Num(self.exact(found, cell.type))
        dims = self.row_dims(buffer, cell, node)
        rest = (Axis(integer(0), ((k, integer(1)),)) for k in range(len(dims)))
        return ArrayRef(buffer.object, (Window(dims, (Axis(index, ()), *rest)),))

    def element_of_parts(self, like: Binding, parts: Iterable[Binding]) -> Binding:
        """Return an element like others of a list, with its numbers and arrays."""
        found = with_cells(like, iter(parts), self._made)
        if isinstance(like, Perhaps) and like.blank:
            assert isinstance(found, Maybe)
            self.assume(found.some, f"using an element of a list that is {kind_of(like)}")
            return found.inner
        return found

    def assume(self, ok: Operand, refusal: str) -> None:
        """Check what is taken for granted: where it does not hold, other code is made.

        Code that makes no assumptions is refused, and so is code of which none would hold.
        """
        if isinstance(ok, Literal) and ok.value:
            return
        if self.shared.general or isinstance(ok, Literal):
            raise UnsupportedError(f"{refusal} is not supported", self.builder.loc)
        self.builder.check(ok, AssumptionError.__name__, "")

    def _made(self, kind: type | Handle, held: TupleOf | RecordOf | Pooled) -> Binding:
        """Return a list, dict or object in an element: a new one, or another name of one."""
        ref: ListRef | DictRef | ObjectRef
        if isinstance(kind, Handle):
            ref = replace(kind.like, slot=self.new_slot())
            assert isinstance(held, Pooled)
            self.put_in_pool(ref.slot, held)
            return ref
        if kind is list:
            ref = self.new_ref(ListRef, held)
        elif issubclass(kind, dict):
            ref = self.new_ref(DictRef, held)
        else:
            ref = self.new_ref(lambda slot: ObjectRef(slot, kind), held)
        self.anew.add(ref.slot)
        return ref

    # -- pools -----------------------------------------------------------------------------

    def held(self, ref: Ref) -> Binding:
        found = self.frame.env.get(ref.slot)
        if isinstance(found, Unbound | Late | Unstable) or ref.slot in self.stale:
            self.want_pool(ref)
        found = super().held(ref)
        if not isinstance(found, Pooled):
            return found
        if isinstance(ref, ListRef) and not found.keys:
            return _LISTS[0].read(self, found)
        rows = super().held(ListRef(found.pool))
        if isinstance(rows, TupleOf):
            # Nothing is in the pool on any path to here: what is one of several is another of them.
            self.builder.check(Literal(False, BOOL), LimitError.__name__, "adc: an empty pool")
            raise Dead
        assert isinstance(rows, Growing)
        row = self.element(rows, found.row.operand, None)
        assert isinstance(row, TupleOf)
        for key, item in zip(found.keys, row.items, strict=True):
            for piece in pieces(item):
                if isinstance(piece, ArrayRef):
                    piece.object.kept = frozenset([self.keeper_of(ref, key)])
        return row if isinstance(ref, ListRef) else RecordOf(found.keys, row.items)

    def put_in_pool(self, slot: str, place: Pooled) -> None:
        """Let a list, dict or object be in a row of a pool."""
        self.frame.env[slot] = place
        self.note_pool(slot, place)

    def note_pool(self, slot: str, held: Binding) -> None:
        """Note which pool a list, dict or object is in: it is in no other one ever."""
        if isinstance(held, Pooled):
            self.pool_of[slot] = held.pool

    def are_in_one_pool(self, one: str, other: str) -> bool:
        """Whether two lists, dicts or objects are in one pool."""
        pool = self.pool_of.get(one)
        return pool is not None and pool == self.pool_of.get(other)

    def keeper_of(self, ref: Ref, key: object) -> str:
        """Return what errors call an attribute of what is in a pool, or what a key has."""
        what = kind_of(ref)[2:]
        return f"{what}[{key}]" if isinstance(ref, ListRef) else f"{what}.{key}"

    def contents_of(self, ref: Ref) -> Binding:
        """Return what lies in the slot of a list, dict or object: of one in a pool, its row."""
        return super().held(ref)

    def handle_of(self, ref: Ref) -> Handle | None:
        """Return what an element of a list has for an object or dict; None if it is in no pool.

        Where a pool would help, the next attempt to lower the program has one.
        """
        held = self.frame.env.get(ref.slot)
        if isinstance(held, Pooled):
            return Handle(replace(ref, slot=held.pool), held.keys, Cell(INT))
        self.want_pool(ref)
        return None

    def want_pool(self, *refs: Ref) -> None:
        """Note that pools of objects and dicts may help where the program is refused."""
        left = list(refs)
        while left:
            ref = left.pop()
            left += (others := self.instead_of.get(ref.slot, ()))
            if not others:
                self.shared.wanted |= {self.kind_of_pool(ref)} - {None}

    def want_one_pool(self, *pools: str) -> None:
        """Note that lists that are made at several places may have to be in one pool."""
        if len(set(pools)) > 1:
            self.shared.wanted.add(OnePool(tuple(sorted(set(pools)))))

    def kind_of_pool(self, ref: Ref) -> object:
        """Return what the lists, dicts or objects in one pool have in common; None: none is.

        Lists are made at one place of the program, dicts have the same keys.
        """
        held = self.frame.env.get(ref.slot)
        if ref.slot in self.places:
            return None
        if isinstance(ref, ObjectRef):
            return None if issubclass(ref.cls, iteration.Stored) else ref.cls
        if type(ref) is ListRef:
            return self.made_at.get(ref.slot)
        return held.keys if type(ref) is DictRef and isinstance(held, RecordOf) else None

    def hold(self, ref: Ref, held: Binding) -> None:
        place = self.frame.env.get(ref.slot)
        if isinstance(place, Pooled) and isinstance(ref, ListRef):
            _LISTS[0].store(self, ref, place, held)
            return
        if isinstance(place, Pooled):
            raise UnsupportedError(
                f"this change of {kind_of(ref)}, of which the run decides how many there are, is "
                "not supported", self.builder.loc, "set an attribute that it has from the start",
            )  # fmt: skip
        super().hold(ref, held)
