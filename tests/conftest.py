"""Options and fixtures that more than one test file uses.

By default every program of the corpus goes through the interpreter: its value, its gradient, every
pass, plans, forward and reverse mode. Some programs are compiled. With ``--slow`` all of them are,
under three plans each, every plan is interpreted for every program, and numerics are tested as on
another machine, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import adc
from adc.ir.opdef import OPS
from adc.passes import stages

# Before Numba is imported: `target="cuda"` runs in its simulator.
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden that are made from output",
    )
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_configure(config: pytest.Config) -> None:
    stages.VERIFY_EACH = True
    # A run that rewrites what it should compare with would pass whatever happens.
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="slow: run with --slow")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Begin every test as a process does: without code that derivatives made before share."""
    adc.release_memory()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file under tests/golden, or rewrite that with --update-golden."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing: run pytest with --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def evaluations() -> Iterator[Callable[[str], int]]:
    """Return how often the interpreter computed an operation since that was last asked."""
    counts: dict[str, int] = {}
    undo: list[Callable[[], None]] = []

    def since(name: str) -> int:
        op = OPS[name]
        if name not in counts:
            evaluate = op.evaluate

            def counted(*args: Any) -> Any:
                counts[name] += 1
                return evaluate(*args)

            # Which is frozen, so that nothing else does this.
            object.__setattr__(op, "evaluate", counted)
            undo.append(lambda: object.__setattr__(op, "evaluate", evaluate))
        found, counts[name] = counts.get(name, 0), 0
        return found

    yield since
    for each in undo:
        each()
