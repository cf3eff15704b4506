"""Functions: arguments, closures, recursion, decorators, derivatives inside of code."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return (lambda *, v: v)(x)
# ADC014: <lambda>() takes 0 arguments but 1 were given

return (lambda v, /: v)(v=x)
# ADC014: <lambda>() got an unexpected keyword argument 'v'

return thrice(x, v=x)
# ADC014: thrice() got multiple values for argument 'v'

return thrice(w=x)
# ADC014: thrice() got an unexpected keyword argument 'w'

return thrice()
# ADC014: thrice() is missing the argument 'v'

return functools.cmp_to_key(3)(x)
# ADC010: `functools.cmp_to_key` is not supported

return functools.partial(3)
# ADC010: returning function '<lambda>' is not supported

return adc.linearize()
# ADC014: adc.linearize() does not take these arguments

return adc.grad(lambda d: d["a"])(vars(Properties(x)))
# ADC010: this use of what `vars` returns is not supported

return adc.vmap(lambda v: {"a": v} if v > 0.0 else {"b": v})(X)
# ADC010: `vmap` of a number (f64) or unbound is not supported

@adc.vmap
def g(v):
    return v
return g("abc")
# ADC020: vmap has no array with an axis

@adc.vmap
def g(v):
    return v if v > 0.0 else (v, v)
return g(X)
# ADC010: `vmap` of a number (f64) or a tuple of 2 is not supported

return adc.jacrev(thrice, sparsity="detect")(X)
# ADC010: `adc.jacrev` with `sparsity` inside a function is not supported

return adc.value_and_jac(thrice, mode="sideways")(X)
# ADC020: mode='sideways' is neither "forward" nor "reverse"

return adc.linearize(thrice, x, x, x)
# ADC014: thrice() takes 1 arguments but 3 were given

@adc.grad(argnames="v")
def g(v):
    return v * v
return g(x)
# ADC010: `argnames` in a decorator within a function is not supported

return adc.vjp(lambda v: {1.0, 2.0}, x)[0]
# ADC010: returning a set from a function that is differentiated is not supported

return adc.grad(thrice, argnums=0, argnames="v")(x)
# ADC020: argnums and argnames are both given

return adc.hvp(thrice, (x,), (x,), has_aux=True)
# ADC014: adc.hvp() does not take these arguments

return adc.grad(thrice, holomorphic=True)(x)
# ADC020: a derivative with respect to a number (float); with `holomorphic` it must be complex

return adc.grad(lambda z: 3.0, holomorphic=True)(x * 1j)
# ADC023: lambda() returns a number (float); with `holomorphic` it must be a complex number

return adc.vmap(thrice, in_axes="a")(X)
# ADC020: in_axes of adc.vmap() is not a number, None, or a tuple, list or dict of them

return adc.vmap(thrice, in_axes=1)(X)
# ADC020: `in_axes` of vmap has the axis 1 for an array (f64[:])

return adc.vmap(thrice, in_axes={"a": 0})(X)
# ADC020: `in_axes` of vmap has 1 parts for 1 arguments

return adc.vmap(lambda p: p[0] + p[1], in_axes=((0, 0, 0),))((X, X))
# ADC020: `in_axes` of vmap has axes of a tuple of 3 for a tuple of 2

return adc.vmap(lambda p: p * 2, in_axes=((0, 0),))(X)
# ADC020: `in_axes` of vmap has a tuple of axes for an array (f64[:])

return adc.vmap(thrice, out_axes=2)(X)
# ADC020: `out_axes` of vmap has the axis 2 for a result, a number (f64)

return adc.grad(lambda a, b: a * b, argnames="b")(x)
# ADC020: 'b' is differentiated, but the call does not pass it

@adc.custom_vjp
def g(v):
    return v * 2
return g(x)
# ADC020: g() is decorated with `custom_vjp` but has no rule

@adc.custom_jvp
def g(v):
    return v * 2
g.defjvp()
return g(x)
# ADC014: g.defjvp() takes `rule`

@adc.custom_jvp
def g(v):
    return v * 2
g.defjvp(lambda p, t: (p[0], t[0]))
g.defjvp(lambda p, t: (p[0], t[0]))
return g(x)
# ADC020: g() has a rule already

@adc.custom_jvp
def g(v):
    return v * 2
def rule(p, t):
    raise ValueError("a")
g.defjvp(rule)
return adc.grad(g)(x)
# ADC010: rule(), a rule of g(), always raises

return x()
# ADC014: a number (float) is not a function

def f():
    nonlocal y
    y = x
if x > 3.0:
    y = 1.0
return y
# ADC011: 'y' may be unbound here: it is not assigned on every path (line 5)

return functools.partial()(x)
# ADC014: partial() needs a function

return functools.lru_cache(x)(lambda v: v * x)(2.0)
# ADC014: Expected first argument to be an integer, a callable, or None

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

def make(k):
    f = lambda v: v * s
    if k > 0:
        return f
    s = 3.0
    return f
return make(x)(x)
# ADC011: 's' may be unbound here

@adc.custom_jvp
def f(v) -> float:
    return float.fromhex('a')
@f.defjvp
def rule(primals, tangents):
    return f(primals[0]), tangents[0]
return f(x)
# ADC010: `float.fromhex` is not supported

def make(b):
    def f(v):
        return v * b
    return f
return make(2.0) is make(3.0), x
# ADC010: `is` on function 'f' and function 'f', which may be one, is not supported
""",
    "x=X": r"""
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

return adc.grad(np.sum, 0, argnames='a')(x)
# ADC020: argnums and argnames are both given

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
""",
    "x=1.5, n=3": r"""
def f(v, k):
    if k <= 0:
        return v
    return f((v, v), k - 1)
return f(x, n)
# ADC025: f() calls itself with a new function or new types at every level

a = []
for k in range(n):
    a.append(x)
return adc.vmap(thrice)(a)
# ADC010: `vmap` of a list whose length is not known is not supported

def f(v, k):
    return f(v, k - 1)
return f(x, n)
# ADC010: f() calls itself on every path

return rec9(x, n)
# ADC025: rec9() calls itself with a new function or new types at every level

def rec(k):
    if k <= 0.0:
        return (x, lambda v: v)
    return rec(k - 1.0)
return rec(x)[0]
# ADC010: returning function '<lambda>' from a recursive function is not supported
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

def rec(y):
    before = h.factor
    h.factor = 3.0
    return rec(y - 1.0) if y > 0.0 else before
def h(y):
    return y
h.factor = 1.0
return rec(x) * n
# ADC010: assignment to an attribute of function 'h' is not supported

del (x, n)
return 1.0
# ADC010: `del` of this is not supported
""",
    "x=X, n=2": r"""
t = 1
def g(y):
    nonlocal t
    before = t
    t = t + 0.5
    return before
return adc.vmap(g)(x)
# ADC014: the results of two elements in vmap have the types int64 and float64
""",
}
