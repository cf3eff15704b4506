"""Programs of several fields that call `scipy.linalg` and `scipy.spatial.distance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from tests.corpus.program import Program, recorder, uniform

SCIPY_LINEAR_PROGRAMS: list[Program] = []
program = recorder(SCIPY_LINEAR_PROGRAMS, "linear")

POINTS, VALUES = uniform(501, 5, 2), uniform(502, 5)
STATES = uniform(503, 4, 2)
MOVE = np.array([[1.0, 0.1], [-0.2, 0.9]])
RATES = 0.5 + np.abs(uniform(504, 6))
TIPS = 0.1 + np.abs(uniform(505, 2, 4, 3))
GAIN = np.array([[5.0, 3.0]])


@program(np.array([0.1, 0.2, -1.0]), POINTS, VALUES, argnums=(0, 1, 2))
def gaussian_process(theta: Any, x: Any, y: Any) -> Any:
    length, size, noise = np.exp(theta)
    k = size * np.exp(-0.5 * cdist(x / length, x / length, "sqeuclidean"))
    factor, lower = scipy.linalg.cho_factor(k + noise * np.eye(len(y)), lower=True)
    weights = scipy.linalg.cho_solve((factor, lower), y)
    return 0.5 * y @ weights + np.sum(np.log(np.diag(factor)))


@program(MOVE, STATES, argnums=(0, 1))
def kalman_filter(f: Any, seen: Any) -> Any:
    x, p = np.zeros(2), np.eye(2)
    total = 0.0
    for z in seen:
        x, p = f @ x, f @ p @ f.T + 0.1 * np.eye(2)
        s = p + 0.5 * np.eye(2)
        rest = z - x
        gain = scipy.linalg.solve(s, p, assume_a="pos").T
        total += 0.5 * rest @ scipy.linalg.solve(s, rest) + 0.5 * np.log(scipy.linalg.det(s))
        x, p = x + gain @ rest, p - gain @ p
    return total


@program(RATES, TIPS, argnums=(0, 1))
def phylogeny(rates: Any, tips: Any) -> Any:
    q = np.zeros((3, 3))
    q[~np.eye(3, dtype=bool)] = rates
    q = q - np.diag(np.sum(q, axis=1))
    left, right = scipy.linalg.expm(0.3 * q), scipy.linalg.expm(0.7 * q)
    return -np.sum(np.log(np.sum((tips[0] @ left.T) * (tips[1] @ right.T), axis=1)))


@program(GAIN)
def cost_of_control(gain: Any) -> Any:
    a = np.array([[0.0, 1.0], [2.0, -1.0]]) - np.array([[0.0], [1.0]]) @ gain
    x = scipy.linalg.solve_continuous_lyapunov(a.T, -(np.eye(2) + gain.T @ gain))
    return np.sum(x * np.array([[1.0, 0.5], [0.5, 0.25]]))
