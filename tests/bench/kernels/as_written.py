"""Value and gradient by hand in Numba, reversing the kernels as they are written.

The same loops in the same order over the same layout, every sum in the order of the program: what
a careful person writes who does not reorganise the algorithm. `hand` has the reorganised ones.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from adc.backend.common.vector_math import exp
from tests.bench.kernels import ValueAndGrad
from tests.bench.kernels.hand_arrays import holding, like


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
            terms[k] = exp(terms[k] - largest)
        for k in range(components):
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
        share += exp(alphas[k] - largest)
    value -= n * (largest + math.log(share))
    for k in range(components):
        sum_ct = alphas_ct[k] - m
        alphas_ct[k] -= n * exp(alphas[k] - largest) / share
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


@njit(cache=True)
def lu(a: Any, w: Any) -> Any:
    """Keep the factors and nothing else."""
    n = a.shape[0]
    a = a.copy()
    for i in range(n):
        for j in range(i):
            dot = 0.0
            for k in range(j):
                dot += a[i, k] * a[k, j]
            a[i, j] = (a[i, j] - dot) / a[j, j]
        for j in range(i, n):
            dot = 0.0
            for k in range(i):
                dot += a[i, k] * a[k, j]
            a[i, j] -= dot
    value = 0.0
    for i in range(n):
        for j in range(n):
            value += w[i, j] * a[i, j]

    grad = w.copy()
    for i in range(n - 1, -1, -1):
        row, row_ct = a[i], grad[i]
        for j in range(n - 1, i - 1, -1):
            ct = row_ct[j]
            for k in range(i):
                row_ct[k] -= ct * a[k, j]
                grad[k, j] -= ct * row[k]
        for j in range(i - 1, -1, -1):
            ct = row_ct[j] / a[j, j]
            row_ct[j] = ct
            grad[j, j] -= ct * row[j]
            for k in range(j):
                row_ct[k] -= ct * a[k, j]
                grad[k, j] -= ct * row[k]
    return value, grad


@holding(like(0))
def trisolv(lower: Any, b: Any, w: Any, lower_ct: Any) -> Any:
    """Keep the solution and nothing else."""
    n = b.size
    x = np.zeros(n)
    for i in range(n):
        row = lower[i]
        dot = 0.0
        for j in range(i):
            dot += row[j] * x[j]
        x[i] = (b[i] - dot) / row[i]
    value = 0.0
    for i in range(n):
        value += w[i] * x[i]

    x_ct = w.copy()
    for i in range(n - 1, -1, -1):
        row, row_ct = lower[i], lower_ct[i]
        ct = x_ct[i] / row[i]
        x_ct[i] = ct
        row_ct[i] = -ct * x[i]
        row_ct[i + 1 :] = 0.0
        for j in range(i):
            x_ct[j] -= ct * row[j]
            row_ct[j] = -ct * x[j]
    return value, (lower_ct, x_ct)


@njit(cache=True)
def durbin(r: Any, w: Any) -> Any:
    """Keep the solution of every order."""
    n = r.size
    y, z = np.zeros(n), np.zeros(n)
    tape = np.empty(n * (n - 1) // 2)
    alphas, betas = np.empty(n), np.empty(n)
    alphas[0], betas[0] = -r[0], 1.0
    y[0] = -r[0]
    top = 0
    for k in range(1, n):
        beta = betas[k - 1] * (1.0 - alphas[k - 1] * alphas[k - 1])
        kept = tape[top : top + k]
        top += k
        dot = 0.0
        for i in range(k):
            kept[i] = y[i]
            dot += r[k - 1 - i] * y[i]
        alpha = -(r[k] + dot) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
        alphas[k], betas[k] = alpha, beta
    value = 0.0
    for i in range(n):
        value += w[i] * y[i]

    y_ct, z_ct, r_ct = w.copy(), np.empty(n), np.zeros(n)
    alpha_ct = beta_ct = 0.0
    for k in range(n - 1, 0, -1):
        top -= k
        kept = tape[top : top + k]
        alpha, beta = alphas[k], betas[k]
        alpha_ct += y_ct[k]
        for i in range(k):
            z_ct[i] = y_ct[i]
        for i in range(k):
            alpha_ct += z_ct[i] * kept[k - 1 - i]
            y_ct[i] = z_ct[i] + alpha * z_ct[k - 1 - i]
        ct = -alpha_ct / beta
        beta_ct += ct * alpha
        r_ct[k] += ct
        for i in range(k):
            y_ct[i] += ct * r[k - 1 - i]
            r_ct[k - 1 - i] += ct * kept[i]
        alpha = alphas[k - 1]
        alpha_ct = -2.0 * beta_ct * betas[k - 1] * alpha
        beta_ct *= 1.0 - alpha * alpha
    r_ct[0] -= alpha_ct + y_ct[0]
    return value, r_ct


@njit(cache=True)
def nbody(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """Keep the positions before each step; go over the pairs again on the way back."""
    n = mass.size
    dt = 0.02
    pos, vel = pos.copy(), vel.copy()
    tape = np.empty((steps, n, 3))
    for step in range(steps):
        tape[step] = pos
        for i in range(n):
            x, y, z = pos[i, 0], pos[i, 1], pos[i, 2]
            ax = ay = az = 0.0
            for j in range(n):
                dx, dy, dz = pos[j, 0] - x, pos[j, 1] - y, pos[j, 2] - z
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = mass[j] / (square * math.sqrt(square))
                ax += pull * dx
                ay += pull * dy
                az += pull * dz
            vel[i, 0] += dt * ax
            vel[i, 1] += dt * ay
            vel[i, 2] += dt * az
        for i in range(n):
            for c in range(3):
                pos[i, c] += dt * vel[i, c]
    value = 0.0
    for i in range(n):
        for c in range(3):
            value += w[0, i, c] * pos[i, c] + w[1, i, c] * vel[i, c]

    pos_ct, vel_ct, mass_ct = w[0].copy(), w[1].copy(), np.zeros(n)
    for step in range(steps - 1, -1, -1):
        pos = tape[step]
        for i in range(n):
            for c in range(3):
                vel_ct[i, c] += dt * pos_ct[i, c]
        for i in range(n):
            x, y, z = pos[i, 0], pos[i, 1], pos[i, 2]
            ax_ct, ay_ct, az_ct = dt * vel_ct[i, 0], dt * vel_ct[i, 1], dt * vel_ct[i, 2]
            x_ct = y_ct = z_ct = 0.0
            for j in range(n):
                dx, dy, dz = pos[j, 0] - x, pos[j, 1] - y, pos[j, 2] - z
                square = dx * dx + dy * dy + dz * dz + 0.01
                unit = 1.0 / (square * math.sqrt(square))
                pull = mass[j] * unit
                pull_ct = ax_ct * dx + ay_ct * dy + az_ct * dz
                mass_ct[j] += pull_ct * unit
                twice_ct = -3.0 * pull_ct * pull / square
                dx_ct = pull * ax_ct + twice_ct * dx
                dy_ct = pull * ay_ct + twice_ct * dy
                dz_ct = pull * az_ct + twice_ct * dz
                pos_ct[j, 0] += dx_ct
                pos_ct[j, 1] += dy_ct
                pos_ct[j, 2] += dz_ct
                x_ct += dx_ct
                y_ct += dy_ct
                z_ct += dz_ct
            pos_ct[i, 0] -= x_ct
            pos_ct[i, 1] -= y_ct
            pos_ct[i, 2] -= z_ct
    return value, (pos_ct, vel_ct, mass_ct)


@njit(cache=True)
def ode(end: Any, y: Any, growth: Any, effect: Any, w: Any) -> Any:
    """Keep of each attempted step where and how it went, its stages and their rates."""
    n = y.size
    y = y.copy()
    k, k_ct, stage_ct = np.zeros((4, n)), np.zeros((4, n)), np.zeros(n)
    table = np.zeros((4, 3))
    table[1, 0] = 1.0 / 2.0
    table[2, 1] = 3.0 / 4.0
    table[3, 0] = 2.0 / 9.0
    table[3, 1] = 1.0 / 3.0
    table[3, 2] = 4.0 / 9.0
    weights = np.array([-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0])
    # Rows of the first: start, its slope, three stages, three rates; of the second: the step, the
    # norm of the error, whether the step went to the end.
    states, scalars = np.empty((1024, 8, n)), np.empty((1024, 3))
    start = y.copy()
    for i in range(n):
        rate = growth[i]
        for j in range(n):
            rate += effect[i, j] * y[j]
        k[0, i] = y[i] * rate
    t, h = 0.0, 0.01
    count = 0
    while t < end:
        if count == states.shape[0]:
            more, more_scalars = np.empty((2 * count, 8, n)), np.empty((2 * count, 3))
            more[:count], more_scalars[:count] = states, scalars
            states, scalars = more, more_scalars
        scalars[count, 2] = 0.0
        if h > end - t:
            h = end - t
            scalars[count, 2] = 1.0
        for i in range(n):
            states[count, 0, i] = y[i]
            states[count, 1, i] = k[0, i]
        for s in range(1, 4):
            for i in range(n):
                slope = 0.0
                for before in range(s):
                    slope += table[s, before] * k[before, i]
                states[count, 1 + s, i] = y[i] + h * slope
            for i in range(n):
                rate = growth[i]
                for j in range(n):
                    rate += effect[i, j] * states[count, 1 + s, j]
                states[count, 4 + s, i] = rate
                k[s, i] = states[count, 1 + s, i] * rate
        square = 0.0
        for i in range(n):
            error = 0.0
            for s in range(4):
                error += weights[s] * k[s, i]
            scaled = h * error / (1e-8 * (1.0 + y[i]))
            square += scaled * scaled
        norm = math.sqrt(square / n)
        scalars[count, 0], scalars[count, 1] = h, norm
        if norm <= 1.0:
            t += h
            for i in range(n):
                y[i] = states[count, 4, i]
                k[0, i] = k[3, i]
        h *= min(5.0, max(0.2, 0.9 * norm ** (-1.0 / 3.0)))
        count += 1
    value = 0.0
    for i in range(n):
        value += w[i] * y[i]

    y_ct, growth_ct, effect_ct = w.copy(), np.zeros(n), np.zeros((n, n))
    first_ct = np.zeros(n)  # of the slope at the start of a step
    t_ct = h_ct = 0.0
    for at in range(count - 1, -1, -1):
        h, norm = scalars[at, 0], scalars[at, 1]
        for i in range(n):
            k[0, i] = states[at, 1, i]
        for s in range(1, 4):
            for i in range(n):
                k[s, i] = states[at, 1 + s, i] * states[at, 4 + s, i]
        factor = 0.9 * norm ** (-1.0 / 3.0)
        norm_ct = 0.0
        if 0.2 < factor < 5.0:
            norm_ct = -h_ct * h * factor / (3.0 * norm)
        h_ct *= min(5.0, max(0.2, factor))
        accepted = norm <= 1.0
        if accepted:
            h_ct += t_ct
        square_ct = norm_ct / (2.0 * n * norm)
        for i in range(n):
            if accepted:
                k_ct[0, i], k_ct[3, i] = 0.0, first_ct[i]
                stage_ct[i], y_ct[i] = y_ct[i], 0.0
            else:
                k_ct[0, i], k_ct[3, i] = first_ct[i], 0.0
                stage_ct[i] = 0.0
            k_ct[1, i] = k_ct[2, i] = 0.0
            error = 0.0
            for s in range(4):
                error += weights[s] * k[s, i]
            bound = 1e-8 * (1.0 + states[at, 0, i])
            scaled = h * error / bound
            scaled_ct = 2.0 * scaled * square_ct
            h_ct += scaled_ct * error / bound
            y_ct[i] -= scaled_ct * scaled / (1.0 + states[at, 0, i])
            for s in range(4):
                k_ct[s, i] += weights[s] * scaled_ct * h / bound
        for s in range(3, 0, -1):
            for i in range(n):
                stage_ct[i] += k_ct[s, i] * states[at, 4 + s, i]
            for i in range(n):
                rate_ct = k_ct[s, i] * states[at, 1 + s, i]
                growth_ct[i] += rate_ct
                for j in range(n):
                    effect_ct[i, j] += rate_ct * states[at, 1 + s, j]
                    stage_ct[j] += rate_ct * effect[i, j]
            for i in range(n):
                ct = stage_ct[i]
                y_ct[i] += ct
                for before in range(s):
                    h_ct += ct * table[s, before] * k[before, i]
                    k_ct[before, i] += ct * h * table[s, before]
                stage_ct[i] = 0.0
        for i in range(n):
            first_ct[i] = k_ct[0, i]
        if scalars[at, 2] > 0.0:
            t_ct -= h_ct
            h_ct = 0.0
    for i in range(n):
        rate = growth[i]
        for j in range(n):
            rate += effect[i, j] * start[j]
        y_ct[i] += first_ct[i] * rate
        rate_ct = first_ct[i] * start[i]
        growth_ct[i] += rate_ct
        for j in range(n):
            effect_ct[i, j] += rate_ct * start[j]
            y_ct[j] += rate_ct * effect[i, j]
    return value, (y_ct, growth_ct, effect_ct)


@njit(cache=True)
def csr(steps: Any, values: Any, columns: Any, starts: Any, x: Any, w: Any) -> Any:
    """Keep `x` of every step, from which its product can be told."""
    n = x.size
    tape = np.empty((steps + 1, n))
    tape[0] = x
    for step in range(steps):
        x, y = tape[step], tape[step + 1]
        for i in range(n):
            dot = 0.0
            for at in range(starts[i], starts[i + 1]):
                dot += values[at] * x[columns[at]]
            y[i] = dot / math.sqrt(1.0 + dot * dot)
    value = 0.0
    for i in range(n):
        value += w[i] * tape[steps, i]

    values_ct = np.zeros_like(values)
    y_ct, x_ct = w.copy(), np.empty(n)
    for step in range(steps - 1, -1, -1):
        x, y = tape[step], tape[step + 1]
        x_ct[:] = 0.0
        for i in range(n):
            rest = 1.0 - y[i] * y[i]
            ct = y_ct[i] * rest * math.sqrt(rest)
            for at in range(starts[i], starts[i + 1]):
                column = columns[at]
                values_ct[at] += ct * x[column]
                x_ct[column] += ct * values[at]
        y_ct, x_ct = x_ct, y_ct
    return value, (values_ct, y_ct)


@njit(cache=True)
def syrk(alpha: Any, beta: Any, C: Any, A: Any, w: Any) -> Any:
    """Keep nothing: only what is not overwritten is multiplied by itself."""
    n, m = A.shape
    C = C.copy()
    for i in range(n):
        row = C[i, : i + 1]
        for j in range(i + 1):
            row[j] *= beta
        for k in range(m):
            x = alpha * A[i, k]
            for j in range(i + 1):
                row[j] += x * A[j, k]
    value = 0.0
    for i in range(n):
        for j in range(n):
            value += w[i, j] * C[i, j]

    C_ct, A_ct = w.copy(), np.zeros_like(A)
    for i in range(n - 1, -1, -1):
        row_ct = C_ct[i, : i + 1]
        for k in range(m - 1, -1, -1):
            x = alpha * A[i, k]
            ct = 0.0
            for j in range(i + 1):
                ct += row_ct[j] * A[j, k]
                A_ct[j, k] += x * row_ct[j]
            A_ct[i, k] += alpha * ct
        for j in range(i + 1):
            row_ct[j] *= beta
    return value, (C_ct, A_ct)


AS_WRITTEN: dict[str, ValueAndGrad] = {
    "cholesky": cholesky,
    "seidel": seidel,
    "gramschmidt": gramschmidt,
    "mixture": mixture,
    "lu": lu,
    "trisolv": trisolv,
    "durbin": durbin,
    "nbody": nbody,
    "ode": ode,
    "csr": csr,
    "syrk": syrk,
}
