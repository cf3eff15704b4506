"""Bodies of functions that are refused, by their arguments; blank lines are between them.

The last line of each has the code and the message.
"""

REFUSED: dict[str, str] = {
    "x=np.array([[1.5, 2.5], [0.25, 3.0]], np.float32)": r"""
y = np.zeros((2, 2))
np.round(x, 1, out=y)
return y
# ADC010: rounding into an array of another dtype is not supported

y = np.zeros(2)
np.mean(x, axis=0, dtype=np.float32, out=y)
return y
# ADC010: `dtype=` with `out=` of another dtype is not supported

y = np.zeros(2)
np.argmax(x, axis=0, out=y)
return y
# ADC014: cannot store places in an array of float64

y = np.zeros(2)
np.dot(x, x[0], out=y)
return y
# ADC014: cannot store a product of float32 in an array of float64

y = np.zeros(2, np.int64)
np.nanmean(x, axis=0, out=y)
return y
# ADC014: cannot reduce elements of float32 to int64

y = np.zeros(2, np.int8)
np.max((x * 80.0).astype(np.uint8), axis=0, out=y)
return y
# ADC010: reducing elements of uint8 to int8 is not supported
""",
    "x=1.5": r"""
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

return divmod(x * 1.0j, 2)
# ADC014: `divmod` is not defined for complex numbers

return divmod([x], 2)
# ADC014: `divmod` is not defined for a list

return round(np.array([x]))
# ADC014: `round` of an array (f64[:])

return round(np.array(x), 1)
# ADC014: `round` of a 0-d array (f64)

return x in 3
# ADC014: `in` a number (int)

return None + x
# ADC014: `+` is not defined for None

return x()
# ADC014: a number (float) is not a function

return x.hex()
# ADC010: `.hex` of a number (float) is not supported

return [x].nope
# ADC014: a list has no attribute 'nope'

raise Stopped('late', [x])
# ADC010: an exception with a list is not supported

raise Stopped()
# ADC014: Stopped(): missing a required argument: 'message'

raise Diverged('a', k=x)
# ADC014: Diverged(): Diverged() takes no keyword arguments

raise Diverged(*[x])
# ADC010: an exception with starred arguments is not supported

try:
    raise Stopped('late', iterations=2)
except Stopped as error:
    return x * error.iterations
# ADC012: 'error' is an exception of `Stopped`, which has arguments or methods

y = z * x
z = 2.0
return y
# ADC011: 'z' may be unbound here: nothing before assigns it

del x
return x
# ADC011: 'x' may be unbound here: it was deleted at line 2

def f():
    nonlocal y
    y = x
if x > 3.0:
    y = 1.0
return y
# ADC011: 'y' may be unbound here: it is not assigned on every path (line 5)

def once():
    return map(lambda v: v * x, [1.0, 2.0])
found = once()
return sum(found) + sum(found)
# ADC010: storing the iterator of `map` is not supported

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

return max([x, 2.0], kye=3.0)
# ADC010: `min` or `max` with these keywords is not supported

return sum((v for _, v in enumerate()))
# ADC010: this call of `enumerate` is not supported

return str(x, 'a')
# ADC010: `str` with these arguments is not supported

return str(object='a')
# ADC010: this way of formatting is not supported

return functools.partial()(x)
# ADC014: partial() needs a function

return functools.lru_cache(x)(lambda v: v * x)(2.0)
# ADC014: Expected first argument to be an integer, a callable, or None

return dataclasses.replace(Data(x), c=2 * x).a
# ADC014: field c is declared with init=False, it cannot be specified with replace()

return dataclasses.replace(Data).a
# ADC014: replace() should be called on dataclass instances

return operator.attrgetter(3)(Data(x))
# ADC014: attribute name must be a string

return copy.copy(np.random)
# ADC014: cannot pickle 'module' object

return copy.copy(Base().f)(x)
# ADC010: `copy` of method 'f' is not supported

return collections.defaultdict(float, [('a', x)])['a']
# ADC010: `defaultdict` with these arguments is not supported

return collections.Counter(a=2)['a'] * x
# ADC010: `Counter` with these arguments is not supported

return heapq.heappush([x], X)
# ADC010: a heap of elements of several kinds is not supported

return heapq.heappop(collections.deque([x]))
# ADC014: heap argument must be a list, not a deque

return (collections.deque([x]) * 2)[1]
# ADC010: this operator on a deque is not supported

return ([x] * 2.0)[1]
# ADC010: the length of a list known only at run time is not supported

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

return collections.Counter('ab').setdefault('b', 3) * x
# ADC010: `.setdefault` of a Counter is not supported

p = Pair(x, 1.0)
return 2 * x if p is p else x
# ADC010: `is` on a Pair is not supported

return 2 * x if (x, [1]) < (1.5, [2]) else x
# ADC010: ordering of tuples that hold a list and a list is not supported

return Properties(x).w
# ADC014: property 'w' of 'Properties' object has no getter

o = Properties(x)
del o.p
return o.a
# ADC014: property 'p' of 'Properties' object has no deleter

o = Properties(x)
del o.b
return o.a
# ADC014: 'Properties' object has no attribute 'b'

o = Pair(x, 1.0)
o.a = 3 * x
return o.a
# ADC014: a Pair cannot be changed

o = Pair(x, 1.0)
del o.a
return o.a
# ADC010: `del` of an attribute of a Pair is not supported

o = Slots(x)
o.b = 2.0
return o.a
# ADC014: 'Slots' object has no attribute 'b'

return Abstract()
# ADC014: Can't instantiate abstract class Abstract

return Plain(x)
# ADC014: Plain() takes no arguments

return NoInit(x)
# ADC010: the constructor of `NoInit` is not supported

return ReturningInit(x)
# ADC014: __init__() should return None, not a number (float)

return Kind.C.value
# ADC014: C

return Data()
# ADC014: Data() is missing the argument 'a'

return Data(x, a=1.0)
# ADC014: Data() got an unexpected or repeated argument 'a'

return FieldLater(x)
# ADC014: FieldLater() takes 0 arguments but 1 were given

return NoPostInit(x)
# ADC010: `__post_init__` of `NoPostInit` is not supported

return Pair(x, b=x)._replace(3 * x).a
# ADC014: _replace() takes names of fields

return Pair(x, b=x)._replace(c=3 * x).a
# ADC014: Got unexpected field names: ['c']

return copy.copy(Copied(x)).a
# ADC010: `__copy__` of a Copied is not supported

a = np.array([x, 1.0])
b = copy.deepcopy([a, a[:1]])
b[0][0] = 2 * x
return b[1][0]
# ADC010: `deepcopy` of two views of one array is not supported

return divmod(BadOperators(),2)
# ADC014: `divmod` is not defined for a BadOperators

return 2*x if BadOperators() else x
# ADC014: __bool__ should return bool, returned a number (int)

return len(BadOperators())*x
# ADC014: a number (float) cannot be interpreted as an integer

return float(BadOperators())
# ADC014: __float__ returned str 'a', not a float

return abs(BadOperators())
# ADC014: this operation is not defined for a BadOperators

return BadOperators()(3.0)
# ADC014: a BadOperators is not a function

return f'{Operators(x)}'
# ADC010: `__format__` of a Operators is not supported

return 3@Operators(x)
# ADC014: `@` needs arrays with at least one axis

return X+Operators(x)
# ADC010: an array (f64[:]) and a Operators, of which NumPy makes an array, is not supported

return repr(Operators(x))
# ADC010: formatting a Operators is not supported

return Operators(x) < 3
# ADC014: comparison of a Operators with a number (int)

with BadOperators() as o:
    return x
# ADC014: a BadOperators does not support the context manager protocol

return collections.defaultdict(float, a=x)
# ADC010: returning a defaultdict is not supported

a = [x]
a.append(a)
return a
# ADC010: returning a list that contains itself is not supported

a = [x, 1.0, 2.0]
a[1:2] = X
return a[2] + len(a)
# ADC014: can only assign an iterable

a, b, *c = (x,)
return a
# ADC014: cannot unpack 1 values into at least 2 names

return collections.deque([x]).nope
# ADC010: `.nope` of a deque is not supported

return (x + 1j).conjugate(3).imag
# ADC010: `(x + 1j).conjugate` with these arguments is not supported

for k in np.array(3.0):
    x += k
return x
# ADC014: iteration over a 0-d array

with cm3(x) as y:
    pass
return x
# ADC033: a context manager with more than one `yield` is not supported

try:
    if x > 1:
        raise ValueError('a')
    return x
except 3:
    return 2 * x
# ADC014: catching classes that do not inherit from BaseException is not allowed

assert x > 100, f'{(x,1)!a}'
return x
# ADC010: this format is not supported

assert x > 100, f'{(x,1):5}'
return x
# ADC010: a format of a tuple of 2 is not supported

assert x > 100, f'{x:{x}}'
return x
# ADC010: a computed format is not supported

assert x > 100, '%d' % x
return x
# ADC010: this format is not supported

assert x > 100, '%s %s' % x
return x
# ADC010: this format is not supported

assert x > 100, '%q' % x
return x
# ADC010: this format is not supported

assert x > 100, '{a}'.format(x)
return x
# ADC010: this format is not supported

assert x > 100, '{}'.format(*[x])
return x
# ADC010: this format is not supported

assert x > 100, repr(f'{x}')
return x
# ADC010: `repr` of a string with numbers known only at run time is not supported

assert x > 100, format(x, x)
return x
# ADC010: a computed format is not supported

assert x > 100, f'{math.sin}'
return x
# ADC010: formatting builtin_function_or_method 'sin' is not supported

assert x > 100, 'a'.startswith(x)
return x
# ADC010: `str.startswith` with these arguments is not supported

return adc.grad()(x)
# ADC010: returning `grad` of a number (float) is not supported

return adc.grad(lambda v: v ** 3, nope=0)(x)
# ADC014: adc.grad() does not take these arguments

return adc.jvp(lambda v: v ** 3)[1]
# ADC014: pass a function, primals and tangents

return adc.stop_gradient(x, x) * x
# ADC014: adc.stop_gradient() takes one argument

return adc.save(x, x) * x
# ADC014: adc.save() takes one argument

match [x]:
    case [a, b]:
        return a
    case {'a': 1}:
        return a
    case [a] as q:
        return a * len(q)
# ADC010: this pattern is not supported

return {**x}['a']
# ADC014: `**` of a number (float)

return x << 2
# ADC014: `<<` on float and int

def make(k):
    f = lambda v: v * s
    if k > 0:
        return f
    s = 3.0
    return f
return make(x)(x)
# ADC011: 's' may be unbound here

g = h = (v * v for v in (x, 2.0))
return sum(g)
# ADC010: storing a generator is not supported

@adc.custom_jvp
def f(v) -> float:
    return float.fromhex('a')
@f.defjvp
def rule(primals, tangents):
    return f(primals[0]), tangents[0]
return f(x)
# ADC010: `float.fromhex` is not supported

print('{} {0}'.format(x))
# ADC010: this format is not supported

print('%u' % x)
# ADC010: this format is not supported

print('%.3d' % int(x))
# ADC010: this format is not supported

print('{None}'.format(**{'a': x}))
# ADC010: this format is not supported

LOG.log()
# ADC014: log() is missing the argument 'level'

LOG.debug()
# ADC014: LOG.debug() is missing the argument 'msg'

return divmod(x)
# ADC010: `divmod` with these arguments is not supported

return int[0]
# ADC014: indexing type 'int'

import warnings
with warnings.catch_warnings():
    warnings.warn("caught")
return x
# ADC010: `warnings.warn` inside `warnings.catch_warnings` is not supported

import warnings
warnings.simplefilter("ignore")
return x
# ADC010: `warnings.simplefilter` outside `warnings.catch_warnings` is not supported
""",
    "x=M": r"""
return np.require(x, requirements=["F"])
# ADC010: `np.require` with 'F' is not supported

return max(x)
# ADC014: The truth value of an array with more than one element is ambiguous

return operator.methodcaller()(x)
# ADC014: methodcaller() is missing the name of a method

return operator.methodcaller('nope')(x)
# ADC014: an array (f64[:, :]) has no attribute 'nope'

return np.sum(x, axis=(0, 0))
# ADC014: an axis is given twice

return np.sum(x, axis=5)
# ADC014: axis 5 is out of bounds for array of dimension 2

return x[..., ...]
# ADC014: an index can only have a single `...`

return np.einsum("i...->i", x)
# ADC014: the output subscripts 'i' lack the '...' of the operands

return np.einsum("i1->i", x)
# ADC014: the subscripts 'i1' are not valid
""",
    "x=X": r"""
try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
except ValueError as error:
    print(error)
return x[0]
# ADC010: an array in the message of an exception that is caught and kept is not supported

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
finally:
    print("done")
return x[0]
# ADC010: an array in the message of an exception that is caught and kept is not supported

return 1.0 if x in ('a', 'b') else 2.0
# ADC014: an array cannot be compared with None or another object

return [x] == ['a']
# ADC014: an array cannot be compared with None or another object

def pairs(y):
    found = []
    for k in range(int(x[0]) + 2):
        found.append((k * y[1], y[2]))
    return found
v, pull = adc.vjp(pairs, x)
return pull(v)
# ADC010: the cotangent of a list of tuples whose length is known only at run time is not supported

return EACH_ROW(x)
# ADC010: `np.vectorize` with `signature` or `excluded`, or a call with keywords is not supported

return EACH(v=x)
# ADC010: `np.vectorize` with `signature` or `excluded`, or a call with keywords is not supported

def total(vs):
    return sum(vs) + sum(vs)
return total(map(lambda v: v * 2.0, x))
# ADC010: storing the iterator of `map` is not supported

return [x[0], x[1]] @ (x[0], x[1])
# ADC014: `@` is not defined for a list and a tuple of 2

import collections
d = collections.deque([x[0], x[1]])
d[:] = [x[2]]
return sum(d)
# ADC014: sequence index must be integer, not 'slice'

a = x * 2.0
y = a[::-1].ravel()
y[0] = 50.0
return np.sum(a)
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed

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
    d[int(v)] = [v]
return len(d) * x[0]
# ADC010: a key known only at run time is not supported for a dict that holds a list

d = {}
for v in x:
    d[int(v)] = v
return 0.5 in d
# ADC010: a number (float) as a key, where others are known only at run time, is not supported

cache = {}
def power(n):
    if n in cache:
        return cache[n]
    cache[n] = 1.0 if n == 0 else x[0] * power(n - 1)
    return cache[n]
return power(3)
# ADC010: changing a dict that was passed to a recursive function is not supported

p = types.SimpleNamespace(a=x[0])
return vars(p)
# ADC010: returning what `vars` returns is not supported

p = types.SimpleNamespace({'a': x[0]})
return p.a
# ADC010: `types.SimpleNamespace` of a dict is not supported

return f'{ {1, 2} }'
# ADC010: formatting a set is not supported

s = 0.0
for f in ((lambda v: v * k) for k in range(3)):
    s += f(x[0])
return s
# ADC010: a generator of functions that read its variable is not supported

return x[0] if x > 0 else 1.0
# ADC014: The truth value of an array with more than one element is ambiguous

return sum((a * b for a, b in zip(x, x, foo=True)))
# ADC010: `zip` with keywords is not supported

return x[slice()]
# ADC014: `slice` takes one to three arguments

return sum(['a', 'b'], 'c')
# ADC014: sum() can't sum strings

return getattr(x, 3)
# ADC010: an attribute named by a number (int) is not supported

return np.searchsorted(x, 1.0, side=3)
# ADC014: `side` must be a string, not a number (int)

return np.searchsorted(x, 1.0, side='up')
# ADC014: search side must be 'left' or 'right' (got 'up')

return np.array([X, M])
# ADC014: setting an array element with a sequence. The requested array has an inhomogeneous shape

return np.zeros(3, dtype=3)
# ADC014: a number (int) is not a dtype

return np.zeros(3, dtype=str)
# ADC010: dtype <U0 is not supported

return np.zeros()
# ADC014: `np.zeros` needs 'shape'

return np.zeros(3, float, 'C', 4)
# ADC014: np.zeros() takes 3 arguments but 4 were given

x.imag = 3.0
return x
# ADC014: a real array has no imaginary part to set

return x.sum
# ADC010: returning method 'sum' is not supported

return x.view() is x
# ADC010: `is` on views of one array is not supported

return x.squeeze() is x
# ADC010: `is` on views of one array is not supported

return x[:] in [x]
# ADC014: comparison of an array (f64[:]) with an array (f64[:])

del x[0]
return 1.0
# ADC010: `del` of an element of an array (f64[:]) is not supported

x += np.outer(x, x)
return x
# ADC014: the result has more axes than the array that it is stored in

(x * 2).fill(x[0])
return x[2]
# ADC014: `.fill` needs an array that has a name

return x[::0]
# ADC014: slice step cannot be zero

return x[:'a']
# ADC014: slice indices must be integers or None, not str 'a'

return np.deg2rad(x > 0.0)
# ADC010: `np.deg2rad` on bool is not supported

return adc.grad(np.sum, 0, argnames='a')(x)
# ADC020: argnums and argnames are both given

pairs = zip(x, x[1:], **{'strict': False})
return sum(a * b for a, b in pairs)
# ADC010: storing the iterator of `zip` is not supported

return x.item(1.0)
# ADC014: an index must be an integer, not a number (float)

return x.item(x[0] > 0.0)
# ADC014: an index must be an integer, not a number (b1)

return x.item(index=1)
# ADC014: `.item` takes no keyword arguments

return x.__len__(3)
# ADC014: x.__len__() takes 0 arguments but 1 were given

return adc.vmap(np.square, axes=0)(x)
# ADC014: adc.vmap() does not take these arguments

return adc.vmap(np.square, 0, in_axes=0)(x)
# ADC014: adc.vmap() got multiple values for argument 'in_axes'

return adc.grad(np.sum, 0, argnums=0)(x)
# ADC014: adc.grad() got multiple values for argument 'argnums'

return adc.grad(argnums=0)(np.sum, 3)(x)
# ADC014: a decorator takes one function

return adc.jit(thrice, times=3)(x)
# ADC014: adc.jit() does not take these arguments

return adc.jvp(np.sum, (x,), (x,), 3)[1]
# ADC014: adc.jvp() takes 3 arguments but 4 were given

return adc.jvp(np.sum, (x,), (x,), primals=(x,))[1]
# ADC014: adc.jvp() got multiple values for argument 'primals'

return adc.vjp()
# ADC014: adc.vjp() does not take these arguments

return adc.vjp(lambda a, b=2.0: np.sum(a * b), x, b=3.0)[0]
# ADC014: adc.vjp() does not take these arguments

return np.zeros(3, shape=4) + x
# ADC014: np.zeros() got multiple values for argument 'shape'

return np.full(3, 2.0, fill_value=4.0) + x
# ADC014: np.full() got multiple values for argument 'fill_value'

match [v for v in x[: int(3.0 * x[0])]]:
    case [a, b, c]:
        return a
# ADC010: this pattern for a list whose elements are known only at run time is not supported

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

a = b = map(abs, x)
return sum(a) + sum(b)
# ADC010: storing the iterator of `map` is not supported

a: object = filter(None, x)
return sum(a) + sum(a)
# ADC010: storing the iterator of `filter` is not supported

a = {"k": x}
a["k"] = map(abs, x)
return sum(a["k"]) + sum(a["k"])
# ADC010: storing the iterator of `map` is not supported

f = x.flat
return sum(f) + sum(f)
# ADC010: iterating over a variable that is the `flat` of an array is not supported

f = x.flat
s = 0.0
for v in f:
    s += v
return s
# ADC010: iterating over a variable that is the `flat` of an array is not supported
""",
    "x=3.0": r"""
return math.gcd(x, 2)
# ADC014: `math.gcd` needs integers

return math.lcm(4, 2.0)
# ADC014: `math.lcm` needs integers

return math.comb(5, 2.0) * x
# ADC014: 'float' object cannot be interpreted as an integer
""",
    "x=1.5, n=3": r"""
if x > 1.0:
    k = 'a'
else:
    k = [x]
for k in range(int(2.0 * x)):
    x += k
return k
# ADC012: 'k' is str 'a' on one path and a list on another (line 2)

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

return rec3(x, n)[0]
# ADC010: returning a list from a recursive function is not supported

return rec9(x, n)
# ADC025: rec9() calls itself with a new function or new types at every level
""",
    "x=X, y=X": r"""
return 2 * x[0] if x is y else x[0]
# ADC010: `is` on arrays that may be one is not supported
""",
    "x=[1.5], y=[1.5]": r"""
return 2 * x[0] if x is y else x[0]
# ADC010: `is`, or `==` that compares identity, of two objects from outside is not supported
""",
    "x=1.5, n=2": r"""
for _ in range(2):
    def h(y):
        return y * h.factor
    h.factor = 1.0
if n > 1:
    h.factor = 5.0
return h(x)
# ADC010: assignment to an attribute of function 'h' is not supported

def rec(m):
    before = h.factor
    h.factor = 3.0
    return rec(m - 1) if m > 0 else before
def h(y):
    return y
h.factor = 1.0
return rec(n) * x
# ADC010: assignment to an attribute of function 'h' is not supported

a, b = Line(Point(x, 1.0), n), Line(Point(2.0, 3.0), n)
for k in range(n):
    a.start = Point(a.start.x + x, 1.0)
    b.start = a.start
return b.start.x
# ADC012: two containers have the same Point after an iteration

line = Line(Point(x, 1.0), n)
best = line.start
for k in range(n):
    line.start = Point(line.start.x + x, 1.0)
    if x > k:
        best = line.start
return best.x
# ADC012: 'best' and a container have the same Point after an iteration

u, v = Both(x, 2.0), Both(3.0, x)
s = 0.0
for a, b in zip(u, v):
    s += a * b
    u.second = 5.0
return s
# ADC010: a loop that changes what a generator reads from which it draws is not supported

y = Point(x, 1.0)
z = y
for k in range(n):
    y.x += 1.0
    x += z.x
    z = Point(x, x)
return x
# ADC013: whether this Point was changed (line 5) depends on the path

y = Point(x, 1.0)
z = y
for k in range(n):
    z = Point(z.x + x, x)
z.x = 3.0
return y.x
# ADC013: whether this Point was changed (line 6) depends on the path

y = Point(x, 1.0)
z = y
for k in range(n):
    x += float(z is y)
    z = Point(x, x)
return x
# ADC010: `is` on lists, dicts or objects that may be one is not supported

def shifted(point):
    for k in range(n):
        point.x += 1.0
        point = Point(point.y, point.x)
    return point
y = Point(x, 1.0)
z = shifted(y)
return y.x
# ADC013: whether this Point was changed (line 4) depends on the path
""",
    "x=1.5, n=1": r"""
a = [x, 1.0, 2.0]
a[int(x):] = [x]
return a[1]
# ADC010: a slice of a tuple or string with ends known only at run time is not supported
""",
    "x=X, n=2": r"""
a, b, i = x, x * 2.0, 0
while i < len(x):
    i += 1
    for v in x:
        a, b = b, a
        d = {"pair": [b, b], "one": a}
return d["one"]
# ADC012: 'd' and a container have the same dict after an iteration

t = 1
def g(y):
    nonlocal t
    before = t
    t = t + 0.5
    return before
return adc.vmap(g)(x)
# ADC014: the results of two elements in vmap have the types int64 and float64

return scipy.integrate.trapezoid(x, axis=int(x[2]) - n)
# ADC010: `axis` known only at run time is not supported

s = 0.0
for k in {n, 40} - {n}:
    s += k
return s * x
# ADC014: cannot loop over a set

return len({v > 0.0 for v in np.cumsum(x)}) * x[0]
# ADC010: a set that holds a number (b1) is not supported

return {1, 2} + {3}
# ADC014: `+` is not defined for a set and a set

a, b = x.copy(), x * 2.0
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed

a, b = [x[0]], [x[1], 2.0]
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n
# ADC013: whether this list was changed (line 5) depends on the path

scale, t = 1.0, 0.0
for k, a in enumerate(filter(lambda v: v > 0.0, (v * scale for v in x))):
    scale = 3.0 * n
    t += a
return t
# ADC010: a loop that changes what a generator reads from which it draws is not supported

class Point(typing.NamedTuple):
    a: float
    b: float
    c: float = 2.0
return Point(x[n])
# ADC014: Point() is missing the argument 'b'

class Node:
    def __init__(self, v):
        self.v = v
seen = set()
seen.add(Node(x[0]))
return len(seen)
# ADC010: a Node as a key, or in a set, is not supported

print(*[f"{v:.2f}" for v in x if v > 1.0])
# ADC010: joining or printing texts whose number is known only at run time is not supported

print(", ".join(f"{v:.2f}" for v in x if v > 1.0))
# ADC010: joining or printing texts whose number is known only at run time is not supported

print("-".join(["a", str(x[0]), n]))
# ADC014: a join of a number (int)
""",
    # Dates and fractions.
    "x=0.7,": r"""
while x < 3.0:
    DAY = datetime.date(2024, 1, 1)
    x = x * 2
return x * datetime.timedelta(days=x).days
# ADC010: a number in `datetime.timedelta` known only at run time is not supported

day = DAY
while x > 0.1:
    day += datetime.timedelta(days=1)
    x = x * 0.5
return day.day
# ADC010: 'day' is a date that iterations of the loop at line 3 change: this is not supported

return x == THIRD
# ADC010: a number in this operator known only at run time is not supported

return np.array([x]) * THIRD
# ADC010: this operator of an array (f64[:]) is not supported

return datetime.date.today().year * x
# ADC010: `datetime.date.today` is not supported

return datetime.date(2024, 13, 1).month * x
# ADC014: month must be in 1..12
""",
}
