"""From the buffer form to readable Python source for Numba.

One Python function per IR function, with the user's names and source lines as comments::

    # total = total + w * np.sin(x[i])
    total = total + w * sin(x[i])

A value that is used once is written where it is used, as long as the lines stay short; the order
of operations and their precision never change. Arrays are indexed by unsigned integers, because
Numba tests signed ones for counting from the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from adc.backend.common import prelude, printer, reader, repeated, syntax, tables, vector_math
from adc.backend.common.loops import STRIP, Loops
from adc.backend.common.syntax import (
    STATE,
    Constant,
    Do,
    Expr,
    Name,
    Pass,
    Return,
    Tuple,
    Unary,
    Unpack,
)
from adc.backend.common.writer import FAILED, PLACES, RUNTIME, Mark, Shared, Site
from adc.backend.runtime import gemm, special
from adc.ir import core, ops
from adc.ir.analysis.memory.escape import dead_after_yield, dead_values
from adc.ir.analysis.routines import ROUTINES, filled, library_form
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Gemm,
    If,
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
from adc.ir.functions import reachable
from adc.ir.ops import algorithms
from adc.ir.sums import LANES, SHORT
from adc.ir.text.outside import is_external, outside_of
from adc.ir.types import Array, Type

# Where checks write in the state.
_FOR_CHECKS = (syntax.Global("STATUS"), syntax.Global("OPERANDS"))

Finish = Callable[[list[syntax.Function], Sequence[Site]], list[syntax.Function]]


@dataclass(frozen=True)
class Emitted:
    """Python source and what is needed to compile and to call it."""

    name: str
    source: str
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    sites: tuple[Site, ...]
    functions: tuple[str, ...]  # of `vector_math`
    tapes: tuple[str, ...]  # the dtypes of the tapes that are used
    returned: tuple[int, ...]  # the results that are made by `returned`, by place
    multiplies: bool  # whether it may call BLAS
    multiplies_in_threads: bool  # whether threads that share a loop do
    shares: bool  # whether there are loops that threads may share
    bare: bool  # whether all it does with its state is to tell of checks, and to make results
    tables: tuple[int, ...] = ()  # the parameters that are passed as the addresses of their parts
    # What machine code is made of; that of code from the disk is there.
    code: tuple[syntax.Function, ...] = ()


class _Emitter(Loops):
    """Writes control flow, and with it whole functions."""

    def __init__(self, fn: Function, shared: Shared, *, main: bool, part: bool) -> None:
        super().__init__(fn, shared, main=main)
        self._part = part

    def stmts(self, stmts: Sequence[Stmt], later: Sequence[Operand] | None = None) -> None:
        pushed, given = False, set(self._given)
        gone = None if later is None else dead_values(stmts, later, self._held)
        for k, stmt in enumerate(stmts):
            pushes, pops = self.moves(stmt)
            if (pushes or pops) and not isinstance(stmt, core.Call):
                self.take_tapes()
            if pushed and pops:
                self.note_most()
            pushed = pushes or (pushed and not pops)
            if isinstance(stmt, For) and pushes and not self._depth and not stmt.parallel:
                self.expect(stmt)
            entered, after = ((), ()) if gone is None else gone[k]
            self._entered = entered
            place, self._place = self._place, stmt.loc or self._place
            self.stmt(stmt)
            self._place = place
            if self.is_inside or k < len(stmts) - 1:
                self.release(after)
        if self.is_inside:  # what is there behind a block was there in front of it
            self.take_tapes(but=given)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply():
                self.apply(stmt)
            case Load():
                self.load(stmt)
            case Write():
                self.write(stmt)
            case Gemm():
                self.gemm(stmt)
            case If():
                self.if_(stmt)
            case For():
                self.for_(stmt)
            case While():
                self.while_(stmt)
            case core.Call():
                self.call(stmt)
            case Check():
                self.check(stmt)
            case Print():
                self.print_(stmt)
            case Push():
                self.push(stmt)
            case Pop():
                self.pop(stmt)
            case Store() | Recall() | Reverse():
                raise IRError(f"{type(stmt).__name__} is not in buffer form", stmt.loc)
            case _:
                assert_never(stmt)

    def block(self, block: Block, targets: Sequence[Value], body: list[syntax.Stmt]) -> None:
        with self.inside(body):
            last = self._last
            self.stmts(block.stmts, block.yields)
            self.move([self.target(target) for target in targets], block.yields)
            self.release(dead_after_yield(block.stmts, block.yields, self._held))
            if not body:
                self.add(Pass())
            self._last = last

    def if_(self, stmt: If) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        stays = any(self.target(result) for result in stmt.results)
        then, orelse = (bool(arm.stmts or stays) for arm in (stmt.then, stmt.orelse))
        if not then and not orelse:
            return
        found = syntax.If(cond if then else Unary("not", cond))
        self.add(found)
        if then:
            self.block(stmt.then, stmt.results, found.then)
        if orelse:
            self.block(stmt.orelse, stmt.results, found.orelse if then else found.then)

    def call(self, stmt: core.Call) -> None:
        args = [STATE, *map(self.expr, stmt.args)]
        self.flush()
        self.comment(stmt.loc)
        traffic = [d for d in self._own if d in self._shared.tapes.used(stmt.callee)]
        self.close_tapes(traffic)
        call = syntax.Call(self._shared.names[stmt.callee], tuple(args))
        names = [self.name(v) if self._counts.get(v) else "_" for v in stmt.results]
        self.add(Unpack(tuple(names), call) if names else Do(call))
        with self.branch(FAILED):
            if stmt.callee in self._shared.noted:
                self.note_call(stmt)
            self.leave()

    # -- the whole -------------------------------------------------------------------------

    def run(self) -> syntax.Function:
        params = ("state", *(self.name(param) for param in self._fn.params))
        if self._fn.name in self._shared.recursive:
            self.stop_if(syntax.Call("enter", (STATE,)))
        mark = ""
        if not self._main and not self._part and self.makes_arrays(self._fn.body):
            mark = self.mark_top()
        if self._fn.routine:
            self._counts = {v: 2 for stmt in self._fn.body for v in stmt.results}
        self.stmts(self._fn.body, self._fn.results)
        flag = self.routine() if self._fn.routine else None
        # Numba cannot compile a branch inside a long tuple.
        few = len(self._fn.results) <= 8
        values = [self.expr(v) if few else self.atom(v) for v in self._fn.results]
        if flag is not None:
            values = [
                value if isinstance(result.type, Array) else flag
                for value, result in zip(values, self._fn.results, strict=True)
            ]
        if not self._main and any(isinstance(stmt, Push) for stmt in walk(self._fn.body)):
            self.note_most()  # the caller may not use the tapes itself
        self.close_tapes(self._own)
        if mark:
            self.do("release", STATE, Name(mark))
        self.add(Return(Tuple(tuple(values))))
        first = [syntax.Assign(self._nothing, self.nothing())] if self._nothing else []
        types = tuple(result.type for result in self._fn.results)
        given, found = _listed(v.type for v in self._fn.params), _listed(types) or "none"
        doc = f"{self._fn.name}: {given} -> {found}"
        name, body = self._shared.names[self._fn.name], [*first, *self.here]
        own = syntax.Function(name, params, doc, types, self.variables, body)
        return replace(own, is_part=self._part, is_flat=not self._main)

    def routine(self) -> Expr | None:
        """Write the call of a library, and return the variable that says whether it has failed."""
        fn = self._fn
        if is_external(fn):
            number = Constant(outside_of(fn).number)
            parts = [syntax.Tuple(tuple(map(self.expr, each))) for each in (fn.params, filled(fn))]
            call = syntax.Call("external", (STATE, number, *parts))
            self.flush()
            self.stop_if(call)
            return None
        row = ROUTINES[fn.routine]
        made = filled(fn)
        work = [s.results[0] for s in fn.body if isinstance(s, Apply) and s.op is ops.array.slot]
        given = map(self.expr, (*fn.params[: row.count], *made, *work))
        call = syntax.Call(fn.routine, (STATE, *given))
        self.flush()
        if all(isinstance(v.type, Array) for v in fn.results):
            self.add(Do(call))
            return None
        flag = self.helper("failed")
        self.set(flag, call)
        return Name(flag)


def _listed(types: Iterable[Type]) -> str:
    return ", ".join(map(str, types))


def emit(
    fn: Function,
    mark: Mark | None = None,
    apart: Collection[int] = (),
    finish: Finish | None = None,
) -> Emitted:
    """Return the source of `fn`, which is in buffer form, and of its callees.

    Parameters
    ----------
    fn : Function
        In buffer form.
    mark : callable, optional
        Returns what stands at the ends of lines that are for a place in the user's source.
    apart : collection of int
        The parameters whose parts along the first axis may lie apart, if the code allows it.
    finish : callable, optional
        Changes the functions, given with the checks and prints. What it is given has a statement of
        its own for every line of the user's source.
    """
    fn = library_form(fn)
    shared = Shared(fn, mark, apart=finish is not None)
    code: list[syntax.Function] = []
    for each in (*fn.callees, fn):
        *parts, rest = shared.divide(each)
        for piece in (*parts, rest):
            main = each is fn and piece is rest
            emitter = _Emitter(piece, shared, main=main, part=piece is not rest)
            last = emitter.run()
            code += [*emitter.functions, last]
    if mark is None:  # of a loop that is written once, no line has one place
        code = repeated.shared(code, shared.taken)
    if finish is not None:
        code = finish(code, shared.sites)
    names = {name for each in code for name in syntax.used(each.body)}
    own = [reader.algorithm(op) for op in algorithms.among(names)]
    names = names.union(*(syntax.used(each.body) for each in own))
    special.require(sorted(names & special.NAMES))
    code = [*own[::-1], *code]
    head = _head(fn.name, names, any(each.is_part for each in code))
    own_name, params = code[-1].name, code[-1].params
    given = {params[k + 1]: k for k in apart}  # the first is the state
    found = tables.tables(code, own_name, given)
    code[-1] = replace(code[-1], tables=found)
    text = "\n\n\n".join("\n".join(printer.function(each)) for each in code)
    return Emitted(
        shared.names[fn.name],
        f"{head}\n\n{text}\n",
        tuple(param.type for param in fn.params),
        tuple(result.type for result in fn.results),
        tuple(shared.sites),
        tuple(sorted(names & set(vector_math.FUNCTIONS))),
        tuple(sorted(shared.tapes.used(fn.name))),
        tuple(shared.returned),
        bool(names & (gemm.NAMES | ROUTINES.keys())),
        _multiplies_in_threads(fn),
        shared.shares,
        all(map(_is_bare, code)),
        tuple(sorted(given[name] for name in found)),
        tuple(code),
    )


def _multiplies_in_threads(fn: Function) -> bool:
    """Whether iterations that threads share multiply matrices, or call what does."""
    inside = [
        stmt
        for each in (fn, *fn.callees)
        for loop in walk(each.body)
        if isinstance(loop, For) and loop.parallel
        for stmt in walk(loop.body.stmts)
    ]
    table = {each.name: each for each in fn.callees}
    names = {stmt.callee for stmt in inside if isinstance(stmt, core.Call)}
    names = names.union(*(reachable(table, name) for name in names))
    bodies = [inside, *(walk(table[name].body) for name in names)]
    return any(isinstance(stmt, Gemm) for body in bodies for stmt in body)


def _is_bare(fn: syntax.Function) -> bool:
    """Whether a function writes what checks need to its state, and else only makes results."""
    for stmt in syntax.walk(fn.body):
        expressions = syntax.expressions(stmt)
        if isinstance(stmt, syntax.Store) and stmt.target.array == STATE:
            expressions = expressions[1:]
            (place,) = stmt.target.index
            if not any(each in _FOR_CHECKS for each in syntax.parts(place)):
                return False
        own = [
            each.args[0]
            for expr in expressions
            for each in syntax.parts(expr)
            if isinstance(each, syntax.Call) and each.function == "returned"
        ]
        read = [each for expr in expressions for each in syntax.parts(expr) if each == STATE]
        if len(read) > len(own):
            return False
    return True


def _head(title: str, names: set[str], parts: bool) -> str:
    """Return the beginning of a file whose functions use some names of others."""
    lines = [f'"""{title}, compiled by adc."""', ""]
    lines += ["import numpy as np", "from numba import njit", ""]
    lines += ["from adc.backend.cpu.lowering import Compiler"]
    math = set(vector_math.FUNCTIONS)
    for module, known in (
        ("runtime.gemm", gemm.NAMES),
        *(
            (f"runtime.{home}", {name for name, row in ROUTINES.items() if row.home == home})
            for home in sorted({row.home for row in ROUTINES.values()})
        ),
        ("common.prelude", prelude.NAMES - math),
        ("runtime", RUNTIME),
        ("runtime.special", special.NAMES),
        ("common.vector_math", math),
    ):
        if found := sorted(names & known):
            lines += ["", f"from adc.backend.{module} import (", *(f"    {n}," for n in found), ")"]
    lines += ["", 'OPTIONS = {"nogil": True, "error_model": "numpy", "pipeline_class": Compiler}']
    if parts:
        lines.append('PART = {**OPTIONS, "inline": "never"}')
    if "LANES" in names:
        lines.append(f"LANES = {LANES}  # partial sums of a loop")
    if "SHORT" in names:
        lines.append(f"SHORT = {SHORT}  # sums of so many terms are made without lanes")
    if "STRIP" in names:
        lines.append(f"STRIP = {STRIP}  # iterations between two looks for signals")
    if names & set(PLACES):
        lines += ["", "# Places in `state`."]
        lines += [f"{n} = {k}  # {doc}" for n, (k, doc) in PLACES.items() if n in names]
    return "\n".join(lines)


__all__ = ["STRIP", "Emitted", "Site", "emit"]
