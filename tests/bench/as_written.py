"""Value and gradient by hand in Numba, reversing the kernels as they are written.

The same loops in the same order over the same layout, every sum in the order of the program: what
a careful person writes who does not reorganise the algorithm. `hand` has the reorganised ones.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from tests.bench.kernels import ValueAndGrad


@njit(cache=True)
def cholesky(a: Any, w: Any) -> Any:
    """Keep the factor and nothing else."""
    n = a.shape[0]
    a = a.copy()
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
    value = 0.0
    for i in range(n):
        for j in range(i + 1):
            value += w[i, j] * a[i, j]

    grad = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            grad[i, j] = w[i, j]
    for i in range(n - 1, -1, -1):
        row, row_ct = a[i], grad[i]
        ct = 0.5 * row_ct[i] / row[i]
        row_ct[i] = ct
        for k in range(i):
            row_ct[k] -= 2.0 * ct * row[k]
        for j in range(i - 1, -1, -1):
            other, other_ct = a[j], grad[j]
            ct = row_ct[j] / other[j]
            row_ct[j] = ct
            other_ct[j] -= ct * row[j]
            for k in range(j):
                row_ct[k] -= ct * other[k]
                other_ct[k] -= ct * row[k]
    return value, grad


@njit(cache=True)
def seidel(a: Any, w: Any) -> Any:
    """Keep nothing: the kernel is linear."""
    n, m = a.shape
    a = a.copy()
    for _ in range(40):
        for i in range(1, n - 1):
            above, row, below = a[i - 1], a[i], a[i + 1]
            for j in range(1, m - 1):
                row[j] = (
                    above[j - 1]
                    + above[j]
                    + above[j + 1]
                    + row[j - 1]
                    + row[j]
                    + row[j + 1]
                    + below[j - 1]
                    + below[j]
                    + below[j + 1]
                ) / 9.0
    value = 0.0
    for i in range(n):
        for j in range(m):
            value += w[i, j] * a[i, j]

    grad = w.copy()
    for _ in range(40):
        for i in range(n - 2, 0, -1):
            above, row, below = grad[i - 1], grad[i], grad[i + 1]
            for j in range(m - 2, 0, -1):
                ct = row[j] / 9.0
                row[j] = ct
                above[j - 1] += ct
                above[j] += ct
                above[j + 1] += ct
                row[j - 1] += ct
                row[j + 1] += ct
                below[j - 1] += ct
                below[j] += ct
                below[j + 1] += ct
    return value, grad


@njit(cache=True)
def gramschmidt(a: Any, w: Any) -> Any:
    """Keep `q`, `r` and the columns that the projections overwrite."""
    m, n = a.shape
    a = a.copy()
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    tape = np.empty((n * (n - 1) // 2, m))
    top = 0
    for k in range(n):
        dot = 0.0
        for i in range(m):
            dot += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(dot)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            dot = 0.0
            kept = tape[top]
            top += 1
            for i in range(m):
                kept[i] = a[i, j]
                dot += q[i, k] * a[i, j]
            r[k, j] = dot
            for i in range(m):
                a[i, j] -= q[i, k] * dot
    value = 0.0
    for i in range(m):
        for j in range(n):
            value += w[i, j] * q[i, j]
    for i in range(n):
        for j in range(i, n):
            value += w[m + i, j] * r[i, j]

    q_ct = w[:m].copy()
    a_ct = np.zeros((m, n))
    for k in range(n - 1, -1, -1):
        for j in range(n - 1, k, -1):
            x = r[k, j]
            x_ct = w[m + k, j]
            for i in range(m - 1, -1, -1):
                x_ct -= q[i, k] * a_ct[i, j]
                q_ct[i, k] -= x * a_ct[i, j]
            top -= 1
            kept = tape[top]
            for i in range(m - 1, -1, -1):
                a_ct[i, j] += x_ct * q[i, k]
                q_ct[i, k] += x_ct * kept[i]
        norm = r[k, k]
        norm_ct = w[m + k, k]
        for i in range(m - 1, -1, -1):
            norm_ct -= q_ct[i, k] * q[i, k] / norm
            a_ct[i, k] += q_ct[i, k] / norm
        x_ct = 0.5 * norm_ct / norm
        for i in range(m - 1, -1, -1):
            a_ct[i, k] += 2.0 * x_ct * a[i, k]
    return value, a_ct


@njit(cache=True)
def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """Go forward and back for each point in turn, with the factors packed as they are."""
    n, d = x.shape
    components = alphas.size
    qdiags = np.exp(icf[:, :d])
    sum_qs = np.zeros(components)
    for k in range(components):
        for r in range(d):
            sum_qs[k] += icf[k, r]
    centred, scaled = np.empty((components, d)), np.empty((components, d))
    terms = np.empty(components)
    alphas_ct, means_ct = np.zeros_like(alphas), np.zeros_like(means)
    qdiags_ct, icf_ct = np.zeros_like(qdiags), np.zeros_like(icf)
    scaled_ct, centred_ct = np.empty(d), np.empty(d)
    value = 0.0
    for i in range(n):
        for k in range(components):
            for r in range(d):
                centred[k, r] = x[i, r] - means[k, r]
                scaled[k, r] = qdiags[k, r] * centred[k, r]
            at = d
            for c in range(d):
                for r in range(c + 1, d):
                    scaled[k, r] += icf[k, at] * centred[k, c]
                    at += 1
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
                scaled_ct[r] = -term_ct * scaled[k, r]
            at = icf.shape[1]
            for c in range(d - 1, -1, -1):
                ct = 0.0
                for r in range(d - 1, c, -1):
                    at -= 1
                    ct += icf[k, at] * scaled_ct[r]
                    icf_ct[k, at] += scaled_ct[r] * centred[k, c]
                centred_ct[c] = ct
            for r in range(d):
                qdiags_ct[k, r] += scaled_ct[r] * centred[k, r]
                means_ct[k, r] -= centred_ct[r] + scaled_ct[r] * qdiags[k, r]

    largest = np.max(alphas)
    share = 0.0
    for k in range(components):
        share += math.exp(alphas[k] - largest)
    value -= n * (largest + math.log(share))
    for k in range(components):
        sum_ct = alphas_ct[k] - m
        alphas_ct[k] -= n * math.exp(alphas[k] - largest) / share
        square = 0.0
        for c in range(d):
            q = qdiags[k, c]
            square += q * q
            icf_ct[k, c] += (qdiags_ct[k, c] + gamma * gamma * q) * q + sum_ct
        for at in range(d, icf.shape[1]):
            square += icf[k, at] * icf[k, at]
            icf_ct[k, at] += gamma * gamma * icf[k, at]
        value += 0.5 * gamma * gamma * square - m * sum_qs[k]
    return value, (alphas_ct, means_ct, icf_ct)


AS_WRITTEN: dict[str, ValueAndGrad] = {
    "cholesky": cholesky,
    "seidel": seidel,
    "gramschmidt": gramschmidt,
    "mixture": mixture,
}
