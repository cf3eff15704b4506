"""The code for the arguments of a call: found among what was compiled, or compiled."""

from __future__ import annotations

import gc
import operator
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adc.compiler import cache
from adc.compiler.compiled import (
    DIRECTIONS,
    MOST_ENTRIES,
    Along,
    Compiled,
    Sizes,
    differ,
    restore,
    sizes_of,
    tell,
)
from adc.compiler.memory import text as memory_text
from adc.compiler.progress import progress
from adc.compiler.results import (
    check_floats,
    check_result,
    is_differentiable_number,
    presenter,
)
from adc.compiler.signature import Parameters, Signature, key_of
from adc.frontend.core.state import (
    BOTH,
    NEITHER,
    REVERSE,
    ConstantNeededError,
    Lowered,
    StackError,
)
from adc.frontend.entry import lower
from adc.frontend.inputs import flatten, stacks
from adc.frontend.inputs.places import Arguments, Place
from adc.functions import function_of, name_of, settled, span_of
from adc.ir import foreign
from adc.ir.core import Check, Function, walk
from adc.ir.errors import (
    AdcError,
    AliasError,
    ArgumentError,
    AssumptionError,
    DeviceError,
    MemoryBudgetError,
    TypeMismatchError,
    TypeUnstableError,
    UnboundError,
    UnsupportedError,
)
from adc.ir.functions import has_half
from adc.ir.text.effects import leave_traces
from adc.ir.types import Array
from adc.library.transforms import KEYWORDS, Level, has_rule, is_checkpointed
from adc.passes.ad.opaque import commute

if TYPE_CHECKING:
    from adc.compiler.driver import Budget, Compilation, Plans
    from adc.ir.analysis.costs import Costs
    from adc.options import Options
    from adc.passes.memory.peak.formula import Peak
    from adc.passes.remat.plan import Plan
    from adc.passes.stages import Step

# Definitions of functions whose code is kept for derivatives that are recreated at every call.
_MOST_DEFINITIONS = 256
# Bytes of workspace and tapes that code holds for a derivative that may be recreated.
_MOST_HELD = 2**20
# The most code for arguments with one key: for objects with attributes of other kinds.
_MOST_VARIANTS = 8
# Times that code is made for one call: while it is, another thread may change what it reads.
_MOST_ATTEMPTS = 3


def _steps(
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
    pattern: bool,
) -> tuple[Step, ...]:
    """Return the transformations: one adjoint, then a tangent for every inner derivative.

    Derivatives commute: the gradient with respect to w of the derivative with respect to a
    scalar x is the derivative along x of the gradient with respect to w.
    """
    steps: list[Step] = []
    if levels:
        *inner, last = levels
        mode = "adjoint" if last.with_value or last.has_aux else "gradient"
        steps.append((mode, signature.positions(last.argnums)))
        steps += [("tangent", signature.positions(level.argnums)) for level in inner]
    if along is not None:
        steps.append(("dependence" if pattern else "tangent", signature.positions(along)))
    if pull is not None:
        steps.append(("pullback", signature.positions(pull)))
    return tuple(steps)


def _by_steps(signature: Signature, levels: tuple[Level, ...], moves: bool) -> int:
    """Return how many of the last levels are transformations of the function that is lowered.

    Those before are lowered, as calls of derivatives within the function that is transformed. A
    gradient is one of the transformations; with those before it that are derivatives by a number.
    The result `moves` where it is differentiated in a direction.
    """
    *before, last = levels or (Level("jit"),)
    if last.kind not in ("grad", "value_and_grad", "jacrev"):
        return 0
    if last.has_aux and (moves or last.kind == "jacrev"):
        return 0
    count = 1
    for level in reversed(before):
        scalar = level.kind == "grad" and signature.scalar(level.argnums) is not None
        if not scalar or level.has_aux or last.has_aux:
            break
        count += 1
    return count


@contextmanager
def _over_budget(fn: Callable[..., Any]) -> Iterator[None]:
    """Turn the planner's exceptions about a budget into the user's errors."""
    from adc.compiler.driver import UnknownPeak
    from adc.passes.remat.budget.orders import OverBudget

    try:
        yield
    except OverBudget as error:
        least = error.least or 0
        raise MemoryBudgetError(
            f"the derivative of {name_of(fn)}() needs at least {memory_text(least)}, but memory is "
            f"{memory_text(error.budget)}",
            span_of(fn),
            f"memory={least} is the smallest budget found for these sizes",
        ) from None
    except UnknownPeak as error:
        raise MemoryBudgetError(
            f"the memory that the derivative of {name_of(fn)}() needs is known only at run time"
            f"{_deciding(error.peak)}",
            span_of(fn),
            "limit the number of iterations, for instance with `range`, create arrays in their "
            "final sizes before a loop, or leave out `memory`",
        ) from None


def _deciding(peak: Peak) -> str:
    """Return which lines decide how much memory is needed."""
    loops = {line for name, line in peak.lines if name.endswith(".n")}
    others = {line for _, line in peak.lines} - loops
    found = [f"how often the loop in line {line} runs" for line in sorted(loops)]
    found += [f"a size in line {line}" for line in sorted(others)]
    return f": it depends on {', '.join(found)}" if found else ""


@contextmanager
def _no_collections() -> Iterator[None]:
    """Pause the cyclic garbage collector: compilers allocate much, but little is garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Definition:
    """The part of a function that its code depends on: its code object and globals.

    A function with a custom derivative, or that is checkpointed, is more than its code.
    """

    __slots__ = ("_parts",)

    def __init__(self, fn: types.FunctionType, more: object, bound: bool) -> None:
        self._parts = (fn.__code__, fn.__globals__, more, bound)

    @property
    def code(self) -> types.CodeType:
        return self._parts[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and all(map(operator.is_, self._parts, other._parts))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._parts)))


@dataclass
class Family:
    """The compiled code that all derivatives of one kind share, for functions with one definition.

    Attributes
    ----------
    entries : dict
        For every key code, the newest first: objects of one class may need code of their own, and
        functions that hold other objects.
    stacks, lists : frozenset of Place
        Lists among the arguments that are passed as stacks, and those that cannot be.
    users : set
        Derivatives that can call it.
    """

    parameters: Parameters
    entries: dict[object, list[Compiled]] = field(default_factory=dict)
    stacks: frozenset[Place] = frozenset()
    lists: frozenset[Place] = frozenset()
    users: weakref.WeakSet[Code] = field(default_factory=weakref.WeakSet)


@dataclass(frozen=True)
class _Prepared:
    """The input of the compiler: a function and its transformations.

    Attributes
    ----------
    levels : tuple of Level
        The gradients among what was applied that are `steps`; others are calls in the function.
    """

    signature: Signature
    levels: tuple[Level, ...]
    steps: tuple[Step, ...]
    lowered: Lowered


@lru_cache(maxsize=_MOST_DEFINITIONS)
def _shared(
    definition: Definition,
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
    nested: bool,
    wide: int,
    pattern: bool,
) -> Family:
    return Family(Parameters(definition.code))


# Refusals that other kinds of values may not meet.
_KNOWN_ONLY_LATER = (
    UnsupportedError, TypeUnstableError, TypeMismatchError, UnboundError, AliasError,
)  # fmt: skip


def _is_further(error: AdcError, first: AdcError) -> bool:
    """Whether an attempt can do what the first one could not, and met an error on a later line."""
    a, b = error.span, first.span
    return (
        isinstance(first, UnsupportedError)
        and a is not None
        and b is not None
        and a.file == b.file
        and a.line > b.line
    )


def _add(constants: dict[Place, Any], places: set[Place], values: tuple[Any, ...]) -> bool:
    """Make numbers among what a call passes constants; return whether any was none before."""
    before = len(constants)
    for place in sorted(places - set(constants), key=str):
        # Nothing is there of what becomes an array.
        with suppress(AttributeError, LookupError, TypeError):
            constants[place] = place.read(values)
    return len(constants) > before


def _cannot_start_again(fn: Function) -> bool:
    """Whether code may have printed something before it finds an axis of size 1."""
    functions = (fn, *fn.callees, *(each.of for each in fn.derived))
    stmts = [stmt for each in functions for stmt in walk(each.body)]
    return leave_traces(functions) and any(
        isinstance(stmt, Check) and stmt.error == AssumptionError.__name__ for stmt in stmts
    )


class Code:
    """The code of one derivative of a function, compiled for every signature that occurs.

    Derivatives of functions that differ in what their closures hold share it.

    Attributes
    ----------
    fn : function
        The function that is differentiated.
    levels : tuple of Level
        What was applied to it, first to last.
    along : tuple of int or None
        Arguments of a directional derivative of that.
    pull : tuple of int or None
        Arguments whose cotangents are computed from those of the results.
    nested : bool
        Whether what was applied is lowered with the function, as calls of derivatives within code.
        It is where cotangents are pulled back; else as much of it as can be is transformations.
    wide : int
        How many of these directions, or cotangents, are to be taken at once, if there are so many.
    entire : bool
        Whether all attributes of objects count as arguments: where another code pulls back to them.
    pattern : bool
        Whether directions have marks of what depends on them, in place of derivatives.
    lasting : bool
        Whether a call does what the function changes outside of it, as one call of it does.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        levels: tuple[Level, ...],
        options: Options,
        along: tuple[int, ...] | None = None,
        pull: tuple[int, ...] | None = None,
        nested: bool = False,
        wide: int = 0,
        entire: bool = False,
        pattern: bool = False,
        lasting: bool = False,
    ) -> None:
        self.fn = function_of(fn)
        # A function with a custom derivative, or that is checkpointed, is more than its code.
        more = has_rule(fn) or is_checkpointed(fn)
        self._lowered_fn = getattr(fn, "__func__", fn) if more else self.fn
        self._callable = fn
        self.levels = levels
        self.options = options
        self.along = along
        self.pull = pull
        self.nested = nested
        self.wide = wide
        self.entire = entire
        self.pattern = pattern
        self.lasting = lasting and options.target != "cuda"
        # What a bound method adds to the arguments; `argnums` does not count it.
        self._bound = (fn.__self__,) if isinstance(fn, types.MethodType) else ()
        self._skip = len(self._bound)
        self.last: Compiled | None = None
        self.hits = 0
        # Plans made before, which are asked where they are those for the arguments.
        self.planned: Plans | None = None
        self._define()

    def _define(self) -> None:
        """Take the function as it is now."""
        fn = self.fn
        self._now = (fn.__code__, fn.__defaults__, fn.__kwdefaults__)
        self.levels = settled(self._callable, self.levels)
        self._moved = {*(self.along or ()), *(self.pull or ())}
        for level in self.levels:
            chosen = level.argnums
            self._moved |= {chosen} if isinstance(chosen, int) else set(chosen)
        more = None if self._lowered_fn is fn else self._lowered_fn
        definition = Definition(fn, more, bool(self._bound))
        # What such a function holds would be kept with the code.
        make = _shared.__wrapped__ if more is not None and fn.__closure__ else _shared
        way = (self.along, self.pull, self.nested, self.wide, self.pattern)
        shared = make(definition, self.levels, self.options, *way)
        shared.users.add(self)
        self._shared = shared
        self._parameters, self.entries = shared.parameters, shared.entries
        self._match = shared.parameters.matching(fn)
        self._whole: tuple[bool, ...] | None = None

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        """Release large memory of calls when no derivative uses it any more."""
        shared: Family | None = vars(self).get("_shared")
        if shared is None or ends():  # then nothing of this module can be relied on
            return
        shared.users.discard(self)
        if not shared.users:
            for compiled in self.compiled():
                kernel = compiled.entry.kernel
                if getattr(kernel, "nbytes", 0) > _MOST_HELD:  # not of a GPU
                    kernel.release_memory()

    @cached_property
    def costs(self) -> Costs:
        """The costs for all its code, read when the first code is compiled."""
        from adc import calibrate

        return calibrate.load()

    def match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """Return an argument for each parameter, as a call would; raise TypeError as it would."""
        self.refresh()
        values = Arguments(self._match(*self._bound, *args, **kwargs))
        values.fn = self.fn
        return values

    def refresh(self) -> None:
        """Read the function again if its code or defaults were replaced."""
        fn, (code, defaults, keywords) = self.fn, self._now
        if (
            fn.__code__ is not code
            or fn.__defaults__ is not defaults
            or fn.__kwdefaults__ is not keywords
        ):
            self._define()

    def whole(self, values: tuple[Any, ...]) -> tuple[bool, ...]:
        """Return for each parameter whether it is differentiated, as far as `argnums` is valid."""
        if self._whole is not None:
            return self._whole
        names, variable = self._parameters.names, self._parameters.variable
        own = self._parameters.positional - self._skip
        rest = len(values[names.index(variable)]) if variable is not None else 0
        found: set[int] = set()
        if self.entire:
            found.update(range(self._skip, self._parameters.positional + (variable is not None)))
        for number in self._moved:
            if number >= KEYWORDS:
                first = self._parameters.positional + (variable is not None)
                found.add(first + number - KEYWORDS)
                continue
            number += own + rest if number < 0 else 0
            found.add(number + self._skip if number < own else self._parameters.positional)
        whole = tuple([k in found for k in range(len(names))])
        if variable is None:
            self._whole = whole
        return whole

    def call(self, values: Arguments) -> Any:
        """Return the derivative at these arguments."""
        last = self.last
        if last is not None:
            results = last.again(values)
            if results is not None:
                self.hits += 1
                return last.present(results, values)
        compiled, hidden = self.find(values)
        compiled.prepare(values, self.whole(values))
        return compiled.run(values, hidden)

    def find_along(
        self, values: Arguments, count: Callable[[Compiled], int]
    ) -> tuple[Compiled, Along]:
        """Return code that is up to date for these arguments, and what runs it along directions.

        `count` tells how many tangents or cotangents code takes.
        """
        last = self.last
        if last is not None:
            run = last.again_along(values)
            if run is not None:
                self.hits += 1
                return last, run
        compiled, hidden = self.find(values)
        compiled.prepare(values, self.whole(values), count(compiled))
        return compiled, partial(compiled.flat, values, hidden)

    def commutes(self, values: tuple[Any, ...]) -> bool:
        """Whether derivatives of the function that is lowered for these arguments commute."""
        return commute(self.find(values)[0].lowered.fn)

    def find(self, values: tuple[Any, ...]) -> tuple[Compiled, list[Any]]:
        """Return code that is up to date for these arguments, and its hidden arguments."""
        whole = self._whole or self.whole(values)
        key = key_of(values, whole, self._shared.stacks)
        found = self._valid(key, values)
        if found is not None:
            self.hits += 1
            self.last = found[0]
            return found
        with cache.LOCK, _no_collections():
            found = self._valid(key, values)  # another thread may have made it meanwhile
            for _ in range(_MOST_ATTEMPTS):
                if found is not None:
                    break
                with progress(name_of(self.fn), self.options.progress):
                    made = self._compile(values, whole)
                    key = key_of(values, whole, self._shared.stacks)
                others = [
                    old
                    for old in self.entries.pop(key, [])
                    if (old.varies and made.varies) or differ(old, made)
                ]
                while sum(map(len, self.entries.values())) + len(others) >= MOST_ENTRIES:
                    if others:
                        others.pop()
                    else:
                        del self.entries[next(iter(self.entries))]
                self.entries[key] = [made, *others[: _MOST_VARIANTS - 1]]
                found = self._valid(key, values)
            if found is None:
                raise self._changing(made, values)
            self.last = found[0]
            return found

    def compilation(self, values: tuple[Any, ...]) -> Compilation:
        """Return every stage for these arguments; no machine code is made."""
        from adc.compiler.driver import transform

        made = self._prepared(values, self.whole(values))
        budget = self._budget(made.signature, made.lowered, values)
        with _over_budget(self.fn) if budget else nullcontext():
            return transform(
                made.lowered,
                made.steps,
                self.options.remat,
                self.costs,
                budget,
                target=self.options.machine,
            )

    def plans(self, values: tuple[Any, ...], made: Compilation | None = None) -> Plans:
        """Return the plans for these arguments, for any budget: those of `made` if they are."""
        from adc.compiler.driver import Plans

        found = self._prepared(values, self.whole(values))
        sizes = self._sizes(found.signature, found.lowered, values)
        asked = (
            found.lowered,
            found.steps,
            self.options.remat,
            self.costs,
            self.options.machine,
            sizes,
        )
        if made is not None and made.plans is not None and made.plans.are_for(*asked):
            return made.plans
        return Plans(*asked)

    def described(
        self, values: tuple[Any, ...], made: Compilation, alternatives: bool | None = None
    ) -> Plan:
        """Return the plan for these arguments, with numbers.

        `alternatives` are what half and twice the budget would give; None asks for them where
        there is a budget.
        """
        from adc.compiler.driver import held_on_device
        from adc.ir.analysis.costs import estimate
        from adc.passes.memory.peak import peak as peak_of

        plan = made.plan
        assert plan is not None
        assert plan.peak is not None
        arguments = self._leaves(self._signature(values, self.whole(values)), made.lowered, values)
        known = dict(sizes_of(made.lowered, arguments))
        peak = plan.peak.at(arguments)
        if plan.budget is None:
            found = estimate(made.fn, known, self.costs, offload=self.options.machine.offload)
            plan = replace(plan, seconds=found.seconds)
            if peak is None:
                # More of it is known for these sizes: which of them are equal.
                exact = peak_of(made.fn, sizes=known, offload=self.options.machine.offload)
                peak = exact.at(arguments)
        elif peak is None:
            peak = plan.peak_bytes
        if plan.device:
            held = held_on_device(
                made.fn, known, self.options.machine, limited=plan.budget is not None
            )
            # Without the numbers that are known only at run time.
            sure = (held.peak, held.host) if held.exact else (None, None)
            plan = plan.at(arguments, *sure)
        else:
            plan = plan.at(arguments, peak)
        if alternatives or (alternatives is None and plan.budget is not None):
            plans = self.plans(values, made)
            with _over_budget(self.fn):
                budget = plan.budget or plans.range[1]
            budgets = (budget // 2, 2 * budget)
            plan = replace(plan, alternatives=tuple(map(plans.alternative, budgets)))
        return plan

    def sizes(self, values: tuple[Any, ...], made: Compilation) -> dict[str, int | tuple[int, ...]]:
        """Return integers and shapes that a call passes, by parameter of the code."""
        signature = self._signature(values, self.whole(values))
        return dict(self._sizes(signature, made.lowered, values))

    def _sizes(self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]) -> Sizes:
        return sizes_of(lowered, self._leaves(signature, lowered, values))

    def _leaves(self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]) -> list[Any]:
        """Return numbers, and arrays of which only the shapes count."""
        leaves = list(signature.leaves(values))
        for capture in lowered.captures:
            leaves += capture.leaves(values) or []
        return [foreign.shape_of(leaf) if foreign.is_foreign(leaf) else leaf for leaf in leaves]

    def _budget(
        self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]
    ) -> Budget | None:
        if self.options.memory is None:
            return None
        from adc.compiler.driver import Budget

        return Budget(self.options.memory, self._sizes(signature, lowered, values))

    def _signature(self, values: tuple[Any, ...], whole: Sequence[bool]) -> Signature:
        stacked = self._shared.stacks
        return Signature(self.fn, self._parameters, values, whole, self._skip, stacked)

    def _changing(self, made: Compiled, values: tuple[Any, ...]) -> AdcError:
        places = [guard.place for guard in made.lowered.guards if not guard.holds(values)]
        places += [c.place for c in made.lowered.captures if c.leaves(values) is None]
        what = ", ".join([f"`{place}`" for place in places])
        return UnsupportedError(
            f"{name_of(self.fn)}() reads {what}, which is a new object at each access",
            span_of(self.fn),
            "read it once, outside the function, and pass it as an argument",
        )

    def _valid(self, key: object, values: tuple[Any, ...]) -> tuple[Compiled, list[Any]] | None:
        for compiled in self.entries.get(key, ()):
            if compiled.lowered.changes and not self.lasting:
                continue
            hidden = compiled.hidden(values)
            if hidden is not None and compiled.fits(values, hidden):
                return compiled, hidden
        return None

    def compiled(self) -> list[Compiled]:
        """Return the code of all signatures."""
        return [compiled for entry in list(self.entries.values()) for compiled in reversed(entry)]

    def _prepared(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool = False,
        shares: bool = True,
    ) -> _Prepared:  # fmt: skip
        """Return the types of the arguments, the function, and what is to be done with it.

        Lists are passed as stacks where the program would be long, if that is possible.
        """
        family = self._shared
        before = family.stacks, family.lists
        try:
            while True:
                try:
                    made = self._typed(values, whole, general, shares)
                    # What is written may be among the arrays of which there are copies.
                    if not family.stacks or not (made.lowered.written or made.lowered.changed):
                        return made
                except StackError as error:
                    family.stacks |= error.places
                    continue
                except AdcError:
                    if not family.stacks:
                        raise
                self._unstack()
        except BaseException:
            family.stacks, family.lists = before
            raise

    def _unstack(self) -> None:
        """Pass no list as a stack from now on that is passed as one now."""
        family = self._shared
        family.stacks, family.lists = frozenset(), family.stacks | family.lists

    def _stackable(self, values: tuple[Any, ...], whole: Sequence[bool]) -> frozenset[Place]:
        """Return the lists among the arguments that could be passed as stacks, and are not."""
        # The parts of Jacobians are not arranged so.
        if self.wide or self.options.target == "cuda" or any(
            level.kind not in ("jit", "grad", "value_and_grad") for level in self.levels
        ):  # fmt: skip
            return frozenset()
        found = [
            place
            for k, (value, entire) in enumerate(zip(values, whole, strict=True))
            for place in stacks.places(value, entire, Place(k))
        ]
        return frozenset(found) - self._shared.stacks - self._shared.lists

    def _typed(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool, shares: bool
    ) -> _Prepared:
        """Return the same as `_prepared`, for the stacks that there are now."""
        signature = self._signature(values, whole)
        stackable = self._stackable(values, whole)
        count = 0
        if not self.nested and self.pull is None:
            count = _by_steps(signature, self.levels, self.along is not None)
        start = len(self.levels) - count
        for chosen in (*(level.chosen for level in self.levels), self.along, self.pull):
            signature.positions(chosen or ())  # raises if there is nothing to differentiate
        for level in self.levels:
            if level.holomorphic:
                signature.check_complex(level.argnums)
        how = (stackable, shares)
        lowered = self._lower(signature, values, general, self.levels[:start], *how)
        levels = self.levels[start:]
        if len({level.argnums for level in levels}) > 1 and not commute(lowered.fn):
            # Steps are in another order than derivatives.
            lowered = self._lower(signature, values, general, self.levels[:-1], *how)
            levels = self.levels[-1:]
        if levels and levels[-1].kind == "jacrev":
            if is_differentiable_number(lowered, levels[-1].holomorphic):
                levels = (*levels[:-1], replace(levels[-1], kind="grad"))
            else:
                levels = ()
                lowered = self._lower(signature, values, general, self.levels, *how)
        if not general and _cannot_start_again(lowered.fn):
            lowered = self._lower(signature, values, True, lowered.applied, *how)
        if self.options.target != "cuda":
            self._check_on_host(signature, lowered, values)
        elif has_half(lowered.fn):
            raise DeviceError(
                f"{name_of(self.fn)}() computes with float16, which is not supported on a GPU",
                span_of(self.fn),
                'convert arrays with `.astype(np.float32)`, or use `target="cpu"`',
            )
        if levels:
            check_result(self.fn, lowered, levels[-1].has_aux, levels[-1].holomorphic)
        steps = _steps(signature, levels, self.along, self.pull, self.pattern)
        if steps and not levels:
            check_floats(self.fn, lowered)
        if self.wide:
            steps += self._directions(signature, lowered, values)
        return _Prepared(signature, levels, steps, lowered)

    def _directions(
        self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]
    ) -> tuple[Step, ...]:
        """Return the step to several directions at once.

        For how many depends on the first arguments that code is made for, no result does.
        """
        if self.options.target == "cuda" or self.options.memory is not None:
            return ()
        if self.along is not None:
            leaves = signature.leaves(values)
            moved = signature.positions(self.along)
            types = [lowered.fn.params[k].type for k in moved]
            total = sum(np.size(leaves[k]) for k in moved)
        else:
            types = [each.type for each in lowered.fn.results if each.type.kind == "f"]
            total = len(types)
        limited = self.wide < DIRECTIONS[-1]
        if limited:
            total = self.wide
        count = next((most for most in DIRECTIONS if total <= most), DIRECTIONS[-1])
        if not any(isinstance(ty, Array) for ty in types):
            count = min(count, total)  # there are never more
        elif self.along is None and not limited:
            count = DIRECTIONS[1]  # the number is known only at run time
        return (("directions", (count,)),) if count > 1 else ()

    def _check_on_host(
        self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]
    ) -> None:
        """Raise if there is an array on a GPU among what code for the CPU reads."""
        found = [
            (f"argument {name!r} of {name_of(self.fn)}()", value, tree)
            for name, value, tree in zip(signature.names, values, signature.types, strict=True)
        ]
        for capture in lowered.captures:
            found.append((f"`{capture.place}`", capture.place.read(values), capture.tree))
        for where, value, tree in found:
            for each in flatten.held(value, tree):
                if foreign.is_foreign(each):
                    raise ArgumentError(
                        f"{where}: a {foreign.kind_of(each)} on a GPU",
                        span_of(self.fn),
                        'use target="cuda", or pass a copy on the host',
                    )

    def _lower(
        self,
        signature: Signature,
        values: tuple[Any, ...],
        general: bool,
        applied: tuple[Level, ...],
        stackable: frozenset[Place],
        shares: bool,
    ) -> Lowered:
        constants: dict[Place, Any] = {}
        refused: AdcError | None = None
        picks = False
        while True:
            numbers: set[Place] = set()
            try:
                return lower(
                    self._lowered_fn,
                    signature.arguments(),
                    constants,
                    bound=self._skip,
                    # Loops of several functions are launched together there.
                    shares=shares and self.options.target != "cuda",
                    on_device=self.options.target == "cuda",
                    shared=True,
                    general=general,
                    applied=applied,
                    stackable=stackable,
                    modes=self._modes(applied),
                    numbers=numbers,
                    lasting=self.lasting,
                    picks=picks,
                )
            except AdcError as error:
                needed = {error.place} if isinstance(error, ConstantNeededError) else set()
                if not _add(constants, needed, values):
                    if not isinstance(error, _KNOWN_ONLY_LATER):
                        raise
                    # What sizes decide can be known: how many axes there are, which path is taken.
                    refused = refused or error
                    sizes = {place for place in numbers if place.path[-2:-1] == ("shape",)}
                    if _add(constants, sizes, values) or _add(constants, numbers, values):
                        continue
                    if picks:
                        raise (error if _is_further(error, refused) else refused) from None
                    # What takes more code is the last resort.
                    picks = True
                    constants.clear()

    def _modes(self, applied: tuple[Level, ...]) -> frozenset[str]:
        """Return which derivatives are taken of the function that is lowered."""
        kinds = [level.kind for level in self.levels if level.kind not in ("jit", "checkpoint")]
        if applied or self.wide or self.along is not None:
            return BOTH
        if self.pull is not None:
            return BOTH if kinds else REVERSE
        if all(kind in ("grad", "value_and_grad") for kind in kinds) and len(kinds) < 2:
            return REVERSE if kinds else NEITHER
        return BOTH

    def generalised(self, values: tuple[Any, ...]) -> Compiled:
        """Return code for axes that may or may not have size 1."""
        with cache.LOCK, _no_collections(), progress(name_of(self.fn), self.options.progress):
            return self._compile(values, self.whole(values), general=True)

    def _compile(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool = False,
        shares: bool = True,
    ) -> Compiled:  # fmt: skip
        made = self._prepared(values, whole, general, shares)
        signature, steps, lowered = made.signature, made.steps, made.lowered
        options, costs = self.options, self.costs
        budget = self._budget(signature, lowered, values)
        try:
            with _over_budget(self.fn) if budget else nullcontext():
                entry = cache.load_or_build(
                    lowered,
                    steps,
                    options.remat,
                    costs,
                    self.options.machine,
                    options.cache,
                    budget,
                    self.planned,
                )
        except MemoryBudgetError as error:
            if self._shared.stacks:
                self._unstack()
                return self._compile(values, whole, general, shares)
            if not (shares and lowered.fn.callees):
                tell(lowered, values, error)
                raise
            # Plans do not look into functions that calls share: inlined, they may need less. Other
            # functions stay: those of rules, and recursive ones.
            if self._prepared(values, whole, general, shares=False).lowered.fn == lowered.fn:
                tell(lowered, values, error)
                raise
            return self._compile(values, whole, general, shares=False)
        if options.parallel:
            entry.kernel.share(None if options.parallel is True else options.parallel)
        _kernels.add(entry.kernel)
        present = presenter(lowered, signature, made.levels, self.along, self.pull)
        ones = (1.0,) * max(len(made.levels) - 1, 0)
        signature = signature.emptied()
        return Compiled(
            lowered, steps, signature, options, costs, entry, made.levels, present, ones,
            self._shared.users, self.wide, budget,
        )  # fmt: skip


_kernels: weakref.WeakSet[Any] = weakref.WeakSet()


def release_memory() -> None:
    """Implement `adc.release_memory`."""
    from adc.backend.runtime.memory import POOL

    _shared.cache_clear()
    with cache.LOCK:
        kernels = list(_kernels)
    for kernel in kernels:
        kernel.release_memory()
    POOL.clear()
    on_device = sys.modules.get("adc.backend.cuda.memory")
    if on_device is not None:
        on_device.POOL.clear()
        on_device.PINNED.clear()


__all__ = [
    "AdcError",
    "Code",
    "Compiled",
    "Level",
    "Signature",
    "release_memory",
    "restore",
]
