"""Store the tape frames of loops in arrays with one element per iteration (tape expansion).

    for L %i in 0 to %n {                 %v.frames = empty[f64] %n
      %v = …                              for L %i in 0 to %n {
      push %v                               %v = …
    }                                       write %v.frames[%i] %v
    …                                     }
    for L.rev %i.r down from %n {         push %v.frames
      %v.r: f64 = pop                     …
      …                                   %v.frames.1: f64[:] = pop
    }                                     for L.rev %i.r down from %n {
                                            %v.r = load %v.frames.1[%i.r]
                                            …
                                          }

Iterations that store to elements of their own can run in any order; pushes cannot. Nested loops
become axes, the outer loop first. The trip counts must be known when the outermost of these loops
is entered; other loops keep pushing. A value that is pushed in a branch has an element whether or
not the branch is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.tape import TapeEntry, inside, matched
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import Names, loop_values, map_functions, map_stmts


def expand_tape(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with arrays in place of what its loops push."""
    return map_functions(fn, lambda each: _Frames(each).run())


@dataclass(frozen=True)
class _Pair:
    """A push and the pop that takes its frame, and the loops around each, outermost first."""

    push: Push
    pop: Pop
    pushing: tuple[For, ...]
    popping: tuple[For, ...]


class _Frames:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.names = Names.of(fn)
        # By the outermost loop: the arrays that it fills, and pushes when it ends; by a push, the
        # arrays that its values go to. The same for loops that pop.
        self.filled: dict[int, list[tuple[Value, tuple[Operand, ...]]]] = {}
        self.read: dict[int, list[Value]] = {}
        self.places: dict[int, tuple[list[Value], tuple[Value, ...]]] = {}
        # Statements in parallel loops, whose threads have private tapes, and these loops.
        self.alone = {
            id(stmt)
            for loop in walk(fn.body)
            if isinstance(loop, For) and loop.parallel
            for stmt in walk((loop,))
        }

    def run(self) -> Function:
        matched(self.fn.body, self.meet)
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    # -- matching pushes and pops ----------------------------------------------------------

    def meet(self, pushed: TapeEntry, popped: TapeEntry) -> None:
        """Match a loop that pushes with the loop that pops its frames, or look into both."""
        a, b = pushed.stmt, popped.stmt
        if id(a) in self.alone:
            return
        if isinstance(a, For) and isinstance(b, For) and is_simple(a) and is_simple(b):
            pairs = self.pairs(pushed, popped, (), ())
            if pairs is not None and self.is_known(a, pairs):
                self.place(a, b, pairs)
                return
        for one, other in inside(pushed, popped):
            self.meet(one, other)

    def pairs(
        self,
        pushed: TapeEntry,
        popped: TapeEntry,
        pushing: tuple[For, ...],
        popping: tuple[For, ...],
    ) -> list[_Pair] | None:
        """Return all pushes and pops in two loops; None if they do not mirror each other."""
        a, b = pushed.stmt, popped.stmt
        if isinstance(a, Push) and isinstance(b, Pop):
            same = [v.type.dtype for v in a.values] == [v.type.dtype for v in b.results]
            return [_Pair(a, b, pushing, popping)] if same else None
        if isinstance(a, For) and isinstance(b, For):
            pushing, popping = (*pushing, a), (*popping, b)
        elif not (isinstance(a, If) and isinstance(b, If)):
            return None
        found: list[_Pair] = []
        for some, others in zip(pushed.parts, popped.parts, strict=True):
            if len(some) != len(others):
                return None
            for one, other in zip(reversed(some), others, strict=True):
                more = self.pairs(one, other, pushing, popping)
                if more is None:
                    return None
                found += more
        return found

    def is_known(self, loop: For, pairs: Sequence[_Pair]) -> bool:
        """Whether all trip counts are known when the outermost loop is entered."""
        inside = loop_values(loop)
        return not any(each.trips in inside for pair in pairs for each in pair.pushing)

    def place(self, a: For, b: For, pairs: Sequence[_Pair]) -> None:
        """Give every value of every frame an array."""
        filled: list[tuple[Value, tuple[Operand, ...]]] = []
        read: list[Value] = []
        for pair in pairs:
            ours: list[Value] = []
            theirs: list[Value] = []
            for value in pair.push.values:
                ty = Array(value.type.dtype, len(pair.pushing))
                hint = f"{value.name if isinstance(value, Value) else 'v'}.frames"
                ours.append(Value(self.names.fresh(hint), ty))
                theirs.append(Value(self.names.fresh(hint), ty))
                filled.append((ours[-1], tuple(each.trips for each in pair.pushing)))
            read += theirs
            self.places[id(pair.push)] = ours, tuple(each.index for each in pair.pushing)
            self.places[id(pair.pop)] = theirs, tuple(each.index for each in pair.popping)
        self.filled[id(a)], self.read[id(b)] = filled, read

    # -- rewriting -------------------------------------------------------------------------

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            filled, read = self.filled.get(id(stmt), []), self.read.get(id(stmt))
            for array, sizes in filled:
                dims = tuple(self.size(size, done) for size in sizes)
                done.append(Apply((array,), OPS["empty"], dims, (array.type.dtype,), stmt.loc))
            if read is not None:
                done.append(Pop(tuple(read), stmt.loc))
            done += self.stmt(stmt)
            if filled:
                done.append(Push(tuple(array for array, _ in filled), stmt.loc))
        return done

    def stmt(self, stmt: Stmt) -> list[Stmt]:
        place = self.places.get(id(stmt))
        if place is None:
            return [map_stmts(stmt, self.stmts)]
        arrays, index = place
        if isinstance(stmt, Push):
            return [
                Write(array, index, value, loc=stmt.loc)
                for array, value in zip(arrays, stmt.values, strict=True)
            ]
        assert isinstance(stmt, Pop)
        done: list[Stmt] = []
        for array, value in zip(arrays, stmt.results, strict=True):
            stored = Scalar(array.type.dtype)
            if value.type == stored:
                done.append(Load(value, array, index, stmt.loc))
                continue
            number = self.names.fresh(value.name)
            done.append(Load(Value(number, stored), array, index, stmt.loc))
            args = (Value(number, stored),)
            done.append(Apply((value,), OPS["cast"], args, (str(value.type),), stmt.loc))
        return done

    def size(self, trips: Operand, into: list[Stmt]) -> Operand:
        """Return a trip count as a size: zero if it is negative."""
        if not isinstance(trips, Value):
            return replace(trips, value=max(int(trips.value), 0))
        number = trips
        if trips.type != INT:
            number = Value(self.names.fresh("n"), INT)
            into.append(Apply((number,), OPS["cast"], (trips,), (str(INT),)))
        most = Value(self.names.fresh("n"), INT)
        into.append(Apply((most,), OPS["maximum"], (number, integer(0)), ()))
        return most


def is_simple(loop: For, whiles: bool = False) -> bool:
    """Whether a loop only computes with numbers and elements: it may become one launch."""
    for stmt in walk(loop.body.stmts):
        if isinstance(stmt, Call | Print | Gemm) or (isinstance(stmt, While) and not whiles):
            return False
        if isinstance(stmt, Load | Write):
            continue
        if isinstance(stmt, Apply) and stmt.op.asks_shape:
            continue
        inner = [v for block in blocks(stmt) for v in block.params]
        if any(isinstance(v.type, Array) for v in (*operands(stmt), *stmt.results, *inner)):
            return False
    return True


__all__ = ["expand_tape", "is_simple"]
