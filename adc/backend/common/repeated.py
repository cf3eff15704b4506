"""Loops that a long file has repeatedly, but for the names of variables, are written once.

LLVM's time is that of its loops: a few milliseconds for each. In::

    for i in vectorizable(n):
        b[unsigned(i)] = a[unsigned(i)] * 2.0
    for i_1 in vectorizable(m):
        d[unsigned(i_1)] = c[unsigned(i_1)] * 2.0

both become calls of a function that is made of the first one: ``loop(n, b, a)`` and
``loop(m, d, c)``. Where the loop assigns a number that is read elsewhere, the function returns it.
Short files stay as they are, since a call takes some nanoseconds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from adc.backend.common import printer, syntax
from adc.backend.common.expressions import zero
from adc.backend.common.syntax import (
    Assign,
    Call,
    Comment,
    Constant,
    Delete,
    Do,
    Expr,
    For,
    Forever,
    Function,
    If,
    Name,
    Return,
    Stmt,
    Tuple,
    Unpack,
)
from adc.backend.common.writer import FAILED, RUNTIME, unique
from adc.ir.types import Array

# Files of at least so many statements are long.
LONG = 1000
# Loops that they have so often become functions.
OFTEN = 2
# Iterations of so few are unrolled where they stand.
FEW = 16
# What a function of its own can do as well. The rest of the runtime makes arrays or moves tapes.
_ANYWHERE = frozenset(("bits", "copy_into", "fill", "lanes", "poll", "total", "total_down"))
# Names where they are not those of attributes.
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def shared(code: Sequence[Function], taken: set[str]) -> list[Function]:
    """Return the functions of a file with repeated loops as functions in front of them.

    `taken` are the names of functions, which grow.
    """
    if sum(1 for each in code for _ in syntax.walk(each.body)) < LONG:
        return list(code)
    emitted = {each.name for each in code}
    found: dict[tuple[object, ...], list[_Loop]] = {}
    for each in code:
        for loop in _Search(each, emitted).loops(each.body):
            found.setdefault(loop.key, []).append(loop)
    names = taken.union(*(each.variables for each in code))
    calls: dict[int, list[Stmt]] = {}
    made: list[Function] = []
    for loops in found.values():
        if len(loops) >= OFTEN:
            name = unique(f"{code[-1].name}_loop", names)
            taken.add(name)
            made.append(loops[0].function(name))
            calls.update((id(loop.stmt), loop.call(name)) for loop in loops)
    bodies = [_changed(each.body, lambda stmt: calls.get(id(stmt))) for each in code]
    return [*made, *(replace(each, body=body) for each, body in zip(code, bodies, strict=True))]


def _changed(body: Sequence[Stmt], change: Callable[[Stmt], list[Stmt] | None]) -> list[Stmt]:
    """Return statements with others in place of those, at any depth, that `change` knows."""
    found: list[Stmt] = []
    for stmt in body:
        others = change(stmt)
        match stmt:
            case _ if others is not None:
                found += others
            case If(then=then, orelse=orelse):
                then, orelse = _changed(then, change), _changed(orelse, change)
                found.append(replace(stmt, then=then, orelse=orelse))
            case For(body=inner) | Forever(inner):
                found.append(replace(stmt, body=_changed(inner, change)))
            case _:
                found.append(stmt)
    return found


@dataclass(frozen=True)
class _Loop:
    """A loop that can be a function of its own."""

    stmt: For
    home: Function
    # Its variables in the order of the text, the text with their numbers in place of their names,
    # those that it reads before it assigns them or returns, and those that are read elsewhere.
    names: tuple[str, ...]
    text: str
    given: tuple[int, ...]
    results: tuple[int, ...]
    # What the function around it returns where the loop is left early, if it ever is.
    early: Expr | None

    @property
    def key(self) -> tuple[object, ...]:
        types = tuple(self.home.variables[name] for name in self.names)
        return self.text, types, self.given, self.results

    def function(self, name: str) -> Function:
        variables = {each: self.home.variables[each] for each in self.names}
        params, results = ([self.names[k] for k in each] for each in (self.given, self.results))
        types = tuple(variables[each] for each in results)
        early = Return(Tuple(tuple(map(zero, types))))
        body = [*_returning([self.stmt], early), Return(Tuple(tuple(map(Name, results))))]
        given = ", ".join(str(variables[each]) for each in params)
        doc = f"A loop: {given} -> {', '.join(map(str, types)) or 'none'}"
        own = Function(name, tuple(params), doc, types, variables, body)
        return replace(own, is_part=True, is_flat=True, is_loop=True)

    def call(self, name: str) -> list[Stmt]:
        call = Call(name, tuple(Name(self.names[k]) for k in self.given))
        results = tuple(self.names[k] for k in self.results)
        made: list[Stmt] = [Unpack(results, call) if results else Do(call)]
        if self.early is not None:
            made.append(If(FAILED, [Return(self.early)]))
        return made


def _returning(body: Sequence[Stmt], early: Return) -> list[Stmt]:
    """Return statements that return something else, without comments."""

    def change(stmt: Stmt) -> list[Stmt] | None:
        return [] if isinstance(stmt, Comment) else [early] if isinstance(stmt, Return) else None

    return _changed(body, change)


class _Search:
    def __init__(self, function: Function, emitted: set[str]) -> None:
        self.function = function
        self.excluded = (RUNTIME - _ANYWHERE) | emitted
        self.read, self.assigned = _counts(function.body)
        self.assigned.update(function.params)

    def loops(self, body: Sequence[Stmt]) -> Iterator[_Loop]:
        """Yield the outermost loops that can be functions of their own."""
        for stmt in body:
            match stmt:
                case For() if (found := self.loop(stmt)) is not None:
                    yield found
                case For(body=inner) | Forever(inner):
                    # What stands in a loop is called often.
                    if sum(1 for _ in syntax.walk(inner)) >= LONG // 4:
                        yield from self.loops(inner)
                case If(then=then, orelse=orelse):
                    yield from self.loops(then)
                    yield from self.loops(orelse)

    def loop(self, stmt: For) -> _Loop | None:
        limits = [int(each.value) for each in stmt.limits if isinstance(each, Constant)]
        if len(limits) == len(stmt.limits) and len(range(*limits)) <= FEW:
            return None
        read, assigned = _counts([stmt])
        returned: list[Expr] = []
        for each in syntax.walk([stmt]):
            match each:
                case Assign(name, value) if self.is_array(name):
                    local = self.read[name] == read[name]
                    if not (local and isinstance(value, Call) and value.function == "lanes"):
                        return None
                case Unpack() | Delete():
                    return None
                case Return(value):
                    returned.append(value)
        if len(set(returned)) > 1 or not self.excluded.isdisjoint(syntax.used([stmt])):
            return None
        # What the loop assigns and others read has a value before it: it may have no iteration.
        results = {name for name in assigned if self.read[name] > read[name]}
        if any(self.assigned[name] == assigned[name] for name in results):
            return None
        lines = "\n".join(printer.block(_returning([stmt], Return(Tuple(())))))
        places: dict[str, int] = {}
        variables = self.function.variables

        def place(found: re.Match[str]) -> str:
            name = found[0]
            return f"%{places.setdefault(name, len(places))}" if name in variables else name

        text = _WORD.sub(place, lines)
        outside = {name for name in read if self.assigned[name] > assigned[name]}
        names = tuple(places)
        return _Loop(
            stmt,
            self.function,
            names,
            text,
            tuple(places[name] for name in names if name in outside | results),
            tuple(places[name] for name in names if name in results),
            returned[0] if returned else None,
        )

    def is_array(self, name: str) -> bool:
        return isinstance(self.function.variables.get(name), Array)


def _counts(body: Sequence[Stmt]) -> tuple[Counter[str], Counter[str]]:
    """Count how often statements read each variable, and how often they assign it."""
    read: Counter[str] = Counter()
    assigned: Counter[str] = Counter()
    for stmt in syntax.walk(body):
        for expr in syntax.expressions(stmt):
            read.update(each.id for each in syntax.parts(expr) if isinstance(each, Name))
        assigned.update(syntax.targets(stmt))
        match stmt:
            case syntax.Increase(Name(name)):
                read[name] += 1
    return read, assigned


__all__ = ["shared"]
