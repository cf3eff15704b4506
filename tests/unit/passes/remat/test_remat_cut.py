"""The fastest plan is a minimum cut: against SciPy's flows, and against all possible plans."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from adc.ir.core import Value
from adc.ir.types import FLOAT
from adc.passes.remat.cut import Price, cheapest
from adc.passes.remat.flow import Network


@pytest.mark.parametrize("seed", range(60))
def test_flow(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(2, 12)
    capacities = np.zeros((n, n), np.int32)
    for _ in range(draw.randint(1, 40)):
        u, v = draw.sample(range(n), 2)
        capacities[u, v] = draw.randint(1, 20)
    network = Network(n)
    for u, v in itertools.product(range(n), repeat=2):
        if capacities[u, v]:
            network.edge(u, v, int(capacities[u, v]))
    flow = network.maximum_flow(0, n - 1)
    assert flow == maximum_flow(csr_matrix(capacities), 0, n - 1).flow_value
    behind = np.array(network.before_sink(n - 1))
    assert behind[n - 1]
    assert not behind[0]
    assert capacities[np.ix_(~behind, behind)].sum() == flow


def test_the_cut_closest_to_the_sink() -> None:
    network = Network(4)
    for u in range(3):
        network.edge(u, u + 1, 5)
    assert network.maximum_flow(0, 3) == 5
    assert network.before_sink(3) == [False, False, False, True]


Prices = Mapping[Value, Price]


def random_prices(draw: random.Random) -> tuple[list[Value], Prices]:
    """Draw a program of numbers, each computed from earlier ones or from available values."""
    values = [Value(f"v{k}", FLOAT) for k in range(draw.randint(1, 9))]
    prices: dict[Value, Price] = {}
    for k, value in enumerate(values):
        if draw.random() < 0.1:
            continue  # available anyway
        times = draw.choice((1, 1, 10))
        keep = times * draw.randint(1, 9) * 1e-10
        again = times * draw.randint(1, 9) * 1e-10 if draw.random() < 0.85 else math.inf
        prices[value] = Price(keep, again, draw.sample(values[:k], min(k, draw.randint(0, 3))))
    needed = draw.sample(values, draw.randint(1, len(values)))
    return needed, prices


def again(kept: set[Value], needed: list[Value], prices: Prices) -> set[Value]:
    """Return the values that a plan recomputes which keeps some values."""
    seen, waiting = set(needed), list(needed)
    while waiting:
        value = waiting.pop()
        for operand in prices[value].inputs if value in prices and value not in kept else ():
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return (seen & prices.keys()) - kept


def seconds(kept: set[Value], needed: list[Value], prices: Prices) -> float:
    """Return the cost of a plan that keeps some values and recomputes the others."""
    others = again(kept, needed, prices)
    read = {operand for value in others for operand in prices[value].inputs}
    total = sum(prices[value].keep for value in sorted(kept & read.union(needed), key=str))
    return total + sum(prices[value].recompute for value in sorted(others, key=str))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(150))
def test_no_plan_is_cheaper(seed: int) -> None:
    needed, prices = random_prices(random.Random(seed))
    plan = cheapest(needed, prices.get)
    chosen = {value for value, keep in plan.items() if keep}
    all_plans = (
        seconds(set(kept), needed, prices)
        for size in range(len(prices) + 1)
        for kept in itertools.combinations(prices, size)
    )
    assert seconds(chosen, needed, prices) == pytest.approx(min(all_plans), rel=1e-9)
    assert set(plan) <= set(prices)


@pytest.mark.parametrize("seed", range(60))
def test_cuts_nest(seed: int) -> None:
    """A value that is recomputed is still recomputed if a byte is worth more."""
    needed, prices = random_prices(random.Random(seed))
    before: set[Value] = set()
    for worth in (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0):
        priced = {v: replace(price, keep=worth * price.keep) for v, price in prices.items()}
        plan = cheapest(needed, priced.get)
        kept = {value for value, keep in plan.items() if keep}
        assert not kept & before
        before = again(kept, needed, prices)


def test_of_two_plans_that_cost_the_same_the_one_that_keeps_what_is_needed() -> None:
    a, b = Value("a", FLOAT), Value("b", FLOAT)
    prices = {a: Price(1e-9, math.inf, ()), b: Price(2e-9, 1e-9, (a,))}
    assert cheapest([b], prices.get) == {b: True, a: False}


def test_values_of_outer_loops_are_kept_for_inner_ones() -> None:
    # `b` is one addition from `a`, which an outer loop of 100 iterations holds.
    a, b = Value("a", FLOAT), Value("b", FLOAT)
    prices = {a: Price(2e-10, math.inf, ()), b: Price(100 * 2e-10, 100 * 1e-10, (a,))}
    assert cheapest([b], prices.get) == {b: False, a: True}


def test_two_thousand_values_take_little_time() -> None:
    draw = random.Random(0)
    values = [Value(f"v{k}", FLOAT) for k in range(2000)]
    prices = {
        value: Price(
            draw.randint(1, 999) * 1e-12,
            draw.randint(1, 999) * 1e-12 if draw.random() < 0.9 else math.inf,
            [values[j] for j in {draw.randrange(max(0, k - 20), k) for _ in range(2)}] if k else [],
        )
        for k, value in enumerate(values)
    }
    plan = cheapest([v for v in values if draw.random() < 0.3], prices.get)
    assert 0 < sum(plan.values()) < len(plan) <= 2000
