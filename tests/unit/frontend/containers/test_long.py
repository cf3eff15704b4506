"""Long programs: loops over lists of arrays stay loops where copies of their bodies are much code.

Whatever the lists are then, values and derivatives are those of the copies.
"""

from __future__ import annotations

import itertools
import linecache
import textwrap
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend import attempts
from adc.frontend.language import unrolling

_serial = itertools.count()

# What loops do with lists, and whether they stay loops: `us` has four arrays like `x`.
STAY = """
for t in range(4):
    s += np.sum(us[t] * us[-1 - t])

xs = [x]
for t in range(4):
    xs.append(np.sin(xs[t]) + us[t])
s += np.sum(xs[-1]) + np.sum(xs[2]) * len(xs)

for u in us:
    s += np.sum(u * u)

for k, (u, v) in enumerate(zip(us, reversed(us))):
    s += (k + 1.0) * (u @ v)

for t in range(4):
    us[t] = us[t] * 0.5 + us[t - 1]
s += np.sum(us[2] * us[3])

new = []
for t in reversed(range(4)):
    new.append(us[t] * s)
    s += new[-1][0]
s += np.sum(np.array(new[::-1]) * 0.1)

for _ in range(3):
    before = us
    us = []
    for t in range(4):
        us.append(before[t] + 0.1 * before[t - 1])
s += np.sum(us[0] * us[3])

pairs = [(u, k * 1.0) for k, u in enumerate(us)]
for t in range(4):
    u, w = pairs[t]
    s += w * u[1]

for u in us:
    if u[0] > 100.0:
        break
    s += u[0]
"""
# These need copies of the bodies, or refer to the arrays themselves.
COPIED = """
for u in us:
    u[0] *= 2.0
s += us[1][0]

for t in range(4):
    us[t][1] += 0.5
s += np.sum(us[3])

rows = [x, x[1:], x[:2], x]
for row in rows:
    s += np.sum(row * row)

rows = [x, x[1:], x[:2], x]
for t in range(4):
    s += np.sum(rows[t]) * t

h = x * 1.0
rows = [h, h, us[0], us[1]]
for t in range(4):
    s += rows[t][0]
    h[0] += 1.0

for u in us:
    if len(us) < 7:
        us.append(u * 0.5)
    s += u[1]

first, *others = us
for t in range(3):
    s += others[t] @ first
a, b, c = others
s += a[0] * c[1]
"""


def blocks(text: str) -> list[str]:
    return text.strip("\n").split("\n\n")


def define(text: str) -> Any:
    file = f"<long-{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def made(body: str) -> Any:
    begin = "def f(x):\n    us = [x * (k + 1.0) for k in range(4)]\n    s = 0.0\n"
    return define(begin + textwrap.indent(body, "    ") + "\n    return s + us[0][0]\n")


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    """Make all programs long that have copies; return what came of it."""
    monkeypatch.setattr(unrolling, "LONG", 1)
    found: list[bool | None] = []
    note = attempts.Attempts.note

    def noted(self: attempts.Attempts, error: Exception) -> None:
        before = self.rolls
        note(self, error)
        if self.rolls is not before:
            found.append(self.rolls)

    monkeypatch.setattr(attempts.Attempts, "note", noted)
    return found


@pytest.mark.parametrize("body", blocks(STAY) + blocks(COPIED))
def test_derivatives_are_those_of_copies(
    body: str, tried: list[bool | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.array([0.3, -0.4, 0.7])
    value, slope = adc.value_and_grad(made(body), target="python")(x)
    monkeypatch.setattr(unrolling, "LONG", 10**9)
    copied, other = adc.value_and_grad(made(body), target="python")(x)
    np.testing.assert_allclose(value, made(body)(x), rtol=1e-13)
    np.testing.assert_allclose(value, copied, rtol=1e-13)
    np.testing.assert_allclose(slope, other, rtol=1e-12)


def test_arrays_of_several_shapes_stay_arrays(tried: list[bool | None]) -> None:
    def f(x: Any, y: Any) -> Any:
        s = 0.0
        for row in [x, y, x + 1.0, y * y]:
            s += np.sum(row * row)
        return s

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    for pair in ((x, y), (x, x), (y, x)):
        for got, want in zip(
            adc.grad(f, argnums=(0, 1), target="python")(*pair),
            (4.0 * pair[0] + 2.0, 2.0 * pair[1] + 4.0 * pair[1] ** 3), strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(got, want, rtol=1e-13)
    assert tried[0]


def test_budgets_need_to_know_sizes(tried: list[bool | None]) -> None:
    def f(x: Any) -> Any:
        xs = [x]
        for t in range(6):
            xs.append(np.tanh(xs[-1]) * xs[t])
        return np.sum(xs[-1]) + np.sum(xs[3])

    x = np.array([0.3, -0.5])
    whole = adc.grad(f, target="python")(x)
    assert tried == [True]
    within = adc.grad(f, target="python", memory="1 kB")(x)
    assert tried == [True]
    np.testing.assert_allclose(within, whole, rtol=1e-13)


def test_code_does_not_grow_with_lists(tried: list[bool | None]) -> None:
    text = """
    def f(x, n):
        us = [x * 0.1] * n
        total = 0.0
        for _ in range(3):
            xs = [x]
            for t in range(n):
                v = xs[-1]
                force = np.array([v[1], -np.sin(v[0]) - 0.1 * v[1] + us[t][0]])
                half = v + 0.05 * force
                again = np.array([half[1], -np.sin(half[0]) - 0.1 * half[1] + us[t][1]])
                xs.append(v + 0.1 * again)
            new = []
            for t in range(n):
                new.append(us[t] - 0.1 * (xs[t] + xs[t + 1]) * np.exp(-(us[t] @ us[t])))
            us = new
            total += sum(v @ v for v in xs)
        return total
    """
    fn = define(textwrap.dedent(text))
    x = np.array([1.0, 0.5])
    sizes = []
    for n in (20, 30):
        code = adc.value_and_grad(fn, target="python")
        value, _ = code(x, n)
        np.testing.assert_allclose(value, fn(x, n), rtol=1e-12)
        sizes.append(code.ir(x, n).count("\n"))
    # Each element of the first list is stored by itself.
    assert sizes[1] - sizes[0] <= 5 * 10
    assert tried[-1]
