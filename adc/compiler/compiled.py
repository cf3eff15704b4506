"""Code for one signature: hidden arguments, checks of the arguments of a call, and the call."""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.lib.array_utils import byte_bounds

from adc.compiler import cache
from adc.compiler.reader import Read, reader
from adc.compiler.results import arranged, makers_of
from adc.compiler.signature import Signature
from adc.frontend.core.state import Change, Changes, Lowered
from adc.frontend.inputs import flatten, trees
from adc.frontend.inputs.instances import bit_generator
from adc.frontend.inputs.places import Arguments, Place, Variable, cell_of, defaults_of
from adc.frontend.transforms import changes
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.core import Value
from adc.ir.errors import ArgumentError, AssumptionError, GlobalStateError, OverlapError
from adc.ir.types import Array
from adc.library.mpi import channels
from adc.library.transforms import Level

if TYPE_CHECKING:
    from adc.compiler.driver import Budget, Compilation
    from adc.ir.analysis.costs import Costs
    from adc.options import Options
    from adc.passes.remat.plan import Plan
    from adc.passes.stages import Step

Sizes = tuple[tuple[str, "int | tuple[int, ...]"], ...]
# More signatures than this at once come from objects that are recreated at every call.
MOST_ENTRIES = 256
# Runs code along directions: tangents, or cotangents.
Along = Callable[[Sequence[Any]], Sequence[Any]]
# The words of random generators, by the places where these are found.
States = list[tuple[Place, np.ndarray[Any, Any]]]
# Directions of a Jacobian that are taken at once: the least of these that are enough, or the most.
DIRECTIONS = (4, 8, 16)


class Watch(Protocol):
    """Is told of every run of compiled code."""

    def run(
        self, compiled: Compiled, args: Sequence[Any], call: Callable[..., Sequence[Any]]
    ) -> Sequence[Any]:
        """Return what a run computes: `call` makes it."""


# What looks at the runs of the present call (`nonfinite`, `digits`).
WATCH: ContextVar[Watch | None] = ContextVar("WATCH", default=None)


def tell(lowered: Lowered, values: tuple[Any, ...], error: BaseException) -> None:
    """Tell the ranks with which code communicates that this one has raised an error."""
    for place in lowered.communicators:
        channels.failed(place.read(values), error)


def alone(lowered: Lowered, values: tuple[Any, ...], what: str) -> None:
    """Raise if code communicates with other ranks: what repeats calls may do so unlike often there.

    `what` is made of the code.
    """
    if any(channels.are_several(place.read(values)) for place in lowered.communicators):
        raise ArgumentError(
            f"{what} of code whose ranks communicate", None,
            "run it with one rank: calls are repeated, and each rank may repeat them unlike often",
        )  # fmt: skip


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
    users : set
        The derivatives that call it (`dispatch.Code`).
    wide : int
        How many directions it was to take at once.
    """

    lowered: Lowered
    steps: tuple[Step, ...]
    signature: Signature
    options: Options
    costs: Costs
    entry: cache.Entry
    levels: tuple[Level, ...]
    present: Callable[[Sequence[Any], Sequence[Any]], Any]
    ones: tuple[Any, ...]
    users: weakref.WeakSet[Any]
    wide: int = 0
    budget: Budget | None = None
    # Makes code for axes that may turn out to have size 1, which this code may not be for.
    _general: Compiled | None = None
    _usual: bool = True
    _known: dict[Sizes, dict[str, int] | None] = field(default_factory=dict)
    # Reads arguments like those of the last call (`reader`), from the second such call on.
    _read: Read | None = None
    _calls: int = 0

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
        if self.wide <= DIRECTIONS[0] or self.steps[-1:] != (("directions", DIRECTIONS[:1]),):
            return None
        name, positions = self.steps[-2]
        arrays = any(isinstance(self.lowered.fn.params[k].type, Array) for k in positions)
        return positions if name != "pullback" and arrays else None

    @property
    def plain(self) -> bool:
        """Whether a call takes the arguments as they are, reads nothing else, and changes nothing.

        Functions that the program calls are no variables here.
        """
        lowered = self.lowered
        reads = lowered.captures or lowered.generators or lowered.compared
        writes = lowered.written or lowered.changed or lowered.changes
        return (
            not (reads or writes or self.ones or self.budget or self.options.offload)
            and self.options.target == "cpu"
            and len(self.entry.kernel.emitted.params) == len(self.signature.types)
            and all(
                callable(each.value) or isinstance(each.value, CodeType) for each in lowered.guards
            )
        )

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
            if sum(np.size(leaves[k]) for k in self.few) > DIRECTIONS[0]:
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
        args = self._with_shapes(args)
        sizes = sizes_of(self.lowered, args)
        if sizes not in self._known:
            if len(self._known) >= MOST_ENTRIES:
                self._known.clear()
            # For the sizes that it was made for, more may be known than for others.
            same = sizes == self.budget.sizes and self.plan is not None
            size = self.plan.peak_bytes if same and self.plan is not None else peak.at(args)
            fits = size is not None and size <= self.budget.bytes
            self._known[sizes] = peak.tapes_at(args) if fits else None
        return self._known[sizes]

    def _with_shapes(self, args: Sequence[Any]) -> Sequence[Any]:
        """Return arguments with arrays in place of tables, of which only the shapes count."""
        tables = getattr(self.entry.kernel.emitted, "tables", ())
        if not tables:
            return args
        found = list(args)
        for k in tables:
            if type(found[k]) is np.ndarray:
                rank = self.lowered.fn.params[k].type.rank
                found[k] = np.broadcast_to(np.zeros(()), found[k][:rank])
        return found

    def _call(self, args: Sequence[Any]) -> Sequence[Any]:
        watch = WATCH.get()
        return self._called(args) if watch is None else watch.run(self, args, self._called)

    def _called(self, args: Sequence[Any]) -> Sequence[Any]:
        if self.budget is None or self.options.target == "cuda":
            return self.entry.kernel(*args)  # type: ignore[no-any-return]  # of an untyped module
        return self.entry.kernel(*args, reserved=self._needs(args))  # type: ignore[no-any-return]

    def arguments(self, values: tuple[Any, ...]) -> list[Any]:
        """Return the numbers and arrays that the code is called with."""
        return [*self.signature.leaves(values), *(self.hidden(values) or ())]

    def arranged(self, flat: Sequence[Any]) -> Any:
        """Return the result of the function, from flat results that begin with it."""
        return arranged(self.lowered)(flat)

    def run(
        self, values: tuple[Any, ...], hidden: list[Any], directions: Sequence[Any] = ()
    ) -> Any:
        """Run the code on the arguments of a call."""
        return self.present(self.flat(values, hidden, directions), values)

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
        self._check(values, args)
        if self.lowered.communicators:
            results = self._communicating(values, args, directions)
        elif self.lowered.drawn:
            results = self._drawing(values, args, directions)
        else:
            results = self._call([*args, *self.ones, *directions])
        if self.lowered.changes is not None:
            self._change(self.lowered.changes, values, results)
        return results

    def rehearse(self, values: tuple[Any, ...]) -> Sequence[Any]:
        """Return the numbers and arrays that the code computes; nothing outside is changed."""
        return self._call([*self.arguments(values), *self.ones])

    def prepare(self, values: Arguments, whole: Sequence[bool], directions: int = 0) -> None:
        """Note a call that found this code; the second one has calls like it read faster.

        `directions` is the number of arguments that are tangents or cotangents.
        """
        self._calls += 1
        if self._calls == 2 and self.few is None:
            kernel = self.entry.kernel
            self._read = reader(
                self.signature, self.lowered, kernel, self.ones, values, whole, directions
            )

    def again(self, values: tuple[Any, ...]) -> Sequence[Any] | None:
        """Return the same as `find` and `flat` for arguments like those of the last call.

        None if this code may not be for them, or not without a closer look.
        """
        given = self._given(values)
        if given is None:
            return None
        try:
            results: Sequence[Any] = self.entry.kernel.run(*given)
        except AssumptionError:
            return None
        return results

    def again_along(self, values: tuple[Any, ...]) -> Along | None:
        """Return what runs the code along directions, for arguments like those of the last call.

        None if this code may not be for them, or not without a closer look.
        """
        given = self._given(values)
        if given is None:
            return None
        args, reserved = given
        kernel = self.entry.kernel
        convert = kernel.converters[len(args) :]

        def along(directions: Sequence[Any]) -> Sequence[Any]:
            converted = [make(each) for make, each in zip(convert, directions, strict=True)]
            try:
                results: Sequence[Any] = kernel.run([*args, *converted], reserved)
            except AssumptionError:
                return self.flat(values, self.hidden(values) or [], directions)
            return results

        return along

    def _given(self, values: tuple[Any, ...]) -> tuple[list[Any], dict[str, int] | None] | None:
        """Return what the kernel takes of arguments like those of the last call, and reserves."""
        if self._read is None or not self._usual or WATCH.get() is not None:
            return None
        args = self._read(values)
        if args is None:
            return None
        reserved = None
        if self.budget is not None:
            reserved = self._needs(args)
            if reserved is None:
                return None
        if self._checks:
            self._check(values, args)
        return args, reserved

    @cached_property
    def _checks(self) -> bool:
        """Whether it matters what is the same: the function asks, or changes anything."""
        lowered = self.lowered
        changes = lowered.written or lowered.changed or lowered.changes
        return bool(self._changed_arguments or changes or lowered.compared)

    def _check(self, values: tuple[Any, ...], args: Sequence[Any]) -> None:
        """Raise if the function would change what it must not."""
        if self._changed_arguments:
            self._check_defaults(values)
        if self.lowered.written:
            self._check_written(values, args)
        if self.lowered.compared:
            self._check_compared(values, args)
        if self.lowered.changed or self.lowered.changes:
            self._check_shared(values)

    def _drawing(
        self, values: tuple[Any, ...], args: list[Any], directions: Sequence[Any]
    ) -> Sequence[Any]:
        """Run code that draws random numbers, and advance the generators as the function would."""
        lowered = self.lowered
        found = [(each, each.place.read(values)) for each in lowered.generators]
        # In one order everywhere, so that no two threads wait for each other.
        sources = sorted([bit_generator(generator) for _, generator in found], key=id)
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
                args[each.position] = flatten.words(generator)
            results: Sequence[Any] = self._call([*args, *self.ones, *directions])
            drawn = [generator for each, generator in found if each.drawn]
            own = len(lowered.fn.results)
            for generator, state in zip(drawn, results[own - len(drawn) : own], strict=True):
                flatten.advance(generator, state)
        return results

    def _change(self, outside: Changes, values: tuple[Any, ...], results: Sequence[Any]) -> None:
        """Do what the function changes outside."""
        end = len(self.lowered.fn.results) - len(self.lowered.drawn)
        own = slice(end - outside.count, end)
        made = [make(each) for make, each in zip(self._makers[own], results[own], strict=True)]
        changes.put(outside, made, values)

    @cached_property
    def _makers(self) -> list[Callable[[Any], Any]]:
        return makers_of(self.lowered)

    def _communicating(
        self, values: tuple[Any, ...], args: list[Any], directions: Sequence[Any]
    ) -> Sequence[Any]:
        """Run code that communicates; where it raises, all ranks do."""
        try:
            if self.lowered.drawn:
                return self._drawing(values, args, directions)
            return self._call([*args, *self.ones, *directions])
        except BaseException as error:
            tell(self.lowered, values, error)
            raise

    def states(self, values: tuple[Any, ...]) -> States:
        """Return the states of the generators that the code draws from."""
        return [(each.place, flatten.words(each.place.read(values))) for each in self.lowered.drawn]

    def _check_written(self, values: tuple[Any, ...], args: Sequence[Any]) -> None:
        """Raise if an array that the function writes to is read-only, or shares its memory."""
        params, written = self.lowered.fn.params, self.lowered.written
        args = self._as_passed(values, args)
        pairs = zip(args, params, strict=False)
        arrays = [
            (k, arg)
            for k, (arg, param) in enumerate(pairs)
            if isinstance(param.type, Array) or type(arg) is np.ndarray
        ]
        function, span = f"{name_of(self.signature.fn)}()", span_of(self.signature.fn)
        near = _near([a for _, a in arrays])
        for (k, a), others in zip(arrays, near, strict=True):
            if k not in written:
                continue
            name = argument_of(params[k])
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
            for j, b in [arrays[other] for other in others]:
                if _overlap(a, b):
                    other = argument_of(params[j])
                    raise OverlapError(
                        f"arguments {name!r} and {other!r} of {function} overlap in "
                        f"memory, and the function writes to {name!r}",
                        span,
                        "pass a copy of one of them",
                    )

    def _as_passed(self, values: tuple[Any, ...], args: Sequence[Any]) -> list[Any]:
        """Return the arguments, not copies of what is there, nor the numbers in 0-d arrays."""
        own = self.signature.leaves(values, boxed=True)
        return [*own, *args[len(own) :]]

    def _check_compared(self, values: tuple[Any, ...], args: Sequence[Any]) -> None:
        """Raise if two arrays may be one of which the code says that they are not."""
        args, params = self._as_passed(values, args), self.lowered.fn.params
        for pair in self.lowered.compared:
            first, second = sorted(pair)
            if _overlap(args[first], args[second]):
                name, other = argument_of(params[first]), argument_of(params[second])
                raise OverlapError(
                    f"arguments {name!r} and {other!r} of {name_of(self.signature.fn)}() overlap "
                    "in memory, and `is` asks whether they are one",
                    span_of(self.signature.fn),
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
            for one in flatten.changeable(value, ty)
        ]
        for capture in lowered.captures:
            each = flatten.changeable(capture.place.read(values), capture.tree)
            found += itertools.islice(each, int(capture.place.is_copy), None)
        found += [id(guard.place.read(values)) for guard in lowered.guards if guard.shared]
        for place in lowered.changed:
            value = place.owner(values)
            if found.count(id(value)) > 1:
                assert isinstance(place.root, int)
                raise OverlapError(
                    f"argument {self.signature.names[place.root]!r} of "
                    f"{name_of(self.signature.fn)}() contains a {type(value).__name__} that "
                    "is changed, and that other arguments or variables refer to",
                    span_of(self.signature.fn),
                    "pass a copy",
                )
        if lowered.changes is None:
            return
        for change in lowered.changes.where:
            value = change.place.owner(values)
            several = found.count(id(value)) > (change.place not in lowered.changes.opened)
            if several or (isinstance(change.step, Variable) and self._is_read(change, values)):
                place = change.place.to(change.step) if change.step else change.place
                raise OverlapError(
                    f"{name_of(self.signature.fn)}() changes `{place}`, which it reads under "
                    "another name, or in another function, as well",
                    span_of(self.signature.fn),
                    "use one name for it, or pass it",
                )

    def _is_read(self, change: Change, values: tuple[Any, ...]) -> bool:
        """Whether another function reads a variable around it that is changed."""
        assert isinstance(change.step, Variable)
        name, own = change.step.name, change.place.to(change.step)
        owner = change.place.read(values)
        if name not in owner.__code__.co_freevars:
            return False
        places = [each.place for each in self.lowered.captures]
        places += [each.place for each in self.lowered.guards]
        for place in places:
            for k, step in enumerate(place.path):
                if step != change.step or own.holds(place):
                    continue
                fn = Place(place.root, place.path[:k]).read(values)
                if name in fn.__code__.co_freevars and cell_of(fn, name) is cell_of(owner, name):
                    return True
        return False


def argument_of(param: Value) -> str:
    """Return the name of the argument of which code takes this."""
    return param.name.partition(".")[0]


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
        flatten.advance(place.read(values), state)


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


def _near(arrays: Sequence[Any]) -> list[list[int]]:
    """Return for each array the others, by position, that may share memory with it.

    Those are the ones with addresses in its range, found by one pass over the sorted ranges.
    """
    count = len(arrays)
    if not all(type(a) is np.ndarray for a in arrays):
        return [[j for j in range(count) if j != k] for k in range(count)]
    near: list[list[int]] = [[] for _ in arrays]
    # Ranges that begin before the present one, and may not have ended.
    still: list[tuple[int, int]] = []
    for start, end, k in sorted([(*_range(a), k) for k, a in enumerate(arrays)]):
        if end == start:
            continue
        still = [(last, j) for last, j in still if last > start]
        for _, j in still:
            near[j].append(k)
            near[k].append(j)
        still.append((end, k))
    return [sorted(others) for others in near]


def _range(a: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the first address of an array, and the one after its last byte."""
    if not a.size:
        return 0, 0
    if a.flags.c_contiguous:
        start = a.__array_interface__["data"][0]
        return start, start + a.nbytes
    return byte_bounds(a)


def _overlap(a: Any, b: Any) -> bool:
    first, second = foreign.memory_of(a), foreign.memory_of(b)
    if first is None or second is None:
        return a is b  # no two of JAX's arrays share memory
    try:
        # The exact answer may take time exponential in the rank.
        return np.shares_memory(first, second, max_work=100_000)  # type: ignore[arg-type]  # stub
    except np.exceptions.TooHardError:
        return True


def differ(old: Compiled, new: Compiled) -> bool:
    """Whether two pieces of code are plans for very different sizes."""
    if old.budget is None or new.budget is None:
        return False
    return _bucket(old.budget.sizes) != _bucket(new.budget.sizes)
