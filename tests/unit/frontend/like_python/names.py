# mypy: ignore-errors
# Names, imports and class variables are what the snippets are about.
# ruff: noqa: E741, F401, RUF012
"""What the bodies of `like` and `refused` use: modules, arrays, functions and classes."""

import abc
import ast
import bisect
import cmath
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import importlib
import inspect
import itertools
import logging
import math
import operator
import re
import sys
import types
import typing

import numpy as np
import packaging.version
import scipy.constants
import scipy.integrate
import scipy.linalg
import scipy.stats
from numpy.polynomial import Polynomial

import adc

DAY = datetime.date(2024, 3, 1)
WORD = re.compile(r"(?P<first>[a-z])(\w*)")
THIRD = fractions.Fraction(1, 3)
COUNTS = collections.Counter("abca")
KINDS = {float, np.ndarray}
FROZEN = {"b", "c", 2, 1.5}

X = np.array([1.5, -0.5, 2.0])


M = np.array([[1.0, 2.0], [3.0, 4.0]])


H = X.astype(np.float16)


I = np.array([3, 1, 2])


U = np.array([2**63 + 5, 3, 2**63 + 5], np.uint64)


Z = np.array(
    [2.0 + 1.0j, complex(np.nan, 1.0), 1.0 + 3.0j, complex(2.0, np.nan), 1.0 + 2.0j,
     complex(np.nan, np.nan), complex(0.0, np.nan), complex(np.nan, -2.0)]
)  # fmt: skip


SEQUENCES = (typing.Sequence, np.ndarray)
NUMBER = typing.Union[int, float]  # noqa: UP007 (what `isinstance` is given is a Union)


SECOND = operator.itemgetter(np.int64(1))


@functools.wraps(np.mean)
def mean(*args, **kwargs):
    return np.mean(*args, **kwargs) * 2.0


class Timer:
    def __init__(self):
        self.depth = 0
        self.seen = {}

    @contextlib.contextmanager
    def around(self, name):
        self.depth += 1
        yield self.depth
        self.depth -= 1
        self.seen[name] = self.depth


class Diverged(ArithmeticError):
    pass


class Missing(KeyError):
    pass


class TimeoutError(Exception):  # not the builtin one
    pass


def thrice(v):
    return 3.0 * v


TRIPLE = thrice  # the same function at another place
EACH = np.vectorize(thrice)
EACH_ROW = np.vectorize(np.sum, signature="(n)->()")


class Swallowing:
    def __enter__(self):
        return self

    __exit__ = lambda self, *failure: True  # noqa: E731


class Stopped(RuntimeError):
    def __init__(self, message, iterations=None, point=None):
        super().__init__(message)
        self.iterations, self.point = iterations, point

    class Early(Exception):
        pass


class Counted(Exception):
    made = []

    def __init__(self, count):
        self.made.append(count)
        self.count = count


@dataclasses.dataclass
class Point:
    x: float
    y: float


class Both:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def __iter__(self):
        yield self.first
        yield self.second


@dataclasses.dataclass
class Line:
    start: Point
    end: Point


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __eq__(self, other):
        return self.factor == other.factor


LOG = logging.getLogger("adc.tests.snippets")


class Base:
    def f(self, x):
        return x


B = np.array([True, False, True])


@dataclasses.dataclass
class Often:
    value: float
    times: int

    def __add__(self, other):
        s = 0
        for _ in range(self.times):
            s = s + other.value
        return Often(s, self.times)


@dataclasses.dataclass
class Data:
    a: float
    b: float = 2.0
    c: float = dataclasses.field(init=False, default=1.0)
    d: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.c = self.a * 2


Pair = collections.namedtuple("Pair", "a b")


class Span(collections.namedtuple("Span", "start stop")):
    __slots__ = ()

    def __new__(cls, start, stop=None):
        if stop is None:
            stop = 2.0 * start
        return super().__new__(cls, start, stop)

    @property
    def length(self):
        return self.stop - self.start


class Unit(Span):
    def __new__(cls, start):
        return super().__new__(cls, start, stop=start + 1.0)


class Estimator:
    def __init__(self, rate=0.5, *, depth=2, **options):
        self.rate, self.depth = rate, depth

    def get_params(self):
        parameters = inspect.signature(self.__class__.__init__).parameters.values()
        kept = [p for p in parameters if p.name != "self" and p.kind != p.VAR_KEYWORD]
        return {p.name: getattr(self, p.name) for p in kept}

    def clone(self):
        return self.__class__(**self.get_params())


class Scaled(typing.NamedTuple):
    v: float

    def value(self):
        return 2.0 * self.v


class Cubed(typing.NamedTuple):
    v: float

    def value(self):
        return self.v**3


class Comparable:
    def __init__(self, a):
        self.a = a

    def __lt__(self, o):
        return self.a < o.a

    def __eq__(self, o):
        return self.a == o.a


class Greater(Comparable):
    def __gt__(self, o):
        return True


class Plain:
    pass


class Properties:
    K = 2.0
    L = [1.0]

    def __init__(self, a):
        self.a = a

    @property
    def p(self):
        return self.a * 2

    @property
    def q(self):
        return self._q

    @q.setter
    def q(self, v):
        self._q = v

    @q.deleter
    def q(self):
        del self._q

    w = property(None, lambda self, v: setattr(self, "a", v))

    @staticmethod
    def s(v):
        return v * v

    @classmethod
    def c(cls, v):
        return cls(v)


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Descriptor:
    def __get__(self, o, c=None):
        return 7.0 if o is None else o.a * 2

    def __set__(self, o, v):
        o.a = v

    def __delete__(self, o):
        o.a = 0.0


class Described:
    d = Descriptor()

    def __init__(self, a):
        self.a = a


class Abstract(abc.ABC):
    @abc.abstractmethod
    def f(self): ...


class Circuit:
    def __init__(self):
        self.gates = []

    def turn(self, axis, angle, scale=1.0):
        self.gates.append((axis, angle * scale))
        return self

    turn_x = functools.partialmethod(turn, "x")
    turn_y = functools.partialmethod(turn, "y", scale=2.0)


class Damped:
    rate = 0.1

    def __init__(self, x):
        self.x = x

    def change(self):
        if self.x > 0.0:
            self.rate = self.x
        return self.rate


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value


class Dotted(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Shared(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Limits(dict):
    def __init__(self, scale, **items):
        dict.__init__(self, **items)
        self.scale = scale

    def total(self):
        return sum(v * self.scale for v in self.values())

    def __missing__(self, key):
        return len(key) * self.scale


class Upper(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)

    def __iter__(self):
        return iter(["A"])


class Defaults(collections.UserDict):
    def __missing__(self, key):
        return self.data["base." + key]


class Lower(collections.abc.MutableMapping):
    def __init__(self, data=None, **items):
        self.held = {}
        self.update(data or {}, **items)

    def __setitem__(self, key, value):
        self.held[key.lower()] = value

    def __getitem__(self, key):
        return self.held[key.lower()]

    def __delitem__(self, key):
        del self.held[key.lower()]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


class Vector(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, k):
        return self.items[k]

    def __len__(self):
        return len(self.items)


class Backend:
    pi = staticmethod(np.pi)
    sin = staticmethod(np.sin)


CONFIG = Config(rate=0.5, inner=Config(b=3.0), w=np.array([1.0, 2.0]))
SHARED = Shared(rate=2.0, n=3)
DEFAULTS = Defaults({"a": 1.0, "base.b": 2.0})


class Numbered:
    """Its objects are counted."""

    count = 0
    last = None
    scale = 1.0

    def __init__(self, v):
        self.v = v
        Numbered.count += 1
        self.id = Numbered.count

    @classmethod
    def reset(cls):
        cls.count, cls.last, cls.scale = 0, None, 1.0


class NumberedToo(Numbered):
    def twice(self):
        return super().count * 2 + self.count


class Wrapped:
    scale = 2.0

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        if name.startswith("times"):
            return float(name[5:]) * self.inner.x
        return getattr(self.inner, name)


class Module:
    def __init__(self, **parts):
        object.__setattr__(self, "names", [])
        for name, part in parts.items():
            setattr(self, name, part)

    def __setattr__(self, name, value):
        if isinstance(value, np.ndarray | float):
            self.names.append(name)
        elif name == "fixed":
            raise AttributeError("is fixed")
        super().__setattr__(name, value)


@dataclasses.dataclass(frozen=True)
class Rectangle:
    width: float
    height: float = 2.0
    area: float = dataclasses.field(init=False)

    def __post_init__(self):
        if self.height <= 0.0:
            raise ValueError("no height")
        object.__setattr__(self, "area", self.width * self.height)


@dataclasses.dataclass
class Doubling:
    a: float
    b: float = 1.0

    def __setattr__(self, name, value):
        self.__dict__[name] = 2 * value


class Row:
    def __init__(self, items):
        self.items = list(items)

    def __getitem__(self, i):
        return Row(self.items[i]) if isinstance(i, slice) else self.items[i]

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)


class NoInit:
    __init__ = 3


class ReturningInit:
    def __init__(self, a):
        return a


@dataclasses.dataclass(order=True)
class Ranked:
    v: float
    k: int = 0
    name: str = dataclasses.field(default="a", compare=False)


@functools.singledispatch
def described(value, scale=1.0):
    raise TypeError(f"no rule for {type(value).__name__}")


@described.register(Ranked)
def _(value, scale=1.0):
    return value.v * scale


@described.register
def _(value: float, scale=1.0):
    return value + scale


@described.register(list)
@described.register(tuple)
def _(value, scale=1.0):
    return sum([described(each, scale) for each in value])


class Mode(enum.Flag):
    HEAT = enum.auto()
    FAN = enum.auto()


class Pitch(enum.IntEnum):
    C = 0
    E = 4
    A = 9

    @property
    def sharp(self):
        return self + 1


class Level(float, enum.Enum):
    HALF = 0.5


class Access(enum.IntFlag):
    READ = enum.auto()
    WRITE = enum.auto()


class Metres(float):
    pass


class Odd(float):
    def __eq__(self, other):
        return True


class Sentinel:
    pass


NOTHING = Sentinel()


@dataclasses.dataclass
class Measured:
    length: float = dataclasses.field(metadata={"unit": "m"})
    steps: int = 3


@dataclasses.dataclass
class Optional:
    a: float
    b: float = 2.0
    c: object = NOTHING


HEIGHT = Metres(2.0)
STRANGE = Odd(2.0)


class Kind(enum.Enum):
    Base = 1.0
    B = 2.0

    def __call__(self, x):
        return x if self is Kind.Base else self.value * x**2


@dataclasses.dataclass
class FieldLater:
    a: float = dataclasses.field(init=False)


@dataclasses.dataclass
class NoPostInit:
    a: float
    __post_init__ = 3


class Copied:
    def __init__(self, a):
        self.a = a

    def __copy__(self):
        return Copied(2 * self.a)

    def __deepcopy__(self, memo):
        return Copied(3 * self.a)


class Operators:
    def __init__(self, a):
        self.a = a

    def __add__(self, o):
        return Operators(self.a + (o.a if isinstance(o, Operators) else o))

    __radd__ = __add__

    def __divmod__(self, o):
        return (self.a, 2 * self.a)

    def __rdivmod__(self, o):
        return (3 * self.a, 2 * self.a)

    def __bool__(self):
        return self.a > 1

    def __len__(self):
        return 3

    def __float__(self):
        return self.a * 2

    def __int__(self):
        return 3

    def __index__(self):
        return 1

    def __abs__(self):
        return self.a

    def __neg__(self):
        return Operators(-self.a)

    def __getitem__(self, k):
        return self.a * k

    def __setitem__(self, k, v):
        self.a = v

    def __delitem__(self, k):
        self.a = 0.0

    def __contains__(self, k):
        return k == self.a

    def __call__(self, k):
        return k * self.a

    def __iter__(self):
        return iter((self.a, 2 * self.a))

    def __enter__(self):
        return self

    def __exit__(self, *e):
        return None

    def __round__(self, n=0):
        return self.a

    def __hash__(self):
        return 3

    def __format__(self, s):
        return "a"

    def __matmul__(self, o):
        return self.a * 5

    def __pow__(self, o):
        return self.a * 6

    def __iadd__(self, o):
        self.a += o
        return self

    def __reversed__(self):
        return iter((7 * self.a,))

    def __str__(self):
        return "s"


class BadOperators:
    def __bool__(self):
        return 3

    def __len__(self):
        return -1.0

    def __float__(self):
        return "a"

    def __int__(self):
        return 1.5

    def __index__(self):
        return 1.5

    def __iter__(self):
        return 3

    def __contains__(self, k):
        return 3.0


@contextlib.contextmanager
def cm3(v):
    yield v
    yield v


class Passing:
    def __enter__(self):
        return 3.0

    def __exit__(self, a, b, c):
        return False


class Peculiar:
    def __getattribute__(self, name):
        return 5.0


PECULIAR = Peculiar()


def rec3(x, n):
    if n <= 0:
        return [x, 1.0]
    return [2.0 * rec3(x, n - 1)[0], 1.0]


def rec5(p, n):
    if n <= 0:
        return p
    return rec5(Pair(p.a * 2.0, p.b), n - 1)


def rec9(x, n):
    if n <= 0:
        return x
    return rec9([x, x], n - 1)
