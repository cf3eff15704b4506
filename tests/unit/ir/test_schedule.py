"""Schedules of checkpointed loops: optimal where that is known, exact counts, and they compile."""

from __future__ import annotations

import doctest
import heapq
import itertools
import math
import types
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
import pytest

from adc.ir import schedule
from adc.ir.schedule import (
    LIMIT,
    advances,
    beta,
    plain_steps,
    repetitions,
    rest,
    split,
    sweeps,
    taped,
)
from tests.oracle.plans import schedule_text, schedules
from tests.oracle.plans.schedules import online_steps, optima, optimal

Problem = tuple[int, int, int, int, int]  # steps, bytes, of a snapshot, of a tape, most at once

# Tapes from an eighth of a snapshot to eight of them; without and with a limit on leaves.
SIZES = [(8, 1), (4, 1), (2, 1), (7, 5), (1, 1), (3, 8), (1, 2), (1, 8)]
GRID: list[Problem] = [
    (n, int(snapshots * sigma) + extra, sigma, tau, most)
    for n in (2, 3, 5, 12, 40, 100)
    for sigma, tau in SIZES
    for snapshots in (1, 2, 3.5, 6, 11, 24)
    for extra in (0, tau)
    for most in (0, 1, 3)
    if int(snapshots * sigma) + extra >= sigma + tau
]


# What compiled code may call; each calls only those before it, by name.
COMPILED = (
    beta, repetitions, advances, taped, schedule.capacity, schedule.shape, split, sweeps, rest,
    schedule.due, schedule.place,
)  # fmt: skip


def peak(*problem: int) -> int:
    return schedule.reversal(*problem).peak


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """The functions of `COMPILED`, compiled, so that what calls what is compiled, too."""
    names = dict(vars(schedule))
    for fn in COMPILED:
        copy = types.FunctionType(fn.__code__, names, fn.__name__)
        names[fn.__name__] = numba.njit(copy)
    return names


def test_examples() -> None:
    assert doctest.testmod(schedule).failed == doctest.testmod(schedules).failed == 0


# Revolve.


@pytest.mark.full
def test_counts_are_exact_and_saturate() -> None:
    for s, r in itertools.product(range(40), range(40)):
        assert beta(s, r) == min(math.comb(s + r, s), LIMIT)
    assert beta(10**12, 1) == beta(1, 10**12) == 10**12 + 1
    assert beta(10**9, 2) == (10**9 + 2) * (10**9 + 1) // 2
    assert beta(10**12, 2) == beta(10**6, 10**6) == LIMIT
    for n, s in itertools.product((10**6, 10**9 + 7, 10**12), (2, 3, 10, 30, 1000, 10**6)):
        r = repetitions(n, s)
        assert beta(s, r - 1) < n <= beta(s, r)
        assert advances(n, s) == r * n - math.comb(s + r, r - 1)
    assert advances(10**12, 1) == LIMIT
    assert advances(10**9, 1) == 10**9 * (10**9 - 1) // 2
    assert repetitions(2, 0) == advances(2, 0) == LIMIT


@pytest.mark.parametrize("s", range(1, 12))
def test_advances_are_optimal(s: int) -> None:
    assert optima(59, s, 1, 0, 1).tolist() == [advances(n, s) for n in range(60)]


@pytest.mark.parametrize("s", range(1, 15))
def test_splits_are_optimal(s: int) -> None:
    for left in range(2, 400):
        i = split(left, s, 1, 0, 1)
        assert i + advances(left - i, s - 1) + advances(i, s) == advances(left, s)


@pytest.mark.full
def test_another_implementation_runs_as_many_steps() -> None:
    peer = pytest.importorskip("checkpoint_schedules")
    for n, s in itertools.product((1, 2, 3, 10, 57, 100, 300), (1, 2, 3, 5, 10)):
        actions: Iterable[Any] = peer.MultistageCheckpointSchedule(n, s, 0)
        forward = [action for action in actions if isinstance(action, peer.Forward)]
        assert sum(action.n1 - action.n0 for action in forward) == n + plain_steps(n, s, 1, 0, 1)


# Any sizes.


class Machine:
    """The machine of the module's docstring, to the letter. A state is the number of its step."""

    def __init__(self, n: int, m: int, sigma: int, tau: int, most: int) -> None:
        self.sizes = sigma, tau, most
        self.plain = self.taped = self.held = self.peak = 0
        self.next = n - 1  # the step whose adjoint is due
        self.reverse(0, n, m)
        assert self.next == -1
        assert self.held == 0

    def take(self, size: int) -> None:
        self.held += size
        self.peak = max(self.peak, self.held)

    def reverse(self, x: int, n: int, m: int) -> None:
        sigma, tau, most = self.sizes
        pushed: list[tuple[int, int]] = []
        start, left = x, n
        for j in range(sweeps(n, m, *self.sizes)):
            i = split(left, m - j * sigma, *self.sizes)
            assert 1 <= i < left
            pushed.append((x, i))
            self.take(sigma)
            for _ in range(i):
                x, left = x + 1, left - 1
                self.plain += 1
        assert left <= 1 or most == 0 or left <= most
        assert x + left == start + n == self.next + 1
        self.take(left * tau)
        self.taped += left
        self.next -= left
        self.held -= left * tau
        for j in reversed(range(len(pushed))):
            x, i = pushed[j]
            self.held -= sigma
            self.reverse(x, i, m - j * sigma)


@pytest.mark.full
@pytest.mark.parametrize("most", [0, 1, 3])
def test_counts_are_those_of_the_machine(most: int) -> None:
    for problem in GRID:
        if problem[4] == most:
            n, m, *_ = problem
            run = Machine(*problem)
            assert run.taped == n
            assert run.plain == plain_steps(*problem)
            assert run.peak == peak(*problem) <= m


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("s", [1, 2, 3, 5, 12, 100])
def test_counts_with_slots_are_the_formula(s: int, k: int) -> None:
    for n in (0, 1, 2, 3, 7, 30, 100, 169):
        run = Machine(n, s, 1, 0, k)
        bundles = -(-n // k)
        assert run.plain == plain_steps(n, s, 1, 0, k)
        assert run.plain <= k * advances(bundles, s)
        assert run.plain == k * advances(bundles, s) or n % k
        assert run.peak <= s


def cheapest(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return the fewest plain steps of any program of pushes, steps, tapes and restores.

    The search is over the states of a machine that may restore and drop any snapshot at any time.
    """
    begin: tuple[int, int, tuple[int, ...]] = (0, n, ())  # the current state, the end, snapshots
    queue = [(0, begin)]
    known = {begin: 0}
    while queue:
        cost, state = heapq.heappop(queue)
        x, end, held = state
        if end == 0:
            return cost
        if cost > known[state]:
            continue
        free = m - len(held) * sigma
        following = [(0, (p, end, held)) for p in held]
        following += [(0, (x, end, tuple(q for q in held if q != p))) for p in held]
        if x < end:
            following.append((1, (x + 1, end, held)))
            if (most == 0 or end - x <= most) and (end - x) * tau <= free:
                following.append((0, (x, x, held)))
        if x not in held and free >= sigma:
            following.append((0, (x, end, tuple(sorted((*held, x))))))
        for more, after in following:
            if cost + more < known.get(after, LIMIT):
                known[after] = cost + more
                heapq.heappush(queue, (cost + more, after))
    return LIMIT


@pytest.mark.parametrize(
    ("m", "sigma", "tau", "most"),
    [
        (1, 1, 0, 1),
        (3, 1, 0, 1),
        (3, 1, 0, 2),
        (4, 1, 1, 0),
        (7, 2, 1, 0),
        (9, 4, 1, 0),
        (9, 2, 3, 0),
        (17, 5, 7, 0),
        (12, 2, 3, 2),
        (3, 2, 2, 0),
    ],
)
def test_dynamic_programming_is_exhaustive(m: int, sigma: int, tau: int, most: int) -> None:
    expected = [cheapest(n, m, sigma, tau, most) for n in range(9)]
    assert optima(8, m, sigma, tau, most).tolist() == expected


def bundled(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return the plain steps of Revolve with leaves of k steps, for the best k."""
    best = 0 if taped(n, m, tau, most) == n else LIMIT
    for k in range(1, min(n, most or n) + 1):
        if k * tau + sigma <= m:
            best = min(best, k * advances(-(-n // k), (m - k * tau) // sigma))
    return best


@pytest.mark.full
def test_splits_are_nearly_optimal() -> None:
    excess = []
    for problem in GRID:
        least, plain = optimal(*problem), plain_steps(*problem)
        assert least <= plain <= bundled(*problem)
        excess.append(plain / least - 1 if least else 0.0)
        assert excess[-1] <= (0.1 if problem[0] >= 40 else 0.25), problem
    assert np.mean(excess) < 0.005
    assert np.quantile(excess, 0.9) < 0.01


def test_of_no_state_no_step_is_run_twice() -> None:
    for n in (1, 7, 60, 101):
        assert plain_steps(n, 10, 0, 1, 0) == optimal(n, 10, 0, 1, 0) == max(0, n - 10)
    assert peak(101, 10, 0, 1, 0) == 10
    assert plain_steps(9, 0, 0, 0, 1) == 8


def test_too_little_memory_makes_a_square_of_steps() -> None:
    for m in (-5, 0, 9):
        assert split(30, m, 8, 2, 0) == 29
        assert sweeps(30, m, 8, 2, 0) == 1
        run = Machine(30, m, 8, 2, 0)
        assert run.peak == peak(30, m, 8, 2, 0) == 10 > m
        assert run.plain == plain_steps(30, m, 8, 2, 0) > 300
        assert optimal(30, m, 8, 2, 0) == LIMIT


@pytest.mark.parametrize("m", [-1, 0, 1, 8, 100])
def test_no_step_and_one_step(m: int) -> None:
    for n, tau in itertools.product((0, 1), (0, 2)):
        assert sweeps(n, m, 8, tau, 0) == plain_steps(n, m, 8, tau, 0) == 0
        assert peak(n, m, 8, tau, 0) == n * tau


@pytest.mark.full
def test_more_memory_never_costs_much() -> None:
    # Not monotone, as splits are not quite optimal; but a step up is a small one.
    for sigma, tau in SIZES:
        costs = [plain_steps(200, m, sigma, tau, 0) for m in range(sigma + tau, 40 * sigma)]
        assert all(b <= 1.06 * a for a, b in itertools.pairwise(costs))


def test_long_loops() -> None:
    assert plain_steps(10**6, 30, 1, 0, 1) == 5623008
    assert plain_steps(10**4, 800, 1, 0, 1) == advances(10**4, 800)
    assert plain_steps(10**6, 300, 10, 7, 0) < bundled(10**6, 300, 10, 7, 0)


# While loops.


def placed(
    place: Callable[..., int], lengths: list[int], slots: int
) -> tuple[list[list[int]], list[int]]:
    """Return the steps whose states are stored after so many steps, and how many copies it took."""
    steps, queue, count, copies = np.zeros(slots, np.int64), np.zeros(slots, np.int64), 0, 0
    kept, made = [], []
    for t in range(max(lengths) + 1):
        if t in lengths:
            kept.append(sorted(steps[:count].tolist()))
            made.append(copies)
        slot = place(t, count, steps, queue)
        count = max(count, slot + 1)
        copies += slot >= 0
    return kept, made


def evaluations(n: int, slots: int, begins: list[int]) -> int:
    """Return how often the body of a loop of n steps runs: forward, again plain, again taped."""
    ends = [*begins[1:], n]
    again = [advances(e - b, slots - k) for k, (b, e) in enumerate(zip(begins, ends, strict=True))]
    return 2 * n + sum(again)


def offline(n: int, slots: int) -> int:
    """Return the same where n is known: the last step is taped in the first run."""
    return n + advances(n, slots)


def equinox(lengths: list[int], slots: int) -> list[int]:
    """Return how often Equinox 0.13 evaluates the body of loops of so many steps.

    It stores states by algorithm I of Stumm & Walther while there are fewer than beta(slots, 2)
    steps, then by that of Wang & Moin, and reverses by halving.
    """
    stored: dict[int, int] = {}
    level = dict.fromkeys(range(1, slots), 0) | {0: LIMIT}
    spare: set[int] = set()
    index, last, end, on = 0, slots, slots, True
    counts = []
    for t in range(max(lengths) + 1):
        if t in lengths:
            counts.append(t + halving(t, sorted(stored.values()), slots))
        if t < beta(slots, 2) - 1:
            if on:
                stored[index] = t
                index = 1 if index + 1 > last else index + 1
            if t + 1 == end:
                on = False
            if t == end:
                end, last = end + last, last - 1
                index, on = last, last > 0
            continue
        slot = max(spare or stored, key=stored.__getitem__)
        if spare:
            spare.remove(slot)
            level[slot] = 0
        else:
            spare = {k for k in stored if level[k] < level[slot]}
            level[slot] += 1
        stored[slot] = t
    return counts


def halving(end: int, stack: list[int], slots: int) -> int:
    """Return how many steps, plain or taped, Equinox runs in reverse, from what is stored."""
    count = 0
    while end > 0:
        step = stack[-1]
        if step + 1 == end:
            stack.pop()
        while end - step > 2 and len(stack) < slots:
            ahead = 1 if end - step - 2 <= slots - len(stack) else (end - step) // 2
            count += ahead
            step += ahead
            stack.append(step)
        count += end - step
        end -= 1
    return count


def test_the_simulation_of_equinox() -> None:
    # Counted in Equinox 0.13.8.
    lengths = [1, 2, 5, 9, 10, 11, 30, 44, 45, 46, 60, 100, 200]
    assert equinox(lengths, 3) == [2, 4, 12, 24, 29, 33, 126, 247, 250, 253, 371, 782, 2482]
    assert equinox(lengths, 8) == [2, 4, 10, 19, 22, 25, 82, 124, 129, 133, 230, 437, 1053]


LENGTHS = [
    *range(50, 60),
    75,
    90,
    100,
    137,
    203,
    350,
    531,
    700,
    1000,
    1105,
    2213,
    4859,
    7492,
    10**4,
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("slots", [3, 4, 5, 8, 12, 16, 24, 32, 64])
def test_loops_of_unknown_length(slots: int, compiled: dict[str, Any]) -> None:
    kept, made = placed(compiled["place"], LENGTHS, slots)
    peer = equinox(LENGTHS, slots)
    bound = 1.15 if slots < 8 else 1.04
    for n, begins, copies, other in zip(LENGTHS, kept, made, peer, strict=True):
        found = evaluations(n, slots, begins)
        assert offline(n, slots) <= found <= bound * offline(n, slots)
        assert copies <= slots + n / 2
        if n > beta(slots, 2):
            assert found < other
        else:
            assert found <= other


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 8, 16, 33])
def test_short_loops_of_unknown_length_are_optimal(slots: int, compiled: dict[str, Any]) -> None:
    lengths = list(range(1, beta(slots, 2) + 1))
    kept, _ = placed(compiled["place"], lengths, slots)
    for n, begins in zip(lengths, kept, strict=True):
        least = offline(n, slots)
        # The step that is taped in the first run where n is known, and what that saves.
        assert evaluations(n, slots, begins) <= least + (2 if n < lengths[-1] else 4)


def test_all_lengths_beyond() -> None:
    lengths = list(range(46, 700))
    kept, _ = placed(schedule.place, lengths, 8)
    peer = equinox(lengths, 8)
    for n, begins, other in zip(lengths, kept, peer, strict=True):
        found = evaluations(n, 8, begins)
        assert found <= 1.04 * offline(n, 8) + 2
        assert found < other or n == 46


@pytest.mark.parametrize("unit", [1, 3, 10])
@pytest.mark.parametrize("most", [1, 10])
def test_steps_of_several_iterations(unit: int, most: int) -> None:
    slots = 5
    for n in (0, 1, 2, 29, 30, 31, 200):
        steps, queue, count = np.zeros(slots, np.int64), np.zeros(slots, np.int64), 0
        for t in range(-(-n // unit)):
            count = max(count, schedule.place(t, count, steps, queue) + 1)
        begins = sorted(int(step) * unit for step in steps[:count])
        assert len(set(begins)) == count
        assert begins[:1] == [0][: min(n, 1)]
        plain = 0
        for k, (b, e) in enumerate(zip(begins, [*begins[1:], n], strict=False)):
            run = Machine(e - b, slots - k, 1, 0, most)
            plain += run.plain
            assert run.peak <= slots - k
        assert online_steps(n, slots, unit, most) == plain


# Compiled.


@pytest.mark.full
def test_compiled_functions_agree(compiled: dict[str, Any]) -> None:
    for n, s in itertools.product((0, 1, 2, 10, 999, 10**12), (0, 1, 2, 7, 10**6)):
        for name in ("beta", "repetitions", "advances"):
            assert compiled[name](n, s) == getattr(schedule, name)(n, s)
    big = [(10**12, 10**10, 8, 80, 0), (10**12, 3, 1, 0, 1), (10**6, 24, 8, 10**7, 0)]
    for problem in [*GRID[::7], (50, 10, 0, 1, 0), (30, -1, 8, 2, 0), *big]:
        n, m, sigma, tau, most = problem
        for name, arguments in {
            "taped": (n, m, tau, most),
            "capacity": (n, 3, 2, m, sigma, tau, most),
        }.items():
            assert compiled[name](*arguments) == getattr(schedule, name)(*arguments)
        if taped(n, m, tau, most) < n:
            assert compiled["split"](*problem) == split(*problem)
            assert compiled["shape"](n, 2, *problem[1:]) == schedule.shape(n, 2, *problem[1:])
        if n <= 100:
            assert compiled["sweeps"](*problem) == sweeps(*problem)
            assert compiled["rest"](*problem) == rest(*problem)
    for slots in (1, 2, 3, 9):
        lengths = list(range(150))
        assert placed(compiled["place"], lengths, slots) == placed(schedule.place, lengths, slots)
        assert [compiled["due"](t, slots) for t in lengths] == [
            schedule.due(t, slots) for t in lengths
        ]
    untested = [fn for fn in COMPILED if not compiled[fn.__name__].signatures]
    assert not untested


def test_each_calls_those_before_it() -> None:
    names = [fn.__name__ for fn in COMPILED]
    for k, fn in enumerate(COMPILED):
        later = {*names[k + 1 :], "plain_steps", "expected"}
        assert later.isdisjoint(fn.__code__.co_names)


@pytest.mark.full
def test_text(golden: Callable[[str, str], None]) -> None:
    golden("../../ir/schedule.ir", schedule_text.text())
