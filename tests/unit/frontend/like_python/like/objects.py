"""Objects and their classes: attributes, operators, named tuples, dataclasses."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
Numbered.reset()
a, b = Numbered(x), NumberedToo(2 * x)
for k in range(2):
    if x > k:
        Numbered.scale = Numbered.scale * (x + Numbered(x).id)
while Numbered.count < 6:
    Numbered.last = Numbered(x * Numbered.count)
found = a.id, b.id, b.twice(), a.scale, Numbered.last.v, NumberedToo.count
Numbered.reset()
return found, hasattr(Numbered, "count")

Numbered.reset()
def product(n, v):
    Numbered.count += 1
    return v if n == 0 else product(n - 1, v * 1.5) * Numbered.count
found = product(3, x), Numbered.count
Numbered.reset()
return found

class Made:
    def __new__(cls, v):
        made = super().__new__(cls)
        made.twice = 2.0 * v
        return made
    def __init__(self, v):
        self.v = v + self.twice
class Positive:
    def __new__(cls, v):
        return object.__new__(cls) if v > 0.0 else None
    def __init__(self, v):
        self.v = v
found = []
for v in X:
    if v < 5.0:
        found.append(Made(v))
found[0].v += x
one, other = Positive(2.0), Positive(-2.0)
return sum(made.v * made.twice for made in found), one.v * x, other is None

class Model:
    def __init__(self):
        self.timer = Timer()
    def run(self, v):
        with self.timer.around("run") as depth:
            if v > 3.0:
                raise ValueError("too much")
            y = v * depth
        return y
model = Model()
timer = Timer()
with timer.around("all") as depth:
    y = model.run(x) + depth
return y, model.timer.depth, list(model.timer.seen), timer.seen["all"]

p, q = Plain(), Plain()
if x > 1.0:
    p.a = x
p.b = 1.0
p.a = p.b + x
for k in range(int(x) - 1):
    q.a = p.a
q.b = 2.0
for k in range(int(x)):
    q.a = x + k
    q.b = q.a * q.b
return p.a, p.b, q.a, q.b, hasattr(q, "a")

class Base:
    def __init__(self, x):
        following = getattr(super(), "__init__", None)
        self.x, self.level = x, 1.0 if following is None else 2.0
    def start(self):
        before = getattr(super(), "start", None)
        return self.x if before is None else before() + self.x
class Cooled:
    rate = 3.0
    def start(self):
        return self.level * self.x
class Both(Base, Cooled):
    @classmethod
    def known(cls):
        return hasattr(super(), "start"), hasattr(super(), "stop")
    def rates(self):
        return getattr(super(), "rate", 0.0) * self.x, getattr(super(), "limit", 7.0)
both = Both(x)
return both.start(), Base(x).start(), both.known(), both.rates()

found = [isinstance(v, SEQUENCES) for v in (x, [x], M, (1, 2), "ab", {1: x})]
numbers = [isinstance(v, typing.Sequence) for v in (x, [x])]
return found, numbers, isinstance(x, NUMBER), isinstance(int(x), NUMBER), isinstance([x], NUMBER)

k = operator.index(int(2 * x)) + operator.index(np.int64(3)) + operator.index(True)
return k * x, type(operator.index(np.int8(2))) is int

p = Plain()
if x > 1.0:
    p.a = x
p.b = 1.0
p.a = 3.0 * x
q = Plain()
for k in range(int(x)):
    q.a = k * x
    q.b = q.a + 1.0
q.a = 2.0
return p.a + p.b, q.a, q.b

class Dual:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def exp(self):
        return Dual(np.exp(self.a), np.exp(self.a) * self.b)
    def sin(self):
        return Dual(np.sin(self.a), np.cos(self.a) * self.b)
    def conjugate(self):
        return Dual(self.a, -self.b)
    def __abs__(self):
        return self.a
d = np.conj(np.exp(np.sin(Dual(x, 1.0))))
return d.a, d.b, np.abs(d)

kinds = {f.name: f.metadata.get("unit", "none") for f in dataclasses.fields(Measured)}
kept = [f.name for f in dataclasses.fields(Measured) if "unit" in f.metadata]
return kinds, kept, sum(getattr(Measured(x), name) for name in kept)

span, unit = Span(x), Unit(x)
for k in range(3):
    span = Span(span.stop - k, stop=span.length + x)
last = Span(x)._replace(stop=x)
return span.length, span, Span(x).stop, unit.length, unit, isinstance(unit, Span), last

net = Estimator(x, depth=3)
parameters = inspect.signature(Estimator).parameters
defaults = {k: p.default for k, p in parameters.items() if p.default is not inspect.Parameter.empty}
own = [name for name in dir(net) if name[0] != "_"]
bound = inspect.signature(net.__init__).parameters
return net.clone().get_params(), defaults["rate"] * x, list(parameters), own, list(bound)

# long
class Tensor:
    def __init__(self, data, needs=()):
        self.data, self.needs, self.grad = np.asarray(data), needs, 0.0
    def backward(self, grad):
        self.grad = self.grad + grad
        for tensor, part in self.needs:
            tensor.backward(part(grad))
def summed(b):
    def part(grad):
        for _ in range(grad.ndim - b.data.ndim):
            grad = grad.sum(axis=0)
        return grad
    return part
a, b = Tensor(x * M), Tensor(X[:2])
y = Tensor(a.data + b.data, [(a, lambda g: g), (b, summed(b))])
y.backward(2.0 * y.data)
return a.grad, b.grad

class Filter:
    def __init__(self, **kwargs):
        for name in kwargs:
            self.__setattr__(name, 2.0 * kwargs[name])
    def total(self):
        return sum(self.__getattribute__(name) for name in ["gain", "rate"])
f = Filter(gain=x, rate=3.0)
return f.total(), object.__getattribute__(f, "gain")

class Empty:
    pass
try:
    return Empty().__getattribute__("gain")
except AttributeError as error:
    return str(error)

def side(x, kind):
    kind = Kind(kind)
    return x if kind is Kind.B else 2.0 * x
return side(x, 1.0), side(x, 2), Kind(1.0).value, Kind(Kind.B) == Kind.B

try:
    return Kind(3.0).value
except ValueError as error:
    return str(error)

y = Point(x, 1.0)
return y.z if x > 2.0 else y.x

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

return [hasattr(v, name) for v in (x, 1, np.float64(x), [x], (x,), {'a': x}, 'a', None, np.ones(2))
        for name in ('__len__', '__iter__', 'shape', 'append', 'keys', 'real', '__call__', 'mro')]

return getattr(x, 'shape', ()), getattr(np.ones((2, 3)), 'ndim', 0), getattr(None, 'size', 1)

return [Times(x)] == [Times(2.0)], (Times(x), 1) != (Times(x), 1)

return copy.copy(Pair(x, 1.0)).a

return 2 * x if Comparable(x) < Greater(2.0) else x

return 2 * x if Pair(x, 1.0) < (1.5, 2.0) else x

return Properties(x).__class__.K * x

o = Described(x)
del o.d
return o.a + x

return Kind['A'].value * x

return len(Kind) * x

return copy.deepcopy(Pair(x, [2.0 * x])).b[0]

o = Operators(x)
del o[2]
return o.a + x

return PECULIAR.a * x
""",
    "x=2.0": r"""
circuit = Circuit().turn_x(x).turn_y(x).turn_y(angle=x, scale=3.0)
return circuit.gates, int("101", 2) * x, int("ff", 16), int("-0b11", 0)

wrapped = Wrapped(Wrapped(Point(x, 1.0)))
try:
    return wrapped.inner.nothing
except AttributeError:
    return wrapped.x * wrapped.scale + wrapped.y, wrapped.inner.times3, getattr(wrapped, "scale", 1)

net = Module(w=np.ones(2) * x, inner=Module(b=x))
net.inner.b += 1.0
net.inner.note = "n"
try:
    net.fixed = None
except AttributeError as error:
    net.why = str(error)
return net.w, net.inner.b, net.names, net.inner.names, net.why, hasattr(net, "fixed")

box = Rectangle(x, height=3.0)
try:
    return Rectangle(x, -1.0).area
except ValueError:
    return box.area, Rectangle(x).area, dataclasses.replace(box, width=1.0).area

twice = Doubling(x)
twice.b = twice.a
return twice.a, twice.b

row = Row([x, 2 * x, 3 * x])
part = slice(None, None, -1)
return row[1:][0], sum(row[:-1]), len(row[::2]), row.items[part], "abc"[part], (x, 1)[part], \
       sum(range(5)[slice(1, 3)]), row.items[slice(2)]

point = Point(x, 1.0)
names = [f.name for f in dataclasses.fields(point)]
for f in dataclasses.fields(Line):
    if f.default is not dataclasses.MISSING:
        names.append(f.name)
return [getattr(point, f.name) * x for f in dataclasses.fields(point)], names

names = [f.name for f in dataclasses.fields(Optional) if f.default is not dataclasses.MISSING]
held = Optional(x)
return names, [f.name for f in dataclasses.fields(held) if f.default is NOTHING], \
       held.c is NOTHING, x if held.c is dataclasses.MISSING else 2 * x

try:
    return dataclasses.fields(x)
except TypeError as error:
    return 2 * x, str(error)

found = None
names = []
for name, limit in zip(("low", "high"), (1.0, 3.0)):
    if x > limit:
        found = name
    names.append(found)
return " ".join(names[1:])

found = None
if x > 5.0:
    found = "high"
return " ".join([found, "x"])
""",
    "x=M": r"""
return operator.attrgetter('T')(x)
""",
    "x=X": r"""
damped = [Damped(v) for v in x]
rates = [each.change() for each in damped]
for each in damped:
    if each.x > 1.0:
        each.rate = 2 * each.rate
    rates.append(each.rate)
return rates, [each.change() * each.rate for each in damped], Damped.rate

row = Row(Point(a, k) for k, a in enumerate(x))
pairs = Row(Point(a, b) for a, b in zip(x, x[1:]))
triples = [Point(a, b) for a, b in zip(x[1:], range(3))]
return sum([p.x * p.y for p in row]), sum([p.x * p.y for p in pairs]), \
       sum([p.x * p.y for p in triples]), sum([p.x for p in Row(Point(a, 2) for a in reversed(x))])

both = Mode.HEAT | Mode.FAN
found = [1.0 if Mode.HEAT in both else 2.0, 1.0 if Mode.FAN in (both ^ Mode.FAN) else 2.0]
return found, both & Mode.FAN is Mode.FAN, 3.0 if both & Mode.HEAT else 4.0

mode = Mode.FAN
if x[0] > 0.0:
    mode = Mode.HEAT | Mode.FAN
return x[1] if Mode.HEAT in mode else x[2]

return 1.0 if Mode.HEAT & Mode.FAN else 2.0

# long
a, b, c = Ranked(x[0], 1, "b"), Ranked(x[1], 2), Ranked(x[0], 0, "c")
found = sorted([a, b, c]), max([a, b, c]), min(a, b)
return [each.name for each in [found[1], found[2]]], [each.k for each in found[0]]

# long
a, b = Ranked(x[0], 1, "b"), Ranked(1.5, 1)
return a < b, a <= b, a > b, a >= b, a == b, Ranked(x[0], 2) > a, sorted([a, b])[0].name

names = [Ranked(float(k % 2), k, "x") for k in range(4)]
names.sort(reverse=True)
return [each.k for each in names]

class Reader:
    def __init__(self, text, x):
        self.words, self.at, self.x = text.split(), 0, x
    def take(self):
        self.at += 1
        return self.words[self.at - 1]
    def value(self):
        word = self.take()
        if word == "(":
            left, op, right = self.value(), self.take(), self.value()
            self.take()
            return left + right if op == "+" else left * right
        return self.x[int(word)]
return Reader("( 0 * ( 1 + ( 2 * 2 ) ) )", x).value()

# long
class Clock:
    def __init__(self, x):
        self.now, self.made, self.waiting, self.heard, self.x = 0.0, 0, [], [], x
    def after(self, delay, what):
        self.made += 1
        heapq.heappush(self.waiting, (self.now + delay, self.made, what))
    def ring(self):
        self.heard.append(self.now)
        if self.made < len(self.x):
            v = self.x[self.made]
            self.after(v**2, self.beat if v > 0.0 else self.ring)
    def beat(self):
        self.heard.append(-self.now)
clock = Clock(x)
clock.after(1.0, clock.ring)
clock.after(0.5, clock.beat)
while clock.waiting:
    clock.now, _, what = heapq.heappop(clock.waiting)
    what()
return clock.heard, clock.made

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

p = Point(x, [x, {"a": (x, Point(x, 2.0))}])
d = dataclasses.asdict(p)
x[0] = 5.0
p.y[1]["a"][1].y = 3.0
return d["y"][1]["a"][1]["y"] * d["y"][0]
""",
    "x=1.5, n=3": r"""
class C:
    def __getitem__(self, k):
        return k.start * 2.0, k.stop
return C()[n:x]

class C:
    def __getitem__(self, k):
        return k[0].start * 2.0, k[1]
return C()[n:2, x]

p, state = Point(x, 1.0), {"x": x}
seen, states = [p], [state]
for k in range(n):
    p = Point(p.x + x, 1.0)
    seen.append(p)
    state = {"x": state["x"] * x}
    states += [state]
    seen[k].y += x
return p.y, [q.x for q in seen], [q.y for q in seen], states

line = Line(Point(x, 1.0), n)
best = line.start
for k in range(n):
    line.start = Point(line.start.x + x, 1.0)
    if x > k:
        best = line.start
return best.x

h = Line(Point(x, 1.0), Point(x, 2.0))
highest = h.start
for k in range(n):
    if h.end.x > 0.5:
        h.end = Point(h.end.x * 0.5, 0.0) if k % 2 else Point(0.6, x)
    h.start = Point(h.start.x - 0.25 * (k - 1), x * k)
    highest = h.start if h.start.x > highest.x else highest
return highest.x, highest.y, h.start.x, h.end.x

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

return rec5(Pair(x, 1.0), n).a

d = dataclasses.asdict(Point(x, [1.0, {"a": (Point(x, 2.0), n)}]))
return d["y"][1]["a"][0]["y"] * d["x"], d

return dataclasses.astuple(Point(x, [[1.0, Point(x, 3.0)]]))

return dataclasses.asdict(Point(x, {1: Point(x, 2.0), 2: n}))

points = [Point(x, 2.0)]
for i in range(n):
    points.append(Point(x, i))
return dataclasses.asdict(Point(x, points))

p = Point(x, None)
if n > 2:
    p.y = Point(x, 2.0)
return dataclasses.asdict(p)

class P(typing.NamedTuple):
    a: float
    b: float
    def __eq__(self, other):
        return self.a == other.a
return P(x, 1.0) == P(x, 2.0), P(x, 1.0) != P(x, 2.0)

class Indexed:
    def __index__(self):
        return 2
return float(Indexed()) * x, int(Indexed())
""",
    "x=1.5, k=3": r"""
return (Often(0, k) + Often(x, k) + Often(2, k)).value
""",
    "x=1.5, n=2": r"""
a, b = Line(Point(x, 1.0), n), Line(Point(2.0, 3.0), n)
for k in range(n):
    a.start = Point(a.start.x + x, 1.0)
    b.start = a.start
return b.start.x

y = Point(x, 1.0)
z = y
for k in range(n):
    y.x += 1.0
    x += z.x
    z = Point(x, x)
return x

y = Point(x, 1.0)
z = y
for k in range(n):
    z = Point(z.x + x, x)
z.x = 3.0
return y.x

def shifted(point):
    for k in range(n):
        point.x += 1.0
        point = Point(point.y, point.x)
    return point
y = Point(x, 1.0)
z = shifted(y)
return y.x

p = Scaled(x) if x > n else Cubed(x)
return p.value()

p = Scaled(x)
for _ in range(2):
    p = Cubed(3.0 * x)
return p.value()

a, b = Both(x, [n, x])
c, *d = Both(a * 2, b)
(e, _), f = Both(Both(x, n), x)
pairs = [u + v for u, v in [Both(x, 1.0), Both(2.0, x)]]
return a, b, c, d, e, f, pairs
""",
    "x=X, n=2": r"""
box = Plain()
box.total = {'s': 0}
for k, v in enumerate(x):
    box.total['s'] = box.total['s'] + v * x[::-1] + k
return box.total['s']

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
""",
    "x=X, m=5": r"""
class Never(typing.NamedTuple):
    a: float
    def __eq__(self, other):
        return False
class Always(typing.NamedTuple):
    a: float
    def __ne__(self, other):
        return False
return Never(x[0]) != Always(x[0]), Never(x[0]) != Always(x[1]), Always(x[0]) != Never(x[1])

class Halved(Point):
    @property
    def half(self):
        return self.x / 2.0
    @half.setter
    def half(self, value):
        self.x = 2.0 * value
points, k = [Point(x[0], 1.0), Halved(x[1], 2.0)], int(x[2]) % 2 + 1
points[k - 1].x = 0.5
points[1].half += points[k - 1].x
return points[0].x, points[1].x, points[-1].half, points[k - 2].y

points, k = [Point(x[0], 1.0), Point(x[1], 2.0)], int(x[2])
points[k - 2], points[k - 1] = points[k - 1], points[k - 2]
points[k - 1].x += 1.0
p = points.pop(k - 2)
points.append(p)
del points[k - 2]
return points[0].x, p.x, p is points[0], len(points)

points, n, last, best = [Point(x[0], 1.0), Point(x[1], 2.0)], int(x[2]), None, None
for k in range(n + 1):
    p = points[k % 2]
    if last is p or best is last:
        p.y += 10.0
    last = p if k < n else None
    if best is None or best.x < p.x:
        best = p
    p.x -= 2.0
return best is points[0], last is None, last is best, [p.x for p in points], [p.y for p in points]

points, k = [Point(x[0], 1.0), Point(x[1], 2.0)], int(x[2])
points[k] = points[0]

def leftmost(p, q):
    if p.x < q.x:
        return p
    return q
p, q, k = Point(x[0], 1.0), Point(x[1], 2.0), int(x[2]) % 2
leftmost(p, q).y += 1.0
s = (leftmost(p, q) is q) + 2.0 * (leftmost(p, q) == [p, q][k])
if isinstance(leftmost(p, q), Point) and leftmost(q, p) is not p:
    s += leftmost(p, q).x
r = p if x[1] > 0.0 else [q, p][k]
(q if x[1] > 0.0 else [q, p][k - 1]).x += 0.5
s += sum([v.x for v in [p, q] if v is not [p, q][k]])
return s, p.x, q.x, p.y, q.y, r.x, max([p, q], key=lambda v: v.x).y
""",
}
