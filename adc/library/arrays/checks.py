"""Checks of arrays that raise `AssertionError` where they fail (`np.testing`)."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "assert_array_equal",
]  # fmt: skip


def _require_shapes(header: str, x: Any, y: Any, err_msg: str) -> None:
    if x.ndim and y.ndim and x.shape != y.shape:
        raise AssertionError(f"\n{header}\n{err_msg}\n(shapes {x.shape}, {y.shape} mismatch)")


def assert_allclose(
    actual: Any, desired: Any, rtol: Any = 1e-7, atol: Any = 0, equal_nan: bool = True,
    err_msg: str = "", verbose: bool = True,
) -> None:  # fmt: skip
    """`np.testing.assert_allclose`."""
    x, y = np.asarray(actual), np.asarray(desired)
    header = f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}"
    _require_shapes(header, x, y, err_msg)
    if not np.allclose(x, y, rtol, atol, equal_nan):
        raise AssertionError(f"\n{header}\n{err_msg}")


def assert_array_equal(
    actual: Any, desired: Any, err_msg: str = "", verbose: bool = True
) -> None:  # fmt: skip
    """`np.testing.assert_array_equal`."""
    x, y = np.asarray(actual), np.asarray(desired)
    _require_shapes("Arrays are not equal", x, y, err_msg)
    if not np.all((x == y) | ((x != x) & (y != y))):
        raise AssertionError(f"\nArrays are not equal\n{err_msg}")


def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: int = 6, err_msg: str = "", verbose: bool = True
) -> None:
    """`np.testing.assert_array_almost_equal`."""
    x, y = np.asarray(actual), np.asarray(desired)
    header = f"Arrays are not almost equal to {decimal} decimals"
    _require_shapes(header, x, y, err_msg)
    near = np.abs(y - x) < 1.5 * 10.0 ** (-decimal)
    if not np.all(near | (x == y) | ((x != x) & (y != y))):
        raise AssertionError(f"\n{header}\n{err_msg}")


def assert_almost_equal(
    actual: Any, desired: Any, decimal: int = 7, err_msg: str = "", verbose: bool = True
) -> None:
    """`np.testing.assert_almost_equal`."""
    assert_array_almost_equal(actual, desired, decimal, err_msg, verbose)
