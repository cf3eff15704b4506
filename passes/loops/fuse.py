"""Fuse adjacent loops of equal trip count that share data.

Before::

    %a.2 = for L %i in 0 to %n carrying (%a.1 = %a) {
      %t = …
      %b = store %a.1[%i] %t
      yield %b
    }
    %s = for M %k in 0 to %n carrying (%acc = 0.0:f64) {
      %v = load %a.2[%k]
      %acc.1 = sum %acc %v
      yield %acc.1
    }

After::

    %a.2, %s = for L %i in 0 to %n carrying (%a.1 = %a, %acc = 0.0:f64) {
      %t = …
      %b = store %a.1[%i] %t
      %v = load %b[%i]
      %acc.1 = sum %acc %v
      yield %b %acc.1
    }

The second loop may only touch the part of an array that the first one has finished in the same
iteration: both index one axis by their counters alone. Statements between the loops move before
them, or after them if they depend on the first. A loop whose iterations are independent follows one
in the other direction, as reverse code has them. Then the loops in the bodies are fused. `contract`
removes the arrays that become superfluous. No bit changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from adc.ir.analysis.dependence.accesses import (
    Access,
    accesses,
    common_axis,
    only_loads,
    overwritten,
    own_axis,
)
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Block,
    Call,
    For,
    Function,
    Literal,
    Load,
    Operand,
    Print,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    is_invertible,
    remembered,
    walk,
)
from adc.ir.sums import summed
from adc.ir.types import Array
from adc.ir.walk import (
    StatementCache,
    acts,
    block_reads,
    block_size,
    defined,
    map_functions,
    map_stmts,
    stmt_reads,
    stmts_reads,
    substitute_block,
    use_counts,
)

# The most statements of a merged body; longer ones are slow to compile and no faster to run.
MOST = 150
# How many statements of a block are searched backwards for a loop to merge with.
FAR = 500


def fuse(fn: Function) -> Function:
    """Return `fn` with adjacent loops merged where that is legal and pays."""
    return map_functions(fn, lambda each: _Fuser(each).run())


def fuse_again(fn: Function) -> Function:
    """Return `fn` with loops merged that `contract` has made adjacent.

    None are merged where values are restored by inversion: inverses undo one loop after the other.
    """
    if any(is_invertible(value) for each in (fn, *fn.callees) for value in defined(each)):
        return fn
    return fuse(fn)


@dataclass(frozen=True)
class _Link:
    """How the second loop accesses an array: the version in the first one's body, or carried."""

    env_first: dict[Value, Operand]
    env_second: dict[Value, Operand]
    # Positions among the carried values that become one.
    united: tuple[tuple[int, int], ...]
    # Whether the loops may access the same elements of such an array.
    meets: bool


class _Fuser:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.facts = Facts()
        self.facts.learn(fn.body)
        self.uses = use_counts(fn)
        self.reads = StatementCache(stmt_reads)

    def run(self) -> Function:
        if any(isinstance(s, Reverse | Recall) for s in walk(self.fn.body)) or self.fn.mirror:
            return self.fn  # reverse code names loops of the forward code
        return replace(self.fn, body=tuple(self.block(self.fn.body)))

    def block(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done = list(stmts)
        before = _Before(self.reads)
        at = 0
        while at < len(done):
            merged = self.with_earlier(done, at, before)
            if merged is None:
                before.add(done[at], at)
                at += 1
                continue
            done, first, at = merged
            before.cut(first)
            for place in range(first, at):
                before.add(done[place], place)
        return [map_stmts(s, self.block) for s in done]

    def with_earlier(
        self, stmts: list[Stmt], q: int, before: _Before
    ) -> tuple[list[Stmt], int, int] | None:
        """Return the statements with statement `q` merged into a loop before it, if any.

        Return also the first position that has changed, and the position of the merged loop.
        """
        second = stmts[q]
        if not isinstance(second, For) or not _is_plain(second.body):
            return None
        reads = self.reads(second)
        arrays = {value for value in reads if isinstance(value.type, Array)}
        # The positions, negative, of the statements that `second` depends on and that are still to
        # be asked; and of those that it depends on by statements in between, which cannot move
        # behind it.
        waiting = before.positions(reads)
        heapify(waiting)
        asked, indirect = set(waiting), set[int]()
        for p in before.with_arrays(arrays, q - FAR):
            first = stmts[p]
            assert isinstance(first, For)
            if not _comparable(first, second):
                continue
            while waiting and -waiting[0] > p:
                more = before.sources[-heappop(waiting)]
                indirect.update(more)
                for place in more:
                    if place not in asked:
                        asked.add(place)
                        heappush(waiting, place)
            if -p not in indirect:
                merged = self.pair(stmts, p, q)
                if merged is not None:
                    return merged[0], p, merged[1]
        return None

    def pair(self, stmts: list[Stmt], p: int, q: int) -> tuple[list[Stmt], int] | None:
        """Return the statements with loop `q` merged into loop `p`, and its position, or None."""
        first, second = stmts[p], stmts[q]
        assert isinstance(first, For)
        assert isinstance(second, For)
        down = self.direction(first, second)
        if down is None:
            return None
        link = self.link(first, second)
        if link is None or not self.pays(first, second, link):
            return None
        behind: list[Stmt] = []
        front: list[Stmt] = []
        tainted: set[Value] = set(first.results)
        first_acts = acts(first)
        if first_acts and acts(second):
            return None
        for stmt in stmts[p + 1 : q]:
            if not tainted.isdisjoint(self.reads(stmt)):
                if acts(stmt):
                    return None
                behind.append(stmt)
                tainted.update(stmt.results)
            elif first_acts and acts(stmt):
                return None
            else:
                front.append(stmt)
        # Reading a version that is overwritten by then would take a copy.
        if overwritten(front) & stmt_reads(first) or stmts_reads(front) & overwritten((first,)):
            return None
        if overwritten((second,)) & stmts_reads(behind) or overwritten(behind) & stmt_reads(second):
            return None
        loop = replace(_merged(first, second, link), down=down)
        done = [*stmts[:p], *front, loop, *behind, *stmts[q + 1 :]]
        return done, p + len(front)

    # -- is it legal? ----------------------------------------------------------------------

    def direction(self, first: For, second: For) -> bool | None:
        """Return whether the merged loop counts down; None if the loops do not go together."""
        if first.down == second.down:
            return first.down
        if self.is_free(second):
            return False if self.is_free(first) else first.down
        return second.down if self.is_free(first) else None

    def is_free(self, loop: For) -> bool:
        """Whether the iterations of a loop may come in any order: each has its own elements."""
        if acts(loop):
            return False
        for k, param in enumerate(loop.body.params):
            if not isinstance(param.type, Array):
                return False
            found: list[Access] = []
            if not accesses(loop.body, param, k, found):
                return False
            if own_axis(found, loop.index, self.facts) is None:
                return False
        return True

    def link(self, first: For, second: For) -> _Link | None:
        env_first: dict[Value, Operand] = {}
        env_second: dict[Value, Operand] = {}
        united: list[tuple[int, int]] = []
        meets = False
        reads = block_reads(second.body)
        for k, result in enumerate(first.results):
            count = second.init.count(result)
            if not count and result not in reads:
                continue
            if not isinstance(result.type, Array) or (count and result in reads) or count > 1:
                return None
            found: list[Access] = []
            if not accesses(first.body, first.body.params[k], k, found):
                return None
            if count:
                j = second.init.index(result)
                others: list[Access] = []
                if self.uses.get(result, 0) != 1:
                    return None
                if not accesses(second.body, second.body.params[j], j, others):
                    return None
                united.append((k, j))
            else:
                others = []
                if not _only_loads(second.body, result, others):
                    return None
                version = first.body.yields[k]
                assert isinstance(version, Value)
                env_second[result] = version
            if common_axis(found, first.index, others, second.index, self.facts) is None:
                return None
            meets = meets or _meet(found, others)
        mine, theirs = block_reads(first.body), set(second.init)
        for init in first.init:
            if isinstance(init.type, Array) and (init in reads or init in theirs):
                return None  # an older version is read, too
        for j, init in enumerate(second.init):
            if not isinstance(init, Value) or not isinstance(init.type, Array) or init not in mine:
                continue
            # The first loop reads what the second one changes: it may only read its own part.
            others, found = [], []
            if not _only_loads(first.body, init, found):
                return None
            if not accesses(second.body, second.body.params[j], j, others):
                return None
            if common_axis(found, first.index, others, second.index, self.facts) is None:
                return None
            meets = meets or _meet(found, others)
            env_first[init] = second.body.params[j]
        return _Link(env_first, env_second, tuple(united), meets)

    # -- does it pay? ----------------------------------------------------------------------

    def pays(self, first: For, second: For, link: _Link) -> bool:
        # What the loops do to rows of their own is not in the cache for the other one, and keeps
        # more arrays alive at once.
        shared = (
            value
            for value in block_reads(first.body) & block_reads(second.body)
            if isinstance(value.type, Array)
        )
        if not link.meets and not any(_share(first.body, second.body, each) for each in shared):
            return False
        if _is_innermost(first.body) and _is_innermost(second.body):
            # A sequential loop would slow down a parallel one.
            return self.is_serial(first) == self.is_serial(second)
        return True

    def is_serial(self, loop: For) -> bool:
        sums = summed(loop)
        for k, param in enumerate(loop.body.params):
            if not isinstance(param.type, Array):
                if k not in sums and loop.body.yields[k] != param:
                    return True
                continue
            found: list[Access] = []
            if not accesses(loop.body, param, k, found):
                return True
            if any(isinstance(s, Load) or s.accumulate for s in found):
                if own_axis(found, loop.index, self.facts) is None:
                    return True
        return False


class _Before:
    """The statements of a block that precede one: where values are defined, and loops."""

    def __init__(self, reads: Callable[[Stmt], set[Value]]) -> None:
        self._reads = reads
        self._places: dict[Value, int] = {}
        # By position, the positions of what the statement reads, each negative.
        self.sources: list[list[int]] = []
        # Positions of loops, with the arrays that their bodies read or that they return; and of
        # each array the loops, first to last.
        self._loops: list[tuple[int, set[Value]]] = []
        self._of: dict[Value, list[int]] = {}

    def add(self, stmt: Stmt, place: int) -> None:
        """Add the statement that follows."""
        self.sources.append(self.positions(self._reads(stmt)))
        for result in stmt.results:
            self._places[result] = place
        if isinstance(stmt, For):
            arrays = {v for v in block_reads(stmt.body) if isinstance(v.type, Array)}
            arrays.update(v for v in stmt.results if isinstance(v.type, Array))
            self._loops.append((place, arrays))
            for array in arrays:
                self._of.setdefault(array, []).append(place)

    def cut(self, place: int) -> None:
        """Forget the statements from a position on."""
        del self.sources[place:]
        while self._loops and self._loops[-1][0] >= place:
            for array in self._loops.pop()[1]:
                self._of[array].pop()

    def with_arrays(self, arrays: Iterable[Value], first: int) -> list[int]:
        """Return the loops with one of some arrays, from a position on, the last ones first."""
        found: set[int] = set()
        for array in arrays:
            places = self._of.get(array, ())
            found.update(places[bisect_left(places, first) :])
        return sorted(found, reverse=True)

    def positions(self, values: Iterable[Value]) -> list[int]:
        """Return the positions of the definitions of values, each negative."""
        places = self._places
        return [-places[value] for value in values if value in places]


def _comparable(first: For, second: For) -> bool:
    """Whether two loops with an array in common pass the other cheap tests for merging.

    Both have the same trip count, and are short.
    """
    if first.trips != second.trips:
        return False
    size = 2 + block_size(first.body) + block_size(second.body)
    return size <= MOST and _is_plain(first.body)


@remembered
def _is_plain(body: Block) -> bool:
    """Whether a loop contains no while loop, call or print."""
    return not any(isinstance(s, While | Call | Print) for s in walk(body.stmts))


@remembered
def _is_innermost(body: Block) -> bool:
    return not any(isinstance(s, For) for s in walk(body.stmts))


def _share(first: Block, second: Block, array: Value) -> bool:
    """Whether two bodies that read an array may read the same elements of it."""
    one: list[Access] = []
    other: list[Access] = []
    known = only_loads(first.stmts, array, one) and only_loads(second.stmts, array, other)
    return not known or _meet(one, other)


def _meet(some: Sequence[Access], others: Sequence[Access]) -> bool:
    """Whether accesses to an array may be to the same elements: no index differs by constants."""
    return any(
        not any(
            isinstance(i, Literal) and isinstance(j, Literal) and i != j
            for i, j in zip(a.index, b.index, strict=True)
        )
        for a in some
        for b in others
    )


def _only_loads(block: Block, array: Value, found: list[Access]) -> bool:
    return array not in block.yields and only_loads(block.stmts, array, found)


def _merged(first: For, second: For, link: _Link) -> For:
    """Return one loop that does an iteration of the first, then one of the second."""
    env: dict[Value, Operand] = {**link.env_second, second.index: first.index}
    for k, j in link.united:
        env[second.body.params[j]] = first.body.yields[k]
    body = substitute_block(second.body, env)
    own = substitute_block(first.body, link.env_first)
    dropped = {k for k, _ in link.united}
    partner = {j: k for k, j in link.united}
    stay = [k for k in range(len(first.init)) if k not in dropped]
    params = [own.params[k] for k in stay]
    yields = [own.yields[k] for k in stay]
    init = [first.init[k] for k in stay]
    results = [first.results[k] for k in stay]
    for j, result in enumerate(second.results):
        one = partner.get(j)
        params.append(own.params[one] if one is not None else body.params[j])
        init.append(first.init[one] if one is not None else second.init[j])
        yields.append(body.yields[j])
        results.append(result)
    return replace(
        first,
        results=tuple(results),
        init=tuple(init),
        body=Block(tuple(params), (*own.stmts, *body.stmts), tuple(yields)),
    )
