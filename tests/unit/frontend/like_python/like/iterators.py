"""Generators and iterators."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
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
    "x=X": r"""
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
