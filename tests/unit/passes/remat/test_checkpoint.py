"""Checkpointed loops: how often iterations run, and that nothing else changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir import interp, schedule
from adc.ir.text.parser import parse
from adc.ir.types import parse_type
from adc.ir.verifier import verify
from adc.passes.ad.adjoint import adjoint
from adc.passes.remat.remat import remat
from tests.oracle import chain as chains
from tests.oracle.plans import schedules

SLOTS = (1, 2, 3, 5)


def steps(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = np.sin(u) + 0.1 * u
    return u[0]


@pytest.mark.parametrize("slots", SLOTS)
def test_iterations_run_as_often_as_revolve_says(
    slots: int, evaluations: Callable[[str], int]
) -> None:
    x = np.array([0.3])
    chain = chains.Chain.of(steps, (x, 1), (0,))
    fn = chain.planned(f"revolve:{slots}:1")[-1][1]
    for n in (0, 1, 2, 5, 13, 40, 100):
        evaluations("sin")
        interp.run(fn, [x, n])
        assert evaluations("sin") == (n + schedule.advances(n, slots) if n else 0)


def test_schedules_are_functions_of_the_emitted_code() -> None:
    run = adc.grad(steps, target="python", remat="revolve:2:1", cache=False)
    want = adc.grad(steps, target="python", remat="store", cache=False)(np.array([0.3]), 9)
    np.testing.assert_array_equal(run(np.array([0.3]), 9), want)


@pytest.mark.parametrize(("slots", "most"), list(itertools.product((1, 3), (2, 7))))
def test_leaves_of_many_iterations(
    slots: int, most: int, evaluations: Callable[[str], int]
) -> None:
    x = np.array([0.3])
    chain = chains.Chain.of(steps, (x, 1), (0,))
    fn = chain.planned(f"revolve:{slots}:{most}")[-1][1]
    for n in (0, 1, 6, 7, 8, 50):
        evaluations("sin")
        interp.run(fn, [x, n])
        assert evaluations("sin") == n + schedule.plain_steps(n, slots, 1, 0, most)


TYPED = """
fn f(%x: f64, %n: {}) -> f64 {{
  %y = for L0 %i in 0 to %n carrying (%a = %x) {{
    %t = sin %a
    %u = mul %t %a
    yield %u
  }}
  return %y
}}
"""


@pytest.mark.parametrize("dtype", ["i64", "i8", "u64"])
def test_trip_counts_of_a_dtype(dtype: str) -> None:
    fn = adjoint(verify(parse(TYPED.format(dtype))), (0,))
    made = verify(remat(fn, "revolve:2:1"))
    assert "sweeps" in str(made)
    for n in (0, 1, 2, 9):
        args = [0.7, np.array(n, parse_type(dtype).numpy)[()]]
        assert chains.bits(interp.run(made, args)) == chains.bits(interp.run(fn, args))


def steps_until(u: Any, n: Any) -> Any:
    k = 0
    while k < n and u < 9.0:  # which is always true
        u = np.sin(u) + 0.1 * u
        k += 1
    return u


@pytest.mark.full
@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8])
def test_iterations_of_unknown_number(slots: int, evaluations: Callable[[str], int]) -> None:
    chain = chains.Chain.of(steps_until, (0.3, 1), (0,))
    fn = chain.planned(f"revolve:{slots}:1")[-1][1]
    assert "adc.placed" in str(fn)
    for n in (0, 1, 2, 5, 13, 40, 100):
        evaluations("sin")
        interp.run(fn, [0.3, n])
        found = evaluations("sin")
        # In the first run, plain again, and taped. One more iteration finds that it is the last.
        assert found == n + schedules.online_steps(n + 1, slots) + n
        # Where n is known, the last iteration of the first run is taped.
        offline = n + schedule.advances(n, slots) if n else 0
        assert found <= 1.25 * offline + 2 or slots < 3


# --- programs that others got wrong ---------------------------------------------------------------


def by_index(x: Any, w: Any, n: Any) -> Any:
    """The body indexes by the loop's variable."""
    s = 1.0
    for t in range(n):
        s = np.sin(s * w[t % 3]) + x[t % 4] * s
    return s


def downwards(x: Any, w: Any, n: Any) -> Any:
    s = 1.0
    for t in range(n, 0, -2):
        s = np.sin(s * w[t % 3]) + x[t % 4] * t
    return s


def in_place(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        for i in range(1, len(u) - 1):
            u[i] = np.sin(u[i - 1]) * w[t % 3] + u[i + 1] * u[i]
    return np.sum(u * u)


def argument_in_place(x: Any, w: Any, n: Any) -> Any:
    for _ in range(n):
        x[0] = np.sin(x[1]) * w[0]
        x[1:] = x[:-1] * w[1] + 0.5 * x[1:] ** 2
    return np.sum(x)


def views(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    odd, even = u[1::2], u[::2]
    for _ in range(n):
        odd[:] = np.tanh(even * w[0]) + odd**2
        even[:] = odd * w[1] - even
    return np.sum(u)


def branches(x: Any, w: Any, n: Any) -> Any:
    """A branch on a value that is kept, another one on what it computes."""
    s, m = x[0], 0.0
    for t in range(n):
        z = np.sin(s) * w[t % 3]
        m = max(m, z)
        if z > 0.1:
            s = s * z + x[1]
        elif m - z < 1.0:
            s = np.exp(z - m) - s
    return s + m


def nested(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        v = u * w[t % 3]
        for _ in range(t % 3):
            v = np.sin(v) + 0.1 * u
        u = u + v
    return np.sum(u * u)


def swapped(x: Any, w: Any, n: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a * w[0] + np.sin(b)
    return np.sum(a * b)


def written_once(x: Any, w: Any, n: Any) -> Any:
    out = np.zeros(n + 1)
    s = x[0]
    for t in range(n):
        s = np.sin(s * w[0]) + x[1]
        out[t] = s * s
    return np.sum(out**2)


def integers(x: Any, w: Any, n: Any) -> Any:
    k, s = 1, x[0]
    for _ in range(n):
        k = (k * 5 + 3) % 7
        s = np.sin(s) * w[k % 3] + x[k % 4]
    return s * k


def while_inside(x: Any, w: Any, n: Any) -> Any:
    s = x[0]
    for t in range(n):
        r = 1.0 + s * s
        while r > 0.5:
            r = r * 0.5 * np.cos(s * w[t % 3])
        s = np.sin(s) + r
    return s


def step(s: Any, w: Any) -> Any:
    return np.sin(s * w) + 0.1 * s


def calls(x: Any, w: Any, n: Any) -> Any:
    s = x[0]
    for t in range(n):
        s = step(s, w[t % 3])
    return s


def total_beside(x: Any, w: Any, n: Any) -> Any:
    """A number that no iteration reads is carried, too."""
    s, cost = x[0], 0.0
    for t in range(n):
        s = np.sin(s) + x[1] * w[t % 3]
        cost += s * s
    return cost


def draws(x: Any, w: Any, n: Any) -> Any:
    rng = np.random.default_rng(3)
    s = x[0]
    for t in range(n):
        z = rng.normal()
        s = np.sin(s * w[t % 3]) + 0.3 * z * s + x[1] * rng.random()
        if z > 0.0:
            s = s + np.sum(rng.uniform(-1.0, 1.0, size=3) * x[:3])
    return s + rng.normal() * s


def parts(x: Any, w: Any, n: Any) -> Any:
    """Parts of an array whose ends move, one of them empty at first."""
    u = x.copy()
    for t in range(n):
        left, right = u[: t % 4], u[t % 4 :]
        right += 0.3 * np.sin(right) * w[t % 3]
        left *= np.sum(right) * 0.2
    return np.sum(u * u)


def three_deep(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        for i in range(t % 3):
            v = u * w[i]
            for _ in range(i + 1):
                v = np.sin(v) + 0.1 * u
            u = 0.5 * u + v
    return np.sum(u * u)


# Loops of trip counts that are known only at run time.


def until(x: Any, w: Any, n: Any) -> Any:
    s, t = x[0], 0
    while t < n and abs(s) < 4.0:
        s = np.sin(s * w[t % 3]) + x[t % 4] * s + 0.1
        t += 1
    return s * t


def breaks(x: Any, w: Any, n: Any) -> Any:
    u, s = x.copy(), 0.0
    for t in range(n):
        u = np.sin(u) * w[t % 3] + u
        s = s + np.sum(u * u)
        if s > 6.0:
            break
        s = s * np.cos(u[0])
    return s + u[1]


def continues(x: Any, w: Any, n: Any) -> Any:
    s, m = x[0], 0.0
    for t in range(n):
        if t % 3 == 1:
            continue
        m = max(m, np.sin(s) * w[t % 3])
        if m > 2.0:
            break
        s = s * m + x[t % 4]
    return s + m


def returns(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        u[1:] = np.tanh(u[:-1] * w[t % 3]) + 0.9 * u[1:]
        u[0] = u[0] + 0.3 * u[3] * u[0]
        if u[0] > 0.5:
            return u[0] * np.sum(u)
    return np.sum(u * u)


def ends_in_place(x: Any, w: Any, n: Any) -> Any:
    u, t = x.copy(), 0
    odd, even = u[1::2], u[::2]
    while t < n and np.sum(u) < 9.0:
        odd[:] = np.tanh(even * w[0]) + odd**2
        even[:] = odd * w[1] - even
        t += 1
    return np.sum(u)


def draws_until(x: Any, w: Any, n: Any) -> Any:
    rng = np.random.default_rng(3)
    s, t = x[0], 0
    while t < n and rng.random() < 0.95:
        s = np.sin(s * w[t % 3]) + rng.normal() * s
        t += 1
    return s * rng.random()


def breaks_inside(x: Any, w: Any, n: Any) -> Any:
    u = x.copy()
    for t in range(n):
        v = u * w[t % 3]
        for i in range(5):
            v = np.sin(v) + 0.1 * u
            if v[0] > 0.2 * i:
                break
        u = 0.5 * u + v
        if np.sum(u) > 5.0:
            return np.sum(v)
    return np.sum(u * u)


PROGRAMS = (
    by_index, downwards, in_place, argument_in_place, views, branches, nested, swapped,
    written_once, integers, while_inside, calls, total_beside, draws, parts, three_deep,
)  # fmt: skip
ONLINE = (until, breaks, continues, returns, ends_in_place, draws_until, breaks_inside)


@pytest.mark.full
@pytest.mark.parametrize("fn", [*PROGRAMS, *ONLINE], ids=lambda fn: fn.__name__)
def test_no_bit_changes(fn: Callable[..., Any]) -> None:
    x, w = np.array([0.3, -0.7, 1.1, 0.2]), np.array([0.4, -0.9, 0.6])
    chain = chains.Chain.of(fn, (x, w, 7), (0, 1))
    wanted = chain.joined
    for policy in ("revolve:1:1", "revolve:2:1", "revolve:3:2", "revolve:2:1:all"):
        made = chain.planned(policy)
        assert ("adc.placed" if fn in ONLINE else "sweeps") in str(made[-1][1]), policy
        assert not chains.well_formed(made[-1][1])
        for n in (0, 1, 2, 7, 11):
            args = [x.copy(), w.copy(), n]
            found = interp.run(made[-1][1], args)
            assert chains.bits(found) == chains.bits(chains.run(wanted, [x.copy(), w.copy(), n]))


@pytest.mark.full
def test_compiled() -> None:
    x, w = np.array([0.3, -0.7, 1.1, 0.2]), np.array([0.4, -0.9, 0.6])
    for fn in (in_place, nested, draws, breaks, returns, ends_in_place):
        gradients = [
            adc.value_and_grad(fn, argnums=(0, 1), remat=policy, cache=False)
            for policy in ("store", "revolve:2:1", "revolve:2:2:all")
        ]
        for n in (0, 1, 7, 30):
            first, *others = [gradient(x.copy(), w, n) for gradient in gradients]
            for other in others:
                assert first[0] == other[0]
                assert all(map(np.array_equal, first[1], other[1]))
