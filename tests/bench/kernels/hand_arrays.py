"""Value and gradient of array kernels written by hand in Numba; see `hand`.

Transcendental functions are those that adc's code calls, so that vector loops have them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from adc.backend.common.vector_math import cos, exp, sin, tanh
from tests.bench.kernels import ValueAndGrad

Buffers = Callable[..., tuple[Any, ...]]

BLOCK = 256  # elements worked on at a time, so that what is made of them stays in the cache


def holding(buffers: Buffers) -> Callable[[Callable[..., Any]], ValueAndGrad]:
    """Give a function large arrays to write to as well, which are made once for each shape.

    Callers in C would pass arrays for their gradients. New ones at every call would be new pages.
    """

    def decorate(function: Callable[..., Any]) -> ValueAndGrad:
        compiled: Any = njit(cache=True)(function)
        held: dict[Any, tuple[Any, ...]] = {}

        def call(*args: Any) -> Any:
            shapes = tuple(np.shape(arg) for arg in args)
            if shapes not in held:
                held[shapes] = buffers(*args)
            return compiled(*args, *held[shapes])

        return call

    return decorate


def like(*positions: int) -> Buffers:
    """Ask for an array like each of some arguments."""
    return lambda *args: tuple(np.empty_like(args[k]) for k in positions)


# The order of these sums is free, so that vectors of them are made.


@njit(cache=True, fastmath={"reassoc"})
def dot(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@njit(cache=True, fastmath={"reassoc"})
def add(x: Any) -> Any:
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


@njit(cache=True)
def largest_of(x: Any) -> Any:
    """Compare in four lanes."""
    m0 = m1 = m2 = m3 = x[0]
    whole = x.size - x.size % 4
    for i in range(0, whole, 4):
        x4 = x[i : i + 4]
        m0, m1 = max(m0, x4[0]), max(m1, x4[1])
        m2, m3 = max(m2, x4[2]), max(m3, x4[3])
    for i in range(whole, x.size):
        m0 = max(m0, x[i])
    return max(max(m0, m1), max(m2, m3))


@holding(like(0, 1))
def chain(x: Any, w: Any, x_ct: Any, w_ct: Any) -> Any:
    """Go forward and back for a block of elements in turn."""
    value = 0.0
    results = np.empty(BLOCK)
    for start in range(0, x.size, BLOCK):
        inner, factor = x[start : start + BLOCK], w[start : start + BLOCK]
        inner_ct, factor_ct = x_ct[start : start + BLOCK], w_ct[start : start + BLOCK]
        result = results[: inner.size]
        for i in range(inner.size):
            s = sin(inner[i])
            t = tanh(s * factor[i])
            result[i] = t
            ct = 2.0 * t * (1.0 - t * t)
            factor_ct[i] = ct * s
            inner_ct[i] = ct * factor[i] * cos(inner[i])
        value += dot(result, result)
    return value, (x_ct, w_ct)


@holding(like(0))
def softmax_ce(logits: Any, labels: Any, grad: Any) -> Any:
    """Go forward and back for each row in turn; it becomes its adjoint."""
    rows = logits.shape[0]
    value = 0.0
    for i in range(rows):
        row, row_ct = logits[i], grad[i]
        largest = largest_of(row)
        for j in range(row.size):
            row_ct[j] = exp(row[j] - largest)
        total = add(row_ct)
        value += row[labels[i]] - largest - math.log(total)
        scale = 1.0 / (rows * total)
        for j in range(row.size):
            row_ct[j] *= scale
        row_ct[labels[i]] -= 1.0 / rows
    return -value / rows, grad


@holding(like(0))
def layernorm(x: Any, g: Any, b: Any, w: Any, x_ct: Any) -> Any:
    """Go forward and back for each row in turn, with two buffers of a row."""
    n = x.shape[1]
    g_ct, b_ct = np.zeros_like(g), np.zeros_like(b)
    normed, normed_ct = np.empty(n), np.empty(n)
    value = 0.0
    for i in range(x.shape[0]):
        row, weight, row_ct = x[i], w[i], x_ct[i]
        mean = add(row) / n
        for j in range(n):
            normed[j] = row[j] - mean
        scale = 1.0 / math.sqrt(dot(normed, normed) / n + 1e-5)
        for j in range(n):
            normed[j] *= scale
            g_ct[j] += weight[j] * normed[j]
        for j in range(n):
            normed_ct[j] = weight[j] * g[j]
            b_ct[j] += weight[j]
        along = dot(normed_ct, normed)
        value += along + dot(weight, b)
        along /= n
        mean = add(normed_ct) / n
        for j in range(n):
            row_ct[j] = scale * (normed_ct[j] - mean - along * normed[j])
    return value, (x_ct, g_ct, b_ct)


@njit(cache=True)
def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Products by BLAS, everything else in place of what they return."""
    hidden = np.dot(x, w1)
    for i in range(hidden.shape[0]):
        row = hidden[i]
        for j in range(row.size):
            row[j] = tanh(row[j] + b1[j])
    output = np.dot(hidden, w2)
    scale = 2.0 / output.size
    b1_ct, b2_ct = np.zeros_like(b1), np.zeros_like(b2)
    value = 0.0
    for i in range(output.shape[0]):
        row, target = output[i], y[i]
        for j in range(row.size):
            row[j] = row[j] + b2[j] - target[j]
        value += dot(row, row)
        for j in range(row.size):
            row[j] *= scale
            b2_ct[j] += row[j]
    w2_ct = np.dot(hidden.T, output)
    hidden_ct = np.dot(output, w2.T)
    for i in range(hidden.shape[0]):
        row, row_ct = hidden[i], hidden_ct[i]
        for j in range(row.size):
            row_ct[j] *= 1.0 - row[j] * row[j]
            b1_ct[j] += row_ct[j]
    return value / output.size, (np.dot(x.T, hidden_ct), b1_ct, w2_ct, b2_ct)


@njit(cache=True)
def five(new: Any, old: Any) -> None:
    """Make the inner cells of `new` of those of `old`."""
    for i in range(1, old.shape[0] - 1):
        above, row, below, result = old[i - 1, 1:-1], old[i], old[i + 1, 1:-1], new[i, 1:-1]
        left, middle, right = row[:-2], row[1:-1], row[2:]
        for j in range(result.size):
            result[j] = 0.2 * (middle[j] + left[j] + right[j] + below[j] + above[j])


@njit(cache=True)
def five_ct(old_ct: Any, new_ct: Any, edge_ct: Any) -> None:
    """Undo `five`; both adjoints have zeros at the edge, what belongs there goes to `edge_ct`."""
    five(old_ct, new_ct)
    n, m = new_ct.shape
    for j in range(1, m - 1):
        edge_ct[0, j] += 0.2 * new_ct[1, j]
        edge_ct[n - 1, j] += 0.2 * new_ct[n - 2, j]
    for i in range(1, n - 1):
        edge_ct[i, 0] += 0.2 * new_ct[i, 1]
        edge_ct[i, m - 1] += 0.2 * new_ct[i, m - 2]


@njit(cache=True)
def jacobi(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Keep nothing: the kernel is linear, and its stencil is its own transpose."""
    A, B = A.copy(), B.copy()
    for _ in range(steps):
        five(B, A)
        five(A, B)
    value = 0.0
    for i in range(A.shape[0]):
        value += dot(w[i], A[i])

    inner_a, inner_b = np.zeros_like(A), np.zeros_like(B)
    A_ct, B_ct = w.copy(), np.zeros_like(B)
    inner_a[1:-1, 1:-1] = w[1:-1, 1:-1]
    for _ in range(steps):
        five_ct(inner_b, inner_a, B_ct)
        five_ct(inner_a, inner_b, A_ct)
    A_ct[1:-1, 1:-1] = inner_a[1:-1, 1:-1]
    return value, (A_ct, B_ct)


@njit(cache=True)
def seven(new: Any, old: Any) -> None:
    """Make the inner cells of `new` of those of `old`, which is as wide in all directions."""
    n = old.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            row, result = old[i, j], new[i, j, 1:-1]
            a, b = old[i - 1, j, 1:-1], old[i + 1, j, 1:-1]
            c, d = old[i, j - 1, 1:-1], old[i, j + 1, 1:-1]
            left, middle, right = row[:-2], row[1:-1], row[2:]
            for k in range(result.size):
                others = (a[k] + b[k]) + (c[k] + d[k]) + (left[k] + right[k])
                result[k] = 0.25 * middle[k] + 0.125 * others


@njit(cache=True)
def seven_ct(old_ct: Any, new_ct: Any, edge_ct: Any) -> None:
    """Undo `seven`; both adjoints have zeros at the edge, what belongs there goes to `edge_ct`."""
    seven(old_ct, new_ct)
    n = new_ct.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            edge_ct[0, i, j] += 0.125 * new_ct[1, i, j]
            edge_ct[n - 1, i, j] += 0.125 * new_ct[n - 2, i, j]
        for j in range(1, n - 1):
            edge_ct[i, 0, j] += 0.125 * new_ct[i, 1, j]
            edge_ct[i, n - 1, j] += 0.125 * new_ct[i, n - 2, j]
        for j in range(1, n - 1):
            edge_ct[i, j, 0] += 0.125 * new_ct[i, j, 1]
            edge_ct[i, j, n - 1] += 0.125 * new_ct[i, j, n - 2]


@njit(cache=True)
def heat(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Keep nothing: the kernel is linear, and its stencil is its own transpose."""
    A, B = A.copy(), B.copy()
    for _ in range(steps):
        seven(B, A)
        seven(A, B)
    value = dot(w.ravel(), A.ravel())

    inner_a, inner_b = np.zeros_like(A), np.zeros_like(B)
    A_ct, B_ct = w.copy(), np.zeros_like(B)
    inner_a[1:-1, 1:-1, 1:-1] = w[1:-1, 1:-1, 1:-1]
    for _ in range(steps):
        seven_ct(inner_b, inner_a, B_ct)
        seven_ct(inner_a, inner_b, A_ct)
    A_ct[1:-1, 1:-1, 1:-1] = inner_a[1:-1, 1:-1, 1:-1]
    return value, (A_ct, B_ct)


def fields(in_field: Any, coeff: Any, w: Any) -> tuple[Any, ...]:
    """Make what `hdiff` writes to: gradients, and fields on the way."""
    I, J, K = coeff.shape  # noqa: E741
    shapes = [in_field.shape, coeff.shape, coeff.shape]
    shapes += [(I + 2, J + 2, K), (I + 1, J, K), (I, J + 1, K)]
    return tuple(np.empty(shape) for shape in shapes)


@holding(fields)
def hdiff(
    in_field: Any,
    coeff: Any,
    w: Any,
    in_ct: Any,
    coeff_ct: Any,
    rest_ct: Any,
    lap: Any,
    flx: Any,
    fly: Any,
) -> Any:
    """Keep the Laplacians and the fluxes; an adjoint takes the place of what it belongs to.

    Adjoints are gathered, row by row.
    """
    I, J, K = coeff.shape  # noqa: E741
    for i in range(I + 2):
        for j in range(J + 2):
            result, middle = lap[i, j], in_field[i + 1, j + 1]
            a, b = in_field[i, j + 1], in_field[i + 2, j + 1]
            c, d = in_field[i + 1, j], in_field[i + 1, j + 2]
            for k in range(K):
                result[k] = 4.0 * middle[k] - (b[k] + a[k] + d[k] + c[k])
    for i in range(I + 1):
        for j in range(J):
            limited(flx[i, j], lap[i + 1, j + 1], lap[i, j + 1],
                    in_field[i + 2, j + 2], in_field[i + 1, j + 2])  # fmt: skip
    for i in range(I):
        for j in range(J + 1):
            limited(fly[i, j], lap[i + 1, j + 1], lap[i + 1, j],
                    in_field[i + 2, j + 2], in_field[i + 2, j + 1])  # fmt: skip

    value = 0.0
    for i in range(I):
        for j in range(J):
            a, b, c, d = flx[i, j], flx[i + 1, j], fly[i, j], fly[i, j + 1]
            factor, weight, result, ct = coeff[i, j], w[i, j], coeff_ct[i, j], rest_ct[i, j]
            for k in range(K):
                result[k] = -weight[k] * (b[k] - a[k] + d[k] - c[k])
                ct[k] = weight[k] * factor[k]
            value += dot(weight, in_field[i + 2, j + 2]) + dot(factor, result)

    # What stands for rows beyond the first and the last.
    nothing = np.zeros(K)
    for i in range(I + 1):
        for j in range(J):
            after = rest_ct[i, j] if i < I else nothing
            before = rest_ct[i - 1, j] if i > 0 else nothing
            unlimited(flx[i, j], after, before, lap[i + 1, j + 1], lap[i, j + 1],
                      in_field[i + 2, j + 2], in_field[i + 1, j + 2])  # fmt: skip
    for i in range(I):
        for j in range(J + 1):
            after = rest_ct[i, j] if j < J else nothing
            before = rest_ct[i, j - 1] if j > 0 else nothing
            unlimited(fly[i, j], after, before, lap[i + 1, j + 1], lap[i + 1, j],
                      in_field[i + 2, j + 2], in_field[i + 2, j + 1])  # fmt: skip
    # The fluxes are differences of the Laplacian at (i, j) and at the row before.
    for i in range(I + 2):
        for j in range(J + 2):
            result = lap[i, j]
            inside_j, inside_i = 1 <= j <= J, 1 <= i <= I
            a = flx[i - 1, j - 1] if i > 0 and inside_j else nothing
            b = flx[i, j - 1] if i <= I and inside_j else nothing
            c = fly[i - 1, j - 1] if j > 0 and inside_i else nothing
            d = fly[i - 1, j] if j <= J and inside_i else nothing
            for k in range(K):
                result[k] = a[k] - b[k] + c[k] - d[k]
    for i in range(I + 4):
        for j in range(J + 4):
            result = in_ct[i, j]
            inside_i, inside_j = 1 <= i <= I + 2, 1 <= j <= J + 2
            middle = lap[i - 1, j - 1] if inside_i and inside_j else nothing
            a = lap[i - 2, j - 1] if i > 1 and inside_j else nothing
            b = lap[i, j - 1] if i < I + 2 and inside_j else nothing
            c = lap[i - 1, j - 2] if j > 1 and inside_i else nothing
            d = lap[i - 1, j] if j < J + 2 and inside_i else nothing
            for k in range(K):
                result[k] = 4.0 * middle[k] - (a[k] + b[k] + c[k] + d[k])
            if 2 <= i < I + 2 and 2 <= j < J + 2:
                weight = w[i - 2, j - 2]
                for k in range(K):
                    result[k] += weight[k]
    return value, (in_ct, coeff_ct)


@njit(cache=True)
def limited(flux: Any, upper: Any, lower: Any, upper_in: Any, lower_in: Any) -> None:
    """Make a row of fluxes; those that go up the slope are none."""
    for k in range(flux.size):
        res = upper[k] - lower[k]
        flux[k] = 0.0 if res * (upper_in[k] - lower_in[k]) > 0 else res


@njit(cache=True)
def unlimited(
    flux: Any, after: Any, before: Any, upper: Any, lower: Any, upper_in: Any, lower_in: Any
) -> None:
    """Replace a row of fluxes by their adjoints."""
    for k in range(flux.size):
        res = upper[k] - lower[k]
        ct = after[k] - before[k]
        flux[k] = 0.0 if res * (upper_in[k] - lower_in[k]) > 0 else ct


@holding(like(0, 1, 2, 3, 4))
def vadv(
    utens_stage: Any,
    u_stage: Any,
    wcon: Any,
    u_pos: Any,
    utens: Any,
    dtr_stage: Any,
    w: Any,
    stage_ct: Any,
    u_stage_ct: Any,
    wcon_ct: Any,
    u_pos_ct: Any,
    utens_ct: Any,
) -> Any:
    """Go forward and back for a plane of columns in turn, which fits into the second cache.

    It is transposed, so that the sweeps go from row to row. Loops are small so that what LLVM has
    to check of arrays that might overlap does not get out of hand.
    """
    I, J, K = utens_stage.shape  # noqa: E741
    # Levels meet at `gain`: minus the lower diagonal, and the upper one of the level below. Of the
    # eliminated system, row k stands at k + 1.
    gain, rhs, divided = np.zeros((K + 1, J)), np.empty((K, J)), np.empty((K, J))
    ccol, dcol = np.zeros((K + 1, J)), np.zeros((K + 1, J))
    solution, solution_ct = np.zeros((K + 1, J)), np.zeros((K + 1, J))
    rhs_ct, gain_ct = np.empty((K, J)), np.zeros((K + 1, J))
    y_ct, c_ct, pivot_ct = np.empty(J), np.empty(J), np.empty(J)
    flows = np.zeros(K + 1)
    wcon_ct[:] = 0.0
    value = 0.0
    for i in range(I):
        for j in range(J):
            here, there, u = wcon[i, j], wcon[i + 1, j], u_stage[i, j]
            pos, tens, old, weight = u_pos[i, j], utens[i, j], utens_stage[i, j], w[i, j]
            for k in range(1, K):
                gain[k, j] = 0.125 * (there[k] + here[k])
            for k in range(1, K):
                flows[k] = gain[k, j] * (u[k] - u[k - 1])
            for k in range(K):
                rhs[k, j] = dtr_stage * pos[k] + tens[k] + old[k] - flows[k] - flows[k + 1]
            for k in range(K):
                solution_ct[k + 1, j] = dtr_stage * weight[k]
            value -= dtr_stage * dot(weight, pos)

        for k in range(K):
            low, high, d = gain[k], gain[k + 1], divided[k]
            c, y, new_c, new_y, b = ccol[k], dcol[k], ccol[k + 1], dcol[k + 1], rhs[k]
            for j in range(J):
                d[j] = 1.0 / (dtr_stage + low[j] - high[j] + c[j] * low[j])
            for j in range(J):
                new_c[j] = high[j] * d[j]
            for j in range(J):
                new_y[j] = (b[j] + y[j] * low[j]) * d[j]
        for k in range(K - 1, -1, -1):
            x, below, c, y = solution[k], solution[k + 1], ccol[k + 1], dcol[k + 1]
            for j in range(J):
                x[j] = y[j] - c[j] * below[j]
            value += dot(x, solution_ct[k + 1])

        for k in range(1, K):
            x_ct, above_ct, c = solution_ct[k + 1], solution_ct[k], ccol[k]
            for j in range(J):
                x_ct[j] -= c[j] * above_ct[j]
        y_ct[:] = 0.0
        c_ct[:] = 0.0
        for k in range(K - 1, -1, -1):
            low, d, c, y = gain[k], divided[k], ccol[k], dcol[k]
            new_c, new_y, below = ccol[k + 1], dcol[k + 1], solution[k + 1]
            x_ct, b_ct, low_ct, high_ct = solution_ct[k + 1], rhs_ct[k], gain_ct[k], gain_ct[k + 1]
            for j in range(J):
                y_ct[j] += x_ct[j]
            for j in range(J):
                c_ct[j] -= x_ct[j] * below[j]
            for j in range(J):
                pivot_ct[j] = -(y_ct[j] * new_y[j] + c_ct[j] * new_c[j]) * d[j]
            for j in range(J):
                high_ct[j] += c_ct[j] * d[j] - pivot_ct[j]
            for j in range(J):
                b_ct[j] = y_ct[j] * d[j]
            for j in range(J):
                low_ct[j] = b_ct[j] * y[j] + pivot_ct[j] * (1.0 + c[j])
            for j in range(J):
                y_ct[j] = b_ct[j] * low[j]
            for j in range(J):
                c_ct[j] = pivot_ct[j] * low[j]

        for j in range(J):
            pos_ct, tens_ct, old_ct = u_pos_ct[i, j], utens_ct[i, j], stage_ct[i, j]
            u, u_ct, weight = u_stage[i, j], u_stage_ct[i, j], w[i, j]
            here_ct, there_ct = wcon_ct[i, j], wcon_ct[i + 1, j]
            for k in range(K):
                tens_ct[k] = rhs_ct[k, j]
            for k in range(K):
                old_ct[k] = tens_ct[k]
            for k in range(K):
                pos_ct[k] = dtr_stage * (tens_ct[k] - weight[k])
            for k in range(1, K):
                flows[k] = -(tens_ct[k] + tens_ct[k - 1])
            for k in range(1, K):
                ct = 0.125 * (gain_ct[k, j] + flows[k] * (u[k] - u[k - 1]))
                here_ct[k] += ct
                there_ct[k] += ct
            for k in range(1, K):
                flows[k] *= gain[k, j]
            for k in range(K):
                u_ct[k] = flows[k] - flows[k + 1]
    return value, (stage_ct, u_stage_ct, wcon_ct, u_pos_ct, utens_ct)


@njit(cache=True)
def syrk(alpha: Any, beta: Any, C: Any, A: Any, w: Any) -> Any:
    """Whole products by BLAS, of which half is used."""
    n = A.shape[0]
    product = np.dot(A, A.T)
    C_ct, both = w.copy(), np.empty_like(w)
    value = 0.0
    for i in range(n):
        for j in range(i + 1):
            value += w[i, j] * (beta * C[i, j] + alpha * product[i, j])
            C_ct[i, j] *= beta
            both[i, j] = alpha * w[i, j]
        for j in range(i):
            both[j, i] = both[i, j]
        both[i, i] *= 2.0
        for j in range(i + 1, n):
            value += w[i, j] * C[i, j]
    return value, (C_ct, np.dot(both, A))


@njit(cache=True)
def conv2d(images: Any, weights: Any, bias: Any, w: Any) -> Any:
    """Unroll the windows of a row of an image, so that BLAS has a product of matrices."""
    K, _, C_in, C_out = weights.shape
    N, H, W = w.shape[:3]
    across = K * C_in  # lies together in an image, and in a row of what is unrolled
    flat = weights.reshape(K * across, C_out)
    turned = np.ascontiguousarray(flat.T)
    unrolled, unrolled_ct = np.empty((W, K * across)), np.empty((W, K * across))
    output, part = np.empty((W, C_out)), np.empty((K * across, C_out))
    images_ct, flat_ct = np.zeros_like(images), np.zeros_like(flat)
    bias_ct = np.zeros_like(bias)
    value = 0.0
    for n in range(N):
        for i in range(H):
            for p in range(K):
                line = images[n, i + p].ravel()
                for j in range(W):
                    new = unrolled[j, p * across : (p + 1) * across]
                    old = line[j * C_in : j * C_in + across]
                    for q in range(across):
                        new[q] = old[q]
            weight = w[n, i]
            np.dot(unrolled, flat, output)
            for j in range(W):
                for c in range(C_out):
                    output[j, c] += bias[c]
                    bias_ct[c] += weight[j, c]
            value += dot(weight.ravel(), output.ravel())
            np.dot(unrolled.T, weight, part)
            for p in range(K * across):
                for c in range(C_out):
                    flat_ct[p, c] += part[p, c]
            np.dot(weight, turned, unrolled_ct)
            for p in range(K):
                line_ct = images_ct[n, i + p].ravel()
                for j in range(W):
                    new = unrolled_ct[j, p * across : (p + 1) * across]
                    old = line_ct[j * C_in : j * C_in + across]
                    for q in range(across):
                        old[q] += new[q]
    return value, (images_ct, flat_ct.reshape(weights.shape), bias_ct)


@njit(cache=True)
def gemm(alpha: Any, beta: Any, C: Any, A: Any, B: Any, w: Any) -> Any:
    """Products by BLAS."""
    product = np.dot(A, B)
    value = 0.0
    weight = np.empty_like(w)
    C_ct = np.empty_like(w)
    for i in range(w.shape[0]):
        value += alpha * dot(w[i], product[i]) + beta * dot(w[i], C[i])
        for j in range(w.shape[1]):
            weight[i, j] = alpha * w[i, j]
            C_ct[i, j] = beta * w[i, j]
    return value, (C_ct, np.dot(weight, B.T), np.dot(A.T, weight))


@holding(like(0))
def atax(A: Any, x: Any, w: Any, A_ct: Any) -> Any:
    """Go forward and back for each row in turn, so that the matrix is read once."""
    x_ct, y = np.zeros_like(x), np.zeros_like(x)
    for i in range(A.shape[0]):
        row, row_ct = A[i], A_ct[i]
        t, t_ct = dot(row, x), dot(row, w)
        for j in range(row.size):
            y[j] += t * row[j]
            x_ct[j] += t_ct * row[j]
        for j in range(row.size):
            row_ct[j] = t * w[j] + t_ct * x[j]
    return dot(w, y), (A_ct, x_ct)


@njit(cache=True)
def lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Keep the gates, the cells, and what is put out, of all steps.

    Rows are padded so that vectors of the functions fill them.
    """
    layers, b = state.shape[0] // 2, state.shape[1]
    steps = sequence.shape[0] - 1
    wide = -(-b // 4) * 4
    weights, shifts = np.zeros((layers, 4, wide)), np.zeros((layers, 4, wide))
    weights[:, :, :b] = main[0::2].copy().reshape(layers, 4, b)
    shifts[:, :, :b] = main[1::2].copy().reshape(layers, 4, b)
    hidden, cells = np.zeros((steps + 1, layers, wide)), np.zeros((steps + 1, layers, wide))
    hidden[0, :, :b], cells[0, :, :b] = state[0::2], state[1::2]
    gates, squashed = np.empty((steps, layers, 4, wide)), np.empty((steps, layers, wide))
    shares = np.empty((steps, wide))
    first = np.zeros(wide)
    guess = np.empty(b)
    scale = -1.0 / (steps * b)
    value = 0.0
    for t in range(steps):
        for i in range(b):
            first[i] = sequence[t, i] * extra[0, i]
        x = first
        for layer in range(layers):
            h, old, new, out = (
                hidden[t, layer], cells[t, layer], cells[t + 1, layer], hidden[t + 1, layer],
            )  # fmt: skip
            weight, shift, gate = weights[layer], shifts[layer], gates[t, layer]
            tanhs = squashed[t, layer]
            for i in range(wide):
                gate[0, i] = x[i] * weight[0, i] + shift[0, i]
                gate[2, i] = x[i] * weight[2, i] + shift[2, i]
            for i in range(wide):
                gate[1, i] = h[i] * weight[1, i] + shift[1, i]
                gate[3, i] = h[i] * weight[3, i] + shift[3, i]
            three, change = gate[:3].ravel(), gate[3]
            for i in range(3 * wide):
                three[i] = 1.0 / (1.0 + exp(-three[i]))
            for i in range(wide):
                change[i] = tanh(change[i])
            for i in range(wide):
                new[i] = old[i] * gate[0, i] + gate[1, i] * change[i]
                tanhs[i] = tanh(new[i])
                out[i] = gate[2, i] * tanhs[i]
            x = out
        share, target = shares[t], sequence[t + 1]
        for i in range(b):
            guess[i] = x[i] * extra[1, i] + extra[2, i]
        for i in range(b):
            share[i] = exp(guess[i])
        total = 2.0
        for i in range(b):
            total += share[i]
        for i in range(b):
            share[i] /= total
        rest = math.log(total)
        for i in range(b):
            value += target[i] * (guess[i] - rest)

    weights_ct, shifts_ct = np.zeros_like(weights), np.zeros_like(shifts)
    hidden_ct, cells_ct = np.zeros((layers, wide)), np.zeros((layers, wide))
    extra_ct = np.zeros_like(extra)
    x_ct = np.zeros(wide)
    for t in range(steps - 1, -1, -1):
        share, target, x = shares[t], sequence[t + 1], hidden[t + 1, layers - 1]
        total = 0.0
        for i in range(b):
            total += target[i]
        for i in range(b):
            ct = scale * (target[i] - total * share[i])
            extra_ct[1, i] += ct * x[i]
            extra_ct[2, i] += ct
            x_ct[i] = ct * extra[1, i]
        for i in range(b):
            first[i] = sequence[t, i] * extra[0, i]
        for layer in range(layers - 1, -1, -1):
            x = hidden[t + 1, layer - 1] if layer > 0 else first
            h, old = hidden[t, layer], cells[t, layer]
            forget, ingate, outgate, change = gates[t, layer]
            tanhs = squashed[t, layer]
            w0, w1, w2, w3 = weights[layer]
            w0_ct, w1_ct, w2_ct, w3_ct = weights_ct[layer]
            b0_ct, b1_ct, b2_ct, b3_ct = shifts_ct[layer]
            h_ct, cell_ct = hidden_ct[layer], cells_ct[layer]
            for i in range(wide):
                out_ct = h_ct[i] + x_ct[i]
                ct2 = out_ct * tanhs[i] * outgate[i] * (1.0 - outgate[i])
                new_ct = cell_ct[i] + out_ct * outgate[i] * (1.0 - tanhs[i] * tanhs[i])
                ct0 = new_ct * old[i] * forget[i] * (1.0 - forget[i])
                ct1 = new_ct * change[i] * ingate[i] * (1.0 - ingate[i])
                ct3 = new_ct * ingate[i] * (1.0 - change[i] * change[i])
                cell_ct[i] = new_ct * forget[i]
                x_ct[i] = ct0 * w0[i] + ct2 * w2[i]
                h_ct[i] = ct1 * w1[i] + ct3 * w3[i]
                w0_ct[i] += ct0 * x[i]
                w1_ct[i] += ct1 * h[i]
                w2_ct[i] += ct2 * x[i]
                w3_ct[i] += ct3 * h[i]
                b0_ct[i] += ct0
                b1_ct[i] += ct1
                b2_ct[i] += ct2
                b3_ct[i] += ct3
        for i in range(b):
            extra_ct[0, i] += x_ct[i] * sequence[t, i]
            x_ct[i] = 0.0
    main_ct = np.empty_like(main)
    main_ct[0::2] = weights_ct[:, :, :b].copy().reshape(layers, 4 * b)
    main_ct[1::2] = shifts_ct[:, :, :b].copy().reshape(layers, 4 * b)
    return scale * value, (main_ct, extra_ct)


HAND: dict[str, ValueAndGrad] = {
    "chain": chain,
    "softmax_ce": softmax_ce,
    "layernorm": layernorm,
    "mlp": mlp,
    "jacobi": jacobi,
    "heat": heat,
    "hdiff": hdiff,
    "vadv": vadv,
    "syrk": syrk,
    "conv2d": conv2d,
    "gemm": gemm,
    "atax": atax,
    "lstm": lstm,
}
