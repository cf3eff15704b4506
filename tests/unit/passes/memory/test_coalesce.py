"""Loop-carried arrays allocated in each iteration are written over the old, dead ones."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Apply, For, While, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory.coalesce import coalesce
from adc.passes.memory.reuse import reuse

# %m times, an array of %n is made of the one before; `given` is the first, made of %x.
TEXT = """
fn f(%n: int, %m: int, %x: f64[:]) -> f64 {{
  %n1 = dim[0] %x
  %ok = eq %n %n1
  check %ok ValueError "sizes"
  %o = full[f64] 1.5:f64 %n
  {before}
  %r = for L %k in 0 to %m carrying (%a = {given}) {{
    {first}
    %b = {made}
    {nest}
    {then}
    yield {back}
  }}
  {after}
  %t = total %r
  return %t
}}"""
NEST = """for M %j in 0 to %n {{
      %w = load %a[{read}]
      %w2 = mul %w {factor}
      write %b[%j] %w2
      {more}
    }}"""


def text(
    *,
    before: str = "",
    given: str = "%o",
    first: str = "",
    made: str = "empty[f64] %n",
    read: str = "%j",
    factor: str = "1.5:f64",
    more: str = "",
    nest: str = "",
    then: str = "",
    back: str = "%b",
    after: str = "",
) -> str:
    return TEXT.format(
        before=before, given=given, first=first, made=made, then=then, back=back, after=after,
        nest=nest or NEST.format(read=read, factor=factor, more=more),
    )  # fmt: skip


def result(program: str) -> str:
    """Return how an array is carried: "carried", "in place", or "in place of a copy".

    Results are unchanged, for any number of iterations, and arguments are not written.
    """
    fn = verify(parse(program))
    done = verify(coalesce(fn))
    shared = verify(reuse(done))
    for times in range(4):
        x = np.arange(1.0, 5.0)
        want = run(fn, (4, times, x))
        for each in (done, shared):
            np.testing.assert_array_equal(run(each, (4, times, x)), want)
            np.testing.assert_array_equal(x, np.arange(1.0, 5.0))
    loop = next(s for s in walk(done.body) if isinstance(s, For | While))
    if loop.init:
        assert done == fn
        return "carried"
    copied = sum(isinstance(s, Apply) and s.op.name == "copy" for s in walk(done.body))
    return "in place of a copy" if copied else "in place"


WHILE = text().replace(
    "for L %k in 0 to %m carrying (%a = %o)", "while L carrying (%c = 0, %a = %o)"
)
WHILE = WHILE.replace("%r = while", "%i, %r = while").replace(
    "yield %b", "%c1 = add %c 1\n    %more = lt %c1 %m\n    again %more %c1 %b"
)


@pytest.mark.parametrize(
    "program",
    [
        text(),
        text(first="%s = total %a", read="0", nest="for M %j in 0 to %n {\n write %b[%j] %s\n }"),
        text(first="%s = load %a[0]\n write %a[1] %s"),  # the old array is one to write to
        text(then="write %b[0] 2.0:f64"),
        text(more="%z = load %b[%j]\n increase %b[%j] %z"),
        text(before="%n2 = add %n 0", made="empty[f64] %n1"),  # of a size that is checked
        text(after="%s = total %r"),
        text(made="copy %a", nest="write %b[0] 2.0:f64"),  # a copy that nobody needs
        text(first="%s = load %a[1]", made="copy %a", nest="write %b[0] %s"),
        text(
            made="copy %a",
            nest=NEST.format(read="%j", factor="2.0:f64", more="").replace("%a[", "%b["),
        ),
    ],
)
def test_in_place(program: str) -> None:
    assert result(program) == "in place"


NESTED = TEXT.format(
    before="", given="%x", first="", then="", back="%b", after="", made="", nest="",
).replace("%b = ", """%b = for N %l in 0 to %m carrying (%c = %a) {
      %d = empty[f64] %n
      for M %j in 0 to %n {
        %w = load %c[%j]
        %w2 = mul %w 1.5:f64
        write %d[%j] %w2
      }
      yield %d
    }""")  # fmt: skip


def test_a_nest_of_loops_works_in_one_buffer() -> None:
    assert result(NESTED) == "in place of a copy"
    assert result(NESTED.replace("= %x)", "= %o)")) == "in place"
    done = coalesce(parse(NESTED))
    assert not any(s.init for s in walk(done.body) if isinstance(s, For))
    (copy,) = (s for s in walk(done.body) if isinstance(s, Apply) and s.op.name == "copy")
    assert copy in done.body  # once, before the loops


def test_in_place_in_a_while_loop() -> None:
    fn = verify(parse(WHILE))
    done = verify(coalesce(fn))
    (loop,) = (s for s in walk(done.body) if isinstance(s, While))
    assert len(loop.init) == 1
    for times in range(4):
        x = np.arange(1.0, 5.0)
        assert run(done, (4, times, x)) == run(fn, (4, times, x))


@pytest.mark.parametrize(
    "program",
    [
        text(given="%x"),  # of the caller
        text(after="%s = total %o\n  %u = load %o[0]"),  # read afterwards
        text(first="%u = load %o[0]"),  # read by the next iteration
    ],
)
def test_a_copy(program: str) -> None:
    assert result(program) == "in place of a copy"


@pytest.mark.parametrize(
    "program",
    [
        text(read="0"),  # an element that another iteration writes
        text(then="%z = load %a[0]\n write %b[0] %z"),  # read after it was written
        text(more="%y = load %a[%j]\n increase %b[%j] %y"),
        text(more="%y = load %a[0]\n increase %b[%j] %y"),
        text(made="full[f64] 0.0:f64 %n"),  # filled before anything is read
        text(made="copy %a"),  # which is read after that
        text(made="copy %o"),
        text(back="%a"),  # not what is handed on
        text(before="%l = add %n 1", made="empty[f64] %l"),  # of another size
        text(given="%p", before="%q = add %n 2\n  %p = full[f64] 1.0:f64 %q"),
    ],
)
def test_handed_on(program: str) -> None:
    assert result(program) == "carried"
