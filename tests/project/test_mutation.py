"""Mutants: what they change, and that programs notice one (`tests.mutation`)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import programs, suite
from tests.mutation.command import all_mutants
from tests.mutation.kept import Kept
from tests.mutation.mutants import applied, mutants

TEXT = """
def f(x, n):
    if x < n and not n == 1:
        x += 1
        g(x, n)
    return [k for k in range(n) if k in (2, 3)]


class C:
    def method(self):
        raise ValueError(max(1, 2))


TABLE = {"sin": lambda x: x * 2}
"""


def test_changes(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(TEXT)
    found = list(mutants(tmp_path, path))
    assert {each.function for each in found} == {"f", "<lambda>"}  # and not what is raised
    tree = ast.parse(TEXT)
    made = {each.what: ast.unparse(applied(tree, each.position, each.variant)) for each in found}
    assert "if x <= n and" in made["Lt -> LtE"]
    assert "x < n or not" in made["And -> Or"]
    assert "if x < n:" in made["last operand dropped"]
    assert "not n != 1" in made["Eq -> NotEq"]
    assert "and n == 1" in made["not dropped"]
    assert "if not (x < n" in made["condition negated"]
    assert "x -= 1" in made["Add -> Sub"]
    assert "g(n, x)" in made["first two arguments exchanged"]
    assert "k not in" in made["In -> NotIn"]
    assert "x + 2" in made["Mult -> Add"]
    assert "(2, 4)" in made["3 -> 4"]
    assert all(text != ast.unparse(tree) for text in made.values())


@pytest.mark.full
def test_a_mutant_is_noticed(tmp_path: Path) -> None:
    with Kept(str(tmp_path / "mutants.db")) as kept:
        for seed in (3, 8):
            verdict, seconds, keys = programs.reached(seed)
            assert verdict == "ok"
            kept.add_program(seed, verdict, seconds, keys)
        for mutant in all_mutants("passes/ad/adjoint/body.py"):
            seeds = programs.chosen(kept.calling(mutant))
            verdict, how = programs.verdict_on(mutant, seeds) if seeds else ("not reached", "")
            kept.add(mutant, verdict, how)
            assert kept.verdict(mutant) == verdict
            if verdict == "killed":
                assert how.startswith(("3: failed", "8: failed")), how
                break
        else:
            pytest.fail(f"no program notices any mutant: {list(kept.counts())}, the last {how}")
        assert ("passes/ad/adjoint/body.py", "killed", 1) in list(kept.counts())
    # Nothing is left in this process.
    assert programs.reached(8)[0] == "ok"


@pytest.mark.full
def test_tests_notice_a_mutant(tmp_path: Path) -> None:
    """In a process of its own, which collects all tests."""
    assert suite.measure(tmp_path, ["-n", "0", "tests/unit/ir/analysis/test_affine.py"]) == 0
    assert all(
        name.startswith("tests/unit/ir/analysis/test_affine")
        for name in suite.Reached(tmp_path).seconds
    )
    program = f"""
from pathlib import Path
from tests.mutation import suite
from tests.mutation.command import all_mutants

reached = suite.Reached(Path({str(tmp_path)!r}))

def ask(asker):
    for mutant in all_mutants("ir/analysis/sizes/affine.py"):
        verdict, how = asker.verdict_on(mutant, reached.chosen(mutant))
        if verdict == "killed":
            print("noticed by", how)
            break

suite.asked(ask)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "noticed by tests/unit/ir/analysis/test_affine.py::" in done.stdout, done.stderr
