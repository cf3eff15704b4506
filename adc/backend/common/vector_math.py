"""One implementation of each transcendental function, whatever code calls it.

A vectorised loop that calls a vector library, its scalar remainder and the same expression in a
serial loop usually differ in the last bits, because a vector library and the C library round
differently, and so do the widths of one vector library. Recomputing a value then gives another
number than storing it. Here every call on a machine ends in the same machine code:

* On x86-64 Linux with glibc, that is libmvec in *one* width: four doubles (eight floats) with AVX2,
  two doubles (four floats) without. LLVM sees a scalar function with a
  ``vector-function-abi-variant`` attribute that names this width only, so the loop vectoriser
  has no other choice. The scalar function itself fills all lanes of the same vector function with
  its argument and takes the first lane; it is never inlined or specialised.
* Everywhere else, and with ``ADC_VECTOR_LIBRARY=none`` in the environment, it is the C library's
  scalar function. LLVM knows it under a name of ours only: what it does not recognise it neither
  folds for constant arguments nor rewrites (``pow(x, 0.5)`` stays a call of ``pow``).

Errors are below 4 units in the last place over the whole range of both types (below 8 for `gamma`
and `lgamma` in double precision), and special values are those of C99. ``sqrt``, ``floor`` and
others that IEEE 754 defines exactly need nothing of this.

Which functions there are, the op table says (`OpDef.libm`). They are for code that Numba compiles;
Python can call them as well:

>>> from adc.backend.common import vector_math
>>> vector_math.cos(0.0)
1.0

An ``int`` or ``bool`` counts as ``float64``; the result is ``float32`` if all arguments are.
Nothing raises: ``log(-1.0)`` is a NaN and ``exp(1000.0)`` infinite, as in NumPy.

Machine code in Numba's file cache refers to the functions by symbol. Importing this module makes
the symbols known to LLVM; code that needs one which does not exist crashes, so a cache entry made
elsewhere has to be checked first, with `required_symbols` and `symbols_available`.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.extending import lower_builtin, type_callable

from adc.backend.numba_api import CPUDispatcher, cpu_target, signature, types
from adc.ir.opdef import OPS, CFunction, OpDef

__all__ = [
    "FUNCTIONS",
    "implementation",
    "lowering",
    "required_symbols",
    "symbols_available",
    "vector_library",
]

DType: TypeAlias = Literal["float64", "float32"]

_DTYPES: tuple[DType, ...] = ("float64", "float32")


# --- libraries and symbols ------------------------------------------------------------------------


#: The rows of the op table that are computed here, by name.
_ROWS: dict[str, OpDef] = {}

#: Every function of this module by name, as the module's attributes.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: The symbols that LLVM can resolve because this module has told it.
_SYMBOLS: set[str] = set()


@dataclass(frozen=True, slots=True)
class _Width:
    """One width of libmvec.

    Attributes
    ----------
    prefix
        Start of its symbols, the letter of the instruction set included.
    doubles
        How many doubles a vector holds. It holds twice as many floats.
    """

    prefix: str
    doubles: int

    def lanes(self, dtype: DType) -> int:
        return self.doubles if dtype == "float64" else 2 * self.doubles

    def symbol(self, row: OpDef, dtype: DType) -> str:
        return self.mangle(row, dtype, _c_symbol(row, dtype))

    def mangle(self, row: OpDef, dtype: DType, scalar: str) -> str:
        return f"{self.prefix}N{self.lanes(dtype)}{'v' * row.arity}_{scalar}"


_AVX2 = _Width("_ZGVd", 4)
_SSE = _Width("_ZGVb", 2)


def _libm(row: OpDef) -> CFunction:
    assert row.libm is not None
    return row.libm


def _c_symbol(row: OpDef, dtype: DType) -> str:
    return _libm(row).name + "f" * (dtype == "float32")


def _libm_symbol(row: OpDef, dtype: DType) -> str:
    # Not the C library's own name, by which LLVM would recognise the function.
    return "adc_libm_" + _c_symbol(row, dtype)


@functools.cache
def _load(name: str | None) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except (OSError, TypeError):  # Windows knows no library without a name: TypeError
        return None


def _load_libm() -> list[ctypes.CDLL]:
    """Return the libraries in which to look for the C library's functions, the best first."""
    names: list[str | None] = [None]  # what the interpreter itself is linked with
    if sys.platform == "win32":
        names = ["ucrtbase"]
    elif sys.platform == "linux":
        names = ["libm.so.6", None]
    return [library for library in map(_load, names) if library is not None]


def _add_symbol(symbol: str, libraries: Iterable[ctypes.CDLL], name: str) -> None:
    for library in libraries:
        function = getattr(library, name, None)
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            llvm.add_symbol(symbol, address)
            _SYMBOLS.add(symbol)
            return


def _add_symbols(row: OpDef) -> None:
    """Make LLVM know all symbols of a function.

    This does not depend on the width in use, so that machine code found in a cache can always be
    loaded, even if it was made under other settings.
    """
    libm = _load_libm()
    libmvec = _load("libmvec.so.1") if sys.platform == "linux" else None
    for dtype in _DTYPES:
        _add_symbol(_libm_symbol(row, dtype), libm, _c_symbol(row, dtype))
        if libmvec is not None and _libm(row).vectorized:
            for width in (_AVX2, _SSE):
                symbol = width.symbol(row, dtype)
                _add_symbol(symbol, [libmvec], symbol)


# --- what a machine uses --------------------------------------------------------------------------


@functools.cache
def _width() -> _Width | None:
    """Return the width of libmvec that all code of this process uses, or None for libm."""
    setting = os.environ.get("ADC_VECTOR_LIBRARY", "auto")
    if setting not in ("auto", "none"):
        raise ValueError(f"ADC_VECTOR_LIBRARY must be 'auto' or 'none', not {setting!r}")
    # What Numba compiles for, which settings of its own can make less than the processor: vectors
    # are passed in wide registers only if the compiler uses them.
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    if setting == "none" or not (triple.startswith("x86_64") and "linux" in triple):
        return None
    if _load("libmvec.so.1") is None:
        return None
    return _AVX2 if {"+avx2", "+fma"} <= set(features.split(",")) else _SSE


@functools.cache
def vector_library() -> str:
    """Return the name of what computes these functions on this machine.

    Results with the same name on the same kind of processor have the same bits, so the name
    belongs into the keys of caches.

    Returns
    -------
    str
        Such as ``"libmvec-N4-glibc2.36"`` or ``"libm-glibc2.36"``.
    """
    width = _width()
    name = "libm" if width is None else f"libmvec-N{width.doubles}"
    # Versions of glibc differ in which functions libmvec has, and in bits.
    return "-".join([name, *filter(None, ["".join(platform.libc_ver())])])


@dataclass(frozen=True, slots=True)
class Implementation:
    """How a function is computed for one type.

    Attributes
    ----------
    symbol
        The symbol that machine code refers to.
    scalar
        The function that LLVM sees called: `symbol` itself, or a wrapper of it that the module of
        the caller defines.
    lanes
        How many arguments `symbol` takes at once; 1 for the C library.
    dtype
        In which type it is computed: single precision may be a rounded double.
    """

    symbol: str
    scalar: str
    lanes: int
    dtype: DType


@functools.cache
def implementation(name: str, dtype: DType) -> Implementation:
    """Return how a function is computed on this machine.

    Parameters
    ----------
    name
        The function's name in this module.
    dtype
        ``"float64"`` or ``"float32"``.

    Returns
    -------
    Implementation
        The only one that any compiled code uses.
    """
    row = _ROWS[name]
    width = _width()
    if width is not None and _libm(row).vectorized and width.symbol(row, dtype) in _SYMBOLS:
        # The wrapper's name tells the width: code of two widths must not share it when linked.
        scalar = f"adc_libmvec_N{width.lanes(dtype)}_{_c_symbol(row, dtype)}"
        return Implementation(width.symbol(row, dtype), scalar, width.lanes(dtype), dtype)
    symbol = _libm_symbol(row, dtype)
    if dtype == "float32" and not (_libm(row).single and symbol in _SYMBOLS):
        return implementation(name, "float64")
    if symbol not in _SYMBOLS:
        raise NotImplementedError(f"the C library of this machine has no {_libm(row).name!r}")
    return Implementation(symbol, symbol, 1, dtype)


def required_symbols(names: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols that code which calls some functions needs on this machine.

    Parameters
    ----------
    names
        Functions of this module.

    Returns
    -------
    tuple of str
        Sorted, for both types.
    """
    pairs = [(name, dtype) for name in names for dtype in _DTYPES]
    return tuple(sorted({implementation(*pair).symbol for pair in pairs}))


def symbols_available(names: Iterable[str]) -> bool:
    """Tell whether compiled code that needs some symbols can be loaded.

    Parameters
    ----------
    names
        What `required_symbols` returned, perhaps on another machine.

    Returns
    -------
    bool
        False if any of them does not exist here.
    """
    return _SYMBOLS.issuperset(names)


# --- code -----------------------------------------------------------------------------------------

# Not readable, writable, or able to fail: what the loop vectoriser asks of a function. (LLVM has
# these attributes, llvmlite's list of them is older.)
_PURE = ("memory(none)", "nocallback", "nofree", "nosync", "nounwind", "willreturn")

# Below these numbers the functions are 0. libmvec leaves them to the C library, which takes thirty
# times as long: the masks of attention are numbers such as -1e10. To ask takes time as well: a
# module with so large a constant has this attribute, others do not ask. The bits are the same.
MASKED = "adc_masked"
LARGE = 746.0
_UNDERFLOW = {
    ("exp", "float64"): -746.0, ("exp", "float32"): -104.0,
    ("exp2", "float64"): -1076.0, ("exp2", "float32"): -151.0,
}  # fmt: skip
_FLOAT_TYPES = {"float64": ir.DoubleType(), "float32": ir.FloatType()}


def _declare(module: ir.Module, name: str, result: ir.Type, arity: int) -> tuple[ir.Function, bool]:
    """Return a function of an LLVM module, and whether it is new there."""
    known = module.globals.get(name)
    if known is not None:
        return known, False
    function = ir.Function(module, ir.FunctionType(result, [result] * arity), name)
    set.update(function.attributes, _PURE)  # set's own method does not look at the list
    return function, True


def _scalar_function(module: ir.Module, row: OpDef, found: Implementation) -> ir.Function:
    """Return the scalar function that computes `row` in an LLVM module, made if it is not there."""
    element = _FLOAT_TYPES[found.dtype]
    function, new = _declare(module, found.scalar, element, row.arity)
    if not new or found.lanes == 1:
        return function

    width = _width()
    assert width is not None
    vector = ir.VectorType(element, found.lanes)
    # The wrapper's call also keeps the declaration until the vectoriser looks for it.
    vector_function, _ = _declare(module, found.symbol, vector, row.arity)
    variant = f"{width.mangle(row, found.dtype, found.scalar)}({found.symbol})"
    set.update(function.attributes, ["noinline", f'"vector-function-abi-variant"="{variant}"'])
    # Any copy will do when modules are linked. Were it private to the module, LLVM would adapt it
    # to the arguments of its callers.
    function.linkage = "linkonce_odr"
    builder = ir.IRBuilder(function.append_basic_block())
    zero = ir.Constant(ir.IntType(32), 0)
    splat = ir.Constant(ir.VectorType(ir.IntType(32), found.lanes), None)
    nothing = ir.Constant(vector, ir.Undefined)
    lanes = [
        builder.shuffle_vector(builder.insert_element(nothing, argument, zero), nothing, splat)
        for argument in function.args
    ]
    builder.ret(builder.extract_element(builder.call(vector_function, lanes), zero))
    return function


def _resolve(*arguments: types.Type) -> Any:
    """Return the signature of a call with arguments of these types, None if there is none."""
    common: Any
    floats = (types.float32, types.float64)
    if all(argument == types.float32 for argument in arguments):
        common = types.float32
    elif all(isinstance(a, types.Integer | types.Boolean) or a in floats for a in arguments):
        common = types.float64
    else:
        return None
    return signature(common, *[common] * len(arguments))


def lowering(name: str, dtype: DType) -> Callable[..., Any]:
    """Return the function that emits a call of `name` for arguments of type `dtype`."""

    limit = _UNDERFLOW.get((name, dtype))

    def lower(context: Any, builder: ir.IRBuilder, sig: Any, arguments: Any) -> Any:
        if limit is None or not getattr(builder.module, MASKED, False):
            return call(builder, arguments)
        zero, least = (ir.Constant(_FLOAT_TYPES[dtype], number) for number in (0.0, limit))
        under = builder.fcmp_ordered("<", arguments[0], least)
        found = call(builder, [builder.select(under, zero, arguments[0])])
        return builder.select(under, zero, found)

    def call(builder: ir.IRBuilder, arguments: Any) -> Any:
        found = implementation(name, dtype)
        function = _scalar_function(builder.module, _ROWS[name], found)
        if found.dtype == dtype:
            return builder.call(function, arguments)
        widened = [builder.fpext(argument, _FLOAT_TYPES[found.dtype]) for argument in arguments]
        return builder.fptrunc(builder.call(function, widened), _FLOAT_TYPES[dtype])

    return lower


@functools.cache
def _compiled(name: str) -> Callable[..., Any]:
    """Return what Python calls: a compiled function that does nothing but call `name`."""
    function: Any = FUNCTIONS[name]
    same: Any = (lambda x: function(x)) if _ROWS[name].arity == 1 else lambda x, y: function(x, y)
    # What `njit` makes, but even where NUMBA_DISABLE_JIT lets `njit` do nothing.
    made: Callable[..., Any] = CPUDispatcher(same, targetoptions={"nopython": True})
    return made


def _call(name: str, *arguments: Any) -> Any:
    result = _compiled(name)(*arguments)
    # Numba returns every floating point number as Python's.
    single = all(isinstance(argument, np.float32) for argument in arguments)
    return np.float32(result) if single else result


def _define(row: OpDef) -> Callable[..., Any]:
    """Return the function that code calls for a row; Numba and the tables here know it then."""
    name = row.name

    # Numba reads the number of arguments off the function that types a call.
    if row.arity == 1:

        def function(x: Any, /) -> Any:
            return _call(name, x)

        type_callable(function)(lambda context: lambda x: _resolve(x))
    else:

        def function(x: Any, y: Any, /) -> Any:  # type: ignore[misc]  # has another argument
            return _call(name, x, y)

        type_callable(function)(lambda context: lambda x, y: _resolve(x, y))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = row.doc
    _ROWS[name] = row
    FUNCTIONS[name] = function
    _add_symbols(row)
    for dtype in _DTYPES:
        arguments = [getattr(types, dtype)] * row.arity
        lower_builtin(function, *arguments)(lowering(name, dtype))  # type: ignore[no-untyped-call] # Numba's
    return function


# What is exact needs no single implementation: the prelude has it.
for _row in OPS.values():
    if _row.libm is not None and not _row.libm.exact:
        globals()[_row.name] = _define(_row)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Any]: ...
