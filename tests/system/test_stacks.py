"""Lists of elements that are alike: passed as arrays, whatever a loop over them would take."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import numpy as np
import optree
import pytest

import adc
from adc.frontend.language import unrolling
from adc.ir.errors import MemoryBudgetError
from adc.testing import check_grads
from tests.corpus.language.containers.stack_programs import ONE_BY_ONE, STACK_PROGRAMS
from tests.corpus.program import Program
from tests.fuzz.families import fuzz_layers


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pass lists as stacks that loops take, however short their bodies are."""
    monkeypatch.setattr(unrolling, "REPEATED", 0)


def flat(tree: Any) -> list[Any]:
    leaves = optree.tree_leaves(tree, none_is_leaf=True)
    return [inner for leaf in leaves for inner in parts(leaf)]


def parts(leaf: Any) -> list[Any]:
    found = vars(leaf) if hasattr(leaf, "__dict__") else None
    return [leaf] if found is None else flat(list(found.values()))


def same(a: Any, b: Any, exactly: bool = True) -> None:
    first, second = flat(a), flat(b)
    assert len(first) == len(second)
    for x, y in zip(first, second, strict=True):
        assert type(x) is type(y)
        if x is None:
            continue
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        if exactly:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(
                x, y, rtol=1e-5 if np.asarray(x).dtype == np.float32 else 1e-12
            )


def one_by_one(program: Program, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """Return value and gradient without stacks, in CPython: nothing is compiled for them."""
    with monkeypatch.context() as patch:
        patch.setattr(unrolling, "REPEATED", 10**9)
        derivative = adc.value_and_grad(program.fn, program.argnums, target="python", **options)
        return derivative(*program.make_args())


def stacks_of(derivative: Any) -> Any:
    return derivative._code._family.stacks


# In the short run, too: three ways of walking along a list.
ALWAYS = {"tuples", "in_pairs", "while_there_are_layers"}
# What is compiled fast.
SIMPLE = {"axes_of_size_1"}


def only(programs: list[Program], short: set[str]) -> list[Any]:
    """Return parameters of which some are in the short run."""
    return [pytest.param(p, marks=[] if p.name in short else [pytest.mark.full]) for p in programs]


@pytest.mark.full
@pytest.mark.parametrize("program", only(STACK_PROGRAMS, ALWAYS), ids=str)
def test_stacks(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    want = one_by_one(program, monkeypatch, deterministic=True)
    # Options of its own: code is shared by derivatives with equal options.
    derivative = adc.value_and_grad(program.fn, program.argnums, cache=False)
    for _ in range(3):  # the third call reads its arguments in another way
        found = derivative(*program.make_args())
        same(found, want, exactly=False)
    assert stacks_of(derivative)


@pytest.mark.full
@pytest.mark.parametrize("program", only(ONE_BY_ONE, {"written_elements"}), ids=str)
def test_elements_one_by_one(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    want = one_by_one(program, monkeypatch)
    derivative = adc.value_and_grad(program.fn, program.argnums, cache=False)
    same(derivative(*program.make_args()), want)
    assert not stacks_of(derivative)


Arrays = float | np.ndarray | np.generic


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    wrong, ways = fuzz_layers.check(seed)
    assert not wrong
    assert ways == {"stacks"}


SOME = [p for p in STACK_PROGRAMS if p.name in {
    "dicts", "by_index", "tuples", "objects", "numbers_in_elements", "there_and_back", "exits",
    "a_list_in_a_dict", "lists_in_elements", "axes_of_size_1",
}]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("program", only(SOME, SIMPLE), ids=str)
@pytest.mark.parametrize("options", [
    {"target": "python"}, {"remat": "recompute"}, {"remat": "store"}, {"parallel": 2},
], ids=str)  # fmt: skip
def test_options(
    program: Program, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    want = one_by_one(program, monkeypatch, deterministic=True)
    derivative = adc.value_and_grad(program.fn, program.argnums, **options)
    for _ in range(3):
        same(derivative(*program.make_args()), want, exactly=False)
    assert stacks_of(derivative)


@pytest.mark.parametrize("program", only(SOME, SIMPLE), ids=str)
def test_directions(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tangents and cotangents are lists like the arguments."""
    value, gradient = one_by_one(program, monkeypatch)
    args = program.make_args()
    primals = [args[k] for k in program.argnums]

    def of(*moved: Any) -> Any:
        given = list(args)
        for k, arg in zip(program.argnums, moved, strict=True):
            given[k] = arg
        return program.fn(*given)

    found, pull = adc.vjp(of, *primals)
    assert np.isclose(found, value, rtol=1e-12)
    same(pull(1.0), gradient, exactly=False)
    found, slope = adc.jvp(of, tuple(primals), gradient)
    squares = [np.sum(np.square(leaf)) for leaf in flat(gradient) if isinstance(leaf, Arrays)]
    assert np.isclose(slope, sum(squares), rtol=1e-10)


def network(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = np.tanh(x @ layer["w"]) + layer["b"]
    return np.sum(x * x)


def model(count: int, size: int = 4) -> list[Any]:
    rng = np.random.default_rng(count)
    return [
        {"w": rng.standard_normal((size, size)), "b": rng.standard_normal(size)}
        for _ in range(count)
    ]


@pytest.mark.full
@pytest.mark.parametrize("counts", [(3, 2), pytest.param((3, 12, 2, 7), marks=pytest.mark.full)])
def test_a_layer_more_runs_the_same_code(
    counts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    derivative = adc.value_and_grad(network, (0, 1), cache=False)
    for count in counts:
        with monkeypatch.context() as patch:
            patch.setattr(unrolling, "REPEATED", 10**9)
            one_by_one = adc.value_and_grad(network, (0, 1), target="python", deterministic=True)
            want = one_by_one(x, model(count))
        for _ in range(3):
            same(derivative(x, model(count)), want, exactly=False)
    assert len(derivative._code.compiled()) == 1
    assert len(derivative(x, model(1))[1][1]) == 1  # no list of elements that are alike
    assert len(derivative._code.compiled()) == 2


def test_a_list_within_others_is_passed_as_one() -> None:
    def within(x: Any, held: Any) -> Any:
        return network(x, held["model"][0])

    x, layers = np.linspace(-1.0, 1.0, 20).reshape(5, 4), model(3)
    wanted = adc.value_and_grad(network, target="python")(x, layers)
    derivative = adc.value_and_grad(within, target="python")
    same(derivative(x, {"model": (layers, 1.0)}), wanted, exactly=False)
    assert stacks_of(derivative)


def test_layers_of_other_shapes_are_not_alike() -> None:
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    derivative = adc.value_and_grad(network, (0, 1), target="python")
    derivative(x, model(3))
    derivative(x, model(3))
    layers = model(3)
    layers[2] = {"w": np.ones((4, 6)), "b": np.ones(6)}
    value, (_, found) = derivative(x, layers)
    assert found[2]["w"].shape == (4, 6)
    assert value == pytest.approx(network(x, layers), rel=1e-12)
    layers = model(3)
    layers[1]["w"] = layers[1]["w"].T  # another layout
    value, (_, found) = derivative(x, layers)
    assert value == pytest.approx(network(x, layers), rel=1e-12)
    layers[1]["b"] = layers[1]["b"].astype(np.float32)
    value, (_, found) = derivative(x, layers)
    assert found[1]["b"].dtype == np.float32
    assert value == pytest.approx(network(x, layers), rel=1e-6)


def residual(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = x + np.tanh(x @ layer["w"] + layer["b"])
    return np.sum(x * x)


@pytest.mark.full
@pytest.mark.parametrize("part", [2, 4])
def test_budgets(part: int) -> None:
    x = np.linspace(-1.0, 1.0, 400).reshape(50, 8)
    layers = model(64, 8)
    free = adc.value_and_grad(residual, (0, 1), cache=False)
    want = free(x, layers)
    most = free.plan(x, layers).peak_bytes
    assert most is not None
    tight = adc.value_and_grad(residual, (0, 1), memory=most // part, cache=False)
    same(tight(x, layers), want)
    assert stacks_of(tight)


@pytest.mark.full
def test_the_least_budget_is_that_of_the_code_that_needs_less() -> None:
    """The list as a stack first, its elements one by one then: the error names the lesser."""
    x, layers = np.linspace(-1.0, 1.0, 400).reshape(50, 8), model(12, 8)
    with pytest.raises(MemoryBudgetError) as caught:
        adc.grad(residual, memory=1, cache=False)(x, layers)
    least = caught.value.least
    assert least is not None
    within = adc.grad(residual, memory=least, cache=False)
    same(within(x, layers), adc.grad(residual, cache=False)(x, layers))
    with pytest.raises(MemoryBudgetError):
        adc.grad(residual, memory=least - 1, cache=False)(x, layers)


@pytest.mark.full
def test_short_loops_take_the_elements_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    derivative = adc.value_and_grad(network, (0, 1), cache=False)
    derivative(x, model(3))
    assert not stacks_of(derivative)


def of_given_length(x: Any, ws: Any, count: Any) -> Any:
    for k in range(count):
        x = np.tanh(x @ ws[k])
    return np.sum(x)


def test_an_index_known_only_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the loop is: it would be refused."""
    monkeypatch.undo()
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    ws = [layer["w"] for layer in model(5)]
    derivative = adc.value_and_grad(of_given_length, (0, 1))
    for count in (2, 5):
        value, (_, found) = derivative(x, ws, count)
        assert value == pytest.approx(of_given_length(x, ws, count), rel=1e-12)
        assert not np.any(found[4]) == (count == 2)
    assert stacks_of(derivative)
    with pytest.raises(IndexError, match="list index out of range"):
        derivative(x, ws, 6)


def by_index(x: Any, ws: Any, bs: Any) -> Any:
    for k in range(len(ws)):
        x = np.tanh(x @ ws[k] + bs[k])
    return np.sum(x)


@pytest.mark.full
def test_arrays_of_several_shapes_by_index() -> None:
    sizes = [4, 5, 6, 3]
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    ws = [np.ones((a, b)) / a for a, b in itertools.pairwise(sizes)]
    bs = [np.linspace(0.0, 1.0, size) for size in sizes[1:]]
    value, (found, _) = adc.value_and_grad(by_index, (1, 2), target="python")(x, ws, bs)
    assert value == pytest.approx(by_index(x, ws, bs), rel=1e-12)
    assert [g.shape for g in found] == [w.shape for w in ws]
    check_grads(lambda x: by_index(x, ws, bs), (x,), modes="rev")


@pytest.mark.full
def test_arrays_stay_as_long_as_their_addresses_are_used() -> None:
    x = np.linspace(-1.0, 1.0, 20).reshape(5, 4)
    derivative = adc.value_and_grad(network, (0, 1), cache=False)
    layers = model(3)
    for _ in range(2):
        derivative(x, layers)
    code = derivative._code
    read: Any = code.last and code.last._read
    given = read(code.match((x, layers), {}))
    alive = weakref.ref(layers[1]["w"])
    layers.clear()
    gc.collect()
    assert alive() is not None
    del given
    assert alive() is None
