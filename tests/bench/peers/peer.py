"""One tool of `tests.bench.peers`, in the interpreter that has it: `python peer.py TOOL`.

Prints one line of JSON with the version, and one for every program: its gradient, or the error.
This file must run on Python 3.6, the last that Tangent runs on.
"""

import importlib
import json
import os
import platform
import sys
import warnings
from typing import Any, Callable  # noqa: UP035

import numpy as np

Gradient = Callable[[Any, Any], Any]  # of a program, and the numbers where


def _adc(programs: Any) -> Gradient:
    import adc

    return lambda fn, x: adc.grad(fn)(x)


def _autograd(programs: Any) -> Gradient:
    autograd = importlib.import_module("autograd")
    programs.np = importlib.import_module("autograd.numpy")
    return lambda fn, x: autograd.grad(fn)(x)


def _jax(programs: Any) -> Gradient:
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    programs.np = jax.numpy
    return lambda fn, x: jax.grad(fn)(jax.numpy.asarray(x))


def _torch(programs: Any) -> Gradient:
    torch: Any = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64)
    # The functions under NumPy's names.
    torch.dot = torch.matmul
    programs.np = torch

    def gradient(fn: Any, x: Any) -> Any:
        try:
            return torch.func.grad(fn)(torch.tensor(x))
        except Exception:
            leaf = torch.tensor(x, requires_grad=True)
            return torch.autograd.grad(fn(leaf), leaf)[0]

    return gradient


def _warp(programs: Any) -> Gradient:
    importlib.import_module("warp").config.quiet = True
    ports = importlib.import_module("warp_ports")
    return lambda fn, x: ports.gradient(fn, x)[0]


def _tangent(programs: Any) -> Gradient:
    tangent = importlib.import_module("tangent")
    return lambda fn, x: tangent.grad(fn)(x)


TOOLS = {
    "adc": _adc, "autograd": _autograd, "jax": _jax, "tangent": _tangent, "torch": _torch,
    "warp": _warp,
}  # fmt: skip
PORTED = {"warp": "warp_ports"}


def _version(tool: str) -> str:
    found = getattr(importlib.import_module(tool), "__version__", "")
    if not found:
        try:
            found = importlib.import_module("importlib.metadata").version(tool)
        except ImportError:  # Python 3.6
            found = importlib.import_module("pkg_resources").get_distribution(tool).version
    return f"{tool} {found}, Python {platform.python_version()}"


def main() -> None:
    """Compute the gradients of all programs with one tool."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    tool = sys.argv[1]
    programs = importlib.import_module("battery")
    try:
        version = _version(tool)
        gradient = TOOLS[tool](programs)
    except Exception as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}))
        return
    print(json.dumps({"version": version}))
    ports = importlib.import_module(PORTED[tool]).PORTS if tool in PORTED else None
    for fn in programs.PROGRAMS:
        name = fn.__name__
        if ports is not None and name not in ports:
            continue
        try:
            found = np.asarray(gradient(fn, np.array(programs.X)), dtype=np.float64)
            print(json.dumps({"name": name, "gradient": found.tolist()}))
        except Exception as error:
            text = "{}: {}".format(type(error).__name__, str(error).strip().split("\n")[0])
            print(json.dumps({"name": name, "error": text}))


if __name__ == "__main__":
    main()
