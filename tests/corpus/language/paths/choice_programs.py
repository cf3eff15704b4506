"""Programs that choose one of many in a loop: least ones, last ones, what belongs to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, X6, Program, recorder

CHOICE_PROGRAMS: list[Program] = []
program = recorder(CHOICE_PROGRAMS)


@program(M33, X3, argnums=(0, 1), smooth=False)
def closest_row(m: Any, x: Any) -> Any:
    closest = np.inf
    for i in range(m.shape[0]):
        distance = 0.0
        for k in range(len(x)):
            distance += (m[i, k] - x[k]) ** 2
        if distance < closest:
            closest = distance
    return closest * closest


@program(M33, X6, argnums=(0, 1), smooth=False)
def closest_rows_of_many(m: Any, x: Any) -> Any:
    cost = 0.0
    for j in range(len(x)):
        closest = np.inf
        for i in range(m.shape[0]):
            distance = 0.0
            for k in range(m.shape[1]):
                distance += math.sin(m[i, k] - x[j])
            if distance < closest:
                closest = distance
        cost += closest * x[j]
    return cost


@program(X6, smooth=False)
def what_belongs_to_the_least(x: Any) -> Any:
    least, beside, where = 10.0, 0.0, 0
    for i in range(len(x)):
        if np.sin(x[i]) <= least:
            least = np.sin(x[i])
            beside = x[i] * x[0]
            where = i
    return least * beside + x[where]


@program(X6, smooth=False)
def least_and_most(x: Any) -> Any:
    least, most = x[0], x[0]
    for i in range(1, len(x)):
        y = np.exp(x[i])
        if not y >= least:
            least = y
        if y > most:
            most = y
    return most * most - least * x[1]


@program(X6, smooth=False)
def least_so_far_is_used(x: Any) -> Any:
    least, total = 5.0, 0.0
    for i in range(len(x)):
        y = x[i] * x[i] + 0.1 * i
        if y < least:
            least = y
        total += least * x[i]
    return total + least


@program(X6, smooth=False)
def least_that_is_changed(x: Any) -> Any:
    least = 5.0
    for i in range(len(x)):
        y = np.cos(x[i])
        if y < least:
            least = y
        least = least * 1.5
    return least


@program(X6, 0, smooth=False)
def least_of_none(x: Any, n: Any) -> Any:
    least = x[1] * x[2]
    for i in range(n):
        if x[i] < least:
            least = x[i] * x[i]
    return least + x[0]


@program(X6, smooth=False)
def never_replaced(x: Any) -> Any:
    least = x[0] * x[1]
    for i in range(len(x)):
        if x[i] * x[i] < -1.0:
            least = x[i] * x[i]
    return least * least


@program(np.array([0.5, np.nan, 1.5, 0.2, np.nan, 0.3]), argnums=())
def least_beside_nan(x: Any) -> Any:
    least, last = np.inf, 0.0
    for i in range(len(x)):
        if x[i] < least:
            least = x[i]
        if x[i] == x[i]:
            last = x[i]
    return least, last


@program(X6.astype(np.float32), tags="float32", smooth=False)
def most_in_single_precision(x: Any) -> Any:
    most = x[0]
    for i in range(len(x)):
        y = x[i] * x[i]
        if y > most:
            most = y
    return most * x[1]


@program(M33, smooth=False)
def least_of_the_most(m: Any) -> Any:
    least = np.inf
    for i in range(m.shape[0]):
        most = -np.inf
        for k in range(m.shape[1]):
            y = np.sin(m[i, k]) * m[0, k]
            if y > most:
                most = y
        if most < least:
            least = most
    return least * m[1, 1]


@program(X6, smooth=False)
def last_one_of_a_kind(x: Any) -> Any:
    y = x.copy()
    found = 0.0
    for i in range(len(x)):
        y[i] = y[i] * y[i - 1]
        if x[i] > 0.3:
            found = y[i] * x[i]
    return found * found + y[2]


@program(X6, 4)
def one_of_many_and_all(x: Any, n: Any) -> Any:
    one, all_ = 0.0, 0.0
    for i in range(len(x)):
        if i == n:
            one = x[i] * x[0]
        all_ += x[i]
    return one * one + all_ * all_


@program(X6, 4)
def one_of_many(x: Any, n: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        if i == n:
            for k in range(i):
                y[k] = y[k] * x[i]
    return np.sum(y * y)
