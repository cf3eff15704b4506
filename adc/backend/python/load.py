"""Emitted text as functions of CPython, and a `Kernel` that calls them as compiled code is called.

Every number in the text becomes one of NumPy's: integers wrap around at 64 bits and a division by
zero is infinite, as on a machine. The lines stay where they are, and `linecache` knows them, so
that `pdb` and tracebacks show them.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np

from adc.backend.common.emit import Emitted, emit
from adc.backend.common.writer import Site
from adc.backend.cpu import (
    converter,
    deliverer,
    perform,
    raise_outside,
    raise_site,
    values_of,
)
from adc.backend.python import memory, scalars
from adc.backend.runtime.state import State
from adc.ir.analysis import routines
from adc.ir.core import Function
from adc.ir.errors import Span
from adc.ir.opdef import numpy_value
from adc.ir.text.effects import Effects
from adc.ir.text.outside import Outside, calls_outside
from adc.ir.types import STORED_HALF, Scalar, Type

NAMES: dict[str, Any] = {**scalars.NAMES, **memory.NAMES, "np": np}
_INT64 = range(-(2**63), 2**63)
_SIZE = "(size)"  # no name of the text: what makes sizes NumPy's integers


class _Typed(ast.NodeTransformer):
    """Makes numbers NumPy's, and leaves out imports and what is said to Numba."""

    def __init__(self) -> None:
        self.numbers: dict[str, Any] = {_SIZE: np.int64}

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = []
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in ("OPTIONS", "PART"):
            return None
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
                return self._number(-value, node)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return node
        return self._number(node.value, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return self._size(node) if node.attr == "size" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Attribute):
            return self._size(node)
        return self.generic_visit(node)

    def _number(self, value: int | float, node: ast.expr) -> ast.expr:
        name = repr(value)
        if isinstance(value, float):
            self.numbers[name] = np.float64(value)
        elif value in _INT64:
            self.numbers[name] = np.int64(value)
        else:  # what is converted to a uint64
            self.numbers[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _size(self, node: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(_SIZE, ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _file_of(emitted: Emitted) -> str:
    """Return the name under which `linecache` has a source, without a file: one for each text."""
    lines = emitted.source.splitlines(keepends=True)
    for number in itertools.count(1):
        file = f"<adc {emitted.name}{f' {number}' if number > 1 else ''}>"
        entry = (len(emitted.source), None, lines, file)
        if linecache.cache.setdefault(file, entry)[2:3] == (lines,):
            break
    return file


def load(emitted: Emitted) -> Callable[..., tuple[Any, ...]]:
    """Return the main function of emitted source, for CPython."""
    file = _file_of(emitted)
    typed = _Typed()
    tree = typed.visit(ast.parse(emitted.source, file))
    namespace = {"__name__": emitted.name, **NAMES, **typed.numbers}
    if emitted.multiplies:
        assert routines.IMPLEMENTATIONS is not None
        namespace |= routines.IMPLEMENTATIONS()
    exec(compile(tree, file, "exec", dont_inherit=True), namespace)
    made: Callable[..., tuple[Any, ...]] = namespace[emitted.name]
    return made


class Kernel:
    """A function in CPython: call it with NumPy scalars and arrays, get a tuple of results.

    Calls may come from several threads at once. The arguments are never written, the arrays
    returned belong to the caller. With `offload` tapes are in files.
    """

    nbytes = 0  # nothing is held between calls

    def __init__(
        self, emitted: Emitted, offload: bool = False,
        table: Mapping[int, Outside] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.emitted = emitted
        self._table = table
        self.offload = offload
        self.code = load(emitted)
        self._in = [_taker(ty) for ty in emitted.params]
        self._out = [deliverer(ty) for ty in emitted.results]
        # Bytes of memory, and of tapes in files, that the last call used.
        self.peak: int | None = None
        self.disk: int | None = None

    def __call__(self, *args: Any, reserved: Mapping[str, int] | None = None) -> tuple[Any, ...]:
        """Run the code; what it needs of tapes is made as it comes, `reserved` or not."""
        if len(args) != len(self._in):
            raise TypeError(f"{self.emitted.name} takes {len(self._in)} arguments, not {len(args)}")
        given = [take(arg) for take, arg in zip(self._in, args, strict=True)]
        teller = Effects(perform)

        def say(site: Site, words: list[int]) -> Any:
            return teller.tell(site.to, site.message, values_of(words, site.types), site.loc)

        state = memory.Memory(self.emitted.sites, self.offload, say, self._external)
        try:
            with np.errstate(all="ignore"):
                found = self.code(state, *given)
            status = int(state[State.STATUS])
            if status:
                sites, words = self.emitted.sites, state.words.tolist()
                calls = [sites[each - 1] for each in State.callers(words)]
                raise_site(sites[status - 1], words[State.OPERANDS :], calls)
        finally:
            self.peak, self.disk = state.used()
        return tuple(deliver(value) for deliver, value in zip(self._out, found, strict=True))

    def _external(self, number: int, given: Sequence[Any], made: Sequence[Any]) -> None:
        call = self._table[number]
        try:
            call.fill(given, made)
        except BaseException as error:
            raise_outside(call, error)

    def share(self, threads: int | None) -> None:
        """Run loops alone all the same: no bit depends on the number of threads."""

    def release_memory(self) -> None:
        """Give nothing back: nothing is held."""


def _taker(ty: Type) -> Callable[[Any], Any]:
    """Return what makes an argument what the code takes: a number becomes NumPy's."""
    convert = converter(ty)
    if ty.dtype == STORED_HALF:
        return lambda arg: convert(arg).view(ty.numpy)
    return (lambda arg: numpy_value(convert(arg), ty)) if isinstance(ty, Scalar) else convert


def place(span: Span) -> str:
    """Return the place in the user's source that stands at the end of a line."""
    return f"{PurePath(span.file).name}:{span.line}"


def interpret(fn: Function, *, offload: bool = False) -> Kernel:
    """Return what runs `fn`, which is in buffer form, in CPython."""
    return Kernel(emit(fn, place), offload, calls_outside(fn))


__all__ = ["NAMES", "Kernel", "interpret", "load"]
