"""Formulas of sizes and trips: polynomials of names.

``8*n*m + max(16*n, 8*k)`` is a `Sum` of terms whose factors are names or `Function`s. What differs
from iteration to iteration of a loop is added up or its most is taken; where only the counter
decides, this has a number as soon as the trips have one (`loops`)::

    total(L, 8*k) for k in 0 to n    is  8*((n*n - n)//2)
    most(L, 8*n - 8*k)               is  8*n

Other names of a loop's inside stay below ``total`` and ``most``, and are known only at run time.
`Sum.value` gives the number; `Known` says what names stand for.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adc.ir import schedule
from adc.ir.types import Array, Type

# A slice of a slice of a slice mentions each size in several places: formulas grow exponentially.
_LONGEST = 1000
# A chain of `elif`s makes a choice within a choice: functions of formulas go as deep.
_DEEPEST = 50
# Keys are cut there, and end with a digest.
_LONGEST_KEY = 50_000
# The end of names that no run tells.
_UNKNOWABLE = "?"
# So many iterations are tried to find what a loop adds up to or needs most.
_MOST = 1 << 14
# Of so many the schedules are tried, where a loop may have fewer iterations.
_FEW = 1 << 8


@dataclass(frozen=True)
class Function:
    """A function of sums.

    Attributes
    ----------
    kind : str
        ``"max"``, ``"min"``, ``"//"``; ``"range"``, the length of one; ``"count"``, a number that
        counts as 0 if it is negative; ``"rounded"`` up to a multiple of `args[1]`; ``"if"`` the
        first is positive, the second, else the third. ``"sweeps"``, ``"rest"``, ``"tape"`` and
        ``"depth"`` of a checkpointed loop (`adc.ir.schedule`); ``"levels"`` and ``"fullest"``: the
        depth and the tape, however often it runs.
        ``"total"`` and ``"most"``: of `args[1]` over `args[0]` iterations of the loop `label`,
        which `name` counts. ``"call"``: `args[0]` in the function `name`, as the call `label` runs
        it. ``"recursion"``: the formula `of` of that function. ``"upto"``: a number that a loop
        counts, from 0 to as many as `args[0]`; a record of a run knows it by its `name`.
    args : tuple of Sum
        What it is a function of.
    label, name, of : str
        Of a loop or a call.
    """

    kind: str
    args: tuple[Sum, ...] = ()
    label: str = ""
    name: str = ""
    of: str = ""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.args, self.label, self.name, self.of))

    def __str__(self) -> str:
        texts = [str(arg) for arg in self.args]
        match self.kind:
            case "//":
                return f"(({texts[0]})//({texts[1]}))"
            case "count" | "rounded" | "call" | "upto":
                return texts[0]
            case "if":  # what it is at most
                return str(self.args[1].max(self.args[2]))
            case "total" | "most":
                return f"{self.kind}({texts[1]})"
            case "recursion":
                return f"{self.name}.calls"
        return f"{self.kind}({', '.join(texts)})"

    @cached_property
    def key(self) -> str:
        """A text that no other function has, to sort by."""
        args = ", ".join(arg.key for arg in self.args)
        text = f"{self.kind} {self.label} {self.name} {self.of} ({args})"
        # A function that lies in others has its text in that of each.
        if len(text) < _LONGEST_KEY:
            return text
        return text[:_LONGEST_KEY] + hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def names(self) -> frozenset[str]:
        """All names, also those that only an iteration or a callee knows."""
        found = frozenset[str]().union(*(arg.names for arg in self.args))
        own = self.name if self.kind == "upto" else self.label
        return found | {own} if own else found

    @cached_property
    def numbers(self) -> dict[object, int | None]:
        """What this is for numbers in place of names, as far as it was `Remembered`."""
        return {}

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """All names, in an order of their own."""
        return tuple(sorted(self.names))

    @cached_property
    def free(self) -> frozenset[str]:
        """All names but those of counters and labels."""
        found = frozenset[str]().union(*(arg.free for arg in self.args))
        return found - {self.name} if self.kind in ("total", "most") else found

    @cached_property
    def length(self) -> int:
        """How many names and functions are written in it."""
        return 1 + sum(arg.length for arg in self.args)

    @cached_property
    def depth(self) -> int:
        """How many functions are within each other."""
        return 1 + max((arg.depth for arg in self.args), default=0)

    @cached_property
    def is_size(self) -> bool:
        """Whether it is made of sizes of arrays, or counts something."""
        if self.kind in ("count", "range", "upto", "sweeps", "rest"):
            return True
        if self.kind == "max":
            return any(arg.is_size() for arg in self.args)
        args = self.args[self.kind == "if" :]
        return all(_is_size(part) for arg in args for atoms, _ in arg.terms for part in atoms)

    @cached_property
    def is_least(self) -> bool:
        """Whether it chooses the smaller one of two numbers."""
        if self.kind != "if":
            return False
        cond, then, orelse = self.args
        return cond in (orelse - then, orelse - then + ONE)

    @cached_property
    def is_most(self) -> bool:
        """Whether it chooses the larger one of two numbers."""
        if self.kind != "if":
            return False
        cond, then, orelse = self.args
        return cond in (then - orelse, then - orelse + ONE)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of this function and of those in it."""
        return frozenset((self.kind,)).union(*(arg.kinds for arg in self.args))


# A name, or a function of sums.
Atom = str | Function
Factors = tuple[Atom, ...]


def are_sizes(atoms: Iterable[Atom]) -> bool:
    return all(map(_is_size, atoms))


def _is_size(atom: Atom) -> bool:
    return ".dim" in atom if isinstance(atom, str) else atom.is_size


def _in_product(atom: Atom, product: bool) -> str:
    text = str(atom)
    whole = isinstance(atom, str) or atom.kind in ("max", "min", "total", "most", "range", "//")
    return text if whole or not product or text.replace(".", "").isalnum() else f"({text})"


def _key(atom: Atom) -> str:
    return atom if isinstance(atom, str) else atom.key


def _keys(atoms: Iterable[Atom]) -> tuple[str, ...]:
    return tuple(map(_key, atoms))


@dataclass(frozen=True)
class Sum:
    """Terms: a coefficient by the factors that it is multiplied with.

    Examples
    --------
    >>> n = Sum.atom("n")
    >>> size = n * n + n * Sum.number(8) - Sum.number(3)
    >>> print(size, size.max(n * n))
    n*n + 8*n - 3 max(n*n + 8*n - 3, n*n)
    >>> size.value(Known({"n": 10}))
    177
    """

    terms: tuple[tuple[Factors, int], ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    @staticmethod
    def of(terms: Mapping[Factors, int]) -> Sum:
        kept = [(atoms, count) for atoms, count in terms.items() if count]
        return Sum(tuple(sorted(kept, key=lambda term: (-len(term[0]), _keys(term[0])))))

    @staticmethod
    def number(value: int) -> Sum:
        return Sum.of({(): value})

    @staticmethod
    def atom(atom: Atom) -> Sum:
        return Sum((((atom,), 1),))

    @staticmethod
    def function(kind: str, *args: Sum) -> Sum:
        return Sum.atom(Function(kind, args))

    def __add__(self, other: Sum) -> Sum:
        if not other.terms or not self.terms:
            return self if self.terms else other
        terms = dict(self.terms)
        for atoms, count in other.terms:
            terms[atoms] = terms.get(atoms, 0) + count
        return Sum.of(terms)

    def __sub__(self, other: Sum) -> Sum:
        if not other.terms:
            return self
        terms = dict(self.terms)
        for atoms, count in other.terms:
            terms[atoms] = terms.get(atoms, 0) - count
        return Sum.of(terms)

    def __mul__(self, other: Sum) -> Sum:
        found: dict[Factors, int] = {}
        for a, n in self.terms:
            for b, m in other.terms:
                atoms = tuple(sorted((*a, *b), key=_key))
                found[atoms] = found.get(atoms, 0) + n * m
        return Sum.of(found)

    @cached_property
    def key(self) -> str:
        """A text that no other sum has, to sort by."""
        return " + ".join(f"{count} {'*'.join(_keys(atoms))}" for atoms, count in self.terms)

    @cached_property
    def _counts(self) -> dict[Factors, int]:
        return dict(self.terms)

    @property
    def constant(self) -> int | None:
        """The number that this is, if it is one."""
        if not self.terms:
            return 0
        atoms, count = self.terms[0]
        return count if not atoms else None

    def is_size(self) -> bool:
        """Whether it is made of sizes of arrays, and not negative: other integers may be."""
        return all(count >= 0 and are_sizes(atoms) for atoms, count in self.terms)

    def covers(self, other: Sum) -> bool:
        """Whether this is as much as `other`, whatever names stand for."""
        mine, theirs = self._counts, other._counts
        if any(mine.get(atoms, 0) < count for atoms, count in other.terms):
            return False
        # What it is more must be sizes, and none of them negative.
        return all(
            count == theirs.get(atoms, 0) or (count > theirs.get(atoms, 0) and are_sizes(atoms))
            for atoms, count in self.terms
        ) and all(atoms in mine or are_sizes(atoms) for atoms, _ in other.terms)

    def max(self, *others: Sum) -> Sum:
        found: list[Sum] = []
        for each in (self, *others):
            only = each.terms[0] if len(each.terms) == 1 else ((), 0)
            atom = only[0][0] if only[1] == 1 and len(only[0]) == 1 else ""
            parts = atom.args if isinstance(atom, Function) and atom.kind == "max" else (each,)
            for part in parts:
                if not any(other.covers(part) for other in found):
                    found = [other for other in found if not part.covers(other)]
                    found.append(part)
        if len(found) == 1:
            return found[0]
        return Sum.function("max", *sorted(found, key=lambda each: each.key))

    def count(self) -> Sum:
        """Return this, or 0 where it is negative."""
        if self.is_size():
            return self
        if self.constant is not None:
            return ZERO
        return Sum.function("count", self)

    def rounded(self, multiple: int) -> Sum:
        """Return this rounded up."""
        if multiple == 1:
            return self
        if self.constant is not None:
            return Sum.number(-(-self.constant // multiple) * multiple)
        return Sum.function("rounded", self, Sum.number(multiple))

    def __str__(self) -> str:
        found = ""
        for atoms, count in self.terms:
            factors = [_in_product(atom, len(atoms) > 1 or abs(count) != 1) for atom in atoms]
            if abs(count) != 1 or not factors:
                factors.insert(0, str(abs(count)))
            sign = " - " if count < 0 else " + "
            found += (sign if found or count < 0 else "") + "*".join(factors)
        return found.strip() or "0"

    @cached_property
    def names(self) -> frozenset[str]:
        """All names, also those that only an iteration or a callee knows."""
        return frozenset(
            name
            for atoms, _ in self.terms
            for atom in atoms
            for name in ([atom] if isinstance(atom, str) else atom.names)
        )

    @cached_property
    def free(self) -> frozenset[str]:
        """All names but those of counters and labels."""
        return frozenset(
            name
            for atoms, _ in self.terms
            for atom in atoms
            for name in ([atom] if isinstance(atom, str) else atom.free)
        )

    @cached_property
    def length(self) -> int:
        """How many names and functions are written in it."""
        atoms = [atom for atoms, _ in self.terms for atom in atoms]
        return sum(1 if isinstance(atom, str) else atom.length for atom in atoms)

    @cached_property
    def depth(self) -> int:
        """How many functions are within each other."""
        found = (a.depth for atoms, _ in self.terms for a in atoms if isinstance(a, Function))
        return max(found, default=0)

    def is_short(self) -> bool:
        """Whether a person, and Python's stack, can take it in."""
        return self.length <= _LONGEST and self.depth <= _DEEPEST

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the functions in it."""
        found = [a.kinds for atoms, _ in self.terms for a in atoms if isinstance(a, Function)]
        return frozenset[str]().union(*found)

    def value(self, known: Known, most: bool = True) -> int | None:
        """Return the number, None if it is not known.

        Where only a condition is not known, it is the most that it can be, or the least.
        """
        total = 0
        for atoms, count in self.terms:
            upper = most == (count > 0)
            for atom in atoms:
                if isinstance(atom, str):
                    number = known.name(atom)
                else:
                    number = known.number(atom, upper)
                if number is None:
                    return None
                count *= number
            total += count
        return total

    @staticmethod
    def from_data(data: Any) -> Sum:
        """Return what `dataclasses.asdict` made plain."""

        def atom(found: Any) -> Atom:
            if isinstance(found, str):
                return found
            return Function(**{**found, "args": tuple(map(Sum.from_data, found["args"]))})

        return Sum(tuple((tuple(map(atom, atoms)), count) for atoms, count in data["terms"]))


ZERO = Sum()
ONE = Sum.number(1)


def either(cond: Sum, then: Sum, orelse: Sum) -> Sum:
    """Return the second if the first is positive, else the third."""
    if then == orelse:
        return then
    if cond.constant is not None:
        return then if cond.constant > 0 else orelse
    if ZERO in (then, orelse) and cond in (then - orelse, then - orelse + ONE):
        return (then + orelse).count()  # the larger one of zero and another
    return Sum.function("if", cond, then, orelse)


def unknowable(cond: Sum) -> Sum:
    """Return a condition in place of one that is out of reach: never known, either may hold."""
    return Sum.atom(f"{cond}{_UNKNOWABLE}")


def is_bound(size: Sum) -> bool:
    """Whether a formula is only what there is at most, by a condition that is never known."""
    return any(name.endswith(_UNKNOWABLE) for name in size.names)


def dims(name: str, ty: Type) -> list[str]:
    """Return the names of the sizes of an array, none of a number."""
    return [f"{name}.dim{axis}" for axis in range(ty.rank)] if isinstance(ty, Array) else []


def names_of(sizes: Mapping[str, int | Sequence[int]]) -> dict[str, int]:
    """Return numbers and shapes by the names that formulas have for them."""
    found: dict[str, int] = {}
    for name, size in sizes.items():
        if isinstance(size, Sequence):
            found.update((f"{name}.dim{axis}", each) for axis, each in enumerate(size))
        else:
            found[name] = size
    return found


# --- numbers --------------------------------------------------------------------------------------


class Known:
    """What names stand for, here: numbers, and counters of loops.

    A record of a run knows more: it overrides `name`, `iterations` and `callee`.
    """

    def __init__(self, names: Mapping[str, int]) -> None:
        self.names = names

    def name(self, name: str) -> int | None:
        return self.names.get(name)

    def number(self, made: Function, upper: bool) -> int | None:
        """Return what a function of these is, the most or the least that it can be."""
        return _number(made, self, upper)

    def iterations(self, loop: Function) -> tuple[Iterable[Known], int] | None:
        """Return what is known in iterations of a loop, and for how many each of them stands.

        None if that is not known, or too many.
        """
        trips = loop.args[0].value(self)
        if trips is None and loop.kind == "most" and loop.name not in loop.args[1].names:
            trips = 1
        if trips is None:
            return None
        if loop.name not in loop.args[1].names:
            return [self] if trips else [], trips
        if trips > _MOST:
            return None
        return (Known({**self.names, loop.name: k}) for k in range(trips)), 1

    def callee(self, call: Function) -> tuple[Sum, Known] | None:
        """Return the formula of a callee, and what is known in it."""
        return None if call.kind == "recursion" else (call.args[0], self)


class Remembered(Known):
    """What names stand for, where the same functions are asked for with many numbers in turn."""

    def number(self, made: Function, upper: bool) -> int | None:
        key = upper, *map(self.names.get, made.in_order)
        if key not in made.numbers:
            made.numbers[key] = super().number(made, upper)
        return made.numbers[key]


def _number(made: Function, known: Known, upper: bool) -> int | None:
    match made.kind:
        case "total" | "most":
            rounds = known.iterations(made)
            if rounds is None:
                # Whatever the counter is: a condition on it may hold or not.
                return made.args[1].value(known) if made.kind == "most" and upper else None
            numbers: list[int] = []
            for each in rounds[0]:
                number = made.args[1].value(each, upper)
                if number is None:
                    return None
                numbers.append(number)
            return rounds[1] * sum(numbers) if made.kind == "total" else max(numbers, default=0)
        case "call" | "recursion":
            inner = known.callee(made)
            return None if inner is None else inner[0].value(inner[1], upper)
        case "upto":
            counted = known.name(made.name)
            if counted is not None or not upper:
                return counted or 0
        case "if":
            least, highest = (made.args[0].value(known, which) for which in (False, True))
            if least is not None and least > 0:
                return made.args[1].value(known, upper)
            if highest is not None and highest <= 0:
                return made.args[2].value(known, upper)
            arms = [arm.value(known, upper) for arm in made.args[1:]]
            found = [arm for arm in arms if arm is not None]
            if len(found) == 2:
                return max(found) if upper else min(found)
            # Of two numbers, what is chosen by comparing them is at most each of them, or at least.
            told = made.is_least if upper else made.is_most
            return found[0] if found and told else None
    args: list[int] = []
    for k, arg in enumerate(made.args):
        falls = (made.kind == "//" and k == 1) or (made.kind == "range" and k != 1)
        value = arg.value(known, upper != falls)
        if value is not None:
            args.append(value)
        elif made.kind in _SCHEDULED and not upper:
            return 0
        elif made.kind != ("min" if upper else "max"):
            return None
    if not args:
        return None
    match made.kind:
        case "max":
            return max(args)
        case "min":
            return min(args)
        case "range":
            return max(-((args[0] - args[1]) // args[2]), 0) if args[2] else None
        case "count" | "upto":
            return max(args[0], 0)
        case "rounded":
            return -(-args[0] // args[1]) * args[1]
        case "//":
            return args[0] // args[1] if args[1] else None
        case "sweeps" | "rest" | "tape" | "depth":
            if made.args[0].value(known, not upper) == args[0]:
                return _SCHEDULED[made.kind](args)
            if not upper:
                return 0
            # So many iterations are only the most: fewer may need more.
            return _most_scheduled(made.kind, *args) if args[0] <= _FEW else None
        case "levels":
            return schedule.levels(*args)
        case "fullest":
            return schedule.fullest(*args)
    raise AssertionError(made)


_SCHEDULED: Mapping[str, Callable[[Sequence[int]], int]] = {
    "sweeps": lambda args: schedule.swept(*args)[0],
    "rest": lambda args: schedule.swept(*args)[1],
    "tape": lambda args: schedule.reversal(*args).peak,
    "depth": lambda args: schedule.reversal(*args).depth,
}


@functools.lru_cache(1 << 12)
def _most_scheduled(kind: str, trips: int, *args: int) -> int:
    """Return the most of a function of a schedule for up to so many iterations."""
    return max(_SCHEDULED[kind]((count, *args)) for count in range(max(trips, 0) + 1))


__all__ = [
    "ONE", "ZERO", "Atom", "Factors", "Function", "Known", "Remembered", "Sum", "are_sizes", "dims",
    "either", "is_bound", "names_of", "unknowable",
]  # fmt: skip
