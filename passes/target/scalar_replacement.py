"""Carry elements that the next iteration reads again in registers (scalar replacement).

Reverse code of a stencil or a recurrence adds to an element in one iteration and reads it in the
next: a store followed by a load of the same element, on the critical path of the loop. LLVM must
assume that neighbouring rows of one array alias; here they are known to be distinct.
Before::

    for L %i in 0 to %n down {
      %i.1 = add %i 1
      %t = load %a[%i.1]
      %d = mul %t 0.5
      write+ %a[%i] %d
    }

After: the value that an iteration leaves in ``a[i]`` is the next one's ``a[i + 1]``. ::

    %c, … = load of the first iteration, if there is one
    for L %i in 0 to %n down carrying (%r = %c) {
      %d = mul %r 0.5
      %e = load %a[%i]
      %r.1 = add %e %d
      write %a[%i] %r.1
      yield %r.1
    }

All elements are still stored, except those that the same iteration overwrites, and no bit changes.
Loops without loop-carried elements are left to LLVM, which may vectorise them.

See Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", PLDI
1990.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from adc.ir.analysis.memory.iterations import IterationAnalysis
from adc.ir.analysis.sizes.affine import Form, computed, constant
from adc.ir.builder import integer, zero
from adc.ir.core import (
    Apply,
    Block,
    Check,
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
    While,
    Write,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import BOOL, Array, Scalar
from adc.ir.walk import map_blocks, map_functions, map_operands, map_stmts, stmt_reads, substitute

Subscript = tuple[Form, ...]
# Loops of fewer iterations are unrolled by LLVM, which then does all this.
_FEW = 4


def scalar_replacement(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with loops that carry elements in registers."""
    return map_functions(fn, lambda each: _Registers(each).run())


class _Registers(IterationAnalysis):
    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and not any(
                isinstance(inner, For | While) for inner in walk(stmt.body.stmts)
            ):
                done += self.innermost(stmt)
            else:
                done.append(map_stmts(stmt, self.stmts))
        return done

    def innermost(self, loop: For) -> list[Stmt]:
        """Return a loop, preceded by the loads of the first elements."""
        if loop.parallel or (isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW):
            return [loop]
        written: list[Value] = []
        for stmt in loop.body.stmts:
            match stmt:
                case Write(array=array):
                    written.append(array)
                case Apply() | Load():
                    pass
                case Push(values=values) | Pop(results=values) if not any(
                    isinstance(value.type, Array) for value in values
                ):
                    pass
                case If() if all(isinstance(s, Apply | Load | If) for s in walk((stmt,))):
                    pass
                case _:
                    return [loop]
        found: list[Stmt] = [loop]
        for array in dict.fromkeys(written):
            if array in self.inside(loop):
                continue  # another one in each iteration
            if array in self.shared and any(w != array and w in self.shared for w in written):
                continue
            *before, last = found
            assert isinstance(last, For)
            found = [*before, *self.with_registers(last, array)]
        return found

    def with_registers(self, loop: For, array: Value) -> list[Stmt]:
        """Return a loop that carries elements of an array, and the statements before it."""
        inside = self.inside(loop)
        places: dict[int, Subscript] = {}  # of accesses, by their position in the body
        for at, stmt in enumerate(loop.body.stmts):
            if isinstance(stmt, Load | Write) and stmt.array == array:
                place = tuple(self.facts.form(operand) for operand in stmt.index)
                inner = {value for form in place for value, _ in form.terms} & inside
                if inner <= {loop.index}:
                    places[at] = place
                elif isinstance(stmt, Write):
                    return [loop]
                value = stmt.value if isinstance(stmt, Write) else stmt.result
                if value.type.dtype != _element(array).dtype:
                    return [loop]
            elif isinstance(stmt, Apply) and array in stmt.args and not stmt.op.asks_shape:
                return [loop]
        wanted = self.wanted(loop, places)
        if not wanted:
            return [loop]
        body = _Body(self, loop, places, self.fresh(array, wanted))
        chain = body.recurring()
        if chain and chain != wanted:
            # Only these are on the critical path; the others can be loaded and stored meanwhile.
            body = _Body(self, loop, places, self.fresh(array, chain))
        before: list[Stmt] = []
        first = self.first(loop, array, list(body.begun), before)
        changed = replace(
            loop,
            results=(*loop.results, *self.fresh(array, list(body.begun)).values()),
            init=(*loop.init, *first),
            body=Block(
                (*loop.body.params, *body.begun.values()),
                body.without_overwritten(array),
                (*(substitute(each, body.env) for each in loop.body.yields), *body.ends),
            ),
        )
        return [*before, changed]

    def fresh(self, array: Value, places: Sequence[Subscript]) -> dict[Subscript, Value]:
        """Return new scalars for the elements at some subscripts."""
        element = _element(array)
        return {place: Value(self.names.fresh(array.name), element) for place in places}

    def wanted(self, loop: For, places: dict[int, Subscript]) -> list[Subscript]:
        """Return the subscripts that an iteration reads and the one before it has written."""
        last: dict[Subscript, bool] = {}  # subscripts whose element is known; whether by a store
        reads: list[Subscript] = []
        stores: list[Subscript] = []
        for at, place in places.items():
            stmt = loop.body.stmts[at]
            write = isinstance(stmt, Write)
            if (not isinstance(stmt, Write) or stmt.accumulate) and place not in last:
                if all(_differ(place, other) for other in stores):
                    reads.append(place)
            if write:
                stores.append(place)
                last = {other: by for other, by in last.items() if _differ(place, other)}
            last[place] = write or last.get(place, False)
        return list(dict.fromkeys(p for p in reads if last.get(_shifted(p, loop))))

    def first(
        self, loop: For, array: Value, places: Sequence[Subscript], before: list[Stmt]
    ) -> list[Operand]:
        """Return the values of the elements for the first iteration, emitted in front of it."""
        loads: list[Stmt] = []
        element = _element(array)
        trips = self.integer(loop.trips, before)
        start: Form = constant(0)
        if loop.down:
            start = self.facts.form(trips) + -1
        found: list[Operand] = []
        for place in places:
            index = tuple(
                computed(
                    form.without(loop.index) + start * form.coefficient(loop.index),
                    self.names,
                    loads,
                )
                for form in place
            )
            result = Value(self.names.fresh(array.name), element)
            loads.append(Load(result, array, index, loop.loc))
            found.append(result)
        if isinstance(trips, Literal):
            before += loads
            return found
        runs = Value(self.names.fresh("t"), BOOL)
        before.append(Apply((runs,), OPS["gt"], (trips, integer(0)), (), loop.loc))
        results = tuple(Value(self.names.fresh(array.name), element) for _ in found)
        then = Block((), tuple(loads), tuple(found))
        orelse = Block((), (), tuple(zero(element) for _ in found))
        before.append(If(results, runs, then, orelse, loop.loc))
        return list(results)


class _Body:
    """The body of a loop, rewritten: `known` has the current values of elements."""

    def __init__(
        self, of: _Registers, loop: For, places: dict[int, Subscript], begun: dict[Subscript, Value]
    ) -> None:
        self.of, self.begun = of, begun
        self.known: dict[Subscript, Operand] = dict(begun)
        self.env: dict[Value, Operand] = {}
        self.stmts: list[tuple[Stmt, Subscript | None]] = []
        read = {place for at, place in places.items() if isinstance(loop.body.stmts[at], Load)}
        self.asked = {*read, *begun, *(_shifted(place, loop) for place in begun)}
        for at, stmt in enumerate(loop.body.stmts):
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            stmt = map_blocks(stmt, self.block)
            place = places.get(at)
            if place is None:
                self.stmts.append((stmt, None))
            elif isinstance(stmt, Load):
                self.load(stmt, place)
            elif isinstance(stmt, Write):
                self.write(stmt, place)
        self.ends = [self.known[_shifted(place, loop)] for place in begun]

    def recurring(self) -> list[Subscript]:
        """Return the subscripts whose elements depend on themselves in earlier iterations."""
        # By value: the subscripts that it is computed from.
        part: dict[Operand, set[Subscript]] = {
            value: {place} for place, value in self.begun.items()
        }
        for stmt, _ in self.stmts:
            found = set[Subscript]().union(*(part.get(read, ()) for read in stmt_reads(stmt)))
            part.update(dict.fromkeys(stmt.results, found))
        of = {place: part.get(end, set()) for place, end in zip(self.begun, self.ends, strict=True)}
        for _ in of:
            of = {place: found.union(*(of[p] for p in found)) for place, found in of.items()}
        return [place for place, found in of.items() if place in found]

    def block(self, block: Block) -> Block:
        def read(operand: Operand) -> Operand:
            return substitute(operand, self.env)

        stmts = (map_blocks(map_operands(stmt, read), self.block) for stmt in block.stmts)
        return Block(block.params, tuple(stmts), tuple(map(read, block.yields)))

    def load(self, stmt: Load, place: Subscript) -> None:
        if place in self.known:
            self.env[stmt.result] = self.known[place]
        else:
            self.known[place] = stmt.result
            self.stmts.append((stmt, place))

    def write(self, stmt: Write, place: Subscript) -> None:
        element = _element(stmt.array)
        old = self.known.get(place)
        self.known = {other: v for other, v in self.known.items() if _differ(place, other)}
        value = stmt.value
        if stmt.accumulate:
            if old is None and place not in self.asked:
                self.stmts.append((stmt, place))
                return
            if old is None:
                old = Value(self.of.names.fresh(stmt.array.name), element)
                self.stmts.append((Load(old, stmt.array, stmt.index, stmt.loc), place))
            value = self.made("add", (old, value), element, stmt)
        if value.type != element:
            value = self.made("cast", (value,), element, stmt)
        self.known[place] = value
        self.stmts.append((replace(stmt, value=value, accumulate=False), place))

    def made(self, name: str, args: tuple[Operand, ...], ty: Scalar, stmt: Write) -> Value:
        result = Value(self.of.names.fresh(stmt.array.name), ty)
        params = (str(ty),) if name == "cast" else ()
        self.stmts.append((Apply((result,), OPS[name], args, params, stmt.loc), None))
        return result

    def without_overwritten(self, array: Value) -> tuple[Stmt, ...]:
        """Return the statements without stores that the iteration overwrites unread."""
        kept: list[Stmt] = []
        dead: set[Subscript] = set()
        for stmt, place in reversed(self.stmts):
            if isinstance(stmt, Write) and place is not None and not stmt.accumulate:
                if place in dead:
                    continue
                dead.add(place)
            elif place is not None:
                dead = {other for other in dead if _differ(place, other)}
            elif _may_read(stmt, array, self.of.shared):
                dead.clear()
            kept.append(stmt)
        return tuple(reversed(kept))


def _element(array: Value) -> Scalar:
    assert isinstance(array.type, Array)
    return array.type.element


def _may_read(stmt: Stmt, array: Value, shared: Collection[Operand]) -> bool:
    """Whether a statement may read an array, perhaps through an alias, or end the loop."""

    def same(operands: Iterable[Operand]) -> bool:
        return any(o == array or (o in shared and array in shared) for o in operands)

    return any(isinstance(s, Check) or same(operands(s)) for s in walk((stmt,)))


def _shifted(place: Subscript, loop: For) -> Subscript:
    """Return a subscript of this iteration as one of the previous iteration."""
    step = -1 if loop.down else 1
    return tuple(form + form.coefficient(loop.index) * step for form in place)


def _differ(a: Subscript, b: Subscript) -> bool:
    """Whether two subscripts of one iteration are never the same element."""
    differences = [mine - other for mine, other in zip(a, b, strict=True)]
    return any(each.const and not each.terms for each in differences)


__all__ = ["scalar_replacement"]
