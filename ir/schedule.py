"""Schedules of checkpointed loops, as functions of integers.

A loop of n steps is reversed within `m` bytes by the following machine. A *snapshot*, the state
before a step, takes `sigma` bytes; the *tape* of a step, what its adjoint reads, takes `tau`. ::

    reverse(x, n, m):                                   # the state x is available
        for j in 0, 1, ... sweeps(n, m, ...) - 1:
            push x, which leaves m - (j + 1)*sigma
            advance x by i_j = split(left, m - j*sigma, ...) plain steps
        tape the steps that are left, and reverse them                # the leaf
        for j down to 0:
            pop x;  reverse(x, i_j, m - j*sigma)

Steps are a leaf if their tape fits and they are at most `most` (0: any number); a single step
always is. Every step is taped once; a schedule chooses how many plain steps are run in addition.
With sigma = 1, tau = 0, m = s and most = 1 this is reversal with s snapshots, the start included,
and `split` gives the optimum of Griewank & Walther [1]_, which is `advances`.

*Any sizes.* A schedule is a binary tree. The node (j, r), with j snapshots in use and its steps
already advanced over r times, is a leaf of at most ``c[j] = taped(m - j*sigma)`` steps, or it is
split into the tail (j + 1, r) and the head (j, r + 1). Splitting adds c[j + 1] steps to what the
tree holds and costs ``r*c[j + 1] + c[j]`` plain steps: the earlier a node, the cheaper. So `split`
takes the tree in which nodes (j, r) are split for r < R - 1 and j < s, and for r = R - 1 and
j <= J, with the least R and J that hold all steps; of the s, those with the smallest leaves are
compared. Nodes (j, r) number ``beta(j, r)``, so sums over trees are closed forms in `beta`, with a
term for each size of leaf; if all are equal, these are the formulas of [1]_.

*While loops* do not know n. `place` decides which states to store in a fixed number of slots, and
where, while the loop runs.

All numbers are integers of 64 bits; `LIMIT` stands for anything larger.

References
----------
.. [1] A. Griewank, A. Walther. Algorithm 799: revolve: an implementation of checkpointing for the
   reverse or adjoint mode of computational differentiation. ACM TOMS 26(1), 2000.
.. [2] P. Stumm, A. Walther. New algorithms for optimal online checkpointing. SIAM J. Sci. Comput.
   32(2), 2010.
.. [3] Q. Wang, P. Moin, G. Iaccarino. Minimal repetition dynamic checkpointing algorithm for
   unsteady adjoint calculation. SIAM J. Sci. Comput. 31(4), 2009.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LIMIT = 2**62
"""Counts saturate here."""

LEAVES = 3
"""How many sizes of the smallest leaf `split` compares."""

FEW = 32
"""Where there are more snapshots, one fewer makes no difference to `split`."""

Integers = npt.NDArray[np.int64]


def beta(s: int, r: int) -> int:
    """Return how many steps s snapshots reverse with at most r repetitions: C(s + r, s) [1]_.

    Examples
    --------
    >>> beta(3, 2), beta(3, 0), beta(3, -1), beta(10**6, 10**6) == LIMIT
    (10, 1, 0, True)
    """
    if s < 0 or r < 0:
        return 0
    many, few = max(s, r), min(s, r)
    value = 1
    for k in range(1, few + 1):
        whole, part = value // k, value % k  # in two parts, or the product would overflow
        if whole > LIMIT // (many + k):
            return LIMIT
        value = whole * (many + k) + part * (many + k) // k
    return min(value, LIMIT)


def repetitions(n: int, s: int) -> int:
    """Return how often a step is advanced over at most: the least r with beta(s, r) >= n [1]_.

    Examples
    --------
    >>> repetitions(10, 3), repetitions(11, 3), repetitions(1, 3), repetitions(10**12, 1)
    (2, 3, 0, 999999999999)
    """
    if n <= 1:
        return 0
    if s < 1:
        return LIMIT
    if s == 1:
        return n - 1  # the loop would be as long
    value, r = 1, 0
    while value < n:
        r += 1
        whole, part = value // r, value % r
        if whole > LIMIT // (s + r):
            return r
        value = whole * (s + r) + part * (s + r) // r
    return r


def advances(n: int, s: int) -> int:
    """Return the least number of plain steps that reverse n steps with s snapshots [1]_.

    The start state is one of the snapshots. The leaves are single steps.

    Examples
    --------
    >>> advances(10, 3), advances(100, 5), advances(10**6, 30), advances(1, 0)
    (15, 316, 5623008, 0)
    """
    r = repetitions(n, s)
    if r == 0:
        return 0
    if r > LIMIT // n:
        return LIMIT
    return r * n - beta(s + 1, r - 1)


def taped(left: int, m: int, tau: int, most: int) -> int:
    """Return how many of `left` steps can be taped at once in m bytes; a single one always can.

    Examples
    --------
    >>> taped(9, 50, 10, 0), taped(9, 50, 10, 3), taped(9, 5, 10, 0), taped(0, 5, 10, 0)
    (5, 3, 1, 0)
    """
    fit = min(left, most) if most > 0 else left
    if tau > 0:
        fit = min(fit, m // tau)
    return max(fit, min(left, 1))


def capacity(
    limit: int, s: int, r: int, m: int, sigma: int, tau: int, most: int
) -> tuple[int, int]:
    """Return how many steps s snapshots within m bytes reverse with at most r repetitions.

    It is ``sum(C(j + r - 1, j) * c[j] for j in range(s + 1))`` with the c[j] of the module's
    docstring, which is ``c*beta(s, r)`` where all leaves are equal. If that is no less than
    `limit`, it is `limit`, with the least s that is enough.

    Examples
    --------
    >>> capacity(LIMIT, 3, 2, 3, 1, 0, 1), capacity(LIMIT, 3, 2, 3, 1, 0, 5)
    ((10, 3), (50, 3))
    >>> capacity(LIMIT, 3, 2, 6, 1, 1, 0), capacity(28, 3, 2, 6, 1, 1, 0)  # 1*6 + 2*5 + 3*4 + 4*3
    ((40, 3), (28, 2))
    """
    s = s if r > 0 else 0  # without repetitions there is one leaf
    total, below, j = 0, 0, 0
    while j <= s:
        leaf = taped(limit, m - j * sigma, tau, most)
        # All leaves up to this depth are of the same size. There are few sizes, as they are
        # different integers, whose sum is less than `limit`: less than sqrt(2*limit).
        last = s if sigma == 0 else min(s, max(j, (m - leaf * tau) // sigma))
        paths = beta(last, r)
        enough = below + (limit - total + leaf - 1) // leaf
        if paths >= enough:
            while last > j:
                middle = (j + last) // 2
                if beta(middle, r) < enough:
                    j = middle + 1
                else:
                    last = middle
            return limit, last
        total += (paths - below) * leaf
        below, j = paths, last + 1
    return total, s


def shape(left: int, s: int, m: int, sigma: int, tau: int, most: int) -> tuple[int, int, int]:
    """Return R and J of the least tree with s snapshots that holds `left` steps, and its cost.

    Examples
    --------
    >>> shape(10, 3, 3, 1, 0, 1), shape(6, 3, 3, 1, 0, 1)
    ((2, 2, 15), (2, 1, 7))
    """
    low, high, base = 0, 0, taped(left, m, tau, most)  # `base`: what `low` repetitions hold
    while high == 0 or high - low > 1:
        r = 2 * low + 1 if high == 0 else (low + high) // 2
        held = capacity(left, s, r, m, sigma, tau, most)[0]
        if held < left:
            low, base = r, held
        else:
            high = r
    r, rest = high, left - base
    depth = capacity(rest, s - 1, r, m - sigma, sigma, tau, most)[1]
    # All leaves hold R*steps, less the repetitions that the earlier ones are spared: those with
    # less than R - 1 are at the depth s; those with R are heads of the nodes (j, R - 1), j <= J.
    # What the tree holds beyond `left` is taken from the latter.
    if r > LIMIT // left:
        return r, depth, LIMIT
    over = capacity(LIMIT, depth, r, m - sigma, sigma, tau, most)[0] - rest
    spared = taped(left, m - s * sigma, tau, most) * beta(s + 1, r - 2)
    late = capacity(LIMIT, depth, r, m, sigma, tau, most)[0]
    return r, depth, (r - 1) * left - spared + late - over


def split(left: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return how far to advance, from the snapshot just pushed, before the next one.

    Parameters
    ----------
    left : int
        Steps to reverse: more than a leaf.
    m : int
        Free bytes, before the snapshot is pushed.
    sigma, tau : int
        Bytes of a snapshot, and of the tape of a step.
    most : int
        How many steps may be taped at once; 0: limited only by m.

    Returns
    -------
    int
        At least 1, less than `left`. If not even the tape of one step fits beside one snapshot,
        this is ``left - 1``: such a reversal takes more than m bytes, and a square of steps.

    Examples
    --------
    Revolve; and a loop with room for three snapshots, or for the tape of twelve steps.

    >>> split(10, 3, 1, 0, 1)
    4
    >>> split(100, 24, 8, 2, 0)
    72
    """
    s = left - 1 if sigma == 0 else max(1, min(left - 1, (m - tau) // sigma))
    slots, repeats, depth, cost = 0, 0, 0, 0
    for _ in range(LEAVES):
        r, j, plain = shape(left, s, m, sigma, tau, most)
        if slots == 0 or plain < cost:
            slots, repeats, depth, cost = s, r, j, plain
        if r == 1:
            s = j + 1  # a chain needs no more snapshots
        if s > FEW or sigma == 0:
            break
        leaf = taped(left, m - s * sigma, tau, most)
        s = (m - (leaf + 1) * tau) // sigma  # the most snapshots beside a larger leaf
        if s < 1 or taped(left, m - s * sigma, tau, most) == leaf:
            break
    # The tail is filled. What is missing in the whole is missing in the head.
    tail = capacity(left, slots - 1, repeats - 1, m - sigma, sigma, tau, most)[0]
    tail += capacity(left, depth - 1, repeats, m - 2 * sigma, sigma, tau, most)[0]
    return max(1, min(left - 1, left - tail))


def sweeps(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return how many snapshots are pushed before the last steps of n are taped.

    Examples
    --------
    >>> sweeps(10, 3, 1, 0, 1), sweeps(1, 3, 1, 0, 1), sweeps(0, 3, 1, 0, 1)
    (3, 0, 0)
    """
    count = 0
    while taped(n, m, tau, most) < n:
        n -= split(n, m, sigma, tau, most)
        m -= sigma
        count += 1
    return count


def rest(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return how many steps of n are left for the leaf.

    Examples
    --------
    >>> rest(10, 3, 1, 0, 1), rest(100, 24, 8, 2, 0), rest(0, 3, 1, 0, 1)
    (1, 4, 0)
    """
    while taped(n, m, tau, most) < n:
        n -= split(n, m, sigma, tau, most)
        m -= sigma
    return n


def due(t: int, slots: int) -> int:
    """Return before which step the next state is to be stored, the last being that before t.

    While a loop has at most beta(slots, r) steps, its last segment, which one slot reverses, may
    have r of them. Ideally the segments would be as long as r - 1 repetitions within each allow.
    A state that could begin such a segment is never missed.

    Examples
    --------
    >>> [due(t, 3) for t in (2, 3, 4, 6, 8, 10)]
    [4, 4, 6, 7, 10, 13]
    """
    r = max(2, repetitions(t + 2, slots))
    step = min(t + r, beta(slots, r))
    begin = 0
    for j in range(slots - 1):
        begin += beta(slots - j, r - 1)
        if begin > t:
            return min(step, begin)
    return step


def place(t: int, count: int, steps: Integers, queue: Integers) -> int:
    """Return in which slot the state before step t is to be stored; -1: in none.

    To be called for t = 0, 1, 2, ... while a loop of unknown trip count runs. A step may stand for
    any fixed number of iterations. When the loop is over, each segment between two stored states is
    reversed by the machine of the module's docstring, the last segment first, with the slots that
    are then free: of C slots, C - k for the segment number k, that of its own start included.

    A state is stored only when it is `due`, at first before every step. Once no slot is free it
    takes that of the state whose loss costs the fewest plain steps if the loop ended now, but
    never that of the first. The number of plain steps is that of `advances` plus a small constant
    up to beta(C, 2) steps, as in [2]_. Beyond, [3]_ bounds the repetitions, too, but stores the
    state before every step, and spends more plain steps.

    Parameters
    ----------
    t : int
        The step that comes next.
    count : int
        Slots in use. It grows by one if the result is `count`.
    steps : array
        For each slot in use, the step whose state it holds; updated.
    queue : array
        As long as `steps`, and kept by this function: the slots in the order of their steps,
        except that ``queue[0]`` (slot 0 comes first anyway) is the step that is due.

    Returns
    -------
    int
        A slot, or -1.

    Examples
    --------
    >>> steps, queue = np.zeros(3, np.int64), np.zeros(3, np.int64)
    >>> [place(t, min(t, 3), steps, queue) for t in range(10)]
    [0, 1, 2, -1, 1, -1, 2, 2, -1, 2]
    >>> steps
    array([0, 4, 9])
    """
    slots = len(steps)
    if count < slots:
        slot = count
        if count > 0:
            queue[count] = slot
    elif slots == 1 or t < queue[0]:
        return -1
    else:
        # Without a state, the segments before and after it are one, and the later ones have a slot
        # more. `spare` is what that changes in the segments after this one.
        chosen, least, spare = 0, LIMIT, 0
        step, after = steps[queue[slots - 1]], t
        own = advances(after - step, 1)
        for k in range(slots - 1, 0, -1):
            before = steps[queue[k - 1]] if k > 1 else steps[0]
            free = slots - k
            earlier = advances(step - before, free + 1)
            more = advances(after - before, free + 1) - earlier - own + spare
            if k == slots - 1 or more <= least:
                chosen, least = k, more
            spare += advances(after - step, free + 1) - own
            step, after, own = before, step, earlier
        slot = queue[chosen]
        for k in range(chosen, slots - 1):
            queue[k] = queue[k + 1]
        queue[slots - 1] = slot
    steps[slot] = t
    if count >= slots - 1:
        queue[0] = due(t, slots)
    return int(slot)


def placed(t: int, count: int, steps: Integers, queue: Integers) -> tuple[int, Integers, Integers]:
    """Return the result of `place`, and the arrays that it has updated."""
    slot = place(t, count, steps, queue)
    return slot, steps, queue


class Reversal(NamedTuple):
    """The cost of reversing a loop.

    Attributes
    ----------
    plain : int
        Steps that are run in addition to taped ones.
    peak : int
        The most bytes that snapshots and a leaf hold.
    depth : int
        How many runs of the machine are suspended at once.
    """

    plain: int
    peak: int
    depth: int


# Plans for a budget ask for the same few thousand schedules repeatedly.
@functools.lru_cache(maxsize=1 << 12)
def reversal(
    n: int, m: int, sigma: int, tau: int, most: int, snapshot: int = -1, step: int = -1
) -> Reversal:
    """Return the cost of reversing n steps by the machine of the module's docstring.

    The peak is that of snapshots of `snapshot` bytes and taped steps of `step` bytes, by default
    `sigma` and `tau`: a part of them, such as the bytes on one tape.

    Examples
    --------
    >>> reversal(10, 3, 1, 0, 1)
    Reversal(plain=15, peak=3, depth=2)
    >>> reversal(10, 3, 1, 0, 1, 80, 16).peak
    256
    """
    snapshot, step = (sigma if snapshot < 0 else snapshot), (tau if step < 0 else step)
    known: dict[tuple[int, int], Reversal] = {}
    splits: dict[tuple[int, int], int] = {}
    stack = [(n, m)]
    while stack:
        segment = left, free = stack[-1]
        if taped(left, free, tau, most) == left:
            known[segment] = Reversal(0, left * step, 0)
            stack.pop()
            continue
        if segment not in splits:
            splits[segment] = split(left, free, sigma, tau, most)
        i = splits[segment]
        head, tail = (i, free), (left - i, free - sigma)
        if head in known and tail in known:
            plain = i + known[head].plain + known[tail].plain
            peak = max(known[head].peak, snapshot + known[tail].peak)
            depth = max(known[head].depth + 1, known[tail].depth)
            known[segment] = Reversal(plain, peak, depth)
            stack.pop()
        else:
            stack += [part for part in (head, tail) if part not in known]
    return known[n, m]


@functools.lru_cache(maxsize=1 << 12)
def swept(n: int, m: int, sigma: int, tau: int, most: int) -> tuple[int, int]:
    """Return the results of `sweeps` and `rest`, computed together and cached.

    Examples
    --------
    >>> swept(10, 3, 1, 0, 1), swept(100, 24, 8, 2, 0)
    ((3, 1), (2, 4))
    """
    count = 0
    while taped(n, m, tau, most) < n:
        n -= split(n, m, sigma, tau, most)
        m -= sigma
        count += 1
    return count, n


@functools.lru_cache(maxsize=1 << 12)
def levels(m: int, sigma: int, tau: int, most: int) -> int:
    """Return the greatest recursion depth of reversing up to 2**20 steps.

    Examples
    --------
    >>> levels(1000, 1, 1, 0), levels(10, 1, 1, 0) >= reversal(5000, 10, 1, 1, 0).depth
    (2, True)
    """
    n = 2**20
    if taped(n, m, tau, most) == n:
        return 0
    s = n - 1 if sigma == 0 else max(1, min(n - 1, (m - tau) // sigma))
    return shape(n, s, m, sigma, tau, most)[0]


@functools.lru_cache(maxsize=1 << 12)
def fullest(m: int, sigma: int, tau: int, most: int, snapshot: int, step: int) -> int:
    """Return the peak bytes of reversing up to 2**20 steps.

    Snapshots take `snapshot` bytes and taped steps `step`, which may be more than the schedule was
    made for, `sigma` and `tau`.

    Examples
    --------
    >>> fullest(100, 10, 5, 0, 10, 5), fullest(100, 10, 5, 0, 10, 8), fullest(100, 10, 5, 0, 30, 5)
    (100, 160, 280)
    """
    n = 2**20
    s = n - 1 if sigma == 0 else max(1, min(n - 1, (m - tau) // sigma))
    return max(j * snapshot + taped(n, m - j * sigma, tau, most) * step for j in range(s + 1))


def plain_steps(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return how many plain steps reversing n steps takes.

    Examples
    --------
    >>> plain_steps(10, 3, 1, 0, 1), plain_steps(10**4, 800, 1, 0, 1) == advances(10**4, 800)
    (15, True)
    """
    return reversal(n, m, sigma, tau, most).plain


def expected(n: int, m: int, sigma: int, tau: int, most: int) -> Reversal:
    """Return an estimate of `reversal`, without enumerating the whole schedule.

    Steps are the cost of the least tree of those that differ in the smallest leaf: often exact, for
    long loops up to a few percent off. So is the depth. The peak is an upper bound.

    Examples
    --------
    >>> expected(10, 3, 1, 0, 1)
    Reversal(plain=15, peak=3, depth=2)
    >>> expected(10**4, 10**5, 1000, 900, 0).plain, plain_steps(10**4, 10**5, 1000, 900, 0)
    (14479, 14477)
    """
    if taped(n, m, tau, most) == n:
        return Reversal(0, n * tau, 0)
    s = n - 1 if sigma == 0 else max(1, min(n - 1, (m - tau) // sigma))
    trees = [shape(n, each, m, sigma, tau, most) for each in range(s, max(s - LEAVES, 0), -1)]
    depth, _, plain = min(trees, key=lambda tree: tree[2])
    return Reversal(plain, m, depth)
