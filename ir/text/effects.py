"""What the effects of a program do: the statements `adc.ir.core.Print`, one after the other.

`Print.to` is empty for a line on standard output, or one of these, as JSON:

``["stream", name, end]``
    Text for `sys.stdout` or `sys.stderr`.
``["log", name, level, pattern, arguments]``
    A message of the logger of that name, or of the module `logging` where it is null. The pattern
    is null if the template is the message. Each argument is a constant ``[value]``, or a template.
``["enabled", name, level]``
    The result is whether that logger would log a message.
``["warn", category, level]``
    A warning of the class of that name, such as ``"builtins.UserWarning"``.
``["clock", name]``
    The result is what that function of `time` returns.
``["sleep"]``
    A pause of as many seconds as there are in its operand.
``["raise", error]``
    An exception with arrays in its message: `error` and the message are those of a check
    (`adc.ir.text.raising`).
"""

from __future__ import annotations

import importlib
import json
import logging
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adc.ir.core import ELEMENT, SHAPE, Function, Print, walk
from adc.ir.errors import Span
from adc.ir.text import raising
from adc.ir.types import parse_type

# Does something on behalf of a line of the user's program.
Frame = Callable[[Callable[[], None]], None]


class Text(str):
    """The text of an object that only its text is known of."""

    def __repr__(self) -> str:
        return str(self)


class Effects:
    """Puts arrays together, and passes each message on with those before it.

    Parameters
    ----------
    perform : callable
        Takes what `Print.to` says, the template, its operands, the arrays and the place.
    """

    def __init__(
        self, perform: Callable[[str, str, Sequence[Any], list[Any], Span | None], Any]
    ) -> None:
        self._perform = perform
        self._arrays: list[tuple[str, tuple[int, ...], list[Any]]] = []

    def tell(self, to: str, message: str, values: Sequence[Any], loc: Span | None) -> Any:
        """Take the next statement, and return its result."""
        if to == SHAPE:
            self._arrays.append((message, tuple(int(size) for size in values), []))
        elif to == ELEMENT:
            self._arrays[-1][2].extend(values)
        else:
            arrays: list[Any] = []
            for kind, sizes, flat in self._arrays:
                form, _, name = kind.rpartition(" ")
                arrays.append(spoken(form, _made(name, sizes, flat), arrays))
            self._arrays.clear()
            return self._perform(to, message, values, arrays, loc)
        return None

    def missing(self, size: int) -> int:
        """Return how many elements the last array lacks, of so many numbers each."""
        _, sizes, flat = self._arrays[-1]
        return math.prod(sizes) - len(flat) // size


def _made(name: str, sizes: tuple[int, ...], flat: list[Any]) -> Any:
    """Return an array of a type."""
    dtype = parse_type(name).numpy
    if dtype.kind == "c" and len(flat) == 2 * math.prod(sizes):
        parts = np.array(flat, np.float64 if dtype.itemsize == 16 else np.float32)
        found = parts.view(dtype)
    else:
        found = np.array(flat, dtype)
    return found.reshape(sizes)


def spoken(form: str, found: Any, before: Sequence[Any] = ()) -> Any:
    """Return what a template shows of an array: as one, as numbers, or as what they stand for.

    Parameters
    ----------
    form : str
        One of those of `adc.frontend.core.bindings.Words`.
    found : array
        The array.
    before : sequence of array
        Those passed before, of which ``rows`` and ``cases`` take the last ones.
    """
    match form:
        case "array" | "column":
            return found
        case "list":
            return list(found)
        case "python":  # a number or a list of Python's numbers
            return found.tolist()
        case "number":
            return found[()]
    kind, said = form.split(" ", 1)
    if kind == "rows":
        count, said = said.split(" ", 1)
        columns = [*before[len(before) - int(count) + 1 :], found]
        between, template, forms = json.loads(said)
        return between.join(told(template, forms, row) for row in zip(*columns, strict=True))
    if kind == "cases":
        count, said = said.split(" ", 1)
        values = list(before[len(before) - int(count) :])
        for k, (template, forms) in enumerate(json.loads(said)):
            if k == int(found):
                return told(template, forms, values[: len(forms)])
            del values[: len(forms)]
    known = json.loads(said)
    return [known[k] for k in found] if np.ndim(found) else known[int(found)]


def told(template: str, forms: Iterable[str], values: Iterable[Any]) -> str:
    """Return the text that a template makes of values, which have these forms."""
    shown, columns = list[Any](), list[Any]()
    for form, value in zip(forms, values, strict=True):
        if form == "column":
            columns.append(value)
        else:
            shown.append(spoken(form, np.asarray(value), columns) if form else value)
    return template.format(*shown)


def text_of(message: str, values: Sequence[Any], arrays: Sequence[Any]) -> str:
    """Return the text that a template stands for."""
    return message.format(*values, a=arrays)


def carry_out(to: str, message: str, values: Sequence[Any], arrays: list[Any], frame: Frame) -> Any:
    """Do what a statement says, unless it `raises`, and return its result.

    `frame` does something at the line of the user's program.
    """
    if not to:
        print(text_of(message, values, arrays))
        return None
    kind, *details = json.loads(to)
    if kind == "stream":
        name, end = details
        print(text_of(message, values, arrays), end=end, file=getattr(sys, name))
    elif kind == "clock":
        return getattr(time, details[0])()
    elif kind == "sleep":
        time.sleep(values[0] if values else arrays[0])
    elif kind == "log":
        name, level, pattern, templates = details
        given = iter(values)
        args = [_argument(each, given, arrays) for each in templates]
        if pattern is None:
            pattern = text_of(message, values, arrays)
        log = logging.log if name is None else logging.getLogger(name).log
        frame(lambda: log(level, pattern, *args, stacklevel=2))
    elif kind == "enabled":
        name, level = details
        return int(logging.getLogger(name).isEnabledFor(level))
    elif kind == "warn":
        name, level = details
        module, _, cls = name.rpartition(".")
        category = getattr(importlib.import_module(module), cls)
        text = text_of(message, values, arrays)
        frame(lambda: warnings.warn(text, category, stacklevel=1 + _level(level)))
    else:
        raise AssertionError(kind)
    return None


def is_seen(to: str) -> bool:
    """Whether a statement prints, logs or warns.

    Examples
    --------
    >>> is_seen(""), is_seen('["clock", "perf_counter"]')
    (True, False)
    """
    return not to or json.loads(to)[0] in ("stream", "log", "warn")


def raises(to: str) -> bool:
    """Whether a statement raises an exception, which `raised` returns."""
    return to.startswith('["raise", ')


def raised(to: str, message: str, values: Sequence[Any], arrays: Sequence[Any]) -> Exception:
    """Return the exception that a statement raises."""
    _, error = json.loads(to)
    return raising.made(error, message, values, arrays)


def leave_traces(functions: Iterable[Function]) -> bool:
    """Whether some of these functions have effects that stay, unlike an exception."""
    return any(
        isinstance(stmt, Print) and stmt.to not in (SHAPE, ELEMENT) and not raises(stmt.to)
        for fn in functions
        for stmt in walk(fn.body)
    )


def _level(wanted: int) -> int:
    """Return the number, from the user's line on, of a frame that has so many of the user's."""
    frame, level = sys._getframe(2), 1
    while True:
        own = str(frame.f_globals.get("__name__")).startswith("adc.")
        wanted -= not own
        if wanted <= 0 or frame.f_back is None:
            return level
        frame, level = frame.f_back, level + 1


def _argument(spec: Any, values: Any, arrays: Sequence[Any]) -> Any:
    """Return an argument of a message: a constant, a number, an array, or the text of another."""
    if isinstance(spec, list):
        return spec[0]
    count, template = spec["of"], spec["text"]
    own = [next(values) for _ in range(count)]
    if template == "{}":
        return own[0]
    if template.startswith("{a[") and template.endswith("]}") and template.count("{") == 1:
        return arrays[int(template[3:-2])]
    return Text(text_of(template, own, arrays))


__all__ = [
    "Effects", "Frame", "Text", "carry_out", "is_seen", "leave_traces", "raised", "raises",
    "text_of",
]  # fmt: skip
