"""`adc.external`: functions that compiled code calls as they are."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import adc
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    ExceptionHandlingError,
    NotDifferentiableError,
    TypeMismatchError,
    UnsupportedError,
)
from adc.testing import check_grads

X = np.linspace(0.2, 1.4, 5)
CALLS: list[Any] = []


@pytest.fixture(autouse=True)
def no_calls() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


def count(value: Any) -> Any:
    CALLS.append(value)
    return value


# --- derivatives ----------------------------------------------------------------------------------


def rules(which: str, pure: bool = False) -> Any:
    """Return the sine, elementwise, with some rules."""
    vjp = (lambda ct, y, x: ct * np.cos(x)) if "v" in which else None
    jvp = (lambda dots, y, x: dots[0] * np.cos(x)) if "j" in which else None
    return adc.external(
        lambda x: np.sin(count(x)), result=np.zeros_like, vjp=vjp, jvp=jvp, pure=pure
    )


def test_a_tangent_in_plain_python() -> None:
    sine = rules("j")
    value, slope = adc.jvp(lambda x: np.sum(sine(x * x)), (X,), (np.ones(5),), target="python")
    assert value == pytest.approx(np.sum(np.sin(X * X)), rel=1e-12)
    assert slope == pytest.approx(np.sum(2.0 * X * np.cos(X * X)), rel=1e-12)


def programs(sine: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def vector(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = sine(y * x) + x
        return y

    return vector, lambda x: np.sum(vector(x) ** 2)


@pytest.mark.full
@pytest.mark.parametrize("which", ["vj", "v", "j"])
def test_derivatives_are_those_of_the_function(which: str) -> None:
    (vector, loss), (own, own_loss) = programs(rules(which)), programs(np.sin)
    dx = X[::-1].copy()
    np.testing.assert_allclose(adc.grad(loss)(X), adc.grad(own_loss)(X), rtol=1e-13)
    python = adc.grad(loss, target="python")
    np.testing.assert_array_equal(python(X), adc.grad(loss)(X))
    np.testing.assert_allclose(adc.jacrev(vector)(X), adc.jacrev(own)(X), rtol=1e-13)
    np.testing.assert_allclose(adc.jacfwd(vector)(X), adc.jacrev(own)(X), rtol=1e-13)
    found, wanted = (adc.hvp(f, (X,), (dx,)) for f in (loss, own_loss))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    check_grads(loss, (X,))


@pytest.mark.full
def test_the_tangent_of_a_number_follows_from_its_cotangents() -> None:
    area = adc.external(
        lambda a, b: integrate.quad(lambda t: np.exp(-t * t), a, b)[0], result=float,
        vjp=lambda ct, y, a, b: (-ct * np.exp(-a * a), ct * np.exp(-b * b)),
    )  # fmt: skip

    def program(a: Any, b: Any) -> Any:
        return area(a, b) ** 2 * a

    def slope(a: Any, b: Any) -> Any:
        y = area(a, b)
        return -2.0 * y * np.exp(-a * a) * a + y * y

    assert adc.grad(program)(0.3, 0.9) == pytest.approx(slope(0.3, 0.9), rel=1e-14)
    h = 1e-5
    wanted = (slope(0.3 + h, 0.9) - slope(0.3 - h, 0.9)) / (2.0 * h)
    assert adc.grad(adc.grad(program))(0.3, 0.9) == pytest.approx(wanted, rel=1e-8)
    check_grads(program, (0.3, 0.9))


@pytest.mark.full
def test_a_rule_may_be_external() -> None:
    slope = adc.external(np.cos, result=np.zeros_like)
    sine = adc.external(np.sin, result=np.zeros_like, vjp=lambda ct, y, x: ct * slope(x))
    np.testing.assert_allclose(
        adc.grad(lambda x: np.sum(sine(x) * x))(X), np.sin(X) + X * np.cos(X)
    )


@pytest.mark.full
def test_a_wrong_rule_is_found() -> None:
    wrong = adc.external(np.sin, result=np.zeros_like, vjp=lambda ct, y, x: ct * np.sin(x))
    with pytest.raises(AssertionError):
        check_grads(lambda x: np.sum(wrong(x)), (X,), modes="rev")


@pytest.mark.full
def test_rules_of_several_arguments_and_results() -> None:
    def both(x: Any, a: Any) -> Any:
        return float(x @ x), a @ x

    made = adc.external(
        both, result=lambda x, a: (1.0, a @ x),
        vjp=lambda ct, y, x, a: (2.0 * ct[0] * x + a.T @ ct[1], np.outer(ct[1], x)),
        jvp=lambda dots, y, x, a: (2.0 * np.sum(dots[0] * x), a @ dots[0] + dots[1] @ x),
    )  # fmt: skip

    def program(x: Any, a: Any) -> Any:
        s, v = made(x, a)
        return s * np.sum(v * v)

    rng = np.random.default_rng(3)
    check_grads(program, (rng.normal(size=3), rng.normal(size=(2, 3))))


@pytest.mark.full
def test_without_a_rule() -> None:
    table = adc.external(lambda x: 2.0 * x, result=float)
    hint = r"adc\.external\(lambda, vjp=\.\.\., jvp=\.\.\.\)"
    with pytest.raises(NotDifferentiableError, match="called as it is") as error:
        adc.grad(lambda x: table(x))(1.0)
    assert "table(x)" in str(error.value)
    with pytest.raises(NotDifferentiableError, match=hint):
        adc.jvp(lambda x: table(x), (1.0,), (1.0,))
    assert adc.grad(lambda x: table(adc.stop_gradient(x)) * x)(3.0) == 6.0
    assert adc.grad(lambda x, k: table(k) * x)(3.0, 2.0) == 4.0


# --- how often ------------------------------------------------------------------------------------


def steps(sine: Any) -> Callable[..., Any]:
    def program(x: Any) -> Any:
        for _ in range(40):
            x = sine(x) * 1.2
        return np.sum(x)

    return program


@pytest.mark.full
def test_it_is_called_once() -> None:
    program = steps(rules("v"))
    wanted = adc.grad(program)(X)
    assert len(CALLS) == 40
    CALLS.clear()
    got = adc.grad(program, memory="6 kB")(X)
    assert len(CALLS) == 40
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.full
def test_what_is_pure_is_called_again_for_memory() -> None:
    program = steps(rules("v", pure=True))
    wanted = adc.grad(program)(X)
    assert len(CALLS) == 40
    CALLS.clear()
    got = adc.grad(program, memory="1 kB")(X)
    assert len(CALLS) > 40
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.full
def test_no_derivative_within_code_calls_it_twice() -> None:
    _, loss = programs(rules("vj"))
    with pytest.raises(UnsupportedError, match="a second call of") as error:
        adc.jit(lambda x: adc.value_and_grad(loss)(x)[0])(X)
    assert "pure=True" in error.value.hint
    _, loss = programs(rules("vj", pure=True))
    assert adc.jit(lambda x: adc.value_and_grad(loss)(x)[0])(X) == pytest.approx(loss(X))


# --- arguments and results ------------------------------------------------------------------------


def test_arguments_arrive_as_they_are() -> None:
    def fn(*args: Any, **kwargs: Any) -> float:
        CALLS.append((args, kwargs))
        return 0.5

    seen = adc.external(fn)

    def program(x: Any, n: Any, h: Any, z: Any) -> Any:
        return seen(
            x[0], n, h, z, "text", None, True, [x[1], 2], key={"a": (x, n + 1)}, z=z[0] * 1j
        )

    args = np.array([np.pi, np.e]), 3, np.float16(0.1), np.array([1.5 + 2j])
    for target in ("cpu", "python"):
        assert adc.jit(program, target=target)(*args) == 0.5
        ((x, n, h, z, *rest), kwargs) = CALLS.pop()
        assert (type(x), x, type(n), n) == (np.float64, np.pi, int, 3)
        assert (type(h), h, rest) == (np.float16, np.float16(0.1), ["text", None, True, [np.e, 2]])
        assert (z.dtype, z.tolist()) == (np.complex128, [1.5 + 2j])
        assert kwargs["z"] == (1.5 + 2j) * 1j
        assert kwargs["key"]["a"][1] == 4
        np.testing.assert_array_equal(kwargs["key"]["a"][0], args[0])


@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", "f8 f4 f2 i1 u2 i8 u8 ? c8 c16".split())
def test_arrays_of_any_dtype_and_strides(dtype: str) -> None:
    made = adc.external(lambda a: np.flip(count(a), 0), result=np.zeros_like)
    a = (np.arange(12) * 1.1).reshape(3, 4).astype(dtype)
    code = adc.jit(lambda a: made(a))
    for each in (a, a.T, a[:, ::2], a[::-1], a[:0], np.asfortranarray(a)):
        got = code(each)
        assert got.dtype == a.dtype
        np.testing.assert_array_equal(got, np.flip(each, 0))
        np.testing.assert_array_equal(CALLS[-1], each)
    number = adc.external(lambda v: v, result=lambda v: v)
    found = adc.jit(lambda v: number(v))(a[1, 1])
    assert type(found) is type(a[1, 1])
    assert found == a[1, 1]


@pytest.mark.parametrize(
    ("result", "value"),
    [
        (float, 2.5), (int, 7), (bool, True), (complex, 1 + 2j), (np.float32, np.float32(0.1)),
        (np.dtype("u1"), np.uint8(3)), ((float, int), (0.5, 2)),
        (np.zeros((2, 3)), np.ones((2, 3))),
        (lambda: (np.zeros(2), 1), (np.arange(2.0), 4)), (1.0, 3), (np.float64, 1),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)  # fmt: skip
@pytest.mark.sampled(4)
def test_results(result: Any, value: Any) -> None:
    made = adc.external(lambda: value, result=result)
    found = adc.jit(lambda x: made())(1.0)
    parts, wanted = (each if isinstance(each, tuple) else (each,) for each in (found, value))
    for part, each in zip(parts, wanted, strict=True):
        np.testing.assert_array_equal(part, each)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("result", "value", "what"),
    [
        (np.zeros(3), np.ones(2), r"shape \(2,\), and its `result` says \(3,\)"),
        (np.zeros(3), np.ones((3, 1)), "float64 with 2 axes, .* with 1 axis"),
        (np.zeros(3), 1.0, r"a number \(float\), .* an array of float64"),
        (np.zeros(3, "f4"), np.ones(3), "an array of float64 .* an array of float32"),
        (np.zeros(3), np.ones(3) * 1j, "complex128"),
        (float, "a", r"a str, and its `result` says a number \(float\)"),
        (float, None, "returned None"),
        (int, 1.5, r"a number \(float\), .* a number \(int\)"),
        (int, 2**80, r"a number \(int\)"),
        (float, np.ones(1), "an array of float64 with 1 axis"),
        ((float, float), (1.0,), "a tuple of 1, .* a tuple of 2"),
        (type(None), 1.0, "says None"),
    ],
)
def test_another_result_than_was_said(result: Any, value: Any, what: str) -> None:
    made = adc.external(lambda: value, result=result)

    def program(x: Any) -> Any:
        made()
        return x

    for target in ("cpu", "python"):
        with pytest.raises(TypeMismatchError, match=what) as error:
            adc.jit(program, target=target)(1.0)
        assert "made()" in str(error.value)


@pytest.mark.full
def test_annotations_say_what_is_returned() -> None:
    @adc.external
    def number(x: float) -> float:
        return 2.0 * x

    @adc.external
    def pair(x: Any) -> tuple[float, int]:
        return x, 3

    @adc.external
    def nothing(x: Any) -> None:
        CALLS.append(x)

    def program(x: Any) -> Any:
        nothing(x)
        y, k = pair(x)
        return number(y) + k

    assert adc.jit(program)(1.5) == 6.0
    assert CALLS == [1.5]
    unknown = adc.external(lambda x: x)
    with pytest.raises(UnsupportedError, match="whose result is not known"):
        adc.jit(lambda x: unknown(x))(1.0)
    odd = adc.external(lambda x: x, result="float")
    with pytest.raises(UnsupportedError, match="from `result='float'`"):
        adc.jit(lambda x: odd(x))(1.0)


# --- what a function does -------------------------------------------------------------------------


class Mine(Exception):
    pass


def test_exceptions_pass_with_the_users_line() -> None:
    def fail(x: Any) -> Any:
        if x > 0.0:
            raise Mine("too large", x)
        return x

    failing = adc.external(fail, result=float, vjp=lambda ct, y, x: ct)

    def program(x: Any) -> Any:
        return failing(2.0 * x) + 1.0  # the line

    for target in ("cpu", "python"):
        code = adc.grad(program, target=target)
        with pytest.raises(Mine) as error:
            code(1.0)
        assert error.value.args == ("too large", 2.0)
        lines = [
            (frame.name, frame.line) for frame in traceback.extract_tb(error.value.__traceback__)
        ]
        assert ("program", "return failing(2.0 * x) + 1.0  # the line") in lines
        assert lines[-1][0] == "fail"
        assert code(-1.0) == 2.0


@pytest.mark.full
def test_arguments_are_read_only_and_may_be_kept() -> None:
    def write(x: Any) -> Any:
        x[0] = 1.0
        return x

    writing = adc.external(write, result=np.zeros_like)
    for target in ("cpu", "python"):
        with pytest.raises(ValueError, match="read-only"):
            adc.jit(lambda x: writing(x), target=target)(X)
    doubled = adc.external(lambda x: 2.0 * count(x), result=np.zeros_like)

    def program(x: Any) -> Any:
        for _ in range(3):
            x = doubled(x)
        return x

    adc.jit(program)(X)
    for k, kept in enumerate(CALLS):
        np.testing.assert_array_equal(kept, X * 2**k)
        with pytest.raises(ValueError, match="WRITEABLE"):
            kept.setflags(write=True)


def test_it_may_call_adc_again() -> None:
    def again(x: Any, n: int) -> float:
        return float(code(x, n - 1)[0]) if n else float(x)

    recursive = adc.external(again, result=float, vjp=lambda ct, y, x, n: (ct, None))

    def program(x: Any, n: Any) -> Any:
        a = np.ones(4) * x
        y = recursive(2.0 * x, n)
        return y + np.sum(a)  # memory that is in use while it is called

    code = adc.value_and_grad(program)
    value = 1.0
    wanted = sum(4.0 * 2.0**k for k in range(6)) + 2.0**6
    assert code(value, 5) == (wanted, 6.0)


@pytest.mark.full
def test_calls_from_eight_threads() -> None:
    square = adc.external(
        lambda x: float(np.sum(x * x)), result=float, vjp=lambda ct, y, x: 2.0 * ct * x
    )
    code = adc.grad(lambda x: square(np.sin(x)) ** 2)

    def run(k: int) -> None:
        x = X + k
        s = np.sin(x)
        for _ in range(100):
            np.testing.assert_allclose(code(x), 4.0 * np.sum(s * s) * s * np.cos(x), rtol=1e-13)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(8)))


def test_interrupted() -> None:
    def slow(x: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return x

    parts = {"slow": adc.external(slow, result=float)}
    code = adc.jit(lambda x: parts["slow"](x) + 1.0)
    # A process in the background may ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            code(1.0)
    finally:
        signal.signal(signal.SIGINT, before)
    parts["slow"] = adc.external(lambda x: x, result=float)
    assert code(1.0) == 2.0


@pytest.mark.full
def test_threads_run_such_loops_alone() -> None:
    square = adc.external(lambda x: x**2, result=np.float64, vjp=lambda ct, y, x: 2.0 * ct * x)

    def program(x: Any) -> Any:
        y = np.empty_like(x)
        for i in range(len(x)):
            total = 0.0
            for j in range(50):
                total += np.sin(x[i] * j)
            y[i] = square(x[i]) * total
        return np.sum(y)

    x = np.linspace(0.0, 1.0, 300)
    np.testing.assert_array_equal(adc.grad(program, parallel=True)(x), adc.grad(program)(x))


@pytest.mark.full
def test_each_call_finds_the_function_that_is_there() -> None:
    def made(k: float) -> Callable[..., Any]:
        scaled = adc.external(lambda x: k * x, result=float, vjp=lambda ct, y, x: ct * k)
        return adc.value_and_grad(lambda x: scaled(x) ** 2)

    for k in range(10):
        assert made(float(k))(2.0) == ((2.0 * k) ** 2, 4.0 * k * k)


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    def solve(self, x: Any) -> Any:
        return self.k * x

    @adc.external(result=float, vjp=lambda ct, y, self, x: (None, ct * y / x))
    def inside(self, x: Any) -> Any:
        return self.k * x

    def loss(self, x: Any) -> Any:
        return self.inside(x) ** 2 * self.k


model = Model(3.0)


@pytest.mark.full
def test_methods() -> None:
    solve = adc.external(model.solve, result=float, vjp=lambda ct, y, x: ct * y / x)
    code = adc.grad(lambda x: solve(x) ** 2)
    assert code(2.0) == 36.0
    model.k = 2.0
    assert code(2.0) == 16.0
    parts = {"model": model}
    slope = adc.grad(lambda x: parts["model"].inside(x))
    assert slope(2.0) == 2.0
    model.k = 3.0
    assert slope(2.0) == 3.0
    parts["model"] = Model(5.0)
    assert slope(2.0) == 5.0
    slope = adc.grad(lambda m, x: m.inside(x) * m.k, argnums=1)
    for k in range(3):
        assert slope(Model(float(k)), 2.0) == k * k
        assert adc.grad(Model(float(k)).loss)(2.0) == 4.0 * k**3
    with pytest.raises(UnsupportedError, match="a Model as an argument of inside"):
        adc.grad(lambda m, x: m.inside(x))(model, 2.0)


def test_in_try() -> None:
    number = adc.external(lambda x: x, result=float)

    def tried(x: Any) -> Any:
        try:
            return number(x)
        except ValueError:
            return 0.0

    with pytest.raises(ExceptionHandlingError, match=r"`adc\.external` function"):
        adc.jit(tried)(1.0)


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="is no function"):
        adc.external(3)  # type: ignore[call-overload]  # refused
    with pytest.raises(ArgumentError, match="vjp is 3"):
        adc.external(np.sin, vjp=3)  # type: ignore[call-overload]  # refused
    with pytest.raises(ArgumentError, match="external already"):
        adc.external(adc.external(np.sin))

    def inner(x: Any) -> Any:
        return adc.external(np.sin, result=float)(x)

    with pytest.raises(AdcError, match="external"):
        adc.jit(inner)(1.0)
    rng = np.random.default_rng(0)
    drawn = adc.external(lambda rng: rng.normal(), result=float)
    with pytest.raises(UnsupportedError, match="as an argument of lambda"):
        adc.jit(lambda rng: drawn(rng))(rng)


def test_it_is_a_function() -> None:
    assert adc.external(np.sin)(0.5) == np.sin(0.5)
    sine = adc.external(lambda x: np.sin(x), result=float, vjp=lambda ct, y, x: ct * np.cos(x))
    assert adc.grad(sine)(0.5) == pytest.approx(np.cos(0.5), rel=1e-15)
    assert repr(adc.external(model.solve)) == "<adc external(Model.solve)>"


# --- custom rules ---------------------------------------------------------------------------------


@pytest.mark.full
def test_functions_with_rules_that_cannot_be_read() -> None:
    def found(a: Any) -> float:
        return float(optimize.brenth(lambda t: t**3 + t - a, -10.0, 10.0))

    @adc.custom_vjp
    def root(a: Any) -> float:
        return found(a)

    root.defvjp(lambda a: (y := root(a), y), lambda y, ct: (ct / (3.0 * y * y + 1.0),))
    assert adc.grad(lambda a: root(a) ** 2)(2.0) == pytest.approx(0.5)
    assert adc.jit(root)(2.0) == pytest.approx(1.0)

    @adc.custom_jvp
    def other(a: Any) -> float:
        return found(a)

    @other.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        y = other(primals[0])
        return y, tangents[0] / (3.0 * y * y + 1.0)

    check_grads(lambda a: other(a) ** 2 * a, (2.0,))

    @adc.custom_vjp
    def unknown(a: Any) -> Any:
        return found(a)

    unknown.defvjp(lambda a: (unknown(a), a), lambda a, ct: (ct,))
    with pytest.raises(UnsupportedError, match="brenth") as error:
        adc.grad(lambda a: unknown(a))(2.0)
    assert "-> float" in error.value.hint


# --- solutions of equations -----------------------------------------------------------------------


@pytest.mark.full
def test_implicit_of_a_number() -> None:
    def residual(y: Any, a: Any, n: Any) -> Any:
        return y**n + y - a

    def solve(a: Any, n: Any) -> float:
        return float(optimize.brentq(residual, -9.0, 9.0, args=(a, n), xtol=1e-15))

    root = adc.implicit(solve, residual)

    def program(a: Any) -> Any:
        return root(a, 3) ** 2 * a

    check_grads(program, (2.0,))
    slope, h = adc.grad(program), 1e-5
    wanted = (slope(2.0 + h) - slope(2.0 - h)) / (2.0 * h)
    assert adc.hvp(program, (2.0,), (1.0,)) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.full
def test_implicit_of_an_array() -> None:
    def residual(y: Any, a: Any, b: Any) -> Any:
        return y + 0.2 * np.sin(y @ a) - b

    def solve(a: Any, b: Any) -> Any:
        def flat(y: Any) -> Any:
            return residual(y.reshape(b.shape), a, b).ravel()

        return optimize.fsolve(flat, b.ravel(), xtol=1e-12).reshape(b.shape)

    root = adc.implicit(solve, residual, result=lambda a, b: b)

    def program(a: Any, b: Any) -> Any:
        return np.sum(root(a, b) ** 2 * b)

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    check_grads(program, (a, b))
    slope, h, db = adc.grad(program, argnums=1), 1e-5, rng.normal(size=(2, 3))
    wanted = (slope(a, b + h * db) - slope(a, b - h * db)) / (2.0 * h)
    found = adc.hvp(program, (a, b), (np.zeros_like(a), db))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_implicit_refuses() -> None:
    with pytest.raises(ArgumentError, match="residual is 3"):
        adc.implicit(np.sin, 3)  # type: ignore[arg-type]  # refused
    pair = adc.implicit(lambda a: (a, a), lambda y, a: y, result=(float, float))
    with pytest.raises(UnsupportedError, match="several arrays"):
        adc.grad(lambda a: pair(a)[0])(1.0)
