"""Loops: how they are left, and what differs from one iteration to the next."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
s = 0.0
for i in range(4):
    for j in range(2):
        s += x
    else:
        if i == 1:
            break
return s

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
""",
    "x=1.5, n=3": r"""
def total(*values):
    return sum(values) * len(values)
values, power = [x, 2.0], [1.0, x]
while n > 0:
    values = values + [total(*values)]
    power = [a * b for a in power for b in power]
    n = n // 2
return values, total(*power)

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

# long
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

for k in range(n - 3):
    y = [x]
return y

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
    "x=1.5, n=2": r"""
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
""",
    "x=1.5, n=1": r"""
for k in range(n):
    if k == 1:
        del x
return 1.0
""",
    "x=X, n=2": r"""
weights = {('i', 'h'): x[0], ('j', 'h'): x[1], ('h', 'o'): x[2], ('i', 'o'): 2.0}
behind, count = collections.defaultdict(list), collections.Counter()
for a, b in weights:
    behind[a].append(b)
    count[b] += 1
queue, order = collections.deque(['i', 'j']), []
while queue:
    node = queue.popleft()
    order.append(node)
    for other in behind[node]:
        count[other] -= 1
        if count[other] == 0:
            queue.append(other)
value = {'i': x[0], 'j': x[2]}
for node in order:
    if node not in value:
        kind = Kind.B if node == 'h' else Kind.Base
        value[node] = kind(sum(w * value[a] for (a, b), w in weights.items() if b == node))
return order, value

levels, s = [0.5] * 20 + [2.5] * 15, x[0]
for k, level in enumerate(levels, start=1):
    s = 0.9 * s + level if s < k else s - np.float32(level)
return s, level, k

# long
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
""",
    "x=0.7,": r"""
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
""",
    "x=X.copy(), n=3": r"""
a, b, i = x, x * 2.0, 0
while i < len(x):
    i += 1
    for v in x:
        a, b = b, a
        d = {"pair": [b, b], "one": a}
return d["one"], d["pair"]

i = 0
while i < n:
    i += 1
    d = {"list": [x[0], {"i": i}], "x": x * i}
return d["x"], d["list"][0], d["list"][1]["i"]

a, b, i = x, x * 2.0, 0
while i < n:
    i += 1
    for v in (1, 2, 3):
        a, b = b, a
        p = types.SimpleNamespace(u=a)
        q = [types.SimpleNamespace(u=b), a]
return p.u, q[0].u, q[1]

a, b, i = x, x * 2.0, 0
while i < n:
    i += 1
    a, b = b, a
    d = [a, [b]]
    d[1][0] = d[1][0] + 1.0
return d
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
