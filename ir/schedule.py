"""Schedules (provisional)."""

from __future__ import annotations


def leaf(left: int, m: int, tau: int, most: int) -> bool:
    return (most == 0 or left <= most) and left * tau <= m


def split(left: int, m: int, sigma: int, tau: int, most: int) -> int:
    if left <= 1:
        return left
    s = max(m // max(sigma, 1), 1)
    k = max(most, 1)
    if tau > 0:
        # share between snapshots and the leaf
        k = max(min((m - sigma) // 2 // tau, left - 1), 1)
        s = max((m - k * tau) // max(sigma, 1), 1)
    units = (left + k - 1) // k
    s = min(s, max(units - 1, 1))
    if s == 1:
        i = units - 1
    else:
        # repetitions
        r = 1
        b0, b1 = 1, s + 1  # beta(s, 0), beta(s, 1)
        while b1 < units:
            r += 1
            b0, b1 = b1, b1 * (s + r) // r
        if r == 1:
            i = 1
        else:
            bl2 = b0 * (r - 1) // (s + r - 1)  # beta(s, r-2)
            bs1 = b0 * s // (s + r - 1)  # beta(s-1, r-1)
            bs2 = bs1 * (s - 1) // (s + r - 2)  # beta(s-2, r-1)
            if units <= b0 + bs2:
                i = bl2
            elif units >= b0 + bs1 + bs2:
                i = b0
            else:
                i = units - bs1 - bs2
    return min(max(i * k - (units * k - left if s == 1 else 0), 1), left - 1)


def sweeps(n: int, m: int, sigma: int, tau: int, most: int) -> int:
    a, j = 0, 0
    while not ((most == 0 or n - a <= most) and (n - a) * tau <= m - j * sigma) and n - a > 1:
        a += split(n - a, m - j * sigma, sigma, tau, most)
        j += 1
    return j
