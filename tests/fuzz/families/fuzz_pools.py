"""Random programs of objects, dicts and lists of which the run decides how many there are.

    python -m tests.fuzz.families.fuzz_pools --n 1000 --seed 0 --shrink

Classes with links to each other, lists of lists, dicts and arrays are made in loops, and change
through whatever name a program has of them. In two of three programs a loop that makes one object
is enough for a pool, in the others more than eight are. Values and exceptions are compared with
Python's, gradients with differences; at times Hessian-vector products, forward mode and budgets,
too. What is refused is counted by its message.
"""

from __future__ import annotations

import argparse
import functools
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import adc
from adc.frontend import attempts
from adc.frontend.core.state import ConstantNeededError
from adc.ir.errors import AdcError, LimitError
from adc.ir.interp import ProgramError
from tests.fuzz.families.fuzz_pools_grammar import DATA, EXPRESSIONS, HEADS, STATEMENTS, Statement
from tests.fuzz.limits import Slow, limited
from tests.fuzz.program import Generated, forget, load
from tests.fuzz.shrink import shrink
from tests.oracle import chain as chains

_PLACE = re.compile(r"\{([A-Za-z]+)\}")
# The variables of a program, and by what part of it they are there.
_OWNER = {
    name: feature for feature, (_, names, _) in DATA.items() for each in names.values()
    for name in each
}  # fmt: skip
_OWNER["Leaf"] = "leaf"
_NAMES = re.compile(rf"(?<![.'\"])\b({'|'.join(_OWNER)})\b(?!=)")
_STEP = 1e-6
# Seconds of a core after which a program is slow.
LIMIT = 10.0
_HOW: Any = {"target": "python", "cache": False}


class _Writer:
    """Writes a program, of which `features` says what its data are."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0
        self.features = {each for each in DATA if rng.random() < 0.15} or {rng.choice(list(DATA))}
        if "leaf" in self.features:
            self.features.add("node")
        self.features.discard("group" if "node" not in self.features else "")
        # Names that loops and assignments have given to values of a kind, innermost last.
        self.names: dict[str, list[str]] = {}
        # Kinds of lists that loops are over, whose lengths stay.
        self.locked: set[str] = set()
        self.loops = 0

    def text(self) -> str:
        self.add(1, "n, i, s = len(x), 0, 0.0")
        results = ["s"]
        for feature in DATA:
            if feature in self.features:
                starts, names, result = DATA[feature]
                for line in self.filled(self.rng.choice(starts)).splitlines():
                    self.add(1, line)
                for kind, known in names.items():
                    self.names.setdefault(kind, []).extend(known)
                results.append(result)
        self.block(1, 1, self.rng.randint(0, 1))
        heads = ["for i in range(n):", "for i in range(3):", "for i, v in enumerate(x):"]
        self.add(1, self.rng.choice(heads))
        self.loops += 1
        self.block(2, 2, self.rng.randint(1, 3))
        self.loops -= 1
        self.block(1, 1, self.rng.randint(0, 2))
        self.add(1, f"return {' + '.join(results)}")
        heads = [HEADS[feature] for feature in HEADS if feature in self.features or feature == ""]
        return "".join(heads) + "\n\ndef program(x):\n" + "\n".join(self.lines) + "\n"

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    # -- expressions -----------------------------------------------------------------------------

    def possible(self, text: str) -> bool:
        """Whether there are values of all kinds in a text."""
        if any(_OWNER[name] not in self.features for name in _NAMES.findall(text)):
            return False
        return all(kind in self.names or kind in "ficak" for kind in _PLACE.findall(text))

    def filled(self, text: str, depth: int = 2) -> str:
        return _PLACE.sub(lambda found: self.expression(found[1], depth), text)

    def expression(self, kind: str, depth: int) -> str:
        if kind == "k":
            return f"{self.rng.uniform(0.1, 0.9):.2f}"
        simple, others = EXPRESSIONS.get(kind, ([], []))
        known = [*simple, *self.names.get(kind, ())]
        forms = [form for form in others if self.possible(form)] if depth > 0 else []
        if forms and (not known or self.rng.random() < 0.5):
            return self.filled(self.rng.choice(forms), depth - 1)
        return self.filled(self.rng.choice(known), depth - 1)

    # -- statements ------------------------------------------------------------------------------

    def block(self, depth: int, left: int, count: int) -> None:
        before = {kind: list(names) for kind, names in self.names.items()}
        for _ in range(count):
            self.statement(depth, left)
        if not count:
            self.add(depth, "pass")
        self.names = before

    def statement(self, depth: int, left: int) -> None:
        allowed = [each for each in STATEMENTS if self.allowed(each, left)]
        weights = [each.weight for each in allowed]
        chosen = self.rng.choices(allowed, weights)[0]
        for line in self.filled(chosen.text).splitlines():
            if line.strip() != "...":
                self.add(depth, line)
                continue
            self.inner(chosen, depth + line.index(".") // 4, left)

    def inner(self, chosen: Statement, depth: int, left: int) -> None:
        """Write the statements within another."""
        locked, self.locked = self.locked, self.locked | set(chosen.locks)
        self.loops += chosen.loop
        for kind, name in chosen.gives.items():
            self.names.setdefault(kind, []).append(name)
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth, left - 1)
        for kind in chosen.gives:
            self.names[kind].pop()
            if not self.names[kind]:
                del self.names[kind]
        self.loops -= chosen.loop
        self.locked = locked

    def allowed(self, each: Statement, left: int) -> bool:
        if "..." in each.text and left <= 0:
            return False
        if each.exits and not self.loops:
            return False
        return self.possible(each.text) and not self.locked & set(each.grows)


def generate(seed: int) -> Generated:
    """Return the program of a seed, and a sample."""
    rng = random.Random(f"pools {seed}")
    source = _Writer(rng).text()
    count = 4 if _is_forced(seed) else 9
    x = np.random.default_rng(seed).normal(size=count) + 0.3
    return Generated(source, load(source, seed), (x,), (0,), seed, "pools")


def _is_forced(seed: int) -> bool:
    return seed % 3 > 0


@contextmanager
def forced(seed: int) -> Iterator[None]:
    """Have objects in pools that a loop makes, however few, for most seeds."""
    if not _is_forced(seed):
        yield
        return
    with mock.patch.object(attempts, "_MOST_OBJECTS", 0):
        yield


# -- what is checked -------------------------------------------------------------------------------


def _in_python(generated: Generated, x: Any) -> Any:
    """Return the value of a program, or the exception that it raises."""
    try:
        return float(generated.fn(x.copy()))
    except Exception as error:
        return error


def _differences(compute: Callable[[Any], Any], x: Any, along: Any) -> Any:
    """Return the slope along a direction; None where differences do not tell it."""
    found = []
    for step in (_STEP, _STEP / 8):
        ends = [compute(x + sign * step * along) for sign in (1.0, -1.0)]
        if any(isinstance(end, Exception) for end in ends):
            return None
        found.append((ends[0] - ends[1]) / (2 * step))
    first, second = found
    close = np.allclose(first, second, rtol=1e-3, atol=1e-4) and np.all(np.isfinite(first))
    return first if close else None


def check(generated: Generated) -> str:
    """Return what is wrong with a program: nothing, if it starts with "ok" or "refused"."""
    wanted = _public if generated.seed % 4 == 0 else _interpreted
    with forced(generated.seed), np.errstate(all="ignore"):
        try:
            with limited(LIMIT):
                return _checked(generated, wanted)
        except Slow:
            return "refused: slow"
        except LimitError as error:
            return f"refused: at run time {error}"
        except AdcError as error:
            return f"refused: {error.code} {error.message.splitlines()[0]}"
        except Exception as error:
            return f"crash: {type(error).__name__}: {error}"


def _public(fn: Any, x: Any) -> tuple[Any, Any]:
    """Return value and gradient of a program, by the public functions."""
    value, slopes = adc.value_and_grad(fn, **_HOW)(x.copy())
    return value, slopes


def _interpreted(fn: Any, x: Any) -> tuple[Any, Any]:
    """Return the same, without planning what to store: for any size, so everything is in pools."""
    try:
        chain = chains.Chain.of(fn, (x.copy(),), (0,))
    except ConstantNeededError:
        return _public(fn, x)
    try:
        results = chains.run(chain.lowered.fn, chains.fresh(chain.inputs))
        value = chains.rebuild(chain.lowered.result, iter(results))
        slopes = chain.gradient(chains.run(chain.adjoint, chains.fresh(chain.inputs)))[0]
    except ProgramError as error:
        raise error.error from None
    return value, slopes


def _checked(generated: Generated, compute: Callable[[Any, Any], tuple[Any, Any]]) -> str:
    fn, (x,), seed = generated.fn, generated.args, generated.seed
    want = _in_python(generated, x)
    try:
        value, slopes = compute(fn, x)
    except (AdcError, LimitError):
        raise
    except Exception as error:
        named = " object at 0x" in str(want)  # no two runs have the same text
        if type(error) is type(want) and (named or str(error) == str(want)):
            return "ok: raises"
        return f"raised: {error!r} instead of {want!r}"
    if isinstance(want, Exception):
        return f"value: {value} instead of {want!r}"
    if not np.isfinite(want) or abs(want) > 1e8:
        return "ok: large"
    if not np.allclose(value, want, rtol=1e-9, atol=1e-9):
        return f"value: {value} instead of {want}"
    for k, axis in enumerate(np.eye(len(x))):
        slope = _differences(lambda at: _in_python(generated, at), x, axis)
        if slope is not None and not np.isclose(slopes[k], slope, rtol=1e-3, atol=1e-3):
            return f"slope: {slopes[k]} instead of {slope} at {k}"
    if seed % 20 == 0:
        return _second(fn, x, np.random.default_rng(seed).normal(size=len(x)), slopes)
    if seed % 20 == 4:
        return _frugal(fn, x, value, slopes)
    return "ok"


def _second(fn: Any, x: Any, along: Any, slopes: Any) -> str:
    """Compare forward mode with the gradient, and second derivatives with differences."""
    _, tangent = adc.jvp(fn, (x.copy(),), (along,), **_HOW)
    if not np.isclose(tangent, slopes @ along, rtol=1e-6, atol=1e-6):
        return f"forward: {tangent} instead of {slopes @ along}"
    gradient = adc.grad(fn, **_HOW)
    found = np.asarray(adc.hvp(fn, (x.copy(),), (along,), **_HOW))
    second = _differences(lambda at: gradient(at.copy()), x, along)
    if second is not None and not np.allclose(found, second, rtol=1e-2, atol=1e-2):
        return f"second: {found} instead of {second}"
    return "ok"


def _frugal(fn: Any, x: Any, value: Any, slopes: Any) -> str:
    """Compare with what a budget makes of a program."""
    try:
        found, others = adc.value_and_grad(fn, cache=False, memory="3 KB")(x.copy())
    except (AdcError, MemoryError):
        return "ok"
    if found != value or not np.allclose(others, slopes, rtol=1e-10, atol=1e-12):
        return f"budget: {found}, {others} instead of {value}, {slopes}"
    return "ok"


def _kind(found: str) -> str:
    """Return what kind of a problem this is: what shrinking must keep."""
    return found[:40] if found.startswith("crash") else found.partition(":")[0]


def _message(found: str) -> str:
    """Return a message without the names in it."""
    return re.sub(r"'\w+'|\d+", "_", found)[:110]


def _still(wanted: str, generated: Generated) -> bool:
    return wanted in check(generated)


def main() -> int:
    """Check programs of consecutive seeds, and print those that fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shrink", action="store_true", help="reduce programs that fail")
    parser.add_argument("--show", action="store_true", help="print the program of this seed")
    parser.add_argument("--refused", help="print the programs whose refusal has this text")
    options = parser.parse_args()
    if options.show:
        print(generate(options.seed).source)
        return 0
    start, counts, refused = time.perf_counter(), Counter[str](), Counter[str]()
    for seed in range(options.seed, options.seed + options.n):
        generated = generate(seed)
        found = check(generated)
        counts[found.partition(":")[0]] += 1
        if found.startswith("refused"):
            refused[_message(found)] += 1
        shown = bool(options.refused) and options.refused in found
        if not found.startswith(("ok", "refused")) or shown:
            wanted = options.refused if shown else _kind(found)
            if options.shrink:
                fails = functools.partial(_still, wanted)
                generated = shrink(generated, fails, raising=True)
            print(f"--- {seed}: {found}\n{generated.source}", flush=True)
        forget(generated)
    for message, count in refused.most_common():
        print(f"{count:6} {message}")
    print(f"{dict(counts)}, {time.perf_counter() - start:.0f} s")
    return int(any(not kind.startswith(("ok", "refused")) for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
