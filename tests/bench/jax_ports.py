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

from tests.bench import array_kernels
from tests.bench.kernels import KERNELS, Arguments

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
}


def take(name: str, args: Arguments) -> Arguments:
    """Return JAX's arrays for those of a kernel."""
    return tuple(jnp.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args)


def call(name: str, variant: str) -> Any:
    """Return the call of a port, JAX's arrays in and out; it returns when they are there."""
    kernel = KERNELS[name]
    port = PORTS.get(kernel.loss.__name__, {}).get(variant, kernel.loss)
    # Numbers of steps are no data: loops in reverse mode need them.
    constants = tuple(k for k, arg in enumerate(kernel.arguments(kernel.tiny)) if type(arg) is int)
    compiled = jax.jit(jax.value_and_grad(port, kernel.wrt), static_argnums=constants)
    return lambda *args: jax.block_until_ready(compiled(*args))
