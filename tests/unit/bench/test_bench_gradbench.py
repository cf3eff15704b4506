"""GradBench's objectives: adc, plain Python and C++ by hand agree."""

import os
import shutil
from typing import Any

import numpy as np
import pytest

from tests.bench.gradbench.__main__ import OBJECTIVES

compiler = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "c++")) is None, reason="needs a C++ compiler"
)


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.full
@compiler
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.sampled(1)] if n == "det" else []) for n in OBJECTIVES],
)
def test_by_hand(name: str) -> None:
    objective = OBJECTIVES[name]
    args = objective.arguments(objective.tiny)
    found = objective.call(*args)
    same(found, objective.hand(*args)())
    if objective.python is not None:
        same(found, objective.python(*args))
