"""Random programs that call any function that adc supports, inside any control flow.

    python -m tests.fuzz campaign --kind library --n 1000

What is called comes from tables of expressions: those of `tests.oracle.numpy_sweep`, for NumPy,
`math` and the builtins, and those of `writers.calls`, for SciPy. The arguments of an expression are
variables of the program, so results are arguments of what follows. The writer runs each expression
before it writes it, so it knows what comes out; what raises, or is not finite, is left out.
"""

from __future__ import annotations

import copy
import functools
import math
import random
import re
import warnings
from typing import Any

import numpy as np

from adc.frontend.numpy import library
from tests.fuzz.program import Generated, forget, load
from tests.fuzz.writers import calls
from tests.oracle import numpy_sweep

_NAMES = re.compile(r"(?<![\w.'])(x|y|z|a|b|v|w|m|s|p|u|n|n2|i|j|k|c)\b(?!['=(])")
# What each letter of an expression may be: shapes of arrays of floats, or other kinds.
_SHAPES: dict[str, list[tuple[int, ...]]] = {
    "x": [(), (3,), (2, 3)], "y": [(), (3,)], "z": [(), (3,)], "a": [(3,), (2, 3)],
    "b": [(3,), (2, 3)], "v": [(3,)], "w": [(3,)], "m": [(2, 3)], "s": [(3, 3)], "u": [(8,)],
    "n": [()], "n2": [()],
}  # fmt: skip
_RANGES = ((-0.9, 0.9), (0.2, 0.95), (1.1, 2.4), (-2.6, 2.6))
_LARGE = 1e4


@functools.cache
def table() -> dict[str, list[str]]:
    """Return the expressions of every function."""
    special = [name.split(".")[-1] for name in library.named() if ".special." in name]
    found = {**numpy_sweep.table(), **calls.TABLE, **calls.ufuncs(special)}
    return {name: forms for name, forms in found.items() if forms}


class _Writer:
    def __init__(self, rng: random.Random, values: dict[str, Any]) -> None:
        self.rng = rng
        self.values = values  # of every variable that may be an argument, where it stands
        self.lines: list[str] = []
        self.heads: list[str] = []
        self.depth = 1
        self.count = 0
        self.namespace: dict[str, Any] = {}
        exec(calls.IMPORTS, self.namespace)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # -- arguments ---------------------------------------------------------------------------------

    def like(self, shape: tuple[int, ...]) -> str:
        """Return an expression for an array of floats of this shape, mostly a variable."""
        names = [k for k, v in self.values.items() if _is_float(v) and np.shape(v) == shape]
        name = self.rng.choice(names)
        if self.rng.random() < 0.7:
            return name
        forms = {
            (): [f"{name} * 0.7", f"np.sin({name})", "v[0]", "m[1, 2]", "math.tanh(n)", "u[k]"],
            (3,): [f"{name}[::-1]", "m[0]", "m[1]", "s[:, 1]", "s.diagonal()", "u[:3]", "u[1:7:2]",
                   f"{name} + 0.1 * n", "m.sum(axis=0)", f"np.cos({name})"],
            (2, 3): [f"{name}[::-1]", "s[:2]", "s[1:]", f"{name} * 0.5", "u[:6].reshape(2, 3)",
                     f"{name}[:, ::-1]", "s.T[:2]"],
            (3, 3): [f"{name}.T", "m.T @ m", f"{name} * v", "np.outer(v, w)", f"{name}[::-1]"],
            (8,): [f"{name}[::-1]", f"{name} * n", f"np.sin({name})", "np.append(m, v[:2])"],
        }  # fmt: skip
        return f"({self.rng.choice(forms[shape])})"

    def argument(self, letter: str, shapes: dict[str, tuple[int, ...]]) -> str:
        if letter == "k":
            return "k"
        if letter in "ij":
            return self.rng.choice(["q", "k"])
        if letter == "c":
            return self.rng.choice(["(v > 0.1)", "(w < v)", "(n > 0.2)"])
        if letter == "p":
            name = self.like((3, 3))
            return f"({name} @ {name}.T * 0.3 + 2.0 * np.eye(3))"
        if letter in "ab":
            letter = "a"
        if letter not in shapes:
            shapes[letter] = self.rng.choice(_SHAPES[letter])
        return self.like(shapes[letter])

    def call(self) -> tuple[list[str], str]:
        """Return statements, and an expression after them."""
        text = self.rng.choice(table()[self.rng.choice(list(table()))])
        *before, last = text.split("; ")
        shapes: dict[str, tuple[int, ...]] = {}
        chosen: dict[str, str] = {}
        assigned = set(re.findall(r"(?<![\w.])(\w) = ", text))
        for letter in assigned:
            chosen[letter] = self.fresh("b")

        def replace(match: re.Match[str]) -> str:
            letter = match[1]
            if letter not in chosen:
                chosen[letter] = self.argument(letter, shapes)
            return chosen[letter]

        done = [_NAMES.sub(replace, part) for part in (*before, last)]
        return done[:-1], done[-1]

    def result(self, before: list[str], text: str) -> Any:
        """Return what an expression gives here; None if it is of no use."""
        scope = {**self.namespace, **copy.deepcopy(self.values)}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                for line in before:
                    exec(line, scope)
                found = eval(text, scope)
            except Exception:
                return None
        return found if _is_useful(found) else None

    # -- statements --------------------------------------------------------------------------------

    def statement(self) -> None:
        for _ in range(30):
            before, text = self.call()
            found = self.result(before, text)
            if found is not None:
                break
        else:
            return
        kinds = ["plain", "plain", "plain", "branch", "loop", "function", "list", "tried", "stored"]
        kind = self.rng.choice(kinds)
        name = self.fresh("t")
        depth = self.depth
        if kind == "branch":
            self.emit(f"if {self.rng.choice(['n', 'v[1]', 'total'])} {self.rng.choice('<>')} 0.31:")
            self.depth += 1
        elif kind == "loop":
            self.emit(f"for {self.fresh('r')} in range({self.rng.choice(['2', 'k', '3'])}):")
            self.depth += 1
            self.emit(self.rng.choice(["n = 0.8 * n + 0.05", "v = v * 0.9", "m = m * 0.9 + 0.02",
                                       "v[1] = 0.5 * v[1] + 0.2 * n", "s[0] *= 0.9"]))  # fmt: skip
        elif kind == "tried":
            self.emit("try:")
            self.depth += 1
        for line in before:
            self.emit(line)
        if kind == "function" and not before:
            inner = self.fresh("f")
            names = sorted(set(re.findall(r"\b\w+\b", text)) & self.values.keys())
            self.emit(f"def {inner}({', '.join(names)}):")
            self.emit(f"    return {text}")
            self.emit(f"{name} = {inner}({', '.join(names)})")
        elif kind == "list" and not before:
            self.emit(f"{name} = [{text} for _ in range(2)][1]")
        elif kind == "stored":
            self.emit(f"{name} = {{'t': ({text}, 0.5)}}['t'][0]")
        else:
            self.emit(f"{name} = {text}")
        self.fold(name, found, 0)
        if kind == "tried":
            self.depth = depth
            self.emit("except (ValueError, ZeroDivisionError, IndexError, np.linalg.LinAlgError):")
            self.emit("    total += n")
        self.depth = depth
        keeps = kind in ("plain", "stored", "function", "list") and not isinstance(found, list)
        if (
            keeps
            and _is_float(found)
            and np.shape(found) in {s for t in _SHAPES.values() for s in t}
        ):
            self.values[name] = copy.deepcopy(found)
            if isinstance(found, np.ndarray) and self.rng.random() < 0.3:
                self.change(name, found)

    def change(self, name: str, found: Any) -> None:
        """Write to an array; what shares its memory changes, too."""
        if not found.flags.writeable or not found.ndim:
            return
        forms = [f"{name}[0] = 0.3 * n", f"{name} *= 0.7", f"{name}[-1] += 0.2", f"{name}[:] *= n"]
        text = self.rng.choice(forms)
        self.emit(text)

    def fold(self, name: str, found: Any, level: int) -> None:
        """Add what a result amounts to, to the total."""
        if isinstance(found, tuple | list):
            for k, part in enumerate(found[:3]):
                self.fold(f"{name}[{k}]", part, level + 1)
            return
        c = f"{self.rng.uniform(0.2, 0.8):.3f}"
        array = np.asarray(found)
        if array.dtype.kind == "c":
            self.emit(f"total += {c} * np.sum(np.tanh(np.abs({name}) ** 2))")
        elif array.dtype.kind in "iub":
            self.emit(f"total += 0.01 * np.sum({name}) * n")
        elif array.ndim:
            forms = ["np.sum(np.tanh({}))", "np.tanh({}).sum()", "np.sum(np.sin({} * n))"]
            form = self.rng.choice([*forms, "np.mean(np.tanh({} * 0.5))"])
            self.emit(f"total += {c} * {form.format(name)}")
        else:
            self.emit(f"total += {c} * {self.rng.choice(['np', 'math'])}.tanh({name})")


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.ndarray) and np.asarray(value).dtype == np.float64


def _is_useful(found: Any) -> bool:
    if isinstance(found, tuple | list):
        return 0 < len(found) and all(map(_is_useful, found))
    if not isinstance(found, bool | int | float | complex | np.ndarray | np.generic):
        return False
    array = np.asarray(found)
    if array.dtype.kind not in "biufc" or array.size > 200:
        return False
    if array.dtype.kind in "iu":
        return bool(np.all(np.abs(array.astype(float)) < _LARGE))
    return bool(np.all(np.isfinite(array)) and np.all(np.abs(array) < _LARGE))


def generate(seed: int, size: int = 4) -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, attempt)
        if generated is None:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                value = float(generated.fn(*generated.make_args()))
            except Exception:
                value = math.nan
        if abs(value) < _LARGE:
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _generate(seed: int, size: int, attempt: int) -> Generated | None:
    rng = random.Random(f"library/{seed}/{size}/{attempt}")
    numbers = np.random.default_rng(rng.randrange(2**32))
    low, high = rng.choice(_RANGES)

    def sample(*shape: int) -> Any:
        return np.round(numbers.uniform(low, high, shape), 4)

    args = {
        "n": float(sample()), "n2": float(sample()), "v": sample(3), "w": sample(3),
        "m": sample(2, 3), "s": sample(3, 3), "u": sample(8), "k": rng.choice([1, 2, 3]),
        "q": np.array([0, 2, 1]),
    }  # fmt: skip
    writer = _Writer(rng, dict(args))
    writer.emit("total = 0.0")
    for _ in range(size):
        writer.statement()
    if not writer.count:
        return None
    writer.emit("return total")
    source = "\n".join([calls.IMPORTS, "", f"def program({', '.join(args)}):", *writer.lines, ""])
    try:
        fn: Any = load(source, seed)
    except SyntaxError:
        return None
    return Generated(source, fn, tuple(args.values()), tuple(range(7)), seed, "library")


__all__ = ["generate", "table"]
