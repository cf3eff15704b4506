"""What a derivative is of: the function as it is at the call, whatever became of it since.

A function is its code, its defaults and what its closure holds; its file is read once it is needed,
and may have changed by then.
"""

from __future__ import annotations

import gc
import importlib
import linecache
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adc
from adc.compiler import dispatch
from adc.frontend import entry
from adc.frontend.syntax import source
from adc.ir.errors import SourceError

X = np.array([1.0, 2.0, 3.0])


def load(text: str, path: Path, **names: Any) -> ModuleType:
    """Import a file, as if for the first time."""
    path.write_text(text)
    linecache.checkcache(str(path))
    made = ModuleType(path.stem)
    vars(made).update(names)
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(made))
    return made


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of functions for which code was made, as it is made."""
    found: list[str] = []
    lower = entry.lower

    def noted(fn: Any, *args: Any, **kwargs: Any) -> Any:
        found.append(fn.__name__)
        return lower(fn, *args, **kwargs)

    monkeypatch.setattr(dispatch, "lower", noted)
    return found


# -- code and defaults that are replaced -----------------------------------------------------------


def square(x: Any) -> Any:
    return x * x


def cube(x: Any) -> Any:
    return x * x * x


def _again(fn: Callable[..., Any]) -> types.FunctionType:
    """Return a function of its own that does the same."""
    assert isinstance(fn, types.FunctionType)
    return types.FunctionType(fn.__code__, globals(), fn.__name__, fn.__defaults__)


def _swap(old: Any, new: Any) -> None:
    """Do what IPython's `%autoreload` does to functions of a module that has changed."""
    for name in ("__code__", "__defaults__", "__doc__", "__dict__"):
        setattr(old, name, getattr(new, name))


HELPER = _again(square)


def calls_a_global(x: Any) -> Any:
    return 2.0 * HELPER(x)


def over_a_closure(helper: Any) -> Any:
    def inner(x: Any) -> Any:
        return 2.0 * helper(x)

    return inner


def over_a_default(helper: Any) -> Any:
    def inner(x: Any, *, fn: Any = helper) -> Any:
        return 2.0 * fn(x)

    return inner


def over_a_tuple(helper: Any) -> Any:
    table = (cube, helper)

    def inner(x: Any) -> Any:
        return 2.0 * table[1](x)

    return inner


def over_a_dict(helper: Any) -> Any:
    table = {"f": helper}

    def inner(x: Any) -> Any:
        return 2.0 * table["f"](x)

    return inner


def over_an_object(helper: Any) -> Any:
    class Model:
        pass

    model = Model()
    model.fn = helper  # type: ignore[attr-defined]

    def inner(x: Any) -> Any:
        return 2.0 * model.fn(x)  # type: ignore[attr-defined]

    return inner


def over_a_method(helper: Any) -> Any:
    class Model:
        step = helper

    def inner(x: Any) -> Any:
        return 2.0 * Model.step(x)

    return inner


def over_a_property(helper: Any) -> Any:
    class Model:
        def __init__(self, x: Any) -> None:
            self.x = x

        value = property(lambda self: helper(self.x))

    def inner(x: Any) -> Any:
        return 2.0 * Model(x).value

    return inner


def over_a_derivative(helper: Any) -> Any:
    def inner(x: Any) -> Any:
        return adc.grad(helper)(x)

    return inner


def over_a_compiled_function(helper: Any) -> Any:
    compiled = adc.jit(helper)

    def inner(x: Any) -> Any:
        return 2.0 * compiled(x)

    return inner


def over_a_checkpoint(helper: Any) -> Any:
    kept = adc.checkpoint(helper)

    def inner(x: Any) -> Any:
        return 2.0 * kept(x)

    return inner


def over_helpers(helper: Any) -> Any:
    return over_a_closure(over_a_tuple(over_a_closure(helper)))


@pytest.mark.parametrize(
    "around",
    [over_a_closure, over_a_default, over_a_tuple, over_a_dict, over_an_object, over_a_method,
     over_a_property, over_a_derivative, over_a_compiled_function, over_a_checkpoint,
     over_helpers],
)  # fmt: skip
def test_replaced_code_of_a_helper(around: Any) -> None:
    helper = _again(square)
    fn = around(helper)
    slope = adc.grad(fn)
    before = adc.grad(around(square))(3.0)
    assert slope(3.0) == before
    _swap(helper, _again(cube))
    assert slope(3.0) == adc.grad(around(cube))(3.0) != before
    _swap(helper, _again(square))
    assert slope(3.0) == before


def test_replaced_code_of_the_function() -> None:
    fn = _again(square)
    slope, hessian, value = adc.grad(fn), adc.hessian(fn), adc.jit(fn)
    assert (slope(3.0), hessian(3.0), value(3.0)) == (6.0, 2.0, 9.0)
    _swap(fn, _again(cube))
    assert (slope(3.0), hessian(3.0), value(3.0)) == (27.0, 18.0, 27.0)
    assert adc.jvp(fn, (3.0,), (1.0,)) == (27.0, 27.0)
    assert adc.vjp(fn, 3.0)[1](1.0) == (27.0,)


def test_replaced_code_before_pulling_back() -> None:
    fn = _again(square)
    _, pull = adc.vjp(fn, 3.0)
    assert pull(1.0) == (6.0,)
    _swap(fn, _again(cube))
    with pytest.raises(adc.AdcError, match="has changed since its value was computed"):
        pull(1.0)


def test_replaced_code_of_a_global_helper() -> None:
    slope = adc.grad(calls_a_global)
    assert slope(3.0) == 12.0
    _swap(HELPER, _again(cube))
    try:
        assert slope(3.0) == 54.0
    finally:
        _swap(HELPER, _again(square))
    assert slope(3.0) == 12.0


def test_replaced_code_of_a_rule() -> None:
    def forward(x: Any) -> Any:
        return x * x, x

    def reverse(x: Any, ct: Any) -> Any:
        return (2.0 * x * ct,)

    def halved(x: Any, ct: Any) -> Any:
        return (x * ct,)

    own = adc.custom_vjp(square)
    own.defvjp(forward, reverse)
    direct, within = adc.grad(own), adc.grad(over_a_closure(own))
    assert (direct(3.0), within(3.0)) == (6.0, 12.0)
    _swap(reverse, halved)
    assert (direct(3.0), within(3.0)) == (3.0, 6.0)


def test_replaced_code_of_a_tangent_rule() -> None:
    def rule(primals: Any, tangents: Any) -> Any:
        return square(primals[0]), 2.0 * primals[0] * tangents[0]

    def halved(primals: Any, tangents: Any) -> Any:
        return square(primals[0]), primals[0] * tangents[0]

    own = adc.custom_jvp(square)
    own.defjvp(rule)
    slope = adc.grad(over_a_closure(own))
    assert slope(3.0) == 12.0
    _swap(rule, halved)
    assert slope(3.0) == 6.0


def test_replaced_code_with_other_parameters() -> None:
    def before(x: Any, w: Any) -> Any:
        return x * w * w

    def after(w: Any, x: Any, scale: Any = 10.0) -> Any:
        return scale * x * w * w

    fn = _again(before)
    slope = adc.grad(fn, argnames="w")
    jacobian = adc.jacrev(fn, argnames=("w",))
    applied = adc.grad(over_two_arguments(slope))
    assert slope(2.0, 3.0) == 12.0
    assert jacobian(2.0, 3.0) == (12.0,)
    assert applied(3.0) == 4.0
    _swap(fn, after)
    # By name it is the first now.
    assert slope(2.0, 3.0) == 120.0
    assert jacobian(2.0, 3.0) == (120.0,)
    assert slope(2.0, 3.0, 1.0) == 12.0
    assert applied(3.0) == 40.0


def over_two_arguments(slope: Any) -> Any:
    def inner(w: Any) -> Any:
        return slope(2.0, w)

    return inner


def test_replaced_defaults_of_the_function() -> None:
    def fn(x: Any, scale: Any = 2.0, *, power: Any = 2) -> Any:
        return scale * x**power

    slope = adc.grad(fn)
    assert slope(3.0) == 12.0
    fn.__defaults__ = (5.0,)
    assert slope(3.0) == 30.0
    fn.__kwdefaults__ = {"power": 3}
    assert slope(3.0) == 135.0
    fn.__kwdefaults__["power"] = 1
    assert slope(3.0) == 5.0


def test_replaced_defaults_of_a_helper() -> None:
    def helper(x: Any, scale: Any = 2.0, *, power: Any = 2) -> Any:
        return scale * x**power

    slope = adc.grad(over_a_closure(helper))
    assert slope(3.0) == 24.0
    helper.__defaults__ = (5.0,)
    assert slope(3.0) == 60.0
    helper.__kwdefaults__ = {"power": 3}
    assert slope(3.0) == 270.0
    helper.__kwdefaults__["power"] = 1
    assert slope(3.0) == 10.0
    helper.__defaults__ = (-0.0,)
    assert np.signbit(slope(3.0))


def test_a_default_that_is_given_does_not_matter(lowered: list[str]) -> None:
    def helper(x: Any, scale: Any = 2.0) -> Any:
        return scale * x

    def fn(x: Any) -> Any:
        return helper(x, 3.0)

    slope = adc.grad(fn)
    assert slope(1.0) == 3.0
    helper.__defaults__ = (7.0,)
    assert slope(1.0) == 3.0
    assert len(lowered) == 1


# -- classes ---------------------------------------------------------------------------------------


def _classes() -> tuple[type, Callable[..., Any]]:
    class Spring:
        stiffness = 2.0

        def __init__(self, x: Any) -> None:
            self.x = x

        def energy(self) -> Any:
            return self.stiffness * self.x * self.x

    def fn(x: Any) -> Any:
        return Spring(x).energy()

    return Spring, fn


def test_replaced_method() -> None:
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0
    cls.energy = lambda self: self.x  # type: ignore[attr-defined]
    assert slope(3.0) == 1.0


def test_replaced_constructor() -> None:
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0

    def doubled(self: Any, x: Any) -> None:
        self.x = 2.0 * x

    cls.__init__ = doubled  # type: ignore[misc]
    assert slope(3.0) == 48.0


def test_replaced_code_of_methods() -> None:
    cls: Any
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0

    def doubled(self: Any, x: Any) -> None:
        self.x = 2.0 * x

    def energy(self: Any) -> Any:
        return self.x

    _swap(cls.__init__, doubled)
    assert slope(3.0) == 48.0
    _swap(cls.energy, energy)
    assert slope(3.0) == 2.0


def test_replaced_attribute_of_a_class_with_another_name() -> None:
    class Settings:
        scale = 2.0

    def fn(x: Any) -> Any:
        chosen = Settings
        return chosen.scale * x

    slope = adc.grad(fn)
    assert slope(3.0) == 2.0
    Settings.scale = 5.0
    assert slope(3.0) == 5.0


def test_replaced_post_init() -> None:
    module: Any = _kept(
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Point:\n    x: float\n    scale: float = 2.0\n"
        "@dataclass\nclass Doubled(Point):\n"
        "    def __post_init__(self):\n        self.x = 2.0 * self.x\n"
        "def fn(x):\n    return Point(x).x * Point(x).scale\n"
        "def doubled(x):\n    return Doubled(x).x * Doubled(x).scale\n"
        "def trebled(self):\n    self.x = 3.0 * self.x\n"
    )
    slope, doubled = adc.grad(module.fn), adc.grad(module.doubled)
    assert (slope(3.0), doubled(3.0)) == (2.0, 4.0)
    module.Point.__post_init__ = module.Doubled.__post_init__ = module.trebled
    # A constructor that was made without it does not call it.
    assert (module.fn(3.0), module.doubled(3.0)) == (6.0, 18.0)
    assert (slope(3.0), doubled(3.0)) == (2.0, 6.0)
    assert adc.grad(module.fn, cache=False)(3.0) == 2.0


def _kept(text: str, name: str = "<identity>") -> ModuleType:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made = ModuleType("kept")
    sys.modules["kept"] = made  # `dataclass` asks for it
    exec(compile(text, name, "exec", dont_inherit=True), vars(made))
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
    first = _kept("def fn(x):\n    return x * x\n", "<cell 1>")
    second = _kept("def fn(x):\n    return x * x * x\n", "<cell 2>")
    slope = adc.grad(first.fn)
    assert slope(3.0) == 6.0
    _swap(first.fn, second.fn)
    assert slope(3.0) == 27.0
    # The text of the first cell is replaced by another one.
    linecache.cache["<cell 1>"] = linecache.cache["<cell 2>"]
    third = _kept("def other(x):\n    return x\n", "<cell 3>")
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
        "def fn(x):\n    for k in range(3):\n        assert x > 0.0, 'small'\n        x = x * 2.0\n"
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
    path.write_text(text.replace("2.0", "3.0"))
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


def test_every_function_of_the_tests_is_what_its_file_says() -> None:
    """Imported with pytest's rewriting, or without."""
    from tests.corpus import programs
    from tests.corpus.language import language_programs, nested_programs

    count = 0
    for module in (programs, language_programs, nested_programs, sys.modules[__name__]):
        for fn in vars(module).values():
            if isinstance(fn, types.FunctionType) and fn.__code__.co_filename == module.__file__:
                source.source_of(fn)
                count += 1
    assert count > 300


# -- derivatives that are recreated at every call ------------------------------------------------


def test_derivatives_made_anew_share_code(lowered: list[str]) -> None:
    for _ in range(3):
        assert adc.grad(square)(3.0) == 6.0
        assert adc.value_and_grad(square)(3.0) == (9.0, 6.0)
        assert adc.jit(square)(3.0) == 9.0
        assert adc.jvp(square, (3.0,), (1.0,)) == (9.0, 6.0)
        assert adc.vjp(square, 3.0)[1](1.0) == (6.0,)
        assert adc.jacrev(square)(X).tolist() == np.diag(2.0 * X).tolist()
    assert len(lowered) == 7  # `vjp` and `jacrev` take two


def test_functions_made_anew_share_code(lowered: list[str]) -> None:
    for k in range(1, 4):
        assert adc.jvp(lambda x: k * x, (3.0,), (1.0,)) == (3.0 * k, k)  # noqa: B023
        assert adc.grad(over_a_closure(lambda x: k * x))(3.0) == 2.0 * k  # noqa: B023
    assert lowered == ["<lambda>", "inner"]


def test_other_functions_do_not(lowered: list[str]) -> None:
    for helper, wanted in ((square, 12.0), (cube, 54.0), (square, 12.0), (cube, 54.0)):
        assert adc.grad(over_a_closure(helper))(3.0) == wanted
    assert len(lowered) == 2


def test_flags_in_closures(lowered: list[str]) -> None:
    def made(kind: Any, shape: Any, start: Any) -> Any:
        def fn(x: Any) -> Any:
            y = x * 2.0 if kind == "double" else x
            return np.sum(np.ones(shape) * y) + start

        return fn

    for kind, wanted in (("double", 12.0), ("single", 6.0), ("double", 12.0)):
        assert adc.grad(made(kind, (2, 3), 0.5))(1.0) == wanted
    assert len(lowered) == 2
    assert adc.grad(made("single", (2, 2), 0.5))(1.0) == 4.0


def test_recursive_functions_made_anew(lowered: list[str]) -> None:
    def made(k: Any) -> Any:
        def power(x: Any, n: Any) -> Any:
            return k if n == 0 else x * power(x, n - 1)

        return power

    assert [adc.grad(made(k))(2.0, 3) for k in (1.0, 2.0, 3.0)] == [12.0, 24.0, 36.0]
    assert len(lowered) == 1


def test_functions_as_arguments(lowered: list[str]) -> None:
    def twice(fn: Any, x: Any) -> Any:
        return fn(fn(x))

    slope = adc.grad(twice, argnums=1)
    for k in (1.0, 2.0, 3.0):
        assert slope(lambda x: k * x, 3.0) == k * k  # noqa: B023
    assert slope(square, 3.0) == 108.0
    assert len(lowered) == 2


def test_one_function_under_two_names(lowered: list[str]) -> None:
    """Code for one object is not taken for two, nor the other way round."""

    def made(first: Any, second: Any) -> Any:
        def same(x: Any) -> Any:
            return 2.0 * x if first is second else 3.0 * first(x) * second(x)

        def table(x: Any) -> Any:
            return {first: 1.0, second: 5.0}[first] * x

        def chosen(x: Any) -> Any:
            fn = first if x > 2.0 else second
            return fn(x)

        return same, table, chosen

    def scaled(k: Any) -> Any:
        return lambda x: k * x

    for _ in range(2):
        one, other = scaled(2.0), scaled(2.0)
        for first, second in ((one, one), (one, other), (other, one), (other, other)):
            same, table, _chosen = made(first, second)
            assert adc.grad(same)(3.0) == (2.0 if first is second else 72.0)
            assert adc.grad(table)(3.0) == (5.0 if first is second else 1.0)
    one = scaled(2.0)
    assert adc.grad(made(one, one)[2])(3.0) == 2.0
    assert adc.grad(made(one, scaled(7.0))[0])(3.0) == 3.0 * 2.0 * 7.0 * 2.0 * 3.0


def test_a_function_that_is_found_in_two_ways() -> None:
    """In a closure, which may hold another one next time, and in a table that stays."""

    def scaled(k: Any) -> Any:
        return lambda x: k * x

    def made(fn: Any, table: Any) -> Any:
        def program(x: Any) -> Any:
            return 10.0 * table[0](x) + fn(x)

        def joined(x: Any, n: Any) -> Any:
            chosen = fn
            for _ in range(n):
                chosen = table[0]
            return chosen(x)

        return program, joined

    first, second = scaled(2.0), scaled(3.0)
    table = (first,)
    program, joined = made(first, table)
    assert (adc.grad(program)(1.0), adc.grad(joined)(1.0, 2)) == (22.0, 2.0)
    program, _ = made(second, table)
    assert adc.grad(program)(1.0) == 23.0
    program, joined = made(first, (first,))
    assert (adc.grad(program)(1.0), adc.grad(joined)(1.0, 0)) == (22.0, 2.0)


def test_returned_function_is_that_of_the_call() -> None:
    def made(k: Any) -> Any:
        def helper(x: Any) -> Any:
            return k * x

        return lambda x: (helper(x), helper), helper

    for k in (2.0, 3.0):
        fn, helper = made(k)
        value, (slope, found) = adc.value_and_grad(fn, has_aux=True)(1.0), (k, helper)
        assert (value[0][0], value[0][1], value[1]) == (k, found, slope)


def test_methods_share_code(lowered: list[str]) -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w

        def loss(self, x: Any) -> Any:
            return self.w * x

    for w in (2.0, 3.0):
        assert adc.grad(Model(w).loss)(1.0) == w
        assert adc.grad(Model.loss, argnums=1)(Model(w), 1.0) == w
    assert len(lowered) == 2


def test_derivatives_of_derivatives_that_are_methods() -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w

        @adc.grad(argnums=1)
        def by_number(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        @adc.grad(argnames="x")
        def by_name(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        @adc.grad(argnums=-1)
        def by_last(self, x: Any, y: Any) -> Any:
            return self.w * y * x * x

        @adc.grad
        def by_object(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        rows = adc.jacrev(lambda self, x: self.w * x * x, argnums=1)

    model = Model(2.0)
    for derivative in (model.by_number, model.by_name):
        assert derivative(3.0, 5.0) == 60.0
        assert adc.jvp(derivative, (3.0, 5.0), (1.0, None)) == (60.0, 20.0)
        assert adc.grad(derivative)(3.0, 5.0) == 20.0
    assert adc.grad(model.by_last)(3.0, 5.0) == 12.0
    with pytest.raises(adc.AdcError, match="with respect to the object that it is bound to"):
        adc.jvp(model.by_object, (3.0, 5.0), (1.0, None))
    assert adc.grad(model.rows)(3.0) == 4.0


def test_nothing_that_functions_hold_is_kept() -> None:
    def made(data: Any) -> Any:
        def helper(u: Any) -> Any:
            return np.sum(u * data)

        return lambda x: helper(x) * data[0]

    class Held:
        def __init__(self, w: Any) -> None:
            self.w = w

        def loss(self, x: Any) -> Any:
            return np.sum(self.w * x)

    def of_object(held: Any, x: Any) -> Any:
        return np.sum(held.w * x)

    def of_function(fn: Any, x: Any) -> Any:
        return fn(x)

    arrays = [np.ones(3) for _ in range(4)]
    fn = made(arrays[0])
    held, other = Held(arrays[1]), Held(arrays[2])
    adc.grad(fn)(X)
    adc.jvp(fn, (X,), (X,))
    adc.vjp(fn, X)[1](1.0)
    adc.grad(held.loss)(X)
    adc.grad(of_object, argnums=1)(other, X)
    adc.grad(of_function, argnums=1)(made(arrays[3]), X)
    watched = [weakref.ref(each) for each in (*arrays, fn, held, other)]
    del arrays, fn, held, other
    gc.collect()
    assert [k for k, each in enumerate(watched) if each() is not None] == []


def test_large_workspaces_are_given_back() -> None:
    def fn(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = np.sin(x)
        return np.sum(x)

    slope = adc.grad(fn)
    slope(np.ones(1000), 500)
    kernel = slope.compiled_for().entry.kernel
    assert kernel.nbytes > 2**20
    other = adc.grad(fn)
    assert other(np.ones(1000), 500).shape == (1000,)
    del slope
    assert kernel.nbytes > 2**20
    del other
    assert kernel.nbytes == 0
    adc.grad(fn)(np.ones(3), 1)
    assert kernel.nbytes > 0


def test_code_is_forgotten(lowered: list[str]) -> None:
    adc.grad(square)(3.0)
    adc.release_memory()
    adc.grad(square)(3.0)
    assert len(lowered) == 2


def test_recursive_functions_with_one_code() -> None:
    """They are not one function: each has what its own closure holds."""

    def made(k: Any, inner: Any = None) -> Any:
        def power(x: Any, n: Any) -> Any:
            return k * x if n == 0 else x * power(x, n - 1)

        def around(x: Any) -> Any:
            return k * x * x if inner is None else k * inner(x)

        return power, around

    (first, _), (second, _) = made(2.0), made(3.0)

    def both(x: Any) -> Any:
        return first(x, 2) + second(x, 3)

    assert adc.jit(both)(1.5) == both(1.5)
    _, inside = made(2.0)
    _, outside = made(3.0, inside)
    assert adc.grad(outside)(1.5) == 18.0


# -- what is checked at every call -----------------------------------------------------------------


def test_functions_of_numpy_are_compared_as_such() -> None:
    """By what they are: their attributes are nobody's concern, and take long to look through."""

    def fn(x: Any) -> Any:
        return np.sum(x) + np.mean(x) + np.max(x) + np.dot(x, x) + np.linalg.norm(x)

    slope = adc.grad(fn)
    slope(X)
    guards = slope.compiled_for().lowered.guards
    assert len(guards) >= 6
    assert [guard.place for guard in guards if guard.key is not None] == []


def test_replaced_function_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: Any) -> Any:
        return np.sum(x * x)

    slope = adc.grad(fn)
    assert slope(X).tolist() == [2.0, 4.0, 6.0]
    monkeypatch.setattr(np, "sum", np.max)
    assert slope(X).tolist() == [0.0, 0.0, 6.0]


@pytest.fixture(autouse=True)
def texts() -> Iterator[None]:
    yield
    for name in [name for name in linecache.cache if name.startswith(("<cell", "<identity"))]:
        del linecache.cache[name]
    sys.modules.pop("kept", None)


def _twice(t: Any, x: Any) -> Any:
    # fmt: off
    return (lambda s: adc.grad(lambda x: x * x * s)(x) + adc.grad(lambda x: adc.grad(lambda y: y**3)(x))(x))(t)  # noqa: E501
    # fmt: on


def test_a_lambda_within_another_in_one_line() -> None:
    assert _twice(2.0, 3.0) == 30.0
    assert adc.jit(_twice)(2.0, 3.0) == 30.0
