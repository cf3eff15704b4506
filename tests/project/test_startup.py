"""What a new process loads: nothing that compiles, before something is compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What a user who only imports adc, or decorates functions, does not wait for.
HEAVY = ("numba", "llvmlite", "scipy", "optree", "rich", "matplotlib")
SHOW = f"""
import json, sys
own = [name for name in sys.modules if name.startswith("adc.")]
print(json.dumps([sorted(own), [name for name in {HEAVY} if name in sys.modules]]))
"""
DECORATED = """
import adc

@adc.grad
def f(x):
    return x * x

@adc.jacrev(argnums=0)
def g(x):
    return x * x

@adc.jit
@adc.checkpoint
def h(x):
    return x * x

adc.hessian(f.__wrapped__), adc.value_and_grad(memory="1 MB")
"""


@pytest.mark.parametrize("program", ["import adc", DECORATED], ids=["import", "decorate"])
def test_nothing_that_compiles_is_loaded(program: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", program + SHOW],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    own, heavy = json.loads(found.stdout)
    assert heavy == []
    compiling = ("adc.backend", "adc.compiler.dispatch", "adc.frontend", "adc.passes")
    assert [name for name in own if name.startswith(compiling)] == []
