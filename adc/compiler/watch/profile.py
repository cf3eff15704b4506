"""Time and bytes of every line of a derivative: `Derivative.profile` and ``adc profile``.

Code with marks (`adc.backend.cpu.profile`) and the code that calls run are run in turn, on
arguments that are read once. What is sampled is the first, how much the marks cost is the
difference.
"""

from __future__ import annotations

import ast
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adc import library
from adc.compiler import cache
from adc.compiler.compiled import Compiled, alone
from adc.frontend.inputs import flatten
from adc.functions import name_of, span_of
from adc.inspect.profile import Bytes, Line, Profile, Time
from adc.ir.analysis.memory.escape import stacked
from adc.ir.analysis.sizes.formulas import Known, names_of
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.core import Apply, walk
from adc.ir.errors import ArgumentError, AssumptionError
from adc.ir.text.outside import calls_outside
from adc.ir.types import Array
from adc.passes.remat.plan import HELD, KEPT, RECOMPUTED

if TYPE_CHECKING:
    from adc.backend.cpu import Kernel
    from adc.backend.cpu.profile import Marked
    from adc.compiler.dispatch import Code

# A share of the time beyond which marks inside of loops are left out.
_DEAR = 0.05
# Each kind of code is run in about so many turns.
_TURNS = 15
# What `Key` stands for: file, line and function.
Key = tuple[str, int, str]


def profile(
    code: Code, values: tuple[Any, ...], seconds: float, accepted: float = _DEAR
) -> Profile:
    """Return where the calls with these arguments spend their time, within about `seconds`.

    Marks inside of loops are left out, which takes another compilation, if with them a call takes
    longer by more than the share `accepted`.
    """
    options = code.options
    if options.target != "cpu":
        raise ArgumentError(
            f"a profile is of code for the CPU, and {name_of(code.fn)}() has target="
            f'"{options.target}"',
            span_of(code.fn),
            'use target="cpu", or the profiler of that target',
        )
    compiled, hidden = code.find(values)
    alone(compiled.lowered, values, "a profile")
    run = _Run(compiled, values, hidden)
    try:
        run.once()
    except AssumptionError:
        compiled = code.generalised(values)
        run = _Run(compiled, values, compiled.hidden(values) or [])
        run.once()
    marked = run.sampled(seconds, coarse=False)
    if marked.overhead > accepted:
        other = run.sampled(seconds, coarse=True)
        marked = min(marked, other, key=lambda each: abs(each.overhead))
    return replace(marked, name=name_of(code.fn), file=code.fn.__code__.co_filename)


class _Run:
    """Runs the code for some arguments repeatedly."""

    def __init__(self, compiled: Compiled, values: tuple[Any, ...], hidden: Sequence[Any]) -> None:
        from adc.backend.cpu import Kernel

        self.compiled, self.values = compiled, values
        lowered = compiled.lowered
        args = [*compiled.signature.leaves(values), *hidden]
        for each in lowered.generators:  # which are not advanced
            args[each.position] = flatten.words(each.place.read(values))
        self.args = args
        self.table = calls_outside(lowered.fn)
        self.fn = compiled.compilation.fn
        entry = compiled.entry.kernel
        # With memory of its own; and what it prints, it prints once.
        self.plain = Kernel(entry.emitted, entry.code, entry.offload, self.table, quiet=True)
        self.plain.threads = entry.threads
        self.known = names_of(
            {
                param.name: size
                for param, size in zip(lowered.fn.params, map(_size, args), strict=False)
                if size is not None
            }
        )

    def once(self) -> None:
        """Run the code as a call does."""
        self.compiled._check(self.values, self.args)
        self.compiled.entry.kernel.run(self.given(self.compiled.entry.kernel), self.reserved)

    @property
    def reserved(self) -> dict[str, int] | None:
        return self.compiled._needs(self.args) if self.compiled.budget is not None else None

    def given(self, kernel: Kernel) -> list[Any]:
        args = [*self.args, *self.compiled.ones]
        return [make(arg) for make, arg in zip(kernel.converters, args, strict=True)]

    def marked(self, coarse: bool) -> tuple[Kernel, Marked]:
        """Compile the code with marks."""
        from adc.backend import cpu
        from adc.backend.cpu.profile import WORDS, emit_marked

        entry = self.compiled.entry.kernel
        with cache.LOCK:
            # What parameters are passed as is the same as in the code that calls run.
            found = emit_marked(self.fn, sorted(self.compiled.lowered.stacks), coarse=coarse)
            code = cpu.build(found.emitted)
        kernel = cpu.Kernel(found.emitted, code, entry.offload, self.table, words=WORDS, quiet=True)
        kernel.threads = entry.threads
        return kernel, found

    def sampled(self, seconds: float, coarse: bool) -> Profile:
        from adc.backend.cpu.sampler import Sampler

        kernel, marked = self.marked(coarse)
        plain, args, reserved = self.plain, self.given(kernel), self.reserved
        plain.run(args, reserved)
        kernel.run(args, reserved)
        one = min(_timed(plain, args, reserved, 1).wall for _ in range(3))
        often = max(int(seconds / 2 / _TURNS / max(one, 1e-7)), 1)
        marks: list[_Times] = []
        without: list[_Times] = []
        sampler = Sampler(kernel.states, marked.base)
        end = time.perf_counter() + seconds
        while not marks or time.perf_counter() < end:
            without.append(_timed(plain, args, reserved, often))
            with sampler.reading():
                marks.append(_timed(kernel, args, reserved, often))
        total, bare = (statistics.median([each.wall for each in some]) for some in (marks, without))
        # Of turns next to each other, and of the time that this thread had a processor: what other
        # programs do must not count.
        ratios = [one.own / other.own for one, other in zip(marks, without, strict=True)]
        samples = list(sampler.samples())
        lines = self.lines(marked, samples, total)
        outside = sum(1 for mark, _ in samples if not mark)
        return Profile(
            name="",
            file="",
            lines=tuple(lines),
            seconds=total,
            plain=bare,
            overhead=statistics.median(ratios) - 1.0,
            calls=often * len(marks),
            samples=len(samples),
            outside=total * outside / max(len(samples), 1),
            threads=kernel.threads,
            peak=kernel.peak,
            coarse=coarse,
        )

    def lines(
        self, marked: Marked, samples: Sequence[tuple[int, list[int]]], total: float
    ) -> list[Line]:
        """Return the lines that take time or memory."""
        times: dict[Key, Time] = defaultdict(Time)
        with_calls: dict[Key, float] = defaultdict(float)
        each = total / max(len(samples), 1)
        for mark, calls in samples:
            around = [marked.marks[call][0][0] for call in calls if 0 < call < len(marked.marks)]
            backward = any(place.reverse for place in around)
            if not 0 < mark < len(marked.marks):
                continue
            outer = [where for call in around for where in call.chain]
            for place, share in marked.marks[mark]:
                stack = _own([*outer, *place.chain])
                if not stack:
                    continue
                key, spent = stack[-1], each * share
                times[key] = times[key].plus(spent, place.reverse or backward)
                for where in set(stack):
                    with_calls[where] += spent
        sizes = self.bytes()
        keys = {*times, *with_calls, *sizes}
        return [
            Line(*key, times[key], with_calls[key], sizes.get(key, Bytes()))
            for key in sorted(keys, key=lambda key: (key[0], key[1], key[2]))
        ]

    def bytes(self) -> dict[Key, Bytes]:
        """Return the bytes of every line: those kept for reverse code, and those of new arrays."""
        found: dict[Key, Bytes] = defaultdict(Bytes)
        plan = self.compiled.plan
        for entry in plan.entries if plan is not None else ():
            key = (entry.file, entry.line, entry.function)
            if not entry.line or not _own([key]):
                continue
            if entry.decision in (KEPT, HELD) and "leaf" not in _WORD.findall(entry.bytes):
                found[key] = found[key].keeping(_number(entry.bytes, self.known))
            elif entry.decision == RECOMPUTED:
                found[key] = replace(found[key], recomputed=found[key].recomputed + 1)
        for loop in plan.loops if plan is not None else ():  # with all that is kept of iterations
            key = (loop.entry.file, loop.entry.line, loop.entry.function)
            found[key] = found[key].keeping(loop.bytes)
        functions = (*self.fn.callees, self.fn)
        for fn in functions:
            symbols, on_stack = Symbols(fn), stacked(fn, functions)
            for stmt in walk(fn.body):
                if not (isinstance(stmt, Apply) and _makes_memory(stmt)) or stmt.loc is None:
                    continue
                if stmt.result in on_stack or (fn is self.fn and stmt.result in fn.results):
                    continue
                stack = _own([(each.file, each.line, each.function) for each in stmt.loc.chain()])
                if not stack:
                    continue
                size = symbols.bytes(stmt.result).value(Known(self.known if fn is self.fn else {}))
                found[stack[-1]] = found[stack[-1]].making(size)
        return found


# NumPy's algorithms as adc has them: what they take counts for the line that calls them.
_LIBRARY = str(Path(library.__file__).parent)


def _own(stack: Sequence[Key]) -> list[Key]:
    """Return the lines of a stack of calls that are the user's."""
    return [where for where in stack if not where[0].startswith(_LIBRARY)]


def _makes_memory(stmt: Apply) -> bool:
    """Whether a statement makes an array in new memory."""
    if not isinstance(stmt.result.type, Array) or stmt.op.aliases or stmt.op.undefined:
        return False
    lent = bool(stmt.args) and isinstance(stmt.args[-1].type, Array) and stmt.op.sizes is not None
    return not lent


def _size(arg: Any) -> int | tuple[int, ...] | None:
    shape = getattr(arg, "shape", None)
    if shape:
        return tuple(map(int, shape))
    try:
        return int(arg) if arg == int(arg) else None
    except (TypeError, ValueError, OverflowError):
        return None


_WORD = re.compile(r"[^\W\d][\w.]*")


def _number(formula: str, known: Mapping[str, int]) -> int | None:
    """Return the number of a sum of products of names, None if a name is not known.

    >>> _number("8*n + 16*x.dim0*n", {"n": 2, "x.dim0": 3}), _number("8*L0.n", {})
    (112, None)
    """
    if any(name not in known for name in _WORD.findall(formula)):
        return None
    text = _WORD.sub(lambda found: str(known[found[0]]), formula)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    plain = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    if not all(isinstance(node, plain) for node in ast.walk(tree)):
        return None
    return int(eval(compile(tree, "<formula>", "eval")))


class _Times(NamedTuple):
    """Seconds of a call, and those for which its thread had a processor."""

    wall: float
    own: float


def _timed(
    kernel: Kernel, args: list[Any], reserved: Mapping[str, int] | None, often: int
) -> _Times:
    """Return the times of a call, of so many in a row."""
    run = kernel.run
    own, start = time.thread_time(), time.perf_counter()
    for _ in range(often):
        run(args, reserved)
    wall = time.perf_counter() - start
    return _Times(wall / often, max(time.thread_time() - own, 1e-9) / often)


__all__ = ["profile"]
