"""Loops that count in different directions are merged where iterations are independent."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import For, Function, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.loops.fuse import _Fuser, fuse

X = np.sin(np.arange(1.0, 8.0))

TWO = """
fn f(%x: f64[:]) -> f64[:], f64 {{
  %n = dim[0] %x
  %z = full[f64] 1.0:f64 %n
  %o = full[f64] 2.0:f64 %n
  %a.2{extra} = for L %i {first} %n carrying (%a.1 = %z{carried}) {{
    %t = load %x[%i]
    {body}
    %b = store %a.1[%i] %t.1
    yield %b{yielded}
  }}
  %c.2, %s.2 = for M %k {second} %n carrying (%c.1 = %o, %s = 0.0:f64) {{
    %v = load %a.2[%k]
    {other}
    %d = store %c.1[%k] %w
    yield %d %s.1
  }}
  return %c.2 %s.2
}}
"""
UP, DOWN = "in 0 to", "down from"


def two(first: str, second: str, *, serial: bool = False, adds: bool = False) -> Function:
    """Return two loops; the first one may be a recurrence, the second one may add up.

    If both are `serial`, the order of the sum counts.
    """
    body, extra, carried, yielded = "%t.1 = mul %t %t", "", "", ""
    if serial:
        body = "%t.1 = mul %r %t\n    %r.1 = add %t.1 1.0:f64"
        extra, carried, yielded = ", %r.2", ", %r = 0.5:f64", " %r.1"
    other = "%w = mul %v 3.0:f64\n    %s.1 = sum %s 0.0:f64"
    if adds:
        other = f"%w = mul %v 3.0:f64\n    %s.1 = {'add' if serial else 'sum'} %s %w"
    return parse(
        TWO.format(
            first=first, second=second, body=body, extra=extra, carried=carried, yielded=yielded,
            other=other,
        )
    )  # fmt: skip


def loops(fn: Function) -> list[For]:
    return [stmt for stmt in walk(fn.body) if isinstance(stmt, For)]


def bits(fn: Function) -> list[bytes]:
    return [np.asarray(each).tobytes() for each in run(fn, [X])]


@pytest.mark.parametrize(
    ("ways", "serial", "down"),
    [
        ((UP, UP), False, False),
        ((DOWN, DOWN), False, True),
        ((DOWN, UP), False, False),
        ((UP, DOWN), False, True),
        ((DOWN, UP), True, None),
        ((UP, DOWN), True, None),
    ],
)
def test_directions(ways: tuple[str, str], serial: bool, down: bool | None) -> None:
    fn = two(*ways, serial=serial, adds=True)
    made = verify(fuse(fn))
    assert bits(made) == bits(fn)
    assert [loop.down for loop in loops(made)] == (
        [way == DOWN for way in ways] if down is None else [down]
    )


def test_independent_loops_count_up() -> None:
    text = str(two(DOWN, UP))
    text = text.replace(", %s.2 = for M", " = for M").replace(", %s = 0.0:f64", "")
    text = text.replace("    %s.1 = sum %s 0.0:f64\n", "").replace("yield %d %s.1", "yield %d")
    fn = parse(text.replace("return %c.2 %s.2", "return %c.2").replace("f64[:], f64 {", "f64[:] {"))
    made = verify(fuse(fn))
    assert bits(made) == bits(fn)
    assert [loop.down for loop in loops(made)] == [False]


@pytest.mark.parametrize("ways", [(DOWN, UP), (UP, DOWN)])
def test_a_recurrence_that_is_taken_to_be_independent(
    ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above notice it."""
    monkeypatch.setattr(_Fuser, "is_free", lambda self, loop: True)
    fn = two(*ways, serial=True, adds=True)
    assert bits(fuse(fn)) != bits(fn)


COLUMNS = """
fn f(%x: f64[:]) -> f64, f64[:, :] {{
  %n = dim[0] %x
  %z = full[f64] 1.0:f64 %n 2
  %a.2 = for L %i in 0 to %n carrying (%a.1 = %z) {{
    %t = load %x[%i]
    %u = sin %t
    %b = store %a.1[%i, 0] %u
    yield %b
  }}
  %s.2 = for M %k in 0 to %n carrying (%s = 0.0:f64) {{
    %v = load %a.2[%k, {column}]
    %s.1 = sum %s %v
    yield %s.1
  }}
  return %s.2 %a.2
}}
"""


@pytest.mark.parametrize(("column", "left"), [(0, 1), (1, 2)])
def test_loops_that_meet_in_a_column(column: int, left: int) -> None:
    """Nothing is gained if the second loop reads a column that the first one does not write."""
    fn = verify(parse(COLUMNS.format(column=column)))
    made = verify(fuse(fn))
    assert bits(made) == bits(fn)
    assert len(loops(made)) == left


@pytest.mark.full
def test_rows_of_a_batch_are_written_where_they_belong() -> None:
    """Reverse code counts down; the loop that copies a gradient into its row counts up."""

    def logistic(w: Any, x: Any) -> Any:
        return np.log(1.0 + np.exp(w @ x))

    found = adc.vmap(adc.grad(logistic), (None, 0))
    w, x = X[:3], np.sin(np.arange(12.0)).reshape(4, 3)
    np.testing.assert_allclose(found(w, x), [adc.grad(logistic)(w, row) for row in x])
    text = found.ir(w, x, after="storage")
    assert "down from" not in text
    assert text.count("empty[f64]") == 1


def _appended(x: Any, w: Any) -> Any:
    states = [np.zeros(3)]
    for k in range(len(x)):
        states.append(np.tanh(w @ states[-1] + x[k]))
    return np.sum(np.array(states))


def _filled(x: Any, w: Any) -> Any:
    states: list[Any] = [None] * (len(x) + 1)
    states[0] = x[0]
    for k in range(len(x)):
        states[k + 1] = np.tanh(w @ states[k] + x[k])
    return np.sum(np.array(states))


def _keyed(x: Any, w: Any) -> Any:
    states = {-1: x[0]}
    for k in range(len(x)):
        states[k] = np.tanh(w @ states[k - 1] + x[k])
    return np.sum(states[len(x) - 1])


@pytest.mark.parametrize("fn", [_appended, _filled, _keyed])
@pytest.mark.parametrize("argnum", [0, 1])
def test_lists_are_not_copied_in_each_iteration(fn: Any, argnum: int) -> None:
    """A loop that reads a list stays before the branch that may replace it by a larger one.

    Behind it, it would need what the list was before: a copy of all of it. Nor does reverse code
    keep the list of each iteration: the front end copies the array that is read from it.
    """
    code = adc.grad(fn, argnums=argnum, target="python")
    code(np.ones((4, 3)), np.ones((3, 3)))
    loops = code.source().partition("for k")[2]
    assert "copy_into(" not in loops
    assert not re.search(r"fresh\(.*\.shape", loops)
    assert "[i0, i1]" not in loops
