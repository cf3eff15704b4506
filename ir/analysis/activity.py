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

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, product
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
from adc.ir.walk import carried_yields

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


# A value, after the function that it is in.
_Place = tuple[str, Value]
_Edges = Mapping[_Place, Sequence[_Place]]


class _Graph:
    """Which values depend directly on which, in a function and in those that it can call.

    If it is not `smooth`, other dependence counts, too, except through the size of an array.
    """

    def __init__(self, fn: Function, *, smooth: bool = True) -> None:
        self.functions = functions(fn)
        self.smooth = smooth
        rules = {each.name: each.rule for each in fn.callees if each.rule is not None}
        # Callees with declared derivatives: any float argument influences every float result.
        self.opaque = {*rules, *(each.name for each in fn.derived)}
        # Those without influence.
        self.stopped = {name for name, rule in rules.items() if rule.kind == "stopped"}
        if not smooth:
            # What a library fills, or a function outside, depends on all that it is given.
            self.opaque |= {each.name for each in fn.callees if each.routine}
            self.stopped = set()
        # Those whose results are variable, and whose arguments are used, in any case; not where
        # rules call them.
        self.always = {name for name, rule in rules.items() if rule.always}
        self.differentiated = differentiated(fn) if self.always else frozenset()
        self.moving: list[_Place] = []
        self.used: list[_Place] = []
        self.after: defaultdict[_Place, list[_Place]] = defaultdict(list)
        self.before: defaultdict[_Place, list[_Place]] = defaultdict(list)
        for where, each in self.functions.items():
            for stmt in walk(each.body):
                self.stmt(where, stmt)

    def places(self, where: str, operands: Iterable[Operand]) -> list[_Place]:
        """Return where operands are that can have marks."""
        values = [each for each in operands if isinstance(each, Value)]
        return [(where, each) for each in values if not self.smooth or each.type.kind == "f"]

    def all(
        self, where: str, sources: Iterable[Operand], targets: Iterable[Operand],
        there: str | None = None,
    ) -> None:  # fmt: skip
        """Note that each of the targets, in the function `there`, depends on each source."""
        there = where if there is None else there
        for source, target in product(self.places(where, sources), self.places(there, targets)):
            self.after[source].append(target)
            self.before[target].append(source)

    def each(
        self, where: str, sources: Iterable[Operand], targets: Iterable[Operand],
        there: str | None = None,
    ) -> None:  # fmt: skip
        """Note that each of the targets depends on the source in its place."""
        for source, target in zip(sources, targets, strict=True):
            self.all(where, [source], [target], there)

    def forward(self, where: str) -> str:
        """Return the function whose values the recalls of `where` refer to."""
        mirror = self.functions[where].mirror
        return mirror if mirror and mirror in self.functions else where

    def stmt(self, where: str, stmt: Stmt) -> None:
        match stmt:
            case Apply(results=results, args=args):
                if self.smooth:
                    args = tuple(compress(args, flows(stmt)))
                elif stmt.op.asks_shape:
                    args = ()
                self.all(where, args, results)
            case Load(result=result, array=array):
                self.all(where, [array], [result])
            case Store(result=result, array=array, value=value):
                self.all(where, [array, value], [result])
            case Gemm(array=array, a=a, b=b):
                self.all(where, (array, a, b) if stmt.accumulate else (a, b), stmt.results)
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    self.each(where, arm.yields, results)
            case (
                For(init=init, body=body)
                | While(init=init, body=body)
                | Reverse(init=init, body=body)
            ):
                self.each(where, init, body.params)
                self.each(where, carried_yields(stmt), body.params)
                self.each(where, body.params, stmt.results)
                # Parameter and result of one carried value get one cotangent in reverse code.
                self.each(where, stmt.results, body.params)
            case Call(callee=callee) if callee in self.stopped:
                pass
            case Call(results=results, callee=callee, args=args) if callee in self.opaque:
                self.all(where, args, results)
                if callee in self.always and where in self.differentiated:
                    self.moving += self.places(where, results)
                    self.used += self.places(where, args)
            case Call(results=results, callee=callee, args=args):
                called = self.functions[callee]
                self.each(where, args, called.params, callee)
                self.each(callee, called.results, results, where)
            case Recall(result=result, value=value):
                self.all(self.forward(where), [value], [result], where)
            case Check() | Print():
                pass
            case Push() | Pop() | Write():
                raise IRError("activity is defined on value form")
            case _:
                assert_never(stmt)

    def varied(self, wrt: Sequence[int]) -> Marks:
        """Return what depends on parameters of the function."""
        params = self.places(ENTRY, [self.functions[ENTRY].params[k] for k in wrt])
        return self.reached([*self.moving, *params], self.after)

    def useful(self, results: Sequence[int]) -> Marks:
        """Return what influences results of the function."""
        found = self.places(ENTRY, [self.functions[ENTRY].results[k] for k in results])
        return self.reached([*self.used, *found], self.before)

    def reached(self, start: Sequence[_Place], edges: _Edges) -> Marks:
        marks: dict[str, set[Value]] = {name: set() for name in self.functions}
        waiting = list(start)
        while waiting:
            where, value = place = waiting.pop()
            if value not in marks[where]:
                marks[where].add(value)
                waiting += edges.get(place, ())
        return {where: frozenset(values) for where, values in marks.items()}


def varied(fn: Function, wrt: Sequence[int]) -> Marks:
    """Return the values that depend differentiably on the parameters `wrt`, for each function.

    `fn` may be any value form, reverse code included.
    """
    return _Graph(fn).varied(wrt)


def dependent(fn: Function, positions: Sequence[int]) -> Marks:
    """Return the values that depend on the parameters `positions`, for each function.

    Values that depend on them only through control flow are not included.
    """
    return _Graph(fn, smooth=False).varied(positions)


def analyse(fn: Function, wrt: Sequence[int], results: Sequence[int] | None = None) -> Activity:
    """Return the activity between the parameters `wrt` and `results` (all float ones if None)."""
    if results is None:
        results = range(len(fn.results))
    graph = _Graph(fn)
    forward, backward = graph.varied(wrt), graph.useful(results)
    active = {where: forward[where] & backward[where] for where in forward}
    return Activity(graph.functions, forward, active)


def active(fn: Function, wrt: Sequence[int]) -> frozenset[Value]:
    """Return the values of `fn` that depend on the parameters `wrt` and influence a result."""
    return analyse(fn, wrt).active[ENTRY]
