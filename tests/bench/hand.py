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

    The factors are unpacked, and transposed as well, so that no inner loop is a sum.
    """
    n, d = x.shape
    components = alphas.size
    qdiags = np.exp(icf[:, :d])
    sum_qs = np.zeros(components)
    lower, upper = np.zeros((components, d, d)), np.zeros((components, d, d))
    for k in range(components):
        at = d
        for c in range(d):
            sum_qs[k] += icf[k, c]
            for r in range(c + 1, d):
                lower[k, r, c] = upper[k, c, r] = icf[k, at]
                at += 1
    centred, scaled = np.empty((components, d)), np.empty((components, d))
    terms = np.empty(components)
    alphas_ct, means_ct = np.zeros_like(alphas), np.zeros_like(means)
    qdiags_ct, lower_ct = np.zeros_like(qdiags), np.zeros_like(lower)
    centred_ct = np.empty(d)
    value = 0.0
    for i in range(n):
        for k in range(components):
            for r in range(d):
                centred[k, r] = x[i, r] - means[k, r]
                scaled[k, r] = qdiags[k, r] * centred[k, r]
            for c in range(d):
                y = centred[k, c]
                for r in range(c + 1, d):
                    scaled[k, r] += upper[k, c, r] * y
            square = 0.0
            for r in range(d):
                square += scaled[k, r] * scaled[k, r]
            terms[k] = alphas[k] + sum_qs[k] - 0.5 * square
        largest = np.max(terms)
        share = 0.0
        for k in range(components):
            terms[k] = math.exp(terms[k] - largest)
            share += terms[k]
        value += largest + math.log(share)

        for k in range(components):
            term_ct = terms[k] / share
            alphas_ct[k] += term_ct
            for r in range(d):
                ct = -term_ct * scaled[k, r]
                qdiags_ct[k, r] += ct * centred[k, r]
                centred_ct[r] = ct * qdiags[k, r]
                for c in range(r):
                    lower_ct[k, r, c] += ct * centred[k, c]
                    centred_ct[c] += ct * lower[k, r, c]
            for r in range(d):
                means_ct[k, r] -= centred_ct[r]

    largest = np.max(alphas)
    share = 0.0
    for k in range(components):
        share += math.exp(alphas[k] - largest)
    value -= n * (largest + math.log(share))
    icf_ct = np.empty_like(icf)
    for k in range(components):
        sum_ct = alphas_ct[k] - m
        alphas_ct[k] -= n * math.exp(alphas[k] - largest) / share
        square = 0.0
        at = d
        for c in range(d):
            q = qdiags[k, c]
            square += q * q
            icf_ct[k, c] = (qdiags_ct[k, c] + gamma * gamma * q) * q + sum_ct
            for r in range(c + 1, d):
                square += lower[k, r, c] * lower[k, r, c]
                icf_ct[k, at] = lower_ct[k, r, c] + gamma * gamma * lower[k, r, c]
                at += 1
        value += 0.5 * gamma * gamma * square - m * sum_qs[k]
    return value, (alphas_ct, means_ct, icf_ct)


HAND: dict[str, ValueAndGrad] = {
    "cholesky": cholesky,
    "seidel": seidel,
    "gramschmidt": gramschmidt,
    "chain": chain,
    "mixture": mixture,
}
