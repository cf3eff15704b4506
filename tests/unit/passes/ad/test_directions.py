"""Several directions at once: each as alone, for the whole corpus, and in the public functions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.builder import integer
from adc.ir.core import Apply, Block, For, Function, Load, Stmt, Value, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.ir.walk import map_blocks
from adc.passes import pipeline
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.directions import DirectionsError, directions
from adc.passes.ad.tangent import tangent
from adc.passes.stages import run as apply
from tests.corpus.arrays.array_programs import ARRAY_PROGRAMS
from tests.corpus.ir_cases import CASES, Case
from tests.corpus.language.derivatives.nested_programs import NESTED_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain as chains

ALL = [p for p in (*PROGRAMS, *ARRAY_PROGRAMS, *NESTED_PROGRAMS) if p.argnums]
# Derivatives in these are programs of their own, along one direction where what they are of moves.
NESTED = frozenset(p.name for p in NESTED_PROGRAMS)


def checked(program: Program, way: str, **given: Any) -> list[str] | None:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    with np.errstate(all="ignore"):
        return chains.check_directions(chain, np.random.default_rng(0), way, **given)


# --- the pass -------------------------------------------------------------------------------------


@pytest.mark.sampled(120)
@pytest.mark.parametrize("program", ALL, ids=str)
def test_interpreted(program: Program) -> None:
    """In one of three ways to a Jacobian, as value form and as buffer form."""
    way = list(chains.WAYS)[program.number(len(chains.WAYS))]
    found = checked(program, way)
    assert found == [] or (found is None and program.name in NESTED)


@pytest.mark.sampled(400)
@pytest.mark.parametrize(
    ("way", "program"), [(way, p) for way in chains.WAYS for p in ALL], ids=str
)
def test_interpreted_in_every_way(way: str, program: Program) -> None:
    found = checked(program, way, policy="store")
    assert found == [] or found is None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_and_forms(case: Case) -> None:
    """Forward mode, reverse mode, and forward over reverse, on every case of the IR."""
    fn = case.function()
    made = {
        "tangent": tangent(fn, case.wrt),
        "adjoint": adjoint(fn, case.wrt, seed=False),
        "hessian": tangent(adjoint(fn, case.wrt), case.wrt),
    }
    rng = np.random.default_rng(0)
    for narrow in made.values():
        own = range(len(fn.params), len(narrow.params))
        wide = verify(directions(narrow, own, 3))
        assert parse(str(wide)) == wide
        like = [case.args[k] for k in case.wrt]
        if narrow is made["adjoint"]:
            like = [each for each in run(fn, case.args) if np.asarray(each).dtype.kind == "f"]
        given = [np.asarray(rng.standard_normal((*np.shape(each), 3))) for each in like]
        results = run(wide, [*case.args, *given])
        for k in range(3):
            alone = run(narrow, [*case.args, *(each[..., k].copy()[()] for each in given)])
            for a, b in zip(alone, results, strict=True):
                b = b[..., k] if np.ndim(b) > np.ndim(a) else b
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-13)


def changed(fn: Function, change: Callable[[Stmt], Stmt]) -> Function:
    """Return a function with a defect in every loop over directions."""

    def stmts(found: Sequence[Stmt], inside: bool) -> tuple[Stmt, ...]:
        return tuple(one(stmt, inside) for stmt in found)

    def one(stmt: Stmt, inside: bool) -> Stmt:
        if inside:
            stmt = change(stmt)
        within = isinstance(stmt, For) and stmt.index.name.split(".")[0] == "d"
        return map_blocks(
            stmt, lambda b: Block(b.params, stmts(b.stmts, inside or within), b.yields)
        )

    return fn.with_body(stmts(fn.body, False), fn.results)


def load_of_the_first(stmt: Stmt) -> Stmt:
    """Read the first direction instead of each."""
    if isinstance(stmt, Load) and isinstance(stmt.index[-1], Value):
        return replace(stmt, index=(*stmt.index[:-1], integer(0)))
    return stmt


@pytest.mark.full
def test_a_planted_defect_is_found() -> None:
    def widen(fn: Function, own: Sequence[int], count: int) -> Function:
        return changed(directions(fn, own, count), load_of_the_first)

    some = [p for p in PROGRAMS if p.argnums][::25]
    found = [checked(p, "tangent", widen=widen) for p in some]
    assert sum(bool(each) for each in found) > len(some) / 2


def test_a_direction_that_is_written_twice_is_found() -> None:
    """The defect: an old version of an array is read after the store to it."""
    text = """
fn f(%x: f64[:], %x.dot: f64[:]) -> f64, f64 {
  %c = load %x[0]
  %d = load %x.dot[0]
  %e = mul %d %c
  %x.1 = store %x.dot[0] %e
  %g = load %x.dot[0]
  %h = load %x.1[0]
  return %g %h
}"""
    fn = verify(parse(text))
    wide = verify(directions(fn, (1,), 2))
    x, dots = np.array([3.0]), np.array([[5.0, 7.0]])
    old, new = run(wide, (x, dots))
    assert (old.tolist(), new.tolist()) == ([5.0, 7.0], [15.0, 21.0])
    assert [stmt.label for stmt in walk(wide.body) if isinstance(stmt, For)] == ["L"]


def test_values_without_a_direction_are_computed_once() -> None:
    text = """
fn f(%x: f64[:], %n: int) -> f64 {
  %s = for L %i in 0 to %n carrying (%a = 0.0:f64) {
    %t = load %x[%i]
    %u = sin %t
    %c = gt %u 0.5:f64
    %v = if %c {
      %w = mul %u %a
      yield %w
    } else {
      yield %u
    }
    yield %v
  }
  return %s
}"""
    narrow = apply(tangent(parse(text), (0,)), pipeline.DERIVATIVE)
    wide = directions(narrow, (2,), 8)
    inside = [s for loop in walk(wide.body) if isinstance(loop, For)
              for s in loop.body.stmts if loop.index.name.startswith("d")]  # fmt: skip
    names = {s.op.name for s in inside if isinstance(s, Apply)}
    assert names <= {"mul", "add", "xmuly"}
    assert "mul" in names
    assert sum(isinstance(s, Apply) and s.op.name == "sin" for s in walk(wide.body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "%c = gt %x.dot 0.0:f64\n  %r = if %c {\n    yield 1.0:f64\n  } else {\n    yield %x\n  }",
        "%k = cast[i64] %x.dot\n  %r = load %a[%k]",
        '%c = gt %x.dot 0.0:f64\n  check %c ValueError "no"\n  %r = mul %x %x.dot',
    ],
)
def test_control_that_depends_on_a_direction_is_refused(body: str) -> None:
    text = f"fn f(%x: f64, %a: f64[:], %x.dot: f64) -> f64 {{\n  {body}\n  return %r\n}}"
    fn = verify(parse(text))
    with pytest.raises(DirectionsError):
        directions(fn, (2,), 4)


# --- public functions -----------------------------------------------------------------------------


def one_at_a_time(made: Any) -> Any:
    """Return a Jacobian that is computed along one direction after the other."""
    made._code.way = made._code.way._replace(wide=0)
    made._code._define()
    return made


def width(made: Any) -> int:
    """Return the number of directions of the code of a Jacobian that was called."""
    compiled = made._code.last
    pairs = itertools.pairwise(compiled.compilation.trace.stages)
    wide = any(name == "directions" and fn != before for (_, before), (name, fn) in pairs)
    return int(compiled.steps[-1][1][0]) if wide else 1


def passes(made: Any, *args: Any) -> int:
    """Return how often a call runs compiled code."""
    kernel = made.compiled_for(*args).entry.kernel
    run_once, count = kernel._run, 0

    def counted(*given: Any) -> Any:
        nonlocal count
        count += 1
        return run_once(*given)

    kernel._run = counted
    made(*args)
    kernel._run = run_once
    return count


def smooth(x: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.tanh(y[i] + 0.3 * y[i - 1])
        if y[i] > 0.3:
            y[i] *= x[0]
    return y


def products(x: Any) -> Any:
    m = x.reshape(-1, 2)
    return np.sin(m.T @ m) @ np.exp(-m.T)


def pair(x: Any, scale: float) -> Any:
    total = np.sum(x * x)
    return scale * x, total / scale


def energy(x: Any) -> Any:
    return np.sum(np.sin(x) * x) + np.prod(x[:2]) ** 2


@pytest.mark.full
@pytest.mark.parametrize("fn", [smooth, products])
@pytest.mark.parametrize("way", [adc.jacfwd, adc.jacrev])
def test_jacobians_are_those_along_one_direction_after_the_other(fn: Any, way: Any) -> None:
    made, alone = way(fn), one_at_a_time(way(fn))
    widths = []
    for n in (2, 4, 10, 2, 8, 16, 18, 34):
        x = np.linspace(-0.4, 1.3, n)
        np.testing.assert_allclose(made(x), alone(x), rtol=1e-12, atol=1e-14)
        widths.append(width(made))
    # Code for few directions is not taken for many, as that for many is for few.
    assert widths == ([4, 4, *[16] * 6] if way is adc.jacfwd else [8] * 8)
    assert width(alone) == 1


@pytest.mark.full
def test_a_hessian() -> None:
    made, alone = adc.hessian(energy), one_at_a_time(adc.hessian(energy))
    for n in (3, 20, 5):
        x = np.linspace(-0.4, 1.3, n)
        np.testing.assert_allclose(made(x), alone(x), rtol=1e-12, atol=1e-14)
    assert width(made) == 16
    assert passes(made, np.ones(33)) == 3


@pytest.mark.full
def test_several_arguments_and_results() -> None:
    x = np.linspace(0.3, 1.1, 5)
    for way in (adc.jacfwd, adc.jacrev):
        made = way(pair, argnums=(0, 1))
        ((a, b), (c, d)) = made(x, 3.0)
        np.testing.assert_allclose(a, 3.0 * np.eye(5))
        np.testing.assert_allclose(b, x)
        np.testing.assert_allclose(c, 2.0 * x / 3.0)
        np.testing.assert_allclose(d, -np.sum(x * x) / 9.0)
        assert passes(made, x, 3.0) == 1
        assert all(each.flags.c_contiguous for each in (a, b, c))


def test_one_number_is_one_direction() -> None:
    made = adc.jacfwd(lambda a: np.array([a, a * a]))
    np.testing.assert_allclose(made(1.5), [1.0, 3.0])
    assert made.source().count("for ") == 0


@pytest.mark.full
def test_dtypes_and_strides() -> None:
    x = np.linspace(0.3, 1.1, 12, dtype=np.float32)[::2]
    for way in (adc.jacfwd, adc.jacrev):
        found = way(smooth)(x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, way(smooth)(x.astype(float)), rtol=1e-4, atol=1e-5)


@pytest.mark.full
def test_no_results_and_zero_trips() -> None:
    made = adc.jacfwd(lambda x: x[1:] * x[0])
    np.testing.assert_array_equal(made(np.ones(3)), [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    assert made(np.ones(1)).shape == (0, 1)
    assert adc.jacrev(lambda x: x[1:] * x[0])(np.ones(1)).shape == (0, 1)


def corner(x: Any) -> Any:
    r = math.sqrt(x[0])
    if x[1] > 0.0:
        s = r / x[1]
    else:
        s = x[2]
    return np.array([r, s, np.where(x[1] > 0.0, np.sqrt(x[1]), 0.0)])


@pytest.mark.full
@pytest.mark.parametrize("way", [adc.jacfwd, adc.jacrev])
@pytest.mark.parametrize("x", [(0.0, 0.0, 1.0), (0.0, 2.0, 1.0), (1.0, -1.0, 1.0)])
def test_zero_is_zero_in_each_direction(way: Any, x: Any) -> None:
    """A direction that is zero contributes nothing, whatever is infinite in the ones beside it."""
    args = np.array(x)
    made = way(corner)
    found = made(args)
    np.testing.assert_array_equal(found, one_at_a_time(way(corner))(args))
    assert width(made) > 1
    assert not np.any(np.isnan(found))


@adc.custom_jvp
def clipped(x: float) -> float:
    return x * x


def clipped_tangent(primals: Any, tangents: Any) -> Any:
    (x,), (dot,) = primals, tangents
    slope = dot
    for _ in range(2):
        slope = slope * x
    return x * x, slope + slope / x


clipped.defjvp(clipped_tangent)


def test_rules_of_the_user() -> None:
    made = adc.jacfwd(lambda x: np.array([clipped(x[0]), clipped(x[1]) * x[0]]))
    x = np.array([2.0, 3.0])
    found = made(x)
    np.testing.assert_allclose(found, [[6.0, 0.0], [9.0, 24.0]])
    assert width(made) == 4


def curvature(x: Any) -> Any:
    second = adc.grad(adc.grad(lambda t: np.sin(t * x[0])))(x[1] * 2.0)
    return np.array([second, x[0] * x[2]])


def test_a_derivative_within_is_taken_along_one_direction_after_the_other() -> None:
    """It is a program of its own, which has no directions."""
    x = np.array([0.3, 0.7, 1.1])
    made = adc.jacfwd(curvature)
    a, t = x[0], 2.0 * x[1]
    by_a = -2.0 * a * np.sin(t * a) - a * a * t * np.cos(t * a)
    expected = [[by_a, -2.0 * a**3 * np.cos(t * a), 0.0], [x[2], 0.0, x[0]]]
    np.testing.assert_allclose(made(x), expected, rtol=1e-12)
    assert width(made) == 1
    assert passes(made, x) == 3


@pytest.mark.full
def test_random_numbers_are_the_same_in_all_passes() -> None:
    def noisy(x: Any, rng: Any) -> Any:
        return x * rng.normal(size=len(x)) + np.sum(x)

    x = np.linspace(0.3, 1.1, 20)
    made, rng = adc.jacfwd(noisy), np.random.default_rng(3)
    found = made(x, rng)
    expected = np.diag(np.random.default_rng(3).normal(size=20)) + 1.0
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert passes(made, x, rng) == 2


@pytest.mark.full
def test_a_budget_is_kept_by_one_direction_at_a_time() -> None:
    made = adc.hessian(energy, memory="1 MB")
    x = np.linspace(-0.4, 1.3, 6)
    np.testing.assert_allclose(made(x), adc.hessian(energy)(x), rtol=1e-12)
    assert width(made) == 1


@pytest.mark.full
def test_branches_in_loops_and_threads() -> None:
    def gated(x: Any, m: Any) -> Any:
        out = np.zeros(m.shape)
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                if m[i, j] > 0.0:
                    out[i, j] = np.sin(m[i, j] * x[j]) * x[i % 3]
        return out

    m, x = np.random.default_rng(0).normal(size=(40, 30)), np.linspace(0.1, 1.0, 30)
    made = adc.jacfwd(gated)
    found = made(x, m)
    np.testing.assert_allclose(found, one_at_a_time(adc.jacfwd(gated))(x, m), rtol=1e-13)
    assert np.array_equal(adc.jacfwd(gated, parallel=2)(x, m), found)


@pytest.mark.usefixtures("optimised")
def test_loops_over_directions_are_unrolled_vectors() -> None:
    def recurrence(x: Any) -> Any:
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = y[i - 1] * x[i] + x[i - 1]
        return y

    jacobian = adc.jacfwd(recurrence, cache=False)
    x = np.linspace(-1.0, 1.0, 20)
    h = 1e-7
    steps = h * np.eye(20)
    found = np.stack([(recurrence(x + s) - recurrence(x - s)) / (2.0 * h) for s in steps], axis=1)
    np.testing.assert_allclose(jacobian(x), found, atol=1e-7)
    code = jacobian._code.last.entry.kernel.code
    llvm = "".join(code.inspect_llvm().values())
    assert re.search(r"fmul <\d+ x double>", llvm)
    assert "%index.next" not in llvm  # of a loop over vectors
