"""Dead stores and unneeded initialisations are removed; all others stay."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Apply, Function, Store, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.loops.overwrite import overwrite

# Statements of a loop over %i < %n, and whether the filling of %d stays.
FILLED = {
    "covered": ("%d.2 = accumulate %d.1[%i] %v", False),
    "stored": ("%d.2 = store %d.1[%i] %v", False),
    "read_afterwards": (
        "%d.3 = accumulate %d.1[%i] %v\n%w = load %d.3[%i]\n%d.2 = accumulate %d.3[%i] %w",
        False,
    ),
    "read_before": ("%w = load %d.1[%i]\n%d.2 = store %d.1[%i] %w", True),
    "another_element": ("%k = sub %n.1 %i\n%d.2 = accumulate %d.1[%k] %v", True),
    "one_element": ("%d.2 = accumulate %d.1[0] %v", True),
    "a_neighbour_is_read": (
        "%k = minimum %i 1\n%w = load %d.1[%k]\n%d.3 = store %d.1[%i] %w\n"
        "%d.2 = accumulate %d.3[%i] %v",
        True,
    ),
    "only_on_one_path": (
        "%c = lt %v 0.0:f64\n%d.2 = if %c {\n%d.3 = accumulate %d.1[%i] %v\nyield %d.3\n} else {\n"
        "yield %d.1\n}",
        True,
    ),
    "many_times": (
        "%d.2 = for L1 %j in 0 to %n carrying (%d.3 = %d.1) {\n"
        "%d.4 = accumulate %d.3[%i] %v\nyield %d.4\n}",
        True,
    ),
    "an_older_version_is_read": (
        "%d.2 = accumulate %d.1[%i] %v\n%w = load %d.1[%i]\n%s.2 = add %s.1 %w",
        True,
    ),
}


def filled(body: str, size: str = "%n") -> Function:
    total = "%s.2" if "%s.2" in body else "%s.1"
    return verify(
        parse(
            f"""fn f(%x: f64[:], %n: i64) -> f64[:], f64 {{
  %n.1 = sub %n 1
  %m = add %n 1
  %d = full[f64] 0.0:f64 {size}
  %d.9, %s.9 = for L0 %i in 0 to %n carrying (%d.1 = %d, %s.1 = 0.0:f64) {{
    %v = load %x[%i]
    {body}
    yield %d.2 {total}
  }}
  return %d.9 %s.9
}}"""
        )
    )


def agree(fn: Function, made: Function) -> None:
    args = (np.array([0.5, -1.5, 2.5]), np.int64(3))
    for want, got in zip(run(fn, args), run(verify(made), args), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", FILLED)
def test_filling(name: str) -> None:
    body, stays = FILLED[name]
    fn = filled(body)
    made = overwrite(fn)
    fills = [s for s in walk(made.body) if isinstance(s, Apply) and s.op.name == "full"]
    assert len(fills) == stays
    agree(fn, made)


def test_filling_of_a_part() -> None:
    fn = filled("%d.2 = accumulate %d.1[%i] %v", size="%m")
    made = overwrite(fn)
    assert str(made) == str(fn)
    agree(fn, made)


@pytest.mark.parametrize(("trips", "goes"), [("%m", True), ("%i", False)])
def test_filling_of_a_matrix(trips: str, goes: bool) -> None:
    fn = verify(
        parse(
            f"""fn f(%n: i64, %m: i64) -> f64[:, :] {{
  %d = full[f64] 0.0:f64 %n %m
  %d.9 = for L0 %i in 0 to %n carrying (%d.1 = %d) {{
    %d.2 = for L1 %j in 0 to {trips} carrying (%d.3 = %d.1) {{
      %v = cast[f64] %j
      %d.4 = accumulate %d.3[%i, %j] %v
      yield %d.4
    }}
    yield %d.2
  }}
  return %d.9
}}"""
        )
    )
    made = overwrite(fn)
    assert ("full" not in str(made)) is goes
    args = (np.int64(4), np.int64(3))
    if trips == "%i":
        args = (np.int64(3), np.int64(3))
    np.testing.assert_array_equal(run(verify(made), args)[0], run(fn, args)[0])


# Statements of a loop over %i < %n, and whether the store to %b goes.
DEAD = {
    "cleared": ("%v = load %b.1[%i]\n%b.2 = store %b.1[%i] 0.0:f64", True),
    "read_afterwards": ("%b.2 = store %b.1[%i] 0.0:f64\n%v = load %b.2[%i]", False),
    "a_neighbour_is_read": ("%v = load %b.1[0]\n%b.2 = store %b.1[%i] 0.0:f64", False),
    "read_by_a_later_iteration": ("%v = load %b.1[%k]\n%b.2 = store %b.1[%i] 5.0:f64", False),
    "one_element": ("%v = load %b.1[0]\n%b.2 = store %b.1[0] 0.0:f64", False),
    "distinct_elements": ("%v = load %b.1[%r]\n%b.2 = store %b.1[%r] 0.0:f64", True),
    "elements_that_meet": ("%v = load %b.1[%h]\n%b.2 = store %b.1[%h] 0.0:f64", False),
    "in_a_nest": (
        "%v = load %b.1[%i]\n%b.2 = for L1 %j in 0 to 2 carrying (%b.3 = %b.1) {\n"
        "%w = load %b.3[%i]\n%b.4 = store %b.3[%i] 7.0:f64\nyield %b.4\n}",
        False,
    ),
}


@pytest.mark.parametrize("name", DEAD)
def test_stores(name: str) -> None:
    body, goes = DEAD[name]
    fn = verify(
        parse(
            f"""fn f(%b: f64[:], %n: i64) -> f64 {{
  %c = copy %b
  %n.1 = sub %n 1
  %b.9, %s.9 = for L0 %i in 0 to %n carrying (%b.1 = %c, %s.1 = 0.0:f64) {{
    %k = maximum %i 1
    %r = sub %n.1 %i
    %h = floordiv %i 2
    {body}
    %s.2 = add %s.1 %v
    yield %b.2 %s.2
  }}
  return %s.9
}}"""
        )
    )
    made = overwrite(fn)
    assert any(isinstance(s, Store) for s in walk(made.body)) is not goes
    agree(fn, made)


def test_a_result_that_is_read_keeps_its_stores() -> None:
    fn = filled("%d.2 = store %d.1[%i] %v")
    assert any(isinstance(s, Store) for s in walk(overwrite(fn).body))


CHECKED = """fn f(%x: f64[:], %n: i64, %m: i64) -> f64[:] {
  %q = eq %n %m
  FIRST
  %d = full[f64] 0.0:f64 %m
  %d.9 = for L0 %i in 0 to %n carrying (%d.1 = %d) {
    %v = load %x[%i]
    %d.2 = accumulate %d.1[%i] %v
    yield %d.2
  }
  LAST
  return %d.9
}"""


@pytest.mark.parametrize("where", ["FIRST", "LAST", None])
def test_sizes_that_a_check_makes_the_same(where: str | None) -> None:
    # After the loop, too: where it fails, the array is not read.
    text = CHECKED
    for place in ("FIRST", "LAST"):
        check = 'check %q ValueError "other sizes"' if place == where else ""
        text = text.replace(place, check)
    fn = verify(parse(text))
    done = verify(overwrite(fn))
    fills = [s for s in walk(done.body) if isinstance(s, Apply) and s.op.name == "full"]
    assert bool(fills) == (where is None)
    x = np.arange(4.0)
    np.testing.assert_array_equal(run(done, (x, 4, 4))[0], x)
