"""Numerical kernels written from their descriptions, with slices and as loops.

Pairs ``name_slices`` and ``name_loops`` compute the same thing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import C234, M33, M34, P33, weighted
from tests.corpus.program import P4, X3, X6, Program, recorder, spd, uniform

KERNEL_PROGRAMS: list[Program] = []
program = recorder(KERNEL_PROGRAMS, "kernel")

G55 = uniform(21, 5, 5)
G66 = uniform(22, 6, 6)
G444 = uniform(23, 4, 4, 4)

# --- stencils -------------------------------------------------------------------------------------


@program(X6, 3)
def jacobi_1d_slices(a: Any, steps: Any) -> Any:
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return weighted(a)


@program(X6, 3)
def jacobi_1d_loops(a: Any, steps: Any) -> Any:
    a = a.copy()
    b = a.copy()
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    return weighted(a)


@program(G55, 2)
def jacobi_2d_slices(a: Any, steps: Any) -> Any:
    b = a * 0.5
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return weighted(a)


@program(G55, 2)
def jacobi_2d_loops(a: Any, steps: Any) -> Any:
    n, m = a.shape
    b = a * 0.5
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])
    return weighted(a)


@program(G444, 2)
def heat_3d_slices(a: Any, steps: Any) -> Any:
    b = a * 1.0
    for _ in range(steps):
        for u, v in ((a, b), (b, a)):
            c = u[1:-1, 1:-1, 1:-1]
            v[1:-1, 1:-1, 1:-1] = (
                0.125 * (u[2:, 1:-1, 1:-1] - 2.0 * c + u[:-2, 1:-1, 1:-1])
                + 0.125 * (u[1:-1, 2:, 1:-1] - 2.0 * c + u[1:-1, :-2, 1:-1])
                + 0.125 * (u[1:-1, 1:-1, 2:] - 2.0 * c + u[1:-1, 1:-1, :-2])
                + c
            )
    return weighted(a)


@program(G444, 1)
def heat_3d_loops(a: Any, steps: Any) -> Any:
    n = a.shape[0]
    b = a * 1.0
    for _ in range(2 * steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        a, b = b, a
    return weighted(a)


@program(G55, 2)
def seidel_2d_slices(a: Any, steps: Any) -> Any:
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:]
                + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )  # fmt: skip
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return weighted(a)


@program(G55, 2)
def seidel_2d_loops(a: Any, steps: Any) -> Any:
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                    + a[i, j - 1] + a[i, j] + a[i, j + 1]
                    + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip
    return weighted(a)


@program(M34, M34 * 0.5 + 0.1, M34 - 0.3, P4[:3], argnums=(0, 1, 2, 3))
def fdtd_2d_slices(ex: Any, ey: Any, hz: Any, source: Any) -> Any:
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return weighted(hz) + weighted(ex * ey)


@program(M34, M34 * 0.5 + 0.1, M34 - 0.3, P4[:3], argnums=(0, 1, 2, 3))
def fdtd_2d_loops(ex: Any, ey: Any, hz: Any, source: Any) -> Any:
    nx, ny = hz.shape
    for t in range(len(source)):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    return weighted(hz) + weighted(ex * ey)


H662 = uniform(24, 7, 7, 2)
H222 = uniform(25, 3, 3, 2)


@program(H662, H222, argnums=(0, 1))
def horizontal_diffusion_slices(field: Any, coefficient: Any) -> Any:
    n, m = field.shape[0] - 4, field.shape[1] - 4
    lap = 4.0 * field[1 : n + 3, 1 : m + 3, :] - (
        field[2 : n + 4, 1 : m + 3, :]
        + field[0 : n + 2, 1 : m + 3, :]
        + field[1 : n + 3, 2 : m + 4, :]
        + field[1 : n + 3, 0 : m + 2, :]
    )
    res = lap[1:, 1 : m + 1, :] - lap[:-1, 1 : m + 1, :]
    flx = np.where(res * (field[2 : n + 3, 2 : m + 2] - field[1 : n + 2, 2 : m + 2]) > 0, 0, res)
    res = lap[1 : n + 1, 1:, :] - lap[1 : n + 1, :-1, :]
    fly = np.where(res * (field[2 : n + 2, 2 : m + 3] - field[2 : n + 2, 1 : m + 2]) > 0, 0, res)
    out = field[2 : n + 2, 2 : m + 2, :] - coefficient * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )
    return weighted(out)


@program(H662, H222, argnums=(0, 1))
def horizontal_diffusion_loops(field: Any, coefficient: Any) -> Any:
    n, m, depth = coefficient.shape
    out = np.zeros((n, m, depth))
    for k in range(depth):
        lap = np.zeros((n + 2, m + 2))
        for i in range(n + 2):
            for j in range(m + 2):
                lap[i, j] = 4.0 * field[i + 1, j + 1, k] - (
                    field[i + 2, j + 1, k] + field[i, j + 1, k]
                    + field[i + 1, j + 2, k] + field[i + 1, j, k]
                )  # fmt: skip
        flx = np.empty((n + 1, m))
        for i in range(n + 1):
            for j in range(m):
                res = lap[i + 1, j + 1] - lap[i, j + 1]
                if res * (field[i + 2, j + 2, k] - field[i + 1, j + 2, k]) > 0:
                    res = 0.0
                flx[i, j] = res
        fly = np.empty((n, m + 1))
        for i in range(n):
            for j in range(m + 1):
                res = lap[i + 1, j + 1] - lap[i + 1, j]
                if res * (field[i + 2, j + 2, k] - field[i + 2, j + 1, k]) > 0:
                    res = 0.0
                fly[i, j] = res
        for i in range(n):
            for j in range(m):
                flux = flx[i + 1, j] - flx[i, j] + fly[i, j + 1] - fly[i, j]
                out[i, j, k] = field[i + 2, j + 2, k] - coefficient[i, j, k] * flux
    return weighted(out)


W225 = uniform(26, 3, 2, 5)
U225 = uniform(27, 2, 2, 5)


@program(U225, W225, argnums=(0, 1))
def vertical_advection_slices(u: Any, w: Any) -> Any:
    """A tridiagonal solve in every column."""
    depth = u.shape[2]
    c = np.zeros_like(u)
    d = np.zeros_like(u)
    out = np.zeros_like(u)
    for k in range(depth):
        below = 0.25 * (w[1:, :, k] + w[:-1, :, k]) if k > 0 else np.zeros(u.shape[:2])
        above = 0.25 * (w[1:, :, k + 1] + w[:-1, :, k + 1]) if k < depth - 1 else below * 0.0
        diagonal = 3.0 - below - above
        right = u[:, :, k] * 3.0 - 0.5 * below
        if k > 0:
            divided = 1.0 / (diagonal - c[:, :, k - 1] * below)
            c[:, :, k] = above * divided
            d[:, :, k] = (right - d[:, :, k - 1] * below) * divided
        else:
            c[:, :, k] = above / diagonal
            d[:, :, k] = right / diagonal
    out[:, :, -1] = d[:, :, -1]
    for k in range(depth - 2, -1, -1):
        out[:, :, k] = d[:, :, k] - c[:, :, k] * out[:, :, k + 1]
    return weighted(out)


@program(U225, W225, argnums=(0, 1))
def vertical_advection_loops(u: Any, w: Any) -> Any:
    n, m, depth = u.shape
    c = np.empty((n, m, depth))
    d = np.empty((n, m, depth))
    for i in range(n):
        for j in range(m):
            for k in range(depth):
                below = 0.0
                above = 0.0
                if k > 0:
                    below = 0.25 * (w[i + 1, j, k] + w[i, j, k])
                if k < depth - 1:
                    above = 0.25 * (w[i + 1, j, k + 1] + w[i, j, k + 1])
                diagonal = 3.0 - below - above
                right = u[i, j, k] * 3.0 - 0.5 * below
                if k > 0:
                    divided = 1.0 / (diagonal - c[i, j, k - 1] * below)
                    c[i, j, k] = above * divided
                    d[i, j, k] = (right - d[i, j, k - 1] * below) * divided
                else:
                    c[i, j, k] = above / diagonal
                    d[i, j, k] = right / diagonal
            for k in range(depth - 2, -1, -1):
                d[i, j, k] -= c[i, j, k] * d[i, j, k + 1]
    return weighted(d)


# --- dense linear algebra -------------------------------------------------------------------------

S4 = spd(31, 4)


@program(S4)
def lu_slices(a: Any) -> Any:
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return weighted(a)


@program(S4)
def lu_loops(a: Any) -> Any:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return weighted(a)


@program(S4)
def lu_outer_products(a: Any) -> Any:
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return weighted(np.tril(a, -1)) + weighted(np.triu(a))


@program(S4, P4, argnums=(0, 1))
def lu_solve(a: Any, b: Any) -> Any:
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return weighted(x)


@program(S4)
def cholesky_slices(a: Any) -> Any:
    n = a.shape[0]
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return weighted(np.tril(a))


@program(S4)
def cholesky_loops(a: Any) -> Any:
    n = a.shape[0]
    el = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= el[i, k] * el[j, k]
            if i == j:
                el[i, j] = np.sqrt(s)
            else:
                el[i, j] = s / el[j, j]
    return weighted(el)


@program(uniform(32, 4, 3))
def gram_schmidt_slices(a: Any) -> Any:
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        norm = np.dot(a[:, k], a[:, k])
        r[k, k] = np.sqrt(norm)
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return weighted(q) + weighted(r)


@program(uniform(32, 4, 3))
def gram_schmidt_loops(a: Any) -> Any:
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]
    return weighted(q) + weighted(r)


@program(X6 * 0.3)
def durbin_slices(r: Any) -> Any:
    n = len(r)
    y = np.empty(n)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return weighted(y)


@program(X6 * 0.3)
def durbin_loops(r: Any) -> Any:
    n = len(r)
    y = np.empty(n)
    z = np.empty(n)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        s = 0.0
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -(r[k] + s) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return weighted(y)


@program(0.7, 1.3, M33, uniform(33, 3, 2), argnums=(0, 1, 2, 3))
def syrk_slices(alpha: Any, beta: Any, c: Any, a: Any) -> Any:
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return weighted(c)


@program(0.7, 1.3, M33, uniform(33, 3, 2), argnums=(0, 1, 2, 3))
def syrk_loops(alpha: Any, beta: Any, c: Any, a: Any) -> Any:
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(m):
                c[i, j] += alpha * a[i, k] * a[j, k]
    return weighted(c)


@program(0.7, M33, M34, argnums=(0, 1, 2))
def trmm_slices(alpha: Any, a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
    return weighted(b)


@program(0.7, M33, M34, argnums=(0, 1, 2))
def trmm_loops(alpha: Any, a: Any, b: Any) -> Any:
    m, n = b.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]
    return weighted(b)


@program(M34, X3, P4, argnums=(0, 1, 2))
def atax_and_bicg(a: Any, r: Any, p: Any) -> Any:
    return weighted((a @ p) @ a) + weighted(r @ a) * weighted(a @ p)


@program(M34)
def covariance_and_correlation(data: Any) -> Any:
    mean = np.mean(data, axis=0)
    centered = data - mean
    cov = centered.T @ centered / (data.shape[0] - 1.0)
    std = np.std(data, axis=0)
    std[std <= 0.1] = 1.0
    scaled = centered / (np.sqrt(3.0) * std)
    corr = np.eye(data.shape[1])
    for i in range(data.shape[1] - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = scaled[:, i] @ scaled[:, i + 1 :]
    return weighted(cov) + weighted(corr)


@program(uniform(34, 4, 4, low=1.0, high=9.0))
def floyd_warshall(path: Any) -> Any:
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return weighted(path)


# --- networks -------------------------------------------------------------------------------------

IMAGE = uniform(41, 2, 5, 5, 2)
FILTER = uniform(42, 3, 3, 2, 2)


@program(IMAGE, FILTER, argnums=(0, 1))
def convolution_slices(x: Any, w: Any) -> Any:
    k = w.shape[0]
    n, h, v, _ = x.shape
    out = np.empty((n, h - k + 1, v - k + 1, w.shape[3]))
    for i in range(h - k + 1):
        for j in range(v - k + 1):
            out[:, i, j, :] = np.sum(
                x[:, i : i + k, j : j + k, :, np.newaxis] * w[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return weighted(out)


@program(IMAGE[0, :4, :4], FILTER, argnums=(0, 1))
def convolution_loops(x: Any, w: Any) -> Any:
    k, _, channels, filters = w.shape
    n = x.shape[0] - k + 1
    out = np.zeros((n, n, filters))
    for i in range(n):
        for j in range(n):
            for f in range(filters):
                for a in range(k):
                    for b in range(k):
                        for c in range(channels):
                            out[i, j, f] += x[i + a, j + b, c] * w[a, b, c, f]
    return weighted(out)


@program(IMAGE[:, :4, :4])
def max_pooling_slices(x: Any) -> Any:
    n, h, w, c = x.shape
    out = np.empty((n, h // 2, w // 2, c))
    for i in range(h // 2):
        for j in range(w // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return weighted(out)


@program(IMAGE[:, :4, :4])
def max_pooling_reshape(x: Any) -> Any:
    n, h, w, c = x.shape
    return weighted(x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4)))


@program(IMAGE[0, :4, :4, 0])
def max_pooling_loops(x: Any) -> Any:
    out = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            best = x[2 * i, 2 * j]
            for a in range(2):
                for b in range(2):
                    v = x[2 * i + a, 2 * j + b]
                    if v > best:
                        best = v
            out[i, j] = best
    return weighted(out)


@program(uniform(43, 5, 3), X3, X3 * 2.0, argnums=(0, 1, 2))
def batch_norm_slices(x: Any, gamma: Any, beta: Any) -> Any:
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return weighted(gamma * (x - mean) / np.sqrt(std * std + 1e-5) + beta)


@program(uniform(43, 5, 3), X3, X3 * 2.0, argnums=(0, 1, 2))
def batch_norm_loops(x: Any, gamma: Any, beta: Any) -> Any:
    n, c = x.shape
    out = np.empty((n, c))
    for j in range(c):
        mean = 0.0
        for i in range(n):
            mean += x[i, j]
        mean /= n
        var = 0.0
        for i in range(n):
            var += (x[i, j] - mean) ** 2
        scale = gamma[j] / np.sqrt(var / n + 1e-5)
        for i in range(n):
            out[i, j] = (x[i, j] - mean) * scale + beta[j]
    return weighted(out)


@program(M34, P4, P4 * 0.5, argnums=(0, 1, 2))
def layer_norm_slices(x: Any, gamma: Any, beta: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return weighted((x - mean) / np.sqrt(var + 1e-5) * gamma + beta)


@program(M34, P4, P4 * 0.5, argnums=(0, 1, 2))
def layer_norm_loops(x: Any, gamma: Any, beta: Any) -> Any:
    y = np.zeros_like(x)
    for i, row in enumerate(x):
        m = sum(row) / len(row)
        v = sum((t - m) ** 2 for t in row) / len(row)
        for j in range(len(row)):
            y[i, j] = (row[j] - m) / np.sqrt(v + 1e-5) * gamma[j] + beta[j]
    return weighted(y)


LABELS = np.array([1, 0, 3])


@program(M34, LABELS)
def softmax_cross_entropy_slices(x: Any, labels: Any) -> Any:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    p = e / np.sum(e, axis=-1, keepdims=True)
    return -np.mean(np.log(p[np.arange(x.shape[0]), labels]))


@program(M34, LABELS)
def softmax_cross_entropy_loops(x: Any, labels: Any) -> Any:
    loss = 0.0
    for i in range(x.shape[0]):
        high = x[i, 0]
        for j in range(1, x.shape[1]):
            high = max(high, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            s += np.exp(x[i, j] - high)
        loss += high + np.log(s) - x[i, labels[i]]
    return loss / x.shape[0]


def _relu(x: Any) -> Any:
    return np.maximum(x, 0)


def _softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@program(uniform(44, 2, 3), M34, P4, uniform(45, 4, 3), X3, argnums=(0, 1, 2, 3, 4))
def multilayer_perceptron(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    return weighted(_softmax(_relu(x @ w1 + b1) @ w2 + b2))


@program(C234[:, :, :3], M33, M33.T * 1.5, P33, argnums=(0, 1, 2, 3))
def attention(x: Any, wq: Any, wk: Any, wv: Any) -> Any:
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = np.einsum("bid,bjd->bij", q, k) / np.sqrt(q.shape[-1])
    return weighted(np.matmul(_softmax(scores), v))


# --- particles, fluids, sparse --------------------------------------------------------------------

POSITIONS = uniform(51, 4, 3)
MASSES = P4


def _acceleration_slices(pos: Any, mass: Any, softening: Any) -> Any:
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    ax = (dx * inverse) @ mass
    ay = (dy * inverse) @ mass
    az = (dz * inverse) @ mass
    return np.stack((ax, ay, az), axis=1)


@program(POSITIONS, uniform(52, 4, 3), MASSES, argnums=(0, 1, 2))
def nbody_slices(pos: Any, vel: Any, mass: Any) -> Any:
    vel -= np.mean(mass[:, None] * vel, axis=0) / np.mean(mass)
    acc = _acceleration_slices(pos, mass, 0.1)
    kinetic = np.zeros(3)
    for i in range(2):
        vel += acc * 0.01
        pos += vel * 0.02
        acc = _acceleration_slices(pos, mass, 0.1)
        vel += acc * 0.01
        kinetic[i] = 0.5 * np.sum(mass.reshape(4, 1) * vel**2)
    return weighted(pos) + weighted(kinetic)


@program(POSITIONS, uniform(52, 4, 3), MASSES, argnums=(0, 1, 2))
def nbody_loops(pos: Any, vel: Any, mass: Any) -> Any:
    n = len(mass)
    for _ in range(2):
        acc = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                r = 0.01
                for k in range(3):
                    r += (pos[j, k] - pos[i, k]) ** 2
                for k in range(3):
                    acc[i, k] += mass[j] * (pos[j, k] - pos[i, k]) * r**-1.5
        for i in range(n):
            for k in range(3):
                vel[i, k] += acc[i, k] * 0.02
                pos[i, k] += vel[i, k] * 0.02
    return weighted(pos) + weighted(vel)


@program(POSITIONS)
def nbody_energy_with_masks(pos: Any) -> Any:
    d = pos[:, None, :] - pos[None, :, :]
    r2 = np.sum(d * d, axis=-1)
    near = (r2 < 1.5) & ~np.eye(len(pos), dtype=bool)
    r = np.sqrt(r2[near])
    upper = np.triu(r2 + np.eye(len(pos)), 1)
    return np.sum(1.0 / r) + np.sum(np.log(upper[upper > 0]))


def _build_b(b: Any, rho: Any, dt: Any, u: Any, v: Any, dx: Any, dy: Any) -> None:
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
                  + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )  # fmt: skip


def _pressure(p: Any, dx: Any, dy: Any, b: Any, nit: Any) -> None:
    pn = np.empty_like(p)
    pn[:] = p.copy()
    for _ in range(nit):
        pn[:] = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@program(G55, G55.T * 0.7, 0.01, 1.1, 0.1, argnums=(0, 1, 3, 4))
def cavity_flow(u: Any, v: Any, dt: Any, rho: Any, nu: Any) -> Any:
    p = np.zeros_like(u)
    b = np.zeros_like(u)
    dx = dy = 2 / (u.shape[0] - 1)
    for _ in range(2):
        un = u.copy()
        vn = v.copy()
        _build_b(b, rho, dt, u, v, dx, dy)
        _pressure(p, dx, dy, b, 3)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                    + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1]))
        )  # fmt: skip
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                    + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1]))
        )  # fmt: skip
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return weighted(u) + weighted(v) + weighted(p)


@program(G55 * 0.2, G55.T * 0.1, 0.01, 1.1, 0.1, argnums=(0, 1, 3, 4))
def channel_flow_until_steady(u: Any, v: Any, dt: Any, rho: Any, nu: Any) -> Any:
    p = np.zeros_like(u)
    b = np.zeros_like(u)
    dx = dy = 2 / (u.shape[0] - 1)
    change = 1.0
    steps = 0
    while change > 0.02 and steps < 10:
        un = u.copy()
        vn = v.copy()
        _build_b(b, rho, dt, u, v, dx, dy)
        for _ in range(2):
            pn = p.copy()
            p[1:-1, 1:-1] = (
                0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1])
                - 0.25 * dx**2 * b[1:-1, 1:-1]
            )
            p[1:-1, -1] = 0.5 * (pn[1:-1, 0] + pn[1:-1, -2])
            p[1:-1, 0] = 0.5 * (pn[1:-1, 1] + pn[1:-1, -1])
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        lap = un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4 * un[1:-1, 1:-1]
        u[1:-1, 1:-1] += dt * (nu / dx**2 * lap - (p[1:-1, 2:] - p[1:-1, :-2]) / (2 * rho * dx) + 1)
        v[1:-1, 1:-1] -= dt * (p[2:, 1:-1] - p[:-2, 1:-1]) / (2 * rho * dy)
        v[1:-1, 1:-1] -= dt * un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, :-2]) / dx
        u[0, :] = u[-1, :] = 0
        v[0, :] = v[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / (np.sum(np.abs(u)) + 0.5)
        change = abs(change)
        steps += 1
    return weighted(u) + weighted(v) + steps * p[2, 2]


INDPTR = np.array([0, 2, 3, 3, 6])
INDICES = np.array([0, 2, 1, 0, 1, 3])


@program(INDPTR, INDICES, X6, P4, argnums=(2, 3))
def sparse_product_slices(indptr: Any, indices: Any, data: Any, x: Any) -> Any:
    y = np.empty(len(indptr) - 1)
    for i in range(len(y)):
        cols = indices[indptr[i] : indptr[i + 1]]
        y[i] = data[indptr[i] : indptr[i + 1]] @ x[cols]
    return weighted(y)


@program(INDPTR, INDICES, X6, P4, argnums=(2, 3))
def sparse_product_loops(indptr: Any, indices: Any, data: Any, x: Any) -> Any:
    n = len(indptr) - 1
    y = np.zeros(n)
    z = np.zeros(n)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
            z[indices[k]] += data[k] * x[i]
    return weighted(y) + weighted(z)


@program(np.array([0.2, 2.7, 1.1, 1.9, 0.7, 2.2]), X6, argnums=(1,))
def histogram_slices(values: Any, weights: Any) -> Any:
    bins = np.minimum((values / 1.0).astype(np.int64), 2)
    out = np.zeros(3)
    np.add.at(out, bins, weights)
    return weighted(out) + weighted(np.bincount(bins, weights=weights**2, minlength=4))


@program(np.array([0.2, 2.7, 1.1, 1.9, 0.7, 2.2]), X6, 4, argnums=(1,))
def histogram_loops(values: Any, weights: Any, n: Any) -> Any:
    low, high = values.min(), values.max()
    out = np.zeros(n)
    for k in range(len(values)):
        i = int((values[k] - low) / (high - low) * n)
        if i == n:
            i = n - 1
        out[i] += weights[k]
    return weighted(out)


# --- others ---------------------------------------------------------------------------------------


@program(X6[:4] * 0.3, X6[2:] * 0.2, argnums=(0, 1))
def adi_sweep(a: Any, b: Any) -> Any:
    u = np.add.outer(a, b)
    for _ in range(2):
        p = np.zeros_like(u)
        q = np.ones_like(u)
        for j in range(1, u.shape[1] - 1):
            p[1:-1, j] = -0.5 / (0.5 * p[1:-1, j - 1] + 2.0)
            q[1:-1, j] = (u[:-2, j] + u[2:, j] - 0.5 * q[1:-1, j - 1]) / (
                0.5 * p[1:-1, j - 1] + 2.0
            )
        for j in range(u.shape[1] - 2, -1, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return weighted(u)


@program(X6, P4[:3], argnums=(0, 1))
def filter_recursive(x: Any, b: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        for k in range(len(b)):
            if i - k >= 0:
                y[i] += b[k] * x[i - k]
        if i > 0:
            y[i] -= 0.5 * y[i - 1]
    return weighted(y) + weighted(np.array([np.sum(x[i : i + 3] * b[::-1]) for i in range(4)]))


@program(0.1, X6, argnums=(0, 1))
def runge_kutta(dt: Any, y: Any) -> Any:
    def rhs(v: Any) -> Any:
        return np.roll(v, 1) * v - 0.5 * np.roll(v, -1)

    for _ in range(3):
        k1 = rhs(y)
        k2 = rhs(y + 0.5 * dt * k1)
        k3 = rhs(y + 0.5 * dt * k2)
        k4 = rhs(y + dt * k3)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return weighted(y)


@program(S4, P4, argnums=(0, 1))
def conjugate_gradients(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(3):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return weighted(x)


@program(S4)
def power_iteration(a: Any) -> Any:
    v = np.ones(a.shape[0])
    value = 0.0
    for _ in range(40):
        w = a @ v
        new = np.sqrt(w @ w)
        v = w / new
        if abs(new - value) < 0.05:
            break
        value = new
    return v @ a @ v


@program(P4)
def newton_square_roots(x: Any) -> Any:
    y = np.ones_like(x)
    while np.max(np.abs(y * y - x)) > 1e-10:
        y = 0.5 * (y + x / y)
    return weighted(y)
