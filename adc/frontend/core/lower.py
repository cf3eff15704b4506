"""The lowering state: arrays and their versions, what lists, dicts and objects hold, names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from adc.frontend.core.bindings import (
    KEYS,
    ArrayObject,
    ArrayRef,
    Binding,
    Closure,
    DefaultRef,
    DictRef,
    Growing,
    Late,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    Ruled,
    SetRef,
    TupleOf,
    Unbound,
    Unstable,
    is_unset,
    kind_of,
    may_be_unset,
)
from adc.frontend.core.sizes import Sizes
from adc.frontend.core.state import (
    CONTENTS,
    ConstantNeededError,
    Frame,
    LastingError,
    PickedError,
    Region,
    Shared,
    StaleError,
    State,
    VariesError,
)
from adc.frontend.inputs.places import Capture, Place, Variable
from adc.ir.builder import Builder, integer
from adc.ir.core import Literal, Operand, Stmt, Value
from adc.ir.errors import (
    AliasError,
    GlobalStateError,
    Span,
    TypeMismatchError,
    TypeUnstableError,
    UnsupportedError,
)
from adc.ir.opdef import numpy_value
from adc.ir.types import BOOL, COMPLEX, FLOAT, INT, Array, Scalar
from adc.ir.walk import Names

# How deep calls are inlined before adc gives up; recursive functions become calls much earlier.
MAX_CALL_DEPTH = 60

# The state of the names that are taken, and how many values each table of notes has.
NamesState = tuple[tuple[int, int], tuple[int, ...], dict[object, int]]
# What is known: of a condition whether it holds; of the number of an item whether it is that.
Facts = frozenset[tuple[Operand | tuple[Operand, int], bool]]
RefType = TypeVar("RefType", ListRef, SetRef, DictRef, ObjectRef)


class _At:
    """Gives statements a position, within `with`; made for every node, so it is no generator."""

    __slots__ = ("before", "here", "lo", "loc")

    def __init__(self, lo: Lowerer, node: ast.AST) -> None:
        self.lo = lo
        self.here = lo.frame.source.span(node)
        self.loc = lo._shown(node, self.here)

    def __enter__(self) -> None:
        lo = self.lo
        self.before = lo.builder.loc, lo.here
        lo.builder.loc, lo.here = self.loc, self.here

    def __exit__(self, *error: object) -> None:
        lo = self.lo
        lo.builder.loc, lo.here = self.before


class Lowerer:
    """Lowers one Python function, and everything it inlines, to one IR function."""

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = shared or Shared()
        self.builder = Builder(Names())
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
        self.prologue: list[Stmt] = []
        # Bindings of what lies outside, and the numbers and arrays in it: they are parameters.
        self.reached: dict[Place, Binding] = {}
        self.captured: dict[Place, tuple[Capture, tuple[Num | ArrayRef, ...]]] = {}
        # Arrays that the function finds outside, and was not given: it may not write to them.
        self.outside: dict[ArrayObject, Place] = {}
        # The states of random generators from outside.
        self.generators: dict[ArrayObject, Place] = {}
        # The communicators of MPI from outside, and where they are, by the array of their order.
        self.communicators: dict[ArrayObject, tuple[NamedTuple, Place]] = {}
        # Lists, dicts and objects from outside: what they hold at first, and where they are.
        self.initial: dict[str, Binding] = {}
        self.places: dict[str, frozenset[Place]] = {}
        # Those that others than names hold: attributes of objects, captured variables.
        self.elsewhere: set[str] = set()
        # Those that the program changes, where the caller of the code can be told (else None); and
        # lists outside to which is only appended, of which the code knows nothing.
        self.lasting: dict[str, Ref] | None = None
        self.logs: set[str] = set()
        # Those, and dicts that hold them: their contents are no captures as a whole.
        self.opened: set[Place] = set()
        # The one of them to which something is appended now.
        self.logging: str | None = None
        # The slots of variables outside that the program assigns, and their places.
        self.variables: dict[Place, str] = {}
        self.assigned: dict[str, Place] = {}
        # Where the arrays are that are parameters.
        self.homes: dict[ArrayObject, Place] = {}
        # Arguments that the program changes; what a recursive function may not change.
        self.changed: set[Place] = set()
        self.lent: set[str] = set()
        # Lists, dicts and objects in elements of a list that are made whenever one is read.
        self.anew: set[str] = set()
        # The function whose texts are passed on to Python now: they may be any of several texts.
        self.telling: Frame | None = None
        # An element picked at run time that is lowered as one of several values for once.
        self.undivided: ast.AST | None = None
        self.memo: dict[object, Any] = {}
        # In a function of a rule that is made in code: the function with the rule (`Itself`).
        self.itself: dict[object, Ruled] = {}
        self.stack: list[object] = []
        self.frame: Frame = None  # type: ignore[assignment]  # set by `entered`
        # The position of what is lowered now, in a library's code as well.
        self.here: Span | None = None
        # The level of recursion, in a function that is called and not inlined.
        self.depth: Operand | None = None
        # How many loops and outlines this is in: functions are inlined there, unless recursive.
        self.inlines = 0
        # How many branches and loops this is in; and how many where the program called the
        # library's function that is lowered now (None in the program itself).
        self.branches = 0
        # How many arms of branches this is in, instead of which another one may be taken.
        self.arms = 0
        # The innermost branch or loop that this is in, as an object that tells it from others.
        self.path = object()
        # How many inner functions were made; their attributes that were set, and what they were.
        self.closures = 0
        self.attributes_set: list[tuple[Closure, str, Binding | None]] = []
        self.entered_at: int | None = None
        # The generators whose statements are lowered now, with the same number; how many
        # `warnings.catch_warnings`.
        self.generating: list[tuple[ast.AST, int]] = []
        self.quiet = 0
        # In how many `with np.printoptions(...)`.
        self.printing = 0
        # The bodies of `try` that this is in, in all frames.
        self.caught: tuple[Region, ...] = ()
        # How many copies of a statement are lowered now (`control.choices`).
        self.copies = 1
        # What follows about `Maybe.some` from a condition that holds, and that does not: which
        # operands are true, or not (`values.optional`).
        self.facts: dict[Value, tuple[Facts, Facts]] = {}
        # Which exits a pending one may be (`control.exits_of`).
        self.exit_values: dict[Value, frozenset[int]] = {}
        # Lists, dicts and objects at the end of the function.
        self.heap: dict[str, Binding] = {}
        # How often something was bound: to a variable, or in a list, dict or object.
        self.bindings = 0
        # What was appended to lists, or None if it is not of one kind (`list_buffers.element_of`).
        self.appended: dict[str, Binding | None] = {}
        # Sets from which elements were removed, and those whose order matters.
        self.shrunk: set[str] = set()
        self.ordered: set[str] = set()
        # In an update of elements in place: the version to read instead of an older one.
        self.redirected: dict[Value, Value] = {}
        # Whether what is lowered runs for each element of an array, of which there may be none.
        self.for_each = False

    # -- positions and errors --------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        """Return the position that a user is shown: of a library's code, where it was called."""
        return self._shown(node, self.frame.source.span(node))

    def _shown(self, node: ast.AST, here: Span) -> Span:
        of_generator: Span = getattr(node, "adc_site", here)  # the call, of a library's
        found = self.frame.site or of_generator
        if self.frame.called is None or self.frame.site is not None:
            return found
        return replace(found, caller=self.frame.called)

    def at(self, node: ast.AST) -> _At:
        """Give statements that are built inside the `with` the position of `node`."""
        return _At(self, node)

    def unsupported(self, what: str, node: ast.AST, hint: str = "") -> UnsupportedError:
        return UnsupportedError(f"{what} is not supported", self.span(node), hint)

    def constant_needed(
        self, binding: Binding | None, what: str, node: ast.AST
    ) -> UnsupportedError:
        """Return the error for a number that must be a compile-time constant."""
        text = f"{what} known only at run time is not supported"
        error = PickedError(text, self.span(node), "write it as a constant")
        operand = binding.operand if isinstance(binding, Num) else None
        place = self.shared.numbers.get(operand) if isinstance(operand, Value) else None
        if place is None:
            return error
        return ConstantNeededError(error.message, error.span, error.hint, place)

    def derived(self, result: Value, args: Sequence[Operand]) -> Value:
        """Note that a number is a constant as soon as those that it is computed from are."""
        places = [self.shared.numbers.get(arg) for arg in args if isinstance(arg, Value)]
        if places and places[0] is not None and all(place is not None for place in places):
            self.shared.numbers.setdefault(result, places[0])
        return result

    # -- state -----------------------------------------------------------------------------

    def snapshot(self) -> State:
        self.complete(self.frame.env, self.versions)
        return State(
            dict(self.frame.env),
            set(self.frame.partial),
            dict(self.versions),
            dict(self.stale),
            dict(self.sizes.known),
            (self.closures, len(self.attributes_set)),
        )

    def complete(self, env: dict[str, Binding], versions: dict[ArrayObject, Value]) -> None:
        """Add captured values to a state that were found after it was saved."""
        for obj, value in self.origin.items():
            versions.setdefault(obj, value)
        for slot, held in self.initial.items():
            env.setdefault(slot, held)

    def restore(self, state: State) -> None:
        self.frame.env = dict(state.env)
        self.frame.partial = set(state.partial)
        self.versions = dict(state.versions)
        self.stale = dict(state.stale)
        self.sizes.known = dict(state.known)
        closures, count = state.attributes
        while len(self.attributes_set) > count:
            closure, name, before = self.attributes_set.pop()
            if closure.number > closures:
                continue  # it was made since, on a path that may be one of two
            if before is None:
                del closure.attributes[name]
            else:
                closure.attributes[name] = before

    @contextmanager
    def entered(self, frame: Frame) -> Iterator[Frame]:
        outer, self.frame = self.frame, frame
        loc = self.builder.loc
        try:
            yield frame
        finally:
            self.frame = outer
            self.builder.loc = loc

    @contextmanager
    def perhaps(self, unsure: bool = True) -> Iterator[None]:
        """Lower what is inside the `with` as a path that need not be taken."""
        path = self.path
        self.branches += unsure
        self.path = object() if unsure else path
        try:
            yield
        finally:
            self.branches -= unsure
            self.path = path

    @contextmanager
    def arm(self, unsure: bool) -> Iterator[None]:
        """Lower what is inside the `with` as one path of several."""
        self.arms += unsure
        try:
            with self.perhaps(unsure):
                yield
        finally:
            self.arms -= unsure

    @contextmanager
    def copy(self, *which: object) -> Iterator[None]:
        """Lower a copy of code inside the `with`, whose loops are others than those of the rest."""
        frame, path = self.frame, self.frame.path
        frame.path = (*path, which)
        try:
            yield
        finally:
            frame.path = path

    @contextmanager
    def within(self, library: bool) -> Iterator[None]:
        """Lower what is inside the `with` as the library's, or as the program's."""
        outer = self.entered_at
        self.entered_at = None if not library else self.branches if outer is None else outer
        try:
            yield
        finally:
            self.entered_at = outer

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
        obj = ArrayObject(version.type, name, self.builder.loc)
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
        if obj.kept:
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

    # -- lists, dicts, objects -------------------------------------------------------------

    def contents(self, ref: ListRef) -> tuple[Binding, ...]:
        """Return the elements that a list has now."""
        held = self.held(ref)
        if not isinstance(held, TupleOf):
            raise UnsupportedError(
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
            raise UnsupportedError(
                f"this use of {kind_of(ref)} with {KEYS[isinstance(ref, SetRef)]} known only at "
                "run time is not supported", self.builder.loc,
                "use an array, or keys known when the program is compiled",
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
            raise VariesError(
                f"{kind_of(ref)} {found.why}", self.builder.loc,
                "give it the same length, or keys, on every path", CONTENTS,
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

    def new_slot(self, hint: str = "$h") -> str:
        """Return the slot of a new list, dict or object."""
        slot = self.builder.names.fresh(hint)
        # Names of failed attempts are used again.
        self.appended.pop(slot, None)
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
        ref = make(self.new_slot())
        self.initial[ref.slot] = held
        self.places[ref.slot] = frozenset([place])
        return ref

    def lend(self, slot: str, *refs: Ref) -> None:
        """Note that `slot` may stand for what others have names for outside."""
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
            own = ref.slot in self.initial and kind in (ListRef, DictRef, DefaultRef, ObjectRef)
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

    # -- what lies outside is not changed -----------------------------------------------------

    def is_outside(self, place: Place) -> bool:
        """Whether a value is captured, so that the next call sees its changes."""
        return not isinstance(place.root, int) or place.root < self.shared.bound

    @property
    def kept_outside(self) -> dict[str, Ref] | None:
        """What the program changes outside, which its caller is told; None if that cannot be.

        How often functions of the library call those of the program is their own affair.
        """
        frame: Frame | None = self.frame
        while frame is not None:
            module = frame.holder.fn.__module__ or ""
            if frame.holder.in_library and not module.startswith("adc.library.standard"):
                return None
            frame = frame.caller
        return self.lasting

    def require_one_name(self, place: Place, error: GlobalStateError) -> None:
        """Lower the program again if functions may read what is changed at other places as well."""
        variable = any(isinstance(step, Variable) for step in place.path)
        if variable and not self.shared.changes:
            raise LastingError(error)

    def outlasts(self, slot: str) -> bool:
        """Whether what a slot holds at the end is put there when the call is over."""
        if self.lasting is None:
            return False
        return slot in self.assigned or any(map(self.is_outside, self.places.get(slot, ())))

    def changes_outside(
        self, what: str, place: Place, how: str = "would be changed"
    ) -> GlobalStateError:
        """Return the error for a change that the next call would see, and nobody can make."""
        if isinstance(place.root, int):
            named = replace(place, path=("self", *place.path))
            where = f" of the object that the method belongs to, `{named}`," if place.path else (
                " that the method belongs to"
            )  # fmt: skip
            hint = "the object"
        else:
            where, hint = f" outside the function, `{place}`,", "it"
        return GlobalStateError(
            f"{what}{where} {how}", self.builder.loc,
            f"change a copy, or pass {hint} as an argument and return it",
        )  # fmt: skip

    # -- numbers ---------------------------------------------------------------------------

    def num(self, value: bool | int | float | complex) -> Num:
        ty = {bool: BOOL, int: INT, complex: COMPLEX}.get(type(value), FLOAT)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise TypeMismatchError(
                f"the integer {value} does not fit in 64 bits", self.builder.loc
            )
        return Num(Literal(value, ty))

    def convert(self, operand: Operand, ty: Scalar) -> Operand:
        """Return `operand` as a value of dtype `ty`; weak marks are free to differ."""
        if operand.type.kind == "c" and ty.kind not in "bc":
            raise TypeMismatchError(
                f"a complex number where a {ty.numpy} is needed", self.builder.loc,
                "use its `.real` or `.imag`, or `abs`",
            )  # fmt: skip
        if isinstance(operand, Literal):
            if operand.type.kind == "f" and ty.kind in "iu":
                return Literal(int(operand.value), ty)
            if operand.type.kind == "i" and ty.kind in "iu":
                low, high = integer_range(ty)
                if not low <= operand.value <= high:
                    raise TypeMismatchError(
                        f"the integer {operand.value} does not fit {ty}", self.builder.loc
                    )
            value = numpy_value(operand.value, ty).item()
            return Literal(value, ty)
        if operand.type.dtype == ty.dtype:
            return operand
        return self.builder.apply("cast", operand, params=(str(ty),), hint=operand.name)

    def exact(self, operand: Operand, ty: Scalar) -> Operand:
        """Return `operand` with exactly the type `ty`, weak mark included: for joins."""
        source = operand.type
        if isinstance(operand, Value) and source == INT and ty.kind in "iu" and ty.dtype != "i64":
            bounds = np.iinfo(ty.dtype.replace("i", "int").replace("u", "uint"))
            low = self.builder.apply("ge", operand, integer(int(bounds.min)))
            high = self.builder.apply("le", operand, integer(min(int(bounds.max), 2**63 - 1)))
            ok = self.builder.apply("and", low, high)
            self.builder.check(
                ok,
                "OverflowError",
                f"this variable is a {ty.numpy} on another path; {{}} does not fit in it",
                operand,
            )
        operand = self.convert(operand, ty)
        if operand.type == ty:
            return operand
        if isinstance(operand, Literal):
            return Literal(operand.value, ty)
        return self.builder.apply("cast", operand, params=(str(ty),), hint=operand.name)

    # -- names -----------------------------------------------------------------------------

    @contextmanager
    def tells(self) -> Iterator[None]:
        """Lower what the current function prints."""
        outer, self.telling = self.telling, self.frame
        try:
            yield
        finally:
            self.telling = outer

    def save_names(self) -> NamesState:
        """Return the state for `reset_names`."""
        return self.builder.names.save(), tuple(map(len, self._noted())), dict(self.frame.inlined)

    def _noted(self) -> tuple[dict[Value, Any], ...]:
        """Return what is known of values."""
        return self.sizes.bits, self.boxed, self.exit_values, self.facts

    def reset_names(self, state: NamesState) -> None:
        """Release the names of a failed attempt, except those of captured variables."""
        names, sizes, inlined = state
        self.frame.inlined = dict(inlined)
        self.builder.names.load(names)
        for noted, size in zip(self._noted(), sizes, strict=True):
            for value in list(islice(reversed(noted), len(noted) - size)):
                if value.name not in self.builder.names:
                    del noted[value]
        for capture, _ in self.captured.values():
            for param in capture.params:
                self.builder.names.reserve(param.name)
        for slot in self.initial:
            self.builder.names.reserve(slot)
        for stmt in self.prologue:
            self.builder.names.reserve(stmt.results[0].name)


def integer_range(ty: Scalar) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    info = np.iinfo(str(ty.numpy))
    return int(info.min), int(info.max)
