"""Which tests the short run leaves out: `python -m pytest` takes minutes, `--rest` hours.

Two marks say what a test costs:

`full`
    The test is long and others touch what it touches: only `--full` runs it. A test
    of more than a third of a second is marked so if it is the only one to reach at most three lines
    of adc for each second that it takes, by measured coverage.
`sampled(n)`
    About one in `n` of the function's items is in the short run. All functions marked so share one
    sample, in which every function and every value of a parameter that has few occurs at least
    once, and of functions whose `n` is at most 50 every program of the corpus, and every pair of a
    function and a module of programs.

Everything else is in both runs. The sample is the same on every machine and in every order: an
item's rank is a hash of its name, times `n`. Items of rank below 1 are in; so is, of the items with
a common key (a program, say), the one of least rank. An item that costs more has a larger `n`,
so that a program that may be checked in many ways is checked in one that costs little. All items of
`sampled(1)` are in: what they touch need not be touched by others.

What the user chooses is not sampled: with `-k name` only what is marked `full` is left out, and of
`tests/x.py::test_y` nothing. The run of `--rest` is what the short run with the same arguments
leaves out. It takes hours; `--part 2/5` is a fifth of it, of which all items of a
program are in the same part: they share what is compiled.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.corpus.program import Program

# A parameter has each of its values in the sample if there are at most so many, and if others make
# at least three times as many items of them.
FEW = 12
# Functions of which one item in more is in the sample meet not every program, or module of them.
PAIRS = 50


def _hash(text: str) -> int:
    """Return 32 bits that are the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def part(text: str) -> tuple[int, int]:
    """Return the two numbers of "2/5"."""
    first, _, second = text.partition("/")
    k, n = int(first), int(second)
    if not 1 <= k <= n:
        raise ValueError(f"{text} is not a part, such as 1/5 or 5/5")
    return k, n


def is_in(part: tuple[int, int], item: pytest.Item) -> bool:
    """Whether an item is in a part: that of its program, or one of its own if it has none."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    programs = [value.name for value in params.values() if isinstance(value, Program)]
    key = programs[0] if programs else item.nodeid
    k, n = part
    return _hash(key) % n == k - 1


@dataclass(frozen=True)
class Candidate:
    """An item of a function that is sampled.

    Attributes
    ----------
    name : str
        The node's name, with the parameters: what is hashed.
    every : float
        One in so many is in the sample.
    params : Mapping
        Its parameters.
    """

    name: str
    every: float
    params: Mapping[str, Any]

    @property
    def function(self) -> str:
        return self.name.partition("[")[0]

    @property
    def rank(self) -> float:
        """The smaller, the sooner it is in the sample: below 1 for one in `every`."""
        return _hash(self.name) / 2**32 * self.every

    def keys(self, few: frozenset[tuple[str, str]]) -> Iterator[Hashable]:
        """Yield what it touches, each of which must be touched once.

        `few` has the parameters that have few values, as pairs of function and name.
        """
        yield self.function
        for name, value in self.params.items():
            if isinstance(value, Program):
                if self.every <= PAIRS:
                    yield "program", value.name
                    yield self.function, value.fn.__module__
            elif (self.function, name) in few:
                yield self.function, name, str(value)


def sample(candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the names of the candidates that are in the sample."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in candidates:
        for name, value in each.params.items():
            values[each.function, name].add(str(value))
    items = Counter(each.function for each in candidates)
    few = frozenset(
        key for key, found in values.items() if len(found) <= min(FEW, items[key[0]] / 3)
    )
    first: dict[Hashable, Candidate] = {}
    for each in candidates:
        for key in each.keys(few):
            other = first.setdefault(key, each)
            if (each.rank, each.name) < (other.rank, other.name):
                first[key] = each
    often = (each.name for each in candidates if each.rank < 1.0)
    return frozenset([*often, *(each.name for each in first.values())])


def short(items: Iterable[pytest.Item], whole: bool = False) -> frozenset[str]:
    """Return the names of the items that are in the short run.

    If `whole`, nothing is sampled, and only what is marked `full` is left out.
    """
    candidates: list[Candidate] = []
    found: list[str] = []
    for item in items:
        every = [float(mark.args[0]) for mark in item.iter_markers("sampled")]
        if item.get_closest_marker("full") is not None:
            continue
        if whole or not every:
            found.append(item.nodeid)
        else:
            # A parameter may be marked, too: 1 is always in.
            params = item.callspec.params if hasattr(item, "callspec") else {}
            candidates.append(Candidate(item.nodeid, min(every), params))
    return frozenset(found) | sample(candidates)
