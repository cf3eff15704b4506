"""The derivatives that `adc.api` returns: a call compiles code for the types of the arguments."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from adc.functions import function_of, settled, span_of
from adc.ir.errors import ArgumentError
from adc.library import batches
from adc.library.transforms import Level
from adc.options import Options
from adc.tracebacks import shorten, shortened

if TYPE_CHECKING:
    from adc.api.sweeps import Swept
    from adc.compiler.compiled import Compiled
    from adc.compiler.dispatch import Code
    from adc.inspect.graph import Graph
    from adc.inspect.plan import PlanReport
    from adc.inspect.profile import Profile
    from adc.view import View


# More directions than are ever taken at once.
MANY = sys.maxsize


class Lazy:
    """An attribute that is computed when it is first asked for, by a method that stores it.

    `functools.cached_property` takes a lock in Python 3.11, which all derivatives share. A child
    that is forked meanwhile would wait for it forever.
    """

    def __init__(self, make: Callable[[Any], Code]) -> None:
        self.make = make

    @overload
    def __get__(self, instance: None, owner: type) -> Lazy: ...
    @overload
    def __get__(self, instance: Derivative, owner: type) -> Code: ...
    def __get__(self, instance: Derivative | None, owner: type) -> Lazy | Code:
        return self if instance is None else self.make(instance)


class Derivative:
    """A derivative of a function. Made by `grad` and the other transformations.

    Attributes
    ----------
    __wrapped__ : callable
        The function that is differentiated.
    """

    __wrapped__: Callable[..., Any]
    __name__: str
    __qualname__: str

    _is_sparse = False

    def __init__(self, fn: Callable[..., Any], levels: tuple[Level, ...], options: Options):
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._levels = levels
        self._options = options
        self._lasting = self._runs_once()
        function_of(fn)  # errors where they are made

    def _runs_once(self) -> bool:
        """Whether a call runs the function once, so that it does what that changes outside."""
        kinds = [level.kind for level in self._levels]
        return kinds in ([], ["grad"], ["value_and_grad"])

    @Lazy
    def _code(self) -> Code:
        """The code for all signatures. The compiler is imported at the first use."""
        return self._made("_code", lasting=self._lasting)

    def _made(self, name: str, **way: Any) -> Code:
        from adc.compiler.dispatch import Code

        code = Code(self.__wrapped__, self._transformed, self._options, **way)
        # The same for two threads that ask at once.
        return vars(self).setdefault(name, code)  # type: ignore[no-any-return]  # of a dict of Any

    @property
    def _transformed(self) -> tuple[Level, ...]:
        """The levels that were applied to the compiled function."""
        return self._levels

    def _at_once(self) -> Derivative:
        """Return an equivalent derivative whose code computes all directions in one run."""
        return self

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the derivative at the given arguments (and the value, if asked for)."""
        try:
            code = self._code
            return code.call(code.match(args, kwargs))
        except BaseException as error:
            shorten(error)
            raise

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Differentiate a method: `self` is the first argument."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._is_named():
            return self.__qualname__
        return (type(self), (self.__wrapped__, self._levels, self._options))

    def _is_named(self) -> bool:
        """Whether a decorator made it: the name of the function leads here."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return found is self

    @property
    def __adc_applied__(self) -> tuple[Level, ...]:
        """The levels applied to the function, first to last, for code that calls it."""
        return settled(self.__wrapped__, self._applied)

    @property
    def _applied(self) -> tuple[Level, ...]:
        """The levels applied to the function, with the positions of arguments at creation."""
        return self._levels

    def _made_of(self, fn: Callable[..., Any], options: Options) -> Derivative:
        """Return the same derivative of another function, or with other options."""
        return type(self)(fn, self._levels, options)

    # -- inspection ------------------------------------------------------------------------

    @shortened
    def compiled_for(self, *args: Any, **kwargs: Any) -> Compiled:
        """Return the code for the given (or the last) arguments."""
        if args or kwargs:
            return self._code.find(self._code.match(args, kwargs))[0]
        if self._code.last is None:
            raise ArgumentError(
                "nothing has been compiled yet", None, "pass sample arguments, or call it first"
            )
        return self._code.last

    def ir(self, *args: Any, after: str = "storage", **kwargs: Any) -> str:
        """Return the IR after a pass, for the given (or the last) arguments.

        Parameters
        ----------
        after : str
            ``"frontend"``, or the name of a pass, which ``adc passes`` explains: ``"simplify"``,
            ``"cse"``, ``"induction"``, ``"bounds"``, ``"hoist"``, ``"privatize"``,
            ``"hoist_checks"``, ``"dce"``, ``"fuse"``, ``"contract"``, ``"adjoint"`` (``"pullback"``
            in `vjp`), ``"tangent"``, ``"accumulate"``, ``"reduce"``, ``"overwrite"``, ``"gather"``,
            ``"fuse_reverse"``, ``"predicates"``, ``"directions"`` (of Jacobians), ``"remat"``,
            ``"inline"``, ``"storage"``, ``"elide_copies"``, ``"hoist_allocations"``, ``"reuse"``.
            If a pass runs more than once, the last run counts.
        """
        trace = self.compiled_for(*args, **kwargs).compilation.trace
        try:
            return str(trace.after(after))
        except KeyError:
            stages = ", ".join(dict.fromkeys(name for name, _ in trace.stages))
            raise ArgumentError(f"no stage named {after!r}", None, f"use one of {stages}") from None

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the generated Python source."""
        return self.compiled_for(*args, **kwargs).source

    @property
    def __code__(self) -> types.CodeType:
        """The code of the last call with ``target="python"``, for ``break`` of ``pdb``."""
        last = self._code.last if self._options.target == "python" else None
        if last is None:
            raise AttributeError("no code that runs in Python")
        return last.entry.kernel.code.__code__  # type: ignore[no-any-return]  # of a kernel of Any

    def plan(self, *args: Any, alternatives: bool | None = None, **kwargs: Any) -> PlanReport:
        """Return the plan: for each value, whether reverse code stores or recomputes it, and why.

        It also has the memory of a call, by purpose, and the predicted time for the given
        arguments; without arguments, the memory of the last call.

        Parameters
        ----------
        alternatives : bool, optional
            Whether to include the plans for half and twice the budget; by default if there is a
            budget and arguments are given.

        Examples
        --------
        >>> import numpy as np
        >>> import adc
        >>> def decay(x, n):
        ...     for _ in range(n):
        ...         x = x - 0.1 * np.sin(x)
        ...     return np.sum(x)
        >>> gradient = adc.grad(decay, memory="10 kB")
        >>> plan = gradient.plan(np.ones(100), 50)
        >>> plan.peak_bytes <= 10_000
        True
        >>> [loop.iterations for loop in plan.loops], len(plan.alternatives)
        ([50], 2)
        """
        from adc.compiler.planning import described
        from adc.inspect.plan import PlanReport

        compiled = self.compiled_for(*args, **kwargs)
        plan = compiled.plan
        if plan is None or plan.peak is None:
            raise ArgumentError(
                f"{self!r} has no reverse code", None, "only reverse code has a plan"
            )
        if not (args or kwargs):
            kernel = compiled.entry.kernel
            return PlanReport.of(plan.measured(kernel.peak, kernel.disk))
        values = self._code.match(args, kwargs)
        return PlanReport.of(described(self._code, values, compiled.compilation, alternatives))

    def profile(self, *args: Any, seconds: float = 2.0, **kwargs: Any) -> Profile:
        """Return the time and the bytes of every line of the source, forward and reverse apart.

        The code is compiled once more, with stores that say which line runs, and is called
        repeatedly for these arguments, which are not changed; random generators are not advanced. A
        thread looks at random moments which line runs. The code without these stores runs in turn,
        so that the overhead is known.

        The lines of a loop that runs in vectors share its time as they share its operations. What
        runs in a function that is called counts for the line there; the line that calls it has the
        sum, too. Functions outside (`adc.external`) are called every time; what the program prints
        is printed once.

        Parameters
        ----------
        seconds : float
            About how long to measure. One call takes place in any case.

        Raises
        ------
        ArgumentError
            If the code is not for the CPU, or of a Jacobian, which runs it for many directions.

        Examples
        --------
        >>> import numpy as np
        >>> import adc
        >>> def loss(x):
        ...     y = np.exp(np.sin(x))
        ...     return np.sum(y * y)
        >>> profile = adc.grad(loss).profile(np.ones(10_000), seconds=0.2)
        >>> [line.line for line in profile.lines]
        [2, 3]
        >>> profile.lines[0].time.total > profile.lines[1].time.total
        True
        """
        from adc.compiler.watch.profile import profile

        return profile(self._code, self._code.match(args, kwargs), seconds)

    def graph(self, *args: Any, depth: int | None = None, **kwargs: Any) -> Graph:
        """Return a picture of forward and reverse code, and of the plan that connects them.

        What is too large for a page is folded: a line, a loop, a branch or a call is then one node,
        with the number of its statements and what is kept of it. Notebooks display the picture;
        `save` writes it to a file. It needs the extra `graph`.

        Parameters
        ----------
        depth : int, optional
            Fold what lies in more functions, loops, branches and lines than this, and nothing else.
        """
        from adc.inspect.graph import graph_of

        compilation = self.compiled_for(*args, **kwargs).compilation
        return graph_of(compilation.trace, compilation.plan, depth=depth)

    @shortened
    def view(
        self,
        *args: Any,
        values: bool = False,
        measure: bool = True,
        iterations: Collection[int] = (),
        **kwargs: Any,
    ) -> View:
        """Return a page that shows a call step by step, with its memory, in notebooks or a file.

        The page needs no server and no network: it has the source with what each line keeps and
        computes again, the steps of the forward and the reverse pass, the memory over time, the
        plan, the graph, the schedules of checkpointed loops, and the memory as a formula of sizes.
        What is shown was run in the interpreter of the IR, at about a million statements a second.

        Parameters
        ----------
        *args, **kwargs
            The arguments of a call, which are not changed.
        values : bool
            Whether numbers of arguments may be shown. By default there are only small pictures of
            them: at most 16 by 16 cells of 16 shades, and a histogram.
        measure : bool
            Whether the function is compiled and called, for its time and memory.
        iterations : collection of int
            Iterations of loops to show, besides the first and the last ones.

        Returns
        -------
        View
            Notebooks display it; `save` writes it to a file.

        Raises
        ------
        ArgumentError
            For Jacobians and code for a GPU.

        Examples
        --------
        >>> import numpy as np
        >>> import adc
        >>> def decay(x, n):
        ...     for _ in range(n):
        ...         x = x - 0.1 * np.sin(x)
        ...     return np.sum(x)
        >>> page = adc.grad(decay).view(np.ones(100), 50, measure=False)
        >>> page.facts["memory"]["run"] == adc.grad(decay).plan(np.ones(100), 50).peak_bytes
        True
        >>> page.save("decay.html")  # doctest: +SKIP
        """
        from adc.view import view

        code, title = self._code, repr(self)[len("<adc ") : -1]
        given = code.match(args, kwargs)
        return view(code, title, given, show=values, measure=measure, iterations=iterations)

    def signatures(self) -> list[str]:
        """Return the argument types that have been compiled."""
        return [str(entry.signature) for entry in self._code.compiled()]

    def cache_info(self) -> dict[str, int]:
        """Return how many calls found compiled code, and how often code was compiled or loaded."""
        entries = self._code.compiled()
        return {
            "hits": self._code.hits,
            "compiled": sum(not entry.from_disk for entry in entries),
            "loaded": sum(entry.from_disk for entry in entries),
        }

    def _repr_html_(self) -> str:
        from adc.inspect.notebook import derivative_html

        last = self._code.last
        return derivative_html(repr(self), self.signatures(), last.plan if last else None)

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        levels = self._applied
        words = "".join(f"{level.kind}(" for level in reversed(levels))  # the last is the outermost
        return f"<adc {words}{name}{')' * len(levels)}>"


def pure(made: Derivative) -> Derivative:
    """Return a derivative of a function that may not change what lies outside of it."""
    made._lasting = False
    return made


class Jitted(Derivative):
    """A compiled version of a function. Made by `jit`."""

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function that compiled code calls instead (a name that Numba uses)."""
        return self.__wrapped__

    def __repr__(self) -> str:
        return f"<adc jit({super().__repr__()[5:-1]})>"


class Batched(Jitted):
    """A function of batches. Made by `vmap`."""

    def __init__(self, fn: Callable[..., Any], axes: tuple[Any, Any], options: Options) -> None:
        batched = batches.over(fn, *axes)
        inner = fn.__wrapped__ if isinstance(fn, Derivative) else fn
        inner = getattr(inner, "__func__", inner)
        if isinstance(inner, types.FunctionType):
            vars(batched)["__adc_for__"] = getattr(inner, "__adc_for__", inner)
        batched.__qualname__ = f"vmap({getattr(fn, '__qualname__', fn)})"
        super().__init__(batched, (), options)
        functools.update_wrapper(self, fn, updated=())
        self.__wrapped__ = batched
        self._of, self._axes = fn, axes

    def _runs_once(self) -> bool:
        return False

    def _made_of(self, fn: Callable[..., Any], options: Options) -> Derivative:
        return Jitted(fn, (), options)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._is_named():
            return self.__qualname__
        return (type(self), (self._of, self._axes, self._options))

    def __repr__(self) -> str:
        inner = repr(self._of)
        name = inner[5:-1] if isinstance(self._of, Derivative) else self.__qualname__
        return f"<adc vmap({name})>"


class Checkpoint:
    """A function whose calls reverse code recomputes from their arguments. Made by `checkpoint`."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self.py_func = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.py_func(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function bound to an object."""
        return self if instance is None else types.MethodType(self, instance)

    @property
    def __adc_applied__(self) -> tuple[Level, ...]:
        """The levels applied to the function, for differentiated code that calls it."""
        return (Level("checkpoint"),)

    def __repr__(self) -> str:
        return f"<adc checkpoint({getattr(self.py_func, '__qualname__', self.py_func)})>"


def differentiated(level: Level) -> tuple[Level, ...]:
    """Return the levels that are applied to a function; a Hessian has two."""
    return (replace(level, kind="jacrev"),) if level.kind == "hessian" else ()


def applied(
    fn: Callable[..., Any], levels: tuple[Level, ...], options: Options
) -> Callable[..., Any]:
    """Return the derivative that levels make of a function, applied first to last."""
    if not levels:
        return fn
    *before, last = levels
    if last.kind in ("grad", "value_and_grad"):
        return Derivative(fn, levels, options)
    return Jacobian(fn, tuple(before), options, last)


class Jacobian(Derivative):
    """A function that returns a Jacobian. Made by `jacrev`, `jacfwd` and `hessian`."""

    def __init__(
        self,
        fn: Callable[..., Any],
        levels: tuple[Level, ...],
        options: Options,
        level: Level,
    ) -> None:
        super().__init__(fn, levels, options)
        self._level = level
        last = levels[-1] if levels else None
        # That of a gradient is forward over reverse.
        self._reverse = level.kind == "jacrev" and (
            last is None or last.kind != "grad" or last.has_aux
        )
        # Whether columns and rows are of whatever the derivative before returns.
        more = level.has_aux or level.value
        self._nested = last is not None and (self._reverse or more or last.with_value)

    @Lazy
    def _code(self) -> Code:
        way = {"pull" if self._reverse else "along": self._level.chosen}
        return self._made("_code", wide=MANY, **way)

    def _made(self, name: str, **way: Any) -> Code:
        return super()._made(name, nested=self._nested, **way)

    @property
    def _transformed(self) -> tuple[Level, ...]:
        return (*self._levels, *differentiated(self._level))

    def _with_value(self, swept: Swept, found: Any) -> Any:
        """Return what is found, with the function's value if that is asked for."""
        if not self._level.value:
            return found
        if not self._level.has_aux:
            return swept.value, found
        return swept.value, found[0]

    def profile(self, *args: Any, seconds: float = 2.0, **kwargs: Any) -> Profile:
        """Refuse: code runs along some directions at a time, and how often depends on sizes."""
        raise ArgumentError(
            f"{self!r} runs its code for one group of directions after the other, and a profile is "
            "of one run",
            span_of(function_of(self.__wrapped__)),
            "profile `adc.jit` of the function, or `adc.grad` of a number made of its results",
        )

    def _settle(self) -> None:
        """Look up the arguments that were selected by name again."""
        (level,) = settled(self.__wrapped__, (self._level,))
        if level != self._level:
            self._level = level
            vars(self).pop("_code", None)

    @Lazy
    def _primal(self) -> Code:
        return self._made("_primal")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian at the given arguments."""
        from adc.api import sweeps

        try:
            self._settle()
            values = self._code.match(args, kwargs)
            if self._reverse:
                swept, found = sweeps.reverse(self._primal, self._code, self._level, values)
            else:
                swept, found = sweeps.forward(self._code, self._level, values)
            return self._with_value(swept, found)
        except BaseException as error:
            shorten(error)
            raise

    @property
    def _applied(self) -> tuple[Level, ...]:
        return (*self._levels, self._level)

    def _at_once(self) -> Derivative:
        return Derivative(self.__wrapped__, self._applied, replace(self._options, memory=None))

    def _made_of(self, fn: Callable[..., Any], options: Options) -> Jacobian:
        return Jacobian(fn, self._levels, options, self._level)

    def __reduce__(self) -> str | tuple[Any, ...]:
        found = super().__reduce__()
        if isinstance(found, str):
            return found
        return (Jacobian, (self.__wrapped__, self._levels, self._options, self._level))


__all__ = ["MANY", "Checkpoint", "Derivative", "Jacobian", "Jitted", "Lazy"]
