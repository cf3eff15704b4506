"""Linear algebra: gradients of functions of `np.linalg`, beside JAX, PyTorch and NumPy's values.

`python -m tests.bench --only linalg` (or `python -m tests.bench.libraries.linalg`) prints a table
of medians: value and gradient of a sum over the results, for matrices of several sizes, and for
stacks of 1,000 small ones. JAX and PyTorch are asked where they are installed (`--peer-python`),
with arrays of their own in double precision, JAX compiled. All are asked in turns, in processes of
their own on one core.

`python -m tests.bench.libraries.linalg TOOL` is the process of one tool.
"""

import math
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.libraries import turns
from tests.bench.libraries.turns import Tool

SIZES = (10, 100, 300, 1000)
STACK = (1000, 4)


def solve(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) ** 2)


def inv(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.inv(a) ** 2)


def cholesky(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.cholesky(a) ** 3)


def eigh(a: Any, b: Any) -> Any:
    values, vectors = np.linalg.eigh(a)
    return np.sum(values**2) + np.sum(vectors**3)


def qr(a: Any, b: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q**3) + np.sum(r**2)


def svd(a: Any, b: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(u**3) + np.sum(s**2) + np.sum(vt**3)


def slogdet(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.slogdet(a)[1])


def lstsq(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.lstsq(a, b)[0] ** 2)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (solve, inv, cholesky, eigh, qr, svd, slogdet, lstsq)
}
# PyTorch's routines give some of their vectors other signs, which these gradients depend on.
SIGNED = ("eigh", "qr", "svd")
STACKED = ("solve", "inv", "cholesky", "eigh", "slogdet")


def arguments(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return a well-conditioned matrix, or a stack of them, and a right-hand side."""
    drawn = numpy.random.default_rng(0)
    n = shape[-1]
    a = drawn.standard_normal((*shape[:-1], n, n)) / math.sqrt(n)
    if name in ("cholesky", "eigh"):
        a = a @ numpy.swapaxes(a, -1, -2) + numpy.eye(n)
    else:
        a = a + 2.0 * numpy.eye(n)
    if name == "lstsq":
        a = numpy.concatenate((a, drawn.standard_normal((n // 2, n)) / math.sqrt(n)))
        return a, drawn.standard_normal(n + n // 2)
    columns = 1 if len(shape) > 1 else 4
    return a, drawn.standard_normal((*shape[:-1], n, columns))


def programs(sizes: tuple[int, ...] = SIZES) -> list[tuple[str, tuple[int, ...]]]:
    found = [(name, (n,)) for name in FUNCTIONS for n in sizes]
    return found + [(name, STACK) for name in STACKED]


# -- processes of tools ----------------------------------------------------------------------------


def _adc(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    import adc

    found = adc.value_and_grad(fn, (0, 1) if fn.__name__ in ("solve", "lstsq") else 0)
    return lambda: found(*args)[1]


def _jax(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(jax.value_and_grad(fn, (0, 1) if fn.__name__ in ("solve", "lstsq") else 0))
    given = jax.device_put(args)
    return lambda: jax.block_until_ready(made(*given))[1]


def _torch(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    import torch

    globals()["np"] = torch  # the functions run in here; others say `numpy`
    a, b = (torch.from_numpy(each) for each in args)
    wrt = [a, b] if fn.__name__ in ("solve", "lstsq") else [a]
    for each in wrt:
        each.requires_grad_()
    return lambda: torch.autograd.grad(fn(a, b), wrt)


def _numpy(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    def call() -> None:
        fn(*args)

    return call


TOOLS = {"adc": _adc, "jax": _jax, "torch": _torch, "numpy": _numpy}
PEERS = {"jax": "JAX", "torch": "PyTorch"}


def main(
    console: Console, rounds: int = 3, peer: str = sys.executable, sizes: tuple[int, ...] = SIZES
) -> None:
    """Print the table."""
    tools = {
        name: Tool(sys.executable, "tests.bench.libraries.linalg", name)
        for name in ("numpy", "adc")
    }
    peers = {name: title for name, title in PEERS.items() if turns.installed(peer, name)}
    tools |= {name: Tool(peer, "tests.bench.libraries.linalg", name) for name in peers}
    table = Table(title="Value and gradient, in milliseconds; NumPy: the value alone")
    others = ("NumPy", *peers.values())
    for column in ("function", "shape", "adc", *others, *(f"adc / {each}" for each in others)):
        table.add_column(column, justify="left" if column == "function" else "right")
    ratios: dict[tuple[str, str], list[float]] = {}
    for name, shape in programs(sizes):
        found, gradients = turns.ask(tools, (name, shape), rounds)
        times = [statistics.median(found[tool]) for tool in ("adc", "numpy", *peers)]
        row = [f"{seconds * 1e3:.3g}" for seconds in times]
        for tool in ("numpy", *peers):
            ratio = turns.ratio(found, "adc", tool)
            row.append(f"{ratio:.2f}")
            if tool in peers:
                same = numpy.allclose(gradients["adc"], gradients[tool], rtol=1e-6)
                if not same and not (tool == "torch" and name in SIGNED):
                    raise AssertionError(f"{name} {shape}: gradients differ: {gradients}")
                kind = "stacks" if len(shape) > 1 else "matrices"
                ratios.setdefault((kind, peers[tool]), []).append(ratio)
        full = " x ".join(map(str, (*shape, shape[-1])))
        table.add_row(name, full, *row)
    for process in tools.values():
        process.close()
    console.print(table)
    for (kind, title), each in ratios.items():
        mean = statistics.geometric_mean(each)
        console.print(f"{kind}: geometric mean of adc / {title} {mean:.2f}, most {max(each):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(
            lambda name, shape: TOOLS[sys.argv[1]](FUNCTIONS[name], arguments(name, tuple(shape)))
        )
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
