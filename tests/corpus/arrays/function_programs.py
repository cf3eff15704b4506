"""Programs that use NumPy's functions and methods on arrays, and its types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests.corpus.arrays.array_programs import C234, I4, M23, M33, M34, MASK6, P33, weighted
from tests.corpus.program import P4, X3, X6, Program, recorder, uniform

FUNCTION_PROGRAMS: list[Program] = []
program = recorder(FUNCTION_PROGRAMS)

U6 = np.array([0.3, -0.45, 0.6, 0.2, -0.7, 0.1])  # inside (-1, 1)
Q6 = np.array([1.3, 2.45, 1.6, 3.2, 1.1, 2.0])  # beyond 1
F6 = X6.astype(np.float32)
F33 = M33.astype(np.float32)

# --- ufuncs ---------------------------------------------------------------------------------------


def _unary(fn: Any) -> Callable[..., Any]:
    def apply(x: Any) -> Any:
        return weighted(fn(x.reshape(2, 3)[:, ::-1]) * x[:3])

    return apply


def _binary(fn: Any) -> Callable[..., Any]:
    def apply(x: Any, y: Any) -> Any:
        return weighted(fn(x[:, None], y)) + weighted(fn(y, x[0])) + weighted(fn(1.25, x))

    return apply


def _enter(name: str, fn: Callable[..., Any], args: tuple[Any, ...], tags: str = "") -> None:
    argnums = tuple(range(len(args)))
    FUNCTION_PROGRAMS.append(Program(name, fn, args, argnums, frozenset(tags.split())))


_UNARY: list[tuple[Any, Any]] = [
    *((fn, X6) for fn in
      (np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.exp, np.exp2,
       np.expm1, np.cbrt, np.square, np.reciprocal, np.negative, np.positive, np.absolute, np.fabs,
       np.sign, np.floor, np.ceil, np.trunc, np.rint, np.deg2rad, np.rad2deg, np.sinc, np.i0,
       scipy.special.expit)),
    *((fn, U6) for fn in (np.arcsin, np.arccos, np.arctanh, np.log1p)),
    *((fn, Q6) for fn in (np.sqrt, np.log, np.log2, np.log10, np.arccosh)),
]  # fmt: skip
for _fn, _at in _UNARY:
    _enter(f"ufunc_{_fn.__name__}", _unary(_fn), (_at,))

_BINARY = (np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power, np.arctan2,
           np.hypot, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2,
           np.copysign, np.fmod, np.mod, np.floor_divide, np.heaviside)  # fmt: skip
for _fn in _BINARY:
    _enter(f"ufunc_{_fn.__name__}", _binary(_fn), (P4, Q6[:3]))


@program(M34, X3, argnums=(0, 1))
def broadcasting(x: Any, v: Any) -> Any:
    return (
        weighted(x * v[:, None] - v.reshape(3, 1) / (2.0 + x * x))
        + weighted(v[:, None] * v)
        + weighted(v[:, None, None] + x[None] * x[0])
        + weighted(2 - x)
        + weighted(1.0 / (v + 3.0))
        + weighted(2.0**v)
    )


@program(M34)
def operators_on_arrays(x: Any) -> Any:
    y = -x + 2 * x - x / 3 + x**2 + abs(x) * +x
    y = y + x % 0.7 + x // 0.3
    return weighted(y) + weighted((x * x) ** 0.5) + weighted(np.divmod(x, 0.7)[1])


@program(X6, smooth=False)
def comparisons_and_logic(x: Any) -> Any:
    m = (x > 0.0) & ~(x >= 2.0) | (x != x[0]) ^ (x == x[1])
    k = np.logical_and(x < 1.0, np.logical_not(x <= -1.0))
    j = np.logical_or(m, k) & np.logical_xor(m, x > 0.5)
    return np.sum(x[m]) + np.sum(x * k) * 2.0 + weighted(np.where(j, x, -x))


@program(X6, smooth=False)
def ufunc_outputs(x: Any) -> Any:
    a = np.zeros(6)
    np.multiply(x, x, out=a)
    np.add(a, 1.0, a)
    b = np.empty((2, 6))
    np.sin(a, out=b[0])
    np.exp(b[0], out=b[1])
    np.sum(b, axis=0, out=a)
    return weighted(a) + weighted(b)


@program(M34)
def ufunc_methods(x: Any) -> Any:
    return (
        weighted(np.add.reduce(x))
        + weighted(np.multiply.reduce(x, axis=1))
        + np.maximum.reduce(x, axis=None)
        + weighted(np.minimum.reduce(x, axis=0, keepdims=True))
        + weighted(np.add.accumulate(x, axis=1))
        + weighted(np.multiply.accumulate(x))
        + weighted(np.multiply.outer(x[0], x[:, 0]))
        + weighted(np.subtract.outer(x[1], x[:2]))
    )


# --- reductions -----------------------------------------------------------------------------------


@program(C234)
def sum_axes(x: Any) -> Any:
    return (
        np.sum(x)
        + weighted(np.sum(x, axis=1))
        + weighted(x.sum(axis=(0, 2)))
        + weighted(x.sum(-1, keepdims=True))
        + weighted(np.sum(x, axis=(0, 1, 2), keepdims=True))
        + np.sum(x, axis=(-1, 0, 1))
        + weighted(x.sum(0))
    )


@program(M34)
def sum_where_initial_out(x: Any) -> Any:
    m = np.array([[True, False, True, True], [False, False, True, False], [True] * 4])
    a = np.empty(4)
    r = np.sum(x, axis=0, where=m, out=a)
    return (
        weighted(a)
        + weighted(r * r)
        + np.sum(x, where=x > 0.0)
        + np.sum(x, initial=2.0)
        + weighted(np.sum(x * x, axis=1, where=m, keepdims=True, initial=0.5))
    )


@program(M34)
def prod_axes(x: Any) -> Any:
    return (
        np.prod(x)
        + weighted(np.prod(x, axis=0))
        + weighted(x.prod(axis=-1, keepdims=True))
        + np.prod(x, where=x > 0.0)
        + np.prod(x, axis=(0, 1), initial=3.0)
    )


@program(np.array([0.5, 0.0, -2.0, 3.0]))
def prod_with_a_zero(x: Any) -> Any:
    return np.prod(x) + np.sum(x * x)


@program(np.array([0.5, 0.0, 0.0, 3.0]), tags="constant")
def prod_with_two_zeros(x: Any) -> Any:
    return np.prod(x)


@program(C234)
def mean_axes(x: Any) -> Any:
    return (
        x.mean()
        + weighted(x.mean(axis=(0, 2)))
        + weighted(np.mean(x, axis=1, keepdims=True) * x)
        + weighted(np.mean(x, axis=0, where=x[:1] > -9.0))
    )


@program(M34)
def average_weights(x: Any) -> Any:
    return np.mean(x * np.arange(4.0)) + weighted(np.mean(x, -1))


@program(M34)
def var_and_std(x: Any) -> Any:
    return (
        np.var(x)
        + weighted(np.var(x, axis=0, ddof=1))
        + weighted(x.var(axis=1, keepdims=True))
        + np.std(x, ddof=2)
        + weighted(x.std(axis=-1))
        + weighted(np.std(x, axis=(0, 1), keepdims=True))
        + weighted(np.std(x, axis=0, where=x > -10.0))
    )


@program(M34)
def extremes(x: Any) -> Any:
    return (
        np.max(x) * np.min(x)
        + weighted(x.max(axis=0))
        + weighted(np.min(x, axis=-1, keepdims=True))
        + weighted(np.amax(x, axis=1) - np.amin(x, axis=1))
        + np.max(x, axis=(0, 1))
        + weighted(np.max(x, axis=0, initial=0.1))
        + np.min(x, where=x > 0.0, initial=9.0)
    )


@program(np.array([1.5, -0.5, 1.5, -0.5]), tags="primal-only")
def extremes_of_ties(x: Any) -> Any:
    return np.argmax(x), np.argmin(x), np.max(x), x.argmax()


@program(C234)
def ptp_axes(x: Any) -> Any:
    return np.ptp(x) + weighted(np.ptp(x, axis=1)) + weighted(np.ptp(x, axis=(0, 2), keepdims=True))


@program(M34)
def arg_extremes_as_indices(x: Any) -> Any:
    k = np.argmax(x, axis=1)
    j = x.argmin(axis=0)
    flat = np.argmax(x)
    return weighted(x[np.arange(3), k]) + weighted(x[j, np.arange(4)]) + x.ravel()[flat] ** 2


@program(M34, tags="primal-only")
def arg_extremes(x: Any) -> Any:
    return (
        np.argmax(x),
        x.argmin(),
        np.argmax(x, axis=0),
        np.argmin(x, axis=-1),
        np.argmax(x, axis=1, keepdims=True),
    )


@program(M34, tags="primal-only")
def any_all_counts(x: Any) -> Any:
    m = x > 0.2
    return (
        np.any(m),
        m.all(),
        np.any(m, axis=0),
        np.all(x > -0.9, axis=1, keepdims=True),
        np.count_nonzero(m),
        np.count_nonzero(m, axis=1),
        m.sum(),
        m.sum(axis=0),
        m.mean(),
        np.all(m, where=x > 0.0),
        x.any(),
    )


@program(M34)
def any_all_decide(x: Any) -> Any:
    s = 0.0
    for row in x:
        if np.any(row > 0.9) or (row < -0.5).all():
            s += row[0] * 2.0
        elif not np.all(row > 0.0):
            s += np.sum(row * row)
    return s


@program(C234)
def cumulative(x: Any) -> Any:
    return (
        weighted(np.cumsum(x))
        + weighted(x.cumsum(axis=1))
        + weighted(np.cumsum(x, axis=-1))
        + weighted(np.cumprod(x[0], axis=0))
        + weighted(x[1, 1].cumprod())
        + weighted(np.cumsum(x, 0))
    )


@program(np.array([0.5, 0.0, -2.0, 3.0]))
def cumprod_with_a_zero(x: Any) -> Any:
    return weighted(np.cumprod(x))


# --- shapes ---------------------------------------------------------------------------------------


@program(C234)
def transposes(x: Any) -> Any:
    return (
        weighted(np.transpose(x))
        + weighted(x.transpose(1, 2, 0))
        + weighted(np.transpose(x, (2, 0, 1)))
        + weighted(x.T)
        + weighted(np.swapaxes(x, 0, 2))
        + weighted(np.moveaxis(x, [0, 1], [2, 0]))
        + weighted(np.moveaxis(x, 2, 0))
    )


@program(C234)
def reshapes(x: Any) -> Any:
    return (
        weighted(x.reshape(6, 4))
        + weighted(np.reshape(x, (4, -1)))
        + weighted(x.reshape(-1))
        + weighted(x.ravel() * np.ravel(x[::-1]))
        + weighted(x[:, 1].flatten())
        + weighted(x.reshape((x.shape[0], -1)))
        + weighted(np.squeeze(x[:1], axis=0))
        + weighted(np.expand_dims(x, (0, 2)))
    )


@program(X3, 4)
def broadcast_to_runtime_shape(v: Any, n: Any) -> Any:
    a = np.broadcast_to(v, (n, 3))
    b = np.broadcast_to(v[:, None], (3, n))
    return weighted(a * a) + weighted(b) + weighted(np.broadcast_to(v[0], (2, 2)))


@program(M34)
def concatenations(x: Any) -> Any:
    return (
        weighted(np.concatenate([x, x[:1] * 2.0]))
        + weighted(np.concatenate((x, x[:, ::-1], x[:, :1]), axis=1))
        + weighted(np.concatenate([x[0], x[:, 0], np.zeros(2)]))
        + weighted(np.concatenate((x, x), axis=None))
    )


@program(M34)
def stacks(x: Any) -> Any:
    a, b = x[0], x[1] * x[2]
    return (
        weighted(np.stack([a, b]))
        + weighted(np.stack((a, b, a), axis=1))
        + weighted(np.stack([x, x * x], axis=-1))
        + weighted(np.hstack([a, b]))
        + weighted(np.hstack((x, x)))
        + weighted(np.vstack([a, x]))
        + weighted(np.column_stack([a, b, x.T]))
        + weighted(np.dstack([x, x]))
    )


@program(M34)
def array_from_lists(x: Any) -> Any:
    a = np.array([x[0, 0], 2.0, x[1, 2] * x[2, 1]])
    b = np.array([[x[0, 1], 1], [x[2, 3], x[0, 0]]])
    c = np.array([x[0], x[1] ** 2])
    return weighted(a) + weighted(b @ b) + weighted(c) + weighted(np.asarray(x))


@program(uniform(7, 6, 4))
def splits(x: Any) -> Any:
    a, b, c = np.split(x, 3)
    left, right = np.split(x, [1], axis=1)
    parts = np.split(x[:, 0], [1, 4])
    s = weighted(a * b - c) + weighted(left * right)
    for part in parts:
        s += weighted(part)
    return s + weighted(np.vsplit(x, 2)[1]) + weighted(np.hsplit(x, 2)[0])


@program(M23)
def tiles_and_repeats(x: Any) -> Any:
    return (
        weighted(np.tile(x[0], 2))
        + weighted(np.tile(x, (2, 1)))
        + weighted(np.tile(x, (2, 1, 2)))
        + weighted(np.repeat(x, 2))
        + weighted(np.repeat(x, 3, axis=1))
        + weighted(np.repeat(x, [2, 1], axis=0))
        + weighted(x.repeat(2, axis=0))
        + weighted(np.repeat(x[0], np.array([0, 2, 1])))
    )


@program(M34)
def pads(x: Any) -> Any:
    return (
        weighted(np.pad(x, 1))
        + weighted(np.pad(x, ((1, 0), (2, 1))))
        + weighted(np.pad(x, (0, 2), mode="edge"))
        + weighted(np.pad(x, 1, mode="constant", constant_values=2.0))
        + weighted(np.pad(x[0], (2, 3), mode="reflect"))
        + weighted(np.pad(x[0], 2, mode="symmetric"))
        + weighted(np.pad(x, ((0, 0), (1, 1)), mode="wrap"))
    )


@program(M34)
def flips_and_rolls(x: Any) -> Any:
    return (
        weighted(np.flip(x))
        + weighted(np.flip(x, 0))
        + weighted(np.flip(x, axis=(0, 1)))
        + weighted(np.fliplr(x) * np.flipud(x))
        + weighted(np.roll(x, 1))
        + weighted(np.roll(x, -2, axis=1))
        + weighted(np.roll(x, (1, 2), axis=(0, 1)))
        + weighted(np.roll(x[0], 5))
        + weighted(np.rot90(x))
        + weighted(np.rot90(x, 2))
        + weighted(np.rot90(x, -1))
    )


@program(X6, 2)
def roll_by_runtime_shift(x: Any, k: Any) -> Any:
    return weighted(np.roll(x, k)) + weighted(np.roll(x, -k) * x)


@program(M34)
def differences(x: Any) -> Any:
    return (
        weighted(np.diff(x))
        + weighted(np.diff(x, axis=0))
        + weighted(np.diff(x, n=2))
        + weighted(np.diff(x[0] ** 2))
        + weighted(np.diff(x, 2, 0))
    )


@program(M34)
def triangles_and_diagonals(x: Any) -> Any:
    return (
        weighted(np.tril(x))
        + weighted(np.triu(x, 1))
        + weighted(np.tril(x, -1) * 2.0)
        + weighted(np.diag(x))
        + weighted(np.diag(x[0]))
        + weighted(np.diag(x[0], 1))
        + weighted(np.diag(x, -1))
    )


@program(M33, 3)
def constructors(x: Any, n: Any) -> Any:
    a = np.eye(n) + np.identity(3) * x + np.eye(3, k=1) - np.ones((n, n)) * 0.5
    b = np.zeros_like(x) + np.ones_like(x) * 2.0 + np.full((n, 3), 0.25) + np.full_like(x, 3.0)
    c = np.empty((n, n))
    c[:] = x
    c.fill(0.125)
    t = np.tri(3)
    return weighted(a @ b) + weighted(x * c * t)


@program(X6)
def ranges(x: Any) -> Any:
    n = len(x)
    t = np.linspace(0.0, 1.0, n)
    s = np.linspace(0, 2, 6, endpoint=False)
    return (
        weighted(x * np.arange(n))
        + weighted(x * np.arange(1, 12, 2))
        + weighted(x * np.arange(6.0, 0.0, -1.0))
        + weighted(x**2 * t)
        + weighted(x * s)
        + weighted(np.linspace(x[0], x[2], 4))
        + weighted(np.arange(0.0, 1.0, 0.25) * x[0])
    )


@program(X3, X6)
def grids(x: Any, y: Any) -> Any:
    a, b = np.meshgrid(x, y)
    c, d = np.meshgrid(x, y, indexing="ij")
    i, j = np.indices((3, 3))
    return weighted(a * b) + weighted(c - d * c) + weighted((i - 2 * j) * x)


@program(M34)
def where_forms(x: Any) -> Any:
    return (
        weighted(np.where(x > 0.0, x, 0.1 * x))
        + weighted(np.where(x > 0.0, 1.0, x * x))
        + weighted(np.where(x[:, :1] > 0.0, x, x[0]))
        + np.where(x[0, 0] > 0.0, x[0, 1], x[1, 0])
    )


@program(X6)
def where_guards_a_pole(x: Any) -> Any:
    safe = np.where(x > 0.0, x, 1.0)
    return weighted(np.where(x > 0.0, np.log(safe), 0.0)) + weighted(np.sqrt(np.maximum(x, 0.25)))


@program(M34)
def selects(x: Any) -> Any:
    a = np.select([x > 0.5, x > 0.0], [x * x, 2.0 * x], default=-1.0)
    b = np.select([x[0] < -0.5, x[0] < 0.5], [x[1], x[2] ** 2])
    return weighted(a) + weighted(b)


@program(M34)
def clips(x: Any) -> Any:
    return (
        weighted(np.clip(x, -0.5, 0.5))
        + weighted(x.clip(0.0))
        + weighted(np.clip(x, None, x[0] + 0.1))
        + weighted(x.clip(min=-0.3, max=0.7))
        + weighted(np.clip(x[0], x[1] - 1.0, 2.0))
    )


@program(M34)
def takes(x: Any) -> Any:
    i = np.array([[2, 0], [1, -1]])
    return (
        weighted(np.take(x, i))
        + weighted(np.take(x, [0, 2], axis=0))
        + weighted(x.take(i, axis=1))
        + weighted(np.take(x, 1, axis=-1))
        + weighted(np.take(x[0], [5, -7, 2], mode="wrap"))
        + weighted(np.take(x[0], [5, -7, 2], mode="clip"))
    )


@program(M34)
def takes_along_axis(x: Any) -> Any:
    k = np.argmax(x, axis=1)[:, None]
    i = np.array([[0, 2, 1, 1], [2, 2, 0, 0]])
    a = x * 1.0
    np.put_along_axis(a, k, 0.5, axis=1)
    return (
        weighted(np.take_along_axis(x, k, axis=1))
        + weighted(np.take_along_axis(x, i, axis=0))
        + weighted(a)
    )


@program(X6)
def puts(x: Any) -> Any:
    a = x * x
    np.put(a, [0, -1, 2], [7.0, 8.0, 9.0])
    np.put(a, np.array([1, 3]), x[4:] * 2.0)
    a.put([4], x[0])
    np.putmask(a, a > 7.5, x[0])
    np.copyto(a[:2], x[2:4])
    return weighted(a)


@program(M34)
def compresses(x: Any) -> Any:
    return (
        weighted(np.compress([True, False, True], x, axis=0))
        + weighted(np.compress(x[0] > 0.0, x, axis=1))
        + weighted(np.compress(x.ravel() > 0.0, x))
        + weighted(x.compress([False, True], axis=0))
        + weighted(np.extract(x > 0.0, x))
    )


@program(X6, tags="primal-only")
def finders(x: Any) -> Any:
    m = x.reshape(2, 3)
    return (
        np.nonzero(x > 0.0)[0],
        np.argwhere(m > 0.0),
        np.flatnonzero(x > 0.0),
        np.where(m < 0.0)[1],
        np.count_nonzero(x),
        m.nonzero()[0],
    )


@program(np.array([0.1, 0.5, 1.5, 2.5]), X6)
def searchsorted_interpolates(grid: Any, x: Any) -> Any:
    k = np.clip(np.searchsorted(grid, np.abs(x)), 1, 3)
    t = (np.abs(x) - grid[k - 1]) / (grid[k] - grid[k - 1])
    return weighted(t) + grid[np.searchsorted(grid, 0.7)]


@program(np.array([0.5, 1.5, 1.5, 2.5]), tags="primal-only")
def searchsorted_sides(grid: Any) -> Any:
    at = np.array([0.0, 0.5, 1.5, 2.0, 9.0])
    return (
        np.searchsorted(grid, at),
        np.searchsorted(grid, at, side="right"),
        grid.searchsorted(1.5),
        np.searchsorted(grid, 1.5, side="right"),
    )


@program(np.array([0.7, np.nan, np.inf, -np.inf, 2.0]), tags="primal-only")
def finite_tests(x: Any) -> Any:
    return (
        np.isfinite(x),
        np.isnan(x),
        np.isinf(x),
        np.nan_to_num(x),
        np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0),
        np.fmax(x, 1.0),
        np.maximum(x, 1.0),
        np.max(x),
        np.argmax(x),
        np.where(np.isfinite(x), x, 0.0),
    )


@program(X6)
def finite_tests_in_gradients(x: Any) -> Any:
    y = np.where(np.isfinite(x) & ~np.isnan(x), x, 0.0)
    return weighted(np.nan_to_num(x) * y)


@program(X6 * 1.7)
def rounding(x: Any) -> Any:
    return (
        weighted(x - np.round(x))
        + weighted(x * np.round(x, 1))
        + weighted(x.round() * x)
        + weighted(np.sign(x) * x)
        + weighted(np.copysign(x, -x[::-1]))
        + weighted(np.floor(x) * x + np.ceil(x))
    )


@program(np.array([0, 2, 1, 2, 0, 4]), X6, argnums=(1,))
def bincount_weights(k: Any, x: Any) -> Any:
    return (
        weighted(np.bincount(k, weights=x * x))
        + weighted(np.bincount(k, x, minlength=8))
        + weighted(np.bincount(k) * x[:5])
    )


@program(np.array([3, 0, 1, 1]), tags="primal-only")
def bincounts(k: Any) -> Any:
    return np.bincount(k), np.bincount(k, minlength=6)


@program(X6)
def constants_of_numpy(x: Any) -> Any:
    return weighted(np.pi * x) + np.e * x[0] + weighted(np.minimum(x, np.inf))


@program(C234)
def attributes(x: Any) -> Any:
    n, m, k = x.shape
    return weighted(x * n) + weighted(x / x.size) + weighted(x[0] * x.ndim) + len(x) * m - k


@program(M34)
def copies(x: Any) -> Any:
    a, b = x.copy(), np.copy(x)
    a[0] = 1.0
    b[1] *= 2.0
    c = np.array(x)
    c[2] = 0.0
    d = x.astype(np.float64)
    d[0, 0] = 7.0
    return weighted(a) + weighted(b) + weighted(c) + weighted(d) + weighted(x)


# --- types ----------------------------------------------------------------------------------------


@program(F6, tags="float32")
def single_elementwise(x: Any) -> Any:
    y = np.sin(x) * x + 2 * x - x / 3.0
    return np.sum(y * y)


@program(F33, X3, argnums=(0, 1), tags="float32")
def single_with_double(a: Any, v: Any) -> Any:
    return weighted(a @ v) + weighted(a * v) + np.sum(a.astype(np.float64) ** 2)


@program(F33, tags="float32")
def single_reductions(a: Any) -> Any:
    return np.sum(a.mean(axis=0) * a.std(axis=1)) + np.max(a) * np.prod(a[0]) + np.sum(np.dot(a, a))


@program(X6, tags="float32")
def single_buffer(x: Any) -> Any:
    a = np.zeros(6, dtype=np.float32)
    a[:] = x * x
    a += x
    a[1:3] *= np.float32(1.5)
    return np.sum(a * x)


@program(X6, tags="float32")
def single_by_astype(x: Any) -> Any:
    a = x.astype(np.float32)
    return np.sum(np.exp(a) * a) + np.sum(a)


@program(F6, np.arange(6), np.arange(6, dtype=np.int16), tags="float32 primal-only")
def promotion_of_arrays(f: Any, i: Any, h: Any) -> Any:
    m = i > 2
    return (
        f + i, f + h, f * 2, f * 2.0, f + np.float64(1.0), f + m, i / 2, h / 2, i // 2, i * 2.0,
        h * 3, h + i, m + m, m * 2, m & (h > 1), i % 3, -i, i**2, np.sqrt(i), np.sum(h),
        np.mean(h), np.sum(m), np.cumsum(h), f.sum(), f.mean(), np.float32(2) * i, i & 3, i << 1,
        ~i, np.abs(-h), np.maximum(h, i), np.where(m, f, 0), np.where(m, i, 1.5),
    )  # fmt: skip


@program(X6, tags="primal-only")
def conversions(x: Any) -> Any:
    return (
        x.astype(int),
        x.astype(np.int32),
        x.astype(bool),
        x.astype("float32"),
        (x > 0).astype(float),
        (x > 0).astype(np.int64),
        np.array([1, 2, 3], dtype=float),
        np.array([True, False]),
        np.arange(3, dtype=np.float32),
        np.zeros(2, dtype=np.int64),
        np.ones(2, dtype=bool),
        np.full(2, 7),
        np.full(2, True),
    )


@program(np.arange(6).reshape(2, 3), X6, argnums=(1,))
def integer_arrays_as_data(k: Any, x: Any) -> Any:
    a = k * 2 + 1
    a[0, 1] += 3
    a[1] //= 2
    return weighted(a * x.reshape(2, 3)) + np.sum(k) * x[0] + x[a[0, 0]] + k.max() * x[1]


@program(MASK6, X6, argnums=(1,))
def bool_arrays_as_data(m: Any, x: Any) -> Any:
    k = m & (x > 0.0)
    k[0] = not k[0]
    n = m.sum()
    s = 0.0
    for i in range(6):
        if k[i]:
            s += x[i] ** 2
    return s + weighted(m * x) + n * x[0] + weighted(np.where(~k, x, 0.0))


@program(I4, X6, argnums=(1,))
def integers_accumulate(k: Any, x: Any) -> Any:
    counts = np.zeros(3, dtype=np.int64)
    for i in k:
        counts[i] += 1
    starts = np.cumsum(counts) - counts
    return weighted(x[starts] * counts) + weighted(x[k])


@program(np.arange(4, dtype=np.int32), tags="primal-only")
def small_integers(k: Any) -> Any:
    return k + 1, k * k, k / 2, k.sum(), k.prod(), k.max(), np.arange(4) + k, k > 1


@program(X6)
def object_of_dtype(x: Any) -> Any:
    y = np.zeros(x.shape, dtype=x.dtype)
    y += x
    z = np.empty_like(x)
    z[...] = y * 2.0
    return weighted(z)


@program(P33)
def array_methods(x: Any) -> Any:
    return (
        x.sum() + x.mean() + x.max() - x.min() + x.std() + x.var() + x.trace()
        + weighted(x.dot(x)) + weighted(x.cumsum()) + weighted(x.ravel()) + weighted(x.T.flatten())
        + weighted(x.prod(axis=0)) + weighted(x.diagonal()) + weighted(x.squeeze())
        + weighted(x.swapaxes(0, 1)) + x.item(3) + x.flatten()[2]
    )  # fmt: skip
