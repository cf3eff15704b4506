"""Sparse Jacobians and Hessians: the pattern and its coloring, and a call, beside asdex for JAX.

`python -m tests.bench.libraries.sparse [PYTHON]` prints a table of medians. PYTHON is an
interpreter that has JAX and asdex, whose calls are compiled, in double precision. `plan` is the
time to find and color the pattern, with code that is compiled; adc's `call` has the test of the
pattern in it. Both are asked in turns, in processes of their own on one core.

`python -m tests.bench.libraries.sparse TOOL` is the process of one tool.

- `reaction`: the Jacobian of a Gray-Scott step on a periodic square: two unknowns a cell.
- `banded`: the Hessian of Rosenbrock's function.
- `arrow`: the Hessian of a sum in which all terms share one variable.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.libraries import turns
from tests.bench.libraries.turns import Tool


def laplacian(a: Any) -> Any:
    sides = np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1)
    return sides - 4.0 * a


def reaction(x: Any) -> Any:
    side = round((len(x) // 2) ** 0.5)
    u, v = x[: side * side].reshape(side, side), x[side * side :].reshape(side, side)
    made = u * v * v
    du = 0.16 * laplacian(u) - made + 0.06 * (1.0 - u)
    dv = 0.08 * laplacian(v) + made - 0.12 * v
    return np.concatenate((du.reshape(-1), dv.reshape(-1)))


def banded(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def arrow(x: Any) -> Any:
    return np.sum(np.exp(-x[0] * x[1:]) * x[1:] ** 2)


PROGRAMS: dict[str, tuple[Callable[..., Any], int]] = {
    "reaction": (reaction, 2 * 224 * 224), "banded": (banded, 100_000), "arrow": (arrow, 100_000),
}  # fmt: skip
PARTS = ("plan", "call")


def argument(size: int) -> Any:
    return numpy.random.default_rng(0).uniform(0.5, 1.5, size)


# -- processes of tools ----------------------------------------------------------------------------


def _adc(name: str, part: str) -> Callable[[], Any]:
    import adc

    fn, size = PROGRAMS[name]
    x = argument(size)
    make = adc.jacfwd if name == "reaction" else adc.hessian

    def plan() -> Any:
        return numpy.float64(make(fn, sparsity="detect").pattern(x).nnz)

    found = make(fn, sparsity="detect")
    return plan if part == "plan" else lambda: found(x).data


def _asdex(name: str, part: str) -> Callable[[], Any]:
    import asdex  # type: ignore[import-not-found,unused-ignore]  # only in the other interpreter
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    fn, size = PROGRAMS[name]
    x = jax.device_put(argument(size))
    jacobian = name == "reaction"
    color = asdex.jacobian_coloring if jacobian else asdex.hessian_coloring

    def plan() -> Any:
        return numpy.float64(color(fn, x).sparsity.nnz)

    if part == "plan":
        return plan
    make = asdex.jacobian_from_coloring if jacobian else asdex.hessian_from_coloring
    made = jax.jit(make(fn, color(fn, x)))
    return lambda: jax.block_until_ready(made(x)).data


TOOLS = {"adc": _adc, "asdex": _asdex}


def main(console: Console, rounds: int = 3, peer: str = sys.executable) -> None:
    """Print the table."""
    tools = {"adc": Tool(sys.executable, "tests.bench.libraries.sparse", "adc")}
    if turns.installed(peer, "asdex"):
        tools["asdex"] = Tool(peer, "tests.bench.libraries.sparse", "asdex")
    table = Table(title="Sparse Jacobians and Hessians of 100,000 unknowns, in milliseconds")
    for column in ("matrix", "part", "adc", "asdex", "adc / asdex"):
        table.add_column(column, justify="left" if column in ("matrix", "part") else "right")
    for name in PROGRAMS:
        for part in PARTS:
            table.add_row(name, part, *turns.beside(tools, (name, part), rounds))
    for process in tools.values():
        process.close()
    console.print(table)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(TOOLS[sys.argv[1]])
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
