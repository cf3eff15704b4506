"""Array expressions end up in as few loop nests as `golden/nests.md` says, and it says why."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

import adc
from adc import testing as adc_testing
from adc.api.derivative import Derivative
from adc.ir.core import Apply, For, Function, Operand, Push, Reverse, Stmt, While, blocks, walk
from adc.ir.types import Array
from tests.corpus.loops.nest_programs import NEST_PROGRAMS, NestProgram
from tests.oracle import chain as chains

HEAD = """# Loop nests

What the loops of array expressions become: in the value alone, and in value and gradient together.
*Nests* are loops that stand in no other loop, *loops* those that have no other loop in them,
*temporaries* the arrays in the workspace (those that share memory count once), and *pushes* what an
iteration puts on the tape. Products of matrices by BLAS, and copies and sums of whole arrays, are
none of them. What is worse than code written by hand is marked ✗.

Made from `tests/corpus/loops/nest_programs.py` by
`pytest --update-golden tests/unit/passes/loops/test_nests.py`.
"""
LOOPS = (For, While, Reverse)

each = pytest.mark.parametrize("program", NEST_PROGRAMS, ids=lambda p: p.fn.__name__)


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def outermost(stmts: Sequence[Stmt]) -> int:
    return sum(
        1 if isinstance(stmt, LOOPS) else sum(outermost(block.stmts) for block in blocks(stmt))
        for stmt in stmts
    )


def innermost(fn: Function) -> int:
    loops = [stmt for stmt in walk(fn.body) if isinstance(stmt, LOOPS)]
    return sum(not any(isinstance(stmt, LOOPS) for stmt in walk(loop.body.stmts)) for loop in loops)


def temporaries(fn: Function) -> int:
    """Return how many arrays of the workspace have memory of their own."""
    memory: dict[Operand, Operand] = {}
    for stmt in walk(fn.body):
        if isinstance(stmt, Apply) and isinstance(stmt.results[0].type, Array):
            others = [arg for arg in stmt.args if isinstance(arg.type, Array)]
            # The last operand of `over` and of what is made in dead memory.
            shared = stmt.op.name == "over" or (stmt.op.name in ("empty", "full") and others)
            memory[stmt.result] = memory[others[-1]] if shared else stmt.result
    returned = {memory.get(operand, operand) for operand in fn.results}
    return len({*memory.values()} - returned)


def pushes(fn: Function) -> int:
    return sum(len(stmt.values) for stmt in walk(fn.body) if isinstance(stmt, Push))


def counts(fn: Function) -> tuple[int, int, int, int]:
    return outermost(fn.body), innermost(fn), temporaries(fn), pushes(fn)


def compiled(derivative: Derivative, program: NestProgram) -> Function:
    return derivative.compiled_for(*program.args).compilation.fn


def row(fn: Function, why: str) -> str:
    nests, loops, arrays, pushed = counts(fn)
    return f"| {nests} | {loops} | {arrays} | {pushed} | {why} |"


@pytest.mark.full
def test_page(golden: Callable[[str, str], None]) -> None:
    parts = [HEAD]
    for program in NEST_PROGRAMS:
        value = compiled(adc.jit(program.fn), program)
        both = compiled(adc.value_and_grad(program.fn, program.wrt), program)
        parts.append(
            f"## {program.fn.__name__}\n\n```python\n{inspect.getsource(program.fn)}```\n\n"
            "| | nests | loops | temporaries | pushes | why not fewer |\n"
            "|---|---|---|---|---|---|\n"
            f"| value {row(value, program.value)}\n"
            f"| and gradient {row(both, program.gradient)}\n"
        )
    golden("nests.md", "\n".join(parts))


@pytest.mark.full
@each
def test_numbers(program: NestProgram) -> None:
    copies = [np.copy(arg)[()] for arg in program.args]
    value, _ = adc.value_and_grad(program.fn, program.wrt)(*program.args)
    assert value == pytest.approx(program.fn(*copies), rel=1e-13)
    adc_testing.check_grads(program.fn, program.args, modes="rev")


@pytest.mark.sampled(4)
@each
def test_every_pass(program: NestProgram) -> None:
    assert not chains.check_passes(chains.Chain.of(program.fn, program.args, program.wrt))
