"""Eliminate dead code: operations, carried values, arms and loops without effect.

Before::

    %a, %b = for L0 %k in 0 to %n carrying (%p = 0.0, %q = 1.0) {
      %p.1 = add %p 1.0
      %q.1 = mul %q 2.0
      yield %p.1 %q.1
    }
    return %a

After::

    %a = for L0 %k in 0 to %n carrying (%p = 0.0) {
      %p.1 = add %p 1.0
      yield %p.1
    }
    return %a

Checks and prints stay, and so do `while` loops: not terminating is an effect, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from adc.ir.core import (
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
    Value,
    While,
    Write,
    blocks,
    operands,
    remembered,
    walk,
)
from adc.ir.walk import are_same, map_blocks, stmts_reads, with_stmts

_Nested = TypeVar("_Nested", If, For, Reverse, While, For | Reverse)


def dce(fn: Function) -> Function:
    """Return `fn` without dead code."""
    # What reverse code recalls, and which loops it reverses, of the function that it mirrors.
    recalls: dict[str, set[Value]] = {}
    loops: dict[str, set[str]] = {}
    for each in (*fn.callees, fn):
        for stmt in walk(each.body) if each.mirror else ():
            if isinstance(stmt, Recall):
                recalls.setdefault(each.mirror, set()).add(stmt.value)
            elif isinstance(stmt, Reverse):
                loops.setdefault(each.mirror, set()).add(stmt.loop)
    needed = _Needed(fn)
    callees = tuple(
        _sweep_function(
            callee, _Needed(callee, recalls.get(callee.name, ()), loops.get(callee.name, ()))
        )
        for callee in fn.callees
    )
    return replace(_sweep_function(fn, needed), callees=callees)


def _sweep_function(fn: Function, needed: _Needed) -> Function:
    return replace(fn, body=_sweep(fn.body, needed.live, needed.mirrored))


def only(stmt: For | If, value: Value) -> Stmt:
    """Return a loop or branch reduced to what one of its results needs, without its checks.

    The result is cached on the statement: every plan asks for it.
    """
    known = blocks(stmt)[0]._known.setdefault(only, {})
    found = cast("dict[Value, tuple[Stmt, Stmt]]", known)
    if value not in found or found[value][0] is not stmt:
        found[value] = stmt, _only(stmt, value)
    return found[value][1]


def _only(stmt: For | If, value: Value) -> Stmt:
    def unchecked(block: Block) -> Block:
        stmts = [map_blocks(s, unchecked) for s in block.stmts if not isinstance(s, Check)]
        return with_stmts(block, stmts, block.yields)

    stmt = map_blocks(stmt, unchecked)  # type: ignore[assignment]  # the form stays
    params = tuple(sorted(stmts_reads((stmt,)), key=lambda each: each.name))
    (reduced,) = dce(Function("only", params, (stmt,), (value,))).body
    return reduced


def has_effect(stmt: Stmt) -> bool:
    """Whether a statement, or one inside it, does more than compute its results."""
    match stmt:
        case Check(cond=cond):
            return not (isinstance(cond, Literal) and bool(cond.value))
        case Print() | Push() | Pop() | Write() | While() | Call():
            return True
        case Gemm(result=None):
            return True
    return any(map(_acts, blocks(stmt)))


@remembered
def _acts(block: Block) -> bool:
    return any(map(has_effect, block.stmts))


class _Needed:
    """Marks the values that results and effects depend on."""

    def __init__(
        self, fn: Function, recalled: Iterable[Value] = (), mirrored: Iterable[str] = ()
    ) -> None:
        self.live: set[Value] = set()
        self.makers: dict[Value, list[Operand]] = {}
        self.loops = {s.label: s for s in walk(fn.body) if isinstance(s, For | While)}
        # Loops that reverse code mirrors stay, even if nothing in them is needed any more.
        self.mirrored = {s.loop for s in walk(fn.body) if isinstance(s, Reverse)}
        self.mirrored.update(mirrored)
        self.roots: list[Operand] = [*fn.results, *recalled]
        self.scan(fn.body)
        work = list(self.roots)
        while work:
            operand = work.pop()
            if isinstance(operand, Value) and operand not in self.live:
                self.live.add(operand)
                work.extend(self.makers.get(operand, ()))

    def scan(self, stmts: Sequence[Stmt]) -> bool:
        """Mark what statements need; return whether there is a loop that reverse code mirrors.

        It stays, and with it what it lies in.
        """
        mirrored = False
        for stmt in stmts:
            own = list(operands(stmt))
            # Of a list, not a generator: every block is scanned.
            holds = any([self.scan(block.stmts) for block in blocks(stmt)])
            if isinstance(stmt, For | While):
                holds = holds or stmt.label in self.mirrored
            mirrored = mirrored or holds
            effect = has_effect(stmt) or holds
            match stmt:
                case If(results=results, cond=cond, then=then, orelse=orelse):
                    for k, result in enumerate(results):
                        self.makers[result] = [cond, then.yields[k], orelse.yields[k]]
                    if effect:
                        self.roots.append(cond)
                case For(trips=trips):
                    self.carried(stmt, stmt.body.yields, [trips])
                    if effect:
                        self.roots.append(trips)
                    self.makers[stmt.index] = [trips]
                case While(body=body):
                    self.carried(stmt, body.yields[1:], [body.yields[0]])
                    self.roots.append(body.yields[0])
                case Reverse(loop=label):
                    self.carried(stmt, stmt.body.yields, self.of_loop(label))
                    self.makers[stmt.index] = self.of_loop(label)
                    if effect:
                        self.roots.extend(self.of_loop(label))
                case Recall(result=result, value=value):
                    self.makers[result] = [value]
                case _:
                    for result in stmt.results:
                        self.makers[result] = own
                    if effect:
                        self.roots.extend(own)
        return mirrored

    def of_loop(self, label: str) -> list[Operand]:
        loop = self.loops.get(label)
        if isinstance(loop, For):
            return [loop.trips]
        return [loop.body.yields[0]] if loop is not None else []

    def carried(
        self, stmt: For | While | Reverse, nexts: Sequence[Operand], control: list[Operand]
    ) -> None:
        for k, param in enumerate(stmt.body.params):
            group: list[Operand] = [stmt.init[k], nexts[k], *control]
            self.makers[param] = [*group, stmt.results[k]]
            self.makers[stmt.results[k]] = [*group, param]


def _sweep(stmts: Sequence[Stmt], live: set[Value], mirrored: set[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for stmt in stmts:
        new = _sweep_stmt(stmt, live, mirrored)
        if new is not None:
            kept.append(new)
    return tuple(kept)


def _sweep_stmt(stmt: Stmt, live: set[Value], mirrored: set[str]) -> Stmt | None:
    match stmt:
        case If(results=results, then=then, orelse=orelse):
            keep = [k for k, value in enumerate(results) if value in live]
            stmt = _changed(
                stmt,
                results=tuple(results[k] for k in keep),
                then=_sweep_block(then, live, mirrored, keep),
                orelse=_sweep_block(orelse, live, mirrored, keep),
            )
            return stmt if keep or stmt.then.stmts or stmt.orelse.stmts else None
        case (
            For(results=results, init=init, body=body)
            | Reverse(results=results, init=init, body=body)
        ):
            keep = [k for k, param in enumerate(body.params) if param in live]
            new = _changed(
                stmt,
                results=tuple(results[k] for k in keep),
                init=tuple(init[k] for k in keep),
                body=_sweep_loop(body, live, mirrored, keep, keep),
            )
            wanted = isinstance(stmt, For) and stmt.label in mirrored
            return new if keep or new.body.stmts or wanted else None
        case While(results=results, init=init, body=body):
            keep = [k for k, param in enumerate(body.params) if param in live]
            return _changed(
                stmt,
                results=tuple(results[k] for k in keep),
                init=tuple(init[k] for k in keep),
                body=_sweep_loop(body, live, mirrored, keep, [0, *(k + 1 for k in keep)]),
            )
        case Check(cond=Literal(value=value)) if value:
            return None
        case Load() | Recall():
            return stmt if stmt.result in live else None
    if has_effect(stmt) or any(value in live for value in stmt.results):
        return stmt
    return None


def _sweep_block(block: Block, live: set[Value], mirrored: set[str], keep: Sequence[int]) -> Block:
    stmts, yields = _sweep(block.stmts, live, mirrored), tuple(block.yields[k] for k in keep)
    if len(yields) == len(block.yields) and are_same(stmts, block.stmts):
        return block
    return Block(block.params, stmts, yields)


def _sweep_loop(
    body: Block, live: set[Value], mirrored: set[str], params: Sequence[int], yields: Sequence[int]
) -> Block:
    stmts = _sweep(body.stmts, live, mirrored)
    if len(params) == len(body.params) and are_same(stmts, body.stmts):
        return body
    return Block(
        tuple(body.params[k] for k in params), stmts, tuple(body.yields[k] for k in yields)
    )


def _changed(stmt: _Nested, **parts: Any) -> _Nested:
    """Return a statement with other parts: fewer values, other blocks; the same one if none is."""
    for name, part in parts.items():
        old = getattr(stmt, name)
        if part is not old and (isinstance(part, Block) or len(part) != len(old)):
            return replace(stmt, **parts)
    return stmt
