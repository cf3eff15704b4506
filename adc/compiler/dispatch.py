"""A call of a derivative: hidden arguments, guards, the lookup of compiled code, results."""

from __future__ import annotations

import gc
import operator
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from adc.compiler import cache, transfers
from adc.compiler.memory import text as memory_text
from adc.compiler.progress import progress
from adc.compiler.signature import Parameters, Signature
from adc.frontend.core import trees
from adc.frontend.core.bindings import Binding, Num, TupleOf, kind_of
from adc.frontend.core.lower import ConstantNeededError, Lowered
from adc.frontend.core.places import Arguments, Place, defaults_of
from adc.frontend.core.trees import key_of
from adc.frontend.entry import lower
from adc.frontend.values.results import rebuilt
from adc.functions import function_of, name_of, settled, span_of
from adc.ir import foreign
from adc.ir.core import Check, Function, Print, walk
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    AssumptionError,
    GlobalStateError,
    MemoryBudgetError,
    NonScalarError,
    NotDifferentiableError,
    OverlapError,
    UnsupportedError,
)
from adc.ir.types import Array, Scalar
from adc.library.transforms import Level, has_rule, is_checkpointed

if TYPE_CHECKING:
    from adc.compiler.driver import Budget, Compilation, Plans
    from adc.ir.analysis.costs import Costs
    from adc.options import Options
    from adc.passes.remat.plan import Plan
    from adc.passes.stages import Step

Sizes = tuple[tuple[str, "int | tuple[int, ...]"], ...]
# More signatures than this at once come from objects that are recreated at every call.
_MOST_ENTRIES = 256
# Definitions of functions whose code is kept for derivatives that are recreated at every call.
_MOST_DEFINITIONS = 256
# Bytes of workspace and tapes that code holds for a derivative that may be recreated.
_MOST_HELD = 2**20
# The most code for arguments with one key: for objects with attributes of other kinds.
_MOST_VARIANTS = 8
# The words of random generators, by the places where these are found.
States = list[tuple[Place, np.ndarray[Any, Any]]]
# Directions of a Jacobian that are taken at once: the least of these that are enough, or the most.
_DIRECTIONS = (4, 8, 16)
# Times that code is made for one call: while it is, another thread may change what it reads.
_MOST_ATTEMPTS = 3


# --- compiled code --------------------------------------------------------------------------------


@dataclass
class Compiled:
    """Code for one signature, and the structure of its results.

    Attributes
    ----------
    levels : tuple of Level
        The gradients that it takes of what was lowered.
    present : callable
        Makes what the user gets of the results of the kernel.
    ones : tuple
        Directions of inner derivatives: along their scalar argument.
    """

    lowered: Lowered
    steps: tuple[Step, ...]
    signature: Signature
    options: Options
    costs: Costs
    entry: cache.Entry
    levels: tuple[Level, ...]
    present: Callable[[Sequence[Any]], Any]
    ones: tuple[Any, ...]
    users: weakref.WeakSet[Code]
    budget: Budget | None = None
    # Makes code for axes that may turn out to have size 1, which this code may not be for.
    _general: Compiled | None = None
    _usual: bool = True
    _known: dict[Sizes, dict[str, int] | None] = field(default_factory=dict)

    @property
    def plan(self) -> Plan | None:
        return self.entry.plan

    @property
    def source(self) -> str:
        return self.entry.source

    @property
    def from_disk(self) -> bool:
        return self.entry.from_disk

    @cached_property
    def compilation(self) -> Compilation:
        """Every stage of the compilation; repeated if the code was loaded from disk."""
        from adc.compiler.driver import transform

        made = self.entry.compilation
        return made or transform(
            self.lowered,
            self.steps,
            self.options.remat,
            self.costs,
            self.budget,
            target=self.options.machine,
        )

    @cached_property
    def varies(self) -> bool:
        """Whether arguments with the same key may need other code, because attributes differ."""
        lowered = self.lowered
        places = [each.place for each in lowered.captures] + [each.place for each in lowered.guards]
        return any(place.varies for place in places)

    @cached_property
    def few(self) -> tuple[int, ...] | None:
        """The arguments along which code takes few directions at once, which may be many."""
        if self.steps[-1:] != (("directions", _DIRECTIONS[:1]),):
            return None
        name, positions = self.steps[-2]
        arrays = any(isinstance(self.lowered.fn.params[k].type, Array) for k in positions)
        return positions if name == "tangent" and arrays else None

    def hidden(self, values: tuple[Any, ...]) -> list[Any] | None:
        """Return the captured values, or None if a constant of the code has changed."""
        for guard in self.lowered.guards:
            if not guard.holds(values):
                return None
        found: list[Any] = []
        for capture in self.lowered.captures:
            leaves = capture.leaves(values)
            if leaves is None:
                return None
            found += leaves
        return found

    def fits(self, values: tuple[Any, ...], hidden: list[Any]) -> bool:
        """Whether it may be called with these arguments.

        That is, within the budget of the plan; and not for a few directions of many.
        """
        if self.few is not None:
            leaves = self.signature.leaves(values)
            if sum(np.size(leaves[k]) for k in self.few) > _DIRECTIONS[0]:
                return False
        args = [*self.signature.leaves(values), *hidden] if self.budget else ()
        return self._needs(args) is not None

    def _needs(self, args: Sequence[Any]) -> dict[str, int] | None:
        """Return the known bytes of each tape of a call; None if they exceed the budget.

        Nothing is known, or asked, without a budget; nor of tapes on a device.
        """
        if self.budget is not None and self.options.target == "cuda":
            return {} if self.entry.kernel.fits(args) else None
        peak = self.plan.peak if self.plan is not None else None
        if self.budget is None or peak is None:
            return {}
        sizes = sizes_of(self.lowered, args)
        if sizes not in self._known:
            if len(self._known) >= _MOST_ENTRIES:
                self._known.clear()
            # For the sizes that it was made for, more may be known than for others.
            same = sizes == self.budget.sizes and self.plan is not None
            size = self.plan.peak_bytes if same and self.plan is not None else peak.at(args)
            fits = size is not None and size <= self.budget.bytes
            self._known[sizes] = peak.tapes_at(args) if fits else None
        return self._known[sizes]

    def _call(self, args: Sequence[Any]) -> Sequence[Any]:
        if self.budget is None or self.options.target == "cuda":
            return self.entry.kernel(*args)  # type: ignore[no-any-return]  # of an untyped module
        return self.entry.kernel(*args, reserved=self._needs(args))  # type: ignore[no-any-return]

    def arguments(self, values: tuple[Any, ...]) -> list[Any]:
        """Return the numbers and arrays that the code is called with."""
        return [*self.signature.leaves(values), *(self.hidden(values) or ())]

    def arranged(self, flat: Sequence[Any]) -> Any:
        """Return the result of the function, from flat results that begin with it."""
        return _results(self.lowered)(flat)

    def run(
        self, values: tuple[Any, ...], hidden: list[Any], directions: Sequence[Any] = ()
    ) -> Any:
        """Run the code on the arguments of a call."""
        return self.present(self.flat(values, hidden, directions))

    def flat(
        self, values: tuple[Any, ...], hidden: list[Any], directions: Sequence[Any] = ()
    ) -> Sequence[Any]:
        """Return the numbers and arrays that the code computes.

        `directions` are the tangents of what moves, or the cotangents of all float results.
        """
        if self._usual:
            try:
                return self._flat(values, hidden, directions)
            except AssumptionError:
                pass
        found = self._general_flat(values, directions)
        self._usual = False  # for calls like this one: it was no mistake that the program raises
        return found

    def _general_flat(self, values: tuple[Any, ...], directions: Sequence[Any]) -> Sequence[Any]:
        """Return the same as `flat`, from code for axes that may or may not have size 1."""
        assert isinstance(values, Arguments)
        # Of those that can call this code, the one that does.
        code = next(user for user in self.users if user.fn is values.fn)
        made = self._general
        hidden = None if made is None else made.hidden(values)
        if made is None or hidden is None or not made.fits(values, hidden):
            self._general = made = code.generalised(values)
            hidden = made.hidden(values)
        return made._flat(values, hidden or [], directions)

    def _flat(
        self, values: tuple[Any, ...], hidden: list[Any], directions: Sequence[Any]
    ) -> Sequence[Any]:
        args = [*self.signature.leaves(values), *hidden]
        if self.options.target != "cuda":
            for each in directions:
                if foreign.is_foreign(each):
                    raise ArgumentError(
                        f"a tangent or cotangent is a {foreign.kind_of(each)} on a GPU",
                        span_of(self.signature.fn),
                        'use target="cuda", or pass a copy on the host',
                    )
        if self._changed_arguments:
            self._check_defaults(values)
        if self.lowered.written:
            self._check_written(values, args)
        if self.lowered.changed:
            self._check_shared(values)
        if self.lowered.drawn:
            return self._drawing(values, args, directions)
        results: Sequence[Any] = self._call([*args, *self.ones, *directions])
        return results

    def _drawing(
        self, values: tuple[Any, ...], args: list[Any], directions: Sequence[Any]
    ) -> Sequence[Any]:
        """Run code that draws random numbers, and advance the generators as the function would."""
        lowered = self.lowered
        found = [(each, each.place.read(values)) for each in lowered.generators]
        # In one order everywhere, so that no two threads wait for each other.
        sources = sorted([generator.bit_generator for _, generator in found], key=id)
        if any(map(operator.is_, sources, sources[1:])):
            raise OverlapError(
                f"{name_of(self.signature.fn)}() reaches one random generator under two names",
                span_of(self.signature.fn),
                "pass it once",
            )
        with ExitStack() as stack:
            for source in sources:
                stack.enter_context(source.lock)
            for each, generator in found:
                args[each.position] = trees.words(generator)
            results: Sequence[Any] = self._call([*args, *self.ones, *directions])
            drawn = [generator for each, generator in found if each.drawn]
            own = len(lowered.fn.results)
            for generator, state in zip(drawn, results[own - len(drawn) : own], strict=True):
                trees.advance(generator, state)
        return results

    def states(self, values: tuple[Any, ...]) -> States:
        """Return the states of the generators that the code draws from."""
        return [(each.place, trees.words(each.place.read(values))) for each in self.lowered.drawn]

    def _check_written(self, values: tuple[Any, ...], args: Sequence[Any]) -> None:
        """Raise if an array that the function writes to is read-only, or shares its memory."""
        params, written = self.lowered.fn.params, self.lowered.written
        if any(isinstance(params[k].type, Scalar) for k in written):
            own = self.signature.leaves(values, boxed=True)
            args = [*own, *args[len(own) :]]
        pairs = zip(args, params, strict=False)
        arrays = [
            (k, arg)
            for k, (arg, param) in enumerate(pairs)
            if isinstance(param.type, Array) or type(arg) is np.ndarray
        ]
        function, span = f"{name_of(self.signature.fn)}()", span_of(self.signature.fn)
        for k, a in arrays:
            if k not in written:
                continue
            name = params[k].name
            if type(a) is np.ndarray:
                if not a.flags.writeable:
                    raise ArgumentError(
                        f"argument {name!r} of {function} is read-only, and the function writes "
                        "to it",
                        span,
                        "pass a copy",
                    )
                if not a.flags.c_contiguous and _overlaps_itself(a):
                    raise OverlapError(
                        f"elements of argument {name!r} of {function} share memory, and the "
                        "function writes to it",
                        span,
                        "pass a copy",
                    )
            for j, b in arrays:
                if j != k and _overlap(a, b):
                    raise OverlapError(
                        f"arguments {name!r} and {params[j].name!r} of {function} overlap in "
                        f"memory, and the function writes to {name!r}",
                        span,
                        "pass a copy of one of them",
                    )

    @cached_property
    def _changed_arguments(self) -> frozenset[int]:
        """The positions of the arguments that the function changes, or something in them."""
        lowered = self.lowered
        found = {place.root for place in lowered.changed if isinstance(place.root, int)}
        owners: list[Any] = []
        for k, ty in enumerate(self.signature.types):
            owners += [k] * len(trees.leaf_types(ty))
        for capture in lowered.captures:
            owners += [capture.place.root] * len(capture.params)
        found |= {owners[k] for k in lowered.written if isinstance(owners[k], int)}
        return frozenset(found)

    def _check_defaults(self, values: tuple[Any, ...]) -> None:
        """Raise if the function changes a default value, which the next call would find changed."""
        # Of the function that is called: code is shared by all with one definition.
        fn = values.fn if isinstance(values, Arguments) else self.signature.fn
        defaults = defaults_of(fn)
        for k in self._changed_arguments:
            name = self.signature.names[k]
            if name in defaults and values[k] is defaults[name]:
                raise GlobalStateError(
                    f"the default value of {name!r} of {name_of(fn)}() would be changed",
                    span_of(fn),
                    "pass it as an argument",
                )

    def _check_shared(self, values: tuple[Any, ...]) -> None:
        """Raise if the function changes a list, dict or object that has several references."""
        lowered = self.lowered
        found = [
            one
            for value, ty in zip(values, self.signature.types, strict=True)
            for one in trees.changeable(value, ty)
        ]
        for capture in lowered.captures:
            found += trees.changeable(capture.place.read(values), capture.tree)
        found += [id(guard.place.read(values)) for guard in lowered.guards if guard.shared]
        for place in lowered.changed:
            value = place.read(values)
            if found.count(id(value)) > 1:
                assert isinstance(place.root, int)
                raise OverlapError(
                    f"argument {self.signature.names[place.root]!r} of "
                    f"{name_of(self.signature.fn)}() contains a {type(value).__name__} that "
                    "is changed, and that other arguments or variables refer to",
                    span_of(self.signature.fn),
                    "pass a copy",
                )


def sizes_of(lowered: Lowered, args: Sequence[Any]) -> Sizes:
    """Return the integers and shapes among arguments of the code, by parameter."""
    return tuple(
        (param.name, np.shape(arg) if isinstance(param.type, Array) else int(arg))
        for param, arg in zip(lowered.fn.params, args, strict=False)
        if isinstance(param.type, Array) or param.type.kind in "iu"
    )


def _bucket(sizes: Sizes) -> tuple[int, ...]:
    """Return the bucket of sizes that share a plan: powers of two."""
    flat = [n for _, size in sizes for n in ((size,) if isinstance(size, int) else size)]
    return tuple(n.bit_length() if n > 0 else 0 for n in flat)


def restore(states: States, values: tuple[Any, ...]) -> None:
    """Give random generators the states that they had, so that code draws the same numbers."""
    for place, state in states:
        trees.advance(place.read(values), state)


# The most elements of which the addresses are compared one by one.
_MOST_ADDRESSES = 1 << 20


def _overlaps_itself(a: np.ndarray[Any, Any]) -> bool:
    """Whether two elements of an array share memory, which its strides say in all usual cases."""
    reach, sizes = a.itemsize, [(abs(s), n) for s, n in zip(a.strides, a.shape, strict=True)]
    if 0 in a.shape:
        return False
    disjoint = True
    for stride, size in sorted(pair for pair in sizes if pair[1] > 1):
        disjoint &= stride >= reach
        reach += stride * (size - 1)
    if disjoint or a.size > _MOST_ADDRESSES:
        return not disjoint
    places = np.zeros(1, np.int64)
    for stride, size in sizes:
        places = np.add.outer(places, stride * np.arange(size)).ravel()
    return bool(np.any(np.diff(np.sort(places)) < a.itemsize))


def _overlap(a: Any, b: Any) -> bool:
    first, second = foreign.memory_of(a), foreign.memory_of(b)
    if first is None or second is None:
        return a is b  # no two of JAX's arrays share memory
    try:
        # The exact answer may take time exponential in the rank.
        return np.shares_memory(first, second, max_work=100_000)  # type: ignore[arg-type]  # stub
    except np.exceptions.TooHardError:
        return True


def _steps(
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
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
        steps.append(("tangent", signature.positions(along)))
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


def _is_number(lowered: Lowered) -> bool:
    """Whether a function returns one float."""
    return isinstance(lowered.result, Num) and lowered.result.operand.type.kind == "f"


def first_of_pair(fn: Callable[..., Any], lowered: Lowered) -> Binding:
    """Return the differentiated element of a pair with auxiliary results."""
    result = lowered.result
    if not (isinstance(result, TupleOf) and len(result.items) == 2):
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(result)}; `has_aux` needs a pair",
            span_of(fn),
            "return (value, auxiliary results)",
        )
    return result.items[0]


def _words(fn: Callable[..., Any], lowered: Lowered) -> str:
    """Return what is lowered in words: a function, or a derivative of it."""
    words = "".join(f"`{level.kind}` of " for level in reversed(lowered.applied))
    return f"{words}{name_of(fn)}()"


def _check_result(fn: Callable[..., Any], lowered: Lowered, has_aux: bool) -> None:
    """Raise unless the (first) result is one float."""
    result: Binding = first_of_pair(fn, lowered) if has_aux else lowered.result
    if not (isinstance(result, Num) and result.operand.type.kind == "f"):
        floats = any(operand.type.kind == "f" for operand in lowered.fn.results)
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(result)}; only one float can be "
            "differentiated",
            span_of(fn),
            ("differentiate a function that reduces it to a number, for instance by a sum"
             if lowered.applied else "return a number, for instance a sum")
            + (", or use `adc.jacrev` or `adc.vjp`" if floats else ""),
        )  # fmt: skip


def _check_floats(fn: Callable[..., Any], lowered: Lowered) -> None:
    """Raise unless there is something to differentiate in the results."""
    if not any(operand.type.kind == "f" for operand in lowered.fn.results):
        raise NonScalarError(
            f"{_words(fn, lowered)} returns {kind_of(lowered.result)}; there is no float in it",
            span_of(fn),
            "return floats, or arrays of floats",
        )


def check_commuting(fn: Callable[..., Any], lowered: Function) -> None:
    """Raise where derivatives need not commute: a custom rule decides about them.

    A gradient of a gradient is computed as a derivative of the outer gradient, and a gradient is
    pulled back through as a Hessian is applied.
    """
    for each in (*lowered.callees, *(inner for d in lowered.derived for inner in d.of.callees)):
        if each.rule is not None and not each.rule.exact:
            raise NotDifferentiableError(
                f"{name_of(fn)}() is differentiated twice in reverse mode, and calls a "
                "function with "
                "a custom rule",
                span_of(fn),
                "use `adc.hvp`, or `adc.jvp` or `adc.jacfwd` of the gradient: forward over reverse",
            )


def _results(lowered: Lowered) -> Callable[[Sequence[Any]], Any]:
    """Return what arranges flat results as the Python function returns them."""
    types = [operand.type for operand in lowered.fn.results]
    makers = [trees.number(ty) if isinstance(ty, Scalar) else _as_it_is for ty in types]

    def arrange(results: Sequence[Any]) -> Any:
        flat = (make(found) for make, found in zip(makers, results, strict=False))
        return rebuilt(lowered.result, lowered.heap, flat)

    return arrange


def _as_it_is(found: Any) -> Any:
    return found


def _with_tangents(lowered: Lowered) -> Callable[[Sequence[Any]], Any]:
    """Return a function that arranges the results of a tangent's kernel as results and tangents."""
    arrange = _results(lowered)
    own = lowered.fn.results
    floats = [operand.type.kind == "f" for operand in own]

    def present(results: Sequence[Any]) -> tuple[Any, Any]:
        dots = iter(results[len(own) :])
        # What is no float does not move.
        flat = [
            next(dots) if moves else transfers.zeros_like(found)
            for moves, found in zip(floats, results, strict=False)
        ]
        return arrange(results), arrange(flat)

    return present


def _presenter(
    lowered: Lowered,
    signature: Signature,
    levels: tuple[Level, ...],
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
) -> Callable[[Sequence[Any]], Any]:
    """Return a function that arranges the kernel's results as the user's.

    The adjoint appends the gradients to the function's own results. Each tangent then appends the
    tangents of all float results, those of value and gradients first-to-last at the very end.
    """
    own = lowered.fn.results
    if pull is not None:
        arrange = signature.arranged(pull)
        return lambda results: arrange(results[len(own) :])
    if not levels:
        return _results(lowered) if along is None else _with_tangents(lowered)
    floats = sum(operand.type.kind == "f" for operand in own)
    count = len(signature.positions(levels[-1].argnums))
    order = len(levels) - 1
    size, block = len(own) + count, floats + count
    appended = block
    for _ in range(order):
        size, appended = size + appended, 2 * appended
    # Where the derivative of the asked order begins: its value, and after it its gradients.
    first = size - block if order else 0
    ty = signature.scalar(levels[-2].argnums) if order else own[0].type
    assert isinstance(ty, Scalar)
    number = trees.number(ty)

    def arranged(first: int, end: int) -> Callable[[Sequence[Any]], Any]:
        last = levels[-1]
        gradients = slice(end - count, end)
        arrange = signature.arranged(last.argnums)
        if not last.with_value:
            return lambda results: arrange(results[gradients])
        return lambda results: (number(results[first]), arrange(results[gradients]))

    value = arranged(first, size)
    if along is not None:
        slope = arranged(size + appended - block, size + appended)
        return lambda results: (value(results), slope(results))
    if not levels[-1].has_aux:
        return value
    gradient = _presenter(
        lowered, signature, (replace(levels[-1], kind="grad", has_aux=False),), None, None
    )
    arrange = _results(lowered)

    def with_aux(results: Sequence[Any]) -> Any:
        pair = arrange(results)
        found = gradient(results)
        return (pair, found) if levels[-1].with_value else (found, pair[1])

    return with_aux


def _differ(old: Compiled, new: Compiled) -> bool:
    """Whether two pieces of code are plans for very different sizes."""
    if old.budget is None or new.budget is None:
        return False
    return _bucket(old.budget.sizes) != _bucket(new.budget.sizes)


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
            f"the memory that the derivative of {name_of(fn)}() needs is known only at run time: "
            f"{error.peak.legend() or error.peak}",
            span_of(fn),
            "limit the number of iterations, for instance with `range`, or leave out `memory`",
        ) from None


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
    users : set
        Derivatives that can call it.
    """

    parameters: Parameters
    entries: dict[object, list[Compiled]] = field(default_factory=dict)
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
    wide: bool,
) -> Family:
    return Family(Parameters(definition.code))


def _cannot_start_again(fn: Function) -> bool:
    """Whether code may have printed something before it finds an axis of size 1."""
    stmts = [stmt for each in (fn, *fn.callees) for stmt in walk(each.body)]
    return any(isinstance(stmt, Print) for stmt in stmts) and any(
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
    wide : bool
        Whether several of these directions, or cotangents, are to be taken at once.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        levels: tuple[Level, ...],
        options: Options,
        along: tuple[int, ...] | None = None,
        pull: tuple[int, ...] | None = None,
        nested: bool = False,
        wide: bool = False,
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
        way = (self.along, self.pull, self.nested, self.wide)
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
        found = set()
        for number in self._moved:
            number += own + rest if number < 0 else 0
            found.add(number + self._skip if number < own else self._parameters.positional)
        whole = tuple([k in found for k in range(len(names))])
        if variable is None:
            self._whole = whole
        return whole

    def find(self, values: tuple[Any, ...]) -> tuple[Compiled, list[Any]]:
        """Return code that is up to date for these arguments, and its hidden arguments."""
        whole = self._whole or self.whole(values)
        key: object = tuple(map(key_of, values, whole))
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
                others = [
                    old
                    for old in self.entries.pop(key, [])
                    if (old.varies and made.varies) or _differ(old, made)
                ]
                while sum(map(len, self.entries.values())) + len(others) >= _MOST_ENTRIES:
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

        plan = made.plan
        assert plan is not None
        assert plan.peak is not None
        arguments = self._leaves(self._signature(values, self.whole(values)), made.lowered, values)
        known = dict(sizes_of(made.lowered, arguments))
        peak = plan.peak.at(arguments)
        if plan.budget is None:
            found = estimate(made.fn, known, self.costs, offload=self.options.machine.offload)
            plan = replace(plan, seconds=found.seconds)
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
        return Signature(self.fn, self._parameters, values, whole, self._skip)

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
            hidden = compiled.hidden(values)
            if hidden is not None and compiled.fits(values, hidden):
                return compiled, hidden
        return None

    def compiled(self) -> list[Compiled]:
        """Return the code of all signatures."""
        return [compiled for entry in list(self.entries.values()) for compiled in reversed(entry)]

    def _prepared(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool = False
    ) -> _Prepared:
        """Return the types of the arguments, the function, and what is to be done with it."""
        signature = self._signature(values, whole)
        count = 0
        if not self.nested and self.pull is None:
            count = _by_steps(signature, self.levels, self.along is not None)
        start = len(self.levels) - count
        for chosen in (*(level.chosen for level in self.levels), self.along, self.pull):
            signature.positions(chosen or ())  # raises if there is nothing to differentiate
        lowered = self._lower(signature, values, general, self.levels[:start])
        levels = self.levels[start:]
        if levels and levels[-1].kind == "jacrev":
            if _is_number(lowered):
                levels = (*levels[:-1], replace(levels[-1], kind="grad"))
            else:
                levels = ()
                lowered = self._lower(signature, values, general, self.levels)
        if not general and _cannot_start_again(lowered.fn):
            lowered = self._lower(signature, values, True, lowered.applied)
        if self.options.target != "cuda":
            self._check_on_host(signature, lowered, values)
        if levels:
            _check_result(self.fn, lowered, levels[-1].has_aux)
            if len({level.argnums for level in levels}) > 1:
                check_commuting(self.fn, lowered.fn)
        steps = _steps(signature, levels, self.along, self.pull)
        if steps and not levels:
            _check_floats(self.fn, lowered)
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
        count = next((most for most in _DIRECTIONS if total <= most), _DIRECTIONS[-1])
        if not any(isinstance(ty, Array) for ty in types):
            count = min(count, total)  # there are never more
        elif self.along is None:
            count = _DIRECTIONS[1]  # the number is known only at run time
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
            for each in trees.held(value, tree):
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
    ) -> Lowered:
        constants: dict[Place, Any] = {}
        while True:
            try:
                return lower(
                    self._lowered_fn,
                    signature.arguments(),
                    constants,
                    bound=self._skip,
                    routines=self.options.target == "cuda",
                    shared=True,
                    general=general,
                    applied=applied,
                )
            except ConstantNeededError as error:
                if error.place in constants:
                    raise
                constants[error.place] = error.place.read(values)

    def generalised(self, values: tuple[Any, ...]) -> Compiled:
        """Return code for axes that may or may not have size 1."""
        with cache.LOCK, _no_collections(), progress(name_of(self.fn), self.options.progress):
            return self._compile(values, self.whole(values), general=True)

    def _compile(
        self, values: tuple[Any, ...], whole: Sequence[bool], general: bool = False
    ) -> Compiled:
        made = self._prepared(values, whole, general)
        signature, steps, lowered = made.signature, made.steps, made.lowered
        options, costs = self.options, self.costs
        budget = self._budget(signature, lowered, values)
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
        if options.parallel:
            entry.kernel.share(None if options.parallel is True else options.parallel)
        _kernels.add(entry.kernel)
        present = _presenter(lowered, signature, made.levels, self.along, self.pull)
        ones = (1.0,) * max(len(made.levels) - 1, 0)
        signature = signature.emptied()
        return Compiled(
            lowered, steps, signature, options, costs, entry, made.levels, present, ones,
            self._shared.users, budget,
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
