"""Solvers of `scipy.optimize`, with derivatives by the implicit function theorem.

SciPy's own solver runs (`sessions`), so that its result is SciPy's. Where ``F(y, p) = 0`` at the
solution, ``dF/dy dy + dF/dp dp = 0`` (M. Blondel et al., Efficient and modular implicit
differentiation, NeurIPS 2022): of a root, `F` is the function; of a minimum, its gradient. `p` is
what the function has captured, and its further arguments.

The front end passes what kind of derivative SciPy is given (`sessions.NONE` and others).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used

from adc.library import stop_gradient
from adc.library.implicit import grad, jacfwd, jvp
from adc.library.rules import exact
from adc.library.scipy import sessions
from adc.library.scipy.captures import captured, moves, still, with_captured
from adc.library.scipy.sessions import DONE, VALUE

# --- roots ----------------------------------------------------------------------------------------


@exact(fixed=(0,))
def root_of(fn: Any, y: Any, converged: Any, params: Any) -> Any:
    """Return `y`, a vector, where `fn` is zero.

    `params` are what it has captured, and its further arguments.
    """
    return y


def _at(fn: Any, y: Any, params: Any) -> Any:
    captives, args = params
    return np.ravel(with_captured(fn, captives)(y, *args))


def _require_solution(y: Any, step: Any, converged: Any) -> None:
    """Raise if a step of Newton's method leads away from `y`.

    A solver may say that it has not converged where rounding has kept it from a tolerance.
    """
    away = np.max(np.abs(step)) / (1.0 + np.max(np.abs(y)))
    if not (converged or away <= 1e-5):
        raise RuntimeError(
            "the solver has not converged: its result has no derivative (see `success`)"
        )
    if not away <= 0.01:
        raise RuntimeError("the solver ended away from a solution: its result has no derivative")


def _matrix(fn: Any, y: Any, converged: Any, params: Any) -> Any:
    n = np.size(y)
    found = np.reshape(jacfwd(lambda t: _at(fn, t, params))(y), (n, n))
    _require_solution(y, np.linalg.solve(found, _at(fn, y, params)), converged)
    return found


def _record_root(fn: Any, y: Any, converged: Any, params: Any) -> Any:
    z = root_of(fn, y, converged, params)
    return z, (z, converged, params)


def _reverse_root(fn: Any, kept: Any, ct: Any) -> Any:
    z, converged, params = kept
    w = np.linalg.solve(_matrix(fn, z, converged, params).T, -ct)
    return None, None, grad(lambda p: np.sum(w * _at(fn, z, p)))(params)


def _tangent_root(fn: Any, primals: Any, tangents: Any) -> Any:
    y, converged, params = primals
    z = root_of(fn, y, converged, params)
    _, moved = jvp(lambda p: _at(fn, z, p), (params,), (tangents[2],))
    return z, np.linalg.solve(_matrix(fn, z, converged, params), -moved)


root_of.define(_record_root, _reverse_root, _tangent_root)


# --- minima ---------------------------------------------------------------------------------------


@exact(fixed=(0,))
def minimum_of(fn: Any, y: Any, free: Any, held: Any, converged: Any, params: Any) -> Any:
    """Return `y`, a vector, where `fn` is least.

    Elements that are not `free` (1, or 0) are what the elements of `held` are: bounds.
    """
    return y


def _value(fn: Any, y: Any, params: Any) -> Any:
    captives, args = params
    return with_captured(fn, captives)(y, *args)


def _slope(fn: Any, y: Any, params: Any) -> Any:
    return grad(lambda t: _value(fn, t, params))(y)


def _curvature(fn: Any, y: Any, free: Any, converged: Any, params: Any) -> Any:
    """Return the Hessian, and that of the elements that are free, with ones elsewhere."""
    found = jacfwd(lambda t: _slope(fn, t, params))(y)
    matrix = found * free[:, None] * free + np.diag(1.0 - free)
    _require_solution(y, np.linalg.solve(matrix, free * _slope(fn, y, params)), converged)
    return found, matrix


def _record_minimum(fn: Any, y: Any, free: Any, held: Any, converged: Any, params: Any) -> Any:
    z = minimum_of(fn, y, free, held, converged, params)
    return z, (z, stop_gradient(free), converged, params)


def _reverse_minimum(fn: Any, kept: Any, ct: Any) -> Any:
    z, free, converged, params = kept
    found, matrix = _curvature(fn, z, free, converged, params)
    w = free * np.linalg.solve(matrix, ct)
    return None, None, (1.0 - free) * (ct - found @ w), None, _mixed(fn, z, params, -w)


def _mixed(fn: Any, z: Any, params: Any, w: Any) -> Any:
    """Return the derivative along `w` of the gradient with respect to parameters, if there are."""
    if not moves(params):
        return None
    return jvp(lambda t: grad(lambda p: _value(fn, t, p))(params), (z,), (w,))[1]


def _tangent_minimum(fn: Any, primals: Any, tangents: Any) -> Any:
    y, free, held, converged, params = primals
    z = minimum_of(fn, y, free, held, converged, params)
    found, matrix = _curvature(fn, z, free, converged, params)
    fixed = (1.0 - free) * tangents[2]
    moved = found @ fixed + _slope_along(fn, z, params, tangents[4])
    return z, np.linalg.solve(matrix, fixed - free * moved)


def _slope_along(fn: Any, z: Any, params: Any, dots: Any) -> Any:
    if not moves(params):
        return 0.0
    return jvp(lambda p: _slope(fn, z, p), (params,), (dots,))[1]


minimum_of.define(_record_minimum, _reverse_minimum, _tangent_minimum)


# --- calls ----------------------------------------------------------------------------------------


class Result:
    """What a solver returns."""

    def __init__(self, x: Any, fun: Any, success: Any, status: Any, nfev: Any, nit: Any) -> None:
        self.x = x
        self.fun = fun
        self.success = success
        self.status = status
        self.nfev = nfev
        self.nit = nit


def nothing(x: Any, *args: Any) -> Any:
    """Stand for a derivative that is not given."""
    return np.zeros(0)


def same(fun: Any) -> Any:
    """Return the function of which a solver takes the values."""
    return fun


def first_of(fun: Any) -> Any:
    """Return that of a function that returns its derivative too."""
    return lambda x, *args: fun(x, *args)[0]


def _start(x0: Any) -> Any:
    found = np.asarray(x0)
    if found.ndim > 1:
        raise ValueError("'x0' must only have one dimension.")
    if found.dtype.kind == "f" and found.dtype.itemsize != 8:
        raise TypeError("`x0` must be of float64: use `x0.astype(float)`")
    return np.atleast_1d(stop_gradient(found * 1.0))


def _tuple(args: Any) -> Any:
    return args if isinstance(args, tuple) else (args,)


def _run(handle: Any, start: Any, fun: Any, jac: Any, args: Any) -> Any:
    """Tell a solver what it asks for, until it is done."""
    kind, x = sessions.asked(handle, start)
    while kind != DONE:
        if kind == VALUE:
            kind, x = sessions.told(handle, start, _flat(fun(x, *args)))
        else:
            kind, x = sessions.told(handle, start, _flat(jac(x, *args)))
    return x


def _flat(found: Any) -> Any:
    if isinstance(found, tuple):
        value, slope = found
        return np.concatenate((_flat(value), _flat(slope)))
    return stop_gradient(np.ravel(np.asarray(found)) * 1.0)


def root(
    fun: Any, x0: Any, args: Any, method: Any, kind: Any, jac: Any, own: Any, tol: Any,
    options: Any,
) -> Any:  # fmt: skip
    given, start, function = _tuple(args), _start(x0), own(fun)
    handle = sessions.start("root", start, method, kind, tol, options)
    x = _run(handle, start, fun, jac, given)
    success, status, nfev, nit = sessions.ended(handle)
    if moves((captured(function), given)):
        x = root_of(still(function), x, success, (captured(function), given))
    return Result(x, function(x, *given), success, status, nfev, nit)


_CONVERGED = "The solution converged."
_IMPROPER = "Improper input parameters were entered."
_REACHED = "The number of calls to function has reached maxfev ="
_TOO_SMALL = "is too small, no further improvement in the approximate\n solution is possible."
_SLOW = "The iteration is not making good progress, as measured by the \n improvement from the last"
_SLOW_MATRICES = f"{_SLOW} five Jacobian evaluations."
_SLOW_STEPS = f"{_SLOW} ten iterations."


def _fsolved(
    fun: Any, x0: Any, args: Any, kind: Any, jac: Any, own: Any, xtol: Any, maxfev: Any, calls: Any,
    options: Any,
) -> Any:  # fmt: skip
    """Return what `root` finds, and how many evaluations there may be.

    Without `maxfev` there are `calls` for each variable, and as many more.
    """
    settings = {"xtol": xtol, "maxfev": maxfev} | options
    found = root(fun, np.ravel(x0), args, "hybr", kind, jac, own, None, settings)
    return found, maxfev or calls * (np.size(x0) + 1)


def fsolve(
    fun: Any, x0: Any, args: Any, kind: Any, jac: Any, own: Any, xtol: Any, maxfev: Any, calls: Any,
    options: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.fsolve`: the solution that `root` finds, and warnings in its place."""
    found, most = _fsolved(fun, x0, args, kind, jac, own, xtol, maxfev, calls, options)
    if found.status == 2:
        warnings.warn(f"{_REACHED} {most}.", RuntimeWarning, stacklevel=2)
    elif found.status == 3:
        warnings.warn(f"xtol={xtol:f} {_TOO_SMALL}", RuntimeWarning, stacklevel=2)
    elif found.status == 4:
        warnings.warn(_SLOW_MATRICES, RuntimeWarning, stacklevel=2)
    elif found.status == 5:
        warnings.warn(_SLOW_STEPS, RuntimeWarning, stacklevel=2)
    elif found.status != 1:
        raise TypeError(_IMPROPER)
    return found.x


def fsolve_in_full(
    fun: Any, x0: Any, args: Any, kind: Any, jac: Any, own: Any, xtol: Any, maxfev: Any, calls: Any,
    options: Any,
) -> Any:  # fmt: skip
    """Return the solution, the count of evaluations, the last one, the status and its text."""
    found, most = _fsolved(fun, x0, args, kind, jac, own, xtol, maxfev, calls, options)
    message = _IMPROPER
    if found.status == 1:
        message = _CONVERGED
    elif found.status == 2:
        message = f"{_REACHED} {most}."
    elif found.status == 3:
        message = f"xtol={xtol:f} {_TOO_SMALL}"
    elif found.status == 4:
        message = _SLOW_MATRICES
    elif found.status == 5:
        message = _SLOW_STEPS
    return found.x, found.nfev, np.ravel(found.fun), found.status, message


def minimize(
    fun: Any, x0: Any, args: Any, method: Any, kind: Any, jac: Any, own: Any, bounds: Any,
    tol: Any, options: Any,
) -> Any:  # fmt: skip
    given, start, function = _tuple(args), _start(x0), own(fun)
    handle = sessions.start("minimize", start, method, kind, tol, options, stop_gradient(bounds))
    x = _run(handle, start, fun, jac, given)
    success, status, nfev, nit = sessions.ended(handle)
    lower, upper = _limits(bounds, x)
    sides = np.where(x <= lower, -1, np.where(x >= upper, 1, 0))
    if moves((captured(function), given, bounds)):
        free, held = np.where(sides == 0, 1.0, 0.0), np.where(sides < 0, lower, upper)
        x = minimum_of(still(function), x, free, held, success, (captured(function), given))
    return Result(x, function(x, *given), success, status, nfev, nit)


def _limits(bounds: Any, x: Any) -> Any:
    """Return the lower and the upper bounds, as vectors."""
    if bounds is None:
        return np.full(len(x), -np.inf), np.full(len(x), np.inf)
    return np.asarray(bounds[0]) * np.ones(len(x)), np.asarray(bounds[1]) * np.ones(len(x))


def _of_number(fun: Any) -> Any:
    return lambda x, *args: fun(x[0], *args)


def minimize_scalar(
    fun: Any, bracket: Any, bounds: Any, args: Any, method: Any, tol: Any, options: Any
) -> Any:
    given, start, function = _tuple(args), np.zeros(1), _of_number(fun)
    handle = sessions.start(
        "minimize_scalar", start, method, stop_gradient(bracket), stop_gradient(bounds),
        tol, options,
    )  # fmt: skip
    x = _run(handle, start, function, nothing, given)
    success, status, nfev, nit = sessions.ended(handle)
    if moves((captured(function), given)):
        params = captured(function), given
        x = minimum_of(still(function), x, np.ones(1), np.zeros(1), success, params)
    return Result(x[0], fun(x[0], *given), success, status, nfev, nit)


def _squares(fun: Any) -> Any:
    return lambda x, *args: 0.5 * np.sum(np.ravel(fun(x, *args)) ** 2)


class Squares(Result):
    """What `least_squares` returns."""

    def __init__(self, x: Any, fun: Any, cost: Any, success: Any, status: Any, nfev: Any) -> None:
        self.x = x
        self.fun = fun
        self.cost = cost
        self.success = success
        self.status = status
        self.nfev = nfev


def least_squares(
    fun: Any, x0: Any, args: Any, method: Any, kind: Any, jac: Any, bounds: Any, difference: Any,
    ftol: Any, xtol: Any, gtol: Any, x_scale: Any, max_nfev: Any,
) -> Any:  # fmt: skip
    given, start, function = _tuple(args), _start(x0), _squares(fun)
    handle = sessions.start(
        "least_squares", start, method, kind, difference, stop_gradient(bounds), ftol, xtol, gtol,
        x_scale, max_nfev,
    )  # fmt: skip
    x = _run(handle, start, fun, jac, given)
    sides = sessions.sides(handle, start)
    success, status, nfev, _ = sessions.ended(handle)
    if moves((captured(function), given, bounds)):
        lower, upper = _limits(bounds, x)
        free, held = np.where(sides == 0.0, 1.0, 0.0), np.where(sides < 0.0, lower, upper)
        x = minimum_of(still(function), x, free, held, success, (captured(function), given))
    found = np.atleast_1d(fun(x, *given))
    return Squares(x, found, 0.5 * np.dot(found, found), success, status, nfev)


def curve_fit(
    f: Any, xdata: Any, ydata: Any, x0: Any, n: Any, sigma: Any, absolute_sigma: Any, bounds: Any,
    method: Any, kind: Any, jac: Any, options: Any, check_finite: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.curve_fit` of `n` parameters."""
    y = np.ravel(np.asarray(ydata, dtype=float))
    if check_finite and not np.all(np.isfinite(y)):
        raise ValueError("array must not contain infs or NaNs")
    given = xdata
    if isinstance(xdata, (list, tuple, np.ndarray)):
        given = np.asarray(xdata, dtype=float)
        if check_finite and not np.all(np.isfinite(given)):
            raise ValueError("array must not contain infs or NaNs")
    start = np.atleast_1d(stop_gradient(np.asarray(x0, dtype=float)))

    def model(p: Any) -> Any:
        return np.ravel(f(given, *[p[k] for k in range(n)]))

    def slopes(p: Any) -> Any:
        return jac(given, *[p[k] for k in range(n)])

    def residual(p: Any) -> Any:
        return _weighted(model(p) - y, sigma)

    def squares(p: Any) -> Any:
        return 0.5 * np.sum(residual(p) ** 2)

    handle = sessions.start(
        "curve_fit", start, stop_gradient(y), stop_gradient(sigma), absolute_sigma,
        stop_gradient(bounds), method, kind, options,
    )  # fmt: skip
    x = _run(handle, start, model, slopes, ())
    sides = sessions.sides(handle, start)
    pcov = sessions.covariance(handle, start)
    sessions.ended(handle)
    if moves((captured(squares), bounds)):
        lower, upper = _limits(bounds, x)
        free, held = np.where(sides == 0.0, 1.0, 0.0), np.where(sides < 0.0, lower, upper)
        x = minimum_of(still(squares), x, free, held, True, (captured(squares), ()))
        if np.all(np.isfinite(pcov)):
            found = np.reshape(jacfwd(residual)(x), (len(y), n))
            cov = np.linalg.inv(found.T @ found)
            if not absolute_sigma:
                cov = cov * (2.0 * squares(x) / (len(y) - n))
            pcov = pcov + (cov - stop_gradient(cov))
    return x, pcov


def feasible(n: Any, bounds: Any) -> Any:
    """Return where `curve_fit` starts by default: ones, or between bounds."""
    lower, upper = _limits(bounds, np.ones(n))
    middle = 0.5 * (np.maximum(lower, -1e300) + np.minimum(upper, 1e300))
    inside = np.where(upper < np.inf, np.where(lower > -np.inf, middle, upper - 1.0), lower + 1.0)
    return np.where((lower > -np.inf) | (upper < np.inf), inside, 1.0)


def _weighted(residual: Any, sigma: Any) -> Any:
    if sigma is None:
        return residual
    errors = np.asarray(sigma)
    if errors.ndim < 2:
        return residual / errors
    return scipy.linalg.solve_triangular(np.linalg.cholesky(errors), residual, lower=True)


__all__ = ["curve_fit", "least_squares", "minimize", "minimize_scalar", "root"]
