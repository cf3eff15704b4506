"""What reverse code recalls is needed in the function that it mirrors, and in no other."""

from __future__ import annotations

from adc.ir.core import If, walk
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.scalar.dce import dce

# A value of `second` has the name of one that the reverse code of `first` recalls.
TEXT = """
fn first(%x: f64) -> f64 {
  %t = mul %x 2.0:f64
  %u = mul %t %t
  return %u
}

fn second(%x: f64[:]) -> f64 {
  %s = load %x[0]
  %c = lt %s 0.5:f64
  if %c {
    %t = load %x[1]
  }
  return %s
}

fn first.rev(%u.ct: f64) -> f64 mirrors first {
  %t.r = recall %t
  %x.ct = mul %u.ct %t.r
  return %x.ct
}

fn f(%x: f64[:]) -> f64 {
  %s = call C0 second(%x)
  %u = call C1 first(%s)
  %s.ct = call C1.rev first.rev(%u) mirrors C1
  return %s.ct
}"""


def test_names_of_other_functions() -> None:
    first, second, *_ = verify(dce(verify(parse(TEXT)))).callees
    assert not any(isinstance(stmt, If) for stmt in walk(second.body))
    assert len(first.body) == 2
