# The corpus is what users write.
"""Programs with objects whose methods Python calls by itself: properties, operators, tests.

Entered in `tests.system.test_array_programs`; objects that are arguments or lie outside are in
`tests.unit.frontend.containers.test_objects`.
"""

from __future__ import annotations

import copy
import functools
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder

OBJECT_PROGRAMS: list[Program] = []
program = recorder(OBJECT_PROGRAMS, "object")


# --- attributes -----------------------------------------------------------------------------------


class Spring:
    """Counts how often its length was set; the length is kept as its square."""

    unit = 2.0

    def __init__(self, length: Any) -> None:
        self.times = 0
        self.length = length

    @property
    def length(self) -> Any:
        return self._square / self.unit

    @length.setter
    def length(self, value: Any) -> None:
        self._square = value * value
        self.times += 1

    @length.deleter
    def length(self) -> None:
        self._square = 0.25


@program(1.3)
def property_that_is_set(x: Any) -> Any:
    spring = Spring(x)
    spring.length = 5.0 * x
    return spring.length * spring.times


@program(1.3)
def property_that_is_augmented_in_a_loop(x: Any) -> Any:
    spring = Spring(x)
    for k in range(3):
        spring.length += math.sin(x) * k
        if spring.length > 8.0:
            spring.length = x * spring.times
    return spring.length + spring._square * spring.times


@program(X3)
def property_of_arrays(x: Any) -> Any:
    spring = Spring(x)
    kept = spring.length
    spring.length = kept * x[0]
    kept[0] = 3.0
    return np.sum(spring.length * kept)


@program(1.3)
def property_and_attribute_that_are_deleted(x: Any) -> Any:
    spring = Spring(x)
    spring.unit = x
    s = spring.length
    del spring.unit, spring.length
    return s * x + spring.length


class Stiff(Spring):
    @property  # type: ignore[misc]  # it has no setter
    def length(self) -> Any:
        return self._square * 3.0

    def __init__(self, length: Any) -> None:
        self._square = length


class Fixed(Spring):
    length: Any = 0.5  # an attribute of the class instead of the property

    def __init__(self, square: Any) -> None:
        self._square = square


@program(1.3)
def properties_along_the_order_of_classes(x: Any) -> Any:
    fixed = Fixed(x)
    before = fixed.length * x
    fixed.length = x * x
    return Stiff(x).length * before + fixed.length + Spring.unit * fixed.unit


class Cell:
    __scale = 3.0

    def __init__(self, x: Any) -> None:
        self.__x = x
        self._y = 1.0

    def value(self) -> Any:
        return self.__twice(2.0) * self.__scale + self._y

    def __twice(self, __factor: Any) -> Any:
        __inner: Any = lambda u: u * __factor  # noqa: E731
        return __inner(self.__x)


class Derived(Cell):
    def __init__(self, x: Any) -> None:
        Cell.__init__(self, x * x)
        self.__x = 100.0 * x

    def both(self) -> Any:
        return self.value() * self.__x


@program(0.7)
def private_names(x: Any) -> Any:
    cell = Derived(x)
    return cell.both() + cell._Cell__x * cell._Derived__x  # type: ignore[attr-defined]  # mangled names


class Scaled:
    """A descriptor that keeps a multiple."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return owner._kept * self.factor

    def __set__(self, owner: Any, value: Any) -> None:
        owner._kept = value + 1.0


class Offered:
    """A descriptor that an attribute of the instance hides."""

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return owner._kept * 10.0


class Described:
    scaled = Scaled(2.5)
    offered = Offered()

    def __init__(self, x: Any) -> None:
        self.scaled = x


@program(0.7)
def descriptors(x: Any) -> Any:
    thing = Described(x)
    s = thing.scaled * thing.offered
    thing.scaled = s
    thing.offered = x
    return thing.scaled * thing.offered


class Positive:
    """A descriptor as the documentation of Python has it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        return getattr(owner, self.name)

    def __set__(self, owner: Any, value: Any) -> None:
        if value < 0.0:
            raise ValueError("must be positive")
        setattr(owner, self.name, value)


class Rod:
    length = Positive()
    width = Positive()

    def __init__(self, length: Any, width: Any) -> None:
        self.length = length
        self.width = width


@program(0.7)
def descriptors_that_share_a_class(x: Any) -> Any:
    rod: Any = Rod(x, 2.0)
    for k in range(3):
        rod.length += rod.width * math.sin(x) ** k
        rod.width *= x
    thick = getattr(rod, "height", x * x) if not hasattr(rod, "height") else 0.0
    return rod.length * rod.width * thick + rod._length * hasattr(rod, "width")


class Counted:
    __slots__ = ("calls", "x")

    def __init__(self, x: Any) -> None:
        self.x = x
        self.calls = 0


@program(0.7)
def slots_of_an_object(x: Any) -> Any:
    counted = Counted(x)
    for _ in range(4):
        counted.calls += 1
        counted.x *= math.cos(counted.x)
    return counted.x * counted.calls


class Cached:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.calls = 0

    @functools.cached_property
    def square(self) -> Any:
        self.calls += 1
        return self.x * self.x


@program(0.7)
def property_that_is_cached(x: Any) -> Any:
    cached = Cached(x)
    s = cached.square
    cached.x = 10.0 * x
    return s * cached.square * cached.calls + cached.x


@program(X3)
def cached_array_that_is_written(x: Any) -> Any:
    cached = Cached(x)
    cached.square[0] = 2.0
    return np.sum(cached.square * x) * cached.calls


# --- objects that are iterated --------------------------------------------------------------------


class Batches:
    """Yields parts of an array."""

    def __init__(self, x: Any, size: Any) -> None:
        self.x = x
        self.size = size

    def __iter__(self) -> Any:
        for i in range(len(self.x) // self.size):
            yield self.x[i * self.size : (i + 1) * self.size]


@program(X6)
def loop_over_batches(x: Any) -> Any:
    s = 0.0
    batches = Batches(x, 2)
    for epoch in range(2):
        for a, b in batches:
            if a > b:
                continue
            s += a * b * (epoch + 1)
    for part in Batches(x, 3):
        s = s * 0.5 + np.prod(part)
    return s + sum([b[0] for b in batches]) + len(list(Batches(x, 4)))


class Net:
    """Has a list of layers, and goes through them."""

    def __init__(self, weights: Any) -> None:
        self.layers = [(w, np.tanh) for w in weights]

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Any:
        return iter(self.layers)

    def __call__(self, v: Any) -> Any:
        for w, act in self:
            v = act(w * v)
        return v


@program(X3)
def loop_over_the_layers_of_a_net(x: Any) -> Any:
    net = Net([x[0], x[1], x[2]])
    s = net(1.0) + sum(w * w for w, _ in net) * len(net)
    for k, (w, _) in enumerate(net):
        s += w * k
    for (w, _), v in zip(net, x):  # noqa: B905
        s += w * v
    return s + max(Rows(x)) + sum(Rows(x))


class Rows:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Any:
        return (v * v for v in self.x)


class Drawn:
    """An iterator: it goes on where it stopped."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.k = 0

    def __iter__(self, /) -> Any:
        return self

    def __next__(self) -> Any:
        if self.k >= len(self.x):
            raise StopIteration
        self.k += 1
        return self.x[self.k - 1]


@program(X6)
def loop_over_an_iterator(x: Any) -> Any:
    drawn = Drawn(x)
    s = 0.0
    for v in drawn:
        s = s * 0.5 + v
        if v < 0.0:
            break
    for v in drawn:
        s += v * v
    return s + drawn.k


@program(X6)
def iterator_in_a_variable(x: Any) -> Any:
    it = iter(x)
    s = next(it)
    for v in it:
        s = s * 0.5 + v * next(it, 1.0)
    other = Drawn(x)
    while True:
        try:
            v = next(other)
        except StopIteration:
            break
        s += v * v
    few = iter([x[0], x[1]])
    while (w := next(few, None)) is not None:
        s += np.sin(w)
    pairs = iter(x)
    for a, b in zip(pairs, pairs):  # noqa: B905
        s += a * b
    return s


class Asked:
    """Counts what is asked of it."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.asked = 0
        self.total = 0.0

    @property
    def doubled(self) -> Any:
        self.asked += 1
        return Asked(self.x * 2.0)

    @property
    def parts(self) -> Any:
        self.total = self.total + self.x[0]
        return self.made

    @property
    def values(self) -> Any:
        self.asked += 1
        return self.x

    def made(self) -> Any:
        yield from self.x

    def __iter__(self) -> Any:
        return iter(self.x)


@program(X3)
def properties_that_lead_to_iterators(x: Any) -> Any:
    """Each is evaluated once."""
    c = Asked(x)
    s = 0.0
    for v in c.parts():
        s += v * v
    for v in c.doubled.made():
        s += v * v
    for v in c.doubled:
        s += v
    s += sum(c.values) + sum(c.doubled) + sum(c.parts()) + sum(v * v for v in c.doubled.made())
    s += sum([v for v in c.values]) + max(c.doubled.made()) + len(list(c.parts()))
    for a, b in zip(c.parts(), x):  # noqa: B905
        s += a * b
    return s * c.asked + c.total


class Branch:
    def __init__(self, value: Any, parts: Any = ()) -> None:
        self.value = value
        self.parts = parts

    def __iter__(self) -> Any:
        yield self.value
        for part in self.parts:
            yield from part


@program(X3)
def loop_over_a_tree(x: Any) -> Any:
    s = 0.0
    for v in Branch(x[0], (Branch(x[1]), Branch(x[2], (Branch(x[0] * x[1]),)))):
        s = s * 0.5 + v
    return s


class Turned(NamedTuple):
    a: Any
    b: Any

    def __iter__(self) -> Any:
        return iter((self.b, self.a))


@program(X3)
def loop_over_a_named_tuple_of_another_order(x: Any) -> Any:
    s = 0.0
    for v in Turned(x[0], x[1]):
        s = s * 0.5 + v
    return s


# --- tests ----------------------------------------------------------------------------------------


class Tank:
    def __init__(self, level: Any) -> None:
        self.level = level

    def __bool__(self) -> bool:
        return bool(self.level > 1.0)


class Queue:
    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)


@program(1.9, smooth=False)
def truth_of_objects(x: Any) -> Any:
    tank = Tank(x)
    s = x
    while tank:
        tank.level *= 0.8
        s += math.sin(tank.level)
    if not tank and Tank(x):
        s *= x
    s += x if tank or Tank(3.0) else 10.0
    assert Tank(x)
    return s + sum([x * v for v in (1.0, 2.0) if Queue([])], x)


@program(X6, smooth=False)
def truth_by_length(x: Any) -> Any:
    s = 0.0
    full, empty = Queue(x), Queue([])
    for v in x:
        if full and not empty:
            s += v * len(full)
        if empty or v < 0.0:
            s *= v
    return s + bool(full)


class Pair(NamedTuple):
    a: Any
    b: Any


class Hidden(Pair):
    """A tuple that says it is empty, and computes one of its fields."""

    def __len__(self) -> int:
        return 0

    @property
    def b(self) -> Any:
        return self.a * 7.0

    def __add__(self, other: Any) -> Any:
        return Hidden(self.a + other.a, 0.0)


@program(0.7)
def named_tuple_with_methods(x: Any) -> Any:
    hidden = Hidden(x, 1.0) + Hidden(x * x, 2.0)
    return (x if hidden else hidden.b) * (len(hidden) + 2) * hidden[0]


@dataclass(frozen=True)
class Flag:
    on: Any

    def __bool__(self) -> bool:
        return bool(self.on > 0.0)


@dataclass(frozen=True)
class Nothing:
    pass


@program(0.7, smooth=False)
def truth_of_frozen_dataclasses(x: Any) -> Any:
    s = x if Flag(x) else 2.0 * x
    s *= x if Flag(-x) else 3.0
    return s * (x if Nothing() else 5.0)


# --- operators ------------------------------------------------------------------------------------


class Dual:
    """A number with a derivative, by hand."""

    __array_ufunc__ = None

    def __init__(self, re: Any, du: Any = 0.0) -> None:
        self.re = re
        self.du = du

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.re + other.re, self.du + other.du)
        return Dual(self.re + other, self.du)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Dual):
            return Dual(self.re * other, self.du * other)
        return Dual(self.re * other.re, self.re * other.du + self.du * other.re)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __neg__(self) -> Any:
        return Dual(-self.re, -self.du)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __pow__(self, n: Any) -> Any:
        result = Dual(1.0)
        for _ in range(n):
            result = result * self
        return result

    def __abs__(self) -> Any:
        return Dual(abs(self.re), self.du if self > 0.0 else -self.du)

    def __gt__(self, other: Any) -> Any:
        return self.re > (other.re if isinstance(other, Dual) else other)

    def __float__(self) -> float:
        return float(self.re)


@program(0.7)
def dual_numbers(x: Any) -> Any:
    u = Dual(x, 1.0)
    v = 2.0 * u**3 - u * 3.0 + 1.0
    return v.du * abs(v).re + float(u)


@program(X3, 4)
def dual_numbers_in_a_loop(x: Any, n: Any) -> Any:
    s = Dual(1.0)
    for k in range(n):
        u = Dual(x[k % 3], 1.0)
        s = s * u + x[0] * u if u > 0.0 else s - 0.5 * u
    return s.re * s.du


@program(X3)
def dual_numbers_of_arrays(x: Any) -> Any:
    u = x[1:] * Dual(x[:2], np.ones(2)) + x[1:]
    return np.sum(u.re * u.du)


class Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __iadd__(self, other: Any) -> Any:
        self.x += other.x
        return self

    def __matmul__(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and bool(self.x == other.x)

    __hash__ = None  # type: ignore[assignment]  # what `__eq__` sets

    def __getitem__(self, k: Any) -> Any:
        return self.x if k == 0 else self.y

    def __setitem__(self, k: Any, value: Any) -> None:
        if k == 0:
            self.x = value
        else:
            self.y = value

    def __contains__(self, value: Any) -> Any:
        return value in (self.x, self.y)

    def __call__(self, t: Any) -> Any:
        return self.x + t * self.y


class Long(Vector):
    def __radd__(self, other: Any) -> Any:  # comes before `Vector.__add__`
        return Long(self.x * other.x, self.y)


@program(0.7, 1.9, argnums=(0, 1))
def operators_of_objects(x: Any, y: Any) -> Any:
    a, b = Vector(x, y), Vector(y, x * x)
    c = a
    c += b  # in place: `a` sees it
    d = a + b
    if a != b and 3.0 not in a and not a == x and a is not None:
        d += b
    total = a + Long(x, y)
    return a @ b + d(x) + total.x * (c is a) + (a != b)


@program(0.7, 1.9, argnums=(0, 1))
def items_of_objects(x: Any, y: Any) -> Any:
    v = Vector(x, y)
    for k in range(2):
        v[k] = v[1 - k] * x
        v[k] += math.sin(y)
    return v[0] * v[1]


# --- refused --------------------------------------------------------------------------------------

REFUSED: list[tuple[Program, str]] = []


def refused(text: str, *args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a legal program that adc refuses with `text` in the message."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        REFUSED.append((Program(fn.__name__, fn, args or (0.7,)), text))
        return fn

    return register


class Walk:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Any:
        return iter([self.x, 1.0])

    def __reversed__(self) -> Any:
        return iter([1.0, self.x])

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "walk"

    def __index__(self) -> int:
        return 1


@program(0.7)
def instance_unpacked(x: Any) -> Any:
    a, b = Walk(x)
    first, *rest = Walk(x * 2.0)
    return a * b + first * rest[0]


@refused("`in` a Walk")
def member_by_iteration(x: Any) -> Any:
    return x if 1.0 in Walk(x) else 0.0


@refused("`reversed` of a Walk")
def instance_reversed(x: Any) -> Any:
    for v in reversed(Walk(x)):
        x = x * v
    return x


@refused("a Walk as a key is not supported")
def instance_as_a_key(x: Any) -> Any:
    return {Walk(x): x}[Walk(x)]


@refused("an index must be an integer, not a Walk", X3)
def instance_as_an_index(x: Any) -> Any:
    return x[Walk(1.0)]


class Loose:
    def __getattr__(self, name: str) -> Any:
        return 3.0


@program(0.7)
def attributes_made_up(x: Any) -> Any:
    return Loose().any * x


class Strict:
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, 2.0 * value)


@program(0.7)
def attributes_set_by_a_method(x: Any) -> Any:
    strict: Any = Strict()
    strict.x = x
    return strict.x


class Made:
    y: Any

    def __new__(cls, x: Any = 1.0) -> Any:
        made = super().__new__(cls)
        made.y = 2.0 * x
        return made

    def __init__(self, x: Any) -> None:
        self.x = x * self.y

    @classmethod
    def of(cls, x: Any, y: Any) -> Any:
        made = cls.__new__(cls, x)
        made.x = y
        return made


class MadeTwice(Made):
    def __init__(self, x: Any) -> None:
        super().__init__(2.0 * x)


class MadeByKind:
    x: Any

    def __new__(cls, x: Any, kind: Any) -> Any:
        if kind == "made":
            return Made(x)
        made = object.__new__(cls)
        made.x = x
        return made


@program(0.7)
def instances_made_by_a_method(x: Any) -> Any:
    made = Made.of(x, x * x)
    return (
        Made(x).x
        + 3.0 * MadeTwice(x).x
        + made.x * made.y
        + MadeByKind(x, "made").y
        + MadeByKind(x, "").x
    )


class MadePerhaps:
    x: Any

    def __new__(cls, x: Any) -> Any:
        return object.__new__(cls) if x > 0.0 else None

    def __init__(self, x: Any) -> None:
        self.x = x


@refused("`__new__` of `MadePerhaps`, which returns one of several values,")
def instance_or_nothing(x: Any) -> Any:
    made = MadePerhaps(x)
    return 0.0 if made is None else made.x


@refused("`__new__` of a Made")
def copy_of_an_instance_made_by_a_method(x: Any) -> Any:
    return copy.copy(Made(x)).x


class Closing:
    def __del__(self) -> None:
        pass


@refused("`Closing`, which has `__del__`,")
def instance_that_does_something_at_its_end(x: Any) -> Any:
    Closing()
    return x


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return type.__call__(cls, *args)

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class OfMeta(metaclass=Meta):
    pass


@refused("whose metaclass `Meta` has `__call__`")
def instance_made_by_a_metaclass(x: Any) -> Any:
    OfMeta()
    return x


@refused("`__instancecheck__` of `Meta`")
def instances_by_a_metaclass(x: Any) -> Any:
    return x if isinstance(Walk(x), OfMeta) else 0.0


class Doubled(Pair):
    def __new__(cls, a: Any) -> Any:
        return Pair.__new__(cls, a, 2.0 * a)


@program(0.7)
def named_tuple_made_by_a_method(x: Any) -> Any:
    return Doubled(x).b


class Swapped(Pair):
    def __iter__(self) -> Any:
        return iter((self.b, self.a))


@program(0.7)
def named_tuple_with_an_iterator(x: Any) -> Any:
    a, b = Swapped(x, 3.0)
    return a * 2.0 + b * b


class Sequence(list[Any]):
    pass


@refused("an object of class `Sequence`, a subclass of `list`")
def subclass_of_a_list(x: Any) -> Any:
    return Sequence([x])[0]


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __rmul__(self, other: Any) -> Any:
        return other * self.x


@refused("an array of objects", X3)
def array_times_an_instance(x: Any) -> Any:
    return np.sum(x * Plain(x[0]))


class Ufunc(Plain):
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return self.x


@refused("`__array_ufunc__` of a Ufunc", X3)
def array_and_an_override(x: Any) -> Any:
    return x * Ufunc(x[0])


@dataclass(order=True)
class Ordered:
    x: Any


@program(1.5, smooth=False)
def order_made_by_dataclass(x: Any) -> Any:
    return x if Ordered(x) < Ordered(2.0) else 0.0


class Reads:
    """Descriptors without Python code that adc reads."""

    update = functools.partialmethod(lambda self, x: x, 3.0)
    chosen = functools.singledispatchmethod(lambda self, x: x)


@program(0.7)
def method_with_given_arguments(x: Any) -> Any:
    return Reads().update() * x


@refused("`chosen` of a Reads, a descriptor of class `singledispatchmethod`")
def descriptor_of_a_library(x: Any) -> Any:
    return Reads().chosen(x) * x


class _Branch:
    def __init__(self, name: str, *children: _Branch) -> None:
        self.name, self.children = name, children


_PHYLOGENY = _Branch("root", _Branch("inner", _Branch("a"), _Branch("b")), _Branch("c"))
_STATES = {"a": "01", "b": "11", "c": "0-"}


def _pruned(node: _Branch, stay: Any, site: int) -> Any:
    if not node.children:
        state = _STATES[node.name][site]
        return np.ones(2) if state == "-" else np.eye(2)[int(state)]
    likelihood = np.ones(2)
    for child in node.children:
        below = _pruned(child, stay, site)
        likelihood *= stay * below + (1.0 - stay) * below[::-1]
    return likelihood


@program(np.array([0.8, 0.3]))
def recursion_that_needs_a_constant(x: Any) -> Any:
    total = 0.0
    for site in range(len(_STATES["a"])):
        total += np.log(_pruned(_PHYLOGENY, x[0], site) @ np.array([x[1], 1.0 - x[1]]))
    return total


@program(np.array([0.8, 0.3]), 5)
def objects_that_a_loop_replaces_and_keeps(x: Any, n: int) -> Any:
    spring, pair = Plain(x[0]), [x[1], x[0]]
    for k in range(n):
        former, (before, _) = spring, (pair, k)
        spring = Plain(spring.x * x[1] + k)
        pair = [pair[1] + x[0], pair[0] * pair[1]]
    return former.x * spring.x + before[0] * before[1] + pair[0]


class _Mover:
    def __init__(self, x: Any) -> None:
        self.now, self.before = Plain(x), Plain(x)

    def step(self, d: Any) -> None:
        self.before, self.now = self.now, Plain(self.now.x * 1.01 + d)


@program(np.array([0.8, 0.3]), 40)
def objects_in_objects_that_a_loop_replaces(x: Any, n: int) -> Any:
    mover, state = _Mover(x[0]), {"pair": [x[1], 1.0], "sums": [0.0]}
    k = 0
    while k < n and mover.now.x < 30.0:
        mover.step(x[1])
        first, second = state["pair"]
        state["pair"] = [second * 0.9 + x[0], first * second / (1.0 + first * first)]
        state["sums"][0] += mover.before.x * second
        k += 1
    return mover.now.x * mover.before.x + state["sums"][0] + state["pair"][0]


_CAPTURED = Plain(2.0)


@program(1.5)
def attributes_of_a_captured_object_as_a_dict(x: Any) -> Any:
    return x * vars(_CAPTURED)["x"]


class _Box:
    """What NumPy takes for an array, as classes of simulation packages are."""

    def __init__(self, sides: Any) -> None:
        self.sides = sides

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = self.sides if dtype is None else self.sides.astype(dtype)
        return made.copy() if copy else made

    def volume(self) -> Any:
        return np.prod(np.asarray(self))

    def __iter__(self) -> Any:
        return self.walk()

    def walk(self, scale: float = 2.0) -> Any:
        for side in self.sides:
            yield scale * side


@program(X3)
def objects_that_numpy_takes_for_arrays(x: Any) -> Any:
    box = _Box(x * x)
    one, other = np.asarray(box), np.array(box)
    one[0] += 1.0
    other[1] += x[0]
    longest = types.MethodType(lambda self, k: self.sides[k], box)
    total = box.volume() + np.sum(np.asarray(box, dtype=np.float64) * other) + longest(2) * x[1]
    return total + sum(box) + math.prod(side for side in box)
