"""`scipy.ndimage`: values at every boundary, derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage as nd

import adc
from adc.ir.errors import AdcError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(9)
X = RNG.standard_normal((6, 7))
STACK = RNG.standard_normal((4, 5, 3))
LINE = RNG.standard_normal(9)
W = RNG.standard_normal(5)
KERNEL = RNG.standard_normal((3, 4))
INSIDE = np.stack((RNG.uniform(0.1, 4.9, 8), RNG.uniform(0.1, 5.9, 8)))
ANYWHERE = np.concatenate((INSIDE, 3.0 * INSIDE - 6.0, -8.0 * INSIDE, np.floor(INSIDE)), 1)
FAR = np.concatenate((RNG.uniform(-40, 40, 50), np.arange(-30, 30.0), np.arange(-30, 30) + 0.5))
SINGLE = X.astype(np.float32)
MODES = (
    "reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-wrap",
    "grid-constant",
)  # fmt: skip

SMOOTH: list[calls.Row] = [
    (lambda x, w, c: nd.correlate1d(x, w, 0, mode="constant", cval=c), (X, W, 0.5)),
    (lambda x, w: nd.convolve1d(x, w, axis=1, origin=1), (X, W[:4])),
    (lambda x, s: nd.gaussian_filter(x, s), (X, 0.8)),
    (lambda x: nd.gaussian_filter(x, [1.2, 0], (1, 0), mode=["wrap", "nearest"]), (X,)),
    (lambda x, s: nd.gaussian_filter(x, s, axes=(2, 0), truncate=2.5), (STACK, 0.8)),
    (lambda x, s: nd.gaussian_filter1d(x, s, order=3, radius=4), (LINE, 0.8)),
    (lambda x: nd.uniform_filter(x, (3, 4), origin=(1, -1)), (X,)),
    (lambda x: nd.uniform_filter1d(x, 4), (X,)),
    (lambda x: nd.sobel(x, 0), (X,)),
    (lambda x: nd.prewitt(x, mode="wrap"), (STACK,)),
    (lambda x: nd.laplace(x, mode="wrap"), (STACK,)),
    (lambda x, s: nd.gaussian_laplace(x, s), (X, 0.7)),
    (lambda x, s: nd.gaussian_gradient_magnitude(x, s), (X, 0.7)),
    (lambda x, w: nd.convolve(x, w, mode="constant", cval=1.0, origin=(0, 1)), (X, KERNEL)),
    (lambda x, w: nd.correlate(x, w, axes=(0, 2)), (STACK, KERNEL)),
    (lambda x, w: nd.correlate(x, w), (LINE, W)),
    (lambda x, w: nd.correlate(x, w), (X + 1j * X**2, 1j * KERNEL)),
    (lambda x, c: nd.map_coordinates(x, c), (X, INSIDE)),
    (lambda x, c: nd.map_coordinates(x, c, order=1, mode="nearest"), (X, ANYWHERE[:, :12])),
    (lambda x, c: nd.map_coordinates(x, c, order=2, mode="reflect"), (X, INSIDE)),
    (lambda x, c: nd.map_coordinates(x, c, order=0), (X, INSIDE)),
    (lambda x, c: nd.map_coordinates(x, c), (STACK, RNG.uniform(0.1, 1.9, (3, 2, 3)))),
    (lambda x, c: nd.map_coordinates(x, c, None, 1, "grid-constant", 0.5), (X, ANYWHERE[:, :12])),
    (lambda x: nd.spline_filter(x), (X,)),
    (lambda x: nd.spline_filter(x, 2, mode="reflect"), (X,)),
    (lambda x, s: nd.shift(x, s), (X, np.array([0.3, -0.6]))),
    (lambda x: nd.zoom(x, (1.5, 0.6)), (X,)),
]
OTHERS: list[calls.Row] = [
    (lambda x, w: nd.convolve1d(x, w, output=float), (SINGLE, W)),
    (lambda x, w: nd.convolve1d(x, w, output=np.float64), (np.arange(9), W)),
    (lambda x, s: nd.gaussian_filter(x, s, mode=["wrap", "nearest"], order=(1, 2)),
     (SINGLE, np.array([0.7, 0.9]))),
    (lambda x, w: nd.convolve(x, w), (SINGLE, 1j * KERNEL)),
    (lambda x, c: nd.map_coordinates(x, c, prefilter=False), (SINGLE, INSIDE)),
    (lambda x: nd.zoom(x, 2, mode="grid-wrap", grid_mode=True), (X,)),
    (lambda x: nd.zoom(x, 0.1), (X,)),
    (lambda x, k: nd.gaussian_filter1d(x, 1.3, axis=k), (X, 0)),
]  # fmt: skip


test_values, test_derivatives, test_second_derivatives = calls.compared(
    SMOOTH, OTHERS, tolerance=1e-11, cost=pytest.mark.sampled(40)
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("mode", MODES)
def test_filters_at_boundaries(mode: str) -> None:
    def along(x: Any, w: Any) -> Any:
        return nd.correlate1d(x, w, mode=mode, cval=1.5)

    def across(x: Any, w: Any) -> Any:
        return nd.correlate(x, w, mode=mode, cval=1.5)

    for n in (9, 3, 2, 1):
        calls.check_values(along, (LINE[:n], RNG.standard_normal(7)))
    calls.check_values(across, (X, KERNEL))


@pytest.mark.full
@pytest.mark.parametrize("case", [f"{mode} {order}" for mode in MODES for order in range(4)])
def test_splines_at_boundaries(case: str) -> None:
    mode, order = case.split()[0], int(case.split()[1])

    def along(x: Any, c: Any) -> Any:
        return nd.map_coordinates(x, c, order=order, mode=mode, cval=1.5)

    def shifted(x: Any) -> Any:
        return nd.shift(x, [1.3, -2.6], order=order, mode=mode, cval=0.5)

    def zoomed(x: Any) -> Any:
        return nd.zoom(x, 1.7, order=order, mode=mode, cval=0.5)

    for n in (9, 3, 2, 1):
        calls.check_values(along, (LINE[:n], FAR[None]), 1e-11)
    calls.check_values(along, (X, ANYWHERE), 1e-11)
    calls.check_values(shifted, (X,), 1e-11)
    calls.check_values(zoomed, (X,), 1e-11)


@pytest.mark.full
def test_into_an_array() -> None:
    def into(x: Any, w: Any) -> Any:
        out = np.zeros(x.shape)
        found = nd.convolve(x, w, output=out)
        return out + found

    calls.check_values(into, (X, KERNEL))


def _mode(x: Any) -> Any:
    return nd.gaussian_filter(x, 1.0, mode="mirrored")


def _origin(x: Any) -> Any:
    return nd.correlate1d(x, [1.0, 2.0], origin=5)


def _rank(x: Any) -> Any:
    return nd.correlate(x, x[0])


def _order(x: Any) -> Any:
    return nd.map_coordinates(x, x[:2], order=7)


def _coordinates(x: Any) -> Any:
    return nd.map_coordinates(x, x[:3])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", [_mode, _origin, _rank, _order, _coordinates])
def test_errors_are_those_of_scipy(fn: calls.Call) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"\w") as expected:
        fn(X)
    with pytest.raises((ValueError, RuntimeError, AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(X)
    assert str(expected.value)[:12] in str(found.value)
