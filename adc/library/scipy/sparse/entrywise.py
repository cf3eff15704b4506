"""Functions of each entry: they change the values, and leave the pattern, in all formats."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


class Entrywise:
    """An array with entries. Those that it does not have stay zero."""

    _is_matrix: Any

    # `_entries()` returns the values of the entries, `_with(data)` an array with the same pattern.
    _entries: Any
    _with: Any

    def __neg__(self) -> Any:
        return self._with(-self._entries())

    def __abs__(self) -> Any:
        return self._with(np.abs(self._entries()))

    def __pow__(self, other: Any) -> Any:
        if self._is_matrix:
            raise Unsupported("a power of a sparse matrix", "multiply: `A @ A`")
        return self.power(other)

    def power(self, n: Any) -> Any:
        """`scipy.sparse.csr_array.power`."""
        if np.ndim(n) != 0:
            raise Unsupported("`power` of several exponents", "compute `A.data`")
        if n == 0:
            raise Unsupported("the zero power of a sparse array, which is dense,", "use `np.ones`")
        return self._with(self._entries() ** n)

    def conjugate(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conjugate`."""
        return self._with(np.conjugate(self._entries()))

    def conj(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conj`."""
        return self.conjugate()

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._with(self._entries().real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._with(self._entries().imag)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.astype`."""
        return self._with(self._entries().astype(dtype))

    def sqrt(self) -> Any:
        """`scipy.sparse.csr_array.sqrt`."""
        return self._with(np.sqrt(self._entries()))

    def sin(self) -> Any:
        """`scipy.sparse.csr_array.sin`."""
        return self._with(np.sin(self._entries()))

    def tan(self) -> Any:
        """`scipy.sparse.csr_array.tan`."""
        return self._with(np.tan(self._entries()))

    def arcsin(self) -> Any:
        """`scipy.sparse.csr_array.arcsin`."""
        return self._with(np.arcsin(self._entries()))

    def arctan(self) -> Any:
        """`scipy.sparse.csr_array.arctan`."""
        return self._with(np.arctan(self._entries()))

    def sinh(self) -> Any:
        """`scipy.sparse.csr_array.sinh`."""
        return self._with(np.sinh(self._entries()))

    def tanh(self) -> Any:
        """`scipy.sparse.csr_array.tanh`."""
        return self._with(np.tanh(self._entries()))

    def expm1(self) -> Any:
        """`scipy.sparse.csr_array.expm1`."""
        return self._with(np.expm1(self._entries()))

    def log1p(self) -> Any:
        """`scipy.sparse.csr_array.log1p`."""
        return self._with(np.log1p(self._entries()))
