"""Programs that take derivatives of functions within themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import adc
from tests.corpus.language.derivatives.composed_programs import COMPOSED_PROGRAMS
from tests.corpus.language.functions.external_programs import EXTERNAL_PROGRAMS
from tests.corpus.program import Program, recorder

NESTED_PROGRAMS: list[Program] = []
program = recorder(NESTED_PROGRAMS)

X = np.array([0.3, -0.7, 1.1])
M = np.array([[0.4, -0.2, 0.9], [1.1, 0.3, -0.5]])


@program(X, 1.3)
def gradient_ascent(x: Any, strength: Any) -> Any:
    """The objective of an outer problem holds the solution of an inner one."""

    def inner(y: Any) -> Any:
        return np.sum(np.sin(x * y) * strength) - np.sum(y**2)

    y = np.zeros(3) + 0.1
    for _ in range(4):
        y = y + 0.1 * adc.grad(inner)(y)
    return np.sum((x * y) ** 2)


def potential(q: Any, stiffness: Any) -> Any:
    return 0.5 * stiffness * np.sum(q**2) + 0.1 * np.sum(q**4)


force = adc.grad(potential)


@program(X, 1.3, 5)
def trajectory(q: Any, stiffness: Any, steps: Any) -> Any:
    """The force is the gradient of a potential that depends on a parameter."""
    p = np.zeros_like(q)
    for _ in range(steps):
        p = p - 0.1 * force(q, stiffness)
        q = q + 0.1 * p
    return np.sum(q * q) + 0.5 * np.sum(p * p)


@program(X)
def descent_until_it_stops(x: Any) -> Any:
    y = x * 1.0
    rounds = 0
    while np.sum(y**2) > 0.5 and rounds < 20:
        y = y - 0.1 * adc.grad(lambda z: np.sum(z**4) + np.sum(z * x))(y)
        rounds += 1
    return np.sum(y * x)


@program(X, 0.7)
def branches(x: Any, s: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if x[k] > 0.0:
            total += adc.grad(lambda t: np.sin(t * s) * t)(x[k])
        else:
            total -= adc.jvp(lambda t: t * t * s, (x[k],), (2.0,))[1]
    return total


@program(X)
def gradient_penalty(x: Any) -> Any:
    return np.sum(adc.grad(lambda v: np.sum(v**3))(x) ** 2)


@program(X, 0.7)
def forward_mode(x: Any, s: Any) -> Any:
    value, dot = adc.jvp(lambda y: (np.sin(y) * s, {"y": y * y}), (x,), (x * 2.0,))
    return np.sum(value[0] * dot[0]) + np.sum(value[1]["y"] * dot[1]["y"])


@program(X, 0.7)
def pulled_back(x: Any, s: Any) -> Any:
    value, pull = adc.vjp(lambda y, t: np.sin(y) * t, x, s)
    a, b = pull(value * value)
    return np.sum(a) + b


@adc.jit
def _first_times_five(a: Any) -> Any:
    a[0] = 5.0 * a[1]
    return np.sum(a)


@adc.jit
def _same(a: Any) -> Any:
    return a


@program(X)
def compiled_functions_change_nothing(x: Any) -> Any:
    y = x * 1.0
    product = _first_times_five(y) * np.sum(y)
    z = _same(y)
    z[0] = 7.0
    return product + np.sum(y) * 2.0 + np.sum(z)


def _scaled_until(s: Any, a: Any, n: Any) -> Any:
    for _ in range(3):
        a[0] = 0.5 * a[1]
        for _ in range(2):
            if not s < 0.2837:
                continue
            s = s * 0.6
            for _ in range(n, 4):
                s = s * 0.6
    return s + np.sum(a * a)


@program(X, -0.7, 4, argnums=(0, 1))
def pulled_back_past_loops_that_matter_to_the_value_alone(x: Any, s: Any, n: Any) -> Any:
    value, pull = adc.vjp(lambda a: _scaled_until(s, a.copy(), n), x)
    return value + np.sum(pull(0.7)[0] * 0.1)


@program(X, 0.7)
def auxiliary(x: Any, s: Any) -> Any:
    def f(y: Any) -> Any:
        return np.sin(y) * s, {"sum": np.sum(y), "n": 3}

    value, pull, aux = adc.vjp(f, x * 2.0, has_aux=True)
    again, dot, more = adc.jvp(f, (x + 1.0,), (x * s,), has_aux=True)
    return (
        np.sum(pull(value)[0] * dot) + aux["sum"] * aux["n"] + np.sum(again) * more["sum"]
    )  # fmt: skip


@program(X, 0.7)
def pulled_back_in_a_loop(x: Any, s: Any) -> Any:
    value, pull = adc.vjp(lambda y: (np.outer(y, y) * s, y[0] * y[1]), x)
    total = 0.0
    for k in range(3):
        (part,) = pull((value[0] * k, 1.0 + k))
        total += np.sum(part * x)
        x = x + 0.1  # of the past it is
    return total


@program(X, 0.7)
def hessian_product(x: Any, s: Any) -> Any:
    return np.sum(adc.hvp(lambda y: np.sum(np.sin(y) * y * s), (x,), (x,)))


@program(0.4)
def second_derivative(s: Any) -> Any:
    return adc.grad(adc.grad(lambda t: np.sin(t * s)))(s * 2.0)


@program(X)
def jacobians(x: Any) -> Any:
    hessian = adc.hessian(lambda v: np.sum(v**3) + v[0] * v[1] * v[2])(x)
    columns = adc.jacfwd(lambda v: v * v[::-1])(x)
    rows = adc.jacrev(lambda v: v * v[::-1])(x)
    return np.sum(hessian * hessian) + np.sum(columns * rows * x)


@program(0.8)
def jacobians_of_numbers(x: Any) -> Any:
    slope = adc.jacfwd(lambda t: np.array([t, t * t, np.sin(t)]))(x)
    return (
        np.sum(slope * slope) + adc.hessian(lambda t: t**4)(x) + adc.jacrev(lambda t: np.sin(t))(x)
    )


@program(X, 0.7)
def decorated(x: Any, s: Any) -> Any:
    @adc.value_and_grad
    def loss(w: Any) -> Any:
        return np.sum(np.tanh(w * s) ** 2)

    total = 0.0
    for _ in range(3):
        value, slope = loss(x)
        total += value * np.sum(slope)
        x = x - 0.1 * slope
    return total


@program(X, M)
def several_arguments(x: Any, m: Any) -> Any:
    def energy(a: Any, b: Any, power: Any = 2) -> Any:
        y = np.tanh(b @ a)
        return np.sum(y**power), (y, {"sum": y.sum()})

    da, db = adc.grad(lambda a, b: energy(a, b)[0], argnums=(0, 1))(x, m)
    (value, aux), slope = adc.value_and_grad(energy, has_aux=True)(x, m)
    last, rest = adc.grad(energy, argnums=1, has_aux=True)(x, m)
    named = adc.grad(energy, argnames="b", has_aux=True)(x, m, power=3)[0]
    return (
        np.sum(da**2) + np.sum(db**2) + value * aux[1]["sum"] + np.sum(slope * x)
        + np.sum(last * named) + np.sum(rest[0])
    )  # fmt: skip


@dataclass
class Spring:
    stiffness: Any
    rest: Any

    def energy(self, q: Any) -> Any:
        return 0.5 * self.stiffness * np.sum((q - self.rest) ** 2) ** 1.5

    @adc.grad
    def slope(self: Any) -> Any:
        return self.stiffness * self.stiffness * np.sum(self.rest)

    @adc.jit
    def twice(self: Any, q: Any) -> Any:
        return 2.0 * self.energy(q)

    @adc.checkpoint
    def thrice(self: Any, q: Any) -> Any:
        return 3.0 * self.energy(q)

    @adc.custom_vjp
    def clamped(self: Any, q: Any) -> Any:
        return self.stiffness * np.sum(q * q)


Spring.clamped.defvjp(
    lambda spring, q: (spring.clamped(q), (spring, q)),
    lambda kept, ct: (
        Spring(ct * np.sum(kept[1] * kept[1]), None), ct * 2.0 * kept[0].stiffness * kept[1]
    ),
)  # fmt: skip


@program(X, 0.7)
def methods(x: Any, s: Any) -> Any:
    spring = Spring(s, x * 0.5)
    first = adc.grad(spring.energy)(x)
    spring.stiffness = s * 2.0
    second = adc.grad(spring.energy)(x)
    return np.sum(first * second)


@program(X, 0.7)
def decorated_methods(x: Any, s: Any) -> Any:
    spring = Spring(s, x * 0.5)
    slope = spring.slope()
    return (
        spring.twice(x) + spring.thrice(x) * slope.stiffness + np.sum(slope.rest * x)
        + spring.clamped(x)
    )  # fmt: skip


@program(X, 0.7)
def structures(x: Any, s: Any) -> Any:
    params = {"w": x * s, "b": [s, x[0]], "n": 3}
    slope = adc.grad(lambda p: np.sum(np.sin(p["w"]) * p["b"][0]) + p["b"][1] ** p["n"])(params)
    return np.sum(slope["w"] ** 2) + slope["b"][0] * slope["b"][1]


@program(X)
def views(x: Any) -> Any:
    a = adc.grad(lambda v: np.sum(v**3))(x[1:])
    b = adc.grad(lambda v: np.sum(v**3))(x[::-1])
    return np.sum(a * x[:2]) + np.sum(b * x)


@program(X)
def snapshot(x: Any) -> Any:
    """A derivative is taken of arrays as they are at that time."""
    y = x * 1.0
    _, pull = adc.vjp(lambda v: v * v, y)
    y *= 3.0
    return np.sum(pull(y)[0]) + np.sum(adc.grad(lambda v: np.sum(v * y))(y))


@program(X)
def writes_within(x: Any) -> Any:
    def loss(v: Any) -> Any:
        v[0] = v[1] * v[2]
        w = np.zeros(3)
        for k in range(3):
            w[k] = v[k] ** 2
        return np.sum(w)

    slope = adc.grad(loss)(x)
    return np.sum(slope * x)


@program(0.6, 1.2)
def four_deep(x: Any, s: Any) -> Any:
    def f(t: Any) -> Any:
        return np.exp(t * s) * t

    return adc.grad(lambda u: adc.grad(lambda t: adc.grad(f)(t * u))(u))(x)


@program(X)
def single_precision(x: Any) -> Any:
    y = x.astype(np.float32)
    slope = adc.grad(lambda v: np.sum(v * v * v))(y)
    return np.sum(slope * slope)


def _fixed_point(a: Any) -> Any:
    x = 0.5
    for _ in range(40):
        x = 0.5 * np.cos(a * x)
    return x


@program(0.8)
def newton(a: Any) -> Any:
    x = 0.3
    for _ in range(6):

        def residual(t: Any) -> Any:
            return t - 0.5 * np.cos(a * t)

        x = x - residual(x) / adc.grad(residual)(x)
    return x * x


def _fibonacci(n: Any, x: Any) -> Any:
    return x if n < 2 else _fibonacci(n - 1, x * 1.1) + _fibonacci(n - 2, np.sin(x))


@program(0.8, 5)
def of_a_recursive_function(x: Any, n: Any) -> Any:
    return adc.grad(lambda t: _fibonacci(n, t) ** 2)(x)


def _turned(axis: Any, point: Any) -> Any:
    result = np.empty(3)
    angle = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    if angle > 0.1:
        for i in range(3):
            result[i] = point[i] * np.cos(angle) + axis[i] * np.sin(angle)
    else:
        for i in range(3):
            result[i] = point[i] + axis[i]
    return result


@program(M, X, argnums=(0, 1))
def derivatives_in_a_loop(points: Any, axis: Any) -> Any:
    """Both pull-backs of a small function share what its forward code computes."""
    total = 0.0
    for i in range(points.shape[0]):
        value, pull = adc.vjp(_turned, axis, points[i])
        for k in range(3):
            unit = np.zeros(3)
            unit[k] = 1.0
            by_axis, by_point = pull(unit)
            total += by_axis[k] * by_point[0] + np.sin(by_axis[0]) * value[k]
    return total


# --- custom rules ---------------------------------------------------------------------------------


@adc.custom_vjp
def scaled_sine(x: Any, s: Any) -> Any:
    return np.sin(x) * s


def _sine_forward(x: Any, s: Any) -> Any:
    return np.sin(x) * s, {"x": x, "s": s, "slope": np.cos(x)}


def _sine_reverse(kept: Any, ct: Any) -> Any:
    return ct * kept["slope"] * kept["s"], np.sum(ct * np.sin(kept["x"]))


scaled_sine.defvjp(_sine_forward, _sine_reverse)


@program(X, 0.7)
def custom_reverse(x: Any, s: Any) -> Any:
    total = 0.0
    for k in range(3):
        y = scaled_sine(x * (k + 1.0), s)
        total += np.sum(y * y)
        x = y + 0.1
    return total


@program(X, 0.7)
def custom_reverse_of_a_size_that_is_known_and_one_that_is_not(x: Any, s: Any) -> Any:
    # The calls were given different numbers of arguments: code was malformed.
    y = np.zeros(3)
    for k in range(3):
        y[k] = x[0] * k
    return np.sum(scaled_sine(y, s)) + np.sum(scaled_sine(x, s))


@program(X, 0.7)
def custom_reverse_on_a_path(x: Any, s: Any) -> Any:
    total = 0.0
    rounds = 0
    while total < 5.0 and rounds < 6:
        if rounds % 2 == 0:
            y = scaled_sine(x, s)
        else:
            y = x * 2.0
        total += np.sum(y * y) + 0.1
        x = y + 0.3
        rounds += 1
    return total


@adc.custom_jvp
def log_sum_exp(x: Any) -> Any:
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


@log_sum_exp.defjvp
def _log_sum_exp_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    value = log_sum_exp(x)
    return value, np.sum(np.exp(x - value) * dx)


@program(X, 0.7)
def gradient_of_a_rule_for_reverse_mode(x: Any, s: Any) -> Any:
    slope, by_scale = adc.grad(lambda y, t: np.sum(scaled_sine(y * y, t) ** 3), (0, 1))(x, s)
    return np.sum(slope * slope) * by_scale


@program(X, 0.7)
def products_with_a_hessian_of_rules(x: Any, s: Any) -> Any:
    def inner(y: Any) -> Any:
        return np.sum(scaled_sine(y, s) ** 2) * log_sum_exp(y * s)

    v = x
    for _ in range(2):
        v = adc.hvp(inner, (x,), (v,)) * 0.1
    return np.sum(v)


@program(X, 0.7)
def forward_mode_of_a_rule_for_reverse_mode(x: Any, s: Any) -> Any:
    value, dot = adc.jvp(lambda y: scaled_sine(y, s) * y, (x,), (x * s,))
    return np.sum(value * dot)


@program(X)
def gradient_of_a_rule_for_forward_mode(x: Any) -> Any:
    for _ in range(2):
        x = adc.grad(lambda y: log_sum_exp(y) ** 2)(x) + 0.1 * x
    return np.sum(x * x)


@program(X, 0.7)
def rules_made_in_code(x: Any, s: Any) -> Any:
    """A rule may call its function, and use what the code around it has, if that is constant."""
    scale = 2.0

    @adc.custom_jvp
    def bounded(y: Any) -> Any:
        return np.tanh(y) * scale

    @bounded.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        value = bounded(primals[0])
        return value, (scale - value * value / scale) * tangents[0]

    def solved(f: Any, a: Any, b: Any) -> Any:
        return f(a) / b

    divided = adc.custom_vjp(solved, nondiff_argnums=0)
    divided.defvjp(
        lambda f, a, b: (f(a) / b, (a, f(a), b)),
        lambda f, kept, ct: (ct * np.cos(kept[0]) / kept[2], -np.sum(ct * kept[1]) / kept[2] ** 2),
    )
    total = 0.0
    for _ in range(2):
        x = bounded(x) + divided(lambda t: np.sin(t), x, s)
        total += np.sum(x)
    return total


@program(X, 0.7)
def rules_made_in_a_loop(x: Any, s: Any) -> Any:
    for k in range(3):

        @adc.custom_vjp
        def power(y: Any) -> Any:
            return y ** (k + 1)  # noqa: B023 - called in this iteration

        def reverse(y: Any, ct: Any) -> Any:
            return ((k + 1) * y**k * ct,)  # noqa: B023 - as above

        power.defvjp(lambda y: (power(y), y), reverse)
        x = power(x) * s + x
    return np.sum(x * np.arange(3.0))


@program(X, 0.7)
def linearized(x: Any, s: Any) -> Any:
    def pair(y: Any, t: Any) -> Any:
        return {"wave": np.sin(y) * t, "size": np.sum(y * y)}

    value, push = adc.linearize(pair, x, s)
    x = x * 0.0
    total = np.sum(value["wave"]) * value["size"]
    for k in range(3):
        unit = np.zeros(3)
        unit[k] = 1.0
        moved = push(unit * s, None)
        both = push(unit, 0.5)
        total += np.sum(moved["wave"] ** 2) * both["size"] + both["wave"][k]
    return total + np.sum(x)


@program(X, 0.7)
def values_with_jacobians(x: Any, s: Any) -> Any:
    def outer(y: Any, t: Any) -> Any:
        return np.outer(y, y) * t

    value, (by_y, by_t) = adc.value_and_jac(outer, argnums=(0, 1))(x, s)
    slope, curvature = adc.value_and_jac(adc.grad(lambda y: np.sum(y**3) * s), mode="reverse")(x)
    return np.sum(value * by_t) + np.sum(by_y**2) + np.sum(curvature @ slope)


@program(X)
def custom_forward(x: Any) -> Any:
    total = 0.0
    for _ in range(4):
        total = total + log_sum_exp(x + total) ** 2 * 0.1
    return total


def fixed_point(f: Any, a: Any, start: Any) -> Any:
    x = start
    for _ in range(60):
        x = f(a, x)
    return x


solved = adc.custom_vjp(fixed_point, nondiff_argnums=0)


def _solved_forward(f: Any, a: Any, start: Any) -> Any:
    x = fixed_point(f, a, start)
    return x, (a, x)


def _solved_reverse(f: Any, kept: Any, ct: Any) -> Any:
    a, x = kept
    u = ct
    for _ in range(60):
        u = ct + u * adc.grad(f, argnums=1)(a, x)
    return u * adc.grad(f)(a, x), None


solved.defvjp(_solved_forward, _solved_reverse)


@program(0.8)
def implicit_function(a: Any) -> Any:
    return solved(lambda b, x: 0.5 * np.cos(b * x), a, 0.3) ** 2


@adc.custom_vjp
def affine(params: Any, x: Any) -> Any:
    return params["W"] @ x + params["b"]


affine.defvjp(
    lambda params, x: (params["W"] @ x + params["b"], (params["W"], x)),
    lambda kept, ct: ({"W": np.outer(ct, kept[1]), "b": ct}, kept[0].T @ ct),
)


@program(X, M)
def custom_structures(x: Any, m: Any) -> Any:
    params = {"W": m, "b": m[:, 0]}
    return np.sum(np.tanh(affine(params, x)))


# --- tangent rules that are linear, though not one operation at a time ---------------------------


def _squares(x: Any) -> Any:
    return x * x


in_place = adc.custom_jvp(_squares)
solving = adc.custom_jvp(_squares)
forward_inside = adc.custom_jvp(_squares)
gradient_inside = adc.custom_jvp(_squares)
recursing = adc.custom_jvp(_squares)


@in_place.defjvp
def _in_place_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    slope = x + x
    slope *= dx
    table = np.outer(x, x)
    table *= dx[:, None]
    return x * x, slope + 0.0 * np.sum(table, axis=0)


@solving.defjvp
def _solving_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return x * x, np.linalg.solve(np.eye(3) + np.diag(x * x), (1.0 + x * x) * 2.0 * x * dx)


@forward_inside.defjvp
def _forward_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0] * primals[0], adc.jvp(lambda y: y * y, primals, tangents)[1]


@gradient_inside.defjvp
def _gradient_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return x * x, adc.grad(lambda y: np.sum(y * y * dx))(x)


def _doubled(dx: Any, n: Any) -> Any:
    return dx * 1.0 if n == 0 else 2.0 * _doubled(dx, n - 1)


@recursing.defjvp
def _recursing_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    moved = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.0:
            moved[i] = x[i] * _doubled(dx[i], 1)
        else:
            moved[i] = 2.0 * x[i] * dx[i]
    return x * x, moved


@program(X)
def linear_rules(x: Any) -> Any:
    total = np.sum(in_place(x) ** 2) + np.sum(np.sin(solving(x)))
    total += np.sum(np.cos(forward_inside(x)))
    total += np.sum(gradient_inside(x) * x)
    return total + np.sum(recursing(x) * x)


@adc.custom_jvp
def exponential(x: Any) -> Any:
    return np.exp(x)


def _twice(x: Any) -> Any:
    return 2.0 * exponential(x)


@exponential.defjvp
def _exponential_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return exponential(x), 0.5 * _twice(x) * dx


@program(X)
def rule_by_a_caller(x: Any) -> Any:
    """A function between the program and a rule is called by the rule, too."""
    return np.sum(_twice(x) * x)


@adc.custom_jvp
def sine(x: Any) -> Any:
    return np.sin(x)


@adc.custom_jvp
def cosine(x: Any) -> Any:
    return np.cos(x)


def _cosine(x: Any) -> Any:
    return cosine(x) * (X[0] / X[0])


@sine.defjvp
def _sine_jvp(primals: Any, tangents: Any) -> Any:
    return sine(primals[0]), tangents[0] * _cosine(primals[0]) * (np.sum(M) / np.sum(M))


@cosine.defjvp
def _cosine_jvp(primals: Any, tangents: Any) -> Any:
    return cosine(primals[0]), -tangents[0] * sine(primals[0]) * (M[0, 0] / M[0, 0])


@program(0.7)
def rules_by_each_other(x: Any) -> Any:
    """What one rule reads outside is found when the other one was lowered already."""
    return sine(x) * cosine(2.0 * x)


def _scaling(w: Any) -> Any:
    return lambda v: w * v


@program(X)
def derivatives_of_two_branches(x: Any) -> Any:
    s = 0.0
    for v in x:
        h = adc.grad(_scaling(v * v))
        if v < 1.0:
            h = adc.grad(_scaling(v))
        s += h(v) * v
    return s


def _first_as_often_as_last(a: Any, b: Any) -> Any:
    return np.sum(b[[0, 0, 1, 1]] * a[-7:])


@program(np.array([0.3, 0.2, 0.7, 0.4]), np.array([0.5, 0.8]), argnums=(0, 1))
def derivative_of_what_holds_for_other_sizes(a: Any, b: Any) -> Any:
    """The size of the slice is taken for 1 at first, which raises on every path."""
    g = adc.grad(_first_as_often_as_last, 1)(a, b)
    return np.sum(np.sin(g) * b)


NESTED_PROGRAMS += [*COMPOSED_PROGRAMS, *EXTERNAL_PROGRAMS]
