"""Loops over rows that multiply, solve and factorize small matrices, or call functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import adc
from tests.corpus.program import Program, recorder, uniform

LINEAR_PROGRAMS: list[Program] = []
program = recorder(LINEAR_PROGRAMS, "linear")

ROWS = 0.3 * uniform(91, 5, 3, 3) + 2.0 * np.eye(3)
SIDES = uniform(92, 5, 3)


@adc.custom_vjp
def clipped(x: Any) -> Any:
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, ct: (ct * min(2.0 * x, 1.0),))


@adc.custom_jvp
def softened(x: Any) -> Any:
    return np.sqrt(x * x + 1.0)


@softened.defjvp
def _(primals: Any, tangents: Any) -> Any:
    found = softened(primals[0])
    return found, primals[0] / found * tangents[0]


def power(x: Any, n: Any) -> Any:
    return x if n <= 1 else x * power(np.sin(x), n - 1)


@program(ROWS, SIDES, argnums=(0, 1))
def systems(a: Any, b: Any) -> Any:
    out = np.empty(b.shape)
    for i in range(a.shape[0]):
        out[i] = np.linalg.solve(a[i], b[i])
    return np.sum(np.sin(out))


@program(ROWS, SIDES, argnums=(0, 1))
def newton_rows(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        x = b[i].copy()
        for _ in range(3):
            residual = a[i] @ x + x**3 / 3 - b[i]
            x = x - np.linalg.solve(a[i] + np.diag(x * x), residual)
        total += np.sum(x * x)
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def likelihoods(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        factor = np.linalg.cholesky(a[i] @ a[i].T + np.eye(3))
        total += np.sum(np.log(np.diagonal(factor))) + np.sum(factor @ b[i])
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def principal(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        values, x = np.linalg.eigh(a[i] + a[i].T)
        total += np.sum(np.sin(values)) + np.sum(x[:, 0] ** 4 * b[i])
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def orthonormal(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        q, r = np.linalg.qr(a[i])
        total += np.sum(np.sin(q)) + np.sum(r @ b[i])
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def determinants(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += np.linalg.det(a[i]) * b[i, 0] + np.linalg.slogdet(a[i])[1]
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def products_in_turn(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        c = np.eye(3)
        for _ in range(3):
            c = np.sin(c @ a[i]) + a[i].T @ c
        total += np.sum(c @ b[i])
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def batches_in_turn(a: Any, b: Any) -> Any:
    x = b.copy()
    for _ in range(3):
        for i in range(a.shape[0]):
            x[i] = np.linalg.solve(a[i], np.cos(x[i]))
    return np.sum(x * x)


@program(ROWS, SIDES, argnums=(0, 1))
def own_rules(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(b.shape[0]):
        y = b[i, 0]
        while y < 2.0:
            y = y + softened(y * b[i, 1])
        total += clipped(y) * b[i, 2]
    return total


@program(ROWS, SIDES, argnums=(0, 1))
def calls_itself(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(b.shape[0]):
        total += power(b[i, 0], 3) * a[i, 0, 0]
    return total
