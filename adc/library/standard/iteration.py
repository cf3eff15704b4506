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
    yield from _combinations(pool, r, 1)


def combinations_with_replacement(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    """`itertools.combinations_with_replacement`."""
    yield from _combinations(pool, r, 0)


def _combinations(pool: Any, r: int, apart: int) -> Iterator[tuple[Any, ...]]:
    """Yield items at ascending places, which are `apart`: 1, or 0."""
    if r < 0:
        raise ValueError("r must be non-negative")
    n, within = len(pool), _PLACES[:r]
    if r == 1:
        for i in range(n):
            yield (pool[i],)
    elif r == 2:
        for i in range(n):
            for j in range(i + apart, n):
                yield pool[i], pool[j]
    elif r == 3:
        for i in range(n):
            for j in range(i + apart, n):
                for k in range(j + apart, n):
                    yield pool[i], pool[j], pool[k]
    elif r == 0:
        yield ()
    else:
        places = apart * np.arange(r)
        last = n <= places[-1]
        while not last:
            yield tuple([pool[places[k]] for k in within])
            i = r - 1
            while i >= 0 and places[i] == n - 1 - apart * (r - 1 - i):
                i -= 1
            last = i < 0
            if not last:
                places[i:] = places[i] + 1 + apart * np.arange(r - i)


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


def zipped(iterable: Any, *others: Any, strict: bool = False) -> Iterator[tuple[Any, ...]]:
    """`zip` of a generator and of what can be indexed; if `strict`, of one of these."""
    shortest = min([len(other) for other in others])
    k = 0
    for item in iterable:
        if k >= shortest:
            if strict:
                raise ValueError("zip() argument 2 is shorter than argument 1")
            break
        yield (item, *[other[k] for other in others])
        k += 1
    if strict and k < shortest:
        raise ValueError("zip() argument 2 is longer than argument 1")


def zipped_last(first: Any, iterable: Any, strict: bool = False) -> Iterator[tuple[Any, Any]]:
    """`zip` of what can be indexed and of a generator."""
    size = len(first)
    if strict:
        k = 0
        for item in iterable:
            if k >= size:
                raise ValueError("zip() argument 2 is longer than argument 1")
            yield first[k], item
            k += 1
        if k < size:
            raise ValueError("zip() argument 2 is shorter than argument 1")
    elif size > 0:
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


def pairs(*iterables: Any) -> Iterator[tuple[Any, ...]]:
    """`zip`, where it is stored."""
    yield from zip(*iterables, strict=False)


def numbers(iterable: Any, start: Any = 0) -> Iterator[tuple[Any, Any]]:
    """`enumerate`, where it is stored."""
    yield from enumerate(iterable, start)


def images(func: Any, *iterables: Any) -> Iterator[Any]:
    """`map`, where it is stored."""
    for items in zip(*iterables, strict=False):
        yield func(*items)


def chosen(func: Any, iterable: Any) -> Iterator[Any]:
    """`filter`, where it is stored."""
    for item in iterable:
        if item if func is None else func(item):
            yield item


class Stored:
    """An iterator that programs store: `advance` says whether there is another value."""

    def __iter__(self) -> Stored:
        return self

    def __next__(self) -> Any:
        if not self.advance():
            raise StopIteration
        return self.current()

    def advance(self) -> bool:
        """Go on to the next value, if there is one."""
        raise NotImplementedError

    def current(self) -> Any:
        """Return the value where it is."""
        raise NotImplementedError


class Items(Stored):
    """An iterator over what can be indexed: what `iter` makes of it."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.place = 0
        self.ended = False

    def advance(self) -> bool:
        if self.ended or self.place >= len(self.items):
            self.ended = True  # for good, even if a list grows
            return False
        self.place += 1
        return True

    def current(self) -> Any:
        return self.items[self.place - 1]


class Generator(Stored):
    """A generator that was called before a loop consumes it (`frontend.control.suspended`)."""

    _value_: Any  # what it has yielded

    def advance(self) -> bool:
        return stepped(self, None)

    def current(self) -> Any:
        return self._value_

    def send(self, value: Any) -> Any:
        """Go on, with `value` as the value of the `yield` where it is."""
        if not stepped(self, value):
            raise StopIteration
        return self._value_

    def throw(self, value: Any) -> Any:
        """Refuse to raise an exception in it."""
        raise Unsupported("`throw` of a generator", "send a value that says what to do")

    def close(self) -> None:
        """End it."""
        stopped(self)


class Steps(Generator):
    """A generator that is drawn from in several places, which has its variables as attributes."""


Generator.__name__ = Steps.__name__ = "generator"  # what errors call it


def stepped(generator: Generator, value: Any) -> bool:
    """Go on with a generator to the next `yield`; the front end has its code."""
    raise NotImplementedError


def stopped(generator: Generator) -> None:
    """End a generator; the front end does this."""
    raise NotImplementedError


class Drawn(Stored):
    """An iterator of the program, in a loop that is left and goes on."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        self.value = None

    def advance(self) -> bool:
        try:
            self.value = self.iterator.__next__()
        except StopIteration:
            return False
        return True

    def current(self) -> Any:
        return self.value


def beginning(own: Items, iterable: Any) -> Stored:
    """Return an iterator over something: `own`, over what can be indexed; the front end does it."""
    raise NotImplementedError


class Zipped(Stored):
    """`zip` of iterators."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def advance(self) -> bool:
        for part in self.parts:
            if not part.advance():
                return False
        return len(self.parts) > 0

    def current(self) -> Any:
        return tuple([part.current() for part in self.parts])


class Numbered(Stored):
    """`enumerate` of an iterator."""

    def __init__(self, part: Any, start: Any = 0) -> None:
        self.part = part
        self.number = start - 1

    def advance(self) -> bool:
        if not self.part.advance():
            return False
        self.number += 1
        return True

    def current(self) -> Any:
        return self.number, self.part.current()


class Mapped(Stored):
    """`map` over iterators."""

    value: Any

    def __init__(self, func: Any, parts: Any) -> None:
        self.func = func
        self.parts = parts

    def advance(self) -> bool:
        for part in self.parts:
            if not part.advance():
                return False
        self.value = self.func(*[part.current() for part in self.parts])
        return True

    def current(self) -> Any:
        return self.value


class Filtered(Stored):
    """`filter` of an iterator."""

    def __init__(self, func: Any, part: Any) -> None:
        self.func = func
        self.part = part

    def advance(self) -> bool:
        while self.part.advance():
            item = self.part.current()
            if item if self.func is None else self.func(item):
                return True
        return False

    def current(self) -> Any:
        return self.part.current()


class Count(Stored):
    """`itertools.count`, where it is stored."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.number = start
        self.step = step
        self.given = start

    def advance(self) -> bool:
        self.given = self.number
        self.number = self.given + self.step
        return True

    def current(self) -> Any:
        return self.given


class Cycle(Stored):
    """`itertools.cycle` of what can be indexed, where it is stored."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.place = -1

    def advance(self) -> bool:
        if len(self.pool) == 0:
            return False
        self.place = (self.place + 1) % len(self.pool)
        return True

    def current(self) -> Any:
        return self.pool[self.place]


# The classes of iterators that programs store.
ITERATORS = (
    Count, Cycle, Drawn, Filtered, Generator, Items, Mapped, Numbered, Steps, Zipped,
)  # fmt: skip


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


def zipped_stored(iterator: Stored, iterator_2: Stored) -> Iterator[tuple[Any, Any]]:
    """`zip` of two iterators that programs store."""
    while iterator.advance():
        left = iterator.current()
        if not iterator_2.advance():
            return
        yield left, iterator_2.current()


def following(iterator: Any, default: Any) -> Any:
    """`next` with a default value."""
    if isinstance(iterator, Stored):
        return iterator.current() if iterator.advance() else default
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


def insort_left(a: Any, x: Any) -> None:
    """`bisect.insort_left`."""
    a.insert(bisect_left(a, x), x)


def insort_right(a: Any, x: Any) -> None:
    """`bisect.insort_right`."""
    a.insert(bisect_right(a, x), x)
