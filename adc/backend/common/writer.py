"""Writing a function: statements, names, and values that wait to be written where they are used."""

from __future__ import annotations

import dataclasses
import keyword
import linecache
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass

from adc.backend.common import prelude, printer, syntax, vector_math
from adc.backend.common.expressions import dtype_of, is_atomic, literal, state, zero
from adc.backend.common.outline import makes_arrays, outline
from adc.backend.common.syntax import (
    STATE,
    Assign,
    Call,
    Comment,
    Constant,
    Delete,
    Do,
    Element,
    Expr,
    If,
    Name,
    Return,
    Tuple,
)
from adc.backend.common.tapes import Tapes
from adc.backend.runtime import gemm, special
from adc.backend.runtime.state import State
from adc.ir import core
from adc.ir.analysis.memory.escape import escaping, holding, stacked
from adc.ir.analysis.routines import ROUTINES
from adc.ir.core import Apply, Check, For, Function, Literal, Operand, Print, Stmt, Value, walk
from adc.ir.errors import Span
from adc.ir.ops import algorithms
from adc.ir.types import ELEMENTS, INT, Array, Type
from adc.ir.walk import use_counts

# Returns what stands at the end of a line that is for a place in the user's source.
Mark = Callable[[Span], str]
# Longest expression that is moved into another one.
INLINE = 60
# Iterations of a loop whose number is not known in front of a parallel one around it.
SOME = 8
# The places in the state, as emitted code names them.
PLACES = {
    "STATUS": (State.STATUS, "0, or the check that failed"),
    "TOP": (State.TOP, "bytes of the workspace in use"),
    "OPERANDS": (State.OPERANDS, "of the check that failed"),
    **{
        dtype.upper(): (
            State.tape(dtype),
            f"tape of {dtype}: address, capacity, elements in use, most",
        )
        for dtype in ELEMENTS
    },
}
RUNTIME = frozenset(
    (
        "at_line",
        "bits",
        "call_done",
        "call_from",
        "copy_into",
        "empty",
        "enter",
        "external",
        "fill",
        "fit",
        "fresh",
        "grow",
        "lanes",
        "note",
        "note_caller",
        "poll",
        "heard",
        "heard_integer",
        "say",
        "release",
        "returned",
        "reuse",
        "part_of",
        "row_at",
        "parallel_for",
        "slot",
        "stacked",
        "tape",
        "total",
        "total_down",
        "view",
    )
)
_TAPES = frozenset(f"{part}_{dtype}" for part in ("tape", "top") for dtype in ELEMENTS)
_RESERVED = (
    prelude.NAMES
    | RUNTIME
    | gemm.NAMES
    | special.NAMES
    | ROUTINES.keys()
    | set(vector_math.FUNCTIONS)
    | set(PLACES)
    | algorithms.reserved()
    | set(keyword.kwlist)
    | _TAPES
    | {
        "state",
        "np",
        "njit",
        "vectorizable",
        "range",
        "min",
        "max",
        "LANES",
        "SHORT",
        "STRIP",
        "OPTIONS",
    }
)


@dataclass(frozen=True)
class Site:
    """A check or a print: what to do with the operands that compiled code leaves. Or a call."""

    error: str  # "" for a print, "call" for a call
    message: str
    types: tuple[str, ...]
    loc: Span | None
    to: str = ""  # of a print: see `adc.ir.text.effects`


class Shared:
    """What the functions of one program share; `mark` says what stands at the ends of lines.

    What comes from different lines of the user's source is written in different statements if it is
    to stand `apart`.
    """

    def __init__(self, fn: Function, mark: Mark | None = None, *, apart: bool = False) -> None:
        self.mark = mark
        self.apart = apart
        self.tapes = Tapes(fn)
        self.sites: list[Site] = []
        # Where among the results the arrays are that are made by `returned`.
        self.returned: list[int] = []
        self.shares = False  # whether there are loops that threads may share
        self.names: dict[str, str] = {}
        taken = set(_RESERVED)
        for each in (fn, *fn.callees):
            self.names[each.name] = unique(each.name, taken)
        functions = {each.name: each for each in (fn, *fn.callees)}
        # Where functions are called that are not inlined, for errors in them; those that are called
        # in several places: such calls note at run time that they led to an error.
        self.called = _called(functions, fn.name)
        self.noted = set(functions) - set(self.called)
        self.recursive = {name for name in functions if _reaches(functions, name, name)}
        self._functions = functions
        self._work: dict[str, float] = {}
        self.escaping = {each.name: escaping(each) for each in (fn, *fn.callees)}
        self.held = {each.name: holding(each) for each in (fn, *fn.callees)}
        self.stacked = {each.name: stacked(each, functions.values()) for each in (fn, *fn.callees)}
        # Of every part (`outline`) and of what is left, what defines the values of the whole
        # function: a statement, or the loop that counts it. The parts that take workspace.
        self.origins: dict[str, dict[Operand, Stmt]] = {}
        self.making: set[str] = set()
        self.taken = taken

    def divide(self, fn: Function) -> list[Function]:
        """Return the parts of a function, callees first, and what is left of it."""
        known = {*self.names, *self.origins}
        done = outline(fn, self.escaping[fn.name], self.stacked[fn.name], known)
        self.tapes.divide(done.parts, done.moved)
        origins = _origins(fn)
        for part in done.parts:
            self.names[part.name] = unique(part.name, self.taken)
            if fn.name in self.called:
                self.called[part.name] = self.called[fn.name]
            self.origins[part.name] = origins
            self.escaping[part.name] = self.escaping[fn.name]
            self.held[part.name] = self.held[fn.name]
            self.stacked[part.name] = self.stacked[fn.name]
            if makes_arrays(part, self.making, self.stacked[fn.name]):
                self.making.add(part.name)
        self.origins[fn.name] = origins
        return [*done.parts, done.fn]

    def work(self, name: str) -> float:
        """Return about what a call takes, in additions."""
        if name not in self._work:
            self._work[name] = 1.0  # of one that calls itself
            fn = self._functions.get(name)
            self._work[name] = 1.0 if fn is None else self._takes(fn.body)
        return self._work[name]

    def _takes(self, stmts: Sequence[Stmt]) -> float:
        taken = 0.0
        for stmt in stmts:
            match stmt:
                case Apply(op=op):
                    taken += op.cost
                case core.Call(callee=name):
                    taken += self.work(name)
                case For(trips=Literal(value=count)):
                    taken += max(float(count), 0.0) * self._takes(stmt.body.stmts)
                case For() | core.While():
                    taken += SOME * self._takes(stmt.body.stmts)
                case _:
                    taken += 1.0 + max((self._takes(b.stmts) for b in core.blocks(stmt)), default=0)
        return taken

    def site(self, stmt: Check | Print | core.Call, where: str) -> int:
        """Return the number of a check, print or call in the function `where`."""
        loc = stmt.loc and stmt.loc.called(self.called.get(where))
        if isinstance(stmt, core.Call):
            self.sites.append(Site("call", "", (), loc))
        else:
            error = stmt.error if isinstance(stmt, Check) else ""
            types = tuple(str(arg.type) for arg in stmt.args)
            to = stmt.to if isinstance(stmt, Print) else ""
            self.sites.append(Site(error, stmt.message, types, loc, to))
        return len(self.sites)


def _called(functions: Mapping[str, Function], main: str) -> dict[str, Span]:
    """Return where each function is called, if that is one place."""
    places: dict[str, dict[tuple[Span, ...], Span | None]] = {}
    within: dict[str, str] = {}
    for name, fn in functions.items():
        for stmt in walk(fn.body):
            if isinstance(stmt, core.Call):
                chain = stmt.loc.chain() if stmt.loc else ()
                places.setdefault(stmt.callee, {})[chain] = stmt.loc
                within[stmt.callee] = name
    found: dict[str, Span] = {}

    def place(name: str, depth: int) -> Span | None:
        known = list(places.get(name, {}).values())
        if len(known) != 1 or known[0] is None or depth > len(functions):
            return None
        return known[0].called(None if within[name] == main else place(within[name], depth + 1))

    for name in functions:
        if (where := place(name, 0)) is not None:
            found[name] = where
    return found


def _origins(fn: Function) -> dict[Operand, Stmt]:
    found: dict[Operand, Stmt] = {}
    for stmt in walk(fn.body):
        found.update((result, stmt) for result in stmt.results)
        if isinstance(stmt, For):
            found[stmt.index] = stmt
    return found


def unique(name: str, taken: set[str]) -> str:
    """Return an identifier like `name` that is not in `taken`, and put it there."""
    name = unicodedata.normalize("NFKC", name)  # as Python does: two names must not become one
    base = "".join(c if f"a{c}".isidentifier() else "_" for c in name).strip("_") or "t"
    if not base.isidentifier():
        base = f"v{base}"
    found, k = base, 1
    while found in taken:
        found, k = f"{base}_{k}", k + 1
    taken.add(found)
    return found


def _reaches(functions: dict[str, Function], start: str, goal: str) -> bool:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for stmt in walk(functions[todo.pop()].body):
            if isinstance(stmt, core.Call) and stmt.callee not in seen:
                seen.add(stmt.callee)
                todo.append(stmt.callee)
    return goal in seen


class Names:
    """Names of a function that is written, which are not `taken`, and the user's lines above it."""

    def __init__(self, taken: AbstractSet[str]) -> None:
        self._taken = set(taken)
        self._names: dict[Value, str] = {}
        self._last: tuple[str, int] | None = None  # the source line last written as a comment

    def quoted(self, loc: Span | None) -> str:
        """Return the user's line, to stand above what is made of it, once."""
        if loc is None or (loc.file, loc.line) == self._last:
            return ""
        self._last = (loc.file, loc.line)
        text = linecache.getline(loc.file, loc.line).strip()
        return f"{loc.line}: {text}" if text else ""

    def name(self, value: Value) -> str:
        if value not in self._names:
            self._names[value] = unique(value.name, self._taken)
        return self._names[value]

    def helper(self, name: str) -> str:
        """Return a variable of the emitter's own."""
        return unique(name, self._taken)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An expression that waits for its only use; `loads` if it depends on elements of arrays."""

    expr: Expr
    loads: bool
    loc: Span | None


class Writer(Names):
    """Writes one function.

    A value that is used once waits in `_pending` until it is. It is written before anything that
    would change it: a write, if it loads, or a new value of a variable that it reads.
    """

    def __init__(self, fn: Function, shared: Shared, *, main: bool) -> None:
        super().__init__(_RESERVED | shared.taken)
        # Whether lines end with the place in the user's source that they are for, and that place.
        self._mark = shared.mark
        self._place: Span | None = None
        # The blocks that are being written, each in the one before it.
        self._blocks: list[list[syntax.Stmt]] = [[]]
        self.variables: dict[str, Type] = {"state": Array("i64", 1)}
        self._fn = fn
        self._shared = shared
        self._main = main
        self._pending: dict[Value, _Waiting] = {}
        self._positions: dict[Value, str] = {}  # counters of loops as unsigned variables
        # Values that stand for partial sums: where these lie. And which the innermost loop adds to.
        self._lanes: dict[Value, str] = {}
        self._lane: Expr = Constant(0)
        self._counts = use_counts(fn)
        self._escaping = shared.escaping[fn.name]
        self._held = shared.held[fn.name]
        self._stacked = shared.stacked[fn.name]
        # What the loop that comes next need not hold once it has begun.
        self._entered: tuple[Value, ...] = ()
        self._returned = self._find_returned() if main else {}
        self._nothing = ""  # the variable that early exits return
        # What is returned by what is being written, and the functions that it calls.
        self._results: tuple[Type, ...] = tuple(result.type for result in fn.results)
        self.functions: list[syntax.Function] = []

    def _find_returned(self) -> dict[Value, int]:
        """Return the results that the function makes itself, once, and number them."""
        made = {v for stmt in self._fn.body if isinstance(stmt, Apply) for v in stmt.results}
        found: dict[Value, int] = {}
        for place, value in enumerate(self._fn.results):
            if isinstance(value, Value) and isinstance(value.type, Array) and value in made:
                found[value] = len(found)
                self._shared.returned.append(place)
        return found

    # -- statements ------------------------------------------------------------------------

    @property
    def here(self) -> list[syntax.Stmt]:
        """The block that is being written."""
        return self._blocks[-1]

    @property
    def is_inside(self) -> bool:
        """Whether that is a block of another statement."""
        return len(self._blocks) > 1

    def add(self, stmt: syntax.Stmt) -> None:
        place = self._place if self._mark else None
        if self._mark and place is not None and not stmt.remark and not isinstance(stmt, Comment):
            stmt = dataclasses.replace(stmt, remark=self._mark(place))
        self.here.append(stmt)

    def set(self, name: str, value: Expr) -> None:
        self.add(Assign(name, value))

    def do(self, function: str, *args: Expr) -> None:
        self.add(Do(Call(function, args)))

    def delete(self, names: Sequence[str]) -> None:
        self.add(Delete(tuple(names)))

    def enter(self, stmt: If | syntax.For | syntax.Forever) -> None:
        """Write a statement, and go on in its block."""
        self.add(stmt)
        self._blocks.append(stmt.then if isinstance(stmt, If) else stmt.body)

    @contextmanager
    def inside(self, body: list[syntax.Stmt] | None = None) -> Iterator[None]:
        """Go on in a block, or in those that are entered; come back from all of them."""
        depth = len(self._blocks)
        if body is not None:
            self._blocks.append(body)
        yield
        del self._blocks[depth:]

    @contextmanager
    def branch(self, test: Expr) -> Iterator[If]:
        """Write a branch, and what is done inside."""
        with self.inside():
            stmt = If(test)
            self.enter(stmt)
            yield stmt

    def comment(self, loc: Span | None) -> None:
        """Write the user's line above what is made of it, once."""
        text = self.quoted(loc)
        if text:
            self.add(Comment(text))

    # -- expressions -----------------------------------------------------------------------

    def function(self, hint: str) -> str:
        """Return the name of a function of the emitter's own."""
        taken = self._shared.taken | self._taken
        name = unique(hint, taken)
        self._shared.taken.add(name)
        self._taken.add(name)
        return name

    def name(self, value: Value) -> str:
        if value not in self._names:
            self.variables[super().name(value)] = value.type
        return self._names[value]

    def helper(self, name: str, ty: Type = INT) -> str:
        """Return a variable of the emitter's own."""
        found = super().helper(name)
        self.variables[found] = ty
        return found

    def variable(self, value: Value) -> Name:
        return Name(self.name(value))

    def expr(self, operand: Operand) -> Expr:
        if isinstance(operand, Literal):
            return literal(operand.value, operand.type)
        if operand not in self._pending:
            return self.variable(operand)
        waiting = self._pending.pop(operand)
        if self._shared.apart and not _are_together(waiting.loc, self._place):
            place, self._place = self._place, waiting.loc
            self.set(self.name(operand), waiting.expr)
            self._place = place
            return self.variable(operand)
        return waiting.expr

    def atom(self, operand: Operand) -> Expr:
        """Return an operand that can stand twice."""
        found = self.expr(operand)
        if not is_atomic(found) and isinstance(operand, Value):
            self.set(self.name(operand), found)
            return self.variable(operand)
        return found

    def assign(self, value: Value, found: Expr, loc: Span | None) -> None:
        """Give `value` a variable, or wait for its only use."""
        count = self._counts.get(value, 0)
        if count == 0:
            return
        if count == 1 and len(printer.operand(found)) <= INLINE:
            self._pending[value] = _Waiting(found, syntax.loads(found), loc)
            return
        self.comment(loc)
        self.set(self.name(value), found)

    def flush(self, *, loads: bool = False) -> None:
        """Write the values that wait: all, or those that load."""
        for value, waiting in list(self._pending.items()):
            if waiting.loads or not loads:
                del self._pending[value]
                place, self._place = self._place, waiting.loc or self._place
                self.set(self.name(value), waiting.expr)
                self._place = place

    def int64(self, operand: Operand) -> Expr:
        found = self.expr(operand)
        return found if operand.type.dtype == "i64" else Call("int64", (found,))

    def element(self, array: str, index: Sequence[Operand]) -> Element:
        return Element(Name(array), tuple(self.position(operand) for operand in index))

    def position(self, operand: Operand) -> Expr:
        found = self.expr(operand)
        if isinstance(operand, Literal):
            return Constant(int(operand.value))
        if operand in self._positions:
            return Name(self._positions[operand])
        return Call("unsigned", (found,))

    def word(self, operand: Operand) -> Expr:
        found = self.expr(operand)
        return found if operand.type.dtype == "i64" else Call("bits", (found,))

    # -- leaving ---------------------------------------------------------------------------

    def leave(self) -> None:
        """Return early: what is returned does not matter."""
        if not any(isinstance(ty, Array) for ty in self._results):
            self.add(Return(self.nothing()))
            return
        # Numba types every expression: arrays that nobody looks at are made in one place.
        if not self._nothing:
            self._nothing = unique("nothing", self._taken)
        self.add(Return(Name(self._nothing)))

    def nothing(self) -> Tuple:
        """Return what is returned where it does not matter."""
        values: list[Expr] = []
        for ty in self._results:
            if isinstance(ty, Array):
                shape = Tuple((Constant(0),) * ty.rank, loose=True)
                values.append(Call("view", (Constant(0), dtype_of(ty), shape)))
            else:
                values.append(zero(ty))
        return Tuple(tuple(values))

    def stop_if(self, condition: Expr) -> None:
        with self.branch(condition):
            self.leave()

    def poll(self, work: Expr) -> None:
        """Look for signals, after so much work."""
        self.stop_if(Call("poll", (STATE, work)))


def _are_together(one: Span | None, other: Span | None) -> bool:
    """Whether two places are in one line, or one of them is unknown."""
    if one is None or other is None:
        return True
    same = (one.file, one.line) == (other.file, other.line)
    return same and one.in_reverse == other.in_reverse


FAILED = syntax.Binary("!=", state("STATUS"), Constant(0))
