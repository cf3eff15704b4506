"""Decide which values to keep: the fastest plan whose peak stays below a memory budget.

A value that reverse code needs is kept, which holds its bytes until its last use, or recomputed
from values that are themselves available; loops and calls have options, such as checkpoints, of
which one is chosen. Without a budget the fastest plan is a minimum cut. With one it is an integer
program: with `s` for kept, `r` for recomputed and `z` for a chosen option ::

    minimise    sum keep_v s_v + sum recompute_v r_v + sum seconds_o z_o
    such that   s_v + r_v + (z of options that cover v) >= 1        if v is needed
                s_u + r_u + (z of options that cover u) >= r_w      if w is computed from u
                (the sum of z over a group) = 1
                fixed_p + (what is held at p) <= budget             at every position p

Without options and byte constraints the relaxation is integral; each binding constraint mixes one
more plan in, so the relaxation is tight, and few constraints matter: they are added when a solution
violates them. Where rounding is not enough, HiGHS branches. It stops by a relative gap or a number
of nodes, never by time, so that a plan depends on the problem alone. Peaks are computed in
integers: a plan that HiGHS accepts because of rounding is excluded, and another one searched for.

The formulation is that of Checkmate (P. Jain et al., "Checkmate: Breaking the memory wall with
optimal tensor rematerialization", MLSys 2020) with one stage, since a value is recomputed at most
once, and with options for regions as in Rockmate (X. Zhao et al., "Rockmate: an efficient, fast,
automatic and generic tool for re-materialization in PyTorch", ICML 2023), whose outer dynamic
program is not needed: the byte constraints add up what regions hold.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Key = Hashable


class Use(NamedTuple):
    """Bytes that are held from a first position to a last one, both included."""

    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that can be kept or recomputed.

    Attributes
    ----------
    key : hashable
        Its name.
    bytes : int
        The bytes that it holds if kept.
    keep : float
        Seconds to store it and to load it.
    recompute : float
        Seconds to recompute it, infinite if that is impossible.
    inputs : sequence of keys
        What it is computed from: earlier items, or keys of no item, which are available.
    live : tuple of two int
        The first and the last position at which its bytes are held if it is kept.
    extra : Use, optional
        The bytes held if it is recomputed.
    """

    key: Key
    bytes: int
    keep: float
    recompute: float
    inputs: Sequence[Key]
    live: tuple[int, int]
    extra: Use | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A way to run a loop or a call.

    Attributes
    ----------
    key : hashable
        Its name, unique in its group.
    held, transient : sequence of Use
        The bytes that it holds for reverse code, and those while it runs.
    seconds : float
        Its cost.
    covers : collection of keys
        The items that are then available without being kept or recomputed.
    inputs : sequence of keys
        What it needs: items before all those it covers, or keys of no item.
    """

    key: Key
    held: Sequence[Use] = ()
    transient: Sequence[Use] = ()
    seconds: float = 0.0
    covers: Collection[Key] = ()
    inputs: Sequence[Key] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The options of a loop or a call, of which exactly one is chosen."""

    key: Key
    options: Sequence[Option]


@dataclass(frozen=True, slots=True)
class Problem:
    """What to decide.

    Attributes
    ----------
    items : sequence of Candidate
        In an order in which they can be computed. It breaks ties between equal plans.
    needed : collection of keys
        What reverse code reads.
    groups : sequence of Group
        Loops and calls.
    fixed : sequence of int
        Bytes held anyway at each position; empty if there are none.
    positions : int
        How many positions reverse code has.

    Raises
    ------
    ValueError
        If a number is meaningless or an item precedes what it is computed from.
    """

    items: Sequence[Candidate]
    needed: Collection[Key]
    groups: Sequence[Group] = ()
    fixed: Sequence[int] = ()
    positions: int = 1

    def __post_init__(self) -> None:
        for complaint in _complaints(self):
            raise ValueError(complaint)


@dataclass(frozen=True, slots=True)
class Solution:
    """A plan.

    Attributes
    ----------
    keep, recompute : frozenset of keys
        The items to keep and those to recompute.
    options : mapping
        The key of the chosen option by the key of its group.
    seconds : float
        The cost of the plan.
    bound : float
        No plan within the budget costs less.
    gap : float
        How far `seconds` may be above the fastest plan, relative to `seconds`.
    peak : int
        The most bytes held at a position.
    """

    keep: frozenset[Key]
    recompute: frozenset[Key]
    options: Mapping[Key, Key]
    seconds: float
    bound: float
    gap: float
    peak: int


class Infeasible(Exception):
    """No plan stays within the budget.

    Attributes
    ----------
    least : int
        The least peak of all plans.
    bound : int
        No plan holds less; below `least` only if the search for that ended early.
    solution : Solution
        The fastest plan with that peak.
    """

    def __init__(self, bound: int, solution: Solution) -> None:
        super().__init__(f"no plan within the budget: the least peak is {solution.peak} bytes")
        self.least = solution.peak
        self.bound = bound
        self.solution = solution


def solve(problem: Problem, budget: int, gap: float = 1e-3, nodes: int = 50) -> Solution:
    """Return the fastest plan whose peak is at most `budget`.

    Parameters
    ----------
    problem : Problem
        What to decide.
    budget : int
        Bytes that may be held at any position.
    gap : float
        The search ends when it has proven that no plan is faster by more than this share.
    nodes : int
        It also ends after so many linear programs of a thousand columns, two for each item; after
        fewer if they are larger.

    Returns
    -------
    Solution
        The same for the same arguments, on every run.

    Raises
    ------
    Infeasible
        If every plan holds more.

    Examples
    --------
    Of two values one can be kept. The second is computed from the first:

    >>> a = Candidate("a", 8, 1.0, math.inf, (), (0, 1))
    >>> items = [a, Candidate("b", 8, 1.0, 5.0, "a", (0, 0))]
    >>> plan = solve(Problem(items, "ab", positions=2), budget=8)
    >>> plan.keep, plan.recompute, plan.seconds, plan.peak
    (frozenset({'a'}), frozenset({'b'}), 6.0, 8)
    >>> solve(Problem(items, "ab", positions=2), budget=7)
    Traceback (most recent call last):
    adc.passes.remat.budget.program.Infeasible: no plan within the budget: the least peak is 8 bytes
    """
    model = _Model(problem)
    best, bound = model.fastest(budget, gap, nodes)
    if best is None:
        best, least = model.lightest(gap, nodes)
        if best.peak > budget:
            faster, bound = model.fastest(best.peak, gap, nodes)
            raise Infeasible(least, model.solution(faster or best, bound))
    return model.solution(best, bound)


def bound(problem: Problem, budget: int) -> float:
    """Return a lower bound of the seconds of all plans within `budget`, by the relaxation.

    Examples
    --------
    >>> items = [Candidate(k, 100, 1.0, 2.0, (), (0, 0)) for k in "abc"]
    >>> round(bound(Problem(items, "abc"), 250), 2)
    3.5
    """
    return _Model(problem).fastest(budget, math.inf, 0)[1]


def _bounded(plan: Solution, bound: float) -> Solution:
    bound = min(bound, plan.seconds)
    gap = (plan.seconds - bound) / plan.seconds if plan.seconds else 0.0
    return replace(plan, bound=bound, gap=gap)


# --------------------------------------------------------------------------------------------------
# The integer program

# HiGHS ignores differences below 1e-6 or 1e-7. Therefore a budget is scaled to so many units, and
# the mean cost of an item to about one; that is known when a plan is, so it may take a second try.
_UNITS = 1000.0
_MARGIN = 0.25  # of a byte: far from the next number
_LOW, _HIGH = 0.1, 1000.0
_MOST = 1e6
_TRIES = 8
# How many byte constraints enter the program first; then twice as many, and so on.
_ENTER = 2
# How many roundings of a relaxation are tried.
_ROUNDINGS = 16

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A plan as a solution of the program, its cost, and the bytes that it holds in each row."""

    x: _Ints
    seconds: float
    held: _Ints

    @property
    def peak(self) -> int:
        return int(self.held.max())


class _Model:
    """A problem without what no plan can mention, and numbers in place of keys.

    Columns of the program: each item kept, each item recomputed, each option, and the peak.
    """

    def __init__(self, problem: Problem) -> None:
        options = [option for group in problem.groups for option in group.options]
        number = {item.key: k for k, item in enumerate(problem.items)}
        reached = {number[key] for key in problem.needed if key in number}
        reached |= {number[key] for option in options for key in option.inputs if key in number}
        for k, item in reversed(list(enumerate(problem.items))):
            if k in reached and math.isfinite(item.recompute):
                reached |= {number[key] for key in item.inputs if key in number}
        self.items = [problem.items[k] for k in sorted(reached)]
        self.groups = problem.groups
        self.options = options
        number = {item.key: k for k, item in enumerate(self.items)}

        def numbers(keys: Collection[Key]) -> list[int]:
            return sorted({number[key] for key in keys if key in number})

        self.needed = numbers(problem.needed)
        self.inputs = [
            numbers(item.inputs) if math.isfinite(item.recompute) else [] for item in self.items
        ]
        self.covers = [numbers(option.covers) for option in options]
        self.option_inputs = [numbers(option.inputs) for option in options]
        ends = [0, *itertools.accumulate(len(group.options) for group in problem.groups)]
        self.members = [range(first, end) for first, end in itertools.pairwise(ends)]
        self.seconds = np.array(
            [item.keep for item in self.items]
            + [item.recompute for item in self.items]
            + [option.seconds for option in options]
        )
        uses = [[Use(item.bytes, *item.live)] for item in self.items]
        uses += [[item.extra] if item.extra else [] for item in self.items]
        uses += [[*option.held, *option.transient] for option in options]
        self.fixed, rows = _rows(uses, problem.fixed, problem.positions)
        # One entry for each use: its column, its bytes, its first row and the one after its last.
        self.column = np.array([k for k, column in enumerate(rows) for _ in column], np.int64)
        flat = np.array([use for column in rows for use in column], np.int64).reshape(-1, 3)
        self.bytes, self.first, self.end = flat[:, 0], flat[:, 1], flat[:, 2] + 1
        self.least = np.zeros(len(self.seconds), np.int64)  # the peak, whatever else is held
        for k, size, first, end in zip(self.column, self.bytes, self.first, self.end, strict=True):
            self.least[k] = max(self.least[k], size + self.fixed[first:end].max())
        self.logic, self.low, self.high = self._logic()

    def _logic(self) -> tuple[Any, _Floats, _Floats]:
        """Return all rows except byte constraints, and their limits."""
        from scipy.sparse import coo_array

        n = len(self.items)
        available: list[list[tuple[int, float]]] = [[(k, 1.0), (n + k, 1.0)] for k in range(n)]
        for option, covered in enumerate(self.covers):
            for k in covered:
                available[k].append((2 * n + option, 1.0))
        rows = [(available[k], 1.0, np.inf) for k in self.needed]
        for column, inputs in enumerate([*self.inputs, *self.option_inputs]):
            rows += [([*available[k], (n + column, -1.0)], 0.0, np.inf) for k in inputs]
        for members in self.members:
            rows.append(([(2 * n + option, 1.0) for option in members], 1.0, 1.0))
        entries = [(row, *entry) for row, (found, _, _) in enumerate(rows) for entry in found]
        table = np.array(entries, float).reshape(-1, 3)
        shape = len(rows), len(self.seconds) + 1
        matrix = coo_array((table[:, 2], table[:, :2].T.astype(int)), shape).tocsr()
        return matrix, np.array([low for _, low, _ in rows]), np.array([high for *_, high in rows])

    def held(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the bytes that are held in each row if the columns have these values."""
        change = np.zeros(len(self.fixed) + 1, x.dtype)
        amount = self.bytes * x[self.column]
        np.add.at(change, self.first, amount)
        np.subtract.at(change, self.end, amount)
        held: npt.NDArray[Any] = self.fixed + np.cumsum(change[:-1])
        return held

    def complete(self, keep: Collection[int], options: Sequence[int]) -> _Draft:
        """Return the plan with these options that keeps those of some items that are read.

        Items that can only be kept are kept, too, so that there always is a plan.
        """
        covered = {k for option in options for k in self.covers[option]}
        read = {*self.needed, *(k for option in options for k in self.option_inputs[option])}
        kept: list[int] = []
        recompute: list[int] = []
        for k in reversed(range(len(self.items))):
            if k not in read or k in covered:
                continue
            if k in keep or math.isinf(self.items[k].recompute):
                kept.append(k)
            else:
                recompute.append(k)
                read.update(self.inputs[k])
        n = len(self.items)
        columns = [*kept, *(n + k for k in recompute), *(2 * n + option for option in options)]
        x = np.zeros(len(self.seconds), np.int64)
        x[columns] = 1
        return _Draft(x, math.fsum(self.seconds[columns]), self.held(x))

    def solution(self, draft: _Draft, bound: float) -> Solution:
        """Return a plan in keys."""
        n = len(self.items)
        chosen = zip(self.groups, self._options(draft.x), strict=True)
        solution = Solution(
            frozenset(self.items[k].key for k in range(n) if draft.x[k]),
            frozenset(self.items[k].key for k in range(n) if draft.x[n + k]),
            {group.key: self.options[option].key for group, option in chosen},
            draft.seconds,
            0.0,
            0.0,
            draft.peak,
        )
        return _bounded(solution, bound)

    def _options(self, x: npt.NDArray[Any]) -> list[int]:
        """Return, for each group, the first of the options with the largest value."""
        n = len(self.items)
        return [max(m, key=lambda option: float(x[2 * n + option])) for m in self.members]

    def fastest(self, budget: int, gap: float, nodes: int) -> tuple[_Draft | None, float]:
        """Return the fastest plan within a budget, if one was found, and a bound for all."""
        best, bound = None, 0.0
        if self.fixed.max() > budget:
            return best, bound
        size = max(1, len(self.items) + len(self.groups))
        unit = self.complete(range(len(self.items)), [m[0] for m in self.members]).seconds / size
        ceiling = math.inf
        for _ in range(_TRIES):
            unit = unit or max(filter(math.isfinite, self.seconds), default=0.0) or 1.0
            # An item that costs more than a whole plan is not part of a better one. One that costs
            # far more than usual is avoided if possible; otherwise the next round allows its cost.
            costs = np.minimum(self.seconds / unit, _MOST)
            costs[(self.seconds > ceiling) | np.isinf(self.seconds)] = np.inf
            draft, value = self._search(np.append(costs, 0.0), budget, gap, nodes)
            if draft is None:
                break
            bound = value * unit
            if best is None or draft.seconds < best.seconds:
                best = draft
            ceiling = best.seconds
            if not ceiling or _LOW <= ceiling / size / unit <= _HIGH:
                break
            unit = ceiling / size
        return best, bound

    def lightest(self, gap: float, nodes: int) -> tuple[_Draft, int]:
        """Return a plan with the least peak, and a bound for all."""
        base = int(self.fixed.min())
        options = [m[0] for m in self.members]
        drafts = [self.complete(keep, options) for keep in ((), range(len(self.items)))]
        best = min(drafts, key=lambda draft: draft.peak)
        costs = np.append(np.where(np.isinf(self.seconds), np.inf, 0.0), 1.0)
        bound = float(base)
        for _ in range(_TRIES):
            before = best.peak
            found, value = self._search(costs, before, gap, nodes)
            # HiGHS is this exact.
            bound = base + value / _UNITS * (before + _MARGIN - base) * (1.0 - 1e-6)
            if found is not None and found.peak < before:
                best = found
            if best.peak - base > (before - base) / _HIGH:
                break
        return best, min(best.peak, math.ceil(bound - _MARGIN))

    def _search(
        self, costs: _Floats, budget: int, gap: float, nodes: int
    ) -> tuple[_Draft | None, float]:
        """Return the cheapest plan, if one was found, and a bound for all.

        `costs` are those of columns, infinite for what must not be chosen. Byte constraints enter
        the program when a solution violates them, first of the relaxation, then of the program.
        """
        base = int(self.fixed.min())
        scale = _UNITS / (budget + _MARGIN - base)
        costs = np.where(np.append(self.least, 0) <= budget, costs, np.inf)
        relaxed = not nodes
        nodes = max(1, nodes * 1000 // len(costs))
        rows: set[int] = set()
        covers: list[list[int]] = []
        best, lowest, value = None, math.inf, 0.0
        tries, integer, most = 0, False, _ENTER
        while tries < _TRIES:
            x, bound = self._highs(
                costs, sorted(rows), covers, scale, gap, nodes if integer else None
            )
            if x is None:
                break
            value = max(value, bound)
            nearest = self._rounded(x, 0.5)
            held = nearest.held if integer else self.held(x[:-1])
            entering = _summits(held - (base + x[-1] / scale + _MARGIN), rows)[:most]
            rows.update(entering)
            most *= 2
            if entering and not integer:
                continue
            for draft in [nearest] if integer else [nearest, *self._roundings(x, budget)]:
                cost = float(np.where(draft.x, costs[:-1], 0.0).sum())
                cost += costs[-1] * (draft.peak - base) * scale
                if draft.peak <= budget and cost < lowest:
                    best, lowest = draft, cost
            if relaxed or (best is not None and lowest - value <= gap * lowest):
                break
            if integer and not entering:
                if nearest.peak <= budget:
                    break
                covers.append(self._cover(nearest, budget))
            tries += integer
            integer = True
        return best, value

    def _cover(self, draft: _Draft, budget: int) -> list[int]:
        """Return columns that do not fit together, where HiGHS rounded a sum until they did."""
        row = int(draft.held.argmax())
        inside = (self.first <= row) & (row < self.end) & (draft.x[self.column] == 1)
        sizes: dict[int, int] = {}
        for column, size in zip(self.column[inside], self.bytes[inside], strict=True):
            sizes[int(column)] = sizes.get(int(column), 0) + int(size)
        found, held = [], int(self.fixed[row])
        for column in sorted(sizes, key=lambda column: (-sizes[column], column)):
            if held <= budget:
                found.append(column)
                held += sizes[column]
        return found

    def _rounded(self, x: _Floats, share: float) -> _Draft:
        """Return the plan that keeps the items that a solution keeps at least to this share."""
        keep = {k for k in range(len(self.items)) if x[k] >= share}
        return self.complete(keep, self._options(x))

    def _roundings(self, x: _Floats, budget: int) -> list[_Draft]:
        """Return plans near a solution of the relaxation.

        They keep the items that are kept to some share. The fastest within the budget is extended
        greedily by further items that are kept in part, where that is faster and fits.
        """
        parts = [k for k in range(len(self.items)) if 1e-6 < x[k] < 1.0 - 1e-6]
        shares = sorted({round(float(x[k]), 6) for k in parts})
        shares = [1e-6, 1.0 - 1e-6, *shares[:: len(shares) // _ROUNDINGS + 1]]
        found = [self._rounded(x, share) for share in shares]
        within = [draft for draft in found if draft.peak <= budget]
        best = min(within, key=lambda draft: draft.seconds, default=None)
        if best is None:
            return found
        keep = set(np.flatnonzero(best.x[: len(self.items)]).tolist())
        options = self._options(x)
        for k in sorted(parts, key=lambda k: (-x[k], k)):
            draft = self.complete(keep | {k}, options)
            if draft.peak <= budget and draft.seconds < best.seconds:
                best = draft
                keep.add(k)
        return [*found, best]

    def _highs(
        self,
        costs: _Floats,
        rows: Sequence[int],
        covers: Sequence[Sequence[int]],
        scale: float,
        gap: float,
        nodes: int | None,
    ) -> tuple[_Floats | None, float]:
        """Solve the program with some byte constraints, or its relaxation if `nodes` is None.

        At least one column of each cover is left out.

        Returns the values of the columns, if there are any, and a lower bound of their cost.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp  # takes 0.4 s
        from scipy.sparse import csr_array, vstack

        free = np.isfinite(costs)
        held = np.zeros((len(rows) + len(covers), len(costs)))
        for k, row in enumerate(rows):
            inside = (self.first <= row) & (row < self.end)
            np.add.at(held[k], self.column[inside], self.bytes[inside] * scale)
        held[:, ~free] = 0.0
        held[: len(rows), -1] = -1.0
        for row, cover in enumerate(covers, len(rows)):
            held[row, cover] = 1.0
        limits = [*(self.fixed.min() - self.fixed[list(rows)]) * scale]
        limits += [len(cover) - 1.0 for cover in covers]
        found = milp(
            np.where(free, costs, 0.0),
            integrality=np.append(np.full(len(costs) - 1, nodes is not None), False),
            bounds=Bounds(
                np.append(np.zeros(len(costs) - 1), 0.0 if costs[-1] else _UNITS),
                np.append(free[:-1], _UNITS),
            ),
            constraints=LinearConstraint(
                vstack([self.logic, csr_array(held)]),
                np.append(self.low, np.full(len(limits), -np.inf)),
                np.append(self.high, limits),
            ),
            options={"mip_rel_gap": gap, "node_limit": nodes} if nodes else {},
        )
        bound = found.fun if nodes is None else found.mip_dual_bound
        return found.x, bound if bound is not None and math.isfinite(bound) else 0.0


def _summits(excess: _Floats, known: Collection[int]) -> list[int]:
    """Return the local maxima above zero, the largest first."""
    around = np.concatenate([[-np.inf], excess, [-np.inf]])
    top = (excess > 0.0) & (excess >= around[:-2]) & (excess >= around[2:])
    found = [int(k) for k in np.flatnonzero(top) if int(k) not in known]
    return sorted(found, key=lambda k: (-excess[k], k))


def _rows(
    columns: Sequence[Sequence[Use]], fixed: Sequence[int], positions: int
) -> tuple[_Ints, list[list[Use]]]:
    """Return the bytes that are fixed in each row, and uses with rows for positions.

    A row is a run of positions at which the same is held. A row is left out if a neighbouring one
    holds all that it holds, and has as much fixed.
    """
    uses = [use for column in columns for use in column if use.bytes]
    starts = {use.first for use in uses}
    ends = {use.last + 1 for use in uses}
    runs = sorted({0, *starts, *ends} - {positions})
    most = [
        max(fixed[first:last], default=0) for first, last in itertools.pairwise([*runs, positions])
    ]
    rows: list[int] = []  # of runs
    steps: list[tuple[bool, bool]] = []  # whether anything starts or ends on the way to each
    started = ended = False
    for run, position in enumerate(runs):
        started |= position in starts
        ended |= position in ends
        while rows and not ended and most[rows[-1]] <= most[run]:
            rows.pop()
            before = steps.pop()
            started, ended = started or before[0], before[1]
        if rows and not started and most[run] <= most[rows[-1]]:
            continue
        rows.append(run)
        steps.append((started, ended))
        started = ended = False

    def rows_of(use: Use) -> Use:
        first = bisect_left(runs, use.first)
        last = bisect_right(runs, use.last) - 1
        return Use(use.bytes, bisect_left(rows, first), bisect_right(rows, last) - 1)

    return np.array([most[run] for run in rows], np.int64), [
        [rows_of(use) for use in column if use.bytes] for column in columns
    ]


def _complaints(problem: Problem) -> Iterator[str]:
    """Yield what is wrong with a problem."""

    def wrong(use: Use) -> bool:
        return not (use.bytes >= 0 and 0 <= use.first <= use.last < problem.positions)

    if problem.fixed and len(problem.fixed) != problem.positions:
        yield f"{len(problem.fixed)} numbers of fixed bytes for {problem.positions} positions"
    if problem.positions < 1 or any(fixed < 0 for fixed in problem.fixed):
        yield "no position, or fewer than no bytes at one"
    number: dict[Key, int] = {}
    keys = {item.key for item in problem.items}
    for k, item in enumerate(problem.items):
        if item.key in number:
            yield f"two items {item.key!r}"
        if not (0.0 <= item.keep < math.inf and 0.0 <= item.recompute):
            yield f"{item.key!r} costs {item.keep} and {item.recompute} seconds"
        if wrong(Use(item.bytes, *item.live)) or (item.extra and wrong(item.extra)):
            yield f"{item.key!r} holds {item.bytes} bytes at {item.live}, and {item.extra}"
        for key in item.inputs:
            if key in keys and key not in number:
                yield f"{item.key!r} is computed from {key!r}, which comes later"
        number[item.key] = k
    if len({group.key for group in problem.groups}) != len(problem.groups):
        yield "two groups of one key"
    for group in problem.groups:
        if len({option.key for option in group.options}) != len(group.options) or not group.options:
            yield f"{group.key!r} has no options, or two of one key"
        for option in group.options:
            if not 0.0 <= option.seconds < math.inf:
                yield f"{option.key!r} of {group.key!r} costs {option.seconds} seconds"
            if any(map(wrong, (*option.held, *option.transient))):
                yield f"{option.key!r} of {group.key!r} holds {option.held}, {option.transient}"
            covers = [number[key] for key in option.covers if key in number]
            inputs = [number[key] for key in option.inputs if key in number]
            if covers and inputs and max(inputs) >= min(covers):
                yield f"{option.key!r} of {group.key!r} runs from what it covers, or later"
