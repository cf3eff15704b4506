"""Ordered sums of cheap terms: blocks of a vector's size, and no bit changes."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import For, Function, Literal, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.target.strip_mine import strip_mine

ROWS = """
fn f(%x: {dtype}[:, :], %y: {dtype}[:, :]{layout}, %n: {count}, %z: {dtype}) -> {dtype}[:] {{
  %rows = dim[0] %x
  %a = empty[{dtype}] %rows
  for L %i in 0 to %rows {{
    %s.1 = for L.1 %k {way} %n carrying (%s = %z) {{
      %t = load %x[%i, %k]
      %u = load %y{place}
      %d = sub %t %u
      %p = mul %d %d
      %s.2 = {step}
      yield %s.2
    }}
    {behind}
    write %a[%i] %s.1
  }}
  return %a
}}
"""
TOTAL = """
fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %s.1 = for L %k in 0 to %n carrying (%s = 0.0:f64) {
    %t = load %x[%k]
    %p = mul %t %t
    %s.2 = add %s %p
    yield %s.2
  }
  return %s.1
}
"""
SECOND = """
    for L.2 %j in 0 to %n {
      write %a[%i] 0.0:f64
    }
"""


def _rows(
    way: str = "in 0 to",
    place: str = "[%i, %k]",
    step: str = "add %s %p",
    dtype: str = "f64",
    layout: str = "",
    behind: str = "",
    count: str = "int",
) -> Function:
    return parse(
        ROWS.format(
            way=way, place=place, step=step, dtype=dtype, layout=layout, behind=behind, count=count
        )
    )


def _in_vectors(fn: Function) -> bool:
    loops = [stmt for stmt in walk(strip_mine(fn).body) if isinstance(stmt, For)]
    return any(isinstance(loop.trips, Literal) and loop.trips.value == 8 for loop in loops)


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("step", ["add %s %p", "sub %s %p", "sub %p %s"])
@pytest.mark.parametrize("way", ["in 0 to", "down from"])
def test_keeps_bits(way: str, step: str, dtype: str) -> None:
    fn = _rows(way=way, step=step, dtype=dtype)
    done = strip_mine(fn)
    assert _in_vectors(fn)
    rng = np.random.default_rng(0)
    real = {"f64": np.float64, "f32": np.float32}[dtype]
    for n in (-20, -3, 0, 1, 7, 8, 9, 16, 23):
        x, y = rng.standard_normal((2, 3, 23)).astype(real)
        args = x, y, n, real(0.1)
        np.testing.assert_array_equal(run(done, args)[0], run(fn, args)[0])


def test_numbers_of_iterations_of_other_types() -> None:
    fn = _rows(count="u8")
    done = verify(strip_mine(fn))
    x, y = np.random.default_rng(0).standard_normal((2, 3, 203))
    args = x, y, np.uint8(203), 0.1
    np.testing.assert_array_equal(run(done, args)[0], run(fn, args)[0])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, True),
        ({"place": "[0, %k]"}, True),
        ({"place": "[%i, 0]"}, True),
        ({"place": "[%k, %i]"}, False),  # a column
        ({"place": "[%k, %k]"}, False),
        ({"layout": "A"}, False),
        ({"step": "maximum %s %p"}, False),  # which LLVM vectorises
        ({"step": "mul %s %s"}, False),
        ({"behind": SECOND}, False),
    ],
)
def test_where(given: dict[str, str], found: bool) -> None:
    assert _in_vectors(_rows(**given)) == found


GATHER = """
fn f(%x: f64[:], %at: i64[:]) -> f64 {
  %n = dim[0] %x
  %s.1 = for L %i in 0 to %n carrying (%s = 0.0:f64) {
    %r.1 = for L.1 %k in 0 to %n carrying (%r = %s) {
      %j = load %at[%k]
      %t = load %x[%j]
      %p = mul %t %t
      %r.2 = add %r %p
      yield %r.2
    }
    yield %r.1
  }
  return %s.1
}
"""


def test_gathered_elements_stay() -> None:
    assert not _in_vectors(parse(GATHER))


def test_outermost_loop_stays() -> None:
    fn = parse(TOTAL)
    assert strip_mine(fn) == fn
