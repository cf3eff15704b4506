"""Bodies of functions that have Python's results, or raise its exceptions, by their arguments.

Blank lines are between them.
"""

LIKE: dict[str, str] = {
    "x=1.5": r"""
def side(x, kind):
    kind = Kind(kind)
    return x if kind is Kind.B else 2.0 * x
return side(x, 1.0), side(x, 2), Kind(1.0).value, Kind(Kind.B) == Kind.B

try:
    return Kind(3.0).value
except ValueError as error:
    return str(error)

if x > 2.0:
    x += x.normal()
return x

if x > 1.0:
    return x[2]
return x

y = Point(x, 1.0)
return y.z if x > 2.0 else y.x

def noisy(x, rng=None):
    return x + rng.normal() if x > 1.0 else x
return noisy(x)

def step(x, callback):
    if x < 1.0:
        callback(x)
    return 2.0 * x
return step(x, None)

u, v = Both(x, 2.0), Both(3.0, x)
dot = sum(a * b for a, b in zip(u, v))
both = Both(*(a + b for a, b in zip(u, v)))
return dot, [*u, 1.0], [k * a for k, a in enumerate(u)], max(*v), list(zip(u, v, [1, 2]))

u, v = Line(Both(x, 2.0), 1.0), Both(3.0, x)
s = 0.0
for a, b in zip(u.start, v):
    s += a * b
for k, (a, b) in enumerate(zip(v, v), 1):
    s += a * b * k
return s, dict(zip("ab", v)), dict(enumerate(u.start))

u, v = Both(x, 2.0), Both(3.0, x)
s = 0.0
for k, a in enumerate(u):
    s += a * k
    u.second = 5.0
return s

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
raise ValueError(f"{x} has {x.sum():.3f} and {x[0]!r}, {x > 0}")

raise ValueError(x)

raise KeyError(x * 2)

raise Diverged("far", x, x[0], None, x.astype(np.float32))

raise ValueError(2, f"{(x, x[0])} {dict(a=x)}")

assert x[1] > 0, x

assert x[1] > 0, x[1]

assert x[1] > 0, f"{x + 1j} {np.arange(3)} {np.array(x[0])!r}"

assert x[0] > 0, f"{x}"
return x[0]

z = np.array(x[0])
raise ValueError(f"{z!r} {z} {z:.2f}")

y = x.copy()
for k in range(3):
    y[k] *= 3.0
    if np.any(y < 0):
        raise ValueError(f"step {k} of {len(y)}: {y}")
return np.sum(y)

seen = []
for v in x:
    seen.append(v * 2)
    if v < 0:
        raise ValueError(f"so far {seen}")
return sum(seen)

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
    y = x[0]
except ValueError:
    y = x[2]
return y

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
    y = x[0]
except KeyError as error:
    y = x[2]
return y

try:
    y = x[0]
    if x[1] < 0:
        raise ValueError(f"bad {x}")
finally:
    y = x[2]
return y

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
    "x=np.array([[0.1, 1.3], [2.2, -0.7], [0.4, 0.6]], np.float32)": r"""
y = np.zeros((4, 2))
np.mean(x, axis=0, out=y[0]), np.var(x, axis=0, out=y[1]), np.std(x, axis=0, out=y[2])
np.ptp(x, axis=0, out=y[3])
return y

y = np.array(x[0, 0])
return np.round(y, 1, out=y), y

x[0, 0] = np.nan
y = np.zeros((3, 2))
np.nanmean(x, axis=0, out=y[0]), np.nanvar(x, axis=0, out=y[1]), np.nanstd(x, axis=0, out=y[2])
return y
""",
    "x=X.copy(), z=np.array(0.25)": r"""
make = np.asarray
v = make(x)
v[0] = 9.0
return x, v

(v,) = map(np.asarray, [x])
v[0] = 9.0
return x, v

tools = types.SimpleNamespace(make=np.array)
v = tools.make(x)
v[0] = 9.0
return x, v

v = np.ascontiguousarray(z)
v += 0.5
return z, v

v = np.nan_to_num(z, copy=False)
v += 0.5
return z, v

y = np.nan_to_num(np.array([complex(np.nan, 1.0), complex(np.inf, -np.inf), 1.0j]), posinf=2.0)
return y, np.nan_to_num(complex(1.0, np.nan))

y = np.ones((2, 3))
np.multiply(x, 2.0, out=y), np.add(x[0], 1.0, out=y[1])
return y
""",
    "x=X, y=2.0 * X": r"""
for v in x:
    x, y = y, x
for v in x:
    x, y = y, x
for v in x:
    x, y = y, x
return x, y
""",
    "x=X.copy(), y=np.array([[1.0, 2.0]])": r"""
x[:2] = y
return x

x[:3] = y
return x

try:
    x[1:] = np.atleast_2d(x)
except ValueError as error:
    return str(error)
""",
    "x=M.copy(), n=2": r"""
r, q = np.take(x, 1, axis=0), x.take(0, 1)
r[0] = 9.0
x[:, 0] = 5.0
return x, r, q

try:
    for row in x:
        w = np.full(n, 0.7)
finally:
    x *= 2.0
return row, w

try:
    for k in range(n):
        row = x[k]
        w = np.full(n, 0.7)
finally:
    n = 5
return row, w, n
""",
    "x=1.5, n=3": r"""
moves = [(0.0, 1.0), (x, 0.0), (0, -1.0)]
s = 0.0
for k in I:
    dx, dy = moves[k % n]
    s += dx * x + dy * k + moves[k - n][0]
return s, moves[I[1]]

nested = [((x, 1.0), n), ((3.0, x * x), 5)]
(a, b), c = nested[I[1] - 1]
return a, b, c

return [(x, 1.0), (2.0, x)][I[0]]

q = Point(x, 1.0)
for k in range(n):
    p = q
    t = (q, k)
    q = Point(q.x + x, q.y * 2.0)
return p.x, p.y, t[0].x, q.x

q = [x, 1.0]
for k in range(n):
    line = Line(q, k)
    q = [q[0] + x, q[1] * 2.0]
return line.start[0], line.start[1], q

q = {"a": x}
best = None
for k in range(n):
    p = q
    q = {"a": q["a"] + x}
    if k == 1:
        best = p["a"]
return p["a"], best, q["a"]

a, b = Point(x, 1.0), Point(2.0, x)
for k in range(n):
    a, b = b, a
return a.x, a.y, b.x, b.y

a, z = Point(x, 1.0), Point(2.0, x)
for k in range(n):
    z = a
    a = Point(a.x + x, a.y)
return a.x, z.x

y = [x]
z = y
for k in range(n):
    z = [z[0] + x]
return y[0], z[0]

line = Line(Point(x, 1.0), Point(2.0, 3.0))
start = line.start
while line.start.x < 5.0:
    line.start = Point(line.start.x + 1.0, line.start.y)
return line.start.x, line.start.y, start.x

line = Line(Point(x, 1.0), Point(2.0, 3.0))
for k in range(n):
    line.start, line.end = line.end, line.start
    line.start.x += x
return line.start.x, line.start.y, line.end.x, line.end.y

line = Line(Point(x, 1.0), Point(2.0, 3.0))
for k in range(n):
    line.start.x *= 2.0
    former = line.start
    line.end = former
    line.start = Point(former.x + x, former.y)
    former.y -= 1.0
return line.start.x, line.start.y, line.end.x, line.end.y, former.y

line = Line([x, 1.0], {"a": [x]})
for k in range(n):
    line.start = [v + x for v in line.start]
    line.start[0] *= 0.5
    line.end = {"a": [line.end["a"][0] + line.start[1]]}
return line.start, line.end

parts = [Point(x, 1.0), Point(2.0, x), Point(3.0, 0.5)]
for k in range(n):
    made = [Point(p.x + x, p.y) for p in parts]
    for i, p in enumerate(made):
        parts[i] = p
    parts[0].x += parts[1].y
return [p.x for p in parts], made[0].x

a, b = Line(Point(x, 1.0), n), Line(Point(2.0, 3.0), n)
for k in range(n):
    a.start, b.start = b.start, a.start
    a.start.x += x
    if a.start.x > 3.0:
        a.start.y *= x
return a.start.x, a.start.y, b.start.x

line = Line(Point(x, 1.0), n)
for k in range(n):
    line.start = Point(line.start.x + x, 1.0)
    if line.start.x > 3.0:
        break
return line.start.x

line = Line(None, None)
for k in range(n):
    line.start = Point(x, 1.0) if line.start is None else Point(line.start.x + x, 2.0)
return line.start.x

def shifted(point):
    for k in range(n):
        point = Point(point.y, point.x + 1.0)
    return point
y = Line(Point(x, 1.0), Point(2.0, 3.0))
z = shifted(y.end)
return y.end.x, z.x

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

k = n - 4
return x[::n], x[1::n], x[:2:n], x[::k], x[:0:k], x[-1::k], x[:-1:k]

y = np.diag(x)
y.flat[:: y.shape[0] + 1] += 1.0
return y

return x[:: n - 2]

near = {0: {1, 2, 3}, 1: {0, 4}, 2: {0}}
names = ["a", "b", "c", "d", "e"]
angles = [(i, j, k) for j in range(3) for i, k in itertools.combinations(sorted(near[j]), 2)]
return angles, [names[i] + names[k] for i, j, k in angles]

eps, names, s = {("a", "b"): 1.0, ("a", "c"): 2.0, ("b", "c"): x[0]}, "abc", 0.0
for i, j in itertools.combinations(range(3), 2):
    s += eps[names[i], names[j]]
for k in itertools.combinations(names, n):
    s += eps[k]
return s, sum(eps[k] for k in itertools.combinations(names, 2)), list(itertools.permutations("ab"))

kept = {}
for i, j in itertools.product("ab", [1, 2]):
    kept[f"{i}{j}"] = x[0] * j
return kept, [x[0] ** sum(b) for b in itertools.product([0, 1], repeat=3)]

y = x.copy()
y[:3] = range(3)
return np.exp(range(3)), x * range(3), np.where(x > 0.0, range(3), 0.5), np.maximum(range(n), 1), y
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
    "z=np.array([1.0 + 2.0j, 3.0 - 1.0j])": r"""
return [r for r in z], [(k, r * r, abs(r)) for k, r in enumerate(z)], [z + k for k in range(len(z))]

return [[r, 1.0] for r in z], {k: r.real * 2.0j for k, r in enumerate(z)}

return [r for r in z if abs(r) > 9.0], [r.imag for r in z if r.real > 2.0]

return [[r, 1.0] for r in z], (0.0,) * z.shape[0]
""",
    "x=np.arange(24.0).reshape(2, 3, 4)": r"""
return np.sum(x[[1, 0], :, [3, 2]])
""",
    # Polynomials.
    "x=np.array([1.5, -0.5, 2.0])": r"""
p = np.poly1d(x)
return p(2.0), p[1], p[7], p[-1], len(p), p.order, p.o, p.c, p.coef

p = np.poly1d([0.0, 0.0, 1.0, -2.0])
return p.coeffs, p.roots, p.r, p(x), p == np.poly1d([1.0, -2.0]), p != np.poly1d(x)

p, q = np.poly1d(x), np.poly1d([1, -3])
return (p + q).c, (p - q).c, (p * q).c, (p + 2.0).c, (2.0 - p).c, (3 * p).c, (-p).c, (+p).c

p, q = np.poly1d(x), np.poly1d([1, -3])
quotient, rest = p / q
return quotient.c, rest.c, (p / 2.0).c, (p**3).c, (p**0).c, p(q).c, (p - p).c

p = np.poly1d(x)
return x[0] * p, x + p, x - p, (p * x[0]).c, (p + x).c, x[1] / p

p = np.poly1d(x)
return p.deriv().c, p.deriv(2)(0.5), p.integ().c, p.integ(2, [1.0, 3.0]).c, p.integ(k=4.0)(1.5)

p = np.poly1d(x)
p[1] = 7.0
return p.c, p(1.0), x

p = np.poly1d([1.0, 2.0, 3.0], True)
return p.c, np.polyval(p, x), np.roots(p), list(p)

return np.poly1d(x) ** -1

return np.poly1d([x, x])(1.0)

p = np.poly1d(np.polyfit(np.arange(3.0), x, 1))
return p(np.linspace(0.0, 1.0, 4)), p(3), p(np.array([[1, 2]]))

p = Polynomial(x)
return p(0.5), p(x), p([1, 2]), p.coef, p.degree(), len(p), list(p), p.domain, p.window

p, q = Polynomial(x), Polynomial([1, 2])
return (p + q).coef, (p - q).coef, (p * q).coef, (2.0 * p + 1).coef, (x - p).coef, (p**2).coef

p, q = Polynomial(x), Polynomial([1, 2])
return (p // q).coef, (p % q).coef, (p / 2.0).coef, (q // p).coef, [r.coef for r in divmod(p, q)]

p = Polynomial(x, domain=[0.0, 4.0])
return p(1.0), p.deriv()(1.0), p.integ()(1.0), p.integ(2, [1.0], 0.5).coef, p.roots()

p = Polynomial.fit(np.arange(3.0), x, 1)
return p(0.5), p.domain, p.convert().coef, p.mapparms(), p.linspace(3)[1]

p = Polynomial.fromroots([1.0, 2.0, -3.0])
return p.coef, p.roots(), p.deriv(2).coef, p.deriv(7).coef, p.trim(5.0).coef, p.cutdeg(1).coef

p = Polynomial(x)
return p == Polynomial(x), p == Polynomial([1.0]), p(p).coef, p.copy().coef, p.truncate(2).coef

return Polynomial(x, [0.0, 1.0]) + Polynomial(x)

return Polynomial([])(1.0)

return Polynomial(x) // 0.0

return np.roots(x), np.roots([1, 0, 1]), np.roots([0, 2.0, x[0], 0]), np.roots([x, x])
""",
    # Reductions that start from a number known only at run time.
    "x=X.copy(), v=0.5, k=3,": r"""
return x.sum(initial=v), np.sum(M, axis=1, initial=v), x.prod(initial=v), np.sum(I, initial=k)

return np.max(x, initial=v), np.sum(H, initial=v), np.prod(M, axis=0, initial=k), M.min(initial=k)
""",
    # Dates, fractions and the like.
    "x=0.7,": r"""
return (DAY - datetime.date(2024, 1, 1)).days * x, DAY.month, DAY == 3

when = datetime.datetime.strptime("2024-03-01 12:30", "%Y-%m-%d %H:%M")
hours = (when - when.replace(hour=0)) / datetime.timedelta(hours=1)
return x * hours, f"{DAY:%d.%m.%y} {DAY} {when!r}", str(DAY), DAY.isoformat()

day, days = DAY, []
while day < datetime.date(2025, 1, 1):
    days.append(day)
    day += datetime.timedelta(days=91)
return [x ** ((b - a).days / 91) for a, b in zip(days, days[1:])], len(days), max(days).year

day = DAY
for k in range(4):
    day = day + datetime.timedelta(days=k)
    if day.weekday() >= 5:
        x = x * 2
return x, day.day

rates = {DAY: 0.1 * x, datetime.date(2025, 3, 1): 0.2}
return [rates[d] * d.year for d in sorted(rates)], DAY in rates, min(rates).day, sum(rates.values())

try:
    day = datetime.date(2024, 2, 30)
except ValueError:
    day = datetime.date(2024, 2, 29)
return x * day.day

two = fractions.Fraction(2)
return THIRD * x, x + THIRD, x**THIRD, THIRD**x, 1 / THIRD * x, x**two, float(THIRD)

third = THIRD + fractions.Fraction(1, 6)
same = -third == fractions.Fraction(-1, 2), abs(-THIRD) == THIRD, third == 0.5
return x * float(third), third.numerator, third > THIRD, bool(third), same, DAY < max([DAY])

cents = decimal.Decimal("0.10") * 3
return x * float(cents), cents == decimal.Decimal("0.3"), str(cents), int(cents)

start = np.datetime64("2024-01-01")
days = (np.datetime64("2024-07-01") - start) / np.timedelta64(1, "D")
return x * days, (np.datetime64("2024-07-01") - start).astype(int)

i, layers = 0, [2.0, np.sin, (3.0, 1.0)]
while i < len(layers):
    layer = layers[i]
    if callable(layer):
        x = layer(x)
    elif isinstance(layer, tuple):
        x = x * layer[0] + layer[1]
    else:
        x = x * layer
    i += 1
return x

if not DAY or DAY is None:
    return x
long = sum([datetime.timedelta(1)] * 3, datetime.timedelta())
return x * datetime.timedelta(days=2).total_seconds(), long.days
""",
}
# Loops that are left in several ways.
LEFT = r"""
tag = ""
for k in ("a", "bb", "ccc", "dddd"):
    tag = tag + k
    if k == "ccc":
        break
    if x > 5:
        return x * len(tag)
    x = x * 1.1
return x * len(tag) * len(k)

n = 0
for k in ("a", "bb", "ccc", "dddd"):
    n = (n, k)
    if k == "ccc":
        break
    if x > 5:
        return x
    x = x * 1.1
else:
    x = 0.0
return x * len(n[1])

tag = "a"
for k in ("a", "bb", "ccc"):
    if x > 1:
        tag = "zzzz"
        break
    if x < -1:
        return 0.5 * x
    x = x * 1.1
return len(tag) * x

for k in ("a", "bb", "ccc"):
    if x > 1:
        break
    tag = k
    if x < -1:
        return 0.5 * x
return len(tag) * x

y = x
for k in ("a", "bb", "ccc"):
    if x > 1:
        y = (x, x)
        break
    if x < -1:
        return 0.5 * x
    x = x * 1.3
return y if isinstance(y, float) else y[0] * 2
"""
LIKE |= {f"x={x},": LEFT for x in (1.0, 4.0, 6.0, -1.5)}
# What may be None, where Python takes None, too, or raises something else than `TypeError`.
OPTIONAL = r"""
p = Point(x, 2.0) if n > 1 else None
return p.x

p = Point(x, 2.0) if n > 1 else None
try:
    p.x += 1.0
except AttributeError:
    return x
return p.x

p = Point(x, 2.0) if n > 1 else None
try:
    p.x = 1.0
    del p.y
except AttributeError:
    return x
return p.x

items = [x] if n > 1 else None
items.append(1.0)
return items

p = Point(x, 2.0) if n > 1 else None
told = isinstance(p, Point), callable(p), type(p) is Point, bool(p), hasattr(p, "x")
return told, getattr(p, "x", 0.5), getattr(Point(x, 1.0), "z", p) is None

p = Point(x, 2.0) if n > 1 else None
if hasattr(p, "x"):
    return p.x
f = thrice if n > 0 else None
return f(x) if callable(f) else x

v = x if n > 1 else None
return any([v, 0.0]), all([v, 1.0]), any(e for e in (v, 0.0)), all((v, 1.0))

v = x if n > 1 else None
return [e for _, e in enumerate([v, 1.0])], {k: e for k, e in zip("ab", (v, 1.0))}

v = x if n > 1 else None
p = Point(x, 2.0)
setattr(p, "y", v)
return p.y, dict(a=v), dict.fromkeys("ab", v), [v].count(None)

v = x if n > 1 else None
try:
    return sum([v, 1.0]), max(v, 1.0), min(e for e in (v, 1.0))
except TypeError:
    return 0.5

d = {"a": x}
if n > 1:
    d["b"] = 2.0
found = [d.get(k) for k in "ab"]
return sum(e for e in found if e is not None), found
"""
LIKE |= {f"x=0.7, n={n},": OPTIONAL for n in (1, 3)}
# Variables that inner functions bind, in loops.
REBOUND = r"""
v, s = [x, 2.0], 1.5
def step():
    nonlocal v
    v = [s, 3.0]
for _ in range(n):
    step()
return v

v = {"a": x}
def step():
    def inner(q):
        nonlocal v
        v = {"a": v["a"] * q}
    for k in range(n):
        inner(k + 2.0)
step()
return v

p = Point(x, 1.0)
def step():
    nonlocal p
    p = Point(p.y, p.x + 1.0)
k = 0
while k < n:
    step()
    k += 1
return p.x, p.y

p, q = Point(x, 1.0), Point(2.0, x)
def step(d):
    nonlocal p, q
    p = Point(p.x + d, p.y)
    q = Point(p.y, q.x)
for k in range(n):
    step(k * 0.5)
    if p.x > 3.0:
        break
return p.x, p.y, q.x, q.y

p = Point(x, "b")
def step():
    nonlocal p
    p = Point(p.x + 1.0, "b")
    p.y = p.y + "a"
for k in range(n):
    if x > 3.0:
        break
    step()
return p.x

u, w = (x, 1.0), None
def step():
    nonlocal u, w
    u, w = None, (x if w is None else None)
for k in range(n):
    step()
return u, w
"""
# Names that `continue` may skip the first assignment of.
SKIPPED = r"""
for k in range(3):
    if x > 2.0:
        continue
    v = x * 3.0
    x += 1.0
return x, v

for k in range(n):
    if x > 2.0:
        continue
    v = Point(x, 1.0)
    w = [x]
    x += 1.0
return x, v.x, w

for k in ("a", "b", "c"):
    if x > 2.0:
        continue
    else:
        v = x * 3.0
        x += 1.0
        continue
return x, v

k = 0
while k < n:
    k += 1
    if x > 2.0 and k == 2:
        continue
    v = x * np.ones(2)
    x += 1.0
return x, v

for k, f in enumerate([1.0, 0.5, 2.0]):
    if x > 2.0:
        continue
    v = x * f
    x += f
    if k == n:
        break
return x, v
"""
LIKE |= {f"x={x}, n={n},": SKIPPED for x in (0.25, 1.75, 2.25) for n in (0, 2, 3)}
LIKE |= {f"x=0.8, n={n},": REBOUND for n in (0, 1, 3)}
