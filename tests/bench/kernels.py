"""The kernels: plain Python loops that change their argument in place, and array code.

The loss of one made of loops, `loss(a, w)`, is a sum of its outputs, weighted by `w`; the benchmark
wants value and gradient with respect to `a`. Those in `array_kernels` have other arguments.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench import array_kernels

# The arguments of a kernel; its value with its gradient, or gradients; calls that produce them.
Arguments = tuple[Any, ...]
ValueAndGrad = Callable[..., tuple[float, Any]]


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


Size = tuple[int, ...]


def spd(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a well-conditioned symmetric positive definite matrix, and weights."""
    draw = rng.standard_normal(size)
    a = np.ascontiguousarray(draw @ draw.T / size[0] + np.eye(size[0]))
    return a, rng.standard_normal(size)


def uniform(rng: np.random.Generator, size: Size) -> Arguments:
    return rng.random(size), rng.standard_normal(size)


def normal(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a matrix, and weights for two outputs of which the second is square."""
    rows, columns = size
    return rng.standard_normal(size), rng.standard_normal((rows + columns, columns))


def two_normal(rng: np.random.Generator, size: Size) -> Arguments:
    return rng.standard_normal(size), rng.standard_normal(size)


def labelled(rng: np.random.Generator, size: Size) -> Arguments:
    rows, classes = size
    return 2.0 * rng.standard_normal(size), rng.integers(0, classes, rows)


def normalised(rng: np.random.Generator, size: Size) -> Arguments:
    x, w = rng.standard_normal((2, *size))
    g, b = rng.standard_normal((2, size[1]))
    return x, 1.0 + 0.1 * g, b, w


def layers(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw the parameters of two layers, as they are initialised, and a batch."""
    batch, inputs, hidden, outputs = size
    w1 = rng.standard_normal((inputs, hidden)) / np.sqrt(inputs)
    w2 = rng.standard_normal((hidden, outputs)) / np.sqrt(hidden)
    b1, b2 = 0.1 * rng.standard_normal(hidden), 0.1 * rng.standard_normal(outputs)
    x, y = rng.standard_normal((batch, inputs)), rng.standard_normal((batch, outputs))
    return w1, b1, w2, b2, x, y


def plates(rng: np.random.Generator, size: Size) -> Arguments:
    steps, n = size
    return steps, *rng.random((2, n, n)), rng.standard_normal((n, n))


def fields(rng: np.random.Generator, size: Size) -> Arguments:
    i, j, k = size
    return rng.random((i + 4, j + 4, k)), rng.random(size), rng.standard_normal(size)


def clusters(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw parameters as ADBench does, and points; last the constants of the prior."""
    n, d, components = size
    icf = rng.standard_normal((components, d * (d + 1) // 2)) / np.sqrt(d)
    means = rng.random((components, d))
    return rng.standard_normal(components), means, icf, rng.standard_normal((n, d)), 1.0, 0.0


LOOPS = ("primal", "as written", "hand", "adc", "jax loops", "jax arrays")
ARRAYS = ("numpy", "adc", "jax arrays", "torch arrays", "autograd")
LIBRARY = ("jax library", "torch library")


@dataclass(frozen=True)
class Kernel:
    """A loss, the sizes of its arguments in the benchmark, how to draw them, and who has it.

    Sizes are those of NPBench or ADBench where the kernel is one of theirs. `wrt` has the positions
    of the arguments that it is differentiated with respect to, `changed` those of the arrays it
    changes in place.
    """

    loss: Callable[..., Any]
    medium: Size
    small: Size
    tiny: Size  # for checks against differences
    draw: Callable[[np.random.Generator, Size], Arguments]
    tools: tuple[str, ...]
    wrt: tuple[int, ...] = (0,)
    changed: tuple[int, ...] = ()
    suffix: str = ""  # where a loss stands in several sizes

    @property
    def name(self) -> str:
        return self.loss.__name__ + self.suffix

    def size(self, name: str) -> Size:
        """Return the size that is called S or M."""
        return {"S": self.small, "M": self.medium}[name]

    def arguments(self, size: Size, seed: int = 0) -> Arguments:
        """Draw arguments, the same for every process that asks."""
        return self.draw(np.random.default_rng(seed), size)


MIXTURE = ("primal", "as written", "hand", "adc", "jax arrays", "torch arrays", "autograd")
KERNELS = {
    kernel.name: kernel
    for kernel in [
        Kernel(
            cholesky, (300, 300), (100, 100), (13, 13), spd, (*LOOPS, "jax library"), changed=(0,)
        ),
        Kernel(seidel, (200, 200), (50, 50), (9, 12), uniform, LOOPS, changed=(0,)),
        Kernel(gramschmidt, (220, 180), (70, 60), (17, 11), normal, LOOPS, changed=(0,)),
        Kernel(
            array_kernels.chain, (10**6,), (10**4,), (7,), two_normal, ("hand", *ARRAYS), (0, 1)
        ),
        Kernel(
            array_kernels.softmax_ce, (1024, 512), (128, 64), (5, 4), labelled, (*ARRAYS, *LIBRARY)
        ),
        Kernel(
            array_kernels.layernorm,
            (1024, 512),
            (128, 64),
            (4, 5),
            normalised,
            (*ARRAYS, "torch library"),
            wrt=(0, 1, 2),
        ),
        Kernel(
            array_kernels.mlp,
            (256, 256, 256, 256),
            (32, 64, 64, 16),
            (3, 4, 5, 2),
            layers,
            ARRAYS,
            (0, 1, 2, 3),
        ),
        Kernel(array_kernels.jacobi, (60, 300), (50, 150), (3, 6), plates, ARRAYS, (1, 2), (1, 2)),
        Kernel(array_kernels.hdiff, (64, 64, 60), (16, 16, 20), (3, 4, 2), fields, ARRAYS, (0, 1)),
        Kernel(
            array_kernels.mixture,
            (10_000, 10, 25),
            (1_000, 10, 5),
            (5, 3, 4),
            clusters,
            MIXTURE,
            (0, 1, 2),
        ),
        Kernel(
            array_kernels.mixture,
            (1_000, 64, 25),
            (100, 64, 5),
            (3, 5, 2),
            clusters,
            MIXTURE,
            (0, 1, 2),
            suffix="64",
        ),
    ]
}
