"""Products of a matrix with a vector of each iteration, which `products` makes for blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder, uniform

PRODUCT_PROGRAMS: list[Program] = []
program = recorder(PRODUCT_PROGRAMS, "product")

ROWS = uniform(510, 9, 3)
MANY = uniform(511, 70, 3)  # more than a block
W43 = uniform(512, 4, 3)
W33 = uniform(513, 3, 3)
V24 = uniform(514, 2, 4)
STACK = uniform(515, 2, 3, 3)


@program(MANY, W43, V24, argnums=(0, 1, 2))
def two_layers_of_each_row(x: Any, w: Any, v: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        h = np.tanh(w @ x[i])
        total += np.sum((v @ h) ** 2)
    return total


@program(MANY, W43.T.copy(), argnums=(0, 1))
def rows_times_matrix(x: Any, w: Any) -> Any:
    out = np.empty((len(x), w.shape[1]))
    for i in range(len(x)):
        out[i] = np.sin(x[i] @ w)
    return np.sum(out * out[::-1])


@program(ROWS, STACK, argnums=(0, 1))
def residual_layers_of_each_row(x: Any, ws: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        h = x[i] * 2.0
        h = h + np.tanh(ws[0] @ h)
        h = h + np.tanh(ws[1] @ h)
        total += np.sum(h * x[i])
    return total


@program(ROWS, W33, argnums=(0, 1))
def normalised_row_in_two_products(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        size = np.sqrt(np.sum(x[i] ** 2))
        unit = x[i] / size
        total += size * np.sum((w @ unit) * (w.T @ unit))
    return total


@program(ROWS, W33, uniform(516, 3, 3), argnums=(0, 1, 2))
def recurrent_with_products_of_inputs(x: Any, w: Any, u: Any) -> Any:
    h = np.zeros(3)
    for t in range(len(x)):
        h = np.tanh(w @ x[t] + u @ h)
    return np.sum(h * h)


@program(ROWS, W33, argnums=(0, 1))
def products_with_a_matrix_that_changes(x: Any, w: Any) -> Any:
    w = w.copy()
    for _ in range(2):
        steps = np.zeros(w.shape[0])
        for i in range(len(x)):
            steps += w @ x[i]
        w -= 0.1 * np.outer(steps, steps)
    return np.sum(w * w)


@program(ROWS, np.array([3, 0, 8, 8, 1, 2, 7, 5, 4]), W43, argnums=(0, 2))
def products_of_rows_in_an_order(x: Any, order: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(order)):
        y = w @ x[order[i]]
        total += y[0] * y[i % 4]
    return total


@program(ROWS, W43, np.array([1.0, 0.0, 1.0]), argnums=(0, 1))
def products_with_a_masked_matrix(x: Any, w: Any, mask: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sum(np.exp((w * mask) @ (x[i] - mask)))
    return total


@program(ROWS, W33, argnums=(0, 1))
def product_of_a_chosen_vector(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i, 0] > 0.0:
            v = x[i] * x[i]
        else:
            v = np.sin(x[i])
        total += np.sum((w @ v) * v)
    return total


@program(ROWS, W33, argnums=(0, 1))
def product_in_a_branch(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i, 0] > 0.0:
            total += np.sum((w @ x[i]) ** 2)
        else:
            total -= x[i, 1]
    return total


@program(ROWS, W33, np.array([2, 0, 1, 0, 2, 2, 1, 0, 1]), argnums=(0, 1))
def product_behind_a_check(x: Any, w: Any, at: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        part = x[i, at[i]]
        if part > 5.0:
            raise ValueError("too large")
        total += part * np.sum(np.cos(w @ x[i]))
    return total


@program(uniform(517, 5, 9, 3), W33, argnums=(0, 1))
def products_in_a_nest(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total += np.sum((w @ x[i, k]) ** 2) * k
    return total


@program(ROWS.astype(np.float32), W43.astype(np.float32), argnums=(0, 1), tags="float32")
def products_of_single_precision(x: Any, w: Any) -> Any:
    total = np.float32(0.0)
    for i in range(len(x)):
        total += np.sum(np.tanh(w @ x[i]))
    return total


@program(ROWS, W33, argnums=(0, 1))
def vector_that_is_changed_after_its_product(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        v = x[i] * 3.0
        y = w @ v
        v[1] = y[0] * y[2]
        total += np.sum(v * y)
    return total
