"""Random programs of array expressions, views and containers.

    python -m tests.fuzz --kind arrays --n 100
    python -m tests.fuzz --kind stencils --n 100

The writer knows the shape of every array, so that what it writes is valid NumPy: whole-array
expressions with broadcasting, slices with ends of every form, views of views that are written
through, assignments whose two sides overlap, masks, index arrays, reductions, products, rows as
loop variables. Places inside containers (``p["w"]``, ``o.state``, ``rows[1]``) are names like any
other to it, so everything that is done to variables is done to them as well. Programs of the kind
`stencils` are mostly neighbours: `a[1:-1] = 0.3 * (a[:-2] + a[2:])`, through views and transposes
too, differences along an axis with a limiter, and steps in time.

What cannot be excluded by construction (a value that grows, a division that fails) is excluded by
running the program: `generate` takes the first of the seed's own sequence that runs.

`check` compares the value with Python's, the gradient with finite differences along random
directions and with forward mode, all stages with each other, and the results before and after
every pass.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.fuzz.program import Generated, Unreliable, forget, load
from tests.fuzz.writers.containers import ContainerWriter
from tests.fuzz.writers.functions import LIBRARY, helper, library_functions
from tests.fuzz.writers.libraries import ARRAY_LIBRARY, CONTAINER_LIBRARY, IMPORTS
from tests.fuzz.writers.scalars import Array, Int
from tests.oracle import oracle


class ArrayWriter(ContainerWriter):
    """Writes statements about whole arrays, views and containers, and those about elements."""

    # -- statements --

    def options(self) -> list[tuple[float, Callable[[], None]]]:
        scalars, arrays, containers = self.shares
        weighted: list[tuple[float, Callable[[], None]]] = [
            (0.6, self.assign_float), (0.5, self.augment_float), (0.6, self.assign_int),
            (0.5, self.store), (0.4, self.augment_element),
        ]  # fmt: skip
        deep = self.nesting >= 3
        if scalars:
            more: list[tuple[float, Callable[[], None]]] = [
                (0.2, self.assign_bool), (0.3, self.swap_elements), (0.3, self.alias),
                (0.4, self.swap_arrays), (0.3, self.rebind_array), (0.3, self.unpack),
                (0.3, self.call_statement), (0.3, self.local_function), (0.1, self.assertion),
            ]  # fmt: skip
            weighted += [(w * scalars, f) for w, f in more]
        more = [
            (2.0, self.new_from_expression), (1.6, self.bind_view), (3.0, self.store_slice),
            (2.4, self.augment_slice), (1.2, self.fancy_store), (0.9, self.masked_store),
            (0.8, self.in_place_call), (0.5, self.keep_mask), (0.4, self.keep_table),
            (0.8, self.rebind_expression), (0.6, self.ragged), (0.4, self.call_helper),
            (0.4, self.unpack_array), (0.3, self.swap_rows), (0.2, self.match_statement),
            (0.3, self.walrus), (0.2, self.delete), (0.25, self.moving_view),
        ]  # fmt: skip
        weighted += [(w * arrays, f) for w, f in more]
        if not deep:
            weighted += [(0.9, self.branch), (0.9, self.for_loop), (0.35, self.while_loop)]
            weighted += [(1.2 * arrays, self.row_loop), (0.3 * scalars, self.ping_pong)]
        if containers:
            more = [
                (0.8, self.new_list), (0.8, self.new_dict), (0.7, self.new_named_tuple),
                (0.8, self.new_object), (0.6, self.grow_list), (0.6, self.list_of_arrays),
                (0.6, self.grow_arrays), (0.5, self.draw),
                (0.6, self.container_step), (0.4, self.star), (0.3, self.new_rate),
            ]  # fmt: skip
            weighted += [(w * containers, f) for w, f in more]
        if self.stencils:
            more = [
                (5.0, self.stencil), (2.0, self.fluxes), (1.0, self.bind_view),
                (1.0, self.store_slice), (1.0, self.augment_slice),
            ]  # fmt: skip
            weighted += [(w * self.stencils, f) for w, f in more]
            if not deep:
                weighted += [(2.0 * self.stencils, self.sweeps)]
        if self.loops:
            weighted += [(0.5, self.leave_loop)]
        if self.returns and self.nesting:
            weighted += [(0.1, self.early_return)]
        if self.single:
            weighted += [(0.3, self.assign_single), (0.5, self.new_single)]
        return weighted

    def statement(self) -> None:
        self.budget -= 1
        options = self.options()
        self.rng.choices([f for _, f in options], [w for w, _ in options])[0]()


_SHARES = {
    "stencils": {"scalars": 0.1, "arrays": 0.5, "containers": 0.0, "stencils": 1.0},
    "arrays": {"scalars": 0.5, "arrays": 1.0, "containers": 0.0},
    "containers": {"scalars": 0.5, "arrays": 0.4, "containers": 1.6},
    "mixed": {"scalars": 1.0, "arrays": 0.8, "containers": 0.5},
}


# What a program calls numbers of lower than double precision.
LOWER = re.compile(r"\bfloat(?:32|16)\b|(?<=np\.)(?:single|half)\b")
_REFUSED = 0.02  # the share of programs that adc must refuse


def generate(seed: int, size: int = 12, kind: str = "arrays") -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, kind, attempt)
        if _usable(generated):
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _usable(generated: Generated) -> bool:
    try:
        with np.errstate(all="ignore"):
            value = float(generated.fn(*generated.make_args()))
    except (ArithmeticError, ValueError, IndexError, TypeError):
        return False
    return math.isfinite(value) and abs(value) < 1e4


def _generate(seed: int, size: int, kind: str, attempt: int) -> Generated:
    rng = random.Random(f"{kind}/{seed}/{size}/{attempt}")
    names = itertools.count()
    single = rng.random() < 0.12
    numbers = np.random.default_rng(rng.randrange(2**32))
    w = ArrayWriter(rng, names, single, **_SHARES[kind])
    w.scope.functions += library_functions()
    lines = [*IMPORTS.splitlines(), *LIBRARY.splitlines(), "", *ARRAY_LIBRARY.splitlines(), ""]
    if kind in ("containers", "mixed"):
        lines += CONTAINER_LIBRARY.splitlines()
    if kind == "mixed" and rng.random() < 0.5:
        text, function = helper(rng, names, "helper0")
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

    name = w.name("x")
    parameter(name, float(sample(1)[0]), True)
    w.scope.floats.append(name)
    for k in range(rng.choice([1, 2, 2, 3])):
        name = w.name("a")
        shape = rng.choice([(3,), (4,), (5,)]) if k == 0 else w.new_shape()
        dtype = "f4" if single and rng.random() < 0.5 else "f8"
        parameter(name, sample(*shape).astype(dtype), True)
        w.scope.arrays.append(Array(name, shape, dtype, local=False, thing=next(names)))
    if rng.random() < 0.3:
        name, n = w.name("d"), rng.randint(2, 5)
        table = numbers.integers(-2, 3, n).astype(rng.choice(["i8", "i4"]))
        parameter(name, table, False)
        w.scope.arrays.append(Array(name, (n,), "i8", local=False, thing=next(names)))
    if rng.random() < 0.2:
        shape = rng.choice([a.shape for a in w.floats()])
        name = w.name("m")
        parameter(name, numbers.random(shape) < 0.5, False)
        w.scope.arrays.append(Array(name, shape, "b1", local=False, thing=next(names)))
    if rng.random() < 0.4:
        name, n = w.name("n"), rng.randint(0, 4)
        parameter(name, n, False)
        w.scope.ints.append(Int(name, n, n))

    w.budget = size
    refused = "ADC013" if rng.random() < _REFUSED else ""
    while w.budget > 0:
        w.statement()
        if refused and w.budget < size // 2:
            refused = _ambiguous(w)
            break
    terms = [f"({w.number(1)})", *rng.sample(w.scope.floats, min(len(w.scope.floats), 4))]
    for a in w.floats():
        total = f"np.sum({a.name} * {a.name})" if rng.random() < 0.5 else f"{a.name}.sum()"
        weights = f"np.arange({a.shape[-1]}.0) + 0.5"
        total = rng.choice([total, f"np.sum({a.name} * ({weights}))"])
        terms.append(f"{w.const(0.1, 0.4)} * " + (f"float({total})" if a.dtype == "f4" else total))
    w.emit("return " + " + ".join(terms))
    lines += ["", "", f"def program({', '.join(parameters)}):", *w.lines, ""]
    source = "\n".join(lines)
    return Generated(source, load(source, seed), tuple(args), tuple(argnums), seed, kind, refused)


def _ambiguous(w: ArrayWriter) -> str:
    """Write a store to a name that may be one of two arrays; return the code of the refusal."""
    floats = [a for a in w.floats() if a.dtype == "f8" and a.name.isidentifier()]
    pairs = [(a, b) for a in floats for b in floats if a.shape == b.shape and a.thing != b.thing]
    if not pairs or not w.scope.floats:
        return ""
    a, b = w.rng.choice(pairs)
    y = w.name("y")
    w.emit(f"{y} = {a.name} if {w.scope.floats[0]} > {w.const()} else {b.name}")
    w.emit(f"{y}[0] = 0.1337")
    w.emit(f"{y} = {a.name}[0] + {b.name}[0]")
    return "ADC013"


def check(
    generated: Generated, *, compiled: bool, directions: int = 3, quick: bool = False
) -> list[str]:
    """Return what is wrong with adc's treatment of a program; the first word says of what kind.

    `quick`: the gradient as it is emitted under one of the plans, and no stage before it;
    directions of one program in ten.

    Raises
    ------
    Unreliable
        If there is nothing to compare with.
    """
    from adc.ir.errors import AdcError, IRError
    from adc.ir.interp import ProgramError
    from tests.oracle import chain as chains

    double = in_double(generated)
    want = float(oracle.value(double.fn, double.args))
    single = double is not generated
    args = generated.make_args()
    try:
        chain = chains.Chain.of(generated.fn, args, generated.argnums)
        primal = chain.primal
    except IRError as error:
        return [f"crash: {error.message}"]
    except AdcError as error:
        if generated.refused:
            return [] if error.code == generated.refused else [f"wrong refusal: {error}"]
        return [f"refused: {error}"]
    if generated.refused:
        return [f"accepted: must be refused with {generated.refused}"]
    try:
        value = float(chain.run(primal)[0])
    except ProgramError as error:
        return [f"raised: {error.error!r} at line {error.check.loc}"]
    tolerance = 1e-4 if single else 1e-9
    if not abs(value - want) <= tolerance * (1.0 + abs(want)):
        return [f"value: {value} instead of {want}"]

    rng = np.random.default_rng(generated.seed)
    results = chain.run(chain.adjoint)
    gradient = chain.gradient(results)
    problems = _check_slopes(double, gradient, rng, directions, single)
    policies = ("store", "recompute", f"random:{generated.seed}")
    own = tuple(np.asarray(g) for g in gradient)
    policy = policies[generated.seed % len(policies)]
    if quick:
        policy = ("auto", *policies)[generated.seed % (1 + len(policies))]
        problems += chains.check_last(chain, own, policy)
    else:
        problems += chains.check_stages(chain, own, policies=("auto", policy))
        problems += chains.check_passes(chain, policy)
    problems += chains.check_tangent(chain, rng)
    if not quick or generated.is_tenth:
        problems += chains.check_directions(chain, rng, generated.choice(chains.WAYS)) or []
        problems += chains.check_dependence(chain, rng, generated.choice(chains.PATTERNS))
    if compiled:
        problems += _check_call(generated, own)
    return problems


def _check_call(generated: Generated, want: tuple[Any, ...]) -> list[str]:
    """Compile as a user does, and call twice: right, the same bits, the arguments untouched."""
    import adc
    from tests.oracle.chain import bits

    slope = adc.grad(generated.fn, generated.argnums, cache=False)
    args = generated.make_args()
    found = [slope(*args) for _ in range(2)]
    problems = []
    if bits(args) != bits(generated.args):
        problems.append("compiled: the arguments were changed")
    if bits(found[0]) != bits(found[1]):
        problems.append("compiled: other bits at the second call")
    if slope.cache_info()["compiled"] != 1:
        problems.append("compiled: compiled again for the second call")
    problem = oracle.gradient_mismatch(found[0], want, magnification=1e3)
    if problem:
        problems.append(f"compiled: {problem}")
    return problems


def in_double(generated: Generated) -> Generated:
    """Return the program without lower precision, whose differences are noise."""
    if not LOWER.search(generated.source) and not any(
        isinstance(x, np.ndarray) and x.dtype == np.float32 for x in generated.args
    ):
        return generated
    args = tuple(
        x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x
        for x in generated.args
    )
    source = LOWER.sub("float64", generated.source)
    return replace(generated, source=source, fn=load(source, generated.seed), args=args)


def _check_slopes(
    generated: Generated,
    gradient: tuple[Any, ...],
    rng: np.random.Generator,
    directions: int,
    single: bool,
) -> list[str]:
    """Compare with differences along random directions."""
    found: list[str] = []
    sure = 0
    for k in range(directions):
        direction = tuple(_direction(generated.args[n], rng) for n in generated.argnums)
        slope, error = oracle.directional_difference(
            generated.fn, generated.args, generated.argnums, direction
        )
        parts = [
            np.asarray(g, dtype=np.float64) * d for g, d in zip(gradient, direction, strict=True)
        ]
        got = float(sum(part.sum() for part in parts))
        size = float(sum(np.abs(part).sum() for part in parts)) + abs(slope) + 1e-3
        if not error <= 1e-5 * size or size > 1e3:
            continue  # what grows amplifies rounding as well
        sure += 1
        if not abs(got - slope) <= (2e-3 if single else 1e-6) * size + 10.0 * error:
            found.append(
                f"gradient: slope {got} along direction {k} instead of {slope} (error {error:.1g})"
            )
    if not sure:
        raise Unreliable("finite differences do not converge")
    # A wrong gradient is wrong along every direction; a kink between the points is not.
    return found if len(found) == sure else []


def _direction(x: Any, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.asarray(rng.standard_normal(np.shape(x)))
