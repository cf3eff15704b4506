"""Options and fixtures that more than one test file uses.

By default pytest makes the short run, about five minutes on two cores: everything but what is
marked `full`, and a sample of what is marked `sampled` (see `tests/sampling.py`). With `--full` it
runs all: every program of the corpus is compiled, interpreted under every plan, shared among
threads. `--part 2/5` runs the second of five parts of what would be run. What is not run is
deselected, not skipped; a skipped test lacks something on this machine.

A run of the whole suite has a worker for each core (`-n 0` has none, `-n 2` two).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import adc
from adc.ir.opdef import OPS
from adc.passes import stages
from tests import sampling

# Before Numba is imported: `target="cuda"` runs in its simulator.
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")
# It polls its threads until they wait for each other: they must get to run meanwhile.
sys.setswitchinterval(1e-4)
# The garbage collector may look less often: most of what tests make is trees, which reference
# counts free.
gc.set_threshold(50_000, 20, 20)

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
# Here the result of every pass is verified, not only that of the last one of a run: every program
# of the corpus goes through all passes. With --full it is verified everywhere.
VERIFIED = (TESTS / "system", TESTS / "unit" / "passes")
# Here machine code is optimised. It takes LLVM half of the time that a test takes elsewhere, where
# it is left as it stands: those tests are about what is called, and how. With --full it is
# optimised everywhere; `NUMBA_OPT=3` does so in the short run, which CI makes.
OPTIMISED = (
    TESTS / "system",
    TESTS / "unit" / "backend",
    TESTS / "unit" / "bench",
    TESTS / "unit" / "passes" / "target",
)
OPT = os.environ.get("NUMBA_OPT")
# Each holds about 1.5 GB: compiled code.
MOST_WORKERS = 8
DESELECTED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden that are made from output",
    )
    parser.addoption("--full", action="store_true", help="run everything")
    parser.addoption(
        "--rest", action="store_true", help="run what is left out without --full, and only that"
    )
    parser.addoption(
        "--part",
        metavar="K/N",
        type=sampling.part,
        help="run the K-th of N parts of it, each of which has programs of its own",
    )


@pytest.hookimpl(tryfirst=True)  # before xdist makes the workers that its options ask for
def pytest_cmdline_main(config: pytest.Config) -> None:
    if config.getoption("--full") and config.getoption("--rest"):
        raise pytest.UsageError("--rest is a part of --full: give one of them")
    # A worker, or what a test starts, has no workers of its own.
    within = "PYTEST_XDIST_WORKER" in os.environ
    if not config.pluginmanager.hasplugin("xdist") or config.option.tx or within:
        return
    alone = config.option.usepdb or config.option.trace or config.option.capture == "no"
    if config.option.numprocesses is None and not alone and _is_large(config):
        config.option.numprocesses = workers()
    if config.option.numprocesses and config.option.dist == "no":
        # Neighbours share what is compiled; the one that is done takes from the other.
        config.option.dist = "worksteal"


def workers() -> int:
    """Return how many workers a large run has: one for each core that it may use."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)


def _is_large(config: pytest.Config) -> bool:
    """Whether starting workers pays: they need seconds to import adc and to collect."""
    return all(Path(arg).is_dir() for arg in config.args)


def pytest_configure(config: pytest.Config) -> None:
    # A run that rewrites what it should compare with would pass whatever happens.
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set")


@pytest.hookimpl(trylast=True)  # after -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = list(items)
    if not config.getoption("--full") and not any("::" in arg for arg in config.args):
        chosen = sampling.short(items, whole=bool(config.option.keyword))
        rest = config.getoption("--rest")
        items[:] = [item for item in items if (item.nodeid in chosen) != rest]
    if (part := config.getoption("--part")) is not None:
        items[:] = [item for item in items if sampling.is_in(part, item)]
    kept = {item.nodeid for item in items}
    if left := [item for item in found if item.nodeid not in kept]:
        config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Let the garbage collector not look at modules and items."""
    gc.collect()
    gc.freeze()


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items:
        config = items[0].config
        config.stash[DESELECTED] = config.stash.get(DESELECTED, 0) + len(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    # A worker tells how many it was not to run, which is lost otherwise: all leave out the same.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["deselected"] = session.config.stash.get(DESELECTED, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Put the number into the closing line."""
    reporter = node.config.pluginmanager.getplugin("terminalreporter")
    count = getattr(node, "workeroutput", {}).get("deselected", 0)
    if reporter is not None and count:
        reporter.stats["deselected"] = [SimpleNamespace()] * count


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Iterator[None]:
    """Let a KeyboardInterrupt fail the test that lets it out, not end the worker.

    The user's Ctrl-C reaches the process that has the workers, which ends them.
    """
    try:
        return (yield)
    except KeyboardInterrupt as error:
        if "PYTEST_XDIST_WORKER" in os.environ:
            raise RuntimeError("a KeyboardInterrupt leaves the test") from error
        raise


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    """Begin every test as a process does: without code that derivatives made before share."""
    adc.release_memory()
    everywhere = request.config.getoption("--full") or request.config.getoption("--rest")
    stages.VERIFY_EACH = everywhere or any(map(request.node.path.is_relative_to, VERIFIED))
    if OPT is None:
        optimised = everywhere or any(map(request.node.path.is_relative_to, OPTIMISED))
        _optimise(3 if optimised else 0)


def _optimise(level: int) -> None:
    """Set the level at which machine code is optimised from now on, also by what a test starts."""
    from adc.backend.cpu.target import Dispatcher
    from adc.backend.numba_api import config

    # Which is made for the level that is set when it is first asked for.
    assert Dispatcher.targetdescr.target_context is not None
    config.OPT = type(config.OPT)(level)
    os.environ["NUMBA_OPT"] = str(level)


@pytest.fixture
def optimised() -> None:
    """Optimise machine code, wherever the test is."""
    if OPT is None:
        _optimise(3)


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
