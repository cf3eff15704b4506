# ruff: noqa: B007, B023, B905, E731
# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""One corpus of plain programs with sample inputs, for every test that needs programs.

Each program is an ordinary function of numbers and NumPy arrays, small enough to read at a glance,
and named for the one thing it shows. The samples are chosen so that every program runs without a
warning, takes the branches its name promises, and is differentiable where it is evaluated: no
comparison, kink or rounding step is near a tie. Two groups are in files of their own:
`tests.corpus.loops.element_programs` and `tests.corpus.loops.numeric_programs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.corpus.language.small_programs import SMALL_PROGRAMS
from tests.corpus.loops.element_programs import ELEMENT_PROGRAMS
from tests.corpus.loops.numeric_programs import NUMERIC_PROGRAMS
from tests.corpus.program import X3, X6, Program, recorder, uniform

PROGRAMS: list[Program] = []
program = recorder(PROGRAMS)


def by_name(name: str) -> Program:
    """Return the program called `name`."""
    return next(p for p in PROGRAMS if p.name == name)


def tagged(*tags: str) -> list[Program]:
    """Return the programs that carry all of `tags`, in order."""
    return [p for p in PROGRAMS if p.tags.issuperset(tags)]


# Programs that notice what few do, found by planted bugs.
NOTICING = (
    "earlier_elements_of_a_local_array", "lstm_cell_with_scalar_loops", "matrix_power_by_loops",
    "for_over_array_sees_later_writes", "numpy_piecewise",
)  # fmt: skip


def differentiable() -> list[Program]:
    """Return the programs that have something to differentiate, in order."""
    return [p for p in PROGRAMS if p.argnums]


# --- scalars: arithmetic and functions ------------------------------------------------------------


@program(0.7)
def identity(x: Any) -> Any:
    return x


@program(0.7, 1.9, argnums=(0, 1))
def add_sub_mul_div(x: Any, y: Any) -> Any:
    return (x + y) * (x - y) / (x * y + 3.0)


@program(0.7)
def unary_minus_and_plus(x: Any) -> Any:
    y = -x
    return y * +x - -y


@program(1.3)
def integer_powers(x: Any) -> Any:
    return x**2 + x**3 - x**-2 + x**0 + x**1


@program(-1.3)
def integer_power_of_negative_base(x: Any) -> Any:
    return x**3 + x**2 + x**-1


@program(1.3, 0.8, argnums=(0, 1))
def float_powers(x: Any, y: Any) -> Any:
    return x**y + x**0.5 + x**2.5 + 2.0**y + 2**y + pow(y, x)


@program(0.7)
def same_value_used_many_times(x: Any) -> Any:
    y = x * x
    return y + y * y + y * x


@program(0.4)
def math_trigonometric(x: Any) -> Any:
    return (
        math.sin(x) + 2.0 * math.cos(x) + 3.0 * math.tan(x)
        + 4.0 * math.asin(x) + 5.0 * math.acos(x) + 6.0 * math.atan(x)
    )  # fmt: skip


@program(0.4)
def math_hyperbolic(x: Any) -> Any:
    return (
        math.sinh(x) + 2.0 * math.cosh(x) + 3.0 * math.tanh(x)
        + 4.0 * math.asinh(x) + 5.0 * math.acosh(x + 1.5) + 6.0 * math.atanh(x)
    )  # fmt: skip


@program(0.4)
def math_exponentials(x: Any) -> Any:
    return math.exp(x) + 2.0 * math.expm1(x) + 3.0 * math.exp2(x) + 4.0 * math.pow(x, 1.7)


@program(1.4)
def math_logarithms(x: Any) -> Any:
    return math.log(x) + 2.0 * math.log2(x) + 3.0 * math.log10(x) + 4.0 * math.log1p(x)


@program(1.4)
def math_roots_and_erf(x: Any) -> Any:
    return math.sqrt(x) + 2.0 * math.cbrt(x) + 3.0 * math.erf(x) + 4.0 * math.erfc(x)


@program(-0.8)
def cube_root_of_negative(x: Any) -> Any:
    return math.cbrt(x) + 2.0 * np.cbrt(x * 3.0)


@program(0.8, -1.1, argnums=(0, 1))
def math_two_arguments(x: Any, y: Any) -> Any:
    return math.hypot(x, y) + 2.0 * math.atan2(y, x) + 3.0 * math.atan2(x, y) + math.atan2(y, -x)


@program(2.7, -1.1, argnums=(0, 1), smooth=False)
def math_rounding_and_signs(x: Any, y: Any) -> Any:
    a = math.floor(x) * y + math.ceil(x) * y * y + math.trunc(y) * x
    return a + math.fabs(y) * x + math.copysign(x, y) * 3.0 + math.fmod(x, 0.8) + math.fmod(y, x)


@program(0.9)
def math_constants(x: Any) -> Any:
    return math.pi * x + math.e * x * x + math.tau / x + np.pi * x


@program(30.0)
def degrees_and_radians(x: Any) -> Any:
    return math.sin(math.radians(x)) + math.degrees(x) * 1e-3 + np.deg2rad(x) * np.rad2deg(x * x)


@program(np.float64(0.4))
def numpy_trigonometric(x: Any) -> Any:
    return (
        np.sin(x) + 2.0 * np.cos(x) + 3.0 * np.tan(x)
        + 4.0 * np.arcsin(x) + 5.0 * np.arccos(x) + 6.0 * np.arctan(x)
    )  # fmt: skip


@program(np.float64(0.4))
def numpy_hyperbolic(x: Any) -> Any:
    return (
        np.sinh(x) + 2.0 * np.cosh(x) + 3.0 * np.tanh(x)
        + 4.0 * np.arcsinh(x) + 5.0 * np.arccosh(x + 1.5) + 6.0 * np.arctanh(x)
    )  # fmt: skip


@program(np.float64(0.4))
def numpy_names_of_the_array_api(x: Any) -> Any:
    return (
        np.asin(x) + 2.0 * np.acos(x) + 3.0 * np.atan(x) + 4.0 * np.asinh(x)
        + 5.0 * np.acosh(x + 1.5) + 6.0 * np.atanh(x) + np.pow(x, 1.5) + np.atan2(x, 2.0)
    )  # fmt: skip


@program(np.float64(1.4))
def numpy_exponentials_and_logarithms(x: Any) -> Any:
    a = np.exp(x) + 2.0 * np.exp2(x) + 3.0 * np.expm1(x)
    return a + np.log(x) + 2.0 * np.log2(x) + 3.0 * np.log10(x) + 4.0 * np.log1p(x)


@program(np.float64(1.4), np.float64(-0.6), argnums=(0, 1))
def numpy_powers_and_roots(x: Any, y: Any) -> Any:
    a = np.sqrt(x) + np.cbrt(y) + np.square(y) + np.reciprocal(x) + np.power(x, y)
    return a + np.hypot(x, y) + np.arctan2(y, x) + np.float_power(x, y)


@program(np.float64(2.7), np.float64(-1.1), argnums=(0, 1), smooth=False)
def numpy_piecewise(x: Any, y: Any) -> Any:
    a = np.floor(x) * y + np.ceil(y) * x + np.trunc(x) * y + np.rint(x) * y
    b = np.abs(y) * x + np.absolute(x) + np.fabs(y) + np.sign(y) * x + np.copysign(x, y) * y
    return a + b + np.minimum(x, y) * x + np.maximum(x, y) * y + np.fmin(x, y) + np.fmod(x, 0.8)


@program(np.float64(2.7), np.float64(-1.1), argnums=(0, 1), smooth=False)
def numpy_named_arithmetic(x: Any, y: Any) -> Any:
    a = np.add(x, y) * np.subtract(x, y) + np.multiply(x, y) + np.divide(x, y)
    b = np.negative(x) * np.positive(y) + np.true_divide(y, x)
    return a + b + np.remainder(x, 0.8) + np.mod(y, x) + np.floor_divide(x, 0.8) * y


@program(np.float64(0.8), np.float64(1.3), argnums=(0, 1))
def logaddexp_and_logistic(x: Any, y: Any) -> Any:
    return np.logaddexp(x, y) + 1.0 / (1.0 + np.exp(-x)) + np.log1p(np.exp(-y))


@program(-0.8, 1.3, 0.5, argnums=(0, 1, 2), smooth=False)
def builtin_min_max_abs(x: Any, y: Any, z: Any) -> Any:
    return min(x, y) * z + max(x, y, z) * x + abs(x) * y + min(z, y, x, 4.0) + abs(z) * max(z, 0)


@program(2.7, smooth=False)
def builtin_round_is_piecewise_constant(x: Any) -> Any:
    return round(x) * x + round(x * 1.234) * x


@program(7.3, 2.2, argnums=(0, 1), smooth=False)
def float_floor_division_and_modulo(x: Any, y: Any) -> Any:
    return (x // y) * x + (x % y) * y + (-x) % y + (-x) // y * y


@program(7.3, -2.2, argnums=(0, 1), smooth=False)
def divmod_of_floats(x: Any, y: Any) -> Any:
    q, r = divmod(x, y)
    return q * x + r * r


@program(0.7, 3, 2.5, argnums=(0, 2))
def integer_argument_mixed_in(x: Any, n: Any, y: Any) -> Any:
    return x * n + y / n + n**2 * x + x**n


@program(0.7)
def bool_arithmetic_with_floats(x: Any) -> Any:
    return (x > 0.1) * x + (x < 0.2) * x * x + True * x + (x > 0.5) + (x > 0.6)


@program(np.float64(0.7), np.float64(0.9), argnums=(0, 1))
def numpy_bools_add_as_logical_or(x: Any, y: Any) -> Any:
    both = (x > 0.1) + (y > 0.1)  # one np.True_, not the integer 2
    return both * x + y


# --- casts, dtypes, weak numbers ------------------------------------------------------------------


@program(3.7, smooth=False)
def casts_to_python_types(x: Any) -> Any:
    return int(x) * x + float(int(x * 2.0)) * x + bool(x) * x + float(x) * 0.5


@program(-3.7, smooth=False)
def int_cast_truncates_towards_zero(x: Any) -> Any:
    return int(x) * x + math.floor(x) * x * x


@program(0.7, tags="float32")
def cast_to_float32_and_back(x: Any) -> Any:
    y = np.float32(x)
    return np.float64(y * y) * x


@program(3.7, smooth=False)
def cast_to_numpy_integers(x: Any) -> Any:
    return np.int64(x) * x + np.int8(x * 2.0) * x + np.uint16(x) + np.bool_(x) * x


@program(np.float32(0.7), np.float32(1.9), argnums=(0, 1), tags="float32")
def float32_scalars(x: Any, y: Any) -> Any:
    return np.sin(x) * y + x / y


@program(np.array([0.7, -1.3, 0.45], np.float32), tags="float32")
def float32_array_sum_of_squares(x: Any) -> Any:
    s = np.float32(0.0)
    for i in range(len(x)):
        s += x[i] * x[i]
    return s


@program(np.array([0.7, -1.3, 0.45], np.float32), tags="float32")
def python_numbers_do_not_widen_float32(x: Any) -> Any:
    s = x[0] * 0.1 + 2
    return s * 3.0 - x[1] / 7 + True


@program(np.array([0.7, -1.3, 0.45], np.float32), tags="float32")
def numpy_float64_widens_float32(x: Any) -> Any:
    return x[0] * np.float64(0.1) + x[1] * x[2]


@program(np.array([0.7, -1.3], np.float32), np.array([1.1, 0.3]), argnums=(0, 1), tags="float32")
def mixed_float32_and_float64_arrays(x: Any, y: Any) -> Any:
    s = 0.0
    for i in range(2):
        s += x[i] * y[i] * x[i]
    return s


@program(np.array([0.7, -1.3, 0.45]), tags="float32")
def store_float64_into_float32_array(x: Any) -> Any:
    a = np.zeros(3, dtype=np.float32)
    for i in range(3):
        a[i] = math.sin(x[i])
    return a[0] * a[1] * a[2]


@program(np.array([0.7, -1.3, 0.45], np.float32), tags="float32")
def accumulate_float32_in_float64(x: Any) -> Any:
    s = 0.0
    for v in x:
        s = s + np.float64(v) * np.float64(v)
    return s


@program(np.array([0.7, -1.3, 0.45], np.float32), tags="float32 mutates")
def float32_in_place_loop(x: Any) -> Any:
    for i in range(1, 3):
        x[i] = x[i] * x[i - 1] + np.float32(0.5)
    return x[2]


@program(np.float32(0.7), np.array([3, -2], np.int16), np.array([5], np.int32), tags="float32")
def integer_dtypes_promote_float32(x: Any, a: Any, b: Any) -> Any:
    narrow = x * a[0]  # float32
    wide = x * b[0]  # float64
    return narrow * wide + x * 3


@program(0.7, np.array([3, 200], np.uint8), np.array([-7], np.int8))
def small_integer_dtypes(x: Any, a: Any, b: Any) -> Any:
    return x * a[0] + x * x * a[1] + x * b[0] + (a[0] + 4) * x


@program(0.7, np.array([200], np.uint8), tags="integer")
def uint8_shift_wraps_around(x: Any, a: Any) -> Any:
    return x * (a[0] << 1) + x * x * (~a[0]) + x * (a[0] >> 3)


@program(0.7, np.array([250, 3], np.uint8), np.array([300, -1]), tags="integer mutates")
def uint8_store_wraps_around(x: Any, a: Any, wide: Any) -> Any:
    a[0] = wide[0]
    a[1] = wide[1]
    return x * a[0] + x * x * a[1]


@program(0.7, np.array([7], np.uint64), np.array([-3]), tags="integer")
def uint64_and_int64_promote_to_float64(x: Any, u: Any, i: Any) -> Any:
    return (u[0] + i[0]) * x


@program(0.7, np.array([9], np.uint32), np.array([-4], np.int16), tags="integer")
def unsigned_and_signed_promote_to_wider(x: Any, u: Any, i: Any) -> Any:
    return (u[0] * i[0]) * x + (u[0] // 2) * x * x


@program(np.float64(0.7), 0.7, argnums=(0, 1))
def weak_and_numpy_scalars_side_by_side(x: Any, y: Any) -> Any:
    return 1.0 / x + 1.0 / y + 1 / x + 1 / y + x / y


@program(0.7, np.array([True, False, True]))
def bool_array_as_mask(x: Any, mask: Any) -> Any:
    s = 0.0
    for i in range(len(mask)):
        if mask[i]:
            s += x * (i + 1)
        else:
            s += x * x
    return s


@program(np.array([1.5, -0.5]))
def numpy_int_division_gives_float(x: Any) -> Any:
    n = x.shape[0]
    k = np.int64(7)
    return x[0] * (k / 2) + x[1] * (n / 4)


# --- integers -------------------------------------------------------------------------------------


@program(0.7, -7, 3, tags="integer")
def python_floor_division_of_negatives(x: Any, a: Any, b: Any) -> Any:
    return x * (a // b) + x * x * (a % b) + x * (a // -b) + x * (-a % -b)


@program(0.7, np.array([-7, 3, 7, -3]), tags="integer")
def numpy_floor_division_of_negatives(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(4):
        for j in range(4):
            s += x * (k[i] // k[j]) + x * x * (k[i] % k[j])
    return s


@program(0.7, -17, 5, tags="integer tuple")
def divmod_of_integers(x: Any, a: Any, b: Any) -> Any:
    q, r = divmod(a, b)
    return x * q + x * x * r


@program(0.7, 0b1100, 0b1010, tags="integer")
def bit_operations(x: Any, a: Any, b: Any) -> Any:
    return x * (a & b) + x * (a | b) + x * x * (a ^ b) + x * ~a + x * (a << 2) + x * (b >> 1)


@program(0.7, np.array([12, -10]), tags="integer")
def bit_operations_on_numpy_integers(x: Any, k: Any) -> Any:
    return x * (k[0] & k[1]) + x * (k[0] ^ k[1]) + x * (k[1] >> 1) + x * ~k[1] + x * (k[0] | 3)


@program(0.7, 10, tags="integer")
def integer_power_by_augmented_operators(x: Any, n: Any) -> Any:
    n //= 3
    n **= 2
    n -= 1
    n <<= 1
    n |= 1
    n %= 7
    return x * n + x


@program(0.7, tags="integer")
def bool_and_bit_operators_on_conditions(x: Any) -> Any:
    a = (x > 0.5) & (x < 1.0)
    b = (x > 0.8) | (x < 0.1)
    c = a ^ b
    return x * a + x * x * b + x * x * x * c


@program(0.7, 9, tags="integer while")
def collatz_steps_scale_the_result(x: Any, n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return x * steps


@program(84, 36, tags="primal-only integer while")
def greatest_common_divisor(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return a


@program(0.9, 50, tags="integer")
def sieve_of_primes_weights_a_sum(x: Any, n: Any) -> Any:
    composite = np.zeros(n + 1, dtype=np.bool_)
    s = 0.0
    for p in range(2, n + 1):
        if not composite[p]:
            s += x / p
            for q in range(p * p, n + 1, p):
                composite[q] = True
    return s


# --- conditions -----------------------------------------------------------------------------------


@program(0.7, smooth=False)
def if_else_on_data(x: Any) -> Any:
    if x > 0.2:
        y = math.sin(x)
    else:
        y = x * x
    return y * x


@program(0.7, smooth=False)
def if_without_else(x: Any) -> Any:
    y = x
    if x > 0.2:
        y = y * y
    return y


@program(-0.4, smooth=False)
def elif_chain(x: Any) -> Any:
    if x > 1.0:
        return x
    elif x > 0.0:
        y = x * x
    elif x > -1.0:
        y = x * x * x
    elif x > -2.0:
        y = math.exp(x)
    else:
        y = 0.0
    return y + x


@program(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), smooth=False)
def many_branches_in_a_loop(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v < -2.0:
            s += v
        elif v < -1.0:
            s += v * v
        elif v < 0.0:
            s -= v * v * v
        elif v < 1.0:
            s += math.sin(v)
        elif v < 2.0:
            s *= math.cos(v)
        else:
            s = s * 0.5 + v
    return s


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def nested_ifs(x: Any, y: Any) -> Any:
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            if x + y > 0.1:
                z = x * x * y
            else:
                z = y
    else:
        z = x
    return z * z


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def conditional_expressions(x: Any, y: Any) -> Any:
    a = x * x if x > 0.2 else y
    b = y if y > 0.0 else (x * y if x > 0.5 else 1.0)
    return a * b + (x if a > b else y)


@program(0.7, smooth=False)
def chained_comparison(x: Any) -> Any:
    if 0.0 < x < 1.0:
        return x * x
    if 1.0 <= x <= 2.0 < 3.0:
        return x
    return -x


@program(0.7, -0.3, argnums=(0, 1), smooth=False)
def boolean_operators(x: Any, y: Any) -> Any:
    s = 0.0
    if x > 0.0 and y > 0.0:
        s += x
    if x > 0.0 or y > 0.0:
        s += x * y
    if not (x < y) and not y > 0.0:
        s += y * y * y
    return s


@program(0.0, 0.7, argnums=(1,), smooth=False)
def short_circuit_protects_a_division(z: Any, x: Any) -> Any:
    if z != 0.0 and x / z > 1.0:
        return x
    return x * x if z == 0.0 or x / z > 2.0 else 0.0


@program(0.7, 0.0, argnums=(0,), smooth=False)
def and_or_return_operands(x: Any, z: Any) -> Any:
    a = z or x
    b = x and x * x
    return a * b


@program(np.array([0.7, -1.3, 0.45]), 1, smooth=False)
def condition_on_integer_and_index(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i == k:
            s += x[i] * x[i]
        elif i != 0:
            s += x[i]
        else:
            s -= x[i] * x[k]
    return s


@program(0.7, True, False)
def bool_arguments(x: Any, square: Any, negate: Any) -> Any:
    y = x * x if square else x
    if negate:
        y = -y
    return y


@program(0.7, smooth=False)
def name_defined_in_both_branches_with_other_dtypes(x: Any) -> Any:
    if x > 0.2:
        n = 2
    else:
        n = 1.5  # type: ignore[assignment]
    return x * n


@program(0.5)
def branch_leaves_variable_untouched(x: Any) -> Any:
    y = x * 2.0
    if x > 10.0:
        y = 0.0
    z = y
    return z * y


# --- for loops ------------------------------------------------------------------------------------


@program(0.7, 0)
def for_loop_of_zero_trips(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        s = s * s * 100.0
    return s


@program(0.7, 1)
def for_loop_of_one_trip(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        s = math.sin(s) + i
    return s


@program(0.7, 7)
def for_loop_recurrence(x: Any, n: Any) -> Any:
    s = 1.0
    for i in range(n):
        s = math.sin(s) * x + i * 0.1
    return s


@program(X6)
def for_loop_sum_of_squares(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@program(X6, smooth=False)
def for_loop_fills_array_with_branch(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        if y[i - 1] > 0:
            y[i] = np.sin(y[i - 1]) * x[i]
        else:
            y[i] = y[i - 1] + x[i]
    s = 0.0
    for i in range(n):
        s += y[i]
    return s


@program(X6)
def range_with_start_and_step(x: Any) -> Any:
    s = 0.0
    for i in range(1, 6, 2):
        s += x[i] * i
    for i in range(0, 5, 3):
        s *= x[i]
    return s


@program(X6)
def range_with_negative_step(x: Any) -> Any:
    s = 0.0
    for i in range(5, -1, -1):
        s = s * 0.5 + x[i]
    for i in range(4, 0, -2):
        s = s * x[i]
    return s


@program(X6, 5, -7, -3)
def range_with_step_known_at_run_time(x: Any, start: Any, stop: Any, step: Any) -> Any:
    s = 1.0
    for i in range(start, stop, step):
        s = s * x[i] + i
    return s


@program(0.7)
def empty_ranges_in_every_form(x: Any) -> Any:
    s = x
    for i in range(5, 2):
        s = s * 10.0
    for i in range(2, 5, -1):
        s = s * 10.0
    for i in range(-3):
        s = s * 10.0
    return s * x


@program(0.7)
def loop_variable_after_the_loop(x: Any) -> Any:
    s = x
    for i in range(3, 9, 2):
        s = s + x
    return s * i


@program(0.7)
def loop_variable_assigned_in_the_body(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        i = i * 2 + 1
        s += x * i
    return s


@program(0.7, 3)
def range_bound_changed_in_the_body(x: Any, n: Any) -> Any:
    s = x
    for i in range(n):
        n = n + 5
        s = s * x + n
    return s


@program(X6)
def for_over_array(x: Any) -> Any:
    s = 0.0
    for v in x:
        s = s * 0.5 + v * v
    return s


@program(X6, tags="mutates")
def for_over_array_sees_later_writes(x: Any) -> Any:
    s = 0.0
    i = 0
    for v in x:
        s += v * v
        if i < 5:
            x[i + 1] = x[i + 1] + v * 0.5
        i += 1
    return s


@program(X6)
def for_over_enumerate(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        s += v * v * i
    for i, v in enumerate(x, 2):
        s += v / i
    return s


@program(X3, np.array([1.1, 0.2, -0.7]), argnums=(0, 1))
def for_over_zip(x: Any, y: Any) -> Any:
    s = 0.0
    for a, b in zip(x, y):
        s += a * b * b
    return s


@program(X6, X3, argnums=(0, 1))
def for_over_zip_of_different_lengths(x: Any, y: Any) -> Any:
    s = 0.0
    for a, i, b in zip(x, range(10), y):
        s += a * b * (i + 1)
    return s


@program(X3, np.array([1.1, 0.2, -0.7]), argnums=(0, 1), tags="tuple")
def for_over_enumerate_of_zip(x: Any, y: Any) -> Any:
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s += a * b**i
    return s


@program(X6)
def for_over_reversed(x: Any) -> Any:
    s = 0.0
    for v in reversed(x):
        s = s * 0.3 + v * v
    for i in reversed(range(1, 6, 2)):
        s = s * x[i]
    return s


@program(0.7, tags="tuple")
def for_over_tuple(x: Any) -> Any:
    s = 1.0
    for c in (1.0, 2.5, x, x * x):
        s = s * c + x
    return s


@program(0.7, 1.2, argnums=(0, 1), tags="tuple")
def for_over_tuple_of_tuples(x: Any, y: Any) -> Any:
    s = 0.0
    for a, (b, c) in ((x, (y, 1.0)), (y, (x, 2.0)), (1.0, (x * y, 3.0))):
        s += a * b * c
    return s


@program(uniform(1, 3, 4))
def for_over_rows_by_index(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        p = 1.0
        for j in range(a.shape[1]):
            p *= a[i, j] + 2.0
        s += p
    return s


@program(X6)
def triangular_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i):
            s += x[i] * x[j] * x[j]
        for j in range(i + 1, 6):
            s -= x[i] / (2.0 + x[j] * x[j])
    return s


@program(uniform(2, 2, 2))
def five_nested_loops(a: Any) -> Any:
    s = 0.1
    for i in range(2):
        for j in range(2):
            for k in range(2):
                for m in range(2):
                    for n in range(2):
                        s = s * 0.9 + a[i, j] * a[k, m] * a[n, i]
    return s


@program(X3, tags="exit")
def loop_else_without_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v > 100.0:
            break
        s += v * v
    else:
        s = s * s
    return s


@program(X6, tags="exit", smooth=False)
def loop_else_skipped_by_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v > 2.0:
            s += 1.0
            break
        s += v * v
    else:
        s = s * s
    return s


@program(0.6, tags="exit", smooth=False)
def break_on_data(x: Any) -> Any:
    s = x
    for _ in range(10):
        s = s * s + 0.5
        if s > 5.0:
            break
    return s * x


@program(X6, tags="exit", smooth=False)
def continue_on_data(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v < 0.0:
            continue
        s += v * v
    return s


@program(X6, tags="exit", smooth=False)
def break_and_continue_in_nested_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        if x[i] < -1.0:
            continue
        for j in range(6):
            if j == i:
                continue
            if x[j] > 2.0:
                break
            s += x[i] * x[j] * x[j]
        if s > 30.0:
            break
        s = s * 1.1
    return s


@program(X6, tags="exit", smooth=False)
def early_return_from_nested_loops(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i, 6):
            s += x[i] * x[j] * x[i]
            if s > 3.0:
                return s * x[j]
    return s


@program(0.7, tags="exit", smooth=False)
def early_return_before_a_loop(x: Any) -> Any:
    if x > 0.5:
        return x * x * x
    s = 0.0
    for _ in range(3):
        s += x
    return s


@program(X6, tags="exit", smooth=False)
def break_skips_the_rest_of_the_body(x: Any) -> Any:
    last = 0.0
    for i in range(6):
        last = x[i] * (i + 1)
        if i == 3:
            break
        last = last * last
    return last * x[5]


@program(X6, tags="exit", smooth=False)
def nested_loop_else_break_outer(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        for j in range(i):
            if x[i] * x[j] > 1.5:
                break
            s += x[i] * x[j]
        else:
            s += x[i]
            continue
        s = s * x[i]
        break
    return s


@program(0.7)
def loop_carries_int_that_becomes_float(x: Any) -> Any:
    s = 0
    for i in range(3):
        s = s + x * i
    return s * x


@program(X3)
def two_loops_share_a_variable(x: Any) -> Any:
    t = 1.0
    for i in range(3):
        t = t * x[i]
    s = 0.0
    for i in range(3):
        s += t * x[i]
        t = t + s
    return s * t


@program(X6)
def loop_then_use_then_loop(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v
    mean = total / len(x)
    var = 0.0
    for v in x:
        var += (v - mean) ** 2
    return math.sqrt(var / (len(x) - 1))


# --- while loops ----------------------------------------------------------------------------------


@program(0.7, 1.2, argnums=(0, 1), tags="while", smooth=False)
def while_on_data(x: Any, y: Any) -> Any:
    s = x
    while s < 5.0:
        s = s * s + 1.0
    return s * y


@program(7.0, tags="while", smooth=False)
def while_of_zero_trips(x: Any) -> Any:
    s = x
    while s < 5.0:
        s = s * s
    return s * x


@program(2.5, tags="while", smooth=False)
def while_of_one_trip(x: Any) -> Any:
    while x < 5.0:
        x = x * x
    return x * 3.0


@program(X6, tags="while")
def while_with_counter(x: Any) -> Any:
    i = 0
    s = 0.0
    while i < len(x):
        s += x[i] * x[i]
        i += 2
    return s


@program(0.7, tags="while exit", smooth=False)
def while_true_with_break(x: Any) -> Any:
    s = x
    n = 0
    while True:
        s = s * 1.5 + x
        n += 1
        if s > 10.0:
            break
    return s / n


@program(0.7, tags="while exit", smooth=False)
def while_true_with_return(x: Any) -> Any:
    s = x
    while True:
        if s > 10.0:
            return s * x
        s = s * 1.7 + 0.1


@program(X6, tags="while exit", smooth=False)
def while_with_continue_and_else(x: Any) -> Any:
    i = 0
    s = 0.0
    while i < 6:
        i += 1
        if x[i - 1] < 0.0:
            continue
        s += x[i - 1] * i
    else:
        s = s * x[0]
    return s


@program(X6, tags="while exit", smooth=False)
def while_with_break_skips_else(x: Any) -> Any:
    i = 0
    s = 1.0
    while i < 6:
        if x[i] > 2.0:
            break
        s = s * x[i]
        i += 1
    else:
        s = 0.0
    return s * s


@program(0.7, tags="while", smooth=False)
def nested_whiles(x: Any) -> Any:
    s = x
    n = 0
    while n < 4:
        t = s
        while t > 0.3:
            t = t * 0.6 - 0.01
        s = s + t * t
        n += 1
    return s * x


@program(X3, tags="while exit", smooth=False)
def while_inside_for_with_break(x: Any) -> Any:
    s = 0.0
    for v in x:
        t = v * v
        k = 0
        while t < 4.0:
            t = t * 1.5 + 0.3
            k += 1
            if k > 3:
                break
        s += t * v
    return s


@program(0.7, tags="while", smooth=False)
def while_condition_with_two_parts(x: Any) -> Any:
    s = x
    n = 0
    while n < 20 and not s > 3.0:
        s = s * 1.3
        n += 1
    return s


@program(0.3, 0.5, argnums=(0, 1), tags="while", smooth=False)
def mandelbrot_like_escape(cr: Any, ci: Any) -> Any:
    zr = 0.0
    zi = 0.0
    n = 0
    while zr * zr + zi * zi < 4.0 and n < 30:
        zr, zi = zr * zr - zi * zi + cr + 0.2, 2.0 * zr * zi + ci
        n += 1
    return zr * zr + zi * zi + n


# --- elements of arrays: `tests.corpus.loops.element_programs` ------------------------------------

PROGRAMS += ELEMENT_PROGRAMS

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
    return f(x) * g(y) + g(x, f(y)) + (lambda: x * y)()  # type: ignore[no-untyped-call]


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


# --- activity -------------------------------------------------------------------------------------


@program(0.7, tags="constant")
def constant_result(x: Any) -> Any:
    return 3.5


@program(X3, tags="constant integer")
def result_depends_on_shape_only(x: Any) -> Any:
    return len(x) * 1.5


@program(2.3, tags="constant", smooth=False)
def result_through_floor_only(x: Any) -> Any:
    return math.floor(x) * 2.0 + int(x) + round(x) + x // 1.0


@program(X3, 0.5, tags="constant")
def requested_argument_is_unused(x: Any, y: Any) -> Any:
    return y * y


@program(0.7, X6, 3, argnums=(0,))
def inactive_arguments(x: Any, w: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s += x * w[i] * math.exp(w[i + 1])
    return s


@program(X3)
def unused_results(x: Any) -> Any:
    dead = math.exp(x[0])
    also = np.zeros(3)
    for i in range(3):
        also[i] = x[i] * dead
    dead = dead * 2.0
    return x[0] * x[1]


@program(0.7)
def dead_store_before_overwrite(x: Any) -> Any:
    a = np.zeros(2)
    a[0] = math.exp(x)
    a[0] = x * 2.0
    a[1] = a[0] * x
    return a[1]


@program(X3, np.array([0.3, 0.9, -0.2]), 1.4, argnums=(0, 1, 2))
def gradient_of_arrays_and_a_scalar(x: Any, w: Any, b: Any) -> Any:
    s = b
    for i in range(3):
        s += w[i] * x[i]
    return math.tanh(s) * b


@program(X3, np.zeros(3), tags="mutates")
def scratch_argument_carries_active_values(x: Any, work: Any) -> Any:
    for i in range(3):
        work[i] = x[i] * x[i]
    s = 0.0
    for i in range(3):
        s += work[i] * work[0]
    return s


@program(X3)
def value_cut_by_constant_overwrite(x: Any) -> Any:
    a = x.copy()
    s = 0.0
    for i in range(3):
        s += a[i] * a[i]
        a[i] = 1.5
        s += a[i] * x[0]
    return s


@program(0.7, tags="closure")
def variable_reused_for_another_purpose(x: Any) -> Any:
    t = x * x
    y = t + 1.0
    t = 3
    for i in range(t):
        y = y * x
    t = y > 0.0
    return y if t else x


# --- kinks away from ties -------------------------------------------------------------------------


@program(X6, smooth=False)
def running_maximum_and_minimum(x: Any) -> Any:
    high = x[0]
    low = x[0]
    s = 0.0
    for i in range(1, 6):
        high = max(high, x[i])
        low = np.minimum(low, x[i])
        s += high * low
    return s


@program(X6, smooth=False)
def argmax_then_use(x: Any) -> Any:
    k = 0
    for i in range(1, len(x)):
        if x[i] > x[k]:
            k = i
    return x[k] * x[k] + k * x[0]


@program(X6, smooth=False)
def sum_of_absolute_values(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += abs(v) * abs(v - 0.5)
    return s


@program(X6, smooth=False)
def clipping(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += min(max(v, -1.0), 1.5) * v
    return s


@program(X6, smooth=False)
def huber_loss(x: Any) -> Any:
    s = 0.0
    for v in x:
        r = abs(v)
        s += 0.5 * r * r if r <= 1.0 else r - 0.5
    return s


# --- numerical programs: `tests.corpus.loops.numeric_programs` ------------------------------------

PROGRAMS += NUMERIC_PROGRAMS
PROGRAMS += SMALL_PROGRAMS

# --- found by random programs ---------------------------------------------------------------------


@program(0.8, np.array([0.7, -0.3, 0.2, 0.9]), argnums=(0, 1), tags="exit mutates", smooth=False)
def store_after_a_loop_that_may_return(x: Any, a: Any) -> Any:
    # The last version of `a` exists only where the loop did not return.
    for i in range(4):
        if x < 0.6057:
            return a[i]
    a[len(a) % a.shape[0]] = x
    return math.tanh(a[len(a) % 4])


@program(X6, 0.45, argnums=(0, 1), tags="exit", smooth=False)
def bound_wherever_no_exit_is_pending(x: Any, y: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] < y:
            if x[i] < -1.0:
                if y > 0.3:
                    continue
                break
            v = math.log(1.4 + y * y) * x[i]
        else:
            v = y / (1.2 + x[i] * x[i])
        s += v * v
    return s


@program(2.7, tags="exit numeric")
def name_bound_by_every_iteration_of_a_loop_with_an_exit(x: Any) -> Any:
    y = x
    for _ in range(50):
        z = 0.5 * (y + x / y)
        if abs(z - y) < 1e-12:
            break
        y = z
    else:
        return -1.0
    return z


def _apply(f: Any, v: Any) -> Any:
    return f(v) + 0.5 * v


@program(0.6, tags="closure")
def function_applied_within_itself(x: Any) -> Any:
    return _apply(lambda u: _apply(math.sin, u) * x, x * x)


@program(0.7, X6, argnums=(0, 1))
def loop_that_never_runs_around_loops(x: Any, a: Any) -> Any:
    for i in range(1, 1):
        for j in range(3):
            a[j] = math.hypot(a[j], x) * i
    s = x
    for v in a:
        s += 0.25 * v * x
    return s


@program(X6, 0.5, argnums=(0, 1), tags="closure exit")
def function_defined_in_a_loop_with_an_exit(x: Any, y: Any) -> Any:
    s = y
    for i, v in enumerate(x):

        def shifted(u: Any, c: Any = 0.3317) -> Any:
            return u * c + v

        s = s * 0.5 + shifted(s)
        if i > 3:
            break
    return s


@program(X6, 0.5, argnums=(0, 1), tags="numeric")
def earlier_elements_of_a_local_array(x: Any, y: Any) -> Any:
    a = np.full(6, 0.4337)
    s = 0.0
    for i in range(6):
        s += a[i - 1] * a[min(i + 1, 5)]
        a[i] = math.sin(x[i] + y * s)
    return s * y


@program(0.7, 4, tags="numeric")
def two_names_for_what_a_loop_hands_on(x: Any, n: Any) -> Any:
    # The merging of numbers that a loop carries twice went round in circles.
    a = 0.0
    b = 0.0
    for i in range(n):
        t = np.sin(x * i)
        x = x * 0.9 + a * b
        a = t
        b = t
    return a * x + b


@program(0.7, 4, tags="numeric")
def two_equal_remainders(x: Any, n: Any) -> Any:
    a = 0
    b = 0
    for i in range(n):
        x = x * 0.5 + a - b * 0.5
        a = (n - i) % 2
        b = (n - i) % 2
    return x * (a + b)
