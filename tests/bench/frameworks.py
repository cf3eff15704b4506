"""What a call of adc's code costs within PyTorch and JAX.

``python -m tests.bench.frameworks`` prints a table, with a Python that has adc, PyTorch and JAX;
one thread each. Rows are ways to call the same function, of vectors: alone, with its gradient, and
the gradients of a batch of 8. The function is elementwise and a sum, so with few elements a time is
that of the call alone.

The tools are called in turns, in one process; a time is the least of the rounds.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

import adc
import adc.jax
import adc.torch

SIZES = (10, 1_000_000)
BATCH = 8
SECONDS = 0.2
ROUNDS = 5


def loss(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x * w) ** 2)


def loss_in_torch(x: Any, w: Any) -> Any:
    return torch.sum(torch.tanh(x * w) ** 2)


def loss_in_jax(x: Any, w: Any) -> Any:
    return jnp.sum(jnp.tanh(x * w) ** 2)


def layer(x: Any, w: Any) -> Any:
    return np.tanh(x * w) ** 2


def layer_in_torch(x: Any, w: Any) -> Any:
    return torch.tanh(x * w) ** 2


def layer_in_jax(x: Any, w: Any) -> Any:
    return jnp.tanh(x * w) ** 2


Calls = dict[str, Callable[[], Any]]


def of_numpy(x: Any, w: Any) -> Calls:
    """Return adc's own calls, and what they are of in the table."""
    value, slope, batched = (
        adc.jit(loss),
        adc.value_and_grad(loss, (0, 1)),
        adc.vmap(adc.grad(loss), (0, None)),
    )
    many = np.stack([x] * BATCH)
    ones = np.ones_like(x)

    def pulled() -> Any:
        found, pull = adc.vjp(layer, x, w)
        return found, pull(ones)

    return {
        "value": lambda: value(x, w),
        "value and gradient": lambda: slope(x, w),
        "array, pulled back": pulled,
        "gradients of a batch": lambda: batched(many, w),
    }


def of_torch(fn: Any, array: Any, x: Any, w: Any) -> Calls:
    """Return PyTorch's calls of a function that returns a number, and of one of arrays."""
    x, w = torch.from_numpy(x), torch.from_numpy(w)
    X, W = x.clone().requires_grad_(), w.clone().requires_grad_()
    many, ones = torch.stack([x] * BATCH), torch.ones_like(x)
    batched = torch.func.vmap(torch.func.grad(fn), (0, None))
    return {
        "value": lambda: fn(x, w),
        "value and gradient": lambda: torch.autograd.grad(fn(X, W), (X, W)),
        "array, pulled back": lambda: torch.autograd.grad(array(X, W), (X, W), ones),
        "gradients of a batch": lambda: batched(many, w),
    }


def of_jax(fn: Any, array: Any, x: Any, w: Any) -> Calls:
    """Return JAX's compiled calls of a function that returns a number, and of one of arrays."""
    x, w = jnp.asarray(x), jnp.asarray(w)
    many, ones = jnp.stack([x] * BATCH), jnp.ones_like(x)
    value, slope = jax.jit(fn), jax.jit(jax.value_and_grad(fn, (0, 1)))
    batched = jax.jit(jax.vmap(jax.grad(fn), (0, None)))

    @jax.jit
    def pulled(x: Any, w: Any) -> Any:
        found, pull = jax.vjp(array, x, w)
        return found, pull(ones)

    return {
        "value": lambda: jax.block_until_ready(value(x, w)),
        "value and gradient": lambda: jax.block_until_ready(slope(x, w)),
        "array, pulled back": lambda: jax.block_until_ready(pulled(x, w)),
        "gradients of a batch": lambda: jax.block_until_ready(batched(many, w)),
    }


def check(found: Any, expected: Any) -> None:
    """Raise unless the last parts of two results agree."""
    while isinstance(found, tuple):
        found = found[-1]
    while isinstance(expected, tuple):
        expected = expected[-1]
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-3, atol=1e-5)


def measured(call: Callable[[], Any]) -> float:
    """Return the least seconds that a call takes in a while."""
    least, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return least


def main() -> None:
    torch.set_num_threads(1)
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"  # read at the first call
    jax.config.update("jax_platforms", "cpu")
    print(
        "| microseconds, f32 | adc | `adc.torch` | PyTorch | `adc.jax`, in `jit` | JAX, in `jit` |"
    )
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        rng = np.random.default_rng(0)
        x, w = rng.normal(size=(2, size)).astype(np.float32)
        tools = [
            of_numpy(x, w),
            of_torch(adc.torch.wrap(loss), adc.torch.wrap(layer), x, w),
            of_torch(loss_in_torch, layer_in_torch, x, w),
            of_jax(adc.jax.wrap(loss), adc.jax.wrap(layer), x, w),
            of_jax(loss_in_jax, layer_in_jax, x, w),
        ]
        for name, call in tools[0].items():
            expected = call()
            for calls in tools[1:]:
                calls[name]()
                check(calls[name](), expected)
            rounds = [[measured(calls[name]) for calls in tools] for _ in range(ROUNDS)]
            cells = [f"{1e6 * min(times):.3g}" for times in zip(*rounds, strict=True)]
            print(f"| {name}, {size:,} elements | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
