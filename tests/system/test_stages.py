"""Programs written by hand at every stage: what the passes should arrive at, and that it runs.

`value.ir` is the program, `adjoint.ir` names forward values with `recall`; `store.ir` keeps all of
them, `recompute.ir` as few as it may, and `buffer.ir` is `store.ir` with arrays changed in place.
The stages of a Hessian product are those of the tangent: `value.ir` has one of the value already.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.ir.core import Function, Pop, Push, Recall, Reverse, Stmt, Store, Write, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import problems, verify
from adc.passes.memory.storage import storage
from adc.passes.remat.remat import remat

FOLDER = Path(__file__).parents[1] / "golden" / "stages"
NAMES = ("sum_tanh_sin", "relax", "relax_hvp", "ping_pong")
GRADIENTS = ("sum_tanh_sin", "relax", "ping_pong")
REVERSE = ("adjoint", "store", "recompute", "buffer")
STAGES = ("value", *REVERSE)


@dataclass(frozen=True)
class Source:
    """The Python program of a folder, and sample arguments."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]

    def moved(self, along: Sequence[Any], step: float) -> list[Any]:
        """Return the arguments, moved by `step` along the directions."""
        args = list(self.args)
        for k, direction in zip(self.wrt, along, strict=True):
            args[k] = args[k] + step * direction
        return args

    def directions(self, seed: int = 0) -> list[Any]:
        rng = np.random.default_rng(seed)
        return [np.asarray(rng.uniform(-1, 1, np.shape(self.args[k])))[()] for k in self.wrt]


def source(name: str) -> Source:
    module = importlib.import_module(f"tests.golden.stages.{name}.source")
    return Source(module.fn, module.args, module.wrt)


def text(name: str, stage: str) -> str:
    return (FOLDER / name / f"{stage}.ir").read_text(encoding="utf-8")


def function(name: str, stage: str) -> Function:
    return parse(text(name, stage))


def results(name: str, stage: str, direction: Any = None) -> tuple[Any, ...]:
    """Run a stage; that of a Hessian product takes the direction too."""
    args = source(name).args
    return run(function(name, stage), args if direction is None else (*args, direction))


def difference(fn: Callable[[float], Any], h: float = 2e-3) -> Any:
    """Return the derivative of `fn` at 0, with an error of order h**8."""
    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    return sum(w * (fn(k * h) - fn(-k * h)) for k, w in weights) / h


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    return sum(float(np.sum(x * y)) for x, y in zip(a, b, strict=True))


def same(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether both are equal in every bit, type and shape."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(found, expected, strict=True)]
    return all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs
    )


each = pytest.mark.parametrize(
    ("name", "stage"), [(name, stage) for name in NAMES for stage in STAGES]
)


def test_every_folder_is_tested() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/source.py")} == set(NAMES)
    assert {path.stem for path in FOLDER.glob("*/*.ir")} == set(STAGES)


@each
def test_stage_is_well_formed_and_canonical(name: str, stage: str) -> None:
    fn = function(name, stage)
    assert problems(fn) == []
    assert str(fn) == text(name, stage)
    assert parse(str(fn)) == fn


@each
def test_stage_has_only_its_own_forms(name: str, stage: str) -> None:
    recalls: tuple[type[Stmt], ...] = (Recall, Reverse)
    tapes: tuple[type[Stmt], ...] = (Push, Pop)
    forbidden = {
        "value": (*recalls, *tapes, Write),
        "adjoint": (*tapes, Write),
        "store": (*recalls, Write),
        "recompute": (*recalls, Write),
        "buffer": (*recalls, Store),
    }[stage]
    assert not any(isinstance(stmt, forbidden) for stmt in walk(function(name, stage).body))


@pytest.mark.parametrize("name", NAMES)
def test_stages_agree_in_every_bit(name: str) -> None:
    direction = source(name).directions()[0] if name == "relax_hvp" else None
    adjoint = results(name, "adjoint", direction)
    for stage in REVERSE:
        assert same(results(name, stage, direction), adjoint), stage
    # The value form has the first of each kind of result: the value, and here its tangent.
    kinds = 1 if direction is None else 2
    firsts = adjoint[:: len(adjoint) // kinds]
    assert same(results(name, "value", direction), firsts)


@pytest.mark.parametrize("policy", ["store", "recompute", "auto", "random:3"])
@pytest.mark.parametrize("name", NAMES)
def test_passes_agree_in_every_bit(name: str, policy: str) -> None:
    direction = source(name).directions()[0] if name == "relax_hvp" else None
    args = source(name).args if direction is None else (*source(name).args, direction)
    adjoint = results(name, "adjoint", direction)
    kept = verify(remat(function(name, "adjoint"), policy))
    assert same(run(kept, args), adjoint)
    assert same(run(verify(storage(kept)), args), adjoint)


@pytest.mark.parametrize("name", NAMES)
def test_value_is_that_of_python(name: str) -> None:
    program = source(name)
    direction = program.directions()[0] if name == "relax_hvp" else None
    copies = [np.copy(arg)[()] for arg in program.args]
    for stage in STAGES:
        value = results(name, stage, direction)[0]
        assert value == pytest.approx(program.fn(*program.args), rel=1e-14)
    assert same(program.args, copies), "the arguments were changed"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_agrees_with_differences(name: str, seed: int) -> None:
    program = source(name)
    along = program.directions(seed)
    expected = difference(lambda h: program.fn(*program.moved(along, h)))
    for stage in REVERSE:
        gradient = results(name, stage)[1:]
        assert inner(gradient, along) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_hessian_product_agrees_with_differences_of_gradients(seed: int) -> None:
    program = source("relax_hvp")
    (direction,) = program.directions(seed)
    adjoint = function("relax", "adjoint")
    expected = difference(lambda h: run(adjoint, program.moved([direction], h))[1])
    for stage in REVERSE:
        value, gradient, tangent, product = results("relax_hvp", stage, direction)
        assert same((value, gradient), results("relax", stage))
        assert tangent == pytest.approx(inner([gradient], [direction]), rel=1e-12)
        np.testing.assert_allclose(product, expected, rtol=1e-9)


def test_hessian_is_symmetric() -> None:
    program = source("relax_hvp")
    columns = [results("relax_hvp", "buffer", e)[3] for e in np.eye(len(program.args[0]))]
    np.testing.assert_allclose(np.array(columns), np.array(columns).T, rtol=1e-12)


@pytest.mark.parametrize("limit", [0.1, 0.5, 9.0])
@pytest.mark.parametrize("trips", [0, 1, 6])
def test_paths_of_the_time_loop(trips: int, limit: float) -> None:
    # No step at all, a break in the first or in a later one, no break.
    program = source("relax")
    args = (program.args[0], trips, program.args[2], limit)
    adjoint = run(function("relax", "adjoint"), args)
    assert adjoint[0] == pytest.approx(program.fn(*args), rel=1e-14)
    for stage in REVERSE:
        assert same(run(function("relax", stage), args), adjoint)


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_buffers_that_change_places(trips: int) -> None:
    program = source("ping_pong")
    args = (program.args[0], trips, program.args[2])
    adjoint = run(function("ping_pong", "adjoint"), args)
    assert adjoint[0] == pytest.approx(program.fn(*args), rel=1e-14)
    for stage in REVERSE:
        assert same(run(function("ping_pong", stage), args), adjoint)
