"""Batches: values, gradients of every example and of the mean over all by `vmap`, beside JAX.

`python -m tests.bench.libraries.batches [PYTHON] [--cores 2]` prints a table of medians. PYTHON is
an interpreter that has JAX, which is compiled, in double precision, with arrays of its own. Both
are asked in turns, in processes of their own on one core, or on several: adc with ``parallel=``.

`python -m tests.bench.libraries.batches TOOL` is the process of one tool.
"""

import argparse
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.libraries import turns
from tests.bench.libraries.turns import Tool


def network(p: Any, x: Any, y: Any) -> Any:
    h = np.tanh(p["w1"] @ x + p["b1"])
    return np.sum((p["w2"] @ h + p["b2"] - y) ** 2)


def predict(p: Any, x: Any, y: Any) -> Any:
    return p["w2"] @ np.tanh(p["w1"] @ x + p["b1"]) + p["b2"]


def logistic(p: Any, x: Any, y: Any) -> Any:
    return np.log(1.0 + np.exp(-y * (p["w"] @ x + p["b"])))


def relaxation(p: Any, x: Any, y: Any) -> Any:
    """A fixed number of steps, so that JAX can trace it."""
    for _ in range(20):
        x = x - p["rate"] * (x * x - y) / (1.0 + x)
    return x


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (network, predict, logistic, relaxation)
}
# What is computed of a function: of every example, or of the mean over all.
EACH, VALUES, MEAN = "gradients", "values", "gradient of the mean"
# Inputs, units and outputs of networks.
SMALL, WIDE = (16, 32, 10), (784, 128, 10)
PROGRAMS = [
    ("network", EACH, SMALL, 256), ("network", EACH, SMALL, 4096),
    ("predict", VALUES, WIDE, 1000), ("network", MEAN, WIDE, 1000), ("network", EACH, WIDE, 256),
    ("logistic", EACH, (), 4096), ("relaxation", EACH, (), 10_000),
]  # fmt: skip


def arguments(name: str, sizes: tuple[int, ...], count: int) -> tuple[Any, Any, Any]:
    """Return parameters, and inputs and targets of so many examples."""
    drawn = numpy.random.default_rng(0)
    if sizes:
        inputs, units, outputs = sizes
        p = {"w1": drawn.standard_normal((units, inputs)) * 0.3, "b1": numpy.zeros(units)}
        p |= {"w2": drawn.standard_normal((outputs, units)) * 0.3, "b2": numpy.zeros(outputs)}
        return p, drawn.standard_normal((count, inputs)), drawn.standard_normal((count, outputs))
    if name == "logistic":
        x = drawn.standard_normal((count, 20))
        return {"w": drawn.standard_normal(20), "b": 0.1}, x, numpy.sign(x[:, 0])
    return {"rate": 0.5}, drawn.uniform(1.0, 2.0, count), drawn.uniform(1.0, 4.0, count)


# -- processes of tools ----------------------------------------------------------------------------


def _made(tool: Any, name: str, kind: str, **threads: Any) -> Any:
    fn = FUNCTIONS[name]
    if kind == VALUES:
        return tool.vmap(fn, (None, 0, 0), **threads)
    if kind == EACH:
        return tool.vmap(tool.grad(fn), (None, 0, 0), **threads)

    def mean(p: Any, x: Any, y: Any) -> Any:
        return np.mean(tool.vmap(fn, (None, 0, 0))(p, x, y))

    return tool.grad(mean, **threads)


def _parts(found: Any) -> list[Any]:
    return [each for _, each in sorted(found.items())] if isinstance(found, dict) else [found]


def _adc(name: str, kind: str, sizes: tuple[int, ...], count: int) -> Callable[[], Any]:
    import adc

    cores = len(os.sched_getaffinity(0))
    found = _made(adc, name, kind, **({"parallel": cores} if cores > 1 else {}))
    args = arguments(name, sizes, count)
    return lambda: _parts(found(*args))


def _jax(name: str, kind: str, sizes: tuple[int, ...], count: int) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(_made(jax, name, kind))
    args = jax.device_put(arguments(name, sizes, count))
    return lambda: _parts(jax.block_until_ready(made(*args)))


TOOLS = {"adc": _adc, "jax": _jax}


def main(console: Console, rounds: int = 3, peer: str = sys.executable, cores: int = 1) -> None:
    """Print the table."""
    tool = functools.partial(Tool, module="tests.bench.libraries.batches", cores=cores)
    tools = {"adc": tool(sys.executable, name="adc")}
    if turns.installed(peer, "jax"):
        tools["jax"] = tool(peer, name="jax")
    table = Table(title="Functions of every example, in milliseconds")
    for column in ("function", "of it", "sizes", "examples", "adc", "JAX", "adc / JAX"):
        table.add_column(column, justify="left" if column in ("function", "of it") else "right")
    for name, kind, sizes, count in PROGRAMS:
        times = turns.beside(tools, (name, kind, sizes, count), rounds)
        table.add_row(name, kind, " ".join(map(str, sizes)), str(count), *times)
    for process in tools.values():
        process.close()
    console.print(table)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(TOOLS[sys.argv[1]])
    else:
        parser = argparse.ArgumentParser(description="Print the table.")
        parser.add_argument("python", nargs="?", default=sys.executable)
        parser.add_argument("--cores", type=int, default=1)
        options = parser.parse_args()
        main(Console(width=100), peer=options.python, cores=options.cores)
