"""Arrays: functions and methods of NumPy and SciPy, indices, views."""

LIKE: dict[str, str] = {
    "x=M, n=3": r"""
return sorted(x, key=lambda r: r)

return sorted([x[k % 2] for k in range(n)])

return sorted([x[0], x[1]])

return sorted([np.array([2.0]), np.array([1.0])])
""",
    "x=1.5": r"""
one, two = np.array(x, ndmin=1), np.array([x, 2.0], ndmin=3, dtype=complex)
return one, one.shape, two, np.array(M, ndmin=1), np.array(M * x, ndmin=3).shape, one[0] * x

nothing = np.asarray(None, dtype=float)
row, complex_row = np.array([x, None], dtype="float32"), np.array((None, x), complex)
return nothing, nothing.shape, row, row.dtype == np.float32, complex_row, np.atleast_2d(nothing)

free = [letter for letter in "abcd" if letter not in FROZEN]
both = FROZEN & {"a", "b", 2}
return x * len(free), "".join(free), len(FROZEN), 2 in FROZEN, 2.5 in FROZEN, both, FROZEN | {"z"}

s = sum(n * x for letter, n in COUNTS.items() if letter != "b")
return s, COUNTS["a"] * x, COUNTS["z"], len(COUNTS), "z" in COUNTS, sorted(COUNTS)

found, n = [], int(4 * x)
for k in range(n):
    found.append(x * (k % 3))
return found.count(x), found.count(7.0), found.index(2 * x), found.index(0), n

found = []
for k in range(int(4 * x)):
    found.append(k * x)
return found.index(100.0)

n = int(4 * x)
inside = [k in range(1, n) for k in (0, 1, 5, 6)] + [k not in range(n, 1, -2) for k in range(7)]
return inside, 2.0 * x in range(n), x in range(n), True in range(n), "a" in range(n)

n, seen, pairs = int(4 * x), [], []
k = 1
while k not in seen:
    seen.append(k)
    pairs.append((k, x * k))
    k = (3 * k + 2) % n
return seen, 2.0 in seen, n in seen, (k, x * k) in pairs, (k, x) in pairs, "a" in seen

even = 2 * np.arange(int(4 * x))
return [k in even for k in (2, 3)], x in even, 2 * x not in even[2:], True in (even > x)

a = np.arange(18.0).reshape(2, 3, 3) * x
b = np.arange(36.0).reshape(2, 2, 3, 3)
return a @ b, b @ a
""",
    "x=M": r"""
y = np.require(x)
y[0, 0] = 9.0
return x, np.require(x[:, ::2], requirements=["C", "A"]), np.require([1, 2], float, "C")

y = np.require(x[:, 0], np.float64, requirements=("C_CONTIGUOUS",))
return y, np.require(x, np.float32), np.require(x[0, 0])

return np.take_along_axis(x, np.array([[1], [0]]))

return scipy.linalg.eigh(x + x.T, subset_by_index=None, eigvals_only=True)

return scipy.linalg.svd(x, compute_uv=False, lapack_driver='gesdd')

return x[*[0], 1]

return np.einsum(x, [30, 5])

return np.einsum(x, [0, ...], x[0], [...], [...])
""",
    "x=X": r"""
y = 2.0 * x
try:
    y.name = "twice"
except AttributeError as error:
    y += len(str(error))
try:
    x[0].unit, y[0] = "m", 1.0
except AttributeError:
    y *= 3.0
return y

return x.shape == 3, x.shape != 3, [1, 2] == 2, (1, 2) == x[0], 3 == (3,), (x[0],) == x

y, z = 2.0 * x, np.ones(3)
y[0] = 3.0
y.setflags(write=False)
z.flags.writeable = False
s = 0.0
for k in range(len(x)):
    row = x * k
    row[0] += 1.0
    row.setflags(write=False)
    s += np.sum(row)
return y + z, s

before = np.seterr(invalid="ignore", divide="warn")
y = np.sqrt(x)
np.seterr(**before)
return np.isnan(y)

return np.emath.sqrt(x), np.emath.log(np.abs(x)), np.emath.arcsin(x), np.emath.power(x, -2)

return [np.emath.sqrt(4), np.emath.log2(-2.0), np.emath.logn(2, 8.0), np.emath.arccos(2)]

return np.real_if_close(x + 1e-17j), np.real_if_close(x + 1j), np.real_if_close(x * 1e-3j, tol=1.0)

return x * scipy.constants.value("speed of darkness")

c = scipy.constants.value("speed of light in vacuum")
return x * c, scipy.constants.unit("Planck constant")

rows = np.outer(x, x).tolist()
for row in rows:
    row.append(sum(row))
cube = np.multiply.outer(rows[0][:2], M).tolist()
return rows, cube, np.eye(2, dtype=int).tolist(), np.zeros((0, 3)).tolist(), np.array(rows).shape

def distances(a, b=None):
    b = a if b is None else b
    d = np.abs(np.subtract.outer(a, b))
    return d * (1.0 - np.eye(len(a))) if a is b else d + 1.0
return distances(x), distances(x, H), distances(H, x)

states = {}
for k in range(int(np.prod((len(x), 2)))):
    states[k] = {"a": [k * x[0]]}
return np.prod(x.shape), np.prod((2, 3)), np.prod([2, True]), np.prod(()), np.prod((2**62, 4)), \
       len(states), states[5]["a"]

y = x[0]
return y[..., None], y[None], y[np.newaxis, ..., np.newaxis] * 2, y[...], y[()]

h = np.asarray(x[0])
h[h > 1.0] = 3.0
h[np.isnan(h)] = 0.0
return h

h = np.array(x[1])
h[h < 1.0] += 360.0
h[h < 1.0] *= 2.0
return h

h = np.array(x[0])
return h[h > 1.0], h[h > 100.0], x[True], x[x[0] > 100.0], x[np.True_].shape

y = np.array(x)
y[y[0] > 1.0] = 7.0
y[y[0] > 100.0] += 1.0
return y

return np.complex128(x[:1])

y = np.float64(x)
y[0] = 9.0
return x, y

return np.zeros(3, np.float32, 'C'), np.ones((2, 1), float, order='C'), np.full(2, 1.5, None, 'F')

a = x * 2.0
a @= x
return a

a = x * 2.0
y = a.flat[:]
y[0] = 50.0
f = a.flat
z = f[1:]
z += 1.0
f[1:] += 3.0
w = np.asarray(f)
w[0] = 7.0
return np.sum(a) + z[0]

a = x * 2.0
y = a[::-1].ravel()
y += 1.0
return np.sum(y)

a = x * 2.0
y = a[1:].ravel()
y += 1.0
return np.sum(a)

return max(I)

return sum(I, x)

return any(x)

return np.full(3, x)

return np.full_like(x, 3, shape=2)[1] * x[0]

z = x * 1j
z.real = 2 * x
return z

return x.real is x

return x.copy() is x

return x in [x]

return x.nbytes * x[0]

return x.item() * 2

return x[0] if x[1:2] else 1.0

return x[0] if x[: len(x) - 1] else 1.0

return x[B[:2]]

return x[x > 0, None]

v = np.lib.stride_tricks.sliding_window_view(x, 2)
v[0] = 1.0
return x

return np.deg2rad(I.astype(np.int8)), np.deg2rad(I.astype(np.uint16))

return np.less(x > 0.0, x > 1.75), np.greater_equal(x > 0.0, x > 1.75)

return np.less(U, U[::-1]), np.greater(U, U[1]), np.equal(U, U[::-1])

return x[:1].item() + x[:1].reshape(1, 1).item(), x.reshape(1, 3).item(-1), x.item((1,))

return x.item()

a, b = x.reshape(1, 3) > 0.0, x.reshape(3, 1) > 0.0
return b @ a, a @ b, np.einsum('ij,jk,kl->il', b, a, b)

# long
return np.random.default_rng(3).f(x[0], 2.0), np.random.default_rng(3).f(2.0, 3.0, 4)

np.random.seed(3)
return np.random.rand(2) * x[:2], np.random.randn(), np.random.RandomState(2).permutation(x)
""",
    "x=H": r"""
return sum(x)

return adc.grad(lambda h: np.sum((h * h).astype(np.float64)))(x)
""",
    "x=X, n=-2": r"""
return x[: 2 * n : 2], x[2 * n :: 2], x[: n - 3 : 3]

return len(np.tile(x, n))

return len(np.tile(x, (2, n))) + len(np.tile(x[:0], n))

return len(np.tile(x[:0], n)) * x[0]

return len(np.repeat(x, n))

return len(np.eye(n))

return x[0] * (1 + len(np.tri(n)) + np.tri(n, 3).shape[1])
""",
    "x=1.5, n=2": r"""
z = np.array([[None] * n]).T
return z.shape, z.ndim, z.size, len(z), z[0, 0] is None, z[:, 0].shape, z is None

z = copy.deepcopy(np.atleast_2d(np.array([None, None])))
if x > 1.0:
    z = np.array([x])
    return z
return x

class Filter:
    def __init__(self, n):
        self.z = np.array([[None] * n]).T
    def update(self, v):
        self.z = np.reshape(v, self.z.shape)
f = Filter(n)
f.update(np.array([x, 2.0]))
return f.z

q = [x, 2.0 * x]
r = q
q /= np.linalg.norm(q)
return q, r

return (x, 2.0) - np.float64(x), np.sqrt(x) / [x, 1], [[x, 1.0], [2.0, x]] / np.float64(n)

q = [x]
for i in range(n):
    q.append(i * x)
return q + np.sqrt(x)

q = [x, 1]
q += np.float64(2.0)
return q

e = np.float64(x)
big = e > 1.0
return e[big], e[~big], e[..., None], e[None, ...], e[()]
""",
    "x=X, n=-1": r"""
return x[2:-10:n], x[-10:-20:n], x[10:-10:n], x[-10:2:-n]
""",
    "x=X, n=2": r"""
kinds, parts = ['a', [x[0], 'b']], [x, x[:2]]
found = []
for i, j in np.ndindex(2, len(parts)):
    found.append((len(kinds[i]), parts[j][i]))
return found

if n == 1:
    y = x
else:
    y = x[:, None] * x
return y

v = np.atleast_2d(x)
if min(v.shape) == 1:
    v = v.ravel()
return v * n, v.ndim

x += M
return x

return x.reshape(n, -1)

return x.reshape(-1, n - 2)

k = n - 4
return x[::n], x[1::n], x[:2:n], x[::k], x[:0:k], x[-1::k], x[:-1:k]

y = np.diag(x)
y.flat[:: y.shape[0] + 1] += 1.0
return y

return x[:: n - 2]

y = x.copy()
y[:3] = range(3)
return np.exp(range(3)), x * range(3), np.where(x > 0.0, range(3), 0.5), np.maximum(range(n), 1), y
""",
    "x=X, m=5": r"""
return np.max(x, initial=1.9), np.min(x, initial=-7.0), x.max(initial=9.0), x.min(initial=0.0)

y, none, e = x[:0], m - 5, np.zeros((2, 0))
return (
    np.pad(y, (none, none), mode='reflect'), np.pad(y, none, mode='wrap'),
    np.pad(y, none, mode='edge'), np.pad(y, 0, mode='symmetric'), np.pad(x[:1], none, 'reflect'),
    np.pad(e, ((m, 0), (0, none)), mode='edge'), np.pad(x, (m - 3, m - 4), mode='reflect'),
)

return np.pad(x[:0], (0, m), mode='symmetric')

return np.pad(np.zeros((2, 0)), ((1, 0), (0, m)), mode='edge')

return scipy.integrate.odeint(lambda y, t: -y, x[0], [0.0, 0.5])

return scipy.integrate.odeint(lambda y, t: -y, x[:1], [0.0, 0.5], Dfun=lambda y, t: -np.eye(1))
""",
    "x=np.arange(24.0).reshape(2, 3, 4)": r"""
return np.sum(x[[1, 0], :, [3, 2]])
""",
    "x=X.copy(), v=0.5, k=3,": r"""
return x.sum(initial=v), np.sum(M, axis=1, initial=v), x.prod(initial=v), np.sum(I, initial=k)

return np.max(x, initial=v), np.sum(H, initial=v), np.prod(M, axis=0, initial=k), M.min(initial=k)
""",
    "x=np.array([[0.1, 1.3], [2.2, -0.7], [0.4, 0.6]], np.float32)": r"""
y = np.zeros((4, 2))
np.mean(x, axis=0, out=y[0]), np.var(x, axis=0, out=y[1]), np.std(x, axis=0, out=y[2])
np.ptp(x, axis=0, out=y[3])
return y

y = np.array(x[0, 0])
return np.round(y, 1, out=y), y

x[0, 0] = np.nan
y = np.zeros((3, 2))
np.nanmean(x, axis=0, out=y[0]), np.nanvar(x, axis=0, out=y[1]), np.nanstd(x, axis=0, out=y[2])
return y
""",
    "x=X.copy(), z=np.array(0.25)": r"""
make = np.asarray
v = make(x)
v[0] = 9.0
return x, v

(v,) = map(np.asarray, [x])
v[0] = 9.0
return x, v

tools = types.SimpleNamespace(make=np.array)
v = tools.make(x)
v[0] = 9.0
return x, v

v = np.ascontiguousarray(z)
v += 0.5
return z, v

v = np.nan_to_num(z, copy=False)
v += 0.5
return z, v

y = np.nan_to_num(np.array([complex(np.nan, 1.0), complex(np.inf, -np.inf), 1.0j]), posinf=2.0)
return y, np.nan_to_num(complex(1.0, np.nan))

y = np.ones((2, 3))
np.multiply(x, 2.0, out=y), np.add(x[0], 1.0, out=y[1])
return y
""",
    "x=M.copy(), n=2": r"""
r, q = np.take(x, 1, axis=0), x.take(0, 1)
r[0] = 9.0
x[:, 0] = 5.0
return x, r, q

try:
    for row in x:
        w = np.full(n, 0.7)
finally:
    x *= 2.0
return row, w

try:
    for k in range(n):
        row = x[k]
        w = np.full(n, 0.7)
finally:
    n = 5
return row, w, n
""",
    "z=np.array([1.0 + 2.0j, 3.0 - 1.0j])": r"""
return [r for r in z], [(k, r * r, abs(r)) for k, r in enumerate(z)], [z + k for k in range(len(z))]

return [[r, 1.0] for r in z], {k: r.real * 2.0j for k, r in enumerate(z)}

return [r for r in z if abs(r) > 9.0], [r.imag for r in z if r.real > 2.0]

return [[r, 1.0] for r in z], (0.0,) * z.shape[0]
""",
    "x=X, y=2.0 * X": r"""
for v in x:
    x, y = y, x
for v in x:
    x, y = y, x
for v in x:
    x, y = y, x
return x, y
""",
    "x=X.copy(), y=np.array([[1.0, 2.0]])": r"""
x[:2] = y
return x

x[:3] = y
return x

try:
    x[1:] = np.atleast_2d(x)
except ValueError as error:
    return str(error)
""",
    "x=1.5, n=3": r"""
return np.iterable(x), np.iterable([x]), np.iterable(np.array([x])), np.iterable(np.array(x))
""",
    "x=X, n=3": r"""
return M[:, ()], M[:, []].shape, x[[]], np.prod(M[:, ()], axis=1), x[()]

total = 0.0
for columns in itertools.chain([()], itertools.combinations(range(M.shape[1]), 1), [(0, 1)]):
    total += np.sum(M[:, columns]) * x[0]
return total

b = np.broadcast(M, x[:2], 2.0)
return b.shape, b.size, b.nd, b.ndim, b.numiter, [u * v + w for u, v, w in b]

depths, tasks = [1, 3, 2], [x, x[0], "a", 2.0]
return tasks.pop(np.argmax(depths)), tasks.pop(np.argmin(depths)), [0.0] * np.max(depths), \
    np.max([1, 2.5]), np.argmin((2, 0)), np.max([True, False]), np.min([1, np.int8(2)])

values = [x[0], 2.0]
values += x[1]
return values, [v for v in x] - np.max(x), x[1] / (x[0], 2.0), range(n) - x[0], (1, 3) + np.int8(2)

values = []
for v in x:
    values.append(2 * v)
return values - x[0], [[x[0], 1.0], [2.0, 3.0]] ** x[2], [x, x] % x[2], np.int64(2) * [x[0]]

return [x[0], 2.0] < x[2], (x[0], 2.0) == x[0], x[0] != [1.0, 2.0]

one, two = np.atleast_2d(x, x[0])
return one, two, np.atleast_1d(x[0], 2.0, x), np.atleast_3d(x, M), np.atleast_1d([x[0]])

np.testing.assert_allclose(x[0], 1.5, err_msg="{}".format(x[0]))
np.testing.assert_array_almost_equal(x, [1.5, -0.5, 2.0], decimal=n)
np.testing.assert_array_equal(x, np.array([1.5, -0.5, 2.0]))
np.testing.assert_almost_equal(x[1], -0.50000001)
try:
    np.testing.assert_allclose(x, x[:2])
except AssertionError:
    x = 2.0 * x
try:
    np.testing.assert_allclose(x, 1.001 * x, rtol=1e-4)
except AssertionError:
    return x

return np.zeros(1, np.common_type(x)), np.zeros(1, np.common_type(x, x * 1j))

return np.diff(x, prepend=0.0), np.diff(x, append=[1.0, 2.0]), np.diff(x, 2, prepend=x[0])

return x[np.s_[1:]], x[np.s_[::2]], M[np.s_[0, 1:]], M[np.index_exp[1:]]
""",
}
