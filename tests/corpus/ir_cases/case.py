"""What a case is; derivatives of cases along directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify

X4 = np.array([0.7, -1.3, 0.45, 1.1])
Y4 = np.array([-0.2, 0.9, 1.6, -0.8])
A33 = np.array([[0.3, -0.7, 1.2], [0.9, 0.4, -0.5], [-1.1, 0.8, 0.6]])


@dataclass(frozen=True)
class Case:
    """A program, arguments to run it with, and the positions to differentiate."""

    name: str
    text: str
    args: tuple[Any, ...]
    wrt: tuple[int, ...]

    def function(self) -> Function:
        return verify(parse(self.text))

    def __str__(self) -> str:
        return self.name


CASES: list[Case] = []


def case(name: str, text: str, *args: Any, wrt: tuple[int, ...] = (0,)) -> None:
    CASES.append(Case(name, text, args, wrt))


def directions(case: Case, seed: int = 0) -> list[Any]:
    """Return a random direction for each differentiated argument."""
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(-1, 1, np.shape(case.args[k])))[()] for k in case.wrt]


def moved(case: Case, along: list[Any], step: float) -> list[Any]:
    """Return the arguments, moved by `step` along the directions."""
    args = list(case.args)
    for k, direction in zip(case.wrt, along, strict=True):
        args[k] = args[k] + step * direction
    return args


def difference(fn: Function, case: Case, along: list[Any], args: tuple[Any, ...] = ()) -> list[Any]:
    """Return the derivatives of the results of `fn` along a direction, by differences.

    Fourth order, so that its error is far below the tolerance of the tests; `args` follow the
    arguments of the case.
    """
    h = 1e-3
    values = [run(fn, [*moved(case, along, k * h), *args]) for k in (-2, -1, 1, 2)]
    return [(a - 8.0 * b + 8.0 * c - d) / (12.0 * h) for a, b, c, d in zip(*values, strict=True)]


def inner(a: Any, b: Any) -> float:
    return float(np.sum(np.asarray(a) * np.asarray(b)))
