"""The functions of `heapq`, which order a list as CPython's do."""

from __future__ import annotations

from typing import Any


def _sift_down(heap: Any, start: int, pos: int) -> None:
    item = heap[pos]
    going = pos > start
    while going:
        parent = (pos - 1) >> 1
        if item < heap[parent]:
            heap[pos] = heap[parent]
            pos = parent
            going = pos > start
        else:
            going = False
    heap[pos] = item


def _sift_up(heap: Any, pos: int) -> None:
    end = len(heap)
    start = pos
    item = heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end:
            if not heap[child] < heap[right]:
                child = right
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _sift_down(heap, start, pos)


def heappush(heap: Any, item: Any) -> None:
    """`heapq.heappush`."""
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    """`heapq.heappop`."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        _sift_up(heap, 0)
    return least


def heapreplace(heap: Any, item: Any) -> Any:
    """`heapq.heapreplace`."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return least


def heappushpop(heap: Any, item: Any) -> Any:
    """`heapq.heappushpop`."""
    least = item
    if len(heap) > 0:
        if heap[0] < item:
            least = heap[0]
            heap[0] = item
            _sift_up(heap, 0)
    return least


def heapify(heap: Any) -> None:
    """`heapq.heapify`."""
    for k in range(len(heap) // 2 - 1, -1, -1):
        _sift_up(heap, k)


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nlargest`, by its definition."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nsmallest`, by its definition."""
    return sorted(iterable, key=key)[: max(n, 0)]


__all__ = ["heapify", "heappop", "heappush", "heappushpop", "heapreplace", "nlargest", "nsmallest"]
