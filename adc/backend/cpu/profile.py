"""Emitted code that notes in the state which line of the user's source runs, for a profile.

A *mark* is the number of a line and of the calls that lead there, of forward or reverse code. A
store to the state says that it runs from now on; the thread of a `sampler` reads it::

    at_line(state, 57, 3)                  # line 12
    t = exp(total)
    at_line(state, 57, 4)                  # line 13 and 14, by the operations of each
    for i in vectorizable(n):
        t_1 = x[unsigned(i)] * t
        y[unsigned(i)] = t_1 + 1.0

There are no stores inside an innermost loop whose iterations are independent, nor in any innermost
loop of `coarse` code: that would change how the loop is compiled. Such a loop has one mark for all
its lines, which share its time as they share its operations. Functions that are not inlined have
marks of their own, and the state has a stack of the marks of the calls that led there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adc.backend.common import prelude, syntax
from adc.backend.common.emit import Emitted, Site, emit
from adc.backend.common.syntax import (
    STATE,
    Binary,
    Call,
    Comment,
    Constant,
    Delete,
    Do,
    Element,
    Expr,
    For,
    Forever,
    If,
    Return,
    Stmt,
)
from adc.backend.common.writer import PLACES
from adc.backend.runtime.state import State
from adc.ir.core import Function
from adc.ir.errors import Span
from adc.ir.opdef import OPS

# The words of the state behind the operands of checks: the mark, and a stack of calls.
WORDS = 2 + State.MOST_CALLS
_ROWS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}
_FREE = frozenset(("unsigned", "int64"))
# What simple statements may mention.
_OPERATIONS = frozenset((*OPS, *_FREE, *PLACES, *prelude.NAMES, "bits", "lanes", "poll", "view"))


@dataclass(frozen=True)
class Place:
    """A line of the user's source, under the calls that were inlined, the outermost first."""

    chain: tuple[tuple[str, int, str], ...]  # file, line and function of each
    reverse: bool


@dataclass
class Marked:
    """What the marks of emitted code stand for.

    Attributes
    ----------
    marks : list
        For each mark, its places with their shares of the time. Mark 0 stands for what is outside
        of compiled code.
    base : int
        The place in the state where marks are noted.
    """

    emitted: Emitted
    marks: list[tuple[tuple[Place, float], ...]]
    base: int


def emit_marked(fn: Function, apart: Sequence[int] = (), *, coarse: bool = False) -> Marked:
    """Return the source of `fn`, which is in buffer form, with marks."""
    marks = _Marks(coarse)
    emitted = emit(fn, marks.remark, apart, marks.finish)
    return Marked(emitted, marks.found, marks.base)


class _Marks:
    """The marks of the functions of a file."""

    def __init__(self, coarse: bool) -> None:
        self.coarse = coarse
        self.places: list[Place] = []
        self._numbers: dict[Place, int] = {}
        self.found: list[tuple[tuple[Place, float], ...]] = [()]
        self._known: dict[tuple[tuple[Place, float], ...], int] = {}
        self.base = 0
        self.functions: dict[str, syntax.Function] = {}

    def remark(self, span: Span) -> str:
        """Return the number of a place, to stand at the end of a statement."""
        chain = tuple([(each.file, each.line, each.function) for each in span.chain()])
        place = Place(chain, span.in_reverse)
        if place not in self._numbers:
            self._numbers[place] = len(self.places)
            self.places.append(place)
        return str(self._numbers[place])

    def place(self, stmt: Stmt, reverse: bool) -> Place | None:
        """Return the place of a statement in a block of forward or reverse code."""
        if not stmt.remark.isdecimal():
            return None
        place = self.places[int(stmt.remark)]
        return replace(place, reverse=True) if reverse else place

    def mark(self, costs: Mapping[Place, float]) -> int:
        """Return the mark of places with some costs."""
        total = sum(costs.values())
        shares = tuple([(place, cost / total) for place, cost in costs.items()])
        if shares not in self._known:
            self._known[shares] = len(self.found)
            self.found.append(shares)
        return self._known[shares]

    def finish(self, code: list[syntax.Function], sites: Sequence[Site]) -> list[syntax.Function]:
        """Return the functions of a file with marks; the last one is called from Python."""
        self.base = State.OPERANDS + max([len(site.types) for site in sites], default=0)
        self.functions = {each.name: each for each in code}
        # What threads run: the function itself, and parts of loops that they share.
        entered = {code[-1].name, *_shared(code)}
        return [
            replace(each, body=_Body(self, each.name in entered).block(each.body, None, False)[0])
            for each in code
        ]


@dataclass
class _Body:
    """Writes marks into a function; one that a thread begins with `ends` with the mark 0."""

    marks: _Marks
    ends: bool

    def block(
        self, stmts: Sequence[Stmt], known: int | None, reverse: bool, within: bool = False
    ) -> tuple[list[Stmt], int | None]:
        """Return statements, maybe `within` a loop, with marks; and the mark after them.

        `known` is the mark before them. None stands for one that is not known.
        """
        found: list[Stmt] = []

        def set_mark(mark: int) -> None:
            nonlocal known
            if mark != known:
                found.append(_do("at_line", self.marks.base, mark))
            known = mark

        alike: dict[Place, float] = {}
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, Comment | Delete):
                found.append(stmt)
                continue
            if within and self.marks.coarse and self.is_simple(stmt):
                if k == 0 or not alike:
                    alike = self.costs(self.run(stmts[k:]), reverse)
                if alike:
                    set_mark(self.marks.mark(alike))
                found.append(_plain(stmt))
                continue
            alike = {}
            place = self.marks.place(stmt, reverse)
            if isinstance(stmt, For | Forever):
                inside = reverse or (place is not None and place.reverse)
                costs = self.costs([stmt], inside)
                if not self.calls(stmt.body) and (len(costs) < 2 or self.is_group(stmt)):
                    if costs:
                        set_mark(self.marks.mark(costs))
                    found.append(_plain(stmt))
                    continue
                body, _ = self.block(stmt.body, None, inside, True)
                found.append(replace(stmt, remark="", body=body))
                known = None
                continue
            if place is not None:
                set_mark(self.marks.mark({place: 1.0}))
            if isinstance(stmt, If):
                if _leaves(stmt):  # which ends the call with an error
                    found.append(_plain(stmt))
                    continue
                then, first = self.block(stmt.then, known, reverse, within)
                orelse, second = self.block(stmt.orelse, known, reverse, within)
                found.append(replace(stmt, remark="", then=then, orelse=orelse))
                known = first if first == second else None
                continue
            if isinstance(stmt, Return) and self.ends:
                found.append(_do("at_line", self.marks.base, 0))
            called = self.called(stmt)
            own = [each for each in called if not each.is_part]
            if own and place is not None:
                mark = self.marks.mark({place: 1.0})
                found.append(_do("call_from", self.marks.base + 1, mark))
                found.append(_plain(stmt))
                found.append(_do("call_done", self.marks.base + 1))
            else:
                found.append(_plain(stmt))
            if called:
                known = None
        return found, known

    def run(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        """Return the simple statements that statements begin with."""
        found: list[Stmt] = []
        for stmt in stmts:
            if not (isinstance(stmt, Comment | Delete) or self.is_simple(stmt)):
                break
            found.append(stmt)
        return found

    def is_simple(self, stmt: Stmt) -> bool:
        """Whether a statement has neither loops, nor calls but of operations."""
        for each in syntax.walk([stmt]):
            if isinstance(each, For | Forever | Do | syntax.Unpack | Return):
                if not (isinstance(each, Return) and isinstance(stmt, If) and _leaves(stmt)):
                    return False
            if not syntax.used([each]) <= _OPERATIONS and not syntax.blocks(each):
                return False
        return True

    def called(self, stmt: Stmt) -> list[syntax.Function]:
        """Return the functions of the file that a statement itself calls, or has threads call."""
        functions = self.marks.functions
        names = set() if syntax.blocks(stmt) else syntax.used([stmt])
        return [functions[name] for name in sorted(names) if name in functions]

    def calls(self, body: Sequence[Stmt]) -> bool:
        return bool(syntax.used(body) & self.marks.functions.keys())

    def is_group(self, stmt: For | Forever) -> bool:
        """Whether a loop is to have one mark: an innermost one, with the loops over its strips."""
        inner = [each for each in stmt.body if isinstance(each, For | Forever)]
        nested = [each for each in syntax.walk(stmt.body) if isinstance(each, For | Forever)]
        if not nested:
            return self.marks.coarse or (isinstance(stmt, For) and stmt.vectorizable)
        return (
            len(inner) == len(nested) == 1
            and inner[0].remark == stmt.remark
            and isinstance(stmt, For)
            and len(stmt.limits) == 3
            and self.is_group(inner[0])
        )

    def costs(self, stmts: Sequence[Stmt], reverse: bool) -> dict[Place, float]:
        """Return the cost of the operations of every place in statements."""
        found: dict[Place, float] = {}

        def add(stmts: Sequence[Stmt], reverse: bool) -> None:
            for stmt in stmts:
                place = self.marks.place(stmt, reverse)
                cost = sum(map(_cost, syntax.expressions(stmt)), 0.1)
                if place is not None and not isinstance(stmt, Comment | Delete):
                    found[place] = found.get(place, 0.0) + cost
                within = reverse
                if isinstance(stmt, For | Forever) and place is not None:
                    within = reverse or place.reverse
                for block in syntax.blocks(stmt):
                    add(block, within)

        add(stmts, reverse)
        return found


def _shared(code: Sequence[syntax.Function]) -> set[str]:
    """Return the functions that are parts of loops which threads share."""
    names = {each.name for each in code}
    return {
        part.id
        for each in code
        for stmt in syntax.walk(each.body)
        if isinstance(stmt, Do) and stmt.call.function == "parallel_for"
        for part in stmt.call.args
        if isinstance(part, syntax.Global) and part.id in names
    }


def _do(name: str, *words: int) -> Do:
    return Do(Call(name, (STATE, *map(Constant, words))))


def _plain(stmt: Stmt) -> Stmt:
    """Return a statement without the numbers of places in it."""
    remark = "" if stmt.remark.isdecimal() else stmt.remark
    match stmt:
        case If(_, then, orelse):
            return replace(stmt, remark=remark, then=_all_plain(then), orelse=_all_plain(orelse))
        case For() | Forever():
            return replace(stmt, remark=remark, body=_all_plain(stmt.body))
    return replace(stmt, remark=remark)


def _all_plain(stmts: Sequence[Stmt]) -> list[Stmt]:
    return [_plain(stmt) for stmt in stmts]


def _leaves(stmt: If) -> bool:
    """Whether a branch does nothing but leave the function."""
    return not stmt.orelse and bool(stmt.then) and isinstance(stmt.then[-1], Return)


def _cost(expr: Expr) -> float:
    """Return the cost of the operations of an expression; an addition is 1."""
    found = 0.0
    for each in syntax.parts(expr):
        match each:
            case Call(name) if name not in _FREE:
                found += OPS[name].cost if name in OPS else 1.0
            case Binary(op):
                found += OPS[_ROWS[op]].cost if op in _ROWS else 1.0
            case Element():
                found += 1.0
    return found


__all__ = ["WORDS", "Marked", "Place", "emit_marked"]
