"""Small numerical programs: linear algebra, differential equations, iterations, statistics.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import P4, X3, X6, Program, recorder, spd, uniform

NUMERIC_PROGRAMS: list[Program] = []
program = recorder(NUMERIC_PROGRAMS)


@program(np.array([0.5, -1.2, 0.8, 2.0]), 0.7, argnums=(0, 1), tags="numeric")
def horner(c: Any, x: Any) -> Any:
    s = 0.0
    for i in range(len(c) - 1, -1, -1):
        s = s * x + c[i]
    return s


@program(uniform(33, 4, 19), uniform(34, 3, 19), argnums=(0, 1), tags="numeric")
def distances_of_rows(x: Any, y: Any) -> Any:
    """Rows of 19 elements: two vectors of terms, and three elements that are left."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                delta = x[i, k] - y[j, k]
                s += delta * delta
            total += math.sqrt(s) * (i + 1)
    return total


@program(uniform(35, 9, 9), -3, tags="numeric")
def products_with_parts_of_rows(a: Any, d: Any) -> Any:
    """In the first rows a range of a negative number, then of none, of a vector and of more."""
    b = a.copy()
    for i in range(9):
        s = b[i, 0]
        for k in range(2 * i + d):
            s -= b[i, k % 9] * a[0, k % 9]
        for _ in range(1):
            for k in range(i):
                s -= b[i, k] * b[0, k]
        b[i, 8] = s
    return np.sum(b[:, 8] * b[:, 8])


@program(X6, tags="numeric")
def prefix_sums_in_place(x: Any) -> Any:
    p = x.copy()
    for i in range(1, len(p)):
        p[i] += p[i - 1]
    return p[2] * p[5]


@program(P4, tags="numeric")
def prefix_and_suffix_products(x: Any) -> Any:
    n = len(x)
    left = np.ones(n)
    right = np.ones(n)
    for i in range(1, n):
        left[i] = left[i - 1] * x[i - 1]
    for i in range(n - 2, -1, -1):
        right[i] = right[i + 1] * x[i + 1]
    s = 0.0
    for i in range(n):
        s += left[i] * right[i] * (i + 1)
    return s


@program(uniform(7, 3, 3), 3, tags="numeric")
def matrix_power_by_loops(a: Any, p: Any) -> Any:
    n = a.shape[0]
    r = np.zeros((n, n))
    for i in range(n):
        r[i, i] = 1.0
    t = np.zeros((n, n))
    for _ in range(p):
        for i in range(n):
            for j in range(n):
                s = 0.0
                for k in range(n):
                    s += r[i, k] * a[k, j]
                t[i, j] = s
        r, t = t, r
    return r[0, 0] + r[1, 2] * r[2, 1]


@program(uniform(8, 2, 3), uniform(9, 3, 2), argnums=(0, 1), tags="numeric")
def matrix_product_by_loops(a: Any, b: Any) -> Any:
    c = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(3):
                c[i, j] += a[i, k] * b[k, j]
    return c[0, 0] * c[1, 1] - c[0, 1] * c[1, 0]


@program(spd(10, 4), tags="numeric mutates")
def cholesky_in_place(a: Any) -> Any:
    n = a.shape[0]
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
    s = 0.0
    for i in range(n):
        s += math.log(a[i, i]) + a[i, 0]
    return s


@program(uniform(11, 4, 4) + 4.0 * np.eye(4), tags="numeric mutates")
def lu_in_place(a: Any) -> Any:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    d = 1.0
    for i in range(n):
        d *= a[i, i]
    return math.log(d) + a[3, 0]


@program(
    np.array([[0.2, 1.0, 0.5], [2.0, -0.3, 0.7], [0.4, 0.9, 3.0]]), tags="numeric", smooth=False
)
def determinant_with_pivoting(m: Any) -> Any:
    a = m.copy()
    n = a.shape[0]
    d = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            d = -d
        d *= a[k, k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= f * a[k, j]
    return d


@program(spd(12, 4), X6, argnums=(0, 1), tags="numeric")
def triangular_solves(a: Any, b: Any) -> Any:
    n = a.shape[0]
    y = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * y[j]
        y[i] = s / a[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            y[i] -= a[j, i] * y[j]
        y[i] /= a[i, i]
    return y[0] + y[1] * y[3]


@program(uniform(13, 4, 3) + 0.5, tags="numeric mutates")
def modified_gram_schmidt_in_place(a: Any) -> Any:
    m, n = a.shape
    r = np.zeros((n, n))
    for k in range(n):
        s = 0.0
        for i in range(m):
            s += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(s)
        for i in range(m):
            a[i, k] /= r[k, k]
        for j in range(k + 1, n):
            s = 0.0
            for i in range(m):
                s += a[i, k] * a[i, j]
            r[k, j] = s
            for i in range(m):
                a[i, j] -= a[i, k] * s
    return r[0, 0] * r[1, 2] + r[2, 2] * a[0, 2] + r[0, 1]


@program(np.array([0.5, 0.3, -0.2, 0.15]), tags="numeric")
def durbin_recursion(r: Any) -> Any:
    n = len(r)
    y = np.zeros(n)
    z = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        s = r[k]
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -s / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y[0] * y[1] + y[2] * y[3]


@program(uniform(14, 4, 4) * 0.3 + np.eye(4) * 3.0, P4, argnums=(0, 1), tags="numeric")
def jacobi_iteration(a: Any, b: Any) -> Any:
    n = len(b)
    x = np.zeros(n)
    y = np.zeros(n)
    for _ in range(5):
        for i in range(n):
            s = b[i]
            for j in range(n):
                if j != i:
                    s -= a[i, j] * x[j]
            y[i] = s / a[i, i]
        x, y = y, x
    return x[0] * x[3] + x[1]


@program(uniform(15, 5, 5), 3, tags="numeric mutates")
def gauss_seidel_in_place(a: Any, steps: Any) -> Any:
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] + a[i, j]) / 5.0
    return a[1, 1] * a[2, 3] + a[3, 3]


@program(X6, 6, 0.2, argnums=(0, 2), tags="numeric alias")
def heat_equation_ping_pong(u0: Any, steps: Any, r: Any) -> Any:
    n = len(u0)
    u = u0.copy()
    v = u0.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = u[i] + r * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    s = 0.0
    for i in range(n):
        s += u[i] * u[i]
    return s


@program(uniform(16, 4, 5), 2, tags="numeric")
def five_point_stencil(u: Any, steps: Any) -> Any:
    n, m = u.shape
    a = u.copy()
    b = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = b[i, j] * b[i, j] + u[i, j]
    return a[1, 1] * a[2, 3] + a[1, 2]


@program(uniform(17, 4, 4), tags="numeric")
def periodic_stencil_with_modulo(u: Any) -> Any:
    n = u.shape[0]
    v = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            v[i, j] = u[(i + 1) % n, j] * u[i, j] - u[i - 1, j] * u[i, (j + 1) % n] + u[i, j - 1]
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += v[i, j] * v[i, j]
    return s


@program(uniform(18, 5), 0.1, 8, argnums=(0, 1), tags="numeric")
def burgers_equation(u0: Any, dt: Any, steps: Any) -> Any:
    n = len(u0)
    u = u0.copy()
    for _ in range(steps):
        left = u[n - 1]
        first = u[0]
        for i in range(n):
            right = u[i + 1] if i < n - 1 else first
            old = u[i]
            u[i] = u[i] - dt * u[i] * (right - left) * 0.5 + dt * 0.1 * (right - 2.0 * u[i] + left)
            left = old
    return u[0] * u[1] + u[3]


@program(0.8, 1.1, argnums=(0, 1), tags="numeric while exit", smooth=False)
def time_loop_with_inner_newton_and_break(y0: Any, k: Any) -> Any:
    y = y0
    dt = 0.2
    for _ in range(5):
        z = y
        n = 0
        while n < 20:
            f = z - y + dt * k * z * z * z
            if abs(f) < 1e-9:
                break
            z = z - f / (1.0 + 3.0 * dt * k * z * z)
            n += 1
        y = z
    return y


@program(1.3, 0.9, argnums=(0, 1), tags="numeric while", smooth=False)
def adaptive_euler_step(y0: Any, k: Any) -> Any:
    t = 0.0
    y = y0
    h = 0.1
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        full = y - h * k * y * y
        half = y - 0.5 * h * k * y * y
        half = half - 0.5 * h * k * half * half
        err = abs(full - half)
        if err > 3e-3:
            h = h * 0.5
            continue
        t = t + h
        y = half
        if err < 1.1e-3:
            h = h * 1.5
    return y


@program(2.3, tags="numeric while", smooth=False)
def newton_square_root(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


@program(0.9, 5, tags="numeric constant", smooth=False)
def bisection(a: Any, n: Any) -> Any:
    low = 0.0
    high = 3.0
    for _ in range(n):
        mid = 0.5 * (low + high)
        if mid * mid * mid + mid > a:
            high = mid
        else:
            low = mid
    return 0.5 * (low + high)


@program(0.9, 12, tags="numeric", smooth=False)
def bisection_then_newton_step(a: Any, n: Any) -> Any:
    low = 0.0
    high = 3.0
    for _ in range(n):
        mid = 0.5 * (low + high)
        if mid * mid * mid + mid > a:
            high = mid
        else:
            low = mid
    x = 0.5 * (low + high)
    for _ in range(3):
        x = x - (x * x * x + x - a) / (3.0 * x * x + 1.0)
    return x


@program(0.7, 0.2, 9.8, argnums=(0, 1, 2), tags="numeric tuple")
def rk4_pendulum(theta: Any, omega: Any, g: Any) -> Any:
    def rate(q: Any, p: Any) -> Any:
        return p, -g * math.sin(q)

    h = 0.05
    for _ in range(6):
        a1, b1 = rate(theta, omega)
        a2, b2 = rate(theta + 0.5 * h * a1, omega + 0.5 * h * b1)
        a3, b3 = rate(theta + 0.5 * h * a2, omega + 0.5 * h * b2)
        a4, b4 = rate(theta + h * a3, omega + h * b3)
        theta += h * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0
        omega += h * (b1 + 2.0 * b2 + 2.0 * b3 + b4) / 6.0
    return theta * theta + omega


@program(uniform(19, 3, 2), uniform(20, 3, 2) * 0.1, P4, argnums=(0, 1, 2), tags="numeric")
def n_body_steps(x0: Any, v0: Any, mass: Any) -> Any:
    n = x0.shape[0]
    x = x0.copy()
    v = v0.copy()
    for _ in range(3):
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                r2 = dx * dx + dy * dy + 0.3
                w = mass[j] / (r2 * math.sqrt(r2))
                v[i, 0] += 0.05 * w * dx
                v[i, 1] += 0.05 * w * dy
        for i in range(n):
            for d in range(2):
                x[i, d] += 0.05 * v[i, d]
    e = 0.0
    for i in range(n):
        e += 0.5 * mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2) + x[i, 0] * x[i, 1]
    return e


def _sigmoid(v: Any) -> Any:
    return 1.0 / (1.0 + math.exp(-v))


@program(
    uniform(21, 4, 2, 3), uniform(22, 4, 2), uniform(23, 3, 1), argnums=(0, 1, 2), tags="numeric"
)
def lstm_cell_with_scalar_loops(w: Any, b: Any, x: Any) -> Any:
    m = w.shape[1]
    h = np.zeros(m)
    c = np.zeros(m)
    gate = np.zeros((4, m))
    for t in range(x.shape[0]):
        for g in range(4):
            for i in range(m):
                s = b[g, i] + w[g, i, 0] * x[t, 0]
                for j in range(m):
                    s += w[g, i, j + 1] * h[j]
                gate[g, i] = math.tanh(s) if g == 3 else _sigmoid(s)
        for i in range(m):
            c[i] = gate[0, i] * c[i] + gate[1, i] * gate[3, i]
            h[i] = gate[2, i] * math.tanh(c[i])
    return h[0] * c[1] + h[1] * h[1]


@program(
    uniform(24, 3),
    uniform(25, 3, 2),
    uniform(26, 3),
    uniform(27, 4, 2),
    argnums=(0, 1, 2),
    tags="numeric",
    smooth=False,
)
def gaussian_mixture_log_likelihood(alpha: Any, mu: Any, log_sigma: Any, data: Any) -> Any:
    k = len(alpha)
    total = 0.0
    score = np.zeros(k)
    for p in range(data.shape[0]):
        top = -1e30
        for c in range(k):
            q = 0.0
            for d in range(data.shape[1]):
                z = (data[p, d] - mu[c, d]) * math.exp(-log_sigma[c])
                q += z * z
            score[c] = alpha[c] - 0.5 * q - data.shape[1] * log_sigma[c]
            top = max(top, score[c])
        s = 0.0
        for c in range(k):
            s += math.exp(score[c] - top)
        total += top + math.log(s)
    s = 0.0
    for c in range(k):
        s += math.exp(alpha[c])
    return total - data.shape[0] * math.log(s)


@program(uniform(28, 5, 5), 1.3, argnums=(0, 1), tags="numeric while exit", smooth=False)
def successive_over_relaxation(u0: Any, omega: Any) -> Any:
    n = u0.shape[0]
    u = u0.copy()
    sweeps = 0
    while True:
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                r = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) - u[i, j]
                u[i, j] += omega * r
                change += r * r
        sweeps += 1
        if change < 1e-4 or sweeps >= 100:
            break
    return u[1, 1] * u[2, 2] + u[3, 1]


@program(spd(29, 3), np.array([0.5, 1.0, -0.4]), tags="numeric while", smooth=False)
def power_iteration_until_converged(a: Any, start: Any) -> Any:
    n = len(start)
    v = start.copy()
    w = np.zeros(n)
    value = 0.0
    change = 1.0
    while change > 1e-4:
        norm = 0.0
        for i in range(n):
            w[i] = 0.0
            for j in range(n):
                w[i] += a[i, j] * v[j]
            norm += w[i] * w[i]
        norm = math.sqrt(norm)
        change = abs(norm - value)
        value = norm
        for i in range(n):
            v[i] = w[i] / norm
    return value


@program(uniform(30, 3, 4), uniform(31, 3), argnums=(0, 1), tags="numeric")
def viterbi_like_soft_recursion(emit: Any, move: Any) -> Any:
    n, steps = emit.shape
    score = np.zeros(n)
    for i in range(n):
        score[i] = emit[i, 0]
    new = np.zeros(n)
    for t in range(1, steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += math.exp(score[j] + move[(i - j) % n])
            new[i] = math.log(s) + emit[i, t]
        score, new = new, score
    return score[0] + score[1] * score[2]


@program(X6, np.array([0.2, 0.9, -1.0, 1.6]), argnums=(0, 1), tags="numeric", smooth=False)
def dynamic_time_warping(x: Any, y: Any) -> Any:
    n = len(x)
    m = len(y)
    d = np.full((n + 1, m + 1), 1e6)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@program(0.7, 3.7, argnums=(0, 1), tags="numeric")
def logistic_map(x: Any, r: Any) -> Any:
    for _ in range(6):
        x = r * x * (1.0 - x)
    return x


@program(1.2, 2.0, argnums=(0, 1), tags="numeric")
def continued_fraction(x: Any, y: Any) -> Any:
    s = 0.0
    for k in range(8, 0, -1):
        s = k * y / (k + x + s)
    return x / (1.0 + s)


@program(0.8, tags="numeric while", smooth=False)
def exponential_series_until_small(x: Any) -> Any:
    term = 1.0
    s = 0.0
    n = 0
    while abs(term) > 1e-8:
        s += term
        n += 1
        term *= x / n
    return s


@program(X6, np.array([0, 2, 3, 6]), tags="numeric")
def segment_sums_with_offsets(x: Any, start: Any) -> Any:
    s = 1.0
    for k in range(len(start) - 1):
        part = 0.0
        for i in range(start[k], start[k + 1]):
            part += x[i] * x[i]
        s *= part
    return s


@program(
    np.array([4.0, 1.0, 3.0, 2.0, 5.0]),
    np.array([0, 2, 3, 5]),
    np.array([0, 2, 1, 0, 2]),
    X3,
    argnums=(0, 3),
    tags="numeric",
)
def sparse_matrix_vector_product(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    s = 0.0
    for i in range(len(indptr) - 1):
        row = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            row += data[p] * x[indices[p]]
        s += row * row
    return s


@program(
    np.array([0.2, 0.5, 0.9]), np.array([1.0, 2.5, 1.5, 0.7]), 0.63, argnums=(0, 1, 2), smooth=False
)
def piecewise_linear_lookup(knots: Any, slope: Any, x: Any) -> Any:
    y = 0.0
    left = 0.0
    for i in range(len(knots)):
        if x < knots[i]:
            return y + (x - left) * slope[i]
        y += (knots[i] - left) * slope[i]
        left = knots[i]
    return y + (x - left) * slope[-1]


@program(uniform(32, 4, 4), smooth=False, tags="exit")
def search_in_a_matrix_with_early_return(a: Any) -> Any:
    best = 0.0
    for i in range(4):
        for j in range(4):
            if a[i, j] > 0.6:
                return a[i, j] * a[j, i] + best
            if a[i, j] < -0.8:
                break
            best += a[i, j] * a[i, j]
    return best


@program(X6, smooth=False, tags="exit while")
def all_exits_in_one_program(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        k = 0
        while True:
            k += 1
            if k > 4:
                break
            if x[i] < 0.0 and k % 2 == 0:
                continue
            s += x[i] * k
            if s > 60.0:
                return s * x[0]
        else:
            s = 1000.0
        if s > 25.0:
            s = s * x[i]
            break
    else:
        s = s * s
    return s * x[1]


@program(uniform(35, 5, 3), np.array([0.4, 0.9, 1.3]), argnums=(0, 1), tags="numeric")
def attention_in_every_step(x: Any, w: Any) -> Any:
    """Reverse code reads the probabilities as a matrix, and one by one."""
    for t in range(len(w)):
        scores = w[t] * (x @ x.T)
        e = np.exp(scores - np.max(scores, axis=1)[:, None])
        p = e / np.sum(e, axis=1)[:, None]
        x = x + p @ np.sin(x)
    return np.sum(x * x)


@program(X6, np.array([0.3, 0.7, 1.1]), argnums=(0, 1), tags="numeric")
def rows_of_a_matrix_made_of_one_another(x: Any, w: Any) -> Any:
    """The second row comes from the first one, and both are read once they are there."""
    total = 0.0
    for t in range(len(w)):
        b = np.zeros((2, len(x)))
        b[0, :] = np.sin(x * w[t])
        r = np.zeros(len(x))
        for j in range(len(x)):
            r[j] = math.exp(b[0, j]) / (1.0 + b[0, (j + 1) % len(x)] ** 2)
        b[1, :] = r
        c = b @ b.T
        total += np.sum(c * c) + np.sum(r * r) + np.sum(np.tanh(r))
        x = x + 0.1 * b[1] * b[0]
    return total
