# mypy: ignore-errors
# Names, imports and class variables are what the snippets are about.
# ruff: noqa: E741, F401, RUF012
"""Bodies of functions for `test_like_python`, by their arguments, and what they use.

Those in `LIKE` have Python's results, or raise its exceptions. Those in `REFUSED` are refused:
the last line has the code and the message.
"""

import abc
import cmath
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import itertools
import logging
import math
import operator
import types
import typing

import numpy as np
import scipy.integrate
import scipy.linalg

import adc

X = np.array([1.5, -0.5, 2.0])


M = np.array([[1.0, 2.0], [3.0, 4.0]])


H = X.astype(np.float16)


I = np.array([3, 1, 2])


U = np.array([2**63 + 5, 3, 2**63 + 5], np.uint64)


Z = np.array(
    [2.0 + 1.0j, complex(np.nan, 1.0), 1.0 + 3.0j, complex(2.0, np.nan), 1.0 + 2.0j,
     complex(np.nan, np.nan), complex(0.0, np.nan), complex(np.nan, -2.0)]
)  # fmt: skip


SECOND = operator.itemgetter(np.int64(1))


@functools.wraps(np.mean)
def mean(*args, **kwargs):
    return np.mean(*args, **kwargs) * 2.0


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


class NoInit:
    __init__ = 3


class ReturningInit:
    def __init__(self, a):
        return a


class Kind(enum.Enum):
    Base = 1.0
    B = 2.0


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


LIKE: dict[str, str] = {
    "x=1.5": r"""
def axes(v):
    try:
        return len(v.shape)
    except AttributeError:
        return -1
return axes(x), axes(np.float64(x)), axes([x]), axes(None), axes(np.ones(2) * x)

def listed(v):
    try:
        iter(v)
    except TypeError:
        return [v]
    return list(v)
return listed(x), listed([x, 2.0]), listed(np.array([x, 1.0])), listed((1, 2))

def first(v):
    try:
        return v[0]
    except (TypeError, IndexError):
        return v
return first(x), first([x]), first(np.float64(x)), first(np.array(x)), first((x, 1))

def add(v, w):
    try:
        return v + w
    except TypeError as error:
        return -1.0
return add(x, None), add(None, 2), add(x, 2)

def text(v):
    try:
        return float(v)
    except TypeError:
        return -1.0
return text(x), text([x]), text(np.array([x, x])), text(None), text(np.array(x))

return [hasattr(v, name) for v in (x, 1, np.float64(x), [x], (x,), {'a': x}, 'a', None, np.ones(2))
        for name in ('__len__', '__iter__', 'shape', 'append', 'keys', 'real', '__call__', 'mro')]

return getattr(x, 'shape', ()), getattr(np.ones((2, 3)), 'ndim', 0), getattr(None, 'size', 1)

return x.is_integer(), (2.0 * x).is_integer(), np.float64(x).is_integer()

return (x * math.inf).is_integer(), np.int64(x).is_integer()

raise RuntimeError(str(hasattr(x, 'real')))

try:
    return x.nope
except AttributeError:
    return x + 1.0

if isinstance(x, float) and not hasattr(x, '__array__'):
    x = np.array([x, 2.0 * x])
return x * 2

v, back = adc.vjp(lambda z: (z * z).real * x, x + 1j)
return v, back(1.0)

return math.modf(x), math.modf(-2.0 * x), math.modf(math.inf * x), math.modf(-0.25)

return math.frexp(x), math.frexp(-x * 2.0**-1073), math.frexp(0.0 * x), math.frexp(-math.inf * x)

return math.ulp(x), math.ulp(-0.0 * x), math.ulp(1.7e308), math.ulp(-math.inf * x), math.ulp(4)

return math.remainder(x, 1), math.remainder(-x, 1.0), math.remainder(0.4, math.inf * x)

return math.remainder(2.0 * x, x), math.copysign(1.0, math.remainder(-3.0, x))

return math.remainder(x, 0.0)

return math.remainder(math.inf * x, 2.0)

return math.isclose(x, 1.5 + 1e-10), math.isclose(x, 1.5 + 1e-8)

return math.isclose(math.inf, math.inf * x), math.isclose(x, -math.inf)

return math.isclose(x, 1.6, rel_tol=0.1), math.isclose(x, 1.6, rel_tol=0.0, abs_tol=0.11)

return math.isclose(x, 1.6, rel_tol=-0.1)

return cmath.isclose(x + 1j, 1.5 + (1.0 + 1e-10) * 1j), cmath.isclose(x + 1j, x, rel_tol=1.0)

return cmath.isclose(1e308 * (x + 1j), 1e308 * x * 1j, abs_tol=x), cmath.isclose(math.inf * x, 1j)

return cmath.isclose(x, 1.6j, abs_tol=-0.1)

return math.fsum([0.1] * 10), math.fsum([1e16, x, -1e16]), math.fsum(v * x for v in (0.1, 0.2))

return math.fsum([]), math.fsum((1.0, 2.0**-53, 2.0**-106 * x)), math.fsum([math.inf, x])

return math.fsum([math.inf * x, -math.inf])

return math.fsum([1e308, 1e308 * x, -1e308])

return math.fsum('12')

return round(x, 1), round(x, -1), round(x, None), round(-x, ndigits=0), round(number=x, ndigits=2)

return round(np.float64(x), 1), round(np.float32(x)), round(12345, -2), round(True, 1), round(7, -1)

raise ValueError(f"{round(x / 3.0, 4)} {round(2.5)} {round(1e300 * x, 2)}")

return math.lcm(4, 6, 10), math.lcm(), math.lcm(0, 3), math.lcm(-4, 6), math.gcd(), math.gcd(-4)

return math.gcd(12, 18, 8), math.gcd(True, 4), math.lcm(int(x), 7)

return abs((x + 1j) ** (x * 1j)), (0j * x) ** (x + 0j), (x * 1j) ** (x - 3.0)

return (0j * x) ** (x * 1j)

y = (z := x * 2.0)
return y + z

w = x
def g():
    nonlocal w
    w = x * 3.0
    return w
y = g()
return y + w

match x:
    case [a, b]:
        return a
    case _:
        return 2 * x

return B[0].real, B[1].imag, True.real, True.imag

a = np.arange(18.0).reshape(2, 3, 3) * x
b = np.arange(36.0).reshape(2, 2, 3, 3)
return a @ b, b @ a

s = 0.0
for i in range(4):
    for j in range(2):
        s += x
    else:
        if i == 1:
            break
return s

return [Times(x)] == [Times(2.0)], (Times(x), 1) != (Times(x), 1)

return SECOND((2.0, x))

d = {"a": x, "c": 1.0}
e = d
d |= {"b": 2.0 * x, "a": 4.0}
f = {"z": 0.5} | d | {"c": 3.0}
return sum(k * v for k, v in enumerate(f.values())) + len(e)

return abs(-5) * x

return max([x, 2.0], default=3.0)

return dict({'a': x}, b=2.0)['b'] * x

return dict([('a', x)])['a']

return type({'a': x}) is dict

return str()

return all((x, 1))

return functools.lru_cache()(lambda v: v * x)(2.0)

return functools.cache(lambda v: v * x)(2.0)

return functools.wraps(math.sin)(lambda v: v * x)(2.0)

return operator.lt(x, 2.0)

return copy.copy('a')

return copy.copy(Pair(x, 1.0)).a

return heapq.heappush([x], 2.0)

return (2 * [x])[1]

d = collections.deque([])
return d.popleft() * x

d = collections.deque([x, 2.0], maxlen=2)
e = d.copy()
e.append(3 * x)
return e[1] + d[0]

return (1.0, x, 3.0).index(3.0) * x

return ['a', 'b', 'a'].count('a') * x

return [].pop() * x

return [x].pop(3) * x

return list({'a': x}.keys())[0]

return {'a': x}.pop('b')

return {'a': x}.copy()['a']

d = {'a': x}
d.update(b=2 * x, a=3.0)
return d['a'] * d['b']

d = collections.defaultdict(float, {'a': x})
d.clear()
return d['a'] + x

return (x, 1.0, 2.0)[None:2][0]

try:
    return [x, 1.0][5]
except IndexError:
    return 2 * x

return 2 * x if Comparable(x) < Greater(2.0) else x

return 2 * x if Pair(x, 1.0) < (1.5, 2.0) else x

return 2 * x if collections.deque([x]) == [x] else x

return 2 * x if [x] == (1.5,) else x

return Properties(x).__class__.K * x

def g(v):
    return v * g.k
g.k = 3.0
return g(x)

o = Described(x)
del o.d
return o.a + x

return Kind['A'].value * x

return len(Kind) * x

return copy.deepcopy(Pair(x, [2.0 * x])).b[0]

a = [x]
b = copy.deepcopy([a, a])
b[0][0] = 2 * x
return b[1][0]

o = Operators(x)
del o[2]
return o.a + x

a = {'a': x, 'b': 1.0}
del a['c']
return x + len(a)

a = [x]
a += X
return a[2] * x

return collections.deque([x], maxlen=3).maxlen * x

while True:
    x = x * 1.5
    if x > 10:
        break
return x

a = [x, 2.0]
for v in a:
    if len(a) < 5:
        a.append(v * 2)
return sum(a)

with contextlib.nullcontext() as y:
    return x

with Passing():
    if x > 1:
        return x * 2
return x

try:
    if x > 1:
        raise ValueError('a')
    return x
except:
    return 2 * x

try:
    raise ValueError('a')
except KeyError:
    return x

try:
    raise ValueError('a')
finally:
    x = 2 * x
return x

assert x > 100, f'{"ä"!a}'
return x

return adc.value_and_grad(lambda v: (v ** 3, v), has_aux=True)(x)[0][1]

return adc.linearize(lambda v: v ** 3, x)[1](1.0)

return adc.grad(lambda v, k=2.0: v * k)(v=x)

match [x, 1.0, 2.0]:
    case [a, *b]:
        return a * len(b)

match None:
    case None:
        return x
    case _:
        return 2 * x

z = complex(-4 * x, 0)
return (z ** 0.5).real

logging.log(level=10, msg='a')
LOG.log(level=10, msg=f'{x}')
LOG.log(10, '%d', x)
return x

match range(3):
    case [a, *_, 2]:
        return a + x

match {"a": x}.items():
    case [a]:
        return x
    case _:
        return 2 * x

match {"a": x}:
    case [*_]:
        return x
    case _:
        return 2 * x

match [x, 2.0, 3.0, 4.0 * x]:
    case [a, *rest, b]:
        return a * b + len(rest) * rest[0]

match collections.deque([x, 2.0]):
    case [a, b]:
        return a * b

manager = Passing()
try:
    with manager as y:
        return math.sqrt(x - 2) + y
except ValueError:
    return x

return math.lgamma(-math.inf) + x

return math.gamma(-math.inf) + x

import warnings
warnings.warn("shown")
return x

return PECULIAR.a * x
""",
    "x=M": r"""
y = np.require(x)
y[0, 0] = 9.0
return x, np.require(x[:, ::2], requirements=["C", "A"]), np.require([1, 2], float, "C")

y = np.require(x[:, 0], np.float64, requirements=("C_CONTIGUOUS",))
return y, np.require(x, np.float32), np.require(x[0, 0])

return np.take_along_axis(x, np.array([[1], [0]]))

return scipy.linalg.eigh(x + x.T, subset_by_index=None, eigvals_only=True)

return scipy.linalg.svd(x, compute_uv=False, lapack_driver='gesdd')

return operator.attrgetter('T')(x)

return x[*[0], 1]

return np.einsum(x, [30, 5])

return np.einsum(x, [0, ...], x[0], [...], [...])
""",
    "x=X": r"""
return mean(x), mean(x, axis=0)

z = 1j * x[0]
w = x[0] * 1j
found = z, w, 2j + x[1], 1j * np.float32(2.0), 1j * np.sum(x), 2j ** x[0], z * np.float32(2.0)
return found, 1j * x, [type(v) is complex for v in found], type(x[0][...]) is np.ndarray

try:
    y = (1j * x[0]) / (0j * x[0])
except ZeroDivisionError:
    y = 0j
return y

y = x[0]
return y[..., None], y[None], y[np.newaxis, ..., np.newaxis] * 2, y[...], y[()]

h = np.asarray(x[0])
h[h > 1.0] = 3.0
h[np.isnan(h)] = 0.0
return h

h = np.array(x[1])
h[h < 1.0] += 360.0
h[h < 1.0] *= 2.0
return h

h = np.array(x[0])
return h[h > 1.0], h[h > 100.0], x[True], x[x[0] > 100.0], x[np.True_].shape

y = np.array(x)
y[y[0] > 1.0] = 7.0
y[y[0] > 100.0] += 1.0
return y

return np.float64(x), np.float32(x), np.int64(x), np.bool_(x > 0), np.float64([1, 2])

return np.complex128(x[:1])

y = np.float64(x)
y[0] = 9.0
return x, y

return np.zeros(3, np.float32, 'C'), np.ones((2, 1), float, order='C'), np.full(2, 1.5, None, 'F')

p = Point(x[0], 2.0)
a = dataclasses.astuple(p)
d = dataclasses.asdict(p)
return a[0] * 2, len(a), d['x'] + d['y'], list(d)

p = Line(Point(x, 2.0), Point(3.0, x))
a = dataclasses.astuple(p)
d = dataclasses.asdict(p)
a[0][0][0] = 5.0
return a[0][0], x, d['end']['y'][1], p.start.x

return [callable(v) for v in (len, x, 1.0, 'a', lambda: 1, Point, Point(1.0, 2.0))]

a = x * 2.0
a @= x
return a

a = [x[0], x[1]]
b = a
b *= 2
c = [a, [x[2]]]
c[0] *= 2
return sum(a) + len(b) + len(c[0])

a = x * 2.0
y = a.flat[:]
y[0] = 50.0
f = a.flat
z = f[1:]
z += 1.0
f[1:] += 3.0
w = np.asarray(f)
w[0] = 7.0
return np.sum(a) + z[0]

a = x * 2.0
y = a[::-1].ravel()
y += 1.0
return np.sum(y)

a = x * 2.0
y = a[1:].ravel()
y += 1.0
return np.sum(a)

n = 0.0
def seen(k):
    nonlocal n
    n = 7.0 * n + k
    return n
def f(a=seen(1.0), b=seen(2.0)):
    return a * b
return f() + x[0]

n = 0.0
def seen(k):
    nonlocal n
    n = 7.0 * n + k
    return n
match 1:
    case 1 if seen(3.0) < 0.0:
        seen(4.0)
    case 1:
        seen(5.0)
return n + x[0]

n = 0.0
def seen(k):
    nonlocal n
    n = 7.0 * n + k
    return n
return sum(seen(1.0) + v for v in (seen(2.0) * w for w in [x[0], x[1]]))

n = 1
assert x[0] < 99.0, f"bad {x[n + 90]}"
return x[n]

n = 1
assert x[0] > 99.0, f"bad {x[n + 90]}"
return x[n]

made = []
def note():
    made.append(1.0)
    return "m"
assert x[0] < 99.0, note()
return x[0] + len(made)

n = 0
def some():
    nonlocal n
    n += 1
    return [x[0], x[1]]
return sum(map(lambda v: v * 2.0, some())) + n

f = lambda v: v * 2.0
s = 0.0
for v in map(f, [x[0], x[1]]):
    s += v
    f = lambda v: v * 3.0
return s + f(1.0)

return max(I)

return sum(I, x)

return any(x)

d = collections.deque(x)
return d[1]

return np.full(3, x)

return np.full_like(x, 3, shape=2)[1] * x[0]

z = x * 1j
z.real = 2 * x
return z

return x.real is x

return x.copy() is x

return x in [x]

return x.nbytes * x[0]

return x.item() * 2

return x[0] if x[1:2] else 1.0

return x[0] if x[: len(x) - 1] else 1.0

s = 0.0
for a in itertools.chain.from_iterable([x, x]):
    s += a
return s

s = 0.0
for a in itertools.chain(*[x, x]):
    s += a
return s

return adc.jacfwd(lambda v: v ** 3)(x)[0, 0]

return adc.vmap(lambda v: 'a')(x)

return x[B[:2]]

return x[x > 0, None]

v = np.lib.stride_tricks.sliding_window_view(x, 2)
v[0] = 1.0
return x

return np.deg2rad(I.astype(np.int8)), np.deg2rad(I.astype(np.uint16))

return np.less(x > 0.0, x > 1.75), np.greater_equal(x > 0.0, x > 1.75)

return np.less(U, U[::-1]), np.greater(U, U[1]), np.equal(U, U[::-1])

return x[:1].item() + x[:1].reshape(1, 1).item(), x.reshape(1, 3).item(-1), x.item((1,))

return x.item()

a, b = x.reshape(1, 3) > 0.0, x.reshape(3, 1) > 0.0
return b @ a, a @ b, np.einsum('ij,jk,kl->il', b, a, b)

return np.random.default_rng(3).f(x[0], 2.0), np.random.default_rng(3).f(2.0, 3.0, 4)

with Swallowing():
    y = x[0]
    if x[0] > 0.0:
        raise ValueError('v')
    y = x[1]
return y

z, back = adc.vjp(lambda p: (p.a * p.a.conjugate()).real, Pair(x[0] + 1j, 3))
return back(1.0)[0].a.imag

def scaled(y, names, k):
    return y if k == 0 else scaled(y * len(names[k - 1]), names, k - 1)
return [scaled(x, ["a", "bb", "ccc"], n) for n in range(4)], scaled(x[0], ("ab",), 1)

d = {"b": x[0], "a": x[1:], "c": [x[2]]}
found = [(k, name, v) for k, (name, v) in enumerate(sorted(d.items()))]
windows = {(4, 8): x[0], (1, 2): x[1]}
last = max(("b", x[0]), ("a", x[1])), min([("b", 1, x[0]), ("b", 0, x[1])])
return found, sorted(windows.items(), reverse=True), sorted([("b", x[0])]), last

mixed = sorted([("b", 1, x[0]), ("b", 0, x[1]), ("c", x[2], 1)])
ones = sorted([(1, x[0]), (0, x[1]), (1, x[2])])
return mixed, ones, "a" < "b", "b" >= "ba", (x[0], "a") < (1.5, "b")

a, b, c = x[0], x[1], x[2]
ties = [(a, 2), (a, 1), (b, 0), (b, -1)]
return min(ties), max(ties), sorted(ties), sorted(ties, reverse=True), min((a, b), (a, c), (b, c))

pairs = [(abs(v - 1.0), k) for k, v in enumerate(x)]
pairs += [(0.5, -1), (0.5, 7)]
d, k = min(pairs)
far, j = max((abs(v), i) for i, v in enumerate(x))
first = sorted(pairs, key=lambda p: (p[0], -p[1]))
return d, k, far, j, first, sorted(pairs), sorted(pairs, reverse=True)

names = min([x[0], x[1]], [x[1], x[2]]), max([(v, i) for i, v in enumerate(x) if v > 0])
return names, min([(v, i) for i, v in enumerate(x) if v > 9])

most = max((v * v for v in [x[0], x[1]]), key=lambda u: -u)
return most, sorted((v * v for v in [x[0], x[1]]), key=lambda u: -u)

return functools.reduce(lambda a, b: a * b - a, (v + 1.0 for v in (x[0], x[1], x[2])))

n = len(x)
states = list(itertools.product([-1.0, 1.0], repeat=n))
return sum(s[0] * x[1] for s in states) + len((1.0,) * n), "ab" * n

try:
    parts = [math.log(v) for v in x]
except ValueError:
    return 1e10
return sum(parts)

try:
    part = {"log": math.log(x[2]), "root": math.sqrt(x[0])}
except ValueError:
    part = None
return 0.0 if part is None else part["log"] * part["root"]

m = [1.0, 2.0]
try:
    m = [math.sqrt(x[0]), x[1]]
    m[1] += math.log(x[1])
except ValueError:
    return m[0] + m[1] * x[2]
return m[0] * m[1]

for v in x:
    try:
        if v < 2.0:
            raise ValueError
        y = v
    except ValueError:
        break
return y

return adc.jit(fn=thrice)(x), adc.checkpoint(fn=thrice)(x)
a = [1.0, 2.0, 3.0]
a[1:] = map(abs, [x[0], x[1]])
return sum(a)

return sum(x.flat) + sum(list(x.flat)) + sum([v for v in x.flat]) + max(x.flat)
""",
    "x=H": r"""
return sum(x)

return adc.grad(lambda h: np.sum((h * h).astype(np.float64)))(x)
""",
    "x=1.5, n=3": r"""
y = (x,)
if x > 0.0:
    y = (x, x)
return y[0], len(y)

y = "nothing"
if x > 0.0:
    y = x
return x * y

s = [1.0, x, 2.0, 3.5]
s.remove(n * 0.5)
return s, s.remove(2.0), len(s)

s = [x, 2.0]
s.remove(n)
return s

s = ["a", "b", "c"]
s.remove("b")
return s

s = []
for k in range(n):
    s.append(x * k)
s.remove(2 * x)
s.remove(0)
return np.array(s), len(s)

s = [k for k in range(n)]
try:
    s.remove(7)
except ValueError as error:
    return str(error)
return s[0]

s = [k for k in range(n + 2)]
for k in s:
    if k < 3:
        s.remove(k)
return np.array(s)

s = [(k, x * k) for k in range(n)]
s.remove((1, x))
return len(s), s[1][1]

y = np.int32(0)
for k in range(n):
    y = np.int16(y) if k < 2 else np.int64(y)
return y

y = x
for k in range(n):
    if x < k:
        break
    if x > 100.0:
        return x
else:
    y = (x, x)
return y

k = 'a'
for k in range(n):
    x += k
return x * k

a = {'b': 1.0}
while True:
    n -= 1
    if n < 0:
        a['b'] = 'late'
        break
return a['b']

mode = 'a' if x > 1.0 else 'b'
return mode, mode + '!', mode * 2, mode.upper(), len(mode), mode < 'b', mode in 'abc', not mode

mode = 'a' if x < 1.0 else ''
return mode or 'none', bool(mode), mode and 'yes', mode == 'a' or x > 5

table = {'a': 1, 'b': 2}
mode = 'a' if x < 1.0 else 'z'
try:
    return table[mode]
except KeyError as error:
    return table.get(mode, 7), mode in table, table.get(mode)

mode = 'a' if x < 1.0 else 'z'
raise ValueError(f'bad {mode}: {x}')

mode = None
for k in range(n):
    if k == 1:
        mode = 'one'
    elif k == 2:
        mode = 'two'
return mode, mode is None, mode == 'one', mode in ('two', None), mode not in ('one',)

modes = ['u' if x > k else 'd' for k in range(3)]
return modes, modes.count('u'), 'd' in modes, modes.index('d'), '-'.join(modes), sorted(modes)

state = 'idle'
seen = []
for v in (0.5, x, 3.0, 0.1, x):
    if state == 'idle' and v > 1.0:
        state = 'run'
    elif state == 'run' and v < 1.0:
        state = 'done'
    seen.append(f'{state}' == 'run')
return state, seen

what = 'u' if n > 5 else ('d', x)
match what:
    case 'u':
        return 1
    case (a, b):
        return a, b, isinstance(what, str), type(what) is tuple

mode = 'p' if x > 1.0 else 'q'
other = 'p' if n > 5 else 'q'
return mode == other, mode != other, mode < other, [mode, other] == ['p', 'q']

def step(state, v):
    if state == 'up':
        return ('down' if v > 1.0 else 'up'), v
    return 'up', -v
state, total = 'up', 0.0
for k in range(n):
    state, part = step(state, x * k)
    total += part
return state, total

scale = 3.0
class Part:
    unit = 'm'
    def __init__(self, size):
        self.size = size
    def __add__(self, other):
        return Part(self.size + other.size)
    @property
    def scaled(self):
        return self.size * scale
whole = Part(x) + Part(2.0)
return whole.scaled, whole.unit, isinstance(whole, Part), Part.__name__

def made(kind):
    k = kind
    class Named:
        def name(self):
            return k
    return Named().name()
return made('a') + made('b')

class Pair(typing.NamedTuple):
    a: float
    b: int = 2
p = Pair(x)
return p.a * p.b, tuple(p)

@dataclasses.dataclass(order=False)
class Record:
    a: float
    rest: list = dataclasses.field(default_factory=list)
r = Record(x)
for k in range(n):
    r.rest.append(k * x)
return r.a, r.rest

parts = sorted([(x, 'b'), (0.5, 'a'), (x, 'a')], key=lambda part: part[0], reverse=n > 2)
best = max([('a', x), ('b', 2.0 * x), ('c', x)], key=lambda part: part[1])
return [name for _, name in parts], best, parts[0][1] == 'b'

g = (v * v for v in (x, 2.0, 3.0))
return sum(g) + sum(g), next(g, 'end')

g = (v * v for v in (x, 2.0, 3.0))
a = next(g)
b = next(g, 7.0)
return a, b, next(g), next(g, None), next(g, x), sum(g)

g = (v * x for v in range(n))
first = next(g)
rest = [v + first for v in [*(x, 1.0)]]
for v in g:
    rest.append(v)
return rest, list(g)

g = (v * x for v in range(n - 2))
return next(g), next(g)

dtype = np.float32 if x > 1.0 else np.float64
function = np.sin if n > 5 else abs
return np.ones(2, dtype=dtype), function(-x)

a = np.arange(3.0)
b = a if x > 5.0 else a.reshape(3, 1)
c = b * 2.0
return c, c.ndim, np.shape(b)

s, k = 0.0, 0
while k < n:
    s = s + np.ones(2) * k
    k += 1
return s, np.shape(s), s[1]

s, k = 0.0, 0
while k < n - 3:
    s = s + np.ones(2) * k
    k += 1
return s, np.shape(s), isinstance(s, float)

s = 0
while True:
    s = s + np.ones(2) * x
    if s[0] > 4.0:
        break
return s

s = 0
for k in range(n):
    if k == 1:
        continue
    s += np.arange(2) * k
return s

s = 0.0
for k in range(n):
    if k > 5:
        return s
    s = s + np.ones(k) if k < 2 else s * 2.0
return s

print('first')
return {'a': print('second') or x, 'b': n}['a' if x > 1.0 else 'b'] + (lambda: x)()

mode = 'p' if x > 1.0 else 'q'
def inner():
    return {'p': 1.0, 'q': 2.0}[mode] + shown(lambda: mode + '!')
def shown(text):
    return len(text())
return inner()

class_ = Diverged if x > 5.0 else Missing
return class_.__name__

low = 'lo' if x < 1.0 else 'hi'
assert low == 'lo', f'it is {low}'

a = [x]
for k in range(n):
    a[len(a):] = [x * k]
return a[-1] + len(a)

d = collections.deque([x])
for k in range(n):
    d.appendleft(x * k)
return d[0] + d[n]

a = []
for k in range(n):
    a.append(x * k)
b = copy.deepcopy(a)
b.append(x)
return a[-1] + b[-1]

return rec5(Pair(x, 1.0), n).a

a = []
for k in range(n):
    a.append(x * k)
    if k > 0 and abs(a[-1] - a[-2]) < 0.1:
        break
return a[-1]

a = []
for k in range(n):
    a.append((a[k - 1] if k > 0 else x) * 2)
return a[-1]

t = (x, x)
for k in range(n):
    if k == 2:
        x += t[2]
return x

for k in ('a', 'bb'):
    x *= len(k)
for k in range(n):
    x += k
for k, v in {'a': x}.items():
    x += len(k) * v
k = 'abc'
while n > 0:
    for k in range(2):
        x += k
    n -= 1
return x

for k in range(3):
    y = {'a': [x, x * k]}
    z = y
y['a'][0] = 5.0
return z['a']

for k in range(3):
    y = []
    for i in range(n - k):
        y.append(x * i)
return y[-1] + len(y)

for k in range(n - 3):
    y = [x]
return y

a = [x, 1.0, 2.0, 3.0]
a[n:] = [x * 2]
return a[-n:], 'abcdef'[n:][0]

for k in range(n):
    if x < k:
        return x * k
else:
    raise ValueError('no')

for k in (1.0, 2.0):
    if x < k:
        return x * k
    if k > n:
        raise KeyError('k')
else:
    return -x

def find(v):
    for k in range(n):
        for j in range(n):
            v = v * 0.8
            if v < 1.0:
                return {'v': v, 'at': [k, j]}
        if v > 5.0:
            return {'v': v * 3, 'at': [k, 7]}
    return {'v': v * 2, 'at': [n, -1]}
first, second, third = find(x), find(x * 5), find(x * 40)
first['at'][0] += 10
return [[d['v'], *d['at']] for d in (first, second, third, find(x))]

a = [0]
for i in range(n):
    for v in (x, x * 2):
        for j in range(i):
            a[-1] = v * j
        a.append(v)
return a[0] + a[-2]
""",
    "x=1.5, k=3": r"""
def rec(n):
    return x if n == 0 else rec(n - 1) * g.factor
def g(y):
    return y
g.factor = 1.5
a = rec(k)
g.factor = 2.0
return a, rec(k)

def called():
    h.count = h.count + 1
    return 1.0, 2.0
def h(y):
    return y * h.count
h.count = 0
a = [v for v in called()]
h.count += 1
return sum([h(x) for _ in called()]), h(x), a

def total(v):
    s = 0
    for _ in range(k):
        s = s + v
    return s
return [total(v) for v in (x, 2)], tuple(map(total, (x, 2, True)))

return [sum([v * i for i in range(k)]) for v in (x, 2)]

return (Often(0, k) + Often(x, k) + Often(2, k)).value
""",
    "x=1.5, n=-5": r"""
s = 0.0
if x > 5:
    s = np.sum(np.ones(n))
return x + s + len(np.zeros(n))

s = 0.0
for k in range(3):
    y = np.zeros(n)
    for i in range(len(y)):
        y[i] = k
    for i in range(len(y)):
        s += y[i]
return s * x

try:
    s = len(np.zeros(n)) * x
except ValueError:
    s = x
return s + len(np.zeros(n))
""",
    "x=X, n=-2": r"""
return x[: 2 * n : 2], x[2 * n :: 2], x[: n - 3 : 3]

return len(np.tile(x, n))

return len(np.tile(x, (2, n))) + len(np.tile(x[:0], n))

return len(np.tile(x[:0], n)) * x[0]

return len(np.repeat(x, n))

return len(np.eye(n))

return x[0] * (1 + len(np.tri(n)) + np.tri(n, 3).shape[1])
""",
    "x=1.5, q=np.array([-128, 3], np.int8)": r"""
return x * np.arange(200.0)[abs(q[0])]

y = np.arange(300.0)
s = x
for i in range(100):
    s += y[np.int8(100) + i]
return s

y = np.arange(256.0)
s = x
k = np.int8(123)
for i in range(9):
    s += y[k]
    k += 1
return s
""",
    "x=1.5, n=0": r"""
return (1, 2.0)[n] * x
""",
    "x=1.0, n=1": r"""
return 2 * x if (None if n > 2 else x) == (None if n > 1 else x) else x
""",
    "x=1.0, n=3": r"""
return 2 * x if x == (None if n > 1 else x) else x
""",
    "x=1.5, n=2": r"""
p = Scaled(x) if x > n else Cubed(x)
return p.value()

p = np.array([x, 2.0])
if x > n:
    p = np.ones(2, np.float32)
return p[0]

p = np.array([x, 2.0])
if x > 2.0:
    p = np.ones(2, np.float32)
return p[0] * n

p = Scaled(x)
for _ in range(2):
    p = Cubed(3.0 * x)
return p.value()

p = np.array([x, 2.0])
for _ in range(2):
    p = np.ones(2, np.float32)
return p

a = np.empty(2)
for i in range(n):
    a[0] = x * i
    a[1] = a[0] + x
return a[0] * a[1]

c, t = x, 0.0
for k in range(n):
    t += c
    del c
return t

c, t = x, 0.0
for k in range(n):
    if k > 0:
        c = t + 2.0
    t += c
    del c
return t

error, t = x, 0.0
for k in range(n):
    try:
        t += error
        raise ValueError('late')
    except ValueError as error:
        t += 1.0
return t

try:
    y = later
except UnboundLocalError:
    y = x
later = 2.0
return y

a, b = Both(x, [n, x])
c, *d = Both(a * 2, b)
(e, _), f = Both(Both(x, n), x)
pairs = [u + v for u, v in [Both(x, 1.0), Both(2.0, x)]]
return a, b, c, d, e, f, pairs

big = n > 1
kinds = (big, not big, n, 1, x, True, np.bool_(True), np.float64(x) > 1.0, [x], None, np.ones(2))
return [v is True for v in kinds]

return n > 1 is True, (n > 1) is not False, (n > 5) is False, x if (n == 2) is True else 0.0

y = {'a': None}
for k in range(n):
    y['a'] = x
return y['a']

if n == 3:
    return None
return x

if n == 2:
    return None
return x

return x, None if n == 2 else x, [x if n == 2 else None], (None if n == 1 else 1j * x,)

return None if n == 3 else [x, n]

best = None
for k in range(n):
    if best is None or x - k > best[0]:
        best = x - k, k
return best

try:
    y = x[0]
except TypeError:
    y = x
return y

try:
    count = len(x)
except TypeError:
    count = 1
return count * x

e = np.float64(x)
try:
    e[abs(e) > 1.0] = 0.0
except TypeError:
    if abs(e) > 1.0:
        e = 0.0
return e

e = np.float64(x)
try:
    y = e[0]
except IndexError as error:
    y = e if str(error) == 'invalid index to scalar variable.' else 0.0
return y

e = np.float64(x)
big = e > 1.0
return e[big], e[~big], e[..., None], e[None, ...], e[()]

def check(cond, message):
    if not cond:
        raise ValueError(message)
check(x > 0.0, f"x is {x:.2f}")
check(n < 2, message="n is " + str(n))
return x

def fail(why, *, n=0):
    def inner(text):
        raise RuntimeError(f"{text} ({n})")
    inner(why)
if n > 1:
    fail(f"at {x}", n=n)
return x

d = {'a': x, 'b': 2.0}
return d['c'] if n else d['a']

d = {1: x, 3: 2.0}
return d[n]

d = {'a': x}
del d['q']
return x

if n > 1:
    raise Diverged('no root')
return x

if n > 1:
    raise Diverged(f"at {x:.3f}, {n}")
return x

if n > 1:
    raise Stopped('late', n, point=x)
return x

if n > 1:
    raise Stopped(f"at {x}", None)
return x

if n > 1:
    raise Stopped.Early
return x

if n > 1:
    raise Missing(n)
return x

if n > 1:
    raise KeyError(x)
return x

if n > 1:
    raise ValueError('a', n, x, None)
return x

if n > 1:
    raise TimeoutError('mine')
return x

try:
    if n > 1:
        raise Diverged('no root')
    y = x
except ArithmeticError:
    y = -x
return y

try:
    if n > 1:
        raise Stopped('late', iterations=n)
    y = x
except Diverged:
    y = -x
except RuntimeError:
    y = x * 3
return y

try:
    if n > 1:
        raise Diverged('no root')
    y = x
except Diverged as error:
    y = x * 2 if str(error) == 'no root' else x
return y

match n:
    case 1:
        y = x
    case 2:
        y = x * 2
    case -3:
        y = x * 3
return y

if n > 1:
    y = x
return y

if n > 2:
    y = x
return y

while n < 0:
    y = n
    n = n + 1
return y * x

if n > 2:
    y = x
return (lambda: y * 2)()

y = x
if n > 1:
    del y
return y

if n > 2:
    y = [x]
y.append(2.0)
return y

if n > 1:
    y = {'a': x}
y['b'] = 2.0
return y['a'] + y['b']

if n > 2:
    mode = 'fast'
return x if mode == 'fast' else -x

for k in range(n):
    if k == 1:
        y += x
    elif k == 0:
        y = x * 3
return y

s = 0.0
for k in range(n):
    s += prev * k
    prev = x
return s

for k in range(n):
    if k > 5:
        y = x
        break
    y = x * k
return y

for k in range(n):
    if k > 5:
        y = x
        break
return y

if n == 2:
    y = None
elif n == 1:
    y = x
return y is None

if n == 1:
    y = None
elif n == 3:
    y = x
return y is None

try:
    if n > 1:
        raise ValueError('n')
    y = x
except ValueError:
    z = x
return y

if n > 2:
    y = x
try:
    z = y * 2
except UnboundLocalError:
    z = -x
return z

k = 100
for _ in range(n):
    k = k // 3
return k * x

k = 5
for _ in range(n):
    k = k ^ 3
return k * x

a = []
for k in range(n):
    a.append(Pair(x * k, 1))
return a

a = [x, 1, 2.0]
a[n] = 3 * x
return a[0] + a[1] * a[2]
""",
    "x=1.5, n=1": r"""
for k in range(n):
    if k == 1:
        del x
return 1.0
""",
    "x=X, n=-1": r"""
return x[2:-10:n], x[-10:-20:n], x[10:-10:n], x[-10:2:-n]
""",
    "x=X, n=2": r"""
if n == 1:
    y = x
else:
    y = x[:, None] * x
return y

v = x if n > 2 else (x, x)
return v[1]

return x[::n], ('a', 'b', 'c', 'd')[n:], (0.0,) * n + (1.0,)

match [v for v in x]:
    case [a, b, c]:
        return a + b * c

d = collections.deque([x[0]])
d.extend(x[k] * k for k in range(n))
return d[n], len(d)

v = np.atleast_2d(x)
if min(v.shape) == 1:
    v = v.ravel()
return v * n, v.ndim

a, b, c = [v * n for v in x]
return a * b + c

d = {}
for k in range(x.shape[0]):
    d[f'w{k}'] = x[k] * n
return sum(d.values()), len(d)

x += M
return x

parts = []
for v, k in zip(x, [1.0, n]):
    parts.append({'v': v * k})
return parts[0]['v'] + parts[-1]['v'] + len(parts)

return x.reshape(n, -1)

return x.reshape(-1, n - 2)

s, lists = 0.0, [0, 0]
for k in range(n):
    t = 1
    for v in x:
        t *= v + x
    s += t
    lists[1] += s * k
return s, lists

box = Plain()
box.total = {'s': 0}
for k, v in enumerate(x):
    box.total['s'] = box.total['s'] + v * x[::-1] + k
return box.total['s']

log = []
for k in range(n):
    log.append((x[k] * k, x * x[k], k))
a, b, c = zip(*log)
log[0] = (3.0, x, 5)
s = sum(p * q[1] for p, q in zip(reversed(a), b))
return s, max(a), np.array(b), sum(a[:-1]), sum(c), len(b)

levels, s = [0.5] * 20 + [2.5] * 15, x[0]
for k, level in enumerate(levels, start=1):
    s = 0.9 * s + level if s < k else s - np.float32(level)
return s, level, k

levels, s = [0.5] * 35, 0.0
for k, level in enumerate(levels):
    s += level
    if k + n < 35:
        levels[k + n] = level * 1.1 + x[0]
return s, levels[-1]

parts = []
for size in [1] * 20 + [2] * 15:
    parts.append(np.ones(size) * x[1])
return sum(len(part) for part in parts), parts[-1]

for k in [2] * 39 + [n]:
    if x[k] < 0.0:
        break
else:
    return x[k] * 2
return k

ratios, s = {3: 300.0, 4: x[1], 5.0: 7}, 0.0
for k in range(n + 2):
    gear = 3 if x[0] * k > 1.0 else 4 if k else 5
    s += ratios[gear] * k + ratios.get(gear + k, x[2]) + {True: 2}.get(int(x[0]), 0)
return s

tables, s = {1: 2.0, 3: 3.0}, 0.0
for v in x:
    try:
        s += tables[int(v + 1.0)] * v
    except KeyError:
        s += 0.1 * v
return s

return {1: 2.0, 3: 3.0}[int(x[0] * 10.0)]

a = {1, 2}
b = a
a |= {3}
a -= {1}
b ^= {3, 9}
b &= {2, 9, n}
return len(b) * x, sorted(a), a is b, a == b, a.copy() == {2, 9}, b.pop() if len(b) == 1 else 0

y = {}
for k in range(int(x[0])):
    y['a'] = x
return y['a'], len(y)

seen = {'a', 'b'}
other = seen.copy()
other.discard('a')
seen.add('c')
seen.update(['d'], ('e',))
return (
    len(seen), len(other), 'a' in other, sorted(seen | other), seen > other, other.issubset(seen),
    isinstance(seen, set), sorted(seen.symmetric_difference(['a', 'z'])), {} == set(), bool(other),
    sorted(seen.intersection(other, 'abz')), seen.isdisjoint({'q'}), seen, {*other, 'y'} >= other,
)

order, s = [3, 1, n, 1], set()
for k in range(len(x)):
    s.add(int(x[k] * 2.0) + n)
t = set(np.array(order))
t.add(7)
return (
    len(s), sorted(s), max(t), min(t), sum(t), 7 in t, any(t), s - t == t, sorted(s - t),
    sorted(t - {n, 7}), len(t.union([9], order)), s <= t | s, t.issuperset([3]),
    frozenset([3]) <= t,
    sorted(s ^ t, reverse=True), t,
)

s = set()
for v in x:
    s.add((int(v), n))
return len(s), (1, n) in s, (n, 1) in s, 5 in s, 'a' in s, None in s

s = set()
for v in x:
    s.add(int(v))
s.remove(8)

s = set()
for v in x:
    s.add(7)
v = s.pop()
s.pop()

def add(v):
    seen.add(v)
    return len(seen)
seen = set()
held = {'x': {1, 2}, 'y': seen}
for v in x:
    held['y'].add(int(v) % 2)
return add(1) + 10 * add(1) + 100 * add(int(x[2])), held['y'] == held['x'], len(held['y'])

d = {}
for i, k in enumerate([3, 1, n, 1]):
    d[k * 2 - len(x)] = x[i % 3]
d[7] = d.get(4, 0.0) + d.pop(7, n) + d.setdefault(9, 1.0)
return list(d), list(d.values()), list(d.items()), len(d), 9 in d, 'a' in d, d.get(5), d, max(d)

d = {}
for i in range(len(x)):
    d[int(x[i] * 2.0), n] = x[i] * 2.0
d[3, n] += 1.0
return list(d.values()), d.get((9, 1), 0.0), d[-1, n], d[9, n]

d = {}
for v in x:
    d[int(v)] = v
return d[17]

d = {'b': x[0]}
if x[1] < 0.0:
    d['a'] = x[1]
if x[2] < 0.0:
    d['c'] = x[2]
found = [v for v in d.values()], sum(d.values()), max(d.values()), len(d), bool(d)
e = d.copy()
e.update(c=1.0)
d.pop('c', None)
del d['a']
return found, 'c' in e, e['c'], d.get('a', 5.0), e.get('a'), d['b'], d['a']

counts = collections.Counter(np.array([3, 1, n, 1]))
totals = collections.defaultdict(float)
for k in counts:
    totals[k % 2] += x[k % 3] * counts[k]
    counts[k] += 1
squares = {int(v): v * v for v in x}
ones = dict.fromkeys(np.array([3, 1, 3]), 1.0)
return totals[0], totals[1], len(totals), counts[1], counts[8], len(counts), squares, list(ones)

d = {1: 2.0}
return 1.0 in d, True in d, d.get(1.0), (1,) in d, None in d, 'a' in d, float(x[0]) in d

p = types.SimpleNamespace(a=x[0], b=n)
p.c = p.a * p.b
if x[1] > 0.0:
    p.d = 1.0
names = list(vars(types.SimpleNamespace(**{'u': 1, 'v': 2})))
q = types.SimpleNamespace(c=p.c, b=n, a=x[0])
same = p == q if not hasattr(p, 'd') else None
vars(q).update(e=x)
del q.a
return (
    names, q == types.SimpleNamespace(), q != p.b, 'a' in vars(q), q.e, getattr(p, 'd', 5.0),
    getattr(p, 'z', 1.0), isinstance(q, types.SimpleNamespace), q.__dict__['b'], p.a,
)

p = types.SimpleNamespace()
if x[1] > 0.0:
    p.d = 1.0
return p.d

d, e = {1: x[0]}, {2: 0.0, 1: 1.0}
v = d.keys()
d[2] = x[1]
totals = copy.deepcopy(collections.defaultdict(float))
totals['a'] += x[0]
return len(v), 2 in v, list(v), v == {1, 2}, v == e.keys(), sorted(v & {2, 3}), totals['a'], set(v)

fixed = {0, 1, 6, 7}
free = sorted(set(range(9)) - fixed)
other = {k % 3 for k in free} | {2, 7} & fixed
seen = [k for k in set(range(len(x))) - {n}]
return (
    free[0] + 10 * free[-1] + sum(free), len(other ^ {7}), other < {0, 1, 2, 7}, other <= {0, 1},
    fixed.union([8], range(3)) >= fixed, fixed.isdisjoint(other), sum(k * x[0] for k in other),
    x[seen], len(fixed.difference((0, 'a'))), other == {7, 2, 1, 0}, {'a'}.issubset({'b', 'a'}),
)

best = {'d': np.inf, 't': None, 'y': None}
for k in range(3):
    d = np.sum((x - k) ** 2)
    if d < best['d']:
        best = {'d': d, 't': k, 'y': x - k}
return best['d'] + best['t'] + best['y'][0]
""",
    "x=np.array([100, 90, 0], np.int8), n=3": r"""
values = [x[k] for k in range(n)]
ordered, wide = sorted(values), np.array([1000, 2])
values.sort(reverse=True)
rows = [np.roll(x[:2], k) for k in range(n)]
return (
    sum(values), max(values) + 100, min(values), sum(values, np.int16(3)), sum(values, 1.5),
    ordered, ordered[1] + ordered[2], 1.0 / sorted([x[1], x[2]])[0], values[0] + values[1],
    sum(rows, wide), sum(rows), sum(rows, np.float64(0.5)), sum(np.stack(rows), wide),
    sum([v > 0 for v in rows], True), sum(sorted([n * k for k in range(n)])), max(list(range(n))),
)
""",
    "x=X, m=5": r"""
return range(3)[m]

q = collections.deque(v for v in x)
return q[m]

q = collections.deque(v for v in x)
del q[m]
return q[0]

q = collections.deque([x[0], 1.0])
q[m] = 1.0
return q[0]

q = [v for v in x[:m]]
q[m] = 1.0
return q[0]

q = [v for v in x[:m]]
q[m] += 1.0
return q[0]

q, texts = [x[0], 1.0], []
try:
    q.pop(3)
except IndexError as e:
    texts.append(str(e))
try:
    return range(3)[4]
except IndexError as e:
    return texts + [str(e)]

d = {'a': x[0]} if x[0] > 0.0 else {'b': x[1], 'c': 2.0}
try:
    y = x[m]
except IndexError as e:
    return len(d), str(e)

try:
    if x[1] < 0.0:
        raise ValueError('negative', m)
except ValueError:
    raise

s, k = 0.0, 0
try:
    while True:
        s += x[k]
        k += 1
except IndexError:
    s += 10.0
parts = []
try:
    for k in (0, 1, 2, 3):
        parts.append(x[k])
except IndexError:
    parts.append(s)
return k, sum(parts)

return np.max(x, initial=1.9), np.min(x, initial=-7.0), x.max(initial=9.0), x.min(initial=0.0)

class Never(typing.NamedTuple):
    a: float
    def __eq__(self, other):
        return False
class Always(typing.NamedTuple):
    a: float
    def __ne__(self, other):
        return False
return Never(x[0]) != Always(x[0]), Never(x[0]) != Always(x[1]), Always(x[0]) != Never(x[1])

a, b, p, q = x[0] > 0.0, x[1] > 0.0, m > 1, m > 5
return (
    a + b, a * b, a**b, a // a, a + p, p * a, a << p, a % p,
    p + q, p * q, p - q, -p, p**q, p // p, p % p, p / p, p << q,
)

p, q = m > 1, m > 5
return p // q

y, none, e = x[:0], m - 5, np.zeros((2, 0))
return (
    np.pad(y, (none, none), mode='reflect'), np.pad(y, none, mode='wrap'),
    np.pad(y, none, mode='edge'), np.pad(y, 0, mode='symmetric'), np.pad(x[:1], none, 'reflect'),
    np.pad(e, ((m, 0), (0, none)), mode='edge'), np.pad(x, (m - 3, m - 4), mode='reflect'),
)

return np.pad(x[:0], (0, m), mode='symmetric')

return np.pad(np.zeros((2, 0)), ((1, 0), (0, m)), mode='edge')

return scipy.integrate.odeint(lambda y, t: -y, x[0], [0.0, 0.5])

return scipy.integrate.odeint(lambda y, t: -y, x[:1], [0.0, 0.5], Dfun=lambda y, t: -np.eye(1))
""",
    "x=X, f=thrice": r"""
return EACH(x), EACH(2.0)

for v in x:
    if v < 0.0:
        f = TRIPLE
return f(x)
""",
    "z=Z": r"""
w = z[:, None]
return z < w, z <= w, z > w, z >= w

top, low = np.maximum(z, z[::-1]), np.minimum(z, z[::-1])
return top.real, top.imag, low.real, low.imag

return z[0] < z[3], z[3] <= z[0], z[3] > z[4], z[6] >= z[2], z[2] < z[4], np.less(z[0], z[3])

y = np.sort(z)
return y.real, y.imag, np.argsort(z, kind="stable"), len(np.unique(z)), np.median(z).imag

y = np.sort(z)
return np.searchsorted(y, z), np.searchsorted(y, z, side="right")
""",
    "x=np.arange(24.0).reshape(2, 3, 4)": r"""
return np.sum(x[[1, 0], :, [3, 2]])
""",
}

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return np.nan in [x, np.nan]
# ADC010: looking for a NaN, which Python compares by identity, is not supported

return [math.nan, x].count(math.nan)
# ADC010: looking for a NaN, which Python compares by identity, is not supported

s = collections.deque([x])
s.remove(x)
return s[0]
# ADC010: `.remove` of a deque is not supported

a, b, c = [x, 1.0]
return a
# ADC014: cannot unpack 2 values into 3 names

return abs([x, -1.0])
# ADC014: `abs` of a list

return divmod([x], 2)
# ADC014: `divmod` is not defined for a list

return round(np.array([x]))
# ADC014: `round` of an array (f64[:])

return round(np.array(x), 1)
# ADC014: `round` of a 0-d array (f64)

return x in 3
# ADC014: `in` a number (int)

return None + x
# ADC014: `+` is not defined for None

return x()
# ADC014: a number (float) is not a function

return x.hex()
# ADC010: `.hex` of a number (float) is not supported

return [x].nope
# ADC014: a list has no attribute 'nope'

raise Stopped('late', [x])
# ADC010: an exception with a list is not supported

raise Stopped()
# ADC014: Stopped(): missing a required argument: 'message'

raise Diverged('a', k=x)
# ADC014: Diverged(): Diverged() takes no keyword arguments

raise Diverged(*[x])
# ADC010: an exception with starred arguments is not supported

try:
    raise Stopped('late', iterations=2)
except Stopped as error:
    return x * error.iterations
# ADC012: 'error' is an exception of `Stopped`, which has arguments or methods

y = z * x
z = 2.0
return y
# ADC011: 'z' may be unbound here: nothing before assigns it

del x
return x
# ADC011: 'x' may be unbound here: it was deleted at line 2

def f():
    nonlocal y
    y = x
if x > 3.0:
    y = 1.0
return y
# ADC011: 'y' may be unbound here: it is not assigned on every path (line 5)

def once():
    return map(lambda v: v * x, [1.0, 2.0])
found = once()
return sum(found) + sum(found)
# ADC010: storing the iterator of `map` is not supported

once = lambda least: filter(lambda v: v > least, [1.0, 2.0])
found = once(1)
return sum(found) + sum(found)
# ADC010: storing the iterator of `filter` is not supported

found, _ = map(lambda v: v * x, [1.0, 2.0]), 3
return sum(found) + sum(found)
# ADC010: storing the iterator of `map` is not supported

once = {'a': map(lambda v: v * x, [1.0, 2.0])}
return sum(once['a']) + sum(once['a'])
# ADC010: storing the iterator of `map` is not supported

once = lambda v=map(abs, [x, 2.0]): sum(v)
return once() + once()
# ADC010: storing the iterator of `map` is not supported

return sum(found := map(abs, [x, 2.0])) + sum(found)
# ADC010: storing the iterator of `map` is not supported

once = lambda: (v * x for v in [1.0, 2.0])
found = once()
return sum(found) + sum(found)
# ADC010: storing a generator is not supported

return max([x, 2.0], kye=3.0)
# ADC010: `min` or `max` with these keywords is not supported

return sum((v for _, v in enumerate()))
# ADC010: this call of `enumerate` is not supported

return str(x, 'a')
# ADC010: `str` with these arguments is not supported

return str(object='a')
# ADC010: this way of formatting is not supported

return functools.partial()(x)
# ADC014: partial() needs a function

return functools.lru_cache(x)(lambda v: v * x)(2.0)
# ADC014: Expected first argument to be an integer, a callable, or None

return dataclasses.replace(Data(x), c=2 * x).a
# ADC014: field c is declared with init=False, it cannot be specified with replace()

return dataclasses.replace(Data).a
# ADC014: replace() should be called on dataclass instances

return operator.attrgetter(3)(Data(x))
# ADC014: attribute name must be a string

return copy.copy(np.random)
# ADC014: cannot pickle 'module' object

return copy.copy(Base().f)(x)
# ADC010: `copy` of method 'f' is not supported

return collections.defaultdict(float, [('a', x)])['a']
# ADC010: `defaultdict` with these arguments is not supported

return collections.Counter(a=2)['a'] * x
# ADC010: `Counter` with these arguments is not supported

return heapq.heappush([x], X)
# ADC010: a heap of elements of several kinds is not supported

return heapq.heappop(collections.deque([x]))
# ADC014: heap argument must be a list, not a deque

return (collections.deque([x]) * 2)[1]
# ADC010: this operator on a deque is not supported

return ([x] * 2.0)[1]
# ADC010: the length of a list known only at run time is not supported

return sum([x] * 100000)
# ADC010: a list of more than 10000 is not supported

return [x] + None
# ADC014: this operator on a list and None

d = collections.deque([x])
return d.pop(0)
# ADC014: deque.pop() takes no arguments

a = [x, 2.0]
a.append(value=3.0)
return a[0]
# ADC010: `.append` with keywords is not supported

return [x].sort(3)
# ADC010: `.sort` of a list with these arguments is not supported

return {'a': x}.pop()
# ADC010: `.pop` of a dict with these arguments is not supported

return collections.Counter('ab').setdefault('b', 3) * x
# ADC010: `.setdefault` of a Counter is not supported

p = Pair(x, 1.0)
return 2 * x if p is p else x
# ADC010: `is` on a Pair is not supported

return 2 * x if (x, [1]) < (1.5, [2]) else x
# ADC010: ordering of tuples that hold a list and a list is not supported

return Properties(x).w
# ADC014: property 'w' of 'Properties' object has no getter

o = Properties(x)
del o.p
return o.a
# ADC014: property 'p' of 'Properties' object has no deleter

o = Properties(x)
del o.b
return o.a
# ADC014: 'Properties' object has no attribute 'b'

o = Pair(x, 1.0)
o.a = 3 * x
return o.a
# ADC014: a Pair cannot be changed

o = Pair(x, 1.0)
del o.a
return o.a
# ADC010: `del` of an attribute of a Pair is not supported

o = Slots(x)
o.b = 2.0
return o.a
# ADC014: 'Slots' object has no attribute 'b'

return Abstract()
# ADC014: Can't instantiate abstract class Abstract

return Plain(x)
# ADC014: Plain() takes no arguments

return NoInit(x)
# ADC010: the constructor of `NoInit` is not supported

return ReturningInit(x)
# ADC014: __init__() should return None, not a number (float)

return Kind.C.value
# ADC014: C

return Data()
# ADC014: Data() is missing the argument 'a'

return Data(x, a=1.0)
# ADC014: Data() got an unexpected or repeated argument 'a'

return FieldLater(x)
# ADC014: FieldLater() takes 0 arguments but 1 were given

return NoPostInit(x)
# ADC010: `__post_init__` of `NoPostInit` is not supported

return Pair(x, b=x)._replace(3 * x).a
# ADC014: _replace() takes names of fields

return Pair(x, b=x)._replace(c=3 * x).a
# ADC014: Got unexpected field names: ['c']

return copy.copy(Copied(x)).a
# ADC010: `__copy__` of a Copied is not supported

a = np.array([x, 1.0])
b = copy.deepcopy([a, a[:1]])
b[0][0] = 2 * x
return b[1][0]
# ADC010: `deepcopy` of two views of one array is not supported

return divmod(BadOperators(),2)
# ADC014: `divmod` is not defined for a BadOperators

return 2*x if BadOperators() else x
# ADC014: __bool__ should return bool, returned a number (int)

return len(BadOperators())*x
# ADC014: a number (float) cannot be interpreted as an integer

return float(BadOperators())
# ADC014: __float__ returned str 'a', not a float

return abs(BadOperators())
# ADC014: this operation is not defined for a BadOperators

return BadOperators()(3.0)
# ADC014: a BadOperators is not a function

return f'{Operators(x)}'
# ADC010: `__format__` of a Operators is not supported

return 3@Operators(x)
# ADC014: `@` needs arrays with at least one axis

return X+Operators(x)
# ADC010: an array (f64[:]) and a Operators, of which NumPy makes an array, is not supported

return repr(Operators(x))
# ADC010: formatting a Operators is not supported

return Operators(x) < 3
# ADC014: comparison of a Operators with a number (int)

with BadOperators() as o:
    return x
# ADC014: a BadOperators does not support the context manager protocol

return collections.defaultdict(float, a=x)
# ADC010: returning a defaultdict is not supported

a = [x]
a.append(a)
return a
# ADC010: returning a list that contains itself is not supported

a = [x, 1.0, 2.0]
a[1:2] = X
return a[2] + len(a)
# ADC014: can only assign an iterable

a, b, *c = (x,)
return a
# ADC014: cannot unpack 1 values into at least 2 names

return collections.deque([x]).nope
# ADC010: `.nope` of a deque is not supported

return (x + 1j).conjugate(3).imag
# ADC010: `(x + 1j).conjugate` with these arguments is not supported

for k in np.array(3.0):
    x += k
return x
# ADC014: iteration over a 0-d array

with cm3(x) as y:
    pass
return x
# ADC033: a context manager with more than one `yield` is not supported

try:
    if x > 1:
        raise ValueError('a')
    return x
except 3:
    return 2 * x
# ADC014: catching classes that do not inherit from BaseException is not allowed

assert x > 100, f'{(x,1)!a}'
return x
# ADC010: this format is not supported

assert x > 100, f'{(x,1):5}'
return x
# ADC010: a format of a tuple of 2 is not supported

assert x > 100, f'{x:{x}}'
return x
# ADC010: a computed format is not supported

assert x > 100, '%d' % x
return x
# ADC010: this format is not supported

assert x > 100, '%s %s' % x
return x
# ADC010: this format is not supported

assert x > 100, '%q' % x
return x
# ADC010: this format is not supported

assert x > 100, '{a}'.format(x)
return x
# ADC010: this format is not supported

assert x > 100, '{}'.format(*[x])
return x
# ADC010: this format is not supported

assert x > 100, repr(f'{x}')
return x
# ADC010: `repr` of a string with numbers known only at run time is not supported

assert x > 100, format(x, x)
return x
# ADC010: a computed format is not supported

assert x > 100, f'{math.sin}'
return x
# ADC010: formatting builtin_function_or_method 'sin' is not supported

assert x > 100, 'a'.startswith(x)
return x
# ADC010: `str.startswith` with these arguments is not supported

return adc.grad()(x)
# ADC010: returning `grad` of a number (float) is not supported

return adc.grad(lambda v: v ** 3, nope=0)(x)
# ADC014: adc.grad() does not take these arguments

return adc.jvp(lambda v: v ** 3)[1]
# ADC014: pass a function, primals and tangents

return adc.stop_gradient(x, x) * x
# ADC014: adc.stop_gradient() takes one argument

return adc.save(x, x) * x
# ADC014: adc.save() takes one argument

match [x]:
    case [a, b]:
        return a
    case {'a': 1}:
        return a
    case [a] as q:
        return a * len(q)
# ADC010: this pattern is not supported

return {**x}['a']
# ADC014: `**` of a number (float)

return x << 2
# ADC014: `<<` on float and int

def make(k):
    f = lambda v: v * s
    if k > 0:
        return f
    s = 3.0
    return f
return make(x)(x)
# ADC011: 's' may be unbound here

g = h = (v * v for v in (x, 2.0))
return sum(g)
# ADC010: storing a generator is not supported

@adc.custom_jvp
def f(v) -> float:
    return float.fromhex('a')
@f.defjvp
def rule(primals, tangents):
    return f(primals[0]), tangents[0]
return f(x)
# ADC010: `float.fromhex` is not supported

print('{} {0}'.format(x))
# ADC010: this format is not supported

print('%u' % x)
# ADC010: this format is not supported

print('%.3d' % int(x))
# ADC010: this format is not supported

print('{None}'.format(**{'a': x}))
# ADC010: this format is not supported

LOG.log()
# ADC014: log() is missing the argument 'level'

LOG.debug()
# ADC014: LOG.debug() is missing the argument 'msg'

return divmod(x)
# ADC010: `divmod` with these arguments is not supported

return int[0]
# ADC014: indexing type 'int'

import warnings
with warnings.catch_warnings():
    warnings.warn("caught")
return x
# ADC010: `warnings.warn` inside `warnings.catch_warnings` is not supported

import warnings
warnings.simplefilter("ignore")
return x
# ADC010: `warnings.simplefilter` outside `warnings.catch_warnings` is not supported
""",
    "x=M": r"""
return np.require(x, requirements=["F"])
# ADC010: `np.require` with 'F' is not supported

return max(x)
# ADC014: The truth value of an array with more than one element is ambiguous

return operator.methodcaller()(x)
# ADC014: methodcaller() is missing the name of a method

return operator.methodcaller('nope')(x)
# ADC014: an array (f64[:, :]) has no attribute 'nope'

return np.sum(x, axis=(0, 0))
# ADC014: an axis is given twice

return np.sum(x, axis=5)
# ADC014: axis 5 is out of bounds for array of dimension 2

return x[..., ...]
# ADC014: an index can only have a single `...`

return np.einsum("i...->i", x)
# ADC014: the output subscripts 'i' lack the '...' of the operands

return np.einsum("i1->i", x)
# ADC014: the subscripts 'i1' are not valid
""",
    "x=X": r"""
return 1.0 if x in ('a', 'b') else 2.0
# ADC014: an array cannot be compared with None or another object

return [x] == ['a']
# ADC014: an array cannot be compared with None or another object

def pairs(y):
    found = []
    for k in range(int(x[0]) + 2):
        found.append((k * y[1], y[2]))
    return found
v, pull = adc.vjp(pairs, x)
return pull(v)
# ADC010: the cotangent of a list of tuples whose length is known only at run time is not supported

return EACH_ROW(x)
# ADC010: `np.vectorize` with `signature` or `excluded`, or a call with keywords is not supported

return EACH(v=x)
# ADC010: `np.vectorize` with `signature` or `excluded`, or a call with keywords is not supported

def total(vs):
    return sum(vs) + sum(vs)
return total(map(lambda v: v * 2.0, x))
# ADC010: storing the iterator of `map` is not supported

return [x[0], x[1]] @ (x[0], x[1])
# ADC014: `@` is not defined for a list and a tuple of 2

import collections
d = collections.deque([x[0], x[1]])
d[:] = [x[2]]
return sum(d)
# ADC014: sequence index must be integer, not 'slice'

a = x * 2.0
y = a[::-1].ravel()
y[0] = 50.0
return np.sum(a)
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed

seen = {v for v in x}
return len(seen) * x[0]
# ADC010: a set that holds a number (f64) is not supported

seen = set()
for v in x:
    seen.add(int(v))
return [v for v in seen]
# ADC014: cannot loop over a set

seen = {3, 1}
seen.discard(3)
seen.add(5)
return [v * x[0] for v in seen]
# ADC010: the order of a set from which elements were removed is not known

d = {}
if x[0] > 0.0:
    d['a'] = x[1]
return {**d, 'b': x[0]}, [name for name in d]
# ADC010: this use of a dict with keys that only some paths set is not supported

d = {}
for v in x:
    d[int(v)] = v
for k in d:
    del d[k]
return len(d) * x[0]
# ADC010: removing an element of a dict while a loop iterates over it is not supported

d = {}
for v in x:
    d[int(v)] = [v]
return len(d) * x[0]
# ADC010: a key known only at run time is not supported for a dict that holds a list

d = {}
for v in x:
    d[int(v)] = v
return 0.5 in d
# ADC010: a number (float) as a key, where others are known only at run time, is not supported

cache = {}
def power(n):
    if n in cache:
        return cache[n]
    cache[n] = 1.0 if n == 0 else x[0] * power(n - 1)
    return cache[n]
return power(3)
# ADC010: changing a dict that was passed to a recursive function is not supported

p = types.SimpleNamespace(a=x[0])
return vars(p)
# ADC010: returning what `vars` returns is not supported

p = types.SimpleNamespace({'a': x[0]})
return p.a
# ADC010: `types.SimpleNamespace` of a dict is not supported

return f'{ {1, 2} }'
# ADC010: formatting a set is not supported

s = 0.0
for f in ((lambda v: v * k) for k in range(3)):
    s += f(x[0])
return s
# ADC010: a generator of functions that read its variable is not supported

return x[0] if x > 0 else 1.0
# ADC014: The truth value of an array with more than one element is ambiguous

return sum((a * b for a, b in zip(x, x, foo=True)))
# ADC010: `zip` with keywords is not supported

return x[slice()]
# ADC014: `slice` takes one to three arguments

return sum(['a', 'b'], 'c')
# ADC014: sum() can't sum strings

return getattr(x, 3)
# ADC010: an attribute named by a number (int) is not supported

return np.searchsorted(x, 1.0, side=3)
# ADC014: `side` must be a string, not a number (int)

return np.searchsorted(x, 1.0, side='up')
# ADC014: search side must be 'left' or 'right' (got 'up')

return np.array([X, M])
# ADC014: setting an array element with a sequence. The requested array has an inhomogeneous shape

return np.zeros(3, dtype=3)
# ADC014: a number (int) is not a dtype

return np.zeros(3, dtype=str)
# ADC010: dtype <U0 is not supported

return np.zeros()
# ADC014: `np.zeros` needs 'shape'

return np.zeros(3, float, 'C', 4)
# ADC014: np.zeros() takes 3 arguments but 4 were given

x.imag = 3.0
return x
# ADC014: a real array has no imaginary part to set

return x.sum
# ADC010: returning method 'sum' is not supported

return x.view() is x
# ADC010: `is` on views of one array is not supported

return x.squeeze() is x
# ADC010: `is` on views of one array is not supported

return x[:] in [x]
# ADC014: comparison of an array (f64[:]) with an array (f64[:])

del x[0]
return 1.0
# ADC010: `del` of an element of an array (f64[:]) is not supported

x += np.outer(x, x)
return x
# ADC014: the result has more axes than the array that it is stored in

(x * 2).fill(x[0])
return x[2]
# ADC014: `.fill` needs an array that has a name

return x[::0]
# ADC014: slice step cannot be zero

return x[:'a']
# ADC014: slice indices must be integers or None, not str 'a'

return np.deg2rad(x > 0.0)
# ADC010: `np.deg2rad` on bool is not supported

return adc.grad(np.sum, 0, argnames='a')(x)
# ADC020: argnums and argnames are both given

pairs = zip(x, x[1:], **{'strict': False})
return sum(a * b for a, b in pairs)
# ADC010: storing the iterator of `zip` is not supported

return x.item(1.0)
# ADC014: an index must be an integer, not a number (float)

return x.item(x[0] > 0.0)
# ADC014: an index must be an integer, not a number (b1)

return x.item(index=1)
# ADC014: `.item` takes no keyword arguments

return x.__len__(3)
# ADC014: x.__len__() takes 0 arguments but 1 were given

return adc.vmap(np.square, axes=0)(x)
# ADC014: adc.vmap() does not take these arguments

return adc.vmap(np.square, 0, in_axes=0)(x)
# ADC014: adc.vmap() got multiple values for argument 'in_axes'

return adc.grad(np.sum, 0, argnums=0)(x)
# ADC014: adc.grad() got multiple values for argument 'argnums'

return adc.grad(argnums=0)(np.sum, 3)(x)
# ADC014: a decorator takes one function

return adc.jit(thrice, times=3)(x)
# ADC014: adc.jit() does not take these arguments

return adc.jvp(np.sum, (x,), (x,), 3)[1]
# ADC014: adc.jvp() takes 3 arguments but 4 were given

return adc.jvp(np.sum, (x,), (x,), primals=(x,))[1]
# ADC014: adc.jvp() got multiple values for argument 'primals'

return adc.vjp()
# ADC014: adc.vjp() does not take these arguments

return adc.vjp(lambda a, b=2.0: np.sum(a * b), x, b=3.0)[0]
# ADC014: adc.vjp() does not take these arguments

return np.zeros(3, shape=4) + x
# ADC014: np.zeros() got multiple values for argument 'shape'

return np.full(3, 2.0, fill_value=4.0) + x
# ADC014: np.full() got multiple values for argument 'fill_value'

match [v for v in x[: int(3.0 * x[0])]]:
    case [a, b, c]:
        return a
# ADC010: this pattern for a list whose elements are known only at run time is not supported

match map(abs, x):
    case rows:
        return sum(rows) + sum(rows)
# ADC010: storing the iterator of `map` is not supported

rows = [(v for v in x)]
return sum(rows[0]) + sum(rows[0])
# ADC010: storing a generator is not supported

rows = [reversed(x)]
return sum(rows[0]) + sum(rows[0])
# ADC010: storing the iterator of `reversed` is not supported

rows = map(abs, x) if len(x) > 2 else x
return sum(rows) + sum(rows)
# ADC010: storing the iterator of `map` is not supported

rows = []
rows.append(map(abs, x))
return sum(rows[0]) + sum(rows[0])
# ADC010: storing the iterator of `map` is not supported

rows = []
rows.append(reversed(x))
return sum(rows[0]) + sum(rows[0])
# ADC010: storing the iterator of `reversed` is not supported

rows = dict(a=zip(x, x))
return sum(a for a, b in rows["a"]) + sum(a for a, b in rows["a"])
# ADC010: storing the iterator of `zip` is not supported

rows = [map(abs, x) for _ in range(2)]
return sum(rows[0]) + sum(rows[0])
# ADC010: storing the iterator of `map` is not supported

rows = {k: (v for v in x) for k in range(2)}
return sum(rows[0]) + sum(rows[0])
# ADC010: storing a generator is not supported

a = b = map(abs, x)
return sum(a) + sum(b)
# ADC010: storing the iterator of `map` is not supported

a: object = filter(None, x)
return sum(a) + sum(a)
# ADC010: storing the iterator of `filter` is not supported

a = {"k": x}
a["k"] = map(abs, x)
return sum(a["k"]) + sum(a["k"])
# ADC010: storing the iterator of `map` is not supported

f = x.flat
return sum(f) + sum(f)
# ADC010: iterating over a variable that is the `flat` of an array is not supported

f = x.flat
s = 0.0
for v in f:
    s += v
return s
# ADC010: iterating over a variable that is the `flat` of an array is not supported
""",
    "x=3.0": r"""
return math.gcd(x, 2)
# ADC014: `math.gcd` needs integers

return math.lcm(4, 2.0)
# ADC014: `math.lcm` needs integers

return math.comb(5, 2.0) * x
# ADC014: 'float' object cannot be interpreted as an integer
""",
    "x=1.5, n=3": r"""
if x > 1.0:
    k = 'a'
else:
    k = [x]
for k in range(int(2.0 * x)):
    x += k
return k
# ADC012: 'k' is str 'a' on one path and a list on another (line 2)

return sum(['a'] * n)
# ADC014: `+` is not defined for str 'a'

d = collections.deque([x])
d.extend((x * k for k in range(int(2.0 * x))))
return d[n]
# ADC010: `.extend` of a deque by a list of a length known only at run time is not supported

d = collections.deque()
for k in range(n):
    d.append(x * k)
d.rotate(1)
return d[0]
# ADC010: `.rotate` of a deque of any length is not supported

d = collections.deque([x * k for k in range(int(2.0 * x))], maxlen=2)
return d[0]
# ADC010: a deque of `maxlen` of a list of a length known only at run time is not supported

return rec3(x, n)[0]
# ADC010: returning a list from a recursive function is not supported

return rec9(x, n)
# ADC025: rec9() calls itself with a new function or new types at every level
""",
    "x=X, y=X": r"""
return 2 * x[0] if x is y else x[0]
# ADC010: `is` on arrays that may be one is not supported
""",
    "x=[1.5], y=[1.5]": r"""
return 2 * x[0] if x is y else x[0]
# ADC010: `is`, or `==` that compares identity, of two objects from outside is not supported
""",
    "x=1.5, n=2": r"""
for _ in range(2):
    def h(y):
        return y * h.factor
    h.factor = 1.0
if n > 1:
    h.factor = 5.0
return h(x)
# ADC010: assignment to an attribute of function 'h' is not supported

def rec(m):
    before = h.factor
    h.factor = 3.0
    return rec(m - 1) if m > 0 else before
def h(y):
    return y
h.factor = 1.0
return rec(n) * x
# ADC010: assignment to an attribute of function 'h' is not supported

y = [x]
z = y
for k in range(n):
    z = [x, x]
return z
# ADC012: 'z' is bound to a new list in each iteration, and the one before the loop is also 'y'
""",
    "x=1.5, n=1": r"""
a = [x, 1.0, 2.0]
a[int(x):] = [x]
return a[1]
# ADC010: a slice of a tuple or string with ends known only at run time is not supported
""",
    "x=X, n=2": r"""
t = 1
def g(y):
    nonlocal t
    before = t
    t = t + 0.5
    return before
return adc.vmap(g)(x)
# ADC014: the results of two elements in vmap have the types int64 and float64

return scipy.integrate.trapezoid(x, axis=int(x[2]) - n)
# ADC010: `axis` known only at run time is not supported

s = 0.0
for k in {n, 40} - {n}:
    s += k
return s * x
# ADC014: cannot loop over a set

return len({v > 0.0 for v in np.cumsum(x)}) * x[0]
# ADC010: a set that holds a number (b1) is not supported

return {1, 2} + {3}
# ADC014: `+` is not defined for a set and a set

a, b = x.copy(), x * 2.0
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed

a, b = [x[0]], [x[1], 2.0]
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n
# ADC013: whether this list was changed (line 5) depends on the path

scale, t = 1.0, 0.0
for k, a in enumerate(filter(lambda v: v > 0.0, (v * scale for v in x))):
    scale = 3.0 * n
    t += a
return t
# ADC010: a loop that changes what a generator reads from which it draws is not supported

class Point(typing.NamedTuple):
    a: float
    b: float
    c: float = 2.0
return Point(x[n])
# ADC014: Point() is missing the argument 'b'

return x[:: int(2.0 * x[0])]
# ADC010: a slice with a step known only at run time and an end left out is not supported
""",
}
