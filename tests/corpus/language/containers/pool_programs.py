"""Objects, dicts and lists of which the run decides how many there are: they are in pools."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder

POOL_PROGRAMS: list[Program] = []
program = recorder(POOL_PROGRAMS)
# Of more objects than become variables of the code each.
X10 = np.linspace(-0.9, 1.2, 10)
EDGES = np.array([[0, 1], [1, 2], [0, 3], [3, 9], [5, 0], [9, 7], [7, 7]])


class _Particle:
    def __init__(self, x: Any, v: Any) -> None:
        self.x = x
        self.v = v
        self.best = x
        self.steps = 0

    def energy(self) -> Any:
        return 0.5 * self.v**2 + math.cos(self.x)

    def step(self, dt: float) -> None:
        self.v = self.v - dt * math.sin(self.x)
        self.x = self.x + dt * self.v
        self.steps += 1
        if self.energy() < self.best:
            self.best = self.energy()


@program(X10)
def swarm_of_many_particles(x: Any) -> Any:
    swarm = [_Particle(a, 0.1 * a) for a in x]
    for _ in range(3):
        for p in swarm:
            p.step(0.1)
    best = swarm[0]
    for p in swarm:
        if p.energy() < best.energy():
            best = p
    best.x += 2.0
    return sum(p.x * p.best for p in swarm) + best.v + best.steps


@program(X10)
def generations_of_many_particles(x: Any) -> Any:
    population = [_Particle(a, a * a) for a in x]
    for g in range(3):
        children = []
        for p in population:
            if p.x > -0.5:
                child = _Particle(p.x * 0.9, p.v + 0.1)
                child.best = p.best + g
                children.append(child)
        population = children
    population.sort(key=lambda p: -p.v)
    return sum(k * p.best * p.x + p.v**2 for k, p in enumerate(population))


class _Body:
    def __init__(self, place: Any) -> None:
        self.place = place
        self.speed = np.zeros(2)


@program(X10)
def arrays_of_many_bodies_in_place(x: Any) -> Any:
    bodies = []
    for k in range(len(x)):
        bodies.append(_Body(np.array([x[k], k * 0.1])))
    for _ in range(2):
        for b in bodies:
            for other in bodies:
                if other is not b:
                    d = other.place - b.place
                    b.speed += 0.01 * d / (d @ d + 0.1)
        for b in bodies:
            b.place += b.speed
            b.speed[1] *= 0.5
    return sum(b.place @ b.speed for b in bodies)


class _Tree:
    def __init__(self, key: Any, value: Any) -> None:
        self.key = key
        self.value = value
        self.left: Any = None
        self.right: Any = None


@program(X10)
def search_tree_of_keys_of_the_run(x: Any) -> Any:
    root = _Tree(x[4], 1.0)
    for k in range(len(x)):
        node = root
        while True:
            if x[k] < node.key:
                if node.left is None:
                    node.left = _Tree(x[k], x[k] ** 2)
                    break
                node = node.left
            else:
                if node.right is None:
                    node.right = _Tree(x[k], x[k] ** 3)
                    break
                node = node.right
    total, walk = 0.0, root
    while walk is not None:
        total += walk.value * walk.key
        walk = walk.right
    return total


class _Square:
    def __init__(self, side: Any) -> None:
        self.side = side

    def area(self) -> Any:
        return self.side**2


class _Ring:
    def __init__(self, radius: Any, width: float) -> None:
        self.radius, self.width = radius, width

    def area(self) -> Any:
        return 3.0 * self.radius * self.width


@program(X10)
def many_shapes_of_two_classes(x: Any) -> Any:
    shapes: Any = []
    for k in range(len(x)):
        if k % 3 == 0:
            shapes.append(_Square(x[k]))
        else:
            shapes.append(_Ring(x[k], 0.5 * k))
    return sum(shape.area() ** 2 for shape in shapes)


@program(X10, EDGES)
def neighbours_in_lists(x: Any, edges: Any) -> Any:
    near: Any = [[] for _ in range(len(x))]
    for i, j in edges:
        near[i].append(j)
        near[j].append(i)
    total = 0.0
    for i in range(len(x)):
        for j in near[i]:
            total += x[i] * x[j] ** 2
        if len(near[i]) > 1:
            total += x[near[i][-1]]
    return total


@program(X10)
def groups_under_keys_of_the_run(x: Any) -> Any:
    groups: Any = defaultdict(list)
    for k, value in enumerate(x):
        groups[int(4 * abs(value))].append((k, value))
    total = 0.0
    for key in range(6):
        for k, value in groups[key]:
            total += key * value**2 + 0.1 * k * value
    return total + len(groups)


@program(X10)
def elimination_in_lists_of_lists(x: Any) -> Any:
    n = len(x)
    a = [[0.0 for _ in range(n)] for _ in range(n)]
    b = [value for value in x]
    for i in range(n):
        a[i][i] = 3.0 + x[i]
        if i > 0:
            a[i][i - 1] = a[i - 1][i] = 0.5
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
            b[i] -= f * b[k]
    return sum(b) + np.sum(np.array(a) ** 2)


@program(X10)
def lists_in_objects(x: Any) -> Any:
    nodes: Any = [{"value": value, "children": [], "seen": []} for value in x]
    for k in range(1, len(nodes)):
        nodes[(k - 1) // 3]["children"].append(nodes[k])
    for k in range(len(nodes) - 1, -1, -1):
        node = nodes[k]
        node["seen"].append(node["value"])
        for child in node["children"]:
            node["value"] += 0.5 * child["value"]
            node["seen"].append(child["value"] * node["value"])
    return sum(sum(node["seen"]) for node in nodes)


class _Cell:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.next: Any = None

    def value(self) -> Any:
        return self.x**2


class _Heavy(_Cell):
    def __init__(self, x: Any) -> None:
        super().__init__(0.5 * x)
        self.extra = 2.0 * x

    def value(self) -> Any:
        return self.x * self.extra + 0.1


@program(X10)
def the_best_of_several_classes(x: Any) -> Any:
    cells = [_Heavy(value) if value > 0.3 else _Cell(value) for value in x]
    for k in range(len(cells) - 1):
        if cells[k].x < cells[k + 1].x:
            cells[k], cells[k + 1] = cells[k + 1], cells[k]
    best = cells[0]
    for cell in cells:
        if cell.value() < best.value():
            best = cell
    best.x += 0.25
    first = max(cells, key=lambda cell: cell.x)
    first.x *= 1.5
    return best.value() + 2.0 * first.value() + sum(k * c.value() for k, c in enumerate(cells))


@program(X10)
def links_that_are_compared(x: Any) -> Any:
    cells = [_Cell(value) for value in x]
    for k in range(len(cells)):
        if x[k] > 0.0:
            cells[k].next = cells[k // 2]
    total = 0.0
    for k, cell in enumerate(cells):
        if cell.next == cells[4]:
            total += cell.x
        if cell.next != cells[k // 2].next:
            total += k * cell.x**2
    return total


@program(X10)
def sorted_objects_under_another_name(x: Any) -> Any:
    cells = [_Cell(value) for value in x]
    kept = [cells[0]]
    for k in range(len(x)):
        if x[k] > 0.0:
            kept = cells
        for cell in list(kept):
            cell.x *= 0.9
        cells = sorted(cells, key=lambda cell: -cell.x)
        kept = [cell for cell in kept if cell.x < 0.8] or cells
    return sum(k * cell.x for k, cell in enumerate(cells)) + sum(cell.x for cell in kept)


@program(X10)
def lists_of_many_objects_repeated(x: Any) -> Any:
    cells = [_Cell(value) for value in x if value > -0.5]
    turns = cells * 2
    for k, cell in enumerate(turns):
        cell.x += 0.1 * k
    values = [cell.x for cell in cells]
    return sum(cell.value() for cell in turns) + sum(2 * values) + len(values * -1)


class _Ranked:
    def __init__(self, rank: Any, x: Any) -> None:
        self.rank = rank
        self.x = x

    def __lt__(self, other: Any) -> bool:
        return bool(self.rank < other.rank)


@program(X10)
def objects_with_an_order(x: Any) -> Any:
    made = [_Ranked(k * 7 % 5, value) for k, value in enumerate(x)]
    least = min(made)
    least.x += 2.0
    last = max(made, key=lambda each: each.rank)
    last.x *= 3.0
    made.sort(reverse=True)
    again = sorted(made)
    rows = [[float(each.rank), each.x] for each in again]
    return (
        sum(k * each.x for k, each in enumerate(made))
        + sum(k * k * each.x for k, each in enumerate(again))
        + max(rows)[1]
    )


@program(X10)
def objects_that_are_their_own_next(x: Any) -> Any:
    cell = _Cell(x[0])
    total = 0.0
    for value in x[1:]:
        before = cell
        cell = cell.next = _Cell(value)
        cell.next.x *= 2.0
        total += cell.x + before.x
    return total + cell.next.next.value()


@program(X10)
def lists_of_the_run_unpacked(x: Any) -> Any:
    rows: Any = [[value, 2.0, value**2] for value in x]
    rows[1].pop()
    total = 0.0
    for row in rows:
        if len(row) == 3:
            a, b, c = row
            total += a * b * c
    a, b = rows[1]
    return total + a * b


@program(X10)
def rows_of_several_kinds(x: Any) -> Any:
    pairs = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[i] * x[j] > 0.1:
                pairs.append([i, j, "near" if x[i] > x[j] else "far", x[i] * x[j]])
    total = 0.0
    for i, j, kind, weight in pairs:
        total += weight * (x[i] if kind == "near" else x[j] - 1.0)
    pairs[0][3] = 2.0 * total
    return total + len(pairs) + pairs[0][3] * x[pairs[-1][1]]


@program(X10)
def rows_that_are_unpacked_and_swapped(x: Any) -> Any:
    path = [[x[0], 0.0]]
    for value in x[1:]:
        place, height = path[-1]
        path.append([place + value, height * 0.5 + value**2])
    first, last = path[0], path[-1]
    first[0], last[0] = last[0], first[0]
    places, heights = zip(*path, strict=True)
    best = max(path, key=lambda row: row[1])
    best[1] = 3.0
    return sum(a * b for a, b in path) + heights[-1] * places[1]


@program(X10)
def rows_that_grow_after_all(x: Any) -> Any:
    rows: Any = [[value, 2.0] for value in x]
    for row in rows:
        if row[0] > 0.2:
            row.append(row[0] ** 2)
    return sum(sum(row) * len(row) for row in rows)


@program(X10)
def rows_with_arrays(x: Any) -> Any:
    rows: Any = [[k, value * np.ones(2)] for k, value in enumerate(x)]
    for row in rows:
        row[1] = row[1] * row[0] + 1.0
        row[0] += 1
    return sum(np.sum(each) * k for k, each in rows)


@program(X10[:9].reshape(3, 3) + np.eye(3))
def rows_that_pivots_swap(a: Any) -> Any:
    n = len(a)
    rows = [[*r, *(float(i == j) for j in range(n))] for i, r in enumerate(a.tolist())]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(rows[r][c]))
        rows[c], rows[p] = rows[p], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for r in range(n):
            if r != c:
                f = rows[r][c]
                rows[r] = [v - f * w for v, w in zip(rows[r], rows[c], strict=True)]
    return sum(v * (k + 1) for row in rows for k, v in enumerate(row[n:]))


class _Link:
    def __init__(self, x: float) -> None:
        self.x = x
        self.link: Any = None


class _Scaled(_Link):
    def __init__(self, x: float) -> None:
        super().__init__(0.5 * x)
        self.own = x


@program(X10[:4])
def objects_of_two_classes_in_a_list_that_grew(x: Any) -> Any:
    """The second loop copies what the first one appended, more rows than it needs."""
    links: Any = []
    last: Any = None
    for v in x:
        made = _Link(v)
        made.link = last
        last = made
        links.append(made)
    for v in x:
        links.append(_Scaled(v))
    for each in links:
        if each.link is not None:
            each.link.x += 0.1 * each.x
    return sum(each.x * (k + 1) for k, each in enumerate(links))
