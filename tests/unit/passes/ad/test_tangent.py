"""Forward mode in the IR: against differences, over reverse mode, and of itself."""

from __future__ import annotations

import numpy as np
import pytest

from adc.ir.core import Call, Check, Print, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent
from tests.corpus.ir_cases import CASES, Case, difference, directions

each = pytest.mark.parametrize("case", CASES, ids=str)


@each
def test_tangent_agrees_with_differences(case: Case) -> None:
    fn = case.function()
    jvp = verify(tangent(fn, case.wrt))
    assert parse(str(jvp)) == jvp
    along = directions(case)
    results = run(jvp, [*case.args, *along])
    primal = run(fn, case.args)
    for found, expected in zip(results, primal, strict=False):
        assert np.array_equal(found, expected)
    expected = difference(fn, case, along)
    floats = [k for k, result in enumerate(fn.results) if result.type.kind == "f"]
    for k, dot in zip(floats, results[len(primal) :], strict=True):
        np.testing.assert_allclose(dot, expected[k], rtol=1e-7, atol=1e-8)


@each
def test_tangent_of_the_adjoint_gives_hessian_products(case: Case) -> None:
    grad = adjoint(case.function(), case.wrt)
    hvp = verify(tangent(grad, case.wrt))
    assert parse(str(hvp)) == hvp
    along = directions(case)
    results = run(hvp, [*case.args, *along])
    expected = difference(grad, case, along)[len(grad.results) - len(case.wrt) :]
    found = results[len(results) - len(case.wrt) :]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.sampled(4)
@each
def test_tangent_of_the_tangent_gives_third_derivatives(case: Case) -> None:
    hvp = tangent(adjoint(case.function(), case.wrt), case.wrt)
    third = verify(tangent(hvp, case.wrt))
    assert parse(str(third)) == third
    along = directions(case)
    again = directions(case, seed=1)
    results = run(third, [*case.args, *along, *again])
    expected = difference(hvp, case, again, tuple(along))[len(hvp.results) - len(case.wrt) :]
    found = results[len(results) - len(case.wrt) :]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@each
def test_tangents_with_respect_to_one_parameter(case: Case) -> None:
    fn = case.function()
    for k in case.wrt:
        alone = Case(case.name, case.text, case.args, (k,))
        along = directions(alone)
        found = run(verify(tangent(fn, (k,))), [*case.args, *along])[len(fn.results)]
        np.testing.assert_allclose(found, difference(fn, alone, along)[0], rtol=1e-7, atol=1e-8)


def test_values_that_do_not_vary_have_no_tangent() -> None:
    fn = parse("""
fn g(%k: f64) -> f64 {
  %m = sin %k
  return %m
}

fn f(%x: f64, %c: f64) -> f64 {
  %u = call C g(%c)
  %s = for L %i in 0 to 3 carrying (%a = %u) {
    %b = mul %a %c
    yield %b
  }
  %r = mul %s %x
  return %r
}""")
    jvp = tangent(fn, (0,))
    assert [callee.name for callee in jvp.callees] == ["g"]
    assert len(jvp.body) == len(fn.body) + 1
    assert [str(param) for param in jvp.params] == ["%x", "%c", "%x.dot"]


def test_callees_get_tangents() -> None:
    case = next(case for case in CASES if case.name == "recursive_sum")
    hvp = tangent(adjoint(case.function(), (0,)), (0,))
    assert [callee.name for callee in hvp.callees] == ["sines.dot", "sines.rev.dot"]
    assert hvp.callees[1].mirror == "sines.dot"
    calls = [stmt.callee for stmt in walk(hvp.body) if isinstance(stmt, Call)]
    assert calls == ["sines.dot", "sines.rev.dot"]


def test_a_function_that_mirrors_one_without_tangents() -> None:
    # Only the cotangents vary: the callee stays, its reverse function gets tangents.
    case = next(case for case in CASES if case.name == "recursive_sum")
    vjp = adjoint(case.function(), (0,), seed=False)
    dot = verify(tangent(vjp, (1,)))
    assert [callee.name for callee in dot.callees] == ["sines", "sines.rev.dot"]
    assert dot.callees[1].mirror == "sines"
    x = case.args[0]
    results = run(dot, (x, 1.0, 2.5))
    np.testing.assert_allclose(results[3], 2.5 * results[1], rtol=1e-12)


def test_the_suffix_names_the_tangents() -> None:
    fn = parse("fn f(%x: f64) -> f64 {\n  %y = sin %x\n  return %y\n}")
    jvp = tangent(fn, (0,), suffix=".along")
    assert jvp.name == "f.along"
    assert [str(value) for value in (*jvp.params, *jvp.results)] == [
        "%x", "%x.along", "%y", "%y.along",
    ]  # fmt: skip


def test_checks_and_prints_stay() -> None:
    fn = parse("""
fn f(%x: f64) -> f64 {
  %c = gt %x 0.0:f64
  check %c ValueError "x is {}" %x
  print "{}" %x
  %y = mul %x %x
  return %y
}""")
    made = verify(tangent(fn, (0,)))
    assert run(made, (3.0, 1.0)) == (9.0, 6.0)
    assert [type(stmt) for stmt in walk(made.body)].count(Check) == 1
    assert [type(stmt) for stmt in walk(made.body)].count(Print) == 1
