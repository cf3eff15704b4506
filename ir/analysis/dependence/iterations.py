"""Find loops whose iterations are independent, except for reductions.

In buffer form, after `storage`: arrays with different names do not alias, except for arrays that
loops carry and branches choose, which are not considered here. Iterations are independent if each
of them writes its own part of every array that it changes, along one axis, reads no other part of
it, and otherwise works on arrays that it allocates itself, also by products of matrices.

A loop-carried number may be updated by operations whose other operands do not depend on it, as in
``s += x[i] * y[i]``. These operands can be stored first, and the number computed later, in the same
order: `Split`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adc.ir.analysis.dependence.accesses import own_axis, own_range
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    Block,
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
    Stmt,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import Span
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import INT, Array
from adc.ir.walk import Names, inner_values


@dataclass
class _Touched:
    """The accesses of a loop to arrays that it did not allocate."""

    accesses: dict[Value, list[Load | Write]] = field(default_factory=dict)
    whole: set[Operand] = field(default_factory=set)  # those that are read as a whole
    made: set[Value] = field(default_factory=set)


@dataclass
class Split:
    """A loop without the numbers that it carries.

    Attributes
    ----------
    body : list of Stmt
        An iteration, which stores the operands of the numbers' updates.
    terms : list of Value
        The arrays that it stores them in.
    after : list of (param, statements, end)
        For each number, the statements that compute it from the terms of iteration `index`.
    index : Value
    """

    body: list[Stmt]
    terms: list[Value]
    after: list[tuple[Value, list[Stmt], Operand]]
    index: Value

    @property
    def rest(self) -> Block:
        """The body of a loop that carries and computes the numbers."""
        stmts = tuple(stmt for _, again, _ in self.after for stmt in again)
        params = tuple(param for param, _, _ in self.after)
        return Block(params, stmts, tuple(end for _, _, end in self.after))


class IterationAnalysis:
    """Decides which loops of a function have independent iterations."""

    def __init__(self, fn: Function, private: bool) -> None:
        self.fn = fn
        self.private = private
        self.names = Names.of(fn)
        self.facts = Facts()
        # Arrays that may have an alias.
        self.shared: set[Operand] = set(fn.params)
        self.uses: dict[Operand, list[Stmt]] = {}
        # The group size of the current loop, if its iterations are grouped.
        self.size: Operand | None = None
        self.made: dict[Operand, Stmt] = {}
        for stmt in walk(fn.body):
            self.made.update(dict.fromkeys(stmt.results, stmt))
            for operand in (*operands(stmt), *(y for b in blocks(stmt) for y in b.yields)):
                if isinstance(operand, Value):
                    self.uses.setdefault(operand, []).append(stmt)
            self.facts.define(stmt)
            yielded = [y for block in blocks(stmt) for y in block.yields]
            if isinstance(stmt, For | While):
                yielded += [*stmt.init, *stmt.body.params]
            if isinstance(stmt, For | While | If):
                yielded += stmt.results
            elif isinstance(stmt, Apply) and not (stmt.op.asks_shape or stmt.op.copies):
                yielded += [
                    each for each in (*stmt.args, *stmt.results) if stmt.op.aliases == "part"
                ]
            elif not isinstance(stmt, Load | Write | Apply | Gemm):
                yielded += [*operands(stmt), *stmt.results]
            self.shared.update(each for each in yielded if isinstance(each.type, Array))

    def independent(self, loop: For) -> bool:
        """Whether iterations are independent; `size` is that of their groups, if any."""
        self.size = None
        if self.sums(loop) is None:
            return False
        touched = _Touched()
        if not self.visit(loop.body.stmts, touched) or _frames(loop.body.stmts) != ([], []):
            return False
        for array, found in touched.accesses.items():
            if array in touched.made or not any(isinstance(stmt, Write) for stmt in found):
                continue
            if array in self.shared or array in touched.whole:
                return False
            if (
                own_axis(found, loop.index, self.facts) is None
                and own_range(found, loop, self.facts) is None
                and not self.of_group(found, loop)
            ):
                return False
        return True

    def of_group(self, found: Sequence[Load | Write], loop: For) -> bool:
        """Whether each iteration touches its group alone (`privatize_reductions`)."""
        groups = {stmt.index[0] for stmt in found}
        made = self.made.get(groups.pop())
        match made:
            case Apply(op=op, args=(index, size)) if op is arith.floordiv and not groups:
                if index != loop.index or size in self.inside(loop) or size != (self.size or size):
                    return False
                if not self.is_positive(size):
                    return False
                self.size = size
                return True
        return False

    def is_positive(self, size: Operand) -> bool:
        """Whether a size is a positive number, or the maximum of some number and one."""
        if isinstance(size, Literal):
            return bool(size.value > 0)
        match self.made.get(size):
            case Apply(op=op, args=args) if op is arith.maximum:
                return any(isinstance(arg, Literal) and arg.value > 0 for arg in args)
        return False

    def inside(self, loop: For) -> set[Value]:
        return {v for s in walk((loop,)) for v in (*s.results, *inner_values(s))}

    def sums(self, loop: For) -> list[list[Apply]] | None:
        """Return the updates of each loop-carried number; None if an iteration depends on it.

        Such a number is an operand of one operation, whose result is one of the next, and so on up
        to what the loop yields. The other operands do not depend on it.
        """
        body = loop.body
        found: list[list[Apply]] = []
        for param, end in zip(body.params, body.yields, strict=True):
            now: Operand = param
            steps: list[Apply] = []
            while now != end:
                at = self.uses.get(now, [])
                if len(at) != 1 or not isinstance(step := at[0], Apply) or step not in body.stmts:
                    return None
                if len(step.results) > 1 or step.args.count(now) > 1:
                    return None
                steps.append(step)
                now = step.result
            if self.uses.get(now, []) != [loop]:
                return None
            found.append(steps)
        return found

    def visit(self, stmts: Sequence[Stmt], touched: _Touched) -> bool:
        """Collect accesses to arrays; False if statements do more than loads and writes."""
        for stmt in stmts:
            match stmt:
                case Load(array=array) | Write(array=array):
                    touched.accesses.setdefault(array, []).append(stmt)
                case Apply(op=op, args=args, results=results):
                    arrays = {arg for arg in args if isinstance(arg.type, Array)}
                    makes = any(isinstance(v.type, Array) for v in results)
                    if makes:
                        if not self.private or not op.allocates:
                            return False
                        if not self.shared.isdisjoint(results):
                            return False
                        touched.made.update(results)
                    elif arrays and not op.asks_shape:
                        return False
                    if op.copies:
                        touched.whole |= arrays
                case If() | For() | While():
                    arrays_in = [*operands(stmt), *stmt.results]
                    if any(isinstance(each.type, Array) for each in arrays_in):
                        return False
                    if not all(self.visit(block.stmts, touched) for block in blocks(stmt)):
                        return False
                case Check():
                    pass
                case Gemm(array=array, a=a, b=b):
                    if not self.private or array not in touched.made:
                        return False
                    touched.whole |= {a, b} - touched.made
                case Push(values=values) | Pop(results=values):
                    if not self.private or any(isinstance(v.type, Array) for v in values):
                        return False
                case _:
                    return False
        return True

    def split(self, loop: For, place: Value) -> Split:
        """Return a loop without the numbers that it carries; terms are stored at `place`."""
        sums = self.sums(loop)
        assert sums is not None
        inside = self.inside(loop)
        index = Value(self.names.fresh(loop.index.name), INT)
        found = Split(list(loop.body.stmts), [], [], index)
        for param, steps in zip(loop.body.params, sums, strict=True):
            again: list[Stmt] = []
            now: Operand = param
            for step in steps:
                args: list[Operand] = []
                at = found.body.index(step)
                for arg in step.args:
                    if arg != now and isinstance(arg, Value) and arg in inside:
                        name = self.names.fresh(f"{param.name}.terms")
                        terms = Value(name, Array(arg.type.dtype, 1))
                        term = self.names.value(arg)
                        found.terms.append(terms)
                        found.body.insert(at, Write(terms, (place,), arg, loc=step.loc))
                        again += self.loaded(term, terms, index, step.loc)
                        arg = term
                    args.append(arg)
                found.body.remove(step)
                again.append(replace(step, args=tuple(args)))
                now = step.result
            found.after.append((param, again, now))
        return found

    def loaded(self, value: Value, array: Value, index: Value, loc: Span | None) -> list[Stmt]:
        """Return a load of a value from an array, where Python numbers are NumPy scalars."""
        assert isinstance(array.type, Array)
        stored = array.type.element
        if value.type == stored:
            return [Load(value, array, (index,), loc)]
        number = Value(self.names.fresh("t"), stored)
        cast = Apply((value,), OPS["cast"], (number,), (str(value.type),), loc)
        return [Load(number, array, (index,), loc), cast]

    def applied(
        self, loc: Span | None, name: str, a: Operand, b: Operand, into: list[Stmt]
    ) -> Value:
        """Append an operation on Python ints, and return its result."""
        made = Value(self.names.fresh("n"), INT)
        into.append(Apply((made,), OPS[name], (a, b), (), loc))
        return made

    def integer(self, number: Operand, into: list[Stmt]) -> Operand:
        """Return a number of any integer type as a Python int."""
        if number.type == INT:
            return number
        made = Value(self.names.fresh("n"), INT)
        into.append(Apply((made,), OPS["cast"], (number,), (str(INT),)))
        return made


def _frames(stmts: Sequence[Stmt]) -> tuple[list[Any], list[Any]] | None:
    """Return the frames that statements pop but did not push, and those they leave.

    Both in the order of the tape's end; None if they differ between iterations.
    """
    wanted: list[Any] = []
    left: list[Any] = []

    def take(frames: Sequence[Any]) -> bool:
        for frame in frames:
            if not left:
                wanted.append(frame)
            elif left.pop() != frame:
                return False
        return True

    for stmt in stmts:
        match stmt:
            case Push(values=values):
                left.append(tuple(value.type.dtype for value in values))
            case Pop(results=values):
                if not take([tuple(value.type.dtype for value in values)]):
                    return None
            case If() | For() | While():
                arms = [_frames(block.stmts) for block in blocks(stmt)]
                takes = [arm[0] for arm in arms if arm]
                leaves = [arm[1] for arm in arms if arm]
                if len(takes) < len(arms) or (any(takes) and any(leaves)):
                    return None
                kind = (type(stmt).__name__, getattr(stmt, "trips", None))
                if any(takes) and not take([(*kind, [found[::-1] for found in takes])]):
                    return None
                if any(leaves):
                    left.append((*kind, leaves))
    return wanted, left


__all__ = ["IterationAnalysis", "Split"]
