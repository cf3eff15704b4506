"""What schedules of checkpointed loops could be at best, and what the slots of `place` cost."""

from __future__ import annotations

import numpy as np

from adc.ir.schedule import LIMIT, Integers, place, plain_steps


def optima(n: int, m: int, sigma: int, tau: int, most: int) -> Integers:
    """Return the least numbers of plain steps for 0, 1, ..., n steps.

    `LIMIT` where m is too little. By dynamic programming over all splits, in time n**2 times the
    number of snapshots.

    Examples
    --------
    >>> optima(6, 2, 1, 0, 1).tolist()
    [0, 0, 1, 2, 4, 6, 8]
    """
    snapshots = max(n - 1, 0) if sigma == 0 else min(m // sigma, max(n - 1, 0))
    far = LIMIT // 8  # three of these can be added
    tail = np.full(n + 1, far)
    for j in range(snapshots, -1, -1):
        free = m - j * sigma
        best = np.full(n + 1, far)
        best[0] = 0
        for left in range(1, n + 1):
            if (most == 0 or left <= most) and left * tau <= free:
                best[left] = 0
            elif left > 1:
                i = np.arange(1, left)
                best[left] = min(far, (i + best[1:left] + tail[left - 1 : 0 : -1]).min())
        tail = best
    tail[tail >= far] = LIMIT
    return tail


def optimal(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    """Return the least number of plain steps that reverse n steps; `LIMIT` if m is too little.

    Examples
    --------
    >>> optimal(10, 3, 1, 0, 1), optimal(100, 9, 8, 2, 0) == LIMIT
    (15, True)
    """
    return int(optima(n, m, sigma, tau, most)[n])


def online_steps(n: int, slots: int, unit: int = 1, most: int = 1) -> int:
    """Return how many plain steps reverse a loop that has run, its states placed by `place`.

    Parameters
    ----------
    n : int
        Steps of the loop, which were run once, forward, to find this number.
    slots : int
        States that can be kept.
    unit : int
        `place` is called before every so many steps.
    most : int
        How many steps may be taped at once.

    Returns
    -------
    int
        Recomputed plain steps. In addition, each step is recomputed taped.

    Examples
    --------
    >>> [online_steps(n, 8) for n in (9, 44, 100)]
    [1, 36, 149]
    >>> from adc.ir.schedule import advances
    >>> [advances(n, 8) - n for n in (9, 44, 100)]
    [-1, 34, 145]
    """
    steps, queue, count = np.zeros(slots, np.int64), np.zeros(slots, np.int64), 0
    for t in range(-(-n // unit)):
        count = max(count, place(t, count, steps, queue) + 1)
    ends = [*sorted(int(step) * unit for step in steps[:count]), n]
    return sum(plain_steps(ends[k + 1] - ends[k], slots - k, 1, 0, most) for k in range(count))
