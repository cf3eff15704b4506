"""Gradients by reverse mode, in the IR: against differences, and against forward mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adc.ir.analysis.activity import ENTRY, active, analyse, dependent, varied
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import Apply, Call, Gemm, Recall, Reverse, Store, Value, walk
from adc.ir.errors import (
    IntegerArgumentError,
    IRError,
    NonScalarError,
    NotDifferentiableError,
    Span,
)
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.types import Array, Scalar
from adc.ir.verifier import verify
from adc.ir.walk import Names, defined
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent
from tests.corpus.ir_cases import CASES, X4, Case, difference, directions, inner
from tests.fuzz.ir_random import random_case

each = pytest.mark.parametrize("case", CASES, ids=str)
any_program = pytest.mark.parametrize("case", [random_case(k) for k in range(20)], ids=str)


@each
def test_gradient_agrees_with_differences(case: Case) -> None:
    fn = case.function()
    grad = verify(adjoint(fn, case.wrt))
    results = run(grad, case.args)
    for found, expected in zip(results, run(fn, case.args), strict=False):
        assert np.array_equal(found, expected)
    cotangents = results[len(fn.results) :]
    for seed in range(3):
        along = directions(case, seed)
        expected = difference(fn, case, along)[0]
        found = sum(inner(a, b) for a, b in zip(cotangents, along, strict=True))
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


@each
def test_printed_adjoint_parses_back(case: Case) -> None:
    grad = adjoint(case.function(), case.wrt)
    assert parse(str(grad)) == grad
    assert adjoint(case.function(), case.wrt) == grad


@each
def test_cotangents_have_the_shape_of_the_parameters(case: Case) -> None:
    fn = case.function()
    grad = adjoint(fn, case.wrt)
    values = run(grad, case.args)[len(fn.results) :]
    for k, value, result in zip(case.wrt, values, grad.results[len(fn.results) :], strict=True):
        ty = fn.params[k].type
        assert np.shape(value) == np.shape(case.args[k])
        assert result.type == (
            Array(ty.dtype, ty.rank) if isinstance(ty, Array) else Scalar(ty.dtype)
        )


@each
def test_vjp_is_the_transpose_of_jvp(case: Case) -> None:
    fn = case.function()
    vjp = verify(adjoint(fn, case.wrt, seed=False))
    jvp = verify(tangent(fn, case.wrt))
    assert parse(str(vjp)) == vjp
    along = directions(case)
    forward = run(jvp, [*case.args, *along])[len(fn.results) :]
    rng = np.random.default_rng(5)
    cts = [np.asarray(rng.uniform(-1, 1, np.shape(dot)))[()] for dot in forward]
    backward = run(vjp, [*case.args, *cts])[len(fn.results) :]
    left = sum(inner(a, b) for a, b in zip(cts, forward, strict=True))
    right = sum(inner(a, b) for a, b in zip(backward, along, strict=True))
    assert left == pytest.approx(right, rel=1e-12, abs=1e-13)


@pytest.mark.sampled(4)
@each
def test_vjp_of_the_tangent_gives_hessian_products(case: Case) -> None:
    # Reverse over forward must agree with forward over reverse.
    fn = case.function()
    along = directions(case)
    jvp = tangent(fn, case.wrt)
    over = verify(adjoint(jvp, case.wrt, seed=False))
    outputs = [result for result in jvp.results if result.type.kind == "f"]
    dots = run(jvp, [*case.args, *along])
    cts: list[Any] = [
        np.zeros(np.shape(dot)) for dot, r in zip(dots, jvp.results, strict=True)
        if r.type.kind == "f"
    ]  # fmt: skip
    cts[len(outputs) // 2] = 1.0
    found = run(over, [*case.args, *along, *cts])[len(jvp.results) :]
    hvp = run(tangent(adjoint(fn, case.wrt), case.wrt), [*case.args, *along])
    expected = hvp[len(hvp) - len(case.wrt) :]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.sampled(6)
@any_program
def test_random_programs(case: Case) -> None:
    test_gradient_agrees_with_differences(case)
    test_printed_adjoint_parses_back(case)
    test_vjp_is_the_transpose_of_jvp(case)
    test_vjp_of_the_tangent_gives_hessian_products(case)


# --- what the reverse code looks like -------------------------------------------------------------


def by_name(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def reverse_code(case: Case, wrt: tuple[int, ...] | None = None) -> list[object]:
    fn = case.function()
    grad = adjoint(fn, case.wrt if wrt is None else wrt)
    # The forward code stays in front, but for `dim` statements that it may gain.
    first = next(k for k, stmt in enumerate(grad.body) if isinstance(stmt, Recall | Reverse))
    return list(walk(grad.body[first:]))


def test_only_what_rules_need_is_recalled() -> None:
    stmts = reverse_code(by_name("sum_of_sines"), wrt=(1,))
    recalled = {stmt.value.name for stmt in stmts if isinstance(stmt, Recall)}
    assert recalled == {"s", "w", "t", "v"}
    assert not any(isinstance(stmt, Store) for stmt in stmts)


def test_a_sum_carries_no_cotangent() -> None:
    (loop,) = (s for s in reverse_code(by_name("sum_of_sines")) if isinstance(s, Reverse))
    assert [param.name for param in loop.body.params] == ["x.ct", "w.ct.1"]


def test_the_mirrored_index_is_used_and_not_recalled() -> None:
    case = by_name("triangular_loops")
    recalled = {s.value.name for s in reverse_code(case) if isinstance(s, Recall)}
    assert not recalled & {"i", "j"}


def test_array_cotangents_grow_in_place() -> None:
    # Neither a copy nor an addition of whole arrays in any of these loops and calls.
    for name in ("sum_of_sines", "triangular_loops", "recursive_sum", "in_place_recurrence",
                 "break_flags", "outer_array_in_nested_loops", "matrix_times_itself"):  # fmt: skip
        fn = adjoint(by_name(name).function(), (0,))
        bodies = [callee.body for callee in fn.callees]
        bodies += [stmt.body.stmts for stmt in fn.body if isinstance(stmt, Reverse)]
        for stmt in (stmt for body in bodies for stmt in walk(body)):
            assert not (isinstance(stmt, Apply) and isinstance(stmt.result.type, Array)), name


def test_arrays_are_not_recalled_for_their_shape() -> None:
    for case in CASES:
        fn = adjoint(case.function(), case.wrt)
        for each in (*fn.callees, fn):
            stmts = list(walk(each.body))
            if not any(isinstance(s, Gemm) or (isinstance(s, Apply) and s.op.name == "mul" and
                       isinstance(s.result.type, Array)) for s in stmts):  # fmt: skip
                recalled = [stmt.value for stmt in stmts if isinstance(stmt, Recall)]
                assert not any(isinstance(value.type, Array) for value in recalled), case.name


def test_a_parameter_gets_a_dim_statement_only_if_needed() -> None:
    text = "fn f(%x: f64[:]) -> f64 {\n  %v = load %x[0]\n  return %v\n}"
    first = adjoint(parse(text), (0,)).body[0]
    assert isinstance(first, Apply)
    assert str(first.result) == "%x.dim0"
    grad = adjoint(by_name("sum_of_sines").function(), (0,))
    assert sum(isinstance(s, Apply) and s.op.name == "dim" for s in walk(grad.body)) == 1


def test_sizes_of_arrays_are_followed_through_loops_and_branches() -> None:
    for name, array, expected in (
        ("swapped_arrays", "p", "n"),
        ("in_place_recurrence", "y", "n"),
        ("arrays_in_arms", "d", "a.dim0"),
        ("matrix_times_itself", "c.7", "n m"),
        # Sizes that change belong to the array itself.
        ("arrays_of_changing_shape", "y", "y.dim0"),
        ("arrays_of_changing_shape", "a", "n"),
        ("fresh_arrays_in_arms", "a", "a.dim0"),
    ):
        fn = by_name(name).function()
        value = next(value for value in defined(fn) if value.name == array)
        sizes = Shapes(fn, Names.of(fn)).dims(value)
        assert " ".join(str(size)[1:] for size in sizes) == expected, name


def test_calls_are_mirrored() -> None:
    grad = adjoint(by_name("recursive_sum").function(), (0,))
    assert [callee.name for callee in grad.callees] == ["sines", "sines.rev"]
    assert grad.callees[1].mirror == "sines"
    calls = [stmt for stmt in walk(grad.body) if isinstance(stmt, Call)]
    assert [(c.callee, c.mirror) for c in calls] == [("sines", ""), ("sines.rev", "C")]


def test_inactive_calls_are_not_mirrored() -> None:
    text = """
fn g(%k: int) -> int {
  %m = add %k 1
  return %m
}

fn f(%x: f64, %k: int) -> f64 {
  %m = call C g(%k)
  %u = cast[f64] %m
  %r = mul %u %x
  return %r
}"""
    grad = adjoint(parse(text), (0,))
    assert [callee.name for callee in grad.callees] == ["g"]
    assert run(verify(grad), (0.5, 2)) == (1.5, 3.0)


def test_activity_of_the_example() -> None:
    fn = parse("""
fn f(%x: f64, %c: f64) -> f64 {
  %k = mul %c 2.0
  %n = floor %x
  %a = mul %x %k
  %b = sin %a
  return %a
}""")
    assert {value.name for value in active(fn, (0,))} == {"x", "a"}
    assert {value.name for value in active(fn, (0, 1))} == {"x", "c", "k", "a"}
    assert active(fn, ()) == frozenset()


def test_activity_of_a_chain_of_calls() -> None:
    count = 20
    text = "".join(
        f"fn g{k}(%x: f64) -> f64 {{\n  %y = sin %x\n  return %y\n}}\n\n" for k in range(count)
    )
    text += "fn f(%v0: f64) -> f64 {\n"
    text += "".join(f"  %v{k + 1} = call C{k} g{k}(%v{k})\n" for k in range(count))
    text += f"  return %v{count}\n}}"
    assert len(active(parse(text), (0,))) == count + 1


def test_what_is_recalled_depends_on_what_it_was() -> None:
    text = """
fn f(%x: f64, %n: int) -> f64 {
  %r = for L %k in 0 to %n carrying (%a = %x) {
    %b = sin %a
    yield %b
  }
  return %r
}"""
    grad = adjoint(parse(text), (0,))
    found = varied(grad, (0,))[ENTRY]
    recalls = [stmt for stmt in walk(grad.body) if isinstance(stmt, Recall)]
    assert any(stmt.value.name == "a" for stmt in recalls)
    assert all((stmt.result in found) == (stmt.value in found) for stmt in recalls)


def test_what_a_library_fills_depends_on_all_that_it_is_given() -> None:
    fn = parse("""
fn filled(%x: f64) -> f64 routine potrf {
  return 0.0:f64
}

fn f(%x: f64) -> f64 {
  %y = call C0 filled(%x)
  return %y
}""")
    assert {value.name for value in dependent(fn, (0,))[ENTRY]} == {"x", "y"}
    assert {value.name for value in varied(fn, (0,))[ENTRY]} == {"x"}


def test_float32() -> None:
    text = "fn f(%x: f32[:]) -> f32 {\n  %v = load %x[1]\n  %s = sin %v\n  return %s\n}"
    grad = verify(adjoint(parse(text), (0,)))
    _, ct = run(grad, [X4.astype(np.float32)])
    assert ct.dtype == np.float32
    assert ct == pytest.approx([0, np.cos(X4[1]), 0, 0], rel=1e-6)


def test_loops_that_count_down() -> None:
    text = """
fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %s = for L %i down from %n carrying (%a = 1.0:f64) {
    %v = load %x[%i]
    %t = mul %a %v
    %u = sin %t
    yield %u
  }
  return %s
}"""
    case = Case("down", text, (X4,), (0,))
    ct = run(verify(adjoint(case.function(), (0,))), (X4,))[1]
    along = directions(case)
    assert inner(ct, along[0]) == pytest.approx(difference(case.function(), case, along)[0])


# --- refusals -------------------------------------------------------------------------------------


def test_operations_without_a_rule_are_refused_with_their_line() -> None:
    fn = parse("fn f(%x: f64) -> f64 {\n  %y = nextafter %x %x\n  return %y\n}")
    (stmt,) = fn.body
    assert isinstance(stmt, Apply)
    span = Span("user.py", 7)
    fn = fn.with_body((Apply(stmt.results, stmt.op, stmt.args, loc=span),), fn.results)
    for transform in (adjoint, tangent):
        with pytest.raises(NotDifferentiableError, match="nextafter") as caught:
            transform(fn, (0,))
        assert caught.value.span == span


def test_operations_without_a_rule_may_stand_off_the_path() -> None:
    fn = parse("""
fn f(%x: f64, %c: f64) -> f64 {
  %g = nextafter %c 3.0:f64
  %u = nextafter %x 3.0:f64
  %y = mul %x %g
  return %y
}""")
    assert run(adjoint(fn, (0,)), (0.5, 3.0))[1] == 3.0


def test_bad_requests() -> None:
    fn = parse("fn f(%x: f64, %k: int, %a: f64[:]) -> f64[:] {\n  return %a\n}")
    with pytest.raises(NonScalarError):
        adjoint(fn, (0,))
    with pytest.raises(IntegerArgumentError):
        adjoint(fn, (1,), seed=False)
    with pytest.raises(IntegerArgumentError):
        tangent(fn, (1,))


def test_reverse_code_is_not_differentiated_in_reverse() -> None:
    case = by_name("sum_of_sines")
    grad = adjoint(case.function(), (0,))
    with pytest.raises(IRError, match="reverse"):
        adjoint(grad, (0,), seed=False)
    # It may be off the path.
    _, first, second = run(verify(adjoint(grad, (0,))), case.args)
    assert np.array_equal(first, second)


def test_results_that_are_no_floats_have_zero_cotangents() -> None:
    fn = parse("fn f(%x: f64, %a: f64[:], %k: int) -> int {\n  %m = add %k 1\n  return %m\n}")
    _, x, a = run(verify(adjoint(fn, (0, 1))), (0.5, X4, 3))
    assert x == 0.0
    assert np.array_equal(a, np.zeros(4))


def test_parameters_keep_their_places() -> None:
    fn = by_name("auxiliary_results").function()
    vjp = adjoint(fn, (1,), seed=False)
    assert vjp.params[:2] == fn.params
    assert [str(param) for param in vjp.params[2:]] == ["%ct0", "%ct1", "%ct2"]
    assert all(isinstance(result, Value) for result in vjp.results[-1:])


# A call that is always differentiated: of `again`, whose rule doubles.
ALWAYS = """
fn again(%x: f64) -> f64 rule always vjp(again.record, again.reverse, 0) {
  return %x
}

fn again.record(%x: f64) -> f64 rule always recorded(again.reverse, 1, 0) {
  %y = call C0 again(%x)
  return %y
}

fn again.reverse(%ct: f64) -> f64 {
  %ct.1 = mul %ct 2.0:f64
  return %ct.1
}

fn f(%x: f64, %c: f64, %on: b1) -> f64 {
  %z = if %on {
    %y = call C0 again(%c)
    yield %y
  } else {
    yield %c
  }
  %end = call C1 again(%z)
  %r = mul %x %x
  return %r
}
"""


def test_a_call_that_is_always_differentiated() -> None:
    fn = parse(ALWAYS)
    assert parse(str(fn)) == fn
    grad = verify(adjoint(fn, [0]))
    # Nothing depends on `c`, and `r` on nothing that `again` returns.
    names = [stmt.callee for stmt in walk(grad.body) if isinstance(stmt, Call)]
    assert names.count("again.record") == 2
    # From the first call on, derivatives flow: that of the last is there, though nothing needs it.
    assert "again.reverse" in names
    marks = analyse(fn, (0,)).active
    assert {value.name for value in marks[ENTRY]} == {"x", "r", "y", "z"}
    assert not marks["again.record"]  # where a rule calls it, it is as others are
    without = parse(ALWAYS.replace(" always", ""))
    plain = adjoint(without, [0])
    assert not any(isinstance(s, Call) and "reverse" in s.callee for s in walk(plain.body))
    assert run(grad, [3.0, 1.0, True]) == run(plain, [3.0, 1.0, True])


def test_the_tangent_of_a_call_that_is_always_differentiated() -> None:
    dot = """
fn again.dot(%x: f64, %dot: f64) -> f64, f64 {
  return %x %dot
}
"""
    fn = parse(dot + ALWAYS.replace("again.reverse, 0)", "again.reverse, again.dot, 0)"))
    names = [s.callee for s in walk(tangent(fn, [0]).body) if isinstance(s, Call)]
    assert names == ["again.dot", "again.dot"]
