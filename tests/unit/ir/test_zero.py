"""Zero is zero: a cotangent or tangent of 0 contributes nothing, whatever the local derivative.

Each program is evaluated where a derivative that does not count is infinite or NaN. What its
gradient is there stands beside it, worked out by hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir import interp
from adc.ir.analysis.sizes.ranges import Ranges
from adc.ir.core import Apply, walk
from adc.ir.opdef import OPS, OpDef
from adc.ir.rules import vjp_rule
from adc.ir.text.parser import parse
from adc.ir.types import F32, F64, Scalar
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent
from adc.passes.scalar.relax import relax
from tests.oracle.chain import Chain, fresh

INF, NAN = math.inf, math.nan


# --- rows -----------------------------------------------------------------------------------------

ROWS = [
    op
    for op in OPS.values()
    if op.vjp is not None
    and op.arity > 0
    and op.name not in ("cast", "full", "copy", "total")
    and op.ufunc is None  # see `test_ufuncs`
]
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, INF, -INF, NAN, 1e308, 1e-310)
each_row = pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)


def operand_types(op: OpDef, ty: Scalar) -> tuple[Scalar, ...]:
    return (Scalar("b1"), ty, ty) if op.name == "select" else (ty,) * op.arity


def samples(op: OpDef) -> list[tuple[Any, ...]]:
    points = [(True, False)] if op.name == "select" else []
    return list(itertools.product(*points, *[POINTS] * (op.arity - len(points))))


def one_row(op: OpDef) -> tuple[Any, tuple[int, ...]]:
    """Return a function that applies a row, and the positions of its float operands."""
    types = operand_types(op, F64)
    params = ", ".join(f"%x{k}: {ty}" for k, ty in enumerate(types))
    args = " ".join(f"%x{k}" for k in range(op.arity))
    text = f"fn f({params}) -> f64 {{\n  %y = {op.name} {args}\n  return %y\n}}\n"
    return parse(text), tuple(k for k, ty in enumerate(types) if ty.kind == "f")


def numbers(op: OpDef, args: tuple[Any, ...], dtype: type) -> list[Any]:
    return [arg if isinstance(arg, bool) else dtype(arg) for arg in args]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_row
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_no_row_makes_something_of_a_zero_cotangent(op: OpDef, zero: float) -> None:
    fn, wrt = one_row(op)
    pulled = adjoint(fn, wrt, seed=False)
    for args in samples(op):
        given = numbers(op, args, np.float64)
        results = interp.run(pulled, (*given, np.float64(zero)))[1:]
        assert all(result == 0.0 for result in results), args


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_row
def test_no_row_makes_something_of_a_zero_tangent(op: OpDef) -> None:
    fn, wrt = one_row(op)
    moved = tangent(fn, wrt)
    for args in samples(op):
        given = numbers(op, args, np.float64)
        results = interp.run(moved, (*given, *[np.float64(0.0)] * len(wrt)))
        assert results[1] == 0.0, args


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_row
def test_second_derivatives_of_what_does_not_count_are_zero(op: OpDef) -> None:
    fn, wrt = one_row(op)
    pulled = adjoint(fn, wrt, seed=False)
    moved = tangent(pulled, wrt)
    for args in samples(op):
        given = numbers(op, args, np.float64)
        directions = [np.float64(k + 1.0) for k in range(len(wrt))]
        results = interp.run(moved, (*given, np.float64(0.0), *directions))
        # After the result and the cotangents, their tangents: that of the result may be anything.
        assert all(result == 0.0 for result in results[-len(wrt) :]), args


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_row
def test_images_and_totality_hold(op: OpDef) -> None:
    low, high = op.image
    for args in samples(op):
        given = numbers(op, args, np.float64)
        found = float(op.evaluate(*given))
        assert math.isnan(found) or low <= found <= high, args
        if op.total and all(abs(arg) <= 1.0 for arg in given):
            assert math.isfinite(found), args


def test_rules_shield_what_is_proportional_to_the_cotangent() -> None:
    rule = vjp_rule(OPS["truediv"], (F32, F32))
    assert [stmt.op.name for stmt in rule.stmts] == ["xdivy", "xdivy", "xmuly", "neg"]
    # Not what is computed of the operands alone, nor products with constants.
    rule = vjp_rule(OPS["sqrt"], (F64,))
    assert [stmt.op.name for stmt in rule.stmts] == ["mul", "xdivy"]
    rule = vjp_rule(OPS["cbrt"], (F64,))
    assert [stmt.op.name for stmt in rule.stmts] == ["mul", "mul", "xdivy"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("xmuly", (0.0, INF), 0.0), ("xmuly", (-0.0, NAN), 0.0), ("xmuly", (INF, 0.0), NAN),
        ("xmuly", (INF, 2.0), INF), ("xmuly", (NAN, 0.0), NAN), ("xmuly", (NAN, 1.0), NAN),
        ("xdivy", (0.0, 0.0), 0.0), ("xdivy", (0.0, NAN), 0.0), ("xdivy", (1.0, 0.0), INF),
        ("xdivy", (INF, 2.0), INF), ("xdivy", (NAN, 2.0), NAN), ("xdivy", (3.0, 2.0), 1.5),
        ("mulzeros", (INF, 0.0), 0.0), ("mulzeros", (0.0, NAN), 0.0),
        ("mulzeros", (INF, 2.0), INF), ("mulzeros", (3.0, 2.0), 6.0),
    ],
)  # fmt: skip
def test_values(name: str, args: tuple[float, float], expected: float) -> None:
    fn, _ = one_row(OPS[name])
    found = OPS[name].evaluate(*map(np.float64, args))
    assert found == pytest.approx(expected, abs=0.0, nan_ok=True)
    assert interp.run(fn, tuple(map(np.float64, args)))[0] == pytest.approx(expected, nan_ok=True)


# --- where no test for zero is needed -------------------------------------------------------------


def shielded(text: str) -> list[str]:
    """Return the results of the products that still test for zero."""
    fn = relax(parse(text))
    return [
        stmt.result.name
        for stmt in walk(fn.body)
        if isinstance(stmt, Apply) and stmt.op.name in ("xmuly", "xdivy", "mulzeros")
    ]


def products(*lines: str) -> str:
    params = "%ct: f64, %x: f64, %n: i64, %c: b1, %a: f64[:]"
    body = "\n".join(f"  {line}" for line in (*lines, "return %p"))
    return f"fn f({params}) -> f64 {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    "lines",
    [
        ["%p = xmuly %ct 3.0:f64"],
        ["%p = xmuly 2.0:f64 %x"],
        ["%t = tanh %x", "%p = xmuly %ct %t"],
        ["%p = xmuly %ct %x"],  # of a finite argument
        ["%t = load %a[0]", "%p = xmuly %ct %t"],
        ["%s = mul %x %x", "%t = add %s 1e-9:f64", "%p = xdivy %ct %t"],
        ["%s = exp %x", "%t = add %s 1.0:f64", "%p = xdivy %ct %t"],
        ["%s = exp %x", "%t = add %s 1.0:f64", "%y = truediv 1.0:f64 %t", "%p = xmuly %ct %y"],
        ["%s = abs %x", "%t = neg %s", "%u = exp %t", "%p = xmuly %ct %u"],
        ["%s = square %x", "%t = add %s 1.0:f64", "%u = sqrt %t", "%p = xdivy %ct %u"],
        ["%s = square %x", "%t = add %s 1.0:f64", "%u = log %t", "%p = xmuly %ct %u"],
        ["%f = cast[f64] %n", "%m = select %c %ct 0.0:f64", "%p = xmuly %m %f"],
        # Infinity times what is not 0 is no NaN.
        [
            "%s = square %x",
            "%l = log %s",
            "%k = mul 2.0:f64 %l",
            "%t = tanh %k",
            "%p = xmuly %ct %t",
        ],
        [
            "%s = square %x",
            "%l = log %s",
            "%k = mul %l 2.0:f64",
            "%t = tanh %k",
            "%p = xmuly %ct %t",
        ],
    ],
)
def test_no_test_where_the_derivative_is_finite(lines: list[str]) -> None:
    assert shielded(products(*lines)) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["%p = xdivy %ct %x"],
        ["%t = sqrt %x", "%p = xmuly %ct %t"],
        ["%t = log %x", "%p = xmuly %ct %t"],
        ["%t = exp %x", "%p = xmuly %ct %t"],
        ["%t = truediv 1.0:f64 %x", "%p = xmuly %ct %t"],
        ["%s = square %x", "%t = log %s", "%p = xmuly %ct %t"],
        ["%s = square %x", "%t = sub %s 1e-9:f64", "%p = xdivy %ct %t"],
        ["%s = square %x", "%p = xdivy %ct %s"],
        # Infinity times 0 is NaN, on either side.
        ["%s = square %x", "%l = log %s", "%k = mul %x %l", "%t = tanh %k", "%p = xmuly %ct %t"],
        ["%s = square %x", "%l = log %s", "%k = mul %l %x", "%t = tanh %k", "%p = xmuly %ct %t"],
        # Where a choice made the cotangent 0, what the caller gives may be NaN.
        ["%m = select %c %ct 0.0:f64", "%p = xmuly %m %x"],
        ["%m = select %c %ct 0.0:f64", "%k = mul %m 2.0:f64", "%p = xmuly %k %x"],
    ],
)
def test_a_test_where_it_may_be_infinite(lines: list[str]) -> None:
    assert shielded(products(*lines)) == ["p"]


def in_a_branch(test: str, *tests: str, arm: str = "then") -> list[str]:
    """Return lines that divide by %x in an arm, where a test of it holds or does not."""
    quotient, zero = ["%q = xdivy %ct %x", "yield %q"], ["yield 0.0:f64"]
    arms = (quotient, zero) if arm == "then" else (zero, quotient)
    then, orelse = map("\n".join, arms)
    return [test, *tests, f"%p = if %k {{\n{then}\n}} else {{\n{orelse}\n}}"]


@pytest.mark.parametrize(
    "lines",
    [
        in_a_branch("%k = gt %x 0.0:f64"),
        in_a_branch("%k = lt %x -1.0:f64"),
        in_a_branch("%k = ge %x 1e-4:f64"),
        in_a_branch("%k = lt 0.0:f64 %x"),
        in_a_branch("%k = le %x 0.0:f64", arm="else"),
        in_a_branch("%k = lt %x 1e-4:f64", arm="else"),
        in_a_branch("%j = gt %x 0.0:f64", "%k = and %j %c"),
        in_a_branch("%j = le %x 0.0:f64", "%k = or %c %j", arm="else"),
        in_a_branch("%j = le %x 0.0:f64", "%k = not %j"),
        ["%k = gt %x 0.0:f64", 'check %k ValueError ""', "%p = xdivy %ct %x"],
        # What is not negative is positive if it is not 0.
        [
            "%s = square %x",
            "%k = ne %s 0.0:f64",
            "%p = if %k {\n%r = sqrt %s\n%q = xdivy %ct %r\nyield %q\n} else {\nyield %ct\n}",
        ],
        [
            "%s = square %x",
            "%k = eq %s 0.0:f64",
            "%p = if %k {\nyield %ct\n} else {\n%r = sqrt %s\n%q = xdivy %ct %r\nyield %q\n}",
        ],
    ],
)
def test_no_test_where_a_branch_has_made_it(lines: list[str]) -> None:
    assert shielded(products(*lines)) == []


@pytest.mark.parametrize(
    "lines",
    [
        in_a_branch("%k = ge %x 0.0:f64"),
        in_a_branch("%k = gt %x -1.0:f64"),
        in_a_branch("%k = gt %x 0.0:f64", arm="else"),
        in_a_branch("%k = lt %x 0.0:f64", arm="else"),
        in_a_branch("%j = gt %x 0.0:f64", "%k = or %j %c"),
        in_a_branch("%j = le %x 0.0:f64", "%k = and %c %j", arm="else"),
        in_a_branch("%y = neg %x", "%k = gt %y 0.0:f64"),
        # After the branch nothing is known.
        [
            "%k = gt %x 0.0:f64",
            "%y = if %k {\nyield %ct\n} else {\nyield 1.0:f64\n}",
            "%q = xdivy %y %x",
            "%p = add %q 0.0:f64",
        ],
        # Nor before the check.
        ["%k = gt %x 0.0:f64", "%q = xdivy %ct %x", 'check %k ValueError ""', "%p = neg %q"],
    ],
)
def test_a_test_where_no_branch_has_made_it(lines: list[str]) -> None:
    assert shielded(products(*lines)) in (["q"], ["p"])


def test_reverse_code_knows_of_branches_of_forward_code() -> None:
    def program(x: Any) -> Any:
        if x > 0.0:
            y = np.log(x) / x
        else:
            y = x
        return y

    text = adc.grad(program).source(2.0)
    assert "xdivy" not in text
    assert "xmuly" not in text
    assert adc.grad(program)(2.0) == pytest.approx((1.0 - math.log(2.0)) / 4.0)


def test_ranges_of_what_loops_carry() -> None:
    fn = parse(
        """\
fn f(%x: f64[:], %n: i64) -> f64 {
  %s = for L0 %i in 0 to %n carrying (%acc = 1.0:f64) {
    %v = load %x[%i]
    %w = mul %v %v
    %acc.1 = add %acc %w
    yield %acc.1
  }
  %d = for L1 %i.1 in 0 to %n carrying (%down = 1.0:f64) {
    %down.1 = sub %down 0.5:f64
    yield %down.1
  }
  %r = sub %s %d
  return %r
}
"""
    )
    ranges = Ranges(fn)
    values = {value.name: value for stmt in walk(fn.body) for value in stmt.results}
    assert ranges.of("", values["s"])[:2] == (1.0, INF)
    assert ranges.of("", values["d"])[:2] == (-INF, 1.0)
    assert ranges.of("", values["r"])[:2] == (0.0, INF)
    assert ranges.of("", values["s"]).finite


# --- programs -------------------------------------------------------------------------------------

Case = tuple[Callable[..., Any], tuple[Any, ...], Any]
CASES: list[Case] = []


def gradient(expected: Any, *args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Record a program, the arguments, and the gradient with respect to the first one."""

    def record(fn: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((fn, args, expected))
        return fn

    return record


@gradient([3.0, 0.0], np.zeros(2))
def rotation_by_a_small_angle(a: Any) -> Any:
    angle = math.sqrt(a[0] ** 2 + a[1] ** 2)
    if angle < 1e-4:
        return 3.0 * a[0]
    return 3.0 * a[0] * math.sin(angle) / angle


@gradient([0.0, 0.0, 0.25], np.array([-1.0, 0.0, 4.0]))
def root_behind_where(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


@gradient([0.0, 0.0, 1.0], np.array([-1.0, 0.0, 1.0]))
def entropy_behind_where(x: Any) -> Any:
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


@gradient([1.0, 0.5, 0.0], np.array([1000.0, 0.0, -1000.0]))
def softplus_behind_where(x: Any) -> Any:
    return np.sum(np.where(x > 20.0, x, np.log1p(np.exp(x))))


@gradient([0.0, 0.25, 0.0], np.array([1000.0, 0.0, -1000.0]))
def saturated_sigmoid(x: Any) -> Any:
    return np.sum(1.0 / (1.0 + np.exp(-x)))


@gradient([1.0, 1.0, 0.0], np.array([0.0, 2.0, 3.0]))
def sinc_by_branches(x: Any) -> Any:
    total = 0.0
    for i in range(2):
        v = x[i] * x[2]
        r = np.sin(v) / v
        if v == 0.0:
            total += x[i]
        else:
            total += x[i] + 0.0 * r
    return total


@gradient([1.0, 0.0, 0.6, 0.8], np.array([0.0, 0.0, 3.0, 4.0]))
def norms_of_pairs_that_are_not_zero(x: Any) -> Any:
    total = 0.0
    for i in range(2):
        square = x[2 * i] ** 2 + x[2 * i + 1] ** 2
        if square != 0.0:
            total += square / np.sqrt(square)
        else:
            total += x[2 * i]
    return total


@gradient([0.0, 0.25], np.array([0.0, 4.0]))
def one_element_of_an_array_of_logarithms(x: Any) -> Any:
    return np.log(x)[1]


@gradient([0.0, 0.25, 0.0], np.array([0.0, 4.0, 1e-9]))
def logarithm_cut_off(x: Any) -> Any:
    return np.sum(np.maximum(np.log(x), -5.0))


@gradient([0.0, 1.0], np.array([0.0, 4.0]))
def overwritten_roots(x: Any) -> Any:
    y = np.sqrt(x)
    y[0] = 1.0
    y[1] = y[1] * y[1]
    return np.sum(y)


@gradient([0.0, 0.0, 0.25], np.array([0.0, -3.0, 4.0]))
def roots_picked_by_a_mask(x: Any) -> Any:
    y = np.sqrt(x)
    return np.sum(y[x > 0.0])


@gradient([1.0, 0.0, 3.0], np.ones(3), np.array([1.0, NAN, 3.0]))
def missing_data_behind_where(w: Any, data: Any) -> Any:
    return np.sum(np.where(np.isnan(data), 0.0, data * w))


@gradient([1.0, 0.0, 3.0], np.ones(3), np.array([1.0, INF, 3.0]))
def infinite_data_behind_a_branch(w: Any, data: Any) -> Any:
    total = 0.0
    for i in range(len(w)):
        product = w[i] * data[i]
        if np.isfinite(data[i]):
            total += product
    return total


@gradient([0.0, 2.0], np.array([0.0, 1.0]))
def reciprocal_behind_where(x: Any) -> Any:
    safe = np.where(x == 0.0, 0.0, 1.0 / x)
    return np.sum(safe * x * x * x * 1.0)


@gradient([0.0, -1.0], np.array([0.0, 0.0]))
def angle_at_the_origin_that_does_not_count(x: Any) -> Any:
    angle = np.arctan2(x[1], x[0])
    norm = np.hypot(x[0], x[1])
    if norm > 0.0:
        return angle
    return -x[1]


@gradient([0.0, 1.0], np.array([0.0, 1.0]))
def root_of_a_difference_in_a_while(x: Any) -> Any:
    s, k = 0.0, 0
    while k < 2:
        r = math.sqrt(x[k])
        if x[k] > 0.5:
            s = s + r * r
        k += 1
    return s


def inner(v: Any) -> Any:
    return np.where(v > 0.0, np.power(v, 0.5), v * 0.0)


@gradient([0.0, 0.5], np.array([0.0, 1.0]))
def power_in_a_helper(x: Any) -> Any:
    return np.sum(inner(x))


@gradient([0.0, 1.0, 0.0], np.array([1.0, 0.0, -1.0]))
def inverse_functions_at_their_ends(x: Any) -> Any:
    y = np.arcsin(x)
    z = np.arccos(x) + np.arctanh(x)
    return np.sum(np.where(np.abs(x) < 1.0, y, 0.0)) + 0.0 * np.sum(z[1:2])


@gradient([0.0, 0.5], np.array([0.0, 1.0], np.float32))
def in_single_precision(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(x), np.float32(0.0)))


each_case = pytest.mark.parametrize(
    ("fn", "args", "expected"), CASES, ids=[fn.__name__ for fn, _, _ in CASES]
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_case
def test_reverse_mode(fn: Callable[..., Any], args: tuple[Any, ...], expected: Any) -> None:
    chain = Chain.of(fn, args, (0,))
    for stage in (chain.adjoint, chain.joined, *(made for _, made in chain.planned("auto"))):
        (found,) = chain.gradient(chain.run(stage))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=0.0, err_msg=str(stage))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_case
def test_forward_mode(fn: Callable[..., Any], args: tuple[Any, ...], expected: Any) -> None:
    if fn is saturated_sigmoid:
        return  # The tangent of the exponential is infinite there, not zero.
    chain = Chain.of(fn, args, (0,))
    for k, unit in enumerate(np.eye(len(args[0]), dtype=args[0].dtype)):
        found = interp.run(chain.tangent, [*fresh(chain.inputs), unit])[1]
        np.testing.assert_allclose(found, expected[k], rtol=1e-6, atol=0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("fn", "args", "expected"),
    [case for case in CASES if case[0].__name__ in ("entropy_behind_where", "saturated_sigmoid",
     "rotation_by_a_small_angle", "roots_picked_by_a_mask", "in_single_precision")],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_compiled(fn: Callable[..., Any], args: tuple[Any, ...], expected: Any) -> None:
    found = adc.grad(fn)(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=0.0)


def test_second_derivatives_where_the_cotangent_is_zero() -> None:
    # The cotangent of log(x) is 0 at 1, and its derivative is not.
    found = adc.hessian(lambda x: np.sum(np.log(x) ** 2))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, np.diag([2.0, (1.0 - math.log(2.0)) / 2.0]), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_derivatives_behind_where() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, x * np.sqrt(x), 0.0))

    found = adc.hessian(f)(np.array([0.0, 1.0, -4.0]))
    np.testing.assert_allclose(found, np.diag([0.0, 0.75, 0.0]), rtol=1e-12, atol=0.0)


def test_infinite_and_nan_cotangents_stay_visible() -> None:
    _, pull = adc.vjp(lambda x: x * 2.0, np.array([1.0, 1.0, 1.0]))
    (found,) = pull(np.array([INF, NAN, 0.0]))
    np.testing.assert_array_equal(found, [INF, NAN, 0.0])
    # A root that counts has an infinite derivative at 0.
    np.testing.assert_array_equal(adc.grad(lambda x: np.sum(np.sqrt(x)))(np.zeros(2)), [INF, INF])
    # Infinity times zero is no zero of a cotangent.
    assert np.isnan(adc.grad(lambda x: math.sqrt(x * x))(0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_tangent_that_meets_a_zero_is_nan() -> None:
    # Those of `exp(log(x))` at 0 are the same numbers, and its derivative is 1.
    def soft_minimum(g: Any, r: Any) -> Any:
        return -g * np.log(np.sum(np.exp(-r / g)))

    def without_infinities(g: Any, r: Any) -> Any:
        return -g * np.log(np.sum(np.where(r < INF, np.exp(-r / g), 0.0)))

    r = np.array([1.0, INF, 2.0])
    expected = adc.grad(soft_minimum)(0.7, r)
    assert expected == pytest.approx(soft_minimum(0.7 + 1e-30j, r).imag / 1e-30, rel=1e-12)
    assert np.isnan(adc.jvp(soft_minimum, (0.7, r), (1.0, None))[1])
    assert adc.jvp(without_infinities, (0.7, r), (1.0, None))[1] == pytest.approx(expected)
    finite = np.minimum(r, 1e300)
    assert adc.jvp(soft_minimum, (0.7, finite), (1.0, None))[1] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_nan_of_the_value_stays_in_the_value() -> None:
    value, found = adc.value_and_grad(lambda x: np.sqrt(x[0]) * 0.0 + x[1])(np.array([-1.0, 2.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(found, [0.0, 1.0])
