"""The description of a derivative: which transformation, with respect to which arguments.

It is shared by `adc.api` and the front end, which also finds derivatives inside code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__adc_transform__"
# From here on, `Level.argnums` counts the parameters that are given by name alone.
KEYWORDS = 1 << 30


@dataclass(frozen=True)
class Level:
    """One application of `grad` or another transformation; `kind` is the name of what was applied.

    What is `holomorphic` has a complex result, whose real part is differentiated.

    Where the arguments were chosen by `names`, a function with other parameters has them elsewhere.
    The result of the function comes before its Jacobian if `value` says so.
    """

    kind: str
    argnums: int | tuple[int, ...] = ()
    has_aux: bool = False
    holomorphic: bool = False
    names: str | tuple[str, ...] | None = None
    value: bool = False

    @property
    def with_value(self) -> bool:
        return self.value or self.kind == "value_and_grad"

    @property
    def chosen(self) -> tuple[int, ...]:
        """The arguments that are differentiated."""
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums


def transform(fn: F) -> F:
    """Mark a function that makes derivatives, or takes them: the front end knows it by its name."""
    setattr(fn, _MARK, fn.__name__)
    return fn


def transform_name(value: Any) -> str | None:
    """Return the name of a function that is marked so, else None."""
    found = getattr(value, _MARK, None)
    return found if isinstance(found, str) else None


def has_rule(fn: Any) -> bool:
    """Whether a function, or the one behind a method, has a derivative of its own."""
    cls = type(getattr(fn, "__func__", fn))
    return hasattr(cls, "__adc_rule__") or hasattr(cls, "__adc_external__")


def is_checkpointed(fn: Any) -> bool:
    """Whether `adc.checkpoint` made a function, or the function of a method."""
    applied = getattr(getattr(fn, "__func__", fn), "__adc_applied__", ())
    return any(level.kind == "checkpoint" for level in applied)


__all__ = ["KEYWORDS", "Level", "has_rule", "is_checkpointed", "transform", "transform_name"]
