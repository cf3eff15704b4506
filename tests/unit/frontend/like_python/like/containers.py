"""Lists, tuples, dicts, sets, deques, heaps: their methods, order, copies."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
rows, k = [[0.0, x], [1.0, x * x], [2.0, x**3]], int(2 * x)
point = [0.0 for _ in range(2)]
same = point
for i in range(2):
    point[:] = [a + b * k for a, b in zip(point, rows[k + i - 3])]
part = [x, 2.0, 3.0]
part[1:2] = X
part[:] = range(3)
part[1:1] = np.array([x, 2.0 * x])
return point, same is point, len(same), part

d = {"a": x, "c": 1.0}
e = d
d |= {"b": 2.0 * x, "a": 4.0}
f = {"z": 0.5} | d | {"c": 3.0}
return sum(k * v for k, v in enumerate(f.values())) + len(e)

return max([x, 2.0], default=3.0)

return dict({'a': x}, b=2.0)['b'] * x

return dict([('a', x)])['a']

d = collections.OrderedDict.fromkeys(["b", "a", "b"], x)
return [*d], d["a"], list(collections.OrderedDict.fromkeys(n for n in "abca"))

return type({'a': x}) is dict

return all((x, 1))

return heapq.heappush([x], 2.0)

return (2 * [x])[1]

d = collections.deque([])
return d.popleft() * x

d = collections.deque([x, 2.0], maxlen=2)
e = d.copy()
e.append(3 * x)
return e[1] + d[0]

return (1.0, x, 3.0).index(3.0) * x

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

return 2 * x if collections.deque([x]) == [x] else x

return 2 * x if [x] == (1.5,) else x

a = [x]
b = copy.deepcopy([a, a])
b[0][0] = 2 * x
return b[1][0]

a = {'a': x, 'b': 1.0}
del a['c']
return x + len(a)

a = [x]
a += X
return a[2] * x

return collections.deque([x], maxlen=3).maxlen * x

v = {1: x}.items()
w = v
r = range(2)
return v is w, x, r is not r, v is r, (r,) is r
""",
    "x=X": r"""
d = {"b": x[0], "a": x[1], "c": x[0], "e": x[2]}
return sorted(d.items(), key=lambda item: (-item[1], item[0]))

rows = [{"n": "z", "v": x[0]}, {"n": "y", "v": x[1]}, {"n": "x", "v": x[1]}]
rows.sort(key=lambda row: (row["v"], row["n"]))
return [row["n"] for row in rows]

d = collections.OrderedDict(a=x[0], b=x[1])
d["c"] = x[2]
e = d.copy()
e.update(b=1.0)
return list(d.items()), list(e.values()), isinstance(d, dict), type(d).__name__, len(d)

d = collections.OrderedDict([("a", x[0]), ("b", x[1])])
return [v for v in d.values()], d.pop("a"), "a" in d

q, k = [], itertools.count()
for v in x:
    heapq.heappush(q, (v * v, next(k), Kind.B if v > 1.0 else Kind.Base))
found = []
while q:
    v, n, kind = heapq.heappop(q)
    found.append(v * n if kind is Kind.B else v)
return found

q = []
for k in range(len(x)):
    heapq.heappush(q, (k // 2, Kind.B if x[k] > 1.0 else Kind.Base))
return q[0][0]

q = []
for k in range(len(x)):
    heapq.heappush(q, (k // 2, "b" if x[k] > 1.0 else "a", k))
return [heapq.heappop(q)[2] for _ in range(3)]

a, b, c = Data(x[0], [1.0]), Plain(), Plain()
b.v, c.v = x[1], x[2]
held = {b, c, b}
seen = set()
for p in (b, c, b):
    if p not in seen:
        seen.add(p)
held.discard(b)
held.discard(b)
both = {c} | {b}
found = len(held), c in held, b in held, len(seen), len(both)
return found, sorted([p.v for p in both]), bool(set(held))

a, b = Plain(), Plain()
a.v, b.v = x[0], x[1]
held = set([a])
held.update([b, a])
held.remove(a)
(last,) = held
return last.v, last is b


a = [x[0], x[1]]
b = a
b *= 2
c = [a, [x[2]]]
c[0] *= 2
return sum(a) + len(b) + len(c[0])

d = collections.deque(x)
return d[1]

d = {"b": x[0], "a": x[1:], "c": [x[2]]}
found = [(k, name, v) for k, (name, v) in enumerate(sorted(d.items()))]
windows = {(4, 8): x[0], (1, 2): x[1]}
last = max(("b", x[0]), ("a", x[1])), min([("b", 1, x[0]), ("b", 0, x[1])])
return found, sorted(windows.items(), reverse=True), sorted([("b", x[0])]), last

mixed = sorted([("b", 1, x[0]), ("b", 0, x[1]), ("c", x[2], 1)])
ones = sorted([(1, x[0]), (0, x[1]), (1, x[2])])
return mixed, ones, "a" < "b", "b" >= "ba", (x[0], "a") < (1.5, "b")

# long
a, b, c = x[0], x[1], x[2]
ties = [(a, 2), (a, 1), (b, 0), (b, -1)]
return min(ties), max(ties), sorted(ties), sorted(ties, reverse=True), min((a, b), (a, c), (b, c))

# long
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
""",
    "x=1.5, n=3": r"""
d = {(i, i + 1): x * i for i in range(n)}
return d[n - 1, n], d[(n, n + 1)]

d = {(i, i + 1): x * i for i in range(n)}
return d[n - 1, n] + d[1, 2]

f = {"a": x}
f["b"] = f.pop("a")
return f, f.get("a", 2.0)

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

y = [x]
z = y
for k in range(n):
    z = [z[0] + x]
return y[0], z[0]

y = (x,)
if x > 0.0:
    y = (x, x)
return y[0], len(y)

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

parts = sorted([(x, 'b'), (0.5, 'a'), (x, 'a')], key=lambda part: part[0], reverse=n > 2)
best = max([('a', x), ('b', 2.0 * x), ('c', x)], key=lambda part: part[1])
return [name for _, name in parts], best, parts[0][1] == 'b'

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

a = [x, 1.0, 2.0, 3.0]
a[n:] = [x * 2]
return a[-n:], 'abcdef'[n:][0]

a = [0]
for i in range(n):
    for v in (x, x * 2):
        for j in range(i):
            a[-1] = v * j
        a.append(v)
return a[0] + a[-2]

a = []
for i in range(n):
    a.append(x - i)
return max(a, key=abs, default=7.0) * min(a[n:], key=abs, default=x)

return max((i * x for i in range(n) if i > 5), key=abs, default="a")
""",
    "x=1.5, n=0": r"""
return (1, 2.0)[n] * x
""",
    "x=1.5, n=2": r"""
d = {'a': x, 'b': 2.0}
return d['c'] if n else d['a']

d = {1: x, 3: 2.0}
return d[n]

d = {'a': x}
del d['q']
return x

a = []
for k in range(n):
    a.append(Pair(x * k, 1))
return a

a = [x, 1, 2.0]
a[n] = 3 * x
return a[0] + a[1] * a[2]
""",
    "x=X, n=2": r"""
large = [v for v in x if v > 0.5]
pairs = [(v, n) for v in large]
return large == sorted(large), large != [1.5, 2.0], [] == large, pairs == [(1.5, n), (2.0, n)], \
       large == [v + 1.0 for v in x], large == (1.5, 2.0)

large = [v for v in x if v > 0.5]
few = [1.0, 2.0, x[0]]
k = int(x[0])
for each in (large, few):
    each.insert(k, 5.0)
    each.insert(-k, 6.0)
    each.insert(100 * k, 7.0)
    each.insert(-100 * k, 8.0)
names = ["a", "b"]
names.insert(k, "c")
rows = [[x[0]], [x[1]]]
rows.insert(k, [0.5])
return large, few, names, rows

ordered, begun = [], [0.0]
for v in x:
    bisect.insort(begun, v)
for v in [v for v in x if v > -5.0]:
    bisect.insort_left(ordered, v)
    begun.insert(0, v)
return ordered, begun

large = [v for v in x if v > 0.1]
pairs = [(0.0, 1.0), *((v, 1.0 * k) for k, v in enumerate(large))]
newest = []
for v in x:
    newest = [v, *newest]
first, *others = [x[0], *large]
unpacked = [*[], n, *"ab"]
return [x[0], *large, *large, 1.0], [*x, *large], pairs, newest, first, sum(others, 0.0), unpacked

v = x if n > 2 else (x, x)
return v[1]

return x[::n], ('a', 'b', 'c', 'd')[n:], (0.0,) * n + (1.0,)

d = collections.deque([x[0]])
d.extend(x[k] * k for k in range(n))
return d[n], len(d)

a, b, c = [v * n for v in x]
return a * b + c

d = {}
for k in range(x.shape[0]):
    d[f'w{k}'] = x[k] * n
return sum(d.values()), len(d)

parts = []
for v, k in zip(x, [1.0, n]):
    parts.append({'v': v * k})
return parts[0]['v'] + parts[-1]['v'] + len(parts)

s, lists = 0.0, [0, 0]
for k in range(n):
    t = 1
    for v in x:
        t *= v + x
    s += t
    lists[1] += s * k
return s, lists

log = []
for k in range(n):
    log.append((x[k] * k, x * x[k], k))
a, b, c = zip(*log)
log[0] = (3.0, x, 5)
s = sum(p * q[1] for p, q in zip(reversed(a), b))
return s, max(a), np.array(b), sum(a[:-1]), sum(c), len(b)

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

# long
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

# long
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
""",
    "x=X, n=3": r"""
pairs = [(k, x[k]) for k in range(n)]
return [v for _, v in [p for p in pairs]], [v for _, v in sorted(pairs, key=lambda p: (p[1], p[0]))]

names, marks = ["a" for _ in range(n)], []
for k in range(n - 1):
    marks.append((None, "b", ()))
return names, marks, len(marks), [() for v in x if v > 0.0], {k: None for k in range(n)}

names = ["large" if v > 1.0 else "small" for v in x[:n]]
return names, [(name, v, None) for name, v in zip(names, x)], names[::-1]

pairs, firsts, s = [(k, x[k]) for k in range(n)], [], 0.0
for k, v in [pair for pair in pairs if pair[1] > 0.0]:
    firsts.append(k)
    s += v
return firsts, s

a, b = [x[0]], [x[1], 2.0]
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n, b

a, b = {'v': x[0]}, {'v': x[1]}
best = a if x[0] > x[1] else b
best['v'] *= 2.0
best['new'] = n
return a['v'], b['v'], best['v'], best['new'], best is a, 'new' in b

rows = [{'v': v, 'seen': []} for v in x]
best = None
for row in rows:
    if best is None or abs(row['v'] - 1.9) < abs(best['v'] - 1.9):
        best = row
    best['seen'].append(row['v'])
return best, rows

# long
rows = [{'v': v, 'seen': [v]} for v in x]
rows.sort(key=lambda row: -row['v'])
for k, row in enumerate(rows):
    row['seen'].append(2.0 * k)
return rows

# long
big, rest = [], {'few': []}
for k in range(n):
    if x[k] * k > 0.5:
        big.append({'v': x[k], 'k': k})
    else:
        rest['few'].append([x[k], k])
for each in big:
    each['v'] += 1.0
    each['w'] = 2 * each['k']
for each in rest['few']:
    each[0] += 1.0
return [each['v'] * each['w'] for each in big], [v * k for v, k in rest['few']]

# long
c = collections.Counter()
c.update(['a', 'b', 'a'])
c.update({'a': 2, 'z': 1})
c.update(q=n)
c.subtract('ab')
c.subtract({'q': 1})
d = collections.Counter({'a': x[0]}, b=n)
return dict(c), c.most_common(2), c.most_common(), c.total(), d['a'], d['b'], d['c']

a, b = collections.Counter('abac'), collections.Counter({'a': 1, 'z': 3})
b['q'] -= 2
c, d, e, f = a + b, a - b, a | b, a & b
g = a
g += b
h = collections.Counter('ab')
k = h
h -= collections.Counter('b')
return [list(each.items()) for each in (a, c, d, e, f, k)], g is a, k is h, e.total()

a, b = collections.Counter(u=x[0], v=x[1]), collections.Counter(v=x[2], w=-0.5)
return list((a + b).values()), list((a | b).values()), list((a & b).values())

d = {'a': x}
d.update([('b', 2 * x), ('c', 1.0)])
d.update(zip('ae', [x[0], n]), g=4)
return d

d = {}
for v in x:
    d[int(v)] = [v]
return len(d) * x[0], sum(k * each[0] for k, each in d.items())
""",
    "x=np.array([100, 90, 0], np.int8), n=3": r"""
# long
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

p = Point(x[0], 1.0)
return [p][m].x

p = Point(x[0], 1.0)
p.y, q = x[1], [p, p, p]
return q[-m].y

return x * len(["a"][m - 3])
""",
    "x=1.5, n=50": r"""
out = []
for i in range(n):
    out.append([x * i, 1.0 * i])
last, first = out.pop(), out.pop(0)
out.insert(0, [x, 3.0])
out[2], out[5] = out[5], out[2]
out[-1] = [2.0 * x, 4.0]
total = sum(q[1] for q in out[3:])
return last[0], first[1], len(out), out[2][0], out[-1][0], [3.0, 2.0] in out, total

d = collections.deque(maxlen=5)
for i in range(n):
    d.append([x * i, 1.0])
return sum(q[0] for q in d), sorted(d, key=lambda q: -q[0])[1][0]

out = []
for i in range(n):
    out.append([x * i, 1.0 * i])
return np.array(out).sum(), out[3][0]

p = [x, 1.0]
out = []
for i in range(n):
    out.append(p[:])
    p[0] += 0.5
return sum(q[0] for q in out)

out = []
try:
    for i in range(n):
        out.append({"x": x * i, "i": i})
        if i == 40:
            raise ValueError("stop")
except ValueError:
    out.append({"x": x, "i": -1})
return len(out), out[-1]["x"] + out[7]["x"], out[-1]["i"]

out = []
for i in range(n):
    p = [x * i, 1.0]
    out.append(p)
    p[0] += 0.1
return out[3][0]

out = []
for i in range(n):
    out.append([x * i, 1.0])
out[3][0] = 7.0
return out[3][0]

p = [x, 1.0]
out = [p]
for i in range(n):
    out.append([x * i, 1.0])
p[0] = 9.0
return out[0][0]

out = [[x, 1.0]]
other = list(out)
for i in range(n):
    out.append([x * i, 1.0])
other[0][0] = 9.0
return out[0][0]

out = []
for i in range(n):
    more = [[x * i, 1.0]]
    out += more
    more[0][0] += 0.1
return out[0][0]

out = []
for i in range(n):
    out.append([x * i, 1.0])
return x if out[0] is out[0] else 2 * x

out = []
for i in range(n):
    out.append([x * i, 1.0])
return out[4][0], len(out[-1])

def pairs(i):
    p = [x * i, 1.0]
    yield p
    p[0] += 1.0
    yield p
out = []
for i in range(n):
    for q in pairs(i):
        out.append(q)
return out[0][0]
""",
}

MAYBE_NONE = r"""
# long
came = {int(x[0]): None}
for v in x:
    k, n = int(v), int(3.0 * v + 2.0)
    if n not in came:
        came[n] = k if v > 0.0 else None
k, steps = int(x[0]), 0
while k is not None and steps < 5:
    k, steps = came.get(k), steps + 1
path = [(k, p) for k, p in came.items()]
return came, path, steps, [k for k, p in came.items() if p is None], came.get(99), came.pop(2, None)

values = []
for v in x:
    values.append(v if v > 0.0 else None)
    if v > 1.8:
        values.append(None)
last = values.pop()
kept = [v for v in values if v is not None]
if values[0] is None:
    values[0] = 7.0
return values, kept, last, sum(v for v in values if v is not None), values[-1], len(values)

best = {}
for v in x:
    k = int(abs(v))
    old = best.setdefault(k, None)
    if old is None or v > old:
        best[k] = v * 2.0
return best, [b for b in best.values()], best.get(5)

rows = []
for k, v in enumerate(x):
    rows.append((k, v if v > 0.0 else None, None))
rows.append((9, None, 1))
rows = [row for row in rows if row[0] != 0]
return rows, [a for k, a, b in rows if a is not None], rows[-1]
"""
LIKE["x=X"] += MAYBE_NONE
LIKE["x=X + 1.0"] = MAYBE_NONE
LIKE["x=X"] += r"""
xs = [v for v in x if v > 0.0]
ys = xs * 2
return ys, 3 * ys, xs * -1, xs * True, len(xs) * xs, [(v, 1) for v in xs] * 2

xs = [v for v in x if v > 0.0]
twice = [v * j for j in range(2) for v in xs]
pairs = [(j, u - v) for j in (1, 2) for u, v in zip(xs, xs[1:])]
places = [k for j in (1, 2) for k, v in enumerate(xs)]
return twice, pairs, places, sum(v * j for j in (1, 2) for v in reversed(xs))

xs = [v for v in x if v > 0.0]
u, w = xs
[first, last] = sorted(xs)
(a, b), c = [(v, 1) for v in xs][0], 2
return u * w, first - last, a, b

xs = [v for v in x if v > 0.0]
u, v, w = xs
return u

u, v = [v for v in x if v > 9.0]
return u

xs = [v for v in x if v > 0.0]
ys, zs = [v for v in x if v < 9.0], list(xs)
if xs < ys or not xs > ys or xs <= ys or not xs >= ys or xs < zs or not xs <= zs or xs < []:
    return "wrong"
return bool(xs > [1.0]), bool([1.0, 2.0] < xs), xs[:1] < xs, xs <= xs[:1], xs[:1] >= xs, xs > xs[:1]

row, other, last = [x[0]], [1.0], [x[1], 2.0]
for v in [v for v in x if v > 0.0]:
    row = []
    other = [v, 2.0 * v]
    last = last + [v] if v > 1.6 else [v, v, last[0]]
return row, other, last

rows, row = [[0.5]], [x[0]]
for v in [v for v in x if v > -9.0]:
    kept = row
    row = [v, 2.0 * v, row[0]]
    kept[0] = 4.0 * v
    if len(kept) > 1:
        row = []
        break
return row, x[0]

# long
r = [v for v in x if v > -9.0]
r.extend(r)
r += r
r[1:2] = [5.0, x[0], x[1]]
r[:1] = []
r[-2:] = r[:3]
r[2:1] = [7.0]
r[1:-1] = (2.0, x[2])
r[len(r):] = x[:2]
r[99:] = [1.0]
r[-99:1] = [x[1], 4.0]
del r[1:3]
del r[:-5], r[9:]
return r

r = [v for v in x if v > -9.0]
s = r
r[:] = [v * 2.0 for v in r if v > 0.0]
return r, s, s is r

a = [x[0], 2.0]
def more():
    a.append(x[1])
    return 0
a[more()] = 3.0 * x[2]
a[: more() + 1] = [4.0, x[1]]
a[more()] += x[2]
b, c = a[more() - 1], a[more() + 7]
d = a[more():][-3:]
del a[more()], a[: more() + 1]
return a, b, c, d, a.pop(more() - 1), len(a)

a = [v for v in x if v > -9.0]
def more():
    a.append(x[1])
    return 1
a[more() - 2] = 11.0
a[more():3] = [4.0]
b, c, d = a[more():], a[more() - 2], a[more() + 7]
a[more() - 2] += x[0]
del a[more()], a[more() - 2:]
return a, b, c, d, a.pop(more() - 2)
"""
