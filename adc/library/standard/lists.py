"""Lists and ranges whose length is known only at run time: methods, and `in`."""

from __future__ import annotations

from typing import Any

from adc.library import Unsupported


def has(items: Any, value: Any) -> Any:
    """Whether an element of a list is equal to a value."""
    for item in items:
        if item == value:
            return True
    if value != value:
        raise Unsupported(
            "looking for a NaN, which Python compares by identity,",
            "use `np.isnan` of the elements",
        )
    return False


def count(items: Any, value: Any) -> Any:
    """Return how many elements of a list are equal to a value."""
    found = 0
    for item in items:
        if item == value:
            found += 1
    if value != value:
        raise Unsupported(
            "counting NaNs, which Python compares by identity,", "use `np.isnan` of the elements"
        )
    return found


def index(items: Any, value: Any) -> Any:
    """Return where the first element of a list is that is equal to a value."""
    for k, item in enumerate(items):
        if item == value:
            return k
    if value != value:
        raise Unsupported(
            "looking for a NaN, which Python compares by identity,",
            "use `np.isnan` of the elements",
        )
    raise ValueError("the value is not in the list")


def repeated(items: Any, times: Any) -> Any:
    """Return a list of the elements so many times."""
    found = []
    for _ in range(times):
        for item in items:
            found.append(item)
    return found


def equal(a: Any, b: Any) -> Any:
    """Whether two lists have equal elements."""
    if len(a) != len(b):
        return False
    for one, other in zip(a, b, strict=True):
        if one != other:
            _require_no_nans(one, other)
            return False
    return True


def less(a: Any, b: Any) -> Any:
    """Whether a list is before another one."""
    for one, other in zip(a, b):  # noqa: B905 (the shorter one ends it)
        if one != other:
            _require_no_nans(one, other)
            return one < other
    return len(a) < len(b)


def at_most(a: Any, b: Any) -> Any:
    """Whether a list is not after another one."""
    for one, other in zip(a, b):  # noqa: B905 (as above)
        if one != other:
            _require_no_nans(one, other)
            return one <= other
    return len(a) <= len(b)


def _require_no_nans(one: Any, other: Any) -> None:
    if one != one and other != other:
        raise Unsupported(
            "comparing lists with NaNs, which Python compares by identity,", "use `np.array_equal`"
        )


def counts_to(value: Any, start: Any, stop: Any, step: Any) -> Any:
    """Whether a number is one of a range."""
    inside = start <= value < stop if step > 0 else stop < value <= start
    return inside and (value - start) % step == 0


def remove(items: Any, value: Any) -> None:
    """Take the first element out of a list that is equal to a value."""
    at = -1
    for k in range(len(items)):
        if items[k] == value:
            at = k
            break
    if at < 0:
        if value != value:
            raise Unsupported(
                "`.remove` of a NaN, which Python compares by identity,", "compare with `np.isnan`"
            )
        raise ValueError("list.remove(x): x not in list")
    items.pop(at)


def insert(items: Any, at: Any, value: Any) -> None:
    """Put a value before the element at an index, or at the end."""
    size = len(items)
    if at < 0:
        at = max(at + size, 0)
    items.append(value)
    for k in range(size, at, -1):
        items[k] = items[k - 1]
    if at < size:
        items[at] = value


def set_slice(items: Any, start: Any, stop: Any, values: Any) -> None:
    """Replace the elements between two indices by others."""
    size = len(items)
    start = 0 if start is None else min(max(start + size if start < 0 else start, 0), size)
    stop = size if stop is None else min(max(stop + size if stop < 0 else stop, start), size)
    whole = items[:start]
    whole.extend(values)
    whole.extend(items[stop:])
    items.clear()
    items.extend(whole)
