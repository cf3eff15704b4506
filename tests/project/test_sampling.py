"""The short run: what it leaves out, and what it touches all the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import workers
from tests.corpus.programs import PROGRAMS
from tests.oracle.chain import WAYS
from tests.sampling import FEW, PAIRS, Candidate, part, sample

SOME = PROGRAMS[::4]


def candidates(function: str, every: float, **more: Any) -> list[Candidate]:
    """Return the items of a function over some programs, and over the values of `more`."""
    found: list[Mapping[str, Any]] = [{"program": program} for program in SOME]
    for name, values in more.items():
        found = [{**params, name: value} for params in found for value in values]
    return [
        Candidate(f"{function}[{'-'.join(map(str, params.values()))}]", every, params)
        for params in found
    ]


def programs(chosen: frozenset[str], among: list[Candidate]) -> set[str]:
    return {each.params["program"].name for each in among if each.name in chosen}


CHEAP = candidates("test_cheap", 4)
COSTLY = candidates("test_costly", 1000, way=["a", "b", "c"], seed=range(3))


def test_every_program_function_and_value_is_touched() -> None:
    both = [*CHEAP, *COSTLY]
    chosen = sample(both)
    assert programs(chosen, both) == {program.name for program in SOME}
    for name, values in {"way": {"a", "b", "c"}, "seed": {0, 1, 2}}.items():
        assert {each.params[name] for each in COSTLY if each.name in chosen} == values
    # Programs are left to the function that costs less.
    assert sum(each.name in chosen for each in COSTLY) < 20 < len(SOME)


@pytest.mark.parametrize("every", [PAIRS, PAIRS + 1])
def test_functions_that_cost_little_meet_every_program_and_module(every: int) -> None:
    (one, *_) = candidates("test_x", every)
    keys = set(one.keys(frozenset()))
    assert "test_x" in keys
    assert (("program", SOME[0].name) in keys) == (every == PAIRS)
    assert (("test_x", SOME[0].fn.__module__) in keys) == (every == PAIRS)


def test_one_in_so_many() -> None:
    many = [Candidate(f"test_seeds[{k}]", 10, {"seed": k}) for k in range(10000)]
    assert 900 < len(sample(many)) < 1100
    some = [Candidate(f"test_x[{k}]", 1e9, {"seed": k, "way": k % FEW}) for k in range(999)]
    assert len(sample(some)) in (FEW, FEW + 1)  # each of few values, and the function's least
    assert sample([Candidate("test_rare", 1e9, {})]) == {"test_rare"}
    assert len(sample([Candidate(f"test_rare[{k}]", 1e9, {"k": k}) for k in range(99)])) == 1


def test_the_order_of_the_items_does_not_matter() -> None:
    both = [*CHEAP, *COSTLY]
    wanted = sample(both)
    for seed in range(3):
        random.Random(seed).shuffle(both)
        assert sample(both) == wanted


def test_ranks_are_those_of_any_machine() -> None:
    assert Candidate("test_x[a]", 2**32, {}).rank == 3056147476


def pytest_of(*args: str, **environment: str) -> str:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | environment
    done = subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return done.stdout


def collected(*args: str, **environment: str) -> set[str]:
    printed = pytest_of("--collect-only", *args, **environment)
    return {line for line in printed.splitlines() if "::" in line}


@pytest.mark.full
def test_the_rest_is_what_the_short_run_leaves_out() -> None:
    file = "tests/unit/passes/ad/test_directions.py"
    short = collected(file, PYTHONHASHSEED="1")
    rest = collected(file, "--rest", PYTHONHASHSEED="2")
    full = collected(file, "--full")
    assert short
    assert rest
    assert not short & rest
    assert short | rest == full
    # Every function that is not marked `full`, and every way to directions.
    unmarked = collected(file, "-k", "test_")
    assert {item.partition("[")[0] for item in short} == {
        item.partition("[")[0] for item in unmarked
    }
    assert all(any(f"_way[{way}-" in item for item in short) for way in WAYS)


@pytest.mark.full
def test_parts_have_programs_of_their_own() -> None:
    file = "tests/unit/passes/ad/test_directions.py"
    parts = [collected(file, "--rest", "--part", f"{k}/3") for k in (1, 2, 3)]
    assert sum(len(each) for each in parts) == len(set().union(*parts))
    assert set().union(*parts) == collected(file, "--rest")
    among = [{item.partition("way[")[2].partition("-")[2] for item in each} for each in parts]
    assert all(among)
    assert not (among[0] & among[1] - {""})


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b"])
def test_what_is_not_a_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"part|invalid literal"):
        part(text)


@pytest.mark.full
def test_what_the_user_chooses_is_not_sampled() -> None:
    file = "tests/system/test_gradients.py"
    chosen = collected(file, "-k", "test_compiled")
    assert chosen == collected(f"{file}::test_compiled")
    assert len(chosen) > 200


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param(("-n", "2"), marks=pytest.mark.full),
        pytest.param(("-n", "0"), marks=pytest.mark.full),
        pytest.param(("-p", "no:xdist"), marks=pytest.mark.full),
    ],
)
def test_what_is_left_out_is_deselected(workers: tuple[str, ...]) -> None:
    """Whether there are workers or not: the number stands in the closing line."""
    closing = pytest_of("tests/project/test_startup.py", "--rest", *workers).splitlines()[-1]
    assert "2 deselected in" in closing
    assert "skipped" not in closing


@pytest.mark.full
def test_a_large_run_has_a_worker_for_each_core() -> None:
    """Which has none of its own; a run of one file has none."""
    printed = pytest_of("tests/unit/inspect", "--rest", "-v")
    assert f"{workers()} worker" in printed
    assert "worker" not in pytest_of("tests/unit/inspect/test_plan.py", "--rest", "-v")
    within = pytest_of("tests/unit/inspect", "--rest", "-v", PYTEST_XDIST_WORKER="gw0")
    assert "worker" not in within


def test_the_rest_is_a_part_of_everything() -> None:
    with pytest.raises(AssertionError, match="--rest is a part of --full"):
        pytest_of("--full", "--rest")
