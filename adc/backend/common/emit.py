"""From the buffer form to readable Python source for Numba.

One Python function per IR function, with the user's names and source lines as comments::

    # total = total + w * np.sin(x[i])
    total = total + w * sin(x[i])

A value that is used once is written where it is used, as long as the lines stay short; the order
of operations and their precision never change. Arrays are indexed by unsigned integers, because
Numba tests signed ones for counting from the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from adc.backend.common import prelude, vector_math
from adc.backend.common.loops import STRIP, Loops
from adc.backend.common.writer import PLACES, RUNTIME, Shared, Site
from adc.backend.runtime import gemm
from adc.ir.analysis.memory.escape import dead_after_yield, dead_values
from adc.ir.core import (
    Apply,
    Block,
    Call,
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
from adc.ir.ops import algorithms
from adc.ir.sums import LANES, SHORT
from adc.ir.types import Type


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

    @property
    def multiplies(self) -> bool:
        """Whether it may call BLAS."""
        return "adc.backend.runtime.gemm" in self.source

    @property
    def shares(self) -> bool:
        """Whether there are loops that threads may share."""
        return "side_by_side(" in self.source


class _Emitter(Loops):
    """Writes control flow, and with it whole functions."""

    def __init__(self, fn: Function, shared: Shared, *, main: bool, part: bool) -> None:
        super().__init__(fn, shared, main=main)
        self._part = part

    def stmts(self, stmts: Sequence[Stmt], later: Sequence[Operand] | None = None) -> None:
        pushed = False
        gone = None if later is None else dead_values(stmts, later, self._held)
        for k, stmt in enumerate(stmts):
            pushes, pops = self.moves(stmt)
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
            if self._indent > 1 or k < len(stmts) - 1:
                self.let_go(after)

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
            case Call():
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

    def block(self, block: Block, targets: Sequence[Value], header: str) -> None:
        self.line(header)
        self._indent += 1
        start = len(self._lines)
        last = self._last
        self.stmts(block.stmts, block.yields)
        self.move([self.target(target) for target in targets], block.yields)
        self.let_go(dead_after_yield(block.stmts, block.yields, self._held))
        if len(self._lines) == start:
            self.line("pass")
        self._indent -= 1
        self._last = last

    def if_(self, stmt: If) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        stays = any(self.target(result) for result in stmt.results)
        then, orelse = (bool(arm.stmts or stays) for arm in (stmt.then, stmt.orelse))
        if not then and not orelse:
            return
        if then:
            self.block(stmt.then, stmt.results, f"if {cond.bare}:")
        if orelse:
            header = "else:" if then else f"if not {cond.text}:"
            self.block(stmt.orelse, stmt.results, header)

    def call(self, stmt: Call) -> None:
        args = ", ".join(["state", *(self.text(arg) for arg in stmt.args)])
        self.flush()
        self.comment(stmt.loc)
        traffic = [d for d in self._own if d in self._shared.tapes.used(stmt.callee)]
        self.close_tapes(traffic)
        results = ", ".join(
            self.name(result) if self._counts.get(result) else "_" for result in stmt.results
        )
        comma = "," * (len(stmt.results) == 1)
        left = f"{results}{comma} = " if stmt.results else ""
        self.line(f"{left}{self._shared.names[stmt.callee]}({args})")
        self.stop_if("state[STATUS] != 0")
        for dtype in traffic:
            self.open_tape(dtype)

    # -- the whole -------------------------------------------------------------------------

    def run(self) -> list[str]:
        params = ", ".join(["state", *(self.name(param) for param in self._fn.params)])
        types = ", ".join(str(param.type) for param in self._fn.params)
        results = ", ".join(str(result.type) for result in self._fn.results) or "none"
        options = "PART" if self._part else "OPTIONS"
        head = [f"@njit(**{options})", f"def {self._shared.names[self._fn.name]}({params}):"]
        self.line(f'"""{self._fn.name}: {types} -> {results}"""')
        if self._fn.name in self._shared.recursive:
            self.stop_if("poll(state, 1)")
        mark = ""
        if not self._main and not self._part and self.makes_arrays(self._fn.body):
            mark = self.helper("mark")
            self.line(f"{mark} = state[TOP]")
        for dtype in self._own:
            self.open_tape(dtype)
        self.stmts(self._fn.body, self._fn.results)
        # Numba cannot compile a branch inside a long tuple.
        values = [
            self.text(result) if len(self._fn.results) <= 8 else self.atom(result).text
            for result in self._fn.results
        ]
        if not self._main and any(isinstance(stmt, Push) for stmt in walk(self._fn.body)):
            self.note_most()  # the caller may not use the tapes itself
        self.close_tapes(self._own)
        if mark:
            self.line(f"release(state, {mark})")
        self.line(f"return ({', '.join(values)}{',' * (len(values) == 1)})")
        doc, *body = self._lines
        return [*head, doc, *self.nothing_lines(), *body]


def emit(fn: Function, marked: bool = False) -> Emitted:
    """Return the source of `fn`, which is in buffer form, and of its callees.

    Where it is `marked`, each line ends with the place in the user's source that it is for.
    """
    shared = Shared(fn, marked)
    code: list[str] = []
    for each in (*fn.callees, fn):
        *parts, rest = shared.divide(each)
        for piece in (*parts, rest):
            main = each is fn and piece is rest
            emitter = _Emitter(piece, shared, main=main, part=piece is not rest)
            lines = emitter.run()
            code += [*emitter.apart, "", "", *lines]
    text = "\n".join(code)
    words = _words(text)
    for op in algorithms.among(words):
        own = "\n".join(["", "", "@njit(**OPTIONS)", *algorithms.source(op)])
        text = f"{own}\n{text}"
        words |= _words(own)
    runtime = sorted(words & RUNTIME)
    math = sorted(words & set(vector_math.FUNCTIONS))
    names = sorted((words & prelude.NAMES) - set(math))
    head = [f'"""{fn.name}, compiled by adc."""', ""]
    head += ["import numpy as np", "from numba import njit", ""]
    head += ["from adc.backend.cpu.lowering import Compiler"]
    products = sorted(words & gemm.NAMES)
    for module, found in (
        ("runtime.gemm", products),
        ("common.prelude", names),
        ("runtime", runtime),
        ("common.vector_math", math),
    ):
        if found:
            head += ["", f"from adc.backend.{module} import (", *(f"    {n}," for n in found), ")"]
    head += ["", 'OPTIONS = {"nogil": True, "error_model": "numpy", "pipeline_class": Compiler}']
    if "PART" in words:
        head.append('PART = {**OPTIONS, "inline": "never"}')
    if "LANES" in words:
        head.append(f"LANES = {LANES}  # partial sums of a loop")
    if "SHORT" in words:
        head.append(f"SHORT = {SHORT}  # sums of so many terms are made without lanes")
    if "STRIP" in words:
        head.append(f"STRIP = {STRIP}  # iterations between two looks for signals")
    if words & set(PLACES):
        head += ["", "# Places in `state`."]
        head += [f"{n} = {k}  # {doc}" for n, (k, doc) in PLACES.items() if n in words]
    return Emitted(
        shared.names[fn.name],
        "\n".join(head) + text + "\n",
        tuple(param.type for param in fn.params),
        tuple(result.type for result in fn.results),
        tuple(shared.sites),
        tuple(math),
        tuple(sorted(shared.tapes.used(fn.name))),
        tuple(shared.returned),
    )


def _words(text: str) -> set[str]:
    """Return the identifiers in `text`, without its comments."""
    found: set[str] = set()
    for line in text.splitlines():
        code = line.partition("#")[0].replace("np.", "np_")
        found.update("".join(c if c.isalnum() or c == "_" else " " for c in code).split())
    return found


__all__ = ["STRIP", "Emitted", "Site", "emit"]
