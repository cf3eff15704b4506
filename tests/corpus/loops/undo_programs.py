"""Elements that are overwritten while reverse code still needs them, which `undo` restores."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

UNDO_PROGRAMS: list[Program] = []
program = recorder(UNDO_PROGRAMS, "undo")

X7 = uniform(61, 7)
Y7 = uniform(62, 7)
G56 = uniform(63, 5, 6)


@program(X7, 3)
def undo_sweep(x: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = 0.3 * u[i - 1] * u[i] + 0.2 * u[i] * u[i + 1] + u[i + 1]
    return weighted(u)


@program(X7, 3)
def undo_sweep_dear(x: Any, steps: Any) -> Any:
    """What is stored is read before it is undone."""
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = np.tanh(u[i - 1] * u[i] + u[i + 1])
    return weighted(u)


@program(G56, 2)
def undo_five_points(x: Any, steps: Any) -> Any:
    u = x.copy()
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.2 * (
                    u[i, j] * u[i - 1, j] + u[i + 1, j] * u[i, j - 1] + u[i, j + 1] * u[i, j]
                )
    return weighted(u)


@program(G56, 2)
def undo_five_points_twice(x: Any, steps: Any) -> Any:
    """Forwards and backwards, with an edge that is set between."""
    u = x.copy()
    n, m = u.shape
    for t in range(steps):
        u[0, 0] = np.sin(u[1, 1]) * t
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.3 * u[i, j] * (u[i - 1, j] + u[i + 1, j]) + u[i, j - 1]
        u[n - 1, 0] = u[n - 2, 1] ** 2
        u[n - 1, 1] *= u[n - 1, 0]
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                u[i, j] = 0.3 * u[i, j] * (u[i, j - 1] - u[i, j + 1]) + u[i + 1, j]
    return weighted(u)


@program(X7, 4)
def undo_red_and_black(x: Any, steps: Any) -> Any:
    u = x.copy()
    for t in range(steps):
        for i in range(1 + t % 2, len(u) - 1, 2):
            u[i] = u[i] * u[i] + 0.3 * u[i - 1] * u[i + 1]
    return weighted(u)


@program(X7, Y7, 3, argnums=(0, 1))
def undo_leapfrog(x: Any, y: Any, steps: Any) -> Any:
    """Two arrays, each of which changes the other."""
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        for i in range(len(u)):
            u[i] += 0.1 * np.sin(v[i]) * v[i]
        for i in range(1, len(u)):
            v[i] -= 0.1 * u[i] * u[i - 1] * v[i]
    return weighted(u) + weighted(v)


@program(X7, Y7, 3, argnums=(0, 1))
def undo_two_at_once(x: Any, y: Any, steps: Any) -> Any:
    u, v = x.copy(), y.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] * v[i - 1] + 0.2 * u[i + 1] * v[i]
            v[i] = v[i] * u[i] - 0.2 * v[i + 1] * u[i - 1] * v[i]
    return weighted(u) + weighted(v)


@program(X7, 3)
def undo_under_branches(x: Any, steps: Any) -> Any:
    u = x.copy()
    for t in range(steps):
        for i in range(1, len(u) - 1):
            if u[i] * u[i - 1] > 0.05:
                u[i] = u[i] * u[i + 1] * 1.1
                if t > 0:
                    u[i + 1] *= u[i] * u[i - 1]
            elif i != 3:
                u[i - 1] += u[i] * u[i] * 0.7
            else:
                u[2] = u[3] * u[3]
    return weighted(u)


@program(X7, 3)
def undo_in_arms_of_one_loop(x: Any, steps: Any) -> Any:
    """A loop is under a branch: the array is not restored."""
    u = x.copy()
    for t in range(steps):
        if t != 1:
            for i in range(1, len(u)):
                u[i] = u[i] * u[i - 1] + 0.3 * u[i] * u[i]
        for i in range(1, len(u)):
            u[i] = u[i] * u[i - 1] - 0.2
    return weighted(u)


@program(X7, np.array([3, 1, 4, 1, 5, 2]), 3)
def undo_scattered(x: Any, where: Any, steps: Any) -> Any:
    """Data-dependent indices: one element may be stored twice."""
    u = x.copy()
    for _ in range(steps):
        for k in range(len(where) - 1):
            i, j = where[k], where[k + 1]
            u[i] = u[i] * u[j] * 0.5 + u[j] * u[j]
            u[j] = np.sin(u[i] * u[j])
    return weighted(u)


@program(X7, np.array([3, 1, 4, 1, 5, 2]), 3)
def undo_scattered_reads(x: Any, where: Any, steps: Any) -> Any:
    """An element is read that an earlier store of the iteration may have changed."""
    u = x.copy()
    for _ in range(steps):
        for k in range(len(where) - 2):
            u[where[k]] *= u[where[k + 1]] + u[k]
            s = u[where[k + 2]]
            u[k] = s * s * u[k + 1] * u[k]
    return weighted(u)


@program(X7, 3)
def undo_beside_loops_that_only_read(x: Any, steps: Any) -> Any:
    """Branches and loops carry the array without changing it."""
    u, s = x.copy(), 0.0
    for t in range(steps):
        if t > 0:
            for i in range(len(u)):
                s += u[i] * u[i] * u[i]
                k = 0
                while k < 2 and u[i] < 0.5:
                    s -= u[i] * u[i - 1]
                    k += 1
        for i in range(1, len(u) - 1):
            u[i] = u[i] * u[i - 1] + 0.4 * u[i + 1] * u[i]
    return weighted(u) + s


@program(X7, 3)
def undo_where_the_array_says(x: Any, steps: Any) -> Any:
    """Which element is stored follows from elements that are overwritten."""
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u)):
            k = 1 + int(np.floor(3.0 * abs(np.sin(u[i - 1] + u[i]))))
            u[k] = u[i] * u[k] * u[k - 1] + 0.3 * u[i - 1] * u[i]
    return weighted(u)


@program(X7)
def undo_integers_in_place(x: Any) -> Any:
    """The array of indices is overwritten, too."""
    u, order = x.copy(), np.arange(7)
    for _ in range(2):
        for i in range(1, 7):
            j = order[i - 1]
            order[i] = (order[i] + 2 * j) % 7
            u[order[i]] = u[j] * u[order[i]] + 0.3 * u[i] * u[i]
    return weighted(u)


@program(X7, 3)
def undo_twice_an_iteration(x: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] * u[i - 1]
            a = u[i + 1] * u[i]
            u[i + 1] = a * u[i - 1] + 0.2 * u[i + 1]
            u[i] = u[i] * u[i + 1] * a + 0.1
    return weighted(u)


@program(X7, 3)
def undo_with_sums_inside(x: Any, steps: Any) -> Any:
    """An inner loop reads the array that the loop around it changes."""
    u = x.copy()
    for _ in range(steps):
        for i in range(len(u)):
            s = 0.0
            for j in range(len(u)):
                s += u[j] * u[j] * u[i] / (1.0 + j)
            u[i] = 0.1 * s * u[i] + 0.5 * u[i]
    return weighted(u)


@program(X7, 3)
def undo_with_a_reset(x: Any, steps: Any) -> Any:
    """A loop that has no reverse code changes the array, too."""
    u = x.copy()
    for t in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] * u[i - 1] + 0.3 * u[i + 1] * u[i]
        for i in range(0, len(u), 3):
            u[i] = 0.1 * i + t
    return weighted(u)


@program(X7)
def undo_until_small(x: Any) -> Any:
    u = x.copy()
    size, rounds = 10.0, 0
    while size > 0.5 and rounds < 6:
        size = 0.0
        for i in range(1, len(u) - 1):
            u[i] = 0.4 * u[i] * (u[i - 1] + u[i + 1])
            size += u[i] * u[i]
        rounds += 1
    return weighted(u) * rounds + size


@program(X7)
def undo_while_inside(x: Any) -> Any:
    u = x.copy()
    for i in range(1, len(u)):
        k = 0
        while u[i] > 0.2 and k < 4:
            u[i] = u[i] * (0.9 - 0.5 * u[i - 1] * u[i])
            k += 1
    return weighted(u)


@program(X7, 2)
def undo_an_argument(x: Any, steps: Any) -> Any:
    for _ in range(steps):
        for i in range(1, len(x)):
            x[i] = x[i] * x[i - 1] + 0.5 * x[i] * x[i]
    return weighted(x)


@program(X7, 2)
def undo_loops_in_turn(x: Any, steps: Any) -> Any:
    """The second nest begins with what the first one left; numbers are read between."""
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u)):
            u[i] = u[i] * u[i - 1] + 0.4
    s = 0.0
    for i in range(len(u)):
        s += u[i] * u[i] * u[i]
    for _ in range(steps):
        for i in range(len(u) - 1):
            u[i] = u[i] * u[i + 1] * u[i] + 0.1
    return weighted(u) + s


@program(X7, 2)
def undo_what_is_returned(x: Any, steps: Any) -> Any:
    """The last version is read by reverse code, too."""
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] * u[i - 1] + 0.4 * u[i + 1] * u[i]
    for i in range(len(u)):
        u[i] = u[i] ** 3
    return np.sum(np.sin(u) * u)


@program(X7, 3)
def undo_swapped(x: Any, steps: Any) -> Any:
    """Buffers that are swapped are not restored."""
    a, b = x.copy(), x * 0.5
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] * a[i + 1] + b[i] * a[i] * b[i - 1]
        a, b = b, a
    return weighted(a) + weighted(b)


def relax(u: Any, w: Any) -> None:
    for i in range(1, len(u) - 1):
        u[i] = u[i] * u[i - 1] * w + u[i + 1] * u[i]


@program(X7, 0.3, 3, argnums=(0, 1))
def undo_in_a_call(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        relax(u, w)
    return weighted(u)


@program(G56)
def undo_in_every_row(x: Any) -> Any:
    """Rows that do not depend on each other: each is undone after it is made."""
    total = 0.0
    for row in range(len(x)):
        u = x[row].copy()
        for _ in range(2):
            for i in range(1, len(u) - 1):
                u[i] = u[i] * u[i - 1] + 0.3 * u[i + 1] * u[i]
        total += weighted(u)
    return total


@program(G56.astype(np.float32), 2, tags="float32")
def undo_single_precision(x: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        for i in range(1, len(u)):
            for j in range(len(u[0])):
                u[i, j] = u[i, j] * u[i - 1, j] + u[i, j] * u[i, j]
    return weighted(u)


@program(X7[:3] ** 2)
def undo_pushes_to_a_heap_in_branches(x: Any) -> Any:
    """The length of the heap is undone in arms of arms, where it is read in inner loops."""
    distances = [0.0, 1e9, 1e9]
    heap = [(0.0, 0)]
    while heap:
        distance, at = heapq.heappop(heap)
        for node, near in ((0, (1,)), (1, (2,)), (2, (0, 1))):
            if node != at or distance > distances[node]:
                continue
            for other in near:
                new = distance + x[other]
                if new < distances[other]:
                    distances[other] = new
                    heapq.heappush(heap, (new, other))
    return distances[1] * distances[2]
