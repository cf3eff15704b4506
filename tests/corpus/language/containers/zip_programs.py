# ruff: noqa: B905
"""Programs that loop over several things at once: arrays beside lists, ranges, other loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.program import X3, Program, recorder

ZIP_PROGRAMS: list[Program] = []
program = recorder(ZIP_PROGRAMS)


@program(X3)
def zip_of_an_array_and_a_list(x: Any) -> Any:
    s = 0.0
    for a, w in zip(x, [1.0, 2.0, 3.0]):
        s += a * a * w
    for a, w in zip(x, (5.0, 7.0)):
        s += a * a * w
    for w, a in zip([1.0, 2.0, 3.0, 4.0], x):
        s += np.sin(a) * w
    return s


@program(X3)
def zip_of_different_kinds(x: Any) -> Any:
    s = 0.0
    for a, k, name in zip(x, range(5), ["p", "q"]):
        s += a * a * (2.0 if name == "q" else 3.0) + k
    for a, factor in zip(x, (x, 2.0, x * x)):
        s += np.sum(a * factor)
    return s


@program(X3)
def zip_within_enumerate_and_zip(x: Any) -> Any:
    s = 0.0
    for i, (a, b) in enumerate(zip(x, [x[0], x[1]]), start=2):
        s += a * b * i
    for (a, b), c in zip(zip([x[0], x[1]], [1.0, 2.0, 3.0]), x):
        s += a * b * c
    for (i, a), (j, b) in zip(enumerate(x), enumerate([x[1], x[0] * 2.0])):
        s += (i + 1) * a * b * (j + 1)
    for a, b in zip(reversed([x[0], x[1]]), x):
        s += a * b
    for (_, a), b in zip({"a": x[0], "b": x[1]}.items(), x):
        s += a * b
    return s


@program(X3)
def zip_of_rows_and_a_list(x: Any) -> Any:
    rows = np.outer(x, x)
    for row, factor in zip(rows, [1.0, 2.0]):
        row *= factor
    s = 0.0
    for row, factor in zip(rows, [x[0], x[1], x[2]], strict=True):
        s += np.sum(row * row) * factor
    return s


@program(X3)
def zip_of_a_list_that_changes(x: Any) -> Any:
    s = 0.0
    items = [x[0], x[1], x[2]]
    for a, b in zip(x, items):
        items[1] = a * 2.0
        s += a * b
    return s


@program(X3)
def zip_left_early(x: Any) -> Any:
    s = 0.0
    found = []
    for a, b in zip(x, [1.0, 2.0, 3.0, 4.0]):
        if a < 0.0:
            continue
        if b > 2.5:
            break
        s += a * a * b
        found.append(a * b)
    else:
        s += 100.0 * x[0]
    for a, b in zip(x, [1.0, 2.0, 3.0]):
        if a < -100.0:
            return a * b
    else:
        s += x[1]
    return s * len(found)


@program(X3)
def zip_in_comprehensions(x: Any) -> Any:
    found = [a * b for a, b in zip(x, (1.0, 2.0, 3.0))]
    grown = []
    for a, b in zip(x, [1.0, 2.0]):
        grown.append(a * b)
    return (
        found[0] * found[1] * len(found)
        + sum(a * b for a, b in zip(x, (3.0, x[0])))
        + grown[1] * len(grown)
    )


@program(X3)
def zip_of_what_is_filtered(x: Any) -> Any:
    y = x[x > 0.0]
    s = 0.0
    for k in range(3):
        for a, b in zip(y[:k], (x, 2.0, x * x)):
            s += np.sum(a * b)
    return s


@program(X3)
def zip_of_nothing(x: Any) -> Any:
    s = 0.0
    for (a,) in zip(x):
        s += a * a
    for _ in zip():
        s += 1.0
    for a, _ in zip(x, []):
        s += a
    return s


@program(X3)
def zip_of_equal_lengths(x: Any) -> Any:
    s = 0.0
    for a, b in zip(range(3), [x[0], x[1], x[2]], strict=True):
        s += a * b * b
    for a, (_, b) in zip(x, enumerate(x * x), strict=True):
        s += a * b
    return s


@program(np.array([0.4, -0.7, 1.1]), 2, argnums=(0,))
def lists_whose_elements_are_all_replaced(x: Any, n: Any) -> Any:
    """The other names of a list see what a slice of it becomes."""
    point = [x[0] * x[1], 1.0]
    same = point
    for k in range(n):
        point[:] = [a + b * k for a, b in zip(point, x)]
    past = []
    for k in range(n + 1):
        past.append(x[k] * k)
    seen = past
    past[:] = [v * v for v in past]
    past[:] = [x[0], *past[::-1]]
    first = [x[0], x[1], 2.0]
    first[1:] = np.array([x[2], x[1]]) * same[1]
    first[:1] = range(2)
    return same[0] * seen[1] + sum(seen) + sum(first) * len(seen)
