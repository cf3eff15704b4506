"""Loops: plain Python over the elements of arrays, most of which change in place.

Each returns a number, a sum of its outputs weighted by `w`. What the arguments are, and which of
them are differentiated, stands in `tests.bench.kernels`.
"""

import math
from typing import Any

import numpy as np


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


def lu(a: Any, w: Any) -> Any:
    """Factor `a` in place without pivoting, row by row; weigh both factors."""
    n = a.shape[0]
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
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += w[i, j] * a[i, j]
    return total


def trisolv(lower: Any, b: Any, w: Any) -> Any:
    """Solve a triangular system by substitution."""
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        dot = 0.0
        for j in range(i):
            dot += lower[i, j] * x[j]
        x[i] = (b[i] - dot) / lower[i, i]
    total = 0.0
    for i in range(n):
        total += w[i] * x[i]
    return total


def durbin(r: Any, w: Any) -> Any:
    """Solve a Toeplitz system by Durbin's recursion."""
    n = r.shape[0]
    y = np.zeros(n)
    z = np.zeros(n)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        dot = 0.0
        for i in range(k):
            dot += r[k - 1 - i] * y[i]
        alpha = -(r[k] + dot) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    total = 0.0
    for i in range(n):
        total += w[i] * y[i]
    return total


def nbody(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """Move bodies that attract each other, kick and drift; `w` weighs where and how fast they are.

    The force is softened, so that no body need be told from itself.
    """
    n = pos.shape[0]
    dt = 0.02
    for _ in range(steps):
        for i in range(n):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
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
    total = 0.0
    for i in range(n):
        for c in range(3):
            total += w[0, i, c] * pos[i, c] + w[1, i, c] * vel[i, c]
    return total


def ode(end: Any, y: Any, growth: Any, effect: Any, w: Any) -> Any:
    """Follow species that eat each other until `end`, in steps that an estimated error sets.

    The method is Bogacki and Shampine's, of third order with an embedded second; the last stage of
    an accepted step is the first of the next.
    """
    n = y.shape[0]
    y = y.copy()
    stage = np.zeros(n)
    k = np.zeros((4, n))
    table = np.zeros((4, 3))
    table[1, 0] = 1.0 / 2.0
    table[2, 1] = 3.0 / 4.0
    table[3, 0] = 2.0 / 9.0
    table[3, 1] = 1.0 / 3.0
    table[3, 2] = 4.0 / 9.0
    for i in range(n):
        rate = growth[i]
        for j in range(n):
            rate += effect[i, j] * y[j]
        k[0, i] = y[i] * rate
    t = 0.0
    h = 0.01
    while t < end:
        if h > end - t:
            h = end - t
        for s in range(1, 4):
            for i in range(n):
                slope = 0.0
                for before in range(s):
                    slope += table[s, before] * k[before, i]
                stage[i] = y[i] + h * slope
            for i in range(n):
                rate = growth[i]
                for j in range(n):
                    rate += effect[i, j] * stage[j]
                k[s, i] = stage[i] * rate
        square = 0.0
        for i in range(n):
            error = -5.0 / 72.0 * k[0, i] + k[1, i] / 12.0 + k[2, i] / 9.0 - k[3, i] / 8.0
            scaled = h * error / (1e-8 * (1.0 + y[i]))
            square += scaled * scaled
        norm = math.sqrt(square / n)
        if norm <= 1.0:
            t += h
            for i in range(n):
                y[i] = stage[i]
                k[0, i] = k[3, i]
        h *= min(5.0, max(0.2, 0.9 * norm ** (-1.0 / 3.0)))
    total = 0.0
    for i in range(n):
        total += w[i] * y[i]
    return total


def csr(steps: Any, values: Any, columns: Any, starts: Any, x: Any, w: Any) -> Any:
    """Multiply `x` by a sparse matrix, and squash it, again and again."""
    n = x.shape[0]
    x = x.copy()
    y = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            dot = 0.0
            for at in range(starts[i], starts[i + 1]):
                dot += values[at] * x[columns[at]]
            y[i] = dot / math.sqrt(1.0 + dot * dot)
        for i in range(n):
            x[i] = y[i]
    total = 0.0
    for i in range(n):
        total += w[i] * x[i]
    return total
