"""Loops that are split where a comparison of their index decides about inner loops."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import For, Function
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.target.fission import fission

ROWS = """
fn f(%x: f64[:, :], %n: int, %m: int) -> f64[:, :] {{
  %rows = dim[0] %x
  %columns = dim[1] %x
  %a = full[f64] 0.5:f64 %rows %columns
  for L %i in 0 to %rows {{
    %at = {at}
    %c = {compared}
    %trips = select %c %m %columns
    for L.1 %k in 0 to %trips {{
      %t = load %x[%i, %k]
      %u = mul %t %t
      write %a[%i, %k] %u
    }}
  }}
  return %a
}}
"""


def _loops(fn: Function) -> int:
    return sum(isinstance(stmt, For) for stmt in fn.body)


@pytest.mark.parametrize("n", [-1, 0, 3, 5, 9, 30])
@pytest.mark.parametrize("compared", ["lt %at %n", "le %at %n", "gt %n %at", "ge %at %n"])
@pytest.mark.parametrize(
    ("at", "splits"), [("add %i 2", True), ("sub %i 2", False), ("mul %i 3", False)]
)
def test_a_comparison_of_the_index(at: str, splits: bool, compared: str, n: int) -> None:
    fn = parse(ROWS.format(at=at, compared=compared))
    found = fission(fn)
    verify(found)
    assert _loops(found) == (2 if splits else 1)
    x = np.linspace(-1.0, 2.0, 35).reshape(7, 5)
    np.testing.assert_array_equal(run(found, [x, n, 2]), run(fn, [x, n, 2]))


STEPS = """
fn f(%x: f64[:, :]) -> f64[:, :] {{
  %rows = dim[0] %x
  %columns = dim[1] %x
  %more = add %rows 1
  %a = full[f64] 0.5:f64 %rows %columns
  %b = full[f64] 1.5:f64 %more %columns
  for L %i in 0 to %rows {{
    %next = {after}
    for L.1 %k in 0 to %columns {{
      %s = load %b[%i, %k]
      %t = load %x[%i, %k]
      %u = mul %s %t
      write %a[%i, %k] %u
    }}
    for L.2 %l in 0 to %columns {{
      %m = sub %columns %l
      %m.1 = sub %m 1
      %v = load %a[%i, %m.1]
      write %b[%next, %l] %v
    }}
  }}
  return %b
}}
"""


@pytest.mark.parametrize(("after", "splits"), [("add %i 1", False), ("add %i 0", True)])
def test_iterations_that_need_the_one_before(after: str, splits: bool) -> None:
    fn = parse(STEPS.format(after=after))
    found = fission(fn)
    verify(found)
    assert _loops(found) == (2 if splits else 1)
    x = np.linspace(-1.0, 2.0, 35).reshape(7, 5)
    np.testing.assert_array_equal(run(found, [x]), run(fn, [x]))
