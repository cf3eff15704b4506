"""The whole chain on one program, and everything that must hold of it.

Used on the corpus (`test_gradients`) and on random programs (`fuzz`). Each property returns a
list of complaints, so that a checker can be checked: on a planted defect it must not be empty.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from adc.compiler.driver import transform
from adc.frontend.core.bindings import ArrayRef, Binding, NamedTuple, Num, Static, TupleOf
from adc.frontend.core.state import Lowered
from adc.frontend.entry import lower
from adc.frontend.inputs import complexes, flatten, instances, trees
from adc.frontend.inputs.places import Arguments, Place
from adc.frontend.inputs.trees import type_of
from adc.ir import interp
from adc.ir.analysis.sizes.extents import Known
from adc.ir.core import Check, Function, walk
from adc.ir.errors import AdcError, AssumptionError
from adc.ir.text.parser import parse
from adc.ir.verifier import problems
from adc.passes import pipeline
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.dependence import dependence
from adc.passes.ad.directions import DirectionsError, directions
from adc.passes.ad.tangent import tangent
from adc.passes.stages import Context, Stage, Trace
from adc.passes.stages import run as apply
from tests.oracle import oracle
from tests.oracle.meter import Meter

# The passes that may change more than nothing, as their docstrings say: signs of zeros.
CHANGE_SIGNS_OF_ZEROS = frozenset({"accumulate", "overwrite", "relax"})
# The order in which contributions to cotangents are added; and the formulas of complex numbers,
# which NumPy computes in the interpreter.
CHANGE_ORDERS = frozenset(
    ("reduce", "fuse_reverse", "gather", "outline_kernels", "kernels", "split_complex", "products")
)
POLICIES = ("store", "recompute", "auto", "random:1", "random:2")


Stages = list[tuple[str, Function]]


# The stages after `pipeline.JOINED`.
FINISH = (*pipeline.PLANNED, *pipeline.CLEANUP, *pipeline.BUFFERS)


def stages(fn: Function, rows: Sequence[Stage], context: Context | None = None) -> Stages:
    """Return what every pass in turn makes of a function, after the function itself."""
    trace = Trace()
    apply(fn, rows, trace, context)
    return [("", fn), *trace.stages]


def run(fn: Function, args: Sequence[Any]) -> tuple[Any, ...]:
    """Run a function in the interpreter, with the derivatives that it calls."""
    return interp.run(fn, args, pipeline.derived)


def type_tree(value: Any) -> Any:
    """Return the signature entry of an argument: a type, a tuple of them, or the object."""
    if isinstance(value, tuple):
        return tuple(type_tree(item) for item in value)
    if holds_generators(value):
        return trees.tree_of(value)
    ty = type_of(value)
    return value if ty is None else ty


def holds_generators(value: Any) -> bool:
    """Whether an argument is a random generator, or a list or dict of them."""
    items = value.values() if isinstance(value, dict) else value if type(value) is list else ()
    return instances.is_generator(value) or any(map(holds_generators, items))


def flat(value: Any) -> list[Any]:
    """Return the numbers and arrays in an argument."""
    if holds_generators(value):
        return list(flatten.leaves(value, trees.tree_of(value)))
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in flat(item)]
    return [] if type_of(value) is None else [value]


def fresh(values: Sequence[Any]) -> list[Any]:
    return [v.copy() if isinstance(v, np.ndarray) else v for v in values]


def rebuild(binding: Binding, stream: Iterator[Any]) -> Any:
    """Arrange flat results as the Python function returns them."""
    match binding:
        case Num() | ArrayRef():
            return next(stream)
        case TupleOf(items=items):
            return tuple(rebuild(item, stream) for item in items)
        case NamedTuple(cls=complexes.Whole):
            return complexes.joined(next(stream), next(stream))
        case Static(value=value):
            return value
    raise AssertionError(binding)


def _broadcasts_later(fn: Function, inputs: Sequence[Any]) -> bool:
    """Whether an axis turns out to have size 1 while a function runs: it takes other code."""
    functions = (fn, *fn.callees, *(each.of for each in fn.derived))
    stmts = (stmt for each in functions for stmt in walk(each.body))
    if not any(isinstance(stmt, Check) and stmt.error == "AssumptionError" for stmt in stmts):
        return False
    try:
        run(fn, fresh(inputs))
    except interp.ProgramError as error:
        return isinstance(error.error, AssumptionError)
    except Exception:
        return False
    return False


def _constants(numbers: set[Place], arguments: Arguments) -> dict[Place, Any]:
    """Return the integers and sizes at these places, where they are read from the arguments."""
    found = {}
    for place in numbers:
        with suppress(AttributeError, LookupError, TypeError):  # such as sizes of list elements
            found[place] = place.read(arguments)
    return found


def _lowered(fn: Callable[..., Any], arguments: dict[str, Any], how: dict[str, Any]) -> Lowered:
    """Lower a program in the first way in which it is not refused, which is added to `how`."""
    more = [each for each in ("picks", "texts", "pools") if each not in how]
    while True:
        try:
            return lower(fn, arguments, **how)
        except AdcError:
            if not more:
                raise
            how[more.pop()] = True


@dataclass
class Chain:
    """One program with a sample, lowered."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...]
    lowered: Lowered
    inputs: list[Any]
    positions: tuple[int, ...]
    leaves: list[int]
    _planned: dict[str, Stages] = field(default_factory=dict)
    _results: list[tuple[Function, tuple[Any, ...]]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        argnums: Sequence[int],
        *,
        on_device: bool = False,
        general: bool = False,
        fixed: bool = False,
    ) -> Chain:
        """Lower a program for the types of arguments; if `fixed`, also for their sizes."""
        names = list(inspect.signature(fn).parameters)
        arguments = {name: type_tree(arg) for name, arg in zip(names, args, strict=False)}
        numbers: set[Place] = set()
        how: dict[str, Any] = {"on_device": on_device, "general": general, "numbers": numbers}
        lowered = _lowered(fn, arguments, how)
        if fixed:
            called: Any = fn
            how["constants"] = _constants(numbers, Arguments.of(called, args))
            lowered = _lowered(fn, arguments, how)
        inputs = [leaf for arg in args for leaf in flat(arg)]
        inputs += [leaf for capture in lowered.captures for leaf in capture.leaves() or ()]
        if not general and _broadcasts_later(lowered.fn, inputs):
            return cls.of(fn, args, argnums, on_device=on_device, general=True, fixed=fixed)
        wanted: list[int] = []
        at = 0
        for number, arg in enumerate(args):
            count = len(flat(arg))
            if number in argnums:
                wanted += range(at, at + count)
            at += count
        floats = tuple(k for k in wanted if lowered.fn.params[k].type.kind == "f")
        return cls(fn, args, tuple(argnums), lowered, inputs, floats, wanted)

    @cached_property
    def on_device(self) -> Lowered:
        """The program as it is lowered for a device."""
        return Chain.of(self.fn, self.args, self.argnums, on_device=True).lowered

    # The stages of each part of the pipeline: made once, looked at by several checks.

    @cached_property
    def primal_stages(self) -> Stages:
        return stages(self.lowered.fn, pipeline.PRIMAL)

    @cached_property
    def adjoint_stages(self) -> Stages:
        step = Stage("adjoint", lambda fn: adjoint(fn, self.positions))
        return stages(self.primal, (step, *pipeline.DERIVATIVE))

    @cached_property
    def tangent_stages(self) -> Stages:
        step = Stage("tangent", lambda fn: tangent(fn, self.positions))
        return stages(self.primal, (step, *pipeline.DERIVATIVE))

    @cached_property
    def joined_stages(self) -> Stages:
        return stages(self.adjoint, pipeline.JOINED, self.context())

    def context(self, policy: str = "auto") -> Context:
        """Return what stages are built from; random plans are for sizes that are known."""
        known = self.known if policy.startswith("random") else {}
        return Context(policy=policy, known=known, steps=(("adjoint", self.positions),))

    @cached_property
    def known(self) -> Known:
        """The sizes of the sample, by the names of parameters."""
        return {
            param.name: given.shape if isinstance(given, np.ndarray) else int(given)
            for param, given in zip(self.lowered.fn.params, self.inputs, strict=True)
            if isinstance(given, np.ndarray) or param.type.kind in "iu"
        }

    @property
    def primal(self) -> Function:
        return self.primal_stages[-1][1]

    @property
    def adjoint(self) -> Function:
        return self.adjoint_stages[-1][1]

    @property
    def tangent(self) -> Function:
        return self.tangent_stages[-1][1]

    @property
    def joined(self) -> Function:
        return self.joined_stages[-1][1]

    def planned(self, policy: str) -> Stages:
        """Return the stages after those joined: without Recalls, cleaned up, in buffer form."""
        if policy not in self._planned:
            self._planned[policy] = stages(self.joined, FINISH, self.context(policy))
        return self._planned[policy]

    def run(self, fn: Function) -> tuple[Any, ...]:
        """Return what one of the stages computes for the sample. Do not modify."""
        # Plans and passes often make the same of a program. (Equal functions are so to the bits of
        # their literals. To compare is ten times faster than to print.)
        for known, results in self._results:
            if known == fn:
                return results
        results = run(fn, fresh(self.inputs))
        self._results.append((fn, results))
        return results

    def gradient(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Return the gradients of all differentiated leaves; 0 for integers in tuples."""
        found = iter(results[len(self.lowered.fn.results) :])
        return tuple(next(found) if k in self.positions else 0.0 for k in self.leaves)


def bits(results: Sequence[Any]) -> list[bytes]:
    return [np.asarray(result).tobytes() for result in results]


def flat_gradient(gradient: Any) -> tuple[Any, ...]:
    if isinstance(gradient, tuple):
        return tuple(leaf for item in gradient for leaf in flat_gradient(item))
    return (gradient,)


def well_formed(fn: Function) -> list[str]:
    """Verified, and the text form reads back unchanged."""
    found = problems(fn)
    if parse(str(fn)) != fn:
        found.append(f"{fn.name}: the text form does not read back")
    return found


def check_stages(
    chain: Chain,
    want: tuple[Any, ...],
    *,
    magnification: float = 1.0,
    tolerances: dict[str, float] | None = None,
    policies: Sequence[str] = POLICIES,
) -> list[str]:
    """Check every stage in the interpreter: gradients, plans, both forms."""
    reverse = chain.joined
    results = chain.run(reverse)
    found = well_formed(chain.lowered.fn)
    made = {"joined": reverse}
    for policy in policies:
        planned = chain.planned(policy)
        last = [name for name, _ in planned].index("storage") - 1
        # In value form, in buffer form, and as it is emitted.
        for name, fn in planned[last:]:
            made[f"{name} {policy}"] = fn
    different: list[Function] = []
    for fn in made.values():
        if fn not in different:
            different.append(fn)
            found += well_formed(fn)
    problem = oracle.gradient_mismatch(
        chain.gradient(results), want, magnification=magnification, **(tolerances or {})
    )
    if problem:
        found.append(f"adjoint: {problem}")
    for stage, fn in made.items():
        if bits(chain.run(fn)) != bits(results):
            found.append(f"{stage}: other bits")
    return found


def check_last(
    chain: Chain, want: tuple[Any, ...], policy: str, *, magnification: float = 1.0
) -> list[str]:
    """Check what is emitted of a gradient, under one plan, and nothing before it: that is quick."""
    fn = chain.planned(policy)[-1][1]
    problem = oracle.gradient_mismatch(
        chain.gradient(chain.run(fn)), want, magnification=magnification
    )
    return [*problems(fn), *([f"last {policy}: {problem}"] if problem else [])]


def check_passes(chain: Chain, policy: str = "auto") -> list[str]:
    """Every pass keeps the results, in the interpreter: the bits, or what it says it keeps."""
    found: list[str] = []
    count = len(chain.lowered.fn.results)
    single = "f32" in str(chain.primal)
    directions = [np.ones_like(chain.inputs[k])[()] for k in chain.positions]

    def follow(made: Stages, more: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Compare the results of each stage with those of the one before; return the first."""

        def results(fn: Function) -> tuple[Any, ...]:
            return run(fn, [*fresh(chain.inputs), *more]) if more else chain.run(fn)

        old = made[0][1]
        first = before = results(old)
        for name, fn in made[1:]:
            if fn == old:
                continue
            after = results(fn)
            if name in CHANGE_ORDERS:
                largest = max(map(largest_in, before))
                same = all(near(a, b, single, largest) for a, b in zip(before, after, strict=True))
            elif name in CHANGE_SIGNS_OF_ZEROS:
                same = all(map(_equal, before, after))
            else:
                same = bits(before) == bits(after)
            if not same:
                found.append(f"pass {name} of {fn.name}: other results")
            old, before = fn, after
        return first

    def derived(made: Stages, more: Sequence[Any] = ()) -> None:
        value = follow(made[1:], more)[:count]
        if bits(value) != bits(chain.run(chain.primal)):
            found.append(f"pass {made[1][0]}: another value")

    follow(chain.primal_stages)
    derived(chain.adjoint_stages)
    follow(chain.joined_stages)
    follow(chain.planned(policy))
    alone = (*pipeline.JOINED, *FINISH)
    context = chain.context(policy)
    follow(stages(chain.primal, alone, context))
    derived(chain.tangent_stages, directions)
    follow(stages(chain.tangent, alone, context), directions)
    return found


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


def largest_in(a: Any) -> float:
    return float(np.max(np.abs(np.asarray(a)[np.isfinite(a)]), initial=0.0))


def near(a: Any, b: Any, single: bool, largest: float) -> bool:
    """Whether two results differ by rounding at most, on the way possibly to single precision.

    Terms as large as the `largest` result may cancel, and leave what they were rounded by; where
    all results are what is left of numbers of order one, nothing is compared.
    """
    if np.asarray(a).dtype.kind != "f":
        return _equal(a, b)
    tolerance = 1e-3 if single else 1e-8
    size = max(largest_in(a), 1e-3 * largest, 1e-6)
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True)


def check_tangent(chain: Chain, rng: np.random.Generator) -> list[str]:
    """Forward and reverse mode agree along a random direction."""
    results = chain.run(chain.adjoint)
    gradient = [g for g, k in zip(chain.gradient(results), chain.leaves, strict=True)
                if k in chain.positions]  # fmt: skip
    forward = chain.tangent
    found = well_formed(forward)
    direction = [
        rng.standard_normal(np.shape(chain.inputs[k])).astype(np.asarray(chain.inputs[k]).dtype)
        if np.shape(chain.inputs[k])
        else float(rng.standard_normal())
        for k in chain.positions
    ]
    slope = float(run(forward, [*fresh(chain.inputs), *direction])[len(chain.lowered.fn.results)])
    parts = [
        np.asarray(g, dtype=float) * np.asarray(d, dtype=float)
        for g, d in zip(gradient, direction, strict=True)
    ]
    expected = float(sum(part.sum() for part in parts))
    size = float(sum(np.abs(part).sum() for part in parts)) + 1.0
    single = "f32" in str(chain.primal)
    same = slope == expected  # infinite ones as well
    if not (same or abs(slope - expected) <= (1e-3 if single else 1e-8) * size):
        found.append(f"tangent: {slope} along a direction, adjoint: {expected}")
    return found


# The ways to a Jacobian: what is done to the function, then its directions are taken at once.
WAYS: dict[str, Callable[[Chain], Function]] = {
    "tangent": lambda chain: tangent(chain.primal, chain.positions),
    "pullback": lambda chain: adjoint(chain.primal, chain.positions, seed=False),
    "hessian": lambda chain: tangent(
        pipeline.THROUGH.between(adjoint(chain.primal, chain.positions)), chain.positions
    ),
}


def check_directions(
    chain: Chain,
    rng: np.random.Generator,
    way: str,
    policy: str = "auto",
    widen: Callable[[Function, Sequence[int], int], Function] = directions,
) -> list[str] | None:
    """Several directions at once are what each is alone, zeros among them; None: refused.

    `widen` is what takes them at once.
    """
    narrow = apply(WAYS[way](chain), (*pipeline.DERIVATIVE, *pipeline.JOINED))
    count = 3
    own = range(len(chain.primal.params), len(narrow.params))
    try:
        wide = widen(narrow, own, count)
    except DirectionsError:
        return None
    found = well_formed(wide)
    if way == "pullback":
        like = [each for each in chain.run(chain.primal) if np.asarray(each).dtype.kind == "f"]
    else:
        like = [chain.inputs[k] for k in chain.positions]
    types = [narrow.params[k].type for k in own]
    given = [
        rng.standard_normal((*shape, count)).astype(ty.numpy)
        for shape, ty in zip(map(np.shape, like), types, strict=True)
    ]
    for each in given:
        each[..., 1] = 0.0
    results = run(wide, [*fresh(chain.inputs), *given])
    single = "f32" in str(chain.primal)
    for k in range(count):
        alone = run(narrow, [*fresh(chain.inputs), *(np.copy(each[..., k])[()] for each in given)])
        largest = max(map(largest_in, alone))
        for number, (a, b) in enumerate(zip(alone, results, strict=True)):
            b = b[..., k] if np.ndim(b) > np.ndim(a) else b
            if not near(a, b, single, largest):
                found.append(f"{way}: result {number} along direction {k}: {b} instead of {a}")
    last = stages(wide, FINISH, replace(chain.context(policy), known={}))[-1][1]
    found += well_formed(last)
    if bits(run(last, [*fresh(chain.inputs), *given])) != bits(results):
        found.append(f"{way}: other bits in the end")
    return found


# What patterns are found of: of a function, or of its gradient.
PATTERNS: dict[str, Callable[[Chain], Function]] = {
    "jacobian": lambda chain: chain.primal,
    "hessian": lambda chain: pipeline.THROUGH.between(adjoint(chain.primal, chain.positions)),
}
# Elements whose marks are compared.
_ELEMENTS = 4


def check_dependence(
    chain: Chain,
    rng: np.random.Generator,
    way: str,
    mark: Callable[..., Function] = dependence,
) -> list[str]:
    """What changes with an element of the arguments depends on it, alone and among others.

    `mark` is what writes the marks.
    """
    fn = PATTERNS[way](chain)
    moving, marked = (
        apply(forward(fn, chain.positions), (*pipeline.DERIVATIVE, *pipeline.JOINED))
        for forward in (tangent, mark)
    )
    found = well_formed(marked)
    own = range(len(chain.primal.params), len(marked.params))
    like = [np.asarray(chain.inputs[k]) for k in chain.positions]
    every = [
        np.ones(each.shape, marked.params[k].type.numpy) for k, each in zip(own, like, strict=True)
    ]
    places = [(k, index) for k, each in enumerate(like) for index in np.ndindex(each.shape)]

    def along(of: Function, given: Sequence[Any]) -> list[Any]:
        results = run(of, [*fresh(chain.inputs), *(np.copy(each)[()] for each in given)])
        return [np.asarray(each) for each in results[len(fn.results) :]]

    together = along(marked, every)
    for number in rng.permutation(len(places))[:_ELEMENTS]:
        k, index = places[number]
        unit = [np.zeros_like(each) for each in every]
        unit[k][index] = 1.0
        for slope, one, all_ in zip(
            along(moving, unit), along(marked, unit), together, strict=True
        ):
            if not np.isin(one, (0.0, 1.0)).all():
                found.append(f"{way}: {one} is no mark")
            if np.any((slope != 0) & (one == 0)):
                found.append(f"{way}: {slope} along {index} of {k} depends on it, but not {one}")
            if np.any(all_ < one):
                found.append(f"{way}: {all_} along all, but {one} along {index} of {k}")
    return found


def check_compiled(
    chain: Chain,
    want: tuple[Any, ...],
    *,
    magnification: float = 1.0,
    tolerances: dict[str, float] | None = None,
    policies: Sequence[str] = ("auto", "store"),
    metered: bool = False,
) -> list[str]:
    """Compile under several policies: right, and the same bits; the arguments untouched.

    Under the last of several the gradient has no value with it. What two policies make alike is
    compiled once. If `metered`, two calls hold the memory that the interpreter counts.
    """
    from adc.backend import cpu
    from adc.backend.python import interpret

    found: list[str] = []
    first: list[bytes] | None = None
    seen: list[Function] = []
    for policy in policies:
        alone = len(policies) > 1 and policy == policies[-1]
        mode = "gradient" if alone else "adjoint"
        made = transform(chain.lowered, ((mode, chain.positions),), policy)
        if made.fn in seen:
            continue
        seen.append(made.fn)
        kernel = cpu.compile(made.fn)
        inputs = fresh(chain.inputs)
        before = bits(inputs)
        results = kernel(*inputs)
        if bits(inputs) != before:
            found.append(f"compiled {policy}: the arguments were changed")
        if bits(interpret(made.fn)(*fresh(chain.inputs))) != bits(results):
            found.append(f"compiled {policy}: other bits than in Python")
        problem = oracle.gradient_mismatch(
            chain.gradient(results), want, magnification=magnification, **(tolerances or {})
        )
        if problem:
            found.append(f"compiled {policy}: {problem}")
        # All of the bits, or those of the gradient.
        found_bits = bits(results[len(chain.lowered.fn.results) if alone else 0 :])
        if first is None:
            first = found_bits
        elif found_bits != first[-len(found_bits) :]:
            found.append(f"compiled {policy}: other bits than {policies[0]}")
        if metered:
            meter = Meter(made.fn)
            meter.run(fresh(chain.inputs))
            peaks = [kernel.peak]
            kernel(*fresh(chain.inputs))
            peaks.append(kernel.peak)
            if peaks != [meter.peak] * 2:
                found.append(f"compiled {policy}: held {peaks} instead of {meter.peak} bytes")
    return found


__all__ = [
    "Chain",
    "adjoint",
    "bits",
    "check_compiled",
    "check_passes",
    "check_stages",
    "check_tangent",
    "flat",
    "flat_gradient",
    "fresh",
    "rebuild",
    "run",
    "type_tree",
    "well_formed",
]
