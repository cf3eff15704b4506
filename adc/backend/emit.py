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

from adc.backend import gemm, prelude, vector_math
from adc.backend.expressions import Expr, literal, numpy_name, strip
from adc.backend.traffic import Traffic
from adc.backend.writer import PLACES, RUNTIME, Shared, Site
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
    walk,
)
from adc.ir.errors import IRError
from adc.ir.sums import LANES, SHORT, summed
from adc.ir.types import Array, Type

# Iterations of a loop at the top between two looks for signals.
STRIP = 1 << 16
# An iteration whose operations cost more than this (an addition is 1) is not cheap.
LONG = 60.0
# Statements that may take long; a product counts down by itself what it takes (`gemm`).
_BUSY = (For, While, Call, Gemm)
# A loop that costs no more is written twice where it adds to lanes: for few iterations, and many.
LEAN = 30.0
# Rows that make sizes of sizes.
_SIZES = frozenset("add sub maximum floordiv wrap trips abs neg".split())


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


def _positions(loop: For) -> int:
    """Return how often the counter of a loop stands as an index in its body."""
    return sum(
        stmt.index.count(loop.index)
        for stmt in walk(loop.body.stmts)
        if isinstance(stmt, Load | Write)
    )


def _cost(stmt: For) -> float:
    """Estimate the operations of one iteration; an addition is 1."""
    return sum(s.op.cost if isinstance(s, Apply) else 1.0 for s in walk(stmt.body.stmts))


class _Emitter(Traffic):
    """Writes control flow, and with it whole functions."""

    def __init__(self, fn: Function, shared: Shared, *, main: bool, part: bool) -> None:
        super().__init__(fn, shared, main=main)
        self._part = part
        self._sums = {id(s): summed(s) for s in walk(fn.body) if isinstance(s, For)}
        self._depth = 0
        # The cost of the loops since the last look for signals.
        self._unlooked = 0.0
        self._bounded: dict[Operand, bool] = {}
        self._origins = shared.origins[fn.name]

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        pushed = False
        for stmt in stmts:
            pushes, pops = self.moves(stmt)
            if pushed and pops:
                self.note_most()
            pushed = pushes or (pushed and not pops)
            if isinstance(stmt, For) and pushes and not self._depth:
                self.expect(stmt)
            self.stmt(stmt)

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
        self.stmts(block.stmts)
        self.move([self.target(target) for target in targets], block.yields)
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

    def target(self, value: Value) -> str:
        """Return the variable of a value; partial sums have none."""
        return "" if value in self._lanes else self.name(value)

    def move(self, targets: Sequence[str], sources: Sequence[Operand]) -> None:
        """Assign all `sources` to `targets` at once."""
        pairs = zip(targets, sources, strict=True)
        found = [(target, self.expr(source)) for target, source in pairs if target]
        todo = [pair for pair in found if pair[1].bare != pair[0]]
        while todo:
            for pair in todo:
                if not any(pair[0] in other[1].reads for other in todo if other is not pair):
                    self.line(f"{pair[0]} = {pair[1].bare}")
                    todo.remove(pair)
                    break
            else:  # a cycle, as in a, b = b, a
                names = ", ".join(target for target, _ in todo)
                self.line(f"{names} = {', '.join(expr.bare for _, expr in todo)}")
                return

    def carry(self, stmt: For | While) -> list[str]:
        """Bind the carried values; parameters and results share one variable each."""
        names: list[str] = []
        for param, result in zip(stmt.body.params, stmt.results, strict=True):
            if param in self._lanes:
                names.append("")
                continue
            name = self.name(param)
            self._names[result] = name
            self._mutable.add(name)
            names.append(name)
        self.move(names, stmt.init)
        return names

    def for_(self, stmt: For) -> None:
        trips = self.int64(stmt.trips)
        for operand in stmt.init:
            if isinstance(operand, Value) and operand in self._pending:
                self.flush(loads=True)
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        names = self.carry(stmt)
        self.flush()
        index = self.name(stmt.index)
        count = trips.bare
        adds = self.adds(stmt)
        block = id(stmt) in self._shared.tapes.blocks
        inner = not any(isinstance(s, _BUSY) for s in walk(stmt.body.stmts))
        small = self.is_short(stmt)
        if block and not self.never_negative(stmt.trips):
            count = self.helper("trips")
            self.line(f"{count} = max({trips.bare}, 0)")  # the size of the block
        elif not trips.atomic and (block or stmt.down or adds or (inner and not small)):
            count = self.helper("trips")
            self.line(f"{count} = {trips.bare}")
        outer_bases, outer_rows = self._bases, self._rows
        if block:
            self.reserve(stmt, count)
        indent, lane = self._indent, self._lane
        short = adds and inner and self.is_alone(stmt) and _cost(stmt) <= LEAN
        if short and not count.isdigit():
            self.line(f"if {count} <= SHORT:")
            self._indent += 1
            self.in_short(stmt, list(names), count, index)
            self._indent -= 1
            self.line("else:")
            self._indent += 1
        elif short and int(count) <= SHORT:
            self.in_short(stmt, names, count, index)
            self._bases, self._rows = outer_bases, outer_rows
            return
        inside = self._indent
        sums = self.open_lanes(stmt, names, count)
        if adds and count.isdigit() and int(count) <= LANES:
            adds, self._lane = False, index
        if adds:
            self.in_blocks(stmt, count, index, poll=inner and not small)
        elif inner and not small and self.is_long(stmt):
            count = self.strip(stmt, count, index)
            self._unlooked = 0.0
        else:
            if inner and not small and self.is_due(stmt):
                self.stop_if(f"poll(state, {count})")
            self.header(stmt, count, index)
        self._indent += 1
        self.counter(stmt, index)
        self.body(stmt, names, poll=not inner and not self.has_inner_loop(stmt.body))
        self._indent = inside
        self._lane = lane
        self.close_lanes(stmt, sums)
        self._indent = indent
        self._bases, self._rows = outer_bases, outer_rows

    def header(self, stmt: For, count: str, index: str) -> None:
        if stmt.down:
            self.line(f"for {index} in range({self.minus_one(count)}, -1, -1):")
        else:
            self.line(f"for {index} in range({count}):")

    def counter(self, stmt: For, index: str) -> None:
        if _positions(stmt) > 1:
            # Numba compiles one conversion faster than many.
            self._positions[stmt.index] = self.helper(f"{index}_u")
            self.line(f"{self._positions[stmt.index]} = u({index})")

    def is_alone(self, stmt: For) -> bool:
        """Whether a loop hands on no lanes of a loop around it."""
        return not any(param in self._lanes for param in stmt.body.params)

    def adds(self, loop: For) -> bool:
        """Whether an iteration of a loop itself, not of one in it, adds to lanes."""

        def direct(stmts: Sequence[Stmt]) -> bool:
            return any(
                (isinstance(s, Apply) and s.op.name == "sum")
                or (isinstance(s, If) and any(direct(b.stmts) for b in blocks(s)))
                for s in stmts
            )

        return direct(loop.body.stmts)

    def open_lanes(
        self, stmt: For, names: list[str], count: str
    ) -> list[tuple[int, str, str, str]]:
        """Make the lanes of the sums that end with a loop; return place, name, lanes and size."""
        found: list[tuple[int, str, str, str]] = []
        for k, chain in self._sums[id(stmt)].items():
            param = stmt.body.params[k]
            if param in self._lanes:
                continue
            buffer = self.helper(f"{names[k]}_lanes")
            self._lanes.update(dict.fromkeys(chain.members, buffer))
            used = "LANES"
            if not chain.nested:
                used = str(min(int(count), LANES)) if count.isdigit() else f"min({count}, LANES)"
            self.line(f"{buffer} = lanes({numpy_name(param.type.dtype)}, {used})")
            found.append((k, names[k], buffer, used))
            names[k] = ""
        return found

    def close_lanes(self, stmt: For, sums: Sequence[tuple[int, str, str, str]]) -> None:
        for k, name, buffer, used in sums:
            total = "total_down" if stmt.down else "total"
            self.line(f"{name} = {name} + {total}({buffer}, {used})")
            for member in self._sums[id(stmt)][k].members:
                del self._lanes[member]

    def in_short(self, stmt: For, names: list[str], count: str, index: str) -> None:
        """Write a loop of few iterations, which adds one term after the other."""
        starts: dict[str, str] = {}
        for k in self._sums[id(stmt)]:
            if names[k]:
                starts[names[k]] = self.helper(f"{names[k]}_start")
                self.line(f"{starts[names[k]]} = {names[k]}")
                self.line(f"{names[k]} = {strip(literal(-0.0, stmt.body.params[k].type))}")
        self.header(stmt, count, index)
        self._indent += 1
        self.counter(stmt, index)
        self.body(stmt, names, poll=False)
        self._indent -= 1
        for name, start in starts.items():
            self.line(f"{name} = {start} + {name}")

    def in_blocks(self, stmt: For, count: str, index: str, *, poll: bool) -> None:
        """Open a loop over blocks of iterations, one for each lane, and one over a block."""
        long = poll and self.is_long(stmt)
        if poll and not long and self.is_due(stmt):
            self.stop_if(f"poll(state, {count})")
        start = self.helper(f"{index}_block")
        self._lane = f"{index} - {start}"
        stop = f"min({start} + LANES, {count})"
        if stmt.down:
            last = f"({self.minus_one(count)}) & (-LANES)"
            self.line(f"for {start} in range({last}, -1, -LANES):")
        else:
            self.line(f"for {start} in range(0, {count}, LANES):")
        self._indent += 1
        if long:
            self.stop_if("poll(state, LANES)")
            self._unlooked = 0.0
        if stmt.down:
            self.line(f"for {index} in range({stop} - 1, {start} - 1, -1):")
        else:
            self.line(f"for {index} in range({start}, {stop}):")

    def never_negative(self, trips: Operand) -> bool:
        if isinstance(trips, Literal):
            return trips.value >= 0
        origin = self._origins.get(trips)
        is_size = isinstance(origin, Apply) and origin.op.name in ("dim", "trips")
        return trips.type.kind == "u" or is_size

    @staticmethod
    def minus_one(count: str) -> str:
        return str(int(count) - 1) if count.isdigit() else f"{count} - 1"

    def settle_before_loop(self, stmt: For | While) -> None:
        """Write what waits, except the initial values of the loop."""
        keep = {operand: self._pending[operand] for operand in stmt.init
                if isinstance(operand, Value) and operand in self._pending}  # fmt: skip
        for operand in keep:
            del self._pending[operand]
        self.flush()
        self._pending.update(keep)

    def strip(self, stmt: For, count: str, index: str) -> str:
        """Open a loop over strips, with a look for signals in between, and one over a strip."""
        start = self.helper(f"{index}_strip")
        stop = f"min({start} + STRIP, {count})"
        if stmt.down:
            self.line(f"for {start} in range({self.minus_one(count)}, -1, -STRIP):")
        else:
            self.line(f"for {start} in range(0, {count}, STRIP):")
        self._indent += 1
        self.stop_if("poll(state, STRIP)")
        if stmt.down:
            self.line(f"for {index} in range({start}, max({start} - STRIP, -1), -1):")
        else:
            self.line(f"for {index} in range({start}, {stop}):")
        return count

    def has_inner_loop(self, block: Block) -> bool:
        """Whether every iteration enters a loop that looks for signals itself."""
        return any(
            isinstance(stmt, For | While) and not self.is_short(stmt, inside=True)
            for stmt in block.stmts
        )

    def is_short(self, stmt: For | While, *, inside: bool = False) -> bool:
        """Whether a loop without inner loops is over so soon that it need not look for signals."""
        if isinstance(stmt, While) or not isinstance(stmt.trips, Literal):
            return False
        if any(isinstance(s, _BUSY) for s in walk(stmt.body.stmts)):
            return False
        return int(stmt.trips.value) <= (16 if inside or self._depth else STRIP)

    def is_due(self, stmt: For) -> bool:
        """Whether a short loop looks for signals on entry: outside loops, once in a while."""
        if self._depth:
            return True
        self._unlooked += _cost(stmt)
        if self._unlooked <= LONG:
            return False
        self._unlooked = 0.0
        return True

    def is_long(self, stmt: For) -> bool:
        """Whether an innermost loop may run so long that it must look for signals while it runs.

        As many cheap iterations as an array has elements take less than 0.2 s; and strips cost
        time to compile, and a loop of a few iterations dearly.
        """
        return _cost(stmt) > LONG or not self.is_bounded(stmt.trips)

    def is_bounded(self, count: Operand) -> bool:
        """Whether a number of iterations is at most about the number of elements of an array."""
        if isinstance(count, Literal):
            return abs(int(count.value)) <= STRIP
        if count not in self._bounded:
            self._bounded[count] = False  # values carried by loops
            origin = self._origins.get(count)
            match origin:
                case For(trips=trips):
                    self._bounded[count] = self.is_bounded(trips)
                case Apply(op=op) if op.name == "dim":
                    self._bounded[count] = True
                case Apply(op=op, args=args) if op.name == "minimum":
                    self._bounded[count] = any(self.is_bounded(arg) for arg in args)
                case Apply(op=op, args=args) if op.name in _SIZES:
                    self._bounded[count] = all(self.is_bounded(arg) for arg in args)
        return self._bounded[count]

    def body(self, stmt: For | While, names: list[str], *, poll: bool) -> None:
        last = self._last
        self._depth += 1
        if poll:
            self.stop_if("poll(state, 1)")
        mark = ""
        if self.makes_arrays(stmt.body.stmts):
            mark = self.helper("mark")
            self.line(f"{mark} = state[TOP]")
        start = len(self._lines)
        self.stmts(stmt.body.stmts)
        again = Expr("True")
        yields = stmt.body.yields
        if isinstance(stmt, While):
            again = self.expr(yields[0])
            if again.loads or again.reads & set(names):
                name = self.helper("again")
                self.line(f"{name} = {again.bare}")
                again = Expr(name)
            yields = yields[1:]
        self.move(names, yields)
        self._pending.clear()
        if mark:
            self.line(f"release(state, {mark})")
        if isinstance(stmt, While) and again.text != "True":
            self.line(f"if not {again.text}:")
            self.line("    break")
        elif len(self._lines) == start:
            self.line("pass")
        self._depth -= 1
        self._last = last

    def makes_arrays(self, stmts: Sequence[Stmt]) -> bool:
        """Whether `stmts` take memory of the workspace, inner loops aside, which give it back."""
        for stmt in stmts:
            if isinstance(stmt, Apply | Pop) and any(
                isinstance(v.type, Array) and v not in self._escaping for v in stmt.results
            ):
                return True
            if isinstance(stmt, Call) and stmt.callee in self._shared.making:
                return True
            if isinstance(stmt, If) and any(self.makes_arrays(b.stmts) for b in blocks(stmt)):
                return True
        return False

    def while_(self, stmt: While) -> None:
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        names = self.carry(stmt)
        self.flush()
        self.line("while True:")
        self._indent += 1
        self.body(stmt, names, poll=not self.has_inner_loop(stmt.body))
        self._indent -= 1

    def call(self, stmt: Call) -> None:
        args = ", ".join(["state", *(self.text(arg) for arg in stmt.args)])
        self.flush()
        self.comment(stmt.loc)
        traffic = [d for d in self._own if d in self._shared.tapes.used(stmt.callee)]
        for dtype in traffic:
            self.line(f"state[{dtype.upper()} + 2] = top_{dtype}")
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
        self.stmts(self._fn.body)
        # Numba cannot compile a branch inside a long tuple.
        values = [
            self.text(result) if len(self._fn.results) <= 8 else self.atom(result).text
            for result in self._fn.results
        ]
        if not self._main and any(isinstance(stmt, Push) for stmt in walk(self._fn.body)):
            self.note_most()  # the caller may not use the tapes itself
        for dtype in self._own:
            self.line(f"state[{dtype.upper()} + 2] = top_{dtype}")
        if mark:
            self.line(f"release(state, {mark})")
        self.line(f"return ({', '.join(values)}{',' * (len(values) == 1)})")
        doc, *body = self._lines
        return [*head, doc, *self.nothing_lines(), *body]


def emit(fn: Function) -> Emitted:
    """Return the source of `fn`, which is in buffer form, and of its callees."""
    shared = Shared(fn)
    code: list[str] = []
    for each in (*fn.callees, fn):
        *parts, rest = shared.divide(each)
        for piece in (*parts, rest):
            main = each is fn and piece is rest
            code += ["", "", *_Emitter(piece, shared, main=main, part=piece is not rest).run()]
    text = "\n".join(code)
    words = _words(text)
    runtime = sorted(words & RUNTIME)
    math = sorted(words & set(vector_math.FUNCTIONS))
    names = sorted((words & prelude.NAMES) - set(math))
    head = [f'"""{fn.name}, compiled by adc."""', ""]
    head += ["import numpy as np", "from numba import njit", ""]
    head += ["from adc.backend.lowering import Compiler"]
    products = sorted(words & gemm.NAMES)
    for module, found in (
        ("gemm", products),
        ("prelude", names),
        ("runtime", runtime),
        ("vector_math", math),
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
