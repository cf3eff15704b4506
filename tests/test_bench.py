"""The yardstick is straight: adjoints written by hand, and adc's, agree with differences."""

from typing import Any

import numpy as np
import pytest

import adc
import adc.testing
from tests.bench import compile
from tests.bench.as_written import AS_WRITTEN
from tests.bench.hand import HAND
from tests.bench.kernels import KERNELS, Kernel, ValueAndGrad


def check(kernel: Kernel, call: ValueAndGrad) -> None:
    args = kernel.arguments(kernel.tiny)
    value, gradients = call(*args)
    for arg, given in zip(args, kernel.arguments(kernel.tiny), strict=True):
        np.testing.assert_array_equal(arg, given)
    np.testing.assert_allclose(value, kernel.loss(*kernel.arguments(kernel.tiny)), rtol=1e-13)

    if not isinstance(gradients, tuple):
        gradients = (gradients,)
    step = 1e-5
    for seed in range(4):
        rng = np.random.default_rng(seed)
        directions = [rng.standard_normal(args[k].shape) for k in kernel.wrt]

        def at(shift: float, directions: Any = directions) -> Any:
            moved = list(kernel.arguments(kernel.tiny))
            for k, direction in zip(kernel.wrt, directions, strict=True):
                moved[k] = moved[k] + shift * direction
            return kernel.loss(*moved)

        slope = sum(np.sum(g * v) for g, v in zip(gradients, directions, strict=True))
        wanted = (at(step) - at(-step)) / (2 * step)
        np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", AS_WRITTEN)
def test_adjoint_as_written(name: str) -> None:
    check(KERNELS[name], AS_WRITTEN[name])


@pytest.mark.parametrize("name", HAND)
def test_adjoint_by_hand(name: str) -> None:
    check(KERNELS[name], HAND[name])


@pytest.mark.parametrize("name", KERNELS)
def test_gradient(name: str) -> None:
    kernel = KERNELS[name]
    check(kernel, adc.value_and_grad(kernel.loss, kernel.wrt))


@pytest.mark.parametrize("kind", compile.KINDS)
def test_long_program(kind: str) -> None:
    x, w = np.random.default_rng(0).standard_normal((2, 6))
    adc.testing.check_grads(compile.program(kind, 30), (0.1 * x, 0.1 * w))
