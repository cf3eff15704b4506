"""`scipy.interpolate`: FITPACK's splines, as tuples and as objects; values, derivatives, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import (
    BSpline,
    InterpolatedUnivariateSpline,
    LSQUnivariateSpline,
    RectBivariateSpline,
    SmoothBivariateSpline,
    UnivariateSpline,
    bisplev,
    spalde,
    splantider,
    splder,
    splev,
    splint,
    splrep,
)

import adc
from adc.ir.errors import AdcError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(29)
X = np.linspace(0.0, 3.0, 9)
Y = np.sin(X) + 0.1 * RNG.standard_normal(9)
Z = np.outer(Y, Y[:7]) + np.cos(3.0 * X)[:, None]
T = np.array([-0.5, 0.1, 0.3, 0.8, 1.2, 2.9, 3.7])
EDGES = np.concatenate((T, X, [np.nan]))
IN = T[1:6]
INFINITE = np.full(9, np.inf)
TCK = splrep(X, Y, s=0)
KNOTS, C, _ = TCK
MOVED = KNOTS + 0.03 * np.arange(len(KNOTS))
PERIODIC = splrep(X, np.append(Y[:-1], Y[0]), s=0, per=True)
SMOOTHED = splrep(X, Y, s=0.1)
CURVE = UnivariateSpline(X, Y, s=0.01)
HELD = UnivariateSpline(X, Y, s=0, ext="const")
FITTED = LSQUnivariateSpline(X, Y, [1.0, 2.0])
SURFACE = RectBivariateSpline(X, X[:7], Z)
PLANE = (*SURFACE.tck, *SURFACE.degrees)
FIELD = SmoothBivariateSpline(*RNG.uniform(0.0, 3.0, (2, 40)), RNG.standard_normal(40))

SMOOTH: list[calls.Row] = [
    (lambda v: splev(v, TCK), (IN,)),
    (lambda v: splev(v, TCK), (0.3,)),
    (lambda v: splev(v, TCK, 1) + splev(v, TCK, 2, 1), (T,)),
    (lambda v: splev(v, PERIODIC) + splev(v, SMOOTHED, ext=3), (T,)),
    (lambda t, c, v: splev(v, (t, c, 3)), (MOVED, C, IN)),
    (lambda s, v: splev(v, s, 1), (TCK, T)),
    (lambda c, v: splev(v, (KNOTS, [c, c * 2.0], 3))[1], (C, IN)),
    (lambda v: splev(v, BSpline(*TCK)), (T,)),
    (lambda a, b, c: splint(a, b, (KNOTS, c, 3)), (2.5, 0.3, C)),
    (lambda v: splint(0.1, v, PERIODIC), (1.3,)),
    (lambda c, v: splev(v, splder((KNOTS, c, 3), 2)), (C, T)),
    (lambda t, c, v: splev(v, splantider((t, c, 3), 2)), (MOVED, C, IN)),
    (lambda v: spalde(v, TCK), (0.7,)),
    (lambda x, y, v: splev(v, splrep(x, y, s=0)), (X, Y, IN)),
    (lambda x, y, v: splev(v, splrep(x, y, k=2, xe=4.0)), (X, Y, IN)),
    (lambda v: CURVE(v) * CURVE.derivative()(v) + CURVE.antiderivative()(v), (IN,)),
    (lambda v: CURVE.integral(v, 2.0) * CURVE.derivatives(v), (0.4,)),
    (lambda v: FITTED(v) + HELD(v) + CURVE(v, ext="zeros"), (T,)),
    (lambda x, y, v: InterpolatedUnivariateSpline(x, y, k=2)(v), (X, Y, IN)),
    (lambda x, y, v: UnivariateSpline(x, y, s=0, k=4)(v, 1), (X, Y, IN)),
    (lambda x, y, a: UnivariateSpline(x, y, s=0).integral(0.2, a), (X, Y, 1.2)),
    (lambda v, w: bisplev(v, w, PLANE), (0.3, 0.4)),
    (lambda c, v, w: bisplev(v, w, (PLANE[0], PLANE[1], c, 3, 3), 1), (PLANE[2], T, 0.4)),
    (lambda s, v, w: bisplev(v, w, s), (PLANE, T, T[:3])),
    (lambda v, w: SURFACE(v, w, dy=1), (T, T[:3])),
    (lambda v, w: SURFACE(v, w, 1, 1, grid=False), (IN, 0.7 * IN[::-1])),
    (lambda v, w: SURFACE.ev(v, w), (T[:, None], T[:2])),
    (lambda v, w: SURFACE.integral(0.1, v, 0.3, w), (2.0, 1.3)),
    (lambda v, w: SURFACE.partial_derivative(1, 2)(v, w), (IN, 0.3)),
    (lambda v, w: FIELD.ev(v, w), (0.4 * IN + 0.3, 0.3 * IN + 0.4)),
    (lambda x, z, v, w: RectBivariateSpline(x, X[:7], z)(v, w), (X, Z, IN, 0.41)),
]  # fmt: skip
OTHERS: list[calls.Row] = [
    *((lambda v, d=d, e=e: splev(v, TCK, d, e), (EDGES,)) for d in range(4) for e in (0, 1, 3)),
    (lambda v: splev(v, TCK), (EDGES.astype("f").reshape(1, -1),)),
    (lambda v: splev(v, (list(KNOTS), list(C), 3.0)), (2,)),
    (lambda v: splev(v, BSpline(*TCK)), (0.3,)),
    (lambda v: (splint(v, 5.0, TCK), splint(np.nan, v, TCK)), (-1.0,)),
    (lambda c: splder((KNOTS, c, 3), 3), (C,)),
    (lambda c: splder((KNOTS, c, 3), -1), (C.astype("f"),)),
    (lambda c: splantider((KNOTS, np.array([c, c]).T, 3), 2), (C,)),
    (lambda c: splder(BSpline(KNOTS, c, 3)).c, (C,)),
    (lambda c: BSpline(KNOTS, c[:9], 3).antiderivative(2).c, (C,)),
    (lambda x, y: splrep(x, y, k=5, xb=-1, xe=4.5), (X, Y)),
    (lambda x, y: splrep(x, y, k=1, w=x + 1.0, s=0), (X, Y)),
    (lambda y: splrep(X[:4], y[:4]), (list(Y),)),
    (lambda v: CURVE(v), (0.7,)),
    (lambda v: HELD.derivative()(v), (T,)),
    (lambda v: CURVE(v), (np.zeros(0),)),
    (lambda v: (CURVE.get_knots() * v, CURVE.get_coeffs() * v), (0.4,)),
    (lambda x, y, v: InterpolatedUnivariateSpline(x, y, bbox=[None, 4])(v), (X, Y, T)),
    (lambda v, w: bisplev(v, w, PLANE, 2, 1), (T, np.append(T, np.nan))),
    (lambda v, w: bisplev(v, w, PLANE), (0.3, T)),
    (lambda v, w: bisplev(v, w, PLANE, 1.5) + SURFACE.ev(v, w, 0.5) + splev(v, TCK, 1.5), (0.3, 1)),
    (lambda v, w: SURFACE(v, w), (0.3, 0.4)),
    (lambda v, w: SURFACE(v, w), (np.zeros(0), T)),
    (lambda v, w: SURFACE.ev(v, w), (0.3, 0.4)),
    (lambda x, z, v: RectBivariateSpline(x, X[:7], z, [-1, 4, None, 3], 2, 1).ev(v, v), (X, Z, T)),
    (lambda y: 1.0 * isinstance(CURVE, InterpolatedUnivariateSpline)
     + 2.0 * isinstance(UnivariateSpline(X, y, s=0), InterpolatedUnivariateSpline)
     + 4.0 * isinstance(HELD.derivative(), UnivariateSpline)
     + 8.0 * isinstance(HELD.derivative(), InterpolatedUnivariateSpline), (Y,)),
]  # fmt: skip
# Programs whose errors are SciPy's.
WRONG: list[calls.Call] = [
    lambda v: splev([], TCK) * v,
    lambda v: splev([v, 9.0], TCK, ext=2),
    lambda v: splev(v, TCK, 4),
    lambda v: splev(v, TCK, ext=7),
    lambda v: splev(v, BSpline(*TCK), 0, 1),
    lambda v: splder((KNOTS, v * C, 3), 4),
    lambda v: splder((np.array([0, 0, 0, 1, 1, 1, 2, 2, 2.0]), v * np.arange(9.0), 2)),
    lambda v: BSpline(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2.0]), v * np.arange(6.0), 2).derivative(),
    lambda v: splder((KNOTS, v * C[:9], 3)),
    lambda v: spalde(9.0 * v, TCK),
    lambda v: splrep(X[:3], v * Y[:3]),
    lambda v: splrep(X[::-1], v * Y),
    lambda v: splrep(X, v * Y[:4]),
    lambda v: splrep(X, v * Y, k=6),
    lambda v: splrep(X.reshape(3, 3), v * Y.reshape(3, 3)),
    lambda v: CURVE(v, 4),
    lambda v: CURVE(v, ext="bad"),
    lambda v: CURVE.derivative(4)(v),
    lambda v: InterpolatedUnivariateSpline(X[::-1], v * Y)(v),
    lambda v: InterpolatedUnivariateSpline(X.round(), v * Y)(v),
    lambda v: InterpolatedUnivariateSpline(X, v * Y[:3])(v),
    lambda v: InterpolatedUnivariateSpline(X, v * Y, X[:3])(v),
    lambda v: InterpolatedUnivariateSpline(X, v * Y, bbox=[1])(v),
    lambda v: InterpolatedUnivariateSpline(X, v * Y, k=6)(v),
    lambda v: InterpolatedUnivariateSpline(X, v * INFINITE, check_finite=True)(v),
    lambda v: InterpolatedUnivariateSpline(X, v * Y.reshape(3, 3))(v),
    lambda v: UnivariateSpline(X.round(), v * Y, s=0)(v),
    lambda v: UnivariateSpline(X, v * Y, s=-1)(v),
    lambda v: bisplev([v, -v], [0.1, 0.2], PLANE),
    lambda v: bisplev([[v]], [0.1, 0.2], PLANE),
    lambda v: bisplev(v, 0.2, PLANE, 3),
    lambda v: SURFACE([v, -v], 0.2),
    lambda v: SURFACE(v, 0.2, 3),
    lambda v: SURFACE(v, 0.2, -1, grid=False),
    lambda v: SURFACE.partial_derivative(3, 0)(v, v),
    lambda v: RectBivariateSpline(X[::-1], X[:7], v * Z)(v, v),
    lambda v: RectBivariateSpline(X, X[:6], v * Z)(v, v),
    lambda v: RectBivariateSpline(X, X[:7], v * Z, bbox=[1, 4, -2, 5])(v, v),
    lambda v: RectBivariateSpline(X, X[:7], v * Z, s=-1)(v, v),
]  # fmt: skip


test_values, test_derivatives, test_second_derivatives = calls.compared(
    SMOOTH, OTHERS, tolerance=1e-11, cost=pytest.mark.sampled(20)
)


@pytest.mark.full
@pytest.mark.parametrize("fn", WRONG)
def test_errors_are_those_of_scipy(fn: calls.Call) -> None:
    with pytest.raises((ValueError, TypeError)) as expected:
        fn(0.4)
    with pytest.raises((type(expected.value), AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(0.4)
    assert str(expected.value).strip()[:30] in str(found.value)


def _one(x: Any, t: Any, c: Any, k: Any, der: Any, ext: Any) -> Any:
    return splev(x, (t, c, k), der, ext)


def _area(a: Any, b: Any, t: Any, c: Any, k: Any) -> Any:
    return splint(a, b, (t, c, k))


def _two(x: Any, y: Any, spline: Any, dx: Any, dy: Any) -> Any:
    return bisplev(x, y, spline, dx, dy)


def _knots(k: int, count: int) -> Any:
    """Return knots, some of which are the same number."""
    inner = np.sort(RNG.uniform(0.1, 0.9, count))
    if count > 2 and k > 1:
        inner[1] = inner[0]
    return np.concatenate((np.zeros(k + 1), inner, np.ones(k + 1)))


@pytest.mark.full
def test_random_splines() -> None:
    """At knots, between and beyond them, and at NaN; of every degree, order and mode."""
    for _ in range(100):
        k, der, ext = int(RNG.integers(0, 6)), int(RNG.integers(0, 4)), int(RNG.choice([0, 1, 3]))
        t = _knots(k, int(RNG.integers(0, 6)))
        c = RNG.standard_normal(len(t))
        x = RNG.permutation(np.concatenate((RNG.uniform(-0.3, 1.3, 5), t, [np.nan])))
        calls.check_values(_one, (x, t, c, k, min(der, k), ext), 1e-11)
        calls.check_values(_area, (*RNG.uniform(-0.3, 1.3, 2), t, c, k), 1e-11)
        kx, ky = (int(n) for n in RNG.integers(1, 6, 2))
        tx, ty = _knots(kx, 3), _knots(ky, 2)
        spline = (tx, ty, RNG.standard_normal((kx + 4) * (ky + 3)), kx, ky)
        x, y = (np.sort(np.append(RNG.uniform(-0.3, 1.3, 4), u)) for u in (tx, ty))
        calls.check_values(_two, (x, y, spline, int(RNG.integers(0, kx)), 0), 1e-11)


def test_gradient_of_a_spline_that_is_an_argument() -> None:
    def loss(spline: Any, v: Any) -> Any:
        return np.sum(spline(v) ** 2)

    found = adc.grad(loss, target="python")(CURVE, IN)
    t, c, k = CURVE._eval_args
    step = 1e-6 * (np.arange(len(c)) == 2)
    moved = np.sum(splev(IN, (t, c + step, k)) ** 2) - np.sum(splev(IN, (t, c - step, k)) ** 2)
    assert found._eval_args[1][2] == pytest.approx(moved / 2e-6, rel=1e-6)
