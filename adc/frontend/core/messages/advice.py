"""The hints for functions, types and methods that adc does not know: what to write instead."""

from __future__ import annotations

import builtins
import sys
import sysconfig
import types
from typing import Any

import numpy as np

from adc.frontend.inputs.instances import is_table
from adc.ir import foreign

_OUTSIDE = "compute it outside the differentiated function, and pass the result as an argument"
_CALL = "call it outside the differentiated function"
_TEXT = "make the text outside the differentiated function, or `print` the array"
_DATES = "pass dates as numbers, such as days since the first one"
_FIELDS = "use arrays of numbers, one for each field"
_KIND = "it is a kind of dtypes: ask for it with `np.issubdtype(a.dtype, …)`"
_INDICES = "loop over indices, such as `for i, j in np.ndindex(a.shape)`"
_LAYOUT = "arrays have no memory layout here: use `np.asarray`, or `.copy()`"
_WARNINGS = "compiled code does not warn: set this around the call"
_SETTINGS = "call it before or after the differentiated function"
_READ = "read it outside the differentiated function, and pass it as an argument"
_SAVE = "return the arrays, and save them outside the differentiated function"

_BY_HINT = {
    _TEXT: "array2string array_repr array_str base_repr binary_repr format_float_positional "
    "format_float_scientific",
    _DATES: "busday_count busday_offset busdaycalendar datetime_as_string datetime_data "
    "is_busday isnat",
    _FIELDS: "object_ str_ bytes_ void record rec.recarray rec character flexible",
    _KIND: "complexfloating floating generic inexact integer number signedinteger "
    "unsignedinteger ufunc",
    _INDICES: "flatiter nditer nested_iters",
    _LAYOUT: "asfortranarray isfortran",
    _WARNINGS: "errstate geterr geterrcall seterrcall",
    _SETTINGS: "get_include get_printoptions getbufsize info printoptions set_printoptions "
    "setbufsize show_config show_runtime mintypecode test",
    _READ: "load loadtxt genfromtxt fromfile fromstring frombuffer fromregex memmap from_dlpack",
    _SAVE: "save savetxt savez savez_compressed",
    "use an array of two axes, and `@`": "asmatrix matrix",
    "use `np.block`": "bmat",
    "use `np.float32` or `np.float64`": "longdouble",
    "use `np.complex64` or `np.complex128`": "clongdouble",
    "sort the real parts, or the absolute values": "sort_complex",
    "use `np.int64` or `np.uint64`": "longlong ulonglong",
    "use `>>` and `&` on integers": "packbits unpackbits",
    "`np.einsum` needs no path: adc contracts two operands at a time": "einsum_path",
    "use `np.vectorize`": "frompyfunc",
    "use `np.histogram2d`, or `np.add.at` with the index of each bin": "histogramdd",
    "raise it: `raise np.linalg.LinAlgError(text)`": "linalg.LinAlgError",
    _CALL: "linalg.test",
}
# By qualified name, or what it begins with.
NUMPY = {
    "numpy": "`adc supported` lists NumPy's functions that are supported; or " + _OUTSIDE,
    "numpy.linalg": "`adc supported` lists the functions of `np.linalg` that are supported; or "
    + _OUTSIDE,
    "numpy.fft": "`adc supported` lists the functions of `np.fft` that are supported",
    "numpy.polynomial": "use `Polynomial`, or functions of coefficients, such as "
    "`np.polynomial.polynomial.polyval(x, c)`, `np.polynomial.chebyshev.chebval`, `np.polymul`",
    **{f"numpy.{name}": text for text, names in _BY_HINT.items() for name in names.split()},
}

_BYTES = "an array has no bytes here: do this outside the differentiated function"
# By the name of an attribute of arrays.
_ATTRIBUTES = {
    **dict.fromkeys(
        ("tobytes", "tofile", "dump", "dumps", "data", "ctypes", "byteswap", "getfield",
         "setfield", "strides", "to_device"), _BYTES,
    ),
    "resize": "use `np.resize`, which returns a new array",
    "itemset": "write `a[index] = value`",
    "ptp": "use `np.ptp`",
    "newbyteorder": "convert the array outside the differentiated function",
    "flags": "arrays have no memory layout here",
    "base": "whether two arrays share memory says `np.shares_memory`",
    "device": "`target=` says where the code runs",
}  # fmt: skip

_LOOP = "write the loop"
_COLLECTION = "use a list, a dict or a dataclass"
_GENERATOR = "pass the result of `np.random.default_rng` as an argument, and draw from it"
_SCIPY = (
    "use a function of NumPy or `math` that `adc supported` lists, or call it as it is with "
    "`adc.external`"
)
_SOLVE = "use `solve_ivp` with method='BDF' or 'RK45', and its `t_eval=`, `rtol=` and `atol=`"
_QUADRATURE = (
    "sum with the nodes and weights of `np.polynomial.legendre.leggauss`, computed outside, or use "
    "`scipy.integrate.simpson`"
)
# By qualified name, or what it begins with: the longest one counts.
_ADVICE = {
    **NUMPY,
    "numpy.random": _GENERATOR,
    "scipy": _SCIPY,
    "scipy.fft": "`adc supported` lists the functions of `scipy.fft` that are supported",
    "scipy.fftpack": "use `scipy.fft`, whose functions are supported as far as the list has them",
    "scipy.linalg": "`adc supported` lists the functions of `scipy.linalg` that are supported",
    "scipy.linalg.null_space": "its vectors are not unique: use `np.eye(n) - pinv(a) @ a`, which "
    "projects on that space",
    "scipy.linalg.orth": "its vectors are not unique: use `a @ pinv(a)`, which projects on that "
    "space, or `scipy.linalg.qr`",
    "scipy.linalg.schur": "use `eigh` of a symmetric matrix, or `eig`",
    **{
        f"scipy.linalg.solve_{name}_are": "write the iteration: each step solves a Lyapunov "
        f"equation, `solve_{name}_lyapunov`"
        for name in ("continuous", "discrete")
    },
    "scipy.linalg.hessenberg": "use `eigh` of a symmetric matrix, or `eig`",
    **{
        f"scipy.linalg.{name}": "build the matrix outside the differentiated function"
        for name in ("dft", "pascal")
    },
    "scipy.spatial": "`adc supported` lists the functions of `scipy.spatial` that are supported; "
    "call others outside the differentiated function, and pass what they return",
    "scipy.special": "`adc supported` lists the functions of `scipy.special` that are supported; "
    "compute others outside the differentiated function",
    "scipy.optimize": "`root`, `fsolve`, `root_scalar`, `minimize`, `minimize_scalar`, "
    "`least_squares`, `curve_fit` and `fixed_point` are supported; `adc.implicit` differentiates "
    "what another solver finds",
    "scipy.integrate": "write the sum or the steps as a loop: adc differentiates them; or call it "
    "with `adc.external` and a derivative rule",
    "scipy.integrate.ode": _SOLVE,
    "scipy.integrate.fixed_quad": _QUADRATURE,
    "scipy.signal": "`adc supported` lists the functions of `scipy.signal` that are supported; "
    "design filters outside the differentiated function, and pass their coefficients",
    "scipy.ndimage": "`adc supported` lists the functions of `scipy.ndimage` that are supported; "
    "for others, compute coordinates for `map_coordinates`, or write the loop",
    "scipy.stats": "`adc supported` lists the distributions of `scipy.stats` that are supported; "
    "compute others outside the differentiated function",
    "scipy.sparse": "`adc supported` lists the functions of `scipy.sparse` that are supported; "
    "convert other formats before: `A.tocsr()`",
    "scipy.interpolate": "use `CubicSpline`, `PchipInterpolator`, `make_interp_spline`, `BSpline`, "
    "`PPoly` or `RectBivariateSpline`, or make the spline outside the differentiated function",
    "time": "measure the time around the call, or use `time.time` or `time.perf_counter`",
    "datetime": "pass the time as an argument",
    "itertools": _LOOP,
    "random": _GENERATOR,
    "secrets": _GENERATOR,
    "collections.ChainMap": "merge the dicts: `{**defaults, **given}`",
    "collections": _COLLECTION,
    "heapq": _COLLECTION,
    "json": _READ,
    "pickle": _READ,
    "os": _READ,
    "io": _READ,
    "pathlib": _READ,
    "csv": _READ,
    "input": _READ,
    "warnings": "`warnings.warn` is supported; do this outside the differentiated function",
    "logging": "`logging.info` and the like, and the methods of loggers, are supported; do this "
    "outside the differentiated function",
    "statistics": "use `np.mean`, `np.std`, `np.median` and the like",
    "decimal": "use floats",
    "fractions": "use floats",
    "re": "`match`, `search`, `findall`, `split` and `sub` of constants are supported; process "
    "other strings outside the differentiated function",
    "sorted": "use `np.sort` on an array",
    "filter": "use a comprehension with `if`",
    "iter": "use a `for` loop",
    "next": "write the iterator in the call, such as `next(v for v in x)`, or use a `for` loop",
    "setattr": "write `object.name = value`",
}
# Modules of Python whose functions are refused by name instead of read.
_UNREAD = frozenset(
    "collections copy csv datetime decimal fractions io itertools json logging os pathlib pickle "
    "random re secrets statistics time warnings".split()
)
_PYTHON = sysconfig.get_path("stdlib")
# Classes of Python around a dict or a list, from which programs inherit.
_WRAPPERS = ("UserDict.", "UserList.")


def module_of(value: type | types.FunctionType) -> str:
    """Return the name of the module that has the code, whatever `functools.wraps` says of it."""
    if isinstance(value, types.FunctionType):
        return value.__globals__.get("__name__") or ""
    return value.__module__ or ""


def is_unread(fn: types.FunctionType) -> bool:
    """Whether a function in Python belongs to a package that adc does not read.

    >>> import copy
    >>> is_unread(copy.deepcopy), is_unread(lambda x: x)
    (True, False)
    """
    module, file = module_of(fn), fn.__code__.co_filename
    if module.startswith(("adc.library", "adc.ir.schedule")):
        return False
    if module == "collections" and fn.__qualname__.startswith(_WRAPPERS):
        return False
    top = module.split(".")[0]
    if top in ("numpy", "numba", "scipy", "math"):
        return True
    if file.startswith("<"):
        return False  # what is typed in, in adc's own examples as well
    if top == "adc":
        return True
    return top.lstrip("_") in _UNREAD and file.startswith(_PYTHON)


def name_of(callee: Any) -> str:
    """Return the name under which users know a function.

    >>> import functools, random
    >>> name_of(functools.reduce), name_of(random.random), name_of(np.linalg.eig)
    ('functools.reduce', 'random.random', 'numpy.linalg.eig')
    """
    if isinstance(callee, np.ufunc):
        return f"numpy.{callee.__name__}" if hasattr(np, callee.__name__) else _of_scipy(callee)
    name = getattr(callee, "__qualname__", None) or repr(callee)
    owner = getattr(callee, "__self__", None)
    module = getattr(callee, "__module__", None)
    if module is None and owner is not None and not isinstance(owner, types.ModuleType):
        module = getattr(type(owner), "__module__", None)
    if module in ("random", "numpy.random.mtrand") and owner is not None:
        module, name = module.removesuffix(".mtrand"), name.rpartition(".")[2]
    parts = [part for part in (module or "").split(".") if part and part != "builtins"]
    public = [part for part in parts[1:] if not part.startswith("_")]
    return ".".join([*(part.lstrip("_") for part in parts[:1]), *public, name])


def _of_scipy(ufunc: np.ufunc) -> str:
    """Return the name of a ufunc that is not NumPy's: SciPy's, or made by `np.frompyfunc`."""
    scipy = getattr(sys.modules.get("scipy.special"), ufunc.__name__, None) is ufunc
    return f"scipy.special.{ufunc.__name__}" if scipy else ufunc.__name__


def hint(callee: Any) -> str:
    """Return advice for a function that adc does not know.

    >>> import time
    >>> hint(time.time)[:16], hint(sorted)
    ('measure the time', 'use `np.sort` on an array')
    """
    words = name_of(callee).split(".")
    for count in range(len(words), 0, -1):
        found = _ADVICE.get(".".join(words[:count]))
        if found:
            return found
    # By identity: at a prompt, `_` is there as well, and may be an array.
    if any(callee is each for each in vars(builtins).values()):
        return "compute it outside the differentiated function"
    return (
        "define it in Python, so that adc can read its source, or call it as it is with "
        "`adc.external`"
    )


def of_attribute(name: str) -> str:
    """Return what to use instead of an attribute or method of an array.

    >>> of_attribute("ptp")
    'use `np.ptp`'
    """
    return _ATTRIBUTES.get(name, "`adc supported` lists the methods that are supported")


def of_object(value: Any) -> str:
    """Return advice for an object of a library that adc does not know.

    >>> of_object(np.ma.array([1.0]))
    'pass `x.filled(0.0)` and `np.ma.getmaskarray(x)` as two arguments'
    >>> of_object(np.zeros(2).view(np.recarray))
    'pass a plain array, such as `np.asarray(x)`'
    """
    if isinstance(value, np.ma.MaskedArray):
        return "pass `x.filled(0.0)` and `np.ma.getmaskarray(x)` as two arguments"
    if isinstance(value, np.ndarray | np.generic):
        return _of_array(value)
    if foreign.is_sparse(value):
        return "convert it to a format with two axes that is supported: `x.tocsr()`"
    if is_table(value):
        return "pass an array, such as `x.to_numpy()`"
    return "pass numbers and arrays, or lists, dicts and objects that contain them"


def _of_array(value: np.ndarray[Any, Any] | np.generic) -> str:
    kind = value.dtype.kind
    if kind == "c":
        return "pass `x.astype(np.complex128)`"
    if kind == "f" and value.dtype.itemsize not in (2, 4, 8):
        return "pass `x.astype(np.float32)` or `x.astype(np.float64)`"
    if kind == "O" and not value.flags.writeable:  # one of None, which the program has made
        return "use an array of `np.nan`"
    if kind == "O":
        return "pass an array of numbers, such as `x.astype(np.float64)`"
    if kind in "biuf" and value.dtype.isnative:
        return "pass a plain array, such as `np.asarray(x)`"
    if kind in "biuf":
        return "pass an array in the machine's byte order: `x.astype(x.dtype.newbyteorder('='))`"
    return "pass arrays of bool, integers, float16, float32 or float64"


__all__ = [
    "NUMPY",
    "hint",
    "is_table",
    "is_unread",
    "module_of",
    "name_of",
    "of_attribute",
    "of_object",
]
