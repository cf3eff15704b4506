"""A model of many layers as people write it: a list of dicts, a function per layer.

`python -m tests.bench --only layers` compares 4, 12 and 48 layers of a small GPT with JAX: the
first value and gradient of a process, the first one of a later process, and calls. Then budgets.
`python -m tests.bench.layers TOOL LAYERS` is the process of one tool, and `… memory BYTES` that of
one budget.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # the interpreter with other tools need not have it
    from rich.console import Console

LAYERS = (4, 12, 48)
WIDTH, HEADS, TOKENS, WORDS = 64, 4, 64, 256
# Parts of what is held between the forward and the reverse pass without a budget.
BUDGETS = (1 / 2, 1 / 4, 1 / 8)
PLANNED = 12


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def norm(x: Any, g: Any, b: Any, eps: float = 1e-5) -> Any:
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w + b


def feed_forward(x: Any, up: Any, down: Any) -> Any:
    return linear(gelu(linear(x, **up)), **down)


def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def heads(x: Any, qkv: Any, out: Any, count: int) -> Any:
    parts = [np.split(part, count, axis=-1) for part in np.split(linear(x, **qkv), 3, axis=-1)]
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    found = [attention(q, k, v, mask) for q, k, v in zip(*parts, strict=True)]
    return linear(np.hstack(found), **out)


def block(x: Any, attend: Any, mlp: Any, before: Any, between: Any, count: int) -> Any:
    x = x + heads(norm(x, **before), **attend, count=count)
    return x + feed_forward(norm(x, **between), **mlp)


def logits(words: Any, blocks: Any, embed: Any, position: Any, last: Any, count: int) -> Any:
    x = embed[words] + position[: len(words)]
    for each in blocks:
        x = block(x, **each, count=count)
    return norm(x, **last) @ embed.T


def loss(model: Any, words: Any, count: int) -> Any:
    """Return the cross entropy of each next word."""
    p = softmax(logits(words[:-1], **model, count=count))
    return np.mean(-np.log(p[np.arange(len(words) - 1), words[1:]]))


def arguments(layers: int) -> tuple[Any, Any, int]:
    rng = np.random.default_rng(0)

    def dense(rows: int, columns: int) -> dict[str, Any]:
        return {"w": 0.02 * rng.standard_normal((rows, columns)), "b": np.zeros(columns)}

    def scale() -> dict[str, Any]:
        return {"g": np.ones(WIDTH), "b": np.zeros(WIDTH)}

    blocks = [
        {
            "attend": {"qkv": dense(WIDTH, 3 * WIDTH), "out": dense(WIDTH, WIDTH)},
            "mlp": {"up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH)},
            "before": scale(),
            "between": scale(),
        }
        for _ in range(layers)
    ]
    model = {
        "blocks": blocks,
        "embed": 0.02 * rng.standard_normal((WORDS, WIDTH)),
        "position": 0.02 * rng.standard_normal((TOKENS, WIDTH)),
        "last": scale(),
    }
    return model, rng.integers(0, WORDS, TOKENS + 1), HEADS


def _jax() -> Callable[..., Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the same text, with another `np`
    run = jax.jit(jax.value_and_grad(loss), static_argnums=2)
    return lambda *args: jax.block_until_ready(run(*args))


def _adc() -> Callable[..., Any]:
    import adc

    return adc.value_and_grad(loss)


def measured(tool: str, layers: int) -> dict[str, float]:
    """Return the seconds of processor time of the first call, and the median of later ones.

    `elapsed` are the seconds that pass in the first one: parts are compiled on several cores.
    """
    given = arguments(layers)
    run = {"adc": _adc, "jax": _jax}[tool]()

    def seconds() -> float:
        start = time.process_time()
        run(*given)
        return time.process_time() - start

    start = time.perf_counter()
    first = seconds()
    elapsed = time.perf_counter() - start
    calls = [seconds() for _ in range(max(5, min(30, 240 // layers)))]
    value = float(run(*given)[0])
    return {
        "first": first, "elapsed": elapsed, "call": statistics.median(calls), "value": value,
    }  # fmt: skip


def _process(python: str, tool: str, layers: int, folder: str) -> dict[str, float] | None:
    command = [python, "-m", "tests.bench.layers", tool, str(layers)]
    found: dict[str, float] | None = _child(command, ADC_CACHE_DIR=folder)
    return found


def _child(command: list[str], **more: str) -> Any:
    """Return what a process prints last; None if it fails."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **more}
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = found.stdout.splitlines()
    return json.loads(lines[-1]) if found.returncode == 0 and lines else None


def main(console: Console, peer: str) -> None:
    """Print a table of 4, 12 and 48 layers, and one of budgets."""
    from rich.table import Table

    table = Table(title="a GPT of many layers, s of processor time", title_justify="left")
    titles = ("layers", "first", "elapsed", "later process", "call, ms")
    for title in (*titles, "JAX: first", "JAX: elapsed", "JAX: call, ms"):
        table.add_column(title, justify="right")
    for layers in LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            cold = _process(sys.executable, "adc", layers, folder)
            warm = _process(sys.executable, "adc", layers, folder)
            other = _process(peer, "jax", layers, folder)
        if cold is None or warm is None:
            raise RuntimeError(f"the model of {layers} layers failed")
        row = [f"{cold['first']:.2f}", f"{cold['elapsed']:.2f}"]
        row += [f"{warm['first']:.2f}", f"{1e3 * warm['call']:.2f}"]
        if other is not None:
            np.testing.assert_allclose(other["value"], cold["value"], rtol=1e-9)
            row += [f"{other['first']:.2f}", f"{other['elapsed']:.2f}"]
            row += [f"{1e3 * other['call']:.2f}"]
        table.add_row(str(layers), *row)
    console.print(table)
    budgets(console)


def budgets(console: Console) -> None:
    """Print what budgets cost: parts of what is held between the forward and the reverse pass.

    That is, of what `remat="store"` holds, and of what the plan without a budget does.
    """
    from rich.table import Table

    import adc

    given = arguments(PLANNED)
    free = adc.value_and_grad(loss)
    _, want = free(*given)
    peak, held, gradients = _bytes(free, given)
    _, stored, _ = _bytes(adc.value_and_grad(loss, remat="store"), given)
    table = Table(title=f"budgets, {PLANNED} layers", title_justify="left")
    for title in (
        "part", "held, MB", "budget, MB", "measured, MB", "time", "the first call, s", "same bits",
    ):  # fmt: skip
        table.add_column(title, justify="right")
    for name, whole in (("stored", stored), ("planned", held)):
        for part in BUDGETS:
            memory = int(peak - held + part * whole)
            run = adc.value_and_grad(loss, memory=memory)
            start = time.process_time()
            _, found = run(*given)
            first = time.process_time() - start
            ratios = []
            for _ in range(7):
                times = [_seconds(each, given) for each in (free, run)]
                ratios.append(times[1] / times[0])
            row = [f"{part:.3f} {name}", f"{part * whole / 1e6:.2f}", f"{memory / 1e6:.2f}"]
            process = _child([sys.executable, "-m", "tests.bench.layers", "memory", str(memory)])
            more = process["bytes"] - gradients if process else float("nan")
            row.append(f"{more / 1e6:.2f}")
            row.append(f"{statistics.median(ratios):.2f}")
            table.add_row(*row, f"{first:.1f}", str(_equal(want, found)))
    console.print(table)


def grown(memory: int) -> dict[str, int]:
    """Return by how many bytes this process grows in a call under a budget."""
    import adc
    from tests.bench.memory import grown

    given = arguments(PLANNED)
    run = adc.value_and_grad(loss, memory=memory)

    def once() -> int:
        adc.release_memory()
        return grown(lambda: run(*given))

    # The first calls load code, and what Python keeps for the next ones.
    return {"bytes": min(once() for _ in range(4))}


def _bytes(run: Any, given: tuple[Any, ...]) -> tuple[int, int, int]:
    """Return the peak of a plan, what it holds until the reverse pass, and the gradients' bytes."""
    plan = run.plan(*given)
    parts = {part.name: part.bytes for part in plan.parts}
    found = plan.peak_bytes, parts["held"], parts["gradients"]
    assert all(each is not None for each in found)
    return found


def _seconds(run: Callable[..., Any], given: tuple[Any, ...]) -> float:
    start = time.process_time()
    for _ in range(5):
        run(*given)
    return time.process_time() - start


def _equal(a: Any, b: Any) -> bool:
    """Whether two trees of lists, dicts and arrays have the same bits."""
    if isinstance(a, dict):
        return all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return all(map(_equal, a, b))
    return bool(np.array_equal(a, b))


if __name__ == "__main__":
    what, number = sys.argv[1], int(sys.argv[2])
    print(json.dumps(grown(number) if what == "memory" else measured(what, number)))
