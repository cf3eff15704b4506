"""A module with functions that change its variables."""

from typing import Any

import numpy as np

calls = 0
total: Any
weights = np.ones(2)


def count(by: Any) -> None:
    global calls
    calls = calls + by


def scaled(x: Any) -> Any:
    return x * calls


def loss(x: Any) -> Any:
    global total, weights
    found = 0.0
    for k in range(3):
        found = found + np.sum(scaled(x))
        count(k)
    total = found
    weights = weights - 0.1 * x
    return found + np.sum(weights * x)
