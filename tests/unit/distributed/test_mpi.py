"""MPI inside of differentiated code, with real ranks: `mpi_programs` has the programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = Path(sys.executable).parent
MPIRUN = shutil.which("mpirun", path=f"{FOLDER}{os.pathsep}{os.environ['PATH']}")
pytestmark = pytest.mark.skipif(MPIRUN is None, reason="there is no mpirun")
# Open MPI starts more ranks than there are cores, and those of the superuser, if it is told to.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


def run(ranks: int, *args: str, **settings: str) -> list[str]:
    """Run a group of programs; return the lines of the first rank."""
    assert MPIRUN is not None
    done = subprocess.run(
        [MPIRUN, "-n", str(ranks), sys.executable, "-m", "tests.unit.distributed.mpi_programs",
         *args],
        env={**os.environ, **SETTINGS, "ADC_MPI_TIMEOUT": "60", **settings}, cwd=ROOT,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    assert all(line.endswith(" ok") for line in lines), done.stdout
    return lines


@pytest.mark.parametrize(
    "group",
    [*(pytest.param(each, marks=pytest.mark.full) for each in ("collective", "messages")), "sums"],
)
def test_two_ranks(group: str) -> None:
    run(2, group)


@pytest.mark.full
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("group", ["collective", "messages", "awkward", "sums"])
def test_all_modes(ranks: int, group: str) -> None:
    run(ranks, group, "--full")


@pytest.mark.full
def test_refusals() -> None:
    run(1, "refused")


@pytest.mark.full
def test_failures() -> None:
    run(2, "failures", ADC_MPI_TIMEOUT="2")


@pytest.mark.full
@pytest.mark.parametrize("ranks", [1, 2])
def test_planted_rules_are_noticed(ranks: int) -> None:
    run(ranks, "planted")
