"""What is checked of a program of a campaign: the seed draws one of these, at times two.

Each takes a `Subject` and returns what is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from unittest import mock

import numpy as np

from adc.ir.core import Function
from adc.ir.errors import LimitError
from adc.passes import pipeline, stages
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent
from adc.passes.stages import run as apply
from tests.fuzz.campaign import kinds, relations, slopes
from tests.fuzz.campaign.subject import Direction, Subject, along
from tests.fuzz.families import fuzz_arrays, fuzz_budgets, fuzz_layers
from tests.fuzz.program import Generated, Unreliable, forget
from tests.oracle import chain as chains
from tests.oracle import on_device, oracle, threads

Check = Callable[[Subject], list[str]]
# What rounding of the arguments is magnified by before a difference counts.
_ROUNDED, _NOISE = 1e-13, 100.0


def _tolerance(subject: Subject) -> float:
    return 1e-4 if subject.single else 1e-9


# -- values ----------------------------------------------------------------------------------------


def value_lowered(subject: Subject) -> list[str]:
    """What the front end makes of it computes, raises and prints what Python does."""
    return _value(subject, subject.chain.lowered.fn, points=3)


def value_simplified(subject: Subject) -> list[str]:
    """So does what the passes before a derivative make of that."""
    return _value(subject, subject.chain.primal, points=2)


def value_emitted(subject: Subject) -> list[str]:
    """So does what is emitted when nothing is differentiated."""
    chain = subject.chain
    made = chains.stages(
        chain.primal, (*pipeline.JOINED, *chains.FINISH), chain.context(subject.policy)
    )
    return _value(subject, made[-1][1], points=2)


def _value(subject: Subject, fn: Function, points: int) -> list[str]:
    args = subject.generated.args
    for k in range(points):
        at = subject.moved(args, subject.direction(), 0.1) if k else args
        want = subject.python(at)
        usual = want.error is None and kinds.finite(want.value)
        if k and not usual and not kinds.may_raise(subject.generated):
            continue
        found = subject.outcome(fn, at)
        if isinstance(found.error, LimitError):
            raise Unreliable(str(found.error))  # Python computes what adc does not
        if isinstance(found.error, np.linalg.LinAlgError) and want.error is None:
            raise Unreliable("rounding decides whether a matrix is singular")
        problem = found.differs(want, _tolerance(subject))
        if problem and not _is_noise(subject, at, want.value, found.value):
            return [f"value: {problem}"]
    return []


def _is_noise(subject: Subject, at: tuple[object, ...], want: object, found: object) -> bool:
    """Whether rounding of the arguments changes the value as much as two values differ."""
    if not isinstance(want, float) or not isinstance(found, float):
        return False
    change = 0.0
    for _ in range(4):
        other = subject.python(subject.moved(at, subject.direction(), _ROUNDED)).value
        if not isinstance(other, float):
            return True
        change = max(change, abs(other - want))
    return abs(found - want) <= _NOISE * change


# -- first derivatives -----------------------------------------------------------------------------


def gradient_adjoint(subject: Subject) -> list[str]:
    """The adjoint has the slopes of differences."""
    return _gradient(subject, subject.chain.adjoint)


def gradient_bare(subject: Subject) -> list[str]:
    """So has the adjoint of what only the passes that it needs have changed."""
    chain = subject.chain
    return _gradient(subject, adjoint(subject.needed, chain.positions))


def gradient_emitted(subject: Subject) -> list[str]:
    """So has what is emitted under one of the plans."""
    return _gradient(subject, subject.chain.planned(subject.policy)[-1][1])


def _gradient(subject: Subject, fn: Function) -> list[str]:
    at = subject.point()
    subject.value(at)
    gradient = subject.gradient(fn, at)
    found = slopes.compared(subject, at, lambda direction: along(gradient, direction))
    return [f"gradient: {each}" for each in found]


def gradient_complex_step(subject: Subject) -> list[str]:
    """What is emitted is the gradient by the complex step, in every element."""
    generated = subject.generated
    subject.value(generated.args)
    try:
        want = oracle.complex_step_gradient(generated.fn, generated.args, generated.argnums)
        magnification = oracle.sensitivity(generated.fn, generated.args, generated.argnums)
    except oracle.OracleError as error:
        raise Unreliable(str(error)) from error
    if not oracle.largest(want) < 1e4 or magnification > (100.0 if subject.single else 1e5):
        raise Unreliable(f"magnified {magnification:.3g} times")
    fn = subject.chain.planned(subject.policy)[-1][1]
    found = subject.gradient(fn, generated.args)
    problem = oracle.gradient_mismatch(
        found, chains.flat_gradient(want), magnification=magnification
    )
    return [f"gradient: {problem}"] if problem else []


def forward(subject: Subject) -> list[str]:
    """Forward mode has the slopes of differences, with the passes after it or without."""
    at = subject.point()
    subject.value(at)
    chain = subject.chain
    count = len(chain.lowered.fn.results)
    bare = subject.rng.random() < 0.7
    fn = tangent(subject.needed, chain.positions) if bare else chain.tangent

    def found(direction: Direction) -> tuple[float, float]:
        results = subject.run(fn, at, subject.flat_direction(direction))
        return float(results[count]), abs(float(results[count]))

    return [f"forward: {each}" for each in slopes.compared(subject, at, found)]


def modes(subject: Subject) -> list[str]:
    """Forward and reverse mode agree."""
    subject.value(subject.generated.args)
    with np.errstate(all="ignore"):
        return chains.check_tangent(subject.chain, subject.numbers)


# -- higher derivatives ----------------------------------------------------------------------------


def second(subject: Subject) -> list[str]:
    """Forward mode over reverse mode has the second derivatives of differences."""
    return _second(subject, reverse=True)


def second_forward(subject: Subject) -> list[str]:
    """Forward mode over forward mode has them, too."""
    return _second(subject, reverse=False)


def _second(subject: Subject, reverse: bool) -> list[str]:
    at = subject.generated.args
    subject.value(at)
    chain = subject.chain
    bare = subject.rng.random() < 0.7
    primal = subject.needed if bare else chain.primal
    first = (adjoint if reverse else tangent)(primal, chain.positions)
    fn = tangent(pipeline.THROUGH.between(first), chain.positions)
    fn = fn if bare else apply(fn, pipeline.DERIVATIVE)
    count = len(first.results)

    def found(direction: Direction) -> tuple[float, float]:
        flat = subject.flat_direction(direction)
        if reverse:
            results = subject.run(fn, at, flat)[count:]
            slope, size = along(results[len(chain.lowered.fn.results) :], direction)
            return slope, size
        results = subject.run(fn, at, [*flat, *flat])
        slope = float(results[count + len(chain.lowered.fn.results)])
        return slope, abs(slope)

    word = "reverse" if reverse else "forward"
    return [
        f"second over {word}: {each}" for each in slopes.compared(subject, at, found, second=True)
    ]


def directions(subject: Subject) -> list[str]:
    """Several directions at once are what each is alone."""
    subject.value(subject.generated.args)
    way = subject.rng.choice(list(chains.WAYS))
    with np.errstate(all="ignore"):
        return chains.check_directions(subject.chain, subject.numbers, way) or []


def dependence(subject: Subject) -> list[str]:
    """What changes with an argument is marked as depending on it."""
    subject.value(subject.generated.args)
    way = subject.rng.choice(list(chains.PATTERNS))
    with np.errstate(all="ignore"):
        return chains.check_dependence(subject.chain, subject.numbers, way)


# -- stages and plans ------------------------------------------------------------------------------


def plans(subject: Subject) -> list[str]:
    """Two plans give the same bits."""
    at = subject.generated.args
    subject.value(at)
    chain = subject.chain
    first = subject.run(chain.joined, at)
    found = []
    for policy in {subject.policy, f"random:{subject.generated.seed + 1}"}:
        last = chain.planned(policy)[-1][1]
        if chains.bits(subject.run(last, at)) != chains.bits(first):
            found.append(f"plan: {policy} has other bits")
    return found


def passes(subject: Subject) -> list[str]:
    """Every pass keeps the results, and the IR well-formed."""
    subject.value(subject.generated.args)
    with np.errstate(all="ignore"), mock.patch.object(stages, "VERIFY_EACH", True):
        return chains.check_passes(subject.chain, subject.policy)


def budgets(subject: Subject) -> list[str]:
    """Under random budgets, loops around the program have the same bits, and stay within."""
    repeated = fuzz_budgets.repeated(subject.generated)
    try:
        return fuzz_budgets.check(repeated)
    finally:
        forget(repeated)


def shared(subject: Subject) -> list[str]:
    """Loops that threads share have the same bits under every plan."""
    return threads.check_random(subject.generated, compiled=False)


def device(subject: Subject) -> list[str]:
    """Code for a device, whose threads run out of order, computes the same."""
    return _on_device(subject, batch=False)


def batch(subject: Subject) -> list[str]:
    """So does that for many rows."""
    return _on_device(subject, batch=True)


def _on_device(subject: Subject, *, batch: bool) -> list[str]:
    subject.value(subject.generated.args)
    return on_device.check_random(subject.generated, compiled=False, batch=batch, simulated=False)


# -- the public functions --------------------------------------------------------------------------


def public(subject: Subject) -> list[str]:
    """`adc.grad` in CPython: the slopes of differences, and the arguments are as before."""
    return _public(subject, "python")


def compiled(subject: Subject) -> list[str]:
    """`adc.grad`, compiled: so, too."""
    return _public(subject, "cpu")


def _public(subject: Subject, target: str) -> list[str]:
    import adc

    generated = subject.generated
    subject.value(generated.args)
    slope = adc.grad(generated.fn, generated.argnums, cache=False, target=target)
    args = generated.make_args()
    with oracle._quietly():
        found = [chains.flat_gradient(slope(*args)) for _ in range(2)]
    problems = []
    if chains.bits(args) != chains.bits(generated.args):
        problems.append(f"{target}: the arguments were changed")
    if chains.bits(found[0]) != chains.bits(found[1]):
        problems.append(f"{target}: other bits at the second call")
    wrong = slopes.compared(subject, generated.args, lambda d: along(found[0], d))
    return [*problems, *(f"{target}: {each}" for each in wrong)]


# -- relations -------------------------------------------------------------------------------------


def relation(subject: Subject) -> list[str]:
    """A program that computes the same, written otherwise, has the same value and gradient."""
    generated = subject.generated
    value = subject.value(generated.args)
    count = subject.rng.choice([1, 1, 2, 3])
    names = subject.rng.sample(list(relations.RELATIONS), count)
    name = ", ".join(names)
    made = relations.rewritten(generated, names, subject.rng)
    if made is None:
        raise Unreliable(f"nothing to rewrite by {name}")
    other = Subject(made.generated)
    try:
        again = other.value(made.generated.args)
        if abs(again - value) > _tolerance(subject) * (1.0 + abs(value)):
            raise Unreliable(f"{name}: Python computes {again} instead of {value}")
        bare = subject.rng.random() < 0.7
        want = subject.gradient(adjoint(subject.needed, subject.chain.positions), generated.args)
        chain = other.chain
        fn = adjoint(other.needed, chain.positions) if bare else chain.planned(other.policy)[-1][1]
        results = other.run(fn, made.generated.args)
        found = made.original_order(chain.gradient(results))
        loose = 2e-4 if subject.single else 1e-8
        problem = oracle.gradient_mismatch(found, want, rtol=loose, atol=1e-9)
        if problem and _is_rough(subject, want):
            raise Unreliable(problem)
        if problem:
            return [f"relation {name}: {problem}\n{made.generated.source}"]
        if abs(float(results[0]) - value) > _tolerance(subject) * (1.0 + abs(value)):
            return [f"relation {name}: value {results[0]} instead of {value}"]
        return []
    finally:
        forget(made.generated)


def _is_rough(subject: Subject, gradient: tuple[object, ...]) -> bool:
    """Whether rounding of the arguments changes the gradient much."""
    args = subject.moved(subject.generated.args, subject.direction(), 1e-12)
    other = subject.gradient(adjoint(subject.needed, subject.chain.positions), args)
    return bool(oracle.gradient_mismatch(other, gradient, rtol=1e-9, atol=1e-10))


def layers(subject: Subject) -> list[str]:
    """Layers one by one, as stacks, or in shared functions: as differences have it."""
    way = subject.rng.choice(fuzz_layers.WAYS)
    wrong, _ = fuzz_layers.check(subject.generated.seed, ways=(way,))
    return [f"layers: {wrong}"] if wrong else []


# By name: how many of 100 programs, and the check.
CHECKS: dict[str, tuple[float, Check]] = {
    "value_lowered": (36.0, value_lowered),
    "value_simplified": (3.0, value_simplified),
    "value_emitted": (3.0, value_emitted),
    "gradient_bare": (22.0, gradient_bare),
    "gradient_adjoint": (8.0, gradient_adjoint),
    "gradient_emitted": (13.0, gradient_emitted),
    "gradient_complex_step": (4.0, gradient_complex_step),
    "forward": (6.0, forward),
    "modes": (1.0, modes),
    "second": (3.0, second),
    "second_forward": (1.0, second_forward),
    "directions": (0.3, directions),
    "dependence": (0.3, dependence),
    "plans": (3.0, plans),
    "passes": (0.1, passes),
    "budgets": (0.1, budgets),
    "shared": (0.3, shared),
    "device": (0.3, device),
    "batch": (0.3, batch),
    "public": (1.0, public),
    "relation": (9.0, relation),
}
# Checks that compare with the complex step know scalars only.
_SCALARS = ("scalars", "draws")
# What programs that may raise are checked for.
_RAISING = frozenset(
    ("value_lowered", "value_simplified", "value_emitted", "gradient_adjoint", "gradient_bare",
     "gradient_emitted", "forward", "modes", "second", "plans", "passes", "public")
)  # fmt: skip


def draw(generated: Generated, share_compiled: float = 0.0) -> tuple[str, ...]:
    """Return the names of the checks that the seed of a program draws."""
    rng = random.Random(f"check {generated.seed}")
    if generated.kind == "layers":
        return ("layers",)
    if generated.refused:
        return ("refused",)
    if rng.random() < share_compiled:
        return ("compiled",)
    possible = {name: weight for name, (weight, _) in CHECKS.items()}
    if generated.kind not in _SCALARS:
        del possible["gradient_complex_step"]
    if kinds.may_raise(generated):
        possible = {name: w for name, w in possible.items() if name in _RAISING}
    return (rng.choices(list(possible), list(possible.values()))[0],)


def check(subject: Subject, name: str) -> list[str]:
    """Return what the check of a name finds.

    Raises
    ------
    Unreliable
        If there is nothing to compare with.
    AdcError
        If the program is refused.
    """
    if name == "refused":
        return fuzz_arrays.check(subject.generated, compiled=False)
    more = {"compiled": compiled, "layers": layers}
    return (more.get(name) or CHECKS[name][1])(subject)


__all__ = ["CHECKS", "check", "draw"]
