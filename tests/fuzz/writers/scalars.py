"""Writes statements about numbers and elements of arrays."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Array:
    name: str
    shape: tuple[int, ...]
    dtype: str = "f8"
    local: bool = True  # made by the function itself
    pinned: bool = False  # iterated over: must not be bound to another object now
    captured: bool = False  # read by a nested function: nor ever again
    thing: int = 0  # the object whose memory it shows: equal for aliases and for views
    whole: bool = True  # all of that object, in order: to reshape it makes a view


@dataclass
class Int:
    name: str
    low: int
    high: int
    settable: bool = False  # assigned modulo high + 1


@dataclass
class Function:
    name: str
    call: Callable[[ScalarWriter, int], str]


@dataclass
class Scope:
    """The names that may be read here. Leaving a block forgets what it added."""

    floats: list[str] = field(default_factory=list)
    singles: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)  # floats that are not assigned to
    ints: list[Int] = field(default_factory=list)
    bools: list[str] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def lists(self) -> tuple[list[Any], ...]:
        return (
            self.floats,
            self.singles,
            self.fixed,
            self.ints,
            self.bools,
            self.arrays,
            self.functions,
        )


_LARGE = 3.0  # the magnitude that expressions are kept below


MAX_TRIPS = 120  # of all loops around a statement together


# Draws of order one; with a number, where they take one.
_DRAWS = (
    "rng.random()", "rng.normal()", "{} * rng.normal()", "rng.uniform(-1.2, 1.2)",
    "rng.exponential({})", "rng.normal(size=3)[1]", "np.sum(rng.random(3))",
    "rng.integers(-2, 3) * {}", "rng.permutation(4)[2] * 0.3",
    "rng.choice(5, 2, replace=False)[1] * 0.2", "np.sum(rng.uniform(-0.5, {}, size=(2, 2)))",
)  # fmt: skip


class ScalarWriter:
    """Writes one function: a list of lines, and what is in scope at the end of it."""

    def __init__(self, rng: random.Random, names: Iterator[int], single: bool) -> None:
        self.rng = rng
        self.names = names
        self.single = single  # whether to use single precision at all
        self.lines: list[str] = []
        self.indent = 1
        self.scope = Scope()
        self.trips = 1
        self.loops = 0  # loops around this statement
        self.nesting = 0  # blocks around this statement
        self.budget = 0
        self.returns = True
        self.draws = False  # whether there is a random generator, `rng`

    # Text

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, prefix: str) -> str:
        return f"{prefix}{next(self.names)}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def const(self, low: float = 0.1, high: float = 1.6) -> str:
        # Four digits, the last of them odd: no threshold is a round number.
        c = round(self.rng.uniform(low, high), 3) + 0.0007
        return f"{c:.4f}"

    @contextmanager
    def block(self, head: str, trips: int = 0) -> Iterator[None]:
        """Write the lines of the body under `head`; a loop if `trips` is given."""
        self.emit(head)
        self.indent += 1
        self.nesting += 1
        saved = self.trips
        if trips:
            self.loops += 1
            self.trips *= trips
        start = len(self.lines)
        marks = [len(names) for names in self.scope.lists()]
        yield
        if len(self.lines) == start:
            self.emit("pass")
        for names, mark in zip(self.scope.lists(), marks, strict=True):
            del names[mark:]
        if trips:
            self.loops -= 1
            self.trips = saved
        self.nesting -= 1
        self.indent -= 1

    # Integers and indices

    def integer(self, depth: int = 1) -> str:
        """Return a small integer expression of either sign."""
        choices = [str(self.rng.randint(-3, 5))]
        choices += [i.name for i in self.scope.ints] * 3
        choices += [f"len({a.name})" for a in self.scope.arrays]
        leaf = self.rng.choice(choices)
        if depth <= 0 or self.chance(0.3):
            return leaf
        other = self.integer(depth - 1)
        return self.rng.choice(
            [
                f"({leaf} + {other})",
                f"({leaf} - {other})",
                f"({leaf} * {self.rng.randint(2, 3)})",
                f"({leaf} // {self.rng.choice([-3, 2, 3])})",
                f"({leaf} % {self.rng.choice([-4, 3, 5])})",
                f"(({leaf}) & 3)",
                f"(({leaf}) ^ 1)",
                f"(({leaf}) >> 1)",
                f"(-{leaf})",
                f"({leaf} if {self.condition(0)} else {other})",
                f"int({self.number(0)} * 2.7)",
                f"min({leaf}, {other})",
                f"abs({leaf})",
            ]
        )

    def size(self, a: Array, axis: int) -> str:
        options = [str(a.shape[axis]), f"{a.name}.shape[{axis}]"]
        if axis == 0:
            options.append(f"len({a.name})")
        if len(a.shape) == 1:
            options.append(f"{a.name}.size")
        return self.rng.choice(options)

    def index(self, a: Array, axis: int) -> str:
        n = a.shape[axis]
        options: list[str] = []
        for i in self.scope.ints:
            if -n <= i.low and i.high < n:
                options += [i.name] * 3
            if -n <= i.low - 1 and i.high - 1 < n:
                options += [f"{i.name} - 1"] * 2
            if -n <= i.low + 1 and i.high + 1 < n:
                options += [f"{i.name} + 1"] * 2
            if -n <= -i.high and -i.low < n:
                options.append(f"-{i.name}")
            if -n <= n - 1 - i.high and n - 1 - i.low < n:
                options.append(f"{self.size(a, axis)} - 1 - {i.name}")
        if options and self.chance(0.7):
            return self.rng.choice(options)
        tables = [t for t in self.scope.arrays if t.dtype == "i8"]
        if tables and n >= 3 and self.chance(0.4):
            t = self.rng.choice(tables)
            # The entries are below 3 and at least -2.
            return f"{t.name}[{self.index(t, 0)}]"
        if self.chance(0.4):
            return f"{self.integer()} % {self.size(a, axis)}"
        return str(self.rng.randint(-n, n - 1))

    def element(self, a: Array) -> str:
        return f"{a.name}[{', '.join(self.index(a, k) for k in range(len(a.shape)))}]"

    # Floats and conditions

    def pick_array(self, dtypes: str = "f8 f4", ndim: int = 0) -> Array | None:
        options = [
            a for a in self.scope.arrays if a.dtype in dtypes.split() and ndim in (0, len(a.shape))
        ]
        return self.rng.choice(options) if options else None

    def leaf(self) -> str:
        if self.draws and self.chance(0.2):
            return self.rng.choice(_DRAWS).format(self.const())
        readable = self.scope.floats + self.scope.fixed
        a = self.pick_array()
        if a is not None and self.chance(0.4):
            text = self.element(a)
            return text if a.dtype == "f8" else f"np.float64({text})"
        if self.scope.singles and self.chance(0.25):
            return f"np.float64({self.rng.choice(self.scope.singles)})"
        if self.scope.ints and self.chance(0.1):
            return f"{self.rng.choice(self.scope.ints).name} * {self.const(0.05, 0.3)}"
        if readable and self.chance(0.85):
            return self.rng.choice(readable)
        return self.const()

    def number(self, depth: int) -> str:
        """Return an expression of kind float64 (Python's or NumPy's) of order one."""
        text, bound = self.bounded(depth)
        if bound <= _LARGE:
            return text
        squash = ["math.sin({})", "math.tanh({})", "np.sin({})", "math.atan({})"]
        if bound < 20.0:
            squash.append(f"{_LARGE / bound:.3f} * ({{}})")
        return self.rng.choice(squash).format(text)

    def update_value(self, depth: int) -> str:
        """Return an expression to assign to what it may read.

        In a loop it is at most about one whatever it reads, or recurrences would grow.
        """
        if not self.loops:
            return self.number(depth)
        text, _ = self.bounded(depth)
        squash = ["math.sin({})", "math.tanh({})", "np.cos({})", "math.atan({})", "math.erf({})"]
        return self.rng.choice(squash).format(text)

    def bounded(self, depth: int) -> tuple[str, float]:
        if depth <= 0 or self.chance(0.15):
            return self.leaf(), _LARGE / 2.0
        a, p = self.bounded(depth - 1)
        kind = self.rng.random()
        if kind < 0.42:
            b, q = self.bounded(depth - 1)
            return self.rng.choice(
                [
                    (f"({a} + {b})", p + q),
                    (f"({a} - {b})", p + q),
                    (f"{factor(a)} * {factor(b)}", p * q),
                    (f"{factor(a)} * {factor(b)}", p * q),
                    (f"({a}) / (1.3 + {factor(b)} * {factor(b)})", p),
                    (f"math.hypot({a}, 0.7 + {factor(b)} * {factor(b)})", p + 0.7 + q * q),
                    (f"math.atan2({a}, 1.2 + {factor(b)} * {factor(b)})", 1.6),
                ]
            )
        if kind < 0.72:
            wave = self.rng.choice(["math.sin", "math.cos", "math.tanh", "np.sin", "np.tanh"])
            return self.rng.choice(
                [
                    (f"{wave}({a})", 1.0),
                    (f"{wave}({a})", 1.0),
                    (f"math.sqrt(1.1 + {factor(a)} * {factor(a)})", 1.1 + p),
                    (f"math.log(1.4 + ({a}) ** 2)", 1.0 + p),
                    (f"math.exp(0.4 * math.tanh({a}))", 1.5),
                    (f"math.atan({a})", 1.6),
                    (f"math.erf({a})", 1.0),
                    (f"({a}) ** 2", p * p),
                    (f"(-({a}))", p),
                    (f"1.0 / (1.2 + ({a}) ** 2)", 1.0),
                ]
            )
        if kind < 0.82:
            return self.rng.choice(
                [
                    (f"abs({a} - {self.const()})", p + 1.6),
                    (f"max({a}, {self.const()})", max(p, 1.6)),
                    (f"min({a}, {self.const()}, 1.7)", max(p, 1.7)),
                    (f"np.maximum({a}, -{self.const()})", max(p, 1.6)),
                    (f"({a} + 0.0123) % 0.7391", 0.8),
                    (f"float(int(({a}) * 1.337))", 1.4 * p),
                    (f"math.floor({a} + 0.1234) * {factor(self.leaf())}", (p + 1.0) * 1.5),
                ]
            )
        if kind < 0.9:
            b, q = self.bounded(depth - 1)
            return f"({a} if {self.condition(depth - 1)} else {b})", max(p, q)
        if self.scope.functions:
            return self.rng.choice(self.scope.functions).call(self, depth - 1), _LARGE / 2.0
        return a, p

    def condition(self, depth: int) -> str:
        kind = self.rng.random()
        if depth > 0 and kind < 0.3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.rng.choice([f"({a} and {b})", f"({a} or {b})", f"not {a}"])
        if self.scope.bools and kind < 0.45:
            return self.rng.choice(self.scope.bools)
        if self.scope.ints and kind < 0.6:
            i = self.rng.choice(self.scope.ints).name
            return self.rng.choice(
                [f"({i} % 2 == 0)", f"({i} != 1)", f"({i} >= 2)", f"(0 < {i} < 3)"]
            )
        a = self.number(max(depth - 1, 0))
        if self.scope.floats and not any(c.isalpha() for c in a):
            a = self.rng.choice(self.scope.floats)
        sign = self.rng.choice(["", "-"])
        if kind < 0.7:
            return f"(-{self.const(0.2, 1.5)} < {a} < {self.const(0.2, 1.5)})"
        return f"({a} {self.rng.choice(['>', '<', '>=', '<='])} {sign}{self.const(0.05, 0.9)})"

    # Statements

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                return
            self.statement()

    def statement(self) -> None:
        self.budget -= 1
        deep = self.nesting >= 4
        options: list[tuple[float, Callable[[], None]]] = [
            (3.0, self.assign_float),
            (2.0, self.augment_float),
            (1.0, self.assign_int),
            (0.6, self.assign_bool),
            (3.5, self.store),
            (1.5, self.augment_element),
            (0.7, self.swap_elements),
            (1.0, self.new_array),
            (0.6, self.alias),
            (0.9, self.swap_arrays),
            (0.5, self.rebind_array),
            (0.8, self.unpack),
            (0.5, self.call_statement),
            (0.4, self.local_function),
            (0.2, self.assertion),
            (1.5 * self.single, self.assign_single),
        ]
        if not deep:
            options += [(2.2, self.branch), (2.6, self.for_loop), (1.0, self.while_loop)]
            options += [(0.5, self.ping_pong)]
        if self.loops:
            options += [(1.2, self.leave_loop)]
        if self.returns and self.nesting:
            options += [(0.15, self.early_return)]
        weights = [w for w, _ in options]
        self.rng.choices([action for _, action in options], weights)[0]()

    def body(self) -> None:
        self.statements(self.rng.randint(1, 5))

    def assign_float(self) -> None:
        if self.scope.floats and self.chance(0.6):
            v = self.rng.choice(self.scope.floats)
            text = self.update_value(2)
            # Damped, so that recurrences neither grow nor become chaotic.
            self.emit(f"{v} = " + (f"{v} * 0.6 + 0.4 * ({text})" if self.loops else text))
        else:
            v = self.name("v")
            self.emit(f"{v} = {self.number(2)}")
            self.scope.floats.append(v)

    def assign_single(self) -> None:
        if not self.single:
            return
        if self.scope.singles and self.chance(0.5):
            v = self.rng.choice(self.scope.singles)
            self.emit(f"{v} = {v} * 0.5 + np.float32({self.update_value(1)})")
        else:
            v = self.name("w")
            self.emit(f"{v} = np.float32({self.number(1)})")
            self.scope.singles.append(v)

    def augment_float(self) -> None:
        if not self.scope.floats:
            return self.assign_float()
        v = self.rng.choice(self.scope.floats)
        self.emit(f"{v} {self.update(2)}")

    def update(self, depth: int) -> str:
        text = self.update_value(depth)
        return self.rng.choice(
            [
                f"+= {self.const(0.1, 0.4)} * ({text})",
                f"-= {self.const(0.1, 0.4)} * ({text})",
                f"*= math.cos({text})",
                f"/= 1.1 + ({text}) ** 2",
                f"*= {self.const(0.3, 0.9)}",
            ]
        )

    def assign_int(self) -> None:
        settable = [i for i in self.scope.ints if i.settable]
        if settable and self.chance(0.6):
            i = self.rng.choice(settable)
            if self.chance(0.3):
                self.emit(f"{i.name} += {self.integer()}")
                self.emit(f"{i.name} %= {i.high + 1}")
            else:
                self.emit(f"{i.name} = {self.integer()} % {i.high + 1}")
        else:
            i = Int(self.name("k"), 0, self.rng.randint(1, 5), settable=True)
            self.emit(f"{i.name} = {self.integer()} % {i.high + 1}")
            self.scope.ints.append(i)

    def assign_bool(self) -> None:
        if self.scope.bools and self.chance(0.5):
            self.emit(f"{self.rng.choice(self.scope.bools)} = {self.condition(1)}")
        else:
            v = self.name("q")
            self.emit(f"{v} = {self.condition(1)}")
            self.scope.bools.append(v)

    def store(self) -> None:
        a = self.pick_array()
        if a is None:
            return self.new_array()
        text = self.update_value(2)
        if self.loops and self.chance(0.5):
            text = f"0.5 * {self.element(a)} + 0.5 * ({text})"
        self.emit(f"{self.element(a)} = {text}")

    def augment_element(self) -> None:
        a = self.pick_array()
        if a is not None:
            self.emit(f"{self.element(a)} {self.update(1)}")

    def swap_elements(self) -> None:
        a = self.pick_array()
        if a is not None:
            p, q = self.element(a), self.element(a)
            self.emit(f"{p}, {q} = {q}, {p}")

    def new_array(self) -> None:
        model = self.pick_array("f8")
        shape: tuple[int, ...] = (
            (self.rng.randint(3, 5),) if self.chance(0.75) else (3, self.rng.randint(3, 4))
        )
        if model is not None and self.chance(0.6):
            shape = model.shape
        like = [a for a in self.scope.arrays if a.dtype == "f8" and a.shape == shape]
        dims = str(shape[0]) if len(shape) == 1 else str(shape)
        name = self.name("t")
        kind = self.rng.randrange(6)
        if kind == 0 and like:
            self.emit(f"{name} = {self.rng.choice(like).name}.copy()")
        elif kind == 1 and like:
            maker = self.rng.choice(["zeros", "ones"])
            self.emit(f"{name} = np.{maker}_like({self.rng.choice(like).name})")
        elif kind == 2:
            self.emit(f"{name} = np.full({dims}, {self.number(1)}, dtype=np.float64)")
        elif kind == 3 and self.trips * math.prod(shape) <= MAX_TRIPS:
            self.emit(f"{name} = np.empty({dims})")
            index = [self.name("i") for _ in shape]
            target = f"{name}[{', '.join(index)}]"
            for depth, (i, n) in enumerate(zip(index, shape, strict=True)):
                self.emit("    " * depth + f"for {i} in range({n}):")
            self.emit("    " * len(shape) + f"{target} = {self.number(1)} * {index[0]} + 0.3")
        elif kind == 4:
            self.emit(f"{name} = np.ones({dims}, dtype=np.float64)")
        else:
            self.emit(f"{name} = np.zeros({dims})")
        self.scope.arrays.append(Array(name, shape, thing=next(self.names)))

    def alias(self) -> None:
        a = self.pick_array()
        if a is not None:
            name = self.name("y")
            self.emit(f"{name} = {a.name}")
            self.scope.arrays.append(Array(name, a.shape, a.dtype, a.local, thing=a.thing))

    def movable(self) -> list[Array]:
        """Return the arrays whose names may be rebound here.

        Inside a branch or a loop, only those with no second name, or that second name would be
        bound to one of two objects afterwards.
        """
        arrays = self.scope.arrays
        return [
            a
            for a in arrays
            if not (a.pinned or a.captured)
            and a.dtype == "f8"
            and (self.nesting == 0 or (a.local and sum(b.thing == a.thing for b in arrays) == 1))
        ]

    def swap_arrays(self) -> None:
        options = self.movable()
        pairs = [
            (a, b)
            for a, b in itertools.combinations(options, 2)
            if a.shape == b.shape and a.thing != b.thing and a.dtype == b.dtype
        ]
        if not pairs:
            return self.new_array()
        a, b = self.rng.choice(pairs)
        self.emit(f"{a.name}, {b.name} = {b.name}, {a.name}")
        a.thing, b.thing = b.thing, a.thing
        if a.local != b.local:
            a.local = b.local = False

    def ping_pong(self) -> None:
        """Write a time loop over two buffers that change places."""
        model = self.pick_array("f8", 1)
        steps = self.rng.randint(0, 4)
        if model is None or self.trips * max(steps, 1) * model.shape[0] > MAX_TRIPS:
            return self.store()
        old, new, i = self.name("t"), self.name("t"), self.name("i")
        self.emit(f"{old} = {model.name}.copy()")
        self.emit(f"{new} = {self.rng.choice(['np.zeros_like', 'dup'])}({model.name})")
        arrays = [Array(name, model.shape, thing=next(self.names)) for name in (old, new)]
        self.scope.arrays += arrays
        with self.block(f"for {self.name('i')} in range({steps}):", max(steps, 1)):
            with self.block(f"for {i} in range(1, {self.size(model, 0)} - 1):", model.shape[0]):
                self.scope.ints.append(Int(i, 1, model.shape[0] - 2))
                for a in arrays:
                    a.pinned = True
                if self.chance(0.4):
                    self.body()
                shift = self.rng.choice(["- 1", "+ 1", "- 2"])
                self.emit(
                    f"{new}[{i}] = 0.6 * {old}[{i}]"
                    f" + 0.3 * math.sin({old}[{i} {shift}] * {old}[{i}])"
                    f" + 0.2 * ({self.update_value(1)})"
                )
                for a in arrays:
                    a.pinned = False
            self.emit(f"{old}, {new} = {new}, {old}")
            if self.chance(0.4):
                self.leave_loop()

    def rebind_array(self) -> None:
        options = self.movable()
        if options:
            a = self.rng.choice(options)
            self.emit(f"{a.name} = " + self.rng.choice([f"{a.name}.copy()", f"dup({a.name})"]))
            a.thing = next(self.names)

    def unpack(self) -> None:
        floats = self.scope.floats
        if len(floats) >= 2 and self.chance(0.5):
            p, q = self.rng.sample(floats, 2)
            self.emit(f"{p}, {q} = {q}, 0.5 * {p} + 0.5 * ({self.update_value(1)})")
            return
        t, p, q, r = (self.name("v") for _ in range(4))
        if self.chance(0.5):
            self.emit(f"{t} = ({self.number(1)}, {self.number(1)}, {self.integer(0)})")
            self.emit(f"{p}, {q}, {r} = {t}")
            self.emit(f"{q} = {q} + {t}[0] * {r} * 0.1")
        else:
            self.emit(f"{p}, {q} = pair({self.number(1)}, {self.leaf()})")
        floats += [p, q]

    def call_statement(self) -> None:
        one = self.pick_array("f8", 1)
        if one is None:
            return
        other = self.rng.choice([a for a in self.scope.arrays if a.shape == one.shape])
        if other.dtype == "i8":
            other = one
        if self.trips * one.shape[0] > MAX_TRIPS:
            return
        e = self.number(1)
        self.emit(
            self.rng.choice(
                [
                    f"put({one.name}, {e})",
                    f"put({one.name}, {e}, shift={self.integer()})",
                    f"put(value={e}, a={one.name})",
                    f"blend({one.name}, {other.name})",
                    f"blend({one.name}, {other.name}, rate={e})",
                ]
            )
        )

    def local_function(self) -> None:
        name, u = self.name("f"), self.name("u")
        arrays = list(self.scope.arrays)
        self.scope.fixed.append(u)
        text = self.number(2)
        target = self.pick_array("f8", 1)
        if target is not None and self.chance(0.3):
            slot = f"{target.name}[{self.index(target, 0)}]"
            self.emit(f"def {name}({u}):")
            self.emit(f"    {slot} = 0.5 * {slot} + 0.5 * math.sin({text})")
            self.emit(f"    return {slot}")
        elif self.chance(0.5):
            self.emit(f"{name} = lambda {u}: {text}")
        else:
            self.emit(f"def {name}({u}, c={self.const()}):")
            self.emit(f"    if {u} > c:")
            self.emit(f"        return {u} * 0.5 - c")
            self.emit(f"    return {text}")
        self.scope.fixed.remove(u)
        for a in arrays:
            a.captured = True
        self.scope.functions.append(
            Function(name, lambda w, depth: f"{name}({w.number(min(depth, 1))})")
        )

    def assertion(self) -> None:
        if self.scope.floats:
            self.emit(f"assert {self.rng.choice(self.scope.floats)} < 1e9")

    def branch(self) -> None:
        fresh = self.name("v") if self.chance(0.25) else ""
        heads = [f"if {self.condition(1)}:"]
        heads += [f"elif {self.condition(1)}:" for _ in range(self.rng.choice([0, 0, 0, 1, 2]))]
        if fresh or self.chance(0.6):
            heads.append("else:")
        things = [a.thing for a in self.scope.arrays]
        for head in heads:
            with self.block(head):
                self.body()
                if fresh:
                    self.emit(f"{fresh} = {self.number(1)}")
            if [a.thing for a in self.scope.arrays] != things:
                # Rebound in this branch: a new object from here on.
                for a, old in zip(self.scope.arrays, things, strict=True):
                    a.thing = a.thing if a.thing == old else next(self.names)
                things = [a.thing for a in self.scope.arrays]
        if fresh:
            self.scope.floats.append(fresh)

    def for_loop(self) -> None:
        kind = self.rng.randrange(8)
        a = self.pick_array()
        if a is None or self.trips * 5 > MAX_TRIPS:
            return self.assign_float()
        if kind <= 3 or len(a.shape) > 1:
            self.range_loop(a)
        elif kind == 4:
            v = self.name("v")
            over = a.name if self.chance(0.6) else f"reversed({a.name})"
            self.loop(f"for {v} in {over}:", a.shape[0], [a], elements=[(v, a)])
        elif kind == 5:
            i, v = self.name("i"), self.name("v")
            head = f"for {i}, {v} in enumerate({a.name}):"
            self.loop(head, a.shape[0], [a], Int(i, 0, a.shape[0] - 1), [(v, a)])
        elif kind == 6:
            b = self.rng.choice([x for x in self.scope.arrays if len(x.shape) == 1])
            b = b if b.dtype[0] == "f" else a
            u, v = self.name("v"), self.name("v")
            trips = min(a.shape[0], b.shape[0])
            if self.chance(0.3):
                k = Int(self.name("i"), 0, trips - 1)
                head = f"for {k.name}, ({u}, {v}) in enumerate(zip({a.name}, {b.name})):"
                self.loop(head, trips, [a, b], k, [(u, a), (v, b)])
            else:
                head = f"for {u}, {v} in zip({a.name}, {b.name}):"
                self.loop(head, trips, [a, b], None, [(u, a), (v, b)])
        else:
            v = self.name("v")
            head = f"for {v} in ({self.number(1)}, {self.const()}, {self.number(1)}):"
            self.loop(head, 3, [], None, [(v, None)])

    def range_loop(self, a: Array) -> None:
        axis = self.rng.randrange(len(a.shape))
        n, size = a.shape[axis], self.size(a, axis)
        i = self.name("i")
        bounded = [k for k in self.scope.ints if k.low >= 0 and k.high <= n]
        if bounded and self.chance(0.25):
            # The number of trips is known at run time only.
            k = self.rng.choice(bounded)
            text, low, high = self.rng.choice(
                [(f"{k.name}", 0, k.high), (f"{k.name}, {n}", k.low, n)]
            )
            high = max(high - 1, low)
        else:
            text, low, high = self.rng.choice(
                [
                    (f"{size}", 0, n - 1),
                    (f"{size}", 0, n - 1),
                    (f"1, {size}", 1, n - 1),
                    (f"1, {size} - 1", 1, n - 2),
                    (f"0, {size}, 2", 0, n - 1),
                    (f"{size} - 1, -1, -1", 0, n - 1),
                    (f"{size} - 2, 0, -1", 1, n - 2),
                    (f"{size} - 1, 0, -2", 1, n - 1),
                    (f"-{size}, 0", -n, -1),
                    (f"-1, -{size} - 1, -1", -n, -1),
                    ("2, 2", 0, 0),
                    ("0, 1", 0, 0),
                ]
            )
        span = f"range({text})"
        if self.chance(0.1):
            span = f"reversed({span})"
        self.loop(f"for {i} in {span}:", n, [], Int(i, low, high))

    def loop(
        self,
        head: str,
        trips: int,
        over: list[Array],
        index: Int | None = None,
        elements: list[tuple[str, Array | None]] | None = None,
    ) -> None:
        pinned = [(a, a.pinned) for a in over]
        for a in over:
            a.pinned = True
        with self.block(head, trips):
            if index is not None:
                self.scope.ints.append(index)
            for name, source in elements or ():
                single = source is not None and source.dtype == "f4"
                (self.scope.singles if single else self.scope.fixed).append(name)
            self.budget += 1
            self.body()
        for a, was in pinned:
            a.pinned = was
        self.loop_else()

    def loop_else(self) -> None:
        if self.chance(0.12):
            with self.block("else:"):
                self.body()

    def while_loop(self) -> None:
        if self.trips * 6 > MAX_TRIPS:
            return self.assign_float()
        k = Int(self.name("k"), 0, 6)
        limit = self.rng.choice([0, 1, 3, 5, 6])
        self.emit(f"{k.name} = 0")
        if self.chance(0.35):
            head = "while True:"
        elif self.chance(0.5):
            head = f"while {k.name} < {limit} and {self.condition(1)}:"
        else:
            head = f"while {k.name} < {limit}:"
        with self.block(head, 6):
            self.emit(f"{k.name} += 1")
            if head == "while True:":
                test = f"{k.name} >= {max(limit, 1)}"
                if self.chance(0.5):
                    test += f" or {self.condition(1)}"
                with self.block(f"if {test}:"):
                    if self.chance(0.3):
                        self.assign_float()
                    self.emit("break")
            self.scope.ints.append(k)
            self.budget += 1
            self.body()
        self.loop_else()

    def leave_loop(self) -> None:
        with self.block(f"if {self.condition(1)}:"):
            if self.chance(0.4):
                self.body()
            self.emit(self.rng.choice(["break", "continue", "continue"]))

    def early_return(self) -> None:
        with self.block(f"if {self.condition(1)}:"):
            self.emit(f"return {self.number(2)}")


def factor(text: str) -> str:
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"
