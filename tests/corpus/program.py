"""What corpora of programs are made of: programs with sample inputs, and how they are entered.

Tags
----
``primal-only``
    Returns something other than one float; there is nothing to differentiate (``argnums`` is ()).
``print``
    Writes to standard output.
``float32``
    Computes in single precision somewhere: gradients can only agree to single precision.
``constant``
    Every requested gradient is exactly zero.
``mutates``
    Writes to an array it was given.
``recursive``, ``closure``, ``integer``, ``while``, ``exit``, ``alias``, ``tuple``, ``numeric``
    What the program is made of.
``function-argument``, ``tuple-argument``
    One of ``args`` is a function, or a tuple.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A function, arguments to call it with, and the positions to differentiate.

    Attributes
    ----------
    name : str
        Name of the function; unique in the corpus.
    fn : callable
        The program.
    args : tuple or callable
        Sample arguments, or a function without parameters that makes them. Use `make_args`.
    argnums : tuple of int
        Positions of the arguments to differentiate; empty if there is nothing to differentiate.
    tags : frozenset of str
        See the module's docstring.
    smooth : bool
        Whether the program is infinitely differentiable around the sample. (All programs are
        differentiable there; one that is not smooth is piecewise, with kinks elsewhere.)
    """

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...] | Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...] = (0,)
    tags: frozenset[str] = frozenset()
    smooth: bool = True

    def make_args(self) -> tuple[Any, ...]:
        """Return arguments that the caller may modify."""
        return self.args() if callable(self.args) else copy.deepcopy(self.args)

    def number(self, count: int) -> int:
        """Return one of 0 to `count` - 1 for the program: to spread costly checks over many."""
        return zlib.crc32(self.name.encode()) % count

    def __str__(self) -> str:
        return self.name


def recorder(programs: list[Program], common: str = "") -> Callable[..., Callable[[_F], _F]]:
    """Return the decorator that enters programs in a list, all with the tags in `common`."""

    def program(
        *args: Any, argnums: tuple[int, ...] = (0,), tags: str = "", smooth: bool = True
    ) -> Callable[[_F], _F]:
        """Register a function with its sample arguments; `tags` is separated by spaces."""

        def register(fn: _F) -> _F:
            labels = frozenset(f"{common} {tags}".split())
            positions = () if "primal-only" in labels else argnums
            programs.append(Program(fn.__name__, fn, args, positions, labels, smooth))
            return fn

        return register

    return program


def uniform(seed: int, *shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


def spd(seed: int, n: int) -> Any:
    """Return a symmetric positive definite matrix, well conditioned."""
    a = uniform(seed, n, n)
    return a @ a.T + n * np.eye(n)


X3 = np.array([0.7, -1.3, 0.45])
X6 = np.array([0.7, -1.3, 2.1, 0.4, -0.9, 1.7])
P4 = np.array([0.6, 1.4, 0.9, 2.2])  # positive
