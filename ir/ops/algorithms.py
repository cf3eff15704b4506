"""Rows that no library has: their implementation as a few lines of Python, for every machine.

`OpDef.algorithm` is a function of the row's static parameters and its operands, which calls other
rows by their names::

    def _expit(x):
        return 1.0 / (1.0 + exp(-x))

The interpreter runs it. A back end inserts its text into the emitted code, where the names are
those of the back end's own functions. So it uses only what emitted code may contain: numbers, `if`,
`for` with `range`, `break`, `return`, and calls of rows as their `code` spells them. Divisors are
never 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Set
from types import FunctionType
from typing import Any

import numpy as np

from adc.ir.opdef import OPS, OpDef


def _algorithm(op: OpDef) -> FunctionType | None:
    """Return the algorithm of a row; that of a function of SciPy is for a GPU."""
    found = op.algorithm or (op.ufunc and op.ufunc.device)
    return found if isinstance(found, FunctionType) else None


def _rows(*, on_device: bool) -> list[OpDef]:
    return [
        op
        for op in OPS.values()
        if _algorithm(op) is not None and (on_device or op.algorithm is not None)
    ]


def reserved() -> frozenset[str]:
    """Return the names of the functions that implement rows in emitted code."""
    return frozenset(op.function for op in _rows(on_device=False))


def among(names: Set[str], *, on_device: bool = False) -> list[OpDef]:
    """Return the rows whose algorithms code calls by these names, directly or indirectly."""
    known = _rows(on_device=on_device)
    found: set[OpDef] = set()
    todo = [op for op in known if op.function in names]
    while todo:
        op = todo.pop()
        found.add(op)
        algorithm = _algorithm(op)
        assert algorithm is not None
        own = algorithm.__code__.co_names
        todo += [each for each in known if each.function in own and each not in found]
    return sorted(found, key=lambda op: op.function)


def source(op: OpDef) -> list[str]:
    """Return the lines of the function that implements a row in emitted code."""
    algorithm = _algorithm(op)
    assert algorithm is not None
    names = algorithm.__code__.co_varnames[: algorithm.__code__.co_argcount]
    types = ["int"] * (len(names) - op.arity) + ["f64"] * op.arity
    head = [f"def {op.function}({', '.join(names)}):"]
    head.append(f'    """{op.name}: {", ".join(types)} -> f64"""')
    return [*head, *inspect.getsource(algorithm).rstrip().splitlines()[1:]]


def bound(algorithm: Callable[..., Any], function_of: Callable[[OpDef], Any]) -> Any:
    """Return `algorithm` with ``function_of(row)`` for each row that it calls."""
    assert isinstance(algorithm, FunctionType)
    space = algorithm.__globals__
    rows = {name: space.get(name) for name in algorithm.__code__.co_names}
    found = {name: function_of(row) for name, row in rows.items() if isinstance(row, OpDef)}
    return FunctionType(algorithm.__code__, {**space, **found}, algorithm.__name__)


def evaluated(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Return `algorithm` as a function of NumPy scalars; omitted static parameters are 0.

    It computes in double precision, and rounds to the type of the operands.
    """

    def evaluate(*args: Any) -> Any:
        body = bound(algorithm, lambda row: lambda *values: row.evaluate(*map(np.float64, values)))
        dtype = np.result_type(args[-1])
        left_out = (0,) * (algorithm.__code__.co_argcount - len(args))
        given = [float(arg) if isinstance(arg, np.floating) else arg for arg in args]
        with np.errstate(all="ignore"):
            return dtype.type(body(*left_out, *given))

    return evaluate


__all__ = ["among", "bound", "evaluated", "reserved", "source"]
