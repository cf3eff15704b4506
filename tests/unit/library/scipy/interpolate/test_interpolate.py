"""`scipy.interpolate`: objects that code makes, and objects from outside; values, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import (
    Akima1DInterpolator,
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    RegularGridInterpolator,
    interp1d,
    interpn,
    make_interp_spline,
)

import adc
from adc.ir.errors import AdcError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(13)
X = np.cumsum(RNG.uniform(0.5, 1.5, 7)) - 4.0
Y = RNG.standard_normal(7)
STACK = RNG.standard_normal((2, 7, 3))
T = np.linspace(-4.1, 4.3, 10)
IN = X[0] + (X[-1] - X[0]) * RNG.uniform(0.02, 0.98, 6)
EDGES = np.concatenate((IN, X, (X[1:] + X[:-1]) / 2.0))
ORDER = RNG.permutation(7)
KNOTS = np.cumsum(RNG.uniform(0.2, 1.0, 12)) - 4.0
C = RNG.standard_normal(8)
GX, GY, GZ = (np.cumsum(RNG.uniform(0.5, 1.5, n)) for n in (4, 5, 3))
VALUES = RNG.standard_normal((4, 5, 3))
POINTS = np.stack([g[0] + (g[-1] - g[0]) * RNG.uniform(0.02, 0.98, 6) for g in (GX, GY, GZ)], 1)

CUBIC = CubicSpline(X, Y)
PERIODIC = CubicSpline(X, np.append(Y[:-1], Y[0]), bc_type="periodic")
PCHIP = PchipInterpolator(X, STACK, axis=1)
SPLINE = make_interp_spline(X, STACK, axis=1)
GRID = RegularGridInterpolator((GX, GY), VALUES[..., 0], bounds_error=False)
STEPS = interp1d(X, Y, kind="previous", bounds_error=False, fill_value=(1.0, 2.0))
CURVE = interp1d(X, Y, kind="cubic", fill_value="extrapolate")

SMOOTH: list[calls.Row] = [
    (lambda x, y, t: CubicSpline(x, y)(t), (X, Y, T)),
    (lambda x, y, t: CubicSpline(x, y, axis=1)(t), (X, STACK, T)),
    (lambda x, y, t, u: CubicSpline(x, y, bc_type=((1, u), (2, 0.4)))(t), (X, Y, T, 0.3)),
    (lambda x, y, t: CubicSpline(x, y, bc_type=("natural", "clamped"))(t), (X, Y, 0.3)),
    (lambda x, y, t: CubicSpline(x, np.append(y, y[0]), bc_type="periodic")(t), (X, Y[:-1], T)),
    (lambda y, t: CubicSpline(X, y)(t, 1) + CubicSpline(X, y)(t, nu=2), (Y, T)),
    (lambda x, y, t: CubicSpline(x, y).derivative()(t), (X, Y, T)),
    (lambda x, y, t: CubicSpline(x, y).antiderivative(2)(t), (X, Y, T)),
    (lambda x, y, a, b: CubicSpline(x, y).integrate(a, b), (X, Y, 2.3, -1.7)),
    (lambda x, y, t: PchipInterpolator(x, y)(t), (X, Y, T)),
    (lambda x, y, t: PchipInterpolator(x, y, axis=1)(t), (X, STACK, T)),
    (lambda x, y, t: PchipInterpolator(x, y)(t), (X[:2], Y[:2], T)),
    (lambda x, y, t: Akima1DInterpolator(x, y)(t), (X, Y, IN)),
    (lambda x, y, t: Akima1DInterpolator(x, y, method="makima", extrapolate=True)(t), (X, Y, T)),
    (lambda x, y, t: CubicHermiteSpline(x, y, y * y)(t), (X, Y, T)),
    (lambda x, c, t: PPoly(c, x)(t), (X, RNG.standard_normal((3, 6)), T)),
    (lambda x, c, t: PPoly(c, x, "periodic").integrate(-9.0, t),
     (X, RNG.standard_normal((3, 6)), 12.0)),
    (lambda t: CUBIC(t) * PERIODIC(t) + CUBIC(t, 1), (T,)),
    (lambda t: PERIODIC.integrate(0.0, t), (18.0,)),
    (lambda t: PCHIP(t), (T,)),
    (lambda t: PCHIP.derivative()(t), (T,)),
    (lambda t, c, u: BSpline(t, c, 3)(u), (KNOTS, C, T)),
    (lambda t, c, u: BSpline(t, c, 3).derivative()(u, nu=1), (KNOTS, C, T)),
    (lambda t, c, u: BSpline(t, c, 3).antiderivative()(u), (KNOTS, C, T)),
    (lambda t, c, b: BSpline(t, c, 3).integrate(0.3, b), (KNOTS, C, -0.2)),
    (lambda t: SPLINE(t), (T,)),
    (lambda x, y, t: make_interp_spline(x, y)(t), (X, Y, T)),
    (lambda x, y, t: make_interp_spline(x, y, 2)(t), (X, Y, T)),
    (lambda x, y, t: make_interp_spline(x, y, 3, bc_type="natural")(t), (X, Y, T)),
    (lambda x, y, t: interp1d(x, y)(t), (X[ORDER], Y[ORDER], IN)),
    (lambda x, y, t: interp1d(x, y, axis=1, bounds_error=False, fill_value=0.0)(t), (X, STACK, T)),
    (lambda x, y, t: interp1d(x, y, bounds_error=False, fill_value=(y[0], y[-1]))(t), (X, Y, T)),
    (lambda x, y, t: interp1d(x, y, "cubic", fill_value="extrapolate")(t), (X, Y, T)),
    (lambda x, y, t: interp1d(x, y, "nearest")(t), (X, Y, IN)),
    (lambda t: CURVE(t), (T,)),
    (lambda a, b, v, p: RegularGridInterpolator((a, b), v)(p), (GX, GY, VALUES, POINTS[:, :2])),
    (lambda a, b, c, v, p: RegularGridInterpolator((a, b, c), v)(p), (GX, GY, GZ, VALUES, POINTS)),
    (lambda v, p: RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=None)(p),
     (VALUES[..., 0], 2.0 * POINTS[:, :2])),
    (lambda p: GRID(p), (POINTS[:, :2],)),
    (lambda v, p: interpn((GX, GY), v, p), (VALUES[..., 0], POINTS[:, :2])),
]  # fmt: skip
OTHERS: list[calls.Row] = [
    (lambda x, y, t: CubicSpline(x, y, axis=1, bc_type=((1, np.ones((2, 3))), "natural"))(t),
     (X, STACK, 0.3)),
    (lambda x, y, t: CubicSpline(x, y, axis=-1, extrapolate=False)(t.reshape(2, 5)),
     (X, STACK.transpose(0, 2, 1), T)),
    (lambda x, y, t: CubicSpline(x, y)(t), (X.astype("f"), Y.astype("f"), T.astype("f"))),
    (lambda x, y, t: CubicSpline(x, y)(t), ([0, 1, 2, 4], [1, 0, 3, 1], 0.5)),
    (lambda x, y, t: CubicSpline(x, y + 1j * y * y)(t), (X, Y, T)),
    (lambda x, y, t: CubicSpline(x, y).derivative(5)(t), (X, Y, T)),
    (lambda a, b: CUBIC.integrate(a, b, extrapolate=False), (9.5, -10.7)),
    (lambda x, y, t: PchipInterpolator(x, y)(t), (np.arange(6.0), [0, 1, 1, 3, 2, 5], T)),
    (lambda x, y, t: Akima1DInterpolator(x, y)(t), (np.arange(6.0), [0, 1, 2, 3, 2, 5], T)),
    (lambda t: PCHIP(t), (T.reshape(2, 5),)),
    (lambda t: PCHIP.antiderivative()(t), (0.5,)),
    (lambda t: STEPS(t), (T,)),
    (lambda t, c, u: BSpline(t, c, 2, extrapolate=False)(u), (KNOTS[:-1], C, T)),
    (lambda t, c, u: BSpline(t, c, 3, extrapolate="periodic")(u), (KNOTS, C, T)),
    (lambda t, c, u: BSpline(t, c, 3, axis=1)(u), (KNOTS, RNG.standard_normal((2, 8, 3)), T)),
    (lambda t, c, b: BSpline(t, c, 3, extrapolate=False).integrate(b, 0.3), (KNOTS, C, -9.0)),
    (lambda x, y, t: interp1d(x, y)(t), (X.astype("f"), Y.astype("f"), IN.astype("f"))),
    (lambda x, y, t: interp1d(x, y, axis=1, fill_value="extrapolate")(t.reshape(2, 5)),
     (X, STACK, T)),
    (lambda p: RegularGridInterpolator((GX, GY), VALUES, bounds_error=False)((p[:, 0], p[:, 1])),
     (2.0 * POINTS,)),
    (lambda p: RegularGridInterpolator((GX, GY), VALUES, "nearest")(p), (POINTS[0, :2],)),
    (lambda p: RegularGridInterpolator((GX, GY), VALUES[..., 0], "slinear")(p), (POINTS[:, :2],)),
    (lambda y: 1.0 * isinstance(CUBIC, CubicSpline) + 2.0 * isinstance(PCHIP, PPoly)
     + 4.0 * isinstance(CubicSpline(X, y), CubicHermiteSpline) + 8.0 * isinstance(CUBIC, BSpline),
     (Y,)),
]  # fmt: skip
_ENDS: list[Any] = [
    "natural", "clamped", "not-a-knot", ((1, 0.3), (2, -0.2)), ("natural", (1, 0.2)),
    ((2, 0.4), "not-a-knot"),
]  # fmt: skip
_KINDS = (
    "linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic",
    4,
)  # fmt: skip


test_values, test_derivatives, test_second_derivatives = calls.compared(
    SMOOTH, OTHERS, tolerance=1e-11, cost=pytest.mark.sampled(50)
)


@pytest.mark.full
@pytest.mark.parametrize("ends", _ENDS, ids=str)
def test_ends_of_cubic_splines(ends: Any) -> None:
    def spline(x: Any, y: Any, t: Any) -> Any:
        return CubicSpline(x, y, bc_type=ends)(t)

    for n in (7, 4, 3, 2):
        calls.check_values(spline, (X[:n], Y[:n], T))


@pytest.mark.full
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_periodic_splines(n: int) -> None:
    def spline(x: Any, y: Any, t: Any) -> Any:
        return CubicSpline(x, np.append(y, y[0]), bc_type="periodic")(t)

    calls.check_values(spline, (X[:n], Y[: n - 1], T))


@pytest.mark.full
@pytest.mark.parametrize(
    ("degree", "ends"),
    [*((k, None) for k in range(6)), (3, "natural"), (3, "clamped"),
     (3, ([(1, 0.3)], [(2, 0.4)])), (3, ([(2, 0.3), (1, 0.1)], None)),
     (3, (None, [(2, 0.3), (1, 0.1)])), (5, ([(1, 0.3), (2, 0.1)], [(1, 0.4), (2, 0.5)])),
     (5, ([(3, 0.3), (4, 0.1)], [(3, 0.4), (4, 0.5)]))],
)  # fmt: skip
def test_degrees_and_ends_of_splines(degree: int, ends: Any) -> None:
    def spline(x: Any, y: Any, t: Any) -> Any:
        return make_interp_spline(x, y, degree, bc_type=ends)(t)

    rng = np.random.default_rng(degree)
    for n in (9, 30):
        x = np.cumsum(rng.uniform(0.2, 1.5, n))
        calls.check_values(spline, (x, rng.standard_normal(n), rng.uniform(x[0], x[-1], 9)), 1e-9)


@pytest.mark.full
@pytest.mark.parametrize("kind", _KINDS)
def test_kinds_along_an_axis(kind: Any) -> None:
    made = interp1d(X, Y, kind=kind, bounds_error=False)

    def inside(x: Any, y: Any, t: Any) -> Any:
        return interp1d(x, y, kind=kind)(t)

    def beyond(x: Any, y: Any, t: Any) -> Any:
        return interp1d(x, y, kind=kind, fill_value="extrapolate")(t)

    calls.check_values(inside, (X, Y, EDGES), 1e-11)
    calls.check_values(beyond, (X, Y, T), 1e-11)
    calls.check_values(lambda t: made(t), (T,), 1e-11)


def test_gradient_of_an_object() -> None:
    """It has the attributes that are numbers."""
    spline = CubicSpline(X, Y)

    def area(s: Any, t: Any) -> Any:
        return np.sum(s(t) ** 2)

    found = adc.grad(area, target="python")(spline, IN)
    step = 1e-6
    moved = PPoly(spline.c.copy(), X)
    moved.c[2, 3] += step
    assert found.c[2, 3] == pytest.approx((area(moved, IN) - area(spline, IN)) / step, rel=1e-4)
    assert found.x.shape == X.shape
    assert found.extrapolate is None


def test_objects_are_read_at_each_call() -> None:
    spline = CubicSpline(X, Y)

    def value(t: Any) -> Any:
        return spline(t)

    compiled = adc.jit(value, target="python", cache=False)
    assert compiled(0.5) == pytest.approx(spline(0.5), rel=1e-13)
    spline.c[...] *= 2.0
    assert compiled(0.5) == pytest.approx(spline(0.5), rel=1e-13)


def _unsorted(y: Any) -> Any:
    return CubicSpline(X[::-1], y)(0.3)


def _short(y: Any) -> Any:
    return PchipInterpolator(X[1:], y)(0.3)


def _open(y: Any) -> Any:
    return CubicSpline(X, y, bc_type="periodic")(0.3)


def _ends(y: Any) -> Any:
    return CubicSpline(X, y, bc_type="free")(0.3)


def _outside(y: Any) -> Any:
    return interp1d(X, y)(T)


def _off_the_grid(y: Any) -> Any:
    return RegularGridInterpolator((X,), y)(T[:, None])


def _few_knots(y: Any) -> Any:
    return BSpline(X[:6], y, 3)(0.3)


@pytest.mark.full
@pytest.mark.parametrize(
    "fn", [_unsorted, _short, _open, _ends, _outside, _off_the_grid, _few_knots]
)
def test_errors_are_those_of_scipy(fn: calls.Call) -> None:
    with pytest.raises(ValueError, match=r"\w") as expected:
        fn(Y)
    with pytest.raises((ValueError, AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(Y)
    assert str(expected.value)[:12] in str(found.value)
