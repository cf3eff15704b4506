"""Lists of None or of one number, made at once, whose elements loops set to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder, uniform

FILLED_PROGRAMS: list[Program] = []
program = recorder(FILLED_PROGRAMS)


@program(uniform(90, 40, 3), uniform(91, 3, 3), argnums=(0, 1))
def filled_states(x: Any, w: Any) -> Any:
    """The states of a recurrence."""
    states: list[Any] = [None] * (len(x) + 1)
    states[0] = np.zeros(3)
    for t in range(len(x)):
        states[t + 1] = np.tanh(w @ states[t] + x[t])
    return sum(np.sum(h**2) for h in states) + np.sum(np.array(states)[-1])


@program(uniform(92, 40, 2))
def filled_backwards(x: Any) -> Any:
    """Reverse code by hand: what goes forwards is read backwards."""
    n = len(x)
    outs: list[Any] = [None] * (n + 1)
    pre: list[Any] = [None for _ in range(n)]
    grads: list[Any] = [None] * n
    outs[0] = np.ones(2)
    for k in range(n):
        pre[k] = outs[k] * 0.9 + x[k]
        outs[k + 1] = np.sin(pre[k])
    grads[-1] = 2.0 * outs[-1]
    for k in reversed(range(n - 1)):
        grads[k] = grads[k + 1] * 0.9 * np.cos(pre[k + 1])
    return sum(np.dot(g, p) for g, p in zip(grads, pre, strict=True))


@program(uniform(93, 30))
def filled_with_gaps(x: Any) -> Any:
    """Some elements stay None, and some become it again."""
    n = len(x)
    found: list[Any] = [None] * n
    for k in range(0, n, 2):
        found[k] = x[k] * np.arange(1.0, n)
    for k in range(0, n, 6):
        found[k] = None
    total = 0.0
    for k in range(n):
        if found[k] is not None:
            total += np.sum(found[k] ** 2)
        else:
            total += x[k]
    return total * sum(1 for row in found if row is None)


@program(uniform(94, 35))
def filled_zeros(x: Any) -> Any:
    """Numbers in the place of arrays, of which none is read."""
    n = len(x)
    rows: list[Any] = [0] * (n + 1)
    more: list[Any] = [0.0 for _ in range(n)]
    rows[0] = np.array([x[0], 1.0])
    for k in range(n):
        rows[k + 1] = rows[k] * 0.5 + np.array([x[k], x[k] ** 2])
        more[k] = rows[k + 1][0]
    return np.sum(np.stack(rows) ** 2) + more[-1] * more[0]


@program(uniform(97, 12, 2), 300)
def filled_in_a_long_loop(x: Any, n: int) -> Any:
    """A length that is constant, and too many elements for a copy of the body for each."""
    rows: list[Any] = [None] * 301
    rows[0] = x[0]
    for k in range(300):
        rows[k + 1] = np.cos(rows[k] + 0.1 * x[k % 12])
    return np.sum(rows[n]) + np.sum(rows[7])


class _Node:
    def __init__(self, k: int) -> None:
        self.k = k
        self.value: Any = None
        self.total = 0.0


@program(uniform(98, 36))
def filled_attributes(x: Any) -> Any:
    """Objects of which the run decides how many there are, whose arrays come later."""
    nodes = [_Node(k) for k in range(len(x))]
    for node in nodes:
        if node.k % 3:
            node.value = x[node.k] * np.array([1.0, 2.0])
    total = 0.0
    for node in nodes:
        node.total += x[node.k]
        if node.value is not None:
            total += np.sum(node.value**2) * node.total
    return total


@program(uniform(99, 10))
def filled_table(x: Any) -> Any:
    """Lists of lists of None."""
    n = len(x)
    table: list[Any] = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            table[i][j] = np.array([x[i] * x[j], x[j]])
    return sum(np.prod(table[i][j]) for i in range(n) for j in range(i, n))


@program(uniform(100, 31, 3))
def appended_by_number(x: Any) -> Any:
    """Lists that a loop reads by the number of its iteration, and appends to."""
    states, k = [np.zeros(3)], 0
    while k < len(x):
        states.append(np.tanh(states[k] + x[k]))
        k += 1
    twice = [states[0]]
    for k in range(len(x)):
        twice.append(states[k + 1] * 0.5 + twice[k])
    return np.sum(np.array(twice) ** 2)


class _Link:
    def __init__(self, value: Any, after: Any) -> None:
        self.value = value
        self.after = after
        self.pair: Any = None


@program(uniform(102, 9))
def linked_and_filled(x: Any) -> Any:
    """A linked list, whose nodes get their arrays while it is walked."""
    head = None
    for k in range(len(x)):
        head = _Link(x[k], head)
    total, node = 0.0, head
    while node is not None:
        if node.pair is None:
            node.pair = np.array([node.value, node.value**2])
        total += np.sum(node.pair)
        node = node.after
    node = head
    while node is not None:
        total += node.pair[0] * node.pair[1]
        node = node.after
    return total
