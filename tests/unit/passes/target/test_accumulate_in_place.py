"""Which additions to elements become increments (`passes.target.accumulate_in_place`)."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Write, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.target.accumulate_in_place import accumulate_in_place

TEXT = """
fn f(%x: f64[:], %p: i64[:]) -> f64[:] {{
  %n = dim[0] %x
  %a = full[f64] 1.5:f64 4
  %b = full[f64] 2.5:f64 4
  for L %i in 0 to %n {{
    %k = load %p[%i]
    %t = load %a[%k]
    %u = load %x[%i]
    {}
    write %a[%k] %v
  }}
  return {}
}}
"""


@pytest.mark.parametrize(
    ("lines", "increments"),
    [
        ("%v = add %t %u", 1),
        ("%v = add %u %t", 1),
        ("%v = sub %t %u", 1),
        ("%v = sub %u %t", 0),
        ("%v = mul %u %t", 0),
        ("%v = add %t %t", 0),
        ("%w = load %b[%k]\n %v = add %t %w", 1),
        ("%w = load %b[%k]\n %v = sub %w %t", 0),
        # Something else reads the sum, or the element.
        ("%v = add %t %u\n write %b[%k] %v", 0),
        ("%v = add %t %u\n write %b[%k] %t", 0),
        ("%v = add %t %u\n write %b[%k] %u", 1),
        # The array is written to in between, or another element is read.
        ("write %a[0] %u\n %v = add %t %u", 0),
        ("%w = load %a[%i]\n %v = add %w %u", 0),
    ],
)
def test_increments(lines: str, increments: int) -> None:
    args = [np.array([0.3, -0.7, 1.1, 0.2]), np.array([2, 0, 2, 1])]
    for result in ("%a", "%b"):
        fn = verify(parse(TEXT.format(lines, result)))
        made = verify(accumulate_in_place(fn))
        found = [stmt.accumulate for stmt in walk(made.body) if isinstance(stmt, Write)]
        assert sum(found) == increments
        assert run(made, args)[0].tobytes() == run(fn, args)[0].tobytes()
