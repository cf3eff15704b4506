"""Methods of lists whose length is known only at run time."""

from __future__ import annotations

from typing import Any

from adc.library import Unsupported


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
