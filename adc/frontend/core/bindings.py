"""The kinds of bindings of a name.

Scalars are SSA operands. Arrays are objects: the state maps each object to the value that is its
current version, so every name and tuple that holds the object sees a store. Everything else is
known at compile time.
"""

from __future__ import annotations

import ast
import enum
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adc.frontend.inputs import instances
from adc.frontend.inputs.places import Place
from adc.frontend.syntax.source import Source
from adc.ir.core import Derived, Function, Literal, Operand, Value
from adc.ir.errors import Span
from adc.ir.types import BOOL, COMPLEX, FLOAT, INT, NAMES, Array, Scalar, Type
from adc.library.transforms import Level


@dataclass(frozen=True, slots=True)
class Num:
    """A scalar; `array`: in NumPy it is a 0-d array."""

    operand: Operand
    array: bool = False


@dataclass(eq=False, slots=True)
class ArrayObject:
    """One array of the user's program, whatever names it has; `dims` are its sizes if known."""

    type: Array
    name: str
    span: Span | None = None
    # Objects that may be this one: it depends on the path taken.
    alias: set[ArrayObject] = field(default_factory=set)
    # What keeps its elements in it, if anything does: a list (`dynamic_lists`), which alone writes
    # to it, or an attribute of the objects in a pool.
    kept: frozenset[object] = frozenset()
    # The branch or loop in which it was made (`Lowerer.path`).
    path: object = None
    # It is the state of a random generator (`random`).
    words: bool = False
    # The first variable that it was bound to, if any.
    variable: str = ""
    # The program has said that nobody writes to it any more.
    frozen: bool = False

    @property
    def users_name(self) -> str:
        return self.variable or self.name


def one_class(a: Ref, b: Ref) -> bool:
    """Whether two lists, dicts or objects may take each other's place."""
    return type(a) is type(b) and replace(a, slot="") == replace(b, slot="")


def related(a: ArrayObject | None, b: ArrayObject | None) -> bool:
    """Whether two arrays are or may be one."""
    return a is not None and b is not None and (a is b or a in b.alias)


def suspect(a: ArrayObject, b: ArrayObject) -> None:
    """Note that two arrays may be one."""
    if a is not b:
        a.alias.add(b)
        b.alias.add(a)


def shares(made: ArrayObject, source: ArrayObject) -> None:
    """Note that an array may be the memory of `source`, or of what that may be."""
    for other in (source, *source.alias):
        suspect(made, other)


# `ArrayObject.kept` of what keeps the elements of a list.
BY_LIST: frozenset[object] = frozenset(["list"])


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a window points on one axis behind it: ``offset + sum(stride * index[k])``."""

    offset: Operand
    terms: tuple[tuple[int, Operand], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A view by offsets and strides; `axes` are those of the space behind it."""

    dims: tuple[Operand, ...]
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """A view of the same elements, in C order, under other sizes; `inner` are those behind it."""

    dims: tuple[Operand, ...]
    inner: tuple[Operand, ...]


Stage = Window | Reshape


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """A name for an array, or for a view of it (`views`).

    Writing through one that is `readonly` raises; None: whether it is depends on the path. With a
    `part`, "real" or "imag", it is a view of these parts of complex numbers.
    """

    object: ArrayObject
    view: tuple[Stage, ...] = ()
    readonly: bool | None = False
    part: str = ""

    @property
    def element(self) -> Scalar:
        """The type of an element."""
        ty = self.object.type.element
        return ty.part if self.part else ty


@dataclass(frozen=True, slots=True)
class FlatRef(ArrayRef):
    """The `flat` of an array: what is taken out of it is a copy."""


@dataclass(frozen=True, eq=False, slots=True)
class Lazy:
    """An array expression whose elements are not computed yet; no name is bound to one.

    `reads` are the arrays it reads, through which view, in which version: what it denotes is fixed
    when it is made. `cost` estimates the operations of one element, `depth` is that of expressions
    in it. `readonly` is what an array of its elements would be.
    """

    dims: tuple[Operand, ...]
    type: Scalar
    element: Callable[[Sequence[Operand]], Operand]
    reads: tuple[tuple[ArrayObject, tuple[Stage, ...], Value], ...] = ()
    cost: float = 0
    depth: int = 0
    readonly: bool | None = False


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class RecordOf:
    """Named bindings: the contents of a dict, an object or a named tuple."""

    keys: tuple[Any, ...]
    items: tuple[Binding, ...]

    def get(self, key: Any) -> Binding | None:
        return self.items[self.keys.index(key)] if key in self.keys else None

    def with_item(self, key: Any, item: Binding) -> RecordOf:
        if key not in self.keys:
            return RecordOf((*self.keys, key), (*self.items, item))
        k = self.keys.index(key)
        return RecordOf(self.keys, (*self.items[:k], item, *self.items[k + 1 :]))

    def updated(self, other: RecordOf) -> RecordOf:
        """Return the contents of a dict after those of another one were put in."""
        record = self
        for key, item in zip(other.keys, other.items, strict=True):
            record = record.with_item(key, item)
        return record

    def only(self, kept: Sequence[bool]) -> RecordOf:
        """Return those that are `kept`."""
        keys, items = itertools.compress(self.keys, kept), itertools.compress(self.items, kept)
        return RecordOf(tuple(keys), tuple(items))

    def without(self, key: Any) -> RecordOf:
        if key not in self.keys:
            return self
        k = self.keys.index(key)
        return RecordOf(self.keys[:k] + self.keys[k + 1 :], self.items[:k] + self.items[k + 1 :])


@dataclass(frozen=True, slots=True)
class ListRef:
    """A Python list. Like arrays, lists are objects: `slot` of the state holds the elements."""

    slot: str


@dataclass(frozen=True, slots=True)
class DequeRef(ListRef):
    """A `collections.deque`: a list that keeps the last `maxlen` elements, or all."""

    maxlen: int | None = None


@dataclass(frozen=True, slots=True)
class DictRef:
    """A dict; `slot` of the state holds the items.

    They are a `RecordOf` if the keys are known at compile time. Those that only some paths set have
    a `Maybe` that is absent by being `UNSET`. With keys known only at run time, the items are a
    `Growing` list of pairs.
    """

    slot: str


@dataclass(frozen=True, slots=True)
class DefaultRef(DictRef):
    """A `collections.defaultdict`, or a `Counter`, which does not keep a default that it returns.

    `factory` is called for a key that it does not have.
    """

    factory: Binding
    keeps: bool = True


def counter(slot: str) -> DefaultRef:
    """Return a `Counter`."""
    return DefaultRef(slot, Static(int), keeps=False)


@dataclass(frozen=True, slots=True)
class OrderedRef(DictRef):
    """A `collections.OrderedDict`."""


@dataclass(frozen=True, slots=True)
class VarsRef(DictRef):
    """The attributes of an object as the dict that `vars` returns: `slot` is that of the object."""


@dataclass(frozen=True, slots=True)
class SetRef(DictRef):
    """A set: a dict of its members, each with the value `MEMBER`."""


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An instance of a class of the user's; `slot` of the state holds its attributes."""

    slot: str
    cls: type


@dataclass(frozen=True, slots=True)
class DictView:
    """The `keys`, `values` or `items` of a dict, with its current contents."""

    ref: DictRef
    name: str


Ref = ListRef | DictRef | ObjectRef


@dataclass(frozen=True, slots=True)
class Words:
    """A string that numbers known only at run time are formatted to: a template and its operands.

    An operand that is not passed as it is has a form: "array", "list", "python" or "number" for
    numbers of Python or NumPy, or "texts" and a list of which it is the index; else "". Those of
    many texts are in arrays: "column", and of the last one "rows", how many these are, and as JSON
    what is between two texts, their template and its forms. The operands of several texts of which
    one is meant are "column", too; its number is "cases", how many operands there are, and as JSON
    each template and its forms. No other name changes what they are.
    """

    template: str
    items: tuple[Binding, ...]  # numbers and arrays
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """An attribute that an object had when the function was called, or a default value.

    It is bound when it is read; as a constant of the program if it is said to be one.
    """

    place: Place
    value: Any = field(compare=False)
    constant: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A number or array in the elements of a `Growing`: its type and, of an array, the sizes.

    A size is None if it is known only at run time. Where some elements have no array (`Perhaps`),
    it is `late`: the first one tells the sizes, 0 before. A number is `blank` if it is the same in
    all elements so far: arrays may take its place.
    """

    type: Scalar
    sizes: tuple[int | None, ...] | None = None
    late: bool = False
    blank: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Growing:
    """The contents of a list whose length is known only at run time.

    All elements are like `element`, which has a `Cell` for each number and array. A buffer for each
    cell has those of all elements, along its first axis.
    """

    buffers: tuple[ArrayRef, ...]
    length: Num
    element: Binding


@dataclass(frozen=True, slots=True)
class Nested:
    """A list, dict or object in the elements of a `Growing`: reading an element makes a new one."""

    cls: type
    contents: TupleOf | RecordOf


@dataclass(frozen=True, slots=True)
class Among:
    """One of several constants, lists, dicts or objects in the elements of a `Growing`.

    A cell says which.
    """

    items: tuple[Binding, ...]
    which: Cell


@dataclass(frozen=True, slots=True)
class Handle:
    """A list, dict or object in the elements of a `Growing` that is in a pool; a cell has its row.

    `like` is one whose slot is that of the pool. Reading an element makes another name of it.
    """

    like: ListRef | DictRef | ObjectRef
    keys: tuple[Any, ...]
    row: Cell


@dataclass(frozen=True, slots=True)
class Pooled:
    """Where what a list, dict or object holds is in a pool (`values.growing.pools`).

    The keys of a list are the places of its elements; one of any length has none.
    """

    pool: str
    keys: tuple[Any, ...]
    row: Num
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Perhaps:
    """What may be None in the elements of a `Growing`; a cell says whether it is something.

    If not, it may be a number instead of None, which is `blank`: no code reads it.
    """

    inner: Binding
    some: Cell
    blank: bool = False


@dataclass(frozen=True, slots=True)
class NamedTuple:
    """A named tuple, or a frozen dataclass: immutable."""

    cls: type
    record: RecordOf


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known at compile time: None, a string, a module, a class, a function.

    A function that other calls of the code may find another one instead of has a `place`.
    """

    value: Any
    place: Place | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Closure:
    """A function defined inside the lowered code, with the scope it was defined in.

    Its attributes are constants or functions. They are set once for all paths: not in branches or
    loops that it was not made in (`path`). Inner functions are counted, by `number`, as they are
    made.
    """

    node: ast.FunctionDef | ast.Lambda
    source: Source
    scope: Any
    defaults: dict[str, Binding]
    attributes: dict[str, Binding] = field(default_factory=dict)
    path: object = None
    number: int = 0

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(frozen=True, slots=True)
class Range:
    start: Num
    stop: Num
    step: Num


@dataclass(frozen=True, slots=True)
class Enumerate:
    inner: Binding
    start: Num


@dataclass(frozen=True, slots=True)
class Zip:
    inners: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Reversed:
    inner: Binding


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of an array or another object, not yet called.

    It is looked for in the classes that come after `after`, if that is given.
    """

    owner: Binding
    name: str
    after: type | None = None


@dataclass(frozen=True, slots=True)
class Super:
    """What ``super()`` returns: an instance, or a class, with the attributes of later classes."""

    owner: Binding
    after: type


@dataclass(frozen=True, slots=True)
class Transformed:
    """A derivative of a function, not yet called."""

    fn: Binding
    level: Level

    @property
    def kind(self) -> str:
        """The name of the transformation that made it."""
        return self.level.kind


@dataclass(frozen=True, slots=True)
class Ruled(Transformed):
    """A function with a derivative of its own, made in code.

    `fn` is a tuple of it and the functions of its rule. These are set once for all paths, as
    attributes of functions are: in as many branches and loops as it was made in, `depth`.
    """

    depth: int = 0

    @property
    def primal(self) -> Binding:
        return self.parts[0]

    @property
    def rules(self) -> tuple[Binding, ...]:
        return self.parts[1:]

    @property
    def parts(self) -> tuple[Binding, ...]:
        assert isinstance(self.fn, TupleOf)
        return self.fn.items

    @property
    def key(self) -> object:
        """What the function is known by within its rule."""
        match self.primal:
            case Closure(node=node):
                return id(node)
            case Static(value=value):
                return id(value)
        return id(self.primal)


@dataclass(frozen=True, slots=True)
class Itself:
    """What a function of a rule made in code sees as the function that has the rule."""

    name: str
    key: object


@dataclass(frozen=True, slots=True)
class Knot:
    """What an inner function that is data has for itself: the call of `node` that is running."""

    node: ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Pullback:
    """The pullback that `vjp` returns: `of` weights the results of the function.

    `args` are its arguments at that time, `moved` the positions of their floats, argument by
    argument, `result` and `heap` the structure of its results.
    """

    of: Function
    args: TupleOf
    like: TupleOf
    moved: tuple[int, ...]
    result: Binding
    heap: dict[str, Binding] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Pushforward(Pullback):
    """What `linearize` returns, in the terms of a pullback: `of` is the function itself."""


@dataclass(frozen=True, slots=True)
class Directional:
    """A derivative of a function of numbers and arrays at `args`, which takes directions alone.

    It returns the results of `of` from the first that counts on.
    """

    of: Derived
    args: TupleOf
    first: int


@dataclass(frozen=True, slots=True)
class Unbound:
    """A variable that is not bound on every path to here; `why` says which is missing."""

    why: str = ""
    span: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Late:
    """A variable that a loop binds: it is bound if the loop ran (`flag`), checked where read.

    If it is `lost`, it may be bound otherwise, too, but to what is not known; this is where.
    """

    inner: Binding
    flag: Operand
    lost: str = ""


class _Mark(enum.Enum):
    UNSET = enum.auto()
    MEMBER = enum.auto()


# What a variable has before it is assigned that is not assigned on every path.
UNSET = Static(_Mark.UNSET)
# What a set has for each of its members.
MEMBER = Static(_Mark.MEMBER)


def is_unset(binding: Binding) -> bool:
    """Whether a variable is not assigned yet."""
    return isinstance(binding, Static) and binding.value is UNSET.value


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value on some paths, None on the others: it is `inner` where `some` holds.

    Which of the two is asked by `is None`, and checked where a value is needed. The `absent` of a
    variable, or of a key of a dict, that some paths do not assign is `UNSET` instead of None:
    reading it is checked.
    """

    inner: Binding
    some: Operand
    absent: Static = Static(None)


def may_be_unset(binding: Binding) -> bool:
    """Whether some path has not assigned a variable, or set a key."""
    return is_unset(binding) or (isinstance(binding, Maybe) and is_unset(binding.absent))


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values that have no form in common, such as a number and an array, or texts.

    It is the item with the number `which`. Where only a value will do, what asks for it is lowered
    once for each item (`control.choices`). None is never one of them (`Maybe`). Two lists or dicts
    are rather joined to a third one, as long as no path changes one of them (`Shared.parted`).
    """

    items: tuple[Binding, ...]
    which: Operand


@dataclass(frozen=True, slots=True)
class Unstable:
    """A variable whose kind depends on the path: an error where it is used, and only there."""

    why: str
    span: Span | None = None


class LeftOut(Unstable):
    """A part of what a function returns that is not computed: refused where it is used."""


Binding = (
    Num
    | ArrayRef
    | Lazy
    | TupleOf
    | RecordOf
    | ListRef
    | DictRef
    | DictView
    | ObjectRef
    | NamedTuple
    | Cell
    | Growing
    | Nested
    | Handle
    | Pooled
    | Among
    | Perhaps
    | Words
    | Given
    | Static
    | Closure
    | Range
    | Enumerate
    | Zip
    | Reversed
    | Bound
    | Super
    | Transformed
    | Itself
    | Knot
    | Pullback
    | Directional
    | Unbound
    | Late
    | Maybe
    | OneOf
    | Unstable
)
NONE = Static(None)


def is_generator(binding: Binding) -> bool:
    return isinstance(binding, NamedTuple) and instances.is_generator_class(binding.cls)


def is_legacy(binding: Binding) -> bool:
    """Whether a binding is an `np.random.RandomState`."""
    return isinstance(binding, NamedTuple) and instances.is_legacy_class(binding.cls)


def generator_of(words: ArrayRef | Static, cls: type = np.random.Generator) -> NamedTuple:
    """Return the generator whose state is an array; or None, where nothing can be drawn."""
    if isinstance(words, ArrayRef):
        words.object.words = True
    return NamedTuple(cls, RecordOf(("words",), (words,)))


def is_seed(binding: Binding) -> bool:
    """Whether a binding is what a random generator is made from."""
    return isinstance(binding, NamedTuple) and instances.is_seed_class(binding.cls)


def is_stateful(binding: Binding) -> bool:
    """Whether a binding is a random generator, what one is made from, or a communicator."""
    return isinstance(binding, NamedTuple) and instances.is_stateful_class(binding.cls)


def is_communicator(binding: Binding) -> bool:
    return isinstance(binding, NamedTuple) and instances.is_communicator_class(binding.cls)


def one_type(a: Type, b: Type) -> bool:
    """Whether a variable may be a number of either type.

    Numbers of two kinds join by promotion. That would change what later arithmetic gives where
    NumPy wraps around or treats booleans in its own way: such variables are refused.
    """
    if a == b or not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        return True
    if "b" in (a.kind, b.kind):
        truth, other = (a, b) if a.kind == "b" else (b, a)
        return truth.weak or other.kind == "b"
    return a.weak or b.weak or bool({a.kind, b.kind} & {"f", "c"})


def static(value: Any) -> Binding:
    """Return the binding of a Python object that is known at compile time."""
    if type(value) in (bool, int, float, complex):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return Static(value)
        ty = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}[type(value)]
        return Num(Literal(value, ty))
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return Num(Literal(value.item(), Scalar(NAMES[value.dtype])))
    if type(value) is tuple:
        return TupleOf(tuple(static(item) for item in value))
    if instances.is_named_tuple(type(value)):
        items = tuple(static(item) for item in value)
        return NamedTuple(type(value), RecordOf(type(value)._fields, items))
    if instances.is_record(type(value)):
        names = type(value).__match_args__  # of the elements
        return NamedTuple(type(value), RecordOf(names, tuple(static(item) for item in value)))
    return Static(value)
