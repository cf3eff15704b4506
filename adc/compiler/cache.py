"""The cache of compiled code on disk, shared by all processes.

The key of an entry is a digest of everything that determines the code: the value form that the
front end made (and so the source of every inlined function, the guards and the signature), the
source lines in it, the transformations, options, target and costs, all versions, the CPU and the
vector library.

An entry is one file: a digest of what follows, a record of JSON, which has the generated source in
it, and the machine code. It is written under a temporary name and renamed when it is complete, so
any number of processes may share a cache, and be killed at any moment. An entry that fails its
check is removed and built again.

An entry is code that is run. It is loaded only from a folder, and from a file, that belong to the
user, or to root, and that nobody else can write (`adc explain security`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import marshal
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any

from adc.frontend.core.state import Lowered
from adc.frontend.transforms import results
from adc.ir.core import Function, Mark, walk
from adc.ir.errors import CacheError, Span, UnsupportedError
from adc.ir.ops import ufuncs
from adc.ir.text.outside import Outside, calls_outside
from adc.ir.types import Array, Type, parse_type
from adc.ir.walk import defined

if TYPE_CHECKING:
    from adc.backend.common.emit import Emitted
    from adc.backend.cpu import Kept
    from adc.compiler.driver import Budget, Compilation, Plans
    from adc.ir.analysis.costs import Costs
    from adc.ir.analysis.target import Target
    from adc.passes.remat.plan import Plan
    from adc.passes.stages import Step

VERSION = 2
# Numba is not safe against two threads compiling at once in every path; compilations take turns.
LOCK = threading.RLock()
# Held while LLVM works; by this thread if it holds `LOCK`, too.
_WORKING = threading.Lock()

# What is held during a fork: in the child, no other thread would release it.
_FORKING = contextlib.ExitStack()


def _before_fork() -> None:
    """Wait until no other thread compiles, nor frees machine code, as garbage is anywhere."""
    _FORKING.enter_context(LOCK)
    lock = getattr(sys.modules.get("adc.backend.numba_api"), "llvm_lock", None)
    if lock is not None:
        _FORKING.enter_context(lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_FORKING.close, after_in_child=_FORKING.close
    )

_MAGIC = b"adc entry 2\n"
# What `adc calibrate` measured: kept in the folder, but no entry.
COSTS = "costs.json"
# Beginnings of the names of files that are being written. Older ones than this many seconds belong
# to processes that died.
_TEMPORARY = ".adc-"
_DEAD_AFTER = 3600.0
# How many seconds a process waits for another one that compiles.
_PATIENCE = 120.0


@dataclass
class Entry:
    """Compiled code, and whether it was compiled or loaded."""

    kernel: Any
    plan: Plan | None
    source: str
    from_disk: bool
    compilation: Compilation | None = None


def folder() -> Path:
    """Return the cache folder: ``ADC_CACHE_DIR``, or ``adc`` in the user's cache directory."""
    chosen = os.environ.get("ADC_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
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
def _own_source() -> str:
    """Return a digest of adc's own source, because a development version keeps its number."""
    digest = hashlib.sha256()
    for path in own_files():
        stat = path.stat()
        digest.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns};".encode())
    return digest.hexdigest()


def own_files() -> list[Path]:
    """Return the modules of adc; `ir` and `passes` are links in a checkout."""
    root = Path(__file__).resolve().parents[1]
    bases = root, root / "ir", root / "passes"
    return [path for base in bases for path in sorted(base.rglob("*.py"))]


def key_of(
    lowered: Lowered,
    steps: Sequence[Step],
    policy: str,
    costs: Costs,
    target: Target,
    budget: Budget | None = None,
) -> str:
    """Return the key of the entry for a lowered function and its transformations."""
    from adc.backend import cpu
    from adc.version import __version__

    fn = lowered.fn
    # Errors and plans name places in the source.
    made_by = (VERSION, __version__, _own_source(), cpu.target())
    parts = (
        str(fn),
        _places(fn),
        repr(_marks(fn)),
        repr(tuple(steps)),
        policy,
        costs.hash,
        repr(target),
        repr(budget),
        repr(sorted(lowered.stacks)),
        repr(made_by),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _places(fn: Function) -> str:
    """Return the places in the source of all statements, and the calls that lead there."""
    numbers: dict[int, int] = {}
    texts: list[str] = []

    def number(span: Span | None) -> int:
        if span is None:
            return -1
        if id(span) not in numbers:
            caller = number(span.caller)
            ends = (span.line, span.column, span.end_line, span.end_column)
            numbers[id(span)] = len(texts)
            texts.append(f"{span.file} {span.function} {ends} {caller}")
        return numbers[id(span)]

    found = [number(stmt.loc) for each in (*fn.callees, fn) for stmt in walk(each.body)]
    return "\n".join([repr(found), *texts])


def _marks(fn: Function) -> list[tuple[str, str, Mark | None]]:
    """Return the user's marks on values, which the text of a function does not show."""
    found = [
        (each.name, value.name, value.mark)
        for each in (*fn.callees, fn)
        for value in defined(each)
        if value.mark is not None
    ]
    return found + [mark for each in fn.derived for mark in _marks(each.of)]


def load_or_build(
    lowered: Lowered,
    steps: Sequence[Step],
    policy: str,
    costs: Costs,
    target: Target,
    use_disk: bool,
    budget: Budget | None = None,
    plans: Plans | None = None,
) -> Entry:
    """Return compiled code, from disk if it is there; `plans` are those that `transform` takes.

    Code that runs in Python is not compiled, and not kept.

    Raises
    ------
    UnsupportedError
        In a signal handler that interrupts another compilation: LLVM would abort.
    """
    if target.cuda:
        return _on_device(lowered, steps, policy, costs, target, use_disk, budget, plans)
    if target.python:
        from adc.backend.python import interpret
        from adc.compiler.driver import transform

        made = transform(lowered, steps, policy, costs, budget, plans, target=target)
        own = interpret(made.fn, offload=target.offload)
        return Entry(own, made.plan, own.emitted.source, False, made)
    with LOCK:
        if not _WORKING.acquire(blocking=False):
            raise UnsupportedError(
                "compiling in a signal handler that interrupts a compilation is not supported",
                None,
                "call the function once before, so that it is compiled",
            )
        # Not in a context manager: an exception of a signal handler may arrive before that's
        # `__exit__` begins, and the lock would be held for ever.
        try:
            return _on_cpu(lowered, steps, policy, costs, target, use_disk, budget, plans)
        finally:
            _WORKING.release()


def _on_cpu(
    lowered: Lowered, steps: Sequence[Step], policy: str, costs: Costs, target: Target,
    use_disk: bool, budget: Budget | None, plans: Plans | None,
) -> Entry:  # fmt: skip
    table = calls_outside(lowered.fn)
    place = trusted_folder() if use_disk else None
    if place is not None:
        key = key_of(lowered, steps, policy, costs, target, budget)
        entry = place / key[:2] / key
        found = _load(entry, target.offload, table)
        if found is not None:
            return found
        if not os.access(place, os.W_OK):
            place = None
    # Nothing of what compiles is imported where code is found.
    from adc.compiler.driver import transform

    with contextlib.nullcontext(False) if place is None else _alone(entry.parent) as waited:
        if waited:
            found = _load(entry, target.offload, table)
            if found is not None:
                return found
        made = transform(lowered, steps, policy, costs, budget, plans, target=target)
        kept = None if place is None else entry
        return _build(made, kept, target.offload, lowered.stacks, table)


@contextlib.contextmanager
def _alone(base: Path) -> Iterator[bool]:
    """Let other processes that would compile the same wait; yield whether this one had to.

    Workers that start together then compile once. The lock is that of the folder of entries, so
    that there are no files to clear away. Where it cannot be had (on Windows, on some network
    disks, or if a process that has it does not go on), code is compiled twice.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    with contextlib.ExitStack() as stack:
        waited = False
        with contextlib.suppress(OSError):
            base.mkdir(exist_ok=True, mode=0o700)
            number = os.open(base, os.O_RDONLY)
            stack.callback(_quietly, os.close, number)
            end = time.monotonic() + _PATIENCE
            while time.monotonic() < end:
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waited = True
                    time.sleep(0.05)
                else:
                    # A child that was forked meanwhile would keep a lock that is only closed.
                    stack.callback(_quietly, fcntl.flock, number, fcntl.LOCK_UN)
                    break
        yield waited


def _quietly(call: Callable[..., None], *args: Any) -> None:
    """Call the operating system to give something back, which may fail."""
    with contextlib.suppress(OSError):
        call(*args)


def _on_device(
    lowered: Lowered,
    steps: Sequence[Step],
    policy: str,
    costs: Costs,
    target: Target,
    use_disk: bool,
    budget: Budget | None,
    plans: Plans | None,
) -> Entry:
    """Return a program for the device, whose errors are those of the program on the CPU."""
    from adc.backend.cuda import program
    from adc.backend.cuda.api import require
    from adc.compiler.driver import transform
    from adc.ir.analysis.target import CPU
    from adc.ir.functions import primal_names

    require()
    made = transform(lowered, steps, policy, costs, budget, plans, target=target)

    def run_on_cpu(*args: Any) -> None:
        load_or_build(lowered, steps, policy, costs, CPU, use_disk).kernel(*args)

    types = [result.type for result in lowered.fn.results]
    sources = program.sources_of(types, steps, results.in_lists(lowered.result, lowered.heap))
    limit = None if budget is None else budget.bytes
    names = [param.name for param in made.fn.params]
    primals = primal_names(made.fn)
    bases = [names.index(primals.get(name, name)) for name in names]
    kernel = program.build(made.fn, run_on_cpu, sources, limit, target.offload, bases)
    return Entry(kernel, made.plan, kernel.emitted.source, False, made)


def trusted_folder() -> Path | None:
    """Return the cache folder, made if need be, if nobody else can write it; else warn, once."""
    place = folder()
    why = _refusal(place)
    if why and place not in _warned:
        _warned.add(place)
        error = CacheError(
            f"the cache folder {place} is not used, because {why}", None,
            "run `chmod -R go-w` on it, or set ADC_CACHE_DIR to a folder of your own",
        )  # fmt: skip
        warnings.warn(f"[{error.code}] {error.message}; {error.hint}", stacklevel=2)
    return place if why == "" else None


def private_folder() -> Path | None:
    """Return the cache folder, made if need be, if it is one to write to, and nobody else can."""
    place = folder()
    return place if _refusal(place) == "" and os.access(place, os.W_OK) else None


_warned: set[Path] = set()


def _refusal(place: Path) -> str | None:
    """Return why a folder is not used, empty if it is; None if there is none."""
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        stat = place.stat()
    except OSError:  # it cannot be made, or seen
        return None
    return distrust(stat) if S_ISDIR(stat.st_mode) else None


def about() -> str:
    """Return whether the cache folder is used, in words, for a user who asks; makes no folder."""
    try:
        why = distrust(folder().stat())
    except OSError:
        return "not there yet"
    if why:
        return f"not used: {why}"
    return "used" if os.access(folder(), os.W_OK) else "read, but it cannot be written"


def is_ours(place: Path) -> bool:
    """Whether a folder is there, and nobody else can write to it."""
    try:
        stat = place.stat()
    except OSError:
        return False
    return S_ISDIR(stat.st_mode) and not distrust(stat)


def distrust(stat: os.stat_result) -> str:
    """Return why code from a file or a folder is not run; empty if it may be.

    Root can change what a process runs in any case. Windows gives a user's folders to the user.
    """
    if not hasattr(os, "getuid"):
        return ""
    if stat.st_uid not in (os.getuid(), 0):
        return f"it belongs to another user (of the number {stat.st_uid})"
    if stat.st_mode & 0o022:
        return f"other users can write to it (mode {S_IMODE(stat.st_mode):o})"
    return ""


def _build(
    made: Compilation, entry: Path | None, offload: bool, apart: Collection[int],
    table: Mapping[int, Outside],
) -> Entry:  # fmt: skip
    """Compile buffer form, and keep the machine code in the file `entry` if there is one.

    `apart` are the parameters whose parts may lie apart, `table` the functions outside that are
    called.
    """
    from adc.backend import cpu
    from adc.backend.common.emit import emit

    emitted = emit(made.fn, apart=apart)
    if entry is None:
        code = cpu.build(emitted)
    else:
        kept = cpu.Kept()
        code = cpu.build(emitted, entry.name, kept)
        if kept.machine:
            _keep(entry, emitted, made.plan, kept, code)
    return Entry(cpu.Kernel(emitted, code, offload, table), made.plan, emitted.source, False, made)


def _param(text: str, ones: Sequence[int]) -> Type:
    """Return the type of a parameter, with the axes that the text of a type leaves out."""
    found = parse_type(text)
    return dataclasses.replace(found, ones=tuple(ones)) if isinstance(found, Array) else found


def _keep(entry: Path, emitted: Emitted, plan: Plan | None, kept: Kept, code: Any) -> None:
    """Write an entry. Where that cannot be done, because the disk is full, say, there is none."""
    from adc.backend import cpu

    module = marshal.dumps(cpu.compiled_source(emitted, code.py_func.__code__.co_filename))
    record = {
        "key": entry.name,
        "name": emitted.name,
        "source": emitted.source,
        "params": [str(ty) for ty in emitted.params],
        "ones": [list(ty.ones) if isinstance(ty, Array) else [] for ty in emitted.params],
        "results": [str(ty) for ty in emitted.results],
        "sites": [
            {
                "error": site.error,
                "message": site.message,
                "types": list(site.types),
                "loc": None if site.loc is None else dataclasses.astuple(site.loc),
                "to": site.to,
            }
            for site in emitted.sites
        ],
        "functions": list(emitted.functions),
        "tapes": list(emitted.tapes),
        "returned": list(emitted.returned),
        "multiplies": emitted.multiplies,
        "multiplies_in_threads": emitted.multiplies_in_threads,
        "shares": emitted.shares,
        "bare": emitted.bare,
        "tables": list(emitted.tables),
        "plan": None if plan is None else plan.to_json(),
        "scipy": _scipy(emitted.source),
        "sizes": [len(module), len(kept.machine)],
    }
    text = json.dumps(record).encode()
    data = b"".join([text, b"\n", module, kept.machine])
    digest = hashlib.sha256(data).hexdigest().encode()
    with contextlib.suppress(OSError):
        entry.parent.mkdir(exist_ok=True, mode=0o700)
        # Its mode is 0600.
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=entry.parent)
        try:
            with open(handle, "wb") as file:
                file.write(b"".join([_MAGIC, digest, b"\n", data]))
            os.replace(temporary, entry)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _trim(entry.parent.parent, entry, len(data))


def _read(entry: Path) -> tuple[dict[str, Any], bytes, bytes] | None:
    """Return the record, the compiled source and the machine code of an entry.

    None if it is damaged, or not ours. What is checked is what is used: the file is opened once.
    """
    handle = os.open(entry, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        stat = os.fstat(handle)
        if not S_ISREG(stat.st_mode) or distrust(stat):
            return None
        magic, digest, data = file.readline(), file.readline().strip(), file.read()
    if magic != _MAGIC or hashlib.sha256(data).hexdigest().encode() != digest:
        return None
    text, _, rest = data.partition(b"\n")
    record = json.loads(text)
    module, machine = record["sizes"]
    if record["key"] != entry.name or len(rest) != module + machine:
        return None
    return record, rest[:module], rest[module:]


def _scipy(source: str) -> str:
    """Return the version of SciPy whose functions emitted code calls; empty if it calls none."""
    return ufuncs.version() if "adc.backend.runtime.special" in source else ""


def _load(entry: Path, offload: bool, table: Mapping[int, Outside]) -> Entry | None:
    """Return an entry from disk; if it is damaged, remove it and return None."""
    try:
        found = _restore(entry, offload, table)
    except FileNotFoundError:
        return None
    except Exception:
        # Whatever is wrong with an entry, it can be built again.
        found = None
    if found is None:
        _remove(entry)
    return found


def _restore(entry: Path, offload: bool, table: Mapping[int, Outside]) -> Entry | None:
    from adc.backend import cpu
    from adc.backend.common import vector_math
    from adc.backend.common.emit import Emitted, Site
    from adc.passes.remat.plan import Plan

    read = _read(entry)
    if read is None:
        return None
    record, module, machine = read
    # A symbol that cannot be resolved in machine code from disk would crash the process.
    if not vector_math.symbols_available(vector_math.required_symbols(record["functions"])):
        return None
    source = record["source"]
    if record["scipy"] != _scipy(source):
        return None
    sites = [
        Site(
            site["error"],
            site["message"],
            tuple(site["types"]),
            _span(site["loc"]),
            site["to"],
        )
        for site in record["sites"]
    ]
    emitted = Emitted(
        name=record["name"],
        source=source,
        params=tuple(map(_param, record["params"], record["ones"])),
        results=tuple(parse_type(text) for text in record["results"]),
        sites=tuple(sites),
        functions=tuple(record["functions"]),
        tapes=tuple(record["tapes"]),
        returned=tuple(record["returned"]),
        multiplies=record["multiplies"],
        multiplies_in_threads=record["multiplies_in_threads"],
        shares=record["shares"],
        bare=record["bare"],
        tables=tuple(record["tables"]),
    )
    code = cpu.build(emitted, entry.name, cpu.Kept(module, machine))
    kernel = cpu.Kernel(emitted, code, offload, table)
    plan = None if record["plan"] is None else Plan.from_json(record["plan"])
    with contextlib.suppress(OSError):
        os.utime(entry)  # `_trim` removes what was not used for longest
    return Entry(kernel, plan, emitted.source, True)


def _span(found: list[Any] | None) -> Span | None:
    """Return a place that was written as a list of its fields, the last of which is another."""
    if found is None:
        return None
    *place, caller = found
    return dataclasses.replace(Span(*place), caller=_span(caller))


def _remove(entry: Path) -> None:
    """Remove an entry, or a folder, as earlier versions had them."""
    with contextlib.suppress(OSError):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    total = 0
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        with contextlib.suppress(OSError):
            total += each.lstat().st_size
    return total


# Bytes in cache folders at the last look, and what this process has added since. A look takes a
# while if there are thousands of entries.
_known: dict[Path, int] = {}


def _trim(place: Path, newest: Path, size: int) -> None:
    """Remove the least recently used entries if the folder exceeds its size."""
    if place in _known and _known[place] + size <= size_limit():
        _known[place] += size
        return
    found: list[tuple[float, int, Path]] = []
    for entry in place.glob("??/*"):
        temporary = entry.name.startswith(_TEMPORARY)
        with contextlib.suppress(OSError):
            used = entry.lstat().st_mtime
            # One from the future is dead, too: clocks are set back.
            if temporary and abs(time.time() - used) > _DEAD_AFTER:
                _remove(entry)
            elif not temporary:
                found.append((used, _size(entry), entry))
    total = sum(size for _, size, _ in found)
    if total > size_limit():
        # Some more than needed, so that not every build has to look.
        for _, size, entry in sorted(found):
            if total <= 0.8 * size_limit():
                break
            if entry != newest:
                _remove(entry)
                total -= size
    _known[place] = total


def usage() -> tuple[int, int]:
    """Return how many entries the cache folder holds, and its size in bytes."""
    place = folder()
    entries = [entry for entry in place.glob("??/*") if not entry.name.startswith(_TEMPORARY)]
    return len(entries), _size(place)


def clear(calibration: bool = False) -> int:
    """Remove compiled code from the cache folder, and calibration if asked; return bytes freed."""
    place = folder()
    before = _size(place)
    if calibration or not (place / COSTS).exists():
        shutil.rmtree(place, ignore_errors=True)
    else:
        for path in place.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != COSTS:
                with contextlib.suppress(OSError):
                    path.unlink()
    _known.pop(place, None)
    return before - _size(place)
