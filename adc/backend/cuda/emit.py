"""From buffer form to Python source: kernels, and the function on the host that launches them.

Kernels compute with numbers by value; those on the device are read and written through an array and
a place in it, as `device.number` makes them. A kernel does nothing once a check has failed.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass

from adc.backend.common import expressions, reader, syntax
from adc.backend.common.prelude import CASTS
from adc.backend.common.syntax import Element, Name
from adc.backend.common.writer import Site, unique
from adc.backend.cuda.placement import COMBINE, LAUNCH, THREAD, Placement
from adc.backend.cuda.prelude import COMBINED, NAMES
from adc.backend.cuda.thread import Thread, Writer, expression, refused, site
from adc.ir import ops
from adc.ir.analysis.dependence.combinations import combinations
from adc.ir.analysis.dependence.threads import Size, Threads, all_threads
from adc.ir.analysis.memory.access import nest_of
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
    Stmt,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.ops import algorithms, arith
from adc.ir.types import DTYPES, Array, Scalar, Type
from adc.ir.walk import block_reads, stmt_reads, stmts_reads, use_counts

_RESERVED = NAMES | set(keyword.kwlist) | {"cuda", "kernel", "function", "device", "ops", "np"}
_RESERVED |= {"at", "failed", "tops", "needs", "i", "used", "step", "max", "min", "int", "range"}
_RESERVED |= {"BLOCK"} | algorithms.reserved()
_RESERVED |= {
    f"{own}{part}_{dtype}" for own in ("", "own_") for part in ("tape", "top") for dtype in DTYPES
}


@dataclass(frozen=True)
class Kernel:
    """One kernel: its name, and the types of its parameters; arrays of numbers among them."""

    name: str
    params: tuple[Type, ...]


@dataclass(frozen=True)
class Emitted:
    """Python source and what is needed to run it."""

    name: str
    source: str
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    sites: tuple[Site, ...]
    kernels: tuple[Kernel, ...]
    checks: bool  # whether kernels check anything


@dataclass(frozen=True)
class _Guard:
    """The head of a branch with one condition more where kernels check anything."""

    text: str
    more: str

    def line(self, checks: bool) -> str:
        return f"{self.text}{self.more if checks else ''}:"


_Line = str | _Guard


class _Host(Writer):
    """Writes the function on the host, and the kernels that it launches."""

    def __init__(self, fn: Function, shared: _Shared, main: bool = True) -> None:
        taken = shared.taken
        super().__init__(taken)
        self.fn = fn
        # Numbers that functions are passed are where those on the tape are.
        self.main = main
        floats = [p for p in fn.params if p.type.kind == "f" and not isinstance(p.type, Array)]
        self.placement = Placement(fn, () if main else floats)
        # What the threads of parallel loops need, and variables for what was measured.
        self.threads = all_threads(fn)
        self.found: dict[object, str] = {}
        # Arrays of terms, of which a block of threads combines its own before they are written.
        self.combined = combined(fn)
        self.counts = use_counts(fn)
        self.sites = shared.sites
        self.kernels = shared.kernels
        self.code = shared.code
        self.program = shared
        self.functions = shared.functions
        self.routines = shared.routines
        self.shared = taken
        # Arrays that are made to be pushed (`passes.frames`), and need not be copied.
        self.handed = handed(fn)
        # Statements of one thread that wait to be launched, and arrays that nobody needs then.
        self.waiting: list[Stmt] = []
        self.dropped: list[Value] = []
        # Arrays that the next loop takes from variables that nobody else needs.
        self.entered: Sequence[Value] = ()

    def run(self) -> list[str]:
        params = ", ".join(["device", *(self.name(param) for param in self.fn.params)])
        self.stmts(self.fn.body, self.fn.results)
        results = [self.text(v) if self.main else self.passed(v) for v in self.fn.results]
        self.line(f"return ({', '.join(results)}{',' * (len(results) == 1)})")
        return [f"def {self.functions[self.fn.name]}({params}):", *self._lines]

    # -- statements ------------------------------------------------------------------------

    def stmts(
        self, stmts: Sequence[Stmt], later: Sequence[Operand], given: Sequence[Value] = ()
    ) -> None:
        """Write statements; arrays that they make, or that are `given`, go with their last use."""
        for stmt, (entered, after) in zip(stmts, last_uses(stmts, later, given), strict=True):
            kind = self.placement.kind(stmt)
            if kind == THREAD:
                self.waiting.append(stmt)
                self.dropped += after
                continue
            if self.waiting and not self.may_pass(stmt):
                self.flush()
            self.comment(stmt.loc)
            self.entered = entered
            if kind == LAUNCH:
                assert isinstance(stmt, For)
                self.launch(stmt)
            elif kind == COMBINE:
                assert isinstance(stmt, For)
                self.combine(stmt)
            else:
                self.stmt(stmt)
            self.dropped += after
            if not self.waiting:
                self.drop()
        self.flush()
        self.drop()

    def drop(self, *values: Value) -> None:
        """Let go of arrays."""
        values, self.dropped = (*self.dropped, *values), []
        names = dict.fromkeys(self.name(v) for v in values if isinstance(v.type, Array))
        if names:
            self.line(f"del {', '.join(names)}")

    def may_pass(self, stmt: Stmt) -> bool:
        """Whether a statement has nothing to do with those that wait."""
        if not isinstance(stmt, Apply) or self.placement.kind(stmt) != "host":
            return False
        made = {v for s in self.waiting for v in s.results}
        plain = not isinstance(stmt.result.type, Array) and not stmt.op.reduces
        return made.isdisjoint(stmt_reads(stmt)) and (plain or stmt.op.reserves)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply(result=result):
                name, text = self.name(result), self.apply(stmt)
                if name != text:
                    self.line(f"{name} = {text}")
            case Check(cond=cond, args=args):
                self.sites.append(site(stmt))
                self.line(f"if not {self.text(cond)}:")
                told = "".join(f", {self.text(arg)}" for arg in args)
                self.line(f"    device.fail({len(self.sites)}{told})")
            case Print(result=Value()):
                raise refused(stmt, "reading a clock")
            case Print(args=args):
                self.sites.append(site(stmt))
                told = "".join(f", {self.fetched(arg)}" for arg in args)
                self.line(f"device.note({len(self.sites)}{told})")
            case Push(values=values):
                own = [v for v in values if v in self.handed]
                verb = "device.hand_over" if len(own) == len(values) else "device.push"
                self.line(f"{verb}({', '.join(map(self.passed, values))})")
            case Pop(results=results):
                names = ", ".join(map(self.name, results))
                self.line(f"{names}{',' * (len(results) == 1)} = device.pop()")
            case Gemm(array=c, a=a, b=b, transposed=transposed, accumulate=accumulate):
                names = ", ".join(map(self.name, (c, a, b)))
                self.sites.append(Site("", "", (), stmt.loc))
                self.line(f"device.gemm({len(self.sites)}, {names}, {transposed}, {accumulate})")
            case If(cond=cond, then=then, orelse=orelse, results=results):
                for word, block in ((f"if {self.fetched(cond)}:", then), ("else:", orelse)):
                    self.line(word)
                    self._indent += 1
                    self.stmts(block.stmts, block.yields)
                    self.move(results, self.placed(results, block.yields))
                    self.drop(*yielded(block))
                    self.line("pass")
                    self._indent -= 1
            case For(body=body, init=init, results=results):
                trips = self.fetched(stmt.trips)
                self.move(body.params, self.placed(body.params, init))
                self.drop(*self.entered)
                self.counter(stmt, trips)
                self._indent += 1
                self.stmts(body.stmts, body.yields, body.params)
                self.move(body.params, self.placed(body.params, body.yields))
                self.drop(*yielded(body))
                self.line("pass")
                self._indent -= 1
                self.move(results, [self.name(v) for v in body.params])
                self.drop(*body.params)
            case While(body=body, init=init, results=results):
                self.move(body.params, self.placed(body.params, init))
                self.drop(*self.entered)
                again = self.helper("again")
                self.line(f"{again} = True")
                self.line(f"while {again}:")
                self._indent += 1
                self.stmts(body.stmts, body.yields, body.params)
                self.line(f"{again} = {self.fetched(body.yields[0])}")
                self.move(body.params, self.placed(body.params, body.yields[1:]))
                self.drop(*yielded(body))
                self._indent -= 1
                self.move(results, [self.name(v) for v in body.params])
                self.drop(*body.params)
            case Call(callee=callee, args=args, results=results):
                names = ", ".join(map(self.name, results))
                given = ", ".join(map(self.passed, args))
                into = f"{names}{',' * (len(results) == 1)} = " if results else ""
                routine = self.routines.get(callee)
                if routine is not None:
                    self.sites.append(Site("", "", (), stmt.loc))
                    called = f"device.routine({len(self.sites)}, {routine!r}, "
                else:
                    called = f"{self.functions[callee]}(device, "
                self.line(f"{into}{called}{given})")
            case _:
                raise refused(stmt)

    def placed(self, targets: Sequence[Value], sources: Sequence[Operand]) -> list[str]:
        """Return numbers where their targets are."""
        return [
            self.there(source) if self.placement.is_on_device(target) else self.text(source)
            for target, source in zip(targets, sources, strict=True)
        ]

    def there(self, operand: Operand) -> str:
        """Return a number on the device."""
        if self.placement.is_on_device(operand):
            return self.text(operand)
        return f"device.number({numpy_name(operand.type.dtype)}, {self.text(operand)})"

    def fetched(self, operand: Operand) -> str:
        """Return a number on the host."""
        text = self.text(operand)
        return f"device.get({text})" if self.placement.is_on_device(operand) else text

    def passed(self, operand: Operand) -> str:
        """Return what tape and functions take: floats on the device, others on the host."""
        if isinstance(operand.type, Array):
            return self.text(operand)
        return self.there(operand) if operand.type.kind == "f" else self.fetched(operand)

    # -- arrays ----------------------------------------------------------------------------

    def apply(self, stmt: Apply) -> str:
        op, args, ty = stmt.op, stmt.args, stmt.result.type
        if not isinstance(ty, Array):
            if op.asks_shape:
                return f"{self.text(args[0])}.shape[{stmt.params[0]}]"
            if op.reduces:
                zero = "0.0" if ty.kind == "f" else "0"
                return f"device.combine('sum', {self.text(args[0])}, {zero})"
            if op.undefined:
                return self.shown(expressions.zero(ty))
            if op.random:
                expression(stmt, [], ty)  # is refused
            if op.operator:
                return op.operator.format(*map(self.text, args))
            given = ", ".join((*map(repr, stmt.params), *map(self.text, args)))
            return f"ops.{op.name}({given})"
        dtype = numpy_name(ty.dtype)
        shape = "".join(f"{self.fetched(size)}, " for size in stmt.sizes)
        if stmt.result in self.combined and op.reserves:
            return f"device.blocks({dtype}, {self.fetched(stmt.sizes[0])})"
        if op.reserves:
            return f"device.empty({dtype}, ({shape}))"
        if op.fills:
            return f"device.full({dtype}, ({shape}), {self.text(args[0])})"
        if op.copies:
            return f"device.copy({self.text(args[0])})"
        if op.aliases:
            index = ", ".join(self.fetched(arg) for arg in args[1:])
            return f"{self.text(args[0])}[{index}]" if index else self.text(args[0])
        if op.undefined:
            return f"device.empty({dtype}, ({'0, ' * ty.rank}))"
        if op is ops.array.slot:
            return "None"
        return self.elementwise(stmt, ty)

    def elementwise(self, stmt: Apply, ty: Array) -> str:
        """Return a launch of one thread for every element."""
        writer = Thread(self.shared, self.sites)
        params: list[Value] = [v for v in dict.fromkeys(stmt.args) if isinstance(v, Value)]
        like = next(v for v in params if isinstance(v.type, Array))
        out = writer.helper("out")
        index = [writer.helper(f"i{axis}") for axis in range(ty.rank)]
        sizes = [writer.helper(f"n{axis}") for axis in range(ty.rank)]
        place = ", ".join(index)
        own = tuple(map(Name, index))
        args = [
            Element(writer.expr(a), own) if isinstance(a.type, Array) else writer.expr(a)
            for a in stmt.args
        ]
        value = writer.shown(expression(stmt, args, Scalar(ty.dtype)))
        writer.line(f"{out}[{place}] = {value}")
        writer.memory.params.append((out, ty))
        name = self.kernel(writer, stmt, index, sizes, params, [])
        made = self.name(stmt.result)
        shape = f"{self.text(like)}.shape"
        self.line(f"{made} = device.empty({numpy_name(ty.dtype)}, {shape})")
        given = "".join(f", {self.text(v)}" for v in params)
        self.line(f"device.launch({name}, {shape}{given}, {made})")
        return made

    # -- launches --------------------------------------------------------------------------

    def launch(self, loop: For) -> None:
        loops = nest_of(loop)
        threads = self.threads[id(loop)]
        counts = [f"max(int({self.fetched(each.trips)}), 0)" for each in loops]
        given: dict[str, str] = {}
        if threads.has_memory:
            count = self.helper("count")
            self.line(f"{count} = {counts[0]}")
            counts = [count]
            given = self.memory(loop, threads, count)
        writer = Thread(self.shared, self.sites, threads)
        self.threaded(writer, loops, counts, given)
        self.add_up(loop, writer, given)
        if threads.leaves:
            tapes = [given[f"tape_{dtype}"] for dtype in threads.handed]
            self.line(f"device.hand_over({', '.join([*tapes, given['tops']])})")
        if given:
            self.line(f"del {', '.join(given.values())}")

    def threaded(
        self,
        writer: Thread,
        loops: Sequence[For],
        counts: Sequence[str],
        given: dict[str, str],
    ) -> None:
        """Launch a kernel with a thread for every iteration of a nest."""
        index = [writer.name(each.index) for each in loops]
        sizes = [writer.helper(f"n{axis}") for axis in range(len(loops))]
        if writer.is_whole:
            for stmt in loops[-1].body.stmts:
                if isinstance(stmt, Write) and stmt.array in self.combined:
                    writer.combined[stmt.array] = writer.helper("own"), self.combined[stmt.array]
        writer.thread(loops)
        inside = {each.index for each in loops}
        reads = sorted(stmts_reads(loops[-1].body.stmts) - inside, key=lambda v: v.name)
        for name, space in writer.memory.spaces.items():
            assert isinstance(space.value.type, Array)
            given[name] = self.helper(name)
            dims = [
                self.found[space.value, axis] if bounds is None else self.most(bounds)
                for axis, bounds in enumerate(space.dims)
            ]
            dtype = numpy_name(space.value.type.dtype)
            shape = ", ".join([*dims, *counts])
            self.line(f"{given[name]} = device.empty({dtype}, ({shape}))")
        for dtype, rows in writer.parts.items():
            given[f"parts_{dtype}"] = name = self.helper("parts")
            shape = f"{len(rows)}, {' * '.join(counts)}"
            self.line(f"{name} = device.empty({numpy_name(dtype)}, ({shape}))")
        name = self.kernel(writer, loops[0], index, sizes, reads, [])
        passed = [*map(self.text, reads), *(given[name] for name, _ in writer.memory.params)]
        shape = "".join(f"{count}, " for count in counts)
        self.line(f"device.launch({', '.join([name, f'({shape})', *passed])})")

    def add_up(self, loop: For, writer: Thread, given: dict[str, str]) -> None:
        """Add what all threads have for some elements to these."""
        for dtype, rows in writer.parts.items():
            adding = Thread(self.shared, self.sites)
            sums = adding.helper("sums")
            adding.memory.params.append((sums, Array(dtype, 1)))
            for k, (array, index) in enumerate(rows):
                place = ", ".join(map(adding.nth, index)) or "()"
                adding.line(f"{adding.name(array)}[{place}] += {sums}[{k}]")
            mentioned = dict.fromkeys(v for array, index in rows for v in (array, *index))
            reads = [v for v in mentioned if isinstance(v, Value)]
            name = self.kernel(adding, loop, [], [], reads, [])
            passed = [*map(self.text, reads), f"device.rows({given[f'parts_{dtype}']})"]
            self.line(f"device.launch({', '.join([name, '()', *passed])})")

    def memory(self, loop: For, threads: Threads, count: str) -> dict[str, str]:
        """Take the memory that threads need for tapes; measure what no size tells."""
        given: dict[str, str] = {}
        if threads.takes or threads.leaves:
            given = {f"tape_{d}": self.helper(f"tape_{d}") for d in threads.handed}
            given["tops"] = self.helper("tops")
        if threads.takes:
            self.line(f"{', '.join(given.values())} = device.pop()")
        words, part = threads.measured(self.most)
        lengths = dict(zip(threads.tapes(), words, strict=True))
        wanted: list[tuple[object, str]] = [
            ((dtype, own), dtype) for (dtype, own), length in lengths.items() if length is None
        ]
        wanted += [
            ((space.value, axis), f"n{axis}")
            for space in threads.unknown
            for axis, bounds in enumerate(space.dims)
            if bounds is None
        ]
        if wanted:
            writer = Thread(self.shared, self.sites, threads, part)
            writer.measure(wanted)
            needs = self.helper("needs")
            self.line(f"{needs} = device.empty(np.int64, ({len(wanted)}, {count}))")
            self.threaded(writer, [loop], [count], {**given, "needs": needs})
            for k, (what, hint) in enumerate(wanted):
                self.found[what] = self.helper(f"most_{hint}")
                self.line(f"{self.found[what]} = device.most({needs}, {k})")
            self.line(f"del {needs}")
        if threads.leaves:
            self.line(f"{given['tops']} = device.empty(np.int64, ({len(threads.handed)}, {count}))")
        for (dtype, own), length in lengths.items():
            name = f"own_tape_{dtype}" if own else f"tape_{dtype}"
            given.setdefault(name, self.helper(name))
            most = length or self.found[dtype, own]
            self.line(f"{given[name]} = device.empty({numpy_name(dtype)}, ({most}, {count}))")
        return given

    def most(self, bounds: Sequence[Operand | Size]) -> str:
        """Return the greatest of some numbers on the host."""
        texts = [
            f"{self.text(each.array)}.shape[{each.axis}]"
            if isinstance(each, Size)
            else f"int({self.fetched(each)})"
            if isinstance(each, Value)
            else self.text(each)
            for each in bounds
        ]
        if len(bounds) == 1 and not isinstance(bounds[0], Value):
            return texts[0]
        return f"max({', '.join([*texts, '0'])})"

    def flush(self) -> None:
        """Launch one thread for the statements that wait."""
        if not self.waiting:
            return
        stmts, self.waiting = self.waiting, []
        writer = Thread(self.shared, self.sites)
        writer.stmts(stmts)
        reads = sorted(stmts_reads(stmts), key=lambda v: v.name)
        inner: dict[Value, int] = {}
        for stmt in walk(tuple(stmts)):
            for operand in (*operands(stmt), *(y for b in blocks(stmt) for y in b.yields)):
                if isinstance(operand, Value):
                    inner[operand] = inner.get(operand, 0) + 1
        made = [v for stmt in stmts for v in stmt.results]
        outer = [v for v in made if self.counts.get(v, 0) > inner.get(v, 0)]
        self.comment(stmts[0].loc)
        name = self.kernel(writer, stmts[0], [], [], reads, outer)
        for value in outer:
            self.line(f"{self.name(value)} = device.number({numpy_name(value.type.dtype)})")
        given = "".join(f", {self.text(v)}" for v in (*reads, *outer))
        self.line(f"device.launch({name}, (){given})")

    def kernel(
        self,
        writer: Thread,
        stmt: Stmt,
        index: Sequence[str],
        sizes: Sequence[str],
        reads: Sequence[Value],
        outer: Sequence[Value],
    ) -> str:
        """Write a kernel around what a thread does."""
        name = unique(f"{self.fn.name}_{getattr(stmt, 'label', '') or 'thread'}", self.shared)
        params: list[str] = ["failed", *sizes]
        types: list[Type] = [Array("i64", 1), *[Scalar("i64")] * len(sizes)]
        first: list[_Line] = [_Guard("    if cuda.grid(1) > 0", " or failed[0] != 0")]
        if sizes:
            bound = _Guard(f"    if at >= {' * '.join(sizes)}", " or failed[0] != 0")
            first = ["    at = cuda.grid(1)", bound]
        first.append("        return")
        head: list[str] = []
        tail: list[str] = []
        rest = "at"
        for k, each in enumerate(index):
            if k == len(index) - 1:
                head.append(f"{each} = {rest}")
                break
            size = " * ".join(sizes[k + 1 :])
            writer.used.add("divided")
            head.append(f"{each} = divided({rest}, {size})")
            before, rest = rest, writer.helper("rest")
            head.append(f"{rest} = {before} - {each} * ({size})")
        for value in (*reads, *outer):
            text = writer.name(value)
            if value in outer or self.placement.is_on_device(value):
                array, place = writer.helper(f"{text}_in"), writer.helper(f"{text}_at")
                params += [array, place]
                types += [Array(value.type.dtype, 1), Scalar("i64")]
                if value in outer:
                    tail.append(f"{array}[{place}] = {text}")
                else:
                    head.append(f"{text} = {array}[{place}]")
            else:
                params.append(text)
                types.append(value.type)
        params += [text for text, _ in writer.memory.params]
        types += [ty for _, ty in writer.memory.params]
        head += writer.memory.head
        tail += writer.memory.tail
        self.kernels.append(Kernel(name, tuple(types)))
        self.program.checks |= writer.checks
        inner = [*(f"    {each}" for each in head), *writer._lines, *(f"    {t}" for t in tail)]
        body = [*first, *inner]
        if writer.combined:
            count = " * ".join(sizes)
            body = self.in_blocks(writer, name, count, params, inner)
        self.program.used |= writer.used
        self.code += ["", "", "@kernel", f"def {name}({', '.join(params)}):", *body]
        return name

    def in_blocks(
        self, writer: Thread, name: str, count: str, params: Sequence[str], body: Sequence[str]
    ) -> list[_Line]:
        """Return the body of a kernel whose blocks combine what their threads found, in a tree."""
        inner = unique(f"{name}_iteration", self.shared)
        given = ", ".join(["at", *params])
        own = [variable for variable, _ in writer.combined.values()]
        self.program.used |= {"BLOCK", "function", *(op for _, op in writer.combined.values())}
        found = f"({', '.join(own)},)"
        self.code += ["", "", "@function", f"def {inner}({given}):", *body, f"    return {found}"]
        lines = [
            f"    {found} = {inner}({given})",
            "i = cuda.threadIdx.x",
            f"used = min({count} - cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x)",
        ]
        parts = []
        for array, (variable, _) in writer.combined.items():
            parts.append(writer.helper("part"))
            dtype = writer.dtype(array)
            lines.append(f"{parts[-1]} = cuda.shared.array(BLOCK, {dtype})")
            lines.append(f"{parts[-1]}[i] = {variable}")
        lines += ["step = BLOCK // 2", "while step > 0:", "    cuda.syncthreads()"]
        lines.append("    if i < step and i + step < used:")
        for part, (_, op) in zip(parts, writer.combined.values(), strict=True):
            both = COMBINED[op].format(f"{part}[i]", f"{part}[i + step]")
            lines.append(f"        {part}[i] = {both}")
        lines += ["    step //= 2", "if i == 0:"]
        for part, array in zip(parts, writer.combined, strict=True):
            lines.append(f"    {writer.name(array)}[cuda.blockIdx.x] = {part}[0]")
        first = ["    at = cuda.grid(1)", f"    {found} = {writer.neutral}"]
        guard = _Guard(f"    if at < {count}", " and failed[0] == 0")
        return [*first, guard, *(f"    {line}" for line in lines)]

    def combine(self, loop: For) -> None:
        """Write what combines the elements of arrays, each with a number."""
        terms: dict[Operand, Value] = {}
        k = 0
        for stmt in loop.body.stmts:
            match stmt:
                case Load(result=result, array=array):
                    terms[result] = array
                case Apply(op=op, args=(value,), result=result) if op.converts:
                    terms[result] = terms[value]
                case Apply(op=op, args=(_, value)):
                    made, init = self.name(loop.results[k]), self.text(loop.init[k])
                    name = "sum" if op is arith.add else op.name
                    combined = f"{name!r}, {self.text(terms[value])}, {init}"
                    self.line(f"{made} = device.combine({combined})")
                    k += 1


# Numbers that a block combines at most: each takes two kilobytes of shared memory.
_SHARED = 16


def combined(fn: Function) -> dict[Value, str]:
    """Return the arrays of terms that launches write at the numbers of their threads."""
    found = combinations(fn)
    written: set[Value] = set()
    for stmt in walk(fn.body):
        if isinstance(stmt, For) and stmt.parallel:
            last = nest_of(stmt)[-1].body.stmts
            terms = [s.array for s in last if isinstance(s, Write) and s.array in found]
            written.update(terms[:_SHARED])
    return {array: op for array, op in found.items() if array in written}


class _Shared:
    """What the functions of a program share."""

    def __init__(self, fn: Function) -> None:
        self.taken = set(_RESERVED)
        self.routines = {each.name: each.routine for each in fn.callees if each.routine}
        own = [each.name for each in (fn, *fn.callees) if each.name not in self.routines]
        self.functions = {name: unique(name, self.taken) for name in own}
        self.sites: list[Site] = []
        self.kernels: list[Kernel] = []
        self.code: list[_Line] = []
        self.checks = False  # whether kernels check anything
        self.used: set[str] = set()  # what all of it calls, and other names that it imports


def last_uses(
    stmts: Sequence[Stmt], later: Sequence[Operand], given: Sequence[Value]
) -> list[tuple[list[Value], list[Value]]]:
    """Return for each statement of a block the arrays whose variables nobody needs any more.

    First those that a loop begins with, then those that nobody needs after the statement.
    """
    kept = {v for v in later if isinstance(v, Value)}
    own = {v for v in (*given, *(v for s in stmts for v in s.results))}
    found: list[tuple[list[Value], list[Value]]] = []
    for stmt in reversed(stmts):
        reads = stmt_reads(stmt)
        seen = sorted(reads, key=lambda v: v.name)
        last = [
            v
            for v in dict.fromkeys((*stmt.results, *seen))
            if isinstance(v.type, Array) and v in own and v not in kept
        ]
        early: list[Value] = []
        if isinstance(stmt, For | While):
            inner = block_reads(stmt.body)
            early = [v for v in last if v in reads and v not in inner]
        found.append((early, [v for v in last if v not in early]))
        kept |= reads
    return found[::-1]


def yielded(block: Block) -> list[Value]:
    """Return the arrays of a block that other variables hold when it ends."""
    made = {v for stmt in block.stmts for v in stmt.results}
    return [v for v in block.yields if isinstance(v, Value) and v in made]


def handed(fn: Function) -> set[Operand]:
    """Return the arrays that a block makes, and that nobody mentions after it pushes them."""
    found: set[Operand] = set()

    def look(stmts: Sequence[Stmt]) -> None:
        made = {
            stmt.result: k
            for k, stmt in enumerate(stmts)
            if isinstance(stmt, Apply) and stmt.op.reserves
        }
        for k, stmt in enumerate(stmts):
            for block in blocks(stmt):
                look(block.stmts)
            if isinstance(stmt, Push):
                later = stmts_reads(stmts[k + 1 :])
                own = (v for v in stmt.values if isinstance(v, Value) and v in made)
                found.update(
                    v for v in own if v not in later and counts[v] == uses(stmts[:k], v) + 1
                )

    def uses(stmts: Sequence[Stmt], value: Value) -> int:
        """Count how often elements of an array are read or written."""
        return sum(
            isinstance(stmt, Load | Write) and stmt.array == value for stmt in walk(tuple(stmts))
        )

    counts = use_counts(fn)
    look(fn.body)
    return found


def emit(fn: Function) -> Emitted:
    """Return the source of `fn`, which is in buffer form with launches (`passes.kernels`)."""
    shared = _Shared(fn)
    lines: list[str] = []
    for each in (*fn.callees, fn):
        if each.name in shared.functions:
            host = _Host(each, shared, each is fn)
            lines += ["", "", *host.run()]
            shared.used |= host.used
    code = [each if isinstance(each, str) else each.line(shared.checks) for each in shared.code]
    made: list[str] = []
    for op in algorithms.among(shared.used, on_device=True):
        made += ["", "", "@function", *algorithms.source(op)]
        shared.used |= {"function", *syntax.used(reader.algorithm(op).body)}
    used = sorted(NAMES & shared.used)
    head = [f'"""{fn.name}, compiled by adc for CUDA."""', "", "import numpy as np", ""]
    block, function = (f"{n}, " if n in shared.used else "" for n in ("BLOCK", "function"))
    head += [f"from adc.backend.cuda.api import cuda, {function}kernel"]
    head += [f"from adc.backend.cuda.device import {block}ops"]
    if used:
        head += ["from adc.backend.cuda.prelude import (", *(f"    {n}," for n in used), ")"]
    source = "\n".join([*head, *made, *code, *lines]) + "\n"
    types = tuple(param.type for param in fn.params)
    results = tuple(result.type for result in fn.results)
    name = shared.functions[fn.name]
    sites, kernels = tuple(shared.sites), tuple(shared.kernels)
    return Emitted(name, source, types, results, sites, kernels, shared.checks)


def numpy_name(dtype: str) -> str:
    """Return how the host names a dtype where it makes arrays."""
    return f"np.{CASTS[dtype]}"
