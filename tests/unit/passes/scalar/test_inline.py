"""Which temporary arrays are recomputed where they are read (`passes.scalar.inline`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adc.compiler.driver import transform
from adc.frontend.entry import lower
from adc.ir.core import Apply, walk
from adc.ir.interp import run
from tests.oracle import chain as chains

X = np.array([0.3, -0.7, 1.1, 0.2, 0.9])


def cheap(x: Any) -> Any:
    d = x[1:] - x[:-1]
    return np.max(d[1:] * d[:-1])


def dear(x: Any) -> Any:
    d = np.exp(np.sin(x[1:] - x[:-1]))
    return np.max(d[1:] * d[:-1])


def overwritten(x: Any) -> Any:
    """What `d` is computed from is gone when it is read."""
    y = np.cumsum(x)
    d = y[1:] - y[:-1]
    y[0] = 2.0
    return np.max(d[1:] * d[:-1]) + np.max(y)


@pytest.mark.parametrize(("fn", "arrays"), [(cheap, 0), (dear, 1), (overwritten, 2)])
def test_arrays_that_stay(fn: Callable[..., Any], arrays: int) -> None:
    stages = transform(lower(fn, {"x": chains.type_tree(X)}), ()).trace.stages
    made = next(made for name, made in reversed(stages) if name == "storage")
    found = [s for s in walk(made.body) if isinstance(s, Apply) and s.op.reserves]
    assert len(found) == arrays
    assert run(made, [X.copy()])[0] == fn(X.copy())
