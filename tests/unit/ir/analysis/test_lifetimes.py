"""Which arrays share memory, and that others do not."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.analysis.memory.lifetimes import lifetimes
from adc.ir.analysis.sizes.extents import Known
from adc.ir.core import Apply, Function, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory.reuse import reuse

# Two arrays of %n, each read by the nest after it; what is between, and how %b is made, is filled
# in.
TEXT = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {{
  %a = empty[f64] %n
  for L %i in 0 to %n {{
    %v = load %x[%i]
    write %a[%i] %v
  }}
  {between}
  %b = {made}
  {nest}
  %s = total %b
  {after}
  return %s
}}"""
NEST = """for M %j in 0 to %n {{
    %w = load %a[{read}]
    %w2 = mul %w %w
    write %b[%j] %w2
    {more}
  }}"""


def sharing(text: str, args: tuple[object, ...] = (4, 4)) -> tuple[dict[str, str], dict[str, str]]:
    """Return which array takes whose memory, by name; the results must be unchanged."""
    fn = verify(parse(text))
    shared = verify(reuse(fn))
    x = np.arange(1.0, 5.0)
    want, got = run(fn, (*args, x.copy())), run(shared, (*args, x.copy()))
    np.testing.assert_array_equal(want, got)
    found = lifetimes(fn)
    after, over = (
        {new.name: old.name for new, old in each.items()} for each in (found.after, found.over)
    )
    return after, over


def filled(
    *,
    between: str = "",
    made: str = "empty[f64] %n",
    read: str = "%j",
    more: str = "",
    after: str = "",
    nest: str = "",
) -> str:
    nest = nest or NEST.format(read=read, more=more)
    return TEXT.format(between=between, made=made, nest=nest, after=after)


def test_an_array_is_written_over_one_that_dies_in_step() -> None:
    assert sharing(filled()) == ({}, {"b": "a"})


@pytest.mark.parametrize(
    "text",
    [
        filled(read="0"),  # an element that another iteration writes
        filled(after="%z = load %a[0]"),  # read afterwards
        filled(more="%y = load %a[%j]"),  # read after it was written
        filled(more="%y = load %a[0]"),
        filled(between="%k = add %n 0", made="empty[f64] %m"),  # of another size
        filled(made="full[f64] 0.0:f64 %n"),  # filled before anything is read
    ],
)
def test_arrays_are_kept_apart(text: str) -> None:
    assert sharing(text) == ({}, {})


ONCE = """for M %j in 0 to %n {
    write %b[%j] %c
  }"""


def test_memory_of_a_dead_array() -> None:
    used = "%c = total %a"
    assert sharing(filled(between=used, nest=ONCE, made="full[f64] 0.0:f64 %n")) == ({"b": "a"}, {})
    again = filled(between=used, nest=ONCE, made="full[f64] 0.0:f64 %n", after="%d = total %a")
    assert sharing(again) == ({}, {})


def test_sizes_that_are_checked_are_the_same() -> None:
    check = '%c = total %a\n  %q = eq %n %m\n  check %q ValueError "sizes"'
    text = filled(between=check, nest=ONCE, made="full[f64] 0.0:f64 %m")
    assert sharing(text) == ({"b": "a"}, {})


def test_shapes_of_the_same_product() -> None:
    text = filled(between="%c = total %a", nest="", made="full[f64] 1.0:f64 1 %n")
    text = text.replace(NEST.format(read="%j", more=""), "")
    assert sharing(text) == ({"b": "a"}, {})


LOOP = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {{
  %a = full[f64] 2.0:f64 %n
  %s = for L %k in 0 to %m carrying (%t = 0.0:f64) {{
    {first}
    %b = full[f64] 3.0:f64 %n
    %u = load %b[0]
    %t1 = add %t %u
    {then}
    yield %t1
  }}
  {after}
  return %s
}}"""


def test_what_a_loop_reads_lives_until_its_end() -> None:
    read = "%r = load %a[0]\n    %c = full[f64] %r %n\n    %r2 = load %c[1]"
    after, over = sharing(LOOP.format(first=read, then="", after=""))
    assert (after, over) == ({"b": "c"}, {})  # not `a`, which the next iteration reads
    once = LOOP.format(first="", then="", after="").replace(
        "%s = for", "%r = load %a[0]\n  %s = for"
    )
    assert sharing(once) == ({"b": "a"}, {})


def test_names_of_a_block_end_with_it() -> None:
    text = LOOP.format(first="", then="", after="%c = full[f64] 4.0:f64 %n\n  %y = load %c[0]")
    text = text.replace("%s = for", "%r = load %a[0]\n  %s = for")
    assert sharing(text) == ({"b": "a", "c": "a"}, {})


def test_arrays_under_other_names_live_on() -> None:
    text = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {
  %a = full[f64] 2.0:f64 %n
  %b = full[f64] 3.0:f64 %n
  %c = lt %n %m
  %y = if %c {
    yield %a
  } else {
    yield %b
  }
  %d = full[f64] 5.0:f64 %n
  %u = load %y[0]
  %v = load %d[0]
  %s = add %u %v
  return %s
}"""
    assert sharing(text) == ({}, {})
    assert sharing(text, (3, 4)) == ({}, {})


def test_arrays_that_change_places() -> None:
    text = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {
  %a = full[f64] 2.0:f64 %n
  %b = full[f64] 3.0:f64 %n
  %p, %q = for L %k in 0 to %m carrying (%y = %a, %z = %b) {
    %c = full[f64] 4.0:f64 %n
    %w = load %y[0]
    write %c[0] %w
    yield %z %c
  }
  %d = full[f64] 5.0:f64 %n
  %u = load %q[0]
  %v = load %d[0]
  %s = add %u %v
  return %s
}"""
    for times in range(4):
        # The result that is read is %b or what the loop makes, never %a.
        assert sharing(text, (4, times)) == ({"d": "a"}, {})
    other = text.replace("load %q[0]", "load %p[0]")
    for times in range(4):
        assert sharing(other, (4, times)) == ({}, {})


def test_the_interpreter_notices_what_is_read_too_late() -> None:
    fn = parse(
        filled(after="%z = load %a[0]\n  %s2 = add %s %z").replace("return %s\n", "return %s2\n")
    )
    want = run(fn, (4, 4, np.arange(1.0, 5.0)))
    made = next(s for s in walk(fn.body) if isinstance(s, Apply) and s.results[0].name == "b")
    first = next(s for s in walk(fn.body) if isinstance(s, Apply) and s.results[0].name == "a")
    text = str(fn).replace("%b = empty[f64] %n", "%b = empty[f64] %n %a")
    wrong: Function = parse(text)
    assert made.args == first.args
    assert run(wrong, (4, 4, np.arange(1.0, 5.0))) != want


SIZES = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {{
  {first}
  %a = full[f64] 2.0:f64 %n
  %u = load %a[0]
  {between}
  %b = full[f64] %u %m {rows}
  {after}
  %s = total %b
  %c = full[f64] %s %n
  %v = total %c
  return %v
}}"""


@pytest.mark.parametrize("rows", ["", "2"])
def test_arrays_of_several_sizes_share_a_slot(rows: str) -> None:
    fn = verify(parse(SIZES.format(first="", between="", after="", rows=rows)))
    assert lifetimes(fn).after.keys() == {fn.body[4].results[0]}, "of the same size"
    known: Known = {"n": 3, "m": 4, "x": (4,)}
    found = lifetimes(fn, known)
    (made,) = found.slots.values()
    assert {new.name: old for new, old in found.after.items()} == dict.fromkeys(
        "abc", made.results[0]
    )
    shared = verify(reuse(fn, known))
    for n in (2, 3, 9):
        x = np.zeros(4)
        np.testing.assert_array_equal(run(fn, (n, 4, x)), run(shared, (n, 4, x)))


@pytest.mark.parametrize(
    "text",
    [
        SIZES.format(first="", between="", after="%z = load %a[1]", rows=""),  # alive
        SIZES.format(first="", between="%k = add %m 1", after="", rows="").replace(
            "%u %m", "%u %k"
        ),  # the size is not available
        SIZES.format(first="%k = mul %m 16", between="", after="", rows="").replace(
            "%u %m", "%u %k"
        ),  # most of it would be unused
        SIZES.format(first="", between="", after="", rows="").replace(
            "full[f64] 2.0:f64 %n", "copy %x"
        ),  # no memory of its own choice
    ],
)
def test_arrays_of_several_sizes_that_are_kept_apart(text: str) -> None:
    found = lifetimes(verify(parse(text)), {"n": 4, "m": 4, "x": (4,)})
    assert "a" not in {first.name for first in found.slots}
