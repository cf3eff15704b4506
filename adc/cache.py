"""Compiled code on disk: found again by what it was made from, in any process.

The key of an entry is a digest of the value form that the front end made (so of the source of
every inlined function, of guards and of the signature), of the source lines in it, of the
transformations and options, and of all versions, the CPU and the vector library. An entry is a
small JSON file beside the generated source and Numba's machine code. Everything is written under
a temporary name and renamed, so that any number of processes may share a folder; whatever does
not check out is built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from adc.driver import Compilation, Step, transform
from adc.frontend.lower import Lowered
from adc.ir.core import walk
from adc.ir.errors import Span
from adc.ir.types import parse_type
from adc.passes.plan import Plan

VERSION = 1
# Numba is not safe against two threads compiling at once in every path; builds take turns.
_LOCK = threading.RLock()


@dataclass
class Entry:
    """Compiled code, and how it came to be."""

    kernel: Any
    plan: Plan | None
    source: str
    from_disk: bool
    compilation: Compilation | None = None


def folder() -> Path:
    """Return the cache folder: ``ADC_CACHE_DIR``, or ``adc`` in the user's cache directory."""
    chosen = os.environ.get("ADC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "adc"


def size_limit() -> int:
    """Return the bytes that the cache may hold: ``ADC_CACHE_SIZE``, by default 1 GiB."""
    try:
        return int(os.environ.get("ADC_CACHE_SIZE", ""))
    except ValueError:
        return 2**30


@lru_cache(maxsize=1)
def _versions() -> tuple[str, ...]:
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy

    from adc import __version__

    return (
        str(VERSION),
        __version__,
        _own_source(),
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        platform.python_version(),
        platform.machine(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        os.environ.get("NUMBA_OPT", ""),
        os.environ.get("NUMBA_CPU_NAME", ""),
    )


def _own_source() -> str:
    """Return a digest of the compiler itself: a development version changes without a number."""
    root = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for base in (root, root / "ir", root / "passes"):
        for path in sorted(base.rglob("*.py")):
            stat = path.stat()
            digest.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns};".encode())
    return digest.hexdigest()


def key_of(lowered: Lowered, steps: Sequence[Step], policy: str) -> str:
    """Return the name of the entry for a lowered function and what is to be made of it."""
    from adc.backend import vector_math

    fn = lowered.fn
    lines = [
        (stmt.loc.file, stmt.loc.line)
        for each in (*fn.callees, fn)
        for stmt in walk(each.body)
        if stmt.loc is not None
    ]
    parts = (str(fn), repr(lines), repr(tuple(steps)), policy, vector_math.vector_library())
    return hashlib.sha256("\0".join((*parts, *_versions())).encode()).hexdigest()[:32]


def load_or_build(
    lowered: Lowered, steps: Sequence[Step], policy: str, use_disk: bool
) -> Entry:
    """Return compiled code, from disk if it is there."""
    with _LOCK:
        if not use_disk:
            return _build(lowered, steps, policy, _scratch(), "", False)
        key = key_of(lowered, steps, policy)
        place = _private(folder())
        if place is None:
            return _build(lowered, steps, policy, _scratch(), "", False)
        found = _load(place, key)
        if found is not None:
            return found
        try:
            return _build(lowered, steps, policy, place / key[:2], key, True)
        except OSError:
            return _build(lowered, steps, policy, _scratch(), "", False)


def _private(place: Path) -> Path | None:
    """Return the folder if it is ours alone: machine code is loaded from it."""
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        stat = place.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (stat.st_uid != os.getuid() or stat.st_mode & 0o022):
        return None
    return place if os.access(place, os.W_OK) else None


@lru_cache(maxsize=1)
def _scratch() -> Path:
    import atexit

    place = Path(tempfile.mkdtemp(prefix="adc-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def _build(
    lowered: Lowered, steps: Sequence[Step], policy: str, place: Path, key: str, keep: bool
) -> Entry:
    from adc.backend import cpu
    from adc.backend.emit import emit

    made = transform(lowered, steps, policy)
    emitted = emit(made.fn)
    path = cpu.write_source(emitted, place)
    kernel = cpu.Kernel(emitted, cpu.build(emitted, path, cache=keep), path)
    if keep:
        record = {
            "version": VERSION,
            "file": path.name,
            "name": emitted.name,
            "params": [str(ty) for ty in emitted.params],
            "results": [str(ty) for ty in emitted.results],
            "sites": [
                {
                    "error": site.error,
                    "message": site.message,
                    "types": list(site.types),
                    "loc": None
                    if site.loc is None
                    else [site.loc.file, site.loc.line, site.loc.function],
                }
                for site in emitted.sites
            ],
            "functions": list(emitted.functions),
            "plan": None if made.plan is None else made.plan.to_json(),
            "digests": _digests(path),
        }
        _write(place / f"{key}.json", json.dumps(record))
        _trim(place.parent)
    return Entry(kernel, made.plan, emitted.source, False, made)


def _files(path: Path) -> list[Path]:
    """Return the generated source and what Numba made of it."""
    return [path, *sorted((path.parent / "__pycache__").glob(f"{path.stem}.*.nb?"))]


def _digests(path: Path) -> dict[str, str]:
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in _files(path)}


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(temporary, path)


def _load(place: Path, key: str) -> Entry | None:
    """Return an entry from disk, or None (and no trace of it) if anything is amiss."""
    file = place / key[:2] / f"{key}.json"
    try:
        record = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    try:
        return _restore(file, record)
    except Exception:
        # Whatever is wrong with an entry, it can be built again.
        file.unlink(missing_ok=True)
        return None


def _restore(file: Path, record: dict[str, Any]) -> Entry | None:
    from adc.backend import cpu, vector_math
    from adc.backend.emit import Emitted, Site

    path = file.parent / record["file"]
    # A symbol that cannot be resolved in machine code from disk would crash the process.
    if not vector_math.symbols_available(vector_math.required_symbols(record["functions"])):
        return None
    if record["version"] != VERSION or _digests(path) != record["digests"]:
        for stale in _files(path):
            stale.unlink(missing_ok=True)
        file.unlink(missing_ok=True)
        return None
    source = path.read_text()
    sites = [
        Site(
            site["error"],
            site["message"],
            tuple(site["types"]),
            None if site["loc"] is None else Span(*site["loc"][:2], function=site["loc"][2]),
        )
        for site in record["sites"]
    ]
    emitted = Emitted(
        name=record["name"],
        source=source,
        params=tuple(parse_type(text) for text in record["params"]),
        results=tuple(parse_type(text) for text in record["results"]),
        sites=tuple(sites),
        functions=tuple(record["functions"]),
    )
    kernel = cpu.Kernel(emitted, cpu.build(emitted, path), path)
    plan = None if record["plan"] is None else Plan.from_json(record["plan"])
    file.touch()
    return Entry(kernel, plan, source, True)


def _trim(place: Path) -> None:
    """Remove the entries that were not used for longest until the folder is within its size."""
    files = [(path, path.stat()) for path in place.rglob("*") if path.is_file()]
    total = sum(stat.st_size for _, stat in files)
    if total <= size_limit():
        return
    for path, stat in sorted(files, key=lambda item: item[1].st_mtime):
        if total <= 0.8 * size_limit():
            break
        try:
            path.unlink()
            total -= stat.st_size
        except OSError:
            continue


def clear() -> int:
    """Remove everything from the cache folder; return the bytes freed."""
    place = folder()
    freed = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    shutil.rmtree(place, ignore_errors=True)
    return freed
