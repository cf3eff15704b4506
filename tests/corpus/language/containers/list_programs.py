# ruff: noqa: B905, RUF005
"""Programs with lists whose length is known only at run time, and lists at early exits."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, X6, Program, recorder

LIST_PROGRAMS: list[Program] = []
program = recorder(LIST_PROGRAMS, "list")


# --- lists that grow by arrays --------------------------------------------------------------------


@program(X3, M33, argnums=(0, 1))
def states_of_a_network(x: Any, w: Any) -> Any:
    states = []
    h = np.zeros(len(w))
    for v in x:
        h = np.tanh(w @ h + v)
        states.append(h)
    all_states = np.stack(states)
    return np.sum(all_states**2) + np.sum(states[-1] * states[0]) + np.sum(sum(states) * x)


@program(X3, M33, argnums=(0, 1))
def backward_pass_by_hand(x: Any, w: Any) -> Any:
    cache = []
    h = x
    for t in range(len(x) + 2):
        z = w @ h
        cache.append((h, z, 0.1 * t))
        h = np.tanh(z)
    g = np.ones(len(x))
    for before, z, rate in reversed(cache):
        g = w.T @ (g * (1.0 - np.tanh(z) ** 2)) + rate * before
    return np.sum(g * x)


class Step(NamedTuple):
    state: Any
    rate: Any
    kind: str


@program(X6)
def named_tuples_in_a_list(x: Any) -> Any:
    steps = [Step(x, 1.0, "first")]
    for v in x:
        last = steps[-1]
        steps.append(Step(np.sin(last.state) * v, last.rate * 0.9, "first"))
    s = 0.0
    for k, step in enumerate(steps):
        s += k * step.rate * np.sum(step.state) if step.kind == "first" else 0.0
    return s


@program(X3, M33)
def trajectory_that_starts_with_an_array(x: Any, w: Any) -> Any:
    path = [x]
    while len(path) < 40 and np.sum(path[-1] ** 2) > 1e-3:
        path.append(np.tanh(w @ path[-1]) * 0.9)
    s = 0.0
    for y in reversed(path):
        s = 0.5 * s + np.sum(y)
    return s + len(path)


@program(X3)
def arrays_in_a_constant_range(x: Any) -> Any:
    ys = []
    h = x
    for _ in range(40):
        h = np.sin(h) + 0.1 * x
        ys.append(h)
    return np.sum(np.array(ys) ** 2)


@program(X6)
def arrays_on_one_path(x: Any) -> Any:
    ys = []
    for v in x:
        if v > 0.5:
            ys.append(x * v)
    return sum(np.sum(y * y) for y in ys) + len(ys)


@program(X6)
def comprehensions_of_arrays(x: Any) -> Any:
    ys = [x * v for v in x]
    zs = [np.cos(y[1:]) for y in ys if y[0] < 1.0]
    s = np.sum(sum(x[1:] * z for z in zs))
    for k, (y, z) in enumerate(zip(ys, zs)):
        s += k * np.sum(y[:5] * z)
    return s + np.sum(np.mean(ys, axis=0))


@program(X6)
def arrays_joined(x: Any) -> Any:
    ys = [np.sin(x[:3] * v) for v in x]
    rows = [y[None, :] for y in ys]
    s = np.sum(np.concatenate(ys) * 2.0) + np.sum(np.vstack(ys)[1:] ** 2)
    s += np.sum(np.stack(ys, axis=1)[0] ** 3) + np.sum(np.hstack(rows)[0, ::2])
    s += np.sum(np.concatenate(rows, axis=0)[2]) + np.sum(np.column_stack(ys)[1] ** 2)
    return s + np.sum(np.concatenate(rows, axis=None)[:4]) + np.sum(np.dstack(ys)[0, 1])


class History:
    def __init__(self) -> None:
        self.kept: list[Any] = []

    def push(self, v: Any) -> None:
        self.kept.append(v)


def _recorded(log: Any, v: Any) -> Any:
    log.push(v)
    return v * 0.5


@program(X6)
def history_in_an_object(x: Any) -> Any:
    log = History()
    h = x
    for v in x:
        h = _recorded(log, np.sin(h + v))
    return np.sum(log.kept[2] * h) + len(log.kept)


@program(X3)
def lists_in_two_loops(x: Any) -> Any:
    everything = []
    s = 0.0
    for v in x:
        inner = []
        for u in x:
            inner.append(x * (u * v))
            everything.append(inner[-1] + 1.0)
        s += np.sum(np.array(inner)[:, 0])
    return s + np.sum(np.array(everything)[:, 1] ** 2)


@program(X6)
def lists_that_change_names(x: Any) -> Any:
    ys, zs = [], []
    for v in x:
        ys.append(x * v)
        zs.append(np.sin(x) * v)
    ys, zs = zs, ys
    return np.sum(ys[0]) + 2.0 * np.sum(zs[1])


@program(X6)
def stack_of_arrays(x: Any) -> Any:
    stack = []
    for v in x:
        stack.append(x * v)
        if len(stack) > 2:
            a = stack.pop()
            b = stack.pop()
            stack.append(a * b + 1.0)
    s = 0.0
    while stack:
        s = 0.5 * s + np.sum(stack.pop())
    return s


@program(X6)
def elements_that_were_replaced(x: Any) -> Any:
    ys = [x * v for v in x]
    first = ys[0]
    previous = x
    for k in range(len(ys)):
        y = ys[k]
        ys[k] = 2.0 * y + previous
        previous = y
    ys[1], ys[2] = ys[2], ys[1]
    return np.sum(first * ys[0]) + np.sum(previous * ys[1])


@program(X6)
def elements_that_were_taken_off(x: Any) -> Any:
    ys = [x * v for v in x]
    a = ys[-1]
    b = ys.pop()
    ys.append(x * x)
    c = ys[-1]
    ys.clear()
    ys.append(np.sin(x))
    return np.sum(a * b) + 2.0 * np.sum(c) + 3.0 * np.sum(ys[0])


@program(X3)
def elements_of_a_list_that_was_enlarged(x: Any) -> Any:
    ys = [x * v for v in x]
    a = ys[1]
    for k in range(40):
        ys.append(a * (k + len(ys)))
    return np.sum(a * ys[-1])


@program(X6)
def element_that_is_carried(x: Any) -> Any:
    ys = []
    last = x
    for v in x:
        ys.append(0.9 * last + v)
        last = ys[-1]
        ys[-1] = x
        ys.append(last)
    chosen = ys[0] if x[0] > 10.0 else last
    return np.sum(last * chosen) + np.sum(ys[3])


@program(X6)
def arrays_changed_before_they_are_appended(x: Any) -> Any:
    ys = []
    a = x * 1.0
    for v in x:
        a += v
        ys.append(a.copy())
        a = a * 0.5
        a[0] = v
        ys.append(a)
        a = a + 1.0
    return np.sum(ys[0] * ys[-1]) + np.sum(ys[3])


@program(X3)
def list_that_its_own_index_lengthens(x: Any) -> Any:
    a = [x[0], 2.0]

    def more() -> int:
        a.append(x[1] * x[2])
        return 0

    a[more()] = 3.0 * x[2]
    a[: more() + 1] = [a[0] * x[0], a[more() - 1]]
    return a[more()] * a[more() - 2] + len(a) * a[2]


@program(X6)
def lists_sliced_and_added(x: Any) -> Any:
    ys = [x * v for v in x]
    zs = ys[1:]
    zs += [x, x * x]
    zs.extend(ys[::-2])
    both = [np.cos(x)] + zs + ys
    copied = both.copy()
    copied.append(x)
    copied.reverse()
    s = 0.0
    for y in copied:
        s = 0.7 * s + np.sum(y)
    return s + len(both)


@program(X6)
def windows_in_a_list(x: Any) -> Any:
    found = []
    for i in range(len(x) - 1):
        for j in range(2):
            found.append(x[i : i + 2] * (j + 1.0))
    return np.sum(np.stack(found) ** 2 * x[0])


@program(X6)
def pairs_of_two_arms_in_a_list(x: Any) -> Any:
    pairs = [(1.0, x[0])]
    for v in x:
        if v > 0:
            pairs.append((v, v * v))
        else:
            pairs.append((2.0, np.exp(v)))
    return sum(a * b for a, b in pairs)


@program(X6)
def list_that_nested_loops_read_and_extend(x: Any) -> Any:
    found = [x[0]]
    for i in range(len(x)):
        found.append(x[i] * found[i])
        for j in range(2):
            found.append(np.sin(x[i]) * found[-1 - j])
    return sum(found)


@program(X6)
def list_that_is_copied_on_one_path(x: Any) -> Any:
    found = [v * v for v in x]
    for v in x:
        if v > 0:
            found = found[:]
        found.append(v * found[-2])
    return sum(found)


@program(X6)
def stack_that_sometimes_shrinks(x: Any) -> Any:
    found = [x[0]]
    s = 0.0
    for v in x:
        found.append(v)
        found.append(v * v)
        if v > 0:
            s += found.pop() * found.pop()
    return s + len(found) * found[-1]


@program(X6, -2, argnums=(0,))
def list_of_a_negative_range(x: Any, n: Any) -> Any:
    found = [x[0]]
    for i in range(n):
        found.append(x[i])
    for v in x:
        found.append(v * v)
    return sum(found) * len(found)


@program(X6, tags="exit")
def list_at_early_exits(x: Any) -> Any:
    ys = []
    h = x
    for v in x:
        h = np.sin(h * v)
        if v < -1.0:
            continue
        ys.append(h)
        if v > 2.0:
            break
        if v > 100.0:
            return np.sum(ys[0])
    return np.sum(ys[-1]) + len(ys)


# --- containers that are changed where a path is left ---------------------------------------------


@program(X6, tags="exit")
def list_of_a_loop_that_is_left(x: Any) -> Any:
    ys = []
    h = x
    for k in range(6):
        h = np.sin(h) * 1.5
        ys.append(h)
        if np.sum(h) < x[k]:
            break
    return np.sum(ys[-1]) + len(ys)


@program(X6, tags="exit")
def list_of_copies_that_continue(x: Any) -> Any:
    ys = [1.0]
    for k in (0, 1, 2):
        if x[k] > 0.0:
            continue
        ys.append(x[k])
    return sum(ys) * len(ys)


def _pushed(values: Any, v: Any) -> Any:
    if v > 0.0:
        return 0.0
    values.append(v * v)
    return v


@program(X6, tags="exit")
def helper_that_returns_early(x: Any) -> Any:
    ys: list[Any] = []
    s = _pushed(ys, x[0]) + _pushed(ys, x[1]) + _pushed(ys, x[2])
    return s + sum(ys) * len(ys)


def _some(x: Any) -> Any:
    ys = [x[0]]
    if x[0] > 0.0:
        return ys
    ys.append(x[1])
    return ys


@program(X3, tags="exit")
def returned_lists_of_two_lengths(x: Any) -> Any:
    return sum(_some(x)) * len(_some(x)) + sum(_some(-x)) * len(_some(-x))


# --- lists of tuples ------------------------------------------------------------------------------


class _Node(NamedTuple):
    place: Any
    mass: Any


@program(X6)
def arrays_of_tuples_in_a_list(x: Any) -> Any:
    points, nested, nodes = [], [], []
    for v in x:
        if v > -0.4:
            points.append((np.sin(v), v * v))
            nested.append(((v, 2), (v * v, v**3)))
            nodes.append(_Node(v, 2.0 * v))
    a, b, c = np.array(points), np.array(nested), np.asarray(nodes)
    steps = np.sum(np.diff(a, axis=0) ** 2) + np.vstack(points)[0, 1] + np.mean(points)
    return np.sum(a[:, 0] * a[:, 1]) + steps + np.sum(b[:, 0, 0] * b[:, 1, 1]) + c[1] @ c[0]


@program(M33)
def arrays_of_tuples_of_rows(w: Any) -> Any:
    pairs = []
    for row in w:
        if row[0] > -9.0:
            pairs.append((2.0 * row, np.cos(row)))
    a = np.array(pairs)
    return np.sum(a[:, 0] * a[:, 1]) + a.shape[2] * a[0, 1, 2]


# --- lists in the order of keys -------------------------------------------------------------------


@program(X6)
def lists_sorted_by_keys(x: Any) -> Any:
    squares, large = sorted(x, key=lambda v: v * v), sorted(x, key=abs, reverse=True)
    pairs = [(v, k) for k, v in enumerate(x) if v > -9.0]
    pairs.sort(key=lambda pair: pair[0], reverse=True)
    places = sorted(range(len(x)), key=lambda k: x[k])
    total = sum((k + 1) * v * n for n, (v, k) in enumerate(pairs)) + large[0] * large[1]
    return (
        total
        + sum(k * v for k, v in enumerate(squares))
        + sum(k * x[p] for k, p in enumerate(places))
    )


@program(X6)
def few_elements_sorted_by_keys(x: Any) -> Any:
    nodes = sorted([_Node(x[k], x[k + 1]) for k in range(3)], key=lambda node: node.place)
    named = {"a": x[0], "b": x[1], "c": x[2]}
    top = sorted(named.values(), key=lambda v: -v)[:2]
    ties = [(1.0 * x[0], 1), (x[0] * 1.0, 2), (x[2], 3)]
    up, down = sorted(ties, key=lambda p: p[0]), sorted(ties, key=lambda p: p[0], reverse=True)
    total = sum(k * node.place * node.mass for k, node in enumerate(nodes))
    total += sum(k * v * n for k, (v, n) in enumerate(up)) * top[0]
    return total + 10.0 * sum(k * v * n for k, (v, n) in enumerate(down)) + top[1]


@program(M33)
def rows_sorted_by_keys(w: Any) -> Any:
    asked = []

    def key(row: Any) -> Any:
        asked.append(1.0)
        return row[0]

    rows = sorted([row for row in w], key=key)
    return sum(k * np.sum(row**2) for k, row in enumerate(rows)) + len(asked) * w[0, 1]


# --- refused --------------------------------------------------------------------------------------

_REFUSED: list[Program] = []
_refused = recorder(_REFUSED)


@_refused(X3)
def appended_array_is_changed_after_the_loop(x: Any) -> Any:
    ys = []
    a = x * 1.0
    for _ in x:
        ys.append(a)
    a[0] = 5.0
    return np.sum(ys[0])


@_refused(X3)
def one_array_is_appended_again_and_again(x: Any) -> Any:
    ys = []
    a = x * 1.0
    for v in x:
        a[0] = v
        ys.append(a)
    return np.sum(ys[0])


@_refused(X3)
def appended_array_is_changed_in_the_next_iteration(x: Any) -> Any:
    ys = []
    a = x * 1.0
    for v in x:
        a[0] = v
        a = a * 2.0
        ys.append(a)
    return np.sum(ys[0])


@_refused(X3)
def array_behind_an_appended_view_is_changed(x: Any) -> Any:
    ys = []
    z = x * 2.0
    for _ in x:
        ys.append(z[1:])
    z[1] = 2.0
    return np.sum(ys[0])


@_refused(X3)
def array_that_may_be_appended_is_changed(x: Any) -> Any:
    ys = []
    a = x * 1.0
    for v in x:
        if v > 0.0:
            ys.append(a)
        else:
            a = a * 2.0
        a[0] += v
    return np.sum(np.array(ys))


@_refused(X3)
def element_is_changed(x: Any) -> Any:
    ys = [x * v for v in x]
    ys[0][0] = 3.0
    return np.sum(ys[0])


@_refused(X3)
def element_is_augmented(x: Any) -> Any:
    ys = [x * v for v in x]
    ys[0] *= 2.0
    return np.sum(ys[0])


@_refused(X3)
def elements_are_changed_in_a_loop(x: Any) -> Any:
    ys = [x * v for v in x]
    for y in ys:
        y += 1.0
    return np.sum(ys[0])


@_refused(X3)
def element_that_was_taken_off_is_changed(x: Any) -> Any:
    z = x * 1.0
    ys = []
    for _ in x:
        ys.append(z)
    a = ys.pop()
    a[0] = 100.0
    return np.sum(z)


@_refused(X3)
def element_that_may_be_another_array_is_changed(x: Any) -> Any:
    ys = [x * v for v in x]
    a = ys[0] if x[0] > 0.0 else x * 2.0
    a[0] = 100.0
    return np.sum(ys[0])


@program(X3)
def dict_of_a_loop_that_is_left(x: Any) -> Any:
    d = {"a": x[0]}
    s = 0.0
    for v in x:
        if v < 0.0:
            d["b"] = v
            break
        s += v
    return s + len(d)


@program(X3)
def dict_that_a_helper_leaves_early(x: Any) -> Any:
    d = {"a": x[0]}

    def put(v: Any) -> None:
        if v > 0.0:
            return
        d["b"] = v

    put(x[1])
    return x[0] * len(d)


@program(X3)
def dict_of_an_iteration_that_continues(x: Any) -> Any:
    d = {"a": x[0]}
    s = 0.0
    for v in x:
        if v < 0.0:
            d["b"] = v
            continue
        s += v * len(d)
    return s


_CHANGED = "may be in this list and was changed"
_WRITTEN = "an array in a list whose length is known only at run time would be changed"

#: Legal Python that is not supported, with a part of what adc says.
REFUSED: list[tuple[Program, str]] = list(
    zip(
        _REFUSED,
        (
            *[_CHANGED] * 5,
            *[_WRITTEN] * 5,
        ),
        strict=True,
    )
)


# --- lists as ordinary programs write them --------------------------------------------------------


@program(X3, 5, argnums=(0,))
def list_times_a_number(x: Any, n: Any) -> Any:
    best = [0] * (n + 1)
    least = [float("inf")] * n
    for i in range(1, n + 1):
        best[i] = best[i - 1] * 0.5 + x[i % 3]
        least[i - 1] = min(least[i - 1], best[i] ** 2)
    return best[n] + sum(least)


@program(X3, 3, argnums=(0,))
def list_of_the_previous_iteration(x: Any, n: Any) -> Any:
    previous = [v for v in x]
    for _ in range(n):
        current = [previous[0]]
        for j in range(1, len(x)):
            current.append(min(previous[j], current[j - 1] + x[j]) * x[0])
        current[0] += previous[1]
        previous = current
    current[1] *= 2.0
    return previous[0] * previous[1] + current[-1]


@program(X3, np.array([1.0, 2.0]), argnums=(0, 1))
def arrays_of_lists_of_lists(x: Any, y: Any) -> Any:
    kernel = np.array([[np.exp(-((a - b) ** 2)) for a in x] for b in x]) + np.eye(len(x))
    rows = np.array([[a, a * a, 1.0] for a in y])
    pairs = np.array([(a, a * a) for a in x])
    cube = np.array([[[a * b + c for a in x] for b in y] for c in x])
    return (
        kernel.sum() * np.mean([[np.sin(a * b) for a in x] for b in y])
        + np.linalg.norm(pairs, axis=1).sum() * rows.sum() + cube.sum()
    )  # fmt: skip


@program(X3)
def list_of_an_array(x: Any) -> Any:
    values = x.tolist()
    values[1] = values[0] * values[2]
    flags, counts = (x > 0.7).tolist(), np.arange(len(x)).tolist()
    return sum(values) + sorted((x + 1).tolist())[0] + (x[1] if flags[1] else x[2]) * counts[2]


@program(X3)
def list_of_a_matrix(x: Any) -> Any:
    rows = np.outer(x, np.sin(x)).tolist()
    for row in rows:
        row.append(sum(row))
    return sum(map(sum, rows)) * rows[2][3]


@program(np.array([0.6, 0.8, 1.1]))
def variables_named_as_what_they_go_over(x: Any) -> Any:
    squares = [x**2 for x in x]
    x = np.outer(x, squares)
    return sum([x @ x * k for k, x in enumerate(x)]) + sum(np.sin(x) for x in x for x in x)


@program(np.array([0.6, 0.8, 1.1]))
def numbers_of_numpy_as_numbers_of_python(x: Any) -> Any:
    found = {"t": x[0].tolist(), "s": np.sum(x).tolist(), "a": np.asarray(x[1]).tolist()}
    return found["t"] * found["s"] + found["a"] ** 2


@program(X3)
def arguments_that_are_an_array(x: Any) -> Any:
    f: Any = lambda a, b, c: a * b + c  # noqa: E731

    def g(a: Any, b: Any) -> Any:
        return a / b

    point = _Point(1.0, *(x * 2.0))
    return point.x * point.z + np.hypot(*x[:2]) + f(*x) + g(*x[1:])


class _Point(NamedTuple):
    w: Any
    x: Any
    y: Any
    z: Any


@program(X3, 3, argnums=(0,))
def element_of_least_key(x: Any, k: Any) -> Any:
    centres = x[:k] * 1.5
    j = min(range(k), key=lambda j: abs(0.4 - centres[j]))
    far = max(x, key=lambda v: abs(v - 0.35))
    squares = [v * v for v in x]
    return centres[j] * far + max(squares, key=lambda v: -v)


@program(X6, M33, argnums=(0, 1))
def starred_targets(x: Any, m: Any) -> Any:
    first, *rest = x
    *most, last = [v * 2.0 for v in x]
    head, *middle, end = (x[0], x[1], x[2], x[3])
    s = first * rest[0] + last * most[1] * len(most) + head * sum(middle) * end
    top, *others = m
    for a, *b in m:
        s += a * sum(b)
    for k, (a, *b) in enumerate([(x[0], x[1], x[2]), (x[1], x[3], x[0])]):
        s += k * a * sum(b)
    return s + np.sum(top * others[1])


@program(X6, 5, argnums=(0,))
def elements_taken_from_the_front(x: Any, n: Any) -> Any:
    window: list[Any] = []
    arrays: list[Any] = []
    s = 0.0
    for k in range(n):
        window.append(x[k] * k)
        arrays.append(x[:3] * k)
        if len(window) > 3:
            s += window.pop(0) + np.sum(arrays.pop(0) * x[3:])
            del window[1]
        s += sum(window) / len(window) + np.sum(sum(arrays) * arrays[0])
    window.insert(0, x[5])
    while window:
        s = 0.5 * s + window.pop(0)
    known = [x[0], x[1], x[2], x[3]]
    del known[1:3]
    for _ in range(n - 3):
        s = s * 0.9 + known.pop()
    return s


@program(X6)
def lists_sorted_in_place(x: Any) -> Any:
    values, known, negative = x.tolist(), [x[2], x[0], x[1]], []
    for v in x:
        negative.append(-v)
    values.sort()
    known.sort(reverse=True)
    negative.sort()
    return values[0] * values[1] + known[0] * known[1] ** 2 + negative[0] * negative[3]


@program(X6, 3, argnums=(0,))
def list_that_some_iterations_make_shorter(x: Any, n: Any) -> Any:
    items = [x[0], x[1], x[2]]
    k = 0
    while k < n and items:
        if x[k] > 0:
            items.pop()
        k += 1
    return sum(items) + len(items) * x[3]


@program(X6)
def other_length_in_the_next_iteration(x: Any) -> Any:
    items = [x[0]]
    s = 0.0
    for i in range(len(x)):
        s += sum(items)
        if i == 4:
            break
        items = [x[i], x[i], x[i]]
    return s


@program(X3)
def a_list_equals_no_tuple(x: Any) -> Any:
    pair: Any = [x[0], x[1]]
    return x[2] if pair == (x[0], x[1]) else x[0] * x[1]


@program(X3)
def an_array_added_to_a_list(x: Any) -> Any:
    items = kept = [x[0], x[1], 2.0]
    items += x * x  # NumPy adds: a new array
    return items[0] * items[2] + len(kept) * len(items) * x[1]


@program(X6, 2)
def slices_of_iterators_that_are_empty(x: Any, n: Any) -> Any:
    s = x[0]
    for v in itertools.islice(x, n, 0):
        s += v * v
    for k, v in enumerate(itertools.islice(x, 1, None, n)):
        s += k * v * v
    return s


@program(X6)
def loop_over_many_numbers_in_a_list(x: Any) -> Any:
    targets = [0.5] * 15 + [x[1]] * 10 + [2.0] * 10
    speed, total = x[0], 0.0
    for k, target in enumerate(targets):
        speed += 0.3 * np.sin(target - speed) * x[k % 6]
        total += speed * target
    return total


# --- names of several kinds, and lists first made in loops ----------------------------------------


@program(M33, 3)
def a_name_for_rows_labels_and_numbers(x: Any, n: Any) -> Any:
    row: Any = x[0]
    s = np.sum(row * row)
    for row in range(n):
        s += x[row, 0] * row
    for row in ("a", "bb"):
        s += len(row) * x[1, 1]
    for row in x:
        if row[0] > 0.5:
            continue
        s += row[0] * row[1]
    return s


@program(X6, 3)
def history_compared_with_the_one_before(x: Any, n: Any) -> Any:
    losses: Any = []
    for k in range(n):
        x = x - 0.1 * np.sin(x)
        losses.append(np.sum(x * x))
        if k > 0 and abs(losses[-1] - losses[-2]) < 1e-9:
            break
    return losses[-1] * losses[0]


@program(X3)
def gradients_of_the_last_epoch(x: Any) -> Any:
    for k in range(3):
        x = x - 0.1 * np.sin(x)
        grads: Any = {"w": np.cos(x) * k, "all": [x * x, x[0]]}
        best = grads["all"]
    best[0][1] = 2.0
    return np.sum(grads["w"] * grads["all"][0]) + best[1]


@program(X3)
def arrays_in_a_list_first_made_in_a_loop(x: Any) -> Any:
    for k in range(3):
        z = x * k
        pair = [z, z]
    pair[0][0] = 9.0
    return np.sum(z * x) + np.sum(pair[1])


def _converged(x: Any, most: Any) -> Any:
    for k in range(4):
        for j in range(2):
            x = x - 0.3 * np.sin(x)
            if np.sum(x * x) < most:
                return {"x": x, "at": [k, j], "history": [x[0], x[1]]}
        if x[0] < 0.1:
            return {"x": x * 3.0, "at": [k, -1], "history": [x[1], x[0]]}
    return {"x": x * 2.0, "at": [9, 9], "history": [1.0, x[2]]}


@program(X3)
def results_from_loops_in_loops(x: Any) -> Any:
    total = 0.0
    for most in (0.1, 0.5, 50.0):
        found = _converged(x, most)
        found["x"][0] *= 2.0
        found["history"][1] += x[0]
        total += np.sum(found["x"] ** 2) * (1 + found["at"][0]) + found["history"][1]
    return total


class _Layer:
    def __init__(self, w: Any, act: Any) -> None:
        self.w = w
        self.act = act

    def __call__(self, x: Any) -> Any:
        return self.act(self.w @ x)


class _Layers:
    def __init__(self, *layers: Any) -> None:
        self.layers = list(layers)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def _step(f: Any, y: Any, h: Any) -> Any:
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(X3, M33, argnums=(0, 1))
def layers_that_hold_inner_functions(x: Any, w: Any) -> Any:
    """What they read is passed to functions that calls share; lowering begins again for these."""
    scale = x[0]
    net = _Layers(_Layer(w, lambda z: np.tanh(z * scale)), _Layer(w, lambda z: z))
    y = x
    for _ in range(3):
        scale = scale * 0.9
        y = _step(net, y, 0.1)
        y = _step(net, y, 0.2)
    return np.sum(y * y)


def _applied(n: Any, net: Any, y: Any) -> Any:
    return y if n == 0 else _applied(n - 1, net, net(y))


@program(X3, M33, 3, argnums=(0, 1))
def recursion_over_an_object_with_inner_functions(x: Any, w: Any, n: Any) -> Any:
    scale = x[0]
    net = _Layer(w, lambda z: np.tanh(z * scale))
    y = _applied(n, net, x)
    scale = 0.5
    return np.sum(y * y) + np.sum(_applied(n + 1, net, x))


def _log_sum_exp(values: Any) -> Any:
    highest = np.max(values)
    return highest + np.log(np.exp(values - highest).sum())


@program(X3, M33, argnums=(0, 1))
def lists_minus_a_number_of_numpy(x: Any, w: Any) -> Any:
    """`list - float` fails; `list - np.float64` is an array, also of a list of any length."""
    found = [_log_sum_exp([x[k] * w[k, j] for k in range(3)]) for j in range(3)]
    grown = []
    for v in x:
        grown.append(v * found[0])
    found += x[1]
    return np.sum(found * x) + np.sum((grown / w[0, 0]) ** 2) + np.sum(x[2] - (x[0], 1.0))
