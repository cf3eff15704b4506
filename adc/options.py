"""The options of derivatives, defined once for all functions that take them.

A function that takes these by keyword says so in two places, and shows the whole signature::

    @takes(PlanOptions)
    def grad(fn, argnums=None, **options: Unpack[PlanOptions]):
        chosen = Options.of("grad", PlanOptions, options)
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict, TypeVar

from adc.compiler import memory
from adc.ir.analysis.target import Target
from adc.ir.errors import ArgumentError

POLICIES = ("auto", "store", "recompute")
TARGETS = ("cpu", "cuda", "python")

_F = TypeVar("_F", bound=Callable[..., Any])


class RunOptions(TypedDict, total=False):
    """Options of running compiled code; `adc.grad` documents each of them."""

    parallel: bool | int
    cache: bool
    progress: bool
    target: str
    deterministic: bool


class PlanOptions(RunOptions, total=False):
    """Options of plans and of running compiled code; `adc.grad` documents each of them."""

    remat: str
    memory: int | str | None
    offload: str | None


@dataclass(frozen=True)
class Options:
    """The chosen options; the same for every signature of a derivative."""

    remat: str = "auto"
    memory: int | None = None
    offload: str | None = None
    parallel: bool | int = False
    cache: bool = True
    progress: bool = True
    target: str = "cpu"
    deterministic: bool = False

    def __post_init__(self) -> None:
        on_device = self.target == "cuda"
        if on_device and self.parallel:
            raise ArgumentError(
                'parallel is not supported with target="cuda"', None, "leave one of them out"
            )
        where = "host" if on_device else "disk"
        if self.offload not in (None, where):
            raise ArgumentError(
                f'offload={self.offload!r} is not supported with target="{self.target}"',
                None,
                f'use "{where}", or leave it out',
            )

    @staticmethod
    def of(function: str, kind: type, given: Mapping[str, Any]) -> Options:
        """Return the options of a call of a function.

        Raises
        ------
        TypeError
            If the function takes no such keyword, with Python's message.
        ArgumentError
            If an option is invalid, or two of them exclude each other.
        """
        if not given:
            return _DEFAULT
        for name in given:
            if name not in kind.__annotations__:
                near = difflib.get_close_matches(name, kind.__annotations__, 1)
                hint = f". Did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
        return Options(**_checked(given))

    @property
    def machine(self) -> Target:
        """The target that code is compiled for."""
        return Target(
            "cuda" if self.target == "cuda" else "cpu",
            parallel=bool(self.parallel),
            offload=self.offload is not None,
            # Code for the CPU is so anyway.
            deterministic=self.target == "cuda" and self.deterministic,
            python=self.target == "python",
        )

    def over(self, inner: Options) -> Options:
        """Return these options for an outer derivative; those of the inner one are defaults."""
        plan = self if self.memory is not None or self.remat != "auto" else inner
        return Options(
            remat=plan.remat,
            memory=plan.memory,
            offload=self.offload or inner.offload,
            parallel=self.parallel or inner.parallel,
            cache=self.cache and inner.cache,
            progress=self.progress and inner.progress,
            target=inner.target if self.target == "cpu" else self.target,
            deterministic=self.deterministic or inner.deterministic,
        )


_DEFAULT = Options()


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options in normal form; raise if one is invalid."""
    found = dict(given)
    remat = found.get("remat", "auto")
    # These two are for tests: any plan must give the same numbers.
    for_tests = r"random:.*|revolve:\d+:\d+(:all)?"
    if remat not in POLICIES and not (isinstance(remat, str) and re.fullmatch(for_tests, remat)):
        raise ArgumentError(
            f"remat={remat!r} is not a policy", None, f"use one of {', '.join(POLICIES)}"
        )
    offload = found.get("offload")
    if offload not in (None, "disk", "host"):
        raise ArgumentError(
            f"offload={offload!r} is not supported", None,
            'use "disk", or "host" with target="cuda", or leave it out to keep the tape in memory',
        )  # fmt: skip
    found["memory"] = memory.parse(found.get("memory"))
    if found["memory"] is not None and remat != "auto":
        raise ArgumentError(
            f"remat={remat!r} fixes the plan, so memory has nothing to choose",
            None,
            "leave one of them out",
        )
    parallel = found.get("parallel", False)
    if not (isinstance(parallel, bool) or (isinstance(parallel, int) and parallel >= 1)):
        raise ArgumentError(
            f"parallel={parallel!r} is not a number of threads", None,
            "use True for all cores, or a positive integer",
        )  # fmt: skip
    target = found.get("target", "cpu")
    if target not in TARGETS:
        names = ", ".join(f'"{each}"' for each in TARGETS[:-1])
        raise ArgumentError(
            f"target={target!r} is not a target",
            None,
            f'use {names} or "{TARGETS[-1]}"',
        )
    return found


def takes(kind: type) -> Callable[[_F], _F]:
    """Show the options of a kind in the signature of a function that takes them by keyword."""
    shown = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=kind.__annotations__[field.name].__forward_arg__,
        )
        for field in fields(Options)
        if field.name in kind.__annotations__
    ]

    def show(fn: _F) -> _F:
        signature = inspect.signature(fn)
        *own, _ = signature.parameters.values()
        vars(fn)["__signature__"] = signature.replace(parameters=[*own, *shown])
        return fn

    return show


__all__ = ["POLICIES", "TARGETS", "Options", "PlanOptions", "RunOptions", "takes"]
