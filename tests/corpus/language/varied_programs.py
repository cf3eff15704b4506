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
    steps = [np.tanh, np.sin, lambda v: v * x[1]]
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
