"""The analysis of `gather`: find additions to neighbouring elements, and their operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.sizes.affine import Facts, Form
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Literal,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    walk,
)
from adc.ir.ops import arith
from adc.ir.types import INT, Array
from adc.ir.walk import bound, loop_values, map_blocks, use_counts

# The largest distance between elements that one iteration adds to: each step is a statement.
MAX_SPAN = 8
# How many operations on values that are read again are still cheap.
MAX_OPERATIONS = 4
# Rows that do not overlap hinder vectorization only from this many on.
ROWS = 3
# How many additions justify the filling of a temporary array.
WORTH = 2
_CHEAP = frozenset((arith.neg, arith.add, arith.sub, arith.mul, arith.xmuly))


# -- what is added ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Same:
    """A number that is the same in all iterations: known outside, or recalled from there."""

    value: Operand
    recalled: bool = False


@dataclass(frozen=True)
class Read:
    """An element that has the same value after, or before, the nest as when the iteration reads it.

    `array` is one from outside, or the position of one that the nest carries.
    """

    array: Value | int
    index: tuple[Form, ...]


@dataclass(frozen=True)
class Kept:
    """A number that the iteration stores in a temporary array."""

    value: Value


@dataclass(frozen=True)
class Operation:
    stmt: Apply
    args: tuple[Term, ...]


Term = Same | Read | Kept | Operation


def parts(term: Term) -> Iterable[Term]:
    yield term
    if isinstance(term, Operation):
        for arg in term.args:
            yield from parts(arg)


@dataclass(frozen=True)
class Addition:
    """What an iteration adds to an element at a constant distance from its counters."""

    store: Store
    offset: tuple[int, ...]  # along the axes that follow counters
    term: Term


# -- where it is added -----------------------------------------------------------------------------


@dataclass(eq=False)
class Chain:
    """An array carried through nested loops to the innermost one, which adds to its elements."""

    loops: list[Reverse]
    positions: list[int]
    stores: list[Store]


@dataclass(eq=False)
class Group:
    """Additions to one array whose indices differ by constants."""

    chain: Chain
    axes: tuple[int, ...]  # that follow counters
    levels: tuple[int, ...]  # of the loops whose counters they are
    base: tuple[Form, ...]  # the index of all axes, without counters and their offsets
    additions: list[Addition]
    before: bool = False


@dataclass(eq=False)
class Temporary:
    value: Value  # its element in an iteration
    loops: tuple[Reverse, ...]
    levels: tuple[int, ...]
    version: Value | None = None


@dataclass
class Plan:
    """How a nest is rewritten."""

    groups: list[Group] = field(default_factory=list)
    temporaries: dict[tuple[int, tuple[int, ...], Value], Temporary] = field(default_factory=dict)


class Finder:
    """Finds what to gather in one function, `forward` being the one that has its forward code.

    Attributes
    ----------
    plans : dict
        By the identity of an outermost loop, how the nest is rewritten.
    taken : set of Value
        The results of stores that are removed.
    passing : dict
        By the identity of a loop, the temporary arrays that it carries.
    """

    def __init__(self, fn: Function, forward: Function) -> None:
        self.fn = fn
        self.uses = use_counts(fn)
        self.facts = Facts()
        self.loops: dict[str, For] = {}
        # Arrays that are not changed before reverse code is done.
        self.params = () if fn.mirror else fn.params
        self.defs: dict[Value, Stmt] = {}
        self.plans: dict[int, Plan] = {}
        self.taken: set[Value] = set()
        self.passing: dict[int, list[Temporary]] = {}
        # Reverse code begins with a recall, or without any use of integers.
        self.forward: set[Value] = set(forward.params)
        for stmt in forward.body:
            if isinstance(stmt, Recall | Reverse):
                break
            self.forward.update(bound((stmt,)))
        for stmt in walk(forward.body):
            if isinstance(stmt, For):
                self.loops[stmt.label] = stmt
            if forward is not fn:
                self.facts.define(stmt)
        for stmt in walk(fn.body):
            self.learn(stmt)

    def learn(self, stmt: Stmt) -> None:
        """Record facts about integers; those of a mirrored iteration are the forward ones."""
        self.defs.update(dict.fromkeys(stmt.results, stmt))
        match stmt:
            case Apply():
                self.facts.define(stmt)
            case Recall(result=result, value=value):
                if result.type == INT:
                    self.facts.forms[result] = self.facts.form(value)
            case Reverse(loop=label, index=index) if label in self.loops:
                self.facts.forms[index] = self.facts.form(self.loops[label].index)

    def run(self) -> None:
        self.find(self.fn.body)

    # -- nests -----------------------------------------------------------------------------

    def find(self, stmts: Sequence[Stmt]) -> None:
        """Plan every nest, outermost suitable loops first."""
        for stmt in stmts:
            if isinstance(stmt, Reverse):
                for at in range(len(stmt.init)):
                    chain = self.chain(stmt, at)
                    if chain is not None:
                        self.plan(chain)
            map_blocks(stmt, self._find_in)

    def _find_in(self, block: Block) -> Block:
        self.find(block.stmts)
        return block

    def chain(self, root: Reverse, at: int) -> Chain | None:
        """Return the loops that carry an array inwards, if it is only added to."""
        loops, positions = [root], [at]
        while True:
            loop, at = loops[-1], positions[-1]
            if loop.loop not in self.loops:
                return None
            version = loop.body.params[at]
            if not isinstance(version.type, Array):
                return None
            stores: list[Store] = []
            inner: Reverse | None = None
            for stmt in loop.body.stmts:
                if isinstance(stmt, Store) and stmt.array == version and stmt.accumulate:
                    stores.append(stmt)
                elif isinstance(stmt, Reverse) and version in stmt.init and not (stores or inner):
                    inner = stmt
                else:
                    continue
                if self.uses.get(version, 0) != 1 or (inner is not None and stmt is not inner):
                    return None
                if inner is stmt:
                    positions.append(inner.init.index(version))
                    version = inner.results[positions[-1]]
                else:
                    version = stmt.results[0]
            if loop.body.yields[at] != version or self.uses.get(version, 0) != 1:
                return None
            if inner is None:
                return Chain(loops, positions, stores)
            loops.append(inner)

    def plan(self, chain: Chain) -> None:
        """Plan the groups of additions that one nest makes to one array."""
        stores = [store for store in chain.stores if store.result not in self.taken]
        if len(stores) < 2:
            return
        trips = [self.loops[loop.loop].trips for loop in chain.loops]
        counters = [self.counter(loop) for loop in chain.loops]
        varying = self.varying(chain.loops[0])
        if not all(self.invariant(count, varying) for count in trips):
            return
        found: dict[tuple[tuple[int, ...], tuple[int, ...], tuple[Form, ...]], list[Addition]] = {}
        for store in stores:
            axes: list[int] = []
            levels: list[int] = []
            base: list[Form] = []
            offset: list[int] = []
            for axis, operand in enumerate(store.index):
                form = self.facts.form(operand)
                moving = [value for value, _ in form.terms if value in varying]
                if any(value.type != INT for value, _ in form.terms):
                    break
                if not moving:
                    base.append(form)
                elif (
                    len(moving) == 1 and moving[0] in counters and form.coefficient(moving[0]) == 1
                ):
                    axes.append(axis)
                    levels.append(counters.index(moving[0]))
                    base.append(Form(form.without(moving[0]).terms, 0))
                    offset.append(form.const)
                else:
                    break
            if len(base) == len(store.index) and sorted(levels) == list(range(len(counters))):
                key = (tuple(axes), tuple(levels), tuple(base))
                found.setdefault(key, []).append(Addition(store, tuple(offset), Same(store.value)))
        for (axes_, levels_, base_), additions in found.items():
            spans = distances(additions)
            if not any(spans) or max(spans) > MAX_SPAN:
                continue
            if not spans[-1] and len({each.offset for each in additions}) < ROWS:
                continue
            group = Group(chain, axes_, levels_, base_, additions)
            for before in (True, False):
                group.before = before
                group.additions = [
                    replace(each, term=self.term(each.store.value, chain, varying, before))
                    for each in additions
                ]
                kept = [p for each in group.additions for p in parts(each.term)
                        if isinstance(p, Kept)]  # fmt: skip
                if not kept:
                    break
            if WORTH * len({part.value for part in kept}) <= len(additions):
                self.accept(group, kept)

    def accept(self, group: Group, kept: Sequence[Kept]) -> None:
        chain = group.chain
        plan = self.plans.setdefault(id(chain.loops[0]), Plan())
        plan.groups.append(group)
        self.taken.update(each.store.result for each in group.additions)
        for loop in chain.loops:
            self.passing.setdefault(id(loop), [])
        for part in kept:
            key = (id(chain.loops[-1]), group.levels, part.value)
            if key not in plan.temporaries:
                made = Temporary(part.value, tuple(chain.loops), group.levels)
                plan.temporaries[key] = made
                for loop in chain.loops:
                    self.passing[id(loop)].append(made)

    def counter(self, loop: Reverse) -> Value:
        return self.loops[loop.loop].index

    def invariant(self, operand: Operand, varying: set[Value]) -> bool:
        """Whether an integer is available outside a nest."""
        if isinstance(operand, Literal) or operand.type != INT or operand not in varying:
            return operand.type == INT
        form = self.facts.form(operand)
        if form != itself(operand):
            return all(self.invariant(value, varying) for value, _ in form.terms)
        stmt = self.facts.defs.get(operand)
        return (
            stmt is not None
            and stmt.op in (arith.maximum, arith.minimum)
            and all(self.invariant(arg, varying) for arg in stmt.args)
        )

    def varying(self, root: Reverse) -> set[Value]:
        """Return the values that may differ between iterations of a nest and of its mirror."""
        return loop_values(root) | loop_values(self.loops[root.loop])

    # -- what is added -------------------------------------------------------------------------

    def term(
        self,
        operand: Operand,
        chain: Chain,
        varying: set[Value],
        before: bool,
        depth: int = MAX_OPERATIONS,
    ) -> Term:
        """Return how the gathering code obtains a number of an iteration."""
        if isinstance(operand, Literal) or operand not in varying:
            return Same(operand)
        stmt = self.defs.get(operand)
        if isinstance(stmt, Recall):
            if stmt.value not in varying:
                return Same(stmt.value, recalled=True)
            stmt = self.defs.get(stmt.value)
            if not isinstance(stmt, Load) or stmt.array not in self.params:
                return Kept(operand)
        if isinstance(stmt, Load):
            array = self.origin(stmt, chain, varying, before)
            index = tuple(self.facts.form(at) for at in stmt.index)
            known = {self.counter(loop) for loop in chain.loops}
            if array is not None and all(
                value.type == INT and (value in known or value not in varying)
                for form in index
                for value, _ in form.terms
            ):
                return Read(array, index)
        elif isinstance(stmt, Apply) and stmt.op in _CHEAP and depth:
            args = tuple(self.term(arg, chain, varying, before, depth - 1) for arg in stmt.args)
            made = Operation(stmt, args)
            moving = sum(not isinstance(arg, Same) for arg in args)
            if moving <= 1 or not any(isinstance(part, Kept) for part in parts(made)):
                size = sum(isinstance(part, Operation) for part in parts(made))
                if size <= MAX_OPERATIONS:
                    return made
        return Kept(operand)

    def origin(
        self, load: Load, chain: Chain, varying: set[Value], before: bool
    ) -> Value | int | None:
        """Return the array that has, at the nest, the same element as the one that is loaded."""
        array = load.array
        if array not in varying:
            return array
        position = None
        for loop in reversed(chain.loops):
            if array in loop.body.params:
                at = loop.body.params.index(array)
                if loop.body.yields[at] != array and not self.own(load, chain, before):
                    return None
                if loop is chain.loops[0]:
                    position = at
                else:
                    outer = loop.init[at]
                    assert isinstance(outer, Value)
                    array = outer
        if position is None and array not in varying:
            return array
        return position

    def own(self, load: Load, chain: Chain, before: bool) -> bool:
        """Whether an element is changed only by the iteration that has loaded it."""
        index = tuple(self.facts.form(operand) for operand in load.index)
        counters = [self.counter(loop) for loop in chain.loops]
        varying = self.varying(chain.loops[0])
        moving = [[v for v, _ in form.terms if v in varying] for form in index]
        own_axes = sorted(each[0].name for each in moving if len(each) == 1)
        if not before or own_axes != sorted(counter.name for counter in counters):
            return False
        # The load is the first to touch it, and all touch the same element.
        innermost = chain.loops[-1]
        version: Value = load.array
        if version not in innermost.body.params:
            return False
        at = innermost.body.params.index(version)
        reads = 0
        for stmt in innermost.body.stmts:
            if isinstance(stmt, Load | Store) and stmt.array == version:
                reads += 1
                if tuple(self.facts.form(operand) for operand in stmt.index) != index:
                    return False
                if isinstance(stmt, Store):
                    if reads != self.uses.get(version, 0):
                        return False
                    version, reads = stmt.result, 0
        if innermost.body.yields[at] != version or reads + 1 != self.uses.get(version, 0):
            return False
        # Outer loops carry it.
        for outer, inner in zip(reversed(chain.loops[:-1]), reversed(chain.loops[1:]), strict=True):
            init, result = inner.init[at], inner.results[at]
            if not isinstance(init, Value) or init not in outer.body.params:
                return False
            at = outer.body.params.index(init)
            if outer.body.yields[at] != result:
                return False
            if self.uses.get(init, 0) != 1 or self.uses.get(result, 0) != 1:
                return False
        return True


def itself(value: Value) -> Form:
    return Form(((value, 1),), 0)


def distances(additions: Sequence[Addition]) -> list[int]:
    """Return the distances between additions along every axis that follows a counter."""
    return [max(along) - min(along) for along in zip(*(a.offset for a in additions), strict=True)]
