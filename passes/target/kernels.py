"""Turn nests of loops with independent iterations into launches: one thread per iteration.

    %s = for L %i in 0 to %n              %s.terms = empty[f64] %count
        carrying (%acc = 0.0:f64) {       parallel for L %i in 0 to %n {
      %s.2 = for M %j in 0 to %m            parallel for M %j in 0 to %m {
          carrying (%acc.1 = %acc) {          …
        …                                     write %c[%i, %j] %t
        write %c[%i, %j] %t                   write %s.terms[%k] %u
        %acc.2 = sum %acc.1 %u              }
        yield %acc.2                      }
      }                                   %s = for L.sum %k.1 in 0 to %count
      yield %s.2                              carrying (%acc = 0.0:f64) {
    }                                       %u.1 = load %s.terms[%k.1]
                                            %acc.2 = sum %acc %u.1
                                            yield %acc.2
                                          }

In a perfect nest, those loops become parallel along whose counters every iteration accesses its own
elements of all arrays that the nest writes; the others run sequentially in the thread. If there is
no such loop, additions to elements become atomic, for arrays that are only added to. This is buffer
form, after `expand_tape`: no iteration touches a tape. An array written in a nest has no alias
there, unless it is written over (`reuse`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.ir.analysis.dependence.accesses import same_axis
from adc.ir.analysis.dependence.combinations import is_combination, lengths, neutral
from adc.ir.analysis.dependence.threads import all_threads, is_measured, mirrored
from adc.ir.analysis.memory.aliases import Aliases
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    Write,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import BOOL, INT, Array, Scalar
from adc.ir.walk import (
    Names,
    block_reads,
    clone,
    loop_values,
    map_functions,
    map_stmts,
    stmt_reads,
    substitute,
    substitute_stmt,
)
from adc.passes.target.expand_tape import is_simple

# With fewer threads, a device would idle that could run more in parallel.
MANY = 8192


def kernels(fn: Function, deterministic: bool = False) -> Function:
    """Return `fn`, which is in buffer form, with its launches marked as parallel loops.

    If it is to be `deterministic`, threads do not add to elements that they share.
    """
    return map_functions(fn, lambda each: _Kernels(_settled(each), deterministic).run())


def _settled(fn: Function) -> Function:
    """Return `fn` without launches whose memory is unknown before they begin.

    `outline_kernels` marks none of them, but later passes may have changed what is known.
    """
    threads = all_threads(fn)
    left = {key for key, each in threads.items() if not is_measured(each)}
    for key, (pushed, _, _) in mirrored(fn).items():
        if key in threads and left & {key, id(pushed.stmt)}:
            left |= {key, id(pushed.stmt)}

    def settle(stmt: Stmt) -> Stmt:
        if id(stmt) in left and isinstance(stmt, For):
            return replace(stmt, parallel=False)
        return map_stmts(stmt, lambda stmts: map(settle, stmts))

    return replace(fn, body=tuple(map(settle, fn.body))) if left else fn


@dataclass(frozen=True)
class Nest:
    """Nested loops, the statements before each inner loop, and the innermost body."""

    loops: tuple[For, ...]
    # The statements of each loop before its inner loop begins, and the conditions for it to begin.
    before: tuple[tuple[Stmt | Operand, ...], ...]
    # The operation that combines each loop-carried number.
    ops: tuple[str, ...]


class Launches:
    """The facts about the loops of a function, and how they become launches."""

    def __init__(self, fn: Function, deterministic: bool = False) -> None:
        self.fn = fn
        # Whether sums must be reproducible to the last bit: then nothing is added atomically.
        self.deterministic = deterministic
        self.names = Names.of(fn)
        self.facts = Facts()
        self.aliases = Aliases(fn)
        self.lengths = lengths(fn)
        self.facts.learn(fn.body)

    # -- analysis --------------------------------------------------------------------------

    def nest(self, loop: For, tape: bool = False) -> Nest | None:
        """Return a loop with the loops in it; None if it does more than a thread can."""
        if not is_simple(loop, whiles=True):
            return None
        if not tape and any(isinstance(s, Push | Pop) for s in walk((loop,))):
            return None
        loops, before = [loop], []
        while (found := _only(loops[-1])) is not None:
            before.append(found[0])
            loops.append(found[1])
        ops = self.sums(loops[-1])
        return None if ops is None else Nest(tuple(loops), tuple(before), ops)

    def sums(self, loop: For) -> tuple[str, ...] | None:
        """Return the operation that combines the partial results of every carried number."""
        found: list[str] = []
        for k, param in enumerate(loop.body.params):
            kinds = _chain(param, loop.body, k)
            if kinds == {"add", "sum"}:
                kinds = {"sum"}
            if kinds is None or len(kinds) != 1:
                return None
            if not isinstance(param.type, Scalar) or param.type.kind == "b":
                return None
            found.append(kinds.pop())
        return tuple(found)

    def parallel_levels(self, nest: Nest) -> tuple[int, ...]:
        """Return which loops of a nest may become threads."""
        alone, loose = self.independent_levels(nest)
        return alone or loose

    def independent_levels(self, nest: Nest) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the loops that may become threads that share nothing, or only add atomically."""
        found: dict[Value, list[Load | Write]] = {}
        for stmt in walk(nest.loops[0].body.stmts):
            if isinstance(stmt, Load | Write):
                found.setdefault(self.aliases.written_over(stmt.array), []).append(stmt)
        inside = loop_values(nest.loops[0])
        able = [k for k, loop in enumerate(nest.loops) if loop.trips not in inside]
        written = [a for a, at in found.items() if any(isinstance(s, Write) for s in at)]
        # Arrays with different names do not alias: `storage` writes to none that has two readers.
        alone = self.own(nest, able, [found[array] for array in written])
        if self.deterministic:
            return alone, ()
        rest = [found[array] for array in written if not _is_only_added_to(found[array])]
        return alone, self.own(nest, able, rest)

    def own(
        self, nest: Nest, able: Sequence[int], arrays: Sequence[Sequence[Load | Write]]
    ) -> tuple[int, ...]:
        """Return the loops whose iterations have their own elements in all of some arrays."""
        inside = loop_values(nest.loops[0])
        return tuple(
            k
            for k in able
            if all(
                same_axis(at, nest.loops[k].index, inside, self.facts) is not None for at in arrays
            )
        )

    # -- rewriting -------------------------------------------------------------------------

    def launch(self, nest: Nest, side: Sequence[int]) -> list[Stmt]:
        done: list[Stmt] = []
        first = nest.loops[0]
        sizes = [self.size(nest.loops[k].trips, done) for k in side]
        parts = [neutral(op, p.type) for op, p in zip(nest.ops, first.body.params, strict=True)]
        body, ends = self.thread(nest, side, 0, parts)
        terms: list[Value] = []
        if nest.ops:
            count = sizes[0]
            place: Operand = nest.loops[side[0]].index
            for k, size in zip(side[1:], sizes[1:], strict=True):
                count = self.apply("mul", count, size, done)
                row = self.apply("mul", place, size, body)
                place = self.apply("add", row, nest.loops[k].index, body)
            for param, end in zip(first.body.params, ends, strict=True):
                array = Value(self.names.fresh(f"{param.name}.terms"), Array(param.type.dtype, 1))
                terms.append(array)
                dtype = (array.type.dtype,)
                done.append(Apply((array,), OPS["empty"], (count,), dtype, first.loc))
                body.append(Write(array, (place,), end, loc=first.loc))
        inner = tuple(body)
        for k in reversed(side):
            loop = nest.loops[k]
            block = Block((), inner, ())
            inner = (replace(loop, results=(), init=(), body=block, parallel=True),)
        done += inner
        if terms:
            done.append(self.reduction(nest, count, terms))
        return done

    def thread(
        self, nest: Nest, side: Sequence[int], at: int, given: Sequence[Operand]
    ) -> tuple[list[Stmt], list[Operand]]:
        """Return the code of a thread from a loop on, and the numbers that it yields."""
        loop = nest.loops[at]
        last = at == len(nest.loops) - 1
        if at in side:
            env = dict(zip(loop.body.params, given, strict=True))
            if last:
                stmts = [substitute_stmt(stmt, env) for stmt in loop.body.stmts]
                return stmts, [substitute(v, env) for v in loop.body.yields]
            before = [
                substitute(each, env)
                if isinstance(each, Value | Literal)
                else substitute_stmt(each, env)
                for each in nest.before[at]
            ]
            rest, ends = self.thread(nest, side, at + 1, given)
            return guarded(before, rest), ends
        # The results of the nest are the combined partial results.
        results = tuple(map(self.names.value, loop.results))
        if last:
            return [replace(loop, results=results, init=tuple(given))], list(results)
        rest, ends = self.thread(nest, side, at + 1, loop.body.params)
        block = Block(loop.body.params, tuple(guarded(nest.before[at], rest)), tuple(ends))
        return [replace(loop, results=results, init=tuple(given), body=block)], list(results)

    def reduction(self, nest: Nest, count: Operand, terms: Sequence[Value]) -> For:
        """Return the loop that combines the partial results."""
        loop = nest.loops[0]
        index = Value(self.names.fresh("k"), INT)
        stmts: list[Stmt] = []
        yields: list[Operand] = []
        params = tuple(map(self.names.value, loop.body.params))
        for param, op, array in zip(params, nest.ops, terms, strict=True):
            stored = Value(self.names.fresh("t"), Scalar(array.type.dtype))
            stmts.append(Load(stored, array, (index,), loop.loc))
            term: Operand = stored
            if param.type != stored.type:
                term = Value(self.names.fresh("t"), param.type)
                cast = (str(param.type),)
                stmts.append(Apply((term,), OPS["cast"], (stored,), cast, loop.loc))
            made = Value(self.names.fresh(param.name), param.type)
            stmts.append(Apply((made,), OPS[op], (param, term), (), loop.loc))
            yields.append(made)
        body = Block(params, tuple(stmts), tuple(yields))
        label = self.names.fresh(f"{loop.label}.sum")
        return For(loop.results, label, index, count, loop.init, body, loc=loop.loc)

    def apply(self, name: str, a: Operand, b: Operand, into: list[Stmt], ty: Scalar = INT) -> Value:
        made = Value(self.names.fresh("many" if ty == BOOL else "n"), ty)
        into.append(Apply((made,), OPS[name], (a, b)))
        return made

    def size(self, trips: Operand, into: list[Stmt]) -> Operand:
        """Return the trip count of a loop, as an integer that is not negative."""
        if isinstance(trips, Literal):
            return integer(max(int(trips.value), 0))
        if trips.type != INT:
            made = Value(self.names.fresh("n"), INT)
            into.append(Apply((made,), OPS["cast"], (trips,), (str(INT),)))
            trips = made
        return self.apply("maximum", trips, integer(0), into)


class _Kernels(Launches):
    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and (stmt.parallel or is_combination(stmt, self.lengths)):
                done.append(stmt)
                continue
            launched = self.launched(stmt) if isinstance(stmt, For) else None
            if launched is not None:
                done += launched
                continue
            done.append(map_stmts(stmt, self.stmts))
        return done

    def launched(self, loop: For) -> list[Stmt] | None:
        """Return a launch in place of a nest of loops, if there is one."""
        nest = self.nest(loop)
        if nest is None:
            return None
        alone, loose = self.independent_levels(nest)
        more = [nest.loops[k] for k in loose if k not in alone]
        if not alone or all(isinstance(each.trips, Literal) for each in more):
            side = alone or loose
            return self.launch(nest, side) if side else None
        return self.either(loop, nest, alone, loose)

    def either(
        self, loop: For, nest: Nest, alone: Sequence[int], loose: Sequence[int]
    ) -> list[Stmt]:
        """Return a launch of threads that share nothing, if those are many, or of all there are."""
        done: list[Stmt] = []
        sizes = [self.size(nest.loops[k].trips, done) for k in alone]
        count = sizes[0]
        for size in sizes[1:]:
            count = self.apply("mul", count, size, done)
        many = Value(self.names.fresh("many"), BOOL)
        done.append(Apply((many,), OPS["ge"], (count, integer(MANY)), (), loop.loc))
        arms = []
        for side in (alone, loose):
            copied = clone([loop], {}, self.names)[0]
            assert isinstance(copied, For)
            self.facts.learn((copied,))
            again = self.nest(copied)
            assert again is not None
            arms.append(Block((), tuple(self.launch(again, side)), copied.results))
        done.append(If(loop.results, many, arms[0], arms[1], loop.loc))
        return done


def _only(loop: For) -> tuple[tuple[Stmt | Operand, ...], For] | None:
    """Return the loop in a loop, and the statements and conditions that precede it.

    None if the loop does more.
    """
    stmts = loop.body.stmts
    before: list[Stmt | Operand] = []
    while stmts and isinstance(stmts[-1], If):
        guard = stmts[-1]
        if loop.body.params or guard.results or guard.orelse.stmts:
            return None
        before += [*stmts[:-1], guard.cond]
        stmts = guard.then.stmts
    if not stmts or not isinstance(inner := stmts[-1], For):
        return None
    before += stmts[:-1]
    computed = [s for s in before if isinstance(s, Apply | Load)]
    if len(computed) + sum(isinstance(s, Value | Literal) for s in before) < len(before):
        return None
    params, yields = loop.body.params, loop.body.yields
    if inner.init != params or yields != inner.results:
        return None
    read = {operand for s in computed for operand in operands(s)}
    return None if read & set(params) or inner.trips in params else (tuple(before), inner)


def guarded(before: Sequence[Stmt | Operand], rest: Sequence[Stmt]) -> list[Stmt]:
    """Return statements after those that precede them, and under their conditions."""
    done = list(rest)
    for each in reversed(before):
        if isinstance(each, Value | Literal):
            done = [If((), each, Block((), tuple(done), ()), Block((), (), ()))]
        else:
            done.insert(0, each)
    return done


def _chain(start: Operand, block: Block, k: int) -> set[str] | None:
    """Return the operations by which a block updates a number that is not read otherwise.

    None if it does more than combine it with other numbers, in inner loops and branches too.
    """
    end, now = block.yields[k], start
    kinds: set[str] = set()
    while True:
        at = [stmt for stmt in block.stmts if now in stmt_reads(stmt)]
        if now == end:
            return kinds if not at and block.yields.count(end) == 1 else None
        if len(at) != 1 or now in block.yields:
            return None
        match at[0]:
            case Apply(op=op, args=args, results=(result,)):
                by = arith.add if op is arith.sub and args[0] == now else op
                if by.neutral is None or args.count(now) > 1:
                    return None
                if start.type.kind != "f" and math.isinf(by.neutral):
                    return None
                kinds.add(by.name)
                now = result
            case For(init=init, body=body, results=results):
                if operands(at[0]).count(now) != 1 or now not in init or now in block_reads(body):
                    return None
                place = init.index(now)
                inner = _chain(body.params[place], body, place)
                if inner is None:
                    return None
                kinds |= inner
                now = results[place]
            case If(cond=cond, then=then, orelse=orelse, results=results):
                arms = [
                    place
                    for place in range(len(results))
                    if now != cond
                    and _chain(now, then, place) is not None
                    and _chain(now, orelse, place) is not None
                ]
                if len(arms) != 1:
                    return None
                for arm in (then, orelse):
                    kinds |= _chain(now, arm, arms[0]) or set()
                now = results[arms[0]]
            case _:
                return None


def _is_only_added_to(found: Sequence[Load | Write]) -> bool:
    return all(isinstance(s, Write) and s.accumulate for s in found)


__all__ = ["MANY", "Launches", "Nest", "guarded", "kernels"]
