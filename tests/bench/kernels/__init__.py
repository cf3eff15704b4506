"""Kernels, and their table: how arguments are drawn, in which sizes, and which tools have them.

================  ================================================================================
`loop_kernels`    loops over the elements of arrays
`array_kernels`   array expressions
`as_written`      value and gradient by hand in Numba, in the order of the program
`hand`            the same, reorganised to be fast; `hand_arrays` those of the array kernels
================  ================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench.kernels import array_kernels, loop_kernels

# The arguments of a kernel; its value with its gradient, or gradients; calls that produce them.
Arguments = tuple[Any, ...]
ValueAndGrad = Callable[..., tuple[float, Any]]
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


def triangle(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a well-conditioned triangular matrix, a right-hand side, and weights."""
    (n,) = size
    lower = np.tril(rng.standard_normal((n, n))) / n + np.diag(1.0 + rng.random(n))
    return lower, *rng.standard_normal((2, n))


def dominant(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a matrix that needs no pivoting, and weights."""
    a = rng.standard_normal(size) / np.sqrt(size[0]) + 3.0 * np.eye(size[0])
    return a, rng.standard_normal(size)


def decaying(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw what makes a positive definite Toeplitz matrix, and weights."""
    (n,) = size
    return 0.1 * rng.standard_normal(n) / np.arange(1, n + 1) ** 1.2, rng.standard_normal(n)


def bodies(rng: np.random.Generator, size: Size) -> Arguments:
    steps, n = size
    pos, vel = rng.standard_normal((2, n, 3))
    return steps, pos, 0.1 * vel, (1.0 + rng.random(n)) / n, rng.standard_normal((2, n, 3))


def species(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw pairs of a prey and a predator, hardly coupled."""
    end, pairs = size
    n = 2 * pairs
    growth = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) * (1.0 + 0.1 * rng.random(n))
    effect = -0.001 * rng.random((n, n))
    for i in range(0, n, 2):
        effect[i, i + 1] -= 1.0
        effect[i + 1, i] += 1.0
    return end, 1.0 + rng.random(n), growth, effect, rng.standard_normal(n)


def sparse(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw a matrix with rows of zero to fifteen entries at places in no order."""
    steps, n = size
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 16, n))])
    values = 0.5 * rng.standard_normal(starts[-1])
    columns = rng.integers(0, n, starts[-1])
    return steps, values, columns, starts, *rng.standard_normal((2, n))


def cubes(rng: np.random.Generator, size: Size) -> Arguments:
    steps, n = size
    return steps, *rng.random((2, n, n, n)), rng.standard_normal((n, n, n))


def columns(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw five fields, of which one has a row more, and weights."""
    utens_stage, u_stage, u_pos, utens = rng.random((4, *size))
    wcon = 0.3 * rng.random((size[0] + 1, *size[1:]))  # so that no pivot is small
    return utens_stage, u_stage, wcon, u_pos, utens, 3.0 / 20.0, rng.standard_normal(size)


def square_and_factor(rng: np.random.Generator, size: Size) -> Arguments:
    rows = size[0]
    c, w = rng.standard_normal((2, rows, rows))
    return 1.5, 1.2, c, rng.standard_normal(size), w


def windows(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw images, windows and a bias, and weights; sizes are called as in NPBench."""
    N, C_in, C_out, K, H, W = size
    images, weights = rng.random((N, H, W, C_in)), rng.random((K, K, C_in, C_out))
    w = rng.standard_normal((N, H - K + 1, W - K + 1, C_out))
    return images, weights, rng.random(C_out), w


def factors(rng: np.random.Generator, size: Size) -> Arguments:
    rows, columns, inner = size
    c, w = rng.standard_normal((2, rows, columns))
    a, b = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    return 1.5, 1.2, c, a, b, w


def matrix_and_vector(rng: np.random.Generator, size: Size) -> Arguments:
    x, w = rng.standard_normal((2, size[1]))
    return rng.standard_normal(size), x, w


def characters(rng: np.random.Generator, size: Size) -> Arguments:
    """Draw weights, a state, and characters as they are encoded."""
    length, layers, b = size
    main = rng.standard_normal((2 * layers, 4 * b)) / 2.0
    extra, state = rng.standard_normal((3, b)), rng.standard_normal((2 * layers, b))
    return main, extra, state, np.eye(b)[rng.integers(0, b, length)]


LOOPS = ("primal", "as written", "hand", "adc", "jax loops", "jax arrays", "enzyme")
RECURSIONS = ("primal", "as written", "adc", "jax arrays", "enzyme")
ARRAYS = ("numpy", "hand", "adc", "jax arrays", "torch arrays", "autograd")
SLICES = ("primal", *ARRAYS)  # Numba compiles these, too
LIBRARY = ("jax library", "torch library")


@dataclass(frozen=True)
class Kernel:
    """A loss, the sizes of its arguments in the benchmark, how to draw them, and who has it.

    Sizes are those of NPBench or ADBench where the kernel is one of theirs, but smaller where a
    gradient would take longer than a fifth of a second. `wrt` has the positions
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


MIXTURE = (
    "primal",
    "as written",
    "hand",
    "adc",
    "jax arrays",
    "torch arrays",
    "autograd",
    "enzyme",
)
KERNELS = {
    kernel.name: kernel
    for kernel in [
        Kernel(
            loop_kernels.cholesky,
            (300, 300),
            (100, 100),
            (13, 13),
            spd,
            (*LOOPS, "jax library"),
            changed=(0,),
        ),
        Kernel(loop_kernels.seidel, (200, 200), (50, 50), (9, 12), uniform, LOOPS, changed=(0,)),
        Kernel(
            loop_kernels.gramschmidt, (220, 180), (70, 60), (17, 11), normal, LOOPS, changed=(0,)
        ),
        Kernel(array_kernels.chain, (10**6,), (10**4,), (7,), two_normal, SLICES, (0, 1)),
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
            SLICES,
            (0, 1, 2, 3),
        ),
        Kernel(array_kernels.jacobi, (60, 300), (50, 150), (3, 6), plates, SLICES, (1, 2), (1, 2)),
        Kernel(array_kernels.hdiff, (64, 64, 60), (16, 16, 20), (3, 4, 2), fields, SLICES, (0, 1)),
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
        Kernel(loop_kernels.lu, (220, 220), (60, 60), (9, 9), dominant, LOOPS, changed=(0,)),
        # NPBench's S: its M is a matrix of 200 MB.
        Kernel(
            loop_kernels.trisolv,
            (2000,),
            (400,),
            (7,),
            triangle,
            ("primal", "as written", "hand", "adc", "jax loops", "jax library", "enzyme"),
            (0, 1),
        ),
        Kernel(loop_kernels.durbin, (6000,), (1000,), (8,), decaying, LOOPS),
        Kernel(loop_kernels.nbody, (250, 50), (40, 25), (3, 4), bodies, LOOPS, (1, 2, 3), (1, 2)),
        Kernel(loop_kernels.ode, (500, 2), (50, 2), (2, 1), species, RECURSIONS, (1, 2, 3)),
        # The rows of NPBench's M and S, four times as full.
        Kernel(loop_kernels.csr, (10, 32768), (10, 4096), (3, 6), sparse, RECURSIONS, (1, 4)),
        Kernel(
            array_kernels.heat,
            (50, 40),
            (25, 25),
            (3, 5),
            cubes,
            (*SLICES, "enzyme"),
            (1, 2),
            (1, 2),
        ),
        Kernel(
            array_kernels.vadv,
            (112, 112, 80),
            (60, 60, 40),
            (3, 4, 5),
            columns,
            SLICES,
            (0, 1, 2, 3, 4),
            (0,),
        ),
        Kernel(
            array_kernels.syrk,
            (150, 200),
            (50, 70),
            (4, 3),
            square_and_factor,
            (*SLICES, "as written", "jax loops"),
            (2, 3),
            (2,),
        ),
        Kernel(
            array_kernels.conv2d,
            (8, 3, 8, 5, 64, 64),
            (8, 3, 16, 2, 32, 32),
            (2, 3, 2, 2, 4, 5),
            windows,
            SLICES,
            (0, 1, 2),
        ),
        # A fifth and a tenth of NPBench's M and S a side.
        Kernel(
            array_kernels.gemm,
            (500, 550, 600),
            (100, 110, 120),
            (3, 4, 5),
            factors,
            SLICES,
            (2, 3, 4),
            (2,),
        ),
        Kernel(
            array_kernels.atax,
            (2000, 2500),
            (400, 500),
            (4, 5),
            matrix_and_vector,
            SLICES,
            (0, 1),
        ),
        Kernel(
            array_kernels.lstm,
            (1024, 2, 14),
            (128, 2, 14),
            (4, 2, 3),
            characters,
            (*SLICES, "enzyme"),
            (0, 1),
            (2,),
        ),
    ]
}
