"""Generators and iterators."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
def texts(d):
    for k in d:
        yield str(k).lower()
def all_texts(d):
    made = [str(k).lower() for k in d]
    yield from iter(made)
def named(d):
    str = float
    for k in texts(d):
        yield k + "!"
d = {"Aa": x, 3: 2.0}
return list(texts(d)), dict(zip(all_texts(d), d.values())), [k for k in named(d)]

d = {0: 5.0, 1: 7.0, 2: 9.0}
def double(v):
    for each in v:
        yield 2 * each
found = [], []
for v, k in zip(double([x, 2.0]), d):
    found[0].append(v * k)
for k, v in zip(d.values(), double([x, 2.0])):
    found[0].append(v * k)
for a, b in itertools.combinations(d, 2):
    found[1].append((a + 1) * b * x)
for a, b in itertools.product(d, [1.0, x]):
    found[1].append(a * b)
return found, sum(a * x for a in itertools.accumulate(d.values())), list(itertools.pairwise(d))

def double(v):
    for each in v:
        yield 2 * each
found = [v * w for v, w in zip(double([x, 2.0]), [3.0, 4.0], strict=True)]
for w, v in zip([3.0, 4.0], double([x, 2.0]), strict=True):
    found.append(v * w)
return found

def double(v):
    for each in v:
        yield 2 * each
total = 0.0
for v, w in zip(double([x, 2.0]), [3.0], strict=True):
    total += v * w
return total

def double(v):
    for each in v:
        yield 2 * each
total = 0.0
for v, w in zip([3.0, x, 1.0], double([x, 2.0]), strict=True):
    total += v * w
return total

return list(itertools.islice([1, 2, 3], x))

return list(itertools.islice([1, 2, 3], -1))

return list(itertools.islice([1, 2, 3], x, 2))

return list(itertools.islice([1, 2, 3], 0, None, 2.0))

s = [x, 2.0]
none = list(itertools.product()), list(itertools.product(*[s for _ in ()], repeat=2))
return none, [(*c, x) for pick in (itertools.combinations, itertools.permutations,
              itertools.combinations_with_replacement) for c in pick(s, 0)]

s = [x, 2.0, 3 * x]
return [sum(c) * len(c) for r in range(4) for c in itertools.combinations(s, r)]

def walk(node):
    for child in node['kids']:
        for each in walk(child):
            yield each
    yield node['v']
def walk_from(node):
    for child in node['kids']:
        yield from walk_from(child)
    yield node['v']
tree = {'v': x, 'kids': [
    {'v': 2 * x, 'kids': [{'v': 3 * x, 'kids': []}, {'v': 5 * x, 'kids': []}]},
    {'v': 7 * x, 'kids': []},
]}
return [v for v in walk(tree)], list(walk_from(tree))

def listed(v):
    try:
        iter(v)
    except TypeError:
        return [v]
    return list(v)
return listed(x), listed([x, 2.0]), listed(np.array([x, 1.0])), listed((1, 2))
""",
    "n=3, x=X": r"""
def powerset(items):
    return itertools.chain.from_iterable(
        itertools.combinations(items, r) for r in range(1, len(items) + 1)
    )
def best(pairs):
    return max(a * b for a, b in pairs)
return [sum(c) * len(c) for c in powerset([x[0], x[1], x[2]])], best(itertools.permutations(x, 2))

log = []
def inner(v):
    try:
        for a in v:
            if a > 100.0:
                raise ValueError("own")
            yield a
    finally:
        log.append(0.0)
def outer(v):
    try:
        yield from inner(v)
        yield 5.0
    finally:
        log.append(1.0)
def first(v):
    for a in outer(v):
        log.append(2.0)
        if a > 0.0:
            return a * len(log)
s = first(x)
for a in outer(x):
    s += a
    if s > 2.0:
        break
try:
    for a in outer(x * 200.0):
        log.append(3.0)
        if a > 0.0 and n > 5:
            raise KeyError("other")
except ValueError:
    log.append(4.0)
try:
    for a in inner(x):
        raise KeyError("other")
except KeyError:
    log.append(5.0)
return s, next(inner(x)), sum(outer(x)), log

def once():
    return map(lambda v: v * x[0], [1.0, 2.0])
found = once()
return sum(found) + sum(found)

def total(vs):
    return sum(vs) + sum(vs)
return total(map(lambda v: v * 2.0, x))

a = b = map(abs, x)
return sum(a) + sum(b)

a = {"k": x}
a["k"] = map(abs, x)
return sum(a["k"]) + sum(a["k"])

a = [x, x]
z = zip(*a)
u, v = next(z)
return u * v, list(z)

# long
def pairs(a, b):
    return zip(a, b)
def dot(it):
    return sum(a * b for a, b in it)
def some(it, count):
    return [v for _, v in zip(range(count), it)]
class Rows:
    def __init__(self, rows, name="rows"):
        self.rows, self.name = rows, name
rows = Rows(pairs(x, map(lambda v: v * v, x)))
a, b = next(rows.rows)
kept = filter(lambda v: v > 0.1, x)
first = some(kept, 1)
listed = Rows((2.0 * a, b) for a, b in zip(x, x[1:]))
return a, b, dot(rows.rows), list(rows.rows), first, list(kept), dot(listed.rows), dot(enumerate(x))

z = enumerate(zip(x, [1.0, 2.0, 3.0]), start=2)
s = 0.0
for k, (a, b) in z:
    s += k * a * b
    if s > 0.5:
        break
rest = list(z)
return s, rest, next(z, "ended")

# long
def chosen(v):
    for k, (a, b) in enumerate(zip(v, [1.0, 2.0, 3.0]), start=2):
        if a > 0.1:
            yield k * a + b
    yield from np.sin(v)
g = chosen(x)
return next(g), list(g)

# long
def squares(v):
    for a in v:
        yield a * a
z = zip(squares(x), squares(x[::-1]), itertools.count(3))
a, b, k = next(z)
m = map(lambda a, b: a - b, x, x[1:])
return a * b * k, [c * d * k for c, d, k in z], next(m), sum(m)

def mean():
    total = mean = 0.0
    count = 0
    while True:
        v = yield mean
        total, count = total + v, count + 1
        mean = total / count
m = mean()
next(m)
return [m.send(v) for v in x], m.send(x[0] * n)

def fibonacci(a, b):
    while True:
        yield a
        a, b = b, a + b
g = fibonacci(x[0], x[1])
return [next(g) for _ in range(n)], sum(itertools.islice(g, 2)), next(g)

# long
def some(v):
    for a in v:
        for k in range(n):
            if k * a > 1.5:
                break
            yield a * k
        else:
            yield 10.0 * a
            continue
        if a > 1.7:
            return
        yield a - 100.0
    else:
        yield 5.0
g = some(x)
first = next(g)
for v in g:
    first = first * 1.1 + v
    if v > 5.0:
        break
return first, list(g), next(g, -1.0), list(some(x))

# long
def above(v, least):
    for a in v:
        if a > least:
            yield a
class Source:
    def __init__(self, it):
        self.it = it
    def take(self, count):
        return [a for _, a in zip(range(count), self.it)]
source = Source(above(x, 0.1))
same = source.it
return source.take(1), next(same, 0.0), source.take(1), source.it is same

# long
def parts(v):
    yield from v
    yield from (v[0] * k for k in range(n))
    it = iter(v)
    while True:
        try:
            a = next(it)
        except StopIteration:
            return
        yield a + 1.0
g = parts(x)
h = g
g, s = iter(g), next(g)
for k, v in enumerate(h):
    s += k * v
    if k > 2:
        break
g.close() if n > 5 else None
return s, [a * b for a, b in zip(g, h)]

def closed(v):
    for a in v:
        yield a
g = closed(x)
a = next(g)
g.close()
return a, next(g, 0.0), list(g)

def early(v):
    it = iter(v)
    while True:
        yield next(it)
s = 0.0
for v in early(x):
    s += v
return s

def early(v):
    it = iter(v)
    while True:
        yield next(it) * 2.0
g = early(x)
s = next(g)
for v in g:
    s += v
return s

def begun():
    v = yield x[0]
    yield v
g = begun()
return g.send(2.0)

def unset(v):
    for a in v:
        if a > 100.0:
            y = a
        yield a
        yield y
g = unset(x)
return next(g) + next(g)

q = [x[0], x[1]]
it = iter(q)
s = sum(it)
q.append(100.0)
return s, s + sum(it)

def given():
    a = yield x[0]
    b = yield x[1] if a is None else a
    return b
return list(given())
""",
    "x=X": r"""
if len(x) > 5:
    x = [x]
return [sum(x[1:]) + x[0] for x in (x, 2.0 * x)], sum(x**2 for x in x), [x for x in x if x > 0.0]

x = np.outer(x, x)
return {i: sum(x) for i, x in enumerate(x)}, [x * k for x in x for k, x in enumerate(x)]

def above(v, least):
    for each in v:
        if each > least:
            yield each * least
def total(it, scale=1.0):
    return sum([each * scale for each in it])
g = above(x, 0.1)
some = itertools.islice(above(x, 0.1), 1)
return total(g, 2.0), total(g), list(g), total(above(x, 1.0)), total(some)

class Steps:
    def __init__(self, it):
        self.it, self.ids = it, itertools.count(3)
    def all(self):
        return [v + next(self.ids) for v in self.it]
k = 2.0
one, other = Steps(v * k for v in x), Steps(u * v for u in x for v in x if v > 0.0)
k = 3.0
return one.all(), one.all(), other.all()

def scaled(v, k):
    return (each * k for each in v)
def parts():
    yield x[0]
    yield from scaled(x, 2.0)
first, *others = parts()
return first, others, max(scaled(x, 3.0)), sum(parts())

g = h = (v * v for v in x)
return sum(g), sum(h), (lambda: sum(g))()

turns = itertools.cycle(("a", "b", "c"))
evens = itertools.count(0, 2)
return [next(turns) for _ in range(4)], next(evens), next(evens)

q = [x[0], x[1]]
pairs = itertools.combinations(q, 2)
q.append(x[2])
return [a * b for a, b in pairs]

y = x.copy()
pairs = itertools.permutations(y, 2)
y[0] = 5.0
return [a * b for a, b in pairs]

def left(v):
    for each in v:
        yield each
g = left(x)
return [sum(g) for _ in range(2)]

# long
a, b = zip(*sorted(zip(x, 2 * x[::-1])))
c = sorted(zip(x, x), reverse=True)
return a[0] * b[1], c[0][1], sorted(reversed(x))[0], sorted(enumerate(x))[1][1]

n = 0.0
def seen(k):
    nonlocal n
    n = 7.0 * n + k
    return n
return sum(seen(1.0) + v for v in (seen(2.0) * w for w in [x[0], x[1]]))

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

# long
pairs = [("a", x[0]), ("a", x[1]), ("b", x[2]), ("a", 4.0)]
found = {}
for letter, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
    found[letter] = [value for _, value in group]
runs = [(sign, len(list(group))) for sign, group in itertools.groupby(v > 0 for v in x)]
first = [next(group) for _, group in itertools.groupby(x, lambda v: v > 0)]
return found, runs, first, [k for k, _ in itertools.groupby([])]

pairs = [("a", x[0]), ("a", x[1]), ("b", x[2])]
late = list(itertools.groupby(pairs, operator.itemgetter(0)))
s = 0.0
for _, group in itertools.groupby(pairs, operator.itemgetter(0)):
    s += next(group)[1]
return s, [len(list(group)) for _, group in late], list(group)

s = 0.0
for a in itertools.chain.from_iterable([x, x]):
    s += a
return s

s = 0.0
for a in itertools.chain(*[x, x]):
    s += a
return s

return functools.reduce(lambda a, b: a * b - a, (v + 1.0 for v in (x[0], x[1], x[2])))

n = len(x)
states = list(itertools.product([-1.0, 1.0], repeat=n))
return sum(s[0] * x[1] for s in states) + len((1.0,) * n), "ab" * n

return sum(x.flat) + sum(list(x.flat)) + sum([v for v in x.flat]) + max(x.flat)
""",
    "x=1.5, n=3": r"""
return sum(a * b for a, b in itertools.combinations([x, 2.0, 3.0], 2))

return sum(a * b for a, b in itertools.product([x, 2.0], repeat=2))

s = 0.0
for a, b in itertools.permutations([x, 2.0, 3.0], 2):
    s += a * b * b
return s

s = [x, 2.0]
t = 0.0
for k, v in enumerate(s):
    if k < 2:
        s.append(v * 2.0)
    t += v
return t, s

s, r = [x, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]
t = 0.0
for v, w in zip(s, r):
    if w < 3.0:
        s.append(v * w)
    t += v
return t, s

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
""",
    "x=1.5, k=3": r"""
return [sum([v * i for i in range(k)]) for v in (x, 2)]
""",
    "x=X, n=3": r"""
k = iter(x)
a = next(k)
return a, next(k), next(k, 5.0), next(k, 7.0)

s = [v for v in x]
t = 0.0
for k, v in enumerate(reversed(s)):
    t += k * v
return t

return sorted(zip(x, x[::-1])), list(zip(range(n), x))
""",
}
