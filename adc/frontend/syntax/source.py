"""The syntax tree of a function object, with positions in the user's file.

A file may have changed since it was imported, so the source must compile to the loaded code.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
import dis
import linecache
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from adc.frontend.syntax import typed
from adc.frontend.syntax.mangling import class_around, mangle
from adc.frontend.syntax.targets import with_own_targets
from adc.ir.errors import SourceError, Span, UnsupportedError

FunctionNode = ast.FunctionDef | ast.Lambda
AnyFunction = FunctionNode | ast.AsyncFunctionDef
Units = tuple[ast.Module, ...]


@dataclass(frozen=True, eq=False)
class Source:
    """A function's node, and the file it comes from."""

    node: FunctionNode
    file: str
    name: str
    # Each is asked for again wherever the function is inlined.
    _spans: dict[ast.AST, Span] = field(default_factory=dict, repr=False)

    def span(self, node: ast.AST) -> Span:
        found = self._spans.get(node)
        if found is None:
            found = self._spans[node] = self._span(node)
        return found

    def _span(self, node: ast.AST) -> Span:
        origin: Source = getattr(node, "adc_source", self)  # of the generator that it is from
        return Span(
            origin.file,
            getattr(node, "lineno", 1),
            getattr(node, "col_offset", 0),
            getattr(node, "end_lineno", 0) or 0,
            getattr(node, "end_col_offset", 0) or 0,
            origin.name,
        )


def source_of(fn: types.FunctionType) -> Source:
    """Return the source of a Python function.

    Raises
    ------
    SourceError
        If there is none (built at run time), or it is not what the function was compiled from.
    """
    code = fn.__code__
    file = code.co_filename
    if file.startswith("<frozen "):  # a module of Python that is built into it
        file = fn.__globals__.get("__file__", file)
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file, fn.__globals__))
    where = Span(file, code.co_firstlineno, function=fn.__name__)
    # The program of `python -c` has the same name as all of `exec`.
    is_file = bool(text) and file != typed.COMMAND
    try:
        found = _find(code, text) if text else None
    except SyntaxError as error:
        if is_file:
            message = f"the source of {fn.__name__!r} does not parse: {error}"
            raise SourceError(message, where) from None
        found = None
    if found is None and is_file:
        raise SourceError(
            f"{fn.__name__}() is not what its file says: the file has changed since it was "
            "imported",
            where,
            "reload the module, or restart Python, so that both are the same again",
        )
    if found is None:
        for text in typed.texts(code):
            with contextlib.suppress(SyntaxError):
                found = _find(code, text) if text else None
            if found is not None:
                file = typed.named(file, text)
                break
        else:
            message = f"the source of {fn.__name__!r} cannot be found"
            if linecache.getlines(file):  # of other code
                where = replace(where, file=f"{file[:-1]}, by exec>")
            raise SourceError(message, where, typed.hint(file))
    assert found is not None
    node, module = found
    if isinstance(node, ast.AsyncFunctionDef):
        raise SourceError(f"{fn.__name__!r} is a coroutine", where, "use a plain function")
    node = with_own_targets(_with_private_names(node, class_around(module, node)))
    made = Source(node, file, fn.__name__)
    for part in ast.walk(node):
        if isinstance(part, ast.comprehension) and part.is_async:
            message = "an asynchronous comprehension is not supported"
            raise UnsupportedError(message, made.span(part.iter))
    return made


# -- finding the node ------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _parse(file: str, text: str) -> tuple[tuple[AnyFunction, Units], ...]:
    """Return all functions in a file, each with what it may have been compiled within.

    That is the module, or in a notebook the statement of the cell alone: where names are imported
    in the same unit, their attributes are called in another way.
    """
    module = ast.parse(text, file)
    found: list[tuple[AnyFunction, Units]] = []
    for stmt in module.body:
        units = (module, ast.Module([stmt], []))
        found += [(node, units) for node in ast.walk(stmt) if isinstance(node, AnyFunction)]
    return tuple(found)


@lru_cache(maxsize=64)
def _with_private_names(node: FunctionNode, cls: str) -> FunctionNode:
    """Return a function of a class with its private names as they are meant."""
    if not cls:
        return node
    node = copy.deepcopy(node)
    mangle(node, cls)
    return node


def _find(code: types.CodeType, text: str) -> tuple[AnyFunction, ast.Module] | None:
    """Return the node that compiles to `code`, and its module.

    It is looked for where it was, then wherever it is now.
    """
    found = [
        (node, units)
        for node, units in _parse(code.co_filename, text)
        if getattr(node, "name", "<lambda>") == code.co_name
    ]
    there = [pair for pair in found if _first_line(pair[0]) == code.co_firstlineno]
    # Of lambdas in one line the one in its columns, where Python keeps these.
    exact = [pair for pair in there if isinstance(pair[0], ast.Lambda) and _is_body(pair[0], code)]
    # A lambda inside another is in the columns of both: the inner one is meant.
    exact.sort(key=lambda pair: (pair[0].lineno, pair[0].col_offset), reverse=True)
    for node, units in [*exact, *there, *found]:
        if any(_is_same(code, other, node) for other in _compiled(node, units, code)):
            return node, units[0]
    return None


def _first_line(node: AnyFunction) -> int:
    decorators = getattr(node, "decorator_list", None)
    line: int = decorators[0].lineno if decorators else node.lineno
    return line


def _is_body(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether `code` was compiled from this lambda, judged by the columns of its instructions."""
    columns = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) > (node.lineno, 0)
    ]
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno or body.lineno, body.end_col_offset or 0)
    return bool(columns) and all(start <= at <= end for at in columns if at[1] > 0)


# -- what it compiles to ---------------------------------------------------------------------------
_FEATURES = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
# Smaller flags have other meanings in code objects.
_FUTURE = sum(flag for flag in _FEATURES if flag > 0xFFFF)


def _compiled(node: AnyFunction, units: Units, loaded: types.CodeType) -> Iterator[types.CodeType]:
    """Yield what `node` may compile to, as `loaded` was compiled."""
    # As this process compiles; then without asserts, without docstrings, and with all.
    for level in (-1, 1, 2, 0):
        for unit in units:
            for code in _codes(unit, loaded.co_filename, loaded.co_flags & _FUTURE, level):
                if _is_of(code, node):
                    yield code


def _is_of(code: types.CodeType, node: AnyFunction) -> bool:
    """Whether code of the same file was compiled from `node`, as far as positions tell."""
    if code.co_name != getattr(node, "name", "<lambda>"):
        return False
    if code.co_firstlineno != _first_line(node):
        return False
    return not isinstance(node, ast.Lambda) or _is_body(node, code) or not _columns(code)


def _columns(code: types.CodeType) -> bool:
    """Whether Python keeps columns (not with ``-X no_debug_ranges``)."""
    return any(column is not None for _, _, column, _ in code.co_positions())


@lru_cache(maxsize=1024)
def _codes(unit: ast.Module, file: str, flags: int, level: int) -> tuple[types.CodeType, ...]:
    """Return the code objects of all functions in a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the module was compiled
        code = compile(unit, file, "exec", flags, dont_inherit=True, optimize=level)
    return tuple(_nested(code))


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _nested(const)


def _is_same(loaded: types.CodeType, compiled: types.CodeType, node: AnyFunction) -> bool:
    """Whether two code objects are equal, apart from their positions."""
    if _is_rewritten(loaded):
        return _but_asserts(loaded, node) == _but_asserts(compiled, node)
    return _placeless(loaded) == _placeless(compiled)


def _placeless(code: types.CodeType) -> types.CodeType:
    """Return a code object without positions: equal ones have the same instructions and names."""
    return code.replace(
        co_filename="",
        co_firstlineno=1,
        co_linetable=b"",
        co_consts=tuple(
            [_placeless(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
        ),
    )


# -- asserts that pytest has rewritten -------------------------------------------------------------
_LAYOUT = frozenset(["RESUME", "NOP", "CACHE", "EXTENDED_ARG"])


def _is_rewritten(code: types.CodeType) -> bool:
    """Whether pytest has replaced the asserts in a function: its own names begin with "@"."""
    names = (*code.co_names, *code.co_varnames)
    return any(name.startswith("@") for name in names) or any(map(_is_rewritten, _nested(code)))


def _but_asserts(code: types.CodeType, node: AnyFunction) -> object:
    """Return the instructions of a code object by line, without the lines of asserts.

    Without jumps, and regardless of order: where blocks of code lie depends on the asserts.
    """
    first = _first_line(node)
    asserts = {
        line - first
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assert)
        for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
    }
    return _lines(code, code.co_firstlineno, asserts)


def _lines(code: types.CodeType, first: int, asserts: set[int]) -> object:
    found: set[object] = set()
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        opcode = instruction.opcode
        jumps = opcode in dis.hasjrel or opcode in dis.hasjabs
        if line is None or line - first in asserts or jumps or instruction.opname in _LAYOUT:
            continue
        value = instruction.argval
        if isinstance(value, types.CodeType):
            value = _lines(value, first, asserts)
        found.add((line - first, instruction.opname, type(value), repr(value)))
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return (code.co_name, taken, code.co_flags, frozenset(found))
