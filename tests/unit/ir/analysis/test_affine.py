"""Proofs about integers, against linear programming and against counting."""

from __future__ import annotations

import doctest
import itertools
import random

import numpy as np
import pytest
from scipy.optimize import linprog

from adc.ir.analysis.sizes import affine
from adc.ir.analysis.sizes.affine import Facts, Form
from adc.ir.core import Apply, Literal, Value
from adc.ir.opdef import OPS
from adc.ir.types import BOOL, I64, Scalar

VALUES = [Value(name, I64) for name in "ijknm"]


def drawn(rng: random.Random, size: int) -> Form:
    """Return a sum of few values with small coefficients, as indices and sizes are."""
    terms = {v: rng.choice((-2, -1, -1, 1, 1, 3)) for v in rng.sample(VALUES, size)}
    return Form.of(terms, rng.randint(-3, 3))


def follows(goal: Form, facts: list[Form]) -> bool | None:
    """Whether linear programming finds ``goal > -1`` in fractions; `None` on the boundary."""
    row = np.array([[fact.coefficient(v) for v in VALUES] for fact in facts], dtype=float)
    objective = [goal.coefficient(v) for v in VALUES]
    consts = [fact.const for fact in facts]
    best = linprog(objective, A_ub=-row, b_ub=consts, bounds=(None, None), method="highs")
    if best.status == 2:  # the facts contradict one another
        return True
    if best.status == 3:
        return False
    assert best.status == 0, best.message
    low = best.fun + goal.const
    return None if abs(low + 1) < 1e-6 else bool(low > -1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_proofs_are_those_of_linear_programming(seed: int) -> None:
    rng = random.Random(seed)
    proven = 0
    for _ in range(10):
        forms = [drawn(rng, rng.randint(1, 3)) for _ in range(rng.randint(3, 12))]
        facts = Facts()
        for form in forms:
            facts.assume(form)
        for _ in range(4):
            goal = drawn(rng, rng.randint(1, 3)) + 3
            expected = follows(goal, forms)
            if expected is None:
                continue
            # A contradiction among facts that have nothing to do with the goal is not looked for.
            if facts.proves(goal) != expected:
                assert expected, (goal, forms)
                assert follows(Form((), -2), forms), (goal, forms)
            proven += expected
    assert proven


@pytest.mark.parametrize("seed", range(20))
def test_nothing_false_is_proven(seed: int) -> None:
    rng = random.Random(1000 + seed)
    box = list(itertools.product(range(-3, 5), repeat=3))
    values = VALUES[:3]
    for _ in range(10):
        point = dict(zip(values, rng.choice(box), strict=True))
        facts = Facts()
        forms: list[Form] = []
        while len(forms) < 6:
            form = Form.of({v: rng.choice((-2, -1, 0, 1, 1)) for v in values}, rng.randint(-4, 4))
            if at(form, point) >= 0:
                forms.append(form)
                facts.assume(form)
        goal = Form.of({v: rng.choice((-1, 0, 1)) for v in values}, rng.randint(-2, 6))
        if facts.proves(goal):
            for each in box:
                here = dict(zip(values, each, strict=True))
                assert at(goal, here) >= 0 or any(at(form, here) < 0 for form in forms)


def at(form: Form, point: dict[Value, int]) -> int:
    return form.const + sum(factor * point[v] for v, factor in form.terms)


def test_a_proof_may_take_two_bounds_of_one_value() -> None:
    """``i >= 0`` follows from ``i >= j`` and ``i >= -j``, but not from one of them."""
    i, j = (Form(((v, 1),), 0) for v in VALUES[:2])
    facts = Facts()
    facts.assume(i - j)
    assert not facts.proves(i)
    mark = facts.mark()
    facts.assume(i + j)
    assert facts.proves(i)
    facts.release(mark)
    assert not facts.proves(i)


def test_whole_numbers_leave_no_fractions_below() -> None:
    """From ``2i >= -1`` follows ``i >= 0``: there is no whole number between."""
    i = Form(((VALUES[0], 1),), 0)
    facts = Facts()
    facts.assume(i * 2 + 1)
    assert facts.proves(i)
    assert not facts.proves(i + -1)


def test_a_quotient_of_a_size_is_not_negative() -> None:
    """Of whole numbers; a multiple of it, which fractions allow to be less, is neither."""
    n = Value("n", I64)
    quotient = Apply((Value("q", I64),), OPS["floordiv"], (n, Literal(4, I64)))
    facts = Facts()
    facts.assume(facts.form(n))
    facts.define(quotient)
    q = facts.form(quotient.result)
    assert facts.proves(q * 2)
    assert facts.proves(facts.form(n) - q * 2)
    assert not facts.proves(q + -1)


def test_the_choice_of_two_lies_between_them() -> None:
    """Whichever of them is known to be the greater one."""
    low, high = VALUES[:2]
    cond = Value("c", BOOL)
    for args in ((low, high), (high, low)):
        chosen = Apply((Value("r", I64),), OPS["select"], (cond, *args))
        facts = Facts()
        facts.assume(facts.form(high) - facts.form(low))
        facts.define(chosen)
        r = facts.form(chosen.result)
        assert facts.proves(r - facts.form(low))
        assert facts.proves(facts.form(high) - r)


@pytest.mark.parametrize("dtype", ["i8", "i32", "u8", "u64"])
@pytest.mark.parametrize("name", ["add", "sub", "neg", "mul", "cast", "abs"])
def test_numbers_that_may_wrap_around(name: str, dtype: str) -> None:
    """What is computed in few bits has a form if it is known to fit."""
    two = Literal(2, Scalar(dtype))
    small = Value("small", I64 if name == "cast" else Scalar(dtype))
    args = (small, two)[: 2 if name in ("add", "sub", "mul") else 1]
    params = (dtype,) if name == "cast" else ()
    stmt = Apply((Value("r", Scalar(dtype)),), OPS[name], args, params)
    fits = {"neg": (-9, 0), "sub": (2, 9)}.get(name, (0, 9))
    for known in (False, True):
        facts = Facts()
        if known:
            facts.assume(facts.form(small) + -fits[0])
            facts.assume(facts.form(small) * -1 + fits[1])
        facts.define(stmt)
        assert (facts.form(stmt.result).terms != ((stmt.result, 1),)) == (known and name != "abs")
        if name == "abs":
            assert facts.proves(facts.form(stmt.result)) == (known or dtype[0] == "u")


def test_proofs_end_where_facts_go_round_in_circles() -> None:
    """Many values, each at least the sum of two others: nothing follows, which is found at once."""
    names = [Value(f"v{k}", I64) for k in range(60)]
    facts = Facts()
    for k in range(58):
        facts.assume(Form.of({names[k]: 1, names[k + 1]: -1, names[k + 2]: -1}, k % 3 - 1))
    assert not facts.proves(Form(((names[0], 1),), 0))


def test_proofs_that_take_too_long_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    i, n = VALUES[0], VALUES[3]
    facts = Facts()
    facts.assume(Form(((i, 1),), 0))
    facts.assume(Form.of({n: 1, i: -1}, -1))
    assert facts.proves(Form(((n, 1),), -1))
    monkeypatch.setattr(affine, "MAX_PIVOTS", 1)
    assert not facts.proves(Form(((n, 1),), -1))


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(affine).failed == 0
