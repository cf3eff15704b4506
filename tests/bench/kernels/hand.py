"""Value and gradient written by hand in Numba: what a compiler's output is measured against.

Loops are ordered so that the innermost one runs along rows and carries nothing: strict floating
point then vectorises. Row slices keep Numba's test for negative indices out of the inner loops.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from adc.backend.common.vector_math import exp
from tests.bench.kernels import ValueAndGrad, hand_arrays
from tests.bench.kernels.hand_arrays import dot, holding, like


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
            terms[k] = exp(terms[k] - largest)
        for k in range(components):
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
        share += exp(alphas[k] - largest)
    value -= n * (largest + math.log(share))
    icf_ct = np.empty_like(icf)
    for k in range(components):
        sum_ct = alphas_ct[k] - m
        alphas_ct[k] -= n * exp(alphas[k] - largest) / share
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


@njit(cache=True)
def lu(a: Any, w: Any) -> Any:
    """Keep the factors; each row is updated by whole rows above it."""
    n = a.shape[0]
    a = a.copy()
    value = 0.0
    for i in range(n):
        row = a[i]
        for j in range(i):
            x = row[j] / a[j, j]
            row[j] = x
            rest, other = row[j + 1 :], a[j, j + 1 :]
            for k in range(rest.size):
                rest[k] -= x * other[k]
        value += dot(w[i], row)

    grad = w.copy()
    for i in range(n - 1, -1, -1):
        row, row_ct = a[i], grad[i]
        for j in range(i - 1, -1, -1):
            x = row[j]
            rest_ct, other, other_ct = row_ct[j + 1 :], a[j, j + 1 :], grad[j, j + 1 :]
            ct = (row_ct[j] - dot(rest_ct, other)) / a[j, j]
            for k in range(rest_ct.size):
                other_ct[k] -= x * rest_ct[k]
            row_ct[j] = ct
            grad[j, j] -= ct * x
    return value, grad


@holding(like(0))
def trisolv(lower: Any, b: Any, w: Any, lower_ct: Any) -> Any:
    """Keep the solution and nothing else."""
    n = b.size
    x = np.empty(n)
    for i in range(n):
        x[i] = (b[i] - dot(lower[i, :i], x[:i])) / lower[i, i]
    value = dot(w, x)

    x_ct = w.copy()
    for i in range(n - 1, -1, -1):
        row, row_ct = lower[i], lower_ct[i]
        ct = x_ct[i] / row[i]
        x_ct[i] = ct
        row_ct[i] = -ct * x[i]
        row_ct[i + 1 :] = 0.0
        for j in range(i):
            x_ct[j] -= ct * row[j]
        for j in range(i):
            row_ct[j] = -ct * x[j]
    return value, (lower_ct, x_ct)


@njit(cache=True)
def durbin(r: Any, w: Any) -> Any:
    """Keep two numbers of each order; the solutions are restored by undoing each update.

    Everything is held backwards as well, at the end of an array, so that rows meet rows.
    """
    n = r.size
    r_back = r[::-1].copy()
    y, y_back = np.empty(n), np.empty(n)
    alphas, betas = np.empty(n), np.empty(n)
    alpha, beta = -r[0], 1.0
    y[0] = y_back[n - 1] = alpha
    alphas[0], betas[0] = alpha, beta
    for k in range(1, n):
        low, high = y[:k], y_back[n - k :]
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + dot(r_back[n - k :], low)) / beta
        for i in range(k):
            x = low[i]
            low[i] = x + alpha * high[i]
            high[i] = high[i] + alpha * x
        y[k] = y_back[n - 1 - k] = alpha
        alphas[k], betas[k] = alpha, beta
    value = dot(w, y)

    y_ct, y_back_ct = w.copy(), w[::-1].copy()
    r_ct, r_back_ct = np.zeros(n), np.zeros(n)
    alpha_ct = beta_ct = 0.0
    for k in range(n - 1, 0, -1):
        low, high = y[:k], y_back[n - k :]
        low_ct, high_ct = y_ct[:k], y_back_ct[n - k :]
        alpha, beta = alphas[k], betas[k]
        scale = 1.0 / (1.0 - alpha * alpha)
        for i in range(k):
            x = low[i]
            low[i] = (x - alpha * high[i]) * scale
            high[i] = (high[i] - alpha * x) * scale
        alpha_ct += y_ct[k] + dot(low_ct, high)
        ct = -alpha_ct / beta
        beta_ct += ct * alpha
        r_ct[k] += ct
        forwards, backwards, backwards_ct = r[:k], r_back[n - k :], r_back_ct[n - k :]
        for i in range(k):
            x_ct = low_ct[i]
            low_ct[i] = x_ct + alpha * high_ct[i] + ct * backwards[i]
            high_ct[i] = high_ct[i] + alpha * x_ct + ct * forwards[i]
        for i in range(k):
            backwards_ct[i] += ct * low[i]
        alpha = alphas[k - 1]
        alpha_ct = -2.0 * beta_ct * betas[k - 1] * alpha
        beta_ct *= 1.0 - alpha * alpha
    r_ct[0] -= alpha_ct + y_ct[0]
    return value, r_ct + r_back_ct[::-1]


@njit(cache=True)
def nbody(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """Keep the positions before each step; both adjoints of a pair are made at once.

    Coordinates are rows, and the loop over the bodies that are pulled is the inner one, so that it
    carries nothing.
    """
    n = mass.size
    dt = 0.02
    vel = np.ascontiguousarray(vel.T)
    tape = np.empty((steps + 1, 3, n))
    tape[0] = pos.T
    speeds, pulls = np.empty((3, n)), np.empty(n)
    for step in range(steps):
        x, y, z = tape[step]
        speeds[:] = 0.0
        for j in range(n):
            xj, yj, zj, mj = x[j], y[j], z[j], mass[j]
            for i in range(n):
                dx, dy, dz = xj - x[i], yj - y[i], zj - z[i]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pulls[i] = mj / (square * math.sqrt(square))
            for c in range(3):
                here, there, speed = tape[step, c], tape[step, c, j], speeds[c]
                for i in range(n):
                    speed[i] += pulls[i] * (there - here[i])
        for c in range(3):
            for i in range(n):
                vel[c, i] += dt * speeds[c, i]
                tape[step + 1, c, i] = tape[step, c, i] + dt * vel[c, i]
    value = 0.0
    for c in range(3):
        for i in range(n):
            value += w[0, i, c] * tape[steps, c, i] + w[1, i, c] * vel[c, i]

    pos_ct, vel_ct = w[0].T.copy(), w[1].T.copy()
    mass_ct = np.zeros(n)
    units, overs, alongs = np.empty(n), np.empty(n), np.empty(n)
    for step in range(steps - 1, -1, -1):
        x, y, z = tape[step]
        for c in range(3):
            for i in range(n):
                vel_ct[c, i] += dt * pos_ct[c, i]
                speeds[c, i] = dt * vel_ct[c, i]
        ax_ct, ay_ct, az_ct = speeds
        for j in range(n):
            # Of j's pull at i, and of i's at j. Loops are small so that what LLVM has to check of
            # arrays that might overlap does not get out of hand.
            xj, yj, zj, mj = x[j], y[j], z[j], mass[j]
            axj_ct, ayj_ct, azj_ct = ax_ct[j], ay_ct[j], az_ct[j]
            for i in range(n):
                dx, dy, dz = xj - x[i], yj - y[i], zj - z[i]
                square = dx * dx + dy * dy + dz * dz + 0.01
                root = math.sqrt(square)
                unit = 1.0 / (square * root)
                units[i] = unit
                overs[i] = 3.0 * unit * unit * root
            for i in range(n):
                alongs[i] = axj_ct * (xj - x[i]) + ayj_ct * (yj - y[i]) + azj_ct * (zj - z[i])
            for i in range(n):
                mass_ct[i] -= alongs[i] * units[i]
            for i in range(n):
                alongs[i] *= -mass[i]
            for i in range(n):
                alongs[i] += mj * (
                    ax_ct[i] * (xj - x[i]) + ay_ct[i] * (yj - y[i]) + az_ct[i] * (zj - z[i])
                )
            for i in range(n):
                overs[i] *= alongs[i]
            for c in range(3):
                here, there, ct, speed_ct = tape[step, c], tape[step, c, j], pos_ct[c], speeds[c]
                own_ct = speed_ct[j]
                for i in range(n):
                    ct[i] += units[i] * (mass[i] * own_ct - mj * speed_ct[i]) + overs[i] * (
                        there - here[i]
                    )
    return value, (pos_ct.T.copy(), vel_ct.T.copy(), mass_ct)


HAND: dict[str, ValueAndGrad] = {
    "cholesky": cholesky,
    "seidel": seidel,
    "gramschmidt": gramschmidt,
    "mixture": mixture,
    "lu": lu,
    "trisolv": trisolv,
    "durbin": durbin,
    "nbody": nbody,
    **hand_arrays.HAND,
}
