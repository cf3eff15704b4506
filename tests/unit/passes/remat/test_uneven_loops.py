"""Budgets of loops whose iterations differ: in how many inner iterations they have, and in sizes.

What a part of such a loop needs depends on where it begins, which only the run knows. Peaks are
then the most that there is anywhere.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import optree
import pytest

import adc
from adc.compiler import planning
from adc.compiler.driver import Plans
from adc.ir.analysis.sizes.formulas import ZERO, Known, Sum, either
from adc.ir.analysis.sizes.loops import at_most, substituted
from adc.ir.core import Literal, Operand, While
from adc.ir.text.parser import parse
from adc.passes.memory.peak import peak
from adc.passes.memory.peak.counts import limit
from adc.passes.remat.budget.orders import OverBudget
from adc.passes.remat.schedules import schedules
from tests.oracle import chain as chains
from tests.oracle.meter import Meter


def blocks(x: Any, w: Any, b: Any) -> Any:
    """The last block is smaller."""
    h = np.zeros(len(b))
    for k in range(len(x) // 32 + 1):
        for q in range(min(32, len(x) - 32 * k)):
            h = np.tanh(w @ h + b + x[32 * k + q])
    return np.sum(h * h)


def descended(w: Any, x: Any, y: Any, rate: Any) -> Any:
    """Descend by batches, of which the last one is smaller."""
    for k in range(0, len(x), 12):
        given, wanted = x[k : k + 12], y[k : k + 12]
        found = np.tanh(given @ w)
        slope = (found - wanted) * (1 - found * found)
        w = w - rate * (given.T @ slope) / len(given)
    return w


def batches(w: Any, x: Any, y: Any, rate: Any) -> Any:
    return np.sum(descended(w, x, y, rate) ** 2)


def epochs(w: Any, x: Any, y: Any, rate: Any) -> Any:
    for _ in range(4):
        w = descended(w, x, y, rate)
    return np.sum(w**2)


def recurrent(x: Any, w: Any, u: Any, b: Any) -> Any:
    """Products with the inputs are made for blocks of iterations (`passes.loops.products`)."""
    h = np.zeros(len(b))
    for i in range(len(x)):
        h = np.tanh(u @ x[i] + w @ h + b)
    return np.sum(h * h)


def triangle(x: Any, w: Any) -> Any:
    """Each iteration has one inner iteration more than the one before."""
    u = x * 1.0
    for k in range(len(x)):
        for i in range(k):
            u = np.tanh(w * u + x[i])
    return np.sum(u * u)


def shrinking(x: Any, w: Any) -> Any:
    """Each iteration computes with fewer elements than the one before."""
    u = x * 1.0
    total = 0.0
    for k in range(len(x)):
        rest = np.sin(u[k:] * w[k:]) * u[k:]
        u = u - 0.1 * np.cos(u) * w
        total += np.sum(rest * rest)
    return total + np.sum(u * u)


def counting_down(x: Any, w: Any) -> Any:
    u = x * 1.0
    for k in range(len(x) - 1, 0, -1):
        for i in range(min(k, 7)):
            u = np.tanh(w * u + x[i])
    return np.sum(u * u)


class Adam:
    """Its state is None before the first step."""

    def __init__(self, rate: Any) -> None:
        self.rate = rate
        self.mean: Any = None
        self.square: Any = None
        self.count = 0

    def step(self, w: Any, slope: Any) -> Any:
        if self.mean is None:
            self.mean, self.square = np.zeros_like(w), np.zeros_like(w)
        self.count += 1
        self.mean = 0.9 * self.mean + 0.1 * slope
        self.square = 0.99 * self.square + 0.01 * slope * slope
        mean = self.mean / (1 - 0.9**self.count)
        return w - self.rate * mean / (np.sqrt(self.square / (1 - 0.99**self.count)) + 1e-8)


def clipped(slope: Any, most: float) -> Any:
    norm = np.sqrt(np.sum(slope * slope))
    return slope * (most / norm) if norm > most else slope


def optimizer(w: Any, x: Any, y: Any, rate: Any) -> Any:
    """Gradients that are clipped, a state that is None at first, and a list of the last losses."""
    adam, recent = Adam(rate), deque[Any](maxlen=3)
    for _ in range(4):
        for k in range(0, len(x), 50):
            given, wanted = x[k : k + 50], y[k : k + 50]
            found = np.tanh(given @ w)
            slope = given.T @ ((found - wanted) * (1 - found * found)) / len(given)
            w = adam.step(w, clipped(slope, 0.4))
        recent.append(np.mean((np.tanh(x @ w) - y) ** 2))
    return np.sum(w**2) + sum(recent)


def samples(w: Any, x: Any, rate: Any) -> Any:
    """A list that gets longer in some iterations, and what the last iteration has bound."""
    losses = []
    for step in range(90):
        k = (step * 8) % (len(x) - 16)
        found = np.tanh(x[k : k + 16] @ w)
        w = w - rate * (x[k : k + 16].T @ found)
        if step % 10 == 3:
            losses.append(np.sum(found * found))
    return np.mean(losses) + np.sum(found)


def named(params: dict[str, Any], x: Any, y: Any, rate: Any) -> Any:
    """Parameters and their momenta by name."""
    speed = {key: np.zeros_like(p) for key, p in params.items()}
    for _ in range(40):
        h = np.tanh(x @ params["w"] + params["b"])
        rest = h @ params["u"] - y
        inner = (rest @ params["u"].T) * (1 - h * h)
        slopes = {"w": x.T @ inner, "b": inner.sum(axis=0), "u": h.T @ rest}
        for key in params:
            speed[key] = 0.9 * speed[key] - rate * slopes[key]
        params = {key: params[key] + speed[key] for key in params}
    return np.mean(rest * rest)


def solved(x: Any, w: Any) -> Any:
    """Iterations that end early, at the latest after twelve."""
    t = 0.0
    for k in range(len(x)):
        y = x[k]
        for _ in range(12):
            step = (y - x[k] - np.tanh(w[k] * y)) / (1 - w[k] / np.cosh(w[k] * y) ** 2)
            y = y - step
            if abs(step) < 1e-3 * k:
                break
        t += y * y
    return t


def settled(x: Any, w: Any) -> Any:
    """A `while` with a counter, and iterations that are left out."""
    t = 0.0
    for k in range(len(x)):
        y, at, change = x[k] * w[0], 0, 1.0
        while at <= k % 7 and change > 0.05:
            at += 1
            if y > 0.9:
                y = 0.5 * y
                continue
            new = np.cos(y) * w[k]
            change = abs(new - y)
            y = new
        t += np.sin(y)
    return t


def filtered(log: Any, z: Any) -> Any:
    """A Kalman filter: of singular matrices, determinants need memory of their own."""
    move, see = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    noise = np.exp(log) * np.eye(2)
    mean, cov, total = np.zeros(2), np.eye(2), 0.0
    for each in z:
        mean, cov = move @ mean, move @ cov @ move.T + noise
        rest, spread = each - see @ mean, see @ cov @ see.T + np.exp(-log)
        gain = np.linalg.solve(spread.T, (cov @ see.T).T).T
        total += rest @ np.linalg.solve(spread, rest) + np.log(np.linalg.det(spread))
        mean, cov = mean + gain @ rest, (np.eye(len(mean)) - gain @ see) @ cov
    return total


_R = np.random.default_rng(5)
_TRAINING = (
    0.3 * _R.normal(size=(5, 4)), _R.normal(size=(250, 5)), _R.normal(size=(250, 4)), 0.1,
)  # fmt: skip
_VECTORS = (_R.normal(size=24), 0.3 * _R.normal(size=24))
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = {
    "blocks": (
        blocks, (_R.normal(size=(150, 6)), 0.3 * _R.normal(size=(6, 6)), _R.normal(size=6)), (1, 2),
    ),
    "batches": (batches, _TRAINING, (0, 3)),
    "epochs": (epochs, _TRAINING, (0, 3)),
    "recurrent": (
        recurrent,
        (
            _R.normal(size=(170, 3)), 0.3 * _R.normal(size=(6, 6)), _R.normal(size=(6, 3)),
            _R.normal(size=6),
        ),
        (1, 2, 3),
    ),
    "optimizer": (optimizer, _TRAINING, (0, 3)),
    "samples": (samples, (_TRAINING[0], _TRAINING[1], 0.01), (0, 2)),
    "named": (
        named,
        (
            {
                "b": _R.normal(size=6), "u": 0.3 * _R.normal(size=(6, 4)),
                "w": 0.3 * _R.normal(size=(5, 6)),
            },
            _TRAINING[1][:30], _TRAINING[2][:30], 0.001,
        ),
        (0, 3),
    ),
    "triangle": (triangle, _VECTORS, (0, 1)),
    "shrinking": (shrinking, _VECTORS, (0, 1)),
    "counting_down": (counting_down, _VECTORS, (0, 1)),
    "solved": (solved, (abs(_VECTORS[0]) + 0.2, 0.4 * np.tanh(_VECTORS[1])), (0, 1)),
    "settled": (settled, _VECTORS, (0, 1)),
    "filtered": (filtered, (0.3, _R.normal(size=(40, 1))), (0,)),
}  # fmt: skip
# Of what is kept without a budget, this share is enough.
ENOUGH = {
    "blocks": 0.2, "batches": 0.5, "epochs": 0.25, "recurrent": 0.5, "optimizer": 0.7,
    "samples": 0.3, "named": 0.3, "triangle": 0.2,
    "shrinking": 0.5, "counting_down": 0.3, "solved": 0.05, "settled": 0.1, "filtered": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def leaves(tree: Any) -> list[Any]:
    return optree.tree_leaves(tree)


@functools.cache
def plans_of(name: str) -> Plans:
    fn, args, argnums = PROGRAMS[name]
    code = adc.grad(fn, argnums)._code
    return planning.plans(code, code.match(args, {}))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "shrinking" else pytest.mark.full) for n in PROGRAMS]
)
def test_no_call_holds_more_than_its_peak(name: str) -> None:
    _, args, _ = PROGRAMS[name]
    plans = plans_of(name)
    least, most = plans.range
    assert least < ENOUGH[name] * most
    wanted = None
    for share in (0.0, 0.1, 0.3, 0.5, 0.7, 1.0):
        budget = int(least + share * (most - least))
        fn, plan = plans.made(budget)
        assert plan is not None
        assert (plan.peak_bytes or 0) <= budget
        formula = peak(fn, sizes=plans.rest.context.known)
        size = formula.size.value(Known({}))
        assert size is not None
        meter = Meter(schedules(fn), align=1)
        found = chains.bits(meter.run(chains.fresh(leaves(args))))
        wanted = wanted or found
        assert found == wanted
        assert meter.peak <= size
        if budget == least:
            assert plan.loops or plan.extra > 0.0
    with pytest.raises(OverBudget):
        plans.made(least // 3)


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_code_returns_the_same_bits(name: str) -> None:
    fn, args, argnums = PROGRAMS[name]
    least, _ = plans_of(name).range
    found = [adc.grad(fn, argnums, memory=memory)(*args) for memory in (None, least)]
    wanted, bits = (chains.bits(leaves(each)) for each in found)
    assert bits == wanted


# --- formulas -------------------------------------------------------------------------------------

N, K = Sum.atom("n"), Sum.atom("k")
TEN = Sum.number(10)


def test_the_smaller_of_two_numbers_is_at_most_each_of_them() -> None:
    by_op = Sum.function("min", K, TEN)
    by_branch = either(TEN - K, K, TEN)  # k if k < 10 else 10
    swapped = either(K - TEN, TEN, K)
    for least in (by_op, by_branch, swapped):
        assert least.value(Known({})) == 10
        assert least.value(Known({}), most=False) is None
        assert least.value(Known({"k": 3})) == 3
        assert at_most(least + N, frozenset("k")) == TEN + N
        assert at_most(least * N, frozenset("k")) is None  # n may be negative
        assert at_most(N - least, frozenset("k")) is None
    rows = Sum.atom("x.dim0")
    assert at_most(by_op * rows, frozenset("k")) == TEN * rows
    largest = either(K - TEN, K, TEN)
    assert largest.value(Known({})) is None
    assert largest.value(Known({}), most=False) == 10
    assert at_most(largest, frozenset("k")) is None
    assert Sum.function("max", K, TEN).value(Known({}), most=False) == 10


def test_of_at_most_so_many_iterations_any_number_may_need_most() -> None:
    trips, room = Sum.function("min", K, TEN), Sum.number(50)
    rest = [Sum.number(10), Sum.number(12), Sum.number(0)]
    for kind in ("sweeps", "rest"):
        each = [
            Sum.function(kind, Sum.number(count), room, *rest).value(Known({}))
            for count in range(11)
        ]
        scheduled = Sum.function(kind, trips, room, *rest)
        assert scheduled.value(Known({})) == max(number or 0 for number in each)
        assert scheduled.value(Known({}), most=False) == 0
        assert [scheduled.value(Known({"k": count})) for count in range(11)] == each


def test_substituted_in_functions() -> None:
    size = Sum.function("max", K * K, N - K) * N
    assert substituted(size, "k", N - K) == Sum.function("max", (N - K) * (N - K), K) * N
    assert substituted(size, "m", N) is size


def test_bounds_from_above_and_from_below() -> None:
    clipped = Sum.function("min", Sum.function("max", K + TEN, ZERO), TEN)
    rest = TEN - clipped  # from 0 to 10, as of a[k:] with 10 elements
    assert at_most(rest, frozenset("k")) == TEN
    assert at_most(rest.count() * rest.count(), frozenset("k")) == TEN * TEN
    wrapped = either(ZERO - K, (K + TEN).count(), K)  # an index that may be negative
    assert at_most(TEN - wrapped, frozenset("k")) == TEN
    assert at_most(TEN - K, frozenset("k")) is None
    assert at_most(rest * K, frozenset("k")) is None


def counted(text: str) -> str:
    """Return what the iterations of the first `while` are at most."""
    fn = parse(f"fn f(%n: int, %x: f64) -> f64 {{\n{text}\n  return %y\n}}")
    loop = next(stmt for stmt in fn.body if isinstance(stmt, While))

    def number(operand: Operand) -> Sum:
        if isinstance(operand, Literal):
            return Sum.number(operand.value)
        return Sum.atom(operand.name)

    return str(limit(loop, number))


@pytest.mark.parametrize(
    ("test", "step", "after", "most"),
    [
        ("lt %i %n", "add %i 1", "%more", "n + 1"),
        ("le %i %n", "add %i 2", "%more", "n + 1 + 1"),
        ("gt %n %i", "add 3 %i", "%more", "n + 1"),
        ("lt %i %n", "add %i 0", "%more", "None"),
        ("lt %i %n", "sub %i 1", "%more", "None"),
        ("lt %i %n", "add %k 1", "%more", "None"),
        ("lt %i %k", "add %i 1", "%more", "None"),
        ("gt %i %n", "add %i 1", "%more", "None"),
        ("lt %i %n", "add %i 1", "%other", "None"),
    ],
)
def test_iterations_that_a_counter_ends(test: str, step: str, after: str, most: str) -> None:
    found = counted(
        f"""
  %y, %j, %q = while W carrying (%z = %x, %i = 0, %k = 0) {{
    %more = {test}
    %other = lt %z 1.0:f64
    %z.1, %i.1 = if %more {{
      %w = sin %z
      %i.2 = {step}
      yield %w %i.2
    }} else {{
      yield %z %i
    }}
    %k.1 = add %k 1
    again {after} %z.1 %i.1 %k.1
  }}"""
    )
    assert found == most
