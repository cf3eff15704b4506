"""Checkpointed loops that call functions outside: these run once for each iteration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.builder import integer
from adc.ir.core import For, Function, walk
from adc.passes.remat import record
from tests.oracle import chain as chains

X, W = np.array([0.3, -0.7, 1.1, 0.2]), np.array([0.4, -0.9, 0.6])
CALLS: list[str] = []
POLICIES = ("revolve:1:1", "revolve:2:1", "revolve:3:2", "revolve:2:1:all")


@pytest.fixture(autouse=True)
def no_calls() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


def noted(name: str, value: Any) -> Any:
    CALLS.append(name)
    return value


# Functions outside, whose rules call others, as a communication does.
back = adc.external(lambda ct, x: noted("back", ct * np.cos(x)), result=lambda ct, x: x)
sine = adc.external(
    lambda x: noted("sine", np.sin(x)), result=np.zeros_like, vjp=lambda ct, y, x: back(ct, x)
)
norm = adc.external(
    lambda x: noted("norm", float(np.sum(x * x))),
    result=float,
    vjp=lambda ct, y, x: 2.0 * ct * x,
)
# An array, a number and an integer.
several = adc.external(
    lambda x, k: (np.outer(x, x), float(np.sum(x)) * k, noted("several", 1 + k % 2)),
    result=lambda x, k: (np.zeros((len(x), len(x))), 0.0, 0),
    vjp=lambda cts, y, x, k: (
        (cts[0] + cts[0].T) @ x + cts[1] * k,
        None,
    ),
)
told = adc.external(lambda x: noted("told", None), result=lambda x: None)
probe = adc.external(lambda x: noted("probe", float(np.sum(x))), result=float)
first = adc.external(
    lambda x, k: noted("first", x[:k].copy()),
    result=lambda x, k: np.zeros(k),
    vjp=lambda ct, y, x, k: (np.concatenate((ct, np.zeros(len(x) - len(ct)))), None),
)


def arrays_and_numbers(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        v = sine(u * w[t % 3])
        u = 0.5 * u + v * norm(v) + 0.1 * np.cos(u)
    return np.sum(u * u)


def on_a_path(x: Any, w: Any, n: Any) -> Any:
    u, s = x.copy(), 0.0
    for t in range(n):
        if t % 3 == 1:
            s = s + norm(u)
        elif t % 3 == 2:
            u = u + 0.3 * sine(u)
            if s > 0.1:
                s = s - 0.2 * norm(u * w[0])
        u = np.sin(u) * w[t % 3] + 0.1 * s
    return np.sum(u * u) + s


def several_results(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        m, s, k = several(u, t)
        told(adc.stop_gradient(u))
        u = np.tanh(m @ u) * w[k] + 0.1 * s * u
    return np.sum(u * u)


def in_place(x: Any, w: Any, n: Any) -> Any:
    """As a halo exchange: elements at the ends come from outside."""
    u = x.copy()
    for t in range(n):
        u[:1] = sine(u[-1:]) + 0.1
        u[-1:] = sine(u[:1] * w[t % 3])
        for i in range(1, len(u) - 1):
            u[i] = np.sin(u[i - 1]) * w[t % 3] + u[i + 1] * u[i]
    return np.sum(u * u)


def loop_beside(x: Any, w: Any, n: Any) -> Any:
    """An inner loop that calls nothing, which may be checkpointed, too."""
    u = x.copy()
    for t in range(n):
        u = sine(u)
        for _ in range(t % 3):
            u = np.tanh(u * w[t % 3]) + 0.1 * x
    return np.sum(u * u)


def after_another(x: Any, w: Any, n: Any) -> Any:
    """Two loops, and one that only reads what the other has found."""
    u, found = x.copy(), np.zeros(n)
    for t in range(n):
        found[t] = norm(u)
        u = np.sin(u * w[t % 3]) + found[t]
    for t in range(n):
        u = sine(u * found[t])
    return np.sum(u * u)


def inner_calls(x: Any, w: Any, n: Any) -> Any:
    """Of the outer loop, results cannot be recorded: how many there are is not known before."""
    u = x.copy()
    for t in range(n):
        v = u * w[t % 3]
        for _ in range(1 + t % 2):
            v = sine(v) + 0.1 * u
        u = u + v
    return np.sum(u * u)


def of_other_sizes(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        u = np.sin(u) * w[t % 3] + np.sum(first(u, t % 4) ** 2)
    return np.sum(u * u)


def until(x: Any, w: Any, n: Any) -> Any:
    u, t = x.copy(), 0
    while t < n and norm(u) < 50.0:
        u = sine(u) * w[t % 3] + u
        t += 1
    return np.sum(u * u)


RECORDED = (
    arrays_and_numbers, on_a_path, several_results, in_place, loop_beside, after_another,
)  # fmt: skip
# Loops that are not checkpointed, so that all their values are stored.
STORED = (of_other_sizes, until)


def outcome(fn: Function, n: int) -> tuple[list[bytes], list[str]]:
    CALLS.clear()
    found = chains.bits(chains.run(fn, [X.copy(), W.copy(), n]))
    return found, list(CALLS)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("fn", [*RECORDED, inner_calls, *STORED], ids=lambda fn: fn.__name__)
def test_no_bit_changes_and_each_call_is_made_once(fn: Callable[..., Any]) -> None:
    chain = chains.Chain.of(fn, (X, W, 7), (0, 1))
    for policy in POLICIES:
        made = chain.planned(policy)[-1][1]
        assert not chains.well_formed(made)
        if fn in RECORDED:
            assert "sweeps" in str(made)
            assert ".all" in str(made)
        elif fn in STORED:
            assert "sweeps" not in str(made)
            assert "adc.placed" not in str(made)
        for n in (0, 1, 2, 7, 11):
            assert outcome(made, n) == outcome(chain.joined, n), (policy, n)


def test_an_inner_loop_records_for_each_time_that_it_runs() -> None:
    made = chains.Chain.of(inner_calls, (X, W, 7), (0, 1)).planned("revolve:2:1:all")[-1][1]
    loops = [each for each in walk(made.body) if isinstance(each, For)]
    assert "sweeps" in str(made)
    assert not any(".sweep" in each.label for each in made.body if isinstance(each, For))
    assert any(".sweep" in each.label for each in loops)


def test_what_is_not_needed_is_not_recorded() -> None:
    def total(x: Any, w: Any, n: Any) -> Any:
        u, s = x.copy(), 0.0
        for t in range(n):
            u = np.sin(u) * w[t % 3]
            s = s + probe(adc.stop_gradient(u))
        return np.sum(u * u) + s

    made = chains.Chain.of(total, (X, W, 7), (0, 1)).planned("revolve:2:1")[-1][1]
    assert "sweeps" in str(made)
    assert ".all" not in str(made)


@pytest.mark.full
def test_planted_mistakes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = record.copied, record.loaded

    def before(builder: Any, index: Any) -> Any:
        one = builder.apply("sub", index, integer(1))
        return builder.apply("maximum", one, integer(0))

    def misread(builder: Any, place: Any, slot: Any, label: str) -> Any:
        return plain[1](builder, place, before(builder, slot), label)

    def miswritten(builder: Any, source: Any, target: Any, at: Any, to: Any, label: str) -> Any:
        if to:
            to = (before(builder, to[0]),)
        return plain[0](builder, source, target, at, to, label)

    for name, wrong in (("loaded", misread), ("copied", miswritten)):
        with monkeypatch.context() as patch:
            patch.setattr(record, name, wrong)
            for fn in (arrays_and_numbers, on_a_path, several_results):
                chain = chains.Chain.of(fn, (X, W, 7), (0, 1))
                made = chain.planned("revolve:2:1")[-1][1]
                assert outcome(made, 7)[0] != outcome(chain.joined, 7)[0], (name, fn)


# --- with a budget, compiled ----------------------------------------------------------------------


def simulate(u: Any, n: Any) -> Any:
    for _ in range(n):
        ends = sine(u[:2])
        u = np.sin(u) * 0.9 + 0.1 * u * u
        if u[0] > 0.0:
            u = u * (1.0 + 0.01 * norm(ends))
        u[-2:] = u[-2:] + ends
    return np.sum(u * u)


def measured(budget: int | None, n: int) -> tuple[bytes, dict[str, int], Any]:
    gradient = adc.grad(simulate, memory=budget)
    CALLS.clear()
    found = gradient(np.linspace(0.1, 1.0, 500), n).tobytes()
    counts = {name: len(list(same)) for name, same in itertools.groupby(sorted(CALLS))}
    return found, counts, gradient.plan(np.linspace(0.1, 1.0, 500), n)


@pytest.mark.full
def test_budgets() -> None:
    n = 60
    wanted, calls, _ = measured(None, n)
    assert calls == {"sine": n, "norm": n, "back": n}
    sizes = []
    for budget in (250_000, 120_000, 80_000):
        found, counts, plan = measured(budget, n)
        assert (found, counts) == (wanted, calls)
        (loop,) = plan.loops
        assert loop.again
        assert f"{24 * n} bytes record results of calls outside" in loop.entry.reason
        assert (plan.peak_bytes or 0) <= budget
        sizes.append(loop.bytes)
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.full
def test_second_order() -> None:
    twice = adc.external(
        lambda x: noted("twice", np.sin(x)),
        result=np.zeros_like,
        vjp=lambda ct, y, x: ct * np.cos(x),
        jvp=lambda dots, y, x: dots[0] * np.cos(x),
    )

    def loss(u: Any, n: Any) -> Any:
        for _ in range(n):
            u = 0.9 * np.cos(u) + 0.1 * u * u
            u[:2] = twice(u[1:3])
        return np.sum(u * u)

    x, dx = np.linspace(0.1, 1.0, 200), np.linspace(1.0, 2.0, 200)
    found = []
    for budget in (None, 200_000, 100_000):
        product = adc.hvp(loss, memory=budget)
        CALLS.clear()
        found.append((product(x, dx, 50).tobytes(), len(CALLS)))
    assert found[0] == found[1] == found[2]


@pytest.mark.full
def test_what_a_loop_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def loss(x: Any, n: Any) -> Any:
        u = x.copy()
        for t in range(n):
            u = np.sin(u) + 0.1 * u
            print(t, u)
            k = 0
            while k < 2:
                u = u * 1.01
                k += 1
                print("inner", k)
        return np.sum(u * u)

    said = []
    for policy in ("store", "revolve:2:1", "revolve:1:1:all"):
        adc.grad(loss, remat=policy, target="python")(X, 7)
        said.append(capsys.readouterr().out)
    assert len(set(said)) == 1
    assert said[0].count("\n") == 21
