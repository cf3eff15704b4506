"""How much memory a call uses beyond its arguments and results: a formula in sizes and trips.

The function, in its last form, is run on symbols: sizes of arguments are names, loops run once and
count by their trips. What lies in the workspace adds up until an iteration or a call ends; what is
pushed adds up until it is popped. The formula is the most bytes of the workspace plus the most of
each tape: so much is held, whenever each of them is fullest. Alignment is left out.

Sizes and trips that only the run knows (the iterations of a `while`, integers that are loaded from
arrays) stay in the formula under their names, and then there is no number before a call. Arrays
that a loop hands on from one iteration to the next, and is not done with at its end, have memory of
their own and are not counted; `Peak.more` says that there are some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    If,
    Literal,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
)
from adc.ir.escape import escaping
from adc.ir.types import Array, Type
from adc.ir.walk import use_counts

# A name, or a function of sums: max, min, // and the length of a range.
Atom = str | tuple[str, tuple["Sum", ...]]
_FUNCTIONS = {"maximum": "max", "minimum": "min", "floordiv": "//", "trips": "trips"}


@dataclass(frozen=True)
class Sum:
    """Terms: a coefficient by the factors that it is multiplied with."""

    terms: tuple[tuple[tuple[Atom, ...], int], ...] = ()

    @staticmethod
    def of(terms: Mapping[tuple[Atom, ...], int]) -> Sum:
        kept = [(atoms, count) for atoms, count in terms.items() if count]
        return Sum(tuple(sorted(kept, key=lambda term: (-len(term[0]), repr(term[0])))))

    @staticmethod
    def number(value: int) -> Sum:
        return Sum.of({(): value})

    @staticmethod
    def atom(atom: Atom) -> Sum:
        return Sum.of({(atom,): 1})

    def __add__(self, other: Sum) -> Sum:
        found = dict(self.terms)
        for atoms, count in other.terms:
            found[atoms] = found.get(atoms, 0) + count
        return Sum.of(found)

    def __sub__(self, other: Sum) -> Sum:
        return self + other * Sum.number(-1)

    def __mul__(self, other: Sum) -> Sum:
        found: dict[tuple[Atom, ...], int] = {}
        for a, n in self.terms:
            for b, m in other.terms:
                atoms = tuple(sorted((*a, *b), key=repr))
                found[atoms] = found.get(atoms, 0) + n * m
        return Sum.of(found)

    def is_positive(self) -> bool:
        """Whether no term is taken away: names stand for sizes, which are not negative."""
        return all(count >= 0 for _, count in self.terms)

    def max(self, other: Sum) -> Sum:
        if (self - other).is_positive():
            return self
        if (other - self).is_positive():
            return other
        return Sum.atom(("max", tuple(sorted({self, other}, key=repr))))

    def __str__(self) -> str:
        found = ""
        for atoms, count in self.terms:
            factors = [_text(atom) for atom in atoms]
            if abs(count) != 1 or not factors:
                factors.insert(0, str(abs(count)))
            sign = " - " if count < 0 else " + "
            found += (sign if found or count < 0 else "") + "*".join(factors)
        return found.strip() or "0"

    def value(self, names: Mapping[str, int]) -> int | None:
        """Return the number, None if a name is not among `names`."""
        total = 0
        for atoms, count in self.terms:
            for atom in atoms:
                number = _number(atom, names)
                if number is None:
                    return None
                count *= number
            total += count
        return total

    def names(self) -> set[str]:
        """Return all names, those in functions, too."""
        found: set[str] = set()
        for atoms, _ in self.terms:
            for atom in atoms:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    found.update(*(each.names() for each in atom[1]))
        return found


def _text(atom: Atom) -> str:
    if isinstance(atom, str):
        return atom
    name, args = atom
    if name == "//":
        return f"(({args[0]})//({args[1]}))"
    return f"{name}({', '.join(map(str, args))})"


def _number(atom: Atom, names: Mapping[str, int]) -> int | None:
    if isinstance(atom, str):
        return names.get(atom)
    name, args = atom
    found: list[int] = []
    for arg in args:
        value = arg.value(names)
        if value is None:
            return None
        found.append(value)
    match name:
        case "max":
            return max(found)
        case "min":
            return min(found)
        case "trips":
            return len(range(*found))
        case _:
            return found[0] // found[1] if found[1] else None


_ZERO = Sum()


@dataclass(frozen=True)
class Peak:
    """The most bytes that a call holds.

    Attributes
    ----------
    size : Sum
        The formula.
    names : tuple of (name, position, axis)
        Which names are sizes of arguments, or, where the axis is -1, integer arguments.
    more : bool
        Whether loops hand on arrays that are not counted.
    bound : bool
        Whether a call may need less: the arm of a branch that needs most is counted.
    """

    size: Sum
    names: tuple[tuple[str, int, int], ...]
    more: bool
    bound: bool = False

    def __str__(self) -> str:
        more = " + arrays that loops hand on" if self.more else ""
        return f"{'at most ' if self.bound else ''}{self.size}{more}"

    @staticmethod
    def from_data(data: Any) -> Peak:
        """Return what `dataclasses.asdict` made plain."""
        names = tuple((name, position, axis) for name, position, axis in data["names"])
        return Peak(_sum(data["size"]), names, data["more"], data["bound"])

    def at(self, arguments: Sequence[object]) -> int | None:
        """Return the number for the arguments of a kernel, None if only a run can tell."""
        if self.more:
            return None
        found: dict[str, int] = {}
        for name, position, axis in self.names:
            argument: Any = arguments[position]
            found[name] = int(argument.shape[axis] if axis >= 0 else argument)
        return self.size.value(found)


def _sum(data: Any) -> Sum:
    def atom(found: Any) -> Atom:
        return found if isinstance(found, str) else (found[0], tuple(map(_sum, found[1])))

    return Sum(tuple((tuple(map(atom, atoms)), count) for atoms, count in data["terms"]))


@dataclass
class _Env:
    """What is known of the values of one function."""

    counts: Mapping[Value, int]
    escaping: frozenset[Value]
    prefix: str = ""
    numbers: dict[Value, Sum] = field(default_factory=dict)
    shapes: dict[Value, tuple[Sum, ...]] = field(default_factory=dict)


class _Run:
    def __init__(self, fn: Function) -> None:
        self._functions = {each.name: each for each in (*fn.callees, fn)}
        self._main = fn.name
        self._stack: list[str] = []
        self.top = self.peak = _ZERO
        self.tapes: dict[str, Sum] = {}
        self.tape_peaks: dict[str, Sum] = {}
        self.more = self.bound = False

    # -- values ----------------------------------------------------------------------------

    def number(self, operand: Operand, env: _Env) -> Sum:
        if isinstance(operand, Literal):
            return Sum.number(int(operand.value))
        known = env.numbers.get(operand)
        return Sum.atom(env.prefix + operand.name) if known is None else known

    def shape(self, array: Operand, env: _Env) -> tuple[Sum, ...]:
        assert isinstance(array, Value)
        assert isinstance(array.type, Array)
        known = env.shapes.get(array)
        if known is not None:
            return known
        return tuple(
            Sum.atom(f"{env.prefix}{array.name}.dim{axis}") for axis in range(array.type.rank)
        )

    def bytes(self, ty: Type, shape: Sequence[Sum]) -> Sum:
        found = Sum.number(ty.numpy.itemsize)
        for size in shape:
            found = found * size
        return found

    # -- statements ------------------------------------------------------------------------

    def function(
        self, fn: Function, numbers: dict[Value, Sum], shapes: dict[Value, tuple[Sum, ...]]
    ) -> _Env:
        inner = "" if fn.name == self._main else f"{fn.name}: "
        env = _Env(use_counts(fn), escaping(fn), inner, numbers, shapes)
        results = {result for result in fn.results if isinstance(result, Value)}
        # A result of the main function is the user's, and one of a callee its caller's.
        self.more |= bool(env.escaping - results) or (bool(inner) and bool(env.escaping))
        self._stack.append(fn.name)
        self.block(fn.body, env)
        self._stack.pop()
        return env

    def block(self, stmts: Sequence[Stmt], env: _Env) -> None:
        for stmt in stmts:
            match stmt:
                case Apply():
                    self.apply(stmt, env)
                case Push(values=values):
                    for value in values:
                        shape: tuple[Sum, ...] = ()
                        if isinstance(value.type, Array):
                            shape = self.shape(value, env)
                            self.move("i64", Sum.number(8 * len(shape)))
                        self.move(value.type.dtype, self.bytes(value.type, shape))
                case Pop(results=results):
                    for value in results:
                        shape = ()
                        if isinstance(value.type, Array):
                            shape = self.shape(value, env)
                            self.move("i64", Sum.number(-8 * len(shape)))
                            self.made(value, env)
                        size = self.bytes(value.type, shape)
                        self.move(value.type.dtype, _ZERO - size)
                case If(then=then, orelse=orelse):
                    self.branch(stmt, then, orelse, env)
                case For() | While():
                    self.loop(stmt, env)
                case Call():
                    self.call(stmt, env)

    def move(self, dtype: str, size: Sum) -> None:
        after = self.tapes.get(dtype, _ZERO) + size
        self.tapes[dtype] = after
        self.tape_peaks[dtype] = self.tape_peaks.get(dtype, _ZERO).max(after)

    def made(self, array: Value, env: _Env) -> None:
        """Note that an array is taken from the workspace."""
        if array not in env.escaping and env.counts.get(array):
            self.top = self.top + self.bytes(array.type, self.shape(array, env))
            self.peak = self.peak.max(self.top)

    def apply(self, stmt: Apply, env: _Env) -> None:
        name, result, args = stmt.op.name, stmt.results[0], stmt.args
        if isinstance(result.type, Array):
            memory = [arg for arg in args if isinstance(arg.type, Array)]
            if name in ("empty", "full"):
                sizes = [arg for arg in args[int(name == "full") :] if arg not in memory]
                env.shapes[result] = tuple(self.number(size, env) for size in sizes)
            elif memory:
                env.shapes[result] = self.shape(memory[0], env)
            else:  # `undef`
                env.shapes[result] = (_ZERO,) * result.type.rank
            if name != "over" and not (name in ("empty", "full") and memory):
                self.made(result, env)
        elif result.type.kind in "iu":
            found = self.integer(stmt, env)
            if found is not None:
                env.numbers[result] = found

    def integer(self, stmt: Apply, env: _Env) -> Sum | None:
        if stmt.op.name == "dim":
            axis = stmt.params[0]
            assert isinstance(axis, int)
            return self.shape(stmt.args[0], env)[axis]
        if any(arg.type.kind not in "iu" or isinstance(arg.type, Array) for arg in stmt.args):
            return None
        args = [self.number(arg, env) for arg in stmt.args]
        match stmt.op.name:
            case "add":
                return args[0] + args[1]
            case "sub":
                return args[0] - args[1]
            case "mul":
                return args[0] * args[1]
            case "neg":
                return _ZERO - args[0]
            case "cast":
                return args[0]
            case "maximum" if all(arg.is_positive() for arg in args):
                return args[0].max(args[1])
            case "maximum" | "minimum" | "floordiv" | "trips" as name:
                return Sum.atom((_FUNCTIONS[name], tuple(args)))
        return None

    def branch(self, stmt: If, then: Block, orelse: Block, env: _Env) -> None:
        top, tapes = self.top, dict(self.tapes)
        self.block(then.stmts, env)
        other_top, other_tapes = self.top, self.tapes
        self.top, self.tapes = top, tapes
        self.block(orelse.stmts, env)
        self.bound |= (self.top, self.tapes) != (other_top, other_tapes)
        self.top = self.top.max(other_top)
        for dtype, size in other_tapes.items():
            self.tapes[dtype] = self.tapes.get(dtype, _ZERO).max(size)
        for result, a, b in zip(stmt.results, then.yields, orelse.yields, strict=True):
            if isinstance(result.type, Array):
                if self.shape(a, env) == self.shape(b, env):
                    env.shapes[result] = self.shape(a, env)
            elif result.type.kind in "iu" and self.number(a, env) == self.number(b, env):
                env.numbers[result] = self.number(a, env)

    def loop(self, stmt: For | While, env: _Env) -> None:
        first = int(isinstance(stmt, While))
        if isinstance(stmt, While):
            trips = Sum.atom(f"{env.prefix}{stmt.label}.n")
        else:
            trips = self.number(stmt.trips, env)
        arrays = [k for k, p in enumerate(stmt.body.params) if isinstance(p.type, Array)]
        for k in arrays:
            env.shapes[stmt.body.params[k]] = self.shape(stmt.init[k], env)
        top, before = self.top, dict(self.tapes)
        peaks, peak, more = dict(self.tape_peaks), self.peak, self.more
        self.block(stmt.body.stmts, env)
        changed = [k for k in arrays
                   if self.shape(stmt.body.yields[k + first], env)
                   != self.shape(stmt.init[k], env)]  # fmt: skip
        if changed:  # once more: arrays change their sizes from iteration to iteration
            self.top, self.tapes, self.tape_peaks = top, dict(before), dict(peaks)
            self.peak, self.more = peak, more
            for k in changed:
                del env.shapes[stmt.body.params[k]]
            self.block(stmt.body.stmts, env)
        self.top = top
        for k in arrays:
            if k not in changed:
                env.shapes[stmt.results[k]] = self.shape(stmt.init[k], env)
        for dtype, after in self.tapes.items():
            old = before.get(dtype, _ZERO)
            grown = after - old
            self.tapes[dtype] = old + trips * grown
            if grown.is_positive():  # the last iteration is the one that needs most
                inside = self.tape_peaks[dtype]
                known = peaks.get(dtype, _ZERO)
                if inside != known:
                    inside = inside + trips * grown - grown
                self.tape_peaks[dtype] = inside.max(known)

    def call(self, stmt: Call, env: _Env) -> None:
        fn = self._functions[stmt.callee]
        if fn.name in self._stack:  # how deep, only the run knows
            self.peak = self.peak + Sum.atom(f"{fn.name}.calls")
            return
        numbers: dict[Value, Sum] = {}
        shapes: dict[Value, tuple[Sum, ...]] = {}
        for param, arg in zip(fn.params, stmt.args, strict=True):
            if isinstance(param.type, Array):
                shapes[param] = self.shape(arg, env)
            elif param.type.kind in "iu":
                numbers[param] = self.number(arg, env)
        top = self.top
        inner = self.function(fn, numbers, shapes)
        self.top = top
        for result, own in zip(stmt.results, fn.results, strict=True):
            if isinstance(result.type, Array):
                env.shapes[result] = self.shape(own, inner)
            elif result.type.kind in "iu":
                env.numbers[result] = self.number(own, inner)


def peak(fn: Function) -> Peak:
    """Return how much memory a call of `fn`, which is in its last form, uses."""
    run = _Run(fn)
    names: dict[str, tuple[int, int]] = {}
    for position, param in enumerate(fn.params):
        if isinstance(param.type, Array):
            for axis in range(param.type.rank):
                names[f"{param.name}.dim{axis}"] = (position, axis)
        elif param.type.kind in "iu":
            names[param.name] = (position, -1)
    run.function(fn, {}, {})
    size = run.peak
    for most in run.tape_peaks.values():
        size = size + most
    used = size.names()
    return Peak(size, tuple((n, *at) for n, at in names.items() if n in used), run.more, run.bound)
