"""`memory=` and `offload="host"` with `target="cuda"`: what calls hold, and what they compute."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adc
from adc.api.derivative import Derivative
from adc.backend.cuda import api
from adc.backend.cuda.device import Device
from adc.backend.cuda.dry_run import DryRuns
from adc.backend.cuda.emit import emit
from adc.backend.cuda.memory import PINNED, POOL, Lender, OverLimit
from adc.ir.errors import ArgumentError, MemoryBudgetError
from tests.unit.passes.remat import test_budget_plans as plans

R = np.random.default_rng(0)
SMALL: dict[str, tuple[Any, ...]] = {
    "residual": (R.normal(size=(4, 4)), 0.1 * R.normal(size=(14, 4, 4))),
    "layers": (R.normal(size=(4, 3)), 0.3 * R.normal(size=(12, 3, 3))),
    "on_a_grid": (R.normal(size=12), 0.1, 16),
    "days": (np.linspace(0.0, 3.0, 8), 0.3, 2, 6),
    "in_a_branch": (R.normal(size=8), 1.1, 16),
    "two_loops": (R.normal(size=10), R.normal(size=10), 12),
}


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    adc.release_memory()
    yield
    adc.release_memory()


def kernel(derivative: Derivative) -> Any:
    return derivative.compiled_for().entry.kernel


def least_of(call: Callable[[], object]) -> int:
    """Return the least peak that an error names."""
    with pytest.raises(MemoryBudgetError, match="needs at least") as caught:
        call()
    found = re.fullmatch(r"memory=(\d+) is the smallest budget .*", caught.value.hint or "")
    assert found is not None
    return int(found[1])


def same(got: Any, want: Any) -> None:
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.full
@pytest.mark.parametrize("name", SMALL)
def test_budgets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fn, _, argnums = plans.PROGRAMS[name]
    args = SMALL[name]
    want = adc.grad(fn, argnums)(*args)
    make = functools.partial(adc.grad, fn, argnums, target="cuda", progress=False)
    free = make(memory=10**9)
    same(free(*args), want)
    most = kernel(free).peak
    with monkeypatch.context() as patch:
        patch.setattr(Device, "launch", None)  # it is refused before
        least = least_of(lambda: make(memory=0)(*args))
        assert least_of(lambda: make(memory=least - 1)(*args)) == least
    assert least < most
    for budget in (least, (2 * least + most) // 3, most - 1):
        within = make(memory=budget)
        same(within(*args), want)
        assert kernel(within).peak <= budget
        plan = within.plan(*args, alternatives=False)
        assert plan.budget == budget
        if name == "in_a_branch":
            assert plan.peak_bytes is None  # which branch is taken, a float decides
        else:
            assert plan.peak_bytes == kernel(within).peak
            assert f"peak on the GPU: {plan.peak_bytes} bytes" in str(plan)
        assert within.plan().peak_bytes == kernel(within).peak


def steps(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = np.sin(x) / (1.0 + np.sum(x * x))
        x = x[::-1] * 0.5
    return np.sum(x)


@pytest.mark.full
def test_other_sizes_have_other_plans() -> None:
    x = np.linspace(0.1, 0.9, 8)
    make = functools.partial(adc.grad, steps, target="cuda", progress=False)
    budget = least_of(lambda: make(memory=0)(x, 12))
    within = make(memory=budget)
    for n in (1, 12, 1):
        np.testing.assert_allclose(within(x, n), adc.grad(steps)(x, n), rtol=1e-11)
        assert kernel(within).peak <= budget
    assert len(within._code.compiled()) == 2
    plan = within.plan(x, 12)
    assert len(plan.alternatives) == 2
    assert plan.loops
    # Arguments and results that lie there, and copies of them, do not count.
    found = within(api.cuda.to_device(x), 12)
    np.testing.assert_allclose(found.copy_to_host(), adc.grad(steps)(x, 12), rtol=1e-11)
    assert kernel(within).peak == plan.peak_bytes


def test_code_without_reverse_code() -> None:
    def slope(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = np.sin(x) * x
        return x

    x = np.linspace(0.1, 0.9, 20)
    along = functools.partial(adc.jvp, slope, (x, 3), (x, None), target="cuda")
    least = least_of(lambda: along(memory=0))
    same(along(memory=least), along())


def each(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        h = x[i]
        while h * h > 0.3:
            h = h - 0.2 * np.sin(h * w)
        s += h * h
    return s


def each_apart(x: Any, w: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        h = x[i]
        while h * h > 0.3:
            h = h - 0.2 * np.sin(h * w)
        y[i] = h
    return np.sum(y * y) * np.sum(y)


def until(x: Any) -> Any:
    u = x * 1.0
    while np.sum(u * u) > 0.5:
        u = u - 0.1 * np.sin(u)
    return np.sum(u * u * u)


def chosen(x: Any) -> Any:
    y = np.sin(x)
    if np.sum(y) > 0.0:
        z = np.cos(y * y) * x
    else:
        z = y
    return np.sum(z * z)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (each, (np.linspace(-2.0, 2.0, 40), 1.1)),
        (until, (np.linspace(-0.6, 0.6, 8),)),
        (chosen, (np.linspace(-1.0, 0.8, 20),)),
        (chosen, (np.linspace(-0.8, 1.0, 20),)),
    ],
)
def test_what_only_a_run_can_tell(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    want = adc.grad(fn)(*args)
    make = functools.partial(adc.grad, fn, target="cuda", progress=False)
    least = least_of(lambda: make(memory=0)(*args))
    fits = []
    for budget in (least, 2 * least, 20_000):
        within = make(memory=budget)
        try:
            got = within(*args)
        except MemoryBudgetError as error:
            # Not `pytest.raises`: numbers known only at run time decide whether it happens.
            assert "cannot go on with memory of" in str(error)  # noqa: PT017
        else:
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
            fits.append(budget)
        assert kernel(within).peak <= budget
        assert within.plan(*args, alternatives=False).peak_bytes is None
    assert 20_000 in fits


def test_a_limit() -> None:
    lender = Lender(77, 1000)
    given = lender.take(5000, own=False)
    one = lender.take(700)
    with pytest.raises(OverLimit) as caught:
        lender.take(301)
    assert (caught.value.asked, caught.value.held) == (301, 700)
    assert (lender.held, lender.own, lender.peak) == (5700, 700, 700)
    other = lender.take(300)  # of just this size
    assert other.size == 300
    del one
    assert POOL.nbytes == 700
    lender.take(600)  # what is kept makes room for it
    assert POOL.nbytes == 600
    del given


def test_numbers_are_used_again() -> None:
    device = Device(lambda number, told: None, limit=10_000)
    before = device.memory.own
    for _ in range(100):
        device.number(np.float64, 1.0)
    assert device.memory.own - before == 32 * 8
    kept = [device.number(np.float64, float(k)) for k in range(40)]
    assert device.memory.own - before == 2 * 32 * 8
    assert [device.get(number) for number in kept] == list(range(40))


@pytest.mark.full
def test_a_dry_run_holds_what_a_call_does() -> None:
    gradient = adc.grad(steps, target="cuda", remat="store")
    for size, n in ((5, 3), (40, 4), (60, 1)):
        gradient(np.linspace(0.1, 0.9, size), n)
        fn = gradient.compiled_for().compilation.fn
        held = DryRuns(emit(fn)).held([(size,), n])
        assert held.exact
        assert held.peak == kernel(gradient).peak
        assert gradient.plan(np.ones(size), n).peak_bytes == held.peak


# --- what waits on the host -----------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args", "argnums"),
    [
        pytest.param(steps, (np.linspace(0.1, 0.9, 32), 4), 0, marks=pytest.mark.sampled(1)),
        (plans.residual, (R.normal(size=(8, 8)), 0.1 * R.normal(size=(12, 8, 8))), (0, 1)),
        (plans.on_a_grid, (0.3 * R.normal(size=30), 0.1, 8), (0, 1)),
        (each_apart, (np.linspace(-2.0, 2.0, 40), 1.1), 0),
    ],
)
def test_offload(fn: Callable[..., Any], args: tuple[Any, ...], argnums: Any) -> None:
    want = adc.value_and_grad(fn, argnums)(*args)
    make = functools.partial(adc.value_and_grad, fn, argnums, target="cuda", remat="store")
    here, there = make(), make(offload="host")
    for derivative in (here, there, there):
        value, found = derivative(*args)
        assert value == pytest.approx(want[0], rel=1e-12)
        some = argnums == 0
        same([found] if some else found, [want[1]] if some else want[1])
    away = kernel(there).disk
    assert away > 0
    assert PINNED.nbytes == away
    assert kernel(there).peak < kernel(here).peak
    if fn is steps:
        # Four arrays a step: all that `steps` keeps but for numbers.
        assert away == 4 * 4 * 32 * 8
        assert kernel(here).peak - kernel(there).peak >= away
    assert there.plan().memory_text()[-1] == f"host: {away} bytes (not in the peak)"
    if fn is not each_apart:
        assert there.plan(*args).memory_text()[-1] == f"host: {away} bytes (not in the peak)"
    adc.release_memory()
    assert PINNED.nbytes == 0


@pytest.mark.full
def test_offload_within_a_budget() -> None:
    x = np.linspace(0.1, 0.9, 100)
    make = functools.partial(adc.grad, steps, target="cuda")
    least = least_of(lambda: make(memory=0, offload="host")(x, 16))
    within = make(memory=least, offload="host")
    np.testing.assert_allclose(within(x, 16), adc.grad(steps)(x, 16), rtol=1e-11)
    assert kernel(within).peak <= least < least_of(lambda: make(memory=0)(x, 16))


def test_places_that_do_not_go_with_a_target() -> None:
    with pytest.raises(ArgumentError, match=r"offload='host' is not supported with target=.cpu"):
        adc.grad(steps, offload="host")
    with pytest.raises(
        ArgumentError, match=r"offload='disk' is not supported with target=.cuda"
    ) as caught:
        adc.grad(steps, offload="disk", target="cuda")
    assert caught.value.hint == 'use "host", or leave it out'
    with pytest.raises(ArgumentError, match="offload='tape' is not supported"):
        adc.grad(steps, offload="tape")
