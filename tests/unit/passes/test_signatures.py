"""Parameters and results of functions that nobody needs (`adc.passes.scalar.signatures`)."""

from __future__ import annotations

import numpy as np
import pytest

import adc
from adc.ir.core import Call, Function, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.scalar.signatures import signatures

TEXT = """
fn record(%w: f64, %n: int) -> f64, f64, int, f64 {
  %s = sin %w
  %c = cos %w
  return %w %s 7 %c
}

fn both(%p: f64, %q: f64, %k: int) -> f64, f64 {
  %t = mul %p %q
  return %t %q
}

fn f(%a: f64, %b: f64) -> f64 {
  %kept, %s, %m, %unread = call C0 record(%a, 3)
  %r, %same = call C1 both(%kept, %s, %m)
  %t = add %same %r
  return %t
}
"""
MIRRORED = """
fn g(%x: f64, %y: f64) -> f64, f64 {
  %t = sin %x
  return %t %x
}

fn g.rev(%ct: f64) -> f64 mirrors g {
  %x.r = recall %x
  %c = cos %x.r
  %d = mul %ct %c
  return %d
}

fn f(%a: f64) -> f64, f64 {
  %v, %kept = call C g(%a, 2.0:f64)
  %kept.r = recall %kept
  %d = call C.rev g.rev(%kept.r) mirrors C
  return %v %d
}
"""


def calls(fn: Function) -> dict[str, Call]:
    return {stmt.label: stmt for stmt in walk(fn.body) if isinstance(stmt, Call)}


def names(fn: Function, name: str) -> tuple[list[str], list[str]]:
    (found,) = [each for each in fn.callees if each.name == name]
    return [param.name for param in found.params], [str(result) for result in found.results]


def test_functions_take_and_return_what_is_read() -> None:
    fn = parse(TEXT)
    done = signatures(fn)
    verify(done)
    assert names(done, "record") == (["w"], ["%s"])
    assert names(done, "both") == (["p", "q"], ["%t"])
    assert list(map(str, calls(done)["C1"].args)) == ["%a", "%s"]
    args = (np.float64(0.3), np.float64(2.0))
    assert run(done, args) == run(fn, args)


def test_reverse_code_recalls_the_argument_and_functions_that_it_mirrors_stay() -> None:
    fn = parse(MIRRORED)
    done = signatures(fn)
    verify(done)
    assert done.callees == fn.callees
    assert "recall %a" in str(done)
    assert "recall %kept" not in str(done)


def halves(a: np.ndarray, n: int) -> float:
    total = 0.0
    for k in range(n):
        values, vectors = np.linalg.eigh(a[k])
        total += np.sum(values**2) + vectors[0, 0] ** 2
    return total


@pytest.mark.full
def test_a_factorization_is_kept_once() -> None:
    a = np.random.default_rng(0).standard_normal((5, 3, 3))
    df = adc.grad(halves)
    df(a, 5)
    kept = [entry.bytes for entry in df.plan(a, 5).entries if entry.decision == "kept"]
    assert kept.count("8*a.dim1*a.dim2*n") == 1  # the vectors, but not the matrix
    assert len(kept) == 4
