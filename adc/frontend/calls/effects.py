"""Effects outside of the program: what it prints, logs and warns of, and clocks.

They are carried out in the order in which the program has them, once: neither reverse code nor what
is computed again has them. What a clock says is stored where it is needed again.
"""

from __future__ import annotations

import ast
import importlib
import json
import logging
import sys
import time
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    Num,
    Static,
    Unstable,
    Words,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.language.texts import formatting, templates, written
from adc.frontend.language.texts import values as texts
from adc.frontend.numpy import library
from adc.frontend.values import arguments, elementwise
from adc.frontend.values.arguments import Handler
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Print, found_by
from adc.ir.errors import TypeMismatchError

_CLOCKS = (
    "time", "perf_counter", "monotonic", "process_time", "thread_time", "time_ns",
    "perf_counter_ns", "monotonic_ns", "process_time_ns", "thread_time_ns",
)  # fmt: skip
_LEVELS = {
    "debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "critical": 50, "fatal": 50,
}  # fmt: skip


# The methods of loggers.
METHODS = (*_LEVELS, "isEnabledFor", "log")


def takes_text(callee: Binding) -> bool:
    """Whether a function takes texts that are known only at run time."""
    if not isinstance(callee, Static):
        return False
    value = callee.value
    if _stream_of(value) is not None or isinstance(_logger_of(value), logging.Logger):
        return True
    return any(value is each for each in HANDLERS)


def argument(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an argument of such a function."""
    with lo.tells():
        if isinstance(node, ast.Name):
            return formatting.value(lo, node)
        if formatting.is_format(lo, node):
            return formatting.words(lo, node)
        return dispatch.filled(lo, node, texts=True)


def several(lo: Lowerer, node: ast.expr) -> Sequence[Binding]:
    """Lower starred arguments of which some are texts that are formatted there; () for others."""
    if not formatting.are_formats(lo, node):
        return ()
    if not isinstance(node, ast.List | ast.Tuple):
        with lo.tells():
            return formatting.texts_in(lo, node)
    if any(isinstance(each, ast.Starred) for each in node.elts):
        return ()
    return [argument(lo, each) for each in node.elts]


# -- print -----------------------------------------------------------------------------------------


def _print(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    between = arguments.text(lo, kwargs.get("sep"), " ", node, "`sep`")
    end = arguments.text(lo, kwargs.get("end"), "\n", node, "`end`")
    stream = _stream(lo, kwargs.get("file", NONE), node)
    if set(kwargs) - {"sep", "end", "flush", "file"}:
        raise lo.unsupported("`print` with these keywords", node)
    with lo.tells():
        parts = [
            arg if isinstance(arg, texts.Spread) else written.str_of(lo, arg, node) for arg in args
        ]
    found = texts.line(lo, parts, between, node)
    to = "" if (stream, end) == ("stdout", "\n") else json.dumps(["stream", stream, end])
    templates.emit(lo, found, node, to)
    return NONE


def _stream(lo: Lowerer, file: Binding, node: ast.Call) -> str:
    """Return the name in `sys` of the file that a program prints to."""
    if file == NONE:
        return "stdout"
    name = _name_of(file.value) if isinstance(file, Static) else None
    if name is None:
        raise lo.unsupported("`print` to this file", node, "use `sys.stdout` or `sys.stderr`")
    return name


def _name_of(file: object) -> str | None:
    """Return the name in `sys` of a file."""
    return next((name for name in ("stdout", "stderr") if file is getattr(sys, name)), None)


def _stream_of(value: Any) -> str | None:
    """Return the name in `sys` of the file that a method is bound to."""
    return _name_of(getattr(value, "__self__", None)) if callable(value) else None


def of_stream(
    lo: Lowerer, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of `sys.stdout` or `sys.stderr`; None if it is none."""
    stream = _stream_of(value)
    if stream is None:
        return None
    if value.__name__ == "flush" and not args and not kwargs:
        return NONE  # what is written is there at once
    if value.__name__ != "write" or len(args) != 1 or kwargs:
        raise lo.unsupported(f"`sys.{stream}.{value.__name__}`", node, "use `print`")
    text = args[0]
    if not (isinstance(text, Words) or (isinstance(text, Static) and isinstance(text.value, str))):
        raise TypeMismatchError(
            f"write() argument must be str, not {kind_of(text)}", lo.span(node), "use an f-string"
        )
    templates.emit(lo, written.text_of(lo, text, node), node, json.dumps(["stream", stream, ""]))
    if isinstance(text, Static):
        return lo.num(len(text.value))
    return Unstable("is the number of characters of a string known only at run time")


# -- clocks ----------------------------------------------------------------------------------------


def _found(lo: Lowerer, to: list[Any], hint: str) -> Operand:
    """Return what is found outside."""
    text = json.dumps(to)
    ty = found_by(text)
    assert ty is not None
    result = lo.builder.value(hint, ty)
    lo.builder.emit(Print("", (), lo.builder.loc, text, result))
    return result


def _clock(name: str) -> Handler:
    def handler(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
        arguments.arity(lo, args, kwargs, node, 0)
        return Num(_found(lo, ["clock", name], name))

    return handler


def _sleep(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    seconds = elementwise.number(lo, args[0], node, "`sleep`")
    lo.builder.emit(Print("", (seconds,), lo.builder.loc, json.dumps(["sleep"])))
    return NONE


# -- warnings --------------------------------------------------------------------------------------


def _warn(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    names = ("message", "category", "stacklevel")
    given = arguments.by_name(lo, "warn", names, args, kwargs, node)
    if set(given) - set(names) or "message" not in given:
        raise lo.unsupported("`warnings.warn` with these arguments", node)
    if lo.quiet:
        raise lo.unsupported(
            "`warnings.warn` inside `warnings.catch_warnings`", node,
            "enter `warnings.catch_warnings` outside the differentiated function",
        )  # fmt: skip
    category = given.get("category", NONE)
    cls: Any = UserWarning if category == NONE else getattr(category, "value", None)
    if not (isinstance(cls, type) and issubclass(cls, Warning)):
        raise TypeMismatchError("category must be a Warning subclass", lo.span(node))
    found = getattr(importlib.import_module(cls.__module__), cls.__qualname__, None)
    name = f"{cls.__module__}.{cls.__qualname__}"
    if found is not cls:
        raise lo.unsupported(f"the category `{name}`", node, "define it in a module")
    message = given["message"]
    if not isinstance(message, Words | Static):
        raise lo.unsupported(f"`warnings.warn` of {kind_of(message)}", node, "use an f-string")
    level = arguments.constant_int(lo, given.get("stacklevel", lo.num(1)), node, "`stacklevel`")
    to = ["warn", name, level]
    templates.emit(lo, written.text_of(lo, message, node), node, json.dumps(to))
    return NONE


# -- logging ---------------------------------------------------------------------------------------


def _get_logger(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, {}, node, 0, 1)
    given = [*args, *kwargs.values()]
    name = arguments.text(lo, given[0] if given else NONE, "", node, "the name of a logger")
    return Static(logging.getLogger(name or None))


def _logger_of(value: Any) -> logging.Logger | None:
    """Return the logger that a method is bound to."""
    owner = value.__self__ if isinstance(value, types.MethodType) else None
    return owner if isinstance(owner, logging.Logger) else None


def of_logger(
    lo: Lowerer, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of a logger; None if it is none."""
    logger = _logger_of(value)
    if logger is None:
        return None
    if logging.getLogger(logger.name) is not logger:
        raise lo.unsupported("a logger that `logging.getLogger` does not return", node)
    name = value.__name__
    written = getattr(logging.Logger, name, None) is value.__func__
    if written and name in _LEVELS:
        return _log(lo, logger.name, _LEVELS[name], args, kwargs, node)
    if written and name == "log":
        return _log_at(lo, logger.name, args, kwargs, node)
    if written and name == "isEnabledFor":
        arguments.arity(lo, args, kwargs, node, 1)
        enabled = _found(lo, ["enabled", logger.name, _level(lo, args[0], node)], "enabled")
        return Num(numbers.weak(lo, numbers.apply(lo, "ne", enabled, integer(0))))
    numbers.leave(
        lo, f"`{type(logger).__name__}.{name}`", node,
        "use `debug`, `info`, `warning`, `error`, `critical`, `log` or `isEnabledFor`",
    )  # fmt: skip


def _level(lo: Lowerer, binding: Binding, node: ast.Call) -> int:
    return arguments.constant_int(lo, binding, node, "the level of a message")


def _of_module(level: int | None) -> Handler:
    """Lower functions of the module `logging`."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if level is not None:
            return _log(lo, None, level, args, kwargs, node)
        return _log_at(lo, None, args, kwargs, node)

    return handler


def _log_at(
    lo: Lowerer, name: str | None, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `log`, whose first argument is a level."""
    rest = dict(kwargs)
    if not args and "level" in rest:
        args = [rest.pop("level")]
    if not args:
        raise TypeMismatchError("log() is missing the argument 'level'", lo.span(node))
    return _log(lo, name, _level(lo, args[0], node), args[1:], rest, node)


def _log(
    lo: Lowerer, name: str | None, level: int, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    no = (NONE, Num(Literal(False, lo.num(False).operand.type)))
    options = {key: value for key, value in kwargs.items() if value not in no}
    if "msg" in options:
        args = [options.pop("msg"), *args]
    if options:
        what = ", ".join(f"`{each}`" for each in options)
        numbers.leave(lo, f"logging with {what}", node, "leave it out")
    if not args:
        what = ast.unparse(node.func)
        raise TypeMismatchError(f"{what}() is missing the argument 'msg'", lo.span(node))
    message, *rest = args
    if not rest:
        if isinstance(message, Static) and isinstance(message.value, str):
            lo.builder.emit(_statement(lo, name, level, message.value, [], "", ()))
            return NONE
        text, operands = templates.filled(lo, written.str_of(lo, message, node), node)
        lo.builder.emit(_statement(lo, name, level, None, [], text, operands))
        return NONE
    if not (isinstance(message, Static) and isinstance(message.value, str)):
        raise lo.unsupported(f"logging {kind_of(message)} with arguments", node, "use one f-string")
    specs: list[Any] = []
    operands_: list[Operand] = []
    arrays = 0
    for arg in rest:
        arg = elementwise.materialised(lo, arg, node)
        if isinstance(arg, Static) and isinstance(arg.value, str | None):
            specs.append([arg.value])
            continue
        if isinstance(arg, DictRef) and "%(" in message.value:
            raise lo.unsupported("logging a dict by its keys", node, "use an f-string")
        if not isinstance(arg, Num | ArrayRef) and any(
            f"%{each}" in message.value for each in "ra"
        ):
            raise lo.unsupported(f"logging {kind_of(arg)} with `%r`", node, "use an f-string")
        found = written.text_of(lo, arg, node)
        text, own = templates.filled(lo, found, node, arrays)
        arrays += len([form for form in found.forms if form])
        specs.append({"text": text, "of": len(own)})
        operands_ += own
    lo.builder.emit(_statement(lo, name, level, message.value, specs, "", tuple(operands_)))
    return NONE


def _statement(
    lo: Lowerer, name: str | None, level: int, pattern: str | None, specs: list[Any], text: str,
    operands: tuple[Operand, ...],
) -> Print:  # fmt: skip
    to = json.dumps(["log", name, level, pattern, specs])
    return Print(text, operands, lo.builder.loc, to)


HANDLERS: dict[Callable[..., Any], Handler] = {
    print: _print, time.sleep: _sleep, warnings.warn: _warn, logging.getLogger: _get_logger,
    logging.log: _of_module(None),
    **{getattr(time, name): _clock(name) for name in _CLOCKS if hasattr(time, name)},
    **{getattr(logging, name): _of_module(level) for name, level in _LEVELS.items()},
}  # fmt: skip

library.enter(HANDLERS)
