"""`scipy.integrate.solve_ivp` by explicit Runge-Kutta methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.scipy.odes import bdf, steps, tableaus
from adc.library.scipy.odes import events as events_of

_EPS = 2.220446049250313e-16


class Solution:
    """What interpolates all steps: the state at a time, or at each of several."""

    def __init__(self, method: Any, ts: Any, ys: Any, hs: Any, rows: Any) -> None:
        self.method = method
        self.ts = ts
        self.ys = ys
        self.hs = hs
        self.rows = rows
        self.t_min = min(ts[0], ts[-1])
        self.t_max = max(ts[0], ts[-1])

    def at(self, t: Any) -> Any:
        """Return the state at one time."""
        last = len(self.hs) - 1
        if self.ts[-1] >= self.ts[0]:
            k = min(max(np.searchsorted(self.ts, t, side="left") - 1, 0), last)
        else:
            k = min(max(np.searchsorted(self.ts[::-1], t, side="right") - 1, 0), last)
            k = last - k
        x = (t - self.ts[k]) / self.hs[k]
        return steps.between(self.method, [row[k] for row in self.rows], self.ys[k], x, self.hs[k])

    def __call__(self, t: Any) -> Any:
        """Return the state at a time, or a column for each of several."""
        if np.ndim(t) == 0:
            return self.at(t)
        times = np.asarray(t)
        found = np.empty((self.ys.shape[1], len(times)), self.ys.dtype)
        for k in range(len(times)):
            found[:, k] = self.at(times[k])
        return found


class Result:
    """What `solve_ivp` returns."""

    def __init__(
        self,
        t: Any,
        y: Any,
        sol: Any,
        t_events: Any,
        y_events: Any,
        nfev: Any,
        status: Any,
        njev: Any,
        nlu: Any,
    ) -> None:
        self.t = t
        self.y = y
        self.sol = sol
        self.t_events = t_events
        self.y_events = y_events
        self.nfev = nfev
        self.njev = njev
        self.nlu = nlu
        self.status = status
        self.success = status >= 0

    @property
    def message(self) -> Any:
        """Say why the integration ended."""
        if self.status == 0:
            return "The solver successfully reached the end of the integration interval."
        if self.status == 1:
            return "A termination event occurred."
        return "Required step size is less than spacing between numbers."


def _checked_times(t_eval: Any, t0: Any, tf: Any, repeated: Any) -> Any:
    times = np.asarray(t_eval)
    if times.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(times < min(t0, tf)) or np.any(times > max(t0, tf)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    gaps = np.diff(times)
    if repeated:
        gaps = gaps[gaps != 0]
    if (tf > t0 and np.any(gaps <= 0)) or (tf < t0 and np.any(gaps >= 0)):
        raise ValueError("Values in `t_eval` are not properly sorted.")
    return times


def started(y0: Any) -> Any:
    """Return the first state: a vector of floats, or of complex numbers."""
    y = np.asarray(y0)
    if y.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    return y.astype(complex) if np.iscomplexobj(y) else y.astype(float)


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None,
    dense_output: Any = False, events: Any = None, vectorized: Any = False, args: Any = None, *,
    first_step: Any = None, max_step: Any = np.inf, rtol: Any = 1e-3, atol: Any = 1e-6,
    jac: Any = None, terminal: Any = (), directions: Any = (), repeated: Any = False,
) -> Any:  # fmt: skip
    """`scipy.integrate.solve_ivp`.

    `events` is a tuple of functions; `terminal` and `directions` have what SciPy reads as their
    attributes, as numbers. `repeated`: times may be repeated, as `odeint` allows.
    """
    if method not in ("RK23", "RK45", "DOP853", "BDF"):
        raise Unsupported(
            "`solve_ivp` by this method",
            "use 'BDF' where the equations are stiff, else 'RK45' or 'DOP853'",
        )
    start, tf = t_span
    t0, tf = float(start), float(tf)

    def called(t: Any, y: Any) -> Any:
        return fun(t, y) if args is None else fun(t, y, *args)

    def of_column(t: Any, y: Any) -> Any:
        return np.ravel(called(t, y[:, None]))

    slopes = of_column if vectorized else called

    def signal(event: Any, t: Any, y: Any) -> Any:
        return float(event(t, y) if args is None else event(t, y, *args))

    y = started(y0)
    if method == "BDF" and np.iscomplexobj(y):
        raise Unsupported(
            "`solve_ivp` by 'BDF' of complex states", "integrate real and imaginary parts"
        )
    if not max_step > 0:
        raise ValueError("`max_step` must be positive.")
    # SciPy warns of smaller ones: code that warns could not be run again.
    rtol = np.maximum(rtol, 100 * _EPS)
    if np.ndim(atol) > 0 and np.shape(atol) != y.shape:
        raise ValueError("`atol` has wrong shape.")
    if np.any(atol < 0):
        raise ValueError("`atol` must be positive.")
    direction = -1.0 if tf < t0 else 1.0
    nodes: Any = ()
    order = 1
    if method != "BDF":
        nodes, _, _, _, order = tableaus.pair(method)
    exponent = -1.0 / (order + 1.0)
    f = steps.slope(slopes, t0, y)
    nfev = 1
    if first_step is None:
        size = steps.first_size(slopes, t0, y, f, tf, max_step, direction, order, rtol, atol)
        nfev += 1 if tf != t0 and y.size > 0 else 0
    else:
        size = float(first_step)
        if size <= 0:
            raise ValueError("`first_step` must be positive.")
        if size > abs(tf - t0):
            raise ValueError("`first_step` exceeds bounds.")

    njev, nlu = 0, 0
    constant = isinstance(jac, (np.ndarray, list, tuple))
    n = len(y)
    differences = np.zeros((8, n))
    jacobian, matrix = np.zeros((n, n)), np.zeros((n, n))
    factors = np.full(n, _EPS**0.5)
    factored, equal = False, 0
    fresh = False
    tol = 0.0
    if method == "BDF":
        tol = stop_gradient(max(10 * _EPS / rtol, min(0.03, rtol**0.5)))
        differences[0] = y
        differences[1] = f * (size * direction)
        jacobian, factors = _jacobian(jac, args, slopes, t0, y, atol, factors)
        njev = 0 if constant else 1
        if jacobian.shape != (n, n):
            raise ValueError("`jac` is expected to have the shape (n, n).")

    t = t0
    times = np.zeros(0) if t_eval is None else _checked_times(t_eval, t0, tf, repeated)
    at_times = np.empty((len(times), len(y)), y.dtype)
    shown = 0
    ts, ys = [t], [y]
    sizes: list[Any] = []
    kept: list[Any] = [[] for _ in range(_rows(method))]
    signs = [] if events is None else [signal(event, t, y) for event in events]
    counts = [0 for _ in signs]
    t_events: list[Any] = [[] for _ in signs]
    y_events: list[Any] = [[] for _ in signs]
    status = -1
    if t == tf:
        ts.append(t)
        ys.append(y)
        while shown < len(times):
            at_times[shown] = y
            shown += 1
        status = 0
    rejected = False
    # An iteration for each try, so that what reverse code keeps is known for each.
    while status < 0:
        now = stop_gradient(t)
        least = 10.0 * np.abs(np.nextafter(now, direction * np.inf) - now)
        if rejected:
            if size < least:
                break
        else:
            fresh = constant
            clipped = max_step if size > max_step else max(size, least)
            if method == "BDF" and clipped != size:
                differences = bdf.changed(differences, order, clipped / size)
                equal = 0
            size = clipped
        t_new = t + size * direction
        if direction * (t_new - tf) > 0:
            t_new = tf
            if method == "BDF":
                differences = bdf.changed(differences, order, np.abs(t_new - t) / size)
                equal, factored = 0, False
        h = t_new - t
        size = np.abs(h)
        stages: Any = (f,)
        if method == "BDF":
            predicted = differences[0].copy()
            psi = np.zeros(n)
            for k in range(1, order + 1):
                predicted = predicted + differences[k]
                psi = psi + bdf.gammas()[k] * differences[k]
            psi = psi / bdf.alpha(order)
            c = h / bdf.alpha(order)
            converged, count, d = False, 0, np.zeros(n)
            still = stop_gradient(predicted)
            for _ in range(2):
                if not factored:
                    matrix = stop_gradient(np.identity(n) - stop_gradient(c) * jacobian)
                    factored = True
                    nlu += 1
                converged, count, d = bdf.iterated(
                    slopes, stop_gradient(t_new), still, stop_gradient(c), stop_gradient(psi),
                    matrix, stop_gradient(atol + rtol * np.abs(still)), tol,
                )  # fmt: skip
                d = stop_gradient(d)
                nfev += count
                if converged or fresh:
                    break
                jacobian, factors = _jacobian(jac, args, slopes, t_new, still, atol, factors)
                njev += 1
                factored, fresh = False, True
            if not converged:
                size = size * 0.5
                differences = bdf.changed(differences, order, 0.5)
                equal, factored, rejected = 0, False, True
                continue
            d = bdf.with_derivatives(slopes, t_new, predicted, c, psi, d)
            y_new = predicted + d
            safety = 0.9 * (2 * 4 + 1) / (2 * 4 + count)
            scale = atol + rtol * np.abs(y_new)
            off = steps.root_mean_square(bdf.error_constant(order) * d / scale)
            if off > 1:
                factor = max(0.2, safety * off ** (-1.0 / (order + 1.0)))
                size = size * factor
                differences = bdf.changed(differences, order, factor)
                equal, rejected = 0, True
                continue
            equal += 1
            differences = bdf.updated(differences, order, d)
            if equal >= order + 1:
                order, gain = bdf.next_order(differences, order, off, scale)
                factor = min(10.0, safety * gain)
                size = size * factor
                differences = bdf.changed(differences, order, factor)
                equal, factored = 0, False
        else:
            y_new, stages = steps.taken(method, slopes, t, y, f, h)
            nfev += len(nodes) + 1
            scale = atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol
            off = steps.error(method, stages, h, scale)
            if not off < 1:
                size *= max(0.2, 0.9 * off**exponent)
                rejected = True
                continue
            factor = 10.0 if off == 0 else min(10.0, 0.9 * off**exponent)
            size *= min(1.0, factor) if rejected else factor
        rejected = False
        if direction * (t_new - tf) >= 0:
            status = 0

        after = [] if events is None else [signal(event, t_new, y_new) for event in events]
        active = [
            events_of.happened(before, later, sign)
            for before, later, sign in zip(signs, after, directions, strict=True)
        ]
        signs = after
        # What is kept, or asked for, between the steps.
        needed = dense_output or any(active)
        if not needed and shown < len(times):
            needed = direction * (times[shown] - t_new) <= 0
        rows = [y.copy() for _ in range(_rows(method))]
        if method == "BDF":
            if needed:
                rows = [differences[k] * (1.0 if k <= order else 0.0) for k in range(6)]
                rows.append(np.zeros(n) + size * direction)
        elif needed:
            rows = steps.interpolant(method, slopes, t, y, y_new, stages, h)
            nfev += steps.more_slopes(method)

        def inside(s: Any, t: Any = t, y: Any = y, h: Any = h, rows: Any = rows) -> Any:
            return steps.between(method, rows, y, (s - t) / h, h)

        t_end, y_end = t_new, y_new
        if any(active):
            roots = [t_new for _ in active]
            stop, stops = -1, t_new
            for k, event in enumerate(events):
                if active[k]:
                    counts[k] += 1
                    roots[k] = events_of.found(
                        lambda s, event=event: signal(event, s, inside(s)), t, t_new
                    )
                    # The first one that ends the integration.
                    if 0 < terminal[k] <= counts[k] and (
                        stop < 0 or direction * (roots[k] - stops) < 0
                    ):
                        stop, stops = k, roots[k]
            for k in range(len(active)):
                if active[k] and (stop < 0 or direction * (roots[k] - stops) <= 0):
                    t_events[k].append(roots[k])
                    y_events[k].append(inside(roots[k]))
            if stop >= 0:
                status = 1
                t_end, y_end = stops, inside(stops)
        if dense_output:
            sizes.append(h)
            for column, row in zip(kept, rows, strict=True):
                column.append(row)
        if isinstance(t_eval, (list, tuple)):
            for k in range(len(t_eval)):  # unrolled, so that checkpoints can be placed
                if shown == k and direction * (times[k] - t_end) <= 0:
                    at_times[k] = inside(times[k])
                    shown += 1
        else:
            while shown < len(times) and direction * (times[shown] - t_end) <= 0:
                at_times[shown] = inside(times[shown])
                shown += 1
        if t_eval is None or dense_output:
            ts.append(t_end)
            ys.append(y_end)
        t, y, f = t_new, y_new, stages[-1]
    all_ts, all_ys = np.array(ts), np.array(ys)
    solution = None
    if dense_output:
        columns = [np.array(column) for column in kept]
        solution = Solution(method, all_ts, all_ys, np.array(sizes), columns)
    return Result(
        all_ts if t_eval is None else times[:shown],
        all_ys.T if t_eval is None else at_times[:shown].T,
        solution,
        None if events is None else [np.array(each) for each in t_events],
        None if events is None else [_stacked(each, y) for each in y_events],
        nfev,
        status,
        njev,
        nlu,
    )


def _stacked(states: Any, like: Any) -> Any:
    return np.array(states) if len(states) > 0 else np.zeros((0, len(like)), like.dtype)


def _jacobian(jac: Any, args: Any, slopes: Any, t: Any, y: Any, atol: Any, factors: Any) -> Any:
    """Return the Jacobian for Newton's iteration, without derivatives."""
    t, y = stop_gradient(t), stop_gradient(y)
    if isinstance(jac, (np.ndarray, list, tuple)):
        return stop_gradient(np.asarray(jac, dtype=float)), factors
    if jac is None:
        found, factors = bdf.numerical_jacobian(slopes, t, y, stop_gradient(atol), factors)
        return stop_gradient(found), stop_gradient(factors)
    given = jac(t, y) if args is None else jac(t, y, *args)
    return stop_gradient(np.asarray(given, dtype=float)), factors


def _rows(method: Any) -> Any:
    return {"RK23": 3, "RK45": 4, "DOP853": 7, "BDF": 7}[method]
