"""Source distribution and wheel hold every module: none can be forgotten in pyproject.toml."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# Folder on disk -> folder in the wheel.
FOLDERS = {"adc": "adc", "ir": "adc/ir", "passes": "adc/passes"}
FILES = ["pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE"]

SMOKE = """
import adc, adc.testing, numpy as np
gradient = adc.grad(lambda x: np.sum(np.sin(x) * x))(np.array([0.5, 2.0]))
print(adc.__file__, *gradient)
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # From a copy: setuptools builds in the source folder, where leftovers of an older build
    # would slip in.
    source = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(ROOT / name, source)
    for name in [*FOLDERS, "examples", "tests"]:
        shutil.copytree(
            ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    # What `python -m build` calls, without the network that it asks for setuptools.
    code = "import setuptools.build_meta as made; print(made.build_sdist('dist'))"
    _run([sys.executable, "-c", code], cwd=source)
    (built,) = (source / "dist").glob("adc_autodiff-*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    # No build isolation: the test extra brings setuptools, and no network is needed.
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    _run([*pip, "-w", str(target), str(sdist)])
    (built,) = target.glob("adc_autodiff-*.whl")
    return built


def _run(command: list[str], **options: Any) -> str:
    run: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.full
def test_the_source_distribution_holds_what_its_tests_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    on_disk = {
        path.relative_to(ROOT).as_posix()
        for folder in ["tests", "examples"]
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert on_disk | set(FILES) <= packed


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    on_disk = {
        ".".join([place, *path.parent.relative_to(ROOT / folder).parts]).replace("/", ".")
        for folder, place in FOLDERS.items()
        for path in (ROOT / folder).rglob("__init__.py")
        if not (folder == "adc" and path.relative_to(ROOT / folder).parts[0] in FOLDERS)
    }
    on_disk.add("adc.explain")  # which holds no module
    assert listed == sorted(on_disk)


@pytest.mark.full
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
    assert "adc/py.typed" in packed


@pytest.mark.full
def test_the_wheel_claims_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"adc"}


@pytest.mark.full
def test_the_wheel_works(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    _run([*pip, "--target", str(place), str(wheel)])
    env = {**os.environ, "PYTHONPATH": str(place), "ADC_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "smoke.py").write_text(SMOKE)
    file, *gradient = _run([sys.executable, "smoke.py"], cwd=tmp_path, env=env).split()
    assert file.startswith(str(place))
    assert [float(g) for g in gradient] == pytest.approx([0.918217, 0.077004], abs=1e-5)
    (tmp_path / "model.py").write_text("def loss(x: float):\n    return x * x\n")
    command = [sys.executable, str(place / "bin" / "adc"), "check", "model.py:loss"]
    assert "all 1 derivatives agree" in _run(command, cwd=tmp_path, env=env)
