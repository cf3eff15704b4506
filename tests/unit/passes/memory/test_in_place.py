"""Callees return no array that they were passed; results that are numbers stay."""

from __future__ import annotations

from adc.ir.core import Call, walk
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory.in_place import in_place

TEXT = """
fn number() -> f64 {
  return 2.0:f64
}

fn filled(%a: f64[:]) -> f64, f64[:] {
  write %a[0] 1.0:f64
  return 2.0:f64 %a
}

fn f(%n: int) -> f64 {
  %x = full[f64] 0.0:f64 %n
  %s = call C0 number()
  %t, %x.1 = call C1 filled(%x)
  write %x.1[1] %t
  %u = load %x.1[0]
  %v = add %s %u
  return %v
}"""


def test_results() -> None:
    made = verify(in_place(verify(parse(TEXT))))
    assert [len(callee.results) for callee in made.callees] == [1, 1]
    calls = [stmt for stmt in walk(made.body) if isinstance(stmt, Call)]
    assert [len(call.results) for call in calls] == [1, 1]
