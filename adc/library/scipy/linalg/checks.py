"""What the functions of `scipy.linalg` require of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def validated(a: Any, check_finite: Any = True) -> Any:
    """Return an array of floats or complex numbers that LAPACK knows, all of them finite."""
    if a.dtype == np.float16:
        raise Unsupported(
            "float16 in functions of `scipy.linalg`", "convert it with `.astype(np.float32)`"
        )
    if check_finite and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a if a.dtype.kind == "f" or np.iscomplexobj(a) else a.astype(np.float64)


def alike(a: Any, b: Any) -> Any:
    """Return two arrays in the dtype that both have a part in."""
    if a.dtype == b.dtype:
        return a, b
    both = np.result_type(a, b)
    return a.astype(both), b.astype(both)


def square(a: Any) -> None:
    if a.shape[-1] != a.shape[-2]:
        raise ValueError("expected square matrix")


def adjoint(a: Any) -> Any:
    """Return the conjugate transpose of a matrix."""
    return np.conj(a.T) if np.iscomplexobj(a) else a.T


def columns(b: Any) -> Any:
    """Return right-hand sides as the columns of a matrix."""
    return b[:, None] if b.ndim == 1 else b


def like(found: Any, b: Any) -> Any:
    """Return solutions in the shape of the right-hand sides."""
    return found[:, 0] if b.ndim == 1 else found
