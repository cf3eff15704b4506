"""Lists of which the run decides how many there are: in one list, each with room to grow.

`rows` has for each of them where its elements begin in `items`, how many there are, and how many
there is room for. One that has no room left moves to the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def append(items: Any, rows: Any, k: int, value: Any) -> None:
    """Append an element to a list."""
    start, count, room = rows[k]
    if count == room:
        begin = len(items)
        for j in range(count):
            items.append(items[start + j])
        room = 2 * count + 2
        for _ in range(room - count):
            items.append(value)
        rows[k] = (begin, count + 1, room)
    else:
        items[start + count] = value
        rows[k] = (start, count + 1, room)


def store(items: Any, rows: Any, k: int, values: Any) -> None:
    """Let a list hold other elements."""
    start, _, room = rows[k]
    count = len(values)
    if count > room:
        begin = len(items)
        for value in values:
            items.append(value)
        rows[k] = (begin, count, count)
    else:
        for j in range(count):
            items[start + j] = values[j]
        rows[k] = (start, count, room)


def set_item(items: Any, rows: Any, k: int, j: int, value: Any) -> None:
    """Set an element of a list."""
    start, count, _ = rows[k]
    if j < 0:
        j += count
    if j < 0 or j >= count:
        raise IndexError("list assignment index out of range")
    items[start + j] = value


def pop(rows: Any, k: int) -> None:
    """Take the last element off a list that has one."""
    start, count, room = rows[k]
    rows[k] = (start, count - 1, room)


def tuples(rows: Any) -> Any:
    """Return tuples of lists."""
    return [tuple(row) for row in rows]


def arrays(lists: Any) -> Any:
    """Return arrays of lists."""
    return [np.array(each) for each in lists]
