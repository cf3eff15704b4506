"""Functions of `math` that are a few lines of Python."""

from __future__ import annotations

import math
from typing import Any


def prod(iterable: Any, *, start: Any = 1) -> Any:
    """`math.prod`."""
    result = start
    for item in iterable:
        result = result * item
    return result


def dist(p: Any, q: Any) -> Any:
    """`math.dist`, without protection against overflow of the squares."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    total = 0.0
    for a, b in zip(p, q, strict=False):
        total += float(a - b) ** 2
    return math.sqrt(total)


def comb(n: int, k: int) -> int:
    """`math.comb`."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    if k > n:
        result = 0
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result


def perm(n: int, k: int | None = None) -> int:
    """`math.perm`."""
    count = n if k is None else k
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if count < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for i in range(count):
        result = result * (n - i)
    return result


def factorial(n: int) -> int:
    """`math.factorial`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, n + 1):
        result = result * k
    return result


def isqrt(n: int) -> int:
    """`math.isqrt`, by correcting the rounded square root."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root > n // max(root, 1):
        root = root - 1
    while root + 1 <= n // (root + 1):
        root = root + 1
    return root
