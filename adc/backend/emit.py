"""From the buffer form to readable Python source for Numba.

One Python function per IR function, with the user's names and source lines as comments::

    # total = total + w * np.sin(x[i])
    total = total + w * sin(x[i])

A value that is used once is written where it is used, as long as the lines stay short; the order
of operations and their precision never change. Arrays are indexed by unsigned integers, because
Numba tests signed ones for counting from the end.
"""

from __future__ import annotations

import keyword
import linecache
from collections.abc import Sequence
from dataclasses import dataclass

from adc.backend import expressions, prelude, vector_math
from adc.backend.escape import escaping
from adc.backend.expressions import Expr, numpy_name
from adc.backend.runtime import State
from adc.backend.tapes import Tapes
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
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
from adc.ir.errors import IRError, Span
from adc.ir.types import DTYPES, Array, Type
from adc.ir.walk import use_counts

# Longest expression that is moved into another one.
_INLINE = 60
# Iterations of a loop at the top between two looks for signals.
STRIP = 1 << 16
# The places in the state, as emitted code names them.
_PLACES = {
    "STATUS": (State.STATUS, "0, or the check that failed"),
    "TOP": (State.TOP, "bytes of the workspace in use"),
    "OPERANDS": (State.OPERANDS, "of the check that failed"),
    **{
        dtype.upper(): (State.tape(dtype), f"tape of {dtype}: address, capacity, elements in use")
        for dtype in DTYPES
    },
}
_RUNTIME = ("bits", "copy_into", "empty", "fill", "fresh", "grow", "note", "poll", "tape", "view")
_RESERVED = (
    prelude.NAMES
    | set(vector_math.FUNCTIONS)
    | set(_RUNTIME)
    | set(keyword.kwlist)
    | set(_PLACES)
    | {f"{part}_{dtype}" for part in ("tape", "top") for dtype in DTYPES}
    | {"state", "np", "njit", "range", "min", "True", "False", "None", "STRIP", "OPTIONS"}
)


@dataclass(frozen=True)
class Site:
    """A check or a print: what to do with the operands that compiled code leaves."""

    error: str  # "" for a print
    message: str
    types: tuple[str, ...]
    loc: Span | None


@dataclass(frozen=True)
class Emitted:
    """Python source and what is needed to compile and to call it."""

    name: str
    source: str
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    sites: tuple[Site, ...]
    functions: tuple[str, ...]  # of `vector_math`


class _Shared:
    """What the functions of one program share."""

    def __init__(self, fn: Function) -> None:
        self.tapes = Tapes(fn)
        self.sites: list[Site] = []
        self.used: set[str] = set()
        self.names: dict[str, str] = {}
        taken = set(_RESERVED)
        for each in (fn, *fn.callees):
            self.names[each.name] = unique(each.name, taken)
        functions = {each.name: each for each in (fn, *fn.callees)}
        self.recursive = {name for name in functions if _reaches(functions, name, name)}

    def site(self, stmt: Check | Print) -> int:
        error = stmt.error if isinstance(stmt, Check) else ""
        types = tuple(str(arg.type) for arg in stmt.args)
        self.sites.append(Site(error, stmt.message, types, stmt.loc))
        return len(self.sites)


def unique(name: str, taken: set[str]) -> str:
    """Return an identifier like `name` that is not in `taken`, and put it there."""
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "t"
    if base[0].isdigit():
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
            if isinstance(stmt, Call) and stmt.callee not in seen:
                seen.add(stmt.callee)
                todo.append(stmt.callee)
    return goal in seen


class _Function:
    """Emits one function."""

    def __init__(self, fn: Function, shared: _Shared, *, main: bool) -> None:
        self.fn = fn
        self.shared = shared
        self.main = main
        self.lines: list[str] = []
        self.indent = 1
        self.taken = set(_RESERVED) | set(shared.names.values())
        self.names: dict[Value, str] = {}
        self.mutable: set[str] = set()
        self.pending: dict[Value, Expr] = {}
        self.counts = use_counts(fn)
        self.escaping = escaping(fn)
        self.own = sorted(shared.tapes.used(fn.name)) if Tapes.own(fn.body) else []
        self.rows: dict[int, dict[int, tuple[str, int]]] = {}
        self.bases: dict[tuple[str, int], str] = {}
        self.block_index: dict[int, str] = {}  # the loop variable, for the frames of a block
        self.last: tuple[str, int] | None = None
        self.depth = 0

    # -- lines and names -------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def comment(self, loc: Span | None) -> None:
        """Write the user's line above what is made of it, once."""
        if loc is None or (loc.file, loc.line) == self.last:
            return
        self.last = (loc.file, loc.line)
        text = linecache.getline(loc.file, loc.line).strip()
        if text:
            self.line(f"# {loc.line}: {text}")

    def name(self, value: Value) -> str:
        if value not in self.names:
            self.names[value] = unique(value.name, self.taken)
        return self.names[value]

    def helper(self, name: str) -> str:
        """Return a variable of the emitter's own."""
        return unique(name, self.taken)

    # -- expressions -----------------------------------------------------------------------

    def expr(self, operand: Operand) -> Expr:
        if isinstance(operand, Literal):
            return Expr(expressions.literal(operand.value, operand.type))
        if operand in self.pending:
            return self.pending.pop(operand)
        text = self.name(operand)
        return Expr(text, frozenset({text}) if text in self.mutable else frozenset())

    def text(self, operand: Operand) -> str:
        return self.expr(operand).bare

    def atom(self, operand: Operand) -> Expr:
        """Return an operand that can stand twice."""
        found = self.expr(operand)
        if not found.atomic and isinstance(operand, Value):
            self.line(f"{self.name(operand)} = {found.bare}")
            return Expr(self.name(operand))
        return found

    def assign(self, value: Value, found: Expr, loc: Span | None) -> None:
        """Give `value` a variable, or wait for its only use."""
        count = self.counts.get(value, 0)
        if count == 0:
            return
        if count == 1 and len(found.text) <= _INLINE:
            self.pending[value] = found
            return
        self.comment(loc)
        self.line(f"{self.name(value)} = {found.bare}")

    def flush(self, *, loads: bool = False, name: str = "") -> None:
        """Write the values that wait: all, those that load, or those that read a variable."""
        for value, found in list(self.pending.items()):
            if (loads and found.loads) or name in found.reads or not (loads or name):
                del self.pending[value]
                self.line(f"{self.name(value)} = {found.bare}")

    def int64(self, operand: Operand) -> Expr:
        found = self.expr(operand)
        if operand.type.dtype == "i64":
            return found
        return Expr(f"int64({found.bare})", found.reads, found.loads)

    def element(self, array: str, index: Sequence[Operand]) -> Expr:
        found = [self.position(operand) for operand in index]
        reads = frozenset().union(*(one.reads for one in found))
        if array in self.mutable:
            reads |= {array}
        return Expr(f"{array}[{', '.join(one.text for one in found)}]", reads, True)

    def position(self, operand: Operand) -> Expr:
        found = self.expr(operand)
        if isinstance(operand, Literal):
            return Expr(str(int(operand.value)))
        return Expr(f"u({found.bare})", found.reads, found.loads)

    # -- statements ------------------------------------------------------------------------

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply():
                self.apply(stmt)
            case Load(result=result, array=array, index=index):
                self.assign(result, self.element(self.name(array), index), stmt.loc)
            case Write(array=array, index=index, value=value, accumulate=accumulate):
                target, found = self.element(self.name(array), index), self.text(value)
                self.flush(loads=True)
                self.comment(stmt.loc)
                self.line(f"{target.text} {'+=' if accumulate else '='} {found}")
            case If():
                self.if_(stmt)
            case For():
                self.for_(stmt)
            case While():
                self.while_(stmt)
            case Call():
                self.call(stmt)
            case Check(cond=cond, args=args):
                self.check(stmt)
            case Print(args=args):
                self.flush()
                self.comment(stmt.loc)
                self.line(f"note(state, {self.shared.site(stmt)})")
                for arg in args:
                    self.line(f"note(state, {self.word(arg)})")
            case Push():
                self.push(stmt)
            case Pop():
                self.pop(stmt)
            case Store() | Recall() | Reverse():
                raise IRError(f"{type(stmt).__name__} is not in buffer form", stmt.loc)

    def word(self, operand: Operand) -> str:
        found = self.text(operand)
        return found if operand.type.dtype == "i64" else f"bits({found})"

    def apply(self, stmt: Apply) -> None:
        op, result = stmt.op, stmt.result
        if isinstance(result.type, Array):
            self.make_array(stmt, result.type)
            return
        if op.name == "undef":
            zero = {"b": False, "f": 0.0}.get(result.type.kind, 0)
            self.assign(result, Expr(expressions.literal(zero, result.type)), stmt.loc)
            return
        if op.name == "total":
            self.total(stmt)
            return
        twice = expressions.uses_twice(op)
        args = [self.atom(arg) if twice else self.expr(arg) for arg in stmt.args]
        if op.name in ("wrap", "inside", "trips"):
            args = [
                arg if operand.type.dtype == "i64" else Expr(f"int64({arg.bare})", arg.reads)
                for arg, operand in zip(args, stmt.args, strict=True)
            ]
        if sum(len(arg.text) for arg in args) > _INLINE:
            args = [self.short(arg, operand) for arg, operand in zip(args, stmt.args, strict=True)]
        of = stmt.args[-1].type if stmt.args else result.type
        self.assign(result, expressions.apply(op, stmt.params, args, result.type, of), stmt.loc)

    def short(self, arg: Expr, operand: Operand) -> Expr:
        """Return a long operand as a variable."""
        if len(arg.text) < 20 or not isinstance(operand, Value) or operand in self.names:
            return arg
        self.line(f"{self.name(operand)} = {arg.bare}")
        return Expr(self.name(operand))

    def check(self, stmt: Check) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        self.line(f"if not {cond.text}:")
        self.indent += 1
        for k, arg in enumerate(stmt.args):
            self.line(f"state[OPERANDS{f' + {k}' * (k > 0)}] = {self.word(arg)}")
        place = f"{stmt.loc.file}:{stmt.loc.line}" if stmt.loc else ""
        self.line(f"state[STATUS] = {self.shared.site(stmt)}  # {stmt.error} {place}".rstrip())
        self.leave()
        self.indent -= 1

    def leave(self) -> None:
        """Return early: what is returned does not matter."""
        values = []
        for result in self.fn.results:
            if isinstance(result.type, Array):
                shape = "0, " * result.type.rank
                values.append(f"view(0, {numpy_name(result.type.dtype)}, ({shape}))")
            else:
                zero = {"b": False, "f": 0.0}.get(result.type.kind, 0)
                values.append(expressions.literal(zero, result.type))
        self.line(f"return ({', '.join(values)}{',' * (len(values) == 1)})")

    # -- arrays ----------------------------------------------------------------------------

    def new_array(self, value: Value, shape: str) -> str:
        """Write the making of an array of undefined elements."""
        name, dtype = self.name(value), numpy_name(value.type.dtype)
        where = f"fresh({dtype}" if value in self.escaping else f"empty(state, {dtype}"
        self.line(f"{name} = {where}, {shape})")
        return name

    def make_array(self, stmt: Apply, ty: Array) -> None:
        op, result, args = stmt.op, stmt.result, stmt.args
        if self.counts.get(result, 0) == 0:
            return
        if op.name in ("empty", "full"):
            dims = args[1:] if op.name == "full" else args
            shape = "".join(f"{self.int64(dim).bare}, " for dim in dims)
            value = self.text(args[0]) if op.name == "full" else ""
            self.flush(loads=True)
            self.comment(stmt.loc)
            name = self.new_array(result, f"({shape.rstrip() if ty.rank == 1 else shape[:-2]})")
            if value:
                self.line(f"fill({name}, {value})")
        elif op.name == "copy":
            self.flush(loads=True)
            self.comment(stmt.loc)
            source = self.text(args[0])
            name = self.new_array(result, f"{source}.shape")
            self.line(f"copy_into({name}, {source})")
        elif op.name == "undef":
            self.new_array(result, f"({'0, ' * ty.rank})")
        else:
            self.elementwise(stmt, ty)

    def nest(self, shape: str, rank: int) -> list[str]:
        """Open loops over the elements of an array."""
        index = [self.helper(f"i{axis}") for axis in range(rank)]
        for axis, name in enumerate(index):
            self.line(f"for {name} in range({shape}.shape[{axis}]):")
            self.indent += 1
        return index

    def elementwise(self, stmt: Apply, ty: Array) -> None:
        found = {
            arg: self.expr(arg) if isinstance(arg.type, Array) else self.atom(arg)
            for arg in stmt.args
        }
        self.flush(loads=True)
        self.comment(stmt.loc)
        like = next(found[arg].text for arg in stmt.args if isinstance(arg.type, Array))
        name = self.new_array(stmt.result, f"{like}.shape")
        index = ", ".join(self.nest(like, ty.rank))
        args = [
            Expr(f"{found[arg].text}[{index}]") if isinstance(arg.type, Array) else found[arg]
            for arg in stmt.args
        ]
        of = stmt.args[-1].type
        value = expressions.apply(stmt.op, stmt.params, args, ty.element, of)
        self.line(f"{name}[{index}] = {value.bare}")
        self.indent -= ty.rank

    def total(self, stmt: Apply) -> None:
        array = stmt.args[0]
        assert isinstance(array.type, Array)
        self.flush(loads=True)
        self.comment(stmt.loc)
        source, name = self.text(array), self.name(stmt.result)
        # In double precision, from the first element to the last.
        part = name if array.type.dtype == "f64" else self.helper(f"{name}_sum")
        self.line(f"{part} = 0.0")
        index = ", ".join(self.nest(source, array.type.rank))
        self.line(f"{part} += {source}[{index}]")
        self.indent -= array.type.rank
        if part != name:
            self.line(f"{name} = float32({part})")

    # -- control flow ----------------------------------------------------------------------

    def block(self, block: Block, targets: Sequence[Value], header: str) -> None:
        self.line(header)
        self.indent += 1
        start = len(self.lines)
        last = self.last
        self.stmts(block.stmts)
        self.move([self.name(target) for target in targets], block.yields)
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1
        self.last = last

    def if_(self, stmt: If) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        then, orelse = (bool(arm.stmts or stmt.results) for arm in (stmt.then, stmt.orelse))
        if not then and not orelse:
            return
        if then:
            self.block(stmt.then, stmt.results, f"if {cond.bare}:")
        if orelse:
            header = "else:" if then else f"if not {cond.text}:"
            self.block(stmt.orelse, stmt.results, header)

    def move(self, targets: Sequence[str], sources: Sequence[Operand]) -> None:
        """Assign all `sources` to `targets` at once."""
        todo = [(target, self.expr(source)) for target, source in zip(targets, sources, strict=True)]
        todo = [(target, found) for target, found in todo if found.bare != target]
        while todo:
            free = [
                (target, found)
                for target, found in todo
                if not any(target in other.reads for _, other in todo if other is not found)
            ]
            if not free:  # a cycle, as in a, b = b, a
                names = ", ".join(target for target, _ in todo)
                self.line(f"{names} = {', '.join(found.bare for _, found in todo)}")
                return
            target, found = free[0]
            self.line(f"{target} = {found.bare}")
            todo.remove(free[0])

    def carry(self, stmt: For | While) -> list[str]:
        """Bind the carried values; parameters and results share one variable each."""
        names: list[str] = []
        for param, result in zip(stmt.body.params, stmt.results, strict=True):
            name = self.name(param)
            self.names[result] = name
            self.mutable.add(name)
            names.append(name)
        self.move(names, stmt.init)
        return names

    def for_(self, stmt: For) -> None:
        trips = self.int64(stmt.trips)
        for operand in stmt.init:
            if isinstance(operand, Value) and operand in self.pending:
                self.flush(loads=True)
        self.settle_before_loop(stmt)
        self.comment(stmt.loc)
        names = self.carry(stmt)
        self.flush()
        index = self.name(stmt.index)
        count = trips.bare
        block = id(stmt) in self.shared.tapes.blocks
        inner = not any(isinstance(s, For | While | Call) for s in walk(stmt.body.stmts))
        small = self.is_short(stmt)
        if not trips.atomic and (block or stmt.down or (inner and not small)):
            count = self.helper("trips")
            self.line(f"{count} = {trips.bare}")
        outer_bases, outer_rows = self.bases, self.rows
        if block:
            self.reserve(stmt, count)
        indent = self.indent
        if inner and not small and self.depth == 0:
            count = self.strip(stmt, count, index)
        else:
            if inner and not small:
                self.stop_if(f"poll(state, {count})")
            if stmt.down:
                self.line(f"for {index} in range({self.minus_one(count)}, -1, -1):")
            else:
                self.line(f"for {index} in range({count}):")
        self.indent += 1
        self.body(stmt, names, poll=not inner and not self.has_inner_loop(stmt.body))
        self.indent = indent
        self.bases, self.rows = outer_bases, outer_rows

    @staticmethod
    def minus_one(count: str) -> str:
        return str(int(count) - 1) if count.isdigit() else f"{count} - 1"

    def settle_before_loop(self, stmt: For | While) -> None:
        """Write what waits, except the initial values of the loop."""
        keep = {operand: self.pending[operand] for operand in stmt.init
                if isinstance(operand, Value) and operand in self.pending}  # fmt: skip
        for operand in keep:
            del self.pending[operand]
        self.flush()
        self.pending.update(keep)

    def strip(self, stmt: For, count: str, index: str) -> str:
        """Open a loop over strips, with a look for signals in between, and one over a strip."""
        start = self.helper(f"{index}_strip")
        stop = f"min({start} + STRIP, {count})"
        if stmt.down:
            self.line(f"for {start} in range({self.minus_one(count)}, -1, -STRIP):")
        else:
            self.line(f"for {start} in range(0, {count}, STRIP):")
        self.indent += 1
        self.stop_if("poll(state, STRIP)")
        if stmt.down:
            self.line(f"for {index} in range({start}, max({start} - STRIP, -1), -1):")
        else:
            self.line(f"for {index} in range({start}, {stop}):")
        return count

    def stop_if(self, condition: str) -> None:
        self.line(f"if {condition}:")
        self.indent += 1
        self.leave()
        self.indent -= 1

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
        if any(isinstance(s, For | While | Call) for s in walk(stmt.body.stmts)):
            return False
        return int(stmt.trips.value) <= (16 if inside or self.depth else STRIP)

    def body(self, stmt: For | While, names: list[str], *, poll: bool) -> None:
        last = self.last
        self.depth += 1
        if poll:
            self.stop_if("poll(state, 1)")
        mark = ""
        if self.makes_arrays(stmt.body.stmts):
            mark = self.helper("mark")
            self.line(f"{mark} = state[TOP]")
        start = len(self.lines)
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
        self.pending.clear()
        if mark:
            self.line(f"state[TOP] = {mark}")
        if isinstance(stmt, While) and again.text != "True":
            self.line(f"if not {again.text}:")
            self.line("    break")
        elif len(self.lines) == start:
            self.line("pass")
        self.depth -= 1
        self.last = last

    def makes_arrays(self, stmts: Sequence[Stmt]) -> bool:
        """Whether `stmts` take memory of the workspace, inner loops aside, which give it back."""
        for stmt in stmts:
            if isinstance(stmt, Apply | Pop) and any(
                isinstance(v.type, Array) and v not in self.escaping for v in stmt.results
            ):
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
        self.indent += 1
        self.body(stmt, names, poll=not self.has_inner_loop(stmt.body))
        self.indent -= 1

    def call(self, stmt: Call) -> None:
        args = ", ".join(["state", *(self.text(arg) for arg in stmt.args)])
        self.flush()
        self.comment(stmt.loc)
        traffic = [d for d in self.own if d in self.shared.tapes.used(stmt.callee)]
        for dtype in traffic:
            self.line(f"state[{dtype.upper()} + 2] = top_{dtype}")
        results = ", ".join(
            self.name(result) if self.counts.get(result) else "_" for result in stmt.results
        )
        comma = "," * (len(stmt.results) == 1)
        left = f"{results}{comma} = " if stmt.results else ""
        self.line(f"{left}{self.shared.names[stmt.callee]}({args})")
        self.stop_if("state[STATUS] != 0")
        for dtype in traffic:
            self.open_tape(dtype)

    # -- tapes -----------------------------------------------------------------------------

    def open_tape(self, dtype: str) -> None:
        place = dtype.upper()
        self.line(f"tape_{dtype} = tape(state, {place}, {numpy_name(dtype)})")
        self.line(f"top_{dtype} = state[{place} + 2]")

    def room(self, dtype: str) -> None:
        self.line(f"if top_{dtype} > tape_{dtype}.size:")
        grow = f"grow(state, {dtype.upper()}, top_{dtype}, {numpy_name(dtype)})"
        self.line(f"    tape_{dtype} = {grow}")

    def reserve(self, stmt: For, count: str) -> None:
        """Take the block of a loop: one row of `count` elements for each value of its frames."""
        rows = self.shared.tapes.rows(stmt)
        self.rows = self.rows | rows
        self.block_index.update(dict.fromkeys(rows, self.name(stmt.index)))
        self.bases = dict(self.bases)
        sizes: dict[str, int] = {}
        for row in rows.values():
            for dtype, k in row.values():
                sizes[dtype] = max(sizes.get(dtype, 0), k + 1)
        pops = any(isinstance(s, Pop) for s in stmt.body.stmts)
        for dtype, size in sizes.items():
            sign = "-" if pops else "+"
            if pops:
                self.line(f"top_{dtype} {sign}= {f'{size} * ' if size > 1 else ''}{count}")
            for k in range(size):
                base = self.bases[dtype, k] = self.helper(f"{dtype}_row{k}")
                offset = "" if k == 0 else f" + {f'{k} * ' if k > 1 else ''}{count}"
                self.line(f"{base} = top_{dtype}{offset}")
            if not pops:
                self.line(f"top_{dtype} {sign}= {f'{size} * ' if size > 1 else ''}{count}")
                self.room(dtype)

    def place(self, stmt: Push | Pop, k: int, index: str) -> str:
        dtype, row = self.rows[id(stmt)][k]
        return f"tape_{dtype}[u({self.bases[dtype, row]} + {index})]"

    def push(self, stmt: Push) -> None:
        texts = [self.text(value) for value in stmt.values]
        self.flush(loads=True)
        self.comment(stmt.loc)
        if id(stmt) in self.rows:
            index = self.block_index[id(stmt)]
            for k, text in enumerate(texts):
                self.line(f"{self.place(stmt, k, index)} = {text}")
            return
        scalars: dict[str, list[str]] = {}
        for value, text in zip(stmt.values, texts, strict=True):
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(text)
        for dtype, found in scalars.items():
            self.line(f"top_{dtype} += {len(found)}")
            self.room(dtype)
            for k, text in enumerate(found):
                self.line(f"tape_{dtype}[u(top_{dtype} - {len(found) - k})] = {text}")
        for value, text in zip(stmt.values, texts, strict=True):
            if isinstance(value.type, Array):
                self.push_array(text, value.type)

    def push_array(self, source: str, ty: Array) -> None:
        """Append the elements, then the sizes."""
        start = self.helper("start")
        self.line(f"{start} = top_{ty.dtype}")
        self.line(f"top_{ty.dtype} += {source}.size")
        self.room(ty.dtype)
        index = ", ".join(self.nest(source, ty.rank))
        self.line(f"tape_{ty.dtype}[u({start})] = {source}[{index}]")
        self.line(f"{start} += 1")
        self.indent -= ty.rank
        self.line(f"top_i64 += {ty.rank}")
        self.room("i64")
        for axis in range(ty.rank):
            self.line(f"tape_i64[u(top_i64 - {ty.rank - axis})] = {source}.shape[{axis}]")

    def pop(self, stmt: Pop) -> None:
        self.comment(stmt.loc)
        if id(stmt) in self.rows:
            index = self.block_index[id(stmt)]
            for k, value in enumerate(stmt.results):
                self.assign(value, Expr(self.place(stmt, k, index), frozenset(), True), stmt.loc)
            return
        for value in reversed(stmt.results):
            if isinstance(value.type, Array):
                self.pop_array(value, value.type)
        scalars: dict[str, list[Value]] = {}
        for value in stmt.results:
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(value)
        for dtype, found in scalars.items():
            self.line(f"top_{dtype} -= {len(found)}")
            for k, value in enumerate(found):
                if self.counts.get(value):
                    offset = f" + {k}" if k else ""
                    self.line(f"{self.name(value)} = tape_{dtype}[u(top_{dtype}{offset})]")

    def pop_array(self, value: Value, ty: Array) -> None:
        self.line(f"top_i64 -= {ty.rank}")
        sizes = "".join(f"tape_i64[u(top_i64{f' + {k}' if k else ''})], " for k in range(ty.rank))
        name = self.new_array(value, f"({sizes})")
        self.line(f"top_{ty.dtype} -= {name}.size")
        start = self.helper("start")
        self.line(f"{start} = top_{ty.dtype}")
        index = ", ".join(self.nest(name, ty.rank))
        self.line(f"{name}[{index}] = tape_{ty.dtype}[u({start})]")
        self.line(f"{start} += 1")
        self.indent -= ty.rank

    # -- the whole -------------------------------------------------------------------------

    def run(self) -> list[str]:
        params = ", ".join(["state", *(self.name(param) for param in self.fn.params)])
        types = ", ".join(str(param.type) for param in self.fn.params)
        results = ", ".join(str(result.type) for result in self.fn.results) or "none"
        head = ["@njit(**OPTIONS)", f"def {self.shared.names[self.fn.name]}({params}):"]
        self.line(f'"""{self.fn.name}: {types} -> {results}"""')
        if self.fn.name in self.shared.recursive:
            self.stop_if("poll(state, 1)")
        mark = ""
        if not self.main and self.makes_arrays(self.fn.body):
            mark = self.helper("mark")
            self.line(f"{mark} = state[TOP]")
        for dtype in self.own:
            self.open_tape(dtype)
        self.stmts(self.fn.body)
        # Numba cannot compile a branch inside a long tuple.
        values = [
            self.text(result) if len(self.fn.results) <= 8 else self.atom(result).text
            for result in self.fn.results
        ]
        for dtype in self.own:
            self.line(f"state[{dtype.upper()} + 2] = top_{dtype}")
        if mark:
            self.line(f"state[TOP] = {mark}")
        self.line(f"return ({', '.join(values)}{',' * (len(values) == 1)})")
        return [*head, *self.lines]


def emit(fn: Function) -> Emitted:
    """Return the source of `fn`, which is in buffer form, and of its callees."""
    shared = _Shared(fn)
    code: list[str] = []
    for each in (*fn.callees, fn):
        code += ["", "", *_Function(each, shared, main=each is fn).run()]
    text = "\n".join(code)
    words = _words(text)
    runtime = sorted(words & set(_RUNTIME))
    math = sorted(words & set(vector_math.FUNCTIONS))
    names = sorted((words & prelude.NAMES) - set(math))
    head = [f'"""{fn.name}, compiled by adc."""', "", "import numpy as np", "from numba import njit"]
    for module, found in (("prelude", names), ("runtime", runtime), ("vector_math", math)):
        if found:
            head += ["", f"from adc.backend.{module} import (", *(f"    {n}," for n in found), ")"]
    head += ["", 'OPTIONS = {"nogil": True, "error_model": "numpy"}']
    if "STRIP" in words:
        head.append(f"STRIP = {STRIP}  # iterations between two looks for signals")
    if words & set(_PLACES):
        head += ["", "# Places in `state`."]
        head += [f"{n} = {k}  # {doc}" for n, (k, doc) in _PLACES.items() if n in words]
    return Emitted(
        shared.names[fn.name],
        "\n".join(head) + text + "\n",
        tuple(param.type for param in fn.params),
        tuple(result.type for result in fn.results),
        tuple(shared.sites),
        tuple(math),
    )


def _words(text: str) -> set[str]:
    """Return the identifiers in `text`, without its comments."""
    found: set[str] = set()
    for line in text.splitlines():
        code = line.partition("#")[0].replace("np.", "np_")
        found.update("".join(c if c.isalnum() or c == "_" else " " for c in code).split())
    return found


__all__ = ["STRIP", "Emitted", "Site", "emit", "operands"]
