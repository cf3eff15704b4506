"""Which tests the short run leaves out: `python -m pytest` takes minutes, `--full` takes an hour.

Two marks say what a test costs:

`full`
    The test is long and others touch what it touches: only `--full` runs it.
`sampled(n)`
    About one in `n` of the function's items is in the short run. All functions marked so share one
    sample, in which every program of the corpus, every function, every pair of a function and a
    module of programs, and of several parameters every value of one that has few occurs at least
    once.

Everything else is in both runs. The sample is the same on every machine and in every order: an
item's rank is a hash of its name, times `n`. Items of rank below 1 are in; so is, of the items with
a common key (a program, say), the one of least rank. An item that costs more has a larger `n`,
so that a program that may be checked in many ways is checked in one that costs little.

What the user chooses is not sampled: with `-k name` only what is marked `full` is left out, and of
`tests/x.py::test_y` nothing. The run of `--rest` is what the short run with the same arguments
leaves out.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.corpus.program import Program

# Where there are several parameters, one with at most so many values has each in the sample.
FEW = 12


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
        return zlib.crc32(self.name.encode()) / 2**32 * self.every

    def keys(self, few: frozenset[tuple[str, str]]) -> Iterator[Hashable]:
        """Yield what it touches, each of which must be touched once.

        `few` has the parameters that have few values, as pairs of function and name.
        """
        yield self.function
        for name, value in self.params.items():
            if isinstance(value, Program):
                yield "program", value.name
                yield self.function, value.fn.__module__
            elif (self.function, name) in few and len(self.params) > 1:
                yield self.function, name, str(value)


def sample(candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the names of the candidates that are in the sample."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in candidates:
        for name, value in each.params.items():
            values[each.function, name].add(str(value))
    few = frozenset(key for key, found in values.items() if len(found) <= FEW)
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
        sampled = item.get_closest_marker("sampled")
        if item.get_closest_marker("full") is not None:
            continue
        if sampled is None or whole:
            found.append(item.nodeid)
        else:
            params = item.callspec.params if hasattr(item, "callspec") else {}
            candidates.append(Candidate(item.nodeid, float(sampled.args[0]), params))
    return frozenset(found) | sample(candidates)
