"""Array expressions whose loop nests `test_nests` counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def cross_entropy(x: Any, labels: Any) -> Any:
    shifted = x - np.max(x, axis=1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.sum(labels * logs) / len(x)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    mean = np.mean(x, axis=1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=1, keepdims=True)
    return np.sum(np.sin((x - mean) / np.sqrt(variance + 1e-5) * scale + shift))


def two_layers(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    y = np.tanh(x @ w1 + b1) @ w2 + b2
    return np.sum(y * y)


def diffusion(x: Any, c: Any) -> Any:
    lap = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    flux = lap[:, 1:] - lap[:, :-1]
    limited = np.where(flux * (x[1:-1, 2:-1] - x[1:-1, 1:-2]) > 0.0, 0.0, flux)
    return np.sum((x[1:-1, 2:-2] - c[1:-1, 2:-2] * (limited[:, 1:] - limited[:, :-1])) ** 2)


def jacobi(a: Any, steps: int) -> Any:
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return np.sum(a * a)


def chain(x: Any, w: Any) -> Any:
    a = np.sin(x) * w
    b = np.exp(-a * a)
    return np.sum(np.sqrt(1.0 + b * x))


def rms_norm(x: Any, scale: Any) -> Any:
    size = np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-6)
    return np.sum(np.cos(x / size * scale))


def standardise(x: Any) -> Any:
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return np.sum(z**3)


def least_squares(a: Any, x: Any, b: Any) -> Any:
    return np.sum((a @ x - b) ** 2)


def logsumexp_rows(x: Any) -> Any:
    most = np.max(x, axis=1)
    return np.sum(most + np.log(np.sum(np.exp(x - most[:, None]), axis=1)))


def cosine(x: Any, y: Any) -> Any:
    dot = np.sum(x * y, axis=1)
    return np.sum(dot / np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1)))


def outer_and_rows(x: Any, y: Any, a: Any) -> Any:
    t = np.outer(x, y) + np.sum(a, axis=1)[:, None]
    return np.sum(t * t)


def difference(x: Any) -> Any:
    d = x[1:] - x[:-1]
    return np.sum(d * d)


def in_place(a: Any) -> Any:
    a = a * 1.0
    a[1:-1] = a[:-2] + a[2:]
    return np.sum(a * a)


def cumulative(x: Any, w: Any) -> Any:
    return np.sum(np.cumsum(x) * w)


def limiter(x: Any) -> Any:
    d = x[1:] - x[:-1]
    r = np.where(d[1:] * d[:-1] > 0.0, d[1:] * d[:-1], 0.0)
    return np.sum(r * x[1:-1])


def pairs(x: Any, y: Any) -> Any:
    d = x[:, None] - y[None, :]
    return np.sum(np.sqrt(d * d + 0.01))


def transposed(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x.T * y))


def variance(x: Any) -> Any:
    return np.sum(np.var(x, axis=0))


def gated(a: Any, b: Any) -> Any:
    return np.sum(np.tanh(a) * (1.0 / (1.0 + np.exp(-b))))


@dataclass(frozen=True)
class NestProgram:
    """A function, arguments, those that are differentiated, and why its loops are as they are."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    value: str
    gradient: str


def _x(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.1, 1.0, shape)


_I, _J, _K = 6, 7, 5

NEST_PROGRAMS: tuple[NestProgram, ...] = (
    NestProgram(
        cross_entropy,
        (_x(_I, _J), _x(_I, _J)),
        (0,),
        "A row needs its maximum before the exponentials, and their sum before the logarithm. "
        "`x - most` is made again: a subtraction is cheaper than to keep a row.",
        "One loop more: the sum of a row's cotangents is part of all of them. ✗ Exponentials "
        "go through the tape, a row of it; by hand they would lie where `shifted` does.",
    ),
    NestProgram(
        layer_norm,
        (_x(_I, _J), _x(_J), _x(_J)),
        (0, 1, 2),
        "Mean, deviations and value of a row each need the whole of what is before.",
        "The cotangents of mean and root are sums over a row, needed before those of `x` are "
        "finished. ✗ Two loops finish them, by hand it is one: deviations add up to 0, which "
        "adc does not know.",
    ),
    NestProgram(
        two_layers,
        (_x(_I, _J), _x(_J, _K), _x(_K), _x(_K, _I), _x(_I)),
        (0, 1, 2, 3, 4),
        "One nest behind each product, which BLAS makes. The hidden layer is written over the "
        "first product.",
        "The output's cotangent is made with the value, the hidden layer's behind its "
        "product: three arrays, for hidden layer, output and the hidden layer's cotangent.",
    ),
    NestProgram(
        diffusion,
        (_x(9, 9), _x(9, 9)),
        (0, 1),
        "All stages run row by row. Each reads neighbours of the one before, so two rows are kept.",
        "A row adds to three rows of `x`'s cotangent, so that reverse code waits for all "
        "forward code. Each stage has a loop for what is added and one that gathers it, one "
        "has another for fewer than two columns. ✗ Three numbers of each element go through "
        "the tape; by hand the row would be computed again.",
    ),
    NestProgram(
        jacobi,
        (_x(6, 6), 3),
        (0,),
        "The loop over steps, with one loop for each sweep, and the sum. `a` and `b` are both "
        "needed.",
        "Steps, value with the first cotangents, and steps in reverse, in the memory of `a` "
        "and `b`. The adjoint of a sweep has a loop for the rows in the middle and three for "
        "those at the border. ✗ Each sweep clears the cotangent of what it overwrote in a "
        "loop of its own; by hand gathering would assign.",
    ),
    NestProgram(
        chain,
        (_x(_I, _J), _x(_I, _J)),
        (0, 1),
        "One pass.",
        "One pass: cotangents follow at once.",
    ),
    NestProgram(
        rms_norm,
        (_x(_I, _J), _x(_J)),
        (0, 1),
        "The size of a row is needed before its elements are divided.",
        "The size's cotangent is a sum over the row, needed before those of `x` are finished.",
    ),
    NestProgram(
        standardise,
        (_x(_I, _J),),
        (0,),
        "Sums, means, squares, roots, cubes. ✗ `np.std` makes sums and means again: by hand 5 "
        "nests and 2 arrays. Means and roots could be parts of the nests behind them.",
        "All but the last nest have one in reverse. ✗ By hand there are 7, as the mean is "
        "made once and does not change the deviation: its cotangents there add up to 0.",
    ),
    NestProgram(
        least_squares,
        (_x(_I, _J), _x(_J), _x(_I)),
        (0, 1, 2),
        "A row's product is needed before its difference.",
        "The difference is needed before the row's cotangents.",
    ),
    NestProgram(
        logsumexp_rows,
        (_x(_I, _J),),
        (0,),
        "A row needs its maximum before its exponentials.",
        "Their sum is part of all cotangents. ✗ The exponentials go through the tape, a row "
        "of it; by hand they would lie in the cotangent of `x`.",
    ),
    NestProgram(
        cosine,
        (_x(_I, _J), _x(_I, _J)),
        (0, 1),
        "Three sums in one pass.",
        "The sums are parts of all cotangents of a row.",
    ),
    NestProgram(
        outer_and_rows,
        (_x(_I), _x(_J), _x(_I, _K)),
        (0, 1, 2),
        "The sum of a row of `a` is needed in its row of `t`.",
        "Its cotangent is a sum over that row of `t`, and goes to all of the row of `a`.",
    ),
    NestProgram(
        difference,
        (_x(8),),
        (0,),
        "One pass.",
        "Both differences are made again in the loop of an element's cotangent, which is one "
        "longer than that of the sum.",
    ),
    NestProgram(
        in_place,
        (_x(8),),
        (0,),
        "A copy, the right-hand side, which NumPy computes before anything is written, the "
        "assignment, the sum. ✗ By hand the middle two are one loop that carries the element "
        "overwritten last.",
        "The sum's loop makes cotangents, the assignment's takes them out, two gather (one "
        "for fewer than two elements). ✗ The last loop copies a cotangent that could be "
        "returned as it is. By hand 5.",
    ),
    NestProgram(
        cumulative,
        (_x(8), _x(8)),
        (0, 1),
        "✗ By hand one loop and no array. A loop whose iterations wait for each other is not "
        "merged with one that vectorises.",
        "One loop in reverse, as sums run the other way. ✗ Its array is a copy of `w`; by "
        "hand two loops and none.",
    ),
    NestProgram(
        limiter,
        (_x(8),),
        (0,),
        "One pass, in which both differences are made.",
        "The limiter's cotangents follow its value, those of `d` are gathered. ✗ The former "
        "add to two elements of `d`'s cotangent one after the other: by hand one loop that "
        "carries what the next element gets.",
    ),
    NestProgram(
        pairs,
        (_x(_I), _x(_J)),
        (0, 1),
        "One pass.",
        "One pass.",
    ),
    NestProgram(
        transposed,
        (_x(_I, _J), _x(_J, _I)),
        (0, 1),
        "One pass, in which `x` is read by columns.",
        "One pass.",
    ),
    NestProgram(
        variance,
        (_x(_I, _J),),
        (0,),
        "Sums, means, squares and the sum of the variances. Means could be part of the nest "
        "behind them.",
        "The squares' cotangents, the means', and these added to `x`'s. ✗ By hand one nest of "
        "these three, as deviations add up to 0, and two arrays: that of the variances' "
        "cotangents has one number in it.",
    ),
    NestProgram(
        gated,
        (_x(_I, _J), _x(_I, _J)),
        (0, 1),
        "One pass.",
        "One pass.",
    ),
)
