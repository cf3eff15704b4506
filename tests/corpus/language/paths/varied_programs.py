"""Programs with values of several kinds: numbers that become arrays, what is chosen at run time.

And with classes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import X3, X6, Program, recorder

VARIED_PROGRAMS: list[Program] = []
program = recorder(VARIED_PROGRAMS)

# --- numbers that become arrays -------------------------------------------------------------------


@program(X3)
def sum_of_arrays_in_a_while(x: Any) -> Any:
    s = 0.0
    k = 0
    while k < 3:
        s = s + np.sin(x * k)
        k += 1
    return weighted(s)


@program(X3)
def sum_of_arrays_until_it_is_large(x: Any) -> Any:
    s = 0
    while True:
        s = s + x * x
        if np.sum(s) > 50.0:
            break
    return np.sum(s * x)


@program(X6)
def sum_of_arrays_where_numbers_are_large(x: Any) -> Any:
    total = 0
    for k in range(len(x)):
        if x[k] < 0.5:
            continue
        total += x * x[k]
    return np.sum(total * total)


@program(X3)
def sum_of_no_arrays(x: Any) -> Any:
    s = 1.5
    while np.sum(s) < 0.0:
        s = s - x
    return np.sum(s) * np.sum(x) + len(np.shape(s))


@program(X6)
def array_that_becomes_a_number(x: Any) -> Any:
    y = x * x
    s = 0.0
    for k in range(len(x)):
        s += np.sum(y) * x[k]
        if k == 3:
            break
        y = y * 0.5 if k < 1 else np.sum(y)
    return s + np.mean(y)


@program(X6)
def array_returned_from_a_loop(x: Any) -> Any:
    def accumulated(limit: Any) -> Any:
        total = 0.0
        for k in range(len(x)):
            if np.sum(total) > limit:
                return total
            total = total + x * abs(x[k])
        return total

    return np.sum(accumulated(1.0) ** 2) + np.sum(accumulated(-1.0)) + np.sum(accumulated(1e3))


@program(X3)
def row_or_matrix(x: Any) -> Any:
    m = np.outer(x, x) if x[0] > 0.1 else x
    m = m * 2.0
    if m.ndim == 2:
        return np.sum(m @ x)
    return np.sum(m)


# --- texts ----------------------------------------------------------------------------------------


@program(X6)
def machine_of_three_states(x: Any) -> Any:
    state = "idle"
    s = 0.0
    for t in range(len(x)):
        if state == "idle" and x[t] > 0.3:
            state = "run"
        elif state == "run" and x[t] < 0.0:
            state = "done"
        if state == "run":
            s += x[t] ** 2
        elif state == "done":
            s += 3.0 * np.sin(x[t])
        else:
            s -= x[t]
    return s


@program(X6)
def machine_with_a_table(x: Any) -> Any:
    rates = {"up": 1.5, "down": -0.5, "flat": 0.1}
    direction, level = "flat", 1.0
    k = 0
    while k < len(x):
        direction = "up" if x[k] > 0.4 else "down" if x[k] < -0.2 else direction
        level = level * (1.0 + rates[direction] * x[k] * 0.1)
        k += 1
    return level * level


@dataclass
class _Machine:
    state: str = "idle"
    energy: float = 0.0

    def feed(self, v: Any) -> None:
        match self.state:
            case "idle":
                if v > 0.2:
                    self.state = "run"
            case "run":
                self.energy += v * v
                if v < 0.0:
                    self.state = "done"
            case _:
                self.energy += v


@program(X6)
def machine_that_is_an_object(x: Any) -> Any:
    machine = _Machine()
    for v in x:
        machine.feed(v)
    return machine.energy * (1.0 + len(machine.state)) + x[0]


@program(X6)
def function_of_the_mode(x: Any) -> Any:
    def applied(mode: Any, v: Any) -> Any:
        if mode not in ("sin", "square"):
            raise ValueError(mode)
        return np.sin(v) if mode == "sin" else v * v

    mode = None
    s = 0.0
    for v in x:
        if mode is None or v > 0.5:
            mode = "sin"
        elif mode == "sin":
            mode = "square"
        s += applied(mode, v) * v
    return s


@program(X3)
def functions_chosen_at_run_time(x: Any) -> Any:
    f = np.sin if x[0] > 0.0 else np.cos
    g = {"a": np.exp, "b": np.tanh}["a" if x[1] < x[2] else "b"]
    return np.sum(f(x) * g(x))


@program(X6)
def names_of_the_largest(x: Any) -> Any:
    name, best = "none", -10.0
    for k, label in enumerate(("a", "b", "c", "b", "a", "c")):
        if x[k] > best:
            name, best = label, x[k]
    weights = {"a": 1.0, "b": 2.0, "c": 3.0}
    return best * best * weights[name] + len(name.upper()) * x[1]


# --- elements with texts, in order ----------------------------------------------------------------


@dataclass
class _Item:
    name: str
    value: float

    def cost(self) -> Any:
        return self.value**2


@program(X3)
def objects_in_order(x: Any) -> Any:
    items = [_Item("p", x[0]), _Item("qq", x[1]), _Item("rrr", x[2])]
    items.sort(key=lambda item: -item.value)
    s = 0.0
    for k, item in enumerate(items):
        s += item.cost() * (k + 1) * len(item.name)
    return s + min(items, key=lambda item: item.value).cost()


@program(X3)
def pairs_with_names_in_order(x: Any) -> Any:
    s = 0.0
    costs = {"a": x[0] * x[1], "b": x[1], "c": np.exp(x[2])}
    for name, cost in sorted(costs.items(), key=lambda pair: pair[1], reverse=True):
        if name == "b":
            s = s * cost + cost
        else:
            s += cost**2
    name, most = max(costs.items(), key=lambda pair: pair[1])
    return s + most * len(name + "x")


# --- classes inside a function --------------------------------------------------------------------


@program(X3)
def classes_inside_a_function(x: Any) -> Any:
    scale = 3.0

    @dataclass
    class Vector:
        a: float
        b: float = 0.5

        def __add__(self, other: Any) -> Any:
            return Vector(self.a + other.a, self.b * other.b)

        @property
        def norm(self) -> Any:
            return np.sqrt(self.a**2 + self.b**2) * scale

    class Longer(Vector):
        def double(self) -> Any:
            return self.norm * 2.0

    total = Vector(1.0)
    for v in x:
        total = total + Vector(v, v * v)
    return total.norm + Longer(x[0], x[1]).double()


# --- generators that several places draw from -----------------------------------------------------


@program(X6)
def generator_drawn_from_in_places(x: Any) -> Any:
    squares = (v * v for v in x)
    first = next(squares)
    second = next(squares, 0.5)
    s = 1.0
    for v in squares:
        s = s * 0.5 + v * first
        if v > 2.5:
            break
    return s + second * sum(squares) + next(squares, x[0])


# --- real or complex numbers, as values decide ----------------------------------------------------


def _coefficients(x: Any) -> Any:
    return [1.0, x[0], x[1] - 1.0, 0.3 * x[2]]


@program(X3)
def roots_that_are_real(x: Any) -> Any:
    real = [z.real for z in np.roots(_coefficients(x)) if abs(z.imag) < 1e-9]
    return max(real) ** 2 + len(real)


@program(X3)
def roots_one_by_one(x: Any) -> Any:
    s = 0.0
    for k, z in enumerate(np.roots(_coefficients(x))):
        s += k * np.real(z) ** 2 + abs(z)
    return s


@program(X3)
def roots_of_a_quadratic(x: Any) -> Any:
    first, second = np.roots([x[0], x[1], x[2]])
    return np.real(first * second + first) + abs(second)


@program(X3)
def largest_eigenvalue(x: Any) -> Any:
    leslie = np.zeros((3, 3))
    leslie[0] = np.abs(x)
    leslie[1, 0] = 0.5
    leslie[2, 1] = 0.7
    values, vectors = np.linalg.eig(leslie)
    k = np.argmax(values.real)
    stable = np.abs(vectors[:, k])
    return values[k].real + weighted(stable / np.sum(stable))


def _energy(w: Any) -> Any:
    if np.iscomplexobj(w):
        return np.sum(w.real**2 - w.imag**2)
    return np.sum(w**3)


@program(X3)
def energy_of_either_kind(x: Any) -> Any:
    turn = np.array([[x[0], 1.0], [-x[1], 0.5]])
    return _energy(np.linalg.eigvals(turn)) + _energy(np.linalg.eigvals(turn * turn.T))


# --- elements picked by a number known only at run time -------------------------------------------

COLOURS = ("red", "green", "blue", "red")
PRICES = {"red": 2.0, "green": 3.0, "blue": 5.0}


class _Agent:
    def __init__(self, wealth: Any, name: str) -> None:
        self.wealth, self.name, self.given = wealth, name, 0
        self.place = np.array([wealth, 2.0 * wealth])

    def give(self, other: _Agent, amount: Any) -> None:
        self.wealth -= amount
        other.wealth += 0.9 * amount
        self.given += 1

    @property
    def worth(self) -> Any:
        return self.wealth**2 + self.place[0] * self.place[1]


@program(X6, smooth=False)
def picked_texts(x: Any) -> Any:
    s = 0.0
    for k in np.argsort(x[:4]):
        s += PRICES[COLOURS[k]] * x[k] ** 2
        if COLOURS[k] == "blue":
            s += x[5]
    best = COLOURS[int(np.argmax(x[:4]))]
    print(best, f"{best:>8}|{COLOURS[int(np.argmin(x[:4]))]!r}", [best])
    return s * len(best)


@program(X6, 7)
def picked_functions(x: Any, n: Any) -> Any:
    steps: list[Any] = [np.tanh, np.sin, lambda v: v * x[1]]
    s = x[0]
    for i in range(n):
        s = steps[i % 3](s) + x[i % 6]
    return s


@program(X6, 6, smooth=False)
def picked_objects(x: Any, n: Any) -> Any:
    agents = [_Agent(x[0], "a"), _Agent(x[1], "b"), _Agent(x[2], "c")]
    for t in range(n):
        i, j = (2 * t) % 3, int(4.0 + agents[t % 3].wealth) % 3
        if i != j:
            agents[i].give(agents[j], 0.1 * agents[i].wealth)
        agents[j].place[t % 2] *= x[4]
        agents[i].place[1] = x[3] * agents[j].given if agents[i].wealth > 0.5 else agents[j].worth
    return agents[0].worth + 2.0 * agents[1].worth - 3.0 * agents[2].worth


@program(X6, smooth=False)
def picked_dicts_in_a_condition(x: Any) -> Any:
    bids = [{"price": x[0], "who": "A"}, {"price": x[3], "who": "B"}, {"price": x[2], "who": "C"}]
    i = 0
    total = 0.0
    while i < len(bids) and bids[i]["price"] < 1.5:
        total += bids[i]["price"] * x[4]
        bids[i]["price"] = 0.5 * x[5]
        i += 1
    return total + sum(bid["price"] ** 2 for bid in bids) * (i + 1)


@program(X6, 5, smooth=False)
def picked_arrays_of_several_sizes(x: Any, n: Any) -> Any:
    weights = [x[:2], x[1:] * x[0], 2.0 * x]
    s = 0.0
    for _ in range(n):
        k = int(10.0 * abs(s)) % 3
        s += 0.1 * np.sum(weights[k] * x[k])
    return s


@program(X6, 5, smooth=False)
def elements_replaced_at_places_known_later(x: Any, n: Any) -> Any:
    agents = [_Agent(x[0], "a"), _Agent(x[1], "b"), _Agent(x[2], "c")]
    for t in range(n):
        k = int(4.0 * abs(x[t % 6])) % 3
        agents[0], agents[k] = agents[k], agents[0]
        agents[k].wealth += 0.1 * t * x[3]
    parts, k = [x[:2], x[1:3], 2.0 * x[2:4]], int(3.0 * abs(x[4])) % 3
    parts[k] = x[4] * x[:2]
    agents[k - 1] = agents[k]
    first = agents.pop(k)
    first.wealth *= x[5]
    del agents[k // 2]
    return first.worth * np.sum(parts[1]) + agents[0].worth * np.sum(parts[k] * parts[0])


def _richer(a: Any, b: Any) -> Any:
    return a if a.wealth > b.wealth else b


@program(X6, 4, smooth=False)
def chosen_without_a_name(x: Any, n: Any) -> Any:
    agents = [_Agent(x[0], "a"), _Agent(x[1], "b"), _Agent(x[2], "c")]
    s = 0.0
    for t in range(n):
        k = t % 3
        _richer(agents[0], agents[k]).wealth *= 0.9
        if _richer(agents[1], agents[k]) is agents[k]:
            s += max(agents, key=lambda agent: agent.place[0]).worth
        (agents[1] if x[t] > 0.5 else agents[k]).place[t % 2] += x[3] * s
        s += sum(agent.wealth for agent in agents if agent is not agents[k])
    return s + _richer(*agents[:2]).worth


@program(X6, 6, smooth=False)
def none_or_one_of_several_objects(x: Any, n: Any) -> Any:
    agents = [_Agent(x[0], "a"), _Agent(x[1], "b"), _Agent(x[2], "c")]
    best, held, s = None, None, 0.0
    for t in range(n):
        agent = agents[t % 3]
        if best is None or agent.wealth > best.wealth:
            best = agent
            best.wealth -= 0.1 * x[3]
        if held is agent:
            held = None
        elif x[t] > 0.0:
            held = agents[(t + 1) % 3]
        if held is not None and held is not best:
            s += held.worth * x[4]
            held.place[0] *= 1.1
    return s + best.worth + (0.0 if held is None else held.wealth)  # type: ignore[union-attr]  # of the first agent at least


class _Spring:
    def __init__(self, i: int, j: int, rest: float) -> None:
        self.i, self.j, self.rest = i, j, rest


def _springs(rows: int, columns: int) -> list[_Spring]:
    found = []
    for r in range(rows):
        for c in range(columns):
            if c + 1 < columns:
                found.append(_Spring(r * columns + c, r * columns + c + 1, 0.3))
            if r + 1 < rows:
                found.append(_Spring(r * columns + c, (r + 1) * columns + c, 0.5))
    return found


@program(X6)
def list_whose_outer_loop_decides_what_is_appended(x: Any) -> Any:
    s = 0.0
    for spring in _springs(2, 3):
        s += (x[spring.i] - x[spring.j] - spring.rest) ** 2
    return s


# --- objects of several classes ---------------------------------------------------------------


class _Shape:
    def __init__(self, size: Any) -> None:
        self.size, self.hits = size, 0
        self.marks = np.array([size, 1.0])

    def hit(self, d: Any) -> _Shape:
        self.size += d
        self.hits += 1
        return self

    def __lt__(self, other: _Shape) -> bool:
        return bool(self.size < other.size)


class _Circle(_Shape):
    def area(self) -> Any:
        return 3.0 * self.size**2

    def meets(self, x: Any) -> Any:
        return self.size * x if self.size > 0.3 else None


class _Square(_Shape):
    def __init__(self, size: Any, tilt: Any) -> None:
        super().__init__(size)
        self.tilt = tilt

    def area(self) -> Any:
        return self.size**2 + self.tilt

    def meets(self, x: Any) -> Any:
        return self.size + x if x > 0.0 else None


def _shapes(x: Any) -> list[Any]:
    return [_Circle(x[0]), _Square(x[3], x[2]), _Circle(x[2]), _Square(x[5], x[0])]


@program(X6, smooth=False)
def largest_of_objects_of_several_classes(x: Any) -> Any:
    shapes = _shapes(x)
    most, largest = -np.inf, None
    for shape in shapes:
        if shape.area() > most:
            most, largest = shape.area(), shape
    if largest is None:
        return 0.0
    largest.hit(x[0] * 10.0)
    return sum(shape.area() for shape in shapes) + largest.size * x[1]


def _met(shapes: list[Any], x: Any) -> Any:
    least, found = np.inf, None
    for shape in shapes:
        t = shape.meets(x)
        if t is not None and t < least:
            least, found = t, shape
    return found, least


def _traced(shapes: list[Any], x: Any, depth: int = 0) -> Any:
    shape, t = _met(shapes, x)
    if shape is None:
        return 0.1 * x
    light = shape.area() * t
    if depth < 2 and shape.size > 0.0:
        light += 0.3 * _traced(shapes, 0.5 * x + 0.1 * t, depth + 1)
    return light


@program(X6, smooth=False)
def first_object_met_of_several_classes(x: Any) -> Any:
    return sum(_traced(_shapes(x), x[0] * k - 0.5) for k in range(4))


@program(X6, smooth=False)
def objects_of_several_classes_in_a_while(x: Any) -> Any:
    a, b = _Circle(x[0]), _Square(x[3], x[2])
    q: Any = a
    k = 0
    while a.size + b.size < 9.0:
        q.hit(x[5])
        q = b if q.size > a.size else a
        q.marks[k % 2] += q.size
        k += 1
    return a.area() + b.area() * 2.0 + q.size + np.sum(a.marks * b.marks)


class _Holder:
    def __init__(self, one: Any) -> None:
        self.now = one
        self.all = [one]

    def swap(self, other: Any) -> None:
        self.now = other
        self.all.append(other)


@program(X6, smooth=False)
def attribute_that_is_one_of_several_objects(x: Any) -> Any:
    a, b = _Circle(x[0]), _Square(x[3], x[2])
    holder = _Holder(a)
    if x[0] > x[3]:
        holder.now = b
    holder.now.hit(x[2])
    holder.swap(a if x[5] > x[2] else b)
    holder.now.hit(x[3]).hit(1.0)
    holder.all[1].hit(0.5)
    return a.area() + b.area() + len(holder.all) * holder.all[-1].size + holder.now.hits


@program(X6, smooth=False)
def names_of_one_of_several_objects(x: Any) -> Any:
    shapes = _shapes(x)
    q, r = shapes[int(np.argmax(x)) % 4], shapes[int(np.argmin(x)) % 4]
    q.hit(1.0)
    r.hit(x[4])
    q.hit(x[0] * r.size)
    s = 1.0 if q is r else 2.0
    if q is shapes[2] and isinstance(q, _Circle):
        s += 3.0
    p = shapes[1] if q < r else q
    p.size, r.size = r.size * 2.0, p.size * 3.0
    p.marks, r.marks = r.marks, p.marks
    q.marks[0] = 5.0 * x[3]
    s += (q in shapes) + shapes.index(q) * x[3] + getattr(r, "tilt", x[1])
    return s + sum(shape.area() + shape.marks[0] * k for k, shape in enumerate(shapes))


@program(X6, smooth=False)
def picked_objects_in_a_loop(x: Any) -> Any:
    shapes = _shapes(x)
    s = 0.0
    for k in np.argsort(x[:4]):
        shape = shapes[k]
        shape.hit(s * 0.01)
        s += shape.area() * (k + 1)
    return s + shapes[0].size + shape.size


# --- lists of objects and texts, of any length ----------------------------------------------------


class _Job:
    def __init__(self, start: Any, work: Any) -> None:
        self.start, self.work = start, work
        self.marks = np.array([start, 1.0])

    def cost(self) -> Any:
        return self.work**2 + self.start * self.marks[1]


def _jobs(x: Any) -> list[_Job]:
    return [_Job(x[0], x[3]), _Job(x[2], x[5]), _Job(x[3], x[2]), _Job(x[0] + x[2], x[0])]


@program(X6, smooth=False)
def objects_that_a_condition_selects(x: Any) -> Any:
    jobs = _jobs(x)
    late = [job for job in jobs if job.start > 0.5]
    rest = [job for job in jobs if not job.start > 0.5]
    s = sum(job.cost() for job in late) + sum(job.work for job in rest) * len(late)
    for job in late:
        job.work += x[1]
    if late:
        s += late[0].cost()
    late.reverse()
    both = late + rest
    both[0].marks[1] = 4.0 * x[4]
    s += sum((k + 1) * job.marks[1] for k, job in enumerate(both))
    return s + sum(job.work**2 for job in jobs)


@program(np.array([0.3, 1.7, 0.4, 2.1, 0.9, 0.6]), smooth=False)
def queues_of_objects(x: Any) -> Any:
    coming = _jobs(np.abs(x))
    waiting: list[_Job] = []
    t, cost, served = 0.0, 0.0, 0
    while coming or waiting:
        while coming and coming[0].start <= t:
            waiting.append(coming.pop(0))
        if not waiting:
            t = coming[0].start
            continue
        job = waiting.pop(0)
        t += job.work
        cost += (t - job.start) * (served + 1)
        job.work = 0.5
        served += 1
    return cost + 0.1 * t * t


@program(X6, smooth=False)
def stack_of_objects_seen_once(x: Any) -> Any:
    jobs = _jobs(x)
    stack, seen = [jobs[0]], []
    s = 0.0
    while stack:
        job = stack.pop()
        if job in seen:
            continue
        seen.append(job)
        s += job.cost() * len(seen)
        job.work += 0.5
        for other in jobs:
            if abs(other.start - job.start) > 0.25:
                stack.append(other)
    return s + sum(job.work for job in jobs)


@program(X6, 9, smooth=False)
def objects_that_die(x: Any, n: Any) -> Any:
    jobs = _jobs(x)
    alive = jobs
    s = 0.0
    for t in range(n):
        for job in alive:
            job.start -= 0.11 * (t + 1)
            job.work += job.start * x[1]
        alive = [job for job in alive if job.start > 0.0]
        s += sum(job.work for job in alive)
        if not alive:
            break
    return s + sum(job.work**2 for job in jobs)


@program(X6, 9, smooth=False)
def events_with_texts(x: Any, n: Any) -> Any:
    events = []
    t = 0.0
    for i in range(n):
        t += x[i % 6]
        if t > 1.5:
            events.append(("far", t))
            t = 0.0
        elif x[i % 6] > 0.6:
            events.append(("up", x[i % 6]))
    kinds = [kind for kind, _ in events]
    print(kinds, kinds.count("far"), kinds.index("up"), "down" in kinds, len(events))
    s = 0.0
    for kind, value in events:
        s += value**2 if kind == "far" else -value
    return s + (kinds[-1] == "far") * x[0]


class _Turbine:
    def __init__(self, place: Any) -> None:
        self.place = place
        self.wakes: list[Any] = []


class _Wake:
    def __init__(self, source: Any, strength: Any) -> None:
        self.source, self.strength = source, strength


@program(X3, smooth=False)
def objects_that_lead_to_each_other(x: Any) -> Any:
    turbines = [_Turbine(x[k]) for k in range(3)]
    done: list[Any] = []
    s = 0.0
    for turbine in sorted(turbines, key=lambda each: each.place):
        wind = 2.0
        for other in done:
            for wake in other.wakes:
                wind -= wake.strength / (1.0 + turbine.place - wake.source.place)
        turbine.wakes.append(_Wake(turbine, 0.1 * wind))
        done.append(turbine)
        s += wind**3
    return s


@program(X3, 4, smooth=False)
def objects_made_for_one_of_two_lists(x: Any, n: Any) -> Any:
    near: list[Any] = []
    far: dict[str, list[Any]] = {"jobs": []}
    for k in range(4):
        if x[k % 3] * k > 0.5:
            near.append(_Job(x[0] * k, x[1]))
        else:
            far["jobs"].append(_Job(x[k % 3], x[2] * k))
    for job in far["jobs"]:
        job.work *= job.start
    return sum(job.start * job.work for job in near) + sum(job.work for job in far["jobs"]) * n


@program(X6, smooth=False)
def dicts_that_are_one_of_several(x: Any) -> Any:
    events = []
    rows: list[dict[str, Any]] = [{"v": x[k], "hits": []} for k in range(3)]
    best = rows[0]
    for k in range(4):
        for row in rows:
            if abs(row["v"] - x[k]) < abs(best["v"] - x[k]):
                best = row
        best["hits"].append(x[k] * k)
        best["v"] *= 0.9
        if x[k] > 0.5:
            events.append({"v": x[k], "k": k})
    s = sum(event["v"] * event["k"] for event in events)
    for row in rows:
        for hit in row["hits"]:
            s += hit * row["v"]
    return s


# --- trees ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Constant:
    value: Any


@dataclass(frozen=True)
class _Variable:
    name: str


@dataclass(frozen=True)
class _Operation:
    name: str
    left: Any
    right: Any = None


def _value(node: Any, names: Any) -> Any:
    match node:
        case _Constant(value):
            return value
        case _Variable(name=name):
            return names[name]
        case _Operation("sin", inner):
            return np.sin(_value(inner, names))
        case _Operation(name="+", left=a, right=b):
            return _value(a, names) + _value(b, names)
        case _Operation("*", a, b):
            return _value(a, names) * _value(b, names)
    raise TypeError(node)


@program(X3)
def expression_that_is_a_tree(x: Any) -> Any:
    tree: Any = _Constant(x[0])
    for k in range(5):
        product = _Operation("*", tree, _Variable("y" if k % 2 else "z"))
        tree = _Operation("+", product, _Operation("sin", _Variable("z")))
    return _value(tree, {"y": x[1], "z": x[2]})


class _Reach:
    def __init__(self, k: Any, *above: Any) -> None:
        self.k, self.above = k, above
        self.peaks: list[Any] = []

    def walk(self) -> Any:
        for each in self.above:
            yield from each.walk()
        yield self


def _routed(reach: Any, rain: Any) -> Any:
    flow = reach.k * rain
    for each in reach.above:
        flow = flow + _routed(each, rain)
    for i in range(1, len(flow)):
        flow[i] += reach.k * flow[i - 1]
    reach.peaks.append(flow[-1])
    return flow


@program(X6)
def tree_that_a_recursion_changes(x: Any) -> Any:
    k = 0.3 * x[:5]
    outlet = _Reach(k[0], _Reach(k[1], _Reach(k[2]), _Reach(k[3])), _Reach(k[4]))
    flow = _routed(outlet, x)
    s = flow[2] * flow[3]
    for reach in outlet.walk():
        s = 0.5 * s + reach.peaks[0] * reach.k
    return s


class _Logger:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.last = ""

    def __call__(self, pattern: str, *args: Any) -> str:
        self.last = pattern.format(*args)
        self.lines.append(self.last)
        return self.last


@program(X6, 4, smooth=False)
def lines_of_a_log(x: Any, n: Any) -> Any:
    log, best, s = _Logger(), None, 0.0
    for t in range(n):
        s += np.sum(np.sin(x * t))
        log("step {}: {:.3f}", t, s)
        if best is None or x[t] > 0.5:
            best = f"large at {t}: {x[t]!r}"
    status = f"ok {s:.1f}" if s > 0.0 else "negative"
    text = "; ".join(log.lines) + (best or "") + status
    return s * (2.0 if text else 1.0) * len(log.lines)
