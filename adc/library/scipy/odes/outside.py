"""Integrators of SciPy's that run as they are: LSODA, which is `odeint` too, and Radau.

SciPy's own code runs (`sessions`), so values and counts are SciPy's. The derivatives are those of
the exact solution at the same times, to the tolerance: they are the derivatives of steps of `ivp`
by BDF, with a tenth of the tolerances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.implicit import jvp, vjp
from adc.library.rules import exact
from adc.library.scipy import sessions
from adc.library.scipy.captures import captured, moves, still, with_captured
from adc.library.scipy.odes import ivp
from adc.library.scipy.sessions import DONE, VALUE


@exact(fixed=(0,))
def states_of(
    fn: Any, found: Any, times: Any, y: Any, rtol: Any, atol: Any, params: Any
) -> Any:  # fmt: skip
    """Return `found`, the states at some times, a row for each.

    `params` are what `fn` has captured, and its further arguments.
    """
    return found


def _solved(fn: Any, times: Any, y: Any, rtol: Any, atol: Any, params: Any) -> Any:
    captives, args = params
    own = with_captured(fn, captives)
    found = ivp.solve_ivp(
        lambda t, z: own(t, z, *args), (times[0], times[-1]), y, "BDF", times,
        rtol=0.1 * rtol, atol=0.1 * atol, repeated=True,
    )  # fmt: skip
    if found.status < 0:
        raise RuntimeError("the derivative of the solution needs too small steps")
    return found.y.T


def _record(
    fn: Any, found: Any, times: Any, y: Any, rtol: Any, atol: Any, params: Any
) -> Any:  # fmt: skip
    z = states_of(fn, found, times, y, rtol, atol, params)
    return z, (times, y, stop_gradient(rtol), stop_gradient(atol), params)


def _reverse(fn: Any, kept: Any, ct: Any) -> Any:
    times, y, rtol, atol, params = kept
    if not moves(params):
        _, pull = vjp(lambda ts, z: _solved(fn, ts, z, rtol, atol, params), times, y)
        of_times, of_y = pull(ct)
        return None, of_times, of_y, None, None, None
    _, pull = vjp(lambda ts, z, p: _solved(fn, ts, z, rtol, atol, p), times, y, params)
    of_times, of_y, of_params = pull(ct)
    return None, of_times, of_y, None, None, of_params


def _tangent(fn: Any, primals: Any, tangents: Any) -> Any:
    found, times, y, rtol, atol, params = primals
    z = states_of(fn, found, times, y, rtol, atol, params)
    if not moves(params):
        _, moved = jvp(
            lambda ts, s: _solved(fn, ts, s, rtol, atol, params), (times, y),
            (tangents[1], tangents[2]),
        )  # fmt: skip
        return z, moved
    _, moved = jvp(
        lambda ts, s, p: _solved(fn, ts, s, rtol, atol, p), (times, y, params),
        (tangents[1], tangents[2], tangents[5]),
    )  # fmt: skip
    return z, moved


states_of.define(_record, _reverse, _tangent)


def _run(handle: Any, start: Any, fun: Any, jac: Any, args: Any) -> None:
    """Tell an integrator what it asks for, until it is done; the time is the last number."""
    n = len(start) - 1
    kind, x = sessions.asked(handle, start)
    while kind != DONE:
        if kind == VALUE:
            kind, x = sessions.told(handle, start, _flat(fun(x[n], x[:n], *args)))
        else:
            kind, x = sessions.told(handle, start, _flat(jac(x[n], x[:n], *args)))


def _flat(found: Any) -> Any:
    return stop_gradient(np.ravel(np.asarray(found)) * 1.0)


def _vector(y0: Any) -> Any:
    y = np.atleast_1d(np.asarray(y0, dtype=float))
    if y.ndim != 1:
        raise ValueError("Initial condition y0 must be one-dimensional.")
    return y


def nothing(t: Any, y: Any, *args: Any) -> Any:
    """Stand for a Jacobian that is not given."""
    return np.zeros(0)


def turned(fun: Any) -> Any:
    """Return a function of time and state for one of state and time."""
    return lambda t, y, *args: fun(y, t, *args)


def of_columns(fun: Any) -> Any:
    """Return a function of states for one of columns of states."""
    return lambda t, y, *args: np.ravel(fun(t, y[:, None], *args))


def odeint(
    fun: Any, y0: Any, t: Any, args: Any, has_jac: Any, jac: Any, rtol: Any, atol: Any,
    settings: Any,
) -> Any:  # fmt: skip
    """`scipy.integrate.odeint`, of functions of time and state."""
    y, times = _vector(y0), np.asarray(t, dtype=float)
    given = args if isinstance(args, tuple) else (args,)
    start = stop_gradient(np.append(y, times[0]))
    handle = sessions.start(
        "odeint", start, stop_gradient(times), has_jac, stop_gradient(rtol), stop_gradient(atol),
        settings,
    )  # fmt: skip
    _run(handle, start, fun, jac, given)
    found = sessions.states(handle, stop_gradient(times), stop_gradient(y))
    sessions.ended(handle)
    if moves((captured(fun), given, y, times)):
        found = states_of(
            still(fun), found, times, y, rtol, atol, (captured(fun), given)
        )  # fmt: skip
    return found


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any, t_eval: Any, args: Any, has_jac: Any, jac: Any,
    rtol: Any, atol: Any, settings: Any,
) -> Any:  # fmt: skip
    """`scipy.integrate.solve_ivp` by Radau or LSODA."""
    first, last = t_span
    t0, tf = float(first), float(last)
    y = ivp.started(y0)
    given = args if isinstance(args, tuple) else () if args is None else (args,)
    start = stop_gradient(np.append(y, t0))
    asked_for = None if t_eval is None else np.asarray(t_eval, dtype=float)
    handle = sessions.start(
        "solve_ivp", start, stop_gradient(tf), method, stop_gradient(asked_for), has_jac,
        stop_gradient(rtol), stop_gradient(atol), settings,
    )  # fmt: skip
    _run(handle, start, fun, jac, given)
    count, status, nfev, njev, nlu = sessions.integrated(handle)
    times = sessions.times(handle, np.zeros(count))
    found = sessions.states(handle, times, stop_gradient(y))
    sessions.ended(handle)
    if asked_for is not None:
        times = asked_for[:count]
    elif status == 0:
        times = np.concatenate((np.full(1, t0), times[1 : count - 1], np.full(1, tf)))
    if count > 1 and moves((captured(fun), given, y, t0, tf, times)):
        at, rows = times, found
        before = asked_for is not None and times[0] != t0
        if before:
            at = np.concatenate((np.full(1, t0), times))
            rows = np.concatenate((y[None], found))
        rows = states_of(still(fun), rows, at, y, rtol, atol, (captured(fun), given))
        found = rows[1:] if before else rows
    return ivp.Result(times, found.T, None, None, None, nfev, status, njev, nlu)


__all__ = ["odeint", "solve_ivp"]
