"""Lists of None or of one number that loops fill with arrays: what buffers cannot hold.

`tests.corpus.language.containers.filled_programs` has what they can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import LimitError
from adc.testing import check_grads


def a_number_is_read(x: Any) -> Any:
    rows: list[Any] = [0.0] * len(x)
    for k in range(len(x)):
        rows[k] = rows[k] + x[k] * np.ones(2)
    return np.sum(rows[-1] * rows[0])


def a_number_is_left(x: Any) -> Any:
    rows: list[Any] = [1] * len(x)
    for k in range(1, len(x)):
        rows[k] = rows[k - 1] * x[k] * np.ones(2)
    return np.sum(rows[-1]) + np.sum(rows[0])


def several_shapes(x: Any) -> Any:
    rows: list[Any] = [None] * len(x)
    for k in range(len(x)):
        rows[k] = x[: k + 1] * 2.0
    return sum(np.sum(row**2) / len(row) for row in rows)


def no_elements(x: Any) -> Any:
    rows: list[Any] = [None] * len(x)
    for k in range(len(x)):
        rows[k] = x[:0] * 2.0
    rows[1] = x[:3]
    return sum(np.sum(row) + len(row) for row in rows)


def none_after_no_elements(x: Any) -> Any:
    rows = [x[:0] for _ in range(len(x))]
    rows.append(None)
    rows.append(x)
    return sum(float(len(row)) * np.sum(row) if row is not None else 2.0 for row in rows)


def an_element_is_changed(x: Any) -> Any:
    rows: list[Any] = [None] * len(x)
    for k in range(len(x)):
        rows[k] = np.zeros(3)
    for k in range(len(x)):
        rows[k][1] += x[k] ** 2
    return sum(np.sum(row) for row in rows)


def all_are_one_array(x: Any) -> Any:
    rows: list[Any] = [None] * len(x)
    total = np.zeros(2)
    for k in range(len(x)):
        total += x[k]
        rows[k] = total
    return sum(np.sum(row) for row in rows)


def what_is_none_is_copied(x: Any) -> Any:
    rows: list[Any] = [None] * len(x)
    rows[2] = x * 1.0
    for k in range(1, len(x)):
        rows[k - 1] = rows[k]
    return np.sum(rows[1]) + sum(1.0 for row in rows if row is None)


def appended_and_changed(x: Any) -> Any:
    rows, k = [x * 1.0], 0
    while k < len(x):
        rows.append(rows[k] * x[k])
        k += 1
        rows[k][0] = 0.5
    return sum(np.sum(row) for row in rows)


def appended_and_longer(x: Any) -> Any:
    rows = [x]
    for k in range(len(x)):
        rows.append(np.append(rows[k], x[0]))
    return sum(np.sum(row) / len(row) for row in rows)


def a_ring_of_arrays(x: Any) -> Any:
    rows = [np.zeros(2) for _ in range(3)]
    for k in range(len(x)):
        rows[k % 3] = rows[k % 3] + np.sin(rows[k % 3 - 1] + x[k])
    return sum(np.sum(row) for row in rows)


PROGRAMS = [
    a_number_is_read, a_number_is_left, several_shapes, no_elements, none_after_no_elements,
    an_element_is_changed, all_are_one_array, what_is_none_is_copied, appended_and_changed,
    appended_and_longer, a_ring_of_arrays,
]  # fmt: skip


@pytest.mark.parametrize("fn", PROGRAMS)
def test_each_element_is_one_by_itself(fn: Callable[[Any], Any]) -> None:
    """Where arrays have several shapes, are changed, or numbers are read, there are no buffers."""
    code = adc.value_and_grad(fn, target="python")
    for count in (4, 7):
        x = np.linspace(0.5, 1.5, count)
        value, gradient = code(x)
        assert value == pytest.approx(fn(x), rel=1e-12)
        step = 1e-6 * np.cos(np.arange(count))
        slope = (fn(x + step) - fn(x - step)) / 2.0
        assert gradient @ step == pytest.approx(slope, rel=1e-5)


def test_they_are_loops() -> None:
    """The code does not depend on how many elements there are."""

    def f(x: Any) -> Any:
        rows: list[Any] = [None] * len(x)
        zeros: list[Any] = [0] * len(x)
        for k in range(len(x)):
            rows[k] = np.sin(x[k])
            zeros[k] = rows[k] * x[k]
        return np.sum(np.array(rows) * zeros[-1])

    code = adc.value_and_grad(f, target="python")
    sources = set()
    for count in (3, 400):
        code(np.ones((count, 2)))
        sources.add(code.source())
    assert len(sources) == 1
    check_grads(f, (np.linspace(0.1, 1.0, 8).reshape(4, 2),))


def test_lists_that_are_returned() -> None:
    def f(x: Any, n: int) -> Any:
        rows: list[Any] = [None] * n
        zeros: list[Any] = [0.0] * n
        for k in range(1, n):
            rows[k] = x * k
        for k in range(n):
            zeros[k] = x + k
        return rows, zeros

    x = np.array([1.0, 2.0])
    for n in (2, 5):
        found, want = adc.jit(f, target="python")(x, n), f(x, n)
        assert found[0][0] is None
        np.testing.assert_array_equal(found[0][1:], want[0][1:])
        np.testing.assert_array_equal(found[1], want[1])


def test_what_is_none_is_not_an_array() -> None:
    def read(x: Any) -> Any:
        rows: list[Any] = [None] * len(x)
        rows[1] = x
        return np.sum(rows[0] * x)

    def joined(x: Any) -> Any:
        rows: list[Any] = [None] * len(x)
        for k in range(1, len(x)):
            rows[k] = x * k
        return np.sum(np.array(rows))

    x = np.linspace(0.0, 1.0, 6)
    with pytest.raises(TypeError, match=r"rows\[0\]. is None"):
        adc.grad(read, target="python")(x)
    with pytest.raises(LimitError, match="in which an element is None"):
        adc.grad(joined, target="python")(x)
