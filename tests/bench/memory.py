"""Time and peak memory of gradients under budgets, beside checkpointing in PyTorch and JAX.

``python -m tests.bench.memory [--only residual|steps] [--json FILE] [--peer-python PYTHON]``

Every line of a table is a process of its own: a first call compiles, then the high-water mark of
the process is reset, and the best of several calls is taken. The peak is what the process grew by
during calls, gradients included; of adc, what it predicts is shown, too, which is without them.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
LAYERS, WIDTH = 48, 256
STEPS, GRID = 10_000, 100
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu",
    # What is freed goes back to the system, so that the high-water mark tells what was held.
    "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536",
}  # fmt: skip


# --- the programs ---------------------------------------------------------------------------------


def residual(x: Any, W: Any, V: Any) -> Any:
    h = x
    for k in range(W.shape[0]):
        h = h + np.tanh(h @ W[k]) @ V[k]
    return np.sum(h * h)


def residual_arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    shape = (LAYERS, WIDTH, WIDTH)
    scale = 0.5 / WIDTH**0.5
    x = rng.normal(size=(WIDTH, WIDTH))
    return x, rng.normal(size=shape) * scale, rng.normal(size=shape) * scale


def reaction(u: Any, k: Any, n: Any) -> Any:
    """Reaction and diffusion on a grid, one explicit step after the other."""
    for _ in range(n):
        v = u.copy()
        v[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        ) + 0.01 * np.sin(u[1:-1, 1:-1])
        u = v
    return np.sum(u * u)


def reaction_arguments() -> tuple[Any, ...]:
    return np.random.default_rng(0).normal(size=(GRID, GRID)), 0.1, STEPS


# --- tools ----------------------------------------------------------------------------------------


def adc_residual(how: str) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    return _adc(residual, residual_arguments(), (1, 2), how)


def adc_steps(how: str) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    return _adc(reaction, reaction_arguments(), (0, 1), how)


def _adc(
    fn: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...], how: str
) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    import adc

    how, _, disk = how.partition(":")
    options: dict[str, Any] = {"memory": int(how)} if how.isdigit() else {"remat": how}
    if disk:
        options["offload"] = disk
    gradient = adc.value_and_grad(fn, argnums=wrt, **options)
    return lambda: gradient(*args), lambda: {"predicted": gradient.plan(*args).peak_bytes}


def torch_residual(how: str) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    import torch
    from torch.utils.checkpoint import checkpoint

    torch.set_num_threads(1)
    x, W, V = (torch.tensor(a) for a in residual_arguments())

    def layers(h: Any, first: int, last: int, W: Any, V: Any) -> Any:
        for k in range(first, last):
            h = h + torch.tanh(h @ W[k]) @ V[k]
        return h

    size = LAYERS if how == "plain" else int(how)

    def call() -> Any:
        w, v = W.requires_grad_(), V.requires_grad_()
        w.grad = v.grad = None
        h = x
        for first in range(0, LAYERS, size):
            part = (h, first, min(first + size, LAYERS), w, v)
            h = layers(*part) if how == "plain" else checkpoint(layers, *part, use_reentrant=False)
        loss = (h * h).sum()
        loss.backward()
        return loss, w.grad, v.grad

    return call, dict


def jax_residual(how: str) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    import jax
    import jax.numpy as jnp

    x, W, V = map(jnp.asarray, residual_arguments())

    def step(h: Any, wv: Any) -> Any:
        return h + jnp.tanh(h @ wv[0]) @ wv[1], None

    def loss(W: Any, V: Any) -> Any:
        if how == "plain":
            h, _ = jax.lax.scan(step, x, (W, V))
        elif how == "1":
            h, _ = jax.lax.scan(jax.checkpoint(step, prevent_cse=False), x, (W, V))
        else:
            size = int(how)
            parts = (LAYERS // size, size, WIDTH, WIDTH)
            inner = jax.checkpoint(lambda h, wv: jax.lax.scan(step, h, wv), prevent_cse=False)
            h, _ = jax.lax.scan(inner, x, (W.reshape(parts), V.reshape(parts)))
        return jnp.sum(h * h)

    gradient = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    return lambda: jax.block_until_ready(gradient(W, V)), dict


def jax_steps(how: str) -> tuple[Callable[[], Any], Callable[[], dict[str, Any]]]:
    import jax
    import jax.numpy as jnp

    u0, k0, n = reaction_arguments()

    def step(u: Any, k: Any) -> Any:
        inner = u[1:-1, 1:-1]
        new = k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner)
        return u.at[1:-1, 1:-1].add(new + 0.01 * jnp.sin(inner))

    def loss(u: Any, k: Any) -> Any:
        kind, _, number = how.partition(":")
        if kind == "equinox":
            import equinox.internal as eqxi

            def body(carry: Any) -> Any:
                return carry[0] + 1, step(carry[1], k)

            _, u = eqxi.while_loop(
                lambda carry: carry[0] < n, body, (0, u), kind="checkpointed",
                checkpoints=int(number), max_steps=n,
            )  # fmt: skip
        elif kind == "scan":
            size = int(number or n)
            one = jax.checkpoint(lambda u, _: (step(u, k), None), prevent_cse=False)
            if size == n:
                u, _ = jax.lax.scan(one, u, None, length=n)
            else:
                part = jax.checkpoint(
                    lambda u, _: jax.lax.scan(one, u, None, length=size), prevent_cse=False
                )
                u, _ = jax.lax.scan(part, u, None, length=n // size)
        return jnp.sum(u * u)

    gradient = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    return lambda: jax.block_until_ready(gradient(jnp.asarray(u0), k0)), dict


TOOLS: dict[str, Callable[[str], Any]] = {
    "adc residual": adc_residual, "torch residual": torch_residual, "jax residual": jax_residual,
    "adc steps": adc_steps, "jax steps": jax_steps,
}  # fmt: skip


# --- one process ----------------------------------------------------------------------------------


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def _trim() -> None:
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:
        pass


def grown(call: Callable[[], Any]) -> int:
    """Return by how many bytes this process grows while something is called."""
    _trim()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    call()
    return _status("VmHWM") - before


def work(tool: str, how: str, rounds: int) -> dict[str, Any]:
    call, more = TOOLS[tool](how)
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    if tool.startswith("adc"):
        import adc

        adc.release_memory()
    times = []
    found: Any = None

    def all_rounds() -> None:
        nonlocal found
        for _ in range(rounds):
            start = time.perf_counter()
            found = call()
            times.append(time.perf_counter() - start)

    peak = grown(all_rounds)
    value = float(np.asarray(found[0].detach() if hasattr(found[0], "detach") else found[0]))
    return {
        "seconds": min(times), "median": sorted(times)[len(times) // 2], "first": first,
        "peak": peak, "value": value, **more(),
    }  # fmt: skip


# --- the tables -----------------------------------------------------------------------------------


def run(python: str, tool: str, how: str, rounds: int) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-m", "tests.bench.memory", "--worker", tool, how, str(rounds)],
        cwd=ROOT, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"note": lines[-1][:100] if lines else "failed"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("residual", "steps"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        tool, how, rounds = given.worker
        print(json.dumps(work(tool, how, int(rounds))))
        return
    from rich.console import Console
    from rich.table import Table

    console, found = Console(), dict[str, dict[str, Any]]()

    def measure(case: str, tool: str, how: str, name: str) -> dict[str, Any]:
        python = sys.executable if tool == "adc" else given.peer_python
        found[f"{case}: {name}"] = one = run(python, f"{tool} {case}", how, given.rounds)
        return one

    def table(case: str, title: str, base: str) -> None:
        shown = Table(title=title, title_justify="left")
        for column in ("", "best s", "ratio", "peak MB", "predicted MB", "first call s", "note"):
            shown.add_column(column, justify="left" if column in ("", "note") else "right")
        unit = found[base].get("seconds", 1.0)
        for name, one in found.items():
            if not name.startswith(f"{case}:"):
                continue
            numbers = [
                f"{one['seconds']:.4g}", f"{one['seconds'] / unit:.2f}", f"{one['peak'] / 1e6:.1f}",
                f"{one['predicted'] / 1e6:.1f}" if one.get("predicted") else "",
                f"{one['first']:.2f}",
            ] if "seconds" in one else [""] * 5  # fmt: skip
            shown.add_row(name.partition(": ")[2], *numbers, one.get("note", ""))
        console.print(shown)

    if given.only in (None, "residual"):
        store = measure("residual", "adc", "store", "adc store")
        measure("residual", "adc", "auto", "adc")
        for part in (2, 4, 8):
            share = str(store["predicted"] // part)
            measure("residual", "adc", share, f"adc memory = 1/{part} of store")
        for how, name in (("plain", ""), ("1", ", each layer"), ("7", ", 7 layers")):
            measure("residual", "torch", how, f"torch{name and ' checkpoint'}{name}")
        for how, name in (("plain", ""), ("1", ", each layer"), ("8", ", 8 layers")):
            measure("residual", "jax", how, f"jax scan{name and ' checkpoint'}{name}")
        table("residual", f"{LAYERS} residual layers, {WIDTH} x {WIDTH}", "residual: adc store")
    if given.only in (None, "steps"):
        measure("steps", "adc", "store", "adc store")
        for how in ("store", "auto"):
            one = measure("steps", "adc", f"{how}:disk", f"adc {how}, on disk")
            one["note"] = "peak with pages of files, which the system takes where it needs them"
        for size in (64, 16, 4):
            measure("steps", "adc", str(size * 10**6), f"adc memory = {size} MB")
        for how in ("scan:", "scan:100", "equinox:400", "equinox:100"):
            measure("steps", "jax", how, f"jax {how}")
        table("steps", f"{STEPS} steps on {GRID} x {GRID}", "steps: adc store")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
