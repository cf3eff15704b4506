"""Calls of functions of SciPy: their results, compared with SciPy's, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.testing import check_grads

Call = Callable[..., Any]
# A function, and its arguments.
Row = tuple[Call, tuple[Any, ...]]


def parts(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def check_values(fn: Call, args: tuple[Any, ...], tolerance: float = 1e-13) -> None:
    """Compare results: types, shapes, dtypes, and numbers relative to the largest."""
    got, want = parts(adc.jit(fn, target="python")(*args)), parts(fn(*args))
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        assert type(x) is type(y)
        assert np.shape(x) == np.shape(y)
        a, b = np.asarray(x), np.asarray(y)
        assert a.dtype == b.dtype
        if b.dtype.kind not in "fc":
            assert np.array_equal(a, b)
            continue
        eps = np.finfo(b.dtype).eps
        size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        near = np.abs(a - b) <= max(tolerance, 20.0 * eps) * max(1.0, size)
        assert np.all(near | (a == b) | (np.isnan(a) & np.isnan(b)))


def check_second_derivatives(fn: Call, args: tuple[Any, ...]) -> None:
    """Compare derivatives of the gradient of a sum of powers with differences."""

    def loss(*given: Any) -> Any:
        found = fn(*given)
        total = 0.0
        for each in found if isinstance(found, tuple) else (found,):
            total = total + np.sum(np.real(each) ** 2) + np.sum(np.imag(each) ** 3)
        return total

    check_grads(loss, args, order=2)


def compared(
    smooth: list[Row], others: list[Row], tolerance: float = 1e-13,
    cost: pytest.MarkDecorator = pytest.mark.full,
) -> tuple[Call, Call, Call]:  # fmt: skip
    """Return tests of values, of derivatives, and of second derivatives.

    Only `smooth` rows have derivatives. `cost` marks the test of values.
    """

    @cost
    @pytest.mark.parametrize("row", smooth + others)
    def test_values(row: Row) -> None:
        check_values(*row, tolerance=tolerance)

    @pytest.mark.full
    @pytest.mark.parametrize("row", smooth)
    def test_derivatives(row: Row) -> None:
        check_grads(*row)

    @pytest.mark.full
    @pytest.mark.parametrize("row", smooth)
    def test_second_derivatives(row: Row) -> None:
        check_second_derivatives(*row)

    return test_values, test_derivatives, test_second_derivatives
