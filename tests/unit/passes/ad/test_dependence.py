"""Marks of what depends on what: against the tangents of the whole corpus, and by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adc.ir.core import Apply, Block, Function, Operand, Stmt
from adc.ir.interp import run
from adc.ir.verifier import verify
from adc.ir.walk import map_blocks
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.dependence import dependence
from tests.corpus.arrays.array_programs import ARRAY_PROGRAMS
from tests.corpus.ir_cases import CASES, Case
from tests.corpus.language.derivatives.nested_programs import NESTED_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain as chains

ALL = [p for p in (*PROGRAMS, *ARRAY_PROGRAMS, *NESTED_PROGRAMS) if p.argnums]


def checked(program: Program, way: str, **given: Any) -> list[str]:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    with np.errstate(all="ignore"):
        return chains.check_dependence(chain, np.random.default_rng(0), way, **given)


WAYS = [(way, program) for program in ALL for way in ("jacobian", "hessian")]


@pytest.mark.sampled(120)
@pytest.mark.parametrize(("way", "program"), WAYS, ids=str)
def test_interpreted(way: str, program: Program) -> None:
    assert checked(program, way) == []


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_and_forms(case: Case) -> None:
    """Each element alone, of every case of the IR, and of its gradient."""
    fn = case.function()
    for narrow in (fn, adjoint(fn, case.wrt)):
        marked = verify(dependence(narrow, case.wrt))
        units = [np.zeros(np.shape(case.args[k])) for k in case.wrt]
        results = run(marked, [*case.args, *(unit[()] for unit in units)])
        assert not any(np.any(each) for each in results[len(narrow.results) :])


# --- by hand --------------------------------------------------------------------------------------


def pattern(fn: Callable[..., Any], *args: Any, wrt: tuple[int, ...] = (0,)) -> list[Any]:
    """Return the pattern of each float result by the elements of the arguments in `wrt`."""
    chain = chains.Chain.of(fn, args, wrt)
    marked = dependence(chain.primal, chain.positions)
    columns = []
    like = [np.asarray(chain.inputs[k], float) for k in chain.positions]
    for k, each in enumerate(like):
        for index in np.ndindex(each.shape):
            unit = [np.zeros(every.shape) for every in like]
            unit[k][index] = 1.0
            found = run(marked, [*chain.inputs, *(every[()] for every in unit)])
            columns.append(found[len(chain.primal.results) :])
    return [
        np.stack([np.asarray(column[k]).ravel() for column in columns], axis=-1).astype(int)
        for k in range(len(columns[0]))
    ]


def test_a_derivative_that_happens_to_be_zero_counts() -> None:
    def f(x: Any) -> Any:
        return np.array([x[0] * x[0], x[0] * x[1], np.maximum(x[1], x[2]), x[1] - x[1]])

    found = pattern(f, np.zeros(3))[0]
    assert found.tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1, 0]]


def test_factors_that_are_numbers_of_the_call() -> None:
    def f(x: Any, mask: Any, a: Any) -> Any:
        return mask * x, a @ x, np.where(mask > 0.0, x, 0.0), x / np.where(mask > 0.0, 1.0, np.inf)

    mask = np.array([0.0, 1.0, 2.0])
    a = np.array([[0.0, 3.0, 0.0], [np.nan, 0.0, 0.0], [0.0, 0.0, -0.0]])
    masked, product, chosen, divided = pattern(f, np.ones(3), mask, a)
    assert masked.tolist() == np.diag([0, 1, 1]).tolist()
    assert product.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert chosen.tolist() == np.diag([0, 1, 1]).tolist()
    assert divided.tolist() == np.diag([0, 1, 1]).tolist()


def test_steps_and_indices_do_not_count() -> None:
    def f(x: Any) -> Any:
        k = int(x[0] > 2.0)
        return x[1 + k] * np.floor(x[0]) + round(x[0])

    assert pattern(f, np.array([1.0, 2.0, 3.0]))[0].tolist() == [[0, 1, 0]]


def test_products_of_what_moves() -> None:
    def f(a: Any, b: Any) -> Any:
        return a @ b

    (found,) = pattern(f, np.zeros((2, 2)), np.zeros((2, 2)), wrt=(0, 1))
    assert found.tolist() == [
        [1, 1, 0, 0, 1, 0, 1, 0], [1, 1, 0, 0, 0, 1, 0, 1],
        [0, 0, 1, 1, 1, 0, 1, 0], [0, 0, 1, 1, 0, 1, 0, 1],
    ]  # fmt: skip


def test_products_with_a_matrix_of_the_call() -> None:
    def f(a: Any, w: Any) -> Any:
        return a @ w, w @ a

    right, left = pattern(f, np.zeros((2, 2)), np.array([[2.0, 0.0], [np.nan, -0.0]]))
    assert right.tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert left.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]


def test_what_a_library_returns_depends_on_all() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.linalg.solve(a, x), np.sum(x[:2])

    solved, total = pattern(f, np.ones(3), np.eye(3))
    assert solved.min() == 1
    assert total.tolist() == [[1, 1, 0]]


@pytest.mark.full
def test_marks_do_not_grow() -> None:
    """However many paths there are from an argument to a result."""

    def f(x: Any) -> Any:
        for _ in range(2000):
            x = x + x[::-1]
        return x

    assert pattern(f, np.zeros(3))[0].tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


# --- the check ------------------------------------------------------------------------------------


def forgetful(name: str, replaced: Callable[[Apply], Operand]) -> Callable[..., Function]:
    """Return what writes marks, with one operation on marks replaced by an operand."""

    def mark(fn: Function, wrt: Sequence[int]) -> Function:
        made = dependence(fn, wrt)

        def stmts(found: Sequence[Stmt]) -> tuple[Stmt, ...]:
            return tuple(map(one, found))

        def one(stmt: Stmt) -> Stmt:
            if isinstance(stmt, Apply) and stmt.op.name == name and ".dot" in stmt.result.name:
                return replace(stmt, args=(replaced(stmt),) * len(stmt.args))
            return map_blocks(stmt, lambda b: Block(b.params, stmts(b.stmts), b.yields))

        return verify(replace(made, body=stmts(made.body)))

    return mark


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "replaced"),
    [
        ("maximum", lambda stmt: stmt.args[0]),
        ("maximum", lambda stmt: stmt.args[1]),
        ("add", lambda stmt: stmt.args[0]),
    ],
)
def test_planted_defects_are_found(name: str, replaced: Callable[[Apply], Operand]) -> None:
    """A mark of two that is lost is noticed by some programs, and none without the defect."""
    few = [p for p in PROGRAMS if p.number(12) == 0]
    bad = [p for p in few if checked(p, "jacobian", mark=forgetful(name, replaced))]
    assert bool(bad) == (name == "maximum")
