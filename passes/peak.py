"""How much memory a call uses beyond its arguments and results: a formula in sizes and trips.

The function, in its last form, is run on symbols: sizes of arguments are names, loops run once and
count by their trips. What lies in the workspace adds up until an iteration or a call ends; what is
pushed adds up until it is popped. Arrays that a loop hands on from one iteration to the next own
their memory: it is theirs as long as a variable of the emitted code holds them, that is until the
variable is assigned again or the function ends. The formula is the most bytes of the workspace plus
the most of each tape plus the most of such arrays: so much is held, whenever each of them is
fullest. Alignment is left out, and so is that LLVM may hold an array for an iteration longer where
it unrolls a loop.

Where data decides (the iterations of a `while`, how many elements a mask selects), the names of
what decides stay in the formula, and it has no number before a call. Of a branch the arm that needs
more counts until a run tells which one is taken.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    blocks,
    walk,
)
from adc.ir.escape import escaping, handed_on, holding, let_go
from adc.ir.types import Array, Type
from adc.ir.walk import inner_values, use_counts
from adc.passes import formulas
from adc.passes.formulas import Known, Sum
from adc.passes.owners import Owners, State, Token, copies

_FUNCTIONS = {"maximum": "max", "minimum": "min", "floordiv": "//", "trips": "range"}
# After so many iterations a loop hands on as many arrays as ever.
_ROUNDS = 12
_ZERO = Sum()
_ONE = Sum.number(1)


@dataclass(frozen=True)
class Peak:
    """The most bytes that a call holds.

    Attributes
    ----------
    size : Sum
        What it takes from the workspace and the tapes.
    own : Sum
        The arrays that own their memory.
    names : tuple of (name, position, axis)
        Which names are sizes of arguments, or, where the axis is -1, integer arguments.
    lines : tuple of (name, line)
        Where the other names come from: ``W0.n`` are the iterations of a `while` loop, ``x.dim0``
        is a size of the array ``x``.
    bound : bool
        Whether a call may need less, even if all names are known.
    functions : tuple of (name, formula)
        What the calls of recursive functions need.
    tapes : tuple of (dtype, formula)
        What a call takes from each tape.
    disk : Sum
        What all tapes take where they are in files; that is no part of `size`.
    """

    size: Sum
    own: Sum
    names: tuple[tuple[str, int, int], ...]
    lines: tuple[tuple[str, int], ...] = ()
    bound: bool = False
    functions: tuple[tuple[str, Sum], ...] = ()
    tapes: tuple[tuple[str, Sum], ...] = ()
    disk: Sum = _ZERO

    def __str__(self) -> str:
        whole = self.size + self.own
        return f"{'at most ' if self.bound or 'if' in whole.kinds else ''}{whole}"

    def legend(self) -> str:
        """Return where the names come from that no argument tells, "" if there are none."""
        return ", ".join(f"{name} of line {line}" for name, line in self.lines)

    @staticmethod
    def from_data(data: Any) -> Peak:
        """Return what `dataclasses.asdict` made plain."""
        return Peak(
            Sum.from_data(data["size"]),
            Sum.from_data(data["own"]),
            tuple((name, position, axis) for name, position, axis in data["names"]),
            tuple((name, line) for name, line in data["lines"]),
            data["bound"],
            tuple((name, Sum.from_data(size)) for name, size in data["functions"]),
            tuple((dtype, Sum.from_data(size)) for dtype, size in data["tapes"]),
            Sum.from_data(data["disk"]),
        )

    def at(
        self, arguments: Sequence[object], counts: Mapping[str, int] | None = None
    ) -> int | None:
        """Return the number for the arguments of a kernel, None if only a run can tell.

        `counts` are numbers to take for names that no argument tells, as ``{"W0.n": 10}``.
        """
        return (self.size + self.own).value(Known(self._names(arguments, counts)))

    def tapes_at(self, arguments: Sequence[object]) -> dict[str, int]:
        """Return the bytes that a call needs of each tape, where they are known."""
        known = Known(self._names(arguments))
        found = {dtype: size.value(known) for dtype, size in self.tapes}
        return {dtype: size for dtype, size in found.items() if size is not None}

    def _names(
        self, arguments: Sequence[object], counts: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        found: dict[str, int] = dict(counts or {})
        for name, position, axis in self.names:
            argument: Any = arguments[position]
            found[name] = int(argument.shape[axis] if axis >= 0 else argument)
        return found

    def at_sizes(
        self, sizes: Mapping[str, int | Sequence[int]], params: Sequence[str]
    ) -> int | None:
        """Return the number for integers and shapes, by the names of the parameters."""
        found: dict[str, int] = {}
        for name, position, axis in self.names:
            size = sizes[params[position]]
            found[name] = size if isinstance(size, int) else size[axis]
        return (self.size + self.own).value(Known(found))


# What a call to a recursive function needs: its formulas, by what they are of.
_WORK, _OWN = "workspace", "arrays"
_Sizes = dict[str, Sum]  # by tape


@dataclass
class _Env:
    """What is known of the values of one function."""

    fn: Function
    owners: Owners
    counts: Mapping[Value, int]
    escaping: frozenset[Value]
    prefix: str = ""
    numbers: dict[Value, Sum] = field(default_factory=dict)
    shapes: dict[Value, tuple[Sum, ...]] = field(default_factory=dict)
    # What is positive if a condition holds.
    conditions: dict[Value, Sum] = field(default_factory=dict)
    # Which of them hold, in the arm of a branch.
    assumed: dict[Sum, bool] = field(default_factory=dict)
    # Main results that are the user's from the start.
    results: frozenset[Value] = frozenset()
    # Whose variables may hold arrays, and which of them need not once the next loop has begun.
    held: frozenset[Value] = frozenset()
    entered: tuple[Value, ...] = ()

    def name(self, text: str) -> Sum:
        return Sum.atom(self.prefix + text)

    def here(self, number: Sum) -> Sum:
        """Return what a number is in this arm, where it is what another branch has returned."""
        atoms, count = number.terms[0] if len(number.terms) == 1 else ((), 0)
        if count == 1 and len(atoms) == 1 and isinstance(atoms[0], formulas.Function):
            choice = atoms[0]
            if choice.kind == "if" and choice.args[0] in self.assumed:
                return self.here(choice.args[1 if self.assumed[choice.args[0]] else 2])
        return number


@dataclass
class _Item:
    """What one statement has pushed.

    A `frame` are the numbers and the shapes that are known of what a `Push` pushes, `parts` the
    items of the blocks of other statements.
    """

    sizes: _Sizes
    frame: tuple[Sum | tuple[Sum, ...] | None, ...] = ()
    parts: tuple[tuple[_Item, ...], ...] = ()

    def where(self, known: Callable[[Sum], bool]) -> _Item:
        """Return what is left of this where only some formulas are known."""
        frame = tuple(
            each if all(map(known, (each,) if isinstance(each, Sum) else each or ())) else None
            for each in self.frame
        )
        parts = tuple(tuple(item.where(known) for item in part) for part in self.parts)
        return _Item(self.sizes, frame, parts)


@dataclass
class _Need:
    """What a stretch of code needs beyond what there was when it began.

    `top` and `tapes` are in use at its end, `work`, `most` and `own` are the most in use.
    """

    top: Sum = _ZERO
    work: Sum = _ZERO
    tapes: _Sizes = field(default_factory=dict)
    most: _Sizes = field(default_factory=dict)
    own: Sum = _ZERO
    # What was pushed and not yet popped, and how much was popped that lay there before.
    stack: list[_Item] = field(default_factory=list)
    taken: list[_Sizes] = field(default_factory=list)
    # What lay there before, as far as it is known.
    supply: list[_Item] = field(default_factory=list)

    def reach(self, work: Sum) -> None:
        self.work = self.work.max(self.top + work)

    @property
    def newest(self) -> _Item:
        """What would be popped next."""
        return next(reversed(self.stack or self.supply), _Item({}))

    def pushed(self) -> _Sizes:
        return _added([item.sizes for item in self.stack])

    def add(self, popped: _Sizes | None, pushed: _Item | None, most: _Sizes) -> None:
        """Add what pops something off the tapes, leaves something there, or neither.

        What is popped is what was pushed last, or `popped` if that lay there before.
        """
        for dtype, size in most.items():
            now = self.tapes.get(dtype, _ZERO)
            self.most[dtype] = self.most.get(dtype, _ZERO).max(now + size)
        if popped is not None:
            if self.stack:
                popped = self.stack.pop().sizes
            else:
                self.taken.append(popped)
                del self.supply[-1:]
            self._move(popped, -1)
        if pushed is not None:
            self.stack.append(pushed)
            self._move(pushed.sizes, 1)

    def _move(self, sizes: _Sizes, sign: int) -> None:
        for dtype, size in sizes.items():
            self.tapes[dtype] = self.tapes.get(dtype, _ZERO) + size * Sum.number(sign)


@dataclass
class _Machine:
    """The schedule of a checkpointed loop, and what it puts on the tapes.

    `frame` is what a snapshot takes, `step` what an iteration of the leaf keeps, and `extra` what
    it and its reverse code need beyond that.
    """

    args: tuple[Sum, ...]
    frame: _Sizes = field(default_factory=dict)
    step: _Sizes = field(default_factory=dict)
    extra: _Sizes = field(default_factory=dict)

    def most(self) -> _Sizes:
        """Return the most that there is on the tapes, beyond the snapshots of the first run."""
        sweeps = Sum.function("sweeps", *self.args)
        whole = self.tapes("tape", self.args)
        return {
            dtype: size - sweeps * self.frame.get(dtype, _ZERO) for dtype, size in whole.items()
        }

    def fullest(self) -> _Sizes:
        """Return the most that there is on the tapes, however many iterations there are."""
        return self.tapes("fullest", self.args[1:])

    def tapes(self, kind: str, args: Sequence[Sum]) -> _Sizes:
        found: _Sizes = {}
        for dtype in {**self.frame, **self.step, **self.extra}:
            frame, step = self.frame.get(dtype, _ZERO), self.step.get(dtype, _ZERO)
            whole = Sum.function(kind, *args, frame, step)
            found[dtype] = whole + self.extra.get(dtype, _ZERO)
        return found

    def needs(self, extra: _Sizes) -> None:
        for dtype, size in extra.items():
            self.extra[dtype] = self.extra.get(dtype, _ZERO).max(size)


@dataclass
class _Level:
    """What a function that runs iterations again holds while it calls itself.

    `same` are the results that are cotangents it was passed, changed in place.
    """

    same: frozenset[int]
    work: Sum = _ZERO
    own: Sum = _ZERO


def _added(found: Sequence[_Sizes]) -> _Sizes:
    sizes: _Sizes = {}
    for each in found:
        for dtype, size in each.items():
            sizes[dtype] = sizes.get(dtype, _ZERO) + size
    return sizes


def _either(cond: Sum, then: Sum, orelse: Sum) -> Sum:
    if then == orelse:
        return then
    if cond.constant is not None:
        return then if cond.constant > 0 else orelse
    return Sum.function("if", cond, then, orelse)


class _Run:
    def __init__(self, fn: Function, align: int, names: Mapping[int, str]) -> None:
        self._names = names
        self._functions = {each.name: each for each in (*fn.callees, fn)}
        self._main = fn.name
        self._align = align
        calls = {
            name: {s.callee for s in walk(each.body) if isinstance(s, Call)}
            for name, each in self._functions.items()
        }
        self._recursive = {name for name in calls if _reaches(calls, name, name)}
        self._directions = _directions(self._functions)
        self.need = _Need()
        self._owned: dict[Token, Sum] = {}
        self._inside: dict[str, frozenset[str]] = {}
        self._machines: dict[tuple[Sum, ...], _Machine] = {}
        # Those of the loops around, and the functions that run iterations again, as they are met.
        self._running: list[_Machine] = []
        self._again: dict[str, _Level] = {}
        self.formulas: dict[str, Sum] = {}
        self.bound = False

    # -- values ----------------------------------------------------------------------------

    def number(self, operand: Operand, env: _Env) -> Sum:
        if isinstance(operand, Literal):
            number = int(operand.value)
            return Sum.atom(self._names[number]) if number in self._names else Sum.number(number)
        known = env.numbers.get(operand)
        return env.name(operand.name) if known is None else env.here(known)

    def shape(self, array: Operand, env: _Env) -> tuple[Sum, ...]:
        assert isinstance(array, Value)
        known = env.shapes.get(array)
        return self.own_shape(array, env) if known is None else known

    def own_shape(self, array: Value, env: _Env) -> tuple[Sum, ...]:
        assert isinstance(array.type, Array)
        return tuple(env.name(f"{array.name}.dim{axis}") for axis in range(array.type.rank))

    def bytes(self, ty: Type, shape: Sequence[Sum]) -> Sum:
        found = Sum.number(ty.numpy.itemsize)
        for size in shape:
            found = found * size
        return found

    def condition(self, operand: Operand, env: _Env) -> Sum:
        if isinstance(operand, Value) and operand in env.conditions:
            return env.conditions[operand]
        return self.number(operand, env)

    def moves(self, stmts: Sequence[Stmt]) -> tuple[bool, bool]:
        return _moves(stmts, self._directions)

    # -- arrays that own their memory --------------------------------------------------------

    def made_own(self, array: Value, env: _Env) -> None:
        if array not in env.results:
            size = self.bytes(array.type, self.shape(array, env))
            # The variable holds what it held until this one is there.
            self.need.own = self.need.own.max(env.owners.bytes() + size)
            env.owners.hold(array, size)

    # -- statements ------------------------------------------------------------------------

    @contextmanager
    def part(self, supply: Sequence[_Item] = ()) -> Iterator[_Need]:
        """Count what a part of the code needs apart from the rest."""
        outer, self.need = self.need, _Need(supply=list(supply))
        yield self.need
        self.need = outer

    def function(
        self, fn: Function, numbers: dict[Value, Sum], shapes: dict[Value, tuple[Sum, ...]]
    ) -> _Env:
        main = fn.name == self._main
        prefix = "" if main else f"{fn.name}: "
        params = [] if main else [p for p in fn.params if isinstance(p.type, Array)]
        owners = Owners(self._owned, params)
        env = _Env(fn, owners, use_counts(fn), escaping(fn), prefix, numbers, shapes)
        env.held = holding(fn)
        if main:
            made = {v for stmt in fn.body if isinstance(stmt, Apply) for v in stmt.results}
            env.results = frozenset(made.intersection(fn.results))
        self.block(fn.body, env, fn.results)
        return env

    def block(self, stmts: Sequence[Stmt], env: _Env, later: Sequence[Operand]) -> None:
        """Run statements; `later` is read after them."""
        for stmt, (entered, after) in zip(stmts, let_go(stmts, later, env.held), strict=True):
            env.entered = entered
            match stmt:
                case Apply():
                    self.apply(stmt, env)
                case Push(values=values):
                    sizes = self.sizes(values, env)
                    self.need.add(None, _Item(sizes, self.frame(values, env)), sizes)
                case Pop(results=results):
                    self.pop(results, env)
                    self.need.add(self.sizes(results, env), None, {})
                case If(then=then, orelse=orelse):
                    self.branch(stmt, then, orelse, env)
                case For() | While():
                    self.loop(stmt, env)
                case Call():
                    self.call(stmt, env)
            if stmt is not env.fn.body[-1]:
                env.owners.let_go(after)

    def iteration(self, stmt: For | While, env: _Env) -> None:
        """Run an iteration, up to where carried values are assigned."""
        self.block(stmt.body.stmts, env, stmt.body.yields)

    def frame(
        self, values: Sequence[Operand], env: _Env
    ) -> tuple[Sum | tuple[Sum, ...] | None, ...]:
        found: list[Sum | tuple[Sum, ...] | None] = []
        for value in values:
            if isinstance(value.type, Array):
                found.append(self.shape(value, env))
            else:
                found.append(self.number(value, env) if value.type.kind in "iu" else None)
        return tuple(found)

    def pop(self, results: Sequence[Value], env: _Env) -> None:
        frame = self.need.newest.frame
        for value, known in zip(results, frame if len(frame) == len(results) else (), strict=False):
            if isinstance(value.type, Array) and isinstance(known, tuple):
                if len(known) == value.type.rank:
                    env.shapes[value] = known
            elif value.type.kind in "iu" and isinstance(known, Sum):
                env.numbers[value] = known
        for value in results:
            if isinstance(value.type, Array):
                self.made(value, env)

    def sizes(self, values: Sequence[Operand], env: _Env) -> _Sizes:
        found: list[_Sizes] = []
        for value in values:
            shape: tuple[Sum, ...] = ()
            if isinstance(value.type, Array):
                shape = self.shape(value, env)
                found.append({"i64": Sum.number(8 * len(shape))})
            found.append({value.type.dtype: self.bytes(value.type, shape)})
        return _added(found)

    def made(self, array: Value, env: _Env) -> None:
        """Note that an array is made."""
        if array in env.escaping:
            self.made_own(array, env)
        else:
            size = self.bytes(array.type, self.shape(array, env)).rounded(self._align)
            self.need.top = self.need.top + size
            self.need.reach(_ZERO)

    def apply(self, stmt: Apply, env: _Env) -> None:
        name, result, args = stmt.op.name, stmt.results[0], stmt.args
        if name == "slot":
            rank = int(stmt.params[1])
            each = [self.number(arg, env) for arg in args]
            most = _ZERO
            for k in range(0, len(each), rank):
                most = most.max(functools.reduce(operator.mul, each[k : k + rank], _ONE))
            env.shapes[result] = (most,)
            self.made(result, env)
        elif name == "row":
            env.shapes[result] = self.shape(args[0], env)[len(args) - 1 :]
            env.owners.move([result], [args[0]])
        elif isinstance(result.type, Array):
            memory = [arg for arg in args if isinstance(arg.type, Array)]
            if name in ("empty", "full"):
                sizes = [arg for arg in args[int(name == "full") :] if arg not in memory]
                env.shapes[result] = tuple(self.number(size, env) for size in sizes)
            elif memory:
                env.shapes[result] = self.shape(memory[0], env)
            else:  # `undef`
                env.shapes[result] = (_ZERO,) * result.type.rank
            if name != "over" and not (name in ("empty", "full") and memory):
                if env.counts.get(result):
                    self.made(result, env)
        elif result.type.kind in "iu":
            found = self.integer(stmt, env)
            if found is not None:
                env.numbers[result] = found
        elif name in ("lt", "le", "gt", "ge") and _integers(args):
            a, b = (self.number(arg, env) for arg in args)
            more = b - a if name in ("lt", "le") else a - b
            env.conditions[result] = more + _ONE if name in ("le", "ge") else more

    def integer(self, stmt: Apply, env: _Env) -> Sum | None:
        if stmt.op.name == "dim":
            axis = stmt.params[0]
            assert isinstance(axis, int)
            return self.shape(stmt.args[0], env)[axis]
        if not _integers(stmt.args):
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
            case "wrap":
                return _either(_ZERO - args[0], args[0] + args[1], args[0])
            case "maximum" if all(arg.is_positive() for arg in args):
                return args[0].max(args[1])
            case "sweeps" | "rest" as name:
                return Sum.function(name, *args)
            case "maximum" | "minimum" | "floordiv" | "trips" as name:
                found = Sum.function(_FUNCTIONS[name], *args)
                number = found.value(Known({})) if all(map(_constant, args)) else None
                return found if number is None else Sum.number(number)
        return None

    def branch(self, stmt: If, then: Block, orelse: Block, env: _Env) -> None:
        cond = self.condition(stmt.cond, env)
        before, ends = env.owners.states, list[State]()
        needs: list[_Need] = []
        kept = [k for k, result in enumerate(stmt.results) if isinstance(result.type, Array)]
        pops, pushes = self.moves((stmt,))
        supplies = self.need.newest.parts if pops and not pushes else ()
        assumed = env.assumed
        for number, arm in enumerate((then, orelse)):
            env.owners.states = copies(before)
            env.assumed = {**assumed, cond: number == 0}
            with self.part(supplies[number] if len(supplies) == 2 else ()) as need:
                self.block(arm.stmts, env, arm.yields)
                env.owners.move([stmt.results[k] for k in kept], [arm.yields[k] for k in kept])
                env.owners.let_go(handed_on(arm.stmts, arm.yields, env.held))
            needs.append(need)
            ends += env.owners.states
        env.assumed = assumed
        for result, a, b in zip(stmt.results, then.yields, orelse.yields, strict=True):
            if isinstance(result.type, Array):
                sizes = zip(self.shape(a, env), self.shape(b, env), strict=True)
                env.shapes[result] = tuple(_either(cond, *pair) for pair in sizes)
            elif result.type.kind in "iu":
                env.numbers[result] = _either(cond, self.number(a, env), self.number(b, env))
        env.owners.states = env.owners.distinct(ends)
        self.bound |= len(env.owners.states) > 1
        here, one, other = self.need, *needs
        here.reach(_either(cond, one.work, other.work))
        here.top = here.top + _either(cond, one.top, other.top)
        here.own = here.own.max(_either(cond, one.own, other.own))

        def both(a: _Sizes, b: _Sizes) -> _Sizes:
            found = {**a, **b}
            return {d: _either(cond, a.get(d, _ZERO), b.get(d, _ZERO)) for d in found}

        parts = () if pops else (tuple(one.stack), tuple(other.stack))
        pushed = _Item(both(one.pushed(), other.pushed()), (), parts)
        here.add(
            both(_added(one.taken), _added(other.taken)) if one.taken or other.taken else None,
            pushed if pushes else None,
            both(one.most, other.most),
        )

    # -- loops -----------------------------------------------------------------------------

    def inside(self, stmt: For | While, env: _Env) -> frozenset[str]:
        """Return the names of what may differ from iteration to iteration."""
        label = env.prefix + stmt.label
        if label not in self._inside:
            found: set[str] = set()
            values = list(inner_values(stmt))
            for each in walk(stmt.body.stmts):
                values += [*each.results, *inner_values(each)]
                if isinstance(each, For | While | Call):
                    found |= {env.prefix + each.label, f"{env.prefix}{each.label}.n"}
            for value in values:
                found.add(env.prefix + value.name)
                if isinstance(value.type, Array):
                    axes = range(value.type.rank)
                    found.update(f"{env.prefix}{value.name}.dim{axis}" for axis in axes)
            self._inside[label] = frozenset(found)
        return self._inside[label]

    def loop(self, stmt: For | While, env: _Env) -> None:
        first = int(isinstance(stmt, While))
        params, yields = stmt.body.params, stmt.body.yields[first:]
        label = env.prefix + stmt.label
        inside = self.inside(stmt, env)
        if isinstance(stmt, While):
            trips, index = env.name(f"{stmt.label}.n"), ""
        else:
            trips, index = self.number(stmt.trips, env), env.prefix + stmt.index.name
        arrays = [k for k, p in enumerate(params) if isinstance(p.type, Array)]
        for k in arrays:
            env.shapes[params[k]] = self.shape(stmt.init[k], env)
            env.owners.share(stmt.results[k], params[k])

        def most(size: Sum) -> Sum:
            return formulas.most(label, index, trips, size, inside)

        def fixed(size: Sum) -> bool:
            return inside.isdisjoint(size.names)

        def total(size: Sum) -> Sum:
            return formulas.total(label, index, trips, size, inside)

        machine = self.machine(trips)
        if machine is not None:
            self._running.append(machine)
        owners = env.owners
        carried = [params[k] for k in arrays]
        owners.move(carried, [stmt.init[k] for k in arrays])
        owners.let_go(env.entered)
        env.entered = ()
        before = copies(owners.states)
        pops, pushes = self.moves(stmt.body.stmts)
        parts = self.need.newest.parts if pops and not pushes else ()
        supply = parts[0] if len(parts) == 1 else ()
        with self.part(supply) as need:
            self.iteration(stmt, env)
        while self.changes(stmt, arrays, env):
            owners.states = copies(before)
            with self.part(supply) as need:
                self.iteration(stmt, env)
        own, left = need.own, set[Token]()
        seen, ends = [owners.picture(state) for state in before], list[State]()
        for rounds in range(1, _ROUNDS):
            owners.move(carried, [yields[k] for k in arrays])
            owners.let_go(handed_on(stmt.body.stmts, stmt.body.yields, env.held))
            for param in carried:
                size = self.bytes(param.type, self.shape(param, env))
                owners.resize(param, size, lambda size: not fixed(size))
            for token in owners.others(owners.tokens(carried) | left):
                if not fixed(owners.sizes[token]):  # that of an iteration before
                    owners.sizes[token] = most(owners.sizes[token])
                    left.add(token)
            ends = owners.states if trips.constant == rounds else [*ends, *owners.states]
            pictures = {owners.picture(state): state for state in owners.states}
            new = [state for picture, state in pictures.items() if picture not in seen]
            seen += pictures
            if not new or trips.constant == rounds:
                break
            owners.states = copies(new)
            with self.part(supply) as need:
                self.iteration(stmt, env)
            self.bound |= not (own - need.own).is_positive()
            own = own.max(need.own)
        else:
            own = own.max(env.name(f"{stmt.label}.arrays"))
        if machine is not None:
            self._running.pop()
        owners.states = owners.distinct(ends)
        self.bound |= len(owners.states) > 1 or bool(left)
        for k in arrays:
            first_of, now = self.shape(stmt.init[k], env), self.shape(params[k], env)
            trio = zip(first_of, now, self.own_shape(stmt.results[k], env), strict=True)
            env.shapes[stmt.results[k]] = tuple(a if a == b else c for a, b, c in trio)
        for k in arrays:
            size = self.bytes(params[k].type, self.shape(stmt.results[k], env))
            owners.resize(params[k], size, lambda size: not fixed(size))
        here = self.need
        here.own = here.own.max(most(own))
        here.reach(most(need.work))
        popped = {d: total(size) for d, size in _added(need.taken).items()}
        if not need.stack:  # the first iteration is the one that needs most, or all do alike
            peaks = {d: most(size) for d, size in need.most.items()}
            if machine is not None and need.taken:
                if self.is_sweep(trips):
                    peaks = machine.most()
                else:
                    machine.needs(peaks)
            here.add(popped if need.taken else None, None, peaks)
            return
        # The last one is.
        grown = need.pushed()
        if machine is not None:
            once = {d: most(size) for d, size in grown.items()}
            if self.is_sweep(trips):
                machine.frame = once
            else:
                machine.step = once
            more = {d: size - grown.get(d, _ZERO) for d, size in need.most.items()}
            machine.needs({d: most(size) for d, size in more.items()})
        sizes = {d: total(size) for d, size in grown.items()}
        peaks = {}
        for dtype, size in need.most.items():
            extra = size - grown.get(dtype, _ZERO)
            peaks[dtype] = sizes.get(dtype, _ZERO) + most(extra)
            varies = not inside.isdisjoint(size.names)
            self.bound |= bool(need.taken) or (extra != _ZERO and varies)
        kept = () if need.taken else (tuple(item.where(fixed) for item in need.stack),)
        here.add(popped if need.taken else None, _Item(sizes, (), kept), peaks)

    def machine(self, trips: Sum) -> _Machine | None:
        """Return the schedule that so many iterations belong to, if they do."""
        atom = trips.terms[0][0] if len(trips.terms) == 1 and trips.terms[0][1] == 1 else ()
        if len(atom) == 1 and isinstance(atom[0], formulas.Function):
            if atom[0].kind in ("sweeps", "rest"):
                return self._machines.setdefault(atom[0].args, _Machine(atom[0].args))
        return None

    def is_sweep(self, trips: Sum) -> bool:
        return "sweeps" in trips.kinds

    def changes(self, stmt: For | While, arrays: Sequence[int], env: _Env) -> bool:
        """Give carried arrays sizes of their own along the axes that an iteration has changed."""
        found = False
        for k in arrays:
            param = stmt.body.params[k]
            after = stmt.body.yields[k + isinstance(stmt, While)]
            now = self.shape(param, env)
            trio = zip(now, self.shape(after, env), self.own_shape(param, env), strict=True)
            env.shapes[param] = tuple(a if a == b else own for a, b, own in trio)
            found |= env.shapes[param] != now
        return found

    # -- calls -----------------------------------------------------------------------------

    def call(self, stmt: Call, env: _Env) -> None:
        fn = self._functions[stmt.callee]
        schedule = _schedule(fn) if fn.name in self._recursive else None
        if schedule is not None:
            self.again(stmt, fn, schedule, env)
            return
        if fn.name in self._recursive:
            self.recursion(stmt, fn, env)
            return
        numbers: dict[Value, Sum] = {}
        shapes: dict[Value, tuple[Sum, ...]] = {}
        for param, arg in zip(fn.params, stmt.args, strict=True):
            if isinstance(param.type, Array):
                shapes[param] = self.shape(arg, env)
            elif param.type.kind in "iu":
                numbers[param] = self.number(arg, env)
        pops, pushes, _ = self._directions[fn.name]
        parts = self.need.newest.parts if pops and not pushes else ()
        with self.part(parts[0] if len(parts) == 1 else ()) as need:
            inner = self.function(fn, numbers, shapes)

        def seen(*sizes: Sum) -> bool:
            return not any(n.startswith(inner.prefix) for size in sizes for n in size.names)

        def outside(size: Sum) -> Sum:
            if seen(size):
                return size
            return Sum.atom(formulas.Function("call", (size,), env.prefix + stmt.label, fn.name))

        def every(sizes: _Sizes) -> _Sizes:
            return {d: outside(size) for d, size in sizes.items()}

        here = self.need
        here.reach(outside(need.work))
        here.own = here.own.max(env.owners.bytes() + outside(need.own))
        kept = () if need.taken else (tuple(item.where(seen) for item in need.stack),)
        pushed = _Item(every(need.pushed()), (), kept)
        here.add(
            every(_added(need.taken)) if need.taken else None,
            pushed if need.stack else None,
            every(need.most),
        )
        for result, own in zip(stmt.results, fn.results, strict=True):
            if isinstance(result.type, Array):
                sizes = self.shape(own, inner)
                if seen(*sizes):
                    env.shapes[result] = sizes
            elif result.type.kind in "iu":
                number = self.number(own, inner)
                if seen(number):
                    env.numbers[result] = number

        self.received(stmt, fn, inner, env)

    def again(self, stmt: Call, fn: Function, schedule: Apply, env: _Env) -> None:
        """Count the call of a function that runs iterations of a checkpointed loop again.

        What it puts on the tapes, its schedule tells, and how often it calls itself.
        """
        here = self.need
        own = env.owners.bytes()
        # Cotangents come last among the parameters, and go out as they came in.
        cts = len(stmt.args) - len(stmt.results)
        outermost = fn.name not in self._again
        if outermost:
            numbers: dict[Value, Sum] = {}
            shapes: dict[Value, tuple[Sum, ...]] = {}
            for param, arg in zip(fn.params, stmt.args, strict=True):
                if isinstance(param.type, Array):
                    shapes[param] = self.shape(arg, env)
                elif param.type.kind in "iu":
                    numbers[param] = self.number(arg, env)
            same = {k for k, v in enumerate(stmt.results) if isinstance(v.type, Array)}
            before: set[int] | None = None
            while before != same:
                before, level = set(same), _Level(frozenset(same))
                self._again[fn.name] = level
                with self.part() as need:
                    inner = self.function(fn, dict(numbers), dict(shapes))
                same = {
                    k
                    for k in same
                    for found in [inner.owners.tokens_of(fn.results[k])]
                    if found == {fn.params[cts + k]}
                }
            del self._again[fn.name]
            if self._running:
                waiting = (Sum.function("depth", *self._running[-1].args) - _ONE).count()
            else:  # how many iterations there are to reverse, only a run knows
                args = tuple(self.number(arg, inner) for arg in schedule.args)
                waiting = Sum.function("levels", *args[1:])
                here.add(None, None, self._machines[args].fullest())
                self.bound = True
            here.reach(need.work + waiting * level.work)
            here.own = here.own.max(own + need.own + waiting * level.own)
        else:
            level = self._again[fn.name]
            level.work, level.own = level.work.max(here.top), level.own.max(own)
        for k, result in enumerate(stmt.results):
            if not isinstance(result.type, Array):
                continue
            ct = stmt.args[cts + k]
            env.shapes[result] = self.shape(ct, env)
            if k in level.same:
                env.owners.move([result], [ct])
            else:
                env.owners.hold(result, self.bytes(result.type, self.shape(result, env)))

    def received(self, stmt: Call, fn: Function, inner: _Env, env: _Env) -> None:
        """Let variables hold what a call returns: what it was passed, or arrays of its own."""
        pairs = [
            (result, own)
            for result, own in zip(stmt.results, fn.results, strict=True)
            if isinstance(result.type, Array)
        ]
        found: list[State] = []
        for end in inner.owners.states:
            for state in copies(env.owners.states):
                for result, own in pairs:
                    token = inner.owners.held(end, own)
                    if token in fn.params:
                        assert isinstance(token, Value)
                        token = env.owners.held(state, stmt.args[fn.params.index(token)])
                    elif token is not None:
                        size = self.bytes(result.type, self.shape(result, env))
                        self._owned[token] = size
                    env.owners.put(state, result, token)
                found.append(state)
        env.owners.states = env.owners.distinct(found)

    def recursion(self, stmt: Call, fn: Function, env: _Env) -> None:
        """Count the call of a function that may call itself: how deep, only the run knows."""
        self.summarize(fn)
        label = env.prefix + stmt.label

        def formula(of: str) -> Sum:
            return Sum.atom(formulas.Function("recursion", (), label, fn.name, of))

        here = self.need
        here.reach(formula(_WORK))
        here.own = here.own.max(env.owners.bytes() + formula(_OWN))
        pops, pushes, used = self._directions[fn.name]
        here.add(
            {d: formula(f"popped {d}") for d in sorted(used)} if pops else None,
            _Item({d: formula(f"pushed {d}") for d in sorted(used)}) if pushes else None,
            {d: formula(f"most {d}") for d in sorted(used)},
        )
        for result in stmt.results:
            if isinstance(result.type, Array):
                env.owners.hold(result, self.bytes(result.type, self.shape(result, env)))
                self.bound = True  # it may be one that it was passed

    def summarize(self, fn: Function) -> None:
        """Find the formulas of a recursive function, in names of its own."""
        if f"{fn.name} {_WORK}" in self.formulas:
            return
        self.formulas[f"{fn.name} {_WORK}"] = _ZERO  # is being found
        with self.part() as need:
            self.function(fn, {}, {})
        found = {_WORK: need.work, _OWN: need.own}
        for dtype in self._directions[fn.name][2]:
            found[f"most {dtype}"] = need.most.get(dtype, _ZERO)
            found[f"pushed {dtype}"] = need.pushed().get(dtype, _ZERO)
            found[f"popped {dtype}"] = _added(need.taken).get(dtype, _ZERO)
        for of, size in found.items():
            self.formulas[f"{fn.name} {of}"] = size


def _schedule(fn: Function) -> Apply | None:
    """Return the schedule of a function that runs iterations again, None if it is no such."""
    for stmt in fn.body:
        # The room is handed down, where a loop of a recursive function has one of its own.
        if isinstance(stmt, Apply) and stmt.op.name == "sweeps" and stmt.args[1] in fn.params:
            return stmt
    return None


def _integers(args: Sequence[Operand]) -> bool:
    return all(arg.type.kind in "iu" and not isinstance(arg.type, Array) for arg in args)


def _constant(number: Sum) -> bool:
    return number.constant is not None


def _reaches(calls: Mapping[str, set[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for callee in calls[todo.pop()]:
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
    return goal in seen


_Direction = tuple[bool, bool, frozenset[str]]


def _moves(stmts: Sequence[Stmt], known: Mapping[str, _Direction]) -> tuple[bool, bool]:
    """Return whether statements pop what lay there before, and whether they leave frames."""
    taken, stack = False, 0
    for stmt in stmts:
        pops, pushes = isinstance(stmt, Pop), isinstance(stmt, Push)
        if isinstance(stmt, Call):
            pops, pushes, _ = known[stmt.callee]
        for block in blocks(stmt):
            inner_pops, inner_pushes = _moves(block.stmts, known)
            pops, pushes = pops or inner_pops, pushes or inner_pushes
        if pops and stack:
            stack -= 1
        elif pops:
            taken = True
        stack += pushes
    return taken, stack > 0


def _directions(functions: Mapping[str, Function]) -> dict[str, _Direction]:
    """Return for every function whether it pops, whether it pushes, and the tapes it uses."""
    found: dict[str, _Direction] = dict.fromkeys(functions, (False, False, frozenset()))
    before: object = None
    while before != found:
        before = dict(found)
        for name, fn in functions.items():
            pops, pushes = _moves(fn.body, found)
            used = set(found[name][2])
            for stmt in walk(fn.body):
                if isinstance(stmt, Call):
                    used |= found[stmt.callee][2]
                values = stmt.values if isinstance(stmt, Push) else ()
                for value in stmt.results if isinstance(stmt, Pop) else values:
                    used.add(value.type.dtype)
                    if isinstance(value.type, Array):
                        used.add("i64")
            found[name] = (found[name][0] or pops, found[name][1] or pushes, frozenset(used))
    return found


def _lines(fn: Function, names: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Return the lines of the source where names come from that no argument tells."""
    found: dict[str, int] = {}
    for each in (fn, *fn.callees):
        prefix = "" if each is fn else f"{each.name}: "
        for stmt in walk(each.body):
            if stmt.loc is None:
                continue
            if isinstance(stmt, While):
                found[f"{prefix}{stmt.label}.n"] = stmt.loc.line
            for value in (*inner_values(stmt), *stmt.results):
                found[prefix + value.name] = stmt.loc.line
                if isinstance(value.type, Array):
                    for axis in range(value.type.rank):
                        found.setdefault(f"{prefix}{value.name}.dim{axis}", stmt.loc.line)
    return tuple((name, found[name]) for name in sorted(names & found.keys()))


def peak(
    fn: Function,
    align: int = 1,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    numbers: Mapping[int, str] | None = None,
    offload: bool = False,
) -> Peak:
    """Return how much memory a call of `fn`, which is in its last form, uses.

    Arrays in the workspace take multiples of `align` bytes. If the `sizes` of the arguments are
    given, by parameter, the formula is one for these alone: more of it is known. In it, `numbers`
    of the code have names. With `offload`, tapes are in files and take no memory.
    """
    run = _Run(fn, align, numbers or {})
    integers: dict[Value, Sum] = {}
    shapes: dict[Value, tuple[Sum, ...]] = {}
    for param in fn.params:
        known = (sizes or {}).get(param.name)
        if isinstance(known, int):
            integers[param] = Sum.number(known)
        elif known is not None:
            shapes[param] = tuple(map(Sum.number, known))
    env = run.function(fn, integers, shapes)
    need = run.need
    size, own = need.work, need.own
    state = env.owners.states[0]
    for token in {env.owners.held(state, result): result for result in fn.results}:
        own = own - env.owners.sizes.get(token, _ZERO)  # the user's
    taped = sum(need.most.values(), start=_ZERO)
    if not offload:
        size, taped = size + taped, _ZERO
    tapes = tuple((dtype, size) for dtype, size in sorted(need.most.items()))
    return formula(fn, size, own, run.bound, tuple(run.formulas.items()), tapes, taped)


def formula(
    fn: Function,
    size: Sum,
    own: Sum = _ZERO,
    bound: bool = False,
    functions: tuple[tuple[str, Sum], ...] = (),
    tapes: tuple[tuple[str, Sum], ...] = (),
    disk: Sum = _ZERO,
) -> Peak:
    """Return bytes that can be told from the arguments of a function."""
    names: dict[str, tuple[int, int]] = {}
    for position, param in enumerate(fn.params):
        if isinstance(param.type, Array):
            for axis in range(param.type.rank):
                names[f"{param.name}.dim{axis}"] = (position, axis)
        elif param.type.kind in "iu":
            names[param.name] = (position, -1)
    whole = size + own
    used = tuple((n, *at) for n, at in names.items() if n in whole.names | disk.names)
    lines = _lines(fn, whole.free - names.keys())
    return Peak(size, own, used, lines, bound, functions, tapes, disk)
