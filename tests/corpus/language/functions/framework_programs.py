"""Programs with small frameworks of their own: graphs of operations, optimisers, event queues."""

from __future__ import annotations

import copy
import enum
import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder, uniform

FRAMEWORK_PROGRAMS: list[Program] = []
program = recorder(FRAMEWORK_PROGRAMS, "object")


class Node:
    """A number that knows how it was computed, as in introductions to reverse mode."""

    def __init__(self, data: Any, parents: tuple[Node, ...] = ()) -> None:
        self.data = data
        self.grad = 0.0
        self.parents = set(parents)
        self.backward: Callable[[], None] = lambda: None

    def __add__(self, other: Node) -> Node:
        out = Node(self.data + other.data, (self, other))

        def backward() -> None:
            self.grad += out.grad
            other.grad += out.grad

        out.backward = backward
        return out

    def __mul__(self, other: Node) -> Node:
        out = Node(self.data * other.data, (self, other))

        def backward() -> None:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.backward = backward
        return out

    def tanh(self) -> Node:
        t = math.tanh(self.data)
        out = Node(t, (self,))

        def backward() -> None:
            self.grad += (1.0 - t * t) * out.grad

        out.backward = backward
        return out

    def run_back(self) -> None:
        order: list[Node] = []
        visited: set[Node] = set()

        def visit(node: Node) -> None:
            if node not in visited:
                visited.add(node)
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node.backward()


@program(X3)
def graph_of_nodes_in_sets(x: Any) -> Any:
    w, b, u = (Node(x[k]) for k in range(3))
    out = (w * u + b).tanh() * w
    out.run_back()
    return w.grad * b.grad + u.grad**2 + out.data


class Weight:
    def __init__(self, data: Any) -> None:
        self.data = data
        self.grad = 0.0 * data


class Net:
    def __init__(self, w: Any, inner: Net | None = None) -> None:
        self.weight, self.inner = Weight(w), inner

    def parameters(self) -> Iterator[Weight]:
        yield self.weight
        if self.inner is not None:
            yield from self.inner.parameters()

    def attributes(self) -> list[Any]:
        return [each for each in self.__dict__.values() if isinstance(each, Weight)]


class Momentum:
    def __init__(self, weights: Any, rate: float) -> None:
        self.weights, self.rate = list(weights), rate
        self.moving = [0.0 * each.data for each in self.weights]

    def step(self) -> None:
        for k, each in enumerate(self.weights):
            self.moving[k] = 0.9 * self.moving[k] + each.grad
            each.data = each.data - self.rate * self.moving[k]


@program(uniform(71, 3, 3), uniform(72, 3, 3), argnums=(0, 1))
def optimiser_of_a_generator_of_parameters(w: Any, u: Any) -> Any:
    net = Net(w, Net(u))
    steps = Momentum(net.parameters(), 0.1)
    for _ in range(2):
        for each in net.parameters():
            each.grad = np.tanh(each.data) * each.data
        steps.step()
    assert len(net.attributes()) == 1
    return sum(np.sum(each.data**2) for each in net.parameters())


class Kind(enum.Enum):
    ARRIVE = enum.auto()
    LEAVE = enum.auto()


@program(
    np.array([0.3, 0.8, 0.45, 1.2, 0.25]), np.array([0.5, 0.35, 0.6, 0.2, 0.4]), argnums=(0, 1)
)
def queue_of_events_with_members_of_an_enumeration(arrivals: Any, services: Any) -> Any:
    ids = itertools.count()
    events: list[Any] = []
    heapq.heappush(events, (arrivals[0], next(ids), Kind.ARRIVE))
    seen, busy, now, cost = 1, 0, 0.0, 0.0
    while events:
        at, _, kind = heapq.heappop(events)
        cost += (at - now) * busy * busy
        now = at
        match kind:
            case Kind.ARRIVE:
                heapq.heappush(events, (now + services[seen - 1], next(ids), Kind.LEAVE))
                busy += 1
                if seen < len(arrivals):
                    heapq.heappush(events, (now + arrivals[seen], next(ids), Kind.ARRIVE))
                    seen += 1
            case Kind.LEAVE:
                busy -= 1
    return cost + now**2


class Simulation:
    def __init__(self, x: Any) -> None:
        self.x, self.now, self.made, self.total = x, 0.0, 0, 0.0
        self.waiting: list[Any] = []

    def after(self, delay: Any, what: Any) -> None:
        self.made += 1
        heapq.heappush(self.waiting, (self.now + delay, self.made, what))

    def rise(self) -> None:
        self.total += self.now**2
        if self.made < len(self.x):
            v = self.x[self.made]
            self.after(v * v, self.fall if v > 0.0 else self.rise)

    def fall(self) -> None:
        self.total -= 0.3 * self.now
        if self.made < len(self.x):
            self.after(0.5 * abs(self.x[self.made]), self.rise)


@program(X6)
def queue_of_methods(x: Any) -> Any:
    simulation = Simulation(x)
    simulation.after(x[0], simulation.rise)
    while simulation.waiting:
        simulation.now, _, what = heapq.heappop(simulation.waiting)
        what()
    return simulation.total


class Parser:
    def __init__(self, text: str) -> None:
        self.words, self.at = text.split(), 0

    @property
    def word(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self) -> str:
        self.at += 1
        return self.words[self.at - 1]

    def total(self) -> Any:
        left = self.product()
        while self.word in ("+", "-"):
            left = (self.take(), left, self.product())
        return left

    def product(self) -> Any:
        left = self.atom()
        while self.word == "*":
            left = (self.take(), left, self.atom())
        return left

    def atom(self) -> Any:
        word = self.take()
        if word == "(":
            inner = self.total()
            self.take()
            return inner
        if word == "sin":
            return (word, self.atom())
        return float(word) if word[0].isdigit() else word


def _value(tree: Any, names: Any) -> Any:
    match tree:
        case float():
            return tree
        case str():
            return names[tree]
        case ("sin", inner):
            return math.sin(_value(inner, names))
        case (op, left, right):
            a, b = _value(left, names), _value(right, names)
            return a + b if op == "+" else a - b if op == "-" else a * b


@program(X3)
def parser_of_a_text(x: Any) -> Any:
    tree = Parser("a * sin ( b + 2.5 * c ) - ( a - c ) * b").total()
    return _value(tree, {"a": x[0], "b": x[1], "c": x[2]})


class Tensor:
    """An array that passes gradients on to those that it was computed from, recursively."""

    def __init__(self, data: Any, needs: Any = ()) -> None:
        self.data = data
        self.needs = needs
        self.grad: Any = 0.0

    def backward(self, grad: Any) -> None:
        self.grad = self.grad + grad
        for tensor, part in self.needs:
            tensor.backward(part(grad))


def _summed(like: Tensor, factor: Any) -> Callable[[Any], Any]:
    def part(grad: Any) -> Any:
        grad = grad * factor
        for _ in range(grad.ndim - like.data.ndim):
            grad = grad.sum(axis=0)
        return grad

    return part


@program(uniform(5, 3, 3), X3, argnums=(0, 1))
def gradients_summed_over_added_axes(w: Any, x: Any) -> Any:
    """Each turn of the loop in `part` takes an axis away."""
    a, b = Tensor(w), Tensor(x)
    for _ in range(2):
        y = Tensor(a.data * b.data, [(a, _summed(a, b.data)), (b, _summed(b, a.data))])
        y.backward(2.0 * y.data)
        b = Tensor(b.data - 0.1 * b.grad)
    return np.sum(b.data * b.data) + np.sum(a.grad)


class Moments:
    """An optimiser with a state that is None until its first step."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.m: Any = None

    def update(self, w: Any, gradient: Any) -> Any:
        if self.m is None:
            self.m = np.zeros(np.shape(gradient))
        self.m = 0.5 * self.m + gradient
        return w - self.rate * self.m


class Affine:
    """A layer that keeps its input, first set in a forward pass."""

    def __init__(self, w: Any, optimiser: Moments) -> None:
        self.w = w
        self.b = np.zeros((1, w.shape[1]))
        self.for_w, self.for_b = copy.copy(optimiser), copy.copy(optimiser)

    def forward(self, x: Any) -> Any:
        self.x = x
        return x @ self.w + self.b

    def backward(self, gradient: Any) -> Any:
        w = self.w
        self.w = self.for_w.update(self.w, self.x.T @ gradient)
        self.b = self.for_b.update(self.b, np.sum(gradient, axis=0, keepdims=True))
        return gradient @ w.T


class Centred:
    """A layer that sets several attributes in each forward pass, some of them in the first only."""

    def __init__(self) -> None:
        self.running: Any = None

    def forward(self, x: Any) -> Any:
        if self.running is None:
            self.running = np.mean(x, axis=0)
        self.running = 0.9 * self.running + 0.1 * np.mean(x, axis=0)
        self.centred = x - np.mean(x, axis=0)
        self.scale = 1.0 / np.sqrt(np.var(x, axis=0) + 0.1)
        return self.centred * self.scale + self.running

    def backward(self, gradient: Any) -> Any:
        return gradient * self.scale * np.tanh(self.centred)


@program(uniform(73, 6, 2), uniform(74, 2, 3), argnums=(0, 1))
def epochs_of_layers_that_keep_what_they_saw(x: Any, w: Any) -> Any:
    optimiser = Moments(0.1)
    layers: list[Any] = [Affine(w, optimiser), Centred(), Affine(w.T, optimiser)]
    losses = []
    for _ in range(2):
        for k in range(0, x.shape[0], 2):
            out = x[k : k + 2]
            for layer in layers:
                out = layer.forward(out)
            losses.append(np.mean((out - x[k : k + 2]) ** 2))
            gradient = out - x[k : k + 2]
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
    return np.mean(losses)


class Smoother:
    """A filter of which a measurement is at first an array of None."""

    def __init__(self, gain: Any) -> None:
        self.gain = gain
        self.z = np.array([[None] * 2]).T
        self.x = np.zeros((2, 1))

    def update(self, z: Any) -> None:
        self.z = z.reshape(2, 1)
        self.x = self.x + self.gain * (self.z - self.x)


@program(0.4, uniform(75, 5, 2), argnums=(0, 1))
def measurements_that_replace_an_array_of_none(gain: Any, zs: Any) -> Any:
    smoother = Smoother(gain)
    total = 0.0
    for z in zs:
        smoother.update(z)
        total += np.sum(smoother.x**2)
    return total
