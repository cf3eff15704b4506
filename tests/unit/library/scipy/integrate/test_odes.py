"""`scipy.integrate.solve_ivp` inside compiled code, beside SciPy itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.integrate import odeint, solve_ivp

import adc
from adc.ir.errors import UnsupportedError
from adc.testing import check_grads

METHODS = ("RK23", "RK45", "DOP853")
P = np.array([1.5, 1.0, 3.0, 1.0, 10.0, 5.0])


def predator(t: float, z: Any, a: float, b: float, c: float, d: float) -> Any:
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


def every_step(p: np.ndarray, method: str) -> Any:
    s = solve_ivp(predator, (0, 5), p[4:], method=method, args=tuple(p[:4]), rtol=1e-5)
    return s.t, s.y, s.nfev, s.status


def at_times(p: np.ndarray, method: str) -> Any:
    times = np.linspace(0.0, 5.0, 40)
    s = solve_ivp(lambda t, z: predator(t, z, *p[:4]), [0.0, 5.0], p[4:], method, times)
    return s.t, s.y, s.nfev, s.status


def backwards(p: np.ndarray, method: str) -> Any:
    times = [2.0, 1.1, 1.0, 0.2]
    s = solve_ivp(predator, (2, 0), p[4:], method, times, args=tuple(p[:4]), first_step=0.01)
    return s.t, s.y, s.nfev, s.status


def in_between(p: np.ndarray, method: str) -> Any:
    s = solve_ivp(predator, (0, 3), p[4:], method, None, True, args=tuple(p[:4]), max_step=0.3)
    return s.sol(np.array([0.0, 0.7, 2.9, 3.0])), s.sol(1.3), s.nfev, s.sol.t_max


def fall(t: float, y: Any) -> Any:
    return [y[1], -9.81 - 0.1 * y[1]]


def ground(t: float, y: Any) -> Any:
    return y[0]


def apex(t: float, y: Any) -> Any:
    return y[1]


ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]


def ball(v: float, method: str) -> Any:
    s = solve_ivp(fall, (0, 100), [0.0, v], method, events=(ground, apex), rtol=1e-8)
    return s.t_events[0], s.t_events[1], s.y_events[1], s.t, s.y, s.nfev, s.status


def crossings(w: float, method: str) -> Any:
    s = solve_ivp(
        lambda t, y: [y[1], -(w**2) * y[0]], (0, 10), [1.0, 0.0], method,
        [0.0, 2.5, 9.0], events=lambda t, y: y[0] - 0.1, rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    return s.t_events[0], s.y, s.nfev, s.status


def no_time(p: np.ndarray, method: str) -> Any:
    s = solve_ivp(lambda t, y: -y, (1.0, 1.0), p, method)
    return s.t, s.y, s.status


def columns(p: np.ndarray, method: str) -> Any:
    s = solve_ivp(
        lambda t, y: -p[0] * y, (0, 3), p[1:], method, vectorized=True, rtol=1e-5,
        atol=np.full(5, 1e-8),
    )  # fmt: skip
    return s.t, s.y, s.nfev, s.status


def rotating(w: float, method: str) -> Any:
    s = solve_ivp(lambda t, y: 1j * w * y, (0, 3), np.array([1.0 + 0j]), method)
    return s.t, s.y, s.nfev, s.status


def to_the_end(t: float, method: str) -> Any:
    s = solve_ivp(lambda t, y: np.array([-0.3 * y[0] * t]), (0, t), [1.0], method, rtol=1e-9)
    return s.t, s.y, s.nfev, s.status


def failing(k: float, method: str) -> Any:
    s = solve_ivp(lambda t, y: k * y**2, (0, 2), [1.0], method)
    return s.status, int(s.success)


Case = tuple[Callable[..., Any], Any]
CASES: list[Case] = [
    (every_step, P), (at_times, P), (backwards, P), (in_between, P), (ball, 10.0),
    (crossings, 2.0), (no_time, P[:2]), (columns, P / 5.0), (rotating, 2.0), (to_the_end, 2.0),
    (failing, 1.0),
]  # fmt: skip
FULL = pytest.mark.full


def name_of(case: Case) -> str:
    return case[0].__name__


def total(found: Any) -> Any:
    """Return a sum of everything that a case returns, with weights."""
    result = 0.0
    for k, part in enumerate(found):
        result += np.sum(np.abs(np.asarray(part))) * (0.3 + 0.1 * k)
    return result


@pytest.mark.full
@pytest.mark.parametrize("method", ["RK23", *(pytest.param(m, marks=FULL) for m in METHODS[1:])])
@pytest.mark.parametrize(
    "case", [CASES[0], *(pytest.param(case, marks=FULL) for case in CASES[1:])], ids=name_of
)
def test_values_are_scipys(case: Case, method: str) -> None:
    fn, arg = case
    want = fn(arg, method)
    found = adc.jit(fn)(arg, method)
    assert len(want) == len(found)
    for a, b in zip(want, found, strict=True):
        # Where the estimated errors are rounding errors, so are digits of the step sizes.
        np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-12)
        assert not isinstance(a, int) or a == b  # evaluations, status


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES[:-1], ids=name_of)
def test_derivatives(case: Case, method: str) -> None:
    fn, arg = case
    if fn is rotating:
        check_grads(lambda w: np.abs(fn(w, method)[1][0, -1] - 0.5) ** 2, (arg,))
    else:
        check_grads(lambda x: total(fn(x, method)), (arg,))


def final(p: np.ndarray) -> Any:
    s = solve_ivp(predator, (0, 10), p[4:], "RK23", [10.0], args=tuple(p[:4]))
    return np.sum(s.y[:, -1] ** 2)


@pytest.mark.full
def test_second_order_and_budgets() -> None:
    v = np.linspace(-1.0, 1.0, 6)
    step = 1e-5
    df = adc.grad(final)
    near = (df(P + step * v) - df(P - step * v)) / (2.0 * step)
    np.testing.assert_allclose(adc.hvp(final, (P,), (v,)), near, rtol=1e-5)
    # Checkpoints are placed while it runs: nobody knows how many steps there will be.
    frugal = adc.grad(final, memory="7 kB")
    assert np.array_equal(frugal(P), df(P))
    assert df.plan(P).peak_bytes is None
    found = frugal.plan(P).peak_bytes
    assert found is not None
    assert found <= 7000


class Decay:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def slope(self, t: float, y: Any) -> Any:
        return -self.rate * y

    def run(self, y: Any) -> Any:
        return integrate.solve_ivp(self.slope, t_span=[0, 2], y0=y, method=integrate.RK23).y[:, -1]


@pytest.mark.full
def test_a_class_with_methods() -> None:
    def fn(rate: float) -> Any:
        return np.sum(Decay(rate).run(np.array([1.0, 2.0])))

    assert adc.jit(fn)(0.3) == pytest.approx(fn(0.3), rel=1e-12)
    check_grads(fn, (0.3,))


ROBERTSON = np.array([0.04, 1e4, 3e7])


def robertson(t: float, y: Any, a: float, b: float, c: float) -> Any:
    first, second, third = a * y[0], b * y[1] * y[2], c * y[1] * y[1]
    return np.array([second - first, first - second - third, third])


def stiff(p: np.ndarray) -> Any:
    rates = (p[0], p[1], p[2])
    s = solve_ivp(robertson, (0.0, 100.0), [1.0, 0.0, 0.0], "BDF", args=rates, rtol=1e-6, atol=1e-9)
    return s.y[:, -1], s.t, s.nfev, s.njev, s.nlu


def oscillator(t: float, y: Any, mu: float) -> Any:
    return np.array([y[1], mu * (1 - y[0] * y[0]) * y[1] - y[0]])


def slopes_of_oscillator(t: float, y: Any, mu: float) -> Any:
    return np.array([[0.0, 1.0], [-2 * mu * y[0] * y[1] - 1, mu * (1 - y[0] * y[0])]])


def level(t: float, y: Any, mu: float) -> Any:
    return y[0] - 1.5


def relaxing(p: np.ndarray) -> Any:
    s = solve_ivp(
        oscillator, (0.0, 30.0), p[:2], "BDF", [1.0, 5.0, 20.0], True, level, args=(p[2],),
        jac=slopes_of_oscillator, rtol=1e-6,
    )  # fmt: skip
    return s.y, s.sol(7.3), s.t_events[0], s.nfev, s.njev, s.nlu


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "arg"), [(stiff, ROBERTSON), (relaxing, np.array([2.0, 0.1, 20.0]))],
    ids=["stiff", "relaxing"],
)  # fmt: skip
def test_stiff_steps_are_scipys(fn: Callable[..., Any], arg: np.ndarray) -> None:
    for a, b in zip(fn(arg), adc.jit(fn)(arg), strict=True):
        # Differences for the Jacobian amplify rounding, and the sizes of the steps show it.
        np.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-12)
        assert not isinstance(a, int) or a == b


@pytest.mark.full
def test_derivatives_of_stiff_equations() -> None:
    def end(p: np.ndarray) -> Any:
        return stiff(p)[0][0]

    def precise(p: np.ndarray) -> Any:
        options = {"method": "Radau", "rtol": 1e-11, "atol": 1e-14}
        return solve_ivp(robertson, (0, 100), [1.0, 0.0, 0.0], args=tuple(p), **options).y[0, -1]

    found = adc.grad(end)(ROBERTSON)
    for k, unit in enumerate(np.eye(3)):
        step = 1e-5 * ROBERTSON[k] * unit
        near = (precise(ROBERTSON + step) - precise(ROBERTSON - step)) / (2 * step[k])
        assert found[k] == pytest.approx(near, rel=1e-4)
        along = adc.jvp(end, (ROBERTSON,), (unit,))[1]
        assert found[k] == pytest.approx(along, rel=1e-9)


@pytest.mark.full
def test_second_order_of_stiff_equations() -> None:
    def end(p: np.ndarray) -> Any:
        s = solve_ivp(
            lambda t, y: p[1] * y * (1 - y * y), (0.0, 1.0), p[:1], "BDF", rtol=1e-9, atol=1e-9
        )
        return s.y[0, -1] + s.t[5]

    p, v, step = np.array([0.3, 2.0]), np.array([0.5, 1.0]), 1e-5
    df = adc.grad(end)
    for unit, found in zip(np.eye(2), df(p), strict=True):
        near = (end(p + step * unit) - end(p - step * unit)) / (2 * step)
        assert found == pytest.approx(near, rel=1e-6)
        assert found == pytest.approx(adc.jvp(end, (p,), (unit,))[1], rel=1e-10)
    near = (df(p + step * v) - df(p - step * v)) / (2 * step)
    np.testing.assert_allclose(adc.hvp(end, (p,), (v,)), near, rtol=2e-6)


def test_bdf_of_complex_states_is_refused() -> None:
    def rotation(k: float) -> Any:
        s = solve_ivp(lambda t, y: 1j * k * y, (0, 2), np.array([1.0 + 0j]), method="BDF")
        return np.abs(s.y[0, -1])

    with pytest.raises(UnsupportedError, match="solve_ivp") as caught:
        adc.grad(rotation)(1.0)
    assert "imaginary" in caught.value.hint


# --- integrators of SciPy's -----------------------------------------------------------------------

HOURS = np.linspace(0.0, 3.0, 7)


def prey(y: Any, t: Any, a: Any, b: Any) -> Any:
    return [a * y[0] - 0.5 * y[0] * y[1], 0.3 * y[0] * y[1] - b * y[1]]


def slopes_of_prey(y: Any, t: Any, a: Any, b: Any) -> Any:
    return np.array([[a - 0.5 * y[1], -0.5 * y[0]], [0.3 * y[1], 0.3 * y[0] - b]])


def lotka_volterra(p: np.ndarray) -> Any:
    found = odeint(prey, [1.0 + p[0], 0.5], HOURS, args=(p[0], p[1]))
    return np.sum(found * np.arange(14.0).reshape(7, 2))


def with_a_jacobian(p: np.ndarray) -> Any:
    times = np.array([0.0, 0.7, 1.0 + p[0]])
    return np.sum(odeint(prey, p, times, (p[0], p[1]), slopes_of_prey, rtol=1e-10, atol=1e-10)[1:])


def backwards_in_time(p: np.ndarray) -> Any:
    def spring(t: Any, y: Any) -> Any:
        return np.array([y[1], -p[0] * y[0] - p[1] * y[1]])

    return np.sum(odeint(spring, p, HOURS[::-1], tfirst=True)[-1])


def _stiff(p: np.ndarray) -> Any:
    return lambda t, y: np.array([-p[0] * y[0] + y[1], -50.0 * p[1] * (y[1] - y[0] ** 2)])


def radau_at_its_own_times(p: np.ndarray) -> Any:
    s = solve_ivp(_stiff(p), (0, 1.0 + p[0]), [1.0, 0.0], "Radau", rtol=1e-7, atol=1e-9)
    return np.sum(s.y[:, -1]) + s.t[-1] + s.nfev + 2 * s.njev + 3 * s.nlu + s.status


def radau_of_columns(p: np.ndarray) -> Any:
    def slopes(t: Any, y: Any) -> Any:
        return np.stack([-p[0] * y[0] + y[1], -50.0 * p[1] * (y[1] - y[0] ** 2)])

    s = solve_ivp(
        slopes, (0, 1.0), [1.0, 0.0], "Radau", [0.5, 1.0], vectorized=True, rtol=1e-9, atol=1e-12
    )
    return np.sum(s.y**2) + s.nfev


def lsoda_at_times(p: np.ndarray) -> Any:
    s = solve_ivp(
        _stiff(p), (0, 2.0), [1.0, p[1]], "LSODA", [0.5, 1.0, 1.7], rtol=1e-10,
        atol=1e-12, max_step=0.5,
    )  # fmt: skip
    return np.sum(s.y * np.array([1.0, 2.0, -1.0])) + s.t[-1]


def without_parameters(p: np.ndarray) -> Any:
    return odeint(lambda y, t: y**2, 0.5 * p, [0.0, 0.5], rtol=1e-10, atol=1e-10)[-1, 0] * p[1]


def at_repeated_times(p: np.ndarray) -> Any:
    times = np.array([0.0, 0.0, p[1], p[1], 2.0])
    found = odeint(lambda y, t: -p[0] * y, p, times, rtol=1e-10, atol=1e-10)
    return np.sum(found * np.arange(10.0).reshape(5, 2))


def at_one_time(p: np.ndarray) -> Any:
    return np.sum(odeint(lambda y, t: -p[0] * y, p * p, [0.5]) ** 2)


OUTSIDE = [
    without_parameters, at_repeated_times, at_one_time,
    lotka_volterra, with_a_jacobian, backwards_in_time, radau_at_its_own_times, radau_of_columns,
    lsoda_at_times,
]  # fmt: skip


@pytest.mark.full
def test_values_of_integrators_of_scipys() -> None:
    p = np.array([1.1, 0.8])
    for program in (lsoda_at_times, radau_of_columns):
        assert adc.jit(lambda t, program=program: program(p * t))(1) == program(p)


@pytest.mark.full
@pytest.mark.parametrize("program", OUTSIDE)
def test_integrators_of_scipys(program: Callable[..., Any]) -> None:
    p, v = np.array([1.1, 0.8]), np.array([0.6, -1.3])
    value, slope = adc.value_and_grad(program)(p)
    assert value == pytest.approx(program(p), rel=1e-14)
    h = 1e-3
    ones, twos = (program(p + k * h * v) - program(p - k * h * v) for k in (1, 2))
    assert slope @ v == pytest.approx((8.0 * ones - twos) / (12.0 * h), rel=1e-5)
    assert adc.jvp(program, (p,), (v,))[1] == pytest.approx(slope @ v, rel=1e-10)


@pytest.mark.full
def test_second_order_of_integrators_of_scipys() -> None:
    p, v = np.array([1.1, 0.8]), np.array([0.6, -1.3])
    slope, h = adc.grad(without_parameters), 1e-4
    near = (slope(p + h * v) - slope(p - h * v)) / (2.0 * h)
    np.testing.assert_allclose(adc.hvp(without_parameters, (p,), (v,)), near, rtol=1e-6)


@pytest.mark.full
def test_odeint_as_autograds() -> None:
    import autograd
    import autograd.builtins
    import autograd.numpy
    from autograd.scipy import integrate

    def theirs(p: Any) -> Any:
        def slopes(y: Any, t: Any, a: Any, b: Any) -> Any:
            return autograd.numpy.array(prey(y, t, a, b))

        start = autograd.numpy.array([1.0 + p[0], 0.5])
        args = autograd.builtins.tuple((p[0], p[1]))
        found = integrate.odeint(slopes, start, HOURS, args, rtol=1e-10, atol=1e-10)
        return autograd.numpy.sum(found * np.arange(14.0).reshape(7, 2))

    p = np.array([1.1, 0.8])
    np.testing.assert_allclose(adc.grad(lotka_volterra)(p), autograd.grad(theirs)(p), rtol=1e-6)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:Excess work")  # SciPy warns as well
def test_odeint_that_fails() -> None:
    def grows(p: float) -> Any:
        return odeint(lambda y, t: y**2, p, [0.0, 2.0], mxstep=50)[-1, 0]

    with pytest.raises(RuntimeError, match="odeint: Excess work"):
        adc.grad(grows)(1.0)


def test_what_integrators_of_scipys_refuse() -> None:
    def dense(k: float) -> Any:
        return solve_ivp(lambda t, y: -k * y, (0, 2), [1.0], "LSODA", dense_output=True).sol(1.0)

    def events(k: float) -> Any:
        return solve_ivp(lambda t, y: -k * y, (0, 2), [1.0], "Radau", events=np.sum).t_events[0]

    def full(k: float) -> Any:
        return odeint(lambda y, t: -k * y, 1.0, [0.0, 2.0], full_output=True)[0]

    for fn, text in ((dense, "'dense_output'"), (events, "'events'"), (full, "'full_output'")):
        with pytest.raises(UnsupportedError, match=text):
            adc.grad(fn)(1.0)


@pytest.mark.full
def test_errors_are_scipys() -> None:
    def late(k: float) -> Any:
        return solve_ivp(lambda t, y: -k * y, (0, 2), [1.0], t_eval=[0.0, 3.0]).y[0, -1]

    def flat(k: float) -> Any:
        return solve_ivp(lambda t, y: -k * y, (0, 2), k).y[0, -1]

    for fn in (late, flat):
        with pytest.raises(ValueError) as want:  # noqa: PT011  # compared below
            fn(1.0)
        with pytest.raises(ValueError) as found:  # noqa: PT011
            adc.grad(fn)(1.0)
        assert str(want.value) == str(found.value).splitlines()[0]


def with_attributes(p: np.ndarray) -> Any:
    def swing(t: Any, y: Any) -> Any:
        return np.array([y[1], -p[0] * y[0]])

    def hit(t: Any, y: Any) -> Any:
        return y[0] - p[1]

    hit.terminal = True  # type: ignore[attr-defined]
    hit.direction = -1.0  # type: ignore[attr-defined]
    s = solve_ivp(swing, (0, 20.0), [1.0, 0.0], rtol=1e-8, atol=1e-9, events=hit)
    if len(s.t_events[0]) > 0:
        return s.t_events[0][0] + s.y_events[0][0, 1]
    return s.y[0, -1] * hit.direction  # type: ignore[attr-defined]


def in_a_branch(p: np.ndarray) -> Any:
    def hit(t: Any, y: Any) -> Any:
        return y[0] - p[1]

    if p[0] > 1.0:
        hit.terminal = True  # type: ignore[attr-defined]
    return solve_ivp(lambda t, y: -y, (0, 2.0), p, events=hit).t[-1]


class Reached:
    direction = -1.0

    def __init__(self, level: Any, terminal: Any = True) -> None:
        self.level = level
        self.terminal = terminal

    def __call__(self, t: float, y: Any) -> Any:
        return y[0] - self.level

    def soon(self, t: float, y: Any) -> Any:
        return y[0] - self.level - 0.1

    soon.terminal = 1  # type: ignore[attr-defined]


def decay(t: float, y: Any) -> Any:
    return -y


def same(found: Any, wanted: Any) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        if isinstance(one, list):
            same(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.full
def test_attributes_of_an_event_that_is_an_object() -> None:
    def fn(x: Any, k: int) -> Any:
        s = solve_ivp(decay, (0, 1.0), [x], events=Reached(1.2, k))
        return s.t, s.t_events[0], s.status

    found = adc.jit(fn, target="python")
    for k in (0, 1, 2):
        same(found(1.5, k), fn(1.5, k))


@pytest.mark.full
def test_attributes_of_events_that_are_methods_or_named_after_others() -> None:
    def fn(x: Any) -> Any:
        @functools.wraps(ground)
        def later(t: float, y: Any) -> Any:
            return y[0] - 1.1

        first = solve_ivp(decay, (0, 1.0), [x], events=[Reached(1.0), Reached(1.2).soon, later])
        second = solve_ivp(decay, (0, 1.0), [x], events=later)
        return first.t, first.t_events, first.status, second.t, second.status

    same(adc.jit(fn, target="python")(1.5), fn(1.5))


@pytest.mark.full
def test_attributes_of_an_event_that_are_set_later() -> None:
    def hit(t: float, y: Any) -> Any:
        return y[0] - 1.2

    def fn(x: Any) -> Any:
        return solve_ivp(decay, (0, 1.0), [x], events=[hit]).t

    found = adc.jit(fn, target="python")
    before = len(found(1.5))
    hit.terminal = True  # type: ignore[attr-defined]
    same(found(1.5), fn(1.5))
    assert before == 3


@pytest.mark.full
def test_attributes_of_an_event_that_is_an_inner_function() -> None:
    gradient = adc.value_and_grad(with_attributes)
    for p in (np.array([1.3, 0.2]), np.array([1.3, 2.2])):  # it does not occur in the second case
        value, slope = gradient(p)
        assert value == pytest.approx(with_attributes(p), rel=1e-12)
        steps = 1e-5 * np.eye(2)
        wanted = [(with_attributes(p + h) - with_attributes(p - h)) / 2e-5 for h in steps]
        np.testing.assert_allclose(slope, wanted, rtol=1e-5, atol=1e-8)
    with pytest.raises(UnsupportedError, match="attribute of function 'hit'"):
        adc.grad(in_a_branch)(np.array([1.3, 0.2]))
