"""Arrays of other classes: memory maps, subclasses of `np.ndarray`, columns of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError

X = np.array([0.5, -1.0, 2.0])


class Named(np.ndarray[Any, Any]):
    """An array like any other."""


class Doubling(np.ndarray[Any, Any]):
    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * other * 2.0


class Table:
    """What a frame of pandas has; its class is of a library that adc does not read."""

    def __init__(self, **columns: Any) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return Table(**{name: self._columns[name]})

    def __getattr__(self, name: str) -> Any:
        if name[0] == "_" or name not in self._columns:
            raise AttributeError(name)
        return self[name]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        (found,) = self._columns.values()
        return np.array(found, dtype)

    def to_numpy(self) -> Any:
        return np.asarray(self)

    @property
    def values(self) -> Any:
        return np.asarray(self)


Table.__module__ = "pandas.core.frame"


def squares(x: Any) -> Any:
    return np.sum(x * x)


def test_memory_maps_and_subclasses(tmp_path: Path) -> None:
    X.tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", float, "r")
    gradient = adc.grad(squares)
    for x in (mapped, X.view(Named), X):
        found = gradient(x)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, 2.0 * X)
    np.testing.assert_array_equal(adc.grad(lambda x: np.sum(x * mapped))(X), X)
    held = adc.grad(lambda p: np.sum(p["w"] ** 2))({"w": mapped})
    np.testing.assert_array_equal(held["w"], 2.0 * X)
    with pytest.raises(AdcError, match=r"np\.asarray"):
        gradient(X.view(Doubling))
    with pytest.raises(AdcError, match="isinstance"):
        adc.grad(lambda x: np.sum(x) if isinstance(x, Named) else 2.0 * np.sum(x))(X.view(Named))


def test_columns_of_tables() -> None:
    data = X.copy()
    table = Table(a=data, b=X + 1.0)
    by_key = adc.grad(lambda x: np.sum(x * table["a"].to_numpy()))
    np.testing.assert_array_equal(by_key(X), X)
    data[0] = 7.0  # read at every call
    np.testing.assert_array_equal(by_key(X), data)
    table = Table(a=X * 3.0, b=X)
    np.testing.assert_array_equal(by_key(X), X * 3.0)
    np.testing.assert_array_equal(adc.grad(lambda x: np.sum(x * table.b.values))(X), X)
    with pytest.raises(AdcError, match="KeyError"):
        adc.grad(lambda x: np.sum(x * table["c"].values))(X)
    with pytest.raises(AdcError, match="not defined for a Table"):
        adc.grad(lambda x: np.sum(x * table["a"]))(X)
    with pytest.raises(AdcError, match="to_numpy"):
        adc.grad(squares)(table["a"])
