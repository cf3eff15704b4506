"""From buffer form to Python source: what one thread of a kernel does.

Arrays that a thread makes lie in memory that was there before (`threads`): few elements in
local memory, which a compiler keeps in registers if it can, others in arrays with a place for every
thread along the last axis, as tapes are, so that neighbouring threads touch neighbouring elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from adc.backend.common import expressions, printer
from adc.backend.common.prelude import CASTS
from adc.backend.common.syntax import Call, Constant, Expr, Name, Size, mentions
from adc.backend.common.writer import Names, Site
from adc.ir import ops
from adc.ir.analysis.dependence.combinations import neutral
from adc.ir.analysis.dependence.threads import Part, Space, Threads
from adc.ir.analysis.memory.access import Access
from adc.ir.core import (
    Apply,
    Check,
    For,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Stmt,
    Value,
    While,
    Write,
)
from adc.ir.errors import DeviceError, Span
from adc.ir.ops import arith
from adc.ir.tape import uses
from adc.ir.types import Array, Scalar, Type

# Operations of the op table whose code is for one kind of operands.
_OF_INTEGERS = {arith.floordiv: "floordiv_int", arith.mod: "remainder_int"}
# Those that are told how many bits there are.
_SHIFTS = {ops.integer.lshift: "lshift", ops.integer.rshift: "rshift"}
# Elements that an array has at most to lie in local memory.
_LOCAL = 64


class Writer(Names):
    """Writes values by their names, each in a line of its own: a device's compiler joins them."""

    def __init__(self, taken: Set[str]) -> None:
        super().__init__(taken)
        self._lines: list[str] = []
        self._indent = 1
        self.used: set[str] = set()  # what it calls, and other names that it has not made

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    def comment(self, loc: Span | None) -> None:
        """Write the user's line above what is made of it, once."""
        text = self.quoted(loc)
        if text:
            self.line(f"# {text}")

    def expr(self, operand: Operand) -> Expr:
        if isinstance(operand, Literal):
            return expressions.literal(operand.value, operand.type)
        return Name(self.name(operand))

    def text(self, operand: Operand) -> str:
        """Return an operand as it can stand next to an operator."""
        return self.shown(self.expr(operand))

    def shown(self, expr: Expr) -> str:
        """Return an expression as it can stand next to an operator."""
        self.used |= mentions(expr)
        return printer.operand(expr)

    def literal(self, value: bool | int | float, ty: Type) -> str:
        return self.shown(expressions.literal(value, ty))

    def dtype(self, array: Value) -> str:
        """Return the dtype of memory that a kernel makes."""
        name = CASTS[array.type.dtype]
        self.used.add(name)
        return name

    def move(self, targets: Sequence[Value], sources: Sequence[str]) -> None:
        """Assign all at once."""
        pairs = [(self.name(t), s) for t, s in zip(targets, sources, strict=True)]
        pairs = [(t, s) for t, s in pairs if t != s]
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def counter(self, stmt: For, trips: str) -> None:
        index = self.name(stmt.index)
        how = f"{trips} - 1, -1, -1" if stmt.down else trips
        self.line(f"for {index} in range({how}):")


@dataclass
class Memory:
    """What a kernel is passed so that its threads have arrays and tapes."""

    params: list[tuple[str, Type]] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    # By parameter, where it is for arrays that are made: the space.
    spaces: dict[str, Space] = field(default_factory=dict)


class Thread(Writer):
    """Writes what a thread does; with `part`, only what tells how much memory it will need."""

    def __init__(
        self,
        taken: set[str],
        sites: list[Site],
        threads: Threads | None = None,
        part: Part | None = None,
    ) -> None:
        super().__init__(taken)
        self._sites = sites
        self._threads = threads
        self._part = part
        self.memory = Memory()
        self.checks = False  # whether it checks anything
        self.access = Access((), threads)
        # Variables for elements that loops add to, and that are the same in all iterations.
        self.totals: dict[tuple[Value, tuple[Operand, ...]], str] = {}
        # By dtype, those that other threads add to as well.
        self.parts: dict[str, list[tuple[Value, tuple[Operand, ...]]]] = {}
        # Variables for elements that the block combines, by their arrays, and by what.
        self.combined: dict[Value, tuple[str, str]] = {}
        self._places: dict[Value, str] = {}
        # What is measured: variables.
        self._most: dict[object, str] = {}
        if threads is not None:
            self._lay_out(threads)

    @property
    def is_whole(self) -> bool:
        """Whether all that threads do is written, not only what tells how much memory they need."""
        return self._part is None

    # -- memory ----------------------------------------------------------------------------

    def _lay_out(self, threads: Threads) -> None:
        """Give everything a name that a thread has of its own."""
        memory = self.memory
        counting = self._part is not None
        if threads.takes or (threads.leaves and not counting):
            memory.params += [(f"tape_{d}", Array(d, 2)) for d in threads.handed]
            memory.params.append(("tops", Array("i64", 2)))
        for k, dtype in enumerate(threads.handed):
            memory.head.append(f"top_{dtype} = {f'tops[{k}, at]' if threads.takes else 0}")
            if threads.leaves and not counting:
                memory.tail.append(f"tops[{k}, at] = top_{dtype}")
        for dtype in threads.owned:
            if not counting:
                memory.params.append((f"own_tape_{dtype}", Array(dtype, 2)))
            memory.head.append(f"own_top_{dtype} = 0")
        for space in threads.spaces.values():
            name = self.helper("space")
            value = space.value
            if self._part is not None:
                # Where a value is needed, so is what it is copied to first.
                of = next((v for v, other in threads.temporary.items() if other == value), value)
                if not space.is_known or of not in self._part.values:
                    continue
            self._places[value] = name
            assert isinstance(value.type, Array)
            sizes = literal_sizes(space)
            if sizes is not None:
                shape = f"({', '.join(map(str, sizes))},)"
                dtype = self.dtype(value)
                memory.head.append(f"{name} = cuda.local.array({shape}, {dtype})")
            else:
                memory.params.append((name, Array(value.type.dtype, value.type.rank + 1)))
                memory.spaces[name] = space

    def measure(self, wanted: Sequence[tuple[object, str]]) -> None:
        """Note the most of some things in an array, each in a row."""
        memory = self.memory
        memory.params.append(("needs", Array("i64", 2)))
        for k, (what, hint) in enumerate(wanted):
            self._most[what] = name = self.helper(f"most_{hint}")
            memory.head.append(f"{name} = 0")
            memory.tail.append(f"needs[{k}, at] = {name}")

    def _raise_most(self, what: object, text: str) -> None:
        if what in self._most:
            self.line(f"{self._most[what]} = max({self._most[what]}, {text})")

    def _make(self, value: Value, sizes: Sequence[Expr]) -> str | None:
        """Return memory for an array of these sizes; None if it is only measured."""
        assert self._threads is not None
        space = self._threads.spaces[value]
        dims = list(map(self.shown, sizes))
        for axis, dim in enumerate(dims):
            self._raise_most((value, axis), dim)
        place = self._places.get(value)
        if place is None:
            return None
        known = literal_sizes(space)
        if known is not None:
            if list(map(Constant, known)) == list(sizes):
                return place
            return f"{place}[{', '.join(f':{dim}' for dim in dims)}]"
        return f"{place}[{', '.join(f':{dim}' for dim in dims)}, at]"

    def _copy(self, source: str, target: str, rank: int) -> None:
        """Copy elements from array to array."""
        index = [self.helper("e") for _ in range(rank)]
        before = self._indent
        for axis, each in enumerate(index):
            self.line(f"for {each} in range({source}.shape[{axis}]):")
            self._indent += 1
        place = ", ".join(index) or "()"
        self.line(f"{target}[{place}] = {source}[{place}]")
        self._indent = before

    def _keep(self, value: Value, source: str, temporary: bool = False) -> str:
        """Copy what a loop carries to memory of its own, and return that."""
        assert isinstance(value.type, Array)
        target, own = self.helper("own"), self.helper("given")
        self.line(f"{own} = {source}")
        place = self._threads.temporary[value] if temporary and self._threads else value
        sizes = literal_sizes(self._threads.spaces[place]) if self._threads else None
        dims: list[Expr] = [Size(Name(own), axis) for axis in range(value.type.rank)]
        if sizes is not None and self._is_fixed(value):
            dims = list(map(Constant, sizes))
        self.line(f"{target} = {self._make(place, dims)}")
        self._copy(own, target, value.type.rank)
        return target

    def _is_fixed(self, value: Value) -> bool:
        """Whether an array has no sizes but those that its memory has."""
        assert self._threads is not None
        bounds = self._threads.spaces[value].dims
        return all(each is not None and len(each) == 1 for each in bounds) and not any(
            self._threads.varies(value, axis) for axis in range(len(bounds))
        )

    # -- statements ------------------------------------------------------------------------

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            if self._part is None or id(stmt) in self._part.stmts:
                self.stmt(stmt)

    def needs(self, value: Value) -> bool:
        return self._part is None or value in self._part.values

    def stmt(self, stmt: Stmt) -> None:
        self.comment(stmt.loc)
        match stmt:
            case Apply(result=result) if isinstance(result.type, Array):
                self.array(stmt)
            case Apply(result=result):
                self.line(f"{self.name(result)} = {self.apply(stmt)}")
            case Load(result=result):
                self.line(f"{self.name(result)} = {self.element(stmt)}")
            case Write(array=array, value=value) if array in self.combined:
                self.line(f"{self.combined[array][0]} = {self.text(value)}")
            case Write(value=value, accumulate=accumulate):
                total = self.totals.get((stmt.array, stmt.index)) if accumulate else None
                if total is not None:
                    self.line(f"{total} += {self.text(value)}")
                elif accumulate:
                    self.add(stmt, self.text(value))
                else:
                    self.line(f"{self.element(stmt)} = {self.text(value)}")
            case Check(cond=cond):
                self._sites.append(site(stmt))
                self.line(f"if not {self.text(cond)}:")
                self.checks = True
                self.line(f"    failed[0] = {len(self._sites)}")
                self.line(f"    return {self.neutral}".rstrip())
            case Push():
                self.push(stmt)
            case Pop():
                self.pop(stmt)
            case If(cond=cond, then=then, orelse=orelse, results=results):
                kept = [k for k, v in enumerate(results) if self.needs(v)]
                for word, block in ((f"if {self.text(cond)}:", then), ("else:", orelse)):
                    self.line(word)
                    self._indent += 1
                    self.stmts(block.stmts)
                    self.move(
                        [results[k] for k in kept], [self.text(block.yields[k]) for k in kept]
                    )
                    self.line("pass")
                    self._indent -= 1
            case For(body=body):
                trips = self.text(stmt.trips)
                self.enter(stmt, body.params, stmt.init)
                self.counter(stmt, trips)
                self.body(stmt, body.yields)
                self.leave(stmt)
            case While(body=body):
                self.enter(stmt, body.params, stmt.init)
                again = self.helper("again")
                self.line(f"{again} = True")
                self.line(f"while {again}:")
                self.body(stmt, body.yields[1:], f"{again} = {{0}}", body.yields[0])
                self.leave(stmt)
            case _:
                raise refused(stmt)

    def body(
        self,
        loop: For | While,
        yields: Sequence[Operand],
        last: str = "",
        cond: Operand | None = None,
    ) -> None:
        self._indent += 1
        # Only pushes are measured: iterations that take theirs off end where they began.
        tops: dict[str, str] = {}
        if self._part is not None and self._threads is not None and self._threads.owned:
            if not uses(loop.body.stmts)[1]:
                tops = {f"own_top_{d}": self.helper("top") for d in self._threads.owned}
        for top, before in tops.items():
            self.line(f"{before} = {top}")
        self.stmts(loop.body.stmts)
        for top, before in tops.items():
            self.line(f"{top} = {before}")
        if cond is not None:
            self.line(last.format(self.text(cond)))
        self.enter(loop, loop.body.params, yields, again=True)
        self.line("pass")
        self._indent -= 1

    def enter(
        self,
        loop: For | While,
        params: Sequence[Value],
        given: Sequence[Operand],
        again: bool = False,
    ) -> None:
        """Hand values to an iteration; arrays that iterations make are copied."""
        kept = [k for k, param in enumerate(params) if self.needs(param)]
        copied = self._threads.copied(loop) if self._threads is not None else set()
        sources = {k: self.text(given[k]) for k in kept}
        own = [k for k in kept if params[k] in copied]
        if own and again and self._threads is not None and self._threads.is_mixed(loop):
            sources |= {k: self._keep(params[k], sources[k], temporary=True) for k in own}
        sources |= {k: self._keep(params[k], sources[k]) for k in own}
        self.move([params[k] for k in kept], [sources[k] for k in kept])

    def leave(self, loop: For | While) -> None:
        pairs = zip(loop.results, loop.body.params, strict=True)
        kept = [(result, param) for result, param in pairs if self.needs(param)]
        self.move([result for result, _ in kept], [self.name(param) for _, param in kept])

    def thread(self, loops: Sequence[For]) -> None:
        """Write what a thread does that runs an iteration of a nest of loops."""
        self.access = Access(loops, self._threads)
        found: dict[tuple[Value, tuple[Operand, ...]], Write] = {}
        if self._part is None:
            found = self.access.totals()
        for (array, index), write in found.items():
            self.totals[array, index] = name = self.helper("total")
            self.line(f"{name} = {self.literal(0.0, write.value.type)}")
        self.stmts(loops[-1].body.stmts)
        for (array, index), write in found.items():
            total = self.totals[array, index]
            if self.access.is_own(array) or not all(map(self.access.is_shared, index)):
                self.add(write, total)
                continue
            # Others add to it, too: what each thread has is added up afterwards, in one order.
            rows = self.parts.setdefault(write.value.type.dtype, [])
            self.line(f"parts_{write.value.type.dtype}[{len(rows)}, at] = {total}")
            rows.append((array, index))
        self.memory.params += [(f"parts_{dtype}", Array(dtype, 2)) for dtype in self.parts]

    def add(self, stmt: Write, value: str) -> None:
        """Write what adds to an element, which other threads may do as well."""
        if self.access.is_own(stmt.array):
            self.line(f"{self.element(stmt)} += {value}")
            return
        array = self.name(stmt.array)
        place = ", ".join(map(self.nth, stmt.index)) or "()"
        place = f"({place})" if len(stmt.index) > 1 else place
        if not self.access.is_uniform(stmt.index):
            self.line(f"cuda.atomic.add({array}, {place}, {value})")
            return
        flat = self.text(stmt.index[0]) if stmt.index else "0"
        for axis, each in enumerate(stmt.index[1:], 1):
            flat = f"({flat}) * {array}.shape[{axis}] + {self.text(each)}"
        self.used.add("add_together")
        self.line(f"add_together({array}, {place}, {flat}, {value})")

    @property
    def neutral(self) -> str:
        """What an iteration hands to the block that it has nothing to add to, as a tuple."""
        found = [
            self.literal(each.value, each.type)
            for each in (neutral(op, _element(array)) for array, (_, op) in self.combined.items())
        ]
        return f"({', '.join(found)},)" if found else ""

    def nth(self, operand: Operand) -> str:
        """Return an index, which is not negative: nobody has to look."""
        found = self.expr(operand)
        return self.shown(found if isinstance(operand, Literal) else Call("nth", (found,)))

    def element(self, stmt: Load | Write) -> str:
        index = ", ".join(map(self.nth, stmt.index)) or "()"
        return f"{self.name(stmt.array)}[{index}]"

    def apply(self, stmt: Apply) -> str:
        op, ty = stmt.op, stmt.result.type
        if op.undefined:
            return self.shown(expressions.zero(ty))
        return self.shown(expression(stmt, [self.expr(arg) for arg in stmt.args], ty))

    # -- arrays ----------------------------------------------------------------------------

    def array(self, stmt: Apply) -> None:
        """Write what makes an array, or stands for one."""
        op, args, value = stmt.op, stmt.args, stmt.result
        assert isinstance(value.type, Array)
        rank = value.type.rank
        if self._threads is None or op is ops.array.slot:
            if op is not ops.array.slot:
                raise refused(stmt, "arrays that threads make")
            return
        source = self._threads.same(value)
        name = self.name(value)
        made: str | None
        if op.aliases == "part":
            made = f"{self.text(args[0])}[{', '.join(map(self.text, args[1:]))}]"
        elif op.undefined:
            dtype = self.dtype(value)
            made = f"cuda.local.array({(1,) * rank}, {dtype})"
        elif op.copies:
            given = self.expr(args[0])
            made = self._make(value, [Size(given, axis) for axis in range(rank)])
        elif op.sizes is not None or op.aliases:
            dims = list(map(self.expr, stmt.sizes or args[:rank]))
            made = self.text(source) if source is not None else self._make(value, dims)
        else:
            raise refused(stmt, f"`{op.name}` of an array in a thread")
        if made is None:
            return
        self.line(f"{name} = {made}")
        if op.copies:
            self._copy(self.text(args[0]), name, rank)
        elif op.fills:
            index = [self.helper("e") for _ in range(rank)]
            before = self._indent
            for axis, each in enumerate(index):
                self.line(f"for {each} in range({name}.shape[{axis}]):")
                self._indent += 1
            self.line(f"{name}[{', '.join(index) or '()'}] = {self.text(args[0])}")
            self._indent = before

    # -- the tape --------------------------------------------------------------------------

    def tape(self, stmt: Push | Pop, dtype: str) -> tuple[str, str, object]:
        """Return a tape and its end as variables, and what the most on it is measured by."""
        assert self._threads is not None
        own = id(stmt) in self._threads.own
        return (
            f"own_tape_{dtype}" if own else f"tape_{dtype}",
            f"own_top_{dtype}" if own else f"top_{dtype}",
            (dtype, own),
        )

    def push(self, stmt: Push) -> None:
        for value in stmt.values:
            tape, top, most = self.tape(stmt, value.type.dtype)
            if not isinstance(value.type, Array):
                if self._part is None:
                    self.line(f"{tape}[{top}, at] = {self.text(value)}")
                self.line(f"{top} += 1")
                self._raise_most(most, top)
                continue
            name, rank = self.text(value), value.type.rank
            sizes = [f"{name}.shape[{axis}]" for axis in range(rank)]
            if self._part is None:
                self.along(sizes, f"{tape}[{top}, at] = {name}[{{}}]", top)
            else:
                self.line(f"{top} += {' * '.join(sizes) or '1'}")
            self._raise_most(most, top)
            tape, top, most = self.tape(stmt, "i64")
            for size in sizes:
                if self._part is None:
                    self.line(f"{tape}[{top}, at] = {size}")
                self.line(f"{top} += 1")
            self._raise_most(most, top)

    def along(self, sizes: Sequence[str], text: str, top: str) -> None:
        """Write what is done with all elements of an array, one after the other on a tape."""
        index = [self.helper("e") for _ in sizes]
        before = self._indent
        for each, size in zip(index, sizes, strict=True):
            self.line(f"for {each} in range({size}):")
            self._indent += 1
        self.line(text.format(", ".join(index) or "()"))
        self.line(f"{top} += 1")
        self._indent = before

    def pop(self, stmt: Pop) -> None:
        assert self._threads is not None
        for value in reversed(stmt.results):
            tape, top, _ = self.tape(stmt, value.type.dtype)
            name = self.name(value)
            if not isinstance(value.type, Array):
                self.line(f"{top} -= 1")
                self.line(f"{name} = {tape}[{top}, at]")
                continue
            sizes = [self.helper("n") for _ in range(value.type.rank)]
            sizes_tape, sizes_top, _ = self.tape(stmt, "i64")
            for size in reversed(sizes):
                self.line(f"{sizes_top} -= 1")
                self.line(f"{size} = {sizes_tape}[{sizes_top}, at]")
            self.line(f"{top} -= {' * '.join(sizes) or '1'}")
            if self._threads.lies_on_tape(stmt, value):
                self.line(f"{name} = {tape}[{top} : {top} + {sizes[0]}, at]")
                continue
            made = self._make(value, list(map(Name, sizes)))
            if made is None:
                continue
            self.line(f"{name} = {made}")
            start = self.helper("start")
            self.line(f"{start} = {top}")
            self.along(sizes, f"{name}[{{}}] = {tape}[{start}, at]", start)


def _element(array: Value) -> Type:
    return Scalar(array.type.dtype)


def literal_sizes(space: Space) -> list[int] | None:
    """Return the sizes of an array that is small enough for local memory."""
    found: list[int] = []
    for bounds in space.dims:
        if bounds is None or len(bounds) != 1 or not isinstance(bounds[0], Literal):
            return None
        found.append(max(int(bounds[0].value), 1))
    return found if math.prod(found) <= _LOCAL else None


def expression(stmt: Apply, args: Sequence[Expr], ty: Type) -> Expr:
    """Return an operation on numbers as kernels write it."""
    op, of = stmt.op, stmt.args[-1].type if stmt.args else ty
    if op.random or not op.is_expression:
        raise refused(stmt, "random draws" if op.random else f"`{op.name}`")
    if op.ufunc is not None and not op.ufunc.device:
        raise refused(stmt, f"`scipy.special.{op.ufunc.name}`, here or in a derivative,")
    if op in _OF_INTEGERS and of.dtype[0] in "iu":
        found: Expr = Call(_OF_INTEGERS[op], tuple(args))
    elif op in _SHIFTS:
        found = Call(_SHIFTS[op], (*args, Constant(8 * of.numpy.itemsize)))
    else:
        found = expressions.apply(op, stmt.params, args, ty, of)
    if ty.dtype == "f32" and not (op.converts or op is arith.select):
        found = Call("float32", (found,))
    return found


def site(stmt: Check | Print) -> Site:
    error = stmt.error if isinstance(stmt, Check) else ""
    to = stmt.to if isinstance(stmt, Print) else ""
    return Site(error, stmt.message, tuple(str(arg.type) for arg in stmt.args), stmt.loc, to)


def refused(stmt: Stmt, what: str = "") -> DeviceError:
    return DeviceError(
        f'{what or f"{type(stmt).__name__.lower()} statements"} cannot run with target="cuda" yet',
        stmt.loc,
        "leave out `target`",
    )
