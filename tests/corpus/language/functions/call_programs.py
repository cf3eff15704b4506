# ruff: noqa: B023, B905, E731
# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""Calls: functions, closures, recursion; `assert`, `raise` and `print`.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder

CALL_PROGRAMS: list[Program] = []
program = recorder(CALL_PROGRAMS)


# --- functions ------------------------------------------------------------------------------------


def _square(v: Any) -> Any:
    return v * v


def _scaled_sum(a: Any, scale: Any = 2.0, *, shift: Any = 0.0) -> Any:
    s = shift
    for v in a:
        s += scale * v * v
    return s


def _relu(v: Any) -> Any:
    if v > 0.0:
        return v
    return 0.0 * v


def _min_and_max(a: Any) -> Any:
    low = a[0]
    high = a[0]
    for v in a:
        low = min(low, v)
        high = max(high, v)
    return low, high


def _square_elements(a: Any) -> None:
    for i in range(len(a)):
        a[i] = a[i] * a[i]


def _axpy(alpha: Any, x: Any, y: Any) -> None:
    for i in range(len(x)):
        y[i] += alpha * x[i]


def _first_larger(a: Any, bound: Any) -> Any:
    for i in range(len(a)):
        if a[i] > bound:
            return a[i]
    return bound


def _prefix_sums(a: Any) -> Any:
    out = np.zeros(len(a))
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return out


def _same(a: Any) -> Any:
    return a


def _scaling(w: Any) -> Any:
    return lambda v: w * v


def _scaling_by_default(w: Any) -> Any:
    def scaled(v: Any, s: Any = w) -> Any:
        return s * v

    return scaled


@dataclass(frozen=True)
class _Line:
    slope: Any

    def at(self, v: Any) -> Any:
        return self.slope * v


def _pair(fn: Any, w: Any) -> Any:
    def once(v: Any) -> Any:
        return fn(v) + w * v

    return lambda v: once(once(v))


@program(0.7)
def call_of_a_helper(x: Any) -> Any:
    return _square(x) + _square(_square(x) + 1.0)


@program(X3, 0.4, argnums=(0, 1))
def call_with_defaults_and_keywords(a: Any, c: Any) -> Any:
    return (
        _scaled_sum(a)
        + _scaled_sum(a, c) * 2.0
        + _scaled_sum(a, scale=c, shift=c * c)
        + _scaled_sum(shift=1.0, a=a)
    )


@program(0.7)
def default_arguments_of_the_program(x: Any, n: Any = 3, *, scale: Any = 0.5) -> Any:
    s = x
    for i in range(n):
        s = s * x * scale + i
    return s


@program(X6, smooth=False)
def call_of_a_helper_with_branches_in_a_loop(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += _relu(v) * v
    return s


@program(X6, smooth=False, tags="tuple")
def helper_returns_a_tuple(x: Any) -> Any:
    low, high = _min_and_max(x)
    return high * high - low * high


@program(X3, tags="mutates")
def helper_modifies_its_argument(x: Any) -> Any:
    _square_elements(x)
    _square_elements(x)
    return x[0] + x[1] * x[2]


@program(X3, np.array([0.3, 0.9, -0.2]), 0.7, argnums=(0, 1, 2), tags="mutates")
def helper_modifies_in_a_loop(x: Any, y: Any, c: Any) -> Any:
    for i in range(3):
        _axpy(c * y[i], x, y)
    return y[0] * y[1] * y[2]


@program(X6, tags="exit", smooth=False)
def helper_returns_early_from_a_loop(x: Any) -> Any:
    return _first_larger(x, 1.5) * x[0] + _first_larger(x, 50.0) * x[1]


@program(X6)
def helper_returns_a_new_array(x: Any) -> Any:
    p = _prefix_sums(x)
    q = _prefix_sums(p)
    return p[2] * q[5]


@program(X3, tags="alias mutates")
def helper_returns_its_argument(x: Any) -> Any:
    y = _same(x)
    y[0] = y[0] * 3.0
    return x[0] * x[1]


@program(X3)
def nested_function_reads_outer_names(x: Any) -> Any:
    c = x[0] * 2.0

    def inner(v: Any) -> Any:
        return c * v * v + x[1]

    return inner(x[1]) + inner(x[2])


@program(X3, tags="closure")
def nested_function_modifies_outer_array(x: Any) -> Any:
    a = np.zeros(3)

    def add(i: Any, v: Any) -> None:
        a[i] += v * v

    for i in range(3):
        add(i, x[i])
        add(0, x[i] * 0.5)
    return a[0] * a[1] + a[2]


@program(0.7, tags="closure")
def closure_sees_later_rebinding(x: Any) -> Any:
    c = 1.0

    def inner(v: Any) -> Any:
        return v * c

    a = inner(x)
    c = x * x
    return a + inner(x)


@program(0.7, 1.3, argnums=(0, 1), tags="closure")
def lambdas(x: Any, y: Any) -> Any:
    f = lambda v: v * v + y
    g = lambda u, v=2.0: u * v
    return f(x) * g(y) + g(x, f(y)) + (lambda: x * y)()  # type: ignore[no-untyped-call]  # a lambda has no types


def _twice(f: Any, v: Any) -> Any:
    return f(f(v))


def _simpson(f: Any, a: Any, b: Any, n: Any) -> Any:
    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += f(a + i * h) * (4.0 if i % 2 == 1 else 2.0)
    return s * h / 3.0


def _power_with(factor: Any) -> Any:
    def power(x: Any, n: Any) -> Any:
        return factor * x if n == 0 else x * power(x, n - 1)

    return power


_doubled_power, _trebled_power = _power_with(2.0), _power_with(3.0)


@program(0.7, tags="closure recursion")
def recursive_functions_with_one_code(x: Any) -> Any:
    return _doubled_power(x, 2) + _trebled_power(x, 3)


def _around(factor: Any, inner: Any) -> Any:
    return lambda x: factor * math.sin(x) if inner is None else factor * inner(x)


_nested_around = _around(3.0, _around(2.0, None))


@program(0.7, tags="closure")
def function_that_calls_another_with_its_code(x: Any) -> Any:
    return _nested_around(x) * x


@program(0.7, tags="closure")
def functions_as_arguments(x: Any) -> Any:
    return _twice(_square, x) + _twice(math.sin, x) + _twice(lambda v: v * x + 1.0, x)


@program(1.2, 0.4, argnums=(0, 1), tags="closure")
def quadrature_of_a_closure(b: Any, w: Any) -> Any:
    return _simpson(lambda t: math.sin(w * t) * t, 0.0, b, 8)


@program(_square, 0.7, argnums=(1,), tags="function-argument")
def function_argument_of_the_program(f: Any, x: Any) -> Any:
    return f(x) * x + f(f(x))


@program(0.7, tags="closure", smooth=False)
def function_chosen_by_a_constant(x: Any, kind: Any = "tanh") -> Any:
    if kind == "tanh":
        return math.tanh(x)
    return x


def _make_polynomial(coefficients: Any, offset: Any) -> Callable[[Any], Any]:
    def polynomial(v: Any) -> Any:
        s = 0.0
        for c in coefficients:
            s = s * v + c
        return s + offset

    return polynomial


_POLYNOMIAL = _make_polynomial(np.array([0.5, -1.0, 2.0]), 0.25)
_WEIGHTS = np.array([0.3, -0.8, 1.1])
_TABLE = np.array([[1, 2, 0], [2, 0, 1]])
_GAIN = 1.7
_ORDER = 3


@program(0.7, tags="closure")
def closure_over_array_and_number(x: Any) -> Any:
    return _POLYNOMIAL(x) * _POLYNOMIAL(x + 1.0)


@program(X3, tags="closure")
def global_arrays_and_numbers(x: Any) -> Any:
    s = 0.0
    for i in range(len(_WEIGHTS)):
        s += _GAIN * _WEIGHTS[i] * x[_TABLE[1, i]] ** _ORDER
    return s


@program(0.7, tags="closure")
def function_returned_by_a_function(x: Any) -> Any:
    def scale_by(c: Any) -> Any:
        return lambda v: v * c

    double = scale_by(2.0)
    grow = scale_by(x)
    return double(grow(x)) + grow(x * x)


# --- recursion ------------------------------------------------------------------------------------


def _power(x: Any, n: Any) -> Any:
    if n == 0:
        return 1.0
    half = _power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x


def _range_sum(a: Any, low: Any, high: Any) -> Any:
    if high - low == 1:
        return a[low] * a[low]
    mid = (low + high) // 2
    return _range_sum(a, low, mid) + _range_sum(a, mid, high) * a[low]


def _ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    if n == 0:
        return _ackermann(m - 1, 1)
    return _ackermann(m - 1, _ackermann(m, n - 1))


def _is_even(n: Any) -> Any:
    if n == 0:
        return True
    return _is_odd(n - 1)


def _is_odd(n: Any) -> Any:
    if n == 0:
        return False
    return _is_even(n - 1)


def _smooth_in_place(a: Any, depth: Any) -> None:
    if depth == 0:
        return
    for i in range(1, len(a)):
        a[i] = 0.5 * a[i] * a[i - 1] + 0.3
    _smooth_in_place(a, depth - 1)


def _fixed_point(x: Any, s: Any) -> Any:
    t = math.cos(s) * x
    if abs(t - s) < 1e-3:
        return t
    return _fixed_point(x, t)


def _quadrature(f: Any, a: Any, b: Any, depth: Any) -> Any:
    m = 0.5 * (a + b)
    if depth == 0:
        return f(m) * (b - a)
    return _quadrature(f, a, m, depth - 1) + _quadrature(f, m, b, depth - 1)


def _sum_digits(n: Any) -> Any:
    return n if n < 10 else n % 10 + _sum_digits(n // 10)


@program(1.1, 13, tags="recursive")
def power_by_recursive_squaring(x: Any, n: Any) -> Any:
    return _power(x, n)


@program(X6, tags="recursive")
def recursive_sum_over_an_array(x: Any) -> Any:
    return _range_sum(x, 0, len(x))


@program(0.7, tags="recursive integer")
def ackermann_as_control(x: Any) -> Any:
    return x * _ackermann(2, 2) + x * x


@program(0.7, tags="recursive integer")
def mutual_recursion_as_control(x: Any) -> Any:
    return x * x if _is_even(8) and _is_odd(5) else x


@program(X6, tags="recursive mutates")
def recursion_that_modifies_an_array(x: Any) -> Any:
    _smooth_in_place(x, 4)
    return x[5] * x[1]


@program(0.7, tags="recursive", smooth=False)
def recursion_until_converged(x: Any) -> Any:
    return _fixed_point(x, 0.5)


@program(1.3, tags="recursive closure")
def recursion_over_a_function(x: Any) -> Any:
    return _quadrature(lambda t: math.exp(-x * t * t), 0.0, x, 4)


@program(0.7, 4721, tags="recursive integer")
def recursion_over_digits(x: Any, n: Any) -> Any:
    return x**2 * _sum_digits(n)


@program(X3)
def program_that_calls_itself(x: Any, depth: Any = 2) -> Any:
    if depth == 0:
        return x[0] * x[1]
    return math.sin(program_that_calls_itself(x, depth - 1)) * x[depth]


def _first_unless_zero(m: Any) -> Any:
    row = m[0]
    total = row[1] + np.sum(row)
    m[1:3, 2] = 0.3
    if total:
        return m[1, 1]
    return None


def _scaled_in_place(row: Any) -> Any:
    m = np.outer(row, row)
    first = row[0]
    _first_unless_zero(m * 0.5)
    m[1:3, 2] = first
    row[1] *= np.sum(row)
    return row.copy()


@program(np.linspace(0.1, 0.9, 16).reshape(4, 4))
def functions_of_which_results_are_not_used(x: Any) -> Any:
    y = x.copy()
    return np.sum(_scaled_in_place(y[1])) + np.sum(y)


# --- assert, raise, print -------------------------------------------------------------------------


@program(0.7, smooth=False)
def assert_that_holds(x: Any) -> Any:
    assert x > 0.0, "x must be positive"
    y = math.sqrt(x)
    assert y < 1.0
    return y * x


@program(X6, smooth=False)
def raise_in_an_untaken_branch(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 100.0:
            raise ValueError("too large")
        s += x[i] * x[i]
    if s < 0.0:
        raise RuntimeError(f"negative sum {s}")
    return s


@program(0.7, smooth=False)
def raise_as_the_last_branch(x: Any) -> Any:
    if x > 0.5:
        return x * x
    elif x > 0.0:
        return x
    else:
        raise ValueError


@program(X3, tags="print")
def print_while_computing(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s += x[i] * x[i]
        print("partial", i, len(x))
    print("done")
    return s


# --- functions of the same code, with other variables, where paths meet ---------------------------


@program(X3)
def closures_of_two_branches(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v < 1.0:
            h = _scaling(3.0 * v)
            k = _scaling_by_default(v * v)
        else:
            h = _scaling(5.0)
            k = _scaling_by_default(v + 1.0)
        s += h(v) + k(v)
    return s


@program(X3)
def closure_of_the_last_iteration(x: Any) -> Any:
    h = _pair(_scaling(x[0]), x[2])
    for v in x:
        h = _pair(_scaling(v * x[0]), v)
    return h(x[1])


@program(X3, 0.7)
def methods_of_two_branches(x: Any, a: Any) -> Any:
    h = x.sum if a > 1.0 else (x * a).sum
    k = _Line(a).at if a > 1.0 else _Line(a * a).at
    return h() * k(x[0])


@program(0.7)
def closure_reads_what_is_bound_later(x: Any) -> Any:
    w = x

    def made() -> Any:
        return lambda v: w * v

    h = made()
    w = 3.0 * x
    return h(x)


# --- inner functions that call themselves ---------------------------------------------------------


@program(1.3, 4, argnums=(0,))
def inner_functions_call_each_other(x: Any, n: Any) -> Any:
    def even(k: Any) -> Any:
        return x if k == 0 else odd(k - 1) * x

    def odd(k: Any) -> Any:
        return 2.0 * x if k == 0 else even(k - 1) + x

    return even(n) + odd(n)


@program(X6)
def inner_recursion_writes_what_it_captures(x: Any) -> Any:
    a = x.copy()

    def go(lo: Any, hi: Any) -> Any:
        if hi - lo < 2:
            return
        mid = (lo + hi) // 2
        go(lo, mid)
        go(mid, hi)
        a[lo:hi] = np.tanh(a[lo:hi]) + a[lo] * a[hi - 1]

    go(0, len(a))
    return a.sum()


@program(X3, 0.5)
def inner_recursion_that_is_returned(x: Any, s: Any) -> Any:
    def outer(scale: Any) -> Any:
        def rec(n: Any, y: Any = x) -> Any:
            if n == 0:
                return scale * y.sum()
            g: Any = lambda v: v * scale + rec(n - 1, y * 0.9)
            return g(s)

        return rec

    return outer(s)(3) + outer(2.0)(2)


@program(0.3, 1.7, argnums=(0, 1))
def inner_recursion_halves_an_interval(a: Any, b: Any) -> Any:
    f: Any = lambda t: math.exp(-a * t) * math.sin(t)

    def quad(lo: Any, hi: Any, depth: Any = 0) -> Any:
        mid = 0.5 * (lo + hi)
        if depth > 3 or abs(f(lo) - f(hi)) < 0.1:
            return (hi - lo) / 6.0 * (f(lo) + 4.0 * f(mid) + f(hi))
        return quad(lo, mid, depth + 1) + quad(mid, hi, depth + 1)

    return quad(0.0, b)


@program(1.2, 3, argnums=(0,))
def inner_recursion_in_a_loop(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        power: Any = lambda k: 1.0 if k == 0 else (x + i) * power(k - 1)
        s += power(i)
    return s


@program(X3, 3, argnums=(0,))
def inner_recursion_defined_again(x: Any, n: Any) -> Any:
    """The name in it is that of the last one: with the default of that."""
    found = []
    for j in range(2):

        def chosen(k: Any, s: Any = j, factor: Any = x[j]) -> Any:
            return x[s] if k == 0 else chosen(k - 1) + factor * k

        found.append(chosen)
    return found[0](n) + 2.0 * found[1](n)


@program(1.2)
def inner_recursion_over_tuples(x: Any) -> Any:
    def total(tree: Any) -> Any:
        if isinstance(tree, tuple):
            return sum(total(part) for part in tree) * x
        return tree * x

    return total((1.0, (2.0, 3.0), ((4.0,),)))


# --- variables of comprehensions ------------------------------------------------------------------


@program(X3)
def comprehension_beside_a_variable(x: Any) -> Any:
    """What a function reads is the variable around it, wherever that is called."""
    k = 2.0

    def scaled(v: Any) -> Any:
        return v * k

    by_name = {k: scaled(x[k]) * k for k in range(3)}
    some = [scaled(k) + sum([scaled(k) * k for k in range(2)]) for k in x if scaled(k) < 2.0]
    return by_name[2] + sum(some) + max(x, key=lambda k: scaled(k) * k)


FACTOR = 3.0


@program(X3)
def comprehension_beside_a_global(x: Any) -> Any:
    scaled: Any = lambda v: [v * FACTOR + w for w in x]
    s = 0.0
    for row in (scaled(FACTOR) for FACTOR in x):
        s += row[0] * row[1]
    return s + sum(sum(scaled(FACTOR)) for FACTOR in range(2))


@program(X3)
def functions_of_a_comprehension(x: Any) -> Any:
    """They read its variable as it was in the end."""
    late = [lambda v: v * x[k] for k in range(3)]
    early = [lambda v, k=k: v * x[k] for k in range(3)]
    table = {k: [lambda v: v * k * j for j in range(1, 3)] for k in range(1, 3)}
    found = [late[0] for k in range(2)]
    return late[0](2.0) + early[0](3.0) * table[1][0](x[1]) + found[0](x[2])


class _Layer:
    def __init__(self, weight: Any, act: Any) -> None:
        self.weight = weight
        self.act = act

    def __call__(self, v: Any) -> Any:
        return self.act(self.weight * v)


@program(X3)
def layers_of_a_comprehension(x: Any) -> Any:
    def made(depth: Any) -> Any:
        weights = (x[0], x[1] * x[2], x[2])
        return [
            _Layer(w, lambda v: np.tanh(v) * scale) for w, scale in zip(weights, range(1, depth))
        ]

    v = 1.0
    for layer in made(4):
        v = layer(v)
    return v + made(3)[0](x[0])
