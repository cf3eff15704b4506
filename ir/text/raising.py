"""Which exception a check raises: its class, and what it is made of.

The `error` of a check is the name of a builtin exception, of NumPy's or adc's own, or
``module:Class`` for a class of the program's. Its `message` is a template for `str.format`. An
exception that is made of anything but one text has its arguments in there, as JSON: of each its
name or null, its template or null for None, and whether it is a number and not a text.

::

    raise Diverged("no root", error=e)

    check False "solvers:Diverged" "\\u001f[[null, 'no root', false], ['error', '{}', true]]" %e

An exception with arrays is raised by a statement `Print` (`adc.ir.text.effects`), whose templates
have them as ``{a[0]}``, …; a check behind it says that the code ends there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from adc.ir.errors import exception_named

_MARK = "\x1f"  # in front of such arguments
_ARRAY = re.compile(r"\{a\[(\d+)\]\}")  # the template of an array alone


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an exception: a text, by its template, a number (of one field), or None.

    Or a tuple, which has a template as well, of what Python has literals for; it is a `number`. So
    is an array, whose template is its place among those that are passed. If `number` is None, the
    text stands for another value, such as a list.
    """

    template: str | None
    number: bool | None = False
    name: str | None = None


def name_of(cls: type[Exception]) -> str | None:
    """Return the name by which an exception class is found again; None if there is none."""
    for name in (cls.__name__, f"{cls.__module__}:{cls.__qualname__}"):
        try:
            if exception_named(name) is cls:
                return name
        except (AttributeError, KeyError, AssertionError):
            continue
    return None


def has_own(cls: type[Exception]) -> bool:
    """Whether a class of the program decides what its exceptions are made of, or what they say."""
    own = ("__init__", "__new__", "__str__", "__repr__", "__getattr__", "args")
    return any(
        name in each.__dict__ for each in cls.__mro__ if each.__module__ != "builtins"
        for name in own
    )  # fmt: skip


def is_built(cls: type[Exception]) -> bool:
    """Whether a class of the program decides what its exceptions are made of."""
    return any(
        name in each.__dict__ for each in cls.__mro__ if each.__module__ != "builtins"
        for name in ("__init__", "__new__")
    )  # fmt: skip


def message_of(args: Sequence[Argument]) -> str:
    """Return the message of a check whose exception has these arguments."""
    match args:
        case []:
            return ""
        case [Argument(template=str() as text, number=False, name=None)]:
            if text and not text.startswith(_MARK):
                return text
    return _MARK + json.dumps([[each.name, each.template, each.number] for each in args])


def text_of(message: str) -> str | None:
    """Return the template of what an exception says, if it is made of one text or number."""
    match arguments(message):
        case []:
            return message
        case [Argument(template=template, name=None)]:
            return template
    return None


def made(error: str, message: str, values: Sequence[Any], arrays: Sequence[Any] = ()) -> Exception:
    """Return the exception of a check that has failed, with these numbers and arrays."""
    cls: Any = exception_named(error)
    left = iter(values)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for each in arguments(message):
        value: Any = None
        if each.template is not None:
            fields = [field for _, field, _, _ in Formatter().parse(each.template)]
            own = [next(left) for field in fields if field == ""]
            place = _ARRAY.fullmatch(each.template)
            if each.number and each.template == "{}":
                value = own[0]
            elif each.number and place:
                value = arrays[int(place[1])]
            else:
                text = each.template.format(*own, a=arrays)
                value = ast.literal_eval(text) if each.number else text
        if each.name is None:
            args.append(value)
        else:
            kwargs[each.name] = value
    found: Exception = cls(*args, **kwargs)
    return found


def arguments(message: str) -> list[Argument]:
    """Return the arguments of the exception of a check with this message."""
    if not message.startswith(_MARK):
        return [Argument(message)] if message else []
    found = json.loads(message[len(_MARK) :])
    return [Argument(template, number, name) for name, template, number in found]
