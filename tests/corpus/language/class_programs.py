# The corpus is what users write.
"""Programs with dataclasses, and with classes that inherit from others."""

from __future__ import annotations

import functools
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

import numpy as np

from tests.corpus.language.object_programs import Flag
from tests.corpus.program import X3, Program, recorder

CLASS_PROGRAMS: list[Program] = []
program = recorder(CLASS_PROGRAMS, "object")

# --- dataclasses ----------------------------------------------------------------------------------


@dataclass
class Start:
    position: Any
    scale: InitVar[float] = 2.0
    step: float = field(default=0.5, kw_only=True)
    velocity: Any = 1.0
    count: ClassVar[int] = 3
    path: list[Any] = field(default_factory=list)
    weights: Any = field(default_factory=lambda: np.ones(2))
    steps: int = field(init=False, default=0)

    def __post_init__(self, scale: Any) -> None:
        self.position = self.position * scale
        self.path.append(self.position)


@program(0.7)
def fields_of_dataclasses(x: Any) -> Any:
    start = Start(x, 3.0, x * x)
    other = Start(x, step=x)
    other.weights[0] = x
    other.steps += Start.count
    return (
        start.position * start.velocity * start.step
        + np.sum(start.weights * other.weights) * other.velocity * other.step
        + other.path[0] * (len(start.path) + other.steps)
    )


@dataclass
class Named:
    x: Any
    name: str = field(compare=False, default="")


@dataclass(eq=False)
class Other:
    x: Any


@program(0.7)
def equal_dataclasses(x: Any) -> Any:
    s = x * (1.0 + (Named(x, "a") == Named(x, "b"))) + (Named(x) != Named(2.0))
    return s * (3.0 if Other(x) == Other(x) else x) + (Named(x) == x) + (Flag(x) == Flag(x))


@functools.total_ordering
class Ranked:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranked) and bool(self.x == other.x)

    def __lt__(self, other: Any) -> bool:
        return bool(self.x < other.x)

    __hash__ = None  # type: ignore[assignment]  # what `__eq__` sets


@program(0.7, smooth=False)
def ordered_objects(x: Any) -> Any:
    low, high = Ranked(x), Ranked(2.0 * x)
    s = high.x if high >= low else 0.0
    if low < high <= Ranked(9.0) and not low > high:
        s *= x
    return s


@program(0.7, smooth=False)
def truth_of_other_things(x: Any) -> Any:
    n = int(x * 3.0)
    s = x if range(n - 2) else 2.0 * x
    s *= x if range(n) else 2.0
    return s * (3.0 if {}.items() else x) + isinstance(x, (int, (float,)))


# --- super ----------------------------------------------------------------------------------------


class Layer:
    scale = 2.0

    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def apply(self, x: Any) -> Any:
        return self.weight * x * self.scale

    @property
    def size(self) -> Any:
        return self.weight**2

    @classmethod
    def of(cls, weight: Any) -> Any:
        return cls(weight)

    def __add__(self, other: Any) -> Any:
        return self.weight + other


class Shifted(Layer):
    scale = 3.0

    def __init__(self, weight: Any, shift: Any = 1.0) -> None:
        super().__init__(weight)
        self.shift = shift

    def apply(self, x: Any) -> Any:
        return super().apply(x) + self.shift * super().scale

    @property
    def size(self) -> Any:
        return super().size * self.shift

    @classmethod
    def of(cls, weight: Any) -> Any:
        return super().of(weight * weight)

    def __add__(self, other: Any) -> Any:
        return super().__add__(other) * 2.0


class Squared(Shifted):
    def apply(self, x: Any) -> Any:
        return super().apply(x) * super(Shifted, self).apply(x)

    def applied(self, x: Any) -> Any:
        def one(v: Any) -> Any:
            return super(Squared, self).apply(v)

        return one(x) * one(2.0 * x)


class Twofold(Layer):
    def apply(self, x: Any) -> Any:
        return super().apply(x) * 2.0


class Both(Twofold, Shifted):
    """`super()` of the first base is the second one."""


@dataclass
class Measured:
    value: Any
    error: Any = 2.0

    def __post_init__(self) -> None:
        self.value = self.value * 3.0


class Length(Measured):
    def __init__(self, value: Any, name: str) -> None:
        super().__init__(value * value)
        self.name = name


class Rooted(Layer):
    def __init__(self, weight: Any) -> None:
        super().__init__(weight)
        super(Layer, self).__init__()


@program(0.7)
def methods_of_a_base_class(x: Any) -> Any:
    layer = Shifted.of(x)
    return layer.apply(2.0) * layer.size + (layer + x)


@program(0.7)
def methods_of_two_base_classes(x: Any) -> Any:
    deep = Squared(x, 0.3)
    return deep.apply(1.5) + deep.applied(x) + Both(x, x).apply(x)


@program(0.7)
def initialisation_of_a_base_class(x: Any) -> Any:
    named = Length(x, "length")
    return named.value * named.error + Rooted(x).weight


@program(X3)
def methods_of_base_classes_in_a_loop(x: Any) -> Any:
    layers = [Shifted(v, k) for k, v in enumerate((x[0], x[1], x[2]))]
    s = x[0]
    for layer in layers:
        s = layer.apply(s) * 0.1
    return s


class Profile:
    """Its attributes are set by its method, as often as that is called."""

    def __init__(self, width: Any) -> None:
        self.width = width

    def at(self, x: Any) -> Any:
        self.limit = self.width * x
        self.height = 2.0 / (1.0 + self.limit)
        return self.height * (1.0 - self.limit**2)


@program(X3, 0.4, argnums=(0, 1))
def attributes_first_set_in_some_iterations(x: Any, width: Any) -> Any:
    profile = Profile(width)
    found = np.zeros(len(x))
    for k in range(len(x)):
        if x[k] > 0.0:
            found[k] = profile.at(x[k])
    return np.sum(found * x) + profile.height


class Jet:
    """A value and its derivative, with the methods that NumPy's functions call."""

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def exp(self) -> Jet:
        return Jet(np.exp(self.value), np.exp(self.value) * self.slope)

    def sin(self) -> Jet:
        return Jet(np.sin(self.value), np.cos(self.value) * self.slope)


@program(0.7)
def functions_of_numpy_of_objects(x: Any) -> Any:
    jet: Any = Jet(x, 1.0)
    for _ in range(2):
        jet = np.exp(np.sin(jet))
    return jet.value * jet.slope
