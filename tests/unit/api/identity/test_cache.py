"""Compiled code on disk: found by other processes, never wrong, never in the way."""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import marshal
import os
import platform
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend import cpu
from adc.backend.common import vector_math
from adc.backend.numba_api import config
from adc.compiler import cache
from tests.forks import fork, forks, status

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
ROOT = Path(__file__).resolve().parents[4]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
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
    made = ModuleType("user_program")
    # Not by way of a .pyc file, which would be taken for current within the same second.
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


def outcome(derivative: Any, *args: Any) -> tuple[Any, str]:
    """Return a result and where the code came from, had nothing of it been used here before."""
    adc.release_memory()
    result = derivative(*args)
    info = derivative.cache_info()
    return result, "loaded" if info["loaded"] else "compiled"


def entries(place: Path) -> list[Path]:
    return sorted(place.glob("??/*"))


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
from user_program import f
slope = adc.grad(f)
result = slope(2.0), slope.cache_info(), slope.plan().policy
print(json.dumps(result))
"""


@pytest.mark.full
def test_another_process_loads(tmp_path: Path) -> None:
    program = module(tmp_path)
    first = adc.grad(program.f)
    assert first(2.0) == 12.0
    result, info, policy = output(start(tmp_path, SHOW))
    assert (result, policy) == (12.0, "auto")
    assert info == {"hits": 0, "compiled": 0, "loaded": 1}
    # Nor does it compile in the background: nothing new is there.
    assert len(entries(cache.folder())) == 1


def _columns(x: Any, layers: Any) -> Any:
    for w, b in layers:
        x = np.tanh(w @ x + b)
    return np.sum(x * x)


def test_loaded_code_takes_arrays_with_axes_of_size_1(tmp_path: Path, place: Path) -> None:
    """Lists of columns are passed as the addresses of their parts, which have such an axis."""
    layers = [(np.full((3, 3), 0.01 * k), np.full((3, 1), 0.02 * k)) for k in range(40)]
    found = []
    for _ in range(2):
        adc.release_memory()  # as in another process: code is found on disk
        df = adc.value_and_grad(_columns, argnums=(0, 1))
        found.append(df(np.ones((3, 1)), layers))
    assert df.cache_info() == {"hits": 0, "compiled": 0, "loaded": 1}
    assert found[0][0] == found[1][0] == pytest.approx(_columns(np.ones((3, 1)), layers))
    for one, other in zip(found[0][1][1], found[1][1][1], strict=True):
        np.testing.assert_array_equal(one[1], other[1])


def test_entries_of_one_source_have_names_of_their_own(tmp_path: Path, place: Path) -> None:
    """Numba names machine code by the source: a process that loads both needs both names."""
    f = module(tmp_path).f
    assert adc.grad(f, remat="store")(2.0) == adc.grad(f, remat="auto")(2.0) == 12.0
    found = [cache._read(entry) for entry in entries(place)]
    assert len({each[0]["source"] for each in found if each}) == 1
    files = {marshal.loads(each[1]).co_filename for each in found if each}
    assert len(files) == len(found) == 2


def test_errors_of_loaded_code(tmp_path: Path) -> None:
    program = module(tmp_path)
    for expected in ("compiled", "loaded"):
        slope = adc.grad(program.bad)
        assert outcome(slope, 2.0) == (4.0, expected)
        with pytest.raises(AssertionError, match="not positive") as caught:
            slope(-1.0)
        assert caught.traceback[-1].lineno == PROGRAM.split("\n").index("def bad(x):") + 1
        assert caught.traceback[-1].name == "bad"


@pytest.mark.full
def test_what_the_key_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = module(tmp_path)

    def check_new(make: Callable[[], Any], argument: Any, result: Any) -> None:
        assert outcome(make(), argument) == (result, "compiled")
        assert outcome(make(), argument) == (result, "loaded")

    check_new(lambda: adc.grad(program.f), 2.0, 12.0)
    check_new(lambda: adc.grad(program.f), np.float32(2.0), 12.0)
    check_new(lambda: adc.grad(program.f, remat="store"), 2.0, 12.0)
    check_new(lambda: adc.value_and_grad(adc.grad(program.f)), 2.0, (12.0, 12.0))
    check_new(lambda: adc.grad(program.g), 2.0, 8.0)
    monkeypatch.setattr(program, "TABLE", 3.0)  # not built into the code
    assert outcome(adc.grad(program.g), 2.0) == (12.0, "loaded")
    monkeypatch.setattr(program, "captured", program.helper)
    check_new(lambda: adc.grad(program.g), 2.0, 12.0)
    changed = module(tmp_path, PROGRAM.replace("return x * x\n", "return x * x * x\n", 1))
    check_new(lambda: adc.grad(changed.f), 2.0, 32.0)
    # Errors would name the wrong line.
    moved = module(tmp_path, "\n" + PROGRAM)
    check_new(lambda: adc.grad(moved.f), 2.0, 12.0)


@pytest.mark.parametrize("what", ["version", "source of adc", "machine"])
def test_the_key_depends_on(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = module(tmp_path)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    match what:
        case "version":
            monkeypatch.setattr("adc.version.__version__", "9.9")
        case "source of adc":
            monkeypatch.setattr(cache, "_own_source", lambda: "another")
        case "machine":
            monkeypatch.setattr(cpu, "target", lambda: ("another",))
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")


def test_the_digest_covers_every_package() -> None:
    files = {path.resolve() for path in cache.own_files()}
    for name in ("ir.core", "passes.pipeline", "frontend.entry", "backend.common.emit", "api"):
        module = importlib.import_module(f"adc.{name}")
        assert module.__file__ is not None
        assert Path(module.__file__).resolve() in files


def test_the_machine_has_every_version() -> None:
    target = cpu.target()
    for known in (np.__version__, vector_math.vector_library(), platform.python_version()):
        assert known in target


def test_code_that_is_optimised_less_is_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for level in (0, 3):
        monkeypatch.setattr(config, "OPT", type(config.OPT)(level))
        found.add(cpu.target())
    assert len(found) == 2


@pytest.mark.full
def test_the_vector_library_can_be_chosen(tmp_path: Path) -> None:
    module(tmp_path)
    for library in ("none", "auto"):
        info = output(start(tmp_path, SHOW, ADC_VECTOR_LIBRARY=library))[1]
        assert info["compiled"] == 1
        info = output(start(tmp_path, SHOW, ADC_VECTOR_LIBRARY=library))[1]
        assert info["loaded"] == 1


# --- damage ---------------------------------------------------------------------------------------


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Return what changes the record of an entry, with a digest that fits."""

    def damage(data: bytes) -> bytes:
        text, _, rest = data.split(b"\n", 2)[2].partition(b"\n")
        record = json.loads(text)
        change(record)
        body = json.dumps(record).encode() + b"\n" + rest
        return cache._MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    return damage


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "something else": lambda data: b"[1, 2]\n",
    "another format": lambda data: data.replace(cache._MAGIC, b"adc entry 1\n"),
    "an edited source": lambda data: data.replace(b"return", b"assert"),
    "an entry of another key": _changed(lambda record: record.update(key="0" * 32)),
    "another SciPy": _changed(lambda record: record.update(scipy="0.1")),
    "a record that lacks something": _changed(lambda record: record.pop("plan")),
    "no machine code": _changed(lambda record: record["sizes"].reverse()),
}


@pytest.mark.parametrize("name", list(DAMAGE))
def test_whatever_is_damaged_is_built_again(name: str, tmp_path: Path, place: Path) -> None:
    program = module(tmp_path)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    (entry,) = entries(place)
    entry.write_bytes(DAMAGE[name](entry.read_bytes()))
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")
    assert entries(place) == [entry]


@pytest.mark.full
def test_every_bit_and_every_length_is_checked(tmp_path: Path, place: Path) -> None:
    """Nothing of an entry that was cut, or that has another bit, is ever used."""
    adc.grad(module(tmp_path).f)(2.0)
    (entry,) = entries(place)
    data = entry.read_bytes()
    assert cache._read(entry) is not None
    rng = np.random.default_rng(0)
    for at in [*range(90), *rng.integers(0, len(data), 200), len(data) - 1]:
        entry.write_bytes(data[:at])
        assert cache._read(entry) is None
        flipped = bytearray(data)
        flipped[at] ^= 1 << rng.integers(8)
        entry.write_bytes(flipped)
        assert cache._read(entry) is None
    entry.write_bytes(data + b"x")
    assert cache._read(entry) is None


def test_machine_code_that_is_not_there(tmp_path: Path, place: Path) -> None:
    """An entry has no tree to compile from: it is built again."""
    program = module(tmp_path)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    (entry,) = entries(place)
    found = cache._read(entry)
    assert found is not None
    record, code, _ = found
    record["sizes"] = [len(code), 0]
    body = json.dumps(record).encode() + b"\n" + code
    digest = hashlib.sha256(body).hexdigest().encode()
    entry.write_bytes(cache._MAGIC + digest + b"\n" + body)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")


FACTS = """
import numpy as np

def plain(x):
    return x[0] * x[1]

def shared(x):
    for i in range(len(x)):
        x[i] = np.sin(x[i])
    return x

def product(x):
    return x @ x
"""


@pytest.mark.parametrize("name", ["plain", "shared", "product"])
def test_what_is_known_of_code_is_kept(name: str, tmp_path: Path) -> None:
    """Whether loops are shared and BLAS is called, though nothing is emitted then."""
    program = getattr(module(tmp_path, FACTS), name)
    x = np.ones((3, 3)) if name == "product" else np.ones(3)
    for state in ("compiled", "loaded"):
        derivative = adc.jit(program, parallel=2)
        assert outcome(derivative, x)[1] == state
        emitted = derivative._code.last.entry.kernel.emitted
        assert (emitted.shares, emitted.multiplies) == (name == "shared", name == "product")
        assert bool(emitted.code) == (state == "compiled")


RECURSIVE = """
def power(n, x):
    if n == 0:
        return x
    return power(n - 1, x) * x
"""


@pytest.mark.full
def test_a_recursion_is_kept(tmp_path: Path, place: Path) -> None:
    program = module(tmp_path, RECURSIVE)
    for state in ("compiled", "loaded"):
        assert outcome(adc.grad(program.power, 1), 2, 3.0) == (27.0, state)


def test_missing_symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = module(tmp_path)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    with monkeypatch.context() as patch:
        patch.setattr(vector_math, "symbols_available", lambda names: False)
        assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")


# --- whatever fails while an entry is written -----------------------------------------------------


class Faults:
    """Makes the n-th call of the operating system by the cache fail; counts them all."""

    OF_OS = ("close", "mkdir", "open", "replace", "stat", "unlink", "utime", "write")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, fault: Callable[[], None]) -> None:
        self.count = 0
        self.at, self.fault = at, fault

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                self.count += 1
                if self.count == self.at:
                    self.fault()
                return call(*args, **kwargs)

            return run

        for name in self.OF_OS:
            monkeypatch.setattr(os, name, counted(getattr(os, name)))
        monkeypatch.setattr(tempfile, "mkstemp", counted(tempfile.mkstemp))
        monkeypatch.setattr(cache, "open", counted(open), raising=False)


def _no_room() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _no_descriptors() -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def _stopped() -> None:
    raise KeyboardInterrupt


@pytest.mark.full
@pytest.mark.parametrize("fault", [_no_room, _no_descriptors, _stopped])
def test_every_call_of_the_system_may_fail(
    fault: Callable[[], None], tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    made = adc.jit(program.f)(2.0)  # what compiles is imported, and asked for its versions
    cache.clear()
    lost, at = 0, 0
    while True:
        at += 1
        for path in entries(place):
            path.unlink()
        with monkeypatch.context() as patch:
            faults = Faults(patch, at, fault)
            try:
                found = outcome(adc.jit(program.f), 2.0)
            except KeyboardInterrupt:
                lost += 1
            else:
                assert found == (made, "compiled")
        if faults.count < at:
            break
        # What is there is whole, or not there; nothing is left of what was not finished.
        assert outcome(adc.jit(program.f), 2.0)[0] == made
        assert not list(place.glob("??/.adc-*"))
        assert outcome(adc.jit(program.f), 2.0) == (made, "loaded")
    assert at > 8
    assert (lost > 4) == (fault is _stopped)


@pytest.mark.full
@forks
def test_a_process_that_is_killed_at_any_call(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    made = adc.jit(program.f)(2.0)
    cache.clear()
    for at in range(1, 40):
        for path in place.glob("??/*"):
            path.unlink()
        adc.release_memory()

        def killed(at: int = at) -> bool:
            with monkeypatch.context() as patch:
                Faults(patch, at, lambda: os.kill(os.getpid(), signal.SIGKILL))
                return bool(adc.jit(program.f)(2.0) == made)

        ended = status(fork(killed))
        assert ended in (0, signal.SIGKILL)
        assert outcome(adc.jit(program.f), 2.0)[0] == made
        assert outcome(adc.jit(program.f), 2.0) == (made, "loaded")
        if not ended:
            break
    assert at > 8
    assert not ended


@pytest.mark.full
@linux
def test_a_full_disk(tmp_path: Path, place: Path) -> None:
    """A file system of 64 KiB would need root: a limit of the size of files is as good."""
    module(tmp_path)
    limited = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    assert output(start(tmp_path, limited + SHOW))[0] == 12.0
    assert not list(place.rglob("*.*")) + entries(place)


@pytest.mark.full
@linux
def test_no_file_can_be_written_anywhere(tmp_path: Path) -> None:
    """Code that is not kept needs no file: a read-only system without temporary files will do."""
    module(tmp_path)
    place = "/proc/nothing"
    env = {"ADC_CACHE_DIR": place, "HOME": place, "TMPDIR": place, "TEMP": place, "TMP": place}
    limited = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    assert output(start(tmp_path, limited + SHOW, **env))[0] == 12.0


# --- many at once ---------------------------------------------------------------------------------

RACE = """
import json, time, os, adc
from user_program import f
slope = adc.grad(f)
open(f"ready{os.getpid()}", "w").close()
while not os.path.exists("go"):
    time.sleep(0.005)
print(json.dumps(slope(2.0)))
"""


@pytest.mark.full
def test_processes_that_build_the_same(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    monkeypatch.chdir(tmp_path)
    processes = [start(tmp_path, RACE) for _ in range(3)]
    while len(list(tmp_path.glob("ready*"))) < len(processes):
        time.sleep(0.01)
        assert all(process.poll() is None for process in processes)
    (tmp_path / "go").touch()
    assert [output(process) for process in processes] == [12.0] * len(processes)
    (entry,) = entries(place)
    assert list(entry.parent.iterdir()) == [entry]
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")


def test_a_faster_process(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry appears while this process builds it."""
    program = module(tmp_path)
    adc.grad(program.f)(2.0)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_load", lambda *_: None)
        assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    (entry,) = entries(place)
    assert list(entry.parent.iterdir()) == [entry]
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")


def test_threads(tmp_path: Path, place: Path) -> None:
    program = module(tmp_path)
    results: list[Any] = []

    def work(fn: Any) -> None:
        results.append(adc.grad(fn)(2.0))

    threads = [threading.Thread(target=work, args=(program.f,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [12.0] * 8
    assert len(entries(place)) == 1


# --- the folder -----------------------------------------------------------------------------------


@POSIX
def test_the_folder_is_private(tmp_path: Path, place: Path) -> None:
    adc.grad(module(tmp_path).f)(2.0)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    (entry,) = entries(place)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(mode: int, tmp_path: Path, place: Path) -> None:
    place.mkdir()
    place.chmod(mode)
    program = module(tmp_path)
    with pytest.warns(UserWarning, match=f"ADC006.*{mode:o}"):
        assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")  # which warns no more
    assert not list(place.iterdir())


@POSIX
def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adc.grad(module(tmp_path).f)(2.0)
    whose = 4321 if os.getuid() == 0 else 0  # only root may give a file away
    if whose:
        os.chown(place, whose, whose)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4321)
    with pytest.warns(UserWarning, match="ADC006.*belongs to another user"):
        assert outcome(adc.grad(module(tmp_path).f), 2.0) == (12.0, "compiled")


@POSIX
@pytest.mark.parametrize("how", ["others can write it", "a link", "of somebody else"])
def test_an_entry_that_is_not_ours_is_built_again(
    how: str, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    adc.grad(program.f)(2.0)
    (entry,) = entries(place)
    match how:
        case "others can write it":
            entry.chmod(0o666)
        case "a link":
            elsewhere = entry.rename(tmp_path / "elsewhere")
            entry.symlink_to(elsewhere)
        case "of somebody else":
            if os.getuid():
                pytest.skip("only root may give a file away")
            os.chown(entry, 4321, 4321)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert not entry.is_symlink()
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")


@POSIX
def test_a_folder_that_cannot_be_written_is_read(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an image of a container, whose code root has compiled."""
    program = module(tmp_path)
    adc.grad(program.f)(2.0)
    (entry,) = entries(place)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "utime", lambda *_: os.close(-1))
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "loaded")
    assert outcome(adc.grad(program.g), 2.0) == (8.0, "compiled")
    assert entries(place) == [entry]


def test_a_folder_that_cannot_be_made_or_written(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    place.write_text("a file")
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    place.unlink()
    # Permissions do not stop root, who may be running this.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")
    assert not list(place.iterdir())


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache.folder() == tmp_path / "cache"
    monkeypatch.setenv("ADC_CACHE_DIR", "relative")
    assert cache.folder() == Path.cwd() / "relative"
    monkeypatch.delenv("ADC_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "adc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "adc"


def test_without_cache_nothing_is_left(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    slope = adc.grad(module(tmp_path).f, cache=False)
    assert outcome(slope, 2.0) == (12.0, "compiled")
    assert adc.hvp(module(tmp_path).f, (2.0,), (1.0,), cache=False) == 12.0
    assert "def f" in slope.source()
    assert not place.exists()
    assert not list(scratch.iterdir())


@pytest.mark.full
def test_a_cache_folder_of_numba_makes_no_difference(tmp_path: Path) -> None:
    module(tmp_path)
    for how in ("compiled", "loaded"):
        result, info, _ = output(start(tmp_path, SHOW, NUMBA_CACHE_DIR=str(tmp_path / "numba")))
        assert (result, info[how]) == (12.0, 1)
    assert not (tmp_path / "numba").exists()


@pytest.mark.full
def test_the_size_is_bounded(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = module(tmp_path)
    policies = ["store", "recompute", "random:1", "random:2"]
    adc.grad(program.f)(2.0)
    (first,) = entries(place)
    size = cache._size(first)
    # There is room for two and a half; another process fills it, so what this one knows is stale.
    monkeypatch.setenv("ADC_CACHE_SIZE", str(int(2.5 * size)))
    for k, policy in enumerate(policies):
        adc.grad(program.f, remat=policy)(2.0)
        present = entries(place)
        assert sum(cache._size(entry) for entry in present) <= 2.5 * size
        # The newest is always there, and so is what was used meanwhile.
        assert outcome(adc.grad(program.f, remat=policy), 2.0)[1] == "loaded"
        for entry in present:
            os.utime(entry, (time.time() - 100 + k,) * 2)
    monkeypatch.setenv("ADC_CACHE_SIZE", "1")
    adc.grad(program.g)(2.0)
    assert len(entries(place)) == 1
    assert outcome(adc.grad(program.g), 2.0) == (8.0, "loaded")


def test_what_was_used_lately_stays(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = module(tmp_path)
    adc.grad(program.f)(2.0)
    size = cache._size(entries(place)[0])
    adc.grad(program.f, remat="store")(2.0)
    for entry in entries(place):
        os.utime(entry, (time.time() - 100,) * 2)
    assert outcome(adc.grad(program.f), 2.0)[1] == "loaded"
    monkeypatch.setenv("ADC_CACHE_SIZE", str(int(2.6 * size)))
    adc.grad(program.f, remat="recompute")(2.0)
    assert outcome(adc.grad(program.f), 2.0)[1] == "loaded"
    assert outcome(adc.grad(program.f, remat="store"), 2.0)[1] == "compiled"


@pytest.mark.parametrize("hours", [-3, 3])
def test_remains_of_dead_processes_are_removed(hours: int, tmp_path: Path, place: Path) -> None:
    """Also if the clock was set back since; so are the folders of earlier versions, in turn."""
    old, new, earlier = (place / "ab" / name for name in (".adc-old", ".adc-new", "earlier"))
    earlier.mkdir(parents=True)
    for path in (old, new, earlier / "file"):
        path.touch()
    place.chmod(0o700)
    os.utime(old, (time.time() + 3600 * hours,) * 2)
    adc.grad(module(tmp_path).f)(2.0)
    assert not old.exists()
    assert new.exists()
    assert earlier.exists()


def test_folders_of_earlier_versions_go_first(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = place / "ab" / "earlier"
    earlier.mkdir(parents=True)
    (earlier / "entry.json").write_bytes(bytes(100_000))
    place.chmod(0o700)
    monkeypatch.setenv("ADC_CACHE_SIZE", "100000")
    adc.grad(module(tmp_path).f)(2.0)
    assert not earlier.exists()
    assert len(entries(place)) == 1


def test_clear(tmp_path: Path, place: Path) -> None:
    program = module(tmp_path)
    adc.grad(program.f)(2.0)
    assert cache.clear() > 1000
    assert not place.exists()
    assert cache.clear() == 0
    assert outcome(adc.grad(program.f), 2.0) == (12.0, "compiled")


@pytest.mark.parametrize(("text", "size"), [("", 2**30), ("1000", 1000), ("many", 2**30)])
def test_size_limit(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADC_CACHE_SIZE", text)
    assert cache.size_limit() == size
