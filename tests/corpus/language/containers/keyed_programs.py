"""Programs with sets that change, and dicts whose keys depend on the path, or on the run."""

from __future__ import annotations

import collections
import heapq
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.corpus.program import X3, Program, recorder

KEYED_PROGRAMS: list[Program] = []
program = recorder(KEYED_PROGRAMS)
EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 0]])
ORDER = np.array([3, 1, 2, 1, 3])
SETTINGS = SimpleNamespace(scale=2.0, weights=np.array([1.0, 2.0, 3.0]))


@program(X3)
def set_of_what_was_seen(x: Any) -> Any:
    seen, s = set(), 0.0
    for k in [0, 1, 1, 2, 0]:
        if k in seen:
            continue
        seen.add(k)
        s += x[k] ** 2
    return s * len(seen)


@program(X3)
def breadth_first_search(x: Any) -> Any:
    neighbours: dict[int, list[int]] = {0: [1, 2], 1: [2], 2: [0]}
    queue, seen, s, weight = [0], {0}, 0.0, 1.0
    while queue:
        u = queue.pop(0)
        s += weight * x[u] ** 2
        weight *= 0.5
        for v in neighbours[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return s * x[len(seen) - 1]


@program(X3)
def breadth_first_search_of_edges(x: Any) -> Any:
    queue, seen, s = [0], set(), 0.0
    seen.add(queue[0])
    while len(queue) > 0:
        u = queue.pop(0)
        s += x[u] ** 2 * (len(queue) + 1)
        for a, b in EDGES:
            if a == u and b not in seen:
                seen.add(b)
                queue.append(b)
    return s


@program(X3)
def levels_of_a_graph(x: Any) -> Any:
    neighbours = [[1], [2], [0, 1]]
    frontier, seen, s, weight = {0}, {0}, 0.0, 1.0
    while frontier:
        following = set()
        for u in sorted(frontier):
            s += weight * x[u] ** 2
            for v in neighbours[u]:
                if v not in seen:
                    seen.add(v)
                    following.add(v)
        frontier = following
        weight *= 0.5
    return s


@program(X3)
def cells_of_a_grid(x: Any) -> Any:
    n = len(x)
    queue, seen, s = [(0, 0)], {(0, 0)}, 0.0
    while queue:
        i, j = queue.pop()
        s += x[i] * x[j]
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < n and b < n and (a, b) not in seen:
                seen.add((a, b))
                queue.append((a, b))
    return s * len(seen)


@program(X3)
def shortest_distances_in_a_dict(x: Any) -> Any:
    edges = {0: [(1, 1.0), (2, 4.0)], 1: [(2, 1.5)], 2: []}
    distance, done, heap = {0: 0.0}, set(), [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, w in edges[u]:
            new = d + w * x[u] ** 2
            if v not in distance or new < distance[v]:
                distance[v] = new
                heapq.heappush(heap, (new, v))
    return distance[2] * distance[1] + sum(distance.values())


@program(X3)
def shortest_path_from_a_start_that_comes_from_nowhere(x: Any) -> Any:
    start = int(10.0 * x[0]) % 7
    came_from: dict[int, int | None] = {start: None}
    distance, heap = {start: 0.0}, [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        for v in ((u + 1) % 7, (u * 2) % 7):
            new = d + x[v % 3] ** 2 + 0.1
            if v not in distance or new < distance[v]:
                distance[v], came_from[v] = new, u
                heapq.heappush(heap, (new, v))
    node: int | None = (start + 5) % 7
    total = 0.0
    while node is not None:
        total += distance[node] * x[node % 3]
        node = came_from.get(node)
    return total


@program(X3)
def set_that_shrinks(x: Any) -> Any:
    todo, s, k = set(range(len(x))), 0.0, 0
    while todo:
        if x[k] > 0.0 or len(todo) < 3:
            todo.discard(k)
            s += x[k] ** 2 * (len(todo) + 1)
        k = (k + 1) % len(x)
    return s


@program(X3)
def sets_of_texts_on_some_paths(x: Any) -> Any:
    active = set()
    if x[0] > 0.5:
        active.add("a")
    if x[1] > 0.5:
        active.add("b")
    s = x[2] if active else x[2] ** 3
    for name, value in (("a", x[0]), ("b", x[1])):
        if name in active:
            s += value**2 * len(active)
    return s * (1.0 + ("a" in active) + len(active & {"b", "c"}))


@program(X3)
def operators_of_sets_known_at_run_time(x: Any) -> Any:
    small, large, s = set(), set(), 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            large.add(i)
        if x[i] < 1.0:
            small |= {i}
    for weight, each in (
        (1.0, small & large), (2.0, small | large), (3.0, small - large), (4.0, small ^ large),
    ):  # fmt: skip
        for i in sorted(each):
            s += weight * x[i] ** 2
    return s + (small <= large) * x[0] + (small != large) * x[1] + sum(large) * x[2]


@program(X3)
def keys_that_some_paths_set(x: Any) -> Any:
    found: dict[Any, Any] = {}
    if x[0] > 0.5:
        found["a"] = x[0] ** 2
    if x[1] > 0.5:
        found["b"] = x[1] ** 3
    s = found.get("b", 0.5) * x[2]
    if "a" in found:
        s += found["a"] * x[1]
        found["a"] *= 2.0
    try:
        s += found["b"]
    except KeyError:
        s += x[0]
    return s + sum(found.values()) + len(found) * x[2]


@program(X3)
def key_that_some_iterations_set(x: Any) -> Any:
    state: dict[str, Any] = {"total": 0.0}
    for i in range(len(x)):
        if x[i] > 0.0:
            state["last"] = x[i] ** 2
        state["total"] += x[i] * state.get("last", 1.0)
    return state["total"] * state["last"]


@program(X3)
def dict_of_results_by_number(x: Any) -> Any:
    known = {0: x[0], 1: x[1]}
    for n in range(2, len(x) + 4):
        known[n] = known[n - 1] * x[2] + known[n - 2]
    return known[6] * known[4]


@program(X3)
def sums_by_key(x: Any) -> Any:
    sums: Any = collections.defaultdict(float)
    counts: Any = collections.Counter(ORDER)
    for i, key in enumerate(ORDER):
        sums[key] += x[i % 3] ** 2
    s = 0.0
    for key, value in sums.items():
        s += key * value * counts[key]
    for key in sums:
        sums[key] *= x[0]
    return s + sums[3] * sums[2] + len(sums) + max(sums.values()) + counts[7]


@program(X3)
def dict_of_arrays_by_number(x: Any) -> Any:
    rows = {}
    for i in range(len(x)):
        rows[i % 2, i] = x * x[i]
    return np.sum(rows[0, 2] * rows[1, 1]) * len(rows)


@program(X3)
def keys_that_are_removed(x: Any) -> Any:
    d = dict.fromkeys(range(len(x)), 1.0)
    for i in ORDER:
        d[i] = d.setdefault(i, x[0]) * x[i - 1]
    v = d.pop(1) + d.pop(9, x[1])
    del d[0]
    copied = d.copy()
    d.clear()
    return v * copied[3] + sum(k * each for k, each in copied.items()) + len(d)


@program(X3)
def namespaces(x: Any) -> Any:
    p = SimpleNamespace(a=x[0], b=2.0)
    p.c = p.a * p.b
    if x[1] > 0.0:
        p.d = x[1] ** 2
    q = SimpleNamespace(**vars(SimpleNamespace(u=p.c, v=x[2])))
    vars(q)["w"] = p.c * x[1]
    for i in range(len(x)):
        q.u += x[i] * SETTINGS.weights[i]
    same = q == SimpleNamespace(w=q.w, v=q.v, u=q.u)
    return q.u * q.w * same * SETTINGS.scale + getattr(p, "d", x[2]) + hasattr(p, "d") * x[0]
