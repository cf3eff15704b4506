"""The yardstick is straight: the adjoints written by hand agree with differences of the kernels."""

import numpy as np
import pytest

import adc.testing
from tests.bench import compile
from tests.bench.as_written import AS_WRITTEN
from tests.bench.hand import HAND
from tests.bench.kernels import KERNELS, ValueAndGrad


@pytest.mark.parametrize("adjoints", [HAND, AS_WRITTEN], ids=["hand", "as written"])
@pytest.mark.parametrize("name", KERNELS)
def test_hand_written_adjoint(name: str, adjoints: dict[str, ValueAndGrad]) -> None:
    kernel = KERNELS[name]
    a, w = kernel.arguments(kernel.small)
    given = a.copy()
    value, gradient = adjoints[name](a, w)
    np.testing.assert_array_equal(a, given)
    np.testing.assert_allclose(value, kernel.loss(a.copy(), w), rtol=1e-13)

    step = 1e-5
    for seed in range(4):
        direction = np.random.default_rng(seed).standard_normal(a.shape)
        ahead = kernel.loss(a + step * direction, w)
        behind = kernel.loss(a - step * direction, w)
        slope = np.sum(gradient * direction)
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", compile.KINDS)
def test_long_program(kind: str) -> None:
    x, w = np.random.default_rng(0).standard_normal((2, 6))
    adc.testing.check_grads(compile.program(kind, 30), (0.1 * x, 0.1 * w))
