"""Fuse the reverse code of an iteration with its forward code where dependences allow it.

If the cotangents that enter a reverse loop are known before the loop that it mirrors runs (a sum of
losses over the data), and its iterations only add to cotangents, the reverse code of an iteration
can follow its forward code directly: one pass over memory, and no value is stored across
iterations.

Before::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %v = load %x[%i]
      %t = sin %v
      %acc.1 = sum %acc %t
      yield %acc.1
    }
    %x.ct.2 = reverse L %i.r carrying (%x.ct = %x.ct.0) {
      %v.r = recall %v
      %d = cos %v.r
      %x.ct.1 = store %x.ct[%i.r] %d
      yield %x.ct.1
    }

After::

    %s, %x.ct.2 = for L %i in 0 to %n carrying (%acc = 0.0:f64, %x.ct = %x.ct.0) {
      %v = load %x[%i]
      %t = sin %v
      %acc.1 = sum %acc %t
      %d = cos %v
      %x.ct.1 = store %x.ct[%i] %d
      yield %acc.1 %x.ct.1
    }

Values that inner loops and branches of the iteration computed are still recalled; `remat` treats
such an iteration like a function of its own. The iterations now run upwards: this is decided before
any plan is made, so all plans agree.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, accesses, overwritten, own_axis, own_range
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    derivative_type,
    remembered,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.sums import lane_values, summed
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import (
    Names,
    StatementCache,
    acts,
    bound,
    inner_values,
    label_of,
    map_blocks,
    map_operands,
    stmt_reads,
    stmts_reads,
    substitute,
)


def fuse_reverse(fn: Function) -> Function:
    """Return `fn` with reverse iterations after their forward iterations where that is legal."""
    if not any(isinstance(s, Reverse) for s in walk(fn.body)):
        return fn
    return replace(fn, body=_ReverseFuser(fn).joined(fn.body, frozenset(fn.params)))


class _ReverseFuser:
    def __init__(self, fn: Function) -> None:
        self.names = Names.of(fn)
        for callee in fn.callees:
            self.names.add(Names.of(callee))
        self.shapes = Shapes(fn, self.names)
        self.lanes = lane_values(fn)
        self.reads, self.gives = StatementCache(_reads), StatementCache(_definitions)

    def joined(self, stmts: Sequence[Stmt], scope: frozenset[Value]) -> tuple[Stmt, ...]:
        """Return the statements of a block with loops merged; `scope` are the values around it."""
        found = list(stmts)
        places = _Places(found)
        reversed_ = Counter(s.loop for s in walk(tuple(stmts)) if isinstance(s, Reverse))
        # Loops that are reversed in two places stay, and none is tried twice.
        tried = {label for label, count in reversed_.items() if count > 1}
        at = 0
        while at < len(found):
            stmt = found[at]
            if isinstance(stmt, Reverse) and stmt.loop not in tried:
                tried.add(stmt.loop)
                merged = self.merged(found, at, scope, places)
                if merged is None:
                    split = self.from_zero(found, at, places)
                    # It only changes what follows the statements in between.
                    merged = split and self.merged(*split, scope, places)
                if merged is not None:
                    # What precedes the forward loop stays, and has been tried.
                    found, at = merged, places.loops[stmt.loop]
                    places = _Places(found)
                    continue
            at += 1
        for at, stmt in enumerate(found):
            if isinstance(stmt, For) and any(isinstance(s, Reverse) for s in stmt.body.stmts):
                inner = scope | {v for s in found[:at] for v in s.results}
                inner |= {stmt.index, *stmt.body.params}
                body = replace(stmt.body, stmts=self.joined(stmt.body.stmts, inner))
                found[at] = replace(stmt, body=body)
        return tuple(found)

    def merged(
        self, stmts: Sequence[Stmt], at: int, scope: frozenset[Value], places: _Places
    ) -> list[Stmt] | None:
        """Return the statements with the reverse loop at `at` merged into its forward loop.

        `places` are those of the statements before it.
        """
        reverse = stmts[at]
        assert isinstance(reverse, Reverse)
        start = places.loops.get(reverse.loop)
        if start is None:
            return None
        loop = stmts[start]
        assert isinstance(loop, For)
        if loop.down or any(isinstance(s, Call) for s in walk((loop, reverse))):
            return None
        inside = self.gives(loop)
        # The statements in between that the reverse loop depends on move in front of the loop. So
        # do checks of sizes, which cotangents rely on, and checks in front of statements that touch
        # memory.
        needed = self.reads(reverse) - (inside - set(loop.results))
        if needed & inside or self.follows(stmts, needed, inside, start, places):
            return None
        equal = {s.result for s in stmts if isinstance(s, Apply) and s.op is arith.eq}
        slice_: list[Stmt] = []
        touches = False
        for stmt in reversed(stmts[start + 1 : at]):
            guards = isinstance(stmt, Check) and stmt.cond in equal
            if guards or (touches and acts(stmt)) or not needed.isdisjoint(self.gives(stmt)):
                slice_.append(stmt)
                touches = touches or _touches(stmt)
                more = self.reads(stmt)
                if not more.isdisjoint(inside):
                    return None
                needed |= more
        slice_.reverse()
        if acts(loop) and any(acts(stmt) or _touches(stmt) for stmt in slice_):
            return None
        # Reading a version that is overwritten by then would take a copy.
        if overwritten(slice_) & self.reads(loop) or overwritten((reverse,)) & self.reads(loop):
            return None
        moved = set(map(id, slice_))
        passed = [s for s in stmts[start + 1 : at] if id(s) not in moved]
        if stmts_reads(passed) & overwritten((*slice_, reverse)):
            return None
        outside = scope.union(*(s.results for s in (*stmts[:start], *slice_)))
        env = _direct(loop, reverse, outside)
        if env is None:
            return None
        body = _resolved(reverse.body, env)
        if not _is_reorderable(loop, replace(reverse, body=body)):
            return None
        merged = replace(
            loop,
            results=(*loop.results, *reverse.results),
            init=(*loop.init, *reverse.init),
            body=Block(
                (*loop.body.params, *body.params),
                (*loop.body.stmts, *body.stmts),
                (*loop.body.yields, *body.yields),
            ),
        )
        done = [*stmts[:start], *slice_, merged, *passed, *stmts[at + 1 :]]
        return done if _is_nested(done) else None

    def follows(
        self,
        stmts: Sequence[Stmt],
        needed: Set[Value | str],
        inside: Set[Value | str],
        start: int,
        places: _Places,
    ) -> bool:
        """Whether what is needed follows from what the loop at `start` computes.

        Nearest definitions are asked first: of most loops that cannot be merged, few are asked,
        not all that stand between.
        """
        seen = set(needed)
        waiting = deque(needed)
        while waiting:
            where = places.definitions.get(waiting.popleft(), start)
            if where <= start:
                continue
            more = self.reads(stmts[where])
            if not more.isdisjoint(inside):
                return True
            waiting.extend(more - seen)
            seen |= more
        return False

    def from_zero(
        self, stmts: Sequence[Stmt], at: int, places: _Places
    ) -> tuple[list[Stmt], int] | None:
        """Let a reverse loop add to zeros, and add the incoming cotangents afterwards.

        Otherwise these would separate the loop from its forward loop. Single elements that were
        added to an array are added afterwards instead, which takes no zeros.
        """
        reverse = stmts[at]
        assert isinstance(reverse, Reverse)
        sums = summed(reverse)
        init, results = list(reverse.init), list(reverse.results)
        before: list[Stmt] = []
        after: list[Stmt] = []
        late: list[Store] = []
        inside = self.gives(reverse) | self.gives(stmts[places.loops.get(reverse.loop, at)])
        recalled = {s.result: s.value for s in walk(reverse.body.stmts) if isinstance(s, Recall)}
        for k, (start, param) in enumerate(zip(reverse.init, reverse.body.params, strict=True)):
            if not isinstance(start, Value):
                continue
            result = reverse.results[k]
            found: list[Access] = []
            products: list[Gemm] = []
            if k in sums:
                init[k] = zero(derivative_type(param.type))
                results[k] = self.names.value(result)
                # An outer loop may go on with its own sum.
                op = OPS["sum" if start in self.lanes else "add"]
                after.append(Apply((result,), op, (start, results[k]), (), reverse.loc))
            elif not isinstance(param.type, Array):
                continue
            elif (
                accesses(reverse.body, param, k, found, products)
                and (found or products)
                and all(map(_adds, found))
            ):
                if added := self.last_added(stmts, at, start, places):
                    late += added
                    init[k] = added[0].array
                    old: Value = self.names.value(result)
                    results[k] = old
                    for stmt in added:
                        new = result if stmt is added[-1] else self.names.value(result)
                        after.append(replace(stmt, result=new, array=old))
                        old = new
                    continue
                sizes = self.shapes.known(start)
                if sizes is None or _is_of_a_part(found, recalled, inside):
                    return None
                empty = self.names.value(start)
                element = zero(Scalar(start.type.dtype))
                full = Apply((empty,), OPS["full"], (element, *sizes), (start.type.dtype,))
                before.append(full)
                init[k] = empty
                results[k] = self.names.value(result)
                after.append(self.added(result, start, results[k], sizes))
        if not after:
            return None
        changed = replace(reverse, init=tuple(init), results=tuple(results))
        moved = set(map(id, late))
        first = [stmt for stmt in stmts[:at] if id(stmt) not in moved] + before
        return [*first, changed, *after, *stmts[at + 1 :]], len(first)

    def last_added(
        self, stmts: Sequence[Stmt], at: int, array: Value, places: _Places
    ) -> list[Store]:
        """Return the statements that add the last elements to an array, which only `at` reads."""
        reverse = stmts[at]
        assert isinstance(reverse, Reverse)
        start = places.loops.get(reverse.loop, at)
        found: list[Store] = []
        while (where := places.definitions.get(array, start)) > start:
            stmt = stmts[where]
            if not isinstance(stmt, Store) or not stmt.accumulate:
                break
            user = found[0] if found else reverse
            if any(array in self.reads(each) for each in stmts[where:] if each is not user):
                break
            found.insert(0, stmt)
            array = stmt.array
        return found

    def added(self, result: Value, old: Value, more: Value, sizes: Sequence[Operand]) -> Stmt:
        """Return a nest of loops that adds one array to another."""

        def level(result: Value, old: Value, index: tuple[Value, ...]) -> Stmt:
            counter = Value(self.names.fresh("i"), INT)
            label = self.names.fresh("L0")
            param, last = self.names.value(old), self.names.value(old)
            here = (*index, counter)
            if len(here) < len(sizes):
                inner: tuple[Stmt, ...] = (level(last, param, here),)
            else:
                term = Value(self.names.fresh(more.name), Scalar(more.type.dtype))
                inner = (Load(term, more, here), Store(last, param, here, term, True))
            block = Block((param,), inner, (last,))
            return For((result,), label, counter, sizes[len(index)], (old,), block)

        return level(result, old, ())


class _Places:
    """The positions of definitions, and of loops, among the statements of a block."""

    def __init__(self, stmts: Sequence[Stmt]) -> None:
        self.definitions: dict[Value | str, int] = {}
        self.loops: dict[str, int] = {}
        for k, stmt in enumerate(stmts):
            # What is in its blocks, too: reverse code recalls it.
            self.definitions.update(dict.fromkeys(_definitions(stmt), k))
            if isinstance(stmt, For):
                self.loops[stmt.label] = k


def _adds(access: Access) -> bool:
    return isinstance(access, Store) and access.accumulate


def _is_of_a_part(
    found: Sequence[Access], recalled: Mapping[Value, Value], inside: Set[Value | str]
) -> bool:
    """Whether all accesses of a loop have an index in common: zeros elsewhere would be in vain."""
    indices = [
        [recalled.get(index, index) if isinstance(index, Value) else index for index in each.index]
        for each in found
    ]
    return any(
        all(each == here[0] for each in here) and here[0] not in inside
        for here in zip(*indices, strict=True)
    )


@remembered
def _recalled(block: Block) -> set[Value | str]:
    """Return the forward values and loops that reverse code in a block refers to."""
    found: set[Value | str] = set()
    for s in block.stmts:
        found.update(*map(_recalled, blocks(s)))
        if isinstance(s, Recall):
            found.add(s.value)
        elif isinstance(s, Reverse):
            found.add(s.loop)
    return found


def _reads(stmt: Stmt) -> set[Value | str]:
    """Return what a statement needs from outside: values, recalled ones too, and loops."""
    found: set[Value | str] = {*stmt_reads(stmt)}
    found.update(*map(_recalled, blocks(stmt)))
    if isinstance(stmt, Recall):
        found.add(stmt.value)
    elif isinstance(stmt, Reverse):
        found.add(stmt.loop)
    return found - _definitions(stmt) if blocks(stmt) else found


@remembered
def _definitions_in(block: Block) -> set[Value | str]:
    return set[Value | str]().union(*map(_definitions, block.stmts))


def _definitions(stmt: Stmt) -> set[Value | str]:
    """Return the values and loops that a statement defines."""
    found: set[Value | str] = {*stmt.results, *inner_values(stmt)}
    if isinstance(stmt, For | While):
        found.add(stmt.label)
    return found.union(*map(_definitions_in, blocks(stmt)))


@remembered
def _block_touches(block: Block) -> bool:
    return any(map(_touches, block.stmts))


def _touches(stmt: Stmt) -> bool:
    """Whether a statement reads or writes elements of arrays."""
    return isinstance(stmt, Load | Store | Gemm) or any(map(_block_touches, blocks(stmt)))


def _is_nested(stmts: Sequence[Stmt]) -> bool:
    """Whether reversals are properly nested, last in first out, as the tape requires."""
    stack: list[set[str]] = []
    last = {label: k for k, stmt in enumerate(stmts) for label in _reversed(stmt)}
    for k, stmt in enumerate(stmts):
        labels = {label for s in walk((stmt,)) if (label := label_of(s))}
        undone = _reversed(stmt) - labels
        while undone:
            if not stack or not stack[-1] & undone:
                return False
            undone -= stack.pop()
        if any(last.get(label, k) > k for label in labels):
            stack.append(labels)
    return True


def _reversed(stmt: Stmt) -> set[str]:
    """Return the labels of the loops and calls that a statement reverses."""
    found: set[str] = set()
    for s in walk((stmt,)):
        if isinstance(s, Reverse):
            found.add(s.loop)
        elif isinstance(s, Call) and s.mirror:
            found.add(s.mirror)
    return found


def _direct(loop: For, reverse: Reverse, outside: frozenset[Value]) -> dict[Value, Operand] | None:
    """Return the replacements of recalled values; None where one is not available."""
    env: dict[Value, Operand] = {reverse.index: loop.index}
    shallow = {loop.index, *loop.body.params}
    shallow |= {value for s in loop.body.stmts for value in s.results}
    deep = set(bound(loop.body.stmts))
    for stmt in walk(reverse.body.stmts):
        if isinstance(stmt, Recall):
            if stmt.value in shallow or stmt.value in outside:
                env[stmt.result] = stmt.value
            elif stmt.value not in deep:
                return None
            elif isinstance(stmt.value.type, Array):
                return None
    return env


def _resolved(block: Block, env: dict[Value, Operand]) -> Block:
    """Return a block without the Recalls that `env` resolves."""

    def read(operand: Operand) -> Operand:
        return substitute(operand, env)

    def inner(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Recall) and stmt.result in env:
                continue
            stmts.append(map_blocks(map_operands(stmt, read), inner))
        return Block(block.params, tuple(stmts), tuple(read(y) for y in block.yields))

    return inner(block)


# -- may the iterations run in another order? ------------------------------------------------------


def _is_reorderable(loop: For, reverse: Reverse) -> bool:
    """Whether the reverse iterations may be reordered: they only add, or are independent."""
    facts = Facts()
    for stmt in walk((*loop.body.stmts, *reverse.body.stmts)):
        if isinstance(stmt, Recall) and stmt.result.type.kind in "iu":
            facts.forms[stmt.result] = facts.form(stmt.value)
        facts.define(stmt)
    sums = summed(reverse)
    for k, param in enumerate(reverse.body.params):
        if k in sums or reverse.body.yields[k] == param:
            continue
        if not isinstance(param.type, Array):
            return False
        found: list[Access] = []
        products: list[Gemm] = []
        if not accesses(reverse.body, param, k, found, products):
            return False
        if all(map(_adds, found)):
            continue
        own = own_axis(found, loop.index, facts), own_range(found, loop, facts)
        if products or own == (None, None):
            return False
    return True
