"""Prove, after `remat`, that the replacement of every recalled value equals that value.

Independent of how `remat` decides: it compares the program before and after. An operand has the
forward value `v` if it is `v`; if it is popped from the tape at the position where `v` was pushed
in the mirrored region; if it is the mirrored loop's index; if it is computed by the operation that
computes `v`, from operands that have its operands; or if it is read from an array version that
provably still has the element (a fresh `forwarding` analysis), or from an array that reverse code
provably restored (`versions`): inexactly for floats that the user marked, and then no control flow
may depend on them (`inexact`). Together with dominance
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.inexact import is_discontinuous
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Push,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.ops import arith
from adc.ir.text.printer import operand_text
from adc.ir.types import Array
from adc.ir.walk import stmt_reads
from adc.passes.remat.proof.versions import Versions
from adc.passes.scalar.dce import only

Recalled = tuple[str, Value, Operand]


def check_availability(before: Function, after: Function, recalled: Sequence[Recalled]) -> None:
    """Raise IRError unless every replacement has the value that it replaces.

    Parameters
    ----------
    before, after : Function
        The program with Recalls, and without.
    recalled : sequence of (function, value, operand)
        The operand that replaces each forward value, in each function of `after`.
    """
    functions = {each.name: each for each in (*after.callees, after)}
    originals = {each.name: each for each in (*before.callees, before)}
    proofs: dict[str, _Proof] = {}
    for name, value, operand in recalled:
        if name not in functions:
            continue  # a function that is not called any more
        if name not in proofs:
            mirror = originals[name].mirror if name in originals else ""
            forward = functions[f"{mirror}.fwd"] if mirror else functions[name]
            proofs[name] = _Proof(originals[mirror or name], forward, functions[name])
        if not proofs[name].shows(operand, value):
            raise IRError(
                f"{name}: {operand_text(operand)} stands for {value} but need not have its value"
            )
        if proofs[name].depends_discontinuously(operand):
            raise IRError(
                f"{name}: {operand_text(operand)} depends discontinuously on inexact values"
            )


def _is_loop(stmt: Stmt, label: str) -> bool:
    return isinstance(stmt, For | While) and stmt.label == label


@dataclass
class _Origin:
    """The origin of a popped value: the mirrored loop, or the function, and the position."""

    region: str
    position: int


@dataclass
class _Proof:
    """Facts about one forward function before and after, and the function that reverses it."""

    original: Function
    forward: Function
    reverse: Function
    defs: dict[Value, Stmt] = field(default_factory=dict)
    made: dict[Value, Stmt] = field(default_factory=dict)
    # The positions of values, and those within a block, by its id.
    order: dict[Value, int] = field(default_factory=dict)
    spans: dict[int, range] = field(default_factory=dict)
    loops: dict[str, For | While] = field(default_factory=dict)
    pushes: dict[str, Push] = field(default_factory=dict)
    popped: dict[Value, _Origin] = field(default_factory=dict)
    indices: dict[Value, str] = field(default_factory=dict)
    proven: dict[tuple[Operand, Value], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.position = 0
        for stmt in walk(self.original.body):
            for result in stmt.results:
                self.defs[result] = stmt
        for stmt in walk(self.original.body):
            if isinstance(stmt, For | While):
                self.loops[stmt.label] = stmt
        for function in (self.forward, self.reverse):
            self.collect(function.body, "")
        self.whole = self.forward is self.reverse
        self.forwarding = Forwarding(self.original)
        self.versions: dict[Value, Value] = {}
        self.inexact: set[Operand] = set()
        self.followed = False

    def collect(self, stmts: Sequence[Stmt], region: str) -> None:
        for stmt in stmts:
            for result in stmt.results:
                self.made[result] = stmt
                self.order[result] = self.position
                self.position += 1
            if isinstance(stmt, Push):
                self.pushes[region] = stmt
            elif isinstance(stmt, Pop):
                mirrored = region.rpartition(".rev")[0] if region else ""
                for position, result in enumerate(stmt.results):
                    self.popped[result] = _Origin(mirrored, position)
            inner = region
            if isinstance(stmt, For | While):
                inner = stmt.label
                if isinstance(stmt, For):
                    self.indices[stmt.index] = stmt.label
            for block in blocks(stmt):
                start = self.position
                self.collect(block.stmts, inner)
                self.spans[id(block)] = range(start, self.position)

    def counts(self, operand: Operand, loop: For | While) -> bool:
        """Whether an operand is the trip count of a forward loop."""
        if isinstance(loop, For):
            if isinstance(loop.trips, Literal):
                return operand == loop.trips
            return self.has(operand, loop.trips)
        place = self.popped.get(operand) if isinstance(operand, Value) else None
        if place is not None:
            push = self.pushes.get(place.region)
            if push is None or place.position >= len(push.values):
                return False
            operand = push.values[place.position]
        made = self.made.get(operand) if isinstance(operand, Value) else None
        while isinstance(made, If):
            # The result of a branch, whose arm with the loop yields the count.
            arms = [a for a in blocks(made) if any(_is_loop(s, loop.label) for s in walk(a.stmts))]
            if not arms:
                return False
            operand = arms[0].yields[made.results.index(operand)]
            made = self.made.get(operand) if isinstance(operand, Value) else None
        if not isinstance(made, While) or made.label != loop.label:
            return False
        k = made.results.index(operand)
        match self.made.get(made.body.yields[k + 1]):  # type: ignore[arg-type]  # no literal is
            case Apply(op=op, args=(first, Literal(value=1))) if op is arith.add:
                return first == made.body.params[k] and made.init[k] == integer(0)
        return False

    # -- the proof -------------------------------------------------------------------------

    def shows(self, operand: Operand, value: Value) -> bool:
        """Whether `operand` has the forward value `value`, despite overwritten arrays."""
        if not self.has(operand, value) and self.whole and not self.followed:
            self.follow()
        return self.has(operand, value)

    def follow(self) -> None:
        """Find the values that reverse code restores."""
        self.followed = True
        # Proven without anything that is restored.
        sure = {key: holds for key, holds in self.proven.items() if holds}

        def changed() -> None:
            self.proven = dict(sure)

        changed()
        versions = Versions(self.has, self.counts, self.forwarding.version, changed)
        self.versions, self.inexact = versions.found, versions.inexact
        versions.read([s for s in self.original.body if not isinstance(s, Reverse)])
        versions.follow(self.reverse.body, {})

    def depends_discontinuously(self, operand: Operand) -> bool:
        """Whether control flow that computes an operand depends on inexact values."""
        return any(
            is_discontinuous(s) and any(map(self.is_inexact, stmt_reads(s)))
            for s in self.slice_of(operand)
        )

    def is_inexact(self, operand: Operand) -> bool:
        reads = (operand, *(read for stmt in self.slice_of(operand) for read in stmt_reads(stmt)))
        return not self.inexact.isdisjoint(reads)

    def slice_of(self, operand: Operand) -> list[Stmt]:
        """Return the backward slice of an operand in reverse code."""
        found: dict[Operand, Stmt] = {}
        waiting = [operand] if self.inexact else []
        while waiting:
            each = waiting.pop()
            stmt = self.made.get(each) if isinstance(each, Value) else None
            if stmt is not None and each not in found and each not in self.inexact:
                found[each] = stmt
                waiting += stmt_reads(stmt)
        return list(found.values())

    def has(self, operand: Operand, value: Value) -> bool:
        """Whether `operand` has the forward value `value`."""
        if operand == value:
            return True
        key = (operand, value)
        if key not in self.proven:
            self.proven[key] = False  # for cycles, of which there are none
            self.proven[key] = isinstance(operand, Value) and self.prove(operand, value)
        return self.proven[key]

    def prove(self, operand: Value, value: Value) -> bool:
        place = self.popped.get(operand)
        if place is not None:
            push = self.pushes.get(place.region)
            if push is None or place.position >= len(push.values):
                return False
            return self.holds(push.values[place.position], value)
        if operand in self.indices:
            loop = self.loops.get(self.indices[operand].rpartition(".rev")[0])
            return isinstance(loop, For) and loop.index == value and not loop.down
        if self.holds(operand, value):
            return True
        version = self.versions.get(operand)
        if version is not None and (
            self.holds(version, value)
            or (isinstance(value.type, Array) and version == self.forwarding.version(value))
        ):
            return True
        stmt, original = self.made.get(operand), self.defs.get(value)
        if isinstance(stmt, Load) and self.reload(stmt, value):
            return True
        if stmt is None or original is None:
            return False
        originals: Iterable[Stmt] = (original,)
        if isinstance(original, For | If):
            # It is recomputed for one result, whose other results come with it.
            wanted = (value, *(each for each in original.results if each != value))
            originals = [only(original, each) for each in wanted]
        return any(
            value in each.results
            and stmt.results.index(operand) == each.results.index(value)
            and self.alike(stmt, each, {})
            for each in originals
        )

    def holds(self, operand: Operand, value: Value) -> bool:
        """Whether a forward operand is `value`, or the result of an if that an arm yields it to."""
        if operand == value:
            return True
        stmt = self.made.get(operand) if isinstance(operand, Value) else None
        if not isinstance(stmt, If) or operand not in stmt.results:
            return False
        k = stmt.results.index(operand)
        # The value is recalled only if its own arm ran: that arm must yield it.
        for arm in (stmt.then, stmt.orelse):
            if self.order.get(value) in self.spans[id(arm)]:
                return self.holds(arm.yields[k], value)
        return False

    def reload(self, load: Load, value: Value) -> bool:
        """Whether a load in reverse code finds the element that forward code read or stored."""
        known = self.forwarding.by_result.get(value)
        if known is None or not isinstance(known.stmt, Load):
            return False
        original = known.stmt
        if not self.same_many(load.index, original.index, {}):
            return False
        if self.has(load.array, original.array):
            return True
        restored = self.versions.get(load.array)
        if restored is not None and self.forwarding.agrees(original, restored):
            return True
        # Other versions that have the element: the final one, and the last one of an iteration.
        others = (self.forwarding.source(original), self.forwarding.within(original))
        return any(each is not None and self.has(load.array, each) for each in others)

    def alike(self, stmt: Stmt, original: Stmt, env: dict[Value, Value]) -> bool:
        """Whether two statements compute the same; `env` maps inner values of the original."""
        match stmt, original:
            case Apply(), Apply():
                return (
                    stmt.op is original.op
                    and not stmt.op.draw
                    and stmt.params == original.params
                    and self.same_many(stmt.args, original.args, env)
                )
            case Load(), Load():
                if original.result in env or len(stmt.index) != len(original.index):
                    return False
                if original.array in env:
                    same = self.same_many(stmt.index, original.index, env)
                    return same and stmt.array == env[original.array]
                return self.reload(
                    Load(stmt.result, stmt.array, self.translated(stmt.index, original.index, env)),
                    original.result,
                )
            case Store(), Store():
                return (
                    stmt.accumulate == original.accumulate
                    and self.same(stmt.array, original.array, env)
                    and self.same_many(stmt.index, original.index, env)
                    and self.same(stmt.value, original.value, env)
                )
            case Gemm(), Gemm():
                return (
                    (stmt.transposed, stmt.accumulate) == (original.transposed, original.accumulate)
                    and self.same(stmt.array, original.array, env)
                    and self.same(stmt.a, original.a, env)
                    and self.same(stmt.b, original.b, env)
                )
            case If(), If():
                return self.same(stmt.cond, original.cond, env) and all(
                    self.alike_blocks(a, b, env)
                    for a, b in zip(blocks(stmt), blocks(original), strict=True)
                )
            case For(), For():
                if not self.same(stmt.trips, original.trips, env) or stmt.down != original.down:
                    return False
                if not self.same_many(stmt.init, original.init, env):
                    return False
                inner = {**env, original.index: stmt.index}
                return self.alike_blocks(stmt.body, original.body, inner)
            case While(), While():
                init = self.same_many(stmt.init, original.init, env)
                return init and self.alike_blocks(stmt.body, original.body, env)
            case Call(), Call():
                same = stmt.callee == original.callee and not (stmt.mirror or original.mirror)
                return same and self.same_many(stmt.args, original.args, env)
        return False

    def alike_blocks(self, block: Block, original: Block, env: dict[Value, Value]) -> bool:
        inner = {**env, **dict(zip(original.params, block.params, strict=True))}
        theirs = [stmt for stmt in original.stmts if not isinstance(stmt, Check)]
        if len(block.stmts) != len(theirs):
            return False
        for stmt, other in zip(block.stmts, theirs, strict=True):
            if not self.alike(stmt, other, inner):
                return False
            inner.update(zip(other.results, stmt.results, strict=True))
        return self.same_many(block.yields, original.yields, inner)

    def translated(
        self, index: Sequence[Operand], original: Sequence[Operand], env: dict[Value, Value]
    ) -> tuple[Operand, ...]:
        """Return the original's indices where the copy's are the same under `env`."""
        return tuple(
            theirs if self.same(mine, theirs, env) else mine
            for mine, theirs in zip(index, original, strict=True)
        )

    def same(self, operand: Operand, original: Operand, env: dict[Value, Value]) -> bool:
        if isinstance(original, Literal):
            return operand == original
        if original in env:
            return operand == env[original]
        return self.has(operand, original)

    def same_many(
        self, mine: Sequence[Operand], theirs: Sequence[Operand], env: dict[Value, Value]
    ) -> bool:
        return len(mine) == len(theirs) and all(
            self.same(a, b, env) for a, b in zip(mine, theirs, strict=True)
        )
