"""The iterators of Python that are generators: those of `itertools`, and `enumerate` and `zip`.

A loop over one is lowered like a loop over a generator of the program: what it yields takes no
memory. They take what can be indexed, or where it says `iterable`, also another generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adc.library import Unsupported

# The places in a tuple: what is computed for each makes a tuple. How many there are is known when
# the program is compiled, or it is refused.
_PLACES = tuple(range(64))


def product(*pools: Any, repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    """`itertools.product`."""
    pools = pools * repeat
    if len(pools) == 1:
        for a in pools[0]:
            yield (a,)
    elif len(pools) == 2:
        for a in pools[0]:
            for b in pools[1]:
                yield a, b
    elif len(pools) == 3:
        for a in pools[0]:
            for b in pools[1]:
                for c in pools[2]:
                    yield a, b, c
    elif len(pools) == 4:
        for a in pools[0]:
            for b in pools[1]:
                for c in pools[2]:
                    for d in pools[3]:
                        yield a, b, c, d
    elif len(pools) == 0:
        yield ()
    else:
        count = len(pools)
        sizes = np.array([len(pool) for pool in pools])
        places = np.zeros(count, np.int64)
        last = bool(np.any(sizes == 0))
        while not last:
            yield tuple([pools[k][places[k]] for k in _PLACES[:count]])
            i = count - 1
            while i >= 0 and places[i] == sizes[i] - 1:
                places[i] = 0
                i -= 1
            last = i < 0
            if not last:
                places[i] += 1


def combinations(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    """`itertools.combinations`."""
    if r < 0:
        raise ValueError("r must be non-negative")
    n, within = len(pool), _PLACES[:r]
    if r == 1:
        for i in range(n):
            yield (pool[i],)
    elif r == 2:
        for i in range(n):
            for j in range(i + 1, n):
                yield pool[i], pool[j]
    elif r == 3:
        for i in range(n):
            for j in range(i + 1, n):
                for k in range(j + 1, n):
                    yield pool[i], pool[j], pool[k]
    elif r == 0:
        yield ()
    else:
        places = np.arange(r)
        last = r > n
        while not last:
            yield tuple([pool[places[k]] for k in within])
            i = r - 1
            while i >= 0 and places[i] == i + n - r:
                i -= 1
            last = i < 0
            if not last:
                places[i:] = np.arange(places[i] + 1, places[i] + 1 + r - i)


def combinations_with_replacement(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    """`itertools.combinations_with_replacement`."""
    if r < 0:
        raise ValueError("r must be non-negative")
    n, within = len(pool), _PLACES[:r]
    if r == 1:
        for i in range(n):
            yield (pool[i],)
    elif r == 2:
        for i in range(n):
            for j in range(i, n):
                yield pool[i], pool[j]
    elif r == 3:
        for i in range(n):
            for j in range(i, n):
                for k in range(j, n):
                    yield pool[i], pool[j], pool[k]
    elif r == 0:
        yield ()
    else:
        places = np.zeros(r, np.int64)
        last = n == 0
        while not last:
            yield tuple([pool[places[k]] for k in within])
            i = r - 1
            while i >= 0 and places[i] == n - 1:
                i -= 1
            last = i < 0
            if not last:
                places[i:] = places[i] + 1


def permutations(pool: Any, r: int | None = None) -> Iterator[tuple[Any, ...]]:
    """`itertools.permutations`."""
    n = len(pool)
    count = n if r is None else r
    if count < 0:
        raise ValueError("r must be non-negative")
    within = _PLACES[:count]
    if count == 1:
        for i in range(n):
            yield (pool[i],)
    elif count == 2:
        for i in range(n):
            for j in range(n):
                if i != j:
                    yield pool[i], pool[j]
    elif count == 3:
        for i in range(n):
            for j in range(n):
                if i != j:
                    for k in range(n):
                        if k != i and k != j:
                            yield pool[i], pool[j], pool[k]
    elif count == 0:
        yield ()
    else:
        places = np.arange(n)
        last = count > n
        while not last:
            yield tuple([pool[places[k]] for k in within])
            # The next order of all of them whose first elements are others.
            places[count:] = places[count:][::-1].copy()
            i = n - 2
            while i >= 0 and places[i] >= places[i + 1]:
                i -= 1
            last = i < 0
            if not last:
                j = n - 1
                while places[j] <= places[i]:
                    j -= 1
                places[i], places[j] = places[j], places[i]
                places[i + 1 :] = places[i + 1 :][::-1].copy()


def pairwise(pool: Any) -> Iterator[tuple[Any, Any]]:
    """`itertools.pairwise`."""
    for i in range(len(pool) - 1):
        yield pool[i], pool[i + 1]


def chain(*iterables: Any) -> Iterator[Any]:
    """`itertools.chain`."""
    for iterable in iterables:
        yield from iterable


def chain_from(iterable: Any) -> Iterator[Any]:
    """`itertools.chain.from_iterable`."""
    for inner in iterable:
        yield from inner


def accumulate(pool: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    """`itertools.accumulate`."""
    if initial is not None:
        total = initial
        yield total
        for item in pool:
            total = total + item if func is None else func(total, item)
            yield total
    elif len(pool) > 0:
        total = pool[0]
        yield total
        for k in range(1, len(pool)):
            total = total + pool[k] if func is None else func(total, pool[k])
            yield total


def islice(iterable: Any, first: Any, stop: Any = "", step: Any = None) -> Iterator[Any]:
    """`itertools.islice`; given alone, `first` is the stop."""
    alone = isinstance(stop, str)
    end = first if alone else stop
    begin = 0 if alone or first is None else first
    by = 1 if step is None else step
    limit = 0 if end is None else end
    if isinstance(end, float) or limit < 0:
        raise ValueError(
            "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
        )
    if isinstance(begin, float) or begin < 0:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if isinstance(by, float) or by < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    if end is None:
        k = 0
        for item in iterable:
            if k >= begin and (k - begin) % by == 0:
                yield item
            k += 1
    elif end > 0:
        k = 0
        for item in iterable:
            if k >= begin and (k - begin) % by == 0:
                yield item
            k += 1
            if k >= end:
                break


def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """`itertools.count`."""
    number = start
    while True:
        yield number
        number = number + step


def repeat(item: Any, times: Any = None) -> Iterator[Any]:
    """`itertools.repeat`."""
    if times is None:
        while True:
            yield item
    else:
        for _ in range(times):
            yield item


def cycle(pool: Any) -> Iterator[Any]:
    """`itertools.cycle`."""
    while len(pool) > 0:
        yield from pool


def starmap(func: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.starmap`."""
    for args in iterable:
        yield func(*args)


def takewhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.takewhile`."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.dropwhile`."""
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def filterfalse(predicate: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.filterfalse`."""
    for item in iterable:
        if not predicate(item):
            yield item


def compress(iterable: Any, selectors: Any) -> Iterator[Any]:
    """`itertools.compress`."""
    for item, chosen in zip(iterable, selectors, strict=False):
        if chosen:
            yield item


def groupby(iterable: Any, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """`itertools.groupby`."""
    group: list[Any] = []
    last = None
    for item in iterable:
        own = item if key is None else key(item)
        if len(group) > 0 and own != last:
            members = iter(group)
            yield last, members
            for _ in members:  # nothing is left in a group when the next one is asked for
                pass
            group = []
        last = own
        group.append(item)
    if len(group) > 0:
        members = iter(group)
        yield last, members
        for _ in members:
            pass


def zip_longest(a: Any, b: Any, *, fillvalue: Any = None) -> Iterator[tuple[Any, Any]]:
    """`itertools.zip_longest` of two iterables."""
    m, n = len(a), len(b)
    for k in range(max(m, n)):
        yield (a[k] if k < m else fillvalue), (b[k] if k < n else fillvalue)


def numbered(iterable: Any, start: Any = 0) -> Iterator[tuple[Any, Any]]:
    """`enumerate` of a generator."""
    number = start
    for item in iterable:
        yield number, item
        number += 1


def zipped(iterable: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """`zip` of a generator and of what can be indexed."""
    shortest = min([len(other) for other in others])
    k = 0
    for item in iterable:
        if k >= shortest:
            break
        yield (item, *[other[k] for other in others])
        k += 1


def zipped_last(first: Any, iterable: Any) -> Iterator[tuple[Any, Any]]:
    """`zip` of what can be indexed and of a generator."""
    size = len(first)
    if size > 0:
        k = 0
        for item in iterable:
            yield first[k], item
            k += 1
            if k >= size:
                break


def mapped(func: Any, iterable: Any) -> Iterator[Any]:
    """`map` over a generator."""
    for item in iterable:
        yield func(item)


def kept(func: Any, iterable: Any) -> Iterator[Any]:
    """`filter` of a generator."""
    for item in iterable:
        if item if func is None else func(item):
            yield item


class Items:
    """An iterator over what can be indexed: what `iter` makes of it."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.place = 0

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


class Generator:
    """A generator that was called before a loop consumes it (`frontend.control.suspended`)."""

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Any:
        raise Unsupported(_DRAWN, _LOOP)

    def send(self, value: Any) -> Any:
        """Refuse to send a value."""
        raise Unsupported(_DRAWN, _LOOP)

    def throw(self, value: Any) -> Any:
        """Refuse to raise an exception in it."""
        raise Unsupported(_DRAWN, _LOOP)

    def close(self) -> Any:
        """Refuse to end it."""
        raise Unsupported(_DRAWN, _LOOP)


Generator.__name__ = "generator"  # what errors call it
_DRAWN = "drawing from a generator other than in a loop"
_LOOP = "consume it in one loop, or store a list: `list(…)`"


class Count:
    """`itertools.count`, where it is stored."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.number = start
        self.step = step

    def __iter__(self) -> Count:
        return self

    def __next__(self) -> Any:
        number = self.number
        self.number = number + self.step
        return number


class Cycle:
    """`itertools.cycle` of what can be indexed, where it is stored."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.place = -1

    def __iter__(self) -> Cycle:
        return self

    def __next__(self) -> Any:
        if len(self.pool) == 0:
            raise StopIteration
        self.place = (self.place + 1) % len(self.pool)
        return self.pool[self.place]


# The classes of iterators that programs store.
ITERATORS = (Count, Cycle, Generator, Items)


def zipped_objects(iterator: Any, iterator_2: Any) -> Iterator[tuple[Any, Any]]:
    """`zip` of two objects that are iterated, or of one and itself."""
    one, other = iter(iterator), iter(iterator_2)
    while True:
        try:
            left = next(one)
            right = next(other)
        except StopIteration:
            return
        yield left, right


def following(iterator: Any, default: Any) -> Any:
    """`next` with a default value."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


def bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """`bisect.bisect_left`."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    low, high = lo, len(a) if hi is None else hi
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """`bisect.bisect_right`."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    low, high = lo, len(a) if hi is None else hi
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low
