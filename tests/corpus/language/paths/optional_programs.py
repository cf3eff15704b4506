# ruff: noqa: B905, F821, F841
# `zip` stands as people write it; loops read what only earlier iterations have assigned.
# mypy: disable-error-code="has-type"
"""Names that are one of two things: arrays or lists that may be one, a value or None, or nothing.

Where a write could be seen through another name only on some paths, the program is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder

OPTIONAL_PROGRAMS: list[Program] = []
program = recorder(OPTIONAL_PROGRAMS)


def programs(*cases: tuple[Any, ...], **options: Any) -> Callable[[Any], Any]:
    """Enter a program once for each of several samples, which take different paths."""

    def register(fn: Any) -> Any:
        for k, args in enumerate(cases):
            program(*args, **options)(fn)
            OPTIONAL_PROGRAMS[-1] = replace(OPTIONAL_PROGRAMS[-1], name=f"{fn.__name__}_{k}")
        return fn

    return register


# --- an argument on one path, a new array or list on another --------------------------------------


def _clipped(g: Any, most: Any) -> Any:
    norm = np.linalg.norm(g)
    return g if norm < most else g * (most / norm)


@programs((X6, 0.5), (X6, 100.0))
def clipped_gradients(x: Any, most: Any) -> Any:
    velocity = np.zeros(len(x))
    y = x.copy()
    for _ in range(4):
        g = _clipped(np.cos(y) * y, most)
        velocity = 0.9 * velocity + g
        y -= 0.1 * velocity
    return np.sum(y * y)


def _all_clipped(grads: Any, most: Any) -> Any:
    norm = np.sqrt(sum(np.sum(g * g) for g in grads))
    if norm < most:
        return grads
    return [g * (most / norm) for g in grads]


@programs((X3, 0.5), (X3, 100.0))
def clipped_lists(x: Any, most: Any) -> Any:
    params = [x * 1.0, x * 2.0]
    for _ in range(3):
        grads = _all_clipped([np.cos(p) for p in params], most)
        params = _all_clipped([p - 0.1 * g for p, g in zip(params, grads)], 50.0)
        params[0] = params[0] + np.sin(params[1])
    return np.sum(params[0] * params[1])


def _iterated(x: Any, n: Any) -> Any:
    if n <= 0:
        return x
    return _iterated(np.sin(x) * 1.1, n - 1)


def _exchanged(a: Any, b: Any, n: Any) -> Any:
    if n <= 0:
        return a, b
    c, d = _exchanged(b, np.sin(a), n - 1)
    return d, c


@programs((X3, 0), (X3, 3), tags="recursive")
def recursion_that_ends_with_its_argument(x: Any, n: Any) -> Any:
    y = x * 2.0
    z = _iterated(y, n)
    a, b = _exchanged(y, y, n)
    c, d = _exchanged(z, y if n > 1 else x, n)
    z = z * 1.0
    z[0] = 3.0 * x[1]
    return np.sum(z * y) + np.sum(a * b * b) + np.sum(c * d)


class _Point:
    def __init__(self, at: Any, weight: Any) -> None:
        self.at = at
        self.weight = weight


def _better(p: Any, q: Any) -> Any:
    return p if np.sum(p.at) < np.sum(q.at) else q


@programs((X3, 2.5), (X3, 0.1))
def better_of_two_objects(x: Any, scale: Any) -> Any:
    points = [_Point(x * scale, x[0]), _Point(x * 2.0, x[1]), _Point(x * x, x[2])]
    best = points[0]
    for p in points:
        best = _better(best, p)
    smaller, larger = (points[0], points[1]) if scale < 2.0 else (points[1], points[0])
    return np.sum(best.at * points[1].at) * best.weight + smaller.weight * larger.at[0]


@programs((X3, 1), (X3, 0))
def one_list_with_two_names_on_both_paths(x: Any, flag: Any) -> Any:
    if flag > 0:
        a = [x[0], x[1]]
        b = a
    else:
        a = [x[1], x[2]]
        b = a
    a[0] = 5.0 * x[2]
    return b[0] * x[0] + b[1]


# --- a value or None ------------------------------------------------------------------------------


def _first_beyond(x: Any, bound: Any) -> Any:
    for v in x:
        if v * v > bound:
            return v
    return None


def _roots(a: Any, b: Any, c: Any) -> Any:
    d = b * b - 4.0 * a * c
    if d < 0.0:
        return None
    return (-b + np.sqrt(d)) / (2.0 * a), (-b - np.sqrt(d)) / (2.0 * a)


@programs((X6, 0.5), (X6, 100.0))
def results_that_may_be_none(x: Any, bound: Any) -> Any:
    found, other = _first_beyond(x, bound), _first_beyond(x * 2.0, bound)
    s = x[0] * x[1]
    if found is not None and other is not None:
        s += found * other
    if found is None or other is None:
        s *= 2.0
    pair = _roots(1.0, 3.0 * x[0], bound - 1.0)
    if pair is not None:
        p, q = pair
        s += p * q * q
    return s + (_first_beyond(x, bound) or x[2])


@programs((X6, 0.5), (X6, 100.0))
def first_one_found_in_a_loop(x: Any, bound: Any) -> Any:
    found: Any = None
    where: Any = None
    for k in range(len(x)):
        if x[k] < 0.0:
            continue
        if x[k] * k > bound:
            found, where = x[k], k
            break
    if found is None:
        return x[0] ** 2
    return found * x[1] * (where + 1.0)


@programs((X6, 3.0), (X6, -50.0), smooth=False)
def best_one_of_some(x: Any, bound: Any) -> Any:
    best = None
    y = x
    for _ in range(5):
        y = np.sin(y) * 1.2
        if np.sum(y * y) < bound and (best is None or y[0] > best[0]):
            best = y
    return np.sum(best * x) if best is not None else np.sum(x**3)


@programs((X6, 5), (X6, 0), tags="while")
def none_before_a_while_loop(x: Any, n: Any) -> Any:
    before, last = None, None
    k = 0
    while k < n:
        before, last = last, x * k
        k += 1
    s = np.sum(x)
    if before is not None:
        s += np.sum(before * x)
    if last is not None:
        last[0] = 2.0 * x[1]
        s += np.sum(last * x * x)
    return s


class _Tracker:
    def __init__(self) -> None:
        self.best: Any = None
        self.count = 0

    def update(self, v: Any) -> None:
        if self.best is None or v > self.best:
            self.best = v
            self.count += 1


@program(X6)
def attribute_that_is_none_at_first(x: Any) -> Any:
    tracker = _Tracker()
    for v in x:
        if v > 2.0:
            break
        tracker.update(v * x[0])
    return tracker.best * tracker.count


@programs((X3, 4), (X3, 0))
def dict_or_none(x: Any, n: Any) -> Any:
    best = None
    for k in range(n):
        if best is None or x[k % 3] > best["x"]:
            best = {"x": x[k % 3], "y": x * k, "k": k}
        if k > 6:
            break
    if best is None:
        return np.sum(x)
    return best["x"] * np.sum(best["y"]) + best["k"]


class _Node:
    def __init__(self, value: Any, rest: Any = None) -> None:
        self.value = value
        self.rest = rest


@programs((X3, 1.0), (X3, -1.0))
def objects_that_one_path_makes(x: Any, sign: Any) -> Any:
    node = _Node(x[0])
    if sign > 0.0:
        node.rest = _Node(x[1], _Node(x[2]))
    s = node.value
    if node.rest is not None:
        s *= node.rest.value
        if node.rest.rest is not None:
            s += node.rest.rest.value**2
    return s


@programs((X3, 2.0), (X3, -1.0))
def argument_that_may_be_none(x: Any, scale: Any) -> Any:
    def product(a: Any, b: Any = None) -> Any:
        if b is None:
            b = a
        return np.sum(a * b)

    other = x * scale if scale > 0.0 else None
    same = other
    if same is None:
        same = x + 1.0
    same = same * 1.0
    same[0] = x[1]
    return product(x, other) + product(x) + np.sum(same * x)


@program(np.array([0.3, 0.8, 1.4]), -1.0)
def none_where_an_exception_is_caught(x: Any, c: float) -> Any:
    root = None
    try:
        if c < 0:
            raise ValueError("no root")
        root = x[0] ** 2
    except ValueError:
        pass
    return 0.1 * x[1] if root is None else root


@program(X6)
def none_in_the_first_iteration(x: Any) -> Any:
    y = None
    s = 0.0
    for i in range(len(x)):
        if y is not None:
            s += y
        if i == 4:
            break
        y = x[i]
    return s


@program(X6, 5)
def dict_of_numbers_by_a_number(x: Any, n: Any) -> Any:
    ratios, s = {1: x[0], 2: 0.5, 4: x[1] * x[2]}, 0.0
    for k in range(n):
        gear = 2 if x[k] > 0.5 else 4
        s += ratios[gear] * x[k] + ratios.get(gear // 2 + k, x[5]) * x[k + 1]
    return s


@program(X6)
def dict_with_none_made_anew_on_one_path(x: Any) -> Any:
    best: dict[str, Any] = {"d": 100.0, "t": None, "rest": None}
    for k in range(4):
        d = np.sum((x[:2] - 0.3 * k) ** 2)
        if d < best["d"]:
            best = {"d": d, "t": x[k] * k, "rest": x - k}
    return best["d"] + best["t"] * best["rest"][3]


class _Field:
    def __init__(self) -> None:
        self.total: Any = 0

    def add(self, term: Any) -> None:
        self.total = self.total + term


@programs((X6, 3), (X6, 2))
def number_that_becomes_an_array(x: Any, n: Any) -> Any:
    field, product = _Field(), 1.0
    for k in range(n):
        wave: Any = 0.0
        for v in x[:2]:
            wave += np.sin(v * x + k)
        product = product * wave[::-1]
        field.add(wave * x[k])
    return np.sum(field.total * product)


# --- bound on some paths only ---------------------------------------------------------------------


@program(X6)
def unbound_before_the_first(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if i > 0:
            s += (x[i] - prev) ** 2
        prev = x[i] * x[0]
    return s


@program(X6)
def bound_in_the_first_iteration(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        if i == 0:
            start = v * v
        s += np.sin(v * start)
    return s


@program(X6)
def bound_before_continue(x: Any) -> Any:
    s, first = 0.0, True
    for v in x:
        if first:
            prev, first = v, False
            continue
        s += v * prev
        prev = v + 0.5 * prev
    return s


@programs((X6, True), (X6, False))
def bound_under_a_flag(x: Any, cavitates: Any) -> Any:
    s = np.sum(x * x)
    if cavitates and x[0] > -5.0:
        part = np.exp(x[1:] * 0.3)
        factor = part[0] * x[0]
    s = s * 0.5
    if cavitates:
        s += np.sum(part * factor)
    return s


@program(X6)
def a_dict_bound_in_a_branch(x: Any) -> Any:
    full = np.sum(x) > -100.0
    if full:
        info = {"a": x[0] * x[1], "parts": [x[2]]}
        info["b"] = x[1]
    if full:
        info["parts"].append(info["a"])
        return info["parts"][1] * info["b"] + info["parts"][0] ** 2
    return x[0]


@programs((X6, 1e-3), (X6, 1e-9))
def bound_in_a_while(x: Any, tolerance: Any) -> Any:
    n = 0
    while True:
        if n > 0 and abs(now - old) < tolerance:
            break
        old = now if n > 0 else 1.0 + x[0] * x[0]
        now = 0.5 * (old + (x[2] * x[2] + 2.0) / old)
        n += 1
    return now


@program(X6)
def the_last_that_a_loop_found(x: Any) -> Any:
    for k in range(len(x)):
        if x[k] < 0.9:
            at, found = k, x[k] * x[k]
    return found * (at + 1)


@programs((X6, 4), (X6, 0))
def what_a_loop_left_by_break_has(x: Any, limit: Any) -> Any:
    for k in range(6):
        step = x[k] * x[k]
        if k >= limit:
            half = step / 2.0
            break
        last = step
    return half + step * (last if limit > 0 else 1.0)


@programs((X6, -1.0), (X6, 10.0))
def bound_in_a_try(x: Any, least: Any) -> Any:
    try:
        if x[0] > least:
            raise ValueError("too much")
        y = x[1] * x[0]
    except ValueError:
        z = x[2] ** 2
    return z if x[0] > least else y


@programs((X6, 2), (X6, 1), (X6, 0))
def none_on_a_path_and_unbound_on_another(x: Any, n: Any) -> Any:
    if n == 2:
        y = None
    elif n == 1:
        y = x * x
    if n == 0:
        y = x
    return np.sum(x) if y is None else np.sum(y * x)


@programs((X6, 0), (X6, 1))
def unbound_again(x: Any, n: Any) -> Any:
    y = x * x
    if n > 0:
        s = np.sum(y)
        del y
    if n == 0:
        s = np.sum(y[1:] * y[0])
    return s


@program(X6)
def a_function_bound_in_a_branch(x: Any) -> Any:
    more = np.sum(x) > -100.0
    if more:
        scale = x[0]

        def scaled(v: Any) -> Any:
            return v * scale * x[1]

    return scaled(x[2]) if more else 0.0


@program(X6)
def unbound_before_a_generator_goes_on(x: Any) -> Any:
    def differences(v: Any) -> Any:
        for k in range(len(v)):
            if k > 0:
                yield v[k] - before * v[0]
            before = v[k]

    return sum(d * d for d in differences(x)) + sum(differences(2.0 * x))


@program(X6)
def a_list_bound_in_the_first_iteration(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        if k == 0:
            seen = []
        seen.append(x[k] * x[k + 1])
        total += seen[0] * x[k]
    return total + sum(seen)


@program(X6)
def rows_bound_before_the_loop_goes_on(x: Any) -> Any:
    rows = np.outer(x, x)
    s = 0.0
    for k in range(len(x)):
        row = rows[k]
        if k % 2:
            s += np.sum(row * held)
            held[0] = s
        else:
            held = row
    return s + np.sum(rows)


# --- refused --------------------------------------------------------------------------------------
_REFUSED: list[Program] = []
_refused = recorder(_REFUSED)


@_refused(X3, 0.5)
def write_to_an_array_that_may_be_another(x: Any, most: Any) -> Any:
    y = x * 1.0
    g = _clipped(y, most)
    g *= 2.0
    return np.sum(y * g)


@program(X3, 0.5)
def write_to_a_list_that_may_be_another(x: Any, most: Any) -> Any:
    grads = [x * 1.0, x * 2.0]
    clipped = _all_clipped(grads, most)
    grads[0] = x
    return np.sum(clipped[0])


@program(X3, 0.5)
def lists_that_may_be_one_in_a_loop(x: Any, most: Any) -> Any:
    new, best = [x[0], x[1]], [x[1], x[2]]
    for k in range(len(x)):
        new[0] = new[0] * 1.1 + k
        if new[0] < most:
            best = new
    return best[0] * best[1]


@program(X3, 2)
def lists_that_are_one_after_a_while_loop(x: Any, n: Any) -> Any:
    a, b = [x[0], x[1]], [x[1], x[2]]
    k = 0
    while k < n:
        k += 1
        b = [x[0], x[2]]
        a = b
    b[1] = x[1] * 1.5
    return a[0] * a[1]


@_refused(X3, 0.5)
def identity_of_lists_that_may_be_one(x: Any, most: Any) -> Any:
    grads = [x * 1.0, x * 2.0]
    return np.sum(x) if _all_clipped(grads, most) is grads else 2.0 * np.sum(x)


@_refused(X3, 2)
def write_to_what_is_none_or_another(x: Any, n: Any) -> Any:
    y, z = x * 2.0, x * 3.0
    a = None
    if n > 1:
        a = y
    elif n < 0:
        a = z
    if a is not None:
        a[0] = x[1]
    return np.sum(y * x)


@_refused(X3, 2)
def object_of_another_class_in_a_loop(x: Any, n: Any) -> Any:
    p: Any = _Node(x[0])
    for k in range(n):
        p = _Other(x[1] * k)
    return p.value * 2.0


class _Other:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.rest = None


#: Legal Python that is not supported, with a part of what adc says.
REFUSED: list[tuple[Program, str]] = [
    (p, text)
    for p, text in zip(
        _REFUSED,
        (
            "may or may not be the same array here",
            "may be one is not supported",
            "may or may not be the same array here",
            "'p' is a _Node before the loop at line",
        ),
        strict=True,
    )
]
