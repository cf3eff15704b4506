"""The kernels for JAX: what its users write, since it does not take the plain loops.

`loops` keeps the kernel's loops and vectorises the innermost one. `arrays` goes as far towards
array code as the algorithm allows. `library` calls JAX's own routine where there is one.
Loops in reverse mode need bounds known in advance, so inner triangular loops run to the end and
mask.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.bench.kernels import Matrix, ValueAndGrad

jax.config.update("jax_enable_x64", True)


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


PORTS: dict[str, dict[str, Any]] = {
    "cholesky": {
        "loops": cholesky_loops,
        "arrays": cholesky_arrays,
        "library": cholesky_library,
    },
    "seidel": {"loops": seidel_loops, "arrays": seidel_arrays},
    "gramschmidt": {"loops": gramschmidt_loops, "arrays": gramschmidt_arrays},
}


def compiled(name: str, variant: str) -> ValueAndGrad:
    """Return value and gradient of a port, NumPy in and out."""
    call = jax.jit(jax.value_and_grad(PORTS[name][variant]))

    def value_and_grad(a: Matrix, w: Matrix) -> tuple[float, Matrix]:
        value, grad = call(a, w)
        return float(value), np.asarray(grad)

    return value_and_grad
