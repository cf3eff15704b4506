"""Functions: arguments, closures, recursion, decorators, derivatives inside of code."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
class Symbol:
    pass
def is_symbolic(v, deep=True):
    kind = type(v)
    if kind is Symbol:
        return True
    if deep:
        if issubclass(kind, (list, tuple)):
            for part in v:
                if is_symbolic(part):
                    return True
            return False
        if issubclass(kind, dict):
            for pair in v.items():
                if is_symbolic(pair):
                    return True
    return False
def double(v):
    if is_symbolic(v):
        return no_such_function(v)
    return 2 * np.sum(v)
found = [double(x), double([x, X[0]]), is_symbolic([[x, X], {"a": Symbol()}])]
try:
    found.append(1.0 if issubclass(x, float) else 2.0)
except TypeError as error:
    found.append(str(error))
return found, issubclass(bool, int), issubclass(type(found), typing.Sequence)

names = typing.cast(typing.Sequence[float], [x, x])
kinds = typing.cast(typing.Dict[str, typing.Tuple[int, ...]], {"a": x})
f = typing.cast(typing.Callable[[float], float], lambda v: 2 * v)
if isinstance(x, typing.Optional[float]):
    x = f(x) * kinds["a"]
return x * len(names)

def f(u, v, *rest, w, **more):
    return u * v * w
g = lambda a, b: a * b
taken = inspect.signature(f).parameters
return f(x, x, w=len(taken)), len(inspect.signature(g).parameters), "w" in taken

return [2 * x if type(x) in kinds else x for kinds in (KINDS, {int, str}, set())]

spare, old = np.random.default_rng(), np.random.RandomState(None)
if x > 2.0:
    x += spare.normal() + np.random.SeedSequence().entropy
seeds = np.random.SeedSequence(7)
bits = np.random.PCG64(seeds)
one, other = np.random.Generator(bits), np.random.default_rng(bits)
y = np.random.default_rng(seeds).random()
return x * one.normal(), other.random(), one.normal(), seeds.entropy, y

lib = importlib.import_module("numpy")
return getattr(importlib.import_module(".path", package="os"), "sep"), lib.sin(x)

try:
    lib = importlib.import_module("no_such_module")
except ImportError:
    lib = importlib.import_module(name="math")
return lib.sin(x)

def grow(node, level):
    node['sum'] = node['v'] + sum(grow(child, level + 1) for child in node['kids'])
    node['seen'].append(level * x)
    return node['sum']
def node(v, *kids):
    return {'v': v, 'kids': list(kids), 'seen': []}
tree = node(x, node(2 * x, node(3 * x), node(5 * x)), node(7 * x))
total = grow(tree, 0) + grow(tree['kids'][0], 5)
return total, tree

def noisy(x, rng=None):
    return x + rng.normal() if x > 1.0 else x
return noisy(x)

def step(x, callback):
    if x < 1.0:
        callback(x)
    return 2.0 * x
return step(x, None)

v, back = adc.vjp(lambda z: (z * z).real * x, x + 1j)
return v, back(1.0)

y = (z := x * 2.0)
return y + z

w = x
def g():
    nonlocal w
    w = x * 3.0
    return w
y = g()
return y + w

return SECOND((2.0, x))

return functools.lru_cache()(lambda v: v * x)(2.0)

return functools.cache(lambda v: v * x)(2.0)

return functools.wraps(math.sin)(lambda v: v * x)(2.0)

def g(v):
    return v * g.k
g.k = 3.0
return g(x)

return adc.value_and_grad(lambda v: (v ** 3, v), has_aux=True)(x)[0][1]

return adc.linearize(lambda v: v ** 3, x)[1](1.0)

return adc.grad(lambda v, k=2.0: v * k)(v=x)

def make(b):
    def f(v):
        return v * b
    def g(v):
        return f(v) + 1.0
    return f, g
p = make(2.0)
q = p
return p[0] is p[0], p[1] is not p[1], p[0] is p[1], x, p is q

def make(a):
    def f(v):
        return v * a if v < 10.0 else g(v)
    def g(v):
        return f(v / 8.0)
    return f, g
f, g = make(x)
f2, g2 = make(2.0)
return f(20.0) + g2(30.0), [f] is f
""",
    "x=X": r"""
penalty = lambda w: np.sum(w * w)
penalty.grad = lambda w: scale * w
scale = x[0]
for _ in range(2):
    x = x - 0.1 * penalty.grad(x)
return penalty(x), x

found = described(Ranked(x[0]), 2.0), described([1.5, Ranked(x[1])])
return found, described((x[2], 2.0), scale=3.0)

return described("a")

at = 0
words = "0 * ( 1 + 2 ) + 1".split()
def product():
    nonlocal at
    found = atom()
    while at < len(words) and words[at] == "*":
        at += 1
        found = found * atom()
    return found
def total():
    nonlocal at
    found = product()
    while at < len(words) and words[at] == "+":
        at += 1
        found = found + product()
    return found
def atom():
    nonlocal at
    word = words[at]
    at += 1
    if word == "(":
        found = total()
        at += 1
        return found
    return x[int(word)]
return total(), at

cache = {}
def power(n):
    if n in cache:
        return cache[n]
    cache[n] = 1.0 if n == 0 else x[0] * power(n - 1)
    return cache[n]
return power(3), len(cache)

def moves(n, a, b, c, pegs):
    if n == 0:
        return 0.0
    cost = moves(n - 1, a, c, b, pegs)
    disc = pegs[a].pop()
    pegs[c].append(disc)
    return cost + x[disc] + moves(n - 1, b, a, c, pegs)
pegs = {"a": [2, 1, 0], "b": [], "c": []}
return moves(3, "a", "b", "c", pegs), pegs

return mean(x), mean(x, axis=0)

n = 0.0
def seen(k):
    nonlocal n
    n = 7.0 * n + k
    return n
def f(a=seen(1.0), b=seen(2.0)):
    return a * b
return f() + x[0]

made = []
def note():
    made.append(1.0)
    return "m"
assert x[0] < 99.0, note()
return x[0] + len(made)

return adc.jacfwd(lambda v: v ** 3)(x)[0, 0]

return adc.vmap(lambda v: 'a')(x)

z, back = adc.vjp(lambda p: (p.a * p.a.conjugate()).real, Pair(x[0] + 1j, 3))
return back(1.0)[0].a.imag

def scaled(y, names, k):
    return y if k == 0 else scaled(y * len(names[k - 1]), names, k - 1)
return [scaled(x, ["a", "bb", "ccc"], n) for n in range(4)], scaled(x[0], ("ab",), 1)

return adc.jit(fn=thrice)(x), adc.checkpoint(fn=thrice)(x)
a = [1.0, 2.0, 3.0]
a[1:] = map(abs, [x[0], x[1]])
return sum(a)
""",
    "x=1.5, k=3": r"""
return rec3(x, k)[0]

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
""",
    "x=1.5, n=2": r"""
if n > 2:
    y = x
return (lambda: y * 2)()
""",
    "x=X, f=thrice": r"""
return EACH(x), EACH(2.0)

for v in x:
    if v < 0.0:
        f = TRIPLE
return f(x)
""",
}

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
LIKE |= {f"x=0.8, n={n}": REBOUND for n in (0, 1, 3)}
