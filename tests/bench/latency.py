"""How long a call takes that computes next to nothing: from no leaf to hundreds.

`python -m tests.bench --only latency` prints a table, beside `jax.jit` of the same functions where
JAX is installed (`--peer-python`). Both get the same arguments, NumPy's arrays of four elements and
Python's numbers; the last columns are JAX's times with arrays of its own. Both tools are asked in
turns, and calls of JAX are waited for.

`python -m tests.bench.latency TOOL` is the process of one tool.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
LEAVES = (6, 30, 150, 300)
KINDS = ("dicts", "named tuples", "dataclasses", "objects", "arrays", "floats")
TRANSFORMS = ("value_and_grad", "jit")
SECONDS = 0.05
BATCH = 20  # calls that are timed at once

Pair = namedtuple("Pair", "w b")  # as programs have it


@dataclass
class Block:
    w: Any
    b: Any


class Layer:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


def by_key(model: Any, x: Any) -> Any:
    total = 0.0
    for layer in model:
        total = total + np.sum(layer["w"] * x + layer["b"] * x + layer["s"])
    return total


def by_attribute(model: Any, x: Any) -> Any:
    total = 0.0
    for layer in model:
        total = total + np.sum(layer.w * x + layer.b)
    return total


def one_by_one(model: Any, x: Any) -> Any:
    total = 0.0
    for leaf in model:
        total = total + np.sum(leaf * x)
    return total


def square(x: Any) -> Any:
    return x * x


def constant() -> Any:
    return 1.0


def program(kind: str, leaves: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function, and arguments with about as many leaves in a container."""
    if kind == "nothing":
        return constant, ()
    if kind == "one float":
        return square, (2.0,)
    drawn = default_rng(0)

    def array() -> Any:
        return drawn.standard_normal(4)

    x = array()
    if kind == "dicts":
        count = max(leaves // 3, 1)
        return by_key, ([{"w": array(), "b": array(), "s": array()} for _ in range(count)], x)
    if kind in ("arrays", "floats"):
        items = [array() if kind == "arrays" else float(drawn.random()) for _ in range(leaves)]
        return one_by_one, (tuple(items), x)
    cls: Any = {"named tuples": Pair, "dataclasses": Block, "objects": Layer}[kind]
    return by_attribute, ([cls(array(), array()) for _ in range(max(leaves // 2, 1))], x)


# -- processes of tools ----------------------------------------------------------------------------


def _adc(transform: str, fn: Any, args: tuple[Any, ...]) -> Callable[[], Any]:
    import adc

    made = getattr(adc, transform)(fn)
    return lambda: made(*args)


def _jax(transform: str, fn: Any, args: tuple[Any, ...], own: bool) -> Callable[[], Any]:
    import jax

    globals()["np"] = jax.numpy  # the functions are traced in here
    made = jax.jit(getattr(jax, transform)(fn) if transform != "jit" else fn)
    if own:
        args = jax.device_put(args)
    return lambda: jax.block_until_ready(made(*args))


def _register() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    for cls in (Block, Layer):
        jax.tree_util.register_pytree_node(
            cls, lambda each: ((each.w, each.b), None), lambda _, parts, cls=cls: cls(*parts)
        )


def times(call: Callable[[], Any], seconds: float) -> list[float]:
    """Return microseconds of a call, from batches of calls until `seconds` are over."""
    found: list[float] = []
    while sum(found) * BATCH < 1e6 * seconds:
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        found.append(1e6 * (time.perf_counter() - start) / BATCH)
    return found


def serve(tool: str) -> None:
    """Time what each line of input asks for."""
    if tool != "adc":
        _register()
    print(json.dumps("ready"), flush=True)
    calls: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        kind, leaves, transform = json.loads(line)
        if line not in calls:
            fn, args = program(kind, leaves)
            calls.clear()
            calls[line] = call = (
                _adc(transform, fn, args) if tool == "adc"
                else _jax(transform, fn, args, tool == "jax own")
            )  # fmt: skip
            for _ in range(BATCH):
                call()
        print(json.dumps(times(calls[line], SECONDS)), flush=True)


class Tool:
    """A process of one tool."""

    def __init__(self, name: str, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-m", "tests.bench.latency", name],
            cwd=ROOT,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "ADC_PROGRESS": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.is_there = self.read() == "ready"

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, what: tuple[str, int, str]) -> list[float]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        found = self.read()
        self.is_there = found is not None
        return found or []

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


def measure(tools: list[Tool], what: tuple[str, int, str], rounds: int) -> list[float | None]:
    """Return the median of each tool in microseconds, None for one that cannot do it."""
    found: list[list[float]] = [[] for _ in tools]
    for _ in range(rounds):
        for tool, spent in zip(tools, found, strict=True):
            spent += tool.ask(what) if tool.is_there else []
    return [statistics.median(spent) if spent else None for spent in found]


def main(console: Console, rounds: int, python: str, leaves: tuple[int, ...] = LEAVES) -> None:
    """Print a table of medians, in microseconds of a call."""
    table = Table(title="latency of a call, us", title_justify="left")
    for title in ("arguments", "leaves", "call"):
        table.add_column(title, no_wrap=True)
    for title in ("adc", "JAX", "adc / JAX", "JAX, own arrays", "adc / that"):
        table.add_column(title, justify="right")
    tools = [Tool("adc", sys.executable), Tool("jax", python), Tool("jax own", python)]
    cases = [("nothing", 0, "jit"), *(("one float", 1, each) for each in ("grad", *TRANSFORMS))]
    cases += [(kind, count, each) for kind in KINDS for count in leaves for each in TRANSFORMS]
    try:
        for what in cases:
            ours, *theirs = measure(tools, what, rounds)
            cells = ["" if ours is None else f"{ours:.1f}"]
            for each in theirs:
                known = ours is not None and each is not None
                cells.append("" if each is None else f"{each:.1f}")
                cells.append(f"{ours / each:.2f}" if known and ours and each else "")
            table.add_row(what[0], str(what[1]), what[2], *cells)
    finally:
        for tool in tools:
            tool.close()
    console.print(table)


if __name__ == "__main__":
    serve(sys.argv[1])
