"""Replace arrays with few elements and constant indices by scalars.

Before::

    %a = empty[f64] 2
    %a.1 = store %a[0] %x
    %a.2 = store %a.1[1] %y
    %s = for L %i in 0 to 2 carrying (%s.1 = 0.0:f64) {
      %t = load %a.2[%i]
      %s.2 = add %s.1 %t
      yield %s.2
    }

After::

    %s.1 = add 0.0:f64 %x
    %s = add %s.1 %y

Only the elements that are read or written count: the array may have others, and a size that is
known only at run time. Branches yield elements, and loops carry them, in place of such arrays.
Short loops over their elements are unrolled if the code stays small. An array stays if it is used
as a whole, or with an index that is known only at run time. No bit changes: sums in lanes are added
term by term, as short sums are in loops.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.sizes.affine import Same, equated
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Literal,
    Load,
    Mark,
    Operand,
    Pop,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.sums import lane_values, summed
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import Names, clone, inner_values, map_functions, map_operands, marked, substitute
from adc.passes.scalar.simplify import simplify

# The most elements of an array that becomes scalars, and the most statements of an unrolled loop.
ELEMENTS = 16
UNROLLED = 80

Sizes = tuple[Operand, ...]
# The numbers of the elements that are read or written, by their indices.
Cells = dict[tuple[int, ...], int]


def scalars(fn: Function) -> Function:
    """Return `fn`, which is value form without Recalls, with scalars in place of small arrays."""
    unrolled = {each.name: _unrolled(each) for each in (*fn.callees, fn)}
    if any(unrolled[each.name] is not each for each in (*fn.callees, fn)):
        callees = tuple(unrolled[each.name] for each in fn.callees)
        fn = simplify(replace(unrolled[fn.name], callees=callees))
    return map_functions(fn, _replaced)


def _is_plain(fn: Function) -> bool:
    """Whether a function has no reverse code, which mirrors its branches and loops."""
    kinds = Recall | Reverse | Push | Pop
    return not fn.mirror and not any(isinstance(stmt, kinds) for stmt in walk(fn.body))


# --- which arrays ---------------------------------------------------------------------------------


class _Webs:
    """Arrays that are versions of each other, or merge in branches and loops.

    `counters` has the integers that are compile-time constants once loops are unrolled.
    """

    def __init__(self, fn: Function, counters: _Counters) -> None:
        self.counters = counters
        self.same: Same[Value] = Same()
        # By the value that stands for a web; constants where they are known.
        self.sizes: dict[Value, Sizes] = {}
        self.cells: dict[Value, Cells] = {}
        self.refused: set[Value] = set()
        self.accesses: list[Load | Store] = []
        self.defs: dict[Value, Apply] = {}
        # Sizes that a check has found to be constants.
        self.numbers: dict[Operand, Literal] = {}
        for value in (*fn.params, *fn.results):
            self.refuse(value)
        self.block(fn.body)
        self.count()

    def refuse(self, value: Operand) -> None:
        if isinstance(value, Value) and isinstance(value.type, Array):
            self.refused.add(self.same.find(value))

    def join(self, *values: Operand) -> None:
        found = [v for v in values if isinstance(v, Value) and isinstance(v.type, Array)]
        for other in found[1:]:
            a, b = self.same.find(found[0]), self.same.find(other)
            if a == b:
                continue
            self.same.join(a, b)
            sizes = {self.sizes[each] for each in (a, b) if each in self.sizes}
            if b in self.refused or len(sizes) > 1:
                self.refused.add(a)
            self.sizes.update((a, each) for each in sizes)

    def sizes_of(self, value: Value) -> Sizes | None:
        """Return the sizes of an array that becomes scalars."""
        if not isinstance(value.type, Array):
            return None
        root = self.same.find(value)
        return None if root in self.refused else self.sizes.get(root)

    def cells_of(self, value: Value) -> Cells | None:
        """Return the elements of an array that becomes scalars."""
        return None if self.sizes_of(value) is None else self.cells.get(self.same.find(value), {})

    def count(self) -> None:
        """Number the elements that are accessed, in C order; refuse arrays with too many."""
        found: dict[Value, set[tuple[int, ...]]] = {}
        for access in self.accesses:
            sizes = self.sizes_of(access.array)
            if sizes is None:
                continue
            values = list(map(self.values_of, access.index, sizes))
            if 0 < math.prod(map(len, values)) <= ELEMENTS:
                found.setdefault(self.same.find(access.array), set()).update(
                    itertools.product(*values)
                )
            else:
                self.refuse(access.array)
        for root, every in found.items():
            if len(every) > ELEMENTS:
                self.refused.add(root)
            self.cells[root] = {index: k for k, index in enumerate(sorted(every))}

    def values_of(self, index: Operand, size: Operand) -> Sequence[int]:
        """Return the values of an index; none if it may be out of bounds, or is not known.

        After a check that fails, an index may be out of bounds.
        """
        length = int(size.value) if isinstance(size, Literal) else None
        if isinstance(index, Literal):
            values = range(int(index.value), int(index.value) + 1)
        elif index in self.counters.trips:
            values = range(self.counters.trips[index])
        else:
            values = range(length or 0)
        return [k for k in values if 0 <= k and (length is None or k < length)]

    def block(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)
            for inner in blocks(stmt):
                known = dict(self.numbers)
                self.block(inner.stmts)
                self.numbers = known

    def is_named(self, index: Operand) -> bool:
        return isinstance(index, Literal) or index in self.counters.of

    def stmt(self, stmt: Stmt) -> None:
        for value in (*stmt.results, *inner_values(stmt)):
            # An array that is restored in place stays an array; other marks are copied to the
            # elements, as no bit depends on them.
            if value.mark is not None and value.mark.kind == "invertible":
                self.refuse(value)
        match stmt:
            case Check() if (equal := equated(stmt, self.defs)) is not None:
                for size, number in (equal, equal[::-1]):
                    if isinstance(number, Literal):
                        self.numbers[size] = Literal(number.value, INT)
            case Apply(results=(result,), op=op) if (op.allocates or op.undefined) and isinstance(
                result.type, Array
            ):
                self.made(stmt, result)
            case Apply(op=op) if op.asks_shape or op is arith.eq:
                self.defs[stmt.result] = stmt
            case Load(index=index) if all(map(self.is_named, index)):
                self.accesses.append(stmt)
            case Store(result=result, array=array, index=index):
                self.accesses.append(stmt)
                self.join(array, result)
                if not all(map(self.is_named, index)):
                    self.refuse(array)
            case If(results=results, then=then, orelse=orelse):
                for each in zip(results, then.yields, orelse.yields, strict=True):
                    self.join(*each)
            case (
                For(results=results, init=init, body=body)
                | While(results=results, init=init, body=body)
            ):
                yields = body.yields[len(body.yields) - len(init) :]
                for four in zip(results, init, body.params, yields, strict=True):
                    self.join(*four)
            case _:
                for operand in (*operands(stmt), *stmt.results):
                    self.refuse(operand)

    def made(self, stmt: Apply, result: Value) -> None:
        if stmt.op.copies:
            self.join(stmt.args[0], result)
            return
        if stmt.op.undefined:
            return
        dims = stmt.args[stmt.op.sizes :]
        self.sizes[self.same.find(result)] = tuple(self.numbers.get(dim, dim) for dim in dims)


# --- loops over elements --------------------------------------------------------------------------


def _unrolled(fn: Function) -> Function:
    """Return `fn` with loops over the elements of arrays that become scalars unrolled."""
    if not _is_plain(fn):
        return fn
    counters = _Counters()
    counters.block(fn.body)
    if not counters.of:
        return fn
    webs = _Webs(fn, counters)
    chosen: set[Value] = set()
    for stmt in walk(fn.body):
        if isinstance(stmt, Load | Store) and webs.sizes_of(stmt.array) is not None:
            chosen.update(*(counters.of.get(i, ()) for i in stmt.index if isinstance(i, Value)))
    if not chosen:
        return fn
    env: dict[Value, Operand] = {}
    body = tuple(_Unroller(fn, chosen).stmts(fn.body, env))
    return replace(fn, body=body, results=tuple(substitute(each, env) for each in fn.results))


@dataclass
class _Counters:
    """Integers that are constant once loops are unrolled, and the counters they depend on."""

    of: dict[Value, frozenset[Value]] = field(default_factory=dict)
    # The trip counts of these loops.
    trips: dict[Operand, int] = field(default_factory=dict)

    def block(self, stmts: Sequence[Stmt]) -> int:
        """Visit statements; return how many they become."""
        total = 0
        for stmt in stmts:
            total += 1
            match stmt:
                case For(index=index, trips=Literal(value=trips), body=body):
                    known = dict(self.of)
                    self.of[index] = frozenset((index,))
                    self.trips[index] = int(trips)
                    inside = self.block(body.stmts) * int(trips)
                    if not 0 < inside <= UNROLLED:
                        self.of = known
                        inside = self.block(body.stmts)
                    total += inside
                case Apply(results=(result,), op=op, args=args) if result.type == INT:
                    if op.kinds == "i" or any(isinstance(a, Value) for a in args):
                        self.apply(result, args)
                case _:
                    total += sum(self.block(block.stmts) for block in blocks(stmt))
        return total

    def apply(self, result: Value, args: Sequence[Operand]) -> None:
        values = [arg for arg in args if isinstance(arg, Value)]
        if all(value in self.of for value in values):
            self.of[result] = frozenset().union(*(self.of[value] for value in values))


class _Unroller:
    def __init__(self, fn: Function, chosen: set[Value]) -> None:
        self.names = Names.of(fn)
        self.chosen = chosen
        self.lanes = lane_values(fn)

    def stmts(self, stmts: Sequence[Stmt], env: dict[Value, Operand]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, env))
            match stmt:
                case For(index=index) if index in self.chosen and not self.in_lanes(stmt):
                    done += self.loop(stmt, env)
                case For(body=body) | While(body=body):
                    done.append(replace(stmt, body=self.block(body, env)))
                case If(then=then, orelse=orelse):
                    arms = self.block(then, env), self.block(orelse, env)
                    done.append(replace(stmt, then=arms[0], orelse=arms[1]))
                case _:
                    done.append(stmt)
        return done

    def block(self, block: Block, env: dict[Value, Operand]) -> Block:
        stmts = self.stmts(block.stmts, env)
        yields = tuple(substitute(operand, env) for operand in block.yields)
        return Block(block.params, tuple(stmts), yields)

    def in_lanes(self, loop: For) -> bool:
        """Whether the order of a sum depends on enclosing or inner loops."""
        chains = summed(loop)
        return any(chain.nested for chain in chains.values()) or any(
            param in self.lanes and (k not in chains or loop.init[k] in self.lanes)
            for k, param in enumerate(loop.body.params)
        )

    def loop(self, loop: For, env: dict[Value, Operand]) -> list[Stmt]:
        chains = summed(loop)
        members = frozenset[Value]().union(*(chain.members for chain in chains.values()))
        body = replace(loop.body, stmts=tuple(_added(loop.body.stmts, members)))
        neutral = {k: Literal(-0.0, loop.body.params[k].type) for k in chains}
        carried: list[Operand] = [neutral.get(k, init) for k, init in enumerate(loop.init)]
        done: list[Stmt] = []
        assert isinstance(loop.trips, Literal)
        order = range(int(loop.trips.value))
        for k in reversed(order) if loop.down else order:
            own: dict[Value, Operand] = {loop.index: Literal(k, INT)}
            # A lane has the terms of one iteration.
            given = [neutral.get(j, operand) for j, operand in enumerate(carried)]
            own.update(zip(body.params, given, strict=True))
            # Loops in the body are unrolled in the copy, whose counters have other names.
            copied = clone(body.stmts, own, self.names)
            self.chosen |= {v for old in tuple(self.chosen) if isinstance(v := own.get(old), Value)}
            self.lanes |= {v for old in self.lanes if isinstance(v := own.get(old), Value)}
            done += self.stmts(copied, env)
            found = [substitute(own.get(y, y) if isinstance(y, Value) else y, env)
                     for y in body.yields]  # fmt: skip
            for j in chains:
                found[j] = self.sum_of(carried[j], found[j], loop, done)
            carried = found
        for j in chains:
            carried[j] = self.sum_of(loop.init[j], carried[j], loop, done)
        env.update(zip(loop.results, carried, strict=True))
        return done

    def sum_of(self, a: Operand, b: Operand, loop: For, done: list[Stmt]) -> Value:
        mark = loop.results[0].mark
        result = Value(self.names.fresh("s"), b.type, mark)
        done.append(Apply((result,), OPS["add"], (a, b), (), loop.loc))
        return result


def _added(stmts: Sequence[Stmt], members: frozenset[Value]) -> Iterator[Stmt]:
    """Yield the statements that add to partial sums in program order."""
    for stmt in stmts:
        if isinstance(stmt, Apply) and stmt.op.reorders and stmt.args[0] in members:
            stmt = replace(stmt, op=OPS["add"])
        elif isinstance(stmt, If):
            then, orelse = (
                replace(arm, stmts=tuple(_added(arm.stmts, members)))
                for arm in (stmt.then, stmt.orelse)
            )
            stmt = replace(stmt, then=then, orelse=orelse)
        yield stmt


# --- numbers in place of arrays -------------------------------------------------------------------


def _replaced(fn: Function) -> Function:
    """Return `fn` with scalars in place of arrays with constant indices only."""
    if not _is_plain(fn):
        return fn
    webs = _Webs(fn, _Counters())
    if not any(webs.sizes_of(v) is not None for stmt in walk(fn.body) for v in stmt.results):
        return fn
    replacer = _Replacer(fn, webs)
    body = tuple(replacer.stmts(fn.body))
    if replacer.marks:
        body = marked(body, lambda value: replacer.marks.get(value, value.mark))
    results = tuple(substitute(each, replacer.env) for each in fn.results)
    return replace(fn, body=body, results=results)


class _Replacer:
    def __init__(self, fn: Function, webs: _Webs) -> None:
        self.names = Names.of(fn)
        self.webs = webs
        # The elements of arrays, by their numbers.
        self.elements: dict[Value, list[Operand]] = {}
        self.env: dict[Value, Operand] = {}
        # Unmarked operations and loads, and the marks that they get.
        self.computed: set[Operand] = {
            value
            for stmt in walk(fn.body)
            if isinstance(stmt, Apply | Load)
            for value in stmt.results
            if value.mark is None
        }
        self.marks: dict[Operand, Mark] = {}

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            done += self.stmt(stmt)
        return done

    def split(self, value: Operand) -> list[Operand]:
        """Return the replacement of an operand: the elements of an array that became scalars."""
        if isinstance(value, Value) and self.webs.cells_of(value) is not None:
            return self.elements[value]
        return [substitute(value, self.env)]

    def named(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values that a statement binds, arrays replaced by their elements."""
        found: list[Value] = []
        for value in values:
            cells = self.webs.cells_of(value)
            if cells is None:
                found.append(value)
                continue
            ty = _element(value)
            new = [Value(self.names.fresh(value.name), ty, value.mark) for _ in cells]
            self.elements[value] = list(new)
            found += new
        return tuple(found)

    def all(self, values: Sequence[Operand]) -> tuple[Operand, ...]:
        return tuple(itertools.chain.from_iterable(map(self.split, values)))

    def place(self, stmt: Load | Store) -> int:
        cells = self.webs.cells_of(stmt.array)
        assert cells is not None
        return cells[tuple(int(index.value) for index in stmt.index if isinstance(index, Literal))]

    def stmt(self, stmt: Stmt) -> Sequence[Stmt]:
        match stmt:
            case Apply(results=(result,)) if self.webs.cells_of(result) is not None:
                return self.made(stmt, result)
            case Apply(op=op, args=(Value() as array,), params=(axis,)) if op.asks_shape and (
                sizes := self.webs.sizes_of(array)
            ):
                self.env[stmt.result] = substitute(sizes[int(axis)], self.env)
                return ()
            case Load(result=result, array=array) if self.webs.cells_of(array) is not None:
                self.env[result] = self.elements[array][self.place(stmt)]
                return ()
            case Store(array=array) if self.webs.cells_of(array) is not None:
                return self.stored(stmt)
            case If(results=results):
                then, orelse = self.block(stmt.then), self.block(stmt.orelse)
                return [replace(stmt, results=self.named(results), then=then, orelse=orelse)]
            case For() | While():
                init = self.all(stmt.init)
                body = self.block(stmt.body)
                return [replace(stmt, results=self.named(stmt.results), init=init, body=body)]
        return [stmt]

    def block(self, block: Block) -> Block:
        params = self.named(block.params)
        stmts = tuple(self.stmts(block.stmts))
        return Block(params, stmts, self.all(block.yields))

    def made(self, stmt: Apply, result: Value) -> Sequence[Stmt]:
        cells = self.webs.cells_of(result)
        assert cells is not None
        done: list[Stmt] = []
        if stmt.op.copies:
            self.elements[result] = list(self.split(stmt.args[0]))
            self.note(result.mark, self.elements[result])
            return done
        ty = _element(result)
        if stmt.op.fills:
            value = self.converted(stmt.args[0], ty, stmt, done)
        else:
            value = Value(self.names.fresh(result.name), ty, result.mark)
            done.append(Apply((value,), OPS["undef"], (), (str(ty),), stmt.loc))
        self.elements[result] = [value] * len(cells)
        return done

    def stored(self, stmt: Store) -> Sequence[Stmt]:
        done: list[Stmt] = []
        elements, at = list(self.elements[stmt.array]), self.place(stmt)
        value = self.converted(stmt.value, _element(stmt.array), stmt, done)
        if stmt.accumulate:
            total = Value(self.names.fresh(stmt.result.name), value.type, stmt.result.mark)
            done.append(Apply((total,), OPS["add"], (elements[at], value), (), stmt.loc))
            value = total
        elements[at] = value
        self.elements[stmt.result] = elements
        self.note(stmt.result.mark, elements)
        return done

    def note(self, mark: Mark | None, elements: Sequence[Operand]) -> None:
        """Copy the mark of an array to its elements."""
        if mark is not None:
            self.marks.update((value, mark) for value in elements if value in self.computed)

    def converted(
        self, value: Operand, ty: Scalar, stmt: Apply | Store, done: list[Stmt]
    ) -> Operand:
        """Return a number converted to the element type of an array."""
        if value.type == ty:
            return value
        result = Value(self.names.fresh("t"), ty, stmt.results[0].mark)
        done.append(Apply((result,), OPS["cast"], (value,), (str(ty),), stmt.loc))
        return result


def _element(array: Value) -> Scalar:
    assert isinstance(array.type, Array)
    return array.type.element


__all__ = ["scalars"]
