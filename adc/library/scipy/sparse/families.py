"""The classes by format: how code that makes an array of another format finds its class.

A class enters itself where it is defined. So no format imports another one.
"""

from __future__ import annotations

from typing import Any, TypeVar

from adc.library import Unsupported


class Family:
    """The classes of one kind."""

    csr: Any
    csc: Any
    coo: Any
    dia: Any
    lil: Any
    dok: Any


class Arrays(Family):
    """The classes whose names end in `array`."""


class Matrices(Family):
    """The classes whose names end in `matrix`."""


class Matrix:
    """What matrices add to an array: they multiply with ``*``, as `np.matrix` does."""

    _is_matrix = True
    _family: type[Family] = Matrices


Class = TypeVar("Class", bound=type)


def entered(cls: Class) -> Class:
    """Enter a class in its family."""
    setattr(cls._family, cls.format, cls)  # type: ignore[attr-defined]  # formats have both
    return cls


# --- results, in the format that they have --------------------------------------------------------


def in_format(a: Any, format: Any) -> Any:
    """Return an array in a format of this name; None for any."""
    if format is None:
        return a
    if format == "csr":
        return a.tocsr()
    if format == "csc":
        return a.tocsc()
    if format == "coo":
        return a.tocoo()
    if format == "lil":
        return a.tolil()
    if format == "dok":
        return a.todok()
    raise Unsupported("this `format` of a sparse array", "use 'csr', 'csc', 'coo', 'lil' or 'dok'")


def compressed(a: Any, by_columns: Any) -> Any:
    return a.tocsc() if by_columns else a.tocsr()


def canonical(a: Any, by_columns: Any) -> Any:
    """Return a compressed array without equal entries, in which indices increase."""
    return compressed(a.tocoo(False), by_columns)


def like(a: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """Return compressed rows, or columns, of the kind that results of an array have."""
    if a._by_columns:
        return a._family.csc((data, indices, indptr), shape)
    return a._family.csr((data, indices, indptr), shape)
