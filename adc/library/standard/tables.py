"""Dicts and sets whose keys are known only at run time: lists of keys, in which a key is looked up.

A key is found by comparing it with one after the other. That takes time proportional to their
number, as it does in a list, and not, as in Python, the same time for any number. Keys that count
up, as those of steps do, are found at once.
"""

from __future__ import annotations

from typing import Any


def position(keys: Any, key: Any) -> int:
    """Return where a key is, or -1."""
    found = -1
    k = 0
    count = len(keys)
    while found < 0 and k < count:
        if keys[k] == key:
            found = k
        k += 1
    return found


def place(keys: Any, key: Any) -> int:
    """Return where an integer is among different integers, or -1."""
    count = len(keys)
    found = -1
    if count > 0:
        found = key - keys[0]
        if found < 0 or found >= count or keys[found] != key:
            # A maximum, not a search that ends: it takes several keys at a time.
            found = -1
            for k in range(count):
                found = max(found, k if keys[k] == key else -1)
    return found


def add_all(members: Any, others: Any) -> None:
    """Add the elements of an iterable to a set."""
    for other in others:
        members.add(other)


def discard_all(members: Any, others: Any) -> None:
    """Take the elements of an iterable out of a set."""
    for other in others:
        members.discard(other)


def keep(members: Any, mine: Any, others: Any, inside: bool) -> None:
    """Add those elements of `mine` to a set that are in `others`, or that are not."""
    for each in mine:
        if (each in others) == inside:
            members.add(each)


def all_in(mine: Any, others: Any, inside: bool) -> bool:
    """Tell whether all elements of `mine` are in `others`, or none is."""
    result = True
    for each in mine:
        if (each in others) != inside:
            result = False
    return result


def count(counter: Any, elements: Any, by: int = 1) -> None:
    """Count how often each element of an iterable is in it."""
    for each in elements:
        counter[each] += by


def add(counter: Any, other: Any, by: int = 1) -> None:
    """Add what another dict has for each key, or take it away."""
    for key, value in other.items():
        counter[key] += by * value


def _keep(made: Any, one: Any, other: Any) -> None:
    """Keep the positive counts of what only the other counter has."""
    for key, value in other.items():
        if key not in one and value > 0:
            made[key] = value


def plus(made: Any, one: Any, other: Any) -> None:
    """Add two counters; as for all operators on counters, only positive counts are kept."""
    for key, value in one.items():
        found = value + other[key]
        if found > 0:
            made[key] = found
    _keep(made, one, other)


def minus(made: Any, one: Any, other: Any) -> None:
    """Subtract a counter from another one."""
    for key, value in one.items():
        found = value - other[key]
        if found > 0:
            made[key] = found
    for key, value in other.items():
        if key not in one and value < 0:
            made[key] = 0 - value


def union(made: Any, one: Any, other: Any) -> None:
    """Take the larger count of each key."""
    for key, value in one.items():
        found = other[key] if value < other[key] else value
        if found > 0:
            made[key] = found
    _keep(made, one, other)


def intersection(made: Any, one: Any, other: Any) -> None:
    """Take the smaller count of each key."""
    for key, value in one.items():
        found = value if value < other[key] else other[key]
        if found > 0:
            made[key] = found


def total(counter: Any) -> Any:
    """Return the sum of all counts."""
    return sum(counter.values())


def most_common(counter: Any, n: Any = None) -> Any:
    """Return the keys with the largest counts, and these, largest first."""
    pairs = sorted(counter.items(), key=lambda pair: pair[1], reverse=True)
    return pairs if n is None else pairs[: max(n, 0)]


def update(table: Any, other: Any) -> None:
    """Put the items of a dict into another one."""
    for key, value in other.items():
        table[key] = value


def from_keys(table: Any, keys: Any, value: Any) -> Any:
    """Put one value under all keys, and return the dict."""
    for key in keys:
        table[key] = value
    return table
