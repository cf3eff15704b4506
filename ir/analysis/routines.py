"""Routines: functions that a library computes, and the memory that it needs for that.

A function with a `routine` makes the arrays that it returns; what they contain, and whether it has
failed if it returns a number, the library says. Programs for a GPU have statements instead, for
threads that cannot call a library. The *frame* of a call adds workspace, as an ordinary statement,
so that analyses of memory read it as they read those of any function::

    fn eigh(%a, %upper) -> f64[:], f64[:, :], int routine eigh {
      %n = dim[0] %a
      %w = empty %n
      %v = empty %n %n
      %f = …                                 a number that nobody has set
      return %w %v %f
    }
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adc.ir.builder import Builder, integer
from adc.ir.core import Apply, For, Function, Operand, Stmt, Value, While
from adc.ir.errors import IRError
from adc.ir.text.outside import is_external, outside_of
from adc.ir.types import INT, Array
from adc.ir.walk import Names


@dataclass(frozen=True)
class Routine:
    """A routine of a library, as memory sees it.

    Attributes
    ----------
    count : int
        How many parameters of the function it takes, the first ones.
    sizes : str
        A letter for each axis of these parameters and then of the arrays that it returns; a comma
        after each, and for a number its letter, or nothing. Axes with the same letter need not be
        looked up twice.
    floats, ints : str
        The elements of workspace, a sum of products of numbers and sizes: of the dtype of the first
        array, and of 32-bit integers.
    home : str
        Which module of a back end has it.
    """

    count: int
    sizes: str
    floats: str = ""
    ints: str = ""
    home: str = "routines"

    @property
    def made(self) -> int:
        """How many arrays it fills."""
        return self.sizes.count(",") + 1 - self.count


ROUTINES: dict[str, Routine] = {
    "lu_factor": Routine(1, "nn,nn,n"),
    "lu_rows": Routine(1, "nn,nn,n"),
    "lu_solve": Routine(5, "nn,nn,n,nm,,nm"),
    "cholesky": Routine(1, "nn,nn"),
    "solve_lower": Routine(3, "nn,nm,,nm"),
    "eigh": Routine(2, "nn,,n,nn", "1 + 6 n + 2 n n", "3 + 5 n"),
    "eigvalsh": Routine(2, "nn,,n", "1 + 34 n + n n"),
    "eigh_robust": Routine(4, "nn,,,,n,nn", "1 + 70 n + n n", "1 + 12 n"),
    "qr": Routine(1, "mn,mn,nn", "m n + 33 n"),
    "real_eig": Routine(1, "nn,n,n,nn", "1 + 130 n + 2 n n"),
    "svd": Routine(1, "mn,mk,k,kn", "m n + 7 k + 4 k k + 64 m + 64 n", "8 k"),
    "full_svd": Routine(1, "mn,mm,k,nn", "m n + 7 k + 4 k k + 64 m + 64 n", "8 k"),
    "svdvals": Routine(1, "mn,k", "m n + 7 k + 64 m + 64 n", "8 k"),
    # Both parts of complex matrices.
    "hermitian": Routine(3, "nn,nn,,n,nn,nn", "3 + 9 n + 6 n n", "3 + 5 n"),
    "hermitian_robust": Routine(5, "nn,nn,,,,n,nn,nn", "3 + 156 n + 4 n n", "1 + 12 n"),
    "eig": Routine(2, "nn,nn,n,n,nn,nn", "2 + 72 n + 4 n n"),
    "schur": Routine(2, "nn,nn,nn,nn,nn,nn", "2 + 71 n + 4 n n"),
    "complex_qr": Routine(2, "mn,mn,mn,mn,nn,nn", "2 + 2 m n + 66 n"),
    "complex_svd": Routine(
        2, "mn,mn,mk,mk,k,kn,kn", "2 + 2 m n + 4 m k + 4 k n + 9 k k + 16 k + 130 m + 130 n", "8 k"
    ),
    # Lines of n elements, a block of b lines at once, of complex numbers.
    "fft": Routine(8, ",,,n,,b,,,,", "2 n b", home="fourier"),
    "rfft": Routine(7, ",,n,,b,,,,", "n b + 2 b", home="fourier"),
    "irfft": Routine(8, ",,,n,,b,,,", "n b + 2 b", home="fourier"),
    # Along two axes: all of it, of complex numbers, and room r for a block.
    "fft2": Routine(10, ",,o,n,m,k,i,r,,,,", "2 o n m k i + 2 r", home="fourier"),
    "rfft2": Routine(9, ",o,n,m,k,i,r,,,,", "o n m k i + 2 o n m i + 2 r", home="fourier"),
    "irfft2": Routine(10, ",,o,n,m,k,i,r,,,", "o n m k i + 2 o n m i + 2 r", home="fourier"),
    "dct": Routine(6, ",,,,,,", home="fourier"),
}


#: What computes a routine, called with a place for the state of a call, the arguments, the arrays
#: to fill, and workspace; set by who has it (the IR knows no libraries).
IMPLEMENTATIONS: Callable[[], Mapping[str, Callable[..., Any]]] | None = None


def is_filled(fn: Function) -> bool:
    """Whether a library, or a function outside, has to fill the arrays that a function makes."""
    return bool(fn.routine) and not any(isinstance(stmt, For | While) for stmt in fn.body)


def fill(fn: Function, args: Sequence[Any], made: Sequence[Any]) -> tuple[Any, ...]:
    """Let a library fill the arrays that a function has made, and return its results."""
    if is_external(fn):
        outside_of(fn).fill(args, made)
        return tuple(made)
    row = ROUTINES[fn.routine]
    arrays = [x for x, each in zip(made, fn.results, strict=True) if isinstance(each.type, Array)]
    given = [*args[: row.count], *(arrays or args[-row.made :])]
    sizes = {
        letter: size
        for axes, x in zip(row.sizes.split(","), given, strict=True)
        for letter, size in zip(axes, np.shape(x) or (x,), strict=False)
    }
    work = []
    for text, dtype in ((row.floats, given[0].dtype), (row.ints, np.int32)):
        if text:
            terms = ([int(sizes.get(x, x)) for x in t.split()] for t in text.split(" + "))
            work.append(np.empty(sum(map(math.prod, terms)), dtype))
    assert IMPLEMENTATIONS is not None
    failed = IMPLEMENTATIONS()[fn.routine](None, *given, *work)
    return tuple(
        x if isinstance(each.type, Array) else np.int64(failed)
        for x, each in zip(made, fn.results, strict=True)
    )


def library_form(fn: Function) -> Function:
    """Return a program in which functions that a library has are frames of its calls."""
    if not any(each.routine for each in fn.callees):
        return fn
    callees = [
        frame(each) if each.routine and not is_external(each) else each for each in fn.callees
    ]
    return replace(fn, callees=tuple(callees))


def filled(fn: Function) -> Sequence[Operand]:
    """Return what a routine fills: the arrays that its function makes, or is passed at the end."""
    made = [result for result in fn.results if isinstance(result.type, Array)]
    if made or is_external(fn):
        return made
    return fn.params[-ROUTINES[fn.routine].made :]


def making(fn: Function) -> list[Apply]:
    """Return the statements that make the arrays of a function with a routine."""
    made = {r: stmt for stmt in fn.body if isinstance(stmt, Apply) for r in stmt.results}
    needed: set[Operand] = set()
    todo = list(filled(fn))
    while todo:
        value = todo.pop()
        if isinstance(value, Value) and value not in fn.params and value not in needed:
            if value not in made:
                raise IRError(f"{fn.name}: {value.name} is not made where a routine begins")
            needed.add(value)
            todo += made[value].args
    return [stmt for stmt in fn.body if isinstance(stmt, Apply) and stmt.result in needed]


def frame(fn: Function) -> Function:
    """Return a function with a routine as the frame of a call of the library."""
    failed = Value("failed", INT)
    results = tuple(each if isinstance(each.type, Array) else failed for each in fn.results)
    return replace(fn, body=(*making(fn), *_workspace(fn, filled(fn))), results=results)


def _workspace(fn: Function, made: Sequence[Operand]) -> list[Stmt]:
    """Return the statements that take the workspace of a routine."""
    row = ROUTINES[fn.routine]
    operands = [*fn.params[: row.count], *made]
    build = Builder(Names.of(fn))
    build.loc = fn.body[0].loc if fn.body else None
    for text, dtype in ((row.floats, operands[0].type.dtype), (row.ints, "i32")):
        if text:
            total: Operand | None = None
            for term in text.split(" + "):
                product: Operand | None = None
                for factor in term.split():
                    number = _size(build, row, operands, factor)
                    product = number if product is None else build.apply("mul", product, number)
                assert product is not None
                total = product if total is None else build.apply("add", total, product)
            assert total is not None
            build.apply("slot", total, params=(dtype, 1), hint="work")
    return build.stmts


def _size(build: Builder, row: Routine, operands: Sequence[Operand], factor: str) -> Operand:
    if factor.isdigit():
        return integer(int(factor))
    for operand, axes in zip(operands, row.sizes.split(","), strict=True):
        if factor in axes and not isinstance(operand.type, Array):
            return operand
        if factor in axes:
            return build.apply("dim", operand, params=(axes.index(factor),), hint=factor)
    raise IRError(f"{factor} is no size of a routine")


__all__ = ["ROUTINES", "Routine", "filled", "frame", "library_form", "making"]
