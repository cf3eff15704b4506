"""The costs of operations on this machine: ``adc calibrate`` measures them and stores them.

Every number of `analysis.costs.Costs` is measured by timing small kernels in the IR, which are
compiled like other code. A number is the difference between two kernels that differ in one thing,
so that everything else cancels. Runs of all kernels alternate and the median is used, so a short
disturbance of the machine does not affect the result.

`costs.json` in the cache folder has one record for each processor that was measured, because a home
folder may be shared. The costs are also part of the key of compiled code.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from adc.compiler import cache
from adc.ir.analysis.costs import Costs
from adc.ir.errors import CalibrationError
from adc.ir.opdef import OPS, OpDef, same
from adc.ir.text.parser import parse

VERSION = 2
# Seconds that `adc calibrate` takes, of which about half are spent compiling.
BUDGET = 10.0
_HINT = "run `adc calibrate`"


# -- kept ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """Costs and the date of their measurement, which is empty for the shipped costs."""

    costs: Costs
    date: str = ""


def load() -> Costs:
    """Return the costs of this machine: measured ones, or those that are shipped.

    Warns
    -----
    UserWarning
        If there is a file, but it cannot be used.
    """
    try:
        found = read()
    except CalibrationError as error:
        warnings.warn(f"[{error.code}] {error.message}; {error.hint}", stacklevel=2)
        found = None
    return Costs.default() if found is None else found.costs


def read() -> Calibration | None:
    """Return the costs measured on this processor, or None if there are none.

    Raises
    ------
    CalibrationError
        If `costs.json` is broken, or was written on other processors only.
    """
    path = cache.folder() / cache.COSTS
    records = _records(path)
    if records is None:
        return None
    try:
        record = records[_processor()]
    except KeyError:
        raise _refused(f"{path} was measured on another processor") from None
    try:
        return Calibration(Costs.from_json(json.dumps(record["costs"])), str(record["date"]))
    except (KeyError, TypeError, ValueError):
        raise _refused(f"{path} is broken") from None


def _records(path: Path) -> dict[str, Any] | None:
    """Return the records by processor, or None if there is no file."""
    if not cache.is_ours(path.parent):
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise _refused(f"{path} is broken") from None
    if not isinstance(data, dict) or not isinstance(data.get("processors"), dict):
        raise _refused(f"{path} is broken")
    if data.get("version") != VERSION:
        raise _refused(f"{path} was written by another version of adc")
    processors: dict[str, Any] = data["processors"]
    return processors


def _refused(what: str) -> CalibrationError:
    return CalibrationError(f"{what}: the shipped costs are used", None, _HINT)


def file() -> Path:
    """Return the file in which costs are kept.

    Raises
    ------
    CalibrationError
        If there is no folder for it that only we can write to.
    """
    place = cache.private_folder()
    if place is None:
        raise CalibrationError(
            f"{cache.folder()} cannot be written, or others can write to it",
            None,
            "set ADC_CACHE_DIR to a folder of your own",
        )
    return place / cache.COSTS


def write(costs: Costs) -> Path:
    """Keep costs as those of this processor; return the file.

    Records of other processors stay. Raises as `file` does.
    """
    path = file()
    with cache.LOCK:
        try:
            records = _records(path) or {}
        except CalibrationError:
            records = {}
        date = datetime.now().astimezone().isoformat(" ", "seconds")
        records[_processor()] = {"date": date, "costs": json.loads(costs.to_json())}
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump({"version": VERSION, "processors": records}, out, indent=1)
        os.replace(temporary, path)  # no other process reads half a file
    return path


def _processor() -> str:
    from adc.backend import cpu

    return cpu.processor()


# -- measured --------------------------------------------------------------------------------------

_SMALL = 2048  # elements of an array: several fit in the nearest cache
_MIDDLE = 2**13  # nine arrays fit in the second one
_LARGE = 2**21  # nine arrays fit in no cache
_ROW = 8  # elements of a row, for the cost of entering the loop over it
_SQUARE = 64  # rows and columns of a matrix: the largest that BLAS multiplies in one thread
_ROUNDS = 11
# The fewest seconds that a run takes, of which the clock is a small part.
_SHORTEST = 2e-4

Progress = Callable[[str, int, int], None]
_Times = dict[str, float]  # the seconds of an element, by the name of the kernel


@dataclass
class _Probe:
    """A kernel to time: `text` is its IR; its last argument is the number of repetitions."""

    name: str
    text: str
    args: list[Any]
    elements: int
    kernel: Any = None
    repeats: int = 1


def measure(budget: float = BUDGET, progress: Progress | None = None) -> Costs:
    """Return the costs of this machine.

    Parameters
    ----------
    budget : float
        Seconds to take, about.
    progress : callable, optional
        Called with what is being done, the steps that are done and how many there are.

    Raises
    ------
    CalibrationError
        If something takes no time, which is to say that the machine was disturbed.
    """
    from adc.backend import cpu

    probes = _probes()
    steps = len(probes) * (1 + _ROUNDS)

    def tell(what: str, done: int) -> None:
        if progress is not None:
            progress(what, done, steps)

    start = time.perf_counter()
    for number, probe in enumerate(probes):
        tell(f"compiling {probe.name}", number)
        with cache.LOCK:
            probe.kernel = cpu.compile(parse(probe.text))
    left = budget - (time.perf_counter() - start)
    each = max(left / (_ROUNDS + 2) / len(probes), _SHORTEST)
    # What noise hides in short runs is told apart in long ones.
    for factor in (1, 4, 16):
        with contextlib.suppress(CalibrationError):
            return _costs(_times(probes, factor * each, tell))
    return _costs(_times(probes, 64 * each, tell))


def _times(probes: list[_Probe], seconds: float, tell: Callable[[str, int], None]) -> _Times:
    """Return the median time of an element of each kernel, from runs of about these seconds."""
    taken: dict[str, list[float]] = {probe.name: [] for probe in probes}
    for turn in range(_ROUNDS):
        for number, probe in enumerate(probes):
            tell(f"timing {probe.name}", len(probes) * (turn + 1) + number)
            taken[probe.name].append(_run(probe, seconds, first=turn == 0))
    tell("done", len(probes) * (1 + _ROUNDS))
    return {name: statistics.median(each) for name, each in taken.items()}


def _run(probe: _Probe, seconds: float, first: bool) -> float:
    """Return the seconds of one element; find out at first how often to repeat the work."""
    clock = time.thread_time if _PRECISE else time.perf_counter
    probe.kernel(*probe.args, 1)  # what it works on is in cache from now on, if it can be
    while True:
        # A run that is disturbed takes long: it must not pass for one that is long enough.
        spent = min(_timed(probe, clock, probe.repeats) for _ in range(3 if first else 1))
        if not first or spent * probe.elements * probe.repeats >= 0.5 * seconds:
            return spent
        factor = 0.8 * seconds / max(spent * probe.elements * probe.repeats, 1e-9)
        probe.repeats = int(probe.repeats * min(max(factor, 2.0), 100.0))


def _timed(probe: _Probe, clock: Callable[[], float], repeats: int) -> float:
    start = clock()
    probe.kernel(*probe.args, repeats)
    return (clock() - start) / repeats / probe.elements


# Whether the clock that stands still while other processes run tells short times apart.
_PRECISE = time.get_clock_info("thread_time").resolution < 1e-6


def _costs(times: _Times) -> Costs:
    """Return the costs that follow from the seconds an element takes in each kernel."""

    def cost(name: str, seconds: float) -> float:
        if seconds <= 0.0:
            raise CalibrationError(
                f"the cost of {name} cannot be distinguished from noise: the machine is busy",
                None,
                "try again, or give it more time with --seconds",
            )
        return float(f"{seconds:.3g}")

    def stream(where: str) -> tuple[float, float]:
        load = (times[f"sum of 8, {where}"] - times[f"copy, {where}"]) / 7
        store = times[f"copy, {where}"] - load
        return cost(f"a load {where}", load / 8), cost(f"a store {where}", store / 8)

    add = (times["16 additions"] - times["an addition"]) / 15
    base = times["an addition"] - add
    load, store = stream("in cache")
    load_memory, store_memory = stream("from memory")
    near = times["scatter, in cache"] - times["copy, in cache"]
    far = times["scatter, from memory"] - times["copy, from memory"]
    rows = {op.name: cost(op.name, times[op.name] - base) for op in rows_measured()}
    return Costs(
        operation=cost("an addition", add),
        load=load,
        store=store,
        load_memory=load_memory,
        store_memory=store_memory,
        scatter=cost("a scattered element", near),
        scatter_memory=cost("a scattered element", far),
        loop=cost("a loop", (times["rows"] - times["copy"]) * _ROW),
        tape=cost("the tape", times["tape"] - times["no tape"]),
        product=cost("a product", times["product"]),
        # A call that was inlined costs nothing more.
        call=cost("a call", max(times["call"] - times["an addition"], add)),
        # What a disk takes depends on who else uses it, and on how much of it is in memory.
        disk=Costs.default().disk,
        cache=_cache_bytes(),
        rows=tuple(sorted(rows.items())),
    )


def _cache_bytes() -> int:
    """Return the size of the second cache, where the system tells."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        found = os.sysconf("SC_LEVEL2_CACHE_SIZE")
        if found > 0:
            return found
    return Costs.default().cache


def rows_measured() -> list[OpDef]:
    """Return the operations on floats that cost more than an addition."""
    return [
        op
        for op in OPS.values()
        if "f" in op.kinds
        and op.cost > 1.0
        and op.types is same
        and op.arity in (1, 2)
        and op.ufunc is None
    ]


# -- the kernels -----------------------------------------------------------------------------------


def _kernel(params: Sequence[str], body: str) -> str:
    """Return a function that runs `body` with the sizes `%n` (and `%m`) of `%x`, `%reps` times."""
    given = ", ".join([*params, "%reps: int"])
    sizes = ["  %n = dim[0] %x"]
    if "%m" in body:
        sizes.append("  %m = dim[1] %x")
    inner = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    head = "\n".join(sizes)
    return (
        f"fn k({given}) -> int {{\n{head}\n  for R %r in 0 to %reps {{\n{inner}\n  }}\n"
        "  return %n\n}\n"
    )


def _over(body: str) -> str:
    """Return a loop over elements `%i` that loads `%v` of `%x`."""
    inner = "\n".join(f"  {line}" for line in ["%v = load %x[%i]", *body.splitlines()])
    return f"for L %i in 0 to %n {{\n{inner}\n}}"


_PAIR = ("%x: f64[:]", "%y: f64[:]")
_EIGHT = tuple(f"%x{k}: f64[:]" for k in range(1, 8))

_CALLED = """\
fn h(%v: f64) -> f64 {
  %w = add %v 0.5:f64
  return %w
}

"""
_TAPED = """\
for L %i in 0 to %n {
  %v = load %x[%i]
  %w = add %v 0.5:f64
  push %w
}
for L.rev %j down from %n {
  %t: f64 = pop
  increase %y[%j] %t
}"""
_UNTAPED = """\
for L.rev %j down from %n {
  %v = load %x[%j]
  %w = add %v 0.5:f64
  increase %y[%j] %w
}"""
_ROWS = """\
for O %i in 0 to %n {
  for L %j in 0 to %m {
    %v = load %x[%i, %j]
    write %y[%i, %j] %v
  }
}"""
_SCATTERED = """\
%q = load %p[%i]
%k = cast[int] %q
increase %y[%k] %v"""


def _additions(count: int) -> str:
    lines, last = [], "%v"
    for k in range(count):
        lines.append(f"%a{k} = add {last} 0.5:f64")
        last = f"%a{k}"
    return _kernel(_PAIR, _over("\n".join([*lines, f"increase %y[%i] {last}"])))


def _sum_of_eight() -> str:
    lines, last = [], "%v"
    for k in range(1, 8):
        lines += [f"%v{k} = load %x{k}[%i]", f"%s{k} = add {last} %v{k}"]
        last = f"%s{k}"
    body = _over("\n".join([*lines, f"write %y[%i] {last}"]))
    return _kernel((*_PAIR, *_EIGHT), body)


def _row(op: OpDef) -> _Probe:
    """Return a probe of one operation; its second operand is the same for all elements."""
    low, high = op.domain[0]
    rng = np.random.default_rng(0)
    x = rng.uniform(low + 0.01 * (high - low), high - 0.01 * (high - low), _SMALL)
    params, operands = list(_PAIR), "%v"
    args: list[Any] = [x, np.zeros(_SMALL)]
    if op.arity == 2:
        low, high = op.domain[-1]
        params.append("%c: f64")
        args.append(low + 0.87 * (high - low))
        operands = "%v %c"
    text = _kernel(params, _over(f"%t = {op.name} {operands}\nincrease %y[%i] %t"))
    return _Probe(op.name, text, args, _SMALL)


def _probes() -> list[_Probe]:
    def arrays(count: int, *shape: int) -> list[Any]:
        return [np.ones(shape) for _ in range(count)]

    def scattered(arrays: list[Any]) -> list[Any]:
        return [*arrays[:2], np.random.default_rng(0).permutation(arrays[0].size)]

    matrices = ("%x: f64[:, :]", "%y: f64[:, :]", "%z: f64[:, :]")
    copy = _kernel(_PAIR, _over("write %y[%i] %v"))
    scatter = _kernel((*_PAIR, "%p: i64[:]"), _over(_SCATTERED))
    product = _kernel(matrices, "gemm[nn] %z %x %y")
    small, middle, large = arrays(2, _SMALL), arrays(9, _MIDDLE), arrays(9, _LARGE)
    call = _CALLED + _kernel(_PAIR, _over("%w = call C h(%v)\nincrease %y[%i] %w"))
    return [
        _Probe("an addition", _additions(1), small, _SMALL),
        _Probe("16 additions", _additions(16), small, _SMALL),
        _Probe("copy", copy, small, _SMALL),
        _Probe("copy, in cache", copy, middle[:2], _MIDDLE),
        _Probe("sum of 8, in cache", _sum_of_eight(), middle, _MIDDLE),
        _Probe("copy, from memory", copy, large[:2], _LARGE),
        _Probe("sum of 8, from memory", _sum_of_eight(), large, _LARGE),
        _Probe("scatter, in cache", scatter, scattered(middle), _MIDDLE),
        _Probe("scatter, from memory", scatter, scattered(large), _LARGE),
        _Probe("rows", _kernel(matrices[:2], _ROWS), arrays(2, _SMALL // _ROW, _ROW), _SMALL),
        _Probe("tape", _kernel(_PAIR, _TAPED), middle[:2], _MIDDLE),
        _Probe("no tape", _kernel(_PAIR, _UNTAPED), middle[:2], _MIDDLE),
        _Probe("call", call, small, _SMALL),
        _Probe("product", product, arrays(3, _SQUARE, _SQUARE), _SQUARE**3),
        *(_row(op) for op in rows_measured()),
    ]


# What `adc info` shows of them.
MAIN = ("addition, vectorised", "tape store and load", "load from memory", "exp")


def described(costs: Costs) -> list[tuple[str, str]]:
    """Return the numbers in words, the main ones first."""

    def time_of(seconds: float) -> str:
        return f"{1e9 * seconds:.3g} ns"

    def bytes_of(seconds: float) -> str:
        return f"{1e-9 / seconds:.3g} GB/s"

    return [
        ("addition, vectorised", time_of(costs.operation)),
        ("load in cache", bytes_of(costs.load)),
        ("store in cache", bytes_of(costs.store)),
        ("load from memory", bytes_of(costs.load_memory)),
        ("store to memory", bytes_of(costs.store_memory)),
        ("tape store and load", time_of(costs.tape)),
        ("scattered, in cache", time_of(costs.scatter)),
        ("scattered, in memory", time_of(costs.scatter_memory)),
        ("entering a loop", time_of(costs.loop)),
        ("call", time_of(costs.call)),
        ("BLAS multiply-add", time_of(costs.product)),
        ("disk, there and back", bytes_of(costs.disk)),
        ("cache", f"{costs.cache / 2**10:.0f} KiB"),
        *((name, time_of(seconds)) for name, seconds in costs.rows),
    ]


__all__ = ["BUDGET", "MAIN", "Calibration", "described", "file", "load", "measure", "read", "write"]
