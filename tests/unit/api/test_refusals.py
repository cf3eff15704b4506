"""What the public functions refuse before anything is compiled, or of what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError

X = np.array([1.5, -0.5])
# What types forbid.
THREE: Any = 3
SIDEWAYS: Any = "sideways"


def squares(x: Any) -> Any:
    return x * x


def energy(x: Any) -> Any:
    return np.sum(x * x)


async def slow(x: Any) -> Any:
    return x


class Spring:
    stiffness = 2.0

    @adc.grad
    def pulled(self, x: Any) -> Any:
        return self.stiffness * x * x


def _ruled() -> Any:
    return adc.custom_vjp(lambda x: x)


SPARSE = adc.jacrev(squares, sparsity="detect")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adc.checkpoint(THREE), "3 is not a function"),
        (lambda: adc.custom_vjp(THREE), "3 is not a function"),
        (lambda: adc.custom_jvp(THREE), "3 is not a function"),
        (lambda: _ruled().defvjp(3, 4), "3 is not a function"),
        (lambda: adc.external(squares, vjp=THREE), "vjp is 3, which is no function"),
        (lambda: adc.external(adc.external(squares)), "is external already"),
        (lambda: adc.external(slow), "is a coroutine function"),
        (lambda: adc.jit(slow)(1.0), "'slow' is a coroutine"),
        (
            lambda: adc.value_and_jac(squares, mode=SIDEWAYS),
            'mode=\'sideways\' is neither "forward" nor "reverse"',
        ),
        (lambda: adc.jit(Spring().pulled), "is differentiated with respect to the object"),
        (lambda: adc.jvp(squares, (1.0,), (1.0,), has_aux=True), "does not return a pair"),
        (
            lambda: adc.jacrev(adc.jacrev(squares), sparsity="detect"),
            "a sparse Jacobian of <adc jacrev(jacrev(squares))>",
        ),
        (lambda: SPARSE(X * 1j), "which has complex arguments or results"),
        (lambda: adc.hessian(squares, sparsity="detect")(X), "does not return one number"),
        (lambda: adc.jit(lambda x: SPARSE(x))(X), "adc compiles, which has no sparse Jacobians"),
        (lambda: adc.check_nans(SPARSE, digits=6), "`digits` of a sparse Jacobian"),
    ],
)  # fmt: skip
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AdcError) as caught:
        call()
    assert message in caught.value.message
