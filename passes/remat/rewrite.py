"""Carry out the decisions of `remat`: tape, recomputation, trip counters, ordinary loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir.builder import integer, zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    If,
    Load,
    Operand,
    Pop,
    Push,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.functions import reached
from adc.ir.opdef import OPS
from adc.ir.types import Array, Scalar
from adc.ir.walk import Names, bound, clone, map_blocks, map_operands
from adc.passes.remat.choose import Chooser
from adc.passes.remat.facts import Decisions
from adc.passes.remat.plan import KEPT


@dataclass
class _Open:
    """A block of reverse code under construction, and the forward block it mirrors."""

    region: str
    arms: int
    prelude: list[Stmt] = field(default_factory=list)
    env: dict[Value, Operand] = field(default_factory=dict)


class Rewriter:
    """Rewrites a function and its callees."""

    def __init__(self, fn: Function, choosers: dict[str, Chooser], names: Names) -> None:
        self.fn = fn
        self.choosers = choosers
        self.names = names
        self.chooser: Chooser | None = None
        # The replacement of each recalled value, by function: evidence for `availability`.
        self.recalled: list[tuple[str, Value, Operand]] = []
        self.current = ""
        self.open: list[_Open] = []
        # Kept values under ifs become results of the outermost if: old value -> result.
        self.exported: dict[Value, Value] = {}
        self.env: dict[Value, Operand] = {}
        self.saved_exports: dict[str, dict[Value, Value]] = {}
        # By the id of decisions and by region: the values that are kept.
        self.kept_of: dict[int, dict[str, list[Value]]] = {}
        # Calls that reverse code mirrors are redirected to the version that fills the tape.
        self.taped: set[str] = set()

    def run(self) -> Function:
        callees: list[Function] = []
        by_name = {callee.name: callee for callee in self.fn.callees}
        for callee in self.fn.callees:
            if callee.mirror:
                continue
            chooser = self.choosers.get(callee.name)
            if chooser is not None and chooser.d.whole:
                callees.append(self.function(callee, callee.name))
                continue
            # Unchanged: for calls that are not reversed. Rules have been applied.
            callees.append(replace(callee, rule=None))
            if callee.name in self.choosers:
                callees.append(self.function(callee, f"{callee.name}.fwd"))
        for callee in self.fn.callees:
            if callee.mirror:
                assert callee.mirror in by_name
                callees.append(self.reverse_function(callee))
        main = self.function(self.fn, self.fn.name)
        return reached(replace(main, callees=tuple(callees), derived=self.fn.derived))

    @property
    def forward(self) -> Decisions | None:
        """The decisions about the function whose code is rewritten, if it is reversed."""
        return None if self.chooser is None else self.chooser.d

    # -- functions -------------------------------------------------------------------------

    def function(self, fn: Function, name: str) -> Function:
        """Rewrite a function with forward code; main has its reverse code in it, too."""
        self.chooser = self.choosers.get(fn.name)
        self.current = name
        self.env = {}
        self.exported = {}
        reverse = next((each for each in self.fn.callees if each.mirror == fn.name), fn)
        self.taped = {
            stmt.mirror for stmt in walk(reverse.body) if isinstance(stmt, Call) and stmt.mirror
        }
        whole = self.forward is not None and self.forward.whole
        self.open = [_Open("", 0)] if whole else []
        body: list[Stmt] = []
        for stmt in fn.body:
            done = self.stmts([stmt], "", 0)
            if whole:  # values that a statement of reverse code needs are computed before it
                body += self.open[0].prelude
                self.open[0].prelude.clear()
            body += done
        if self.forward is not None and not whole:
            body += self.push("")
            self.saved_exports[fn.name] = dict(self.exported)
        results = tuple(self.read(operand) for operand in fn.results)
        return Function(name, fn.params, tuple(body), results)

    def reverse_function(self, fn: Function) -> Function:
        """Rewrite a function that reverses a callee: its frame is popped at the start."""
        self.chooser = self.choosers[fn.mirror]
        self.current = fn.name
        self.env = {}
        self.exported = self.saved_exports[fn.mirror]
        self.open = [_Open("", 0)]
        top = self.open[0]
        popped = self.pop("", top)
        body = self.stmts(fn.body, "", 0)
        results = tuple(self.read(operand) for operand in fn.results)
        return Function(fn.name, fn.params, (*popped, *top.prelude, *body), results)

    # -- forward code ----------------------------------------------------------------------

    def read(self, operand: Operand) -> Operand:
        return self.env.get(operand, operand) if isinstance(operand, Value) else operand

    def kept(self, region: str) -> list[Value]:
        """Return the kept values of a region, in program order."""
        assert self.forward is not None
        if id(self.forward) not in self.kept_of:
            made, sites = self.forward.made, self.forward.sites
            found: dict[str, list[Value]] = {}
            for value in sorted(made, key=lambda each: sites[each].order):
                if made[value].kind == KEPT:
                    found.setdefault(sites[value].region, []).append(value)
            self.kept_of[id(self.forward)] = found
        return self.kept_of[id(self.forward)].get(region, [])

    def frame(self, region: str) -> list[Value]:
        """Return the values of one frame: kept ones, those under ifs by the results that hold
        them, which two arms may share."""
        return list(dict.fromkeys(self.exported.get(v, v) for v in self.kept(region)))

    def push(self, region: str) -> list[Push]:
        values = self.frame(region)
        return [Push(tuple(values))] if values else []

    def pop(self, region: str, block: _Open) -> list[Stmt]:
        frame = self.frame(region)
        if not frame:
            return []
        popped = {value: self.names.value(value, f"{value.name}.r") for value in frame}
        for value in self.kept(region):
            block.env[value] = popped[self.exported.get(value, value)]
        return [Pop(tuple(popped.values()))]

    def stmts(self, stmts: Sequence[Stmt], region: str, arms: int) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, self.read)
            done.extend(self.stmt(stmt, region, arms))
        return done

    def stmt(self, stmt: Stmt, region: str, arms: int) -> list[Stmt]:
        match stmt:
            case Recall(result=result, value=value):
                self.env[result] = self.recall(value)
                return []
            case Reverse():
                return [self.reverse(stmt)]
            case If():
                return [self.if_(stmt, region, arms)]
            case For(label=label, body=body):
                return [replace(stmt, body=self.loop_body(label, body))]
            case While():
                return [self.while_(stmt)]
            case Call(label=label, callee=callee) if label in self.taped:
                return [replace(stmt, callee=f"{callee}.fwd")]
            case Call(mirror=mirror) if mirror:
                return [replace(stmt, mirror="")]
        return [map_blocks(stmt, lambda block: self.plain(block, region, arms))]

    def plain(self, block: Block, region: str, arms: int) -> Block:
        stmts = self.stmts(block.stmts, region, arms)
        return Block(block.params, tuple(stmts), tuple(self.read(v) for v in block.yields))

    def loop_body(self, label: str, body: Block) -> Block:
        if self.forward is None or label not in self.forward.loops:
            return self.plain(body, label, 0)
        stmts = self.stmts(body.stmts, label, 0)
        # As early as possible: the rest of the iteration may overwrite what is pushed.
        (push,) = self.push(label) or (None,)
        if push is not None:
            late = [k for k, stmt in enumerate(stmts) if self.precedes(stmt, push)]
            stmts.insert(late[-1] + 1 if late else 0, push)
        return Block(body.params, tuple(stmts), tuple(self.read(v) for v in body.yields))

    def precedes(self, stmt: Stmt, push: Push) -> bool:
        """Whether a frame must follow a statement: it defines a value of it, or has frames."""
        return any(result in push.values for result in stmt.results) or any(
            isinstance(s, Push) or (isinstance(s, Call) and s.label in self.taped)
            for s in walk((stmt,))
        )

    def while_(self, stmt: While) -> Stmt:
        body = self.loop_body(stmt.label, stmt.body)
        counter = None if self.forward is None else self.forward.counters.get(stmt.label)
        if counter is None:
            return replace(stmt, body=body)
        before = self.names.value(counter)
        after = self.names.value(counter)
        count = Apply((after,), OPS["add"], (before, integer(1)), loc=stmt.loc)
        body = Block((*body.params, before), (*body.stmts, count), (*body.yields, after))
        return replace(
            stmt,
            results=(*stmt.results, counter),
            init=(*stmt.init, integer(0)),
            body=body,
        )

    def if_(self, stmt: If, region: str, arms: int) -> Stmt:
        """Rewrite an if, of forward code (kept values become results) or of reverse code."""
        sides: list[Block] = []
        kept: list[list[Value]] = []
        for block in (stmt.then, stmt.orelse):
            mirror = self.open[-1] if self.open else None
            if mirror is not None:
                self.open.append(_Open(mirror.region, mirror.arms + 1))
            inner = self.stmts(block.stmts, region, arms + 1)
            prelude: list[Stmt] = []
            if mirror is not None:
                prelude = self.open.pop().prelude
            sides.append(Block((), (*prelude, *inner), tuple(self.read(v) for v in block.yields)))
            kept.append(self.kept_in(block))
        pairs = _pair(kept[0], kept[1])
        if not pairs:
            return replace(stmt, then=sides[0], orelse=sides[1])
        results: list[Value] = []
        yields: tuple[list[Operand], list[Operand]] = ([], [])
        extra: tuple[list[Stmt], list[Stmt]] = ([], [])
        for pair in pairs:
            like = pair[0] if pair[0] is not None else pair[1]
            assert like is not None
            result = self.names.value(like, f"{like.name}.kept")
            results.append(result)
            for side, value in enumerate(pair):
                if value is None:
                    yields[side].append(self.filler(like, extra[side]))
                    continue
                yields[side].append(self.exported.get(value, value))
                for old, held in list(self.exported.items()):
                    if held == yields[side][-1]:
                        self.exported[old] = result
                self.exported[value] = result
        blocks = [
            Block((), (*sides[k].stmts, *extra[k]), (*sides[k].yields, *yields[k])) for k in (0, 1)
        ]
        return replace(stmt, results=(*stmt.results, *results), then=blocks[0], orelse=blocks[1])

    def filler(self, like: Value, stmts: list[Stmt]) -> Operand:
        if isinstance(like.type, Scalar):
            return zero(like.type)
        result = self.names.value(like)
        stmts.append(Apply((result,), OPS["undef"], (), (str(like.type),)))
        return result

    def kept_in(self, block: Block) -> list[Value]:
        """Return the kept values defined under an arm; those of nested ifs by their results."""
        if self.forward is None:
            return []
        found: dict[Value, None] = {}
        for value in _defined_here(block):
            value_site = self.forward.sites.get(value)
            decision = self.forward.made.get(value)
            if value_site is not None and decision is not None and decision.kind == KEPT:
                found[value] = None
        for label, counter in self.forward.counters.items():
            if self.forward.made.get(counter) is not None and any(
                isinstance(s, While) and s.label == label for s in _shallow(block)
            ):
                found[counter] = None
        unique: dict[Value, Value] = {}
        for value in found:
            unique.setdefault(self.exported.get(value, value), value)
        return list(unique.values())

    # -- reverse code ----------------------------------------------------------------------

    def reverse(self, stmt: Reverse) -> Stmt:
        assert self.forward is not None
        trips = self.recall_operand(self.forward.trips(stmt.loop, self.names))
        loop = self.forward.loops[stmt.loop]
        block = _Open(stmt.loop, 0)
        if isinstance(loop, For):
            if not loop.down:
                block.env[loop.index] = stmt.index
        popped = self.pop(stmt.loop, block)
        self.open.append(block)
        # Values that are read from arrays before the iteration is undone.
        for value, _ in self.forward.restored.early:
            decision = self.forward.made.get(value)
            if decision is not None and decision.source in stmt.body.params:
                self.recall(value)
        inner: list[Stmt] = []
        for each in stmt.body.stmts:
            done = self.stmts([each], "", 0)
            first = not self.forward.restored.first.keys().isdisjoint(each.results)
            if stmt.loop in self.forward.restored.in_turn:
                inner += block.prelude
                block.prelude.clear()
                first = False
            (block.prelude if first else inner).extend(done)
        yields = tuple(self.read(v) for v in stmt.body.yields)
        if stmt.loop in self.forward.restored.in_turn:
            inner += block.prelude
            block.prelude.clear()
        self.open.pop()
        body = Block(stmt.body.params, (*popped, *block.prelude, *inner), yields)
        label = self.names.fresh(f"{stmt.loop}.rev")
        return For(stmt.results, label, stmt.index, trips, stmt.init, body, True, stmt.loc)

    def recall_operand(self, operand: Operand) -> Operand:
        return self.recall(operand) if isinstance(operand, Value) else operand

    def recall(self, value: Value) -> Operand:
        """Return an operand that has the forward value here; emit what that takes."""
        assert self.forward is not None
        if value not in self.forward.sites:
            return value  # an array of the reverse code
        operand = self.replacement(value)
        self.recalled.append((self.current, value, operand))
        return operand

    def replacement(self, value: Value) -> Operand:
        found = self.available(value)
        if found is None:
            self.recompute_chain(value)
            found = self.available(value)
        assert found is not None
        return found

    def available(self, value: Value) -> Operand | None:
        """Return an operand that has a forward value here; None if it is to be recomputed."""
        forward = self.forward
        assert forward is not None
        site = forward.sites[value]
        decision = forward.made.get(value)
        if value in forward.restored.values:
            return forward.restored.values[value]
        if value in forward.given:
            return value
        if forward.in_scope(value) and (decision is None or decision.kind == KEPT):
            return value
        if decision is not None and decision.kind == KEPT:
            if forward.whole and site.region == "":
                return self.exported[value]
            return self.block_of(site.region, 0).env[value]
        block = self.block_of(site.region, site.arms)
        if value not in block.env and site.is_index:
            return self.block_of(site.region, 0).env[value]
        assert value in block.env or decision is not None
        return block.env.get(value)

    def recompute_chain(self, value: Value) -> None:
        """Recompute a value, and before it the values that it needs: a chain of any length."""
        forward, chooser = self.forward, self.chooser
        assert forward is not None
        assert chooser is not None
        todo = [value]
        while todo:
            last = todo[-1]
            missing = (
                need
                for need in chooser.inputs(last)
                if need in forward.sites and self.available(need) is None
            )
            need = next(missing, None)
            if need is not None:
                if need in todo:
                    raise IRError(f"{need} would be recomputed from itself")
                todo.append(need)
                continue
            site = forward.sites[todo.pop()]
            self.recompute(last, self.block_of(site.region, site.arms))

    def block_of(self, region: str, arms: int) -> _Open:
        """Return the open block of reverse code that mirrors a forward block."""
        for block in reversed(self.open):
            if block.region == region and block.arms == arms:
                return block
        raise IRError(f"no block mirrors {region or 'the function'} at depth {arms}")

    def recompute(self, value: Value, block: _Open) -> None:
        """Copy the statement that computes `value` to the start of `block`."""
        chooser = self.chooser
        assert chooser is not None
        stmt = chooser.stmt(value)
        assert stmt is not None
        stmt = _prepared(stmt, chooser)
        stmt = replace(stmt, loc=stmt.loc and stmt.loc.reversed())
        env: dict[Value, Operand] = {need: self.recall(need) for need in chooser.inputs(value)}
        copies = clone([stmt], env, self.names, ".r")
        block.prelude.extend(copies)
        for result in stmt.results:
            block.env.setdefault(result, env[result])


def _prepared(stmt: Stmt, chooser: Chooser) -> Stmt:
    """Return a statement fit for recomputation: no checks, loads from available arrays."""
    inner = set(bound((stmt,)))

    def block(found: Block) -> Block:
        stmts = tuple(one(s) for s in found.stmts if not isinstance(s, Check))
        return Block(found.params, stmts, found.yields)

    def one(found: Stmt) -> Stmt:
        if isinstance(found, Load) and found.array not in inner:
            source = chooser.array_source(found) if found is stmt else chooser.loaded_from(found)
            assert source is not None
            return replace(found, array=source)
        return map_blocks(found, block)

    return one(stmt)


def _shallow(block: Block) -> list[Stmt]:
    """Return the statements of a block and of the ifs in it, but not those of loops."""
    found: list[Stmt] = []
    for stmt in block.stmts:
        found.append(stmt)
        if isinstance(stmt, If):
            found += _shallow(stmt.then)
            found += _shallow(stmt.orelse)
    return found


def _defined_here(block: Block) -> list[Value]:
    return [value for stmt in _shallow(block) for value in stmt.results]


def _pair(
    first: Sequence[Value], second: Sequence[Value]
) -> list[tuple[Value | None, Value | None]]:
    """Pair kept values of two arms that can share a slot: only one of the arms runs."""
    left = list(second)
    pairs: list[tuple[Value | None, Value | None]] = []
    for value in first:
        match = next((other for other in left if _same(other, value)), None)
        if match is not None:
            left.remove(match)
        pairs.append((value, match))
    pairs += [(None, other) for other in left]
    return pairs


def _same(a: Value, b: Value) -> bool:
    return a.type == b.type and not isinstance(a.type, Array)
