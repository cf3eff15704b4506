"""Programs of arrays and containers on which adc was wrong, found by `fuzz_arrays` and shrunk.

Each is a plain function with sample arguments; `test_array_programs_found` checks values,
gradients and all stages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Fn = Callable[..., Any]
FOUND: list[tuple[Fn, tuple[Any, ...]]] = []

_X = np.array([0.7301, -0.4179, 1.1023])
_A = np.array([[0.5127, -0.8213, 0.3391], [1.0471, 0.2239, -0.6143]])


def found(*args: Any) -> Callable[[Fn], Fn]:
    def enter(fn: Fn) -> Fn:
        FOUND.append((fn, args))
        return fn

    return enter


@found(_X, _A)
def ufunc_at_with_a_list_of_indices(x: Any, a: Any) -> Any:
    # The list was taken for a tuple: one element was changed instead of two rows.
    np.add.at(a, [1, 1], np.sin(x))
    np.subtract.at(x, [0, -1, 0], 0.5)
    return np.sum(a * a) + np.sum(x * x)


@found(_X, _A)
def putmask_with_an_array_of_values(x: Any, a: Any) -> Any:
    np.putmask(x, x > 0.1337, np.cos(x))
    np.putmask(a, a[:, ::-1] > 0.1337, a * a)
    return np.sum(x * x) + np.sum(a)


@found(_X, 2)
def maximum_of_one_element_known_to_be_one(x: Any, n: Any) -> Any:
    y = x[n, np.newaxis]
    return max(y) * np.max(y)


@found(_X)
def mask_of_one_element_known_to_be_one(x: Any) -> Any:
    y = x[0, None]
    y[y > 0.1337] += 0.2
    return np.sum(x * x)


@found(_X, _A)
def expressions_stored_in_a_list(x: Any, a: Any) -> Any:
    # The list kept the expression: every use computed another array.
    rows = [x * 2.0, a[0]]
    rows[0] = x * 3.0
    for row in rows:
        row *= 2.0
    return rows[0] @ rows[1] + a.sum()


@found(_X, _A)
def loops_over_expressions_by_enumerate_and_zip(x: Any, a: Any) -> Any:
    s = 0.0
    for i, row in enumerate(a * 2.0):
        row *= x
        s += row.sum() * i
    for row, other in zip(a + 1.0, a, strict=False):
        row[1] = 0.3
        other[0] = row.sum()
    for row in reversed(np.sin(a)):
        s = 0.5 * s + row[0]
    return s + a.sum()


@found(_X, 1)
def number_stored_at_a_computed_index_of_a_list(x: Any, n: Any) -> Any:
    items = [x[0], x[1], 0.5]
    for i in range(len(items)):
        items[i] *= 0.5 + i
    items[-n] = x[2] * items[n]
    return sum(items) * items[n + 1]


@found(_X)
def comprehension_with_a_condition_on_values(x: Any) -> Any:
    items = [x[0], x[1], 0.5]
    some = [v * v for v in items if v > 0.1337]
    return sum(some) + len(some) + sum(v for v in items if v < 0.1337) * some[-1]


@found(_X)
def list_that_grows_on_one_path(x: Any) -> Any:
    items = [x[0]]
    if x[1] < 0.1337:
        items.append(x[1])
    for v in (0.1, x[2]):
        if v > 0.2337:
            items.append(v * x[0])
    s = items[0] if items else 0.0
    for v in items:
        s = 0.5 * s + v
    return s * len(items)


@dataclass(frozen=True)
class _Rate:
    k: float

    def __call__(self, v: Any) -> Any:
        return self.k * v

    @property
    def twice(self) -> Any:
        return 2.0 * self.k


@found(_X)
def frozen_dataclass_that_is_called(x: Any) -> Any:
    rate = _Rate(x[0])
    return rate(x[1]) * rate.twice


@found(_X)
def builtin_list_dict_and_isinstance(x: Any) -> Any:
    p = dict(w=x * 2.0, u=x[0])
    p["w"][0] = 0.3
    q = dict(p, u=x[1])
    q["w"] *= x
    items = list((x[1], x[2]))
    items[0] = 0.5
    scale = 2.0 if isinstance(x, np.ndarray) and not isinstance(items, tuple) else 1.0
    return scale * sum(items) * p["w"].sum() * q["u"]


@found(_X)
def list_made_in_each_of_two_loops(x: Any) -> Any:
    s = 0.0
    for v in (0.5, 1.5):
        for i in range(3):
            items = [v, x[i]]
            items[0] *= x[0]
            s += items[0] * items[1]
    for v in x:
        items = [v, s]
        s += 0.1 * items[0] * items[1]
    return s


@found(_X, _A)
def broadcast_to_is_a_view(x: Any, a: Any) -> Any:
    # The copy did not see what was written later.
    y = np.broadcast_to(x, (2, 3))
    z = np.broadcast_to(a[:, 1:2], (2, 3))
    x[0] = 0.5
    a[1, 1] *= x[2]
    return np.sum(y * a) + np.sum(z * y)


@found(_X, _A)
def slices_of_one_element_are_broadcast(x: Any, a: Any) -> Any:
    # What the hint of the error recommends was itself an error.
    x -= x[:1] * x[-1:]
    a[:] = a[:, 1:2] * a[-2:-1] + x[1:2]
    return np.sum(np.where(a > 0.1337, x[:1], a[:, :1])) + np.sum(a * a)


@found(_X)
def key_in_a_dict(x: Any) -> Any:
    p = {"u": x[0], 1: x[1]}
    del p["u"]
    s = 2.0 if "u" in p else x[2]
    return s * p[1] if 1 in p and "v" not in p else s


@found(_X, np.outer(_X, _X))
def fill_diagonal_with_an_array(x: Any, a: Any) -> Any:
    np.fill_diagonal(a, x)
    np.fill_diagonal(a[1:], np.sin(x[:2]))
    return np.sum(a * np.arange(9.0).reshape(3, 3))


@found(_X)
def lists_that_grow_at_two_depths(x: Any) -> Any:
    items = [x[0]]
    for u in x:
        for _ in range(2):
            some = [0.1]
            if u > 0.1337:
                some.append(u)
            squares = [v * v for v in x]
            items[0] += some[-1] * squares[1]
        items.append(0.5 * u)
    return sum(items) * items[0]


@found(_X)
def lists_that_change_under_a_loop(x: Any) -> Any:
    some = [x[0], x[1], x[2]]
    s = 0.0
    for u in some:
        some[1] = 0.5 * u
        some = some[:]
        s += u * u
    for i, u in enumerate(some):
        s += u * i
        if i < 3:
            some.append(0.5 * u * x[2])
    for u in reversed(some):
        some[0] = 0.5 * u
        s += u * u
    for u in some:
        some.pop()
        s += 0.3 * u * u
    return s


@found(_X)
def dicts_that_change_under_a_loop(x: Any) -> Any:
    p = {"a": x[0], "b": x[1]}
    views = p.values(), p.items()
    s = 0.0
    for _, v in p.items():
        p["b"] = v * v
        s += v * v
    for i, v in enumerate(views[0]):
        p["b"] = v * x[2]
        s += (i + 1) * v
    return s + sum(views[0]) + len(views[1]) + max(p.values()) + sum(v * v for _, v in views[1])


@found(_X)
def arrays_under_a_loop_bound_anew_before(x: Any) -> Any:
    s = 0.0
    for u in x.copy():
        x[1] = u * 0.5
        x = x.copy()
        s += u * u
    for u in x:
        x[1] = u * 0.5
        s += u * u
    for u in x:
        x = x + u
        s += np.sum(x * x)
    return s


@found(np.linspace(-1.0, 1.2, 15).reshape(5, 3), np.array([0.3, 0.9, -0.4]))
def loops_that_meet_behind_a_store(a: Any, b: Any) -> Any:
    t = np.clip(a[:, ::-1], -0.81, 0.33) * 1.0
    b[:] = np.arctan2(b * a[1:4, 0], 1.2 + np.sin(a[1:4] @ t.diagonal()) ** 2)
    a[:-4:-1, 1] = np.sin(np.sum(a))
    return np.sum(b * b) + np.sum(a) * 0.3 + np.sum(t[:, :2] ** 2)


@found(np.array([0.2, 0.9, 0.7, 0.8]))
def as_often_as_a_counter_that_is_taken_back(x: Any) -> Any:
    for k, _ in enumerate(x):
        for _ in range(k):
            x[0:3] *= x[1:4]
        if x[0] < 0.1:
            break
    return np.sum(x * np.arange(1.0, 5.0))


@found(np.array([0.2, 0.7, -0.3]), 3)
def arrays_that_rotate_through_names(x: Any, n: Any) -> Any:
    # Only the name that a strided array had on entry was known to hold one: a verifier's error.
    a, b, c = x * 1.0, x * 2.0, x
    for _ in range(n):
        a, b, c = b, c, np.sin(a) + b * c
    return np.sum(a * a) + np.sum(c)


def arrays_appended_on_one_path(x: Any) -> Any:
    ys = []
    for i in range(4):
        if i % 2 == 0:
            ys.append(x * i)
    return np.sum(ys[-1] * x) + len(ys)


@found(_A, _X)
def quotients_and_remainders_as_a_tuple(a: Any, w: Any) -> Any:
    b = a + 2.0
    t = np.divmod(b, w + 3.0)
    b *= 3.0
    try:
        t = np.divmod(b, w + 3.0)
    except ValueError:
        b *= 0.5
    return np.sum(np.sin(t[1]) + 0.1 * t[0]) + np.sum(b)
