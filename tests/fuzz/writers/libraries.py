"""The source of functions and classes that programs of arrays and containers use."""

ARRAY_LIBRARY = """
def head(a):
    return a[:-1]


def swapped(a):
    return a[::-1]


def scaled(a, factor=0.5):
    return a * factor + 0.1337


def smooth(a, rate=0.3):
    a[1:-1] += rate * (0.5 * (a[:-2] + a[2:]) - a[1:-1])
    return a


def norm(a):
    return np.sqrt(1.1 + np.sum(a * a))


def fold(a):
    a *= 0.7
    a += 0.2 * np.cos(a[::-1])


def ends(a):
    return a[0], a[-1]
"""


CONTAINER_LIBRARY = """
class State(NamedTuple):
    pos: np.ndarray
    vel: np.ndarray
    t: float = 0.1337


@dataclass
class Body:
    mass: float
    x: np.ndarray

    def push(self, f, dt=0.1):
        self.mass = 0.6 * self.mass + 0.3 * math.tanh(f)
        self.x *= 0.9
        self.x += dt * f
        return self.mass

    def energy(self):
        return 0.5 * self.mass * float((self.x * self.x).sum())


@dataclass(frozen=True)
class Rate:
    k: float
    shift: float = 0.2337

    def __call__(self, v):
        return self.k * math.sin(v + self.shift)

    @property
    def twice(self):
        return self.k * 2.0


class Counter:
    scale = 0.4337

    def __init__(self, start, table):
        self.total = start
        self.table = table
        self.calls = 0

    def add(self, v):
        self.calls += 1
        self.total = 0.7 * self.total + self.scale * math.tanh(v)
        self.table[self.calls % len(self.table)] += 0.1 * v
        return self

    def value(self):
        return self.total + 0.1 * self.calls


def advance(state, dt):
    pos = state.pos + dt * state.vel
    return State(pos, state.vel * 0.9 - dt * np.sin(pos), state.t + dt)


def unpacked(first, *rest, scale=0.3):
    s = first
    for r in rest:
        s = 0.5 * s + scale * r
    return s


def relax(p, rate=0.3):
    p["u"] = 0.6 * p["u"] + rate * math.tanh(p["u"])
    p["w"][0] = 0.5 * p["w"][0] + 0.3 * p["u"]
"""


IMPORTS = """\
from dataclasses import dataclass
from typing import NamedTuple

"""
