"""The lowering state: bindings of names, arrays and their versions, captured values."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from adc.frontend.core import bindings, trees
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Cell,
    DictRef,
    Given,
    Growing,
    Late,
    ListRef,
    NamedTuple,
    Nested,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    kind_of,
    leaves,
    refs,
)
from adc.frontend.core.places import (
    Capture,
    Guard,
    Item,
    Place,
    Step,
    Variable,
    follow,
    variable_of,
)
from adc.frontend.core.source import Source, source_of
from adc.frontend.core.trees import Instance
from adc.ir.builder import Builder, integer
from adc.ir.core import Apply, Derived, Function, Literal, Operand, Stmt, Value
from adc.ir.errors import (
    AliasError,
    ArgumentError,
    GlobalStateError,
    Span,
    TypeMismatchError,
    TypeUnstableError,
    UnboundError,
    UnsupportedError,
)
from adc.ir.opdef import OPS, numpy_value
from adc.ir.types import BOOL, FLOAT, INT, NAMES, Array, Scalar
from adc.ir.walk import Names
from adc.library.transforms import Level

# Statements that copies of code repeat before an array is made of what they work on.
REPEATED = 300
# How deep calls are inlined before adc gives up; recursive functions become calls much earlier.
MAX_CALL_DEPTH = 60
# Words in the state of a random generator (`adc.library.random`).
WORDS = 6
# No array has more elements and no loop runs more often than this many bits can count.
INDEX_BITS = 40

# The state of the names that are taken, and how many values each table of notes has.
NamesState = tuple[tuple[int, int], tuple[int, ...]]
RefType = TypeVar("RefType", ListRef, DictRef, ObjectRef)


class Dead(Exception):
    """Raised while lowering code that cannot be reached: control flow ended in `raise`."""


@dataclass(frozen=True)
class Generated:
    """A random generator: which parameter is its state, where it is found, if it is drawn from."""

    position: int
    place: Place
    drawn: bool


@dataclass(frozen=True)
class Lowered:
    """The result of lowering.

    Attributes
    ----------
    fn : Function
        Value form. Parameters: the leaves of the arguments, then the captures.
    result : Binding
        How the function's results make up the Python result.
    captures, guards : tuple
        What must be read, and what must be unchanged, at every call.
    sources : tuple of Source
        Every function that was lowered, for cache keys.
    written : frozenset of int
        Positions of the array parameters that the function writes.
    heap : dict
        What the lists, dicts and objects in the result hold.
    changed : tuple of Place
        Lists, dicts and objects among the arguments that the function changes.
    generators : tuple of Generated
        Random generators among the parameters.
    applied : tuple of Level
        What was applied to the Python function, first to last, and is lowered with it.
    stacks : frozenset of int
        Positions of the parameters that are several arrays of the caller's (`trees.Parts`).
    seconds : float
        What lowering took.
    """

    fn: Function
    result: Binding
    captures: tuple[Capture, ...]
    guards: tuple[Guard, ...]
    sources: tuple[Source, ...]
    written: frozenset[int]
    heap: dict[str, Binding] = field(default_factory=dict)
    changed: tuple[Place, ...] = ()
    generators: tuple[Generated, ...] = ()
    applied: tuple[Level, ...] = ()
    stacks: frozenset[int] = frozenset()
    seconds: float = field(default=0.0, compare=False)

    @property
    def drawn(self) -> tuple[Generated, ...]:
        """The generators that the function draws from: their states are its last results."""
        return tuple(each for each in self.generators if each.drawn)


@dataclass(frozen=True)
class Holder:
    """A function object, whose free variables are meant, and where it is found."""

    fn: types.FunctionType
    place: Place


@dataclass(eq=False)
class Frame:
    """One Python function while it is lowered: its names, and where free ones are found."""

    source: Source
    env: dict[str, Binding]
    holder: Holder
    outer: Frame | None = None
    caller: Frame | None = None
    # Names that are bound only where no exit is pending (`control.merge`).
    partial: set[str] = field(default_factory=set)
    path: tuple[object, ...] = ()
    locals: frozenset[str] = frozenset()
    # Where the user called the library function that this is part of.
    site: Span | None = None
    # Where it is called, if it is inlined.
    called: Span | None = None
    # Whether it is the outline of a function that several calls may share.
    shared: bool = False


@dataclass
class State:
    """The state that joins at control flow: the names of one frame, and all array versions."""

    env: dict[str, Binding]
    partial: set[str]
    versions: dict[ArrayObject, Value]
    stale: dict[ArrayObject, str]
    known: dict[object, Operand]


class StackError(Exception):
    """The program is long for what it does with the elements of lists: pass them as stacks."""

    def __init__(self, places: frozenset[Place]) -> None:
        self.places = places


class PickedError(UnsupportedError):
    """A number that an index or a string needs is known only at run time.

    Where a loop over a constant range is unrolled, its index is known.

    Attributes
    ----------
    places : frozenset of Place
        Where the list is that is indexed, if it can be passed as a stack.
    """

    def __init__(
        self, message: str, span: Span | None, hint: str, places: frozenset[Place] = frozenset()
    ) -> None:
        super().__init__(message, span, hint)
        self.places = places


class ConstantNeededError(UnsupportedError):
    """A captured number must be a constant: it can be, if its value is guarded."""

    def __init__(self, message: str, span: Span | None, hint: str, place: Place) -> None:
        super().__init__(message, span, hint)
        self.place = place


@dataclass
class Sharing:
    """Which functions the calls of a program share.

    Attributes
    ----------
    shared, inlined : set
        The signatures of those that are shared, and of those that cannot be.
    seen : dict
        How many statements of each signature an attempt to lower the program has repeated.
    """

    shared: set[object] = field(default_factory=set)
    inlined: set[object] = field(default_factory=set)
    seen: dict[object, int] = field(default_factory=dict)


@dataclass
class Shared:
    """The state that the lowerings of a function and its recursive callees share."""

    guards: dict[Place, Guard] = field(default_factory=dict)
    # What was found outside.
    values: dict[Place, Any] = field(default_factory=dict)
    # Where the functions were found that are lowered.
    holders: dict[types.FunctionType, Holder] = field(default_factory=dict)
    sources: dict[int, Source] = field(default_factory=dict)
    recursive: set[object] = field(default_factory=set)
    # IR functions, by Python function and signature (`control.callees`).
    callees: dict[tuple[types.FunctionType, object], Any] = field(default_factory=dict)
    sharing: Sharing = field(default_factory=Sharing)
    # Derivatives that the code calls, by name.
    derived: dict[str, Derived] = field(default_factory=dict)
    # Functions with custom derivatives, and those of their rules.
    rules: dict[object, Any] = field(default_factory=dict)
    # Numbers from outside that are part of the program, and where those that are not lie.
    constants: Mapping[Place, Any] = field(default_factory=dict)
    numbers: dict[Value, Place] = field(default_factory=dict)
    # Functions are inlined until this many statements were built: a function that calls another
    # twice, which calls a third twice … would take exponential time.
    inlined: int = 10_000
    # Whether there is a library of linear algebra to call.
    routines: bool = False
    # How many of the first arguments are what a method is bound to.
    bound: int = 0
    # Whether code is for axes that may or may not turn out to have size 1.
    general: bool = False
    # Lists among the arguments that can be passed as stacks; and for each loop that is unrolled
    # now, outermost first, those whose elements it takes.
    stackable: frozenset[Place] = frozenset()
    taken: list[set[Place]] = field(default_factory=list)

    def taken_first(self) -> frozenset[Place]:
        """Return the lists whose elements the outermost loop takes that takes any."""
        return frozenset(next(filter(None, self.taken), ()))


class Lowerer:
    """Lowers one Python function, and everything it inlines, to one IR function."""

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = shared or Shared()
        self.builder = Builder(Names())
        self.versions: dict[ArrayObject, Value] = {}
        self.stale: dict[ArrayObject, str] = {}
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
        # Lists, dicts and objects from outside: what they hold at first, and where they are.
        self.initial: dict[str, Binding] = {}
        self.places: dict[str, frozenset[Place]] = {}
        # Those that others than names hold: attributes of objects, captured variables.
        self.elsewhere: set[str] = set()
        # Arguments that the program changes; what a recursive function may not change.
        self.changed: set[Place] = set()
        self.lent: set[str] = set()
        # Lists, dicts and objects in elements of a list that are made whenever one is read.
        self.anew: set[str] = set()
        self.memo: dict[object, Any] = {}
        self.stack: list[object] = []
        self.frame: Frame = None  # type: ignore[assignment]  # set by `entered`
        # The position of what is lowered now, in a library's code as well.
        self.here: Span | None = None
        # The level of recursion, in a function that is called and not inlined.
        self.depth: Operand | None = None
        # How many loops and outlines this is in: functions are inlined there, unless recursive.
        self.inlines = 0
        # Which exits a pending one may be (`control.exits_of`).
        self.exit_values: dict[Value, frozenset[int]] = {}
        # Sizes that are not 1: what has size 1 among arguments is part of their types.
        self.plural: set[Operand] = set()
        # Sizes computed so far, by how; and which sizes were checked to be equal.
        self.known: dict[object, Operand] = {}
        # Lists, dicts and objects at the end of the function.
        self.heap: dict[str, Binding] = {}
        # What was appended to lists, or None if it is not of one kind (`list_buffers.element_of`).
        self.appended: dict[str, Binding | None] = {}
        # In an update of elements in place: the version to read instead of an older one.
        self.redirected: dict[Value, Value] = {}
        # Whether what is lowered runs for each element of an array, of which there may be none.
        self.for_each = False
        # How many bits a Python integer needs at most, where that is known (`bits_of`).
        self.bits: dict[Value, int] = {}

    # -- positions and errors --------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        """Return the position that a user is shown: of a library's code, where it was called."""
        return self._shown(self.frame.source.span(node))

    def _shown(self, here: Span) -> Span:
        found = self.frame.site or here
        if self.frame.called is None or self.frame.site is not None:
            return found
        return replace(found, caller=self.frame.called)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Give statements that are built inside the `with` the position of `node`."""
        span = self.frame.source.span(node)
        old, self.builder.loc = self.builder.loc, self._shown(span)
        here, self.here = self.here, span
        try:
            yield
        finally:
            self.builder.loc = old
            self.here = here

    def unsupported(self, what: str, node: ast.AST, hint: str = "") -> UnsupportedError:
        return UnsupportedError(f"{what} is not supported", self.span(node), hint)

    def constant_needed(
        self, binding: Binding | None, what: str, node: ast.AST
    ) -> UnsupportedError:
        """Return the error for a number that must be a compile-time constant."""
        error = self.unsupported(f"{what} known only at run time", node, "write it as a constant")
        operand = binding.operand if isinstance(binding, Num) else None
        place = self.shared.numbers.get(operand) if isinstance(operand, Value) else None
        if place is None:
            return error
        return ConstantNeededError(error.message, error.span, error.hint, place)

    # -- state -----------------------------------------------------------------------------

    def snapshot(self) -> State:
        self.complete(self.frame.env, self.versions)
        return State(
            dict(self.frame.env),
            set(self.frame.partial),
            dict(self.versions),
            dict(self.stale),
            dict(self.known),
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
        self.known = dict(state.known)

    @contextmanager
    def entered(self, frame: Frame) -> Iterator[Frame]:
        outer, self.frame = self.frame, frame
        loc = self.builder.loc
        try:
            yield frame
        finally:
            self.frame = outer
            self.builder.loc = loc

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
        for size in dims:
            self.counts(size)
        return ArrayRef(obj)

    def counts(self, operand: Operand) -> Operand:
        """Note that `operand` counts elements or iterations: sums of such never overflow."""
        if isinstance(operand, Value):
            self.bits[operand] = min(INDEX_BITS, self.bits.get(operand, INDEX_BITS))
        return operand

    def same_size(self, a: Operand, b: Operand) -> bool:
        """Whether two sizes are known to be equal."""
        return self.canonical(a) == self.canonical(b)

    def unify_sizes(self, a: Operand, b: Operand) -> None:
        """Note that two sizes were checked to be equal."""
        a, b = self.canonical(a), self.canonical(b)
        if isinstance(a, Literal):
            a, b = b, a
        if a != b:
            self.known["same", a] = b

    def at_most_one(self, size: Operand) -> Operand:
        """Note that a size is 0 or 1: ``x[:1]`` is broadcast where 0 could not be."""
        if isinstance(size, Value):
            self.known["single", size] = size
        return size

    def is_single(self, size: Operand, among: Operand) -> bool:
        """Whether an axis of this size, 0 or 1, meets one of another size: it must be 1.

        Two that are both 0 or 1 are compared like any.
        """
        if (
            self.shared.general
            or ("single", size) not in self.known
            or ("single", among) in self.known
        ):
            return False
        return not self.same_size(size, among)

    def may_be_empty(self, size: Operand) -> bool:
        """Whether a size is known to be 0 or 1, but not which."""
        return ("single", size) in self.known

    def canonical(self, size: Operand) -> Operand:
        while ("same", size) in self.known:
            size = self.known["same", size]
        return size

    def is_one(self, size: Operand) -> bool:
        """Whether a size is surely 1, here."""
        size = self.canonical(size)
        return isinstance(size, Literal) and size.value == 1

    def is_plural(self, size: Operand) -> bool:
        """Whether a size is surely not 1."""
        known = self.canonical(size)
        if isinstance(known, Literal):
            return known.value != 1
        return size in self.plural or known in self.plural

    def known_size(self, op: str, a: Operand, b: Operand, make: Callable[[], Operand]) -> Operand:
        """Return a size computed from two others, made only once."""
        key = (op, self.canonical(a), self.canonical(b))
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def array_param(self, value: Value, name: str) -> ArrayRef:
        """Make the object of an array parameter, with its sizes read in the prologue."""
        assert isinstance(value.type, Array)
        dims: list[Operand] = []
        for axis in range(value.type.rank):
            if axis in value.type.ones:
                dims.append(integer(1))
                continue
            size = Value(self.builder.names.fresh(f"{name}.dim{axis}"), INT)
            self.prologue.append(Apply((size,), OPS["dim"], (value,), (axis,)))
            dims.append(self.counts(size))
        ref = self.new_array(value, tuple(dims), name)
        self.origin[ref.object] = value
        return ref

    def boxed_param(self, value: Value, name: str) -> ArrayRef:
        """Make the object of a parameter that is a 0-d array: code takes its number."""
        one = integer(1)
        held = Value(self.builder.names.fresh(f"{name}.box"), Array(value.type.dtype, 1))
        self.prologue.append(Apply((held,), OPS["full"], (value, one), (value.type.dtype,)))
        ref = self.new_array(held, (one,), name)
        self.origin[ref.object] = held
        self.boxes[held] = self.boxed[held] = value
        return bindings.element_of(ref)

    def generator_param(self, value: Value, name: str, place: Place) -> ArrayRef:
        """Make the object of the state of a random generator that is a parameter."""
        ref = self.new_array(value, (integer(WORDS),), name)
        self.origin[ref.object] = value
        self.generators[ref.object] = place
        return ref

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
        found = [self.outside[each] for each in (obj, *obj.alias) if each in self.outside]
        if found:
            raise self.changes_outside("an array", min(found, key=str))
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

    def bits_of(self, operand: Operand) -> int:
        """Return how many bits a Python integer surely fits in, without its sign."""
        if isinstance(operand, Literal):
            return int(operand.value).bit_length()
        return self.bits.get(operand, 1 if operand.type.kind == "b" else 63)

    # -- lists, dicts, objects -------------------------------------------------------------

    def take(self, binding: Binding) -> None:
        """Note that a loop that is unrolled takes elements of lists."""
        if self.shared.taken:
            self.shared.taken[-1].update(self.stackable_in(binding))

    def stackable_in(self, binding: Binding) -> frozenset[Place]:
        """Return the places of lists that can be passed as stacks."""
        found = [self.places.get(ref.slot, frozenset()) for ref in refs(binding)]
        return frozenset().union(*found) & self.shared.stackable

    @contextmanager
    def unrolling(self, copies: int) -> Iterator[Callable[[], None]]:
        """Lower copies of code, one for each element; after the first one, call what is yielded.

        It raises a `StackError` if the others would be much code.
        """
        taken = self.shared.taken
        taken.append(set())
        start = self.builder.emitted

        def first() -> None:
            size = (self.builder.emitted - start) * (copies - 1)
            if taken[-1] and taken[-1] >= self.shared.taken_first() and size >= REPEATED:
                raise StackError(frozenset(taken[-1]))

        try:
            yield first
        finally:
            inner = taken.pop()
            if taken:
                taken[-1].update(inner)

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
        """Return what a dict or object holds now."""
        held = self.held(ref)
        assert isinstance(held, RecordOf)
        return held

    def held(self, ref: Ref) -> Binding:
        found = self.frame.env.get(ref.slot, self.initial.get(ref.slot, Unbound()))
        if isinstance(found, Unstable):
            raise TypeUnstableError(
                f"{kind_of(ref)} {found.why}", self.builder.loc,
                "give it the same length, or keys, on every path",
            )  # fmt: skip
        if isinstance(found, Unbound | Late):
            raise TypeUnstableError(
                f"{kind_of(ref)} was made on a path that may not have been taken",
                self.builder.loc, "make it before the loop or branch",
            )  # fmt: skip
        return found

    def new_ref(self, make: Callable[[str], RefType], held: Binding) -> RefType:
        """Make a list, dict or object."""
        ref = make(self.builder.names.fresh("$h"))
        self.frame.env[ref.slot] = held
        self.appended.pop(ref.slot, None)
        self.anew.discard(ref.slot)  # names of failed attempts are used again
        return ref

    def lend(self, slot: str, *refs: Ref) -> None:
        """Note that `slot` may stand for what others have names for outside."""
        found = [self.places[ref.slot] for ref in refs if ref.slot in self.places]
        if found:
            self.places[slot] = frozenset().union(*found)
        for special in (self.lent, self.anew):
            if any(ref.slot in special for ref in refs):
                special.add(slot)

    def hold(self, ref: Ref, held: Binding) -> None:
        """Change a list, dict or object."""
        places = self.places.get(ref.slot, frozenset())
        for place in places:
            if self.is_outside(place):
                raise self.changes_outside(kind_of(ref), place)
        if ref.slot in self.lent:
            raise UnsupportedError(
                f"changing {kind_of(ref)} that was passed to a recursive function is not "
                "supported", self.builder.loc, "return the new value",
            )  # fmt: skip
        if ref.slot in self.anew:
            raise UnsupportedError(
                f"changing {kind_of(ref)} in a list whose length is known only at run time is not "
                "supported", self.builder.loc, "store a new element in its place",
            )  # fmt: skip
        self.changed |= places
        self.frame.env[ref.slot] = held

    # -- what lies outside is not changed -----------------------------------------------------

    def is_outside(self, place: Place) -> bool:
        """Whether a value is captured, so that the next call sees its changes."""
        return not isinstance(place.root, int) or place.root < self.shared.bound

    def changes_outside(self, what: str, place: Place) -> GlobalStateError:
        """Return the error for a change that the next call would see."""
        if isinstance(place.root, int):
            named = replace(place, path=("self", *place.path))
            where = f" of the object that the method belongs to, `{named}`," if place.path else (
                " that the method belongs to"
            )  # fmt: skip
            hint = "the object"
        else:
            where, hint = f" outside the function, `{place}`,", "it"
        return GlobalStateError(
            f"{what}{where} would be changed", self.builder.loc,
            f"change a copy, or pass {hint} as an argument and return it",
        )  # fmt: skip

    # -- numbers ---------------------------------------------------------------------------

    def num(self, value: bool | int | float) -> Num:
        ty = BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise TypeMismatchError(
                f"the integer {value} does not fit in 64 bits", self.builder.loc
            )
        return Num(Literal(value, ty))

    def convert(self, operand: Operand, ty: Scalar) -> Operand:
        """Return `operand` as a value of dtype `ty`; weak marks are free to differ."""
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

    def read_name(self, name: str, node: ast.AST) -> Binding:
        """Return the binding of `name`, or raise the user's error."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.env or name in frame.locals:
                return self.usable(frame.env.get(name, Unbound()), name, node, frame)
            if frame.outer is None:
                break
            frame = frame.outer
        assert frame is not None
        return self.free(frame.holder, (name,), node)

    def is_name_bound(self, name: str) -> bool:
        binding = self.frame.env.get(name, Unbound())
        return not isinstance(binding, Unbound | Unstable | Late)

    def is_bound(self, value: Value) -> bool:
        """Whether any variable holds `value`."""
        frames: list[Frame | None] = [self.frame]
        while frames:
            frame = frames.pop()
            if frame is not None:
                for binding in frame.env.values():
                    if any(isinstance(x, Num) and x.operand is value for x in leaves(binding)):
                        return True
                frames += [
                    frame.caller,
                    *([frame.outer] if frame.outer is not frame.caller else []),
                ]
        return False

    def save_names(self) -> NamesState:
        """Return the state for `reset_names`."""
        return self.builder.names.save(), tuple(map(len, self._noted()))

    def _noted(self) -> tuple[dict[Value, Any], ...]:
        """Return what is known of values."""
        return self.bits, self.boxed, self.exit_values

    def reset_names(self, state: NamesState) -> None:
        """Release the names of a failed attempt, except those of captured variables."""
        names, sizes = state
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

    def usable(
        self, binding: Binding, name: str, node: ast.AST, frame: Frame | None = None
    ) -> Binding:
        """Return a binding found in `frame` that is read here, or raise."""
        partial = (frame or self.frame).partial
        if isinstance(binding, Late) and name not in partial:
            with self.at(node):
                self.builder.check(
                    binding.flag,
                    "UnboundLocalError",
                    f"cannot access local variable '{name}' where it is not associated with a "
                    "value",
                )
            return binding.inner
        if isinstance(binding, Unbound) or name in partial:
            why = binding.why if isinstance(binding, Unbound) else ""
            raise UnboundError(
                f"{name!r} may be unbound here{': ' + why if why else ''}",
                self.span(node),
                f"give {name!r} a value on every path before this line",
            )
        if isinstance(binding, Unstable):
            raise TypeUnstableError(
                f"{name!r} {binding.why}",
                self.span(node),
                "use the same kind of value on every path, or two variables",
            )
        return binding

    # -- what lies outside -----------------------------------------------------------------

    def holder_of(self, fn: types.FunctionType, place: Place | None = None) -> Holder:
        """Return where a function is found that is lowered now: guarded, like its code.

        Found in two ways, it must always be one function.
        """
        own = Holder(fn, place or Place(fn))
        known = self.shared.holders.setdefault(fn, own)
        if known.place != own.place:
            first, second = known.place, own.place
            if first.varies and second.varies:
                self.shared.guards.setdefault(second, Guard(second, first))
            else:
                varying = first if first.varies else second
                self.shared.guards[varying] = Guard(varying, fn)
        return known

    def source_of(self, holder: Holder) -> Source:
        """Return the source of a function, whose code is guarded."""
        self.guard(holder.place.to("__code__"), holder.fn.__code__)
        return source_of(holder.fn)

    def pin(self, binding: Binding) -> None:
        """Record that code depends on the identity of this function."""
        if isinstance(binding, Static) and binding.place is not None:
            self.shared.guards[binding.place] = Guard(binding.place, binding.value)

    def free(self, holder: Holder, path: tuple[str, ...], node: ast.AST) -> Binding:
        """Return the binding of a global or closure variable (or an attribute of one)."""
        steps: tuple[Step, ...] = (Variable(path[0]), *path[1:])
        place = holder.place.to(*steps)
        if place in self.reached:
            return self.reached[place]
        try:
            value = follow(holder.fn, steps)
        except KeyError:
            raise UnboundError(
                f"name {path[0]!r} is not defined",
                self.span(node),
                "check the spelling, or define it before the call",
            ) from None
        except AttributeError as error:
            raise TypeMismatchError(str(error), self.span(node), "check the spelling") from None
        closed_over = len(path) == 1 and path[0] in holder.fn.__code__.co_freevars
        if closed_over and holder.place.varies and type(value) is types.FunctionType:
            # It is recreated with the function around it: any with this code will do.
            self.guard(place.to("__code__"), value.__code__)
            return Static(value, place)
        owner = variable_of(holder.fn, path[0]) if len(path) > 1 else None
        return self.reach(place, value, _has_constants(owner))

    def attribute(self, owner: Static, name: str) -> Binding:
        """Return the binding of an attribute of an object; raise AttributeError if it has none."""
        value = getattr(owner.value, name)
        if not isinstance(owner.value, types.FunctionType | types.ModuleType | type):
            return static(value)
        place = (owner.place or Place(owner.value)).to(name)
        return self.reach(place, value, _has_constants(owner.value))

    def reach(self, place: Place, value: Any, constant: bool = False) -> Binding:
        """Return the binding of a captured value: read at every call, or a guarded constant."""
        if place in self.reached:
            return self.reached[place]
        if constant or trees.is_constant(value):
            self.guard(place, value)
            return static(value)
        self.shared.values[place] = value
        try:
            tree = trees.tree_of(value)
        except ArgumentError as error:
            raise ArgumentError(
                f"`{place}`: {error.message}", error.span or self.builder.loc, error.hint
            ) from None
        if isinstance(tree, Instance):
            self.guard(place, value)
        made: list[Num | ArrayRef] = []
        before = set(self.initial)
        hint = place.name
        binding = bind_value(self, hint, tree, place, made)
        self.elsewhere |= set(self.initial) - before
        self.reached[place] = binding
        if self.is_outside(place):
            self.outside |= arrays_of(made, place)
        if not isinstance(tree, Instance):
            params = tuple(param_of(self, leaf) for leaf in made)
            self.captured[place] = (
                Capture(place, trees.emptied(tree), trees.key_of(value), params), tuple(made),
            )  # fmt: skip
        return binding

    def opened(self, binding: Binding) -> Binding:
        """Bind an attribute that an object has from outside."""
        if not isinstance(binding, Given):
            return binding
        return self.reach(binding.place, binding.value, binding.constant)

    def guard(self, place: Place, value: Any) -> None:
        """Guard the current value at a place, on which the code depends."""
        if (getattr(place.root, "__module__", None) or "").startswith("adc.library"):
            return  # it cannot be modified
        self.shared.guards.setdefault(place, Guard.of(place, value))

    def borrow(self, make: Callable[[str], RefType], held: Binding, place: Place) -> RefType:
        """Bind a list, dict or object from outside."""
        ref = make(self.builder.names.fresh("$h"))
        self.initial[ref.slot] = held
        self.places[ref.slot] = frozenset([place])
        return ref


def _has_constants(owner: Any) -> bool:
    """Whether the numbers of a module are constants of the program, such as `np.pi`."""
    return isinstance(owner, types.ModuleType) and owner.__name__ in ("math", "numpy", "cmath")


def integer_range(ty: Scalar) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    info = np.iinfo(str(ty.numpy))
    return int(info.min), int(info.max)


def static(value: Any) -> Binding:
    """Return the binding of a Python object that is known at compile time."""
    if type(value) in (bool, int, float):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return Static(value)
        ty = {bool: BOOL, int: INT, float: FLOAT}[type(value)]
        return Num(Literal(value, ty))
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return Num(Literal(value.item(), Scalar(NAMES[value.dtype])))
    if type(value) is tuple:
        return TupleOf(tuple(static(item) for item in value))
    if trees.is_named_tuple(type(value)):
        items = tuple(static(item) for item in value)
        return NamedTuple(type(value), RecordOf(type(value)._fields, items))
    return Static(value)


def bind_value(
    lo: Lowerer, name: str, tree: Any, place: Place, made: list[Num | ArrayRef]
) -> Binding:
    """Return the binding of an object from outside: types become parameters, added to `made`."""
    if isinstance(tree, Scalar | Array):
        param = Value(lo.builder.names.fresh(name), tree)
        leaf = lo.array_param(param, name) if isinstance(tree, Array) else Num(param)
        made.append(leaf)
        if isinstance(leaf, ArrayRef):
            lo.plural.update(d for d in lo.dims[leaf.object] if isinstance(d, Value))
        if isinstance(tree, Scalar) and tree.boxed and isinstance(place.root, int):
            return lo.boxed_param(param, name)
        if isinstance(tree, Scalar) and tree.kind in "bi":
            if place in lo.shared.constants:
                value = lo.shared.constants[place]
                lo.shared.guards[place] = Guard(place, value)
                return static(value)
            lo.shared.numbers[param] = place
        return leaf
    if isinstance(tree, trees.Numbers):
        param = Value(lo.builder.names.fresh(name), tree.array)
        buffer = lo.array_param(param, name)
        made.append(buffer)
        length = Num(lo.dims[buffer.object][0])
        return lo.borrow(ListRef, Growing((buffer,), length, Cell(tree.type)), place)
    if isinstance(tree, trees.Stack):
        return _bound_stack(lo, name, tree, place, made)
    if isinstance(tree, trees.Generator):
        words = lo.generator_param(Value(lo.builder.names.fresh(name), tree.array), name, place)
        made.append(words)
        return bindings.generator_of(words)
    if isinstance(tree, Instance):
        held = trees.attributes(tree.value)
        given = tuple(Given(place.to(key), value) for key, value in held.items())
        cls = tree.cls
        return lo.borrow(lambda slot: ObjectRef(slot, cls), RecordOf(tuple(held), given), place)
    if not trees.is_container(tree):
        # Any function with this code will do.
        return Static(tree, place) if isinstance(tree, types.FunctionType) else static(tree)
    if isinstance(tree, tuple):
        return TupleOf(_bound_items(lo, name, range(len(tree)), tree, place, Item, made))
    cls = tree.cls
    if cls is list:
        items = _bound_items(lo, name, range(len(tree.items)), tree.items, place, Item, made)
        return lo.borrow(ListRef, TupleOf(items), place)
    if cls is types.MethodType:
        owner = bind_value(lo, name, tree.items[0], place.to("__self__"), made)
        return Bound(owner, tree.keys[0])
    step: Callable[[Any], Step] = Item if issubclass(cls, dict) else lambda key: str(key)
    record = RecordOf(tree.keys, _bound_items(lo, name, tree.keys, tree.items, place, step, made))
    if issubclass(cls, dict):
        return lo.borrow(DictRef, record, place)
    if trees.is_named_tuple(cls) or trees.is_frozen(cls):
        return NamedTuple(cls, record)
    return lo.borrow(lambda slot: ObjectRef(slot, cls), record, place)


def _bound_stack(
    lo: Lowerer, name: str, tree: trees.Stack, place: Place, made: list[Num | ArrayRef]
) -> ListRef:
    """Return the binding of a list of elements that are alike; only the list owns its arrays."""
    buffers: list[ArrayRef] = []
    for ty, leaf in zip(tree.arrays, _leaf_names(tree.item, name), strict=True):
        buffer = lo.array_param(Value(lo.builder.names.fresh(leaf), ty), leaf)
        obj = buffer.object
        obj.kept = True
        # All have one length.
        lo.dims[obj] = (lo.dims[buffers[0].object if buffers else obj][0], *lo.dims[obj][1:])
        lo.plural.update(d for d in lo.dims[obj] if isinstance(d, Value))
        buffers.append(buffer)
    made += buffers
    length = Num(lo.dims[buffers[0].object][0])
    return lo.borrow(ListRef, Growing(tuple(buffers), length, _cells(tree.item)), place)


def _leaf_names(tree: Any, name: str) -> Iterator[str]:
    """Yield names for the numbers and arrays in an element of a stack."""
    if not trees.is_container(tree):
        yield from [name] * len(trees.leaf_types(tree))
        return
    items = trees.contents(tree)
    keys = tree.keys if isinstance(tree, trees.Node) and tree.keys else range(len(items))
    for k, (key, item) in enumerate(zip(keys, items, strict=True)):
        yield from _leaf_names(item, _item_name(name, key, k))


def _item_name(name: str, key: Any, k: int) -> str:
    return f"{name}_{key if str(key).isalnum() else k}"


def is_stack(leaf: Num | ArrayRef) -> bool:
    """Whether a leaf of an argument is made of an array in each element of a list."""
    return isinstance(leaf, ArrayRef) and leaf.object.kept and leaf.object.type.rank > 1


def _cells(tree: Any) -> Binding:
    """Return the structure of the elements of a stack."""
    if isinstance(tree, Scalar):
        return Cell(tree)
    if isinstance(tree, Array):
        sizes = tuple([1 if k in tree.ones else None for k in range(tree.rank)])
        return Cell(Scalar(tree.dtype), sizes)
    if not trees.is_container(tree):
        return static(tree)
    items = tuple([_cells(item) for item in trees.contents(tree)])
    if isinstance(tree, tuple):
        return TupleOf(items)
    if trees.is_named_tuple(tree.cls) or trees.is_frozen(tree.cls):
        return NamedTuple(tree.cls, RecordOf(tree.keys, items))
    return Nested(tree.cls, TupleOf(items) if tree.cls is list else RecordOf(tree.keys, items))


def _bound_items(
    lo: Lowerer, name: str, keys: Iterable[Any], trees: Sequence[Any], place: Place,
    step: Callable[[Any], Step], made: list[Num | ArrayRef],
) -> tuple[Binding, ...]:  # fmt: skip
    return tuple(
        bind_value(lo, _item_name(name, key, k), tree, place.to(step(key)), made)
        for k, (key, tree) in enumerate(zip(keys, trees, strict=True))
    )


def arrays_of(made: Iterable[Num | ArrayRef], place: Place) -> dict[ArrayObject, Place]:
    """Return the arrays among leaves, but for the states of random generators: draws are seen."""
    arrays = [leaf.object for leaf in made if isinstance(leaf, ArrayRef)]
    return {obj: place for obj in arrays if not obj.words}


def param_of(lo: Lowerer, leaf: Num | ArrayRef) -> Value:
    """Return the parameter that a leaf from outside is."""
    if isinstance(leaf, ArrayRef):
        return lo.origin[leaf.object]
    assert isinstance(leaf.operand, Value)
    return leaf.operand


def leaf_operand(lo: Lowerer, leaf: Num | ArrayRef, node: ast.AST | None = None) -> Operand:
    return leaf.operand if isinstance(leaf, Num) else lo.version(leaf.object, node)
