"""Derivatives within differentiated code, and functions with derivatives of their own."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError
from adc.testing import check_grads
from tests.corpus.language.derivatives.nested_programs import (
    NESTED_PROGRAMS,
    X,
    affine,
    force,
    log_sum_exp,
    potential,
    scaled_sine,
)
from tests.corpus.program import Program
from tests.oracle import chain as chains

SINGLE = {"single_precision", "jacobians_in_single_precision"}


def _tolerance(name: str) -> dict[str, Any]:
    return {"rtol": 2e-3, "atol": 2e-3} if name in SINGLE else {"rtol": 1e-6, "atol": 1e-7}


def _differences(
    value: Callable[[list[Any]], Any], args: Sequence[Any], number: int, single: bool
) -> Any:
    """Return central differences of a function of flat arguments."""
    step = 1e-2 if single else 1e-5
    at = np.asarray(args[number], dtype=float)
    found = np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        values = []
        for sign in (1.0, -1.0):
            moved = at.copy()
            moved[index] += sign * step
            arg = moved if at.shape else float(moved)
            values.append(float(value([*args[:number], arg, *args[number + 1 :]])))
        found[index] = (values[0] - values[1]) / (2 * step)
    return found


# Programs whose stages take seconds to interpret.
LONG = {"jacobians_on_paths", "gradient_of_a_weighted_hessian"}


# Compiled twice: plain Python runs the derivatives as well.
@pytest.mark.sampled(400)
@pytest.mark.parametrize("program", NESTED_PROGRAMS, ids=str)
def test_gradient(program: Program) -> None:
    args = program.make_args()
    want = float(program.fn(*args))
    got, gradient = adc.value_and_grad(program.fn, program.argnums, cache=False)(*args)
    tolerance, single = _tolerance(program.name), program.name in SINGLE
    np.testing.assert_allclose(got, want, **tolerance)
    for number, found in zip(program.argnums, gradient, strict=True):
        wanted = _differences(lambda moved: program.fn(*moved), args, number, single)
        np.testing.assert_allclose(found, wanted, **tolerance)


def full_if_long(program: Program) -> Any:
    return pytest.param(program, marks=[pytest.mark.full] if program.name in LONG else [])


@pytest.mark.sampled(250)
@pytest.mark.parametrize("program", [full_if_long(p) for p in NESTED_PROGRAMS], ids=str)
def test_stages(program: Program) -> None:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    want = tuple(
        _differences(
            lambda moved: chains.run(chain.primal, chains.fresh(moved))[0],
            chain.inputs, number, program.name in SINGLE,
        )
        for number in chain.leaves
    )  # fmt: skip
    found = chains.check_stages(chain, want, tolerances=_tolerance(program.name))
    found += chains.check_passes(chain)
    found += chains.check_tangent(chain, np.random.default_rng(0))
    assert not found


# -- the four nestings -----------------------------------------------------------------------------


def _cubic(x: Any, s: Any) -> Any:
    y = np.sin(x * s)
    total = 0.0
    for k in range(len(x)):
        total += y[k] ** 3 * x[k]
    return total


@pytest.mark.full
def test_all_nestings_agree() -> None:
    v, w = np.array([0.3, -1.0, 0.2]), np.array([1.0, 0.5, -0.4])
    s = 1.3

    def reverse(x: Any) -> Any:
        return np.sum(adc.grad(lambda y: _cubic(y, s))(x) * v)

    def forward(x: Any) -> Any:
        return adc.jvp(lambda y: _cubic(y, s), (x,), (v,))[1]

    found = [
        adc.grad(reverse)(X) @ w,
        adc.grad(forward)(X) @ w,
        adc.jvp(reverse, (X,), (w,))[1],
        adc.jvp(forward, (X,), (w,))[1],
        adc.hvp(lambda x: _cubic(x, s), (X,), (v,)) @ w,
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


@pytest.mark.full
def test_third_derivatives_agree() -> None:
    def inner(x: Any) -> Any:
        return adc.grad(lambda t: adc.grad(lambda u: np.sin(u) * u)(t * x))(x)

    h = 1e-5
    slope = (inner(0.7 + h) - inner(0.7 - h)) / (2 * h)
    assert abs(adc.grad(inner)(0.7) - slope) < 1e-8
    assert abs(adc.jvp(inner, (0.7,), (1.0,))[1] - slope) < 1e-8
    assert abs(adc.jacfwd(inner)(0.7) - slope) < 1e-8
    assert abs(adc.jacrev(inner)(0.7) - slope) < 1e-8


def test_within_compiled_code_without_a_derivative() -> None:
    @adc.jit
    def descend(x: Any, rounds: int) -> Any:
        for _ in range(rounds):
            x = x - 0.1 * force(x, 1.0)
        return x

    x = X.copy()
    for _ in range(5):
        x = x - 0.1 * adc.grad(potential)(x, 1.0)
    np.testing.assert_allclose(descend(X, 5), x, rtol=1e-14)


def test_results_are_like_arguments() -> None:
    def kinds(x: Any, s: Any) -> Any:
        slope = adc.grad(lambda y, t: np.sum(y) * t, argnums=(0, 1))(x, s)
        value, dot = adc.jvp(lambda t: [t * 2.0, 3], (s,), (1.0,))
        return slope, value, dot

    (dx, ds), value, dot = adc.jit(kinds)(X, 2.0)
    assert isinstance(dx, np.ndarray)
    assert type(ds) is float
    assert (value, dot) == ([4.0, 3], [2.0, 0])


def test_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    def noisy(t: Any) -> Any:
        print("here")
        return t * t * t

    def program(x: Any) -> Any:
        value, slope = adc.value_and_grad(noisy)(x)
        return value + adc.grad(noisy)(x) * slope

    adc.grad(program)(2.0)
    assert capfd.readouterr().out == "here\nhere\n"


def test_errors_of_the_inner_function_have_its_line() -> None:
    def inner(t: Any) -> Any:
        if t > 1.0:
            raise ValueError("too large")
        return t * t

    with pytest.raises(ValueError, match="too large"):
        adc.grad(lambda x: adc.grad(inner)(x) * 2.0)(1.5)


# -- custom rules ----------------------------------------------------------------------------------


def test_a_rule_decides() -> None:
    clipped = adc.custom_vjp(lambda x: x)
    clipped.defvjp(lambda x: (x, None), lambda kept, ct: (np.clip(ct, -0.5, 0.5),))
    weights = np.array([1.0, 0.2, -3.0])
    found = adc.grad(lambda x: np.sum(clipped(x) * weights))(X)
    np.testing.assert_array_equal(found, [0.5, 0.2, -0.5])
    # Its transpose, in forward mode.
    halved = adc.custom_vjp(lambda x: x * 1.0)
    halved.defvjp(lambda x: (x * 1.0, None), lambda kept, ct: (0.5 * ct,))
    value, dot = adc.jvp(lambda x: halved(x) * 3.0, (X,), (weights,), target="python")
    np.testing.assert_array_equal(value, 3.0 * X)
    np.testing.assert_array_equal(dot, 1.5 * weights)


@pytest.mark.full
def test_a_rule_serves_both_modes() -> None:
    def loss(x: Any) -> Any:
        return log_sum_exp(x * 2.0) ** 2

    slope = adc.grad(loss)(X)
    np.testing.assert_allclose(adc.jvp(loss, (X,), (X,))[1], slope @ X, rtol=1e-13)
    h = 1e-6
    second = (adc.grad(loss)(X + h * X) - adc.grad(loss)(X - h * X)) / (2 * h)
    np.testing.assert_allclose(adc.hvp(loss, (X,), (X,)), second, rtol=1e-8)


@pytest.mark.full
def test_second_derivatives_follow_the_reverse_rule() -> None:
    def loss(x: Any) -> Any:
        return np.sum(scaled_sine(x, 0.7) ** 2)

    h = 1e-6
    second = (adc.grad(loss)(X + h * X) - adc.grad(loss)(X - h * X)) / (2 * h)
    np.testing.assert_allclose(adc.hvp(loss, (X,), (X,)), second, rtol=1e-7)


@pytest.mark.full
def test_a_rule_of_the_function_itself() -> None:
    value = log_sum_exp(X)
    np.testing.assert_allclose(adc.grad(log_sum_exp)(X), np.exp(X - value), rtol=1e-14)
    slope = adc.grad(lambda p, x: np.sum(affine(p, x)))({"W": np.ones((2, 3)), "b": np.ones(2)}, X)
    np.testing.assert_allclose(slope["W"], [X, X])


def test_without_a_derivative_it_is_the_function() -> None:
    strange = adc.custom_vjp(lambda x: x * 2.0)
    strange.defvjp(lambda x: (x * 3.0, None), lambda kept, ct: (ct,))
    assert strange(1.0) == 2.0
    assert adc.jit(lambda x: strange(x))(1.0) == 2.0
    # Inactive code is not recorded either.
    assert adc.value_and_grad(lambda x, y: strange(y) * x)(1.0, 1.0) == (2.0, 2.0)


@pytest.mark.full
def test_a_wrong_rule_is_found() -> None:
    wrong = adc.custom_vjp(lambda x: x**3)
    wrong.defvjp(lambda x: (x**3, x), lambda x, ct: (2.0 * x * ct,))
    with pytest.raises(AssertionError):
        check_grads(lambda x: np.sum(wrong(x)), (X,), order=1, modes=("rev",))


def test_custom_functions_are_functions() -> None:
    assert pickle.loads(pickle.dumps(scaled_sine)) is scaled_sine
    assert scaled_sine.__name__ == "scaled_sine"
    assert repr(log_sum_exp) == "<adc custom_jvp(log_sum_exp)>"
    partial = functools.partial(clipped)
    assert repr(adc.custom_vjp(partial)) == "<adc custom_vjp(clipped)>"
    assert "functools.partial" in repr(adc.checkpoint(partial))


# -- errors ----------------------------------------------------------------------------------------


def _no_rule(x: Any) -> Any:
    return x * x


NO_RULE = adc.custom_vjp(_no_rule)
ONE = adc.custom_vjp(lambda x: x * x)
ONE.defvjp(lambda x: (x * x, x), lambda x, ct: ct)
THREE = adc.custom_jvp(lambda x: x * x)
THREE.defjvp(lambda primals, tangents: primals[0] * tangents[0])
PAIR = adc.custom_vjp(lambda x: (x, x))
PAIR.defvjp(lambda x: (x, None), lambda kept, ct: (ct,))
KEYS = adc.custom_vjp(lambda x: {"a": x, "b": 2.0 * x})
KEYS.defvjp(lambda x: ({"b": 2.0 * x, "a": x}, None), lambda kept, ct: (ct["a"],))
SHAPE = adc.custom_vjp(lambda x: x * x)
SHAPE.defvjp(lambda x: (x * x, x), lambda x, ct: (ct[:2],))


def clipped(x: Any) -> Any:
    return 2.0 * x


CLIPPED = adc.custom_vjp(clipped)
CLIPPED.defvjp(lambda x: (2.0 * x, None), lambda kept, ct: (np.clip(ct, -1.0, 1.0),))
RANK = adc.custom_vjp(lambda x: x * x)
RANK.defvjp(lambda x: (x * x, x), lambda x, ct: (np.outer(ct, ct),))


def _changes(x: Any) -> Any:
    y = x * 1.0

    def inner(t: Any) -> Any:
        y[0] = t
        return np.sum(y)

    return adc.grad(inner)(2.0) + y[0]


def _changes_twice(x: Any) -> Any:
    def inner(t: Any) -> Any:
        t[0] = 1.0
        return np.sum(t * x)

    return np.sum(adc.grad(inner)(x))


def _defined_in_a_branch(x: Any) -> Any:
    square = adc.custom_vjp(lambda y: y * y)
    if x > 0.0:
        square.defvjp(lambda y: (y * y, y), lambda y, ct: (2.0 * y * ct,))
    return square(x)


def _defined_by_another_name(x: Any) -> Any:
    square = adc.custom_vjp(lambda y: y * y)
    other = [square]
    other[0].defvjp(lambda y: (y * y, y), lambda y, ct: (2.0 * y * ct,))
    return square(x)


def _without_a_rule(x: Any) -> Any:
    @adc.custom_jvp
    def square(y: Any) -> Any:
        return y * y

    return square(x)


def _with_two_rules(x: Any) -> Any:
    @adc.custom_jvp
    def square(y: Any) -> Any:
        return y * y

    square.defjvp(lambda p, t: (p[0] * p[0], 2.0 * p[0] * t[0]))
    square.defjvp(lambda p, t: (p[0] * p[0], 2.0 * p[0] * t[0]))
    return square(x)


def _captured(x: Any) -> Any:
    """The rule says nothing about `x`, which the function uses."""
    scaled = adc.custom_vjp(lambda y: y * x)
    scaled.defvjp(lambda y: (y * x, None), lambda kept, ct: (ct * x,))
    return scaled(2.0)


ERRORS = {
    "a rule in a branch": (
        _defined_in_a_branch, 1.0, "ADC010", "a rule of lambda() that is defined elsewhere than"
    ),
    "a rule by another name": (
        _defined_by_another_name, 1.0, "ADC010", "a rule of lambda() that is defined elsewhere"
    ),
    "made without a rule": (
        _without_a_rule, 1.0, "ADC020", "square() is decorated with `custom_jvp` but has no rule"
    ),
    "made with two rules": (_with_two_rules, 1.0, "ADC020", "square() has a rule already"),
    "what a rule captures": (_captured, 1.0, "ADC024", "the rule of lambda() says nothing about"),
    "two arguments, one tangent": (
        lambda x: adc.linearize(lambda y, z: y * z, x, x)[1](x), 1.0, "ADC020",
        "1 tangents, but 2 arguments",
    ),
    "linearized, no tangent": (
        lambda x: adc.linearize(lambda y: y * y, x)[1](None), 1.0, "ADC020", "no tangent is given"
    ),
    "linearized, an integer": (
        lambda x: adc.linearize(lambda y, k: y * k, x, 2)[1](x, 1.0), 1.0, "ADC021",
        "a tangent of an argument without floats",
    ),
    "another mode": (
        lambda x: adc.value_and_jac(lambda y: y * y, mode=cast(Any, "both"))(x)[0], 1.0, "ADC020",
        "mode='both' is neither",
    ),
    "no rule": (lambda x: NO_RULE(x), 1.0, "ADC020", "`custom_vjp` but has no rule"),
    "no tuple": (lambda x: ONE(x), 1.0, "ADC014", "the reverse rule of custom() returns a number"),
    "no pair": (lambda x: THREE(x), 1.0, "ADC014", "the rule of custom() returns a number"),
    "another value": (
        lambda x: PAIR(x)[0], 1.0, "ADC014",
        "the value that the rule of custom() returns is a number (float), that of the function "
        "a tuple of 2",
    ),
    "another order of keys": (
        lambda x: KEYS(x)["a"], 1.0, "ADC014",
        "the value that the rule of custom() returns is one with 'b', 'a', that of the function "
        "one with 'a', 'b'",
    ),
    "rank": (
        lambda x: np.sum(RANK(x)), X, "ADC014",
        "a cotangent that the reverse rule of custom() returns has rank 2, but its primal "
        "value has rank 1",
    ),
    "forward": (
        lambda x: adc.jvp(CLIPPED, (x,), (x,))[1].sum(), X, "ADC024",
        "clipped() has a rule for reverse mode only, which is not linear in the cotangents",
    ),
    "reverse of reverse": (
        lambda x: np.sum(adc.grad(lambda y: np.sum(CLIPPED(y) ** 2))(x) ** 2), X, "ADC024",
        "clipped() has a rule for reverse mode only, which is not linear in the cotangents",
    ),
    "changes": (
        _changes, X, "ADC010", "a derivative of inner(), which changes 'y', is not supported"
    ),
    "changes its argument": (
        _changes_twice, X, "ADC010",
        "a derivative of inner(), which changes 'x', is not supported",
    ),
    "not a scalar": (
        lambda x: np.sum(adc.grad(lambda y: y * 2.0)(x)), X, "ADC023",
        "lambda() returns an array (f64[:]); only one float can be differentiated",
    ),
    "an integer": (
        lambda x: x * adc.grad(lambda k: k * 2.0)(3), 1.0, "ADC021",
        "a derivative with respect to a number (int); only floats can be differentiated",
    ),
    "no such argument": (
        lambda x: adc.grad(lambda y: y * 2.0, argnums=1)(x), 1.0, "ADC020",
        "argnums=1 is out of range: the number of arguments is 1",
    ),
    "no such name": (
        lambda x: adc.grad(lambda y: y * 2.0, argnames="z")(x), 1.0, "ADC020",
        "there is no parameter 'z'",
    ),
    "tangents": (
        lambda x: adc.jvp(lambda y: y * 2.0, (x,), (x, x))[1], 1.0, "ADC020",
        "1 primals but 2 tangents",
    ),
    "no tangent": (
        lambda x: adc.jvp(lambda y: y * 2.0, (x,), (None,))[1], 1.0, "ADC020",
        "no tangent is given",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    fn, x, code, message = ERRORS[case]
    with pytest.raises(AdcError) as caught:
        adc.grad(fn, cache=False)(x)
    assert caught.value.message == message or message in caught.value.message
    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


@pytest.mark.full
def test_shapes_are_checked_when_it_runs() -> None:
    with pytest.raises(ValueError, match="does not have the shape of its primal value"):
        adc.grad(lambda x: np.sum(SHAPE(x)), cache=False)(X)
    with pytest.raises(ValueError, match="does not have the shape of its primal value"):
        adc.grad(lambda x: np.sum(adc.vjp(lambda y: y * x, x)[1](x[:2])[0]), cache=False)(X)


def test_a_rule_is_defined_once() -> None:
    fn = adc.custom_jvp(lambda x: x)
    fn.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(AdcError, match="has a rule already"):
        fn.defjvp(lambda p, t: (p[0], t[0]))


@pytest.mark.full
def test_where_derivatives_need_not_commute() -> None:
    product = adc.custom_jvp(lambda x, w: x * w)
    product.defjvp(lambda p, t: (p[0] * p[1], t[0] * p[1]))  # as if w were a constant

    def loss(x: Any, w: Any) -> Any:
        return product(x, w) * w

    # The gradient by x is w * w. That by w is x * w, the value that the rule returns. Each is
    # differentiated as it is.
    assert adc.grad(loss, (0, 1))(2.0, 3.0) == (9.0, 6.0)
    assert adc.grad(adc.grad(loss), argnums=1)(2.0, 3.0) == 6.0
    assert adc.vjp(adc.grad(loss), 2.0, 3.0)[1](1.0) == (0.0, 6.0)
    assert adc.jacrev(adc.grad(loss), argnums=(0, 1))(2.0, 3.0) == (0.0, 6.0)
    by_w = adc.grad(loss, argnums=1)
    assert adc.grad(by_w, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert [adc.jvp(by_w, (2.0, 3.0), along)[1] for along in ((1.0, 0.0), (0.0, 1.0))] == [3.0, 2.0]
    assert adc.jacfwd(by_w, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert adc.jit(lambda x, w: adc.grad(adc.grad(loss), argnums=1)(x, w))(2.0, 3.0) == 6.0
    twice = adc.grad(lambda x, w: adc.grad(loss)(x, w), argnums=(0, 1))
    assert twice(2.0, 3.0) == (0.0, 6.0)
    # Forward over reverse differentiates the rule: that of w * w along w.
    assert adc.jvp(adc.grad(loss), (2.0, 3.0), (0.0, 1.0)) == (9.0, 6.0)


def test_a_rule_that_calls_its_function_is_followed_again() -> None:
    """Whatever the order of the modes: a straight-through estimate of rounding."""
    plain = adc.custom_jvp(lambda x: np.round(x))
    plain.defjvp(lambda p, t: (np.round(p[0]), t[0]))
    again = adc.custom_jvp(lambda x: np.round(x))
    again.defjvp(lambda p, t: (again(p[0]), t[0]))
    for rounded, curvature in ((plain, 0.0), (again, 2.0)):

        def loss(x: Any, f: Any = rounded) -> Any:
            return f(x) ** 2

        assert adc.grad(loss)(1.2) == 2.0
        second = adc.hessian(loss), adc.grad(adc.grad(loss)), adc.jacfwd(adc.jacfwd(loss))
        within = adc.jit(lambda x: adc.grad(lambda y: adc.grad(loss)(y) * 1.0)(x))
        assert [float(each(1.2)) for each in (*second, within)] == [curvature] * 4


def test_plans_tell_whose_values_they_are_about() -> None:
    def loss(q: Any) -> Any:
        for _ in range(3):
            q = q - 0.1 * force(q, 1.0)
        return np.sum(q * q)

    entries = adc.grad(loss).plan(X).entries
    values = [entry.value for entry in entries]
    assert len(set(values)) == len(values)
    (kept,) = (e for e in entries if e.decision == "kept" and ".dim" in e.bytes)
    assert kept.bytes == "24*q.dim0"
    assert any(value.startswith("potential.adjoint.dot: ") for value in values)


@pytest.mark.full
def test_rules_in_a_mode_that_is_found_later() -> None:
    def solved(m: Any, v: Any) -> Any:
        x = np.linalg.solve(m, v)
        return np.sum(x), adc.grad(lambda n: np.sum(np.linalg.solve(n, v) ** 2))(m)

    a, b = np.array([[2.0, 0.3], [-0.4, 1.5]]), np.array([0.7, -1.1])
    total, slope = adc.jit(solved, cache=False)(a, b)
    x = np.linalg.solve(a, b)
    assert total == pytest.approx(np.sum(x), rel=1e-14)
    np.testing.assert_allclose(slope, -2.0 * np.linalg.inv(a).T @ np.outer(x, x), rtol=1e-13)


@pytest.mark.full
def test_rules_in_modes_that_are_found_later() -> None:
    a = np.array([[2.0, 0.3], [-0.4, 1.5]])
    b = np.array([0.7, -1.1])

    def solved(m: Any, v: Any) -> Any:
        x = np.linalg.solve(m, v)
        slope = adc.grad(lambda n: np.sum(np.linalg.solve(n, v) ** 2))(m)
        curve = adc.hvp(lambda n: np.sum(np.linalg.solve(n, v) ** 2), (m,), (m,))
        return np.sum(x) + np.sum(slope * m) + np.sum(curve)

    def by_hand(m: Any, v: Any) -> Any:
        # The sum of squares is of degree -2 in the matrix, its gradient of degree -3.
        inverse = np.linalg.inv(m)
        x = inverse @ v
        slope = -2.0 * inverse.T @ np.outer(x, x)
        return np.sum(x) - 2.0 * np.sum(x**2) - 3.0 * np.sum(slope)

    assert adc.jit(solved)(a, b) == pytest.approx(by_hand(a, b), rel=1e-12)
    wanted = adc.grad(by_hand)(a, b)
    np.testing.assert_allclose(adc.grad(solved)(a, b), wanted, rtol=1e-10)
    moved = adc.jvp(solved, (a, b), (a, None))[1]
    assert moved == pytest.approx(np.sum(wanted * a), rel=1e-10)


def _beyond(x: Any) -> Any:
    return np.sum(np.zeros(3)[7] * x)


@adc.custom_vjp
def _beyond_with_a_rule(x: Any) -> Any:
    return np.sum(np.zeros(3)[7] * x)


_beyond_with_a_rule.defvjp(lambda x: (np.sum(x), x), lambda x, ct: (ct * x,))


@adc.custom_vjp
def _with_a_rule_beyond(x: Any) -> Any:
    return np.sum(x)


_with_a_rule_beyond.defvjp(lambda x: (np.zeros(3)[7], x), lambda x, ct: (ct * x,))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.sum(adc.grad(_beyond)(x)),
        lambda x: adc.value_and_grad(_beyond)(x)[0],
        lambda x: adc.jvp(_beyond, (x,), (x,))[1],
        lambda x: np.sum(adc.hvp(_beyond, (x,), (x,))),
        lambda x: np.sum(adc.jacfwd(lambda y: np.zeros(3)[7] * y)(x)),
        _beyond_with_a_rule,
    ],
)
def test_derivatives_of_what_always_raises_raise(fn: Callable[..., Any]) -> None:
    # These were 0: the exception was lost with the function, and nothing after it is reached.
    for call in (adc.jit, adc.grad):
        with pytest.raises(IndexError, match="index 7 is out of bounds"):
            call(fn, target="python")(X)


def test_always_raising_derivatives_are_not_caught() -> None:
    def caught(x: Any) -> Any:
        try:
            return np.sum(adc.grad(_beyond)(x))
        except IndexError:
            return np.sum(x)

    with pytest.raises(AdcError, match="ADC030"):
        adc.grad(caught, target="python")(X)
    with pytest.raises(AdcError, match=r"a rule of _with_a_rule_beyond.*always raises"):
        adc.grad(lambda x: _with_a_rule_beyond(x) * 2.0, target="python")(X)


def test_what_precedes_a_derivative_for_other_sizes_is_printed_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def printing(a: Any, b: Any) -> Any:
        print("once")
        return np.sum(adc.grad(lambda u, v: np.sum(v[[0, 0, 1, 1]] * u[-7:]), 1)(a, b))

    a = np.array([0.3, 0.2, 0.7, 0.4])
    assert abs(adc.jit(printing, target="python")(a, X[:2]) - np.sum(a)) < 1e-12
    assert capsys.readouterr().out == "once\n"


class Account:
    def __init__(self, v: Any) -> None:
        self.v = v


@adc.jit
def moved(a: Any, b: Any) -> Any:
    a.v += 1.0
    return b.v if a is b else -b.v


@adc.jit
def asked(a: Any, b: Any) -> Any:
    return np.sum(a) if a is b else 2.0 * np.sum(b)


@adc.jit
def written(a: Any, b: Any) -> Any:
    a[0] = 5.0
    return np.sum(b)


def test_what_is_passed_twice_to_compiled_code_is_one() -> None:
    def accounts(x: Any, same: bool) -> Any:
        one = Account(x)
        other = one if same else Account(2.0 * x)
        return moved(one, one) + moved(one, other) + 10.0 * one.v

    def lists(x: Any) -> Any:
        row = [x, 1.0]
        return asked(row, row) + asked(row, [x, 1.0])

    for same in (False, True):
        wanted = (3.0 + 1.0) + (4.0 if same else -6.0) + 30.0
        assert adc.jit(functools.partial(accounts, same=same), target="python")(3.0) == wanted
    assert adc.jit(lists, target="python")(3.0) == 4.0 + 8.0

    def twice(x: Any, fn: Callable[..., Any]) -> Any:
        y = 1.0 * x
        return fn(y, y) + fn(y, y[:])

    assert adc.jit(lambda x: asked(1.0 * x, x), target="python")(X) == 2.0 * np.sum(X)
    for fn, message in ((asked, "may be one"), (written, "may or may not be the same array")):
        with pytest.raises(AdcError, match=message):
            adc.jit(functools.partial(twice, fn=fn), target="python")(X)
