"""A process that has one tool differentiate one kernel and times it when told to.

It is pinned to one core before any numeric library is loaded. One line of JSON goes out when the
first gradient is there and one for every line that comes in.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def prepare(tool: str, name: str) -> Any:
    """Return the call `(a, w) -> (value, gradient or None)` of a tool.

    Imports stand here because a process must load nothing but its own tool.
    """
    from tests.bench.kernels import KERNELS

    loss = KERNELS[name].loss
    if tool == "primal":
        from numba import njit

        compiled = njit(cache=True)(loss)
        return lambda a, w: (compiled(a.copy(), w), None)
    if tool == "as written":
        from tests.bench.as_written import AS_WRITTEN

        return AS_WRITTEN[name]
    if tool == "hand":
        from tests.bench.hand import HAND

        return HAND[name]
    if tool == "adc":
        # Not an import statement: the benchmark has to run, and to be checked, without it.
        return importlib.import_module("adc").value_and_grad(loss)
    from tests.bench import jax_ports

    return jax_ports.compiled(name, tool.removeprefix("jax "))


def times(call: Any, a: Any, w: Any, seconds: float) -> list[float]:
    """Time single calls until `seconds` are over; at least one."""
    spent: list[float] = []
    while sum(spent) < seconds:
        start = time.perf_counter()
        call(a, w)
        spent.append(time.perf_counter() - start)
    return spent


def main() -> None:
    tool, name, core, gradient_path = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    try:
        call = prepare(tool, name)
    except (ImportError, AttributeError) as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return

    import numpy as np

    from tests.bench.kernels import KERNELS

    a, w = KERNELS[name].arguments(KERNELS[name].size)
    untouched = a.copy()
    start = time.perf_counter()
    try:
        value, gradient = call(a, w)
    except Exception as error:  # whatever a tool in the making raises belongs into the table
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return
    first_call = time.perf_counter() - start
    if gradient is not None:
        np.save(Path(gradient_path), gradient)
    intact = bool(np.array_equal(a, untouched))
    reply = {"first_call": first_call, "value": float(value), "intact": intact}
    print(json.dumps(reply), flush=True)
    for line in sys.stdin:
        print(json.dumps(times(call, a, w, float(line))), flush=True)


if __name__ == "__main__":
    main()
