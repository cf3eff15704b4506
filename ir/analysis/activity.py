"""Activity: which values depend on the differentiated arguments and influence the results.

A value is *varied* if it depends differentiably on one of the `wrt` parameters, *useful* if a
float result depends differentiably on it, and *active* if it is both. Reverse code is written for
active values alone; tangents are carried for varied ones. In ::

    fn f(%x: f64, %c: f64) -> f64 {
      %k = mul %c 2.0
      %n = floor %x
      %a = mul %x %k
      %b = sin %a
      return %a
    }

with respect to `%x` the values `%x %a %b` are varied, `%x %c %k %a` useful, `%x %a` active:
`%k` does not depend on `%x`, `%n` only piecewise constantly, and nothing reads `%b`.

Calls are analysed without context: a callee's parameter is varied if it is at any call. The
function itself, as its caller sees it, is distinguished from its recursive calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from adc.ir.core import (
    Apply,
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
    walk,
)
from adc.ir.errors import IRError
from adc.ir.rules import vjp_rule

# The key of the differentiated function itself; recursive calls have its name as key.
ENTRY = ""

Marks = Mapping[str, frozenset[Value]]


@dataclass(frozen=True)
class Activity:
    """The varied and the active values of a function (under `ENTRY`) and of its callees."""

    functions: Mapping[str, Function]
    varied: Marks
    active: Marks


def calls(fn: Function, name: str) -> bool:
    """Whether `fn` itself calls a function called `name`."""
    return any(isinstance(stmt, Call) and stmt.callee == name for stmt in walk(fn.body))


def functions(fn: Function) -> dict[str, Function]:
    """Return `fn` under `ENTRY` and every function that can be called, under its name."""
    table = {ENTRY: fn} | {callee.name: callee for callee in fn.callees}
    if any(calls(each, fn.name) for each in table.values()):
        table[fn.name] = fn
    return table


def differentiated(fn: Function) -> frozenset[str]:
    """Return the functions whose statements are differentiated if `fn` is: those of rules are not.

    `fn` itself is `ENTRY`.
    """
    table = functions(fn)
    found, waiting = {ENTRY}, [ENTRY]
    while waiting:
        for stmt in walk(table[waiting.pop()].body):
            if not isinstance(stmt, Call) or stmt.callee in found or stmt.callee not in table:
                continue
            if table[stmt.callee].rule is None:
                found.add(stmt.callee)
                waiting.append(stmt.callee)
    return frozenset(found)


def is_zero(operand: Operand | None) -> bool:
    return operand is None or (isinstance(operand, Literal) and operand.value == 0)


def flows(stmt: Apply) -> tuple[bool, ...]:
    """Return for each operand whether a derivative may flow from it to the result."""
    if stmt.result.type.kind != "f":
        return tuple(False for _ in stmt.args)
    floats = tuple(arg.type.kind == "f" for arg in stmt.args)
    if stmt.op.vjp is None:
        # An op that refuses keeps its operands alive, so that the adjoint reaches and rejects it.
        return tuple(stmt.op.refuse and each for each in floats)
    if not any(floats):
        return floats
    rule = vjp_rule(stmt.op, tuple(arg.type for arg in stmt.args), stmt.params)
    refused = stmt.op.refused or ("",) * len(floats)
    return tuple(
        each and (bool(why) or not is_zero(out))
        for each, out, why in zip(floats, rule.outputs, refused, strict=True)
    )


def no_derivative(stmt: Apply, active: Sequence[bool]) -> tuple[str, str] | None:
    """Return why adc cannot differentiate an operation by its active operands, and a hint."""
    op = stmt.op
    if op.vjp is None:
        hint = "it lies between the arguments that are differentiated and the result"
        return f"{op.name} has no derivative: {op.why}", hint
    whys = [why for each, why in zip(active, op.refused, strict=False) if each and why]
    if not whys or op.ufunc is None:
        return None
    return (
        f"`scipy.special.{op.ufunc.name}` is not differentiated by {whys[0]}",
        "if it is constant, leave it out of `argnums`, or pass it through `adc.stop_gradient`",
    )


# How deep calls within calls are followed at once, as `ranges` does, too.
DEPTH = 30


class _Flow:
    """Marks that only grow, propagated until nothing changes."""

    def __init__(self, fn: Function) -> None:
        self.functions = functions(fn)
        # Callees with declared derivatives: any float argument influences every float result.
        self.opaque = {each.name for each in fn.derived}
        self.opaque |= {each.name for each in fn.callees if each.rule is not None}
        # Those without influence.
        self.stopped = {
            each.name
            for each in fn.callees
            if each.rule is not None and each.rule.kind == "stopped"
        }
        # Those whose results are variable, and whose arguments are used, in any case; not where
        # rules call them.
        self.always = {
            each.name for each in fn.callees if each.rule is not None and each.rule.always
        }
        self.differentiated = differentiated(fn) if self.always else frozenset()
        self.marks: dict[str, set[Value]] = {name: set() for name in self.functions}
        # The functions whose statements are being visited, outer ones first.
        self.visited: list[str] = []
        self.grown = True

    def marked(self, where: str, operand: Operand) -> bool:
        return operand in self.marks[where]

    def mark(self, where: str, operand: Operand, on: bool = True) -> None:
        if not on or not isinstance(operand, Value) or operand.type.kind != "f":
            return
        marks = self.marks[where]
        if operand not in marks:
            marks.add(operand)
            self.grown = True

    def link(self, where: str, sources: Iterable[Operand], targets: Iterable[Operand]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self.mark(where, target, self.marked(where, source))

    def acts(self, where: str, callee: str) -> bool:
        """Whether a call is differentiated whatever depends on it."""
        return callee in self.always and where in self.differentiated

    def forward(self, where: str) -> str:
        """Return the function whose values the recalls of `where` refer to."""
        mirror = self.functions[where].mirror
        return mirror if mirror and mirror in self.functions else where

    def stmts(self, where: str, stmts: Sequence[Stmt]) -> None:
        raise NotImplementedError

    def visit(self, where: str) -> None:
        self.visited.append(where)
        self.stmts(where, self.functions[where].body)
        self.visited.pop()

    def enter(
        self, where: str, callee: str, sources: Iterable[Operand], targets: Iterable[Operand]
    ) -> None:
        """Mark what a call passes to a function, and then what the function makes of it.

        A sweep would else get on by one call only, where calls pass on what others return.
        """
        before = len(self.marks[callee])
        for source, target in zip(sources, targets, strict=True):
            self.mark(callee, target, self.marked(where, source))
        grown = len(self.marks[callee]) > before
        if grown and callee not in self.visited and len(self.visited) < DEPTH:
            self.visit(callee)

    def run(self) -> Marks:
        while self.grown:
            self.grown = False
            for where in self.functions:
                self.visit(where)
        return {where: frozenset(marks) for where, marks in self.marks.items()}


class _Varied(_Flow):
    def __init__(self, fn: Function, wrt: Sequence[int]) -> None:
        super().__init__(fn)
        for k in wrt:
            self.mark(ENTRY, fn.params[k])

    def stmts(self, where: str, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(where, stmt)

    def stmt(self, where: str, stmt: Stmt) -> None:
        match stmt:
            case Apply(results=results, args=args):
                if any(self.marked(where, arg) for arg in args):
                    on = any(
                        flow and self.marked(where, arg)
                        for flow, arg in zip(flows(stmt), args, strict=True)
                    )
                    for result in results:
                        self.mark(where, result, on)
            case Load(result=result, array=array):
                self.mark(where, result, self.marked(where, array))
            case Store(result=result, array=array, value=value):
                self.mark(where, result, self.marked(where, array) or self.marked(where, value))
            case Gemm(array=array, a=a, b=b):
                sources = (array, a, b) if stmt.accumulate else (a, b)
                for result in stmt.results:
                    self.mark(where, result, any(self.marked(where, each) for each in sources))
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    self.stmts(where, arm.stmts)
                    self.link(where, arm.yields, results)
            case (
                For(init=init, body=body)
                | While(init=init, body=body)
                | Reverse(init=init, body=body)
            ):
                self.link(where, init, body.params)
                self.stmts(where, body.stmts)
                self.link(where, carried_yields(stmt), body.params)
                self.link(where, body.params, stmt.results)
            case Call(callee=callee) if callee in self.stopped:
                pass
            case Call(results=results, callee=callee, args=args) if callee in self.opaque:
                if self.acts(where, callee) or any(self.marked(where, arg) for arg in args):
                    for result in results:
                        self.mark(where, result)
            case Call(results=results, callee=callee, args=args):
                called = self.functions[callee]
                self.enter(where, callee, args, called.params)
                for result, inner in zip(results, called.results, strict=True):
                    self.mark(where, result, self.marked(callee, inner))
            case Recall(result=result, value=value):
                self.mark(where, result, self.marked(self.forward(where), value))
            case Check() | Print():
                pass
            case Push() | Pop() | Write():
                raise IRError("activity is defined on value form")
            case _:
                assert_never(stmt)


class _Dependent(_Varied):
    """Marks all values that depend on parameters, except through the size of an array."""

    def __init__(self, fn: Function, wrt: Sequence[int]) -> None:
        super().__init__(fn, wrt)
        # What a library fills, or a function outside, depends on all that it is given.
        self.opaque |= {each.name for each in fn.callees if each.routine}
        self.stopped = set()

    def mark(self, where: str, operand: Operand, on: bool = True) -> None:
        marks = self.marks[where]
        if on and isinstance(operand, Value) and operand not in marks:
            marks.add(operand)
            self.grown = True

    def stmt(self, where: str, stmt: Stmt) -> None:
        if not isinstance(stmt, Apply):
            super().stmt(where, stmt)
        elif not stmt.op.asks_shape and any(self.marked(where, arg) for arg in stmt.args):
            for result in stmt.results:
                self.mark(where, result)


class _Useful(_Flow):
    def __init__(self, fn: Function, results: Sequence[int]) -> None:
        super().__init__(fn)
        for k in results:
            self.mark(ENTRY, fn.results[k])

    def stmts(self, where: str, stmts: Sequence[Stmt]) -> None:
        for stmt in reversed(stmts):
            self.stmt(where, stmt)

    def stmt(self, where: str, stmt: Stmt) -> None:
        match stmt:
            case Apply(args=args):
                if self.marked(where, stmt.results[0]):
                    for flow, arg in zip(flows(stmt), args, strict=True):
                        self.mark(where, arg, flow)
            case Load(result=result, array=array):
                self.mark(where, array, self.marked(where, result))
            case Store(result=result, array=array, value=value):
                self.mark(where, array, self.marked(where, result))
                self.mark(where, value, self.marked(where, result))
            case Gemm(array=array, a=a, b=b):
                sources = (array, a, b) if stmt.accumulate else (a, b)
                for result in stmt.results:
                    for source in sources:
                        self.mark(where, source, self.marked(where, result))
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    self.link(where, results, arm.yields)
                    self.stmts(where, arm.stmts)
            case (
                For(init=init, body=body)
                | While(init=init, body=body)
                | Reverse(init=init, body=body)
            ):
                # Parameter and result of one carried value get one cotangent in reverse code.
                self.link(where, stmt.results, body.params)
                self.link(where, body.params, stmt.results)
                self.link(where, body.params, carried_yields(stmt))
                self.stmts(where, body.stmts)
                self.link(where, body.params, init)
            case Call(callee=callee) if callee in self.stopped:
                pass
            case Call(results=results, callee=callee, args=args) if callee in self.opaque:
                if self.acts(where, callee) or any(self.marked(where, each) for each in results):
                    for arg in args:
                        self.mark(where, arg)
            case Call(results=results, callee=callee, args=args):
                called = self.functions[callee]
                self.enter(where, callee, results, called.results)
                for param, arg in zip(called.params, args, strict=True):
                    self.mark(where, arg, self.marked(callee, param))
            case Recall(result=result, value=value):
                self.mark(self.forward(where), value, self.marked(where, result))
            case Check() | Print():
                pass
            case Push() | Pop() | Write():
                raise IRError("activity is defined on value form")
            case _:
                assert_never(stmt)


def carried_yields(stmt: For | While | Reverse) -> tuple[Operand, ...]:
    """Return the next values of the carried values: the yields, without a `while`'s condition."""
    return stmt.body.yields[1:] if isinstance(stmt, While) else stmt.body.yields


def varied(fn: Function, wrt: Sequence[int]) -> Marks:
    """Return the values that depend differentiably on the parameters `wrt`, for each function.

    `fn` may be any value form, reverse code included.
    """
    return _Varied(fn, wrt).run()


def dependent(fn: Function, positions: Sequence[int]) -> Marks:
    """Return the values that depend on the parameters `positions`, for each function.

    Values that depend on them only through control flow are not included.
    """
    return _Dependent(fn, positions).run()


def analyse(fn: Function, wrt: Sequence[int], results: Sequence[int] | None = None) -> Activity:
    """Return the activity between the parameters `wrt` and `results` (all float ones if None)."""
    if results is None:
        results = range(len(fn.results))
    forward = varied(fn, wrt)
    backward = _Useful(fn, results).run()
    active = {where: forward[where] & backward[where] for where in forward}
    return Activity(functions(fn), forward, active)


def active(fn: Function, wrt: Sequence[int]) -> frozenset[Value]:
    """Return the values of `fn` that depend on the parameters `wrt` and influence a result."""
    return analyse(fn, wrt).active[ENTRY]
