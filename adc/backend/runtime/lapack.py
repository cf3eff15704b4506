"""The functions of LAPACK and BLAS that SciPy brings along, by address and by symbol.

SciPy offers them to Cython as capsules whose names are C declarations. Every argument is an
address. Machine code refers to them by symbols of our own, so that what is kept on the disk works
in other processes; importing this module makes the symbols known to LLVM.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack

# Without the letter of the precision.
LAPACK = ("getrf", "potrf", "syevd", "syevr", "geqrf", "orgqr", "gesdd")
OF_COMPLEX = ("heevd", "heevr", "geev", "gees", "geqrf", "ungqr", "gesdd")
BLAS = ("trsm", "trsv")

_name: Any = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _addresses() -> dict[str, int]:
    lapack: Any = scipy.linalg.cython_lapack
    blas: Any = scipy.linalg.cython_blas
    found = {}
    for module, letters, names in (
        (lapack, "sd", LAPACK), (lapack, "cz", OF_COMPLEX), (blas, "sd", BLAS),
    ):  # fmt: skip
        for name in (f"{letter}{name}" for letter in letters for name in names):
            capsule = module.__pyx_capi__[name]
            found[name] = _pointer(capsule, _name(capsule))
    return found


ADDRESSES = _addresses()


def symbol(name: str) -> str:
    """Return the name under which LLVM knows a function, letter included."""
    return f"adc_lapack_{name}"


for _each, _address in ADDRESSES.items():
    llvm.add_symbol(symbol(_each), _address)

__all__ = ["ADDRESSES", "BLAS", "LAPACK", "OF_COMPLEX", "symbol"]
