"""Arrays: functions and methods of NumPy and SciPy, indices, views."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return np.array([None, x])
# ADC014: an array is not defined for None

return np.array([None, None])
# ADC010: returning a ndarray of dtype object is not supported

return np.array([None, None]) == x
# ADC010: this use of a ndarray of dtype object is not supported

return np.array([None, None]) * x
# ADC014: `*` is not defined for a ndarray of dtype object

return [x] * np.float64(2.0)
# ADC014: repeating a list by a number (f64)

return sys.version_info
# ADC010: returning a version_info is not supported

return np.unstack(X[X > 0.0])
# ADC010: `np.unstack` along an axis whose size is known only at run time is not supported

return X[True, 0]
# ADC010: a boolean as an index is not supported

return np.vectorize(lambda v: (v, v))(X)
# ADC010: `np.vectorize` of a function with several results is not supported

return X.__class__
# ADC010: `.__class__` of an array is not supported

return np.random.default_rng(3).standard_normal(3, out=np.zeros(3))
# ADC010: the argument 'out' of a draw is not supported

return np.histogram(X, bins="auto")
# ADC010: a rule for the number of bins is not supported

for a, b in X:
    pass
return x
# ADC014: cannot unpack a number (f64)

return X[slice(x)]
# ADC014: slice indices must be integers or None, not a number (float)

return np.var(X, dtype=int)
# ADC010: a variance in int64 is not supported

return np.nonzero(x)
# ADC014: Calling nonzero on 0d arrays is not allowed.

a = np.array([1, 2, 3])
np.copyto(a, X)
return a
# ADC014: cannot copy float64 to int64 according to the rule 'same_kind'

return np.negative(x > 1.0)
# ADC010: `np.negative` on booleans is not supported

return math.sin(X)
# ADC014: this operation needs a number, not an array (f64[:])

return np.zeros(1.5)
# ADC014: a size must be an integer, not a number (float)

return np.zeros((2.5,))
# ADC014: a size must be an integer, not a number (float)

return np.zeros(2, foo=3)
# ADC010: `np.zeros` with these arguments is not supported

return np.ones((2, x))
# ADC014: a size must be an integer, not a number (float)

return any([X, X])
# ADC014: The truth value of an array with more than one element is ambiguous

a = None if x > 1 else X
return 1.0 if a == X else 2.0
# ADC010: this comparison of an array (f64[:]) or None is not supported

assert x > 100, '{}{}'.format(*[x])
return x
# ADC010: this format is not supported

print('{a}'.format(**Point(x, 1)))
# ADC010: this format is not supported

print('{} {}'.format(*np.arange(x)))
# ADC010: unpacking an array (f64[:]) of a length known only at run time is not supported

return divmod(x * 1.0j, 2)
# ADC014: `divmod` is not defined for complex numbers

return round(np.array([x]))
# ADC014: `round` of an array (f64[:])

return round(np.array(x), 1)
# ADC014: `round` of a 0-d array (f64)

return 3@Operators(x)
# ADC014: `@` needs arrays with at least one axis

return X+Operators(x)
# ADC010: an array (f64[:]) and a Operators, of which NumPy makes an array, is not supported

for k in np.array(3.0):
    x += k
return x
# ADC014: iteration over a 0-d array
""",
    "x=M": r"""
x.shape = 4
return x
# ADC010: assignment to an attribute of an array (f64[:, :]) is not supported

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
y = 2.0 * x
y.setflags(write=False)
y[0] = 1.0
return y
# ADC013: 'y' is written to, and was made read-only

y = 2.0 * x
y.flags.writeable = False
z = y[1:]
z += 1.0
return y
# ADC013: 'y' is written to, and was made read-only

x.setflags(write=False)
return x
# ADC010: making an array read-only here is not supported

y = 2.0 * x
for k in range(3):
    y[k] = 1.0
    y.setflags(write=False)
return y
# ADC010: making an array read-only here is not supported

y = 2.0 * x
y.setflags(write=True)
return y
# ADC010: making an array writable is not supported

y = 2.0 * x
y.name = "twice"
return y
# ADC014: an array (f64[:]) has no attribute 'name'

np.seterr(all="raise")
return x
# ADC010: `np.seterr` with str 'raise' is not supported

return 1.0 if x in ('a', 'b') else 2.0
# ADC014: an array cannot be compared with None or another object

return [x] == ['a']
# ADC014: an array cannot be compared with None or another object

a = x * 2.0
y = a[::-1].ravel()
y[0] = 50.0
return np.sum(a)
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed

return x[0] if x > 0 else 1.0
# ADC014: The truth value of an array with more than one element is ambiguous

return x[slice()]
# ADC014: `slice` takes one to three arguments

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

return x.item(1.0)
# ADC014: an index must be an integer, not a number (float)

return x.item(x[0] > 0.0)
# ADC014: an index must be an integer, not a number (b1)

return x.item(index=1)
# ADC014: `.item` takes no keyword arguments

return x.__len__(3)
# ADC014: x.__len__() takes 0 arguments but 1 were given

return np.zeros(3, shape=4) + x
# ADC014: np.zeros() got multiple values for argument 'shape'

return np.full(3, 2.0, fill_value=4.0) + x
# ADC014: np.full() got multiple values for argument 'fill_value'

f = x.flat
return sum(f) + sum(f)
# ADC010: iterating over a variable that is the `flat` of an array is not supported

f = x.flat
s = 0.0
for v in f:
    s += v
return s
# ADC010: iterating over a variable that is the `flat` of an array is not supported

x += Point(1.0, 2.0)
return x
# ADC010: an array that is changed by a Point is not supported
""",
    "x=X, y=X": r"""
return 2 * x[0] if x is y else x[0]
# ADC022: arguments 'x' and 'y' of program() overlap in memory, and `is` asks whether they are one

return adc.grad(lambda u: np.sum(u * y) if u is y else np.sum(u))(x)[0]
# ADC010: `is` on arrays that may be one is not supported
""",
    "x=X, n=2": r"""
return scipy.integrate.trapezoid(x, axis=int(x[2]) - n)
# ADC010: `axis` known only at run time is not supported
""",
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
    "x=H": r"""
return sum(x, [])
# ADC010: `sum` of float16 that starts from something else is not supported
""",
    "x=1.5, n=3": r"""
a = []
for k in range(n):
    a.append(x)
return np.zeros(a)
# ADC014: a size must be an integer, not a list

a = []
for k in range(n):
    a.append(x)
return np.block([a])
# ADC010: `np.block` of a list whose length is known only at run time is not supported

a = []
for k in range(n):
    a.append({"u": x})
return np.array(a)
# ADC014: an array is not defined for a dict
""",
}
