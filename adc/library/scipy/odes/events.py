"""Events: when a function of time and state changes its sign within a step."""

from __future__ import annotations

from typing import Any

from adc.library import stop_gradient
from adc.library.transforms import transform

_EPS = 2.220446049250313e-16


@transform
def jvp(fn: Any, primals: Any, tangents: Any) -> Any:
    """`adc.jvp`, which the front end knows by its name: the library may not import it."""
    raise NotImplementedError


def happened(before: Any, after: Any, direction: Any) -> Any:
    """Whether an event function changed its sign from one step to the next as is asked for."""
    up = before <= 0.0 and after >= 0.0
    down = before >= 0.0 and after <= 0.0
    if direction > 0:
        return up
    if direction < 0:
        return down
    return up or down


def found(fn: Any, start: Any, end: Any) -> Any:
    """Return where `fn` is zero between two points at which its signs differ.

    By Brent's method, with SciPy's tests. The derivatives are those of two steps of Newton's method
    from there: exact up to the third order, by the implicit function theorem.
    """
    root = stop_gradient(_bracketed(fn, start, end, 4.0 * _EPS, 4.0 * _EPS))
    refined = root
    for _ in range(2):
        value, change = jvp(fn, (refined,), (1.0,))
        refined = refined - value / change
    return root + (refined - stop_gradient(refined))


def _bracketed(fn: Any, start: Any, end: Any, xtol: Any, rtol: Any) -> Any:
    """Return a zero by Brent's method (Brent 1973, chapter 4)."""
    last, now = stop_gradient(start), stop_gradient(end)
    f_last, f_now = stop_gradient(fn(last)), stop_gradient(fn(now))
    if f_last == 0.0:
        return last
    if f_now == 0.0:
        return now
    other, f_other = last, f_last
    before = step = now - last
    for _ in range(100):
        if f_last != 0.0 and f_now != 0.0 and (f_last < 0.0) != (f_now < 0.0):
            other, f_other = last, f_last
            before = step = now - last
        if abs(f_other) < abs(f_now):
            last, now, other = now, other, now
            f_last, f_now, f_other = f_now, f_other, f_now
        least = (xtol + rtol * abs(now)) / 2.0
        half = (other - now) / 2.0
        if f_now == 0.0 or abs(half) < least:
            break
        tried = half
        if abs(before) > least and abs(f_now) < abs(f_last):
            if last == other:
                tried = -f_now * (now - last) / (f_now - f_last)
            else:
                by_last = (f_last - f_now) / (last - now)
                by_other = (f_other - f_now) / (other - now)
                tried = (
                    -f_now
                    * (f_other * by_other - f_last * by_last)
                    / (by_other * by_last * (f_other - f_last))
                )
            if 2.0 * abs(tried) < min(abs(before), 3.0 * abs(half) - least):
                before, step = step, tried
            else:
                before = step = half
        else:
            before = step = half
        last, f_last = now, f_now
        if abs(step) > least:
            now = now + step
        else:
            now = now + (least if half > 0.0 else -least)
        f_now = stop_gradient(fn(now))
    return now
