"""Inverse operations: how much tape they save, and that they restore the right values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.analysis.inexact import discontinuous_use
from adc.ir.core import Apply, For, Function, If, Literal, Load, Stmt
from adc.ir.errors import IRError, RecomputeError
from adc.ir.opdef import OPS
from adc.ir.text.parser import parse
from adc.ir.text.printer import print_function
from adc.passes.remat import remat as remat_pass
from adc.passes.remat import undo as undo_pass
from adc.passes.remat.choose import Chooser
from adc.passes.remat.plan import KEPT
from adc.passes.remat.proof.availability import check_availability
from adc.passes.remat.remat import Rematerialized, rematerialize
from adc.passes.remat.undo.wanted import Wanted
from tests.corpus.loops.invert_programs import (
    DECIDING_PROGRAMS,
    INVERT_PROGRAMS,
    MARKED_PROGRAMS,
    P6,
    Q6,
    WEIGHTS,
)
from tests.corpus.program import Program
from tests.oracle import array_oracle
from tests.oracle import chain as chains
from tests.unit.passes.remat.test_marks import without_marks
from tests.unit.passes.remat.test_undo import proof_finds, rewritten

BY_NAME = {p.name: p for p in (*INVERT_PROGRAMS, *MARKED_PROGRAMS, *DECIDING_PROGRAMS)}


def chain_of(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


def planned(name: str, policy: str = "auto") -> Rematerialized:
    return rematerialize(chain_of(BY_NAME[name]).joined, policy)


@pytest.mark.full
@pytest.mark.parametrize("program", INVERT_PROGRAMS, ids=str)
def test_no_bit_changes(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that can be restored is: the bits of other plans, and checkpointed loops around it."""
    chain = chain_of(program)
    want, tolerances = array_oracle.gradient(program)
    expected = chains.flat_gradient(want)
    policies = ("store", "auto", "recompute", "random:1", "random:2")
    assert not chains.check_stages(chain, expected, tolerances=tolerances, policies=policies)
    results = chains.bits(chain.run(chain.joined))
    monkeypatch.setattr(undo_pass, "_better", lambda *_: True)
    monkeypatch.setattr(Wanted, "_has_number", lambda *_: True)
    again = chain_of(program)
    for policy in ("auto", "recompute", "revolve:1:1", "revolve:2:2", "revolve:2:1:all"):
        for _, fn in again.planned(policy)[1:]:
            assert chains.bits(again.run(fn)) == results, policy


@pytest.mark.parametrize(
    "name",
    [
        "invert_widths",
        "invert_before_and_after",
        "invert_bits",
        "invert_narrow",
        "invert_each_other",
    ],
)
@pytest.mark.parametrize("policy", ["auto", "recompute"])
def test_integers_are_not_kept(name: str, policy: str) -> None:
    for entry in planned(name, policy).plan.entries:
        if entry.decision == KEPT:
            assert entry.value == "s" or entry.expression == "math.sin(s)"


def test_decisions_are_kept_for_integers_that_they_change() -> None:
    found = planned("invert_under_branches", "recompute").plan.entries
    kept = {entry.expression for entry in found if entry.decision == KEPT}
    assert kept == {"", "s > 0.7", "x[at] * s > 0.2"}


# --- floats, on request ---------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    "policy", ["auto", "recompute", "random:1", "revolve:2:1", "revolve:2:2:all"]
)
@pytest.mark.parametrize("program", MARKED_PROGRAMS, ids=str)
def test_floats_are_found_again(program: Program, policy: str) -> None:
    """The gradient is that of the program, under every plan; in every form."""
    chain = chain_of(program)
    want, tolerances = array_oracle.gradient(program)
    expected = chains.flat_gradient(want)
    assert not chains.check_stages(chain, expected, tolerances=tolerances, policies=("store",))
    exact = chain.gradient(chain.run(chain.joined))
    results: list[bytes] | None = None
    for name, fn in chain.planned(policy)[1:]:
        assert not chains.well_formed(fn), name
        found = chain.run(fn)
        if results is None:
            results = chains.bits(found)
            for one, other in zip(chain.gradient(found), exact, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        assert chains.bits(found) == results, name


@pytest.mark.full
@pytest.mark.parametrize("program", DECIDING_PROGRAMS, ids=str)
def test_what_decides_is_that_of_the_forward_code(program: Program) -> None:
    """Restored values are off in their last bits, and a comparison could come out differently."""
    chain = chain_of(program)
    exact = chain.gradient(chain.run(chain.joined))
    inverted = 0
    for policy in ("auto", "recompute", "random:1", "random:2", "revolve:2:1"):
        for name, fn in chain.planned(policy)[1:]:
            assert not chains.well_formed(fn), (policy, name)
            for one, other in zip(chain.gradient(chain.run(fn)), exact, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
            inverted += name == "remat" and "half of the digits" in print_function(fn)
    assert inverted >= 3


@pytest.mark.full
@pytest.mark.parametrize("program", DECIDING_PROGRAMS, ids=str)
def test_what_decides_is_that_of_the_forward_code_compiled(program: Program) -> None:
    for memory in (None, 100_000):
        found = adc.grad(program.fn, program.argnums, cache=False, memory=memory)
        want = adc.grad(program.fn, program.argnums, cache=False, remat="store")
        got = found(*program.make_args())
        for one, other in zip(got, want(*program.make_args()), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


CARRIED = """
fn f(%q: f64, %n: int) -> f64 {
  %q.r = recall %q
  %b.9 = for L0 %i in 0 to %n carrying (%b = 1.0:f64) {
    %a.9, %s = for L1 %j in 0 to %n carrying (%a = %b, %s.1 = 0.0:f64) {
      %t = OPERATION %a
      %s.2 = add %s.1 %t
      yield %b %s.2
    }
    %b.1 = mul %q.r %s
    yield %b.1
  }
  return %b.9
}
"""


def test_decisions_by_what_loops_hand_on_are_seen() -> None:
    """From the iteration before of a loop around the one that decides."""
    for operation, decides in (("floor", True), ("sin", False)):
        fn = parse(CARRIED.replace("OPERATION", operation))
        found = discontinuous_use(fn.body, lambda value: value.name == "q")
        assert (found is not None) == decides
        assert discontinuous_use(fn.body, lambda value: False) is None


@pytest.mark.parametrize("name", ["marked_index", "marked_branch", "marked_steps", "marked_kinks"])
def test_the_proof_finds_what_is_decided_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chooser, "legal", Chooser.can_repeat)
    with pytest.raises(IRError, match="depends discontinuously on inexact"):
        planned(name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", MARKED_PROGRAMS, ids=str)
def test_floats_are_not_kept(program: Program) -> None:
    for entry in planned(program.name).plan.entries:
        if entry.decision == KEPT and not entry.reason.startswith("control flow depends on it"):
            inside = program.name in ("marked_for_every_sample", "marked_while")
            assert inside, (entry.expression, entry.reason)
            assert entry.bytes.count("*") < 3 or "W0" in entry.bytes


LONG: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "marked_numbers": lambda n: (0.3, 0.2, n),
    "marked_leapfrog": lambda n: (Q6, P6, n),
    "marked_elements": lambda n: (Q6, P6, n),
    "marked_with_friction": lambda n: (Q6, P6, n),
    "marked_layers": lambda n: (Q6, np.resize(WEIGHTS, (n, 3, 3)) * (4 / n)),
    "marked_layers_in_a_function": lambda n: (Q6, np.resize(WEIGHTS, (n, 3, 3)) * (4 / n)),
}


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_memory_does_not_grow(name: str) -> None:
    program = BY_NAME[name]
    gradient = adc.grad(program.fn, argnums=program.argnums, cache=False)
    exact = adc.grad(program.fn, argnums=program.argnums, remat="store", cache=False)
    held = []
    for n in (10, 1000):
        args = LONG[name](n)
        for one, other in zip(gradient(*args), exact(*args), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        held.append(gradient.plan(*args).peak_bytes or 0)
    # Conditions are kept: a byte for each element of the layers that are cut off.
    masks = 3 * (1000 - 10) if name == "marked_layers_in_a_function" else 0
    assert held[1] == held[0] + masks
    masks = 1000 * 3 if masks else 0
    assert (exact.plan(*args).peak_bytes or 0) > 50 * (held[1] - masks)


@pytest.mark.full
def test_values_are_those_of_the_program() -> None:
    for program in MARKED_PROGRAMS:
        value, _ = adc.value_and_grad(program.fn, cache=False)(*program.make_args())
        assert value == pytest.approx(program.fn(*program.make_args()), rel=1e-14)


def of_its_own(x: Any, n: Any) -> Any:
    x = adc.invertible(x.copy())
    for _ in range(n):
        x += 0.1 * np.sin(x)
    return np.sum(x * x)


def without_an_inverse(x: Any, n: Any) -> Any:
    x = adc.invertible(x.copy())
    for _ in range(n):
        x *= np.sin(x)
    return np.sum(x)


def with_a_factor_that_may_be_zero(x: Any, y: Any, n: Any) -> Any:
    x, y = adc.invertible(x), y
    for _ in range(n):
        x *= y
        y = y - 0.1 * y * y
    return x * x


def new_in_every_iteration(x: Any, y: Any, n: Any) -> Any:
    x, y = adc.invertible(x), adc.invertible(y)
    for _ in range(n):
        x = x + np.tanh(y)
        y = y + np.tanh(x)
    return np.sum(x * y)


def of_neighbours(x: Any, n: Any) -> Any:
    x = adc.invertible(x.copy())
    for _ in range(n):
        for i in range(1, len(x) - 1):
            x[i] += 0.1 * x[i - 1] * x[i + 1]
    return np.sum(x * x)


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (of_its_own, (Q6, 3), "x += 0.1 * np.sin(x)"),
    (without_an_inverse, (Q6, 3), "adc.invertible(x.copy())"),
    (with_a_factor_that_may_be_zero, (0.3, 0.2, 3), "adc.invertible(x)"),
    (new_in_every_iteration, (Q6, P6, 3), "adc.invertible(x)"),
    (of_neighbours, (Q6, 3), "x[i] += 0.1 * x[i - 1] * x[i + 1]"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("fn", "args", "line"), REFUSED)
def test_what_has_no_inverse(fn: Any, args: tuple[Any, ...], line: str) -> None:
    with pytest.raises(RecomputeError) as found:
        adc.grad(fn, cache=False)(*args)
    assert found.value.code == "ADC027"
    assert line in str(found.value)
    assert "^^^" in str(found.value)
    assert found.value.hint
    adc.grad(fn, cache=False, remat="store")(*args)


@pytest.mark.full
@pytest.mark.parametrize("policy", ["auto", "recompute", "random:1"])
def test_what_overflows_is_not_found_again(policy: str) -> None:
    def overflows(x: Any, c: Any, n: Any) -> Any:
        x, s = adc.invertible(x.copy()), 0.0
        for _ in range(n):
            s += np.sum(np.tanh(x))
            x *= 0.5
            x += c
        return s

    gradient = adc.grad(overflows, cache=False, remat=policy)
    one = np.ones(2)
    # The second element loses all of its digits, next to one that is infinitely larger.
    for start, change in [(one, [1.7e308, 0.2]), (0.3 * one, [1.7e308, 1.7e308])]:
        with pytest.raises(FloatingPointError, match="half of the digits"):
            gradient(start, np.array(change), 80)
    for name in ("f32", "f64"):
        tiny = np.zeros(2, name.replace("f", "float"))
        assert np.isfinite(gradient(tiny, tiny, 3)).all()
    # What was NaN to begin with is NaN in the gradient, and no reason to refuse the rest.
    found = gradient(np.array([1.0, np.nan]), np.array([0.5, 0.5]), 3)
    assert np.isnan(found).tolist() == [False, True]


def descent(w: Any, data: Any, n: Any) -> Any:
    """Converges: backwards, differences grow."""
    w, v = adc.invertible(w.copy()), adc.invertible(np.zeros(len(w)))
    for _ in range(n):
        v *= 0.9
        v -= 0.1 * (w - data) * np.tanh(w)
        w += v
    return np.sum(w * w)


def descent_of_a_number(w: Any, data: Any, n: Any) -> Any:
    w, v = adc.invertible(w), adc.invertible(0.0)
    for _ in range(n):
        v *= 0.9
        v -= 0.1 * (w - data) * np.tanh(w)
        w += v
    return w * w


@pytest.mark.full
@pytest.mark.parametrize(("fn", "args"), [(descent, (Q6, P6)), (descent_of_a_number, (0.3, 0.7))])
def test_lost_digits_are_an_error(fn: Any, args: tuple[Any, ...]) -> None:
    gradient = adc.grad(fn, argnums=1, cache=False)
    exact = adc.grad(fn, argnums=1, remat="store", cache=False)
    np.testing.assert_allclose(gradient(*args, 10), exact(*args, 10), rtol=1e-9)
    with pytest.raises(FloatingPointError, match="half of the digits"):
        gradient(*args, 400)
    exact(*args, 400)


@pytest.mark.full
def test_single_precision() -> None:
    fn = BY_NAME["marked_layers"].fn
    args = Q6.astype(np.float32), WEIGHTS.astype(np.float32)
    one, other = adc.grad(fn, cache=False)(*args), adc.grad(fn, remat="store", cache=False)(*args)
    assert one.dtype == np.float32
    np.testing.assert_allclose(one, other, rtol=1e-4)


def _cube(x: Any) -> Any:
    return adc.invertible(x * x) * x


def test_marks_do_nothing_elsewhere() -> None:
    x = np.arange(3.0)
    assert adc.invertible(x) is x
    assert adc.grad(_cube)(3.0) == 27.0
    assert adc.jit(BY_NAME["marked_leapfrog"].fn)(Q6, P6, 3) != 0.0


# --- defects that the proof finds -----------------------------------------------------------------


def inverting(stmt: Stmt) -> bool:
    return isinstance(stmt, Apply) and ".back" in stmt.result.name


def wrong_sign(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, Apply) and inverting(stmt) and stmt.op.name in ("sub", "add"):
        return [replace(stmt, op=OPS["add" if stmt.op.name == "sub" else "sub"])]
    return [stmt]


def turned_around(stmt: Stmt) -> list[Stmt]:
    """The change less the number, not the number less the change."""
    if isinstance(stmt, Apply) and inverting(stmt) and stmt.op.name == "sub":
        return [replace(stmt, args=stmt.args[::-1])]
    return [stmt]


def of_another_iteration(stmt: Stmt) -> list[Stmt]:
    """Changes are read with the number of trips in the place of the iteration."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        inner = tuple(
            replace(s, index=(stmt.trips,)) if isinstance(s, Load) and len(s.index) == 1 else s
            for s in stmt.body.stmts
        )
        return [replace(stmt, body=replace(stmt.body, stmts=inner))]
    return [stmt]


def too_few(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, For) and ".rev" in stmt.label:
        return [replace(stmt, trips=Literal(3, stmt.trips.type))]
    return [stmt]


def not_taken_back(stmt: Stmt) -> list[Stmt]:
    """Loops carry the number that they began with."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        yields = tuple(
            param if ".back" in param.name else operand
            for param, operand in zip(stmt.body.params, stmt.body.yields, strict=True)
        )
        return [replace(stmt, body=replace(stmt.body, yields=yields))]
    return [stmt]


def arms_swapped(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, If) and any(".back" in result.name for result in stmt.results):
        return [replace(stmt, then=stmt.orelse, orelse=stmt.then)]
    return [stmt]


def in_another_order(stmt: Stmt) -> list[Stmt]:
    """The first change is inverted before the last one."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        stmts = list(stmt.body.stmts)
        places = [k for k, s in enumerate(stmts) if inverting(s)]
        for k, m in zip(places, places[::-1], strict=True):
            one, other = stmt.body.stmts[k], stmt.body.stmts[m]
            assert isinstance(one, Apply)
            assert isinstance(other, Apply)
            stmts[k] = replace(one, op=other.op, args=(one.args[0], *other.args[1:]))
        return [replace(stmt, body=replace(stmt.body, stmts=tuple(stmts)))]
    return [stmt]


def of_another_array(stmt: Stmt) -> list[Stmt]:
    """The added value is computed from an array that has not been restored yet."""
    if isinstance(stmt, For) and stmt.label.endswith(".rev") and stmt.label.count(".") == 1:
        begun = {p.name.split(".")[0]: p for p in stmt.body.params if ".back" in p.name}

        def stale(inner: Stmt) -> list[Stmt]:
            if isinstance(inner, Load) and ".back." in inner.array.name:
                return [replace(inner, array=begun[inner.array.name.split(".")[0]])]
            return [inner]

        return [replace(stmt, body=replace(stmt.body, stmts=rewritten(stmt.body.stmts, stale)))]
    return [stmt]


DEFECTS = [
    ("marked_numbers", wrong_sign),
    ("marked_leapfrog", wrong_sign),
    ("marked_layers", wrong_sign),
    ("marked_numbers", not_taken_back),
    ("marked_leapfrog", not_taken_back),
    ("marked_leapfrog", of_another_array),
    ("marked_leapfrog", too_few),
    ("marked_under_branches", arms_swapped),
    ("invert_widths", wrong_sign),
    ("invert_each_other", wrong_sign),
    ("invert_widths", turned_around),
    ("invert_widths", of_another_iteration),
    ("invert_widths", too_few),
    ("invert_widths", not_taken_back),
    ("invert_around_a_loop", not_taken_back),
    ("invert_under_branches", arms_swapped),
    ("invert_bits", in_another_order),
]


@pytest.mark.parametrize(("name", "defect"), DEFECTS)
def test_the_proof_finds_defects(
    name: str, defect: Callable[[Stmt], list[Stmt]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Wanted, "_has_number", lambda *_: True)
    proof_finds(defect, lambda: planned(name), monkeypatch)


@pytest.mark.full
def test_the_proof_allows_rounding_only_where_it_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def planted(before: Function, after: Function, recalled: Any) -> None:
        check_availability(before, after, recalled)
        plain = replace(before, body=without_marks(before).body)
        with pytest.raises(IRError, match="need not have its value"):
            check_availability(plain, after, recalled)

    monkeypatch.setattr(remat_pass, "check_availability", planted)
    for name in ("marked_numbers", "marked_leapfrog", "marked_layers"):
        planned(name)
