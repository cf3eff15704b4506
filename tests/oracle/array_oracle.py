"""Gradients of programs on arrays by the complex step, with NumPy itself computing.

Arrays of floats become arrays of complex numbers with infinitesimal imaginary parts. NumPy orders
these by their real parts, so comparisons, extrema and indices stay as they are; functions that are
not analytic in NumPy (``abs``, ``floor``, ``var`` and the like) are replaced where a program names
them. What slips through (a method that drops imaginary parts) shows in a comparison with a finite
difference along a random direction; such programs, and those that cannot run this way, are left to
the oracles of `tests.oracle`.
"""

from __future__ import annotations

import builtins
import cmath
import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests.corpus.program import Program
from tests.oracle import oracle

_STEP = 1e-30


class _Complex:
    """Floats and arrays of them become complex."""

    exact = False

    def number(self, x: Any) -> Any:
        return x

    def array(self, a: Any) -> Any:
        return a.astype(np.complex128) if a.dtype.kind == "f" else a.copy()

    def dtype(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        return np.dtype(np.complex128) if dtype.kind == "f" else dtype


_COMPLEX = _Complex()


class _Cast:
    """Stands for a NumPy scalar type, as a function and as a dtype."""

    def __init__(self, scalar: type[Any]) -> None:
        self.dtype = _COMPLEX.dtype(scalar)
        self._scalar = scalar

    def __call__(self, x: Any = 0) -> Any:
        if self.dtype.kind == "c":
            return np.complex128(x)
        return self._scalar(x.real if np.iscomplexobj(x) else x)


def _is(x: Any) -> bool:
    return bool(np.iscomplexobj(x))


def _guarded(real: Callable[..., Any], lifted: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(_is(x) for x in args if not isinstance(x, tuple | str)):
            return lifted(*args, **kwargs)
        return real(*args, **kwargs)

    return call


def _absolute(x: Any) -> Any:
    return np.where(np.real(x) < 0.0, -x, x)[()]


def _step_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: fn(np.real(x), *args)


def _expand(value: Any, *terms: tuple[Any, Any]) -> Any:
    """Return a value with the imaginary parts that partial derivatives give it."""
    return value + 1j * sum(np.imag(z) * slope for z, slope in terms)


def _arctan2(y: Any, x: Any) -> Any:
    a, b = np.real(y), np.real(x)
    r = a * a + b * b
    return _expand(np.arctan2(a, b), (y, b / r), (x, -a / r))


def _copysign(x: Any, y: Any) -> Any:
    same = np.signbit(np.real(x)) == np.signbit(np.real(y))
    return np.where(same, x, -x)[()]


def _logaddexp(x: Any, y: Any) -> Any:
    return np.log(np.exp(x) + np.exp(y))


def _mod(divide: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda x, y: x - y * divide(np.real(x), np.real(y))


def _cbrt(x: Any) -> Any:
    y = np.cbrt(np.real(x))
    return _expand(y, (x, 1.0 / (3.0 * y * y)))


def _i0(x: Any) -> Any:
    return _expand(np.i0(np.real(x)), (x, scipy.special.i1(np.real(x))))


def _var(x: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    x = np.asarray(x)
    squares = (x - np.mean(x, axis=axis, keepdims=True)) ** 2
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    count = squares.size / np.sum(np.ones(squares.shape), axis=axis).size
    return total / (count - ddof)


def _std(x: Any, *args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_var(x, *args, **kwargs))


def _vdot(a: Any, b: Any) -> Any:
    return np.dot(np.ravel(a), np.ravel(b))


_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: _absolute for name in ("abs", "absolute", "fabs")},
    **{name: _step_function(getattr(np, name)) for name in
       ("floor", "ceil", "trunc", "rint", "sign", "signbit", "round", "fix", "floor_divide",
        "searchsorted")},
    "arctan2": _arctan2,
    "hypot": lambda x, y: np.sqrt(x * x + y * y),
    "copysign": _copysign,
    "logaddexp": _logaddexp,
    "logaddexp2": lambda x, y: np.log(np.exp2(x) + np.exp2(y)) / math.log(2.0),
    "mod": _mod(np.floor_divide),
    "remainder": _mod(np.floor_divide),
    "fmod": _mod(lambda x, y: np.trunc(x / y)),
    "cbrt": _cbrt,
    "i0": _i0,
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "var": _var,
    "std": _std,
    "vdot": _vdot,
}  # fmt: skip


def _with_dtype(fn: Callable[..., Any], default: bool) -> Callable[..., Any]:
    """Return a constructor whose `dtype` is complex where it would be a float."""

    def call(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is not None:
            dtype = dtype.dtype if isinstance(dtype, _Cast) else dtype
            kwargs["dtype"] = _COMPLEX.dtype(float if dtype is _to_float else dtype)
        made = fn(*args, **kwargs)
        return made.astype(_COMPLEX.dtype(made.dtype)) if default else made

    return call


def _to_float(x: Any = 0.0) -> Any:
    return x if _is(x) else float(x)


def _absolute_of_number(x: Any) -> Any:
    return _absolute(x) if _is(x) else abs(x)


_MATH = {
    **{name: getattr(cmath, name) for name in
       ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "sqrt", "log")},
    "fabs": _absolute_of_number,
}  # fmt: skip


def _table() -> dict[str, Any]:
    table: dict[str, Any] = {name: _guarded(getattr(np, name), fn) for name, fn in _NUMPY.items()}
    for name, scalar in vars(np).items():
        if isinstance(scalar, type) and scalar in oracle._SCALARS:
            table[name] = _Cast(scalar)
    for name in ("empty", "zeros", "ones", "full", "eye", "identity", "array", "asarray",
                 "empty_like", "zeros_like", "ones_like", "full_like", "linspace"):  # fmt: skip
        table[name] = _with_dtype(getattr(np, name), True)
    for name in ("arange", "sum", "prod", "mean", "cumsum", "cumprod"):
        table[name] = _with_dtype(getattr(np, name), False)
    return table


_MODULE = oracle._Module(np, _table())
_MATH_MODULE = oracle._Module(
    math,
    {
        name: _guarded(getattr(math, name), lambda *x, fn=fn: np.complex128(fn(*x)))
        for name, fn in _MATH.items()
    },
)


class _Lifter(oracle._Lifter):
    def __init__(self) -> None:
        super().__init__(_COMPLEX)  # type: ignore[arg-type]  # in place of the module
        self._numpy = _MODULE
        self._math = _MATH_MODULE
        self._builtins = {
            **vars(builtins),
            "float": _to_float,
            "abs": _absolute_of_number,
        }

    def _lift_object(self, x: Any) -> Any:
        if x is float:
            return _to_float
        if isinstance(x, type) and x in oracle._SCALARS:
            return _Cast(x)
        return super()._lift_object(x)


def complex_step(program: Program) -> tuple[oracle.Gradient, ...]:
    """Return the gradient by one infinitesimal step per input.

    Raises
    ------
    OracleError
        If the program cannot be run on complex arrays, or not with the same result.
    """
    args = program.make_args()
    expected = oracle._number(oracle.value(program.fn, args))
    single = "float32" in program.tags
    fn = _Lifter().lift(program.fn)
    gradients: list[oracle.Gradient] = []
    with oracle._quietly():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        for n in program.argnums:
            slopes: dict[tuple[Any, ...], float] = {}
            for path in oracle._slots(args[n], (n,)):
                inputs = _Lifter().lift(program.make_args())
                step = np.complex128(complex(oracle._get(args, path), _STEP))
                inputs = oracle._replaced(inputs, path, step)
                try:
                    result = complex(fn(*inputs))
                except Exception as e:
                    raise oracle.OracleError(f"complex step: {type(e).__name__}: {e}") from e
                if not abs(result.real - expected) <= (1e-3 if single else 1e-9) * (
                    1.0 + abs(expected)
                ):
                    raise oracle.OracleError(f"complex step computes {result}, Python {expected!r}")
                slopes[path] = result.imag / _STEP
            gradients.append(oracle._gradient_of(args[n], slopes, (n,)))
    return tuple(gradients)


def _slope_along(program: Program, gradient: tuple[Any, ...]) -> tuple[float, float, float]:
    """Return the slope along a random direction: by a gradient, by differences; and its size."""
    rng = np.random.default_rng(0)
    args = program.make_args()
    paths = [path for n in program.argnums for path in oracle._slots(args[n], (n,))]
    weights = rng.uniform(0.5, 1.0, len(paths)) * rng.choice([-1.0, 1.0], len(paths))
    parts = []
    for path, weight in zip(paths, weights, strict=True):
        part = oracle._get(gradient[program.argnums.index(path[0])], path[1:])
        parts.append(part * weight)
    fn: Callable[..., Any] = program.fn
    if "float32" in program.tags:
        lifter = oracle._Lifter(oracle._Double())
        fn, args = lifter.lift(fn), tuple(lifter.lift(x) for x in args)

    def along(t: float) -> float:
        moved = copy.deepcopy(args)
        for path, weight in zip(paths, weights, strict=True):
            moved = oracle._replaced(moved, path, oracle._get(args, path) + t * weight)
        return oracle._number(fn(*moved))

    with oracle._quietly():
        slope, _ = oracle._ridders(along, 0.0)
    return sum(parts), slope, sum(abs(part) for part in parts)


def gradient(program: Program) -> tuple[tuple[oracle.Gradient, ...], dict[str, float]]:
    """Return the gradient of a program at its sample, and how exact it is."""
    tolerances = {"rtol": 1e-4, "atol": 1e-5} if "float32" in program.tags else {}
    try:
        found = complex_step(program)
        by_step, by_difference, size = _slope_along(program, found)
        if not abs(by_step - by_difference) <= 1e-6 * (1.0 + size):
            raise oracle.OracleError(f"{by_step} along a direction, differences {by_difference}")
        return found, tolerances
    except oracle.OracleError:
        args = program.make_args()
    try:
        found = oracle.complex_step_gradient(program.fn, copy.deepcopy(args), program.argnums)
        return found, tolerances
    except oracle.OracleError as e:
        found, error = oracle.finite_differences(program.fn, args, program.argnums)
        if not error <= 1e-6 * (1.0 + oracle.largest(found)):
            raise oracle.OracleError(f"finite differences do not converge: {error}; {e}") from e
        return found, {"rtol": 1e-7, "atol": 1e-9, **tolerances}
