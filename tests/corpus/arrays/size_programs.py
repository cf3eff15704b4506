"""Programs of which axes turn out to have size 1 while they run, and are broadcast then."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, Program, recorder

SIZE_PROGRAMS: list[Program] = []
program = recorder(SIZE_PROGRAMS)


# --- slices of one element ------------------------------------------------------------------------


@program(M33, X3, argnums=(0, 1))
def columns_as_slices_of_one(w: Any, v: Any) -> Any:
    s = 0.0
    for b in range(3):
        s += np.sum(np.sin(w[:, b : b + 1] * v)) + np.sum(w[b : 1 + b] * w)
    return s


@program(M33, X3, argnums=(0, 1))
def slices_of_two_that_the_end_cuts(w: Any, v: Any) -> Any:
    s = 0.0
    for b in range(0, 3, 2):
        s += np.sum(w[:, b : b + 2] * w[:, :2]) + np.sum(v[b : b + 2] * w[:, b : b + 2])
    for b in range(3):
        c = b + 1
        s += np.sum(w[:, b:c] * v**2)
    return s


@program(X3, 3)
def slices_of_at_most_one_that_are_empty(x: Any, n: Any) -> Any:
    empty = x[n : n + 1] * x[n:]
    return np.sum(x) + np.sum(empty) + len(empty)


# --- sizes that are numbers -----------------------------------------------------------------------


@program(X3, M33, 1, argnums=(0, 1))
def one_row_of_many(x: Any, w: Any, n: Any) -> Any:
    s = np.sum(x[:n] * w) + np.sum(w[:n] + w[:, :n]) + np.sum(np.maximum(w[:n], w) ** 2)
    s += np.sum(np.where(w > 0.0, x[:n], w[:n])) + np.sum(np.outer(x[:n], x) * w)
    s += np.sum(np.sum(w[:, :n], axis=1, keepdims=True) * w) + np.sum(x[:n, None] * x)
    return s + np.sum(np.stack([x[:n], x[1 : n + 1]]) * w[:2])


@program(X3, M33, 3, argnums=(0, 1))
def all_rows_of_many(x: Any, w: Any, n: Any) -> Any:
    m = n - 2
    s = np.sum(x[:n] * w) + np.sum(w[:m] + w[:, :n]) + np.sum(np.maximum(w[:m], w[:n]) ** 2)
    s += np.sum(np.where(w > 0.0, x[:m], w[:n])) + np.sum(x[:n] * x[:m])
    return s + np.sum(np.hypot(x[:m], w[:n]) * np.arctan2(w, x[:n]))


@program(X3, M33, 1, argnums=(0, 1))
def one_row_assigned_to_many(x: Any, w: Any, n: Any) -> Any:
    y, z = x * 1.0, w * 1.0
    y[:] = x[:n] * x[:n]
    y += x[:n]
    z[:2] = w[:n] * y
    z[[0, 2]] *= x[:n]
    z[z > 0.5] += x[:n]
    np.add.at(y, [0, 0], x[:n])
    return np.sum(z * z * y)


@program(X3, M33, 1, argnums=(0, 1))
def stacks_of_one_matrix(x: Any, w: Any, n: Any) -> Any:
    t, u = np.ones((n, 3, 3)) * x, np.ones((2, 3, 3)) * w
    s = np.sum((t @ u) ** 2) + np.sum(np.einsum("ij,jk->ik", w[:, :n], w) ** 2)
    s += np.sum(np.einsum("i,ij->j", x[:n], w) * x) + np.einsum("i,i", x[:n], x)
    return s + np.sum(w[:n] @ w) + np.sum(np.broadcast_to(x[:n], (2, 3)) * x)


@program(X3, M33, 1, argnums=(0, 1))
def buffers_of_one_row(x: Any, w: Any, n: Any) -> Any:
    a = np.ones((n, 3))
    b = np.zeros((3, n))
    for i in range(3):
        a = a * x + w[i, :n]
        b[i] = np.sum(a * w) * x[:n]
    out = np.empty((n, 3))
    np.multiply(x[:n, None], x, out=out)
    return np.sum(a * b * w) + np.sum(out * w)


@program(X3, M33, argnums=(0, 1))
def rows_that_grow_from_one(x: Any, w: Any) -> Any:
    s = 0.0
    for k in range(1, 4):
        if k != 2:
            s += np.sum(np.tanh(x[:k] * w) * (w[:k] if x[0] > 0.0 else w))
    return s


def _scaled(u: Any, v: Any) -> Any:
    return np.tanh(u * v) + v


@program(X3, M33, 1, argnums=(0, 1))
def one_element_in_helpers(x: Any, w: Any, n: Any) -> Any:
    at = np.array([0, 2])[:n]
    s = np.sum(_scaled(x[:n], x)) + np.sum(_scaled(w[:n], w)) + np.sum(_scaled(x, x[:n]))
    return s + np.sum(w[at, [0, 1, 2]] * x)


def _summed(x: Any, n: Any) -> Any:
    if n == 0:
        return 0.0
    return np.sum(x[:n] * x[:1] * (x[: n * n] + 1.0)) + 0.5 * _summed(x, n - 1)


@program(X3, 1, tags="recursive")
def one_element_in_a_recursion(x: Any, n: Any) -> Any:
    return _summed(x, n) * np.sum(x[:n] * x)


# --- sizes that are computed ----------------------------------------------------------------------


@program(np.linspace(-0.9, 1.2, 30), -20)
def size_that_is_the_larger_of_two(x: Any, d: Any) -> Any:
    n = len(x)
    a = np.zeros(int(np.maximum(n, n + d)))
    for i in range(n):
        a[i] = np.sin(x[i]) * (a[i - 1] if i > 0 else 1.0)
    s = 0.0
    for i in range(n):
        s += a[i] * a[i]
    return s


@program(np.linspace(0.3, 0.9, 6), -20, argnums=(0,))
def fewer_iterations_than_none(x: Any, d: Any) -> Any:
    for _ in range(d):
        x = np.sin(x) * x
    for _ in range(5):
        x = np.cos(x) * x
    return np.sum(x)


@program(np.array([0.7, -0.4]), 5, argnums=(0,))
def size_that_python_chooses(x: Any, d: Any) -> Any:
    a = np.zeros(max(d, 3))
    for i in range(len(a)):
        a[i] = np.sin(x[0] * i) * (a[i - 1] + x[1] if i > 0 else 1.0)
    for i in range(min(len(a), d - 1)):
        a[i] = a[i] * a[i + 1]
    return np.sum(a)


@program(np.array([0.7, 0.4]), np.array([0.5, np.nan, -0.3, 0.2]), argnums=(0,))
def filter_of_what_is_not_missing(x: Any, y: Any) -> Any:
    spread = np.eye(2)
    s = 0.0
    for t in range(len(y)):
        spread = spread + x[0] * np.eye(2)
        if np.isnan(y[t]):
            continue
        gain = np.linalg.inv(spread + x[1] * np.eye(2))
        spread = spread - spread @ gain @ spread
        s = s + y[t] * gain[0, 0]
    return s
