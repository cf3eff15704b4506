# ruff: noqa: UP031
"""Programs with functions of the standard library, `nonlocal`, sets, and formatted strings."""

from __future__ import annotations

import bisect
import collections
import copy
import dataclasses
import datetime
import fractions
import functools
import heapq
import itertools
import math
import operator
from functools import partial
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder

STANDARD_PROGRAMS: list[Program] = []
program = recorder(STANDARD_PROGRAMS)
WEIGHTS = np.array([1.0, 2.0, 3.0])
ALLOWED = frozenset({1, 3})
TODAY = datetime.date(2024, 1, 15)
HALF = fractions.Fraction(1, 2)


def _power(v: Any, n: int, scale: Any = 1.0) -> Any:
    return scale * v**n


def _dot(w: Any, v: Any) -> Any:
    return np.sum(w * v)


_cube = partial(_power, n=3, scale=0.5)
_weighted = partial(_dot, WEIGHTS)
_second = operator.itemgetter(1)


@functools.cache
def _fibonacci(n: int) -> int:
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


@program(X3)
def partial_applications(x: Any) -> Any:
    square = partial(_power, n=2)
    return _cube(x[0]) + square(x[1], scale=x[2]) + _weighted(x) + sum(map(square, x))


@program(X3)
def cached_functions_and_reduce(x: Any) -> Any:
    a = functools.reduce(operator.mul, x)
    b = functools.reduce(lambda s, v: s * 0.5 + v, x, 1.0)
    return a + b + functools.reduce(operator.add, [x[0], 2.0 * x[1]]) + _fibonacci(6) * x[1]


@program(X3)
def functions_of_operator(x: Any) -> Any:
    functions = {"a": operator.add, "m": operator.mul}
    named = {"k": x[0], "j": x[1]}
    k, j = operator.itemgetter("k", "j")(named)
    s = _second(x) + k * j + operator.neg(x[0])
    for key in ("a", "m"):
        s += functions[key](x[0], x[2])
    return s


class _Pair:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.items = [a, 1.0]


@program(X3)
def copies_and_deep_copies(x: Any) -> Any:
    p = _Pair(x.copy())
    q = copy.deepcopy(p)
    r = copy.copy(p)
    p.a[0] = 10.0
    q.items.append(2.0)
    p.items[1] = 5.0
    r.a[1] *= 2.0
    s = sum([np.sum(v) for v in r.items]) * len(q.items)
    return np.sum(q.a * x) + np.sum(p.a**2) + s + np.sum(copy.copy(x) * x)


@program(X3)
def imports_inside_a_function(x: Any) -> Any:
    import math as m
    from math import sin

    import numpy.linalg

    try:
        import a_module_that_does_not_exist as missing  # type: ignore[import-not-found]  # the point of it

        y = missing.function(x)
    except ImportError:
        y = x[2]
    return m.exp(x[0]) * sin(x[1]) + numpy.linalg.norm(x) + y


@program(X3)
def nonlocal_counters(x: Any) -> Any:
    count = 0
    total = 0.0

    def visit(v: Any) -> Any:
        nonlocal count, total
        count += 1
        total += v * count
        return total

    for v in x:
        if v > 0:
            visit(v)
    y = visit(x[1] ** 2)
    return total * count + y


@program(X3)
def nonlocal_of_two_instances(x: Any) -> Any:
    def make(step: Any) -> Any:
        n = 0.0

        def increment() -> Any:
            nonlocal n
            n = n + step
            return n

        return increment

    a, b = make(x[0]), make(x[1])
    a()
    b()
    a()
    return a() * b()


@program(X3)
def nonlocal_of_an_inner_function(x: Any) -> Any:
    s = 0.0
    best = x
    pair = (x[0], x[1])

    def outer(v: Any) -> None:
        nonlocal s, best

        def inner(w: Any) -> None:
            nonlocal s, pair
            s += w
            for _ in range(2):
                s *= 1.1
            pair = (pair[1], pair[0] * pair[1])

        inner(v)
        inner(2.0 * v)
        s -= v
        if v > 0.5:
            best = x * v

    k = 0
    while k < 3:
        outer(x[k])
        k += 1
    return s + np.sum(best) + pair[0] + 2.0 * pair[1]


@program(X3)
def sets_of_constants(x: Any) -> Any:
    s = 0.0
    kinds = {"a", "b"}
    for i in range(5):
        if i in {0, 2}:
            s += x[i]
        elif i in ALLOWED:
            s += i * x[1]
    for name in ("a", "c"):
        if name in kinds:
            s *= 2.0
        if name not in set(["c"]):
            s += x[2]
    return s * len({1, 2, len(kinds)})


@program(X3)
def extremes_by_a_key(x: Any) -> Any:
    points = [(x[0], 1.0), (x[1], 2.0), (x[2], 5.0)]
    best = max(points, key=lambda p: p[0] * p[1])
    least = min(points, key=lambda p: abs(p[0]))
    far = max([x, 2.0 * x, -3.0 * x], key=np.sum)
    s = best[0] * least[1] + np.sum(far) + max(x, default=0.0) + max([], default=x[0])
    return s + max(x[x > 10.0], default=x[1]) * min(x[x > 0.0], default=3.0)


@program(X3)
def functions_of_math(x: Any) -> Any:
    n = len(x)
    k = math.comb(n, 2) + math.factorial(n) + math.perm(4, 2) + math.isqrt(n * 7)
    s = math.prod(x) * k + math.dist(x, (1.0, 2.0, 3.0))
    return s + math.prod([x[0], 2.0], start=x[1]) + math.comb(5, 2)


@program(X3)
def parts_of_floats(x: Any) -> Any:
    part, whole = math.modf(3.7 * x[0])
    m, e = math.frexp(x[1])
    s = part * x[1] + whole * x[2] + m * m * e + math.remainder(x[2], 0.4) * x[0]
    s += math.remainder(2.3, x[0]) + x[0] * math.ulp(1e16 * x[1])
    if math.isclose(x[0], x[1], rel_tol=0.1):
        s *= x[0]
    return s + math.fsum(v * v for v in x) * math.fsum(x) + math.fsum([x[0], 1e16, -1e16])


@program(X3, tags="print")
def formatted_strings(x: Any) -> Any:
    print("a {} b {:.3f} {name!r}".format(1, x[0], name="z"))
    print("%d %.2f %s %% %5d|" % (3, x[1], "str", 42))
    key = "w%d" % 3 + "{}".format("q")
    weights = {"w3q": x[0]}
    for i, v in enumerate(x, start=1):
        if v < 0:
            print("negative at %d: %g" % (i, v))
        try:
            if v < 0:
                raise ValueError(f"bad {i}")
        except ValueError as error:
            print("caught", error, f"<{error}>")
    return weights[key]


@program(np.array([0.3, 0.2, 0.9, 1.1, -0.4]))
def itertools_of_many(x: Any) -> Any:
    s = 0.0
    for i, t in enumerate(itertools.product([x[0], x[1]], repeat=5)):
        s += (i + 1) * t[0] * t[4] + t[2]
    for i, t in enumerate(itertools.permutations(x[:4], 4)):
        s += (i + 1) * t[0] * t[3] ** 2 - t[1]
    for i, t in enumerate(itertools.combinations(x, 4)):
        s += (i + 1) * t[0] * t[3] ** 2 - t[1]
    for i, t in enumerate(itertools.combinations_with_replacement(x[:3], 4)):
        s += (i + 1) * t[0] * t[3] ** 2 - t[1]
    for t in itertools.combinations(x[:3], 4):
        s += 100.0 * t[0]
    for t in itertools.permutations(x[:3], 4):
        s += 100.0 * t[0]
    return s


@program(np.array([1.3, 0.2, 0.9, 1.1, 0.4, 2.0]).reshape(2, 3))
def shortest_tour(x: Any) -> Any:
    w = x.T @ x
    best = float("inf")
    for order in itertools.permutations(range(1, 3)):
        tour = (0, *order)
        best = min(best, sum(w[a, b] for a, b in zip(tour, (*tour[1:], 0), strict=True)))
    return best


@program(np.array([0.3, 0.5, 0.9]), 0.6, argnums=(0, 1))
def bisected(a: Any, v: Any) -> Any:
    x = a.tolist()
    i = bisect.bisect_right(x, v)
    w = (v - x[i - 1]) / (x[i] - x[i - 1])
    return w * a[bisect.bisect_left(a, v)] + bisect.bisect([0.0, 0.5, 1.0], v)


@dataclasses.dataclass
class _Camera:
    focus: Any
    centre: Any = 0.5
    terms: Any = dataclasses.field(default_factory=lambda: [0.1, 0.01])


@program(X3)
def replaced_fields(x: Any) -> Any:
    first = _Camera(x[0])
    second = dataclasses.replace(first, centre=x[1])
    second.terms[0] = x[2]
    return second.focus * second.centre * first.terms[0]


@program(np.array([0.7, -1.3, 2.1, 0.4, -0.9]))
def deques_of_known_lengths(x: Any) -> Any:
    window = collections.deque([0.0, 0.0], maxlen=2)
    ends = collections.deque([x[0], x[1]])
    ends.append(x[2])
    ends.appendleft(x[3])
    ends.rotate(1)
    ends.extendleft([x[4] * 2.0])
    s = ends.popleft() * ends.pop() * ends[0] * len(ends)
    for v in x:
        window.append(np.sin(window[0]) * x[0] + v)
        s += window[0] * window[1]
    return s + sum(ends) + max(window)


@program(np.array([0.7, -1.3, 2.1, 0.4, -0.9]), 4, argnums=(0,))
def deques_of_any_length(x: Any, n: Any) -> Any:
    last: Any = collections.deque(maxlen=3)
    queue = collections.deque([(0, len(x))])
    s = 0.0
    for k in range(n):
        last.append(x[k] * k)
        s += sum(last) / len(last)
    while queue:
        a, b = queue.popleft()
        if b - a < 2:
            s = s * 0.9 + x[a]
            continue
        middle = (a + b) // 2
        queue.append((a, middle))
        queue.append((middle, b))
    return s


@program(X3)
def dicts_with_defaults(x: Any) -> Any:
    sums: Any = collections.defaultdict(float)
    groups: Any = collections.defaultdict(list)
    arrays: Any = collections.defaultdict(lambda: np.zeros(3))
    for name in ("a", "b", "a"):
        sums[name] += x[0] * len(sums)
    for i in range(3):
        groups[i % 2].append(x[i])
    arrays["u"] += x
    counts = collections.Counter(["a", "b", "a"])
    missing = counts["z"] + len(counts) + sums["z"] + len(sums)
    return sums["a"] * groups[0][1] + np.sum(arrays["u"] * x) + counts["a"] * x[1] * missing


WEIGHTED = np.array([[0, 2.0, 5.0, 0], [2.0, 0, 1.0, 7.0], [5.0, 1.0, 0, 3.5], [0, 7.0, 3.5, 0]])


@program(WEIGHTED)
def shortest_paths(weights: Any) -> Any:
    n = len(weights)
    distances = np.full(n, np.inf)
    distances[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distances[u]:
            continue
        for v in range(n):
            if weights[u, v] > 0:
                further = d + weights[u, v]
                if further < distances[v]:
                    distances[v] = further
                    heapq.heappush(heap, (further, v))
    return distances[3] * distances[2]


@program(np.array([0.7, 1.3, 2.1, 0.4, 0.9]))
def heaps(x: Any) -> Any:
    heap = [x[3], x[2], x[1], x[0], x[4]]
    heapq.heapify(heap)
    s = heapq.heapreplace(heap, x[1] * 3.0) * heapq.heappushpop(heap, 0.1)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        s += a * b
        heapq.heappush(heap, a + b)
    return s * heap[0] if (x[0], 1) < (x[0], x[1]) else s


@program(X3)
def containers_with_types_of_their_elements(x: Any) -> Any:
    some, recent = list[float](), collections.deque[Any](maxlen=2)
    for v in x:
        some.append(v * v)
        recent.append(v)
    named = dict[str, Any](a=x[0])
    return sum(some) * named["a"] + recent[0] * recent[1]


@program(X3)
def largest_and_smallest(x: Any) -> Any:
    a = heapq.nlargest(2, x)
    b = heapq.nsmallest(2, [x[0], x[1], x[2]], key=lambda v: v * v)
    return a[0] * a[1] + b[1] + len(heapq.nlargest(0, x)) + len(heapq.nsmallest(9, x))


@program(X6)
def order_of_tuples(x: Any) -> Any:
    d, k = min((abs(v - 0.25), k) for k, v in enumerate(x))
    far = max([(v * v, i) for i, v in enumerate(x)])[0]
    rates = {"b": x[0], "a": x[1] * x[2]}
    total = sum(w * rate for w, (_, rate) in zip((2.0, 3.0), sorted(rates.items()), strict=True))
    ranked = sorted((-v, i) for i, v in enumerate(x))
    product = functools.reduce(lambda a, b: a * b + 1.0, (v + 1.0 for v in (x[3], x[4], x[5])))
    return d * x[k] + far * total + ranked[0][0] * ranked[-1][0] + product


def _coupons(maturity: datetime.date, step: int) -> list[datetime.date]:
    found = []
    day = maturity
    while day > TODAY:
        found.append(day)
        day = day - datetime.timedelta(days=step)
    return found[::-1]


@program(0.03, 4.5, argnums=(0, 1))
def price_of_a_bond(rate: Any, coupon: Any) -> Any:
    total, last = 0.0, TODAY
    for day in _coupons(datetime.date(2026, 6, 1), 182):
        years = (day - TODAY).days / 365.25
        total += coupon * (day - last).days / 365.25 / (1.0 + rate) ** years
        last = day
        if coupon > 1e3:
            return total
        if day.year > 2025:
            break
    return total * last.month + 100.0 * math.exp(-rate * last.toordinal() / 1e6)


@program(X3)
def fractions_of_floats(x: Any) -> Any:
    a, b = float(x[0]) + 2.0, float(x[1])
    third = HALF - fractions.Fraction(1, 6)
    return HALF * a + a**third + b ** fractions.Fraction(2) - third / a + float(third) * np.sum(x)


@program(X3)
def layers_in_a_while(x: Any) -> Any:
    layers: list[Any] = [2.0, np.tanh, (x[0], 1.0), np.sin]
    i, y = 0, x
    while i < len(layers):
        layer = layers[i]
        if isinstance(layer, tuple):
            y = layer[0] * y + layer[1]
        elif isinstance(layer, float):
            y = layer * y
        else:
            y = layer(y)
        i += 1
    return np.sum(y * WEIGHTS)
