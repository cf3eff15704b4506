"""DUCC's transforms, the library of `scipy.fft`, as the package `rocket-fft` brings it.

Its shared library is loaded, the package is not imported. Machine code refers to it by a symbol of
our own, so that what is kept on the disk works in other processes; importing this module makes the
symbol known to LLVM. What is passed are structures of numbers: how the transform is done, and
arrays as Numba describes them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from typing import Any

import llvmlite.binding as llvm

from adc.ir.errors import UnfitPackageError

SYMBOL = "adc_ducc_execute"
# The version of the structures below, and what the library says of the processor.
_VERSION = 1
_FILES = ("_rocket_fft_numba_avx2", "_rocket_fft_numba")

#: The fields of the first argument, integers but one.
OPTIONS = (
    "kind", "flags", "in_dtype", "out_dtype", "norm", "factor", "type", "ortho", "workers",
    "workers_given",
)  # fmt: skip
#: What is transformed: complex to complex, real to complex, complex to real, cosines, sines.
C2C, R2C, C2R, DCT, DST = range(5)
#: Flags: with a negative sign; lengths are those of the result.
FORWARD, LENGTHS = 1, 4
#: The numbers of dtypes.
DTYPES = {"f": 9, "d": 10, "F": 11, "D": 12}
INT64 = 4
#: The factor is given.
EXPLICIT = 3


def _unfit(why: str) -> UnfitPackageError:
    return UnfitPackageError(
        f"adc needs the package rocket-fft, 0.4.1 or later, for Fourier transforms: {why}",
        None,
        "install it with `pip install rocket-fft`",
    )


def _library() -> Any:
    """Return the shared library: the one for AVX2, where the processor has it."""
    found = importlib.util.find_spec("rocket_fft")
    if found is None or found.origin is None:
        raise _unfit("it is not installed")
    places = {}
    for name in os.listdir(os.path.dirname(found.origin)):
        if name.endswith((".so", ".pyd", ".dylib")):
            places[name.partition(".")[0]] = os.path.join(os.path.dirname(found.origin), name)
    fast, plain = _FILES
    try:
        library: Any = ctypes.CDLL(places[plain])
        if fast in places and library.rf_cpu_supports_avx2():
            library = ctypes.CDLL(places[fast])
        version = library.rf_abi_version()
        library.rf_execute.restype = ctypes.c_int64
    except (KeyError, OSError, AttributeError) as error:
        raise _unfit(f"its library lacks something ({error})") from None
    if version != _VERSION:
        raise _unfit(f"its library has interface {version}, adc knows {_VERSION}")
    return library


execute: Any = _library().rf_execute
llvm.add_symbol(SYMBOL, ctypes.cast(execute, ctypes.c_void_p).value)

__all__ = ["SYMBOL", "execute"]
