"""Programs whose value or gradient was not that of NumPy's functions: part of the array corpus."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder, uniform

MEANING_PROGRAMS: list[Program] = []
program = recorder(MEANING_PROGRAMS)

V = np.array([0.7, -1.3, 0.45])
M = uniform(501, 3, 4, low=0.2, high=1.5)
S = uniform(502, 3, 3)
# The third row is the sum of the others, and the second column zero.
SINGULAR = np.array([[1.0, 0.0, 2.0], [0.5, 0.0, -1.0], [1.5, 0.0, 1.0]])


@program(V, M, argnums=(0, 1))
def kronecker_product_of_a_vector_and_a_matrix(v: Any, a: Any) -> Any:
    first, second = np.kron(v, a), np.kron(a, v)
    return np.sum(np.sin(first)) + np.sum(np.cos(second) * second)


@program(M)
def gradient_along_both_axes(a: Any) -> Any:
    down, across = np.gradient(a, 0.5, 2.0)
    return np.sum(down * across) + np.sum(np.gradient(a, axis=1, edge_order=2) ** 2)


@program(M, np.array([0.0, 0.4, 1.1, 2.0]), argnums=(0, 1))
def gradient_between_uneven_points(a: Any, x: Any) -> Any:
    return np.sum(np.gradient(a, x, axis=1) ** 3)


@program(np.array([0.2, 1.7, 2.9, -1.0]), V, argnums=(0, 1))
def interpolation_of_many_points(x: Any, heights: Any) -> Any:
    at = np.array([0.0, 1.0, 2.5])
    inside = np.interp(x.reshape(2, 2), at, heights)
    return np.sum(inside**2) + np.interp(x[1], at, heights, left=0.0) * 3.0


@program(M, V, argnums=(0, 1))
def weighted_average_of_rows(a: Any, v: Any) -> Any:
    found = np.average(a, axis=0, weights=v + 3.0)
    return np.sum(found * found) + np.average(a, weights=a * a)


@program(M, 0.37, argnums=(0, 1))
def quantiles_from_both_ends(a: Any, q: Any) -> Any:
    low = np.quantile(a, q, axis=1)
    return np.sum(low * low) + np.percentile(a, 100.0 * q + 50.0) + np.quantile(a, 1.0)


@program(S)
def average_in_single_precision_of_doubles(a: Any) -> Any:
    return np.sum(a, dtype=np.float64) + np.var(a * a, dtype=np.float64, ddof=1)


@program(V)
def choices_between_numbers(v: Any) -> Any:
    total = 0.0
    for x in v:
        total = total + np.where(x > 0.0, np.sin(x), x * x)
    return total * np.select([v[0] > 0.5, v[0] > 0.2], [v[1], v[2]], 2.0)


@program(V)
def methods_of_an_element(v: Any) -> Any:
    kept = v[0].copy()
    v[0] = 5.0
    return kept * v[1].astype(float) + np.max(v[2]) * v[2].reshape(1)[0]


@program(S, V, argnums=(0, 1))
def values_put_again_and_again(a: Any, v: Any) -> Any:
    b = np.sin(a)
    np.put(b, [0, 4, -1, 2], v[:2])
    np.putmask(b, b > 0.3, v)
    return np.sum(b * a)


@program(np.array([[0.0, 1.0], [0.0, 2.0]]))
def determinant_of_a_singular_matrix(a: Any) -> Any:
    return 3.0 * np.linalg.det(a) + a[0, 0]


@program(SINGULAR, 2)
def determinants_of_singular_matrices_in_a_loop(a: Any, n: Any) -> Any:
    total = 0.0
    for k in range(n):
        b = a.copy()
        b[2, 1] = 0.5 * k
        total += np.linalg.det(b) * (k + 1.0)
    return total


@program(S + 3.0 * np.eye(3), 1)
def factors_made_in_a_branch(a: Any, chosen: Any) -> Any:
    """`remat="recompute"` took what a branch needs from what is made of the branch's result."""
    total = 1.0
    if chosen > 0:
        lu = np.empty((3, 3))
        for i in range(3):
            for j in range(3):
                s = a[i, j]
                for k in range(min(i, j)):
                    s -= lu[i, k] * lu[k, j]
                lu[i, j] = s if j >= i else s / lu[j, j]
        for i in range(3):
            total *= lu[i, i]
    return total


@program(V)
def squares_of_truth_values(x: Any) -> Any:
    small = (x > 0.0) ** 2 * 100  # 8-bit integers: NumPy squares truth values to these
    return np.sum((small + small) * x) + np.sum((x > 0.0) ** 3 * 200 * x)


@program(np.array([0.7, 1.2]))
def numbers_of_where_that_have_other_names(x: Any) -> Any:
    """What `np.where` makes of numbers is an array, which views and functions may change."""

    def add(u: Any) -> None:
        u += x[1]

    first = np.where(x[0] > 0.0, x[0], x[1])
    second = np.where(x[0] < 0.0, x[0], x[1])
    third = np.where(x[0] > 0.0, x[0] * x[1], 2.0)
    flat, held = first.reshape(1), [second]
    flat[0] = 5.0 * x[1]
    held[0] *= x[0]
    add(third)
    third[np.asarray(third > 1.5)] -= 0.5 * x[0]
    same: Any = np.asarray(third)
    for k in range(2):
        same[...] = third * x[k]
    return first * x[0] + second + third


@program(np.array([0.7, 1.2, -0.4]))
def numbers_of_where_in_a_loop(x: Any) -> Any:
    total: Any = 0.0
    for k in range(len(x)):
        step = np.where(x[k] > 0.5, total + x[k], total * x[k])
        total = step if k % 2 else total + step**2
        total *= 0.5
    return total
