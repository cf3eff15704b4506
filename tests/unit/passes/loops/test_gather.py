"""Additions to neighbouring elements are gathered, unless their distance is unknown."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Function, Reverse, Store, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.loops.gather import gather
from adc.passes.memory.storage import storage
from adc.passes.remat.remat import remat

# Statements of the reverse of a loop over %i < %n that carries %y.1 and %x.1, and whether the
# additions to %x.1 are gathered, and how many temporary arrays they need.
ROW = {
    "neighbours": (
        "%v = load %y.1[%i.r]\n%x.2 = accumulate %x.1[%i.r] %v\n%x.3 = accumulate %x.2[%j] %v",
        True,
        0,
    ),
    "multiples": (
        "%v = load %y.1[%i.r]\n%w = mul %v 3.0:f64\n%u = neg %w\n"
        "%x.2 = accumulate %x.1[%i.r] %u\n%x.3 = accumulate %x.2[%j] %w",
        True,
        0,
    ),
    "far": (
        "%v = load %y.1[%i.r]\n%x.2 = accumulate %x.1[%i.r] %v\n%x.3 = accumulate %x.2[%k] 2.0:f64",
        True,
        0,
    ),
    "kept": (
        "%v = load %y.1[%i.r]\n%w = recall %t\n%u = mul %v %w\n"
        "%x.2 = accumulate %x.1[%i.r] %u\n%x.3 = accumulate %x.2[%j] %u",
        True,
        1,
    ),
    "two_to_keep": (
        "%v = load %y.1[%i.r]\n%w = recall %t\n%u = mul %v %w\n"
        "%x.2 = accumulate %x.1[%i.r] %u\n%x.3 = accumulate %x.2[%j] %w",
        False,
        0,
    ),
    "one_element": (
        "%v = load %y.1[%i.r]\n%x.2 = accumulate %x.1[%j] %v\n%x.3 = accumulate %x.2[%j] %v",
        False,
        0,
    ),
    "single": ("%v = load %y.1[%i.r]\n%x.3 = accumulate %x.1[%j] %v", False, 0),
    "stored": (
        "%v = load %y.1[%i.r]\n%x.2 = store %x.1[%i.r] %v\n%x.3 = accumulate %x.2[%j] %v",
        False,
        0,
    ),
    "read": (
        "%v = load %x.1[%i.r]\n%x.2 = accumulate %x.1[%i.r] 1.0:f64\n%x.3 = accumulate %x.2[%j] %v",
        False,
        0,
    ),
    "backwards": (
        "%v = load %y.1[%i.r]\n%x.2 = accumulate %x.1[%b] %v\n%x.3 = accumulate %x.2[%j] %v",
        False,
        0,
    ),
    "strides": (
        "%v = load %y.1[%i.r]\n%x.2 = accumulate %x.1[%d] %v\n%x.3 = accumulate %x.2[%e] %v",
        False,
        0,
    ),
}
CLEARED = {"": "%y.1", "%y.2 = store %y.1[%i.r] 0.0:f64": "%y.2"}


def row(body: str, clear: str, last: str) -> Function:
    return verify(
        parse(
            f"""fn f(%x: f64[:], %y: f64[:], %n: int) -> f64[:], f64[:] {{
  %c = copy %x
  %g = copy %y
  %n.1 = sub %n 1
  for L0 %i in 0 to %n {{
    %j.f = add %i 1
    %k.f = add %i 4
    %b.f = sub %n.1 %i
    %d.f = mul %i 2
    %e.f = add %d.f 1
    %t.1 = load %x[%i]
    %t = abs %t.1
  }}
  %y.9, %x.9 = reverse L0 %i.r carrying (%y.1 = %g, %x.1 = %c) {{
    %j = recall %j.f
    %k = recall %k.f
    %b = recall %b.f
    %d = recall %d.f
    %e = recall %e.f
    {body}
    {clear}
    yield {last} %x.3
  }}
  return %x.9 %y.9
}}"""
        )
    )


def agree(fn: Function, made: Function, *args: object) -> None:
    want = run(fn, args)
    for each in (made, *(storage(remat(made, policy)) for policy in ("store", "recompute"))):
        for a, b in zip(want, run(verify(each), args), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("clear", CLEARED)
@pytest.mark.parametrize("name", ROW)
def test_row(name: str, clear: str) -> None:
    body, gathered, kept = ROW[name]
    fn = row(body, clear, CLEARED[clear])
    made = gather(fn)
    assert ("gather" in str(made)) is gathered
    assert str(made).count("= empty[") == kept
    # Whole numbers, of which sums in any order are the same.
    x, y = np.arange(20.0), np.arange(20.0) ** 2
    for n in range(8):
        agree(fn, made, x, y, n)
    if gathered:
        assert gather(made) is made
        added = [s for s in walk(made.body) if isinstance(s, Reverse) for s in walk((s,))]
        assert not any(isinstance(s, Store) and s.accumulate for s in added)
    else:
        assert made is fn


def matrix(trips: str, first: str, second: str, third: str) -> Function:
    return verify(
        parse(
            f"""fn f(%x: f64[:, :], %y: f64[:, :], %n: int, %m: int) -> f64[:, :] {{
  %c = copy %x
  for L0 %i in 0 to %n {{
    %i.f = add %i 1
    %k.f = add %i 2
    %m.1 = sub %m 2
    %m.2 = maximum %m.1 0
    for L1 %j in 0 to {trips} {{
      %j.f = add %j 1
      %l.f = add %j 2
    }}
  }}
  %x.9 = reverse L0 %i.r carrying (%x.1 = %c) {{
    %x.8 = reverse L1 %j.r carrying (%x.2 = %x.1) {{
      %i.1 = recall %i.f
      %i.2 = recall %k.f
      %j.1 = recall %j.f
      %j.2 = recall %l.f
      %v = load %y[%i.r, %j.r]
      %w = neg %v
      %x.3 = accumulate %x.2[{first}] %v
      %x.4 = accumulate %x.3[{second}] %w
      %x.5 = accumulate %x.4[{third}] %v
      yield %x.5
    }}
    yield %x.8
  }}
  return %x.9
}}"""
        )
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("trips", "places", "nests"),
    [
        ("%m", ("%i.1, %j.r", "%i.r, %j.1", "%i.2, %j.2"), 6),
        ("%m.1", ("%i.1, %j.r", "%i.r, %j.1", "%i.2, %j.2"), 6),
        ("%m.2", ("%j.1, %i.r", "%j.r, %i.1", "%j.2, %i.2"), 6),
        ("%m", ("%i.r, %j.1", "%i.r, %j.r", "%i.r, %j.2"), 4),
        ("%m", ("%i.r, %j.1", "%i.1, %j.1", "%i.2, %j.1"), 6),
        # Rows that do not overlap, a triangle: the inner loop alone.
        ("%m", ("%i.r, %j.1", "%i.1, %j.1", "%i.r, %j.1"), 0),
        ("%i", ("%i.r, %j.1", "%i.r, %j.r", "%i.r, %j.2"), 2),
        ("%m", ("%i.r, %i.1", "%i.r, %i.r", "%i.r, %i.2"), 0),
        ("%m", ("%i.r, 0", "%i.1, 0", "%i.2, 0"), 0),
    ],
)
def test_matrix(trips: str, places: tuple[str, str, str], nests: int) -> None:
    fn = matrix(trips, *places)
    made = gather(fn)
    assert str(made).count(".gather") == nests
    x = np.zeros((9, 9))
    y = np.arange(81.0).reshape(9, 9) ** 2
    for n in range(6):
        for m in range(6):
            agree(fn, made, x, y, n, m)


def test_printed_code_parses_back() -> None:
    made = gather(matrix("%m", "%i.1, %j.r", "%i.r, %j.1", "%i.2, %j.2"))
    assert parse(str(made)) == made


def test_a_nest_of_two_loops_one_of_which_reads_the_array() -> None:
    inner = """
    %x.{0}5 = reverse L{0} %j{0}.r carrying (%x.{0}2 = {1}) {{
      %i.{0}1 = recall %i.f
      %x.{0}3 = accumulate %x.{0}2[%i.r, %j{0}.r] 1.0:f64
      %x.{0}4 = accumulate %x.{0}3[%i.{0}1, %j{0}.r] 2.0:f64
      %x.{0}6 = accumulate %x.{0}4[%i.r, %j.f{0}.r] {0}.0:f64
      yield %x.{0}6
    }}"""
    inner = inner.replace(
        "%i.{0}1 = recall %i.f", "%i.{0}1 = recall %i.f\n%j.f{0}.r = recall %j.f{0}"
    )
    first = inner.format(4, "%x.1").replace("4.0:f64", "%v")
    first = first.replace("%x.43 =", "%v = load %x.42[%i.r, %j4.r]\n%x.43 =")
    fn = verify(
        parse(
            f"""fn f(%x: f64[:, :], %n: int) -> f64[:, :] {{
  %c = copy %x
  for L0 %i in 0 to %n {{
    %i.f = add %i 1
    for L3 %j3 in 0 to %n {{
      %j.f3 = add %j3 1
    }}
    for L4 %j4 in 0 to %n {{
      %j.f4 = add %j4 1
    }}
  }}
  %x.9 = reverse L0 %i.r carrying (%x.1 = %c) {{
    {first}
    {inner.format(3, "%x.45")}
    yield %x.35
  }}
  return %x.9
}}"""
        )
    )
    made = gather(fn)
    for n in range(5):
        agree(fn, made, np.arange(81.0).reshape(9, 9), n)
