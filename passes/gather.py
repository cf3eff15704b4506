"""Gather the cotangents of shifted reads, so that reverse code of stencils vectorises.

The adjoint of a nest that reads an array at neighbouring places adds to neighbouring elements of
its cotangent. Iterations then change elements that others change, too, one after the other. Here
every element gets all that is added to it at once.

Before::

    %x.ct.3 = reverse L0 %i.r carrying (%x.ct = %x.ct.4) {
      %v = load %y.ct[%i.r]
      %x.ct.1 = accumulate %x.ct[%i.r] %v
      %j.r = recall %j                        (%j = add 1 %i)
      %x.ct.2 = accumulate %x.ct.1[%j.r] %v
      yield %x.ct.2
    }

After, in short::

    for q in range(n - 1):
        x.ct[q + 1] += y.ct[q + 1] + y.ct[q]
    if n >= 1:
        x.ct[0] += y.ct[0]
        x.ct[n] += y.ct[n - 1]

If the places lie further apart, there may be fewer iterations than all of that needs; then it is
done as before.

What is added is read again for each element where it can be: a load of an array that the nest does
not change before, times what is the same in all iterations. Anything else is kept in a temporary
array, which the nest fills in its own order.

Where the nest has more loops, this is done with the rows to which all the iterations that add to
them exist; those around take what there is, one addition after another. The loops in the middle are
under no condition: LLVM makes worse code of those that are.

The only bits that this changes are those of sums of what is added to one element, the same under
every plan, because it runs before `remat`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from adc.ir.builder import Builder, integer
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
from adc.ir.types import INT, Array
from adc.ir.walk import (
    Names,
    inner_values,
    map_blocks,
    map_operands,
    substitute,
    substitute_block,
    use_counts,
)
from adc.passes.affine import Facts, Form, constant
from adc.passes.dce import dce

_T = TypeVar("_T")

# How far apart the elements that one iteration adds to may lie: every step is a statement.
MAX_SPAN = 8
# How many operations on what is read again are still cheap.
MAX_OPERATIONS = 4
# Rows that do not overlap are no hindrance to vectors until they are so many.
ROWS = 3
# How many additions make up for the filling of a temporary array.
WORTH = 2
_CHEAP = frozenset(("neg", "add", "sub", "mul"))


def gather(fn: Function) -> Function:
    """Return `fn` with additions to neighbouring elements gathered."""
    functions = {each.name: each for each in (*fn.callees, fn)}
    names = Names()
    for each in functions.values():
        names.add(Names.of(each))
    done: dict[str, Function] = {}
    for each in functions.values():
        forward = functions.get(each.mirror, each)
        done[each.name] = _Gather(each, forward, names).run()
    if all(done[name] is each for name, each in functions.items()):
        return fn
    return dce(replace(done[fn.name], callees=tuple(done[each.name] for each in fn.callees)))


# -- what is added ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Same:
    """A number that is the same in all iterations: known outside, or recalled from there."""

    value: Operand
    recalled: bool = False


@dataclass(frozen=True)
class _Read:
    """An element that still is, behind or before the nest, what the iteration reads.

    `array` is one from outside, or the position of one that the nest carries.
    """

    array: Value | int
    index: tuple[Form, ...]


@dataclass(frozen=True)
class _Kept:
    """A number that the iteration puts into a temporary array."""

    value: Value


@dataclass(frozen=True)
class _Operation:
    stmt: Apply
    args: tuple[_Term, ...]


_Term = _Same | _Read | _Kept | _Operation


def _parts(term: _Term) -> Iterable[_Term]:
    yield term
    if isinstance(term, _Operation):
        for arg in term.args:
            yield from _parts(arg)


@dataclass(frozen=True)
class _Addition:
    """What an iteration adds to an element at a constant distance from its counters."""

    store: Store
    offset: tuple[int, ...]  # along the axes that follow counters
    term: _Term


# -- where it is added -----------------------------------------------------------------------------


@dataclass(eq=False)
class _Chain:
    """An array that nested loops hand down to the innermost one, which adds to elements of it."""

    loops: list[Reverse]
    positions: list[int]
    stores: list[Store]


@dataclass(eq=False)
class _Group:
    """Additions to one array whose places differ by constants."""

    chain: _Chain
    axes: tuple[int, ...]  # that follow counters
    levels: tuple[int, ...]  # of the loops whose counters they are
    base: tuple[Form, ...]  # the place of all axes, without counters and their offsets
    additions: list[_Addition]
    before: bool = False


@dataclass(eq=False)
class _Temporary:
    value: Value  # what is kept
    loops: tuple[Reverse, ...]
    levels: tuple[int, ...]
    version: Value | None = None


@dataclass
class _Plan:
    """What becomes of a nest."""

    groups: list[_Group] = field(default_factory=list)
    temporaries: dict[tuple[int, tuple[int, ...], Value], _Temporary] = field(default_factory=dict)


class _Gather:
    def __init__(self, fn: Function, forward: Function, names: Names) -> None:
        self.fn = fn
        self.uses = use_counts(fn)
        self.builder = Builder(names)
        self.facts = Facts()
        self.loops: dict[str, For] = {}
        # Arrays that nobody changes before reverse code is done.
        self.params = () if fn.mirror else fn.params
        self.defs: dict[Value, Stmt] = {}
        self.env: dict[Value, Operand] = {}
        self.plans: dict[int, _Plan] = {}
        self.taken: set[Value] = set()
        self.passing: dict[int, list[_Temporary]] = {}
        # Reverse code begins with a recall, or without any use of integers.
        self.forward: set[Value] = set(forward.params)
        for stmt in forward.body:
            if isinstance(stmt, Recall | Reverse):
                break
            for each in walk((stmt,)):
                self.forward.update((*each.results, *inner_values(each)))
        for stmt in walk(forward.body):
            if isinstance(stmt, For):
                self.loops[stmt.label] = stmt
            if forward is not fn:
                self.facts.define(stmt)
        for stmt in walk(fn.body):
            self.learn(stmt)

    def learn(self, stmt: Stmt) -> None:
        """Note what is known of integers; those of a mirrored iteration are the forward ones."""
        self.defs.update(dict.fromkeys(stmt.results, stmt))
        match stmt:
            case Apply():
                self.facts.define(stmt)
            case Recall(result=result, value=value):
                if result.type == INT:
                    self.facts.forms[result] = self.facts.form(value)
            case Reverse(loop=label, index=index) if label in self.loops:
                self.facts.forms[index] = self.facts.form(self.loops[label].index)

    def run(self) -> Function:
        self.find(self.fn.body)
        if not self.plans:
            return self.fn
        body = self.stmts(self.fn.body)
        results = tuple(substitute(operand, self.env) for operand in self.fn.results)
        return self.fn.with_body(body, results)

    # -- what is found -------------------------------------------------------------------------

    def find(self, stmts: Sequence[Stmt]) -> None:
        """Plan every nest, the outermost loops that will do first."""
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

    def chain(self, root: Reverse, at: int) -> _Chain | None:
        """Return the loops that hand down an array, if it is nothing but added to."""
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
                return _Chain(loops, positions, stores)
            loops.append(inner)

    def plan(self, chain: _Chain) -> None:
        """Plan the groups of additions that one nest makes to one array."""
        stores = [store for store in chain.stores if store.result not in self.taken]
        if len(stores) < 2:
            return
        trips = [self.loops[loop.loop].trips for loop in chain.loops]
        counters = [self.counter(loop) for loop in chain.loops]
        varying = self.varying(chain.loops[0])
        if not all(self.invariant(count, varying) for count in trips):
            return
        found: dict[tuple[tuple[int, ...], tuple[int, ...], tuple[Form, ...]], list[_Addition]] = {}
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
                found.setdefault(key, []).append(
                    _Addition(store, tuple(offset), _Same(store.value))
                )
        for (axes_, levels_, base_), additions in found.items():
            spans = _spans(additions)
            if not any(spans) or max(spans) > MAX_SPAN:
                continue
            if not spans[-1] and len({each.offset for each in additions}) < ROWS:
                continue
            group = _Group(chain, axes_, levels_, base_, additions)
            for before in (True, False):
                group.before = before
                group.additions = [
                    replace(each, term=self.term(each.store.value, chain, varying, before))
                    for each in additions
                ]
                kept = [p for each in group.additions for p in _parts(each.term)
                        if isinstance(p, _Kept)]  # fmt: skip
                if not kept:
                    break
            if WORTH * len({part.value for part in kept}) <= len(additions):
                self.accept(group, kept)

    def accept(self, group: _Group, kept: Sequence[_Kept]) -> None:
        chain = group.chain
        plan = self.plans.setdefault(id(chain.loops[0]), _Plan())
        plan.groups.append(group)
        self.taken.update(each.store.result for each in group.additions)
        for loop in chain.loops:
            self.passing.setdefault(id(loop), [])
        for part in kept:
            key = (id(chain.loops[-1]), group.levels, part.value)
            if key not in plan.temporaries:
                made = _Temporary(part.value, tuple(chain.loops), group.levels)
                plan.temporaries[key] = made
                for loop in chain.loops:
                    self.passing[id(loop)].append(made)

    def counter(self, loop: Reverse) -> Value:
        return self.loops[loop.loop].index

    def invariant(self, operand: Operand, varying: set[Value]) -> bool:
        """Whether an integer can be had outside a nest."""
        if isinstance(operand, Literal) or operand.type != INT or operand not in varying:
            return operand.type == INT
        form = self.facts.form(operand)
        if form != _itself(operand):
            return all(self.invariant(value, varying) for value, _ in form.terms)
        stmt = self.facts.defs.get(operand)
        return (
            stmt is not None
            and stmt.op.name in ("maximum", "minimum")
            and all(self.invariant(arg, varying) for arg in stmt.args)
        )

    def varying(self, root: Reverse) -> set[Value]:
        """Return what may differ between iterations of a nest and of the one it mirrors."""
        found: set[Value] = set()
        mirrored = self.loops[root.loop]
        for each in (root, mirrored):
            for stmt in walk((each,)):
                found.update(inner_values(stmt))
                found.update(stmt.results if stmt is not each else ())
        return found

    # -- what is added -------------------------------------------------------------------------

    def term(
        self,
        operand: Operand,
        chain: _Chain,
        varying: set[Value],
        before: bool,
        depth: int = MAX_OPERATIONS,
    ) -> _Term:
        """Return how the gathering code gets a number of an iteration."""
        if isinstance(operand, Literal) or operand not in varying:
            return _Same(operand)
        stmt = self.defs.get(operand)
        if isinstance(stmt, Recall):
            if stmt.value not in varying:
                return _Same(stmt.value, recalled=True)
            stmt = self.defs.get(stmt.value)
            if not isinstance(stmt, Load) or stmt.array not in self.params:
                return _Kept(operand)
        if isinstance(stmt, Load):
            array = self.origin(stmt, chain, varying, before)
            index = tuple(self.facts.form(at) for at in stmt.index)
            known = {self.counter(loop) for loop in chain.loops}
            if array is not None and all(
                value.type == INT and (value in known or value not in varying)
                for form in index
                for value, _ in form.terms
            ):
                return _Read(array, index)
        elif isinstance(stmt, Apply) and stmt.op.name in _CHEAP and depth:
            args = tuple(self.term(arg, chain, varying, before, depth - 1) for arg in stmt.args)
            made = _Operation(stmt, args)
            moving = sum(not isinstance(arg, _Same) for arg in args)
            if moving <= 1 or not any(isinstance(part, _Kept) for part in _parts(made)):
                size = sum(isinstance(part, _Operation) for part in _parts(made))
                if size <= MAX_OPERATIONS:
                    return made
        return _Kept(operand)

    def origin(
        self, load: Load, chain: _Chain, varying: set[Value], before: bool
    ) -> Value | int | None:
        """Return where an array comes from that has, at the nest, the element that is loaded."""
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

    def own(self, load: Load, chain: _Chain, before: bool) -> bool:
        """Whether nobody changes an element but the iteration that has loaded it."""
        index = tuple(self.facts.form(operand) for operand in load.index)
        counters = [self.counter(loop) for loop in chain.loops]
        varying = self.varying(chain.loops[0])
        moving = [[v for v, _ in form.terms if v in varying] for form in index]
        apart = sorted(each[0].name for each in moving if len(each) == 1)
        if not before or apart != sorted(counter.name for counter in counters):
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
        # Outer loops hand it on.
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

    # -- rewriting -----------------------------------------------------------------------------

    def read(self, operand: Operand) -> Operand:
        return substitute(operand, self.env)

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        with self.builder.block() as made:
            for stmt in stmts:
                if isinstance(stmt, Store) and stmt.result in self.taken:
                    self.env[stmt.result] = stmt.array
                elif isinstance(stmt, Reverse) and id(stmt) in self.plans:
                    self.nest(stmt, self.plans[id(stmt)])
                elif isinstance(stmt, Reverse) and id(stmt) in self.passing:
                    made.append(self.loop(stmt))
                else:
                    stmt = map_operands(stmt, self.read)
                    made.append(map_blocks(stmt, self.block))
        return tuple(made)

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block.stmts)
        return Block(block.params, stmts, tuple(self.read(v) for v in block.yields))

    def nest(self, root: Reverse, plan: _Plan) -> None:
        init: list[Operand] = [self.read(operand) for operand in root.init]
        for temporary in plan.temporaries.values():
            varying = self.varying(temporary.loops[0])
            sizes = [self.size(temporary.loops[level], varying) for level in temporary.levels]
            dtype = temporary.value.type.dtype
            hint = f"{temporary.value.name}.all"
            temporary.version = self.builder.apply("empty", *sizes, params=(dtype,), hint=hint)
        for group in plan.groups:
            if group.before:
                at = group.chain.positions[0]
                init[at] = _Gathering(self, group, init, plan).run(init[at])
        loop = self.loop(replace(root, init=tuple(init)), root)
        self.builder.emit(loop)
        for group in plan.groups:
            if not group.before:
                at = group.chain.positions[0]
                result = root.results[at]
                self.env[result] = _Gathering(self, group, init, plan).run(self.read(result))

    def loop(self, loop: Reverse, key: Reverse | None = None) -> Reverse:
        """Return a loop that hands down the temporary arrays, and drops what it does not change."""
        passing = self.passing.get(id(key or loop), [])
        init = [self.read(operand) for operand in loop.init]
        params = list(loop.body.params)
        results = list(loop.results)
        for temporary in passing:
            assert temporary.version is not None
            init.append(temporary.version)
            temporary.version = self.builder.names.value(temporary.version)
            params.append(temporary.version)
        stmts = list(self.stmts(loop.body.stmts))
        yields = [self.read(operand) for operand in loop.body.yields]
        for temporary in passing:
            assert temporary.version is not None
            if temporary.loops[-1] is (key or loop):
                index = [temporary.loops[level].index for level in temporary.levels]
                with self.builder.block() as made:
                    temporary.version = self.builder.store(
                        temporary.version, index, self.read(temporary.value)
                    )
                stmts += made
            yields.append(temporary.version)
            temporary.version = self.builder.names.value(temporary.version)
            results.append(temporary.version)
        unchanged = [a == b for a, b in zip(params, yields, strict=True)]
        outside: dict[Value, Operand] = {}
        for k, same in enumerate(unchanged):
            if same:
                outside[params[k]] = init[k]
                self.env[results[k]] = init[k]
        block = Block(_left(params, unchanged), tuple(stmts), _left(yields, unchanged))
        return replace(
            loop,
            init=_left(init, unchanged),
            results=_left(results, unchanged),
            body=substitute_block(block, outside),
        )

    def size(self, loop: Reverse, varying: set[Value]) -> Operand:
        trips = self.loops[loop.loop].trips
        found = self.outside(trips, varying)
        if self.facts.proves(self.facts.form(trips)):
            return found
        return self.builder.apply("maximum", found, integer(0), hint="n")

    def outside(self, operand: Operand, varying: set[Value]) -> Operand:
        """Return a value from before the nest, recalled if it is one of the forward code."""
        if isinstance(operand, Value) and operand in varying:
            form = self.facts.form(operand)
            if form != _itself(operand):
                return self.written(form, lambda value: self.outside(value, varying))
            stmt = self.facts.defs[operand]
            args = [self.outside(arg, varying) for arg in stmt.args]
            return self.builder.apply(stmt.op, *args, params=stmt.params, hint="n")
        if isinstance(operand, Value) and operand in self.forward:
            return self.builder.recall(operand)
        return self.read(operand)

    def written(self, form: Form, read: Callable[[Value], Operand]) -> Operand:
        """Write an integer."""
        apply = self.builder.apply
        total: Operand | None = None
        for value, factor in sorted(form.terms, key=lambda term: term[1] < 0):
            operand = read(value)
            if total is not None and factor == -1:
                total = apply("sub", total, operand, hint="i")
                continue
            if factor != 1:
                operand = apply("mul", integer(factor), operand, hint="i")
            total = operand if total is None else apply("add", total, operand, hint="i")
        if total is None:
            return integer(form.const)
        if form.const:
            name = "add" if form.const > 0 else "sub"
            return apply(name, total, integer(abs(form.const)), hint="i")
        return total


class _Gathering:
    """Writes the loops that gather one group of additions."""

    def __init__(self, made: _Gather, group: _Group, init: Sequence[Operand], plan: _Plan) -> None:
        self.made = made
        self.builder = made.builder
        self.group = group
        self.init = init
        self.temporaries = plan.temporaries
        self.spans = _spans(group.additions)
        least = [min(along) for along in zip(*(a.offset for a in group.additions), strict=True)]
        self.base = list(group.base)
        for axis, first in zip(group.axes, least, strict=True):
            self.base[axis] += first
        # How many elements further than the first of those it adds to, along every axis.
        self.shifts = [
            tuple(own - first for own, first in zip(each.offset, least, strict=True))
            for each in group.additions
        ]
        loops = [group.chain.loops[level] for level in group.levels]
        self.counters = [made.counter(loop) for loop in loops]
        self.known: dict[Operand, Operand] = {}
        self.varying = made.varying(group.chain.loops[0])
        self.trips = [self.outside(made.loops[loop.loop].trips) for loop in loops]
        for axis in range(len(self.base)):
            for value, _ in self.base[axis].terms:
                self.outside(value)
        for each in group.additions:
            for part in _parts(each.term):
                if isinstance(part, _Read):
                    if isinstance(part.array, Value) and part.array in made.params:
                        self.outside(part.array)
                    for form in part.index:
                        for value, _ in form.terms:
                            if value not in self.counters:
                                self.outside(value)
                elif isinstance(part, _Same) and part.recalled:
                    self.outside(part.value)

    def apply(self, op: str, *args: Operand) -> Value:
        return self.builder.apply(op, *args, hint="n")

    def outside(self, operand: Operand) -> Operand:
        if operand not in self.known:
            self.known[operand] = self.made.outside(operand, self.varying)
        return self.known[operand]

    def run(self, array: Operand) -> Value:
        """Write the loops over the elements of `array`; return what it becomes."""
        assert isinstance(array, Value)
        if len(self.spans) == 1:
            return self.row(array, [])
        whole = None
        if self.spans[-1]:
            # A row can be summed at once if it is long enough for its ends to be apart.
            whole = self.apply("ge", self.trips[-1], integer(self.spans[-1]))
        return self.rows(array, [], whole)

    def rows(self, array: Value, at: list[Value], whole: Operand | None) -> Value:
        """Write the loops over the rows behind those `at`.

        Nothing is added twice to a row, or left out: the rows in the middle, to which all additions
        are made by iterations that exist, are summed at once if `whole`, the others are left to
        `lacking`.
        """
        axis = len(at)
        span, trips = self.spans[axis], self.trips[axis]
        rows = self.apply("add", trips, integer(span)) if span else trips
        if axis < len(self.spans) - 2:

            def along(version: Value, row: Value) -> Value:
                conditions = [] if whole is None else [whole]
                if span:
                    conditions.append(self.apply("ge", row, integer(span)))
                    conditions.append(self.apply("lt", row, trips))
                return self.rows(version, [*at, row], self.all(conditions))

            return self.over(rows, array, along)
        middle = trips
        if span:
            middle = self.apply("maximum", self.apply("sub", trips, integer(span)), integer(0))
        if whole is not None:
            middle = self.apply("select", whole, middle, integer(0))

        def within(version: Value, k: Value) -> Value:
            row = self.apply("add", k, integer(span)) if span else k
            return self.row(version, [*at, row])

        def around(version: Value, k: Value) -> Value:
            row: Operand = self.apply("add", k, middle)
            if span:
                row = self.apply("select", self.apply("lt", k, integer(span)), k, row)
            assert isinstance(row, Value)
            return self.lacking(version, [*at, row])

        array = self.over(middle, array, within)
        if not span and whole is None:
            return array
        return self.over(self.apply("sub", rows, middle), array, around)

    def all(self, conditions: Sequence[Operand]) -> Operand | None:
        found: Operand | None = None
        for each in conditions:
            found = each if found is None else self.apply("and", found, each)
        return found

    def over(self, trips: Operand, array: Value, body: Callable[[Value, Value], Value]) -> Value:
        """Write a loop that hands `array` from one iteration to the next."""
        names = self.builder.names
        index = Value(names.fresh("p"), INT)
        param = names.value(array)
        with self.builder.block() as stmts:
            last = body(param, index)
        result = names.value(array)
        label = names.fresh(f"{self.group.chain.loops[0].loop}.gather")
        block = Block((param,), tuple(stmts), (last,))
        loc = self.group.chain.loops[0].loc
        self.builder.emit(For((result,), label, index, trips, (array,), block, loc=loc))
        return result

    def choose(
        self, cond: Operand, array: Value, then: Callable[[Value], Value],
        orelse: Callable[[Value], Value],
    ) -> Value:  # fmt: skip
        blocks = []
        for arm in (then, orelse):
            with self.builder.block() as stmts:
                last = arm(array)
            blocks.append(Block((), tuple(stmts), (last,)))
        return self.builder.if_(cond, blocks[0], blocks[1], [array.name])[0]

    def row(self, array: Value, at: list[Value]) -> Value:
        """Write the sums of all that is added to each element of a row."""
        span, trips = self.spans[-1], self.trips[-1]
        rows = [_itself(index) for index in at]
        additions = list(zip(self.group.additions, self.shifts, strict=True))
        middle = self.apply("sub", trips, integer(span)) if span else trips
        array = self.over(
            middle,
            array,
            lambda version, k: self.add(version, [*rows, Form(((k, 1),), span)], additions),
        )

        def ends(version: Value) -> Value:
            behind = constant(int(trips.value)) if isinstance(trips, Literal) else _itself(trips)
            for k in range(span):
                first = [(each, shift) for each, shift in additions if shift[-1] <= k]
                last = [(each, shift) for each, shift in additions if shift[-1] > k]
                version = self.add(version, [*rows, constant(k)], first)
                version = self.add(version, [*rows, behind + k], last)
            return version

        if at or not span:
            return ends(array)
        fits = self.apply("ge", trips, integer(span))
        if span == 1:  # otherwise there are no iterations
            return self.choose(fits, array, ends, lambda version: version)
        return self.choose(fits, array, ends, lambda version: self.lacking(version, at))

    def lacking(self, array: Value, at: list[Value]) -> Value:
        """Write what the iterations that there are add to a row."""
        places = [_itself(index) for index in at]
        groups: dict[tuple[int, ...], list[tuple[_Addition, tuple[int, ...]]]] = {}
        for each, shift in zip(self.group.additions, self.shifts, strict=True):
            groups.setdefault(shift[:-1], []).append((each, shift))
        for shifts, additions in groups.items():

            def along(
                version: Value,
                k: Value,
                additions: list[tuple[_Addition, tuple[int, ...]]] = additions,
            ) -> Value:
                for each, shift in additions:
                    place = Form(((k, 1),), shift[-1])
                    version = self.add(version, [*places, place], [(each, shift)])
                return version

            def row(version: Value, along: Callable[[Value, Value], Value] = along) -> Value:
                return self.over(self.trips[-1], version, along)

            there = self.all(
                [
                    self.apply("inside", self.emit(place + -shift), trips)
                    for place, shift, trips, span in zip(
                        places, shifts, self.trips, self.spans, strict=False
                    )
                    if span
                ]
            )
            if there is None:
                array = row(array)
            else:
                array = self.choose(there, array, row, lambda version: version)
        return array

    def add(
        self,
        array: Value,
        place: Sequence[Form],
        additions: Sequence[tuple[_Addition, tuple[int, ...]]],
    ) -> Value:
        """Write the addition to one element, its place counted from the first one added to."""
        total: Operand | None = None
        for each, shift in additions:
            counters = {
                counter: at + -by
                for counter, at, by in zip(self.counters, place, shift, strict=True)
            }
            term = each.term
            if total is not None and isinstance(term, _Operation) and term.stmt.op.name == "neg":
                total = self.builder.apply("sub", total, self.value(term.args[0], counters))
                continue
            value = self.value(term, counters)
            total = value if total is None else self.builder.apply("add", total, value)
        assert total is not None
        forms = list(self.base)
        for axis, at in zip(self.group.axes, place, strict=True):
            forms[axis] = forms[axis] + at
        index = [self.emit(form) for form in forms]
        return self.builder.store(array, index, total, accumulate=True)

    def value(self, term: _Term, counters: Mapping[Value, Form]) -> Operand:
        """Write what an iteration adds."""
        match term:
            case _Same(value=value, recalled=recalled):
                return self.known[value] if recalled else self.made.read(value)
            case _Kept(value=value):
                levels = self.group.levels
                key = (id(self.group.chain.loops[-1]), levels, value)
                array = self.temporaries[key].version
                assert array is not None
                index = [self.emit(counters[counter]) for counter in self.counters]
                return self.builder.load(array, index)
            case _Read(array=origin, index=forms):
                if isinstance(origin, int):
                    array_ = self.init[origin]
                else:
                    array_ = self.known[origin] if origin in self.known else self.made.read(origin)
                assert isinstance(array_, Value)
                moved: list[Form] = []
                for form in forms:
                    total = constant(form.const)
                    for value, factor in form.terms:
                        at = counters.get(value, _itself(value))
                        total = total + at * factor
                    moved.append(total)
                return self.builder.load(array_, [self.emit(form) for form in moved])
            case _Operation(stmt=stmt, args=args):
                operands = [self.value(arg, counters) for arg in args]
                hint = stmt.result.name
                return self.builder.apply(stmt.op, *operands, params=stmt.params, hint=hint)
        assert_never(term)

    def emit(self, form: Form) -> Operand:
        return self.made.written(form, lambda value: self.known.get(value, value))


def _itself(value: Value) -> Form:
    return Form(((value, 1),), 0)


def _left(items: Sequence[_T], gone: Sequence[bool]) -> tuple[_T, ...]:
    return tuple(item for item, each in zip(items, gone, strict=True) if not each)


def _spans(additions: Sequence[_Addition]) -> list[int]:
    """Return how far apart additions are along every axis that follows a counter."""
    return [max(along) - min(along) for along in zip(*(a.offset for a in additions), strict=True)]
