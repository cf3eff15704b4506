"""The hints for unsupported functions: what to do instead of calling them."""

from __future__ import annotations

import builtins
import sys
import sysconfig
import types
from typing import Any

import numpy as np

from adc.frontend.core import alternatives
from adc.frontend.inputs.instances import is_table
from adc.ir import foreign

_READ = "read it outside the differentiated function, and pass it as an argument"
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
    **alternatives.FUNCTIONS,
    "numpy.random": _GENERATOR,
    "scipy": _SCIPY,
    "scipy.fft": "`adc supported` lists the functions of `scipy.fft` that are supported",
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
    if kind == "O":
        return "pass an array of numbers, such as `x.astype(np.float64)`"
    if kind in "biuf" and value.dtype.isnative:
        return "pass a plain array, such as `np.asarray(x)`"
    if kind in "biuf":
        return "pass an array in the machine's byte order: `x.astype(x.dtype.newbyteorder('='))`"
    return "pass arrays of bool, integers, float16, float32 or float64"


__all__ = ["hint", "is_table", "is_unread", "module_of", "name_of", "of_object"]
