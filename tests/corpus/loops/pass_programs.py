"""One small program for each pass that works on loops: what it does stands in `golden/passes`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def split_complex(x: Any) -> Any:
    s = 0j
    for k in range(len(x)):
        s = s * 1j + x[k]
    return abs(s)


def widen_half(x: Any) -> Any:
    y = x.astype(np.float16)
    for k in range(1, len(y)):
        y[k] += np.sin(y[k - 1])
    return np.sum(y.astype(np.float64))


def induction(x: Any) -> Any:
    at, total = 1, 0.0
    for _ in range(4):
        total += x[at] * x[at]
        at += 2
    return total


def counted(x: Any) -> Any:
    total, k = 0.0, len(x) - 1
    while k > 0:
        total += np.sin(x[k]) * x[k - 1]
        k -= 2
    return total * k


def reserve(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        rows.append(x * x[i])
    return np.sum(rows[0] * rows[-1])


def products(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sum((w @ x[i]) ** 2)
    return total


def hoist(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * np.exp(w)
    return total


def privatize(x: Any) -> Any:
    row = np.empty(3)
    total = 0.0
    for i in range(len(x)):
        for k in range(3):
            row[k] = x[i] * k
        total += row[0] + row[1] * row[2]
    return total


def hoist_checks(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n):
        total += x[i + 1]
    return total


def scalars(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        pair = np.empty(2)
        if x[i] > 0.5:
            pair[0] = x[i]
            pair[1] = total
        else:
            for k in range(2):
                pair[1 - k] = x[i] * k
        total += np.sum(pair * pair)
    return total


def fuse(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(y) + np.sum(y * x)


def exchange(x: Any, w: Any) -> Any:
    for k in range(1, x.shape[2]):
        x[:, :, k] += w * x[:, :, k - 1]
    y = np.empty(x.shape[2])
    for k in range(x.shape[2]):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i, 0, k]
        y[k] = s
    return np.sum(y)


def contract(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(y[:, 1:] * y[:, :-1])


def inline(x: Any) -> Any:
    d = x[1:] - x[:-1]
    return np.max(d[1:] * d[:-1])


def relax(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x) * np.log(x) / (1.0 + w * w))


def reduce(x: Any, w: Any) -> Any:
    y = np.sin(x * w)
    return y[0] * np.sum(y)


def gather(x: Any) -> Any:
    y = x[1:] + x[:-1]
    return y[0] * np.sum(y)


def fuse_reverse(x: Any) -> Any:
    return np.sum(np.sin(x))


def shared_states(x: Any, w: Any) -> Any:
    y = x
    for _ in range(3):
        y = np.tanh(w * y)
    return np.sum(y)


def predicates(x: Any, w: Any) -> Any:
    s = 1.0
    for k in range(x.shape[0]):
        s = np.maximum(s * w, x[k])
    return s


def math_in_blocks(w: Any, x: Any) -> Any:
    y = np.zeros(w.shape[0])
    for i in range(w.shape[0]):
        s = 0.0
        for j in range(w.shape[1]):
            s += w[i, j] * x[j]
        y[i] = np.tanh(s) * x[0]
    return y


def strip_mine(x: Any) -> Any:
    s = 0.0
    for k in range(x.shape[0]):
        s += np.exp(x[k]) * x[k]
    return s


def elide_copies(x: Any, w: Any) -> Any:
    for k in range(w.shape[0]):
        x = np.tanh(x @ w[k])
    return np.sum(x)


def scalar_replacement(x: Any, w: Any) -> Any:
    for k in range(1, x.shape[0]):
        x[k] = 0.5 * x[k] + w * x[k - 1]
    return x[-1]


def coalesce(x: Any, steps: Any) -> Any:
    for _ in range(steps):
        x = x + 0.1 * np.sin(x)
    return np.sum(x)


def hoist_allocations(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            scaled = np.empty(x.shape[0])
            for k in range(x.shape[0]):
                scaled[k] = math.exp(x[k] * (i - j))
            total += scaled[j] * np.max(scaled)
    return total


def reuse(x: Any) -> Any:
    y = np.cumsum(x)
    z = np.cumsum(y[::-1])
    y = np.cumsum(z[::-1])
    return np.sum(y * y)


def vectorizable(x: Any, w: Any) -> Any:
    y = np.empty(x.shape)
    for k in range(1, x.shape[0]):
        for i in range(x.shape[1]):
            y[k, i] = w[i] * x[k - 1, i]
            x[k, i] += y[k, i]
    return np.sum(x)


def expand_tape(x: Any, steps: Any) -> Any:
    for _ in range(steps):
        for i in range(x.shape[0]):
            x[i] = np.sin(x[i])
    return np.sum(x)


def outline_kernels(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = x[i]
        while y < 1.0:
            y = y * (1.5 + np.sin(y))
        total += y
    return total * total


def accumulate_in_place(x: Any, places: Any) -> Any:
    found = np.zeros(4)
    for i in range(x.shape[0]):
        found[places[i]] += np.sin(x[i])
    return np.sum(found * found)


def fission(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:, :-1] = x[:-1, 1:] - x[1:, :-1]
    return np.sum(y * y)


def kernels(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += w * np.sin(x[i, j])
    return total


def recalled(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sin(x[i]) * math.cos(x[i])
    return total


def chosen(x: Any) -> Any:
    least = 4.0
    for i in range(x.shape[0]):
        if math.sin(x[i]) < least:
            least = math.sin(x[i])
    return least * least


def once(x: Any, w: Any) -> Any:
    closest = 4.0
    for j in range(w.shape[0]):
        distance = 0.0
        for k in range(x.shape[0]):
            distance += (x[k] - w[j, k]) ** 2
        if distance < closest:
            closest = distance
    return closest * closest


def skip(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        closest = 4.0
        for j in range(w.shape[0]):
            distance = 0.0
            for k in range(x.shape[1]):
                distance += math.sin(x[i, k] - w[j, k])
            if distance < closest:
                closest = distance
        total += closest * closest
    return total


def unswitch(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        if w > 0.3:
            total += w * x[i]
    return total


def calls(x: Any, w: Any) -> Any:
    if x.shape[0] == 1:
        return x[0] * w
    return np.sin(x[0]) * calls(x[1:], w + x[0])


def in_place(x: Any) -> Any:
    swept(x, 0)
    return np.sum(x)


def swept(x: Any, k: Any) -> Any:
    if k + 1 < x.shape[0]:
        x[k + 1] += np.sin(x[k])
        swept(x, k + 1)


def supply(x: Any) -> Any:
    return np.sum(np.fft.irfft(np.fft.rfft(x) * 0.5) * x)


@dataclass(frozen=True)
class PassProgram:
    """A function of a pass's name, arguments, and those that it is differentiated with respect to.

    Without the latter, it is compiled for its value.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...] = ()
    cuda: bool = False


_X = np.linspace(0.3, 1.2, 12)

PASS_PROGRAMS: tuple[PassProgram, ...] = (
    PassProgram(split_complex, (_X,), (0,)),
    PassProgram(widen_half, (_X,), (0,)),
    PassProgram(counted, (_X,)),
    PassProgram(reserve, (_X,)),
    PassProgram(induction, (_X,)),
    PassProgram(products, (_X.reshape(4, 3), np.cos(_X[:6].reshape(2, 3)))),
    PassProgram(hoist, (_X, 0.4)),
    PassProgram(privatize, (_X,)),
    PassProgram(hoist_checks, (_X, 6)),
    PassProgram(scalars, (_X,)),
    PassProgram(fuse, (_X,)),
    PassProgram(contract, (_X.reshape(3, 4),)),
    PassProgram(exchange, (_X.reshape(2, 2, 3), 0.4)),
    PassProgram(inline, (_X,)),
    PassProgram(relax, (_X, 0.4), (0, 1)),
    PassProgram(recalled, (_X,), (0,)),
    PassProgram(reduce, (_X, 0.4), (0, 1)),
    PassProgram(gather, (_X,), (0,)),
    PassProgram(fuse_reverse, (_X,), (0,)),
    PassProgram(predicates, (_X, 0.9), (0, 1)),
    PassProgram(shared_states, (_X, 0.9), (0, 1)),
    PassProgram(chosen, (_X,), (0,)),
    PassProgram(once, (_X[:3], np.cos(_X[:9].reshape(3, 3))), (0, 1)),
    PassProgram(skip, (_X.reshape(4, 3), np.cos(_X[:9].reshape(3, 3))), (0, 1)),
    PassProgram(unswitch, (_X, 0.4)),
    PassProgram(calls, (_X, 0.4)),
    PassProgram(supply, (_X,)),
    PassProgram(elide_copies, (_X.reshape(3, 4), np.sin(np.arange(32.0)).reshape(2, 4, 4)), (0, 1)),
    PassProgram(math_in_blocks, (np.sin(np.arange(60.0)).reshape(20, 3), _X[:3])),
    PassProgram(strip_mine, (_X,)),
    PassProgram(scalar_replacement, (_X, 0.3), (0, 1)),
    PassProgram(coalesce, (_X, 3), (0,)),
    PassProgram(hoist_allocations, (_X,), (0,)),
    PassProgram(reuse, (_X,), (0,)),
    PassProgram(vectorizable, (_X.reshape(4, 3), _X[:3]), (0, 1)),
    PassProgram(in_place, (_X,), (0,)),
    PassProgram(expand_tape, (_X, 3), (0,), cuda=True),
    PassProgram(
        accumulate_in_place, (_X, np.array([2, 0, 2, 1, 2, 3, 0, 0, 1, 2, 2, 3])), (0,), cuda=True
    ),
    PassProgram(outline_kernels, (_X,), (0,), cuda=True),
    PassProgram(fission, (_X.reshape(4, 3),), (0,), cuda=True),
    PassProgram(kernels, (_X.reshape(4, 3), 0.4), (0, 1), cuda=True),
)
