"""The kernels: plain Python loops that change their argument in place.

Each `loss(a, w)` is a sum of the kernel's outputs, weighted by `w`; the benchmark wants its value
and its gradient with respect to `a`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Values and gradients as the tools return them, and calls that produce them.
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
ValueAndGrad = Callable[[Matrix, Matrix], tuple[float, Matrix]]


def cholesky(a: Any, w: Any) -> Any:
    """Factor the symmetric positive definite `a` in place; weigh the lower triangle."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            dot = 0.0
            for k in range(j):
                dot += a[i, k] * a[j, k]
            a[i, j] = (a[i, j] - dot) / a[j, j]
        dot = 0.0
        for k in range(i):
            dot += a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i] - dot)
    total = 0.0
    for i in range(n):
        for j in range(i + 1):
            total += w[i, j] * a[i, j]
    return total


def seidel(a: Any, w: Any) -> Any:
    """Sweep 40 times over `a`: each inner cell becomes the mean of itself and its neighbours."""
    n, m = a.shape
    for _ in range(40):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += w[i, j] * a[i, j]
    return total


def gramschmidt(a: Any, w: Any) -> Any:
    """Factor `a` into `q @ r` column by column; `w` weighs `q` and, below it, `r`."""
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        dot = 0.0
        for i in range(m):
            dot += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(dot)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            dot = 0.0
            for i in range(m):
                dot += q[i, k] * a[i, j]
            r[k, j] = dot
            for i in range(m):
                a[i, j] -= q[i, k] * dot
    total = 0.0
    for i in range(m):
        for j in range(n):
            total += w[i, j] * q[i, j]
    for i in range(n):
        for j in range(i, n):
            total += w[m + i, j] * r[i, j]
    return total


def spd(rng: np.random.Generator, size: tuple[int, int]) -> Matrix:
    """Draw a well-conditioned symmetric positive definite matrix."""
    draw = rng.standard_normal(size)
    return np.ascontiguousarray(draw @ draw.T / size[0] + np.eye(size[0]))


def uniform(rng: np.random.Generator, size: tuple[int, int]) -> Matrix:
    return rng.random(size)


def normal(rng: np.random.Generator, size: tuple[int, int]) -> Matrix:
    return rng.standard_normal(size)


@dataclass(frozen=True)
class Kernel:
    """A loss, the size of its argument in the benchmark and how to draw one."""

    loss: Callable[[Any, Any], Any]
    size: tuple[int, int]
    small: tuple[int, int]  # for checks against differences
    draw: Callable[[np.random.Generator, tuple[int, int]], Matrix]
    extra_weights: bool = False  # weights for an n by n second output

    @property
    def name(self) -> str:
        return self.loss.__name__

    def arguments(self, size: tuple[int, int], seed: int = 0) -> tuple[Matrix, Matrix]:
        """Draw an argument and weights, the same for every process that asks."""
        rng = np.random.default_rng(seed)
        a = self.draw(rng, size)
        rows = size[0] + (size[1] if self.extra_weights else 0)
        return a, rng.standard_normal((rows, size[1]))


KERNELS = {
    kernel.name: kernel
    for kernel in [
        Kernel(cholesky, (300, 300), (13, 13), spd),
        Kernel(seidel, (200, 200), (9, 12), uniform),
        Kernel(gramschmidt, (220, 180), (17, 11), normal, extra_weights=True),
    ]
}
