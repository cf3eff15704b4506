"""Sizes and integers as numbers."""

from __future__ import annotations

import math

from adc.ir.analysis.sizes.extents import GUESS, Extents
from adc.ir.core import Value
from adc.ir.text.parser import parse
from adc.ir.walk import defined

# A value that asks for a size has the name which formulas have for that size.
SIZES = """
fn f(%x: f64[:, :]) -> int {
  %x.dim0 = dim[0] %x
  %x.dim1 = dim[1] %x
  %m = mul %x.dim0 %x.dim1
  %n = sub %x.dim1 1
  return %n
}
"""

# What random draws are made of is evaluated for numbers of their types.
DRAWN = """
fn g(%x: f64) -> int {
  %a = libm_exp 2.0:f64
  %b = mul %a 10.0:f64
  %k = cast[int] %b
  return %k
}
"""


def test_answers_do_not_depend_on_the_order_of_questions() -> None:
    fn = parse(SIZES)
    values = [value for value in defined(fn) if value.type.kind == "i"]
    assert len(values) == 4

    def answers(asked: list[Value], guess: float) -> dict[str, float | None]:
        extents = Extents(fn, guess=guess)
        return {value.name: extents.number(value) for value in asked}

    guessed = answers(values, GUESS)
    assert guessed == {"x.dim0": GUESS, "x.dim1": GUESS, "m": GUESS**2, "n": GUESS - 1}
    assert answers(values[::-1], GUESS) == guessed
    assert set(answers(values, math.nan).values()) == {None}


def test_functions_of_the_c_library() -> None:
    fn = parse(DRAWN)
    assert Extents(fn).number(fn.results[0]) == 73
