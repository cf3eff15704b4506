"""A process that has one tool differentiate one kernel and times it when told to.

It is pinned to its cores before any numeric library is loaded. One line of JSON goes out when the
first gradient is there and one for every line that comes in: what is to be timed, and the seconds.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """What is timed is `call(*take(args))` without `take`: users hold what their tool works on."""

    call: Callable[..., Any]  # returns value and gradient or gradients, or None
    gradient: Callable[..., Any] | None = None  # the same without the value, where that is less
    take: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple
    packages: tuple[str, ...] = ()
    remark: str = ""


# The packages of tools that are not called like theirs.
PACKAGES = {"autograd": ("autograd", "numpy"), "enzyme": ("enzyme-ad", "jax")}


def prepare(tool: str, name: str, threads: int = 1) -> Prepared:
    """Return the call of a tool that may use so many threads.

    Imports stand here because a process must load nothing but its own tool.
    """
    from tests.bench.kernels import KERNELS

    kernel = KERNELS[name]
    if tool in ("primal", "numpy"):
        compiled = kernel.loss
        if tool == "primal":
            compiled = by_numba(kernel.loss)

        def forward(*args: Any) -> Any:
            own = list(args)
            for k in kernel.changed:
                own[k] = own[k].copy()
            return compiled(*own), None

        return Prepared(forward, packages=("numba",) if tool == "primal" else ("numpy",))
    if tool == "as written":
        from tests.bench.kernels.as_written import AS_WRITTEN

        return Prepared(AS_WRITTEN[kernel.loss.__name__], packages=("numba",))
    if tool == "hand":
        from adc.backend.common.vector_math import vector_library
        from tests.bench.kernels.hand import HAND

        remark = f"with the functions of {vector_library() or 'libm'}, as adc"
        return Prepared(HAND[kernel.loss.__name__], packages=("numba",), remark=remark)
    if tool in ("adc", "adc forward"):
        # Not an import statement: the benchmark has to run, and to be checked, without it.
        adc = importlib.import_module("adc")
        how: dict[str, Any] = {"parallel": threads} if threads > 1 else {}
        own = ("adc-autodiff", "numba")
        if tool == "adc":
            call = adc.value_and_grad(kernel.loss, kernel.wrt, **how)
            return Prepared(call, adc.grad(kernel.loss, kernel.wrt, **how), packages=own)
        jitted = adc.jit(kernel.loss, **how)  # changes no argument
        return Prepared(lambda *args: (jitted(*args), None), packages=own)
    library, *variant = tool.split()
    ports: Any = importlib.import_module(f"tests.bench.ports.{library}_ports")
    if library == "torch":
        sys.modules["torch"].set_num_threads(threads)
    call = ports.call(name, *variant)
    packages = PACKAGES.get(library, (library,))
    if not hasattr(ports, "take"):
        return Prepared(call, packages=packages)
    return Prepared(call, take=lambda args: ports.take(name, args), packages=packages)


def by_numba(function: Any) -> Any:
    """Return a function as Numba compiles it, and what it calls of its own module."""
    from numba import njit

    own = function.__globals__
    for name in function.__code__.co_names:
        if isinstance(own.get(name), FunctionType):
            own[name] = by_numba(own[name])
    return njit(cache=True)(function)


def versions(prepared: Prepared) -> str:
    """Return what a tool is made of."""
    found = [f"{package} {importlib.metadata.version(package)}" for package in prepared.packages]
    return ", ".join([*found, prepared.remark] if prepared.remark else found)


def times(call: Any, args: Any, seconds: float) -> list[float]:
    """Time single calls until `seconds` are over; at least one."""
    spent: list[float] = []
    while sum(spent) < seconds:
        start = time.perf_counter()
        call(*args)
        spent.append(time.perf_counter() - start)
    return spent


def growth(call: Callable[[], Any]) -> tuple[Any, int | None]:
    """Return what `call` does, and the bytes that the process grows by at its peak meanwhile.

    Only Linux tells.
    """
    try:
        before = status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    except OSError:
        return call(), None
    found = call()
    return found, max(status("VmHWM") - before, 0)


def status(name: str) -> int:
    """Return a size of this process in bytes, as Linux has it."""
    text = Path("/proc/self/status").read_text()
    return 1024 * next(int(line.split()[1]) for line in text.splitlines() if line.startswith(name))


def main() -> None:
    tool, name, size, cores, gradient_path = sys.argv[1:]
    pinned = {int(core) for core in cores.split(",")}
    os.sched_setaffinity(0, pinned)
    try:
        prepared = prepare(tool, name, len(pinned))
        made_of = versions(prepared)
    except (ImportError, AttributeError, KeyError) as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return

    import numpy as np

    from tests.bench.kernels import KERNELS

    kernel = KERNELS[name]
    args = kernel.arguments(kernel.size(size))
    own = prepared.take(args)
    start = time.perf_counter()
    try:
        (value, gradients), first_memory = growth(lambda: prepared.call(*own))
    except Exception as error:  # whatever a tool in the making raises belongs into the table
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return
    first_call, cpu = time.perf_counter() - start, time.process_time()
    if gradients is not None:
        if not isinstance(gradients, tuple):
            gradients = (gradients,)
        np.savez(Path(gradient_path), *[np.asarray(gradient) for gradient in gradients])
    # A tool that works on the arrays themselves must not have changed them.
    intact = all(map(np.array_equal, args, kernel.arguments(kernel.size(size))))
    reply = {
        "first_call": first_call,
        "first_memory": first_memory,
        "cpu": cpu,
        "value": float(value),
        "intact": intact,
        "versions": made_of,
        "alone": prepared.gradient is not None,
    }
    print(json.dumps(reply), flush=True)
    for line in sys.stdin:
        what, seconds = line.split()
        if what == "memory":
            print(json.dumps(growth(lambda: prepared.call(*own))[1]), flush=True)
            continue
        call = prepared.call if what == "call" else prepared.gradient
        print(json.dumps(times(call, own, float(seconds))), flush=True)


if __name__ == "__main__":
    main()
