# ruff: noqa: B007, B023, B905, E731
"""Programs of one number, each for one rule of Python that the front end must keep.

Lambdas bound to names, variables captured in loops and the like are what is tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Fn = Callable[..., Any]
PROGRAMS: list[Fn] = []
RAISING: list[Fn] = []


def program(fn: Fn) -> Fn:
    PROGRAMS.append(fn)
    return fn


def raising(fn: Fn) -> Fn:
    RAISING.append(fn)
    return fn


G = 2.0


def helper_mut(a: Any, v: Any) -> Any:
    a[0] = v
    return a[0] * 2


@program
def late_binding(x: Any) -> Any:
    k = 1.0

    def g(t: Any) -> Any:
        return t * k

    k = 3.0
    return g(x)


@program
def late_binding2(x: Any) -> Any:

    def g(t: Any) -> Any:
        return t * k

    k = 3.0
    y = g(x)
    k = 5.0
    return y + g(x)


@program
def late_lambda_after_loop(x: Any) -> Any:
    k = 0.0
    g = lambda t: t * k
    for i in range(3):
        k += 1.0
    return g(x)  # type: ignore[no-untyped-call] # a lambda has no types


@program
def default_at_def(x: Any) -> Any:
    k = 1.0

    def g(t: Any, q: Any = k) -> Any:
        return t * q

    k = 3.0
    return g(x)


@program
def kwonly(x: Any) -> Any:

    def g(t: Any, *, q: Any = 2.0, r: Any) -> Any:
        return t * q - r

    return g(x, r=1.5) + g(x, r=2, q=3)


@program
def varargs(x: Any) -> Any:

    def g(a: Any, *rest: Any) -> Any:
        s = a
        for r in rest:
            s = s * 2 + r
        return s

    return g(x) + g(x, 1) + g(x, 1, 2.0)


@program
def star_call(x: Any) -> Any:

    def g(a: Any, b: Any, c: Any) -> Any:
        return a - b * c

    t = (x, 2.0)
    return g(*t, 3.0) + g(1.0, *t)


@program
def alias(x: Any) -> Any:
    a = np.zeros(3)
    b = a
    b[0] = x
    a[1] = b[0] * 2
    return b[1] + a[0]


@program
def alias_tuple(x: Any) -> Any:
    a = np.zeros(3)
    t = (a, a)
    t[0][1] = x
    return t[1][1] + a[1]


@program
def swap(x: Any) -> Any:
    a = np.zeros(2)
    b = np.ones(2)
    a, b = (b, a)
    a[0] = x
    return a[0] * 10 + b[0] + b[1] + a[1]


@program
def swap_loop(x: Any) -> Any:
    a = np.zeros(2)
    b = np.ones(2)
    for i in range(3):
        a, b = (b, a)
        a[0] += x * i
    return a[0] * 10 + b[0] + b[1] + a[1]


@program
def aug_eval_order(x: Any) -> Any:
    a = np.array_like if False else np.zeros(3)
    a[0] = 1.0
    a[0] += helper_mut(a, x)
    return a[0]


@program
def aug_index_once(x: Any) -> Any:
    a = np.zeros(3)
    i = 0
    a[i] += x
    a[min(i + 1, 2)] -= a[i]
    return a[1]


@program
def assign_order(x: Any) -> Any:
    a = np.zeros(3)
    i = 0
    i, a[i] = (1, x)
    return a[1] * 10 + a[0] + i


@program
def chained_assign(x: Any) -> Any:
    a = np.zeros(3)
    i = a[i_of(0)] = x
    return i + a[0]


def i_of(k: Any) -> Any:
    return k


@program
def chain_cmp(x: Any) -> Any:
    a = np.zeros(2)
    r = 0.0 < helper_mut(a, x) < helper_mut(a, 5.0)
    return a[0] + (1.0 if r else 0.0)


@program
def chain_cmp_short(x: Any) -> Any:
    a = np.zeros(2)
    r = 10.0 < helper_mut(a, x) < helper_mut(a, 5.0)
    return a[0] + (1.0 if r else 0.0)


@program
def short_circuit(x: Any) -> Any:
    a = np.zeros(2)
    i = 5
    if i < len(a) and a[i] > 0:
        return 1.0
    if i >= len(a) or a[i] > 0:
        return 2.0 * x
    return 3.0


@program
def cond_expr_error(x: Any) -> Any:
    a = np.zeros(2)
    i = 7
    return a[i] if i < 2 else x


@program
def loop_else(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i == 5:
            break
        s += x
    else:
        s += 100.0
    while s < 0:
        s += 1
    else:
        s *= 2
    return s


@program
def loop_var_after(x: Any) -> Any:
    for i in range(3):
        y = x * i
    return y + i


@program
def tuple_in_loop(x: Any) -> Any:
    t = (0.0, 1.0)
    for i in range(4):
        t = (t[1], t[0] + t[1] * x)
    return t[0] * 100 + t[1]


@program
def nested_tuple(x: Any) -> Any:
    t = ((0.0, x), 1.0)
    for i in range(4):
        (a, b), c = t
        t = ((b, c), a + b)
    return t[0][0] * 100 + t[1]


@program
def nested_exits(x: Any) -> Any:
    s = 0.0
    for i in range(5):
        for j in range(5):
            if j == i:
                continue
            if j > i + 2:
                break
            s += x * j
            if s > 40:
                return s
        else:
            s += 0.25
            continue
        if i == 3:
            break
        s += 0.5
    else:
        s += 1000.0
    return s


@program
def while_else_break(x: Any) -> Any:
    n = 0
    while n < 10:
        n += 1
        if n % 7 == 0:
            break
        if n % 2:
            continue
        x = x * 1.5
    else:
        x = 0.0
    return x + n


@program
def bool_ops_value(x: Any) -> Any:
    return (x or 3.0) + (0.0 or x) + (x and 2.0) + (0 or 0.0 or x)


@program
def not_neg_zero(x: Any) -> Any:
    z = -0.0
    return 1.0 if not z else x


@program
def fn_arg(x: Any) -> Any:

    def ap(f: Any, v: Any) -> Any:
        return f(f(v))

    return ap(math.sin, x) + ap(lambda t: t * x, 2.0) + ap(i_of, x)


@program
def fn_return(x: Any) -> Any:

    def make(k: Any) -> Any:

        def g(t: Any) -> Any:
            return t * k

        return g

    return make(2.0)(x) + make(x)(3.0)


@program
def fn_in_tuple(x: Any) -> Any:
    fs = (math.sin, math.cos, lambda t: t * 2)
    s = 0.0
    for f in fs:
        s += f(x)
    return s + fs[1](x)


@program
def closure_mutates(x: Any) -> Any:
    a = np.zeros(2)

    def put(v: Any) -> Any:
        a[1] = v

    put(x)
    put(a[1] * 2)
    return a[1]


@program
def closure_rebind_array(x: Any) -> Any:
    a = np.zeros(2)

    def get() -> Any:
        return a[0]

    a = np.ones(2)
    a[0] = x
    return get()


@program
def shadow(x: Any) -> Any:

    def g(x: Any) -> Any:
        x = x * 2
        return x

    return g(x) + x


@program
def nested_closure(x: Any) -> Any:
    k = 2.0

    def g() -> Any:
        m = 3.0

        def h() -> Any:
            return x * k * m

        m = 4.0
        return h()

    return g()


@program
def int_wrap(x: Any) -> Any:
    a = np.zeros(1, dtype=np.int8)
    a[0] = 100
    a[0] += 100
    return x * a[0]


@program
def global_read(x: Any) -> Any:
    return x * G


@program
def del_none(x: Any) -> Any:
    y = None
    if y is None:
        y = 2.0
    return x * y


@program
def early_in_tuple_loop(x: Any) -> Any:
    for v in (1.0, x, 3.0):
        if v > 1.2:
            return v * 10
    return 0.0


@program
def ternary_nested(x: Any) -> Any:
    return 1.0 if x > 2 else 2.0 if x > 1 else 3.0


@program
def unpack_arr(x: Any) -> Any:
    a = np.ones(2)
    p, q = a
    (p, q), r = ((q, x), p)
    return p + q + r


@program
def neg_step(x: Any) -> Any:
    s = 0.0
    for i in range(10, 0, -3):
        s += i * x
    for i in range(5, 5):
        s += 1000000000.0
    for i in range(-3):
        s += 1000000000.0
    return s + i


@program
def range_obj(x: Any) -> Any:
    r = range(2, 11, 3)
    s = len(r) * 1.0
    for i in r:
        s += i * x
    for i in r:
        s += 1
    return s


@program
def range_mutated_bound(x: Any) -> Any:
    n = 3
    s = 0.0
    for i in range(n):
        n = 10
        i = i * 2
        s += i * x
    return s + n + i


@program
def array_loop_mutated(x: Any) -> Any:
    a = np.ones(4)
    s = 0.0
    for v in a:
        a[2] = 5.0 * x
        s += v
    return s


@program
def array_loop_rebound(x: Any) -> Any:
    a = np.ones(4)
    s = 0.0
    for v in a:
        a = np.zeros(4)
        s += v * x
    return s


@program
def zip_short(x: Any) -> Any:
    s = 0.0
    for u, v in zip(np.ones(3), range(2)):
        s += u * v * x
    return s + v


@program
def if_alias_join(x: Any) -> Any:
    a = np.zeros(2)
    b = np.ones(2)
    c = a if x > 1 else b
    return c[0] + x


@program
def deep_default(x: Any) -> Any:

    def g(a: Any, b: Any = lambda t: t * 2) -> Any:
        return b(a)

    return g(x)


@program
def kw_call(x: Any) -> Any:

    def g(a: Any, b: Any, c: Any = 3.0) -> Any:
        return a * 100 + b * 10 + c

    return g(b=x, a=1.0) + g(1.0, c=2.0, b=x)


@program
def bool_arith(x: Any) -> Any:
    t = x > 1
    return t + t + x * True - (not t)


@program
def fact_loop(x: Any) -> Any:
    s = 1
    for i in range(1, 15):
        s *= i
    return s * x


@program
def shift_ops(x: Any) -> Any:
    return (5 << 3 >> 1 ^ 7 | 8 & 12) * x


@program
def while_tuple_cond(x: Any) -> Any:
    i, s = (0, 0.0)
    while i < 3 and s < 100:
        i, s = (i + 1, s + x)
    return s


@program
def recursion_default(x: Any, n: Any = 3) -> Any:
    return x if n == 0 else x * recursion_default(x, n - 1)


@program
def mutual_even(x: Any, n: Any = 4) -> Any:
    return x if n == 0 else mutual_odd(x * 2, n - 1)


def mutual_odd(x: Any, n: Any) -> Any:
    return -x if n == 0 else mutual_even(x + 1, n - 1)


@program
def rec_array(x: Any) -> Any:
    a = np.zeros(4)
    fill(a, 3, x)
    return a[0] + a[3] * 10


def fill(a: Any, k: Any, x: Any) -> Any:
    if k >= 0:
        a[k] = x * k + 1
        fill(a, k - 1, x)


@program
def str_arg(x: Any) -> Any:

    def g(mode: Any) -> Any:
        if mode == "a":
            return x
        elif mode in ("b", "c"):
            return x * 2
        return 0.0

    return g("a") + g("b") + g("z")


@program
def print_it(x: Any) -> Any:
    print("x", 3, x > 1, None, (1, 2.0))
    return x


@program
def np_div_zero(x: Any) -> Any:
    a = np.zeros(2)
    return x / a[0]


@program
def py_div_zero(x: Any) -> Any:
    return x / (x - x)


@program
def negidx(x: Any) -> Any:
    a = np.zeros(3)
    a[-1] = x
    a[-3] = 2.0
    return a[2] + a[0] + a[-2]


@program
def oob(x: Any) -> Any:
    a = np.zeros(3)
    return a[int(x) + 4]


@program
def oob_neg(x: Any) -> Any:
    a = np.zeros((3, 2))
    return a[0, -3]


@program
def unbound_late(x: Any) -> Any:
    for i in range(int(x) - 1):
        y = i
    return y * x


@program
def dom(x: Any) -> Any:
    return math.sqrt(-x)


@program
def dom2(x: Any) -> Any:
    return math.log(x - x)


@program
def rng(x: Any) -> Any:
    return math.exp(x * 1000)


@program
def asrt(x: Any) -> Any:
    assert x < 0, f"bad {x} and {int(x)}"
    return x


@program
def asrt2(x: Any) -> Any:
    assert x < 0
    return x


@program
def negshift(x: Any) -> Any:
    return x * (1 << int(x) - 3)


@program
def stepzero(x: Any) -> Any:
    s = 0.0
    for i in range(0, 5, int(x) - 1):
        s += 1
    return s


@program
def moddiv(x: Any) -> Any:
    return x % (x - x)


@program
def ifloor(x: Any) -> Any:
    return x * (1 // (int(x) - 1))


@program
def imod(x: Any) -> Any:
    return x * (1 % (int(x) - 1))


@program
def ffloor(x: Any) -> Any:
    return 1.0 // (x - x)


@program
def negdim(x: Any) -> Any:
    return np.zeros(int(x) - 5)[0]


@program
def powz(x: Any) -> Any:
    return (x - x) ** (-1.5)


@program
def powo(x: Any) -> Any:
    return (x * 1e300) ** 2


@program
def intnan(x: Any) -> Any:
    return x * int(x * math.inf)


@program
def intnan2(x: Any) -> Any:
    return x * int(x * math.nan)


@program
def i8store(x: Any) -> Any:
    a = np.zeros(2, np.int8)
    a[0] = int(x) + 300
    return x * a[0]


@program
def returnnone(x: Any) -> Any:

    def g() -> Any:
        pass

    return x if g() is None else 0.0


@program
def method_call(x: Any) -> Any:
    a = np.ones(3)
    b = a.copy()
    b[0] = x
    a.fill(2.0)
    return a[0] + b[0] + a.item(1) + a.size + a.ndim + a.shape[0] + len(a)


@program
def rec_closure(x: Any) -> Any:

    def f(n: Any, v: Any) -> Any:
        return v * x

    return _rq(lambda t: math.exp(-x * t), 0.0, x, 3)


def _rq(f: Any, a: Any, b: Any, n: Any) -> Any:
    m = 0.5 * (a + b)
    if n == 0:
        return f(m) * (b - a)
    return _rq(f, a, m, n - 1) + _rq(f, m, b, n - 1)


@program
def rec_closure2(x: Any) -> Any:
    a = np.ones(3)
    a[1] = x

    def w(i: Any) -> Any:
        return a[i] * x

    return _rs(w, 2)


def _rs(f: Any, i: Any) -> Any:
    if i < 0:
        return 0.0
    return f(i) + _rs(f, i - 1)


@program
def rec_closure_mut(x: Any) -> Any:
    a = np.ones(3)

    def w(i: Any) -> Any:
        a[i] = a[i] * x + i
        return a[i]

    r = _rs(w, 2)
    return r + a[0] * 3 + a[2]


@program
def rec_closure_nested(x: Any) -> Any:
    k = 2.0

    def outer(g: Any) -> Any:
        return lambda i: g(i) * k

    r = _rs(outer(lambda i: x * i), 2)
    k = 3.0
    return r


@program
def rec_two(x: Any) -> Any:
    return _rs(lambda i: x * i, 3) + _rs(lambda i: x + i, 2)


@program
def closure_over_loop_var_in_rec(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s += _rs(lambda j: x * i + j, 2)
    return s


# --- exceptions, compared compiled: `x` is array([1.5, -2.0, 0.0]) ---


@raising
def index_above(x: Any) -> Any:
    return x[len(x) + 7]


@raising
def index_below(x: Any) -> Any:
    i = -4
    return x[0] * x[i]


@raising
def index_of_second_axis(x: Any) -> Any:
    a = np.zeros((3, 2))
    for j in range(5):
        a[1, j] = x[0]
    return a[0, 0]


@raising
def index_in_a_store_after_writes(x: Any) -> Any:
    for i in range(10):
        x[i] = x[i] * 2.0
    return x[0]


@raising
def division_by_zero(x: Any) -> Any:
    return 1.0 / float(x[2])


@raising
def floor_division_by_zero(x: Any) -> Any:
    return x[0] * (7 // int(x[2]))


@raising
def modulo_by_zero(x: Any) -> Any:
    return float(x[0]) % float(x[2])


@raising
def domain_of_sqrt(x: Any) -> Any:
    return math.sqrt(x[1])


@raising
def domain_of_log(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s += math.log(x[i])
    return s


@raising
def range_of_exp(x: Any) -> Any:
    return math.exp(x[0] * 1000.0)


@raising
def overflow_of_a_power(x: Any) -> Any:
    return (float(x[0]) * 1e300) ** 2


@raising
def pole_of_a_power(x: Any) -> Any:
    return float(x[2]) ** -1.5


@raising
def failing_assertion(x: Any) -> Any:
    assert x[1] > 0.0, f"element {1} is {float(x[1]):.2f}"
    return x[0]


@raising
def failing_assertion_without_text(x: Any) -> Any:
    assert x[1] > 0.0
    return x[0]


@raising
def raise_with_numbers(x: Any) -> Any:
    y = float(x[0])
    if y > 1.0:
        raise ValueError(f"no {y:.3f} {y!r} {int(x[1])} {{}}")
    return x[0]


@raising
def raise_with_an_array(x: Any) -> Any:
    y = x * 2.0
    if y[1] < 0.0:
        raise ValueError(f"no {y} of {x[1]}")
    return x[0]


@raising
def failing_assertion_in_a_loop_with_an_array(x: Any) -> Any:
    y = x.copy()
    for k in range(3):
        y[k] = np.sin(y[k]) + 1.0
        assert y[k] > 0.5, f"{y} at {k}"
    return np.sum(y)


@raising
def raise_always(x: Any) -> Any:
    raise NotImplementedError("not yet")


@raising
def raise_in_a_helper(x: Any) -> Any:
    return _reject(x[0]) + 1.0


def _reject(v: Any) -> Any:
    if v > 1.0:
        raise ArithmeticError("too large")
    return v


@raising
def variable_of_a_loop_that_does_not_run(x: Any) -> Any:
    for i in range(int(x[2])):
        y = x[i]
    return y * 2.0


@raising
def negative_shift(x: Any) -> Any:
    return x[0] * (1 << int(x[1]))


@raising
def step_of_zero(x: Any) -> Any:
    s = 0.0
    for i in range(0, 5, int(x[2])):
        s += x[i]
    return s


@raising
def too_many_to_unpack(x: Any) -> Any:
    a, b = x
    return a * b


@raising
def too_few_to_unpack(x: Any) -> Any:
    a, b, c, d = x
    return a * b * c * d


@raising
def negative_size(x: Any) -> Any:
    a = np.zeros(int(x[1]))
    return x[0] + len(a)


@raising
def integer_of_nan(x: Any) -> Any:
    return x[0] * int(float(x[0]) * math.nan)


@raising
def integer_of_infinity(x: Any) -> Any:
    return x[0] * int(float(x[0]) * math.inf)


@raising
def integer_too_large_for_the_array(x: Any) -> Any:
    a = np.zeros(2, dtype=np.int8)
    a[0] = int(x[0]) + 300
    return x[0] * a[0]
