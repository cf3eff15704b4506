"""Files that change after they were loaded, and sources that may differ from what is loaded."""

from __future__ import annotations

import importlib
import linecache
import sys
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.syntax import source
from adc.ir.errors import SourceError
from tests.unit.api.identity.replaced import X, kept, swap


def load(text: str, path: Path, **names: Any) -> ModuleType:
    """Import a file, as if for the first time."""
    path.write_text(text)
    linecache.checkcache(str(path))
    made = ModuleType(path.stem)
    vars(made).update(names)
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(made))
    return made


# -- files that change -----------------------------------------------------------------------------

FILE = """
import numpy as np

def helper(x):
    return x * x

def fn(x):
    return 2.0 * helper(x)

class First:
    def step(self, x):
        return 2.0 * x

class Second:
    def step(self, x):
        return 5.0 * x

def uses_first(x):
    return First().step(x)

square = lambda x: x * x
pair = (lambda x: 2.0 * x, lambda x: 3.0 * x)

def total(x):
    def inner(u):
        return u * 2.0
    return np.sum(x) + inner(x[0])
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    return load(FILE, tmp_path / "program.py")


def edit(module: Any, old: str, new: str) -> None:
    """Change the file of a module that is loaded."""
    path = Path(module.fn.__code__.co_filename)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("fn", "2.0 * helper", "3.0 * helper"),
        ("fn", "return x * x\n", "return x * x * x\n"),  # of the helper
        ("fn", "2.0 * helper(x)", "helper(x) * 2.0"),
        ("uses_first", "2.0 * x\n", "7.0 * x\n"),
        ("square", "lambda x: x * x", "lambda x: x + x"),
        ("total", "u * 2.0", "u * 3.0"),
        ("total", "np.sum(x) +", "np.mean(x) +"),
    ],
)
def test_edited_file(program: Any, name: str, old: str, new: str) -> None:
    edit(program, old, new)
    with pytest.raises(SourceError, match="has changed since it was imported") as caught:
        adc.grad(getattr(program, name))(X if name == "total" else 3.0)
    assert caught.value.code == "ADC001"
    assert "reload" in caught.value.hint


def test_edited_after_the_first_call(program: Any) -> None:
    slope = adc.grad(program.fn)
    assert slope(3.0) == 12.0
    edit(program, "x * x\n", "x * x * x\n")
    # What is loaded is what Python runs.
    assert slope(3.0) == 12.0 == 2.0 * 2.0 * 3.0
    with pytest.raises(SourceError, match=r"helper\(\) is not what its file says"):
        slope(np.float32(3.0))


def test_classes_that_changed_places(program: Any) -> None:
    text = Path(program.fn.__code__.co_filename).read_text()
    first, second = text.index("class First"), text.index("class Second")
    end = text.index("def uses_first")
    Path(program.fn.__code__.co_filename).write_text(
        text[:first] + text[second:end] + text[first:second] + text[end:]
    )
    assert program.uses_first(3.0) == 6.0
    assert adc.grad(program.uses_first)(3.0) == 2.0


def test_methods_that_changed_places(program: Any) -> None:
    """The bodies only: what stands where the method stood is another one."""
    edit(program, "return 2.0 * x\n\nclass", "return 0.0\n\nclass")
    edit(program, "return 5.0 * x", "return 2.0 * x")
    # The same code stands elsewhere, so it can be read there.
    assert adc.grad(program.uses_first)(3.0) == 2.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import numpy as np\n", "# a comment\n\nimport numpy as np\n"),
        ("def helper(x):\n", "def helper(x):\n    # a comment\n"),
        ("return 5.0 * x", "return 6.0 * x"),  # of a function that is not called
    ],
)
def test_edits_that_change_nothing(program: Any, old: str, new: str) -> None:
    edit(program, old, new)
    assert adc.grad(program.fn)(3.0) == 12.0
    assert adc.grad(program.square)(3.0) == 6.0
    assert adc.grad(program.total)(X).tolist() == [3.0, 1.0, 1.0]


def test_lambdas_in_one_line(program: Any) -> None:
    assert [adc.grad(fn)(1.0) for fn in program.pair] == [2.0, 3.0]
    edit(program, "lambda x: 3.0 * x", "lambda x: 4.0 * x")
    assert adc.grad(program.pair[0])(1.0) == 2.0
    adc.release_memory()
    with pytest.raises(SourceError, match="changed"):
        adc.grad(program.pair[1])(1.0)


def test_reloaded_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "reloaded_program.py"
    path.write_text(FILE)
    module: Any = importlib.import_module("reloaded_program")
    old = module.fn
    slope = adc.grad(old)
    assert slope(3.0) == 12.0
    path.write_text("# longer than before\n" + FILE.replace("x * x\n", "x * x * x\n"))
    importlib.reload(module)
    assert adc.grad(module.fn)(3.0) == 54.0
    # The old function finds the new helper in the module, as in Python.
    assert (old(3.0), slope(3.0)) == (54.0, 54.0)


def test_notebook_cell_that_is_run_again() -> None:
    first = kept("def fn(x):\n    return x * x\n", "<cell 1>")
    second = kept("def fn(x):\n    return x * x * x\n", "<cell 2>")
    slope = adc.grad(first.fn)
    assert slope(3.0) == 6.0
    swap(first.fn, second.fn)
    assert slope(3.0) == 27.0
    # The text of the first cell is replaced by another one.
    linecache.cache["<cell 1>"] = linecache.cache["<cell 2>"]
    third = kept("def other(x):\n    return x\n", "<cell 3>")
    assert adc.grad(third.other)(3.0) == 1.0


# -- sources that differ from what is loaded, and may ----------------------------------------------


def with_asserts(x: Any) -> Any:
    """Pytest has rewritten the asserts of this module."""
    total = 0.0
    for k in range(3):
        assert x > k - 1, f"{x} is too small"
        total += k * x
        if total > 100.0:
            assert k
            return total * 2.0
    assert total < 1000.0
    return total


def test_asserts_that_pytest_has_rewritten() -> None:
    assert any(name.startswith("@py") for name in with_asserts.__code__.co_varnames)
    assert adc.grad(with_asserts)(2.0) == 3.0


def test_changes_beside_rewritten_asserts(tmp_path: Path) -> None:
    import ast

    from _pytest.assertion.rewrite import rewrite_asserts

    text = (
        "def fn(x, *, unread=0):\n    for k in range(3):\n"
        "        assert x > 0.0, 'small'\n        x = x * 2.0\n"
        "    assert x\n    return x\n"
    )
    path = tmp_path / "rewritten.py"
    path.write_text(text)
    linecache.checkcache(str(path))
    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode(), str(path))
    names: dict[str, Any] = {}
    exec(compile(tree, str(path), "exec", dont_inherit=True), names)
    assert adc.grad(names["fn"])(3.0) == 8.0
    for change in (("2.0", "3.0"), ("unread", "unused")):
        path.write_text(text.replace(*change))
        with pytest.raises(SourceError, match="changed"):
            source.source_of(names["fn"])
    path.write_text(text.replace("x > 0.0", "x > 1.0"))
    assert source.source_of(names["fn"])


@pytest.mark.parametrize("level", [0, 1, 2])
def test_optimised_code(tmp_path: Path, level: int) -> None:
    text = 'def fn(x):\n    "Square it."\n    assert x\n    return x * x\n'
    path = tmp_path / "optimised.py"
    path.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec", dont_inherit=True, optimize=level), names)
    assert adc.grad(names["fn"])(3.0) == 6.0


SPECIAL = """
from __future__ import annotations
import functools
import math

def decorated(fn):
    return fn

class Base:
    def scaled(self, x):
        return 2.0 * x

class Model(Base):
    def __init__(self):
        self.__weight = 3.0

    @decorated
    @decorated
    def weighted(self, x):
        return self.__weight * x

    def scaled(self, x):
        part = lambda u: u * self.__weight
        return part(x)

if True:
    def within(x: Undefined) -> Undefined:
        def inner(u: Undefined) -> Undefined:
            return math.sin(u)
        return inner(x)

def executed(n):
    if n:
        def fn(x):
            return n * x
        return fn
"""


def test_special_sources(tmp_path: Path) -> None:
    module: Any = load(SPECIAL, tmp_path / "special.py")
    functions = [module.within, module.executed(2), module.executed, module.decorated]
    functions += [fn for cls in (module.Base, module.Model) for fn in vars(cls).values()
                  if isinstance(fn, types.FunctionType)]  # fmt: skip
    found = {source.source_of(fn).node.lineno for fn in functions}
    assert len(found) == len(functions)


@pytest.mark.full
def test_every_function_of_the_tests_is_what_its_file_says() -> None:
    """Imported with pytest's rewriting, or without."""
    from tests.corpus import scalar_programs
    from tests.corpus.language.containers import language_programs
    from tests.corpus.language.derivatives import nested_programs
    from tests.corpus.language.functions import call_programs
    from tests.corpus.loops import control_programs

    count = 0
    corpora = (
        scalar_programs, control_programs, call_programs, language_programs, nested_programs,
    )  # fmt: skip
    for module in (*corpora, sys.modules[__name__]):
        for fn in vars(module).values():
            if isinstance(fn, types.FunctionType) and fn.__code__.co_filename == module.__file__:
                source.source_of(fn)
                count += 1
    assert count > 300
