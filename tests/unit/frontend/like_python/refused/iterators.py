"""Generators and iterators."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return np.fromiter((v for v in X), X)
# ADC014: an array (f64[:]) is not a dtype

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

return sum((v for _, v in enumerate()))
# ADC010: this call of `enumerate` is not supported

g = [(v * v for v in (x, 2.0))]
return sum(g[0])
# ADC010: storing a generator is not supported

class Sequence:
    def __iter__(self):
        return self.made()
    def made(self):
        return iter([1.0, 2.0])
return sum(a for a in Sequence()) * x
# ADC010: this result of `__iter__` is not supported

fs = [map, filter]
return sum(fs[0](abs, [x]))
# ADC010: `fs[0]` here is not supported

return sum(map(abs)) * x
# ADC014: map() takes a function and at least one iterable

def drawn():
    nonlocal x
    yield x
    x = 2.0
return sum(drawn())
# ADC033: `nonlocal` or `global` in a generator is not supported
""",
    "x=X": r"""
def each(v):
    yield from v
return functools.reduce(max, each(x))
# ADC033: a generator as an argument of this function is not supported

def each(v):
    yield from v
return np.array(each(x))
# ADC033: a generator as an argument of this function is not supported

q = [v for v in x]
for a, b in itertools.combinations(q, 2):
    q[0] = a * b
return q[0]
# ADC010: a loop that changes what `itertools.combinations` goes over is not supported

q = [x[0], x[1]]
for a, b in itertools.pairwise(q):
    if len(q) < 4:
        q.append(a * b)
return q[-1]
# ADC010: a loop that changes what `itertools.pairwise` goes over is not supported

q = [x[0], x[1]]
turns = itertools.cycle(q)
return next(turns) + next(turns)
# ADC010: `itertools.cycle` of a list here is not supported

def each(v):
    try:
        yield from v
    finally:
        print("done")
g = each(x)
return next(g) + sum(g)
# ADC033: `yield` in `try` or `with`, in a generator that several places draw from, is not supported

def tree(n, v):
    if n > 0:
        yield from tree(n - 1, v)
        yield v[n]
g = tree(2, x)
return next(g) + sum(g)
# ADC033: a recursive generator is not supported

def each(v):
    yield from v
g = each(x)
return next(g) + g.send(2.0)
# ADC033: `send` to a generator that yields from another one is not supported

def each(v):
    for a in v:
        print((yield a))
g = each(x)
return next(g) + next(g)
# ADC033: `yield` inside an expression is not supported

def each(v):
    for a in v:
        yield a
g = each(x)
return next(g) + g.throw(None)
# ADC010: `throw` of a generator is not supported

def each(v):
    yield from v
g = each(x) if x[0] > 0.0 else (v for v in x)
return sum(g) + sum(g)
# ADC010: storing a generator is not supported

if x[0] > 0.0:
    made = (v for v in x)
else:
    made = (2.0 * v for v in x)
return sum(made) + sum(made)
# ADC033: one of several generators is not supported

return iter([x[0], 1.0])
# ADC010: returning an iterator is not supported

s = 0.0
for f in ((lambda v: v * k) for k in range(3)):
    s += f(x[0])
return s
# ADC010: a generator of functions that read its variable is not supported

return sum((a * b for a, b in zip(x, x, foo=True)))
# ADC010: `zip` with keywords is not supported

pairs = zip(x, x[1:], **{'strict': False})
return sum(a * b for a, b in pairs)
# ADC010: storing the iterator of `zip` is not supported

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

a: object = filter(None, x)
return sum(a) + sum(a)
# ADC010: storing the iterator of `filter` is not supported
""",
    "x=1.5, n=2": r"""
u, v = Both(x, 2.0), Both(3.0, x)
s = 0.0
for a, b in zip(u, v):
    s += a * b
    u.second = 5.0
return s
# ADC010: a loop that changes what a generator reads from which it draws is not supported
""",
    "x=X, n=2": r"""
scale, t = 1.0, 0.0
for k, a in enumerate(filter(lambda v: v > 0.0, (v * scale for v in x))):
    scale = 3.0 * n
    t += a
return t
# ADC010: a loop that changes what a generator reads from which it draws is not supported
""",
}
