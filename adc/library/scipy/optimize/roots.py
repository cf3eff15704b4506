"""Roots of functions of one number, as `scipy.optimize` finds them, bit for bit.

The iterations have no derivatives. Those of a root are those of steps of Newton's method from it,
which do not change it (`implied`): what the implicit function theorem says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.implicit import jvp
from adc.library.rules import exact


@exact()
def implied(x: Any, value: Any, slope: Any) -> Any:
    """Return ``x - (value - constant) / slope``, where the constant is `value` as well: `x`."""
    return x


def _record(x: Any, value: Any, slope: Any) -> Any:
    return implied(x, value, slope), (value, slope)


def _reverse(kept: Any, ct: Any) -> Any:
    value, slope = kept
    return ct, -ct / slope, ct * (value - stop_gradient(value)) / (slope * slope)


def _tangent(primals: Any, tangents: Any) -> Any:
    x, value, slope = primals
    dx, d_value, d_slope = tangents
    # Zero; its derivatives are not.
    rest = (value - stop_gradient(value)) / (slope * slope)
    return implied(x, value, slope), dx - d_value / slope + rest * d_slope


implied.define(_record, _reverse, _tangent)


def differentiable(f: Any, x: Any, args: Any) -> Any:
    """Return a root of a function, with derivatives.

    Newton's method doubles the correct digits, and the correct terms of power series as well:
    after three steps, the derivatives up to the seventh are right.
    """
    x = stop_gradient(x)
    one = 1.0 if np.ndim(x) == 0 else np.ones_like(x)
    for _ in range(3):
        value, slope = jvp(lambda t: f(t, *args), (x,), (one,))
        x = implied(x, value, slope)
    return x


def _require_elementwise(f: Any, x: Any, args: Any) -> None:
    """Refuse a function of arrays whose elements depend on several elements of the argument."""
    x = stop_gradient(x)
    other = np.cos(np.arange(x.size)).reshape(x.shape)
    _, slope = jvp(lambda t: f(t, *args), (x,), (np.ones_like(x),))
    _, along = jvp(lambda t: f(t, *args), (x,), (other,))
    slope = stop_gradient(slope)
    rest = stop_gradient(along) - slope * other
    if np.any(np.abs(rest) > 1e-6 * np.max(np.abs(slope))):
        raise Unsupported(
            "`scipy.optimize.newton` of an array, where elements of the function depend on several "
            "of it,", "use `scipy.optimize.root`",
        )  # fmt: skip


def _checked(value: Any, x: Any) -> Any:
    if math.isnan(value):
        raise ValueError(f"The function value at x={x} is NaN; solver cannot continue.")
    return value


def _prepared(args: Any, xtol: Any, rtol: Any, full_output: Any, disp: Any) -> Any:
    if full_output:
        raise Unsupported("`full_output` of a function of `scipy.optimize`", "leave it out")
    if not disp:
        raise Unsupported(
            "`disp=False` of a function of `scipy.optimize`", "leave it out: it then raises"
        )
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < 4 * np.finfo(float).eps:
        raise ValueError(f"rtol too small ({rtol:g} < {4 * np.finfo(float).eps:g})")
    return args if isinstance(args, tuple) else (args,)


def brentq(
    f: Any, a: Any, b: Any, args: Any = (), xtol: Any = 2e-12, rtol: Any = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    args = _prepared(args, xtol, rtol, full_output, disp)
    return differentiable(f, _brentq(f, float(a), float(b), args, xtol, rtol, maxiter), args)


def _brentq(f: Any, a: Any, b: Any, args: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    """Return a root (R. P. Brent, Algorithms for Minimization Without Derivatives, 1973)."""
    before, x, other = a, b, 0.0
    f_before, fx, f_other = _checked(f(before, *args), before), 0.0, 0.0
    step_before, step = 0.0, 0.0
    fx = _checked(f(x, *args), x)
    if f_before == 0.0:
        return before
    if fx == 0.0:
        return x
    if math.copysign(1.0, f_before) == math.copysign(1.0, fx):
        raise ValueError("f(a) and f(b) must have different signs")
    for _ in range(maxiter):
        if (
            f_before != 0.0 and fx != 0.0
            and math.copysign(1.0, f_before) != math.copysign(1.0, fx)
        ):  # fmt: skip
            other, f_other = before, f_before
            step_before = step = x - before
        if abs(f_other) < abs(fx):
            before, x, other = x, other, x
            f_before, fx, f_other = fx, f_other, fx
        delta = (xtol + rtol * abs(x)) / 2.0
        half = (other - x) / 2.0
        if fx == 0.0 or abs(half) < delta:
            return x
        if abs(step_before) > delta and abs(fx) < abs(f_before):
            if before == other:
                tried = -fx * (x - before) / (fx - f_before)
            else:
                slope = (f_before - fx) / (before - x)
                slope_other = (f_other - fx) / (other - x)
                tried = (
                    -fx * (f_other * slope_other - f_before * slope)
                    / (slope_other * slope * (f_other - f_before))
                )  # fmt: skip
            if 2.0 * abs(tried) < min(abs(step_before), 3.0 * abs(half) - delta):
                step_before, step = step, tried
            else:
                step_before = step = half
        else:
            step_before = step = half
        before, f_before = x, fx
        if abs(step) > delta:
            x += step
        else:
            x += delta if half > 0.0 else -delta
        fx = _checked(f(x, *args), x)
    raise RuntimeError(f"Failed to converge after {maxiter} iterations.")


def bisect(
    f: Any, a: Any, b: Any, args: Any = (), xtol: Any = 2e-12, rtol: Any = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    args = _prepared(args, xtol, rtol, full_output, disp)
    return differentiable(f, _bisect(f, float(a), float(b), args, xtol, rtol, maxiter), args)


def _bisect(f: Any, a: Any, b: Any, args: Any, xtol: Any, rtol: Any, maxiter: Any) -> Any:
    step = b - a
    fa = _checked(f(a, *args), a)
    fb = _checked(f(b, *args), b)
    if fa == 0.0:
        return a
    if fb == 0.0:
        return b
    if math.copysign(1.0, fa) == math.copysign(1.0, fb):
        raise ValueError("f(a) and f(b) must have different signs")
    for _ in range(maxiter):
        step *= 0.5
        x = a + step
        fx = _checked(f(x, *args), x)
        if math.copysign(1.0, fx) == math.copysign(1.0, fa):
            a = x
        if fx == 0.0 or abs(step) < xtol + rtol * abs(x):
            return x
    raise RuntimeError(f"Failed to converge after {maxiter} iterations.")


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: int = 50,
    fprime2: Any = None, x1: Any = None, rtol: Any = 0.0, full_output: bool = False,
    disp: bool = True,
) -> Any:  # fmt: skip
    if tol <= 0:
        raise ValueError(f"tol too small ({tol:g} <= 0)")
    if maxiter < 1:
        raise ValueError("maxiter must be greater than 0")
    # The other functions take what is no tuple for one argument.
    args = _prepared(tuple(args), 1.0, 1.0, full_output, disp)
    if np.ndim(x0) > 0:
        start = np.asarray(x0) * 1.0
        if fprime is None and start.size == 1:
            raise Unsupported(
                "`scipy.optimize.newton` of an array of one element without `fprime`",
                "pass a number, `x0[0]`",
            )
        if fprime is None:
            x = _secant_of_array(func, start, args, tol, maxiter)
        else:
            x = _newton_of_array(func, start, fprime, fprime2, args, tol, rtol, maxiter)
        _require_elementwise(func, x, args)
        return differentiable(func, x, args)
    if fprime is None:
        x = _secant(func, x0 * 1.0, x1, args, tol, rtol, maxiter)
    else:
        x = _newton(func, x0 * 1.0, fprime, fprime2, args, tol, rtol, maxiter)
    return differentiable(func, x, args)


def _newton(
    f: Any, p: Any, fprime: Any, fprime2: Any, args: Any, tol: Any, rtol: Any, maxiter: Any
) -> Any:
    for k in range(maxiter):
        value = f(p, *args)
        if value == 0:
            return p
        slope = fprime(p, *args)
        if slope == 0:
            raise RuntimeError(
                f"Derivative was zero. Failed to converge after {k + 1} iterations, value is {p}."
            )
        step = value / slope
        if fprime2 is not None:
            adj = step * fprime2(p, *args) / slope / 2
            if abs(adj) < 1:
                step /= 1.0 - adj
        before = p
        p = before - step
        if abs(p - before) <= tol + rtol * abs(before):
            return p
    raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {p}.")


def _secant(f: Any, p0: Any, x1: Any, args: Any, tol: Any, rtol: Any, maxiter: Any) -> Any:
    if x1 is not None:
        if x1 == p0:
            raise ValueError("x1 and x0 must be different")
        p1 = x1 * 1.0
    else:
        p1 = p0 * (1 + 1e-4)
        p1 += 1e-4 if p1 >= 0 else -1e-4
    q0, q1 = f(p0, *args), f(p1, *args)
    if abs(q1) < abs(q0):
        p0, p1, q0, q1 = p1, p0, q1, q0
    p = p1
    for k in range(maxiter):
        if q1 == q0:
            if p1 != p0:
                raise RuntimeError(
                    f"Tolerance of {p1 - p0} reached. Failed to converge after {k + 1} "
                    f"iterations, value is {p1}."
                )
            return (p1 + p0) / 2.0
        if abs(q1) > abs(q0):
            p = (-q0 / q1 * p1 + p0) / (1 - q0 / q1)
        else:
            p = (-q1 / q0 * p0 + p1) / (1 - q1 / q0)
        if abs(p - p1) <= tol + rtol * abs(p1):
            return p
        p0, q0 = p1, q1
        p1 = p
        q1 = f(p1, *args)
    raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {p}.")


def _newton_of_array(
    f: Any, p: Any, fprime: Any, fprime2: Any, args: Any, tol: Any, rtol: Any, maxiter: Any
) -> Any:
    for _ in range(maxiter):
        value = np.asarray(f(p, *args))
        if not np.any(value):
            return p
        slope = np.asarray(fprime(p, *args))
        if np.any(slope == 0):
            _not_found()
        step = value / slope
        if fprime2 is not None:
            step = step / (1.0 - 0.5 * step * np.asarray(fprime2(p, *args)) / slope)
        size = np.abs(step)
        # SciPy takes an array of one element for a number.
        done = size < tol if p.size > 1 else size <= tol + rtol * np.abs(p)
        p = p - step
        if np.all(done):
            return p
    _not_found()
    return p


def _secant_of_array(f: Any, p: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    dx = np.finfo(float).eps ** 0.33
    p1 = p * (1 + dx) + np.where(p >= 0, dx, -dx)
    q0, q1 = np.asarray(f(p, *args)), np.asarray(f(p1, *args))
    active = np.ones(p.shape, dtype=bool)
    done = np.zeros(p.shape, dtype=bool)
    for _ in range(maxiter):
        flat = q1 == q0
        if np.any(flat & active & ~done):
            _not_found()
        step = np.where(flat, 0.0, q1 * (p1 - p)) / np.where(flat, 1.0, q1 - q0)
        middle = np.where(active, (p1 + p) / 2.0, p)
        if np.all(flat):
            return (p1 + p) / 2.0
        p, found = p1, np.where(flat, middle, p1 - step)
        active = active & ~flat
        done = np.where(flat, done, np.abs(step) < tol)
        if np.all(done | flat):
            return found
        p1 = found
        q0 = q1
        q1 = np.asarray(f(p1, *args))
    _not_found()
    return p


def _not_found() -> None:
    """Refuse what SciPy warns of, or raises an error for."""
    raise Unsupported(
        "`scipy.optimize.newton` of an array, some elements of which do not converge,",
        "choose another `x0`, or loop over the elements",
    )


__all__ = ["bisect", "brentq", "newton"]
