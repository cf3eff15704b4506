"""Functions of constants (`frontend.scipy.designs`): filters, nodes, zeros, matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg, signal, special

import adc
from adc.ir.errors import UnsupportedError

X = np.cos(np.arange(24.0)) + 0.1 * np.arange(24.0)


def filtered(x: Any) -> Any:
    b, a = signal.butter(2, 0.3)
    y = signal.lfilter(b, a, x)
    for section in signal.butter(4, [5.0, 20.0], btype="band", fs=100, output="sos"):
        y = signal.lfilter(section[:3], section[3:], y)
    taps = signal.firwin(7, 0.25, window="hamming")
    return np.sum(np.convolve(y, taps, mode="same") ** 2)


def quadrature(x: Any, n: Any = 5) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    area = sum(w * np.exp(x[0] * t) for t, w in zip(nodes, weights, strict=True))
    t, w = special.roots_hermite(n + 1)
    cotes, _ = integrate.newton_cotes(4)
    return area + w @ np.sin(t * x[1]) + cotes @ x[:5] ** 2


def matrices(x: Any) -> Any:
    zeros = special.jn_zeros(0, 3)
    return x[:4] @ linalg.hilbert(4) @ x[:4] + zeros[1] * x[3]


def on_an_error(x: Any) -> Any:
    try:
        b, a = signal.butter(2, 2.0)
    except ValueError:
        b, a = signal.iirnotch(0.3, 30.0)
    return np.sum(signal.lfilter(b, a, x) ** 2)


@pytest.mark.parametrize("program", [filtered, quadrature, matrices, on_an_error])
def test_constants_are_those_of_the_function(program: Any) -> None:
    np.testing.assert_allclose(adc.jit(program, target="python")(X), program(X), rtol=1e-13)


def test_float32_stays_and_errors_are_scipys() -> None:
    def scaled(x: Any) -> Any:
        return x * signal.kaiserord(40.0, 0.1)[1]

    x = X.astype(np.float32)
    found = adc.jit(scaled, target="python")(x)
    assert found.dtype == np.asarray(scaled(x)).dtype

    def wrong(x: Any) -> Any:
        return signal.butter(2, 1.5)[0] @ x[:3]

    with pytest.raises(ValueError, match="critical frequencies"):
        adc.jit(wrong, target="python")(X)


def test_refused() -> None:
    def of_a_variable(x: Any, cutoff: float) -> Any:
        return signal.butter(2, cutoff)[0] @ x[:3]

    def poles(x: Any) -> Any:
        return signal.butter(2, 0.3, output="zpk")[2] * x[0]

    with pytest.raises(UnsupportedError, match=r"an argument of `scipy\.signal\.butter`") as error:
        adc.grad(of_a_variable)(X, 0.2)
    assert "outside" in error.value.hint
    with pytest.raises(UnsupportedError, match="this result"):
        adc.grad(poles)(X)
