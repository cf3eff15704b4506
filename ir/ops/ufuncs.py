"""Rows that SciPy computes: a loop of a ufunc of `scipy.special`, and derivatives by its operands.

A function is one call::

    digamma = ufunc("psi", lambda y, x: polygamma(1.0, x))

which makes the row ``scipy_psi``. Compiled code calls the loop by its address
(`adc.backend.runtime.special`), and the interpreter calls the ufunc: the bits are SciPy's. SciPy is
imported when the first of them is used, by a program that has imported it itself.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc.ir.opdef import OPS, OpDef, Ufunc

# Result and operands to the derivative by one operand; a text says why there is none, and None
# stands for zero.
Partial = Callable[..., Any] | str | None

ORDER = "its order: the derivative has no closed form; use finite differences for it"


@functools.cache
def find_ufunc(name: str) -> np.ufunc | None:
    """Return a ufunc of `scipy.special`, or None if this version of SciPy has none of that name.

    >>> find_ufunc("gammaln"), find_ufunc("no such function")
    (<ufunc 'gammaln'>, None)
    """
    # Of public functions there may be wrappers for other kinds of arrays.
    for module in ("scipy.special", "scipy.special._ufuncs"):
        found = getattr(importlib.import_module(module), name, None)
        if isinstance(found, np.ufunc):
            return found
    return None


def version() -> str:
    """Return SciPy's version."""
    return str(importlib.import_module("scipy").__version__)


def letters(own: Ufunc, ufunc: np.ufunc, dtype: np.dtype[Any]) -> str:
    """Return the types of the loop of a ufunc that computes a row for operands of a dtype.

    They are empty if there is none.

    >>> letters(Ufunc("xlogy", "dd->d"), find_ufunc("xlogy"), np.dtype(np.float32))
    'ff->f'
    """
    single = dtype == np.float32
    wanted = own.loop.translate(str.maketrans("dD", "fF")) if single else own.loop
    for integer in "lqp":  # which of them has 64 bits depends on the system
        found = wanted.replace("l", integer)
        if found in ufunc.types and np.dtype(integer).itemsize == 8:
            return found
    return ""


def width(letter: str) -> int:
    """Return how many numbers of a row one of a loop is."""
    return 2 if letter in "FD" else 1


def evaluated(own: Ufunc) -> Callable[..., Any]:
    """Return a row as a function of NumPy scalars."""

    def evaluate(*args: Any) -> Any:
        ufunc = find_ufunc(own.name)
        assert ufunc is not None
        dtype = np.result_type(*args)
        types = letters(own, ufunc, dtype) or letters(own, ufunc, np.dtype(np.float64))
        rest = iter(args)
        given = [_taken(letter, rest) for letter in types.partition("->")[0]]
        with np.errstate(all="ignore"):
            found = ufunc(*given, signature=types)
        results = found if isinstance(found, tuple) else (found,)
        numbers = [
            part
            for each in results
            for part in ((each.real, each.imag) if each.dtype.kind == "c" else (each,))
        ]
        return dtype.type(numbers[own.output])

    return evaluate


def _taken(letter: str, args: Iterator[Any]) -> Any:
    if letter in "FD":
        return np.dtype(letter).type(complex(next(args), next(args)))
    number = next(args)
    if letter not in "lqp":
        return number
    return np.int64(number) if np.isfinite(number) else np.iinfo(np.int64).min


def _rule(partials: Sequence[Partial]) -> Callable[..., Any]:
    def vjp(ct: Any, y: Any, *args: Any) -> tuple[Any, ...]:
        found = [each(y, *args) if callable(each) else None for each in partials]
        return tuple([None if each is None else ct * each for each in found])

    return vjp


def ufunc(
    name: str,
    *partials: Partial,
    loop: str = "",
    output: int = 0,
    suffix: str = "",
    device: str | Callable[..., Any] = "",
    cost: float = 60.0,
    image: tuple[float, float] = (-np.inf, np.inf),
    total: bool = False,
    jumps: bool = False,
) -> OpDef:
    """Enter a row for a ufunc of SciPy.

    Parameters
    ----------
    name : str
        Its name in `scipy.special`.
    *partials : callable, str or None
        For each operand, the derivative as a function of result and operands; or why there is none;
        or None where it is zero.
    loop : str
        The types of the loop, in NumPy's letters; by default it takes and returns real numbers.
    output : int
        Which number is the result.
    suffix : str
        What the name of the row has after that of the function.
    device : str or callable
        What computes it on a GPU.
    cost, image, total, jumps
        As in `OpDef`; what takes integers jumps.

    Returns
    -------
    OpDef
        The row.
    """
    loop = loop or f"{'d' * len(partials)}->d"
    own = Ufunc(name, loop, output, device)
    row = f"scipy_{name.lstrip('_')}{suffix}"
    names = ", ".join(f"{{{k}}}" for k in range(len(partials)))
    reasons = tuple([each if isinstance(each, str) else "" for each in partials])
    return OpDef(
        row, len(partials), evaluated(own), f"{row}({names})", vjp=_rule(partials),
        refused=reasons if any(reasons) else (), kinds="f", cost=cost, least="f64", ufunc=own,
        image=image, total=total, jumps=jumps or "l" in loop,
    )  # fmt: skip


def rows() -> list[OpDef]:
    """Return the rows that SciPy computes."""
    return [op for op in OPS.values() if op.ufunc is not None]


def operands(loop: str) -> list[slice]:
    """Return which operands of a row each argument of a loop is.

    >>> operands("dD->D")
    [slice(0, 1, None), slice(1, 3, None)]
    """
    ends = [*itertools.accumulate(map(width, loop.partition("->")[0]), initial=0)]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


__all__ = [
    "ORDER", "Partial", "evaluated", "find_ufunc", "letters", "operands", "rows", "ufunc",
    "version", "width",
]  # fmt: skip
