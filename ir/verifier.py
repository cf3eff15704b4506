"""Verify well-formedness: names, dominance, types, yields, and the scopes of Recalls.

A value is recalled inside a `reverse` of every loop that it is defined in. Whether the branch that
defines it was taken is not checked here.

`verify` reports every error it finds, each under the statement that causes it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import numpy as np

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
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.sums import has_sums, lane_values
from adc.ir.text.printer import operand_text, print_stmt
from adc.ir.types import DTYPES, Array, Scalar, Type
from adc.ir.walk import inner_values


def alike(a: Type, b: Type) -> bool:
    """Whether a value of type `a` may stand where `b` is declared.

    Weak marks may differ, and an array of layout C is one of any strides too.
    """
    if a is b:
        return True
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype
    if isinstance(a, Array) and isinstance(b, Array):
        return (a.dtype, a.rank) == (b.dtype, b.rank) and b.layout in (a.layout, "A")
    return False


_LITERALS = {"b": bool, "f": float, "c": complex}


@functools.cache
def _loaded(ty: Type) -> str:
    """Return the dtype of the elements of an array as they are loaded and stored."""
    return ty.element.dtype if isinstance(ty, Array) else ty.dtype


def _bounds(dtype: str) -> tuple[int, int]:
    found = np.iinfo(DTYPES[dtype].name)
    return int(found.min), int(found.max)


class _Verifier:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.errors: list[str] = []
        self.callees = {callee.name: callee for callee in fn.callees} | {fn.name: fn}
        self.derived = {each.name: each for each in fn.derived}
        # Recalls refer to the function whose calls this one reverses, or to the function itself.
        target = self.callees.get(fn.mirror, fn)
        # The labels of the loops around each value, loop and call of the forward code.
        self.paths: dict[Value, tuple[str, ...]] = dict.fromkeys(target.params, ())
        self.loops: dict[str, tuple[str, ...]] = {}
        self.calls: dict[str, tuple[str, ...]] = {}
        self.forward(target.body, ())
        self.called = {stmt.label: stmt.callee for stmt in walk(target.body)
                       if isinstance(stmt, Call)}  # fmt: skip
        # The labels of the loops whose iterations the reverse code is in.
        self.mirrored: tuple[str, ...] = ()
        self.seen: set[str] = set()
        # The values in scope, in the order of their definition.
        self.scope: dict[Value, None] = {}

    def forward(self, stmts: Sequence[Stmt], path: tuple[str, ...]) -> None:
        """Record the loops around values, loops and calls, without reverse code."""
        for stmt in stmts:
            self.paths.update(dict.fromkeys(stmt.results, path))
            if isinstance(stmt, Reverse) or not (isinstance(stmt, Call) or blocks(stmt)):
                continue
            inner = path
            match stmt:
                case For(label=label) | While(label=label):
                    self.loops[label] = path
                    inner = (*path, label)
                case Call(label=label):
                    self.calls[label] = path
            self.paths.update(dict.fromkeys(inner_values(stmt), inner))
            for block in blocks(stmt):
                self.forward(block.stmts, inner)

    def error(self, stmt: Stmt | None, message: str) -> None:
        text = f"return {' '.join(map(operand_text, self.fn.results))}".rstrip()
        where = text if stmt is None else print_stmt(stmt).splitlines()[0]
        self.errors.append(f"{message}\n    in: {where}")

    def reached(self, path: tuple[str, ...]) -> bool:
        """Whether the reverse code is in the iterations of all loops of `path`."""
        return self.mirrored[: len(path)] == path

    def define(self, stmt: Stmt | None, values: Sequence[Value]) -> None:
        for value in values:
            if value.name in self.seen:
                self.error(stmt, f"{value} is defined twice")
            self.seen.add(value.name)
            if value not in self.scope:
                self.scope[value] = None

    def read(self, stmt: Stmt | None, operand: Operand) -> None:
        if isinstance(operand, Literal):
            self.literal(stmt, operand)
        elif operand not in self.scope:
            self.error(stmt, f"{operand} is not available here")

    def literal(self, stmt: Stmt | None, literal: Literal) -> None:
        value, ty = literal.value, literal.type
        fits = isinstance(ty, Scalar) and type(value) is _LITERALS.get(ty.kind, int)
        if fits and ty.kind in "iu":
            low, high = _bounds(ty.dtype)
            fits = low <= value <= high
        if not fits:
            self.error(stmt, f"{operand_text(literal)} is not a constant of type {ty}")

    def types(self, stmt: Stmt, want: Sequence[Type], got: Sequence[Operand], what: str) -> None:
        if len(want) != len(got):
            self.error(stmt, f"{what}: {len(got)} values for {len(want)}")
            return
        for ty, operand in zip(want, got, strict=True):
            if not alike(operand.type, ty):
                text = operand_text(operand)
                self.error(stmt, f"{what}: {text} is {operand.type}, wanted {ty}")

    def block(self, stmt: Stmt, block: Block, extra: Sequence[Value]) -> None:
        outer = len(self.scope)
        self.define(stmt, extra)
        self.define(stmt, block.params)
        self.stmts(block.stmts)
        for operand in block.yields:
            self.read(stmt, operand)
        while len(self.scope) > outer:
            self.scope.popitem()  # the newest

    def condition(self, stmt: Stmt, cond: Operand) -> None:
        if not isinstance(cond.type, Scalar) or cond.type.kind != "b":
            self.error(stmt, f"condition is {cond.type}")

    def element(self, stmt: Store | Write) -> None:
        array, value = stmt.array.type, stmt.value.type
        if not isinstance(value, Scalar) or value.dtype != _loaded(array):
            self.error(stmt, f"writes {value} in {array}")

    def product(self, stmt: Gemm) -> None:
        result, array = stmt.result, stmt.array
        for operand in (array, stmt.a, stmt.b):
            ty = operand.type
            if not isinstance(ty, Array) or ty.rank != 2 or ty.kind not in "fc" or ty.layout != "C":
                self.error(stmt, f"{operand} is {ty}, not a contiguous matrix of floats")
            elif ty.dtype != array.type.dtype:
                self.error(stmt, f"{operand} is {ty}, {array} is {array.type}")
        if result is None and array in (stmt.a, stmt.b):
            self.error(stmt, f"{array} is changed while it is read")
        if result is not None and result.type != array.type:
            self.error(stmt, f"{result} is {result.type}, {array} is {array.type}")

    def index(self, stmt: Load | Store | Write) -> None:
        if not isinstance(stmt.array.type, Array):
            self.error(stmt, f"{stmt.array} is not an array")
        elif len(stmt.index) != stmt.array.type.rank:
            self.error(stmt, f"{len(stmt.index)} indices for rank {stmt.array.type.rank}")
        for operand in stmt.index:
            if operand.type.kind not in "iu" or isinstance(operand.type, Array):
                self.error(stmt, f"index {operand_text(operand)} is {operand.type}")

    def check(self, stmt: Stmt) -> None:
        match stmt:
            case Apply(results=results, op=op, args=args, params=params):
                if op.arity >= 0 and len(args) != op.arity:
                    self.error(stmt, f"{op.name} takes {op.arity} operands")
                    return
                try:
                    found = op.types([arg.type for arg in args], params)
                except IRError as error:
                    self.error(stmt, error.message)
                    return
                self.types(stmt, found, results, "results")
            case Load(result=result, array=array):
                self.index(stmt)
                if isinstance(array.type, Array) and result.type.dtype != _loaded(array.type):
                    self.error(stmt, f"{result} is {result.type}")
            case Store(result=result, array=array):
                self.index(stmt)
                self.element(stmt)
                if result.type != array.type:
                    self.error(stmt, f"{result} is {result.type}, {array} is {array.type}")
            case Write():
                self.index(stmt)
                self.element(stmt)
            case Gemm():
                self.product(stmt)
            case If(results=results, cond=cond, then=then, orelse=orelse):
                self.condition(stmt, cond)
                want = [value.type for value in results]
                self.types(stmt, want, then.yields, "then")
                self.types(stmt, want, orelse.yields, "else")
            case For() | Reverse() | While():
                self.loop(stmt)
            case Call():
                self.call(stmt)
            case Check(cond=cond):
                self.condition(stmt, cond)
            case Recall(result=result, value=value):
                if value not in self.paths:
                    self.error(stmt, f"{value} is not a value of the forward code")
                elif not self.reached(self.paths[value]):
                    self.error(stmt, f"{value} is inside a loop that is not reversed here")
                if result.type != value.type:
                    self.error(stmt, f"{result} is {result.type}, {value} is {value.type}")
            case Push(values=frame) | Pop(results=frame):
                if not frame:
                    self.error(stmt, "an empty frame")
            case Print():
                pass
            case _:
                assert_never(stmt)

    def loop(self, stmt: For | Reverse | While) -> None:
        body = stmt.body
        want = [param.type for param in body.params]
        self.types(stmt, want, stmt.init, "init")
        self.types(stmt, want, stmt.results, "results")
        if isinstance(stmt, While):
            if not body.yields:
                self.error(stmt, "the first yield of a while is its condition")
                return
            self.condition(stmt, body.yields[0])
            self.types(stmt, want, body.yields[1:], "again")
            return
        self.types(stmt, want, body.yields, "yield")
        if isinstance(stmt, For):
            if stmt.trips.type.kind not in "iu" or isinstance(stmt.trips.type, Array):
                self.error(stmt, f"trip count is {stmt.trips.type}")
        elif stmt.loop not in self.loops:
            self.error(stmt, f"no loop named {stmt.loop}")
        elif not self.reached(self.loops[stmt.loop]):
            self.error(stmt, f"{stmt.loop} is inside a loop that is not reversed here")

    def call(self, stmt: Call) -> None:
        name, mirror, results = stmt.callee, stmt.mirror, stmt.results
        if name in self.derived:
            derived = self.derived[name]
            self.types(stmt, derived.param_types(), stmt.args, "arguments")
            types = derived.result_types()
            if len(types) != len(results) or not all(map(alike, types, [v.type for v in results])):
                self.error(stmt, f"the results of {name} are {', '.join(map(str, types))}")
            return
        if name not in self.callees:
            self.error(stmt, f"no function named {name}")
            return
        callee = self.callees[name]
        self.types(stmt, [param.type for param in callee.params], stmt.args, "arguments")
        self.types(stmt, [v.type for v in results], callee.results, "results")
        if mirror and mirror not in self.calls:
            self.error(stmt, f"no call named {mirror}")
        elif mirror and not self.reached(self.calls[mirror]):
            self.error(stmt, f"{mirror} is inside a loop that is not reversed here")
        elif mirror and callee.mirror != self.called[mirror]:
            self.error(stmt, f"{name} does not mirror {self.called[mirror]}")

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            for operand in operands(stmt):
                self.read(stmt, operand)
            self.check(stmt)
            inner = blocks(stmt)
            if not inner:
                self.define(stmt, stmt.results)
                continue
            extra = [v for v in inner_values(stmt) if all(v not in b.params for b in inner)]
            outer = self.mirrored
            if isinstance(stmt, Reverse) and stmt.loop in self.loops:
                self.mirrored = (*self.loops[stmt.loop], stmt.loop)
            elif isinstance(stmt, For) and self.loops.get(stmt.label) == outer:
                # Forward code may recall what its own iteration computed.
                self.mirrored = (*outer, stmt.label)
            for block in inner:
                self.block(stmt, block, extra)
            self.mirrored = outer
            self.define(stmt, stmt.results)

    def run(self) -> list[str]:
        self.define(None, self.fn.params)
        self.stmts(self.fn.body)
        for operand in self.fn.results:
            self.read(None, operand)
        if self.fn.mirror and self.fn.mirror not in self.callees:
            self.error(None, f"no function named {self.fn.mirror} to mirror")
        self.sums()
        labels: set[str] = set()
        writes: set[bool] = set()
        for stmt in walk(self.fn.body):
            if isinstance(stmt, For | While | Call):
                if stmt.label in labels:
                    self.error(stmt, f"two loops or calls named {stmt.label}")
                labels.add(stmt.label)
            elif isinstance(stmt, Store | Write | Gemm):
                writes.add(not stmt.results)
                if len(writes) > 1:
                    self.error(stmt, "both value form and buffer form")
        return self.errors

    def sums(self) -> None:
        """Check that no partial sum of a sum in lanes is read."""
        if not has_sums(self.fn.body):
            return
        lanes = lane_values(self.fn)
        carried = {
            param
            for stmt in walk(self.fn.body)
            if isinstance(stmt, For | While | Reverse)
            for param in stmt.body.params
        }
        for stmt in walk(self.fn.body):
            match stmt:
                case Apply(op=op, args=(first, _)) if op.reorders:
                    if first in carried and first not in lanes:
                        self.error(stmt, f"a partial sum of {first} is read, too")
                case Recall(value=value) if value in lanes:
                    self.error(stmt, f"{value} is a partial sum")


def problems(fn: Function) -> list[str]:
    """Return everything that is wrong with `fn` and its callees."""
    found: list[str] = []
    for each in (*fn.callees, fn):
        alone = replace(each, callees=fn.callees, derived=fn.derived)
        found += [f"{each.name}: {text}" for text in _Verifier(alone).run()]
        if each.rule is not None:
            names = {callee.name for callee in fn.callees}
            missing = [name for name in each.rule.functions if name not in names]
            found += [f"{each.name}: no function named {name} for its rule" for name in missing]
    for derived in fn.derived:
        found += [f"{derived.name}: {text}" for text in problems(derived.of)]
    return found


def verify(fn: Function) -> Function:
    """Return `fn` if it is well-formed.

    Raises
    ------
    IRError
        Naming every defect, with the statement that has it.
    """
    found = problems(fn)
    if found:
        raise IRError("malformed IR:\n  " + "\n  ".join(found) + f"\n{fn}")
    return fn


__all__ = ["Literal", "alike", "problems", "verify"]
