"""The code for the arguments of a call: found among what was compiled, or compiled."""

from __future__ import annotations

import gc
import math
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from adc.compiler import cache
from adc.compiler.compiled import MOST_ENTRIES, Along, Compiled, differ, tell
from adc.compiler.family import Definition, Family, Way, kept_family, new_family
from adc.compiler.memory import over_budget
from adc.compiler.prepare import Preparation, Prepared, leaves_of
from adc.compiler.progress import progress
from adc.compiler.results import presenter
from adc.compiler.signature import key_of
from adc.frontend.core.state import Lowered
from adc.frontend.inputs.places import Arguments
from adc.functions import function_of, name_of, settled, span_of
from adc.ir.errors import AdcError, MemoryBudgetError, UnsupportedError
from adc.library.transforms import KEYWORDS, Level, has_rule, is_checkpointed
from adc.passes.ad.opaque import commute

if TYPE_CHECKING:
    from adc.compiler.driver import Budget, Plans
    from adc.ir.analysis.costs import Costs
    from adc.options import Options

# Bytes of workspace and tapes that code holds for a derivative that may be recreated.
_MOST_HELD = 2**20
# The most code for arguments with one key: for objects with attributes of other kinds.
_MOST_VARIANTS = 8
# Times that code is made for one call: while it is, another thread may change what it reads.
_MOST_ATTEMPTS = 3


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


class Code:
    """The code of one derivative of a function, compiled for every signature that occurs.

    Derivatives of functions that differ in what their closures hold share it.

    Attributes
    ----------
    fn : function
        The function that is differentiated.
    way : Way
        What is done with it.
    entire : bool
        Whether all attributes of objects count as arguments: where another code pulls back to them.
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
        self.way = Way(levels, options, along, pull, nested, wide, pattern)
        self.options = options
        self.entire = entire
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
        way = self.way
        levels = settled(self._callable, way.levels)
        if levels is not way.levels:
            self.way = way = way._replace(levels=levels)
        self._moved = {*(way.along or ()), *(way.pull or ())}
        for level in levels:
            chosen = level.argnums
            self._moved |= {chosen} if isinstance(chosen, int) else set(chosen)
        more = None if self._lowered_fn is fn else self._lowered_fn
        definition = Definition(fn, more, bool(self._bound))
        # What such a function holds would be kept with the code.
        make = new_family if more is not None and fn.__closure__ else kept_family
        self._family = family = make(definition, way)
        family.users.add(self)
        self._parameters, self.entries = family.parameters, family.entries
        self._match = family.parameters.matching(fn)
        self._whole: tuple[bool, ...] | None = None

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        """Release large memory of calls when no derivative uses it any more."""
        family: Family | None = vars(self).get("_family")
        if family is None or ends():  # then nothing of this module can be relied on
            return
        family.users.discard(self)
        if not family.users:
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
        key = key_of(values, whole, self._family.stacks)
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
                    made = self._compile(values)
                    key = key_of(values, whole, self._family.stacks)
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

    @property
    def _preparation(self) -> Preparation:
        lowered = self._lowered_fn
        return Preparation(self.fn, lowered, self.way, self.lasting, self._skip, self._family)

    def prepared(
        self, values: tuple[Any, ...], general: bool = False, shares: bool = True
    ) -> Prepared:
        """Return the input of the compiler for these arguments.

        Code that is `general` is for axes that may or may not have size 1; functions that are
        called several times are one function in the program where it `shares` them.
        """
        return self._preparation.prepared(values, self.whole(values), general, shares)

    def leaves(self, values: tuple[Any, ...], lowered: Lowered) -> list[Any]:
        """Return the numbers that code takes, and arrays of which only the shapes count."""
        signature = self._preparation.signature(values, self.whole(values))
        return leaves_of(signature, lowered, values)

    def budget(self, made: Prepared, values: tuple[Any, ...]) -> Budget | None:
        """Return how much memory a call with these arguments may hold."""
        if self.options.memory is None:
            return None
        from adc.compiler.driver import Budget

        return Budget(self.options.memory, made.sizes(values))

    def compiled(self) -> list[Compiled]:
        """Return the code of all signatures."""
        return [compiled for entry in list(self.entries.values()) for compiled in reversed(entry)]

    def generalised(self, values: tuple[Any, ...]) -> Compiled:
        """Return code for axes that may or may not have size 1."""
        with cache.LOCK, _no_collections(), progress(name_of(self.fn), self.options.progress):
            return self._compile(values, general=True)

    def _compile(
        self, values: tuple[Any, ...], general: bool = False, shares: bool = True
    ) -> Compiled:
        made = self.prepared(values, general, shares)
        signature, steps, lowered = made.signature, made.steps, made.lowered
        options, costs, way = self.options, self.costs, self.way
        budget = self.budget(made, values)
        try:
            with over_budget(self.fn) if budget else nullcontext():
                entry = cache.load_or_build(
                    lowered,
                    steps,
                    options.remat,
                    costs,
                    options.machine,
                    options.cache,
                    budget,
                    self.planned,
                )
        except MemoryBudgetError as error:
            if self._family.stacks:
                self._family.unstack()
            elif (
                shares
                and lowered.fn.callees
                and self.prepared(values, general, shares=False).lowered.fn != lowered.fn
            ):
                # Plans do not look into functions that calls share: inlined, they may need less.
                # Other functions stay: those of rules, and recursive ones.
                shares = False
            else:
                tell(lowered, values, error)
                raise
            try:
                return self._compile(values, general, shares)
            except MemoryBudgetError as other:
                raise min(error, other, key=lambda each: each.least or math.inf) from None
        if options.parallel:
            entry.kernel.share(None if options.parallel is True else options.parallel)
        _kernels.add(entry.kernel)
        present = presenter(lowered, signature, made.levels, way.along, way.pull)
        ones = (1.0,) * max(len(made.levels) - 1, 0)
        signature = signature.emptied()
        return Compiled(
            lowered, steps, signature, options, costs, entry, made.levels, present, ones,
            self._family.users, way.wide, budget,
        )  # fmt: skip


_kernels: weakref.WeakSet[Any] = weakref.WeakSet()


def release_memory() -> None:
    """Implement `adc.release_memory`."""
    from adc.backend.runtime.memory import POOL

    kept_family.cache_clear()
    with cache.LOCK:
        kernels = list(_kernels)
    for kernel in kernels:
        kernel.release_memory()
    POOL.clear()
    on_device = sys.modules.get("adc.backend.cuda.memory")
    if on_device is not None:
        on_device.POOL.clear()
        on_device.PINNED.clear()


__all__ = ["Code", "release_memory"]
