"""Fourier transforms: gradients of functions of `np.fft`, beside JAX and SciPy's forward calls.

`python -m tests.bench.libraries.fft [PYTHON]` prints a table of medians: the gradient of a weighted
power spectrum of 2**10 to 2**20 numbers, and of filters of an image. JAX is asked where it is
installed (PYTHON), compiled and in double precision, with arrays of its own. Both are asked in
turns, in processes of their own on one core. SciPy transforms what the function transforms, forward
only.

`python -m tests.bench.libraries.fft TOOL` is the process of one tool.
"""

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


def spectrum(x: Any, w: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * w)


def real_filter(x: Any, w: Any) -> Any:
    return np.sum(np.fft.irfft2(np.fft.rfft2(x) * w) ** 2)


def complex_filter(x: Any, w: Any) -> Any:
    return np.sum(np.fft.ifft2(np.fft.fft2(x) * w).real ** 2)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (spectrum, real_filter, complex_filter)
}
PROGRAMS = [
    *(("spectrum", (2**k,)) for k in range(10, 21, 2)),
    ("real_filter", (512, 512)),
    ("complex_filter", (512, 512)),
]


def arguments(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    drawn = numpy.random.default_rng(0)
    x = drawn.standard_normal(shape)
    if name == "real_filter":
        shape = (shape[0], shape[1] // 2 + 1)
    return x, drawn.random(shape)


def _adc(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import adc

    found = adc.grad(FUNCTIONS[name])
    return lambda: found(*args)


def _jax(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(jax.grad(FUNCTIONS[name]))
    given = jax.device_put(args)
    return lambda: jax.block_until_ready(made(*given))


def _scipy(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import scipy.fft

    x, w = args

    def call() -> None:
        if name == "spectrum":
            scipy.fft.fft(x)
        elif name == "real_filter":
            scipy.fft.irfft2(scipy.fft.rfft2(x) * w)
        else:
            scipy.fft.ifft2(scipy.fft.fft2(x) * w)

    return call


TOOLS = {"adc": _adc, "jax": _jax, "scipy": _scipy}


def main(console: Console, rounds: int = 5, peer: str = sys.executable) -> None:
    """Print the table."""
    tools = {
        name: Tool(sys.executable, "tests.bench.libraries.fft", name) for name in ("scipy", "adc")
    }
    if turns.installed(peer, "jax"):
        tools["jax"] = Tool(peer, "tests.bench.libraries.fft", "jax")
    table = Table(title="Gradient, in milliseconds; SciPy: the transforms alone, forward")
    for column in ("function", "shape", "SciPy", "adc", "JAX", "adc / JAX"):
        table.add_column(column, justify="left" if column == "function" else "right")
    ratios = []
    for name, shape in PROGRAMS:
        found, totals = turns.ask(tools, (name, shape), rounds)
        cells = [f"{statistics.median(each) * 1e3:.3g}" for each in found.values()]
        if "jax" in tools:
            if not numpy.allclose(totals["adc"], totals["jax"], rtol=1e-9):
                raise AssertionError(f"{name} {shape}: gradients differ: {totals}")
            ratios.append(turns.ratio(found, "adc", "jax"))
            cells.append(f"{ratios[-1]:.2f}")
        table.add_row(name, " x ".join(map(str, shape)), *cells)
    for process in tools.values():
        process.close()
    console.print(table)
    if ratios:
        mean = statistics.geometric_mean(ratios)
        console.print(f"geometric mean of adc / JAX {mean:.2f}, most {max(ratios):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(lambda name, shape: TOOLS[sys.argv[1]](name, arguments(name, tuple(shape))))
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
