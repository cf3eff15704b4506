"""SciPy's own solvers and integrators, which run beside compiled code.

A solver of SciPy calls a function; compiled code is to compute it, where it has the captured
variables. So a solver runs in a thread of its own, and one of the two always waits: the solver asks
for the values at a point (`asked`), and compiled code, in a loop, tells them.
"""

from __future__ import annotations

import contextvars
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.library.external import External

# What a solver asks for: nothing, as it is done; the function; its derivative.
DONE, VALUE, SLOPE = 0, 1, 2
# Solvers that wait in one thread are nested, or an exception has left them behind.
_MOST = 64


def solver(fn: Callable[..., Any], result: Any) -> External:
    return External(fn, result, f"scipy_solver{fn.__name__}")


class _Left(BaseException):
    """Raised in a solver that nobody waits for."""


class _Session:
    """A solver that runs: what it asks, and what it is told."""

    def __init__(self, run: Callable[[Callable[..., Any]], Any]) -> None:
        self.asks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.owner = threading.get_ident()
        self.result: Any = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work, run), daemon=True).start()

    def _work(self, run: Callable[[Callable[..., Any]], Any]) -> None:
        try:
            self.result = run(self._ask)
            self.asks.put((DONE, np.atleast_1d(self.result.x)))
        except _Left:
            pass
        except BaseException as error:  # raised where the solver was called
            self.asks.put((error, None))

    def _ask(self, kind: int, x: Any) -> Any:
        self.asks.put((kind, np.array(x, np.float64)))
        answer = self.answers.get()
        if answer is None:
            raise _Left
        return answer

    def told(self, answer: Any) -> Any:
        """Tell the solver what it has asked for, and return what it asks next."""
        self.answers.put(answer)
        return self.asked()

    def asked(self) -> Any:
        """Return what the solver asks for."""
        kind, x = self.asks.get()
        if isinstance(kind, BaseException):
            raise kind
        return kind, x


_sessions: dict[int, _Session] = {}
_handles = itertools.count(1)


def _open(run: Callable[[Callable[..., Any]], Any]) -> int:
    session, handle = _Session(run), next(_handles)
    own = [key for key, each in list(_sessions.items()) if each.owner == session.owner]
    for key in own[: max(0, len(own) - _MOST + 1)]:
        _sessions.pop(key).answers.put(None)
    _sessions[handle] = session
    return handle


def _of_root(ask: Any, x0: Any, method: str, slope: int, tol: Any, options: Any) -> Any:
    from scipy import optimize

    def fun(x: Any) -> Any:
        found = ask(VALUE, x)
        if slope == BOTH:
            n = len(x)
            return found[:n], found[n:].reshape(n, n)
        return found

    def jac(x: Any) -> Any:
        return ask(SLOPE, x).reshape(-1, len(x))

    given = {NONE: None, APART: jac, BOTH: True}[slope]
    return optimize.root(fun, x0, method=method, jac=given, tol=tol, options=options or None)


def _of_minimum(
    ask: Any, x0: Any, method: Any, slope: int, tol: Any, options: Any, bounds: Any
) -> Any:
    from scipy import optimize

    def fun(x: Any) -> Any:
        found = ask(VALUE, x)
        return (float(found[0]), found[1:]) if slope == BOTH else float(found[0])

    def jac(x: Any) -> Any:
        return ask(SLOPE, x)

    given = {NONE: None, APART: jac, BOTH: True}[slope]
    limits = None if bounds is None else _pairs(bounds, len(x0))
    return optimize.minimize(
        fun, x0, method=method, jac=given, tol=tol, options=options or None, bounds=limits
    )


def _pairs(bounds: Any, n: int) -> Any:
    """Return bounds as SciPy's functions take them."""
    from scipy import optimize

    return optimize.Bounds(np.array(bounds[0]) * np.ones(n), np.array(bounds[1]) * np.ones(n))


def _of_minimum_scalar(
    ask: Any, x0: Any, method: Any, bracket: Any, bounds: Any, tol: Any, options: Any
) -> Any:
    from scipy import optimize

    def fun(x: Any) -> Any:
        return float(ask(VALUE, np.atleast_1d(x))[0])

    return optimize.minimize_scalar(
        fun, bracket=bracket, bounds=bounds, method=method, tol=tol, options=options or None
    )


def _of_squares(
    ask: Any, x0: Any, method: str, slope: int, difference: str, bounds: Any, ftol: Any, xtol: Any,
    gtol: Any, x_scale: Any, max_nfev: Any,
) -> Any:  # fmt: skip
    from scipy import optimize

    def fun(x: Any) -> Any:
        return ask(VALUE, x)

    def jac(x: Any) -> Any:
        return ask(SLOPE, x).reshape(-1, len(x))

    limits = (-np.inf, np.inf) if bounds is None else (np.array(bounds[0]), np.array(bounds[1]))
    return optimize.least_squares(
        fun, x0, jac=jac if slope == APART else difference, method=method, bounds=limits,
        ftol=ftol, xtol=xtol, gtol=gtol, x_scale=x_scale, max_nfev=max_nfev,
    )  # fmt: skip


def _of_fit(
    ask: Any, p0: Any, y: Any, sigma: Any, absolute: bool, bounds: Any, method: Any, slope: int,
    options: Any,
) -> Any:  # fmt: skip
    from scipy import optimize

    def model(x: Any, *p: Any) -> Any:
        return ask(VALUE, p)

    def jac(x: Any, *p: Any) -> Any:
        return ask(SLOPE, p).reshape(-1, len(p))

    low, high = (-np.inf, np.inf) if bounds is None else bounds
    popt, pcov, *_ = optimize.curve_fit(
        model, None, y, p0, sigma, absolute, bounds=(low, high), method=method,
        jac=jac if slope == APART else None, full_output=True, check_finite=False,
        **(options or {}),
    )  # fmt: skip
    # As `least_squares` says which bounds hold.
    below, above = (popt - low, high - popt)
    at_low = below <= np.minimum(above, 1e-8 * np.maximum(1.0, np.abs(low)))
    at_high = above <= np.minimum(below, 1e-8 * np.maximum(1.0, np.abs(high)))
    sides = np.where(at_low & np.isfinite(low), -1, np.where(at_high & np.isfinite(high), 1, 0))
    return optimize.OptimizeResult(x=popt, covariance=pcov, active_mask=sides, success=True)


def _of_integral(
    ask: Any, a: float, b: float, epsabs: Any, epsrel: Any, limit: Any, points: Any
) -> Any:
    from scipy import integrate, optimize

    found = integrate.quad(
        lambda x: float(ask(VALUE, np.array([x, 0.0]))[0]), a, b, epsabs=epsabs, epsrel=epsrel,
        limit=limit, points=None if points is None else list(points),
    )  # fmt: skip
    return optimize.OptimizeResult(x=np.array(found[:2]), success=True)


def _of_odeint(
    ask: Any, start: Any, times: Any, has_jac: bool, rtol: Any, atol: Any, settings: Any
) -> Any:  # fmt: skip
    from scipy import integrate, optimize

    n = len(start) - 1
    found, more = integrate.odeint(
        lambda t, y: ask(VALUE, np.append(y, t)), start[:n], times, tfirst=True, full_output=True,
        Dfun=(lambda t, y: ask(SLOPE, np.append(y, t)).reshape(n, n)) if has_jac else None,
        rtol=rtol, atol=atol, **settings,
    )  # fmt: skip
    # A single time is no interval: the first state is the result.
    if more["message"] != "Integration successful." and np.any(times != times[0]):
        raise RuntimeError(f"odeint: {more['message']}")
    return optimize.OptimizeResult(x=start, success=True, t=times, y=found.T)


def _of_ivp(
    ask: Any, start: Any, tf: float, method: str, t_eval: Any, has_jac: bool, rtol: Any, atol: Any,
    settings: Any,
) -> Any:  # fmt: skip
    from scipy import integrate, optimize

    n = len(start) - 1
    jac = (lambda t, y: ask(SLOPE, np.append(y, t)).reshape(n, n)) if has_jac else None
    found = integrate.solve_ivp(
        lambda t, y: ask(VALUE, np.append(y, t)), (start[n], tf), start[:n], method, t_eval,
        rtol=rtol, atol=atol, jac=jac, **settings,
    )  # fmt: skip
    counts = {name: found[name] for name in ("t", "y", "status", "nfev", "njev", "nlu")}
    return optimize.OptimizeResult(x=start, success=True, **counts)


def _of_system(ask: Any, b: Any, x0: Any, settings: Any, turned: int) -> Any:
    from scipy import optimize
    from scipy.sparse import linalg

    name, rtol, atol, maxiter, restart, preconditioner = settings
    n = len(b)
    words = {"rtol": rtol, "maxiter": maxiter}
    if atol is not None:
        words |= {"atol": atol, "M": _preconditioner(preconditioner, n, turned)}
    if name == "gmres":
        words["restart"] = restart
    products = linalg.LinearOperator(
        (n, n), lambda x: np.array(ask(VALUE, x.reshape(n))), dtype=float
    )
    start = None if x0 is None else np.array(x0)
    x, info = getattr(linalg, name)(products, np.array(b), start, **words)
    return optimize.OptimizeResult(x=x, success=info == 0, status=info)


def _preconditioner(given: Any, n: int, turned: int) -> Any:
    """Return a preconditioner of a matrix or, `turned`, of its transpose, if that is known."""
    if isinstance(given, tuple):
        from scipy.sparse import csr_array

        given = csr_array(given, shape=(n, n))
    if given is None or not turned:
        return given
    try:
        found = given.T
        found @ np.zeros(n)
    except NotImplementedError:  # an operator without `rmatvec`
        return None
    return found


# How the derivative is given: not at all, by a function of its own, with the value.
NONE, APART, BOTH = 0, 1, 2
_SOLVERS: dict[str, Callable[..., Any]] = {
    "curve_fit": _of_fit,
    "odeint": _of_odeint,
    "solve_ivp": _of_ivp,
    "quad": _of_integral,
    "root": _of_root,
    "krylov": _of_system,
    "minimize": _of_minimum,
    "minimize_scalar": _of_minimum_scalar,
    "least_squares": _of_squares,
}


def _start(name: str, *data: Any) -> int:
    kept = _copied(data)  # compiled code may drop its arrays while the solver runs
    return _open(lambda ask: _SOLVERS[name](ask, *kept))


def _copied(data: Any) -> Any:
    if isinstance(data, tuple):
        return tuple(_copied(part) for part in data)
    return np.array(data) if isinstance(data, np.ndarray) else data


def _like_asked(handle: Any, x: Any) -> Any:
    return 0, np.empty_like(x)


def _like_told(handle: Any, x: Any, answer: Any) -> Any:
    return 0, np.empty_like(x)


def _like_sides(handle: Any, x: Any) -> Any:
    return np.zeros_like(x)


def _like_covariance(handle: Any, x: Any) -> Any:
    return np.empty((len(x), len(x)))


def _asked(handle: int, x: Any) -> Any:
    try:
        return _sessions[handle].asked()
    except BaseException:
        _sessions.pop(handle, None)
        raise


def _told(handle: int, x: Any, answer: Any) -> Any:
    try:
        return _sessions[handle].told(answer)
    except BaseException:
        _sessions.pop(handle, None)
        raise


def _ended(handle: int) -> tuple[bool, int, int, int]:
    """Return whether a solver converged, its status, and its counts of evaluations, of steps."""
    found = _sessions.pop(handle).result
    counts = [int(found.get(name) or 0) for name in ("status", "nfev", "nit")]
    return (bool(found.success), counts[0], counts[1], counts[2])


def _sides(handle: int, x: Any) -> Any:
    """Return -1 or 1 for each element of a solution that is at its lower or upper bound, or 0."""
    return np.array(_sessions[handle].result.active_mask, np.float64)


def _covariance(handle: int, x: Any) -> Any:
    return np.array(_sessions[handle].result.covariance, np.float64)


def _like_states(handle: Any, times: Any, y: Any) -> Any:
    return np.empty((len(times), len(y)))


def _states(handle: int, times: Any, y: Any) -> Any:
    """Return the states of an integrator at all times, a row for each."""
    return np.array(_sessions[handle].result.y.T, np.float64)


def _times(handle: int, like: Any) -> Any:
    return np.array(_sessions[handle].result.t, np.float64)


def _integrated(handle: int) -> tuple[int, int, int, int, int]:
    """Return how many times there are, the status, and the counts of an integrator."""
    found = _sessions[handle].result
    counts = [int(found[name]) for name in ("status", "nfev", "njev", "nlu")]
    return (len(found.t), counts[0], counts[1], counts[2], counts[3])


start = solver(_start, int)
asked = solver(_asked, _like_asked)
told = solver(_told, _like_told)
sides = solver(_sides, _like_sides)
states = solver(_states, _like_states)
times = solver(_times, _like_sides)
integrated = solver(_integrated, tuple[int, int, int, int, int])
covariance = solver(_covariance, _like_covariance)
ended = solver(_ended, tuple[bool, int, int, int])

__all__ = [
    "APART", "BOTH", "DONE", "NONE", "SLOPE", "VALUE", "asked", "covariance", "ended",
    "integrated", "sides", "start", "states", "times", "told",
]  # fmt: skip
