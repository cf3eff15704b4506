"""What a pass rebuilds without a change stays the same object (`adc.passes.unchanged`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from adc.ir.core import Block, For, Function, If, Mark, Stmt, walk
from adc.ir.text.parser import parse
from adc.ir.walk import map_blocks
from adc.passes.stages import Stage, run
from adc.passes.unchanged import with_unchanged

TEXT = """
fn f(%x: f64[:], %c: bool) -> f64 {
  %n = dim[0] %x
  %s = for L0 %i in 0 to %n carrying (%a = 0.0:f64) {
    %t = load %x[%i]
    %b = if %c {
      %u = sin %t
      yield %u
    } else {
      yield %t
    }
    %a.1 = add %a %b
    yield %a.1
  }
  %r = for L1 %j in 0 to %n carrying (%d = %s) {
    %v = load %x[%j]
    %d.1 = mul %d %v
    yield %d.1
  }
  return %r
}
"""


def rebuilt(fn: Function) -> Function:
    """Return a copy that has blocks and statements around blocks of its own."""

    def block(found: Block) -> Block:
        return Block(found.params, tuple(map(stmt, found.stmts)), found.yields)

    def stmt(found: Stmt) -> Stmt:
        return map_blocks(found, block)

    return replace(fn, body=tuple(map(stmt, fn.body)))


def loops(fn: Function) -> dict[str, For]:
    return {stmt.label: stmt for stmt in walk(fn.body) if isinstance(stmt, For)}


def within(fn: Function, label: str, change: Callable[[For], For]) -> Function:
    body = tuple(
        change(s) if isinstance(s, For) and s.label == label else s for s in rebuilt(fn).body
    )
    return replace(fn, body=body)


def test_a_copy_is_the_original() -> None:
    fn = parse(TEXT)
    copy = rebuilt(fn)
    assert copy is not fn
    assert loops(copy)["L0"] is not loops(fn)["L0"]
    assert with_unchanged(copy, fn) is fn


def test_loops_beside_a_change_stay() -> None:
    fn = parse(TEXT)
    made = with_unchanged(within(fn, "L1", lambda loop: replace(loop, down=True)), fn)
    assert loops(made)["L1"].down
    assert loops(made)["L0"] is loops(fn)["L0"]
    assert loops(made)["L1"].body is loops(fn)["L1"].body


def test_blocks_within_a_change_stay() -> None:
    fn = parse(TEXT)

    def shorter(loop: For) -> For:
        stmts, (last,) = loop.body.stmts, loop.body.yields
        return replace(loop, body=Block(loop.body.params, (*stmts, stmts[0]), (last,)))

    made = with_unchanged(within(fn, "L0", shorter), fn)
    assert len(loops(made)["L0"].body.stmts) == 4
    (old,) = (s for s in walk(fn.body) if isinstance(s, If))
    (new,) = (s for s in walk(made.body) if isinstance(s, If))
    assert new is old


@pytest.mark.parametrize("what", ["mark", "trips", "label"])
def test_what_equality_does_not_see_is_a_change(what: str) -> None:
    fn = parse(TEXT)

    def change(loop: For) -> For:
        if what == "mark":
            return replace(loop, index=replace(loop.index, mark=Mark("save")))
        if what == "trips":
            return replace(loop, trips=replace(loop.trips))
        return replace(loop, label="L7")

    made = with_unchanged(within(fn, "L1", change), fn)
    assert made is not fn
    assert made.body[-1] is not fn.body[-1]


def test_a_pass_is_not_repeated_on_what_it_left() -> None:
    seen: list[Function] = []

    def copies(fn: Function) -> Function:
        seen.append(fn)
        return rebuilt(fn)

    def turns(fn: Function) -> Function:
        return within(fn, "L1", lambda loop: replace(loop, down=not loop.down))

    fn = parse(TEXT)
    copying, turning = Stage("copies", copies), Stage("turns", turns)
    assert run(fn, (copying, copying), verify=False) is fn
    assert seen == [fn]
    run(fn, (copying, turning, copying, copying), verify=False)
    assert len(seen) == 3


def test_a_pass_runs_again_with_other_arguments() -> None:
    seen: list[str] = []

    def keeps(fn: Function, policy: str = "auto") -> Function:
        seen.append(policy)
        return fn

    plain = Stage("keeps", keeps)
    given = replace(plain, given=lambda context: {"policy": "store"})
    run(parse(TEXT), (given, plain, given, plain), verify=False)
    assert seen == ["store", "auto", "store"]
