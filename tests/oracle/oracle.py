"""What gradients ought to be: numeric oracles that never look at adc.

Two independent methods:

* `finite_difference_gradient` calls the function with real numbers: central differences, improved
  by Ridders' extrapolation. About ten digits for a well conditioned function.
* `complex_step_gradient` runs the function's own bytecode on numbers with an infinitesimal
  imaginary part (`steps`). It is exact to rounding. The numbers carry NumPy's meaning of
  comparisons and rounding (which look at the real part only), arrays become arrays of objects, and
  ``np``, ``math`` and the built-ins that would reject such numbers are replaced in the function's
  globals. What cannot be run this way raises `OracleError`.

Single precision is computed in double precision by both: the gradient of a rounded function is
noise, the gradient that is meant is that of the function without rounding.

Arguments are copied before every call, so functions that modify them are welcome.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import io
import math
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tests.oracle.steps import MATH, NUMPY, STEP, Step, real_part

#: The gradient of one argument: a float, an array of the argument's shape, or a tuple of these for
#: a tuple (zeros stand at its integers).
Gradient: TypeAlias = "float | npt.NDArray[np.float64] | tuple[Gradient, ...]"


class OracleError(Exception):
    """The oracle cannot tell what the gradient is."""


class HasSample(Protocol):
    """What `oracle_gradient` needs of a program."""

    @property
    def fn(self) -> Callable[..., Any]: ...
    @property
    def argnums(self) -> tuple[int, ...]: ...
    def make_args(self) -> tuple[Any, ...]: ...


# --- running a function in other arithmetic -------------------------------------------------------


class _Exact:
    """Floats may become `Step`; arrays of floats become arrays of objects."""

    exact = True

    def number(self, x: Any) -> Any:
        return x if isinstance(x, Step) else float(x)

    def array(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return a.astype(object) if a.dtype.kind == "f" else a.copy()

    def dtype(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        return np.dtype(object) if dtype.kind == "f" else dtype


class _Double:
    """Floats of every precision become float64; Python's stay Python's."""

    exact = False

    def number(self, x: Any) -> Any:
        return x if type(x) is float else np.float64(x)

    def array(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return a.astype(np.float64) if a.dtype.kind == "f" else a.copy()

    def dtype(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        return np.dtype(np.float64) if dtype.kind == "f" else dtype


class _Cast:
    """Stands for a NumPy scalar type in lifted code, as a function and as a dtype."""

    def __init__(self, scalar: type[Any], arithmetic: _Exact | _Double) -> None:
        self.dtype = arithmetic.dtype(scalar)
        self._scalar = scalar
        self._arithmetic = arithmetic
        self._floating = np.dtype(scalar).kind == "f"

    def __call__(self, x: Any = 0) -> Any:
        if self._floating:
            return x if isinstance(x, Step) else self._arithmetic.number(np.float64(x))
        return self._scalar(real_part(x))


class _Module:
    """Stands for a module in lifted code."""

    def __init__(self, module: types.ModuleType, table: dict[str, Any]) -> None:
        self._module = module
        self.__dict__.update(table)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _guarded(real: Callable[..., Any], lifted: Callable[..., Any]) -> Callable[..., Any]:
    """Return `lifted` for calls with a `Step` among the arguments, else `real`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(type(x) is Step for x in args):
            return lifted(*args, **kwargs)
        return real(*args, **kwargs)

    return call


_SCALARS = [np.dtype(code).type for code in "?bBhHiIlLqQfd"]


def _to_float(x: Any = 0.0) -> Any:
    return x if isinstance(x, Step) else float(x)


_GUARDED_MATH = {name: _guarded(getattr(math, name), fn) for name, fn in MATH.items()}
_GUARDED_NUMPY = {
    name: _guarded(getattr(np, name), fn) for name, fn in NUMPY.items() if hasattr(np, name)
}
_STAND_INS: dict[int, Callable[..., Any]] = {
    id(float): _to_float,
    **{id(getattr(math, name)): fn for name, fn in _GUARDED_MATH.items()},
    **{id(getattr(np, name)): fn for name, fn in _GUARDED_NUMPY.items()},
}


def _numpy_table(arithmetic: _Exact | _Double) -> dict[str, Any]:
    """Return what stands for the names of NumPy: functions, casts and array constructors."""
    table: dict[str, Any] = dict(_GUARDED_NUMPY) if arithmetic.exact else {}
    for name, scalar in vars(np).items():
        if isinstance(scalar, type) and scalar in _SCALARS:
            table[name] = _Cast(scalar, arithmetic)

    def resolve(dtype: Any) -> Any:
        if dtype is None or dtype is _to_float:
            dtype = np.float64
        return arithmetic.dtype(dtype.dtype if isinstance(dtype, _Cast) else dtype)

    def full(shape: Any, value: Any, dtype: Any = None) -> Any:
        if dtype is None and not isinstance(value, Step):
            dtype = np.asarray(value).dtype
        out = np.empty(shape, resolve(dtype))
        out.fill(value)
        return out

    def like(model: Any, dtype: Any) -> Any:
        return model.dtype if dtype is None else dtype

    # The elements of an `empty` array of objects are None: reading one is an error, as it should.
    table["empty"] = lambda shape, dtype=None: np.empty(shape, resolve(dtype))
    table["zeros"] = lambda shape, dtype=None: full(shape, 0.0, resolve(dtype))
    table["ones"] = lambda shape, dtype=None: full(shape, 1.0, resolve(dtype))
    table["full"] = full
    table["empty_like"] = lambda m, dtype=None: np.empty(m.shape, resolve(like(m, dtype)))
    table["zeros_like"] = lambda m, dtype=None: full(m.shape, 0.0, like(m, dtype))
    table["ones_like"] = lambda m, dtype=None: full(m.shape, 1.0, like(m, dtype))
    table["full_like"] = lambda m, value, dtype=None: full(m.shape, value, like(m, dtype))
    return table


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


class _Lifter:
    """Rebuilds functions so that they run in another arithmetic.

    Modules are replaced by `_Module`; functions get the globals they name, defaults and closure
    cells lifted in turn. Each object is lifted once, which keeps aliases aliases.
    """

    def __init__(self, arithmetic: _Exact | _Double) -> None:
        self._arithmetic = arithmetic
        self._numpy = _NUMPY_MODULES[arithmetic.exact]
        self._math = _Module(math, _GUARDED_MATH if arithmetic.exact else {})
        self._builtins = dict(vars(builtins))
        if arithmetic.exact:
            self._builtins["float"] = _to_float
        self._done: dict[int, Any] = {}
        self._keep: list[Any] = []  # ids stay unique only while their objects live
        self._globals: dict[int, dict[str, Any]] = {}

    def lift(self, x: Any) -> Any:
        """Return what stands for `x`."""
        if type(x) is Step or x is None or isinstance(x, bool | int | str):
            return x
        if isinstance(x, np.floating | float):
            return self._arithmetic.number(x)
        if isinstance(x, np.generic):
            return x
        if id(x) not in self._done:
            self._keep.append(x)
            self._done[id(x)] = self._lift_object(x)
        return self._done[id(x)]

    def _lift_object(self, x: Any) -> Any:
        if x is np:
            return self._numpy
        if x is math:
            return self._math
        if self._arithmetic.exact and id(x) in _STAND_INS:
            return _STAND_INS[id(x)]
        if isinstance(x, np.ndarray):
            return self._arithmetic.array(x)
        if isinstance(x, np.random.Generator):
            return copy.deepcopy(x)
        if isinstance(x, tuple):
            return tuple(self.lift(item) for item in x)
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, type) and x in _SCALARS:
            return _Cast(x, self._arithmetic)
        return x

    def _function(self, fn: types.FunctionType) -> types.FunctionType:
        old = fn.__globals__
        if id(old) not in self._globals:
            self._globals[id(old)] = {"__builtins__": self._builtins, "__name__": fn.__module__}
            self._keep.append(old)
        lifted = self._globals[id(old)]
        cells = tuple(types.CellType() for _ in fn.__closure__ or ())
        new = types.FunctionType(fn.__code__, lifted, fn.__name__, closure=cells or None)
        # Known before its parts are lifted: a recursive function is one of its own parts.
        self._done[id(fn)] = new
        for cell, captured in zip(cells, fn.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # an empty cell
                cell.cell_contents = self.lift(captured.cell_contents)
        for name in _names(fn.__code__):
            if name in old and name not in lifted:
                lifted[name] = self.lift(old[name])
        new.__defaults__ = self.lift(fn.__defaults__)
        kwdefaults = fn.__kwdefaults__ or {}
        new.__kwdefaults__ = {name: self.lift(value) for name, value in kwdefaults.items()}
        return new


_NUMPY_MODULES = {a.exact: _Module(np, _numpy_table(a)) for a in (_Exact(), _Double())}


def _uses_single_precision(fn: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Return whether `float32` is the type of an argument or named in reachable code."""
    seen: set[int] = set()

    def reaches(x: Any) -> bool:
        if isinstance(x, np.ndarray | np.generic):
            return x.dtype == np.float32
        if isinstance(x, tuple):
            return any(reaches(item) for item in x)
        if not isinstance(x, types.FunctionType) or id(x) in seen:
            return False
        seen.add(id(x))
        names = set(_names(x.__code__))
        cells = [c.cell_contents for c in x.__closure__ or ()]
        parts = [x.__globals__.get(name) for name in names]
        return "float32" in names or any(reaches(part) for part in (*parts, *cells))

    return reaches(fn) or reaches(args)


# --- evaluating -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    # Points next to the sample may leave a function's domain; programs may print.
    with (
        contextlib.redirect_stdout(io.StringIO()),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def _slots(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of the floats in an argument."""
    if isinstance(x, tuple):
        for i, item in enumerate(x):
            yield from _slots(item, (*path, i))
    elif isinstance(x, np.ndarray) and x.dtype.kind == "f":
        for index in np.ndindex(x.shape):
            yield (*path, index)
    elif isinstance(x, float | np.floating):
        yield path


def _get(x: Any, path: tuple[Any, ...]) -> float:
    for key in path:
        x = x[key]
    return float(x)


def _replaced(x: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return `x` with `value` at `path`; arrays are written in place."""
    if not path:
        return type(x)(value) if isinstance(x, np.floating) and type(value) is not Step else value
    if isinstance(x, np.ndarray):
        x[path[0]] = value
        return x
    parts = [_replaced(item, path[1:], value) if i == path[0] else item for i, item in enumerate(x)]
    return tuple(parts)


def _gradient_of(x: Any, slopes: dict[tuple[Any, ...], float], path: tuple[Any, ...]) -> Gradient:
    if isinstance(x, tuple):
        return tuple(_gradient_of(item, slopes, (*path, i)) for i, item in enumerate(x))
    if isinstance(x, np.ndarray):
        out = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            out[index] = slopes.get((*path, index), 0.0)
        return out
    return slopes.get(path, 0.0)


def _check_argnums(args: tuple[Any, ...], argnums: Sequence[int]) -> None:
    for n in argnums:
        x = args[n]
        if isinstance(x, float | np.floating | tuple):
            continue
        if not (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
            raise TypeError(f"argument {n} is {type(x).__name__}, which has no gradient")


def _number(value: Any) -> float:
    if isinstance(value, float | int | np.generic) and not isinstance(value, np.complexfloating):
        return float(value)
    raise OracleError(f"the function returns {type(value).__name__}, not a number")


def value(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return ``fn(*args)``, without touching `args` or printing."""
    with _quietly():
        return fn(*copy.deepcopy(args))


# --- the two oracles ------------------------------------------------------------------------------


def complex_step_gradient(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int] = (0,)
) -> tuple[Gradient, ...]:
    """Return the gradient by one infinitesimal step per input.

    Raises
    ------
    OracleError
        If the function cannot be run on such numbers, or not with the same result.
    """
    _check_argnums(args, argnums)
    single = _uses_single_precision(fn, args)
    expected = _number(value(fn, args))
    lifter = _Lifter(_Exact())
    lifted_fn = lifter.lift(fn)
    gradients: list[Gradient] = []
    with _quietly():
        for n in argnums:
            slopes: dict[tuple[Any, ...], float] = {}
            for path in _slots(args[n], (n,)):
                # Arguments need a lifter of their own: their arrays are written to.
                inputs = tuple(
                    lifter.lift(x) if callable(x) else x for x in _Lifter(_Exact()).lift(args)
                )
                inputs = _replaced(inputs, path, Step(complex(_get(args, path), STEP)))
                try:
                    result = lifted_fn(*inputs)
                except Exception as e:
                    raise OracleError(f"complex step: {type(e).__name__}: {e}") from e
                z = result.z if isinstance(result, Step) else complex(_number(result))
                tolerance = 1e-3 if single else 1e-8
                if not abs(z.real - expected) <= tolerance * (1.0 + abs(expected)):
                    raise OracleError(f"complex step computes {z.real!r}, Python {expected!r}")
                slopes[path] = z.imag / STEP
            gradients.append(_gradient_of(args[n], slopes, (n,)))
    return tuple(gradients)


_SHRINK = 3.0  # ratio of successive step sizes
_ROWS = 9


def _ridders(f: Callable[[float], float], x: float) -> tuple[float, float]:
    """Return the derivative of `f` at `x` and an estimate of its error.

    Neville's scheme over central differences of shrinking steps. Every entry of the tableau is a
    candidate; the one that agrees best with its two parents wins, so that rows whose steps reach
    across a kink of `f` or out of its domain are passed over.
    """
    best, error = math.nan, math.inf
    above: list[float] = []
    h = 0.01 * max(1.0, abs(x))
    for _ in range(_ROWS):
        high, low = x + h, x - h
        try:
            row = [(f(high) - f(low)) / (high - low)]
        except (ArithmeticError, ValueError, IndexError):
            row = [math.nan]
        weight = 1.0
        for previous in above:
            weight *= _SHRINK * _SHRINK
            row.append(row[-1] + (row[-1] - previous) / (weight - 1.0))
            guess = max(abs(row[-1] - row[-2]), abs(row[-1] - previous))
            if guess < error:
                best, error = row[-1], guess
        if error <= 1e-13 * abs(best):
            break
        above = row
        h /= _SHRINK
    return best, error


def finite_differences(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int] = (0,)
) -> tuple[tuple[Gradient, ...], float]:
    """Return the gradient by finite differences, and the largest estimated error of an element."""
    _check_argnums(args, argnums)
    lifter: _Lifter | None = None
    if _uses_single_precision(fn, args):
        lifter = _Lifter(_Double())
        fn, args = lifter.lift(fn), tuple(lifter.lift(x) for x in args)
    gradients: list[Gradient] = []
    worst = 0.0
    with _quietly():
        for n in argnums:
            slopes: dict[tuple[Any, ...], float] = {}
            for path in _slots(args[n], (n,)):

                def along(t: float, path: tuple[Any, ...] = path) -> float:
                    inputs = _replaced(copy.deepcopy(args), path, t)
                    return _number(fn(*inputs))

                slopes[path], error = _ridders(along, _get(args, path))
                worst = max(worst, error)
            gradients.append(_gradient_of(args[n], slopes, (n,)))
    return tuple(gradients), worst


def finite_difference_gradient(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int] = (0,)
) -> tuple[Gradient, ...]:
    """Return the gradient by extrapolated central differences."""
    return finite_differences(fn, args, argnums)[0]


def directional_difference(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: Sequence[int],
    direction: Sequence[npt.NDArray[np.float64]],
) -> tuple[float, float]:
    """Return the slope of `fn` along one direction of some arguments, and its estimated error.

    One direction costs as much as one coordinate and sees all of them; double precision only.
    """

    def along(t: float) -> float:
        inputs = list(copy.deepcopy(args))
        for n, d in zip(argnums, direction, strict=True):
            moved = args[n] + t * d
            inputs[n] = moved if isinstance(args[n], np.ndarray) else type(args[n])(moved)
        return _number(fn(*inputs))

    with _quietly():
        return _ridders(along, 0.0)


def oracle_gradient(program: HasSample) -> tuple[Gradient, ...]:
    """Return the gradient of a program at its sample, by the best method that applies.

    Raises
    ------
    OracleError
        If no method gives a result that can be trusted.
    """
    args = program.make_args()
    try:
        return complex_step_gradient(program.fn, args, program.argnums)
    except OracleError as e:
        gradient, error = finite_differences(program.fn, args, program.argnums)
        if not error <= 1e-6 * (1.0 + largest(gradient)):
            raise OracleError(f"finite differences do not converge; {e}") from e
        return gradient


# --- comparing ------------------------------------------------------------------------------------


def leaves(gradient: Any) -> list[npt.NDArray[Any]]:
    """Return the numbers and arrays of a gradient (or of a tuple of them), as arrays, in order."""
    if isinstance(gradient, tuple | list):
        return [leaf for part in gradient for leaf in leaves(part)]
    return [np.asarray(gradient)]


def largest(gradient: Any) -> float:
    """Return the largest magnitude in a gradient."""
    return max((float(np.max(np.abs(a), initial=0.0)) for a in leaves(gradient)), default=0.0)


def sensitivity(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int] = (0,)
) -> float:
    """Return by how much relative errors of the inputs are magnified in the gradient.

    An implementation that rounds differently from the oracle computes the gradient of slightly
    different inputs: its relative error may be about this number times the rounding unit.
    """
    shift = 1e-7
    base = complex_step_gradient(fn, args, argnums)
    scale = largest(base)
    worst = 0.0
    for seed in (1, 2):
        rng = np.random.default_rng(seed)

        def moved(x: Any, rng: np.random.Generator = rng) -> Any:
            if isinstance(x, tuple):
                return tuple(moved(item) for item in x)
            if isinstance(x, np.ndarray) and x.dtype.kind == "f":
                return (x * (1.0 + shift * rng.uniform(-1.0, 1.0, x.shape))).astype(x.dtype)
            if isinstance(x, float | np.floating):
                return type(x)(x * (1.0 + shift * rng.uniform(-1.0, 1.0)))
            return x

        other = complex_step_gradient(fn, tuple(moved(x) for x in args), argnums)
        for a, b in zip(leaves(base), leaves(other), strict=True):
            worst = max(worst, float(np.max(np.abs(a - b), initial=0.0)))
    return worst / shift / scale if scale > 0.0 else 0.0


def gradient_mismatch(
    got: Any,
    want: Any,
    *,
    rtol: float | None = None,
    atol: float = 1e-14,
    magnification: float = 0.0,
) -> str:
    """Return what is wrong with a gradient, or "".

    An element may be off by ``rtol`` relative to the largest element of the *whole* gradient: where
    contributions cancel, the error is relative to what cancelled, not to what is left. Exact zeros
    wanted everywhere must be exact.

    Parameters
    ----------
    rtol : float, optional
        By default 1e-9, and 2e-4 where the result is single precision.
    magnification : float
        The program's `sensitivity`, which widens the tolerance in proportion.
    """
    a, b = leaves(got), leaves(want)
    if len(a) != len(b):
        return f"{len(a)} gradients instead of {len(b)}"
    single = any(x.dtype == np.float32 for x in a)
    unit = float(np.finfo(np.float32 if single else np.float64).eps)
    relative = (2e-4 if single else 1e-9) if rtol is None else rtol
    bound = atol + (relative + 64.0 * unit * magnification) * largest(want)
    if largest(want) == 0.0:
        bound = 0.0
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if x.shape != y.shape:
            return f"gradient {k} has shape {x.shape} instead of {y.shape}"
        error = np.abs(x.astype(np.float64) - y)
        if x.size and not np.all(error <= bound):
            at = np.unravel_index(int(np.argmax(np.nan_to_num(error, nan=np.inf))), x.shape)
            return (
                f"gradient {k} at {tuple(map(int, at))}: {x[at]!r} instead of {y[at]!r} "
                f"(off by {error[at]:.3g}, allowed {bound:.3g})"
            )
    return ""


def assert_gradients_close(
    got: Any,
    want: Any,
    *,
    rtol: float | None = None,
    atol: float = 1e-14,
    magnification: float = 0.0,
    label: str = "",
) -> None:
    """Fail with a message if `gradient_mismatch` finds something."""
    problem = gradient_mismatch(got, want, rtol=rtol, atol=atol, magnification=magnification)
    assert not problem, f"{label}: {problem}" if label else problem
