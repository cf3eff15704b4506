"""Find the values to keep so that reverse code is fastest: a minimum cut with prices.

A value that is needed is kept, or recomputed from values that are kept or recomputed. Each has two
nodes: keeping it cuts the edge between them, recomputing it the edge from the source; its operands
lie behind an edge that is never cut::

    source --recomputing it--> v.in --keeping it--> v.out --(never)--> sink, if needed
                                                    v.out --(never)--> w.in, if w reads v

The minimum cut is the cheapest plan (A. Chen's recomputation and PyTorch's min-cut partitioner are
special cases without prices). Values in loops cost their share for every iteration, so that plans
keep what outer loops hold. Ties are broken in favour of the fewest recomputed values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adc.ir.core import Value
from adc.passes.remat.flow import Network

# Prices are integer multiples of this many seconds: exact sums, in any order.
_UNIT = 1e-15


@dataclass(frozen=True, slots=True)
class Price:
    """Seconds to keep a value, to recompute it (infinite if impossible), and its operands."""

    keep: float
    recompute: float
    inputs: Sequence[Value]


def cheapest(
    needed: Sequence[Value], price: Callable[[Value], Price | None]
) -> Mapping[Value, bool]:
    """Return, for all values that a plan mentions, whether to keep them.

    `price` is called once for every value; those without a price are free.
    """
    prices: dict[Value, Price] = {}
    waiting = list(reversed(needed))
    seen = set(needed)
    while waiting:
        value = waiting.pop()
        found = price(value)
        if found is None:
            continue
        prices[value] = found
        for operand in reversed(found.inputs):
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    nodes = {value: 2 * k for k, value in enumerate(prices)}
    source, sink = 2 * len(nodes), 2 * len(nodes) + 1
    network = Network(2 * len(nodes) + 2)
    never = 1 + sum(_whole(p.keep) for p in prices.values())
    for value, p in prices.items():
        node = nodes[value]
        network.edge(source, node, never if math.isinf(p.recompute) else _whole(p.recompute))
        network.edge(node, node + 1, _whole(p.keep))
        for operand in p.inputs if not math.isinf(p.recompute) else ():
            if operand in nodes:
                network.edge(nodes[operand] + 1, node, never)
    for value in dict.fromkeys(needed):
        if value in nodes:
            network.edge(nodes[value] + 1, sink, never)
    network.maximum_flow(source, sink)
    behind = network.before_sink(sink)
    return {v: behind[node + 1] and not behind[node] for v, node in nodes.items()}


def _whole(seconds: float) -> int:
    return max(1, round(seconds / _UNIT))
