# ruff: noqa: B905, RUF005, RUF007
"""Programs that hold arrays and numbers in Python's data structures, and the 18 numbered ones."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.arrays.array_programs import M23, M33, M34, weighted
from tests.corpus.program import P4, X3, X6, Program, recorder

LANGUAGE_PROGRAMS: list[Program] = []
program = recorder(LANGUAGE_PROGRAMS)

# --- numbered programs ----------------------------------------------------------------------------


@program(X6)
def p1(x: Any) -> Any:
    y = x * 1.0
    z = y
    z[1:4] = y[0:3] * y[1:4]
    memo = {"scale": y[0]}
    parts = []

    def twist(v: Any) -> Any:
        return v * memo["scale"] + np.sin(v)

    for i in range(6):
        if y[i] < -5.0:
            continue
        if i == 5:
            break
        y[i % 3] += twist(x[i])
        parts.append(y[i] if y[i] > 0 else -y[i] * x[0])
        memo["scale"] = memo["scale"] * 0.9 + x[i]
    s = parts[0]
    while s < 20.0:
        s = s * s + 1.5
    a, b = parts[1], s
    for i in range(3):
        a, b = b, a * 0.1 + x[i]
    A = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            A[i, j] = y[i] * x[j + 1]
    return np.sum(np.dot(A, A)) + a * b + memo["scale"] + np.sum(z) + sum(parts)


@program(X6)
def p2(x: Any) -> Any:
    a = x * 1.0
    a[0] = a[0] * a[0]
    a[0] = np.sin(a[0])
    return np.sum(a * x)


@program(X6)
def p3(x: Any) -> Any:
    a = x * 1.0
    b = a[1:]
    b[0] = b[0] * x[0]
    return np.sum(a * a)


@program(X6, tags="while")
def p4(x: Any) -> Any:
    s = x[0]
    while s < 5:
        s = s * s + 1
    return s * x[1]


@program(X6, tags="exit")
def p5(x: Any) -> Any:
    s = x[0]
    for _ in range(10):
        s = s * s + 0.5
        if s > 5:
            break
    return s * x[1]


@program(X6, tags="exit")
def p6(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        s += x[i] * x[i]
        if s > 2.0:
            return s * x[0]
    return s


@program(X6, tags="mutates")
def p7(x: Any) -> Any:
    x[0] = x[0] * x[0]
    return np.sum(x * x)


@program(X6)
def p8(x: Any) -> Any:
    y = np.zeros(6)
    y[1:4] = x[0:3] * x[1:4]
    y[2:5] += x[2:5]
    return np.sum(y * y)


@program(X6)
def p9(x: Any) -> Any:
    y = np.zeros(3)
    for i in range(6):
        y[i % 3] += x[i] * x[i]
    return np.sum(y * y)


@program(X6, tags="mutates alias")
def p10(x: Any) -> Any:
    y = x
    y *= 2
    return np.sum(x * x)


def _sum_from(x: Any, i: Any) -> Any:
    if i == len(x):
        return 0.0
    return x[i] * x[i] + x[i] * _sum_from(x, i + 1)


@program(X6, tags="recursive")
def p11(x: Any) -> Any:
    return _sum_from(x, 0)


@program(X6, tags="closure")
def p12(x: Any) -> Any:
    k = x[0]

    def g(t: Any) -> Any:
        return t * k + x[1]

    k = k * x[2]
    return np.sum(g(x)) + g(2.0)


@program(X6)
def p13(x: Any) -> Any:
    d = {"a": x[0], "b": x[1] * x[2]}
    d["a"] = d["a"] * d["b"]
    d.update({"c": x[3], "b": d["a"] + 1.0})
    return d["a"] * d["b"] + d["c"]


@program(X6)
def p14(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(x[i] * x[i])
    return sum(out) + out[2] * out[-1]


@program(X6)
def p15(x: Any) -> Any:
    A = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            A[i, j] = x[i] * x[j + 1]
    return np.sum(np.dot(A, A))


@program(X6)
def p16(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        if x[i] < 0:
            continue
        s += x[i] * x[i]
    return s


@program(X6)
def p17(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        s += x[i] * x[i] if x[i] > 0 else -x[i]
    return s


@program(X6)
def p18(x: Any) -> Any:
    a, b = x[0], x[1]
    for i in range(2, 6):
        a, b = b, a * b + x[i]
    return a * b


# --- lists ----------------------------------------------------------------------------------------


@program(X6)
def list_of_arrays(x: Any) -> Any:
    states = [x]
    for k in range(3):
        states.append(np.tanh(states[-1] * (k + 1)))
    return weighted(np.stack(states)) + weighted(states[1] * states[-2])


@program(X6)
def list_methods(x: Any) -> Any:
    a = [x[0], x[1]]
    a.extend([x[2], x[3] * x[0]])
    a.insert(1, x[5])
    last = a.pop()
    a.reverse()
    b = a + [last]
    b[2] *= 2.0
    b += [x[4]]
    del b[0]
    return sum(b) * b[1] + len(b) * b[-1] - max(b) * min(b)


@program(X6)
def list_grows_with_data(x: Any) -> Any:
    kept = []
    for v in x:
        if v > 0.0:
            kept.append(v * v)
    total = 0.0
    for k in range(len(kept)):
        total += kept[k] * (k + 1)
    return total + kept[0] * kept[-1]


@program(X6)
def list_becomes_array(x: Any) -> Any:
    a = np.array([v * v for v in x])
    b = np.array([[v, -v] for v in (x[0], x[1])])
    c = np.array([np.sin(x[i]) * i for i in range(len(x)) if i % 2])
    return weighted(a) + weighted(b) + weighted(c)


@program(M34)
def list_comprehensions(x: Any) -> Any:
    rows = [x[i] * x[i] for i in range(3)]
    pairs = [(i, j) for i in range(3) for j in range(4) if i < j]
    table = [[x[i, j] * 2.0 for j in range(2)] for i in range(3)]
    s = sum([x[i, j] for i, j in pairs])
    return s + sum(sum(t) for t in table) + sum([np.sum(r) for r in rows])


@program(X6)
def generator_arguments(x: Any) -> Any:
    n = len(x)
    s = sum(x[i] * x[n - 1 - i] for i in range(n))
    high = max(x[i] * i for i in range(6))
    low = min(abs(v) for v in (x[0], x[1], x[2]))
    if any(v > 2.0 for v in x) and all(v < 3.0 for v in x):
        s = s * 2.0
    if not any(x[i] > x[i + 1] + 100.0 for i in range(n - 1)):
        s += x[0]
    return s + high * low + sum(i * v for i, v in enumerate(x))


@program(X6)
def nested_generators(x: Any) -> Any:
    m = x.reshape(2, 3)
    return sum(sum(v * v for v in row) * row[0] for row in m) + sum(
        m[i, j] * m[1 - i, j] for i in range(2) for j in range(3)
    )


@program(X6)
def dict_comprehension(x: Any) -> Any:
    d = {k: x[i] * x[i] for i, k in enumerate("abc")}
    e = {k: v * 2.0 for k, v in d.items()}
    s = 0.0
    for k in d:
        s += d[k] * e[k]
    return s + sum(e.values())


@program(X6)
def dict_of_parameters(x: Any) -> Any:
    params = {"w": x[:4].reshape(2, 2), "b": x[4:]}
    h = np.ones(2)
    for _ in range(3):
        h = np.tanh(params["w"] @ h + params["b"])
    params["b"] = h * 2.0
    grad = {k: v * v for k, v in params.items()}
    return weighted(grad["w"]) + weighted(params["b"]) + len(params)


@program(X6)
def dict_methods(x: Any) -> Any:
    d = {"u": x[0]}
    d["v"] = d.get("v", x[1]) * d["u"]
    d["u"] += d.get("none", 0.5)
    if "v" in d and "w" not in d:
        d["w"] = d.pop("u") * x[2]
    e = dict(d)
    e["v"] *= 3.0
    d.setdefault("z", x[3])
    return d["v"] * e["v"] + d["w"] + d["z"] * len(d) + sum(v for v in e.values())


@program(X6)
def dict_with_tuple_and_integer_keys(x: Any) -> Any:
    d = {(0, 1): x[0], 3: x[1]}
    d[0, 1] *= x[2]
    for i in (1, 2):
        d[i] = d[(0, 1)] * i
    return d[1] + d[2] * d[3]


@program(X6)
def list_as_stack(x: Any) -> Any:
    stack = [x[0], x[1], x[2]]
    while len(stack) > 1:
        b = stack.pop()
        a = stack.pop()
        stack.append(a * b + 0.5)
    return stack[0]


@program(X6)
def list_of_lists_updated(x: Any) -> Any:
    grid = [[x[0], x[1]], [x[2], x[3]]]
    alias = grid[1]
    alias[0] *= grid[0][1]
    grid[0], grid[1] = grid[1], grid[0]
    return grid[0][0] * grid[1][1] + alias[1] ** 2


# --- tuples, named tuples, dataclasses, objects ---------------------------------------------------


class Point(NamedTuple):
    x: Any
    y: Any

    def norm(self) -> Any:
        return self.x * self.x + self.y * self.y


Pair = namedtuple("Pair", ["left", "right"])


@program(X6)
def named_tuples(x: Any) -> Any:
    p = Point(x[0], x[1] * x[2])
    q = p._replace(y=x[3])
    a, b = q
    r = Pair(left=x[:3], right=x[3:])
    r.left[0] = a * b
    return p.norm() * q.x + p[1] + weighted(r.left * r.right) + weighted(x)


@program(X6)
def named_tuple_as_state(x: Any) -> Any:
    s = Point(x[0], x[1])
    for v in x[2:]:
        s = Point(s.y, s.x * 0.5 + v)
    return s.norm()


@dataclass
class State:
    position: Any
    velocity: Any
    time: Any = 0.0
    log: Any = field(default_factory=list)

    def step(self, force: Any, dt: Any) -> None:
        self.velocity = self.velocity + dt * force
        self.position += dt * self.velocity
        self.time += dt

    @property
    def energy(self) -> Any:
        return 0.5 * np.sum(self.velocity**2) + np.sum(self.position**2)


@program(X6)
def dataclass_state(x: Any) -> Any:
    s = State(x[:3] * 1.0, x[3:])
    alias = s.position
    for _ in range(4):
        s.step(-2.0 * s.position, 0.1)
    return s.energy * s.time + weighted(alias)


@dataclass(frozen=True)
class Material:
    density: Any
    stiffness: Any

    def speed(self) -> Any:
        return np.sqrt(self.stiffness / self.density)


@program(P4)
def dataclass_frozen(x: Any) -> Any:
    m = Material(x[0], stiffness=x[1])
    n = Material(m.speed(), x[2])
    return n.speed() * m.density + x[3]


class Accumulator:
    scale = 2.0

    def __init__(self, start: Any) -> None:
        self.total = start
        self.count = 0
        self.items: list[Any] = []

    def add(self, v: Any) -> Accumulator:
        self.total = self.total * 0.5 + v * self.scale
        self.count += 1
        self.items.append(v)
        return self

    def mean(self) -> Any:
        return self.total / self.count

    def __call__(self, v: Any) -> Any:
        return self.total * v


class Weighted(Accumulator):
    def add(self, v: Any) -> Accumulator:
        return Accumulator.add(self, v * v)


@program(X6)
def object_with_methods(x: Any) -> Any:
    acc = Accumulator(x[0])
    same = acc
    for i in range(1, 4):
        acc.add(x[i])
    same.add(x[4]).add(x[5])
    return acc.mean() * acc(x[1]) + acc.items[2] * acc.items[-1]


@program(X6)
def object_with_base_class(x: Any) -> Any:
    acc = Weighted(x[0])
    acc.add(x[2])
    acc.add(x[3])
    acc.total = acc.total * 2.0
    return acc.add(x[4]).mean()


class Layer:
    def __init__(self, w: Any, b: Any) -> None:
        self.w = w
        self.b = b

    def __call__(self, h: Any) -> Any:
        return np.tanh(self.w @ h + self.b)


@program(M33, X3, argnums=(0, 1))
def objects_in_list(w: Any, b: Any) -> Any:
    layers = [Layer(w * (k + 1), b) for k in range(3)]
    h = b
    for layer in layers:
        h = layer(h)
    layers[0].b = h
    return weighted(layers[0](h))


# --- other syntax ---------------------------------------------------------------------------------


@program(X6)
def starred_unpacking(x: Any) -> Any:
    first, *middle, last = [x[0], x[1], x[2], x[3]]
    (a, *_), b = ((x[4], x[5]), x[5])
    c = [*middle, first]
    t = (*c, last)
    return first * last + sum(middle) * a + b * t[2] + max(*c)


@program(X3)
def unpacking_an_array(x: Any) -> Any:
    a, b, c = x
    (d, e), f = x[:2], x[2]
    return a * b + c * d - e * f


@program(X6)
def walrus(x: Any) -> Any:
    s = 0.0
    i = 0
    while (v := x[i]) < 2.0:
        s += v * v
        i += 1
    if (n := len(x)) > 3 and (y := x[n - 1]) > 0:
        s += y * n
    return s + sum((w := x[k] * 2.0) * w for k in range(3)) + i * x[0]


@program(X6)
def walrus_of_array(x: Any) -> Any:
    if np.sum(y := x * x) > 1.0:
        y[0] = 0.0
    return weighted(y)


@program(X6)
def del_and_pass(x: Any) -> Any:
    a = x * 2.0
    b = a[1:]
    del a
    for i in range(3):
        if i == 1:
            pass
        else:
            b[i] *= x[i]
    d = {"u": b, "v": x}
    del d["v"]
    return weighted(d["u"]) + len(d)


def _activation(name: Any, v: Any) -> Any:
    match name:
        case "relu":
            return np.maximum(v, 0.0)
        case "tanh" | "th":
            return np.tanh(v)
        case _:
            return v


@program(X6)
def match_on_strings(x: Any) -> Any:
    h = x
    for name in ("tanh", "other", "relu"):
        h = _activation(name, h * 1.5)
    return weighted(h)


@program(X6)
def match_on_integers(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        match i % 4:
            case 0:
                s += x[i]
            case 1 | 2:
                s *= x[i]
            case k if k > 2 and x[i] > 0.0:
                s -= x[i] * k
            case _:
                pass
    return s


@program(X6)
def match_on_tuples(x: Any) -> Any:
    s = 0.0
    for kind, value in (("scale", x[0]), ("shift", x[1]), ("pair", x[2])):
        match (kind, value):
            case ("scale", v):
                s = s + v * 3.0
            case ("shift", v):
                s = s * v + v
            case (_, v):
                s -= v * v
    return s


@program(X6, 3, "tanh", True)
def static_arguments(x: Any, n: Any, kind: Any, flag: Any) -> Any:
    f = {"tanh": np.tanh, "sin": np.sin}[kind]
    h = x
    for _ in range(n):
        h = f(h) * 1.5
    return weighted(h) if flag else 0.0


@program(X6, tags="print")
def f_strings_in_print(x: Any) -> Any:
    s = np.sum(x * x)
    print(f"sum {s:.3f} of {len(x)} {'values'!r}", end="\n")
    for i in range(2):
        print(f"{i}: {x[i]:8.2e}", x[i], sep=", ")
    return s


@program(X6)
def f_strings_in_raise(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        if v > 100.0:
            raise ValueError(f"value {v} at {i} is too large")
        s += v * v
    assert s > 0.0, f"sum {s:g}"
    return s


@program(X6)
def functions_in_a_list(x: Any) -> Any:
    fs: list[Any] = [np.sin, np.cos, lambda v: v * v]
    s = 0.0
    for f in fs:
        s += weighted(f(x))
    return s


@program(X6)
def zip_of_arrays(x: Any) -> Any:
    s = 0.0
    for a, b in zip(x, x[1:]):
        s += a * b
    for i, (a, b) in enumerate(zip(x[::2], x[1::2])):
        s -= a * b * i
    for a in reversed(x):
        s = s * 0.9 + a
    return s


@program(X6)
def default_and_keyword_arguments(x: Any) -> Any:
    def norm(v: Any, p: Any = 2, *, scale: Any = 1.0) -> Any:
        return scale * np.sum(np.abs(v) ** p)

    options = {"p": 3, "scale": x[0]}
    return norm(x) + norm(x, scale=2.0) + norm(x, **options) + norm(*(x, 4))


@program(X6)
def closure_mutates_array(x: Any) -> Any:
    y = np.zeros(3)
    count = [0]

    def push(v: Any) -> None:
        y[count[0] % 3] += v * v
        count[0] += 1

    for i in range(6):
        push(x[i])
    return weighted(y) * count[0]


@program(X6)
def functions_returning_tuples(x: Any) -> Any:
    def split(v: Any) -> Any:
        half = len(v) // 2
        return v[:half], v[half:], {"n": half}

    a, b, info = split(x * 1.0)
    a *= b
    return weighted(a) * info["n"] + weighted(b)


@program(M33)
def chained_comparisons_on_elements(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        for j in range(3):
            if -0.5 < x[i, j] <= 0.8 and i != j:
                s += x[i, j] ** 2
            elif not (i == j or x[i, j] > 0):
                s -= x[i, j]
    return s


@program(X6)
def while_with_array_condition(x: Any) -> Any:
    a = x * 1.0
    while np.max(np.abs(a)) > 0.5:
        a *= 0.7
        a[0] += 0.01 * a[1]
    return weighted(a)


@program(X6)
def while_else_and_for_else(x: Any) -> Any:
    s = x[0]
    for i in range(6):
        if x[i] > 50.0:
            break
    else:
        s *= 2.0
    k = 0
    while k < 3:
        s += x[k]
        k += 1
    else:
        s *= x[1]
    return s


@program(M23)
def loops_over_rows_and_shapes(x: Any) -> Any:
    total = 0.0
    for i, row in enumerate(x):
        n = 0
        for v in row:
            total += v * (i + 1) ** n
            n += 1
    rows, cols = np.shape(x)
    return total * rows + cols * np.size(x) * x[0, 0]


@program(X6)
def array_rebound_in_loop(x: Any) -> Any:
    u = x
    for _ in range(4):
        v = np.zeros_like(u)
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        v[0] = u[0]
        v[-1] = u[-1]
        u = v
    return weighted(u)


@program(X6)
def buffers_swapped_in_loop(x: Any) -> Any:
    a = x * 1.0
    b = np.zeros(6)
    for _ in range(5):
        b[1:] = a[:-1] * 0.9
        b[0] = a[-1]
        a, b = b, a
    return weighted(a) + 2.0 * weighted(b)


@program(X6, 2)
def array_chosen_by_branch(x: Any, k: Any) -> Any:
    if k > 1:
        y = x * 2.0
    else:
        y = np.zeros(6)
    y[0] = x[1]
    z = y if x[0] > 0.0 else x
    return weighted(y) + weighted(z * z)


@program(X6)
def shrinking_array(x: Any) -> Any:
    a = x * 1.0
    while len(a) > 1:
        half = len(a) // 2
        a = a[:half] * a[half : 2 * half] + 0.3
    return a[0]


@program(X6)
def math_on_elements(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += math.exp(math.sin(v)) * math.sqrt(abs(v)) + math.pi
    return s


@program(X6, tags="exit")
def other_kind_where_the_loop_is_left(x: Any) -> Any:
    y = x[0]
    s = 0.0
    for i in range(len(x)):
        s += y
        if i == 4:
            y = None
            break
        y = x[i]
    return s


@program(X6, tags="exit")
def list_grows_before_a_break(x: Any) -> Any:
    parts = []
    for i in range(len(x)):
        if x[i] > 2.0:
            break
        parts.append(x[i] * x[i])
    return parts[0] * sum(parts)


@program(X3, tags="alias")
def names_of_one_array_after_a_loop(x: Any) -> Any:
    z = x * 1.0
    for k in range(3):
        a = x * (k + 1.0)
        b = a[1:]
        c = z[:]
    a[1] = x[0]
    c[0] = 7.0 * x[1]
    return np.sum(b * b) * np.sum(z)


@program(M33)
def list_of_rows(x: Any) -> Any:
    rows = [r * r for r in x]
    return np.sum(rows[0])


@program(X6, tags="alias")
def buffers_changed_after_they_were_swapped(x: Any) -> Any:
    now, after = x.copy(), np.zeros_like(x)
    for v in x:
        after[:] = 0.5 * now + np.sin(v)
        now, after = after, now
    now *= 0.9
    return np.sum(now * after) + now[0]


# --- refused for now ------------------------------------------------------------------------------

_REFUSED: list[Program] = []
_refused = recorder(_REFUSED)


@program(X3)
def writes_to_an_array_without_axes(x: Any) -> Any:
    s = np.zeros(())
    s[()] = x[0]
    return s[()] * x[1]


class Heavy(Accumulator):
    def __init__(self, start: Any) -> None:
        super().__init__(start * 2.0)


@program(X3)
def object_with_super(x: Any) -> Any:
    return Heavy(x[0]).total


@program(X3)
def match_on_class(x: Any) -> Any:
    match Point(x[0], x[1]):
        case Point(x=a, y=b):
            return a * b
    return x[2]


@program(X6)
def other_kind_in_the_next_iteration(x: Any) -> Any:
    y = x
    s = 0.0
    for i in range(len(x)):
        s += np.sum(y)
        if i == 4:
            break
        y = 1.0
    return s


#: Legal Python that is not supported, with a part of what adc says.
@_refused(X3)
def array_under_a_loop_bound_anew(x: Any) -> Any:
    s = 0.0
    for u in x:
        # The first iteration changes what the loop is over, the others do not.
        x[1] = u * 0.5
        x = x.copy()
        s += u
    return s


@_refused(X3)
def list_that_grows_under_a_loop(x: Any) -> Any:
    some = []
    for v in x:
        some.append(v)
    s = 0.0
    for u in some:
        s += u
        if len(some) < 6:
            some.append(0.5 * u)
    return s


@_refused(X3)
def list_that_shrinks_under_a_reversed_loop(x: Any) -> Any:
    some = [x[0], x[1], x[2]]
    s = 0.0
    for u in reversed(some):
        s += u
        some.pop()
    return s


@_refused(X3)
def written_on_one_path_under_another_name(x: Any) -> Any:
    a = x * 2.0
    b = a if x[0] > 0 else x * 3.0
    if x[1] > 0.0:
        b[0] = 5.0
    else:
        a = x * 4.0
    return np.sum(a * a) + b[0]


@_refused(X3)
def aliases_made_in_a_branch(x: Any) -> Any:
    if x[0] > 0.0:
        a = x * 2.0
        b = a if x[1] > 0.0 else x * 3.0
    else:
        a = x * 4.0
        b = x * 5.0
    a[0] = 7.0
    return np.sum(b * b)


@_refused(X3)
def written_before_the_next_iteration(x: Any) -> Any:
    a = x * 2.0
    s = 0.0
    for k in range(4):
        s += np.sum(a * a)
        a = x * (1.0 + k)
        b = a if x[0] > 0.0 else x * 1.0
        b[0] = 3.0 + k
    return s


@_refused(X3)
def one_array_in_two_names_after_a_loop(x: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for k in range(len(x)):
        a = b = x * (k + 1.0)
    a[0] = 7.0
    return np.sum(b * b)


@_refused(X6)
def view_of_two_kinds_of_an_array_with_two_names(x: Any) -> Any:
    z = x * 1.0
    w = z if x[0] > 0.0 else x * 2.0
    v = z[::2] if x[1] > 0.0 else z.reshape(-1, 2)[0]
    v[0] = 4.0
    return np.sum(w * w)


def _changes_one(x: Any, a: Any, b: Any, n: Any) -> Any:
    if n > 0:
        _changes_one(x, np.zeros(1), np.zeros(1), n - 1)
    c = a if x[0] > 0.0 else b
    c[0] = 7.0 * x[0]
    return x[0]


@_refused(X3)
def one_of_two_arrays_is_changed_in_recursion(x: Any) -> Any:
    # The change was lost: the value and the gradient were those of another program.
    a, b = np.ones(1), np.ones(1)
    _changes_one(x, a, b, 2)
    return a[0] * b[0] * x[0]


REFUSED: list[tuple[Program, str]] = [
    (p, text)
    for p, text in zip(
        _REFUSED,
        (
            "may or may not be the same array here",
            "a list whose length changes while a loop iterates over it",
            "a container whose length changes while a loop iterates over it",
            *["may or may not be the same array here"] * 6,
        ),
        strict=True,
    )
]
