"""What is compiled for, and timed on, a GPU: `tests.bench.kernels`, and what a GPU is good at.

The sizes of those that are timed fill a large GPU; the others are checked in the size S.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.bench.kernels import KERNELS, Arguments, Kernel, Size, two_normal


def light(x: Any, w: Any) -> Any:
    """Sum an elementwise expression that is next to nothing to compute."""
    return np.sum((x * w + 0.5) ** 2 * w)


def dot(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * w[i]
    return total


def logsumexp(x: Any) -> Any:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def batched_ode(end: Any, y: Any, rates: Any, w: Any) -> Any:
    """Follow a prey and a predator until `end`, each pair in steps that its own error sets.

    The method is Bogacki and Shampine's; the last stage of an accepted step is the first of the
    next.
    """
    total = 0.0
    for i in range(y.shape[0]):
        a, b, c, d = rates[i, 0], rates[i, 1], rates[i, 2], rates[i, 3]
        u, v = y[i, 0], y[i, 1]
        u1 = u * (a - b * v)
        v1 = v * (c * u - d)
        t = 0.0
        h = 0.05
        while t < end:
            if h > end - t:
                h = end - t
            p = u + h * (0.5 * u1)
            q = v + h * (0.5 * v1)
            u2 = p * (a - b * q)
            v2 = q * (c * p - d)
            p = u + h * (0.75 * u2)
            q = v + h * (0.75 * v2)
            u3 = p * (a - b * q)
            v3 = q * (c * p - d)
            p = u + h * (2.0 / 9.0 * u1 + 1.0 / 3.0 * u2 + 4.0 / 9.0 * u3)
            q = v + h * (2.0 / 9.0 * v1 + 1.0 / 3.0 * v2 + 4.0 / 9.0 * v3)
            u4 = p * (a - b * q)
            v4 = q * (c * p - d)
            first = -5.0 / 72.0 * u1 + u2 / 12.0 + u3 / 9.0 - u4 / 8.0
            other = -5.0 / 72.0 * v1 + v2 / 12.0 + v3 / 9.0 - v4 / 8.0
            first = h * first / (1e-5 * (1.0 + u))
            other = h * other / (1e-5 * (1.0 + v))
            norm = math.sqrt(0.5 * (first * first + other * other))
            if norm <= 1.0:
                t += h
                u, v, u1, v1 = p, q, u4, v4
            h *= min(5.0, max(0.2, 0.9 * norm ** (-1.0 / 3.0)))
        total += w[i, 0] * u + w[i, 1] * v
    return total


def systems(a: Any, b: Any) -> Any:
    """Solve many small systems: each thread does it itself."""
    total = 0.0
    for i in range(a.shape[0]):
        total += np.sum(np.sin(np.linalg.solve(a[i], b[i])))
    return total


def gaussian_process(x: Any, y: Any) -> Any:
    """Return a likelihood of observations that are correlated: a library factorizes."""
    covariance = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2) + np.eye(x.shape[0])
    factor = np.linalg.cholesky(covariance)
    return 0.5 * y @ np.linalg.solve(covariance, y) + np.sum(np.log(np.diagonal(factor)))


def vector(rng: np.random.Generator, size: Size) -> Arguments:
    return (rng.standard_normal(size),)


def matrices(rng: np.random.Generator, size: Size) -> Arguments:
    count, n = size
    return rng.standard_normal((count, n, n)) + 4.0 * np.eye(n), rng.standard_normal((count, n))


def pairs(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw pairs of a prey and a predator, their rates, and weights."""
    end, n = size
    rates = np.array([1.1, 0.4, 0.1, 0.4]) * (1.0 + 0.2 * rng.random((n, 4)))
    return end, 1.0 + 9.0 * rng.random((n, 2)), rates, rng.standard_normal((n, 2))


ELEMENTWISE, STENCIL, REDUCTION, OTHER = "elementwise", "stencil", "reduction", "other"
# What is timed beside a copy, beside kernels written by hand, and beside other tools.
COPY, HAND, PEERS = "copy", "hand", "peers"


@dataclass(frozen=True)
class Program:
    """A kernel of the benchmark, what its loops are, and what its time is compared with."""

    kernel: Kernel
    kind: str = OTHER
    beside: str = ""

    @property
    def name(self) -> str:
        return self.kernel.name

    def size(self, small: bool = False) -> Size:
        """Return the size of the arguments, or one that Numba's simulator can do."""
        if small:
            return self.kernel.tiny
        return self.kernel.medium if self.beside else self.kernel.small


_KINDS = {
    "chain": ELEMENTWISE, "jacobi": STENCIL, "hdiff": STENCIL, "heat": STENCIL,
    "softmax_ce": REDUCTION, "layernorm": REDUCTION,
}  # fmt: skip
# By name, what it is timed beside, and in which size.
_TIMED: dict[str, tuple[str, Size]] = {
    "chain": (COPY, (2**26,)),
    "jacobi": (HAND, (20, 4096)),
    "heat": (HAND, (20, 320)),
    "nbody": (PEERS, (4, 8192)),
    "mixture": (PEERS, (200_000, 10, 25)),
}
_MORE = [
    Program(Kernel(light, (2**26,), (10**4,), (7,), two_normal, (), (0, 1)), ELEMENTWISE, COPY),
    Program(Kernel(dot, (10**6,), (10**4,), (9,), two_normal, (), (0, 1)), REDUCTION),
    Program(Kernel(logsumexp, (10**6,), (10**4,), (9,), vector, ()), REDUCTION),
    Program(Kernel(batched_ode, (10, 100_000), (2, 20), (1, 2), pairs, (), (1, 2)), OTHER, PEERS),
    Program(Kernel(systems, (10**5, 8), (1000, 8), (2, 3), matrices, (), (0, 1))),
    Program(Kernel(gaussian_process, (4000,), (300,), (5,), two_normal, (), (0, 1))),
]


def _programs() -> dict[str, Program]:
    found = list(_MORE)
    for name, kernel in KERNELS.items():
        beside, size = _TIMED.get(name, ("", kernel.medium))
        found.append(Program(replace(kernel, medium=size), _KINDS.get(name, OTHER), beside))
    order = [ELEMENTWISE, STENCIL, REDUCTION, OTHER]
    return {each.name: each for each in sorted(found, key=lambda each: order.index(each.kind))}


PROGRAMS = _programs()
