"""Conditions of reverse code that move to where their operands are computed (`predicates`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.ir.core import Apply, For, Reverse, walk
from adc.passes.scalar.predicates import predicates
from tests.oracle import chain as chains


def carried(x: Any) -> Any:
    s = x[0]
    for k in range(3):
        s = np.maximum(s, 0.4) * x[k]
    return s


def test_of_a_carried_number() -> None:
    chain = chains.Chain.of(carried, (np.array([0.7, 0.9, 0.2]),), (0,))
    moved = predicates(chain.joined)
    (loop,) = (stmt for stmt in moved.body if isinstance(stmt, For))
    first = loop.body.stmts[0]
    assert isinstance(first, Apply)
    assert (first.op.name, first.args[0]) == ("ge", loop.body.params[0])
    for stmt in walk(moved.body):
        if isinstance(stmt, Reverse):
            assert not any(isinstance(s, Apply) and s.op.name == "ge" for s in walk((stmt,)))
