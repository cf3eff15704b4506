"""Arguments that do not fit: refused, or the error of Python, but no internal error of adc."""

from __future__ import annotations

import bisect
import builtins
import cmath
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import statistics
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats

from adc.frontend.entry import lower
from adc.ir.errors import AdcError
from adc.testing import programs
from tests.oracle import chain

X, M = np.array([0.3, 0.5, 0.7]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
TYPES = {"x": chain.type_tree(X), "m": chain.type_tree(M)}
MODULES: dict[str, ModuleType] = {
    "np": np, "np.linalg": np.linalg, "np.fft": np.fft, "scipy.fft": scipy.fft,
    "scipy.integrate": scipy.integrate, "scipy.interpolate": scipy.interpolate,
    "scipy.linalg": scipy.linalg, "scipy.ndimage": scipy.ndimage, "scipy.optimize": scipy.optimize,
    "scipy.signal": scipy.signal, "scipy.special": scipy.special, "scipy.stats": scipy.stats,
}  # fmt: skip
STANDARD = (bisect, builtins, cmath, collections, copy, functools, heapq, itertools, math, operator,
            statistics)  # fmt: skip
MODULES |= {module.__name__: module for module in STANDARD}
# They write files, print, or run tests.
LEFT_OUT = ("test", "save", "savez", "savez_compressed", "savetxt", "info", "show_config",
            "show_runtime", "show_options", "memmap", "fromfile", "input", "open", "print", "help",
            "exec", "eval", "compile", "breakpoint", "exit", "quit", "copyright", "credits",
            "license")  # fmt: skip
ARGUMENTS = (
    "", "x", "x[0]", "m", "None", "'text'", "0", "x, x", "x, 0", "x, None", "m, x", "x, m",
    "x, 'text'", "x, axis=5", "x, (1, 2)", "x, [0]", "x > 0", "(x, x)", "lambda t: t", "x, x, x",
    "m, 1", "x, -1", "x, x, 1.5", "[], x", "{}", "x, dtype=int", "x, out=x", "x, where=x > 0",
    "x, 1, 2, 3",
)  # fmt: skip
VALUES = (
    "x", "x[0]", "m", "[x[0], x[1]]", "[*x]", "{'a': x[0], 'b': 2.0}", "(x[0], 1.0)", "'text'",
    "1.5", "len(x)", "(1j * x[0])", "{1, 2}", "range(len(x))", "(x[0] > 1.0)",
    "collections.deque([x[0]])", "(lambda t: t)", "(t for t in x)", "np.random.default_rng(0)",
)  # fmt: skip
OF_METHODS = ("", "0", "x", "None", "'text'", "1, 2", "x, 0", "axis=0", "m")
HEAD = "import numpy as np\nimport scipy\n" + "".join(
    f"import {name}\n" for name in MODULES if not name.startswith("np")
)


def _functions() -> Iterator[str]:
    for home, module in MODULES.items():
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_") and name not in LEFT_OUT:
                if module in STANDARD or not isinstance(value, type):
                    yield f"{home}.{name}"


def _unless_refused(calls: list[str]) -> None:
    """Lower programs with these calls: adc refuses one, or raises what Python does, or takes it."""
    for call in calls:
        text = f"{HEAD}def program(x, m):\n    a = {call}\n    return np.sum(a) * 1.0\n"
        fn: Any = programs.load(text, "unfitting", __name__)
        try:
            lower(fn, TYPES)
        except AdcError:
            pass
        except Exception as error:  # whatever it is, Python has to raise it, too
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(type(error)):
                    fn(X.copy(), M.copy())
        finally:
            programs.forget(fn)


@pytest.mark.full
@pytest.mark.parametrize("name", [*_functions()])
def test_functions(name: str) -> None:
    _unless_refused([f"{name}({args})" for args in ARGUMENTS])


def _methods() -> Iterator[tuple[str, str]]:
    for value in VALUES:
        found = eval(value, {"np": np, "x": X, "m": M, "collections": collections})
        yield from ((value, name) for name in dir(found) if not name.startswith("_"))


@pytest.mark.full
@pytest.mark.parametrize(("value", "name"), [*_methods()])
def test_methods(value: str, name: str) -> None:
    _unless_refused([f"{value}.{name}({args})" for args in OF_METHODS])
