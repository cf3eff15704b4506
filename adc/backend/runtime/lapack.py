"""The functions of LAPACK and BLAS that SciPy brings along, by address and by symbol.

SciPy offers them to Cython as capsules whose names are C declarations. Every argument is an
address. Machine code refers to them by symbols of our own, so that what is kept on the disk works
in other processes; importing this module makes the symbols known to LLVM.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from typing import Any

import llvmlite.binding as llvm
import scipy

# Without the letter of the precision.
LAPACK = ("getrf", "potrf", "syevd", "syevr", "geev", "geqrf", "orgqr", "gesdd")
OF_COMPLEX = ("heevd", "heevr", "geev", "gees", "geqrf", "ungqr", "gesdd")
BLAS = ("gemm", "trsm", "trsv")

_PACKAGE = "scipy.linalg"
capsule_name: Any = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
capsule_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@contextmanager
def _loaded(*names: str) -> Iterator[list[Any]]:
    """Yield modules of `scipy.linalg`, loaded without the package.

    The package takes 0.15 seconds, these two of its files 0.004. They are known by their names only
    in the context: whoever imports the package afterwards gets all of it, with the same two.
    """
    own: list[str] = []
    finder = FileFinder(f"{scipy.__path__[0]}/linalg", (ExtensionFileLoader, EXTENSION_SUFFIXES))
    try:
        for each in names:
            full, found = f"{_PACKAGE}.{each}", finder.find_spec(each)
            if full not in sys.modules and found is not None and found.origin is not None:
                spec: Any = importlib.util.spec_from_file_location(full, found.origin)
                own.append(full)
                sys.modules[full] = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(sys.modules[full])
        yield [importlib.import_module(f"{_PACKAGE}.{each}") for each in names]
    finally:
        for full in own:
            sys.modules.pop(full, None)


def _addresses() -> dict[str, int]:
    found = {}
    with _loaded("cython_blas", "cython_lapack") as (blas, lapack):
        for module, letters, names in (
            (lapack, "sd", LAPACK), (lapack, "cz", OF_COMPLEX), (blas, "sd", BLAS),
        ):  # fmt: skip
            for name in (f"{letter}{name}" for letter in letters for name in names):
                capsule = module.__pyx_capi__[name]
                found[name] = capsule_pointer(capsule, capsule_name(capsule))
    return found


ADDRESSES = _addresses()


def symbol(name: str) -> str:
    """Return the name under which LLVM knows a function, letter included."""
    return f"adc_lapack_{name}"


for _each, _address in ADDRESSES.items():
    llvm.add_symbol(symbol(_each), _address)

__all__ = ["ADDRESSES", "BLAS", "LAPACK", "OF_COMPLEX", "symbol"]
