"""A process that has one tool differentiate one kernel and times it when told to.

It is pinned to one core before any numeric library is loaded. One line of JSON goes out when the
first gradient is there and one for every line that comes in.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """What is timed is `call(*take(args))` without `take`: users hold what their tool works on."""

    call: Callable[..., Any]  # returns value and gradient or gradients, or None
    take: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple
    packages: tuple[str, ...] = ()
    remark: str = ""


def prepare(tool: str, name: str) -> Prepared:
    """Return the call of a tool.

    Imports stand here because a process must load nothing but its own tool.
    """
    from tests.bench.kernels import KERNELS

    kernel = KERNELS[name]
    if tool in ("primal", "numpy"):
        compiled = kernel.loss
        if tool == "primal":
            from numba import njit

            compiled = njit(cache=True)(kernel.loss)

        def forward(*args: Any) -> Any:
            own = list(args)
            for k in kernel.changed:
                own[k] = own[k].copy()
            return compiled(*own), None

        return Prepared(forward, packages=("numba",) if tool == "primal" else ("numpy",))
    if tool == "as written":
        from tests.bench.as_written import AS_WRITTEN

        return Prepared(AS_WRITTEN[kernel.loss.__name__], packages=("numba",))
    if tool == "hand":
        from numba.core import config

        from tests.bench.hand import HAND

        svml = getattr(config, "USING_SVML", False)
        remark = "with SVML" if svml else "without SVML, so with scalar functions"
        return Prepared(HAND[kernel.loss.__name__], packages=("numba",), remark=remark)
    if tool == "adc":
        # Not an import statement: the benchmark has to run, and to be checked, without it.
        adc = importlib.import_module("adc")
        return Prepared(adc.value_and_grad(kernel.loss, kernel.wrt), packages=("adc", "numba"))
    if tool == "autograd":
        from tests.bench import autograd_ports

        return Prepared(autograd_ports.call(name), packages=("autograd", "numpy"))
    library, variant = tool.split()
    ports: Any = importlib.import_module(f"tests.bench.{library}_ports")
    call = ports.call(name, variant)
    return Prepared(call, lambda args: ports.take(name, args), (library,))


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


def main() -> None:
    tool, name, size, core, gradient_path = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    try:
        prepared = prepare(tool, name)
        made_of = versions(prepared)
    except (ImportError, AttributeError) as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return

    import numpy as np

    from tests.bench.kernels import KERNELS

    kernel = KERNELS[name]
    args = kernel.arguments(kernel.size(size))
    own = prepared.take(args)
    start = time.perf_counter()
    try:
        value, gradients = prepared.call(*own)
    except Exception as error:  # whatever a tool in the making raises belongs into the table
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return
    first_call = time.perf_counter() - start
    if gradients is not None:
        if not isinstance(gradients, tuple):
            gradients = (gradients,)
        np.savez(Path(gradient_path), *[np.asarray(gradient) for gradient in gradients])
    # A tool that works on the arrays themselves must not have changed them.
    intact = all(map(np.array_equal, args, kernel.arguments(kernel.size(size))))
    reply = {"first_call": first_call, "value": float(value), "intact": intact, "versions": made_of}
    print(json.dumps(reply), flush=True)
    for line in sys.stdin:
        print(json.dumps(times(prepared.call, own, float(line))), flush=True)


if __name__ == "__main__":
    main()
