"""Batches: gradients of every example by `vmap`, beside JAX.

`python -m tests.bench.batches [PYTHON]` prints a table of medians. PYTHON is an interpreter that
has JAX, which is compiled, in double precision, with arrays of its own. Both are asked in turns, in
processes of their own on one core.

`python -m tests.bench.batches TOOL` is the process of one tool.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench import turns
from tests.bench.turns import Tool


def network(p: Any, x: Any, y: Any) -> Any:
    h = np.tanh(p["w1"] @ x + p["b1"])
    return np.sum((p["w2"] @ h + p["b2"] - y) ** 2)


def logistic(p: Any, x: Any, y: Any) -> Any:
    return np.log(1.0 + np.exp(-y * (p["w"] @ x + p["b"])))


def relaxation(p: Any, x: Any, y: Any) -> Any:
    """A fixed number of steps, so that JAX can trace it."""
    for _ in range(20):
        x = x - p["rate"] * (x * x - y) / (1.0 + x)
    return x


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (network, logistic, relaxation)
}
PROGRAMS = [("network", 256), ("network", 4096), ("logistic", 4096), ("relaxation", 10_000)]


def arguments(name: str, count: int) -> tuple[Any, Any, Any]:
    """Return parameters, and inputs and targets of so many examples."""
    drawn = numpy.random.default_rng(0)
    if name == "network":
        p = {"w1": drawn.standard_normal((32, 16)) * 0.3, "b1": numpy.zeros(32)}
        p |= {"w2": drawn.standard_normal((10, 32)) * 0.3, "b2": numpy.zeros(10)}
        return p, drawn.standard_normal((count, 16)), drawn.standard_normal((count, 10))
    if name == "logistic":
        x = drawn.standard_normal((count, 20))
        return {"w": drawn.standard_normal(20), "b": 0.1}, x, numpy.sign(x[:, 0])
    return {"rate": 0.5}, drawn.uniform(1.0, 2.0, count), drawn.uniform(1.0, 4.0, count)


# -- processes of tools ----------------------------------------------------------------------------


def _adc(name: str, count: int) -> Callable[[], Any]:
    import adc

    found = adc.vmap(adc.grad(FUNCTIONS[name]), (None, 0, 0))
    args = arguments(name, count)
    return lambda: [each for _, each in sorted(found(*args).items())]


def _jax(name: str, count: int) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(jax.vmap(jax.grad(FUNCTIONS[name]), (None, 0, 0)))
    args = jax.device_put(arguments(name, count))

    def call() -> Any:
        found = jax.block_until_ready(made(*args))
        return [each for _, each in sorted(found.items())]

    return call


TOOLS = {"adc": _adc, "jax": _jax}


def main(console: Console, rounds: int = 3, peer: str = sys.executable) -> None:
    """Print the table."""
    tools = {"adc": Tool(sys.executable, "tests.bench.batches", "adc")}
    if turns.installed(peer, "jax"):
        tools["jax"] = Tool(peer, "tests.bench.batches", "jax")
    table = Table(title="Gradients of every example, in milliseconds")
    for column in ("function", "examples", "adc", "JAX", "adc / JAX"):
        table.add_column(column, justify="left" if column == "function" else "right")
    for program in PROGRAMS:
        table.add_row(program[0], str(program[1]), *turns.beside(tools, program, rounds))
    for process in tools.values():
        process.close()
    console.print(table)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(TOOLS[sys.argv[1]])
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
