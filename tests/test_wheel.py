"""The wheel holds every module on disk: a new sub-package cannot be forgotten in pyproject.toml."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Folder on disk -> folder in the wheel.
FOLDERS = {"adc": "adc", "ir": "adc/ir", "passes": "adc/passes"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # From a copy: setuptools builds in the source folder, where leftovers of an older build
    # would slip into the wheel.
    source = tmp_path_factory.mktemp("source")
    target = tmp_path_factory.mktemp("wheel")
    for name in ["pyproject.toml", "README.md", "LICENSE"]:
        shutil.copy(ROOT / name, source)
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    # No build isolation: the test extra brings setuptools, and no network is needed.
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    run = subprocess.run([*pip, "-w", target, source], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (built,) = target.glob("adc-*.whl")
    return built


def test_the_wheel_holds_what_is_on_disk(wheel: Path) -> None:
    on_disk = {
        f"{place}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, place in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        # Where pathlib follows links, these come a second time.
        and not (folder == "adc" and path.relative_to(ROOT / folder).parts[0] in FOLDERS)
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == on_disk


def test_the_wheel_claims_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"adc"}
