"""The kernels for JAX: what its users write, since it does not take the plain loops.

`loops` keeps the kernel's loops and vectorises the innermost one. `arrays` goes as far towards
array code as the algorithm allows, and is the same program where that is array code already.
`library` calls JAX's own routine where there is one.
Loops in reverse mode need bounds known in advance, so inner triangular loops run to the end and
mask.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.nn import logsumexp

from tests.bench.kernels import KERNELS, Arguments, Kernel, array_kernels

jax.config.update("jax_enable_x64", True)
array_kernels.np = jnp


def cholesky_loops(a: Any, w: Any) -> Any:
    """Row by row, entry by entry; the dot products are array operations."""
    n = a.shape[0]
    at = jnp.arange(n)

    def row(i: Any, a: Any) -> Any:
        def entry(j: Any, a: Any) -> Any:
            before = jnp.where(at < j, a[i], 0.0)
            x = (a[i, j] - before @ a[j]) / a[j, j]
            return a.at[i, j].set(jnp.where(j < i, x, a[i, j]))

        a = lax.fori_loop(0, n, entry, a)
        before = jnp.where(at < i, a[i], 0.0)
        return a.at[i, i].set(jnp.sqrt(a[i, i] - before @ before))

    return jnp.sum(jnp.tril(w) * jnp.tril(lax.fori_loop(0, n, row, a)))


def cholesky_arrays(a: Any, w: Any) -> Any:
    """Column by column; a column is one matrix-vector product."""
    n = a.shape[0]
    at = jnp.arange(n)

    def column(j: Any, factor: Any) -> Any:
        rest = a[:, j] - factor @ factor[j]  # columns from j on are still zero
        x = rest / jnp.sqrt(rest[j])
        return factor.at[:, j].set(jnp.where(at >= j, x, 0.0))

    return jnp.sum(w * lax.fori_loop(0, n, column, jnp.zeros_like(a)))


def cholesky_library(a: Any, w: Any) -> Any:
    lower = jnp.tril(a)
    # The kernel reads the lower triangle only; so must the gradient.
    full = lower + jnp.tril(a, -1).T
    return jnp.sum(jnp.tril(w) * jax.lax.linalg.cholesky(full, symmetrize_input=False))


def seidel_loops(a: Any, w: Any) -> Any:
    """Cell by cell; the sum over the neighbourhood is an array operation."""
    n, m = a.shape

    def sweep(_: Any, a: Any) -> Any:
        def row(i: Any, a: Any) -> Any:
            def cell(j: Any, a: Any) -> Any:
                return a.at[i, j].set(jnp.sum(lax.dynamic_slice(a, (i - 1, j - 1), (3, 3))) / 9.0)

            return lax.fori_loop(1, m - 1, cell, a)

        return lax.fori_loop(1, n - 1, row, a)

    return jnp.sum(w * lax.fori_loop(0, 40, sweep, a))


def seidel_arrays(a: Any, w: Any) -> Any:
    """Row by row; only the chain along a row is a loop, which carries one number."""
    n = a.shape[0]

    def link(left: Any, rest: Any) -> Any:
        x = (rest + left) / 9.0
        return x, x

    def sweep(a: Any, _: Any) -> Any:
        def row(above: Any, here_and_below: Any) -> Any:
            here, below = here_and_below
            rest = here[1:-1] + here[2:]
            for other in (above, below):
                rest += other[:-2] + other[1:-1] + other[2:]
            _, inner = lax.scan(link, here[0], rest)
            new = jnp.concatenate([here[:1], inner, here[-1:]])
            return new, new

        _, inner = lax.scan(row, a[0], (a[1 : n - 1], a[2:]))
        return jnp.concatenate([a[:1], inner, a[-1:]]), None

    return jnp.sum(w * lax.scan(sweep, a, None, length=40)[0])


def gramschmidt_loops(a: Any, w: Any) -> Any:
    """Column against column; the dot products and updates are array operations."""
    m, n = a.shape

    def outer(k: Any, carry: Any) -> Any:
        a, q, r = carry
        norm = jnp.sqrt(a[:, k] @ a[:, k])
        unit = a[:, k] / norm
        q = q.at[:, k].set(unit)
        r = r.at[k, k].set(norm)

        def inner(j: Any, carry: Any) -> Any:
            a, r = carry
            x = jnp.where(j > k, unit @ a[:, j], 0.0)
            r = r.at[k, j].add(x)
            return a.at[:, j].add(-unit * x), r

        a, r = lax.fori_loop(0, n, inner, (a, r))
        return a, q, r

    _, q, r = lax.fori_loop(0, n, outer, (a, jnp.zeros((m, n)), jnp.zeros((n, n))))
    return jnp.sum(w[:m] * q) + jnp.sum(w[m:] * r)


def gramschmidt_arrays(a: Any, w: Any) -> Any:
    """Column by column; the rest of the matrix is updated at once."""
    m, n = a.shape
    at = jnp.arange(n)

    def outer(a: Any, k: Any) -> Any:
        norm = jnp.sqrt(a[:, k] @ a[:, k])
        unit = a[:, k] / norm
        later = jnp.where(at > k, unit @ a, 0.0)
        return a - jnp.outer(unit, later), (unit, later.at[k].set(norm))

    _, (q, r) = lax.scan(outer, a, at)
    return jnp.sum(w[:m] * q.T) + jnp.sum(w[m:] * r)


def softmax_ce_library(logits: Any, labels: Any) -> Any:
    log_p = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], axis=1))


def jacobi(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """A loop of functional updates; it is linear, so that nothing is kept for the way back."""

    def inner(x: Any) -> Any:
        return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

    def step(_: Any, state: Any) -> Any:
        A, B = state
        B = B.at[1:-1, 1:-1].set(inner(A))
        return A.at[1:-1, 1:-1].set(inner(B)), B

    A, _ = lax.fori_loop(0, steps, step, (A, B))
    return jnp.sum(w * A)


def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """As in ADBench: all points at once, the product with the factors a batched one."""
    n, d = x.shape
    qdiags = jnp.exp(icf[:, :d])
    sum_qs = jnp.sum(icf[:, :d], 1)
    columns, rows = np.triu_indices(d, 1)
    lower = jnp.zeros((len(alphas), d, d)).at[:, rows, columns].set(icf[:, d:])
    centred = x - means[:, None]
    scaled = qdiags[:, None] * centred + centred @ jnp.transpose(lower, (0, 2, 1))
    terms = (alphas + sum_qs)[:, None] - 0.5 * jnp.sum(scaled**2, 2)
    likelihood = jnp.sum(logsumexp(terms, 0)) - n * logsumexp(alphas)
    squares = jnp.sum(qdiags**2) + jnp.sum(icf[:, d:] ** 2)
    return likelihood + 0.5 * gamma**2 * squares - m * jnp.sum(sum_qs)


def lu_loops(a: Any, w: Any) -> Any:
    """Row by row, entry by entry; the dot products are array operations."""
    n = a.shape[0]
    at = jnp.arange(n)

    def row(i: Any, a: Any) -> Any:
        def entry(j: Any, a: Any) -> Any:
            before = jnp.where(at < jnp.minimum(i, j), a[i], 0.0)
            rest = a[i, j] - before @ a[:, j]
            return a.at[i, j].set(jnp.where(j < i, rest / a[j, j], rest))

        return lax.fori_loop(0, n, entry, a)

    return jnp.sum(w * lax.fori_loop(0, n, row, a))


def lu_arrays(a: Any, w: Any) -> Any:
    """Column by column; the rest of the matrix is updated at once."""
    n = a.shape[0]
    at = jnp.arange(n)

    def column(k: Any, a: Any) -> Any:
        below = jnp.where(at > k, a[:, k] / a[k, k], 0.0)
        right = jnp.where(at > k, a[k], 0.0)
        a = a.at[:, k].set(jnp.where(at > k, below, a[:, k]))
        return a - jnp.outer(below, right)

    return jnp.sum(w * lax.fori_loop(0, n, column, a))


def trisolv_loops(lower: Any, b: Any, w: Any) -> Any:
    """Row by row; entries of the solution that are not known yet are zero."""

    def row(i: Any, x: Any) -> Any:
        return x.at[i].set((b[i] - lower[i] @ x) / lower[i, i])

    return jnp.sum(w * lax.fori_loop(0, b.size, row, jnp.zeros_like(b)))


def trisolv_library(lower: Any, b: Any, w: Any) -> Any:
    return jnp.sum(w * jax.scipy.linalg.solve_triangular(lower, b, lower=True))


def durbin_loops(r: Any, w: Any) -> Any:
    """Order by order; what is read backwards is gathered."""
    n = r.size
    at = jnp.arange(n)

    def order(k: Any, carry: Any) -> Any:
        y, alpha, beta = carry
        beta = beta * (1.0 - alpha * alpha)
        back = (k - 1 - at) % n
        dot = jnp.sum(jnp.where(at < k, r[back] * y, 0.0))
        alpha = -(r[k] + dot) / beta
        y = y + jnp.where(at < k, alpha * y[back], 0.0)
        return y.at[k].set(alpha), alpha, beta

    y = jnp.zeros(n).at[0].set(-r[0])
    return jnp.sum(w * lax.fori_loop(1, n, order, (y, -r[0], 1.0))[0])


def durbin_arrays(r: Any, w: Any) -> Any:
    """Order by order, with only the solutions kept; rows are turned round by rolling them."""
    n = r.size

    @jax.checkpoint
    def order(carry: Any, k: Any) -> Any:
        y, alpha, beta = carry
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + jnp.roll(r[::-1], k) @ y) / beta
        y = y + alpha * jnp.roll(y[::-1], k)
        return (y.at[k].set(alpha), alpha, beta), None

    y = jnp.zeros(n).at[0].set(-r[0])
    return jnp.sum(w * lax.scan(order, (y, -r[0], 1.0), jnp.arange(1, n))[0][0])


def nbody_loops(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """Body by body; the loop over those that pull at it is an array operation."""

    def step(_: Any, state: Any) -> Any:
        pos, vel = state

        def body(i: Any, vel: Any) -> Any:
            d = pos - pos[i]
            square = jnp.sum(d * d, 1) + 0.01
            pull = mass / (square * jnp.sqrt(square))
            return vel.at[i].add(0.02 * (pull @ d))

        vel = lax.fori_loop(0, mass.size, body, vel)
        return pos + 0.02 * vel, vel

    pos, vel = lax.fori_loop(0, steps, step, (pos, vel))
    return jnp.sum(w[0] * pos + w[1] * vel)


def nbody_arrays(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """All pairs at once."""

    def step(state: Any, _: Any) -> Any:
        pos, vel = state
        d = pos - pos[:, None]
        square = jnp.sum(d * d, 2) + 0.01
        pull = mass / (square * jnp.sqrt(square))
        vel = vel + 0.02 * jnp.sum(pull[:, :, None] * d, 1)
        return (pos + 0.02 * vel, vel), None

    pos, vel = lax.scan(step, (pos, vel), None, length=steps)[0]
    return jnp.sum(w[0] * pos + w[1] * vel)


def ode(end: Any, y: Any, growth: Any, effect: Any, w: Any) -> Any:
    """As many steps as could be needed; those after the end change nothing.

    A loop that ends when the data say so has no reverse mode.
    """
    most = 128 * (end + 1)

    def rates(y: Any) -> Any:
        return y * (growth + effect @ y)

    def step(carry: Any, _: Any) -> Any:
        y, k0, t, h = carry
        active = t < end
        h = jnp.where(h > end - t, end - t, h)
        k1 = rates(y + h * (k0 / 2.0))
        k2 = rates(y + h * (3.0 / 4.0 * k1))
        new = y + h * (2.0 / 9.0 * k0 + 1.0 / 3.0 * k1 + 4.0 / 9.0 * k2)
        k3 = rates(new)
        error = -5.0 / 72.0 * k0 + k1 / 12.0 + k2 / 9.0 - k3 / 8.0
        scaled = h * error / (1e-8 * (1.0 + y))
        square = jnp.mean(scaled * scaled)
        # Roots and powers of what is not used must not be infinite.
        norm = jnp.sqrt(jnp.where(active, square, 1.0))
        accepted = active & (norm <= 1.0)
        factor = jnp.minimum(5.0, jnp.maximum(0.2, 0.9 * norm ** (-1.0 / 3.0)))
        y, k0 = jnp.where(accepted, new, y), jnp.where(accepted, k3, k0)
        t = jnp.where(accepted, t + h, t)
        return (y, k0, t, jnp.where(active, h * factor, h)), t

    start = (y, rates(y), 0.0, 0.01)
    (y, _, t, _), _ = lax.scan(step, start, None, length=most)
    return jnp.sum(w * jnp.where(t < end, jnp.nan, y))


def batched_ode(end: Any, y: Any, rates: Any, w: Any) -> Any:
    """All pairs at once, in hardly more steps than the most that one of them needs; see `ode`."""
    most = 12 * end + 32
    a, b, c, d = rates.T

    def slopes(u: Any, v: Any) -> Any:
        return u * (a - b * v), v * (c * u - d)

    def step(carry: Any, _: Any) -> Any:
        u, v, u1, v1, t, h = carry
        active = t < end
        h = jnp.where(h > end - t, end - t, h)
        u2, v2 = slopes(u + h * (0.5 * u1), v + h * (0.5 * v1))
        u3, v3 = slopes(u + h * (0.75 * u2), v + h * (0.75 * v2))
        p = u + h * (2.0 / 9.0 * u1 + 1.0 / 3.0 * u2 + 4.0 / 9.0 * u3)
        q = v + h * (2.0 / 9.0 * v1 + 1.0 / 3.0 * v2 + 4.0 / 9.0 * v3)
        u4, v4 = slopes(p, q)
        first = h * (-5.0 / 72.0 * u1 + u2 / 12.0 + u3 / 9.0 - u4 / 8.0) / (1e-5 * (1.0 + u))
        other = h * (-5.0 / 72.0 * v1 + v2 / 12.0 + v3 / 9.0 - v4 / 8.0) / (1e-5 * (1.0 + v))
        square = 0.5 * (first * first + other * other)
        norm = jnp.sqrt(jnp.where(active, square, 1.0))
        accepted = active & (norm <= 1.0)
        factor = jnp.minimum(5.0, jnp.maximum(0.2, 0.9 * norm ** (-1.0 / 3.0)))
        pairs = ((p, u), (q, v), (u4, u1), (v4, v1), (t + h, t))
        moved = [jnp.where(accepted, new, old) for new, old in pairs]
        return (*moved, jnp.where(active, h * factor, h)), None

    u, v = y.T
    u1, v1 = slopes(u, v)
    start = (u, v, u1, v1, jnp.zeros_like(u), jnp.full_like(u, 0.05))
    (u, v, _, _, t, _), _ = lax.scan(step, start, None, length=most)
    return jnp.sum(jnp.where(t < end, jnp.nan, w[:, 0] * u + w[:, 1] * v))


def csr(steps: Any, values: Any, columns: Any, starts: Any, x: Any, w: Any) -> Any:
    """All entries at once; the sums of the rows are those of segments."""
    n = x.size
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=values.size)

    def step(x: Any, _: Any) -> Any:
        dot = jax.ops.segment_sum(values * x[columns], rows, n, indices_are_sorted=True)
        return dot / jnp.sqrt(1.0 + dot * dot), None

    return jnp.sum(w * lax.scan(step, x, None, length=steps)[0])


def heat(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """A loop of functional updates; it is linear, so that nothing is kept for the way back."""

    def inner(x: Any) -> Any:
        middle = x[1:-1, 1:-1, 1:-1]
        return (
            0.125 * (x[2:, 1:-1, 1:-1] - 2.0 * middle + x[:-2, 1:-1, 1:-1])
            + 0.125 * (x[1:-1, 2:, 1:-1] - 2.0 * middle + x[1:-1, :-2, 1:-1])
            + 0.125 * (x[1:-1, 1:-1, 2:] - 2.0 * middle + x[1:-1, 1:-1, :-2])
            + middle
        )

    def step(_: Any, state: Any) -> Any:
        A, B = state
        B = B.at[1:-1, 1:-1, 1:-1].set(inner(A))
        return A.at[1:-1, 1:-1, 1:-1].set(inner(B)), B

    A, _ = lax.fori_loop(0, steps, step, (A, B))
    return jnp.sum(w * A)


def vadv(
    utens_stage: Any, u_stage: Any, wcon: Any, u_pos: Any, utens: Any, dtr_stage: Any, w: Any
) -> Any:
    """All levels at once but for the two sweeps, which are scans over planes."""
    I, J = utens_stage.shape[:2]  # noqa: E741
    gain = 0.125 * (wcon[1:, :, 1:] + wcon[:-1, :, 1:])
    flow = gain * (u_stage[:, :, 1:] - u_stage[:, :, :-1])
    edge = jnp.zeros((I, J, 1))
    low, high = jnp.concatenate([edge, gain], 2), jnp.concatenate([gain, edge], 2)
    flows = jnp.concatenate([edge, flow], 2) + jnp.concatenate([flow, edge], 2)
    rhs = dtr_stage * u_pos + utens + utens_stage - flows

    def down(above: Any, level: Any) -> Any:
        c, d = above
        low, high, rhs = level
        divided = 1.0 / (dtr_stage + low - high + c * low)
        new = high * divided, (rhs + d * low) * divided
        return new, new

    def up(below: Any, level: Any) -> Any:
        c, d = level
        x = d - c * below
        return x, x

    zero = jnp.zeros((I, J))
    levels = tuple(jnp.moveaxis(x, 2, 0) for x in (low, high, rhs))
    _, columns = lax.scan(down, (zero, zero), levels)
    _, solution = lax.scan(up, zero, columns, reverse=True)
    return jnp.sum(w * dtr_stage * (jnp.moveaxis(solution, 0, 2) - u_pos))


def syrk_loops(alpha: Any, beta: Any, C: Any, A: Any, w: Any) -> Any:
    """Row by row and column by column, the slices masked rows."""
    n, m = A.shape
    at = jnp.arange(n)

    def row(i: Any, C: Any) -> Any:
        def column(k: Any, new: Any) -> Any:
            return new + jnp.where(at <= i, alpha * A[i, k] * A[:, k], 0.0)

        new = jnp.where(at <= i, C[i] * beta, C[i])
        return C.at[i].set(lax.fori_loop(0, m, column, new))

    return jnp.sum(w * lax.fori_loop(0, n, row, C))


def conv2d(images: Any, weights: Any, bias: Any, w: Any) -> Any:
    """The library's convolution."""
    output = lax.conv_general_dilated(
        images, weights, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jnp.sum(w * (output + bias))


def lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """A scan over characters, as in ADBench; the layers are unrolled."""
    b = state.shape[1]
    layers = state.shape[0] // 2

    def step(state: Any, characters: Any) -> Any:
        given, target = characters
        x, new = given * extra[0], []
        for layer in range(layers):
            weight, shift = main[2 * layer].reshape(4, b), main[2 * layer + 1].reshape(4, b)
            hidden, cell = state[2 * layer], state[2 * layer + 1]
            forget = jax.nn.sigmoid(x * weight[0] + shift[0])
            ingate = jax.nn.sigmoid(hidden * weight[1] + shift[1])
            outgate = jax.nn.sigmoid(x * weight[2] + shift[2])
            change = jnp.tanh(hidden * weight[3] + shift[3])
            cell = cell * forget + ingate * change
            x = outgate * jnp.tanh(cell)
            new += [x, cell]
        guess = x * extra[1] + extra[2]
        return jnp.stack(new), jnp.sum(target * (guess - jnp.log(jnp.sum(jnp.exp(guess)) + 2.0)))

    _, totals = lax.scan(step, state, (sequence[:-1], sequence[1:]))
    return -jnp.sum(totals) / ((sequence.shape[0] - 1) * b)


PORTS: dict[str, dict[str, Any]] = {
    "cholesky": {
        "loops": cholesky_loops,
        "arrays": cholesky_arrays,
        "library": cholesky_library,
    },
    "seidel": {"loops": seidel_loops, "arrays": seidel_arrays},
    "gramschmidt": {"loops": gramschmidt_loops, "arrays": gramschmidt_arrays},
    "softmax_ce": {"library": softmax_ce_library},
    "jacobi": {"arrays": jacobi},
    "hdiff": {"arrays": array_kernels.hdiff_unassigned},
    "mixture": {"arrays": mixture},
    "lu": {"loops": lu_loops, "arrays": lu_arrays},
    "trisolv": {"loops": trisolv_loops, "library": trisolv_library},
    "durbin": {"loops": durbin_loops, "arrays": durbin_arrays},
    "nbody": {"loops": nbody_loops, "arrays": nbody_arrays},
    "ode": {"arrays": ode},
    "batched_ode": {"arrays": batched_ode},
    "csr": {"arrays": csr},
    "heat": {"arrays": heat},
    "vadv": {"arrays": vadv},
    "syrk": {"loops": syrk_loops, "arrays": array_kernels.syrk_unassigned},
    "conv2d": {"arrays": conv2d},
    "gemm": {"arrays": array_kernels.gemm_unassigned},
    "lstm": {"arrays": lstm},
}


def take(name: str, args: Arguments) -> Arguments:
    """Return JAX's arrays for those of a kernel."""
    return tuple(jnp.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args)


def call(name: str, variant: str) -> Any:
    """Return the call of a port, JAX's arrays in and out; it returns when they are there."""
    return compiled(KERNELS[name], variant)


def compiled(kernel: Kernel, variant: str) -> Any:
    port = PORTS.get(kernel.loss.__name__, {}).get(variant, kernel.loss)
    # Numbers of steps are no data: loops in reverse mode need them.
    constants = tuple(k for k, arg in enumerate(kernel.arguments(kernel.tiny)) if type(arg) is int)
    run = jax.jit(jax.value_and_grad(port, kernel.wrt), static_argnums=constants)
    return lambda *args: jax.block_until_ready(run(*args))
