"""Random structured programs of numbers and elements, the same for the same seed.

A program is Python *source*: helper functions and one function ``program`` over scalars, arrays
and integers, with every control structure and every way of mutating and renaming arrays that the
language has. It is built so that

* it runs: every name is assigned before it is read, every index is within bounds, loops end;
* values stay of order one, so that derivatives are well conditioned;
* comparisons are against generic constants, so that no sample lies on a kink;
* integers stay small, and dtypes do not depend on the path taken;
* what two names are bound to never depends on data, except for swaps and fresh arrays.

`check` is the place where properties are checked; everything else is generation.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.program import Generated, Unreliable, forget, load
from tests.fuzz.writers.functions import LIBRARY, helper, library_functions
from tests.fuzz.writers.scalars import Array, Int, ScalarWriter
from tests.oracle import oracle


def generate(seed: int, size: int = 18, draws: bool = False) -> Generated:
    """Return the random program of this seed, with about `size` statements.

    With `draws` it draws random numbers.
    """
    rng = random.Random(f"{seed}/{size}")
    names = itertools.count()
    single = rng.random() < 0.15
    numbers = np.random.default_rng(rng.randrange(2**32))
    w = ScalarWriter(rng, names, single)
    w.scope.functions += library_functions()
    lines = LIBRARY.splitlines()
    for k in range(rng.choice([0, 1, 1, 2])):
        text, function = helper(rng, names, f"helper{k}")
        lines += ["", "", *text]
        w.scope.functions.append(function)

    args: list[Any] = []
    parameters: list[str] = []
    argnums: list[int] = []

    def parameter(name: str, value: Any, differentiable: bool) -> None:
        if differentiable:
            argnums.append(len(args))
        parameters.append(name)
        args.append(value)

    def sample(*shape: int) -> Any:
        return np.round(numbers.uniform(-1.2, 1.2, shape), 4)

    for _ in range(rng.choice([1, 1, 2])):
        name, x = w.name("x"), float(sample(1)[0])
        parameter(name, np.float64(x) if rng.random() < 0.3 else x, True)
        w.scope.floats.append(name)
    if single:
        name = w.name("x")
        parameter(name, np.float32(sample(1)[0]), True)
        w.scope.singles.append(name)
    for k in range(rng.choice([1, 2, 2, 3])):
        name = w.name("a")
        shape = (3, rng.randint(3, 4)) if k and rng.random() < 0.4 else (rng.randint(3, 5),)
        dtype = "f4" if single and rng.random() < 0.5 else "f8"
        parameter(name, sample(*shape).astype(dtype), True)
        w.scope.arrays.append(Array(name, shape, dtype, local=False, thing=next(names)))
    if rng.random() < 0.35:
        name, n = w.name("d"), rng.randint(3, 5)
        table = numbers.integers(-2, 3, n).astype(rng.choice(["i8", "i4", "i1"]))
        parameter(name, table, False)
        w.scope.arrays.append(Array(name, (n,), "i8", local=False, thing=next(names)))
    if rng.random() < 0.35:
        name, n = w.name("n"), rng.randint(0, 4)
        parameter(name, n, False)
        w.scope.ints.append(Int(name, n, n))
    if rng.random() < 0.15:
        parameter("flag", rng.random() < 0.5, False)
        w.scope.bools.append("flag")

    if draws:
        w.draws = True
        w.emit(f"rng = np.random.default_rng({seed})")
    w.budget = size
    while w.budget > 0:
        w.statement()
    # Most of what was computed should matter: the result reads the floats and all of some arrays.
    terms = [f"({w.number(1)})", *rng.sample(w.scope.floats, min(len(w.scope.floats), 4))]
    terms += [f"np.float64({name})" for name in rng.sample(w.scope.singles, min(single, 1))]
    for a in w.scope.arrays:
        if a.dtype == "f8" and len(a.shape) == 1 and rng.random() < 0.6:
            terms.append(f"total({a.name})")
        elif a.dtype != "i8" and rng.random() < 0.3:
            terms.append(f"math.sin({w.element(a)})")
        elif a.dtype != "i8":
            index = [w.name("i") for _ in a.shape]
            result = w.name("v")
            w.emit(f"{result} = 0.0")
            for depth, (i, n) in enumerate(zip(index, a.shape, strict=True)):
                w.emit("    " * depth + f"for {i} in range({n}):")
            at = f"{a.name}[{', '.join(index)}]"
            w.emit("    " * len(index) + f"{result} += {at} * {at} * {w.const(0.1, 0.5)}")
            terms.append(f"{result}")
    w.emit("return " + " + ".join(terms))
    lines += ["", "", f"def program({', '.join(parameters)}):", *w.lines, ""]
    source = "\n".join(lines)
    kind = "draws" if draws else "scalars"
    return Generated(source, load(source, seed), tuple(args), tuple(argnums), seed, kind)


@dataclass(frozen=True)
class Checkable:
    """A program with its value and a gradient that two independent methods agree on.

    `magnification` is the program's `oracle.sensitivity`, which its comparisons should allow for.
    """

    generated: Generated
    value: float
    gradient: tuple[oracle.Gradient, ...]
    magnification: float


def known_gradient(generated: Generated) -> Checkable:
    """Return the program with its gradient.

    Raises
    ------
    Unreliable
        If that gradient cannot be trusted.
    """
    fn, args, argnums = generated.fn, generated.args, generated.argnums
    try:
        value = float(oracle.value(fn, args))
    except ValueError as e:  # an expression that is written twice draws twice
        raise Unreliable(str(e)) from e
    if not math.isfinite(value) or abs(value) > 1e4:
        raise Unreliable(f"value {value}")
    try:
        gradient = oracle.complex_step_gradient(fn, args, argnums)
        magnification = oracle.sensitivity(fn, args, argnums)
        other, error = oracle.finite_differences(fn, args, argnums)
    except oracle.OracleError as e:
        raise Unreliable(str(e)) from e
    single = any(getattr(x, "dtype", None) == np.float32 for x in args) or "float32" in (
        generated.source
    )
    scale = oracle.largest(gradient)
    if not scale < 1e4 or magnification > (100.0 if single else 1e5):
        raise Unreliable(f"ill conditioned: {scale=:.3g} {magnification=:.3g}")
    problem = oracle.gradient_mismatch(other, gradient, rtol=1e-6, atol=1e-8)
    if problem:
        raise Unreliable(f"finite differences (error {error:.1g}): {problem}")
    return Checkable(generated, value, gradient, magnification)


def generate_checkable(seed: int, size: int = 18) -> Checkable:
    """Return the first program of this seed's own sequence whose gradient is known."""
    for k in range(100):
        generated = generate(seed + k * 1_000_000_007, size)
        try:
            return known_gradient(generated)
        except Unreliable:
            forget(generated)
    raise AssertionError(f"no checkable program for seed {seed}")


def check(generated: Generated, *, compiled: bool, quick: bool = False) -> list[str]:
    """Return what is wrong with adc's treatment of a program; `compiled` asks for the slow part.

    `quick`: the gradient as it is emitted under one of the plans, and no stage before it;
    directions of one program in ten.

    Raises
    ------
    Unreliable
        If there is nothing to compare with.
    """
    from tests.oracle import chain as chains  # here, so that generating programs needs no adc

    known = known_gradient(generated)
    args = generated.make_args()
    chain = chains.Chain.of(generated.fn, args, generated.argnums)
    want = chains.flat_gradient(known.gradient)
    policies = ("store", "recompute", f"random:{generated.seed}", f"random:{generated.seed + 1}")
    value = float(chain.run(chain.primal)[0])
    problems: list[str] = []
    size = max(1.0, known.magnification) * max(1.0, abs(known.value))
    if not abs(value - known.value) <= 1e-9 * size:
        problems.append(f"value {value} instead of {known.value}")
    magnification = known.magnification
    if quick:
        policy = ("auto", *policies)[generated.seed % (1 + len(policies))]
        problems += chains.check_last(chain, want, policy, magnification=magnification)
    else:
        problems += chains.check_stages(
            chain, want, magnification=magnification, policies=("auto", *policies)
        )
        problems += chains.check_passes(chain, policies[generated.seed % len(policies)])
    problems += chains.check_tangent(chain, np.random.default_rng(generated.seed))
    if not quick or generated.is_tenth:
        rng = np.random.default_rng(generated.seed)
        problems += chains.check_directions(chain, rng, generated.choice(chains.WAYS)) or []
        problems += chains.check_dependence(chain, rng, generated.choice(chains.PATTERNS))
    if compiled:
        problems += chains.check_compiled(
            chain,
            want,
            magnification=magnification,
            policies=("auto", policies[generated.seed % len(policies)]),
        )
    return problems
