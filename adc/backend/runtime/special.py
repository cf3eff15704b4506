"""The functions of `scipy.special`, which emitted code calls by the names of their rows.

A row is a loop of a ufunc (`adc.ir.ops.ufuncs`). Its address is in the ufunc, whose layout is part
of NumPy's C interface. Where SciPy offers the same function to Cython, as a capsule whose name is a
C declaration, that is called instead, which saves the time of a loop around one number. Machine
code refers to both by symbols of our own, so that what is kept on the disk works in other
processes: `__getattr__` makes those of a row known to LLVM when emitted code imports it.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from adc.backend.numba_api import Intrinsic, signature, types
from adc.backend.runtime.lapack import capsule_name, capsule_pointer
from adc.ir.errors import UnsupportedError
from adc.ir.opdef import OpDef, Ufunc
from adc.ir.ops import ufuncs

_ROWS: dict[str, OpDef] = {op.function: op for op in ufuncs.rows()}
NAMES = frozenset(_ROWS)

_I8P = ir.IntType(8).as_pointer()
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()
_ELEMENT = {"f": _F32, "d": _F64, "F": _F32, "D": _F64, "l": _I64, "q": _I64, "p": _I64}
# Not readable, writable, or able to fail, as `adc.backend.common.vector_math` says of its own:
# errors are noted in variables of the thread that nobody looks at.
_PURE = ("memory(none)", "nocallback", "nofree", "nosync", "nounwind", "willreturn")


class _Layout(ctypes.Structure):
    """The beginning of a ufunc in memory (``PyUFuncObject``)."""

    _fields_ = (
        ("references", ctypes.c_ssize_t), ("kind", ctypes.c_void_p), ("nin", ctypes.c_int),
        ("nout", ctypes.c_int), ("nargs", ctypes.c_int), ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )  # fmt: skip


def loop(ufunc: np.ufunc, letters: str) -> tuple[int, int]:
    """Return the addresses of a loop of a ufunc, and of the data that it is given."""
    found = _Layout.from_address(id(ufunc))
    counts = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    assert (found.nin, found.nout, found.nargs, found.ntypes) == counts
    place = ufunc.types.index(letters)
    return found.functions[place] or 0, found.data[place] or 0


def direct(name: str, letters: str) -> int | None:
    """Return the address of a function of real numbers that SciPy offers to Cython, or None."""
    given, _, result = letters.partition("->")
    if result != "d" or set(given) != {"d"}:
        return None
    import scipy.special.cython_special as cython_special

    capsules: dict[str, Any] = cython_special.__pyx_capi__
    declared = f"double ({', '.join(['double'] * len(given))}, int __pyx_skip_dispatch)"
    pattern = re.compile(rf"(__pyx_fuse(_\d)+)?{name}")
    for each, capsule in capsules.items():
        if pattern.fullmatch(each) and capsule_name(capsule).decode() == declared:
            found: int = capsule_pointer(capsule, capsule_name(capsule))
            return found
    return None


def missing(names: Sequence[str]) -> str | None:
    """Return the name of a function among those of rows that SciPy does not have."""
    wanted = [_ROWS[name].ufunc for name in names if name in NAMES]
    lacking = [own.name for own in wanted if own and ufuncs.find_ufunc(own.name) is None]
    return lacking[0] if lacking else None


def require(names: Sequence[str]) -> None:
    """Refuse code that calls rows which this version of SciPy does not have.

    Raises
    ------
    UnsupportedError
        With the name of the first one.
    """
    lacking = missing(names)
    if lacking is not None:
        raise UnsupportedError(
            f"`scipy.special.{lacking}`, which the program or its derivative needs, is not in "
            f"SciPy {ufuncs.version()}", None, "install a later version of SciPy",
        )  # fmt: skip


def _symbol(own: Ufunc, letters: str) -> str:
    return f"adc_scipy_{own.name}_{letters.replace('->', '_')}"


@functools.cache
def _add_symbols(own: Ufunc, letters: str) -> bool:
    """Make a loop known to LLVM; return whether there is a function to be called directly."""
    found = ufuncs.find_ufunc(own.name)
    assert found is not None
    symbol = _symbol(own, letters)
    code, data = loop(found, letters)
    llvm.add_symbol(symbol, code)
    llvm.add_symbol(f"{symbol}_data", data)
    address = direct(own.name, letters)
    if address is not None:
        llvm.add_symbol(f"{symbol}_direct", address)
    return address is not None


def _declared(module: ir.Module, name: str, result: ir.Type, args: Sequence[ir.Type]) -> Any:
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, args), name)


def _wrapper(module: ir.Module, symbol: str, letters: str) -> ir.Function:
    """Return an LLVM function of numbers that calls a loop; it returns a structure of numbers."""
    found = module.globals.get(f"{symbol}_once")
    if found is not None:
        return found
    given, _, returned = letters.partition("->")
    args = [_ELEMENT[each] for each in given for _ in range(ufuncs.width(each))]
    results = [_ELEMENT[each] for each in returned for _ in range(ufuncs.width(each))]
    kind = ir.FunctionType(ir.LiteralStructType(results), args)
    function = ir.Function(module, kind, f"{symbol}_once")
    function.linkage = "linkonce_odr"
    set.update(function.attributes, [*_PURE, "noinline"])
    b = ir.IRBuilder(function.append_basic_block())
    numbers = []
    pointers = b.alloca(_I8P, len(letters) - 2)
    steps = b.alloca(_I64, len(letters) - 2)
    one = b.alloca(_I64)
    b.store(ir.Constant(_I64, 1), one)
    values = iter(function.args)
    for k, letter in enumerate(given + returned):
        memory = b.alloca(_ELEMENT[letter], 2)
        numbers.append(memory)
        at = ir.Constant(_I64, k)
        b.store(b.bitcast(memory, _I8P), b.gep(pointers, [at]))
        b.store(ir.Constant(_I64, 0), b.gep(steps, [at]))
        if k < len(given):
            for part in range(ufuncs.width(letter)):
                b.store(next(values), b.gep(memory, [ir.Constant(_I64, part)]))
    types = (_I8P.as_pointer(), _I64.as_pointer(), _I64.as_pointer(), _I8P)
    code = _declared(module, symbol, ir.VoidType(), types)
    data = module.globals.get(f"{symbol}_data") or ir.GlobalVariable(
        module, ir.IntType(8), f"{symbol}_data"
    )
    b.call(code, [pointers, one, steps, data])
    result = ir.Constant(kind.return_type, ir.Undefined)
    parts = [
        (memory, part)
        for memory, letter in zip(numbers[len(given) :], returned, strict=True)
        for part in range(ufuncs.width(letter))
    ]
    for k, (memory, part) in enumerate(parts):
        number = b.load(b.gep(memory, [ir.Constant(_I64, part)]))
        result = b.insert_value(result, number, k)
    b.ret(result)
    return function


def _integer(b: ir.IRBuilder, number: Any) -> Any:
    """Write the conversion of a whole number; what is none becomes the smallest integer."""
    limit = 2.0**63
    fits = b.fcmp_ordered(">=", number, ir.Constant(number.type, -limit))
    fits = b.and_(fits, b.fcmp_ordered("<", number, ir.Constant(number.type, limit)))
    safe = b.select(fits, number, ir.Constant(number.type, -limit))
    return b.fptosi(safe, _I64)


def _define(row: OpDef) -> Intrinsic:
    own = row.ufunc
    assert own is not None
    ufunc = ufuncs.find_ufunc(own.name)
    if ufunc is None:
        raise AttributeError(f"SciPy {ufuncs.version()} has no {own.name!r}")
    forms = {}
    for ty, dtype in ((types.float64, np.float64), (types.float32, np.float32)):
        letters = ufuncs.letters(own, ufunc, np.dtype(dtype))
        if letters:
            forms[ty] = letters, _add_symbols(own, letters)

    def typed(*args: Any) -> tuple[Any, Any]:
        single = all(types.unliteral(arg) == types.float32 for arg in args)
        ty = types.float32 if single and types.float32 in forms else types.float64
        letters, is_direct = forms[ty]
        symbol = _symbol(own, letters)

        def codegen(context: Any, b: ir.IRBuilder, sig: Any, values: Any) -> Any:
            if is_direct:
                args = [_F64] * len(values)
                called = _declared(b.module, f"{symbol}_direct", _F64, [*args, _I32])
                set.update(called.attributes, _PURE)
                return b.call(called, [*values, ir.Constant(_I32, 0)])
            function = _wrapper(b.module, symbol, letters)
            given = [
                _integer(b, value) if arg.type == _I64 else value
                for value, arg in zip(values, function.args, strict=True)
            ]
            return b.extract_value(b.call(function, given), own.output)

        return signature(ty, *[ty] * row.arity), codegen

    return Intrinsic(lambda typing, *args: typed(*args))


@functools.cache
def _defined(name: str) -> Intrinsic:
    return _define(_ROWS[name])


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return _defined(name)
    raise AttributeError(name)


__all__ = ["NAMES", "direct", "loop", "missing", "require"]
