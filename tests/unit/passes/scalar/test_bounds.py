"""What is known of integers removes checks: not of those that wrap around (`bounds`)."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Apply, For, Literal
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.scalar.bounds import bounds

# The numbers of a loop that counts: as many as hold a condition.
COUNTER = """
fn f(%n: int) -> int {{
  %s, %k.2 = for L %i in 0 to %n carrying (%c = 0, %k = {start}) {{
    %holds = {condition}
    %one = cast[int] %holds
    %c.1 = add %c %one
    %k.1 = {step}
    yield %c.1 %k.1
  }}
  return %s
}}
"""


@pytest.mark.parametrize(
    ("start", "step", "condition"),
    [
        ("250:u8", "add %k 1:u8", "ge %k 250:u8"),
        ("2:u64", "sub %k 1:u64", "le %k 2:u64"),
        ("100:i8", "add %k 9:i8", "ge %k 100:i8"),
        ("-100:i8", "sub %k 9:i8", "lt %k 0:i8"),
    ],
)
def test_counters_that_wrap_around(start: str, step: str, condition: str) -> None:
    fn = verify(parse(COUNTER.format(start=start, step=step, condition=condition)))
    with np.errstate(over="ignore"):
        assert run(verify(bounds(fn)), [40]) == run(fn, [40])
        assert 0 < run(fn, [40])[0] < 40


SUM = """
fn f(%n: int) -> int {{
  %s = for L %i in 0 to %n carrying (%c = 0) {{
    %k = cast[{ty}] %i
    %m = {made}
    %holds = {condition}
    %one = cast[int] %holds
    %c.1 = add %c %one
    yield %c.1
  }}
  return %s
}}
"""


@pytest.mark.parametrize(
    ("ty", "made", "condition"),
    [
        ("i8", "cast[int] %k", "ge %m 0"),
        ("u8", "add %k %k", "ge %m %k"),
        ("u64", "sub %k 3:u64", "le %m %k"),
        ("i8", "mul %k 2:i8", "ge %m %k"),
        ("i8", "neg %k", "le %m 0:i8"),
        ("i16", "cast[i8] %k", "ge %m 0:i8"),
    ],
)
def test_arithmetic_that_wraps_around(ty: str, made: str, condition: str) -> None:
    fn = verify(parse(SUM.format(ty=ty, made=made, condition=condition)))
    with np.errstate(over="ignore"):
        assert run(verify(bounds(fn)), [300]) == run(fn, [300])
        assert 0 < run(fn, [300])[0] < 300


CARRIED = """
fn f(%n: int, %j: int, %b: b1) -> int {{
  %s, %k.2 = for L %i in 0 to %n carrying (%c = 0, %k = {start}) {{
    %holds = ge %k 0
    %one = cast[int] %holds
    %c.1 = add %c %one
    {made}
    yield %c.1 %k.1
  }}
  return %s
}}
"""
EITHER = "%k.1 = if %b {{ {} yield %u }} else {{ {} yield %v }}".format


@pytest.mark.parametrize(
    ("start", "made", "known"),
    [
        ("0", "%m = maximum %j 0\n%k.1 = add %k %m", True),
        ("0", "%m = maximum %j 0\n%k.1 = sub %k %m", False),
        ("-1", "%m = maximum %j 0\n%k.1 = add %k %m", False),
        ("0", "%m = maximum %j 0\n%k.1 = add %j %m", False),
        ("0", EITHER("%u = add %k 1\n", "%v = add %k 2\n"), True),
        ("0", EITHER("%u = add %k 1\n", "%v = add %k -2\n"), False),
        ("0", EITHER("%u = add %k -1\n", "%v = add %k 2\n"), False),
    ],
)
def test_counters_that_never_fall(start: str, made: str, known: bool) -> None:
    fn = verify(parse(CARRIED.format(start=start, made=made)))
    bounded = verify(bounds(fn))
    (loop,) = (stmt for stmt in bounded.body if isinstance(stmt, For))
    (cast,) = (s for s in loop.body.stmts if isinstance(s, Apply) and s.op.name == "cast")
    assert isinstance(cast.args[0], Literal) == known
    for j in (-3, 2):
        for b in (False, True):
            assert run(bounded, [4, j, b]) == run(fn, [4, j, b])


TAKEN = """
fn f(%x: f64[:], %n: int) -> f64 {{
  %size = dim[0] %x
  %s = for L %i in 0 to %size carrying (%c = 0.0:f64) {{
    %j = {index}
    %k = wrap %j %size
    %v = load %x[%k]
    %c.1 = add %c %v
    yield %c.1
  }}
  return %s
}}
"""


@pytest.mark.parametrize(
    ("index", "left"),
    [
        ("cast[i64] %i", []),
        ("cast[i32] %i", ["wrap"]),  # which overflows, if there are many
        ("mod %i 3:i64", ["cast"]),
        ("cast[u64] %i", ["wrap"]),
        ("sub %i 1:i64", ["wrap"]),
    ],
)
def test_indices_out_of_arrays(index: str, left: list[str]) -> None:
    """They are no Python integers, as positions are: the loop's counter is, or a conversion."""
    fn = verify(parse(TAKEN.format(index=index)))
    bounded = verify(bounds(fn))
    (loop,) = (stmt for stmt in bounded.body if isinstance(stmt, For))
    ops = [s.op.name for s in loop.body.stmts if isinstance(s, Apply)]
    assert [name for name in ops if name in ("wrap", "cast") and name not in index] == left
    x = np.arange(1.0, 6.0)
    assert run(bounded, [x, 0]) == run(fn, [x, 0])
