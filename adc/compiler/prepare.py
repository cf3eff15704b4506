"""The input of the compiler, for the arguments of a call: the function lowered, and the steps.

The front end may have to be asked several times: for constants that it needs, for lists that are
passed as stacks, for a result that derivatives are taken of one way or another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adc.compiler.compiled import DIRECTIONS, Sizes, sizes_of
from adc.compiler.family import Family, Way
from adc.compiler.results import check_floats, check_result, is_differentiable_number
from adc.compiler.signature import Signature
from adc.frontend.attempts import Alternatives
from adc.frontend.core.state import (
    BOTH,
    NEITHER,
    REVERSE,
    Lowered,
    StackError,
)
from adc.frontend.entry import lower
from adc.frontend.inputs import flatten, stacks
from adc.frontend.inputs.places import Place
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.core import Check, Function, walk
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    AssumptionError,
    DeviceError,
)
from adc.ir.functions import has_half
from adc.ir.text.effects import leave_traces
from adc.ir.types import Array
from adc.library.transforms import Level
from adc.passes.ad.opaque import commute

if TYPE_CHECKING:
    from adc.passes.stages import Step


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


def _cannot_start_again(fn: Function) -> bool:
    """Whether code may have printed something before it finds an axis of size 1."""
    functions = (fn, *fn.callees, *(each.of for each in fn.derived))
    stmts = [stmt for each in functions for stmt in walk(each.body)]
    return leave_traces(functions) and any(
        isinstance(stmt, Check) and stmt.error == AssumptionError.__name__ for stmt in stmts
    )


@dataclass(frozen=True)
class Prepared:
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

    def sizes(self, values: tuple[Any, ...]) -> Sizes:
        """Return integers and shapes that a call passes, by parameter of the code."""
        return sizes_of(self.lowered, leaves_of(self.signature, self.lowered, values))


def leaves_of(signature: Signature, lowered: Lowered, values: tuple[Any, ...]) -> list[Any]:
    """Return the numbers that code takes, and arrays of which only the shapes count."""
    leaves = list(signature.leaves(values))
    for capture in lowered.captures:
        leaves += capture.leaves(values) or []
    return [foreign.shape_of(leaf) if foreign.is_foreign(leaf) else leaf for leaf in leaves]


@dataclass
class Preparation:
    """Makes the input of the compiler for one derivative of a function.

    Attributes
    ----------
    fn : function
        The function that is differentiated.
    lowered_fn : callable
        What is lowered: a function with a custom derivative is more than its code.
    way : Way
        What is done with it.
    lasting : bool
        Whether a call does what the function changes outside of it, as one call of it does.
    skip : int
        How many arguments a bound method adds.
    family : Family
        What it shares; which lists are passed as stacks is found out here.
    """

    fn: FunctionType
    lowered_fn: Callable[..., Any]
    way: Way
    lasting: bool
    skip: int
    family: Family

    def signature(self, values: tuple[Any, ...], whole: Sequence[bool]) -> Signature:
        family = self.family
        return Signature(self.fn, family.parameters, values, whole, self.skip, family.stacks)

    def prepared(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool = False,
        shares: bool = True,
    ) -> Prepared:  # fmt: skip
        """Return the types of the arguments, the function, and what is to be done with it.

        Lists are passed as stacks where the program would be long, if that is possible.
        """
        family = self.family
        before = family.stacks, family.lists
        try:
            while True:
                try:
                    made = self._typed(values, whole, general, shares)
                    # What is written may be among the arrays of which there are copies.
                    low = made.lowered
                    if not family.stacks or not (low.written or low.changed or low.compared):
                        return made
                except StackError as error:
                    family.stacks |= error.places
                    continue
                except AdcError:
                    if not family.stacks:
                        raise
                family.unstack()
        except BaseException:
            family.stacks, family.lists = before
            raise

    def _stackable(self, values: tuple[Any, ...], whole: Sequence[bool]) -> frozenset[Place]:
        """Return the lists among the arguments that could be passed as stacks, and are not."""
        # The parts of Jacobians are not arranged so.
        if self.way.wide or self.way.options.target == "cuda" or any(
            level.kind not in ("jit", "grad", "value_and_grad") for level in self.way.levels
        ):  # fmt: skip
            return frozenset()
        found = [
            place
            for k, (value, entire) in enumerate(zip(values, whole, strict=True))
            for place in stacks.places(value, entire, Place(k))
        ]
        return frozenset(found) - self.family.stacks - self.family.lists

    def _typed(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool, shares: bool
    ) -> Prepared:
        """Return the same as `prepared`, for the stacks that there are now."""
        signature = self.signature(values, whole)
        stackable = self._stackable(values, whole)
        count = 0
        if not self.way.nested and self.way.pull is None:
            count = _by_steps(signature, self.way.levels, self.way.along is not None)
        start = len(self.way.levels) - count
        for chosen in (*(level.chosen for level in self.way.levels), self.way.along, self.way.pull):
            signature.positions(chosen or ())  # raises if there is nothing to differentiate
        for level in self.way.levels:
            if level.holomorphic:
                signature.check_complex(level.argnums)
        how = (stackable, shares)
        lowered = self._lower(signature, values, general, self.way.levels[:start], *how)
        levels = self.way.levels[start:]
        if len({level.argnums for level in levels}) > 1 and not commute(lowered.fn):
            # Steps are in another order than derivatives.
            lowered = self._lower(signature, values, general, self.way.levels[:-1], *how)
            levels = self.way.levels[-1:]
        if levels and levels[-1].kind == "jacrev":
            if is_differentiable_number(lowered, levels[-1].holomorphic):
                levels = (*levels[:-1], replace(levels[-1], kind="grad"))
            else:
                levels = ()
                lowered = self._lower(signature, values, general, self.way.levels, *how)
        if not general and _cannot_start_again(lowered.fn):
            lowered = self._lower(signature, values, True, lowered.applied, *how)
        if self.way.options.target != "cuda":
            self._check_on_host(signature, lowered, values)
        elif has_half(lowered.fn):
            raise DeviceError(
                f"{name_of(self.fn)}() computes with float16, which is not supported on a GPU",
                span_of(self.fn),
                'convert arrays with `.astype(np.float32)`, or use `target="cpu"`',
            )
        if levels:
            check_result(self.fn, lowered, levels[-1].has_aux, levels[-1].holomorphic)
        steps = _steps(signature, levels, self.way.along, self.way.pull, self.way.pattern)
        if steps and not levels:
            check_floats(self.fn, lowered)
        if self.way.wide:
            steps += self._directions(signature, lowered, values)
        return Prepared(signature, levels, steps, lowered)

    def _directions(
        self, signature: Signature, lowered: Lowered, values: tuple[Any, ...]
    ) -> tuple[Step, ...]:
        """Return the step to several directions at once.

        For how many depends on the first arguments that code is made for, no result does.
        """
        if self.way.options.target == "cuda" or self.way.options.memory is not None:
            return ()
        if self.way.along is not None:
            leaves = signature.leaves(values)
            moved = signature.positions(self.way.along)
            types = [lowered.fn.params[k].type for k in moved]
            total = sum(np.size(leaves[k]) for k in moved)
        else:
            types = [each.type for each in lowered.fn.results if each.type.kind == "f"]
            total = len(types)
        limited = self.way.wide < DIRECTIONS[-1]
        if limited:
            total = self.way.wide
        count = next((most for most in DIRECTIONS if total <= most), DIRECTIONS[-1])
        if not any(isinstance(ty, Array) for ty in types):
            count = min(count, total)  # there are never more
        elif self.way.along is None and not limited:
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
        unbudgeted = self.way.options.target != "cuda" and self.way.options.memory is None
        ways = Alternatives(values, may_pool=unbudgeted)
        while True:
            numbers: set[Place] = set()
            passed: set[tuple[str, int, int]] = set()
            try:
                return lower(
                    self.lowered_fn,
                    signature.arguments(),
                    ways.constants,
                    bound=self.skip,
                    # Loops of several functions are launched together there.
                    shares=shares and self.way.options.target != "cuda",
                    on_device=self.way.options.target == "cuda",
                    shared=True,
                    general=general,
                    applied=applied,
                    stackable=stackable,
                    modes=self._modes(applied),
                    auxiliary=not applied and self._has_auxiliary(),
                    numbers=numbers,
                    passed=passed,
                    lasting=self.lasting,
                    picks=ways.picks,
                    texts=ways.texts,
                    rolls=unbudgeted,
                    pools=ways.pools,
                )
            except AdcError as error:
                ways.note(error, numbers, passed)

    def _has_auxiliary(self) -> bool:
        """Whether one gradient is taken, of the first of a pair."""
        way = self.way
        moves = way.along is not None or way.pull is not None or way.wide > 0
        return not moves and len(way.levels) == 1 and way.levels[0].has_aux

    def _modes(self, applied: tuple[Level, ...]) -> frozenset[str]:
        """Return which derivatives are taken of the function that is lowered."""
        kinds = [level.kind for level in self.way.levels if level.kind not in ("jit", "checkpoint")]
        if applied or self.way.wide or self.way.along is not None:
            return BOTH
        if self.way.pull is not None:
            return BOTH if kinds else REVERSE
        if all(kind in ("grad", "value_and_grad") for kind in kinds) and len(kinds) < 2:
            return REVERSE if kinds else NEITHER
        return BOTH
