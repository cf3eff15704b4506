"""Code asks a row for its traits, not for its name (`OpDef`): the names that are left, and why."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

from adc.ir.opdef import OPS
from adc.ir.ops import algorithms

ROOT = Path(__file__).parents[3]
# Where a name is more than words for a reader: how often, and what for.
LEFT = {
    "ir/analysis/costs.py": (1, "prices that were measured lie in a file, by name"),
    "ir/analysis/dependence/combinations.py": (1, "the kernel that combines is called by name"),
    "ir/analysis/memory/access.py": (1, "a part of a key"),
    "passes/scalar/cse.py": (1, "a part of a key"),
    "passes/scalar/predicates.py": (1, "a part of a key"),
    "passes/scalar/recalled.py": (1, "a part of a key"),
    "ir/analysis/sizes/symbols.py": (1, "a function in a formula is called by name"),
    "adc/backend/common/vector_math.py": (1, "the function that emitted code calls"),
    "passes/target/kernels.py": (1, "the kernel that combines is called by name"),
    "adc/backend/cuda/emit.py": (1, "the kernel that combines is called by name"),
}


def is_name(node: ast.AST) -> bool:
    """Whether a node reads the name of an operation: ``op.name``, ``stmt.op.name``."""
    if not (isinstance(node, ast.Attribute) and node.attr == "name"):
        return False
    owner = node.value
    last = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return last in ("op", "row", "by")


def names_read(tree: ast.AST) -> int:
    """Count the reads of names of operations that are not in f-strings, which are for readers."""
    if isinstance(tree, ast.JoinedStr):
        return 0
    return is_name(tree) + sum(map(names_read, ast.iter_child_nodes(tree)))


def test_no_code_asks_for_the_name_of_an_operation() -> None:
    found: Counter[str] = Counter()
    for folder in ("passes", "ir/analysis", "adc/backend"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            count = names_read(ast.parse(path.read_text(encoding="utf-8")))
            if count:
                found[path.relative_to(ROOT).as_posix()] = count
    assert dict(found) == {path: count for path, (count, _) in LEFT.items()}


def test_names_are_found() -> None:
    code = 'if stmt.op.name == "add" or op.name in ("sub",): f"{op.name}"\nmatch s.op.name: ...'
    tree = ast.parse(code.replace(": ...", ":\n  case _: pass"))
    assert names_read(tree) == 3
    assert names_read(ast.parse("loop.name == node.name")) == 0


def test_rows_that_others_name_are_there() -> None:
    for op in OPS.values():
        named = [op.shielded, op.plain, *op.inverse]
        assert all(name in OPS for name in named if name), op
        assert len(op.inverse) in (0, op.arity), op
        if op.plain:
            assert OPS[op.plain].arity == op.arity
        if op.shielded:
            assert OPS[op.shielded].plain == op.name


def test_arrays_are_new_or_a_part_of_another_one() -> None:
    for op in OPS.values():
        assert not (op.allocates and op.aliases), op
        assert not (op.sizes is not None and op.copies), op
    assert [op.name for op in OPS.values() if op.reserves] == ["empty"]
    assert [op.name for op in OPS.values() if op.fills] == ["full"]


def test_what_is_neutral_changes_nothing() -> None:
    for op in OPS.values():
        if op.neutral is not None:
            for x in (-2.5, -0.0, 0.0, 3.0):
                assert str(float(op.evaluate(op.neutral, x))) == str(x), op


def test_comparisons_say_which_operand_is_less() -> None:
    for op in OPS.values():
        if op.orders is not None:
            less, equal = op.orders
            assert bool(op.evaluate(1, 2)) is less, op
            assert bool(op.evaluate(2, 1)) is not less, op
            assert bool(op.evaluate(2, 2)) is equal, op


def test_an_inverse_takes_an_update_back() -> None:
    for op in OPS.values():
        kind = "i" if "i" in op.kinds and op.name != "cast" else "f"
        args = [6, 3] if kind == "i" else [6.0, 3.0]
        for at, name in enumerate(op.inverse):
            if name is None or op.name == "cast":
                continue
            if op.arity == 1:
                assert OPS[name].evaluate(op.evaluate(args[0])) == args[0], op
                continue
            result, other = op.evaluate(*args), args[1 - at]
            # Of `a - b` with another `b`, it is `a` less the result (`remat.undo.history`).
            back = (other, result) if (op.name, at) == ("sub", 1) else (result, other)
            assert OPS[name].evaluate(*back) == args[at], (op, at)


def test_an_algorithm_brings_those_that_it_calls(tmp_path: Path) -> None:
    assert [op.name for op in algorithms.among({"bessel_i0", "x"})] == ["i0"]
    assert algorithms.among({"exp", "i0"}) == []
    path = tmp_path / "nested.py"
    path.write_text(_NESTED)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["expit", "twice", "1.0"]


# A row of its own would be in the table of all other tests.
_NESTED = """
import numpy as np
from adc.ir.opdef import OpDef
from adc.ir.ops import algorithms
from adc.ir.ops.special import expit

def _twice(x):
    return 2.0 * expit(x)

OpDef("twice", 1, algorithms.evaluated(_twice), "twice({0})", algorithm=_twice)
print(*(op.name for op in algorithms.among({"twice"})))
print(algorithms.evaluated(_twice)(np.float64(0.0)))
"""
