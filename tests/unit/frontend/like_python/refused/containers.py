"""Lists, tuples, dicts, sets, deques, heaps: their methods, order, copies."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
numbers = [x]
numbers[:] = 3.0
# ADC014: can only assign an iterable

return {1: x}.values() == {1: x}.values()
# ADC010: this comparison of what a dict has is not supported

a = [1, x]
return a["a"]
# ADC014: indexing a list with str 'a'

a = 1, x
return a[None]
# ADC014: indexing a tuple with None

x[0] = 3
return x
# ADC014: cannot assign to an element of a number (float)

return [1] @ [2]
# ADC014: `@` is not defined for a list and a list

return [1] < 1
# ADC014: comparison of a list with a number (int)

return {} | [1]
# ADC014: this operator on a dict and a list

return (1.0, x).nope(3)
# ADC014: a tuple of 2 has no attribute 'nope'

return (1.0, x)[x]
# ADC014: indexing a tuple with a number (float)

return (1.0, x).copy()
# ADC014: a tuple of 2 has no attribute 'copy'

d = collections.deque([x, 2.0, 3.0])
return d[0:2]
# ADC014: sequence index must be integer, not 'slice'

s = {1, 2}
s.update(a=1)
return x
# ADC014: set.update() takes no keyword arguments

return len(set(iterable=[1]))
# ADC010: `set` with these arguments is not supported

s = {1, 2}
s.remove(1, 2)
return x
# ADC014: set.remove() with 2 arguments

s = {1, 2}
s.add(1, 2)
return x
# ADC014: set.add() with 2 arguments

s = {1, 2}
return x if s < [1] else 2.0
# ADC014: comparison of a set with a list

return math.fsum(x)
# ADC014: cannot loop over a number (float)

return float(x * 1j)
# ADC014: a complex number where a float64 is needed

return max(Point(x, 1.0), Point(1.0, x))
# ADC014: comparison of a Point with a Point

a = [np.ones(2) for i in range(int(x) + 3)]
a[0][0] = x
return a[0]
# ADC013: an array in a list whose length is known only at run time would be changed

a = [np.ones(2) for i in range(int(x) + 3)]
return sum(sorted(a))
# ADC014: The truth value of an array with more than one element is ambiguous

return frozenset({1}) | {i for i in range(int(x) + 2)}
# ADC010: a frozenset whose elements are known only at run time is not supported

a = None if x > 1 else (x, 2.0)
match a:
    case (b, c):
        return b
return x
# ADC010: this pattern for a tuple of 2 or None is not supported

return frozenset({1}).add
# ADC010: `add` of a set is not supported

return {"a": x}[["a"]]
# ADC010: a key known only at run time is not supported

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

return [x].nope
# ADC014: a list has no attribute 'nope'

return max([x, 2.0], kye=3.0)
# ADC010: `min` or `max` with these keywords is not supported

return collections.defaultdict(float, [('a', x)])['a']
# ADC010: `defaultdict` with these arguments is not supported

return heapq.heappush([x], X)
# ADC010: a heap of elements of several kinds is not supported

return heapq.heappop(collections.deque([x]))
# ADC014: heap argument must be a list, not a deque

return (collections.deque([x]) * 2)[1]
# ADC010: this operator on a deque is not supported

return ([x] * 2.0)[1]
# ADC014: repeating a list by a number (float)

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

return (collections.Counter('ab') + {'a': 1})['a'] * x
# ADC014: `+` is not defined for a Counter and a dict

return collections.Counter('ab').setdefault('b', 3) * x
# ADC010: `.setdefault` of a Counter is not supported

return 2 * x if (x, [1]) < (1.5, [2]) else x
# ADC010: ordering of tuples that hold a list and a list is not supported

return collections.defaultdict(float, a=x)
# ADC010: returning a defaultdict is not supported

a = [x]
a.append(a)
return a
# ADC010: returning a list that contains itself is not supported

a, b, *c = (x,)
return a
# ADC014: cannot unpack 1 values into at least 2 names

return collections.deque([x]).nope
# ADC010: `.nope` of a deque is not supported

return {**x}['a']
# ADC014: `**` of a number (float)

return max([], key=abs)
# ADC014: `min` or `max` of nothing

return min([]) * x
# ADC014: `min` or `max` of nothing

return len(dict.fromkeys("ab", value=x))
# ADC014: dict.fromkeys() takes no keyword arguments

a = [x, 2.0]
return next(a)
# ADC010: `next` of a list is not supported

s = {1, 2}
return s.pop() * x
# ADC010: `pop` of a set with several elements is not supported

s = {1, 2}
t = list(s)
s.remove(1)
return t[0] * x
# ADC010: removing elements of a set of which the order matters is not supported

d = {1: x}
d.update({1, 2})
return d[1]
# ADC014: cannot convert a set to the items of a dict

return functools.reduce(lambda a, b: a + b, []) * x
# ADC014: reduce() of empty iterable with no initial value

h = [x]
heapq.heappush(h, [x])
return x
# ADC010: a list in a heap is not supported
""",
    "x=X": r"""
c = collections.Counter("a" if v > 0.0 else "b" for v in x)
return x[0] * c["a"]
# ADC012: a Counter has keys in the order 'a', 'b' on one path and 'b', 'a' on another (line 2)

xs = [v for v in x if v > 0.0]
xs[1:] = 2.0
return xs
# ADC014: can only assign an iterable

xs = [v for v in x if v > 0.0]
xs[::2] = xs[1:]
return xs
# ADC010: changing a list of a length known only at run time at a slice with a step is not supported

found = [each for k in range(3) for each in itertools.combinations(range(len(x)), k)]
for each in found:
    x = x + x[each]
return x
# ADC014: too many indices: 'x' is 1-dimensional, but 2 were indexed

v = x * 1.0
rows = [v]
if x[0] > 0.0:
    rows.append(v[1:])
rows[0][0] = 5.0
return v[0] + x[1]
# ADC013: an array in a list whose length is known only at run time would be changed

return Ranked(x[0]) < Plain()
# ADC014: comparison of a Ranked with a Plain

return described()
# ADC014: described requires at least 1 positional argument

return collections.OrderedDict(a=x[0])
# ADC010: returning an OrderedDict is not supported

a = Plain()
return {a: x[0]}[a]
# ADC010: a Plain as a key is not supported

a = Plain()
return {a} & {a}
# ADC010: this use of a set of objects is not supported

return [x[0], x[1]] @ (x[0], x[1])
# ADC014: `@` is not defined for a list and a tuple of 2

import collections
d = collections.deque([x[0], x[1]])
d[:] = [x[2]]
return sum(d)
# ADC014: sequence index must be integer, not 'slice'

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
    d[int(v)] = v
return 0.5 in d
# ADC010: a number (float) as a key, where others are known only at run time, is not supported

cache = {}
def power(n):
    if n in cache:
        return cache[n]
    cache[n] = 1.0 if n < x[1] else x[0] * power(n - 1)
    return cache[n]
return power(3)
# ADC010: changing a dict that was passed to a recursive function is not supported

match [v for v in x[: int(3.0 * x[0])]]:
    case [a, b, c]:
        return a
# ADC010: this pattern for a list whose elements are known only at run time is not supported
""",
    "x=1.5, n=3": r"""
a = [[x], [x]]
for k in range(n):
    a[0] = a[1]
return a
# ADC012: a container holds the same list at several places after an iteration

a = []
for k in range(n):
    a.append(x)
return "".join(a)
# ADC010: `str.join` with these arguments is not supported

a = []
for k in range(n):
    a.append(x)
return x.__add__(*a)
# ADC010: `.__add__` of a number (float) is not supported

a = []
for k in range(n):
    a.append(x)
a.append("b")
return a
# ADC012: str 'b' in a list that is one of numbers (float)

a = []
for k in range(n):
    a.append(x)
return a.sort(key=3, foo=4)
# ADC010: the argument 'foo' of `a.sort` is not supported

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

a = []
for i in range(n):
    a.append(x * i)
return a[x]
# ADC014: list indices must be integers, not a number (float)
""",
    "x=[1.5], y=[1.5]": r"""
return 2 * x[0] if x is y else x[0]
# ADC010: `is`, or `==` that compares identity, of two objects from outside is not supported
""",
    "x=1.5, n=1": r"""
a = [x, 1.0, 2.0]
a[int(x):] = [x]
return a[1]
# ADC010: a slice of a tuple or string with ends known only at run time is not supported
""",
    "x=X, n=2": r"""
s = 0.0
for k in {n, 40} - {n}:
    s += k
return s * x
# ADC014: cannot loop over a set

return len({v > 0.0 for v in np.cumsum(x)}) * x[0]
# ADC010: a set that holds a number (b1) is not supported

return {1, 2} + {3}
# ADC014: `+` is not defined for a set and a set
""",
}
