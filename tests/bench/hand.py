"""Value and gradient written by hand in Numba: what a compiler's output is measured against.

Loops are ordered so that the innermost one runs along rows and carries nothing: strict floating
point then vectorises. Row slices keep Numba's test for negative indices out of the inner loops.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from tests.bench.kernels import ValueAndGrad


@njit(cache=True)
def cholesky(a: Any, w: Any) -> Any:
    """Keep the factor, which is the output, and nothing else."""
    n = a.shape[0]
    factor = np.zeros((n, n))
    upper = np.empty((n, n))  # the factor transposed: a row of it updates a row of the factor
    value = 0.0
    for i in range(n):
        row = factor[i]
        row[: i + 1] = a[i, : i + 1]
        for j in range(i):
            x = row[j] / upper[j, j]
            row[j] = x
            upper[j, i] = x
            rest = row[j + 1 : i + 1]
            column = upper[j, j + 1 : i + 1]
            for k in range(rest.size):
                rest[k] -= x * column[k]
        row[i] = math.sqrt(row[i])
        upper[i, i] = row[i]
        for j in range(i + 1):
            value += w[i, j] * row[j]

    grad = np.zeros((n, n))
    for i in range(n):
        grad[i, : i + 1] = w[i, : i + 1]
    for i in range(n - 1, -1, -1):
        row = factor[i]
        row_ct = grad[i]
        ct = row_ct[i] / (2.0 * row[i])
        row_ct[i] = ct
        for k in range(i):
            row_ct[k] -= 2.0 * ct * row[k]
        for j in range(i - 1, -1, -1):
            ct = row_ct[j] / factor[j, j]
            row_ct[j] = ct
            grad[j, j] -= ct * row[j]
            left, left_ct = row[:j], row_ct[:j]
            other, other_ct = factor[j, :j], grad[j, :j]
            for k in range(j):
                left_ct[k] -= ct * other[k]
                other_ct[k] -= ct * left[k]
    return value, grad


@njit(cache=True)
def seidel(a: Any, w: Any) -> Any:
    """Keep nothing: the kernel is linear."""
    n, m = a.shape
    state = a.copy()
    sums = np.empty(m)
    for _ in range(40):
        for i in range(1, n - 1):
            above, row, below = state[i - 1], state[i], state[i + 1]
            for j in range(1, m - 1):
                sums[j] = (
                    (above[j - 1] + above[j] + above[j + 1])
                    + (below[j - 1] + below[j] + below[j + 1])
                    + (row[j] + row[j + 1])
                )
            # Only this chain is sequential.
            x = row[0]
            for j in range(1, m - 1):
                x = (sums[j] + x) / 9.0
                row[j] = x
    value = 0.0
    for i in range(n):
        for j in range(m):
            value += w[i, j] * state[i, j]

    grad = w.copy()
    cts = np.zeros(m)  # of the sums; the two ends stay zero
    for _ in range(40):
        for i in range(n - 2, 0, -1):
            above, row, below = grad[i - 1], grad[i], grad[i + 1]
            ct = 0.0
            for j in range(m - 2, 0, -1):
                ct = (row[j] + ct) / 9.0
                cts[j] = ct
            row[0] += cts[1]
            above[0] += cts[1]
            below[0] += cts[1]
            for j in range(1, m - 1):
                three = cts[j - 1] + cts[j] + cts[j + 1]
                above[j] += three
                below[j] += three
                row[j] = cts[j - 1] + cts[j]
            row[m - 1] += cts[m - 2]
            above[m - 1] += cts[m - 2]
            below[m - 1] += cts[m - 2]
    return value, grad


@njit(cache=True)
def dot(x: Any, y: Any) -> Any:
    """Sum products in eight lanes, so that strict floating point vectorises."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = x.size - x.size % 8
    for i in range(0, whole, 8):
        x8, y8 = x[i : i + 8], y[i : i + 8]
        s0 += x8[0] * y8[0]
        s1 += x8[1] * y8[1]
        s2 += x8[2] * y8[2]
        s3 += x8[3] * y8[3]
        s4 += x8[4] * y8[4]
        s5 += x8[5] * y8[5]
        s6 += x8[6] * y8[6]
        s7 += x8[7] * y8[7]
    for i in range(whole, x.size):
        s0 += x[i] * y[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@njit(cache=True)
def gramschmidt(a: Any, w: Any) -> Any:
    """Keep `q` and `r`; the columns of `a` on the way are restored by undoing each update.

    `a` and `q` are worked on transposed, so that a column of them is a row.
    """
    m, n = a.shape
    state = np.ascontiguousarray(a.T)
    q = np.empty((n, m))
    r = np.empty((n, n))
    for k in range(n):
        unit = q[k]
        column = state[k]
        norm = math.sqrt(dot(column, column))
        r[k, k] = norm
        for i in range(m):
            unit[i] = column[i] / norm
        for j in range(k + 1, n):
            column = state[j]
            x = dot(unit, column)
            r[k, j] = x
            for i in range(m):
                column[i] -= unit[i] * x

    value = 0.0
    grad = np.zeros((n, m))
    for k in range(n):
        for i in range(m):
            value += w[i, k] * q[k, i]
        for j in range(k, n):
            value += w[m + k, j] * r[k, j]

    unit_ct = np.empty(m)
    for k in range(n - 1, -1, -1):
        unit = q[k]
        for i in range(m):
            unit_ct[i] = w[i, k]
        for j in range(k + 1, n):
            column, column_ct = state[j], grad[j]
            x = r[k, j]
            x_ct = w[m + k, j] - dot(unit, column_ct)
            for i in range(m):
                before = column[i] + unit[i] * x
                unit_ct[i] += x_ct * before - x * column_ct[i]
                column_ct[i] += x_ct * unit[i]
                column[i] = before
        norm = r[k, k]
        norm_ct = w[m + k, k] - dot(unit_ct, unit) / norm
        for i in range(m):
            grad[k, i] = unit_ct[i] / norm + norm_ct * unit[i]
    return value, np.ascontiguousarray(grad.T)


@njit(cache=True)
def chain(x: Any, w: Any) -> Any:
    """Go forward and back for each element in turn."""
    value = 0.0
    x_ct, w_ct = np.empty_like(x), np.empty_like(w)
    for i in range(x.size):
        s = math.sin(x[i])
        t = math.tanh(s * w[i])
        value += t * t
        ct = 2.0 * t * (1.0 - t * t)
        w_ct[i] = ct * s
        x_ct[i] = ct * w[i] * math.cos(x[i])
    return value, (x_ct, w_ct)


@njit(cache=True)
def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """Go forward and back for each point in turn; of a point, keep its scaled differences.

    Cotangents of the logarithms on the diagonal come last, from those of the diagonal.
    """
    n, d = x.shape
    components = alphas.size
    qdiags = np.exp(icf[:, :d])
    sum_qs = np.zeros(components)
    for k in range(components):
        for r in range(d):
            sum_qs[k] += icf[k, r]
    centred = np.empty((components, d))
    scaled = np.empty((components, d))
    terms = np.empty(components)
    alphas_ct, means_ct, icf_ct = np.zeros_like(alphas), np.zeros_like(means), np.zeros_like(icf)
    centred_ct = np.empty(d)
    value = 0.0
    for i in range(n):
        point = x[i]
        for k in range(components):
            mean, diagonal, apart, row = means[k], qdiags[k], centred[k], scaled[k]
            for r in range(d):
                apart[r] = point[r] - mean[r]
                row[r] = diagonal[r] * apart[r]
            at = d
            for c in range(d):
                y = apart[c]
                below, column = row[c + 1 :], icf[k, at : at + d - c - 1]
                for r in range(below.size):
                    below[r] += column[r] * y
                at += below.size
            terms[k] = alphas[k] + sum_qs[k] - 0.5 * dot(row, row)
        largest = np.max(terms)
        share = 0.0
        for k in range(components):
            terms[k] = math.exp(terms[k] - largest)
            share += terms[k]
        value += largest + math.log(share)

        for k in range(components):
            term_ct = terms[k] / share
            alphas_ct[k] += term_ct
            apart, row, diagonal = centred[k], scaled[k], qdiags[k]
            for r in range(d):
                row[r] *= -term_ct  # its cotangent
                centred_ct[r] = row[r] * diagonal[r]
            log_ct, mean_ct = icf_ct[k, :d], means_ct[k]
            at = d
            for c in range(d):
                y = apart[c]
                below_ct = row[c + 1 :]
                column, column_ct = icf[k, at : at + d - c - 1], icf_ct[k, at : at + d - c - 1]
                for r in range(below_ct.size):
                    column_ct[r] += below_ct[r] * y
                centred_ct[c] += dot(below_ct, column)
                at += below_ct.size
            for r in range(d):
                log_ct[r] += row[r] * apart[r]
                mean_ct[r] -= centred_ct[r]

    largest = np.max(alphas)
    share = 0.0
    for k in range(components):
        share += math.exp(alphas[k] - largest)
    value -= n * (largest + math.log(share))
    for k in range(components):
        diagonal, below, below_ct = qdiags[k], icf[k, d:], icf_ct[k, d:]
        sum_ct = alphas_ct[k] - m
        alphas_ct[k] -= n * math.exp(alphas[k] - largest) / share
        value += 0.5 * gamma * gamma * (dot(diagonal, diagonal) + dot(below, below))
        value -= m * sum_qs[k]
        for r in range(d):
            q_ct = icf_ct[k, r] + gamma * gamma * diagonal[r]
            icf_ct[k, r] = q_ct * diagonal[r] + sum_ct
        for r in range(below.size):
            below_ct[r] += gamma * gamma * below[r]
    return value, (alphas_ct, means_ct, icf_ct)


HAND: dict[str, ValueAndGrad] = {
    "cholesky": cholesky,
    "seidel": seidel,
    "gramschmidt": gramschmidt,
    "chain": chain,
    "mixture": mixture,
}
