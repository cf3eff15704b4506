"""Derivatives called from code that users compile with Numba: directly, or by the interpreter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.cpu import direct

numba = pytest.importorskip("numba")

FACTOR = 3.0


def cube(x: Any) -> Any:
    return x * x * x


def logarithm(x: Any) -> Any:
    return math.log(x)


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def scaled(x: Any) -> Any:
    return np.sin(x) * FACTOR


def iterated(x: Any) -> Any:
    for _ in range(50):
        x = np.sin(x) * x + 1.0
    return x


def mixed(x: Any) -> Any:
    return x > 1.0, 3, (x, (1.5, x * x))


SLOPE = adc.grad(cube)
LOGARITHM = adc.grad(logarithm)
PRODUCT = adc.value_and_grad(product, argnums=(0, 1))
PLAIN = adc.jit(product)
SCALED = adc.grad(scaled)
ITERATED = adc.grad(iterated)
MIXED = adc.jit(mixed)
SUMS = adc.grad(lambda x: np.sum(x * x * x))
JACOBIAN = adc.jacfwd(lambda x: x * x)
BATCH = adc.vmap(cube)
X, Y = np.arange(3.0), np.arange(3.0) + 2.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("derivative", "args", "directly"),
    [
        (SLOPE, (2.0,), True),
        (SLOPE, (np.float32(2.0),), True),
        (LOGARITHM, (2.0,), True),
        (PRODUCT, (X, Y), True),
        (PRODUCT, (X[::-1], Y), False),  # would be copied
        (PLAIN, (X, Y), True),
        (SUMS, (X,), True),
        (SUMS, (np.linspace(0.0, 1.0, 100_000),), True),  # memory that kernels may prepare
        (BATCH, (X,), False),  # what is called is a function of structures
        (SCALED, (1.0,), False),  # reads a global variable
        (ITERATED, (0.3,), False),  # has a tape
        (JACOBIAN, (X,), False),
    ],
)
def test_calls(derivative: Any, args: tuple[Any, ...], directly: bool) -> None:
    made = derivative.compiled_for(*args)
    kernel = made.entry.kernel
    fits = all(x.flags.c_contiguous for x in args if isinstance(x, np.ndarray))
    own = derivative._at_once() is derivative
    assert (own and fits and made.plain and direct.keeps_nothing(kernel)) == directly
    found = numba.njit(lambda *args: derivative(*args))(*args)
    np.testing.assert_equal(found, derivative(*args))


def test_constants_in_the_result() -> None:
    assert numba.njit(lambda x: MIXED(x))(2.0) == (True, 3, (2.0, (1.5, 4.0)))


@pytest.mark.full
def test_many_threads() -> None:
    def fill(xs: Any, out: Any) -> None:
        for k in numba.prange(xs.shape[0]):
            out[k] = SUMS(xs[k])[1] + SLOPE(xs[k, 0])

    made = numba.njit(fill, parallel=True)
    xs = np.random.default_rng(0).normal(size=(20_000, 4))
    out = np.empty(20_000)
    made(xs[:2], out[:2])
    made(xs, out)
    np.testing.assert_array_equal(out, [SUMS(x)[1] + SLOPE(x[0]) for x in xs])


@pytest.mark.full
def test_checks_that_fail() -> None:
    call = numba.njit(lambda x: LOGARITHM(x))
    assert call(4.0) == 0.25
    with pytest.raises(ValueError, match="math domain error"):
        call(-1.0)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        numba.njit(lambda x, y: PLAIN(x, y))(np.ones(2), np.ones(3))


def test_variables_are_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    call = numba.njit(lambda x: SCALED(x))
    assert call(0.0) == 3.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert call(0.0) == 5.0


def test_results_are_freed() -> None:
    def add(x: Any, times: int) -> float:
        total = 0.0
        for _ in range(times):
            total += SUMS(x)[0]
        return total

    made = numba.njit(add)
    made(np.ones(4), 1)
    numba.core.runtime._nrt_python.memsys_enable_stats()
    stats = numba.core.runtime.rtsys.get_allocation_stats
    before = stats()
    assert made(np.ones(4), 1000) == 3000.0
    after = stats()
    numba.core.runtime._nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 1000


def test_addresses_are_not_kept_on_disk() -> None:
    with pytest.warns(numba.core.errors.NumbaWarning, match="dynamic globals"):
        numba.njit(lambda x: SLOPE(x), cache=True)(1.0)
