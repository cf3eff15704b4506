# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""Programs of numbers: functions of `math`, casts and dtypes, integers.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder

SCALAR_PROGRAMS: list[Program] = []
program = recorder(SCALAR_PROGRAMS)


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


@program(0.7, np.array([-7, 3, 7, -1]), tags="integer")
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
