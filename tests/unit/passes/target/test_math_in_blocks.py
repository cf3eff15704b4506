"""Functions between inner loops: vectorised in blocks, and no bit changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import Apply, For, Function
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.target.math_in_blocks import math_in_blocks

ROWS = """
fn f(%w: f64[:, :], %x: f64[:], %b: f32[:], %z: float) -> f64[:], f64[:, :] {{
  %rows = dim[0] %w
  %columns = dim[1] %w
  %y = empty[f64] %rows
  %a = full[f64] 0.0:f64 %rows %columns
  {loop} L %i {way} %rows {{
    %k = add %i 0
    %c = load %b[%k]
    {first}
    %s.1 = for M %j in 0 to %columns carrying (%s = 0.0:f64) {{
      %t = load %w[%i, %j]
      %u = load %x[%j]
      %p = mul %t %u
      %s.2 = sum %s %p
      yield %s.2
    }}
    %d = cast[f64] %c
    %v = mul %s.1 %d
    %q = {math} %v
    %n = cast[float] %q
    {between}
    write %y[%k] %q
    for N %m in 0 to %columns {{
      %o = mul %n %z
      %g = cast[f64] %o
      write %a[%i, %m] %g
    }}
  }}
  return %y %a
}}
"""


def rows(**changed: str) -> Function:
    plain = {"loop": "for", "way": "in 0 to", "first": "", "between": "", "math": "tanh"}
    return parse(ROWS.format(**{**plain, **changed}))


def args(count: int, columns: int = 3) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    w, x = rng.standard_normal((count, columns)), rng.standard_normal(columns)
    return w, x, rng.standard_normal(count).astype(np.float32), 0.7


def bits(fn: Function, given: tuple[Any, ...]) -> list[bytes]:
    return [np.asarray(each).tobytes() for each in run(fn, given)]


@pytest.mark.parametrize("count", [0, 1, 2, 127, 128, 129, 300])
def test_no_bit_changes(count: int) -> None:
    fn = rows()
    made = verify(math_in_blocks(fn))
    assert str(made) != str(fn)
    assert bits(made, args(count)) == bits(fn, args(count))


def test_parts() -> None:
    """The function is in a loop alone; what is cheap is computed again, the rest is stored."""
    made = math_in_blocks(rows())
    (blocks,) = [stmt for stmt in made.body if isinstance(stmt, For)]
    parts = [stmt for stmt in blocks.body.stmts if isinstance(stmt, For)]
    names = [
        [s.op.name for s in part.body.stmts if isinstance(s, Apply)] for part in parts
    ]  # fmt: skip
    assert [any(isinstance(s, For) for s in part.body.stmts) for part in parts] == [1, 0, 1]
    assert "tanh" in names[1]
    assert "add" in names[1]  # its index, which is computed again
    assert "cast" not in names[0]
    lanes = [s for s in made.body if isinstance(s, Apply) and s.results[0].name.endswith("lane")]
    assert [each.results[0].name for each in lanes] == ["s.1.lane", "n.lane"]


REFUSED: dict[str, dict[str, str]] = {
    "cheap": {"math": "neg"},
    "exact": {"math": "sqrt"},
    "down": {"way": "down from"},
    "parallel": {"loop": "parallel for"},
    "a check": {"between": "%ok = lt %q 2.0:f64\n    check %ok ValueError \"large\""},
    "an array": {"first": "%local = empty[f64] %columns"},
    "another iteration's element": {"between": "%e = load %y[0]\n    write %y[1] %e"},
    "a tape": {"between": "push %q"},
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_stays_as_it_is(case: str) -> None:
    fn = rows(**REFUSED[case])
    assert math_in_blocks(fn) == fn


def test_short_loops_stay() -> None:
    text = str(rows()).replace("%rows {", "15 {")
    assert math_in_blocks(parse(text)) == parse(text)
    assert math_in_blocks(parse(text.replace("15 {", "16 {"))) != parse(text)


def test_an_element_that_a_part_has_changed_is_not_read_again() -> None:
    """`%c` is read before the inner loop, which changes its array."""
    fn = rows(first="%old = load %a[%i, 0]\n    write %a[%i, 0] 3.0:f64", math="exp")
    text = str(fn).replace("mul %s.1 %d", "mul %s.1 %old")
    fn = parse(text)
    made = verify(math_in_blocks(fn))
    assert made != fn
    assert bits(made, args(200)) == bits(fn, args(200))


def layer(w: Any, x: Any) -> Any:
    return np.tanh(w @ x)


def logistic(w: Any, x: Any) -> Any:
    return np.log(1.0 + np.exp(w @ x))


@pytest.mark.full
@pytest.mark.parametrize("shape", [(300, 20), (17, 3)])
def test_compiled(shape: tuple[int, int]) -> None:
    w, x = np.sin(np.arange(shape[0] * shape[1])).reshape(shape), np.cos(np.arange(shape[1]))
    value, batch = adc.jit(layer), adc.vmap(adc.grad(logistic), (None, 0))
    np.testing.assert_allclose(value(w, x), layer(w, x), rtol=1e-13)
    slopes = 1.0 / (1.0 + np.exp(-(w @ x)))
    np.testing.assert_allclose(batch(x, w), slopes[:, None] * w, rtol=1e-13)
    for text in (
        value.ir(w, x, after="math_in_blocks"),
        batch.ir(x, w, after="math_in_blocks"),
    ):
        assert ".part" in text
