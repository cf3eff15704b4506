"""Find loops whose iterations are independent, except for reductions.

In buffer form, after `storage`: arrays with different names do not alias, except for arrays that
loops carry and branches choose, for rows, and for what calls are passed and return. Iterations are
independent if each of them writes its own part of every array that it changes, along one axis,
reads no other part of it, and otherwise works on arrays that it allocates itself. With these it may
do anything: let inner loops carry them, multiply them, pass them to functions that write to them.

A loop-carried number may be updated by operations whose other operands do not depend on it, as in
``s += x[i] * y[i]``. These operands can be stored first, and the number computed later, in the same
order: `Split`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.dependence.accesses import own_axis, own_range
from adc.ir.analysis.memory.escape import flow
from adc.ir.analysis.sizes.affine import Facts
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
from adc.ir.tape import is_balanced
from adc.ir.types import INT, Array
from adc.ir.walk import Names, inner_values


@dataclass
class _Touched:
    """What statements do to arrays.

    Attributes
    ----------
    origins : mapping
        The arrays that each may be, by where they are made.
    made : collection
        Those that the statements make themselves.
    accesses : dict
        By array, loads of and writes to those that are not made here.
    whole : set
        Of these, those that are read in another way.
    written : set
        Those that are written in another way.
    """

    origins: Mapping[Value, frozenset[Value]] = field(default_factory=dict)
    made: Collection[Value] = ()
    accesses: dict[Value, list[Load | Write]] = field(default_factory=dict)
    whole: set[Operand] = field(default_factory=set)
    written: set[Operand] = field(default_factory=set)

    def of(self, array: Operand) -> frozenset[Value]:
        """Return the arrays that one may be, but those that are made here."""
        assert isinstance(array, Value)
        return self.origins.get(array, frozenset((array,))).difference(self.made)

    def read(self, array: Operand) -> None:
        self.whole |= self.of(array)

    def write(self, array: Operand) -> None:
        self.written |= self.of(array)

    def access(self, stmt: Load | Write) -> None:
        assert isinstance(stmt.array, Value)
        others = self.of(stmt.array)
        if others == {stmt.array}:
            self.accesses.setdefault(stmt.array, []).append(stmt)
        elif isinstance(stmt, Write):
            self.written |= others
        else:
            self.whole |= others


class _Callees:
    """The functions that a thread may call: they do nothing but compute, and leave no frames."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = {each.name: each for each in functions}
        self._written: dict[str, frozenset[int] | None] = {}

    def written(self, name: str) -> frozenset[int] | None:
        """Return which parameters a function may write to; None if no thread may call it."""
        if name not in self._written:
            self._written[name] = None  # one that calls itself
            self._written[name] = self._found(self.functions[name])
        return self._written[name]

    def _found(self, fn: Function) -> frozenset[int] | None:
        if fn.routine or not fn.body or not is_balanced(fn.body):
            return None
        touched = _Touched(flow(fn, fn.params)[0], _makes(fn.body))
        if not visit(fn.body, touched, self):
            return None
        accessed = {
            array
            for array, found in touched.accesses.items()
            if any(isinstance(stmt, Write) for stmt in found)
        }
        written = touched.written | accessed
        if not written.issubset(fn.params):
            return None
        return frozenset(k for k, param in enumerate(fn.params) if param in written)


def _makes(stmts: Sequence[Stmt]) -> set[Value]:
    """Return the arrays that statements allocate; a tape has copies."""
    found: set[Value] = set()
    for stmt in walk(tuple(stmts)):
        match stmt:
            case Apply(op=op, results=(made,)) if op.allocates or op.undefined:
                found.add(made)
            case Pop(results=results):
                found.update(results)
    return found


def visit(stmts: Sequence[Stmt], touched: _Touched, callees: _Callees | None) -> bool:
    """Collect what statements do to arrays; False if they do more than an iteration may.

    Without `callees`, which are the functions that they may call, they may make no array.
    """
    for stmt in stmts:
        match stmt:
            case Load() | Write():
                touched.access(stmt)
            case Apply(op=op, args=args, results=results):
                arrays = [arg for arg in args if isinstance(arg.type, Array)]
                if any(isinstance(v.type, Array) for v in results):
                    if callees is None or not (op.allocates or op.aliases or op.undefined):
                        return False
                    if op.aliases == "whole":
                        touched.write(args[0])
                elif arrays and not op.asks_shape:
                    return False
                if op.copies:
                    for array in arrays:
                        touched.read(array)
            case If() | For() | While():
                if callees is None and any(
                    isinstance(each.type, Array) for each in (*operands(stmt), *stmt.results)
                ):
                    return False
                if not all(visit(block.stmts, touched, callees) for block in blocks(stmt)):
                    return False
            case Check():
                pass
            case Gemm(array=array, a=a, b=b) if callees is not None:
                touched.read(a)
                touched.read(b)
                touched.write(array)
            case Push(values=values) if callees is not None:
                for value in values:
                    if isinstance(value.type, Array):
                        touched.read(value)
            case Pop() if callees is not None:
                pass  # copies from the thread's own tape
            case Call(callee=name, args=args) if callees is not None:
                written = callees.written(name)
                if written is None:
                    return False
                for k, arg in enumerate(args):
                    if isinstance(arg.type, Array):
                        touched.read(arg)
                        if k in written:
                            touched.write(arg)
            case _:
                return False
    return True


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

    def __init__(
        self, fn: Function, private: bool = False, functions: Sequence[Function] | None = None
    ) -> None:
        self.fn = fn
        # What iterations may call; without it, they may not allocate either.
        self.callees = _Callees(fn.callees if functions is None else functions) if private else None
        self.origins = flow(fn, fn.params)[0] if private else {}
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
        if self.sums(loop) is None or any(isinstance(v.type, Array) for v in loop.body.params):
            return False
        touched = _Touched(self.origins, _makes(loop.body.stmts))
        if not visit(loop.body.stmts, touched, self.callees) or not is_balanced(loop.body.stmts):
            return False
        if touched.written:
            return False
        for array, found in touched.accesses.items():
            if not any(isinstance(stmt, Write) for stmt in found):
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


__all__ = ["IterationAnalysis", "Split"]
