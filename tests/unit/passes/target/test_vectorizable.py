"""Loops marked because iterations are independent, and elements carried in registers."""

from __future__ import annotations

import numpy as np
import pytest

import adc
from adc.ir.core import For, Function, walk
from adc.ir.errors import IRError
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.passes.target.scalar_replacement import scalar_replacement
from adc.passes.target.vectorizable import vectorizable

ONE = """
fn f(%x: f64[:], %n: int) -> f64[:] {{
  %m = dim[0] %x
  %a = empty[f64] %m
  %b = empty[f64] %m
  %rows = empty[f64] %n %m
  {loop}
  return %a
}}
"""
LOOP = """
  for L %i in 0 to %n {{
    %k = add %i 1
    %j = mul %i 2
    %o = mul %i 2
    %o.1 = add %o 1
    %e = add %i %n
    %t = load {read}
    {verb} {write} %t
  }}
"""


def _loop(read: str, write: str, verb: str = "write") -> Function:
    return parse(ONE.format(loop=LOOP.format(read=read, write=write, verb=verb)))


def _is_apart(fn: Function) -> bool:
    (loop,) = [stmt for stmt in walk(vectorizable(fn).body) if isinstance(stmt, For)]
    return loop.vectorizable


@pytest.mark.parametrize(
    ("read", "write", "found"),
    [
        ("%x[%i]", "%a[%i]", True),
        ("%x[%k]", "%a[%i]", True),  # nobody writes to what was passed
        ("%a[%i]", "%a[%i]", True),
        ("%b[%k]", "%a[%i]", True),
        ("%a[%k]", "%a[%i]", False),
        ("%a[%i]", "%a[%k]", False),
        ("%x[%i]", "%a[0]", False),
        ("%a[%e]", "%a[%i]", True),  # i + n is not below n
        ("%a[%e]", "%a[%k]", False),
        ("%rows[0, %i]", "%rows[1, %i]", True),
        ("%rows[0, %k]", "%rows[1, %i]", True),
        ("%rows[0, %k]", "%rows[0, %i]", False),
        ("%a[%j]", "%a[%i]", False),
        # They are independent, but LLVM would gather them.
        ("%a[%j]", "%a[%o.1]", False),
        ("%rows[%i, %n]", "%a[%i]", False),
        ("%rows[%i, 0]", "%a[%i]", True),  # but for rows of a few numbers
    ],
)
def test_marked(read: str, write: str, found: bool) -> None:
    assert _is_apart(_loop(read, write)) == found
    assert _is_apart(_loop(read, write, "increase")) == found


def test_arrays_that_loops_hand_on() -> None:
    text = """
    fn f(%x: f64[:], %n: int) -> f64[:] {
      %m = dim[0] %x
      %a = empty[f64] %m
      %b = empty[f64] %m
      %p.2, %q.2 = for L %l in 0 to %n carrying (%p = %a, %q = %b) {
        %c = empty[f64] %m
        for M %i in 0 to %m {
          %k = SHIFT
          %t = load %READ[%k]
          write %WRITE[%i] %t
        }
        yield NEXT
      }
      return %p.2
    }
    """

    def found(read: str, write: str, following: str, shift: str) -> bool:
        made = text.replace("%READ", f"%{read}").replace("%WRITE", f"%{write}")
        fn = parse(made.replace("NEXT", following).replace("SHIFT", shift))
        return next(
            s for s in walk(vectorizable(fn).body) if isinstance(s, For) and s.label == "M"
        ).vectorizable

    same, next_ = "add %i 0", "add %i 1"
    assert found("q", "p", "%p %q", next_)
    assert not found("q", "p", "%q %p", next_)  # each may be the other one
    assert found("q", "p", "%q %p", same)
    assert found("q", "c", "%q %c", next_)  # was there before `c`
    assert found("c", "q", "%q %c", next_)
    assert not found("p", "q", "%q %c", next_)


def test_marks_that_are_wrong_are_found() -> None:
    """The interpreter checks them: corpus programs are checked like this."""
    x = np.arange(6.0)
    for read, write in (("%a[%k]", "%a[%i]"), ("%a[%i]", "%a[%k]"), ("%x[%i]", "%a[0]")):
        text = str(_loop(read, write)).replace("for L", "vectorizable for L")
        with pytest.raises(IRError, match="are not independent"):
            run(parse(text), (x, 4))
    right = parse(str(_loop("%x[%k]", "%a[%i]")).replace("for L", "vectorizable for L"))
    assert "vectorizable for L" in str(right)
    np.testing.assert_array_equal(run(right, (x, 4))[0][:4], x[1:5])


RECURRENCE = """
fn f(%x: f64[:], %n: int) -> f64[:] {
  %a = copy %x
  %m = dim[0] %x
  %c = empty[f64] %m
  for L %i DOWN %n {
    %k = add %i 1
    %t = load %a[%FROM]
    %d = mul %t 0.5
    write %a[%FROM] 1.0:f64
    MIDDLE
    increase %a[%TO] %d
    LAST
  }
  return %a
}
"""


@pytest.mark.parametrize("down", ["down from", "in 0 to"])
@pytest.mark.parametrize(
    ("middle", "last", "handed"),
    [
        ("", "", 1),
        ("%e = load %a[0]", "", 1),
        ("%e = load %c[0]", "", 1),
        ("write %c[0] 1.0:f64", "write %c[0] 2.0:f64", 1),
        ("%e = load %a[%i]", "%e.1 = load %a[%k]", 1),
        ("write %a[%k] %d", "write %a[%i] %d", 1),
        ("write %a[0] %d", "", 1),
        ("", "write %a[0] %d", 0),
    ],
)
def test_elements_are_handed_on(down: str, middle: str, last: str, handed: int) -> None:
    ends = ("k", "i") if down.startswith("down") else ("i", "k")
    text = RECURRENCE.replace("DOWN", down).replace("MIDDLE", middle).replace("LAST", last)
    fn = parse(text.replace("%FROM", f"%{ends[0]}").replace("%TO", f"%{ends[1]}"))
    found = scalar_replacement(fn)
    (loop,) = [stmt for stmt in walk(found.body) if isinstance(stmt, For)]
    assert len(loop.body.params) == handed
    x = np.linspace(0.5, 2.0, 7)
    for trips in (0, 1, 2, 5):
        (want,), (got,) = (run(each, (x.copy(), trips)) for each in (fn, found))
        np.testing.assert_array_equal(got, want)


def test_shared_arrays_are_left_alone() -> None:
    """There may be an alias."""
    text = """
    fn f(%x: f64[:], %n: int) -> f64[:] {
      %a = copy %x
      %b = copy %x
      %p.2, %q.2 = for L %l in 0 to %n carrying (%p = %a, %q = %b) {
        for M %i in 0 to %n {
          %k = add %i 1
          %t = load %p[%i]
          MORE
          write %p[%k] %t
        }
        yield %q %p
      }
      return %p.2
    }
    """

    def carried(more: str) -> int:
        found = scalar_replacement(parse(text.replace("MORE", more)))
        loops = [s for s in walk(found.body) if isinstance(s, For) and s.label == "M"]
        return len(loops[0].body.params)

    assert carried("") == 1
    assert carried("write %q[%i] %t") == 0


def test_gradients_by_registers() -> None:
    def sweep(a: np.ndarray) -> float:
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j]) / 5.0
        return float(np.sum(a * a))

    gradient = adc.grad(sweep)
    rng = np.random.default_rng(3)
    for shape in ((2, 2), (3, 3), (3, 9), (9, 3), (5, 2), (2, 5), (7, 8)):
        a = rng.normal(size=shape)
        found = gradient(a)
        for place in np.ndindex(shape):
            step = np.zeros(shape)
            step[place] = 1e-6
            want = (sweep(a + step) - sweep(a - step)) / 2e-6
            assert abs(found[place] - want) < 1e-7
