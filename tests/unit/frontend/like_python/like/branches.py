"""Branches: values of several kinds, `None`, names that may be unbound, `match`."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
if x > 2.0:
    x += x.normal()
return x

if x > 1.0:
    return x[2]
return x

if isinstance(x, float) and not hasattr(x, '__array__'):
    x = np.array([x, 2.0 * x])
return x * 2

match x:
    case [a, b]:
        return a
    case _:
        return 2 * x

match [x, 1.0, 2.0]:
    case [a, *b]:
        return a * len(b)

match None:
    case None:
        return x
    case _:
        return 2 * x

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

match [x]:
    case [a, b]:
        return a
    case {'a': 1}:
        return a
    case [a] as q:
        return a * len(q)

def kind(v):
    match v:
        case Scaled(a):
            return a
        case Line(start=Point(a, b), end=Point(x=c)) if a < b:
            return a + b * c
        case Line(start=Point() as p) | (Point() as p):
            return p
        case Often(times=3 | 4, value=a):
            return -a
        case Often(value, times):
            return value * times
        case bool():
            return 'bool'
        case int(n) | float(n) if n > 3:
            return n * 2.0
        case int():
            return 'int'
        case float(v) | complex(real=v):
            return v
        case str(text):
            return text + '!'
        case list([first, *rest]):
            return first, len(rest)
        case {'op': 'add', 'args': [a, b], **more}:
            return a + b, sorted(more)
        case dict(d):
            return len(d)
        case Properties():
            return 'p'
    return None
both = Line(Point(x, 2.0), Point(3.0, x)), Line(Point(2.0, x), Point(3.0, x))
values = [
    *both, Point(x, x), Scaled(x), Often(x, 3), Often(x, 2), True, 2, 5, x, 4.0 * x, 2j * x, 'a',
    [x, 1, 2], {'op': 'add', 'args': [x, 1.0], 'z': 1, 'a': 2}, {'op': 'mul'}, None, (x,), {1},
]
return [v if isinstance(v, str | tuple | int) or v is None else 1.0 * (
    v.x if isinstance(v, Point) else v.start.x if isinstance(v, Line) else v
) for v in map(kind, values)]

d = {'a': x}
if x > 1.0:
    d['b'] = 2.0 * x
match d:
    case {'b': v, **rest}:
        return v + rest['a'] * len(rest)
    case _:
        return d['a']

match collections.defaultdict(float, {'a': x}):
    case {'b': v}:
        return v
    case {'a': v}:
        return -v

match Kind.B:
    case Kind(value=v):
        return x * 2, v

a = None
if x > 2.0:
    a = x
b = a and 2.0 * x
return b is None, x
""",
    "x=X": r"""
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
""",
    "x=1.5, n=3": r"""
if x > 1.0:
    k = 'a'
else:
    k = [x]
for k in range(int(2.0 * x)):
    x += k
return k

what = 'u' if n > 5 else ('d', x)
match what:
    case 'u':
        return 1
    case (a, b):
        return a, b, isinstance(what, str), type(what) is tuple

dtype = np.float32 if x > 1.0 else np.float64
function = np.sin if n > 5 else abs
return np.ones(2, dtype=dtype), function(-x)

a = np.arange(3.0)
b = a if x > 5.0 else a.reshape(3, 1)
c = b * 2.0
return c, c.ndim, np.shape(b)
""",
    "x=1.0, n=1": r"""
return 2 * x if (None if n > 2 else x) == (None if n > 1 else x) else x
""",
    "x=1.0, n=3": r"""
return 2 * x if x == (None if n > 1 else x) else x
""",
    "x=1.5, n=2": r"""
p = np.array([x, 2.0])
if x > n:
    p = np.ones(2, np.float32)
return p[0]

p = np.array([x, 2.0])
if x > 2.0:
    p = np.ones(2, np.float32)
return p[0] * n

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
""",
    "x=X, n=2": r"""
match [v for v in x]:
    case [a, b, c]:
        return a + b * c
""",
}

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
LIKE |= {f"x=0.7, n={n}": OPTIONAL for n in (1, 3)}
# Values that are real or complex, as numbers decide, in statements of all kinds.
REAL_OR_COMPLEX = r"""
t = 0.0
for k in range(3):
    t += np.max(np.abs(np.linalg.eigvals(x * k)))
return t

t = np.zeros(2)
t[1] += np.sum(np.abs(np.linalg.eigvals(x)))
t[np.argmin(t)] += np.max(np.linalg.eigvals(x).real)
return t

assert np.max(np.abs(np.linalg.eigvals(x))) < 100.0, "large"
return np.sum(x)
"""
LIKE |= {
    f"x=np.array({rows})": REAL_OR_COMPLEX
    for rows in ("[[2.0, 1.0], [0.5, 3.0]]", "[[0.0, 1.0], [-1.0, 0.5]]")
}
# A use of one of several values in an arm of a conditional expression, which is refused for others.
ARMS = r"""
y = (x, 2.0 * x) if n > 2 else x
z = y[1] if isinstance(y, tuple) else y * y
return z, y[1] if n > 2 else y * y

y = (x, 2.0 * x) if n > 2 else x
w = y[1] if n > 2 and len(y) > 1 else y * y
return w + 3.0 * (y[0] if n > 2 else y)

y = (x, 2.0 * x) if n > 2 else x
out = [0.0, 0.0]
out[n % 2] += y[1] if n > 2 else y * y
out[0] += max(y) if n > 2 else y
a, b = (y[0], y[1]) if n > 2 else (y, 2 * y)
return out, a * b, {"a": y[0] if n > 2 else y}

y = {"w": x} if n > 2 else None
s = 0.0
for i in range(n):
    s = s + (y["w"] * i if n > 2 else 2.0)
return s + (y["w"] if n > 2 else 1.0)

y = (x, 2.0 * x) if n > 2 else x
found = [v * (y[0] if n > 2 else y) for v in (x, 3.0)]
return sum(found) + (y if not n > 2 else y[0] if n > 5 else y[1])
"""
LIKE |= {f"x=0.7, n={n}": ARMS for n in (1, 3, 7)}
